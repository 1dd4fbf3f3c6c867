//! FOR UPDATE and its family under each scheme: NOWAIT and SKIP LOCKED wait for nobody on their way to a row, and who only shares a
//! row stands beside others who do.

use crate::{SCHEMES, TABLE, open, play, play_each};
use std::time::Duration;
use tests::atoll::Atoll;
use tests::client::Client;
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

/// It is refused for the rows that it comes to, and not for others of the range: by key upwards and downwards.
#[test]
fn nobody_is_in_the_way_who_is_not_met() {
    let of = |who: &str, order: &str, limit: u32| {
        format!(
            "{who}: SELECT v FROM t WHERE id < 4 ORDER BY id {order} LIMIT {limit} FOR UPDATE NOWAIT"
        )
    };
    let steps = [
        "a: UPDATE t SET v = 21 WHERE id = 2",
        "i: INSERT INTO t VALUES (0, 4, 0)",
        &*of("b", "DESC", 1),
        &*of("c", "DESC", 2),
        "i: ROLLBACK",
        &*of("d", "", 1),
        &*of("e", "", 2),
        "b: UPDATE t SET v = 31 WHERE id = 3",
        "d: UPDATE t SET v = 11 WHERE id = 1",
        "f: INSERT INTO t VALUES (4, 4, 40)",
        "a: COMMIT",
        "b: COMMIT",
        "d: COMMIT",
        "f: COMMIT",
    ];
    let each = "ok, ok, 30, 55P03, ok, 10, 55P03, ok, ok, ok, ok, ok, ok, ok";
    // In partitions a range is all of them, and who leaves his own is run again.
    let in_partitions = "ok, ok, 55P03, 55P03, ok, 55P03, 55P03, 25P02, 25P02, ok, ok, ok, ok, ok";
    play_each(
        &TABLE,
        &steps,
        SCHEMES[1..]
            .iter()
            .map(|scheme| (*scheme, if *scheme == "hstore" { in_partitions } else { each }))
            .collect::<Vec<_>>()
            .try_into()
            .expect("eight schemes"),
    );
}

/// How the jobs of a queue are found, as a setting, what they are ordered by, and the plan says: by their key, by an index with their
/// state, or by a scan of all of them that is sorted.
const WAYS: [(&str, &str, &str); 3] = [
    ("on", "id", "Index Scan using job_pkey"),
    ("off", "id", "job_done_id_idx"),
    ("on", "id + 0", "Seq Scan"),
];

/// A job that nobody has.
fn next(order: &str) -> String {
    format!("SELECT id FROM job WHERE done = false ORDER BY {order} LIMIT 1 FOR UPDATE SKIP LOCKED")
}

/// Makes a database with a queue whose jobs are found this way.
fn make_queue(atoll: &Atoll, scheme: &str, number: usize, jobs: u32) -> String {
    let database = format!("d{number}_{scheme}");
    let (seqscan, order, plan) = WAYS[number];
    let mut admin = atoll.connect();
    admin.run(&format!("CREATE DATABASE {database} concurrency_control = '{scheme}'"));
    admin.run(&format!("ALTER DATABASE {database} SET enable_seqscan = {seqscan}"));
    let mut client = open(atoll, &database);
    for sql in [
        "CREATE TABLE job (id int PRIMARY KEY, done bool NOT NULL, note text)",
        "ALTER TABLE job ALTER COLUMN note SET STORAGE EXTERNAL",
        "CREATE INDEX ON job (done, id)",
        "CREATE TABLE work (job int PRIMARY KEY)",
    ] {
        client.run(sql);
    }
    client.run(&format!(
        "INSERT INTO job SELECT g, false, repeat('n', g * 700) FROM generate_series(1, {jobs}) AS g"
    ));
    let rows = client.run(&format!("EXPLAIN {}", next(order))).rows;
    let shown = rows.iter().flatten().flatten().any(|line| line.contains(plan));
    assert!(shown, "{plan}: {rows:?}");
    database
}

/// Who takes a job passes those that others have, whether they have only locked them, changed or deleted them, and those that are
/// about to come; what was passed is free for the next.
#[test]
fn who_skips_takes_the_next_job_that_is_free() {
    // Where keys say the partition, each job is alone in its own here.
    let atoll = Atoll::start(&["atoll.partitions=512"]);
    for scheme in &SCHEMES[1..] {
        for (number, (_, order, plan)) in WAYS.iter().enumerate() {
            let take = next(order);
            // By what stands apart from the row.
            let by_note = take.replace("done = false", "done = false AND note = repeat('n', 3500)");
            let steps = [
                &*format!("a: {take}"),
                &*format!("b: {take}"),
                "a: UPDATE job SET done = true WHERE id = 1",
                "b: DELETE FROM job WHERE id = 2",
                "i: INSERT INTO job VALUES (0, false, '')",
                &*format!("e: {by_note}"),
                &*format!("c: {take}"),
                &*format!("d: DELETE FROM job WHERE id = ({take}) RETURNING id"),
                &*format!("f: {take}"),
                "f: UPDATE job SET done = true, note = 'f' WHERE id = 6",
                "a: COMMIT",
                "b: ROLLBACK",
                "i: COMMIT",
                "c: COMMIT",
                "d: COMMIT",
                "e: COMMIT",
                "f: COMMIT",
                "g: SELECT string_agg(id::text, ' ' ORDER BY id) FROM (SELECT id FROM job WHERE done = false \
                 FOR UPDATE SKIP LOCKED) AS s",
            ];
            let database = make_queue(&atoll, scheme, number, 8);
            let ends = play(atoll.port(), &database, &steps);
            let commits = match *scheme {
                // What was passed counts as read: of this schedule PostgreSQL's SERIALIZABLE refuses the same two.
                "ssi" => "ok, 40001 commit attempt, ok, 40001 commit attempt, 0 2 3 4 5 6 7 8",
                _ => "ok, ok, ok, ok, 0 2 3 5 7 8",
            };
            let expected = format!("1, 2, ok, ok, ok, 5, 3, 4, 6, ok, ok, ok, ok, {commits}");
            assert_eq!(ends, expected, "{scheme}: {plan}");
        }
    }
}

