//! Statements of SQL within a body: INTO, EXECUTE, RETURN QUERY, CALL and DO.

use super::Execution;
use super::context::{Place as Around, expression, in_expression, of_query};
use super::create::command_tag;
use super::text::{Given, Text, one_statement};
use crate::bind::Variables;
use crate::error::{Notice, Result, Severity, SqlError};
use crate::exec::sink::{ColumnDescription, Flow, RowSink};
use crate::message::{CommandTag, Progress};
use crate::parse::Statement;
use crate::parse::ast::{CopyTarget, TransactionStatement};
use crate::plpgsql::tree::{Into, Query, Sql};
use crate::prepared::Prepared;
use crate::session::Session;
use crate::session::machines::REST_BYTES_MAX;
use crate::session::portal::{Portal, Stage};
use crate::source::Source;
use crate::sqlstate::SqlState;
use crate::tuple::RowBuf;
use crate::types::contrib::tablefunc::Answer;
use crate::types::{CallContext, Datum, Oid, SqlType};
use std::sync::Arc;

/// Keeps rows.
pub(super) struct Kept {
    pub rows: Vec<RowBuf>,
    /// How many are kept; the others are of no use to anybody.
    limit: usize,
    /// Rows that may be filled anew.
    spare: Vec<RowBuf>,
    notices: Vec<Notice>,
}

impl RowSink for Kept {
    fn row(
        &mut self,
        _: &CallContext<'_>,
        _: &[ColumnDescription],
        row: &[Datum<'_>],
    ) -> Result<Flow> {
        if self.rows.len() >= self.limit {
            return Ok(Flow::Continue);
        }
        let mut kept = self.spare.pop().unwrap_or_default();
        kept.clear();
        for datum in row {
            kept.push(*datum);
        }
        crate::account::check()?;
        self.rows.push(kept);
        Ok(Flow::Continue)
    }

    fn notice(&mut self, notice: &Notice) {
        self.notices.push(notice.clone());
    }
}

/// What a statement has come to.
pub(super) struct Ran {
    pub tag: CommandTag,
    pub rows: Vec<RowBuf>,
}

/// How many rows are kept to be filled anew.
const SPARE_ROWS: usize = 4;

/// How many rows INTO looks at: whether there is one, and whether it is the only one.
const FEW_ROWS: usize = 2;

/// All rows.
const ALL: usize = usize::MAX;

impl Session {
    /// Keeps so many rows, in memory of those that nobody needs any more.
    pub(super) fn keeping(&mut self, limit: usize) -> Kept {
        let spare = std::mem::take(&mut self.spare_rows);
        let rows = std::mem::take(&mut self.spare_list);
        Kept { rows, limit, spare, notices: Vec::new() }
    }

    /// The rows that have been kept; what was told meanwhile goes to the session's notices.
    pub(super) fn kept_rows(&mut self, mut kept: Kept) -> Vec<RowBuf> {
        self.spare_rows = kept.spare;
        self.notices.get_mut().append(&mut kept.notices);
        kept.rows
    }

    /// Keeps a few rows that nobody needs any more, and the memory of their list.
    pub(super) fn spare_rows(&mut self, mut rows: Vec<RowBuf>) {
        while let Some(row) = rows.pop() {
            if self.spare_rows.len() < SPARE_ROWS && row.capacity_bytes() <= REST_BYTES_MAX {
                self.spare_rows.push(row);
            }
        }
        if rows.capacity() <= SPARE_ROWS {
            self.spare_list = rows;
        }
    }

    /// Runs a portal on, up to so many rows; whether there may be more. Of its rows so many are kept. `told` says that it is a
    /// statement, and no expression that is evaluated.
    fn run_portion(
        &mut self,
        portal: &mut Portal,
        (max_rows, limit): (u64, usize),
        told: bool,
    ) -> Result<(Option<CommandTag>, Vec<RowBuf>)> {
        let mut kept = self.keeping(limit);
        let progress = match told {
            true => self.run_for_body(portal, max_rows, &mut kept),
            false => {
                self.beside_answer(|session| session.run_portal(portal, "", max_rows, &mut kept))
            }
        };
        let rows = self.kept_rows(kept);
        self.speak();
        Ok((tag_of(progress?)?, rows))
    }

