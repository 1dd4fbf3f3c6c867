//! UNION, INTERSECT and EXCEPT. UNION ALL is a plain append; the others count equal rows of the right side.

use super::context::Context;
use super::hash_rows::HashRows;
use super::operator::Operator;
use crate::error::Result;
use crate::plan::logical::SetKind;
use crate::plan::physical;
use crate::plan::scalar::Var;
use crate::types::{Datum, Shapes};

/// A running set operation.
pub struct SetOperation {
    left: Box<dyn Operator>,
    right: Box<dyn Operator>,
    kind: SetKind,
    all: bool,
    left_vars: Vec<Var>,
    right_vars: Vec<Var>,
    slot: u32,
    /// Rows seen: for UNION all that have gone out; else those of the right side with their counts.
    table: HashRows,
    counts: Vec<u64>,
    /// Left rows that have gone out, where duplicates do not.
    gone: HashRows,
    types: Vec<u32>,
    shapes: Option<Shapes>,
    on_right: bool,
    built: bool,
}

impl SetOperation {
    /// Of two inputs.
    #[must_use]
    pub fn new(
        left: Box<dyn Operator>,
        right: Box<dyn Operator>,
        plan: &physical::SetOperation,
    ) -> SetOperation {
        let types: Vec<u32> = plan.types.iter().map(|ty| ty.0).collect();
        let width = types.len();
        SetOperation {
            left,
            right,
            kind: plan.kind,
            all: plan.all,
            left_vars: plan.left.1[..width].to_vec(),
            right_vars: plan.right.1[..width].to_vec(),
            slot: plan.slot,
            table: HashRows::new(types.clone(), width),
            counts: Vec::new(),
            gone: HashRows::new(types.clone(), width),
            shapes: None,
            types,
            on_right: false,
            built: false,
        }
    }

    fn build(&mut self, cx: &mut Context<'_>) -> Result<()> {
        self.right.open(cx)?;
        while self.right.next(cx)? {
            cx.check_cancel()?;
            self.note(cx, true)?;
            let frame = &*cx.frame;
            let row: Vec<Datum<'_>> = self.right_vars.iter().map(|var| frame.get(*var)).collect();
            match self.table.find(&row) {
                Some(at) => self.counts[at] += 1,
                None => {
                    self.table.insert(&row);
                    self.counts.push(1);
                }
            }
            cx.check_memory(self.table.bytes())?;
        }
        self.built = true;
        Ok(())
    }

    /// Fails where the row at hand cannot be compared with one before.
    fn note(&mut self, cx: &mut Context<'_>, right: bool) -> Result<()> {
        let Some(shapes) = &mut self.shapes else { return Ok(()) };
        let vars = if right { &self.right_vars } else { &self.left_vars };
        let types = &self.types;
        // The right side has been read first, but for UNION.
        let first = !right && self.kind != SetKind::Union;
        cx.eval(|eval| {
            let row = vars.iter().map(|var| eval.frame.get(*var));
            Ok(shapes.note(&eval.call, types.iter().copied().zip(row), first)?)
        })?;
        cx.check_memory(shapes.bytes())
    }

    /// Whether the row at `vars` goes out.
    fn passes(&mut self, cx: &mut Context<'_>, right: bool) -> Result<bool> {
        self.note(cx, right)?;
        let vars = if right { &self.right_vars } else { &self.left_vars };
        let row: Vec<Datum<'_>> = vars.iter().map(|var| cx.frame.get(*var)).collect();
        Ok(match (self.kind, self.all) {
            (SetKind::Union, true) => true,
            (SetKind::Union, false) => {
                let new = self.table.find(&row).is_none();
                if new {
                    self.table.insert(&row);
                    cx.check_memory(self.table.bytes())?;
                }
                new
            }
            (kind, all) => {
                let found = self.table.find(&row);
                let counted = found.is_some_and(|at| self.counts[at] > 0);
                if all
                    && counted
                    && let Some(at) = found
                {
                    self.counts[at] -= 1;
                }
                let wanted = if kind == SetKind::Intersect { counted } else { !counted };
                if !wanted || all {
                    wanted
                } else {
                    let new = self.gone.find(&row).is_none();
                    if new {
                        self.gone.insert(&row);
                        cx.check_memory(self.gone.bytes())?;
                    }
                    new
                }
            }
        })
    }

    fn put_out(&self, cx: &mut Context<'_>, right: bool) {
        let vars = if right { &self.right_vars } else { &self.left_vars };
        let mut row = cx.frame.take(self.slot);
        row.clear();
        for var in vars {
            row.push(cx.frame.get(*var));
        }
        cx.frame.put(self.slot, row);
    }
}

impl Operator for SetOperation {
    fn open(&mut self, cx: &mut Context<'_>) -> Result<()> {
        self.table.clear();
        self.counts.clear();
        self.gone.clear();
        self.shapes =
            if self.all && self.kind == SetKind::Union { None } else { Shapes::of(&self.types) };
        self.on_right = false;
        self.built = false;
        self.left.open(cx)
    }

    fn next(&mut self, cx: &mut Context<'_>) -> Result<bool> {
        if self.kind != SetKind::Union && !self.built {
            self.build(cx)?;
        }
        loop {
            let right = self.on_right;
            let more = if right { self.right.next(cx)? } else { self.left.next(cx)? };
            if more {
                if self.passes(cx, right)? {
                    self.put_out(cx, right);
                    return Ok(true);
                }
                cx.check_cancel()?;
            } else if right || self.kind != SetKind::Union {
                return Ok(false);
            } else {
                self.on_right = true;
                self.right.open(cx)?;
            }
        }
    }
}
