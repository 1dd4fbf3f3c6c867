//! Prepared transactions: the first half of two-phase commit, kept until somebody says how it ends (PREPARE TRANSACTION).
//!
//! Paper: Mohan, Lindsay and Obermarck, *Transaction Management in the R\* Distributed Database Management System*, 1986.
//!
//! A prepared transaction has one record in the log: its writes, whole, every lock it holds, advisory ones too, what it has read
//! under SERIALIZABLE as SIREAD locks (under `occ` as SHARE locks on tables), that it stands under two-phase locking, and which trees it has built. In memory its locks stay where they are, held
//! by its owner. A restart reads the record and takes the locks again before anybody else can ask for them. The trees live
//! through the restart if the layer above, which finds them in its note, says so to `Manager::open`.
//!
//! Until it is resolved the record is needed, so the redo point stays at or below it. It must not hold the log for that: a
//! checkpoint that finds a record older than the last redo point logs it anew, and only the newest copy counts. Copies
//! are claimed under the list's latch and never of one that is being resolved, so none follows its resolution.
//!
//! COMMIT PREPARED is a commit like any other, whole, and names what it resolves in the same record. ROLLBACK PREPARED, and
//! the commit of what wrote nothing, is a record of its own.

use crate::lock::RowRequest;
use crate::lock::advisory::AdvisoryKey;
use crate::lock::range::{Asking, RangeMode, Span};
use crate::log::{self, Header, Reader};
use crate::manager::Manager;
use crate::scheme::Tracking;
use crate::scheme::locking::{Locks, OnConflict};
use crate::scheme::ssi::Part;
use crate::sync::{Arc, lock};
use crate::transaction::state::State;
use crate::wait::SessionWait;
use crate::{
    Begin, CommandId, Ended, Error, Lsn, Result, TableId, TableLock, Transaction, TreeId, TxnId,
    WaitPolicy,
};
use std::collections::{BTreeMap, HashMap};
use storage::{Cancel, Change, SpaceClass};

/// Why a transaction cannot be prepared.
const TOO_LARGE: &str =
    "The writes and locks of a prepared transaction exceed half of wal_buffers.";
/// What a lock in a record stands on.
const TABLE: u8 = 1;
const ROW: u8 = 2;
const NAME: u8 = 3;
/// What stands among the locks: a tree that the commit gives its birth.
const BUILT: u8 = 4;
/// It is serializable.
const SERIALIZABLE: u8 = 5;
/// What it has read.
const SIREAD: u8 = 6;
/// It has locked what it has written, under two-phase locking, and which kind of that.
const LOCKING: u8 = 7;

/// What clients are told of a prepared transaction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PreparedInfo {
    /// Its number.
    pub txn: TxnId,
    /// Its name.
    pub name: Vec<u8>,
    /// What the layer above keeps with it.
    pub note: Vec<u8>,
    /// When it was prepared, in microseconds since 2000-01-01.
    pub wall: i64,
}

/// Why a name cannot be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refused {
    /// Somebody has it.
    InUse,
    /// There are as many as there may be.
    TooMany,
    /// There is none.
    Unknown,
    /// Somebody else is resolving it.
    Busy,
}

/// One prepared transaction.
#[derive(Debug)]
pub(crate) struct Prepared {
    txn: TxnId,
    note: Vec<u8>,
    wall: i64,
    /// Its newest record.
    lsn: Lsn,
    /// That record.
    payload: Vec<u8>,
    /// Its locks and writes; none while it is being prepared or resolved.
    state: Option<Box<State>>,
    /// Its place among the serializable ones.
    tracking: Option<Box<Tracking>>,
}

/// All of them, by name.
pub(crate) type PreparedList = BTreeMap<Vec<u8>, Prepared>;

/// A record that recovery has met.
pub(crate) struct Found {
    lsn: Lsn,
    payload: Vec<u8>,
}

/// Those that recovery has met and not seen resolved, by transaction.
pub(crate) type FoundList = HashMap<u64, Found>;

fn named(name: &[u8], note: &[u8]) -> Vec<u8> {
    [&(name.len() as u32).to_le_bytes()[..], name, note].concat()
}

fn parse_name(bytes: &[u8]) -> Option<(Vec<u8>, Vec<u8>)> {
    let (length, rest) = bytes.split_first_chunk::<4>()?;
    let (name, note) = rest.split_at_checked(u32::from_le_bytes(*length) as usize)?;
    Some((name.to_vec(), note.to_vec()))
}

