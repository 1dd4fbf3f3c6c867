//! FROM as `pg_get_viewdef` prints it (`get_from_clause_item` of `ruleutils.c`): tables, queries, calls and joins, each with the
//! name that the query knows it by.

use super::Layout;
use super::place::{Around, Frame};
use super::printed::Printed;
use super::simple::Parent;
use super::view::{Headings, Writer, list, unwritten};
use super::window::uncast;
use crate::bind::levels::columns_of_expr;
use crate::bind::logical::JoinKind;
use crate::bind::logical::UNNEST;
use crate::bind::scope::ScopeItem;
use crate::bind::tree::{BodyTree, ConditionTree, FromList, FromTree, JoinTree, SampleTree};
use crate::bind::typed::Expr;
use crate::bind::values::VALUES;
use crate::catalog::Named;
use crate::catalog::Relation;
use crate::catalog::quote::identifier;
use crate::error::Result;
use crate::parse::ast::Ident;
use crate::types::SqlType;

/// How far FROM has been printed: the items of its scope, and the columns of its row.
#[derive(Clone, Copy, Default)]
struct Passed {
    items: usize,
    columns: u32,
}

impl Writer<'_, '_, '_> {
    /// The items of FROM behind the first `skipped`; `row` is that of all.
    pub(super) fn list_of_from(
        &self,
        word: &str,
        from: &FromList,
        skipped: usize,
        row: &Frame<'_>,
        out: &mut Layout,
    ) -> Result<()> {
        // What is around the query is around its FROM, where nothing of it is seen yet.
        let nothing = Frame::empty(row.around);
        let around = Around { frame: Some(&nothing), cost: 0 };
        let mut passed = Passed::default();
        for (number, (tree, lateral)) in from.list.iter().enumerate() {
            if number < skipped {
                pass(tree, row, &mut passed);
                continue;
            }
            let trees = from.list[..number].iter().map(|(tree, _)| tree);
            let left = part_of(row, Passed::default(), passed, trees, around);
            let around = if *lateral { Around::of(&left) } else { around };
            let mut print = |out: &mut Layout| self.from(tree, row, around, &mut passed, out);
            if number == skipped {
                out.keyword(word, -Layout::STANDARD, Layout::STANDARD, 2);
                print(out)?;
            } else {
                self.next_from(out, print)?;
            }
        }
        Ok(())
    }

    /// An item of FROM, and what it is called.
    fn from(
        &self,
        tree: &FromTree,
        row: &Frame<'_>,
        around: Around<'_>,
        passed: &mut Passed,
        out: &mut Layout,
    ) -> Result<()> {
        if let FromTree::Join(join) = tree {
            return self.join(join, row, around, passed, out);
        }
        let found = row.items.get(passed.items).zip(row.names.get(passed.items));
        let (item, printed) = found.ok_or_else(|| unwritten("FROM"))?;
        pass(tree, row, passed);
        match tree {
            FromTree::Table { relation, aliased, sample, .. } => {
                let relation = self.relation(*relation).ok_or_else(|| unwritten("FROM"))?;
                out.push_str(&self.relation_name(relation));
                self.named_table(&relation.name, *aliased, printed, out);
                sample.as_ref().map_or(Ok(()), |sample| self.sample(sample, around, out))
            }
            FromTree::With { name, aliased, .. } => {
                out.push_str(&identifier(name));
                self.named_table(name, *aliased, printed, out);
                Ok(())
            }
            FromTree::Query { tree, lateral, listed } => {
                out.push_str(if *lateral { "LATERAL (" } else { "(" });
                let named = item.name.as_deref() == Some(VALUES) && !listed;
                match &tree.body {
                    BodyTree::Values { rows, types } if named => {
                        self.values(rows, types, around, out)?;
                    }
                    _ => self.query(tree, around, Headings::Own, out)?,
                }
                out.push(')');
                self.alias(printed.name.as_deref(), out);
                if printed.listed {
                    out.push_str(&printed.column_list());
                }
                Ok(())
            }
            FromTree::Function { calls, ordinality, aliased, .. } => {
                let frame = Frame::empty(around);
                if calls.iter().any(|(call, _)| looks_left(call, around)) {
                    out.push_str("LATERAL ");
                }
                let own = self.calls(calls, *ordinality, &frame, out)?;
                if *ordinality {
                    out.push_str(" WITH ORDINALITY");
                }
                // XMLTABLE says itself what its columns are called.
                let is_table = matches!(calls[..], [(Expr::XmlTable { .. }, _)]);
                if !is_table || *aliased || printed.name.as_deref() != Some("xmltable") {
                    self.alias(printed.name.as_deref(), out);
                }
                match own {
                    Some(definitions) => {
                        let columns = item.columns.iter().enumerate();
                        let columns = columns.filter(|(_, column)| !column.system);
                        let names = columns.map(|(at, _)| printed.column(at, item));
                        self.definitions(names.zip(definitions), &frame, out)?;
                    }
                    None if printed.listed => out.push_str(&printed.column_list()),
                    None => {}
                }
                Ok(())
            }
            FromTree::Join(_) => Err(unwritten("FROM")),
        }
    }

    /// A relation's name: with its schema where the path does not find it, or a WITH query of that name would be meant
    /// (`generate_relation_name`).
    pub(super) fn relation_name(&self, relation: &Relation) -> String {
        let seen = self.binder.catalog.find(self.binder.path, &relation.name);
        let short = !self.how.qualified && seen == Some(Named::Relation(relation.oid));
        let with = self.ctes.borrow().iter().flatten().any(|name| *name == relation.name);
        if short && !with { identifier(&relation.name) } else { relation.qualified_name() }
    }

    /// The name and the columns behind that of a table.
    fn named_table(&self, own: &str, aliased: bool, printed: &Printed, out: &mut Layout) {
        if aliased || printed.listed || printed.name.as_deref() != Some(own) {
            self.alias(printed.name.as_deref(), out);
        }
        if printed.listed {
            out.push_str(&printed.column_list());
        }
    }

    /// The calls of an item; gives what is said of the columns of the only one's record, which stands behind the item's name.
    fn calls<'c>(
        &self,
        calls: &'c [(Expr, Vec<(Ident, SqlType)>)],
        ordinality: bool,
        frame: &Frame<'_>,
        out: &mut Layout,
    ) -> Result<Option<&'c [(Ident, SqlType)]>> {
        if let [(call, definitions)] = calls
            && (definitions.is_empty() || !ordinality)
        {
            self.expression(call, frame, out)?;
            return Ok(Some(&definitions[..]).filter(|definitions| !definitions.is_empty()));
        }
        let array = |(call, definitions): &'c (Expr, Vec<_>)| match call {
            Expr::Call { function, arguments, .. }
                if function.0 == UNNEST && definitions.is_empty() =>
            {
                arguments.first()
            }
            _ => None,
        };
        let arrays: Option<Vec<&Expr>> = calls.iter().map(array).collect();
        let (word, parts) = match arrays {
            Some(arrays) => ("UNNEST(", arrays),
            None => ("ROWS FROM(", calls.iter().map(|(call, _)| call).collect()),
        };
        out.push_str(word);
        for (at, (part, (_, definitions))) in parts.into_iter().zip(calls).enumerate() {
            if at > 0 {
                out.push_str(", ");
            }
            self.expression(part, frame, out)?;
            if !definitions.is_empty() {
                out.push_str(" AS ");
                let names = definitions.iter().map(|(name, _)| name);
                self.definitions(names.zip(definitions), frame, out)?;
            }
        }
        out.push(')');
        Ok(None)
    }

    fn join(
        &self,
        join: &JoinTree,
        row: &Frame<'_>,
        around: Around<'_>,
        passed: &mut Passed,
        out: &mut Layout,
    ) -> Result<()> {
        let enclosed = !self.how.pretty || join.aliased;
        if enclosed {
            out.push('(');
        }
        let first = *passed;
        self.from(&join.left, row, around, passed, out)?;
        let word = match (join.kind, &join.condition) {
            (JoinKind::Left, _) => " LEFT JOIN ",
            (JoinKind::Right, _) => " RIGHT JOIN ",
            (JoinKind::Full, _) => " FULL JOIN ",
            (_, ConditionTree::Nothing) => " CROSS JOIN ",
            _ => " JOIN ",
        };
        out.keyword(word, -Layout::STANDARD, Layout::STANDARD, Layout::JOIN);
        let inner =
            self.how.pretty && matches!(&join.right, FromTree::Join(right) if !right.aliased);
        if inner {
            out.push('(');
        }
        let left = part_of(row, first, *passed, [&join.left].into_iter(), around);
        let beside = if join.lateral { Around::of(&left) } else { around };
        self.from(&join.right, row, beside, passed, out)?;
        if inner {
            out.push(')');
        }
        match &join.condition {
            ConditionTree::Nothing => {
                if matches!(join.kind, JoinKind::Left | JoinKind::Right | JoinKind::Full) {
                    out.push_str(" ON TRUE");
                }
            }
            ConditionTree::On(condition) => {
                let trees = [&join.left, &join.right].into_iter();
                let sides = part_of(row, first, *passed, trees, around);
                out.push_str(if self.how.pretty { " ON " } else { " ON (" });
                self.expression(condition, &sides, out)?;
                if !self.how.pretty {
                    out.push(')');
                }
            }
            ConditionTree::Using(columns, name, _) => {
                // They are called as the columns of the left side are by now.
                let own = passed.items + usize::from(name.is_some());
                let names = row.names.get(own).map_or(&[][..], |printed| &printed.columns);
                let shown = columns.iter().zip(names);
                let shown = shown.map(|(old, new)| new.as_ref().unwrap_or(old).clone());
                out.push_str(" USING ");
                out.push_str(&list(&shown.collect::<Vec<_>>()));
                if let Some(name) = name {
                    out.push_str(" AS ");
                    out.push_str(&identifier(name));
                    passed.items += 1;
                }
            }
        }
        if enclosed {
            out.push(')');
        }
        passed.items += usize::from(join.has_item);
        if join.aliased {
            let printed = row.names.get(passed.items - 1).ok_or_else(|| unwritten("FROM"))?;
            self.alias(printed.name.as_deref(), out);
            if printed.listed {
                out.push_str(&printed.column_list());
            }
        }
        Ok(())
    }

    fn sample(&self, sample: &SampleTree, around: Around<'_>, out: &mut Layout) -> Result<()> {
        let frame = Frame::empty(around);
        out.push_str(&format!(" TABLESAMPLE {} (", identifier(&sample.method)));
        let shown = |value: &Expr, out: &mut Layout| {
            let given = uncast(value);
            self.print(&frame, |printer| match std::ptr::eq(given, value) {
                true => printer.write(value, out),
                false => printer.operand(given, Parent::Cast, out),
            })
        };
        shown(&sample.percentage, out)?;
        out.push(')');
        if let Some(seed) = &sample.seed {
            out.push_str(" REPEATABLE (");
            shown(seed, out)?;
            out.push(')');
        }
        Ok(())
    }

    /// The columns of a record's rows, as its call says them.
    fn definitions<'n>(
        &self,
        columns: impl Iterator<Item = (&'n Ident, &'n (Ident, SqlType))>,
        frame: &Frame<'_>,
        out: &mut Layout,
    ) -> Result<()> {
        let mut shown = Vec::new();
        for (name, (_, ty)) in columns {
            self.print(frame, |printer| {
                shown.push(format!("{} {}", identifier(name), printer.type_name(*ty)));
                Ok(())
            })?;
        }
        out.push_str(&format!("({})", shown.join(", ")));
        Ok(())
    }

    fn alias(&self, name: Option<&str>, out: &mut Layout) {
        if let Some(name) = name {
            out.push(' ');
            out.push_str(&identifier(name));
        }
    }
}

