//! A PL/pgSQL body after parsing: blocks and statements whose names of variables have become numbers.

use crate::bind::VariableConflict;
use crate::types::SqlType;
use std::sync::Arc;

/// A body.
#[derive(Debug)]
pub struct Body {
    /// Its outermost block.
    pub block: Block,
    /// Its variables, by number.
    pub variables: Vec<Variable>,
    /// What is declared, each item with the one before it.
    pub names: Vec<Name>,
    /// How many expressions and statements of SQL it has.
    pub texts: u32,
    /// How many statements it has, whatever they stand in.
    pub statements: u32,
    /// A COMMIT or ROLLBACK is in it: its queries are read to their ends before their loops begin.
    pub ends_transactions: bool,
    /// What becomes of a name that is a variable's and a column's.
    pub conflict: VariableConflict,
    /// Whether errors of INTO STRICT show the statement's variables.
    pub shows_strict: bool,
    /// The number of FOUND.
    pub found: u32,
    /// How many variables are arguments, which come first.
    pub arguments: u32,
    /// The arguments that `$1` and so on mean.
    pub positions: Vec<u32>,
    /// Names that stand for rows in FROM, each with the number of the variable that holds them.
    pub rows: Vec<(Arc<str>, u32)>,
}

/// A variable.
#[derive(Clone, Debug)]
pub struct Variable {
    /// Its name.
    pub name: Arc<str>,
    /// Its type.
    pub ty: VariableType,
    /// The line that declares it.
    pub line: u32,
    /// CONSTANT.
    pub constant: bool,
    /// NOT NULL.
    pub not_null: bool,
    /// What it begins with.
    pub default: Option<Sql>,
    /// The query of a bound cursor, with its arguments.
    pub cursor: Option<Cursor>,
}

/// A bound cursor.
#[derive(Clone, Debug)]
pub struct Cursor {
    /// Its query.
    pub query: Sql,
    /// Whether it was declared with arguments.
    pub has_arguments: bool,
    /// The variables that these are.
    pub arguments: Vec<u32>,
    /// SCROLL, NO SCROLL.
    pub scroll: Option<bool>,
}

/// What a variable may hold.
#[derive(Clone, Debug)]
pub enum VariableType {
    /// A value of a type; with its name, which messages show.
    Scalar(SqlType),
    /// A row of a composite type.
    Row(SqlType),
    /// A row of any shape.
    Record,
}

/// A name that is seen, and what was declared before it.
#[derive(Clone, Debug)]
pub struct Name {
    /// The item before it that is seen where it is.
    pub previous: Option<u32>,
    /// The name.
    pub name: Arc<str>,
    /// The variable; none: the label of a block or of a loop.
    pub variable: Option<u32>,
    /// A label of a block, whose variables it qualifies.
    pub is_block: bool,
}

/// Text that SQL reads.
#[derive(Clone, Debug)]
pub struct Sql {
    /// Its number in the body.
    pub number: u32,
    /// It: an expression without its SELECT, or a statement.
    pub text: Arc<str>,
    /// Whether it is an expression.
    pub is_expression: bool,
    /// Whether it is a cursor's query.
    pub is_cursor: bool,
    /// The innermost name that it sees.
    pub names: Option<u32>,
    /// Where it stands in the body, in bytes.
    pub at: u32,
    /// The variable that it is assigned to as a whole.
    pub wanted: Option<SqlType>,
    /// The assignment whose value it is.
    pub assignment: Option<Assignment>,
}

/// The characters in front of an expression that is made ready: `SELECT `.
pub const SELECT: u32 = "SELECT ".len() as u32;

/// An assignment as it is written, which is what its errors show.
#[derive(Clone, Debug)]
pub struct Assignment {
    /// `target := value`.
    pub text: Arc<str>,
    /// How many characters stand before the value.
    pub before: u32,
    /// How many stand before it in what is made ready for it.
    pub made: u32,
    /// How many stand before the target's subscripts and fields, in both, where it has any.
    pub path: Option<(u32, u32)>,
}

/// `[<<label>>] [DECLARE ...] BEGIN ... [EXCEPTION ...] END`.
#[derive(Debug)]
pub struct Block {
    /// Its line.
    pub line: u32,
    /// Its label.
    pub label: Option<Arc<str>>,
    /// The variables that it begins anew.
    pub variables: Vec<u32>,
    /// Its statements.
    pub body: Vec<Arc<Statement>>,
    /// EXCEPTION.
    pub handlers: Option<Handlers>,
}

/// EXCEPTION of a block.
#[derive(Debug)]
pub struct Handlers {
    /// The variables `sqlstate` and `sqlerrm`.
    pub state: u32,
    /// The message.
    pub message: u32,
    /// WHEN ... THEN.
    pub handlers: Vec<Handler>,
}

