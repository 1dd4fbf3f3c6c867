//! Running portals: locks, privileges, the view, and rows into the sink.

use crate::bind::{Required, may_use_schemas};
use crate::catalog::builtin::Kind;
use crate::catalog::object::{Class, well_known};
use crate::catalog::relation::ConstraintKind;
use crate::catalog::store;
use crate::catalog::{CatalogSnapshot, Relation, RelationKind};
use crate::compile::Program;
use crate::ddl::resolve::kind_noun;
use crate::error::{Result, SqlError};
use crate::exec::machine::{Run, Stop};
use crate::exec::sink::{Flow, RowSink};
use crate::exec::{Host, Machine};
use crate::message::{CommandTag, Progress};
use crate::parse::Statement;
use crate::parse::depth::{LOW, on_full_stack};
use crate::prepared::{Held, Planned, Prepared};
use crate::queries::SessionCatalog;
use crate::queries::running::RunningSettings;
use crate::session::Session;
use crate::session::facts::{Own, SessionFacts, Shared};
use crate::session::portal::{Portal, Stage, run_text_rows};
use crate::sqlstate::SqlState;
use crate::types::Oid;
use std::cell::Cell;
use std::sync::Arc;
use txn::{Lsn, ReadView, TableLock, Transaction, WaitPolicy};

/// Whether a program neither changes nor locks rows.
fn is_read_only(program: &Program) -> bool {
    !program.changes && !program.positions.iter().any(|position| position.locked)
}

impl Session {
    /// Runs a portal from where it stands.
    pub(super) fn run_portal(
        &mut self,
        portal: &mut Portal,
        name: &str,
        max_rows: u64,
        sink: &mut dyn RowSink,
    ) -> Result<Progress> {
        // What a plan changes of the catalog or the settings is noticed where that is looked at; a CALL does what the
        // statements of its body do.
        let calls = matches!(portal.prepared.parsed.statement(), Some(Statement::Call(_)));
        if portal.prepared.planned.is_none() && !calls {
            self.changes += 1;
        }
        match portal.progress {
            Stage::Ready | Stage::Running => {}
            // A portal that has ended gives no more rows.
            Stage::Done(tag) if portal.prepared.columns.is_some() => {
                return Ok(Progress::Complete(CommandTag { rows: Some(0), ..tag }));
            }
            Stage::Done(_) | Stage::Failed => return Err(cannot_run(name)),
        }
        if portal.prepared.planned.is_some() {
            return self.run_plan(portal, max_rows, sink);
        }
        let parsed = Arc::clone(&portal.prepared.parsed);
        let Some(statement) = parsed.statement() else { return Ok(Progress::Empty) };
        if let Statement::Fetch(fetch) = statement {
            return self.fetch(fetch, portal, max_rows, sink);
        }
        if portal.rows.is_none() {
            let outcome = if parsed.height() > LOW || opens_trees(statement) {
                on_full_stack(|| self.utility(&parsed, statement, portal, sink))
            } else {
                self.utility(&parsed, statement, portal, sink)
            };
            match outcome? {
                super::utility::Outcome::Done(tag) => {
                    portal.progress = Stage::Done(tag);
                    return Ok(Progress::Complete(tag));
                }
                super::utility::Outcome::Rows(rows) => portal.rows = Some(rows),
                super::utility::Outcome::CopyIn(format) => return Ok(Progress::CopyIn(format)),
                super::utility::Outcome::Progress(progress) => {
                    if let Progress::Complete(tag) = progress {
                        portal.progress = Stage::Done(tag);
                    }
                    return Ok(progress);
                }
            }
        }
        let mut rows = portal.rows.take().expect("it has just been made");
        let columns = portal.prepared.columns.clone().unwrap_or_default();
        let flow = self
            .with_context(|context| run_text_rows(&mut rows, context, &columns, max_rows, sink))?;
        match flow {
            None => {
                let counted = if rows.tag == "SELECT" { Some(rows.given) } else { None };
                let tag = CommandTag { words: rows.tag, rows: counted };
                portal.progress = Stage::Done(tag);
                Ok(Progress::Complete(tag))
            }
            Some(flow) => {
                portal.rows = Some(rows);
                Ok(if flow == Flow::Pause { Progress::Paused } else { Progress::Suspended })
            }
        }
    }

