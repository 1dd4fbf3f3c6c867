//! Counters of the protocol, one set for each of a few threads so that no two workers write one cache line.
//!
//! What the layers below count they count themselves; [`exposition`] writes all of it as Prometheus text (version
//! 0.0.4), gathered only when somebody asks.

use crossbeam_utils::CachePadded;
use sql::SqlError;
use std::fmt::Write;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

/// Sets of counters; threads beyond it share.
const SETS: usize = 16;

/// Kinds of statements, by the first word of their command tag.
const KINDS: [&str; 16] = [
    "SELECT", "INSERT", "UPDATE", "DELETE", "BEGIN", "COMMIT", "ROLLBACK", "COPY", "CREATE",
    "ALTER", "DROP", "TRUNCATE", "SET", "SHOW", "VACUUM", "OTHER",
];

/// The kind of a statement that has ended with the tag `words`.
fn kind_of(words: &str) -> usize {
    // No kind's word begins another's, and most are told by their first letter.
    let first = words.as_bytes().first();
    let is = |kind: &&str| kind.as_bytes().first() == first && words.starts_with(*kind);
    KINDS.iter().position(is).unwrap_or(KINDS.len() - 1)
}

#[derive(Debug, Default)]
struct Set {
    statements: [AtomicU64; KINDS.len()],
    rows: AtomicU64,
    errors: AtomicU64,
    socket_reads: AtomicU64,
    socket_writes: AtomicU64,
    bytes_received: AtomicU64,
    bytes_sent: AtomicU64,
}

/// The protocol's counters.
#[derive(Debug, Default)]
pub struct Counters {
    sets: [CachePadded<Set>; SETS],
    connections: AtomicU64,
    refused: AtomicU64,
}

thread_local! {
    static SET: usize = {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        NEXT.fetch_add(1, Ordering::Relaxed) % SETS
    };
}

impl Counters {
    fn set(&self) -> &Set {
        &self.sets[SET.with(|set| *set)]
    }

    /// A statement has ended with the tag `words`.
    pub fn completed(&self, words: &str) {
        self.set().statements[kind_of(words)].fetch_add(1, Ordering::Relaxed);
    }

    /// A statement, or a message, has failed.
    pub fn failed(&self, _error: &SqlError) {
        self.set().errors.fetch_add(1, Ordering::Relaxed);
    }

    /// Rows have been handed out.
    pub fn rows(&self, rows: u64) {
        if rows != 0 {
            self.set().rows.fetch_add(rows, Ordering::Relaxed);
        }
    }

    /// A read from a client's socket.
    pub fn received(&self, bytes: usize) {
        let set = self.set();
        set.socket_reads.fetch_add(1, Ordering::Relaxed);
        set.bytes_received.fetch_add(bytes as u64, Ordering::Relaxed);
    }

    /// A write to a client's socket.
    pub fn sent(&self, bytes: usize) {
        let set = self.set();
        set.socket_writes.fetch_add(1, Ordering::Relaxed);
        set.bytes_sent.fetch_add(bytes as u64, Ordering::Relaxed);
    }

    /// A connection was taken.
    pub fn connected(&self) {
        self.connections.fetch_add(1, Ordering::Relaxed);
    }

    /// A connection was refused during its start-up.
    pub fn refused(&self) {
        self.refused.fetch_add(1, Ordering::Relaxed);
    }

    fn sum(&self, of: impl Fn(&Set) -> &AtomicU64) -> u64 {
        self.sets.iter().map(|set| of(set).load(Ordering::Relaxed)).sum()
    }

    /// Writes of the server to its clients' sockets so far.
    #[must_use]
    pub fn socket_writes(&self) -> u64 {
        self.sum(|set| &set.socket_writes)
    }
}

/// Writes one metric's help, type and value.
pub fn metric(out: &mut String, name: &str, kind: &str, help: &str, value: u64) {
    // Writing to a string cannot fail.
    let _ = writeln!(out, "# HELP {name} {help}\n# TYPE {name} {kind}\n{name} {value}");
}

/// The protocol's metrics, as Prometheus text.
pub fn exposition(counters: &Counters, sessions: usize, out: &mut String) {
    let name = "atoll_statements_total";
    let _ = writeln!(out, "# HELP {name} Statements that ended well, by kind.");
    let _ = writeln!(out, "# TYPE {name} counter");
    for (index, kind) in KINDS.iter().enumerate() {
        let kind = kind.to_lowercase();
        let value = counters.sum(|set| &set.statements[index]);
        let _ = writeln!(out, "{name}{{kind=\"{kind}\"}} {value}");
    }
    let mut counter = |name, help, value| metric(out, name, "counter", help, value);
    counter(
        "atoll_statement_errors_total",
        "Statements and messages that failed.",
        counters.sum(|set| &set.errors),
    );
    counter("atoll_rows_sent_total", "Rows sent to clients.", counters.sum(|set| &set.rows));
    counter(
        "atoll_socket_reads_total",
        "Reads from clients' sockets.",
        counters.sum(|set| &set.socket_reads),
    );
    counter("atoll_socket_writes_total", "Writes to clients' sockets.", counters.socket_writes());
    counter(
        "atoll_received_bytes_total",
        "Bytes received from clients.",
        counters.sum(|set| &set.bytes_received),
    );
    counter(
        "atoll_sent_bytes_total",
        "Bytes sent to clients.",
        counters.sum(|set| &set.bytes_sent),
    );
    counter(
        "atoll_connections_total",
        "Connections taken.",
        counters.connections.load(Ordering::Relaxed),
    );
    counter(
        "atoll_connections_refused_total",
        "Connections refused during start-up.",
        counters.refused.load(Ordering::Relaxed),
    );
    metric(out, "atoll_sessions", "gauge", "Sessions there are.", sessions as u64);
}
