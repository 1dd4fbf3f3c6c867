//! The texts of SQL in a body: made ready once, with the variables as parameters, and followed through changes of the catalog.
//!
//! An expression that is one scalar over the variables is evaluated as such, without a statement around it
//! (`exec_simple_check_plan`); everything else is a statement.

use super::context::{expression, in_expression};
use super::frame::{Frame, Shape};
use super::machine::code::Program;
use super::value::Taking;
use crate::bind::{Variable, VariableConflict, Variables, names_table, no_field};
use crate::compile::code::{Code, ElementCode};
use crate::error::{Result, SqlError};
use crate::parse::ast::Ident;
use crate::plan::physical::Plan as PlanNode;
use crate::plan::scalar::{Scalar, Target, Var};
use crate::plpgsql::parse::find;
use crate::plpgsql::tree::{Body, Sql, VariableType};
use crate::prepared::{Basis, Planned, Prepared};
use crate::session::Session;
use crate::session::load::inserts_query;
use crate::source::Source;
use crate::sqlstate::SqlState;
use crate::tuple::RowBuf;
use crate::types::{Datum, Oid, SqlType, oids};
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// The variables that a text sees, as they were when it was made ready.
#[derive(Debug)]
struct Visible {
    body: Arc<Body>,
    innermost: Option<u32>,
    types: Vec<SqlType>,
    shapes: Vec<Option<Arc<Shape>>>,
    wanted: Option<SqlType>,
    /// The variable of which the text changes a part.
    assigned: Option<u32>,
    /// The variables whose shapes it was made from, by number, modulo 64.
    used: AtomicU64,
    /// The variables that it names.
    named: Mutex<BTreeSet<u32>>,
}

impl Visible {
    fn variable(&self, number: u32, field: Option<Ident>) -> Result<Variable> {
        self.named.lock().unwrap_or_else(PoisonError::into_inner).insert(number);
        let ty = self.types[number as usize];
        let fields = match &self.body.variables[number as usize].ty {
            VariableType::Record => {
                self.used.fetch_or(1 << (number % 64), Relaxed);
                match &self.shapes[number as usize] {
                    Some(shape) => {
                        let known =
                            |name: &Ident| shape.fields.iter().any(|(known, _)| known == name);
                        let own = &self.body.variables[number as usize].name;
                        let mut name = None;
                        if let Some(missed) = field.as_ref().filter(|name| !known(name)) {
                            if !names_table(own, missed) {
                                return Err(no_field(own, missed));
                            }
                            name = Some(Arc::clone(own));
                        }
                        if shape.ty.oid.0 != oids::RECORD {
                            return Ok(Variable {
                                number,
                                ty: shape.ty,
                                fields: None,
                                field,
                                name,
                            });
                        }
                        Some(shape.fields.clone())
                    }
                    None if field.is_some() => {
                        return Err(unassigned(&self.body.variables[number as usize].name));
                    }
                    None => None,
                }
            }
            _ => None,
        };
        let name = Some(Arc::clone(&self.body.variables[number as usize].name));
        Ok(Variable { number, ty, fields, field, name })
    }
}

/// 55000 for the fields of a record that has never been a row.
pub(super) fn unassigned(name: &str) -> SqlError {
    SqlError::new(
        SqlState::OBJECT_NOT_IN_PREREQUISITE_STATE,
        format!("record \"{name}\" is not assigned yet"),
    )
    .detail("The tuple structure of a not-yet-assigned record is indeterminate.")
}

impl Variables for Visible {
    fn types(&self) -> &[SqlType] {
        &self.types
    }

    fn find(&self, parts: &[Ident]) -> Result<Option<Variable>> {
        let Some((number, taken)) = find(&self.body.names, self.innermost, parts) else {
            return Ok(None);
        };
        match &parts[taken..] {
            [] => self.variable(number, None).map(Some),
            [field]
                if !matches!(self.body.variables[number as usize].ty, VariableType::Scalar(_)) =>
            {
                self.variable(number, Some(Arc::clone(field))).map(Some)
            }
            _ => Ok(None),
        }
    }