    /// Runs a plan from where it stands.
    fn run_plan(
        &mut self,
        portal: &mut Portal,
        max_rows: u64,
        sink: &mut dyn RowSink,
    ) -> Result<Progress> {
        if portal.progress == Stage::Ready {
            self.start_plan(portal)?;
        } else if portal.transaction != self.block.number || self.block.transaction().is_none() {
            return Err(SqlError::new(
                SqlState::INVALID_CURSOR_NAME,
                "the portal's transaction has ended",
            ));
        }
        let planned = portal.prepared.planned.as_ref().expect("the caller has looked");
        self.answer_began = !planned.program.changes;
        if planned.program.changes {
            sink.shown_at_end();
        }
        let loaded = match super::load::inserts_query(planned) {
            Some(relation) if self.begin_load(relation, false)? => Some(relation.oid),
            _ => None,
        };
        let view = portal.view.expect("a started portal has a view");
        let machine = portal.machine.as_mut().expect("a started portal has a machine");
        let copies = portal.copy_out.is_some();
        let mut lines;
        let sink: &mut dyn RowSink = match &mut portal.copy_out {
            Some(out) => {
                lines = super::copy::LineSink { out, sink };
                &mut lines
            }
            None => sink,
        };
        let height = portal.prepared.parsed.height().max(machine.program().height);
        let lends = machine.program().calls_routines;
        if lends {
            sink.lets_notices_pass();
            self.running.push(Arc::clone(&portal.prepared));
        }
        let stopped = crate::parse::depth::with_stack_for(height, || {
            self.drive(machine, view, &portal.parameters, max_rows, sink)
        });
        if lends {
            self.running.pop();
        }
        let stopped = stopped?;
        if stopped == Stop::Done && copies {
            sink.copy_done();
        }
        if let Some(table) = loaded {
            self.end_load(table, &|error, _| error)?;
        }
        if stopped == Stop::Done {
            if portal.retained
                && let Some(transaction) = self.block.transaction()
            {
                transaction.release_view(&view);
                portal.retained = false;
            }
            let tag = match &portal.copy_out {
                Some(out) => CommandTag { words: "COPY", rows: Some(out.rows) },
                None => {
                    let rows = match portal.given {
                        0 => machine.rows(),
                        given => machine.sent() - given,
                    };
                    CommandTag { words: machine.program().tag, rows: Some(rows) }
                }
            };
            portal.progress = Stage::Done(tag);
            return Ok(Progress::Complete(tag));
        }
        if stopped == Stop::MaxRows && portal.prepared.columns.is_some() {
            portal.given = machine.sent();
        }
        if !portal.retained
            && !portal.once
            && let Some(transaction) = self.block.transaction()
        {
            transaction.retain_view(&view);
            portal.retained = true;
        }
        Ok(if stopped == Stop::Paused { Progress::Paused } else { Progress::Suspended })
    }

    /// Begins a plan: the transaction, the locks, a plan that is still good, privileges, the view.
    pub(super) fn start_plan(&mut self, portal: &mut Portal) -> Result<()> {
        loop {
            if !self.is_settled(portal.held_at) {
                if let Some(prepared) = self.hold(&portal.prepared, true)? {
                    portal.prepared = prepared;
                }
                portal.held_at = self.changes;
            }
            self.start_held(portal)?;
            if self.sees_what_was_planned() {
                return Ok(());
            }
        }
    }

    /// Whether a plan whose view has just begun is of what that sees. A table that was loaded or reindexed meanwhile has other
    /// trees, and readers are not told by its lock: what was replaced before the snapshot began shows here, and what is replaced
    /// from now on stays for as long as that.
    pub(super) fn sees_what_was_planned(&mut self) -> bool {
        let trusts = self.engine.manager().planted(txn::Fault::PlanNotLookedAtAgain);
        trusts || self.catalog.is_current()
    }

