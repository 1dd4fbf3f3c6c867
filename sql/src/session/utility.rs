//! Statements that are no plans: the transaction's, the settings', prepared statements, maintenance, DDL.

use crate::bind;
use crate::bind::logical::{Node, Output, Query};
use crate::catalog::SearchPath;
use crate::catalog::object::well_known;
use crate::catalog::trigger;
use crate::ddl::{self, Ddl, kept_settings};
use crate::error::{Result, SqlError};
use crate::exec::sink::{ColumnDescription, CopyFormat, RowSink};
use crate::message::{CommandTag, Progress, TransactionStatus};
use crate::notify::{self, Said};
use crate::parse::Positions;
use crate::parse::Statement;
use crate::parse::ast::{self, Discard, ObjectKind};
use crate::prepared::{Basis, Known, Named, Planned, Prepared, Reader, planned, text_column};
use crate::queries::identity::SettingUser;
use crate::session::Session;
use crate::session::facts::Own;
use crate::session::portal::{FirstRow, Portal, TextRows};
use crate::session::run::{only_looks, read_only};
use crate::session::schema_elements::Within;
use crate::session::semantics::Meaning;
use crate::source::Source;

use crate::settings::Moment;
use crate::settings::library;
use crate::settings::session::Settings;
use crate::sqlstate::SqlState;
use crate::tuple::RowBuf;
use crate::types::Oid;
use std::cell::{Cell, RefCell};
use std::sync::Arc;
use txn::{TableLock, Transaction};

/// What a statement without a plan came to.
pub(super) enum Outcome {
    /// It is done.
    Done(CommandTag),
    /// It returns these rows.
    Rows(TextRows),
    /// COPY FROM STDIN: data is awaited.
    CopyIn(CopyFormat),
    /// It ran something else's portal.
    Progress(Progress),
}

pub(super) fn done(words: &'static str) -> Result<Outcome> {
    Ok(Outcome::Done(CommandTag { words, rows: None }))
}

fn rows(tag: &'static str, rows: Vec<Vec<Option<String>>>) -> Result<Outcome> {
    Ok(Outcome::Rows(TextRows { rows: rows.into_iter(), tag, given: 0 }))
}

impl Session {
    /// Whether the user may read settings that tell of the machine.
    fn reads_guarded(&self) -> bool {
        let shared = self.catalog.last_snapshot().shared();
        shared.has_privileges_of(self.identity.user, well_known::READ_ALL_SETTINGS)
    }

    /// The columns that a statement without a plan returns.
    pub(super) fn utility_columns(
        &self,
        statement: &Statement,
    ) -> Result<Option<Vec<ColumnDescription>>> {
        Ok(match statement {
            Statement::Show(Some(name)) => {
                self.settings.show_or_fail(name, self.reads_guarded())?;
                Some(vec![text_column(&Settings::canonical_name(name))])
            }
            Statement::Show(None) => {
                Some(vec![text_column("name"), text_column("setting"), text_column("description")])
            }
            Statement::Explain(explain) => Some(vec![super::explain::column(explain)?]),
            Statement::Execute(execute) => self.named_statement(&execute.name)?.columns.clone(),
            // A cursor that is not there is missed when the statement runs.
            Statement::Fetch(fetch) if !fetch.moves => {
                self.portals.get(&*fetch.name).and_then(|cursor| cursor.prepared.columns.clone())
            }
            _ => None,
        })
    }

    /// Runs a statement that is no plan.
    pub(super) fn utility(
        &mut self,
        parsed: &Arc<Source>,
        statement: &Statement,
        portal: &mut Portal,
        sink: &mut dyn RowSink,
    ) -> Result<Outcome> {
        if let Statement::Transaction(control) = statement {
            return self.control(control);
        }
        // Most of what is not planned may call a routine: a definition, an event trigger, the query that it stores.
        sink.lets_notices_pass();
        let lasting = match statement {
            Statement::Prepare(_) => Some("execute PREPARE"),
            Statement::Deallocate(_) => Some("execute DEALLOCATE"),
            Statement::Discard(_) => Some("execute DISCARD"),
            Statement::Close(_) => Some("execute CLOSE"),
            Statement::Listen(_) => Some("execute LISTEN"),
            Statement::Unlisten(_) => Some("execute UNLISTEN"),
            _ => None,
        };
        if let Some(words) = lasting {
            self.demand_unrestricted(words)?;
        }
        let engine = Arc::clone(&self.engine);
        let transaction = self.block.ensure(engine.manager(), &self.wait);
        if transaction.begin().read_only && !only_looks(statement) {
            return Err(read_only(&statement_words(parsed, statement)));
        }
        self.with_events(parsed, statement, |session| {
            session.performed(parsed, statement, portal, sink)
        })
    }

