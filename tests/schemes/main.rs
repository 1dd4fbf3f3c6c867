//! Concurrency control as a choice of the database: how it is chosen, what each scheme makes of the schedules that serializability
//! forbids, and that nothing is lost under any of them. PostgreSQL has no such choice, so what is expected is written down here,
//! step by step, as the schemes' definitions have it (`docs/design/0017-schemes.md`).

mod bank;
mod partitions;
mod row_locks;

use std::time::Duration;
use tests::atoll::Atoll;
use tests::client::Client;
use tests::waiting::{LOOK, answers};

const SCHEMES: [&str; 9] = [
    "mvcc",
    "ssi",
    "occ",
    "2pl_detect",
    "2pl_no_wait",
    "2pl_wait_die",
    "timestamp",
    "mvto",
    "hstore",
];

fn shown(client: &mut Client) -> String {
    client.run("SHOW concurrency_control").value().to_owned()
}

fn code(client: &mut Client, sql: &str) -> String {
    let reply = client.query_all(sql).pop().expect("an answer");
    reply.error.map(|error| error.field(b'C').to_owned()).unwrap_or_default()
}

fn open(atoll: &Atoll, database: &str) -> Client {
    Client::connect(atoll.port(), "postgres", database)
}

// --- the choice ----------------------------------------------------------------------------------------------------

#[test]
fn a_database_keeps_the_scheme_that_it_was_made_with() {
    let mut atoll = Atoll::start(&[]);
    let mut admin = atoll.connect();
    assert_eq!(shown(&mut admin), "mvcc");
    for (at, scheme) in SCHEMES.iter().enumerate() {
        let with = [
            "WITH (concurrency_control = '",
            "WITH concurrency_control = '",
            "concurrency_control '",
        ];
        let (with, end) = (with[at % 3], if at % 3 == 0 { "')" } else { "'" });
        admin.run(&format!("CREATE DATABASE d{at} {with}{scheme}{end}"));
        admin.run(&format!("CREATE DATABASE of_d{at} TEMPLATE d{at}"));
        admin.run(&format!(
            "CREATE DATABASE other_d{at} WITH (TEMPLATE = d{at}, CONCURRENCY_CONTROL = 'occ')"
        ));
    }
    let look = |atoll: &Atoll| {
        for (at, scheme) in SCHEMES.iter().enumerate() {
            assert_eq!(shown(&mut open(atoll, &format!("d{at}"))), *scheme);
            assert_eq!(shown(&mut open(atoll, &format!("of_d{at}"))), *scheme);
            assert_eq!(shown(&mut open(atoll, &format!("other_d{at}"))), "occ");
        }
    };
    look(&atoll);
    drop(admin);
    atoll.kill();
    atoll.restart();
    look(&atoll);
}

#[test]
fn a_scheme_is_changed_while_nobody_is_connected() {
    let atoll = Atoll::start(&["max_prepared_transactions=2"]);
    let mut admin = atoll.connect();
    admin.run("CREATE DATABASE d");
    let to = |scheme: &str| format!("ALTER DATABASE d WITH concurrency_control = '{scheme}'");
    let inside = open(&atoll, "d");
    assert_eq!(code(&mut admin, &to("occ")), "55006");
    drop(inside);
    admin.run(&to("2pl_wait_die"));
    let mut inside = open(&atoll, "d");
    assert_eq!(shown(&mut inside), "2pl_wait_die");
    // It is that already.
    admin.run(&to("2pl_wait_die"));
    assert_eq!(code(&mut inside, &to("occ")), "55006");
    admin.run("BEGIN");
    assert_eq!(code(&mut admin, &to("occ")), "25001");
    admin.run("ROLLBACK");
    for unknown in ["sssi", "", "2pl", "h-store", "timestamps"] {
        assert_eq!(code(&mut admin, &to(unknown)), "22023");
        let create = format!("CREATE DATABASE e concurrency_control = '{unknown}'");
        assert_eq!(code(&mut admin, &create), "22023");
    }
    let twice = "concurrency_control = 'occ' concurrency_control = 'mvto'";
    for of in ["CREATE DATABASE e", "ALTER DATABASE d"] {
        assert_eq!(code(&mut admin, &format!("{of} {twice}")), "42601");
    }
    for sql in [
        "SET concurrency_control = 'occ'",
        "ALTER DATABASE d SET concurrency_control = 'occ'",
        "ALTER ROLE postgres IN DATABASE d SET concurrency_control = 'occ'",
    ] {
        assert_eq!(code(&mut admin, sql), "55P02", "{sql}");
    }
    inside.run("RESET ALL");
    assert_eq!(shown(&mut inside), "2pl_wait_die");
    // What is prepared has its locks by the scheme that it began with.
    inside.run("CREATE TABLE t (v int)");
    inside.run("BEGIN");
    inside.run("INSERT INTO t VALUES (1)");
    inside.run("PREPARE TRANSACTION 'p'");
    drop(inside);
    let refused = admin.query(&to("occ")).error.expect("somebody is there yet");
    assert_eq!(refused.field(b'C'), "55006");
    assert_eq!(refused.field(b'D'), "There is 1 prepared transaction using the database.");
    let mut inside = open(&atoll, "d");
    assert_eq!(shown(&mut inside), "2pl_wait_die");
    inside.run("COMMIT PREPARED 'p'");
    drop(inside);
    admin.run(&to("occ"));
    assert_eq!(shown(&mut open(&atoll, "d")), "occ");
}

