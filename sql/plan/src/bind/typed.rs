//! Typed expressions: what the binder makes, the planner rewrites and the compiler turns into a program.
//!
//! Everything is resolved: a function or operator is its `pg_proc` OID, a cast is a function, a relabelling or a way
//! through text, a column is a position. Nothing in here looks at a name again.

use crate::bind::logical::{Query, SortKey};
use crate::catalog::routine::Routine;
use crate::types::assign::AssignStep;
pub use crate::types::literal::Literal;
pub use crate::types::words::CurrentValue;
use crate::types::xml::construct::XmlCall;
use crate::types::xml::table::XmlTable;
use crate::types::{Oid, SqlType, oids};
use std::sync::Arc;

/// How a call was written, which is how it is printed (PostgreSQL's `CoercionForm`, and its node types).
#[derive(Clone, Debug)]
pub enum CallForm {
    /// `name(arguments)`.
    Function,
    /// An operator, by its OID.
    Operator(Oid),
    /// A cast, written or implied.
    Cast,
    /// The call of a routine that a user made.
    Routine(Arc<Routine>),
    /// Subscripts: of a jsonb value, whose path is the second argument.
    Subscript {
        /// The subscripts' types as they were given, before they became texts.
        given: Vec<SqlType>,
    },
    /// A form of the standard (`TRIM(BOTH FROM x)`), which does not show how arguments became what the function takes.
    Standard {
        /// The arguments' types as they were given.
        given: Vec<SqlType>,
    },
}

