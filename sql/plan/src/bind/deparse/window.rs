//! Windows as `pg_get_viewdef` prints them (`get_rule_windowspec` of `ruleutils.c`): the partition, the order, the frame.

use super::{Layout, Printer};
use crate::bind::grouping::BoundWindow;
use crate::bind::logical::{Frame, FrameBound, FrameExclude, FrameUnit};
use crate::bind::typed::{CallForm, Expr};
use crate::catalog::quote::identifier;
use crate::error::Result;

impl Printer<'_, '_> {
    /// What stands between the parentheses of OVER, or behind AS in the WINDOW clause.
    pub(super) fn window(&self, window: &BoundWindow, out: &mut Layout) -> Result<()> {
        let mut space = "";
        let (partition_by, has_order) = match &window.base {
            None => (&window.partition_by[..], false),
            Some((base, has_order)) => {
                out.push_str(&identifier(base));
                space = " ";
                (&[][..], *has_order)
            }
        };
        for (at, key) in partition_by.iter().enumerate() {
            out.push_str(if at == 0 { "PARTITION BY " } else { ", " });
            self.sort_item(key, out)?;
            space = " ";
        }
        if !window.order_by.is_empty() && !has_order {
            out.push_str(space);
            out.push_str("ORDER BY ");
            self.sort_keys(&window.order_by, out)?;
            space = " ";
        }
        if let Some(frame) = &window.frame {
            out.push_str(space);
            self.frame(frame, out)?;
        }
        Ok(())
    }

    fn frame(&self, frame: &Frame, out: &mut Layout) -> Result<()> {
        out.push_str(match frame.unit {
            FrameUnit::Rows => "ROWS ",
            FrameUnit::Range => "RANGE ",
            FrameUnit::Groups => "GROUPS ",
        });
        let bounds = [("BETWEEN ", &frame.start), (" AND ", &frame.end)];
        for (word, bound) in bounds.into_iter().take(if frame.between { 2 } else { 1 }) {
            out.push_str(if frame.between { word } else { "" });
            match bound {
                FrameBound::UnboundedPreceding => out.push_str("UNBOUNDED PRECEDING"),
                FrameBound::CurrentRow => out.push_str("CURRENT ROW"),
                FrameBound::UnboundedFollowing => out.push_str("UNBOUNDED FOLLOWING"),
                FrameBound::Preceding(by) => {
                    self.write(uncast(by), out)?;
                    out.push_str(" PRECEDING");
                }
                FrameBound::Following(by) => {
                    self.write(uncast(by), out)?;
                    out.push_str(" FOLLOWING");
                }
            }
        }
        out.push_str(match frame.exclude {
            FrameExclude::NoOthers => "",
            FrameExclude::CurrentRow => " EXCLUDE CURRENT ROW",
            FrameExclude::Group => " EXCLUDE GROUP",
            FrameExclude::Ties => " EXCLUDE TIES",
        });
        Ok(())
    }
}

/// An offset, or what a sample is made by, without the cast that it was given.
pub(super) fn uncast(expr: &Expr) -> &Expr {
    match expr {
        Expr::Call { arguments, form: CallForm::Cast, .. } => &arguments[0],
        other => other,
    }
}
