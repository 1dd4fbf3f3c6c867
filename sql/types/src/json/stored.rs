//! The stored form of a jsonb: found without a walk, one form for each value.
//!
//! One byte of kind and the value's payload, all little-endian: nothing for null, false and true; a numeric's stored form;
//! a string's bytes; for an array its length, for each element a word (kind in the high 4 bits, where its payload ends
//! in the low 28), and the payloads; for an object its length, for each key where it ends, for each value a word as an
//! array's, then the keys and the payloads, whose ends are counted from the first key. Keys are ordered by length, then
//! by bytes, and differ. A payload says nothing of where it stands, so that a part is copied as it is.

use crate::account;
use crate::depth::deeper;
use crate::error::{Result, SqlError};
use crate::sqlstate::SqlState;
use crate::{Datum, numeric};
use bumpalo::Bump;
use bumpalo::collections::Vec as ArenaVec;
use std::cmp::Ordering;

const NULL: u8 = 0;
const STRING: u8 = 1;
const NUMBER: u8 = 2;
const FALSE: u8 = 3;
const TRUE: u8 = 4;
const ARRAY: u8 = 5;
const OBJECT: u8 = 6;

/// The low bits of a word: where a payload ends. It is also the most bytes that a container can hold.
const END: u32 = (1 << 28) - 1;

/// A stored value, looked at in place.
#[derive(Clone, Copy, Debug)]
pub struct View<'a> {
    kind: u8,
    payload: &'a [u8],
}

