//! The binder against PostgreSQL 15: `golden/statements.sql`, and what PostgreSQL makes of each (`golden/generate.py`).
//! Types and names of columns, types of parameters, errors with their places and hints.

use super::{BoundStatement, Constants, Environment, Literal, bind};
use crate::catalog::object::well_known;
use crate::catalog::testing::{begin, catalog, table};
use crate::catalog::{CatalogSnapshot, CatalogTransaction, SearchPath};
use crate::error::{Result, SqlError};
use crate::parse::parse;
use crate::types::no_session::with_context;
use crate::types::{Oid, SqlType, read_text};
use std::fmt::Write;

struct Reader<'a> {
    catalog: &'a CatalogSnapshot,
    path: &'a [Oid],
}

impl Constants for Reader<'_> {
    fn read(&self, ty: SqlType, text: &str) -> Result<Literal> {
        if ty.oid.0 == crate::types::oids::REGCLASS {
            let found = self.catalog.find_relation(self.path, text);
            return found.map(|relation| Literal::Oid(relation.oid.0)).ok_or_else(|| {
                SqlError::new(
                    crate::sqlstate::SqlState::UNDEFINED_TABLE,
                    format!("relation \"{text}\" does not exist"),
                )
            });
        }
        with_context(|context| read_text(context, ty, text).map(|datum| Literal::of(&datum)))
    }
}

/// What the binder makes of a statement, in the form of the expected file.
fn answer(catalog: &CatalogSnapshot, path: &[Oid], text: &str) -> String {
    let environment = Environment { catalog, path, constants: &Reader { catalog, path } };
    let bound = parse(text).and_then(|parsed| bind(environment, text, &parsed[0].statement, &[]));
    let name = |ty: SqlType| super::type_name::format_type(catalog, Some(path), ty);
    match bound {
        Ok(bound) => {
            let parameters: Vec<String> = bound.parameters.iter().map(|&ty| name(ty)).collect();
            let columns: Vec<String> = match &bound.statement {
                BoundStatement::Query(query) => query
                    .output
                    .iter()
                    .map(|column| format!("{}:{}", column.name, name(column.ty)))
                    .collect(),
                BoundStatement::Modify(modify) => modify
                    .returning
                    .iter()
                    .flatten()
                    .map(|(_, column)| format!("{}:{}", column.name, name(column.ty)))
                    .collect(),
            };
            format!("= {} | {}\n", parameters.join(", "), columns.join(", "))
        }
        Err(error) => {
            let fields = error.fields();
            let mut answer =
                format!("! {} {} {}\n", fields.state, fields.position.unwrap_or(0), fields.message);
            if let Some(hint) = &fields.hint {
                writeln!(answer, "? {hint}").unwrap();
            }
            answer
        }
    }
}

#[test]
fn statements_mean_what_postgresql_says() {
    let catalog = catalog();
    let mut own = CatalogTransaction::new(&catalog, well_known::POSTGRES).unwrap();
    let mut transaction = begin(&catalog);
    own.put_relation(&mut transaction, table(20_000)).unwrap();
    let snapshot = own.snapshot();
    let path = SearchPath::resolve(snapshot, "\"$user\", public", well_known::SUPERUSER);
    let mut expected = include_str!("golden/expected.txt").lines().peekable();
    let mut wrong = String::new();
    let mut count = 0;
    while let Some(statement) = expected.next() {
        let mut wanted = String::new();
        while let Some(line) = expected.next_if(|line| {
            line.starts_with("= ") || line.starts_with("! ") || line.starts_with("? ")
        }) {
            wanted.push_str(line);
            wanted.push('\n');
        }
        let found = answer(snapshot, &path.schemas, statement);
        let fails_when_run = wanted.ends_with("fails when run\n") && found.starts_with("= ");
        if found != wanted && !fails_when_run {
            count += 1;
            write!(wrong, "{statement}\nPostgreSQL {wanted}Atoll      {found}\n").unwrap();
        }
    }
    assert!(wrong.is_empty(), "{count} statements differ:\n{wrong}");
}
