//! The syntax tree: what a statement says, before any name in it is looked up.
//!
//! It is our own, so that nothing behind the parser depends on how text became a tree. Places are byte offsets in the
//! query text; [`crate::Positions`] turns them into the characters from 1 that a client is told.

pub mod ddl;
pub mod expr;
pub mod operator;
pub mod operator_class;
pub mod privilege;
pub mod query;
pub mod routine;
pub mod trigger;
pub mod type_statement;
pub mod utility;

pub use ddl::*;
pub use expr::*;
pub use operator::*;
pub use operator_class::*;
pub use privilege::*;
pub use query::*;
pub use routine::*;
pub use trigger::*;
pub use type_statement::*;
pub use utility::*;

use std::sync::Arc;

/// A name as the catalog holds it: folded to lower case unless quoted, cut at 63 bytes.
pub type Ident = Arc<str>;

/// A name with its qualifiers.
#[derive(Clone, Debug, PartialEq)]
pub struct ObjectName {
    /// Its parts, the object's own name last.
    pub parts: Vec<Ident>,
    /// Byte offset in the query text.
    pub at: u32,
}

impl ObjectName {
    /// The object's own name.
    #[must_use]
    pub fn name(&self) -> &Ident {
        self.parts.last().expect("a name has a part")
    }

    /// The schema, if one was written.
    #[must_use]
    pub fn schema(&self) -> Option<&Ident> {
        self.parts.len().checked_sub(2).map(|index| &self.parts[index])
    }
}

impl std::fmt::Display for ObjectName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for (index, part) in self.parts.iter().enumerate() {
            if index > 0 {
                f.write_str(".")?;
            }
            f.write_str(part)?;
        }
        Ok(())
    }
}

/// A type's name.
#[derive(Clone, Debug, PartialEq)]
pub struct TypeName {
    /// Its name; keywords such as INTEGER are already `pg_catalog.int4`.
    pub name: ObjectName,
    /// Its modifiers: `(10, 2)`. For INTERVAL the mask of its fields first, as PostgreSQL numbers them.
    pub modifiers: Vec<Expr>,
    /// How many pairs of brackets follow.
    pub dimensions: u32,
    /// SETOF.
    pub setof: bool,
    /// `%TYPE`.
    pub of_column: bool,
}

impl TypeName {
    /// Whether it is the same type in the same words.
    #[must_use]
    pub fn is_same(&self, other: &TypeName) -> bool {
        let parts = |ty: &TypeName| (ty.name.parts.clone(), ty.dimensions, ty.of_column);
        parts(self) == parts(other)
    }

    /// A type by its name alone.
    #[must_use]
    pub fn named(name: Ident) -> TypeName {
        TypeName {
            name: ObjectName { parts: vec![name], at: 0 },
            modifiers: Vec::new(),
            dimensions: 0,
            setof: false,
            of_column: false,
        }
    }
}

