//! Portals: statements with their parameters, run a portion at a time (manual, section 55.2.3).

use crate::error::{Result, SqlError};
use crate::exec::Machine;
use crate::exec::frame::Frame;
use crate::exec::sink::{ColumnDescription, Flow, Format, RowSink};
use crate::message::{Bind, CommandTag, RowsDescription};
use crate::plan::scalar::Var;
use crate::prepared::Prepared;
use crate::session::machines::REST_BYTES_MAX;
use crate::session::tracking::WatchedPlan;
use crate::sqlstate::SqlState;
use crate::statement_statistics::Cost;
use crate::tuple::RowBuf;
use crate::types::failure::name_left_over;
use crate::types::{
    CallContext, Datum, Oid, PlainRoom, SqlType, has_plain_null, read_binary, read_plain, read_text,
};
use std::sync::Arc;
use txn::ReadView;

/// A portal.
pub(super) struct Portal {
    /// What it runs.
    pub prepared: Arc<Prepared>,
    /// Its run, for a plan.
    pub machine: Option<Box<Machine>>,
    /// Its parameters, until the run has taken them.
    pub parameters: RowBuf,
    /// The formats of its columns, as Bind said: none, one, or one each.
    pub formats: Vec<Format>,
    /// What [`super::Session::is_settled`] is asked with: its plan was good then, and its relations were locked by a transaction
    /// that goes on.
    pub held_at: u64,
    /// How far it has come.
    pub progress: Stage,
    /// What it sees, once it runs.
    pub view: Option<ReadView>,
    /// Whether the view is kept beyond its statement.
    pub retained: bool,
    /// The transaction that it belongs to.
    pub transaction: u64,
    /// Whether nobody asks it for more than it gives at first: then what it sees is kept no longer.
    pub once: bool,
    /// Rows it had given when it was last suspended: a tag counts from there.
    pub given: u64,
    /// Rows that a statement without a plan returns.
    pub rows: Option<TextRows>,
    /// COPY TO: its rows leave as lines.
    pub copy_out: Option<super::copy::CopyOut>,
    /// FETCH: how far it has come, if it was left in the middle.
    pub fetching: Option<super::cursor::Fetching>,
    /// NO SCROLL.
    pub forward_only: bool,
    /// How many savepoints were open around it when it was opened.
    pub depth: usize,
    /// When Bind or DECLARE has opened it.
    pub created: i64,
    /// Its transaction is over, and so is it: only its memory is left, for the next portal without a name.
    pub over: bool,
    /// What DECLARE said of it.
    pub declared: Option<Box<super::cursor::Declared>>,
    /// What its statement has cost so far, where that is counted.
    pub spent: Cost,
    /// Its statement, where that is counted and it has been left in the middle: others may run in its place.
    pub counted: Option<Arc<Prepared>>,
    /// Whether a body has opened it, or runs it and is watched.
    pub of_body: bool,
    /// Its plan, where that may be shown in the log.
    pub watched: Option<Box<WatchedPlan>>,
}

/// The portal that an Execute runs, as `pg_cursors` shows it: it is not among the others meanwhile.
#[derive(Debug)]
pub(super) struct Executed {
    pub name: String,
    pub prepared: Arc<Prepared>,
    pub created: i64,
}

impl Executed {
    /// Says that this portal runs now, in the memory of what has run before.
    pub fn note(into: &mut Option<Executed>, name: &str, portal: &Portal) {
        let Portal { prepared, created, .. } = portal;
        match into {
            Some(known) => {
                if known.name != name {
                    known.name.clear();
                    known.name.push_str(name);
                }
                if !Arc::ptr_eq(&known.prepared, prepared) {
                    known.prepared = Arc::clone(prepared);
                }
                known.created = *created;
            }
            None => {
                let (name, prepared) = (name.to_owned(), Arc::clone(prepared));
                *into = Some(Executed { name, prepared, created: *created });
            }
        }
    }
}

/// How far a portal has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    /// Nothing has been run.
    Ready,
    /// It has been left between two rows.
    Running,
    /// It has ended with this tag.
    Done(CommandTag),
    /// It has failed, or what it belongs to has, and cannot be run any more.
    Failed,
}

/// Rows of text, worked out beforehand: SHOW, EXPLAIN.
#[derive(Debug)]
pub(super) struct TextRows {
    pub rows: std::vec::IntoIter<Vec<Option<String>>>,
    pub tag: &'static str,
    pub given: u64,
}

impl Portal {
    pub fn new(prepared: Arc<Prepared>) -> Box<Portal> {
        Box::new(Portal {
            prepared,
            machine: None,
            parameters: RowBuf::new(),
            formats: Vec::new(),
            held_at: 0,
            progress: Stage::Ready,
            view: None,
            retained: false,
            once: false,
            transaction: 0,
            given: 0,
            rows: None,
            copy_out: None,
            fetching: None,
            forward_only: false,
            depth: 0,
            created: 0,
            over: false,
            declared: None,
            spent: Cost::default(),
            counted: None,
            of_body: false,
            watched: None,
        })
    }

