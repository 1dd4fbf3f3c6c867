//! Joins: nested loops (over an index key of the left row, or what was kept), and hash joins.
//!
//! Both take the left side as the outer one. A join copies nothing: while both sides stand on a row, all homes are filled.
//! The side of an outer join that has nothing is made NULL.

use super::context::Context;
use super::hash_rows::HashRows;
use super::operator::{Builder, Operator};
use super::partitions::{LEVELS, Partition, PartitionReader, Partitions};
use crate::bind::logical::JoinKind;
use crate::compile::code::Code;
use crate::error::Result;
use crate::plan::physical::{Join, JoinMethod};
use crate::plan::scalar::Var;
use crate::tuple::RowBuf;
use crate::types::{Datum, check_held};
use std::sync::Arc;

/// What both joins need to know.
struct Shape {
    kind: JoinKind,
    on: Arc<Code>,
    correlated: Box<[u32]>,
    left_slots: Vec<(u32, usize)>,
    right_slots: Vec<(u32, usize)>,
}

impl Shape {
    fn new(join: &Join, builder: &Builder<'_>) -> Shape {
        Shape {
            kind: join.kind,
            correlated: builder.correlated(&join.on),
            on: builder.conditions(&join.on),
            left_slots: join.left_slots.clone(),
            right_slots: join.right_slots.clone(),
        }
    }
}

/// The right side anew for every left row.
pub struct NestedLoop {
    left: Box<dyn Operator>,
    right: Box<dyn Operator>,
    shape: Shape,
    /// On a left row, and whether it has met one.
    current: Option<bool>,
    /// Right rows, by number, that have met one (RIGHT and FULL): the right side gives them in the same order each time.
    met: Vec<bool>,
    at: usize,
    /// Going through the right rows that have met none.
    tail: bool,
}

impl NestedLoop {
    /// Of two inputs.
    #[must_use]
    pub fn new(
        left: Box<dyn Operator>,
        right: Box<dyn Operator>,
        join: &Join,
        builder: &Builder<'_>,
    ) -> NestedLoop {
        let shape = Shape::new(join, builder);
        NestedLoop { left, right, shape, current: None, met: Vec::new(), at: 0, tail: false }
    }

    fn next_of_tail(&mut self, cx: &mut Context<'_>) -> Result<bool> {
        while self.right.next(cx)? {
            self.at += 1;
            if !self.met.get(self.at - 1).copied().unwrap_or(false) {
                cx.frame.set_nulls(&self.shape.left_slots);
                return Ok(true);
            }
        }
        Ok(false)
    }
}

impl Operator for NestedLoop {
    fn open(&mut self, cx: &mut Context<'_>) -> Result<()> {
        self.current = None;
        self.met.clear();
        self.tail = false;
        self.left.open(cx)
    }

    fn next(&mut self, cx: &mut Context<'_>) -> Result<bool> {
        if self.tail {
            return self.next_of_tail(cx);
        }
        loop {
            if self.current.is_none() {
                if !self.left.next(cx)? {
                    if !self.shape.kind.keeps_right() {
                        return Ok(false);
                    }
                    self.tail = true;
                    self.at = 0;
                    self.right.open(cx)?;
                    return self.next_of_tail(cx);
                }
                self.current = Some(false);
                self.at = 0;
                self.right.open(cx)?;
            }
            while self.right.next(cx)? {
                self.at += 1;
                if self.met.len() < self.at && self.shape.kind.keeps_right() {
                    self.met.push(false);
                }
                if !cx.holds(&self.shape.on, &self.shape.correlated)? {
                    cx.check_cancel()?;
                    continue;
                }
                if self.shape.kind.keeps_right() {
                    self.met[self.at - 1] = true;
                }
                self.current = Some(true);
                match self.shape.kind {
                    JoinKind::Semi => {
                        self.current = None;
                        return Ok(true);
                    }
                    JoinKind::Anti => break,
                    _ => return Ok(true),
                }
            }
            let met = self.current.take() == Some(true);
            if !met && self.shape.kind.keeps_left() {
                cx.frame.set_nulls(&self.shape.right_slots);
                return Ok(true);
            }
        }
    }

    fn rest_bytes(&self) -> Option<usize> {
        Some(self.left.rest_bytes()? + self.right.rest_bytes()? + self.met.capacity())
    }
}

/// The right side once, into a hash table. What memory does not take of it is taken apart by its keys in temporary files, the
/// left side likewise, and one part is joined behind the other.
pub struct HashJoin {
    left: Box<dyn Operator>,
    right: Box<dyn Operator>,
    shape: Shape,
    left_keys: Arc<Code>,
    right_keys: Arc<Code>,
    types: Vec<u32>,
    saved: Vec<Var>,
    left_saved: Vec<Var>,
    /// Rows go out in the left side's order, so both sides stay whole.
    ordered: bool,
    table: HashRows,
    built: bool,
    /// Whether each kept row has met a left one (RIGHT and FULL).
    met: Vec<bool>,
    /// The left row's key, the next kept row to try, and whether one has met.
    probe: Option<(Option<usize>, bool)>,
    key: RowBuf,
    tail: Option<usize>,
    /// Pairs of parts of the right and the left side that are still to be joined.
    parts: Vec<(Partition, Partition)>,
    /// The left side's rows of the part at hand, if it is one.
    part: Option<PartitionReader>,
    row: RowBuf,
}

