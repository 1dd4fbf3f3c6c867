//! Schema changes as written: tables, indexes, views, sequences, schemas, databases.

use super::expr::{Direction, Expr};
use super::query::Query;
use super::utility::{OptionValue, SetStatement, Value};
use super::{Ident, ObjectName, Statement, ToggledTrigger, TypeName};
pub use sql_types::words::OnCommit;
use sql_types::words::{Action, CheckOption, Deferral, MatchType};

/// The extent in the query text of an expression that is kept as text: bytes from, to.
pub type Span = (u32, u32);

/// CREATE TABLE.
#[derive(Clone, Debug, PartialEq)]
pub struct CreateTable {
    /// Its name.
    pub name: ObjectName,
    /// `p`, `u` or `t`.
    pub persistence: char,
    /// IF NOT EXISTS.
    pub if_not_exists: bool,
    /// Columns, table constraints and LIKE, in order.
    pub elements: Vec<TableElement>,
    /// INHERITS.
    pub inherits: Vec<ObjectName>,
    /// PARTITION BY or PARTITION OF was written, or OF a type: which.
    pub special: Option<SpecialTable>,
    /// USING: the access method.
    pub access_method: Option<Ident>,
    /// WITH (...).
    pub options: Vec<StorageOption>,
    /// ON COMMIT.
    pub on_commit: OnCommit,
    /// TABLESPACE.
    pub tablespace: Option<Ident>,
}

impl CreateTable {
    /// A table without columns and clauses.
    #[must_use]
    pub fn empty(name: ObjectName, persistence: char, if_not_exists: bool) -> CreateTable {
        CreateTable {
            name,
            persistence,
            if_not_exists,
            elements: Vec::new(),
            inherits: Vec::new(),
            special: None,
            access_method: None,
            options: Vec::new(),
            on_commit: OnCommit::Preserve,
            tablespace: None,
        }
    }
}

/// A table that is not a plain one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SpecialTable {
    /// PARTITION BY.
    Partitioned,
    /// PARTITION OF.
    Partition,
    /// OF type.
    Typed,
}

/// An element of a table's definition.
#[derive(Clone, Debug, PartialEq)]
pub enum TableElement {
    /// A column.
    Column(ColumnElement),
    /// A constraint of the table.
    Constraint(TableConstraint),
    /// LIKE: the table, and what of it is included.
    Like(ObjectName, Vec<LikeProperty>),
}

/// What LIKE can include of a table beside its columns, each once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LikeProperty {
    /// COMMENTS.
    Comments,
    /// COMPRESSION.
    Compression,
    /// CONSTRAINTS: those of CHECK.
    Constraints,
    /// DEFAULTS.
    Defaults,
    /// GENERATED.
    Generated,
    /// IDENTITY.
    Identity,
    /// INDEXES.
    Indexes,
    /// STATISTICS.
    Statistics,
    /// STORAGE.
    Storage,
}

impl LikeProperty {
    /// All of them, with the words that ask for them.
    pub const ALL: [(&'static str, LikeProperty); 9] = [
        ("comments", LikeProperty::Comments),
        ("compression", LikeProperty::Compression),
        ("constraints", LikeProperty::Constraints),
        ("defaults", LikeProperty::Defaults),
        ("generated", LikeProperty::Generated),
        ("identity", LikeProperty::Identity),
        ("indexes", LikeProperty::Indexes),
        ("statistics", LikeProperty::Statistics),
        ("storage", LikeProperty::Storage),
    ];
}

/// A column's definition.
#[derive(Clone, Debug, PartialEq)]
pub struct ColumnElement {
    /// Its name.
    pub name: Ident,
    /// Its type.
    pub ty: TypeName,
    /// COLLATE.
    pub collation: Option<ObjectName>,
    /// COMPRESSION.
    pub compression: Option<Ident>,
    /// Its constraints, in order.
    pub constraints: Vec<ColumnConstraint>,
    /// Byte offset in the query text.
    pub at: u32,
}

/// A constraint written with a column.
#[derive(Clone, Debug, PartialEq)]
pub struct ColumnConstraint {
    /// CONSTRAINT name.
    pub name: Option<Ident>,
    /// What.
    pub kind: ColumnConstraintKind,
    /// Byte offset in the query text.
    pub at: u32,
}

/// What a column's constraint says.
#[derive(Clone, Debug, PartialEq)]
pub enum ColumnConstraintKind {
    /// NOT NULL.
    NotNull,
    /// NULL.
    Null,
    /// DEFAULT.
    Default(Expr, Span),
    /// GENERATED ... AS IDENTITY.
    Identity {
        /// ALWAYS (else BY DEFAULT).
        always: bool,
        /// Options of its sequence.
        options: Vec<SequenceOption>,
    },
    /// GENERATED ALWAYS AS (...) STORED.
    Generated(Expr, Span),
    /// CHECK.
    Check {
        /// The condition.
        expr: Expr,
        /// Its text.
        span: Span,
        /// NO INHERIT.
        no_inherit: bool,
    },
    /// PRIMARY KEY or UNIQUE.
    Key(KeyOptions),
    /// REFERENCES.
    References(References),
}

/// Options of a key.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct KeyOptions {
    /// PRIMARY KEY (else UNIQUE).
    pub primary: bool,
    /// NULLS NOT DISTINCT.
    pub nulls_not_distinct: bool,
    /// INCLUDE.
    pub include: Vec<Ident>,
    /// WITH (...).
    pub options: Vec<StorageOption>,
    /// USING INDEX TABLESPACE.
    pub tablespace: Option<Ident>,
    /// DEFERRABLE and its kin.
    pub deferral: Deferral,
}

