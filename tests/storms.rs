//! Storms: sessions that meet on the same rows and the same definitions, by seed, with kill -9 in the middle. What was
//! acknowledged is there, once; nothing else is, but for what nobody was answered; `atoll check` finds nothing.
//!
//! A minute of it by default. `ATOLL_STORM_SECONDS` lets it go on for as long as somebody wants to wait, from seed to seed;
//! `ATOLL_STORM_SEED` says where it begins. A failure names its seed.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tests::atoll::Atoll;
use tests::client::{Client, Reply};

/// How long one life of the server lasts.
const LIFE: Duration = Duration::from_millis(2500);
/// How often it dies in one storm.
const LIVES: u32 = 3;

/// A small generator of its own, so that a run can be told by its seed.
struct Random(u64);

impl Random {
    fn new(seed: u64) -> Random {
        Random((seed + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15))
    }

    fn below(&mut self, bound: u64) -> u64 {
        // Xorshift64*: Vigna, 2016.
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33) % bound
    }
}

/// How something that was asked for ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    Done,
    /// An error said that nothing has happened.
    Refused,
    /// The connection broke before the answer.
    Unknown,
}

/// What a session may be told when others are at the same rows and definitions: to try again.
const COLLISIONS: [&str; 4] = ["40001", "40P01", "55P03", "57014"];

/// A connection that breaks when the server dies.
struct Session<'s> {
    client: Client,
    stop: &'s AtomicBool,
    seed: u64,
}

impl Session<'_> {
    /// The replies; none if the connection broke. Errors but collisions, and those in `allowed`, end the test.
    fn say(&mut self, sql: &str, allowed: &[&str]) -> Option<Vec<Reply>> {
        let mut body = sql.as_bytes().to_vec();
        body.push(0);
        self.client.send(b'Q', &body).ok()?;
        let replies = self.client.replies().ok()?;
        for reply in &replies {
            let state = reply.sqlstate();
            let dies = state.starts_with("57P");
            let known = COLLISIONS.contains(&state) || allowed.contains(&state);
            assert!(
                reply.error.is_none() || known || dies,
                "seed {}: {sql}: {:?}",
                self.seed,
                reply.error
            );
            if dies {
                return None;
            }
        }
        Some(replies)
    }

    /// Runs it as a whole.
    fn run(&mut self, sql: &str, allowed: &[&str]) -> (End, Option<Reply>) {
        match self.say(sql, allowed) {
            None => (End::Unknown, None),
            Some(mut replies) => {
                let failed = replies.iter().any(|reply| reply.error.is_some());
                if failed {
                    // A block that was begun is over.
                    let _ = self.say("ROLLBACK", &[]);
                }
                (if failed { End::Refused } else { End::Done }, replies.pop())
            }
        }
    }

    fn value(&mut self, sql: &str) -> Result<i64, End> {
        match self.run(sql, &[]) {
            (End::Done, Some(reply)) => Ok(reply.value().parse().expect("a number")),
            (end, _) => Err(end),
        }
    }

    fn goes_on(&self) -> bool {
        !self.stop.load(Ordering::Relaxed)
    }
}

/// What was asked for, by what it adds to: how often that was acknowledged, and how often nobody knows.
#[derive(Default)]
struct Ledger(Mutex<BTreeMap<String, (i64, i64)>>);

impl Ledger {
    fn note(&self, what: &str, end: End) {
        let mut all = self.0.lock().expect("nobody panics with it");
        let entry = all.entry(what.to_owned()).or_default();
        match end {
            End::Done => entry.0 += 1,
            End::Unknown => entry.1 += 1,
            End::Refused => {}
        }
    }

    fn check(&self, what: &str, there: i64, seed: u64) {
        let (done, unknown) =
            self.0.lock().expect("nobody panics with it").get(what).copied().unwrap_or_default();
        assert!(
            (done..=done + unknown).contains(&there),
            "seed {seed}: {what} is {there}, of {done} acknowledged and {unknown} unknown"
        );
    }
}

const TABLES: [&str; 9] = [
    "CREATE TABLE counter (id int PRIMARY KEY, n bigint NOT NULL, long text, x int)",
    "INSERT INTO counter SELECT g, 0, repeat('l', 3000) FROM generate_series(1, 4) g",
    "CREATE INDEX counter_n ON counter (n)",
    "CREATE TABLE job (id serial PRIMARY KEY, state int NOT NULL DEFAULT 0, load text)",
    "CREATE INDEX job_open ON job (id) WHERE state = 0",
    "CREATE TABLE done (job int PRIMARY KEY, by int)",
    "CREATE TABLE held (id int PRIMARY KEY, n bigint NOT NULL)",
    "INSERT INTO held SELECT g, 0 FROM generate_series(1, 2) g",
    "CREATE TABLE once (k int PRIMARY KEY, n bigint NOT NULL, UNIQUE (n, k))",
];