    fn parameter(&self, number: u32) -> Option<Variable> {
        let number = self.body.positions.get(number.checked_sub(1)? as usize)?;
        self.variable(*number, None).ok()
    }

    fn rows(&self, name: &str) -> Option<u32> {
        let found = self.body.rows.iter().find(|(known, _)| **known == *name);
        found.map(|(_, number)| number + 1)
    }

    fn conflict(&self) -> VariableConflict {
        self.body.conflict
    }

    fn wanted(&self) -> Option<SqlType> {
        self.wanted
    }

    fn takes_rows(&self) -> bool {
        true
    }

    fn assigned(&self) -> Option<Variable> {
        self.assigned.and_then(|number| self.variable(number, None).ok())
    }
}

/// What a text sees that is made when it runs: the values behind USING, and the rows that the statement behind a trigger has
/// changed, which come after them.
#[derive(Debug)]
pub(super) struct Given {
    types: Vec<SqlType>,
    rows: Vec<(Arc<str>, u32)>,
}

impl Given {
    /// Values of these types, and the rows that a body sees.
    pub(super) fn new(values: &[Oid], body: &Body) -> Given {
        let mut types: Vec<SqlType> = values.iter().map(|ty| SqlType::plain(ty.0)).collect();
        let mut rows = Vec::new();
        for (name, number) in &body.rows {
            types.push(type_of(&body.variables[*number as usize].ty));
            rows.push((Arc::clone(name), types.len() as u32));
        }
        Given { types, rows }
    }
}

impl Variables for Given {
    fn types(&self) -> &[SqlType] {
        &self.types
    }

    fn find(&self, _: &[Ident]) -> Result<Option<Variable>> {
        Ok(None)
    }

    fn parameter(&self, number: u32) -> Option<Variable> {
        let number = number.checked_sub(1)?;
        let ty = *self.types.get(number as usize)?;
        Some(Variable { number, ty, fields: None, field: None, name: None })
    }

    fn rows(&self, name: &str) -> Option<u32> {
        let found = self.rows.iter().find(|(known, _)| **known == *name);
        found.map(|(_, number)| *number)
    }

    fn conflict(&self) -> VariableConflict {
        VariableConflict::Error
    }

    fn wanted(&self) -> Option<SqlType> {
        None
    }

    fn assigned(&self) -> Option<Variable> {
        None
    }
}

/// A text that has been made ready.
#[derive(Debug)]
pub struct Text {
    /// As a statement.
    pub prepared: Arc<Prepared>,
    /// As a scalar over the variables, compiled.
    simple: Option<Code>,
    /// The same where it may call routines, for programs of bodies.
    pub(super) flat: Option<Scalar>,
    /// Whether it needs nothing but the variables.
    plain: bool,
    /// As the assignment of an element, where that needs nothing else.
    element: Option<ElementCode>,
    /// Whether its plan may be run at once.
    at_once: bool,
    /// How the columns of its row go into what is behind INTO, where they all go there without more ado.
    into: OnceLock<Taking>,
    /// The state of the catalog in which that was found out last.
    into_seen: AtomicU64,
    ty: SqlType,
    visible: Arc<Visible>,
    /// The variables that it names and that hold rows.
    rows: Box<[u32]>,
    /// [`Session::changes`] when it was last found good.
    seen: AtomicU64,
    /// The same when its relations were last locked.
    held: AtomicU64,
    /// How often it has been run as a statement, up to a few times.
    runs: AtomicU32,
    /// Whether a routine that it calls is running.
    in_use: AtomicBool,
}

