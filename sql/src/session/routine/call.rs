//! Calls: a routine's body with its arguments, under its owner's rights and with its settings where it says so.

use super::context::Place;
use super::frame::{Frame, Shape};
use super::machine::Kit;
use super::text::Text;
use super::{Execution, Returned};
use crate::bind::type_name::{format_type_be, has_fields};
use crate::bind::{self, Environment, VariableConflict};
use crate::catalog::routine::{INTERNAL, Parameter, Routine, SQL};
use crate::ddl::routine::EVENT_TRIGGER;
use crate::error::{Result, SqlError};
use crate::exec::routine::RoutineCall;
use crate::plan::scalar::CallTypes;
use crate::plpgsql::parse::{Given, Gives};
use crate::plpgsql::tree::{Block, Body, Name, Sql, Variable, VariableType};
use crate::prepared::{Prepared, Reader};
use crate::session::Session;
use crate::session::portal::{Portal, Stage};
use crate::source::Source;
use crate::sqlstate::SqlState;
use crate::tuple::{RowBuf, RowSet};
use crate::types::check_held;
use crate::types::{Datum, Oid, SqlType, oids, record};
use std::borrow::Cow;
use std::sync::Arc;

/// What a level of calls counts among the levels of values.
pub(super) const WEIGHT: u32 = 10;

/// A routine whose body has been parsed for arguments of these types.
#[derive(Debug)]
pub struct Compiled {
    pub(super) routine: Arc<Routine>,
    /// The number under which its plans are kept.
    pub(super) id: u64,
    pub(super) body: Arc<Body>,
    /// The statements of a body in SQL.
    statements: Vec<Sql>,
    /// The names of the fields of the record that it gives; none where it gives no record of its own, or to CALL, which takes
    /// it apart.
    fields: Vec<Arc<str>>,
}

/// What a call has come to: its value, and the rows that it gives.
#[derive(Default)]
struct Outcome {
    value: RowBuf,
    rows: Option<Vec<RowBuf>>,
    /// The names and the types of the rows' columns, where the body is in SQL.
    names: Vec<Arc<str>>,
    types: Vec<SqlType>,
}

impl Session {
    /// A routine as messages show it: `f(integer,text)`.
    pub(in crate::session) fn routine_text(&mut self, routine: &Routine) -> String {
        let path = self.basis().path.to_vec();
        let snapshot = Arc::clone(self.catalog.last_snapshot());
        let types: Vec<String> = routine
            .input_types()
            .iter()
            .map(|ty| format_type_be(&snapshot, &path, Oid(*ty)))
            .collect();
        let schema = self.catalog.last_snapshot().schema_by_oid(routine.schema);
        let name = match schema.filter(|schema| !path.contains(&schema.oid)) {
            Some(schema) => crate::catalog::quote::qualified(&schema.name, &routine.name),
            None => crate::catalog::quote::identifier(&routine.name),
        };
        format!("{name}({})", types.join(","))
    }

    /// The same, kept as long as nothing has changed.
    pub(super) fn routine_name(&mut self, routine: &Routine) -> Arc<str> {
        let basis = self.basis().clone();
        if let Some((known, name)) = self.routine_names.get(&routine.oid)
            && known.is_same(&basis)
        {
            return Arc::clone(name);
        }
        let name: Arc<str> = self.routine_text(routine).into();
        self.routine_names.insert(routine.oid, (basis, Arc::clone(&name)));
        name
    }

    /// The variables that a routine begins with: its parameters.
    pub(super) fn given_of(&mut self, routine: &Routine, types: &CallTypes) -> Vec<Given> {
        let resolved = self.parameter_types(routine, types);
        let snapshot = Arc::clone(self.catalog.snapshot());
        let mut actual = types.arguments.iter();
        routine
            .parameters
            .iter()
            .enumerate()
            .map(|(at, parameter)| {
                let given = if parameter.is_input() { actual.next().copied() } else { None };
                let own = match &resolved {
                    Some(resolved) => Some(SqlType::plain(resolved[at].0)),
                    None => given,
                };
                let polymorphic =
                    crate::bind::is_polymorphic(parameter.ty.0) && parameter.ty.0 != oids::RECORD;
                let ty = match own {
                    Some(own) if polymorphic => own,
                    None if polymorphic => types.result,
                    _ => SqlType { oid: parameter.ty, typmod: -1 },
                };
                Given {
                    name: (!parameter.name.is_empty()).then(|| Arc::clone(&parameter.name)),
                    ty: super::types::variable_type(&snapshot, SqlType { typmod: -1, ..ty }),
                }
            })
            .collect()
    }