#[test]
fn a_directory_is_made_with_a_scheme() {
    let atoll = Atoll::start_with(&["--concurrency-control", "2pl_no_wait"], &[]);
    let mut client = atoll.connect();
    assert_eq!(shown(&mut client), "2pl_no_wait");
    client.run("CREATE DATABASE d");
    assert_eq!(shown(&mut open(&atoll, "d")), "2pl_no_wait");
    client.run("ALTER DATABASE d concurrency_control = mvcc");
    assert_eq!(shown(&mut open(&atoll, "d")), "mvcc");
}

// --- the schedules -------------------------------------------------------------------------------------------------

/// What became of a statement.
fn outcome(client: &mut Client) -> String {
    let reply = client.replies().expect("the connection stands").pop().expect("an answer");
    match reply.error {
        None => reply
            .rows
            .first()
            .map_or_else(|| "ok".to_owned(), |row| row[0].clone().unwrap_or_default()),
        // PostgreSQL has no reason for this one.
        Some(error) if error.field(b'M').ends_with("due to concurrent update") => {
            format!("{} concurrent", error.field(b'C'))
        }
        Some(error) if error.field(b'C') == "40001" => {
            assert_eq!(error.field(b'H'), "The transaction might succeed if retried.");
            let reason = [
                "its partitions",
                "busy",
                "the younger",
                "commit attempt",
                "read that",
                "write that",
            ];
            let said = reason.into_iter().find(|word| error.field(b'D').contains(word));
            format!("40001 {}", said.unwrap_or_else(|| panic!("{error:?}")))
        }
        Some(error) => error.field(b'C').to_owned(),
    }
}

/// How long what waits is silent behind another's step before the server is asked whether it still does.
const LOOK_AGAIN: Duration = Duration::from_millis(30);

/// A session of a schedule.
struct Session<'s> {
    who: &'s str,
    client: Client,
    waits: bool,
}

/// Runs a schedule of steps `SESSION: SQL`; what became of each, a step that waits and what it came to. One whose session still
/// waits is left out.
fn play(port: u16, database: &str, steps: &[&str]) -> String {
    let mut observer = Client::connect(port, "postgres", "postgres");
    let mut sessions: Vec<Session<'_>> = Vec::new();
    let mut out: Vec<String> = Vec::new();
    for step in steps {
        let (who, sql) = step.split_once(": ").expect("a step is `SESSION: SQL`");
        let at = sessions.iter().position(|session| session.who == who).unwrap_or_else(|| {
            let mut client = Client::connect(port, "postgres", database);
            client.run("SET deadlock_timeout = '100ms'");
            // Every level is the scheme's own.
            client.run("BEGIN ISOLATION LEVEL READ COMMITTED");
            sessions.push(Session { who, client, waits: false });
            sessions.len() - 1
        });
        let Session { client, waits, .. } = &mut sessions[at];
        if *waits {
            out.push("still waits".to_owned());
            continue;
        }
        client.start(sql);
        *waits = !answers(client, &mut observer, LOOK);
        out.push(if *waits { "waits".to_owned() } else { outcome(client) });
        for Session { who, client, waits } in sessions.iter_mut().filter(|one| one.waits) {
            if answers(client, &mut observer, LOOK_AGAIN) {
                *waits = false;
                out.push(format!("{who} {}", outcome(client)));
            }
        }
    }
    out.join(", ")
}

fn play_each(setup: &[&str], steps: &[&str], expected: [(&str, &str); 8]) {
    let atoll = Atoll::start(&[]);
    let mut admin = atoll.connect();
    for (scheme, expected) in expected {
        let database = format!("d_{scheme}");
        admin.run(&format!("CREATE DATABASE {database} concurrency_control = '{scheme}'"));
        let mut client = open(&atoll, &database);
        setup.iter().for_each(|sql| drop(client.run(sql)));
        assert_eq!(play(atoll.port(), &database, steps), expected, "{scheme}");
    }
}

const TABLE: [&str; 3] = [
    "CREATE TABLE t (id int PRIMARY KEY, grp int, v int)",
    "CREATE INDEX ON t (grp)",
    "INSERT INTO t VALUES (1, 1, 10), (2, 1, 20), (3, 2, 30)",
];

/// What the one of two is counted as that write skew ends.
const SKEW_LOSES: [(&str, &str); 9] = [
    ("mvcc", ""),
    ("ssi", ", pivot 1"),
    ("occ", ", validation_failed 1"),
    ("2pl_detect", ", deadlock 1"),
    ("2pl_no_wait", ", lock_busy 1"),
    ("2pl_wait_die", ", died 1"),
    ("timestamp", ", write_too_late 1"),
    ("mvto", ", write_too_late 1"),
    ("hstore", ", left_partitions 1"),
];