/// What is known of the texts of a body.
#[derive(Debug, Default)]
pub struct BodyTexts {
    /// Those that have been made ready, by number.
    pub(super) texts: Vec<Option<Arc<Text>>>,
    /// How often one has been made ready.
    pub(super) ready: u32,
    /// The body's program, made of them.
    pub(super) program: Option<Arc<Program>>,
    /// [`Session::changes`] when that was last found good, what it was made from, and whose rights it asked for.
    pub(super) seen: u64,
    pub(super) basis: Option<Basis>,
    pub(super) user: Oid,
    /// What the routine is called in messages.
    pub(super) name: Option<Arc<str>>,
}

/// How often a statement is planned for its parameters before it has a plan for all (`choose_custom_plan`).
const CUSTOM_PLANS: u32 = 5;

impl Text {
    /// It is being evaluated; whether it was already.
    pub(super) fn begin_use(&self) -> bool {
        self.in_use.swap(true, Relaxed)
    }

    /// It is not any more.
    pub(super) fn end_use(&self) {
        self.in_use.store(false, Relaxed);
    }

    /// Whether it was made from rows that variables held.
    pub(super) fn has_shapes(&self) -> bool {
        self.visible.used.load(Relaxed) != 0
    }

    /// Whether it was made from the rows that variables hold now.
    pub(super) fn fits(&self, frame: &Frame) -> bool {
        !self.has_shapes() || self.shapes().all(|(number, then)| frame.is_shaped(number, then))
    }

    /// The variables that it was made for the shapes of, and these.
    pub(super) fn shapes(&self) -> impl Iterator<Item = (u32, Option<&Arc<Shape>>)> {
        let used = self.visible.used.load(Relaxed);
        let all = (0..).zip(&self.visible.shapes).map(|(number, then)| (number, then.as_ref()));
        all.filter(move |(number, _)| used & 1 << (number % 64) != 0)
    }

    /// The variables that it names, by number.
    pub(super) fn named(&self) -> Vec<u32> {
        let named = self.visible.named.lock().unwrap_or_else(PoisonError::into_inner);
        named.iter().copied().collect()
    }

    /// Those of them that hold rows: it reads these as values.
    pub(super) fn rows(&self) -> &[u32] {
        &self.rows
    }

    /// Whether it is planned for its parameters this time, as in its first runs; what that computes may fail.
    pub(super) fn is_custom(&self) -> bool {
        self.runs.load(Relaxed) < CUSTOM_PLANS
    }

    /// Its plan, where that may be run at once: without a portal, and with what its parameters make of it not looked at first.
    pub(super) fn plan_at_once(&self) -> Option<&Arc<Planned>> {
        let planned = self.prepared.planned.as_ref().filter(|_| self.at_once)?;
        (planned.program.presets.is_none() || !self.is_custom()).then_some(planned)
    }

    /// Whether it was found good when [`Session::changes`] was that number.
    pub(super) fn was_good_at(&self, changes: u64) -> bool {
        self.seen.load(Relaxed) == changes
    }

    /// Whether its relations were locked when [`Session::changes`] was that number: they still are, since neither the
    /// transaction nor a savepoint has ended since.
    pub(super) fn was_held_at(&self, changes: u64) -> bool {
        self.held.load(Relaxed) == changes
    }

    /// Its relations are locked.
    pub(super) fn note_held(&self, changes: u64) {
        self.held.store(changes, Relaxed);
    }

    /// How the columns of its row go into variables, where that was found out in this state of the catalog: types and casts
    /// are all that says it.
    pub(super) fn taken_in(&self, state: u64) -> Option<&Taking> {
        self.into.get().filter(|_| self.into_seen.load(Relaxed) == state)
    }

    /// Remembers how they do, unless that is not what it was when it was first found out.
    pub(super) fn note_taken(&self, taken: Taking, state: u64) {
        if *self.into.get_or_init(|| taken.clone()) == taken {
            self.into_seen.store(state, Relaxed);
        }
    }