/// REFERENCES and what follows.
#[derive(Clone, Debug, PartialEq)]
pub struct References {
    /// The referenced table.
    pub table: ObjectName,
    /// Its columns; empty: its primary key.
    pub columns: Vec<Ident>,
    /// MATCH.
    pub match_type: MatchType,
    /// ON UPDATE.
    pub on_update: Action,
    /// ON DELETE.
    pub on_delete: Action,
    /// `SET NULL (a, b)`, `SET DEFAULT (a)`: the columns.
    pub delete_columns: Vec<Ident>,
    /// DEFERRABLE and its kin.
    pub deferral: Deferral,
}

/// A constraint of a table.
#[derive(Clone, Debug, PartialEq)]
pub struct TableConstraint {
    /// CONSTRAINT name.
    pub name: Option<Ident>,
    /// What.
    pub kind: TableConstraintKind,
    /// NOT VALID.
    pub not_valid: bool,
    /// Byte offset in the query text.
    pub at: u32,
}

/// What a table's constraint says.
#[derive(Clone, Debug, PartialEq)]
pub enum TableConstraintKind {
    /// CHECK.
    Check {
        /// The condition.
        expr: Expr,
        /// Its text.
        span: Span,
        /// NO INHERIT.
        no_inherit: bool,
    },
    /// PRIMARY KEY or UNIQUE over columns.
    Key(Vec<Ident>, KeyOptions),
    /// PRIMARY KEY or UNIQUE USING INDEX.
    KeyUsing(Ident, KeyOptions),
    /// FOREIGN KEY.
    ForeignKey(Vec<Ident>, References),
    /// EXCLUDE.
    Exclude,
}

/// `name = value` in WITH (...): the name with its namespace (`toast.x`), the value as written, none if none.
#[derive(Clone, Debug, PartialEq)]
pub struct StorageOption {
    /// Its name.
    pub name: Ident,
    /// Its value.
    pub value: Option<Value>,
}

/// CREATE TABLE AS, CREATE MATERIALIZED VIEW, SELECT INTO.
#[derive(Clone, Debug, PartialEq)]
pub struct CreateTableAs {
    /// The table.
    pub name: ObjectName,
    /// Its columns' names.
    pub columns: Vec<Ident>,
    /// `p`, `u` or `t`.
    pub persistence: char,
    /// IF NOT EXISTS.
    pub if_not_exists: bool,
    /// MATERIALIZED VIEW.
    pub materialized: bool,
    /// WITH (...).
    pub options: Vec<StorageOption>,
    /// ON COMMIT.
    pub on_commit: OnCommit,
    /// The query (or EXECUTE).
    pub query: Statement,
    /// WITH DATA (else WITH NO DATA).
    pub with_data: bool,
}

/// REFRESH MATERIALIZED VIEW.
#[derive(Clone, Debug, PartialEq)]
pub struct Refresh {
    /// Which.
    pub name: ObjectName,
    /// CONCURRENTLY.
    pub concurrently: bool,
    /// WITH DATA (else WITH NO DATA).
    pub with_data: bool,
}

