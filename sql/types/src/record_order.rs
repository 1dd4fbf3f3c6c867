//! Rows compared field by field: by what the fields mean (`=`, `<`), or by what they are held as (`*=`, `*<`).
//!
//! PostgreSQL: `rowtypes.c`, `record_cmp` and `record_image_cmp`. A NULL is equal to another, and the greatest. Of rows whose
//! fields differ in type or number that is told, unless a field before decides. Whoever sorts rows, or tells them apart by
//! hashing, asks here too: sorting has compared neighbours ([`compare_strictly`]), hashing those that begin alike ([`Shapes`]).
//!
//! As they are held, numbers and the like are compared as unsigned words, what has a fixed length from its first byte on, and
//! what has none by its bytes, then by how many they are. So 1.0 and 1.00 are two values.

use super::array::Array;
use super::array::compare::{Wanted, demand_of};
use super::depth::descend;
use super::form::{Form, form};
use super::function::Callable::{self, Plain};
use super::numeric::View;
use super::{CallContext, Datum, oids, order, record, stored};
use crate::builtin;
use crate::error::{Result, SqlError};
use crate::sqlstate::SqlState;
use bumpalo::Bump;
use std::cmp::Ordering;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::hash::{BuildHasher, Hasher, RandomState};

/// By OID.
pub(crate) const FUNCTIONS: &[(u32, Callable)] = &[
    (2981, Plain(|c, a| answer(c, a, EQUALITY, Ordering::is_eq))),
    (2982, Plain(|c, a| answer(c, a, EQUALITY, Ordering::is_ne))),
    (2983, Plain(|c, a| answer(c, a, ORDER, Ordering::is_lt))),
    (2984, Plain(|c, a| answer(c, a, ORDER, Ordering::is_gt))),
    (2985, Plain(|c, a| answer(c, a, ORDER, Ordering::is_le))),
    (2986, Plain(|c, a| answer(c, a, ORDER, Ordering::is_ge))),
    (2987, Plain(|c, a| Ok(Datum::Int4(compare(c, a, ORDER)? as i32)))),
    (3181, Plain(|c, a| answer(c, a, IMAGE, Ordering::is_eq))),
    (3182, Plain(|c, a| answer(c, a, IMAGE, Ordering::is_ne))),
    (3183, Plain(|c, a| answer(c, a, IMAGE, Ordering::is_lt))),
    (3184, Plain(|c, a| answer(c, a, IMAGE, Ordering::is_gt))),
    (3185, Plain(|c, a| answer(c, a, IMAGE, Ordering::is_le))),
    (3186, Plain(|c, a| answer(c, a, IMAGE, Ordering::is_ge))),
    (3187, Plain(|c, a| Ok(Datum::Int4(compare(c, a, IMAGE)? as i32)))),
];

/// How two stored values of a type compare, and what of the type they need for it.
type Fields = (fn(&CallContext<'_>, u32, &[u8], &[u8]) -> Result<Ordering>, Option<Wanted>);

const EQUALITY: Fields = (equality, Some(Wanted::Equality));
const ORDER: Fields = (meaning, Some(Wanted::Order));
const IMAGE: Fields = (image, None);

fn answer<'a>(
    context: &CallContext<'a>,
    a: &[Datum<'a>],
    fields: Fields,
    wanted: fn(Ordering) -> bool,
) -> Result<Datum<'a>> {
    Ok(Datum::Bool(wanted(compare(context, a, fields)?)))
}

fn compare(context: &CallContext<'_>, a: &[Datum<'_>], fields: Fields) -> Result<Ordering> {
    compare_rows(context, a[0].record(), a[1].record(), fields)
}

fn compare_rows(
    context: &CallContext<'_>,
    a: &[u8],
    b: &[u8],
    (compare, wanted): Fields,
) -> Result<Ordering> {
    let (mut left, mut right) = (record::fields(a), record::fields(b));
    let mut column = 0;
    loop {
        let ((ty, x), (other, y)) = match (left.next(), right.next()) {
            (Some(x), Some(y)) => (x, y),
            (None, None) => return Ok(Ordering::Equal),
            _ => return Err(different_counts()),
        };
        column += 1;
        if ty != other {
            return Err(dissimilar(context, ty, other, column));
        }
        if let Some(wanted) = wanted {
            demand_of(context, ty, wanted)?;
        }
        let order = match (x, y) {
            (Some(x), Some(y)) => compare(context, ty, x, y)?,
            (x, y) => x.is_none().cmp(&y.is_none()),
        };
        if order.is_ne() {
            return Ok(order);
        }
    }
}

