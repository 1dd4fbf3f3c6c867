//! What is known of the values at homes: the figures that estimates are made from.
//!
//! A home that a table's column fills is described by what ANALYZE found out about the column; every other home by
//! nothing. Selectivities follow PostgreSQL (`selfuncs.c`) where statistics are there, and are its defaults
//! (`selfuncs.h`) where not.

use super::functions::{Comparison, comparison};
use super::pattern::{self, Pattern};
use super::physical::ScanColumn;
use super::scalar::{Scalar, Var};
use super::translate::constant;
use crate::bind::Literal;
use crate::catalog::{ColumnStatistics, Relation, RelationKind, TableStatistics, built_in_rows};
use crate::settings::Methods;
use crate::tuple::{Form, RowBuf};
use crate::types::array::Array;
use crate::types::numeric::View;
use crate::types::{Datum, Oid, SqlType};
use std::collections::HashMap;
use std::sync::Arc;

/// The part of the rows that an equality keeps (`DEFAULT_EQ_SEL`).
pub const EQUAL: f64 = 0.005;
/// The part that a range condition keeps (`DEFAULT_INEQ_SEL`).
pub const RANGE: f64 = 1.0 / 3.0;
/// The part that two bounds of one column keep (`DEFAULT_RANGE_INEQ_SEL`).
pub const BETWEEN: f64 = 0.005;
/// The part that a pattern finds (`DEFAULT_MATCH_SEL`).
pub const MATCH: f64 = 0.005;
/// The part of the rows in which a value is NULL (`DEFAULT_UNK_SEL`).
pub const UNKNOWN: f64 = 0.005;
/// Different values of a column that nobody has looked at (`DEFAULT_NUM_DISTINCT`).
pub const DISTINCT: f64 = 200.0;
/// Rows of a table that nobody has counted.
pub const UNKNOWN_ROWS: f64 = 1000.0;

/// What the planner asks of the catalog.
pub trait Facts {
    /// A relation by its OID.
    fn relation(&self, oid: Oid) -> Option<Arc<Relation>>;

    /// What ANALYZE found out about a table.
    fn statistics(&self, _table: Oid) -> Option<Arc<TableStatistics>> {
        None
    }

    /// What a domain stands on in the end, with its modifier; any other type is its own.
    fn base_type(&self, ty: SqlType) -> SqlType {
        ty
    }

    /// About how many rows a table has at this moment.
    fn rows(&self, _relation: &Relation) -> Option<f64> {
        None
    }

    /// How many relations users have made: what system relations show grows with that.
    fn relations(&self) -> f64 {
        0.0
    }

    /// A plan is made as for so many rows of a table.
    fn goes_by(&self, _relation: &Relation, _rows: f64) {}

    /// Which methods are to be used.
    fn methods(&self) -> Methods {
        Methods::default()
    }

    /// A row of the value of an expression over constants; none where nobody can compute.
    fn evaluate(&self, _scalar: &Scalar) -> Option<crate::error::Result<RowBuf>> {
        None
    }

    /// A row of what an expression over no row gives just now, if it can be computed: estimates go by it, and the plan is good at
    /// any other time (`estimate_expression_value`).
    fn present(&self, _scalar: &Scalar) -> Option<RowBuf> {
        None
    }

    /// The value and the type that a parameter, from 0, has in the run that is planned for, if that is known: the plan is for
    /// these values.
    fn parameter(&self, _number: u32) -> Option<(Literal, SqlType)> {
        None
    }

    /// With the values of its parameters the plan could be much better.
    fn depends_on_values(&self) {}

    /// A routine that a user made.
    fn routine(&self, _oid: Oid) -> Option<Arc<crate::catalog::routine::Routine>> {
        None
    }

    /// Reads a value of a type from its text form.
    fn read(&self, _ty: SqlType, _text: &str) -> Option<Literal> {
        None
    }
}

