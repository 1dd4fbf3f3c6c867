//! How far a long command has come: what stands behind `pg_stat_progress_copy` and its kin (manual, section 28.4).
//!
//! The session writes plain numbers as it goes, and anybody may read them; each view says what the figures of its command
//! mean. A reader may see some figures newer than others.

use crate::system::Progress;
use crate::types::Oid;
use std::sync::atomic::{AtomicI64, AtomicU8, AtomicU32, Ordering::Relaxed};

/// A command that tells how far it has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Command {
    /// VACUUM.
    Vacuum = 1,
    /// ANALYZE.
    Analyze,
    /// VACUUM FULL and its kin.
    Cluster,
    /// CREATE INDEX, REINDEX.
    CreateIndex,
    /// COPY.
    Copy,
}

/// By number, from 1.
const NAMES: [&str; 5] = ["VACUUM", "ANALYZE", "CLUSTER", "CREATE INDEX", "COPY"];

/// The figures of a session's command.
#[derive(Debug, Default)]
pub struct ProgressCells {
    /// 0 while there is none.
    command: AtomicU8,
    relation: AtomicU32,
    figures: [AtomicI64; 20],
}

impl ProgressCells {
    /// A command begins: all figures are 0, but for these, counted from 1 as the views' `param1` and so on.
    pub fn begin(&self, command: Command, relation: Oid, figures: &[(usize, i64)]) {
        self.end();
        self.figures.iter().for_each(|figure| figure.store(0, Relaxed));
        figures.iter().for_each(|(number, value)| self.set(*number, *value));
        self.relation.store(relation.0, Relaxed);
        self.command.store(command as u8, Relaxed);
    }

    /// A figure, by its number from 1.
    pub fn set(&self, number: usize, value: i64) {
        self.figures[number - 1].store(value, Relaxed);
    }

    /// The command has ended.
    pub fn end(&self) {
        self.command.store(0, Relaxed);
    }

    /// What is shown.
    pub fn read(&self) -> Option<Progress> {
        let command = NAMES.get(usize::from(self.command.load(Relaxed)).wrapping_sub(1))?;
        Some(Progress {
            command,
            relation: Oid(self.relation.load(Relaxed)),
            figures: std::array::from_fn(|at| self.figures[at].load(Relaxed)),
        })
    }
}
