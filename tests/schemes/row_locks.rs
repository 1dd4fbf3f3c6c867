//! FOR UPDATE and its family under each scheme: NOWAIT and SKIP LOCKED wait for nobody on their way to a row by its key, and who only
//! shares a row stands beside others who do.

use crate::{SCHEMES, TABLE, open, play, play_each};
use tests::atoll::Atoll;
use tests::waiting::{LOOK, answers};

/// The rows of three that a statement shares which nobody has.
const FREE: &str = "SELECT string_agg(v::text, ' ') FROM (SELECT v FROM t WHERE id IN (1, 2, 3) ORDER BY id \
                    FOR SHARE SKIP LOCKED) AS s";

/// Somebody changes a row: it is refused, or left out, whoever is older.
#[test]
fn nobody_waits_who_says_so() {
    let (older, younger) = (format!("o: {FREE}"), format!("y: {FREE}"));
    let steps = [
        "o: SELECT v FROM t WHERE id = 3",
        "p: SELECT v FROM t WHERE id = 3",
        "a: UPDATE t SET v = 11, u = 101 WHERE id = 1",
        "b: SELECT v FROM t WHERE id = 1 FOR UPDATE NOWAIT",
        "c: SELECT v FROM t WHERE id = 1 FOR UPDATE SKIP LOCKED",
        "d: SELECT v FROM t WHERE id = 1 FOR SHARE NOWAIT",
        // By an index whose entry is about to go.
        "e: SELECT v FROM t WHERE u = 100 FOR UPDATE NOWAIT",
        "f: SELECT v FROM t WHERE u = 100 FOR NO KEY UPDATE SKIP LOCKED",
        &older,
        "p: SELECT v FROM t WHERE id = 1 FOR UPDATE NOWAIT",
        &younger,
        "a: COMMIT",
    ];
    let each = "30, 30, ok, 55P03, ok, 55P03, 55P03, ok, 20 30, 55P03, 20 30, ok";
    // In a partition there is one at a time, and whoever looks into another index, or writes a unique key there, enters all.
    let change = "a: UPDATE t SET v = 11 WHERE id = 1";
    let in_partitions = [change, steps[3], steps[4], steps[6], &younger, "a: COMMIT"];
    let atoll = Atoll::start(&[]);
    let mut admin = atoll.connect();
    for scheme in &SCHEMES[1..] {
        admin.run(&format!("CREATE DATABASE d_{scheme} concurrency_control = '{scheme}'"));
        let mut client = open(&atoll, &format!("d_{scheme}"));
        TABLE.iter().for_each(|sql| drop(client.run(sql)));
        client.run("ALTER TABLE t ADD COLUMN u int UNIQUE");
        client.run("UPDATE t SET u = 100 WHERE id = 1");
        let (steps, expected) = match *scheme {
            "hstore" => (&in_partitions[..], "ok, 55P03, ok, 55P03, 20 30, ok"),
            _ => (&steps[..], each),
        };
        assert_eq!(play(atoll.port(), &format!("d_{scheme}"), steps), expected, "{scheme}");
    }
}

/// NOWAIT over a range that somebody writes in is refused as well: nobody knows what is there before that one has ended.
#[test]
fn nobody_waits_on_the_way_through_a_range() {
    let steps = [
        "a: UPDATE t SET v = 11 WHERE id = 1",
        "b: SELECT v FROM t WHERE id < 3 FOR UPDATE NOWAIT",
        "a: COMMIT",
    ];
    let each = "ok, 55P03, ok";
    play_each(
        &TABLE,
        &steps,
        SCHEMES[1..]
            .iter()
            .map(|scheme| (*scheme, each))
            .collect::<Vec<_>>()
            .try_into()
            .expect("eight schemes"),
    );
}

/// Two share a row, and who changes it comes behind both; under `hstore` one is in its partition after the other.
#[test]
fn who_shares_a_row_stands_beside_others() {
    for strength in ["SHARE", "KEY SHARE"] {
        let share = |who: &str| format!("{who}: SELECT v FROM t WHERE id = 1 FOR {strength}");
        let steps = [
            &*share("a"),
            &*share("b"),
            "c: DELETE FROM t WHERE id = 1",
            "a: COMMIT",
            "b: COMMIT",
            "c: COMMIT",
        ];
        let behind = "10, 10, waits, ok, ok, c ok, ok";
        play_each(
            &TABLE,
            &steps,
            [
                ("ssi", behind),
                ("occ", behind),
                ("2pl_detect", behind),
                ("2pl_no_wait", "10, 10, 40001 busy, ok, ok, ok"),
                ("2pl_wait_die", "10, 10, 40001 the younger, ok, ok, ok"),
                ("timestamp", behind),
                ("mvto", behind),
                ("hstore", "10, waits, waits, ok, b 10, ok, c ok, ok"),
            ],
        );
    }
}

