//! Values on their way into variables: assignments, casts, rows and their fields.

use super::Execution;
use super::context::{in_expression, of_query};
use super::frame::Shape;
use super::machine::takes;
use super::text::{Text, type_of, unassigned};
use crate::bind::{Variable, VariableConflict, Variables, no_field};
use crate::catalog::builtin;
use crate::compile::code::Code;
use crate::error::{Result, SqlError};
use crate::exec::sink::ColumnDescription;
use crate::parse::ast::Ident;
use crate::plan::scalar::Scalar;
use crate::plpgsql::tree::{self, Place, Sql, VariableType};
use crate::prepared::Prepared;
use crate::session::Session;
use crate::source::Source;
use crate::sqlstate::SqlState;
use crate::tuple::RowBuf;
use crate::types::order::without_blanks;
use crate::types::{Datum, SqlType, oids, record};
use std::sync::Arc;

/// A cast: what takes one value and gives one of another type.
#[derive(Clone, Debug)]
pub struct CastText {
    prepared: Arc<Prepared>,
    /// It gives the same value.
    same: bool,
    /// It only takes the blanks from the end of a text.
    trims: bool,
    /// NULL stays NULL.
    strict: bool,
    /// It as a program over the value, if it is a scalar.
    code: Option<Arc<Code>>,
    /// [`Session::changes`] when it was last found good.
    seen: u64,
}

impl CastText {
    fn new(prepared: Arc<Prepared>, to: SqlType, seen: u64) -> CastText {
        let scalar = super::text::simple(&prepared);
        let same = matches!(scalar.as_ref(), Some(Scalar::Parameter(0)));
        let free = prepared.planned.as_ref().is_some_and(|planned| planned.required.is_empty());
        let trims = free && scalar.as_ref().is_some_and(trims);
        // A function of users may make something of NULL, and a domain may refuse it.
        let strict =
            !builtin::is_domain(to.oid.0) && scalar.as_ref().is_some_and(calls_strict_functions);
        let code = scalar.map(|scalar| Arc::new(Code::of([&scalar])));
        CastText { prepared, same, trims, strict, code, seen }
    }
}

/// Of how many types a session remembers the fields.
const SHAPES_MAX: usize = 256;

/// `text(bpchar)`.
const TRIMMED: u32 = 401;

/// Whether a cast is that of its only parameter from `character` to a text, and nothing else.
fn trims(scalar: &Scalar) -> bool {
    let Scalar::Call { callee, arguments, .. } = scalar else { return false };
    callee.oid == TRIMMED && matches!(arguments[..], [Scalar::Parameter(0)])
}

/// Whether all functions that a cast calls give NULL for NULL.
fn calls_strict_functions(scalar: &Scalar) -> bool {
    let mut strict = true;
    scalar.walk(&mut |part| {
        strict &= !matches!(part, Scalar::Call { callee, .. } if !callee.strict);
        strict
    });
    strict
}

/// How a value goes into a variable that is no row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Taken {
    variable: u32,
    /// The variable is NOT NULL.
    not_null: bool,
    /// A text goes there without the blanks at its end; anything else as it is.
    trimmed: bool,
}

/// How the columns of a statement's row go into what is behind its INTO.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Taking {
    /// Each into a variable of its own.
    Each(Box<[Taken]>),
    /// As the fields of a variable whose rows are of this shape.
    Fields(u32, Arc<Shape>),
}

/// The one parameter of a cast.
#[derive(Debug)]
struct CastFrom {
    from: [SqlType; 1],
    to: SqlType,
}

impl Variables for CastFrom {
    fn types(&self) -> &[SqlType] {
        &self.from
    }

    fn find(&self, _: &[Ident]) -> Result<Option<Variable>> {
        Ok(None)
    }

    fn parameter(&self, _: u32) -> Option<Variable> {
        Some(Variable { number: 0, ty: self.from[0], fields: None, field: None, name: None })
    }

