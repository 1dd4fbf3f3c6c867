//! The dialogue after start-up: the client's messages in, the server's messages out, and no socket.
//!
//! One connection's protocol state machine (manual, section 55.2). [`Dialogue::advance`] works through the whole messages
//! in the receive buffer and says what has to happen before it can go on: read, send, or end. Whoever owns the socket
//! does that; so everything here is plain synchronous code that a test drives with bytes.
//!
//! Answers gather in `output`, and are sent when PostgreSQL sends them: at ReadyForQuery, Flush, errors and notices, COPY's
//! switch of direction, and where [`SEND_BYTES`] have gathered.
//!
//! The families stand in files of their own, as the manual names them: `simple.rs`, `extended.rs`, `copy.rs`.
//!
//! Errors: of the extended protocol's messages, skip to the next Sync; of a Query, end it; a FATAL one ends the
//! connection. A panic in a statement ends that statement with XX000, which is the session's own doing; one outside of any
//! statement is caught here and ends this session: what it left half done is not trusted again.

mod copy;
mod extended;
mod logged;
mod simple;

use crate::backend::Backend;
use crate::client_encoding;
use crate::encode::{SEND_BYTES, WireSink};
use crate::frame::{Framed, HEADER_BYTES, frame};
use crate::interim::{Interim, Teller};
use crate::log;
use crate::message::{Message, decode};
use crate::metrics::Counters;
use crate::peer::Peer;
use crate::respond;
use crate::stream::Outlet;
use crate::timers::Timers;
use logged::Logged;
use sql::breakdown::Class;
use sql::encoding::Conversion;
use sql::session::Progress;
use sql::sqlstate::SqlState;
use sql::types::Oid;
use sql::{Bind, Format, Severity, SocketTimes, SqlError, TransactionStatus};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

/// What has to happen before the dialogue can go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// At least this many more bytes from the client. `output` is sent first where [`Dialogue::sends`] says so.
    Read(usize),
    /// Send `output`.
    Send,
    /// Send `output` and close the connection.
    End,
}

/// Where the dialogue stands between two messages, or within one that takes several steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// Any message may come.
    Open,
    /// An extended-protocol message failed: nothing counts until Sync.
    Skipping,
    /// A Query's statements run; the flag says that one of them is under way.
    Simple(bool),
    /// An Execute has paused with so many rows still to give (0: no limit); its message is still in the buffer.
    Executing(u64),
    /// COPY FROM STDIN takes data; the flag says that a Query began it, rather than an Execute.
    CopyIn(bool),
}

/// What an Execute runs.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Ran<'a> {
    /// A portal that there is.
    Portal(&'a str),
    /// The portal of a Bind that has come with it; that is answered, too, and with its rows where the portal is described. A
    /// Sync may stand behind it.
    Bound { bind: &'a Bind<'a>, describes: bool, syncs: bool },
}

/// One connection's dialogue.
#[derive(Debug)]
pub struct Dialogue<B> {
    pub(crate) backend: B,
    pub(crate) peer: Arc<Peer>,
    pub(crate) timers: Arc<Timers>,
    pub(crate) counters: Arc<Counters>,
    /// What has been received; the first `consumed` bytes are done with.
    pub input: Vec<u8>,
    consumed: usize,
    /// What is to be sent.
    pub output: Vec<u8>,
    /// Where what a statement says before its answer goes; none where nothing does.
    interim: Option<Arc<Interim>>,
    pub(crate) mode: Mode,
    /// Whether anything is under way: a message has come whose answer has not been ended by ReadyForQuery.
    busy: bool,
    /// Whether `statement_timeout` runs.
    clock: bool,
    /// Whether what is in `output` is not to wait for more.
    urgent: bool,
    /// Whether anything of this Query has been answered.
    pub(crate) answered: bool,
    formats: Vec<Format>,
    /// Between UTF8 and what the client speaks, where that is another encoding.
    pub(crate) conversion: Option<Conversion>,
    pub(crate) types: Vec<Oid>,
    buffer_bytes: usize,
    /// Whose events the log's are.
    pub log: log::Session,
    /// What is to be logged when what is under way has ended.
    pub(crate) logged: Logged,
}

impl<B: Backend> Dialogue<B> {
    /// With a session that has just begun, and buffers that rest at `buffer_bytes`.
    pub fn new(
        backend: B,
        peer: Arc<Peer>,
        timers: Arc<Timers>,
        counters: Arc<Counters>,
        buffer_bytes: usize,
    ) -> Dialogue<B> {
        let log = log::Session::of_client(peer.pid, ("", ""), None);
        Dialogue {
            log,
            logged: Logged::default(),
            backend,
            peer,
            timers,
            counters,
            input: Vec::new(),
            consumed: 0,
            output: Vec::new(),
            interim: None,
            mode: Mode::Open,
            busy: false,
            clock: false,
            urgent: false,
            answered: false,
            formats: Vec::new(),
            conversion: None,
            types: Vec::new(),
            buffer_bytes,
        }
    }