/// A statement.
#[derive(Clone, Debug, PartialEq)]
pub enum Statement {
    /// SELECT, VALUES, TABLE, WITH ... SELECT.
    Query(Box<Query>),
    /// INSERT.
    Insert(Box<Insert>),
    /// UPDATE.
    Update(Box<Update>),
    /// DELETE.
    Delete(Box<Delete>),
    /// MERGE.
    Merge(Box<Merge>),
    /// EXPLAIN.
    Explain(Box<Explain>),
    /// BEGIN and everything that ends or divides a transaction.
    Transaction(TransactionStatement),
    /// SET.
    Set(SetStatement),
    /// RESET; none is ALL.
    Reset(Option<Ident>),
    /// SHOW; none is ALL.
    Show(Option<Ident>),
    /// SET CONSTRAINTS.
    SetConstraints(SetConstraints),
    /// PREPARE.
    Prepare(Box<Prepare>),
    /// EXECUTE.
    Execute(Execute),
    /// DEALLOCATE; none is ALL.
    Deallocate(Option<Ident>),
    /// DECLARE.
    Declare(Box<Declare>),
    /// FETCH and MOVE.
    Fetch(Fetch),
    /// CLOSE; none is ALL.
    Close(Option<Ident>),
    /// COPY.
    Copy(Box<Copy>),
    /// VACUUM.
    Vacuum(Vacuum),
    /// REINDEX.
    Reindex(Reindex),
    /// CLUSTER.
    Cluster(Cluster),
    /// ANALYZE.
    Analyze(Analyze),
    /// CHECKPOINT.
    Checkpoint,
    /// LOCK TABLE.
    Lock(Lock),
    /// TRUNCATE.
    Truncate(Truncate),
    /// DISCARD.
    Discard(Discard),
    /// LISTEN.
    Listen(Ident),
    /// UNLISTEN; none is `*`.
    Unlisten(Option<Ident>),
    /// NOTIFY: channel, payload.
    Notify(Ident, Option<Ident>),
    /// CREATE TABLE.
    CreateTable(Box<CreateTable>),
    /// CREATE TABLE AS, SELECT INTO.
    CreateTableAs(Box<CreateTableAs>),
    /// REFRESH MATERIALIZED VIEW.
    Refresh(Refresh),
    /// ALTER TABLE, ALTER INDEX, ALTER VIEW, ALTER SEQUENCE where they share its actions.
    AlterTable(Box<AlterTable>),
    /// CREATE INDEX.
    CreateIndex(Box<CreateIndex>),
    /// CREATE VIEW.
    CreateView(Box<CreateView>),
    /// CREATE SEQUENCE.
    CreateSequence(Box<CreateSequence>),
    /// ALTER SEQUENCE with options.
    AlterSequence(Box<AlterSequence>),
    /// CREATE SCHEMA.
    CreateSchema(Box<CreateSchema>),
    /// CREATE EXTENSION.
    CreateExtension(CreateExtension),
    /// CREATE LANGUAGE with a handler.
    CreateLanguage(Box<CreateLanguage>),
    /// ALTER EXTENSION.
    AlterExtension(AlterExtension),
    /// LOAD, of a library.
    Load(Ident),
    /// CREATE TYPE.
    CreateType(Box<CreateType>),
    /// ALTER TYPE ... ADD VALUE, RENAME VALUE.
    AlterEnum(AlterEnum),
    /// ALTER TYPE of a composite type.
    AlterComposite(Box<AlterComposite>),
    /// CREATE DOMAIN.
    CreateDomain(Box<CreateDomain>),
    /// ALTER DOMAIN.
    AlterDomain(Box<AlterDomain>),
    /// CREATE DATABASE.
    CreateDatabase(CreateDatabase),
    /// ALTER DATABASE with options.
    AlterDatabase(AlterDatabase),
    /// ALTER DATABASE ... SET, ALTER ROLE ... SET.
    AlterSettings(AlterSettings),
    /// DROP DATABASE.
    DropDatabase(DropDatabase),
    /// CREATE ROLE, USER, GROUP.
    CreateRole(CreateRole),
    /// ALTER ROLE, USER with options.
    AlterRole(AlterRole),
    /// DROP ROLE, USER, GROUP.
    DropRole(DropRole),
    /// ALTER ... RENAME TO.
    Rename(Rename),
    /// ALTER ... SET SCHEMA.
    SetSchema(SetSchema),
    /// ALTER ... OWNER TO.
    ChangeOwner(ChangeOwner),
    /// DROP of anything in a schema, and of schemas.
    Drop(Drop),
    /// CREATE FUNCTION, CREATE PROCEDURE.
    CreateRoutine(Box<CreateRoutine>),
    /// CREATE AGGREGATE.
    CreateAggregate(Box<CreateAggregate>),
    /// ALTER FUNCTION, PROCEDURE, ROUTINE.
    AlterRoutine(Box<AlterRoutine>),
    /// DROP FUNCTION, PROCEDURE, ROUTINE.
    DropRoutine(DropRoutine),
    /// CALL.
    Call(Box<Call>),
    /// CREATE TRIGGER.
    CreateTrigger(Box<CreateTrigger>),
    /// DROP TRIGGER.
    DropTrigger(DropTrigger),
    /// CREATE OPERATOR.
    CreateOperator(Box<CreateOperator>),
    /// ALTER OPERATOR.
    AlterOperator(Box<AlterOperator>),
    /// DROP OPERATOR.
    DropOperator(DropOperator),
    /// CREATE OPERATOR CLASS.
    CreateOperatorClass(Box<CreateOperatorClass>),
    /// CREATE OPERATOR FAMILY.
    CreateOperatorFamily(CreateOperatorFamily),
    /// ALTER OPERATOR CLASS, ALTER OPERATOR FAMILY.
    AlterOperatorPart(Box<AlterOperatorPart>),
    /// DROP OPERATOR CLASS, DROP OPERATOR FAMILY.
    DropOperatorPart(Box<DropOperatorPart>),
    /// CREATE CONVERSION.
    CreateConversion(Box<CreateConversion>),
    /// ALTER CONVERSION.
    AlterConversion(Box<AlterConversion>),
    /// DROP CONVERSION.
    DropConversion(DropConversion),
    /// CREATE CAST.
    CreateCast(Box<CreateCast>),
    /// DROP CAST.
    DropCast(Box<DropCast>),
    /// CREATE EVENT TRIGGER.
    CreateEventTrigger(Box<CreateEventTrigger>),
    /// ALTER EVENT TRIGGER.
    AlterEventTrigger(AlterEventTrigger),
    /// DROP EVENT TRIGGER.
    DropEventTrigger(DropEventTrigger),
    /// ALTER SYSTEM.
    AlterSystem(AlterSystem),
    /// COMMENT.
    Comment(Comment),
    /// GRANT and REVOKE of privileges.
    Grant(Grant),
    /// ALTER DEFAULT PRIVILEGES.
    AlterDefaultPrivileges(AlterDefaultPrivileges),
    /// GRANT and REVOKE of roles.
    GrantRole(GrantRole),
    /// DROP OWNED.
    DropOwned(DropOwned),
    /// REASSIGN OWNED.
    ReassignOwned(ReassignOwned),
    /// DO.
    Do(DoStatement),
    /// A statement that PostgreSQL has and Atoll has not: `CREATE RULE`. Its text has not been looked at further.
    Unsupported(String),
}

