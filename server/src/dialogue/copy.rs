//! COPY FROM STDIN (manual, section 55.2.6): the client sends data until it is done or gives up.
//!
//! Flush and Sync are ignored meanwhile, any other message is a violation that fails the COPY and ends the connection, as
//! nobody knows what the client takes itself to be in. Data that still comes in after a failure is dropped in `dialogue.rs`,
//! in whatever mode the failure has led to.

use crate::backend::Backend;
use crate::dialogue::{Dialogue, Mode, Step, guarded};
use crate::frame::violation;
use crate::message::{Message, decode};
use crate::respond;
use sql::{CopyFormat, Severity, SqlError};

impl<B: Backend> Dialogue<B> {
    /// Asks the client for its data, and says at once if nobody will take them.
    pub(crate) fn copy_begins(&mut self, format: CopyFormat, simple: bool) -> Step {
        respond::copy_begins(&mut self.output, b'G', format);
        self.mode = Mode::CopyIn(simple);
        let backend = &mut self.backend;
        let begun = guarded(|| backend.copy_in(&[]));
        self.copy_goes_on(begun, simple).unwrap_or(Step::Send)
    }

    /// A message while COPY takes data.
    pub(crate) fn copy_message(&mut self, tag: u8, body: &[u8], simple: bool) -> Option<Step> {
        let backend = &mut self.backend;
        let result = match decode(tag, body) {
            Ok(Message::CopyData(data)) => guarded(|| backend.copy_in(data)),
            Ok(Message::CopyDone) => match guarded(|| backend.copy_in_done()) {
                Ok(tag) => return self.copy_ends(&tag, simple),
                Err(error) => Err(error),
            },
            Ok(Message::CopyFail(reason)) => {
                Err(guarded(|| Ok(backend.copy_in_fail(reason))).unwrap_or_else(|error| error))
            }
            Ok(Message::Flush | Message::Sync) => Ok(()),
            Ok(Message::Terminate) => return Some(Step::End),
            _ if !matches!(tag, b'd' | b'c' | b'f' | b'H' | b'S') => {
                let what = format!("unexpected message type 0x{tag:02X} during COPY from stdin");
                return self.lose(violation(what));
            }
            Ok(_) => Ok(()),
            Err(error) => Err(self.abandon(error)),
        };
        self.copy_goes_on(result, simple)
    }

    /// Behind a portion of the data, or what came instead of one.
    fn copy_goes_on(&mut self, result: Result<(), SqlError>, simple: bool) -> Option<Step> {
        self.notices();
        match result {
            Ok(()) => None,
            Err(error) => {
                // The message that broke the rule may itself be the Sync's predecessor; what follows is skipped.
                self.mode = Mode::Open;
                self.fail(&error, !simple)
            }
        }
    }

    /// Ends the connection behind a message that has no place in a COPY.
    fn lose(&mut self, error: SqlError) -> Option<Step> {
        let error = self.abandon(error);
        self.notices();
        self.report(&error);
        self.log(&error);
        self.counters.failed(&error);
        let lost = "terminating connection because protocol synchronization was lost";
        self.fail(&violation(lost).severity(Severity::Fatal), true)
    }

    /// Fails the COPY for an error of the protocol: the session is told as if the client had given up.
    fn abandon(&mut self, error: SqlError) -> SqlError {
        let backend = &mut self.backend;
        // What the session would say of a client that gives up is not what has happened, but where it has happened.
        match guarded(|| Ok(backend.copy_in_fail(&error.fields().message))) {
            Ok(told) => match &told.fields().context {
                Some(context) => error.context(context.as_str()),
                None => error,
            },
            Err(panic) => panic,
        }
    }

    fn copy_ends(&mut self, tag: &sql::session::CommandTag, simple: bool) -> Option<Step> {
        self.notices();
        self.stop_clock();
        self.counters.completed(tag.words);
        respond::complete(&mut self.output, tag);
        if simple {
            self.mode = Mode::Simple(false);
            return self.simple_advance(false);
        }
        self.mode = Mode::Open;
        None
    }
}
