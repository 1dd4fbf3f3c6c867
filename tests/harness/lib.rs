//! What every suite needs: servers under test, PostgreSQL beside them, a client that shows every field, scripts.
//!
//! A suite talks to a server over the wire only. Expected outputs are PostgreSQL 15's: they stand in committed files,
//! and a real PostgreSQL is asked again whether they still hold, by each run or where anything has changed.

pub mod atoll;
pub mod certificates;
pub mod chance;
pub mod client;
pub mod dialogue;
pub mod golden;
pub mod history;
pub mod oracle;
pub mod process;
pub mod remembered;
pub mod script;
pub mod waiting;
