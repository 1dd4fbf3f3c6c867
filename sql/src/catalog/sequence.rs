//! The values of sequences.
//!
//! A sequence's definition is an object like others; its state is a record of the catalog tree that is advanced outside
//! transactions, by a little commit of its own that is logged before any value is used: values are never given twice, and
//! a rollback gives none back. A session keeps what CACHE let it take, and remembers its last values for `currval`.

use crate::catalog::object::{Class, ObjectKey};
use crate::catalog::relation::{Relation, RelationKind, Sequence};
use crate::catalog::{Catalog, store};
use crate::error::{Result, SqlError};
use crate::sqlstate::SqlState;
use crate::types::Oid;
use std::collections::HashMap;
use std::sync::Arc;
use txn::{Begin, SessionWait};

/// The values a session may still hand out of one advance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Advance {
    /// The next value.
    pub next: i64,
    /// How many values there are, this one included.
    pub count: i64,
}

/// The state of a sequence: the last value that was logged as used, and whether any was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct State {
    /// The last value.
    pub last_value: i64,
    /// Whether it was given; if not, it is the next.
    pub is_called: bool,
}

pub(crate) fn state_key(database: Oid, sequence: &Sequence) -> ObjectKey {
    ObjectKey { class: Class::SequenceState, database, oid: sequence.state, sub: 0 }
}

pub(crate) fn encode(state: State) -> [u8; 9] {
    let mut bytes = [0; 9];
    bytes[..8].copy_from_slice(&state.last_value.to_le_bytes());
    bytes[8] = u8::from(state.is_called);
    bytes
}

fn decode(sequence: &Sequence, bytes: Option<&[u8]>) -> Result<State> {
    let Some(bytes) = bytes else {
        return Ok(State { last_value: sequence.start, is_called: false });
    };
    let corrupt = || SqlError::new(SqlState::DATA_CORRUPTED, "a sequence's state is corrupt");
    let value = bytes.first_chunk().ok_or_else(corrupt)?;
    let called = bytes.get(8).ok_or_else(corrupt)?;
    Ok(State { last_value: i64::from_le_bytes(*value), is_called: *called != 0 })
}

/// The state as it is now.
///
/// # Errors
/// Storage's.
pub fn state(catalog: &Catalog, database: Oid, sequence: &Sequence) -> Result<State> {
    change_state(catalog, database, sequence, |_| Ok(None)).map(|(state, ())| state)
}

/// Runs one little commit over the state.
fn change_state<T: Default>(
    catalog: &Catalog,
    database: Oid,
    sequence: &Sequence,
    change: impl FnOnce(State) -> Result<Option<(State, T)>>,
) -> Result<(State, T)> {
    let wait = Arc::new(SessionWait::new(0));
    let mut transaction = catalog.manager().begin(Begin::default(), &wait);
    transaction.begin_statement()?;
    let key = state_key(database, sequence);
    let stored = store::lock(&mut transaction, catalog.tree(), key)?;
    let before = decode(sequence, stored.as_deref())?;
    let Some((after, result)) = change(before)? else {
        let _ = transaction.rollback();
        return Ok((before, T::default()));
    };
    store::write(&mut transaction, catalog.tree(), key, Some(&encode(after)))?;
    let _ = transaction.commit(&mut |_| ())?;
    Ok((after, result))
}

/// Takes values for `nextval`, as many as CACHE asks for; what a session does not use of them is lost, as in PostgreSQL.
///
/// # Errors
/// 2200H at the sequence's end.
pub fn advance(
    catalog: &Catalog,
    database: Oid,
    name: &str,
    sequence: &Sequence,
) -> Result<Advance> {
    let count = sequence.cache.max(1);
    let (_, taken) = change_state(catalog, database, sequence, |state| {
        let first = following(sequence, name, state)?.last_value;
        // Values behind the first, as far as they go without a wrap.
        let room = if sequence.increment > 0 {
            sequence.max.saturating_sub(first) / sequence.increment
        } else {
            first.saturating_sub(sequence.min) / sequence.increment.saturating_neg().max(1)
        };
        let count = count.min(room.saturating_add(1)).max(1);
        let last = first + (count - 1) * sequence.increment;
        Ok(Some((
            State { last_value: last, is_called: true },
            Some(Advance { next: first, count }),
        )))
    })?;
    Ok(taken.expect("an advance takes at least one value"))
}