    /// Begins a portal's plan whose relations are locked, by its machine if that is of this plan.
    pub(super) fn start_held(&mut self, portal: &mut Portal) -> Result<()> {
        let planned = portal.prepared.planned.as_ref().expect("a plan stays a plan");
        portal.view = Some(self.begin_plan(planned)?);
        portal.transaction = self.block.number;
        match &mut portal.machine {
            Some(machine) if Arc::ptr_eq(machine.program(), &planned.program) => machine.restart(),
            machine => *machine = Some(self.machines.take(&planned.program)),
        }
        portal.progress = Stage::Running;
        Ok(())
    }

    /// Begins a plan whose relations are locked: privileges, and what it sees.
    pub(super) fn begin_plan(&mut self, planned: &Planned) -> Result<ReadView> {
        self.demand_own(planned)?;
        self.may_run(planned)?;
        planned.check_populated()?;
        let transaction = self.block.ensure(self.engine.manager(), &self.wait);
        if transaction.begin().read_only && planned.program.writes {
            return Err(read_only(&planned.program.command()));
        }
        if planned.relations.iter().any(|held| self.changes_past(held)) {
            return Err(txn::Error::Conflict(txn::ConflictKind::Update).into());
        }
        let transaction = self.block.ensure(self.engine.manager(), &self.wait);
        self.engine.manager().interrupt();
        // The plan is of the catalog's last change, and so is its snapshot.
        transaction.depend_on(self.catalog.catalog().changed_at());
        let newest = transaction.begin_statement()?;
        // Tables that have changed since may have other trees now.
        let current = self.catalog.catalog().changed_at();
        let called = self.called_view.filter(|view| current <= view.snapshot);
        let view = called.filter(|_| is_read_only(&planned.program)).unwrap_or(newest);
        if transaction.notes_reads() {
            let snapshot = self.catalog.last_snapshot();
            for (oid, _) in &planned.relations {
                if let Some(relation) = snapshot.relation(*oid) {
                    let key = self.catalog.key(Class::Relation, *oid);
                    let tree = self.catalog.catalog().tree();
                    store::note_read(transaction, tree, &view, (key, relation))?;
                }
            }
        }
        if !transaction.begin().scheme.locks_rows() {
            place_trees(transaction, planned, self.catalog.last_snapshot());
        }
        Ok(view)
    }

    /// 0A000 for what a routine may not run that is not volatile.
    pub(super) fn demand_read_only(&self, prepared: &Prepared) -> Result<()> {
        let planned = prepared.planned.as_ref();
        let reads = planned.is_some_and(|plan| is_read_only(&plan.program));
        let nothing = planned.is_none() && prepared.parsed.statement().is_none();
        if self.called_view.is_none() || reads || nothing {
            return Ok(());
        }
        let command = match planned {
            Some(planned) => planned.program.command(),
            None => super::routine::command_tag(&prepared.text),
        };
        let message = format!("{command} is not allowed in a non-volatile function");
        Err(SqlError::new(SqlState::FEATURE_NOT_SUPPORTED, message))
    }

    /// Whether a relation that is shown to the transaction as it was would be locked or changed, or asked by a foreign key
    /// for its latest rows: they are in other trees now.
    fn changes_past(&self, &(oid, mode): &(Oid, TableLock)) -> bool {
        if mode < TableLock::RowShare || !self.catalog.has_past() {
            return false;
        }
        let Some(relation) = self.catalog.last_snapshot().relation(oid) else { return false };
        let parents = relation.parents();
        let children = relation.referenced_by.iter().map(|(child, _)| *child);
        std::iter::once(oid).chain(parents).chain(children).any(|oid| self.catalog.is_past(oid))
    }

    /// Locks the relations of a plan and makes sure that it is still good once it holds them; gives the plan that is,
    /// where it is another one.
    pub(super) fn hold(
        &mut self,
        prepared: &Prepared,
        told: bool,
    ) -> Result<Option<Arc<Prepared>>> {
        let mut current = self.fresh(prepared, told)?;
        loop {
            let held = current.as_deref().unwrap_or(prepared);
            let planned = held.planned.as_ref().expect("the caller has a plan");
            self.lock_planned(planned)?;
            if self.catalog.is_current() {
                return Ok(current);
            }
            match self.fresh(held, told)? {
                None => return Ok(current),
                again => current = again,
            }
        }
    }

