//! CREATE FUNCTION and CREATE PROCEDURE, whose bodies are looked at; CALL.

use super::Execution;
use super::context::Place;
use super::query::{command_of, in_statement};
use super::text::alone;
use crate::bind::{self, Expr, Literal, Required};
use crate::catalog::routine::{Parameter, Routine};
use crate::compile::code::Code;
use crate::ddl;
use crate::error::{Result, SqlError};
use crate::exec::sink::{ColumnDescription, RowSink};
use crate::message::{CommandTag, Progress};
use crate::parse::Statement;
use crate::parse::ast::{Call, CreateRoutine, RoutineOption};
use crate::parse::depth::on_full_stack;
use crate::plan::scalar::CallTypes;
use crate::plpgsql::tree::{Place as Target, Sql, VariableType};
use crate::prepared::{Basis, Planned, Reader};
use crate::session::Session;
use crate::session::portal::Portal;
use crate::session::utility::{Outcome, done};
use crate::source::Source;
use crate::sqlstate::SqlState;
use crate::tuple::RowBuf;
use crate::types::{CallContext, Oid, SqlType};
use std::cell::Cell;
use std::sync::Arc;

/// A CALL, its procedure found and its arguments cast.
pub(in crate::session) struct BoundCall {
    pub routine: Arc<Routine>,
    pub arguments: Vec<Expr>,
    pub parameters: Vec<SqlType>,
    /// What whoever runs it must be allowed: the procedure first.
    required: Vec<Required>,
    /// A constant among the arguments is the time.
    momentary: bool,
}

/// A CALL with a plan for its arguments, for when the same statement runs again.
#[derive(Debug)]
pub(in crate::session) struct ReadyCall {
    source: Arc<Source>,
    parameters: Vec<Oid>,
    routine: Arc<Routine>,
    types: CallTypes,
    arguments: Planned,
    /// The same, where they need nothing but the statement's parameters.
    alone: Option<Code>,
    /// Of each parameter that gives something back, the variable that is its argument, or the field of one; nothing where it is
    /// another expression.
    outputs: Box<[(u32, Option<Output>)]>,
}

/// A variable, and the field of it.
type Output = (u32, Option<usize>);

/// How many of them a session keeps.
const READY_CALLS: usize = 16;

impl Session {
    /// CREATE FUNCTION, CREATE PROCEDURE.
    pub(in crate::session) fn create_routine(
        &mut self,
        parsed: &Arc<Source>,
        create: &CreateRoutine,
    ) -> Result<Outcome> {
        let text = parsed.query_text();
        for (option, _) in &create.options {
            let RoutineOption::Standard(body) = option else { continue };
            if let Some(one) = body.statements.iter().find(|one| !one.statement.is_planned()) {
                let command = command_tag(&text[one.start as usize..one.end as usize]);
                return Err(SqlError::new(
                    SqlState::FEATURE_NOT_SUPPORTED,
                    format!("{command} is not yet supported in unquoted SQL function body"),
                ));
            }
        }
        let made = self.with_ddl(parsed.places(), |ddl| {
            ddl::again_if_outdated(ddl, &mut |ddl| ddl::routine::create_routine(ddl, create))
        })?;
        if self.settings.bool("check_function_bodies") {
            let at = create.options.iter().find_map(|(option, _)| match option {
                RoutineOption::Body(_, at) => Some(*at),
                _ => None,
            });
            let before = crate::parse::Positions::new(text).of(at.unwrap_or(0)) - 1;
            let told = self.notices.get_mut().len();
            let checked = self.check_body(&made);
            // What is told of the body is told by its place in the statement.
            for notice in self.notices.get_mut().iter_mut().skip(told) {
                if let Some(position) = notice.fields().position {
                    *notice = notice.clone().nowhere().at(before + position);
                }
            }
            checked.map_err(|error| match error.fields().position {
                Some(position) => error.nowhere().at(before + position),
                None if made.language == crate::catalog::routine::SQL => {
                    error.within(format!("SQL function \"{}\"", made.name))
                }
                None => error,
            })?;
        }
        done(if create.procedure { "CREATE PROCEDURE" } else { "CREATE FUNCTION" })
    }

    /// Finds the procedure that a CALL names.
    pub(in crate::session) fn bound_call(
        &mut self,
        parsed: &Source,
        call: &Call,
        parameter_types: &[Oid],
    ) -> Result<BoundCall> {
        let path = self.basis().path.clone();
        let snapshot = Arc::clone(self.catalog.snapshot());
        let variables = parsed.variables();
        self.with_context(|context| {
            let momentary = Cell::new(false);
            let constants = &Reader(&CallContext { time_read: Some(&momentary), ..*context });
            let environment = bind::Environment { catalog: &snapshot, path: &path, constants };
            let (routine, arguments, parameters, mut required) =
                bind::bind_call(environment, parsed.places(), call, parameter_types, variables)?;
            required.insert(0, Required::Function(routine.oid));
            Ok(BoundCall { routine, arguments, parameters, required, momentary: momentary.get() })
        })
    }