/// Whether two values of the type `ty` may be such as cannot be compared: rows, and arrays of what only they tell.
#[must_use]
pub fn may_differ(ty: u32) -> bool {
    match form(ty) {
        Form::Record => true,
        Form::Array(element) => ty == oids::ANYARRAY || may_differ(element),
        _ => false,
    }
}

/// Compares two values of the type `ty`, neither NULL, or says why they cannot be compared.
///
/// # Errors
/// 42804 where fields of rows differ in type or number, or elements of arrays in type; 42883 for a field without an order.
pub fn compare_strictly(
    context: &CallContext<'_>,
    ty: u32,
    a: &Datum<'_>,
    b: &Datum<'_>,
    wanted: Wanted,
) -> Result<Ordering> {
    let fields = if wanted == Wanted::Equality { EQUALITY } else { ORDER };
    match (a, b) {
        (Datum::Record(a), Datum::Record(b)) => compare_rows(context, a, b, fields),
        (Datum::Array(x), Datum::Array(y)) => {
            let (x, y) = (Array::of(x), Array::of(y));
            if form(x.element) != form(y.element) {
                return Err(different_elements());
            }
            let sizes = order::compare_sizes(&x, &y);
            // What differs in size is not equal, whatever its elements are.
            if !may_differ(x.element) || wanted == Wanted::Equality && sizes.is_ne() {
                return Ok(order::compare(ty, a, b));
            }
            for pair in x.slots().zip(y.slots()) {
                let order = match pair {
                    (Some(x_slot), Some(y_slot)) => fields.0(context, x.element, x_slot, y_slot)?,
                    (x_slot, y_slot) => x_slot.is_none().cmp(&y_slot.is_none()),
                };
                if order.is_ne() {
                    return Ok(order);
                }
            }
            Ok(sizes)
        }
        _ => Ok(order::compare(ty, a, b)),
    }
}

/// What rows of a set are like that are told apart by hashing: whichever have the same fields up to one must go on with a
/// field of the same type. So it fails where sorting them would, which compares them there.
#[derive(Debug, Default)]
pub struct Shapes {
    /// The type of the field behind those with this hash.
    seen: HashMap<u64, u32>,
    seed: RandomState,
}

/// Stands for the end of a row.
const END: u32 = 0;

impl Shapes {
    /// For keys of these types; none if they need none.
    #[must_use]
    pub fn of(types: &[u32]) -> Option<Shapes> {
        types.iter().any(|ty| may_differ(*ty)).then(Shapes::default)
    }

    /// About how many bytes it holds.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.seen.len() * size_of::<(u64, u32)>()
    }

    /// Takes note of a key. Where `first`, an error names its type in front.
    ///
    /// # Errors
    /// As [`compare_strictly`].
    pub fn note<'d>(
        &mut self,
        context: &CallContext<'_>,
        key: impl Iterator<Item = (u32, Datum<'d>)>,
        first: bool,
    ) -> Result<()> {
        let mut hasher = self.seed.build_hasher();
        for (ty, datum) in key {
            self.walk(context, ty, &datum, first, &mut hasher)?;
        }
        Ok(())
    }

    fn walk(
        &mut self,
        context: &CallContext<'_>,
        ty: u32,
        datum: &Datum<'_>,
        first: bool,
        hasher: &mut impl Hasher,
    ) -> Result<()> {
        if let Datum::Array(bytes) = datum
            && may_differ(ty)
        {
            let array = Array::of(bytes);
            self.meet(hasher, array.element, |_| Err(different_elements()))?;
            for element in array.datums(&Bump::new()) {
                let element = element?;
                descend(|| self.walk(context, array.element, &element, first, hasher))?;
            }
        } else if let Datum::Record(bytes) = datum {
            let arena = Bump::new();
            let ends = std::iter::once((END, None));
            for (column, (ty, slot)) in (1..).zip(record::fields(bytes).chain(ends)) {
                let met = self.meet(hasher, ty, |other| {
                    Err(match (first, ty, other) {
                        (_, END, _) | (_, _, END) => different_counts(),
                        (true, ..) => dissimilar(context, ty, other, column),
                        (false, ..) => dissimilar(context, other, ty, column),
                    })
                })?;
                if ty == END {
                    break;
                }
                if met {
                    demand_of(context, ty, Wanted::Order)?;
                }
                let value = match slot {
                    Some(slot) => stored::read(&arena, ty, slot)?,
                    None => Datum::Null,
                };
                descend(|| self.walk(context, ty, &value, first, hasher))?;
            }
        }
        order::hash_into(ty, datum, hasher);
        Ok(())
    }

    /// Whether what has been hashed so far goes on with this type, as it has before.
    fn meet(
        &mut self,
        hasher: &mut impl Hasher,
        ty: u32,
        differs: impl FnOnce(u32) -> Result<()>,
    ) -> Result<bool> {
        let met = match self.seen.entry(hasher.finish()) {
            Entry::Vacant(place) => {
                place.insert(ty);
                false
            }
            Entry::Occupied(other) if *other.get() != ty => {
                differs(*other.get())?;
                true
            }
            Entry::Occupied(_) => true,
        };
        hasher.write_u32(ty);
        Ok(met)
    }
}

