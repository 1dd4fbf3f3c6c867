//! Online backups: what makes a copy of a running server's files as good as what a crash leaves.
//!
//! A copy of the data file has each page as it was at some moment between the backup's checkpoint and its end, which is what
//! a crash leaves, too: redo from the checkpoint's redo point makes one state of them all. With two exceptions. A page that
//! was written while it was copied may be *torn* in the copy, and its guard, the double-write area, is of another moment.
//! And pages of bulk builds stand in no log. So as long as a backup runs
//!
//! - every page that is written in place is first copied into the log, as it is written ([`PAGE_COPY`]). A restart puts the
//!   newest copy in the place of each page that does not check, before it redoes anything: it is a state that the page had in
//!   the file, which is all that redo asks for. PostgreSQL logs a page's image at its first change behind a checkpoint
//!   instead; this costs nothing while no backup runs.
//! - new pages are logged as images (`btree/bulk.rs`); where there is an archive always, since what is restored from it
//!   has only the log.
//!
//! **The order.** A backup is announced; then comes a checkpoint, whose redo point is its beginning; then what was being
//! written when that had ended is waited for ([`Backups::settle`]). So no page is being written any more whose copy lies
//! before the redo point, or that has none, when the copying begins. Its end is a record ([`BACKUP_END`]), behind the copy
//! of every page that was written until then: what is restored has to come so far.
//!
//! Where the disk has no room for the copies, the pages are written all the same, and the backups that run are no good:
//! they are told at their end. See `docs/design/0018-restore.md`.

use crate::environment::{Environment, WaitEvent};
use crate::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use crate::sync::{Arc, Mutex, lock, rank};
use crate::turnstile::Turnstile;
use crate::wal::RecordKind;
use crate::{DataComponent, Error, Lsn, Result, waiter};
use std::collections::BTreeMap;

/// A page as it was written in place while a backup ran: all of its bytes.
pub const PAGE_COPY: RecordKind = RecordKind(17);
/// A backup has begun: u64, its redo point. Two may have the same, so it is known by this record's place.
pub const BACKUP_BEGIN: RecordKind = RecordKind(18);
/// The end of a backup: u64, the place of its beginning.
pub const BACKUP_END: RecordKind = RecordKind(19);

/// The backups of a data file, and the writes that they have to know of.
#[derive(Debug, Default)]
pub struct Backups {
    running: AtomicU32,
    /// How often the log had no room for a copy.
    given_up: AtomicU64,
    writes: Mutex<Writes, { rank::WAITERS }>,
    settling: Turnstile,
}

/// Writes to the data file that are under way.
#[derive(Debug, Default)]
struct Writes {
    /// Moves on whenever somebody begins to wait for those before.
    round: u64,
    /// How many are under way, by the round in which they began.
    under_way: BTreeMap<u64, u32>,
}

/// A write to the data file that is under way.
#[derive(Debug)]
pub struct Writing<'b> {
    backups: &'b Backups,
    env: &'b Environment,
    round: u64,
}

impl Drop for Writing<'_> {
    fn drop(&mut self) {
        let mut writes = lock(&self.backups.writes);
        if let Some(count) = writes.under_way.get_mut(&self.round) {
            *count -= 1;
            if *count == 0 {
                writes.under_way.remove(&self.round);
            }
        }
        drop(writes);
        self.backups.settling.given_back(self.env);
    }
}

impl Backups {
    /// Whether one runs. Asked within a write.
    #[must_use]
    pub fn run(&self) -> bool {
        // Acquire: pairs with the increment in `begin_backup`.
        self.running.load(Ordering::Acquire) > 0
    }

    /// Begins a write to the data file: whether pages are copied is asked behind this, and holds until it is dropped.
    #[must_use]
    pub fn begin_write<'b>(&'b self, env: &'b Environment) -> Writing<'b> {
        let mut writes = lock(&self.writes);
        let round = writes.round;
        *writes.under_way.entry(round).or_default() += 1;
        Writing { backups: self, env, round }
    }

    /// The log had no room for a copy.
    pub fn give_up(&self) {
        self.given_up.fetch_add(1, Ordering::AcqRel);
    }

    /// Waits until every write that is under way now has ended.
    ///
    /// # Errors
    /// [`Error::Cancelled`] by whom the thread runs for.
    fn settle(&self, env: &Environment) -> Result<()> {
        let round = {
            let mut writes = lock(&self.writes);
            writes.round += 1;
            writes.round
        };
        let settled = || {
            let writes = lock(&self.writes);
            writes.under_way.first_key_value().is_none_or(|(oldest, _)| *oldest >= round)
        };
        let waiter = waiter::cancellable();
        let cancel = waiter.as_deref().map(|waiter| waiter.cancel());
        self.settling.wait(env, WaitEvent::Backup, cancel, || settled().then_some(()))?;
        // Whoever rests for the same is told by us: a write that ends wakes one.
        self.settling.given_back(env);
        Ok(())
    }
}

/// A backup that runs. Dropped, it is given up.
#[derive(Debug)]
pub struct Backup {
    data: Arc<DataComponent>,
    start: Lsn,
    begin: Lsn,
    given_up: u64,
}

impl DataComponent {
    /// Begins a backup: when this returns the directory may be copied, in whatever order. `floor` as for a checkpoint.
    ///
    /// # Errors
    /// As [`DataComponent::checkpoint`]; [`Error::Cancelled`].
    pub fn begin_backup(self: &Arc<Self>, floor: &mut dyn FnMut(Lsn) -> Lsn) -> Result<Backup> {
        let backups = self.backups();
        let given_up = backups.given_up.load(Ordering::Acquire);
        backups.running.fetch_add(1, Ordering::AcqRel);
        // The log is kept from before the redo point on, which is not known yet.
        let mut backup = Backup {
            data: Arc::clone(self),
            start: self.last_checkpoint().redo,
            begin: Lsn::ZERO,
            given_up,
        };
        self.log().keep(backup.start);
        let redo = self.checkpoint_all(floor)?;
        self.log().keep(redo);
        self.log().let_keep_go(backup.start);
        backup.start = redo;
        backups.settle(self.log().environment())?;
        backup.begin = self.log().say(BACKUP_BEGIN, &redo.0.to_le_bytes())?.0;
        Ok(backup)
    }
}

impl Backup {
    /// Where it begins: what is restored is redone from here.
    #[must_use]
    pub fn start(&self) -> Lsn {
        self.start
    }

    /// The place of its record, by which it is known.
    #[must_use]
    pub fn begin(&self) -> Lsn {
        self.begin
    }

    /// Ends it: what has been copied until now can be restored once the log has come to what is returned, which is durable.
    ///
    /// # Errors
    /// [`Error::Full`] if there was no room for what it needs in the log; [`Error::Halted`].
    pub fn end(self) -> Result<Lsn> {
        let log = self.data.log();
        let (_, end) = log.say(BACKUP_END, &self.begin.0.to_le_bytes())?;
        if self.data.backups().given_up.load(Ordering::Acquire) != self.given_up {
            return Err(Error::Full("the log had no room for what the backup needs of it"));
        }
        log.wait_durable_end(end)?;
        Ok(end)
    }
}

impl Drop for Backup {
    fn drop(&mut self) {
        self.data.log().let_keep_go(self.start);
        self.data.backups().running.fetch_sub(1, Ordering::AcqRel);
    }
}
