//! An array's text and binary forms.
//!
//! PostgreSQL: `array_in`, `array_out`, `array_recv`, `array_send`; manual, 8.15.2 and 8.15.6.

use super::{Array, Builder, DIMENSIONS_MAX, Dimension, too_many_dimensions};
use crate::account;
use crate::builtin;
use crate::builtin::well_known;
use crate::error::{Result, SqlError};
use crate::failure::{insufficient, invalid_binary, name_left_over};
use crate::integer::{is_space, read_signed, write_i64};
use crate::sqlstate::SqlState;
use crate::{
    CallContext, Datum, SqlType, domain, oids, read_binary, read_text, write_binary, write_text,
};

/// How long an element is at most that is looked at as a whole, before it is known whether it stands there as it is.
const PLAIN_BYTES: usize = 64;

/// The room that an array's elements are given by the length of its text, at most.
const ROOM_BYTES: usize = 1024;

fn delimiter(element: u32) -> u8 {
    builtin::held_as(element).map_or(b',', |ty| ty.delimiter)
}

fn needs_quotes(text: &[u8], delimiter: u8) -> bool {
    text.is_empty()
        || text.eq_ignore_ascii_case(b"null")
        || text
            .iter()
            .any(|&b| matches!(b, b'{' | b'}' | b'"' | b'\\') || b == delimiter || is_space(b))
}

/// Appends an array's text.
///
/// # Errors
/// Those of its elements.
pub fn write(context: &CallContext<'_>, ty: u32, bytes: &[u8], out: &mut Vec<u8>) -> Result<()> {
    let array = Array::of(bytes);
    let element = SqlType::plain(array.element);
    if ty == oids::INT2VECTOR || ty == oids::OIDVECTOR {
        for (i, slot) in array.slots().enumerate() {
            if i > 0 {
                out.push(b' ');
            }
            let bytes = slot.unwrap_or(&[]);
            let datum = crate::stored::read(context.arena, array.element, bytes)?;
            write_text(context, element, &datum, out)?;
        }
        return Ok(());
    }
    let dimensions: Vec<Dimension> = array.dimensions().collect();
    if array.is_empty() {
        out.extend_from_slice(b"{}");
        return Ok(());
    }
    if dimensions.iter().any(|dimension| dimension.lower != 1) {
        for dimension in &dimensions {
            out.push(b'[');
            write_i64(i64::from(dimension.lower), out);
            out.push(b':');
            write_i64(i64::from(dimension.lower) + i64::from(dimension.length) - 1, out);
            out.push(b']');
        }
        out.push(b'=');
    }
    let delimiter = delimiter(array.element);
    let mut scratch = Vec::new();
    for (index, slot) in array.slots().enumerate() {
        // As many braces as dimensions begin here.
        let mut size = 1;
        let mut opening = 0;
        for dimension in dimensions.iter().rev() {
            size *= dimension.length.max(1) as usize;
            opening += usize::from(index % size == 0);
        }
        if index > 0 {
            out.extend(std::iter::repeat_n(b'}', opening));
            out.push(delimiter);
        }
        out.extend(std::iter::repeat_n(b'{', opening));
        let Some(bytes) = slot else {
            out.extend_from_slice(b"NULL");
            continue;
        };
        scratch.clear();
        let datum = crate::stored::read(context.arena, array.element, bytes)?;
        write_text(context, element, &datum, &mut scratch)?;
        if needs_quotes(&scratch, delimiter) {
            out.push(b'"');
            for &byte in &scratch {
                if matches!(byte, b'"' | b'\\') {
                    out.push(b'\\');
                }
                out.push(byte);
            }
            out.push(b'"');
        } else {
            out.extend_from_slice(&scratch);
        }
    }
    out.extend(std::iter::repeat_n(b'}', dimensions.len()));
    Ok(())
}

#[cold]
fn malformed(text: &str, detail: &str) -> SqlError {
    SqlError::new(
        SqlState::INVALID_TEXT_REPRESENTATION,
        format!("malformed array literal: \"{text}\""),
    )
    .detail(detail)
}

/// Reads an array whose elements are `element`.
///
/// # Errors
/// 22P02 and those of its elements.
pub fn read<'a>(
    context: &CallContext<'a>,
    ty: u32,
    element: SqlType,
    text: &str,
) -> Result<Datum<'a>> {
    if ty == oids::INT2VECTOR || ty == oids::OIDVECTOR {
        let mut datums = Vec::new();
        for part in account::stepping(text.split_ascii_whitespace()) {
            datums.push(read_text(context, element, part)?);
        }
        return Ok(super::vector(context.arena, element.oid.0, &datums));
    }
    let mut reader = Reader {
        context,
        element,
        text,
        bytes: text.as_bytes(),
        at: 0,
        delimiter: delimiter(element.oid.0),
        item: Vec::new(),
        builder: Builder::with_room(element.oid.0, text.len().min(ROOM_BYTES)),
    };
    reader.array().map(Datum::Array)
}