/// G2-item.
#[test]
fn write_skew_ends_one_of_two() {
    let steps = [
        "a: SELECT v FROM t WHERE id = 1",
        "b: SELECT v FROM t WHERE id = 2",
        "a: UPDATE t SET v = 0 WHERE id = 2",
        "b: UPDATE t SET v = 0 WHERE id = 1",
        "a: COMMIT",
        "b: COMMIT",
    ];
    play_each(
        &TABLE,
        &steps,
        [
            ("ssi", "10, 20, ok, ok, ok, 40001 commit attempt"),
            ("occ", "10, 20, ok, ok, ok, 40001 commit attempt"),
            ("2pl_detect", "10, 20, waits, 40P01, a ok, ok, ok"),
            ("2pl_no_wait", "10, 20, 40001 busy, ok, ok, ok"),
            ("2pl_wait_die", "10, 20, waits, 40001 the younger, a ok, ok, ok"),
            ("timestamp", "10, 20, 40001 write that, ok, ok, ok"),
            ("mvto", "10, 20, 40001 write that, ok, ok, ok"),
            ("hstore", "10, 20, 40001 its partitions, ok, ok, ok"),
        ],
    );
}

/// P4: of two who add to what both have read, one is run again.
#[test]
fn no_update_is_lost() {
    let steps = [
        "a: SELECT v FROM t WHERE id = 1",
        "b: SELECT v FROM t WHERE id = 1",
        "a: UPDATE t SET v = 11 WHERE id = 1",
        "b: UPDATE t SET v = 12 WHERE id = 1",
        "a: COMMIT",
        "b: COMMIT",
    ];
    play_each(
        &TABLE,
        &steps,
        [
            ("ssi", "10, 10, ok, waits, ok, b 40001 concurrent, ok"),
            ("occ", "10, 10, ok, waits, ok, b 40001 commit attempt, ok"),
            ("2pl_detect", "10, 10, waits, 40P01, a ok, ok, ok"),
            ("2pl_no_wait", "10, 10, 40001 busy, ok, ok, ok"),
            ("2pl_wait_die", "10, 10, waits, 40001 the younger, a ok, ok, ok"),
            ("timestamp", "10, 10, 40001 write that, ok, ok, ok"),
            ("mvto", "10, 10, 40001 write that, ok, ok, ok"),
            ("hstore", "10, waits, ok, still waits, ok, b 11, ok"),
        ],
    );
}

/// G2: each counts a group and puts one more into it.
#[test]
fn a_phantom_ends_one_of_two() {
    let steps = [
        "a: SELECT count(*) FROM t WHERE grp = 1",
        "b: SELECT count(*) FROM t WHERE grp = 1",
        "a: INSERT INTO t VALUES (11, 1, 0)",
        "b: INSERT INTO t VALUES (12, 1, 0)",
        "a: COMMIT",
        "b: COMMIT",
    ];
    play_each(
        &TABLE,
        &steps,
        [
            ("ssi", "2, 2, ok, ok, ok, 40001 commit attempt"),
            ("occ", "2, 2, ok, ok, ok, 40001 commit attempt"),
            ("2pl_detect", "2, 2, waits, 40P01, a ok, ok, ok"),
            ("2pl_no_wait", "2, 2, 40001 busy, ok, ok, ok"),
            ("2pl_wait_die", "2, 2, waits, 40001 the younger, a ok, ok, ok"),
            ("timestamp", "2, 2, 40001 write that, ok, ok, ok"),
            ("mvto", "2, 2, 40001 write that, ok, ok, ok"),
            ("hstore", "2, waits, ok, still waits, ok, b 3, ok"),
        ],
    );
}

/// A younger transaction has written what an older one reads: it is refused, waits, is validated, or reads what was there before.
#[test]
fn a_read_of_what_a_younger_one_has_written() {
    let steps = [
        "a: SELECT v FROM t WHERE id = 3",
        "b: UPDATE t SET v = 21 WHERE id = 2",
        "a: SELECT v FROM t WHERE id = 1",
        "b: COMMIT",
        "a: SELECT v FROM t WHERE id = 2",
        "a: COMMIT",
    ];
    play_each(
        &TABLE,
        &steps,
        [
            ("ssi", "30, ok, 10, ok, 20, ok"),
            ("occ", "30, ok, 10, ok, 20, ok"),
            ("2pl_detect", "30, ok, 10, ok, 21, ok"),
            ("2pl_no_wait", "30, ok, 10, ok, 21, ok"),
            ("2pl_wait_die", "30, ok, 10, ok, 21, ok"),
            ("timestamp", "30, ok, 10, ok, 40001 read that, ok"),
            ("mvto", "30, ok, 10, ok, 20, ok"),
            ("hstore", "30, ok, 10, ok, 21, ok"),
        ],
    );
}