/// What has changed since the statement began is looked at again under its lock; who keeps to a snapshot, or comes before those who
/// changed it, leaves it out. A cursor goes on by the snapshot that it began with.
#[test]
fn what_has_changed_is_looked_at_again() {
    let steps = [
        "a: DECLARE c CURSOR FOR SELECT id FROM job WHERE done = false ORDER BY id FOR UPDATE SKIP LOCKED",
        "a: FETCH c",
        "b: UPDATE job SET note = 'b' WHERE id = 2",
        "b: UPDATE job SET done = true WHERE id = 3",
        "b: UPDATE job SET id = 0 WHERE id = 5",
        "b: DELETE FROM job WHERE id = 6",
        "b: COMMIT",
        "d: UPDATE job SET note = 'd' WHERE id = 7",
        "a: FETCH c",
        "a: FETCH c",
        "a: FETCH c",
        "a: FETCH c",
        "a: FETCH c",
        "a: COMMIT",
        "d: ROLLBACK",
    ];
    let atoll = Atoll::start(&["atoll.partitions=512"]);
    for scheme in &SCHEMES[1..] {
        let ends = play(atoll.port(), &make_queue(&atoll, scheme, 0, 8), &steps);
        let fetched = match *scheme {
            "ssi" => "40001 concurrent, 25P02, 25P02, 25P02, 25P02",
            "occ" | "timestamp" | "mvto" => "4, 8, ok, ok, ok",
            _ => "2, 4, 0, 8, ok",
        };
        assert_eq!(ends, format!("ok, 1, ok, ok, ok, ok, ok, ok, {fetched}, ok, ok"), "{scheme}");
    }
}

/// Four work on a queue, while somebody has a job of it and goes on having it: nobody waits for that one, and each job is done once.
#[test]
fn a_queue_is_worked_off() {
    const JOBS: u32 = 40;
    let atoll = Atoll::start(&["atoll.partitions=512"]);
    for scheme in SCHEMES {
        for (number, (_, order, way)) in WAYS.iter().enumerate() {
            let take = &*next(order);
            let database = &*make_queue(&atoll, scheme, number, JOBS);
            let mut holder = open(&atoll, database);
            holder.run("BEGIN");
            assert_eq!(holder.run(take).value(), "1");
            holder.run("UPDATE job SET done = true WHERE id = 1");
            let work = |by_one_statement: bool| {
                let mut client = open(&atoll, database);
                client.run("SET lock_timeout = '5s'");
                let mut again = 0;
                while again < 50 {
                    again =
                        if take_one(&mut client, take, by_one_statement) { 0 } else { again + 1 };
                }
            };
            let work = &work;
            std::thread::scope(|scope| {
                (0..4).for_each(|worker| drop(scope.spawn(move || work(worker % 2 == 0))));
            });
            let left = "SELECT count(*) FROM job WHERE NOT done";
            holder.run("ROLLBACK");
            assert_eq!(holder.run(left).value(), "1", "{scheme}: {way}");
            work(false);
            assert_eq!(holder.run(left).value(), "0", "{scheme}: {way}");
            let done = holder.run("SELECT count(*) || ' ' || count(DISTINCT job) FROM work");
            assert_eq!(done.value(), format!("{JOBS} {JOBS}"), "{scheme}: {way}");
        }
    }
}

/// Does a job, if one is free; false if none is, or it has to be done again.
fn take_one(client: &mut Client, take: &str, by_one_statement: bool) -> bool {
    let taken = match by_one_statement {
        true => format!("DELETE FROM job WHERE id = ({take}) RETURNING id"),
        false => take.to_owned(),
    };
    let mut run = |sql: &str| {
        let reply = client.query(sql);
        match &reply.error {
            None => Some(reply),
            Some(error) => {
                assert_eq!(error.field(b'C'), "40001", "{error:?}");
                None
            }
        }
    };
    let mut work = || {
        run("BEGIN")?;
        let reply = run(&taken)?;
        let id = reply.rows.first()?[0].clone()?;
        run(&format!("INSERT INTO work VALUES ({id})"))?;
        if !by_one_statement {
            run(&format!("UPDATE job SET done = true WHERE id = {id}"))?;
        }
        run("COMMIT")
    };
    let done = work().is_some();
    if !done {
        let _ = client.query("ROLLBACK");
        std::thread::sleep(Duration::from_millis(2));
    }
    done
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
