//! Schema changes, as ordinary transactions (PostgreSQL 15 manual, chapter 5 and the commands' pages).
//!
//! A statement takes PostgreSQL's table locks, looks its names up again behind each, has what it builds on stay (`hold`), and
//! then changes objects of the catalog through [`CatalogTransaction`]: others see nothing of it before commit, and a
//! rollback, to a savepoint too, leaves nothing behind. Rows are moved by making new trees and filling them ([`build`]); the
//! old ones are freed when the commit is done. So TRUNCATE, rewrites and index builds are as transactional as everything else.
//!
//! What expressions mean is not this module's business: [`Semantics`] binds, prints and evaluates them.

mod aggregate;
pub mod alter_column;
pub mod alter_index;
mod alter_table;
mod alter_type;
pub mod analyze;
mod attachment;
pub mod attribute;
mod backfill;
pub mod build;
mod cast;
pub mod cluster;
mod column_clauses;
mod column_properties;
pub mod comment;
pub mod concurrent;
pub mod constraint;
mod conversion;
mod copy_database;
pub mod create_as;
pub mod create_table;
pub mod database;
mod debug;
pub mod dependency;
pub mod domain;
pub mod drop;
mod drop_routine;
pub mod event_trigger;
pub mod extension;
mod field_names;
pub mod foreign_key;
mod hold;
mod identity;
pub mod index;
mod index_key;
pub mod kept_settings;
mod key_using;
pub mod language;
mod like;
pub mod name;
mod named_parts;
mod operator;
mod operator_class;
pub mod options;
pub mod owned;
mod part_dependents;
pub mod privilege;
mod query_columns;
pub mod reindex;
pub mod rename;
mod replica_identity;
pub mod resolve;
pub mod role;
pub mod routine;
mod routine_options;
mod row_shape;
pub mod schema;
pub mod scram;
pub mod sequence;
pub mod trigger;
pub mod truncate;
mod type_dependents;
pub mod user_type;
pub mod vacuum;
mod value_text;
pub mod view;

use crate::bind::routine_body::Parameters;
use crate::catalog::definition::{Definition, Expression, ViewQuery};
use crate::catalog::relation_counts::SessionCounts;
use crate::catalog::routine::Routine;
use crate::catalog::sequence::SessionSequences;
use crate::catalog::{
    CatalogSnapshot, CatalogTransaction, Index, IndexExpression, Relation, RelationKind, SearchPath,
};
use crate::error::{Notice, Result, Severity, SqlError};
use crate::exec::deferred::Deferred;
use crate::message::CommandTag;
use crate::parse::ast::{Expr, Query, StandardBody, Statement, TypeName};
use crate::progress::ProgressCells;
use crate::queries::identity::Identity;
use crate::sqlstate::SqlState;
use crate::types::{Datum, Oid, SqlType};
use std::cell::RefCell;
use std::sync::Arc;
use txn::{TableLock, Transaction};

/// What a DEFAULT expression is.
#[derive(Clone, Debug)]
pub struct DefaultValue {
    /// The expression.
    pub value: Expression,
    /// It is NULL, and nothing is to be computed of it.
    pub is_null: bool,
}

impl DefaultValue {
    /// What a column or a domain keeps: nothing of a NULL that needs no computing, as that is what it has without a default.
    #[must_use]
    pub fn kept(self) -> Option<Expression> {
        (!self.is_null).then_some(self.value)
    }
}

/// What rows have in a column that they get.
pub enum NewValue<'a> {
    /// The same in all of them, in the column type's stored form; none is NULL.
    Constant(Option<Arc<[u8]>>),
    /// What is computed for each: something in it is volatile.
    Computed(RowFunction<'a>),
}

/// A row's columns by index, dropped ones as NULL.
pub type RowFunction<'a> = Box<dyn FnMut(&[Datum<'_>]) -> Result<crate::tuple::RowBuf> + 'a>;

