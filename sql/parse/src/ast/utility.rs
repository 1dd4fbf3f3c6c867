//! Statements about the session, the transaction and maintenance, as written.

use super::expr::Expr;
use super::query::Query;
use super::{Ident, ObjectKind, ObjectName, Statement, TypeName};
use txn::{Isolation, TableLock};

/// EXPLAIN.
#[derive(Clone, Debug, PartialEq)]
pub struct Explain {
    /// Its options by name, lower case, with their value if one was written: `analyze`, `verbose`, `costs`, `format`.
    pub options: Vec<OptionValue>,
    /// What is explained.
    pub statement: Statement,
}

/// `name [value]` in a list of options.
#[derive(Clone, Debug, PartialEq)]
pub struct OptionValue {
    /// Its name, lower case.
    pub name: Ident,
    /// Its value as written (a string decoded, a list as its items).
    pub value: Option<Value>,
    /// Byte offset in the query text.
    pub at: u32,
}

/// The value of an option.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// A word or string.
    Word(Ident),
    /// A string.
    String(Ident),
    /// A number as written, with its sign.
    Number(Ident),
    /// `*`.
    Star,
    /// `(a, b)`.
    List(Vec<Ident>),
}

impl Value {
    /// Its text; none for `*` and lists.
    #[must_use]
    pub fn text(&self) -> Option<&Ident> {
        match self {
            Value::Word(text) | Value::String(text) | Value::Number(text) => Some(text),
            Value::Star | Value::List(_) => None,
        }
    }
}

impl OptionValue {
    /// The value as PostgreSQL's `defGetBoolean` reads it: nothing, true, on, 1; false, off, 0. `None`: not a boolean.
    #[must_use]
    pub fn boolean(&self) -> Option<bool> {
        let Some(value) = &self.value else { return Some(true) };
        match value.text()?.to_ascii_lowercase().as_str() {
            "true" | "on" | "1" => Some(true),
            "false" | "off" | "0" => Some(false),
            _ => None,
        }
    }
}

/// BEGIN and everything that ends or divides a transaction.
#[derive(Clone, Debug, PartialEq)]
pub enum TransactionStatement {
    /// BEGIN.
    Begin(TransactionModes),
    /// START TRANSACTION: its command tag differs.
    Start(TransactionModes),
    /// COMMIT, END.
    Commit {
        /// AND CHAIN.
        chain: bool,
    },
    /// ROLLBACK, ABORT.
    Rollback {
        /// AND CHAIN.
        chain: bool,
    },
    /// SAVEPOINT.
    Savepoint(Ident),
    /// RELEASE.
    Release(Ident),
    /// ROLLBACK TO.
    RollbackTo(Ident),
    /// SET TRANSACTION.
    Set(TransactionModes),
    /// SET TRANSACTION SNAPSHOT.
    SetSnapshot(Ident),
    /// SET SESSION CHARACTERISTICS AS TRANSACTION.
    SetSession(TransactionModes),
    /// PREPARE TRANSACTION.
    Prepare(Ident),
    /// COMMIT PREPARED.
    CommitPrepared(Ident),
    /// ROLLBACK PREPARED.
    RollbackPrepared(Ident),
}

/// Modes of a transaction; the last one written counts.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct TransactionModes {
    /// ISOLATION LEVEL.
    pub isolation: Option<Isolation>,
    /// The level was written READ UNCOMMITTED, which is READ COMMITTED but is shown as written.
    pub uncommitted: bool,
    /// READ ONLY (true), READ WRITE.
    pub read_only: Option<bool>,
    /// DEFERRABLE (true), NOT DEFERRABLE.
    pub deferrable: Option<bool>,
}

/// SET.
#[derive(Clone, Debug, PartialEq)]
pub struct SetStatement {
    /// LOCAL.
    pub local: bool,
    /// The setting's name, lower case; with its class before a dot. TIME ZONE, SCHEMA, NAMES, SESSION AUTHORIZATION,
    /// ROLE are `timezone`, `search_path`, `client_encoding`, `session_authorization`, `role`.
    pub name: Ident,
    /// What it is set to.
    pub value: SetValue,
}

/// What a setting is set to.
#[derive(Clone, Debug, PartialEq)]
pub enum SetValue {
    /// DEFAULT.
    Default,
    /// FROM CURRENT, in ALTER ... SET.
    Current,
    /// Values as written, strings decoded, words folded; several only for settings that are lists.
    Values(Vec<SettingValue>),
}

/// One value of a SET.
#[derive(Clone, Debug, PartialEq)]
pub enum SettingValue {
    /// A string or a word.
    Text(Ident),
    /// A number as written, with its sign.
    Number(Ident),
    /// `INTERVAL '...'` for TIME ZONE: its text and modifier.
    Interval(Ident, i32),
}

/// SET CONSTRAINTS.
#[derive(Clone, Debug, PartialEq)]
pub struct SetConstraints {
    /// Which; none is ALL.
    pub names: Option<Vec<ObjectName>>,
    /// DEFERRED (else IMMEDIATE).
    pub deferred: bool,
}

/// PREPARE.
#[derive(Clone, Debug, PartialEq)]
pub struct Prepare {
    /// Its name.
    pub name: Ident,
    /// Types of parameters.
    pub types: Vec<TypeName>,
    /// The statement.
    pub statement: Statement,
}