fn corrupt(what: &str) -> Error {
    storage::Error::CorruptLog(format!("a prepared transaction: {what}")).into()
}

/// Every lock of a transaction and every tree that it has built, as its record has them.
fn encode_held(state: &State) -> Vec<Vec<u8>> {
    let mut tables: BTreeMap<TableId, u8> = BTreeMap::new();
    for held in &state.tables {
        *tables.entry(held.table).or_default() |= held.after;
    }
    let tables = tables
        .into_iter()
        .map(|(table, modes)| [&[TABLE, modes][..], &table.0.to_le_bytes()].concat());
    let rows = state.rows.iter().map(|held| {
        let modes = held.node.state().lock.held(state.owner);
        [&[ROW, modes][..], &held.node.tree().0.to_le_bytes(), held.node.key()].concat()
    });
    let names = state.names.iter().map(|held| {
        [&[NAME, held.mode.bit()][..], &held.node.tree().0.to_le_bytes(), held.node.key()].concat()
    });
    let built =
        state.built.iter().map(|(_, tree)| [&[BUILT, 0][..], &tree.id().0.to_le_bytes()].concat());
    tables.chain(rows).chain(names).chain(built).collect()
}

/// What a transaction has read, as its record has it.
fn encode_reads(manager: &Manager, tracking: Option<&Tracking>) -> Vec<Vec<u8>> {
    if let Some(Tracking::Locking(locks)) = tracking {
        let kind = OnConflict::ALL.iter().position(|kind| *kind == locks.on_conflict);
        return vec![[&[LOCKING, kind.unwrap_or_default() as u8][..], &[0; 8]].concat()];
    }
    let Some(Tracking::Ssi(part)) = tracking else { return Vec::new() };
    let Some(reads) = part.encode(&manager.ssi) else { return Vec::new() };
    let serializable = [&[SERIALIZABLE, 0][..], &[0; 8]].concat();
    let reads = reads.iter().map(|read| [&[SIREAD, 0][..], read].concat());
    std::iter::once(serializable).chain(reads).collect()
}

impl Found {
    pub(crate) fn new(lsn: Lsn, payload: &[u8]) -> Found {
        Found { lsn, payload: payload.to_vec() }
    }
}

impl Transaction {
    /// Prepares: everything that could fail a commit is done, and what is left is kept under `name`, through restarts,
    /// until it is resolved. At most `limit` may be kept. `note` is the layer above's.
    ///
    /// # Errors
    /// Those of [`Transaction::commit`]: the transaction has then rolled back. The inner error says why the name cannot
    /// be used; it has rolled back then, too.
    pub fn prepare(
        mut self,
        (name, note): (&[u8], &[u8]),
        limit: usize,
    ) -> Result<std::result::Result<Ended, Refused>> {
        if let Err(refused) = self.take_name(name, note, limit) {
            let _ = self.rollback();
            return Ok(Err(refused));
        }
        match self.log_prepared(name, note) {
            Ok(lsn) => {
                let state = self.state.take().expect("the transaction has not ended");
                let mut tracking = self.tracking.take().filter(|tracking| tracking.occ().is_none());
                match tracking.as_deref_mut() {
                    Some(Tracking::Ssi(part)) => part.leaves_session(&self.manager.ssi),
                    Some(Tracking::Locking(locks)) => {
                        self.manager.locks.release_shared(state.owner, &mut locks.held);
                    }
                    Some(Tracking::Occ(_) | Tracking::Stamped(_) | Tracking::Partitioned(_))
                    | None => {}
                }
                let owner = self.manager.locks.owners.get(state.owner);
                owner.serve(0, 0);
                if let Some(snapshot) = owner.snapshot() {
                    owner.withdraw();
                    self.manager.snapshot_ended(snapshot);
                }
                let mut list = lock(&self.manager.prepared);
                let prepared = list.get_mut(name).expect("the name is ours");
                (prepared.state, prepared.tracking) = (Some(state), tracking);
                Ok(Ok(Ended { wait_for: self.seen.max(lsn), committed: None }))
            }
            Err(error) => {
                lock(&self.manager.prepared).remove(name);
                self.abandon(&error);
                Err(error)
            }
        }
    }

