//! FOR UPDATE and its family: which scans lock their rows, how strongly, and what waiting for them means.

use crate::bind::Binder;
use crate::bind::scope::Scope;
use crate::error::{Result, SqlError};
use crate::parse::ast::{self, Distinct, Select};
use crate::plan::logical::Node;
use crate::sqlstate::SqlState;
use txn::{RowLock, TableLock, WaitPolicy};

impl Binder<'_> {
    /// FOR UPDATE and its family, above the sort and below the limit.
    pub(super) fn lock(
        &self,
        node: Node,
        query: &ast::Query,
        select: &Select,
        scope: &Scope<'_>,
        grouped: bool,
    ) -> Result<Node> {
        let mut locks: Vec<(u32, RowLock, WaitPolicy)> = Vec::new();
        for locking in &query.locking {
            let words = lock_words(locking.strength);
            let refused = |what: &str| {
                Err(SqlError::new(
                    SqlState::FEATURE_NOT_SUPPORTED,
                    format!("{words} is not allowed with {what}"),
                ))
            };
            if !matches!(select.distinct, Distinct::No) {
                return refused("DISTINCT clause");
            }
            if !select.group_by.is_empty() {
                return refused("GROUP BY clause");
            }
            if select.having.is_some() {
                return refused("HAVING clause");
            }
            if grouped {
                return refused("aggregate functions");
            }
            let mut chosen = Vec::new();
            if locking.of.is_empty() {
                chosen.extend(scope.items.iter().filter_map(|item| item.scan));
            }
            for name in &locking.of {
                let at = self.position(name.at);
                let item = scope.items.iter().find(|item| item.name.as_ref() == Some(name.name()));
                let Some(item) = item else {
                    return Err(SqlError::new(
                        SqlState::UNDEFINED_TABLE,
                        format!(
                            "relation \"{}\" in {words} clause not found in FROM clause",
                            name.name()
                        ),
                    )
                    .at(at));
                };
                let Some(scan) = item.scan else {
                    return Err(SqlError::unsupported(format!(
                        "{words} of what is not a table is"
                    ))
                    .at(at));
                };
                chosen.push(scan);
            }
            for item in scope
                .items
                .iter()
                .filter(|item| item.scan.is_some_and(|scan| chosen.contains(&scan)))
            {
                if let Some((table, _)) = item.columns.iter().find_map(|column| column.origin) {
                    self.require(table, crate::catalog::acl::Privileges::UPDATE);
                    self.hold(table, TableLock::RowShare);
                }
            }
            for scan in chosen {
                match locks.iter_mut().find(|(known, ..)| *known == scan) {
                    Some((_, strength, wait)) => {
                        *strength = (*strength).max(locking.strength);
                        *wait = stricter(*wait, locking.wait);
                    }
                    None => locks.push((scan, locking.strength, locking.wait)),
                }
            }
            if locking.of.is_empty() && holds_subquery(&node) {
                return Err(SqlError::unsupported(format!("{words} of a subquery in FROM is")));
            }
        }
        Ok(if locks.is_empty() { node } else { Node::LockRows { input: Box::new(node), locks } })
    }
}

/// Whether a FROM subquery stands below a node: FOR UPDATE would reach into it.
fn holds_subquery(node: &Node) -> bool {
    match node {
        Node::Derived { .. } => true,
        Node::Join { left, right, .. } => holds_subquery(left) || holds_subquery(right),
        Node::Filter { input, .. }
        | Node::Project { input, .. }
        | Node::ProjectSet { input, .. }
        | Node::Sort { input, .. } => holds_subquery(input),
        _ => false,
    }
}

fn stricter(a: WaitPolicy, b: WaitPolicy) -> WaitPolicy {
    match (a, b) {
        (WaitPolicy::Error, _) | (_, WaitPolicy::Error) => WaitPolicy::Error,
        (WaitPolicy::Skip, _) | (_, WaitPolicy::Skip) => WaitPolicy::Skip,
        _ => WaitPolicy::Block,
    }
}

pub(crate) fn lock_words(strength: RowLock) -> &'static str {
    match strength {
        RowLock::KeyShare => "FOR KEY SHARE",
        RowLock::Share => "FOR SHARE",
        RowLock::NoKeyUpdate => "FOR NO KEY UPDATE",
        RowLock::Update => "FOR UPDATE",
    }
}