impl Statement {
    /// Whether no block holds it: it commits by itself, before what follows it in a pipeline (`PreventInTransactionBlock`).
    #[must_use]
    pub fn stands_alone(&self) -> bool {
        match self {
            Statement::Vacuum(_)
            | Statement::CreateDatabase(_)
            | Statement::DropDatabase(_)
            | Statement::AlterSystem(_)
            | Statement::Discard(Discard::All) => true,
            Statement::CreateIndex(create) => create.concurrently,
            Statement::Cluster(cluster) => cluster.table.is_none(),
            Statement::Drop(drop) => drop.concurrently,
            Statement::Reindex(reindex) => {
                reindex.is_concurrent()
                    || !matches!(reindex.kind, ObjectKind::Index | ObjectKind::Table)
            }
            Statement::Transaction(control) => matches!(
                control,
                TransactionStatement::CommitPrepared(_) | TransactionStatement::RollbackPrepared(_)
            ),
            _ => false,
        }
    }

    /// Whether it is run by a plan: what PREPARE and COPY take (`PreparableStmt`).
    #[must_use]
    pub fn is_planned(&self) -> bool {
        matches!(
            self,
            Statement::Query(_)
                | Statement::Insert(_)
                | Statement::Update(_)
                | Statement::Delete(_)
                | Statement::Merge(_)
        )
    }

    /// Whether PostgreSQL runs it in a transaction that has failed: COMMIT, ROLLBACK and their kin.
    #[must_use]
    pub fn allowed_when_failed(&self) -> bool {
        matches!(
            self,
            Statement::Transaction(
                TransactionStatement::Commit { .. }
                    | TransactionStatement::Rollback { .. }
                    | TransactionStatement::RollbackTo(_)
                    | TransactionStatement::Prepare(_)
            )
        )
    }
}
