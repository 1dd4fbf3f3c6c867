//! Trees as bytes.
//!
//! A version, the tree's height, the tree that is run, and the one that is printed or nothing. What a tree is made of stands
//! one after the other, each expression behind the code of its kind. Numbers have as many bytes as they need (7 bits each, the
//! lowest first, the sign in the lowest bit), texts and lists carry their length. Codes and OIDs are for good; whatever changes
//! what stands here takes the next version, and a tree of another one is refused.
//!
//! Reading believes nothing: lengths are held against what is there, and depth against the height that is told first, which is
//! what the stack is chosen by.

use super::Tree;
use crate::account;
use crate::bind::scope::column_at;
use crate::bind::trigger;
use crate::bind::type_name::fields_of;
use crate::bind::typed::{CallForm, CurrentValue, Expr, Literal, Quantifier};
use crate::bind::{row_at, system_column_at};
use crate::catalog::routine::Routine;
use crate::catalog::system_column::{SYSTEM_COLUMNS, TABLE_OID};
use crate::catalog::{CatalogSnapshot, Relation};
use crate::error::{Result, SqlError};
use crate::parse::Deep;
use crate::parse::depth::{HEIGHT_MAX, check, with_stack_for};
use crate::sqlstate::SqlState;
use crate::types::settings::XmlOption;
use crate::types::xml::construct::{Standalone, XmlCall, XmlOp};
use crate::types::{Interval, Oid, SqlType, TimeTz};
use std::sync::Arc;

/// The version of what follows.
const VERSION: u8 = 1;

/// The codes of what does not stand as it is bound.
const COLUMN: u8 = 2;
const OWN_ROW: u8 = 3;
const ARRAY_CAST: u8 = 4;
const FIELD: u8 = 27;
const SIDE_COLUMN: u8 = 31;
const SIDE_ROW: u8 = 32;

/// The numbers of a relation's live columns, in their order.
fn live(relation: Option<&Relation>) -> Vec<i16> {
    let columns = relation.map_or(&[][..], |relation| &relation.columns).iter().enumerate();
    columns.filter(|(_, column)| !column.dropped).map(|(at, _)| at as i16 + 1).collect()
}

/// The numbers of the columns that the fields of such a row are, where it is the row of a relation: as many as it has now.
fn fields(catalog: &CatalogSnapshot, row: SqlType) -> Option<Vec<i16>> {
    let relation = catalog.row_type(catalog.base_type(row).oid)?;
    Some(live(Some(relation)))
}

/// The numbers of the fields of such a row, by which they are told whatever others come and go; none of one without a name.
pub(in crate::bind) fn numbered(catalog: &CatalogSnapshot, row: SqlType) -> Vec<i16> {
    let counted = || {
        let fields = fields_of(catalog, catalog.base_type(row).oid).unwrap_or_default();
        (1..).take(fields.len()).collect()
    };
    fields(catalog, row).unwrap_or_else(counted)
}

/// A tree over a relation's live columns as bytes; `number` says which numbers the columns have where it is going to be.
///
/// # Errors
/// 54001, 0A000.
pub(super) fn write(
    catalog: &CatalogSnapshot,
    relation: Option<&Relation>,
    tree: &Tree,
    number: &dyn Fn(i16) -> i16,
) -> Result<Arc<[u8]>> {
    write_tree(Writer::new(catalog, relation, Row::Relation, number), tree)
}

/// A tree over the rows `old` and `new` of a relation as bytes.
///
/// # Errors
/// 54001, 0A000.
pub(super) fn write_over_both(
    catalog: &CatalogSnapshot,
    relation: &Relation,
    tree: &Tree,
) -> Result<Arc<[u8]>> {
    write_tree(Writer::new(catalog, Some(relation), Row::OldAndNew, &|number| number), tree)
}

fn write_tree(mut out: Writer<'_>, tree: &Tree) -> Result<Arc<[u8]>> {
    tree.bound.write(&mut out)?;
    tree.written.write(&mut out)?;
    finish(out)
}

