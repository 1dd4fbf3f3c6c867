//! UNION, INTERSECT and EXCEPT. UNION ALL is a plain append; the others count equal rows of the right side.
//!
//! What memory does not take is put aside in temporary files, apart by the rows' values: of UNION the rows that are in no
//! table yet, of the others both sides as a whole, which then are taken part by part.

use super::context::Context;
use super::hash_rows::HashRows;
use super::operator::Operator;
use super::partitions::{LEVELS, Partition, PartitionReader, Partitions};
use crate::bind::logical::SetKind;
use crate::error::Result;
use crate::plan::physical;
use crate::plan::scalar::Var;
use crate::tuple::RowBuf;
use crate::types::{Datum, Shapes, check_held};

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
    /// The row at hand.
    row: RowBuf,
    /// Rows of UNION that are put aside.
    apart: Option<Partitions>,
    /// Parts that are still to be done: of the left side, for UNION of both; and of the right side.
    parts: Vec<(Partition, Option<Partition>)>,
    /// The part whose rows are being read.
    part: Option<(PartitionReader, u32)>,
    ended: bool,
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
            row: RowBuf::new(),
            apart: None,
            parts: Vec::new(),
            part: None,
            ended: false,
        }
    }

    /// Takes the row at hand from the frame.
    fn fetch(&mut self, cx: &Context<'_>, right: bool) {
        let vars = if right { &self.right_vars } else { &self.left_vars };
        self.row.clear();
        vars.iter().for_each(|var| self.row.push(cx.frame.get(*var)));
    }

    /// Counts the rows of the right side; where they are too many both sides are taken apart.
    fn build(&mut self, cx: &mut Context<'_>) -> Result<()> {
        self.right.open(cx)?;
        let mut apart = None;
        while self.right.next(cx)? {
            cx.check_cancel()?;
            self.note(cx, true)?;
            self.fetch(cx, true);
            self.count(cx, 1, &mut apart, 0)?;
        }
        if let Some(apart) = apart {
            let mut left = Partitions::new(cx, 0, &self.types)?;
            while self.left.next(cx)? {
                cx.check_cancel()?;
                self.note(cx, false)?;
                self.fetch(cx, false);
                let row: Vec<Datum<'_>> = self.row.iter().collect();
                left.push(cx, &row, row.iter().copied())?;
            }
            self.ended = true;
            let right = apart.finish(cx)?.into_iter().map(Some);
            self.parts.extend(left.finish(cx)?.into_iter().zip(right));
        }
        self.built = true;
        Ok(())
    }

    /// Counts the row at hand so many times, or puts it aside, its count behind it.
    fn count(
        &mut self,
        cx: &Context<'_>,
        times: u64,
        apart: &mut Option<Partitions>,
        level: u32,
    ) -> Result<()> {
        let row: Vec<Datum<'_>> = self.row.iter().take(self.types.len()).collect();
        let counted = |times: u64| Datum::Int8(times.cast_signed());
        if let Some(apart) = apart {
            return apart.push(cx, &row, row.iter().copied().chain([counted(times)]));
        }
        if let Some(at) = self.table.find(&row) {
            self.counts[at] += times;
            return Ok(());
        }
        self.table.insert(&row);
        self.counts.push(times);
        if self.table.bytes() <= cx.hash_limit() || level >= LEVELS {
            return check_held(self.table.bytes());
        }
        let mut partitions = Partitions::new(cx, level, &self.types)?;
        for (at, times) in self.counts.iter().enumerate() {
            cx.check_cancel()?;
            let row: Vec<Datum<'_>> = self.table.rows.row(at).collect();
            partitions.push(cx, &row, row.iter().copied().chain([counted(*times)]))?;
        }
        self.table.forget();
        self.counts = Vec::new();
        *apart = Some(partitions);
        Ok(())
    }

    /// Reads the next row that was put aside.
    fn next_of_parts(&mut self, cx: &Context<'_>) -> Result<bool> {
        loop {
            if let Some((reader, _)) = &mut self.part
                && reader.next(&mut self.row)?
            {
                return Ok(true);
            }
            if let Some(apart) = self.apart.take() {
                self.parts.extend(apart.finish(cx)?.into_iter().map(|part| (part, None)));
            }
            let Some((left, right)) = self.parts.pop() else {
                self.part = None;
                return Ok(false);
            };
            self.table.clear();
            self.counts.clear();
            self.gone.clear();
            let level = left.level() + 1;
            let (mut reader, mut apart) = (left.read(), None);
            if let Some(right) = right {
                let mut counted = right.read();
                while counted.next(&mut self.row)? {
                    cx.check_cancel()?;
                    let Some(Datum::Int8(times)) = self.row.iter().last() else { continue };
                    self.count(cx, times.cast_unsigned(), &mut apart, level)?;
                }
            }
            let Some(apart) = apart else {
                self.part = Some((reader, level));
                continue;
            };
            let mut left = Partitions::new(cx, level, &self.types)?;
            while reader.next(&mut self.row)? {
                cx.check_cancel()?;
                let row: Vec<Datum<'_>> = self.row.iter().collect();
                left.push(cx, &row, row.iter().copied())?;
            }
            let right = apart.finish(cx)?.into_iter().map(Some);
            self.parts.extend(left.finish(cx)?.into_iter().zip(right));
        }
    }

    /// Fails where the row at hand cannot be compared with one before.
    fn note(&mut self, cx: &mut Context<'_>, right: bool) -> Result<()> {
        let Some(shapes) = &mut self.shapes else { return Ok(()) };
        let vars = if right { &self.right_vars } else { &self.left_vars };
        let types = &self.types;
        // The right side has been read first, but for UNION.
        let first = !right && self.kind != SetKind::Union;
        let eval = cx.evaluator();
        let row = vars.iter().map(|var| eval.frame.get(*var));
        shapes.note(&eval.call(), types.iter().copied().zip(row), first)?;
        check_held(shapes.bytes())
    }

    /// Whether the row at hand goes out; one of which that cannot be said yet is put aside.
    fn passes(&mut self, cx: &Context<'_>, level: u32) -> Result<bool> {
        let row: Vec<Datum<'_>> = self.row.iter().collect();
        Ok(match (self.kind, self.all) {
            (SetKind::Union, true) => true,
            (SetKind::Union, false) => {
                if let Some(apart) = &mut self.apart {
                    if self.table.find(&row).is_none() {
                        apart.push(cx, &row, row.iter().copied())?;
                    }
                    return Ok(false);
                }
                let new = self.table.insert_new(&row).0;
                check_held(self.table.bytes())?;
                if new && level < LEVELS && self.table.bytes() > cx.hash_limit() {
                    self.apart = Some(Partitions::new(cx, level, &self.types)?);
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
                    return Ok(wanted);
                }
                if let Some(apart) = &mut self.apart {
                    if self.gone.find(&row).is_none() {
                        apart.push(cx, &row, row.iter().copied())?;
                    }
                    return Ok(false);
                }
                let new = self.gone.insert_new(&row).0;
                check_held(self.gone.bytes())?;
                // Of INTERSECT these are no more than the right side's. Of EXCEPT those put aside pass by an empty one.
                let except = kind == SetKind::Except;
                if except && new && level < LEVELS && self.gone.bytes() > cx.hash_limit() {
                    self.apart = Some(Partitions::new(cx, level, &self.types)?);
                }
                new
            }
        })
    }

    fn put_out(&mut self, cx: &mut Context<'_>) {
        let mut row = cx.frame.take(self.slot);
        std::mem::swap(&mut row, &mut self.row);
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
        self.apart = None;
        self.parts.clear();
        self.part = None;
        self.ended = false;
        self.left.open(cx)
    }

    fn next(&mut self, cx: &mut Context<'_>) -> Result<bool> {
        if self.kind != SetKind::Union && !self.built {
            self.build(cx)?;
        }
        while !self.ended {
            let right = self.on_right;
            let more = if right { self.right.next(cx)? } else { self.left.next(cx)? };
            if more {
                self.note(cx, right)?;
                self.fetch(cx, right);
                if self.passes(cx, 0)? {
                    self.put_out(cx);
                    return Ok(true);
                }
                cx.check_cancel()?;
            } else if right || self.kind != SetKind::Union {
                self.ended = true;
            } else {
                self.on_right = true;
                self.right.open(cx)?;
            }
        }
        while self.next_of_parts(cx)? {
            let level = self.part.as_ref().map_or(0, |part| part.1);
            if self.passes(cx, level)? {
                self.put_out(cx);
                return Ok(true);
            }
            cx.check_cancel()?;
        }
        Ok(false)
    }

    fn rest_bytes(&self) -> Option<usize> {
        if self.apart.is_some() || self.part.is_some() || !self.parts.is_empty() {
            return None;
        }
        let rows = self.table.capacity_bytes() + self.gone.capacity_bytes();
        let shapes = self.shapes.as_ref().map_or(0, Shapes::bytes);
        let own = rows + self.counts.capacity() * size_of::<u64>() + shapes;
        Some(self.left.rest_bytes()? + self.right.rest_bytes()? + own + self.row.capacity_bytes())
    }
}