/// ALTER TABLE and its kin.
#[derive(Clone, Debug, PartialEq)]
pub struct AlterTable {
    /// What it was called in the statement.
    pub kind: ObjectKind,
    /// Which.
    pub name: ObjectName,
    /// ONLY.
    pub only: bool,
    /// IF EXISTS.
    pub if_exists: bool,
    /// What to do, in order.
    pub actions: Vec<AlterAction>,
}

/// What follows REPLICA IDENTITY.
#[derive(Clone, Debug, PartialEq)]
pub enum ReplicaIdentity {
    /// DEFAULT.
    Default,
    /// NOTHING.
    Nothing,
    /// FULL.
    Full,
    /// USING INDEX: its name.
    Index(Ident),
}

/// An action of ALTER TABLE.
#[derive(Clone, Debug, PartialEq)]
pub enum AlterAction {
    /// ADD COLUMN.
    AddColumn {
        /// IF NOT EXISTS.
        if_not_exists: bool,
        /// The column.
        column: ColumnElement,
    },
    /// DROP COLUMN.
    DropColumn {
        /// IF EXISTS.
        if_exists: bool,
        /// Which.
        name: Ident,
        /// CASCADE.
        cascade: bool,
    },
    /// ALTER COLUMN ... SET DATA TYPE.
    AlterType {
        /// Which.
        name: Ident,
        /// To what.
        ty: TypeName,
        /// COLLATE.
        collation: Option<ObjectName>,
        /// USING.
        using: Option<(Expr, Span)>,
        /// Byte offset in the query text.
        at: u32,
    },
    /// ALTER COLUMN ... SET DEFAULT, DROP DEFAULT.
    SetDefault(Ident, Option<(Expr, Span)>),
    /// ALTER COLUMN ... SET NOT NULL (true), DROP NOT NULL.
    SetNotNull(Ident, bool),
    /// ALTER COLUMN ... DROP EXPRESSION.
    DropExpression {
        /// Which.
        name: Ident,
        /// IF EXISTS.
        if_exists: bool,
    },
    /// ALTER COLUMN ... ADD GENERATED ... AS IDENTITY.
    AddIdentity {
        /// Which.
        name: Ident,
        /// ALWAYS.
        always: bool,
        /// Options of its sequence.
        options: Vec<SequenceOption>,
    },
    /// ALTER COLUMN ... SET GENERATED, SET sequence option, RESTART.
    SetIdentity {
        /// Which.
        name: Ident,
        /// SET GENERATED ALWAYS (true), BY DEFAULT.
        always: Option<bool>,
        /// Options of its sequence.
        options: Vec<SequenceOption>,
    },
    /// ALTER COLUMN ... DROP IDENTITY.
    DropIdentity {
        /// Which.
        name: Ident,
        /// IF EXISTS.
        if_exists: bool,
    },
    /// ALTER COLUMN ... SET STATISTICS, SET STORAGE, SET COMPRESSION (lower case) and the value.
    SetColumnProperty(Ident, Ident, Value),
    /// ALTER COLUMN number SET STATISTICS: a column of an index by its place among them, from 1 on.
    SetStatisticsOf(i16, Value),
    /// ALTER COLUMN ... SET (...), RESET (...).
    SetColumnOptions(Ident, Vec<StorageOption>, bool),
    /// ADD constraint.
    AddConstraint(TableConstraint),
    /// ALTER CONSTRAINT.
    AlterConstraint(Ident, Deferral),
    /// VALIDATE CONSTRAINT.
    ValidateConstraint(Ident),
    /// DROP CONSTRAINT.
    DropConstraint {
        /// IF EXISTS.
        if_exists: bool,
        /// Which.
        name: Ident,
        /// CASCADE.
        cascade: bool,
    },
    /// OWNER TO.
    Owner(Ident),
    /// SET (...).
    SetOptions(Vec<StorageOption>),
    /// RESET (...).
    ResetOptions(Vec<Ident>),
    /// SET LOGGED (true), SET UNLOGGED.
    SetLogged(bool),
    /// SET TABLESPACE.
    SetTablespace(Ident),
    /// CLUSTER ON; none is SET WITHOUT CLUSTER.
    ClusterOn(Option<Ident>),
    /// REPLICA IDENTITY.
    ReplicaIdentity(ReplicaIdentity),
    /// ENABLE [REPLICA | ALWAYS] TRIGGER, DISABLE TRIGGER: O, R, A or D.
    ToggleTrigger(u8, ToggledTrigger),
    /// ENABLE or DISABLE RULE, ROW LEVEL SECURITY and so on: the words.
    Toggle(String),
    /// INHERIT, NO INHERIT, ATTACH PARTITION, DETACH PARTITION, OF: the words.
    Inheritance(String),
}