impl<F: Fn(Oid) -> Option<Arc<Relation>>> Facts for F {
    fn relation(&self, oid: Oid) -> Option<Arc<Relation>> {
        self(oid)
    }
}

/// Microseconds of a day.
const MICROS_OF_DAY: i64 = 86_400_000_000;

/// A table as a scan of it goes by.
struct TableFigures {
    relation: Arc<Relation>,
    outputs: Vec<ScanColumn>,
    rows: f64,
    statistics: Option<Arc<TableStatistics>>,
}

/// What is known of the values at homes.
pub struct Figures<'a> {
    facts: &'a dyn Facts,
    tables: HashMap<u32, TableFigures>,
}

/// What is known of a column.
struct ColumnFigures<'f> {
    /// Rows of its table.
    rows: f64,
    relation: &'f Relation,
    /// Its place in the relation.
    at: usize,
    /// How many different values it has, of a system relation's where that is known.
    values: Option<f64>,
    /// No value comes twice.
    unique: bool,
    not_null: bool,
    ty: SqlType,
    statistics: Option<&'f ColumnStatistics>,
}

impl ColumnFigures<'_> {
    fn nulls(&self) -> f64 {
        match self.statistics {
            Some(found) => found.null_fraction,
            None if self.not_null => 0.0,
            None => UNKNOWN,
        }
    }

    /// How many different values there are, and whether that is a guess (`get_variable_numdistinct`).
    fn distinct(&self) -> (f64, bool) {
        if self.unique {
            return (self.rows.max(1.0), false);
        }
        if let Some(values) = self.values {
            return (values.max(1.0), false);
        }
        match self.statistics.map_or(0.0, |found| found.distinct) {
            known if known > 0.0 => (known, false),
            part if part < 0.0 => ((-part * self.rows).round().max(1.0), false),
            _ if Form::of(self.ty.oid) == Form::Bool => (2.0, false),
            _ if self.rows < DISTINCT => (self.rows.max(1.0), false),
            // The columns of a key share what tells its rows apart.
            _ => match key_columns(self.relation, self.at) {
                Some(columns) => (self.rows.powf(1.0 / columns as f64), true),
                None => (DISTINCT, true),
            },
        }
    }
}

/// Where a value lies among others, in the order of a type.
#[derive(Clone, Copy)]
struct Compared<'v, 'a> {
    facts: &'a dyn Facts,
    ty: SqlType,
    value: &'v Datum<'v>,
}

impl Compared<'_, '_> {
    /// How a value in text form stands to this one; none if it cannot be read.
    fn order(&self, text: &str) -> Option<std::cmp::Ordering> {
        let literal = self.facts.read(self.ty, text)?;
        Some(crate::types::compare(self.ty.oid.0, &literal.datum(), self.value))
    }
}

impl<'a> Figures<'a> {
    /// Which methods are to be used.
    #[must_use]
    pub fn methods(&self) -> Methods {
        self.facts.methods()
    }

    /// None yet.
    #[must_use]
    pub fn new(facts: &'a dyn Facts) -> Figures<'a> {
        Figures { facts, tables: HashMap::new() }
    }

    /// The catalog behind them.
    #[must_use]
    pub fn facts(&self) -> &'a dyn Facts {
        self.facts
    }

    /// The homes of `slot` are filled by a scan of this table.
    pub fn enter(&mut self, slot: u32, relation: &Arc<Relation>, outputs: &[ScanColumn]) {
        let rows = match relation.kind {
            RelationKind::System => built_in_rows::expected_rows(relation, self.facts.relations()),
            _ => table_rows(self.facts, relation),
        };
        self.facts.goes_by(relation, rows);
        let table = TableFigures {
            rows,
            statistics: self.facts.statistics(relation.oid),
            relation: Arc::clone(relation),
            outputs: outputs.to_vec(),
        };
        self.tables.insert(slot, table);
    }

    /// The rows of the table whose scan fills a slot.
    #[must_use]
    pub fn rows(&self, slot: u32) -> f64 {
        self.tables.get(&slot).map_or(UNKNOWN_ROWS, |table| table.rows)
    }

