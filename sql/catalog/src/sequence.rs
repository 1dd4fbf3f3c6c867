//! The values of sequences.
//!
//! A sequence's definition is an object like others; its values are given outside transactions: never twice, and a
//! rollback gives none back. How far they have come is in memory, for all sessions together ([`Values`]), and a record
//! of the catalog tree says up to where they count as given should the server die. That is up to [`LOGGED_AHEAD`] values
//! ahead, as with PostgreSQL's `SEQ_LOG_VALS`, so that few values are a little commit of their own; a crash skips what had
//! been logged and not given, and a clean end ([`settle`]) nothing. A value is told to nobody before the commit that logged
//! it is durable.
//!
//! Where nothing has been logged yet the definition says where a sequence begins. RESTART is a definition that names
//! another state, and so it is seen, and taken back, with the transaction that did it.
//!
//! A session keeps what CACHE let it take, and remembers its last values for `currval`.

use crate::object::{Class, Object, ObjectKey};
use crate::relation::{Relation, RelationKind, Sequence};
use crate::{Catalog, CatalogSnapshot, PreparedNote, store};
use sql_types::Oid;
use sql_types::error::{Result, SqlError};
use sql_types::sqlstate::SqlState;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use txn::sync::{Mutex, lock, rank};
use txn::{Begin, Lsn, RowLock, SessionWait, Transaction};

/// How many values are logged as given beyond those that somebody takes.
const LOGGED_AHEAD: i64 = 32;

/// The values a session may still hand out of one advance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Advance {
    /// The next value.
    next: i64,
    /// How many values there are, this one included.
    count: i64,
}

/// The state of a sequence: its last value, and whether it has been given; if not, it is the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct State {
    /// The last value.
    pub last_value: i64,
    /// Whether it was given.
    pub is_called: bool,
}

/// What says which value is behind another: where it has changed, what was logged ahead is not what comes next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Rules {
    increment: i64,
    bounds: (i64, i64),
    cycle: bool,
    cache: i64,
}

impl Rules {
    fn of(sequence: &Sequence) -> Rules {
        let Sequence { increment, min, max, cycle, cache, .. } = *sequence;
        Rules { increment, bounds: (min, max), cycle, cache }
    }
}

/// How far a sequence has come.
#[derive(Clone, Copy, Debug)]
struct Come {
    state: State,
    /// How many values behind the last are logged as given.
    logged: i64,
    rules: Rules,
    /// The commit that logged them.
    at: Lsn,
}

/// How far one state of a sequence has come, once anybody has asked.
#[derive(Debug, Default)]
pub struct Values(Mutex<Option<Come>, { rank::IDENTIFIERS }>);

impl Values {
    /// Takes values that have been logged, if there are as many.
    fn take(&self, sequence: &Sequence, count: i64) -> Option<(Advance, Lsn)> {
        let mut come = lock(&self.0);
        let come = come.as_mut()?;
        let ready = come.state.is_called && come.logged >= count;
        if !ready || come.rules != Rules::of(sequence) {
            return None;
        }
        let next = come.state.last_value + sequence.increment;
        come.state.last_value += count * sequence.increment;
        come.logged -= count;
        Some((Advance { next, count }, come.at))
    }

    fn come(&self) -> Option<Come> {
        *lock(&self.0)
    }
}

fn state_key(database: Oid, sequence: &Sequence) -> ObjectKey {
    ObjectKey { class: Class::SequenceState, database, oid: sequence.state, sub: 0 }
}

fn encode(state: State) -> [u8; 9] {
    let mut bytes = [0; 9];
    bytes[..8].copy_from_slice(&state.last_value.to_le_bytes());
    bytes[8] = u8::from(state.is_called);
    bytes
}

fn decode(bytes: &[u8]) -> Result<State> {
    let corrupt = || SqlError::new(SqlState::DATA_CORRUPTED, "a sequence's state is corrupt");
    let value = bytes.first_chunk().ok_or_else(corrupt)?;
    let called = bytes.get(8).ok_or_else(corrupt)?;
    Ok(State { last_value: i64::from_le_bytes(*value), is_called: *called != 0 })
}