    /// Locks the relations of a plan.
    pub(super) fn lock_planned(&mut self, planned: &Planned) -> Result<()> {
        let transaction = self.block.ensure(self.engine.manager(), &self.wait);
        for held in &planned.locks {
            match held {
                Held::Table(table, mode) => {
                    transaction.lock_table(*table, *mode, WaitPolicy::Block)?;
                }
                Held::Catalog(oid) => self.activity.reads_catalog(*oid),
            }
        }
        Ok(())
    }

    /// Locks relations that a statement reads or changes, and indexes by which it looks into the latest state. Those of the
    /// system are changed by nobody.
    pub(super) fn lock_relations(&mut self, relations: &[(Oid, TableLock)]) -> Result<()> {
        let transaction = self.block.ensure(self.engine.manager(), &self.wait);
        let (snapshot, database) = (self.catalog.last_snapshot(), self.catalog.database());
        for (oid, mode) in relations {
            match Held::of(snapshot, database, *oid, *mode) {
                Held::Table(table, mode) => {
                    transaction.lock_table(table, mode, WaitPolicy::Block)?;
                }
                Held::Catalog(oid) => self.activity.reads_catalog(oid),
            }
        }
        Ok(())
    }

    /// A statement of which the client has been told nothing yet: who changes its relations is waited for, and it is of what
    /// they have become.
    pub(super) fn held(&mut self, prepared: Arc<Prepared>) -> Result<Arc<Prepared>> {
        if prepared.planned.is_none() {
            return Ok(prepared);
        }
        Ok(self.hold(&prepared, false)?.unwrap_or(prepared))
    }

    /// Whether the current user may do what a plan does, and the owners of the views it reads or changes what it does through
    /// them: these are asked about whoever runs it, a superuser too. Who has been asked about in this
    /// state of the catalog need not be asked again.
    pub(super) fn may_run(&self, planned: &Planned) -> Result<()> {
        let user = self.identity.user;
        if self.settings.plain().restrict_views {
            self.refuse_views(planned)?;
        }
        let snapshot = self.catalog.last_snapshot();
        if planned.allowed.knows(user, snapshot.state()) {
            return Ok(());
        }
        self.may_name(planned)?;
        for required in &planned.required {
            match required {
                Required::Relation { relation, holder, privileges, columns } => {
                    let Some(relation) = snapshot.relation(*relation) else { continue };
                    let role = holder.role(user);
                    if !snapshot.may_on_columns(role, relation, *privileges, columns) {
                        return Err(denied(kind_noun(relation), &relation.name));
                    }
                }
                Required::Function(oid) | Required::Called(oid) => {
                    let found = snapshot.procedure(*oid);
                    if let Some(found) = found.filter(|found| !snapshot.may_call(user, found)) {
                        let noun = match found.kind {
                            Kind::Aggregate => "aggregate",
                            Kind::Procedure => "procedure",
                            _ => "function",
                        };
                        return Err(denied(noun, found.name));
                    }
                }
                Required::Schema(..) => {}
            }
        }
        planned.allowed.note(user, snapshot.state());
        Ok(())
    }

    /// 55000 for what reads or changes through a view that is none of the system's, where
    /// `restrict_nonsystem_relation_kind` says so.
    #[cold]
    fn refuse_views(&self, planned: &Planned) -> Result<()> {
        let snapshot = self.catalog.last_snapshot();
        let views = planned.required.iter().filter_map(|required| match required {
            Required::Relation { relation, .. } => snapshot.relation(*relation),
            Required::Function(_) | Required::Called(_) | Required::Schema(..) => None,
        });
        let mut views = views.filter(|relation| {
            relation.oid.0 >= well_known::FIRST_NORMAL
                && matches!(relation.kind, RelationKind::View { .. })
        });
        views.next().map_or(Ok(()), |view| {
            Err(SqlError::new(
                SqlState::OBJECT_NOT_IN_PREREQUISITE_STATE,
                format!("access to non-system view \"{}\" is restricted", view.name),
            ))
        })
    }

