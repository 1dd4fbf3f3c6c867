//! What others see of a session: the facts behind its row of `pg_stat_activity`.
//!
//! The session writes them as it goes, and anybody may read them. State and times are plain numbers, each stored without
//! a locked instruction. Texts stand in buffers of the session's own that are written over; nobody but a reader of the
//! view ever meets the session at their lock. So a statement costs a copy of its text, up to
//! `track_activity_query_size`, and no allocation once the buffer has grown to that.
//!
//! A reader may see a statement's text beside the state of the one before it, for as long as it takes to write both.

use crate::breakdown::SpentCell;
use crate::exec::temp_file::TempUse;
use crate::message::TransactionStatus;
use crate::progress::ProgressCells;
use crate::system::{Activity, Encryption, SessionTimes};
use crate::types::Oid;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU8, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use txn::{PagesUsed, SessionWait, WaitEvent};

/// What a session is doing, in the words of the view, by number.
const STATES: [&str; 6] = [
    "idle",
    "active",
    "idle in transaction",
    "idle in transaction (aborted)",
    "disabled",
    "disabled",
];
const IDLE: u8 = 0;
const ACTIVE: u8 = 1;
const IN_TRANSACTION: u8 = 2;
const ABORTED: u8 = 3;
const HIDDEN_IDLE: u8 = 4;
const HIDDEN_ACTIVE: u8 = 5;

/// A time that has not come.
const NEVER: i64 = i64::MIN;

/// One session, as others see it.
#[derive(Debug)]
pub(crate) struct SessionActivity {
    /// `backend_type`.
    kind: &'static str,
    /// Its database.
    pub database: Oid,
    /// Who opened it.
    pub user: Oid,
    /// The connection's two ends: the client's address and the server's.
    client: Option<SocketAddr>,
    server: Option<SocketAddr>,
    encryption: Option<Encryption>,
    backend_start: i64,
    /// The longest text that is shown, in bytes.
    query_bytes: usize,
    wait: Arc<SessionWait>,
    state: AtomicU8,
    transaction_start: AtomicI64,
    query_start: AtomicI64,
    state_change: AtomicI64,
    /// The number of its transaction; 0 for none.
    xact_id: AtomicU64,
    /// The number of its statement; 0 for none.
    statement: AtomicI64,
    /// How far it has come with a command that tells.
    pub progress: ProgressCells,
    /// How long it has worked, and waited within transactions for its client, in microseconds.
    active_us: AtomicI64,
    idle_us: AtomicI64,
    /// Pages that its statements have found in memory, and read from disk.
    pages_hit: AtomicU64,
    pages_read: AtomicU64,
    read_us: AtomicU64,
    written_us: AtomicU64,
    /// Its temporary files.
    pub temp_used: TempUse,
    /// Where its time has gone, as far as that was measured.
    pub spent: SpentCell,
    /// Relations of the catalog that its transaction has read, and whether there are any.
    catalogs: Mutex<Vec<Oid>>,
    has_catalogs: AtomicBool,
    texts: Mutex<Texts>,
}

#[derive(Debug, Default)]
struct Texts {
    application_name: String,
    query: String,
}

impl SessionActivity {
    /// Of a session that begins now, at `backend_start`. `query_size` is `track_activity_query_size`, which counts a
    /// terminator.
    pub fn new(
        kind: &'static str,
        (database, user): (Oid, Oid),
        (client, server, encryption): (Option<SocketAddr>, Option<SocketAddr>, Option<Encryption>),
        backend_start: i64,
        query_size: i64,
        wait: &Arc<SessionWait>,
    ) -> SessionActivity {
        SessionActivity {
            kind,
            database,
            user,
            client,
            server,
            encryption,
            backend_start,
            query_bytes: usize::try_from(query_size).unwrap_or(0).saturating_sub(1),
            wait: Arc::clone(wait),
            state: AtomicU8::new(IDLE),
            transaction_start: AtomicI64::new(NEVER),
            query_start: AtomicI64::new(NEVER),
            state_change: AtomicI64::new(backend_start),
            xact_id: AtomicU64::new(0),
            statement: AtomicI64::new(0),
            progress: ProgressCells::default(),
            active_us: AtomicI64::new(0),
            idle_us: AtomicI64::new(0),
            pages_hit: AtomicU64::new(0),
            pages_read: AtomicU64::new(0),
            read_us: AtomicU64::new(0),
            written_us: AtomicU64::new(0),
            temp_used: TempUse::default(),
            spent: SpentCell::default(),
            catalogs: Mutex::default(),
            has_catalogs: AtomicBool::new(false),
            texts: Mutex::default(),
        }
    }

    fn texts(&self) -> MutexGuard<'_, Texts> {
        self.texts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A statement begins, or goes on, at `now`.
    pub fn runs(&self, now: i64) {
        if matches!(self.state.load(Relaxed), IN_TRANSACTION | ABORTED) {
            self.pass(&self.idle_us, now);
        }
        self.query_start.store(now, Relaxed);
        self.state_change.store(now, Relaxed);
        self.state.store(ACTIVE, Relaxed);
    }

