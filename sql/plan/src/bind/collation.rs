//! The collation of an expression: from its columns and types, or from COLLATE (`parse_collate.c`; manual, section 24.2.1).
//!
//! All collations order by bytes, so which one an expression has changes no result. It is what COLLATION FOR answers and
//! what the catalog holds of a column of a view; two that were written must not meet in one operator or call. Where two
//! that columns bring meet, a comparison has none in PostgreSQL and fails when it runs; here it has its one order.

use crate::bind::Binder;
use crate::bind::expression::Place;
use crate::bind::levels::parts;
use crate::bind::logical::Query;
use crate::bind::scope::Scope;
use crate::bind::type_name::oid;
use crate::bind::typed::{Expr, Literal, SubqueryKind};
use crate::catalog::quote::identifier;
use crate::catalog::{CatalogSnapshot, Column, Relation, builtin};
use crate::error::{Result, SqlError};
use crate::parse::ast;
use crate::sqlstate::SqlState;
use crate::types::{Oid, SqlType};

/// The database's collation, which gives way to any other.
pub(super) const DEFAULT: u32 = 100;

/// The collation of an expression; each kind counts more than those before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Derived {
    /// It has none: its type has none.
    Nothing,
    /// That of a column or a type.
    Implicit(u32),
    /// Two of columns or types met.
    Conflict(u32, u32),
    /// That of a COLLATE, and where that stands.
    Explicit(u32, u32),
}

/// What is known of the rows that an expression is over.
pub(super) trait Rows {
    /// The catalog, which knows the collations of domains.
    fn catalog(&self) -> &CatalogSnapshot;
    /// The collation of a column of the row `level` steps out, 0 if none was derived; none: its type's own.
    fn column(&self, level: u16, column: u32) -> Option<u32>;
    /// The same of the first column that a subquery returns.
    fn subquery(&self, query: &Query) -> Option<u32>;
}

/// Nothing is known of them.
struct Unknown<'c>(&'c CatalogSnapshot);

impl Rows for Unknown<'_> {
    fn catalog(&self) -> &CatalogSnapshot {
        self.0
    }

    fn column(&self, _: u16, _: u32) -> Option<u32> {
        None
    }

    fn subquery(&self, _: &Query) -> Option<u32> {
        None
    }
}

/// The rows of the queries that a place may name.
pub(super) struct Named<'b, 's>(pub &'b Binder<'b>, pub &'s Scope<'s>);

impl Rows for Named<'_, '_> {
    fn catalog(&self) -> &CatalogSnapshot {
        self.0.catalog
    }

    fn column(&self, level: u16, column: u32) -> Option<u32> {
        let scope = self.1.rows_out(level)?;
        let columns = scope.items.iter().flat_map(|item| &item.columns);
        let is = |expr: &Expr| matches!(expr, Expr::Column { level: 0, column: known, .. } if *known == column);
        let found = columns.filter(|known| is(&known.expr)).find_map(|known| known.origin)?;
        let (relation, attribute) = found;
        let relation = self.0.catalog.relation(relation)?;
        let column = relation.columns.get(usize::try_from(attribute - 1).ok()?)?;
        Some(column.collation.0)
    }

    fn subquery(&self, _: &Query) -> Option<u32> {
        None
    }
}

/// The live columns of a table.
struct Live<'r>(&'r CatalogSnapshot, &'r Relation);

impl Rows for Live<'_> {
    fn catalog(&self) -> &CatalogSnapshot {
        self.0
    }

    fn column(&self, _: u16, column: u32) -> Option<u32> {
        let mut live = self.1.columns.iter().filter(|column| !column.dropped);
        live.nth(column as usize).map(|column| column.collation.0)
    }

    fn subquery(&self, _: &Query) -> Option<u32> {
        None
    }
}

/// The collation of an expression over a table's row, by OID: 0 where its type has none, and where two columns bring two.
///
/// # Errors
/// 42P21.
pub fn collation_over(catalog: &CatalogSnapshot, relation: &Relation, expr: &Expr) -> Result<Oid> {
    Ok(Oid(derive(expr, &Live(catalog, relation))?.oid()))
}

