//! A disk that is full, a sync that fails, a background thread that panics: what clients of a whole server are told, how
//! its process ends, and that a restart of the process alone brings back what was answered.
//!
//! The server runs in a process of its own, a child of the test, over the directory's files; what fails is said by files
//! in a directory beside them. A disk without a free byte is a file system of its own.

use server::config::Sources;
use server::log;
use server::postmaster::{Started, environment};
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
        // Between the panic and the end of the process a statement that has not come to its commit may be told why it fails.
        Ok(Some(state)) => {
            assert_eq!(state, "58030");
            Some(())
        }
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

/// How large the disk is: the least that a server with such a log needs, and some fifty megabytes.
const DISK_BYTES: u64 = 192 << 20;

/// What fills a disk.
struct Filling {
    what: &'static str,
    /// What is there before: statements.
    before: &'static [&'static str],
    /// How much is left free then, in bytes.
    left: u64,
    /// What is run until it is refused; a COPY gets `rows` lines.
    again: &'static str,
    rows: usize,
    /// Whether it has to be refused in the end: what needs log only goes on as long as checkpoints give it back.
    refused: bool,
}

const ROWS: &str = "INSERT INTO f SELECT g, repeat('x', 1500) FROM generate_series(1, 3000) g";

impl Filling {
    const fn new(what: &'static str, again: &'static str) -> Filling {
        Filling { what, before: &[ROWS], left: 2 << 20, again, rows: 0, refused: true }
    }
}

const FILLINGS: &[Filling] = &[
    Filling::new(
        "rows at once",
        "INSERT INTO f SELECT m + g, repeat('x', 150) FROM (SELECT max(a) m FROM f) AS f, generate_series(1, 500) g",
    ),
    Filling {
        left: 16 << 20,
        ..Filling::new(
            "an INSERT that is larger than memory",
            "INSERT INTO f SELECT m + g, repeat('x', 1800) FROM (SELECT max(a) m FROM f) AS f, generate_series(1, 40000) g",
        )
    },
    Filling::new(
        "an UPDATE that grows rows",
        "UPDATE f SET b = b || repeat('y', 60) WHERE a % 3 = 0",
    ),
    Filling { rows: 400, ..Filling::new("COPY", "COPY f (b) FROM STDIN") },
    Filling::new("long values", "INSERT INTO f (b) VALUES (repeat('z', 500000))"),
    Filling::new("CREATE INDEX", "CREATE INDEX ON f (substr(b, 1, 900), a)"),
    Filling::new(
        "CREATE INDEX CONCURRENTLY",
        "CREATE INDEX CONCURRENTLY ON f (substr(b, 1, 900), a)",
    ),
    Filling::new(
        "an ALTER that rewrites",
        "ALTER TABLE f ADD c_@ text DEFAULT clock_timestamp()::text",
    ),
    Filling::new("CREATE TABLE AS", "CREATE TEMP TABLE other_@ AS SELECT * FROM f"),
    Filling {
        before: &[ROWS, "SET work_mem = '64kB'"],
        ..Filling::new(
            "a sort",
            "SELECT count(*) FROM (SELECT * FROM f ORDER BY b, a DESC OFFSET 0) s",
        )
    },
    Filling {
        before: &["CREATE SEQUENCE IF NOT EXISTS s CACHE 1"],
        left: 64 << 10,
        refused: false,
        ..Filling::new("a sequence", "SELECT max(nextval('s')) FROM generate_series(1, 300)")
    },
    Filling {
        before: &[],
        left: 512 << 10,
        ..Filling::new("the catalog", "CREATE TEMP TABLE t_@ (a int PRIMARY KEY, b text UNIQUE)")
    },
    Filling {
        before: &[ROWS],
        left: 64 << 10,
        refused: false,
        ..Filling::new("log and checkpoints", "UPDATE f SET b = reverse(b) WHERE a % 50 = 0")
    },
];

/// What gives room back.
const GIVING_BACK: [&[&str]; 3] = [
    &["DELETE FROM f WHERE a % 4 > 0", "VACUUM f", "CHECKPOINT"],
    &["TRUNCATE f", "CHECKPOINT"],
    &["DROP TABLE f", "CHECKPOINT", "CREATE TABLE f (a serial PRIMARY KEY, b text)"],
];