/// Adds one to what a mutex holds, by way of the client: a lost update shows if anybody was given the mutex too early.
fn by_mutex(session: &mut Session<'_>, take: &str, id: u64) -> End {
    let read = format!("BEGIN; {take}; SELECT n FROM held WHERE id = {id}");
    let there = match session.value(&read) {
        Ok(there) => there,
        // Nothing has been committed.
        Err(_) => return End::Refused,
    };
    session.run(&format!("UPDATE held SET n = {} WHERE id = {id}; COMMIT", there + 1), &[]).0
}

fn change_rows(
    session: &mut Session<'_>,
    me: u64,
    number: &AtomicU64,
    ledger: &Ledger,
    dice: &mut Random,
) {
    let id = 1 + dice.below(4);
    match dice.below(10) {
        0 | 1 => {
            // Values in the row, beside it, and beside it in several pieces.
            let size = [10, 1500, 3000, 20_000][dice.below(4) as usize];
            let sql = format!(
                "UPDATE counter SET n = n + 1, long = repeat('{}', {size}) WHERE id = {id}",
                char::from(b'a' + me as u8)
            );
            ledger.note(&format!("counter {id}"), session.run(&sql, &[]).0);
        }
        2 => {
            let sql = format!("UPDATE counter SET n = n + 1 WHERE id = {id} AND length(long) > 5");
            ledger.note(&format!("counter {id}"), session.run(&sql, &[]).0);
        }
        3 => {
            let sql = "INSERT INTO job (load) SELECT repeat('j', 100 * (g % 40)) FROM generate_series(1, 5) g";
            ledger.note("jobs", session.run(sql, &[]).0);
        }
        4 | 5 => {
            let sql = format!(
                "BEGIN; WITH j AS (SELECT id FROM job WHERE state = 0 ORDER BY id LIMIT 2 FOR UPDATE SKIP LOCKED), \
                 u AS (UPDATE job SET state = 1, load = load || 'x' FROM j WHERE job.id = j.id RETURNING job.id) \
                 INSERT INTO done SELECT id, {me} FROM u; COMMIT"
            );
            session.run(&sql, &[]);
        }
        6 => {
            let end = by_mutex(session, "SELECT pg_advisory_xact_lock(1)", 1);
            ledger.note("held 1", end);
        }
        7 => {
            let end = by_mutex(session, "SELECT * FROM counter WHERE id = 1 FOR UPDATE", 2);
            ledger.note("held 2", end);
        }
        8 => {
            let k = dice.below(20);
            let sql = format!(
                "INSERT INTO once VALUES ({k}, 1) ON CONFLICT (k) DO UPDATE SET n = once.n + 1"
            );
            ledger.note("once", session.run(&sql, &[]).0);
        }
        _ => {
            let name = format!("p{}", number.fetch_add(1, Ordering::Relaxed));
            let sql = format!(
                "BEGIN; UPDATE counter SET n = n + 1 WHERE id = {id}; PREPARE TRANSACTION '{name}'"
            );
            let end = match session.run(&sql, &[]).0 {
                End::Done if dice.below(4) == 0 => {
                    match session.run(&format!("ROLLBACK PREPARED '{name}'"), &[]).0 {
                        End::Done => End::Refused,
                        _ => End::Unknown,
                    }
                }
                End::Done => session.run(&format!("COMMIT PREPARED '{name}'"), &[]).0,
                end => end,
            };
            ledger.note(&format!("counter {id}"), end);
        }
    }
}

/// What is done to the tables meanwhile, and which errors are due to another that does the same.
const MEANWHILE: [(&str, &[&str]); 12] = [
    ("CREATE INDEX extra ON counter (x, n)", &["42P07"]),
    ("DROP INDEX extra", &["42704"]),
    ("CREATE INDEX CONCURRENTLY extra_job ON job (state, id)", &["42P07"]),
    ("DROP INDEX extra_job", &["42704"]),
    ("REINDEX TABLE job", &[]),
    ("ALTER TABLE counter ADD c int DEFAULT 5", &["42701"]),
    ("ALTER TABLE counter DROP c", &["42703"]),
    ("ALTER TABLE job ADD CONSTRAINT state CHECK (state < 5)", &["42710"]),
    ("ALTER TABLE job DROP CONSTRAINT state", &["42704"]),
    ("VACUUM", &[]),
    ("ANALYZE", &[]),
    ("CHECKPOINT", &[]),
];

