//! Lock modes and what stands beside what: PostgreSQL 15 manual, tables 13.2 (tables) and 13.3 (rows), as tables.
//!
//! A holder's locks on one thing are a *set* of modes, as in PostgreSQL: the modes of table locks are not ordered, and
//! ShareUpdateExclusive with Share is no single mode (Gray's supremum exists for rows only, whose conflict sets are
//! nested). A request is compatible with a set if it is with each member.

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

/// A set of modes that one owner holds on one thing: bit `mode as u8`.
pub type Modes = u8;

/// Which modes each mode excludes, as a set, by the mode's number.
pub type Conflicts = [Modes; 8];

/// What is asked of the lock of a row. Who is about to write it holds more than the lock that others see, so that who only has
/// to know whether its key is taken waits for nobody else (PostgreSQL's `HEAP_XMAX_LOCK_ONLY`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RowRequest {
    /// To lock it as it is.
    Lock(RowLock),
    /// To lock it and to write it.
    Write(RowLock),
    /// That nobody writes it.
    Settled,
}

/// The modes of a row's queue beside those of [`RowLock`].
const CHANGE: u8 = 4;
const TAKE: u8 = 5;
const SETTLED: u8 = 6;

/// Table 13.3, then the two locks of who writes, as those of who does not, and who asks whether somebody writes; the last does
/// not exist. Who asks holds nothing for longer than it takes to see that it does, so that it is in nobody's way.
#[rustfmt::skip]
pub const ROW_CONFLICTS: Conflicts = [
    0b0010_1000, // KeyShare
    0b0011_1100, // Share
    0b0011_1110, // NoKeyUpdate
    0b0011_1111, // Update
    0b0011_1110, // NoKeyUpdate, writing
    0b0011_1111, // Update, writing
    0b0011_0000, // Settled
    0,
];

/// By which held modes each mode of a row is covered, as a set.
#[rustfmt::skip]
const ROW_COVERS: Conflicts = [
    0b0011_1111,
    0b0011_1110,
    0b0011_1100,
    0b0010_1000,
    0b0011_0000,
    0b0010_0000,
    0b0100_0000,
    0,
];

impl RowRequest {
    /// What statements ask that take this lock to change a row: UPDATE, DELETE, INSERT of a key; weaker locks are taken by
    /// those alone who only lock.
    #[inline]
    pub fn to_write(mode: RowLock) -> RowRequest {
        match mode {
            RowLock::KeyShare | RowLock::Share => RowRequest::Lock(mode),
            RowLock::NoKeyUpdate | RowLock::Update => RowRequest::Write(mode),
        }
    }

    /// The lock that others see.
    #[inline]
    pub fn lock(self) -> Option<RowLock> {
        match self {
            RowRequest::Lock(mode) | RowRequest::Write(mode) => Some(mode),
            RowRequest::Settled => None,
        }
    }

    /// The strongest one in a set of modes that is held.
    pub fn strongest(modes: Modes) -> Option<RowRequest> {
        let all = [
            RowRequest::Write(RowLock::Update),
            RowRequest::Lock(RowLock::Update),
            RowRequest::Write(RowLock::NoKeyUpdate),
            RowRequest::Lock(RowLock::NoKeyUpdate),
            RowRequest::Lock(RowLock::Share),
            RowRequest::Lock(RowLock::KeyShare),
        ];
        all.into_iter().find(|one| modes & one.bit() != 0)
    }

    /// The number of its mode.
    #[inline]
    pub fn number(self) -> u8 {
        match self {
            RowRequest::Lock(mode) => mode as u8,
            RowRequest::Write(RowLock::Update) => TAKE,
            RowRequest::Write(_) => CHANGE,
            RowRequest::Settled => SETTLED,
        }
    }

    /// The set of this mode alone.
    #[inline]
    pub fn bit(self) -> Modes {
        1 << self.number()
    }

    /// Whether a holder of `modes` needs no more to hold this one.
    #[inline]
    pub fn covered_by(self, modes: Modes) -> bool {
        modes & ROW_COVERS[usize::from(self.number())] != 0
    }
}

