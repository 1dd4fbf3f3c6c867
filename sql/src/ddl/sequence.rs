//! CREATE SEQUENCE, ALTER SEQUENCE, and the counters behind serial and identity columns.
//!
//! RESTART begins a new state under a new number, so it is taken back with the transaction that did it. How values are
//! given is told in `catalog::sequence`.

use super::Ddl;
use super::resolve::{column as column_of, duplicate_relation, undefined_table};
use crate::catalog::Named;
use crate::catalog::object::Version;
use crate::catalog::privilege::Grantable;
use crate::catalog::relation::{Column, Relation, RelationKind, ReplicaIdentity, Sequence};
use crate::catalog::sequence::State;
use crate::error::{Result, SqlError};
use crate::parse::ast::{AlterSequence, CreateSequence, ObjectKind, ObjectName, SequenceOption};
use crate::sqlstate::SqlState;
use crate::types::{Oid, SqlType};
use std::sync::Arc;
use txn::TableLock;

fn invalid(message: String) -> SqlError {
    SqlError::new(SqlState::INVALID_PARAMETER_VALUE, message)
}

/// The bounds of an integer type.
fn bounds(ty: Oid) -> Option<(i64, i64)> {
    match ty.0 {
        21 => Some((i64::from(i16::MIN), i64::from(i16::MAX))),
        23 => Some((i64::from(i32::MIN), i64::from(i32::MAX))),
        20 => Some((i64::MIN, i64::MAX)),
        _ => None,
    }
}

/// A new sequence of these options.
pub(super) fn definition(
    ddl: &mut Ddl<'_>,
    ty: Oid,
    options: &[SequenceOption],
) -> Result<Sequence> {
    let state = ddl.catalog.next_oid()?;
    let blank = Sequence {
        ty,
        start: 0,
        increment: 1,
        min: 0,
        max: 0,
        cache: 1,
        cycle: false,
        state,
        initial: State { last_value: 0, is_called: false },
        owner: None,
    };
    let (mut sequence, _) = apply(ddl, blank, options, true)?;
    sequence.initial.last_value = sequence.start;
    Ok(sequence)
}

/// Applies options, as PostgreSQL's `init_params` does; the second part says where RESTART begins.
fn apply(
    ddl: &mut Ddl<'_>,
    mut sequence: Sequence,
    options: &[SequenceOption],
    new: bool,
) -> Result<(Sequence, Option<i64>)> {
    let (mut min, mut max, mut start, mut restart) = (None, None, None, None);
    let old_bounds = bounds(sequence.ty);
    for option in options {
        match option {
            SequenceOption::Type(name) => {
                let snapshot = ddl.snapshot();
                sequence.ty = ddl.semantics.type_of(&snapshot, name)?.oid;
            }
            SequenceOption::Increment(0) => {
                return Err(invalid("INCREMENT must not be zero".into()));
            }
            SequenceOption::Increment(by) => sequence.increment = *by,
            SequenceOption::Minimum(value) => min = Some(*value),
            SequenceOption::Maximum(value) => max = Some(*value),
            SequenceOption::Start(value) => start = Some(*value),
            SequenceOption::Restart(value) => restart = Some(*value),
            SequenceOption::Cache(value) if *value <= 0 => {
                return Err(invalid(format!("CACHE ({value}) must be greater than zero")));
            }
            SequenceOption::Cache(value) => sequence.cache = *value,
            SequenceOption::Cycle(cycle) => sequence.cycle = *cycle,
            SequenceOption::OwnedBy(owner) => {
                sequence.owner = match owner {
                    None => None,
                    Some(column) => Some(owning_column(ddl, column)?),
                };
            }
            SequenceOption::Name(_) | SequenceOption::Logged(_) => {
                return Err(SqlError::unsupported("this option of sequences is"));
            }
        }
    }
    let Some((low, high)) = bounds(sequence.ty) else {
        return Err(invalid("sequence type must be smallint, integer, or bigint".into()));
    };
    let ascending = sequence.increment > 0;
    // The bounds of the old type become those of the new one; others stay.
    let retyped = old_bounds.filter(|old| !new && *old != (low, high));
    let reset_min = retyped.is_some_and(|old| old.0 == sequence.min);
    let reset_max = retyped.is_some_and(|old| old.1 == sequence.max);
    match max {
        Some(Some(value)) => sequence.max = value,
        None if !new && !reset_max => {}
        _ => sequence.max = if ascending || reset_max { high } else { -1 },
    }
    match min {
        Some(Some(value)) => sequence.min = value,
        None if !new && !reset_min => {}
        _ => sequence.min = if !ascending || reset_min { low } else { 1 },
    }
    let type_name = crate::types::format_type(sequence.ty.0, None);
    if sequence.max > high || sequence.max < low {
        let value = sequence.max;
        return Err(invalid(format!(
            "MAXVALUE ({value}) is out of range for sequence data type {type_name}"
        )));
    }
    if sequence.min < low || sequence.min > high {
        let value = sequence.min;
        return Err(invalid(format!(
            "MINVALUE ({value}) is out of range for sequence data type {type_name}"
        )));
    }
    let (min, max) = (sequence.min, sequence.max);
    if min >= max {
        return Err(invalid(format!("MINVALUE ({min}) must be less than MAXVALUE ({max})")));
    }
    if let Some(start) = start {
        sequence.start = start;
    } else if new {
        sequence.start = if ascending { min } else { max };
    }
    let within = |what: &str, value: i64| {
        if value < min {
            return Err(invalid(format!(
                "{what} value ({value}) cannot be less than MINVALUE ({min})"
            )));
        }
        if value > max {
            return Err(invalid(format!(
                "{what} value ({value}) cannot be greater than MAXVALUE ({max})"
            )));
        }
        Ok(())
    };
    within("START", sequence.start)?;
    let restart = restart.map(|value| value.unwrap_or(sequence.start));
    if let Some(value) = restart {
        within("RESTART", value)?;
    }
    Ok((sequence, restart))
}