    /// Does what the statement says.
    fn performed(
        &mut self,
        parsed: &Arc<Source>,
        statement: &Statement,
        portal: &mut Portal,
        sink: &mut dyn RowSink,
    ) -> Result<Outcome> {
        let engine = Arc::clone(&self.engine);
        match statement {
            Statement::Set(set) => self.set(set),
            Statement::Reset(None) => {
                self.settings.reset_all();
                self.settings_changed();
                done("RESET")
            }
            Statement::Reset(Some(name)) => {
                self.set_to(name, None, false)?;
                done("RESET")
            }
            Statement::Show(Some(name)) => {
                let value = self.settings.show_or_fail(name, self.reads_guarded())?;
                rows("SHOW", vec![vec![Some(value)]])
            }
            Statement::Show(None) => {
                let all = self.settings.show_all(self.reads_guarded());
                rows(
                    "SHOW",
                    all.map(|(name, value, about)| {
                        vec![Some(name.to_owned()), Some(value), Some(about.to_owned())]
                    })
                    .collect(),
                )
            }
            Statement::SetConstraints(set) => self.set_constraints(set),
            Statement::Prepare(prepare) => self.prepare_named(parsed, prepare),
            Statement::Execute(execute) => self.execute(parsed, execute, portal, sink),
            Statement::Deallocate(None) => {
                self.statements.clear();
                done("DEALLOCATE ALL")
            }
            Statement::Deallocate(Some(name)) => match self.statements.remove(&**name) {
                Some(_) => done("DEALLOCATE"),
                None => Err(no_statement(name)),
            },
            Statement::Explain(explain) => {
                Ok(Outcome::Rows(self.explain(parsed, explain, portal, sink)?))
            }
            Statement::Copy(copy) => self.copy(parsed, copy, portal, sink),
            Statement::Checkpoint => {
                if !self.has_privileges_of(well_known::CHECKPOINT) {
                    return Err(SqlError::new(
                        SqlState::INSUFFICIENT_PRIVILEGE,
                        "must be superuser or have privileges of pg_checkpoint to do CHECKPOINT",
                    ));
                }
                engine.manager().checkpoint_all()?;
                done("CHECKPOINT")
            }
            Statement::Load(name) => {
                let snapshot = self.catalog.last_snapshot();
                let superuser = snapshot.shared().is_superuser(self.identity.user);
                if !superuser && !name.starts_with("$libdir/plugins/") {
                    return Err(SqlError::new(
                        SqlState::INSUFFICIENT_PRIVILEGE,
                        format!("access to library \"{name}\" is not allowed"),
                    ));
                }
                let notices = self.settings.load(name)?;
                self.notices.get_mut().extend(notices);
                self.settings_changed();
                done("LOAD")
            }
            Statement::AlterSystem(alter) => self.alter_system(alter),
            Statement::Lock(lock) => self.lock(parsed, lock),
            Statement::Discard(discard) => self.discard(*discard),
            Statement::Declare(declare) => done(self.declare(parsed, declare, portal)?),
            Statement::Close(name) => done(self.close_cursor(name.as_deref())?),
            Statement::Listen(channel) => {
                self.say(Said::Listen(Arc::clone(channel)));
                done("LISTEN")
            }
            Statement::Unlisten(channel) => {
                self.say(Said::Unlisten(channel.clone()));
                done("UNLISTEN")
            }
            Statement::Notify(channel, payload) => {
                let said = notify::checked(channel, payload.as_deref().unwrap_or(""))?;
                self.say(said);
                done("NOTIFY")
            }
            Statement::CreateIndex(create) if create.concurrently => {
                self.create_index_concurrently(parsed, create)
            }
            Statement::CreateTableAs(create) => {
                self.create_table_as(parsed, create, portal, sink, None)
            }
            Statement::Drop(drop) if drop.concurrently => {
                self.drop_index_concurrently(parsed, drop)
            }
            Statement::Reindex(reindex) if reindex.is_concurrent() => {
                self.reindex_concurrently(parsed, reindex)
            }
            Statement::Reindex(reindex)
                if !matches!(reindex.kind, ObjectKind::Index | ObjectKind::Table) =>
            {
                self.reindex_tables(parsed, reindex)
            }
            Statement::Refresh(refresh) => self.refresh(parsed, refresh, portal, sink),
            Statement::Truncate(truncate) => self.truncate(parsed, truncate),
            Statement::CreateRoutine(create) => self.create_routine(parsed, create),
            Statement::Call(call) => self.call(parsed, call, portal, sink),
            Statement::Do(inline) => self.inline(inline, parsed.query_text()),
            Statement::Unsupported(what) => Err(SqlError::unsupported(format!("{what} is"))),
            _ => self.change_schema(parsed, statement),
        }
    }

