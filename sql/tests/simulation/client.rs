//! A session as a client sees it: a query goes in, and what comes out counts only once it may leave the server.

use sql::Connect;
use sql::engine::Engine;
use sql::error::Notice;
use sql::types::{CallContext, Datum, text_of};
use sql::{ColumnDescription, Environment, Flow, Progress, RowSink, Session, SqlError};
use std::sync::Arc;
use std::task::{Poll, Wake, Waker};
use txn::{SessionWait, WaitCell, WaitEvent};

/// What a query got.
#[derive(Debug)]
pub enum Answer {
    /// Rows as text, columns divided by `|`.
    Rows(Vec<String>),
    /// An error: SQLSTATE and message.
    Refused(String, String),
    /// Nothing, and nothing will come.
    Nothing,
}

#[derive(Default)]
struct Rows(Vec<String>);

impl RowSink for Rows {
    fn row(
        &mut self,
        context: &CallContext<'_>,
        columns: &[ColumnDescription],
        row: &[Datum<'_>],
    ) -> Result<Flow, SqlError> {
        let mut shown = Vec::new();
        for (column, datum) in columns.iter().zip(row) {
            shown.push(match datum {
                Datum::Null => "",
                datum => text_of(context, column.ty, datum)?,
            });
        }
        self.0.push(shown.join("|"));
        Ok(Flow::Continue)
    }

    fn notice(&mut self, _: &Notice) {}
}

/// Wakes who waits for an answer.
struct Bell {
    env: Environment,
    cell: Arc<WaitCell>,
}

impl Wake for Bell {
    fn wake(self: Arc<Self>) {
        self.env.wake(&self.cell);
    }
}

/// A session and its engine.
pub struct Client {
    engine: Arc<Engine>,
    session: Session,
    pid: u32,
}

impl Client {
    /// Connects as the superuser.
    pub fn connect(engine: &Arc<Engine>, pid: u32) -> Client {
        let connect =
            Connect { database: "postgres".into(), user: "postgres".into(), ..Connect::default() };
        let session = engine
            .connect(connect, Arc::new(SessionWait::new(pid)))
            .expect("the superuser may connect to the database that is always there");
        Client { engine: Arc::clone(engine), session, pid }
    }

    /// Runs a query and waits until its answer may leave.
    pub fn say(&mut self, text: &str) -> Answer {
        let mut rows = Rows::default();
        let said = self.run(text, &mut rows);
        if !self.may_leave() {
            return Answer::Nothing;
        }
        match said {
            Ok(()) => Answer::Rows(rows.0),
            Err(error) => {
                Answer::Refused(error.state().code().to_owned(), error.fields().message.clone())
            }
        }
    }

    fn run(&mut self, text: &str, rows: &mut Rows) -> Result<(), SqlError> {
        self.session.simple_query(text)?;
        while self.session.simple_next()? {
            while self.session.run("", 0, rows)? == Progress::Paused {}
        }
        Ok(())
    }

    fn may_leave(&self) -> bool {
        let env = self.engine.manager().environment().clone();
        let cell = Arc::new(WaitCell::new());
        let waker = Waker::from(Arc::new(Bell { env: env.clone(), cell: Arc::clone(&cell) }));
        // As a session does that has its loop to itself, and as one that has not.
        if self.pid.is_multiple_of(2) {
            self.engine.help_answer(self.session.answer_after());
        }
        loop {
            match self.engine.poll_answer(self.session.answer_after(), &waker) {
                Poll::Ready(answer) => return answer.is_ok(),
                Poll::Pending => drop(env.wait(WaitEvent::WalSync, &cell, None, None)),
            }
        }
    }
}