    /// Whether the current user may use the schemas that a statement names: asked where it is made ready, too.
    pub(super) fn may_name(&self, planned: &Planned) -> Result<()> {
        let snapshot = self.catalog.last_snapshot();
        let user = self.identity.user;
        if planned.allowed.knows(user, snapshot.state()) {
            return Ok(());
        }
        may_use_schemas(&planned.required, snapshot, user)
    }

    /// Makes rows and hands them to the sink, up to a limit.
    pub(super) fn drive(
        &mut self,
        machine: &mut Machine,
        view: ReadView,
        parameters: &crate::tuple::RowBuf,
        max_rows: u64,
        sink: &mut dyn RowSink,
    ) -> Result<Stop> {
        if !machine.program().calls_routines {
            return self.with_run(view, parameters, |run| machine.run(run, max_rows, sink));
        }
        // What a routine's statements see is newer: what this one sees stays as long as it runs.
        let keeps = view != ReadView::LATEST;
        if let Some(transaction) = self.block.transaction().filter(|_| keeps) {
            transaction.retain_view(&view);
        }
        let ran = self.with_lent_run(view, parameters, |run| machine.run(run, max_rows, sink));
        let is_over = !matches!(ran, Ok(Stop::MaxRows | Stop::Paused));
        if let Some(transaction) = self.block.transaction().filter(|_| keeps && is_over) {
            transaction.release_view(&view);
        }
        ran
    }

    /// Lends what a program runs with. A transaction is open.
    pub(super) fn with_run<T>(
        &mut self,
        view: ReadView,
        parameters: &crate::tuple::RowBuf,
        body: impl FnOnce(&mut Run<'_, '_>) -> T,
    ) -> T {
        let Session {
            engine,
            wait,
            identity,
            settings,
            catalog,
            block,
            path,
            statements,
            portals,
            unnamed_portal,
            executed,
            script,
            exported,
            backup,
            notices,
            random,
            row_ids,
            sequences,
            advisory,
            said,
            xact_id,
            long_query,
            activity,
            deferred,
            domains,
            counts,
            temp_used,
            firing,
            events,
            ..
        } = self;
        let environment = engine.manager().environment();
        let statement_time = block.statement_time;
        let trigger_depth = Cell::new(firing.len() as u32);
        let seen = catalog.seen_at(view.snapshot);
        let snapshot = catalog.last_snapshot();
        let database = catalog.database();
        let already = exported.borrow().len();
        let unnamed = unnamed_portal.as_deref();
        let unnamed = unnamed.filter(|portal| script.is_none() && !portal.over);
        let executed = executed.as_ref().filter(|_| script.is_none());
        let asked = SessionFacts {
            engine,
            statements: Shared::Plain(&*statements),
            portals: Shared::Plain(&*portals),
            unnamed,
            executed,
            domains,
            wait,
            own: Some(Own {
                pid: wait.pid,
                said,
                xact_id,
                exported,
                backup,
                exporter: block.transaction().map(|open| open.exporter(database.0)),
                depth: block.depth(),
                transaction: block.number,
                has_acted: block
                    .transaction()
                    .is_some_and(|open| open.has_writes() || open.has_locked_rows()),
                snapshot: Some(view.snapshot).filter(|snapshot| *snapshot != Lsn::MAX),
                long_query,
                activity,
                counts,
                trigger_depth: &trigger_depth,
                event: events.last().cloned(),
            }),
        };
        let mut running = RunningSettings::new(settings, path, identity);
        let queries = SessionCatalog {
            snapshot,
            settings: &running,
            demands_usage: true,
            engine: &asked,
            catalog: catalog.catalog(),
            sequences,
            advisory,
        };
        // The system relations are those of the snapshot; functions and names follow the latest catalog.
        let shown = SessionCatalog { snapshot: &seen, ..queries };
        let transaction_time = block.started;
        let host = Host {
            settings: &running.plain,
            catalog: &queries,
            system: &shown,
            cursors: &asked,
            clock: &*environment.clock,
            transaction_time,
            statement_time,
            notices,
            random,
            row_ids: engine.row_ids(),
            deferred,
            counts,
            temp_used,
            wait,
            routines: None,
        };
        let transaction = block.transaction().expect("the portal's transaction is open");
        let mut run = Run { transaction, view, parameters, host: &host, row_ids };
        let result = body(&mut run);
        // What the statement has exported is kept beyond it.
        if exported.borrow().len() > already {
            run.transaction.retain_view(&view);
        }
        let set = running.end();
        self.take_settings(set);
        result
    }
}

