//! Where PostgreSQL's jsonb has its containers, in bytes from the outermost.
//!
//! PostgreSQL: `jsonb.h`, `convertToJsonb`. The ids that `.keyvalue()` gives are these places, and users compare and keep them,
//! so they are told though values are stored otherwise here. A container is four bytes of head, four for each element, or for each
//! key and value, and then what these hold; numbers and containers begin at multiples of four.

use crate::depth::deeper;
use crate::json::stored::{Shape, View};
use crate::numeric;

/// The places of a value's containers.
pub(super) struct Layout {
    /// Where a container stands in memory, and where PostgreSQL has it; ascending.
    places: Vec<(usize, i64)>,
}

impl Layout {
    /// Of a value that is part of no other.
    pub fn of(outermost: &View<'_>) -> Layout {
        let mut layout = Layout { places: Vec::new() };
        if !outermost.is_scalar() {
            layout.container(outermost, 0);
        }
        layout
    }

    /// Where PostgreSQL has a container that is part of the value.
    pub fn place(&self, part: &View<'_>) -> Option<i64> {
        let found = self.places.binary_search_by_key(&part.address(), |(address, _)| *address);
        found.ok().map(|at| self.places[at].1)
    }

    /// Notes a container that begins at `at`, and what is in it. Gives its end.
    fn container(&mut self, view: &View<'_>, at: i64) -> i64 {
        self.places.push((view.address(), at));
        match view.shape() {
            Shape::Array(array) => {
                let data = at + 4 + 4 * array.len() as i64;
                array.iter().fold(data, |end, element| self.part(&element, end))
            }
            Shape::Object(object) => {
                let data = at + 4 + 8 * object.len() as i64;
                let keys: usize = object.iter().map(|(key, _)| key.len()).sum();
                object.iter().fold(data + keys as i64, |end, (_, value)| self.part(&value, end))
            }
            _ => at,
        }
    }

    /// The end of a value behind others that end at `at`.
    fn part(&mut self, view: &View<'_>, at: i64) -> i64 {
        let aligned = (at + 3) & !3;
        match view.shape() {
            Shape::Null | Shape::Bool(_) => at,
            Shape::String(text) => at + text.len() as i64,
            Shape::Number(stored) => aligned + number(stored),
            Shape::Array(_) | Shape::Object(_) => deeper(|| self.container(view, aligned)),
        }
    }
}

/// The bytes of a numeric: a length, a head that is short for most, two for each digit of base 10⁴.
fn number(stored: &[u8]) -> i64 {
    let Some(number) = numeric::View::of(stored).finite() else { return 4 };
    let short = number.scale <= 63 && (-64..=63).contains(&number.weight);
    4 + if short { 2 } else { 4 } + 2 * number.len() as i64
}
