//! YCSB as "Staring into the Abyss" runs it (VLDB 2014, section 3.2): transactions of 16 accesses to one table, each a read or
//! a write by a coin, its key by a Zipf distribution; for each concurrency-control scheme, and as many threads.
//!
//! The table has 262,144 rows of ten fields of 100 bytes, as in the configuration that `perf/dbx1000.md` was measured
//! with. A read reads the whole row, a write changes one field of it. Keys that come twice in a transaction are dropped; transactions are drawn
//! beforehand. What is aborted is run again with the same keys until it commits.
//!
//! - [`workload`]: keys and transactions; [`embedded`]: straight on `txn`, without SQL; [`wire`]: by statements over a socket
//! - [`run`]: threads side by side for a time; [`page`]: what came of it as Markdown, TSV and a picture for each figure

/// `deadlock_timeout` of the sessions, in milliseconds: with PostgreSQL's second a cycle of row locks under `mvcc`, which the paper's
/// code breaks as it closes, would be all that is measured where keys are hot.
pub const DEADLOCK_TIMEOUT_MS: u32 = 1;

pub mod embedded;
pub mod measurement;
pub mod page;
pub mod run;
pub mod wire;
pub mod workload;
