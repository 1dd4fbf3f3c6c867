//! The catalog tree: objects as records.
//!
//! One tree, the first that a new directory makes, holds the objects of all databases. A key is the object's class,
//! database, OID and number below it, then the number of the part (all big-endian, so that a class is a range); an object
//! that is longer than a record may be is cut in parts. Writing an object writes the parts that differ and deletes
//! those that are too many.
//!
//! An object's first part is locked before it is written: two transactions that change the same object meet there. Names
//! are locked as keys of their own that never have a record ([`lock_name`]): two transactions that create the same name
//! meet there, and the second looks again once the first has committed.

use crate::codec;
use crate::object::{Class, Object, ObjectKey};
use crate::parts;
use crate::relation::{Relation, RelationKind};
use crate::snapshot::Change;
use sql_types::Oid;
use sql_types::error::{Result, SqlError};
use sql_types::sqlstate::SqlState;
use std::ops::Bound;
use std::sync::Arc;
use txn::{
    Begin, Direction, KeyRange, Manager, ReadView, RecordBuffer, RowLock, SessionWait, Transaction,
    Tree, TreeId, WaitPolicy,
};

/// The tree of the catalog's records: the first tree of a directory.
pub const CATALOG_TREE: TreeId = TreeId(1);

/// A key without its part number.
const KEY_BYTES: usize = 13;
/// The length of a record's key.
const PART_KEY_BYTES: usize = KEY_BYTES + 2;
/// The class byte of keys that only locks stand on.
const NAME_CLASS: u8 = 0xFF;
/// The class byte of keys that stand for sessions and never have a record.
const SESSION_CLASS: u8 = 0xFE;

fn prefix(key: ObjectKey) -> [u8; KEY_BYTES] {
    let mut bytes = [0; KEY_BYTES];
    bytes[0] = key.class as u8;
    bytes[1..5].copy_from_slice(&key.database.0.to_be_bytes());
    bytes[5..9].copy_from_slice(&key.oid.0.to_be_bytes());
    bytes[9..13].copy_from_slice(&key.sub.to_be_bytes());
    bytes
}

fn part_key(prefix: &[u8; KEY_BYTES], part: u16) -> [u8; PART_KEY_BYTES] {
    let mut bytes = [0; PART_KEY_BYTES];
    bytes[..KEY_BYTES].copy_from_slice(prefix);
    bytes[KEY_BYTES..].copy_from_slice(&part.to_be_bytes());
    bytes
}

fn parse_key(bytes: &[u8]) -> Option<(ObjectKey, u16)> {
    let bytes: &[u8; PART_KEY_BYTES] = bytes.try_into().ok()?;
    let word =
        |at: usize| u32::from_be_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
    let key = ObjectKey {
        class: Class::of(bytes[0])?,
        database: Oid(word(1)),
        oid: Oid(word(5)),
        sub: word(9),
    };
    Some((key, u16::from_be_bytes([bytes[13], bytes[14]])))
}

/// The catalog tree's handle.
///
/// # Errors
/// The directory has no catalog.
pub fn tree(manager: &Manager) -> Result<Arc<Tree>> {
    Ok(manager.data().tree(CATALOG_TREE).map_err(txn::Error::from)?)
}

/// Locks an object against other changes and says what its latest bytes are; none if there is no such object. Against
/// those who [`hold`] it too, if the mode is that of a row that is deleted.
///
/// # Errors
/// Those of a lock: 40P01, 55P03, 57014.
pub fn lock(
    transaction: &mut Transaction,
    tree: &Tree,
    key: ObjectKey,
    mode: RowLock,
) -> Result<Option<Vec<u8>>> {
    let prefix = prefix(key);
    let mut buffer = RecordBuffer::default();
    let first = part_key(&prefix, 0);
    if !transaction.lock_key(tree, &first, mode, WaitPolicy::Block, &mut buffer)? {
        return Ok(None);
    }
    let mut bytes = buffer.value().unwrap_or_default().to_vec();
    for part in 1.. {
        if !transaction.get_latest(tree, &part_key(&prefix, part), &mut buffer)? {
            break;
        }
        bytes.extend_from_slice(buffer.value().unwrap_or_default());
    }
    Ok(Some(bytes))
}

