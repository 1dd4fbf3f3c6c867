//! EXPLAIN (STAGES): what each of the planner's rules does to a plan.
//!
//! The statement is planned without any rule, and again with one more each time, in the order of their table; whoever
//! explains does that, and the planner knows nothing of it. Shown are the plans that differ from the one before: by their
//! nodes and conditions, not by what they cost.

use super::options::Options;
use super::text;
use super::tree::Item;
use crate::compile::Program;
use std::sync::Arc;

/// The name of the first stage.
pub const AS_WRITTEN: &str = "as written";

/// A plan that is made with some rules.
#[derive(Clone, Debug)]
pub struct Stage {
    /// The rule that has been added.
    pub rule: &'static str,
    /// The plan.
    pub program: Arc<Program>,
}

/// The stages that look different from the one before, described.
pub(super) fn seen(
    stages: &[Stage],
    describe: impl Fn(&Program) -> Item,
) -> Vec<(&'static str, Item)> {
    let form = Options { costs: false, ..Options::default() };
    let (mut seen, mut before) = (Vec::new(), Vec::new());
    for stage in stages {
        let item = describe(&stage.program);
        let mut lines = Vec::new();
        text::node(&item, 0, &form, &mut lines);
        if lines != before {
            seen.push((stage.rule, item));
            before = lines;
        }
    }
    seen
}
