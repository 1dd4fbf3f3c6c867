//! The sessions there are: how others reach one that runs, waits or is idle.
//!
//! A session may be reached in two ways, and both are needed. While a statement runs, its worker looks at the engine's
//! [`Cancel`](sql::environment::Cancel), and a wait under it wakes. While the session is idle, its task sleeps on the socket, so the
//! task itself is woken. A request to *end* the session is kept beside both, because the next statement clears a
//! cancel that came too late for the last one (as PostgreSQL forgets a cancel that arrives between statements), and
//! must not clear this.
//!
//! Process numbers are this server's own, given out in turn; 0 is nobody's. A cancel request proves itself by the
//! number and the secret together and learns nothing from the answer, because there is none.

use crate::sync::locked;
use sql::error::cancel;
use sql::{Environment, SessionWait, SqlError};
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering, fence};
use std::sync::{Arc, Mutex};
use std::task::Waker;

/// The secret that a client is given, in bytes: what protocol 3.0 has room for.
pub const SECRET_BYTES: usize = 4;

/// One session, as others see it.
#[derive(Debug)]
pub struct Peer {
    /// Its process number.
    pub pid: u32,
    /// What a cancel request has to know.
    secret: Mutex<Vec<u8>>,
    /// The engine's side of it.
    pub wait: Arc<SessionWait>,
    /// Why it shall end, as a reason of [`cancel`]; 0 while it may go on.
    ending: AtomicU32,
    /// Whether a statement is under way.
    busy: AtomicBool,
    /// Wakes its task.
    waker: Mutex<Option<Waker>>,
    /// When its statement has run long enough, in microseconds of the server's clock; 0 is never.
    pub(crate) deadline: AtomicU64,
    /// The earliest time at which the timer will look at it; 0 if it will not.
    pub(crate) queued: AtomicU64,
    environment: Environment,
}

impl Peer {
    /// Whether it has been asked to end, and why.
    #[must_use]
    pub fn ending(&self) -> Option<SqlError> {
        match self.ending.load(Ordering::Acquire) {
            0 => None,
            reason => Some(SqlError::cancelled(reason)),
        }
    }

    /// A statement begins: a cancel that was meant for an earlier one is forgotten, a request to end is not.
    pub fn statement_begins(&self) {
        self.busy.store(true, Ordering::Relaxed);
        if self.wait.cancel.requested().is_some() {
            self.forget_cancel();
        }
    }

    /// Whether the statement has run for longer than `statement_timeout`.
    #[must_use]
    pub fn is_timed_out(&self) -> bool {
        self.wait.cancel.requested() == Some(cancel::STATEMENT_TIMEOUT)
    }

    /// The statement whose time was over has ended: the next one has time of its own.
    pub fn forget_timeout(&self) {
        if self.is_timed_out() {
            self.forget_cancel();
        }
    }

    fn forget_cancel(&self) {
        self.wait.cancel.clear();
        // Pairs with the fence in `end`: either its request is seen here, or it raises the cancel after the clear.
        fence(Ordering::SeqCst);
        let reason = self.ending.load(Ordering::Relaxed);
        if reason != 0 {
            self.environment.raise(&self.wait.cancel, reason);
        }
    }

    /// The statement has been answered.
    pub fn statement_ends(&self) {
        self.busy.store(false, Ordering::Relaxed);
    }

    /// Whether a statement is under way.
    #[must_use]
    pub fn is_busy(&self) -> bool {
        self.busy.load(Ordering::Relaxed)
    }

    /// Stops the statement under way, if there is one.
    pub fn cancel(&self, reason: u32) {
        if self.is_busy() {
            self.environment.raise(&self.wait.cancel, reason);
        }
    }

    /// Asks the session to end: now if it is idle, else as soon as its statement has noticed.
    pub fn end(&self, reason: u32) {
        self.ending.store(reason, Ordering::Release);
        // Pairs with the fence in `forget_cancel`.
        fence(Ordering::SeqCst);
        self.environment.raise(&self.wait.cancel, reason);
        if let Some(waker) = locked(&self.waker).as_ref() {
            waker.wake_by_ref();
        }
    }

    /// Has `waker` woken when the session is asked to end.
    pub fn watch(&self, waker: &Waker) {
        let mut held = locked(&self.waker);
        if !held.as_ref().is_some_and(|held| held.will_wake(waker)) {
            *held = Some(waker.clone());
        }
    }
}

/// All sessions.
#[derive(Debug)]
pub struct Peers {
    environment: Environment,
    table: Mutex<Table>,
}