/// CREATE INDEX.
#[derive(Clone, Debug, PartialEq)]
pub struct CreateIndex {
    /// Its name; none: PostgreSQL makes one.
    pub name: Option<Ident>,
    /// UNIQUE.
    pub unique: bool,
    /// CONCURRENTLY.
    pub concurrently: bool,
    /// IF NOT EXISTS.
    pub if_not_exists: bool,
    /// ONLY.
    pub only: bool,
    /// The table.
    pub table: ObjectName,
    /// USING.
    pub method: Option<Ident>,
    /// Keys.
    pub keys: Vec<IndexKey>,
    /// INCLUDE: columns, if anything that can be made.
    pub include: Vec<IndexKey>,
    /// NULLS NOT DISTINCT.
    pub nulls_not_distinct: bool,
    /// WITH (...).
    pub options: Vec<StorageOption>,
    /// TABLESPACE.
    pub tablespace: Option<Ident>,
    /// WHERE.
    pub filter: Option<(Expr, Span)>,
}

/// A key of an index.
#[derive(Clone, Debug, PartialEq)]
pub struct IndexKey {
    /// A column (unqualified) or an expression.
    pub expr: Expr,
    /// Its text.
    pub span: Span,
    /// COLLATE.
    pub collation: Option<ObjectName>,
    /// The operator class.
    pub class: Option<ObjectName>,
    /// The operator class's options.
    pub class_options: Vec<StorageOption>,
    /// ASC, DESC.
    pub direction: Direction,
    /// NULLS FIRST.
    pub nulls_first: Option<bool>,
}

/// CREATE VIEW.
#[derive(Clone, Debug, PartialEq)]
pub struct CreateView {
    /// Its name.
    pub name: ObjectName,
    /// OR REPLACE.
    pub replace: bool,
    /// TEMPORARY.
    pub temporary: bool,
    /// RECURSIVE: the query is the one that this stands for.
    pub recursive: bool,
    /// Its columns' names.
    pub columns: Vec<Ident>,
    /// WITH (...).
    pub options: Vec<StorageOption>,
    /// The query.
    pub query: Query,
    /// Its text.
    pub span: Span,
    /// WITH CHECK OPTION.
    pub check_option: Option<CheckOption>,
}

/// CREATE SEQUENCE.
#[derive(Clone, Debug, PartialEq)]
pub struct CreateSequence {
    /// Its name.
    pub name: ObjectName,
    /// `p`, `u` or `t`.
    pub persistence: char,
    /// IF NOT EXISTS.
    pub if_not_exists: bool,
    /// Options.
    pub options: Vec<SequenceOption>,
}

/// ALTER SEQUENCE.
#[derive(Clone, Debug, PartialEq)]
pub struct AlterSequence {
    /// Its name.
    pub name: ObjectName,
    /// IF EXISTS.
    pub if_exists: bool,
    /// Options.
    pub options: Vec<SequenceOption>,
}

/// An option of a sequence.
#[derive(Clone, Debug, PartialEq)]
pub enum SequenceOption {
    /// AS type.
    Type(TypeName),
    /// INCREMENT BY.
    Increment(i64),
    /// MINVALUE; none is NO MINVALUE.
    Minimum(Option<i64>),
    /// MAXVALUE; none is NO MAXVALUE.
    Maximum(Option<i64>),
    /// START WITH.
    Start(i64),
    /// RESTART, with a value or at START.
    Restart(Option<i64>),
    /// CACHE.
    Cache(i64),
    /// CYCLE (true), NO CYCLE.
    Cycle(bool),
    /// OWNED BY table.column; none is NONE.
    OwnedBy(Option<ObjectName>),
    /// SEQUENCE NAME, of identity columns.
    Name(ObjectName),
    /// LOGGED (true), UNLOGGED.
    Logged(bool),
}

