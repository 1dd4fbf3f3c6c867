//! FOR UPDATE and its family under each scheme: NOWAIT and SKIP LOCKED wait for nobody on their way to a row by its key, and who only
//! shares a row stands beside others who do.

use crate::{SCHEMES, TABLE, open, play, play_each};
use tests::atoll::Atoll;

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