    fn control(&mut self, control: &ast::TransactionStatement) -> Result<Outcome> {
        if let Some(tag) = self.two_phase(control) {
            return done(tag?);
        }
        let (engine, wait) = (Arc::clone(&self.engine), Arc::clone(&self.wait));
        // A statement of its own in front of BEGIN has its transaction; BEGIN makes that the block's.
        if !matches!(
            control,
            ast::TransactionStatement::Commit { .. } | ast::TransactionStatement::Rollback { .. }
        ) && !self.block.is_failed()
        {
            self.block.ensure(engine.manager(), &wait);
        }
        if matches!(control, ast::TransactionStatement::Commit { .. })
            && self.block.status() == TransactionStatus::InTransaction
            && let Err(error) = self.before_commit()
        {
            self.with_block(|block, parts| block.rollback(parts));
            self.after_transaction();
            return Err(error);
        }
        let listens = self.said.get_mut().iter().any(|said| matches!(said, Said::Listen(_)));
        let result =
            self.with_block(|block, parts| block.control(control, engine.manager(), &wait, parts));
        if listens {
            self.inbox = self.engine.channels().inbox(self.wait.pid);
        }
        if result.is_ok() && matches!(control, ast::TransactionStatement::Commit { .. }) {
            self.hold_kept();
        }
        // A chained transaction is another one.
        let ends = matches!(
            control,
            ast::TransactionStatement::Commit { .. } | ast::TransactionStatement::Rollback { .. }
        );
        if ends || self.block.transaction().is_none() {
            self.after_transaction();
        } else {
            match control {
                _ if result.is_err() => {}
                ast::TransactionStatement::RollbackTo(_) => self.close_behind_savepoint(),
                ast::TransactionStatement::Release(_) => self.keep_released(),
                _ => {}
            }
            self.settings_changed();
        }
        done(result?)
    }

    // --- channels --------------------------------------------------------------------------------------------------

    /// Keeps what is said of channels until the commit; the same notification is sent once.
    fn say(&mut self, said: Said) {
        self.said.get_mut().keep(said);
    }

    /// Before a commit that says anything of channels: there must be room, and its turn come.
    pub(super) fn demand_notifiable(&mut self) -> Result<()> {
        let engine = Arc::clone(&self.engine);
        engine.channels().demand_room(self.said.get_mut())?;
        let transaction = self.block.ensure(engine.manager(), &self.wait);
        self.catalog.lock_notifications(transaction)
    }

    // --- settings --------------------------------------------------------------------------------------------------

    fn set(&mut self, set: &ast::SetStatement) -> Result<Outcome> {
        let current = |name: &str| self.settings.show_or_fail(name, self.reads_guarded());
        let value = kept_settings::text_of(set, &current)?;
        if set.local && self.is_alone_at_top() {
            self.notices.get_mut().push(SqlError::warning(
                SqlState::NO_ACTIVE_SQL_TRANSACTION,
                "SET LOCAL can only be used in transaction blocks",
            ));
        }
        if let Some(modes) = self.block.modes_of(&set.name, value.as_deref()) {
            self.with_block(|block, parts| block.set_modes(&modes, parts))?;
            return done("SET");
        }
        self.set_to(&set.name, value.as_deref(), set.local)?;
        done("SET")
    }

    fn set_to(&mut self, name: &str, value: Option<&str>, local: bool) -> Result<()> {
        let snapshot = Arc::clone(self.catalog.snapshot());
        let setter = SettingUser { shared: snapshot.shared(), identity: &self.identity };
        let moment = if local { Moment::SetLocal } else { Moment::Set };
        self.settings.assign((name, value), moment, &setter, self.notices.get_mut())?;
        self.settings_changed();
        Ok(())
    }

