//! Histories: sessions append to lists and read them, by key and by predicate, and a checker looks for cycles of
//! dependencies. What a level permits is found there, or the checker would see nothing; what it forbids is not, also
//! where the server dies in between.
//!
//! The checker, and which papers it is from: `harness/history.rs`.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};
use tests::atoll::Atoll;
use tests::client::Client;
use tests::history::Outcome::{Aborted, Committed, Unknown};
use tests::history::{Anomaly, Element, Key, Operation, Outcome, Transaction, anomalies};

/// Sessions.
const CLIENTS: u64 = 6;
/// Lists in a group, and groups that are in use at a time.
const GROUP: u64 = 3;
const GROUPS: u64 = 3;
/// After so many operations the lists in use are others: new ones are read before they are there.
const GENERATION: u64 = 150;
/// How long a level is looked at, and a life of the server.
const SPAN: Duration = Duration::from_secs(6);
const LIFE: Duration = Duration::from_millis(1500);
/// How often the server dies.
const DEATHS: usize = 4;

struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        // Xorshift64*: Vigna, 2016.
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33) % bound
    }
}

/// What sessions share.
struct Shared {
    operations: AtomicU64,
    elements: AtomicU64,
    stop: AtomicBool,
    history: Mutex<Vec<Transaction>>,
}

impl Shared {
    fn new() -> Shared {
        Shared {
            operations: AtomicU64::new(0),
            elements: AtomicU64::new(1),
            stop: AtomicBool::new(false),
            history: Mutex::default(),
        }
    }
}

fn set_up(client: &mut Client) {
    client.run("CREATE TABLE list (key int PRIMARY KEY, grp int NOT NULL, elements text NOT NULL)");
    client.run("CREATE INDEX list_grp ON list (grp)");
}

fn parse(elements: Option<&str>) -> Vec<Element> {
    let elements = elements.unwrap_or_default().split(',').filter(|text| !text.is_empty());
    elements.map(|text| text.parse().expect("a number")).collect()
}

/// Why a statement brought nothing.
enum Failed {
    /// It was refused; the transaction is to be rolled back.
    Refused,
    /// The connection is gone.
    Gone,
}

type Rows = Vec<Vec<Option<String>>>;

fn run(client: &mut Client, sql: &str) -> Result<Rows, Failed> {
    let mut body = sql.as_bytes().to_vec();
    body.push(0);
    client.send(b'Q', &body).map_err(|_| Failed::Gone)?;
    let reply = client.replies().map_err(|_| Failed::Gone)?.pop().ok_or(Failed::Gone)?;
    match reply.error {
        None => Ok(reply.rows),
        Some(error) if matches!(error.field(b'C'), "40001" | "40P01") => Err(Failed::Refused),
        // The server goes down; whether what it was asked was done is not known.
        Some(error) if error.field(b'C') == "57P01" => Err(Failed::Gone),
        Some(error) => panic!("{sql}: {error:?}"),
    }
}

/// One operation of a transaction.
fn operate(
    client: &mut Client,
    shared: &Shared,
    random: &mut Random,
    done: &mut Vec<Operation>,
) -> Result<(), Failed> {
    let generation = shared.operations.fetch_add(1, Ordering::Relaxed) / GENERATION;
    let group = generation * GROUPS + random.below(GROUPS);
    let key = group * GROUP + random.below(GROUP);
    match random.below(10) {
        0..4 => {
            let element = shared.elements.fetch_add(1, Ordering::Relaxed);
            // Noted first: it may be there although nobody is told.
            done.push(Operation::Append(key as Key, element));
            run(
                client,
                &format!(
                    "INSERT INTO list VALUES ({key}, {group}, '{element}') \
                     ON CONFLICT (key) DO UPDATE SET elements = list.elements || ',{element}'"
                ),
            )?;
        }
        4..7 => {
            let lock = ["", "", " FOR SHARE", " FOR UPDATE"][random.below(4) as usize];
            let rows = run(client, &format!("SELECT elements FROM list WHERE key = {key}{lock}"))?;
            let elements = rows.first().and_then(|row| row[0].as_deref());
            done.push(Operation::Read(key as Key, parse(elements)));
        }
        _ => {
            let rows = run(client, &format!("SELECT key, elements FROM list WHERE grp = {group}"))?;
            let mut lists: BTreeMap<Key, Vec<Element>> =
                (group * GROUP..(group + 1) * GROUP).map(|key| (key as Key, Vec::new())).collect();
            for row in rows {
                let key = row[0].as_deref().expect("a key").parse().expect("a number");
                lists.insert(key, parse(row[1].as_deref()));
            }
            done.push(Operation::ReadGroup(lists));
        }
    }
    Ok(())
}