fn storm_of_rows(seed: u64) {
    let mut dice = Random::new(seed);
    let sessions = 2 + dice.below(6);
    // Small, so that values and write sets spill and pages go.
    let settings = [
        "shared_buffers=1MB",
        "max_prepared_transactions=50",
        "deadlock_timeout=50ms",
        "max_wal_size=64MB",
    ];
    let mut atoll = Atoll::start(&settings);
    let mut client = atoll.connect();
    TABLES.iter().for_each(|sql| drop(client.run(sql)));
    drop(client);
    let (ledger, number) = (Ledger::default(), AtomicU64::new(0));
    for life in 0..LIVES {
        let stop = AtomicBool::new(false);
        let port = atoll.port();
        std::thread::scope(|scope| {
            for me in 0..=sessions {
                let (stop, ledger, number) = (&stop, &ledger, &number);
                let mut dice = Random::new(seed * 1000 + u64::from(life) * 100 + me);
                scope.spawn(move || {
                    let client = Client::connect(port, "postgres", "postgres");
                    let mut session = Session { client, stop, seed };
                    while session.goes_on() {
                        if me < sessions {
                            change_rows(&mut session, me, number, ledger, &mut dice);
                        } else {
                            let at = dice.below(MEANWHILE.len() as u64) as usize;
                            session.run(MEANWHILE[at].0, MEANWHILE[at].1);
                            std::thread::sleep(Duration::from_millis(dice.below(100)));
                        }
                        if session.client.send(b'S', &[]).is_err()
                            || session.client.replies().is_err()
                        {
                            return;
                        }
                    }
                });
            }
            std::thread::sleep(LIFE);
            if life + 1 < LIVES {
                atoll.kill();
            }
            stop.store(true, Ordering::Relaxed);
        });
        if life + 1 < LIVES {
            atoll.restart();
        }
        let mut client = atoll.connect();
        for row in client.run("SELECT gid FROM pg_prepared_xacts").rows {
            let name = row[0].clone().expect("it has a name");
            let how = if dice.below(2) == 0 { "COMMIT" } else { "ROLLBACK" };
            client.run(&format!("{how} PREPARED '{name}'"));
        }
        let mut number = |sql: &str| client.run(sql).value().parse::<i64>().expect("a number");
        for id in 1..=4 {
            let there = number(&format!("SELECT n FROM counter WHERE id = {id}"));
            ledger.check(&format!("counter {id}"), there, seed);
        }
        for id in 1..=2 {
            let there = number(&format!("SELECT n FROM held WHERE id = {id}"));
            ledger.check(&format!("held {id}"), there, seed);
        }
        ledger.check("once", number("SELECT coalesce(sum(n), 0) FROM once"), seed);
        ledger.check("jobs", number("SELECT count(*) / 5 FROM job"), seed);
        let torn = number(
            "SELECT count(*) FROM job FULL JOIN done ON job.id = done.job WHERE (state = 1) IS DISTINCT FROM (job IS NOT NULL)",
        );
        assert_eq!(torn, 0, "seed {seed}: jobs that are done in one table and not in the other");
        let lengths = number("SELECT count(*) FROM counter WHERE length(long) < 10");
        assert_eq!(lengths, 0, "seed {seed}: a long value is not whole");
    }
    atoll.stop();
    atoll.check();
}

/// What one session does to the table that all share, and how to see whether it is there. `@` is the session.
const DEFINITIONS: [(&str, &str, &str); 9] = [
    (
        "CREATE INDEX i@ ON shared (a, b)",
        "DROP INDEX i@",
        "SELECT count(*) FROM pg_index WHERE indexrelid = to_regclass('i@')",
    ),
    (
        "CREATE UNIQUE INDEX u@ ON shared (a)",
        "DROP INDEX u@",
        "SELECT count(*) FROM pg_index WHERE indexrelid = to_regclass('u@')",
    ),
    (
        "ALTER TABLE shared ADD c@ int DEFAULT 7",
        "ALTER TABLE shared DROP c@",
        "SELECT count(*) FROM pg_attribute WHERE attrelid = 'shared'::regclass AND attname = 'c@'",
    ),
    (
        "ALTER TABLE shared ADD CONSTRAINT k@ CHECK (a > -1)",
        "ALTER TABLE shared DROP CONSTRAINT k@",
        "SELECT count(*) FROM pg_constraint WHERE conname = 'k@'",
    ),
    (
        "ALTER TABLE shared ADD CONSTRAINT q@ UNIQUE (a, b)",
        "ALTER TABLE shared DROP CONSTRAINT q@",
        "SELECT count(*) FROM pg_constraint WHERE conname = 'q@'",
    ),
    (
        "CREATE VIEW v@ AS SELECT a, b FROM shared",
        "DROP VIEW v@",
        "SELECT count(*) FROM pg_class WHERE relname = 'v@'",
    ),
    (
        "GRANT SELECT ON shared TO r@",
        "REVOKE SELECT ON shared FROM r@",
        "SELECT has_table_privilege('r@', 'shared', 'SELECT')::int",
    ),
    (
        "COMMENT ON COLUMN shared.o@ IS 'a'",
        "COMMENT ON COLUMN shared.o@ IS NULL",
        "SELECT count(*) FROM pg_description d JOIN pg_attribute t ON t.attrelid = d.objoid AND t.attnum = d.objsubid \
         WHERE d.objoid = 'shared'::regclass AND t.attname = 'o@'",
    ),
    (
        "ALTER TABLE shared ALTER o@ SET DEFAULT 3",
        "ALTER TABLE shared ALTER o@ DROP DEFAULT",
        "SELECT atthasdef::int FROM pg_attribute WHERE attrelid = 'shared'::regclass AND attname = 'o@'",
    ),
];

