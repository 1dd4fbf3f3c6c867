//! FROM as `pg_get_viewdef` prints it (`get_from_clause_item` of `ruleutils.c`): tables, queries, calls and joins, each with the
//! name that the query knows it by.

use super::Layout;
use super::printed::Printed;
use super::set_operation::VALUES;
use super::simple::Parent;
use super::view::{Headings, Writer, list, unwritten};
use super::window::uncast;
use crate::bind::expression::Place;
use crate::bind::from::unnested;
use crate::bind::levels::columns_of_expr;
use crate::bind::query::Outside;
use crate::bind::sample::Sample;
use crate::bind::scope::{Scope, ScopeItem};
use crate::bind::type_name::resolve;
use crate::bind::typed::Expr;
use crate::bind::with::CteScope;
use crate::catalog::Named;
use crate::catalog::quote::identifier;
use crate::catalog::relation::Column;
use crate::error::Result;
use crate::parse::ast::{self, Alias, Body, FromItem, Ident, JoinCondition};
use crate::plan::logical::JoinKind;
use crate::plan::set_calls::UNNEST;
use std::cell::Cell;
use std::ops::Range;

impl Writer<'_, '_, '_> {
    /// An item of FROM, and what it is called.
    pub(super) fn from(
        &self,
        from: &FromItem,
        item: &mut usize,
        names: &[Printed],
        place: &Place<'_>,
        outside: Outside<'_>,
        out: &mut Layout,
    ) -> Result<()> {
        // LATERAL and functions see what is to their left.
        let left = part_of(place, 0..*item);
        let beside = Outside { scope: Some(&left), ..Outside::of(place) };
        let names_left = &names[..(*item).min(names.len())];
        self.naming(&left, names_left, || {
            self.item_beside(from, item, names, place, (outside, beside), out)
        })
    }

    /// Prints what names the items of a scope, which are called so.
    fn naming(
        &self,
        scope: &Scope<'_>,
        names: &[Printed],
        print: impl FnOnce() -> Result<()>,
    ) -> Result<()> {
        self.printed.borrow_mut().push((std::ptr::from_ref(scope) as usize, names.to_vec()));
        let printed = print();
        self.printed.borrow_mut().pop();
        printed
    }

    fn item_beside(
        &self,
        from: &FromItem,
        item: &mut usize,
        names: &[Printed],
        place: &Place<'_>,
        (outside, beside): (Outside<'_>, Outside<'_>),
        out: &mut Layout,
    ) -> Result<()> {
        let ctes = place.ctes.ok_or_else(|| unwritten("FROM"))?;
        let mut next = || {
            let found = place.scope.items.get(*item).zip(names.get(*item));
            *item += 1;
            found.ok_or_else(|| unwritten("FROM"))
        };
        match from {
            FromItem::Table { name, alias, .. } => {
                let (found, printed) = next()?;
                let mut own = name.name().to_string();
                if name.schema().is_none() && ctes.find(&own).is_some() {
                    out.push_str(&identifier(&own));
                } else {
                    let relation = self.binder.relation(name)?;
                    let seen = self.binder.catalog.find(self.binder.path, &relation.name);
                    let short = !self.how.qualified && seen == Some(Named::Relation(relation.oid));
                    let renamed = self.how.renamed.iter().find(|next| next.oid == relation.oid);
                    let relation = renamed.unwrap_or(&relation);
                    // A WITH query of that name would be meant (`generate_relation_name`).
                    let bare = short && ctes.find(&relation.name).is_none();
                    own = relation.name.to_string();
                    out.push_str(&match bare {
                        true => identifier(&relation.name),
                        false => relation.qualified_name(),
                    });
                }
                if alias.is_some() || printed.listed || printed.name.as_deref() != Some(&*own) {
                    self.alias(printed.name.as_deref(), out);
                }
                let aliases = alias.as_ref().is_some_and(|alias| !alias.columns.is_empty());
                if aliases || printed.listed {
                    out.push_str(&printed.column_list(found));
                }
                Ok(())
            }
            FromItem::Subquery { lateral, query, alias, .. } => {
                let (found, printed) = next()?;
                out.push_str(if *lateral { "LATERAL (" } else { "(" });
                let within =
                    if *lateral { beside } else { Outside { sees_lateral: false, ..outside } };
                match &query.body {
                    Body::Values(rows) if is_named_values(alias.as_ref()) => {
                        self.values(rows, within, ctes, out)?;
                    }
                    _ => self.query(query, within, Some(ctes), Headings::Own, out)?,
                }
                out.push(')');
                self.alias(printed.name.as_deref(), out);
                if alias.as_ref().is_some_and(|alias| !alias.columns.is_empty()) {
                    out.push_str(&printed.column_list(found));
                }
                Ok(())
            }
            FromItem::Function { calls, ordinality, alias, definitions, .. }
                if calls.len() == 1
                    && unnested(calls).is_none()
                    && (!*ordinality || definitions.is_empty() && calls[0].1.is_empty()) =>
            {
                let (found, printed) = next()?;
                let definitions = if calls[0].1.is_empty() { definitions } else { &calls[0].1 };
                let scope = beside.inner();
                let place = Place { sets: true, ..Place::plain(&scope, Some(ctes), "FROM") };
                let mut bound = self.binder.expression(&calls[0].0, &place)?;
                let mut lateral = false;
                columns_of_expr(&mut bound, 0, &mut |column, depth| {
                    lateral |= matches!(column, Expr::Column { level, .. } if *level == depth + 1);
                });
                if lateral {
                    out.push_str("LATERAL ");
                }
                self.expression(&bound, &place, out)?;
                if *ordinality {
                    out.push_str(" WITH ORDINALITY");
                }
                // XMLTABLE says itself what its columns are called.
                let own = matches!(bound, Expr::XmlTable { .. });
                if !own || alias.is_some() || printed.name.as_deref() != Some("xmltable") {
                    self.alias(printed.name.as_deref(), out);
                }
                let listed = alias.as_ref().is_some_and(|alias| !alias.columns.is_empty());
                if !definitions.is_empty() {
                    let columns = found.columns.iter().filter(|column| !column.system);
                    let names = columns.map(|column| printed.column(&column.name));
                    return self.definitions(names.zip(definitions), &place, out);
                }
                if !own || listed {
                    out.push_str(&printed.column_list(found));
                }
                Ok(())
            }
            FromItem::Function { calls, ordinality, definitions, .. } => {
                let (found, printed) = next()?;
                let each = unnested(calls);
                let each = each.as_deref().unwrap_or(calls);
                let scope = beside.inner();
                let place = Place { sets: true, ..Place::plain(&scope, Some(ctes), "FROM") };
                let (mut bound, mut lateral) = (Vec::new(), false);
                let defined = |at: usize| match &each[at].1 {
                    own if own.is_empty() && each.len() == 1 => definitions,
                    own => own,
                };
                for (call, _) in each {
                    let mut call = self.binder.expression(call, &place)?;
                    columns_of_expr(&mut call, 0, &mut |column, depth| {
                        lateral |=
                            matches!(column, Expr::Column { level, .. } if *level == depth + 1);
                    });
                    bound.push(call);
                }
                if lateral {
                    out.push_str("LATERAL ");
                }
                let arrays: Option<Vec<&Expr>> = bound
                    .iter()
                    .map(|call| match call {
                        Expr::Call { function, arguments, .. } if function.0 == UNNEST => {
                            arguments.first()
                        }
                        _ => None,
                    })
                    .collect::<Option<_>>()
                    .filter(|_| (0..each.len()).all(|at| defined(at).is_empty()));
                let (word, parts) = match &arrays {
                    Some(arrays) => ("UNNEST(", arrays.clone()),
                    None => ("ROWS FROM(", bound.iter().collect()),
                };
                out.push_str(word);
                for (at, part) in parts.into_iter().enumerate() {
                    if at > 0 {
                        out.push_str(", ");
                    }
                    self.expression(part, &place, out)?;
                    let definitions = defined(at);
                    if !definitions.is_empty() {
                        out.push_str(" AS ");
                        let names = definitions.iter().map(|one| &one.name);
                        self.definitions(names.zip(definitions), &place, out)?;
                    }
                }
                out.push(')');
                if *ordinality {
                    out.push_str(" WITH ORDINALITY");
                }
                self.alias(printed.name.as_deref(), out);
                out.push_str(&printed.column_list(found));
                Ok(())
            }
            FromItem::Join { kind, left, right, condition, alias, .. } => {
                let enclosed = !self.how.pretty || alias.is_some();
                if enclosed {
                    out.push('(');
                }
                let first = *item;
                self.from(left, item, names, place, outside, out)?;
                let middle = *item;
                let by_nothing = matches!(condition, JoinCondition::Natural) && {
                    let all = &place.scope.items;
                    let right = all.get(middle..middle + items_of(right)).unwrap_or_default();
                    common(all.get(first..middle).unwrap_or_default(), right).is_empty()
                };
                let word = match kind {
                    JoinKind::Left => " LEFT JOIN ",
                    JoinKind::Right => " RIGHT JOIN ",
                    JoinKind::Full => " FULL JOIN ",
                    _ if matches!(condition, JoinCondition::None) => " CROSS JOIN ",
                    _ if by_nothing => " CROSS JOIN ",
                    _ => " JOIN ",
                };
                out.keyword(word, -Layout::STANDARD, Layout::STANDARD, Layout::JOIN);
                let inner =
                    self.how.pretty && matches!(**right, FromItem::Join { alias: None, .. });
                if inner {
                    out.push('(');
                }
                self.from(right, item, names, place, outside, out)?;
                if inner {
                    out.push(')');
                }
                let last = *item;
                if let JoinCondition::Using(_, Some(_)) = condition {
                    *item += 1;
                }
                if alias.is_some()
                    || matches!(condition, JoinCondition::Using(..) | JoinCondition::Natural)
                {
                    *item += 1;
                }
                let items = &place.scope.items;
                match condition {
                    JoinCondition::None => {}
                    JoinCondition::On(expr) => {
                        let sides = part_of(place, first..last);
                        let place = Place::plain(&sides, Some(ctes), "JOIN conditions");
                        let condition = self.binder.condition(expr, &place, "JOIN/ON")?;
                        out.push_str(if self.how.pretty { " ON " } else { " ON (" });
                        let names = names.get(first..last).unwrap_or_default();
                        self.naming(&sides, names, || self.expression(&condition, &place, out))?;
                        if !self.how.pretty {
                            out.push(')');
                        }
                    }
                    JoinCondition::Using(columns, merged) => {
                        out.push_str(" USING ");
                        out.push_str(&list(columns));
                        if let Some(merged) = merged {
                            out.push_str(" AS ");
                            out.push_str(&identifier(merged));
                        }
                    }
                    JoinCondition::Natural => {
                        let columns = common(&items[first..middle], &items[middle..last]);
                        match (columns.is_empty(), kind) {
                            (false, _) => {
                                out.push_str(" USING ");
                                out.push_str(&list(&columns));
                            }
                            (true, JoinKind::Left | JoinKind::Right | JoinKind::Full) => {
                                out.push_str(" ON TRUE");
                            }
                            // It was begun as a cross join.
                            (true, _) => {}
                        }
                    }
                }
                if enclosed {
                    out.push(')');
                }
                if let Some(alias) = alias {
                    let printed = names.get(*item - 1).ok_or_else(|| unwritten("FROM"))?;
                    self.alias(printed.name.as_deref(), out);
                    let own = &items[*item - 1];
                    let grown = self.grown_columns(from, &items[first..*item], ctes)?;
                    if grown.iter().any(|column| column.state != State::Stays)
                        && (!alias.columns.is_empty() || has_duplicates(&grown))
                    {
                        out.push_str(&grown_list(&grown, printed, own));
                    } else if !alias.columns.is_empty() || printed.listed {
                        out.push_str(&printed.column_list(own));
                    }
                }
                Ok(())
            }
            FromItem::Sample { table, method, arguments, repeatable } => {
                self.item_beside(table, item, names, place, (outside, beside), out)?;
                let sample = Sample { method, arguments, repeatable: repeatable.as_ref() };
                let bound = self.binder.sample(sample, outside, ctes)?;
                out.push_str(&format!(" TABLESAMPLE {} (", identifier(method.name())));
                let shown = |value: &Expr, out: &mut Layout| {
                    let given = uncast(value);
                    self.print(place, |printer| match std::ptr::eq(given, value) {
                        true => printer.write(value, out),
                        false => printer.operand(given, Parent::Cast, out),
                    })
                };
                shown(&bound.percentage, out)?;
                out.push(')');
                if let Some(seed) = &bound.seed {
                    out.push_str(" REPEATABLE (");
                    shown(seed, out)?;
                    out.push(')');
                }
                Ok(())
            }
        }
    }

    /// The columns of a record's rows, as its call says them.
    fn definitions<'n>(
        &self,
        columns: impl Iterator<Item = (&'n Ident, &'n ast::ColumnDefinition)>,
        place: &Place<'_>,
        out: &mut Layout,
    ) -> Result<()> {
        let mut shown = Vec::new();
        for (name, definition) in columns {
            let ty = resolve(self.binder.catalog, self.binder.path, &definition.ty)?;
            self.print(place, |printer| {
                shown.push(format!("{} {}", identifier(name), printer.type_name(ty)));
                Ok(())
            })?;
        }
        out.push_str(&format!("({})", shown.join(", ")));
        Ok(())
    }

    /// The columns of a join, those too that its tables are about to get, or to lose. `items` are the items of the scope that it
    /// stands for.
    fn grown_columns(
        &self,
        from: &FromItem,
        items: &[ScopeItem],
        ctes: &CteScope<'_>,
    ) -> Result<Vec<Grown>> {
        let mut at = 0;
        let FromItem::Join { left, right, condition, .. } = from else { return Ok(Vec::new()) };
        let left = self.grown(left, items, &mut at, ctes)?;
        let middle = at;
        let right = self.grown(right, items, &mut at, ctes)?;
        Ok(joined(condition, (left, right), (&items[..middle], &items[middle..at])))
    }

    fn grown(
        &self,
        from: &FromItem,
        items: &[ScopeItem],
        at: &mut usize,
        ctes: &CteScope<'_>,
    ) -> Result<Vec<Grown>> {
        let first = *at;
        let own = |at: usize| -> Vec<Grown> {
            let columns = items.get(at).map_or(&[][..], |item| &item.columns);
            let live = columns.iter().filter(|column| !column.system);
            let stays = |name: &Ident| Grown { name: name.clone(), state: State::Stays };
            live.map(|column| stays(&column.name)).collect()
        };
        match from {
            FromItem::Join { left, right, condition, alias, .. } => {
                let left = self.grown(left, items, at, ctes)?;
                let middle = *at;
                let right = self.grown(right, items, at, ctes)?;
                let sides = (&items[first..middle], &items[middle..*at]);
                let columns = joined(condition, (left, right), sides);
                let merges = matches!(condition, JoinCondition::Using(..) | JoinCondition::Natural);
                *at += usize::from(matches!(condition, JoinCondition::Using(_, Some(_))));
                *at += usize::from(alias.is_some() || merges);
                if alias.is_none() {
                    return Ok(columns);
                }
                // What the alias calls the old ones.
                let mut named = own(*at - 1).into_iter();
                let renamed = columns.into_iter().map(|column| match column.state {
                    State::Comes => Some(column),
                    state => named.next().map(|own| Grown { state, ..own }),
                });
                Ok(renamed.flatten().collect())
            }
            FromItem::Sample { table, .. } => self.grown(table, items, at, ctes),
            _ => {
                let mut columns = own(first);
                *at += 1;
                if let FromItem::Table { name, .. } = from
                    && (name.schema().is_some() || ctes.find(name.name()).is_none())
                {
                    let old = self.binder.relation(name)?;
                    let next = self.how.renamed.iter().find(|next| next.oid == old.oid);
                    let added = next.map_or(&[][..], |next| {
                        next.columns.get(old.columns.len()..).unwrap_or_default()
                    });
                    let live = old.columns.iter().enumerate().filter(|(_, it)| !it.dropped);
                    for (column, (at, _)) in columns.iter_mut().zip(live) {
                        if next.is_some_and(|next| next.columns[at].dropped) {
                            column.state = State::Goes;
                        }
                    }
                    let comes = |column: &Column| {
                        let name = column.name.clone();
                        Grown { name, state: State::Comes }
                    };
                    columns.extend(added.iter().map(comes));
                }
                Ok(columns)
            }
        }
    }

    fn alias(&self, name: Option<&str>, out: &mut Layout) {
        if let Some(name) = name {
            out.push(' ');
            out.push_str(&identifier(name));
        }
    }
}