    /// The statement that runs; whether its text is shown whole.
    pub fn says(&self, text: &str) -> bool {
        let shown = &text[..text.floor_char_boundary(self.query_bytes)];
        let query = &mut self.texts().query;
        query.clear();
        query.push_str(shown);
        shown.len() == text.len()
    }

    /// The number of the statement that runs, if statements have numbers.
    pub fn is_numbered_statement(&self, number: i64) {
        self.statement.store(number, Relaxed);
    }

    /// That number.
    pub fn statement_number(&self) -> i64 {
        self.statement.load(Relaxed)
    }

    /// The text that is shown.
    pub fn query(&self) -> String {
        self.texts().query.clone()
    }

    /// Nothing runs any more, at `now`.
    pub fn rests(&self, now: i64, status: TransactionStatus) {
        if self.state.load(Relaxed) == ACTIVE {
            self.pass(&self.active_us, now);
        }
        self.progress.end();
        self.state_change.store(now, Relaxed);
        let state = match status {
            TransactionStatus::Idle => IDLE,
            TransactionStatus::InTransaction => IN_TRANSACTION,
            TransactionStatus::Failed => ABORTED,
        };
        self.state.store(state, Relaxed);
    }

    /// The time since its state changed last is added to one of its sums, which nobody else writes.
    fn pass(&self, sum: &AtomicI64, now: i64) {
        let passed = now.saturating_sub(self.state_change.load(Relaxed)).max(0);
        sum.store(sum.load(Relaxed) + passed, Relaxed);
    }

    /// Its statement has used so many pages.
    #[inline]
    pub fn used(&self, used: PagesUsed) {
        if used != PagesUsed::default() {
            self.add_used(used);
        }
    }

    fn add_used(&self, used: PagesUsed) {
        let add = |sum: &AtomicU64, more: u64| {
            if more > 0 {
                sum.store(sum.load(Relaxed).wrapping_add(more), Relaxed);
            }
        };
        add(&self.pages_hit, used.hit);
        add(&self.pages_read, used.read);
        add(&self.read_us, used.read_us);
        add(&self.written_us, used.written_us);
    }

    /// Its transaction reads a relation of the catalog.
    pub fn reads_catalog(&self, relation: Oid) {
        let mut catalogs = self.catalogs.lock().unwrap_or_else(PoisonError::into_inner);
        if !catalogs.contains(&relation) {
            catalogs.push(relation);
        }
        self.has_catalogs.store(true, Relaxed);
    }

    /// What it has come to by `now`, as its database counts sessions.
    pub fn times(&self, now: i64) -> SessionTimes {
        let (temp_files, temp_bytes) = self.temp_used.ended();
        SessionTimes {
            temp_files,
            temp_bytes,
            sessions: 1,
            session_us: now.saturating_sub(self.backend_start).max(0),
            active_us: self.active_us.load(Relaxed),
            idle_us: self.idle_us.load(Relaxed),
            pages_hit: self.pages_hit.load(Relaxed),
            pages_read: self.pages_read.load(Relaxed),
            read_us: self.read_us.load(Relaxed),
            written_us: self.written_us.load(Relaxed),
        }
    }

    /// `track_activities` is off: nothing is told but whether it waits for its client.
    pub fn hides(&self, resting: bool) {
        let state = if resting { HIDDEN_IDLE } else { HIDDEN_ACTIVE };
        if self.state.swap(state, Relaxed) < HIDDEN_IDLE {
            self.query_start.store(NEVER, Relaxed);
            self.state_change.store(NEVER, Relaxed);
            self.texts().query.clear();
        }
    }

    /// A transaction has begun at `now`.
    pub fn transaction_begins(&self, now: i64) {
        self.transaction_start.store(now, Relaxed);
    }

    /// The transaction has ended.
    pub fn transaction_ends(&self) {
        self.transaction_start.store(NEVER, Relaxed);
        self.xact_id.store(0, Relaxed);
        if self.has_catalogs.load(Relaxed) {
            self.has_catalogs.store(false, Relaxed);
            self.catalogs.lock().unwrap_or_else(PoisonError::into_inner).clear();
        }
    }

    /// The transaction has got a number.
    pub fn is_numbered(&self, number: u64) {
        self.xact_id.store(number, Relaxed);
    }

    /// The name that the client gives itself.
    pub fn set_application_name(&self, name: &str) {
        let known = &mut self.texts().application_name;
        known.clear();
        known.push_str(name);
    }

