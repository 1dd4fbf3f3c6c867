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

use crate::log::{self, Reader};
use crate::manager::Manager;
use crate::prepared::{Found, FoundList};
use crate::record::collect::Tombstone;
use crate::sync::Arc;
use crate::{Lsn, Result, TreeId};
use std::collections::HashMap;
use storage::{Change, Error, Recovering, Room, Tree};

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
}

/// Handles of the trees that redo has met; none for those that are gone.
type Trees = HashMap<TreeId, Option<Arc<Tree>>>;

/// Runs pass two.
///
/// # Errors
/// I/O and corruption.
pub(crate) fn pass_two(manager: &Manager, recovering: &Recovering) -> Result<(PassTwo, FoundList)> {
    let mut prepared = FoundList::new();
    let mut done = PassTwo::default();
    let mut trees = Trees::new();
    let mut records = recovering.records()?;
    // The parts of a commit are read when its last record is: by a reader of their own, for they lie behind the first.
    let mut earlier = recovering.records()?;
    while let Some(record) = records.advance()? {
        if record.kind == log::COMMIT {
            let (header, writes) = Reader::new(record.payload)?;
            done.commits += 1;
            if header.name.is_some() {
                prepared.remove(&header.txn);
            }
            let since = header.parts.first().copied().unwrap_or(record.lsn);
            if since < recovering.redo() {
                continue;
            }
            for part in &header.parts {
                earlier.seek(*part);
                let found = earlier.advance()?.filter(|found| found.kind == log::PART);
                let found = found.ok_or_else(|| {
                    let (lsn, part) = (record.lsn, *part);
                    Error::CorruptLog(format!("the commit at {lsn} lists no part at {part}"))
                })?;
                let writes = Reader::new(found.payload)?.1;
                redo(manager, &mut trees, (record.lsn, since), writes, &mut done)?;
            }
            redo(manager, &mut trees, (record.lsn, since), writes, &mut done)?;
        } else if record.kind == log::PREPARE {
            let (header, _) = Reader::new(record.payload)?;
            // A copy replaces what it was made of.
            prepared.insert(header.txn, Found::new(record.lsn, record.payload));
        } else if record.kind == log::RESOLVE {
            prepared.remove(&Reader::new(record.payload)?.0.txn);
        }
    }
    Ok((done, prepared))
}

fn redo(
    manager: &Manager,
    trees: &mut Trees,
    (lsn, since): (Lsn, Lsn),
    mut writes: Reader<'_>,
    done: &mut PassTwo,
) -> Result<()> {
    while let Some((tree, key, change)) = writes.write()? {
        done.writes += 1;
        let handle = match trees.entry(tree) {
            std::collections::hash_map::Entry::Occupied(known) => known.into_mut(),
            std::collections::hash_map::Entry::Vacant(unknown) => {
                unknown.insert(match manager.data.tree(tree) {
                    Ok(handle) => Some(handle),
                    Err(Error::NoTree(_)) => None,
                    Err(error) => return Err(error.into()),
                })
            }
        };
        let Some(handle) = handle else {
            done.skipped += 1;
            continue;
        };
        match handle.apply_since(lsn, since, key, change, Room::Free, &mut |_| ())? {
            storage::Applied::Done => done.applied += 1,
            storage::Applied::Older | storage::Applied::WouldWait => continue,
        }
        if change == Change::Delete {
            let tombstone = Tombstone { lsn, tree: Arc::clone(handle), key: key.into() };
            manager.collector.note_tombstone(0, tombstone);
        }
    }
    Ok(())
}