/// Keeps an object from being dropped by others, and from being changed in what counts for who builds on it; false if there
/// is no such object.
///
/// # Errors
/// Those of a lock: 40P01, 55P03, 57014.
pub fn hold(transaction: &mut Transaction, tree: &Tree, key: ObjectKey) -> Result<bool> {
    let first = part_key(&prefix(key), 0);
    let (mode, policy) = (RowLock::KeyShare, WaitPolicy::Block);
    Ok(transaction.lock_key(tree, &first, mode, policy, &mut RecordBuffer::default())?)
}

/// Tells a transaction which trees a relation has, whose rows it is about to read; and that they are those is something it
/// reads too: a commit that gives the relation others, of which the transaction's snapshot knows nothing, is a conflict.
///
/// # Errors
/// Storage's.
pub fn note_read(
    transaction: &mut Transaction,
    tree: &Tree,
    view: &ReadView,
    (key, relation): (ObjectKey, &Relation),
) -> Result<()> {
    if !matches!(relation.kind, RelationKind::Table { .. })
        || !transaction.read_table(relation.lock, relation.trees())
    {
        return Ok(());
    }
    let indexes = relation.indexes.iter().map(|index| parts::index_key(key, index));
    for key in std::iter::once(key).chain(indexes) {
        let named = part_key(&prefix(key), 0);
        transaction.get(view, tree, &named, &mut RecordBuffer::default())?;
    }
    Ok(())
}

/// Locks a name, so that only one transaction at a time can make something of it. Whoever holds it looks at the latest
/// catalog before it says that the name is free.
///
/// # Errors
/// Those of a lock: 40P01, 55P03, 57014.
pub fn lock_name(
    transaction: &mut Transaction,
    tree: &Tree,
    class: Class,
    scope: (Oid, Oid),
    name: &str,
) -> Result<()> {
    let mut key = vec![NAME_CLASS, class as u8];
    key.extend_from_slice(&scope.0.0.to_be_bytes());
    key.extend_from_slice(&scope.1.0.to_be_bytes());
    key.extend_from_slice(name.as_bytes());
    let mut buffer = RecordBuffer::default();
    transaction.lock_key(tree, &key, RowLock::Update, WaitPolicy::Block, &mut buffer)?;
    Ok(())
}

/// A key that only one session locks and writes to.
pub(super) fn session_key(pid: u32) -> [u8; 5] {
    let mut key = [SESSION_CLASS, 0, 0, 0, 0];
    key[1..].copy_from_slice(&pid.to_be_bytes());
    key
}

/// How an object is locked that stays, or goes.
fn mode_of(stays: bool) -> RowLock {
    if stays { RowLock::NoKeyUpdate } else { RowLock::Update }
}

/// Writes an object's bytes, or removes it: the parts that differ.
///
/// # Errors
/// Those of a lock and of a write.
pub fn write(
    transaction: &mut Transaction,
    tree: &Tree,
    key: ObjectKey,
    bytes: Option<&[u8]>,
) -> Result<()> {
    lock(transaction, tree, key, mode_of(bytes.is_some()))?;
    // Several parts share a page, and the key has room.
    let part_bytes = transaction.manager().data().record_bytes_fair() / 2;
    let prefix = prefix(key);
    let mut parts = bytes.into_iter().flat_map(|bytes| bytes.chunks(part_bytes));
    let mut buffer = RecordBuffer::default();
    for part in 0..=u16::MAX {
        let key = part_key(&prefix, part);
        let there = transaction.get_latest(tree, &key, &mut buffer)?;
        match parts.next() {
            Some(bytes) if there && buffer.value() == Some(bytes) => {}
            Some(bytes) => transaction.put(tree, &key, bytes)?,
            None if there => transaction.delete(tree, &key)?,
            None => return Ok(()),
        }
    }
    Err(SqlError::new(SqlState::PROGRAM_LIMIT_EXCEEDED, "definition is too long"))
}

