//! What clients do, and what each of them knows afterwards.
//!
//! Some of the work is shared (money moves between accounts, codes are claimed, parents and children come and go): there
//! invariants are what must hold. The rest is a client's own (a table nobody else writes, rebuilt, indexed, emptied and
//! dropped at will): there the client knows to the byte what must be there, but for the one transaction it was not
//! answered.

use crate::client::{Answer, Client};
use crate::world::TALLY;
use sql::SchemeKind;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use txn::simulation::Chance;

/// Accounts, what each begins with, and codes that can be claimed.
pub const ACCOUNTS: u64 = 12;
pub const OPENING: u64 = 1000;
const CODES: u64 = 20;
/// Keys of a client's own table.
const KEYS: u64 = 40;

/// What the image has, but for the clients' own tables.
pub const SCHEMA: &[&str] = &[
    "CREATE TABLE account (id int PRIMARY KEY, balance bigint NOT NULL CHECK (balance > -1000000), \
     touched int NOT NULL DEFAULT 0)",
    "CREATE INDEX account_touched ON account (touched)",
    "CREATE TABLE journal (client int, seq int, source int REFERENCES account, \
     target int REFERENCES account, amount int, note text, PRIMARY KEY (client, seq))",
    "CREATE INDEX journal_source ON journal (source)",
    "CREATE TABLE claim (holder int NOT NULL, code int UNIQUE, note text)",
    "CREATE TABLE parent (id int PRIMARY KEY, v int)",
    "CREATE TABLE child (id int PRIMARY KEY, parent int NOT NULL REFERENCES parent)",
    "CREATE INDEX child_parent ON child (parent)",
    "CREATE TABLE ward (id int PRIMARY KEY, parent int REFERENCES parent ON DELETE CASCADE)",
    "CREATE SEQUENCE number",
    // What triggers make of all that: an entry for each side of a transfer, and how many children and wards a parent has.
    "CREATE TABLE mirror (id bigserial PRIMARY KEY, account int, amount int)",
    "CREATE FUNCTION mirrored() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN \
     INSERT INTO mirror (account, amount) VALUES (NEW.source, -NEW.amount), (NEW.target, NEW.amount); \
     RETURN NULL; END $$",
    "CREATE TRIGGER mirrored AFTER INSERT ON journal FOR EACH ROW EXECUTE FUNCTION mirrored()",
    "CREATE FUNCTION balanced() RETURNS trigger LANGUAGE plpgsql AS $$ DECLARE total bigint; BEGIN \
     SELECT sum(balance) INTO total FROM account; \
     IF total <> TG_ARGV[0]::bigint THEN RAISE EXCEPTION 'the balances are % together', total; END IF; \
     RETURN NULL; END $$",
    "CREATE CONSTRAINT TRIGGER balanced AFTER INSERT ON journal DEFERRABLE INITIALLY DEFERRED \
     FOR EACH ROW EXECUTE FUNCTION balanced(12000)",
    "CREATE TABLE brood (kind text, parent int, n int NOT NULL, PRIMARY KEY (kind, parent))",
    COUNT_BROOD,
    "CREATE TRIGGER counted AFTER INSERT OR DELETE ON child FOR EACH ROW EXECUTE FUNCTION count_brood()",
    "CREATE TRIGGER counted AFTER INSERT OR DELETE ON ward FOR EACH ROW EXECUTE FUNCTION count_brood()",
];

/// The function that counts children and wards, which is made anew now and then.
const COUNT_BROOD: &str = "CREATE OR REPLACE FUNCTION count_brood() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN \
     IF TG_OP = 'DELETE' THEN \
       UPDATE brood SET n = n - 1 WHERE kind = TG_TABLE_NAME AND parent = OLD.parent; \
     ELSE \
       INSERT INTO brood VALUES (TG_TABLE_NAME, NEW.parent, 1) \
       ON CONFLICT (kind, parent) DO UPDATE SET n = brood.n + 1; \
     END IF; \
     RETURN NULL; END $$";

/// A row of a client's own table: v, u, t.
pub type OwnRow = (i64, Option<i64>, String);

/// What belongs to one client alone.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Private {
    /// The rows of its own table.
    pub rows: BTreeMap<i64, OwnRow>,
    /// The codes it holds.
    pub claims: BTreeSet<i64>,
}