impl HashJoin {
    /// Of two inputs.
    #[must_use]
    pub fn new(
        left: Box<dyn Operator>,
        right: Box<dyn Operator>,
        join: &Join,
        builder: &Builder<'_>,
    ) -> HashJoin {
        let JoinMethod::Hash {
            left: left_keys,
            right: right_keys,
            types,
            saved,
            left_saved,
            ordered,
        } = &join.method
        else {
            unreachable!("a hash join is built of one")
        };
        let types: Vec<u32> = types.iter().map(|ty| ty.0).collect();
        HashJoin {
            left,
            right,
            shape: Shape::new(join, builder),
            left_keys: builder.code(left_keys),
            right_keys: builder.code(right_keys),
            table: HashRows::new(types.clone(), left_keys.len() + saved.len()),
            types,
            saved: saved.clone(),
            left_saved: left_saved.clone(),
            ordered: *ordered,
            built: false,
            met: Vec::new(),
            probe: None,
            key: RowBuf::new(),
            tail: None,
            parts: Vec::new(),
            part: None,
            row: RowBuf::new(),
        }
    }

    /// Reads the right side, and the left one too where the right one has to be taken apart.
    fn build(&mut self, cx: &mut Context<'_>) -> Result<()> {
        self.table.clear();
        self.right.open(cx)?;
        let keeps_right = self.shape.kind.keeps_right();
        let limit = if self.ordered { usize::MAX } else { cx.hash_limit() };
        let mut apart: Option<Partitions> = None;
        while self.right.next(cx)? {
            cx.check_cancel()?;
            let (row, keys, saved) = (&mut self.row, &self.right_keys, &self.saved);
            row.clear();
            cx.compute(keys, row)?;
            // A NULL key meets nothing; only RIGHT and FULL still want the row.
            if !keeps_right && row.iter().any(|key| key.is_null()) {
                continue;
            }
            saved.iter().for_each(|var| row.push(cx.frame.get(*var)));
            self.keep(cx, &mut apart, 0, limit)?;
        }
        if let Some(apart) = apart {
            let right = apart.finish(cx)?;
            let left = self.take_left_apart(cx)?;
            self.parts.extend(right.into_iter().zip(left));
            // The parts are taken from the end on.
            self.parts.reverse();
            if !self.next_part(cx)? {
                self.tail = Some(0);
            }
        }
        self.met.clear();
        self.met.resize(self.table.rows.len(), false);
        self.built = true;
        Ok(())
    }

    /// Keeps the right row at hand in the table, or in partitions where the table has become too large.
    fn keep(
        &mut self,
        cx: &Context<'_>,
        apart: &mut Option<Partitions>,
        level: u32,
        limit: usize,
    ) -> Result<()> {
        let (table, keys) = (&mut self.table, self.types.len());
        let row: Vec<Datum<'_>> = self.row.iter().collect();
        if let Some(apart) = apart {
            return apart.push(cx, &row[..keys], row.iter().copied());
        }
        match self.shape.kind {
            JoinKind::Semi | JoinKind::Anti => table.insert_first(&row),
            _ => table.insert(&row),
        };
        if table.bytes() <= limit || level >= LEVELS {
            return check_held(table.bytes());
        }
        let mut partitions = Partitions::new(cx, level, &self.types)?;
        for at in 0..table.rows.len() {
            cx.check_cancel()?;
            let row: Vec<Datum<'_>> = table.rows.row(at).collect();
            partitions.push(cx, &row[..keys], row.iter().copied())?;
        }
        table.forget();
        *apart = Some(partitions);
        Ok(())
    }

    /// Reads the whole left side and puts its rows, behind their keys, into partitions.
    fn take_left_apart(&mut self, cx: &mut Context<'_>) -> Result<Vec<Partition>> {
        let mut apart = Partitions::new(cx, 0, &self.types)?;
        while self.left.next(cx)? {
            cx.check_cancel()?;
            self.find_key(cx)?;
            let key: Vec<Datum<'_>> = self.key.iter().collect();
            let saved = self.left_saved.iter().map(|var| cx.frame.get(*var));
            apart.push(cx, &key, key.iter().copied().chain(saved))?;
        }
        apart.finish(cx)
    }

