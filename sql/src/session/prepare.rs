//! Statements made ready: bound and planned, kept by their text, and made anew where what they were made from has changed.
//!
//! PostgreSQL: `plancache.c`. What plans depend on beside the catalog's objects is the session's `Basis`: database, search path,
//! and the settings that say how texts are read.

use super::Session;
use crate::account;
use crate::bind;
use crate::catalog::SearchPath;
use crate::error::Result;
use crate::message::Told;
use crate::parse::Statement;
use crate::prepared::{self, Basis, Known, PlanCache, Planned, Prepared, same_columns};
use crate::settings::Methods;
use crate::source::Source;
use crate::tuple::RowBuf;
use crate::types::dialect::Dialect;
use crate::types::{CallContext, Oid};
use std::cell::{Cell, RefCell};
use std::sync::Arc;
use txn::Usage;
use txn::breakdown::{self, Class};

impl Session {
    /// What plans made now depend on. Looks whether the catalog has changed.
    pub(super) fn basis(&mut self) -> &Basis {
        let kept = self.block.transaction().and_then(|transaction| transaction.kept_snapshot());
        self.catalog.look_back(kept);
        let snapshot = self.catalog.snapshot();
        let state = snapshot.state();
        if self.basis.as_ref().is_none_or(|basis| basis.state != state) {
            self.renew_basis();
        }
        let basis = self.basis.as_mut().expect("it has just been made");
        let growth = self.engine.manager().data().growth();
        if basis.growth != growth {
            basis.growth = growth;
            self.changes += 1;
        }
        basis
    }

    /// Where plans are kept: those of a session with temporary tables are of use to no other.
    fn plans(&self) -> &PlanCache {
        if self.catalog.has_temporary() { &self.own_plans } else { self.engine.plans() }
    }

    /// A statement that is kept for this text and is good now.
    pub(super) fn kept(&mut self, text: &str) -> Option<Arc<Prepared>> {
        if self.speaks_otherwise() {
            return None;
        }
        self.basis();
        let basis = self.basis.as_ref()?;
        let snapshot = self.catalog.last_snapshot();
        // Most plans have nothing to do with a session's temporary tables.
        let kept = match self.plans().find(basis, snapshot, text) {
            None if self.catalog.has_temporary() => self.engine.plans().find(basis, snapshot, text),
            kept => kept,
        }?;
        if let Some(planned) = &kept.planned {
            if !planned.fits(basis.growth, self.engine.manager()) {
                return None;
            }
            self.engine.plan_found();
        }
        Some(kept)
    }

    /// Whether the session's settings make of a text what it is not as it is kept: then no plan is known by its text.
    pub(super) fn speaks_otherwise(&self) -> bool {
        self.settings.plain().dialect != Dialect::default()
    }

    /// Whether what was found good when `changes` was that number is good still without a look: the session has done nothing
    /// since that could change it, nobody has changed the catalog, and no tree has grown.
    #[inline]
    pub(super) fn is_settled(&self, changes: u64) -> bool {
        let growth = self.engine.manager().data().growth();
        self.changes == changes
            && self.catalog.is_current()
            && self.basis.as_ref().is_some_and(|basis| basis.growth == growth)
    }

    fn renew_basis(&mut self) {
        self.changes += 1;
        let snapshot = self.catalog.last_snapshot();
        let (database, state) = (snapshot.database_oid(), snapshot.state());
        self.identity.take_names(snapshot.shared());
        let plain = self.settings.plain();
        self.path = SearchPath::resolve(snapshot, &plain.search_path, self.identity.user);
        let reading = format!(
            "{} {:?} {:?} {:?} {:?} {} {} {:?}",
            plain.values.time_zone,
            plain.values.xml_option,
            plain.values.date_order,
            plain.values.date_style,
            plain.values.interval_style,
            plain.values.array_nulls,
            plain.values.quote_all_identifiers,
            plain.methods
        );
        let path = self.path.schemas.as_slice().into();
        let growth = self.engine.manager().data().growth();
        self.basis = Some(Basis { database, state, path, reading: reading.into(), growth });
    }