/// What is there of each session's definitions: none where nobody knows.
type Known = Vec<[Option<bool>; DEFINITIONS.len()]>;

fn change_definitions(
    session: &mut Session<'_>,
    me: usize,
    known: &mut [Option<bool>],
    dice: &mut Random,
) {
    let at = dice.below(DEFINITIONS.len() as u64) as usize;
    // After a death it is first seen what there is.
    let Some(is_there) = known[at] else { return };
    let (make, undo, _) = DEFINITIONS[at];
    let sql = if is_there { undo } else { make }.replace('@', &me.to_string());
    let rolls_back = dice.below(5) == 0;
    let sql = match dice.below(3) {
        _ if rolls_back => format!("BEGIN; {sql}; ROLLBACK"),
        0 => format!("BEGIN; SELECT count(*) FROM shared; {sql}; COMMIT"),
        _ => sql,
    };
    known[at] = match session.run(&sql, &[]).0 {
        End::Unknown if !rolls_back => None,
        End::Done if !rolls_back => Some(!is_there),
        _ => Some(is_there),
    };
}

fn storm_of_definitions(seed: u64) {
    let mut dice = Random::new(seed);
    let sessions = 2 + dice.below(6) as usize;
    let mut atoll = Atoll::start(&["deadlock_timeout=50ms"]);
    let mut client = atoll.connect();
    client.run("CREATE TABLE shared (a int PRIMARY KEY, b text)");
    client.run("INSERT INTO shared SELECT g, 'b' || g FROM generate_series(1, 200) g");
    for me in 0..sessions {
        client.run(&format!("CREATE ROLE r{me}"));
        client.run(&format!("ALTER TABLE shared ADD o{me} int"));
    }
    drop(client);
    let known: Arc<Mutex<Known>> =
        Arc::new(Mutex::new(vec![[Some(false); DEFINITIONS.len()]; sessions]));
    for life in 0..LIVES {
        let stop = AtomicBool::new(false);
        let port = atoll.port();
        std::thread::scope(|scope| {
            for me in 0..sessions {
                let (stop, known) = (&stop, Arc::clone(&known));
                let mut dice = Random::new(seed * 1000 + u64::from(life) * 100 + me as u64);
                scope.spawn(move || {
                    let client = Client::connect(port, "postgres", "postgres");
                    let mut session = Session { client, stop, seed };
                    let mut own = known.lock().expect("nobody panics with it")[me];
                    while session.goes_on() && own.iter().any(Option::is_some) {
                        change_definitions(&mut session, me, &mut own, &mut dice);
                        if session.client.send(b'S', &[]).is_err()
                            || session.client.replies().is_err()
                        {
                            break;
                        }
                    }
                    known.lock().expect("nobody panics with it")[me] = own;
                });
            }
            std::thread::sleep(LIFE);
            if life + 1 < LIVES {
                atoll.kill();
            }
            stop.store(true, Ordering::Relaxed);
        });
        if life + 1 < LIVES {
            atoll.restart();
        }
        let mut client = atoll.connect();
        for (me, own) in known.lock().expect("nobody panics with it").iter_mut().enumerate() {
            for (what, (make, _, look)) in own.iter_mut().zip(DEFINITIONS) {
                let there = client.run(&look.replace('@', &me.to_string()));
                let there = there.value() == "1";
                assert!(
                    what.is_none_or(|what| what == there),
                    "seed {seed}: of session {me}, {make}: {there}, and acknowledged was {what:?}"
                );
                *what = Some(there);
            }
        }
        let rows = client.run("SELECT count(*) FROM shared WHERE b = 'b' || a");
        assert_eq!(rows.value(), "200", "seed {seed}");
    }
    atoll.stop();
    atoll.check();
}

