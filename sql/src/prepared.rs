//! Statements made ready: parsed, bound, planned once, and found again by their text.
//!
//! A plan is good for as long as nothing it was made from has changed: what the catalog answered while it was made
//! ([`crate::catalog::Uses`]), and the settings that literals are read with. A state of the catalog in which that has been
//! found so is remembered with the plan, so that it is asked once for each state. Nor is a plan good any more when a table
//! has ten times the rows that it was made for: that is looked at only when storage says that some tree has grown. One with a literal that says when it was read (`now`) is for that statement alone. A
//! prepared statement whose plan is not good any more is planned anew; that it returns other columns then is an error
//! drivers know (0A000).

use crate::bind::{self, Bound, Constants, Literal};
use crate::catalog::object::well_known;
use crate::catalog::{CatalogSnapshot, Relation, RelationKind, SearchPath, TableStatistics, Uses};
use crate::compile::code::Code;
use crate::compile::{Program, compile_for};
use crate::error::{Result, SqlError};
use crate::exec::sink::ColumnDescription;
use crate::message::Told;
use crate::parse::Statement;
use crate::plan::{Facts, Scalar};
use crate::settings::Methods;
use crate::source::Source;
use crate::sqlstate::SqlState;
use crate::statement_statistics::meaning;
use crate::tuple::{RowBuf, RowWriter};
use crate::types::dialect::Dialect;
use crate::types::{CallContext, Datum, Oid, SqlType, read_text};
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicU32, AtomicU64};
use txn::sync::{Mutex, lock, rank};
use txn::{Manager, TableId, TableLock, TreeId};

/// A statement ready to run.
#[derive(Debug)]
pub struct Prepared {
    /// Its text, for `pg_stat_activity`, messages and planning anew.
    pub text: Arc<str>,
    /// What it says.
    pub parsed: Arc<Source>,
    /// The types of its parameters.
    pub parameters: Vec<Oid>,
    /// The columns it returns; none: it returns no rows.
    pub columns: Option<Vec<ColumnDescription>>,
    /// What clients have been told of these.
    pub told: Told,
    /// Its plan; none for a statement that is none (SET, CREATE TABLE).
    pub planned: Option<Arc<Planned>>,
}

/// A prepared statement that has a name.
#[derive(Clone, Debug)]
pub struct Named {
    /// What it is.
    pub prepared: Arc<Prepared>,
    /// When the statement that made it began.
    pub since: i64,
    /// Whether PREPARE made it, and not the protocol.
    pub from_sql: bool,
}

/// A plan with what it depends on.
#[derive(Debug)]
pub struct Planned {
    /// What runs.
    pub program: Arc<Program>,
    /// What it was made from.
    pub basis: Basis,
    /// What it was made from of the catalog.
    pub uses: Uses,
    /// The last states of the catalog in which that has been found to be the same.
    pub good_in: [AtomicU64; STATES],
    /// The tables whose sizes it was made for, with their rows as it was.
    sizes: Box<[(TreeId, f64)]>,
    /// How often trees had grown when that was last found to be true still.
    sized: AtomicU64,
    /// What it takes, in bytes.
    pub bytes: usize,
    /// The types of its parameters.
    pub parameters: Vec<SqlType>,
    /// The relations it reads and changes, and the lock each is held under.
    pub relations: Vec<(Oid, TableLock)>,
    /// What is held of these, and what of the catalog is read.
    pub locks: Box<[Held]>,
    /// A materialized view that it reads and that has no rows yet: it can be shown, but not run.
    pub unpopulated: Option<Arc<str>>,
    /// What whoever runs it must be allowed.
    pub required: Vec<bind::Required>,
    /// Who has been found to be allowed all of it.
    pub allowed: Allowed,
    /// A literal in it says when it was read (`now`, `today`), so that nobody else reads the same; or a constant was computed
    /// that is too long to be kept for others.
    pub momentary: bool,
    /// It reads much because it was made without the parameters' values: with some of them another plan would do far better, so
    /// each run has its own (`choose_custom_plan`).
    pub goes_by_values: bool,
    /// The number of what the statement means ([`meaning::of`]), where it came as a text.
    pub meaning: Option<u64>,
}

/// What a plan does, before it runs, about a relation that it reads or changes.
#[derive(Clone, Copy, Debug)]
pub enum Held {
    /// Locks it.
    Table(TableId, TableLock),
    /// Says that it reads it: it is the system's, and changed by nobody.
    Catalog(Oid),
}