impl Ddl<'_> {
    /// Puts a new sequence into the catalog, and gives it; its name is locked and free.
    pub(super) fn put_new_sequence(
        &mut self,
        name: &Arc<str>,
        schema: (Oid, Arc<str>),
        owner: Oid,
        persistence: char,
        sequence: Sequence,
    ) -> Result<Relation> {
        let oid = self.catalog.next_oid()?;
        let column = |name: &str, ty: u32| Column {
            not_null: true,
            ..Column::plain(name.into(), SqlType::plain(ty), Oid(0))
        };
        let schema_oid = schema.0;
        let relation = Relation {
            oid,
            schema,
            name: Arc::clone(name),
            owner,
            kind: RelationKind::Sequence(sequence),
            columns: vec![column("last_value", 20), column("log_cnt", 20), column("is_called", 16)],
            indexes: Vec::new(),
            constraints: Vec::new(),
            referenced_by: Vec::new(),
            version: Version::NONE,
            lock: Relation::lock_of(self.catalog.database(), oid),
            row_estimate: 1.0,
            options: Vec::new(),
            persistence,
            row_type: (self.catalog.next_oid()?, Oid(0)),
            acl: self.default_acl(Grantable::Sequence, schema_oid)?,
            stored_query: None,
            triggers: Vec::new(),
            key_triggers: Vec::new(),
            replica_identity: ReplicaIdentity::default(),
        };
        self.catalog.put_relation(self.transaction, relation.clone())?;
        Ok(relation)
    }

    /// Changes a sequence that is locked, or whose table is.
    pub(super) fn change_sequence(
        &mut self,
        relation: &Relation,
        options: &[SequenceOption],
    ) -> Result<()> {
        let RelationKind::Sequence(sequence) = &relation.kind else { return Ok(()) };
        let (changed, restart) = apply(self, sequence.clone(), options, false)?;
        if changed.owner != sequence.owner {
            let of_identity = sequence.owner.and_then(|(table, column)| {
                self.relation(table).filter(|table| table.columns[column].identity.is_some())
            });
            if let Some(table) = of_identity {
                return Err(SqlError::new(
                    SqlState::FEATURE_NOT_SUPPORTED,
                    "cannot change ownership of identity sequence",
                )
                .detail(format!(
                    "Sequence \"{}\" is linked to table \"{}\".",
                    relation.name, table.name
                )));
            }
            check_link(self, &changed, relation.owner, relation.schema.0)?;
        }
        let mut next = relation.clone();
        next.kind = RelationKind::Sequence(changed);
        self.catalog.put_relation(self.transaction, next.clone())?;
        match restart {
            Some(value) => self.restart_sequence(&next, value),
            None => Ok(()),
        }
    }

    /// Begins a sequence anew at `value`, as part of this transaction.
    pub(super) fn restart_sequence(&mut self, relation: &Relation, value: i64) -> Result<()> {
        self.put_sequence_state(relation, State { last_value: value, is_called: false })
    }

    /// Gives a sequence a state of its own, which begins so.
    pub(super) fn put_sequence_state(&mut self, relation: &Relation, initial: State) -> Result<()> {
        let RelationKind::Sequence(sequence) = &relation.kind else { return Ok(()) };
        let state = self.catalog.next_oid()?;
        let mut next = relation.clone();
        next.kind = RelationKind::Sequence(Sequence { state, initial, ..sequence.clone() });
        self.catalog.put_relation(self.transaction, next)
    }
}