impl Derived {
    /// The collation with this OID; 0 is none.
    pub fn implicit(collation: u32) -> Derived {
        if collation == 0 { Derived::Nothing } else { Derived::Implicit(collation) }
    }

    /// Its OID, 0 if there is none or several are.
    pub fn oid(self) -> u32 {
        match self {
            Derived::Implicit(oid) | Derived::Explicit(oid, _) => oid,
            Derived::Nothing | Derived::Conflict(..) => 0,
        }
    }

    fn strength(self) -> u8 {
        match self {
            Derived::Nothing => 0,
            Derived::Implicit(_) => 1,
            Derived::Conflict(..) => 2,
            Derived::Explicit(..) => 3,
        }
    }

    /// What two operands give.
    ///
    /// # Errors
    /// 42P21.
    pub fn merged(self, other: Derived) -> Result<Derived> {
        match (self, other) {
            (Derived::Explicit(first, _), Derived::Explicit(second, at)) if first != second => {
                Err(mismatch("explicit", first, second).at(at))
            }
            (Derived::Implicit(first), Derived::Implicit(second)) if first != second => {
                Ok(match (first, second) {
                    (DEFAULT, _) => other,
                    (_, DEFAULT) => self,
                    _ => Derived::Conflict(first, second),
                })
            }
            _ => Ok(if other.strength() > self.strength() { other } else { self }),
        }
    }
}

/// The collation of an expression over `rows`.
///
/// # Errors
/// 42P21.
pub(super) fn derive(expr: &Expr, rows: &dyn Rows) -> Result<Derived> {
    let own = rows.catalog().collation_of(expr.ty().oid).0;
    let own = Derived::implicit(own);
    match expr {
        Expr::Collate { operand, collation, position, .. } => {
            derive(operand, rows)?;
            return Ok(Derived::Explicit(collation.0, *position));
        }
        Expr::Column { level, column, .. } if own != Derived::Nothing => {
            return Ok(rows.column(*level, *column).map_or(own, Derived::implicit));
        }
        Expr::Field { operand, field, .. } if own != Derived::Nothing => {
            derive(operand, rows)?;
            let declared = rows.catalog().field_collation(operand.ty().oid, *field as usize);
            return Ok(declared.map_or(own, |declared| Derived::implicit(declared.0)));
        }
        Expr::CaseTest(_, collation) => return Ok(Derived::implicit(collation.0)),
        Expr::Subquery { kind: SubqueryKind::Scalar | SubqueryKind::Array, query, .. } => {
            let first = rows.subquery(query).filter(|_| own != Derived::Nothing);
            return Ok(first.map_or(own, Derived::implicit));
        }
        _ => {}
    }
    let mut merged = Ok(Derived::Nothing);
    parts(expr, &mut |part| {
        if let Ok(before) = merged {
            merged = derive(part, rows).and_then(|found| {
                if hands_up(expr, part) { before.merged(found) } else { Ok(before) }
            });
        }
    });
    Ok(match merged? {
        _ if own == Derived::Nothing => own,
        Derived::Nothing => own,
        // The default of a domain gives way to what its value brings, another that it was declared with does not.
        _ if matches!(expr, Expr::Domain(..)) && own != Derived::Implicit(DEFAULT) => own,
        found => found,
    })
}

/// Whether the collation of a part has a say in that of the whole: not that of a condition, a subscript or a row's field.
fn hands_up(whole: &Expr, part: &Expr) -> bool {
    match whole {
        Expr::Case { operand, branches, .. } => {
            !operand.as_deref().is_some_and(|operand| std::ptr::eq(operand, part))
                && !branches.iter().any(|(condition, _)| std::ptr::eq(condition, part))
        }
        Expr::Subscript { operand, .. } => std::ptr::eq(&**operand, part),
        Expr::Row(..) | Expr::Field { .. } => false,
        _ => true,
    }
}

/// What messages call a collation.
pub(super) fn collation_name(oid: u32) -> &'static str {
    builtin::collation(oid).unwrap_or("default")
}

