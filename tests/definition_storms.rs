//! Storms of definitions whose end is PostgreSQL's: sessions run random transactions of DDL on the same few names at once,
//! and what has committed is run again on PostgreSQL, one transaction behind another, in the order of their commits. Each of
//! them must succeed there, and `pg_dump -s` must say the same of both databases in the end.
//!
//! Each transaction ends with a row of its number, whose `xmin` is made of its commit's LSN: that is the order. Whatever two
//! of them both depend on is locked by both, but for names that are not there: so nothing here asks IF EXISTS.
//!
//! In a storm with kills the server is killed under its sessions, and goes on with others: what was acknowledged is there after
//! each restart, with what was committed and could not be acknowledged any more, and that order of all lives together says
//! what PostgreSQL's schema must be.
//!
//! `ATOLL_STORM_SECONDS` lets it go on from seed to seed, `ATOLL_STORM_SEED` says where it begins. A failure names its seed.

use std::io;
use std::process::Command;
use std::sync::Barrier;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};
use tests::atoll::Atoll;
use tests::chance::Chance;
use tests::client::Client;
use tests::{golden, oracle};

/// What stands there before. The roles are the cluster's.
const FIXTURE: &[&str] = &[
    "CREATE TABLE committed (id int)",
    "CREATE SCHEMA own",
    "CREATE SCHEMA other",
    "CREATE TYPE own.e0 AS ENUM ('one', 'two')",
    "CREATE DOMAIN own.d0 AS int CHECK (VALUE < 1000)",
    "CREATE TABLE own.a0 (id int PRIMARY KEY, c0 int, c1 text, c2 int DEFAULT 7)",
    "CREATE TABLE own.a1 (id int PRIMARY KEY, c0 int, c1 text, c3 own.e0, c4 own.d0)",
    "CREATE TABLE own.a2 (id int PRIMARY KEY, c0 int REFERENCES own.a0, c1 text)",
    "INSERT INTO own.a0 VALUES (1, 1, 'x'), (2, 2, 'y')",
    "INSERT INTO own.a1 VALUES (1, 1, 'x', 'one', 1)",
    "CREATE INDEX i0 ON own.a0 (c0)",
    "CREATE UNIQUE INDEX i1 ON own.a1 (c0)",
    "CREATE VIEW own.v0 AS SELECT id, c0 FROM own.a0",
    "CREATE SEQUENCE own.s0",
    "CREATE FUNCTION own.f0() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END'",
    "CREATE FUNCTION own.g0(x int) RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT x + 1'",
    "CREATE TRIGGER t0 BEFORE UPDATE ON own.a0 FOR EACH ROW EXECUTE FUNCTION own.f0()",
];

const ROLES: [&str; 2] = ["storm_one", "storm_two"];

/// How many transactions a session runs in one life of the server.
const TRANSACTIONS: usize = 25;

/// How many sessions there are at most.
const SESSIONS_MAX: usize = 8;

/// What a session may be told: that something is not there or is there already, does not fit or is needed; and to try again.
fn is_refusal(state: &str) -> bool {
    let classes = ["42", "2B", "23", "22", "40", "0A", "55", "54", "3F"];
    classes.iter().any(|class| state.starts_with(class))
}

