//! The tables that queries are about: made by seed, small, full of NULLs and of values that meet.

use std::fmt::Write as _;
use tests::chance::Chance;

/// What an expression is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Type {
    Int,
    Big,
    /// `numeric`, of two digits behind the point: values that are equal look the same.
    Num,
    /// `float8`, in halves: sums are the same in any order.
    Float,
    Text,
    Bool,
    Date,
    Stamp,
    Ints,
    Json,
    Mood,
}

pub const TYPES: [Type; 11] = [
    Type::Int,
    Type::Text,
    Type::Bool,
    Type::Num,
    Type::Big,
    Type::Float,
    Type::Date,
    Type::Stamp,
    Type::Ints,
    Type::Json,
    Type::Mood,
];

impl Type {
    /// Its name in SQL.
    pub fn name(self) -> &'static str {
        match self {
            Type::Int => "int",
            Type::Big => "bigint",
            Type::Num => "numeric",
            Type::Float => "float8",
            Type::Text => "text",
            Type::Bool => "bool",
            Type::Date => "date",
            Type::Stamp => "timestamp",
            Type::Ints => "int[]",
            Type::Json => "jsonb",
            Type::Mood => "mood",
        }
    }
}

/// What may be read by name.
#[derive(Clone, Debug)]
pub struct Table {
    pub name: String,
    pub columns: Vec<(String, Type)>,
    /// How many of the last columns nobody writes.
    pub computed: usize,
}

/// The columns that tables draw from: of one name and one type wherever they are, so that USING and NATURAL find them.
const POOL: [(&str, Type, &str); 14] = [
    ("i", Type::Int, "int"),
    ("j", Type::Int, "int"),
    ("l", Type::Int, "smallint"),
    ("e", Type::Int, "whole"),
    ("k", Type::Big, "bigint"),
    ("n", Type::Num, "numeric(8,2)"),
    ("f", Type::Float, "float8"),
    ("s", Type::Text, "text"),
    ("v", Type::Text, "varchar(8)"),
    ("b", Type::Bool, "bool"),
    ("d", Type::Date, "date"),
    ("w", Type::Stamp, "timestamp"),
    ("xs", Type::Ints, "int[]"),
    ("js", Type::Json, "jsonb"),
];

/// A value of the few that a type has here, as a literal that names its type or leaves it open.
pub fn literal(chance: &mut Chance, ty: Type) -> String {
    let open = chance.below(3) == 0;
    let pick = |chance: &mut Chance, all: &[&str]| all[chance.below(all.len())].to_owned();
    match ty {
        Type::Int => {
            pick(chance, &["0", "1", "2", "3", "4", "5", "7", "-1", "10", "'3'::int", "(-2)"])
        }
        Type::Big => {
            pick(chance, &["0::bigint", "'1'::bigint", "2::int8", "bigint '5'", "40::bigint"])
        }
        Type::Num => pick(chance, &["0.00", "1.00", "2.50", "-1.25", "3.00", "10.10"]),
        Type::Float => {
            pick(chance, &["0::float8", "'1.5'::float8", "2.5::float8", "(-0.5)::float8"])
        }
        Type::Text => {
            let text =
                pick(chance, &["'a'", "'b'", "'ab'", "'ba'", "''", "'c'", "'A'", "'abc'", "'3'"]);
            if open { text } else { format!("{text}::text") }
        }
        Type::Bool => pick(chance, &["true", "false", "'t'::bool", "NULL::bool"]),
        Type::Date => pick(
            chance,
            &[
                "date '2024-01-31'",
                "'2024-02-29'::date",
                "date '2023-12-31'",
                "make_date(2024, 1, 1)",
            ],
        ),
        Type::Stamp => pick(
            chance,
            &[
                "timestamp '2024-01-31 10:00'",
                "'2024-02-29'::timestamp",
                "timestamp '2023-12-31 23:59:59.5'",
            ],
        ),
        Type::Ints => pick(
            chance,
            &["'{}'::int[]", "ARRAY[1, 2]", "'{1,NULL,3}'::int[]", "ARRAY[3]", "'{2,1}'::int[]"],
        ),
        Type::Json => pick(
            chance,
            &[
                "'{\"a\": 1}'::jsonb",
                "'[1, 2]'::jsonb",
                "'{\"a\": \"b\", \"b\": null}'::jsonb",
                "'3'::jsonb",
                "'\"a\"'::jsonb",
            ],
        ),
        Type::Mood => pick(chance, &["'sad'::mood", "'ok'::mood", "mood 'happy'"]),
    }
}

