//! FOR UPDATE and its family: which scans lock their rows, how strongly, and what waiting for them means.
//!
//! A query in FROM that is named has its own tables locked (`transformLockingClause`): above the sort of the query around it
//! where its rows go straight into that, else in itself, as if it said FOR UPDATE.

use crate::bind::logical::{Node, Query};
use crate::bind::scope::{Scope, Source};
use crate::bind::shape::{Grouped, Shape};
use crate::bind::{Binder, Holder, Required};
use crate::catalog::RelationKind;
use crate::catalog::acl::Privileges;
use crate::error::{Result, SqlError};
use crate::parse::ast;
use crate::sqlstate::SqlState;
use crate::types::Oid;
use std::sync::Arc;
use txn::{RowLock, TableLock, WaitPolicy};

/// An item of FROM whose rows are locked.
#[derive(Clone, Copy, Debug)]
pub(super) struct LockedItem {
    /// Its place in the scope.
    pub item: usize,
    /// How strongly.
    pub strength: RowLock,
    /// What to do where somebody has a row.
    pub wait: WaitPolicy,
}

/// What a SELECT says of its rows' locks.
pub(super) enum Locking<'q> {
    /// As it was written.
    Written(&'q [ast::Locking]),
    /// As its tree says.
    Kept(&'q [LockedItem]),
}

impl Locking<'_> {
    /// The strength that is said first.
    pub fn strength(&self) -> Option<RowLock> {
        match self {
            Locking::Written(written) => written.first().map(|locking| locking.strength),
            Locking::Kept(items) => items.first().map(|item| item.strength),
        }
    }
}

/// Scans by their numbers, with strength and policy.
type Locks = Vec<(u32, RowLock, WaitPolicy)>;

/// What the rows of a node are made of.
struct Sources<'r> {
    /// The scans of tables.
    scans: Vec<u32>,
    /// The relations that these and others read.
    read: &'r mut Vec<Oid>,
}