    /// What a statement says before its answer goes out by `outlet`, while the statement runs.
    pub fn speak_by(&mut self, outlet: Outlet) {
        let interim = Arc::new(Interim::new(outlet, Arc::clone(&self.counters)));
        self.backend.set_outlet(Box::new(Teller(Arc::clone(&interim))));
        self.interim = Some(interim);
    }

    /// The session.
    pub fn backend(&self) -> &B {
        &self.backend
    }

    /// Time that an answer has taken behind its messages.
    pub fn spend(&mut self, class: Class, cycles: u64) {
        self.backend.spend(class, cycles);
    }

    /// Begins the dialogue: what start-up has to say, the parameters, BackendKeyData with `secret`.
    pub fn greet(&mut self, start: Vec<u8>, secret: &[u8]) {
        self.output = start;
        self.parameter_changes();
        respond::backend_key(&mut self.output, self.peer.pid, secret);
    }

    /// Tells of parameters that have changed; from then on the client is spoken to in its encoding.
    fn parameter_changes(&mut self) {
        let (output, conversion) = (&mut self.output, &mut self.conversion);
        let begin = output.len();
        self.backend.take_parameter_changes(&mut |name, value| {
            if name == "client_encoding" {
                *conversion = Conversion::of(value);
            }
            respond::parameter_status(output, name, value);
        });
        self.convert(begin);
    }

    /// What the client's socket is to do from now on, where a setting has changed that.
    pub fn socket_times(&mut self) -> Option<SocketTimes> {
        self.backend.take_socket_times()
    }

    /// Converts what has been said from here on.
    pub(crate) fn convert(&mut self, begin: usize) {
        if let Some(conversion) = &self.conversion {
            client_encoding::sent(conversion, &mut self.output, begin);
        }
    }

    /// Says that the client may begin.
    pub fn open(&mut self) -> Step {
        self.ready()
    }

    /// Works through what has been received, as far as it goes.
    pub fn advance(&mut self) -> Step {
        if self.consumed == self.input.len() && !matches!(self.mode, Mode::Simple(_)) {
            // Behind a whole batch.
            return Step::Read(HEADER_BYTES);
        }
        // The messages are borrowed from the buffer while everything else of the dialogue changes.
        let input = std::mem::take(&mut self.input);
        let clock = self.backend.begin_messages();
        // What leaves the session while a message is worked through is the last of this dialogue.
        let step = guarded(|| Ok(self.messages(&input)))
            .unwrap_or_else(|panic| self.fail(&panic, false).unwrap_or(Step::End));
        if let Some(clock) = clock {
            self.backend.end_messages(clock);
        }
        self.input = input;
        step
    }

    fn messages(&mut self, input: &[u8]) -> Step {
        if let Mode::Simple(running) = self.mode
            && let Some(step) = self.simple_advance(running)
        {
            return step;
        }
        loop {
            let rest = &input[self.consumed..];
            let (tag, bytes) = match frame(rest) {
                Ok(Framed::Whole(tag, bytes)) => (tag, bytes),
                Ok(Framed::Partial(needed)) => return Step::Read(needed - rest.len()),
                Err(error) => {
                    respond::report(&mut self.output, &error);
                    self.log(&error);
                    return Step::End;
                }
            };
            let (message, behind) = rest.split_at(bytes);
            let step = self.message(tag, &message[HEADER_BYTES..], behind);
            if !matches!(self.mode, Mode::Executing(_)) {
                self.consumed += bytes;
            }
            if let Some(step) = step {
                return step;
            }
            if self.output.len() >= SEND_BYTES {
                return Step::Send;
            }
        }
    }

    /// Whether what is in `output` is sent before anyone waits for the client.
    pub fn sends(&self) -> bool {
        self.urgent || self.output.len() >= SEND_BYTES
    }