    fn column(&self, scalar: &Scalar) -> Option<ColumnFigures<'_>> {
        let Scalar::Var(var) = scalar else { return None };
        let table = self.tables.get(&var.slot)?;
        let ScanColumn::Column(at) = *table.outputs.get(var.column as usize)? else { return None };
        let column = table.relation.columns.get(at)?;
        let statistics =
            table.statistics.as_ref().and_then(|found| found.columns.get(at)?.as_ref());
        let values = match table.relation.kind {
            RelationKind::System => {
                built_in_rows::expected_values(&table.relation, at, self.facts.relations())
            }
            _ => None,
        };
        Some(ColumnFigures {
            rows: table.rows,
            values,
            unique: unique(&table.relation, at),
            relation: &table.relation,
            at,
            not_null: column.not_null,
            ty: column.ty,
            statistics,
        })
    }

    /// The mean width of the value at a home, in bytes, where it is a column's.
    #[must_use]
    pub fn width(&self, var: Var) -> Option<f64> {
        let column = self.column(&Scalar::Var(var))?;
        match column.statistics {
            Some(found) if found.width > 0 => Some(f64::from(found.width)),
            _ => Some(type_width(column.ty)),
        }
    }

    /// How far a table's rows follow the order of the values at a home: -1 to 1, 0 where nobody knows.
    #[must_use]
    pub fn correlation(&self, var: Var) -> f64 {
        let column = self.column(&Scalar::Var(var));
        column.and_then(|column| column.statistics?.correlation).unwrap_or(0.0)
    }

    /// How many different values an expression has, at most `rows`.
    #[must_use]
    pub fn distinct(&self, scalar: &Scalar, rows: f64) -> f64 {
        let found = self.column(scalar).map_or(DISTINCT, |column| column.distinct().0);
        found.min(rows).max(1.0)
    }

    /// The part of the rows that all of these conditions keep: the product of their parts, bounds of one column as one
    /// (`clauselist_selectivity`).
    #[must_use]
    pub fn all(&self, conditions: &[Scalar]) -> f64 {
        let refs: Vec<&Scalar> = conditions.iter().collect();
        self.all_of(&refs)
    }

    /// As [`Figures::all`].
    #[must_use]
    pub fn all_of(&self, conditions: &[&Scalar]) -> f64 {
        let mut kept = 1.0;
        let mut bounds: Vec<(&Scalar, Option<f64>, Option<f64>, f64)> = Vec::new();
        for condition in conditions {
            let Some((column, kind, value)) = bound(condition) else {
                kept *= self.selectivity(condition);
                continue;
            };
            let part = self.comparison(column, kind, value);
            let place = bounds.iter().position(|(known, ..)| same(known, column));
            let at = place.unwrap_or_else(|| {
                let nulls = self.column(column).map_or(0.0, |column| column.nulls());
                bounds.push((column, None, None, nulls));
                bounds.len() - 1
            });
            let entry = &mut bounds[at];
            let side = match kind {
                Comparison::Greater | Comparison::GreaterEqual => &mut entry.1,
                _ => &mut entry.2,
            };
            *side = Some(side.map_or(part, |known| known.min(part)));
        }
        for (_, low, high, nulls) in bounds {
            kept *= match (low, high) {
                (Some(low), Some(high)) if low == RANGE && high == RANGE => BETWEEN,
                // Both leave out the NULLs; what is left out by neither is what lies between.
                (Some(low), Some(high)) => (low + high - 1.0 + nulls).max(1e-10).min(low.min(high)),
                (Some(one), None) | (None, Some(one)) => one,
                (None, None) => 1.0,
            };
        }
        kept.clamp(0.0, 1.0)
    }

    /// The part of the rows that a condition keeps.
    #[must_use]
    pub fn selectivity(&self, condition: &Scalar) -> f64 {
        let part = match condition {
            Scalar::Constant(row, _) => match row.get(0) {
                Datum::Bool(true) => 1.0,
                _ => 0.0,
            },
            Scalar::Call { callee, arguments, .. } => {
                match (comparison(callee.oid), &**arguments) {
                    (Some((kind, ..)), [left, right]) => {
                        if self.column(left).is_some() || self.column(right).is_none() {
                            self.comparison(left, kind, right)
                        } else {
                            self.comparison(right, kind.swapped(), left)
                        }
                    }
                    (_, [left, right]) if super::functions::is_not_equal(callee.oid) => {
                        let (column, value) =
                            if self.column(left).is_some() { (left, right) } else { (right, left) };
                        let nulls = self.column(column).map_or(0.0, |column| column.nulls());
                        1.0 - self.comparison(column, Comparison::Equal, value) - nulls
                    }
                    _ => match pattern::of(condition, &|number| {
                        Some(self.facts.parameter(number)?.0)
                    }) {
                        Some((text, pattern)) => self.found(text, &pattern),
                        None if pattern::by_parameter(condition).is_some() => MATCH,
                        // A function of one's own (`DEFAULT_...`: a pattern, a test).
                        None => RANGE,
                    },
                }
            }
            Scalar::And(all) => {
                let refs: Vec<&Scalar> = all.iter().collect();
                self.all_of(&refs)
            }
            Scalar::Or(all) => {
                // As if each were independent of the others.
                let mut kept = 0.0;
                for one in all {
                    let part = self.selectivity(one);
                    kept = kept + part - kept * part;
                }
                kept
            }
            Scalar::Not(one) => 1.0 - self.selectivity(one),
            Scalar::IsNull(one, negated) => {
                let nulls = self.column(one).map_or(UNKNOWN, |column| column.nulls());
                if *negated { 1.0 - nulls } else { nulls }
            }
            Scalar::ScalarArray { left, callee, array, .. } => {
                self.any(left, comparison(callee.oid).map(|(kind, ..)| kind), array)
            }
            Scalar::Var(_) => match self.column(condition).and_then(|column| column.statistics) {
                Some(found) => {
                    found.common.iter().find(|(text, _)| &**text == "t").map_or(0.5, |one| one.1)
                }
                None => 0.5,
            },
            _ => 0.5,
        };
        part.clamp(0.0, 1.0)
    }

    /// The part of the rows whose text a pattern with this beginning finds: those that begin so (`prefix_selectivity`).
    fn found(&self, text: &Scalar, pattern: &Pattern) -> f64 {
        if self.column(text).is_none_or(|column| column.statistics.is_none()) {
            return MATCH;
        }
        let (mut kept, bounds) = (1.0, pattern.bounds());
        for (kind, value) in &bounds {
            kept += self.comparison(text, *kind, value) - 1.0;
        }
        let nulls = self.column(text).map_or(0.0, |column| column.nulls());
        let between = if bounds.len() > 1 { kept + nulls } else { kept };
        between.clamp(1e-4, 1.0)
    }

    /// `column = ANY (array)`: as the OR of its elements.
    fn any(&self, left: &Scalar, kind: Option<Comparison>, array: &Scalar) -> f64 {
        /// Elements of an array that nobody has seen (`estimate_array_length`).
        const ELEMENTS: i32 = 10;
        if kind != Some(Comparison::Equal) {
            return 0.5;
        }
        match array {
            Scalar::Array(elements, ..) => {
                elements.iter().map(|one| self.comparison(left, Comparison::Equal, one)).sum()
            }
            Scalar::Constant(row, _) => {
                let Datum::Array(bytes) = row.get(0) else { return 0.0 };
                let (arena, array) = (bumpalo::Bump::new(), Array::of(bytes));
                let element = SqlType::plain(array.element);
                let values = array.datums(&arena).filter_map(Result::ok);
                let values = values.map(|value| constant(&Literal::of(&value), element));
                values.map(|one| self.comparison(left, Comparison::Equal, &one)).sum()
            }
            _ => self.unknown_value(left) * f64::from(ELEMENTS),
        }
    }

    /// `column = ?`, the value not known: the mean over all values (`var_eq_non_const`).
    fn unknown_value(&self, column: &Scalar) -> f64 {
        let Some(column) = self.column(column) else { return EQUAL };
        if column.unique {
            return 1.0 / column.rows.max(1.0);
        }
        let Some(found) = column.statistics else { return self.guess(&column) };
        let mut part = (1.0 - found.null_fraction) / column.distinct().0;
        if let Some((_, most)) = found.common.first() {
            part = part.min(*most);
        }
        part
    }

    fn guess(&self, column: &ColumnFigures<'_>) -> f64 {
        (1.0 - column.nulls()) / column.distinct().0
    }

    /// The part of the rows in which a column compares so with a value.
    fn comparison(&self, column: &Scalar, kind: Comparison, value: &Scalar) -> f64 {
        if kind == Comparison::Equal && self.column(value).is_some() {
            return self.join_equality(column, value);
        }
        let given = match value {
            Scalar::Parameter(number) => self.facts.parameter(*number),
            _ => None,
        };
        let constant = match (value, &given) {
            (Scalar::Constant(row, _), _) => Some(row.get(0)),
            (_, Some((given, _))) => Some(given.datum()),
            _ => None,
        };
        if constant.is_some_and(|datum| datum.is_null()) {
            return 0.0;
        }
        let Some(found) = self.column(column) else {
            return if kind == Comparison::Equal { EQUAL } else { RANGE };
        };
        if kind == Comparison::Equal && found.unique {
            return 1.0 / found.rows.max(1.0);
        }
        let Some(statistics) = found.statistics else {
            return if kind == Comparison::Equal { self.guess(&found) } else { RANGE };
        };
        let present = match constant {
            None if is_computed(value) => self.facts.present(value),
            _ => None,
        };
        let constant = constant.or_else(|| Some(present.as_ref()?.get(0)));
        if constant.is_some_and(|datum| datum.is_null()) {
            return 0.0;
        }
        let Some(datum) = constant else {
            return if kind == Comparison::Equal { self.unknown_value(column) } else { RANGE };
        };
        let Some(fitted) = fitted(&datum, found.ty) else {
            return if kind == Comparison::Equal { self.unknown_value(column) } else { RANGE };
        };
        let compared = Compared { facts: self.facts, ty: found.ty, value: &fitted };
        if kind == Comparison::Equal {
            equal_part(statistics, &found, &compared)
        } else {
            range_part(statistics, &compared, kind).unwrap_or(RANGE)
        }
    }

    /// The part of all pairs of rows in which two columns are equal (`eqjoinsel_inner`).
    #[must_use]
    pub fn join_equality(&self, left: &Scalar, right: &Scalar) -> f64 {
        let (Some(a), Some(b)) = (self.column(left), self.column(right)) else {
            let known = self.column(left).or_else(|| self.column(right));
            return known.map_or(EQUAL, |column| 1.0 / column.distinct().0);
        };
        let ((a_distinct, _), (b_distinct, _)) = (a.distinct(), b.distinct());
        let others = |common: &[(Arc<str>, f64)]| common.iter().map(|one| one.1).sum::<f64>();
        if let (Some(a_found), Some(b_found)) = (a.statistics, b.statistics)
            && !a_found.common.is_empty()
            && !b_found.common.is_empty()
            && Form::of(a.ty.oid) == Form::of(b.ty.oid)
        {
            // Common values meet each other; the rest is spread evenly over the values that are left.
            let by_text: HashMap<&str, f64> =
                b_found.common.iter().map(|(text, part)| (&**text, *part)).collect();
            let (mut matched, mut a_matched, mut b_matched, mut pairs) = (0.0, 0.0, 0.0, 0.0);
            for (text, part) in &a_found.common {
                if let Some(other) = by_text.get(&**text) {
                    matched += part * other;
                    a_matched += part;
                    b_matched += other;
                    pairs += 1.0;
                }
            }
            let (a_common, b_common) = (others(&a_found.common), others(&b_found.common));
            let a_rest = (1.0 - a_common - a_found.null_fraction).clamp(0.0, 1.0);
            let b_rest = (1.0 - b_common - b_found.null_fraction).clamp(0.0, 1.0);
            let (a_unmatched, b_unmatched) = (a_common - a_matched, b_common - b_matched);
            let part = |mine: f64, unmatched: f64, rest: f64, their: f64, distinct: f64, known| {
                let mut sum = matched;
                if distinct > known {
                    sum += unmatched * their / (distinct - known);
                }
                if distinct > pairs {
                    sum += rest * (their + mine) / (distinct - pairs);
                }
                sum
            };
            let (a_known, b_known) = (a_found.common.len() as f64, b_found.common.len() as f64);
            let first = part(b_unmatched, a_unmatched, a_rest, b_rest, b_distinct, b_known);
            let second = part(a_unmatched, b_unmatched, b_rest, a_rest, a_distinct, a_known);
            return first.min(second).clamp(0.0, 1.0);
        }
        let part = (1.0 - a.nulls()) * (1.0 - b.nulls());
        part / a_distinct.max(b_distinct).max(1.0)
    }
}