/// Reads all objects that a snapshot is made of.
///
/// # Errors
/// Storage's; XX001 for records that are none.
pub fn read_all(manager: &Arc<Manager>) -> Result<Vec<Change>> {
    let all = read_ranges(manager, &[(Bound::Unbounded, Bound::Unbounded)])?;
    Ok(all.into_iter().map(|(key, object)| (key, Some(object))).collect())
}

/// Reads all objects of one database, in the order of their keys; what settings say of it is no part of it.
///
/// # Errors
/// As [`read_all`].
pub fn read_database(manager: &Arc<Manager>, database: Oid) -> Result<Vec<(ObjectKey, Object)>> {
    let start = |class: u8, database: u32| {
        let [a, b, c, d] = database.to_be_bytes();
        [class, a, b, c, d]
    };
    let classes = (0..SESSION_CLASS)
        .filter(|class| Class::of(*class).is_some_and(|class| class != Class::Settings));
    let bounds: Vec<_> =
        classes.map(|class| (start(class, database.0), start(class, database.0 + 1))).collect();
    let ranges: Vec<_> = bounds
        .iter()
        .map(|(low, high)| (Bound::Included(&low[..]), Bound::Excluded(&high[..])))
        .collect();
    read_ranges(manager, &ranges)
}

/// Reads the objects whose keys are in these ranges, at one moment.
fn read_ranges(
    manager: &Arc<Manager>,
    ranges: &[(Bound<&[u8]>, Bound<&[u8]>)],
) -> Result<Vec<(ObjectKey, Object)>> {
    let tree = tree(manager)?;
    let wait = Arc::new(SessionWait::new(0));
    let mut transaction = manager.begin(Begin { read_only: true, ..Begin::default() }, &wait);
    let view = transaction.begin_statement()?;
    let mut objects: Vec<(ObjectKey, Vec<u8>)> = Vec::new();
    for &(low, high) in ranges {
        let range = KeyRange { low, high };
        let mut scan = transaction.scan(&view, &tree, range, Direction::Forward)?;
        while let Some(row) = scan.advance(&mut transaction)? {
            let corrupt =
                || SqlError::new(SqlState::DATA_CORRUPTED, "a catalog record has a bad key");
            let (key, part) = parse_key(row.key).ok_or_else(corrupt)?;
            match objects.last_mut() {
                Some((last, bytes)) if *last == key => bytes.extend_from_slice(row.value),
                _ if part == 0 => objects.push((key, row.value.to_vec())),
                _ => return Err(corrupt()),
            }
        }
    }
    let _ = transaction.rollback();
    objects
        .into_iter()
        .filter(|(key, _)| !matches!(key.class, Class::Counter | Class::SequenceState))
        .map(|(key, bytes)| Ok((key, codec::decode(key.class, &bytes)?)))
        .collect()
}

/// The keys of all objects of a class.
///
/// # Errors
/// Storage's.
pub fn keys(
    transaction: &mut Transaction,
    tree: &Arc<Tree>,
    class: Class,
) -> Result<Vec<ObjectKey>> {
    let view = transaction.begin_statement()?;
    let (low, high) = ([class as u8], [class as u8 + 1]);
    let range = KeyRange { low: Bound::Included(&low), high: Bound::Excluded(&high) };
    let mut scan = transaction.scan(&view, tree, range, Direction::Forward)?;
    let mut keys = Vec::new();
    while let Some(row) = scan.advance(transaction)? {
        keys.extend(parse_key(row.key).filter(|(_, part)| *part == 0).map(|(key, _)| key));
    }
    Ok(keys)
}

/// Locks an object as a change of it does that makes it `after`, and says what its latest bytes are.
///
/// # Errors
/// As [`lock`].
pub fn lock_for(
    transaction: &mut Transaction,
    tree: &Tree,
    key: ObjectKey,
    after: Option<&Object>,
) -> Result<Option<Vec<u8>>> {
    lock(transaction, tree, key, mode_of(after.is_some()))
}

/// The stored form of a change, written.
///
/// # Errors
/// As [`write`].
pub fn write_object(
    transaction: &mut Transaction,
    tree: &Tree,
    key: ObjectKey,
    object: Option<&Object>,
) -> Result<()> {
    let bytes = object.map(codec::encode);
    write(transaction, tree, key, bytes.as_deref())
}