/// Runs one transaction; false if the connection is gone.
fn transact(client: &mut Client, shared: &Shared, random: &mut Random, level: &str) -> bool {
    let mut operations = Vec::new();
    let mut body = || {
        run(client, &format!("BEGIN ISOLATION LEVEL {level}"))?;
        for _ in 0..1 + random.below(4) {
            operate(client, shared, random, &mut operations)?;
        }
        Ok(())
    };
    let (outcome, goes_on) = match body() {
        Ok(()) => match run(client, "COMMIT") {
            Ok(_) => (Committed, true),
            Err(Failed::Refused) => (Aborted, true),
            Err(Failed::Gone) => (Unknown, false),
        },
        Err(Failed::Refused) => (Aborted, run(client, "ROLLBACK").is_ok()),
        Err(Failed::Gone) => (Aborted, false),
    };
    let transaction = Transaction { operations, outcome };
    shared.history.lock().expect("nobody panics").push(transaction);
    goes_on
}

/// What decides what sessions do: another one in `ATOLL_HISTORY_SEED` for runs beside those of every day.
fn seed() -> u64 {
    let seed = std::env::var("ATOLL_HISTORY_SEED").ok().and_then(|seed| seed.parse().ok());
    seed.unwrap_or(7)
}

/// Has sessions work for a while.
fn work(port: u16, shared: &Shared, level: &str, seed: u64, then: impl FnOnce()) {
    std::thread::scope(|scope| {
        for client in 0..CLIENTS {
            scope.spawn(move || {
                let mut random = Random((seed * CLIENTS + client) * 2 + 1);
                let Ok(mut client) = Client::try_connect(port, "postgres", "postgres") else {
                    return;
                };
                let _ = run(&mut client, "SET deadlock_timeout = '10ms'");
                let mut goes_on = true;
                while goes_on && !shared.stop.load(Ordering::Relaxed) {
                    goes_on = transact(&mut client, shared, &mut random, level);
                }
            });
        }
        then();
    });
}

fn lists(client: &mut Client) -> BTreeMap<Key, Vec<Element>> {
    let rows = client.run("SELECT key, elements FROM list").rows;
    let list = |row: &Vec<Option<String>>| {
        let key = row[0].as_deref().expect("a key").parse().expect("a number");
        (key, parse(row[1].as_deref()))
    };
    rows.iter().map(list).collect()
}

/// The anomalies of a run under one scheme at one level, with timestamps handed out in one way, and how many transactions
/// committed.
fn look(scheme: &str, level: &str, allocator: &str) -> (BTreeMap<Anomaly, String>, usize) {
    let allocator = format!("atoll.timestamp_allocator={allocator}");
    let atoll = Atoll::start_with(&["--concurrency-control", scheme], &[&allocator]);
    let mut client = atoll.connect();
    set_up(&mut client);
    let shared = Shared::new();
    work(atoll.port(), &shared, level, seed(), || {
        let end = Instant::now() + SPAN;
        while Instant::now() < end {
            std::thread::sleep(Duration::from_millis(50));
        }
        shared.stop.store(true, Ordering::Relaxed);
    });
    let history = shared.history.into_inner().expect("nobody panics");
    let committed = history.iter().filter(|one| one.outcome == Committed).count();
    (anomalies(&history, &lists(&mut client)), committed)
}

/// Demands that some of `permitted` is found and nothing else.
fn demand(level: &str, permitted: &[Anomaly]) {
    let (found, committed) = look("mvcc", level, "atomic");
    assert!(committed > 100, "only {committed} committed");
    let forbidden: Vec<_> = found.iter().filter(|(one, _)| !permitted.contains(one)).collect();
    assert!(forbidden.is_empty(), "{level}: {forbidden:?}");
    assert!(permitted.is_empty() || !found.is_empty(), "{level}: nothing of {committed} is found");
}

