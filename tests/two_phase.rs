//! Two-phase commit over the wire: what is prepared keeps its locks through kill -9, and is resolved by name, in any session.

use tests::atoll::Atoll;
use tests::client::Client;
use tests::oracle::Oracle;

fn set_up() -> Atoll {
    let atoll = Atoll::start(&["max_prepared_transactions=2"]);
    let mut client = atoll.connect();
    client.run("CREATE TABLE t (id int PRIMARY KEY, v int)");
    client.run("INSERT INTO t SELECT g, 0 FROM generate_series(1, 9) AS g");
    atoll
}

fn refused(client: &mut Client, sql: &str) -> (String, String) {
    let reply = client.query_all(sql).pop().expect("an answer");
    let error = reply.error.expect("it is refused");
    (error.field(b'C').to_owned(), error.field(b'M').to_owned())
}

fn tag(client: &mut Client, sql: &str) -> String {
    client.run(sql).tag.expect("a tag")
}

#[test]
fn locks_and_writes_survive_process_death() {
    let mut atoll = set_up();
    let mut one = atoll.connect();
    one.run("BEGIN");
    one.run("UPDATE t SET v = 1 WHERE id = 1");
    one.run("INSERT INTO t VALUES (10, 1)");
    one.run("SELECT * FROM t WHERE id = 2 FOR UPDATE");
    one.run("SELECT * FROM t WHERE id = 3 FOR SHARE");
    assert_eq!(tag(&mut one, "PREPARE TRANSACTION 'a'"), "PREPARE TRANSACTION");
    one.run("BEGIN ISOLATION LEVEL SERIALIZABLE");
    one.run("SELECT * FROM t WHERE id = 5");
    one.run("UPDATE t SET v = 6 WHERE id = 6");
    assert_eq!(tag(&mut one, "PREPARE TRANSACTION 'b'"), "PREPARE TRANSACTION");
    one.run("ROLLBACK PREPARED 'b'");
    for stopped in [false, true, false, true] {
        if stopped {
            atoll.stop();
        } else {
            atoll.kill();
        }
        atoll.restart();
        let mut two = atoll.connect();
        two.run("SET lock_timeout = '50ms'");
        let gids = two.run("SELECT gid, owner, database FROM pg_prepared_xacts");
        let shown: Vec<_> = gids.rows[0].iter().flatten().map(String::as_str).collect();
        assert_eq!(shown, ["a", "postgres", "postgres"]);
        let held = "SELECT count(*) FROM pg_locks WHERE pid IS NULL AND relation = 't'::regclass";
        assert_ne!(two.run(held).value(), "0");
        for sql in [
            "UPDATE t SET v = 2 WHERE id = 1",
            "INSERT INTO t VALUES (10, 2)",
            "SELECT * FROM t WHERE id = 2 FOR KEY SHARE",
            "UPDATE t SET v = 2 WHERE id = 3",
            "LOCK TABLE t IN SHARE MODE",
        ] {
            let sql = format!("BEGIN; {sql}");
            assert_eq!(refused(&mut two, &sql).0, "55P03", "{sql}");
            two.run("ROLLBACK");
        }
        two.run("SELECT * FROM t WHERE id = 3 FOR SHARE");
        assert_eq!(two.run("SELECT v FROM t WHERE id = 1").value(), "0");
        two.run("CHECKPOINT");
    }
    let mut two = atoll.connect();
    assert_eq!(tag(&mut two, "COMMIT PREPARED 'a'"), "COMMIT PREPARED");
    assert_eq!(two.run("SELECT sum(v) FROM t WHERE id IN (1, 10)").value(), "2");
    two.run("UPDATE t SET v = 7 WHERE id = 2");
    atoll.kill();
    atoll.restart();
    let mut two = atoll.connect();
    assert_eq!(two.run("SELECT sum(v) FROM t").value(), "9");
    assert_eq!(two.run("SELECT count(*) FROM pg_prepared_xacts").value(), "0");
    drop((one, two));
    atoll.stop();
    atoll.check();
}