    fn take_name(
        &mut self,
        name: &[u8],
        note: &[u8],
        limit: usize,
    ) -> std::result::Result<(), Refused> {
        let mut list = lock(&self.manager.prepared);
        if list.contains_key(name) {
            return Err(Refused::InUse);
        }
        if list.len() >= limit {
            return Err(Refused::TooMany);
        }
        let wall = self.manager.env.clock.wall();
        let (txn, note) = (self.id(), note.to_vec());
        let (lsn, payload) = (Lsn::MAX, Vec::new());
        let (state, tracking) = (None, None);
        list.insert(name.to_vec(), Prepared { txn, note, wall, lsn, payload, state, tracking });
        Ok(())
    }

    /// Logs the writes and locks. What was read is locked first.
    fn log_prepared(&mut self, name: &[u8], note: &[u8]) -> Result<Lsn> {
        self.check_commit(true)?;
        self.freeze_reads()?;
        let (txn, manager) = (self.id(), &*self.manager);
        let state = self.state.as_mut().expect("the transaction has not ended");
        let wall = lock(&manager.prepared).get(name).map_or(0, |prepared| prepared.wall);
        let header = Header {
            txn: txn.0,
            wall,
            name: Some(named(name, note)),
            locks: [encode_held(state), encode_reads(manager, self.tracking.as_deref())].concat(),
            ..Header::default()
        };
        let State { writes, record, lock_runs, .. } = &mut **state;
        if writes.is_spilled() || !lock_runs.is_empty() {
            return Err(Error::OutOfMemory(TOO_LARGE));
        }
        record.begin(&header);
        writes.arrange();
        for write in writes.iter() {
            record.write(write.tree, write.key, write.value.map_or(Change::Delete, Change::Put));
        }
        let payload = record.payload().to_vec();
        if payload.len() > manager.data.log().payload_bytes_max() {
            return Err(Error::OutOfMemory(TOO_LARGE));
        }
        manager.log_named(name, payload)
    }
}

impl Manager {
    /// Logs a prepared transaction's record, a copy or the first. The space is set aside before the list is locked, where
    /// nothing waits; the redo point follows from the list.
    fn log_named(&self, name: &[u8], payload: Vec<u8>) -> Result<Lsn> {
        let log = self.data.log();
        let mut space = log.reserve(SpaceClass::Commit, 1, payload.len() as u64)?;
        let mut list = lock(&self.prepared);
        let prepared = list.get_mut(name).expect("who logs it has taken its name");
        let claim = log.claim(&mut space, payload.len());
        let lsn = claim.publish(log::PREPARE, &payload);
        prepared.lsn = lsn;
        prepared.payload = payload;
        drop(list);
        Ok(lsn)
    }

    /// Logs anew what would hold the log back: records older than `before`. What cannot be logged now holds it on.
    pub(crate) fn log_prepared_anew(&self, before: Lsn) {
        let old: Vec<(Vec<u8>, usize)> = lock(&self.prepared)
            .iter()
            .filter(|(_, prepared)| prepared.state.is_some() && prepared.lsn < before)
            .map(|(name, prepared)| (name.clone(), prepared.payload.len()))
            .collect();
        let (log, never) = (self.data.log(), Cancel::default());
        self.env.raise(&never, 1);
        for (name, bytes) in old {
            // A checkpoint must not wait for space, which only it can make.
            let space = log.reserve_unless(SpaceClass::System, 1, bytes as u64, Some(&never));
            let Ok(mut space) = space else { return };
            // No slot either: commits that wait for space may have them all. Whoever computes a redo point finds this copy's
            // place, or the last one's.
            let mut list = lock(&self.prepared);
            // Being resolved, or resolved, it must not appear again.
            if let Some(prepared) = list.get_mut(&name)
                && prepared.state.is_some()
                && prepared.payload.len() == bytes
            {
                let claim = log.claim(&mut space, bytes);
                prepared.lsn = claim.publish(log::PREPARE, &prepared.payload);
            }
            drop(list);
        }
    }

    /// The lowest record that a prepared transaction needs.
    pub(crate) fn prepared_floor(&self) -> Option<Lsn> {
        lock(&self.prepared).values().map(|prepared| prepared.lsn).min()
    }

    /// Every prepared transaction.
    #[must_use]
    pub fn prepared(&self) -> Vec<PreparedInfo> {
        let list = lock(&self.prepared);
        let ready = list.iter().filter(|(_, prepared)| prepared.lsn != Lsn::MAX);
        ready
            .map(|(name, prepared)| PreparedInfo {
                txn: prepared.txn,
                name: name.clone(),
                note: prepared.note.clone(),
                wall: prepared.wall,
            })
            .collect()
    }