/// EXECUTE.
#[derive(Clone, Debug, PartialEq)]
pub struct Execute {
    /// Which.
    pub name: Ident,
    /// Parameters.
    pub parameters: Vec<Expr>,
    /// Byte offset in the query text.
    pub at: u32,
}

/// DECLARE.
#[derive(Clone, Debug, PartialEq)]
pub struct Declare {
    /// The cursor's name.
    pub name: Ident,
    /// BINARY.
    pub binary: bool,
    /// SCROLL (true), NO SCROLL (false).
    pub scroll: Option<bool>,
    /// INSENSITIVE (true), ASENSITIVE (false).
    pub insensitive: Option<bool>,
    /// WITH HOLD.
    pub hold: bool,
    /// The query.
    pub query: Query,
}

/// FETCH and MOVE.
#[derive(Clone, Debug, PartialEq)]
pub struct Fetch {
    /// Which cursor.
    pub name: Ident,
    /// How far.
    pub direction: FetchDirection,
    /// MOVE.
    pub moves: bool,
}

/// How far FETCH goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FetchDirection {
    /// FORWARD n; `i64::MAX` is ALL. Negative goes backward.
    Forward(i64),
    /// BACKWARD n; `i64::MAX` is ALL.
    Backward(i64),
    /// ABSOLUTE n, FIRST (1), LAST (-1).
    Absolute(i64),
    /// RELATIVE n.
    Relative(i64),
}

/// COPY.
#[derive(Clone, Debug, PartialEq)]
pub struct Copy {
    /// What.
    pub subject: CopySubject,
    /// FROM (else TO).
    pub from: bool,
    /// Where.
    pub target: CopyTarget,
    /// Options by name, lower case; the old spelling (`CSV HEADER`) gives the same names.
    pub options: Vec<OptionValue>,
    /// WHERE of COPY FROM.
    pub filter: Option<Expr>,
}

/// What COPY copies.
#[derive(Clone, Debug, PartialEq)]
pub enum CopySubject {
    /// A table, and its columns (empty: all).
    Table(ObjectName, Vec<Ident>),
    /// What a statement returns.
    Query(Statement),
}

/// Where COPY reads or writes.
#[derive(Clone, Debug, PartialEq)]
pub enum CopyTarget {
    /// STDIN or STDOUT.
    Client,
    /// A file of the server.
    File(Ident),
    /// PROGRAM.
    Program(Ident),
}

/// A table, and columns of it (empty: all).
#[derive(Clone, Debug, PartialEq)]
pub struct TableColumns {
    /// The table.
    pub table: ObjectName,
    /// Columns.
    pub columns: Vec<Ident>,
}

/// VACUUM.
#[derive(Clone, Debug, PartialEq)]
pub struct Vacuum {
    /// Options by name, lower case: `full`, `freeze`, `verbose`, `analyze`, `parallel`...
    pub options: Vec<OptionValue>,
    /// Which tables; none is all.
    pub tables: Vec<TableColumns>,
}

/// CLUSTER.
#[derive(Clone, Debug, PartialEq)]
pub struct Cluster {
    /// Options by name, lower case: `verbose`.
    pub options: Vec<OptionValue>,
    /// Which table, and by which index, if not by the one of the last time; none is all that have been clustered.
    pub table: Option<(ObjectName, Option<Ident>)>,
}

/// REINDEX.
#[derive(Clone, Debug, PartialEq)]
pub struct Reindex {
    /// Options by name, lower case: `verbose`, `concurrently`, `tablespace`.
    pub options: Vec<OptionValue>,
    /// INDEX, TABLE, SCHEMA or DATABASE.
    pub kind: ObjectKind,
    /// SYSTEM: of a database, its system relations only.
    pub system: bool,
    /// CONCURRENTLY behind the kind.
    pub concurrently: bool,
    /// What is named.
    pub name: ObjectName,
}

impl Reindex {
    /// Whether it says CONCURRENTLY, in either place.
    #[must_use]
    pub fn is_concurrent(&self) -> bool {
        let option = self.options.iter().rfind(|option| &*option.name == "concurrently");
        option.map_or(self.concurrently, |option| option.boolean() != Some(false))
    }
}

/// ANALYZE.
#[derive(Clone, Debug, PartialEq)]
pub struct Analyze {
    /// Options by name, lower case: `verbose`, `skip_locked`.
    pub options: Vec<OptionValue>,
    /// Which tables; none is all.
    pub tables: Vec<TableColumns>,
}

/// LOCK TABLE.
#[derive(Clone, Debug, PartialEq)]
pub struct Lock {
    /// Which tables.
    pub tables: Vec<ObjectName>,
    /// Which lock.
    pub mode: TableLock,
    /// NOWAIT.
    pub nowait: bool,
}

/// TRUNCATE.
#[derive(Clone, Debug, PartialEq)]
pub struct Truncate {
    /// Which tables.
    pub tables: Vec<ObjectName>,
    /// RESTART IDENTITY.
    pub restart_identity: bool,
    /// CASCADE.
    pub cascade: bool,
}

/// DISCARD.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Discard {
    /// ALL.
    All,
    /// PLANS.
    Plans,
    /// SEQUENCES.
    Sequences,
    /// TEMP.
    Temp,
}

/// DO.
#[derive(Clone, Debug, PartialEq)]
pub struct DoStatement {
    /// The body.
    pub body: Ident,
    /// Where it begins in the query text.
    pub at: u32,
    /// LANGUAGE.
    pub language: Option<Ident>,
}