/// How many items of a scope one of FROM is.
fn items_of(from: &FromItem) -> usize {
    match from {
        FromItem::Join { left, right, condition, alias, .. } => {
            let merges = matches!(condition, JoinCondition::Using(..) | JoinCondition::Natural);
            let named = matches!(condition, JoinCondition::Using(_, Some(_)));
            let own = usize::from(named) + usize::from(alias.is_some() || merges);
            items_of(left) + items_of(right) + own
        }
        FromItem::Sample { table, .. } => items_of(table),
        _ => 1,
    }
}

/// A column of a join, and what is about to happen to it.
struct Grown {
    name: Ident,
    state: State,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Stays,
    /// A table in the join is about to get it.
    Comes,
    /// A table in the join is about to lose it.
    Goes,
}

/// The columns of both sides: those that are merged first.
fn joined(
    condition: &JoinCondition,
    (left, right): (Vec<Grown>, Vec<Grown>),
    (items_left, items_right): (&[ScopeItem], &[ScopeItem]),
) -> Vec<Grown> {
    let merged = match condition {
        JoinCondition::Using(columns, _) => columns.clone(),
        JoinCondition::Natural => common(items_left, items_right),
        JoinCondition::None | JoinCondition::On(_) => Vec::new(),
    };
    let rest = |column: &Grown| column.state == State::Comes || !merged.contains(&column.name);
    let first = merged.iter().map(|name| Grown { name: name.clone(), state: State::Stays });
    first.chain(left.into_iter().chain(right).filter(rest)).collect()
}

