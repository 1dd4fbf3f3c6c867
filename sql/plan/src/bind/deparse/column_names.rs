//! What the columns of the items of FROM are called (`set_using_names`, `set_relation_column_names` and
//! `set_join_column_names` of `ruleutils.c`).
//!
//! A column that joins are by USING has the same name on both sides, however its tables call it now: that is chosen first,
//! from the outermost join inwards. A merged column that is more than one of either side is called by its bare name, which
//! then is nobody else's. All others keep the names that they were given, or have those of their tables, with a number where
//! their item has the name already.

use super::printed::Printed;
use super::view::{Writer, unwritten};
use crate::bind::kept::numbered;
use crate::bind::scope::ScopeItem;
use crate::bind::tree::{ConditionTree, FromTree, JoinTree, TableColumn};
use crate::bind::typed::Expr;
use crate::error::Result;
use crate::parse::ast::Ident;

/// The columns of an item of FROM.
#[derive(Debug, Default)]
pub(super) struct Columns {
    /// What they were called where the query was bound.
    bound: Vec<Ident>,
    /// What they are called below the item now; nothing of those that have gone. Of a join it is known once its sides are.
    real: Vec<Option<Ident>>,
    /// The names that they were given.
    given: Vec<Option<Ident>>,
    /// The columns that the item has got since.
    added: Vec<Ident>,
    /// What they are called in print.
    names: Vec<Option<Ident>>,
    /// All that there are now, and whether each was there where the query was bound.
    all: Vec<(Ident, bool)>,
    /// The names of merged columns of joins around.
    around: Vec<Ident>,
    /// Some name is not that below.
    changed: bool,
    listed: Listed,
    join: Option<Sides>,
}

/// Whether an item's columns are listed behind its name.
#[derive(Clone, Copy, Debug, Default)]
enum Listed {
    #[default]
    Never,
    /// Where one has another name than below.
    Changed,
    Always,
}

/// The sides of a join.
#[derive(Debug)]
struct Sides {
    left: Box<Columns>,
    right: Box<Columns>,
    /// Which column of the left side, and which of the right one, each column is.
    places: Vec<(Option<usize>, Option<usize>)>,
    /// How many are merged: the first ones.
    merged: usize,
    aliased: bool,
    /// There is a name behind USING.
    named: bool,
    has_item: bool,
    /// A merged column is more than one of either side, and goes by its bare name.
    bare: bool,
}

