//! The wire before there is a session: crooked packets, encryption requests, cancel requests, passwords, rules, locks,
//! signals. Nothing here needs a statement, and after each piece of nonsense the server still answers the next client.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;
use tests::atoll::program;
use tests::process::{TemporaryDirectory, free_port, signal, wait_for_end, wait_until};

/// A server that nobody has to be able to log in to.
struct Listening {
    directory: TemporaryDirectory,
    port: u16,
    child: Child,
}

fn init(data: &Path) -> Output {
    Command::new(program()).arg("init").arg("--data").arg(data).output().expect("atoll starts")
}

fn serve(data: &Path, port: u16, settings: &[&str]) -> Command {
    let mut command = Command::new(program());
    command.arg("serve").arg("--data").arg(data).args(["--listen", &format!("127.0.0.1:{port}")]);
    for setting in settings {
        command.args(["-c", setting]);
    }
    command.stdin(Stdio::null());
    command
}

impl Listening {
    fn start(rules: Option<&str>, settings: &[&str]) -> Listening {
        let directory = TemporaryDirectory::new("wire");
        let data = directory.path().join("data");
        let made = init(&data);
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
        if let Some(rules) = rules {
            std::fs::write(data.join("pg_hba.conf"), rules).expect("the directory is ours");
        }
        let port = free_port();
        let sockets = format!("unix_socket_directories={}", directory.path().display());
        let mut all = vec![sockets.as_str()];
        all.extend(settings);
        let mut child = serve(&data, port, &all)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("atoll starts");
        wait_until("a start", Duration::from_secs(30), || {
            assert!(child.try_wait().expect("the child is ours").is_none(), "it ended instead");
            TcpStream::connect(("127.0.0.1", port)).ok()
        });
        Listening { directory, port, child }
    }

    fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(("127.0.0.1", self.port)).expect("the server listens");
        stream.set_read_timeout(Some(Duration::from_secs(20))).expect("a socket has a timeout");
        stream
    }

    /// Sends bytes and gives all that comes back until the server closes, or the client has nothing more to say.
    fn answer(&self, bytes: &[u8]) -> Vec<u8> {
        let mut stream = self.connect();
        // The server may have closed already, with its reason sent before.
        let _ = stream.write_all(bytes);
        let _ = stream.shutdown(std::net::Shutdown::Write);
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        answer
    }

    fn psql(&self, host: &str, user: &str, password: &str) -> String {
        let output = Command::new("psql")
            .args(["-X", "-w", "-h", host, "-p", &self.port.to_string(), "-U", user])
            .args(["-d", "postgres", "-c", "select 1"])
            .env("PGPASSWORD", password)
            .output()
            .expect("psql is installed");
        String::from_utf8_lossy(&output.stderr).into_owned()
    }

    /// What the superuser is answered.
    fn ask(&self, host: &str, query: &str) -> String {
        let port = self.port.to_string();
        let output = Command::new("psql")
            .args(["-X", "-A", "-t", "-h", host, "-p", &port, "-U", "postgres", "-c", query])
            .output()
            .expect("psql starts");
        String::from_utf8_lossy(&output.stdout).trim().to_owned()
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        // A test that has ended it itself has nothing left to end.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn packet(code: u32, body: &[u8]) -> Vec<u8> {
    let mut bytes = (body.len() as u32 + 8).to_be_bytes().to_vec();
    bytes.extend_from_slice(&code.to_be_bytes());
    bytes.extend_from_slice(body);
    bytes
}

const VERSION_3: u32 = 3 << 16;
const TLS: u32 = 80_877_103;
const GSS: u32 = 80_877_104;
const CANCEL: u32 = 80_877_102;