impl Held {
    /// Of a relation of this database, in this mode.
    pub(crate) fn of(snapshot: &CatalogSnapshot, database: Oid, oid: Oid, mode: TableLock) -> Held {
        match snapshot.relation(oid) {
            Some(relation) if oid.0 >= well_known::FIRST_NORMAL => Held::Table(relation.lock, mode),
            Some(_) => Held::Catalog(oid),
            None => Held::Table(Relation::lock_of(database, oid), mode),
        }
    }
}

/// How many times the rows that a plan was made for a table may have before the plan is made anew.
const GROWTH: f64 = 10.0;
/// How many states a plan remembers in which it is good: sessions with temporary tables and those without see others.
const STATES: usize = 4;
/// How many roles a plan remembers.
const ROLES: usize = 4;

/// Roles, each with the state of the catalog in which it was last found to be allowed something. A place is the role's that came
/// first for good, so that no state is ever taken for that of another role; more roles than there are places are asked about
/// each time.
#[derive(Debug, Default)]
pub struct Allowed([(AtomicU32, AtomicU64); ROLES]);

impl Allowed {
    /// Whether a role is known to be allowed it in a state of the catalog.
    pub fn knows(&self, user: Oid, state: u64) -> bool {
        // Relaxed: a state means nothing but itself, and only those of its role are stored in a place.
        let mut places = self.0.iter();
        places.any(|(role, seen)| role.load(Relaxed) == user.0 && seen.load(Relaxed) == state)
    }

    /// Remembers that.
    pub fn note(&self, user: Oid, state: u64) {
        for (role, seen) in &self.0 {
            let taken = role.compare_exchange(0, user.0, Relaxed, Relaxed);
            if taken.is_ok() || taken == Err(user.0) {
                seen.store(state, Relaxed);
                return;
            }
        }
    }
}

/// Where a state is remembered: both of its versions say where.
fn place_of(state: u64) -> usize {
    (state ^ state >> 32) as usize % STATES
}

impl Planned {
    /// Whether it is good where a session stands: it means the same, and its tables are about as large as it was made for.
    pub fn is_good(&self, basis: &Basis, snapshot: &CatalogSnapshot, manager: &Manager) -> bool {
        self.means_the_same(basis, snapshot) && self.fits(basis.growth, manager)
    }

    /// Whether its tables are no ten times as large as it was made for. May wait for pages.
    pub fn fits(&self, growth: u64, manager: &Manager) -> bool {
        // Relaxed: a plan does not change, and what a number says of it neither.
        self.sized.load(Relaxed) == growth || self.fits_now(growth, manager)
    }

    /// Whether it is good in the state of the catalog that a session sees, and with what else the session would make it from.
    fn means_the_same(&self, basis: &Basis, snapshot: &CatalogSnapshot) -> bool {
        let made = &self.basis;
        let state = basis.state;
        if made.database != basis.database
            || !(Arc::ptr_eq(&made.reading, &basis.reading) || made.reading == basis.reading)
        {
            return false;
        }
        let same_path = Arc::ptr_eq(&made.path, &basis.path) || made.path == basis.path;
        // Relaxed: a plan does not change, and what a state says of it neither.
        let known = &self.good_in[place_of(state)];
        if same_path && known.load(Relaxed) == state {
            return true;
        }
        let good = self.uses.hold(snapshot, &basis.path);
        if good && same_path {
            known.store(state, Relaxed);
        }
        good
    }

    #[cold]
    fn fits_now(&self, growth: u64, manager: &Manager) -> bool {
        let fits = |(tree, rows): &(TreeId, f64)| {
            rows_in(manager, *tree).is_none_or(|now| now < GROWTH * rows)
        };
        let good = self.sizes.iter().all(fits);
        if good {
            self.sized.store(growth, Relaxed);
        }
        good
    }

    /// Whether trees have grown since its sizes were last looked at.
    pub(crate) fn may_be_outgrown(&self, manager: &Manager) -> bool {
        self.sized.load(Relaxed) != manager.data().growth()
    }

    /// 55000 where it would read a materialized view that has no rows yet.
    pub fn check_populated(&self) -> Result<()> {
        let Some(name) = &self.unpopulated else { return Ok(()) };
        Err(SqlError::new(
            SqlState::OBJECT_NOT_IN_PREREQUISITE_STATE,
            format!("materialized view \"{name}\" has not been populated"),
        )
        .hint("Use the REFRESH MATERIALIZED VIEW command."))
    }
}

