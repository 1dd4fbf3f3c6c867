//! Who gets in: `pg_hba.conf` and `pg_ident.conf` beside PostgreSQL's reading of the same files, by their views and by
//! clients that come by Unix sockets and with certificates.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;
use tests::atoll::Atoll;
use tests::certificates::{authority, signed};
use tests::client::Client;
use tests::golden::difference;
use tests::oracle::{Oracle, is_root, programs};
use tests::process::{TemporaryDirectory, wait_until};

/// Lines right and wrong, with all that words may be.
const RULES: &str = r##"# a comment
host all all 127.0.0.1/32 trust
local all all peer map=users
local	"all",sales,"quoted ""name""" +staff,ann @ident
host all all 127.1/32 trust
host all all 0/0 reject
host all all 10/8 md5
host all all 0x7f.1 255.0.0.0 trust
host all all 192.168.1.7 255.255.255.0 scram-sha-256
host all all ::/0 trust
host all all fe80::1/64 password # behind
host all all all trust
host all all samehost trust
host all all samenet trust
host all all "all" trust
host all all .example.com trust
hostssl all all all cert
hostssl all all all cert map=owners clientname=DN
hostssl all all all trust clientcert=verify-ca
hostssl all all all scram-sha-256 clientcert=verify-full
hostnossl sameuser,samerole all all trust
hostnogssenc replication all all trust
host all all 10.0.0.0/8 ident map=users
host all all \
  10.1.1.0/24 \
  reject
host all "a b"c all trust
host all all
host all
host
host all all 1.2.3.4/33 trust
host all all 1.2.3.4/x trust
host all all 1.2.3.4 trust
host all all 1.2.3.4 ::1 trust
host all all 1.2.3.4
host all all db.example/24 trust
host all all db.example 255.0.0.0 trust
host all all 1.2.3.4/8,1.2.3.5/8 trust
host all all all trust,reject
host all all all
local,host all all trust
nowhere all all trust
host all all all magic
host all all all peer
host all all all cert
local all all cert
host all all all trust clientcert=verify-ca
host all all all trust clientname=CN
hostssl all all all cert clientcert=verify-ca
host all all all trust map=users
host all all all trust plain
host all all all trust nothing=1
host all all all trust ldapserver=x
host all all all trust pamservice=x
host all all all trust krb_realm=x
host all all all trust compat_realm=x
host all all all trust radiusservers=x
host all @missing all trust
host @names @names all trust
"##;

