//! The session's transaction: implicit and explicit blocks, savepoints, the failed state (PostgreSQL 15 manual,
//! section 55.2.2.1 and the pages of BEGIN, COMMIT, ROLLBACK and SAVEPOINT).
//!
//! A statement outside a block has a transaction of its own; statements of one Query message, and messages up to a Sync, share
//! one. BEGIN makes it a block that COMMIT or ROLLBACK ends. An error inside a block takes back everything since the last
//! savepoint and leaves the block failed: nothing but its end, or ROLLBACK TO, is heard then.

use crate::activity::SessionActivity;
use crate::catalog::relation_counts::endings::Transactions;
use crate::catalog::relation_counts::{CountsSavepoint, SessionCounts};
use crate::catalog::{CatalogSavepoint, CatalogTransaction};
use crate::engine::Engine;
use crate::error::{Notice, Result, SqlError};
use crate::exec::deferred::{Deferred, DeferredSavepoint};
use crate::message::{AnswerAfter, TransactionStatus};
use crate::notify::Sayings;
use crate::parse::ast::{Ident, TransactionModes, TransactionStatement};
use crate::settings::setter::{Anyone, Moment};
use crate::settings::value::parse_bool;
use crate::settings::{Settings, SettingsSavepoint};
use crate::sqlstate::SqlState;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use txn::{
    Abort, AdvisoryLocks, Begin, Ended, Isolation, Lsn, Manager, Savepoint, SchemeKind,
    SessionWait, Transaction,
};

/// Where the session stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// No transaction.
    Idle,
    /// A transaction that ends with its statement, message or pipeline.
    Implicit,
    /// BEGIN was said.
    Explicit,
    /// A block in which something failed.
    Failed,
}

#[derive(Debug)]
struct Named {
    name: Ident,
    transaction: Savepoint,
    catalog: CatalogSavepoint,
    settings: SettingsSavepoint,
    advisory: usize,
    said: usize,
    deferred: DeferredSavepoint,
    counts: CountsSavepoint,
    /// The transaction's access mode, which it has again when the savepoint is released or gone back to.
    read_only: bool,
}

/// The session's transaction.
#[derive(Debug)]
pub(super) struct Block {
    state: State,
    transaction: Option<Transaction>,
    savepoints: Vec<Named>,
    /// What transactions begin with.
    pub defaults: Begin,
    /// What AND CHAIN has begun the transaction with: unlike modes that were set, it stays when the block fails.
    chained: Option<Begin>,
    /// When the statement that runs began.
    pub statement_time: i64,
    /// When the transaction began: with its first statement.
    pub started: i64,
    /// The newest LSN the session has seen: its next snapshot waits for it.
    pub seen: Lsn,
    /// What buffered answers depend on.
    pub answer_after: AnswerAfter,
    /// Whether the transaction has worked with temporary objects and has gone back behind that.
    left_temporary: bool,
    /// Numbers transactions, so that what belongs to one can be told from what belongs to the next.
    pub number: u64,
    /// The transaction in which an Execute has come to its end or to its limit.
    executed: u64,
    activity: Arc<SessionActivity>,
    /// Where its transactions are counted.
    counted: Arc<Transactions>,
}

/// What a block needs to end or go back.
pub(super) struct Parts<'s> {
    /// Whether the statement stands alone, in no block and in no message of several.
    pub alone: bool,
    pub said: &'s mut Sayings,
    /// The snapshots that the transaction has exported.
    pub exported: &'s mut Vec<String>,
    /// The number of the transaction, if it has one.
    pub xact_id: &'s mut Option<u64>,
    pub channels: (&'s Arc<Engine>, u32),
    pub catalog: &'s mut CatalogTransaction,
    pub settings: &'s mut Settings,
    pub notices: &'s mut Vec<Notice>,
    pub wait: &'s SessionWait,
    pub advisory: &'s mut AdvisoryLocks,
    pub deferred: &'s mut Deferred,
    pub counts: &'s SessionCounts,
}

impl Parts<'_> {
    /// Nobody imports a snapshot of the transaction any more, which is about to end.
    fn end_exports(&mut self) {
        if !self.exported.is_empty() {
            self.channels.0.manager().exported_snapshots().forget(self.exported);
            self.exported.clear();
        }
    }

    /// The transaction's number, if it has one, is over: it committed at this LSN, or left nothing.
    fn end_xact_id(&mut self, committed: bool, at: Option<Lsn>) {
        if let Some(number) = self.xact_id.take() {
            let manager = self.channels.0.manager();
            manager.xact_ids().end(number, committed, at.unwrap_or_else(|| manager.visible()));
        }
    }
}