    /// A statement that a body runs, with the text around what it says in which it stands; `custom` says that it is planned
    /// for these parameters, which may fail.
    fn run_statement(
        &mut self,
        (prepared, text): (&Arc<Prepared>, &Arc<str>),
        parameters: &mut RowBuf,
        (max_rows, limit): (u64, usize),
        custom: bool,
    ) -> Result<Ran> {
        demand_runnable(prepared)?;
        self.demand_read_only(prepared).map_err(|error| in_statement(error, text))?;
        if custom {
            self.check_presets(prepared, parameters).map_err(|error| in_statement(error, text))?;
        }
        self.within.push(Around::Statement(Arc::clone(text)));
        let ran = self.run_plainly(prepared, parameters, (max_rows, limit), true);
        self.within.pop();
        ran.map_err(|error| in_statement(error, text))
    }

    /// The same without its text. The parameters are lent to the portal: nobody looks at them while it runs.
    fn run_plainly(
        &mut self,
        prepared: &Arc<Prepared>,
        parameters: &mut RowBuf,
        (max_rows, limit): (u64, usize),
        told: bool,
    ) -> Result<Ran> {
        let custom = self.custom(prepared, parameters)?;
        let mut portal = self.new_portal(custom.unwrap_or_else(|| Arc::clone(prepared)));
        std::mem::swap(&mut portal.parameters, parameters);
        portal.depth = self.block.depth();
        portal.once = true;
        let ran =
            crate::types::depth::deeper(|| self.run_portion(&mut portal, (max_rows, limit), told));
        std::mem::swap(&mut portal.parameters, parameters);
        self.leave_watched(&mut portal);
        self.let_go(&portal);
        // A portal that stops before its end has given as many as it was asked for.
        let stopped = CommandTag { words: "SELECT", rows: Some(max_rows) };
        if let (Ok((None, _)), Stage::Running) = (&ran, portal.progress) {
            // Nobody asks it for more: its machine is as good for the next run as one that has come to its end.
            portal.progress = Stage::Done(stopped);
        }
        self.retire(portal);
        let (tag, rows) = ran?;
        Ok(Ran { tag: tag.unwrap_or(stopped), rows })
    }

    /// Answers a query over these parameters that reads, for a function that runs it: its values as texts.
    pub(super) fn answer(
        &mut self,
        query: &str,
        (parameter_types, mut parameters): (&[Oid], RowBuf),
    ) -> Result<Answer> {
        let text: Arc<str> = query.into();
        let dialect = self.settings.plain().dialect;
        let within = |error| in_statement(error, query);
        let source = one_statement(&text, dialect).map_err(within)?;
        if source.statement().is_none() {
            return Ok(Answer { types: Vec::new(), rows: Vec::new() });
        }
        let prepared = self.prepare(Arc::new(source), parameter_types).map_err(within)?;
        let changes = prepared.planned.as_ref().is_none_or(|planned| planned.program.changes);
        if changes {
            let command = query.split_whitespace().next().unwrap_or("").to_ascii_uppercase();
            let message = format!("{command} is not allowed in a non-volatile function");
            let error = SqlError::new(SqlState::FEATURE_NOT_SUPPORTED, message);
            return Err(in_statement(error, query));
        }
        let columns = prepared.columns.clone().unwrap_or_default();
        let types: Vec<SqlType> = columns.iter().map(|column| column.ty).collect();
        let ran = self.run_statement((&prepared, &text), &mut parameters, (0, ALL), false)?;
        let rows = self.with_context(|context| {
            let text = |(ty, value): (&SqlType, Datum<'_>)| match value {
                Datum::Null => Ok(None),
                value => {
                    crate::types::text_of(context, *ty, &value).map(|text| Some(text.to_owned()))
                }
            };
            let row = |row: &RowBuf| types.iter().zip(row.iter()).map(text).collect();
            ran.rows.iter().map(row).collect::<Result<Vec<_>>>()
        })?;
        Ok(Answer { types, rows })
    }

