//! Which WITH queries are run, and what privileges a statement needs.
//!
//! PostgreSQL never plans a SELECT in WITH that nobody names (`SS_process_ctes`), so that nobody is asked about what it reads.
//! It merges one that is named once into what names it (`inline_cte`), which is then not run where that is not. What changes a
//! table is always run. The schemas that are named anywhere are looked up before, and asked about always.

use crate::bind::{Binder, Required};
use crate::error::Result;
use crate::parse::depth::take_levels;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// What one WITH query needs, and what decides whether it is run. The parts of a statement are numbered from 1 on as they
/// are bound; 0 is the statement itself.
#[derive(Debug, Default)]
pub(super) struct WithPart {
    /// The part whose WITH it stands in.
    within: usize,
    /// The parts that name it, once for each time; its own recursive term aside.
    named_in: Vec<usize>,
    /// It changes a table.
    changes: bool,
    /// However often it is named, it is run by itself.
    apart: bool,
    /// What MATERIALIZED says.
    materialized: Option<bool>,
    /// Told to the plan: it is made a part of what names it.
    merges: Arc<AtomicBool>,
    required: Vec<Required>,
}

impl WithPart {
    /// Whether it is made a part of what names it.
    fn merges(&self) -> bool {
        !self.changes && !self.apart && !self.materialized.unwrap_or(self.named_in.len() > 1)
    }

    /// Whether it is run where this tells which parts are.
    fn is_run(&self, is_run: &[bool]) -> bool {
        if !is_run[self.within] {
            return false;
        }
        self.changes
            || !self.named_in.is_empty()
                && (!self.merges() || self.named_in.iter().any(|&part| is_run[part]))
    }
}

/// How many queries that are made parts of each other may stand within each other: what is beyond that runs by itself.
const MERGED_WITHIN: u32 = 16;

/// Tells the plan which parts are made parts of what names them: all that PostgreSQL merges, as far as there is room for how
/// deep they come to stand.
fn tell_merged(parts: &[WithPart]) {
    let mut heights = vec![1; parts.len() + 1];
    for _ in 0..=MERGED_WITHIN {
        let mut more = false;
        for (at, part) in parts.iter().enumerate().filter(|(_, part)| part.merges()) {
            let above = heights[at + 1] + 1;
            for &named_in in &part.named_in {
                more |= heights[named_in] < above;
                heights[named_in] = heights[named_in].max(above);
            }
        }
        if !more {
            break;
        }
    }
    let merged = || parts.iter().zip(&heights[1..]).filter(|(part, _)| part.merges());
    let highest = merged().map(|(_, height)| *height).max().unwrap_or(0);
    let most = if highest == 0 { 0 } else { take_levels(highest.min(MERGED_WITHIN)) };
    for (part, height) in merged() {
        part.merges.store(*height <= most, Ordering::Relaxed);
    }
}

impl Binder<'_> {
    /// Binds a WITH query as a part of its own, and gives its number.
    pub(super) fn with_part<T>(
        &self,
        (changes, materialized): (bool, Option<bool>),
        bind: impl FnOnce() -> Result<T>,
    ) -> Result<(usize, T)> {
        let mut parts = self.parts.borrow_mut();
        parts.push(WithPart {
            within: self.part.get(),
            changes,
            materialized,
            ..WithPart::default()
        });
        let number = parts.len();
        drop(parts);
        let outer = (self.part.replace(number), self.apart.replace(false), self.required.take());
        let bound = bind();
        let apart = self.apart.get();
        self.part.set(outer.0);
        // What stands apart in it, stands apart in what is around it.
        self.apart.set(outer.1 || apart);
        let required = self.required.replace(outer.2);
        let part = &mut self.parts.borrow_mut()[number - 1];
        part.apart |= apart;
        part.required = required;
        Ok((number, bound?))
    }

    /// The WITH query of this number is recursive: it is never merged.
    pub(super) fn recurs(&self, part: usize) {
        self.parts.borrow_mut()[part - 1].apart = true;
    }

    /// Where it is told whether the WITH query of this number is made a part of what names it.
    pub(super) fn merges(&self, part: usize) -> Arc<AtomicBool> {
        Arc::clone(&self.parts.borrow()[part - 1].merges)
    }

    /// FROM names the WITH query of this number.
    pub(super) fn names_part(&self, part: usize) {
        self.parts.borrow_mut()[part - 1].named_in.push(self.part.get());
    }

    /// What has been found so far that whoever runs the statement must be allowed, in its WITH queries first.
    pub(super) fn needed_so_far(&self) -> Vec<Required> {
        let parts = self.parts.borrow();
        let own = self.required.borrow();
        parts.iter().flat_map(|part| &part.required).chain(own.iter()).cloned().collect()
    }

    /// What whoever runs what was bound must be allowed: in the statement itself, then in the WITH queries that are run.
    pub(super) fn needs(&self) -> Vec<Required> {
        let mut needs = self.required.take();
        let parts = self.parts.take();
        tell_merged(&parts);
        let mut is_run = vec![false; parts.len() + 1];
        is_run[0] = true;
        loop {
            let mut more = false;
            // Most are named by later ones.
            for (at, part) in parts.iter().enumerate().rev() {
                if !is_run[at + 1] && part.is_run(&is_run) {
                    is_run[at + 1] = true;
                    more = true;
                }
            }
            if !more {
                break;
            }
        }
        for (part, is_run) in parts.into_iter().zip(is_run.into_iter().skip(1)) {
            // A view depends on all that its query names, run or not.
            let asked = |wanted: &Required| {
                is_run || self.opaque_views || matches!(wanted, Required::Schema(..))
            };
            needs.extend(part.required.into_iter().filter(asked));
        }
        needs
    }
}
