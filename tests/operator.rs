//! What whoever runs the server sees of it: its log, compared with PostgreSQL's; what it refuses to serve, and to run as root.

use std::io::Write;
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;
use std::time::Duration;
use tests::atoll::{Atoll, program};
use tests::client::Client;
use tests::golden::difference;
use tests::oracle::{Oracle, is_root};
use tests::process::{TemporaryDirectory, wait_until};

/// Settings under which both servers say the same of the same, but for numbers.
const SETTINGS: [&str; 3] =
    ["log_line_prefix=%q<%u|%d|%a|%e|%h> ", "log_connections=on", "log_disconnections=on"];

/// Has a server write its log, and gives what it has written of this client: `log` shows it.
fn written(port: u16, log: &dyn Fn() -> String) -> Vec<String> {
    let mut client = Client::connect(port, "postgres", "postgres");
    let statements = [
        "CREATE ROLE forger LOGIN",
        "SELECT 1/0",
        "SELECT\n1/0\n,'a\tb'",
        "nonsense at 'all'",
        "CREATE TABLE logged (a int PRIMARY KEY, b text CHECK (b <> ''))",
        "INSERT INTO logged VALUES (1, 'x')",
        "INSERT INTO logged VALUES (1, 'x')",
        "INSERT INTO logged VALUES (2, '')",
        "SELECT nothing(1)",
        "SELECT b FROM logged WHERE c",
        "COMMIT",
        "SELECT 1; SELECT 1/0; SELECT 2",
        "SET log_statement = 'ddl'",
        "CREATE TABLE defined (a int)",
        "INSERT INTO defined VALUES (1)",
        "SET log_statement = 'mod'",
        "INSERT INTO defined VALUES (1)",
        "COPY defined TO STDOUT",
        "TRUNCATE defined",
        "PREPARE p AS DELETE FROM defined",
        "EXECUTE p",
        "EXPLAIN DELETE FROM defined",
        "EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) DELETE FROM defined",
        "SELECT 1; UPDATE defined SET a = 2",
        "SET log_statement = 'all'",
        "SELECT 'all'",
        "",
        "BEGIN",
        "ROLLBACK",
        "SET log_duration = on",
        "SELECT 'duration'",
        "SET log_min_duration_statement = 0",
        "SELECT 'statement and duration'",
        "SET log_statement = 'none'",
        "SELECT 'duration with statement'",
        "SET log_duration = off",
        "SET log_min_duration_statement = '1min'",
        "SELECT 'short'",
        "SET log_min_duration_statement = -1",
        "SET log_min_duration_sample = 0",
        "SELECT 'none is sampled'",
        "SET log_statement_sample_rate = 1",
        "SELECT 'sampled'",
        "SET log_statement_sample_rate = 0",
        "SET log_min_duration_sample = -1",
        "SET log_transaction_sample_rate = 1",
        "SELECT 'of a sampled transaction'",
        "SET log_transaction_sample_rate = 0",
        "SELECT 'of none'",
        "SET log_min_error_statement = 'log'",
        "SELECT 1/0",
        "SET log_min_error_statement = 'warning'",
        "COMMIT",
        "SET log_min_error_statement = 'error'",
        "SET log_min_messages = 'log'",
        "SELECT 1/0",
        "SET log_min_messages = 'notice'",
        "DROP TABLE IF EXISTS nowhere",
        "SET log_min_messages = 'warning'",
        "SET application_name = 'named'",
        "SELECT 1/0",
        "DROP TABLE logged, defined",
    ];
    for statement in statements {
        let _ = client.query_all(statement);
    }
    client.query_extended("SELECT 1/$1::int", &[Some("0")]);
    client.query_extended("SELECT 'extended' WHERE nothing", &[]);
    client.run("SET log_statement = 'all'");
    client.query_extended("SELECT $1::int", &[Some("7")]);
    client.query_extended(
        "SELECT $1::text, $2::text, $3::date",
        &[Some("it's"), None, Some("2026-01-01")],
    );
    client.run("SET log_parameter_max_length = 5");
    client.query_extended("SELECT $1::text", &[Some("abcdefgh")]);
    client.run("SET log_parameter_max_length = 0");
    client.query_extended("SELECT $1::text", &[Some("hidden")]);
    client.run("SET log_parameter_max_length = -1");
    client.run("SET log_statement = 'none'");
    client.run("SET log_parameter_max_length_on_error = -1");
    client.query_extended("SELECT 1/$1::int", &[Some("0")]);
    client.run("SET log_parameter_max_length_on_error = 0");
    client.run("SET log_min_duration_statement = 0");
    client.query_extended("SELECT $1::int", &[Some("7")]);
    client.run("SET log_min_duration_statement = -1");
    drop(client);
    wait_until("the end of the session", Duration::from_secs(20), || {
        let ended = |line: &str| line.contains("|named|") && line.contains("disconnection: ");
        log().lines().any(ended).then_some(())
    });
    Client::try_connect(port, "no\tbody", "postgres").expect_err("there is no such role");
    wait_until("the last line", Duration::from_secs(20), || {
        (log().contains("\" does not exist\n") && log().contains("port=")).then_some(())
    });
    let without_numbers = |line: &str| {
        let mut out = String::new();
        for character in line.chars() {
            match character {
                '0'..='9' if out.ends_with('#') => {}
                '0'..='9' => out.push('#'),
                other => out.push(other),
            }
        }
        out
    };
    let text = log();
    let of_client = |line: &&str| line.starts_with('<') || line.starts_with('\t');
    // Sessions that a test's start has had are somebody else's, and who is asked by whom is told by PostgreSQL only.
    let others = |line: &String| {
        line.contains("connection received") || line.contains("connection authenticated")
    };
    let lines = text.lines().filter(of_client).map(without_numbers).filter(|line| !others(line));
    let lines: Vec<String> = lines.collect();
    let begin = lines.iter().position(|line| line.contains("division by zero"));
    lines[begin.expect("it is logged")..].to_vec()
}

