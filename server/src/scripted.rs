//! A session that follows a script, for tests: its statements say themselves what happens.
//!
//! `rows N` gives N rows of one int4, `fail` fails, `panic` panics, `half` within a row, `fatal` ends the session, `copy` takes COPY data,
//! `notice` says something first, `empty` is no statement at all. Several are separated by `;`.

use crate::backend::Backend;
use sql::breakdown::{Class, Started};
use sql::exec::sink::{CopyFormat, Flow, RowSink};
use sql::session::outlet::Outlet;
use sql::session::{
    AnswerAfter, BoundSink, CommandTag, LogSettings, Progress, RowsDescription, StatementClass,
    StatementDescription, Timeouts, Told,
};
use sql::sqlstate::SqlState;
use sql::types::function::{CatalogQueries, SessionFacts};
use sql::types::{CallContext, Datum, Oid, SqlType};
use sql::{
    Bind, ColumnDescription, Format, Notice, SessionWait, Severity, SqlError, TransactionStatus,
};
use std::cell::{Cell, RefCell};
use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, LazyLock};
use std::task::{Poll, Waker};

type Result<T> = std::result::Result<T, SqlError>;

#[derive(Debug, Default)]
pub(crate) struct Scripted {
    wait: Arc<SessionWait>,
    statements: HashMap<String, String>,
    portals: HashMap<String, Portal>,
    queue: VecDeque<String>,
    columns: Vec<ColumnDescription>,
    formats: Vec<Format>,
    told: Told,
    notices: Vec<Notice>,
    pub copied: Vec<u8>,
    pub bound: Vec<(u16, usize)>,
    pub syncs: u32,
}

#[derive(Debug, Default)]
struct Portal {
    text: String,
    given: u64,
}

struct Nobody;

impl CatalogQueries for Nobody {
    fn session(&self) -> SessionFacts<'_> {
        SessionFacts { database: "", user: "", session_user: "", pid: 0 }
    }
    fn call<'a>(
        &self,
        _context: &CallContext<'a>,
        _function: u32,
        _arguments: &[Datum<'a>],
    ) -> Option<Result<Datum<'a>>> {
        None
    }
    fn reg_out<'a>(&self, _context: &CallContext<'a>, _type: u32, _value: u32) -> &'a str {
        ""
    }
    fn reg_in(&self, _type: u32, _text: &str) -> Result<u32> {
        Ok(0)
    }
}

fn failure() -> SqlError {
    SqlError::new(SqlState::DIVISION_BY_ZERO, "division by zero")
}

impl Scripted {
    pub fn new(wait: Arc<SessionWait>) -> Scripted {
        Scripted { wait, ..Scripted::default() }
    }

    fn describe(&mut self, text: &str) -> bool {
        self.columns = vec![ColumnDescription {
            name: "n".into(),
            table: 0,
            attribute: 0,
            ty: SqlType::plain(23),
            type_length: 4,
        }];
        text.starts_with("rows")
    }
}

impl Backend for Scripted {
    fn wait(&self) -> &Arc<SessionWait> {
        &self.wait
    }
    fn status(&self) -> TransactionStatus {
        TransactionStatus::Idle
    }
    fn answer_after(&self) -> AnswerAfter {
        AnswerAfter::default()
    }
    fn poll_answer(&self, _after: AnswerAfter, _waker: &Waker) -> Poll<Result<()>> {
        Poll::Ready(Ok(()))
    }
    fn help_answer(&self, _after: AnswerAfter) {}

    fn begin_messages(&mut self) -> Option<Started> {
        None
    }
    fn end_messages(&mut self, _: Started) {}
    fn measures(&self) -> bool {
        false
    }
    fn spend(&mut self, _: Class, _: u64) {}
    fn rest(&mut self) {}
    fn set_outlet(&mut self, _: Box<dyn Outlet>) {}
    fn has_notices(&mut self) -> bool {
        !self.notices.is_empty()
    }

    fn has_notifications(&self) -> bool {
        false
    }

    fn take_notifications(&mut self) -> Vec<sql::notify::Notification> {
        Vec::new()
    }

