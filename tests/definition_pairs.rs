//! Every ordered pair of statements that change one table and what hangs on it: the first in a transaction that is open when
//! the second begins, and commits or rolls back then. The catalogs in the end are PostgreSQL's, which is asked each time.
//!
//! Where PostgreSQL gives up with `tuple concurrently updated`, or with a duplicate key of a catalog, Atoll reads again: it must
//! come to what PostgreSQL does when the second statement runs behind the first, or ahead of it where it does not wait. Hundreds of pairs are drawn by seed; `PAIRS=all` runs them all, `PAIRS=7` those of
//! seed 7.
//!
//! Of what is done to indexes, and to rows beside that, it is also asked who waits for whom. And pairs are run in a server that
//! is killed behind the acknowledgement of the first, or of the second, or before any: what was acknowledged is there after
//! the restart, and what was not is there whole or not at all.

use std::fmt::Write;
use std::time::Duration;
use tests::atoll::Atoll;
use tests::client::Client;
use tests::oracle;

/// What stands in the schema before.
const FIXTURE: &str = "
CREATE TYPE mood AS ENUM ('sad', 'ok');
CREATE DOMAIN small AS int CHECK (VALUE < 1000);
CREATE TABLE p (id int PRIMARY KEY, u int UNIQUE);
CREATE TABLE t (id serial PRIMARY KEY, a int, b int DEFAULT 7, c text, m mood, d small, CONSTRAINT t_check CHECK (a > 0));
CREATE TABLE ch (id int, t_id int REFERENCES t (id));
CREATE UNIQUE INDEX t_a ON t (a);
CREATE INDEX t_b ON t (b);
CREATE VIEW v AS SELECT id, a, b FROM t;
CREATE SEQUENCE s;
CREATE FUNCTION tf() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END';
CREATE FUNCTION tf2() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';
CREATE TRIGGER tr BEFORE UPDATE ON t FOR EACH ROW EXECUTE FUNCTION tf();
INSERT INTO p VALUES (1, 1), (2, 2);
INSERT INTO t (a, b, c) SELECT g, g, 'x' FROM generate_series(1, 5) AS g";

