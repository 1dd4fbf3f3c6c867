//! Estimates from planted statistics: what PostgreSQL's formulas give, worked out by hand.

use super::equivalence::with_values;
use super::figures::{BETWEEN, DISTINCT, EQUAL, Facts, Figures, RANGE, UNKNOWN, UNKNOWN_ROWS};
use super::functions::callee;
use super::implied::same;
use super::physical::ScanColumn;
use super::scalar::{Scalar, Var};
use super::translate::constant;
use crate::bind::Literal;
use crate::catalog::testing::table;
use crate::catalog::{ColumnStatistics, Relation, RelationKind, TableStatistics, builtin};
use crate::types::{Datum, Oid, SqlType};
use std::sync::Arc;

const INT4: SqlType = SqlType::plain(23);

/// A table `t (a int primary key, b varchar(10), up int)` of which this is known.
struct Planted {
    relation: Arc<Relation>,
    statistics: Option<Arc<TableStatistics>>,
    now: Option<f64>,
}

impl Facts for Planted {
    fn relation(&self, _: Oid) -> Option<Arc<Relation>> {
        Some(Arc::clone(&self.relation))
    }

    fn statistics(&self, _: Oid) -> Option<Arc<TableStatistics>> {
        self.statistics.clone()
    }

    fn rows(&self, _: &Relation) -> Option<f64> {
        self.now
    }

    fn read(&self, ty: SqlType, text: &str) -> Option<Literal> {
        match ty.oid.0 {
            23 => Some(Literal::of(&Datum::Int4(text.parse().ok()?))),
            _ => Some(Literal::of(&Datum::Text(text))),
        }
    }
}

/// Statistics of `up` alone, of 1000 rows.
fn planted(up: Option<ColumnStatistics>) -> Planted {
    let mut relation = table(20_000);
    let statistics = up.map(|up| {
        relation.row_estimate = 1000.0;
        let columns = vec![None, None, Some(up)];
        Arc::new(TableStatistics { rows: 1000.0, pages: 5, columns })
    });
    Planted { relation: Arc::new(relation), statistics, now: None }
}

/// A tenth NULL, the values 7 (30%) and 8 (20%), the rest even from 0 to 100.
fn skewed() -> ColumnStatistics {
    ColumnStatistics {
        null_fraction: 0.1,
        width: 4,
        distinct: 102.0,
        common: vec![("7".into(), 0.3), ("8".into(), 0.2)],
        histogram: (0..=10).map(|bound| (bound * 10).to_string().into()).collect(),
        correlation: Some(0.0),
    }
}

fn home(column: u32) -> Scalar {
    Scalar::Var(Var { slot: 0, column })
}

fn number(value: i32) -> Scalar {
    constant(&Literal::of(&Datum::Int4(value)), INT4)
}

fn compare(name: &str, left: Scalar, right: Scalar) -> Scalar {
    let operator = builtin::operators_named(name, false)
        .iter()
        .find(|operator| (operator.left, operator.right) == (23, 23))
        .unwrap();
    let callee = callee(Oid(operator.function), vec![INT4, INT4], SqlType::plain(16)).unwrap();
    Scalar::Call { callee, arguments: Box::new([left, right]), position: 0 }
}