#[test]
fn the_log_says_what_postgresqls_says() {
    let (oracle, atoll) = (Oracle::start(&SETTINGS), Atoll::start(&SETTINGS));
    let wanted = written(oracle.port(), &|| oracle.log());
    let actual = written(atoll.port(), &|| atoll.log());
    let (wanted, actual) = (wanted.join("\n"), actual.join("\n"));
    assert!(actual == wanted, "{}", difference(&wanted, &actual));
}

#[test]
fn what_is_logged_of_statements_reaches_a_client_that_asks() {
    let atoll = Atoll::start(&[]);
    let mut client = atoll.connect();
    let mut told = |statement: &str| -> Vec<String> {
        let reply = client.query(statement);
        let said =
            reply.notices.iter().map(|one| format!("{}: {}", one.field(b'S'), one.field(b'M')));
        said.collect()
    };
    assert!(told("SET log_statement = 'all'").is_empty());
    assert!(told("SELECT 1").is_empty());
    // It is logged before it sets anything.
    assert!(told("SET client_min_messages = log").is_empty());
    assert_eq!(told("SELECT 1"), ["LOG: statement: SELECT 1"]);
    told("SET log_statement = 'none'; SET log_duration = on");
    let duration = told("SELECT 1");
    assert!(
        duration.len() == 1
            && duration[0].starts_with("LOG: duration: ")
            && duration[0].ends_with(" ms"),
        "{duration:?}"
    );
    told("SET client_min_messages = notice");
    assert!(told("SELECT 1").is_empty());
}

#[test]
fn checkpoints_and_temporary_files_are_logged() {
    let atoll = Atoll::start(&["log_line_prefix="]);
    let mut client = atoll.connect();
    client.run("CREATE TABLE filled AS SELECT g AS a FROM generate_series(1, 20000) AS g");
    client.run("CHECKPOINT");
    client.run("SET log_temp_files = 0");
    client.run("SET work_mem = '64kB'");
    client.query("SELECT a FROM filled ORDER BY a DESC");
    client.run("SET log_temp_files = -1");
    client.query("SELECT a, 'silent' FROM filled ORDER BY a DESC");
    let counted = client.run(
        "SELECT temp_files >= 2 AND temp_bytes > temp_files FROM pg_stat_database \
         WHERE datname = current_database()",
    );
    assert_eq!(counted.value(), "t");
    let log = atoll.log();
    let line = |begin: &str| log.lines().find(|line| line.contains(begin)).map(str::to_owned);
    assert!(line("LOG:  checkpoint starting: immediate force wait").is_some(), "{log}");
    let complete = line("LOG:  checkpoint complete: wrote ").expect("it has ended");
    for part in [
        " buffers (",
        "recycled; write=",
        " s, sync=",
        " s, total=",
        "; sync files=1",
        " kB, estimate=",
    ] {
        assert!(complete.contains(part), "{complete}");
    }
    let file = line("LOG:  temporary file: path \"scratch/").expect("the sort has spilled");
    let size = file.rsplit_once(", size ").and_then(|(_, size)| size.parse::<u64>().ok());
    assert!(size.is_some_and(|size| size > 64 << 10), "{file}");
    assert!(log.contains("STATEMENT:  SELECT a FROM filled"), "{log}");
    assert!(!log.contains("silent"), "{log}");
    client.run("ALTER SYSTEM SET log_checkpoints = off");
    client.run("SELECT pg_reload_conf()");
    wait_until("a reload", Duration::from_secs(20), || {
        (atoll.connect().query("SHOW log_checkpoints").rows[0][0].as_deref() == Some("off"))
            .then_some(())
    });
    let before = atoll.log().matches("checkpoint starting").count();
    client.run("CHECKPOINT");
    assert_eq!(atoll.log().matches("checkpoint starting").count(), before);
}

