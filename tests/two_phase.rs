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
    // Its reads wait for the other prepared writer of the table.
    one.run("SET lock_timeout = '50ms'");
    assert_eq!(refused(&mut one, "PREPARE TRANSACTION 'b'").0, "55P03");
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
    // What cannot be prepared yet.
    client.run("BEGIN");
    client.run("CREATE TABLE u (id int)");
    assert_eq!(refused(&mut client, "PREPARE TRANSACTION 'w'").0, "0A000");
    assert_eq!(client.status, b'I');
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