/// Table 13.2.
#[rustfmt::skip]
pub const TABLE_CONFLICTS: Conflicts = [
    0b1000_0000, // AccessShare
    0b1100_0000, // RowShare
    0b1111_0000, // RowExclusive
    0b1111_1000, // ShareUpdateExclusive
    0b1110_1100, // Share
    0b1111_1100, // ShareRowExclusive
    0b1111_1110, // Exclusive
    0b1111_1111, // AccessExclusive
];

/// By which held modes each mode is covered, as a set: a held mode that excludes all that the wanted one does.
const TABLE_COVERS: Conflicts = {
    let mut covers = [0; 8];
    let mut wanted = 0;
    while wanted < covers.len() {
        let mut held = 0;
        while held < covers.len() {
            if TABLE_CONFLICTS[held] & TABLE_CONFLICTS[wanted] == TABLE_CONFLICTS[wanted] {
                covers[wanted] |= 1 << held;
            }
            held += 1;
        }
        wanted += 1;
    }
    covers
};

impl RowLock {
    /// All, weakest first.
    pub const ALL: [RowLock; 4] =
        [RowLock::KeyShare, RowLock::Share, RowLock::NoKeyUpdate, RowLock::Update];

    /// The name in PostgreSQL's `pgrowlocks` and in its grammar.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            RowLock::KeyShare => "For Key Share",
            RowLock::Share => "For Share",
            RowLock::NoKeyUpdate => "For No Key Update",
            RowLock::Update => "For Update",
        }
    }
}

impl TableLock {
    /// All, in PostgreSQL's order.
    pub const ALL: [TableLock; 8] = [
        TableLock::AccessShare,
        TableLock::RowShare,
        TableLock::RowExclusive,
        TableLock::ShareUpdateExclusive,
        TableLock::Share,
        TableLock::ShareRowExclusive,
        TableLock::Exclusive,
        TableLock::AccessExclusive,
    ];

    /// The set of this mode alone.
    #[must_use]
    pub fn bit(self) -> Modes {
        1 << self as u8
    }

    /// Whether it is an intention lock: none of them excludes another.
    #[must_use]
    pub fn is_intention(self) -> bool {
        self <= TableLock::RowExclusive
    }

    /// Whether it excludes an intention lock, so that it has to find those.
    #[must_use]
    pub fn is_strong(self) -> bool {
        self > TableLock::ShareUpdateExclusive
    }

    /// Whether a holder of `modes` needs no more to hold this one: some held mode excludes all that this one does.
    #[must_use]
    pub fn covered_by(self, modes: Modes) -> bool {
        modes & TABLE_COVERS[self as usize] != 0
    }

    /// The name as `pg_locks` and PostgreSQL's messages have it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            TableLock::AccessShare => "AccessShareLock",
            TableLock::RowShare => "RowShareLock",
            TableLock::RowExclusive => "RowExclusiveLock",
            TableLock::ShareUpdateExclusive => "ShareUpdateExclusiveLock",
            TableLock::Share => "ShareLock",
            TableLock::ShareRowExclusive => "ShareRowExclusiveLock",
            TableLock::Exclusive => "ExclusiveLock",
            TableLock::AccessExclusive => "AccessExclusiveLock",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conflicts_are_symmetric() {
        // Who asks whether a row is settled is in nobody's way.
        for (conflicts, modes) in [(&ROW_CONFLICTS, 6), (&TABLE_CONFLICTS, 8)] {
            for a in 0..modes {
                for b in 0..modes {
                    assert_eq!(conflicts[a] >> b & 1, conflicts[b] >> a & 1, "{a} {b}");
                }
            }
        }
    }