/// The fields C and M of the one ErrorResponse in `bytes`.
fn error(bytes: &[u8]) -> (String, String) {
    assert_eq!(bytes.first(), Some(&b'E'), "an error: {bytes:?}");
    let length = u32::from_be_bytes(bytes[1..5].try_into().expect("four bytes")) as usize;
    assert_eq!(bytes.len(), length + 1, "nothing behind it: {bytes:?}");
    let field = |letter: u8| {
        let mut fields = bytes[5..].split(|&byte| byte == 0);
        let found = fields.find(|field| field.first() == Some(&letter)).expect("the field");
        String::from_utf8(found[1..].to_vec()).expect("the message is text")
    };
    assert_eq!(field(b'V'), "FATAL");
    (field(b'C'), field(b'M'))
}

#[test]
fn crooked_packets_get_their_error_and_trouble_nobody() {
    let server = Listening::start(None, &[]);
    let terminator = "invalid startup packet layout: expected terminator as last byte";
    for (bytes, code, message) in [
        (packet(VERSION_3, b""), "08P01", terminator),
        (packet(VERSION_3, b"user\0x\0"), "08P01", terminator),
        (packet(VERSION_3, b"user\0x\0\0trailing"), "08P01", terminator),
        (packet(VERSION_3, b"user\0unfinished"), "08P01", terminator),
        (packet(VERSION_3, b"\0"), "28000", "no PostgreSQL user name specified in startup packet"),
        (
            packet(VERSION_3, b"user\0\xC3\x28\0\0"),
            "22021",
            "invalid byte sequence for encoding \"UTF8\": 0xc3 0x28",
        ),
        (
            packet(2 << 16, b"user\0x\0\0"),
            "0A000",
            "unsupported frontend protocol 2.0: server supports 3.0 to 3.0",
        ),
        (0u32.to_be_bytes().to_vec(), "08P01", "invalid length of startup packet"),
        (7u32.to_be_bytes().to_vec(), "08P01", "invalid length of startup packet"),
        (u32::MAX.to_be_bytes().to_vec(), "08P01", "invalid length of startup packet"),
        (b"GET / HTTP/1.1\r\n\r\n".to_vec(), "08P01", "invalid length of startup packet"),
    ] {
        assert_eq!(
            error(&server.answer(&bytes)),
            (code.to_owned(), message.to_owned()),
            "{}",
            bytes.escape_ascii()
        );
    }
    // What never becomes a packet gets no answer.
    for bytes in [&b""[..], b"\0", b"\0\0\0\x10\0\x03", &packet(VERSION_3, b"user\0x")[..10]] {
        assert_eq!(server.answer(bytes), b"", "{}", bytes.escape_ascii());
    }
}

/// Whoever asks for a newer version is told that it is 3.0, and what of its options is not known, as PostgreSQL 15 tells it;
/// so its cancel requests prove themselves by four bytes.
#[test]
fn newer_versions_are_negotiated_to_what_postgresql_15_speaks() {
    let server = Listening::start(None, &[]);
    for (code, body, told) in [
        (VERSION_3 + 2, &b"user\0postgres\0\0"[..], Some(&[0, 3, 0, 0, 0, 0, 0, 0][..])),
        (VERSION_3 + 9999, b"user\0postgres\0\0", Some(&[0, 3, 0, 0, 0, 0, 0, 0])),
        (VERSION_3, b"user\0postgres\0_pq_.x\x001\0\0", Some(b"\0\x03\0\0\0\0\0\x01_pq_.x\0")),
        (VERSION_3, b"user\0postgres\0\0", None),
    ] {
        let mut bytes = packet(code, body);
        bytes.extend_from_slice(b"X\0\0\0\x04");
        let answer = server.answer(&bytes);
        let mut rest = &answer[..];
        let mut messages = Vec::new();
        while let Some((&tag, behind)) = rest.split_first() {
            let length = u32::from_be_bytes(behind[..4].try_into().expect("four bytes")) as usize;
            messages.push((tag, &behind[4..length]));
            rest = &behind[length..];
        }
        let body = |tag| messages.iter().find(|one| one.0 == tag).map(|one| one.1);
        assert_eq!(body(b'v'), told);
        assert_eq!(messages[0].0, if told.is_some() { b'v' } else { b'R' });
        assert_eq!(body(b'K').map(<[u8]>::len), Some(8));
    }
}