/// Two fields are of different types.
#[cold]
fn dissimilar(context: &CallContext<'_>, a: u32, b: u32, column: usize) -> SqlError {
    let name = |ty| context.catalog.type_name(ty);
    SqlError::new(
        SqlState::DATATYPE_MISMATCH,
        format!(
            "cannot compare dissimilar column types {} and {} at record column {column}",
            name(a),
            name(b)
        ),
    )
}

#[cold]
fn different_counts() -> SqlError {
    SqlError::new(
        SqlState::DATATYPE_MISMATCH,
        "cannot compare record types with different numbers of columns",
    )
}

#[cold]
fn different_elements() -> SqlError {
    SqlError::new(SqlState::DATATYPE_MISMATCH, "cannot compare arrays of different element types")
}

fn equality(context: &CallContext<'_>, ty: u32, a: &[u8], b: &[u8]) -> Result<Ordering> {
    slots(context, ty, a, b, Wanted::Equality)
}

fn meaning(context: &CallContext<'_>, ty: u32, a: &[u8], b: &[u8]) -> Result<Ordering> {
    slots(context, ty, a, b, Wanted::Order)
}

fn slots(
    context: &CallContext<'_>,
    ty: u32,
    a: &[u8],
    b: &[u8],
    wanted: Wanted,
) -> Result<Ordering> {
    let arena = Bump::new();
    let a = stored::read(&arena, ty, a)?;
    let b = stored::read(&arena, ty, b)?;
    descend(|| compare_strictly(context, ty, &a, &b, wanted))
}

/// What is passed by value is stored as little-endian bytes of it.
fn image(_: &CallContext<'_>, ty: u32, a: &[u8], b: &[u8]) -> Result<Ordering> {
    Ok(match form(ty) {
        Form::Enum => word(a).cmp(&word(b)),
        Form::Numeric => number(a).cmp(&number(b)),
        _ if builtin::type_by_oid(ty).is_some_and(|found| found.by_value) => word(a).cmp(&word(b)),
        _ => a.cmp(b),
    })
}

/// A number of up to 8 bytes as PostgreSQL holds it in a word: its sign goes on to the left.
fn word(bytes: &[u8]) -> u64 {
    let negative = bytes.last().is_some_and(|last| last & 0x80 != 0);
    let mut word = [if negative { 0xFF } else { 0 }; 8];
    for (place, byte) in word.iter_mut().zip(bytes) {
        *place = *byte;
    }
    u64::from_le_bytes(word)
}

/// A numeric in PostgreSQL's form: most have sign, scale and weight in two bytes.
fn number(stored: &[u8]) -> Vec<u8> {
    let finite = match View::of(stored) {
        View::Finite(finite) => finite,
        View::Nan => return 0xC000_u16.to_le_bytes().to_vec(),
        View::Infinity => return 0xD000_u16.to_le_bytes().to_vec(),
        View::NegativeInfinity => return 0xF000_u16.to_le_bytes().to_vec(),
    };
    let (scale, weight) = (finite.scale, finite.weight);
    let mut bytes = Vec::with_capacity(4 + 2 * finite.len());
    if scale < 64 && (-64..64).contains(&weight) {
        let sign = if finite.negative { 0x2000 } else { 0 };
        let head = 0x8000 | sign | scale << 7 | (weight as u16 & 0x7F);
        bytes.extend_from_slice(&head.to_le_bytes());
    } else {
        let sign = if finite.negative { 0x4000 } else { 0 };
        bytes.extend_from_slice(&(sign | scale).to_le_bytes());
        bytes.extend_from_slice(&weight.to_le_bytes());
    }
    finite.digits().for_each(|digit| bytes.extend_from_slice(&digit.to_le_bytes()));
    bytes
}
