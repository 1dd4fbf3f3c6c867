//! `nextval`, `currval`, `setval`, `pg_get_serial_sequence`.

use super::Call;
use super::names::{reg_in, relation_name};
use crate::catalog::Relation;
use crate::catalog::acl::Privileges;
use crate::catalog::quote::qualified;
use crate::catalog::sequence::{self, State};
use crate::error::{Result, SqlError};
use crate::sqlstate::SqlState;
use crate::types::{Datum, Oid, oids};
use std::sync::Arc;

impl<'a> Call<'_, '_, '_, 'a> {
    /// The sequence that the first argument names, with one of these privileges on it.
    fn sequence(&self, wanted: &[Privileges]) -> Result<&Arc<Relation>> {
        let relation = self.any_sequence()?;
        self.demand_one_of(relation, wanted)?;
        Ok(relation)
    }

    fn any_sequence(&self) -> Result<&Arc<Relation>> {
        let snapshot = self.session.snapshot;
        let oid = self.oid(0);
        let relation = snapshot.relation(oid).ok_or_else(|| {
            SqlError::new(
                SqlState::UNDEFINED_TABLE,
                format!("could not open relation with OID {oid}"),
            )
        })?;
        sequence::of(relation)?;
        Ok(relation)
    }

    pub(super) fn demand_one_of(&self, relation: &Relation, wanted: &[Privileges]) -> Result<()> {
        let snapshot = self.session.snapshot;
        let may = |one: &Privileges| snapshot.may_on_relation(self.session.user(), relation, *one);
        if wanted.iter().any(may) {
            return Ok(());
        }
        Err(SqlError::new(
            SqlState::INSUFFICIENT_PRIVILEGE,
            format!("permission denied for sequence {}", relation.name),
        ))
    }

    /// What goes on beyond the transaction is a write, unless only this session has the sequence.
    fn demand_writable(&self, sequence: &Relation, function: &str) -> Result<()> {
        if sequence.persistence != 't'
            && self.session.settings.read(|settings| settings.bool("transaction_read_only"))
        {
            return Err(SqlError::new(
                SqlState::READ_ONLY_SQL_TRANSACTION,
                format!("cannot execute {function}() in a read-only transaction"),
            ));
        }
        Ok(())
    }

    pub(super) fn next_value(&self) -> Result<Datum<'a>> {
        // What an identity column asks for is whatever its table's privileges permit.
        let relation = match self.arguments.len() {
            1 => self.sequence(&[Privileges::USAGE, Privileges::UPDATE])?,
            _ => self.any_sequence()?,
        };
        self.demand_writable(relation, "nextval")?;
        let database = self.session.snapshot.database_oid();
        let mut sequences = self.session.sequences.borrow_mut();
        let definition = sequence::of(relation)?;
        sequences.next_value(self.session.catalog, database, relation, definition).map(Datum::Int8)
    }

    pub(super) fn current_value(&self) -> Result<Datum<'a>> {
        let relation = self.sequence(&[Privileges::USAGE, Privileges::SELECT])?;
        self.session.sequences.borrow().current_value(relation).map(Datum::Int8)
    }

    pub(super) fn last_value(&self) -> Result<Datum<'a>> {
        let (relation, value) =
            self.session.sequences.borrow().last_value(self.session.snapshot)?;
        self.demand_one_of(relation, &[Privileges::USAGE, Privileges::SELECT])?;
        Ok(Datum::Int8(value))
    }

    /// `pg_sequence_last_value`: NULL before the first value.
    pub(super) fn last_value_of(&self) -> Result<Datum<'a>> {
        let relation = self.sequence(&[Privileges::USAGE, Privileges::SELECT])?;
        let database = self.session.snapshot.database_oid();
        let (state, _) = sequence::state(self.session.catalog, database, sequence::of(relation)?)?;
        Ok(if state.is_called { Datum::Int8(state.last_value) } else { Datum::Null })
    }

    pub(super) fn set_value(&self) -> Result<Datum<'a>> {
        let relation = self.sequence(&[Privileges::UPDATE])?;
        self.demand_writable(relation, "setval")?;
        let Some(Datum::Int8(value)) = self.arguments.get(1) else { return Ok(Datum::Null) };
        let is_called = self.arguments.len() < 3 || self.flag(2);
        let state = State { last_value: *value, is_called };
        let database = self.session.snapshot.database_oid();
        let definition = sequence::of(relation)?;
        self.session.sequences.borrow_mut().set(
            self.session.catalog,
            database,
            relation,
            definition,
            state,
        )?;
        Ok(Datum::Int8(*value))
    }

    pub(super) fn serial_sequence(&self) -> Result<Datum<'a>> {
        let snapshot = self.session.snapshot;
        let oid = Oid(reg_in(self.session, oids::REGCLASS, self.str(0))?);
        let Some(table) = snapshot.relation(oid) else { return Ok(Datum::Null) };
        let column = table.column(self.str(1)).ok_or_else(|| {
            SqlError::new(
                SqlState::UNDEFINED_COLUMN,
                format!(
                    "column \"{}\" of relation \"{}\" does not exist",
                    self.str(1),
                    relation_name(self.session, oid).unwrap_or_default()
                ),
            )
        })?;
        let found = snapshot.owned_sequences(oid).find(|found| found.1 == column);
        Ok(found.map_or(Datum::Null, |(sequence, _)| {
            self.text(&qualified(&sequence.schema.1, &sequence.name))
        }))
    }
}