/// What PostgreSQL says, with `max_prepared_transactions` at 2.
#[test]
fn names_are_refused_as_in_postgresql() {
    let atoll = set_up();
    let mut client = atoll.connect();
    let prepare = |client: &mut Client, name: &str| {
        client.run("BEGIN");
        client.query_all(&format!("PREPARE TRANSACTION '{name}'")).pop().expect("an answer")
    };
    assert_eq!(prepare(&mut client, "x").tag.as_deref(), Some("PREPARE TRANSACTION"));
    let taken = prepare(&mut client, "x").error.expect("it is in use");
    assert_eq!(taken.field(b'C'), "42710");
    assert_eq!(taken.field(b'M'), "transaction identifier \"x\" is already in use");
    assert_eq!(prepare(&mut client, "y").tag.as_deref(), Some("PREPARE TRANSACTION"));
    let full = prepare(&mut client, "z").error.expect("there are as many as there may be");
    assert_eq!(full.field(b'C'), "53200");
    assert_eq!(full.field(b'M'), "maximum number of prepared transactions reached");
    assert_eq!(full.field(b'H'), "Increase max_prepared_transactions (currently 2).");
    assert_eq!(client.status, b'I');
    assert_eq!(prepare(&mut client, &"n".repeat(200)).sqlstate(), "22023");
    client.run("BEGIN");
    let (state, message) = refused(&mut client, "COMMIT PREPARED 'x'");
    assert_eq!(state, "25001");
    assert_eq!(message, "COMMIT PREPARED cannot run inside a transaction block");
    client.run("ROLLBACK");
    client.run("CREATE DATABASE other");
    let mut other = Client::connect(atoll.port(), "postgres", "other");
    assert_eq!(refused(&mut other, "ROLLBACK PREPARED 'x'").0, "0A000");
    client.run("CREATE ROLE guest LOGIN");
    let mut guest = Client::connect(atoll.port(), "guest", "postgres");
    assert_eq!(refused(&mut guest, "ROLLBACK PREPARED 'x'").0, "42501");
    assert_eq!(tag(&mut client, "ROLLBACK PREPARED 'x'"), "ROLLBACK PREPARED");
    assert_eq!(tag(&mut client, "COMMIT PREPARED 'y'"), "COMMIT PREPARED");
    let (state, message) = refused(&mut client, "COMMIT PREPARED 'y'");
    assert_eq!(state, "42704");
    assert_eq!(message, "prepared transaction with identifier \"y\" does not exist");
    // What cannot be prepared has rolled back.
    client.run("BEGIN");
    client.run("CREATE TEMPORARY TABLE u (id int)");
    assert_eq!(refused(&mut client, "PREPARE TRANSACTION 'w'").0, "0A000");
    assert_eq!(client.status, b'I');
    client.run("BEGIN");
    client.run("CREATE TABLE u AS SELECT 1 AS id");
    assert_eq!(tag(&mut client, "PREPARE TRANSACTION 'w'"), "PREPARE TRANSACTION");
    assert_eq!(prepare(&mut client, "v").tag.as_deref(), Some("PREPARE TRANSACTION"));
    client.run("BEGIN");
    client.run("CREATE TABLE one_too_many AS SELECT 1 AS id");
    assert_eq!(refused(&mut client, "PREPARE TRANSACTION 'full'").0, "53200");
    assert_eq!(refused(&mut client, "TABLE one_too_many").0, "42P01");
    client.run("CREATE TABLE one_too_many (id int)");
}