/// Passes an item.
fn pass(tree: &FromTree, row: &Frame<'_>, passed: &mut Passed) {
    match tree {
        FromTree::Join(join) => {
            let end = passed.items + tree.items();
            pass(&join.left, row, passed);
            pass(&join.right, row, passed);
            passed.items = end;
        }
        _ => {
            let columns = row.items.get(passed.items).map_or(0, |item| item.columns.len());
            passed.columns += columns as u32;
            passed.items += 1;
        }
    }
}

/// The row of the items from one place to another, which are those of `trees`.
fn part_of<'f, 't>(
    row: &Frame<'f>,
    from: Passed,
    to: Passed,
    trees: impl Iterator<Item = &'t FromTree>,
    around: Around<'f>,
) -> Frame<'f> {
    let (items, base, mut visible) = (from.items..to.items, from.columns, Vec::new());
    trees.for_each(|tree| tree.visible(&mut visible));
    let (items, names): (&[ScopeItem], &[Printed]) =
        (&row.items[items.clone()], row.names.get(items).unwrap_or_default());
    Frame { items, names, visible, base, is_left: true, ..Frame::empty(around) }
}

/// Whether a call in FROM looks at what stands to its left.
fn looks_left(call: &Expr, around: Around<'_>) -> bool {
    let (mut reach, mut at) = (0, around);
    while let Some(frame) = at.frame.filter(|frame| frame.is_left) {
        reach += at.cost;
        at = frame.around;
    }
    let mut found = false;
    columns_of_expr(&mut call.clone(), 0, &mut |column, depth| {
        found |= matches!(column, Expr::Column { level, .. } if (depth + 1..=depth + reach).contains(level));
    });
    found
}