impl Block {
    pub fn new(activity: &Arc<SessionActivity>, counted: &Arc<Transactions>) -> Block {
        Block {
            state: State::Idle,
            transaction: None,
            savepoints: Vec::new(),
            defaults: Begin::default(),
            chained: None,
            statement_time: 0,
            started: 0,
            seen: Lsn::ZERO,
            answer_after: AnswerAfter::default(),
            left_temporary: false,
            number: 0,
            executed: 0,
            activity: Arc::clone(activity),
            counted: Arc::clone(counted),
        }
    }

    pub fn status(&self) -> TransactionStatus {
        match self.state {
            State::Idle | State::Implicit => TransactionStatus::Idle,
            State::Explicit => TransactionStatus::InTransaction,
            State::Failed => TransactionStatus::Failed,
        }
    }

    pub fn is_failed(&self) -> bool {
        self.state == State::Failed
    }

    pub fn is_explicit(&self) -> bool {
        matches!(self.state, State::Explicit | State::Failed)
    }

    /// Whether a transaction is open that ends with its statement, message or pipeline.
    pub fn is_implicit(&self) -> bool {
        self.transaction.is_some() && !self.is_explicit()
    }

    /// An Execute of the extended protocol has come to its end or to its limit: what follows before the Sync shares its
    /// transaction.
    pub fn executed(&mut self) {
        self.executed = self.number;
    }

    /// Whether the transaction is that of a pipeline in which something has been executed.
    pub fn is_pipelined(&self) -> bool {
        self.state == State::Implicit && self.executed == self.number
    }

    /// Where the innermost savepoint stands among the changes of the catalog.
    pub fn catalog_savepoint(&self) -> CatalogSavepoint {
        self.savepoints.last().map_or(CatalogSavepoint::START, |named| named.catalog)
    }

    /// How many savepoints are open.
    pub fn depth(&self) -> usize {
        self.savepoints.len()
    }

    /// The transaction, begun if there is none.
    pub fn ensure(&mut self, manager: &Arc<Manager>, wait: &Arc<SessionWait>) -> &mut Transaction {
        if self.transaction.is_none() {
            let begin = Begin { after: self.seen, ..self.defaults };
            self.transaction = Some(manager.begin(begin, wait));
            self.started = self.statement_time;
            self.activity.transaction_begins(self.started);
            self.counted.begins();
            self.chained = None;
            self.left_temporary = false;
            self.number += 1;
            if self.state == State::Idle {
                self.state = State::Implicit;
            }
        }
        self.transaction.as_mut().expect("it has just begun")
    }

    /// The transaction that is open.
    pub fn transaction(&mut self) -> Option<&mut Transaction> {
        self.transaction.as_mut()
    }

    /// Fast commit: whoever only read, or failed, has seen commits too that may not be durable yet.
    fn ended(&mut self, ended: Ended, synchronous: bool) {
        self.activity.transaction_ends();
        self.seen = self.seen.max(ended.wait_for);
        let after = &mut self.answer_after;
        after.visible = after.visible.max(ended.wait_for);
        if synchronous {
            after.durable = after.durable.max(ended.wait_for);
        }
    }

    /// A statement has ended, and its snapshot is needed no more unless a portal keeps it. A transaction that ends with
    /// its statement gives it up by ending.
    pub fn end_statement(&mut self) {
        if let (State::Explicit, Some(transaction)) = (self.state, &mut self.transaction) {
            transaction.end_statement();
        }
    }

    /// Hands the open transaction over, which is going to be prepared.
    pub fn take_transaction(&mut self) -> Option<Transaction> {
        self.transaction.take()
    }

    /// Takes the open transaction back.
    pub fn put_transaction(&mut self, transaction: Transaction) {
        self.transaction = Some(transaction);
    }

    /// The block's transaction is prepared, and the session's no more.
    pub fn prepared(&mut self, name: &str, ended: Ended, parts: &mut Parts<'_>) {
        if let Some(number) = parts.xact_id.take() {
            parts.channels.0.manager().xact_ids().prepare(number, name.as_bytes());
        }
        self.savepoints.clear();
        self.state = State::Idle;
        parts.deferred.clear();
        parts.catalog.hand_over();
        parts.counts.end(true);
        parts.settings.commit();
        self.depends_on(ended);
    }

