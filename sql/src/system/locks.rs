//! `pg_locks`: who holds what, and who waits for what.
//!
//! Locks of rows are as PostgreSQL shows its own, which stand in the rows themselves: a transaction that has locked rows
//! holds its own number, and who waits for one of them waits for that number. Who waits first for a row holds the row's
//! own lock meanwhile, and the next ones wait for that. Numbers of transactions are the engine's, as in
//! `pg_prepared_xacts`; a row's page and place are those of its `ctid`.

use super::rows::Rows;
use crate::catalog::object::well_known;
use crate::catalog::{Relation, builtin};
use crate::error::Result;
use crate::tuple::row_id::row_number;
use crate::types::{Datum, Oid};
use std::collections::{BTreeSet, HashMap};
use txn::{LockInfo, LockTarget, RowLock, SireadTarget, TableId, TableLock, TreeId, TxnId};

/// What a row of `pg_locks` is about.
enum Object<'l> {
    Relation(u32, u32),
    /// A row of a table, by its key.
    Tuple(u32, &'l [u8]),
    /// A range of an index's, or a table's, keys.
    Range(u32),
    Transaction(TxnId),
    Virtual(String),
    Advisory(txn::AdvisoryKey),
    Partition(txn::PartitionId),
}

/// Who, how, and whether by now.
struct Held {
    pid: u32,
    txn: Option<TxnId>,
    mode: &'static str,
    granted: bool,
    fast_path: bool,
    /// Since when it waits.
    waiting_since: Option<i64>,
}

/// The lock that PostgreSQL takes on a tuple while it waits for a row lock, by the row lock's name.
fn tuple_mode(row_lock: &str) -> TableLock {
    match RowLock::ALL.into_iter().find(|mode| mode.name() == row_lock) {
        Some(RowLock::KeyShare) => TableLock::AccessShare,
        Some(RowLock::Share) => TableLock::RowShare,
        Some(RowLock::NoKeyUpdate) => TableLock::Exclusive,
        Some(RowLock::Update) | None => TableLock::AccessExclusive,
    }
}

/// Whether two such locks stand beside each other.
fn beside(one: TableLock, other: TableLock) -> bool {
    let weaker = one.min(other);
    match one.max(other) {
        TableLock::AccessShare | TableLock::RowShare => true,
        TableLock::AccessExclusive => false,
        _ => weaker == TableLock::AccessShare,
    }
}

pub(super) fn locks(rows: &mut Rows<'_, '_, '_, '_>) -> Result<()> {
    let all = (rows.system.locks)();
    let (mut running, mut numbered) = (BTreeSet::new(), BTreeSet::new());
    for lock in &all {
        let Some(txn) = lock.txn else { continue };
        if lock.pid != 0 {
            running.insert((lock.pid, txn));
        }
        // Who changes a row has a number before he waits for it.
        let changes = tuple_mode(lock.mode) >= TableLock::Exclusive;
        if matches!(lock.target, LockTarget::Row(..)) && (lock.granted || changes) {
            numbered.insert((lock.pid, txn));
        }
    }
    running.extend((rows.system.running)().into_iter().filter(|(pid, _)| *pid != 0));
    let exclusive = TableLock::Exclusive.name();
    let numbers: HashMap<u32, TxnId> = running.iter().copied().collect();
    catalogs(rows, &numbers)?;
    for (pid, txn) in running {
        let object = Object::Virtual(format!("{pid}/{}", txn.0));
        let (txn, granted, fast_path) = (Some(txn), true, true);
        let held = Held { pid, txn, mode: exclusive, granted, fast_path, waiting_since: None };
        write(rows, &object, &held)?;
    }
    for (pid, number) in numbered {
        let (txn, granted, fast_path) = (Some(number), true, false);
        let held = Held { pid, txn, mode: exclusive, granted, fast_path, waiting_since: None };
        write(rows, &Object::Transaction(number), &held)?;
    }
    let locked: BTreeSet<(u32, TableId)> = all.iter().filter_map(held_table).collect();
    let mut rest = &all[..];
    while let Some(first) = rest.first() {
        // The locks of one row stand together, those that are held first.
        let same = rest.iter().take_while(|lock| lock.target == first.target).count();
        let (these, behind) = rest.split_at(same);
        rest = behind;
        match &first.target {
            LockTarget::Row(tree, key) => row_waits(rows, these, (*tree, key))?,
            target => {
                for lock in these {
                    let object = match target {
                        LockTarget::Name(key) => Object::Advisory(*key),
                        LockTarget::Partition(partition) => Object::Partition(*partition),
                        LockTarget::Transaction(pid, txn) => {
                            Object::Virtual(format!("{pid}/{}", txn.0))
                        }
                        LockTarget::Table(table) => {
                            Object::Relation((table.0 >> 32) as u32, table.0 as u32)
                        }
                        LockTarget::Row(..) => continue,
                    };
                    let LockInfo { pid, txn, mode, granted, fast_path, waiting_since, .. } = *lock;
                    let held = Held { pid, txn, mode, granted, fast_path, waiting_since };
                    write(rows, &object, &held)?;
                    if let LockTarget::Table(table) = target
                        && granted
                    {
                        let database = Oid((table.0 >> 32) as u32);
                        let own =
                            |index| !locked.contains(&(pid, Relation::lock_of(database, index)));
                        indexes(rows, (database.0, table.0 as u32), &held, &own)?;
                    }
                }
            }
        }
    }
    sireads(rows)
}