/// Rows change places in two indexes, which are made anew all the time, and are read by them: each value has as many rows at
/// any moment, whichever tree it is looked for in.
fn storm_of_readers(seed: u64) {
    const VALUES: u64 = 20;
    const ROWS: u64 = 1000;
    let atoll = Atoll::start(&["deadlock_timeout=50ms", "shared_buffers=1MB"]);
    let mut client = atoll.connect();
    for sql in [
        "CREATE TABLE spread (id int PRIMARY KEY, v int, w int, filler text)",
        "CREATE INDEX spread_v ON spread (v)",
        "CREATE UNIQUE INDEX spread_w ON spread (w, id)",
        "CREATE TABLE child (id serial, v int, w int)",
    ] {
        client.run(sql);
    }
    client.run(&format!(
        "INSERT INTO spread SELECT g, g % {VALUES}, g % {VALUES}, repeat('f', 100) FROM generate_series(1, {ROWS}) g"
    ));
    client.run("ANALYZE spread");
    let stop = AtomicBool::new(false);
    let port = atoll.port();
    std::thread::scope(|scope| {
        for me in 0..6_u64 {
            let stop = &stop;
            let mut dice = Random::new(seed * 1000 + me);
            scope.spawn(move || {
                let client = Client::connect(port, "postgres", "postgres");
                let mut session = Session { client, stop, seed };
                session.run("SET enable_seqscan = off", &[]);
                session.run("PREPARE by_v AS SELECT count(*) FROM spread WHERE v = $1", &[]);
                session.run("PREPARE by_w AS SELECT count(*) FROM spread WHERE w = $1", &[]);
                while session.goes_on() {
                    let value = dice.below(VALUES);
                    let count = match (me, dice.below(4)) {
                        (0, at) => {
                            let all = [
                                "REINDEX TABLE spread",
                                "REINDEX INDEX spread_v",
                                "REINDEX INDEX spread_w",
                                "BEGIN; REINDEX TABLE spread; ROLLBACK",
                            ];
                            session.run(all[at as usize], &[]);
                            continue;
                        }
                        (1 | 2, _) => {
                            let (one, other) = (1 + dice.below(ROWS), 1 + dice.below(ROWS));
                            let (one, other) = (one.min(other), one.max(other));
                            let sql = format!(
                                "UPDATE spread s SET v = o.v, w = o.w FROM spread o \
                                 WHERE s.id IN ({one}, {other}) AND o.id = {one} + {other} - s.id"
                            );
                            session.run(&format!(
                                "BEGIN; SELECT FROM spread WHERE id IN ({one}, {other}) ORDER BY id FOR UPDATE; {sql}; COMMIT"
                            ), &[]);
                            continue;
                        }
                        (_, 0) => session.value(&format!("EXECUTE by_v ({value})")),
                        (_, 1) => session.value(&format!("EXECUTE by_w ({value})")),
                        (_, 2) => session
                            .value(&format!("SELECT count(*) FROM spread WHERE v = {value}")),
                        _ => {
                            let at = "BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT FROM child LIMIT 1";
                            session.run(at, &[]);
                            let count = session
                                .value(&format!("SELECT count(*) FROM spread WHERE w = {value}"));
                            session.run("COMMIT", &[]);
                            count
                        }
                    };
                    let wanted = (ROWS / VALUES) as i64;
                    assert_eq!(count, Ok(wanted), "seed {seed}: rows of the value {value}");
                }
            });
        }
        std::thread::sleep(LIFE * 2);
        stop.store(true, Ordering::Relaxed);
    });
    let mut atoll = atoll;
    atoll.stop();
    atoll.check();
}

/// Storms from the first seed on, for a share of the time that there is.
fn storms(storm: fn(u64)) {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    let limit = Duration::from_secs(number("ATOLL_STORM_SECONDS").unwrap_or(25));
    let (start, first) = (Instant::now(), number("ATOLL_STORM_SEED").unwrap_or(0));
    for seed in first.. {
        storm(seed);
        if start.elapsed() > limit {
            return;
        }
    }
}

#[test]
fn rows_survive_a_storm() {
    storms(storm_of_rows);
}

#[test]
fn readers_by_an_index_that_is_made_anew_see_every_row() {
    storms(storm_of_readers);
}

#[test]
fn definitions_survive_a_storm() {
    storms(storm_of_definitions);
}