/// Whether an expression can be computed before there is a row, as often as one likes.
fn is_computed(value: &Scalar) -> bool {
    !matches!(value, Scalar::Parameter(_))
        && !value.volatile()
        && value.subqueries().is_empty()
        && !value.reads(&mut |_| true)
}

/// Two expressions that are one column.
fn same(a: &Scalar, b: &Scalar) -> bool {
    matches!((a, b), (Scalar::Var(a), Scalar::Var(b)) if a == b)
}

/// A bound: the column, which comparison, and with what.
fn bound(condition: &Scalar) -> Option<(&Scalar, Comparison, &Scalar)> {
    let Scalar::Call { callee, arguments, .. } = condition else { return None };
    let (kind, ..) = comparison(callee.oid)?;
    if kind == Comparison::Equal {
        return None;
    }
    match &**arguments {
        [column @ Scalar::Var(_), value] if !matches!(value, Scalar::Var(_)) => {
            Some((column, kind, value))
        }
        [value, column @ Scalar::Var(_)] if !matches!(value, Scalar::Var(_)) => {
            Some((column, kind.swapped(), value))
        }
        _ => None,
    }
}

/// A value in the form of a column's, so that it compares with the column's values.
fn fitted<'v>(value: &Datum<'v>, ty: SqlType) -> Option<Datum<'v>> {
    let wide = match *value {
        Datum::Int2(v) => Some(i64::from(v)),
        Datum::Int4(v) => Some(i64::from(v)),
        Datum::Int8(v) => Some(v),
        _ => None,
    };
    let form = Form::of(ty.oid);
    match (wide, form) {
        (Some(v), Form::Int2) => {
            Some(Datum::Int2(v.clamp(i64::from(i16::MIN), i64::from(i16::MAX)) as i16))
        }
        (Some(v), Form::Int4) => {
            Some(Datum::Int4(v.clamp(i64::from(i32::MIN), i64::from(i32::MAX)) as i32))
        }
        (Some(v), Form::Int8) => Some(Datum::Int8(v)),
        (Some(_), _) => None,
        // Near enough, whatever the zone.
        (None, Form::Timestamp) if let Some(at) = moment(value) => Some(Datum::Timestamp(at)),
        (None, Form::TimestampTz) if let Some(at) = moment(value) => Some(Datum::TimestampTz(at)),
        (None, Form::Date) if let Some(at) = moment(value) => {
            Some(Datum::Date(at.div_euclid(MICROS_OF_DAY) as i32))
        }
        (None, _) => form_matches(value, form).then_some(*value),
    }
}