    fn conflict(&self) -> VariableConflict {
        VariableConflict::Error
    }

    fn wanted(&self) -> Option<SqlType> {
        Some(self.to)
    }

    fn assigned(&self) -> Option<Variable> {
        None
    }
}

impl Session {
    /// Makes a value one of another type, as an assignment does; by the text form where there is no cast.
    pub(super) fn converted(
        &mut self,
        value: &mut RowBuf,
        from: SqlType,
        to: SqlType,
    ) -> Result<()> {
        if self.converts_nothing(from, to) {
            return Ok(());
        }
        let cast = self.cast(from, to)?;
        if cast.same || cast.strict && value.get(0).is_null() {
            return Ok(());
        }
        if cast.trims
            && let Datum::Text(text) = value.get(0)
        {
            let mut trimmed = std::mem::take(&mut self.spare_value);
            trimmed.clear();
            trimmed.push(Datum::Text(without_blanks(text)));
            std::mem::swap(value, &mut trimmed);
            self.keep_value(trimmed);
            return Ok(());
        }
        if let Some(code) = &cast.code {
            let mut converted = std::mem::take(&mut self.spare_value);
            let done = self.evaluate_scalar((&cast.prepared, code), value, &mut converted);
            if let Ok(true) = done {
                std::mem::swap(value, &mut converted);
            }
            self.keep_value(converted);
            if done? {
                return Ok(());
            }
        }
        if let Some(row) = self.value_alone(&cast.prepared, &mut value.clone())? {
            *value = row;
        }
        Ok(())
    }

    /// The cast by which an assignment makes values of one type those of another.
    fn cast(&mut self, from: SqlType, to: SqlType) -> Result<CastText> {
        match self.casts.get(&(from, to)).cloned() {
            Some(known) if self.is_settled(known.seen) => Ok(known),
            Some(known) => match self.fresh(&known.prepared, false)? {
                Some(fresh) => Ok(self.keep_cast((from, to), fresh)),
                None => {
                    let changes = self.changes;
                    self.casts.entry((from, to)).and_modify(|kept| kept.seen = changes);
                    Ok(known)
                }
            },
            None => {
                let source =
                    super::text::one_statement(&"SELECT $1".into(), self.settings.plain().dialect)?;
                let source: Source = source.seeing(Arc::new(CastFrom { from: [from], to }));
                let prepared = self.prepare(Arc::new(source), &[from.oid])?;
                Ok(self.keep_cast((from, to), prepared))
            }
        }
    }

    /// Whether it is known that an assignment takes values of a type as they are.
    #[inline]
    fn converts_nothing(&self, from: SqlType, to: SqlType) -> bool {
        from.oid == to.oid && (to.typmod < 0 || to.typmod == from.typmod)
            || self
                .casts
                .get(&(from, to))
                .is_some_and(|known| known.same && self.is_settled(known.seen))
    }

    fn keep_cast(&mut self, key: (SqlType, SqlType), prepared: Arc<Prepared>) -> CastText {
        let cast = CastText::new(prepared, key.1, self.changes);
        self.casts.insert(key, cast.clone());
        cast
    }

