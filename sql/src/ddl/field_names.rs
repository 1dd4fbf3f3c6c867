//! What names a field of rows: of a composite type, or of the rows of a table or view. Its definition has an edge to that
//! column of the relation whose rows they are.

use super::dependency::Dependents;
use super::{Ddl, Semantics};
use crate::catalog::CatalogSnapshot;
use crate::catalog::definition::{Edge, Edges};
use crate::catalog::relation::Relation;
use crate::types::Oid;

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

impl Ddl<'_> {
    /// Collects what names a field of rows, by its index, but for the relation whose rows they are (`own`); views that read
    /// the column itself too.
    pub(super) fn collect_field(&mut self, own: Oid, at: usize, what: &str, into: &mut Dependents) {
        let field = Edge::Relation(own, at as i16 + 1);
        let users = self.snapshot().depending(field).filter(|oid| *oid != own).collect();
        let names = |definition: &Edges| definition.leads_to(field);
        self.collect_naming(&users, &names, &|table, _| table == own, (&[], &[]), what, into);
    }
}
