//! COPY: rows in by the plan of an INSERT, rows out by the plan of a query; the formats are [`crate::copy`]'s.

use crate::activity::SessionActivity;
use crate::bind::dml::composite_type;
use crate::bind::{self, Bound};
use crate::catalog::{Relation, RelationKind};
use crate::copy::{
    Fields, Header, Kind, LineReader, Options, Tuple, TupleReader, binary, column_context, csv,
    field_context, line_context, split, text,
};
use crate::ddl::create_table::specified_twice;
use crate::error::{Notice, Result, SqlError};
use crate::exec::Machine;
use crate::exec::sink::{ColumnDescription, CopyFormat, Flow, RowSink, Unseen};
use crate::message::{CommandTag, Progress};
use crate::parse::Statement;
use crate::parse::ast::{
    self, Body, CopySubject, CopyTarget, Expr, ExprKind, Insert, Query, TargetColumn,
};
use crate::prepared::{Known, Prepared, Reader, planned};
use crate::progress::Command;
use crate::session::portal::Portal;
use crate::session::utility::Outcome;
use crate::session::{Session, run};
use crate::source::Source;
use crate::sqlstate::SqlState;
use crate::tuple::RowBuf;
use crate::types::failure::name_left_over;
use crate::types::text::check_growth;
use crate::types::{
    CallContext, Datum, Oid, SqlType, read_binary, read_text, text_of, write_binary, write_text,
};
use std::sync::Arc;
use txn::{Abort, ReadView, TableLock};

/// A COPY FROM STDIN that is being fed.
pub(super) struct CopyIn {
    table: Arc<str>,
    relation: Oid,
    /// Bytes of data that have come.
    bytes: u64,
    /// Rows that the WHERE has not let in.
    passed_over: u64,
    columns: Vec<(Arc<str>, SqlType)>,
    options: Options,
    reader: RowReader,
    machine: Machine,
    view: ReadView,
    row: RowBuf,
    rows: u64,
    /// The table, if it is being loaded, and the line of its first row.
    loads: Option<(Oid, u64)>,
}

/// What cuts the data into rows.
enum RowReader {
    Lines { reader: LineReader, fields: Fields, header: Header },
    Tuples { reader: TupleReader, tuple: Tuple },
}

/// The figures of `pg_stat_progress_copy`, by number.
const BYTES: usize = 1;
const ROWS: usize = 3;
const PASSED_OVER: usize = 4;
const WAY: usize = 5;
const KIND: usize = 6;

/// How COPY TO writes rows.
#[derive(Debug)]
pub(super) struct CopyOut {
    options: Options,
    /// What goes before the next row.
    line: Vec<u8>,
    pub rows: u64,
    /// How many bytes their lines had.
    bytes: u64,
    /// Who is told how far it has come.
    told: Arc<SessionActivity>,
}

/// Takes rows and hands lines on.
pub(super) struct LineSink<'s> {
    pub out: &'s mut CopyOut,
    pub sink: &'s mut dyn RowSink,
}

impl RowSink for LineSink<'_> {
    fn lets_notices_pass(&mut self) {
        self.sink.lets_notices_pass();
    }

    fn row(
        &mut self,
        context: &CallContext<'_>,
        columns: &[ColumnDescription],
        row: &[Datum<'_>],
    ) -> Result<Flow> {
        let CopyOut { options, line, rows, bytes, told } = &mut *self.out;
        if options.kind == Kind::Binary {
            write_tuple(context, columns, row, line)?;
        } else {
            for (at, (datum, column)) in row.iter().zip(columns).enumerate() {
                if at > 0 {
                    line.push(options.delimiter);
                }
                if matches!(datum, Datum::Null) {
                    line.extend_from_slice(options.null.as_bytes());
                    continue;
                }
                if options.kind == Kind::Csv {
                    let value = text_of(context, column.ty, datum)?;
                    csv::write(value, at, row.len() == 1, options, line);
                } else {
                    let from = line.len();
                    write_text(context, column.ty, datum, line)?;
                    text::escape(line, from, options);
                }
            }
            line.push(b'\n');
            encode(options, line)?;
        }
        check_growth(0, line.len())?;
        *rows += 1;
        *bytes += line.len() as u64;
        told.progress.set(BYTES, bytes.cast_signed());
        told.progress.set(ROWS, rows.cast_signed());
        let flow = self.sink.copy_data(line);
        line.clear();
        Ok(flow)
    }

    fn copy_out(&mut self, format: CopyFormat) {
        self.sink.copy_out(format);
    }

    fn copy_data(&mut self, data: &[u8]) -> Flow {
        self.sink.copy_data(data)
    }

    fn copy_done(&mut self) {
        if self.out.options.kind == Kind::Binary {
            binary::write_trailer(&mut self.out.line);
            self.sink.copy_data(&self.out.line);
        }
        self.sink.copy_done();
    }

    fn notice(&mut self, notice: &Notice) {
        self.sink.notice(notice);
    }
}