    /// The same memory for another portal.
    pub fn renewed(mut self: Box<Portal>, prepared: Arc<Prepared>) -> Box<Portal> {
        self.prepared = prepared;
        self.machine = None;
        self.parameters.clear();
        self.formats.clear();
        self.held_at = 0;
        self.progress = Stage::Ready;
        self.view = None;
        self.retained = false;
        self.once = false;
        self.transaction = 0;
        self.given = 0;
        self.rows = None;
        self.copy_out = None;
        self.fetching = None;
        self.forward_only = false;
        self.depth = 0;
        self.created = 0;
        self.over = false;
        self.declared = None;
        self.counted = None;
        self.of_body = false;
        self.watched = None;
        self
    }

    /// The same portal for another run of its statement.
    pub fn again(mut self: Box<Portal>) -> Box<Portal> {
        self.progress = Stage::Ready;
        self.over = false;
        self.view = None;
        self.retained = false;
        self.rows = None;
        self.fetching = None;
        self.given = 0;
        self
    }

    /// Whether another run of its statement can use it, and what it keeps for that is little: it is of a plan that has run, and
    /// nothing else has been done with it.
    pub fn may_rest(&self) -> bool {
        let (Some(planned), Some(machine)) = (&self.prepared.planned, &self.machine) else {
            return false;
        };
        !planned.momentary
            && Arc::ptr_eq(machine.program(), &planned.program)
            && matches!(self.progress, Stage::Done(_) | Stage::Running)
            && !(self.once || self.of_body || self.forward_only)
            && self.copy_out.is_none()
            && self.declared.is_none()
            && self.counted.is_none()
            && self.watched.is_none()
            && self.parameters.capacity_bytes() <= REST_BYTES_MAX
            && machine.rest_bytes().is_some_and(|bytes| bytes <= REST_BYTES_MAX)
    }

    /// What Describe tells of its rows; none where it returns none.
    pub fn rows_description(&self) -> Option<RowsDescription<'_>> {
        let Prepared { columns, told, .. } = &*self.prepared;
        let columns = columns.as_deref()?;
        Some(RowsDescription { columns, formats: &self.formats, told })
    }

    /// Whether it is a query over this relation that has begun and has not been closed.
    pub fn is_reading(&self, relation: Oid) -> bool {
        self.progress != Stage::Failed && !self.is_held() && self.prepared.reads(relation)
    }

    /// Whether it outlives transactions: a cursor WITH HOLD whose own has committed.
    pub fn is_held(&self) -> bool {
        self.declared.as_ref().is_some_and(|declared| declared.held)
    }
}

/// Hands out rows of text up to a limit; true if there are no more.
pub(super) fn run_text_rows(
    rows: &mut TextRows,
    context: &CallContext<'_>,
    columns: &[ColumnDescription],
    max_rows: u64,
    sink: &mut dyn RowSink,
) -> Result<Option<Flow>> {
    let mut given = 0;
    while max_rows == 0 || given < max_rows {
        let Some(row) = rows.rows.next() else { return Ok(None) };
        let row: Vec<Datum<'_>> =
            row.iter().map(|value| value.as_deref().map_or(Datum::Null, Datum::Text)).collect();
        rows.given += 1;
        given += 1;
        if sink.row(context, columns, &row)? == Flow::Pause {
            return Ok(Some(Flow::Pause));
        }
    }
    Ok(Some(Flow::Continue))
}

/// A Bind message's format codes: none means text, one is for all.
fn format(codes: &[[u8; 2]], at: usize) -> Format {
    match codes {
        [] => Format::Text,
        [one] => Format::of(i16::from_be_bytes(*one)),
        each => Format::of(i16::from_be_bytes(each[at])),
    }
}

/// Reads a Bind message's parameters, one after the other.
pub(super) struct ParameterReader<'b> {
    bind: &'b Bind<'b>,
    types: &'b [Oid],
    codes: &'b [[u8; 2]],
    /// How many have been read.
    read: usize,
    rest: &'b [u8],
}