/// Who reads what somebody else is about to change: it reads what was there, or waits; nobody waits for a younger one.
#[test]
fn a_read_beside_a_write() {
    let steps = [
        "a: SELECT v FROM t WHERE id = 3",
        "b: SELECT v FROM t WHERE id = 3",
        "a: UPDATE t SET v = 11 WHERE id = 1",
        "b: SELECT sum(v) FROM t WHERE grp = 1",
        "a: COMMIT",
        "b: COMMIT",
    ];
    play_each(
        &TABLE,
        &steps,
        [
            ("ssi", "30, 30, ok, 30, ok, ok"),
            ("occ", "30, 30, ok, 30, ok, ok"),
            ("2pl_detect", "30, 30, ok, waits, ok, b 31, ok"),
            ("2pl_no_wait", "30, 30, ok, 40001 busy, ok, ok"),
            ("2pl_wait_die", "30, 30, ok, 40001 the younger, ok, ok"),
            ("timestamp", "30, 30, ok, waits, ok, b 31, ok"),
            ("mvto", "30, 30, ok, waits, ok, b 31, ok"),
            ("hstore", "30, waits, ok, still waits, ok, b 30, ok"),
        ],
    );
}

/// A schedule that is known by its name, and what becomes of it under `ssi`, `occ`, `2pl_detect`, `2pl_no_wait`, `2pl_wait_die`, `timestamp`,
/// `mvto` and `hstore`.
type Anomaly = (&'static str, &'static [&'static str], [&'static str; 8]);

/// Adya's phenomena below those of write skew and phantoms, in the order of his thesis; none is permitted, and each scheme has its
/// own way to prevent it: who reads the state before, who waits, who is run again.
const ANOMALIES: [Anomaly; 7] = [
    (
        "G0: writes of two transactions in each other's way",
        &[
            "a: UPDATE t SET v = 11 WHERE id = 1",
            "b: UPDATE t SET v = 12 WHERE id = 1",
            "a: UPDATE t SET v = 21 WHERE id = 2",
            "a: COMMIT",
            "b: UPDATE t SET v = 22 WHERE id = 2",
            "b: COMMIT",
            "c: SELECT string_agg(v::text, ' ' ORDER BY id) FROM t WHERE id < 3",
            "c: COMMIT",
        ],
        [
            "ok, waits, ok, ok, b 40001 concurrent, 25P02, ok, 11 21, ok",
            "ok, waits, ok, ok, b 40001 commit attempt, 25P02, ok, 11 21, ok",
            "ok, waits, ok, ok, b ok, ok, ok, 12 22, ok",
            "ok, 40001 busy, ok, ok, 25P02, ok, 11 21, ok",
            "ok, 40001 the younger, ok, ok, 25P02, ok, 11 21, ok",
            "ok, waits, ok, ok, b ok, ok, ok, 12 22, ok",
            "ok, waits, ok, ok, b ok, ok, ok, 12 22, ok",
            "ok, waits, ok, ok, b ok, ok, ok, 12 22, ok",
        ],
    ),
    (
        "G1a: a read of what is rolled back",
        &[
            "a: UPDATE t SET v = 101 WHERE id = 1",
            "b: SELECT v FROM t WHERE id = 1",
            "a: ROLLBACK",
            "b: SELECT v FROM t WHERE id = 1",
            "b: COMMIT",
        ],
        [
            "ok, 10, ok, 10, ok",
            "ok, 10, ok, 10, ok",
            "ok, waits, ok, b 10, 10, ok",
            "ok, 40001 busy, ok, 25P02, ok",
            "ok, 40001 the younger, ok, 25P02, ok",
            "ok, waits, ok, b 10, 10, ok",
            "ok, waits, ok, b 10, 10, ok",
            "ok, waits, ok, b 10, 10, ok",
        ],
    ),
    (
        "G1b: a read of what is written over",
        &[
            "a: UPDATE t SET v = 101 WHERE id = 1",
            "b: SELECT v FROM t WHERE id = 1",
            "a: UPDATE t SET v = 11 WHERE id = 1",
            "a: COMMIT",
            "b: SELECT v FROM t WHERE id = 1",
            "b: COMMIT",
        ],
        [
            "ok, 10, ok, ok, 10, ok",
            "ok, 10, ok, ok, 10, ok",
            "ok, waits, ok, ok, b 11, 11, ok",
            "ok, 40001 busy, ok, ok, 25P02, ok",
            "ok, 40001 the younger, ok, ok, 25P02, ok",
            "ok, waits, ok, ok, b 11, 11, ok",
            "ok, waits, ok, ok, b 11, 11, ok",
            "ok, waits, ok, ok, b 11, 11, ok",
        ],
    ),
    (
        "G1c: each reads what the other writes",
        &[
            "a: UPDATE t SET v = 11 WHERE id = 1",
            "b: UPDATE t SET v = 22 WHERE id = 2",
            "a: SELECT v FROM t WHERE id = 2",
            "b: SELECT v FROM t WHERE id = 1",
            "a: COMMIT",
            "b: COMMIT",
        ],
        [
            "ok, ok, 20, 10, ok, 40001 commit attempt",
            "ok, ok, 20, 10, ok, 40001 commit attempt",
            "ok, ok, waits, 40P01, a 20, ok, ok",
            "ok, ok, 40001 busy, 10, ok, ok",
            "ok, ok, waits, 40001 the younger, a 20, ok, ok",
            "ok, ok, 20, waits, ok, b 11, ok",
            "ok, ok, 20, waits, ok, b 11, ok",
            "ok, ok, 40001 its partitions, 10, ok, ok",
        ],
    ),
    (
        "OTV: a transaction that was observed vanishes",
        &[
            "a: UPDATE t SET v = 11 WHERE id = 1",
            "a: UPDATE t SET v = 19 WHERE id = 2",
            "b: UPDATE t SET v = 12 WHERE id = 1",
            "a: COMMIT",
            "c: SELECT v FROM t WHERE id = 1",
            "b: UPDATE t SET v = 18 WHERE id = 2",
            "b: COMMIT",
            "c: SELECT v FROM t WHERE id = 2",
            "c: COMMIT",
        ],
        [
            "ok, ok, waits, ok, b 40001 concurrent, 11, 25P02, ok, 19, ok",
            "ok, ok, waits, ok, b 40001 commit attempt, 11, 25P02, ok, 19, ok",
            "ok, ok, waits, ok, b ok, waits, ok, ok, c 12, 18, ok",
            "ok, ok, 40001 busy, ok, 11, 25P02, ok, 19, ok",
            "ok, ok, 40001 the younger, ok, 11, 25P02, ok, 19, ok",
            "ok, ok, waits, ok, b ok, waits, ok, ok, c 12, 18, ok",
            "ok, ok, waits, ok, b ok, waits, ok, ok, c 12, 18, ok",
            "ok, ok, waits, ok, b ok, waits, ok, ok, c 12, 18, ok",
        ],
    ),
    (
        "PMP: a predicate that many precede",
        &[
            "a: SELECT count(*) FROM t WHERE grp = 3",
            "b: INSERT INTO t VALUES (4, 3, 40)",
            "a: SELECT count(*) FROM t WHERE grp = 3",
            "a: COMMIT",
            "b: COMMIT",
        ],
        [
            "0, ok, 0, ok, ok",
            "0, ok, 0, ok, ok",
            "0, waits, 0, ok, b ok, ok",
            "0, 40001 busy, 0, ok, ok",
            "0, 40001 the younger, 0, ok, ok",
            "0, ok, 0, ok, ok",
            "0, ok, 0, ok, ok",
            "0, waits, 0, ok, b ok, ok",
        ],
    ),
    (
        "G-single: a read of one row before, and of another behind a commit",
        &[
            "a: SELECT v FROM t WHERE id = 1",
            "b: UPDATE t SET v = v + 1 WHERE id < 3",
            "a: SELECT v FROM t WHERE id = 2",
            "a: COMMIT",
            "b: COMMIT",
        ],
        [
            "10, ok, 20, ok, ok",
            "10, ok, 20, ok, ok",
            "10, waits, 20, ok, b ok, ok",
            "10, 40001 busy, 20, ok, ok",
            "10, 40001 the younger, 20, ok, ok",
            "10, ok, 20, ok, ok",
            "10, ok, 20, ok, ok",
            "10, waits, 40001 its partitions, b ok, ok, ok",
        ],
    ),
];

