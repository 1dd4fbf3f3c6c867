//! Pass two of recovery: the logical records are applied again.
//!
//! Pass one, the data component's, has made every tree well formed. Here commits come in LSN order, and each write is
//! made where the record on the page is older; a tree that is gone is skipped. There is nothing to undo. A commit in
//! parts is applied when its last record is met, from all of its parts, under its own LSN. One whose first part lies before
//! the redo point is passed over: it held the point at or below that part until it was applied, and the pages that it
//! changed did until they were written, so all of it is on disk, and its parts may have been recycled. What was prepared
//! and not resolved is handed back with its locks.
//!
//! Applying twice changes nothing, so a crash in the middle only means to begin again.
//!
//! On a full disk what finds no room as it comes is [put off](deferred): a start needs no byte that was not set aside.

mod deferred;

use crate::log::{self, Reader};
use crate::manager::Manager;
use crate::planted::Fault;
use crate::prepared::{Found, FoundList};
use crate::record::collect::Tombstone;
use crate::sync::Arc;
use crate::{Lsn, Result, TreeId};
use deferred::{Deferred, Outcomes};
use std::collections::HashMap;
use storage::wal::LogRecord;
use storage::{Applied, Change, Error, Recovering, Room, Tree};

/// What pass two did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PassTwo {
    /// Commits read.
    pub commits: u64,
    /// Writes read.
    pub writes: u64,
    /// Writes that changed a page.
    pub applied: u64,
    /// Writes of trees that are gone.
    pub skipped: u64,
    /// How often the log was read once more, for what there was no room for as it came.
    pub again: u64,
}

/// Handles of the trees that redo has met; none for those that are gone.
type Trees = HashMap<TreeId, Option<Arc<Tree>>>;

/// One write of a commit: the commit's LSN, and that of its first part.
type Place<'w> = ((Lsn, Lsn), TreeId, &'w [u8]);

/// Runs pass two.
///
/// # Errors
/// I/O and corruption.
pub(crate) fn pass_two(manager: &Manager, recovering: &Recovering) -> Result<(PassTwo, FoundList)> {
    let mut prepared = FoundList::new();
    let mut done = PassTwo::default();
    let mut trees = Trees::new();
    let mut deferred = Deferred::default();
    let puts_off = !manager.planted(Fault::NothingPutOff);
    if puts_off {
        recovering.spare_room();
    }
    let mut commits = 0;
    let mut other = |record: &LogRecord<'_>| {
        if record.kind == log::COMMIT {
            let (header, _) = Reader::new(record.payload)?;
            commits += 1;
            if header.name.is_some() {
                prepared.remove(&header.txn);
            }
        } else if record.kind == log::PREPARE {
            let (header, _) = Reader::new(record.payload)?;
            // A copy replaces what it was made of.
            prepared.insert(header.txn, Found::new(record.lsn, record.payload));
        } else if record.kind == log::RESOLVE {
            prepared.remove(&Reader::new(record.payload)?.0.txn);
        }
        Ok(())
    };
    let mut write = |((at, tree, key), change): (Place<'_>, Change<'_>)| {
        done.writes += 1;
        let Some(handle) = handle(manager, &mut trees, tree)? else {
            done.skipped += 1;
            return Ok(());
        };
        if deferred.covers(tree, key) {
            return Ok(());
        }
        match redo(&handle, at, key, change)? {
            Some(Applied::Done) => done.applied += 1,
            Some(Applied::Older | Applied::WouldWait) => return Ok(()),
            None if !puts_off => return Err(Error::Full("the data file").into()),
            None => return Ok(deferred.add(&handle, key)?),
        }
        if change == Change::Delete {
            let tombstone = Tombstone { lsn: at.0, tree: handle, key: key.into() };
            manager.collector.note_tombstone(0, tombstone);
        }
        Ok(())
    };
    each_write(recovering, &mut other, &mut write)?;
    done.commits = commits;
    recovering.use_all_room();
    if !deferred.is_empty() {
        let mut outcomes = Outcomes::new(manager.options.write_set_bytes_max);
        loop {
            done.again += 1;
            each_write(recovering, &mut |_| Ok(()), &mut |((at, tree, key), change)| {
                if deferred.covers(tree, key)
                    && let Some(tree) = handle(manager, &mut trees, tree)?
                {
                    outcomes.note(&tree, key, at, change)?;
                }
                Ok(())
            })?;
            if !outcomes.apply(manager, &mut trees)? {
                break;
            }
        }
    }
    Ok((done, prepared))
}

/// Reads the log from the redo point on: each record, and each write of each commit, in the order of the commits.
fn each_write(
    recovering: &Recovering,
    record_of: &mut dyn FnMut(&LogRecord<'_>) -> Result<()>,
    write: &mut dyn FnMut((Place<'_>, Change<'_>)) -> Result<()>,
) -> Result<()> {
    let mut records = recovering.records()?.passing_over(log::PART);
    // The parts of a commit are read when its last record is: by a reader of their own, for they lie behind the first.
    let mut earlier = recovering.records()?;
    while let Some(record) = records.advance()? {
        record_of(&record)?;
        if record.kind != log::COMMIT {
            continue;
        }
        let (header, mut writes) = Reader::new(record.payload)?;
        let since = header.parts.first().copied().unwrap_or(record.lsn);
        if since < recovering.redo() {
            continue;
        }
        let at = (record.lsn, since);
        for part in &header.parts {
            earlier.seek(*part);
            let found = earlier.advance()?.filter(|found| found.kind == log::PART);
            let found = found.ok_or_else(|| {
                let (lsn, part) = (record.lsn, *part);
                Error::CorruptLog(format!("the commit at {lsn} lists no part at {part}"))
            })?;
            let mut writes = Reader::new(found.payload)?.1;
            while let Some((tree, key, change)) = writes.write()? {
                write(((at, tree, key), change))?;
            }
        }
        while let Some((tree, key, change)) = writes.write()? {
            write(((at, tree, key), change))?;
        }
    }
    Ok(())
}

/// The tree of a write; none if it is gone.
fn handle(manager: &Manager, trees: &mut Trees, tree: TreeId) -> Result<Option<Arc<Tree>>> {
    match trees.entry(tree) {
        std::collections::hash_map::Entry::Occupied(known) => Ok(known.get().clone()),
        std::collections::hash_map::Entry::Vacant(unknown) => {
            let found = match manager.data.tree(tree) {
                Ok(found) => Some(found),
                Err(Error::NoTree(_)) => None,
                Err(error) => return Err(error.into()),
            };
            Ok(unknown.insert(found).clone())
        }
    }
}

/// Makes a change; none if there is no room for it.
fn redo(
    tree: &Tree,
    (lsn, since): (Lsn, Lsn),
    key: &[u8],
    change: Change<'_>,
) -> storage::Result<Option<Applied>> {
    loop {
        match tree.apply_since((lsn, since), (key, None), change, Room::Free, &mut |_| ()) {
            Ok(applied) => return Ok(Some(applied)),
            // The server may have used the room of what it had deleted.
            Err(Error::Full(_)) if tree.remove_tombstones_beside(key)? => {}
            Err(Error::Full(_)) => return Ok(None),
            Err(error) => return Err(error),
        }
    }
}