fn has_duplicates(columns: &[Grown]) -> bool {
    (1..columns.len()).any(|at| columns[..at].iter().any(|known| known.name == columns[at].name))
}

/// The list behind the alias of a join: the names that its old columns have, and others for the new ones.
fn grown_list(columns: &[Grown], printed: &Printed, item: &ScopeItem) -> String {
    let live = item.columns.iter().filter(|column| !column.system);
    let mut old = live.map(|column| printed.column(&column.name).clone());
    let taken: Vec<Ident> = old.clone().collect();
    let mut names: Vec<Ident> = Vec::with_capacity(columns.len());
    for column in columns {
        let name = if column.state == State::Comes {
            let numbered = (1..).map(|number| Ident::from(format!("{}_{number}", column.name)));
            let mut wanted = std::iter::once(column.name.clone()).chain(numbered);
            wanted.find(|name| !taken.contains(name) && !names.contains(name))
        } else {
            old.next().filter(|_| column.state == State::Stays)
        };
        names.extend(name);
    }
    list(&names)
}

/// Some of the items of a scope, in a scope of their own in its place.
fn part_of<'s>(place: &Place<'s>, items: Range<usize>) -> Scope<'s> {
    let Scope { parent, cost, stands, lateral, sees_lateral, .. } = *place.scope;
    let items = place.scope.items.get(items).unwrap_or_default().to_vec();
    let (refused, used) = (false, Cell::new(false));
    Scope { items, parent, cost, stands, lateral, sees_lateral, refused, used }
}

/// The columns that a natural join is by.
fn common(left: &[ScopeItem], right: &[ScopeItem]) -> Vec<Ident> {
    let names = |items: &[ScopeItem]| -> Vec<Ident> {
        let columns = items.iter().flat_map(|item| &item.columns);
        columns.filter(|column| !column.system).map(|column| column.name.clone()).collect()
    };
    let right = names(right);
    let mut found: Vec<Ident> = Vec::new();
    for name in names(left) {
        if right.contains(&name) && !found.contains(&name) {
            found.push(name);
        }
    }
    found
}

/// Whether an item is the VALUES of a query that gives its columns other names.
fn is_named_values(alias: Option<&Alias>) -> bool {
    alias.is_some_and(|alias| &*alias.name == VALUES && alias.columns.is_empty())
}
