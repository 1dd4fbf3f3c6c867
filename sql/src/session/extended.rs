//! The extended protocol: Parse, Bind, Describe, Execute, Close, Sync, each a call (section 55.2.3 of the manual).

use super::portal::{self, Executed, ParameterReader, Portal, Stage};
use super::{
    Bind, BoundSink, Progress, RowsDescription, Session, StatementDescription, Told,
    block_has_failed, machines,
};
use crate::error::{Result, SqlError};
use crate::exec::sink::RowSink;
use crate::parse::Statement;
use crate::prepared::{Named, Prepared};
use crate::source::Source;
use crate::sqlstate::SqlState;
use crate::types::Oid;
use std::sync::Arc;
use txn::breakdown::{self, Class};

impl Session {
    /// Parse.
    ///
    /// # Errors
    /// Everything up to planning.
    pub fn parse(&mut self, name: &str, text: &str, parameter_types: &[Oid]) -> Result<()> {
        let _class = breakdown::enter(Class::ParsePlan);
        self.end_measured();
        self.attempt(|session| {
            session.begin_statement(Some(text));
            session.says_unnamed = false;
            if name.is_empty() {
                session.unnamed = None;
            } else if session.statements.contains_key(name) {
                return Err(SqlError::new(
                    SqlState::DUPLICATE_PREPARED_STATEMENT,
                    format!("prepared statement \"{name}\" already exists"),
                ));
            }
            let kept = parameter_types.is_empty().then(|| session.kept(text)).flatten();
            let prepared = match kept {
                Some(prepared) => {
                    session.demand_live(&prepared.parsed)?;
                    prepared
                }
                None => {
                    let text: Arc<str> = text.into();
                    let (mut parsed, notices) =
                        Source::parse(&text, session.settings.plain().dialect)?;
                    session.notices.get_mut().extend(notices);
                    if parsed.len() > 1 {
                        return Err(SqlError::new(
                            SqlState::SYNTAX_ERROR,
                            "cannot insert multiple commands into a prepared statement",
                        ));
                    }
                    match parsed.pop() {
                        None => Arc::new(Prepared {
                            parsed: Arc::new(Source::empty(&text)),
                            text,
                            parameters: Vec::new(),
                            columns: None,
                            told: Told::default(),
                            planned: None,
                        }),
                        Some(parsed) => {
                            session.demand_live(&parsed)?;
                            session.prepare(Arc::new(parsed), parameter_types)?
                        }
                    }
                }
            };
            let prepared = session.held(prepared)?;
            if name.is_empty() {
                session.unnamed = Some(prepared);
            } else {
                let since = session.block.statement_time;
                let named = Named { prepared, since, from_sql: false };
                session.statements.insert(name.to_owned(), named);
            }
            Ok(())
        })
    }

    pub(super) fn statement(&self, name: &str) -> Result<&Arc<Prepared>> {
        let named = || self.statements.get(name).map(|named| &named.prepared);
        let found = if name.is_empty() { self.unnamed.as_ref() } else { named() };
        found.ok_or_else(|| {
            let message = if name.is_empty() {
                "unnamed prepared statement does not exist".to_owned()
            } else {
                format!("prepared statement \"{name}\" does not exist")
            };
            SqlError::new(SqlState::INVALID_SQL_STATEMENT_NAME, message)
        })
    }

    /// Keeps a statement's new plan in the place of the one that is not good any more.
    pub(super) fn replace(&mut self, name: &str, fresh: Arc<Prepared>) -> Arc<Prepared> {
        let known = match name {
            "" => self.unnamed.as_mut(),
            name => self.statements.get_mut(name).map(|named| &mut named.prepared),
        };
        if let Some(known) = known {
            *known = Arc::clone(&fresh);
        }
        fresh
    }

    /// Bind.
    ///
    /// # Errors
    /// 26000, 42P03, 22P02, 22P03, 08P01 and the like.
    pub fn bind(&mut self, bind: &Bind<'_>) -> Result<()> {
        self.end_measured();
        self.attempt(|session| {
            let portal = session.bound(bind)?;
            session.keep_portal(bind.portal, portal);
            Ok(())
        })
    }

