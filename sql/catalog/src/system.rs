//! The system relations: `pg_catalog` and `information_schema` with the columns of PostgreSQL 15.
//!
//! Tables, and those views whose contents only the server knows or that every client asks for, are served from the
//! snapshot ([`RelationKind::System`]); all other views are what PostgreSQL's own definitions say, over these
//! ([`RelationKind::View`]). They have no records, no locks worth waiting for, and the OIDs they have in PostgreSQL, which
//! `regclass` and drivers rely on.

use crate::builtin;
use crate::definition::{Definition, ViewQuery};
use crate::object::{Version, well_known};
use crate::relation::{Column, Relation, RelationKind, ReplicaIdentity};
use sql_types::{Oid, SqlType};
use std::collections::HashMap;
use std::sync::{Arc, LazyLock};

/// Views that are served from the snapshot all the same, as their definitions ask functions of PostgreSQL's internals.
const SERVED_VIEWS: &[&str] = &[
    "pg_cursors",
    "pg_locks",
    "pg_prepared_statements",
    "pg_prepared_xacts",
    "pg_publication_tables",
    "pg_settings",
    "pg_stats",
    "pg_stats_ext",
    "pg_stats_ext_exprs",
    "pg_timezone_abbrevs",
    "pg_timezone_names",
];

/// Whether a system relation is a view, whose rows are made as those of the tables are.
#[must_use]
pub fn is_served_view(relation: &Relation) -> bool {
    matches!(relation.kind, RelationKind::System) && SERVED_VIEWS.contains(&&*relation.name)
}

struct System {
    by_oid: HashMap<Oid, Arc<Relation>>,
    names: HashMap<(Oid, &'static str), Oid>,
    /// By the types of their rows.
    row_types: HashMap<Oid, Oid>,
}

static SYSTEM: LazyLock<System> = LazyLock::new(build);

/// The columns that a generated file gives a table of `pg_class` and `pg_attribute` rows.
fn build() -> System {
    let table = |name| builtin::relation(name).expect("every system table has its generated file");
    let mut views: HashMap<&str, Arc<str>> = HashMap::new();
    for row in table("views").rows() {
        let oid = row.fields().next().flatten().expect("views.tsv has two columns");
        views.insert(oid, row.get(1).expect("views.tsv has two columns").into());
    }
    let mut columns: HashMap<u32, Vec<Column>> = HashMap::new();
    for row in table("pg_attribute").rows() {
        let fields: Vec<&str> = row.fields().map(Option::unwrap_or_default).collect();
        let number = |at: usize| fields[at].parse::<i64>().expect("a number");
        if number(5) > 0 {
            let ty = SqlType { oid: Oid(number(2) as u32), typmod: number(8) as i32 };
            columns.entry(number(0) as u32).or_default().push(Column {
                not_null: fields[13] == "t",
                ..Column::plain(fields[1].into(), ty, Oid(number(21) as u32))
            });
        }
    }
    let mut system =
        System { by_oid: HashMap::new(), names: HashMap::new(), row_types: HashMap::new() };
    for row in table("pg_class").rows() {
        let fields: Vec<&'static str> = row.fields().map(Option::unwrap_or_default).collect();
        let (name, kind) = (fields[1], fields[16]);
        let schema = Oid(fields[2].parse().expect("a number"));
        let number: u32 = fields[0].parse().expect("a number");
        let schema_name = match schema {
            well_known::PG_CATALOG => "pg_catalog",
            _ if fields[2] != "99" => "information_schema",
            _ => continue,
        };
        let kind = match kind {
            "r" => RelationKind::System,
            "v" if SERVED_VIEWS.contains(&name) => RelationKind::System,
            "v" => RelationKind::View {
                query: ViewQuery::Text(Definition::new(Arc::clone(&views[fields[0]]), Vec::new())),
            },
            _ => continue,
        };
        let oid = Oid(number);
        system.names.insert((schema, name), oid);
        let relation = Relation {
            oid,
            schema: (schema, schema_name.into()),
            name: name.into(),
            owner: well_known::SUPERUSER,
            kind,
            columns: columns.remove(&number).unwrap_or_default(),
            indexes: Vec::new(),
            constraints: Vec::new(),
            referenced_by: Vec::new(),
            version: Version::NONE,
            lock: Relation::lock_of(Oid(0), oid),
            row_estimate: -1.0,
            options: Vec::new(),
            persistence: 'p',
            row_type: (Oid(fields[3].parse().expect("a number")), Oid(0)),
            acl: None,
            stored_query: None,
            triggers: Vec::new(),
            key_triggers: Vec::new(),
            replica_identity: ReplicaIdentity::default(),
        };
        if relation.row_type.0.0 != 0 {
            system.row_types.insert(relation.row_type.0, oid);
        }
        system.by_oid.insert(oid, Arc::new(relation));
    }
    system
}

/// A system relation by OID.
#[must_use]
pub fn relation(oid: Oid) -> Option<&'static Arc<Relation>> {
    // Users' objects have higher OIDs: their statements do not wait for the table to be built.
    if oid.0 >= well_known::FIRST_NORMAL {
        return None;
    }
    SYSTEM.by_oid.get(&oid)
}

/// The system relation whose rows have this type.
#[must_use]
pub fn with_row_type(ty: Oid) -> Option<&'static Arc<Relation>> {
    // Most types that are asked for have no rows, and 0 is no type.
    if ty.0 == 0 || ty.0 >= well_known::FIRST_NORMAL {
        return None;
    }
    relation(*SYSTEM.row_types.get(&ty)?)
}

/// The system relation called `name` in one of the two schemas.
#[must_use]
pub fn named(schema: Oid, name: &str) -> Option<Oid> {
    if schema.0 >= well_known::FIRST_NORMAL {
        return None;
    }
    // The key's lifetime is that of the static names; a lookup compares only contents.
    let system: &HashMap<(Oid, &str), Oid> = &SYSTEM.names;
    system.get(&(schema, name)).copied()
}

/// All system relations.
pub fn relations() -> impl Iterator<Item = &'static Arc<Relation>> {
    SYSTEM.by_oid.values()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pg_class_is_itself() {
        let relation = relation(well_known::PG_CLASS).unwrap();
        assert_eq!(&*relation.name, "pg_class");
        assert_eq!(relation.columns.len(), 33);
        assert_eq!(named(well_known::PG_CATALOG, "pg_class"), Some(well_known::PG_CLASS));
        assert_eq!(relation.column("relname"), Some(1));
    }

    #[test]
    fn information_schema_views_have_definitions() {
        let tables = relations().find(|relation| &*relation.name == "tables").unwrap();
        assert_eq!(&*tables.schema.1, "information_schema");
        let Some(ViewQuery::Text(text)) = tables.query() else { panic!("it is a text") };
        assert!(text.contains("pg_class"));
    }
}
