//! SERIALIZABLE over the wire, where PostgreSQL's answer shows pages or needs settings of its own: SIREAD locks in `pg_locks`,
//! who waits for a safe snapshot, prepared transactions. Schedules that both servers answer alike are in `tests/isolation`.

use tests::atoll::Atoll;
use tests::client::Client;

const BEGIN: &str = "BEGIN ISOLATION LEVEL SERIALIZABLE";

fn set_up() -> Atoll {
    let atoll = Atoll::start(&["max_prepared_transactions=4"]);
    let mut client = atoll.connect();
    client.run("CREATE TABLE t (id int PRIMARY KEY, v int)");
    client.run("CREATE INDEX t_v ON t (v)");
    client.run("INSERT INTO t SELECT g, g FROM generate_series(1, 9) AS g");
    atoll
}

/// The code, and for 40001 the reason.
fn outcome(client: &mut Client, sql: &str) -> String {
    let reply = client.query_all(sql).pop().expect("an answer");
    let Some(error) = reply.error else { return String::new() };
    let hint = error.field(b'H');
    assert_eq!(hint, "The transaction might succeed if retried.");
    format!("{} {}", error.field(b'C'), error.field(b'D'))
}

fn sireads(client: &mut Client) -> Vec<String> {
    let reply = client.run(
        "SELECT locktype || ' ' || relation::regclass || ' ' || granted FROM pg_locks
         WHERE mode = 'SIReadLock' ORDER BY 1",
    );
    reply.rows.iter().map(|row| row[0].clone().expect("a text")).collect()
}

#[test]
fn what_was_read_is_shown_in_pg_locks_for_as_long_as_it_matters() {
    let atoll = set_up();
    let [mut one, mut two, mut watcher] = [(); 3].map(|()| atoll.connect());
    one.run(BEGIN);
    one.run("SELECT * FROM t WHERE id = 3");
    one.run("SET enable_seqscan = off");
    one.run("SELECT id FROM t WHERE v > 7");
    let held = sireads(&mut watcher);
    assert!(held.contains(&"tuple t true".to_owned()), "{held:?}");
    assert!(held.contains(&"page t_v true".to_owned()), "{held:?}");
    // A commit ends nothing while somebody overlaps it.
    two.run(BEGIN);
    two.run("SELECT 1 FROM t WHERE id = 5");
    one.run("UPDATE t SET v = 30 WHERE id = 3");
    one.run("COMMIT");
    assert!(sireads(&mut watcher).len() > held.len());
    two.run("COMMIT");
    assert_eq!(sireads(&mut watcher), Vec::<String>::new());
}

#[test]
fn who_waits_for_a_safe_snapshot_is_shown_and_can_be_cancelled() {
    let atoll = set_up();
    let [mut writer, mut reader, mut watcher] = [(); 3].map(|()| atoll.connect());
    writer.run(BEGIN);
    writer.run("SELECT * FROM t WHERE id = 3");
    let writer_pid = writer.run("SELECT pg_backend_pid()").value().to_owned();
    let reader_pid = reader.run("SELECT pg_backend_pid()").value().to_owned();
    reader.run("BEGIN ISOLATION LEVEL SERIALIZABLE READ ONLY DEFERRABLE");
    for cancelled in [true, false] {
        reader.start("SELECT count(*) FROM t");
        let waits = format!(
            "SELECT wait_event_type || wait_event FROM pg_stat_activity WHERE pid = {reader_pid}"
        );
        while watcher.run(&waits).rows[0][0].as_deref() != Some("IPCSafeSnapshot") {
            std::thread::yield_now();
        }
        let blockers = format!("SELECT pg_safe_snapshot_blocking_pids({reader_pid})");
        assert_eq!(watcher.run(&blockers).value(), format!("{{{writer_pid}}}"));
        if cancelled {
            watcher.run(&format!("SELECT pg_cancel_backend({reader_pid})"));
            let replies = reader.replies().expect("the connection stands");
            assert_eq!(replies[0].sqlstate(), "57014");
            reader.run("ROLLBACK");
            reader.run("BEGIN ISOLATION LEVEL SERIALIZABLE READ ONLY DEFERRABLE");
        } else {
            writer.run("COMMIT");
            let replies = reader.replies().expect("the connection stands");
            assert_eq!(replies[0].value(), "9");
            assert_eq!(watcher.run(&blockers).value(), "{}");
        }
    }
    reader.run("COMMIT");
}

/// A prepared pivot can no longer be cancelled, also not behind a restart: the other one goes, told at the step as PostgreSQL
/// tells it.
#[test]
fn beside_a_prepared_pivot_the_other_is_refused() {
    let mut atoll = set_up();
    for restarts in [false, true] {
        let mut one = atoll.connect();
        one.run(BEGIN);
        one.run("SELECT * FROM t WHERE id = 1");
        one.run("UPDATE t SET v = 20 WHERE id = 2");
        let mut two = atoll.connect();
        if !restarts {
            two.run(BEGIN);
            two.run("SELECT * FROM t WHERE id = 2");
        }
        one.run("PREPARE TRANSACTION 'pivot'");
        if restarts {
            drop((one, two));
            atoll.kill();
            atoll.restart();
            two = atoll.connect();
            assert!(!sireads(&mut two).is_empty());
            two.run(BEGIN);
            let reason = outcome(&mut two, "SELECT * FROM t WHERE id = 2");
            assert_eq!(reason, "40001 Reason code: Canceled on conflict out to old pivot.");
        } else {
            let reason = outcome(&mut two, "UPDATE t SET v = 10 WHERE id = 1");
            assert_eq!(
                reason,
                "40001 Reason code: Canceled on identification as a pivot, during write."
            );
        }
        two.run("ROLLBACK");
        two.run("COMMIT PREPARED 'pivot'");
        assert_eq!(sireads(&mut two), Vec::<String>::new());
    }
}

/// What an index had of a reader counts for its table when REINDEX has given it another tree.
#[test]
fn a_reader_of_an_index_that_was_built_anew_still_conflicts() {
    let atoll = set_up();
    let [mut one, mut two, mut other] = [(); 3].map(|()| atoll.connect());
    other.run("CREATE TABLE noted (n int)");
    one.run("SET enable_seqscan = off");
    one.run(BEGIN);
    one.run("SELECT id FROM t WHERE v > 7");
    other.run("REINDEX INDEX t_v");
    two.run(BEGIN);
    two.run("SELECT * FROM noted");
    two.run("INSERT INTO t VALUES (20, 20)");
    one.run("INSERT INTO noted VALUES (2)");
    two.run("COMMIT");
    let reason = outcome(&mut one, "COMMIT");
    assert!(
        reason.starts_with("40001 Reason code: Canceled on identification as a pivot"),
        "{reason}"
    );
}