    /// What the types of a routine's parameters are in a call; none where they are what they are declared as.
    fn parameter_types(&mut self, routine: &Routine, types: &CallTypes) -> Option<Vec<Oid>> {
        let mut declared = routine.parameters.iter().map(|parameter| parameter.ty.0);
        if !declared.any(crate::bind::is_polymorphic) {
            return None;
        }
        let path = self.basis().path.clone();
        let snapshot = Arc::clone(self.catalog.snapshot());
        let arguments: Vec<Oid> = types.arguments.iter().map(|ty| ty.oid).collect();
        if arguments.iter().any(|ty| crate::bind::is_polymorphic(ty.0)) {
            return None;
        }
        let resolved = self.with_context(|context| {
            let constants = &Reader(context);
            let environment = Environment { catalog: &snapshot, path: &path, constants };
            crate::bind::routine_body::parameter_types(environment, routine, &arguments)
        });
        resolved.ok()
    }

    /// A body that has been parsed, unless the routine has become another one since.
    pub(super) fn known_body(
        &mut self,
        key: &(Oid, Vec<Oid>),
        routine: &Arc<Routine>,
    ) -> Option<Arc<Compiled>> {
        let known = self.compiled.get(key)?;
        let same = Arc::ptr_eq(&known.routine, routine) || known.routine == *routine;
        if same && self.has_types(&known.body) {
            return Some(Arc::clone(known));
        }
        let old = known.id;
        self.texts.remove(&old);
        None
    }

    /// Whether the composite types of a body's variables are there still: what has their names may be others.
    fn has_types(&self, body: &Body) -> bool {
        let snapshot = self.catalog.last_snapshot();
        body.variables.iter().all(|variable| match variable.ty {
            VariableType::Row(ty) => has_fields(snapshot, ty.oid),
            VariableType::Scalar(_) | VariableType::Record => true,
        })
    }

    /// Keeps a parsed body.
    pub(super) fn keep_body(
        &mut self,
        key: (Oid, Vec<Oid>),
        routine: &Arc<Routine>,
        body: Arc<Body>,
        statements: Vec<Sql>,
    ) -> Arc<Compiled> {
        self.bodies += 1;
        let fields = match routine.procedure {
            true => Vec::new(),
            false => {
                Some(routine.output_names()).filter(|names| names.len() > 1).unwrap_or_default()
            }
        };
        let (routine, id) = (Arc::clone(routine), self.bodies);
        let compiled = Arc::new(Compiled { routine, id, body, statements, fields });
        self.compiled.insert(key, Arc::clone(&compiled));
        compiled
    }

    /// A routine's body for arguments of these types, parsed once.
    pub(super) fn compiled(
        &mut self,
        routine: &Arc<Routine>,
        types: &CallTypes,
    ) -> Result<Arc<Compiled>> {
        let key = (routine.oid, types.arguments.iter().map(|ty| ty.oid).collect::<Vec<_>>());
        if let Some(known) = self.known_body(&key, routine) {
            return Ok(known);
        }
        if routine.language == INTERNAL {
            let code = &routine.body;
            return Err(SqlError::unsupported(format!("the function {code} called this way is")));
        }
        let given = self.given_of(routine, types);
        let (body, statements) = if routine.language == SQL {
            let body = sql_body(routine, &given);
            let statements = self.sql_statements(routine, &body)?;
            let body = Arc::new(Body { texts: statements.len() as u32, ..body });
            (body, statements)
        } else {
            let name = &routine.name;
            let gives = gives_of(routine);
            let own = (&**name, Some(&**name));
            let parsed = self.parsed_body(&routine.body, own, &given, false, gives);
            (parsed.map_err(|error| in_body(error, routine))?, Vec::new())
        };
        Ok(self.keep_body(key, routine, body, statements))
    }

    /// The statements of a body in SQL.
    pub(super) fn sql_statements(&mut self, routine: &Routine, body: &Body) -> Result<Vec<Sql>> {
        if let Some(standard) = &routine.standard {
            return standard_statements(standard.text(), body);
        }
        let text = &routine.body;
        let dialect = self.settings.plain().dialect;
        let (sources, _) = Source::parse(text, dialect)?;
        let innermost = body.names.len().checked_sub(1).map(|last| last as u32);
        let sql = |(number, source): (usize, Source)| Sql {
            number: number as u32,
            text: source.text(),
            is_expression: false,
            is_cursor: false,
            names: innermost,
            at: source.start() as u32,
            wanted: None,
            assignment: None,
        };
        Ok(sources.into_iter().enumerate().map(sql).collect())
    }