fn with<T>(planted: &Planted, test: impl FnOnce(&Figures<'_>) -> T) -> T {
    let mut figures = Figures::new(planted);
    let outputs: Vec<ScanColumn> = (0..3).map(ScanColumn::Column).collect();
    figures.enter(0, &planted.relation, &outputs);
    figures.enter(1, &planted.relation, &outputs);
    test(&figures)
}

fn close(actual: f64, wanted: f64) {
    assert!((actual - wanted).abs() < 1e-9, "{actual} is not {wanted}");
}

#[test]
fn what_equals_a_column_with_a_value_is_compared_with_the_value() {
    let other = |column| Scalar::Var(Var { slot: 1, column });
    let own = |var: Var| var.slot < 2;
    let conditions = vec![
        compare("=", home(0), other(1)),
        compare("<", home(2), other(2)),
        compare("=", other(1), other(0)),
        compare("=", number(5), home(0)),
    ];
    let wanted = [
        compare("=", other(1), number(5)),
        compare("<", home(2), other(2)),
        compare("=", other(0), number(5)),
        compare("=", number(5), home(0)),
    ];
    let found = with_values(conditions, &own);
    assert_eq!(found.len(), wanted.len());
    assert!(found.iter().zip(&wanted).all(|(one, wanted)| same(one, wanted)), "{found:?}");
    // Two values of one column: both are asked. Where nobody has a value all stays as it is.
    let contrary = vec![
        compare("=", home(0), number(5)),
        compare("=", other(0), number(6)),
        compare("=", home(0), other(0)),
    ];
    let found = with_values(contrary, &own);
    assert!(same(&found[2], &compare("=", other(0), number(5))), "{found:?}");
    assert_eq!(with_values(vec![compare("=", home(0), other(0))], &own).len(), 1);
}

#[test]
fn a_value_is_as_frequent_as_its_statistics_say() {
    with(&planted(Some(skewed())), |figures| {
        let up = |name, value| figures.selectivity(&compare(name, home(2), value));
        close(up("=", number(7)), 0.3);
        close(up("=", number(8)), 0.2);
        // What is no common value shares what they and the NULLs leave: 0.4 among 100 values.
        close(up("=", number(50)), 0.004);
        close(up("<>", number(7)), 1.0 - 0.3 - 0.1);
        // A value that is not known yet: the mean over all.
        close(up("=", Scalar::Parameter(0)), 0.9 / 102.0);
        // The operands' order says nothing.
        close(figures.selectivity(&compare("=", number(7), home(2))), 0.3);
        close(figures.selectivity(&Scalar::IsNull(Box::new(home(2)), false)), 0.1);
        close(figures.selectivity(&Scalar::IsNull(Box::new(home(2)), true)), 0.9);
        let null = constant(&Literal::of(&Datum::Null), INT4);
        close(up("=", null), 0.0);
    });
}

#[test]
fn a_range_is_what_histogram_and_common_values_have_in_it() {
    with(&planted(Some(skewed())), |figures| {
        let up = |name, value| compare(name, home(2), number(value));
        // Below 25: both common values, and a quarter of the histogram's 0.4.
        close(figures.selectivity(&up("<", 25)), 0.5 + 0.25 * 0.4);
        close(figures.selectivity(&up(">", 25)), 0.75 * 0.4);
        close(figures.selectivity(&up("<=", 7)), 0.3 + 0.07 * 0.4);
        close(figures.selectivity(&up("<", 7)), 0.07 * 0.4);
        // Two bounds of one column are one condition.
        close(figures.all(&[up(">=", 20), up("<", 40)]), 0.2 * 0.4);
        // Beyond the histogram is not quite nothing.
        close(figures.selectivity(&up(">", 1000)), 0.001 * 0.4);
        let either = Scalar::Or(Box::new([up("=", 7), up("=", 8)]));
        close(figures.selectivity(&either), 0.3 + 0.2 - 0.3 * 0.2);
    });
}

#[test]
fn without_statistics_there_are_postgresqls_defaults() {
    with(&planted(None), |figures| {
        assert_eq!(figures.rows(0), UNKNOWN_ROWS);
        let up = |name, value| compare(name, home(2), number(value));
        close(figures.selectivity(&up("<", 5)), RANGE);
        close(figures.all(&[up(">", 5), up("<", 9)]), BETWEEN);
        close(figures.selectivity(&up("=", 5)), (1.0 - 0.005) / DISTINCT);
        // An expression is no column.
        let sum = compare("=", Scalar::Parameter(0), number(5));
        close(figures.selectivity(&sum), EQUAL);
        // A key is unique, whatever nobody has counted.
        close(figures.selectivity(&compare("=", home(0), number(5))), 1.0 / UNKNOWN_ROWS);
    });
}

#[test]
fn without_statistics_the_columns_of_a_key_share_its_rows() {
    let mut planted = planted(None);
    let mut relation = (*planted.relation).clone();
    relation.indexes.clear();
    if let RelationKind::Table { key, .. } = &mut relation.kind {
        *key = vec![0, 1];
    }
    planted.relation = Arc::new(relation);
    planted.now = Some(1e6);
    with(&planted, |figures| {
        let equal = |column| compare("=", home(column), number(5));
        let nulls =
            |column: usize| if planted.relation.columns[column].not_null { 0.0 } else { UNKNOWN };
        close(figures.distinct(&home(0), 1e6), 1000.0);
        close(figures.selectivity(&equal(1)), (1.0 - nulls(1)) / 1000.0);
        close(figures.selectivity(&equal(2)), (1.0 - nulls(2)) / DISTINCT);
        // Who names more columns expects fewer rows.
        assert!(figures.all(&[equal(0), equal(2)]) < figures.all(&[equal(0)]) / 100.0);
    });
}

#[test]
fn a_join_meets_common_values_with_common_values() {
    with(&planted(Some(skewed())), |figures| {
        let other = |column| Scalar::Var(Var { slot: 1, column });
        // A key on one side: each row meets one.
        close(figures.selectivity(&compare("=", home(0), other(0))), 1.0 / 1000.0);
        // 0.3 * 0.3 + 0.2 * 0.2 of common values, and 0.4 * 0.4 spread over the 100 others.
        close(figures.join_equality(&home(2), &other(2)), 0.13 + 0.16 / 100.0);
        close(figures.distinct(&home(2), 1e6), 102.0);
        close(figures.distinct(&home(2), 10.0), 10.0);
    });
}

#[test]
fn a_table_that_has_grown_is_as_large_as_its_tree_looks() {
    let rows = |counted: f64, now: f64| {
        let mut planted = planted(None);
        let mut relation = (*planted.relation).clone();
        relation.row_estimate = counted;
        planted.relation = Arc::new(relation);
        planted.now = Some(now);
        with(&planted, |figures| figures.rows(0))
    };
    assert_eq!(rows(-1.0, 50_000.0), 50_000.0);
    assert_eq!(rows(-1.0, 3.0), UNKNOWN_ROWS);
    assert_eq!(rows(1000.0, 1500.0), 1000.0);
    assert_eq!(rows(1000.0, 90_000.0), 90_000.0);
    assert_eq!(rows(0.0, 0.0), 1.0);
}
