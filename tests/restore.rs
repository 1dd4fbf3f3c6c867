//! Online backups and restoring to a point in time: a directory that is copied while the server works, and the archive of its
//! log, become the database of any later moment, and nothing of the archive is replaced.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tests::atoll::Atoll;
use tests::client::Client;
use tests::process::{TemporaryDirectory, wait_until};

const LIMIT: Duration = Duration::from_secs(60);

fn archive_command(shelf: &Path) -> String {
    let shelf = shelf.display();
    format!(
        "archive_command=test ! -e {shelf}/%f && cp %p {shelf}/%f.part && mv {shelf}/%f.part {shelf}/%f"
    )
}

fn restore_command(shelf: &Path) -> String {
    format!("restore_command=cp {}/%f %p 2> /dev/null", shelf.display())
}

/// Copies a directory as an operator does; files that go meanwhile are no error.
fn copy(from: &Path, to: &Path) {
    let copied = std::process::Command::new("cp").arg("-a").arg(from).arg(to).output();
    assert!(to.join("data").exists(), "{:?}", copied.expect("cp is there"));
}

/// A backup of a running server: the copy in `to`, with its label. `meanwhile` is done when all but the end is.
fn back_up(atoll: &Atoll, to: &Path, meanwhile: impl FnOnce()) {
    let mut client = atoll.connect();
    client.run("SELECT pg_backup_start('a test', true)");
    copy(&atoll.data(), to);
    meanwhile();
    let label = client.run("SELECT labelfile FROM pg_backup_stop()").value().to_owned();
    std::fs::write(to.join("backup_label"), label).expect("the copy is ours");
}

/// What becomes of a copy with these settings.
fn restored(base: &Path, settings: &[&str]) -> Atoll {
    let fill = |data: &Path| {
        copy(base, data);
        std::fs::write(data.join("recovery.signal"), "").expect("the copy is ours");
    };
    Atoll::of(fill, settings)
}

/// Starts it, and says why it does not serve.
fn refusal(mut atoll: Atoll) -> String {
    atoll.begin();
    atoll.wait_for_end();
    atoll.log()
}

/// Ends the segment of the log that is being written: its name. Whoever asked anew where the log is could be told of the next one,
/// where something in the background has written meanwhile.
fn switched(client: &mut Client) -> String {
    client.query("SELECT pg_walfile_name(pg_switch_wal())").value().to_owned()
}

fn counts(client: &mut Client) -> Vec<String> {
    let totals = "SELECT count(*), sum(balance) FROM account";
    let reply = client.query(totals);
    assert!(reply.error.is_none(), "{:?}", reply.error);
    reply.rows[0].iter().map(|value| value.clone().unwrap_or_default()).collect()
}

/// Moves money, inserts and deletes until it is told to stop; the sum stays.
fn work(port: u16, stop: &AtomicBool, seed: u32) {
    let mut client = Client::connect(port, "postgres", "postgres");
    let mut round = seed;
    while !stop.load(Ordering::Acquire) {
        round = round.wrapping_mul(1_103_515_245).wrapping_add(12_345);
        let (from, to) = (round % 5000, (round >> 8) % 5000);
        client.run(&format!(
            "BEGIN; UPDATE account SET balance = balance - 1, note = repeat('x', {from} % 300) WHERE id = {from}; \
             UPDATE account SET balance = balance + 1 WHERE id = {to}; COMMIT"
        ));
        client.run("INSERT INTO account SELECT max(id) + 1, 0, repeat('z', 200) FROM account ON CONFLICT DO NOTHING");
    }
}