/// A typed expression.
#[derive(Clone, Debug)]
pub enum Expr {
    /// A constant.
    Constant(Literal, SqlType),
    /// Column `column` of the input row, of the query `level` steps out (0: this query's own).
    ///
    /// Within a query block columns are numbered over its FROM list from left to right; after GROUP BY, over its
    /// [`crate::bind::logical::Node::Aggregate`] output. The plan node that an expression stands in defines its input row.
    Column {
        /// Steps out.
        level: u16,
        /// Position in that row.
        column: u32,
        /// Its type.
        ty: SqlType,
    },
    /// `$n`, from 0.
    Parameter(u32, SqlType),
    /// A function or operator of `pg_proc`.
    Call {
        /// Its OID.
        function: Oid,
        /// Its arguments, already of its argument types. A VARIADIC's are one array unless the function takes "any".
        arguments: Vec<Expr>,
        /// Its result.
        ty: SqlType,
        /// How it was written, and so is printed.
        form: CallForm,
        /// Where in the query text an error points: characters, from 1; 0 is nowhere.
        position: u32,
    },
    /// AND of two or more.
    And(Vec<Expr>),
    /// OR of two or more.
    Or(Vec<Expr>),
    /// NOT.
    Not(Box<Expr>),
    /// IS [NOT] NULL.
    IsNull {
        /// Of what.
        operand: Box<Expr>,
        /// IS NOT NULL.
        negated: bool,
    },
    /// IS [NOT] TRUE, FALSE, UNKNOWN: `test` is the value asked for, none is UNKNOWN.
    IsBool {
        /// Of what.
        operand: Box<Expr>,
        /// TRUE, FALSE or UNKNOWN.
        test: Option<bool>,
        /// NOT.
        negated: bool,
    },
    /// IS [NOT] DISTINCT FROM: the equality function decides where neither is NULL.
    IsDistinct {
        /// Left.
        left: Box<Expr>,
        /// Right.
        right: Box<Expr>,
        /// The `=` function for both.
        equals: Oid,
        /// NOT.
        negated: bool,
    },
    /// CASE. The conditions of a simple one compare its operand, which is computed once, as [`Expr::CaseTest`].
    Case {
        /// The operand of a simple CASE.
        operand: Option<Box<Expr>>,
        /// The types that what a simple one compares it with was given, before conversion.
        given: Vec<SqlType>,
        /// WHEN condition THEN result.
        branches: Vec<(Expr, Expr)>,
        /// ELSE.
        otherwise: Option<Box<Expr>>,
        /// The common type.
        ty: SqlType,
    },
    /// In a condition of a simple CASE, the value of the operand of the innermost one, and its collation (`CaseTestExpr`).
    CaseTest(SqlType, Oid),
    /// COALESCE, or with `true` the column that both sides of a FULL JOIN share by USING.
    Coalesce(Vec<Expr>, SqlType, bool),
    /// NULLIF: NULL if `equals(left, right)`.
    NullIf {
        /// Left, and the result.
        left: Box<Expr>,
        /// Right.
        right: Box<Expr>,
        /// The `=` function.
        equals: Oid,
        /// The type of left.
        ty: SqlType,
    },
    /// GREATEST or LEAST by the default ordering of `ty`.
    Extreme {
        /// Arguments.
        arguments: Vec<Expr>,
        /// GREATEST.
        greatest: bool,
        /// The common type.
        ty: SqlType,
    },
    /// XMLELEMENT and its kin.
    Xml {
        /// What is made.
        call: Arc<XmlCall>,
        /// Of what: attributes first.
        arguments: Vec<Expr>,
    },
    /// XMLTABLE, which stands in FROM alone: its document, the path to its rows, and what else it is made of.
    XmlTable {
        /// Its columns and namespaces.
        table: Arc<XmlTable>,
        /// The expressions, as [`XmlTable::places`] has them.
        arguments: Vec<Expr>,
    },
    /// `x COLLATE c`: for the checks and for print, since all collations order by bytes.
    Collate {
        /// What.
        operand: Box<Expr>,
        /// The collation's OID.
        collation: Oid,
        /// Where COLLATE stands: characters, from 1.
        position: u32,
        /// The type of the operand.
        ty: SqlType,
    },
    /// A cast between types that are held alike (`pg_cast.castmethod` b, or a change of typmod that needs no work).
    Relabel(Box<Expr>, SqlType),
    /// A cast through the text form (`castmethod` i, and every cast of an unknown literal that is not constant).
    ViaText(Box<Expr>, SqlType),
    /// A value of a domain's base type, held against the domain.
    Domain(Box<Expr>, SqlType),
    /// A cast of an array, element by element: `element` casts its `Column { level: 0, column: 0 }`.
    ArrayCast {
        /// The array.
        operand: Box<Expr>,
        /// The cast of one element.
        element: Box<Expr>,
        /// The array type.
        ty: SqlType,
    },
    /// `ARRAY[...]`.
    Array {
        /// Elements of the element type, or arrays of the same type for more dimensions.
        elements: Vec<Expr>,
        /// The array type.
        ty: SqlType,
    },
    /// `a[i]`, `a[i][j]`, `a[l:u]`.
    Subscript {
        /// The array (int2vector and oidvector too).
        operand: Box<Expr>,
        /// Per dimension: lower and upper bound for a slice, else only `.1`.
        indices: Vec<(Option<Expr>, Option<Expr>)>,
        /// Whether any index is a slice.
        slice: bool,
        /// The element type, or the array's for a slice.
        ty: SqlType,
    },
    /// `left op ANY (array)` and `ALL`; IN with a list is this too, or an OR.
    ScalarArray {
        /// Left.
        left: Box<Expr>,
        /// The operator.
        operator: Oid,
        /// The boolean function of the operator.
        function: Oid,
        /// The array.
        array: Box<Expr>,
        /// ANY or ALL.
        quantifier: Quantifier,
    },
    /// `ROW(...)`, or the whole row of a FROM item: with its fields' names where its type does not say them.
    Row(Vec<Expr>, SqlType, Option<Arc<[Arc<str>]>>),
    /// A value with a part of it changed: the value, the part's new value, then the subscripts.
    Assign {
        /// All of them.
        parts: Vec<Expr>,
        /// Which part.
        step: AssignStep,
        /// The value's type.
        ty: SqlType,
    },
    /// A field of a composite value.
    Field {
        /// The value.
        operand: Box<Expr>,
        /// Which, from 0.
        field: u32,
        /// Its type.
        ty: SqlType,
    },
    /// A subquery. Inside it, this query's columns are one level further out.
    Subquery {
        /// What is asked of it.
        kind: SubqueryKind,
        /// The query.
        query: Arc<Query>,
        /// The result.
        ty: SqlType,
    },
    /// `nextval` and the like have functions of their own; DEFAULT in VALUES is replaced by the binder. This is the
    /// value of the column that a generated or CHECK expression names, and stays a `Column`.
    CurrentValue(CurrentValue, SqlType),
}

/// ANY or ALL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quantifier {
    /// ANY, SOME, IN.
    Any,
    /// ALL, NOT IN.
    All,
}

