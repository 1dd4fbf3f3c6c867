//! How high a program is: how many nodes and scalars lie one in another, the plans of subqueries and of common table
//! expressions where they are read. A walk over a program, or over what a run builds of it, needs a stack for so many
//! levels, however much stands side by side.

use super::program::Program;
use crate::plan::cte::CtePlanBody;
use crate::plan::physical::Plan;
use crate::plan::scalar::Scalar;
use crate::plan::subplan::SubplanKind;
use crate::plan::vars;
use crate::types::depth::deeper;

/// The height of a program.
pub(super) fn of(program: &Program) -> u32 {
    let mut heights = Heights {
        program,
        subplans: vec![None; program.subplans.len()],
        ctes: vec![None; program.ctes.len()],
    };
    let mut height = heights.plan(&program.plan);
    for number in 0..program.subplans.len() {
        height = height.max(heights.subplan(number as u32));
    }
    for number in 0..program.ctes.len() {
        height = height.max(heights.cte(number as u32));
    }
    let presets = program.presets.iter().flat_map(|presets| &presets.scalars);
    height.max(heights.highest(presets))
}

/// The height of an expression that has no subqueries.
pub fn scalar_height(scalar: &Scalar) -> u32 {
    let mut below = 0;
    scalar.children(&mut |part| below = below.max(deeper(|| scalar_height(part))));
    below + 1
}

/// What is known of a program's parts, each looked at once.
struct Heights<'p> {
    program: &'p Program,
    subplans: Vec<Option<u32>>,
    ctes: Vec<Option<u32>>,
}

impl Heights<'_> {
    fn plan(&mut self, plan: &Plan) -> u32 {
        let mut below = 0;
        for input in vars::inputs(plan) {
            below = below.max(self.plan(input));
        }
        vars::scalars(plan, &mut |scalar| below = below.max(self.scalar(scalar)));
        match plan {
            Plan::Cte(scan) => below = below.max(self.cte(scan.number)),
            Plan::WithCtes(_, numbers) => {
                for number in numbers {
                    below = below.max(self.cte(*number));
                }
            }
            _ => {}
        }
        below + 1
    }

    fn scalar(&mut self, scalar: &Scalar) -> u32 {
        let mut below = match scalar {
            Scalar::Subquery(number) => self.subplan(*number),
            _ => 0,
        };
        scalar.children(&mut |part| below = below.max(self.scalar(part)));
        below + 1
    }

    fn highest<'s>(&mut self, scalars: impl IntoIterator<Item = &'s Scalar>) -> u32 {
        scalars.into_iter().map(|scalar| self.scalar(scalar)).max().unwrap_or(0)
    }

    fn subplan(&mut self, number: u32) -> u32 {
        let at = number as usize;
        if let Some(known) = self.subplans[at] {
            return known;
        }
        let subplan = &self.program.subplans[at];
        let mut height = deeper(|| self.plan(&subplan.plan)).max(self.highest(&subplan.presets));
        match &subplan.kind {
            SubplanKind::Quantified(test, _) => height = height.max(self.scalar(test)),
            SubplanKind::Hashed(hashed) => {
                let right = hashed.right.iter().map(|(scalar, _)| scalar);
                height = height.max(self.highest(hashed.left.iter().chain(right)));
                height = height.max(self.scalar(&hashed.test));
            }
            SubplanKind::Scalar(_) | SubplanKind::Exists | SubplanKind::Array(..) => {}
        }
        self.subplans[at] = Some(height);
        height
    }

    fn cte(&mut self, number: u32) -> u32 {
        let at = number as usize;
        if let Some(known) = self.ctes[at] {
            return known;
        }
        let body = &self.program.ctes[at].body;
        if let CtePlanBody::Recursive { .. } = body {
            // The recursive term reads the rows of its last round, and runs nothing for that.
            self.ctes[at] = Some(0);
        }
        let mut height = 0;
        for (plan, _) in body.parts() {
            height = height.max(deeper(|| self.plan(plan)));
        }
        self.ctes[at] = Some(height);
        height
    }
}
