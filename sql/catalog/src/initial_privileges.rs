//! The privileges that PostgreSQL's initial contents give on the system's relations and their columns: `pg_init_privs`, as a
//! cluster has it that has just been made.

use crate::acl::{Acl, AclItem, PRIVILEGES, Privileges};
use crate::relation::Relation;
use sql_types::Oid;
use sql_types::builtin::relation;
use sql_types::builtin::well_known;
use std::collections::HashMap;
use std::sync::LazyLock;

/// The views of `information_schema` that only their owner reads: all others there are everybody's, and are so by a script
/// that `pg_init_privs` says nothing of.
const OWNERS: [&str; 7] = [
    "_pg_foreign_data_wrappers",
    "_pg_foreign_servers",
    "_pg_foreign_table_columns",
    "_pg_foreign_tables",
    "_pg_user_mappings",
    "sql_parts",
    "transforms",
];

/// Lists by relation and column, 0 for the whole.
static LISTS: LazyLock<HashMap<(Oid, u32), Acl>> = LazyLock::new(|| {
    let rows = |name| relation(name).into_iter().flat_map(|found| found.rows());
    let roles: HashMap<String, Oid> = rows("pg_authid")
        .filter_map(|row| Some((row.get(1)?.into_owned(), Oid(row.get(0)?.parse().ok()?))))
        .collect();
    rows("pg_init_privs")
        .filter(|row| row.get(1).as_deref() == Some("1259"))
        .filter_map(|row| {
            let number = |at: usize| row.get(at)?.parse::<u32>().ok();
            Some(((Oid(number(0)?), number(2)?), list(&row.get(4)?, &roles)))
        })
        .collect()
});

/// A list from its text, whose names need no quotes.
fn list(text: &str, roles: &HashMap<String, Oid>) -> Acl {
    let items = text.trim_start_matches('{').trim_end_matches('}').split(',');
    let item = |item: &str| {
        let (grantee, rest) = item.split_once('=')?;
        let letters = rest.split_once('/').map_or(rest, |(letters, _)| letters);
        let privileges = PRIVILEGES
            .iter()
            .filter(|known| letters.contains(known.1))
            .fold(Privileges::default(), |all, known| all.union(known.0));
        let grantee = if grantee.is_empty() { Oid(0) } else { *roles.get(grantee)? };
        let (grantor, grant_options) = (well_known::SUPERUSER, Privileges::default());
        Some(AclItem { grantee, grantor, privileges, grant_options })
    };
    items.filter_map(item).collect()
}

/// What everybody reads.
static READABLE: LazyLock<Acl> = LazyLock::new(|| {
    let item = |grantee, privileges| {
        let (grantor, grant_options) = (well_known::SUPERUSER, Privileges::default());
        AclItem { grantee, grantor, privileges, grant_options }
    };
    vec![item(well_known::SUPERUSER, Privileges::TABLE), item(Oid(0), Privileges::SELECT)]
});

/// The list of a system relation; none where only the owner has anything.
#[must_use]
pub fn acl(relation: &Relation) -> Option<&'static Acl> {
    if &*relation.schema.1 == "information_schema" {
        return (!OWNERS.contains(&&*relation.name)).then(|| &*READABLE);
    }
    LISTS.get(&(relation.oid, 0))
}

/// The list of a column of a system relation, if it has one of its own.
#[must_use]
pub fn column_acl(relation: Oid, column: u32) -> Option<&'static Acl> {
    LISTS.get(&(relation, column))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_subscription_shows_all_but_how_it_connects() {
        let read = |relation: u32, column: u32| {
            let list = LISTS.get(&(Oid(relation), column)).into_iter().flatten();
            list.filter(|item| item.grantee == Oid(0))
                .any(|item| item.privileges.contains(Privileges::SELECT))
        };
        assert!(read(1259, 0));
        assert!(!read(1260, 0));
        assert!(!read(6100, 0) && read(6100, 1) && !read(6100, 11));
    }
}