    /// Runs a statement over these parameters that changes rows, for a function that runs it: how many.
    pub(super) fn change(
        &mut self,
        text: &str,
        (parameter_types, mut parameters): (&[Oid], RowBuf),
    ) -> Result<u64> {
        let dialect = self.settings.plain().dialect;
        let text: Arc<str> = text.into();
        let within = |error| in_statement(error, &text);
        let source = one_statement(&text, dialect).map_err(within)?;
        let prepared = self.prepare(Arc::new(source), parameter_types).map_err(within)?;
        let ran = self.run_statement((&prepared, &text), &mut parameters, (0, ALL), false)?;
        Ok(ran.tag.rows.unwrap_or_default())
    }

    pub(super) fn opened(
        &mut self,
        prepared: Arc<Prepared>,
        parameters: RowBuf,
    ) -> Result<Box<Portal>> {
        self.check_presets(&prepared, &parameters)?;
        let custom = self.custom(&prepared, &parameters)?;
        let mut portal = Portal::new(custom.unwrap_or(prepared));
        portal.parameters = parameters;
        portal.depth = self.block.depth();
        self.watch_opened(&mut portal);
        Ok(portal)
    }

    /// The value of what is no text of a body: of a cast, or of a trigger's condition.
    pub(super) fn value_alone(
        &mut self,
        prepared: &Arc<Prepared>,
        parameters: &mut RowBuf,
    ) -> Result<Option<RowBuf>> {
        self.check_presets(prepared, parameters)?;
        Ok(self.run_plainly(prepared, parameters, (1, 1), false)?.rows.pop())
    }

    /// The first row of the query behind an expression of a body, which may give no other.
    pub(super) fn only_row(
        &mut self,
        (body, sql): (u64, &Sql),
        prepared: &Arc<Prepared>,
        parameters: &mut RowBuf,
    ) -> Result<Option<RowBuf>> {
        // What is one scalar PostgreSQL evaluates by itself, unless it is doing so in an outer call of the same body
        // (`expr_simple_in_use`).
        let own = (body, sql.number);
        let alone = super::text::is_scalar(prepared) && !self.evaluated.contains(&own);
        let ran = if alone {
            self.evaluated.push(own);
            let ran = self.run_plainly(prepared, parameters, (2, 2), false);
            self.evaluated.pop();
            ran
        } else {
            self.within.push(expression(sql));
            let ran = self.run_plainly(prepared, parameters, (2, 2), true);
            self.within.pop();
            ran.map_err(|error| in_expression(error, sql))
        };
        let mut ran = ran?;
        if ran.rows.len() > 1 {
            let message = "query returned more than one row";
            return Err(of_query(SqlError::new(SqlState::CARDINALITY_VIOLATION, message), sql));
        }
        Ok(ran.rows.pop())
    }
}

/// The tag of what a portal that a body runs has come to; none where it has stopped before its end.
pub(super) fn tag_of(progress: Progress) -> Result<Option<CommandTag>> {
    match progress {
        Progress::Complete(tag) => Ok(Some(tag)),
        Progress::Suspended | Progress::Paused => Ok(None),
        Progress::Empty => Ok(Some(CommandTag { words: "", rows: None })),
        Progress::CopyIn(_) => Err(SqlError::new(
            SqlState::FEATURE_NOT_SUPPORTED,
            "cannot COPY to/from client in PL/pgSQL",
        )),
    }
}

/// 42601 for rows that nobody takes.
fn no_rows_for_into() -> SqlError {
    let message = "INTO used with a command that cannot return data";
    SqlError::new(SqlState::SYNTAX_ERROR, message)
}

fn no_destination() -> SqlError {
    SqlError::new(SqlState::SYNTAX_ERROR, "query has no destination for result data")
}

/// Whether a statement only says how the transaction is to be.
fn sets_modes(statement: &TransactionStatement) -> bool {
    matches!(
        statement,
        TransactionStatement::Set(_)
            | TransactionStatement::SetSnapshot(_)
            | TransactionStatement::SetSession(_)
    )
}

/// 0A000 for what no body runs.
pub(super) fn demand_runnable(prepared: &Prepared) -> Result<()> {
    if let Some(Statement::Transaction(statement)) = prepared.parsed.statement()
        && !sets_modes(statement)
    {
        return Err(SqlError::new(
            SqlState::FEATURE_NOT_SUPPORTED,
            "unsupported transaction command in PL/pgSQL",
        ));
    }
    if let Some(Statement::Copy(copy)) = prepared.parsed.statement()
        && matches!(copy.target, CopyTarget::Client)
    {
        return Err(SqlError::new(
            SqlState::FEATURE_NOT_SUPPORTED,
            "cannot COPY to/from client in PL/pgSQL",
        ));
    }
    Ok(())
}

/// What a statement fails with, in its text; an error with a place in that says it by the place.
pub(super) fn in_statement(error: SqlError, text: &str) -> SqlError {
    if error.fields().position.is_some() {
        return error.in_text(0, text);
    }
    error.within(format!("SQL statement \"{text}\""))
}

impl Execution<'_> {
    /// A statement of the body, ready to run.
    pub(super) fn statement_of(&mut self, sql: &Sql) -> Result<Arc<Prepared>> {
        Ok(Arc::clone(&self.statement_text(sql)?.prepared))
    }

