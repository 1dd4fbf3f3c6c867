//! Loops over what others give while they run: the rows of queries and cursors, the elements of arrays (`exec_for_query`,
//! `exec_stmt_foreach_a`).
//!
//! The machine has an operation that opens such a loop, one that takes its next row and one that closes it; in between its body
//! is operations like all others. Rows come in portions. Where they go as they are the machine puts them by itself
//! ([`OpenLoop::advance`]), and asks for the session only where a portion ends, or where a value has to be made another one. A
//! body that needs nothing of the session runs while a portion is read ([`super::rounds`]).

use super::Execution;
use super::create::command_tag;
use super::frame::Frame;
use super::machine::code::Program;
use super::machine::{Exit, Kit};
use super::query::{demand_runnable, in_statement};
use super::rounds::{Portion, Rounds, Target};
use super::value::has_fields;
use crate::error::{Result, SqlError};
use crate::exec::sink::ColumnDescription;
use crate::parse::ast::FetchDirection;
use crate::plpgsql::tree::{Action, ForEach, ForQuery, Place, Query, Sql, Statement, VariableType};
use crate::session::Session;
use crate::session::portal::Portal;
use crate::sqlstate::SqlState;
use crate::tuple::{RowBuf, RowSet};
use crate::types::array::{self, Array};
use crate::types::{Datum, Oid, SqlType, oids};
use std::sync::Arc;

/// How many rows a loop reads ahead at first, and later (`exec_for_query`).
const FIRST_PORTION: u64 = 10;
const PORTION: u64 = 50;

/// A loop that has been opened.
pub(super) struct OpenLoop {
    statement: Arc<Statement>,
    source: Source,
    columns: Arc<[ColumnDescription]>,
    /// The portion at hand, and which of it comes next.
    rows: RowSet,
    next: usize,
    target: Target,
    /// Whether there has been a row.
    found: bool,
    /// Whether its body has been found to call functions.
    calls: bool,
}

/// How far a portion has been read.
enum Read {
    /// There is nothing more.
    Nothing,
    /// Its rows are at hand; or there are more behind those whose rounds have been made.
    Rows,
    /// The body has been left in the middle, or has failed, behind this operation: its other rows are at hand.
    Left(Result<Exit>, usize),
}

/// Where its rows come from.
enum Source {
    /// A query: its run, whether it changes rows, how many of its rows come next, whether there are no more, and whether the
    /// tables that it reads are held until the loop ends.
    Query { portal: Box<Portal>, changes: bool, portion: u64, done: bool, holds: bool },
    /// A cursor of this name, and its variable, where the loop has given it the name.
    Cursor { name: String, named: Option<u32> },
    /// An array, whose elements or slices are of this type: all are at hand.
    Array(SqlType),
}

impl OpenLoop {
    fn new(
        statement: &Arc<Statement>,
        source: Source,
        columns: Arc<[ColumnDescription]>,
    ) -> OpenLoop {
        let rows = RowSet::new(columns.len());
        let statement = Arc::clone(statement);
        let (target, found, calls) = (Target::Other, false, false);
        OpenLoop { statement, source, columns, rows, next: 0, target, found, calls }
    }

    /// Puts the next row of the portion where it goes; false where there is none, or where its values have to be looked at.
    #[inline]
    pub fn advance(&mut self, frame: &mut Frame) -> bool {
        if self.next == self.rows.len() {
            return false;
        }
        let (rows, row) = (&self.rows, self.next);
        match &self.target {
            Target::Record(variable, shape) => {
                frame.unfold(*variable, shape, |fields| fields.push_row(rows, row));
            }
            Target::Variables(all) => {
                let refused = |(column, (_, not_null)): (usize, &(u32, bool))| {
                    *not_null && rows.get(row, column).is_null()
                };
                if all.iter().enumerate().any(refused) {
                    return false;
                }
                for (column, (variable, _)) in all.iter().enumerate() {
                    frame.set(*variable, rows.get(row, column));
                }
            }
            Target::Row(..) | Target::Other => return false,
        }
        self.next += 1;
        true
    }
}

impl Session {
    /// Runs a portal on for the next rows of a loop; whether it has come to its end.
    fn run_for_loop(
        &mut self,
        portal: &mut Portal,
        max_rows: u64,
        portion: &mut Portion<'_>,
    ) -> Result<bool> {
        let progress = self.run_for_body(portal, max_rows, portion);
        self.notices.get_mut().append(&mut portion.notices);
        self.speak();
        Ok(super::query::tag_of(progress?)?.is_some())
    }
}