#[test]
fn encryption_is_declined_once_and_cancel_requests_are_never_answered() {
    let server = Listening::start(None, &[]);
    let mut bytes = packet(TLS, b"");
    bytes.extend(packet(GSS, b""));
    bytes.extend(packet(VERSION_3, b"user\0nobody\0\0"));
    let answer = server.answer(&bytes);
    assert_eq!(&answer[..2], b"NN");
    assert_eq!(error(behind_authentication(&answer[2..])).0, "28000");
    let mut twice = packet(TLS, b"");
    twice.extend(packet(TLS, b""));
    let answer = server.answer(&twice);
    assert_eq!((answer[0], error(&answer[1..]).0.as_str()), (b'N', "08P01"));
    for body in [&b"\0\0\0\x01\0\0\0\x02"[..], &[7; 36], &[1; 260]] {
        assert_eq!(server.answer(&packet(CANCEL, body)), b"");
    }
}

/// What stands behind AuthenticationOk.
fn behind_authentication(bytes: &[u8]) -> &[u8] {
    bytes.strip_prefix(b"R\0\0\0\x08\0\0\0\0").expect("who it is has been settled")
}

#[test]
fn what_a_client_may_not_do_is_said_when_it_is_known_who_it_is() {
    let server = Listening::start(None, &[]);
    for (body, code, message) in [
        (&b"user\0nobody\0\0"[..], "28000", "role \"nobody\" does not exist"),
        (b"user\0postgres\0database\0nosuch\0\0", "3D000", "database \"nosuch\" does not exist"),
        (
            b"user\0postgres\0database\0template0\0\0",
            "55000",
            "database \"template0\" is not currently accepting connections",
        ),
        (
            b"user\0postgres\0work_mem\0many\0\0",
            "22023",
            "invalid value for parameter \"work_mem\": \"many\"",
        ),
    ] {
        let answer = server.answer(&packet(VERSION_3, body));
        let wanted = (code.to_owned(), message.to_owned());
        assert_eq!(error(behind_authentication(&answer)), wanted, "{}", body.escape_ascii());
    }
}

#[test]
fn a_wrong_password_and_an_unknown_user_look_alike() {
    let rules = "host all closed all reject\nhost all all all scram-sha-256\nlocal other all trust";
    let server = Listening::start(Some(rules), &[]);
    for user in ["nobody", "nobody_else"] {
        let said = server.psql("127.0.0.1", user, "guess");
        let wanted = format!("FATAL:  password authentication failed for user \"{user}\"");
        assert!(said.contains(&wanted), "{said}");
    }
    let said = server.psql("127.0.0.1", "closed", "guess");
    let wanted = "FATAL:  pg_hba.conf rejects connection for host \"127.0.0.1\", user \"closed\", \
                  database \"postgres\", no encryption";
    assert!(said.contains(wanted), "{said}");
    let said = server.psql(&server.directory.path().display().to_string(), "x", "");
    let wanted = "FATAL:  no pg_hba.conf entry for host \"[local]\", user \"x\", database \"postgres\", no encryption";
    assert!(said.contains(wanted), "{said}");
}

/// `/etc/hosts` calls the loopback's address `localhost`, alone or with a domain behind it.
#[test]
fn a_host_is_let_in_by_its_name() {
    let rules = "host all named LocalHost trust\nhost all named .localdomain trust\n\
                 host all other db.example.com trust";
    let server = Listening::start(Some(rules), &[]);
    let said = server.psql("127.0.0.1", "named", "");
    assert!(said.contains("role \"named\" does not exist"), "{said}");
    let said = server.psql("127.0.0.1", "other", "");
    let wanted = "FATAL:  no pg_hba.conf entry for host \"127.0.0.1\", user \"other\", \
                  database \"postgres\", no encryption";
    assert!(said.contains(wanted), "{said}");
}