    fn statement_text(&mut self, sql: &Sql) -> Result<Arc<Text>> {
        self.text(sql, None).map_err(|error| in_statement(error, &sql.text))
    }

    /// A query that is made when a cursor is opened for it, which may be a loop's, with the values behind USING.
    pub(super) fn dynamic_statement(
        &mut self,
        text: &Sql,
        using: &[Sql],
        as_cursor: bool,
    ) -> Result<(Arc<Prepared>, RowBuf)> {
        let query = self.dynamic_text(text)?;
        let (types, parameters) = self.given(using)?;
        let mut all = Vec::new();
        for source in self.dynamic_sources(&query)? {
            let source = if as_cursor { source.of_cursor() } else { source };
            all.push(self.dynamically_prepared(source, &types, &query)?);
        }
        match (all.pop(), all.pop()) {
            (Some(prepared), None) => Ok((prepared, parameters)),
            _ => Err(SqlError::new(
                SqlState::INVALID_CURSOR_DEFINITION,
                "cannot open multi-query plan as cursor",
            )),
        }
    }

    /// The statements of such a text.
    fn dynamic_sources(&self, query: &Arc<str>) -> Result<Vec<Source>> {
        let dialect = self.session.settings.plain().dialect;
        let parsed = Source::parse(query, dialect);
        Ok(parsed.map_err(|error| in_statement(error, query))?.0)
    }

    /// The text of EXECUTE.
    fn dynamic_text(&mut self, text: &Sql) -> Result<Arc<str>> {
        let query = self.text_value(text)?.ok_or_else(|| {
            SqlError::new(
                SqlState::NULL_VALUE_NOT_ALLOWED,
                "query string argument of EXECUTE is null",
            )
        })?;
        Ok(query.into())
    }

    /// The values behind USING, and their types.
    fn given(&mut self, using: &[Sql]) -> Result<(Vec<Oid>, RowBuf)> {
        let (mut types, mut parameters) = (Vec::new(), RowBuf::new());
        let mut value = RowBuf::new();
        for one in using {
            let ty = self.evaluate(one, &mut value)?;
            types.push(Oid(ty.oid.0));
            parameters.push_column(&value, 0);
        }
        for (_, number) in &self.body.rows {
            parameters.push_column(self.kit.frame.row(), *number as usize);
        }
        Ok((types, parameters))
    }