/// What a view's query is.
#[derive(Clone, Debug)]
pub struct BoundView {
    /// The query, as it is kept.
    pub query: ViewQuery,
    /// Its columns.
    pub columns: Vec<(Arc<str>, SqlType)>,
    /// The columns' collations.
    pub collations: Vec<Oid>,
    /// The relations it reads.
    pub relations: Vec<Oid>,
}

/// What expressions and types in a schema change mean. The statement's text and the session's state are known to whoever
/// implements it.
pub trait Semantics {
    /// The type of a name, with its modifier.
    ///
    /// # Errors
    /// 42704 and so on.
    fn type_of(&self, snapshot: &CatalogSnapshot, name: &TypeName) -> Result<SqlType>;
    /// Binds DEFAULT of a column of that name and type.
    ///
    /// # Errors
    /// 0A000, 42804 and so on.
    fn default(
        &self,
        snapshot: &CatalogSnapshot,
        column: &str,
        ty: SqlType,
        expr: &Expr,
    ) -> Result<DefaultValue>;
    /// Binds the default of a routine's parameter of this type.
    ///
    /// # Errors
    /// 0A000, 42804 and so on.
    fn parameter_default(
        &self,
        snapshot: &CatalogSnapshot,
        ty: SqlType,
        expr: &Expr,
    ) -> Result<Expression>;
    /// The next value of a sequence, as the default of a column of this type.
    ///
    /// # Errors
    /// Those of a cast.
    fn next_value(
        &self,
        snapshot: &CatalogSnapshot,
        sequence: Oid,
        ty: SqlType,
    ) -> Result<Expression>;
    /// What rows that are there get in a new column of this type, by its default or without one.
    ///
    /// # Errors
    /// Those of computing what is the same for all rows.
    fn new_value<'a>(
        &'a self,
        snapshot: &CatalogSnapshot,
        ty: SqlType,
        default: Option<&Expression>,
    ) -> Result<NewValue<'a>>;
    /// Binds a CHECK over the columns of a relation.
    ///
    /// # Errors
    /// 42703, 42804 and so on.
    fn check(
        &self,
        snapshot: &CatalogSnapshot,
        relation: &Relation,
        expr: &Expr,
    ) -> Result<Expression>;
    /// What an expression over the columns of a relation says, as it is printed.
    ///
    /// # Errors
    /// Those of opening it.
    fn text(
        &self,
        snapshot: &CatalogSnapshot,
        relation: &Relation,
        expression: &Expression,
    ) -> Result<Arc<str>>;
    /// Binds the expression of a generated column of this type and name over the columns of a relation.
    ///
    /// # Errors
    /// 42703, 42804 and so on.
    fn generated(
        &self,
        snapshot: &CatalogSnapshot,
        relation: &Relation,
        column: (SqlType, &str),
        expr: &Expr,
    ) -> Result<Expression>;
    /// Binds an expression that is to be the key of an index.
    ///
    /// # Errors
    /// 42703, 42P17 and so on.
    fn index_expression(
        &self,
        snapshot: &CatalogSnapshot,
        relation: &Relation,
        expr: &Expr,
    ) -> Result<IndexExpression>;
    /// The keys of an index as messages show them, `a, lower(b::text)`.
    fn index_keys(&self, snapshot: &CatalogSnapshot, relation: &Relation, index: &Index) -> String;
    /// Binds the predicate of an index.
    ///
    /// # Errors
    /// 42703, 42P17 and so on.
    fn index_predicate(
        &self,
        snapshot: &CatalogSnapshot,
        relation: &Relation,
        expr: &Expr,
    ) -> Result<Expression>;
    /// Binds a domain's condition over VALUE.
    ///
    /// # Errors
    /// 42703, 42804 and so on.
    fn domain_check(
        &self,
        snapshot: &CatalogSnapshot,
        base: SqlType,
        expr: &Expr,
    ) -> Result<Expression>;
    /// A function that evaluates a stored expression over rows of a relation: one column. What it calls runs with the privileges
    /// of `user`, and may not become anybody else; of none: with those of whoever runs the statement.
    ///
    /// # Errors
    /// Those of opening it.
    fn compute<'a>(
        &'a self,
        snapshot: &CatalogSnapshot,
        relation: &Relation,
        user: Option<Oid>,
        expression: &Expression,
    ) -> Result<RowFunction<'a>>;
    /// A function that converts a column to another type: by USING, or as an assignment does. None: there is no such
    /// cast.
    ///
    /// # Errors
    /// Those of binding.
    fn conversion<'a>(
        &'a self,
        snapshot: &CatalogSnapshot,
        relation: &Relation,
        column: usize,
        to: SqlType,
        using: Option<&Expr>,
    ) -> Result<Option<RowFunction<'a>>>;
    /// The columns that a bound text over a relation names, by index.
    ///
    /// # Errors
    /// Those of binding.
    fn columns_of(
        &self,
        snapshot: &CatalogSnapshot,
        relation: &Relation,
        text: &str,
    ) -> Result<Vec<usize>>;
    /// Why a view of this query cannot have WITH CHECK OPTION, as PostgreSQL says it; none if it can.
    ///
    /// # Errors
    /// Those of binding.
    fn unfit_for_check(
        &self,
        snapshot: &CatalogSnapshot,
        query: &ViewQuery,
    ) -> Result<Option<&'static str>>;
    /// Binds WHEN of a trigger of this `tgtype`, over the rows `old` and `new`.
    ///
    /// # Errors
    /// 42703, 42P17 and so on.
    fn trigger_condition(
        &self,
        snapshot: &CatalogSnapshot,
        relation: &Relation,
        kind: i16,
        expr: &Expr,
    ) -> Result<Expression>;
    /// A timestamptz of a text, in microseconds since 2000-01-01 UTC; none is `infinity`.
    ///
    /// # Errors
    /// 22007 and so on.
    fn timestamp(&self, text: &str) -> Result<Option<i64>>;
    /// A byte offset in the statement's text as clients are told it: characters, from 1.
    fn position(&self, at: u32) -> u32;
    /// The relations that a view's query names itself, with the lock for each: as many as are found before anything is wrong
    /// with it.
    fn named(&self, snapshot: &CatalogSnapshot, query: &Query) -> Vec<(Oid, TableLock)>;
    /// Binds a view's query.
    ///
    /// # Errors
    /// Those of binding; 0A000 with the text `refusal` where its WITH changes rows.
    fn view(&self, snapshot: &CatalogSnapshot, query: &Query, refusal: &str) -> Result<BoundView>;
    /// Binds the body of a routine in the standard's form: as it is kept, with what it depends on.
    ///
    /// # Errors
    /// Those of binding; 0A000 where it cannot be printed.
    fn routine_body(
        &self,
        snapshot: &CatalogSnapshot,
        body: &StandardBody,
        parameters: &Parameters,
    ) -> Result<Definition>;
    /// Such a body in the words for when relations that it names are called as in `renamed`, and everything else as in `now`.
    ///
    /// # Errors
    /// 0A000 where it cannot be printed.
    fn reworded_body(
        &self,
        snapshot: &CatalogSnapshot,
        now: &CatalogSnapshot,
        routine: &Routine,
        renamed: &[Relation],
    ) -> Result<Arc<str>>;
}