impl Binder<'_> {
    /// The items that FOR UPDATE and its family name, each once.
    pub(super) fn locked_items(
        &self,
        written: &[ast::Locking],
        scope: &Scope<'_>,
    ) -> Result<Vec<LockedItem>> {
        let mut locked: Vec<LockedItem> = Vec::new();
        for locking in written {
            let mut chosen = Vec::new();
            if locking.of.is_empty() {
                let rows = scope.items.iter().enumerate();
                let rows = rows.filter(|(_, item)| {
                    item.scan.is_some()
                        || matches!(item.source, Source::Query(_) | Source::Relation)
                });
                chosen.extend(rows.map(|(at, _)| at));
            }
            for name in &locking.of {
                chosen.push(self.named_item(name, lock_words(locking.strength), scope)?);
            }
            for item in chosen {
                match locked.iter_mut().find(|known| known.item == item) {
                    Some(known) => {
                        known.strength = known.strength.max(locking.strength);
                        known.wait = stricter(known.wait, locking.wait);
                    }
                    None => locked.push(LockedItem {
                        item,
                        strength: locking.strength,
                        wait: locking.wait,
                    }),
                }
            }
        }
        Ok(locked)
    }

    /// 42809 for rows that nobody may lock.
    fn demand_kind(&self, relation: Oid) -> Result<()> {
        let Some(relation) = self.catalog.relation(relation) else { return Ok(()) };
        let what = match relation.kind {
            RelationKind::Sequence(_) => "sequence",
            _ if relation.stored_query.is_some() => "materialized view",
            _ => return Ok(()),
        };
        Err(SqlError::new(
            SqlState::WRONG_OBJECT_TYPE,
            format!("cannot lock rows in {what} \"{}\"", relation.name),
        ))
    }

    /// The item that OF names.
    fn named_item(&self, name: &ast::ObjectName, words: &str, scope: &Scope<'_>) -> Result<usize> {
        let at = self.position(name.at);
        let found = scope.items.iter().position(|item| item.name.as_ref() == Some(name.name()));
        let Some(found) = found else {
            let message =
                format!("relation \"{}\" in {words} clause not found in FROM clause", name.name());
            return Err(SqlError::new(SqlState::UNDEFINED_TABLE, message).at(at));
        };
        let item = &scope.items[found];
        let what = match item.source {
            Source::Query(_) => return Ok(found),
            Source::Relation if item.scan.is_some() => return Ok(found),
            Source::Relation => {
                let what = format!("{words} of what is not a table is");
                return Err(SqlError::unsupported(what).at(at));
            }
            Source::With => "a WITH query",
            Source::Function => "a function",
            Source::Join => "a join",
        };
        let message = format!("{words} cannot be applied to {what}");
        Err(SqlError::new(SqlState::FEATURE_NOT_SUPPORTED, message).at(at))
    }

    /// FOR UPDATE and its family, above the sort and below the limit.
    pub(super) fn lock(
        &self,
        mut node: Node,
        locking: &Locking<'_>,
        scope: &Scope<'_>,
    ) -> Result<Node> {
        if let Some(strength) = locking.strength() {
            demand_lockable(&node, strength)?;
            self.apart.set(true);
        }
        let locked = match locking {
            Locking::Written(written) => self.locked_items(written, scope)?,
            Locking::Kept(items) => items.to_vec(),
        };
        let mut locks = Locks::new();
        let mut read = Vec::new();
        for LockedItem { item, strength, wait } in locked {
            let item = &scope.items[item];
            let scans = match (item.source, item.scan) {
                (Source::Query(number), _) => {
                    if item.row_type != Oid(0)
                        && let Some((view, _)) = item.columns.iter().find_map(|it| it.origin)
                    {
                        self.require(view, Privileges::UPDATE);
                        self.hold(view, TableLock::RowShare);
                    }
                    match query_of(&mut node, number) {
                        Some((query, view)) => {
                            let query = Arc::make_mut(query);
                            self.lock_query(query, view.is_some(), (strength, wait), &mut read)?
                        }
                        None => Vec::new(),
                    }
                }
                (_, Some(scan)) => {
                    if let Some((table, _)) = item.columns.iter().find_map(|it| it.origin) {
                        self.require(table, Privileges::UPDATE);
                        self.hold(table, TableLock::RowShare);
                        read.push(table);
                    }
                    vec![scan]
                }
                // Of what is only shown no rows are locked, but who may not is told so.
                (Source::Relation, None) => {
                    if let Some((shown, _)) = item.columns.iter().find_map(|it| it.origin) {
                        self.require(shown, Privileges::UPDATE);
                        read.push(shown);
                    }
                    Vec::new()
                }
                _ => Vec::new(),
            };
            add(&mut locks, &scans, strength, wait);
        }
        read.into_iter().try_for_each(|relation| self.demand_kind(relation))?;
        Ok(if locks.is_empty() { node } else { Node::LockRows { input: Box::new(node), locks } })
    }

    /// Locks the rows of a query in FROM, or of one in a view. Gives the scans that the query around it is to lock; none where
    /// this one does. Adds what is read to `read`.
    fn lock_query(
        &self,
        query: &mut Query,
        in_view: bool,
        (strength, wait): (RowLock, WaitPolicy),
        read: &mut Vec<Oid>,
    ) -> Result<Vec<u32>> {
        // Of a view nothing is locked that is below a set operation (`markQueryForLocking`).
        if in_view && Shape::of(&query.root).set_operation {
            return Ok(Vec::new());
        }
        demand_lockable(&query.root, strength)?;
        let mut sources = Sources { scans: Vec::new(), read };
        self.lock_sources(&mut query.root, in_view, (strength, wait), &mut sources)?;
        let scans = sources.scans;
        if query.ctes.is_empty() && goes_straight(&query.root) {
            return Ok(scans);
        }
        let mut place = &mut query.root;
        while let Node::Limit { input, .. } = place {
            place = input;
        }
        if !matches!(place, Node::LockRows { .. }) {
            let input = Box::new(std::mem::replace(place, Node::Unit));
            *place = Node::LockRows { input, locks: Locks::new() };
        }
        if let Node::LockRows { locks, .. } = place {
            add(locks, &scans, strength, wait);
        }
        Ok(Vec::new())
    }

    /// The scans whose rows the rows of a node are made of.
    fn lock_sources(
        &self,
        node: &mut Node,
        in_view: bool,
        how: (RowLock, WaitPolicy),
        sources: &mut Sources<'_>,
    ) -> Result<()> {
        match node {
            Node::Scan { relation, item, .. }
                if matches!(relation.kind, RelationKind::Table { .. }) =>
            {
                self.hold(relation.oid, TableLock::RowShare);
                self.require_update(relation.oid);
                sources.scans.push(*item);
                sources.read.push(relation.oid);
            }
            Node::Derived { query, item: Some(_), view, .. } => {
                if let Some(view) = *view {
                    self.hold(view, TableLock::RowShare);
                    self.require_update(view);
                }
                let in_view = in_view || view.is_some();
                let scans = self.lock_query(Arc::make_mut(query), in_view, how, sources.read)?;
                sources.scans.extend(scans);
            }
            Node::Join { left, right, .. } => {
                self.lock_sources(left, in_view, how, sources)?;
                self.lock_sources(right, in_view, how, sources)?;
            }
            Node::Filter { input, .. }
            | Node::Barrier { input, .. }
            | Node::Project { input, .. }
            | Node::Sort { input, .. }
            | Node::Limit { input, .. }
            | Node::LockRows { input, .. } => self.lock_sources(input, in_view, how, sources)?,
            _ => {}
        }
        Ok(())
    }

    /// Whoever reads a table or a view within a query in FROM, the user or the owner of a view around it, must be allowed
    /// to change it.
    fn require_update(&self, read: Oid) {
        let mut required = self.required.borrow_mut();
        let readers = required.iter_mut().filter_map(|known| match known {
            Required::Relation { relation, holder, privileges, .. } if *relation == read => {
                Some((!matches!(holder, Holder::Owner(_)), privileges))
            }
            _ => None,
        });
        let mut readers: Vec<(bool, &mut Privileges)> = readers.collect();
        let by_user = readers.iter().any(|(user, _)| *user);
        for (_, privileges) in readers.iter_mut().filter(|(user, _)| *user == by_user) {
            **privileges = privileges.union(Privileges::UPDATE);
        }
    }
}