    /// The block's transaction could not be prepared, and has rolled back.
    pub fn not_prepared(&mut self, reason: Abort, parts: &mut Parts<'_>) {
        parts.catalog.rollback_to(CatalogSavepoint::START);
        parts.advisory.end_transaction();
        parts.counts.fails(Some(reason));
        parts.counts.end(false);
        self.rollback(parts);
    }

    /// What is answered next depends on a step of a transaction that is nobody's. It is durable before, whatever
    /// `synchronous_commit` says: whoever coordinates goes on from there.
    pub fn depends_on(&mut self, ended: Ended) {
        self.ended(ended, true);
    }

    /// Commits what is open. Ends the block even if it fails.
    pub fn commit(&mut self, parts: &mut Parts<'_>) -> Result<()> {
        self.savepoints.clear();
        self.state = State::Idle;
        parts.deferred.clear();
        parts.end_exports();
        let Some(mut transaction) = self.transaction.take() else {
            parts.settings.commit();
            return Ok(());
        };
        transaction.note_number(*parts.xact_id);
        let synchronous = parts.settings.plain().synchronous_commit;
        let said = if parts.said.is_empty() { None } else { Some(std::mem::take(parts.said)) };
        let (engine, pid) = parts.channels;
        let database = parts.catalog.database();
        let mut woken = Vec::new();
        let mut tell = |lsn| {
            if let Some(said) = &said {
                woken = engine.channels().apply((pid, database), said, lsn);
            }
        };
        let committed = parts.catalog.commit_telling(transaction, &mut tell);
        parts.advisory.end_transaction();
        parts.counts.fails(committed.as_ref().err().map(SqlError::abort));
        parts.counts.end(committed.is_ok());
        match committed {
            Ok(ended) => {
                engine.wake(&woken);
                parts.end_xact_id(true, ended.committed);
                parts.settings.commit();
                self.ended(ended, synchronous);
                Ok(())
            }
            Err(error) => {
                parts.end_xact_id(false, None);
                let seen = parts.wait.failed_after.swap(0, Ordering::Relaxed);
                self.ended(Ended { wait_for: Lsn(seen), committed: None }, synchronous);
                parts.settings.rollback();
                Err(error)
            }
        }
    }

    /// What the session has been told outlives its transaction, and was logged by the commit at `lsn`.
    pub fn depend_on(&mut self, lsn: Lsn) {
        match &mut self.transaction {
            Some(transaction) => transaction.depend_on(lsn),
            None => self.heard_of(lsn),
        }
    }

    /// The session has been told of a commit by a notification.
    pub fn heard_of(&mut self, lsn: Lsn) {
        self.seen = self.seen.max(lsn);
        let after = &mut self.answer_after;
        after.visible = after.visible.max(lsn);
        after.durable = after.durable.max(lsn);
    }

    /// When the transaction began, or the statement that would begin one.
    pub fn transaction_time(&self) -> i64 {
        if self.transaction.is_some() { self.started } else { self.statement_time }
    }

    /// Rolls back what is open.
    pub fn rollback(&mut self, parts: &mut Parts<'_>) {
        self.savepoints.clear();
        self.state = State::Idle;
        parts.said.truncate(0);
        parts.deferred.clear();
        parts.end_exports();
        parts.end_xact_id(false, None);
        if let Some(transaction) = self.transaction.take() {
            let synchronous = parts.settings.plain().synchronous_commit;
            let ended = parts.catalog.rollback(transaction);
            parts.advisory.end_transaction();
            parts.counts.end(false);
            self.ended(ended, synchronous);
        }
        parts.settings.rollback();
    }

    /// Ends an implicit transaction that has only read; false if there is more to its end.
    pub fn end_reading(&mut self, synchronous: bool) -> bool {
        if self.state != State::Implicit {
            return false;
        }
        let Some(ended) = self.transaction.as_mut().and_then(Transaction::end_reading) else {
            return false;
        };
        self.transaction = None;
        self.state = State::Idle;
        self.ended(ended, synchronous);
        true
    }