    /// Bind, and Execute of the portal that it makes: what the two would have done one behind the other, as one. Where the Sync
    /// behind them has come too (`syncs`), a transaction that has only read ends with the portal already.
    ///
    /// # Errors
    /// Those of [`Session::bind`], before the sink is told that the portal is there, and behind that of [`Session::run`].
    pub fn bind_and_run(
        &mut self,
        bind: &Bind<'_>,
        (max_rows, syncs): (u64, bool),
        sink: &mut dyn BoundSink,
    ) -> Result<Progress> {
        self.end_measured();
        self.attempt(|session| {
            let portal = session.bound(bind)?;
            session.pass_notices(sink);
            sink.bound(portal.rows_description());
            let progress = session.run_taken(bind.portal, portal, max_rows, sink)?;
            if syncs && matches!(progress, Progress::Complete(_)) {
                session.end_reading();
            }
            Ok(progress)
        })
    }

    /// The portal that a Bind makes.
    fn bound(&mut self, bind: &Bind<'_>) -> Result<Box<Portal>> {
        let prepared = Arc::clone(self.statement(bind.statement)?);
        self.begin_prepared(&prepared.text);
        self.says_unnamed = bind.portal.is_empty();
        self.demand_live(&prepared.parsed)?;
        if !bind.portal.is_empty() && self.portals.contains_key(bind.portal) {
            return Err(SqlError::new(
                SqlState::DUPLICATE_CURSOR,
                format!("cursor \"{}\" already exists", bind.portal),
            ));
        }
        // What the statement was made from may have changed: PostgreSQL finds out here.
        let prepared = match &prepared.planned {
            Some(planned)
                if planned.basis.state != self.catalog.snapshot().state()
                    || planned.may_be_outgrown(self.engine.manager()) =>
            {
                match self.fresh(&prepared, true)? {
                    Some(fresh) => self.replace(bind.statement, fresh),
                    None => prepared,
                }
            }
            _ => prepared,
        };
        // A portal is used again where its statement runs again, with its buffers and its machine.
        let kept = if bind.portal.is_empty() { self.unnamed_portal.take() } else { None };
        if let Some(kept) = &kept {
            self.let_go(kept);
        }
        let mut portal = match kept {
            Some(kept) if Arc::ptr_eq(&kept.prepared, &prepared) => kept.again(),
            other => {
                if let Some(other) = other.and_then(|other| self.resting_portals.give(other)) {
                    self.retire(other);
                }
                match self.resting_portals.take(&prepared) {
                    Some(rested) => rested.again(),
                    None => self.new_portal(Arc::clone(&prepared)),
                }
            }
        };
        portal.depth = self.block.depth();
        portal.created = self.block.statement_time;
        let mut parameters = std::mem::take(&mut portal.parameters);
        parameters.clear();
        let mut reader = ParameterReader::new(bind, &prepared.parameters)?;
        if !reader.read_plain(&mut parameters) {
            self.with_context(|context| reader.read(context, &mut parameters))?;
        }
        portal.parameters = parameters;
        self.check_presets(&prepared, &portal.parameters)?;
        if let Some(custom) = self.custom(&prepared, &portal.parameters)? {
            portal.prepared = custom;
            portal.machine = None;
        }
        if let Some(planned) = &prepared.planned
            && planned.program.tag == "SELECT"
            && !planned.program.changes
        {
            // PostgreSQL begins a query here; a change, also one in WITH, when it is executed.
            self.may_run(planned)?;
        }
        if let Some(planned) = &prepared.planned {
            planned.check_populated()?;
        }
        let columns = prepared.columns.as_ref().map(Vec::len);
        portal::read_formats(bind, columns, &mut portal.formats)?;
        Ok(portal)
    }