/// A little transaction that has the state's record to itself, and what stands there.
fn hold(catalog: &Catalog, key: ObjectKey) -> Result<(Transaction, Option<State>)> {
    let wait = Arc::new(SessionWait::new(0));
    let mut transaction = catalog.manager().begin(Begin::default(), &wait);
    transaction.begin_statement()?;
    let stored = store::lock(&mut transaction, catalog.tree(), key, RowLock::Update)?;
    Ok((transaction, stored.as_deref().map(decode).transpose()?))
}

/// Commits the little transaction, which has found `there`: `stored` is what counts after a crash, `come` what counts until
/// then.
fn log(
    catalog: &Catalog,
    (mut transaction, there): (Transaction, Option<State>),
    (key, stored): (ObjectKey, State),
    (values, come): (&Values, Come),
) -> Result<Lsn> {
    if there == Some(stored) {
        // The record says so already, by the commit that is known, or one from before the start.
        let mut known = lock(&values.0);
        let at = known.map_or(Lsn::ZERO, |come| come.at);
        *known = Some(Come { at, ..come });
        drop(known);
        return Ok(at.max(transaction.rollback().wait_for));
    }
    store::write(&mut transaction, catalog.tree(), key, Some(&encode(stored)))?;
    // Before the record is anybody else's: who has it next finds this.
    let mut publish = |at| *lock(&values.0) = Some(Come { at, ..come });
    Ok(transaction.commit(&mut publish)?.wait_for)
}

/// The state as it is now, and how many values behind it are logged as given (`log_cnt`).
///
/// # Errors
/// Storage's.
pub fn state(catalog: &Catalog, database: Oid, sequence: &Sequence) -> Result<(State, i64)> {
    if let Some(come) = catalog.sequence_values(sequence.state).come() {
        let same = come.rules == Rules::of(sequence);
        return Ok((come.state, if same { come.logged } else { 0 }));
    }
    let (transaction, stored) = hold(catalog, state_key(database, sequence))?;
    let _ = transaction.rollback();
    Ok((stored.unwrap_or(sequence.initial), 0))
}

/// Takes values for `nextval`, as many as CACHE asks for; what a session does not use of them is lost, as in PostgreSQL.
/// The second part is the commit that they are logged by.
///
/// # Errors
/// 2200H at the sequence's end.
fn advance(
    catalog: &Catalog,
    database: Oid,
    (name, sequence): (&str, &Sequence),
    values: &Values,
) -> Result<(Advance, Lsn)> {
    let wanted = sequence.cache.max(1);
    if let Some(taken) = values.take(sequence, wanted) {
        return Ok(taken);
    }
    let key = state_key(database, sequence);
    let (transaction, stored) = hold(catalog, key)?;
    // While we waited for the record somebody else may have logged more.
    if let Some(taken) = values.take(sequence, wanted) {
        let _ = transaction.rollback();
        return Ok(taken);
    }
    let come = values.come().map(|come| come.state);
    let before = come.or(stored).unwrap_or(sequence.initial);
    let next = following(sequence, name, before)?.last_value;
    // Values behind the next one, as far as they go without a wrap.
    let room = if sequence.increment > 0 {
        sequence.max.saturating_sub(next) / sequence.increment
    } else {
        next.saturating_sub(sequence.min) / sequence.increment.saturating_neg().max(1)
    };
    let there_are = room.saturating_add(1).max(1);
    let count = wanted.min(there_are);
    let logged = wanted.saturating_add(LOGGED_AHEAD).min(there_are) - count;
    let after =
        |given: i64| State { last_value: next + (given - 1) * sequence.increment, is_called: true };
    let come = Come { state: after(count), logged, rules: Rules::of(sequence), at: Lsn::ZERO };
    let held = (transaction, stored);
    let lsn = log(catalog, held, (key, after(count + logged)), (values, come))?;
    Ok((Advance { next, count }, lsn))
}