/// What one client knows.
#[derive(Clone, Debug, Default)]
pub struct Story {
    /// What it was told is there.
    pub known: Private,
    /// What is there if the transaction it was not answered has committed.
    pub pending: Option<Private>,
    /// Whether it did not ask for durability (`synchronous_commit = off`) since the last restart.
    pub careless: bool,
    /// What it was told, one transaction before another, since the last restart: all that a careless client can lose.
    pub earlier: Vec<Private>,
    /// The last transfer that it was told of when it was last careful.
    pub sure: u64,
    /// The last transfer it was told of.
    pub transfers: u64,
    /// Whether it has tried one more.
    pub trying: bool,
    /// The newest transfer of each client that it was shown.
    pub seen: BTreeMap<u64, u64>,
    /// The values of the sequence that it was given while it was careful.
    pub numbers: Vec<i64>,
}

/// Statements that make a client's own table.
pub fn own_table(me: u64) -> Vec<String> {
    vec![
        format!("CREATE TABLE own_{me} (k int PRIMARY KEY, v int, u int UNIQUE, t text)"),
        format!("CREATE INDEX own_{me}_v ON own_{me} (v DESC NULLS FIRST, u)"),
    ]
}

/// A client at work.
pub struct Worker<'s> {
    pub me: u64,
    pub client: Client,
    /// Whether any client has stopped without an answer.
    pub silence: Arc<AtomicBool>,
    pub chance: Chance,
    pub story: &'s mut Story,
    /// SQLSTATEs that any statement may end with in this world (a full disk).
    pub tolerated: &'static [&'static str],
    /// Whether it does little but make indexes anew, and read by them.
    pub remakes: bool,
    /// The database's concurrency control.
    pub scheme: SchemeKind,
}

/// Why a client stops before its work is done.
#[derive(Debug)]
pub enum Stop {
    /// It gets no answer any more.
    Silence,
    /// It was told something that cannot be.
    Complaint(String),
}

/// What became of a transaction.
#[derive(PartialEq, Eq)]
enum Outcome {
    Committed,
    Refused(String),
}

type Done<T = ()> = Result<T, Stop>;

fn quoted(text: &str) -> String {
    format!("'{text}'")
}

fn shown(value: Option<i64>) -> String {
    value.map_or_else(|| "NULL".to_owned(), |value| value.to_string())
}

/// The query for a client's own rows, and how they are shown.
pub fn own_rows(me: u64) -> String {
    format!("SELECT k, v, u, t FROM own_{me} ORDER BY k")
}

/// The rows that [`own_rows`] shows.
pub fn shown_rows(rows: &BTreeMap<i64, OwnRow>) -> Vec<String> {
    let row = |(k, (v, u, t)): (&i64, &OwnRow)| {
        format!("{k}|{v}|{}|{t}", u.map_or_else(String::new, |u| u.to_string()))
    };
    rows.iter().map(row).collect()
}

