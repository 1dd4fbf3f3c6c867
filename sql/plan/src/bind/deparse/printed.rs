//! What the items of a printed FROM and their columns are called (`set_deparse_for_query`, `set_using_names` of `ruleutils.c`):
//! by their own names, and by numbered ones where a query around has those already.

use super::view::{Writer, list, unwritten};
use crate::bind::query::Outside;
use crate::bind::scope::ScopeItem;
use crate::bind::with::CteScope;
use crate::catalog::relation::Column;
use crate::error::Result;
use crate::parse::ast::{FromItem, Ident, JoinCondition, Select};
use crate::plan::logical::JoinKind;

/// What an item of a scope is called in print.
#[derive(Clone, Debug, Default)]
pub(super) struct Printed {
    /// The name behind AS, or the table's; none for what cannot be named.
    pub name: Option<String>,
    /// Columns with other names, old and new.
    pub columns: Vec<(Ident, Ident)>,
    /// Its columns are listed behind its name: USING wants one of them by its old name.
    pub listed: bool,
    /// The name behind USING, which hides no other.
    pub beside: bool,
    /// Columns that are about to go.
    pub gone: Vec<Ident>,
    /// What columns are called that are about to come.
    pub added: Vec<Ident>,
}

impl Printed {
    /// What a column is called.
    pub fn column<'n>(&'n self, name: &'n Ident) -> &'n Ident {
        self.columns.iter().find(|(old, _)| old == name).map_or(name, |(_, new)| new)
    }

    /// The names of an item's columns in parentheses.
    pub fn column_list(&self, item: &ScopeItem) -> String {
        let stays = |name: &Ident| !self.gone.contains(name);
        let columns = item.columns.iter().filter(|it| !it.system && stays(&it.name));
        let columns = columns.map(|column| self.column(&column.name).clone());
        list(&columns.chain(self.added.iter().cloned()).collect::<Vec<_>>())
    }
}

