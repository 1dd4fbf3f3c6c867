//! Predicates of a path: true, false, or unknown.
//!
//! PostgreSQL: `executeBoolItem`, `executePredicate`. A predicate over two sequences holds if it does for any pair of their
//! items; an error in an operand, or a pair that cannot be compared, makes it unknown.

use super::execute::{Outcome, Run};
use super::item::{self, Item};
use super::parse::options;
use super::tree::{Expression, Head};
use crate::error::Result;
use crate::text::regular;

impl<'a> Run<'_, 'a> {
    /// Whether a predicate holds; none if that is unknown.
    pub(super) fn truth(&mut self, predicate: &Expression<'a>) -> Result<Option<bool>> {
        self.nested(|run| run.predicate(predicate))
    }

    fn predicate(&mut self, predicate: &Expression<'a>) -> Result<Option<bool>> {
        match predicate.head {
            Head::And(left, right) => {
                let left = self.truth(left)?;
                if left == Some(false) {
                    return Ok(left);
                }
                let right = self.truth(right)?;
                Ok(if right == Some(true) { left } else { right })
            }
            Head::Or(left, right) => {
                let left = self.truth(left)?;
                if left == Some(true) {
                    return Ok(left);
                }
                let right = self.truth(right)?;
                Ok(if right == Some(false) { left } else { right })
            }
            Head::Not(inner) => Ok(self.truth(inner)?.map(|truth| !truth)),
            Head::IsUnknown(inner) => Ok(Some(self.truth(inner)?.is_none())),
            Head::Exists(argument) => self.exists(argument),
            Head::Compare(comparison, left, right) => {
                self.pairs(left, Some(right), true, |run, a, b| {
                    item::compare(run.context, run.zoned, comparison, a, b)
                })
            }
            Head::StartsWith(whole, initial) => {
                self.pairs(whole, Some(initial), false, |_, a, b| {
                    let texts = a.string().zip(b.string());
                    Ok(texts.map(|(whole, initial)| whole.starts_with(initial)))
                })
            }
            Head::LikeRegex(argument, regex) => {
                let options = options(&regex)?;
                self.pairs(argument, None, false, |_, item, _| {
                    item.string()
                        .map(|text| regular::is_match(text, regex.pattern, options))
                        .transpose()
                })
            }
            _ => Ok(None),
        }
    }

    fn exists(&mut self, argument: &Expression<'a>) -> Result<Option<bool>> {
        let mut all = Vec::new();
        let wanted = if self.lax { None } else { Some(&mut all) };
        let outcome = self.quietly(|run| run.evaluate(argument, wanted))?;
        Ok(match outcome {
            Outcome::Error => None,
            _ if !self.lax => Some(!all.is_empty()),
            outcome => Some(outcome == Outcome::Found),
        })
    }

    /// Whether a predicate holds for any pair of two operands' items; of a single operand's, for any item with itself. In
    /// strict mode all are looked at.
    fn pairs(
        &mut self,
        left: &Expression<'a>,
        right: Option<&Expression<'a>>,
        unwrap_right: bool,
        holds: impl Fn(&Self, &Item<'a>, &Item<'a>) -> Result<Option<bool>>,
    ) -> Result<Option<bool>> {
        let (mut x, mut y) = (Vec::new(), Vec::new());
        let outcome = self.quietly(|run| {
            if run.evaluate_unwrapped(left, &mut x)? == Outcome::Error {
                return Ok(Outcome::Error);
            }
            match right {
                None => Ok(Outcome::Found),
                Some(right) if unwrap_right => run.evaluate_unwrapped(right, &mut y),
                Some(right) => run.evaluate(right, Some(&mut y)),
            }
        })?;
        if outcome == Outcome::Error {
            return Ok(None);
        }
        let (mut unknown, mut found) = (false, false);
        for a in &x {
            self.context.catalog.check_cancel()?;
            let others = if right.is_some() { &y[..] } else { std::slice::from_ref(a) };
            for b in others {
                match holds(self, a, b)? {
                    Some(true) if self.lax => return Ok(Some(true)),
                    Some(true) => found = true,
                    Some(false) => {}
                    None if self.lax => unknown = true,
                    None => return Ok(None),
                }
            }
        }
        Ok(if unknown && !found { None } else { Some(found) })
    }
}
