//! Rows that an outer join may leave out cannot be locked (`make_outerjoininfo`).

use super::build::Planner;
use super::physical::{LockRows, Plan};
use super::vars;
use crate::bind::lock_words;
use crate::bind::logical::JoinKind;
use crate::error::{Result, SqlError};
use crate::sqlstate::SqlState;

impl Planner<'_> {
    /// Looks at every FOR UPDATE of a finished plan: by then a join that has to find a row on each side is no outer one.
    ///
    /// # Errors
    /// 0A000.
    pub(super) fn demand_lockable(&self, plan: &Plan) -> Result<()> {
        let mut checked = Ok(());
        vars::walk(plan, &mut |node| {
            if let Plan::LockRows(lock) = node
                && checked.is_ok()
            {
                checked = self.demand_rows(lock);
            }
        });
        checked
    }

    fn demand_rows(&self, lock: &LockRows) -> Result<()> {
        let mut refused = None;
        vars::walk(&lock.input, &mut |node| {
            let Plan::Join(join) = node else { return };
            let missing = match join.kind {
                JoinKind::Left => vec![&join.right],
                JoinKind::Right => vec![&join.left],
                JoinKind::Full => vec![&join.left, &join.right],
                JoinKind::Inner | JoinKind::Semi | JoinKind::Anti => return,
            };
            for side in missing {
                let slots = self.slots(side);
                let mut targets = lock.targets.iter();
                refused = refused.or(targets.find(|target| slots.contains(&target.scan.slot)));
            }
        });
        match refused {
            None => Ok(()),
            Some(target) => Err(SqlError::new(
                SqlState::FEATURE_NOT_SUPPORTED,
                format!(
                    "{} cannot be applied to the nullable side of an outer join",
                    lock_words(target.lock)
                ),
            )),
        }
    }
}
