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

/// Table 13.3. Row `Share` excludes `NoKeyUpdate` and `Update`, and so on; the upper four do not exist.
#[rustfmt::skip]
pub const ROW_CONFLICTS: Conflicts = [
    0b1000, // KeyShare
    0b1100, // Share
    0b1110, // NoKeyUpdate
    0b1111, // Update
    0, 0, 0, 0,
];

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

    /// The set of this mode alone.
    #[must_use]
    pub fn bit(self) -> Modes {
        1 << self as u8
    }

    /// Whether a holder of `modes` needs no more to hold this one: the conflict sets of rows are nested.
    #[must_use]
    pub fn covered_by(self, modes: Modes) -> bool {
        modes >> self as u8 != 0
    }

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
        for (conflicts, modes) in [(&ROW_CONFLICTS, 4), (&TABLE_CONFLICTS, 8)] {
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
                let held = RowLock::ALL[a].bit();
                assert_eq!(RowLock::ALL[b].covered_by(held), b <= a);
            }
        }
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