struct Reader<'t, 'c, 'a> {
    context: &'c CallContext<'a>,
    element: SqlType,
    text: &'t str,
    bytes: &'t [u8],
    at: usize,
    delimiter: u8,
    /// The memory of an element's text.
    item: Vec<u8>,
    builder: Builder,
}

impl<'a> Reader<'_, '_, 'a> {
    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn skip_space(&mut self) {
        while self.peek().is_some_and(is_space) {
            self.at += 1;
        }
    }

    fn fail<T>(&self, detail: &str) -> Result<T> {
        Err(malformed(self.text, detail))
    }

    /// `[l:u][l:u]=` in front.
    fn explicit_dimensions(&mut self) -> Result<Vec<Dimension>> {
        let mut dimensions = Vec::new();
        self.skip_space();
        while self.peek() == Some(b'[') {
            self.at += 1;
            let end = self.text[self.at..].find(']').map(|end| self.at + end);
            let Some(end) = end else { return self.fail("Missing \"]\" in array dimensions.") };
            let inside = &self.text[self.at..end];
            let number = |text: &str| {
                read_signed(text, i64::from(i32::MIN), i64::from(i32::MAX), "integer")
                    .map(|value| value as i32)
            };
            let (lower, upper) = match inside.split_once(':') {
                Some((lower, upper)) => (number(lower), number(upper)),
                None => (Ok(1), number(inside)),
            };
            let (Ok(lower), Ok(upper)) = (lower, upper) else {
                return self.fail("\"[\" must introduce explicitly-specified array dimensions.");
            };
            if upper < lower {
                return Err(SqlError::new(
                    SqlState::ARRAY_SUBSCRIPT_ERROR,
                    "upper bound cannot be less than lower bound",
                ));
            }
            let Some(length) = upper.checked_sub(lower).and_then(|length| length.checked_add(1))
            else {
                return Err(SqlError::new(
                    SqlState::PROGRAM_LIMIT_EXCEEDED,
                    format!("array size exceeds the maximum allowed ({})", super::ELEMENTS_MAX),
                ));
            };
            dimensions.push(super::check_bounds(Dimension { length, lower })?);
            if dimensions.len() > DIMENSIONS_MAX {
                return Err(too_many_dimensions(dimensions.len()));
            }
            self.at = end + 1;
            self.skip_space();
        }
        if !dimensions.is_empty() {
            if self.peek() != Some(b'=') {
                return self.fail("Missing \"=\" after array dimensions.");
            }
            self.at += 1;
            self.skip_space();
        }
        Ok(dimensions)
    }

