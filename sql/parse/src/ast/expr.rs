//! Expressions as written: PostgreSQL's `a_expr`, with the SQL-standard call forms (`EXTRACT(x FROM y)`) already turned
//! into calls, as PostgreSQL's grammar does it.
//!
//! Parentheses leave no node; AND and OR are lists, so that a long one is not a deep one.

use super::query::Query;
use super::{Ident, ObjectName, TypeName};
use std::sync::Arc;

/// An expression and where an error about it points: the byte of its operator, its function's name or its first token.
#[derive(Clone, Debug, PartialEq)]
pub struct Expr {
    /// Byte offset in the query text.
    pub at: u32,
    /// What it is.
    pub kind: ExprKind,
}

/// A call of SQL/XML.
#[derive(Clone, Debug, PartialEq)]
pub struct XmlCall {
    /// What it makes.
    pub op: sql_types::xml::construct::XmlOp,
    /// NAME.
    pub name: Option<Ident>,
    /// Attributes of an element, elements of a forest: each with its name, if it was given, and where it stands.
    pub named: Vec<(Option<Ident>, Expr, u32)>,
    /// What else it is of.
    pub arguments: Vec<Expr>,
    /// What XMLSERIALIZE is to give.
    pub target: Option<TypeName>,
}

/// XMLTABLE, which stands in FROM alone.
#[derive(Clone, Debug, PartialEq)]
pub struct XmlTable {
    /// XMLNAMESPACES: prefixes, none of DEFAULT, what they stand for, and where each is written.
    pub namespaces: Vec<(Option<Ident>, Expr, u32)>,
    /// What finds the rows.
    pub path: Expr,
    /// PASSING.
    pub document: Expr,
    /// COLUMNS.
    pub columns: Vec<XmlTableColumn>,
}

impl XmlTable {
    /// All expressions in it.
    pub fn parts(&self) -> impl Iterator<Item = &Expr> {
        let namespaces = self.namespaces.iter().map(|(_, uri, _)| uri);
        let columns = self.columns.iter().flat_map(|column| [&column.path, &column.default]);
        namespaces.chain([&self.path, &self.document]).chain(columns.flatten())
    }
}

/// A column of XMLTABLE.
#[derive(Clone, Debug, PartialEq)]
pub struct XmlTableColumn {
    /// Its name.
    pub name: Ident,
    /// Its type; none is FOR ORDINALITY.
    pub ty: Option<TypeName>,
    /// PATH.
    pub path: Option<Expr>,
    /// DEFAULT.
    pub default: Option<Expr>,
    /// NOT NULL.
    pub not_null: bool,
    /// Byte offset in the query text.
    pub at: u32,
}

