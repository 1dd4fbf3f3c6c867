//! What names stand for, from the innermost query outwards (manual, sections 4.2.1 and 7.2.1).
//!
//! A scope is one row at run time. `cost` is what it takes to reach the parent's row: 1 where the executor keeps the parent's
//! row on its stack of outer rows (a subquery in an expression, the right side of a lateral join), 0 where this scope's query
//! runs in place of its parent's row (a subquery in FROM).

use crate::bind::grouping::Collected;
use crate::bind::levels::raise;
use crate::bind::typed::Expr;
use crate::catalog::system_column::TABLE_OID;
use crate::parse::ast::Ident;
use crate::types::{Oid, SqlType};
use std::cell::{Cell, RefCell};
use std::sync::Arc;

/// A column that a name can stand for.
#[derive(Clone, Debug)]
pub struct ScopeColumn {
    /// Its name.
    pub name: Ident,
    /// Its value over the scope's row.
    pub expr: Expr,
    /// The table and `attnum` it stands for, if it is a plain column.
    pub origin: Option<(Oid, i16)>,
    /// System columns are found by name and left out of `*`.
    pub system: bool,
}

/// A table, function, subquery or join of FROM.
#[derive(Clone, Debug)]
pub struct ScopeItem {
    /// The name that qualifies its columns; none for a join without an alias.
    pub name: Option<Ident>,
    /// The schema that may stand before the name.
    pub schema: Option<Arc<str>>,
    /// Its columns.
    pub columns: Vec<ScopeColumn>,
    /// Unqualified names find its columns. Not so for an item below a join that merges columns.
    pub columns_visible: bool,
    /// Qualified names find it. Not so below a join with an alias.
    pub name_visible: bool,
    /// The composite type of its rows, 0 if none has a name.
    pub row_type: Oid,
    /// It is a function that returns one plain value, which its name stands for.
    pub value: bool,
    /// Its number among the scans of its query block, for FOR UPDATE OF and the target of UPDATE.
    pub scan: Option<u32>,
    /// What its rows are.
    pub source: Source,
    /// Whether an outer join may have no row of it; none of a join, whose row is made of its columns whatever they are.
    pub nullable: Option<bool>,
}

/// What the column is called that an outer join has for rows of an item that are there: no name can be empty.
pub(super) const PRESENCE: &str = "";

impl ScopeItem {
    /// The column that is NULL exactly where an outer join has no row of this item: a table's OID, or one that was added.
    pub(super) fn presence(&self) -> Option<&ScopeColumn> {
        let tells = |column: &&ScopeColumn| {
            let table = column.origin.is_some_and(|(_, number)| number == TABLE_OID);
            column.system && (table || *column.name == *PRESENCE)
        };
        self.columns.iter().find(tells)
    }
}

/// What the rows of a FROM item are, for FOR UPDATE.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// Those of a table, sequence or system relation.
    Relation,
    /// Those of a subquery or a view: its number among the scans.
    Query(u32),
    /// Those of a WITH query.
    With,
    /// What a function returns.
    Function,
    /// Those of a join.
    Join,
}

/// Where in a query something stands.
#[derive(Clone, Copy, Debug, Default)]
pub struct Standing<'p> {
    /// The clause, as messages name it.
    pub clause: &'static str,
    /// Where aggregates go; none: the clause takes none.
    pub(super) collected: Option<&'p RefCell<Collected>>,
}

/// The names of one row.
#[derive(Debug)]
pub struct Scope<'p> {
    /// FROM items in order.
    pub items: Vec<ScopeItem>,
    /// What encloses it.
    pub parent: Option<&'p Scope<'p>>,
    /// Levels from here to the parent's row.
    pub cost: u16,
    /// Where in the parent's query this stands, for aggregates that belong there.
    pub stands: Standing<'p>,
    /// The left side of a join, seen from its right side.
    pub lateral: bool,
    /// Whether names may be found in lateral scopes directly above (LATERAL, functions).
    pub sees_lateral: bool,
    /// Whether a name found here is refused: the left side of a join whose right side may have no match on the left.
    pub refused: bool,
    /// Whether any name was found here from inside.
    pub used: Cell<bool>,
}

/// What one scope has under a name: the item's name, the value, the column it stands for.
type Hit = Result<(Option<Ident>, Expr, Option<(Oid, i16)>), Missing>;

/// What a name was found to be.
#[derive(Clone, Debug)]
pub struct Found {
    /// Its value.
    pub expr: Expr,
    /// Where it comes from.
    pub origin: Option<(Oid, i16)>,
    /// Steps out, 0 for the innermost scope.
    pub level: u16,
    /// The name of its item.
    pub item: Option<Ident>,
}

/// Why a name was not found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Missing {
    /// Two columns have the name.
    Ambiguous,
    /// Nothing has it.
    Unknown,
    /// The item is there, and has no such column.
    NoColumn,
    /// The item is in FROM, but not to be referred to from here.
    Hidden,
    /// The item of this name is on the other side of a RIGHT or FULL JOIN.
    Refused(Ident),
}

