//! LISTEN, NOTIFY and UNLISTEN (PostgreSQL 15 manual, the pages of these commands; `async.c`).
//!
//! What a transaction says of channels is kept until it commits, and a savepoint takes it back. Notifications go to the
//! listeners' inboxes within the commit, while the committing transaction still holds a lock that every other notifying
//! one waits for: they arrive in the order of the commits. A listener shows them between two transactions, and waits with
//! its answer until the commit that sent them is durable, as with everything that it has read; where that has written
//! nothing, it is not logged, and what it had seen itself has to be durable.
//!
//! Nothing of this is stored. An inbox is bounded: a NOTIFY that would overfill one fails before its commit.

use crate::error::{Result, SqlError};
use crate::sqlstate::SqlState;
use crate::types::Oid;
use std::collections::{BTreeSet, HashMap, HashSet, VecDeque};
use std::ops::Deref;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use txn::Lsn;
use txn::sync::{Mutex, lock};

/// The longest name of a channel, in bytes.
const CHANNEL_BYTES_MAX: usize = 63;
/// The longest payload, in bytes.
const PAYLOAD_BYTES_MAX: usize = 7999;
/// How many notifications one session may have waiting.
const INBOX_MAX: usize = 1 << 16;

/// What a listener is told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notification {
    /// The process number of the session that sent it.
    pub pid: u32,
    /// Its channel.
    pub channel: Arc<str>,
    /// Its payload.
    pub payload: Arc<str>,
}

/// What waits for one listener.
#[derive(Debug, Default)]
pub struct Inbox {
    /// Whether anything waits: asked for between transactions.
    filled: AtomicBool,
    waiting: Mutex<VecDeque<(Lsn, Notification)>>,
}

impl Inbox {
    /// Whether anything waits.
    #[must_use]
    pub fn is_filled(&self) -> bool {
        // Acquire: pairs with Release in `put`; the notification is there.
        self.filled.load(Ordering::Acquire)
    }

    fn put(&self, lsn: Lsn, notification: Notification) {
        lock(&self.waiting).push_back((lsn, notification));
        self.filled.store(true, Ordering::Release);
    }

    /// Takes everything out, with the newest commit among what is told.
    pub fn take(&self) -> (Lsn, Vec<Notification>) {
        let mut waiting = lock(&self.waiting);
        self.filled.store(false, Ordering::Relaxed);
        let newest = waiting.iter().map(|(lsn, _)| *lsn).max().unwrap_or(Lsn::ZERO);
        (newest, waiting.drain(..).map(|(_, notification)| notification).collect())
    }
}

/// Who listens to what, for all sessions.
#[derive(Debug, Default)]
pub struct Channels {
    listeners: Mutex<HashMap<u32, Listener>>,
}

#[derive(Debug)]
struct Listener {
    database: Oid,
    channels: BTreeSet<Arc<str>>,
    inbox: Arc<Inbox>,
}

/// What a transaction has said of channels.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Said {
    /// LISTEN.
    Listen(Arc<str>),
    /// UNLISTEN; none is `*`.
    Unlisten(Option<Arc<str>>),
    /// NOTIFY: channel, payload.
    Notify(Arc<str>, Arc<str>),
}

/// Checks what NOTIFY and `pg_notify` are given.
///
/// # Errors
/// 22023.
pub fn checked(channel: &str, payload: &str) -> Result<Said> {
    let invalid = |message: &str| Err(SqlError::new(SqlState::INVALID_PARAMETER_VALUE, message));
    if channel.is_empty() {
        return invalid("channel name cannot be empty");
    }
    if channel.len() > CHANNEL_BYTES_MAX {
        return invalid("channel name too long");
    }
    if payload.len() > PAYLOAD_BYTES_MAX {
        return invalid("payload string too long");
    }
    Ok(Said::Notify(channel.into(), payload.into()))
}

/// All that a transaction has said, in order; the same notification is sent once.
#[derive(Debug, Default)]
pub struct Sayings {
    all: Vec<Said>,
    notifications: HashSet<Said>,
}

impl Sayings {
    /// Keeps what is said.
    pub fn keep(&mut self, said: Said) {
        if !matches!(said, Said::Notify(..)) || self.notifications.insert(said.clone()) {
            self.all.push(said);
        }
    }

    /// Forgets all but the first `count`.
    pub fn truncate(&mut self, count: usize) {
        for said in self.all.drain(count.min(self.all.len())..) {
            self.notifications.remove(&said);
        }
    }
}

impl Deref for Sayings {
    type Target = [Said];

    fn deref(&self) -> &[Said] {
        &self.all
    }
}