#[test]
fn read_committed_permits_read_skew_and_write_skew() {
    demand("READ COMMITTED", &[Anomaly::GSingle, Anomaly::G2Item, Anomaly::G2]);
}

#[test]
fn repeatable_read_permits_write_skew_and_phantoms_of_it() {
    demand("REPEATABLE READ", &[Anomaly::G2Item, Anomaly::G2]);
}

#[test]
fn serializable_permits_nothing() {
    demand("SERIALIZABLE", &[]);
}

/// Under every scheme but the default one every level is serializable, however timestamps are handed out.
#[test]
fn the_other_schemes_permit_nothing_at_any_level() {
    for (scheme, level, allocator) in [
        ("ssi", "READ COMMITTED", "atomic"),
        ("occ", "READ COMMITTED", "atomic"),
        ("2pl_detect", "READ COMMITTED", "atomic"),
        ("2pl_no_wait", "REPEATABLE READ", "atomic"),
        ("2pl_wait_die", "READ COMMITTED", "batched"),
        ("2pl_wait_die", "READ COMMITTED", "clock"),
        ("timestamp", "READ COMMITTED", "mutex"),
        ("timestamp", "READ COMMITTED", "atomic"),
        ("timestamp", "READ COMMITTED", "batched"),
        ("timestamp", "READ COMMITTED", "clock"),
        ("mvto", "REPEATABLE READ", "mutex"),
        ("mvto", "REPEATABLE READ", "atomic"),
        ("mvto", "REPEATABLE READ", "batched"),
        ("mvto", "REPEATABLE READ", "clock"),
        ("hstore", "READ COMMITTED", "atomic"),
        ("hstore", "REPEATABLE READ", "batched"),
        ("hstore", "READ COMMITTED", "clock"),
    ] {
        let (found, committed) = look(scheme, level, allocator);
        assert!(committed > 100, "{scheme}, {allocator}: only {committed} committed");
        assert!(found.is_empty(), "{scheme}, {allocator}: {found:?}");
    }
}

/// kill -9, again and again on one directory: what was acknowledged is there, and the whole history is serializable.
#[test]
fn serializable_permits_nothing_across_process_death() {
    permits_nothing_across_process_death("mvcc", "SERIALIZABLE");
}

/// The same under every scheme, at a level that is less by name.
#[test]
fn snapshot_isolation_of_all_permits_nothing_across_process_death() {
    permits_nothing_across_process_death("ssi", "READ COMMITTED");
}

#[test]
fn validation_permits_nothing_across_process_death() {
    permits_nothing_across_process_death("occ", "REPEATABLE READ");
}

#[test]
fn two_phase_locking_permits_nothing_across_process_death() {
    for scheme in ["2pl_detect", "2pl_no_wait", "2pl_wait_die"] {
        permits_nothing_across_process_death(scheme, "READ COMMITTED");
    }
}

#[test]
fn timestamp_ordering_permits_nothing_across_process_death() {
    for scheme in ["timestamp", "mvto"] {
        permits_nothing_across_process_death(scheme, "READ COMMITTED");
    }
}

#[test]
fn partitions_permit_nothing_across_process_death() {
    permits_nothing_across_process_death("hstore", "READ COMMITTED");
}

fn permits_nothing_across_process_death(scheme: &str, level: &str) {
    let mut atoll = Atoll::start_with(&["--concurrency-control", scheme], &[]);
    set_up(&mut atoll.connect());
    let shared = Shared::new();
    for life in 0..DEATHS {
        let port = atoll.port();
        work(port, &shared, level, 93 + seed() + life as u64, || {
            std::thread::sleep(LIFE);
            atoll.kill();
        });
        atoll.restart();
    }
    let last = lists(&mut atoll.connect());
    let history = shared.history.into_inner().expect("nobody panics");
    let committed = history.iter().filter(|one| one.outcome == Committed).count();
    assert!(committed > 50, "{scheme}: only {committed} committed");
    let found = anomalies(&history, &last);
    assert!(found.is_empty(), "{scheme}: {found:?}");
    atoll.stop();
    atoll.check();
}

// --- what the checker sees -----------------------------------------------------------------------------------------

fn transaction(operations: &[Operation], outcome: Outcome) -> Transaction {
    Transaction { operations: operations.to_vec(), outcome }
}