impl<'p> Scope<'p> {
    /// The scope of the row `level` steps out.
    pub fn rows_out(&self, level: u16) -> Option<&Scope<'p>> {
        let (mut scope, mut passed) = (self, 0);
        while passed < level {
            passed += scope.cost;
            scope = scope.parent?;
        }
        Some(scope)
    }

    /// How many scopes enclose it.
    pub fn depth(&self) -> usize {
        std::iter::successors(self.parent, |scope| scope.parent).count()
    }

    /// The scope of a query block without FROM items yet.
    #[must_use]
    pub fn new(parent: Option<&'p Scope<'p>>, cost: u16) -> Scope<'p> {
        Scope {
            items: Vec::new(),
            parent,
            cost,
            stands: Standing::default(),
            lateral: false,
            sees_lateral: true,
            refused: false,
            used: Cell::new(false),
        }
    }

    /// A scope whose names are known around [`Scope::beside`] it, and refused there.
    #[must_use]
    pub fn hiding(items: Vec<ScopeItem>) -> Scope<'static> {
        Scope { items, lateral: true, ..Scope::new(None, 0) }
    }

    /// An empty scope beside one that hides its names.
    #[must_use]
    pub fn beside(hidden: &'p Scope<'p>) -> Scope<'p> {
        Scope { sees_lateral: false, ..Scope::new(Some(hidden), 0) }
    }

    /// An unqualified column: found in the innermost scope that has one.
    ///
    /// # Errors
    /// [`Missing::Ambiguous`] where that scope has two, [`Missing::Unknown`].
    pub fn column(&self, name: &str) -> Result<Found, Missing> {
        self.search(&mut |scope| {
            let mut found = None;
            for item in scope.items.iter().filter(|item| item.columns_visible) {
                for column in item.columns.iter().filter(|column| &*column.name == name) {
                    if found.is_some() {
                        return Some(Err(Missing::Ambiguous));
                    }
                    found = Some((item, column));
                }
            }
            found.map(|(item, column)| Ok((item.name.clone(), column.expr.clone(), column.origin)))
        })
    }

    /// Whether this scope itself, not one around it, has an unqualified column of the name.
    #[must_use]
    pub fn has_column(&self, name: &str) -> bool {
        let mut items = self.items.iter().filter(|item| item.columns_visible);
        items.any(|item| item.columns.iter().any(|column| &*column.name == name))
    }

    /// A qualified column.
    ///
    /// # Errors
    /// [`Missing::Unknown`] if no item has the name, [`Missing::NoColumn`] if the item has no such column.
    pub fn qualified(
        &self,
        schema: Option<&str>,
        item: &str,
        name: &str,
    ) -> Result<Found, Missing> {
        self.search(&mut |scope| {
            let mut items = scope.named(schema, item);
            let first = items.next()?;
            if items.next().is_some() {
                return Some(Err(Missing::Ambiguous));
            }
            let mut columns = first.columns.iter().filter(|column| &*column.name == name);
            match (columns.next(), columns.next()) {
                (None, _) => Some(Err(Missing::NoColumn)),
                (Some(_), Some(_)) => Some(Err(Missing::Ambiguous)),
                (Some(column), None) => {
                    Some(Ok((first.name.clone(), column.expr.clone(), column.origin)))
                }
            }
        })
    }

    fn named(&self, schema: Option<&str>, item: &str) -> impl Iterator<Item = &ScopeItem> {
        self.items.iter().filter(move |found| {
            found.name_visible
                && found.name.as_deref() == Some(item)
                && schema.is_none_or(|schema| found.schema.as_deref() == Some(schema))
        })
    }

    /// An item by name, with its level; its columns' values are still those of its own scope.
    #[must_use]
    pub fn item(&self, schema: Option<&str>, name: &str) -> Option<(&ScopeItem, u16)> {
        let (mut scope, mut level, mut skip) = (self, 0, false);
        loop {
            if !skip && let Some(item) = scope.named(schema, name).next() {
                scope.used.set(true);
                return Some((item, level));
            }
            (scope, level, skip) = scope.outwards(level, skip)?;
        }
    }

    /// The scope around this one, the level there, and whether its names are hidden.
    fn outwards(&self, level: u16, skipping: bool) -> Option<(&'p Scope<'p>, u16, bool)> {
        let parent = self.parent?;
        // A subquery in FROM without LATERAL looks past the lateral scopes that it stands in.
        let hidden = parent.lateral && (skipping || (!self.lateral && !self.sees_lateral));
        Some((parent, level + self.cost, hidden))
    }

    /// Where the scope `level` rows out holds what this one is part of; `level` is not 0.
    #[must_use]
    pub fn standing(&self, level: u16) -> Standing<'p> {
        let (mut scope, mut passed) = (self, 0);
        loop {
            passed += scope.cost;
            if passed >= level {
                return scope.stands;
            }
            match scope.parent {
                Some(parent) => scope = parent,
                None => return Standing::default(),
            }
        }
    }

    fn search(&self, look: &mut dyn FnMut(&Scope<'_>) -> Option<Hit>) -> Result<Found, Missing> {
        let (mut scope, mut level, mut skip) = (self, 0, false);
        let mut hidden = false;
        loop {
            match look(scope) {
                Some(_) if skip => hidden = true,
                Some(Ok((item, ..))) if scope.refused => {
                    return Err(Missing::Refused(item.unwrap_or_else(|| "".into())));
                }
                Some(Ok((item, mut expr, origin))) => {
                    scope.used.set(true);
                    raise(&mut expr, level);
                    return Ok(Found { expr, origin, level, item });
                }
                Some(Err(missing)) => return Err(missing),
                None => {}
            }
            match scope.outwards(level, skip) {
                Some(next) => (scope, level, skip) = next,
                None => return Err(if hidden { Missing::Hidden } else { Missing::Unknown }),
            }
        }
    }
}

/// A plain column of a row.
#[must_use]
pub fn column_at(column: usize, ty: SqlType) -> Expr {
    Expr::Column { level: 0, column: column as u32, ty }
}
