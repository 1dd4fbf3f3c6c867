//! Plans made by hand, run against a real transaction over a directory in memory.

use super::context::{Cursors, Host};
use super::machine::{Machine, Run, Stop};
use super::running::Running;
use super::sink::{ColumnDescription, Flow, RowSink};
use super::system_scan::{ScanProgress, SystemRows};
use super::temp_file::TempUse;
use crate::bind::logical::{JoinKind, Modify, ModifyKind, Node, Output, Query, SortKey};
use crate::bind::{AggregateCall, BoundStatement, CallForm, Expr, Literal};
use crate::catalog::builtin;
use crate::catalog::relation_counts::SessionCounts;
use crate::catalog::testing::{catalog, table};
use crate::catalog::{Catalog, CatalogSnapshot, Relation, RelationKind};
use crate::compile::compile;
use crate::error::{Notice, Result, SqlError};
use crate::settings::SessionSettings;
use crate::tuple::RowBuf;
use crate::tuple::row_id::{RowIds, SessionRowIds};
use crate::types::no_session::{NoSession, StoppedClock};
use crate::types::{CallContext, Datum, Oid, SqlType};
use std::cell::{Cell, RefCell};
use std::sync::Arc;
use txn::{Begin, SessionWait, Transaction};

const INT4: SqlType = SqlType::plain(23);
const BOOL: SqlType = SqlType::plain(16);
const INT8: SqlType = SqlType::plain(20);
const VARCHAR: SqlType = SqlType { oid: Oid(1043), typmod: 14 };

struct NoRows;

impl SystemRows for NoRows {
    fn state(&self) -> CatalogSnapshot {
        unreachable!("nobody scans a system relation")
    }

