//! Atoll's server: sockets, protocol, sessions, authentication, configuration, metrics. It has never heard of a plan,
//! a lock table or a page.
//!
//! What it promises: a client that speaks PostgreSQL's protocol finds PostgreSQL's; a client that speaks nonsense, at
//! any moment, before authentication too, gets PostgreSQL's error and troubles nobody else; no answer leaves before
//! what it tells of is durable; and results of any size take bounded memory.

pub mod archive;
pub mod auth;
mod auto_file;
pub mod backend;
pub mod certificate;
mod checkpoint_log;
pub mod cli;
mod client_encoding;
pub mod client_name;
pub mod config;
pub mod connection;
pub mod dialogue;
pub mod encode;
pub mod engine_metrics;
pub mod frame;
pub mod hba;
pub mod heap;
mod host;
mod interim;
pub mod listener;
pub mod log;
pub mod message;
pub mod metrics;
pub mod peer;
mod pid_file;
pub mod postmaster;
mod process;
pub mod respond;
pub mod restore;
mod routine;
pub mod runtime;
pub mod scheduler;
#[cfg(test)]
mod scripted;
pub mod server;
pub mod session;
mod start_error;
pub mod startup;
pub mod stream;
mod switched_off;
mod sync;
mod system_user;
pub mod telemetry;
pub mod timers;
pub mod tls;
pub mod unix_socket;
mod user_files;
