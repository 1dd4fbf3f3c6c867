//! What names a field of rows: of a composite type, or of the rows of a table or view. Its definition has an edge to that
//! column of the relation whose rows they are.

use super::Ddl;
use super::dependency::Dependents;
use crate::catalog::definition::{Edge, Edges};
use crate::types::Oid;

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