#[test]
fn the_anomalies_end_as_each_scheme_says() {
    let atoll = Atoll::start(&[]);
    let mut admin = atoll.connect();
    let mut others = Vec::new();
    for (at, scheme) in SCHEMES[1..].iter().enumerate() {
        admin.run(&format!("CREATE DATABASE d_{scheme} concurrency_control = '{scheme}'"));
        for (name, steps, expected) in &ANOMALIES {
            let database = format!("d_{scheme}");
            let mut client = open(&atoll, &database);
            client.run("DROP TABLE IF EXISTS t");
            TABLE.iter().for_each(|sql| drop(client.run(sql)));
            drop(client);
            let found = play(atoll.port(), &database, steps);
            if found != expected[at] {
                others.push(format!("{scheme}: {name}: {found}"));
            }
        }
    }
    assert!(others.is_empty(), "{others:#?}");
}

/// Who only writes is in nobody's way beside it, and a statement reads what has been committed last.
#[test]
fn what_does_not_meet_goes_on() {
    let steps = [
        "a: UPDATE t SET v = v + 1 WHERE id = 1",
        "b: UPDATE t SET v = v + 1 WHERE id = 2",
        "a: COMMIT",
        "b: SELECT v FROM t WHERE id = 3",
        "b: COMMIT",
    ];
    play_each(
        &TABLE,
        &steps,
        SCHEMES[1..]
            .iter()
            .map(|scheme| (*scheme, "ok, ok, ok, 30, ok"))
            .collect::<Vec<_>>()
            .try_into()
            .expect("eight schemes"),
    );
}

// --- nothing is lost -----------------------------------------------------------------------------------------------