    /// It has been run.
    pub(super) fn count_run(&self) {
        let runs = self.runs.load(Relaxed);
        if runs < CUSTOM_PLANS {
            self.runs.store(runs + 1, Relaxed);
        }
    }

    /// The type of its only column.
    #[must_use]
    pub fn ty(&self) -> SqlType {
        self.ty
    }

    fn new(prepared: Arc<Prepared>, visible: Arc<Visible>, simple: Option<Scalar>) -> Text {
        let columns = prepared.columns.as_deref().unwrap_or_default();
        let ty = columns.first().map_or(SqlType::plain(oids::TEXT), |column| column.ty);
        // Rights are asked of what says that it needs any.
        let free = prepared.planned.as_ref().is_some_and(|planned| planned.required.is_empty());
        let element = simple.as_ref().filter(|_| free).and_then(ElementCode::of);
        let simple = simple.map(|scalar| Code::of([&scalar]));
        let plain = free && simple.as_ref().is_some_and(Code::is_bare);
        // What calls routines has the session lent to it, and what loads a table ends that.
        let at_once = prepared.planned.as_ref().is_some_and(|planned| {
            !planned.program.calls_routines
                && !planned.momentary
                && inserts_query(planned).is_none()
        });
        let named = visible.named.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let variables = &visible.body.variables;
        let holds_rows =
            |number: &u32| !matches!(variables[*number as usize].ty, VariableType::Scalar(_));
        Text {
            at_once,
            rows: named.into_iter().filter(holds_rows).collect(),
            flat: scalar_of(&prepared, true),
            prepared,
            simple,
            plain,
            element,
            ty,
            visible,
            seen: AtomicU64::new(0),
            held: AtomicU64::new(0),
            into: OnceLock::new(),
            into_seen: AtomicU64::new(0),
            runs: AtomicU32::new(0),
            in_use: AtomicBool::new(false),
        }
    }
}

/// Whether a statement computes one row from nothing and runs no query for it.
pub(in crate::session) fn is_scalar(prepared: &Prepared) -> bool {
    prepared.planned.as_ref().is_some_and(|planned| {
        let program = &planned.program;
        matches!(&program.plan, PlanNode::Project(input, ..) if matches!(**input, PlanNode::Unit))
            && program.subplans.is_empty()
            && program.ctes.is_empty()
    })
}

/// The scalar that a program computes, if it does nothing else.
pub(super) fn simple(prepared: &Prepared) -> Option<Scalar> {
    scalar_of(prepared, false)
}

/// The same; it may call routines.
fn scalar_of(prepared: &Prepared, calls: bool) -> Option<Scalar> {
    let [scalar] = alone(&prepared.planned.as_ref()?.program)? else { return None };
    let mut evaluates = true;
    scalar.walk(&mut |part| {
        evaluates &= !matches!(part, Scalar::Subquery(_) | Scalar::Var(_))
            && (calls
                || !matches!(part, Scalar::Call { callee, .. } if is_routine(&callee.target)));
        evaluates
    });
    evaluates.then(|| scalar.clone())
}

/// What a program computes, if that is one row from nothing and it runs no query for it.
pub(super) fn alone(program: &crate::compile::Program) -> Option<&[Scalar]> {
    let PlanNode::Project(input, slot, columns) = &program.plan else { return None };
    let plain = matches!(**input, PlanNode::Unit)
        && program.output.len() == columns.len()
        && (0..).zip(&program.output).all(|(at, output)| *output == Var { slot: *slot, column: at })
        && program.subplans.is_empty()
        && program.ctes.is_empty()
        // What its constants fail with it fails with as a statement; its variables are none to its plan, which is for all values.
        && program.presets.as_ref().is_none_or(|presets| presets.failure.is_none());
    plain.then_some(columns)
}

fn is_routine(target: &Target) -> bool {
    !matches!(target, Target::Plain(_) | Target::Typed(..) | Target::Catalog)
}