/// Appends a row in binary form: how many fields, and each with its length.
fn write_tuple(
    context: &CallContext<'_>,
    columns: &[ColumnDescription],
    row: &[Datum<'_>],
    out: &mut Vec<u8>,
) -> Result<()> {
    // A table has 1,600 columns at most, a select list 1,664.
    out.extend_from_slice(&(row.len() as i16).to_be_bytes());
    for (datum, column) in row.iter().zip(columns) {
        let length_at = out.len();
        out.extend_from_slice(&(-1i32).to_be_bytes());
        if !datum.is_null() {
            write_binary(context, column.ty, datum, out)?;
            // No value is longer than 1 GiB.
            let length = (out.len() - length_at - 4) as i32;
            out[length_at..length_at + 4].copy_from_slice(&length.to_be_bytes());
        }
    }
    Ok(())
}

impl RowReader {
    fn of(options: &Options) -> RowReader {
        match options.kind {
            Kind::Binary => {
                RowReader::Tuples { reader: TupleReader::default(), tuple: Tuple::default() }
            }
            Kind::Text | Kind::Csv => RowReader::Lines {
                reader: LineReader::new(options),
                fields: Fields::default(),
                header: options.header,
            },
        }
    }

    fn push(&mut self, data: &[u8]) -> Result<()> {
        match self {
            RowReader::Lines { reader, .. } => reader.push(data),
            RowReader::Tuples { reader, .. } => reader.push(data),
        }
    }

    fn close(&mut self) {
        match self {
            RowReader::Lines { reader, .. } => reader.close(),
            RowReader::Tuples { reader, .. } => reader.close(),
        }
    }
}

impl CopyIn {
    /// Where the data stands.
    pub fn context(&self) -> String {
        let number = match &self.reader {
            RowReader::Lines { reader, .. } => reader.number(),
            RowReader::Tuples { reader, .. } => {
                if let Some((column, _)) = reader.awaited().and_then(|at| self.columns.get(at)) {
                    return column_context(&self.table, reader.number() + 1, column);
                }
                reader.number()
            }
        };
        line_context(&self.table, number + 1, None)
    }
}

impl Session {
    /// CopyData, in any portion. An empty one tells what the COPY is refused for.
    ///
    /// # Errors
    /// 22P04, 22P02, constraint violations: the COPY has ended, and further CopyData is skipped by the caller.
    pub fn copy_in(&mut self, data: &[u8]) -> Result<()> {
        let watch = self.begin_copy_watch();
        let done = self.attempt(|session| session.copy_portion(data).map(|_| ()));
        self.end_copy_watch(watch);
        done
    }

    /// CopyDone.
    ///
    /// # Errors
    /// As [`Session::copy_in`].
    pub fn copy_in_done(&mut self) -> Result<CommandTag> {
        self.attempt(|session| {
            let watch = session.begin_copy_watch();
            let tag = session.copy_end()?;
            session.end_copy_watch(watch);
            if let Some(mut portal) = session.unnamed_portal.take() {
                portal.progress = super::portal::Stage::Done(tag);
                session.count_copy(&portal, tag);
                session.unnamed_portal = Some(portal);
            }
            session.block.end_statement();
            session.share_transaction(&Progress::Complete(tag), false)?;
            Ok(tag)
        })
    }

    /// CopyFail: gives the error that ends the statement (57014 with the client's words).
    pub fn copy_in_fail(&mut self, message: &str) -> SqlError {
        let context = match &self.copying {
            Some(Ok(copy)) => Some(copy.context()),
            _ => None,
        };
        self.failed(Abort::Other);
        let error =
            SqlError::new(SqlState::QUERY_CANCELED, format!("COPY from stdin failed: {message}"));
        match context {
            Some(context) => error.context(context),
            None => error,
        }
    }

    pub(super) fn copy(
        &mut self,
        parsed: &Arc<Source>,
        copy: &ast::Copy,
        portal: &mut Portal,
        sink: &mut dyn RowSink,
    ) -> Result<Outcome> {
        self.may_copy(copy)?;
        let client = self.settings.text("client_encoding").to_string();
        let read = || {
            let mut options = Options::read(&copy.options, copy.from, &|at| parsed.position(at))?;
            options.convert(&client, copy.from)?;
            Ok::<_, SqlError>(options)
        };
        match &copy.subject {
            CopySubject::Query(statement) => {
                let mut options = read()?;
                let refused =
                    |message| Err(SqlError::new(SqlState::FEATURE_NOT_SUPPORTED, message));
                if matches!(statement, Statement::CreateTableAs(_)) {
                    return refused("COPY (SELECT INTO) is not supported");
                }
                if matches!(statement, Statement::Merge(_)) {
                    return refused("MERGE not supported in COPY");
                }
                let prepared = self.prepare(Arc::new(parsed.inner(statement)), &[])?;
                let prepared = self.held(prepared)?;
                let Some(columns) = &prepared.columns else {
                    return refused("COPY query must have a RETURNING clause");
                };
                let listed: Vec<Arc<str>> =
                    columns.iter().map(|column| Arc::clone(&column.name)).collect();
                options.resolve(None, &listed, &|_| false)?;
                self.copy_to(prepared, &copy.target, options, portal, sink)
            }
            CopySubject::Table(name, names) => {
                let mode = if copy.from { TableLock::RowExclusive } else { TableLock::AccessShare };
                let relation = self.locked_relation(parsed, name, mode)?;
                if matches!(relation.kind, RelationKind::Composite) {
                    return Err(composite_type(&relation.name));
                }
                let columns = copy_columns(&relation, names)?;
                self.may_copy_columns(copy.from, &relation, &columns)?;
                if !copy.from {
                    self.demand_rows(&relation)?;
                }
                let mut options = read()?;
                let listed: Vec<Arc<str>> = columns
                    .iter()
                    .map(|&column| Arc::clone(&relation.columns[column].name))
                    .collect();
                let exists = |name: &str| relation.column(name).is_some();
                options.resolve(Some(&relation.name), &listed, &exists)?;
                if copy.from {
                    match self.copy_from(parsed, copy, name, &relation, &columns, options)? {
                        Some(outcome) => Ok(outcome),
                        // The table is another now that it is locked.
                        None => self.copy(parsed, copy, portal, sink),
                    }
                } else {
                    let query = table_query(name, &listed);
                    let prepared = self.prepare(Arc::new(parsed.inner(&query)), &[])?;
                    let prepared = self.held(prepared)?;
                    self.copy_to(prepared, &copy.target, options, portal, sink)
                }
            }
        }
    }

    fn copy_to(
        &mut self,
        prepared: Arc<Prepared>,
        target: &CopyTarget,
        options: Options,
        portal: &mut Portal,
        sink: &mut dyn RowSink,
    ) -> Result<Outcome> {
        self.check_presets(&prepared, &RowBuf::new())?;
        let columns = prepared.columns.as_deref().unwrap_or_default();
        let binary = options.kind == Kind::Binary;
        let client = matches!(target, CopyTarget::Client);
        if client {
            sink.copy_out(CopyFormat { binary, columns: columns.len() as u16 });
        }
        let told = Arc::clone(&self.activity);
        self.tell_copy(2, target, Oid(0));
        let mut out = CopyOut { options, line: Vec::new(), rows: 0, bytes: 0, told };
        if binary {
            binary::write_header(&mut out.line);
        } else if out.options.header != Header::None {
            for (at, column) in columns.iter().enumerate() {
                if at > 0 {
                    out.line.push(out.options.delimiter);
                }
                if out.options.kind == Kind::Csv {
                    csv::write_header(&column.name, &out.options, &mut out.line);
                } else {
                    let from = out.line.len();
                    out.line.extend_from_slice(column.name.as_bytes());
                    text::escape(&mut out.line, from, &out.options);
                }
            }
            out.line.push(b'\n');
            encode(&out.options, &mut out.line)?;
            if client {
                sink.copy_data(&out.line);
                out.line.clear();
            }
        }
        let header = if client { Vec::new() } else { std::mem::take(&mut out.line) };
        let mut inner = Portal::new(prepared);
        inner.copy_out = Some(out);
        if !client {
            return self.copy_to_file(target, &mut inner, header, sink).map(Outcome::Done);
        }
        let progress = self.run_inner(&mut inner, sink)?;
        *portal = *inner;
        Ok(Outcome::Progress(progress))
    }

    fn copy_from(
        &mut self,
        parsed: &Source,
        copy: &ast::Copy,
        name: &ast::ObjectName,
        relation: &Arc<Relation>,
        columns: &[usize],
        options: Options,
    ) -> Result<Option<Outcome>> {
        let format =
            CopyFormat { binary: options.kind == Kind::Binary, columns: columns.len() as u16 };
        if let Some(refusal) = self.copy_refusal(relation) {
            return self.take_copy(&copy.target, format, Err(refusal)).map(Some);
        }
        let insert = insert_statement(name, relation, columns);
        let types: Vec<SqlType> =
            columns.iter().map(|&column| relation.columns[column].ty).collect();
        let basis = self.basis().clone();
        let snapshot = Arc::clone(self.catalog.last_snapshot());
        let bound: Bound = self.with_context(|context| {
            let reader = Reader(context);
            let environment =
                bind::Environment { catalog: &snapshot, path: &basis.path, constants: &reader };
            let filter = copy.filter.as_ref().map(|filter| (parsed.query_text(), filter));
            bind::bind_copy(environment, &insert, &types, filter)
        })?;
        let planned = {
            let manager = self.engine.manager();
            planned(&Known::plain(&snapshot, manager), basis, bound)?
        };
        self.may_run(&planned)?;
        let transaction = self.block.ensure(self.engine.manager(), &self.wait);
        if transaction.begin().read_only && relation.persistence != 't' {
            return Err(run::read_only("COPY FROM"));
        }
        self.lock_relations(&planned.relations)?;
        if *self.basis() != planned.basis {
            return Ok(None);
        }
        let transaction = self.block.ensure(self.engine.manager(), &self.wait);
        if self.catalog.is_past(relation.oid) {
            return Err(txn::Error::Conflict(txn::ConflictKind::Update).into());
        }
        let view = transaction.begin_statement()?;
        if options.freeze
            && let Some(refusal) = self.freeze_refusal(relation)
        {
            return self.take_copy(&copy.target, format, Err(refusal)).map(Some);
        }
        let first_line = if options.header == Header::None { 1 } else { 2 };
        let loads = self.begin_load(relation, true)?.then_some((relation.oid, first_line));
        let listed = columns.iter().map(|&column| {
            let column = &relation.columns[column];
            (Arc::clone(&column.name), column.ty)
        });
        let mut machine = Machine::new(&planned.program);
        if !relation.triggers.is_empty() {
            machine.hold();
        }
        let begun = CopyIn {
            table: Arc::clone(&relation.name),
            relation: relation.oid,
            bytes: 0,
            passed_over: 0,
            columns: listed.collect(),
            reader: RowReader::of(&options),
            options,
            machine,
            view,
            row: RowBuf::new(),
            rows: 0,
            loads,
        };
        self.take_copy(&copy.target, format, Ok(begun)).map(Some)
    }

    /// A COPY begins, from its target (1) or to it (2), of a relation if it is of one.
    fn tell_copy(&self, way: i64, target: &CopyTarget, relation: Oid) {
        let kind = match target {
            CopyTarget::File(_) => 1,
            CopyTarget::Program(_) => 2,
            CopyTarget::Client => 3,
        };
        self.activity.progress.begin(Command::Copy, relation, &[(WAY, way), (KIND, kind)]);
    }

    /// Asks for the data, of a file at once.
    fn take_copy(
        &mut self,
        target: &CopyTarget,
        format: CopyFormat,
        begun: Result<CopyIn>,
    ) -> Result<Outcome> {
        if let Ok(copy) = &begun {
            self.tell_copy(1, target, copy.relation);
        }
        self.copying = Some(begun);
        if matches!(target, CopyTarget::Client) {
            return Ok(Outcome::CopyIn(format));
        }
        self.copy_from_file(target).map(Outcome::Done)
    }

    fn copying(&mut self) -> Result<CopyIn> {
        let absent =
            || SqlError::new(SqlState::PROTOCOL_VIOLATION, "no COPY FROM STDIN is in progress");
        self.copying.take().unwrap_or_else(|| Err(absent()))
    }

    /// Takes a portion of the data; whether no more of it is looked at.
    pub(super) fn copy_portion(&mut self, data: &[u8]) -> Result<bool> {
        let mut copy = self.copying()?;
        copy.reader.push(data)?;
        self.copy_rows(&mut copy)?;
        copy.bytes += data.len() as u64;
        self.activity.progress.set(BYTES, copy.bytes.cast_signed());
        let ended = match &copy.reader {
            RowReader::Lines { reader, .. } => reader.has_ended(),
            // What follows the trailer is an error.
            RowReader::Tuples { .. } => false,
        };
        self.copying = Some(Ok(copy));
        Ok(ended)
    }

    pub(super) fn copy_end(&mut self) -> Result<CommandTag> {
        let mut copy = self.copying()?;
        copy.reader.close();
        self.copy_rows(&mut copy)?;
        if copy.machine.holds() {
            let (machine, parameters) = (&mut copy.machine, RowBuf::new());
            self.with_lent_run(copy.view, &parameters, |run| machine.end(run))?;
        }
        if let Some((table, first_line)) = copy.loads {
            let name = &copy.table;
            self.end_load(table, &|error, before| {
                error.context(line_context(name, first_line + before, None))
            })?;
        }
        Ok(CommandTag { words: "COPY", rows: Some(copy.rows) })
    }

    /// Inserts all rows that have come as a whole.
    fn copy_rows(&mut self, copy: &mut CopyIn) -> Result<()> {
        if copy.machine.holds() {
            let (machine, parameters) = (&mut copy.machine, RowBuf::new());
            self.with_lent_run(copy.view, &parameters, |run| machine.begin(run))?;
        }
        let CopyIn {
            table, columns, options, reader, machine, view, row, rows, passed_over, ..
        } = copy;
        let mut target = Target { table, columns, machine, view: *view, row, rows, passed_over };
        match reader {
            RowReader::Lines { reader, fields, header } => {
                self.copy_lines(&mut target, options, reader, fields, header)
            }
            RowReader::Tuples { reader, tuple } => self.copy_tuples(&mut target, reader, tuple),
        }
    }

    fn copy_lines(
        &mut self,
        target: &mut Target<'_>,
        options: &Options,
        reader: &mut LineReader,
        fields: &mut Fields,
        header: &mut Header,
    ) -> Result<()> {
        let (table, columns) = (target.table, target.columns);
        loop {
            let number = reader.number() + 1;
            let line = reader
                .next_line()
                .map_err(|error| error.context(line_context(table, number, None)))?;
            let Some(line) = line else { return Ok(()) };
            // A csv line may have line ends within; the number told is that of its last one.
            let line_error = |error: SqlError, number: u64| {
                error.context(line_context(table, number, Some(line)))
            };
            split(line, options, fields).map_err(|error| line_error(error, number))?;
            let names = || columns.iter().map(|(name, _)| &**name);
            match std::mem::take(header) {
                Header::None => {}
                Header::Line => continue,
                Header::Match => {
                    fields
                        .expect_header(&options.null, names())
                        .map_err(|error| line_error(error, number))?;
                    continue;
                }
            }
            fields.expect(columns.len()).map_err(|error| line_error(error, number))?;
            target.row.clear();
            self.with_context(|context| {
                for (at, (name, ty)) in columns.iter().enumerate() {
                    fields.demand(at, name).map_err(|error| line_error(error, number))?;
                    let value = fields.get(at).map_err(|error| line_error(error, number))?;
                    let datum = match value {
                        None => crate::types::domain::null(context, *ty).map_err(|error| {
                            error.context(field_context(table, number, name, None))
                        })?,
                        Some(text) => read_text(context, *ty, text).map_err(|error| {
                            error.context(field_context(table, number, name, value))
                        })?,
                    };
                    target.row.push(datum);
                }
                Ok(())
            })?;
            self.copy_row(target, number, Some(line))?;
        }
    }

    fn copy_tuples(
        &mut self,
        target: &mut Target<'_>,
        reader: &mut TupleReader,
        tuple: &mut Tuple,
    ) -> Result<()> {
        let (table, columns) = (target.table, target.columns);
        loop {
            let found = reader.next_tuple(columns.len(), tuple);
            let number = reader.number();
            let found = found.map_err(|error| match number {
                // PostgreSQL reads the header before it counts.
                0 => error,
                _ => error.context(line_context(table, number, None)),
            })?;
            if !found {
                return Ok(());
            }
            target.row.clear();
            self.with_context(|context| {
                for (at, (name, ty)) in columns.iter().enumerate() {
                    let field = reader.field(tuple, at).and_then(|bytes| match bytes {
                        None => crate::types::domain::null(context, *ty),
                        Some(bytes) => read_binary(context, *ty, bytes).map_err(|error| {
                            name_left_over(error, || "incorrect binary data format".to_owned())
                        }),
                    });
                    target.row.push(
                        field
                            .map_err(|error| error.context(column_context(table, number, name)))?,
                    );
                }
                Ok(())
            })?;
            self.copy_row(target, number, None)?;
        }
    }

    /// Inserts the row that has been read, if the WHERE lets it in.
    fn copy_row(&mut self, target: &mut Target<'_>, number: u64, line: Option<&str>) -> Result<()> {
        let Target { table, machine, view, row, rows, passed_over, .. } = target;
        machine.restart();
        let mut unseen = Unseen::default();
        let inserted = self.drive(machine, *view, row, 0, &mut unseen);
        self.notices.get_mut().append(&mut unseen.notices);
        inserted.map_err(|error| match error.state() {
            _ if machine.holds() && error.fields().context.is_some() => {
                error.within(line_context(table, number, line))
            }
            _ if error.fields().context.is_some() => error,
            // PostgreSQL finds a duplicate when it inserts the rows of many lines, and names the number only.
            SqlState::UNIQUE_VIOLATION => error.context(line_context(table, number, None)),
            // It asks for parents when all lines are gone.
            SqlState::FOREIGN_KEY_VIOLATION => error,
            _ => error.context(line_context(table, number, line)),
        })?;
        let inserted = machine.rows();
        **rows += inserted;
        self.activity.progress.set(ROWS, rows.cast_signed());
        if inserted == 0 {
            **passed_over += 1;
            self.activity.progress.set(PASSED_OVER, passed_over.cast_signed());
        }
        Ok(())
    }
}

/// Where a COPY's rows go.
struct Target<'c> {
    table: &'c str,
    columns: &'c [(Arc<str>, SqlType)],
    machine: &'c mut Machine,
    view: ReadView,
    row: &'c mut RowBuf,
    rows: &'c mut u64,
    passed_over: &'c mut u64,
}