const MAPS: &str = r##"# map  system  role
users  ann     ann
users  "a b"   "c d" # behind
users  /^(.*)@example\.com$  \1
users  /^x(y|z  role
users  ann
users
users  a,b     c
users  ann  bob  and more
"##;

const VIEWS: [&str; 2] =
    ["SELECT * FROM pg_hba_file_rules", "SELECT * FROM pg_ident_file_mappings"];

/// A server's files in a directory that it may read.
struct Files(TemporaryDirectory);

impl Files {
    fn new() -> Files {
        let files = Files(TemporaryDirectory::new("access"));
        authority(files.path(), "ca");
        signed(files.path(), "ca", "server", "/CN=server");
        signed(files.path(), "ca", "ann", "/C=DE/O=Some, Org/CN=ann");
        authority(files.path(), "other");
        signed(files.path(), "other", "stranger", "/CN=ann");
        files.write("hba.conf", "host all all 127.0.0.1/32 trust\n");
        files.write("ident.conf", "");
        files
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    fn file(&self, name: &str) -> PathBuf {
        self.path().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        std::fs::write(self.file(name), text).expect("the directory is ours");
    }

    /// Lets PostgreSQL read them, which runs as its own user where root starts it.
    fn hand_over(&self) {
        if is_root() {
            let status = Command::new("chown").args(["-R", "postgres"]).arg(self.path()).status();
            assert!(status.expect("chown is a program").success());
        }
    }

    fn settings(&self) -> Vec<String> {
        let setting = |name: &str, file: &str| format!("{name}={}", self.file(file).display());
        vec![
            "ssl=on".to_owned(),
            setting("ssl_cert_file", "server.crt"),
            setting("ssl_key_file", "server.key"),
            setting("ssl_ca_file", "ca.crt"),
            setting("hba_file", "hba.conf"),
            setting("ident_file", "ident.conf"),
            format!("unix_socket_directories={}", self.path().display()),
        ]
    }
}

/// Both servers, each over files of its own.
struct Both {
    oracle: (Oracle, Files),
    atoll: (Atoll, Files),
}

impl Both {
    fn start() -> Both {
        let (hers, ours) = (Files::new(), Files::new());
        hers.hand_over();
        let settings = hers.settings();
        let settings: Vec<&str> = settings.iter().map(String::as_str).collect();
        let oracle = Oracle::start(&settings);
        let settings = ours.settings();
        let settings: Vec<&str> = settings.iter().map(String::as_str).collect();
        let atoll = Atoll::start(&settings);
        Both { oracle: (oracle, hers), atoll: (atoll, ours) }
    }

    fn each(&self) -> [(u16, &Files); 2] {
        [(self.oracle.0.port(), &self.oracle.1), (self.atoll.0.port(), &self.atoll.1)]
    }

    fn write(&self, name: &str, text: &str) {
        for (_, files) in self.each() {
            files.write(name, text);
            files.hand_over();
        }
    }

    /// Writes both files and has both servers read them;
    fn use_files(&self, rules: &str, maps: &str) {
        self.write("hba.conf", rules);
        self.write("ident.conf", maps);
        for (port, _) in self.each() {
            let mut client = Client::connect(port, "postgres", "postgres");
            let before = client.query("SELECT pg_conf_load_time()").rows;
            client.run("SELECT pg_reload_conf()");
            wait_until("a reload", Duration::from_secs(20), || {
                let mut later = Client::try_connect(port, "postgres", "postgres").ok()?;
                (later.query("SELECT pg_conf_load_time()").rows != before).then_some(())
            });
        }
    }
}

#[test]
fn the_views_show_the_files_as_postgresqls_do() {
    let both = Both::start();
    both.write("names", "one two\n\"three, four\"\n");
    both.write("hba.conf", RULES);
    both.write("ident.conf", MAPS);
    let answers = both.each().map(|(port, files)| {
        let mut client = Client::connect(port, "postgres", "postgres");
        let mut lines = String::new();
        for view in VIEWS {
            let reply = client.query(view);
            assert!(reply.error.is_none(), "{:?}", reply.error);
            for row in reply.rows {
                let fields = row.into_iter().map(|field| field.unwrap_or_else(|| "-".to_owned()));
                let line = fields.collect::<Vec<_>>().join(" | ");
                lines += &line.replace(&*files.path().to_string_lossy(), "DIR");
                lines.push('\n');
            }
        }
        lines
    });
    assert!(answers[0].lines().count() > 50, "{}", answers[0]);
    assert!(answers[0] == answers[1], "{}", difference(&answers[0], &answers[1]));
}

#[test]
fn methods_that_ask_others_are_refused_by_name() {
    let both = Both::start();
    let (atoll, files) = &both.atoll;
    for method in ["gss", "sspi", "ldap", "radius", "pam", "bsd"] {
        files.write(
            "hba.conf",
            &format!("host all all 127.0.0.1/32 trust\nhost all all all {method}\n"),
        );
        let mut client = atoll.connect();
        let rows = client.query("SELECT line_number, error FROM pg_hba_file_rules").rows;
        let error =
            format!("invalid authentication method \"{method}\": not supported by this build");
        assert_eq!(rows[1], [Some("2".to_owned()), Some(error.clone())]);
        client.run("SELECT pg_reload_conf()");
        wait_until("a line of the log", Duration::from_secs(20), || {
            let log = atoll.log();
            (log.contains(&error) && log.contains("pg_hba.conf was not reloaded")).then_some(())
        });
    }
}

/// What a client of psql's is told.
fn told(port: u16, files: &Files, (unix, parts): (bool, &str)) -> String {
    let host = if unix { files.path().to_string_lossy().into_owned() } else { "127.0.0.1".into() };
    let place = files.path().to_string_lossy();
    let whole = format!("host={host} port={port} dbname=postgres connect_timeout=20 {parts}");
    let whole = whole.replace("DIR", &place);
    let query = "SELECT current_user, ssl, client_dn, client_serial IS NOT NULL, issuer_dn \
                 FROM pg_stat_ssl WHERE pid = pg_backend_pid()";
    let output = Command::new(programs().join("psql"))
        .args(["-X", "-A", "-t", &whole, "-c", query])
        .env_clear()
        .output()
        .expect("psql is a program");
    let all = [output.stdout, output.stderr].concat();
    let text = String::from_utf8_lossy(&all).replace(&*place, "DIR");
    text.replace(&port.to_string(), "PORT")
}

fn own_name() -> String {
    let output = Command::new("id").arg("-un").output().expect("id is a program");
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}

#[test]
fn clients_are_let_in_as_postgresql_lets_them() {
    let both = Both::start();
    let own = own_name();
    let rules = "\
        host all postgres 127.0.0.1/32 trust\n\
        local all ann peer map=users\n\
        local all bob peer map=others\n\
        local all all peer\n\
        hostssl all cara all cert map=owners\n\
        hostssl all dora all cert map=names clientname=DN\n\
        hostssl all ann all cert\n\
        hostssl all bob all trust clientcert=verify-ca\n\
        hostssl all eve all trust clientcert=verify-full\n\
        hostssl all fay all scram-sha-256 clientcert=verify-full\n\
        host all gil 127.1/32 trust\n";
    let maps = format!(
        "users {own} ann\n\
         others /^({first})(.*)$ x\\1\n\
         owners ann cara\n\
         owners /^a(.*)$ fay\n\
         names \"CN=ann,O=Some\\\\, Org,C=DE\" dora\n",
        first = own.chars().next().unwrap_or_default(),
    );
    let maps = maps.replace("\\\\", "\\");
    both.use_files(rules, &maps);
    for (port, _) in both.each() {
        let mut client = Client::connect(port, "postgres", "postgres");
        for role in ["ann", "bob", "cara", "dora", "eve", "fay", "gil", &own] {
            // Whoever runs the tests may have the name of the superuser.
            let _ = client.query(&format!("CREATE ROLE \"{role}\" LOGIN PASSWORD 'secret'"));
        }
    }
    let with = "sslmode=require sslcert=DIR/ann.crt sslkey=DIR/ann.key";
    let stranger = "sslmode=require sslcert=DIR/stranger.crt sslkey=DIR/stranger.key";
    let without = "sslmode=require sslcert=DIR/none sslkey=DIR/none";
    let mut clients = vec![
        (true, "user=ann".to_owned()),
        (true, "user=bob".to_owned()),
        (true, format!("user={own}")),
        (true, "user=eve".to_owned()),
        (false, "user=gil sslmode=disable".to_owned()),
        (false, "user=ann sslmode=disable".to_owned()),
    ];
    for role in ["ann", "bob", "cara", "dora", "eve"] {
        clients.push((false, format!("user={role} {with}")));
        clients.push((false, format!("user={role} {without}")));
    }
    clients.push((false, format!("user=fay password=secret {with}")));
    clients.push((false, format!("user=fay password=wrong {with}")));
    clients.push((false, "user=cara sslmode=disable".to_owned()));
    for (unix, parts) in &clients {
        let [hers, ours] =
            both.each().map(|(port, files)| told(port, files, (*unix, parts.as_str())));
        assert_eq!(ours, hers, "{parts}");
    }
    // Whom no known authority has signed does not get through the handshake; how that is said is the library's.
    for (port, files) in both.each() {
        let text = told(port, files, (false, &format!("user=ann {stranger}")));
        assert!(text.contains("error") && !text.contains("ann|t"), "{text}");
    }
    // Who is refused is told no more than that; the log says why.
    let log = both.atoll.0.log();
    for said in [
        "no match in usermap \"others\" for user \"bob\" authenticated as",
        "authenticated user name",
        "certificate validation (clientcert=verify-full) failed for user \"eve\": CN mismatch",
        "Connection matched pg_hba.conf line",
    ] {
        assert!(log.contains(said), "{said}: {log}");
    }
}