/// What serializable transactions have read of this database's relations, and what is locked of their keys, or waited for, where reads
/// are locked or writes marked. A range of keys is shown as a page without a number: it is what PostgreSQL locks in its place.
fn sireads(rows: &mut Rows<'_, '_, '_, '_>) -> Result<()> {
    let all = (rows.system.sireads)();
    if all.is_empty() {
        return Ok(());
    }
    let snapshot = rows.system.snapshot;
    for lock in &all {
        let Some(relation) = snapshot.relation_of_tree(lock.tree) else { continue };
        let mut indexes = relation.indexes.iter();
        let index = indexes.find(|index| !index.holds_rows() && index.tree == lock.tree);
        let oid = index.map_or(relation.oid.0, |index| index.oid.0);
        let object = match &lock.target {
            SireadTarget::Tree => Object::Relation(rows.system.snapshot.database_oid().0, oid),
            SireadTarget::Key(key) => Object::Tuple(oid, key),
            SireadTarget::Range => Object::Range(oid),
        };
        let (granted, fast_path, waiting_since) = (lock.granted, false, lock.waiting_since);
        let (pid, txn, mode) = (lock.pid, Some(lock.txn), lock.mode);
        write(rows, &object, &Held { pid, txn, mode, granted, fast_path, waiting_since })?;
    }
    Ok(())
}

/// The table, or index, that somebody has locked.
fn held_table(lock: &LockInfo) -> Option<(u32, TableId)> {
    match lock.target {
        LockTarget::Table(table) if lock.granted => Some((lock.pid, table)),
        _ => None,
    }
}

/// Whoever reads rows of a table holds the same lock on its indexes; those that `shown` says have none of their own there.
fn indexes(
    rows: &mut Rows<'_, '_, '_, '_>,
    (database, table): (u32, u32),
    held: &Held,
    shown: &dyn Fn(Oid) -> bool,
) -> Result<()> {
    let modes = [TableLock::AccessShare, TableLock::RowShare];
    let snapshot = rows.system.snapshot;
    if database != snapshot.database_oid().0 || modes.iter().all(|mode| mode.name() != held.mode) {
        return Ok(());
    }
    let found = snapshot.relation(Oid(table)).map(|table| table.indexes.iter());
    let found = found.into_iter().flatten().map(|index| index.oid);
    let found: Vec<u32> = found.filter(|index| shown(*index)).map(|index| index.0).collect();
    for index in found {
        write(rows, &Object::Relation(database, index), held)?;
    }
    Ok(())
}

/// The relations of the catalog that transactions have read: nobody waits for these locks, which PostgreSQL takes.
fn catalogs(rows: &mut Rows<'_, '_, '_, '_>, numbers: &HashMap<u32, TxnId>) -> Result<()> {
    for session in (rows.system.activity)() {
        let (pid, txn) = (session.pid, numbers.get(&session.pid).copied());
        let mode = TableLock::AccessShare.name();
        let (granted, fast_path, waiting_since) = (true, true, None);
        let held = Held { pid, txn, mode, granted, fast_path, waiting_since };
        for relation in &session.catalogs {
            let shared = well_known::SHARED_RELATIONS.contains(&relation.0);
            let database = if shared { 0 } else { session.database.0 };
            write(rows, &Object::Relation(database, relation.0), &held)?;
            for index in builtin::indexes_of(relation.0) {
                write(rows, &Object::Relation(database, *index), &held)?;
            }
        }
    }
    Ok(())
}

