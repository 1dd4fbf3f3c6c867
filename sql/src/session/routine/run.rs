//! Statements of a body, one after the other.

use super::Execution;
use super::context::in_expression;
use crate::error::{Result, SqlError};
use crate::exec::sink::ColumnDescription;
use crate::plpgsql::tree::{Action, Place, Sql, VariableType};
use crate::sqlstate::SqlState;
use crate::tuple::RowBuf;
use crate::types::{Datum, Oid, SqlType, oids};
use std::sync::Arc;

const RECORD: SqlType = SqlType { oid: Oid(oids::RECORD), typmod: -1 };

/// 42804 for what is no row where one is returned.
fn not_composite() -> SqlError {
    let message = "cannot return non-composite value from function returning composite type";
    SqlError::new(SqlState::DATATYPE_MISMATCH, message)
}

impl Execution<'_> {
    pub(super) fn statement(&mut self, action: &Action) -> Result<()> {
        match action {
            Action::Return(value) => self.returns(value.as_ref())?,
            Action::Assign(place, sql) if place.path.is_empty() => {
                self.assign(place.variable, sql)?;
            }
            Action::Assign(place, sql) => {
                let mut value = RowBuf::new();
                let ty = self.evaluate(sql, &mut value)?;
                if let Err(error) = self.put_at(place, &mut value, ty) {
                    // What is wrong with the target PostgreSQL finds when it reads the assignment.
                    let lacks = self.field_of(place).is_err();
                    return Err(if lacks { in_expression(error, sql) } else { error });
                }
            }
            Action::AssignElement(place, sql) => {
                self.session.look_again(self.id, sql)?;
                self.fold_read(sql)?;
                if place.path.is_empty()
                    && self.session.assign_element(
                        self.id,
                        &mut self.kit.frame,
                        (place.variable, sql),
                    )?
                {
                    return Ok(());
                }
                let text = self.text(sql, Some(place.variable));
                let text = text.map_err(|error| in_expression(error, sql))?;
                let mut value = RowBuf::new();
                let ty = self.evaluate_text(sql, &text, &mut value)?;
                self.put_at(place, &mut value, ty)?;
            }
            Action::ReturnNext(value) => self.return_next(value.as_ref())?,
            Action::ReturnQuery(query) => self.return_query(query)?,
            Action::Raise(raise) => self.raise(raise)?,
            Action::Assert(condition, message) => self.assert(condition, message.as_ref())?,
            Action::Execute(sql, into) => self.execute(sql, into.as_ref())?,
            Action::Perform(sql) => self.perform(sql)?,
            Action::Dynamic(text, into, using) => {
                self.execute_dynamic(text, into.as_ref(), using)?;
            }
            Action::Open(open) => self.open_cursor(open)?,
            Action::Fetch(fetch) => self.fetch_cursor(fetch)?,
            Action::Close(variable) => self.close_cursor(*variable)?,
            Action::Call(sql, calls) => self.call_within(sql, *calls)?,
            Action::Diagnostics(stacked, items) => self.diagnostics(*stacked, items)?,
            Action::EndTransaction(commits, chains) => self.end_transaction(*commits, *chains)?,
            // The machine has operations for these.
            Action::Block(_)
            | Action::If(..)
            | Action::Case(..)
            | Action::Loop(..)
            | Action::ForInteger(_)
            | Action::ForQuery(_)
            | Action::ForEach(_)
            | Action::Leave(..)
            | Action::Nothing => {}
        }
        Ok(())
    }

    /// Puts an element of an array into a place, or its fields into several.
    pub(super) fn put_element(
        &mut self,
        places: &[Place],
        value: &mut RowBuf,
        ty: SqlType,
    ) -> Result<()> {
        if let [place] = places {
            return self.put_at(place, value, ty);
        }
        let Datum::Record(bytes) = value.get(0) else {
            let message = "cannot assign non-composite value to a record variable";
            return Err(SqlError::new(SqlState::DATATYPE_MISMATCH, message));
        };
        let shape = self.shape_in(ty, bytes)?;
        let arena = bumpalo::Bump::new();
        let (mut row, mut columns) = (RowBuf::new(), Vec::new());
        for (at, (name, ty)) in shape.fields.iter().enumerate() {
            row.push(crate::types::record::field(&arena, bytes, at)?);
            columns.push(ColumnDescription {
                name: Arc::clone(name),
                table: 0,
                attribute: 0,
                ty: *ty,
                type_length: -1,
            });
        }
        self.put_into(places, &columns, Some(&row))
    }

    /// RETURN.
    fn returns(&mut self, sql: Option<&Sql>) -> Result<()> {
        self.returned.met = true;
        let Some(sql) = sql else { return Ok(()) };
        let mut value = std::mem::take(&mut self.scratch);
        let from = self.evaluate(sql, &mut value)?;
        self.gives_back(value, from)
    }

    /// What RETURN gives, of a type.
    pub(super) fn gives_back(&mut self, mut value: RowBuf, from: SqlType) -> Result<()> {
        let is_row = matches!(value.get(0), Datum::Null | Datum::Record(_));
        if self.returned.of_rows && !is_row {
            return Err(not_composite());
        }
        self.returned.slot = None;
        if let Some(to) = self.returned.ty.or(self.returned.columns.as_ref().map(|_| RECORD)) {
            let (line, what) = self.session.place();
            self.session.is_at(0, "while casting return value to function's return type");
            self.cast_returned(&mut value, from, to)?;
            self.session.is_at(line, what);
        }
        self.returned.value = value;
        Ok(())
    }

    /// Makes what RETURN gives a value of the function's type: a row one of its own, column by column
    /// (`convert_tuples_by_position`).
    fn cast_returned(&mut self, value: &mut RowBuf, from: SqlType, to: SqlType) -> Result<()> {
        // What returns NULL casts nothing, unless to a domain.
        if value.get(0).is_null() && !crate::catalog::builtin::is_domain(to.oid.0) {
            return Ok(());
        }
        let types: Option<Vec<SqlType>> = match (value.get(0), &self.returned.columns) {
            (Datum::Record(_), Some(columns)) => Some(columns.clone()),
            (Datum::Record(_), None) if from.oid != to.oid => {
                let shape = self.session.shape_of(to);
                shape.map(|shape| shape.fields.iter().map(|(_, ty)| *ty).collect())
            }
            _ => None,
        };
        let (Datum::Record(bytes), Some(types)) = (value.get(0), types) else {
            return self.session.converted(value, from, to);
        };
        let given = self.shape_in(from, bytes)?;
        let given: Vec<SqlType> = given.fields.iter().map(|(_, ty)| *ty).collect();
        let message = "returned record type does not match expected record type";
        self.demand_types(&given, &types, message)?;
        let arena = bumpalo::Bump::new();
        let mut fields = Vec::with_capacity(types.len());
        for (at, ty) in types.iter().enumerate() {
            fields.push((*ty, crate::types::record::field(&arena, bytes, at)?));
        }
        let row = crate::types::record::build(&arena, &fields);
        let mut made = RowBuf::new();
        made.push(row);
        *value = made;
        let base = self.session.catalog.last_snapshot().base_type(to);
        self.session.converted(value, base, to)
    }

    fn return_next(&mut self, sql: Option<&Sql>) -> Result<()> {
        let types = self.returned_types("RETURN NEXT")?;
        let Some(sql) = sql else {
            let mut row = RowBuf::new();
            for number in &self.returned.outputs {
                row.push_column(self.kit.frame.row(), *number as usize);
            }
            return self.keep_returned(vec![row]);
        };
        let mut value = RowBuf::new();
        let ty = self.evaluate(sql, &mut value)?;
        let variable = self.bare_variable(sql);
        let is_scalar = variable.map(|number| {
            matches!(self.body.variables[number as usize].ty, VariableType::Scalar(_))
        });
        let takes_rows = match is_scalar {
            Some(is_scalar) => !is_scalar,
            None => self.returned.of_rows,
        };
        if !takes_rows {
            let [own] = types[..] else {
                let message = "wrong result type supplied in RETURN NEXT";
                return Err(SqlError::new(SqlState::DATATYPE_MISMATCH, message));
            };
            self.session.converted(&mut value, ty, own)?;
            return self.keep_returned(vec![value]);
        }
        let mut row = RowBuf::new();
        match (value.get(0), variable) {
            (Datum::Record(bytes), _) => {
                let shape = self.shape_in(ty, bytes)?;
                let given: Vec<SqlType> = shape.fields.iter().map(|(_, ty)| *ty).collect();
                let message = match variable {
                    Some(_) => "wrong record type supplied in RETURN NEXT",
                    None => "returned record type does not match expected record type",
                };
                self.demand_types(&given, &types, message)?;
                let arena = bumpalo::Bump::new();
                for at in 0..given.len() {
                    row.push(crate::types::record::field(&arena, bytes, at)?);
                }
            }
            (Datum::Null, Some(number))
                if self.kit.frame.shape(number).is_none()
                    && matches!(self.body.variables[number as usize].ty, VariableType::Record) =>
            {
                return Err(super::text::unassigned(&self.body.variables[number as usize].name));
            }
            (Datum::Null, _) => row.set_nulls(types.len()),
            _ => return Err(not_composite()),
        }
        self.keep_returned(vec![row])
    }

    /// The types of the columns that a set is of; whether there may be one is asked first.
    pub(super) fn returned_types(&self, what: &str) -> Result<Vec<SqlType>> {
        let Some((types, _)) = &self.returned.set else {
            let message = format!("cannot use {what} in a non-SETOF function");
            return Err(SqlError::new(SqlState::DATATYPE_MISMATCH, message));
        };
        if self.returned.unlisted {
            let message = "materialize mode required, but it is not allowed in this context";
            return Err(SqlError::new(SqlState::FEATURE_NOT_SUPPORTED, message));
        }
        Ok(types.clone())
    }

    /// The variable that an expression is and nothing else.
    fn bare_variable(&self, sql: &Sql) -> Option<u32> {
        let known = sql.names.map(|_| self.body.names.as_slice())?;
        let parts: Vec<Arc<str>> =
            sql.text.split('.').map(|part| part.trim().to_ascii_lowercase().into()).collect();
        let (variable, taken) = crate::plpgsql::parse::find(known, sql.names, &parts)?;
        (taken == parts.len()).then_some(variable)
    }

    /// Holds the columns of a row against those that are wanted (`convert_tuples_by_position`).
    pub(super) fn demand_types(
        &mut self,
        given: &[SqlType],
        wanted: &[SqlType],
        message: &str,
    ) -> Result<()> {
        let mismatch = |detail: String| {
            Err(SqlError::new(SqlState::DATATYPE_MISMATCH, message).detail(detail))
        };
        for (at, (is, own)) in given.iter().zip(wanted).enumerate() {
            if is.oid != own.oid || own.typmod >= 0 && own.typmod != is.typmod {
                let (is, own) =
                    (self.session.full_type_text(*is), self.session.full_type_text(*own));
                return mismatch(format!(
                    "Returned type {is} does not match expected type {own} in column {}.",
                    at + 1
                ));
            }
        }
        if given.len() != wanted.len() {
            return mismatch(format!(
                "Number of returned columns ({}) does not match expected column count ({}).",
                given.len(),
                wanted.len()
            ));
        }
        Ok(())
    }

    /// Adds rows to what is returned.
    pub(super) fn keep_returned(&mut self, given: Vec<RowBuf>) -> Result<()> {
        if let Some((_, rows)) = &mut self.returned.set {
            rows.extend(given);
        }
        crate::account::check()
    }

    /// COMMIT and ROLLBACK.
    fn end_transaction(&mut self, commits: bool, chains: bool) -> Result<()> {
        if !self.ends_transactions {
            return Err(SqlError::new(
                SqlState::INVALID_TRANSACTION_TERMINATION,
                "invalid transaction termination",
            ));
        }
        if self.session.writing_loops > 0 {
            return Err(SqlError::new(
                SqlState::OBJECT_NOT_IN_PREREQUISITE_STATE,
                "cannot perform transaction commands inside a cursor loop that is not read-only",
            ));
        }
        if self.subtransactions > 0 {
            let word = if commits { "commit" } else { "roll back" };
            return Err(SqlError::new(
                SqlState::INVALID_TRANSACTION_TERMINATION,
                format!("cannot {word} while a subtransaction is active"),
            ));
        }
        self.session.end_within(commits, chains)
    }
}