    /// Makes a statement ready: binds and plans it if it is a plan, else finds out what it returns.
    pub(super) fn prepare(
        &mut self,
        parsed: Arc<Source>,
        parameter_types: &[Oid],
    ) -> Result<Arc<Prepared>> {
        let _class = breakdown::enter(Class::ParsePlan);
        let text: Arc<str> = parsed.text();
        if !parsed.is_planned() {
            let columns = match parsed.statement() {
                Some(statement) => self.utility_columns(statement)?,
                None => None,
            };
            let mut call_columns = None;
            let parameters = match parsed.statement() {
                Some(Statement::Declare(declare)) => {
                    self.cursor_query(&parsed, declare, parameter_types)?.parameters.clone()
                }
                Some(Statement::CreateTableAs(create))
                    if !matches!(create.query, Statement::Execute(_)) =>
                {
                    self.stored_query(&parsed, create, parameter_types)?.parameters.clone()
                }
                // What EXECUTE names is looked for when it runs.
                Some(Statement::Explain(explain))
                    if !matches!(explain.statement, Statement::Execute(_)) =>
                {
                    let used = Usage::so_far();
                    let parameters =
                        self.explained(&parsed, explain, parameter_types)?.parameters.clone();
                    self.planning_usage = Usage::so_far().since(used);
                    parameters
                }
                Some(Statement::Call(call)) => {
                    let bound = self.bound_call(&parsed, call, parameter_types)?;
                    call_columns = self.call_columns(&bound.routine);
                    bound.parameters.iter().map(|ty| ty.oid).collect()
                }
                _ => Vec::new(),
            };
            let columns = columns.or(call_columns);
            let whole = parsed.is_whole() && !self.speaks_otherwise();
            let prepared = Arc::new(Prepared {
                text,
                parsed,
                parameters,
                columns,
                told: Told::default(),
                planned: None,
            });
            if whole {
                self.engine.plans().keep(&prepared);
            }
            return Ok(prepared);
        }
        let shareable = parameter_types.is_empty()
            && !self.catalog.has_changes()
            && parsed.is_whole()
            && !self.speaks_otherwise();
        if shareable && let Some(kept) = self.kept(&text) {
            if let Some(planned) = &kept.planned {
                self.may_name(planned)?;
            }
            return Ok(kept);
        }
        self.engine.plan_made();
        let begun = self.engine.manager().environment().clock.now();
        let planned = loop {
            let methods = self.settings.plain().methods;
            match self.plan(&parsed, parameter_types, methods) {
                Err(_) if self.waits_for_named(&parsed, parameter_types)? => {}
                planned => break planned?,
            }
        };
        self.may_name(&planned)?;
        let prepared = Arc::new(Prepared {
            text,
            parameters: planned.parameters.iter().map(|ty| ty.oid).collect(),
            columns: planned.program.columns.clone(),
            told: Told::default(),
            planned: Some(Arc::new(planned)),
            parsed,
        });
        if shareable {
            self.plans().keep(&prepared);
        }
        if self.tracking.watches {
            self.count_plan(&prepared, begun);
        }
        Ok(prepared)
    }

    /// Binds and plans a statement in the catalog as it is now, by these methods.
    pub(super) fn plan(
        &mut self,
        parsed: &Source,
        parameter_types: &[Oid],
        methods: Methods,
    ) -> Result<Planned> {
        let basis = self.basis().clone();
        let snapshot = self.catalog.snapshot().recording(Arc::clone(&basis.path));
        let snapshot = Arc::new(snapshot);
        let path = self.path.clone();
        let engine = Arc::clone(&self.engine);
        let momentary = Cell::new(false);
        let user = self.identity.user;
        let dialect = self.settings.plain().dialect;
        let values = self.planned_for.take();
        let before = account::held();
        let mut planned = self.with_context_of(&snapshot, |context, _| {
            let context = &CallContext { time_read: Some(&momentary), ..*context };
            crate::parse::depth::fitting(parsed.height(), || {
                let reader = prepared::Reader(context);
                let manager = engine.manager();
                let sizes = RefCell::default();
                let known = Known {
                    constants: Some(&reader),
                    methods,
                    sizes,
                    values: values.as_ref().map(|values| (values, parameter_types)),
                    ..Known::plain(&snapshot, manager)
                };
                let what = (parsed, user, dialect);
                prepared::plan(&known, &path, basis.clone(), &reader, what, parameter_types)
            })
        })?;
        let bytes = usize::try_from(account::held().saturating_sub(before)).unwrap_or(usize::MAX);
        planned.momentary = momentary.get();
        planned.bytes = bytes;
        Ok(planned)
    }

