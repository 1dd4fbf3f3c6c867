//! Joins: nested loops (over an index key of the left row, or what was kept), and hash joins.
//!
//! Both take the left side as the outer one. A join copies nothing: while both sides stand on a row, all homes are filled.
//! The side of an outer join that has nothing is made NULL.

use super::context::Context;
use super::hash_rows::HashRows;
use super::operator::{Builder, Operator};
use crate::error::Result;
use crate::plan::logical::JoinKind;
use crate::plan::physical::{Join, JoinMethod};
use crate::plan::scalar::{Scalar, Var};
use crate::types::Datum;

/// What both joins need to know.
struct Shape {
    kind: JoinKind,
    on: Vec<Scalar>,
    correlated: Box<[u32]>,
    left_slots: Vec<(u32, usize)>,
    right_slots: Vec<(u32, usize)>,
}

impl Shape {
    fn new(join: &Join, builder: &Builder<'_>) -> Shape {
        Shape {
            kind: join.kind,
            correlated: builder.correlated(&join.on),
            on: join.on.clone(),
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
}

/// The right side once, into a hash table.
pub struct HashJoin {
    left: Box<dyn Operator>,
    right: Box<dyn Operator>,
    shape: Shape,
    left_keys: Vec<Scalar>,
    right_keys: Vec<Scalar>,
    saved: Vec<Var>,
    table: HashRows,
    built: bool,
    /// Whether each kept row has met a left one (RIGHT and FULL).
    met: Vec<bool>,
    /// The left row's key, the next kept row to try, and whether one has met.
    probe: Option<(Option<usize>, bool)>,
    key: crate::tuple::RowBuf,
    tail: Option<usize>,
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
        let JoinMethod::Hash { left: left_keys, right: right_keys, types, saved } = &join.method
        else {
            unreachable!("a hash join is built of one")
        };
        let types = types.iter().map(|ty| ty.0).collect();
        HashJoin {
            left,
            right,
            shape: Shape::new(join, builder),
            left_keys: left_keys.clone(),
            right_keys: right_keys.clone(),
            table: HashRows::new(types, left_keys.len() + saved.len()),
            saved: saved.clone(),
            built: false,
            met: Vec::new(),
            probe: None,
            key: crate::tuple::RowBuf::new(),
            tail: None,
        }
    }

    fn build(&mut self, cx: &mut Context<'_>) -> Result<()> {
        self.table.clear();
        self.met.clear();
        self.right.open(cx)?;
        let keeps_right = self.shape.kind.keeps_right();
        while self.right.next(cx)? {
            cx.check_cancel()?;
            let (table, keys, saved) = (&mut self.table, &self.right_keys, &self.saved);
            cx.eval(|eval| {
                let mut row = Vec::with_capacity(keys.len() + saved.len());
                for key in keys {
                    row.push(eval.scalar(key)?);
                }
                // A NULL key meets nothing; only RIGHT and FULL still want the row.
                if keeps_right || !row.iter().any(Datum::is_null) {
                    row.extend(saved.iter().map(|var| eval.frame.get(*var)));
                    table.insert(&row);
                }
                Ok(())
            })?;
            cx.check_memory(self.table.bytes())?;
        }
        self.met.resize(self.table.rows.len(), false);
        self.built = true;
        Ok(())
    }

    fn restore(&self, cx: &mut Context<'_>, row: usize) {
        let keys = self.left_keys.len();
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
        self.left.open(cx)
    }

    fn next(&mut self, cx: &mut Context<'_>) -> Result<bool> {
        if self.tail.is_some() {
            return self.next_of_tail(cx);
        }
        if !self.built {
            self.build(cx)?;
        }
        loop {
            if self.probe.is_none() {
                if !self.left.next(cx)? {
                    if self.shape.kind.keeps_right() {
                        self.tail = Some(0);
                        return self.next_of_tail(cx);
                    }
                    return Ok(false);
                }
                let (key, keys, table) = (&mut self.key, &self.left_keys, &self.table);
                let first = cx.eval(|eval| {
                    key.clear();
                    for one in keys {
                        key.push(eval.scalar(one)?);
                    }
                    Ok(())
                });
                first?;
                let values: Vec<Datum<'_>> = self.key.iter().collect();
                let found =
                    if values.iter().any(Datum::is_null) { None } else { table.find(&values) };
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
}