/// Has the records say what has been given and no more, and removes those of states that no sequence has any more. No
/// session is left.
///
/// # Errors
/// Storage's.
pub fn settle(catalog: &Catalog) -> Result<()> {
    let state = |relation: &Arc<Relation>| match &relation.kind {
        RelationKind::Sequence(sequence) => Some(sequence.state),
        _ => None,
    };
    let mut used: HashSet<Oid> = catalog.current().relations().filter_map(state).collect();
    for note in PreparedNote::all(catalog.manager())? {
        used.extend(note.effects.changes.iter().filter_map(|(_, object)| match object {
            Some(Object::Relation(relation)) => state(relation),
            _ => None,
        }));
    }
    let wait = Arc::new(SessionWait::new(0));
    let mut transaction = catalog.manager().begin(Begin::default(), &wait);
    let tree = catalog.tree();
    for key in store::keys(&mut transaction, tree, Class::SequenceState)? {
        if !used.contains(&key.oid) {
            store::write(&mut transaction, tree, key, None)?;
        } else if let Some(come) = catalog.sequence_values(key.oid).come()
            && come.logged > 0
        {
            store::write(&mut transaction, tree, key, Some(&encode(come.state)))?;
        }
    }
    let _ = transaction.commit(&mut |_| ())?;
    Ok(())
}

/// The state once one more value has been given: that is its last.
///
/// # Errors
/// 2200H at the sequence's end.
pub fn following(sequence: &Sequence, name: &str, state: State) -> Result<State> {
    let last_value =
        if state.is_called { step(sequence, name, state.last_value)? } else { state.last_value };
    Ok(State { last_value, is_called: true })
}

/// The value behind `value`.
fn step(sequence: &Sequence, name: &str, value: i64) -> Result<i64> {
    let next = value.checked_add(sequence.increment);
    let limit = |which: &str, bound: i64| {
        SqlError::new(
            SqlState::SEQUENCE_GENERATOR_LIMIT_EXCEEDED,
            format!("nextval: reached {which} value of sequence \"{name}\" ({bound})"),
        )
    };
    match next {
        Some(next) if next >= sequence.min && next <= sequence.max => Ok(next),
        _ if sequence.cycle && sequence.increment > 0 => Ok(sequence.min),
        _ if sequence.cycle => Ok(sequence.max),
        _ if sequence.increment > 0 => Err(limit("maximum", sequence.max)),
        _ => Err(limit("minimum", sequence.min)),
    }
}

/// `setval`; the commit that logs it.
fn set_value(
    catalog: &Catalog,
    database: Oid,
    (name, sequence): (&str, &Sequence),
    values: &Values,
    state: State,
) -> Result<Lsn> {
    if state.last_value < sequence.min || state.last_value > sequence.max {
        return Err(SqlError::new(
            SqlState::NUMERIC_VALUE_OUT_OF_RANGE,
            format!(
                "setval: value {} is out of bounds for sequence \"{name}\" ({}..{})",
                state.last_value, sequence.min, sequence.max
            ),
        ));
    }
    let key = state_key(database, sequence);
    let held = hold(catalog, key)?;
    let come = Come { state, logged: 0, rules: Rules::of(sequence), at: Lsn::ZERO };
    log(catalog, held, (key, state), (values, come))
}

/// What a session has of a sequence.
#[derive(Debug)]
struct Taken {
    /// The state that it was taken from.
    state: Oid,
    values: Arc<Values>,
    left: Advance,
    /// The value given last; none where only others have taken some.
    last: Option<i64>,
}

/// What a session remembers of sequences.
#[derive(Debug, Default)]
pub struct SessionSequences {
    /// By the sequence's OID.
    taken: HashMap<Oid, Taken>,
    /// The sequence `nextval` was called for last.
    last: Option<Oid>,
    /// The newest commit that logged a value which the session was given, until it has been asked for.
    logged: Lsn,
}

impl SessionSequences {
    /// What the session has of a sequence in its current state.
    fn of(&mut self, catalog: &Catalog, oid: Oid, sequence: &Sequence) -> &mut Taken {
        let begin = |last| Taken {
            state: sequence.state,
            values: catalog.sequence_values(sequence.state),
            left: Advance { next: 0, count: 0 },
            last,
        };
        let taken = self.taken.entry(oid).or_insert_with(|| begin(None));
        if taken.state != sequence.state {
            *taken = begin(taken.last);
        }
        taken
    }

