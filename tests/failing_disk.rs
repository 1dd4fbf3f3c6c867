//! A disk that is full, a sync that fails, a background thread that panics: what clients of a whole server are told, how
//! its process ends, and that a restart of the process alone brings back what was answered.
//!
//! The server runs in a process of its own, a child of the test, over the directory's files; what fails is said by files
//! in a directory beside them.

use server::config::Sources;
use server::log;
use server::server::{Started, environment};
use sql::Environment;
use sql::environment::{Device, File, StorageError};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tests::atoll::{Atoll, to_serve};
use tests::client::Client;
use tests::process::wait_until;

/// The exit status of a server that has halted.
const HALTED: i32 = 70;
const LIMIT: Duration = Duration::from_secs(60);

type Result<T> = std::result::Result<T, StorageError>;

/// Files, and a directory of reasons to fail.
struct Failing {
    device: Arc<dyn Device>,
    trouble: PathBuf,
}

struct FailingFile {
    file: Arc<dyn File>,
    trouble: PathBuf,
}

fn trouble(data: &Path) -> PathBuf {
    data.with_file_name("trouble")
}

fn is_so(trouble: &Path, what: &str) -> bool {
    trouble.join(what).exists()
}

impl Device for Failing {
    fn open(&self, name: &str, create: bool) -> Result<Arc<dyn File>> {
        let file = self.device.open(name, create)?;
        Ok(Arc::new(FailingFile { file, trouble: self.trouble.clone() }))
    }

    fn list(&self, prefix: &str) -> Result<Vec<String>> {
        self.device.list(prefix)
    }

    fn rename(&self, from: &str, to: &str) -> Result<()> {
        self.device.rename(from, to)
    }

    fn remove(&self, name: &str) -> Result<()> {
        self.device.remove(name)
    }

    fn sync_names(&self) -> Result<()> {
        self.device.sync_names()
    }
}

impl File for FailingFile {
    fn read_at(&self, offset: u64, into: &mut [u8]) -> Result<()> {
        self.file.read_at(offset, into)
    }

    fn write_at(&self, offset: u64, bytes: &[u8]) -> Result<()> {
        let cleaner = std::thread::current().name() == Some("cleaner");
        assert!(!cleaner || !is_so(&self.trouble, "panic"), "planted");
        self.file.write_at(offset, bytes)
    }

    fn sync(&self) -> Result<()> {
        if is_so(&self.trouble, "unsynced") {
            return Err(StorageError::Halted("cannot sync: planted".to_owned()));
        }
        self.file.sync()
    }

    fn len(&self) -> Result<u64> {
        self.file.len()
    }

    fn set_len(&self, bytes: u64) -> Result<()> {
        if is_so(&self.trouble, "full") && bytes > self.file.len()? {
            return Err(StorageError::Full("the disk"));
        }
        self.file.set_len(bytes)
    }
}

/// Serves until it is told to stop, if that is what this process is for.
fn serve() -> bool {
    let Some((data, flags)) = to_serve() else { return false };
    let trouble = trouble(&data);
    let sources = Sources { data, file: None, flags, environment: Vec::new() };
    log::begin(&sources.read().expect("the settings are valid"));
    let files = environment(&sources.data).expect("nobody else has the directory");
    let device = Arc::new(Failing { device: Arc::clone(&files.device), trouble });
    let started = Started::start_in(sources, Environment { device, ..files });
    started.expect("it starts").serve().expect("it stops");
    true
}

fn start(test: &'static str, settings: &[&str]) -> Atoll {
    Atoll::start_by(Some(test), &[], settings)
}

fn set(atoll: &Atoll, what: &str, is_so: bool) {
    let path = trouble(&atoll.data()).join(what);
    if is_so {
        std::fs::create_dir_all(trouble(&atoll.data())).expect("the directory is writable");
        std::fs::write(path, "").expect("the directory is writable");
    } else {
        std::fs::remove_file(path).expect("it was so");
    }
}

fn insert(client: &mut Client, n: u32) -> std::io::Result<Option<String>> {
    client.start(&format!("INSERT INTO t VALUES ({n}, repeat('x', 900))"));
    let replies = client.replies()?;
    let reply = replies.into_iter().next_back().unwrap_or_default();
    Ok(reply.error.is_some().then(|| reply.sqlstate().to_owned()))
}