/// A random change of the schema, of those that a storm which moves tables, or does not, has.
fn statement(chance: &mut Chance, number: usize, moves: bool) -> String {
    let mut one = |of: &[&str]| of[chance.below(of.len())].to_owned();
    let table = one(&["own.a0", "own.a0", "own.a1", "own.a1", "own.a2", "own.a3", "other.a0"]);
    let referenced = one(&["own.a0", "own.a1", "own.a2"]);
    let column = one(&["c0", "c0", "c1", "c2", "c3", "c4", "id"]);
    let fresh = one(&["c2", "c3", "c4", "c5"]);
    let ty = one(&["int", "text", "bigint", "own.e0", "own.d0", "numeric(10, 2)", "int[]"]);
    let index = one(&["own.i0", "own.i1", "own.i2", "own.i3"]);
    let constraint = one(&["k0", "k1", "k2"]);
    let view = one(&["own.v0", "own.v1", "own.v2"]);
    let sequence = one(&["own.s0", "own.s1"]);
    let enumeration = one(&["own.e0", "own.e1"]);
    let domain = one(&["own.d0", "own.d1"]);
    let role = one(&["storm_one", "storm_two", "PUBLIC"]);
    let owner = one(&["storm_one", "storm_two", "postgres"]);
    let schema = one(&["own", "other"]);
    let cascade = one(&["", "", " CASCADE"]);
    let privileges = one(&["SELECT", "INSERT, UPDATE", "ALL", "SELECT (c0)", "UPDATE (c1)"]);
    let option = one(&["", "", " WITH GRANT OPTION"]);
    let bare = |name: &str| name.split_once('.').map_or(name, |(_, bare)| bare).to_owned();
    match chance.below(80) {
        64.. => program(chance, number, (&table, &column, &view, &owner, &cascade)),
        0 => {
            let key = bare(&table);
            format!(
                "CREATE TABLE {table} (id int CONSTRAINT {key}_key PRIMARY KEY, c0 int, c1 text, c2 {ty})"
            )
        }
        1 => format!("CREATE TABLE {table} (id int, c0 int DEFAULT {number}, c1 text)"),
        2 => format!("DROP TABLE {table}{cascade}"),
        3 => format!("ALTER TABLE {table} RENAME TO a3"),
        4 if moves => format!("ALTER TABLE {table} SET SCHEMA {schema}"),
        5 | 6 => format!("ALTER TABLE {table} OWNER TO {owner}"),
        7..10 => format!("ALTER TABLE {table} ADD COLUMN {fresh} {ty}"),
        10 => format!("ALTER TABLE {table} ADD COLUMN {fresh} text DEFAULT 'n{number}'"),
        11 | 12 => format!("ALTER TABLE {table} DROP COLUMN {column}{cascade}"),
        13 => format!("ALTER TABLE {table} RENAME COLUMN {column} TO {fresh}"),
        14 | 15 => {
            format!("ALTER TABLE {table} ALTER COLUMN {column} TYPE bigint USING NULL::bigint")
        }
        16 => format!("ALTER TABLE {table} ALTER COLUMN {column} TYPE text"),
        17 => format!("ALTER TABLE {table} ALTER COLUMN {column} SET DEFAULT {number}"),
        18 => format!("ALTER TABLE {table} ALTER COLUMN {column} DROP DEFAULT"),
        19 => format!("ALTER TABLE {table} ALTER COLUMN {column} SET NOT NULL"),
        20 => format!("ALTER TABLE {table} ALTER COLUMN {column} DROP NOT NULL"),
        21 => format!("ALTER TABLE {table} ALTER COLUMN {column} SET STATISTICS {number}"),
        22 => format!("ALTER TABLE {table} SET (fillfactor = {})", 10 + number % 90),
        23 => format!("ALTER TABLE {table} RESET (fillfactor)"),
        24 => format!("ALTER TABLE {table} ADD CONSTRAINT {constraint} CHECK ({column} > 0)"),
        25 => format!("ALTER TABLE {table} ADD CONSTRAINT {constraint} UNIQUE ({column}, c0)"),
        26 | 27 => format!(
            "ALTER TABLE {table} ADD CONSTRAINT {constraint} FOREIGN KEY (c0) REFERENCES {referenced} NOT VALID"
        ),
        28 | 29 => format!("ALTER TABLE {table} DROP CONSTRAINT {constraint}{cascade}"),
        30 => format!("ALTER TABLE {table} RENAME CONSTRAINT {constraint} TO k9"),
        31 => format!("ALTER TABLE {table} CLUSTER ON {}", bare(&index)),
        32..35 => format!("CREATE INDEX {} ON {table} ({column})", bare(&index)),
        35 => format!("CREATE UNIQUE INDEX {} ON {table} (id, {column})", bare(&index)),
        36 => {
            format!("CREATE INDEX {} ON {table} (lower(c1)) WHERE {column} IS NULL", bare(&index))
        }
        37 | 38 => format!("DROP INDEX {index}"),
        39 | 40 if !moves => format!("ALTER INDEX {index} RENAME TO i3"),
        41 if !moves => format!("ALTER INDEX {index} SET (fillfactor = {})", 50 + number % 50),
        42 => format!("REINDEX INDEX {index}"),
        43 if !moves => format!("COMMENT ON INDEX {index} IS 'n{number}'"),
        44 => format!("CREATE VIEW {view} AS SELECT * FROM {table}"),
        45 => format!("CREATE OR REPLACE VIEW {view} AS SELECT id, c0, {number} AS n FROM {table}"),
        46 => format!("DROP VIEW {view}{cascade}"),
        47 => format!("ALTER VIEW {view} RENAME TO v2"),
        48 => format!("CREATE SEQUENCE {sequence} INCREMENT {}", 1 + number),
        49 => format!("ALTER SEQUENCE {sequence} INCREMENT {}", 1 + number),
        50 => format!("ALTER SEQUENCE {sequence} OWNED BY {table}.c0"),
        51 => format!("DROP SEQUENCE {sequence}{cascade}"),
        52 => format!("CREATE TYPE {enumeration} AS ENUM ('n{number}')"),
        53 => format!("ALTER TYPE {enumeration} ADD VALUE 'n{number}'"),
        54 => format!("ALTER TYPE {enumeration} RENAME VALUE 'one' TO 'n{number}'"),
        55 => format!("DROP TYPE {enumeration}{cascade}"),
        56 => format!("CREATE DOMAIN {domain} AS int DEFAULT {number}"),
        57 => format!("ALTER DOMAIN {domain} ADD CONSTRAINT {constraint} CHECK (VALUE > 0)"),
        58 => format!("ALTER DOMAIN {domain} SET DEFAULT {number}"),
        59 => format!("DROP DOMAIN {domain}{cascade}"),
        60 => format!("GRANT {privileges} ON {table} TO {role}"),
        61 => match chance.below(4) {
            0 => format!("GRANT USAGE ON SCHEMA {schema} TO {role}"),
            1 => format!("GRANT SELECT ON {view} TO storm_one{option}"),
            2 => format!("GRANT USAGE ON TYPE {enumeration} TO storm_two{option}"),
            _ => format!(
                "ALTER DEFAULT PRIVILEGES IN SCHEMA public GRANT SELECT ON TABLES TO {role}"
            ),
        },
        62 => format!("REVOKE {privileges} ON {table} FROM {role}{cascade}"),
        _ => match chance.below(4) {
            0 => format!("COMMENT ON TABLE {table} IS 'n{number}'"),
            1 => format!("COMMENT ON COLUMN {table}.{column} IS 'n{number}'"),
            2 => format!("COMMENT ON CONSTRAINT {constraint} ON {table} IS 'n{number}'"),
            _ => format!("COMMENT ON TYPE {enumeration} IS 'n{number}'"),
        },
    }
}