/// `WHEN a OR b THEN ...`.
#[derive(Debug)]
pub struct Handler {
    /// The conditions.
    pub conditions: Vec<Condition>,
    /// What is done then.
    pub body: Vec<Arc<Statement>>,
}

/// A condition of WHEN.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Condition {
    /// Everything but cancel and failed assertions.
    Others,
    /// This SQLSTATE, or its class where it ends in 000.
    State([u8; 5]),
}

/// A statement with its line.
#[derive(Debug)]
pub struct Statement {
    /// The line in the body, from 1.
    pub line: u32,
    /// Its number in the body, from 0.
    pub number: u32,
    /// What it does.
    pub action: Action,
}

/// Where a value goes.
#[derive(Clone, Debug)]
pub struct Place {
    /// The variable.
    pub variable: u32,
    /// The field of it, the field of that, and so on.
    pub path: Vec<Arc<str>>,
}

/// A query: written, or made as text when it runs.
#[derive(Debug)]
pub enum Query {
    /// Written.
    Static(Sql),
    /// EXECUTE, with USING.
    Dynamic(Sql, Vec<Sql>),
    /// That of a bound cursor, whose arguments are given values.
    Cursor(u32, Vec<(u32, Sql)>),
}

/// INTO.
#[derive(Debug)]
pub struct Into {
    /// STRICT.
    pub strict: bool,
    /// Where the columns go.
    pub places: Vec<Place>,
}

/// What a statement does.
#[derive(Debug)]
pub enum Action {
    /// A block.
    Block(Block),
    /// `place := expression`.
    Assign(Place, Sql),
    /// `place[...] := expression`: the subscripts as text.
    AssignElement(Place, Sql),
    /// IF: conditions with their branches, ELSE.
    If(Vec<(Sql, Vec<Arc<Statement>>)>, Vec<Arc<Statement>>),
    /// CASE: the operand goes into a variable; ELSE may be missing.
    Case(Option<(u32, Sql)>, Vec<(Sql, Vec<Arc<Statement>>)>, Option<Vec<Arc<Statement>>>),
    /// LOOP, WHILE.
    Loop(Option<Arc<str>>, Option<Sql>, Vec<Arc<Statement>>),
    /// FOR over integers.
    ForInteger(Box<ForInteger>),
    /// FOR over the rows of a query.
    ForQuery(Box<ForQuery>),
    /// FOREACH.
    ForEach(Box<ForEach>),
    /// EXIT (`true`) or CONTINUE, of which loop, when.
    Leave(bool, Option<Arc<str>>, Option<Sql>),
    /// RETURN.
    Return(Option<Sql>),
    /// RETURN NEXT.
    ReturnNext(Option<Sql>),
    /// RETURN QUERY.
    ReturnQuery(Query),
    /// RAISE.
    Raise(Box<Raise>),
    /// ASSERT.
    Assert(Sql, Option<Sql>),
    /// Any statement of SQL.
    Execute(Sql, Option<Into>),
    /// PERFORM.
    Perform(Sql),
    /// EXECUTE.
    Dynamic(Sql, Option<Into>, Vec<Sql>),
    /// OPEN.
    Open(Box<Open>),
    /// FETCH, MOVE.
    Fetch(Box<Fetch>),
    /// CLOSE.
    Close(u32),
    /// CALL or DO.
    Call(Sql, bool),
    /// GET DIAGNOSTICS: STACKED, the items.
    Diagnostics(bool, Vec<(Place, Arc<str>)>),
    /// COMMIT (`true`) or ROLLBACK; AND CHAIN.
    EndTransaction(bool, bool),
    /// NULL.
    Nothing,
}

/// FOR over integers.
#[derive(Debug)]
pub struct ForInteger {
    /// The loop's label.
    pub label: Option<Arc<str>>,
    /// The loop's own variable.
    pub variable: u32,
    /// REVERSE.
    pub reverse: bool,
    /// From.
    pub low: Sql,
    /// To.
    pub high: Sql,
    /// BY.
    pub step: Option<Sql>,
    /// What is done each time.
    pub body: Vec<Arc<Statement>>,
}

/// FOR over rows.
#[derive(Debug)]
pub struct ForQuery {
    /// The loop's label.
    pub label: Option<Arc<str>>,
    /// Where the columns go.
    pub places: Vec<Place>,
    /// The query.
    pub query: Query,
    /// What is done each time.
    pub body: Vec<Arc<Statement>>,
}

/// OPEN.
#[derive(Debug)]
pub struct Open {
    /// The cursor's variable.
    pub variable: u32,
    /// SCROLL, NO SCROLL.
    pub scroll: Option<bool>,
    /// The query.
    pub query: Query,
}