#[test]
fn nobody_writes_a_line_of_his_own_into_the_log() {
    let atoll = Atoll::start(&["log_connections=on", "log_line_prefix=%m <%u@%d> "]);
    let forged = "x\n2026-01-01 00:00:00.000 UTC <a@b> LOG:  forged\r\u{1b}[2J";
    Client::try_connect(atoll.port(), forged, forged).expect_err("there is no such role");
    let _ = atoll.connect().query_all(&format!("SELECT nothing('{forged}') FROM \"{forged}\""));
    wait_until("the last line", Duration::from_secs(20), || {
        atoll.log().contains("STATEMENT:  SELECT nothing").then_some(())
    });
    let log = atoll.log();
    assert!(log.matches("forged").count() > 4, "{log}");
    for line in log.split('\n').filter(|line| line.contains("forged")) {
        assert!(line.starts_with('\t'), "{line}");
        assert!(!line.contains(['\r', '\u{1b}']), "{line}");
    }
}

#[test]
fn passwords_are_in_no_line_of_the_log() {
    let atoll = Atoll::start(&["log_statement=all", "log_min_duration_statement=0"]);
    let mut client = atoll.connect();
    for statement in [
        "CREATE ROLE a PASSWORD 'geheim'",
        "ALTER ROLE a PASSWORD E'gehe\\151m' CONNECTION LIMIT nonsense",
        "ALTER ROLE a ENCRYPTED PASSWORD $x$geheim$x$ 'geheim'",
        "ALTER ROLE nobody PASSWORD 'geheim'",
        "SET password_encryption = 'md5'",
        "ALTER ROLE a PASSWORD 'geheim'",
    ] {
        let _ = client.query_all(statement);
    }
    assert_eq!(client.query("ALTER ROLE a PASSWORD 'geheim'").sqlstate(), "0A000");
    client.query_extended("ALTER ROLE a PASSWORD 'geheim'", &[]);
    wait_until("the last line", Duration::from_secs(20), || {
        atoll.log().contains("parse <unnamed>: ALTER ROLE a PASSWORD <hidden>").then_some(())
    });
    let log = atoll.log();
    assert!(!log.contains("geheim") && !log.contains("gehe"), "{log}");
}

/// The first record of a kind of log that holds a text.
fn record(text: &str, held: &str) -> String {
    let found = text.lines().find(|line| line.contains(held));
    found.unwrap_or_else(|| panic!("no {held} in {text}")).to_owned()
}

/// The values of a line of CSV.
fn values(line: &str) -> Vec<String> {
    let (mut all, mut quoted) = (vec![String::new()], false);
    let mut characters = line.chars().peekable();
    while let Some(character) = characters.next() {
        let last = all.last_mut().expect("there is one");
        match character {
            '"' if quoted && characters.next_if_eq(&'"').is_some() => last.push('"'),
            '"' => quoted = !quoted,
            ',' if !quoted => all.push(String::new()),
            other => last.push(other),
        }
    }
    all
}