    /// Goes to the next part that may give rows: its right rows stand in the table then. False where there is none.
    fn next_part(&mut self, cx: &mut Context<'_>) -> Result<bool> {
        let kind = self.shape.kind;
        while let Some((right, left)) = self.parts.pop() {
            let idle =
                left.is_empty() && !kind.keeps_right() || right.is_empty() && !kind.keeps_left();
            if idle {
                continue;
            }
            let (level, limit) = (right.level() + 1, cx.hash_limit());
            let (mut apart, mut reader) = (None, right.read());
            self.table.clear();
            while reader.next(&mut self.row)? {
                cx.check_cancel()?;
                self.keep(cx, &mut apart, level, limit)?;
            }
            let mut left = left.read();
            let Some(apart) = apart else {
                self.part = Some(left);
                self.met.clear();
                self.met.resize(self.table.rows.len(), false);
                return Ok(true);
            };
            let mut left_apart = Partitions::new(cx, level, &self.types)?;
            while left.next(&mut self.row)? {
                cx.check_cancel()?;
                let row: Vec<Datum<'_>> = self.row.iter().collect();
                left_apart.push(cx, &row[..self.types.len()], row.iter().copied())?;
            }
            self.parts.extend(apart.finish(cx)?.into_iter().zip(left_apart.finish(cx)?));
        }
        self.part = None;
        self.table.clear();
        self.met.clear();
        Ok(false)
    }

    /// Computes the key of the left row that the frame holds.
    fn find_key(&mut self, cx: &mut Context<'_>) -> Result<()> {
        self.key.clear();
        cx.compute(&self.left_keys, &mut self.key)
    }

    /// Goes to the next left row, of the part at hand if it is one, and finds its key.
    fn next_left(&mut self, cx: &mut Context<'_>) -> Result<bool> {
        let Some(part) = &mut self.part else {
            let more = self.left.next(cx)?;
            if more {
                self.find_key(cx)?;
            }
            return Ok(more);
        };
        if !part.next(&mut self.row)? {
            return Ok(false);
        }
        let keys = self.types.len();
        self.key.clear();
        self.row.iter().take(keys).for_each(|datum| self.key.push(datum));
        cx.frame.restore(&self.left_saved, self.row.iter().skip(keys));
        Ok(true)
    }

    fn restore(&self, cx: &mut Context<'_>, row: usize) {
        let keys = self.types.len();
        cx.frame.restore(&self.saved, self.table.rows.row(row).skip(keys));
    }

    fn next_of_tail(&mut self, cx: &mut Context<'_>) -> Result<bool> {
        let Some(at) = &mut self.tail else { return Ok(false) };
        while *at < self.met.len() {
            *at += 1;
            if !self.met[*at - 1] {
                let row = *at - 1;
                self.restore(cx, row);
                cx.frame.set_nulls(&self.shape.left_slots);
                return Ok(true);
            }
        }
        Ok(false)
    }
}

impl Operator for HashJoin {
    fn open(&mut self, cx: &mut Context<'_>) -> Result<()> {
        self.built = false;
        self.probe = None;
        self.tail = None;
        self.parts.clear();
        self.part = None;
        self.left.open(cx)
    }

    fn next(&mut self, cx: &mut Context<'_>) -> Result<bool> {
        if !self.built {
            self.build(cx)?;
        }
        loop {
            if self.tail.is_some() {
                if self.next_of_tail(cx)? {
                    return Ok(true);
                }
                self.tail = None;
                if !self.next_part(cx)? {
                    self.tail = Some(0);
                    return Ok(false);
                }
            }
            if self.probe.is_none() {
                if !self.next_left(cx)? {
                    // Where the right side keeps nothing there is no tail but its end.
                    if !self.shape.kind.keeps_right() {
                        self.met.clear();
                    }
                    self.tail = Some(0);
                    continue;
                }
                let values: Vec<Datum<'_>> = self.key.iter().collect();
                let found =
                    if values.iter().any(Datum::is_null) { None } else { self.table.find(&values) };
                self.probe = Some((found, false));
            }
            while let Some((Some(row), _)) = self.probe {
                let values: Vec<Datum<'_>> = self.key.iter().collect();
                let next = self.table.find_next(row, &values);
                drop(values);
                self.probe = self.probe.map(|(_, met)| (next, met));
                self.restore(cx, row);
                if !cx.holds(&self.shape.on, &self.shape.correlated)? {
                    cx.check_cancel()?;
                    continue;
                }
                self.met[row] = true;
                self.probe = Some((next, true));
                match self.shape.kind {
                    JoinKind::Semi => {
                        self.probe = None;
                        return Ok(true);
                    }
                    JoinKind::Anti => self.probe = Some((None, true)),
                    _ => return Ok(true),
                }
            }
            let met = self.probe.take().is_some_and(|(_, met)| met);
            if !met && self.shape.kind.keeps_left() {
                cx.frame.set_nulls(&self.shape.right_slots);
                return Ok(true);
            }
            cx.check_cancel()?;
        }
    }

    fn rest_bytes(&self) -> Option<usize> {
        if self.part.is_some() || !self.parts.is_empty() {
            return None;
        }
        let rows = self.table.capacity_bytes() + self.met.capacity();
        let own = rows + self.key.capacity_bytes() + self.row.capacity_bytes();
        Some(self.left.rest_bytes()? + self.right.rest_bytes()? + own)
    }
}