    /// A message, with what has been received behind it.
    fn message(&mut self, tag: u8, body: &[u8], behind: &[u8]) -> Option<Step> {
        let extended = matches!(tag, b'P' | b'B' | b'D' | b'E' | b'C' | b'H');
        if self.mode == Mode::Open && self.clock && self.peer.is_timed_out() && tag != b'X' {
            // The client has taken too long to say what comes next: that is not heard.
            if let Err(error) = self.backend.check_cancel() {
                return self.fail(&error, extended);
            }
        }
        match self.mode {
            Mode::Skipping if !matches!(tag, b'S' | b'X') => return None,
            Mode::CopyIn(simple) => return self.copy_message(tag, body, simple),
            _ => {}
        }
        let converted = match &self.conversion {
            Some(conversion) if !body.is_ascii() => {
                match client_encoding::received(conversion, tag, body) {
                    Ok(converted) => Some(converted),
                    Err(error) => return self.fail(&error, extended),
                }
            }
            _ => None,
        };
        let message = match decode(tag, converted.as_deref().unwrap_or(body)) {
            Ok(message) => message,
            Err(error) => return self.fail(&error, extended),
        };
        match message {
            Message::Query(text) => self.query(text),
            Message::Parse { name, text, types } => self.parse(name, text, types),
            Message::Bind(bind) => self.bind(&bind, HEADER_BYTES + body.len(), behind),
            Message::Describe(target) => self.describe(target),
            Message::Execute { portal, max_rows } => self.execute(portal, max_rows),
            Message::Close(target) => self.close(target),
            Message::Flush => Some(Step::Send),
            Message::Sync => self.sync(),
            // What a client still sends after its COPY has failed.
            Message::CopyData(_) | Message::CopyDone | Message::CopyFail(_) => None,
            Message::FunctionCall => {
                let error = SqlError::unsupported("the function-call protocol is");
                self.fail(&error, false)
            }
            Message::Terminate => Some(Step::End),
        }
    }

    /// A message begins, or goes on with, what is answered up to the next ReadyForQuery.
    pub(crate) fn begin_statement(&mut self) {
        if !self.busy {
            self.busy = true;
            self.peer.statement_begins();
        }
        self.start_clock();
    }

    pub(crate) fn end_statement(&mut self) {
        self.stop_clock();
        if self.busy {
            self.busy = false;
            self.peer.statement_ends();
        }
    }

    /// The time of a statement begins with its first message and ends with its CommandComplete, as PostgreSQL's
    /// (`enable_statement_timeout`): it goes on while the client is silent in between.
    pub(crate) fn start_clock(&mut self) {
        match self.backend.timeouts().statement_ms {
            0 => self.stop_clock(),
            _ if self.clock => {}
            limit => {
                self.clock = true;
                self.timers.arm(&self.peer, limit);
            }
        }
    }

    pub(crate) fn stop_clock(&mut self) {
        if self.clock {
            self.clock = false;
            self.timers.disarm(&self.peer);
        }
    }

    /// Says something that the client is to know at once.
    pub(crate) fn report(&mut self, report: &SqlError) {
        let begin = self.output.len();
        respond::report(&mut self.output, report);
        self.convert(begin);
        self.urgent = true;
    }

    /// Runs a portal once: how far it came, and how many rows it gave. Its answer `begins` there in the output, as far as that
    /// has not been sent.
    pub(crate) fn run(
        &mut self,
        what: Ran<'_>,
        max_rows: u64,
        begins: &mut usize,
    ) -> (Result<Progress, SqlError>, u64) {
        let interim = self.interim.as_deref();
        let mut sink =
            WireSink::new(&mut self.output, &mut self.formats, self.conversion, (interim, *begins));
        let backend = &mut self.backend;
        let progress = match what {
            Ran::Portal(portal) => guarded(|| backend.run(portal, max_rows, &mut sink)),
            Ran::Bound { bind, describes, syncs } => {
                sink.describes = describes;
                guarded(|| backend.bind_and_run(bind, (max_rows, syncs), &mut sink))
            }
        };
        sink.take_back_half();
        let WireSink { rows, warnings, opened, begins: began, .. } = sink;
        *begins = began;
        let opened = interim.filter(|_| opened);
        if let Some(left) = opened.and_then(|interim| interim.close(&mut self.output)) {
            *begins = left;
        }
        self.counters.rows(rows);
        self.urgent |= !warnings.is_empty();
        warnings.iter().for_each(|warning| self.log(warning));
        self.notices();
        (progress, rows)
    }

    /// A portal whose answer begins at `begins` of the output has failed: what PostgreSQL would not have begun to show is
    /// taken back, as far as it has not been sent. Notices stay.
    pub(crate) fn withdraw(&mut self, begins: usize) {
        if !self.backend.shows_failure() {
            respond::keep_notices(&mut self.output, begins);
        }
    }

    /// Sends what came up beside the answer.
    pub(crate) fn notices(&mut self) {
        if self.backend.has_notices() {
            for notice in self.backend.take_notices() {
                self.report(&notice);
                self.log(&notice);
            }
            for hidden in self.backend.take_hidden_notices() {
                self.log(&hidden);
            }
        }
    }