/// A day or a point in time in microseconds, where it is not infinite.
fn moment(value: &Datum<'_>) -> Option<i64> {
    match *value {
        Datum::Timestamp(at) | Datum::TimestampTz(at) => {
            (at > i64::MIN && at < i64::MAX).then_some(at)
        }
        Datum::Date(day) if day > i32::MIN && day < i32::MAX => {
            i64::from(day).checked_mul(MICROS_OF_DAY)
        }
        _ => None,
    }
}

fn form_matches(value: &Datum<'_>, form: Form) -> bool {
    matches!(
        (value, form),
        (Datum::Bool(_), Form::Bool)
            | (Datum::Oid(_), Form::Oid)
            | (Datum::Float4(_), Form::Float4)
            | (Datum::Float8(_), Form::Float8)
            | (Datum::Char(_), Form::Char)
            | (Datum::Numeric(_), Form::Numeric)
            | (Datum::Text(_), Form::Text)
            | (Datum::Bytea(_), Form::Bytea)
            | (Datum::Date(_), Form::Date)
            | (Datum::Time(_), Form::Time)
            | (Datum::TimeTz(_), Form::TimeTz)
            | (Datum::Timestamp(_), Form::Timestamp)
            | (Datum::TimestampTz(_), Form::TimestampTz)
            | (Datum::Interval(_), Form::Interval)
            | (Datum::Uuid(_), Form::Uuid)
    )
}