impl Execution<'_> {
    /// A loop begins.
    pub(super) fn open_loop(&mut self, statement: &Arc<Statement>) -> Result<()> {
        let opened = crate::types::depth::deeper(|| match &statement.action {
            Action::ForQuery(looped) => match &looped.query {
                Query::Cursor(variable, arguments) => {
                    self.over_cursor(statement, *variable, arguments)
                }
                query => self.over_query(statement, query),
            },
            Action::ForEach(looped) => self.over_array(statement, looped),
            _ => Err(SqlError::unsupported("a loop over this is")),
        })?;
        self.loops.push(opened);
        Ok(())
    }

    fn over_query(&mut self, statement: &Arc<Statement>, query: &Query) -> Result<OpenLoop> {
        self.session.unnamed_portals += 1;
        let (prepared, parameters) = self.query(query)?;
        let text = prepared.text.clone();
        let Some(columns) = &prepared.columns else {
            return Err(SqlError::new(
                SqlState::INVALID_CURSOR_DEFINITION,
                format!("cannot open {} query as cursor", command_tag(&text)),
            ));
        };
        demand_runnable(&prepared)?;
        let columns: Arc<[ColumnDescription]> = columns.as_slice().into();
        let changes = prepared.planned.as_ref().is_some_and(|planned| planned.program.changes);
        // What fails while it is opened fails in its text, and what its rows fail with in the loop alone.
        let planned = prepared.planned.is_some();
        let opened = self.session.opened(prepared, parameters).and_then(|mut portal| {
            if planned {
                self.session.start_plan(&mut portal)?;
            }
            Ok(portal)
        });
        let portal = opened.map_err(|error| in_statement(error, &text))?;
        // What ends the transaction ends its portals.
        let portion = if self.body.ends_transactions { 0 } else { FIRST_PORTION };
        self.session.writing_loops += u32::from(changes);
        // The cursor that PostgreSQL has for it holds the tables until the loop ends, though all rows are at hand.
        let holds = !changes && !self.body.ends_transactions;
        if holds {
            self.session.looping.push(Arc::clone(&portal.prepared));
        }
        let source = Source::Query { portal, changes, portion, done: false, holds };
        Ok(OpenLoop::new(statement, source, columns))
    }

    /// A loop over a bound cursor, which is opened for it; its rows come one by one, so that WHERE CURRENT OF changes the one
    /// at hand.
    fn over_cursor(
        &mut self,
        statement: &Arc<Statement>,
        variable: u32,
        arguments: &[(u32, Sql)],
    ) -> Result<OpenLoop> {
        let unnamed = self.cursor_name(variable).is_none();
        let own = &self.body.variables[variable as usize];
        let scroll = own.cursor.as_ref().and_then(|one| one.scroll);
        let query = Query::Cursor(variable, arguments.to_vec());
        let name = self.opened_cursor(variable, &query, scroll)?;
        if unnamed {
            self.name_cursor(variable, Some(&name))?;
        }
        self.session.pinned.push(name.clone());
        let source = Source::Cursor { name, named: Some(variable).filter(|_| unnamed) };
        Ok(OpenLoop::new(statement, source, Arc::default()))
    }

    fn over_array(&mut self, statement: &Arc<Statement>, looped: &ForEach) -> Result<OpenLoop> {
        let mut whole = RowBuf::new();
        let ty = self.evaluate(&looped.array, &mut whole)?;
        let bytes = match whole.get(0) {
            Datum::Array(bytes) => bytes,
            Datum::Null => {
                return Err(SqlError::new(
                    SqlState::NULL_VALUE_NOT_ALLOWED,
                    "FOREACH expression must not be null",
                ));
            }
            _ => {
                let name = self.session.type_text(ty);
                return Err(SqlError::new(
                    SqlState::DATATYPE_MISMATCH,
                    format!("FOREACH expression must yield an array, not type {name}"),
                ));
            }
        };
        let variable = &self.body.variables[looped.places[0].variable as usize];
        if let (VariableType::Scalar(own), []) = (&variable.ty, &looped.places[0].path[..]) {
            let is_array = crate::catalog::builtin::element_type(own.oid.0).is_some();
            let mismatch = |message| Err(SqlError::new(SqlState::DATATYPE_MISMATCH, message));
            match (looped.slice > 0, is_array) {
                (true, false) => {
                    return mismatch("FOREACH ... SLICE loop variable must be of an array type");
                }
                (false, true) => {
                    return mismatch("FOREACH loop variable must not be of an array type");
                }
                _ => {}
            }
        }
        let source = Array::of(bytes);
        let dimensions: Vec<_> = source.dimensions().collect();
        if looped.slice as usize > dimensions.len() {
            return Err(SqlError::new(
                SqlState::ARRAY_SUBSCRIPT_ERROR,
                format!(
                    "slice dimension ({}) is out of the valid range 0..{}",
                    looped.slice,
                    dimensions.len()
                ),
            ));
        }
        let element = crate::catalog::builtin::element_type(ty.oid.0).unwrap_or(oids::TEXT);
        let arena = bumpalo::Bump::new();
        let mut rows = RowSet::new(1);
        let given = if looped.slice == 0 {
            for datum in source.datums(&arena) {
                rows.push([datum?]);
            }
            SqlType { oid: Oid(element), typmod: ty.typmod }
        } else {
            let datums = source.datums(&arena).collect::<Result<Vec<_>>>()?;
            let inner = &dimensions[dimensions.len() - looped.slice as usize..];
            let size = inner.iter().map(|dimension| dimension.length as usize).product::<usize>();
            for slice in datums.chunks(size.max(1)) {
                let mut builder = array::Builder::new(element);
                slice.iter().for_each(|datum| builder.push(datum));
                rows.push([Datum::Array(builder.store(&arena, inner))]);
            }
            ty
        };
        crate::account::check()?;
        let mut opened = OpenLoop::new(statement, Source::Array(given), Arc::default());
        (opened.found, opened.rows) = (!rows.is_empty(), rows);
        if let [place] = &looped.places[..]
            && let Some(taken) = self.takes(place, given)
        {
            opened.target = Target::Variables([taken].into());
        }
        Ok(opened)
    }

    /// The next row of the innermost loop goes where it belongs; whether there was one. Behind it comes the operation at `pc`,
    /// which is another one where rounds have been made: these may be where the program is good still, and no handler of the body
    /// asks for its variables.
    pub(super) fn next_row(
        &mut self,
        program: &Arc<Program>,
        pc: &mut usize,
        rounds: bool,
    ) -> Result<bool> {
        let Some(mut looped) = self.loops.pop() else { return Ok(false) };
        let more = self.row_of_loop(&mut looped, (program, rounds), pc);
        self.loops.push(looped);
        more
    }

    fn row_of_loop(
        &mut self,
        looped: &mut OpenLoop,
        (program, rounds): (&Arc<Program>, bool),
        pc: &mut usize,
    ) -> Result<bool> {
        // Who watches the query counts what it takes alone.
        let rounds = rounds && !program.volatile && !self.session.tracking.watches_bodies;
        while looped.next == looped.rows.len() {
            let here = rounds && self.is_current(program);
            match self.read_portion(looped, here.then_some((&**program, *pc)))? {
                Read::Nothing => return Ok(false),
                Read::Rows => {}
                Read::Left(why, at) => {
                    *pc = at;
                    match why {
                        // What was done last but for that is done by the session.
                        Ok(Exit::Other | Exit::Stale) => *pc -= 1,
                        Ok(Exit::Context) => looped.calls = true,
                        Err(error) => {
                            let (line, what) = program.place(at - 1);
                            self.session.is_at(line, what);
                            return Err(error);
                        }
                    }
                    return Ok(true);
                }
            }
        }
        if looped.advance(&mut self.kit.frame) {
            return Ok(true);
        }
        let mut row = RowBuf::new();
        row.push_row(&looped.rows, looped.next);
        looped.next += 1;
        match (&looped.statement.action, &looped.source) {
            (Action::ForEach(own), Source::Array(ty)) if own.slice == 0 => {
                self.put_element(&own.places, &mut row, *ty)?;
            }
            (Action::ForEach(own), Source::Array(ty)) => {
                self.put_at(&own.places[0], &mut row, *ty)?;
            }
            (Action::ForQuery(own), _) => {
                self.put_into(&own.places, &looped.columns, Some(&row))?;
            }
            _ => {}
        }
        Ok(true)
    }

    /// Reads a portion more. In this program, whose operation at hand begins the loop's body, rounds may be made of it.
    fn read_portion(
        &mut self,
        looped: &mut OpenLoop,
        within: Option<(&Program, usize)>,
    ) -> Result<Read> {
        if let Action::ForQuery(own) = &looped.statement.action {
            looped.target = self.target_of(own, &looped.columns);
        }
        let OpenLoop { source, rows, target, calls, .. } = looped;
        let mut left = None;
        match source {
            Source::Query { done: true, .. } | Source::Array(_) => return Ok(Read::Nothing),
            Source::Query { portal, portion, done, .. } => {
                rows.clear();
                let Kit { frame, room, .. } = &mut *self.kit;
                let stop = Arc::clone(&self.session.wait);
                let settled = !matches!(target, Target::Other);
                let rounds = within.filter(|_| settled).map(|(program, begin)| Rounds {
                    program,
                    frame,
                    room,
                    target,
                    begin,
                    stop: &stop.cancel,
                    calls: *calls,
                    row: RowBuf::new(),
                    any: false,
                    left: None,
                });
                let mut read = Portion { rows, rounds, notices: Vec::new() };
                *done = self.session.run_for_loop(portal, *portion, &mut read)?;
                *portion = PORTION;
                if let Some(rounds) = read.rounds {
                    looped.found |= rounds.any;
                    left = rounds.left;
                }
            }
            Source::Cursor { name, .. } => {
                let fetched = self.session.fetch_rows(name, FetchDirection::Forward(1), false)?;
                *rows = RowSet::new(fetched.columns().len());
                fetched.rows.iter().for_each(|row| rows.push(row.iter()));
                looped.columns = fetched.columns().into();
                if let Action::ForQuery(own) = &looped.statement.action {
                    looped.target = self.target_of(own, &looped.columns);
                }
            }
        }
        looped.next = 0;
        looped.found |= !looped.rows.is_empty();
        Ok(match (left, &looped.source) {
            (Some((why, at)), _) => Read::Left(why, at),
            (None, Source::Query { done: false, .. }) => Read::Rows,
            (None, _) if looped.rows.is_empty() => Read::Nothing,
            (None, _) => Read::Rows,
        })
    }

    /// Where rows of these columns go.
    fn target_of(&mut self, looped: &ForQuery, columns: &[ColumnDescription]) -> Target {
        if let [Place { variable, path }] = &looped.places[..]
            && path.is_empty()
        {
            match self.body.variables[*variable as usize].ty {
                VariableType::Record => {
                    return Target::Record(*variable, self.shape_for(*variable, columns));
                }
                VariableType::Row(ty) => {
                    let shape = self.session.shape_of(ty);
                    let shape = shape.filter(|shape| has_fields(shape, columns));
                    return shape.map_or(Target::Other, |shape| Target::Row(*variable, shape));
                }
                VariableType::Scalar(_) => {}
            }
        }
        if looped.places.len() != columns.len() {
            return Target::Other;
        }
        let places = looped.places.iter().zip(columns);
        let taken: Option<_> = places.map(|(place, column)| self.takes(place, column.ty)).collect();
        taken.map_or(Target::Other, Target::Variables)
    }

    /// The innermost loop ends; FOUND says whether it has had a row, where the body goes on.
    pub(super) fn close_loop(&mut self, tells: bool) -> Result<()> {
        let Some(looped) = self.loops.pop() else { return Ok(()) };
        let OpenLoop { statement, source, columns, found, .. } = looped;
        let cursor = self.let_go_of(source);
        if !found && let Action::ForQuery(own) = &statement.action {
            self.put_into(&own.places, &columns, None)?;
        }
        if let Some((name, named)) = cursor {
            self.session.close_portal(&name);
            if let Some(variable) = named {
                self.name_cursor(variable, None)?;
            }
        }
        if tells {
            self.set_found(found);
        }
        Ok(())
    }

    /// Loops are left by an error, but for so many.
    pub(super) fn abandon_loops(&mut self, kept: usize) {
        while self.loops.len() > kept
            && let Some(looped) = self.loops.pop()
        {
            // The cursor ends with what is rolled back.
            self.let_go_of(looped.source);
        }
    }

    /// Gives up what a loop has of the session; the cursor that it was over.
    fn let_go_of(&mut self, source: Source) -> Option<(String, Option<u32>)> {
        match source {
            Source::Query { mut portal, changes, holds, .. } => {
                self.session.writing_loops -= u32::from(changes);
                if holds {
                    self.session.looping.pop();
                }
                self.session.leave_watched(&mut portal);
                self.session.let_go(&portal);
                self.session.retire(portal);
                None
            }
            Source::Cursor { name, named } => {
                self.session.pinned.retain(|pinned| *pinned != name);
                Some((name, named))
            }
            Source::Array(_) => None,
        }
    }
}