/// Puts before what has been written what it begins with.
fn finish(mut out: Writer<'_>) -> Result<Arc<[u8]>> {
    let (height, body) = (out.height, std::mem::take(&mut out.bytes));
    out.bytes.push(VERSION);
    height.write(&mut out)?;
    out.bytes.extend(body);
    Ok(out.bytes.into())
}

/// What has been read.
pub(super) struct Read {
    pub tree: Deep<Tree>,
    /// Whether it is this as long as the relation is: it holds no routine that users made, and names no other relation's columns.
    pub lasts: bool,
}

/// The tree over a relation's live columns that bytes stand for.
///
/// # Errors
/// XX001.
pub(super) fn read(
    catalog: &CatalogSnapshot,
    relation: Option<&Relation>,
    bytes: &[u8],
) -> Result<Read> {
    read_tree(Reader::new(catalog, relation, Row::Relation, bytes))
}

/// The tree over the rows `old` and `new` of a relation that bytes stand for.
///
/// # Errors
/// XX001.
pub(super) fn read_over_both(
    catalog: &CatalogSnapshot,
    relation: &Relation,
    bytes: &[u8],
) -> Result<Read> {
    read_tree(Reader::new(catalog, Some(relation), Row::OldAndNew, bytes))
}

fn read_tree(mut from: Reader<'_>) -> Result<Read> {
    let tree = read_whole(&mut from, |from| {
        Ok(Tree { bound: Expr::read(from)?, written: Option::read(from)? })
    })?;
    Ok(Read { tree, lasts: from.lasts })
}

/// Reads what such bytes begin with, and the rest, which is all that there is.
fn read_whole<'r, T>(
    from: &mut Reader<'r>,
    rest: impl FnOnce(&mut Reader<'r>) -> Result<T>,
) -> Result<Deep<T>> {
    if from.byte()? != VERSION {
        return Err(corrupt("it is of another version"));
    }
    let height = u32::read(from)?;
    if height > HEIGHT_MAX {
        return Err(corrupt("it is too high"));
    }
    from.height = height;
    // On this stack it is dropped, too, where what follows is no tree.
    with_stack_for(height, || {
        let tree = rest(from)?;
        if !from.rest.is_empty() {
            return Err(corrupt("something is behind it"));
        }
        Ok(Deep::new(tree, height))
    })
}

pub(in crate::bind) fn corrupt(what: &str) -> SqlError {
    let message = format!("a stored expression is corrupt: {what}");
    SqlError::new(SqlState::DATA_CORRUPTED, message)
}

/// What columns are of.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Row {
    /// The row of the relation.
    Relation,
    /// Its rows `old` and `new`, as [`trigger`] puts them beside one another.
    OldAndNew,
    /// The element of an array.
    Element,
    /// The row of a query, or one around it.
    Query,
}

struct Writer<'w> {
    catalog: &'w CatalogSnapshot,
    relation: Option<&'w Relation>,
    live: Vec<i16>,
    number: &'w dyn Fn(i16) -> i16,
    row: Row,
    depth: u32,
    height: u32,
    bytes: Vec<u8>,
}

struct Reader<'r> {
    catalog: &'r CatalogSnapshot,
    relation: Option<&'r Relation>,
    live: Vec<i16>,
    row: Row,
    depth: u32,
    height: u32,
    lasts: bool,
    rest: &'r [u8],
}

impl<'w> Writer<'w> {
    fn new(
        catalog: &'w CatalogSnapshot,
        relation: Option<&'w Relation>,
        row: Row,
        number: &'w dyn Fn(i16) -> i16,
    ) -> Writer<'w> {
        let (live, bytes) = (live(relation), Vec::new());
        Writer { catalog, relation, live, number, row, depth: 0, height: 0, bytes }
    }

    /// Writes what is a level higher than what it stands in.
    fn deeper(&mut self, write: impl FnOnce(&mut Self) -> Result<()>) -> Result<()> {
        self.depth += 1;
        self.height = self.height.max(self.depth);
        check(self.depth)?;
        write(self)?;
        self.depth -= 1;
        Ok(())
    }
}