fn add(locks: &mut Locks, scans: &[u32], strength: RowLock, wait: WaitPolicy) {
    for scan in scans {
        match locks.iter_mut().find(|(known, ..)| known == scan) {
            Some((_, known, policy)) => {
                *known = (*known).max(strength);
                *policy = stricter(*policy, wait);
            }
            None => locks.push((*scan, strength, wait)),
        }
    }
}

/// The query in FROM that has this number, and the view whose it is.
fn query_of(node: &mut Node, number: u32) -> Option<(&mut Arc<Query>, Option<Oid>)> {
    match node {
        Node::Derived { query, item, view, .. } if *item == Some(number) => Some((query, *view)),
        Node::Join { left, right, .. } => {
            query_of(left, number).or_else(|| query_of(right, number))
        }
        Node::Filter { input, .. }
        | Node::Barrier { input, .. }
        | Node::Project { input, .. }
        | Node::Sort { input, .. } => query_of(input, number),
        _ => None,
    }
}

/// Whether the rows of a query in FROM are those of its tables, with nothing that chooses or orders them.
fn goes_straight(node: &Node) -> bool {
    match node {
        Node::Filter { input, .. } | Node::Barrier { input, .. } | Node::Project { input, .. } => {
            goes_straight(input)
        }
        Node::Sort { .. } | Node::Limit { .. } | Node::LockRows { .. } => false,
        _ => true,
    }
}

/// Refuses to lock rows that are not made of one row of each table (`CheckSelectLocking`).
fn demand_lockable(root: &Node, strength: RowLock) -> Result<()> {
    let shape = Shape::of(root);
    let what = if shape.set_operation {
        "UNION/INTERSECT/EXCEPT"
    } else if shape.distinct {
        "DISTINCT clause"
    } else if let Some(grouped) = shape.grouped {
        match grouped {
            Grouped::ByKeys => "GROUP BY clause",
            Grouped::Having => "HAVING clause",
            Grouped::Whole => "aggregate functions",
        }
    } else if shape.windows {
        "window functions"
    } else if shape.sets {
        "set-returning functions in the target list"
    } else {
        return Ok(());
    };
    Err(SqlError::new(
        SqlState::FEATURE_NOT_SUPPORTED,
        format!("{} is not allowed with {what}", lock_words(strength)),
    ))
}

fn stricter(a: WaitPolicy, b: WaitPolicy) -> WaitPolicy {
    match (a, b) {
        (WaitPolicy::Error, _) | (_, WaitPolicy::Error) => WaitPolicy::Error,
        (WaitPolicy::Skip, _) | (_, WaitPolicy::Skip) => WaitPolicy::Skip,
        _ => WaitPolicy::Block,
    }
}

/// How a query asks for this lock on its rows.
#[must_use]
pub fn lock_words(strength: RowLock) -> &'static str {
    match strength {
        RowLock::KeyShare => "FOR KEY SHARE",
        RowLock::Share => "FOR SHARE",
        RowLock::NoKeyUpdate => "FOR NO KEY UPDATE",
        RowLock::Update => "FOR UPDATE",
    }
}
