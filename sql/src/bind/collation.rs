//! COLLATE, and the collation of an expression as far as COLLATE decides it (`parse_collate.c`; manual, section 24.2.1).
//!
//! All collations order by bytes, so which one an expression has changes no result. What is left of PostgreSQL's
//! derivation are its checks: a type without collations takes none, and two different ones that were written must not
//! meet in one operator or call. Collations that come from columns are not followed: they never conflict here.

use crate::bind::Binder;
use crate::bind::levels::parts;
use crate::bind::type_name::oid;
use crate::bind::typed::Expr;
use crate::catalog::builtin;
use crate::error::{Result, SqlError};
use crate::parse::ast;
use crate::sqlstate::SqlState;
use crate::types::Oid;

/// A collation that was written, and where.
type Explicit = Option<(Oid, u32)>;

/// The collation that bytes are compared by anyway, under PostgreSQL's name for that of the database.
const DEFAULT: u32 = 100;

impl Binder<'_> {
    /// `operand COLLATE collation`.
    ///
    /// # Errors
    /// 42704; 42804 for a type without collations.
    pub(super) fn collate(
        &self,
        operand: Expr,
        collation: &ast::ObjectName,
        at: u32,
    ) -> Result<Expr> {
        let name = &**collation.name();
        let database = name.starts_with("C.").then_some(DEFAULT);
        let known = ["default", "C", "POSIX", "ucs_basic"].contains(&name);
        let found = database.or_else(|| builtin::collation_named(name).filter(|_| known));
        let Some(found) = found else {
            return Err(SqlError::new(
                SqlState::UNDEFINED_OBJECT,
                format!("collation \"{collation}\" for encoding \"UTF8\" does not exist"),
            )
            .at(at));
        };
        let ty = operand.ty().oid;
        if ty.0 != oid::UNKNOWN && builtin::collation_of(ty.0) == 0 {
            return Err(SqlError::new(
                SqlState::DATATYPE_MISMATCH,
                format!("collations are not supported by type {}", self.type_text(ty)),
            )
            .at(at));
        }
        self.collates.set(true);
        Ok(Expr::Collate { operand: Box::new(operand), collation: Oid(found), position: at })
    }

    /// Refuses an expression in which two collations meet that were written.
    ///
    /// # Errors
    /// 42P21.
    pub(super) fn demand_one_collation(&self, expr: &Expr) -> Result<()> {
        if self.collates.get() { explicit(expr).map(|_| ()) } else { Ok(()) }
    }
}

/// The collation that is written within an expression and is its own.
fn explicit(expr: &Expr) -> Result<Explicit> {
    if let Expr::Collate { operand, collation, position } = expr {
        explicit(operand)?;
        return Ok(Some((*collation, *position)));
    }
    let mut merged: Result<Explicit> = Ok(None);
    parts(expr, &mut |part| {
        if let Ok(found) = merged {
            merged = explicit(part).and_then(|own| match (found, own) {
                _ if !hands_up(expr, part) => Ok(found),
                (Some((first, _)), Some((second, at))) if first != second => {
                    Err(mismatch(first, second).at(at))
                }
                (found, own) => Ok(found.or(own)),
            });
        }
    });
    let has_collation = builtin::collation_of(expr.ty().oid.0) != 0;
    merged.map(|found| found.filter(|_| has_collation))
}

/// Whether the collation of a part has a say in that of the whole: not that of a condition, a subscript or a row's field.
fn hands_up(whole: &Expr, part: &Expr) -> bool {
    match whole {
        Expr::Case { branches, .. } => {
            !branches.iter().any(|(condition, _)| std::ptr::eq(condition, part))
        }
        Expr::Subscript { operand, .. } => std::ptr::eq(&**operand, part),
        Expr::Row(..) | Expr::Field { .. } => false,
        _ => true,
    }
}

fn mismatch(first: Oid, second: Oid) -> SqlError {
    let name = |oid: Oid| builtin::collation(oid.0).unwrap_or("default");
    let message = format!(
        "collation mismatch between explicit collations \"{}\" and \"{}\"",
        name(first),
        name(second)
    );
    SqlError::new(SqlState::COLLATION_MISMATCH, message)
}
