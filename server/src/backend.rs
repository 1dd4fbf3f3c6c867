//! What the protocol loop asks of a session.
//!
//! There are two: [`Live`], the engine's session, and the scripted one of the tests, which panics, pauses, suspends and
//! fails when told to. Each method is one message's worth of work, and the loop guards each call: a panic that the session
//! has not made an error of its statement ends this session with XX000, and nobody else's.

use sql::breakdown::{Class, Started};
use sql::exec::sink::RowSink;
use sql::notify::Notification;
use sql::session::outlet::Outlet;
use sql::session::{
    AnswerAfter, BoundSink, CommandTag, LogSettings, Progress, RowsDescription, StatementClass,
    StatementDescription, Timeouts,
};
use sql::types::Oid;
use sql::{Bind, Engine, Notice, Session, SqlError};
use sql::{SessionWait, SocketTimes, TransactionStatus};
use std::sync::Arc;
use std::task::{Poll, Waker};

type Result<T> = std::result::Result<T, SqlError>;

/// A session as the protocol sees it; the methods are those of [`sql::Session`].
#[expect(missing_docs, reason = "each is described where it is implemented, in `sql::session`")]
pub trait Backend: Send {
    fn wait(&self) -> &Arc<SessionWait>;
    fn status(&self) -> TransactionStatus;
    fn answer_after(&self) -> AnswerAfter;
    fn poll_answer(&self, after: AnswerAfter, waker: &Waker) -> Poll<Result<()>>;
    fn help_answer(&self, after: AnswerAfter);
    fn begin_messages(&mut self) -> Option<Started>;
    fn end_messages(&mut self, clock: Started);
    fn measures(&self) -> bool;
    fn spend(&mut self, class: Class, cycles: u64);
    fn rest(&mut self);
    fn set_outlet(&mut self, outlet: Box<dyn Outlet>);
    fn has_notices(&mut self) -> bool;
    fn take_notices(&mut self) -> Vec<Notice>;
    fn take_hidden_notices(&mut self) -> Vec<Notice>;
    fn has_notifications(&self) -> bool;
    fn take_notifications(&mut self) -> Vec<Notification>;
    fn take_parameter_changes(&mut self, report: &mut dyn FnMut(&str, &str));
    fn take_socket_times(&mut self) -> Option<SocketTimes>;
    fn simple_query(&mut self, text: &str) -> Result<()>;
    fn simple_next(&mut self) -> Result<bool>;
    fn parse(&mut self, name: &str, text: &str, parameter_types: &[Oid]) -> Result<()>;
    fn bind(&mut self, bind: &Bind<'_>) -> Result<()>;
    fn bind_and_run(
        &mut self,
        bind: &Bind<'_>,
        run: (u64, bool),
        sink: &mut dyn BoundSink,
    ) -> Result<Progress>;
    fn describe_statement(&mut self, name: &str) -> Result<StatementDescription<'_>>;
    fn describe_portal(&mut self, name: &str) -> Result<Option<RowsDescription<'_>>>;
    fn shows_failure(&self) -> bool;
    fn run(&mut self, portal: &str, max_rows: u64, sink: &mut dyn RowSink) -> Result<Progress>;
    fn close_statement(&mut self, name: &str);
    fn close_portal(&mut self, name: &str);
    fn sync(&mut self) -> Result<()>;
    fn check_cancel(&mut self) -> Result<()>;
    fn copy_in(&mut self, data: &[u8]) -> Result<()>;
    fn copy_in_done(&mut self) -> Result<CommandTag>;
    fn copy_in_fail(&mut self, message: &str) -> SqlError;
    fn timeouts(&self) -> Timeouts;
    fn log_settings(&self) -> &LogSettings;
    fn statement_text(&self) -> String;
    fn statement_number(&self) -> i64;
    fn application_name(&self) -> Arc<str>;
    fn statement_age(&self) -> i64;
    fn executed_text(&self) -> Option<Arc<str>>;
    fn query_class(&self) -> Option<StatementClass>;
    fn portal_class(&self, portal: &str) -> Option<(StatementClass, Arc<str>)>;
    fn portal_parameters(&mut self, portal: &str, bytes: usize) -> Option<String>;
}

/// The engine's session.
pub struct Live {
    /// Knows when an answer may leave.
    pub engine: Arc<Engine>,
    /// The session, apart from the rest: a connection's future holds what it is given once for each step that it passes through.
    pub session: Box<Session>,
}

impl Backend for Live {
    fn wait(&self) -> &Arc<SessionWait> {
        self.session.wait()
    }

    fn status(&self) -> TransactionStatus {
        self.session.status()
    }