const STATEMENTS: &[&str] = &[
    "CREATE INDEX i1 ON t (b, a)",
    "CREATE UNIQUE INDEX i2 ON t (c, a)",
    "CREATE INDEX i3 ON t (lower(c)) WHERE a > 1",
    "DROP INDEX t_b",
    "DROP INDEX t_a",
    "ALTER INDEX t_b RENAME TO t_b2",
    "ALTER INDEX t_b RENAME TO i1",
    "ALTER INDEX t_a SET (fillfactor = 50)",
    "ALTER INDEX t_pkey RENAME TO t_key",
    "REINDEX INDEX t_b",
    "REINDEX TABLE t",
    "ALTER TABLE t ADD COLUMN e int",
    "ALTER TABLE t ADD COLUMN f text DEFAULT 'f'",
    "ALTER TABLE t DROP COLUMN c",
    "ALTER TABLE t DROP COLUMN b CASCADE",
    "ALTER TABLE t RENAME COLUMN a TO a2",
    "ALTER TABLE t ALTER COLUMN b TYPE bigint USING b::bigint",
    "ALTER TABLE t ALTER COLUMN c TYPE varchar(20)",
    "ALTER TABLE t ALTER COLUMN b SET DEFAULT 8",
    "ALTER TABLE t ALTER COLUMN b DROP DEFAULT",
    "ALTER TABLE t ALTER COLUMN a SET NOT NULL",
    "ALTER TABLE t ALTER COLUMN a SET STATISTICS 50",
    "ALTER TABLE t ADD CONSTRAINT k1 CHECK (b > 0)",
    "ALTER TABLE t ADD CONSTRAINT k2 UNIQUE (b)",
    "ALTER TABLE t ADD CONSTRAINT k3 UNIQUE USING INDEX t_a",
    "ALTER TABLE t ADD CONSTRAINT k4 FOREIGN KEY (a) REFERENCES p (id) NOT VALID",
    "ALTER TABLE t DROP CONSTRAINT t_check",
    "ALTER TABLE t DROP CONSTRAINT t_pkey CASCADE",
    "ALTER TABLE t RENAME CONSTRAINT t_check TO t_check2",
    "ALTER TABLE t RENAME CONSTRAINT t_pkey TO t_key",
    "ALTER TABLE ch DROP CONSTRAINT ch_t_id_fkey",
    "ALTER TABLE ch ADD CONSTRAINT ch2 FOREIGN KEY (t_id) REFERENCES t (a)",
    "ALTER TABLE t SET (fillfactor = 70)",
    "ALTER TABLE t RESET (fillfactor)",
    "ALTER TABLE t RENAME TO t2",
    "ALTER TABLE t SET SCHEMA other",
    "ALTER TABLE t OWNER TO pairs_one",
    "DROP TABLE t CASCADE",
    "DROP TABLE ch",
    "TRUNCATE t CASCADE",
    "GRANT SELECT ON t TO pairs_one",
    "GRANT INSERT, UPDATE ON t TO pairs_two",
    "GRANT SELECT (a) ON t TO pairs_one",
    "REVOKE ALL ON t FROM pairs_one",
    "COMMENT ON TABLE t IS 'one'",
    "COMMENT ON TABLE t IS 'two'",
    "COMMENT ON COLUMN t.a IS 'a'",
    "COMMENT ON INDEX t_b IS 'b'",
    "COMMENT ON CONSTRAINT t_check ON t IS 'k'",
    "CREATE TRIGGER tr2 AFTER UPDATE OF b ON t FOR EACH ROW WHEN (NEW.a > 0) EXECUTE FUNCTION tf()",
    "CREATE CONSTRAINT TRIGGER tr2 AFTER INSERT ON ch DEFERRABLE FOR EACH ROW EXECUTE FUNCTION tf2('x')",
    "CREATE OR REPLACE TRIGGER tr BEFORE UPDATE OF a ON t FOR EACH ROW EXECUTE FUNCTION tf2()",
    "CREATE TRIGGER vt INSTEAD OF INSERT ON v FOR EACH ROW EXECUTE FUNCTION tf()",
    "DROP TRIGGER tr ON t",
    "ALTER TRIGGER tr ON t RENAME TO tr3",
    "ALTER TABLE t DISABLE TRIGGER tr",
    "ALTER TABLE t DISABLE TRIGGER ALL",
    "ALTER TABLE ch DISABLE TRIGGER ALL",
    "ALTER TABLE t ENABLE ALWAYS TRIGGER tr",
    "COMMENT ON TRIGGER tr ON t IS 'k'",
    "CREATE VIEW w AS SELECT a FROM t",
    "CREATE OR REPLACE VIEW v AS SELECT id, a, b, c FROM t",
    "ALTER VIEW v RENAME TO v2",
    "DROP VIEW v",
    "GRANT SELECT ON v TO pairs_one",
    "ALTER SEQUENCE s INCREMENT 5",
    "ALTER SEQUENCE s OWNED BY t.a",
    "ALTER SEQUENCE t_id_seq RENAME TO t_seq",
    "DROP SEQUENCE s",
    "ALTER TYPE mood ADD VALUE 'happy'",
    "ALTER TYPE mood RENAME VALUE 'ok' TO 'fine'",
    "ALTER TYPE mood RENAME TO mood2",
    "DROP TYPE mood CASCADE",
    "ALTER DOMAIN small ADD CONSTRAINT pos CHECK (VALUE > 0)",
    "ALTER DOMAIN small DROP CONSTRAINT small_check",
    "ALTER DEFAULT PRIVILEGES IN SCHEMA own GRANT SELECT ON TABLES TO pairs_one",
    "ALTER DEFAULT PRIVILEGES IN SCHEMA own GRANT INSERT ON TABLES TO pairs_two",
    "GRANT USAGE ON SCHEMA own TO pairs_one",
    "GRANT CREATE ON SCHEMA own TO pairs_two",
    "ALTER SCHEMA own RENAME TO own2",
    "CREATE TABLE i1 (x int)",
    "CREATE TABLE n (x mood, y small)",
    "ANALYZE t",
];