impl<'r> Reader<'r> {
    fn new(
        catalog: &'r CatalogSnapshot,
        relation: Option<&'r Relation>,
        row: Row,
        rest: &'r [u8],
    ) -> Reader<'r> {
        let live = live(relation);
        Reader { catalog, relation, live, row, depth: 0, height: 0, lasts: true, rest }
    }

    /// Reads what is a level higher than what it stands in.
    fn deeper<T>(&mut self, read: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        self.depth += 1;
        if self.depth > self.height {
            return Err(corrupt("it is higher than it says"));
        }
        let read = read(self)?;
        self.depth -= 1;
        Ok(read)
    }

    fn take(&mut self, count: usize) -> Result<&[u8]> {
        let (head, tail) =
            self.rest.split_at_checked(count).ok_or_else(|| corrupt("it ends too early"))?;
        self.rest = tail;
        Ok(head)
    }

    fn byte(&mut self) -> Result<u8> {
        Ok(self.take(1)?[0])
    }
}

/// What trees are made of.
trait Part: Sized {
    fn write(&self, out: &mut Writer<'_>) -> Result<()>;
    fn read(from: &mut Reader<'_>) -> Result<Self>;
}

impl Part for u64 {
    fn write(&self, out: &mut Writer<'_>) -> Result<()> {
        let mut left = *self;
        while left >= 0x80 {
            out.bytes.push(left as u8 | 0x80);
            left >>= 7;
        }
        out.bytes.push(left as u8);
        Ok(())
    }
    fn read(from: &mut Reader<'_>) -> Result<Self> {
        let mut value = 0;
        for shift in (0..u64::BITS).step_by(7) {
            let byte = from.byte()?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Ok(value);
            }
        }
        Err(corrupt("a number has no end"))
    }
}

impl Part for i64 {
    fn write(&self, out: &mut Writer<'_>) -> Result<()> {
        ((self << 1) ^ (self >> 63)).cast_unsigned().write(out)
    }
    fn read(from: &mut Reader<'_>) -> Result<Self> {
        let value = u64::read(from)?;
        Ok((value >> 1).cast_signed() ^ -(value & 1).cast_signed())
    }
}

/// Smaller numbers are such of 64 bits.
macro_rules! numbers {
    ($($ty:ident as $wide:ident),*) => {$(
        impl Part for $ty {
            fn write(&self, out: &mut Writer<'_>) -> Result<()> {
                $wide::from(*self).write(out)
            }
            fn read(from: &mut Reader<'_>) -> Result<Self> {
                $wide::read(from)?.try_into().map_err(|_| corrupt("a number is too large"))
            }
        }
    )*};
}

numbers!(u16 as u64, u32 as u64, i16 as i64, i32 as i64);

/// Bytes as they are.
macro_rules! bytes {
    ($($ty:ty),*) => {$(
        impl Part for $ty {
            fn write(&self, out: &mut Writer<'_>) -> Result<()> {
                out.bytes.extend_from_slice(&self.to_le_bytes());
                Ok(())
            }
            fn read(from: &mut Reader<'_>) -> Result<Self> {
                let bytes = from.take(size_of::<$ty>())?.try_into();
                Ok(<$ty>::from_le_bytes(bytes.map_err(|_| corrupt("it ends too early"))?))
            }
        }
    )*};
}

bytes!(u8, f32, f64);

impl Part for [u8; 16] {
    fn write(&self, out: &mut Writer<'_>) -> Result<()> {
        out.bytes.extend_from_slice(self);
        Ok(())
    }
    fn read(from: &mut Reader<'_>) -> Result<Self> {
        from.take(16)?.try_into().map_err(|_| corrupt("it ends too early"))
    }
}

impl Part for bool {
    fn write(&self, out: &mut Writer<'_>) -> Result<()> {
        u8::from(*self).write(out)
    }
    fn read(from: &mut Reader<'_>) -> Result<Self> {
        match from.byte()? {
            0 => Ok(false),
            1 => Ok(true),
            _ => Err(corrupt("a truth value")),
        }
    }
}

impl Part for Arc<str> {
    fn write(&self, out: &mut Writer<'_>) -> Result<()> {
        (self.len() as u64).write(out)?;
        out.bytes.extend_from_slice(self.as_bytes());
        Ok(())
    }
    fn read(from: &mut Reader<'_>) -> Result<Self> {
        let count = u32::read(from)? as usize;
        let text = str::from_utf8(from.take(count)?);
        Ok(text.map_err(|_| corrupt("a text is not UTF-8"))?.into())
    }
}

impl<T: Part> Part for Vec<T> {
    fn write(&self, out: &mut Writer<'_>) -> Result<()> {
        (self.len() as u64).write(out)?;
        self.iter().try_for_each(|part| part.write(out))
    }
    fn read(from: &mut Reader<'_>) -> Result<Self> {
        // The count is not believed before the parts are there: no reservation.
        let count = u32::read(from)?;
        (0..count).map(|_| T::read(from)).collect()
    }
}

impl<T: Part + Clone> Part for Arc<[T]> {
    fn write(&self, out: &mut Writer<'_>) -> Result<()> {
        self.to_vec().write(out)
    }
    fn read(from: &mut Reader<'_>) -> Result<Self> {
        Ok(Vec::read(from)?.into())
    }
}

impl<T: Part> Part for Option<T> {
    fn write(&self, out: &mut Writer<'_>) -> Result<()> {
        self.is_some().write(out)?;
        self.iter().try_for_each(|part| part.write(out))
    }
    fn read(from: &mut Reader<'_>) -> Result<Self> {
        bool::read(from)?.then(|| T::read(from)).transpose()
    }
}

impl<T: Part> Part for Box<T> {
    fn write(&self, out: &mut Writer<'_>) -> Result<()> {
        T::write(self, out)
    }
    fn read(from: &mut Reader<'_>) -> Result<Self> {
        T::read(from).map(Box::new)
    }
}

impl<A: Part, B: Part> Part for (A, B) {
    fn write(&self, out: &mut Writer<'_>) -> Result<()> {
        self.0.write(out)?;
        self.1.write(out)
    }
    fn read(from: &mut Reader<'_>) -> Result<Self> {
        Ok((A::read(from)?, B::read(from)?))
    }
}

/// A routine is its OID.
impl Part for Arc<Routine> {
    fn write(&self, out: &mut Writer<'_>) -> Result<()> {
        self.oid.write(out)
    }
    fn read(from: &mut Reader<'_>) -> Result<Self> {
        let oid = Oid::read(from)?;
        let found = from.catalog.routine(oid).cloned();
        let found = found.ok_or_else(|| corrupt("it calls a function that is not there"))?;
        // A plan has to follow what has its name.
        let _ = from.catalog.routines_named(&found.name);
        from.lasts = false;
        Ok(found)
    }
}

impl Part for Arc<XmlCall> {
    fn write(&self, out: &mut Writer<'_>) -> Result<()> {
        XmlCall::write(self, out)
    }
    fn read(from: &mut Reader<'_>) -> Result<Self> {
        XmlCall::read(from).map(Arc::new)
    }
}

/// A struct is its fields, one after the other.
macro_rules! structs {
    ($($ty:ident { $($field:tt),* })*) => {$(
        impl Part for $ty {
            fn write(&self, out: &mut Writer<'_>) -> Result<()> {
                $(self.$field.write(out)?;)*
                Ok(())
            }
            fn read(from: &mut Reader<'_>) -> Result<Self> {
                Ok($ty { $($field: Part::read(from)?),* })
            }
        }
    )*};
}

structs! {
    Oid { 0 }
    SqlType { oid, typmod }
    TimeTz { micros, west }
    Interval { months, days, micros }
    XmlCall { op, name, names, types, target }
}

/// One of several is its code, and what it has, one after the other; what is `fixed` is not stored.
macro_rules! choices {
    ($($ty:ident {
        $($code:literal $variant:ident
            $(($($item:ident),*))? $({ $($field:ident),* $(; $fixed:ident = $value:literal)? })?;)*
        $(else $otherwise:literal)?
    })*) => {$(
        impl Choice for $ty {
            fn write_choice(&self, out: &mut Writer<'_>) -> Result<()> {
                match self {
                    $($ty::$variant $(($($item),*))? $({ $($field),* $(, $fixed: _)? })? => {
                        out.bytes.push($code);
                        $($($item.write(out)?;)*)?
                        $($($field.write(out)?;)*)?
                        Ok(())
                    })*
                    $(_ => Err(SqlError::unsupported($otherwise)),)?
                }
            }
            fn read_choice(code: u8, _from: &mut Reader<'_>) -> Result<Self> {
                match code {
                    $($code => {
                        $($(let $item = Part::read(_from)?;)*)?
                        $($(let $field = Part::read(_from)?;)*)?
                        Ok($ty::$variant $(($($item),*))? $({ $($field),* $(, $fixed: $value)? })?)
                    })*
                    _ => Err(corrupt(stringify!($ty))),
                }
            }
        }
    )*};
}

/// One of several.
trait Choice: Sized {
    fn write_choice(&self, out: &mut Writer<'_>) -> Result<()>;
    fn read_choice(code: u8, from: &mut Reader<'_>) -> Result<Self>;
}

choices! {
    Expr {
        1 Constant(literal, ty);
        5 Call { function, arguments, ty, form; position = 0 };
        6 And(parts);
        7 Or(parts);
        8 Not(operand);
        9 IsNull { operand, negated };
        10 IsBool { operand, test, negated };
        11 IsDistinct { left, right, equals, negated };
        12 Case { operand, given, branches, otherwise, ty };
        13 CaseTest(ty, collation);
        14 Coalesce(arguments, ty, merged);
        15 NullIf { left, right, equals, ty };
        16 Extreme { arguments, greatest, ty };
        17 Xml { call, arguments };
        18 Collate { operand, collation, ty; position = 0 };
        19 Relabel(operand, ty);
        20 ViaText(operand, ty);
        21 Domain(operand, ty);
        22 Array { elements, ty };
        23 Subscript { operand, indices, slice, ty };
        24 ScalarArray { left, operator, function, array, quantifier };
        25 Row(fields, ty, names);
        26 CurrentValue(value, ty);
        30 XmlTable { table, arguments };
        else "such a part of a stored expression is"
    }
    CallForm {
        1 Function;
        2 Operator(operator);
        3 Cast;
        4 Routine(routine);
        5 Subscript { given };
        6 Standard { given };
    }
    Literal {
        0 Null;
        1 Bool(value);
        2 Int2(value);
        3 Int4(value);
        4 Int8(value);
        5 Oid(value);
        6 Float4(value);
        7 Float8(value);
        8 Char(value);
        9 Text(value);
        10 Numeric(value);
        11 Bytea(value);
        12 Date(value);
        13 Time(value);
        14 TimeTz(value);
        15 Timestamp(value);
        16 TimestampTz(value);
        17 Interval(value);
        18 Array(value);
        19 Record(value);
        20 Uuid(value);
        21 Jsonb(value);
    }
    Quantifier {
        1 Any;
        2 All;
    }
    CurrentValue {
        1 Date;
        2 Time(precision);
        3 Timestamp(precision);
        4 LocalTime(precision);
        5 LocalTimestamp(precision);
        6 User;
        7 Role;
        8 PlainUser;
        9 SessionUser;
        10 Catalog;
        11 Schema;
    }
    XmlOp {
        1 Concat;
        2 Element;
        3 Forest;
        4 Parse { option, preserve };
        5 Instruction;
        6 Root(standalone);
        7 Serialize(option);
        8 IsDocument;
    }
    XmlOption {
        1 Document;
        2 Content;
    }
    Standalone {
        1 Yes;
        2 No;
        3 NoValue;
        4 Omitted;
    }
}

/// What is always one of several.
macro_rules! chosen {
    ($($ty:ty),*) => {$(
        impl Part for $ty {
            fn write(&self, out: &mut Writer<'_>) -> Result<()> {
                self.write_choice(out)
            }
            fn read(from: &mut Reader<'_>) -> Result<Self> {
                let code = from.byte()?;
                Choice::read_choice(code, from)
            }
        }
    )*};
}

chosen!(CallForm, Literal, Quantifier, CurrentValue, XmlOp, XmlOption, Standalone);

pub(super) mod query;

impl Part for Expr {
    fn write(&self, out: &mut Writer<'_>) -> Result<()> {
        out.deeper(|out| match self {
            Expr::Column { level, column, ty } if out.row == Row::Query => {
                out.bytes.push(query::COLUMN);
                level.write(out)?;
                column.write(out)?;
                ty.write(out)
            }
            Expr::Column { level: 0, column, ty } if out.row == Row::OldAndNew => {
                out.bytes.push(SIDE_COLUMN);
                out.side_of(*column)?.write(out)?;
                ty.write(out)
            }
            Expr::Row(_, _, None) if let Some(side) = out.whole_side(self) => {
                out.bytes.push(SIDE_ROW);
                side.write(out)
            }
            Expr::Column { level: 0, column, ty } => {
                out.bytes.push(COLUMN);
                out.number_of(*column)?.write(out)?;
                ty.write(out)
            }
            Expr::Row(_, _, None) if out.is_own_row(self) => {
                out.bytes.push(OWN_ROW);
                Ok(())
            }
            Expr::ArrayCast { operand, element, ty } => {
                out.bytes.push(ARRAY_CAST);
                operand.write(out)?;
                let row = std::mem::replace(&mut out.row, Row::Element);
                element.write(out)?;
                out.row = row;
                ty.write(out)
            }
            Expr::Field { operand, field, ty } => {
                out.bytes.push(FIELD);
                operand.write(out)?;
                let numbers = fields(out.catalog, operand.ty());
                let number = numbers.and_then(|all| all.get(*field as usize).copied());
                number.map_or(*field, |number| number.unsigned_abs().into()).write(out)?;
                ty.write(out)
            }
            Expr::Subquery { kind, query, ty } if out.row == Row::Query => {
                out.bytes.push(query::SUBQUERY);
                query::write_subquery((kind, query, *ty), out)
            }
            other => other.write_choice(out),
        })
    }

    fn read(from: &mut Reader<'_>) -> Result<Self> {
        from.deeper(|from| {
            Ok(match from.byte()? {
                query::COLUMN => {
                    let level = Part::read(from)?;
                    Expr::Column { level, column: Part::read(from)?, ty: Part::read(from)? }
                }
                COLUMN => {
                    let number = i16::read(from)?;
                    column_at(from.place_of(number)?, SqlType::read(from)?)
                }
                OWN_ROW => from.own_row(Row::Relation, 0)?,
                SIDE_COLUMN => {
                    let place = from.place_on_side()?;
                    column_at(place, SqlType::read(from)?)
                }
                SIDE_ROW => {
                    let side = from.side()?;
                    from.own_row(Row::OldAndNew, side * from.live.len())?
                }
                ARRAY_CAST => {
                    let operand = Part::read(from)?;
                    let row = std::mem::replace(&mut from.row, Row::Element);
                    let element = Part::read(from)?;
                    from.row = row;
                    Expr::ArrayCast { operand, element, ty: Part::read(from)? }
                }
                FIELD => {
                    let operand = Box::<Expr>::read(from)?;
                    let (mut field, ty) = (u32::read(from)?, SqlType::read(from)?);
                    if let Some(numbers) = fields(from.catalog, operand.ty()) {
                        let at = numbers
                            .iter()
                            .position(|number| u32::from(number.unsigned_abs()) == field);
                        let at = at.ok_or_else(|| corrupt("it takes a field that is not there"))?;
                        field = account::narrow(at);
                        from.lasts = false;
                    }
                    Expr::Field { operand, field, ty }
                }
                query::SUBQUERY => query::read_subquery(from)?,
                code => Expr::read_choice(code, from)?,
            })
        })
    }
}

impl Writer<'_> {
    /// The number that the column at this place of the row is stored by.
    fn number_of(&self, place: u32) -> Result<i16> {
        if self.row != Row::Relation {
            return Ok(place as i16);
        }
        let system = || system_column_at(self.relation?, place);
        let number = self.live.get(place as usize).copied().or_else(system);
        let number = number
            .ok_or_else(|| SqlError::unsupported("a column of nothing in an expression is"))?;
        Ok((self.number)(number))
    }

    /// Which of the rows `old` and `new` the column at this place is of, and the number that it is stored by.
    fn side_of(&self, place: u32) -> Result<(u8, i16)> {
        let column = self.relation.map(|relation| trigger::place_of(relation, place));
        let (side, live) = column.ok_or_else(|| SqlError::unsupported("a column of nothing is"))?;
        let number = live.map_or(Some(TABLE_OID), |at| self.live.get(at).copied());
        let number = number.ok_or_else(|| SqlError::unsupported("a column of nothing is"))?;
        Ok((side as u8, number))
    }

    /// The one of the rows `old` and `new` that it is the whole of.
    fn whole_side(&self, expr: &Expr) -> Option<u8> {
        let relation = self.relation.filter(|_| self.row == Row::OldAndNew)?;
        trigger::side_of(relation, expr).map(|side| side as u8)
    }

    /// Whether it is the whole row that the expression is over.
    fn is_own_row(&self, expr: &Expr) -> bool {
        self.row == Row::Relation
            && self.relation.is_some_and(|relation| row_at(relation, expr) == Some(0))
    }
}

impl Reader<'_> {
    /// The place of the column of this number in the row.
    fn place_of(&self, number: i16) -> Result<usize> {
        let place = match number {
            _ if self.row != Row::Relation => usize::try_from(number).ok(),
            1.. => self.live.binary_search(&number).ok(),
            _ => {
                let system = SYSTEM_COLUMNS.iter().position(|column| column.number == number);
                system.map(|at| self.live.len() + at)
            }
        };
        place.ok_or_else(|| corrupt("it names a column that is not there"))
    }

