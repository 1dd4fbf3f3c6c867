//! `archive_command`: segments go to the archive in order, once, and stay in the directory until they are there.

use std::path::Path;
use std::time::Duration;
use tests::atoll::Atoll;
use tests::process::{TemporaryDirectory, wait_until};

/// More than the minute that the archiver rests after three failures in a row.
const LIMIT: Duration = Duration::from_secs(150);

fn names(directory: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(directory).expect("the directory is there");
    let names = entries.map(|entry| entry.expect("it can be listed").file_name());
    let mut names: Vec<String> = names
        .map(|name| name.into_string().expect("names are text"))
        .filter(|name| name.len() == 16)
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
    assert_eq!(names(archive.path())[0], first, "the oldest first");
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