/// Under timestamp ordering who shares a row does not wait for a younger one that changes it: that one may wait for it.
#[test]
fn who_shares_a_row_comes_too_late_for_a_younger_one() {
    let atoll = Atoll::start(&[]);
    let mut admin = atoll.connect();
    for scheme in ["timestamp", "mvto"] {
        admin.run(&format!("CREATE DATABASE {scheme} concurrency_control = '{scheme}'"));
        let mut client = open(&atoll, scheme);
        TABLE.iter().for_each(|sql| drop(client.run(sql)));
        let steps = [
            "a: UPDATE t SET v = 11 WHERE id = 1",
            "b: UPDATE t SET v = 21 WHERE id = 2",
            "b: UPDATE t SET v = 12 WHERE id = 1",
            "a: SELECT v FROM t WHERE id = 2 FOR SHARE",
            "a: ROLLBACK",
            "b: COMMIT",
        ];
        let ends = "ok, ok, waits, 40001 read that, b ok, ok, ok";
        assert_eq!(play(atoll.port(), scheme, &steps), ends, "{scheme}");
    }
}

/// What is locked of a key is in `pg_locks`, whose it is, and since when it is waited for; and `pg_blocking_pids` says for whom.
#[test]
fn locks_of_keys_and_partitions_are_shown() {
    // Under which schemes it is the older that waits.
    for (scheme, older_waits, kind) in [
        ("2pl_detect", false, "tuple"),
        ("2pl_wait_die", true, "tuple"),
        ("timestamp", false, "tuple"),
        ("mvto", false, "tuple"),
        ("hstore", false, "partition"),
    ] {
        let atoll = Atoll::start_with(&["--concurrency-control", scheme], &[]);
        let mut admin = atoll.connect();
        TABLE.iter().for_each(|sql| drop(admin.run(sql)));
        let mut sessions = [(); 3].map(|()| open(&atoll, "postgres"));
        let pids = sessions
            .each_mut()
            .map(|client| client.run("SELECT pg_backend_pid()").value().to_owned());
        let [holder, first, second] = &mut sessions;
        if older_waits {
            for client in [&mut *second, &mut *first] {
                client.run("BEGIN");
                client.run("SELECT v FROM t WHERE id = 3");
            }
        }
        holder.run("BEGIN");
        holder.run("UPDATE t SET v = 11 WHERE id = 1");
        for client in [&mut *first, &mut *second] {
            client.start("UPDATE t SET v = 12 WHERE id = 1");
            assert!(!answers(client, &mut admin, LOOK), "{scheme}");
        }
        let shown = |pid: &str, granted: bool| {
            format!(
                "SELECT string_agg(locktype || ' ' || mode, ', ') || ' ' || bool_and(waitstart <= now()) \
                 FROM pg_locks WHERE locktype = '{kind}' AND pid = {pid} AND granted = {granted}"
            )
        };
        let [holds, waits, last] = &pids;
        let mode = format!("{kind} ExclusiveLock");
        let held = admin.run(&shown(holds, true).replace("<= now()", "IS NULL")).value().to_owned();
        assert_eq!(held, format!("{mode} true"), "{scheme}");
        for waiter in [waits, last] {
            assert_eq!(
                admin.run(&shown(waiter, false)).value(),
                format!("{mode} true"),
                "{scheme}"
            );
        }
        let blocking = |pid: &str| format!("SELECT pg_blocking_pids({pid})");
        assert_eq!(admin.run(&blocking(waits)).value(), format!("{{{holds}}}"), "{scheme}");
        // Who comes by age stands behind those who wait, who wait for a key only behind those who have it.
        let ahead = if kind == "partition" {
            format!("{{{waits},{holds}}}")
        } else {
            format!("{{{holds}}}")
        };
        assert_eq!(admin.run(&blocking(last)).value(), ahead, "{scheme}");
        assert_eq!(admin.run(&blocking(holds)).value(), "{}", "{scheme}");
        holder.run("COMMIT");
        for client in [first, second] {
            client.replies().expect("the connection stands");
            client.run("END");
        }
        let left = "SELECT count(*) FROM pg_locks WHERE locktype IN ('tuple', 'page', 'partition')";
        assert_eq!(admin.run(left).value(), "0", "{scheme}");
    }
}