    fn rows(
        &self,
        _: &CallContext<'_>,
        relation: Oid,
        _: &[(usize, Datum<'_>)],
        _: (&CatalogSnapshot, &mut ScanProgress),
        _: &mut dyn FnMut(&[Datum<'_>]) -> Result<bool>,
    ) -> Result<()> {
        Err(SqlError::unsupported(format!("relation {relation} is")))
    }
}

impl Cursors for NoRows {
    fn current_row(&self, cursor: &str, _: &Relation) -> Result<Option<Vec<u8>>> {
        Err(SqlError::unsupported(format!("cursor {cursor} is")))
    }
}

/// A table `t (a int primary key, b varchar(10), up int)` with an index on `b desc`, and a session's worth of state.
struct Bench {
    catalog: Arc<Catalog>,
    relation: Arc<Relation>,
    wait: Arc<SessionWait>,
    ids: RowIds,
    session_ids: SessionRowIds,
}

impl Bench {
    fn new(change: impl FnOnce(&mut Relation)) -> Bench {
        let catalog = catalog();
        let mut relation = table(20_000);
        let make = || catalog.manager().data().create_tree().unwrap().id();
        let rows = make();
        relation.kind = RelationKind::Table { tree: rows, key: vec![0], long_values: make() };
        relation.indexes[0].tree = rows;
        relation.indexes[1].tree = make();
        relation.constraints.clear();
        change(&mut relation);
        Bench {
            catalog,
            relation: Arc::new(relation),
            wait: Arc::new(SessionWait::new(1)),
            ids: RowIds::default(),
            session_ids: SessionRowIds::default(),
        }
    }

    fn begin(&self) -> Transaction {
        self.catalog.manager().begin(Begin::default(), &self.wait)
    }

    /// Runs a statement in a transaction: its rows as text, and how many it changed.
    fn run_in(
        &mut self,
        transaction: &mut Transaction,
        statement: &BoundStatement,
        parameters: &[Datum<'_>],
    ) -> Result<(Vec<String>, u64)> {
        let relation = Arc::clone(&self.relation);
        let program = Arc::new(compile(statement, &move |oid| {
            (oid == relation.oid).then(|| Arc::clone(&relation))
        })?);
        let mut machine = Machine::new(&program);
        let (settings, notices) = (SessionSettings::default(), RefCell::new(Vec::new()));
        let random = Cell::new([1, 2]);
        let deferred = RefCell::default();
        let host = Host {
            settings: &Running::new(&settings),
            catalog: &NoSession,
            system: &NoRows,
            cursors: &NoRows,
            clock: &StoppedClock,
            transaction_time: 0,
            statement_time: 0,
            notices: &notices,
            random: &random,
            row_ids: &self.ids,
            deferred: &deferred,
            counts: &SessionCounts::default(),
            temp_used: &TempUse::default(),
            wait: &self.wait,
            routines: None,
        };
        let mut row = RowBuf::new();
        parameters.iter().for_each(|datum| row.push(*datum));
        let mut last = Vec::new();
        // Twice over the same machine, where it only reads: nothing of the first run may be left.
        for _ in 0..if program.writes { 1 } else { 2 } {
            last.clear();
            machine.restart();
            let view = transaction.begin_statement()?;
            let row_ids = &mut self.session_ids;
            let mut run = Run { transaction, view, parameters: &row, host: &host, row_ids };
            while machine.next(&mut run)? {
                let shown: Vec<String> = program
                    .output
                    .iter()
                    .map(|var| match machine.frame().get(*var) {
                        Datum::Null => "-".to_owned(),
                        Datum::Int4(v) => v.to_string(),
                        Datum::Int8(v) => v.to_string(),
                        Datum::Text(v) => v.to_owned(),
                        other => format!("{other:?}"),
                    })
                    .collect();
                last.push(shown.join(" "));
            }
        }
        Ok((last, machine.rows()))
    }

    fn run(&mut self, statement: &BoundStatement) -> Result<(Vec<String>, u64)> {
        let mut transaction = self.begin();
        let result = self.run_in(&mut transaction, statement, &[])?;
        let _ = transaction.commit(&mut |_| ())?;
        Ok(result)
    }

    fn rows(&mut self, root: Node, width: usize) -> Vec<String> {
        self.run(&query(root, width)).unwrap().0
    }

    fn scan(&self, item: u32) -> Node {
        Node::Scan {
            relation: Arc::clone(&self.relation),
            columns: vec![0, 1, 2],
            system: Vec::new(),
            filter: Vec::new(),
            computed: Vec::new(),
            alias: "t".into(),
            item,
            current_of: None,
        }
    }

    fn modify(&self, kind: ModifyKind) -> BoundStatement {
        BoundStatement::Modify(Modify {
            named: Vec::new(),
            relation: Arc::clone(&self.relation),
            alias: "t".into(),
            kind,
            returning: None,
            ctes: Vec::new(),
            checks: Vec::new(),
            view_checks: Vec::new(),
            generated: Vec::new(),
            computed: Vec::new(),
            actions: Vec::new(),
        })
    }

    fn insert(&mut self, rows: &[(i32, Option<&str>, Option<i32>)]) -> Result<u64> {
        let values = rows
            .iter()
            .map(|(a, b, up)| {
                vec![
                    int(*a),
                    Expr::Constant(b.map_or(Literal::Null, |b| Literal::Text(b.into())), VARCHAR),
                    up.map_or(Expr::Constant(Literal::Null, INT4), int),
                ]
            })
            .collect();
        let source = Node::Values { rows: values, types: vec![INT4, VARCHAR, INT4] };
        let insert =
            ModifyKind::Insert { source: Box::new(source), on_conflict: None, system: Vec::new() };
        Ok(self.run(&self.modify(insert))?.1)
    }
}

fn query(root: Node, width: usize) -> BoundStatement {
    let output = Output { name: "c".into(), ty: INT4, origin: None };
    BoundStatement::Query(Query::new(root, vec![output; width]))
}

fn int(value: i32) -> Expr {
    Expr::Constant(Literal::Int4(value), INT4)
}

fn column(column: u32, ty: SqlType) -> Expr {
    Expr::Column { level: 0, column, ty }
}

fn operator(name: &str, ty: u32, left: Expr, right: Expr, result: SqlType) -> Expr {
    let operator = builtin::operators_named(name, false)
        .iter()
        .find(|operator| operator.left == ty && operator.right == ty)
        .expect("the operator is built in");
    Expr::Call {
        function: Oid(operator.function),
        arguments: vec![left, right],
        ty: result,
        form: CallForm::Operator(Oid(operator.oid)),
        position: 0,
    }
}

fn filter(input: Node, conjuncts: Vec<Expr>) -> Node {
    Node::Filter { input: Box::new(input), conjuncts }
}

fn filled() -> Bench {
    let mut bench = Bench::new(|_| ());
    let rows = [
        (3, Some("c"), Some(1)),
        (1, Some("a"), None),
        (4, None, Some(3)),
        (2, Some("b"), Some(1)),
    ];
    assert_eq!(bench.insert(&rows).unwrap(), 4);
    bench
}

#[test]
fn rows_come_in_key_order_and_a_point_is_found() {
    let mut bench = filled();
    let scan = bench.scan(0);
    assert_eq!(bench.rows(scan.clone(), 3), ["1 a -", "2 b 1", "3 c 1", "4 - 3"]);
    let point = filter(scan.clone(), vec![operator("=", 23, column(0, INT4), int(3), BOOL)]);
    assert_eq!(bench.rows(point, 2), ["3 c"]);
    let range = filter(
        scan.clone(),
        vec![
            operator(">", 23, column(0, INT4), int(1), BOOL),
            operator("<=", 23, column(0, INT4), int(3), BOOL),
        ],
    );
    assert_eq!(bench.rows(range, 1), ["2", "3"]);
    let null = Expr::Constant(Literal::Null, INT4);
    let none = filter(scan, vec![operator("=", 23, column(0, INT4), null, BOOL)]);
    assert!(bench.rows(none, 1).is_empty());
}

#[test]
fn an_index_finds_what_it_should_and_no_nulls() {
    let mut bench = filled();
    let text = |value: &str| Expr::Constant(Literal::Text(value.into()), SqlType::plain(25));
    let relabelled = || Expr::Relabel(Box::new(column(1, VARCHAR)), SqlType::plain(25));
    let scan = bench.scan(0);
    let equal = filter(scan.clone(), vec![operator("=", 25, relabelled(), text("b"), BOOL)]);
    assert_eq!(bench.rows(equal, 1), ["2"]);
    let above = filter(scan, vec![operator(">", 25, relabelled(), text("a"), BOOL)]);
    let mut rows = bench.rows(above, 1);
    rows.sort();
    assert_eq!(rows, ["2", "3"]);
}

#[test]
fn a_parameter_is_a_key_too() {
    let mut bench = filled();
    let parameter = Expr::Parameter(0, INT4);
    let root = filter(bench.scan(0), vec![operator("=", 23, column(0, INT4), parameter, BOOL)]);
    let mut transaction = bench.begin();
    let statement = query(root, 2);
    let found = bench.run_in(&mut transaction, &statement, &[Datum::Int4(2)]).unwrap();
    assert_eq!(found.0, ["2 b"]);
}

#[test]
fn duplicates_and_missing_values_are_refused_with_postgresqls_words() {
    let mut bench = filled();
    let error = bench.insert(&[(9, None, None), (3, Some("x"), None)]).unwrap_err();
    let fields = error.fields();
    assert_eq!(fields.state.code(), "23505");
    assert_eq!(fields.message, "duplicate key value violates unique constraint \"t_pkey\"");
    assert_eq!(fields.detail.as_deref(), Some("Key (a)=(3) already exists."));
    let scan = bench.scan(0);
    assert_eq!(bench.rows(scan, 1).len(), 4, "nothing of the statement is left");
    let source = Node::Values {
        rows: vec![vec![
            Expr::Constant(Literal::Null, INT4),
            Expr::Constant(Literal::Text("x".into()), VARCHAR),
            int(1),
        ]],
        types: vec![INT4, VARCHAR, INT4],
    };
    let insert =
        ModifyKind::Insert { source: Box::new(source), on_conflict: None, system: Vec::new() };
    let error = bench.run(&bench.modify(insert)).unwrap_err();
    assert_eq!(error.fields().state.code(), "23502");
    assert_eq!(error.fields().detail.as_deref(), Some("Failing row contains (null, x, 1)."));
}

#[test]
fn an_update_moves_keys_and_index_entries() {
    let mut bench = filled();
    let assignments = vec![
        (0, operator("+", 23, column(0, INT4), int(10), INT4)),
        (1, Expr::Constant(Literal::Text("z".into()), VARCHAR)),
    ];
    let source = filter(bench.scan(0), vec![operator(">", 23, column(0, INT4), int(2), BOOL)]);
    let update = ModifyKind::Update { source: Box::new(source), assignments };
    assert_eq!(bench.run(&bench.modify(update)).unwrap().1, 2);
    let scan = bench.scan(0);
    assert_eq!(bench.rows(scan.clone(), 3), ["1 a -", "2 b 1", "13 z 1", "14 z 3"]);
    let text = Expr::Constant(Literal::Text("z".into()), SqlType::plain(25));
    let relabelled = Expr::Relabel(Box::new(column(1, VARCHAR)), SqlType::plain(25));
    let by_index = filter(scan, vec![operator("=", 25, relabelled, text, BOOL)]);
    assert_eq!(bench.rows(by_index, 1), ["13", "14"]);
}

#[test]
fn a_delete_takes_rows_and_entries() {
    let mut bench = filled();
    let source = filter(bench.scan(0), vec![operator("<", 23, column(0, INT4), int(3), BOOL)]);
    let delete = ModifyKind::Delete { source: Box::new(source) };
    assert_eq!(bench.run(&bench.modify(delete)).unwrap().1, 2);
    let scan = bench.scan(0);
    assert_eq!(bench.rows(scan, 1), ["3", "4"]);
    assert_eq!(bench.insert(&[(1, Some("a"), None)]).unwrap(), 1);
}

#[test]
fn joins_of_all_kinds() {
    let mut bench = filled();
    let on = |by: u32| vec![operator("=", 23, column(2, INT4), column(3 + by, INT4), BOOL)];
    let join = |kind, by| Node::Join {
        kind,
        left: Box::new(bench.scan(0)),
        right: Box::new(bench.scan(1)),
        on: on(by),
        lateral: false,
    };
    let sorted = |mut rows: Vec<String>| {
        rows.sort();
        rows
    };
    // `up` against the key, and against `up`, for which there is no index.
    let (inner, left, semi, anti, full) = (
        join(JoinKind::Inner, 0),
        join(JoinKind::Left, 0),
        join(JoinKind::Semi, 0),
        join(JoinKind::Anti, 0),
        join(JoinKind::Full, 0),
    );
    let hashed = join(JoinKind::Inner, 2);
    assert_eq!(sorted(bench.rows(inner, 6)), ["2 b 1 1 a -", "3 c 1 1 a -", "4 - 3 3 c 1"]);
    assert_eq!(
        sorted(bench.rows(left, 6)),
        ["1 a - - - -", "2 b 1 1 a -", "3 c 1 1 a -", "4 - 3 3 c 1"]
    );
    assert_eq!(sorted(bench.rows(semi, 1)), ["2", "3", "4"]);
    assert_eq!(bench.rows(anti, 1), ["1"]);
    assert_eq!(
        sorted(bench.rows(full, 4)),
        ["- - - 2", "- - - 4", "1 a - -", "2 b 1 1", "3 c 1 1", "4 - 3 3"]
    );
    assert_eq!(bench.rows(hashed, 6).len(), 5);
}

#[test]
fn sorts_by_what_no_key_gives() {
    let mut bench = filled();
    let key = |expr, descending| SortKey { expr, descending, nulls_first: descending };
    let sort = |keys, input| Node::Sort { input: Box::new(input), keys };
    let by_up = sort(vec![key(column(2, INT4), true), key(column(0, INT4), true)], bench.scan(0));
    assert_eq!(bench.rows(by_up, 1), ["1", "4", "3", "2"]);
    let by_key = sort(vec![key(column(0, INT4), true)], bench.scan(0));
    assert_eq!(bench.rows(by_key.clone(), 1), ["4", "3", "2", "1"]);
    let two = Node::Limit {
        input: Box::new(by_key),
        limit: Some(Expr::Constant(Literal::Int8(2), INT8)),
        offset: Some(Expr::Constant(Literal::Int8(1), INT8)),
        with_ties: None,
    };
    assert_eq!(bench.rows(two, 1), ["3", "2"]);
}

#[test]
fn a_statement_does_not_meet_its_own_writes() {
    let mut bench = filled();
    let more = operator("+", 23, column(0, INT4), int(10), INT4);
    let source = Node::Project {
        input: Box::new(bench.scan(0)),
        columns: vec![more, column(1, VARCHAR), column(2, INT4)],
    };
    let insert =
        ModifyKind::Insert { source: Box::new(source), on_conflict: None, system: Vec::new() };
    assert_eq!(bench.run(&bench.modify(insert)).unwrap().1, 4);
    let scan = bench.scan(0);
    assert_eq!(bench.rows(scan, 1), ["1", "2", "3", "4", "11", "12", "13", "14"]);
}

#[test]
fn without_a_primary_key_rows_come_in_the_order_they_were_inserted() {
    let mut bench = Bench::new(|relation| {
        if let RelationKind::Table { key, .. } = &mut relation.kind {
            key.clear();
        }
        relation.indexes.clear();
    });
    bench.insert(&[(2, Some("b"), None), (1, Some("a"), None), (2, None, None)]).unwrap();
    let scan = bench.scan(0);
    assert_eq!(bench.rows(scan, 2), ["2 b", "1 a", "2 -"]);
}

#[test]
fn long_values_are_cut_out_and_read_back() {
    let mut bench = filled();
    let long = "long ".repeat(20_000);
    bench.insert(&[(7, Some(&long), None)]).unwrap_err();
    let mut bench = Bench::new(|relation| {
        relation.indexes.truncate(1);
    });
    bench.insert(&[(7, Some(&long), None)]).unwrap();
    let scan = bench.scan(0);
    let rows = bench.rows(scan, 2);
    assert_eq!(rows, [format!("7 {long}")]);
    let delete = ModifyKind::Delete { source: Box::new(bench.scan(0)) };
    assert_eq!(bench.run(&bench.modify(delete)).unwrap().1, 1);
}

#[test]
fn groups_and_aggregates_over_nothing() {
    let mut bench = filled();
    let count = 2803;
    let call = AggregateCall {
        made: None,
        computed_as: Oid(count),
        function: Oid(count),
        arguments: Vec::new(),
        distinct: false,
        order_by: Vec::new(),
        filter: None,
        ty: INT8,
    };
    let aggregate = |input, keys: Vec<Expr>, calls| Node::Aggregate {
        input: Box::new(input),
        sets: vec![(0..keys.len() as u32).collect()],
        keys,
        calls,
    };
    let by_up = aggregate(bench.scan(0), vec![column(2, INT4)], vec![call.clone()]);
    let mut rows = bench.rows(by_up, 2);
    rows.sort();
    assert_eq!(rows, ["- 1", "1 2", "3 1"]);
    let none = filter(bench.scan(0), vec![operator(">", 23, column(0, INT4), int(100), BOOL)]);
    assert_eq!(bench.rows(aggregate(none, Vec::new(), vec![call]), 1), ["0"]);
}

/// Counts rows, and pauses behind each.
struct Pausing(Vec<i32>);

impl RowSink for Pausing {
    fn row(
        &mut self,
        _: &CallContext<'_>,
        columns: &[ColumnDescription],
        row: &[Datum<'_>],
    ) -> Result<Flow> {
        assert_eq!(columns.len(), row.len());
        let Datum::Int4(value) = row[0] else { panic!("an integer") };
        self.0.push(value);
        Ok(Flow::Pause)
    }

    fn notice(&mut self, _: &Notice) {}
}

#[test]
fn a_run_stops_behind_any_row_and_goes_on() {
    let mut bench = filled();
    let statement = query(bench.scan(0), 1);
    let program = Arc::new(compile(&statement, &|_| None).unwrap());
    let mut machine = Machine::new(&program);
    let mut transaction = bench.begin();
    let view = transaction.begin_statement().unwrap();
    let (settings, notices) = (SessionSettings::default(), RefCell::new(Vec::new()));
    let random = Cell::new([1, 2]);
    let deferred = RefCell::default();
    let host = Host {
        settings: &Running::new(&settings),
        catalog: &NoSession,
        system: &NoRows,
        cursors: &NoRows,
        clock: &StoppedClock,
        transaction_time: 0,
        statement_time: 0,
        notices: &notices,
        random: &random,
        row_ids: &bench.ids,
        deferred: &deferred,
        counts: &SessionCounts::default(),
        temp_used: &TempUse::default(),
        wait: &bench.wait,
        routines: None,
    };
    let mut run = Run {
        transaction: &mut transaction,
        view,
        parameters: &RowBuf::new(),
        host: &host,
        row_ids: &mut bench.session_ids,
    };
    let mut sink = Pausing(Vec::new());
    machine.restart();
    let mut stops = Vec::new();
    while stops.last() != Some(&Stop::Done) {
        let max_rows = if stops.is_empty() { 1 } else { 0 };
        stops.push(machine.run(&mut run, max_rows, &mut sink).unwrap());
    }
    assert_eq!(sink.0, [1, 2, 3, 4]);
    assert_eq!(stops, [Stop::MaxRows, Stop::Paused, Stop::Paused, Stop::Paused, Stop::Done]);
    assert_eq!(machine.rows(), 4);
}
