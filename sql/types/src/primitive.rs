//! Functions that need nothing but their operands: arithmetic, comparisons and casts of integers and floats, by `pg_proc` OID.
//!
//! They are what compiled expressions do without a call: an operation is known by one byte, its operands and its result by
//! value, and no arena, setting or catalog is asked. What they answer and fail with is what [`super::arithmetic`] and
//! [`super::comparison`] do for the same OIDs; a test compares them.

use super::Datum;
use super::failure::{division_by_zero, out_of_range};
use super::order::compare_floats;
use crate::error::Result;
use std::cmp::Ordering;

/// The width of an integer's type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Width {
    /// int2.
    Two,
    /// int4.
    Four,
    /// int8.
    Eight,
}

/// What becomes of how two operands compare.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Comparison {
    /// `=`.
    Equal,
    /// `<>`.
    NotEqual,
    /// `<`.
    Less,
    /// `<=`.
    LessEqual,
    /// `>`.
    Greater,
    /// `>=`.
    GreaterEqual,
}

/// An operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Primitive {
    /// `+` of integers, of the result's width.
    Add(Width),
    /// `-`.
    Subtract(Width),
    /// `*`.
    Multiply(Width),
    /// `/`.
    Divide(Width),
    /// `%`.
    Modulo(Width),
    /// An integer of another width.
    Integer(Width),
    /// An integer as float8.
    Float8,
    /// `+`, `-` and `*` of float8.
    AddFloat8,
    /// `-`.
    SubtractFloat8,
    /// `*`.
    MultiplyFloat8,
    /// A comparison of integers.
    Integers(Comparison),
    /// Of float8.
    Floats(Comparison),
    /// Of texts, by their bytes.
    Texts(Comparison),
    /// Of booleans.
    Booleans(Comparison),
}

use Comparison::{Equal, Greater, GreaterEqual, Less, LessEqual, NotEqual};
use Primitive::{
    Add, AddFloat8, Booleans, Divide, Float8, Floats, Integer, Integers, Modulo, Multiply,
    MultiplyFloat8, Subtract, SubtractFloat8, Texts,
};
use Width::{Eight, Four, Two};

impl Comparison {
    /// Whether it holds of two integers.
    #[must_use]
    #[inline]
    pub fn of_integers(self, left: i64, right: i64) -> bool {
        match self {
            Equal => left == right,
            NotEqual => left != right,
            Less => left < right,
            LessEqual => left <= right,
            Greater => left > right,
            GreaterEqual => left >= right,
        }
    }

    #[inline]
    fn holds(self, order: Ordering) -> bool {
        match self {
            Equal => order.is_eq(),
            NotEqual => order.is_ne(),
            Less => order.is_lt(),
            LessEqual => order.is_le(),
            Greater => order.is_gt(),
            GreaterEqual => order.is_ge(),
        }
    }
}

/// The integer in a datum that is one.
#[inline]
fn wide(datum: Datum<'_>) -> i64 {
    match datum {
        Datum::Int4(value) => i64::from(value),
        Datum::Int8(value) => value,
        Datum::Int2(value) => i64::from(value),
        other => other.int8(),
    }
}

#[inline]
fn narrowed(value: Option<i64>, width: Width) -> Result<Datum<'static>> {
    match width {
        Four => match value.map(i32::try_from) {
            Some(Ok(value)) => Ok(Datum::Int4(value)),
            _ => Err(out_of_range("integer")),
        },
        Eight => value.map(Datum::Int8).ok_or_else(|| out_of_range("bigint")),
        Two => match value.map(i16::try_from) {
            Some(Ok(value)) => Ok(Datum::Int2(value)),
            _ => Err(out_of_range("smallint")),
        },
    }
}

/// A float result: infinite where no operand was is an overflow, 0 where none was an underflow.
#[inline]
fn float(result: f64, infinite: bool, zero: bool) -> Result<Datum<'static>> {
    super::arithmetic::checked(result, infinite, zero).map(Datum::Float8)
}

impl Primitive {
    /// The operation that a function is.
    #[must_use]
    pub fn of(function: u32) -> Option<Primitive> {
        Some(match function {
            176 => Add(Two),
            177..=179 => Add(Four),
            463 | 837 | 841 | 1274 | 1278 => Add(Eight),
            180 => Subtract(Two),
            181..=183 => Subtract(Four),
            464 | 838 | 942 | 1275 | 1279 => Subtract(Eight),
            152 => Multiply(Two),
            141 | 170 | 171 => Multiply(Four),
            465 | 839 | 943 | 1276 | 1280 => Multiply(Eight),
            153 => Divide(Two),
            154 | 172 | 173 => Divide(Four),
            466 | 840 | 948 | 1277 | 1281 => Divide(Eight),
            155 | 940 => Modulo(Two),
            156 | 941 => Modulo(Four),
            945 | 947 => Modulo(Eight),
            313 | 480 => Integer(Four),
            314 | 714 => Integer(Two),
            481 | 754 => Integer(Eight),
            316 | 235 | 482 => Float8,
            218 => AddFloat8,
            219 => SubtractFloat8,
            216 => MultiplyFloat8,
            65 | 63 | 158 | 159 | 467 | 474 | 852 | 1850 | 1856 => Integers(Equal),
            144 | 145 | 164 | 165 | 468 | 475 | 853 | 1851 | 1857 => Integers(NotEqual),
            66 | 64 | 160 | 161 | 469 | 476 | 854 | 1852 | 1858 => Integers(Less),
            149 | 148 | 166 | 167 | 471 | 478 | 856 | 1854 | 1860 => Integers(LessEqual),
            147 | 146 | 162 | 163 | 470 | 477 | 855 | 1853 | 1859 => Integers(Greater),
            150 | 151 | 168 | 169 | 472 | 479 | 857 | 1855 | 1861 => Integers(GreaterEqual),
            293 => Floats(Equal),
            294 => Floats(NotEqual),
            295 => Floats(Less),
            296 => Floats(LessEqual),
            297 => Floats(Greater),
            298 => Floats(GreaterEqual),
            67 => Texts(Equal),
            157 => Texts(NotEqual),
            740 => Texts(Less),
            741 => Texts(LessEqual),
            742 => Texts(Greater),
            743 => Texts(GreaterEqual),
            60 => Booleans(Equal),
            84 => Booleans(NotEqual),
            _ => return None,
        })
    }