    fn discard(&mut self, what: Discard) -> Result<Outcome> {
        match what {
            Discard::All => {
                self.company().refuse("DISCARD ALL")?;
                self.statements.clear();
                self.unnamed = None;
                self.portals.clear();
                self.set_to("session_authorization", None, false)?;
                self.settings.reset_all();
                self.settings_changed();
                self.advisory.get_mut().unlock_all();
                self.sequences.get_mut().discard();
                self.with_ddl("", |ddl| ddl.discard_temporary())?;
                self.say(Said::Unlisten(None));
                done("DISCARD ALL")
            }
            Discard::Plans => done("DISCARD PLANS"),
            Discard::Sequences => {
                self.sequences.get_mut().discard();
                done("DISCARD SEQUENCES")
            }
            Discard::Temp => {
                self.with_ddl("", |ddl| ddl.discard_temporary())?;
                done("DISCARD TEMP")
            }
        }
    }

    // --- prepared statements ---------------------------------------------------------------------------------------

    fn prepare_named(&mut self, parsed: &Arc<Source>, prepare: &ast::Prepare) -> Result<Outcome> {
        let basis = self.basis().clone();
        let snapshot = Arc::clone(self.catalog.snapshot());
        let types: Vec<Oid> = prepare
            .types
            .iter()
            .map(|ty| {
                let schema = ty.name.schema().and_then(|schema| snapshot.schema(schema));
                if let Some(schema) = schema {
                    let may = snapshot.demand_usage(self.identity.user, schema);
                    may.map_err(|error| error.at(parsed.position(ty.name.at)))?;
                }
                let resolved = bind::type_name::resolve(&snapshot, &basis.path, ty);
                Ok(resolved.map_err(|error| error.at(parsed.position(ty.name.at)))?.oid)
            })
            .collect::<Result<_>>()?;
        let inner = Arc::new(parsed.inner(&prepare.statement));
        let prepared = self.prepare(inner, &types)?;
        let mut prepared = self.held(prepared)?;
        if !prepare.statement.is_planned() {
            return Err(SqlError::new(
                SqlState::SYNTAX_ERROR,
                "utility statements cannot be prepared",
            ));
        }
        if let Some(own) = Arc::get_mut(&mut prepared) {
            own.text = parsed.text();
        }
        if self.statements.contains_key(&*prepare.name) {
            return Err(SqlError::new(
                SqlState::DUPLICATE_PREPARED_STATEMENT,
                format!("prepared statement \"{}\" already exists", prepare.name),
            ));
        }
        let since = self.block.statement_time;
        self.statements.insert(prepare.name.to_string(), Named { prepared, since, from_sql: true });
        done("PREPARE")
    }

    /// What PREPARE or the protocol has made under a name.
    pub(super) fn named_statement(&self, name: &str) -> Result<Arc<Prepared>> {
        let named = self.statements.get(name).ok_or_else(|| no_statement(name))?;
        Ok(Arc::clone(&named.prepared))
    }

    fn execute(
        &mut self,
        parsed: &Arc<Source>,
        execute: &ast::Execute,
        portal: &mut Portal,
        sink: &mut dyn RowSink,
    ) -> Result<Outcome> {
        // As in PostgreSQL its portal has no name of its own.
        self.unnamed_portals += 1;
        sink.shown_at_end();
        let mut prepared = self.named_statement(&execute.name)?;
        check_parameter_count(&prepared, execute)?;
        let parameters =
            self.evaluate(parsed.query_text(), &execute.parameters, &prepared.parameters)?;
        // A plan that is not good any more is made anew once, and not each time.
        if let Some(fresh) = self.fresh(&prepared, true)? {
            prepared = self.replace(&execute.name, fresh);
        }
        self.check_presets(&prepared, &parameters)?;
        if let Some(custom) = self.custom(&prepared, &parameters)? {
            prepared = custom;
        }
        let mut inner = Portal::new(prepared);
        inner.parameters = parameters;
        inner.formats.clone_from(&portal.formats);
        let progress = self.run_named(&mut inner, sink);
        let progress = self.shown_at_end(progress)?;
        // Left in the middle, the portal goes on as the statement's own.
        *portal = *inner;
        Ok(Outcome::Progress(progress))
    }