/// What is made of a seed: its statements, and what can be read behind them.
pub struct World {
    pub statements: Vec<String>,
    pub tables: Vec<Table>,
}

impl World {
    pub fn new(chance: &mut Chance) -> World {
        let mut statements = vec![
            "CREATE TYPE mood AS ENUM ('sad', 'ok', 'happy')".to_owned(),
            "CREATE TYPE pair AS (a int, b text)".to_owned(),
            "CREATE DOMAIN whole AS int CHECK (VALUE > -1000000)".to_owned(),
            "CREATE DOMAIN word AS text COLLATE \"C\"".to_owned(),
        ];
        let mut tables: Vec<Table> = Vec::new();
        for number in 0..chance.below(3) + 2 {
            let made = table(chance, &format!("t{number}"), &tables, &mut statements);
            tables.push(made);
        }
        for number in 0..tables.len() {
            if chance.below(3) == 0 {
                let made = view(chance, number, &tables[number], &mut statements);
                tables.push(made);
            }
        }
        for method in [
            "hashjoin",
            "mergejoin",
            "nestloop",
            "hashagg",
            "sort",
            "indexscan",
            "bitmapscan",
            "seqscan",
        ] {
            if chance.below(12) == 0 {
                statements.push(format!("SET enable_{method} = off"));
            }
        }
        World { statements, tables }
    }
}

/// A view that can be changed: some columns of a table, and of some of its rows.
fn view(chance: &mut Chance, number: usize, table: &Table, statements: &mut Vec<String>) -> Table {
    let written = table.columns.len() - table.computed;
    let mut columns = vec![table.columns[0].clone()];
    columns.extend(table.columns[1..written].iter().filter(|_| chance.below(3) > 0).cloned());
    let names: Vec<&str> = columns.iter().map(|(name, _)| name.as_str()).collect();
    let of = &columns[chance.below(columns.len())].0;
    let condition = match chance.below(4) {
        0 => "id > 1".to_owned(),
        1 => format!("{of} IS NOT NULL"),
        2 => "id % 2 = 0".to_owned(),
        _ => "id < 200".to_owned(),
    };
    let check = ["", "", " WITH CHECK OPTION", " WITH LOCAL CHECK OPTION"][chance.below(4)];
    statements.push(format!(
        "CREATE VIEW u{number} AS SELECT {} FROM {} WHERE {condition}{check}",
        names.join(", "),
        table.name
    ));
    Table { name: format!("u{number}"), columns, computed: 0 }
}