/// A thousand sessions want one row that somebody has: each is answered, in its turn or with a reason, and what they did is there.
#[test]
fn a_thousand_wait_for_one_row() {
    const CROWD: usize = 1000;
    for scheme in ["ssi", "occ", "2pl_detect", "2pl_wait_die", "timestamp", "mvto", "hstore"] {
        let atoll =
            Atoll::start_with(&["--concurrency-control", scheme], &["max_connections=1100"]);
        let mut holder = atoll.connect();
        holder.run("CREATE TABLE t (id int PRIMARY KEY, v int)");
        holder.run("INSERT INTO t VALUES (1, 0)");
        let mut crowd: Vec<Client> = (0..CROWD).map(|_| atoll.connect()).collect();
        let mut change = "UPDATE t SET v = v + 1 WHERE id = 1";
        if scheme == "2pl_wait_die" {
            // Only who is older waits.
            for client in &mut crowd {
                client.run("BEGIN");
                client.run("SELECT FROM t WHERE id = 2");
            }
            change = "UPDATE t SET v = v + 1 WHERE id = 1; COMMIT";
        }
        holder.run("BEGIN");
        holder.run("UPDATE t SET v = v + 1 WHERE id = 1");
        crowd.iter_mut().for_each(|client| client.start(change));
        let waiting = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'";
        let until_waiting = |holder: &mut Client, count: usize| {
            while holder.run(waiting).value() != count.to_string() {
                std::thread::sleep(Duration::from_millis(50));
            }
        };
        until_waiting(&mut holder, CROWD);
        // One goes without its turn.
        holder.run(
            "SELECT pg_cancel_backend(max(pid)) FROM pg_stat_activity WHERE wait_event_type = 'Lock'",
        );
        // It has gone before another turn comes, which might be its own.
        until_waiting(&mut holder, CROWD - 1);
        holder.run("COMMIT");
        let ends: Vec<String> = crowd.iter_mut().map(outcome).collect();
        let count = |of: &str| ends.iter().filter(|end| end.starts_with(of)).count();
        assert_eq!((count("57014"), count("ok") + count("40001")), (1, CROWD - 1), "{scheme}");
        let done = holder.run("SELECT v FROM t").value().to_owned();
        assert_eq!(done, (1 + count("ok")).to_string(), "{scheme}");
        assert!(scheme != "2pl_detect" || count("40001") == 0);
        // Nobody has anything locked, or the definition would wait.
        holder.run("SET lock_timeout = '5s'");
        holder.run("DROP TABLE t");
    }
}

/// What nobody should ask for, or only with care: each is answered with its code under every scheme, whoever waits goes when he is told
/// to, and nothing stays locked.
#[test]
fn what_is_asked_for_amiss_is_answered() {
    for scheme in SCHEMES {
        let atoll = Atoll::start_with(&["--concurrency-control", scheme], &[]);
        let (mut one, mut two) = (atoll.connect(), atoll.connect());
        one.run("CREATE TABLE t (id int PRIMARY KEY, v int)");
        one.run("INSERT INTO t SELECT g, 0 FROM generate_series(1, 10100) AS g");
        assert_eq!(code(&mut one, "LOCK TABLE t"), "25P01", "{scheme}");
        assert_eq!(code(&mut one, "SET lock_timeout = -1"), "22023", "{scheme}");
        let change = "UPDATE t SET v = v + 1 WHERE id = 1";
        // Nobody waits under the one, only who is older under the other.
        let refused: &[&str] = match scheme {
            "2pl_no_wait" => &["40001"],
            "2pl_wait_die" => &["40001", "55P03"],
            _ => &["55P03"],
        };
        let is_refused = |client: &mut Client, sql: &str| {
            let code = code(client, sql);
            assert!(refused.contains(&&*code), "{scheme}: {sql}: {code}");
        };
        one.run("BEGIN");
        one.run("UPDATE t SET v = 1 WHERE id = 1");
        for timeout in ["1", "'1ms'", "7"] {
            two.run(&format!("SET lock_timeout = {timeout}"));
            is_refused(&mut two, change);
        }
        // None at all, also where it is less than can be told apart.
        let pid = two.run("SELECT pg_backend_pid()").value().to_owned();
        for timeout in ["0", "'10us'"] {
            two.run(&format!("SET lock_timeout = {timeout}"));
            two.start(change);
            let waits = !answers(&mut two, &mut one, LOOK);
            assert_eq!(waits, refused[0] == "55P03", "{scheme}: {timeout}");
            if waits {
                one.run(&format!("SELECT pg_cancel_backend({pid})"));
            }
            let ends = outcome(&mut two);
            assert!(ends.starts_with(if waits { "57014" } else { "40001" }), "{scheme}: {ends}");
        }
        one.run("ROLLBACK");
        // Ten thousand rows in one statement, and one by one.
        for locks in [
            "SELECT count(*) FROM (SELECT FROM t WHERE id <= 10000 FOR UPDATE) AS s",
            "DO $$ BEGIN FOR at IN 1 .. 10000 LOOP PERFORM FROM t WHERE id = at FOR UPDATE; END LOOP; END $$",
        ] {
            one.run("BEGIN");
            one.run(locks);
            two.run("SET lock_timeout = '20ms'");
            for id in [1, 5000, 10_000] {
                is_refused(&mut two, &format!("UPDATE t SET v = 2 WHERE id = {id}"));
            }
            one.run("UPDATE t SET v = v + 1 WHERE id <= 10000");
            one.run("ROLLBACK");
        }
        let held = "SELECT count(*) FROM pg_locks WHERE pid <> pg_backend_pid()";
        assert_eq!(one.run(held).value(), "0", "{scheme}");
        assert_eq!(
            two.run(&change.replace("= 1", "IN (1, 10000)")).tag.as_deref(),
            Some("UPDATE 2")
        );
        assert_eq!(two.run("SELECT sum(v) FROM t").value(), "2", "{scheme}");
        two.run("DROP TABLE t");
    }
}