    /// Whether it has one operand.
    #[must_use]
    pub fn is_unary(self) -> bool {
        matches!(self, Integer(_) | Float8)
    }

    /// Whether its operands are integers.
    #[must_use]
    pub fn takes_integers(self) -> bool {
        !matches!(
            self,
            AddFloat8 | SubtractFloat8 | MultiplyFloat8 | Floats(_) | Texts(_) | Booleans(_)
        )
    }

    /// As [`Primitive::apply`], where the operands are integers.
    ///
    /// # Errors
    /// 22003, 22012.
    #[inline]
    pub fn apply_to_integers(self, left: i64, right: i64) -> Result<Datum<'static>> {
        match self {
            Add(width) => narrowed(left.checked_add(right), width),
            Subtract(width) => narrowed(left.checked_sub(right), width),
            Multiply(width) => narrowed(left.checked_mul(right), width),
            Divide(width) => match right {
                0 => Err(division_by_zero()),
                divisor => narrowed(left.checked_div(divisor), width),
            },
            Modulo(width) => match right {
                0 => Err(division_by_zero()),
                divisor => narrowed(Some(left.wrapping_rem(divisor)), width),
            },
            Integer(width) => narrowed(Some(left), width),
            Integers(comparison) => Ok(Datum::Bool(comparison.holds(left.cmp(&right)))),
            _ => Ok(Datum::Float8(left as f64)),
        }
    }

    /// Its value for operands that are not NULL; with one operand both are it.
    ///
    /// # Errors
    /// 22003, 22012.
    #[inline]
    pub fn apply(self, left: Datum<'_>, right: Datum<'_>) -> Result<Datum<'static>> {
        Ok(match self {
            AddFloat8 | SubtractFloat8 => {
                let (a, b) = (left.float8(), right.float8());
                let b = if self == AddFloat8 { b } else { -b };
                return float(a + b, a.is_infinite() || b.is_infinite(), true);
            }
            MultiplyFloat8 => {
                let (a, b) = (left.float8(), right.float8());
                return float(a * b, a.is_infinite() || b.is_infinite(), a == 0.0 || b == 0.0);
            }
            Floats(comparison) => {
                Datum::Bool(comparison.holds(compare_floats(left.float8(), right.float8())))
            }
            Texts(comparison) => {
                let order = left.text().as_bytes().cmp(right.text().as_bytes());
                Datum::Bool(comparison.holds(order))
            }
            Booleans(comparison) => Datum::Bool(comparison.holds(left.bool().cmp(&right.bool()))),
            _ => return self.apply_to_integers(wide(left), wide(right)),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::Primitive;
    use crate::function::Callable;
    use crate::{Datum, arithmetic, comparison, no_session};

    /// Every operation answers, and fails, as the function of its OID does.
    #[test]
    fn operations_are_the_functions_of_their_oids() {
        let integers =
            [0, 1, -1, 2, -7, i64::from(i16::MIN), i64::from(i32::MAX), i64::MIN, i64::MAX];
        let narrow = |value: i64, ty: u32| match ty {
            21 => Datum::Int2(value as i16),
            23 => Datum::Int4(value as i32),
            20 => Datum::Int8(value),
            701 => Datum::Float8(value as f64 / 3.0),
            16 => Datum::Bool(value > 0),
            _ => Datum::Text(if value > 0 { "b" } else { "a" }),
        };
        let known = [
            arithmetic::INTEGERS,
            arithmetic::INTEGER_FUNCTIONS,
            arithmetic::FLOATS,
            arithmetic::FLOAT_FUNCTIONS,
            comparison::FUNCTIONS,
        ];
        let mut compared = 0;
        no_session::with_context(|context| {
            for oid in 0..6000 {
                let Some(primitive) = Primitive::of(oid) else { continue };
                let function = crate::builtin::function(oid).expect("it is built in");
                let found =
                    known.iter().flat_map(|all| all.iter()).find(|(known, _)| *known == oid);
                let Some((_, Callable::Plain(code))) = found else {
                    panic!("{oid} is no function")
                };
                assert_eq!(primitive.is_unary(), function.arguments.len() == 1, "{oid}");
                for left in integers {
                    for right in integers {
                        let arguments: Vec<Datum<'_>> = function
                            .arguments
                            .iter()
                            .zip([left, right])
                            .map(|(ty, value)| narrow(value, *ty))
                            .collect();
                        let expected = code(context, &arguments);
                        let last = arguments[arguments.len() - 1];
                        let given = primitive.apply(arguments[0], last);
                        assert_eq!(format!("{given:?}"), format!("{expected:?}"), "{oid}");
                        compared += 1;
                    }
                }
            }
        });
        assert!(compared > 5000, "{compared}");
    }
}