/// What a stored value is.
#[derive(Clone, Copy, Debug)]
pub enum Shape<'a> {
    /// null.
    Null,
    /// A string.
    String(&'a str),
    /// A number: a stored numeric.
    Number(&'a [u8]),
    /// false, true.
    Bool(bool),
    /// An array.
    Array(Array<'a>),
    /// An object.
    Object(Object<'a>),
}

/// A stored array.
#[derive(Clone, Copy, Debug)]
pub struct Array<'a> {
    words: &'a [u8],
    data: &'a [u8],
}

/// A stored object.
#[derive(Clone, Copy, Debug)]
pub struct Object<'a> {
    keys: &'a [u8],
    words: &'a [u8],
    data: &'a [u8],
}

fn word(bytes: &[u8], index: usize) -> u32 {
    let word = bytes.get(4 * index..).and_then(|rest| rest.first_chunk::<4>());
    word.map_or(0, |word| u32::from_le_bytes(*word))
}

/// The part of `data` that ends where word `index` says.
fn part(data: &[u8], begin: u32, end: u32) -> &[u8] {
    data.get((begin & END) as usize..(end & END) as usize).unwrap_or(&[])
}

impl<'a> View<'a> {
    /// null.
    pub const NULL: View<'static> = View { kind: NULL, payload: &[] };

    /// Looks at stored bytes. Bytes that no jsonb is stored as read as null.
    #[must_use]
    pub fn of(bytes: &'a [u8]) -> View<'a> {
        bytes.split_first().map_or(View::NULL, |(&kind, payload)| View { kind, payload })
    }

    /// false, true.
    #[must_use]
    pub fn bool(value: bool) -> View<'static> {
        View { kind: if value { TRUE } else { FALSE }, payload: &[] }
    }

    /// A stored numeric.
    #[must_use]
    pub fn number(stored: &'a [u8]) -> View<'a> {
        View { kind: NUMBER, payload: stored }
    }

    /// A string.
    #[must_use]
    pub fn string(text: &'a str) -> View<'a> {
        View { kind: STRING, payload: text.as_bytes() }
    }

    /// What it is.
    #[must_use]
    pub fn shape(&self) -> Shape<'a> {
        match self.kind {
            STRING => Shape::String(std::str::from_utf8(self.payload).unwrap_or("")),
            NUMBER => Shape::Number(self.payload),
            FALSE => Shape::Bool(false),
            TRUE => Shape::Bool(true),
            ARRAY => {
                let (words, data) = self.table(1);
                Shape::Array(Array { words, data })
            }
            OBJECT => {
                let (table, data) = self.table(2);
                let (keys, words) = table.split_at(table.len() / 2);
                Shape::Object(Object { keys, words, data })
            }
            _ => Shape::Null,
        }
    }

    fn table(&self, words: usize) -> (&'a [u8], &'a [u8]) {
        let count = word(self.payload, 0) as usize;
        let rest = self.payload.get(4..).unwrap_or(&[]);
        rest.split_at_checked(4 * words * count).unwrap_or((&[], &[]))
    }

    /// Whether it is neither array nor object.
    #[must_use]
    pub fn is_scalar(&self) -> bool {
        !matches!(self.kind, ARRAY | OBJECT)
    }

    /// Where the value stands in memory: no two containers of a value stand at the same place.
    #[must_use]
    pub fn address(&self) -> usize {
        self.payload.as_ptr() as usize
    }

    /// The same value with its kind in front, in the arena.
    #[must_use]
    pub fn store(&self, arena: &'a Bump) -> Datum<'a> {
        let mut out = ArenaVec::with_capacity_in(1 + self.payload.len(), arena);
        out.push(self.kind);
        account::extend(&mut out, self.payload);
        Datum::Jsonb(out.into_bump_slice())
    }

    /// Appends its text.
    pub fn write(&self, out: &mut Vec<u8>) {
        match self.shape() {
            Shape::Null => out.extend_from_slice(b"null"),
            Shape::Bool(value) => out.extend_from_slice(if value { b"true" } else { b"false" }),
            Shape::Number(stored) => numeric::text::write(stored, out),
            Shape::String(text) => super::escape(text, out),
            Shape::Array(array) => {
                out.push(b'[');
                for (i, element) in array.iter().enumerate() {
                    if i > 0 {
                        out.extend_from_slice(b", ");
                    }
                    deeper(|| element.write(out));
                }
                out.push(b']');
            }
            Shape::Object(object) => {
                out.push(b'{');
                for (i, (key, value)) in object.iter().enumerate() {
                    if i > 0 {
                        out.extend_from_slice(b", ");
                    }
                    super::escape(key, out);
                    out.extend_from_slice(b": ");
                    deeper(|| value.write(out));
                }
                out.push(b'}');
            }
        }
    }

    /// Appends its text with a line a value (`jsonb_pretty`).
    pub fn write_pretty(&self, level: usize, out: &mut Vec<u8>) {
        let line = |level: usize, out: &mut Vec<u8>| {
            out.push(b'\n');
            out.resize(out.len() + 4 * level, b' ');
        };
        match self.shape() {
            Shape::Array(array) => {
                out.push(b'[');
                for (i, element) in array.iter().enumerate() {
                    if i > 0 {
                        out.push(b',');
                    }
                    line(level + 1, out);
                    deeper(|| element.write_pretty(level + 1, out));
                }
                line(level, out);
                out.push(b']');
            }
            Shape::Object(object) => {
                out.push(b'{');
                for (i, (key, value)) in object.iter().enumerate() {
                    if i > 0 {
                        out.push(b',');
                    }
                    line(level + 1, out);
                    super::escape(key, out);
                    out.extend_from_slice(b": ");
                    deeper(|| value.write_pretty(level + 1, out));
                }
                line(level, out);
                out.push(b'}');
            }
            _ => self.write(out),
        }
    }

    /// What `->>` gives: a string without its quotes, nothing for null.
    #[must_use]
    pub fn plain(&self, arena: &'a Bump) -> Option<&'a str> {
        match self.shape() {
            Shape::Null => None,
            Shape::String(text) => Some(text),
            _ => {
                let mut out = Vec::new();
                self.write(&mut out);
                Some(account::copied_text(arena, std::str::from_utf8(&out).unwrap_or("")))
            }
        }
    }
}

impl<'a> Array<'a> {
    /// How many elements.
    #[must_use]
    pub fn len(&self) -> usize {
        self.words.len() / 4
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    /// An element, from 0.
    #[must_use]
    pub fn get(&self, index: usize) -> Option<View<'a>> {
        (index < self.len()).then(|| {
            let begin = if index == 0 { 0 } else { word(self.words, index - 1) };
            let own = word(self.words, index);
            View { kind: (own >> 28) as u8, payload: part(self.data, begin, own) }
        })
    }

    /// All elements.
    pub fn iter(&self) -> impl Iterator<Item = View<'a>> + use<'a> {
        let array = *self;
        account::stepping(0..array.len()).filter_map(move |index| array.get(index))
    }
}

/// The order of keys: by length, then by bytes.
#[must_use]
pub fn compare_keys(a: &str, b: &str) -> Ordering {
    a.len().cmp(&b.len()).then_with(|| a.cmp(b))
}

impl<'a> Object<'a> {
    /// How many members.
    #[must_use]
    pub fn len(&self) -> usize {
        self.words.len() / 4
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    fn key(&self, index: usize) -> &'a str {
        let begin = if index == 0 { 0 } else { word(self.keys, index - 1) };
        let key = part(self.data, begin, word(self.keys, index));
        std::str::from_utf8(key).unwrap_or("")
    }

    fn value(&self, index: usize) -> View<'a> {
        let begin = match index {
            0 => word(self.keys, self.len() - 1),
            _ => word(self.words, index - 1),
        };
        let own = word(self.words, index);
        View { kind: (own >> 28) as u8, payload: part(self.data, begin, own) }
    }

    /// The value of a key.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<View<'a>> {
        let (mut low, mut high) = (0, self.len());
        while low < high {
            let middle = usize::midpoint(low, high);
            match compare_keys(self.key(middle), key) {
                Ordering::Equal => return Some(self.value(middle)),
                Ordering::Less => low = middle + 1,
                Ordering::Greater => high = middle,
            }
        }
        None
    }

    /// All members, in the order of their keys.
    pub fn iter(&self) -> impl Iterator<Item = (&'a str, View<'a>)> + use<'a> {
        let object = *self;
        account::stepping(0..object.len())
            .map(move |index| (object.key(index), object.value(index)))
    }
}

/// A value to be stored: new containers around parts that are stored already.
#[derive(Clone, Copy, Debug)]
pub enum Node<'a> {
    /// A part as it is.
    Stored(View<'a>),
    /// A new array.
    Array(&'a [Node<'a>]),
    /// A new object: [`Node::object`] has ordered its members.
    Object(&'a [(&'a str, Node<'a>)]),
}

impl<'a> Node<'a> {
    /// An object of these members; of equal keys the last is kept.
    #[must_use]
    pub fn object(mut members: ArenaVec<'a, (&'a str, Node<'a>)>) -> Node<'a> {
        // Stable, and from the back: the last of equals is met first.
        members.reverse();
        members.sort_by(|(a, _), (b, _)| {
            account::step();
            compare_keys(a, b)
        });
        members.dedup_by(|later, earlier| later.0 == earlier.0);
        Node::Object(members.into_bump_slice())
    }

    /// The value in its stored form.
    ///
    /// # Errors
    /// 54000: too large.
    pub fn store(&self, arena: &'a Bump) -> Result<Datum<'a>> {
        if let Node::Stored(view) = self {
            return Ok(view.store(arena));
        }
        let mut out = vec![0];
        out[0] = self.append(&mut out)?;
        Ok(Datum::Jsonb(account::copied(arena, &out)))
    }

    /// Appends the payload; the kind.
    fn append(&self, out: &mut Vec<u8>) -> Result<u8> {
        match self {
            Node::Stored(view) => {
                out.extend_from_slice(view.payload);
                Ok(view.kind)
            }
            Node::Array(nodes) => {
                out.extend_from_slice(&(nodes.len() as u32).to_le_bytes());
                let table = out.len();
                out.resize(table + 4 * nodes.len(), 0);
                let data = out.len();
                for (index, node) in account::stepping(nodes.iter()).enumerate() {
                    let kind = deeper(|| node.append(out))?;
                    set_word(out, table + 4 * index, kind, data, "array")?;
                }
                Ok(ARRAY)
            }
            Node::Object(members) => {
                let count = members.len();
                out.extend_from_slice(&(count as u32).to_le_bytes());
                let table = out.len();
                out.resize(table + 8 * count, 0);
                let data = out.len();
                for (index, (key, _)) in account::stepping(members.iter()).enumerate() {
                    out.extend_from_slice(key.as_bytes());
                    set_word(out, table + 4 * index, 0, data, "object")?;
                }
                for (index, (_, node)) in members.iter().enumerate() {
                    let kind = deeper(|| node.append(out))?;
                    set_word(out, table + 4 * (count + index), kind, data, "object")?;
                }
                Ok(OBJECT)
            }
        }
    }
}

fn set_word(out: &mut [u8], at: usize, kind: u8, data: usize, of: &str) -> Result<()> {
    let end = u32::try_from(out.len() - data).ok().filter(|end| *end <= END).ok_or_else(|| {
        SqlError::new(
            SqlState::PROGRAM_LIMIT_EXCEEDED,
            format!("total size of jsonb {of} elements exceeds the maximum of {END} bytes"),
        )
    })?;
    out[at..at + 4].copy_from_slice(&(u32::from(kind) << 28 | end).to_le_bytes());
    Ok(())
}