/// Definitions, their transactions, indexes, foreign keys, bulk loads, cursors: nothing of it is the scheme's, and all of it works.
#[test]
fn definitions_and_constraints_work_under_each_scheme() {
    for scheme in SCHEMES {
        let atoll =
            Atoll::start_with(&["--concurrency-control", scheme], &["max_prepared_transactions=2"]);
        let mut one = atoll.connect();
        for sql in [
            "CREATE TABLE parent (id int PRIMARY KEY, name text UNIQUE)",
            "CREATE TABLE child (id serial PRIMARY KEY, parent int REFERENCES parent ON DELETE CASCADE)",
            "INSERT INTO parent SELECT g, 'p' || g FROM generate_series(1, 2000) AS g",
            "INSERT INTO child (parent) SELECT g % 2000 + 1 FROM generate_series(1, 4000) AS g",
            "BEGIN",
            "CREATE INDEX ON child (parent)",
            "ALTER TABLE child ADD COLUMN note text DEFAULT 'n'",
            "COMMIT",
            "CREATE INDEX CONCURRENTLY ON parent (name text_pattern_ops)",
            "REINDEX TABLE parent",
            "DELETE FROM parent WHERE id <= 10",
            "INSERT INTO parent VALUES (1, 'again') ON CONFLICT (id) DO UPDATE SET name = 'never'",
            "UPDATE parent SET id = 5001 WHERE id = 5000",
            "CREATE VIEW seen AS SELECT parent.id, count(*) FROM parent JOIN child ON child.parent = parent.id GROUP BY 1",
            "ANALYZE",
            "BEGIN",
            "SAVEPOINT s",
            "DELETE FROM child",
            "ROLLBACK TO s",
            "DECLARE c CURSOR FOR SELECT id FROM parent ORDER BY id",
            "FETCH 3 FROM c",
            "COMMIT",
            "TRUNCATE child",
            "VACUUM FULL parent",
        ] {
            one.run(sql);
        }
        assert_eq!(
            one.run("SELECT count(*) || ' ' || count(DISTINCT name) FROM parent").value(),
            "1991 1991"
        );
        assert_eq!(code(&mut one, "INSERT INTO parent VALUES (1, 'x')"), "23505", "{scheme}");
        assert_eq!(code(&mut one, "INSERT INTO child (parent) VALUES (7)"), "23503", "{scheme}");
        let locks = !["mvcc", "ssi", "occ"].contains(&scheme);
        one.run("BEGIN");
        assert_eq!(code(&mut one, "SELECT pg_export_snapshot()"), if locks { "0A000" } else { "" });
        one.run("ROLLBACK");
        one.run("BEGIN");
        one.run("INSERT INTO parent VALUES (2, 'two')");
        let prepares = !["timestamp", "mvto", "hstore"].contains(&scheme);
        assert_eq!(code(&mut one, "PREPARE TRANSACTION 'p'"), if prepares { "" } else { "0A000" });
        if prepares {
            one.run("COMMIT PREPARED 'p'");
        }
        // Nobody has anything locked, or the definition would wait.
        let mut two = atoll.connect();
        two.run("SET lock_timeout = '5s'");
        two.run("DROP TABLE child, parent CASCADE");
    }
}

/// A prepared transaction under two-phase locking: what it has written stays locked, behind kill -9 too; what it has read does not.
#[test]
fn what_is_prepared_keeps_its_writes_locked() {
    for (scheme, busy) in
        [("2pl_detect", "55P03"), ("2pl_no_wait", "40001"), ("2pl_wait_die", "40001")]
    {
        let mut atoll =
            Atoll::start_with(&["--concurrency-control", scheme], &["max_prepared_transactions=2"]);
        let mut one = atoll.connect();
        TABLE.iter().for_each(|sql| drop(one.run(sql)));
        one.run("BEGIN");
        one.run("SELECT sum(v) FROM t WHERE id > 1");
        one.run("UPDATE t SET v = 11, grp = 2 WHERE id = 1");
        one.run("PREPARE TRANSACTION 'p'");
        for life in 0..2 {
            let mut two = atoll.connect();
            two.run("SET lock_timeout = '50ms'");
            for sql in ["SELECT v FROM t WHERE id = 1", "UPDATE t SET v = 0 WHERE id = 1"] {
                assert_eq!(code(&mut two, sql), busy, "{scheme}: {sql}");
            }
            // Through the index, whose entries it has changed.
            two.run("SET enable_seqscan = off");
            assert_eq!(code(&mut two, "SELECT id FROM t WHERE grp = 2"), busy, "{scheme}");
            assert_eq!(code(&mut two, "UPDATE t SET v = v + 1 WHERE id = 3"), "", "{scheme}");
            if life == 0 {
                drop(two);
                atoll.kill();
                atoll.restart();
            }
        }
        let mut two = atoll.connect();
        two.run("COMMIT PREPARED 'p'");
        assert_eq!(
            two.run("SELECT string_agg(v::text, ' ' ORDER BY id) FROM t").value(),
            "11 20 32"
        );
        assert_eq!(two.run("UPDATE t SET v = 0 WHERE id = 1").tag.as_deref(), Some("UPDATE 1"));
    }
}