    /// A CALL made ready: as it was, where nothing has changed in the catalog and in what texts are read by.
    fn ready_call(
        &mut self,
        parsed: &Arc<Source>,
        call: &Call,
        given: &[Oid],
    ) -> Result<Arc<ReadyCall>> {
        self.basis();
        let basis = self.basis.clone().expect("it has just been made");
        let known = self.calls.iter().find(|known| {
            Arc::ptr_eq(&known.source, parsed)
                && known.parameters == given
                && known.arguments.basis.is_same(&basis)
        });
        if let Some(known) = known {
            return Ok(Arc::clone(known));
        }
        // A default is kept as text, which may be a tree of any height.
        on_full_stack(|| self.made_call(parsed, call, given, basis))
    }

    fn made_call(
        &mut self,
        parsed: &Arc<Source>,
        call: &Call,
        given: &[Oid],
        basis: Basis,
    ) -> Result<Arc<ReadyCall>> {
        let bound = self.bound_call(parsed, call, given)?;
        let types = CallTypes {
            arguments: bound.arguments.iter().map(Expr::ty).collect(),
            result: SqlType { oid: bound.routine.result, typmod: -1 },
            columns: Vec::new(),
            variadic_spread: false,
        };
        let outputs = outputs_of(&bound.routine, &bound.arguments);
        let arguments = without_outputs(&bound.routine, bound.arguments);
        let arguments =
            self.planned_values(arguments, basis, (bound.parameters, bound.required))?;
        let ready = Arc::new(ReadyCall {
            source: Arc::clone(parsed),
            parameters: given.to_vec(),
            routine: bound.routine,
            types,
            alone: alone(&arguments.program).map(Code::of).filter(Code::is_bare),
            arguments,
            outputs,
        });
        if !bound.momentary {
            self.calls.retain(|known| !Arc::ptr_eq(&known.source, parsed));
            if self.calls.len() >= READY_CALLS {
                self.calls.remove(0);
            }
            self.calls.push(Arc::clone(&ready));
        }
        Ok(ready)
    }

    /// The columns of what a procedure gives back.
    pub(in crate::session) fn call_columns(
        &self,
        routine: &Routine,
    ) -> Option<Vec<ColumnDescription>> {
        if !routine.parameters.iter().any(Parameter::is_output) {
            return None;
        }
        let outputs = routine.outputs();
        let columns = outputs.iter().zip(routine.output_names()).map(|(at, name)| {
            let parameter = &routine.parameters[*at as usize];
            ColumnDescription {
                name,
                table: 0,
                attribute: 0,
                ty: SqlType { oid: parameter.ty, typmod: -1 },
                type_length: crate::catalog::builtin::type_by_oid(parameter.ty.0)
                    .map_or(-1, |ty| ty.length),
            }
        });
        Some(columns.collect())
    }

    /// The arguments of a CALL, for who may make it.
    fn call_values(&mut self, ready: &ReadyCall, parameters: &RowBuf) -> Result<RowBuf> {
        let Some(alone) = &ready.alone else {
            return self.values_by(&ready.arguments, parameters);
        };
        self.may_run(&ready.arguments)?;
        self.block.ensure(self.engine.manager(), &self.wait).begin_statement()?;
        let mut values = std::mem::take(&mut self.spare_value);
        match alone.run_into(parameters, &mut values)? {
            true => Ok(values),
            false => self.values_by(&ready.arguments, parameters),
        }
    }

    /// CALL.
    pub(in crate::session) fn call(
        &mut self,
        parsed: &Arc<Source>,
        call: &Call,
        portal: &mut Portal,
        sink: &mut dyn RowSink,
    ) -> Result<Outcome> {
        let ready = self.ready_call(parsed, call, &portal.prepared.parameters)?;
        let routine = &ready.routine;
        let values = self.call_values(&ready, &portal.parameters)?;
        let alone = self.is_alone_at_top();
        let row = self.call_procedure(routine, &ready.types, &values, alone)?;
        self.keep_value(values);
        let Some(columns) = self.call_columns(routine) else { return done("CALL") };
        self.with_context(|context| {
            let row: Vec<_> = row.iter().collect();
            sink.row(context, &columns, &row).map(|_| ())
        })?;
        let tag = CommandTag { words: "CALL", rows: None };
        Ok(Outcome::Progress(Progress::Complete(tag)))
    }
}

