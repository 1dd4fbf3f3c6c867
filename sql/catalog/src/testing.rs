//! A catalog for this crate's tests: a new directory in memory, and a table with a bit of everything.

use crate::bootstrap::bootstrap;
use crate::definition::{Edge, Edges, Expression};
use crate::object::{Version, well_known};
use crate::relation::{
    Action, Column, Constraint, ConstraintKind, Deferral, ForeignKey, Index, IndexColumn,
    IndexState, MatchType, Relation, RelationKind, ReplicaIdentity,
};
use crate::trigger::KeyTriggers;
use crate::{Catalog, Loaded};
use sql_types::{Oid, SqlType};
use std::sync::Arc;
use txn::{
    Begin, Environment, FaultyDevice, Manager, Options, SessionWait, SystemClock, Threads,
    Transaction, TreeId,
};

/// `'x'` as the default of its column `b`, as the binder stores it.
pub const DEFAULT: [u8; 28] = [
    1, 2, 5, 157, 5, 3, 1, 9, 1, 120, 147, 8, 1, 1, 3, 28, 23, 1, 1, 1, 0, 16, 1, 147, 8, 28, 3, 0,
];
/// `a > 0` over its columns, the same.
pub const CHECK: [u8; 21] = [1, 2, 5, 147, 1, 2, 2, 2, 23, 1, 1, 3, 0, 23, 1, 16, 1, 2, 137, 4, 0];

/// The catalog of a new directory.
pub fn catalog() -> Arc<Catalog> {
    let env = Environment {
        device: Arc::new(FaultyDevice::new(1)),
        clock: Arc::new(SystemClock::new()),
        scheduler: Arc::new(Threads::new(2)),
        seed: 1,
    };
    Manager::create(&env, &Options::default()).expect("a directory in memory has no faults");
    let none = |_: &Arc<Manager>| Ok::<_, txn::Error>(Vec::new());
    let manager =
        Manager::open(env, Options::default(), none).expect("a directory in memory has no faults");
    bootstrap(&manager, "postgres", None, txn::SchemeKind::default())
        .expect("a directory in memory has no faults");
    Catalog::open(&manager, Loaded::read(&manager).expect("a directory in memory has no faults"))
        .expect("a directory in memory has no faults")
}

/// A transaction in its first statement.
pub fn begin(catalog: &Arc<Catalog>) -> Transaction {
    let wait = Arc::new(SessionWait::new(1));
    let mut transaction = catalog.manager().begin(Begin::default(), &wait);
    transaction.begin_statement().expect("a directory in memory has no faults");
    transaction
}

fn column(name: &str, ty: SqlType, collation: u32) -> Column {
    Column::plain(name.into(), ty, Oid(collation))
}

/// `create table public.t (a int primary key, b varchar(10) default 'x', up int references t, check (a > 0))` and
/// `create index ti on t (b desc)`, OIDs from `first` on.
pub fn table(first: u32) -> Relation {
    let oid = |offset: u32| Oid(first + offset);
    let tree = |offset: u32| TreeId(10 * u64::from(first) + u64::from(offset));
    let key = |column, descending| IndexColumn {
        descending,
        nulls_first: descending,
        ..IndexColumn::plain(column)
    };
    let index = |at, name: &str, column, primary: bool| Index {
        oid: oid(at),
        name: name.into(),
        columns: vec![key(column, !primary)],
        tree: tree(at),
        unique: primary,
        primary,
        constraint: primary.then(|| (oid(at + 10), name.into())),
        options: Vec::new(),
        expressions: Vec::new(),
        include: Vec::new(),
        filter: None,
        nulls_not_distinct: false,
        state: IndexState::Valid,
        deferral: Deferral::Never,
        clustered: false,
        replica_identity: false,
    };
    let foreign = ForeignKey {
        columns: vec![2],
        references: oid(0),
        referenced: vec![0],
        index: oid(1),
        match_type: MatchType::Simple,
        on_update: Action::NoAction,
        on_delete: Action::Cascade,
        delete_columns: Vec::new(),
        triggers: KeyTriggers {
            deletes: oid(80),
            updates: oid(81),
            checks_new: oid(82),
            checks_changed: oid(83),
        },
    };
    let constraint = |at, name: &str, kind| Constraint {
        oid: oid(at),
        name: name.into(),
        kind,
        validated: true,
        deferral: Deferral::Never,
    };
    let mut columns = vec![
        column("a", SqlType::plain(23), 0),
        column("b", SqlType { oid: Oid(1043), typmod: 14 }, 100),
        column("up", SqlType::plain(23), 0),
    ];
    columns[0].not_null = true;
    columns[1].default = Some(Expression::new(DEFAULT.into(), Edges::new(Vec::new())));
    Relation {
        oid: oid(0),
        schema: (well_known::PUBLIC, "public".into()),
        name: "t".into(),
        owner: well_known::SUPERUSER,
        kind: RelationKind::Table { tree: tree(1), key: vec![0], long_values: tree(3) },
        columns,
        indexes: vec![index(1, "t_pkey", 0, true), index(2, "ti", 1, false)],
        constraints: vec![
            constraint(
                3,
                "t_a_check",
                ConstraintKind::Check {
                    condition: Expression::new(CHECK.into(), Edges::new(vec![Edge::Own(1)])),
                    no_inherit: false,
                },
            ),
            constraint(4, "t_up_fkey", ConstraintKind::ForeignKey(foreign)),
        ],
        referenced_by: Vec::new(),
        version: Version::NONE,
        lock: Relation::lock_of(well_known::POSTGRES, oid(0)),
        row_estimate: -1.0,
        options: vec![("fillfactor".into(), "90".into())],
        persistence: 'p',
        row_type: (oid(5), oid(6)),
        acl: None,
        stored_query: None,
        triggers: Vec::new(),
        key_triggers: Vec::new(),
        replica_identity: ReplicaIdentity::default(),
    }
}