    /// The row of the view.
    pub fn row(&self) -> Activity {
        let time = |at: &AtomicI64| Some(at.load(Relaxed)).filter(|at| *at != NEVER);
        let state = self.state.load(Relaxed);
        let waits = match self.wait.event.load(Relaxed) {
            0 if matches!(state, ACTIVE | HIDDEN_ACTIVE) => None,
            0 => Some(("Client", "ClientRead")),
            event => Some(wait_names(event)),
        };
        let hidden = state >= HIDDEN_IDLE;
        let texts = self.texts();
        Activity {
            pid: self.wait.pid,
            database: self.database,
            user: self.user,
            application_name: texts.application_name.clone(),
            client_address: self.client.map(|client| client.ip()),
            client_port: self.client.map_or(-1, |client| i32::from(client.port())),
            server: self.server,
            encryption: self.encryption.clone(),
            backend_start: self.backend_start,
            transaction_start: time(&self.transaction_start).filter(|_| !hidden),
            query_start: time(&self.query_start),
            state_change: time(&self.state_change),
            wait: waits,
            kind: self.kind,
            state: STATES[usize::from(state)],
            query: texts.query.clone(),
            xact_id: Some(self.xact_id.load(Relaxed)).filter(|number| *number != 0),
            statement: self.statement.load(Relaxed),
            progress: self.progress.read(),
            catalogs: match self.has_catalogs.load(Relaxed) {
                true => self.catalogs.lock().unwrap_or_else(PoisonError::into_inner).clone(),
                false => Vec::new(),
            },
        }
    }
}

/// `wait_event_type` and `wait_event` of a [`WaitEvent`], by its number: PostgreSQL's names where it has the wait.
fn wait_names(event: u32) -> (&'static str, &'static str) {
    const NAMES: [(WaitEvent, &str, &str); 21] = [
        (WaitEvent::Tuple, "Lock", "tuple"),
        (WaitEvent::Relation, "Lock", "relation"),
        (WaitEvent::TransactionId, "Lock", "virtualxid"),
        (WaitEvent::Advisory, "Lock", "advisory"),
        (WaitEvent::Partition, "Lock", "partition"),
        (WaitEvent::WalSync, "IO", "WALSync"),
        (WaitEvent::WalBuffer, "LWLock", "WALBufMapping"),
        (WaitEvent::WalSpace, "IPC", "CheckpointDone"),
        (WaitEvent::BufferIo, "IPC", "BufferIO"),
        (WaitEvent::BufferFree, "IPC", "BufferFree"),
        (WaitEvent::Watermark, "IPC", "VisibleWatermark"),
        (WaitEvent::StructurePermit, "LWLock", "StructurePermit"),
        (WaitEvent::CommitSlot, "IPC", "CommitSlot"),
        (WaitEvent::CommitRoom, "IPC", "CommitRoom"),
        (WaitEvent::TreeInUse, "IPC", "TreeInUse"),
        (WaitEvent::VersionSpace, "IPC", "VersionSpace"),
        (WaitEvent::Background, "Activity", "Background"),
        (WaitEvent::Sleep, "Timeout", "PgSleep"),
        (WaitEvent::Termination, "IPC", "BackendTermination"),
        (WaitEvent::SafeSnapshot, "IPC", "SafeSnapshot"),
        (WaitEvent::Backup, "IPC", "BackupWaitWalArchive"),
    ];
    let found = NAMES.iter().find(|(known, ..)| *known as u32 == event);
    found.map_or(("Extension", "Extension"), |(_, kind, name)| (*kind, *name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::system::CLIENT;

    fn session() -> SessionActivity {
        let wait = Arc::new(SessionWait::new(7));
        let client = Some(([127, 0, 0, 1], 5000).into());
        SessionActivity::new(CLIENT, (Oid(5), Oid(10)), (client, None, None), 100, 8, &wait)
    }

    #[test]
    fn a_row_tells_what_the_session_last_did() {
        let session = session();
        let row = session.row();
        assert_eq!((row.state, row.query_start, row.state_change), ("idle", None, Some(100)));
        let client = (row.client_address.map(|ip| ip.to_string()), row.client_port);
        assert_eq!(client, (Some("127.0.0.1".to_owned()), 5000));
        session.runs(200);
        session.says("select 1");
        session.transaction_begins(200);
        session.wait.event.store(WaitEvent::Tuple as u32, Relaxed);
        let row = session.row();
        assert_eq!((row.state, row.query.as_str()), ("active", "select "));
        assert_eq!((row.query_start, row.transaction_start), (Some(200), Some(200)));
        assert_eq!(row.wait, Some(("Lock", "tuple")));
        session.wait.event.store(0, Relaxed);
        session.rests(300, TransactionStatus::InTransaction);
        session.transaction_ends();
        let row = session.row();
        assert_eq!((row.state, row.query.as_str()), ("idle in transaction", "select "));
        assert_eq!((row.state_change, row.transaction_start), (Some(300), None));
        assert_eq!(row.wait, Some(("Client", "ClientRead")));
    }

    #[test]
    fn a_text_is_cut_between_characters_and_hidden_when_nothing_is_told() {
        let session = session();
        session.runs(200);
        session.says("123456ü");
        assert_eq!(session.row().query, "123456");
        session.hides(false);
        let row = session.row();
        assert_eq!((row.state, row.query.as_str(), row.query_start), ("disabled", "", None));
        assert_eq!(row.wait, None);
    }
}