impl Worker<'_> {
    /// Does `steps` things.
    pub fn work(&mut self, steps: u64) -> Done {
        if self.story.careless {
            self.read("SET synchronous_commit = off")?;
        }
        // Where a client stops, the locks of what it has prepared stay: whoever waits for them would wait for ever.
        self.read("SET lock_timeout = '60s'")?;
        if self.remakes {
            self.read("SET enable_seqscan = off")?;
        }
        for _ in 0..steps {
            self.step()?;
        }
        Ok(())
    }

    fn step(&mut self) -> Done {
        if self.remakes {
            return match self.chance.below(8) {
                0 => self.say("REINDEX INDEX account_touched").map(drop),
                1 | 2 => self.transfer(),
                _ => self.look(),
            };
        }
        match self.chance.below(100) {
            0..30 => self.transfer(),
            30..40 => self.own_insert(),
            40..48 => self.own_update(),
            48..54 => self.own_delete(),
            54..60 => self.own_savepoint(),
            60..63 => self.own_rebuild(),
            63..66 => self.own_index(),
            66..69 => self.own_many(),
            69..77 => self.claim(),
            77..85 => self.family(),
            85..90 => self.look(),
            90..93 => self.number(),
            93..96 => self.maintain(),
            _ => self.look_at_own(),
        }
    }

    /// Takes a value of the sequence, which no rollback gives back.
    fn number(&mut self) -> Done {
        let take = "SELECT nextval('number')";
        let text = match self.chance.percent(30) {
            true => format!("BEGIN; {take}; ROLLBACK"),
            false => take.to_owned(),
        };
        match self.say(&text)?.as_deref() {
            Ok([value]) if !self.story.careless => {
                let Ok(value) = value.parse() else { return self.complain(value) };
                self.story.numbers.push(value);
                Ok(())
            }
            Ok([_]) => Ok(()),
            Ok(rows) => self.complain(format!("{text}: {rows:?}")),
            Err(_) => self.rollback(),
        }
    }

    /// One message; a refusal that may be is handed on.
    fn say(&mut self, text: &str) -> Done<Result<Vec<String>, String>> {
        self.say_or(text, &[])
    }

    /// The same; so is a refusal with one of these SQLSTATEs.
    fn say_or(&mut self, text: &str, refused: &[&str]) -> Done<Result<Vec<String>, String>> {
        match self.client.say(text) {
            Answer::Rows(rows) => Ok(Ok(rows)),
            Answer::Nothing => self.fall_silent(),
            // An I/O error: the power is gone, or soon will be.
            Answer::Refused(state, _) if state == "58030" => self.fall_silent(),
            // What is waited for may have been prepared by one who got no answer.
            Answer::Refused(state, _)
                if state == "55P03" && self.silence.load(Ordering::Relaxed) =>
            {
                self.fall_silent()
            }
            Answer::Refused(state, message) => {
                let known = ["40P01", "40001", "23505", "23503"];
                let may_be = known.iter().chain(self.tolerated).chain(refused);
                if may_be.into_iter().any(|known| *known == state) {
                    return Ok(Err(state));
                }
                Err(Stop::Complaint(format!("client {}: {text:.200}: {state} {message}", self.me)))
            }
        }
    }

    fn fall_silent<T>(&self) -> Done<T> {
        self.silence.store(true, Ordering::Relaxed);
        Err(Stop::Silence)
    }

    /// A query, which nothing refuses by default: neither others' work nor a full disk. None where the scheme has refused it.
    fn read(&mut self, query: &str) -> Done<Option<Vec<String>>> {
        match self.say(query)? {
            Ok(rows) => Ok(Some(rows)),
            Err(state) if state.starts_with("40") && self.scheme != SchemeKind::default() => {
                Ok(None)
            }
            Err(state) => self.complain(format!("{query}: {state}")),
        }
    }

    fn complain<T>(&self, what: impl std::fmt::Display) -> Done<T> {
        Err(Stop::Complaint(format!("client {}: {what}", self.me)))
    }

    /// Runs statements as one transaction: in messages of their own, or all in one.
    fn transaction(&mut self, statements: &[String], after: Option<Private>) -> Done<Outcome> {
        let told = match statements {
            [one] if self.chance.percent(80) => {
                self.story.pending.clone_from(&after);
                self.say(one)?
            }
            _ if self.chance.percent(30) => {
                self.story.pending.clone_from(&after);
                let text = format!("BEGIN; {}; COMMIT", statements.join("; "));
                let told = self.say(&text)?;
                if told.is_err() {
                    self.rollback()?;
                }
                told
            }
            _ => self.block(statements, &after)?,
        };
        self.story.pending = None;
        match told {
            Ok(_) => {
                TALLY.committed.add(1);
                if let Some(after) = after {
                    let before = std::mem::replace(&mut self.story.known, after);
                    if self.story.careless {
                        self.story.earlier.push(before);
                    }
                }
                Ok(Outcome::Committed)
            }
            Err(state) => {
                TALLY.refused.add(1);
                TALLY.deadlocks.add(u64::from(state == "40P01"));
                TALLY.full.add(u64::from(state == "53100"));
                Ok(Outcome::Refused(state))
            }
        }
    }

    fn block(
        &mut self,
        statements: &[String],
        after: &Option<Private>,
    ) -> Done<Result<Vec<String>, String>> {
        let begin = match self.chance.below(4) {
            0 => "BEGIN ISOLATION LEVEL REPEATABLE READ",
            _ => "BEGIN",
        };
        if let Err(state) = self.say(begin)? {
            return self.complain(format!("BEGIN: {state}"));
        }
        for statement in statements {
            if let Err(state) = self.say(statement)? {
                self.rollback()?;
                return Ok(Err(state));
            }
        }
        self.story.pending.clone_from(after);
        let in_two_steps = self.chance.percent(20) && self.scheme.prepares();
        if in_two_steps { self.commit_in_two_steps() } else { self.say("COMMIT") }
    }

    /// PREPARE TRANSACTION and what follows it, with whatever comes between. What is lost in between is resolved by the audit.
    fn commit_in_two_steps(&mut self) -> Done<Result<Vec<String>, String>> {
        let name = format!("'client {}'", self.me);
        // What has spilled is not prepared.
        if let Err(state) = self.say_or(&format!("PREPARE TRANSACTION {name}"), &["53200"])? {
            return Ok(Err(state));
        }
        TALLY.prepared.add(1);
        if self.chance.percent(10) {
            self.say("CHECKPOINT")?.ok();
        }
        if self.chance.percent(80) {
            let told = self.say(&format!("COMMIT PREPARED {name}"))?;
            if told.is_ok() {
                return Ok(told);
            }
        }
        // Where COMMIT PREPARED was refused (a full disk), the transaction is still there.
        match self.say(&format!("ROLLBACK PREPARED {name}"))? {
            Ok(_) => Ok(Err("rolled back".to_owned())),
            Err(state) => self.complain(format!("ROLLBACK PREPARED: {state}")),
        }
    }

    fn rollback(&mut self) -> Done {
        match self.say("ROLLBACK")? {
            Ok(_) => Ok(()),
            Err(state) => self.complain(format!("ROLLBACK: {state}")),
        }
    }

    fn transfer(&mut self) -> Done {
        let (source, target) = (1 + self.chance.below(ACCOUNTS), 1 + self.chance.below(ACCOUNTS));
        let (amount, seq) = (self.chance.below(50), self.story.transfers + 1);
        let note = "n".repeat(self.chance.below(120) as usize);
        let update = |id: u64, sign: char| {
            format!(
                "UPDATE account SET balance = balance {sign} {amount}, touched = {seq} WHERE id = {id}"
            )
        };
        let me = self.me;
        let statements = [
            update(source, '-'),
            update(target, '+'),
            format!(
                "INSERT INTO journal VALUES ({me}, {seq}, {source}, {target}, {amount}, '{note}')"
            ),
        ];
        self.story.trying = true;
        let outcome = self.transaction(&statements, None)?;
        self.story.trying = false;
        if outcome == Outcome::Committed {
            self.story.transfers = seq;
            if !self.story.careless {
                self.story.sure = seq;
            }
        }
        Ok(())
    }

    fn key(&mut self) -> i64 {
        self.chance.below(KEYS) as i64
    }

    fn row(&mut self) -> OwnRow {
        let v = self.chance.below(1000) as i64;
        let u = self.chance.percent(70).then(|| self.chance.below(100) as i64);
        let length = match self.chance.below(20) {
            0 => 5000,
            1..4 => 900,
            _ => self.chance.below(60),
        };
        let letter = char::from(b'a' + self.chance.below(26) as u8);
        (v, u, letter.to_string().repeat(length as usize))
    }

    /// Runs statements on the own table. `after` is none where they must fail on a duplicate.
    fn own(&mut self, statements: &[String], after: Option<Private>) -> Done {
        let duplicate = after.is_none();
        match self.transaction(statements, after.or_else(|| Some(self.story.known.clone())))? {
            Outcome::Committed if duplicate => {
                self.complain(format!("a duplicate went in: {statements:?}"))
            }
            Outcome::Refused(state) if !duplicate && state.starts_with("23") => {
                self.complain(format!("refused with {state}: {statements:?}"))
            }
            _ => Ok(()),
        }
    }

    fn insert_text(&self, k: i64, (v, u, t): &OwnRow) -> String {
        let me = self.me;
        format!("INSERT INTO own_{me} (k, v, u, t) VALUES ({k}, {v}, {}, {})", shown(*u), quoted(t))
    }

    fn own_insert(&mut self) -> Done {
        let (k, row) = (self.key(), self.row());
        let text = self.insert_text(k, &row);
        let mut after = self.story.known.clone();
        let taken = |after: &Private| after.rows.values().any(|other| other.1 == row.1);
        let clash = after.rows.contains_key(&k) || (row.1.is_some() && taken(&after));
        after.rows.insert(k, row);
        self.own(&[text], (!clash).then_some(after))
    }

    fn own_update(&mut self) -> Done {
        let (k, (v, u, t), moved) = (self.key(), self.row(), self.key());
        let mut after = self.story.known.clone();
        let me = self.me;
        let (Some(old), move_key) = (after.rows.remove(&k), self.chance.percent(20)) else {
            let text = format!("UPDATE own_{me} SET v = v + 1 WHERE k = {k}");
            return self.own(&[text], Some(after));
        };
        if move_key {
            let clash = after.rows.contains_key(&moved);
            after.rows.insert(moved, old);
            let text = format!("UPDATE own_{me} SET k = {moved} WHERE k = {k}");
            return self.own(&[text], (!clash).then_some(after));
        }
        let clash = u.is_some() && after.rows.values().any(|other| other.1 == u);
        let text = format!(
            "UPDATE own_{me} SET v = {v}, u = {}, t = {} WHERE k = {k}",
            shown(u),
            quoted(&t)
        );
        after.rows.insert(k, (v, u, t));
        self.own(&[text], (!clash).then_some(after))
    }

    fn own_delete(&mut self) -> Done {
        let me = self.me;
        let (low, width) = (self.key(), self.chance.below(6) as i64);
        let mut after = self.story.known.clone();
        after.rows.retain(|k, _| !(low..=low + width).contains(k));
        let text = format!("DELETE FROM own_{me} WHERE k BETWEEN {low} AND {}", low + width);
        self.own(&[text], Some(after))
    }

    /// What is rolled back to a savepoint is gone, what follows it is there.
    fn own_savepoint(&mut self) -> Done {
        let me = self.me;
        let mut after = self.story.known.clone();
        let (first, second) = (self.key(), self.key());
        after.rows.remove(&first);
        after.rows.remove(&second);
        let kept = (7, None, "kept".to_owned());
        let statements = [
            format!("DELETE FROM own_{me} WHERE k IN ({first}, {second})"),
            "SAVEPOINT s".to_owned(),
            self.insert_text(first, &(1, None, "x".repeat(300))),
            format!("UPDATE own_{me} SET v = -1, u = NULL"),
            "SAVEPOINT inner_one".to_owned(),
            format!("DELETE FROM own_{me}"),
            "RELEASE inner_one".to_owned(),
            "ROLLBACK TO s".to_owned(),
            self.insert_text(second, &kept),
        ];
        after.rows.insert(second, kept);
        self.own(&statements, Some(after))
    }

    /// TRUNCATE, or DROP and CREATE, with what is put in at once; or a change of shape.
    fn own_rebuild(&mut self) -> Done {
        let me = self.me;
        let mut after = self.story.known.clone();
        let statements = match self.chance.below(4) {
            0 => {
                after.rows.clear();
                vec![format!("TRUNCATE own_{me}")]
            }
            1 => {
                after.rows = BTreeMap::from([(1, (1, Some(1), "new".to_owned()))]);
                let mut all = vec![format!("DROP TABLE own_{me}")];
                all.extend(own_table(me));
                all.push(self.insert_text(1, &after.rows[&1]));
                all
            }
            2 => vec![format!("ALTER TABLE own_{me} ADD COLUMN IF NOT EXISTS extra int DEFAULT 7")],
            _ => vec![format!("ALTER TABLE own_{me} DROP COLUMN IF EXISTS extra")],
        };
        self.own(&statements, Some(after))
    }

    fn own_index(&mut self) -> Done {
        let me = self.me;
        let after = self.story.known.clone();
        let statement = match self.chance.below(3) {
            0 => format!("DROP INDEX IF EXISTS own_{me}_v"),
            1 => format!("CREATE INDEX IF NOT EXISTS own_{me}_v ON own_{me} (v)"),
            _ => format!("CREATE UNIQUE INDEX IF NOT EXISTS own_{me}_kv ON own_{me} (k, v)"),
        };
        self.own(&[statement], Some(after))
    }

    /// Many rows by one statement: a commit in parts, applied late.
    fn own_many(&mut self) -> Done {
        let me = self.me;
        let (v, letter) = (self.chance.below(100) as i64, char::from(b'A' + me as u8));
        let mut after = self.story.known.clone();
        after.rows.clear();
        for k in 0..KEYS as i64 {
            after.rows.insert(k, (v + k, None, letter.to_string().repeat(k as usize)));
        }
        let statements = [
            format!("DELETE FROM own_{me}"),
            format!(
                "INSERT INTO own_{me} (k, v, t) SELECT g, {v} + g, repeat('{letter}', g) \
                 FROM generate_series(0, {}) g",
                KEYS - 1
            ),
        ];
        self.own(&statements, Some(after))
    }

    fn claim(&mut self) -> Done {
        let me = self.me;
        let (code, other) = (self.chance.below(CODES) as i64, self.chance.below(CODES) as i64);
        let mut after = self.story.known.clone();
        let text = match self.chance.below(3) {
            0 => {
                after.claims.insert(code);
                format!("INSERT INTO claim VALUES ({me}, {code}, repeat('c', {}))", code * 7)
            }
            1 => {
                after.claims.remove(&code);
                format!("DELETE FROM claim WHERE holder = {me} AND code = {code}")
            }
            _ => {
                if after.claims.remove(&code) {
                    after.claims.insert(other);
                }
                format!("UPDATE claim SET code = {other} WHERE holder = {me} AND code = {code}")
            }
        };
        // Whoever holds the code keeps it: a refusal is as good as an answer.
        self.transaction(&[text], Some(after)).map(drop)
    }

    fn family(&mut self) -> Done {
        let (parent, id) = (self.chance.below(8), self.chance.below(200));
        let statements = match self.chance.below(7) {
            0 => vec![format!("INSERT INTO parent VALUES ({parent}, {id})")],
            1 => vec![format!("DELETE FROM parent WHERE id = {parent}")],
            2 => vec![format!("INSERT INTO child VALUES ({id}, {parent})")],
            3 => vec![format!("INSERT INTO ward VALUES ({id}, {parent})")],
            4 => vec![format!("DELETE FROM child WHERE parent = {parent}")],
            5 => vec![
                format!("DELETE FROM child WHERE parent = {parent}"),
                format!("DELETE FROM parent WHERE id = {parent}"),
            ],
            _ => vec![format!("UPDATE parent SET v = v + 1 WHERE id = {parent}")],
        };
        self.transaction(&statements, None).map(drop)
    }

    /// What anyone sees at any moment: no money lost, no gap in a journal.
    fn look(&mut self) -> Done {
        let total = ACCOUNTS * OPENING;
        for (query, expected) in [
            ("SELECT sum(balance), count(*) FROM account", format!("{total}|{ACCOUNTS}")),
            (
                "SELECT count(*) FROM account WHERE touched BETWEEN 0 AND 1000000",
                ACCOUNTS.to_string(),
            ),
        ] {
            let Some(rows) = self.read(query)? else { return Ok(()) };
            if rows != [expected.as_str()] {
                return self.complain(format!("{query}: {rows:?} instead of {expected}"));
            }
        }
        let query = "SELECT client, count(*), max(seq) FROM journal GROUP BY client";
        let Some(rows) = self.read(query)? else { return Ok(()) };
        for row in rows {
            let fields: Vec<u64> = row.split('|').filter_map(|field| field.parse().ok()).collect();
            match fields.as_slice() {
                // Who does not ask for durability is shown what may yet be lost.
                [_, count, last] if count == last && self.story.careless => {}
                [client, count, last] if count == last => {
                    let seen = self.story.seen.entry(*client).or_default();
                    if *seen > *last {
                        let seen = *seen;
                        return self.complain(format!("client {client}: {seen} seen, then {last}"));
                    }
                    *seen = *last;
                }
                _ => return self.complain(format!("a gap in a journal: {row}")),
            }
        }
        Ok(())
    }

    /// The own table is what it was told to be, by rows and by index.
    fn look_at_own(&mut self) -> Done {
        let Some(rows) = self.read(&own_rows(self.me))? else { return Ok(()) };
        let expected = shown_rows(&self.story.known.rows);
        if rows != expected {
            return self.complain(format!("own rows are {rows:?} instead of {expected:?}"));
        }
        let v = self.chance.below(1000) as i64;
        let query = format!("SELECT count(*) FROM own_{} WHERE v <= {v}", self.me);
        let Some(rows) = self.read(&query)? else { return Ok(()) };
        let expected = self.story.known.rows.values().filter(|row| row.0 <= v).count().to_string();
        if rows != [expected.as_str()] {
            return self.complain(format!("{query}: {rows:?} instead of {expected}"));
        }
        Ok(())
    }

    fn maintain(&mut self) -> Done {
        let text = match self.chance.below(11) {
            0 | 1 => "CHECKPOINT".to_owned(),
            10 => COUNT_BROOD.to_owned(),
            2 => "VACUUM".to_owned(),
            3 => format!("VACUUM own_{}", self.me),
            4 => "ANALYZE account".to_owned(),
            5 => "REINDEX TABLE account".to_owned(),
            6 => "REINDEX INDEX child_parent".to_owned(),
            7 => "REINDEX TABLE claim".to_owned(),
            8 => format!("REINDEX TABLE own_{}", self.me),
            _ => "VACUUM (ANALYZE) claim".to_owned(),
        };
        self.say(&text).map(drop)
    }
}