/// What a transaction inserts into tables that already have rows lies beside what others insert after a restart.
#[test]
fn rows_without_a_key_have_places_of_their_own() {
    let mut atoll = set_up();
    let mut one = atoll.connect();
    one.run("CREATE TABLE loose (v int, long text)");
    one.run("ALTER TABLE loose ALTER COLUMN long SET STORAGE EXTERNAL");
    one.run("INSERT INTO loose VALUES (1, repeat('a', 20000))");
    one.run("BEGIN");
    one.run("INSERT INTO loose VALUES (2, repeat('b', 20000)), (3, repeat('c', 20000))");
    one.run("PREPARE TRANSACTION 'a'");
    for checkpoints in [false, true] {
        atoll.kill();
        atoll.restart();
        if checkpoints {
            atoll.connect().run("CHECKPOINT");
        }
    }
    let mut two = atoll.connect();
    two.run("SET lock_timeout = '1s'");
    two.run("INSERT INTO loose VALUES (4, repeat('d', 20000)), (5, repeat('e', 20000))");
    two.run("COMMIT PREPARED 'a'");
    let seen = "SELECT string_agg(v || left(long, 1) || length(long), ' ' ORDER BY v) FROM loose";
    assert_eq!(two.run(seen).value(), "1a20000 2b20000 3c20000 4d20000 5e20000");
    drop((one, two));
    atoll.stop();
    atoll.check();
}

/// Schema changes, each followed by what is then asked of the tables.
const CHANGES: [&str; 9] = [
    "CREATE TABLE made (id serial PRIMARY KEY, v text UNIQUE)",
    "INSERT INTO made (v) VALUES ('a'), ('b')",
    "CREATE TABLE filled AS SELECT g AS id, g % 7 AS v FROM generate_series(1, 5000) AS g",
    "CREATE INDEX filled_v ON filled (v)",
    "ALTER TABLE t ADD COLUMN w int DEFAULT 5",
    "ALTER TABLE t ALTER COLUMN v TYPE text",
    "TRUNCATE emptied",
    "DROP TABLE dropped",
    "CREATE SCHEMA s CREATE VIEW seen AS SELECT id FROM t; COMMENT ON VIEW s.seen IS 'all'",
];

const QUESTIONS: [&str; 9] = [
    "SELECT count(*), sum(v::int), sum(w) FROM t",
    // Process death skips what was logged ahead.
    "INSERT INTO made (v) VALUES ('c') RETURNING id > 2",
    "SELECT v FROM made ORDER BY id",
    "INSERT INTO made (v) VALUES ('a')",
    "SELECT count(*), sum(id) FROM filled WHERE v = 3",
    "SELECT count(*) FROM emptied",
    "SELECT count(*) FROM dropped",
    "SELECT count(*), obj_description('s.seen'::regclass) FROM s.seen",
    "SELECT relname FROM pg_class WHERE relname ~ '^(made|filled|seen|dropped)' ORDER BY 1",
];

/// What a client is told: the rows, or the error.
fn told(client: &mut Client, sql: &str) -> (Vec<Vec<Option<String>>>, Option<String>) {
    let reply = client.query_all(sql).pop().expect("an answer");
    (reply.rows, reply.error.map(|error| error.field(b'C').to_owned()))
}