/// What the catalogs say of a schema, a line each.
const STATE: &[&str] = &[
    "SELECT 'relation', n.nspname, c.relname, c.relkind, c.relnatts, c.relchecks, c.reloptions, pg_get_userbyid(c.relowner), c.relacl
       FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE nspname IN ('own', 'own2', 'other')",
    "SELECT 'column', c.relname, a.attnum, a.attname, format_type(a.atttypid, a.atttypmod), a.attnotnull, a.attstattarget, a.attacl, pg_get_expr(d.adbin, d.adrelid)
       FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid JOIN pg_namespace n ON n.oid = c.relnamespace
       LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
       WHERE nspname IN ('own', 'own2', 'other') AND attnum > 0 AND relkind <> 'i'",
    "SELECT 'index', pg_get_indexdef(i.indexrelid), i.indisvalid, i.indisprimary FROM pg_index i JOIN pg_class c ON c.oid = i.indrelid
       JOIN pg_namespace n ON n.oid = c.relnamespace WHERE nspname IN ('own', 'own2', 'other')",
    "SELECT 'constraint', k.conname, k.conrelid::regclass, k.contypid::regtype, pg_get_constraintdef(k.oid), k.convalidated, k.conindid::regclass
       FROM pg_constraint k JOIN pg_namespace n ON n.oid = k.connamespace WHERE nspname IN ('own', 'own2', 'other')",
    "SELECT 'comment', d.classoid::regclass, d.objsubid, d.description FROM pg_description d WHERE d.objoid >= 16384
       AND d.description IN ('one', 'two', 'a', 'b', 'k') AND (EXISTS (SELECT FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
       WHERE c.oid = d.objoid AND nspname IN ('own', 'own2', 'other')) OR d.classoid = 'pg_constraint'::regclass)",
    "SELECT 'trigger', g.tgrelid::regclass, g.tgfoid::regproc, g.tgtype, g.tgenabled, CASE WHEN NOT g.tgisinternal THEN pg_get_triggerdef(g.oid) END
       FROM pg_trigger g JOIN pg_class c ON c.oid = g.tgrelid JOIN pg_namespace n ON n.oid = c.relnamespace WHERE nspname IN ('own', 'own2', 'other')",
    "SELECT 'view', viewname, definition FROM pg_views WHERE schemaname IN ('own', 'own2', 'other')",
    "SELECT 'sequence', sequencename, increment_by FROM pg_sequences WHERE schemaname IN ('own', 'own2', 'other')",
    "SELECT 'type', t.typname, (SELECT string_agg(enumlabel, ',' ORDER BY enumsortorder) FROM pg_enum e WHERE e.enumtypid = t.oid)
       FROM pg_type t JOIN pg_namespace n ON n.oid = t.typnamespace WHERE nspname IN ('own', 'own2', 'other') AND typtype IN ('e', 'd')",
    "SELECT 'default', n.nspname, d.defaclobjtype, d.defaclacl FROM pg_default_acl d JOIN pg_namespace n ON n.oid = d.defaclnamespace",
    "SELECT 'schema', nspname, nspacl FROM pg_namespace WHERE nspname IN ('own', 'own2', 'other')",
];

struct Server {
    holder: Client,
    other: Client,
    watcher: Client,
    /// The number of the second session's process.
    pid: String,
}

impl Server {
    fn new(port: u16, database: &str) -> Server {
        let mut admin = Client::connect(port, "postgres", "postgres");
        for role in ["pairs_one", "pairs_two"] {
            // Another test of this process may have made it, or be about to.
            admin.query(&format!("CREATE ROLE {role}"));
        }
        admin.query(&format!("DROP DATABASE IF EXISTS {database} WITH (FORCE)"));
        admin.run(&format!("CREATE DATABASE {database}"));
        Server::again(port, database)
    }

    /// One whose database is there.
    fn again(port: u16, database: &str) -> Server {
        let connect = || Client::connect(port, "postgres", database);
        let (holder, mut other, watcher) = (connect(), connect(), connect());
        let pid = other.run("SELECT pg_backend_pid()").value().to_owned();
        Server { holder, other, watcher, pid }
    }

    fn set_up(&mut self) {
        for schema in ["own", "own2", "other"] {
            self.holder.run(&format!("DROP SCHEMA IF EXISTS {schema} CASCADE"));
        }
        self.holder.run("CREATE SCHEMA own; CREATE SCHEMA other; SET search_path = own");
        self.other.run("SET search_path = own");
        for statement in FIXTURE.split(";\n") {
            self.holder.run(statement);
        }
    }