    /// A statement of such a text, ready to run.
    fn dynamically_prepared(
        &mut self,
        source: Source,
        types: &[Oid],
        query: &str,
    ) -> Result<Arc<Prepared>> {
        if let Some(Statement::Transaction(statement)) = source.statement()
            && !sets_modes(statement)
        {
            let message = "EXECUTE of transaction commands is not implemented";
            return Err(SqlError::new(SqlState::FEATURE_NOT_SUPPORTED, message));
        }
        let sees_rows = !self.body.rows.is_empty();
        let planned = source.statement().is_some_and(Statement::is_planned);
        let prepared = if sees_rows {
            let given = Arc::new(Given::new(types, &self.body));
            let all: Vec<Oid> = given.types().iter().map(|ty| ty.oid).collect();
            let source = Arc::new(source.seeing(given));
            self.session.prepare(source, if planned { &all } else { &[] })
        } else {
            self.session.prepare(Arc::new(source), types)
        };
        let prepared = prepared.map_err(|error| in_statement(error, query))?;
        if !sees_rows && prepared.parameters.len() > types.len() {
            let message = format!("there is no parameter ${}", types.len() + 1);
            return Err(SqlError::new(SqlState::UNDEFINED_PARAMETER, message));
        }
        Ok(prepared)
    }

    /// Runs a statement with INTO or without; FOUND follows where it is written in the body.
    fn run(
        &mut self,
        prepared: &Arc<Prepared>,
        values: Option<(RowBuf, &Arc<str>)>,
        into: Option<&Into>,
        source: Option<(&Sql, &Text)>,
    ) -> Result<()> {
        let (source, text) = (source.map(|(sql, _)| sql), source.map(|(_, text)| text));
        let dynamic = source.is_none();
        let columns = prepared.columns.as_deref();
        let modifies = prepared.planned.as_ref().is_some_and(|planned| planned.program.changes);
        let planned = prepared.planned.is_some();
        let checks = !dynamic && into.is_some();
        let extra = if checks { self.session.too_many_rows() } else { None };
        let max_rows = match into {
            Some(into) if !modifies => {
                if into.strict || extra.is_some() {
                    2
                } else {
                    1
                }
            }
            None if columns.is_some() && !dynamic && planned => {
                let error = no_destination();
                return Err(match modifies {
                    true => error,
                    false => error.hint(
                        "If you want to discard the results of a SELECT, use PERFORM instead.",
                    ),
                });
            }
            _ => 0,
        };
        let shows = self.body.shows_strict && into.is_some_and(|into| into.strict);
        let given = shows.then(|| {
            let values = values.as_ref().map_or(self.kit.frame.row(), |(values, _)| values);
            (Arc::clone(prepared), values.clone())
        });
        let mut row = std::mem::take(&mut self.kit.row);
        let done = match text {
            Some(text) => self.at_once(text, max_rows, &mut row)?,
            None => None,
        };
        let (tag, count) = match done {
            Some(done) => done,
            None => {
                let limits = (max_rows, FEW_ROWS);
                let ran = match values {
                    Some((mut values, text)) => {
                        let statement = (prepared, text);
                        self.session.run_statement(statement, &mut values, limits, true)?
                    }
                    None => self.run_over_variables(prepared, limits, text)?,
                };
                if let Some(first) = ran.rows.first() {
                    row.copy_from(first);
                }
                let count = ran.rows.len();
                self.session.spare_rows(ran.rows);
                (ran.tag, count)
            }
        };
        self.row_count = tag.told().unwrap_or(0);
        if !dynamic && planned {
            self.set_found(self.row_count > 0);
        }
        let Some(into) = into else {
            self.kit.row = row;
            // EXPLAIN and SHOW have run by then, as in PostgreSQL.
            return if columns.is_some() && !dynamic { Err(no_destination()) } else { Ok(()) };
        };
        let Some(columns) = columns else {
            return Err(no_rows_for_into());
        };
        match count {
            0 if into.strict => {
                let error = SqlError::new(SqlState::NO_DATA_FOUND, "query returned no rows");
                return Err(self.with_given(error, source, given)?);
            }
            2.. if into.strict || modifies && !dynamic => {
                let message = "query returned more than one row";
                let error = SqlError::new(SqlState::TOO_MANY_ROWS, message);
                let error = match dynamic {
                    true => error,
                    false => {
                        error.hint("Make sure the query returns a single row, or use LIMIT 1.")
                    }
                };
                return Err(self.with_given(error, source, given)?);
            }
            2.. => {
                if let Some(severity) = extra {
                    let message = "query returned more than one row";
                    let error = SqlError::new(SqlState::TOO_MANY_ROWS, message)
                        .hint("Make sure the query returns a single row, or use LIMIT 1.");
                    self.told_by_check(error, severity)?;
                }
            }
            _ => {}
        }
        match text.filter(|_| count > 0) {
            Some(text) => self.put_row_into(text, (&into.places, columns), &mut row)?,
            None => self.put_into(&into.places, columns, (count > 0).then_some(&row))?,
        }
        self.kit.row = row;
        Ok(())
    }