impl Writer<'_, '_, '_> {
    /// The columns of an item, which begins at `at` of the scope's items.
    pub(super) fn columns_of(
        &self,
        tree: &FromTree,
        items: &[ScopeItem],
        at: &mut usize,
    ) -> Result<Columns> {
        if let FromTree::Join(join) = tree {
            return self.columns_of_join(join, items, at);
        }
        let item = items.get(*at).ok_or_else(|| unwritten("FROM"))?;
        *at += 1;
        let own = item.columns.iter().filter(|column| !column.system);
        let bound: Vec<Ident> = own.map(|column| column.name.clone()).collect();
        let mut columns = Columns {
            real: bound.iter().cloned().map(Some).collect(),
            given: vec![None; bound.len()],
            names: vec![None; bound.len()],
            bound,
            ..Columns::default()
        };
        columns.listed = match tree {
            FromTree::Query { listed: true, .. } | FromTree::With { listed: true, .. } => {
                Listed::Always
            }
            FromTree::Function { calls, listed, .. } => match &calls[..] {
                // XMLTABLE says itself what its columns are called.
                [(Expr::XmlTable { .. }, _)] if !listed => Listed::Never,
                _ => Listed::Always,
            },
            _ => Listed::Changed,
        };
        if let FromTree::Table { relation, columns: own, .. } = tree
            && let Some(now) = self.relation(*relation)
        {
            let attributes = own.iter().zip(0..columns.bound.len());
            for (TableColumn { number, given }, place) in attributes {
                let found = usize::try_from(*number - 1).ok().and_then(|at| now.columns.get(at));
                let found = found.filter(|column| !column.dropped);
                columns.real[place] = found.map(|column| column.name.clone());
                columns.given[place].clone_from(given);
            }
            let last = own.iter().map(|column| column.number).max().unwrap_or(0).max(0);
            let come = now.columns.iter().enumerate().skip(last as usize);
            let come = come.filter(|(_, column)| !column.dropped);
            columns.added = come.map(|(_, column)| column.name.clone()).collect();
        }
        if let FromTree::Function { calls, fields, .. } = tree {
            let mut place = 0;
            for ((call, defined), before) in calls.iter().zip(fields) {
                let now = numbered(self.binder.catalog, call.ty());
                let gone = before.iter().enumerate().filter(|(_, number)| !now.contains(number));
                for (at, _) in gone {
                    if let Some(name) = columns.real.get_mut(place + at) {
                        *name = None;
                    }
                }
                let own = self.binder.composite_result(call);
                let single = || defined.len().max(1);
                let record = own.map_or_else(single, |own| own.len());
                place += if before.is_empty() { record } else { before.len() };
            }
        }
        Ok(columns)
    }

    fn columns_of_join(
        &self,
        join: &JoinTree,
        items: &[ScopeItem],
        at: &mut usize,
    ) -> Result<Columns> {
        let left = self.columns_of(&join.left, items, at)?;
        let right = self.columns_of(&join.right, items, at)?;
        let (using, named) = match &join.condition {
            ConditionTree::Using(using, name, _) => (&using[..], name.is_some()),
            ConditionTree::Nothing | ConditionTree::On(_) => (&[][..], false),
        };
        let own = *at + usize::from(named);
        *at = own + usize::from(join.has_item);
        let item = if join.has_item { items.get(own) } else { None };
        let place = |side: &Columns, name| side.bound.iter().position(|known| known == name);
        let mut places: Vec<_> =
            using.iter().map(|name| (place(&left, name), place(&right, name))).collect();
        let rest = |side: &Columns| {
            let all = side.bound.iter().enumerate();
            all.filter(|(_, name)| !using.contains(name)).map(|(at, _)| at).collect::<Vec<_>>()
        };
        places.extend(rest(&left).into_iter().map(|at| (Some(at), None)));
        places.extend(rest(&right).into_iter().map(|at| (None, Some(at))));
        let below = |(a, b): &(Option<usize>, Option<usize>)| {
            let side = a.map(|at| &left.bound[at]).or_else(|| b.map(|at| &right.bound[at]));
            side.cloned().ok_or_else(|| unwritten("FROM"))
        };
        let below: Vec<Ident> = places.iter().map(below).collect::<Result<_>>()?;
        let bound: Vec<Ident> = match item.filter(|_| join.aliased) {
            Some(item) => item.columns.iter().map(|column| column.name.clone()).collect(),
            None => below.clone(),
        };
        let given = bound.iter().zip(&below);
        let given = given.map(|(name, below)| (name != below).then(|| name.clone())).collect();
        let is_bare = |item: &ScopeItem| {
            let mut merged = item.columns.iter().take(using.len());
            merged.any(|column| !matches!(column.expr, Expr::Column { .. }))
        };
        Ok(Columns {
            real: vec![None; bound.len()],
            names: vec![None; bound.len()],
            given,
            bound,
            listed: if join.aliased { Listed::Changed } else { Listed::Never },
            join: Some(Sides {
                left: Box::new(left),
                right: Box::new(right),
                places,
                merged: using.len(),
                aliased: join.aliased,
                named,
                has_item: join.has_item,
                bare: !join.aliased && item.is_some_and(is_bare),
            }),
            ..Columns::default()
        })
    }
}

impl Columns {
    /// Chooses the names of all items of a FROM.
    pub(super) fn choose(mut list: Vec<Columns>) -> Vec<Columns> {
        let mut merged = list.iter().any(Columns::has_bare).then(Vec::new);
        list.iter_mut().for_each(|item| item.choose_merged(merged.as_mut()));
        let merged = merged.unwrap_or_default();
        list.iter_mut().for_each(|item| item.choose_rest(&merged));
        list
    }

    /// Whether there is a merged column that goes by its bare name (`has_dangerous_join_using`).
    fn has_bare(&self) -> bool {
        let join = self.join.as_ref();
        join.is_some_and(|join| join.bare || join.left.has_bare() || join.right.has_bare())
    }

    /// A name that no column of this item has, nor a merged one of joins around, nor one of `others`.
    fn unique(&self, name: &Ident, others: &[Ident]) -> Ident {
        let is_taken = |name: &Ident| {
            self.names.iter().flatten().any(|known| known == name)
                || self.all.iter().any(|(known, _)| known == name)
                || others.contains(name)
                || self.around.contains(name)
        };
        let numbered = (1..).map(|number| Ident::from(format!("{name}_{number}")));
        let mut wanted = std::iter::once(name.clone()).chain(numbered);
        wanted.find(|name| !is_taken(name)).expect("there is always another number")
    }