#[test]
fn messages_out_of_order_during_authentication_end_it() {
    let server = Listening::start(Some("host all all all scram-sha-256"), &[]);
    let startup = packet(VERSION_3, b"user\0nobody\0\0");
    let after_request = |message: &[u8]| {
        let answer = server.answer(&[&startup, message].concat());
        assert_eq!(answer[0], b'R', "{answer:?}");
        let length = u32::from_be_bytes(answer[1..5].try_into().expect("four bytes")) as usize;
        answer[length + 1..].to_vec()
    };
    for (message, code) in [
        (&b"Q\0\0\0\x0Dselect 1\0"[..], "08P01"),
        (b"X\0\0\0\x04", "08P01"),
        (b"p\0\0\0\x03", "08P01"),
        (b"p\x7F\xFF\xFF\xFF", "08P01"),
        (b"p\0\0\0\x04", "08P01"),
        (b"p\0\0\0\x0DSCRAM-SHA", "08P01"),
        (b"p\0\0\0\x0AMAGIC\0", "08P01"),
        (b"p\0\0\0\x16SCRAM-SHA-256\0\x7F\xFF\xFF\xFF", "08P01"),
        (b"p\0\0\0\x16SCRAM-SHA-256\0\xFF\xFF\xFF\xFF", "08P01"),
        (b"p\0\0\0\x18SCRAM-SHA-256\0\0\0\0\x02\xFF\xFE", "22021"),
        (b"p\0\0\0\x18SCRAM-SHA-256\0\0\0\0\x02zz", "08P01"),
    ] {
        assert_eq!(error(&after_request(message)).0, code, "{}", message.escape_ascii());
    }
}

#[test]
fn who_says_nothing_is_let_go() {
    let server =
        Listening::start(Some("host all all all scram-sha-256"), &["authentication_timeout=1"]);
    let mut silent = server.connect();
    assert_eq!(silent.read(&mut [0; 10]).expect("it is closed"), 0);
    let mut halfway = server.connect();
    halfway.write_all(&packet(VERSION_3, b"user\0nobody\0\0")).expect("the server reads");
    let mut answer = Vec::new();
    halfway.read_to_end(&mut answer).expect("it is closed");
    let request = u32::from_be_bytes(answer[1..5].try_into().expect("four bytes")) as usize;
    let (code, message) = error(&answer[request + 1..]);
    assert_eq!(
        (code.as_str(), message.as_str()),
        ("57014", "canceling authentication due to timeout")
    );
}

#[test]
fn a_session_knows_where_it_was_reached() {
    let server = Listening::start(None, &[]);
    let socket = server.directory.path().display().to_string();
    let query = "SELECT inet_server_addr(), inet_server_port()";
    assert_eq!(server.ask("127.0.0.1", query), format!("127.0.0.1|{}", server.port));
    assert_eq!(server.ask(&socket, query), "|");
}

#[test]
fn folders_of_sockets_that_nobody_named_are_a_default() {
    let directory = TemporaryDirectory::new("wire");
    let (data, folder) = (directory.path().join("data"), directory.path().join("one, two"));
    std::fs::create_dir(&folder).expect("the directory is ours");
    assert!(init(&data).status.success());
    let port = free_port();
    let mut command = serve(&data, port, &[]);
    command.env("TMPDIR", &folder).stdout(Stdio::null()).stderr(Stdio::null());
    let child = command.spawn().expect("atoll starts");
    let mut server = Listening { directory, port, child };
    let socket = folder.join(format!(".s.PGSQL.{port}"));
    wait_until("its socket", Duration::from_secs(30), || socket.exists().then_some(()));
    let query = "SELECT source FROM pg_settings WHERE name = 'unix_socket_directories'";
    assert_eq!(server.ask("127.0.0.1", query), "default");
    // Other folders than the test's own may be among them: it leaves nothing there.
    signal(&server.child, "TERM");
    assert!(wait_for_end(&mut server.child, Duration::from_secs(10)).success());
    assert!(!socket.exists());
}

