//! `pg_advisory_lock` and its kin, `pg_blocking_pids`.

use super::Call;
use crate::error::{Result, SqlError};
use crate::sqlstate::SqlState;
use crate::types::array::{self, Array};
use crate::types::{Datum, oids};
use txn::{AdvisoryKey, AdvisoryLevel, TreeId};

/// `ERRCODE_WARNING`'s words for an unlock of what is not locked.
fn not_owned(shared: bool) -> SqlError {
    let mode = if shared { "ShareLock" } else { "ExclusiveLock" };
    SqlError::warning(SqlState::WARNING, format!("you don't own a lock of type {mode}"))
}

impl<'a> Call<'_, '_, '_, 'a> {
    /// One key of 64 bits, or two of 32.
    fn advisory_key(&self) -> AdvisoryKey {
        let database = self.session.snapshot.database_oid().0;
        match self.arguments {
            [Datum::Int4(class), Datum::Int4(object)] => AdvisoryKey {
                database,
                class: class.cast_unsigned(),
                object: object.cast_unsigned(),
                sub: 2,
            },
            [Datum::Int8(key)] => AdvisoryKey {
                database,
                class: (key.cast_unsigned() >> 32) as u32,
                object: key.cast_unsigned() as u32,
                sub: 1,
            },
            _ => unreachable!("the functions take one bigint or two integers"),
        }
    }

    /// A function of advisory locks: what it does is in its name.
    pub(super) fn advisory(&self, name: &str) -> Result<Datum<'a>> {
        let mut locks = self.session.advisory.borrow_mut();
        if name == "pg_advisory_unlock_all" {
            locks.unlock_all();
            return Ok(Datum::Text(""));
        }
        let key = self.advisory_key();
        let shared = name.ends_with("_shared");
        if name.starts_with("pg_advisory_unlock") {
            let unlocked = locks.unlock(key, shared);
            if !unlocked {
                self.context.notices.borrow_mut().push(not_owned(shared));
            }
            return Ok(Datum::Bool(unlocked));
        }
        let level = if name.contains("_xact_") {
            AdvisoryLevel::Transaction
        } else {
            AdvisoryLevel::Session
        };
        if name.starts_with("pg_try_") {
            return Ok(Datum::Bool(locks.lock(key, shared, level, false)?));
        }
        locks.lock(key, shared, level, true)?;
        Ok(Datum::Text(""))
    }

    /// Whom the session that the first argument names waits for.
    fn blockers(&self) -> Result<Vec<u32>> {
        let Some(Datum::Int4(pid)) = self.arguments.first() else { return Ok(Vec::new()) };
        let manager = self.session.catalog.manager();
        let is_row = |tree: TreeId, key: &[u8]| {
            let relation = self.session.snapshot.relation_of_tree(tree);
            if !relation.is_some_and(|relation| relation.has_rows_in(tree)) {
                return Ok(false);
            }
            let tree = manager.data().tree(tree)?;
            Ok(tree.has(key)?)
        };
        manager.blocking_pids(pid.cast_unsigned(), &is_row)
    }

    /// `pg_isolation_test_session_is_blocked`: whether a session waits for any of these.
    pub(super) fn is_blocked_by(&self) -> Result<Datum<'a>> {
        let Some(Datum::Array(suspects)) = self.arguments.get(1) else { return Ok(Datum::Null) };
        if let Some(Datum::Int4(pid)) = self.arguments.first() {
            let manager = self.session.catalog.manager();
            if !manager.safe_snapshot_blocking_pids(pid.cast_unsigned()).is_empty() {
                return Ok(Datum::Bool(true));
            }
        }
        let blockers = self.blockers()?;
        for suspect in Array::of(suspects).datums(self.context.arena) {
            if let Datum::Int4(pid) = suspect?
                && blockers.contains(&pid.cast_unsigned())
            {
                return Ok(Datum::Bool(true));
            }
        }
        Ok(Datum::Bool(false))
    }

    /// `pg_blocking_pids`.
    pub(super) fn blocking_pids(&self) -> Result<Datum<'a>> {
        let pids = self.blockers()?;
        let pids: Vec<Datum<'_>> =
            pids.into_iter().map(|pid| Datum::Int4(pid.cast_signed())).collect();
        Ok(array::from_datums(self.context.arena, oids::INT4, &pids))
    }
}
