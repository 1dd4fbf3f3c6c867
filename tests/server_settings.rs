//! ALTER SYSTEM and reloads, settings for all roles, and how many sessions a role or a database may have: each on PostgreSQL 15
//! and on Atoll.

use std::time::{Duration, Instant};
use tests::atoll::Atoll;
use tests::client::Client;
use tests::oracle::Oracle;

/// How long a reload may take.
const LIMIT: Duration = Duration::from_secs(10);

fn refused(client: &mut Client, sql: &str) -> (String, String) {
    let reply = client.query_all(sql).pop().expect("an answer");
    let error = reply.error.unwrap_or_else(|| panic!("{sql} is not refused"));
    (error.field(b'C').to_owned(), error.field(b'M').to_owned())
}

/// Has the server read its configuration again, and waits until a session, which is there already, shows `value`.
fn reload(client: &mut Client, name: &str, value: &str) {
    assert_eq!(client.run("SELECT pg_reload_conf()").value(), "t");
    let begun = Instant::now();
    loop {
        let shown = client.run(&format!("SHOW {name}")).value().to_owned();
        if shown == value {
            return;
        }
        assert!(begun.elapsed() < LIMIT, "{name} is {shown} instead of {value}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// What ALTER SYSTEM does, but for what is left of it after a restart.
fn alter_system(port: u16) {
    let mut client = Client::connect(port, "postgres", "postgres");
    let before = client.run("SHOW work_mem").value().to_owned();
    client.run("ALTER SYSTEM SET work_mem = '12MB'");
    client.run("ALTER SYSTEM SET search_path = a, \"B c\"");
    client.run("SET my.own = 'known'");
    client.run("ALTER SYSTEM SET my.own TO 'it''s \\ #'");
    assert_eq!(client.run("SHOW work_mem").value(), before);
    reload(&mut client, "work_mem", "12MB");
    assert_eq!(client.run("SHOW search_path").value(), "a, \"B c\"");
    let other = Client::connect(port, "postgres", "postgres").run("SHOW my.own");
    assert_eq!(other.value(), "it's \\ #");
    client.run("SET work_mem = '3MB'");
    client.run("ALTER SYSTEM SET Work_Mem = 8192");
    client.run("ALTER SYSTEM RESET search_path");
    reload(&mut client, "search_path", "\"$user\", public");
    assert_eq!(client.run("SHOW work_mem").value(), "3MB");
    client.run("RESET work_mem");
    assert_eq!(client.run("SHOW work_mem").value(), "8MB");

    for (sql, state, message) in [
        ("ALTER SYSTEM SET nosuch = 1", "42704", "unrecognized configuration parameter \"nosuch\""),
        (
            "ALTER SYSTEM SET no.such = 1",
            "42704",
            "unrecognized configuration parameter \"no.such\"",
        ),
        ("ALTER SYSTEM RESET nosuch", "42704", "unrecognized configuration parameter \"nosuch\""),
        (
            "ALTER SYSTEM SET work_mem = 'much'",
            "22023",
            "invalid value for parameter \"work_mem\": \"much\"",
        ),
        ("ALTER SYSTEM SET block_size = 1", "55P02", "parameter \"block_size\" cannot be changed"),
        (
            "ALTER SYSTEM SET data_directory = 'x'",
            "55P02",
            "parameter \"data_directory\" cannot be changed",
        ),
        (
            "ALTER SYSTEM SET transaction_isolation = serializable",
            "55P02",
            "parameter \"transaction_isolation\" cannot be changed",
        ),
        (
            "ALTER SYSTEM SET application_name = 'a\nb'",
            "22023",
            "parameter value for ALTER SYSTEM must not contain a newline",
        ),
        (
            "BEGIN; ALTER SYSTEM SET work_mem = '1MB'",
            "25001",
            "ALTER SYSTEM cannot run inside a transaction block",
        ),
    ] {
        let expected = (state.to_owned(), message.to_owned());
        assert_eq!(refused(&mut client, sql), expected, "{sql}");
        if client.status != b'I' {
            client.run("ROLLBACK");
        }
    }
    client.run("CREATE ROLE plain LOGIN");
    client.run("SET ROLE plain");
    for (sql, message) in [
        ("ALTER SYSTEM SET work_mem = 1", "permission denied to set parameter \"work_mem\""),
        ("ALTER SYSTEM RESET ALL", "permission denied to perform ALTER SYSTEM RESET ALL"),
        ("SELECT pg_reload_conf()", "permission denied for function pg_reload_conf"),
        ("ALTER ROLE ALL SET work_mem = 1", "must be superuser to alter settings globally"),
    ] {
        assert_eq!(refused(&mut client, sql), ("42501".to_owned(), message.to_owned()), "{sql}");
    }
    client.run("RESET ROLE");

    // Settings of all roles give way to a database's, and to a role's.
    client.run("ALTER ROLE ALL SET lock_timeout = '3s'");
    client.run("ALTER ROLE plain SET lock_timeout = '4s'");
    let shown = |user: &str| {
        Client::connect(port, user, "postgres").run("SHOW lock_timeout").value().to_owned()
    };
    assert_eq!((shown("postgres").as_str(), shown("plain").as_str()), ("3s", "4s"));
    let kept = "SELECT setdatabase, setrole, setconfig FROM pg_db_role_setting WHERE setrole = 0";
    let row = client.run(kept).rows.remove(0);
    assert_eq!(row, ["0", "0", "{lock_timeout=3s}"].map(|text| Some(text.to_owned())));
    client.run("ALTER ROLE ALL RESET lock_timeout");
    assert_eq!((shown("postgres").as_str(), shown("plain").as_str()), ("0", "4s"));
}

/// Roles and databases have no more sessions than they may.
fn connection_limits(port: u16) {
    let mut client = Client::connect(port, "postgres", "postgres");
    client.run("CREATE ROLE few LOGIN CONNECTION LIMIT 1");
    client.run("CREATE ROLE no_one LOGIN CONNECTION LIMIT 0");
    client.run("CREATE ROLE free LOGIN");
    client.run("CREATE DATABASE small CONNECTION LIMIT 1");
    let refusal = |user: &str, database: &str| {
        let error = Client::try_connect(port, user, database).map(drop).expect_err("it is refused");
        error.to_string()
    };
    let first = Client::connect(port, "few", "postgres");
    let full = refusal("few", "postgres");
    assert!(
        full.contains("53300") && full.contains("too many connections for role \"few\""),
        "{full}"
    );
    let never = refusal("no_one", "postgres");
    assert!(never.contains("too many connections for role \"no_one\""), "{never}");
    drop(first);
    let one = Client::connect(port, "free", "small");
    let full = refusal("free", "small");
    assert!(full.contains("too many connections for database \"small\""), "{full}");
    // Superusers are let in.
    drop(Client::connect(port, "postgres", "small"));
    drop(one);
    let begun = Instant::now();
    while Client::try_connect(port, "few", "postgres").is_err() {
        assert!(begun.elapsed() < LIMIT, "the session that has ended still counts");
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn alter_system_counts_from_the_next_reload_or_start_on() {
    alter_system(Oracle::start(&[]).port());
    let mut atoll = Atoll::start(&[]);
    alter_system(atoll.port());
    atoll.stop();
    atoll.restart();
    let mut client = atoll.connect();
    assert_eq!(client.run("SHOW work_mem").value(), "8MB");
    assert_eq!(client.run("SHOW my.own").value(), "it's \\ #");
    client.run("ALTER SYSTEM RESET ALL");
    atoll.kill();
    atoll.restart();
    assert_eq!(atoll.connect().run("SHOW work_mem").value(), "4MB");
}

#[test]
fn roles_and_databases_have_no_more_sessions_than_they_may() {
    connection_limits(Oracle::start(&[]).port());
    connection_limits(Atoll::start(&[]).port());
}

/// Starts a server that is to refuse to start on the directory of one that has ended: what it says.
fn refusal(ended: &Atoll, settings: &[&str]) -> String {
    let mut command = std::process::Command::new(tests::atoll::program());
    command.arg("serve").arg("--data").arg(ended.data());
    command.args(["-c", &format!("port={}", ended.port())]);
    settings.iter().for_each(|setting| _ = command.args(["-c", setting]));
    let output = command.output().expect("atoll starts");
    assert!(!output.status.success(), "{settings:?}");
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn components_are_switched_off_only_where_that_is_said() {
    let mut atoll =
        Atoll::start(&["atoll.unsafe_switches=on", "atoll.switched_off=log, locks, versions"]);
    let mut client = atoll.connect();
    client.run("CREATE TABLE t (a int PRIMARY KEY, b int)");
    client.run("INSERT INTO t SELECT g, g FROM generate_series(1, 1000) AS g");
    client.run("UPDATE t SET b = b + 1");
    client.run("DELETE FROM t WHERE a > 500");
    assert_eq!(client.run("SELECT sum(b) FROM t").value(), "125750");
    assert_eq!(refused(&mut client, "SET atoll.switched_off = ''").0, "55P02");
    drop(client);
    atoll.stop();
    let log = atoll.log();
    let mark = "[unsafe switches, off: log, locks, versions] ";
    let told = |line: &&str| line.contains("LOG:  ");
    assert!(
        log.lines().filter(told).count() > 0
            && log.lines().filter(told).all(|line| line.contains(mark)),
        "{log}"
    );
    for (settings, words) in [
        (&["atoll.switched_off=log"][..], "needs \"atoll.unsafe_switches\" to be on"),
        (&["atoll.unsafe_switches=on", "atoll.switched_off=locks, seatbelts"], "\"seatbelts\""),
        (
            &["atoll.unsafe_switches=on", "atoll.switched_off=latches"],
            "switching off \"latches\" is not supported",
        ),
    ] {
        let said = refusal(&atoll, settings);
        assert!(said.contains(words), "{said}");
    }
    // What was closed is whole, whatever it was used without.
    atoll.check();
}

#[test]
fn a_directory_that_was_used_without_a_log_is_not_opened_after_a_crash() {
    const MARK: &str = "atoll.switched_off";
    let mut atoll = Atoll::start(&["atoll.unsafe_switches=on", "atoll.switched_off=log"]);
    let mark = atoll.data().join(MARK);
    assert_eq!(std::fs::read_to_string(&mark).expect("the mark is there"), "log");
    atoll.stop();
    assert!(!mark.exists(), "what was closed is whole");
    atoll.restart();
    atoll.kill();
    let said = refusal(&atoll, &[]);
    assert!(said.contains("used without \"log\" and was not shut down in order"), "{said}");
    // Who says so sees what is left, and the mark stays.
    atoll.restart();
    atoll.stop();
    assert!(mark.exists() && atoll.log().contains("used without \"log\""), "{}", atoll.log());
}

#[test]
fn atolls_own_settings_are_as_checked_as_postgresqls() {
    let atoll = Atoll::start_with(
        &["--page-size", "16kB"],
        &[
            "atoll.max_write_set=20MB",
            "atoll.log_insert=Mutex",
            "atoll.version_spill=1GB",
            "atoll.timestamp_allocator=CLOCK",
        ],
    );
    let mut client = atoll.connect();
    let mut shown = |name: &str| client.run(&format!("SHOW {name}")).value().to_owned();
    assert_eq!(shown("atoll.max_write_set"), "20MB");
    assert_eq!(shown("atoll.log_insert"), "mutex");
    assert_eq!(shown("atoll.timestamp_allocator"), "clock");
    assert_eq!(
        (shown("atoll.version_memory"), shown("ATOLL.version_spill")),
        ("256MB".into(), "1GB".into())
    );
    // Not a setting of Atoll's own, but a fact that this directory was made with.
    assert_eq!((shown("block_size"), shown("shared_buffers")), ("16384".into(), "128MB".into()));
    let fact =
        "SELECT boot_val, source, sourcefile IS NULL FROM pg_settings WHERE name = 'lc_time'";
    let row = client.run(fact).rows.remove(0);
    assert_eq!(row, ["C.UTF-8", "default", "t"].map(|text| Some(text.to_owned())));
    let refusals = [
        (
            "SET atoll.workers = 1",
            "55P02",
            "parameter \"atoll.workers\" cannot be changed without restarting the server",
        ),
        ("SET atoll.wrkers = 1", "42602", "invalid configuration parameter name \"atoll.wrkers\""),
        ("SHOW atoll.wrkers", "42704", "unrecognized configuration parameter \"atoll.wrkers\""),
        (
            "ALTER SYSTEM SET atoll.log_insert = 'none'",
            "22023",
            "invalid value for parameter \"atoll.log_insert\": \"none\"",
        ),
        (
            "ALTER SYSTEM SET atoll.timestamp_allocator = 'hardware'",
            "22023",
            "invalid value for parameter \"atoll.timestamp_allocator\": \"hardware\"",
        ),
    ];
    for (sql, state, message) in refusals {
        assert_eq!(refused(&mut client, sql), (state.to_owned(), message.to_owned()), "{sql}");
    }
}