/// 42P21 for two collations that were written, or that columns bring where one is needed.
pub(super) fn mismatch(kind: &str, first: u32, second: u32) -> SqlError {
    let (first, second) = (collation_name(first), collation_name(second));
    let message =
        format!("collation mismatch between {kind} collations \"{first}\" and \"{second}\"");
    let error = SqlError::new(SqlState::COLLATION_MISMATCH, message);
    if kind == "explicit" {
        return error;
    }
    error.hint(
        "You can choose the collation by applying the COLLATE clause to one or both expressions.",
    )
}

fn not_supported(ty: &str) -> SqlError {
    let message = format!("collations are not supported by type {ty}");
    SqlError::new(SqlState::DATATYPE_MISMATCH, message)
}

impl Binder<'_> {
    /// `operand COLLATE collation`.
    ///
    /// # Errors
    /// 3F000, 42704; 42804 for a type without collations.
    pub(super) fn collate(
        &self,
        operand: Expr,
        collation: &ast::ObjectName,
        at: u32,
    ) -> Result<Expr> {
        if let Some(schema) = collation.schema().filter(|it| self.catalog.schema(it).is_none()) {
            let message = format!("schema \"{schema}\" does not exist");
            return Err(SqlError::new(SqlState::INVALID_SCHEMA_NAME, message).at(at));
        }
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
        let ty = operand.ty();
        if ty.oid.0 != oid::UNKNOWN && self.catalog.collation_of(ty.oid) == Oid(0) {
            return Err(not_supported(&self.type_text(ty.oid)).at(at));
        }
        self.collates.set(true);
        Ok(Expr::Collate { operand: Box::new(operand), collation: Oid(found), position: at, ty })
    }

    /// A value becomes one of a domain, whose collation may not be its base type's.
    pub(super) fn meet_domain(&self, domain: Oid) {
        if self.catalog.collation_of(domain).0 != builtin::collation_of(domain.0) {
            self.collates.set(true);
        }
    }

    /// A field of a row comes into the query, whose collation may not be its type's.
    pub(super) fn meet_field(&self, row: &Expr, field: u32, ty: SqlType) {
        let declared = self.catalog.field_collation(row.ty().oid, field as usize);
        if declared.is_some_and(|declared| declared.0 != builtin::collation_of(ty.oid.0)) {
            self.collates.set(true);
        }
    }

    /// A relation comes into the query: only with a column whose collation is not its type's can two collations conflict.
    pub(super) fn meet_collations(&self, relation: &Relation) {
        let is_own = |column: &Column| column.collation.0 == builtin::collation_of(column.ty.oid.0);
        if !relation.columns.iter().all(is_own) {
            self.collates.set(true);
        }
    }

    /// Refuses an expression in which two collations meet that were written. Nothing meets in a COLLATE, whose operand has
    /// been asked already.
    ///
    /// # Errors
    /// 42P21.
    pub(super) fn demand_one_collation(&self, expr: &Expr) -> Result<()> {
        if matches!(expr, Expr::Collate { .. }) {
            return Ok(());
        }
        self.demand_collation_of(std::slice::from_ref(expr))
    }

    /// The same of arguments that one call has.
    pub(super) fn demand_collation_of(&self, arguments: &[Expr]) -> Result<()> {
        if self.collates.get() {
            let merged = arguments.iter().try_fold(Derived::Nothing, |before, argument| {
                before.merged(derive(argument, &Unknown(self.catalog))?)
            });
            merged?;
        }
        Ok(())
    }

    /// COLLATION FOR: the name of an expression's collation.
    ///
    /// # Errors
    /// 42804 for a type without collations; 42P21.
    pub(super) fn collation_for(&self, value: &Expr, place: &Place<'_>) -> Result<Expr> {
        let ty = value.ty();
        if ty.oid.0 != oid::UNKNOWN && self.catalog.collation_of(ty.oid) == Oid(0) {
            return Err(not_supported(&self.type_text(ty.oid)));
        }
        let found = derive(value, &Named(self, place.scope))?.oid();
        let name = builtin::collation(found).map(|name| Literal::Text(identifier(name).into()));
        Ok(Expr::Constant(name.unwrap_or(Literal::Null), SqlType::plain(oid::TEXT)))
    }
}