#[test]
fn a_copy_of_a_running_server_is_restored_to_any_moment() {
    let shelf = TemporaryDirectory::new("archive");
    let place = TemporaryDirectory::new("base");
    let base = place.path().join("base");
    let command = archive_command(shelf.path());
    let settings = ["archive_mode=on", "shared_buffers=1MB", &command];
    let mut atoll = Atoll::start(&settings);
    let mut client = atoll.connect();
    client.run("CREATE TABLE account (id int PRIMARY KEY, balance int, note text)");
    client
        .run("INSERT INTO account SELECT n, 100, repeat('y', 300) FROM generate_series(0, 4999) n");
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for seed in 1..=2 {
            let (port, stop) = (atoll.port(), &stop);
            scope.spawn(move || work(port, stop, seed));
        }
        std::thread::sleep(Duration::from_millis(500));
        // A tree that is built while the files are copied, and pages that are written again and again.
        back_up(&atoll, &base, || {
            client.run("CREATE INDEX account_note ON account (note, id)");
            client.run("CHECKPOINT");
        });
        std::thread::sleep(Duration::from_millis(500));
        stop.store(true, Ordering::Release);
    });
    client.run("CREATE TABLE step (a int)");
    client.run("INSERT INTO step VALUES (1)");
    std::thread::sleep(Duration::from_millis(20));
    let time = client.query("SELECT clock_timestamp()").value().to_owned();
    std::thread::sleep(Duration::from_millis(20));
    let number =
        client.query("WITH x AS (INSERT INTO step VALUES (2)) SELECT pg_current_xact_id()");
    let number = number.value().to_owned();
    client.run("SELECT pg_create_restore_point('third')");
    client.run("INSERT INTO step VALUES (3)");
    let lsn = client.query("SELECT pg_current_wal_lsn()").value().to_owned();
    client.run("INSERT INTO step VALUES (4)");
    client.run("INSERT INTO step VALUES (5)");
    let totals = counts(&mut client);
    assert_eq!(totals[1], "500000");
    let last = switched(&mut client);
    wait_until("the archive", LIMIT, || shelf.path().join(&last).exists().then_some(()));
    // Nobody needs the old server any more.
    atoll.kill();
    let restore = restore_command(shelf.path());
    let targets = [
        (format!("recovery_target_time={time}"), "on", "1"),
        (format!("recovery_target_xid={number}"), "on", "1,2"),
        (format!("recovery_target_xid={number}"), "off", "1"),
        ("recovery_target_name=third".to_owned(), "on", "1,2"),
        (format!("recovery_target_lsn={lsn}"), "on", "1,2,3,4"),
        (format!("recovery_target_lsn={lsn}"), "off", "1,2,3"),
        ("recovery_target_name=".to_owned(), "on", "1,2,3,4,5"),
    ];
    for (target, inclusive, expected) in &targets {
        let inclusive = format!("recovery_target_inclusive={inclusive}");
        let settings = [&*restore, target, &inclusive, "recovery_target_action=promote"];
        let mut back = restored(&base, &settings);
        back.restart();
        let mut client = back.connect();
        let steps = client.query("SELECT string_agg(a::text, ',' ORDER BY a) FROM step");
        assert_eq!(steps.value(), *expected, "{target} {inclusive}\n{}", back.log());
        assert_eq!(counts(&mut client), totals, "{target}");
        client.run("SET enable_seqscan = off");
        let by_index = client.query("SELECT count(*) FROM account WHERE note >= ''");
        assert_eq!(by_index.value(), totals[0], "{target}");
        assert_eq!(client.query("SELECT timeline_id FROM pg_control_checkpoint()").value(), "2");
        assert!(back.data().join("backup_label.old").exists());
        assert!(!back.data().join("recovery.signal").exists());
        back.stop();
        back.check();
    }
    follow_timelines(shelf.path(), &base, &restore);
}

/// What is restored has an archive of its own in the same place; both histories can be restored from there.
fn follow_timelines(shelf: &Path, base: &Path, restore: &str) {
    let command = archive_command(shelf);
    let promote = "recovery_target_action=promote";
    let settings = ["archive_mode=on", &command, restore, "recovery_target_name=third", promote];
    let mut second = restored(base, &settings);
    second.restart();
    let mut client = second.connect();
    client.run("INSERT INTO step VALUES (20)");
    let last = switched(&mut client);
    assert!(last.starts_with("00000002"), "{last}");
    wait_until("the archive", LIMIT, || shelf.join(&last).exists().then_some(()));
    assert!(shelf.join("00000002.history").exists());
    assert!(!second.log().contains("archive command failed"), "{}", second.log());
    second.kill();
    for (timeline, expected, own) in [
        ("latest", "1,2,20", "3"),
        ("2", "1,2,20", "3"),
        ("current", "1,2,3,4,5", "3"),
        ("1", "1,2,3,4,5", "3"),
    ] {
        let timeline = format!("recovery_target_timeline={timeline}");
        let mut back = restored(base, &[restore, &timeline]);
        back.restart();
        let mut client = back.connect();
        let steps = client.query("SELECT string_agg(a::text, ',' ORDER BY a) FROM step");
        assert_eq!(steps.value(), expected, "{timeline}\n{}", back.log());
        assert_eq!(client.query("SELECT timeline_id FROM pg_control_checkpoint()").value(), own);
        back.stop();
        back.check();
    }
    let log = refusal(restored(base, &[restore, "recovery_target_timeline=7"]));
    assert!(log.contains("recovery target timeline 7 does not exist"), "{log}");
}

