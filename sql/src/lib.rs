//! SQL as PostgreSQL 15 speaks it: parse, bind, plan, compile, execute. It has never heard of a socket, a lock table
//! or a page.
//!
//! What it promises: a statement answers as PostgreSQL 15 answers it (rows, types, names, tags, SQLSTATEs, messages),
//! or with 0A000 and the name of what is missing. `docs/differences.md` lists what is kept different on purpose.
//!
//! What lies below is in crates of its own, so that the compiler keeps the order, and stands here under the names that it
//! had as modules: [`types`] (with [`tuple`], [`builtin`], [`error`]), [`parse`], [`catalog`] (with [`settings`]), [`bind`]
//! and [`plan`], [`compile`], [`exec`] and [`explain`]. What is here is what needs all of them, each
//! knowing only what stands before it: `system`, `copy`, `queries` (rows of system relations, and functions that ask the session) and `ddl`;
//! `prepared` (plans, kept); `engine` (what sessions share); `plpgsql` and `session`; `admission`, `autovacuum`, `check`.

pub(crate) mod activity;
mod admission;
pub mod autovacuum;
pub(crate) mod background;
pub mod breakdown;
mod check;
pub mod copy;
pub mod ddl;
pub mod engine;
pub mod host;
pub mod log_switcher;
pub mod message;
pub mod notify;
pub mod plpgsql;
pub mod prepared;
pub mod progress;
pub mod queries;
pub mod restoring;
pub mod session;
pub mod source;
pub mod statement_statistics;
pub mod system;

pub use admission::{Connect, RoleLogin};
pub use ddl::role::check_name as check_role_name;
pub use engine::{BACKGROUND, Engine, EngineOptions, Peers, PlanMetrics};
pub use error::{Notice, Severity, SqlError};
pub use exec::sink::{ColumnDescription, CopyFormat, Flow, Format, RowSink};
pub use session::{Bind, Progress, Session, StatementDescription, TransactionStatus};
pub use settings::ServerSettings;
pub use settings::socket::SocketTimes;
pub use sql_catalog::{self as catalog, settings};
pub use sql_exec::{compile, exec, explain};
pub use sql_parse as parse;
pub use sql_plan::{bind, plan};
pub use sql_types::{self as types, account, builtin, encoding, error, sqlstate, tuple};
pub use system::{Encryption, PeerCertificate};
pub use txn::{
    Abort, Environment, LockWait, Lsn, SchemeKind, SessionWait, TimestampAllocator, Without,
};

/// What a server builds an [`Environment`] from, and what it is opened with.
pub mod environment {
    pub use txn::restore::Met;
    pub use txn::{
        Archive, Archived, Cancel, CheckpointReason, CheckpointReport, CheckpointWatch, Clock,
        Device, FaultyDevice, File, FileDevice, Heap, Joinable, LogInsert, Micros, Plan, Restore,
        RestoreFrom, Scheduler, StorageError, SystemClock, Threads, WaitCell, WaitEvent,
        is_asked_for, is_due, resume,
    };
}
