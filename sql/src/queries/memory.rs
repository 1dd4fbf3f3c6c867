//! Where memory is: `pg_backend_memory_contexts`, `pg_shmem_allocations`, `pg_log_backend_memory_contexts` (manual, sections
//! 54.4, 54.22, 9.27.2).
//!
//! Sessions share one process, and most of what it holds is nobody's own: pages, the log's buffer, older versions of rows. So
//! there is one tree of contexts for all, in which only the running statement is the asking session's.

use super::Call;
use super::statistics::Emit;
use crate::error::{Result, Severity, SqlError};
use crate::types::Datum;

/// What something holds, in bytes.
struct Held {
    name: &'static str,
    /// What PostgreSQL would have in memory that all processes share.
    shared: bool,
    bytes: u64,
}

fn count<'a>(value: u64) -> Datum<'a> {
    Datum::Int8(i64::try_from(value).unwrap_or(i64::MAX))
}

/// The context that has all others.
const TOP: &str = "TopMemoryContext";

impl<'a> Call<'_, '_, '_, 'a> {
    /// What holds memory; `own`: the asking session's statement too.
    fn held(&self, own: bool) -> Vec<Held> {
        let manager = self.session.catalog.manager();
        let options = manager.data().options();
        let pool = u64::from(options.pool_frames) * u64::from(options.page_bytes);
        let mut held = vec![
            Held { name: "Buffer Blocks", shared: true, bytes: pool },
            Held { name: "XLOG Ctl", shared: true, bytes: options.log_ring_bytes },
            Held { name: "Row versions", shared: true, bytes: manager.metrics().version_bytes },
        ];
        if own {
            let bytes = crate::account::held();
            held.push(Held { name: "ExecutorState", shared: false, bytes });
        }
        held
    }

    /// `pg_get_backend_memory_contexts`.
    pub(super) fn memory_contexts(&self, emit: &mut Emit<'_, 'a>) -> Result<()> {
        let held = self.held(true);
        let total = held.iter().map(|one| one.bytes).sum();
        let row = |name, parent, level, bytes| {
            let (none, zero) = (Datum::Null, Datum::Int8(0));
            let bytes = count(bytes);
            [
                Datum::Text(name),
                none,
                parent,
                Datum::Int4(level),
                bytes,
                Datum::Int8(1),
                zero,
                zero,
                bytes,
            ]
        };
        if !emit(&row(TOP, Datum::Null, 0, total))? {
            return Ok(());
        }
        for one in &held {
            if !emit(&row(one.name, Datum::Text(TOP), 1, one.bytes))? {
                break;
            }
        }
        Ok(())
    }

    /// `pg_get_shmem_allocations`.
    pub(super) fn shared_memory(&self, emit: &mut Emit<'_, 'a>) -> Result<()> {
        for one in self.held(false).iter().filter(|one| one.shared) {
            let bytes = count(one.bytes);
            if !emit(&[Datum::Text(one.name), Datum::Null, bytes, bytes])? {
                break;
            }
        }
        Ok(())
    }

    /// `pg_log_backend_memory_contexts`: in PostgreSQL the other process tells of itself; here who asks can.
    pub(super) fn log_memory(&self) -> Result<Datum<'a>> {
        let Some(Datum::Int4(pid)) = self.arguments.first() else { return Ok(Datum::Null) };
        let known = self.session.engine.activity();
        if known.iter().all(|one| i64::from(one.pid) != i64::from(*pid)) {
            self.warn(format!("PID {pid} is not a PostgreSQL server process"));
            return Ok(Datum::Bool(false));
        }
        let Some(host) = self.session.engine.host() else { return Ok(Datum::Bool(false)) };
        let log = |message: String| {
            host.log(&SqlError::notice(message).severity(Severity::Log));
        };
        let held = self.held(i64::from(self.session.pid()) == i64::from(*pid));
        let total: u64 = held.iter().map(|one| one.bytes).sum();
        let line = |level, name, bytes| {
            format!(
                "level: {level}; {name}: {bytes} total in 1 blocks; 0 free (0 chunks); {bytes} used"
            )
        };
        log(format!("logging memory contexts of PID {pid}"));
        log(line(0, TOP, total));
        held.iter().for_each(|one| log(line(1, one.name, one.bytes)));
        log(format!(
            "Grand total: {total} bytes in {} blocks; 0 free (0 chunks); {total} used",
            held.len() + 1
        ));
        Ok(Datum::Bool(true))
    }
}