    /// Begins the second statement while the first stands in an open transaction; whether it waits.
    fn begin(&mut self, first: &str, second: &str) -> bool {
        self.holder.run("BEGIN");
        // Some statements are refused by what hangs on the table: so is the block.
        self.holder.query(first);
        self.other.start(second);
        let blocked = format!("SELECT cardinality(pg_blocking_pids({}))", self.pid);
        while !self.other.answers_within(Duration::from_millis(5)) {
            if self.watcher.run(&blocked).value() != "0" {
                return true;
            }
        }
        false
    }

    /// The code that the second statement ends with, beside the first, which ends so; and whether it waited for that.
    fn beside(&mut self, first: &str, second: &str, end: &str) -> (String, bool) {
        let waits = self.begin(first, second);
        self.holder.run(end);
        (self.answer(), waits)
    }

    /// The code that the second statement ends with.
    fn answer(&mut self) -> String {
        let mut replies = self.other.replies().expect("the connection stands");
        replies.pop().map_or_else(String::new, |reply| reply.sqlstate().to_owned())
    }

    /// The same, behind the first.
    fn behind(&mut self, first: &str, second: &str, end: &str) -> String {
        self.holder.run("BEGIN");
        self.holder.query(first);
        self.holder.run(end);
        self.other.query(second).sqlstate().to_owned()
    }

    /// The same, ahead of the first.
    fn ahead(&mut self, first: &str, second: &str, end: &str) -> String {
        let answer = self.other.query(second).sqlstate().to_owned();
        self.holder.run("BEGIN");
        self.holder.query(first);
        self.holder.run(end);
        answer
    }

    fn state(&mut self) -> String {
        let mut lines = Vec::new();
        self.watcher.run("SET search_path = own");
        for query in STATE {
            for row in self.watcher.run(query).rows {
                let mut line = String::new();
                for field in row {
                    write!(line, "{}|", field.as_deref().unwrap_or("-")).expect("a string grows");
                }
                lines.push(line);
            }
        }
        lines.sort();
        lines.join("\n")
    }
}

/// The pairs of a seed, or all, and whether the first commits.
fn drawn(count: usize, all: usize) -> Vec<(usize, usize, bool)> {
    let wanted = std::env::var("PAIRS").unwrap_or_default();
    if wanted == "all" {
        let pairs = (0..all).flat_map(|one| (0..all).map(move |two| (one, two)));
        return pairs.flat_map(|(one, two)| [(one, two, true), (one, two, false)]).collect();
    }
    let mut state = wanted.parse::<u64>().unwrap_or(1).wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let mut next = |below: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state % below as u64) as usize
    };
    (0..count).map(|_| (next(all), next(all), next(3) > 0)).collect()
}

#[test]
fn pairs_of_statements_end_as_in_postgresql() {
    let mut atoll = Atoll::start(&[]);
    let mut ours = Server::new(atoll.port(), "definition_pairs");
    let mut theirs = Server::new(oracle::shared(), "definition_pairs");
    let mut failures = Vec::new();
    for (first, second, commits) in drawn(100, STATEMENTS.len()) {
        let (first, second) = (STATEMENTS[first], STATEMENTS[second]);
        let end = if commits { "COMMIT" } else { "ROLLBACK" };
        theirs.set_up();
        let (mut wanted, _) = theirs.beside(first, second, end);
        let gives_up = matches!(&*wanted, "XX000" | "23505");
        if gives_up {
            theirs.set_up();
            wanted = theirs.behind(first, second, end);
        }
        let wanted = (wanted.is_empty(), wanted, theirs.state());
        ours.set_up();
        let (found, waits) = ours.beside(first, second, end);
        let found = (found.is_empty(), found, ours.state());
        let same = |wanted: &(bool, String, String)| (found.0, &found.2) == (wanted.0, &wanted.2);
        // Who waits where PostgreSQL does not comes to what it does behind the first, and who does not wait where it gives
        // up to what it does ahead of it.
        let mut may_be = vec![Server::behind as fn(&mut Server, &str, &str, &str) -> String];
        if gives_up && !waits {
            may_be.push(Server::ahead);
        }
        let mut another = || {
            may_be.iter().any(|order| {
                theirs.set_up();
                let answer = order(&mut theirs, first, second, end);
                same(&(answer.is_empty(), answer, theirs.state()))
            })
        };
        if !same(&wanted) && !another() {
            let difference = tests::golden::difference(&wanted.2, &found.2);
            failures.push(format!(
                "{first}; {end} beside {second}: {:?}, PostgreSQL {:?}\n{difference}",
                found.1, wanted.1
            ));
        }
    }
    assert!(failures.is_empty(), "{} pairs differ:\n{}", failures.len(), failures.join("\n"));
    atoll.stop();
    atoll.check();
}