    /// Describe (statement).
    ///
    /// # Errors
    /// 26000.
    pub fn describe_statement(&mut self, name: &str) -> Result<StatementDescription<'_>> {
        let found = self.statement(name).map(|prepared| prepared.columns.is_some());
        if let Err(error) = found.and_then(|rows| self.demand_describable(rows)) {
            self.failed(error.abort());
            return Err(error);
        }
        let prepared = self.statement(name)?;
        let rows = prepared.columns.as_deref().map(|columns| RowsDescription {
            columns,
            formats: &[],
            told: &prepared.told,
        });
        Ok(StatementDescription { parameters: &prepared.parameters, rows })
    }

    pub(super) fn portal(&self, name: &str) -> Result<&Portal> {
        let unnamed = || self.unnamed_portal.as_ref().filter(|portal| !portal.over);
        let found = if name.is_empty() { unnamed() } else { self.portals.get(name) };
        found.map(|portal| &**portal).ok_or_else(|| Session::no_portal(name))
    }

    /// 25P02 for a Describe of something with `rows` in a failed block.
    pub(super) fn demand_describable(&self, rows: bool) -> Result<()> {
        if rows && self.block.is_failed() { Err(block_has_failed()) } else { Ok(()) }
    }

    pub(super) fn no_portal(name: &str) -> SqlError {
        SqlError::new(SqlState::INVALID_CURSOR_NAME, format!("portal \"{name}\" does not exist"))
    }

    /// Describe (portal): its columns with their formats, none for NoData.
    ///
    /// # Errors
    /// 34000.
    pub fn describe_portal(&mut self, name: &str) -> Result<Option<RowsDescription<'_>>> {
        let found = self.portal(name).map(|portal| portal.prepared.columns.is_some());
        if let Err(error) = found.and_then(|rows| self.demand_describable(rows)) {
            self.failed(error.abort());
            return Err(error);
        }
        Ok(self.portal(name)?.rows_description())
    }

    /// Whether the rows of the portal that ran last, and their description, are shown although it has failed: a query's are,
    /// once it has begun. PostgreSQL runs a modification that returns rows, FETCH and EXECUTE to their end before it shows
    /// anything of them.
    #[must_use]
    pub fn shows_failure(&self) -> bool {
        self.answer_began
    }

    /// Execute: runs a portal until it ends, has given `max_rows` rows (0: no limit), or the sink asks to pause.
    ///
    /// # Errors
    /// Everything a statement can fail with.
    pub fn run(&mut self, name: &str, max_rows: u64, sink: &mut dyn RowSink) -> Result<Progress> {
        self.attempt(|session| {
            let taken = if name.is_empty() {
                session.unnamed_portal.take_if(|portal| !portal.over)
            } else {
                session.portals.remove(name)
            };
            let portal = taken.ok_or_else(|| Session::no_portal(name))?;
            // A Query's statements, and one that has paused, have the time of their message.
            if session.script.is_none() && (portal.progress != Stage::Running || session.resting) {
                let said = name.is_empty() && session.says_unnamed;
                session.begin_statement((!said).then_some(&*portal.prepared.text));
                session.says_unnamed = name.is_empty();
            }
            session.answer_began = false;
            if let Err(refused) = session.demand_live(&portal.prepared.parsed) {
                // It has not run: its block refuses it, and it goes on once the block has come back to life.
                session.keep_portal(name, portal);
                return Err(refused);
            }
            session.run_taken(name, portal, max_rows, sink)
        })
    }

    /// Runs a portal that has been taken out from among the others, and puts it back.
    fn run_taken(
        &mut self,
        name: &str,
        mut portal: Box<Portal>,
        max_rows: u64,
        sink: &mut dyn RowSink,
    ) -> Result<Progress> {
        if self.script.is_some() {
            self.executed = None;
        } else {
            Executed::note(&mut self.executed, name, &portal);
        }
        self.answer_began = false;
        sink.formats(&portal.formats);
        let _class = breakdown::enter(Class::UsefulWork);
        if self.tracking.measures && portal.progress == Stage::Ready {
            self.measure(&portal.prepared);
        }
        let watch = match self.tracking.watches {
            true => self.begin_watch(&mut portal),
            false => None,
        };
        let progress = match self.run_portal(&mut portal, name, max_rows, sink) {
            Ok(progress) => {
                if let Some(watch) = watch {
                    self.end_watch(&mut portal, watch, &progress);
                }
                progress
            }
            Err(error) => {
                // It stays known, as one that has failed, for as long as its block does.
                self.fail_portal(&mut portal);
                self.keep_portal(name, portal);
                return Err(error);
            }
        };
        if self.copying.is_none() {
            self.block.end_statement();
        }
        self.pass_notices(sink);
        // A transaction statement has ended every portal, this one too.
        let statement = portal.prepared.parsed.statement();
        let over = matches!(statement, Some(Statement::Transaction(_)));
        let alone = statement.is_some_and(Statement::stands_alone);
        if !over || name.is_empty() {
            self.keep_portal(name, portal);
        }
        // Rows are shown, also where the commit fails.
        self.answer_began = true;
        self.share_transaction(&progress, alone)?;
        Ok(progress)
    }

    /// Tells the sink what came up meanwhile.
    fn pass_notices(&mut self, sink: &mut (impl RowSink + ?Sized)) {
        if self.has_notices() {
            for notice in self.take_notices() {
                sink.notice(&notice);
            }
        }
    }

    /// Behind a portal's run: the transaction ends with the last statement of a Query message, and with one that stands
    /// alone; else what follows shares it.
    pub(super) fn share_transaction(&mut self, progress: &Progress, alone: bool) -> Result<()> {
        match progress {
            Progress::Complete(_) if self.is_last() => self.end_implicit(),
            Progress::Complete(_) | Progress::Suspended if self.script.is_none() => {
                if alone {
                    return self.end_implicit();
                }
                self.block.executed();
                Ok(())
            }
            _ => Ok(()),
        }
    }

    pub(super) fn keep_portal(&mut self, name: &str, portal: Box<Portal>) {
        if name.is_empty() {
            self.unnamed_portal = Some(portal);
        } else {
            self.portals.insert(name.to_owned(), portal);
        }
    }

    /// Close (statement). Closing what is not there is no error.
    pub fn close_statement(&mut self, name: &str) {
        if name.is_empty() {
            self.unnamed = None;
        } else {
            self.statements.remove(name);
        }
    }

    /// Close (portal).
    pub fn close_portal(&mut self, name: &str) {
        let closed =
            if name.is_empty() { self.unnamed_portal.take() } else { self.portals.remove(name) };
        if let Some(mut portal) = closed {
            self.leave_watched(&mut portal);
            self.let_go(&portal);
            self.retire(portal);
        }
    }

    /// A portal, in the memory of one that is closed.
    pub(super) fn new_portal(&mut self, prepared: Arc<Prepared>) -> Box<Portal> {
        match self.spare_portal.take() {
            Some(spare) => spare.renewed(prepared),
            None => Portal::new(prepared),
        }
    }

    /// Keeps what the next portal can use of one that is closed.
    pub(super) fn retire(&mut self, mut portal: Box<Portal>) {
        // A plan for this once may hold a constant of any length.
        if portal.prepared.planned.as_ref().is_some_and(|planned| planned.momentary) {
            return;
        }
        let machine = portal.machine.take();
        // It begins anew as well where it was left between two rows.
        if let (Some(machine), Stage::Done(_) | Stage::Running) = (machine, portal.progress) {
            self.machines.give(machine);
        }
        if portal.parameters.capacity_bytes() <= machines::REST_BYTES_MAX {
            self.spare_portal = Some(portal);
        }
    }

    /// Gives up what a portal keeps that has not come to its end.
    pub(super) fn let_go(&mut self, portal: &Portal) {
        let number = self.block.number;
        if let Some(transaction) = self.block.transaction()
            && portal.retained
            && portal.transaction == number
            && !matches!(portal.progress, Stage::Done(_))
            && let Some(view) = &portal.view
        {
            transaction.release_view(view);
        }
    }

    /// Sync: ends the implicit transaction.
    ///
    /// # Errors
    /// What a commit can fail with.
    pub fn sync(&mut self) -> Result<()> {
        // Within a block, or where nothing has been done, there is nothing to end.
        if self.block.is_implicit() {
            self.attempt(Session::end_implicit)?;
        }
        if !self.block.is_explicit() {
            // Portals end with the transaction, also where it has had nothing to do.
            if !self.portals.is_empty() {
                self.close_unheld();
            }
            if let Some(portal) = &mut self.unnamed_portal {
                portal.over = true;
            }
        }
        Ok(())
    }
}