/// The parameters of a procedure that give something back, each with what its argument names.
fn outputs_of(routine: &Routine, arguments: &[Expr]) -> Box<[(u32, Option<Output>)]> {
    let place = |number: u32| match arguments.get(number as usize) {
        Some(Expr::Parameter(variable, _)) => Some((*variable, None)),
        Some(Expr::Field { operand, field, .. }) => match **operand {
            Expr::Parameter(variable, _) => Some((variable, Some(*field as usize))),
            _ => None,
        },
        _ => None,
    };
    routine.outputs().into_iter().map(|number| (number, place(number))).collect()
}

/// The arguments of a CALL; those for OUT parameters are not evaluated.
fn without_outputs(routine: &Routine, mut arguments: Vec<Expr>) -> Vec<Expr> {
    for (argument, parameter) in arguments.iter_mut().zip(&routine.parameters) {
        if !parameter.is_input() {
            *argument = Expr::Constant(Literal::Null, argument.ty());
        }
    }
    arguments
}

/// The tag of a command by its first words.
pub(in crate::session) fn command_tag(text: &str) -> String {
    let mut words = text.split_whitespace();
    let first = words.next().unwrap_or_default().to_ascii_uppercase();
    match (first.as_str(), words.find(|word| !is_between(word))) {
        ("CREATE" | "ALTER" | "DROP", Some(kind)) => {
            let kind = kind.trim_end_matches(';').to_ascii_uppercase();
            format!("{first} {kind}")
        }
        _ => command_of(text),
    }
}

/// Whether a word stands between CREATE and the kind of what is made, and is not in the tag.
fn is_between(word: &str) -> bool {
    let between = ["TEMP", "TEMPORARY", "UNLOGGED", "LOCAL", "GLOBAL", "UNIQUE", "OR", "REPLACE"];
    between.contains(&word.to_ascii_uppercase().as_str())
}

impl Execution<'_> {
    /// CALL within a body: what comes back goes into the variables that were given.
    pub(super) fn call_procedure_within(&mut self, sql: &Sql) -> Result<()> {
        let text = self.text(sql, None).map_err(|error| in_statement(error, &sql.text))?;
        let prepared = Arc::clone(&text.prepared);
        let Some(Statement::Call(call)) = prepared.parsed.statement() else { return Ok(()) };
        let ready = self.session.ready_call(&prepared.parsed, call, &[]);
        let ready = ready.map_err(|error| in_statement(error, &sql.text))?;
        let ReadyCall { routine, types, .. } = &*ready;
        let targets = self.call_targets(&ready)?;
        let variables = self.kit.frame.take_row();
        let values = self.session.call_values(&ready, &variables);
        self.kit.frame.put_row(variables);
        let values = values.map_err(|error| in_statement(error, &sql.text))?;
        let ends = self.ends_transactions && self.subtransactions == 0;
        self.session.within.push(Place::Statement(Arc::clone(&prepared.text)));
        let row = self.session.call_procedure(routine, types, &values, ends);
        self.session.within.pop();
        let row = row.map_err(|error| in_statement(error, &sql.text))?;
        let mut value = RowBuf::new();
        for (at, (number, place)) in targets.iter().enumerate() {
            value.clear();
            value.push_column(&row, at);
            let ty = SqlType { oid: routine.parameters[*number as usize].ty, typmod: -1 };
            self.put_at(place, &mut value, ty)?;
        }
        Ok(())
    }

    /// The parameters of a procedure that give something back, each with the variable that takes it, or the field of one
    /// (`make_callstmt_target`).
    fn call_targets(&mut self, ready: &ReadyCall) -> Result<Vec<(u32, Target)>> {
        let (routine, mut targets) = (&ready.routine, Vec::new());
        for (number, place) in ready.outputs.iter().copied() {
            let Some((variable, field)) = place else {
                let name = &routine.parameters[number as usize].name;
                let parameter =
                    if name.is_empty() { (number + 1).to_string() } else { format!("\"{name}\"") };
                let message = format!(
                    "procedure parameter {parameter} is an output parameter but corresponding argument is not writable"
                );
                return Err(SqlError::new(SqlState::SYNTAX_ERROR, message));
            };
            let own = &self.body.variables[variable as usize];
            if own.constant {
                let message = format!("variable \"{}\" is declared CONSTANT", own.name);
                return Err(SqlError::new(SqlState::ERROR_IN_ASSIGNMENT, message));
            }
            let shape = match (field, &own.ty) {
                (None, _) => None,
                (Some(_), VariableType::Record) => self.kit.frame.shape(variable).cloned(),
                (Some(_), ty) => self.session.shape_of(super::text::type_of(ty)),
            };
            let field = field.and_then(|at| Some(Arc::clone(&shape?.fields.get(at)?.0)));
            targets.push((number, Target { variable, path: field.into_iter().collect() }));
        }
        Ok(targets)
    }
}
