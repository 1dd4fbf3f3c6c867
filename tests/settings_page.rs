//! `docs/settings.md`: what each row of `pg_settings` does here. The page says what the server says: each setting that a
//! session may change is changed, looked at, and changed back; of each that works `settings/seen.rs` knows how that is seen.
//! `UPDATE_GOLDEN=1` writes the page anew.

#[path = "settings/seen.rs"]
mod seen;

use seen::{SEEN, Seen};

use sql::settings::definition::{Definition, definitions, number};
use std::fmt::Write as _;
use std::path::Path;
use std::time::Duration;
use tests::atoll::Atoll;
use tests::client::{Client, Reply};
use tests::golden::assert_golden;
use tests::process::wait_until;

const ROWS: &str = "SELECT name, category, context, vartype, setting, coalesce(min_val, ''), coalesce(max_val, ''), \
    coalesce(array_to_string(enumvals, ','), '') FROM pg_settings ORDER BY category COLLATE \"C\", lower(name) COLLATE \"C\"";

/// Another value than the one that is set; none where only who knows the setting could think of one.
fn another(row: &[String]) -> Option<String> {
    let [_, _, _, kind, setting, low, high, values] = row else { return None };
    match kind.as_str() {
        "bool" => Some(if setting == "on" { "off" } else { "on" }.to_owned()),
        "enum" => values.split(',').find(|value| value != setting).map(str::to_owned),
        "integer" => {
            let (low, high) = (low.parse::<i64>().ok()?, high.parse::<i64>().ok()?);
            let now = setting.parse::<i64>().ok()?;
            // Not by little: a timeout of a moment would end what comes next.
            let larger = now.saturating_add(now.max(1000)).min(high);
            Some(if larger != now { larger } else { low }.to_string())
        }
        "real" => {
            let (low, high) = (low.parse::<f64>().ok()?, high.parse::<f64>().ok()?);
            let now = setting.parse::<f64>().ok()?;
            Some(if now + 1.0 <= high { now + 1.0 } else { low }.to_string())
        }
        _ => None,
    }
}

/// What the server does with a setting that a session may change.
fn tried(client: &mut Client, row: &[String], definition: &Definition) -> &'static str {
    let works = match (definition.followed, definition.is_advice()) {
        (true, _) => "works",
        (false, true) => "advice: accepted, changes nothing",
        (false, false) => "accepted with a notice that it changes nothing",
    };
    let Some(value) = another(row).filter(|value| *value != row[4]) else { return works };
    let name = &row[0];
    client.run("BEGIN");
    let set = client.query(&format!("SET LOCAL {name} = '{value}'"));
    let shown = match &set.error {
        None => client.query(&format!("SELECT setting FROM pg_settings WHERE name = '{name}'")),
        Some(_) => set.clone(),
    };
    client.run("ROLLBACK");
    if let Some(error) = &set.error {
        return match error.field(b'C') {
            "0A000" => "refused (0A000)",
            "55P02" => "cannot be changed by a session",
            _ => "works; not every value can be had",
        };
    }
    let told = set.notices.iter().any(|notice| notice.field(b'M').contains("has no effect"));
    assert_eq!(told, works.contains("notice"), "{name} says what it does");
    assert_eq!(shown.rows[0][0].as_deref(), Some(&*value), "{name} is what it was set to");
    works
}