/// `column = value`, the value known (`var_eq_const`).
fn equal_part(
    found: &ColumnStatistics,
    column: &ColumnFigures<'_>,
    value: &Compared<'_, '_>,
) -> f64 {
    let common = found
        .common
        .iter()
        .find(|(text, _)| value.order(text).is_some_and(std::cmp::Ordering::is_eq));
    if let Some((_, part)) = common {
        return *part;
    }
    let sum: f64 = found.common.iter().map(|one| one.1).sum();
    let rest = (1.0 - sum - found.null_fraction).clamp(0.0, 1.0);
    let others = column.distinct().0 - found.common.len() as f64;
    let part = if others > 1.0 { rest / others } else { rest };
    // No value that is not among the common ones is more common than they.
    found.common.last().map_or(part, |(_, least)| part.min(*least))
}

/// `column < value` and its kin (`scalarineqsel`); none where the statistics say nothing.
fn range_part(found: &ColumnStatistics, value: &Compared<'_, '_>, kind: Comparison) -> Option<f64> {
    let below = matches!(kind, Comparison::Less | Comparison::LessEqual);
    let with_equal = matches!(kind, Comparison::LessEqual | Comparison::GreaterEqual);
    let sum: f64 = found.common.iter().map(|one| one.1).sum();
    let mut common = 0.0;
    for (text, part) in &found.common {
        let order = value.order(text)?;
        if if below { order.is_lt() } else { order.is_gt() } || with_equal && order.is_eq() {
            common += part;
        }
    }
    let rest = (1.0 - sum - found.null_fraction).clamp(0.0, 1.0);
    if found.histogram.len() < 2 {
        return (sum > 0.0).then_some(common + rest / 2.0);
    }
    let low = histogram_below(&found.histogram, value)?;
    let part = if below { low } else { 1.0 - low };
    // Never nothing, never all: the histogram is older than the table (`ineq_histogram_selectivity`).
    let cut = 0.01 / (found.histogram.len() - 1) as f64;
    Some((common + rest * part.clamp(cut, 1.0 - cut)).clamp(0.0, 1.0))
}