    /// The values of constant expressions, cast to these types.
    pub(super) fn evaluate(
        &mut self,
        text: &str,
        exprs: &[ast::Expr],
        types: &[Oid],
    ) -> Result<RowBuf> {
        let basis = self.basis().clone();
        let snapshot = Arc::clone(self.catalog.snapshot());
        let bound = self.with_context(|context| {
            let reader = Reader(context);
            let environment =
                bind::Environment { catalog: &snapshot, path: &basis.path, constants: &reader };
            exprs
                .iter()
                .zip(types)
                .enumerate()
                .map(|(at, (expr, ty))| {
                    let wanted =
                        bind::Wanted::Parameter(crate::types::SqlType::plain(ty.0), at + 1);
                    bind::bind_argument(environment, text, expr, wanted)
                })
                .collect::<Result<Vec<_>>>()
        })?;
        let (exprs, required): (Vec<_>, Vec<_>) = bound.into_iter().unzip();
        let required = required.into_iter().flatten().collect();
        self.values_with(exprs, basis, required, (Vec::new(), &RowBuf::new()))
    }

    /// Runs expressions that read no row, with parameters.
    pub(super) fn values_with(
        &mut self,
        exprs: Vec<bind::Expr>,
        basis: Basis,
        required: Vec<bind::Required>,
        (types, parameters): (Vec<crate::types::SqlType>, &RowBuf),
    ) -> Result<RowBuf> {
        let planned = self.planned_values(exprs, basis, (types, required))?;
        self.values_by(&planned, parameters)
    }

    /// A plan for expressions that read no row.
    pub(super) fn planned_values(
        &self,
        exprs: Vec<bind::Expr>,
        basis: Basis,
        (types, required): (Vec<crate::types::SqlType>, Vec<bind::Required>),
    ) -> Result<Planned> {
        let output = exprs
            .iter()
            .map(|expr| Output { name: "".into(), ty: expr.ty(), origin: None })
            .collect();
        let root = Node::Project { input: Box::new(Node::Unit), columns: exprs };
        let query = Query::new(root, output);
        let bound = bind::Bound {
            statement: bind::BoundStatement::Query(query),
            parameters: types,
            required,
            relations: Vec::new(),
            keys: Vec::new(),
            fields: Vec::new(),
            items: 0,
        };
        let snapshot = self.catalog.last_snapshot();
        let manager = self.engine.manager();
        planned(&Known::plain(snapshot, manager), basis, bound)
    }

    /// What such a plan computes, for who may have that.
    pub(super) fn values_by(&mut self, planned: &Planned, parameters: &RowBuf) -> Result<RowBuf> {
        self.may_run(planned)?;
        let mut machine = self.machines.take(&planned.program);
        let view = self.block.ensure(self.engine.manager(), &self.wait).begin_statement()?;
        let mut first = FirstRow::default();
        let driven = crate::parse::depth::with_stack_for(planned.program.height, || {
            self.drive(&mut machine, view, parameters, 0, &mut first)
        });
        self.notices.get_mut().append(&mut first.notices);
        driven?;
        self.machines.give(machine);
        Ok(first.row)
    }

    /// A relation by the name a statement gives.
    pub(super) fn relation(
        &mut self,
        parsed: &Source,
        name: &ast::ObjectName,
    ) -> Result<Arc<crate::catalog::Relation>> {
        let basis = self.basis().clone();
        let snapshot = Arc::clone(self.catalog.last_snapshot());
        snapshot.demand_own_database(&name.parts)?;
        if let Some(name) = name.schema() {
            let schema =
                snapshot.schema(name).ok_or_else(|| ddl::resolve::undefined_schema(name))?;
            snapshot.demand_usage(self.identity.user, schema)?;
        }
        bind::relation_named(&snapshot, &basis.path, parsed.places(), name)
    }

    /// The same, locked: it is what the name stands for while the lock is held.
    pub(super) fn locked_relation(
        &mut self,
        parsed: &Source,
        name: &ast::ObjectName,
        mode: TableLock,
    ) -> Result<Arc<crate::catalog::Relation>> {
        let mut relation = self.relation(parsed, name)?;
        loop {
            self.lock_relations(&[(relation.oid, mode)])?;
            let found = self.relation(parsed, name)?;
            if found.oid == relation.oid {
                return Ok(found);
            }
            relation = found;
        }
    }

    // --- schema changes --------------------------------------------------------------------------------------------