/// What a statement shares its transaction with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Company {
    /// Nothing: the transaction is its own.
    Alone,
    /// The statements of a block, or of a Query message.
    Block,
    /// What was executed before it in a pipeline, since the last Sync.
    Pipeline,
    /// The statement that calls the routine which runs it.
    Routine,
}

impl Company {
    /// For a statement that has to be alone (`PreventInTransactionBlock`).
    ///
    /// # Errors
    /// 25001.
    pub fn refuse(self, statement: &str) -> Result<()> {
        let why = match self {
            Company::Alone => return Ok(()),
            Company::Block => "cannot run inside a transaction block",
            Company::Pipeline => "cannot be executed within a pipeline",
            Company::Routine => "cannot be executed from a function",
        };
        Err(SqlError::new(SqlState::ACTIVE_SQL_TRANSACTION, format!("{statement} {why}")))
    }
}

/// What a schema change runs in.
pub struct Ddl<'a> {
    /// The catalog, as this transaction sees and changes it.
    pub catalog: &'a mut CatalogTransaction,
    /// The transaction.
    pub transaction: &'a mut Transaction,
    /// What expressions and types mean.
    pub semantics: &'a dyn Semantics,
    /// The current user.
    pub user: Oid,
    /// Who the session is.
    pub identity: &'a Identity,
    /// `search_path`, as set.
    pub search_path: &'a str,
    /// What a setting is, as SHOW says it: for SET ... FROM CURRENT.
    pub current_setting: &'a dyn Fn(&str) -> Result<String>,
    /// `maintenance_work_mem`: what sorting the records of a new tree may hold.
    pub maintenance_bytes: usize,
    /// `default_statistics_target`: how many common values and histogram bounds ANALYZE keeps of a column.
    pub statistics_target: usize,
    /// Somebody hears what is told at DEBUG.
    pub tells_debug: bool,
    /// `track_io_timing`.
    pub times_io: bool,
    /// `password_encryption` asks for MD5.
    pub md5_passwords: bool,
    /// What is to be told before a table is rewritten, where event triggers want to know.
    pub rewriting: Option<&'a event_trigger::Rewriting>,
    /// Where notices go.
    pub notices: &'a mut Vec<Notice>,
    /// What the statement shares its transaction with: some statements refuse any company.
    pub company: Company,
    /// The checks that wait for the transaction's end.
    pub pending: &'a Deferred,
    /// What the session remembers of sequences.
    pub sequences: &'a RefCell<SessionSequences>,
    /// What the session counts of relations.
    pub counts: &'a SessionCounts,
    /// Who is told how far a long statement has come.
    pub progress: &'a ProgressCells,
    /// Whether a query of this session that has not ended, a cursor's mostly, reads a relation.
    pub is_active: &'a dyn Fn(Oid) -> bool,
    /// How many other sessions a database has.
    pub other_sessions: &'a dyn Fn(Oid) -> usize,
    /// Who has the sessions of a database.
    pub sessions_of: &'a dyn Fn(Oid) -> Vec<(u32, Oid)>,
    /// Ends the session with this process number.
    pub terminate: &'a dyn Fn(u32),
}