fn count(client: &mut Client) -> u32 {
    client.run("SELECT count(*) FROM t").value().parse().expect("a number")
}

#[test]
fn a_full_disk_refuses_writers_until_there_is_room() {
    if serve() {
        return;
    }
    let name = "a_full_disk_refuses_writers_until_there_is_room";
    let mut atoll = start(name, &["shared_buffers=2MB", "max_wal_size=64MB"]);
    let (mut writer, mut reader) = (atoll.connect(), atoll.connect());
    writer.run("CREATE TABLE t (a int PRIMARY KEY, b text)");
    assert_eq!(insert(&mut writer, 0).expect("an answer"), None);
    set(&atoll, "full", true);
    let (mut inserted, mut refused) = (1, 0);
    for n in 1..100_000 {
        match insert(&mut writer, n).expect("an answer") {
            None => inserted += 1,
            Some(state) => {
                assert_eq!(state, "53100");
                refused += 1;
                if refused == 3 {
                    break;
                }
            }
        }
    }
    assert_eq!(refused, 3, "the disk was never full");
    // Readers go on, new ones too, and find every row whose insert was answered and no other.
    assert_eq!(count(&mut reader), inserted);
    assert_eq!(count(&mut atoll.connect()), inserted);
    set(&atoll, "full", false);
    for n in 200_000..200_100 {
        assert_eq!(insert(&mut writer, n).expect("an answer"), None, "there is room again");
    }
    assert_eq!(count(&mut reader), inserted + 100);
    drop((writer, reader));
    atoll.kill();
    atoll.restart();
    assert_eq!(count(&mut atoll.connect()), inserted + 100);
    atoll.stop();
    atoll.check();
}

#[test]
fn a_failed_sync_ends_the_process_and_a_restart_brings_back_what_was_answered() {
    if serve() {
        return;
    }
    let name = "a_failed_sync_ends_the_process_and_a_restart_brings_back_what_was_answered";
    let mut atoll = start(name, &[]);
    let mut client = atoll.connect();
    client.run("CREATE TABLE t (a int PRIMARY KEY, b text)");
    for n in 0..50 {
        assert_eq!(insert(&mut client, n).expect("an answer"), None);
    }
    set(&atoll, "unsynced", true);
    let told = insert(&mut client, 50);
    assert!(told.is_err(), "nobody is told of a commit whose sync failed: {told:?}");
    assert_eq!(atoll.wait_for_end(), Some(HALTED));
    assert!(atoll.log().contains("PANIC:  cannot sync: planted"), "{}", atoll.log());
    set(&atoll, "unsynced", false);
    atoll.restart();
    let mut client = atoll.connect();
    let there = count(&mut client);
    assert!((50..=51).contains(&there), "{there} rows");
    assert_eq!(client.run("SELECT count(*) FROM t WHERE a < 50").value(), "50");
    assert_eq!(insert(&mut client, 51).expect("an answer"), None);
    atoll.stop();
    atoll.check();
}

#[test]
fn an_idle_server_whose_background_thread_panics_ends() {
    if serve() {
        return;
    }
    let name = "an_idle_server_whose_background_thread_panics_ends";
    let mut atoll = start(name, &["shared_buffers=1MB"]);
    let mut client = atoll.connect();
    client.run("CREATE TABLE t (a int PRIMARY KEY, b text)");
    set(&atoll, "panic", true);
    let mut answered = 0;
    // Until the cleaner has something to write.
    wait_until("the cleaner", LIMIT, || match insert(&mut client, answered) {
        Ok(None) => {
            answered += 1;
            None
        }
        Ok(Some(state)) => panic!("a client is told {state}"),
        Err(_) => Some(()),
    });
    assert_eq!(atoll.wait_for_end(), Some(HALTED));
    assert!(atoll.log().contains("PANIC:  the cleaner panicked: planted"), "{}", atoll.log());
    set(&atoll, "panic", false);
    atoll.restart();
    let there = count(&mut atoll.connect());
    assert!((answered..=answered + 1).contains(&there), "{there} rows of {answered}");
    atoll.stop();
    atoll.check();
}
