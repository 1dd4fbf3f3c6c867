//! Numbers of transactions.

/// A transaction, unique since the database was created. What `xmin` shows is derived from the commit, not from this.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TxnId(pub u64);

/// A transaction's place in the order of those under timestamp ordering: who is older has a lower one. What orders versions is
/// their [`crate::Lsn`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(pub u64);

/// A statement's place within its transaction: a statement sees the writes of those before it, never its own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CommandId(pub u32);

/// What table locks stand on: chosen by the layer above (the relation's OID and its database's).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TableId(pub u64);

/// PostgreSQL's isolation levels; READ UNCOMMITTED is READ COMMITTED.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Isolation {
    /// Each statement has its own snapshot; a row that was waited for is checked again.
    #[default]
    ReadCommitted,
    /// One snapshot; 40001 where it is too old to write.
    RepeatableRead,
    /// As if alone.
    Serializable,
}