/// About how many rows a tree has.
fn rows_in(manager: &Manager, tree: TreeId) -> Option<f64> {
    manager.data().tree(tree).ok()?.record_estimate().ok()
}

impl Basis {
    /// Says what a plan's basis says, which it has been found to, by the same parts: the next look compares where these lie.
    pub(crate) fn share(&mut self, same: &Basis) {
        if !Arc::ptr_eq(&self.reading, &same.reading) {
            self.reading = Arc::clone(&same.reading);
        }
        if !Arc::ptr_eq(&self.path, &same.path) && self.path == same.path {
            self.path = Arc::clone(&same.path);
        }
    }

    /// Whether nothing at all has changed from one to the other.
    pub(crate) fn is_same(&self, other: &Basis) -> bool {
        self.state == other.state && self.replaced_by(other)
    }

    /// Whether what was made from it gives way to what has been made from another one since.
    fn replaced_by(&self, other: &Basis) -> bool {
        self.database == other.database && self.path == other.path && self.reading == other.reading
    }
}

impl Prepared {
    /// Whether its plan reads or changes a relation.
    pub(crate) fn reads(&self, relation: Oid) -> bool {
        let planned = self.planned.as_ref();
        planned.is_some_and(|plan| plan.relations.iter().any(|(oid, _)| *oid == relation))
    }

    /// What it takes, in bytes.
    fn bytes(&self) -> usize {
        let planned = self.planned.as_ref().map_or(0, |planned| planned.bytes);
        planned + 2 * self.text.len() + BYTES_LEAST
    }

    /// Whether something is computed, and may fail, before it runs.
    pub fn has_presets(&self) -> bool {
        self.planned.as_ref().is_some_and(|planned| planned.program.presets.is_some())
    }
}

/// What a plan was made from.
#[derive(Clone, Debug, Eq)]
pub struct Basis {
    /// The database.
    pub database: Oid,
    /// The number of the state of the catalog ([`CatalogSnapshot::state`]).
    pub state: u64,
    /// The schemas names were looked up in.
    pub path: Arc<[Oid]>,
    /// The settings that literals were read with.
    pub reading: Arc<str>,
    /// How often trees had grown; what comes of it is each plan's own affair.
    pub growth: u64,
}

impl PartialEq for Basis {
    fn eq(&self, other: &Basis) -> bool {
        // Mostly the plan is the session's own, and shares its basis.
        self.state == other.state
            && self.database == other.database
            && (Arc::ptr_eq(&self.path, &other.path) || self.path == other.path)
            && (Arc::ptr_eq(&self.reading, &other.reading) || self.reading == other.reading)
    }
}

/// Statements made ready, by text, shared by all sessions: plans, each good as long as the catalog says what it did, and
/// statements about the transaction, which depend on nothing. What was not asked for the longest time goes for what comes.
#[derive(Debug, Default)]
pub struct PlanCache {
    kept: Mutex<Kept, { rank::PLANS }>,
}

#[derive(Debug, Default)]
struct Kept {
    texts: HashMap<Box<str>, KeptText>,
    /// What they take, in bytes.
    bytes: usize,
    /// Counts what is asked for.
    clock: u64,
}

/// What is kept for a text.
#[derive(Debug, Default)]
struct KeptText {
    plans: Vec<Arc<Prepared>>,
    bytes: usize,
    /// When it was last asked for.
    used: u64,
}

/// What is kept takes so many bytes; past it a quarter of it goes.
pub(crate) const BYTES_MAX: usize = if cfg!(test) { 1 << 20 } else { 64 << 20 };
/// What is counted for a text and a plan beside what planning has taken, in bytes.
const BYTES_LEAST: usize = 1024;
/// How many plans of one text are kept, each for another basis; past it the oldest goes.
const PLANS_MAX: usize = 8;
/// The longest text whose plan is kept, in bytes.
const TEXT_BYTES_MAX: usize = 16 << 10;

/// The longest constant that a plan may hold which is kept, in bytes.
const CONSTANT_BYTES_MAX: usize = 64 << 10;

/// A text without what may stand behind its statement.
fn bare(text: &str) -> &str {
    text.trim_end_matches(|c: char| c == ';' || c.is_ascii_whitespace())
}