/// Which way FETCH goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// Towards the end.
    Forward,
    /// Towards the beginning.
    Backward,
    /// To a row by its number.
    Absolute,
    /// To a row by its distance.
    Relative,
}

/// How far FETCH goes.
#[derive(Debug)]
pub enum Count {
    /// So far; `i64::MAX` is ALL.
    Fixed(i64),
    /// As far as this says.
    Of(Sql),
}

/// FETCH or MOVE.
#[derive(Debug)]
pub struct Fetch {
    /// The cursor's variable.
    pub variable: u32,
    /// Where to.
    pub direction: (Direction, Count),
    /// INTO.
    pub places: Vec<Place>,
    /// MOVE.
    pub moves: bool,
}

/// FOREACH.
#[derive(Debug)]
pub struct ForEach {
    /// The loop's label.
    pub label: Option<Arc<str>>,
    /// Where the element goes, or the fields of it.
    pub places: Vec<Place>,
    /// SLICE.
    pub slice: u32,
    /// The array.
    pub array: Sql,
    /// What is done each time.
    pub body: Vec<Arc<Statement>>,
}

/// How loud a RAISE is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// DEBUG.
    Debug,
    /// LOG.
    Log,
    /// INFO.
    Info,
    /// NOTICE.
    Notice,
    /// WARNING.
    Warning,
    /// EXCEPTION.
    Exception,
}

/// RAISE.
#[derive(Debug)]
pub struct Raise {
    /// The level.
    pub level: Level,
    /// A condition's name or SQLSTATE, as written.
    pub condition: Option<(Arc<str>, [u8; 5])>,
    /// The message with its places for values.
    pub format: Option<Arc<str>>,
    /// The values.
    pub values: Vec<Sql>,
    /// USING.
    pub options: Vec<(RaiseOption, Sql)>,
    /// RAISE alone: the error that is being handled again.
    pub again: bool,
}

/// An option of RAISE ... USING.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RaiseOption {
    /// ERRCODE.
    Errcode,
    /// MESSAGE.
    Message,
    /// DETAIL.
    Detail,
    /// HINT.
    Hint,
    /// COLUMN.
    Column,
    /// CONSTRAINT.
    Constraint,
    /// DATATYPE.
    Datatype,
    /// TABLE.
    Table,
    /// SCHEMA.
    Schema,
}

impl RaiseOption {
    /// Its word.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            RaiseOption::Errcode => "ERRCODE",
            RaiseOption::Message => "MESSAGE",
            RaiseOption::Detail => "DETAIL",
            RaiseOption::Hint => "HINT",
            RaiseOption::Column => "COLUMN",
            RaiseOption::Constraint => "CONSTRAINT",
            RaiseOption::Datatype => "DATATYPE",
            RaiseOption::Table => "TABLE",
            RaiseOption::Schema => "SCHEMA",
        }
    }
}

impl Action {
    /// What it is called in a CONTEXT (`plpgsql_stmt_typename`).
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Action::Block(_) => "statement block",
            Action::Assign(..) | Action::AssignElement(..) => "assignment",
            Action::If(..) => "IF",
            Action::Case(..) => "CASE",
            Action::Loop(_, None, _) => "LOOP",
            Action::Loop(..) => "WHILE",
            Action::ForInteger(_) => "FOR with integer loop variable",
            Action::ForQuery(looped) => match looped.query {
                Query::Static(_) => "FOR over SELECT rows",
                Query::Dynamic(..) => "FOR over EXECUTE statement",
                Query::Cursor(..) => "FOR over cursor",
            },
            Action::ForEach(_) => "FOREACH over array",
            Action::Leave(true, ..) => "EXIT",
            Action::Leave(..) => "CONTINUE",
            Action::Return(_) => "RETURN",
            Action::ReturnNext(_) => "RETURN NEXT",
            Action::ReturnQuery(_) => "RETURN QUERY",
            Action::Raise(_) => "RAISE",
            Action::Assert(..) => "ASSERT",
            Action::Execute(..) => "SQL statement",
            Action::Perform(_) => "PERFORM",
            Action::Dynamic(..) => "EXECUTE",
            Action::Open(_) => "OPEN",
            Action::Fetch(fetch) if fetch.moves => "MOVE",
            Action::Fetch(_) => "FETCH",
            Action::Close(_) => "CLOSE",
            Action::Call(_, true) => "CALL",
            Action::Call(..) => "DO",
            Action::Diagnostics(true, _) => "GET STACKED DIAGNOSTICS",
            Action::Diagnostics(..) => "GET DIAGNOSTICS",
            Action::EndTransaction(true, _) => "COMMIT",
            Action::EndTransaction(..) => "ROLLBACK",
            Action::Nothing => "NULL",
        }
    }
}