    /// The manual's table 13.2, with its own crosses, row by row.
    #[test]
    fn the_table_is_the_manuals() {
        let manual = [
            ". . . . . . . X",
            ". . . . . . X X",
            ". . . . X X X X",
            ". . . X X X X X",
            ". . X X . X X X",
            ". . X X X X X X",
            ". X X X X X X X",
            "X X X X X X X X",
        ];
        for (mode, row) in manual.iter().enumerate() {
            for (other, cross) in row.split(' ').enumerate() {
                assert_eq!(TABLE_CONFLICTS[mode] >> other & 1 == 1, cross == "X", "{mode} {other}");
            }
        }
        let manual = [". . . X", ". . X X", ". X X X", "X X X X"];
        for (mode, row) in manual.iter().enumerate() {
            for (other, cross) in row.split(' ').enumerate() {
                assert_eq!(ROW_CONFLICTS[mode] >> other & 1 == 1, cross == "X", "{mode} {other}");
            }
        }
    }

    /// Gray's supremum, derived: the weakest mode that excludes all that either of two excludes.
    fn supremum(conflicts: &Conflicts, modes: usize, a: usize, b: usize) -> Option<usize> {
        let both = conflicts[a] | conflicts[b];
        (0..modes)
            .filter(|mode| conflicts[*mode] & both == both)
            .min_by_key(|mode| conflicts[*mode].count_ones())
    }

    #[test]
    fn row_modes_are_a_chain_and_their_supremum_is_the_stronger() {
        for a in 0..4 {
            for b in 0..4 {
                assert_eq!(supremum(&ROW_CONFLICTS, 4, a, b), Some(a.max(b)));
                let held = RowRequest::Lock(RowLock::ALL[a]).bit();
                assert_eq!(RowRequest::Lock(RowLock::ALL[b]).covered_by(held), b <= a);
            }
        }
    }

    #[test]
    fn who_writes_holds_what_others_lock_and_is_waited_for_by_who_asks() {
        let modes = [RowLock::NoKeyUpdate, RowLock::Update];
        for (a, held) in modes.into_iter().enumerate() {
            let (locked, written) = (RowRequest::Lock(held), RowRequest::Write(held));
            let excludes = |one: RowRequest| ROW_CONFLICTS[usize::from(one.number())];
            assert_eq!(excludes(locked), excludes(written));
            assert_eq!(
                excludes(RowRequest::Settled) & (locked.bit() | written.bit()),
                written.bit()
            );
            for (b, wanted) in modes.into_iter().enumerate() {
                assert_eq!(RowRequest::Lock(wanted).covered_by(written.bit()), b <= a);
                assert_eq!(RowRequest::Write(wanted).covered_by(written.bit()), b <= a);
                assert!(!RowRequest::Write(wanted).covered_by(locked.bit()));
            }
            let both = locked.bit() | written.bit();
            assert_eq!(RowRequest::strongest(both), Some(written));
        }
        assert_eq!(RowRequest::to_write(RowLock::Share), RowRequest::Lock(RowLock::Share));
    }

    #[test]
    fn table_modes_are_covered_exactly_where_the_supremum_is_the_held_one() {
        for (a, held) in TableLock::ALL.into_iter().enumerate() {
            for (b, wanted) in TableLock::ALL.into_iter().enumerate() {
                let covered = supremum(&TABLE_CONFLICTS, 8, a, b) == Some(a);
                assert_eq!(wanted.covered_by(held.bit()), covered, "{held:?} {wanted:?}");
            }
        }
        // The pair for which a set says more than one mode: its supremum is stronger than both together.
        let (a, b) = (TableLock::ShareUpdateExclusive, TableLock::Share);
        let sum = TABLE_CONFLICTS[a as usize] | TABLE_CONFLICTS[b as usize];
        assert_eq!(sum, TABLE_CONFLICTS[TableLock::ShareRowExclusive as usize]);
        assert!(TableLock::ShareRowExclusive.is_strong());
    }

    #[test]
    fn intention_locks_never_exclude_each_other() {
        for a in TableLock::ALL.into_iter().filter(|mode| mode.is_intention()) {
            for b in TableLock::ALL {
                let excludes = TABLE_CONFLICTS[a as usize] & b.bit() != 0;
                assert!(!excludes || b.is_strong(), "{a:?} {b:?}");
            }
        }
    }
}