/// A random change of functions and triggers.
fn program(
    chance: &mut Chance,
    number: usize,
    (table, column, view, owner, cascade): (&str, &str, &str, &str, &str),
) -> String {
    let mut one = |of: &[&str]| of[chance.below(of.len())].to_owned();
    let function = one(&["own.f0", "own.f0", "own.f1"]);
    let trigger = one(&["t0", "t0", "t1"]);
    // Constraint triggers, which alone are called so, are not renamed: PostgreSQL leaves their constraints the old name.
    let dropped = one(&["t0", "t1", "t2"]);
    let toggled = one(&["t0", "t1", "ALL", "USER"]);
    let switch = one(&["DISABLE TRIGGER", "ENABLE TRIGGER"]);
    let body = |what: &str| {
        format!("{function}() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN {what}; END'")
    };
    match chance.below(16) {
        0 => format!("CREATE FUNCTION {}", body("NEW")),
        1 => format!("CREATE OR REPLACE FUNCTION {}", body(&format!("NULL /* n{number} */"))),
        2 => format!("DROP FUNCTION {function}(){cascade}"),
        // Who has made something of a function keeps nobody from renaming it, so names of functions stay.
        3 => format!("ALTER FUNCTION {function}() SET search_path = n{number}"),
        4 => format!("ALTER FUNCTION {function}() OWNER TO {owner}"),
        5 => format!(
            "CREATE TRIGGER {trigger} BEFORE UPDATE OF {column} ON {table} FOR EACH ROW \
             WHEN (NEW.c0 > {number}) EXECUTE FUNCTION {function}()"
        ),
        6 => format!(
            "CREATE CONSTRAINT TRIGGER t2 AFTER INSERT ON {table} DEFERRABLE INITIALLY DEFERRED \
             FOR EACH ROW EXECUTE FUNCTION {function}('n{number}')"
        ),
        7 => format!(
            "CREATE OR REPLACE TRIGGER {trigger} AFTER DELETE ON {table} \
             REFERENCING OLD TABLE AS was EXECUTE FUNCTION {function}()"
        ),
        8 => format!(
            "CREATE TRIGGER {trigger} INSTEAD OF INSERT ON {view} FOR EACH ROW EXECUTE FUNCTION {function}()"
        ),
        9 => format!("DROP TRIGGER {dropped} ON {table}"),
        10 => format!("ALTER TRIGGER {trigger} ON {table} RENAME TO t1"),
        11 => format!("ALTER TABLE {table} {switch} {toggled}"),
        12 => format!("COMMENT ON TRIGGER {trigger} ON {table} IS 'n{number}'"),
        13 => format!("ALTER TABLE {table} ALTER COLUMN c0 SET DEFAULT own.g0({number})"),
        14 => {
            format!("ALTER TABLE {table} ADD CONSTRAINT k2 CHECK (own.g0(c0) > {number}) NOT VALID")
        }
        _ => format!("DROP FUNCTION own.g0(int){cascade}"),
    }
}