impl Channels {
    /// 54000 where a listener's inbox has no room for what is about to be sent.
    ///
    /// # Errors
    /// That.
    pub fn demand_room(&self, said: &[Said]) -> Result<()> {
        let count = said.iter().filter(|one| matches!(one, Said::Notify(..))).count();
        let listeners = lock(&self.listeners);
        let full = listeners.values().any(|one| lock(&one.inbox.waiting).len() + count > INBOX_MAX);
        if full {
            return Err(SqlError::new(
                SqlState::PROGRAM_LIMIT_EXCEEDED,
                "too many notifications in the NOTIFY queue",
            ));
        }
        Ok(())
    }

    /// Does what a transaction of session `pid` has said, which has committed at `lsn`; gives the sessions to be woken.
    pub fn apply(&self, (pid, database): (u32, Oid), said: &[Said], lsn: Lsn) -> Vec<u32> {
        let mut listeners = lock(&self.listeners);
        for one in said {
            match one {
                Said::Listen(channel) => {
                    let own = listeners.entry(pid).or_insert_with(|| Listener {
                        database,
                        channels: BTreeSet::new(),
                        inbox: Arc::default(),
                    });
                    own.channels.insert(Arc::clone(channel));
                }
                Said::Unlisten(Some(channel)) => {
                    if let Some(own) = listeners.get_mut(&pid) {
                        own.channels.remove(channel);
                    }
                }
                Said::Unlisten(None) => {
                    if let Some(own) = listeners.get_mut(&pid) {
                        own.channels.clear();
                    }
                }
                Said::Notify(..) => {}
            }
        }
        let mut woken = Vec::new();
        for one in said {
            let Said::Notify(channel, payload) = one else { continue };
            let hears = |one: &Listener| one.database == database && one.channels.contains(channel);
            for (listener, found) in listeners.iter().filter(|(_, one)| hears(one)) {
                let (channel, payload) = (Arc::clone(channel), Arc::clone(payload));
                found.inbox.put(lsn, Notification { pid, channel, payload });
                if *listener != pid && !woken.contains(listener) {
                    woken.push(*listener);
                }
            }
        }
        woken
    }

    /// The inbox of a session that listens.
    #[must_use]
    pub fn inbox(&self, pid: u32) -> Option<Arc<Inbox>> {
        lock(&self.listeners).get(&pid).map(|own| Arc::clone(&own.inbox))
    }

    /// What a session listens to.
    #[must_use]
    pub fn of(&self, pid: u32) -> Vec<Arc<str>> {
        let listeners = lock(&self.listeners);
        listeners.get(&pid).map_or_else(Vec::new, |own| own.channels.iter().cloned().collect())
    }

    /// The session has ended.
    pub fn forget(&self, pid: u32) {
        lock(&self.listeners).remove(&pid);
    }

    /// How full the fullest inbox is, between 0 and 1: `pg_notification_queue_usage`.
    #[must_use]
    pub fn usage(&self) -> f64 {
        let listeners = lock(&self.listeners);
        let most = listeners.values().map(|one| lock(&one.inbox.waiting).len()).max().unwrap_or(0);
        most as f64 / INBOX_MAX as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_listeners_of_the_database_hear_and_in_order() {
        let channels = Channels::default();
        let (here, there) = (Oid(1), Oid(2));
        let listen = [Said::Listen("c".into())];
        assert!(channels.apply((1, here), &listen, Lsn(1)).is_empty());
        assert!(channels.apply((2, there), &listen, Lsn(2)).is_empty());
        let said = [checked("c", "one").unwrap(), checked("d", "").unwrap()];
        assert_eq!(channels.apply((3, here), &said, Lsn(3)), [1]);
        assert_eq!(channels.apply((4, here), &[checked("c", "two").unwrap()], Lsn(4)), [1]);
        let (newest, told) = channels.inbox(1).unwrap().take();
        assert_eq!(newest, Lsn(4));
        let told: Vec<(u32, &str)> = told.iter().map(|one| (one.pid, &*one.payload)).collect();
        assert_eq!(told, [(3, "one"), (4, "two")]);
        assert!(!channels.inbox(1).unwrap().is_filled() && !channels.inbox(2).unwrap().is_filled());
        channels.apply((1, here), &[Said::Unlisten(None)], Lsn(5));
        assert!(channels.apply((3, here), &said, Lsn(6)).is_empty());
    }

    #[test]
    fn a_full_inbox_refuses_more() {
        let channels = Channels::default();
        channels.apply((1, Oid(1)), &[Said::Listen("c".into())], Lsn(1));
        let one = checked("c", "").unwrap();
        channels.apply((2, Oid(1)), &vec![one.clone(); INBOX_MAX], Lsn(2));
        assert!(channels.demand_room(std::slice::from_ref(&one)).is_err());
        channels.inbox(1).unwrap().take();
        assert!(channels.demand_room(&[one]).is_ok());
    }
}
