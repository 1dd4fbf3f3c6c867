//! Which operands stand without parentheses in the pretty form (`isSimpleNode` of `ruleutils.c`).
//!
//! PostgreSQL knows the precedence of `+ - * / %` and of AND, OR and NOT only; everything else that is not shaped like a
//! function call, a name or a constant is put in parentheses.

use crate::bind::typed::{CallForm, Expr, Literal};
use crate::catalog::builtin::operator;
use crate::types::oids;

/// What an operand belongs to.
#[derive(Clone, Copy, Debug)]
pub enum Parent<'p> {
    /// An operator: its name, and whether this is its first operand.
    Operator {
        /// Its name.
        name: &'p str,
        /// The left operand of two.
        first: bool,
    },
    /// AND.
    And,
    /// OR.
    Or,
    /// NOT.
    Not,
    /// A cast.
    Cast,
    /// Anything else that does not hold its operands in parentheses of its own.
    Other,
}

/// Whether `expr` is an order of two rows that were written (`RowCompareExpr`).
pub(super) fn is_row_comparison(expr: &Expr) -> bool {
    let Expr::Call { arguments, form: CallForm::Operator(_), .. } = expr else { return false };
    let written = |row: &Expr| matches!(row, Expr::Row(_, ty, None) if ty.oid.0 == oids::RECORD);
    matches!(&arguments[..], [left, right] if written(left) && written(right))
}

/// Whether `expr` may stand below `parent` as it is.
pub fn is_simple(expr: &Expr, parent: Parent<'_>) -> bool {
    let boolean = matches!(parent, Parent::And | Parent::Or | Parent::Not);
    match expr {
        Expr::Relabel(operand, _)
        | Expr::ViaText(operand, _)
        | Expr::Domain(operand, _)
        | Expr::ArrayCast { operand, .. } => is_simple(operand, Parent::Cast),
        Expr::Call { .. } if is_row_comparison(expr) => false,
        Expr::Call { arguments, form: CallForm::Operator(called), .. } => {
            let Some(operator) = operator(called.0) else { return true };
            match parent {
                Parent::Operator { name, first } if arguments.len() == 2 => {
                    match (rank(operator.name), rank(name)) {
                        (Some(own), Some(around)) => own > around || own == around && first,
                        _ => false,
                    }
                }
                _ => boolean,
            }
        }
        Expr::Subquery { .. }
        | Expr::IsNull { .. }
        | Expr::IsBool { .. }
        | Expr::IsDistinct { negated: false, .. } => boolean,
        Expr::IsDistinct { left, right, .. } if tested_row(left, right).is_some() => boolean,
        Expr::IsDistinct { negated: true, .. } | Expr::Not(_) | Expr::And(_) => {
            matches!(parent, Parent::And | Parent::Or)
        }
        Expr::Or(_) => matches!(parent, Parent::Or),
        Expr::ScalarArray { .. } | Expr::Collate { .. } => false,
        _ => true,
    }
}

/// The row that IS DISTINCT FROM compares with a NULL without a type: a test of the row as a whole (`NullTest`, `argisrow`).
pub(super) fn tested_row<'e>(left: &'e Expr, right: &'e Expr) -> Option<&'e Expr> {
    let is_null = |expr: &Expr| match expr {
        Expr::Constant(Literal::Null, ty) => ty.oid.0 == oids::RECORD,
        _ => false,
    };
    match (is_null(left), is_null(right)) {
        (_, true) => Some(left),
        (true, false) => Some(right),
        (false, false) => None,
    }
}

/// How strongly a basic operator binds.
fn rank(operator: &str) -> Option<u8> {
    match operator {
        "+" | "-" => Some(1),
        "*" | "/" | "%" => Some(2),
        _ => None,
    }
}