/// Who waits for a row, or for what was locked of an index.
fn row_waits(
    rows: &mut Rows<'_, '_, '_, '_>,
    locks: &[LockInfo],
    (tree, key): (TreeId, &[u8]),
) -> Result<()> {
    let relation = rows.system.snapshot.relation_of_tree(tree);
    let table = relation.filter(|relation| relation.has_rows_in(tree)).map(|one| one.oid.0);
    let mut before: Vec<TableLock> = Vec::new();
    for lock in locks.iter().filter(|lock| !lock.granted) {
        let LockInfo { pid, txn, mode, waiting_since, .. } = *lock;
        let mode = tuple_mode(mode);
        let is_next = before.iter().all(|earlier| beside(*earlier, mode));
        before.push(mode);
        if let Some(table) = table {
            let waiting_since = waiting_since.filter(|_| !is_next);
            let (mode, granted, fast_path) = (mode.name(), is_next, false);
            let held = Held { pid, txn, mode, granted, fast_path, waiting_since };
            write(rows, &Object::Tuple(table, key), &held)?;
        }
        let holder = locks.iter().find(|other| other.granted && other.txn != txn);
        if let Some(awaited) = holder.and_then(|holder| holder.txn)
            && (is_next || table.is_none())
        {
            let mode = TableLock::Share.name();
            let held = Held { pid, txn, mode, granted: false, fast_path: false, waiting_since };
            write(rows, &Object::Transaction(awaited), &held)?;
        }
    }
    Ok(())
}

fn write(rows: &mut Rows<'_, '_, '_, '_>, object: &Object<'_>, held: &Held) -> Result<()> {
    let own = rows.system.snapshot.database_oid().0;
    let (mut database, mut relation) = (Datum::Null, Datum::Null);
    let (mut page, mut place, mut number) = (Datum::Null, Datum::Null, Datum::Null);
    let mut virtual_number = Datum::Null;
    let (mut class, mut name, mut sub) = (Datum::Null, Datum::Null, Datum::Null);
    let kind = match object {
        Object::Relation(of, oid) => {
            (database, relation) = (Datum::Oid(*of), Datum::Oid(*oid));
            "relation"
        }
        Object::Tuple(oid, key) => {
            (database, relation) = (Datum::Oid(own), Datum::Oid(*oid));
            let at = row_number(key);
            (page, place) = (Datum::Int4((at >> 16) as i32), Datum::Int2(at as i16));
            "tuple"
        }
        Object::Partition(partition) => {
            database = Datum::Oid(partition.database);
            name = Datum::Oid(u32::from(partition.number));
            "partition"
        }
        Object::Range(oid) => {
            (database, relation) = (Datum::Oid(own), Datum::Oid(*oid));
            "page"
        }
        Object::Transaction(txn) => {
            number = Datum::Oid(txn.0 as u32);
            "transactionid"
        }
        Object::Virtual(text) => {
            virtual_number = rows.text(text);
            "virtualxid"
        }
        Object::Advisory(key) => {
            database = Datum::Oid(key.database);
            (class, name) = (Datum::Oid(key.class), Datum::Oid(key.object));
            sub = Datum::Int2(key.sub as i16);
            "advisory"
        }
    };
    let holder = format!("{}/{}", held.pid, held.txn.map_or(0, |txn| txn.0));
    let row = [
        Datum::Text(kind),
        database,
        relation,
        page,
        place,
        virtual_number,
        number,
        class,
        name,
        sub,
        rows.text(&holder),
        if held.pid == 0 { Datum::Null } else { Datum::Int4(held.pid as i32) },
        Datum::Text(held.mode),
        Datum::Bool(held.granted),
        Datum::Bool(held.fast_path),
        held.waiting_since.map_or(Datum::Null, Datum::TimestampTz),
    ];
    rows.row(&row)
}