/// The column that OWNED BY names.
fn owning_column(ddl: &mut Ddl<'_>, name: &ObjectName) -> Result<(Oid, usize)> {
    let [table @ .., column] = &name.parts[..] else {
        return Err(SqlError::unsupported("OWNED BY nothing is"));
    };
    if table.is_empty() {
        return Err(SqlError::new(SqlState::SYNTAX_ERROR, "invalid OWNED BY option")
            .hint("Specify OWNED BY table.column or OWNED BY NONE."));
    }
    let table = ObjectName { parts: table.to_vec(), ..name.clone() };
    let Some((named, relation)) = ddl.lock_named(&table, TableLock::AccessShare)? else {
        return Err(undefined_table(&table));
    };
    let refused = match (named, &relation.kind) {
        (Named::Index { .. }, _) => Some("indexes"),
        (_, RelationKind::Sequence(_)) => Some("sequences"),
        (_, RelationKind::Composite) => Some("composite types"),
        (_, RelationKind::Table { .. }) if relation.stored_query.is_some() => {
            Some("materialized views")
        }
        (_, RelationKind::Table { .. } | RelationKind::View { .. } | RelationKind::System) => None,
    };
    if let Some(refused) = refused {
        return Err(SqlError::new(
            SqlState::WRONG_OBJECT_TYPE,
            format!("sequence cannot be owned by relation \"{}\"", table.name()),
        )
        .detail(format!("This operation is not supported for {refused}.")));
    }
    let at = column_of(&relation, column)?;
    Ok((relation.oid, at))
}

/// A sequence goes with its column, so both have one owner and one schema.
fn check_link(ddl: &mut Ddl<'_>, sequence: &Sequence, owner: Oid, schema: Oid) -> Result<()> {
    let table = sequence.owner.and_then(|(table, _)| ddl.relation(table));
    let Some(table) = table else { return Ok(()) };
    let differs = |what: &str| {
        let message = format!("sequence must {what} as table it is linked to");
        Err(SqlError::new(SqlState::OBJECT_NOT_IN_PREREQUISITE_STATE, message))
    };
    if table.owner != owner {
        return differs("have same owner");
    }
    if table.schema.0 != schema {
        return differs("be in same schema");
    }
    Ok(())
}

/// CREATE SEQUENCE.
///
/// # Errors
/// 42P07, 22023 and so on.
pub fn create_sequence(ddl: &mut Ddl<'_>, create: &CreateSequence) -> Result<&'static str> {
    const TAG: &str = "CREATE SEQUENCE";
    let schema = ddl.creation_schema_for(&create.name, create.persistence)?;
    let persistence = if schema.is_temporary() { 't' } else { create.persistence };
    let name = create.name.name();
    if ddl.lock_relation_name(schema.oid, name)? {
        if create.if_not_exists {
            let message = format!("relation \"{name}\" already exists, skipping");
            ddl.notice(SqlState::DUPLICATE_TABLE, message);
            return Ok(TAG);
        }
        return Err(duplicate_relation(name));
    }
    let sequence = definition(ddl, Oid(20), &create.options)?;
    ddl.demand_free_type(schema.oid, name)?;
    check_link(ddl, &sequence, ddl.user, schema.oid)?;
    let (user, schema) = (ddl.user, (schema.oid, Arc::clone(&schema.name)));
    ddl.put_new_sequence(name, schema, user, persistence, sequence)?;
    Ok(TAG)
}

/// ALTER SEQUENCE.
///
/// # Errors
/// 42P01, 22023 and so on.
pub fn alter_sequence(ddl: &mut Ddl<'_>, alter: &AlterSequence) -> Result<&'static str> {
    const TAG: &str = "ALTER SEQUENCE";
    let mode = TableLock::ShareRowExclusive;
    let found = ddl.lock_table(&alter.name, ObjectKind::Sequence, mode, alter.if_exists)?;
    let Some(relation) = found else { return Ok(TAG) };
    ddl.change_sequence(&relation, &alter.options)?;
    Ok(TAG)
}