    /// The greatest key that prepared transactions have written to each tree: what counts its keys goes on behind it. Those
    /// that are being resolved are left out; after a start none is.
    #[must_use]
    pub fn prepared_last_keys(&self) -> HashMap<TreeId, Vec<u8>> {
        let mut last: HashMap<TreeId, Vec<u8>> = HashMap::new();
        for state in lock(&self.prepared).values().filter_map(|prepared| prepared.state.as_ref()) {
            for write in state.writes.iter() {
                let known = last.entry(write.tree).or_default();
                if write.key > &**known {
                    write.key.clone_into(known);
                }
            }
        }
        last
    }

    /// Commits a prepared transaction, or rolls it back, for the session that waits as `wait`. `before_release` is called
    /// with a commit's LSN before its locks go, as [`Transaction::commit`] does.
    ///
    /// # Errors
    /// Storage's: it is then as it was. The inner error says why it cannot be resolved.
    pub fn resolve(
        self: &Arc<Self>,
        info: &PreparedInfo,
        commits: bool,
        wait: &Arc<SessionWait>,
        before_release: &mut dyn FnMut(Lsn),
    ) -> Result<std::result::Result<Ended, Refused>> {
        let PreparedInfo { txn, ref name, .. } = *info;
        let (state, tracking, payload) = {
            let mut list = lock(&self.prepared);
            // Another may have its name since.
            let found = list.get_mut(name).filter(|prepared| prepared.txn == txn);
            let Some(prepared) = found else { return Ok(Err(Refused::Unknown)) };
            let Some(state) = prepared.state.take() else { return Ok(Err(Refused::Busy)) };
            (state, prepared.tracking.take(), prepared.payload.clone())
        };
        // What ends it names it; the note has been of use before.
        let ended = named(name, &[]);
        let begin = Begin::default();
        let mut transaction =
            Transaction::new(Arc::clone(self), txn, begin, Arc::clone(wait), state);
        transaction.tracking = tracking;
        let logged = if commits && transaction.has_writes() {
            let number = self.xact_ids().of_prepared(name);
            let header = &mut transaction.state_mut().header;
            (header.name, header.number) = (Some(ended), number);
            let logged = transaction.commit_writes(before_release);
            if let Some(state) = &mut transaction.state {
                (state.header.name, state.header.number) = (None, None);
            }
            logged
        } else {
            self.log_resolved(txn, ended).inspect(|lsn| {
                if commits {
                    before_release(*lsn);
                    transaction.note_committed();
                }
                transaction.finish();
            })
        };
        match logged {
            Ok(lsn) => {
                lock(&self.prepared).remove(name);
                Ok(Ok(Ended { wait_for: lsn, committed: commits.then_some(lsn) }))
            }
            Err(error) => {
                // Its writes may have gone to where others could see them: they are read from the record again.
                if let Some(mut state) = transaction.state.take() {
                    state.writes.clear();
                    state.header.name = None;
                    read_writes(&mut state, &payload)?;
                    if let Some(prepared) = lock(&self.prepared).get_mut(name) {
                        prepared.state = Some(state);
                        prepared.tracking = transaction.tracking.take();
                    }
                }
                Err(error)
            }
        }
    }

    fn log_resolved(&self, txn: TxnId, name: Vec<u8>) -> Result<Lsn> {
        let header = Header {
            txn: txn.0,
            wall: self.env.clock.wall(),
            name: Some(name),
            ..Header::default()
        };
        let mut record = log::Writer::default();
        record.begin(&header);
        let (log, bytes) = (self.data.log(), record.payload().len());
        let mut space = log.reserve(SpaceClass::System, 1, bytes as u64)?;
        let claim = log.claim(&mut space, bytes);
        Ok(claim.publish(log::RESOLVE, record.payload()))
    }

