//! The domains of `information_schema` that demand something of their values (manual, section 37.2): what they are over, and
//! their CHECKs; and that of `earthdistance`, whose conditions are computed (`sql_types::contrib::earthdistance`). The others (`sql_identifier`, `character_data`) are no more than their base types, and are taken for these.

use crate::builtin::copy_text::{self, Row};
use crate::builtin::{is_built_in_domain, type_by_oid};
use crate::definition::{Edges, Expression};
use crate::user_type::{Domain, DomainCheck};
use sql_types::{Oid, SqlType};
use std::collections::HashMap;
use std::sync::LazyLock;

/// What they say, as PostgreSQL prints it, of values of which type, and as the binder stores it.
pub const TREES: [(&str, SqlType, &[u8]); 3] = [
    (
        "CURRENT_TIMESTAMP(2)",
        SqlType { oid: Oid(1184), typmod: 2 },
        &[1, 1, 26, 3, 1, 2, 160, 9, 4, 0],
    ),
    (
        "(VALUE >= 0)",
        SqlType { oid: Oid(23), typmod: -1 },
        &[1, 2, 5, 150, 1, 2, 2, 2, 23, 1, 1, 3, 0, 23, 1, 16, 1, 2, 141, 4, 0],
    ),
    (
        "((VALUE)::text = ANY ((ARRAY['YES'::character varying, 'NO'::character varying])::text[]))",
        SqlType { oid: Oid(1043), typmod: 7 },
        &[
            1, 4, 24, 19, 2, 2, 147, 8, 14, 25, 1, 98, 67, 19, 22, 2, 1, 9, 3, 89, 69, 83, 147, 8,
            1, 1, 9, 2, 78, 79, 147, 8, 1, 247, 7, 1, 241, 7, 1, 1, 0,
        ],
    ),
];

/// What one of them says as a tree.
fn expression_of(text: &str) -> Option<Expression> {
    let (.., tree) = TREES.iter().find(|(known, ..)| *known == text)?;
    Some(Expression::new((*tree).into(), Edges::new(Vec::new())))
}

static DOMAINS: LazyLock<HashMap<u32, Domain>> = LazyLock::new(|| {
    let mut all = HashMap::new();
    let Some(types) = copy_text::relation("pg_type") else { return all };
    let number = |row: Row, column: usize| {
        row.get(column).and_then(|text| text.parse::<u32>().ok()).unwrap_or(0)
    };
    let place = |columns: Vec<&str>, name: &str| columns.iter().position(|known| *known == name);
    let default = place(types.columns().collect(), "typdefault");
    for row in types.rows() {
        let oid = number(row, 0);
        let Some(ty) = type_by_oid(oid).filter(|_| is_built_in_domain(oid)) else { continue };
        let base = SqlType { oid: Oid(ty.base), typmod: ty.base_typmod };
        let default = default.and_then(|at| row.get(at)).and_then(|text| expression_of(&text));
        let collation = Oid(crate::builtin::collation_of(ty.base));
        let checks = Vec::new();
        let domain = Domain { base, collation, dimensions: 0, not_null: false, default, checks };
        all.insert(oid, domain);
    }
    let base = SqlType::plain(sql_types::oids::CUBE);
    let (collation, checks) = (Oid(0), Vec::new());
    let earth = Domain { base, collation, dimensions: 0, not_null: false, default: None, checks };
    all.insert(sql_types::oids::EARTH, earth);
    let Some(constraints) = copy_text::relation("pg_constraint") else { return all };
    let columns: Vec<&str> = constraints.columns().collect();
    let (Some(of_type), Some(definition)) =
        (place(columns.clone(), "contypid"), place(columns, "conbin"))
    else {
        return all;
    };
    for row in constraints.rows() {
        let Some(domain) = all.get_mut(&number(row, of_type)) else { continue };
        let text = row.get(definition).unwrap_or_default();
        let condition = text.strip_prefix("CHECK (").and_then(|text| text.strip_suffix(')'));
        let Some(condition) = condition.and_then(expression_of) else { continue };
        domain.checks.push(DomainCheck {
            oid: Oid(number(row, 0)),
            name: row.get(1).unwrap_or_default().as_ref().into(),
            condition,
            validated: true,
        });
    }
    all
});

/// The one with this OID.
#[must_use]
pub fn domain(oid: u32) -> Option<&'static Domain> {
    DOMAINS.get(&oid)
}

/// The CHECK with this OID, and its domain.
#[must_use]
pub fn check(oid: Oid) -> Option<(&'static Domain, &'static DomainCheck)> {
    DOMAINS
        .values()
        .find_map(|domain| Some((domain, domain.checks.iter().find(|check| check.oid == oid)?)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn they_are_those_that_demand_something() {
        let told = |name: &str| {
            let row = copy_text::relation("pg_type").and_then(|types| {
                types.rows().find(|row| row.get(1).is_some_and(|known| known == name))
            });
            let oid = row.and_then(|row| row.get(0)?.parse().ok());
            domain(oid.unwrap_or(0)).map(|domain| {
                let checks: Vec<String> = domain
                    .checks
                    .iter()
                    .map(|check| {
                        let tree = check.condition.tree();
                        let said = TREES.iter().find(|(.., known)| *known == tree);
                        format!("{}: {}", check.name, said.map_or("", |said| said.0))
                    })
                    .collect();
                (domain.base.oid.0, domain.base.typmod, checks)
            })
        };
        let cardinal = "cardinal_number_domain_check: (VALUE >= 0)".to_owned();
        assert_eq!(told("cardinal_number"), Some((23, -1, vec![cardinal])));
        let yes_or_no = "yes_or_no_check: ((VALUE)::text = ANY ((ARRAY['YES'::character varying, 'NO'::character varying])::text[]))".to_owned();
        assert_eq!(told("yes_or_no"), Some((1043, 7, vec![yes_or_no])));
        assert_eq!(told("time_stamp"), Some((1184, 2, Vec::new())));
        assert_eq!(told("sql_identifier"), None);
    }
}