/// 55000 for a portal that has ended or failed.
pub(super) fn cannot_run(name: &str) -> SqlError {
    SqlError::new(
        SqlState::OBJECT_NOT_IN_PREREQUISITE_STATE,
        format!("portal \"{name}\" cannot be run"),
    )
}

/// 25006 for a statement that a READ ONLY transaction does not run.
pub(super) fn read_only(command: &str) -> SqlError {
    SqlError::new(
        SqlState::READ_ONLY_SQL_TRANSACTION,
        format!("cannot execute {command} in a read-only transaction"),
    )
}

/// Whether a statement that is no plan may open what is kept as text, which may be a tree of any height: what is run all the
/// time does not, and a CALL only where it is made ready.
fn opens_trees(statement: &Statement) -> bool {
    !matches!(
        statement,
        Statement::Transaction(_)
            | Statement::Set(_)
            | Statement::Reset(_)
            | Statement::Show(_)
            | Statement::SetConstraints(_)
            | Statement::Prepare(_)
            | Statement::Execute(_)
            | Statement::Deallocate(_)
            | Statement::Fetch(_)
            | Statement::Close(_)
            | Statement::Call(_)
            | Statement::Checkpoint
            | Statement::AlterSystem(_)
            | Statement::Load(_)
            | Statement::Discard(_)
            | Statement::Listen(_)
            | Statement::Unlisten(_)
            | Statement::Notify(..)
    )
}

/// Whether a statement only looks: what READ ONLY permits of what is no plan.
pub(super) fn only_looks(statement: &Statement) -> bool {
    matches!(
        statement,
        Statement::Query(_)
            | Statement::Explain(_)
            | Statement::Transaction(_)
            | Statement::Set(_)
            | Statement::Reset(_)
            | Statement::Show(_)
            | Statement::SetConstraints(_)
            | Statement::Prepare(_)
            | Statement::Execute(_)
            | Statement::Deallocate(_)
            | Statement::Declare(_)
            | Statement::Fetch(_)
            | Statement::Close(_)
            | Statement::Copy(_)
            | Statement::Vacuum(_)
            | Statement::Analyze(_)
            | Statement::Reindex(_)
            | Statement::Cluster(_)
            | Statement::AlterSystem(_)
            | Statement::Load(_)
            | Statement::Checkpoint
            | Statement::Lock(_)
            | Statement::Discard(_)
            | Statement::Listen(_)
            | Statement::Unlisten(_)
            | Statement::Notify(..)
    )
}

/// 42501.
pub(super) fn denied(kind: &str, name: &str) -> SqlError {
    let message = format!("permission denied for {kind} {name}");
    SqlError::new(SqlState::INSUFFICIENT_PRIVILEGE, message)
}

/// Says in which partitions the rows of a plan's tables are, and those of the tables that foreign keys lead to, where that has not
/// been said.
fn place_trees(transaction: &Transaction, planned: &Planned, snapshot: &CatalogSnapshot) {
    let manager = transaction.manager();
    let place = |relation: &Relation| {
        if relation.trees().all(|tree| manager.placement(tree).is_some()) {
            return;
        }
        for (tree, placement) in relation.placements() {
            manager.place(tree, placement);
        }
    };
    for relation in planned.relations.iter().filter_map(|(oid, _)| snapshot.relation(*oid)) {
        place(relation);
        let referenced = relation.constraints.iter().filter_map(|one| match &one.kind {
            ConstraintKind::ForeignKey(key) => Some(key.references),
            ConstraintKind::Check { .. } => None,
        });
        let referring = relation.referenced_by.iter().map(|(oid, _)| *oid);
        referenced
            .chain(referring)
            .filter_map(|oid| snapshot.relation(oid))
            .for_each(|at| place(at));
    }
}
