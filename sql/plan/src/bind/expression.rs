//! Expressions: from what was written to typed trees (`transformExpr`).

use crate::bind::Required;
use crate::bind::coerce::Context;
use crate::bind::collation::{Named, derive};
use crate::bind::copy::COPY_WHERE;
use crate::bind::grouping::Collected;
use crate::bind::operator::op;
use crate::bind::scope::Scope;
use crate::bind::set_calls;
use crate::bind::target::TARGETS_MAX;
use crate::bind::type_name::{oid, resolve};
use crate::bind::typed::{CurrentValue, Expr, Literal};
use crate::bind::with::CteScope;
use crate::bind::{Binder, clause};
use crate::error::{Result, SqlError};
use crate::parse::ast::{self, ExprKind};
use crate::sqlstate::SqlState;
use crate::types::{Oid, SqlType};
use std::cell::RefCell;

/// Where an expression stands.
pub(super) struct Place<'s> {
    /// The names it may use.
    pub scope: &'s Scope<'s>,
    /// The WITH queries it may use.
    pub ctes: Option<&'s CteScope<'s>>,
    /// The clause, as messages name it.
    pub clause: &'static str,
    /// Where aggregates and window calls go; none: the clause takes none.
    pub collected: Option<&'s RefCell<Collected>>,
    /// Window functions are allowed too.
    pub windows: bool,
    /// Set-returning functions are allowed.
    pub sets: bool,
}

impl<'s> Place<'s> {
    /// A place that takes plain values only.
    pub fn plain(
        scope: &'s Scope<'s>,
        ctes: Option<&'s CteScope<'s>>,
        clause: &'static str,
    ) -> Place<'s> {
        Place { scope, ctes, clause, collected: None, windows: false, sets: false }
    }

    /// The same place for an argument of an aggregate: no aggregate within it.
    pub fn inner(&self, clause: &'static str) -> Place<'s> {
        Place {
            scope: self.scope,
            ctes: self.ctes,
            clause,
            collected: None,
            windows: false,
            sets: false,
        }
    }
}

pub(super) const BOOL: SqlType = SqlType::plain(oid::BOOL);

/// Whether an expression is a subquery, or a comparison with one.
fn has_query(kind: &ExprKind) -> bool {
    matches!(
        kind,
        ExprKind::InQuery { .. }
            | ExprKind::QuantifiedQuery { .. }
            | ExprKind::Subquery(_)
            | ExprKind::Exists(_)
            | ExprKind::ArrayQuery(_)
    )
}

/// The name of one expression of a clause in which no query may stand (`transformSubLink`); none where one may.
fn without_queries(clause: &str) -> Option<&'static str> {
    Some(match clause {
        COPY_WHERE => "COPY FROM WHERE condition",
        clause::CHECK => "check constraint",
        "DEFAULT expressions" => "DEFAULT expression",
        clause::GENERATED => "column generation expression",
        clause::INDEX_EXPRESSION => "index expression",
        clause::INDEX_PREDICATE => "index predicate",
        clause::CALL => "CALL argument",
        "EXECUTE parameters" => "EXECUTE parameter",
        "transform expressions" => "transform expression",
        _ => return None,
    })
}