/// The schema changes of a prepared transaction are nobody's until it is committed, in whichever life of the server, and
/// leave nothing if it is rolled back. PostgreSQL says what is seen of them.
#[test]
fn schema_changes_are_prepared_as_in_postgresql() {
    let oracle = Oracle::start(&["max_prepared_transactions=2"]);
    for (commits, deaths) in [(true, 0), (true, 3), (false, 0), (false, 3)] {
        let mut atoll = set_up();
        let database = format!("prepared_{commits}_{deaths}");
        let mut theirs = Client::connect(oracle.port(), "postgres", "postgres");
        theirs.run(&format!("CREATE DATABASE {database}"));
        let mut theirs = Client::connect(oracle.port(), "postgres", &database);
        theirs.run("CREATE TABLE t (id int PRIMARY KEY, v int)");
        theirs.run("INSERT INTO t SELECT g, 0 FROM generate_series(1, 9) AS g");
        let mut ours = atoll.connect();
        for client in [&mut theirs, &mut ours] {
            client.run("CREATE TABLE emptied AS SELECT generate_series(1, 100) AS id");
            client.run("CREATE TABLE dropped AS SELECT generate_series(1, 100) AS id");
            client.run("BEGIN");
            for sql in CHANGES {
                client
                    .query_all(sql)
                    .into_iter()
                    .for_each(|reply| assert!(reply.error.is_none(), "{sql}"));
            }
            assert_eq!(tag(client, "PREPARE TRANSACTION 'a'"), "PREPARE TRANSACTION");
            client.run("SET lock_timeout = '50ms'");
        }
        for death in 0..=deaths {
            match death {
                0 => {}
                2 => atoll.stop(),
                _ => atoll.kill(),
            }
            if death > 0 {
                atoll.restart();
                ours = atoll.connect();
                ours.run("SET lock_timeout = '50ms'");
                if death == 1 {
                    ours.run("CHECKPOINT");
                    ours.run("CHECKPOINT");
                }
            }
            for sql in [
                "SELECT count(*) FROM made",
                "SELECT count(*) FROM t",
                "SELECT count(*) FROM emptied",
                "CREATE TABLE made (id int)",
                "SELECT gid, owner FROM pg_prepared_xacts WHERE database = current_database()",
            ] {
                assert_eq!(told(&mut ours, sql), told(&mut theirs, sql), "{sql} before {commits}");
            }
        }
        let end = if commits { "COMMIT PREPARED 'a'" } else { "ROLLBACK PREPARED 'a'" };
        // A snapshot from before sees nothing of it.
        let mut earlier = atoll.connect();
        earlier.run("BEGIN ISOLATION LEVEL REPEATABLE READ");
        earlier.run("SELECT count(*) FROM pg_prepared_xacts");
        assert_eq!(tag(&mut ours, end), tag(&mut theirs, end));
        if commits {
            assert_eq!(earlier.run("SELECT count(*) FROM filled").value(), "0");
        }
        earlier.run("COMMIT");
        for again in [false, true] {
            if again {
                atoll.kill();
                atoll.restart();
                ours = atoll.connect();
            }
            for sql in QUESTIONS.iter().filter(|sql| !again || !sql.starts_with("INSERT")) {
                assert_eq!(
                    told(&mut ours, sql),
                    told(&mut theirs, sql),
                    "{sql} behind {commits}, {deaths}"
                );
            }
        }
        drop((ours, earlier));
        atoll.stop();
        atoll.check();
    }
}

#[test]
fn a_database_stays_while_it_has_prepared_transactions() {
    let oracle = Oracle::start(&["max_prepared_transactions=2"]);
    let atoll = set_up();
    let [theirs, ours] = [oracle.port(), atoll.port()].map(|port| {
        let mut client = Client::connect(port, "postgres", "postgres");
        client.run("CREATE DATABASE kept");
        let mut within = Client::connect(port, "postgres", "kept");
        within.run("BEGIN");
        within.run("CREATE TABLE t (id int)");
        within.run("PREPARE TRANSACTION 'a'");
        drop(within);
        let said = ["DROP DATABASE kept", "DROP DATABASE kept WITH (FORCE)"].map(|sql| {
            let error = client.query_all(sql).pop().and_then(|reply| reply.error);
            let error = error.expect("it is in use");
            [b'C', b'M', b'D'].map(|field| error.field(field).to_owned())
        });
        let mut within = Client::connect(port, "postgres", "kept");
        within.run("ROLLBACK PREPARED 'a'");
        drop(within);
        client.run("DROP DATABASE kept");
        said
    });
    assert_eq!(ours, theirs);
}