#[test]
fn without_an_archive_the_copy_has_the_log_that_was_copied_last() {
    let place = TemporaryDirectory::new("base");
    let base = place.path().join("base");
    let mut atoll = Atoll::start(&[]);
    let mut client = atoll.connect();
    client.run("CREATE TABLE t AS SELECT n AS a FROM generate_series(1, 1000) n");
    let mut backup = atoll.connect();
    backup.run("SELECT pg_backup_start('a test')");
    copy(&atoll.data(), &base);
    client.run("INSERT INTO t SELECT n FROM generate_series(1001, 3000) n");
    let stopped = backup.run("SELECT labelfile FROM pg_backup_stop()");
    let notice = "WAL archiving is not enabled; you must ensure that all required WAL segments are \
                  copied through other means to complete the backup";
    assert_eq!(stopped.notices[0].field(b'M'), notice);
    let label = stopped.value().to_owned();
    std::fs::write(base.join("backup_label"), &label).expect("the copy is ours");
    // The log of before its end is not enough.
    let log = refusal(Atoll::of(|data| copy(&base, data), &[]));
    assert!(log.contains("WAL ends before end of online backup"), "{log}");
    std::fs::remove_dir_all(base.join("log")).expect("the copy is ours");
    let mut cp = std::process::Command::new("cp");
    let copied = cp.arg("-a").arg(atoll.data().join("log")).arg(&base).status();
    assert!(copied.expect("cp is there").success());
    atoll.stop();
    let mut back = Atoll::of(|data| copy(&base, data), &[]);
    back.restart();
    let mut client = back.connect();
    assert_eq!(client.query("SELECT count(*) FROM t").value(), "3000");
    client.run("INSERT INTO t VALUES (0)");
    back.kill();
    back.restart();
    assert_eq!(back.connect().query("SELECT count(*) FROM t").value(), "3001");
    back.stop();
    back.check();
}

/// kill -9 while the files are copied, and again and again while the copy is restored.
#[test]
fn whoever_is_killed_begins_again() {
    let shelf = TemporaryDirectory::new("archive");
    let place = TemporaryDirectory::new("base");
    let command = archive_command(shelf.path());
    let mut atoll = Atoll::start(&["archive_mode=on", &command]);
    let mut client = atoll.connect();
    client.run("CREATE TABLE t (a int PRIMARY KEY, b text)");
    client.run("INSERT INTO t SELECT n, repeat('x', 500) FROM generate_series(1, 20000) n");
    client.run("SELECT pg_backup_start('never ended')");
    copy(&atoll.data(), &place.path().join("half"));
    client.run("UPDATE t SET b = repeat('y', 500)");
    atoll.kill();
    atoll.restart();
    let mut client = atoll.connect();
    assert_eq!(client.query("SELECT count(*) FROM t WHERE b LIKE 'y%'").value(), "20000");
    assert_eq!(client.query("SELECT pg_backup_stop()").sqlstate(), "55000");
    let base = place.path().join("base");
    back_up(&atoll, &base, || {
        client.run("UPDATE t SET b = repeat('z', 500)");
    });
    client.run("DELETE FROM t WHERE a % 2 = 0");
    client.run("SELECT pg_create_restore_point('end')");
    client.run("DELETE FROM t");
    let last = switched(&mut client);
    wait_until("the archive", LIMIT, || shelf.path().join(&last).exists().then_some(()));
    atoll.stop();
    // The half copy has no label: it is not taken for a backup.
    let restore = format!("restore_command=sleep 0.1; cp {}/%f %p", shelf.path().display());
    let settings = [&*restore, "recovery_target_name=end", "recovery_target_action=promote"];
    let mut back = restored(&base, &settings);
    for moment in [50, 150, 250, 350, 500, 700, 900] {
        back.begin();
        std::thread::sleep(Duration::from_millis(moment));
        back.kill();
    }
    back.restart();
    let mut client = back.connect();
    let rows = client.query("SELECT count(*), count(*) FILTER (WHERE b = repeat('z', 500)) FROM t");
    let rows: Vec<_> = rows.rows[0].iter().map(|value| value.as_deref().unwrap_or("")).collect();
    assert_eq!(rows, ["10000", "10000"]);
    back.kill();
    back.restart();
    assert_eq!(back.connect().query("SELECT count(*) FROM t").value(), "10000");
    back.stop();
    back.check();
}