/// What a transaction has done that was told to commit.
struct Done {
    number: usize,
    statements: Vec<String>,
    acknowledged: bool,
}

struct Session {
    client: Client,
    chance: Chance,
    seed: u64,
    /// The number of its first transaction.
    first: usize,
    done: Vec<Done>,
}

impl Session {
    /// Whether a statement was done; what was refused leaves the block failed. Fails where the server has been killed.
    fn say(&mut self, sql: &str) -> io::Result<bool> {
        let body = [sql.as_bytes(), &[0]].concat();
        self.client.send(b'Q', &body)?;
        let reply = self.client.replies()?.pop().unwrap_or_default();
        let state = reply.sqlstate();
        assert!(
            state.is_empty() || is_refusal(state),
            "seed {}: {sql}: {:?}",
            self.seed,
            reply.error
        );
        Ok(state.is_empty())
    }

    fn transaction(&mut self, at: usize) -> io::Result<()> {
        let number = self.first + at;
        let (count, saves) = (1 + self.chance.below(4), self.chance.below(2) == 0);
        let mut statements = Vec::new();
        self.say("BEGIN")?;
        for _ in 0..count {
            let sql = statement(&mut self.chance, number, self.seed.is_multiple_of(2));
            if saves {
                self.say("SAVEPOINT s")?;
            }
            let fits = self.say(&sql)?;
            if saves && (!fits || self.chance.below(6) == 0) {
                self.say("ROLLBACK TO s")?;
            } else if !fits {
                self.say("ROLLBACK")?;
                return Ok(());
            } else {
                statements.push(sql);
            }
        }
        let commits = self.chance.below(8) > 0;
        if !commits || !self.say(&format!("INSERT INTO committed VALUES ({number})"))? {
            self.say("ROLLBACK")?;
            return Ok(());
        }
        self.done.push(Done { number, statements, acknowledged: false });
        match self.say("COMMIT")? {
            true => self.done.last_mut().expect("it is there").acknowledged = true,
            false => drop(self.done.pop()),
        }
        Ok(())
    }
}

/// What `pg_dump -s` says of a database, without what names the server and the run.
fn dump(port: u16, database: &str) -> String {
    let mut command = Command::new(oracle::programs().join("pg_dump"));
    command.args(["-h", "127.0.0.1", "-U", "postgres", "-p", &port.to_string(), "-s", database]);
    let output = command.output().expect("pg_dump starts");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
    let own = ["-- Dumped from database version", "\\restrict ", "\\unrestrict "];
    let text = String::from_utf8_lossy(&output.stdout);
    let lines = text.lines().filter(|line| !own.iter().any(|start| line.starts_with(start)));
    lines.fold(String::new(), |all, line| all + line + "\n")
}

fn set_up(port: u16, database: &str) -> Client {
    // PostgreSQL is the same for all tests of this program.
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
    let alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let mut admin = Client::connect(port, "postgres", "postgres");
    for role in ROLES {
        let there = format!("SELECT count(*) FROM pg_roles WHERE rolname = '{role}'");
        if admin.run(&there).value() == "0" {
            admin.run(&format!("CREATE ROLE {role}"));
        }
    }
    drop(alone);
    admin.run(&format!("CREATE DATABASE {database}"));
    let mut client = Client::connect(port, "postgres", database);
    client.run("SET search_path = own, public");
    FIXTURE.iter().for_each(|sql| drop(client.run(sql)));
    client
}