impl Binder<'_> {
    /// An expression.
    pub(super) fn expression(&self, expr: &ast::Expr, place: &Place<'_>) -> Result<Expr> {
        let bound = self.deeper(|| self.expression_kind(expr, place))?;
        self.demand_one_collation(&bound)?;
        Ok(bound)
    }

    /// A condition.
    pub(super) fn condition(
        &self,
        expr: &ast::Expr,
        place: &Place<'_>,
        clause: &str,
    ) -> Result<Expr> {
        let bound = self.expression(expr, place)?;
        self.boolean(bound, clause, self.position(expr.start()))
    }

    fn expression_kind(&self, expr: &ast::Expr, place: &Place<'_>) -> Result<Expr> {
        let at = self.position(expr.at);
        if has_query(&expr.kind)
            && let Some(place) = without_queries(place.clause)
        {
            let message = format!("cannot use subquery in {place}");
            return Err(SqlError::new(SqlState::FEATURE_NOT_SUPPORTED, message).at(at));
        }
        if place.clause == "DEFAULT expressions"
            && matches!(&expr.kind, ExprKind::Column(_) | ExprKind::Star(_))
        {
            let message = "cannot use column reference in DEFAULT expression";
            return Err(SqlError::new(SqlState::FEATURE_NOT_SUPPORTED, message).at(at));
        }
        match &expr.kind {
            ExprKind::Column(parts) => self.column(parts, place, at),
            // Outside of lists of columns `t.*` is the row as one value.
            ExprKind::Star(item) if !item.is_empty() => {
                if let Some(row) = self.row_variable(item, place, at)? {
                    return Ok(row);
                }
                let schema = item.len().checked_sub(2).map(|place| &*item[place]);
                self.whole_row(schema, &item[item.len() - 1], place, at)
            }
            ExprKind::Star(_) => Err(SqlError::new(
                SqlState::SYNTAX_ERROR,
                "row expansion via \"*\" is not supported here",
            )
            .at(at)),
            ExprKind::Integer(value) => {
                Ok(Expr::Constant(Literal::Int4(*value), SqlType::plain(oid::INT4)))
            }
            ExprKind::Number(text) => self.number(text, at),
            ExprKind::String(text) => {
                self.literals.borrow_mut().push((text.clone(), at));
                Ok(Expr::Constant(Literal::Text(text.clone()), SqlType::plain(oid::UNKNOWN)))
            }
            ExprKind::Bits(letter, digits) => self.bits(*letter, digits, at),
            ExprKind::Bool(value) => Ok(Expr::Constant(Literal::Bool(*value), BOOL)),
            ExprKind::Null => Ok(Expr::Constant(Literal::Null, SqlType::plain(oid::UNKNOWN))),
            ExprKind::Parameter(number) => match self.inlined_argument(*number, place) {
                Some(argument) => Ok(argument),
                None => self.parameter(*number, at),
            },
            ExprKind::Default => {
                Err(SqlError::new(SqlState::SYNTAX_ERROR, "DEFAULT is not allowed in this context")
                    .at(at))
            }
            ExprKind::Unary(operator, operand) => {
                let operand = self.expression(operand, place)?;
                self.prefix(operator, operand, at)
            }
            ExprKind::Binary(left, operator, right) => {
                self.binary(left, operator, right, place, at)
            }
            ExprKind::And(list) => Ok(Expr::And(self.conditions(list, place, "AND")?)),
            ExprKind::Or(list) => Ok(Expr::Or(self.conditions(list, place, "OR")?)),
            ExprKind::Not(operand) => {
                Ok(Expr::Not(Box::new(self.condition(operand, place, "NOT")?)))
            }
            ExprKind::IsNull { operand, negated } => {
                let operand = self.tested(self.expression(operand, place)?, operand)?;
                Ok(Expr::IsNull { operand: Box::new(operand), negated: *negated })
            }
            ExprKind::IsBool { operand, test, negated } => {
                let clause = match (test, negated) {
                    (Some(true), false) => "IS TRUE",
                    (Some(true), true) => "IS NOT TRUE",
                    (Some(false), false) => "IS FALSE",
                    (Some(false), true) => "IS NOT FALSE",
                    (None, false) => "IS UNKNOWN",
                    (None, true) => "IS NOT UNKNOWN",
                };
                let operand = Box::new(self.condition(operand, place, clause)?);
                Ok(Expr::IsBool { operand, test: *test, negated: *negated })
            }
            ExprKind::IsDistinct { left, right, negated } => {
                self.distinct((left, right), *negated, place, at)
            }
            ExprKind::InList { operand, list, negated } => {
                self.in_list(operand, list, *negated, place, at)
            }
            ExprKind::InQuery { operand, query, negated } => {
                let found = self.quantified_query(operand, &op("="), false, query, place, at)?;
                Ok(if *negated { Expr::Not(Box::new(found)) } else { found })
            }
            ExprKind::Between { operand, low, high, negated, symmetric } => {
                self.between(operand, low, high, (*negated, *symmetric), place, at)
            }
            ExprKind::QuantifiedArray { left, op, all, array } => {
                let places = (self.position(left.start()), self.position(array.start()));
                let left = self.expression(left, place)?;
                let array = self.expression(array, place)?;
                self.scalar_array((left, array), places, op, *all, at)
            }
            ExprKind::QuantifiedQuery { left, op, all, query } => {
                self.quantified_query(left, op, *all, query, place, at)
            }
            ExprKind::Subquery(query) => self.scalar_subquery(query, place, at),
            ExprKind::Exists(query) => self.exists(query, place),
            ExprKind::ArrayQuery(query) => self.array_subquery(query, place, at),
            ExprKind::Array(elements) => self.array(elements, None, place, at),
            ExprKind::Row { fields, .. } => {
                let fields = self.row_fields(fields, place)?;
                if fields.len() > TARGETS_MAX {
                    return Err(SqlError::new(
                        SqlState::TOO_MANY_COLUMNS,
                        format!("ROW expressions can have at most {TARGETS_MAX} entries"),
                    )
                    .at(at));
                }
                // A literal waits for the type that the row is cast to.
                let fields = fields
                    .into_iter()
                    .map(|field| match field {
                        Expr::Constant(..) => Ok(field),
                        field => self.decided(field),
                    })
                    .collect::<Result<_>>()?;
                Ok(Expr::Row(fields, SqlType::plain(oid::RECORD), None))
            }
            ExprKind::Subscript { operand, indices } => self.subscript(operand, indices, place, at),
            ExprKind::Field { operand, name } => self.field(operand, name, place, at),
            ExprKind::AllFields(_) => Err(SqlError::new(
                SqlState::SYNTAX_ERROR,
                "row expansion via \"*\" is not supported here",
            )
            .at(at)),
            ExprKind::Collate { operand, collation } => {
                let operand = self.expression(operand, place)?;
                self.collate(operand, collation, at)
            }
            ExprKind::Cast { operand, ty } => self.explicit_cast(operand, ty, place, at),
            ExprKind::Case { operand, branches, otherwise } => {
                self.case(operand.as_deref(), branches, otherwise.as_deref(), place)
            }
            ExprKind::Coalesce(arguments) => {
                let (arguments, ty) = self.common(arguments, place, "COALESCE")?;
                set_calls::refuse(arguments.iter(), "COALESCE")?;
                Ok(Expr::Coalesce(arguments, ty, false))
            }
            ExprKind::Extreme { greatest, arguments } => {
                let name = if *greatest { "GREATEST" } else { "LEAST" };
                let (arguments, ty) = self.common(arguments, place, name)?;
                if self.demand_ordering(ty.oid, at).is_err() {
                    let ty = self.type_text(ty.oid);
                    let message = format!("could not identify a comparison function for type {ty}");
                    return Err(SqlError::new(SqlState::UNDEFINED_FUNCTION, message));
                }
                Ok(Expr::Extreme { arguments, greatest: *greatest, ty })
            }
            ExprKind::Xml(call) => self.xml(call, place, expr.at),
            ExprKind::XmlTable(table) => self.xml_table(table, place),
            ExprKind::NullIf(left, right) => {
                let (left, right) = (self.expression(left, place)?, self.expression(right, place)?);
                let (equals, left, right) = self.comparison("=", left, right, at)?;
                let ty = left.ty();
                Ok(Expr::NullIf { left: Box::new(left), right: Box::new(right), equals, ty })
            }
            ExprKind::CurrentValue(value) => Ok(Expr::CurrentValue(*value, current_type(*value))),
            ExprKind::Grouping(arguments) => self.grouping(arguments, place, at),
            ExprKind::Call(call) => self.call(call, place, at),
            // All that UPDATE and DELETE have for WHERE: they have taken it over.
            ExprKind::CurrentOf(_) => {
                Err(SqlError::new(SqlState::INTERNAL_ERROR, "CURRENT OF is no expression").at(at))
            }
        }
    }

    fn conditions(&self, list: &[ast::Expr], place: &Place<'_>, clause: &str) -> Result<Vec<Expr>> {
        list.iter().map(|expr| self.condition(expr, place, clause)).collect()
    }

    /// Values of a list brought to their common type.
    fn common(
        &self,
        list: &[ast::Expr],
        place: &Place<'_>,
        context: &str,
    ) -> Result<(Vec<Expr>, SqlType)> {
        let bound = list
            .iter()
            .map(|expr| Ok((self.expression(expr, place)?, self.position(expr.start()))))
            .collect::<Result<_>>()?;
        self.to_common(bound, context)
    }

    /// An untyped literal or parameter that nothing gives a type is text.
    pub(super) fn decided(&self, expr: Expr) -> Result<Expr> {
        if expr.ty().oid.0 == oid::UNKNOWN {
            self.argument(expr, Oid(oid::TEXT), 0)
        } else {
            Ok(expr)
        }
    }

    /// What IS NULL asks of: it gives a parameter no type.
    fn tested(&self, operand: Expr, written: &ast::Expr) -> Result<Expr> {
        if let Expr::Parameter(number, SqlType { oid: Oid(oid::UNKNOWN), .. }) = operand {
            let at = self.position(written.at);
            self.undecided.borrow_mut().push((number, at));
            return Ok(operand);
        }
        self.without_type(operand)
    }

    /// What may have no type, which is seen where it is printed; elsewhere it is text then.
    pub(super) fn without_type(&self, operand: Expr) -> Result<Expr> {
        if self.prints() { Ok(operand) } else { self.decided(operand) }
    }

    fn number(&self, text: &str, at: u32) -> Result<Expr> {
        if let Ok(value) = text.parse::<i32>() {
            return Ok(Expr::Constant(Literal::Int4(value), SqlType::plain(oid::INT4)));
        }
        if let Ok(value) = text.parse::<i64>() {
            return Ok(Expr::Constant(Literal::Int8(value), SqlType::plain(oid::INT8)));
        }
        let ty = SqlType::plain(oid::NUMERIC);
        Ok(Expr::Constant(self.constants.read(ty, text).map_err(|error| error.at(at))?, ty))
    }

    fn bits(&self, letter: char, digits: &str, at: u32) -> Result<Expr> {
        let ty = SqlType::plain(oid::BIT);
        let text = format!("{}{digits}", letter.to_ascii_lowercase());
        Ok(Expr::Constant(self.constants.read(ty, &text).map_err(|error| error.at(at))?, ty))
    }

    fn explicit_cast(
        &self,
        operand: &ast::Expr,
        ty: &ast::TypeName,
        place: &Place<'_>,
        at: u32,
    ) -> Result<Expr> {
        let type_at = if ty.name.at == 0 { at } else { self.position(ty.name.at) };
        if let Some(schema) = ty.name.schema().and_then(|schema| self.catalog.schema(schema)) {
            self.require_also(Required::Schema(schema.oid, type_at));
        }
        let target = resolve(self.catalog, self.path, ty).map_err(|error| error.at(type_at))?;
        let bound = match &operand.kind {
            ExprKind::Array(elements)
                if self.element_of(target.oid).is_some()
                    && (!self.printed || elements.is_empty()) =>
            {
                let base = self.catalog.base_type(target);
                self.array(elements, Some(base), place, self.position(operand.at))?
            }
            _ => self.expression(operand, place)?,
        };
        // An error in reading a literal points at it, one about the cast at the cast.
        let literal = matches!(
            bound,
            Expr::Constant(Literal::Text(_), SqlType { oid: Oid(oid::UNKNOWN), .. })
        );
        let position = if literal { self.position(operand.start()) } else { at };
        self.cast(bound, target, Context::Explicit, position)
    }

    /// What the conditions of a simple CASE compare.
    fn case_test(&self, operand: &Expr, place: &Place<'_>) -> Result<Expr> {
        let collation = derive(operand, &Named(self, place.scope))?.oid();
        Ok(Expr::CaseTest(operand.ty(), Oid(collation)))
    }

    fn case(
        &self,
        operand: Option<&ast::Expr>,
        branches: &[ast::When],
        otherwise: Option<&ast::Expr>,
        place: &Place<'_>,
    ) -> Result<Expr> {
        let tested = operand.map(|expr| self.decided(self.expression(expr, place)?)).transpose()?;
        set_calls::refuse(tested.iter(), "CASE")?;
        let test = tested.as_ref().map(|value| self.case_test(value, place)).transpose()?;
        let (mut conditions, mut given) = (Vec::new(), Vec::new());
        let mut results = Vec::new();
        for ast::When { condition, result, at } in branches {
            let at = self.position(*at);
            conditions.push(match &test {
                None => self.condition(condition, place, "CASE/WHEN")?,
                Some(value) => {
                    let other = self.expression(condition, place)?;
                    given.push(other.ty());
                    let compared = self.infix(&op("="), value.clone(), other, at)?;
                    self.boolean(compared, "CASE/WHEN", at)?
                }
            });
            results.push((self.expression(result, place)?, self.position(result.start())));
        }
        // ELSE is looked at first when the common type is chosen.
        let default = match otherwise {
            Some(expr) => (self.expression(expr, place)?, self.position(expr.start())),
            None => (Expr::Constant(Literal::Null, SqlType::plain(oid::UNKNOWN)), 0),
        };
        results.insert(0, default);
        let named = |at| if at == 0 { "CASE/ELSE" } else { "CASE/WHEN" };
        let (mut results, ty) = self.to_common_each(results, "CASE", named)?;
        set_calls::refuse(results[1..].iter().chain(&results[..1]), "CASE")?;
        let default = results.remove(0);
        Ok(Expr::Case {
            operand: tested.map(Box::new),
            given,
            branches: conditions.into_iter().zip(results).collect(),
            otherwise: otherwise.map(|_| Box::new(default)),
            ty,
        })
    }
}

/// The type of a keyword value.
fn current_type(value: CurrentValue) -> SqlType {
    let with = |ty: u32, precision: Option<u8>| SqlType {
        oid: Oid(ty),
        typmod: precision.map_or(-1, i32::from),
    };
    match value {
        CurrentValue::Date => SqlType::plain(oid::DATE),
        CurrentValue::Time(precision) => with(oid::TIMETZ, precision),
        CurrentValue::Timestamp(precision) => with(oid::TIMESTAMPTZ, precision),
        CurrentValue::LocalTime(precision) => with(oid::TIME, precision),
        CurrentValue::LocalTimestamp(precision) => with(oid::TIMESTAMP, precision),
        CurrentValue::User
        | CurrentValue::Role
        | CurrentValue::PlainUser
        | CurrentValue::SessionUser
        | CurrentValue::Catalog
        | CurrentValue::Schema => SqlType::plain(oid::NAME),
    }
}