    fn change_schema(&mut self, parsed: &Arc<Source>, statement: &Statement) -> Result<Outcome> {
        let text = &parsed.places();
        if let Statement::CreateSchema(create) = statement {
            return self.create_schema(text, create);
        }
        match statement {
            Statement::Vacuum(vacuum) => return self.vacuum(parsed, vacuum),
            Statement::Analyze(analyze) => return self.analyze(parsed, analyze),
            _ => {}
        }
        let tag = self.with_ddl(text, |ddl| ddl::execute(ddl, statement))?;
        // What an extension's functions are in is loaded to see that they are there, and with it its settings.
        if let Statement::CreateExtension(create) = statement
            && library(&create.name).is_ok()
        {
            let notices = self.settings.load(&create.name)?;
            self.notices.get_mut().extend(notices);
            self.settings_changed();
        }
        Ok(Outcome::Done(tag))
    }

    /// TRUNCATE, with its triggers.
    fn truncate(&mut self, parsed: &Arc<Source>, truncate: &ast::Truncate) -> Result<Outcome> {
        let places = parsed.places();
        let going = self.with_ddl(places, |ddl| ddl::truncate::truncated(ddl, truncate))?;
        self.fire_truncate(&going, trigger::BEFORE)?;
        let places = parsed.places();
        self.with_ddl(places, |ddl| ddl::truncate::truncate(ddl, truncate, &going))?;
        self.fire_truncate(&going, 0)?;
        done("TRUNCATE TABLE")
    }

    /// Calls `body` with what a schema change runs in; expressions in it stand in `text`.
    pub(super) fn with_ddl<'t, T>(
        &mut self,
        text: impl Into<Positions<'t>>,
        body: impl FnOnce(&mut Ddl<'_>) -> Result<T>,
    ) -> Result<T> {
        self.with_ddl_as(None, None, text, body)
    }

    /// The same, in a transaction that is not the block's.
    pub(super) fn with_ddl_in<'t, T>(
        &mut self,
        own: Option<&mut Transaction>,
        text: impl Into<Positions<'t>>,
        body: impl FnOnce(&mut Ddl<'_>) -> Result<T>,
    ) -> Result<T> {
        self.with_ddl_as(own, None, text, body)
    }

    /// The same by somebody, and with a search path, that are not the session's.
    pub(super) fn with_ddl_within<'t, T>(
        &mut self,
        within: &Within,
        text: impl Into<Positions<'t>>,
        body: impl FnOnce(&mut Ddl<'_>) -> Result<T>,
    ) -> Result<T> {
        self.with_ddl_as(None, Some(within), text, body)
    }