impl Writer<'_, '_, '_> {
    /// What the items of FROM are called: a name that a query around has already gets a number.
    pub(super) fn names(
        &self,
        select: &Select,
        outside: Outside<'_>,
        ctes: &CteScope<'_>,
    ) -> Result<Vec<Printed>> {
        let items = self.binder.bind_list(&select.from, outside, ctes)?.items;
        let mut names: Vec<Printed> = Vec::with_capacity(items.len());
        let mut merged = Vec::new();
        select.from.iter().for_each(|from| merged_columns(from, &mut merged));
        for from in &select.from {
            self.items(from, ctes, (&[], &merged), &mut names)?;
        }
        if names.len() != items.len() {
            return Err(unwritten("FROM"));
        }
        let taken = self.taken.borrow();
        for (at, item) in items.iter().enumerate() {
            let Some(name) = names[at].name.take().or(item.name.as_deref().map(str::to_owned))
            else {
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

    /// What the items that binding makes of one of FROM are to be called, in their order; without a name where it is the
    /// scope's. `using` are the columns that joins around it are by, `merged` those of all joins whose columns go by their
    /// bare names.
    fn items(
        &self,
        from: &FromItem,
        ctes: &CteScope<'_>,
        (using, merged): (&[Ident], &[Ident]),
        into: &mut Vec<Printed>,
    ) -> Result<()> {
        match from {
            FromItem::Table { name, alias, .. }
                if name.schema().is_some() || ctes.find(name.name()).is_none() =>
            {
                let relation = self.binder.relation(name)?;
                let renamed = self.how.renamed.iter().find(|renamed| renamed.oid == relation.oid);
                let mut printed = Printed::default();
                if let Some(renamed) = renamed {
                    printed.name = alias.is_none().then(|| renamed.name.to_string());
                    // A list that was printed has the names of all columns, those that nobody chose too.
                    let chosen = |at: usize, old: &Ident| {
                        let alias = alias.as_ref().and_then(|alias| alias.columns.get(at));
                        alias.is_some_and(|alias| alias != old)
                    };
                    let columns = relation.columns.iter().zip(&renamed.columns);
                    let others = columns
                        .filter(|(old, _)| !old.dropped)
                        .enumerate()
                        .filter(|(at, (old, new))| {
                            old.name != new.name && !new.dropped && !chosen(*at, &old.name)
                        })
                        .map(|(_, (old, new))| (old.name.clone(), new.name.clone()));
                    let (kept, columns): (Vec<_>, Vec<_>) =
                        others.partition(|(old, _)| using.contains(old));
                    printed.listed = !kept.is_empty();
                    printed.columns = columns;
                }
                let given = alias.as_ref().map_or(&[][..], |alias| &alias.columns);
                let live = relation.columns.iter().enumerate().filter(|(_, it)| !it.dropped);
                let mut own: Vec<Ident> = Vec::new();
                for (place, (at, column)) in live.enumerate() {
                    let name = given.get(place).unwrap_or(&column.name);
                    if renamed.is_some_and(|next| next.columns[at].dropped) {
                        printed.gone.push(name.clone());
                    } else {
                        own.push(name.clone());
                    }
                }
                // A column that comes must be none that a join is by, and has no name that another one is given here.
                let coming = renamed.and_then(|next| next.columns.get(relation.columns.len()..));
                for Column { name, .. } in coming.unwrap_or_default() {
                    let is_taken = |name: &Ident| {
                        let others = [&own[..], using, merged, &printed.added];
                        others.iter().any(|names| names.contains(name))
                    };
                    let numbered = (1..).map(|number| Ident::from(format!("{name}_{number}")));
                    let mut names = std::iter::once(name.clone()).chain(numbered);
                    let chosen = names.find(|name| !is_taken(name));
                    printed.listed |= chosen.as_ref() != Some(name);
                    printed.added.extend(chosen);
                }
                for name in own.iter().filter(|name| merged.contains(name)) {
                    let known = printed.columns.iter().any(|(old, _)| old == name);
                    if known || using.contains(name) {
                        continue;
                    }
                    // A bare name that means the columns of a join must be nobody else's.
                    let mut numbered = (1..).map(|number| Ident::from(format!("{name}_{number}")));
                    let free = numbered.find(|new| !own.contains(new) && !merged.contains(new));
                    printed.columns.extend(free.map(|new| (name.clone(), new)));
                    printed.listed = true;
                }
                into.push(printed);
            }
            FromItem::Join { left, right, condition, alias, .. } => {
                let own = match condition {
                    JoinCondition::Using(columns, _) => &columns[..],
                    _ => &[],
                };
                let around = if alias.is_some() { &[][..] } else { using };
                let using: Vec<Ident> = own.iter().chain(around).cloned().collect();
                let first = into.len();
                let mut within = Vec::new();
                if alias.is_some() {
                    merged_columns(left, &mut within);
                    merged_columns(right, &mut within);
                    within.extend(own.iter().cloned());
                }
                let merged = if alias.is_some() { &within[..] } else { merged };
                self.items(left, ctes, (&using, merged), into)?;
                self.items(right, ctes, (&using, merged), into)?;
                let other = into[first..].iter().any(|item| !item.columns.is_empty());
                if matches!(condition, JoinCondition::Using(_, Some(_))) {
                    into.push(Printed { beside: true, ..Printed::default() });
                }
                if alias.is_some()
                    || matches!(condition, JoinCondition::Using(..) | JoinCondition::Natural)
                {
                    let listed = alias.is_some() && other;
                    into.push(Printed { listed, ..Printed::default() });
                }
            }
            FromItem::Sample { table, .. } => self.items(table, ctes, (using, merged), into)?,
            _ => into.push(Printed::default()),
        }
        Ok(())
    }
}

/// The columns that full joins of FROM merge, and that go by their bare names: not those below an alias.
fn merged_columns(from: &FromItem, into: &mut Vec<Ident>) {
    let FromItem::Join { kind, left, right, condition, alias: None, .. } = from else { return };
    if let JoinCondition::Using(columns, _) = condition
        && *kind == JoinKind::Full
    {
        into.extend(columns.iter().cloned());
    }
    merged_columns(left, into);
    merged_columns(right, into);
}