    fn array(&mut self) -> Result<&'a [u8]> {
        let explicit = self.explicit_dimensions()?;
        if self.peek() != Some(b'{') {
            return if explicit.is_empty() {
                self.fail("Array value must start with \"{\" or dimension information.")
            } else {
                self.fail("Array contents must start with \"{\".")
            };
        }
        let mut lengths: Vec<Option<i32>> = Vec::new();
        self.nested(0, &mut lengths)?;
        self.skip_space();
        if self.at != self.bytes.len() {
            return self.fail("Junk after closing right brace.");
        }
        let found: Vec<i32> = lengths.iter().map(|length| length.unwrap_or(0)).collect();
        if self.builder.is_empty() {
            if !explicit.is_empty() {
                return self.fail("Specified array dimensions do not match array contents.");
            }
            return Ok(super::empty(self.context.arena, self.element.oid.0));
        }
        let dimensions = if explicit.is_empty() {
            found.iter().map(|&length| Dimension { length, lower: 1 }).collect()
        } else {
            if explicit.iter().map(|d| d.length).ne(found.iter().copied()) {
                return self.fail("Specified array dimensions do not match array contents.");
            }
            explicit
        };
        Ok(self.builder.store(self.context.arena, &dimensions))
    }

    /// One pair of braces at nesting `depth`; `lengths` collects what each depth's first pair has.
    fn nested(&mut self, depth: usize, lengths: &mut Vec<Option<i32>>) -> Result<()> {
        if depth >= DIMENSIONS_MAX {
            return Err(too_many_dimensions(depth + 1));
        }
        if lengths.len() == depth {
            if !self.builder.is_empty() {
                return self.fail(
                    "Multidimensional arrays must have sub-arrays with matching dimensions.",
                );
            }
            lengths.push(None);
        }
        self.at += 1;
        let (mut count, mut behind_array) = (0, false);
        self.skip_space();
        if self.peek() == Some(b'}') {
            if depth > 0 {
                return self.fail("Unexpected \"}\" character.");
            }
            self.at += 1;
        } else {
            loop {
                self.skip_space();
                if self.peek() == Some(b'{') {
                    if count > 0 && !behind_array {
                        return self.fail("Unexpected \"{\" character.");
                    }
                    self.nested(depth + 1, lengths)?;
                    behind_array = true;
                } else {
                    if behind_array {
                        return self.fail(match self.peek() {
                            None => "Unexpected end of input.",
                            Some(b'\\') => "Unexpected \"\\\" character.",
                            Some(_) => "Unexpected array element.",
                        });
                    }
                    if lengths.len() > depth + 1 {
                        return self.fail("Multidimensional arrays must have sub-arrays with matching dimensions.");
                    }
                    self.item()?;
                }
                count += 1;
                self.skip_space();
                match self.peek() {
                    Some(b'}') => {
                        self.at += 1;
                        break;
                    }
                    Some(byte) if byte == self.delimiter => {
                        self.at += 1;
                        self.skip_space();
                        if self.peek() == Some(b'}') {
                            return self.fail("Unexpected \"}\" character.");
                        }
                    }
                    Some(b'{') => return self.fail("Unexpected \"{\" character."),
                    Some(_) => return self.fail("Unexpected array element."),
                    None => return self.fail("Unexpected end of input."),
                }
            }
        }
        match lengths[depth] {
            Some(length) if length != count => {
                self.fail("Multidimensional arrays must have sub-arrays with matching dimensions.")
            }
            _ => {
                lengths[depth] = Some(count);
                Ok(())
            }
        }
    }

    fn item(&mut self) -> Result<()> {
        account::step();
        if let Some((length, without_spaces)) = self.plain_item() {
            let item = &self.text[self.at..][..without_spaces];
            self.at += length;
            return self.push(item, false);
        }
        let mut item = std::mem::take(&mut self.item);
        item.clear();
        let (mut quoted, mut trailing) = (false, 0);
        if self.peek() == Some(b'"') {
            quoted = true;
            self.at += 1;
            loop {
                account::step();
                match self.peek() {
                    None => return self.fail("Unexpected end of input."),
                    Some(b'"') => {
                        self.at += 1;
                        break;
                    }
                    Some(b'\\') => {
                        self.at += 1;
                        let Some(byte) = self.peek() else {
                            return self.fail("Unexpected end of input.");
                        };
                        item.push(byte);
                        self.at += 1;
                    }
                    Some(byte) => {
                        item.push(byte);
                        self.at += 1;
                    }
                }
            }
        } else {
            loop {
                account::step();
                match self.peek() {
                    None => return self.fail("Unexpected end of input."),
                    Some(b'\\') => {
                        self.at += 1;
                        let Some(byte) = self.peek() else {
                            return self.fail("Unexpected end of input.");
                        };
                        item.push(byte);
                        quoted = true;
                        trailing = 0;
                    }
                    Some(b'"') => return self.fail("Unexpected array element."),
                    Some(byte) if byte == self.delimiter || byte == b'}' => break,
                    Some(b'{') => return self.fail("Unexpected \"{\" character."),
                    Some(byte) => {
                        trailing = if is_space(byte) { trailing + 1 } else { 0 };
                        item.push(byte);
                    }
                }
                self.at += 1;
            }
            item.truncate(item.len() - trailing);
            if item.is_empty() && !quoted {
                let found = self.peek().unwrap_or(b'}') as char;
                return self.fail(&format!("Unexpected \"{found}\" character."));
            }
        }
        // The text was UTF-8, and only whole ASCII characters have been taken out of it.
        self.push(&String::from_utf8_lossy(&item), quoted)?;
        self.item = item;
        Ok(())
    }

    /// The length of an element that stands there as it is, if it is short, and without the spaces behind it.
    fn plain_item(&self) -> Option<(usize, usize)> {
        let rest = &self.bytes[self.at..];
        let ends =
            |byte: &u8| *byte == self.delimiter || matches!(byte, b'{' | b'}' | b'"' | b'\\');
        let length = rest.iter().take(PLAIN_BYTES).position(ends)?;
        if rest[length] != self.delimiter && rest[length] != b'}' {
            return None;
        }
        let last = rest[..length].iter().rposition(|byte| !is_space(*byte))?;
        Some((length, last + 1))
    }

    /// Appends an element, by its text.
    fn push(&mut self, text: &str, quoted: bool) -> Result<()> {
        let is_null = || text.eq_ignore_ascii_case("null");
        if !quoted && self.context.settings.array_nulls && is_null() {
            self.builder.push(&domain::null(self.context, self.element)?);
        } else {
            let datum = read_text(self.context, self.element, text)?;
            self.builder.push(&datum);
        }
        if self.builder.len() > super::ELEMENTS_MAX {
            return Err(SqlError::new(
                SqlState::PROGRAM_LIMIT_EXCEEDED,
                format!("array size exceeds the maximum allowed ({})", super::ELEMENTS_MAX),
            ));
        }
        Ok(())
    }
}

