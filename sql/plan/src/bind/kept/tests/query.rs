//! Trees of queries to bytes and back.

use super::{Reader, damaged, numbers};
use crate::bind::kept::code::query::{ShapedTree, read_query, write_query};
use crate::bind::query::Outside;
use crate::bind::{Binder, Environment};
use crate::catalog::CatalogSnapshot;
use crate::catalog::object::well_known;
use crate::catalog::testing::catalog;
use crate::parse::parse_query;
use crate::sqlstate::SqlState;

/// One of each kind of part.
const QUERIES: &[&str] = &[
    "select distinct on (c.oid) c.*, c.relnatts + 1 as next from pg_class c where relname > 'a' order by c.oid desc nulls last limit 5 offset 1",
    "select relkind, count(*) filter (where relnatts > 1), grouping(relkind), sum(relnatts) over w, rank() over (w rows between 1 preceding and current row exclude ties) from pg_class group by grouping sets (relkind, rollup (relkind, (relnatts, relname)), cube (relname), ()) having count(*) > 1 window w as (partition by relkind order by relnatts)",
    "select j.* from (pg_class full join pg_type using (oid)) as j (o, n) cross join pg_proc left join pg_class d on d.oid = o and (d.relname, d.relkind) < ('a', 'b')",
    "select * from pg_class natural join pg_am, lateral (select relname || 'x' as y, relam) s, generate_series(1, relnatts) with ordinality g (i), rows from (unnest(array[1]), jsonb_to_recordset('[]') as (a int, b text)) r",
    "select oid = any (select oid from pg_type t where t.typrelid = c.oid), array(select 1), exists (select), (oid, relkind) in (select oid, relkind from pg_class), (oid, 1) < (select oid, 2 from pg_am limit 1) from pg_class c",
    "with recursive r (n) as materialized (select 1 union all select n + 1 from r) search breadth first by n set s cycle n set c to 'y' default 'n' using p, q as not materialized (values (1, null), (2, 'x')) select r, q.*, s from r, q as q (a, b), (select 1) z for update of z nowait",
    "(select 1, 'x' intersect all select 2, null) except (values (3, 'z') order by 2 fetch first 2 rows with ties)",
    "select x.* from xmltable(xmlnamespaces('u' as n), '/a' passing '<a/>' columns o for ordinality, v int path 'b' default 3 not null) x",
    "select t.a, (t).b, t from (select row(1, 'x') as a, 2 as b) t where true",
    "select (select max(c.relnatts) from pg_am) from pg_class c",
    "select c.tableoid, relname from pg_class c tablesample bernoulli (10) repeatable (3)",
];

fn tree(snapshot: &CatalogSnapshot, text: &str) -> Option<ShapedTree> {
    let path = [well_known::PG_CATALOG];
    let environment = Environment { catalog: snapshot, path: &path, constants: &Reader };
    let binder = Binder { keeps_trees: true, ..Binder::new(environment, text, &[]) };
    let parsed = parse_query(text).unwrap_or_else(|error| panic!("{text}: {error:?}"));
    let bound = binder.query(&parsed, Outside::NOTHING, None, true);
    let bound = bound.unwrap_or_else(|error| panic!("{text}: {error:?}"));
    let shapes = binder.records.borrow().clone();
    bound.tree.map(|tree| (shapes, tree))
}

#[test]
fn a_query_comes_back_as_it_was_and_nothing_else_is_one() {
    let catalog = catalog();
    let snapshot = catalog.snapshot(well_known::POSTGRES).expect("the database is there");
    let mut number = numbers();
    for text in QUERIES {
        let tree = tree(&snapshot, text).expect("it was to be kept");
        let bytes = write_query(&snapshot, &tree, Some(&tree)).expect("it can be stored");
        let read = read_query(&snapshot, &bytes).expect("it is a tree");
        let (run, shown) = &*read.trees;
        let again = write_query(&snapshot, run, shown.as_ref()).expect("it can be stored");
        assert_eq!(bytes, again, "{text}");
        for end in (0..bytes.len()).step_by(5) {
            let error = read_query(&snapshot, &bytes[..end]).map(drop);
            let error = error.expect_err("it has no end");
            assert_eq!(error.state(), SqlState::DATA_CORRUPTED);
        }
        for _ in 0..100 {
            let _ = read_query(&snapshot, &damaged(&bytes, &mut number));
        }
    }
    // Queries in FROM of each other, 100,000 deep.
    let deep = [1, 10, 0].into_iter().chain([0, 1, 1, 3].repeat(100_000));
    let error = read_query(&snapshot, &deep.collect::<Vec<u8>>()).map(drop);
    assert_eq!(error.expect_err("it is none").state(), SqlState::DATA_CORRUPTED);
}
