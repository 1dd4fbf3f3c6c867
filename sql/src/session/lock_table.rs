//! LOCK TABLE: tables, and views with what they read. Whoever may not use a table in the way that the lock is for does not wait
//! for it, and nobody waits for them (`RangeVarCallbackForLockTable`). No snapshot is taken: what is read next is read under
//! the locks.

use super::utility::{Outcome, done};
use super::{Session, definitions};
use crate::bind::Environment;
use crate::catalog::acl::Privileges;
use crate::catalog::{Relation, RelationKind};
use crate::ddl::resolve::kind_noun;
use crate::error::{Result, SqlError};
use crate::parse::ast::Lock;
use crate::prepared::Reader;
use crate::source::Source;
use crate::sqlstate::SqlState;
use crate::types::Oid;
use crate::types::depth::descend;
use std::sync::Arc;
use txn::{TableLock, WaitPolicy};

/// What a lock is for: one of these privileges is enough.
fn privileges(mode: TableLock) -> &'static [Privileges] {
    const CHANGES: [Privileges; 4] =
        [Privileges::INSERT, Privileges::UPDATE, Privileges::DELETE, Privileges::TRUNCATE];
    match mode {
        TableLock::AccessShare => &[Privileges::SELECT],
        TableLock::RowExclusive => &CHANGES,
        _ => &CHANGES[1..],
    }
}

fn is_lockable(relation: &Relation) -> bool {
    relation.stored_query.is_none()
        && !matches!(relation.kind, RelationKind::Sequence(_) | RelationKind::Composite)
}

impl Session {
    pub(super) fn lock(&mut self, parsed: &Arc<Source>, lock: &Lock) -> Result<Outcome> {
        if self.is_alone_at_top() {
            return Err(SqlError::new(
                SqlState::NO_ACTIVE_SQL_TRANSACTION,
                "LOCK TABLE can only be used in transaction blocks",
            ));
        }
        for name in &lock.tables {
            let mut locked = None;
            // What the name stands for while the lock is held.
            let relation = loop {
                let relation = self.relation(parsed, name)?;
                if locked == Some(relation.oid) {
                    break relation;
                }
                if !is_lockable(&relation) {
                    return Err(SqlError::new(
                        SqlState::WRONG_OBJECT_TYPE,
                        format!("cannot lock relation \"{}\"", relation.name),
                    )
                    .detail(format!(
                        "This operation is not supported for {}s.",
                        kind_noun(&relation)
                    )));
                }
                self.take_table_lock(&relation, self.identity.user, lock)?;
                locked = Some(relation.oid);
            };
            self.lock_what_it_reads(&relation, lock, &mut Vec::new())?;
        }
        done("LOCK TABLE")
    }

    fn take_table_lock(&mut self, relation: &Relation, user: Oid, lock: &Lock) -> Result<()> {
        let snapshot = self.catalog.last_snapshot();
        let may = |wanted: &Privileges| snapshot.may_on_relation(user, relation, *wanted);
        if !privileges(lock.mode).iter().any(may) {
            let (kind, name) = (kind_noun(relation), &relation.name);
            let message = format!("permission denied for {kind} {name}");
            return Err(SqlError::new(SqlState::INSUFFICIENT_PRIVILEGE, message));
        }
        let policy = if lock.nowait { WaitPolicy::Error } else { WaitPolicy::Block };
        let transaction = self.block.ensure(self.engine.manager(), &self.wait);
        let locked = transaction.lock_table(relation.lock, lock.mode, policy);
        locked.map(drop).map_err(|error| match error {
            txn::Error::LockNotAvailable { timeout: false } => SqlError::new(
                SqlState::LOCK_NOT_AVAILABLE,
                format!("could not obtain lock on relation \"{}\"", relation.name),
            ),
            other => other.into(),
        })
    }

    /// Locks the tables and views that a view reads, with the privileges of its owner or of whoever asks, as it reads them.
    /// `around` are the views that are being locked because they read it.
    fn lock_what_it_reads(
        &mut self,
        view: &Relation,
        lock: &Lock,
        around: &mut Vec<Oid>,
    ) -> Result<()> {
        let RelationKind::View { .. } = view.kind else { return Ok(()) };
        let Some(query) = view.query() else { return Ok(()) };
        self.basis();
        let snapshot = Arc::clone(self.catalog.last_snapshot());
        let path = self.path.schemas.clone();
        let reads = self.with_context(|context| {
            let constants = &Reader(context);
            definitions::reads(Environment { catalog: &snapshot, path: &path, constants }, query)
        })?;
        around.push(view.oid);
        for oid in reads {
            let Some(relation) = snapshot.relation(oid).filter(|found| is_lockable(found)) else {
                continue;
            };
            let user = if view.is_security_invoker() { self.identity.user } else { view.owner };
            self.take_table_lock(relation, user, lock)?;
            // A view that reads itself has what it reads locked already.
            if !around.contains(&oid) {
                descend(|| self.lock_what_it_reads(relation, lock, around))?;
            }
        }
        around.pop();
        Ok(())
    }
}