    fn with_ddl_as<'t, T>(
        &mut self,
        mut own: Option<&mut Transaction>,
        within: Option<&Within>,
        text: impl Into<Positions<'t>>,
        body: impl FnOnce(&mut Ddl<'_>) -> Result<T>,
    ) -> Result<T> {
        self.basis();
        // A change is one of what is there, whatever the transaction's snapshot shows.
        self.catalog.look_back(None);
        let company = self.company();
        let guarded = self.reads_guarded();
        let (told, context) = (self.notices.get_mut().len(), self.context_of_notices());
        let engine = Arc::clone(&self.engine);
        match &mut own {
            Some(own) => own.begin_statement()?,
            None => self.block.ensure(engine.manager(), &self.wait).begin_statement()?,
        };
        let Session {
            identity,
            settings,
            catalog,
            block,
            path,
            notices,
            random,
            arena,
            wait,
            deferred,
            sequences,
            portals,
            counts,
            activity,
            firing,
            running,
            looping,
            rewriting,
            said,
            xact_id,
            exported,
            backup,
            long_query,
            events,
            ..
        } = self;
        arena.reset();
        let (user, search_path) = match within {
            Some(within) => (within.user, &*within.search_path),
            None => (identity.user, &*settings.plain().search_path),
        };
        let path = match within {
            Some(_) => &SearchPath::resolve(catalog.snapshot(), search_path, user),
            None => &*path,
        };
        let trigger_depth = Cell::new(firing.len() as u32);
        let meaning = Meaning {
            text: text.into(),
            path: path.clone(),
            settings,
            identity,
            engine: &engine,
            wait,
            arena,
            random,
            sequences,
            started: block.started,
            own: Some(Own {
                pid: wait.pid,
                said,
                xact_id,
                exported,
                exporter: None,
                backup,
                depth: block.depth(),
                transaction: block.number,
                has_acted: false,
                snapshot: None,
                long_query,
                activity,
                counts: &*counts,
                trigger_depth: &trigger_depth,
                event: events.last().cloned(),
            }),
            notices: RefCell::default(),
        };
        let current_setting = |name: &str| settings.show_or_fail(name, guarded);
        let other_sessions = |database: Oid| engine.other_sessions(database, wait.pid);
        let mut ddl = Ddl {
            catalog,
            transaction: match own {
                Some(own) => own,
                None => block.transaction().expect("it has just begun"),
            },
            semantics: &meaning,
            user,
            identity,
            search_path,
            current_setting: &current_setting,
            maintenance_bytes: super::load::maintenance_bytes(settings),
            statistics_target: settings.integer("default_statistics_target").unsigned_abs()
                as usize,
            tells_debug: ["client_min_messages", "log_min_messages"]
                .iter()
                .any(|name| settings.text(name).starts_with("debug")),
            times_io: settings.plain().track_io_timing,
            md5_passwords: &*settings.text("password_encryption") == "md5",
            rewriting: rewriting.as_ref(),
            notices: notices.get_mut(),
            company,
            pending: deferred.get_mut(),
            sequences,
            counts,
            progress: &activity.progress,
            is_active: &|relation| {
                portals.values().any(|portal| portal.is_reading(relation))
                    || firing.contains(&relation)
                    || running
                        .iter()
                        .chain(looping.iter())
                        .any(|statement| statement.reads(relation))
            },
            other_sessions: &other_sessions,
            sessions_of: &|database| {
                let all = engine.activity();
                let there = all.iter().filter(|session| session.database == database);
                there.map(|session| (session.pid, session.user)).collect()
            },
            terminate: &|pid| {
                engine.signal(pid, crate::error::cancel::TERMINATE);
            },
        };
        let done = body(&mut ddl);
        ddl.notices.append(&mut meaning.notices.borrow_mut());
        if let Some(context) = context {
            let said = ddl.notices.iter_mut().skip(told);
            for notice in said.filter(|notice| notice.fields().context.is_none()) {
                *notice = notice.clone().within(&context);
            }
        }
        activity.progress.end();
        let done = done?;
        self.basis = None;
        Ok(done)
    }
}

/// 42601 for other parameters than a statement has. What is given to one without any is not looked at, as in PostgreSQL.
pub(super) fn check_parameter_count(prepared: &Prepared, execute: &ast::Execute) -> Result<()> {
    let wanted = prepared.parameters.len();
    if wanted == 0 || execute.parameters.len() == wanted {
        return Ok(());
    }
    Err(SqlError::new(
        SqlState::SYNTAX_ERROR,
        format!("wrong number of parameters for prepared statement \"{}\"", execute.name),
    )
    .detail(format!(
        "Expected {} parameters but got {}.",
        prepared.parameters.len(),
        execute.parameters.len()
    )))
}

fn no_statement(name: &str) -> SqlError {
    SqlError::new(
        SqlState::INVALID_SQL_STATEMENT_NAME,
        format!("prepared statement \"{name}\" does not exist"),
    )
}

/// A statement's words for 25006: `CREATE TABLE`.
fn statement_words(parsed: &Source, statement: &Statement) -> String {
    // The words of a command's tag: not those that say how its object is to be.
    const HOW: [&str; 8] =
        ["OR", "REPLACE", "TEMP", "TEMPORARY", "LOCAL", "GLOBAL", "UNLOGGED", "UNIQUE"];
    let text = parsed.text();
    let words = text.split_whitespace().map(str::to_uppercase);
    let words: Vec<String> = words.filter(|word| !HOW.contains(&word.as_str())).collect();
    let first = words.first().map_or("", String::as_str);
    match statement {
        Statement::CreateTableAs(_) if first == "SELECT" => "SELECT INTO".to_owned(),
        Statement::CreateTableAs(create) if !create.materialized => "CREATE TABLE AS".to_owned(),
        Statement::Truncate(_) => "TRUNCATE TABLE".to_owned(),
        _ => {
            let second = words.get(1).map_or("", String::as_str);
            let length = match (first, second) {
                ("COMMENT" | "GRANT" | "REVOKE", _) => 1,
                (_, "MATERIALIZED" | "DEFAULT") => 3,
                _ => 2,
            };
            words[..length.min(words.len())].join(" ")
        }
    }
}
