//! The items of GROUP BY: lists, ROLLUP, CUBE and GROUPING SETS, and the sets of keys that each stands for (manual, section
//! 7.2.4).

use crate::bind::tree::GroupTree;
use crate::error::{Result, SqlError};
use crate::parse::ast::{self, ExprKind, GroupItem};
use crate::sqlstate::SqlState;
use std::collections::{BTreeSet, HashSet};

/// The most grouping sets of a block.
const SETS_MAX: usize = 4096;

/// 54001 for more grouping sets than a block may have.
fn demand_sets(sets: usize) -> Result<()> {
    if sets <= SETS_MAX {
        return Ok(());
    }
    Err(SqlError::new(
        SqlState::STATEMENT_TOO_COMPLEX,
        format!("too many grouping sets present (maximum {SETS_MAX})"),
    ))
}

/// The sets that the items of a GROUP BY come to: one of each, in every way; with DISTINCT each once.
pub(super) fn sets_of(items: &[GroupTree], distinct: bool) -> Result<Vec<Vec<u32>>> {
    let mut sets: Vec<Vec<u32>> = vec![Vec::new()];
    for item in items {
        let here = item.sets()?;
        demand_sets(sets.len().saturating_mul(here.len()))?;
        sets = sets
            .iter()
            .flat_map(|set| {
                here.iter().map(move |more| {
                    let mut all = set.clone();
                    all.extend(more.iter().filter(|key| !set.contains(key)));
                    all
                })
            })
            .collect();
    }
    if distinct {
        let mut seen = HashSet::new();
        sets.retain(|set| seen.insert(set.iter().copied().collect::<BTreeSet<u32>>()));
    }
    Ok(sets)
}

/// An item of GROUP BY, each key as `one` numbers it.
pub(super) fn group_tree(
    item: &GroupItem,
    one: &mut dyn FnMut(&ast::Expr) -> Result<u32>,
) -> Result<GroupTree> {
    /// Lists within lists are flattened, as there.
    fn keys(
        expr: &ast::Expr,
        one: &mut dyn FnMut(&ast::Expr) -> Result<u32>,
        into: &mut Vec<u32>,
    ) -> Result<()> {
        match &expr.kind {
            ExprKind::Row { fields, explicit: false } => {
                fields.iter().try_for_each(|field| keys(field, one, into))
            }
            _ => {
                into.push(one(expr)?);
                Ok(())
            }
        }
    }
    let mut group = |expr: &ast::Expr| -> Result<GroupTree> {
        let mut list = Vec::new();
        keys(expr, one, &mut list)?;
        let is_list = matches!(expr.kind, ExprKind::Row { explicit: false, .. });
        Ok(if is_list { GroupTree::List(list) } else { GroupTree::Key(list[0]) })
    };
    Ok(match item {
        GroupItem::Expr(expr) => group(expr)?,
        GroupItem::Empty => GroupTree::Empty,
        GroupItem::Rollup(exprs) => {
            GroupTree::Rollup(exprs.iter().map(group).collect::<Result<_>>()?)
        }
        GroupItem::Cube(exprs) => GroupTree::Cube(exprs.iter().map(group).collect::<Result<_>>()?),
        GroupItem::Sets(items) => {
            let items = items.iter().map(|item| group_tree(item, one));
            GroupTree::Sets(items.collect::<Result<_>>()?)
        }
    })
}

impl GroupTree {
    /// The keys that it names itself.
    pub(super) fn keys(&self) -> Vec<u32> {
        match self {
            GroupTree::Key(key) => vec![*key],
            GroupTree::List(keys) => keys.clone(),
            _ => Vec::new(),
        }
    }

    /// The sets that it stands for.
    pub(super) fn sets(&self) -> Result<Vec<Vec<u32>>> {
        match self {
            GroupTree::Key(_) | GroupTree::List(_) | GroupTree::Empty => Ok(vec![self.keys()]),
            GroupTree::Rollup(items) => {
                let groups: Vec<Vec<u32>> = items.iter().map(GroupTree::keys).collect();
                Ok((0..=groups.len()).rev().map(|kept| groups[..kept].concat()).collect())
            }
            GroupTree::Cube(items) => {
                let groups: Vec<Vec<u32>> = items.iter().map(GroupTree::keys).collect();
                let count = 1usize
                    .checked_shl(groups.len() as u32)
                    .filter(|_| groups.len() <= 12)
                    .ok_or_else(|| {
                        SqlError::new(SqlState::TOO_MANY_COLUMNS, "CUBE is limited to 12 elements")
                    })?;
                Ok((0..count)
                    .rev()
                    .map(|mask| {
                        let last = groups.len() - 1;
                        let kept = groups
                            .iter()
                            .enumerate()
                            .filter(|(at, _)| mask >> (last - at) & 1 == 1);
                        kept.flat_map(|(_, keys)| keys.clone()).collect()
                    })
                    .collect())
            }
            GroupTree::Sets(items) => {
                let mut all = Vec::new();
                for item in items {
                    all.extend(item.sets()?);
                    demand_sets(all.len())?;
                }
                Ok(all)
            }
        }
    }
}
