//! What the items of a printed FROM and their columns are called (`set_deparse_for_query` of `ruleutils.c`): the items by
//! their own names, or numbered ones where a query around has those already; columns by the names that they have now, but for
//! those that were given others, and those that joins are by.

use super::column_names::Columns;
use super::view::{Writer, list};
use crate::bind::scope::ScopeItem;
use crate::bind::tree::{FromList, FromTree};
use crate::catalog::Relation;
use crate::error::Result;
use crate::parse::ast::Ident;
use crate::types::Oid;

/// What an item of a scope is called in print.
#[derive(Clone, Debug, Default)]
pub(super) struct Printed {
    /// The name behind AS, or the table's; none for what cannot be named.
    pub name: Option<String>,
    /// What its columns are called; nothing of one that has gone.
    pub columns: Vec<Option<Ident>>,
    /// All columns that it has now.
    pub all: Vec<Ident>,
    /// They are listed behind its name.
    pub listed: bool,
    /// The name behind USING, which hides no other.
    pub beside: bool,
}

impl Printed {
    /// What a column of an item is called, by its place.
    pub fn column<'n>(&'n self, at: usize, item: &'n ScopeItem) -> &'n Ident {
        self.columns.get(at).and_then(Option::as_ref).unwrap_or(&item.columns[at].name)
    }

    /// The names of its columns in parentheses.
    pub fn column_list(&self) -> String {
        list(&self.all)
    }
}

impl Writer<'_, '_, '_> {
    /// What the items of FROM are called: a name that a query around has already gets a number.
    pub(super) fn names(&self, from: &FromList) -> Result<Vec<Printed>> {
        let mut names: Vec<Printed> = Vec::with_capacity(from.items.len());
        self.columns(from)?.into_iter().for_each(|columns| columns.into_names(&mut names));
        let mut own = Vec::with_capacity(names.len());
        from.list.iter().for_each(|(tree, _)| self.own_names(tree, &mut own));
        let taken = self.taken.borrow();
        for (at, (item, own)) in from.items.iter().zip(own).enumerate() {
            let Some(name) = own.or_else(|| item.name.as_deref().map(str::to_owned)) else {
                continue;
            };
            if names[at].beside {
                names[at].name = Some(name);
                continue;
            }
            let is_taken = |name: &str| {
                let before = names[..at].iter().filter(|known| !known.beside);
                taken.iter().flatten().any(|known| known == name)
                    || before.filter_map(|known| known.name.as_ref()).any(|known| known == name)
            };
            let numbered = (1..).map(|number| format!("{name}_{number}"));
            let found = std::iter::once(name.clone()).chain(numbered).find(|name| !is_taken(name));
            names[at].name = found;
        }
        Ok(names)
    }

    /// The names of relations without another one, as they are now; nothing for all other items.
    fn own_names(&self, tree: &FromTree, into: &mut Vec<Option<String>>) {
        match tree {
            FromTree::Table { relation, aliased: false, .. } => {
                into.push(self.relation(*relation).map(|found| found.name.to_string()));
            }
            FromTree::Join(join) => {
                let first = into.len();
                self.own_names(&join.left, into);
                self.own_names(&join.right, into);
                into.resize(first + tree.items(), None);
            }
            _ => into.push(None),
        }
    }

    /// The columns of the items of FROM, with their names.
    fn columns(&self, from: &FromList) -> Result<Vec<Columns>> {
        let mut at = 0;
        let made = from.list.iter().map(|(tree, _)| self.columns_of(tree, &from.items, &mut at));
        let made = made.collect::<Result<_>>()?;
        Ok(Columns::choose(made))
    }

    /// A relation as it is to be printed.
    pub(super) fn relation(&self, oid: Oid) -> Option<&Relation> {
        let renamed = self.how.renamed.iter().find(|next| next.oid == oid);
        renamed.or_else(|| self.binder.catalog.relation(oid).map(|found| &**found))
    }
}