    /// Which of the rows `old` and `new` is meant.
    fn side(&mut self) -> Result<usize> {
        match self.byte()? {
            side @ 0..2 if self.row == Row::OldAndNew => Ok(side.into()),
            _ => Err(corrupt("it is over no such row")),
        }
    }

    /// The place of the column of this number in one of the rows `old` and `new`.
    fn place_on_side(&mut self) -> Result<usize> {
        let (side, width) = (self.side()?, self.live.len());
        let number = i16::read(self)?;
        if number == TABLE_OID {
            return Ok(2 * width + side);
        }
        let place = self.live.binary_search(&number);
        let place = place.map_err(|_| corrupt("it names a column that is not there"))?;
        Ok(side * width + place)
    }

    /// The whole row whose first column is at this place, where columns are of that.
    fn own_row(&self, row: Row, first: usize) -> Result<Expr> {
        let relation = self.relation.filter(|_| self.row == row);
        let relation = relation.ok_or_else(|| corrupt("it has no row"))?;
        let column = |(place, number): (usize, &i16)| {
            column_at(first + place, relation.columns[*number as usize - 1].ty)
        };
        let fields = self.live.iter().enumerate().map(column).collect();
        Ok(Expr::Row(fields, SqlType::plain(relation.row_type.0.0), None))
    }
}