    /// Ends an implicit block: at the end of a statement, a message, a pipeline.
    pub fn end_implicit(&mut self, parts: &mut Parts<'_>) -> Result<()> {
        if self.state == State::Implicit { self.commit(parts) } else { Ok(()) }
    }

    /// Whether the transaction has made, changed or read temporary objects, which nobody else can commit.
    pub fn has_used_temporary(&self, catalog: &CatalogTransaction) -> bool {
        if self.left_temporary || catalog.has_changed_temporary() {
            return true;
        }
        let Some(transaction) = &self.transaction else { return false };
        let mut relations = catalog.last_snapshot().temporary_relations();
        relations.any(|relation| transaction.has_locked(relation.lock))
    }

    /// A statement has failed.
    pub fn fail(&mut self, reason: Abort, parts: &mut Parts<'_>) {
        if self.state != State::Failed {
            parts.counts.fails(Some(reason));
        }
        self.left_temporary = self.has_used_temporary(parts.catalog);
        match self.state {
            State::Idle | State::Implicit => self.rollback(parts),
            State::Failed => {}
            State::Explicit => {
                match (self.savepoints.last(), &mut self.transaction) {
                    (Some(last), Some(transaction)) => {
                        transaction.rollback_to(last.transaction);
                        transaction.end_statement();
                        parts.catalog.rollback_to(last.catalog);
                        parts.settings.rollback_to(last.settings);
                        parts.advisory.rollback_to(last.advisory);
                        parts.said.truncate(last.said);
                        parts.deferred.rollback_to(&last.deferred);
                        parts.counts.rollback_to(&last.counts);
                    }
                    _ => self.rollback(parts),
                }
                self.state = State::Failed;
            }
        }
    }

    fn begin(&mut self, modes: &TransactionModes, parts: &mut Parts<'_>) -> Result<()> {
        match self.state {
            State::Explicit | State::Failed => {
                parts.notices.push(SqlError::warning(
                    SqlState::ACTIVE_SQL_TRANSACTION,
                    "there is already a transaction in progress",
                ));
            }
            State::Idle | State::Implicit => self.state = State::Explicit,
        }
        self.set_modes(modes, parts)
    }

    /// What a setting of the running transaction says, as SET TRANSACTION would; none if it is another setting, or is no
    /// value of it.
    pub fn modes_of(&self, name: &str, value: Option<&str>) -> Option<TransactionModes> {
        let mut modes = TransactionModes::default();
        let on = || value.map(parse_bool);
        match name {
            "transaction_isolation" => {
                modes.isolation = Some(match value.map(str::to_ascii_lowercase).as_deref() {
                    None => self.defaults.isolation,
                    Some("serializable") => Isolation::Serializable,
                    Some("repeatable read") => Isolation::RepeatableRead,
                    Some("read committed") => Isolation::ReadCommitted,
                    Some("read uncommitted") => {
                        modes.uncommitted = true;
                        Isolation::ReadCommitted
                    }
                    Some(_) => return None,
                });
            }
            "transaction_read_only" => {
                modes.read_only = Some(on().unwrap_or(Some(self.defaults.read_only))?);
            }
            "transaction_deferrable" => {
                modes.deferrable = Some(on().unwrap_or(Some(self.defaults.deferrable))?);
            }
            _ => return None,
        }
        Some(modes)
    }