/// CREATE SCHEMA.
#[derive(Clone, Debug, PartialEq)]
pub struct CreateSchema {
    /// Its name; none: the owner's.
    pub name: Option<Ident>,
    /// IF NOT EXISTS.
    pub if_not_exists: bool,
    /// AUTHORIZATION.
    pub owner: Option<Ident>,
    /// Statements to run in it.
    pub elements: Vec<Statement>,
}

/// CREATE DATABASE.
#[derive(Clone, Debug, PartialEq)]
pub struct CreateDatabase {
    /// Its name.
    pub name: Ident,
    /// Options by name, lower case: `owner`, `template`, `encoding`, `lc_collate`...; a value of DEFAULT is none.
    pub options: Vec<OptionValue>,
}

/// ALTER DATABASE with options.
#[derive(Clone, Debug, PartialEq)]
pub struct AlterDatabase {
    /// Its name.
    pub name: Ident,
    /// Options by name, lower case: `allow_connections`, `concurrency_control`, `connection_limit`,
    /// `is_template`, `tablespace`.
    pub options: Vec<OptionValue>,
}

/// DROP DATABASE.
#[derive(Clone, Debug, PartialEq)]
pub struct DropDatabase {
    /// Its name.
    pub name: Ident,
    /// IF EXISTS.
    pub if_exists: bool,
    /// FORCE.
    pub force: bool,
}

/// ALTER DATABASE ... SET, ALTER ROLE ... [IN DATABASE ...] SET.
#[derive(Clone, Debug, PartialEq)]
pub struct AlterSettings {
    /// The role; none: every role (ALTER DATABASE, ALTER ROLE ALL).
    pub role: Option<Ident>,
    /// The database; none: all.
    pub database: Option<Ident>,
    /// What.
    pub change: SettingChange,
}

/// A change of kept settings.
#[derive(Clone, Debug, PartialEq)]
pub enum SettingChange {
    /// SET.
    Set(SetStatement),
    /// RESET.
    Reset(Ident),
    /// RESET ALL.
    ResetAll,
}

/// ALTER SYSTEM.
#[derive(Clone, Debug, PartialEq)]
pub struct AlterSystem {
    /// What.
    pub change: SettingChange,
}

/// What kind of object a statement names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ObjectKind {
    /// TABLE.
    Table,
    /// INDEX.
    Index,
    /// VIEW.
    View,
    /// MATERIALIZED VIEW.
    MaterializedView,
    /// SEQUENCE.
    Sequence,
    /// SCHEMA.
    Schema,
    /// DATABASE.
    Database,
    /// ROLE, USER, GROUP.
    Role,
    /// A column; its table comes before it in the name.
    Column,
    /// A constraint of a table.
    Constraint,
    /// CONSTRAINT ... ON DOMAIN.
    DomainConstraint,
    /// TYPE.
    Type,
    /// DOMAIN.
    Domain,
    /// FUNCTION, PROCEDURE, ROUTINE.
    Function,
    /// EXTENSION.
    Extension,
    /// TABLESPACE.
    Tablespace,
    /// LANGUAGE.
    Language,
    /// A parameter of the server, in GRANT and REVOKE.
    Parameter,
    /// TRIGGER.
    Trigger,
    /// FOREIGN TABLE, RULE, POLICY and whatever Atoll has none of.
    Other(&'static str),
}

impl ObjectKind {
    /// The words of the kind, as a command tag has them.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            ObjectKind::Table => "TABLE",
            ObjectKind::Index => "INDEX",
            ObjectKind::View => "VIEW",
            ObjectKind::MaterializedView => "MATERIALIZED VIEW",
            ObjectKind::Sequence => "SEQUENCE",
            ObjectKind::Schema => "SCHEMA",
            ObjectKind::Database => "DATABASE",
            ObjectKind::Role => "ROLE",
            ObjectKind::Column => "COLUMN",
            ObjectKind::Constraint | ObjectKind::DomainConstraint => "CONSTRAINT",
            ObjectKind::Type => "TYPE",
            ObjectKind::Domain => "DOMAIN",
            ObjectKind::Function => "FUNCTION",
            ObjectKind::Extension => "EXTENSION",
            ObjectKind::Tablespace => "TABLESPACE",
            ObjectKind::Language => "LANGUAGE",
            ObjectKind::Parameter => "PARAMETER",
            ObjectKind::Trigger => "TRIGGER",
            ObjectKind::Other(words) => words,
        }
    }
}