/// The columns that COPY names, by index; all live ones if it names none.
fn copy_columns(relation: &Relation, names: &[ast::Ident]) -> Result<Vec<usize>> {
    if names.is_empty() {
        return Ok((0..relation.columns.len())
            .filter(|&number| {
                !relation.columns[number].dropped && !relation.columns[number].generated
            })
            .collect());
    }
    let mut columns = Vec::new();
    for name in names {
        let column = relation.column(name).ok_or_else(|| {
            SqlError::new(
                SqlState::UNDEFINED_COLUMN,
                format!("column \"{name}\" of relation \"{}\" does not exist", relation.name),
            )
        })?;
        if relation.columns[column].generated {
            return Err(SqlError::new(
                SqlState::INVALID_COLUMN_REFERENCE,
                format!("column \"{name}\" is a generated column"),
            )
            .detail("Generated columns cannot be used in COPY."));
        }
        if columns.contains(&column) {
            return Err(specified_twice(name));
        }
        columns.push(column);
    }
    Ok(columns)
}

fn expr(kind: ExprKind) -> Expr {
    Expr { at: 0, kind }
}

/// `INSERT INTO table (columns) VALUES ($1, ...)`.
fn insert_statement(name: &ast::ObjectName, relation: &Relation, columns: &[usize]) -> Insert {
    let targets = columns.iter().map(|&column| TargetColumn {
        name: Arc::clone(&relation.columns[column].name),
        path: Vec::new(),
        at: 0,
    });
    let values = (1..=columns.len() as u32).map(|number| expr(ExprKind::Parameter(number)));
    Insert {
        with: None,
        table: name.clone(),
        alias: None,
        columns: targets.collect(),
        // What is copied is taken for identity columns too, always generated or not.
        overriding: Some(true),
        source: Some(Box::new(Query::plain(Body::Values(vec![values.collect()]), 0))),
        on_conflict: None,
        returning: Vec::new(),
    }
}

/// `SELECT columns FROM table`.
fn table_query(name: &ast::ObjectName, columns: &[Arc<str>]) -> Statement {
    let select = ast::Select::columns_of(name.clone(), columns, 0);
    Statement::Query(Box::new(Query::plain(Body::Select(Box::new(select)), 0)))
}

/// A line of text as the encoding of the data has it.
fn encode(options: &Options, line: &mut Vec<u8>) -> Result<()> {
    if let Some(conversion) = &options.conversion
        && !line.is_ascii()
        && let Ok(text) = std::str::from_utf8(line)
    {
        *line = conversion.encode(text)?.into_owned();
    }
    Ok(())
}