/// The part of a histogram's values that lie below a value.
fn histogram_below(bounds: &[Arc<str>], value: &Compared<'_, '_>) -> Option<f64> {
    let bins = (bounds.len() - 1) as f64;
    let (mut low, mut high) = (0, bounds.len());
    while low < high {
        let middle = low.midpoint(high);
        if value.order(&bounds[middle])?.is_lt() {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    // `low` bounds are below the value.
    if low == 0 {
        return Some(0.0);
    }
    if low == bounds.len() {
        return Some(1.0);
    }
    let number = |text: &str| {
        let literal = value.facts.read(value.ty, text)?;
        position(&literal.datum())
    };
    // Within its bin a number lies where it lies between the bounds; anything else in the middle.
    let within = match (number(&bounds[low - 1]), number(&bounds[low]), position(value.value)) {
        (Some(first), Some(last), Some(at)) if last > first => {
            ((at - first) / (last - first)).clamp(0.0, 1.0)
        }
        _ => 0.5,
    };
    Some(((low - 1) as f64 + within) / bins)
}

/// A value as a number, where values of its type lie on a line (`convert_to_scalar`).
fn position(value: &Datum<'_>) -> Option<f64> {
    match *value {
        Datum::Int2(v) => Some(f64::from(v)),
        Datum::Int4(v) | Datum::Date(v) => Some(f64::from(v)),
        Datum::Int8(v) | Datum::Time(v) | Datum::Timestamp(v) | Datum::TimestampTz(v) => {
            Some(v as f64)
        }
        Datum::Oid(v) => Some(f64::from(v)),
        Datum::Float4(v) => Some(f64::from(v)),
        Datum::Float8(v) => Some(v),
        Datum::Numeric(stored) => {
            View::of(stored).finite().map(|number| number.to_decimal().to_f64())
        }
        Datum::Text(text) => Some(text_position(text)),
        _ => None,
    }
}

/// A text as a number: its first bytes as digits of base 256 (`convert_string_to_scalar`, without its narrowing to the
/// characters that occur).
fn text_position(text: &str) -> f64 {
    let mut scale = 1.0;
    text.bytes().take(8).fold(0.0, |sum, byte| {
        scale /= 256.0;
        sum + f64::from(byte) * scale
    })
}

/// Whether no value of a column comes twice: it alone is a key.
fn unique(relation: &Relation, column: usize) -> bool {
    if let RelationKind::Table { key, .. } = &relation.kind
        && key[..] == [column]
    {
        return true;
    }
    relation.indexes.iter().any(|index| {
        index.unique
            && index.is_plain_key(&[column])
            && matches!(&index.columns[..], [only] if only.column == column)
    })
}

/// How many columns the shortest unique key has that a column is a part of.
fn key_columns(relation: &Relation, column: usize) -> Option<usize> {
    let own = match &relation.kind {
        RelationKind::Table { key, .. } if key.contains(&column) => Some(key.len()),
        _ => None,
    };
    let indexes = relation.indexes.iter().filter(|index| {
        let part = index.columns.iter().any(|key| key.column == column);
        part && index.unique && index.is_valid() && !index.is_computed()
    });
    own.into_iter().chain(indexes.map(|index| index.columns.len())).min()
}

/// A table's rows: what ANALYZE counted, unless the table has become another since; without it, what its tree looks like,
/// but not so few that a plan made while it was empty would be a bad one once it is filled.
fn table_rows(facts: &dyn Facts, relation: &Relation) -> f64 {
    let now = facts.rows(relation);
    if relation.row_estimate < 0.0 {
        return now.unwrap_or(UNKNOWN_ROWS).max(UNKNOWN_ROWS);
    }
    let counted = relation.row_estimate;
    let rows = match now {
        // The look at the tree is coarser than the count.
        Some(now) if now > 2.0 * counted || now < counted / 2.0 => now,
        _ => counted,
    };
    rows.max(1.0)
}

/// The width of a type's values where nobody has measured it (`get_typavgwidth`).
#[must_use]
pub fn type_width(ty: SqlType) -> f64 {
    /// A short text.
    const TEXT: f64 = 32.0;
    match Form::of(ty.oid).width() {
        Some(width) => width as f64,
        None if ty.typmod > 4 && matches!(ty.oid.0, 1042 | 1043) => {
            let most = f64::from(ty.typmod - 4);
            if most <= TEXT || ty.oid.0 == 1042 { most } else { TEXT }
        }
        None => TEXT,
    }
}