/// What an expression is.
#[derive(Clone, Debug, PartialEq)]
pub enum ExprKind {
    /// `a`, `t.a`, `s.t.a`.
    Column(Vec<Ident>),
    /// `t.*` as a value; empty is `*`.
    Star(Vec<Ident>),
    /// An integer that fits in int4.
    Integer(i32),
    /// Any other number, as written.
    Number(Ident),
    /// A quoted string, decoded: of type unknown.
    String(Ident),
    /// `B'101'`, `X'1F'`: the letter and the digits.
    Bits(char, Ident),
    /// TRUE, FALSE.
    Bool(bool),
    /// NULL.
    Null,
    /// `$n`, from 1.
    Parameter(u32),
    /// DEFAULT, in VALUES and SET only.
    Default,
    /// `op x`.
    Unary(Operator, Box<Expr>),
    /// `x op y`. LIKE, ILIKE and SIMILAR TO are this too.
    Binary(Box<Expr>, Operator, Box<Expr>),
    /// AND.
    And(Vec<Expr>),
    /// OR.
    Or(Vec<Expr>),
    /// NOT.
    Not(Box<Expr>),
    /// IS [NOT] NULL.
    IsNull {
        /// Of what.
        operand: Box<Expr>,
        /// NOT.
        negated: bool,
    },
    /// IS [NOT] TRUE, FALSE, UNKNOWN (none).
    IsBool {
        /// Of what.
        operand: Box<Expr>,
        /// Which.
        test: Option<bool>,
        /// NOT.
        negated: bool,
    },
    /// IS [NOT] DISTINCT FROM.
    IsDistinct {
        /// Left.
        left: Box<Expr>,
        /// Right.
        right: Box<Expr>,
        /// NOT.
        negated: bool,
    },
    /// `x [NOT] IN (a, b)`.
    InList {
        /// Left.
        operand: Box<Expr>,
        /// The list.
        list: Vec<Expr>,
        /// NOT.
        negated: bool,
    },
    /// `x [NOT] IN (SELECT ...)`.
    InQuery {
        /// Left.
        operand: Box<Expr>,
        /// The query.
        query: Arc<Query>,
        /// NOT.
        negated: bool,
    },
    /// BETWEEN.
    Between {
        /// What.
        operand: Box<Expr>,
        /// Lower bound.
        low: Box<Expr>,
        /// Upper bound.
        high: Box<Expr>,
        /// NOT.
        negated: bool,
        /// SYMMETRIC.
        symmetric: bool,
    },
    /// `x op ANY (array)`, `ALL`.
    QuantifiedArray {
        /// Left.
        left: Box<Expr>,
        /// Operator.
        op: Operator,
        /// ALL.
        all: bool,
        /// The array.
        array: Box<Expr>,
    },
    /// `x op ANY (SELECT ...)`, `ALL`.
    QuantifiedQuery {
        /// Left.
        left: Box<Expr>,
        /// Operator.
        op: Operator,
        /// ALL.
        all: bool,
        /// The query.
        query: Arc<Query>,
    },
    /// `(SELECT ...)`.
    Subquery(Arc<Query>),
    /// EXISTS.
    Exists(Arc<Query>),
    /// `ARRAY(SELECT ...)`.
    ArrayQuery(Arc<Query>),
    /// `ARRAY[...]`; an element that is itself a bracketed list is an `Array` too.
    Array(Vec<Expr>),
    /// `ROW(...)`, `(a, b)`.
    Row {
        /// Fields.
        fields: Vec<Expr>,
        /// The word ROW was written.
        explicit: bool,
    },
    /// `x[i]`, `x[l:u]`.
    Subscript {
        /// Of what.
        operand: Box<Expr>,
        /// Per dimension.
        indices: Vec<Index>,
    },
    /// `(x).f`.
    Field {
        /// Of what.
        operand: Box<Expr>,
        /// Which.
        name: Ident,
    },
    /// `(x).*`.
    AllFields(Box<Expr>),
    /// `x COLLATE c`.
    Collate {
        /// What.
        operand: Box<Expr>,
        /// By what.
        collation: ObjectName,
    },
    /// `x::t`, `CAST(x AS t)`, `t 'x'`.
    Cast {
        /// What.
        operand: Box<Expr>,
        /// To what.
        ty: TypeName,
    },
    /// CASE.
    Case {
        /// `CASE x WHEN`.
        operand: Option<Box<Expr>>,
        /// WHEN, THEN.
        branches: Vec<When>,
        /// ELSE.
        otherwise: Option<Box<Expr>>,
    },
    /// COALESCE.
    Coalesce(Vec<Expr>),
    /// GREATEST or LEAST.
    Extreme {
        /// GREATEST.
        greatest: bool,
        /// Arguments.
        arguments: Vec<Expr>,
    },
    /// NULLIF.
    NullIf(Box<Expr>, Box<Expr>),
    /// XMLELEMENT and its kin.
    Xml(Box<XmlCall>),
    /// XMLTABLE.
    XmlTable(Box<XmlTable>),
    /// CURRENT_DATE and its kin.
    CurrentValue(sql_types::words::CurrentValue),
    /// GROUPING(...).
    Grouping(Vec<Expr>),
    /// A function, aggregate or window function.
    Call(Box<Call>),
    /// `WHERE CURRENT OF cursor`.
    CurrentOf(Ident),
}

/// WHEN condition THEN result.
#[derive(Clone, Debug, PartialEq)]
pub struct When {
    /// The condition, or the value that is compared with CASE's.
    pub condition: Expr,
    /// The result.
    pub result: Expr,
    /// Byte offset of WHEN.
    pub at: u32,
}

/// An operator's name.
#[derive(Clone, Debug, PartialEq)]
pub struct Operator {
    /// `OPERATOR(schema.op)`.
    pub schema: Option<Ident>,
    /// Its characters.
    pub name: Ident,
}

/// A subscript.
#[derive(Clone, Debug, PartialEq)]
pub enum Index {
    /// `[i]`.
    At(Expr),
    /// `[l:u]`.
    Slice(Option<Expr>, Option<Expr>),
}

/// A call.
#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    /// Its name, qualified or not.
    pub name: ObjectName,
    /// Arguments in order.
    pub arguments: Vec<Argument>,
    /// `f(*)`.
    pub star: bool,
    /// The last argument is VARIADIC.
    pub variadic: bool,
    /// DISTINCT.
    pub distinct: bool,
    /// ORDER BY among the arguments, or in WITHIN GROUP.
    pub order_by: Vec<OrderBy>,
    /// WITHIN GROUP was written.
    pub within_group: bool,
    /// FILTER (WHERE ...).
    pub filter: Option<Expr>,
    /// OVER.
    pub over: Option<Over>,
    /// It was written in a form of the standard (`EXTRACT(... FROM ...)`) and is printed that way.
    pub standard_form: bool,
}

