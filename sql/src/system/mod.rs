//! The rows of system relations, made from what the session sees: the catalog's state, its settings, the other sessions, the
//! counters. Which relations there are, with which columns, is [`crate::catalog::system`]'s.

mod attachments;
mod columns;
pub(crate) use columns::default_oid;
mod counted;
mod definitions;
mod dependencies;
mod locks;
mod objects;
mod routines;
pub mod rows;
mod session;
mod time_zones;
mod triggers;
mod types;

pub use counted::Counters;
pub use rows::{
    Activity, CLIENT, Cursor, Emit, Encryption, PeerCertificate, PreparedStatement, Progress,
    SessionTimes, SystemContext, scan,
};