impl PlanCache {
    /// What is kept for this text, if it means the same where the session stands; whether it fits is for who holds nothing
    /// to find out.
    #[must_use]
    pub fn find(
        &self,
        basis: &Basis,
        snapshot: &CatalogSnapshot,
        text: &str,
    ) -> Option<Arc<Prepared>> {
        let text = bare(text);
        // What is not kept needs no search, which reads all of it.
        if text.len() > TEXT_BYTES_MAX {
            return None;
        }
        let mut kept = lock(&self.kept);
        kept.clock += 1;
        let clock = kept.clock;
        let found = kept.texts.get_mut(text)?;
        found.used = clock;
        let is_good = |kept: &&Arc<Prepared>| {
            kept.planned.as_ref().is_none_or(|planned| planned.means_the_same(basis, snapshot))
        };
        found.plans.iter().rev().find(is_good).cloned()
    }

    /// How many plans are kept.
    #[must_use]
    pub fn len(&self) -> usize {
        let kept = lock(&self.kept);
        let plans = kept.texts.values().flat_map(|text| &text.plans);
        plans.filter(|kept| kept.planned.is_some()).count()
    }

    /// What they take, in bytes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        lock(&self.kept).bytes
    }

    /// Whether none is.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Keeps a statement, if it is of a kind that is kept.
    pub fn keep(&self, prepared: &Arc<Prepared>) {
        let lasts = match &prepared.planned {
            Some(planned) => !planned.momentary,
            None => matches!(prepared.parsed.statement(), Some(Statement::Transaction(_))),
        };
        if !lasts || prepared.text.len() > TEXT_BYTES_MAX {
            return;
        }
        lock(&self.kept).keep(prepared);
    }
}

impl Kept {
    fn keep(&mut self, prepared: &Arc<Prepared>) {
        let text = bare(&prepared.text);
        self.clock += 1;
        let kept = match self.texts.get_mut(text) {
            Some(kept) => kept,
            None => self.texts.entry(text.into()).or_default(),
        };
        kept.used = self.clock;
        // The new one takes the place of one that is not good any more.
        let replaced = |other: &Prepared| match (&other.planned, &prepared.planned) {
            (Some(other), Some(own)) => other.basis.replaced_by(&own.basis),
            _ => true,
        };
        kept.plans.retain(|other| !replaced(other));
        if kept.plans.len() >= PLANS_MAX {
            kept.plans.remove(0);
        }
        kept.plans.push(Arc::clone(prepared));
        let bytes: usize = kept.plans.iter().map(|plan| plan.bytes()).sum();
        self.bytes = self.bytes + bytes - std::mem::replace(&mut kept.bytes, bytes);
        if self.bytes > BYTES_MAX {
            self.evict();
        }
    }

    /// Gives a quarter of the room back: what was asked for longest ago goes.
    fn evict(&mut self) {
        let mut times: Vec<(u64, usize)> =
            self.texts.values().map(|kept| (kept.used, kept.bytes)).collect();
        times.sort_unstable();
        let mut left = self.bytes;
        let mut oldest = 0;
        for (used, bytes) in times {
            if left <= BYTES_MAX / 4 * 3 {
                break;
            }
            (left, oldest) = (left - bytes, used);
        }
        self.texts.retain(|_, kept| kept.used > oldest);
        self.bytes = left;
    }
}

/// Reads literals by the types' input functions.
pub(crate) struct Reader<'c, 'a>(pub &'c CallContext<'a>);

impl<'a> Reader<'_, 'a> {
    fn of_constants(&self) -> CallContext<'a> {
        CallContext { constant: true, ..*self.0 }
    }
}

impl Constants for Reader<'_, '_> {
    fn read(&self, ty: SqlType, text: &str) -> Result<Literal> {
        Ok(Literal::of(&read_text(&self.of_constants(), ty, text)?))
    }

    fn push(&self, ty: SqlType, text: &str, into: &mut RowWriter<'_>) -> Result<()> {
        let context = self.of_constants();
        let read = read_text(&context, ty, text);
        into.push(*read.as_ref().unwrap_or(&Datum::Null));
        read.map(|_| ())
    }
}