impl Session {
    /// Makes a text of a body ready, unless it is and is good.
    pub(super) fn text_of(
        &mut self,
        body: (u64, &Arc<Body>),
        frame: &Frame,
        sql: &Sql,
        assigned: Option<u32>,
    ) -> Result<Arc<Text>> {
        let number = sql.number as usize;
        let known = self.texts.get(&body.0).and_then(|known| known.texts[number].clone());
        if let Some(known) = known.filter(|known| known.fits(frame)) {
            if self.is_settled(known.seen.load(Relaxed)) {
                return Ok(known);
            }
            match self.fresh(&known.prepared, false)? {
                None => {
                    known.seen.store(self.changes, Relaxed);
                    return Ok(known);
                }
                Some(prepared) => {
                    let simple = simple(&prepared);
                    let text = Text::new(prepared, Arc::clone(&known.visible), simple);
                    return Ok(self.keep_text(body, number, text));
                }
            }
        }
        let visible = Arc::new(Visible {
            body: Arc::clone(body.1),
            innermost: sql.names,
            types: body.1.variables.iter().map(|variable| type_of(&variable.ty)).collect(),
            shapes: frame.shapes().to_vec(),
            wanted: sql.wanted,
            assigned,
            used: AtomicU64::new(0),
            named: Mutex::default(),
        });
        let query: Arc<str> = if sql.is_expression {
            format!("SELECT {}", sql.text).into()
        } else {
            Arc::clone(&sql.text)
        };
        let source = one_statement(&query, self.settings.plain().dialect)?
            .seeing(Arc::clone(&visible) as Arc<dyn Variables>);
        let source = if sql.is_cursor { source.of_cursor() } else { source };
        let types: Vec<Oid> = visible.types.iter().map(|ty| ty.oid).collect();
        let planned = source.statement().is_some_and(crate::parse::Statement::is_planned);
        let prepared = self.prepare(Arc::new(source), if planned { &types } else { &[] })?;
        let simple = if sql.is_expression || assigned.is_some() { simple(&prepared) } else { None };
        Ok(self.keep_text(body, number, Text::new(prepared, visible, simple)))
    }

    fn keep_text(&mut self, body: (u64, &Arc<Body>), number: usize, text: Text) -> Arc<Text> {
        let text = Arc::new(text);
        text.seen.store(self.changes, Relaxed);
        let known = self.known_texts(body.0, body.1);
        known.texts[number] = Some(Arc::clone(&text));
        known.ready += 1;
        text
    }

    /// What is known of a body's texts.
    pub(super) fn known_texts(&mut self, id: u64, body: &Body) -> &mut BodyTexts {
        self.texts.entry(id).or_insert_with(|| BodyTexts {
            texts: vec![None; body.texts as usize],
            ..BodyTexts::default()
        })
    }

    /// How often a text of a body has been made ready.
    pub(super) fn ready_texts(&self, id: u64) -> u32 {
        self.texts.get(&id).map_or(0, |known| known.ready)
    }