    /// SET TRANSACTION, and the modes of BEGIN.
    pub fn set_modes(&mut self, modes: &TransactionModes, parts: &mut Parts<'_>) -> Result<()> {
        let Some(transaction) = &mut self.transaction else { return Ok(()) };
        let mut begin = *transaction.begin();
        if let Some(isolation) = modes.isolation
            && isolation != begin.isolation
        {
            if transaction.has_snapshot() {
                return Err(SqlError::new(
                    SqlState::ACTIVE_SQL_TRANSACTION,
                    "SET TRANSACTION ISOLATION LEVEL must be called before any query",
                ));
            }
            if !self.savepoints.is_empty() {
                return Err(SqlError::new(
                    SqlState::ACTIVE_SQL_TRANSACTION,
                    "SET TRANSACTION ISOLATION LEVEL must not be called in a subtransaction",
                ));
            }
            begin.isolation = isolation;
        }
        if let Some(read_only) = modes.read_only {
            let refused = match (self.savepoints.is_empty(), transaction.has_snapshot()) {
                _ if read_only || !begin.read_only => None,
                (false, _) => {
                    Some("cannot set transaction read-write mode inside a read-only transaction")
                }
                (true, true) => Some("transaction read-write mode must be set before any query"),
                (true, false) => None,
            };
            if let Some(why) = refused {
                return Err(SqlError::new(SqlState::ACTIVE_SQL_TRANSACTION, why));
            }
            begin.read_only = read_only;
        }
        if let Some(deferrable) = modes.deferrable {
            let refused = match (self.savepoints.is_empty(), transaction.has_snapshot()) {
                (false, _) => Some("cannot be called within a subtransaction"),
                (true, true) => Some("must be called before any query"),
                (true, false) => None,
            };
            if let Some(why) = refused {
                return Err(SqlError::new(
                    SqlState::ACTIVE_SQL_TRANSACTION,
                    format!("SET TRANSACTION [NOT] DEFERRABLE {why}"),
                ));
            }
            begin.deferrable = deferrable;
        }
        transaction.set_begin(begin);
        if let Some(level) = level_written(modes) {
            parts.settings.set_internal("transaction_isolation", level, true);
        }
        if let Some(read_only) = modes.read_only {
            parts.settings.set_internal(
                "transaction_read_only",
                if read_only { "on" } else { "off" },
                true,
            );
        }
        if let Some(deferrable) = modes.deferrable {
            parts.settings.set_internal(
                "transaction_deferrable",
                if deferrable { "on" } else { "off" },
                true,
            );
        }
        Ok(())
    }

    /// Gives the transaction the access mode that it had before a savepoint.
    fn set_access(&mut self, read_only: bool, parts: &mut Parts<'_>) {
        let Some(transaction) = &mut self.transaction else { return };
        let begin = *transaction.begin();
        if begin.read_only != read_only {
            transaction.set_begin(Begin { read_only, ..begin });
            let word = if read_only { "on" } else { "off" };
            parts.settings.set_internal("transaction_read_only", word, true);
        }
    }

    /// Begins a transaction as the one before it was (AND CHAIN).
    pub fn begin_chained(
        &mut self,
        modes: Begin,
        manager: &Arc<Manager>,
        wait: &Arc<SessionWait>,
        parts: &mut Parts<'_>,
    ) {
        let modes = Begin { after: Lsn::ZERO, ..modes };
        self.ensure(manager, wait).set_begin(modes);
        self.chained = Some(modes);
        let word = |on: bool| if on { "on" } else { "off" };
        let settings = &mut *parts.settings;
        settings.set_internal("transaction_isolation", level_name(modes.isolation), true);
        settings.set_internal("transaction_read_only", word(modes.read_only), true);
        settings.set_internal("transaction_deferrable", word(modes.deferrable), true);
    }