    /// `nextval`.
    ///
    /// # Errors
    /// 2200H at the sequence's end; those of a commit.
    pub fn next_value(
        &mut self,
        catalog: &Catalog,
        database: Oid,
        relation: &Relation,
        sequence: &Sequence,
    ) -> Result<i64> {
        let taken = self.of(catalog, relation.oid, sequence);
        let mut lsn = Lsn::ZERO;
        if taken.left.count == 0 {
            let named = (&*relation.name, sequence);
            (taken.left, lsn) = advance(catalog, database, named, &taken.values)?;
        }
        let value = taken.left.next;
        taken.left.next = value.wrapping_add(sequence.increment);
        taken.left.count -= 1;
        taken.last = Some(value);
        self.logged = self.logged.max(lsn);
        self.last = Some(relation.oid);
        Ok(value)
    }

    /// Notes that the session has been given a value, by other means than [`SessionSequences::next_value`].
    pub fn note(&mut self, catalog: &Catalog, oid: Oid, sequence: &Sequence, value: i64) {
        self.of(catalog, oid, sequence).last = Some(value);
        self.last = Some(oid);
    }

    /// What the session's answer has to wait for, since this was asked for last.
    pub fn take_logged(&mut self) -> Lsn {
        std::mem::take(&mut self.logged)
    }

    /// `currval`.
    ///
    /// # Errors
    /// 55000 before the first `nextval` of the session.
    pub fn current_value(&self, relation: &Relation) -> Result<i64> {
        self.taken.get(&relation.oid).and_then(|taken| taken.last).ok_or_else(|| {
            SqlError::new(
                SqlState::OBJECT_NOT_IN_PREREQUISITE_STATE,
                format!(
                    "currval of sequence \"{}\" is not yet defined in this session",
                    relation.name
                ),
            )
        })
    }

    /// `lastval`, of a sequence that is there yet, with that sequence.
    ///
    /// # Errors
    /// 55000 before the first `nextval` of the session.
    pub fn last_value<'s>(
        &self,
        snapshot: &'s CatalogSnapshot,
    ) -> Result<(&'s Arc<Relation>, i64)> {
        let found = self.last.and_then(|last| {
            let relation = snapshot.relation(last)?;
            Some((relation, self.taken.get(&last)?.last?))
        });
        found.ok_or_else(|| {
            SqlError::new(
                SqlState::OBJECT_NOT_IN_PREREQUISITE_STATE,
                "lastval is not yet defined in this session",
            )
        })
    }

    /// `setval`.
    ///
    /// # Errors
    /// 22003 outside the sequence's bounds; those of a commit.
    pub fn set(
        &mut self,
        catalog: &Catalog,
        database: Oid,
        relation: &Relation,
        sequence: &Sequence,
        state: State,
    ) -> Result<()> {
        let taken = self.of(catalog, relation.oid, sequence);
        let named = (&*relation.name, sequence);
        let lsn = set_value(catalog, database, named, &taken.values, state)?;
        taken.left.count = 0;
        if state.is_called {
            taken.last = Some(state.last_value);
        }
        self.logged = self.logged.max(lsn);
        Ok(())
    }

    /// DISCARD SEQUENCES.
    pub fn discard(&mut self) {
        // What an answer waits for is not forgotten.
        *self = SessionSequences { logged: self.logged, ..SessionSequences::default() };
    }
}

/// The sequence that a relation is.
///
/// # Errors
/// 42809.
pub fn of(relation: &Relation) -> Result<&Sequence> {
    match &relation.kind {
        RelationKind::Sequence(sequence) => Ok(sequence),
        RelationKind::Table { .. }
        | RelationKind::System
        | RelationKind::View { .. }
        | RelationKind::Composite => Err(SqlError::new(
            SqlState::WRONG_OBJECT_TYPE,
            format!("\"{}\" is not a sequence", relation.name),
        )),
    }
}