/// Runs a statement that changes the schema: again, where somebody else has committed a change of an object that it had
/// looked at, and was about to change. What it has done until then is taken back.
///
/// # Errors
/// PostgreSQL's; 0A000 for what Atoll does not do yet.
pub fn execute(ddl: &mut Ddl<'_>, statement: &Statement) -> Result<CommandTag> {
    again_if_outdated(ddl, &mut |ddl| run(ddl, statement))
}

/// The same for any change of the schema.
///
/// # Errors
/// Those of `change`.
pub fn again_if_outdated<T>(
    ddl: &mut Ddl<'_>,
    change: &mut dyn FnMut(&mut Ddl<'_>) -> Result<T>,
) -> Result<T> {
    loop {
        let (writes, changes) = (ddl.transaction.savepoint(), ddl.catalog.savepoint());
        let told = ddl.notices.len();
        let done = change(ddl);
        if done.is_ok() || !ddl.catalog.is_outdated() {
            return done;
        }
        ddl.transaction.rollback_to(writes);
        ddl.catalog.rollback_to(changes);
        ddl.notices.truncate(told);
    }
}

fn run(ddl: &mut Ddl<'_>, statement: &Statement) -> Result<CommandTag> {
    let words = match statement {
        Statement::CreateTable(create) => create_table::create_table(ddl, create)?,
        Statement::AlterTable(alter) => alter_table::alter_table(ddl, alter)?,
        Statement::CreateIndex(create) => index::create_index(ddl, create)?,
        Statement::CreateView(create) => view::create_view(ddl, create)?,
        Statement::CreateSequence(create) => sequence::create_sequence(ddl, create)?,
        Statement::AlterSequence(alter) => sequence::alter_sequence(ddl, alter)?,
        Statement::CreateType(create) => user_type::create_type(ddl, create)?,
        Statement::CreateDomain(create) => {
            domain::create_domain(ddl, create).map_err(SqlError::nowhere)?
        }
        Statement::AlterDomain(alter) => {
            domain::alter_domain(ddl, alter).map_err(SqlError::nowhere)?
        }
        Statement::AlterComposite(alter) => attribute::alter_composite(ddl, alter)?,
        Statement::AlterEnum(alter) => user_type::alter_enum(ddl, alter)?,
        Statement::CreateExtension(create) => extension::create_extension(ddl, create)?,
        Statement::CreateLanguage(create) => language::create_language(ddl, create)?,
        Statement::AlterExtension(alter) => extension::alter_extension(ddl, alter)?,
        Statement::CreateDatabase(create) => database::create_database(ddl, create)?,
        Statement::AlterDatabase(alter) => database::alter_database(ddl, alter)?,
        Statement::DropDatabase(drop) => database::drop_database(ddl, drop)?,
        Statement::AlterSettings(alter) => kept_settings::alter_settings(ddl, alter)?,
        Statement::CreateRole(create) => role::create_role(ddl, create)?,
        Statement::AlterRole(alter) => role::alter_role(ddl, alter)?,
        Statement::DropRole(drop) => role::drop_role(ddl, drop)?,
        Statement::GrantRole(grant) => role::grant_role(ddl, grant)?,
        Statement::DropOwned(drop) => owned::drop_owned(ddl, drop)?,
        Statement::ReassignOwned(reassign) => owned::reassign_owned(ddl, reassign)?,
        Statement::Rename(rename) => rename::rename(ddl, rename)?,
        Statement::SetSchema(set) => rename::set_schema(ddl, set)?,
        Statement::ChangeOwner(change) => rename::change_owner(ddl, change)?,
        Statement::Drop(drop) => drop::drop(ddl, drop)?,
        Statement::DropRoutine(drop) => drop_routine::drop_routine(ddl, drop)?,
        Statement::AlterRoutine(alter) => routine::alter_routine(ddl, alter)?,
        Statement::CreateTrigger(create) => trigger::create_trigger(ddl, create)?,
        Statement::DropTrigger(drop) => trigger::drop_trigger(ddl, drop)?,
        Statement::CreateAggregate(create) => aggregate::create_aggregate(ddl, create)?,
        Statement::CreateOperator(create) => operator::create_operator(ddl, create)?,
        Statement::AlterOperator(alter) => operator::alter_operator(ddl, alter)?,
        Statement::DropOperator(drop) => operator::drop_operator(ddl, drop)?,
        Statement::CreateOperatorClass(create) => operator_class::create_class(ddl, create)?,
        Statement::CreateOperatorFamily(create) => operator_class::create_family(ddl, create)?,
        Statement::AlterOperatorPart(alter) => operator_class::alter(ddl, alter)?,
        Statement::DropOperatorPart(drop) => operator_class::drop_part(ddl, drop)?,
        Statement::CreateConversion(create) => conversion::create(ddl, create)?,
        Statement::AlterConversion(alter) => conversion::alter(ddl, alter)?,
        Statement::DropConversion(drop) => conversion::drop(ddl, drop)?,
        Statement::CreateCast(create) => cast::create_cast(ddl, create)?,
        Statement::DropCast(drop) => cast::drop_cast(ddl, drop)?,
        Statement::CreateEventTrigger(create) => event_trigger::create_event_trigger(ddl, create)?,
        Statement::AlterEventTrigger(alter) => event_trigger::alter_event_trigger(ddl, alter)?,
        Statement::DropEventTrigger(drop) => event_trigger::drop_event_trigger(ddl, drop)?,
        Statement::Reindex(reindex) => reindex::reindex(ddl, reindex)?,
        Statement::Cluster(cluster) => cluster::cluster(ddl, cluster)?,
        Statement::Comment(comment) => comment::comment(ddl, comment)?,
        Statement::Grant(grant) => privilege::grant(ddl, grant)?,
        Statement::AlterDefaultPrivileges(alter) => privilege::alter_default(ddl, alter)?,
        _ => return Err(SqlError::unsupported("this statement is")),
    };
    Ok(CommandTag { words, rows: None })
}

impl Ddl<'_> {
    /// The catalog now.
    pub fn snapshot(&mut self) -> Arc<CatalogSnapshot> {
        Arc::clone(self.catalog.snapshot())
    }

    /// The search path in what the catalog shows now.
    pub fn path(&mut self) -> SearchPath {
        let (setting, user) = (self.search_path, self.user);
        SearchPath::resolve(self.catalog.snapshot(), setting, user)
    }

    /// Whether the current user is a superuser.
    pub fn superuser(&mut self) -> bool {
        let user = self.user;
        self.catalog.snapshot().shared().role_by_oid(user).is_some_and(|role| role.superuser)
    }

    /// Tells the client.
    pub fn notice(&mut self, state: SqlState, message: impl Into<String>) {
        let notice = SqlError::new(state, message).severity(Severity::Notice);
        self.notices.push(notice);
    }

    /// 25001 inside a transaction block.
    ///
    /// # Errors
    /// 25001.
    pub fn refuse_block(&self, statement: &str) -> Result<()> {
        self.company.refuse(statement)
    }

    /// 55006 where a query that has not ended reads a table; a view is not read itself.
    ///
    /// # Errors
    /// 55006.
    pub fn refuse_active(&self, statement: &str, relation: &Relation) -> Result<()> {
        let is_table = matches!(relation.kind, RelationKind::Table { .. });
        if !is_table || !(self.is_active)(relation.oid) {
            return Ok(());
        }
        Err(SqlError::new(
            SqlState::OBJECT_IN_USE,
            format!(
                "cannot {statement} \"{}\" because it is being used by active queries in this session",
                relation.name
            ),
        ))
    }

    /// 55006 where checks of a table's rows wait for the transaction's end: they would meet another table.
    ///
    /// # Errors
    /// 55006.
    pub fn refuse_pending(&self, statement: &str, relation: &Relation) -> Result<()> {
        if !self.pending.has_of(relation.oid) {
            return Ok(());
        }
        Err(SqlError::new(
            SqlState::OBJECT_IN_USE,
            format!(
                "cannot {statement} \"{}\" because it has pending trigger events",
                relation.name
            ),
        ))
    }

    /// The time, in microseconds since 2000-01-01 UTC.
    pub(crate) fn now(&self) -> i64 {
        self.transaction.manager().environment().clock.wall()
    }

    /// Tells whoever has asked for it (VERBOSE).
    pub(crate) fn inform(&mut self, message: String) {
        let told = SqlError::new(SqlState::SUCCESSFUL_COMPLETION, message);
        self.notices.push(told.severity(Severity::Info));
    }

    /// Random bytes for a password's salt: from the environment's seed, the time and a number that is never used twice.
    pub(crate) fn salt(&mut self) -> [u8; 16] {
        use sha2::{Digest, Sha256};
        let environment = self.transaction.manager().environment();
        let mut hash = Sha256::new();
        hash.update(environment.seed.to_le_bytes());
        hash.update(environment.clock.wall().to_le_bytes());
        hash.update(environment.clock.now().0.to_le_bytes());
        hash.update(self.transaction.id().0.to_le_bytes());
        let mut salt = [0; 16];
        salt.copy_from_slice(&hash.finalize()[..16]);
        salt
    }

    /// The relation as it is now.
    pub fn relation(&mut self, oid: Oid) -> Option<Arc<Relation>> {
        self.catalog.snapshot().relation(oid).cloned()
    }
}
