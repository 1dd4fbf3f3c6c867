//! Autovacuum (PostgreSQL 15 manual, section 25.1.6): tables that have changed enough are packed and analysed by themselves.
//!
//! One thread is launcher and worker. It rests for `autovacuum_naptime`, then looks at what has been counted of the tables
//! of each database ([`thresholds`]), and where there is something to do opens a session there, under a process number of
//! its own, that runs VACUUM and ANALYZE like any other, one table after the other. It waits for nobody: what somebody has
//! locked is left to the next round. Who waits for what it holds for as long as `deadlock_timeout` has it give up, as in
//! PostgreSQL; so has who drops its database. Sessions pay nothing for it: they count their changes anyway.
//!
//! Difference: nothing has to be frozen, so there is nothing that has to be done in spite of `autovacuum = off`; there is one
//! worker, whatever `autovacuum_max_workers` says, and it does not rest by cost.

mod thresholds;

use crate::background::{Background, WORKER};
use crate::catalog::quote::qualified;
use crate::catalog::relation::{Relation, RelationKind};
use crate::engine::Engine;
use crate::error::{Severity, SqlError, cancel};
use crate::session::Session;
use crate::types::Oid;
use std::sync::{Arc, Weak};
use thresholds::{Parameters, Work};
use txn::{Micros, SessionWait, Usage};

/// A table that something is to be done to.
struct Task {
    relation: Oid,
    /// Its name in messages, with its database.
    shown: String,
    /// Its name in statements.
    name: String,
    work: Work,
    logged_from: Option<u64>,
}

impl Engine {
    /// Has tables looked after from now on.
    pub fn start_autovacuum(self: &Arc<Engine>) {
        self.begin_background("autovacuum launcher", self.autovacuum(), launch);
    }

    /// What is to be done in a database.
    fn tasks(&self, database: Oid) -> Vec<Task> {
        let Some(snapshot) = self.catalog().snapshot(database) else { return Vec::new() };
        let settings = self.server_settings();
        let counted = self.relation_counts().look(database).relations;
        let mut tasks: Vec<Task> = Vec::new();
        for (oid, counts) in counted {
            let Some(relation) = snapshot.relation(oid).filter(|found| is_kept(found)) else {
                continue;
            };
            let parameters = Parameters { settings: &settings, relation };
            let work = parameters.work(&counts);
            if work.is_any() {
                let name = qualified(&relation.schema.1, &relation.name);
                let shown = format!("{}.{name}", snapshot.database_name());
                let logged_from = parameters.logged_from();
                tasks.push(Task { relation: oid, shown, name, work, logged_from });
            }
        }
        tasks.sort_by_key(|task| task.relation);
        tasks
    }

    /// One round.
    fn look_after(self: &Arc<Engine>) {
        let current = self.catalog().current();
        let databases: Vec<Oid> = current.shared().databases().map(|found| found.oid).collect();
        for database in databases {
            let tasks = self.tasks(database);
            if !tasks.is_empty() && !self.autovacuum().is_stopping() {
                self.work_in(database, &tasks);
            }
        }
    }

    fn work_in(self: &Arc<Engine>, database: Oid, tasks: &[Task]) {
        let wait = Arc::new(SessionWait::new(WORKER));
        self.worker_begins(Arc::clone(&wait));
        match self.connect_worker(database, Arc::clone(&wait)) {
            Ok(mut session) => {
                for task in tasks {
                    // Who is told to give up one table goes on with the next; who drops the database, or stops, means all.
                    let ends = |reason| matches!(reason, cancel::SHUTDOWN | cancel::TERMINATE);
                    if self.autovacuum().is_stopping() || wait.cancel.requested().is_some_and(ends)
                    {
                        break;
                    }
                    wait.cancel.clear();
                    self.do_task(&mut session, task);
                }
            }
            Err(error) => self.tell(&error),
        }
        self.worker_ends();
    }

    fn do_task(&self, session: &mut Session, task: &Task) {
        let clock = &self.manager().environment().clock;
        let (begun, used) = (clock.now(), Usage::so_far());
        let done = session.maintain(&task.name, task.work.words());
        let used = Usage::so_far().since(used);
        let took = Micros(clock.now().0.saturating_sub(begun.0));
        match done {
            Ok(()) => self.log_task(task, took, used, session.times_io()),
            // Whoever stops the server, or drops the database, knows.
            Err(_) if self.autovacuum().is_stopping() => {}
            Err(error) => {
                let verb = if task.work.vacuum { "vacuum" } else { "analyze" };
                self.tell(&error.context(format!("automatic {verb} of table \"{}\"", task.shown)));
            }
        }
    }

    /// `log_autovacuum_min_duration`.
    fn log_task(&self, task: &Task, took: Micros, used: Usage, timed: bool) {
        if task.logged_from.is_none_or(|least| took.0 / 1000 < least) {
            return;
        }
        let tail = crate::ddl::vacuum::cost_text(used, took, timed);
        let vacuum = format!("automatic vacuum of table \"{}\": index scans: 0\n", task.shown);
        let analyze = format!("automatic analyze of table \"{}\"\n", task.shown);
        let work = task.work;
        for (does, begin) in [(work.vacuum, vacuum), (work.analyze, analyze)] {
            if does {
                self.tell(&SqlError::notice(begin + &tail).severity(Severity::Log));
            }
        }
    }

    /// Writes an event to the server's log.
    fn tell(&self, event: &SqlError) {
        if let Some(host) = self.host() {
            host.log(event);
        }
    }
}

/// Whether a relation is a table that others than one session see.
fn is_kept(relation: &Relation) -> bool {
    matches!(relation.kind, RelationKind::Table { .. }) && relation.persistence != 't'
}

fn launch(weak: &Weak<Engine>, own: &Background) {
    let Some(engine) = weak.upgrade() else { return };
    let mut last = engine.manager().environment().clock.now();
    drop(engine);
    loop {
        let Some(engine) = weak.upgrade() else { return };
        let environment = engine.manager().environment().clone();
        let naptime = engine.server_settings().number("autovacuum_naptime").max(1).unsigned_abs();
        drop(engine);
        let due = last.plus(Micros(naptime * 1_000_000));
        own.rest(&environment, Some(due));
        let Some(engine) = weak.upgrade() else { return };
        if own.is_stopping() || engine.manager().data().log().alive().is_err() {
            return;
        }
        // A reload may have changed when it is due.
        if environment.clock.now() < due {
            continue;
        }
        last = environment.clock.now();
        let settings = engine.server_settings();
        if settings.is_on("autovacuum") && settings.is_on("track_counts") {
            engine.look_after();
        }
    }
}