    /// Reports an error, and goes where it leads.
    pub(crate) fn fail(&mut self, error: &SqlError, extended: bool) -> Option<Step> {
        self.notices();
        self.stop_clock();
        self.report(error);
        self.log(error);
        self.logged = Logged::default();
        self.counters.failed(error);
        if matches!(error.fields().severity, Severity::Fatal | Severity::Panic) {
            self.end_statement();
            self.mode = Mode::Skipping;
            return Some(Step::End);
        }
        if extended {
            self.mode = Mode::Skipping;
            return None;
        }
        Some(self.ready())
    }

    /// ReadyForQuery, with what has changed before it.
    pub(crate) fn ready(&mut self) -> Step {
        self.end_statement();
        self.backend.rest();
        self.mode = Mode::Open;
        self.notices();
        self.parameter_changes();
        self.notifications();
        respond::ready(&mut self.output, self.backend.status());
        Step::Send
    }

    /// Whether there are notifications to be told to a client that is silent between two transactions.
    pub fn has_news(&self) -> bool {
        matches!(self.mode, Mode::Open)
            && self.input.is_empty()
            && !self.busy
            && self.backend.has_notifications()
    }

    /// Tells of notifications, unless a transaction is open.
    pub fn notifications(&mut self) {
        if !self.backend.has_notifications() {
            return;
        }
        self.urgent = true;
        for told in self.backend.take_notifications() {
            let begin = self.output.len();
            respond::notification(&mut self.output, told.pid, &told.channel, &told.payload);
            self.convert(begin);
        }
    }

    pub(crate) fn sync(&mut self) -> Option<Step> {
        match self.backend.sync() {
            Ok(()) => Some(self.ready()),
            // Reported, and then the client is told that the server is ready all the same.
            Err(error) => self.fail(&error, false),
        }
    }

    /// How long the client may stay silent now, in milliseconds, and what it is told if it does.
    pub fn patience(&self) -> Option<(u32, SqlError)> {
        if self.busy || !matches!(self.mode, Mode::Open) {
            return None;
        }
        let timeouts = self.backend.timeouts();
        if self.backend.status() == TransactionStatus::Idle {
            let error = || {
                SqlError::new(
                    SqlState::IDLE_SESSION_TIMEOUT,
                    "terminating connection due to idle-session timeout",
                )
                .severity(Severity::Fatal)
            };
            (timeouts.idle_session_ms != 0).then(|| (timeouts.idle_session_ms, error()))
        } else {
            let error = || SqlError::cancelled(sql::error::cancel::IDLE_IN_TRANSACTION);
            (timeouts.idle_in_transaction_ms != 0)
                .then(|| (timeouts.idle_in_transaction_ms, error()))
        }
    }

    /// Makes room in the receive buffer for `needed` more bytes, and lets go of what a large message has left behind.
    pub fn make_room(&mut self, needed: usize) {
        if self.consumed == self.input.len() {
            self.input.clear();
            self.consumed = 0;
            if self.input.capacity() > 2 * self.buffer_bytes {
                self.input = Vec::new();
            }
        } else if self.consumed > 0 {
            let left = self.input.len() - self.consumed;
            self.input.copy_within(self.consumed.., 0);
            self.input.truncate(left);
            self.consumed = 0;
        }
        if self.input.capacity() - self.input.len() < needed || self.input.capacity() == 0 {
            // What a length announces may never come: a buffer grows with what has come.
            let have = self.input.len().max(self.buffer_bytes);
            let more = needed.max(self.buffer_bytes - self.input.len().min(self.buffer_bytes));
            self.input.reserve_exact(more.min(have + (1 << 20)));
        }
    }

    /// Forgets what has been sent, and lets go of what a large answer has left behind.
    pub fn sent(&mut self) {
        self.urgent = false;
        if self.output.capacity() > 2 * self.buffer_bytes
            && !matches!(self.mode, Mode::Simple(true) | Mode::Executing(_))
        {
            self.output = Vec::with_capacity(self.buffer_bytes);
        } else {
            self.output.clear();
        }
        crate::heap::give_back();
    }

    /// Whether the session waits for the client and has nothing under way.
    pub fn is_idle(&self) -> bool {
        !self.busy
    }
}

/// Calls into the engine; a panic that leaves the session is an error, and the last one of this session.
pub fn guarded<T>(call: impl FnOnce() -> Result<T, SqlError>) -> Result<T, SqlError> {
    catch_unwind(AssertUnwindSafe(call)).unwrap_or_else(|panic| {
        let what = match (panic.downcast_ref::<&str>(), panic.downcast_ref::<String>()) {
            (Some(text), _) => text,
            (None, Some(text)) => text.as_str(),
            (None, None) => "no message",
        };
        let message = format!("internal error: {what}");
        Err(SqlError::new(SqlState::INTERNAL_ERROR, message).severity(Severity::Fatal))
    })
}

#[cfg(test)]
mod tests;