    /// Runs a statement about the transaction; its tag. The transaction has been begun.
    pub fn control(
        &mut self,
        statement: &TransactionStatement,
        manager: &Arc<Manager>,
        wait: &Arc<SessionWait>,
        parts: &mut Parts<'_>,
    ) -> Result<&'static str> {
        use TransactionStatement as S;
        let no_block = |parts: &mut Parts<'_>| {
            parts.notices.push(SqlError::warning(
                SqlState::NO_ACTIVE_SQL_TRANSACTION,
                "there is no transaction in progress",
            ));
        };
        Ok(match statement {
            S::Begin(modes) => {
                self.begin(modes, parts)?;
                "BEGIN"
            }
            S::Start(modes) => {
                self.begin(modes, parts)?;
                "START TRANSACTION"
            }
            S::Commit { chain } | S::Rollback { chain } => {
                let wants_commit = matches!(statement, S::Commit { .. });
                let explicit = self.is_explicit();
                if !explicit {
                    if *chain {
                        let word =
                            if wants_commit { "COMMIT AND CHAIN" } else { "ROLLBACK AND CHAIN" };
                        return Err(SqlError::new(
                            SqlState::NO_ACTIVE_SQL_TRANSACTION,
                            format!("{word} can only be used in transaction blocks"),
                        ));
                    }
                    no_block(parts);
                }
                let lost = self.chained.unwrap_or(self.defaults);
                let modes = self.transaction.as_ref().map_or(lost, |open| *open.begin());
                let commits = wants_commit && self.state != State::Failed;
                if commits {
                    self.commit(parts)?;
                } else {
                    self.rollback(parts);
                }
                if *chain {
                    self.begin_chained(modes, manager, wait, parts);
                    self.state = State::Explicit;
                }
                if commits { "COMMIT" } else { "ROLLBACK" }
            }
            S::Savepoint(name) => {
                self.demand_block("SAVEPOINT")?;
                let transaction =
                    self.transaction.as_mut().expect("a block that has not failed has one");
                self.savepoints.push(Named {
                    name: name.clone(),
                    transaction: transaction.savepoint(),
                    catalog: parts.catalog.savepoint(),
                    settings: parts.settings.savepoint(),
                    advisory: parts.advisory.savepoint(),
                    said: parts.said.len(),
                    deferred: parts.deferred.savepoint(),
                    counts: parts.counts.savepoint(),
                    read_only: transaction.begin().read_only,
                });
                "SAVEPOINT"
            }
            S::Release(name) => {
                self.demand_block("RELEASE SAVEPOINT")?;
                let at = self.find(name)?;
                let released = self.savepoints.split_off(at);
                if let Some(transaction) = &mut self.transaction {
                    transaction.release_savepoint(released[0].transaction);
                }
                self.set_access(released[0].read_only, parts);
                "RELEASE"
            }
            S::RollbackTo(name) => {
                self.demand_block("ROLLBACK TO SAVEPOINT")?;
                let at = self.find(name)?;
                self.savepoints.truncate(at + 1);
                self.left_temporary = self.has_used_temporary(parts.catalog);
                let named = &self.savepoints[at];
                if let Some(transaction) = &mut self.transaction {
                    transaction.rollback_to(named.transaction);
                }
                parts.catalog.rollback_to(named.catalog);
                parts.settings.rollback_to(named.settings);
                parts.advisory.rollback_to(named.advisory);
                parts.said.truncate(named.said);
                parts.deferred.rollback_to(&named.deferred);
                parts.counts.rollback_to(&named.counts);
                parts.counts.fails(None);
                self.set_access(named.read_only, parts);
                self.state = State::Explicit;
                "ROLLBACK"
            }
            S::Set(modes) => {
                if parts.alone {
                    parts.notices.push(set_alone());
                }
                self.set_modes(modes, parts)?;
                "SET"
            }
            S::SetSession(modes) => {
                let mut set = |name: &str, value: &str| {
                    let said = (name, Some(value));
                    parts.settings.assign(said, Moment::Set, &Anyone, parts.notices)
                };
                if let Some(level) = level_written(modes) {
                    set("default_transaction_isolation", level)?;
                }
                if let Some(read_only) = modes.read_only {
                    set("default_transaction_read_only", if read_only { "on" } else { "off" })?;
                }
                if let Some(deferrable) = modes.deferrable {
                    set("default_transaction_deferrable", if deferrable { "on" } else { "off" })?;
                }
                "SET"
            }
            S::SetSnapshot(name) => {
                if parts.alone {
                    parts.notices.push(set_alone());
                }
                self.import_snapshot(name, parts)?;
                "SET"
            }
            S::Prepare(_) | S::CommitPrepared(_) | S::RollbackPrepared(_) => {
                unreachable!("two-phase commit is the session's")
            }
        })
    }

    /// SET TRANSACTION SNAPSHOT: the transaction reads by the snapshot of another one that still runs (`ImportSnapshot`).
    fn import_snapshot(&mut self, name: &str, parts: &Parts<'_>) -> Result<()> {
        let Some(transaction) = &mut self.transaction else { return Ok(()) };
        let own = *transaction.begin();
        if transaction.has_snapshot() || transaction.has_writes() || !self.savepoints.is_empty() {
            return Err(SqlError::new(
                SqlState::ACTIVE_SQL_TRANSACTION,
                "SET TRANSACTION SNAPSHOT must be called before any query",
            ));
        }
        let refused = |why: &str| Err(SqlError::new(SqlState::FEATURE_NOT_SUPPORTED, why));
        if !own.scheme.exports() {
            return Err(SqlError::unsupported(format!(
                "SET TRANSACTION SNAPSHOT in a database of concurrency control {} is",
                own.scheme.name()
            )));
        }
        if own.isolation == Isolation::ReadCommitted {
            return refused(
                "a snapshot-importing transaction must have isolation level SERIALIZABLE or REPEATABLE READ",
            );
        }
        let exports = parts.channels.0.manager().exported_snapshots();
        let exporter = exports.exporter(name).ok_or_else(|| {
            SqlError::new(
                SqlState::INVALID_PARAMETER_VALUE,
                format!("invalid snapshot identifier: \"{name}\""),
            )
        })?;
        let is_serializable = |begin: &Begin| {
            begin.isolation == Isolation::Serializable || begin.scheme == SchemeKind::Ssi
        };
        if is_serializable(&own) {
            if !is_serializable(&exporter.begin) {
                return refused(
                    "a serializable transaction cannot import a snapshot from a non-serializable transaction",
                );
            }
            if exporter.begin.read_only && !own.read_only {
                return refused(
                    "a non-read-only serializable transaction cannot import a snapshot from a read-only transaction",
                );
            }
        }
        if exporter.scope != parts.catalog.database().0 {
            return refused("cannot import a snapshot from a different database");
        }
        if !transaction.import_snapshot(name) {
            return Err(SqlError::new(
                SqlState::OBJECT_NOT_IN_PREREQUISITE_STATE,
                "could not import the requested snapshot",
            )
            .detail("The source transaction is not running anymore."));
        }
        Ok(())
    }

    /// Begins a subtransaction that no name leads to: a block with EXCEPTION. A transaction is open.
    pub fn begin_subtransaction(&mut self, parts: &mut Parts<'_>) {
        let Some(transaction) = &mut self.transaction else { return };
        self.savepoints.push(Named {
            name: Ident::from(""),
            transaction: transaction.savepoint(),
            catalog: parts.catalog.savepoint(),
            settings: parts.settings.savepoint(),
            advisory: parts.advisory.savepoint(),
            said: parts.said.len(),
            deferred: parts.deferred.savepoint(),
            counts: parts.counts.savepoint(),
            read_only: transaction.begin().read_only,
        });
    }

    /// The innermost subtransaction becomes a part of what is around it.
    pub fn release_subtransaction(&mut self, parts: &mut Parts<'_>) {
        let Some(released) = self.savepoints.pop() else { return };
        if let Some(transaction) = &mut self.transaction {
            transaction.release_savepoint(released.transaction);
        }
        self.set_access(released.read_only, parts);
    }

    /// The innermost subtransaction has not been.
    pub fn rollback_subtransaction(&mut self, parts: &mut Parts<'_>) {
        self.left_temporary = self.has_used_temporary(parts.catalog);
        let Some(named) = self.savepoints.pop() else { return };
        if let Some(transaction) = &mut self.transaction {
            transaction.abandon_loads();
            transaction.rollback_to(named.transaction);
        }
        parts.catalog.rollback_to(named.catalog);
        parts.settings.rollback_to(named.settings);
        parts.advisory.rollback_to(named.advisory);
        parts.said.truncate(named.said);
        parts.deferred.rollback_to(&named.deferred);
        parts.counts.rollback_to(&named.counts);
        self.set_access(named.read_only, parts);
    }

    fn demand_block(&self, statement: &str) -> Result<()> {
        if self.is_explicit() {
            return Ok(());
        }
        Err(SqlError::new(
            SqlState::NO_ACTIVE_SQL_TRANSACTION,
            format!("{statement} can only be used in transaction blocks"),
        ))
    }

    fn find(&self, name: &str) -> Result<usize> {
        self.savepoints.iter().rposition(|known| &*known.name == name).ok_or_else(|| {
            SqlError::new(
                SqlState::INVALID_SAVEPOINT_SPECIFICATION,
                format!("savepoint \"{name}\" does not exist"),
            )
        })
    }
}

/// What SET TRANSACTION says where it stands alone.
fn set_alone() -> Notice {
    SqlError::warning(
        SqlState::NO_ACTIVE_SQL_TRANSACTION,
        "SET TRANSACTION can only be used in transaction blocks",
    )
}

/// The level that modes name, as it was written.
fn level_written(modes: &TransactionModes) -> Option<&'static str> {
    let level = modes.isolation?;
    Some(if modes.uncommitted { "read uncommitted" } else { level_name(level) })
}

/// A level as settings spell it.
pub(super) fn level_name(level: Isolation) -> &'static str {
    match level {
        Isolation::ReadCommitted => "read committed",
        Isolation::RepeatableRead => "repeatable read",
        Isolation::Serializable => "serializable",
    }
}