/// What is asked of a subquery.
#[derive(Clone, Debug)]
pub enum SubqueryKind {
    /// Its one value; 21000 if it has more than one row.
    Scalar,
    /// The same of a record: all that take a field of it, with the same query, have it from one run.
    Record,
    /// Whether it has a row.
    Exists,
    /// `ARRAY(SELECT ...)`.
    Array,
    /// `left op ANY (SELECT ...)`, `IN`, `ALL`: `test` is a boolean expression whose input row is the subquery's
    /// output (level 0); the outer query's columns are at level 1.
    Quantified {
        /// The comparison.
        test: Box<Expr>,
        /// ANY or ALL.
        quantifier: Quantifier,
    },
}

/// A call of an aggregate in an Aggregate node.
#[derive(Clone, Debug)]
pub struct AggregateCall {
    /// Its `pg_proc` OID.
    pub function: Oid,
    /// The built-in aggregate that computes it; itself but where a user has made one of the same functions.
    pub computed_as: Oid,
    /// Arguments over the node's input row; empty for `count(*)`.
    pub arguments: Vec<Expr>,
    /// DISTINCT.
    pub distinct: bool,
    /// ORDER BY within the call.
    pub order_by: Vec<SortKey>,
    /// FILTER (WHERE ...).
    pub filter: Option<Expr>,
    /// Its result.
    pub ty: SqlType,
    /// How it is computed, where a user has made it.
    pub made: Option<Arc<MadeAggregate>>,
}

/// How an aggregate that a user made is computed: its functions' calls, over a row of the state and the arguments.
#[derive(Clone, Debug)]
pub struct MadeAggregate {
    /// The state of a group at first: INITCOND, or NULL.
    pub initial: Expr,
    /// The state is that of the first arguments where it has no other: the function is strict, and there is no INITCOND.
    pub takes_first: bool,
    /// The function is strict: NULLs are left out, and a state that is NULL stays.
    pub strict: bool,
    /// How many of the arguments are given once for a group.
    pub direct: usize,
    /// The state with one row more.
    pub transition: Expr,
    /// The aggregate's value, of the state and what is given once.
    pub finish: Expr,
    /// How it is computed over a frame that moves: the same with other functions, and the state with one row less.
    pub moving: Option<Box<(MadeAggregate, Expr)>>,
}

impl AggregateCall {
    /// All that it reads.
    pub fn expressions(&mut self) -> impl Iterator<Item = &mut Expr> {
        let keys = self.order_by.iter_mut().map(|key| &mut key.expr);
        self.arguments.iter_mut().chain(keys).chain(&mut self.filter)
    }
}

impl Expr {
    /// The expression's type.
    #[must_use]
    pub fn ty(&self) -> SqlType {
        /// bool's OID.
        const BOOL: SqlType = SqlType::plain(16);
        match self {
            Expr::And(_)
            | Expr::Or(_)
            | Expr::Not(_)
            | Expr::IsNull { .. }
            | Expr::IsBool { .. }
            | Expr::IsDistinct { .. }
            | Expr::ScalarArray { .. } => BOOL,
            Expr::Xml { call, .. } => call.ty(),
            Expr::XmlTable { .. } => SqlType::plain(oids::RECORD),
            Expr::Constant(_, ty)
            | Expr::Collate { ty, .. }
            | Expr::Column { ty, .. }
            | Expr::Parameter(_, ty)
            | Expr::Call { ty, .. }
            | Expr::Case { ty, .. }
            | Expr::CaseTest(ty, _)
            | Expr::Coalesce(_, ty, _)
            | Expr::NullIf { ty, .. }
            | Expr::Extreme { ty, .. }
            | Expr::Relabel(_, ty)
            | Expr::ViaText(_, ty)
            | Expr::Domain(_, ty)
            | Expr::ArrayCast { ty, .. }
            | Expr::Array { ty, .. }
            | Expr::Subscript { ty, .. }
            | Expr::Row(_, ty, _)
            | Expr::Field { ty, .. }
            | Expr::Assign { ty, .. }
            | Expr::Subquery { ty, .. }
            | Expr::CurrentValue(_, ty) => *ty,
        }
    }
}

/// AND taken apart.
pub(super) fn conjuncts(condition: Expr) -> Vec<Expr> {
    match condition {
        Expr::And(parts) => parts.into_iter().flat_map(conjuncts).collect(),
        Expr::Constant(Literal::Bool(true), _) => Vec::new(),
        other => vec![other],
    }
}