/// What a session with advisory locks is told, step by step.
const ADVISORY: [&str; 23] = [
    "BEGIN",
    "SELECT pg_advisory_xact_lock(1), pg_advisory_xact_lock_shared(2), pg_advisory_lock(3)",
    "PREPARE TRANSACTION 'a'",
    // The session's own lock stays its own; the transaction's are in its way.
    "SELECT pg_advisory_unlock(3), pg_try_advisory_lock(1), pg_try_advisory_lock(2), pg_try_advisory_lock_shared(2)",
    "SELECT objid, mode, pid IS NULL FROM pg_locks WHERE locktype = 'advisory' ORDER BY 1, 3",
    "SELECT pg_advisory_unlock_all()",
    "COMMIT PREPARED 'a'",
    "SELECT pg_try_advisory_lock(1), pg_try_advisory_lock(2)",
    "BEGIN",
    "SELECT pg_advisory_xact_lock_shared(2)",
    "PREPARE TRANSACTION 'b'",
    "SELECT objid, mode FROM pg_locks WHERE locktype = 'advisory' ORDER BY 1",
    "SELECT pg_advisory_unlock_all()",
    "BEGIN",
    "SAVEPOINT s",
    "SELECT pg_advisory_xact_lock(4)",
    "ROLLBACK TO s",
    "SELECT pg_advisory_xact_lock(5), pg_advisory_xact_lock(5), pg_advisory_xact_lock_shared(5)",
    "PREPARE TRANSACTION 'c'",
    "SELECT pg_try_advisory_lock(4), pg_try_advisory_lock_shared(5)",
    "ROLLBACK PREPARED 'c'",
    "SELECT pg_try_advisory_lock(5)",
    "SELECT pg_advisory_unlock_all()",
];

#[test]
fn advisory_locks_are_prepared_as_in_postgresql() {
    let oracle = Oracle::start(&["max_prepared_transactions=2"]);
    let atoll = set_up();
    let mut both =
        [oracle.port(), atoll.port()].map(|port| Client::connect(port, "postgres", "postgres"));
    for sql in ADVISORY {
        let [theirs, ours] = both.each_mut().map(|client| {
            let reply = client.query_all(sql).pop().expect("an answer");
            (
                reply.tag,
                reply.rows,
                reply
                    .error
                    .map(|error| (error.field(b'C').to_owned(), error.field(b'M').to_owned())),
            )
        });
        assert_eq!(ours, theirs, "{sql}");
    }
}

#[test]
fn advisory_locks_survive_process_death() {
    let mut atoll = set_up();
    let mut one = atoll.connect();
    one.run("BEGIN");
    one.run("SELECT pg_advisory_xact_lock(1, 2), pg_advisory_xact_lock_shared(3)");
    assert_eq!(tag(&mut one, "PREPARE TRANSACTION 'a'"), "PREPARE TRANSACTION");
    let held = "SELECT pg_try_advisory_lock_shared(1, 2), pg_try_advisory_lock(3), pg_try_advisory_xact_lock_shared(3)";
    let answer = |client: &mut Client| {
        client.run(held).rows[0].iter().flatten().cloned().collect::<Vec<_>>()
    };
    for checkpoints in [false, true] {
        atoll.kill();
        atoll.restart();
        let mut two = atoll.connect();
        assert_eq!(answer(&mut two), ["f", "f", "t"]);
        if checkpoints {
            two.run("CHECKPOINT");
            two.run("CHECKPOINT");
        }
    }
    atoll.kill();
    atoll.restart();
    let mut two = atoll.connect();
    assert_eq!(answer(&mut two), ["f", "f", "t"]);
    assert_eq!(tag(&mut two, "ROLLBACK PREPARED 'a'"), "ROLLBACK PREPARED");
    assert_eq!(answer(&mut two), ["t", "t", "t"]);
}

