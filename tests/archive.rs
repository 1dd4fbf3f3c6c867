//! `archive_command`: segments go to the archive in order, once, and stay in the directory until they are there.

use std::path::Path;
use std::time::Duration;
use tests::atoll::Atoll;
use tests::process::{TemporaryDirectory, wait_until};

/// More than the minute that the archiver rests after three failures in a row.
const LIMIT: Duration = Duration::from_secs(150);

/// The segments in the server's directory, or with their timeline in an archive.
fn names(directory: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(directory).expect("the directory is there");
    let names = entries.map(|entry| entry.expect("it can be listed").file_name());
    let mut names: Vec<String> = names
        .map(|name| name.into_string().expect("names are text"))
        .filter(|name| name.len() >= 16)
        .collect();
    names.sort();
    names
}

#[test]
fn segments_go_to_the_archive_before_they_are_recycled() {
    let archive = TemporaryDirectory::new("archive");
    let shelf = archive.path().display();
    // What was sent before a crash may be sent again: as PostgreSQL's manual asks, the same file is taken twice.
    let command = format!(
        "archive_command=test -e {shelf}/open && (test ! -e {shelf}/%f || cmp -s %p {shelf}/%f) && \
         cp %p {shelf}/%f.part && mv {shelf}/%f.part {shelf}/%f"
    );
    let mut atoll = Atoll::start(&["archive_mode=on", &command]);
    let mut client = atoll.connect();
    client.run("CREATE TABLE t (a int PRIMARY KEY, b text)");
    // Some 9 MB of log.
    let mut part = |part: u32| {
        client.run(&format!(
            "INSERT INTO t SELECT n, repeat('x', 900) FROM generate_series({}, {}) n",
            part * 10_000 + 1,
            part * 10_000 + 10_000
        ))
    };
    // One segment is full, and the archive is opened before the archiver has failed three times and rests for a minute.
    part(0);
    part(1);
    let first = names(&atoll.data().join("log"))[0].clone();
    wait_until("a failure", LIMIT, || {
        atoll.log().contains("archive command failed with exit code 1").then_some(())
    });
    assert_eq!(names(archive.path()), Vec::<String>::new());
    std::fs::write(archive.path().join("open"), "").expect("the directory is writable");
    part(2);
    part(3);
    client.run("CHECKPOINT");
    wait_until("two segments", LIMIT, || (names(archive.path()).len() >= 2).then_some(()));
    assert_eq!(names(archive.path())[0], format!("00000001{first}"), "the oldest first");
    wait_until("the first to go", LIMIT, || {
        (names(&atoll.data().join("log"))[0] > first).then_some(())
    });
    // A restart ends the segment that was being written; what is there is not sent again.
    atoll.kill();
    let before = atoll.log().matches("archive command failed").count();
    let there = names(archive.path()).len();
    atoll.restart();
    wait_until("the ended segment", LIMIT, || (names(archive.path()).len() > there).then_some(()));
    assert_eq!(atoll.log().matches("archive command failed").count(), before);
    let mut client = atoll.connect();
    assert_eq!(client.run("SELECT count(*) FROM t").value(), "40000");
    atoll.stop();
    atoll.check();
}

#[test]
fn an_old_segment_goes_to_the_archive_as_it_is() {
    let archive = TemporaryDirectory::new("archive_timeout");
    let command = format!("archive_command=cp %p {}/%f", archive.path().display());
    let settings = ["archive_mode=on", "archive_timeout=1", "wal_level=replica", &command];
    let atoll = Atoll::start(&settings);
    let mut client = atoll.connect();
    client.run("CREATE TABLE t (a int PRIMARY KEY)");
    wait_until("what little there is", LIMIT, || (!names(archive.path()).is_empty()).then_some(()));
    let last = "SELECT archived_count > 0, last_archived_wal, failed_count FROM pg_stat_archiver";
    let row = wait_until("the view", LIMIT, || {
        client.query(last).rows.pop().filter(|row| row[0].as_deref() == Some("t"))
    });
    assert!(names(archive.path()).contains(row[1].as_ref().expect("it has a name")));
    assert_eq!(row[2].as_deref(), Some("0"));
    // Who writes nothing fills no archive.
    std::thread::sleep(Duration::from_secs(3));
    let idle = names(archive.path()).len();
    std::thread::sleep(Duration::from_secs(4));
    assert!(names(archive.path()).len() <= idle + 1, "an idle server switches nothing");
}

#[test]
fn a_restore_point_has_a_place_in_the_log() {
    let mut atoll = Atoll::start(&[]);
    let mut client = atoll.connect();
    client.run("CREATE ROLE nobody");
    client.run("CREATE TABLE t (a int)");
    let before = client.query("SELECT pg_current_wal_insert_lsn()").value().to_owned();
    let point = client.query("SELECT pg_create_restore_point('here')").value().to_owned();
    let order = format!("SELECT '{before}'::pg_lsn < '{point}'::pg_lsn");
    assert_eq!(client.query(&order).value(), "t");
    let long = client.query("SELECT pg_create_restore_point(repeat('x', 64))");
    assert_eq!(long.sqlstate(), "22023");
    let error = long.error.expect("it is refused");
    assert_eq!(error.field(b'M'), "value too long for restore point (maximum 63 characters)");
    client.run("SET ROLE nobody");
    assert_eq!(client.query("SELECT pg_create_restore_point('x')").sqlstate(), "42501");
    client.run("RESET ROLE");
    client.run("INSERT INTO t VALUES (1)");
    let log = atoll.log();
    assert!(log.contains(&format!("restore point \"here\" created at {point}")), "{log}");
    // Recovery passes over it.
    atoll.kill();
    atoll.restart();
    assert_eq!(atoll.connect().query("SELECT a FROM t").value(), "1");
    atoll.stop();
    atoll.check();
}