#[test]
fn the_page_of_settings_is_what_the_server_does() {
    let atoll = Atoll::start(&[]);
    let mut client = atoll.connect();
    let rows = client.query(ROWS).rows;
    let rows = rows.into_iter().map(|row| row.into_iter().map(Option::unwrap_or_default).collect());
    let rows: Vec<Vec<String>> = rows.collect();
    let mut page = String::from(
        "# Settings\n\nWhat each row of `pg_settings` does. Written by `tests/settings_page.rs`, which changes each that a session may\nchange and looks: `UPDATE_GOLDEN=1 cargo test -p tests --test settings_page`. *Works*: as in PostgreSQL, and\nseen by a statement or a test (`tests/settings/seen.rs`) unless it says otherwise. *Advice*: it may\nbe set, and is shown as set, but what it advises does not exist here (`docs/differences.md`).\n",
    );
    let mut category = String::new();
    for row in &rows {
        let (name, context) = (&row[0], &*row[2]);
        let known = SEEN.iter().find(|(known, _)| known == name);
        let definition = &definitions()[number(name).expect("the server knows its settings")];
        let does = match context {
            "internal" => "tells a fact",
            "user" | "superuser" => tried(&mut client, row, definition),
            "sighup" if definition.followed => "works, from a reload on",
            _ if definition.followed => "works, from a start or a new session on",
            _ => "accepted in the files, changes nothing",
        };
        let works = does.starts_with("works");
        assert_eq!(
            works,
            known.is_some(),
            "{name}: {does}; `settings/seen.rs` says how it is seen"
        );
        let unwatched = matches!(known, Some((_, Seen::Unwatched)));
        let does = if unwatched { format!("{does}; no test looks") } else { does.to_owned() };
        if row[1] != category {
            category.clone_from(&row[1]);
            write!(
                page,
                "\n## {category}\n\n| setting | may be changed | what it does |\n|---|---|---|\n"
            )
            .expect("a string grows");
        }
        writeln!(page, "| `{name}` | {context} | {does} |").expect("a string grows");
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/settings.md");
    assert_golden(&path, "Atoll", &page, true);
}

/// What a statement answers, as far as settings may change it.
fn answer(client: &mut Client, statement: &str) -> String {
    let said = |reply: Reply| {
        let notices: Vec<String> =
            reply.notices.iter().map(|notice| notice.field(b'M').to_owned()).collect();
        let error = reply.error.map(|error| error.field(b'M').to_owned());
        format!("{:?} {notices:?} {error:?}", reply.rows)
    };
    client.query_all(statement).into_iter().map(said).collect()
}

#[test]
fn settings_that_work_are_seen_to() {
    let atoll = Atoll::start(&[]);
    let mut admin = atoll.connect();
    for statement in [
        "CREATE TABLE looked (id int PRIMARY KEY, k int, v text)",
        "CREATE INDEX ON looked (k)",
        "INSERT INTO looked SELECT i, i % 50, 'x' FROM generate_series(1, 2000) i",
        "ANALYZE looked",
        "CREATE VIEW looked_at AS SELECT * FROM looked",
        "CREATE ROLE looker",
    ] {
        admin.run(statement);
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    assert!(SEEN.is_sorted_by_key(|(name, _)| *name), "the list has an order");
    for (name, seen) in SEEN {
        // What one setting leaves behind does not meet the next.
        let mut client = atoll.connect();
        let set = |value: &str| match *name {
            "session_authorization" => format!("SET SESSION AUTHORIZATION {value}"),
            _ => format!("SET {name} = '{value}'"),
        };
        match seen {
            Seen::By(value, statement) => {
                let before = answer(&mut client, statement);
                assert!(client.query(&set(value)).error.is_none(), "{name} is set");
                let after = answer(&mut client, statement);
                assert_ne!(before, after, "{name}: {statement}");
            }
            Seen::Behind(value, first, statement) => {
                let behind = |client: &mut Client| {
                    answer(client, first);
                    answer(client, statement)
                };
                let before = behind(&mut client);
                assert!(client.query(&set(value)).error.is_none(), "{name} is set");
                assert_ne!(before, behind(&mut client), "{name}: {statement}");
            }
            Seen::Refused(value) => {
                assert!(client.query(&set(value)).error.is_some(), "{name} is not {value}");
            }
            Seen::In(file, test) => {
                let bytes = std::fs::read(root.join(file));
                let bytes = bytes.unwrap_or_else(|error| panic!("{name}: {file}: {error}"));
                let text = String::from_utf8_lossy(&bytes);
                assert!(text.contains(&format!("fn {test}")) || test.is_empty(), "{file}: {test}");
                assert!(text.contains(name), "{file} changes {name}");
            }
            Seen::Unwatched => {}
        }
    }
}

/// When a server's socket that is connected with `client` will ask whether that is there, in hundredths of a second.
fn keepalive(server: u16, client: u16) -> u64 {
    let port = |address: &str| {
        let digits = address.split_once(':').map_or("", |(_, port)| port);
        u16::from_str_radix(digits, 16).unwrap_or(0)
    };
    let timer = || {
        let connections = std::fs::read_to_string("/proc/net/tcp").expect("the system tells");
        connections.lines().find_map(|line| {
            let fields: Vec<&str> = line.split_whitespace().collect();
            let [_, local, remote, _, _, timer, ..] = fields[..] else { return None };
            let ours = port(local) == server && port(remote) == client;
            // While an answer is not confirmed the timer is that of sending it again.
            let left = timer.strip_prefix("02:").filter(|_| ours)?;
            u64::from_str_radix(left, 16).ok()
        })
    };
    wait_until("the timer", Duration::from_secs(10), timer)
}

/// `tcp_keepalives_idle`, `tcp_keepalives_interval`, `tcp_keepalives_count`, `tcp_user_timeout`.
#[test]
fn a_session_sets_its_own_socket() {
    let atoll = Atoll::start(&[]);
    let mut client = atoll.connect();
    let port =
        client.query("SELECT client_port FROM pg_stat_activity WHERE pid = pg_backend_pid()");
    let port: u16 = port.value().parse().expect("a port");
    client.run("SET tcp_keepalives_idle = 50");
    client.run("SET tcp_keepalives_interval = 7; SET tcp_keepalives_count = 3; SET tcp_user_timeout = 90000");
    let shown =
        "SELECT string_agg(setting, ' ' ORDER BY name) FROM pg_settings WHERE name LIKE 'tcp%'";
    assert_eq!(client.query(shown).value(), "3 50 7 90000");
    let left = keepalive(atoll.port(), port);
    assert!((1..=5_000).contains(&left), "{left}");
    client.run("RESET tcp_keepalives_idle");
    let left = keepalive(atoll.port(), port);
    assert!(left > 5_000, "{left}");
}

/// `log_error_verbosity`, `unix_socket_permissions`.
#[test]
fn what_counts_from_the_start_on_is_seen() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = std::env::temp_dir().join(format!("atoll-sockets-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("temporary files can be made");
    let sockets = format!("unix_socket_directories={}", folder.display());
    let pid_file = folder.join("server.pid");
    let external = format!("external_pid_file={}", pid_file.display());
    let settings =
        ["log_error_verbosity=verbose", "unix_socket_permissions=0700", &sockets, &external];
    let mut atoll = Atoll::start(&settings);
    let mut client = atoll.connect();
    let _ = client.query("SELECT 1/0");
    assert!(atoll.log().contains("ERROR:  22012: division by zero"), "{}", atoll.log());
    let socket = folder.join(format!(".s.PGSQL.{}", atoll.port()));
    let mode = std::fs::metadata(&socket).expect("the socket is there").permissions().mode();
    assert_eq!(mode & 0o777, 0o700);
    let pid = std::fs::read_to_string(&pid_file).expect("it is there while the server runs");
    let command = std::fs::read_to_string(format!("/proc/{}/cmdline", pid.trim_end()));
    assert!(command.expect("a process").contains("atoll"));
    atoll.stop();
    assert!(!pid_file.exists(), "it goes with the server");
    let _ = std::fs::remove_dir_all(&folder);
}
