//! Lock modes and what stands beside what (PostgreSQL 15 manual, tables 13.2 and 13.3).

/// A row lock, weakest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum RowLock {
    /// FOR KEY SHARE: the key stays (a foreign key refers to it).
    KeyShare,
    /// FOR SHARE.
    Share,
    /// FOR NO KEY UPDATE: what UPDATE takes when no key column changes.
    NoKeyUpdate,
    /// FOR UPDATE: what DELETE and a change of a key take.
    Update,
}

/// A table lock, in PostgreSQL's order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum TableLock {
    /// SELECT.
    AccessShare,
    /// SELECT FOR UPDATE and its family.
    RowShare,
    /// INSERT, UPDATE, DELETE.
    RowExclusive,
    /// VACUUM, ANALYZE, CREATE INDEX CONCURRENTLY.
    ShareUpdateExclusive,
    /// CREATE INDEX.
    Share,
    /// CREATE TRIGGER, some ALTER TABLE.
    ShareRowExclusive,
    /// REFRESH MATERIALIZED VIEW CONCURRENTLY.
    Exclusive,
    /// DROP, TRUNCATE, most ALTER TABLE.
    AccessExclusive,
}