fn table(chance: &mut Chance, name: &str, others: &[Table], statements: &mut Vec<String>) -> Table {
    let mut columns = vec![("id".to_owned(), Type::Int)];
    let mut declared = vec!["id int".to_owned()];
    declared[0].push_str([" PRIMARY KEY", " UNIQUE", " NOT NULL", ""][chance.below(4)]);
    for (column, ty, full) in POOL {
        if chance.below(2) == 0 {
            columns.push((column.to_owned(), ty));
            let default = match chance.below(5) {
                0 => format!(" DEFAULT {}", literal(chance, ty)),
                _ => String::new(),
            };
            declared.push(format!("{column} {full}{default}"));
        }
    }
    if chance.below(3) == 0 {
        let of = &columns[chance.below(columns.len())].0;
        let check = ["id < 100000", "id IS NOT NULL"][chance.below(2)];
        declared.push(format!("CHECK ({of} IS NULL OR {check})"));
    }
    // The first table's key, if it has one.
    let parent = others.first().filter(|_| chance.below(2) == 0);
    if let Some(parent) = parent {
        let action = |chance: &mut Chance| {
            ["NO ACTION", "RESTRICT", "CASCADE", "SET NULL", "SET DEFAULT"][chance.below(5)]
        };
        let (deletes, updates) = (action(chance), action(chance));
        let deferred = ["", "", " DEFERRABLE INITIALLY DEFERRED"][chance.below(3)];
        declared.push(format!(
            "r int REFERENCES {} (id) ON DELETE {deletes} ON UPDATE {updates}{deferred}",
            parent.name
        ));
        columns.push(("r".to_owned(), Type::Int));
    }
    if chance.below(4) == 0 {
        columns.push(("m".to_owned(), Type::Mood));
        declared.push("m mood".to_owned());
    }
    let computed = usize::from(chance.below(3) == 0);
    if computed > 0 {
        let (ty, full) = match chance.below(3) {
            0 => (Type::Int, "int GENERATED ALWAYS AS (id * 2 + 1) STORED"),
            1 => (Type::Text, "text GENERATED ALWAYS AS ('g' || id::text) STORED"),
            _ => (Type::Bool, "bool GENERATED ALWAYS AS (id % 2 = 0) STORED"),
        };
        columns.push(("g".to_owned(), ty));
        declared.push(format!("g {full}"));
    }
    if chance.below(4) == 0 {
        // It has gone again: places of columns and their numbers differ.
        declared.insert(1, "gone text DEFAULT 'gone'".to_owned());
    }
    statements.push(format!("CREATE TABLE {name} ({})", declared.join(", ")));
    let rows = [0, 1, 3, 6, 9, 12][chance.below(6)];
    let written = &columns[..columns.len() - computed];
    let names: Vec<&str> = written.iter().map(|(name, _)| name.as_str()).collect();
    for id in 0..rows {
        let mut values = vec![id.to_string()];
        for (column, ty) in &written[1..] {
            values.push(match (column.as_str(), chance.below(4)) {
                (_, 0) => "NULL".to_owned(),
                ("r", key) => key.to_string(),
                _ => literal(chance, *ty),
            });
        }
        statements.push(format!(
            "INSERT INTO {name} ({}) VALUES ({})",
            names.join(", "),
            values.join(", ")
        ));
    }
    if declared[1..].iter().any(|column| column.starts_with("gone")) {
        statements.push(format!("ALTER TABLE {name} DROP COLUMN gone"));
    }
    for number in 0..chance.below(4) {
        let column = &columns[chance.below(columns.len())];
        if column.1 == Type::Json {
            continue;
        }
        let mut index = format!("CREATE INDEX {name}_{number} ON {name} ({}", column.0);
        if chance.below(3) == 0 {
            let other = &columns[chance.below(columns.len())];
            if other.1 != Type::Json {
                write!(index, ", {}{}", other.0, ["", " DESC", " NULLS FIRST"][chance.below(3)])
                    .expect("a string grows");
            }
        }
        index.push(')');
        if chance.below(3) == 0 {
            let of = &columns[chance.below(columns.len())];
            let predicate = match chance.below(4) {
                0 => "id > 2".to_owned(),
                1 => "id IS NOT NULL".to_owned(),
                2 => format!("{} IS NOT NULL", of.0),
                _ => format!("{} IS NULL", of.0),
            };
            write!(index, " WHERE {predicate}").expect("a string grows");
        }
        statements.push(index);
    }
    if chance.below(2) == 0 {
        statements.push(format!("ANALYZE {name}"));
    }
    Table { name: name.to_owned(), columns, computed }
}