/// What is done to indexes, and to the rows of their tables.
const OF_INDEXES: &[&str] = &[
    "CREATE INDEX i1 ON t (c)",
    "CREATE UNIQUE INDEX i2 ON t (a, b)",
    "CREATE INDEX CONCURRENTLY i3 ON t (c)",
    "REINDEX INDEX t_b",
    "REINDEX TABLE t",
    "REINDEX INDEX CONCURRENTLY t_b",
    "REINDEX TABLE CONCURRENTLY t",
    "ALTER INDEX t_b RENAME TO t_b2",
    "ALTER INDEX t_b SET (fillfactor = 50)",
    "COMMENT ON INDEX t_b IS 'b'",
    "DROP INDEX t_b",
    "DROP INDEX CONCURRENTLY t_a",
    "ANALYZE t",
    "VACUUM t",
    "INSERT INTO t (a, b, c) VALUES (100, 100, 'y')",
    "INSERT INTO ch VALUES (1, 1)",
    "DELETE FROM t WHERE id = 5",
    "SELECT count(*) FROM t",
    "SELECT id FROM t WHERE b = 3",
    "SELECT id FROM t WHERE b = 3 FOR UPDATE",
    "GRANT SELECT ON t TO pairs_one",
    "COMMENT ON TABLE t IS 'one'",
    "CREATE VIEW w AS SELECT a FROM t",
    "ALTER TABLE t SET (fillfactor = 70)",
    "ALTER TABLE t ALTER COLUMN a SET STATISTICS 50",
    "ALTER TABLE t ADD CONSTRAINT k4 FOREIGN KEY (a) REFERENCES p (id) NOT VALID",
    "LOCK TABLE t IN SHARE MODE",
    "TRUNCATE ch",
];

/// What keeps PostgreSQL waiting and does not wait here.
fn waits_in_postgresql_alone(first: &str, second: &str) -> bool {
    let remakes = |one: &str| one.starts_with("REINDEX");
    // A foreign key's query is planned, too: `t_b` is none of its indexes.
    let reads = |one: &str| one.starts_with("SELECT") || one.starts_with("INSERT INTO ch");
    // Who plans a query locks all indexes of its tables there; here who reads goes on with the tree that there was.
    let reader = remakes(first) && reads(second) || reads(first) && remakes(second);
    // Figures of a table and its indexes are written over in the very rows that others are about to change.
    let counts = ["CREATE INDEX", "CREATE UNIQUE", "REINDEX", "ANALYZE", "VACUUM"];
    let counted = counts.iter().any(|start| second.starts_with(start));
    reader || counted && (first.starts_with("GRANT") || first.starts_with("ALTER INDEX"))
}

/// What waits here and not in PostgreSQL: a table's privileges stand in one record with its definition.
fn waits_here_alone(first: &str, second: &str) -> bool {
    let [one, other] =
        [first, second].map(|one| (one.starts_with("GRANT"), one.starts_with("ALTER TABLE")));
    one.0 && other.1 || one.1 && other.0
}