    /// Runs a text that needs nothing but the variables, and was found good since anything has happened that could change
    /// that; nothing for every other.
    #[inline]
    pub(super) fn run_plain<'x>(
        &'x self,
        body: u64,
        frame: &'x Frame,
        sql: &Sql,
    ) -> Result<Option<(Datum<'x>, SqlType)>> {
        let Some(text) = self.good_text(body, frame, sql) else { return Ok(None) };
        let Some(code) = text.simple.as_ref().filter(|_| text.plain) else { return Ok(None) };
        Ok(code.run(frame.row())?.map(|value| (value, text.ty)))
    }

    /// Runs what an expression calls. Where it is being evaluated already, PostgreSQL evaluates it as a query, and says so
    /// (`expr_simple_in_use`).
    pub(super) fn in_use<T>(
        &mut self,
        (text, sql): (&Text, &Sql),
        run: impl FnOnce(&mut Session) -> Result<T>,
    ) -> Result<T> {
        if !text.begin_use() {
            let done = run(self);
            text.end_use();
            return done;
        }
        self.within.push(expression(sql));
        let done = run(self);
        self.within.pop();
        done.map_err(|error| in_expression(error, sql))
    }

    /// Looks whether a text that needs nothing but the variables is good still, where something has happened since.
    #[inline]
    pub(super) fn look_again(&mut self, body: u64, sql: &Sql) -> Result<()> {
        let text =
            self.texts.get(&body).and_then(|known| known.texts[sql.number as usize].as_ref());
        let Some(text) = text else { return Ok(()) };
        let plain = text.plain || text.element.is_some();
        if !plain || text.seen.load(Relaxed) == self.changes {
            return Ok(());
        }
        let text = Arc::clone(text);
        if self.fresh(&text.prepared, false)?.is_none() {
            text.seen.store(self.changes, Relaxed);
        }
        Ok(())
    }

    /// A text that has been found good since anything has happened that could change that.
    #[inline]
    fn good_text(&self, body: u64, frame: &Frame, sql: &Sql) -> Option<&Text> {
        let text = self.texts.get(&body)?.texts[sql.number as usize].as_ref()?;
        (text.seen.load(Relaxed) == self.changes && text.fits(frame)).then_some(text)
    }

    /// `a[i] := value`, where the array lies; whether that could be done.
    pub(super) fn assign_element(
        &self,
        body: u64,
        frame: &mut Frame,
        (variable, sql): (u32, &Sql),
    ) -> Result<bool> {
        let code = self.good_text(body, frame, sql).and_then(|text| text.element.as_ref());
        let Some(code) = code.filter(|code| code.array == variable) else { return Ok(false) };
        // As the whole is evaluated: the subscript, then the value.
        let subscript = code.subscript.run(frame.row())?;
        let value = code.value.run(frame.row())?.and_then(Datum::by_value);
        let (Some(value), Some(Datum::Int4(subscript))) = (value, subscript) else {
            return Ok(false);
        };
        Ok(frame.replace_element(variable, subscript, &value))
    }

    /// Evaluates a text that is a scalar, into a row of one column; false if it is none.
    pub(super) fn evaluate_simple(
        &mut self,
        text: &Text,
        parameters: &RowBuf,
        into: &mut RowBuf,
    ) -> Result<bool> {
        let Some(code) = &text.simple else { return Ok(false) };
        self.evaluate_scalar((&text.prepared, code), parameters, into)
    }

    /// The same of the scalar that a statement is.
    pub(super) fn evaluate_scalar(
        &mut self,
        (prepared, code): (&Prepared, &Code),
        parameters: &RowBuf,
        into: &mut RowBuf,
    ) -> Result<bool> {
        if let Some(planned) = &prepared.planned
            && !planned.required.is_empty()
        {
            self.may_run(planned)?;
        }
        if code.run_into(parameters, into)? {
            return Ok(true);
        }
        self.with_context(|context| code.compute_over(context, parameters, into))
    }
}

/// The type by which statements know a variable.
pub(super) fn type_of(ty: &VariableType) -> SqlType {
    match ty {
        VariableType::Scalar(ty) | VariableType::Row(ty) => *ty,
        VariableType::Record => SqlType::plain(oids::RECORD),
    }
}

/// The only statement of a text.
///
/// # Errors
/// 42601 for none or several.
pub(super) fn one_statement(
    text: &Arc<str>,
    dialect: crate::types::dialect::Dialect,
) -> Result<Source> {
    let (mut sources, _) = Source::parse(text, dialect)?;
    match (sources.pop(), sources.pop()) {
        (Some(source), None) => Ok(source),
        (None, _) => Ok(Source::empty(text)),
        (Some(_), Some(_)) => {
            Err(SqlError::new(SqlState::SYNTAX_ERROR, format!("query \"{text}\" is not a SELECT")))
        }
    }
}
