//! `docs/functions.md`: which functions, operators, casts and aggregates of PostgreSQL 15 work, and which answer 0A000.
//!
//! The page says what the server says: each signature of `pg_proc`, `pg_operator` and `pg_cast` that a statement can call
//! is planned with arguments of its types, and not run. `UPDATE_GOLDEN=1` writes the page anew.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;
use tests::atoll::Atoll;
use tests::client::Client;
use tests::golden::assert_golden;

/// Functions that a statement can call: those of input, output and support take or give what no expression has.
const FUNCTIONS: &str = "
    SELECT p.proname, p.prokind::text || coalesce(a.aggkind::text, ''), p.provariadic <> 0,
        coalesce(a.aggnumdirectargs, 0)::text,
        (SELECT coalesce(string_agg(t::regtype::text, '|' ORDER BY n), '')
         FROM unnest(p.proargtypes::oid[]) WITH ORDINALITY AS x(t, n))
    FROM pg_proc p LEFT JOIN pg_aggregate a ON a.aggfnoid = p.oid
    WHERE p.pronamespace = 'pg_catalog'::regnamespace AND p.prokind <> 'p'
        AND NOT (p.proargtypes::oid[] || p.prorettype && ARRAY[2281, 2275, 2279, 3838, 2280, 3115, 325, 3310, 269]::oid[])
        AND NOT EXISTS (SELECT FROM pg_operator o WHERE o.oprcode = p.oid)
        AND NOT EXISTS (SELECT FROM pg_cast c WHERE c.castfunc = p.oid AND p.proname = ANY (
            SELECT typname FROM pg_type) )
        AND NOT EXISTS (SELECT FROM pg_amproc m WHERE m.amproc = p.oid)
        AND NOT EXISTS (SELECT FROM pg_aggregate g WHERE p.oid = ANY (ARRAY[
            g.aggtransfn, g.aggfinalfn, g.aggcombinefn, g.aggserialfn, g.aggdeserialfn, g.aggmtransfn,
            g.aggminvtransfn, g.aggmfinalfn]::oid[]) AND p.prokind = 'f')
    ORDER BY 1, 5, 2";

const OPERATORS: &str = "
    SELECT oprname, '', false, '0', CASE WHEN oprleft = 0 THEN '' ELSE oprleft::regtype::text || '|' END
        || oprright::regtype::text
    FROM pg_operator WHERE oprnamespace = 'pg_catalog'::regnamespace AND oprright <> 0 ORDER BY 1, 5";

const CASTS: &str = "
    SELECT castsource::regtype::text, '', false, '0', casttarget::regtype::text
    FROM pg_cast WHERE castsource <> casttarget ORDER BY 1, 5";

/// One row of the questions above.
struct Signature {
    name: String,
    kind: String,
    variadic: bool,
    direct: usize,
    arguments: Vec<String>,
}

fn signatures(client: &mut Client, sql: &str) -> Vec<Signature> {
    let reply = client.query(sql);
    assert!(reply.error.is_none(), "{:?}", reply.error);
    let signature = |row: Vec<Option<String>>| {
        let mut fields = row.into_iter().map(Option::unwrap_or_default);
        let mut next = || fields.next().expect("five columns");
        let (name, kind, variadic, direct, arguments) = (next(), next(), next(), next(), next());
        Signature {
            name,
            kind,
            variadic: variadic == "t",
            direct: direct.parse().expect("a number"),
            arguments: arguments
                .split('|')
                .filter(|ty| !ty.is_empty())
                .map(str::to_owned)
                .collect(),
        }
    };
    reply.rows.into_iter().map(signature).collect()
}

/// A value of a type: what stands for others is an int or an array of them.
fn value(ty: &str) -> String {
    let ty = match ty {
        "anyelement" | "anynonarray" | "anycompatible" | "anycompatiblenonarray" => "integer",
        "anyarray" | "anycompatiblearray" => "integer[]",
        "anyrange" | "anycompatiblerange" => "int4range",
        "anymultirange" | "anycompatiblemultirange" => "int4multirange",
        "anyenum" => "pg_temp_colour",
        "\"any\"" => "text",
        "record" => return "ROW(1, 2)::record".to_owned(),
        "record[]" => return "ARRAY[ROW(1, 2)]".to_owned(),
        other => other,
    };
    format!("NULL::{ty}")
}

