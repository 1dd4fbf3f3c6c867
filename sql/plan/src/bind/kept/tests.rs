//! Trees to bytes and back: what is written is what is read, over other columns too; whatever else bytes are, they are refused.

mod query;

use super::{Tree, code, copy, open, store, text};
use crate::bind::clause::CHECK;
use crate::bind::{Constants, Environment, Expr, Literal, Wanted, bind_stored, value_relation};
use crate::catalog::built_in_domain;
use crate::catalog::definition::{Edge, Edges, Expression};
use crate::catalog::object::well_known;
use crate::catalog::testing::{self, catalog, table};
use crate::catalog::{CatalogSnapshot, Relation};
use crate::error::Result;
use crate::parse::parse_expression;
use crate::sqlstate::SqlState;
use crate::types::no_session::with_context;
use crate::types::{Oid, SqlType, oids, read_text};
use std::sync::Arc;

/// One of each kind of part, over the columns of the table of the tests.
const TEXTS: &[&str] = &[
    "a > 0",
    "a > 0 and b is not null or not (up is distinct from a)",
    "b in ('x', 'y') and (a, up) < (1, 2)",
    "case a when 1 then b when 2 then 'z' else coalesce(b, 'w') end = 'z'",
    "nullif(greatest(a, up, 3), least(1, 2)) between -2147483648 and 9223372036854775807",
    "(array[a, up])[1] = any (array[1, 2, null]) and (array[a, 2])[1:2] <> '{}'::int8[]::int[]",
    "b::text like 'x%' collate \"C\" and upper(b) || a <> trim(both from b)",
    "current_date > date '2000-01-01' and current_timestamp(3) < 'infinity'::timestamptz",
    "1.5e0::float4 < 2.5::float8 and '1 day 02:03:04'::interval > '0' and 12.34 > a",
    "row(a, b) is not null and t is not null and tableoid > 0",
    "'\\x00ff'::bytea <> '' and uuid 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11' is not null",
    "jsonb '{\"k\": [1, null]}' -> 'k' is not null and ('1'::jsonb)['k'] is null",
    "xmlserialize(content xmlelement(name e, xmlattributes(a as x), b) as text) is not null",
    "timetz '01:02:03+04' > '00:00+00' and time '01:02' > '00:00' and true is not unknown",
    "\"char\" 'c' <> 'd' and a::oid > 5 and a::bool and 'x'::varchar(3) <> ''",
];

struct Reader;

impl Constants for Reader {
    fn read(&self, ty: SqlType, text: &str) -> Result<Literal> {
        with_context(|context| read_text(context, ty, text).map(|datum| Literal::of(&datum)))
    }
}

fn bound_as(
    snapshot: &CatalogSnapshot,
    relation: Option<&Relation>,
    text: &str,
    (wanted, clause): (Wanted<'_>, &'static str),
) -> Expr {
    let path = [well_known::PG_CATALOG];
    let environment = Environment { catalog: snapshot, path: &path, constants: &Reader };
    let parsed = parse_expression(text).expect("it is an expression");
    let bound = bind_stored(environment, text, &parsed, relation, wanted, clause);
    bound.unwrap_or_else(|error| panic!("{text}: {error:?}"))
}

fn bound(snapshot: &CatalogSnapshot, relation: &Relation, text: &str) -> Tree {
    let wanted = (Wanted::Condition("CHECK"), CHECK);
    Tree { bound: bound_as(snapshot, Some(relation), text, wanted), written: None }
}

fn kept(snapshot: &CatalogSnapshot, relation: &Relation, text: &str) -> Expression {
    let tree = bound(snapshot, relation, text);
    store(snapshot, Some(relation), &tree, Edges::new(Vec::new())).expect("it can be stored")
}

fn shown(snapshot: &CatalogSnapshot, relation: &Relation, expression: &Expression) -> String {
    with_context(|context| {
        text(snapshot, (None, false), context, Some(relation), expression).expect("it is a tree")
    })
}

#[test]
fn a_tree_comes_back_as_it_was() {
    let (catalog, relation) = (catalog(), table(20_000));
    let snapshot = catalog.snapshot(well_known::POSTGRES).expect("the database is there");
    for text in TEXTS {
        let expression = kept(&snapshot, &relation, text);
        let opened = open(&snapshot, Some(&relation), &expression).expect("it is a tree");
        let again = code::write(&snapshot, Some(&relation), &opened, &|number| number);
        assert_eq!(expression.tree(), &*again.expect("it can be stored"), "{text}");
        let same = open(&snapshot, Some(&relation), &expression).expect("it is a tree");
        assert!(Arc::ptr_eq(&opened, &same), "it is decoded once: {text}");
    }
    let check = kept(&snapshot, &relation, "a > 0");
    assert_eq!(check.tree(), testing::CHECK, "what the catalog's tests have");
}