    fn take_hidden_notices(&mut self) -> Vec<Notice> {
        Vec::new()
    }
    fn take_notices(&mut self) -> Vec<Notice> {
        std::mem::take(&mut self.notices)
    }
    fn take_parameter_changes(&mut self, _report: &mut dyn FnMut(&str, &str)) {}
    fn take_socket_times(&mut self) -> Option<sql::SocketTimes> {
        None
    }
    fn simple_query(&mut self, text: &str) -> Result<()> {
        if text.contains("syntax") {
            return Err(SqlError::new(SqlState::SYNTAX_ERROR, "syntax error"));
        }
        let statements = text.split(';').map(str::trim).filter(|text| !text.is_empty());
        self.queue = statements.map(str::to_owned).collect();
        Ok(())
    }
    fn simple_next(&mut self) -> Result<bool> {
        let Some(text) = self.queue.pop_front() else { return Ok(false) };
        self.portals.insert(String::new(), Portal { text, given: 0 });
        Ok(true)
    }
    fn parse(&mut self, name: &str, text: &str, _parameter_types: &[Oid]) -> Result<()> {
        self.simple_query(text)?;
        self.queue.clear();
        self.statements.insert(name.to_owned(), text.to_owned());
        Ok(())
    }
    fn bind(&mut self, bind: &Bind<'_>) -> Result<()> {
        let missing = || SqlError::new(SqlState::INVALID_SQL_STATEMENT_NAME, "no such statement");
        let text = self.statements.get(bind.statement).cloned().ok_or_else(missing)?;
        self.bound.push((bind.parameter_count, bind.parameters.len()));
        // Its rows have a column whether it is described or not.
        self.describe(&text);
        self.portals.insert(bind.portal.to_owned(), Portal { text, given: 0 });
        Ok(())
    }
    fn bind_and_run(
        &mut self,
        bind: &Bind<'_>,
        (max_rows, _): (u64, bool),
        sink: &mut dyn BoundSink,
    ) -> Result<Progress> {
        self.bind(bind)?;
        sink.bound(self.describe_portal(bind.portal)?);
        self.run(bind.portal, max_rows, sink)
    }
    fn describe_statement(&mut self, name: &str) -> Result<StatementDescription<'_>> {
        let text = self.statements.get(name).cloned().ok_or_else(failure)?;
        let rows = self.describe(&text);
        let (columns, told) = (&self.columns[..], &self.told);
        let rows = rows.then_some(RowsDescription { columns, formats: &[], told });
        Ok(StatementDescription { parameters: &[Oid(23)], rows })
    }
    fn describe_portal(&mut self, name: &str) -> Result<Option<RowsDescription<'_>>> {
        let missing = || SqlError::new(SqlState::INVALID_CURSOR_NAME, "no such portal");
        let text = self.portals.get(name).ok_or_else(missing)?.text.clone();
        let rows = self.describe(&text);
        let (columns, formats) = (&self.columns[..], &self.formats[..]);
        Ok(rows.then_some(RowsDescription { columns, formats, told: &self.told }))
    }
    fn shows_failure(&self) -> bool {
        true
    }
    fn run(&mut self, portal: &str, max_rows: u64, sink: &mut dyn RowSink) -> Result<Progress> {
        let portal = self.portals.get_mut(portal).ok_or_else(failure)?;
        sink.formats(&self.formats);
        let (words, count) = match portal.text.split_once(' ') {
            Some((words, count)) => (words.to_owned(), count.parse().unwrap_or(0)),
            None => (portal.text.clone(), 0),
        };
        match words.as_str() {
            "rows" | "half" => {
                let arena = Default::default();
                let notices = RefCell::default();
                let clock = sql::environment::SystemClock::new();
                let settings = sql::types::ValueSettings::default();
                let context = CallContext {
                    arena: &arena,
                    settings: &settings,
                    transaction_time: 0,
                    statement_time: 0,
                    clock: &clock,
                    catalog: &Nobody,
                    notices: &notices,
                    random: &Cell::default(),
                    time_read: None,
                    constant: false,
                };
                if words == "half" {
                    // The third value has no format.
                    sink.formats(&[Format::Text; 2]);
                    let columns = [0; 3].map(|_| self.columns[0].clone());
                    sink.row(&context, &columns, &[Datum::Int4(1); 3])?;
                }
                let begun = portal.given;
                while portal.given < count {
                    if max_rows != 0 && portal.given - begun == max_rows {
                        return Ok(Progress::Suspended);
                    }
                    portal.given += 1;
                    let row = [Datum::Int4(portal.given as i32)];
                    if sink.row(&context, &self.columns, &row)? == Flow::Pause {
                        return Ok(Progress::Paused);
                    }
                }
                Ok(Progress::Complete(CommandTag { words: "SELECT", rows: Some(portal.given) }))
            }
            "copy" => Ok(Progress::CopyIn(CopyFormat { binary: false, columns: 1 })),
            "empty" => Ok(Progress::Empty),
            "notice" => {
                sink.notice(&SqlError::notice("so it is"));
                Ok(Progress::Complete(CommandTag { words: "NOTIFY", rows: None }))
            }
            "panic" => panic!("as the script says"),
            "fatal" => Err(failure().severity(Severity::Fatal)),
            _ => Err(failure()),
        }
    }
    fn close_statement(&mut self, name: &str) {
        self.statements.remove(name);
    }
    fn close_portal(&mut self, name: &str) {
        self.portals.remove(name);
    }
    fn sync(&mut self) -> Result<()> {
        self.syncs += 1;
        Ok(())
    }
    fn check_cancel(&mut self) -> Result<()> {
        self.wait.cancel.requested().map_or(Ok(()), |reason| Err(SqlError::cancelled(reason)))
    }
    fn copy_in(&mut self, data: &[u8]) -> Result<()> {
        if data.starts_with(b"bad") {
            return Err(SqlError::new(SqlState::BAD_COPY_FILE_FORMAT, "extra data"));
        }
        self.copied.extend_from_slice(data);
        Ok(())
    }
    fn copy_in_done(&mut self) -> Result<CommandTag> {
        Ok(CommandTag { words: "COPY", rows: Some(self.copied.len() as u64) })
    }
    fn copy_in_fail(&mut self, message: &str) -> SqlError {
        SqlError::new(SqlState::QUERY_CANCELED, format!("COPY from stdin failed: {message}"))
    }
    fn timeouts(&self) -> Timeouts {
        Timeouts::default()
    }
    fn log_settings(&self) -> &LogSettings {
        static NOTHING: LazyLock<LogSettings> = LazyLock::new(LogSettings::default);
        &NOTHING
    }
    fn statement_text(&self) -> String {
        String::new()
    }
    fn statement_number(&self) -> i64 {
        0
    }
    fn application_name(&self) -> Arc<str> {
        "".into()
    }
    fn statement_age(&self) -> i64 {
        0
    }
    fn executed_text(&self) -> Option<Arc<str>> {
        None
    }
    fn query_class(&self) -> Option<StatementClass> {
        None
    }
    fn portal_class(&self, _: &str) -> Option<(StatementClass, Arc<str>)> {
        None
    }
    fn portal_parameters(&mut self, _: &str, _: usize) -> Option<String> {
        None
    }
}
