//! What a statement says before its answer: the notices of routines, told while these run.
//!
//! The statement's thread is deep in the engine then, and the connection behind it waits for its end with the socket. So
//! where a routine may run, what has been answered so far is moved here ([`Interim::open`]), goes out ahead of the first
//! notice, and what has not gone comes back with the statement's end ([`Interim::close`]). Where nothing is said that is
//! all of it, and nothing has been sent.
//!
//! Nobody waits here: what the client does not take at once is the socket's debt, paid before its next bytes, and a client that
//! owes is told nothing more until the end. A connection that breaks is found broken by whoever writes to it next.

use crate::client_encoding;
use crate::metrics::Counters;
use crate::respond;
use crate::stream::Outlet;
use crate::sync::locked;
use sql::Notice;
use sql::encoding::Conversion;
use std::sync::{Arc, Mutex};

/// A connection's way past the answer that is being made.
#[derive(Debug)]
pub struct Interim {
    outlet: Outlet,
    counters: Arc<Counters>,
    held: Mutex<Held>,
}

/// What is to go out.
#[derive(Debug, Default)]
struct Held {
    /// Whether a statement runs that may say something.
    open: bool,
    /// Whether it has.
    said: bool,
    /// What has been answered and said and has not gone; between statements, memory.
    bytes: Vec<u8>,
    /// To the client's encoding.
    conversion: Option<Conversion>,
}

impl Interim {
    /// By this way out.
    pub fn new(outlet: Outlet, counters: Arc<Counters>) -> Interim {
        Interim { outlet, counters, held: Mutex::default() }
    }

    /// What stands in `answer` before `begins` goes ahead of what is said from now on, and is not in it until the end.
    pub fn open(&self, answer: &mut Vec<u8>, begins: usize, conversion: Option<Conversion>) {
        let mut held = locked(&self.held);
        held.bytes.extend_from_slice(&answer[begins..]);
        answer.truncate(begins);
        std::mem::swap(&mut held.bytes, answer);
        (held.open, held.said, held.conversion) = (true, false, conversion);
    }

    /// Nothing more is said: what has not gone out is in front of `answer` again. Where something was said, gives the length
    /// of that.
    pub fn close(&self, answer: &mut Vec<u8>) -> Option<usize> {
        let mut held = locked(&self.held);
        held.open = false;
        std::mem::swap(&mut held.bytes, answer);
        let left = answer.len();
        answer.append(&mut held.bytes);
        held.said.then_some(left)
    }
}

/// The same for the session.
#[derive(Debug)]
pub struct Teller(pub Arc<Interim>);

impl sql::session::outlet::Outlet for Teller {
    fn is_open(&self) -> bool {
        locked(&self.0.held).open && self.0.outlet.is_ready()
    }

    fn tell(&self, notices: &[Notice]) {
        let mut held = locked(&self.0.held);
        let Held { said, bytes, conversion, .. } = &mut *held;
        *said = true;
        let begin = bytes.len();
        notices.iter().for_each(|notice| respond::report(bytes, notice));
        if let Some(conversion) = conversion {
            client_encoding::sent(conversion, bytes, begin);
        }
        let sent = self.0.outlet.send(bytes);
        self.0.counters.sent(sent);
        bytes.drain(..sent);
    }
}
