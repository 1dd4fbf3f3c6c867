//! ALTER INDEX: storage parameters, and what ANALYZE is to look at of the expressions. ALTER TABLE does the same where it
//! names an index.

use super::alter_table::not_for_kind;
use super::index::tablespace;
use super::resolve::{must_own, undefined_table, wrong_kind};
use super::{Ddl, options};
use crate::catalog::Named;
use crate::catalog::relation::{Index, IndexColumn, Relation};
use crate::error::{Result, SqlError};
use crate::parse::ast::{AlterAction, AlterTable, Ident, Value};
use crate::sqlstate::SqlState;

impl Ddl<'_> {
    /// ALTER INDEX.
    ///
    /// # Errors
    /// 42P01, 42501; 42809 for what only tables have; 42703, 0A000, 22023.
    pub(super) fn alter_index(&mut self, alter: &AlterTable) -> Result<()> {
        let name = alter.name.name();
        let owned = |ddl: &mut Self, named: &Named, relation: &Relation| {
            let Named::Index { .. } = named else { return Err(wrong_kind(name, alter.kind)) };
            match ddl.snapshot().owns(ddl.user, relation.owner) {
                true => Ok(()),
                false => Err(must_own("index", name)),
            }
        };
        let Some((relation, oid)) = self.lock_index(&alter.name, &owned)? else {
            if alter.if_exists {
                let message = format!("relation \"{name}\" does not exist, skipping");
                self.notice(SqlState::SUCCESSFUL_COMPLETION, message);
                return Ok(());
            }
            return Err(undefined_table(&alter.name));
        };
        for action in &alter.actions {
            let fits = match action {
                AlterAction::SetColumnProperty(_, property, _) => &**property == "statistics",
                AlterAction::SetOptions(_)
                | AlterAction::ResetOptions(_)
                | AlterAction::SetStatisticsOf(..)
                | AlterAction::SetTablespace(_)
                | AlterAction::Owner(_) => true,
                _ => false,
            };
            if !fits {
                return Err(not_for_kind((name, "index"), action));
            }
        }
        let found = relation.indexes.iter().find(|found| found.oid == oid);
        let mut next = found.cloned().ok_or_else(|| undefined_table(&alter.name))?;
        for action in &alter.actions {
            let index = &mut next;
            match action {
                AlterAction::SetOptions(given) => {
                    for (name, value) in options::of_index(given)? {
                        index.options.retain(|option| option.0 != name);
                        index.options.push((name, value));
                    }
                }
                AlterAction::ResetOptions(names) => {
                    index.options.retain(|option| !names.iter().any(|name| **name == *option.0));
                }
                AlterAction::SetColumnProperty(column, _, target) => {
                    let names = index.column_names(&relation);
                    let place = names.iter().position(|own| **own == **column);
                    let place = place.ok_or_else(|| no_column(name, &format!("\"{column}\"")))?;
                    self.set_statistics(&relation, (index, place), target)?;
                }
                AlterAction::SetStatisticsOf(number, target) => {
                    let place = usize::try_from(*number - 1).unwrap_or_default();
                    if place >= index.columns.len() + index.include.len() {
                        return Err(no_column(name, &format!("number {number}")));
                    }
                    self.set_statistics(&relation, (index, place), target)?;
                }
                AlterAction::SetTablespace(given) => tablespace(Some(given))?,
                AlterAction::Owner(owner) => self.keep_owner(&relation, name, owner)?,
                _ => {}
            }
        }
        self.catalog.change_index(self.transaction, (relation.oid, oid), |index| *index = next)?;
        Ok(())
    }

    /// An index belongs to whom its table belongs to.
    fn keep_owner(&mut self, relation: &Relation, index: &str, owner: &Ident) -> Result<()> {
        if self.role(owner)?.oid != relation.owner {
            let message = format!("cannot change owner of index \"{index}\"");
            let hint = "Change the ownership of the index's table, instead.";
            let warning = SqlError::warning(SqlState::WRONG_OBJECT_TYPE, message);
            self.notices.push(warning.hint(hint));
        }
        Ok(())
    }

    /// SET STATISTICS of the column at `place`: only what an index computes has statistics of its own.
    fn set_statistics(
        &mut self,
        relation: &Relation,
        (index, place): (&mut Index, usize),
        target: &Value,
    ) -> Result<()> {
        let target = self.statistics_target(target)?;
        let key = index.columns.get(place);
        if let Some(at) = key.and_then(IndexColumn::expression) {
            index.expressions[at].statistics = target;
            return Ok(());
        }
        let (column, name) = (&index.column_names(relation)[place], &index.name);
        let refused = |message: String| SqlError::new(SqlState::FEATURE_NOT_SUPPORTED, message);
        Err(if key.is_none() {
            refused(format!(
                "cannot alter statistics on included column \"{column}\" of index \"{name}\""
            ))
        } else {
            refused(format!(
                "cannot alter statistics on non-expression column \"{column}\" of index \"{name}\""
            ))
            .hint("Alter statistics on table column instead.")
        })
    }
}

fn no_column(index: &str, column: &str) -> SqlError {
    let message = format!("column {column} of relation \"{index}\" does not exist");
    SqlError::new(SqlState::UNDEFINED_COLUMN, message)
}