    /// Runs a statement of the body whose parameters are the variables.
    fn run_over_variables(
        &mut self,
        prepared: &Arc<Prepared>,
        limits: (u64, usize),
        text: Option<&Text>,
    ) -> Result<Ran> {
        let custom = text.is_some_and(Text::is_custom);
        let mut variables = self.kit.frame.take_row();
        let statement = (prepared, &prepared.text);
        let ran = self.session.run_statement(statement, &mut variables, limits, custom);
        if let (Some(text), Ok(_)) = (text, &ran) {
            text.count_run();
        }
        self.kit.frame.put_row(variables);
        ran
    }

    /// What an extra check has found: an error, or told as a warning.
    pub(super) fn told_by_check(&mut self, error: SqlError, severity: Severity) -> Result<()> {
        if severity == Severity::Error {
            return Err(error);
        }
        let context = self.session.context_text();
        self.session.notices.get_mut().push(error.severity(severity).context(context));
        self.session.speak();
        Ok(())
    }

    /// Holds the count of columns against that of the places that they go to (`strict_multi_assignment`).
    pub(super) fn demand_as_many(&mut self, given: usize, places: usize) -> Result<()> {
        if given == places {
            return Ok(());
        }
        let Some(severity) = self.session.extra_check("strict_multi_assignment") else {
            return Ok(());
        };
        let setting = if severity == Severity::Error { "extra_errors" } else { "extra_warnings" };
        let message = "number of source and target fields in assignment does not match";
        let error = SqlError::new(SqlState::DATATYPE_MISMATCH, message)
            .detail(format!("strict_multi_assignment check of {setting} is active."))
            .hint("Make sure the query returns the exact list of columns.");
        self.told_by_check(error, severity)
    }

    /// The error of an INTO STRICT with the variables or the values that the statement was given
    /// (`plpgsql.print_strict_params`).
    fn with_given(
        &mut self,
        error: SqlError,
        source: Option<&Sql>,
        given: Option<(Arc<Prepared>, RowBuf)>,
    ) -> Result<SqlError> {
        let Some((prepared, values)) = given else { return Ok(error) };
        let named: Vec<(String, SqlType, usize)> = match source {
            Some(sql) => {
                let text = self.text(sql, None)?;
                let variables = &self.body.variables;
                let of = |number: u32| {
                    let variable = &variables[number as usize];
                    (variable.name.to_string(), super::text::type_of(&variable.ty), number as usize)
                };
                text.named().into_iter().map(of).collect()
            }
            None => {
                let types = prepared.parameters.iter().enumerate();
                types.map(|(at, ty)| (format!("${}", at + 1), SqlType::plain(ty.0), at)).collect()
            }
        };
        if named.is_empty() {
            return Ok(error);
        }
        let shown = self.session.with_context(|context| {
            let mut shown = Vec::new();
            for (name, ty, at) in named {
                let value = values.get(at);
                shown.push(if value.is_null() {
                    format!("{name} = NULL")
                } else {
                    let text = crate::types::text_of(context, ty, &value)?;
                    format!("{name} = '{}'", text.replace('\'', "''"))
                });
            }
            Ok(shown.join(", "))
        })?;
        Ok(error.detail(format!("parameters: {shown}")))
    }

    pub(super) fn set_found(&mut self, found: bool) {
        self.kit.frame.set_plain(self.body.found, Datum::Bool(found));
    }

    pub(super) fn execute(&mut self, sql: &Sql, into: Option<&Into>) -> Result<()> {
        let text = self.statement_text(sql)?;
        self.run(&text.prepared, None, into, Some((sql, &text)))
    }

