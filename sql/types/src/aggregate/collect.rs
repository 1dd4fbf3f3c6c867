//! array_agg and string_agg.

use crate::account::{self, LARGE};
use crate::array::{Array, Builder, Dimension, check_dimensions};
use crate::error::{Result, SqlError};
use crate::function::Accumulator;
use crate::sqlstate::SqlState;
use crate::text::{check_growth, finished, growing_to};
use crate::{CallContext, Datum};
use bumpalo::Bump;

/// array_agg over elements: NULLs too.
pub(super) struct Elements(Builder);

impl Elements {
    pub(super) fn new(element: u32) -> Elements {
        Elements(Builder::new(element))
    }
}

impl Accumulator for Elements {
    fn add(&mut self, _: &CallContext<'_>, arguments: &[Datum<'_>]) -> Result<()> {
        self.0.push(&arguments[0]);
        self.0.check_size()
    }

    fn finish<'a>(&self, context: &CallContext<'a>) -> Result<Datum<'a>> {
        if self.0.is_empty() {
            return Ok(Datum::Null);
        }
        Ok(self.0.finish(context.arena))
    }

    fn bytes(&self) -> usize {
        size_of::<Elements>() + self.0.bytes()
    }
}

/// array_agg and ARRAY(SELECT ...) over arrays: one more dimension, all of the same sizes.
pub struct Arrays {
    builder: Builder,
    inner: Option<Vec<Dimension>>,
    count: i32,
}

impl Arrays {
    /// Of arrays of this type of element; none yet.
    #[must_use]
    pub fn new(element: u32) -> Arrays {
        Arrays { builder: Builder::new(element), inner: None, count: 0 }
    }

    /// Takes one in.
    ///
    /// # Errors
    /// 22004 for NULL; 2202E for a first one that is empty, 54000 for one of six dimensions; 2202E for others of other sizes
    /// than the first.
    pub fn push(&mut self, array: &Datum<'_>) -> Result<()> {
        let error = |message: &str| Err(SqlError::new(SqlState::ARRAY_SUBSCRIPT_ERROR, message));
        let Datum::Array(bytes) = array else {
            return Err(SqlError::new(
                SqlState::NULL_VALUE_NOT_ALLOWED,
                "cannot accumulate null arrays",
            ));
        };
        let array = Array::of(bytes);
        let dimensions: Vec<Dimension> = array.dimensions().collect();
        match &self.inner {
            None if array.is_empty() => return error("cannot accumulate empty arrays"),
            None => {
                check_dimensions(dimensions.len() + 1)?;
                self.inner = Some(dimensions);
            }
            Some(inner) if *inner != dimensions => {
                return error("cannot accumulate arrays of different dimensionality");
            }
            Some(_) => {}
        }
        self.count += 1;
        array.slots().for_each(|slot| self.builder.push_slot(slot));
        self.builder.check_size()
    }

    /// The array of them; none if there is none.
    #[must_use]
    pub fn finish<'a>(&self, arena: &'a Bump) -> Option<Datum<'a>> {
        let inner = self.inner.as_ref()?;
        let mut dimensions = vec![Dimension { length: self.count, lower: 1 }];
        dimensions.extend(inner);
        Some(Datum::Array(self.builder.store(arena, &dimensions)))
    }

    /// What they occupy.
    #[must_use]
    pub fn bytes(&self) -> usize {
        size_of::<Arrays>() + self.builder.bytes()
    }
}

impl Accumulator for Arrays {
    fn add(&mut self, _: &CallContext<'_>, arguments: &[Datum<'_>]) -> Result<()> {
        self.push(&arguments[0])
    }

    fn finish<'a>(&self, context: &CallContext<'a>) -> Result<Datum<'a>> {
        Ok(Arrays::finish(self, context.arena).unwrap_or(Datum::Null))
    }

    fn bytes(&self) -> usize {
        Arrays::bytes(self)
    }
}

/// string_agg: each value but the first behind its own separator; NULL values are left out.
pub(super) struct Joined {
    out: Option<Vec<u8>>,
    /// The bytes of the first value's separator, which PostgreSQL's buffer has too.
    before: usize,
    text: bool,
}

impl Joined {
    pub(super) fn text() -> Joined {
        Joined { out: None, before: 0, text: true }
    }

    pub(super) fn bytea() -> Joined {
        Joined { out: None, before: 0, text: false }
    }
}

fn bytes_of<'a>(datum: &Datum<'a>) -> Option<&'a [u8]> {
    match datum {
        Datum::Null => None,
        Datum::Text(text) => Some(text.as_bytes()),
        other => Some(other.bytea()),
    }
}

impl Accumulator for Joined {
    fn add(&mut self, _: &CallContext<'_>, arguments: &[Datum<'_>]) -> Result<()> {
        let Some(value) = bytes_of(&arguments[0]) else { return Ok(()) };
        let separator = bytes_of(&arguments[1]).unwrap_or(&[]);
        match &mut self.out {
            None => {
                check_growth(separator.len(), value.len())?;
                self.before = separator.len();
                self.out = Some(value.to_vec());
            }
            Some(out) => {
                let held = self.before + out.len();
                check_growth(held, separator.len())?;
                check_growth(held + separator.len(), value.len())?;
                out.extend_from_slice(separator);
                out.extend_from_slice(value);
            }
        }
        Ok(())
    }

    fn finish<'a>(&self, context: &CallContext<'a>) -> Result<Datum<'a>> {
        Ok(match &self.out {
            None => Datum::Null,
            Some(out) if self.text => {
                let text = std::str::from_utf8(out);
                let mut whole = growing_to(context, out.len());
                let mut rest = text.expect("texts are put together from whole characters");
                while !rest.is_empty() {
                    let (piece, behind) = rest.split_at(rest.floor_char_boundary(LARGE));
                    whole.push_str(piece);
                    rest = behind;
                }
                finished(whole)?
            }
            Some(out) => Datum::Bytea(account::copied(context.arena, out)),
        })
    }

    fn bytes(&self) -> usize {
        size_of::<Joined>() + self.out.as_ref().map_or(0, Vec::capacity)
    }
}