fn call(signature: &Signature) -> String {
    let mut values: Vec<String> = signature.arguments.iter().map(|ty| value(ty)).collect();
    if signature.variadic
        && signature.arguments.last().is_some_and(|last| last != "\"any\"")
        && let Some(last) = values.last_mut()
    {
        last.insert_str(0, "VARIADIC ");
    }
    let name = format!("pg_catalog.\"{}\"", signature.name);
    match signature.kind.as_str() {
        "w" => format!("{name}({}) OVER (ORDER BY 1)", values.join(", ")),
        "ao" | "ah" => {
            let sorted = values.split_off(signature.direct.min(values.len()));
            let sorted = if sorted.is_empty() { values.clone() } else { sorted };
            format!("{name}({}) WITHIN GROUP (ORDER BY {})", values.join(", "), sorted.join(", "))
        }
        "an" if values.is_empty() => format!("{name}(*)"),
        _ => format!("{name}({})", values.join(", ")),
    }
}

/// Whether an expression can be planned; what is wrong with NULL is no want of an implementation.
fn works(client: &mut Client, expression: &str) -> bool {
    let reply = client.query(&format!("EXPLAIN SELECT {expression}"));
    !matches!(reply.sqlstate(), "0A000" | "42883" | "42704" | "42725" | "42846" | "42601")
}

/// The lines of a table: a name, with what it works, with what not.
fn table(
    page: &mut String,
    client: &mut Client,
    (title, first): (&str, &str),
    signatures: &[Signature],
    expression: impl Fn(&Signature) -> String,
) {
    let mut lines: BTreeMap<&str, [Vec<String>; 2]> = BTreeMap::new();
    let mut good = 0;
    for signature in signatures {
        let works = works(client, &expression(signature));
        good += usize::from(works);
        let shown = signature.arguments.join(", ");
        let shown = if shown.is_empty() { "()".to_owned() } else { shown };
        let places = lines.entry(&signature.name).or_default();
        let place = &mut places[usize::from(!works)];
        if !place.contains(&shown) {
            place.push(shown);
        }
    }
    let cell = |list: &[String]| list.join("; ").replace('|', "\\|");
    writeln!(page, "\n## {title}\n\n{good} of {} signatures work.\n", signatures.len())
        .expect("a string grows");
    writeln!(page, "| {first} | works | answers 0A000 |\n|---|---|---|").expect("a string grows");
    for (name, [works, wants]) in lines {
        let name = name.replace('|', "\\|");
        writeln!(page, "| `{name}` | {} | {} |", cell(&works), cell(&wants))
            .expect("a string grows");
    }
}

#[test]
fn the_page_of_functions_is_what_the_server_says() {
    let atoll = Atoll::start(&[]);
    let mut client = Client::connect(atoll.port(), "postgres", "postgres");
    client.run("CREATE TYPE pg_temp_colour AS ENUM ('red')");
    let mut page = "# Functions\n\nWhat PostgreSQL 15 has built in, and what of it works. Written by `tests/functions.rs`, \
        which plans a call of each\nsignature: `UPDATE_GOLDEN=1 cargo test -p tests --test functions`. What has no \
        implementation answers 0A000 and names itself.\n"
        .to_owned();
    let all = signatures(&mut client, FUNCTIONS);
    let (aggregates, functions): (Vec<_>, Vec<_>) =
        all.into_iter().partition(|signature| signature.kind.starts_with('a'));
    let (windows, functions): (Vec<_>, Vec<_>) =
        functions.into_iter().partition(|signature| signature.kind == "w");
    table(&mut page, &mut client, ("Functions", "function"), &functions, call);
    table(&mut page, &mut client, ("Aggregates", "aggregate"), &aggregates, call);
    table(&mut page, &mut client, ("Window functions", "function"), &windows, call);
    let operators = signatures(&mut client, OPERATORS);
    table(&mut page, &mut client, ("Operators", "operator"), &operators, |signature| {
        let operator = format!("OPERATOR(pg_catalog.{})", signature.name);
        match signature.arguments.as_slice() {
            [left, right] => format!("{} {operator} {}", value(left), value(right)),
            operands => format!("{operator} {}", value(&operands[0])),
        }
    });
    let casts = signatures(&mut client, CASTS);
    table(&mut page, &mut client, ("Casts", "from"), &casts, |signature| {
        format!("({})::{}", value(&signature.name), signature.arguments[0])
    });
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/functions.md");
    assert_golden(&path, "Atoll", &page, true);
}