    /// A plan for these values of a statement's parameters, where the one at hand was made without any and that matters.
    pub(super) fn custom(
        &mut self,
        prepared: &Prepared,
        values: &RowBuf,
    ) -> Result<Option<Arc<Prepared>>> {
        let goes_by_values =
            prepared.planned.as_ref().is_some_and(|planned| planned.goes_by_values);
        if !goes_by_values || self.settings.plain().generic_plans {
            return Ok(None);
        }
        self.planned_for = Some(values.clone());
        let methods = self.settings.plain().methods;
        let planned = self.plan(&prepared.parsed, &prepared.parameters, methods);
        self.planned_for = None;
        let planned = planned?;
        // The catalog may have changed between the two.
        let columns = (prepared.columns.as_deref(), planned.program.columns.as_deref());
        prepared::same_columns(columns.0, columns.1)?;
        let custom = Prepared {
            text: Arc::clone(&prepared.text),
            parameters: prepared.parameters.clone(),
            columns: prepared.columns.clone(),
            told: Told::default(),
            planned: Some(Arc::new(planned)),
            parsed: Arc::clone(&prepared.parsed),
        };
        // What these values decide may be wrong where the plan for any of them was not.
        self.check_presets(&custom, values)?;
        Ok(Some(Arc::new(custom)))
    }

    /// What is wrong with a statement may be put right by who has a relation locked that it names: PostgreSQL locks a
    /// relation as soon as its name is found, and only then looks at its columns. Waits for them, and says whether the
    /// catalog has changed since.
    #[cold]
    fn waits_for_named(&mut self, parsed: &Source, parameter_types: &[Oid]) -> Result<bool> {
        let Some(statement) = parsed.statement() else { return Ok(false) };
        let basis = self.basis().clone();
        let snapshot = Arc::clone(self.catalog.last_snapshot());
        let named = self.with_context(|context| {
            let reader = prepared::Reader(context);
            let environment =
                bind::Environment { catalog: &snapshot, path: &basis.path, constants: &reader };
            let places = parsed.places();
            crate::parse::depth::fitting(parsed.height(), || {
                Ok(bind::named_relations(environment, &places, statement, parameter_types))
            })
        })?;
        self.lock_relations(&named)?;
        Ok(*self.basis() != basis)
    }

    /// Fails where PostgreSQL's planner would, with these parameters at hand.
    pub(super) fn check_presets(&mut self, prepared: &Prepared, parameters: &RowBuf) -> Result<()> {
        match &prepared.planned {
            Some(planned) if planned.program.presets.is_some() => {
                let height = prepared.parsed.height().max(planned.program.height);
                self.with_context(|context| {
                    crate::parse::depth::with_stack_for(height, || {
                        crate::exec::preset::check(&planned.program, context, parameters)
                    })
                })
            }
            _ => Ok(()),
        }
    }

    /// The same statement with a plan that is good now; none if it has one. Where its columns have been told they must not
    /// change.
    pub(super) fn fresh(
        &mut self,
        prepared: &Prepared,
        told: bool,
    ) -> Result<Option<Arc<Prepared>>> {
        let Some(planned) = &prepared.planned else { return Ok(None) };
        self.basis();
        let basis = self.basis.as_mut().expect("it has just been made");
        if planned.is_good(basis, self.catalog.last_snapshot(), self.engine.manager()) {
            basis.share(&planned.basis);
            return Ok(None);
        }
        let fresh = self.prepare(Arc::clone(&prepared.parsed), &prepared.parameters)?;
        if told {
            same_columns(prepared.columns.as_deref(), fresh.columns.as_deref())?;
        }
        Ok(Some(fresh))
    }
}