    /// Chooses the names of merged columns, from the outermost join inwards; those chosen are noted in `all` where they must
    /// differ from all others.
    fn choose_merged(&mut self, mut all: Option<&mut Vec<Ident>>) {
        let Some(mut join) = self.join.take() else { return };
        let mut pass_on = |(left, right): (Option<usize>, Option<usize>), name: &Ident| {
            left.into_iter().for_each(|at| join.left.names[at] = Some(name.clone()));
            right.into_iter().for_each(|at| join.right.names[at] = Some(name.clone()));
        };
        // What an alias calls columns is nothing to those below it.
        if !join.aliased {
            for (place, name) in join.places.iter().zip(&self.names) {
                name.iter().for_each(|name| pass_on(*place, name));
            }
        }
        let mut around = self.around.clone();
        for at in 0..join.merged {
            let name = match &self.names[at] {
                Some(name) => name.clone(),
                None => {
                    let wanted = self.given[at].as_ref().unwrap_or(&self.bound[at]);
                    let name = self.unique(wanted, all.as_deref().map_or(&[][..], |all| all));
                    all.iter_mut().for_each(|all| all.push(name.clone()));
                    self.names[at] = Some(name.clone());
                    name
                }
            };
            pass_on(join.places[at], &name);
            around.push(name);
        }
        for side in [&mut join.left, &mut join.right] {
            side.around.clone_from(&around);
            side.choose_merged(all.as_deref_mut());
        }
        self.join = Some(join);
    }

    /// Chooses the names of all other columns; `merged` are those that no other may have.
    fn choose_rest(&mut self, merged: &[Ident]) {
        let Some(mut join) = self.join.take() else {
            for at in 0..self.bound.len() {
                let Some(real) = self.real[at].clone() else {
                    self.names[at] = None;
                    continue;
                };
                let name = self.name_at(at, &real, merged);
                self.all.push((name, true));
            }
            for added in std::mem::take(&mut self.added) {
                let name = self.unique(&added, merged);
                self.changed |= name != added;
                self.all.push((name, false));
            }
            return;
        };
        join.left.choose_rest(merged);
        join.right.choose_rest(merged);
        for at in join.merged..self.bound.len() {
            let (left, right) = join.places[at];
            let below = left.map(|at| &join.left.names[at]);
            let below = below.or_else(|| right.map(|at| &join.right.names[at])).cloned().flatten();
            match below {
                Some(below) if join.aliased => {
                    self.name_at(at, &below, merged);
                }
                below => self.names[at] = below,
            }
        }
        self.all =
            self.names[..join.merged].iter().flatten().map(|name| (name.clone(), true)).collect();
        for (side, of_side) in [(&join.left, 0), (&join.right, 1)] {
            let at_side = |place: &(Option<usize>, Option<usize>)| [place.0, place.1][of_side];
            let rest =
                (join.merged..self.bound.len()).filter(|at| at_side(&join.places[*at]).is_some());
            let old: Vec<_> = rest.filter_map(|at| self.names[at].clone()).collect();
            self.all.extend(old.into_iter().map(|name| (name, true)));
            for (below, _) in side.all.iter().filter(|(_, is_old)| !is_old) {
                let name = match join.aliased {
                    true => self.unique(below, merged),
                    false => below.clone(),
                };
                self.changed |= name != *below;
                self.all.push((name, false));
            }
        }
        self.join = Some(join);
    }

    /// The name of a column that is called `real` below.
    fn name_at(&mut self, at: usize, real: &Ident, merged: &[Ident]) -> Ident {
        let name = match &self.names[at] {
            Some(name) => name.clone(),
            None => self.unique(self.given[at].as_ref().unwrap_or(real), merged),
        };
        self.names[at] = Some(name.clone());
        self.changed |= name != *real;
        name
    }

    /// What the items of the scope are called that this one is.
    pub(super) fn into_names(self, into: &mut Vec<Printed>) {
        let listed = match self.listed {
            Listed::Never => false,
            Listed::Changed => self.changed,
            Listed::Always => true,
        };
        let all = self.all.into_iter().map(|(name, _)| name).collect();
        let own = Printed { columns: self.names, all, listed, ..Printed::default() };
        let Some(join) = self.join else { return into.push(own) };
        join.left.into_names(into);
        join.right.into_names(into);
        if join.named {
            let columns = own.columns[..join.merged].to_vec();
            into.push(Printed { columns, beside: true, ..Printed::default() });
        }
        if join.has_item {
            into.push(own);
        }
    }
}