#[test]
fn who_waits_for_whom_at_indexes_is_as_in_postgresql() {
    let mut atoll = Atoll::start(&[]);
    let mut ours = Server::new(atoll.port(), "definition_waits");
    let mut theirs = Server::new(oracle::shared(), "definition_waits");
    let mut failures = Vec::new();
    for (first, second, commits) in drawn(80, OF_INDEXES.len()) {
        let (first, second) = (OF_INDEXES[first], OF_INDEXES[second]);
        if first.contains("CONCURRENTLY") || first.starts_with("VACUUM") {
            // They run in no block.
            continue;
        }
        let end = if commits { "COMMIT" } else { "ROLLBACK" };
        let [mut wanted, found] = [&mut theirs, &mut ours].map(|server| {
            server.set_up();
            let (code, waits) = server.beside(first, second, end);
            (waits, code, server.state())
        });
        if matches!(&*wanted.1, "XX000" | "23505") {
            theirs.set_up();
            wanted = (wanted.0, theirs.behind(first, second, end), theirs.state());
        }
        let waits = match (wanted.0, found.0) {
            (true, false) => waits_in_postgresql_alone(first, second),
            (false, true) => waits_here_alone(first, second),
            _ => true,
        };
        if !waits || (&wanted.1, &wanted.2) != (&found.1, &found.2) {
            let told = |(waits, code, _): &(bool, String, String)| {
                format!("{} {code}", if *waits { "waits" } else { "goes on" })
            };
            failures.push(format!(
                "{first}; {end} beside {second}: {}, PostgreSQL {}\n{}",
                told(&found),
                told(&wanted),
                tests::golden::difference(&wanted.2, &found.2)
            ));
        }
    }
    assert!(failures.is_empty(), "{} pairs differ:\n{}", failures.len(), failures.join("\n"));
    atoll.stop();
    atoll.check();
}

/// When the server dies.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Death {
    /// While the first is open, and the second waits for it or is done.
    Before,
    /// Right behind the acknowledgement of the first.
    First,
    /// Right behind that of the second.
    Second,
}

/// How many pairs are run in one life of the server, each in a database of its own.
const AT_ONCE: usize = 6;

/// What PostgreSQL comes to by these statements, one behind the other.
fn state_after(theirs: &mut Server, statements: &[&str]) -> String {
    theirs.set_up();
    for statement in statements {
        theirs.holder.query(statement);
    }
    theirs.state()
}

#[test]
fn what_was_acknowledged_is_there_after_a_kill() {
    let mut atoll = Atoll::start(&[]);
    let mut theirs = Server::new(oracle::shared(), "definition_kills");
    let names: Vec<String> = (0..AT_ONCE).map(|at| format!("kill_{at}")).collect();
    let mut ours: Vec<Server> = names.iter().map(|name| Server::new(atoll.port(), name)).collect();
    let mut failures = Vec::new();
    for (life, pairs) in drawn(30, STATEMENTS.len()).chunks(AT_ONCE).enumerate() {
        let mut expected = Vec::new();
        for (at, (&(first, second, _), server)) in pairs.iter().zip(&mut ours).enumerate() {
            let (first, second) = (STATEMENTS[first], STATEMENTS[second]);
            let death = [Death::Before, Death::First, Death::Second][(life + at) % 3];
            server.set_up();
            let waits = server.begin(first, second);
            expected.push((first, second, death, waits));
        }
        // All are where they are to be; now they are told to go on, and the server dies.
        let mut acknowledged = Vec::new();
        for (server, &(_, _, death, waits)) in ours.iter_mut().zip(&expected) {
            let early = !waits && server.answer().is_empty();
            if death != Death::Before {
                server.holder.run("COMMIT");
            }
            let second = match death {
                Death::Second if waits => server.answer().is_empty(),
                _ => early,
            };
            acknowledged.push((death != Death::Before, second));
        }
        atoll.kill();
        atoll.restart();
        ours = names.iter().map(|name| Server::again(atoll.port(), name)).collect();
        for ((server, &(first, second, death, waits)), (one, two)) in
            ours.iter_mut().zip(&expected).zip(acknowledged)
        {
            let found = server.state();
            // What nobody was told of may be there: the second may have come that far before the end.
            let unknown = death == Death::First && waits;
            let orders: &[&[&str]] = match (one, two, unknown) {
                (true, true, _) => &[&[first, second], &[second, first]],
                (true, false, true) => &[&[first], &[first, second]],
                (true, false, false) => &[&[first]],
                (false, true, _) => &[&[second]],
                (false, false, _) => &[&[]],
            };
            let mut wanted = Vec::new();
            for order in orders {
                wanted.push(state_after(&mut theirs, order));
            }
            if !wanted.contains(&found) {
                failures.push(format!(
                    "{first}; {second}: killed at {death:?}, acknowledged {one} {two}\n{}",
                    tests::golden::difference(&wanted[0], &found)
                ));
            }
        }
    }
    assert!(failures.is_empty(), "{} pairs differ:\n{}", failures.len(), failures.join("\n"));
    drop(ours);
    atoll.stop();
    atoll.check();
}