    pub(super) fn execute_dynamic(
        &mut self,
        text: &Sql,
        into: Option<&Into>,
        using: &[Sql],
    ) -> Result<()> {
        let query = self.dynamic_text(text)?;
        let (types, values) = self.given(using)?;
        let mut sources = self.dynamic_sources(&query)?;
        let Some(last) = sources.pop() else {
            self.row_count = 0;
            return if into.is_some() { Err(no_rows_for_into()) } else { Ok(()) };
        };
        // Several statements are run one after the other; INTO is the last one's.
        for source in sources {
            let prepared = self.dynamically_prepared(source, &types, &query)?;
            self.run(&prepared, Some((values.clone(), &query)), None, None)?;
        }
        let prepared = self.dynamically_prepared(last, &types, &query)?;
        self.run(&prepared, Some((values, &query)), into, None)
    }

    pub(super) fn perform(&mut self, sql: &Sql) -> Result<()> {
        let text = self.statement_text(sql)?;
        let mut row = std::mem::take(&mut self.kit.row);
        let tag = match self.at_once(&text, 0, &mut row)? {
            Some((tag, _)) => tag,
            None => self.run_over_variables(&text.prepared, (0, 0), Some(&*text))?.tag,
        };
        self.kit.row = row;
        self.row_count = tag.told().unwrap_or(0);
        self.set_found(self.row_count > 0);
        Ok(())
    }

    /// A query of a loop or of RETURN QUERY.
    pub(super) fn query(&mut self, query: &Query) -> Result<(Arc<Prepared>, RowBuf)> {
        match query {
            Query::Static(sql) => {
                let prepared = self.statement_of(sql)?;
                Ok((prepared, self.kit.frame.row().clone()))
            }
            Query::Dynamic(text, using) => self.dynamic_statement(text, using, false),
            Query::Cursor(variable, arguments) => self.cursor_query(*variable, arguments),
        }
    }

    pub(super) fn return_query(&mut self, query: &Query) -> Result<()> {
        let types = self.returned_types("RETURN QUERY")?;
        let Query::Dynamic(text, using) = query else {
            let (prepared, parameters) = self.query(query)?;
            return self.return_answer((&prepared, &prepared.text), parameters, &types);
        };
        let text = self.dynamic_text(text)?;
        let (given, parameters) = self.given(using)?;
        let sources = self.dynamic_sources(&text)?;
        if sources.is_empty() {
            let message = "empty query does not return tuples";
            return Err(SqlError::new(SqlState::SYNTAX_ERROR, message));
        }
        // The rows of several statements are returned one after the other, and counted together.
        let mut count = 0;
        for source in sources {
            let prepared = self.dynamically_prepared(source, &given, &text)?;
            self.return_answer((&prepared, &text), parameters.clone(), &types)?;
            count += self.row_count;
        }
        self.row_count = count;
        self.set_found(count > 0);
        Ok(())
    }

    /// Runs a statement, which stands in this text, for the rows that are returned.
    fn return_answer(
        &mut self,
        (prepared, text): (&Arc<Prepared>, &Arc<str>),
        mut parameters: RowBuf,
        types: &[SqlType],
    ) -> Result<()> {
        let Some(columns) = &prepared.columns else {
            let command = match (prepared.parsed.statement(), command_tag(&prepared.text)) {
                (Some(Statement::CreateTableAs(_)), tag) if !tag.starts_with("CREATE") => {
                    "SELECT INTO".to_owned()
                }
                (_, tag) => tag,
            };
            let message = format!("{command} query does not return tuples");
            return Err(in_statement(SqlError::new(SqlState::SYNTAX_ERROR, message), text));
        };
        let given: Vec<SqlType> = columns.iter().map(|column| column.ty).collect();
        self.demand_types(&given, types, "structure of query does not match function result type")
            .map_err(|error| in_statement(error, text))?;
        let ran = self.session.run_statement((prepared, text), &mut parameters, (0, ALL), true)?;
        self.row_count = ran.rows.len() as u64;
        self.set_found(self.row_count > 0);
        self.keep_returned(ran.rows)
    }
}

pub(super) fn command_of(text: &str) -> String {
    text.split_whitespace().next().unwrap_or_default().to_ascii_uppercase()
}