/// Appends an array's binary form.
///
/// # Errors
/// Those of its elements.
pub fn send(context: &CallContext<'_>, bytes: &[u8], out: &mut Vec<u8>) -> Result<()> {
    let array = Array::of(bytes);
    let nulls = array.slots().any(|slot| slot.is_none());
    out.extend_from_slice(&(array.dimension_count() as i32).to_be_bytes());
    out.extend_from_slice(&i32::from(nulls).to_be_bytes());
    out.extend_from_slice(&array.element.to_be_bytes());
    for dimension in array.dimensions() {
        out.extend_from_slice(&dimension.length.to_be_bytes());
        out.extend_from_slice(&dimension.lower.to_be_bytes());
    }
    for slot in array.slots() {
        let Some(bytes) = slot else {
            out.extend_from_slice(&(-1i32).to_be_bytes());
            continue;
        };
        let at = out.len();
        out.extend_from_slice(&[0; 4]);
        let datum = crate::stored::read(context.arena, array.element, bytes)?;
        write_binary(context, SqlType::plain(array.element), &datum, out)?;
        let length = (out.len() - at - 4) as i32;
        out[at..at + 4].copy_from_slice(&length.to_be_bytes());
    }
    Ok(())
}

/// Reads an array's binary form, and returns what is behind it.
///
/// # Errors
/// 08P01, 22P03, 42804, and those of its elements.
pub fn receive<'a, 'b>(
    context: &CallContext<'a>,
    element: SqlType,
    bytes: &'b [u8],
) -> Result<(Datum<'a>, &'b [u8])> {
    let mut rest = bytes;
    let mut word = || -> Result<i32> {
        let (word, behind) = rest.split_first_chunk::<4>().ok_or_else(insufficient)?;
        rest = behind;
        Ok(i32::from_be_bytes(*word))
    };
    let (count, flags, found) = (word()?, word()?, word()? as u32);
    if !(0..=DIMENSIONS_MAX as i32).contains(&count) {
        return Err(if count < 0 {
            invalid_binary(format!("invalid number of dimensions: {count}"))
        } else {
            too_many_dimensions(count as usize)
        });
    }
    if flags != 0 && flags != 1 {
        return Err(invalid_binary("invalid array flags"));
    }
    // Only built-in types have the same OIDs everywhere.
    if found != element.oid.0 && found.max(element.oid.0) < well_known::FIRST_GENERATED {
        let name = |oid| context.catalog.type_name(oid);
        return Err(SqlError::new(
            SqlState::DATATYPE_MISMATCH,
            format!(
                "binary data has array element type {found} ({}) instead of expected {} ({})",
                name(found),
                element.oid,
                name(element.oid.0)
            ),
        ));
    }
    let mut dimensions = Vec::new();
    let mut total = 1i64;
    for _ in 0..count {
        let dimension = Dimension { length: word()?, lower: word()? };
        total = total.saturating_mul(i64::from(dimension.length));
        if dimension.length < 0
            || total > super::ELEMENTS_MAX as i64
            || dimension.lower.checked_add(dimension.length).is_none()
        {
            return Err(SqlError::new(
                SqlState::PROGRAM_LIMIT_EXCEEDED,
                format!("array size exceeds the maximum allowed ({})", super::ELEMENTS_MAX),
            ));
        }
        dimensions.push(dimension);
    }
    let mut builder = Builder::new(element.oid.0);
    for number in 0..if count == 0 { 0 } else { total } {
        let (length, behind) = rest.split_first_chunk::<4>().ok_or_else(insufficient)?;
        rest = behind;
        let length = i32::from_be_bytes(*length);
        if length == -1 {
            builder.push(&domain::null(context, element)?);
            continue;
        }
        let length = usize::try_from(length).unwrap_or(usize::MAX);
        let (item, behind) = rest
            .split_at_checked(length)
            .ok_or_else(|| invalid_binary("insufficient data left in message"))?;
        rest = behind;
        let item = context.arena.alloc_slice_copy(item);
        let item = read_binary(context, element, item).map_err(|error| {
            name_left_over(error, || {
                format!("improper binary format in array element {}", number + 1)
            })
        });
        builder.push(&item?);
    }
    Ok((Datum::Array(builder.store(context.arena, &dimensions)), rest))
}