impl Call {
    /// A call with these arguments and nothing else.
    #[must_use]
    pub fn plain(name: ObjectName, arguments: Vec<Argument>) -> Call {
        Call {
            name,
            arguments,
            star: false,
            variadic: false,
            distinct: false,
            order_by: Vec::new(),
            within_group: false,
            filter: None,
            over: None,
            standard_form: false,
        }
    }
}

/// An argument.
#[derive(Clone, Debug, PartialEq)]
pub struct Argument {
    /// `name => value`.
    pub name: Option<Ident>,
    /// Its value.
    pub value: Expr,
    /// Where it begins.
    pub at: u32,
}

/// OVER.
#[derive(Clone, Debug, PartialEq)]
pub enum Over {
    /// `OVER w`.
    Named(Ident, u32),
    /// `OVER (...)`.
    Window(Window),
}

/// A window's definition.
#[derive(Clone, Debug, PartialEq)]
pub struct Window {
    /// The window that it refines.
    pub base: Option<Ident>,
    /// PARTITION BY.
    pub partition_by: Vec<Expr>,
    /// ORDER BY.
    pub order_by: Vec<OrderBy>,
    /// The frame, if one was written.
    pub frame: Option<Frame>,
    /// Byte offset in the query text.
    pub at: u32,
}

/// A frame clause.
#[derive(Clone, Debug, PartialEq)]
pub struct Frame {
    /// ROWS, RANGE, GROUPS.
    pub unit: sql_types::words::FrameUnit,
    /// Where it begins.
    pub start: Bound,
    /// Where it ends.
    pub end: Bound,
    /// Whether BETWEEN was written: without, it ends at the current row.
    pub between: bool,
    /// EXCLUDE.
    pub exclude: sql_types::words::FrameExclude,
    /// Byte offset in the query text.
    pub at: u32,
}

/// A frame's bound.
#[derive(Clone, Debug, PartialEq)]
pub enum Bound {
    /// UNBOUNDED PRECEDING.
    UnboundedPreceding,
    /// n PRECEDING.
    Preceding(Box<Expr>),
    /// CURRENT ROW.
    CurrentRow,
    /// n FOLLOWING.
    Following(Box<Expr>),
    /// UNBOUNDED FOLLOWING.
    UnboundedFollowing,
}

/// A sort key.
#[derive(Clone, Debug, PartialEq)]
pub struct OrderBy {
    /// What.
    pub expr: Expr,
    /// ASC, DESC, USING.
    pub direction: Direction,
    /// NULLS FIRST, NULLS LAST.
    pub nulls_first: Option<bool>,
}

/// The direction of a sort key.
#[derive(Clone, Debug, PartialEq)]
pub enum Direction {
    /// Nothing was said.
    Default,
    /// ASC.
    Ascending,
    /// DESC.
    Descending,
    /// USING op, and the operator's byte offset.
    Using(Operator, u32),
}

impl Expr {
    /// Where the expression's text begins, as PostgreSQL's `exprLocation` has it: of an operator's left operand.
    #[must_use]
    pub fn start(&self) -> u32 {
        self.begins(true)
    }

    /// The same before it is looked at: a literal that is given a type begins where that does.
    #[must_use]
    pub fn written_start(&self) -> u32 {
        self.begins(false)
    }

    fn begins(&self, bound: bool) -> u32 {
        let mut expr = self;
        let mut least = u32::MAX;
        loop {
            // A literal that is given a type, and no length, stands where its text does.
            if bound
                && let ExprKind::Cast { operand, ty } = &expr.kind
                && matches!(operand.kind, ExprKind::String(_) | ExprKind::Null)
                && ty.modifiers.is_empty()
            {
                return least.min(operand.at);
            }
            least = least.min(expr.at);
            expr = match &expr.kind {
                ExprKind::Binary(left, ..) => left,
                ExprKind::And(list) | ExprKind::Or(list) => match list.first() {
                    Some(first) => first,
                    None => return least,
                },
                ExprKind::IsNull { operand, .. }
                | ExprKind::IsBool { operand, .. }
                | ExprKind::InList { operand, .. }
                | ExprKind::InQuery { operand, .. }
                | ExprKind::Between { operand, .. }
                | ExprKind::Subscript { operand, .. }
                | ExprKind::Field { operand, .. }
                | ExprKind::AllFields(operand)
                | ExprKind::Collate { operand, .. }
                | ExprKind::Cast { operand, .. } => operand,
                ExprKind::IsDistinct { left, .. }
                | ExprKind::QuantifiedArray { left, .. }
                | ExprKind::QuantifiedQuery { left, .. } => left,
                _ => return least,
            };
        }
    }
}