// --- what is counted -----------------------------------------------------------------------------------------------

/// What a row of the view says that is not nothing, but for waits and what has begun.
fn counted(admin: &mut Client, database: &str) -> String {
    let row = admin.run(&format!(
        "SELECT string_agg(key || ' ' || value, ', ' ORDER BY key) FROM pg_stat_atoll_concurrency AS s, \
         jsonb_each_text(to_jsonb(s)) WHERE s.datname = '{database}' AND value <> '0' AND key NOT IN \
         ('datid', 'datname', 'concurrency_control', 'begun', 'lock_waits', 'lock_wait_time', 'stats_reset')"
    ));
    row.value().to_owned()
}

/// Waits until the sessions of a database are gone, so that what they have counted is whole.
fn alone(admin: &mut Client, database: &str) {
    let sql = format!("SELECT count(*) FROM pg_stat_activity WHERE datname = '{database}'");
    while admin.run(&sql).value() != "0" {
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Every end of a transaction is counted once, under its database's scheme and for its reason; a reset begins anew.
#[test]
fn ends_are_counted_by_scheme_and_reason() {
    let skew = [
        "a: SELECT v FROM t WHERE id = 1",
        "b: SELECT v FROM t WHERE id = 2",
        "a: UPDATE t SET v = 0 WHERE id = 2",
        "b: UPDATE t SET v = 0 WHERE id = 1",
        "a: COMMIT",
        "b: COMMIT",
    ];
    let atoll = Atoll::start(&[]);
    let mut admin = atoll.connect();
    for (scheme, lost) in SKEW_LOSES {
        let database = format!("d_{scheme}");
        admin.run(&format!("CREATE DATABASE {database} concurrency_control = '{scheme}'"));
        let mut setup = open(&atoll, &database);
        TABLE.iter().for_each(|sql| drop(setup.run(sql)));
        setup.run("SELECT pg_stat_reset()");
        drop(setup);
        alone(&mut admin, &database);
        // The transaction that resets ends behind the reset, and each session of a schedule says SET first.
        play(atoll.port(), &database, &skew);
        alone(&mut admin, &database);
        let commits = if lost.is_empty() { 5 } else { 4 };
        assert_eq!(
            counted(&mut admin, &database),
            format!("committed {commits}{lost}"),
            "{scheme}"
        );
        let shown = format!(
            "SELECT concurrency_control || ' ' || (begun - committed) || ' ' || (stats_reset IS NULL) \
             FROM pg_stat_atoll_concurrency WHERE datname = '{database}'"
        );
        let aborted = u8::from(!lost.is_empty());
        assert_eq!(admin.run(&shown).value(), format!("{scheme} {aborted} false"));
    }
}

/// The reasons that all schemes share, those of PostgreSQL's levels, and those of sessions that go.
#[test]
fn ends_are_counted_by_reason_under_mvcc() {
    let atoll = Atoll::start(&[]);
    let mut admin = atoll.connect();
    admin.run("CREATE DATABASE d");
    let mut setup = open(&atoll, "d");
    TABLE.iter().for_each(|sql| drop(setup.run(sql)));
    let (mut one, mut two) = (open(&atoll, "d"), open(&atoll, "d"));
    setup.run("SELECT pg_stat_reset()");
    drop(setup);
    two.run("BEGIN ISOLATION LEVEL REPEATABLE READ");
    two.run("SELECT v FROM t");
    one.run("UPDATE t SET v = v + 1 WHERE id = 1");
    assert_eq!(code(&mut two, "UPDATE t SET v = 0 WHERE id = 1"), "40001");
    two.run("ROLLBACK");
    one.run("BEGIN");
    one.run("LOCK TABLE t");
    two.run("SET lock_timeout = '20ms'");
    assert_eq!(code(&mut two, "SELECT v FROM t"), "55P03");
    two.run("SET lock_timeout = 0");
    two.run("SET statement_timeout = '20ms'");
    assert_eq!(code(&mut two, "SELECT v FROM t"), "57014");
    two.run("SET statement_timeout = 0");
    one.run("ROLLBACK");
    assert_eq!(code(&mut one, "SELECT 1 / 0"), "22012");
    // What a rollback to a savepoint takes back has failed nothing.
    one.run("BEGIN");
    one.run("SAVEPOINT s");
    assert_eq!(code(&mut one, "SELECT 1 / 0"), "22012");
    one.run("ROLLBACK TO s");
    one.run("COMMIT");
    one.run("BEGIN");
    one.run("SELECT v FROM t");
    drop((one, two));
    alone(&mut admin, "d");
    assert_eq!(
        counted(&mut admin, "d"),
        "cancelled 1, committed 7, failed 1, lock_not_available 1, overtaken 1, rolled_back 2"
    );
    let waits = "SELECT lock_waits || ' ' || (lock_wait_time >= 40) FROM pg_stat_atoll_concurrency \
                 WHERE datname = 'd'";
    assert_eq!(admin.run(waits).value(), "2 true");
    assert_eq!(
        admin.run("SELECT xact_commit || ' ' || xact_rollback FROM pg_stat_database WHERE datname = 'd'").value(),
        "7 6"
    );
}