#[derive(Debug, Default)]
struct Table {
    last: u32,
    peers: HashMap<u32, Arc<Peer>>,
    /// Set once the server stops: whoever comes later is told so.
    closed: bool,
}

impl Peers {
    /// Nobody yet.
    #[must_use]
    pub fn new(environment: Environment) -> Peers {
        Peers { environment, table: Mutex::default() }
    }

    /// Takes one more in, unless there are `limit` already.
    ///
    /// # Errors
    /// 53300; 57P03 once the server stops.
    pub fn admit(self: &Arc<Self>, limit: usize) -> Result<Admitted, SqlError> {
        use sql::sqlstate::SqlState;
        let mut table = locked(&self.table);
        if table.closed {
            let error =
                SqlError::new(SqlState::CANNOT_CONNECT_NOW, "the database system is shutting down");
            return Err(error.severity(sql::Severity::Fatal));
        }
        if table.peers.len() >= limit {
            return Err(too_many_clients());
        }
        let pid = loop {
            let next = if table.last >= i32::MAX as u32 { 1 } else { table.last + 1 };
            table.last = next.max(sql::BACKGROUND + 1);
            if !table.peers.contains_key(&table.last) {
                break table.last;
            }
        };
        let wait = SessionWait::new(pid);
        // A new one has no log yet.
        let _ = wait.lock_wait_log.set(log_lock_wait);
        let peer = Arc::new(Peer {
            pid,
            secret: Mutex::default(),
            wait: Arc::new(wait),
            ending: AtomicU32::new(0),
            busy: AtomicBool::new(false),
            waker: Mutex::default(),
            deadline: AtomicU64::new(0),
            queued: AtomicU64::new(0),
            environment: self.environment.clone(),
        });
        table.peers.insert(pid, Arc::clone(&peer));
        Ok(Admitted { peers: Arc::clone(self), peer })
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        locked(&self.table).peers.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// A cancel request: stops the statement of the session that `pid` and `secret` name together.
    pub fn cancel(&self, pid: u32, secret: &[u8]) -> bool {
        let Some(peer) = locked(&self.table).peers.get(&pid).cloned() else { return false };
        let known = locked(&peer.secret);
        // No early end at the first wrong byte: how long the comparison takes tells nothing.
        let differs = known.iter().zip(secret).fold(0, |differs, (a, b)| differs | (a ^ b));
        let matches = !known.is_empty() && known.len() == secret.len() && differs == 0;
        drop(known);
        if matches {
            peer.cancel(cancel::USER);
        }
        matches
    }

    /// Asks all to end, and lets nobody else in.
    pub fn end_all(&self, reason: u32) {
        let mut table = locked(&self.table);
        table.closed = true;
        let peers: Vec<Arc<Peer>> = table.peers.values().cloned().collect();
        drop(table);
        for peer in peers {
            peer.end(reason);
        }
    }

    /// Lets nobody else in.
    pub fn close(&self) {
        locked(&self.table).closed = true;
    }
}

impl sql::Peers for Peers {
    fn wake(&self, pid: u32) {
        let Some(peer) = locked(&self.table).peers.get(&pid).cloned() else { return };
        if let Some(waker) = locked(&peer.waker).as_ref() {
            waker.wake_by_ref();
        }
    }

    fn signal(&self, pid: u32, reason: u32) -> bool {
        let Some(peer) = locked(&self.table).peers.get(&pid).cloned() else { return false };
        if reason == cancel::USER {
            peer.cancel(reason)
        } else {
            peer.end(reason)
        }
        true
    }
}

/// A session's place among the others; dropped, it is free again.
#[derive(Debug)]
pub struct Admitted {
    peers: Arc<Peers>,
    /// The session.
    pub peer: Arc<Peer>,
}

impl Admitted {
    /// Gives the session the secret that its client will be told.
    pub fn set_secret(&self, secret: &[u8]) {
        *locked(&self.peer.secret) = secret.to_vec();
    }
}

impl Drop for Admitted {
    fn drop(&mut self) {
        locked(&self.peers.table).peers.remove(&self.peer.pid);
    }
}

/// Logs that a session waits long for a lock, or has got it.
fn log_lock_wait(wait: &sql::LockWait) {
    let (message, detail) = sql::error::lock_wait_message(wait);
    match detail {
        Some(detail) => tracing::info!(detail, "{message}"),
        None => tracing::info!("{message}"),
    }
}

/// What a client is told that finds no place.
pub fn too_many_clients() -> SqlError {
    let state = sql::sqlstate::SqlState::TOO_MANY_CONNECTIONS;
    SqlError::new(state, "sorry, too many clients already").severity(sql::Severity::Fatal)
}