impl<'b> ParameterReader<'b> {
    /// Of a statement whose parameters have these types.
    ///
    /// # Errors
    /// 08P01: it has not as many, or as many formats.
    pub fn new(bind: &'b Bind<'b>, types: &'b [Oid]) -> Result<ParameterReader<'b>> {
        let given = bind.parameter_count as usize;
        let (codes, _) = bind.parameter_formats.as_chunks::<2>();
        if codes.len() > 1 && codes.len() != given {
            return Err(protocol(format!(
                "bind message has {} parameter formats but {given} parameters",
                codes.len()
            )));
        }
        if given != types.len() {
            return Err(protocol(format!(
                "bind message supplies {given} parameters, but prepared statement \"{}\" requires {}",
                bind.statement,
                types.len()
            )));
        }
        Ok(ParameterReader { bind, types, codes, read: 0, rest: bind.parameters })
    }

    /// Reads parameters into `into` as long as nothing of the session is needed for that; whether these are all.
    pub fn read_plain(&mut self, into: &mut RowBuf) -> bool {
        while let Some(ty) = self.types.get(self.read) {
            let Some((value, rest)) = split_value(self.rest) else { return false };
            let binary = match format(self.codes, self.read) {
                Format::Text => false,
                Format::Binary => true,
                Format::Unknown(_) => return false,
            };
            let mut room = PlainRoom::default();
            let datum = match value {
                Some(value) => read_plain(*ty, binary, value, &mut room),
                None => has_plain_null(*ty).then_some(Datum::Null),
            };
            let Some(datum) = datum else { return false };
            into.push(datum);
            self.rest = rest;
            self.read += 1;
        }
        true
    }

    /// Reads the others.
    ///
    /// # Errors
    /// 08P01, 22P02, 22P03 and what the types' input functions fail with.
    pub fn read(&mut self, context: &CallContext<'_>, into: &mut RowBuf) -> Result<()> {
        while let Some(ty) = self.types.get(self.read) {
            let at = self.read;
            let within = |error, shown| in_parameter(error, self.bind.portal, at, shown);
            let ty = SqlType { oid: *ty, typmod: -1 };
            let Some((value, rest)) = split_value(self.rest) else {
                return Err(protocol("insufficient data left in message".to_owned()));
            };
            let datum = match (format(self.codes, at), value) {
                (Format::Unknown(code), _) => Err(within(Format::unsupported(code), "")),
                (_, None) => {
                    crate::types::domain::null(context, ty).map_err(|error| within(error, ""))
                }
                (Format::Text, Some(value)) => {
                    let text =
                        crate::types::check_text(value).map_err(|error| within(error, ""))?;
                    // `log_parameter_max_length_on_error` is 0: the value itself is not shown.
                    read_text(context, ty, text).map_err(|error| within(error, " = '...'"))
                }
                (Format::Binary, Some(value)) => read_binary(context, ty, value).map_err(|error| {
                    let named =
                        || format!("incorrect binary data format in bind parameter {}", at + 1);
                    within(name_left_over(error, named), "")
                }),
            };
            into.push(datum?);
            self.rest = rest;
            self.read += 1;
        }
        Ok(())
    }
}

fn protocol(message: String) -> SqlError {
    SqlError::new(SqlState::PROTOCOL_VIOLATION, message)
}

/// The next value of a Bind message, none for NULL, and what follows it; nothing if it is not all there.
fn split_value(bytes: &[u8]) -> Option<(Option<&[u8]>, &[u8])> {
    let (length, rest) = bytes.split_first_chunk::<4>()?;
    match usize::try_from(i32::from_be_bytes(*length)) {
        Err(_) => Some((None, rest)),
        Ok(length) => rest.split_at_checked(length).map(|(value, rest)| (Some(value), rest)),
    }
}

/// Reads a Bind message's result formats into `formats`; `columns` is none where the statement has no result.
///
/// # Errors
/// 08P01.
pub(super) fn read_formats(
    bind: &Bind<'_>,
    columns: Option<usize>,
    formats: &mut Vec<Format>,
) -> Result<()> {
    formats.clear();
    let (codes, _) = bind.result_formats.as_chunks::<2>();
    if let [code] = codes {
        formats.push(Format::of(i16::from_be_bytes(*code)));
        return Ok(());
    }
    if let Some(columns) = columns.filter(|columns| codes.len() > 1 && codes.len() != *columns) {
        let message = format!(
            "bind message has {} result formats but query has {columns} columns",
            codes.len()
        );
        return Err(SqlError::new(SqlState::PROTOCOL_VIOLATION, message));
    }
    formats.extend(codes.iter().map(|code| Format::of(i16::from_be_bytes(*code))));
    Ok(())
}

/// An error in the value of a parameter, which its context names.
#[cold]
fn in_parameter(error: SqlError, portal: &str, at: usize, shown: &str) -> SqlError {
    let number = at + 1;
    error.context(match portal {
        "" => format!("unnamed portal parameter ${number}{shown}"),
        portal => format!("portal \"{portal}\" parameter ${number}{shown}"),
    })
}

/// A sink that keeps the first row: constant expressions are evaluated by a plan of their own.
#[derive(Debug, Default)]
pub(super) struct FirstRow {
    pub row: RowBuf,
    /// What came up meanwhile, for the caller to pass on.
    pub notices: Vec<crate::error::Notice>,
}

impl RowSink for FirstRow {
    fn row(
        &mut self,
        _: &CallContext<'_>,
        _: &[ColumnDescription],
        row: &[Datum<'_>],
    ) -> Result<Flow> {
        self.row.clear();
        for datum in row {
            self.row.push(*datum);
        }
        Ok(Flow::Continue)
    }

    fn take(&mut self, frame: &Frame, columns: &[Var]) -> Option<Result<Flow>> {
        self.row.clear();
        for var in columns {
            let (row, column) = frame.place(*var);
            self.row.push_column(row, column);
        }
        Some(Ok(Flow::Continue))
    }

    fn notice(&mut self, notice: &crate::error::Notice) {
        self.notices.push(notice.clone());
    }
}
