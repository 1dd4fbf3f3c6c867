//! The record table: what is known of a record beside its page, for as long as somebody needs to know it.
//!
//! A *record node* holds the lock of a record, its waiters, and the older versions that snapshots may still ask for.
//! Without a node a record is committed, unlocked, and at or below the horizon.
//!
//! Paper: Levandoski et al., *Deuteronomy*, CIDR 2015, sections 3.3 and 4 (a latch-free hash table under epochs, version
//! chains, and their collection). Difference: a node's own state stands under a mutex of its own, held for a few dozen
//! instructions; reading a version takes no latch at all.

pub mod chain;
pub mod collect;
pub mod hash;
pub mod node;
#[cfg(test)]
mod scripts;
pub mod spill;
pub mod table;

pub use chain::Version;
pub use collect::{Collector, Garbage};
pub use node::{Node, NodeRef, NodeState};
pub use spill::Spill;
pub use table::RecordTable;