/// What the planner knows: the catalog as the session sees it, and how large trees are now.
pub(crate) struct Known<'k> {
    /// The catalog.
    pub snapshot: &'k CatalogSnapshot,
    /// Reads the statistics' values and computes what is constant; without it neither is done, for plans that have no
    /// choice and run once.
    pub constants: Option<&'k Reader<'k, 'k>>,
    /// Which methods it is to use.
    pub methods: Methods,
    /// Where the trees are.
    pub manager: &'k Manager,
    /// The tables that it was asked about, with the rows that the plan goes by.
    pub sizes: RefCell<Vec<(TreeId, f64)>>,
    /// The parameters' values in the run that is planned for, and their types.
    pub values: Option<(&'k RowBuf, &'k [Oid])>,
    /// Told by the planner: another value could have given a much better plan.
    pub goes_by_values: Cell<bool>,
}

impl<'k> Known<'k> {
    /// For a plan that has no choice and runs once.
    pub(crate) fn plain(snapshot: &'k CatalogSnapshot, manager: &'k Manager) -> Known<'k> {
        let (methods, sizes) = (Methods::default(), RefCell::default());
        let goes_by_values = Cell::new(false);
        Known { snapshot, constants: None, methods, manager, sizes, values: None, goes_by_values }
    }
}

impl Facts for Known<'_> {
    fn relation(&self, oid: Oid) -> Option<Arc<Relation>> {
        self.snapshot.relation(oid).cloned()
    }

    fn statistics(&self, table: Oid) -> Option<Arc<TableStatistics>> {
        self.snapshot.statistics(table).cloned()
    }

    fn base_type(&self, ty: SqlType) -> SqlType {
        self.snapshot.base_type(ty)
    }

    fn rows(&self, relation: &Relation) -> Option<f64> {
        let RelationKind::Table { tree, .. } = &relation.kind else { return None };
        rows_in(self.manager, *tree)
    }

    fn relations(&self) -> f64 {
        self.snapshot.relation_count() as f64
    }

    fn goes_by(&self, relation: &Relation, rows: f64) {
        if let RelationKind::Table { tree, .. } = &relation.kind {
            let sizes = &mut *self.sizes.borrow_mut();
            if sizes.iter().all(|(known, _)| known != tree) {
                sizes.push((*tree, rows));
            }
        }
    }

    fn parameter(&self, number: u32) -> Option<(Literal, SqlType)> {
        let (values, types) = self.values?;
        let ty = types.get(number as usize).filter(|_| (number as usize) < values.len())?;
        Some((Literal::of(&values.get(number as usize)), SqlType { oid: *ty, typmod: -1 }))
    }

    fn depends_on_values(&self) {
        if self.values.is_none() {
            self.goes_by_values.set(true);
        }
    }

    fn routine(&self, oid: Oid) -> Option<Arc<crate::catalog::routine::Routine>> {
        self.snapshot.routine(oid).cloned()
    }

    fn methods(&self) -> Methods {
        self.methods
    }

    fn evaluate(&self, scalar: &Scalar) -> Option<Result<RowBuf>> {
        let Reader(context) = self.constants?;
        let (parameters, mut row) = (RowBuf::new(), RowBuf::new());
        match Code::of([scalar]).compute_over(context, &parameters, &mut row) {
            Ok(true) => {
                if row.bytes() > CONSTANT_BYTES_MAX
                    && let Some(momentary) = context.time_read
                {
                    momentary.set(true);
                }
                Some(Ok(row))
            }
            Ok(false) => None,
            Err(error) => Some(Err(error)),
        }
    }

    fn present(&self, scalar: &Scalar) -> Option<RowBuf> {
        let Reader(context) = self.constants?;
        // The plan is no less another's for it.
        let context = &CallContext { time_read: None, ..**context };
        let (none, mut row) = (RowBuf::new(), RowBuf::new());
        let parameters = self.values.map_or(&none, |(values, _)| values);
        let mut known = true;
        scalar.walk(&mut |part| {
            known &= match part {
                Scalar::Parameter(number) => (*number as usize) < parameters.len(),
                _ => true,
            };
            known
        });
        let mut computed = || Code::of([scalar]).compute_over(context, parameters, &mut row);
        (known && matches!(computed(), Ok(true))).then_some(row)
    }

    fn read(&self, ty: SqlType, text: &str) -> Option<Literal> {
        self.constants?.read(SqlType { oid: ty.oid, typmod: -1 }, text).ok()
    }
}