#[test]
fn a_directory_has_one_server_and_its_files_go_with_it() {
    let mut server = Listening::start(None, &[]);
    let data = server.directory.path().join("data");
    let socket = server.directory.path().join(format!(".s.PGSQL.{}", server.port));
    let lock = server.directory.path().join(format!(".s.PGSQL.{}.lock", server.port));
    // It listens on TCP first.
    wait_until("its socket", Duration::from_secs(10), || socket.exists().then_some(()));
    let text = std::fs::read_to_string(&lock).expect("the lock is readable");
    assert_eq!(text.lines().next(), Some(server.child.id().to_string().as_str()));

    let second = serve(&data, free_port(), &["unix_socket_directories="]).output();
    let second = second.expect("atoll starts");
    let said = String::from_utf8_lossy(&second.stderr).into_owned();
    assert_eq!(second.status.code(), Some(1));
    assert!(said.contains("is in use by another server"), "{said}");

    signal(&server.child, "HUP");
    signal(&server.child, "TERM");
    let status = wait_for_end(&mut server.child, Duration::from_secs(10));
    assert!(status.success(), "{status}");
    assert!(!socket.exists() && !lock.exists());
    let check = Command::new(program()).arg("check").arg("--data").arg(&data).output();
    assert!(check.expect("atoll starts").status.success());
}

#[test]
fn what_cannot_be_done_is_said_and_has_its_exit_status() {
    let directory = TemporaryDirectory::new("cli");
    let data = directory.path().join("data");
    let said = |mut command: Command| {
        let output = command.output().expect("atoll starts");
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        (output.status.code(), text)
    };
    let (code, text) = said(serve(&data, free_port(), &[]));
    assert!(code == Some(1) && text.contains("does not exist"), "{text}");
    // What an attempt that was interrupted left behind is made anew.
    let unfinished = directory.path().join("data.unfinished");
    std::fs::create_dir(&unfinished).expect("the directory is ours");
    std::fs::write(unfinished.join("control"), "half").expect("the directory is ours");
    assert!(init(&data).status.success());
    assert!(!unfinished.exists(), "it was moved into its place");
    assert!(!init(&data).status.success(), "a database is not made twice");
    let (code, text) = said(serve(&data, free_port(), &["prot=1"]));
    assert!(
        code == Some(1) && text.contains("unrecognized configuration parameter \"prot\""),
        "{text}"
    );
    let (code, text) = said(serve(&data, free_port(), &["port=many"]));
    assert!(
        code == Some(1) && text.contains("invalid value for parameter \"port\": \"many\""),
        "{text}"
    );
    std::fs::write(data.join("pg_hba.conf"), "local all all ldap\n")
        .expect("the directory is ours");
    let (code, text) = said(serve(&data, free_port(), &[]));
    assert!(code == Some(1) && text.contains("method \"ldap\": not supported"), "{text}");
    let mut nonsense = Command::new(program());
    nonsense.arg("--nonsense");
    assert_eq!(said(nonsense).0, Some(2));
    // Somebody else's directory is named, and left as it is.
    let foreign = directory.path().join("foreign");
    std::fs::create_dir(&foreign).expect("the directory is ours");
    std::fs::write(foreign.join("letter"), "dear").expect("the directory is ours");
    let mut check = Command::new(program());
    check.arg("check").arg("--data").arg(&foreign);
    for command in [serve(&foreign, free_port(), &[]), check] {
        let (code, text) = said(command);
        let wanted = format!("\"{}\" is not a valid data directory", foreign.display());
        assert!(code == Some(1) && text.contains(&wanted), "{text}");
    }
    let left = std::fs::read_dir(&foreign).expect("the directory is ours").count();
    assert_eq!(left, 1, "nothing was put into it");
    // The superuser's name is one that CREATE ROLE would take.
    for (name, why) in [("", "a name is wanted"), ("pg_x", "role name \"pg_x\" is reserved")] {
        let mut command = Command::new(program());
        command.arg("init").arg("--data").arg(directory.path().join("named"));
        command.args(["--username", name]);
        let (code, text) = said(command);
        assert!(code == Some(2) && text.contains(why), "{text}");
    }
    assert!(!directory.path().join("named").exists());
}