/// What sessions have done in one life of the server, which ends by a kill after `killed`, if it is to.
fn live(atoll: &mut Atoll, seed: u64, life: usize, killed: Option<Duration>) -> Vec<Done> {
    let sessions = 2 + Chance(seed).below(SESSIONS_MAX - 1);
    let (port, database) = (atoll.port(), name_of(seed));
    let open = |me: usize| {
        let me = life * SESSIONS_MAX + me;
        let mut client = Client::connect(port, "postgres", &database);
        client.run("SET search_path = own, public");
        client.run("SET deadlock_timeout = '50ms'");
        let chance = Chance(seed * 1000 + me as u64);
        Session { client, chance, seed, first: 1 + me * TRANSACTIONS, done: Vec::new() }
    };
    let ready = Barrier::new(sessions + 1);
    let run = |mut session: Session| {
        ready.wait();
        let ended = (0..TRANSACTIONS).try_for_each(|at| session.transaction(at));
        assert!(ended.is_ok() || killed.is_some(), "seed {seed}: {ended:?}");
        session.done
    };
    std::thread::scope(|scope| {
        let opened: Vec<Session> = (0..sessions).map(open).collect();
        let run = &run;
        let all: Vec<_> =
            opened.into_iter().map(|session| scope.spawn(move || run(session))).collect();
        ready.wait();
        if let Some(after) = killed {
            std::thread::sleep(after);
            atoll.kill();
        }
        all.into_iter().flat_map(|one| one.join().expect("a session ends")).collect()
    })
}

fn name_of(seed: u64) -> String {
    format!("definition_storm_{seed}")
}

fn storm(atoll: &mut Atoll, seed: u64, kills: usize) {
    let database = name_of(seed);
    drop(set_up(atoll.port(), &database));
    let mut done = Vec::new();
    for life in 0..=kills {
        let after = Chance(seed * 77 + life as u64).below(600);
        let killed = (life < kills).then(|| Duration::from_millis(100 + after as u64));
        done.extend(live(atoll, seed, life, killed));
        if killed.is_some() {
            atoll.restart();
        }
    }
    let mut ours = Client::connect(atoll.port(), "postgres", &database);
    let mut theirs = set_up(oracle::shared(), &database);
    let order = ours.run("SELECT id FROM committed ORDER BY xmin::text::bigint");
    let number = |row: &Vec<Option<String>>| row[0].as_deref().and_then(|id| id.parse().ok());
    let there: Vec<usize> = order.rows.iter().map(|row| number(row).expect("a number")).collect();
    for one in done.iter().filter(|one| one.acknowledged) {
        assert!(there.contains(&one.number), "seed {seed}: {} was acknowledged", one.number);
    }
    let mut path = String::new();
    for number in there {
        let found = done.iter().find(|one| one.number == number);
        let found = found.expect("who committed was about to");
        path += &format!("-- {number}\n");
        theirs.run("BEGIN");
        for sql in &found.statements {
            path += &format!("{sql};\n");
            let reply = theirs.query(sql);
            assert!(
                reply.error.is_none(),
                "seed {seed}: PostgreSQL refuses {sql}: {:?}, behind\n{path}",
                reply.error
            );
        }
        theirs.run("COMMIT");
    }
    let (wanted, found) = (dump(oracle::shared(), &database), dump(atoll.port(), &database));
    assert!(
        wanted == found,
        "seed {seed}: the schemas differ\n{}\nbehind\n{path}",
        golden::difference(&wanted, &found)
    );
    drop((ours, theirs));
    for port in [atoll.port(), oracle::shared()] {
        let mut admin = Client::connect(port, "postgres", "postgres");
        admin.run(&format!("DROP DATABASE {database} WITH (FORCE)"));
    }
}

/// Storms from seed to seed.
fn storms(first: u64, kills: usize) {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    let limit = Duration::from_secs(number("ATOLL_STORM_SECONDS").unwrap_or(20));
    let (start, first) = (Instant::now(), number("ATOLL_STORM_SEED").unwrap_or(first));
    let mut atoll = Atoll::start(&[]);
    for seed in first.. {
        storm(&mut atoll, seed, kills);
        if start.elapsed() > limit {
            break;
        }
    }
    atoll.stop();
    atoll.check();
}

#[test]
fn storms_of_definitions_end_as_in_postgresql() {
    storms(0, 0);
}

#[test]
fn storms_of_definitions_across_kills_end_as_in_postgresql() {
    storms(1_000_000, 2);
}