/// Takes what is free on a disk, but for `left` bytes.
struct Filler(std::fs::File);

impl Filler {
    fn on(atoll: &Atoll) -> Filler {
        let path = atoll.data().with_file_name("filler");
        Filler(std::fs::File::create(path).expect("there is a file"))
    }

    fn take(&mut self, atoll: &Atoll, left: u64) {
        let output = std::process::Command::new("df")
            .args(["--output=avail", "-B1"])
            .arg(atoll.data())
            .output()
            .expect("df is a program");
        let text = String::from_utf8(output.stdout).expect("df writes text");
        let free: u64 = text.lines().nth(1).and_then(|n| n.trim().parse().ok()).expect("a number");
        let length = self.0.metadata().expect("it is open").len();
        let zeros = vec![0; free.saturating_sub(left) as usize];
        let written = std::os::unix::fs::FileExt::write_all_at(&self.0, &zeros, length);
        // The server may have been faster.
        drop(written);
    }

    fn give_back(self) {
        self.0.set_len(0).expect("it can be cut");
    }
}

fn state_of(client: &mut Client, filling: &Filling, time: usize) -> Option<String> {
    let sql = filling.again.replace('@', &time.to_string());
    let reply = match filling.rows {
        0 => client.query(&sql),
        rows => client.copy_in(&sql, format!("{}\n", "c".repeat(700)).repeat(rows).as_bytes()),
    };
    reply.error.is_some().then(|| reply.sqlstate().to_owned())
}

/// The disk is full in each kind of statement: it is refused with 53100, the server lives and restarts without a free byte, and
/// what gives room back works and gives it back.
#[test]
fn a_disk_without_a_free_byte_is_survived_by_each_kind_of_statement() {
    let settings = ["shared_buffers=4MB", "max_wal_size=64MB"];
    let Some(mut atoll) = Atoll::start_on_disk(DISK_BYTES, &settings) else {
        eprintln!("skipped: nobody but the administrator may mount a file system");
        return;
    };
    for (number, filling) in FILLINGS.iter().enumerate() {
        let what = filling.what;
        let mut client = atoll.connect();
        client.run("DROP TABLE IF EXISTS f");
        client.run("CREATE TABLE f (a serial PRIMARY KEY, b text)");
        for statement in filling.before {
            client.run(statement);
        }
        client.run("SELECT setval('f_a_seq', 1000000)");
        client.run("CHECKPOINT");
        let mut filler = Filler::on(&atoll);
        filler.take(&atoll, filling.left);
        let mut before = 0;
        let refused = (0..150).find_map(|time| {
            before = count_f(&mut atoll.connect());
            state_of(&mut client, filling, time)
        });
        match refused.as_deref() {
            Some(state) => assert_eq!(state, "53100", "{what}"),
            None => assert!(!filling.refused, "{what}: the disk was never full"),
        }
        filler.take(&atoll, 0);
        let there = count_f(&mut atoll.connect());
        assert!(refused.is_none() || there == before, "{what}: {there} rows, not {before}");
        drop(client);
        atoll.kill();
        filler.take(&atoll, 0);
        atoll.restart();
        let mut client = atoll.connect();
        assert_eq!(count_f(&mut client), there, "{what}");
        for statement in GIVING_BACK[number % GIVING_BACK.len()] {
            let reply = client.query(statement);
            assert!(reply.error.is_none(), "{what}: {statement}: {:?}", reply.error);
        }
        // Ten by ten: a commit sets aside what its rows can take at worst, two pages for each in the table and in each index,
        // and of an index that was not finished all pages may be in use.
        for tens in (0..100).step_by(10) {
            let again = client.query(&format!(
                "INSERT INTO f SELECT -g - {tens}, 'again' FROM generate_series(1, 10) g"
            ));
            let gave = !filling.before.is_empty();
            assert!(!gave || again.error.is_none(), "{what}: {:?}", again.error);
        }
        filler.give_back();
    }
    atoll.stop();
    atoll.check();
}

fn count_f(client: &mut Client) -> u32 {
    client.run("SELECT count(*) FROM f").value().parse().expect("a number")
}