#[test]
fn what_cannot_be_restored_says_why() {
    let shelf = TemporaryDirectory::new("archive");
    let place = TemporaryDirectory::new("base");
    let base = place.path().join("base");
    let command = archive_command(shelf.path());
    let mut atoll = Atoll::start(&["archive_mode=on", &command]);
    let mut client = atoll.connect();
    client.run("CREATE TABLE t (a int)");
    let early = client.query("SELECT pg_current_wal_insert_lsn()").value().to_owned();
    back_up(&atoll, &base, || {
        client.run("SELECT pg_create_restore_point('within')");
    });
    client.run("SELECT pg_create_restore_point('behind')");
    client.run("INSERT INTO t VALUES (1)");
    let last = switched(&mut client);
    // A session that ends gives its backup up.
    let mut other = atoll.connect();
    other.run("SELECT pg_backup_start('given up')");
    drop(other);
    wait_until("the log", LIMIT, || {
        atoll.log().contains("aborting backup due to backend exiting").then_some(())
    });
    wait_until("the archive", LIMIT, || shelf.path().join(&last).exists().then_some(()));
    atoll.stop();
    let restore = restore_command(shelf.path());
    let early = format!("recovery_target_lsn={early}");
    let promote = "recovery_target_action=promote";
    for (settings, expected) in [
        (&["port=1"][..], "must specify restore_command when standby mode is not enabled"),
        (
            &[&restore, "recovery_target_name=nowhere", promote],
            "recovery ended before configured recovery target was reached",
        ),
        (
            &[&restore, "recovery_target_name=within", promote],
            "requested recovery stop point is before consistent recovery point",
        ),
        (
            &[&restore, &early, promote],
            "requested recovery stop point is before consistent recovery point",
        ),
        (
            &[&restore, "recovery_target_name=behind"],
            "recovery_target_action \"pause\" is not supported",
        ),
        (
            &[&restore, "recovery_target_name=behind", "recovery_target_xid=9"],
            "multiple recovery targets specified",
        ),
        (
            &[&restore, "recovery_target_time=soon"],
            "invalid value for parameter \"recovery_target_time\": \"soon\"",
        ),
        (&["restore_command=exit 130"], "could not restore file"),
    ] {
        let log = refusal(restored(&base, settings));
        assert!(log.contains(expected), "{expected}:\n{log}");
    }
    let mut back = restored(&base, &[&restore, "recovery_target=immediate", promote]);
    std::fs::write(back.data().join("standby.signal"), "").expect("the copy is ours");
    back.begin();
    back.wait_for_end();
    assert!(back.log().contains("standby mode is not supported"), "{}", back.log());
    std::fs::remove_file(back.data().join("standby.signal")).expect("the copy is ours");
    back.restart();
    assert_eq!(back.connect().query("SELECT count(*) FROM t").value(), "0");
    back.stop();
    back.check();
    // Who shuts down at the target can be asked again for another.
    let shut = [&*restore, "recovery_target_name=behind", "recovery_target_action=shutdown"];
    let mut back = restored(&base, &shut);
    back.begin();
    assert_eq!(back.wait_for_end(), Some(0), "{}", back.log());
    assert!(back.log().contains("shutdown at recovery target"), "{}", back.log());
    assert!(back.data().join("recovery.signal").exists());
}