/// What builds trees, after what makes it possible.
const BUILDERS: [(&str, &str); 9] = [
    ("", "CREATE INDEX ON d (x)"),
    ("", "CREATE TABLE made AS SELECT * FROM d"),
    ("", "REINDEX TABLE d"),
    ("CREATE MATERIALIZED VIEW m AS SELECT x FROM d", "REFRESH MATERIALIZED VIEW m"),
    ("", "TRUNCATE d; INSERT INTO d SELECT g, 'l' FROM generate_series(1, 100) g"),
    ("", "ALTER TABLE d ALTER x TYPE bigint"),
    ("", "ALTER TABLE d ADD PRIMARY KEY (x)"),
    ("", "ALTER TABLE d ADD COLUMN r int DEFAULT (random() * 100)::int"),
    // These fail when they have built.
    ("INSERT INTO d VALUES (1, 'twice')", "CREATE INDEX ON d (x); CREATE UNIQUE INDEX ON d (x)"),
];

/// What was built in a savepoint that was rolled back, or by a statement that failed in one, is no part of what is prepared.
#[test]
fn what_a_savepoint_gave_up_keeps_no_server_from_starting() {
    let mut atoll = set_up();
    for (at, (first, builds)) in BUILDERS.into_iter().enumerate() {
        let mut one = atoll.connect();
        let _ = one.query_all("DROP TABLE IF EXISTS d CASCADE; CREATE TABLE d (x int, l text)");
        one.run("INSERT INTO d SELECT g, repeat('l', 3000) FROM generate_series(1, 20) g");
        let _ = one.query_all(first);
        let before = one.run("SELECT count(*) FROM d").value().to_owned();
        one.run("BEGIN");
        one.run("SAVEPOINT q");
        let _ = one.query_all(builds);
        one.run("ROLLBACK TO q");
        one.run("INSERT INTO d VALUES (100, 'prepared')");
        assert_eq!(tag(&mut one, "PREPARE TRANSACTION 'g'"), "PREPARE TRANSACTION", "{builds}");
        drop(one);
        if at % 2 == 0 {
            atoll.kill();
            atoll.check();
        } else {
            atoll.stop();
        }
        atoll.restart();
        let mut two = atoll.connect();
        assert_eq!(two.run("SELECT count(*) FROM d").value(), before, "{builds}");
        assert_eq!(tag(&mut two, "COMMIT PREPARED 'g'"), "COMMIT PREPARED", "{builds}");
        let all = "SELECT count(*) FROM d WHERE l <> ''";
        let after = (before.parse::<u32>().expect("a count") + 1).to_string();
        assert_eq!(two.run(all).value(), after, "{builds}");
    }
    atoll.stop();
    atoll.check();
}

/// What RETURNING has told as `xmin` is the row's through PREPARE, kill -9 and COMMIT PREPARED, and no later write's.
#[test]
fn the_version_that_was_told_survives_process_death() {
    let mut atoll = set_up();
    let version = |client: &mut Client, id: u32| {
        client.run(&format!("SELECT xmin FROM t WHERE id = {id}")).value().to_owned()
    };
    let mut told = Vec::new();
    for id in [1, 2] {
        let mut client = atoll.connect();
        if id == 1 {
            client.run("BEGIN");
        }
        let update = format!("UPDATE t SET v = 1 WHERE id = {id} RETURNING xmin");
        told.push(client.run(&update).value().to_owned());
        if id == 1 {
            client.run("PREPARE TRANSACTION 'a'");
        }
    }
    assert_ne!(told[0], told[1]);
    for round in 0..3 {
        atoll.kill();
        atoll.restart();
        let mut client = atoll.connect();
        if round == 1 {
            client.run("COMMIT PREPARED 'a'");
        }
        assert_eq!(version(&mut client, 1) == told[0], round > 0);
        assert_eq!(version(&mut client, 2), told[1]);
        let later = client.run("UPDATE t SET v = 3 WHERE id = 9 RETURNING xmin").value().to_owned();
        assert!(!told.contains(&later), "{later} is another version's");
        told.push(later);
    }
    let mut client = atoll.connect();
    client.run("UPDATE t SET v = 4 WHERE id = 2");
    assert!(!told.contains(&version(&mut client, 2)));
    drop(client);
    atoll.stop();
    atoll.check();
}