    /// Calls a routine from a statement.
    pub(super) fn call_routine(
        &mut self,
        call: &RoutineCall,
        rows: Option<&mut RowSet>,
    ) -> Result<RowBuf> {
        let (outcome, kit) = self.called(&call.routine, &call.types, &call.arguments, false)?;
        self.keep_kit(kit);
        if let (Some(into), Some(given)) = (rows, outcome.rows) {
            let result = SqlType { oid: call.routine.result, typmod: -1 };
            let composite = call.routine.outputs().len() < 2
                && (result.oid.0 == oids::RECORD || self.shape_of(result).is_some());
            let whole = composite && is_whole(&call.types, &call.routine);
            for row in given {
                if whole && (row.len() != 1 || !matches!(row.get(0), Datum::Record(_))) {
                    let types = match result.oid.0 {
                        oids::RECORD => outcome.types.clone(),
                        _ => self.row_types(&call.routine, &call.types),
                    };
                    let arena = bumpalo::Bump::new();
                    let fields: Vec<(SqlType, Datum<'_>)> =
                        types.iter().copied().zip(row.iter()).collect();
                    into.push([record::build_named(&arena, &fields, outcome.names.iter())]);
                } else if composite && !whole && self.is_one_value(&row, &call.types) {
                    let arena = bumpalo::Bump::new();
                    let width = call.types.columns.len();
                    match row.get(0) {
                        Datum::Record(bytes) => {
                            let fields = (0..width).map(|at| record::field(&arena, bytes, at));
                            into.push(fields.collect::<Result<Vec<_>>>()?);
                        }
                        _ => into.push(std::iter::repeat_n(Datum::Null, width)),
                    }
                } else {
                    into.push(row.iter());
                }
                check_held(into.bytes())?;
            }
        }
        Ok(outcome.value)
    }

    /// Whether a row that a routine gives is one value of a composite type, where its caller takes the fields of that.
    fn is_one_value(&mut self, row: &RowBuf, types: &CallTypes) -> bool {
        match &types.columns[..] {
            [] => false,
            [(_, only)] => matches!(row.get(0), Datum::Record(_)) && self.shape_of(*only).is_none(),
            _ => row.len() == 1,
        }
    }

    /// The types of the rows that a routine gives.
    fn row_types(&mut self, routine: &Routine, types: &CallTypes) -> Vec<SqlType> {
        let outputs = routine.outputs();
        // One output of a function is its result, one of a procedure is a row of one column.
        if outputs.len() > usize::from(!routine.procedure) {
            let resolved = self.parameter_types(routine, types);
            let of = |at: &u32| match &resolved {
                Some(resolved) => resolved[*at as usize],
                None => routine.parameters[*at as usize].ty,
            };
            return outputs.iter().map(of).map(|oid| SqlType { oid, typmod: -1 }).collect();
        }
        if routine.result.0 == oids::RECORD {
            return types.columns.iter().map(|(_, ty)| *ty).collect();
        }
        let result = SqlType { oid: routine.result, typmod: -1 };
        match self.shape_of(result) {
            Some(shape) => shape.fields.iter().map(|(_, ty)| *ty).collect(),
            None if crate::bind::is_polymorphic(routine.result.0) => vec![types.result],
            None => vec![result],
        }
    }

    /// Runs a routine; its outcome and the values of its parameters at the end.
    fn called(
        &mut self,
        routine: &Arc<Routine>,
        types: &CallTypes,
        arguments: &RowBuf,
        ends_transactions: bool,
    ) -> Result<(Outcome, Box<Kit>)> {
        let plain = !routine.security_definer && routine.settings.is_empty();
        let ends_transactions = ends_transactions && plain;
        self.under_rights(routine, &mut |session| {
            session.run_called(routine, types, arguments, ends_transactions)
        })
    }

    fn run_called(
        &mut self,
        routine: &Arc<Routine>,
        types: &CallTypes,
        arguments: &RowBuf,
        ends_transactions: bool,
    ) -> Result<(Outcome, Box<Kit>)> {
        if [crate::ddl::routine::TRIGGER, EVENT_TRIGGER].contains(&routine.result.0) {
            return Err(SqlError::new(
                SqlState::FEATURE_NOT_SUPPORTED,
                "trigger functions can only be called as triggers",
            )
            .within(format!("compilation of PL/pgSQL function \"{}\" near line 1", routine.name)));
        }
        let compiled = self.compiled(routine, types)?;
        if routine.language == SQL {
            let mut given = RowBuf::new();
            let mut inputs = 0..arguments.len();
            for parameter in &routine.parameters {
                let at = if parameter.is_input() { inputs.next() } else { None };
                match at {
                    Some(at) => given.push_column(arguments, at),
                    None => given.push(Datum::Null),
                }
            }
            let (outcome, frame) = self.run_sql(&compiled, types, &given)?;
            return Ok((outcome, Box::new(Kit { frame, ..Kit::default() })));
        }
        let outputs = routine.outputs();
        let is_void = routine.result.0 == oids::VOID;
        let of_value = outputs.is_empty() && !is_void && !routine.returns_set;
        let result = match crate::bind::is_polymorphic(routine.result.0) {
            true => types.result,
            false => SqlType { oid: routine.result, typmod: -1 },
        };
        let is_record = result.oid.0 == oids::RECORD;
        let listed = is_record && !is_whole(types, routine) && !types.columns.is_empty();
        let columns = listed.then(|| types.columns.iter().map(|(_, ty)| *ty).collect());
        let returned = Returned {
            of_rows: is_record || !is_void && has_fields(self.catalog.snapshot(), result.oid),
            unlisted: is_record && !listed && outputs.len() < 2,
            by_slot: of_value && !listed,
            columns: columns.filter(|_| of_value),
            ty: (of_value && result.oid.0 != oids::RECORD).then_some(result),
            set: routine.returns_set.then(|| (self.row_types(routine, types), Vec::new())),
            outputs: outputs.clone(),
            ..Returned::default()
        };
        let name = self.routine_name(routine);
        let body = Arc::clone(&compiled.body);
        let program = self.program_of(compiled.id, &body)?;
        let mut kit = self.kits.pop().unwrap_or_default();
        kit.frame.begin(body.variables.len(), &program.layout);
        let inputs = routine.parameters.iter().enumerate().filter(|(_, one)| one.is_input());
        for (at, (number, parameter)) in inputs.enumerate().take(arguments.len()) {
            kit.frame.set_column(number, arguments, at);
            // A record is known by the type that it has where it comes from.
            if parameter.ty.0 == oids::RECORD
                && !arguments.get(at).is_null()
                && let Some(ty) = types.arguments.get(at).filter(|ty| ty.oid.0 != oids::RECORD)
            {
                let shape = self.shape_of(*ty);
                kit.frame.set_shape(number as u32, shape);
            }
        }
        let run = (compiled.id, Some(program), 0);
        let ran = self.run_by(run, Arc::clone(&name), body, kit, returned, ends_transactions);
        let (returned, mut kit) = ran?;
        for variable in outputs.iter().copied().chain(returned.slot.map(u32::from)) {
            kit.frame.fold(variable)?;
        }
        if let Some((_, rows)) = returned.set {
            return Ok((Outcome { rows: Some(rows), ..Outcome::default() }, kit));
        }
        let frame = &kit.frame;
        let mut value = RowBuf::new();
        match outputs.as_slice() {
            [] if routine.procedure => value.push(Datum::Null),
            // The one value of `void` is no NULL, where the language is not SQL.
            [] if is_void => value.push(Datum::Text("")),
            [] => value = value_of(returned, frame, &name)?,
            [only] if !routine.procedure => value.push_column(frame.row(), *only as usize),
            several => {
                let arena = bumpalo::Bump::new();
                let fields: Vec<(SqlType, Datum<'_>)> = several
                    .iter()
                    .map(|at| {
                        let ty = super::text::type_of(&compiled.body.variables[*at as usize].ty);
                        (ty, frame.get(*at))
                    })
                    .collect();
                value.push(record::build_named(&arena, &fields, compiled.fields.iter()));
            }
        }
        Ok((Outcome { value, ..Outcome::default() }, kit))
    }

    /// Runs a body in SQL: its last statement says what it returns.
    fn run_sql(
        &mut self,
        compiled: &Compiled,
        types: &CallTypes,
        given: &RowBuf,
    ) -> Result<(Outcome, Frame)> {
        let routine = &compiled.routine;
        let mut frame = Frame::new(compiled.body.variables.len());
        for (at, value) in given.iter().enumerate() {
            frame.set(at as u32, value);
        }
        let is_void =
            routine.result.0 == oids::VOID || routine.procedure && routine.outputs().is_empty();
        let mut row_types = self.row_types(routine, types);
        let mut names = Cow::from(&compiled.fields);
        let result = SqlType { oid: routine.result, typmod: -1 };
        let (mut outcome, mut is_whole_value) = (Outcome::default(), false);
        // Only a list of columns says what a record is; a row of a set may be one value instead.
        let listed = routine.result.0 == oids::RECORD
            && !is_whole(types, routine)
            && !types.columns.is_empty();
        let is_told = listed || !routine.outputs().is_empty();
        if routine.result.0 == oids::RECORD && is_whole(types, routine) && !is_told {
            row_types.clear();
        }
        let count = compiled.statements.len();
        for (number, sql) in compiled.statements.iter().enumerate() {
            let last = number + 1 == count && !is_void;
            let limit = u64::from(last && !routine.returns_set);
            self.within.push(Place::Sql(Arc::clone(&routine.name), number as u32 + 1));
            let body = (compiled.id, &compiled.body);
            let ready = self.text_of(body, &frame, sql, None);
            let ready = ready.and_then(|text| {
                self.demand_allowed(&text, sql)?;
                Ok(text)
            });
            let began = ready.is_ok();
            let ran = ready.and_then(|text| self.run_sql_statement(&text, &frame, limit));
            let place = self.within.pop();
            // What becomes the declared type is a part of the statement, unless the body stands in place of the call.
            let in_place = count == 1 && bind::may_be_inlined(routine, !types.columns.is_empty());
            let within = place.as_ref().filter(|_| !in_place).map(Place::text);
            let told = |error: SqlError| match &within {
                Some(within) => error.within(within.clone()),
                None => error,
            };
            let (ran, mut rows) = ran.map_err(|error| {
                let place = match place {
                    Some(place) if began => place.text(),
                    _ => preparing(routine, count, types),
                };
                match routine.standard {
                    Some(_) => error.nowhere().within(place),
                    None => error.in_text(0, &*routine.body).within(place),
                }
            })?;
            if !last {
                continue;
            }
            let described = ran.columns.as_deref().unwrap_or_default();
            let columns: Vec<SqlType> = described.iter().map(|column| column.ty).collect();
            if let [only] = &columns[..]
                && self.is_given_whole(routine, *only)?
            {
                for row in &mut rows {
                    self.converted(row, *only, result).map_err(told)?;
                }
                (outcome.rows, is_whole_value) = (Some(rows), true);
                continue;
            }
            // A record is what the statement gives, where the caller does not say its columns.
            let is_said = !row_types.is_empty();
            if row_types.is_empty() {
                row_types.clone_from(&columns);
                names = described.iter().map(|column| Arc::clone(&column.name)).collect();
            }
            let same = columns.len() == row_types.len();
            let is_row = matches!(&columns[..], [only] if only.oid.0 == oids::RECORD)
                && self.gives_rows(routine);
            // What it reads or returns may be another since its body was looked at, if that was done at all.
            if !is_row {
                let gives_rows = self.gives_rows(routine);
                self.demand_columns((routine, gives_rows), &columns, &row_types)
                    .map_err(|error| error.within(preparing(routine, count, types)))?;
            }
            if is_row && is_said {
                for row in &rows {
                    let Datum::Record(bytes) = row.get(0) else { continue };
                    let given: Vec<u32> = record::fields(bytes).map(|(ty, _)| ty).collect();
                    self.with_context(|context| {
                        record::demand_fields(context, &given, &row_types)
                    })?;
                }
            }
            for row in &mut rows {
                if same {
                    *row = self.row_of(row, &columns, &row_types).map_err(told)?;
                }
            }
            outcome.rows = Some(rows);
        }
        let rows = outcome.rows.take().unwrap_or_default();
        if routine.returns_set {
            return Ok((
                Outcome {
                    rows: Some(rows),
                    names: names.into_owned(),
                    types: row_types,
                    ..Outcome::default()
                },
                frame,
            ));
        }
        let is_row = self.gives_rows(routine) && !is_whole_value;
        let mut value = RowBuf::new();
        match rows.first() {
            None => value.push(Datum::Null),
            Some(row) if is_row && !(row.len() == 1 && matches!(row.get(0), Datum::Record(_))) => {
                let arena = bumpalo::Bump::new();
                let fields: Vec<(SqlType, Datum<'_>)> =
                    row_types.iter().copied().zip(row.iter()).collect();
                value.push(record::build_named(&arena, &fields, names.iter()));
            }
            Some(row) => value.push_column(row, 0),
        }
        for (at, number) in routine.outputs().iter().enumerate() {
            if let Some(row) = rows.first().filter(|row| at < row.len()) {
                frame.set(*number, row.get(at));
            }
        }
        Ok((Outcome { value, ..Outcome::default() }, frame))
    }

    /// Whether a routine gives rows, and not one value each.
    fn gives_rows(&mut self, routine: &Routine) -> bool {
        routine.result.0 == oids::RECORD
            || routine.outputs().len() > 1
            || self.shape_of(SqlType { oid: routine.result, typmod: -1 }).is_some()
    }

    /// 42P13 where what the last statement gives is not what becomes these columns (`check_sql_fn_retval`).
    fn demand_columns(
        &mut self,
        (routine, gives_rows): (&Routine, bool),
        given: &[SqlType],
        wanted: &[SqlType],
    ) -> Result<()> {
        let mut mismatch = None;
        for (at, (from, to)) in given.iter().zip(wanted).enumerate() {
            if from.oid != to.oid && !self.may_assign(from.oid, to.oid)? {
                mismatch = Some((at, *from, *to));
                break;
            }
        }
        if given.len() == wanted.len() && mismatch.is_none() {
            return Ok(());
        }
        let detail = match mismatch {
            _ if !gives_rows && given.len() != 1 => {
                "Final statement must return exactly one column.".to_owned()
            }
            Some((_, from, _)) if !gives_rows => {
                format!("Actual return type is {}.", self.type_text(from))
            }
            Some((at, from, to)) => {
                let (from, to) = (self.type_text(from), self.type_text(to));
                format!("Final statement returns {from} instead of {to} at column {}.", at + 1)
            }
            None if given.len() < wanted.len() => {
                "Final statement returns too few columns.".to_owned()
            }
            None => "Final statement returns too many columns.".to_owned(),
        };
        Err(self.result_mismatch(routine, detail))
    }

    /// 42P13.
    fn result_mismatch(&mut self, routine: &Routine, detail: impl Into<String>) -> SqlError {
        let shown = self.type_text(SqlType { oid: routine.result, typmod: -1 });
        SqlError::new(
            SqlState::INVALID_FUNCTION_DEFINITION,
            format!("return type mismatch in function declared to return {shown}"),
        )
        .detail(detail)
    }

    /// Whether a column of the last statement is the whole value of a composite type, or of a domain over one, which is
    /// never given field by field.
    fn is_given_whole(&mut self, routine: &Routine, column: SqlType) -> Result<bool> {
        let result = SqlType { oid: routine.result, typmod: -1 };
        if routine.outputs().len() > 1
            || result.oid.0 == oids::RECORD
            || self.shape_of(result).is_none()
        {
            return Ok(false);
        }
        self.may_assign(column.oid, result.oid)
    }

    /// A row with its columns made those of other types.
    fn row_of(&mut self, row: &RowBuf, from: &[SqlType], to: &[SqlType]) -> Result<RowBuf> {
        let (mut converted, mut value) = (RowBuf::new(), RowBuf::new());
        for (at, (from, to)) in from.iter().zip(to).enumerate() {
            value.clear();
            value.push_column(row, at);
            if !matches!(value.get(0), Datum::Record(_)) {
                self.converted(&mut value, *from, *to)?;
            }
            converted.push_column(&value, 0);
        }
        Ok(converted)
    }

    /// Refuses statements that no body in SQL may have, or none that is not volatile.
    fn demand_allowed(&self, text: &Text, sql: &Sql) -> Result<()> {
        let prepared = &text.prepared;
        if let Some(crate::parse::Statement::Transaction(_)) = prepared.parsed.statement() {
            let words = sql.text.split_whitespace().next().unwrap_or_default().to_ascii_uppercase();
            return Err(SqlError::new(
                SqlState::FEATURE_NOT_SUPPORTED,
                format!("{words} is not allowed in an SQL function"),
            ));
        }
        self.demand_read_only(prepared)
    }

    /// One statement of a body in SQL: as what it ran, and its rows.
    fn run_sql_statement(
        &mut self,
        text: &Text,
        frame: &Frame,
        max_rows: u64,
    ) -> Result<(Arc<Prepared>, Vec<RowBuf>)> {
        let parameters = frame.row().clone();
        self.check_presets(&text.prepared, &parameters)?;
        let prepared = match self.custom(&text.prepared, &parameters)? {
            Some(custom) => custom,
            None => Arc::clone(&text.prepared),
        };
        let changes = prepared.planned.as_ref().is_some_and(|planned| planned.program.changes);
        let mut portal = Portal::new(Arc::clone(&prepared));
        portal.parameters = parameters;
        portal.depth = self.block.depth();
        let mut kept = self.keeping(usize::MAX);
        let limit = if changes { 0 } else { max_rows };
        let ran = crate::types::depth::deeper(|| self.run_for_body(&mut portal, limit, &mut kept));
        let rows = self.kept_rows(kept);
        self.leave_watched(&mut portal);
        self.let_go(&portal);
        if !matches!(portal.progress, Stage::Failed) {
            self.retire(portal);
        }
        ran?;
        Ok((prepared, rows))
    }

    /// CALL: runs a procedure; the row of its OUT parameters, if it has any.
    pub(in crate::session) fn call_procedure(
        &mut self,
        routine: &Arc<Routine>,
        types: &CallTypes,
        arguments: &RowBuf,
        ends_transactions: bool,
    ) -> Result<RowBuf> {
        let (_, kit) = if routine.parameters.iter().all(Parameter::is_input) {
            self.called(routine, types, arguments, ends_transactions)?
        } else {
            let mut inputs = RowBuf::new();
            let mut input_types = Vec::new();
            for (at, parameter) in routine.parameters.iter().enumerate() {
                if parameter.is_input() {
                    inputs.push_column(arguments, at);
                    input_types.extend(types.arguments.get(at).copied());
                }
            }
            let types = CallTypes { arguments: input_types, ..types.clone() };
            self.called(routine, &types, &inputs, ends_transactions)?
        };
        let mut row = RowBuf::new();
        let outputs = routine.parameters.iter().enumerate().filter(|(_, one)| one.is_output());
        outputs.for_each(|(number, _)| row.push_column(kit.frame.row(), number));
        self.keep_kit(kit);
        Ok(row)
    }

    /// Looks at the body of a routine that has just been made (`check_function_bodies`).
    pub(super) fn check_body(&mut self, routine: &Arc<Routine>) -> Result<()> {
        let types = CallTypes {
            arguments: routine
                .inputs()
                .map(|parameter| SqlType { oid: parameter.ty, typmod: -1 })
                .collect(),
            result: SqlType { oid: routine.result, typmod: -1 },
            columns: Vec::new(),
            variadic_spread: false,
        };
        if routine.result.0 == EVENT_TRIGGER && !routine.parameters.is_empty() {
            return Err(SqlError::new(
                SqlState::INVALID_FUNCTION_DEFINITION,
                "event trigger functions cannot have declared arguments",
            )
            .within(format!("compilation of PL/pgSQL function \"{}\" near line 1", routine.name)));
        }
        let fires = routine.result.0 == crate::ddl::routine::TRIGGER;
        if fires && !routine.parameters.is_empty() {
            return Err(SqlError::new(
                SqlState::INVALID_FUNCTION_DEFINITION,
                "trigger functions cannot have declared arguments",
            )
            .hint("The arguments of the trigger can be accessed through TG_NARGS and TG_ARGV instead.")
            .within(format!("compilation of PL/pgSQL function \"{}\" near line 1", routine.name)));
        }
        let given = match routine.result.0 {
            EVENT_TRIGGER => super::event_trigger::given(),
            _ if fires => super::trigger::given(),
            _ => self.given_of(routine, &types),
        };
        let name = &routine.name;
        if routine.language == INTERNAL {
            return Ok(());
        }
        if routine.language != SQL {
            let own = (&**name, Some(&**name));
            self.parsed_body(&routine.body, own, &given, true, gives_of(routine))?;
            return Ok(());
        }
        let polymorphic = |ty: Oid| crate::bind::is_polymorphic(ty.0) && ty.0 != oids::RECORD;
        if types.arguments.iter().any(|ty| polymorphic(ty.oid)) {
            return Ok(());
        }
        let body = sql_body(routine, &given);
        let statements = self.sql_statements(routine, &body)?;
        let body = Arc::new(Body { texts: statements.len() as u32, ..body });
        let frame = Frame::new(body.variables.len());
        self.bodies += 1;
        let id = self.bodies;
        let mut last = None;
        for sql in &statements {
            let text = self.text_of((id, &body), &frame, sql, None);
            if let Ok(text) = &text
                && let Some(crate::parse::Statement::Call(call)) = text.prepared.parsed.statement()
            {
                let called = self.bound_call(&text.prepared.parsed, call, &[])?;
                if !called.routine.outputs().is_empty() {
                    let message = "calling procedures with output arguments is not supported in SQL functions";
                    return Err(SqlError::new(SqlState::FEATURE_NOT_SUPPORTED, message));
                }
            }
            last = Some(text.map_err(|error| match error.fields().position {
                Some(position) => {
                    let before = crate::parse::Positions::new(&routine.body).of(sql.at) - 1;
                    error.nowhere().at(before + position)
                }
                None => error,
            }));
            if let Some(Err(_)) = last {
                break;
            }
        }
        self.texts.remove(&id);
        let last = last.transpose()?;
        if routine.result.0 == oids::VOID {
            return Ok(());
        }
        let columns = last.as_ref().and_then(|text| text.prepared.columns.as_ref());
        let Some(columns) = columns else {
            let detail =
                "Function's final statement must be SELECT or INSERT/UPDATE/DELETE RETURNING.";
            return Err(self.result_mismatch(routine, detail));
        };
        let result = SqlType { oid: routine.result, typmod: -1 };
        let made = self.catalog.last_snapshot().user_type(result.oid);
        let is_domain = made.is_some_and(|made| made.domain().is_some());
        let is_row = !is_domain && self.gives_rows(routine);
        let given: Vec<SqlType> = columns.iter().map(|column| column.ty).collect();
        let wanted = if is_domain { vec![result] } else { self.row_types(routine, &types) };
        let whole = match &given[..] {
            [only] if is_row && only.oid == result.oid => true,
            [only] => self.is_given_whole(routine, *only)?,
            _ => false,
        };
        if whole || wanted.is_empty() {
            return Ok(());
        }
        self.demand_columns((routine, is_row), &given, &wanted)
    }

    fn may_assign(&mut self, from: Oid, to: Oid) -> Result<bool> {
        let path = self.basis().path.clone();
        let snapshot = Arc::clone(self.catalog.snapshot());
        self.with_context(|context| {
            let constants = &Reader(context);
            let environment = Environment { catalog: &snapshot, path: &path, constants };
            Ok(crate::bind::may_assign(environment, from, to))
        })
    }
}

/// The one value that a body has returned.
pub(super) fn value_of(returned: Returned, frame: &Frame, name: &str) -> Result<RowBuf> {
    if !returned.met {
        return Err(SqlError::new(
            SqlState::FUNCTION_EXECUTED_NO_RETURN_STATEMENT,
            "control reached end of function without RETURN",
        )
        .within(format!("PL/pgSQL function {name}")));
    }
    let mut value = RowBuf::new();
    match returned.slot {
        Some(slot) => value.push_column(frame.row(), usize::from(slot)),
        None if returned.value.is_empty() => value.push(Datum::Null),
        None => return Ok(returned.value),
    }
    Ok(value)
}

/// Where a body in SQL fails before it runs: while PostgreSQL puts it in place of the call, or behind that.
fn preparing(routine: &Routine, statements: usize, types: &CallTypes) -> String {
    let doing = match statements == 1 && bind::may_be_inlined(routine, !types.columns.is_empty()) {
        true => "inlining",
        false => "startup",
    };
    format!("SQL function \"{}\" during {doing}", routine.name)
}

/// What is wrong with a body when it is called, by its place in that.
pub(super) fn in_body(error: SqlError, routine: &Routine) -> SqlError {
    let Some(position) = error.fields().position else { return error };
    let before = routine.body.chars().take(position as usize - 1);
    let line = 1 + before.filter(|character| *character == '\n').count();
    let name = &routine.name;
    error
        .in_text(0, &*routine.body)
        .within(format!("compilation of PL/pgSQL function \"{name}\" near line {line}"))
}

/// What the body of a routine returns.
fn gives_of(routine: &Routine) -> Gives {
    let outputs = !routine.outputs().is_empty();
    if routine.returns_set {
        return Gives::Set { outputs };
    }
    match (outputs, routine.procedure || [oids::VOID, EVENT_TRIGGER].contains(&routine.result.0)) {
        (true, _) => Gives::Outputs,
        (false, true) => Gives::Nothing { procedure: routine.procedure },
        (false, false) => Gives::Value,
    }
}

/// Whether each row of a set is one value of a composite type.
fn is_whole(types: &CallTypes, routine: &Routine) -> bool {
    matches!(&types.columns[..], [(_, only)] if only.oid == routine.result)
}

/// The statements of a body of the standard's form.
fn standard_statements(text: &Arc<str>, body: &Body) -> Result<Vec<Sql>> {
    let innermost = body.names.len().checked_sub(1).map(|last| last as u32);
    let parsed = crate::parse::parse_body(text)?;
    let statements = parsed.statements.iter().enumerate().map(|(number, one)| {
        let own = &text[one.start as usize..one.end as usize];
        Sql {
            number: number as u32,
            text: if one.returns { format!("SELECT {own}").into() } else { own.into() },
            is_expression: false,
            is_cursor: false,
            names: innermost,
            at: one.start,
            wanted: None,
            assignment: None,
        }
    });
    Ok(statements.collect())
}

/// The body of a routine in SQL, whose statements see its parameters.
fn sql_body(routine: &Routine, given: &[Given]) -> Body {
    let label =
        Name { previous: None, name: Arc::clone(&routine.name), variable: None, is_block: true };
    let mut names = vec![label];
    let mut variables = Vec::new();
    let mut positions = Vec::new();
    for (one, parameter) in given.iter().zip(&routine.parameters) {
        let number = variables.len() as u32;
        let name = one.name.clone().unwrap_or_default();
        // What it gives back has no name in it.
        if parameter.is_input() {
            positions.push(number);
        }
        if one.name.is_some() && parameter.is_input() {
            let previous = Some(names.len() as u32 - 1);
            let name = Arc::clone(&name);
            names.push(Name { previous, name, variable: Some(number), is_block: false });
        }
        let (constant, not_null, default, cursor) = (false, false, None, None);
        let ty = one.ty.clone();
        variables.push(Variable { name, ty, line: 0, constant, not_null, default, cursor });
    }
    let found = variables.len() as u32;
    Body {
        block: Block {
            line: 0,
            label: None,
            variables: Vec::new(),
            body: Vec::new(),
            handlers: None,
        },
        arguments: found,
        positions,
        rows: Vec::new(),
        variables,
        names,
        texts: 0,
        statements: 0,
        ends_transactions: false,
        conflict: VariableConflict::UseColumn,
        shows_strict: false,
        found,
    }
}

impl Execution<'_> {
    /// The shape of what a record parameter was given.
    pub(super) fn shapes_of_arguments(&mut self) -> Result<()> {
        let body = Arc::clone(&self.body);
        for (number, variable) in body.variables.iter().enumerate().take(body.arguments as usize) {
            if !matches!(variable.ty, VariableType::Record) {
                continue;
            }
            let value = self.kit.frame.get(number as u32);
            let Datum::Record(bytes) = value else { continue };
            if self.kit.frame.shape(number as u32).is_some() {
                continue;
            }
            let bytes = bytes.to_vec();
            let shape: Arc<Shape> = self.shape_in(SqlType::plain(oids::RECORD), &bytes)?;
            self.kit.frame.set_shape(number as u32, Some(shape));
        }
        Ok(())
    }
}
