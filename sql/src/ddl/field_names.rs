//! What names a field of rows: of a composite type, or of the rows of a table or view.
//!
//! Expressions and queries are kept as text. Whether one names the field is asked of the binder: such a text means nothing
//! in a catalog in which the field, and nothing else, is called otherwise. PostgreSQL has it in `pg_depend`.

use super::dependency::Dependents;
use super::{Ddl, Semantics};
use crate::bind::value_relation;
use crate::catalog::CatalogSnapshot;
use crate::catalog::quote::identifier;
use crate::catalog::relation::Relation;
use crate::error::Result;
use crate::types::Oid;
use std::collections::BTreeSet;
use std::sync::Arc;

/// What a field is called while it is asked who names it.
const OTHERWISE: &str = "........field........";

/// Whether a text may name a field of that name.
pub(super) fn may_name(text: &str, field: &str) -> bool {
    text.contains(&format!(".{}", identifier(field)))
}

/// Whether a text of a relation means something in a catalog.
pub(super) fn has_meaning(
    semantics: &dyn Semantics,
    snapshot: &CatalogSnapshot,
    over: &Relation,
    text: &str,
) -> bool {
    match over.query() {
        Some(query) if **query == *text => semantics.reads(snapshot, text).is_ok(),
        _ => semantics.columns_of(snapshot, over, text).is_ok(),
    }
}

/// The first of these relations (but that with the OID `own`) and types that has a text, with what it is over, of which `is`
/// says so.
pub(super) fn any_text(
    snapshot: &CatalogSnapshot,
    users: &BTreeSet<Oid>,
    own: Oid,
    is: &dyn Fn(&Relation, &str) -> bool,
) -> Option<(&'static str, Arc<str>)> {
    let relations = users.iter().filter_map(|oid| snapshot.relation(*oid));
    for relation in relations.filter(|relation| relation.oid != own) {
        if relation.kept_texts().any(|text| is(relation, text)) {
            return Some(("relation", Arc::clone(&relation.name)));
        }
    }
    for ty in users.iter().filter_map(|oid| snapshot.user_type(*oid)) {
        let Some(domain) = ty.domain() else { continue };
        let value = value_relation(domain.base);
        let checks = domain.checks.iter().map(|check| &check.text);
        if checks.chain(&domain.default).any(|text| is(&value, text)) {
            return Some(("domain", Arc::clone(&ty.name)));
        }
    }
    None
}

impl Ddl<'_> {
    /// Collects what names a field of rows, but for the relation whose rows they are (`own`): `renamed` is the catalog if
    /// it called the field so.
    pub(super) fn collect_field(
        &mut self,
        (own, field): (Oid, &str),
        renamed: &dyn Fn(&mut Ddl<'_>, &'static str) -> Arc<CatalogSnapshot>,
        what: &str,
        into: &mut Dependents,
    ) -> Result<()> {
        let now = self.snapshot();
        let users = now.users(own);
        if any_text(&now, &users, own, &|_, text| may_name(text, field)).is_none() {
            return Ok(());
        }
        let otherwise = renamed(self, OTHERWISE);
        let semantics = self.semantics;
        // A view that reads the column itself is told of in its place among the others.
        let column = now.relation(own).and_then(|table| table.column(field));
        let number = column.and_then(|at| i16::try_from(at + 1).ok());
        let reads = |text: &str| {
            let found = semantics.reads(&now, text).unwrap_or_default();
            let mut columns = found.relations.iter().filter(|(oid, _)| *oid == own);
            columns.any(|(_, columns)| number.is_some_and(|number| columns.contains(&number)))
        };
        let names = |over: &Relation, text: &str| {
            let is_query = over.query().is_some_and(|query| **query == *text);
            (is_query && reads(text))
                || (may_name(text, field)
                    && has_meaning(semantics, &now, over, text)
                    && !has_meaning(semantics, &otherwise, over, text))
        };
        self.collect_naming(&users, &names, &|table, _| table == own, (&[], &[]), what, into);
        Ok(())
    }
}