/// Binds and plans a statement that reads or changes rows.
pub(crate) fn plan(
    known: &Known<'_>,
    path: &SearchPath,
    basis: Basis,
    constants: &dyn Constants,
    (source, asker, dialect): (&Source, Oid, Dialect),
    parameter_types: &[Oid],
) -> Result<Planned> {
    let environment = bind::Environment { catalog: known.snapshot, path: &path.schemas, constants };
    let places = source.places();
    let mut bound = match (source.kept(), source.statement(), source.variables()) {
        (Some(kept), ..) => kept.bound(environment)?,
        (None, Some(statement), Some(variables)) => {
            bind::bind_within(environment, asker, &places, statement, variables)?
        }
        (None, Some(statement), None) => {
            bind::bind_for(environment, asker, &places, statement, parameter_types)?
        }
        (None, None, _) => return Err(SqlError::unsupported("a plan of nothing is")),
    };
    let meaning = meaning::of(&bound, source.lifted_kinds().is_some());
    bind::inline_routines(environment, dialect, known.methods.rules, &mut bound);
    let planned = planned_for(known, basis, bound, source.is_cursor())?;
    Ok(Planned { meaning: Some(meaning), ..planned })
}

/// Plans what has been bound.
pub(crate) fn planned(known: &Known<'_>, basis: Basis, bound: Bound) -> Result<Planned> {
    planned_for(known, basis, bound, false)
}

fn planned_for(known: &Known<'_>, basis: Basis, bound: Bound, cursor: bool) -> Result<Planned> {
    let Bound { statement, parameters, required, relations, .. } = bound;
    let mut program = compile_for(&statement, known, cursor)?;
    program.parameters = parameters.iter().map(|ty| ty.oid).collect();
    let program = Arc::new(program);
    let stored = relations.iter().filter_map(|(oid, _)| known.snapshot.relation(*oid));
    let unpopulated = stored
        .filter(|relation| relation.stored_query.as_ref().is_some_and(|query| !query.populated))
        .map(|relation| Arc::clone(&relation.name))
        .next();
    let (sizes, sized) = (known.sizes.take().into(), AtomicU64::new(basis.growth));
    let held = |(oid, mode): &_| Held::of(known.snapshot, basis.database, *oid, *mode);
    let locks = relations.iter().map(held).collect();
    let good_in: [AtomicU64; STATES] = Default::default();
    good_in[place_of(basis.state)].store(basis.state, Relaxed);
    Ok(Planned {
        program,
        basis,
        uses: Uses::of(known.snapshot),
        good_in,
        sizes,
        sized,
        bytes: 0,
        parameters,
        locks,
        relations,
        unpopulated,
        required,
        allowed: Allowed::default(),
        momentary: false,
        goes_by_values: known.goes_by_values.get(),
        meaning: None,
    })
}

/// A column of text, as SHOW and EXPLAIN return.
pub(crate) fn text_column(name: &str) -> ColumnDescription {
    ColumnDescription {
        name: name.into(),
        table: 0,
        attribute: 0,
        ty: SqlType::plain(25),
        type_length: -1,
    }
}

/// 0A000 where a prepared statement would return other columns than it was described with.
pub(crate) fn same_columns(
    before: Option<&[ColumnDescription]>,
    now: Option<&[ColumnDescription]>,
) -> Result<()> {
    let alike = match (before, now) {
        (None, None) => true,
        (Some(before), Some(now)) => {
            before.len() == now.len()
                && before.iter().zip(now).all(|(a, b)| a.ty == b.ty && a.name == b.name)
        }
        _ => false,
    };
    if alike {
        return Ok(());
    }
    // pgjdbc and Rails prepare the statement anew when they read this routine's name.
    Err(SqlError::new(SqlState::FEATURE_NOT_SUPPORTED, "cached plan must not change result type")
        .routine("RevalidateCachedQuery"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_role_may_is_remembered_for_it_alone() {
        let allowed = Allowed::default();
        let (state, next) = (70 << 32 | 3, 71 << 32 | 3);
        let roles = 10..12 + ROLES as u32;
        roles.clone().for_each(|role| allowed.note(Oid(role), state));
        let knows = |state| roles.clone().filter(|role| allowed.knows(Oid(*role), state)).count();
        assert_eq!((knows(state), knows(next)), (ROLES, 0));
        allowed.note(Oid(11), next);
        assert!(allowed.knows(Oid(11), next) && !allowed.knows(Oid(11), state));
        assert_eq!((knows(state), knows(next)), (ROLES - 1, 1));
    }
}