/// The state once one more value has been given: that is its last.
///
/// # Errors
/// 2200H at the sequence's end.
pub(crate) fn following(sequence: &Sequence, name: &str, state: State) -> Result<State> {
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

/// `setval`.
///
/// # Errors
/// 22003 outside the sequence's bounds.
pub fn set_value(
    catalog: &Catalog,
    database: Oid,
    name: &str,
    sequence: &Sequence,
    state: State,
) -> Result<()> {
    if state.last_value < sequence.min || state.last_value > sequence.max {
        return Err(SqlError::new(
            SqlState::NUMERIC_VALUE_OUT_OF_RANGE,
            format!(
                "setval: value {} is out of bounds for sequence \"{name}\" ({}..{})",
                state.last_value, sequence.min, sequence.max
            ),
        ));
    }
    change_state(catalog, database, sequence, |_| Ok(Some((state, ())))).map(|_| ())
}

/// What a session remembers of sequences.
#[derive(Debug, Default)]
pub struct SessionSequences {
    /// By the sequence's OID: the state it was taken from, what is left of it, and the last value given.
    taken: HashMap<Oid, (Oid, Advance, i64)>,
    /// The sequence `nextval` was called for last.
    last: Option<Oid>,
}

impl SessionSequences {
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
        let left = self.taken.get(&relation.oid).filter(|taken| taken.0 == sequence.state);
        let mut advance = match left.map(|taken| taken.1) {
            Some(advance) if advance.count > 0 => advance,
            _ => advance(catalog, database, &relation.name, sequence)?,
        };
        let value = advance.next;
        advance.next = value.wrapping_add(sequence.increment);
        advance.count -= 1;
        self.taken.insert(relation.oid, (sequence.state, advance, value));
        self.last = Some(relation.oid);
        Ok(value)
    }

    /// `currval`.
    ///
    /// # Errors
    /// 55000 before the first `nextval` of the session.
    pub fn current_value(&self, relation: &Relation) -> Result<i64> {
        self.taken.get(&relation.oid).map(|taken| taken.2).ok_or_else(|| {
            SqlError::new(
                SqlState::OBJECT_NOT_IN_PREREQUISITE_STATE,
                format!(
                    "currval of sequence \"{}\" is not yet defined in this session",
                    relation.name
                ),
            )
        })
    }

    /// `lastval`.
    ///
    /// # Errors
    /// 55000 before the first `nextval` of the session.
    pub fn last_value(&self) -> Result<i64> {
        let found = self.last.and_then(|last| self.taken.get(&last));
        found.map(|taken| taken.2).ok_or_else(|| {
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
        set_value(catalog, database, &relation.name, sequence, state)?;
        let none_left = Advance { next: state.last_value, count: 0 };
        if state.is_called {
            self.taken.insert(relation.oid, (sequence.state, none_left, state.last_value));
        } else if let Some(taken) = self.taken.get_mut(&relation.oid) {
            taken.1 = none_left;
        }
        Ok(())
    }

    /// DISCARD SEQUENCES.
    pub fn discard(&mut self) {
        *self = SessionSequences::default();
    }
}

/// The sequence that a relation is.
///
/// # Errors
/// 42809.
pub fn of(relation: &Relation) -> Result<&Sequence> {
    match &relation.kind {
        RelationKind::Sequence(sequence) => Ok(sequence),
        RelationKind::Table { .. } | RelationKind::System | RelationKind::View { .. } => {
            Err(SqlError::new(
                SqlState::WRONG_OBJECT_TYPE,
                format!("\"{}\" is not a sequence", relation.name),
            ))
        }
    }
}