    /// Makes of a value of a type the row, in which it is the field that a path leads to; the others are those of `around`.
    fn put_within(
        &mut self,
        (around, of): (Datum<'_>, SqlType),
        (variable, path): (&str, &[Arc<str>]),
        value: &mut RowBuf,
        ty: SqlType,
    ) -> Result<()> {
        let [field, rest @ ..] = path else { return self.converted(value, ty, of) };
        let Some(shape) = self.shape_of(of) else {
            let name = self.type_text(of);
            return Err(SqlError::new(
                SqlState::DATATYPE_MISMATCH,
                format!(
                    "cannot assign to field \"{field}\" of column \"{variable}\" because its type {name} is not a composite type"
                ),
            ));
        };
        let at = shape.fields.iter().position(|(name, _)| name == field).ok_or_else(|| {
            let name = self.type_text(of);
            SqlError::new(
                SqlState::UNDEFINED_COLUMN,
                format!(
                    "cannot assign to field \"{field}\" of column \"{variable}\" because there is no such column in data type {name}"
                ),
            )
        })?;
        let whole = match around {
            Datum::Record(bytes) => Some(bytes),
            _ => None,
        };
        let mut row = fields_in(whole, shape.fields.len())?;
        let inner = (row.get(at), shape.fields[at].1);
        crate::types::depth::deeper(|| self.put_within(inner, (variable, rest), value, ty))?;
        row.set(at, value.get(0));
        let arena = bumpalo::Bump::new();
        let fields: Vec<(SqlType, Datum<'_>)> =
            shape.fields.iter().map(|(_, ty)| *ty).zip(row.iter()).collect();
        value.clear();
        value.push(record::build(&arena, &fields));
        Ok(())
    }

    /// The fields of rows of a type.
    pub(super) fn shape_of(&mut self, ty: SqlType) -> Option<Arc<Shape>> {
        let snapshot = self.catalog.snapshot();
        let state = snapshot.state();
        if let Some((_, shape)) = self.shapes.get(&ty).filter(|(seen, _)| *seen == state) {
            return Some(Arc::clone(shape));
        }
        let fields = crate::bind::type_name::fields_of(snapshot, snapshot.base_type(ty).oid)?;
        let shape = Arc::new(Shape::new(ty, fields));
        if self.shapes.len() >= SHAPES_MAX {
            self.shapes.clear();
        }
        self.shapes.insert(ty, (state, Arc::clone(&shape)));
        Some(shape)
    }
}

/// Whether rows of these columns are of this shape.
fn is_of(shape: &Shape, columns: &[ColumnDescription]) -> bool {
    let same = |((name, ty), column): (&(Arc<str>, SqlType), &ColumnDescription)| {
        *ty == column.ty && (Arc::ptr_eq(name, &column.name) || *name == column.name)
    };
    shape.ty == SqlType::plain(oids::RECORD)
        && shape.fields.len() == columns.len()
        && shape.fields.iter().zip(columns).all(same)
}

/// Whether columns are the fields of such rows as they are. What a domain says of them is asked of each value.
pub(super) fn has_fields(shape: &Shape, columns: &[ColumnDescription]) -> bool {
    let is_domain = |ty: SqlType| builtin::is_domain(ty.oid.0);
    !is_domain(shape.ty)
        && shape.fields.len() == columns.len()
        && (shape.fields.iter().zip(columns))
            .all(|((_, own), column)| takes(*own, column.ty) && !is_domain(*own))
}

/// The shape of rows of these columns, which are of no type of their own.
fn shape_of_columns(columns: &[ColumnDescription]) -> Shape {
    let fields = columns.iter().map(|column| (Arc::clone(&column.name), column.ty)).collect();
    Shape::new(SqlType::plain(oids::RECORD), fields)
}

/// 22004 for NULL in a variable that is NOT NULL.
#[cold]
pub(super) fn not_null(variable: &tree::Variable) -> SqlError {
    let name = &variable.name;
    SqlError::new(
        SqlState::NULL_VALUE_NOT_ALLOWED,
        format!("null value cannot be assigned to variable \"{name}\" declared NOT NULL"),
    )
}

/// The fields of a row, all NULL where there is none.
fn fields_in(whole: Option<&[u8]>, count: usize) -> Result<RowBuf> {
    let mut row = RowBuf::new();
    match whole {
        Some(bytes) => {
            let arena = bumpalo::Bump::new();
            for field in 0..count {
                row.push(record::field(&arena, bytes, field)?);
            }
        }
        None => row.set_nulls(count),
    }
    Ok(row)
}

impl Execution<'_> {
    /// Evaluates an expression into a row of one column; its type.
    pub(super) fn evaluate(&mut self, sql: &Sql, into: &mut RowBuf) -> Result<SqlType> {
        self.session.look_again(self.id, sql)?;
        self.fold_read(sql)?;
        if let Some((value, ty)) = self.session.run_plain(self.id, &self.kit.frame, sql)? {
            into.clear();
            into.push(value);
            return Ok(ty);
        }
        let text = self.text(sql, None).map_err(|error| in_expression(error, sql))?;
        self.evaluate_text(sql, &text, into)
    }

    /// A text of the body, ready to run over the variables.
    pub(super) fn text(&mut self, sql: &Sql, assigned: Option<u32>) -> Result<Arc<Text>> {
        let body = (self.id, &self.body);
        let text = self.session.text_of(body, &self.kit.frame, sql, assigned)?;
        text.rows().iter().try_for_each(|variable| self.kit.frame.fold(*variable))?;
        Ok(text)
    }

    /// A text is about to be run as it was made ready, if it has been: the rows that it reads become values.
    pub(super) fn fold_read(&mut self, sql: &Sql) -> Result<()> {
        let known = self.session.texts.get(&self.id);
        let text = known.and_then(|known| known.texts[sql.number as usize].as_ref());
        let mut rows = text.into_iter().flat_map(|text| text.rows());
        rows.try_for_each(|variable| self.kit.frame.fold(*variable))
    }

    pub(super) fn evaluate_text(
        &mut self,
        sql: &Sql,
        text: &Text,
        into: &mut RowBuf,
    ) -> Result<SqlType> {
        if self.session.evaluate_simple(text, self.kit.frame.row(), into)? {
            return Ok(text.ty());
        }
        if text.prepared.columns.as_ref().is_some_and(|columns| columns.len() != 1) {
            let count = text.prepared.columns.as_ref().map_or(0, Vec::len);
            let refused = |message| SqlError::new(SqlState::SYNTAX_ERROR, message);
            return Err(match sql.assignment {
                Some(_) => in_expression(
                    refused(format!("assignment source returned {count} columns")),
                    sql,
                ),
                None => of_query(refused(format!("query returned {count} columns")), sql),
            });
        }
        if let Err(error) = self.session.check_presets(&text.prepared, self.kit.frame.row()) {
            return Err(if self.fails_uncast(sql) { in_expression(error, sql) } else { error });
        }
        let mut variables = self.kit.frame.take_row();
        // What evaluates it around this call evaluates it as such; here it is a query.
        let again = text.begin_use();
        if again {
            self.session.evaluated.push((self.id, sql.number));
        }
        let row = self.session.only_row((self.id, sql), &text.prepared, &mut variables);
        if again {
            self.session.evaluated.pop();
        } else {
            text.end_use();
        }
        self.kit.frame.put_row(variables);
        let row = row?;
        into.clear();
        match row {
            Some(row) => into.push_column(&row, 0),
            None => into.push(Datum::Null),
        }
        Ok(text.ty())
    }

    /// Whether the constants of an expression fail that is made ready without the cast to what it is for, which only an assignment
    /// makes part of it.
    fn fails_uncast(&mut self, sql: &Sql) -> bool {
        if sql.wanted.is_none() || sql.assignment.is_some() {
            return true;
        }
        let uncast = Sql { wanted: None, ..sql.clone() };
        self.session.bodies += 1;
        let own = self.session.bodies;
        let text = self.session.text_of((own, &self.body), &self.kit.frame, &uncast, None);
        self.session.texts.remove(&own);
        let checked =
            text.map(|text| self.session.check_presets(&text.prepared, self.kit.frame.row()));
        matches!(checked, Ok(Err(_)))
    }

    /// A condition; NULL is false.
    pub(super) fn holds(&mut self, sql: &Sql) -> Result<bool> {
        self.session.look_again(self.id, sql)?;
        self.fold_read(sql)?;
        if let Some((value, _)) = self.session.run_plain(self.id, &self.kit.frame, sql)? {
            return Ok(matches!(value, Datum::Bool(true)));
        }
        let mut value = std::mem::take(&mut self.scratch);
        let result = self.evaluate(sql, &mut value);
        let holds = result.is_ok() && matches!(value.get(0), Datum::Bool(true));
        self.scratch = value;
        result.map(|_| holds)
    }

    /// The text of an expression's value; none for NULL.
    pub(super) fn text_value(&mut self, sql: &Sql) -> Result<Option<String>> {
        let mut value = RowBuf::new();
        let ty = self.evaluate(sql, &mut value)?;
        if value.get(0).is_null() {
            return Ok(None);
        }
        self.session.with_context(|context| {
            Ok(Some(crate::types::text_of(context, ty, &value.get(0))?.to_owned()))
        })
    }

    /// `variable := expression`.
    pub(super) fn assign(&mut self, variable: u32, sql: &Sql) -> Result<()> {
        self.session.look_again(self.id, sql)?;
        self.fold_read(sql)?;
        let own = &self.body.variables[variable as usize];
        if let VariableType::Scalar(to) = own.ty
            && let Some((value, ty)) = self.session.run_plain(self.id, &self.kit.frame, sql)?
            && ty.oid == to.oid
            && (to.typmod < 0 || to.typmod == ty.typmod)
            && let Some(value) = value.by_value()
            && !(own.not_null && value.is_null())
        {
            self.kit.frame.set_plain(variable, value);
            return Ok(());
        }
        let mut value = std::mem::take(&mut self.scratch);
        let result =
            self.evaluate(sql, &mut value).and_then(|ty| self.put(variable, &mut value, ty));
        self.scratch = value;
        result
    }

    /// Puts a value of a type into a variable.
    pub(super) fn put(&mut self, variable: u32, value: &mut RowBuf, ty: SqlType) -> Result<()> {
        let body = Arc::clone(&self.body);
        let own = &body.variables[variable as usize];
        match &own.ty {
            VariableType::Scalar(to) => self.session.converted(value, ty, *to)?,
            VariableType::Row(to) => self.put_row(variable, value, ty, *to)?,
            VariableType::Record if own.name.starts_with("__Case__") => {
                self.kit.frame.set_shape(variable, Some(Arc::new(Shape::new(ty, Vec::new()))));
            }
            VariableType::Record => {
                let shape = match value.get(0) {
                    Datum::Null => None,
                    Datum::Record(bytes) => Some(self.shape_in(ty, bytes)?),
                    _ => {
                        return Err(SqlError::new(
                            SqlState::DATATYPE_MISMATCH,
                            "cannot assign non-composite value to a record variable",
                        ));
                    }
                };
                self.kit.frame.set_shape(variable, shape);
            }
        }
        if own.not_null && value.get(0).is_null() {
            return Err(not_null(own));
        }
        self.kit.frame.set(variable, value.get(0));
        Ok(())
    }

    /// Makes a row one of a composite type, field by field.
    fn put_row(
        &mut self,
        variable: u32,
        value: &mut RowBuf,
        ty: SqlType,
        to: SqlType,
    ) -> Result<()> {
        if value.get(0).is_null() {
            return self.check_null_domain(to);
        }
        if ty.oid == to.oid {
            return Ok(());
        }
        let Datum::Record(bytes) = value.get(0) else {
            return Err(SqlError::new(
                SqlState::DATATYPE_MISMATCH,
                "cannot assign non-composite value to a record variable",
            ));
        };
        let shape = self.shape_in(ty, bytes)?;
        let columns: Vec<ColumnDescription> = shape
            .fields
            .iter()
            .map(|(name, ty)| ColumnDescription {
                name: Arc::clone(name),
                table: 0,
                attribute: 0,
                ty: *ty,
                type_length: -1,
            })
            .collect();
        let mut row = RowBuf::new();
        self.session.with_context(|context| {
            for field in 0..columns.len() {
                row.push(record::field(context.arena, bytes, field)?);
            }
            Ok(())
        })?;
        self.put_columns(variable, &columns, Some(&row))?;
        self.kit.frame.fold(variable)?;
        value.clear();
        value.push(self.kit.frame.get(variable));
        Ok(())
    }

    /// The fields of a row at hand.
    pub(super) fn shape_in(&mut self, ty: SqlType, bytes: &[u8]) -> Result<Arc<Shape>> {
        if ty.oid.0 != oids::RECORD
            && let Some(shape) = self.session.shape_of(ty)
        {
            return Ok(shape);
        }
        self.session.with_context(|context| {
            let mut names = record::names(context, ty.oid.0, bytes).into_iter();
            let fields = record::fields(bytes).enumerate().map(|(at, (ty, _))| {
                let name = names.next().unwrap_or_else(|| format!("f{}", at + 1).into());
                (name, SqlType { oid: crate::types::Oid(ty), typmod: -1 })
            });
            let ty = SqlType::plain(oids::RECORD);
            Ok(Arc::new(Shape::new(ty, fields.collect())))
        })
    }

    /// Puts the columns of a row, or none, into a variable that holds rows.
    pub(super) fn put_columns(
        &mut self,
        variable: u32,
        columns: &[ColumnDescription],
        row: Option<&RowBuf>,
    ) -> Result<()> {
        let body = Arc::clone(&self.body);
        let own = &body.variables[variable as usize];
        let shape = match own.ty {
            VariableType::Row(ty) => self
                .session
                .shape_of(ty)
                .ok_or_else(|| SqlError::unsupported("a variable of this type is"))?,
            _ => {
                let shape = self.shape_for(variable, columns);
                self.kit.frame.unfold(variable, &shape, |fields| match row {
                    Some(row) => fields.copy_from(row),
                    None => fields.set_nulls(columns.len()),
                });
                return Ok(());
            }
        };
        // No row is one of NULLs.
        let mut none = RowBuf::new();
        let row = match row {
            Some(row) => row,
            None => {
                none.set_nulls(columns.len());
                &none
            }
        };
        self.demand_as_many(columns.len(), shape.fields.len())?;
        if has_fields(&shape, columns) {
            self.kit.frame.take_fields(variable, &shape, &mut row.clone());
            return Ok(());
        }
        let mut fields = RowBuf::new();
        let mut value = RowBuf::new();
        for (place, (_, ty)) in shape.fields.iter().enumerate() {
            value.clear();
            match columns.get(place) {
                Some(column) => {
                    value.push_column(row, place);
                    self.session.converted(&mut value, column.ty, *ty)?;
                }
                None => value.push(Datum::Null),
            }
            fields.push_column(&value, 0);
        }
        self.set_record(variable, &shape, &fields)
    }

    /// The shape of rows of these columns in a record variable: the one that it has, if it is the same.
    pub(super) fn shape_for(&self, variable: u32, columns: &[ColumnDescription]) -> Arc<Shape> {
        match self.kit.frame.shape(variable) {
            Some(known) if is_of(known, columns) => Arc::clone(known),
            _ => {
                // What texts were made for is what they find without a look.
                let program = self.program.as_ref();
                let fitted =
                    program.into_iter().flat_map(|program| program.fitted.iter().flatten());
                let mut shapes = fitted.filter(|(number, _)| *number == variable);
                let known = shapes
                    .find_map(|(_, shape)| shape.as_ref().filter(|shape| is_of(shape, columns)));
                known.cloned().unwrap_or_else(|| Arc::new(shape_of_columns(columns)))
            }
        }
    }

    /// Gives a variable a row of these fields, which a domain over rows has to admit.
    fn set_record(&mut self, variable: u32, shape: &Shape, row: &RowBuf) -> Result<()> {
        if !builtin::is_domain(shape.ty.oid.0) {
            return self.kit.frame.set_record(variable, shape, row.iter());
        }
        let arena = bumpalo::Bump::new();
        let fields: Vec<(SqlType, Datum<'_>)> =
            shape.fields.iter().map(|(_, ty)| *ty).zip(row.iter()).collect();
        let value = record::build(&arena, &fields);
        let mut checked = RowBuf::new();
        checked.push(value);
        let base = self.session.catalog.last_snapshot().base_type(shape.ty);
        self.session.converted(&mut checked, base, shape.ty)?;
        self.kit.frame.set(variable, value);
        Ok(())
    }

    /// The fields of the variable that a place is in, and which of them the place begins with.
    pub(super) fn field_of(&mut self, place: &Place) -> Result<(Arc<Shape>, usize)> {
        let body = Arc::clone(&self.body);
        let own = &body.variables[place.variable as usize];
        let shape = match own.ty {
            VariableType::Record => self.kit.frame.shape(place.variable).cloned(),
            _ => self.session.shape_of(type_of(&own.ty)),
        };
        let shape = shape.ok_or_else(|| unassigned(&own.name))?;
        let field = place.path.first().map_or("", |field| field);
        let at = shape.fields.iter().position(|(name, _)| **name == *field);
        let at = at.ok_or_else(|| no_field(&own.name, field))?;
        Ok((shape, at))
    }

    /// Puts a value into a variable or a field of one.
    pub(super) fn put_at(&mut self, place: &Place, value: &mut RowBuf, ty: SqlType) -> Result<()> {
        let [_, rest @ ..] = &place.path[..] else {
            return self.put(place.variable, value, ty);
        };
        self.kit.frame.fold(place.variable)?;
        let (shape, at) = self.field_of(place)?;
        let name = Arc::clone(&self.body.variables[place.variable as usize].name);
        let inner = shape.fields[at].1;
        if rest.is_empty() {
            self.session.converted(value, ty, inner)?;
            let field = (place.variable, at);
            let is_domain = builtin::is_domain(shape.ty.oid.0);
            if !is_domain && self.kit.frame.set_field(field, (inner, &value.get(0)))? {
                return Ok(());
            }
        }
        let whole = match self.kit.frame.get(place.variable) {
            Datum::Record(bytes) => Some(bytes.to_vec()),
            _ => None,
        };
        let mut row = fields_in(whole.as_deref(), shape.fields.len())?;
        if !rest.is_empty() {
            self.session.put_within((row.get(at), inner), (&name, rest), value, ty)?;
        }
        row.set(at, value.get(0));
        self.set_record(place.variable, &shape, &row)
    }

    /// Puts the columns of a statement's row, which is given up for another one, into the places behind its INTO.
    pub(super) fn put_row_into(
        &mut self,
        text: &Text,
        (places, columns): (&[Place], &[ColumnDescription]),
        row: &mut RowBuf,
    ) -> Result<()> {
        if let [Place { variable, path }] = places
            && path.is_empty()
            && let VariableType::Record = self.body.variables[*variable as usize].ty
        {
            let shape = self.shape_for(*variable, columns);
            self.kit.frame.begin_rows(*variable, &shape);
            self.kit.frame.take_fields(*variable, &shape, row);
            return Ok(());
        }
        let state = self.session.catalog.last_snapshot().state();
        if text.taken_in(state).is_none()
            && let Some(taken) = self.all_taken(places, columns)
        {
            text.note_taken(taken, state);
        }
        let taken = match text.taken_in(state) {
            None => return self.put_into(places, columns, Some(&*row)),
            Some(Taking::Fields(variable, shape)) => {
                self.kit.frame.take_fields(*variable, shape, row);
                return Ok(());
            }
            Some(Taking::Each(taken)) => taken,
        };
        for (at, one) in taken.iter().enumerate() {
            let value = match row.get(at) {
                Datum::Null if one.not_null => {
                    return Err(not_null(&self.body.variables[one.variable as usize]));
                }
                Datum::Text(text) if one.trimmed => Datum::Text(without_blanks(text)),
                value => value,
            };
            self.kit.frame.set(one.variable, value);
        }
        Ok(())
    }

    /// How columns go into places, where each goes into a variable of its own that is no row, as it is or nearly, or all are the
    /// fields of one.
    fn all_taken(&mut self, places: &[Place], columns: &[ColumnDescription]) -> Option<Taking> {
        if let [Place { variable, path }] = places
            && let (VariableType::Row(ty), []) =
                (&self.body.variables[*variable as usize].ty, &path[..])
        {
            let shape = self.session.shape_of(*ty)?;
            return has_fields(&shape, columns).then_some(Taking::Fields(*variable, shape));
        }
        if places.len() != columns.len() {
            return None;
        }
        let mut all = Vec::with_capacity(places.len());
        for (place, column) in places.iter().zip(columns) {
            let own = &self.body.variables[place.variable as usize];
            let (VariableType::Scalar(to), []) = (&own.ty, &place.path[..]) else {
                return None;
            };
            let (to, not_null) = (*to, own.not_null);
            // What a domain says of NULL is asked of each value.
            if builtin::is_domain(to.oid.0) {
                return None;
            }
            let trimmed = if self.session.converts_nothing(column.ty, to) {
                false
            } else {
                // A cast that cannot be made ready is nobody's affair before there is a value for it.
                let cast = self.session.cast(column.ty, to).ok()?;
                if !cast.same && !cast.trims {
                    return None;
                }
                cast.trims
            };
            all.push(Taken { variable: place.variable, not_null, trimmed });
        }
        Some(Taking::Each(all.into()))
    }

    /// Puts the columns of a row, or NULLs where there is none, into places.
    pub(super) fn put_into(
        &mut self,
        places: &[Place],
        columns: &[ColumnDescription],
        row: Option<&RowBuf>,
    ) -> Result<()> {
        if let [Place { variable, path }] = places
            && path.is_empty()
            && !matches!(self.body.variables[*variable as usize].ty, VariableType::Scalar(_))
        {
            return self.put_columns(*variable, columns, row);
        }
        self.demand_as_many(columns.len(), places.len())?;
        let mut value = std::mem::take(&mut self.scratch);
        value.clear();
        for (at, place) in places.iter().enumerate() {
            if let (Some(column), Some(row)) = (columns.get(at), row)
                && self.put_as_it_is(place, column.ty, row.get(at))
            {
                continue;
            }
            value.clear();
            let ty = match (columns.get(at), row) {
                (Some(column), Some(row)) => {
                    value.push_column(row, at);
                    column.ty
                }
                _ => {
                    // The NULL of no row is of no type that a function of users could cast.
                    value.push(Datum::Null);
                    match self.body.variables[place.variable as usize].ty {
                        VariableType::Scalar(own)
                            if place.path.is_empty() && !builtin::is_domain(own.oid.0) =>
                        {
                            own
                        }
                        _ => SqlType::plain(oids::TEXT),
                    }
                }
            };
            self.put_at(place, &mut value, ty)?;
        }
        self.scratch = value;
        Ok(())
    }

    /// Puts a value into a variable that takes it as it is; whether it was one.
    #[inline]
    fn put_as_it_is(&mut self, place: &Place, ty: SqlType, value: Datum<'_>) -> bool {
        match self.takes(place, ty) {
            Some((variable, not_null)) if !(not_null && value.is_null()) => {
                self.kit.frame.set(variable, value);
                true
            }
            _ => false,
        }
    }

    /// A variable that takes values of a type as they are, and whether NULL is none of these.
    #[inline]
    pub(super) fn takes(&self, place: &Place, ty: SqlType) -> Option<(u32, bool)> {
        let own = &self.body.variables[place.variable as usize];
        let VariableType::Scalar(to) = own.ty else { return None };
        let takes = place.path.is_empty() && self.session.converts_nothing(ty, to);
        takes.then_some((place.variable, own.not_null))
    }
}