fn found(history: &[Transaction], last: &[(Key, &[Element])]) -> BTreeSet<Anomaly> {
    let last = last.iter().map(|(key, elements)| (*key, elements.to_vec())).collect();
    anomalies(history, &last).into_keys().collect()
}

fn append(key: Key, element: Element) -> Operation {
    Operation::Append(key, element)
}

fn read(key: Key, elements: &[Element]) -> Operation {
    Operation::Read(key, elements.to_vec())
}

fn group(lists: &[(Key, &[Element])]) -> Operation {
    Operation::ReadGroup(lists.iter().map(|(key, list)| (*key, list.to_vec())).collect())
}

fn committed(transactions: &[&[Operation]]) -> Vec<Transaction> {
    transactions.iter().map(|operations| transaction(operations, Committed)).collect()
}

#[test]
fn the_checker_names_each_anomaly() {
    // Writes in different orders.
    let history = committed(&[&[append(1, 1), append(2, 2)], &[append(1, 3), append(2, 4)]]);
    assert!(found(&history, &[(1, &[1, 3]), (2, &[4, 2])]).contains(&Anomaly::G0));
    // What was rolled back was seen, and was kept.
    let mut history = committed(&[&[read(1, &[1])]]);
    history.push(transaction(&[append(1, 1)], Aborted));
    assert_eq!(found(&history, &[]), [Anomaly::G1a].into());
    assert_eq!(found(&history[1..], &[(1, &[1])]), [Anomaly::G1a].into());
    // A version that its writer went on with.
    let history = committed(&[&[append(1, 1), append(1, 2)], &[read(1, &[1])]]);
    assert!(found(&history, &[(1, &[1, 2])]).contains(&Anomaly::G1b));
    // Each has read the other's write.
    let history = committed(&[&[append(1, 1), read(2, &[2])], &[append(2, 2), read(1, &[1])]]);
    assert!(found(&history, &[(1, &[1]), (2, &[2])]).contains(&Anomaly::G1c));
    // Read skew; a lost update.
    let history = committed(&[&[append(1, 1), append(2, 2)], &[read(1, &[]), read(2, &[2])]]);
    assert_eq!(found(&history, &[(1, &[1]), (2, &[2])]), [Anomaly::GSingle].into());
    let history = committed(&[&[read(1, &[]), append(1, 1)], &[read(1, &[]), append(1, 2)]]);
    assert_eq!(found(&history, &[(1, &[1, 2])]), [Anomaly::GSingle].into());
    // Write skew, over keys and over a predicate.
    let history = committed(&[&[read(1, &[]), append(2, 2)], &[read(2, &[]), append(1, 1)]]);
    assert_eq!(found(&history, &[(1, &[1]), (2, &[2])]), [Anomaly::G2Item].into());
    let both: &[(Key, &[Element])] = &[(1, &[]), (2, &[])];
    let history = committed(&[&[group(both), append(2, 2)], &[group(both), append(1, 1)]]);
    assert_eq!(found(&history, &[(1, &[1]), (2, &[2])]), [Anomaly::G2].into());
    // What was acknowledged is lost; a read of what never was.
    let history = committed(&[&[append(1, 1)], &[append(1, 2)]]);
    assert_eq!(found(&history, &[(1, &[2])]), [Anomaly::Broken].into());
    let history = committed(&[&[append(1, 1)], &[append(1, 2)], &[read(1, &[2, 1])]]);
    assert_eq!(found(&history, &[(1, &[1, 2])]), [Anomaly::Broken].into());
}

#[test]
fn the_checker_finds_nothing_where_nothing_is() {
    let mut history = committed(&[
        &[append(1, 1), read(1, &[1]), append(2, 2)],
        &[read(2, &[2]), append(1, 3), append(1, 4), read(1, &[1, 3, 4])],
        &[group(&[(1, &[1, 3, 4]), (2, &[2]), (3, &[])])],
    ]);
    // Nobody knows whether it committed, and nobody has seen that it did; of another somebody has.
    history.push(transaction(&[read(1, &[]), append(2, 9)], Unknown));
    history.push(transaction(&[read(2, &[2]), append(2, 5)], Unknown));
    assert_eq!(found(&history, &[(1, &[1, 3, 4]), (2, &[2, 5])]), BTreeSet::new());
}