/// ALTER ... RENAME.
#[derive(Clone, Debug, PartialEq)]
pub struct Rename {
    /// What the statement calls it: for a column or constraint, the kind of its table.
    pub kind: ObjectKind,
    /// Which.
    pub name: ObjectName,
    /// A column or constraint of it.
    pub part: Option<RenamePart>,
    /// IF EXISTS.
    pub if_exists: bool,
    /// The new name.
    pub to: Ident,
}

/// What of a table is renamed.
#[derive(Clone, Debug, PartialEq)]
pub enum RenamePart {
    /// A column.
    Column(Ident),
    /// A constraint.
    Constraint(Ident),
    /// A trigger.
    Trigger(Ident),
}

/// ALTER ... SET SCHEMA.
#[derive(Clone, Debug, PartialEq)]
pub struct SetSchema {
    /// What.
    pub kind: ObjectKind,
    /// Which.
    pub name: ObjectName,
    /// IF EXISTS.
    pub if_exists: bool,
    /// The new schema.
    pub schema: Ident,
}

/// ALTER ... OWNER TO.
#[derive(Clone, Debug, PartialEq)]
pub struct ChangeOwner {
    /// What.
    pub kind: ObjectKind,
    /// Which.
    pub name: ObjectName,
    /// The new owner, or CURRENT_USER and the like as lower-case words.
    pub owner: Ident,
}

/// DROP.
#[derive(Clone, Debug, PartialEq)]
pub struct Drop {
    /// What.
    pub kind: ObjectKind,
    /// Which.
    pub names: Vec<ObjectName>,
    /// IF EXISTS.
    pub if_exists: bool,
    /// CASCADE.
    pub cascade: bool,
    /// CONCURRENTLY (INDEX).
    pub concurrently: bool,
}

/// CREATE EXTENSION.
#[derive(Clone, Debug, PartialEq)]
pub struct CreateExtension {
    /// Which.
    pub name: Ident,
    /// IF NOT EXISTS.
    pub if_not_exists: bool,
    /// SCHEMA.
    pub schema: Option<Ident>,
    /// VERSION.
    pub version: Option<Ident>,
    /// CASCADE: what it requires is created too.
    pub cascade: bool,
}

/// ALTER EXTENSION.
#[derive(Clone, Debug, PartialEq)]
pub struct AlterExtension {
    /// Which.
    pub name: Ident,
    /// What is to become of it.
    pub change: ExtensionChange,
}

/// What ALTER EXTENSION does.
#[derive(Clone, Debug, PartialEq)]
pub enum ExtensionChange {
    /// UPDATE, TO a version.
    Update(Option<Ident>),
    /// SET SCHEMA.
    SetSchema(Ident),
    /// ADD, or DROP, of a member.
    Member {
        /// ADD.
        add: bool,
        /// What it is.
        kind: ObjectKind,
        /// Which.
        object: ObjectName,
    },
}

/// CREATE LANGUAGE with a handler.
#[derive(Clone, Debug, PartialEq)]
pub struct CreateLanguage {
    /// Its name.
    pub name: Ident,
    /// OR REPLACE.
    pub replace: bool,
    /// TRUSTED.
    pub trusted: bool,
    /// HANDLER.
    pub handler: ObjectName,
    /// INLINE.
    pub inline: Option<ObjectName>,
    /// VALIDATOR.
    pub validator: Option<ObjectName>,
}

/// COMMENT.
#[derive(Clone, Debug, PartialEq)]
pub struct Comment {
    /// On what.
    pub kind: ObjectKind,
    /// Which; a constraint's own name is the last part behind its table's.
    pub name: ObjectName,
    /// The types by which a routine is told from others of its name, if they are given.
    pub arguments: Option<super::RoutineArguments>,
    /// What the statement calls a routine: `PROCEDURE`.
    pub word: &'static str,
    /// Which, where no name alone tells it.
    pub target: Option<super::CommentTarget>,
    /// The comment; none takes it away.
    pub text: Option<Ident>,
}