    fn answer_after(&self) -> AnswerAfter {
        self.session.answer_after()
    }

    fn poll_answer(&self, after: AnswerAfter, waker: &Waker) -> Poll<Result<()>> {
        self.engine.poll_answer(after, waker)
    }

    fn help_answer(&self, after: AnswerAfter) {
        self.engine.help_answer(after);
    }

    fn begin_messages(&mut self) -> Option<Started> {
        self.session.begin_messages()
    }

    fn end_messages(&mut self, clock: Started) {
        self.session.end_messages(clock);
    }

    fn measures(&self) -> bool {
        self.session.measures()
    }

    fn spend(&mut self, class: Class, cycles: u64) {
        self.session.spend(class, cycles);
    }

    fn rest(&mut self) {
        self.session.rest();
    }

    fn set_outlet(&mut self, outlet: Box<dyn Outlet>) {
        self.session.set_outlet(outlet);
    }

    fn has_notices(&mut self) -> bool {
        self.session.has_notices()
    }

    fn take_notices(&mut self) -> Vec<Notice> {
        self.session.take_notices()
    }

    fn take_hidden_notices(&mut self) -> Vec<Notice> {
        self.session.take_hidden_notices()
    }

    fn has_notifications(&self) -> bool {
        self.session.has_notifications()
    }

    fn take_notifications(&mut self) -> Vec<Notification> {
        self.session.take_notifications()
    }

    fn take_parameter_changes(&mut self, report: &mut dyn FnMut(&str, &str)) {
        self.session.take_parameter_changes(report);
    }

    fn take_socket_times(&mut self) -> Option<SocketTimes> {
        self.session.take_socket_times()
    }

    fn simple_query(&mut self, text: &str) -> Result<()> {
        self.session.simple_query(text)
    }

    fn simple_next(&mut self) -> Result<bool> {
        self.session.simple_next()
    }

    fn parse(&mut self, name: &str, text: &str, parameter_types: &[Oid]) -> Result<()> {
        self.session.parse(name, text, parameter_types)
    }

    fn bind(&mut self, bind: &Bind<'_>) -> Result<()> {
        self.session.bind(bind)
    }

    fn bind_and_run(
        &mut self,
        bind: &Bind<'_>,
        run: (u64, bool),
        sink: &mut dyn BoundSink,
    ) -> Result<Progress> {
        self.session.bind_and_run(bind, run, sink)
    }

    fn describe_statement(&mut self, name: &str) -> Result<StatementDescription<'_>> {
        self.session.describe_statement(name)
    }

    fn describe_portal(&mut self, name: &str) -> Result<Option<RowsDescription<'_>>> {
        self.session.describe_portal(name)
    }

    fn shows_failure(&self) -> bool {
        self.session.shows_failure()
    }

    fn run(&mut self, portal: &str, max_rows: u64, sink: &mut dyn RowSink) -> Result<Progress> {
        self.session.run(portal, max_rows, sink)
    }

    fn close_statement(&mut self, name: &str) {
        self.session.close_statement(name);
    }

    fn close_portal(&mut self, name: &str) {
        self.session.close_portal(name);
    }

    fn sync(&mut self) -> Result<()> {
        self.session.sync()
    }

    fn check_cancel(&mut self) -> Result<()> {
        self.session.check_cancel()
    }

    fn copy_in(&mut self, data: &[u8]) -> Result<()> {
        self.session.copy_in(data)
    }

    fn copy_in_done(&mut self) -> Result<CommandTag> {
        self.session.copy_in_done()
    }

    fn copy_in_fail(&mut self, message: &str) -> SqlError {
        self.session.copy_in_fail(message)
    }

    fn timeouts(&self) -> Timeouts {
        self.session.timeouts()
    }

    fn log_settings(&self) -> &LogSettings {
        self.session.log_settings()
    }

    fn statement_text(&self) -> String {
        self.session.statement_text()
    }

    fn statement_number(&self) -> i64 {
        self.session.statement_number()
    }

    fn application_name(&self) -> Arc<str> {
        self.session.application_name()
    }

    fn statement_age(&self) -> i64 {
        self.session.statement_age()
    }

    fn executed_text(&self) -> Option<Arc<str>> {
        self.session.executed_text()
    }

    fn query_class(&self) -> Option<StatementClass> {
        self.session.query_class()
    }

    fn portal_class(&self, portal: &str) -> Option<(StatementClass, Arc<str>)> {
        self.session.portal_class(portal)
    }

    fn portal_parameters(&mut self, portal: &str, bytes: usize) -> Option<String> {
        self.session.portal_parameters(portal, bytes)
    }
}