#[test]
fn the_collector_writes_postgresqls_files() {
    let settings = [
        "logging_collector=on",
        "log_destination=stderr,csvlog,jsonlog",
        "log_filename=log-%Y.log",
        "log_directory=written",
        "log_timezone=UTC",
    ];
    let (oracle, atoll) = (Oracle::start(&settings), Atoll::start(&settings));
    let statement = "SELECT 'a \"quoted\" text', 1/0";
    let mut found = Vec::new();
    for port in [oracle.port(), atoll.port()] {
        let mut client = Client::connect(port, "postgres", "postgres");
        client.run("SET application_name = 'an \"application\"'");
        let _ = client.query_all(statement);
        let mut read = |suffix: &str| {
            let file = "(SELECT 'written/log-' || to_char(now() AT TIME ZONE 'UTC', 'YYYY'))";
            let query = format!("SELECT pg_read_file({file} || '{suffix}')");
            wait_until("the file", Duration::from_secs(20), || {
                let text = client.query(&query);
                let known = text.error.is_none() && text.value().contains("division by zero");
                known.then(|| text.value().to_owned())
            })
        };
        let [csv, json] =
            [read(".csv"), read(".json")].map(|text| record(&text, "division by zero"));
        let text = record(&read(".log"), "division by zero");
        assert!(text.contains(" ERROR:  division by zero"), "{text}");
        found.push((values(&csv), json));
    }
    let [(csv, json), (own_csv, own_json)] = &found[..] else { unreachable!("two servers") };
    assert_eq!(own_csv.len(), csv.len(), "{own_csv:?} {csv:?}");
    // Times, ports, numbers of sessions and transactions are each server's own; PostgreSQL 15 has no `query_id` of its own.
    let varies = [0, 3, 4, 5, 6, 8, 9, 10];
    for at in (0..csv.len()).filter(|at| !varies.contains(at)) {
        assert_eq!(own_csv[at], csv[at], "column {at}");
    }
    let keys = |json: &str| -> Vec<String> {
        let parts = json.split("\",\"").flat_map(|part| part.split(",\""));
        parts.map(|part| part.split("\":").next().unwrap_or_default().to_owned()).collect()
    };
    // Where an error was raised in the source is PostgreSQL's own.
    assert_eq!(keys(own_json), keys(json), "{own_json}\n{json}");
}

#[test]
fn a_directory_that_others_can_read_is_not_served() {
    let mut atoll = Atoll::start(&[]);
    let mode = || std::fs::metadata(atoll.data()).expect("it is there").permissions().mode();
    assert_eq!(mode() & 0o777, 0o700);
    let data = atoll.data();
    atoll.stop();
    let set = |mode| {
        let mode = std::fs::Permissions::from_mode(mode);
        std::fs::set_permissions(&data, mode).expect("it is ours");
    };
    for refused in [0o755, 0o770, 0o701, 0o707] {
        set(refused);
        let output = Command::new(program()).arg("serve").arg("-D").arg(&data).output();
        let output = output.expect("atoll starts");
        let told = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success() && told.contains("has invalid permissions"), "{told}");
    }
    for served in [0o750, 0o700] {
        set(served);
        atoll.restart();
        atoll.stop();
    }
}

#[test]
fn as_root_the_server_says_so_and_runs_no_program() {
    if !is_root() {
        return;
    }
    let atoll = Atoll::start(&["atoll.run_programs_as_root=off"]);
    assert!(atoll.log().contains("WARNING:  the server runs as root"), "{}", atoll.log());
    let place = TemporaryDirectory::new("program");
    let mark = place.path().join("ran");
    let mut client = atoll.connect();
    let touch = format!("touch {}", mark.display());
    for statement in [
        format!("COPY (SELECT 1) TO PROGRAM '{touch}'"),
        format!("CREATE TABLE t (a int); COPY t FROM PROGRAM '{touch}'"),
    ] {
        let refused = client.query_all(&statement).pop().and_then(|reply| reply.error);
        let refused = refused.expect("it is refused");
        assert_eq!(refused.field(b'C'), "42501");
        assert!(refused.field(b'M').contains("atoll.run_programs_as_root"), "{refused:?}");
    }
    assert!(!mark.exists());
}

#[test]
fn who_finds_no_place_is_told_so() {
    let atoll = Atoll::start(&["max_connections=2", "superuser_reserved_connections=0"]);
    // Clients that have not said anything yet, as many as may.
    let silent: Vec<TcpStream> = (0..4)
        .map(|_| TcpStream::connect(("127.0.0.1", atoll.port())).expect("it listens"))
        .collect();
    let told = wait_until("a refusal", Duration::from_secs(20), || {
        Client::try_connect(atoll.port(), "postgres", "postgres").err()
    });
    assert_eq!(told.to_string(), "53300 sorry, too many clients already");
    for mut stream in silent {
        stream.write_all(&[0; 4]).expect("it is open");
    }
    wait_until("a place", Duration::from_secs(20), || {
        Client::try_connect(atoll.port(), "postgres", "postgres").ok()
    });
}