#[test]
fn what_the_catalog_has_from_the_beginning_is_what_is_stored() {
    let catalog = catalog();
    let snapshot = catalog.snapshot(well_known::POSTGRES).expect("the database is there");
    let stored = |text: &str, ty: SqlType| {
        let value = Some(value_relation(ty)).filter(|_| text.to_uppercase().contains("VALUE"));
        let (value, none) = (value.as_ref(), Edges::new(Vec::new()));
        let wanted = match value {
            Some(_) => Wanted::Condition("CHECK"),
            None => Wanted::Default(ty, ""),
        };
        let bound = bound_as(&snapshot, value, text, (wanted, CHECK));
        let tree = Tree { bound, written: None };
        let stored = store(&snapshot, value, &tree, none).expect("it can be stored");
        let how = (None, false);
        let shown = with_context(|context| super::text(&snapshot, how, context, value, &stored));
        (stored.tree().to_vec(), shown.expect("it is a tree"))
    };
    let varchar = SqlType { oid: Oid(oids::VARCHAR), typmod: 14 };
    assert_eq!(stored("'x'", varchar).0, testing::DEFAULT);
    for (text, ty, tree) in built_in_domain::TREES {
        // As the list of an IN it is printed so.
        let said = if text.contains("ANY") { "value in ('YES', 'NO')" } else { text };
        assert_eq!(stored(said, ty), (tree.to_vec(), text.to_owned()));
    }
}

#[test]
fn columns_are_numbers_and_the_row_is_whatever_columns_there_are() {
    let (catalog, mut relation) = (catalog(), table(20_000));
    let snapshot = catalog.snapshot(well_known::POSTGRES).expect("the database is there");
    let expression = kept(&snapshot, &relation, "up > 1 and t is not null");
    assert_eq!(shown(&snapshot, &relation, &expression), "((up > 1) AND (t.* IS NOT NULL))");
    relation.columns[1].dropped = true;
    relation.columns[2].name = "down".into();
    let expression = expression.clone();
    assert_eq!(shown(&snapshot, &relation, &expression), "((down > 1) AND (t.* IS NOT NULL))");
    // A copy has its columns elsewhere.
    let source = kept(&snapshot, &relation, "down > 1");
    let source = Expression::new(source.tree().into(), Edges::new(vec![Edge::Own(3)]));
    let copied = copy(&snapshot, &relation, &source, &|_| 0).expect("it is a tree");
    assert_eq!(shown(&snapshot, &relation, &copied), "(a > 1)");
    assert_eq!(copied.edges().own(), [1]);
}

/// Numbers below what is asked for, the same at each run.
fn numbers() -> impl FnMut(usize) -> usize {
    let mut random = 0x9e37_79b9_7f4a_7c15_u64;
    move |below| {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        (random % below as u64) as usize
    }
}

/// Bytes of which one to three are others, or gone.
fn damaged(bytes: &[u8], number: &mut impl FnMut(usize) -> usize) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    for _ in 0..=number(3) {
        let at = number(bytes.len());
        match number(3) {
            0 => bytes[at] ^= 1 << number(8),
            1 => bytes[at] = number(256) as u8,
            _ => drop(bytes.remove(at)),
        }
        if bytes.is_empty() {
            break;
        }
    }
    bytes
}

#[test]
fn whatever_bytes_are_they_overflow_nothing() {
    let (catalog, relation) = (catalog(), table(20_000));
    let snapshot = catalog.snapshot(well_known::POSTGRES).expect("the database is there");
    let read = |bytes: &[u8]| code::read(&snapshot, Some(&relation), bytes).map(drop);
    let refused = |bytes: &[u8]| {
        let error = read(bytes).expect_err("these are no tree");
        assert_eq!(error.state(), SqlState::DATA_CORRUPTED);
    };
    // NOT of NOT, 100,000 deep: it says so, or it says that it is less, or there is an end.
    let deep = vec![8; 100_000];
    for height in [&[0xa0_u8, 0x8d, 0x06][..], &[10], &[0xf0, 0x2e]] {
        refused(&[&[1], height, &deep].concat());
    }
    refused(&[2, 1, 1, 0, 23, 1, 0]);
    let mut number = numbers();
    for text in TEXTS {
        let expression = kept(&snapshot, &relation, text);
        let tree = expression.tree();
        (0..tree.len()).for_each(|end| refused(&tree[..end]));
        for _ in 0..500 {
            let _ = read(&damaged(tree, &mut number));
        }
    }
}
