//! DISTINCT over rows that are sorted by what they shall differ in: each is compared with the one before, and nothing is
//! kept but that one's key (PostgreSQL: `nodeUnique.c`).

use super::context::Context;
use super::operator::Operator;
use crate::error::Result;
use crate::plan::order::sorts_by;
use crate::plan::physical::Plan;
use crate::plan::scalar::{Scalar, Var};
use crate::tuple::RowBuf;
use crate::types::{Oid, Shapes, compare};

/// The first row of each group of equal ones, which come one after another.
pub struct Unique {
    input: Box<dyn Operator>,
    keys: Vec<(Var, u32)>,
    /// The key of the last row that has gone out; none before the first.
    last: Option<RowBuf>,
}

impl Unique {
    /// What a DISTINCT over such rows compares; none where its input is not sorted by that, or values may be such as cannot
    /// be compared.
    #[must_use]
    pub fn keys(input: &Plan, keys: &[(Scalar, Oid)]) -> Option<Vec<(Var, u32)>> {
        let Plan::Sort(sort) = input else { return None };
        let types: Vec<u32> = keys.iter().map(|(_, ty)| ty.0).collect();
        if !sorts_by(sort, keys) || Shapes::of(&types).is_some() {
            return None;
        }
        let var = |key: &Scalar| if let Scalar::Var(var) = key { Some(*var) } else { None };
        keys.iter().map(|(key, ty)| Some((var(key)?, ty.0))).collect()
    }

    /// Over an input that is sorted so.
    #[must_use]
    pub fn new(input: Box<dyn Operator>, keys: Vec<(Var, u32)>) -> Unique {
        Unique { input, keys, last: None }
    }
}

impl Operator for Unique {
    fn open(&mut self, cx: &mut Context<'_>) -> Result<()> {
        self.last = None;
        self.input.open(cx)
    }

    fn next(&mut self, cx: &mut Context<'_>) -> Result<bool> {
        while self.input.next(cx)? {
            let frame = &*cx.frame;
            if let Some(last) = &self.last {
                let mut keys = self.keys.iter().enumerate();
                if keys.all(|(at, (var, ty))| compare(*ty, &last.get(at), &frame.get(*var)).is_eq())
                {
                    cx.check_cancel()?;
                    continue;
                }
            }
            let last = self.last.get_or_insert_default();
            last.clear();
            self.keys.iter().for_each(|(var, _)| last.push(frame.get(*var)));
            return Ok(true);
        }
        Ok(false)
    }

    fn rest_bytes(&self) -> Option<usize> {
        let last = self.last.as_ref().map_or(0, RowBuf::capacity_bytes);
        Some(self.input.rest_bytes()? + last)
    }
}