    /// Takes the locks of those that recovery has found again: before anybody else can ask for any.
    pub(crate) fn restore_prepared(self: &Arc<Self>, found: FoundList) -> Result<()> {
        for Found { lsn, payload } in found.into_values() {
            let (header, _) = Reader::new(&payload)?;
            let name = header.name.as_deref().and_then(parse_name);
            let (name, note) = name.ok_or_else(|| corrupt("without a name"))?;
            let wait = Arc::new(SessionWait::new(0));
            let mut transaction = self.begin(Begin::default(), &wait);
            let (mut part, mut locking) = (None, None);
            for lock in &header.locks {
                match (lock.split_first_chunk::<2>(), &mut part) {
                    (Some(([SERIALIZABLE, _], _)), _) => {
                        part = Some(Part::restore(&self.ssi, TxnId(header.txn), lsn));
                    }
                    (Some(([SIREAD, _], read)), Some(part)) => {
                        let known = part.read_again(&self.ssi, read);
                        known.ok_or_else(|| corrupt("what it has read makes no sense"))?;
                    }
                    (Some(([LOCKING, kind], _)), _) => {
                        let known = OnConflict::ALL.get(*kind as usize);
                        locking = Some(*known.ok_or_else(|| corrupt("of an unknown scheme"))?);
                    }
                    _ => transaction.take_again(lock)?,
                }
            }
            let mut state = transaction.state.take().expect("the transaction has not ended");
            read_writes(&mut state, &payload)?;
            let txn = TxnId(header.txn);
            self.locks.owners.get(state.owner).start(txn, (0, 0), self.env.clock.now().0);
            if let Some(part) = &mut part {
                let writes = state.writes.iter();
                writes.for_each(|write| part.wrote_again(&self.ssi, write.tree, write.key));
            }
            let locked = locking.map(|kind| self.lock_written(&state, kind, &wait)).transpose()?;
            let tracking = part.map(Tracking::Ssi).or(locked.map(Tracking::Locking)).map(Box::new);
            let state = Some(state);
            let prepared = Prepared { txn, note, wall: header.wall, lsn, payload, state, tracking };
            lock(&self.prepared).insert(name, prepared);
        }
        Ok(())
    }
}

impl Manager {
    /// Locks again what a prepared transaction has written, before anybody else can ask for any of it.
    fn lock_written(
        &self,
        state: &State,
        on_conflict: OnConflict,
        session: &SessionWait,
    ) -> Result<Locks> {
        let mut locks = Locks::new(on_conflict);
        let watched = |tree| self.options.unwatched != Some(tree);
        for write in state.writes.iter().filter(|write| watched(write.tree)) {
            let (rule, policy) = (on_conflict.rule(), WaitPolicy::Error);
            let asking = Asking { owner: state.owner, session, rule, policy };
            let key = (write.tree, Span::Key(write.key.into()), RangeMode::Exclusive);
            self.locks.lock_range(asking, &mut locks.held, key, usize::MAX)?;
        }
        Ok(locks)
    }
}

impl Transaction {
    fn take_again(&mut self, lock: &[u8]) -> Result<()> {
        let [kind, modes, rest @ ..] = lock else { return Err(corrupt("a lock is cut short")) };
        let (number, key) =
            rest.split_first_chunk::<8>().ok_or_else(|| corrupt("a lock is cut short"))?;
        let number = u64::from_le_bytes(*number);
        match *kind {
            TABLE => {
                for mode in TableLock::ALL.into_iter().filter(|mode| modes & mode.bit() != 0) {
                    self.lock_table(TableId(number), mode, WaitPolicy::Error)?;
                }
            }
            ROW => {
                // A stronger row lock says all that a weaker one does.
                if let Some(held) = RowRequest::strongest(*modes) {
                    self.lock_again(TreeId(number), key, held)?;
                }
            }
            NAME => {
                let key = AdvisoryKey::try_of(key).ok_or_else(|| corrupt("a lock is cut short"))?;
                for mode in TableLock::ALL.into_iter().filter(|mode| modes & mode.bit() != 0) {
                    self.lock_name_again(key, mode)?;
                }
            }
            // One that is gone was given up, by rolling back to a savepoint, before the transaction was prepared: records of
            // earlier versions name it.
            BUILT => match self.manager.data.tree(TreeId(number)) {
                Ok(tree) => {
                    let built = (self.command, tree);
                    self.state_mut().built.push(built);
                }
                Err(storage::Error::NoTree(_)) => {}
                Err(error) => return Err(error.into()),
            },
            _ => return Err(corrupt("a lock of an unknown kind")),
        }
        Ok(())
    }
}

/// Fills a write set from a record.
fn read_writes(state: &mut State, payload: &[u8]) -> Result<()> {
    let mut reader = Reader::new(payload)?.1;
    while let Some((tree, key, change)) = reader.write()? {
        let value = match change {
            Change::Put(value) => Some(value),
            Change::Delete => None,
            Change::Patch { .. } => return Err(corrupt("a write that is not whole")),
        };
        state.writes.put(tree, key, value, CommandId(1));
    }
    state.writes.arrange();
    Ok(())
}
