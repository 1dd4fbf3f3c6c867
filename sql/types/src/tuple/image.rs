//! Images of rows: bytes that stand for a row in a temporary file. Only the process that wrote them reads them, so they
//! have neither version nor checksum; what cannot be read is XX001 all the same.
//!
//! An image is its length (eight bytes: a row may be longer than 4 GiB), then for each column a mark that says what it is and its bytes. Numbers are
//! little-endian; what has no fixed length stands behind its own.

use super::corrupt;
use super::value::{Heap, Value};
use crate::error::Result;
use crate::{Datum, Interval, TimeTz};

/// What an image begins with, in bytes: its length, without these.
pub const LENGTH_BYTES: usize = 8;

/// Appends the image of a row.
pub fn write<'a>(row: impl IntoIterator<Item = Datum<'a>>, into: &mut Vec<u8>) {
    let begin = into.len();
    into.extend_from_slice(&[0; LENGTH_BYTES]);
    row.into_iter().for_each(|datum| write_column(&datum, into));
    let length = (into.len() - begin - LENGTH_BYTES) as u64;
    into[begin..begin + LENGTH_BYTES].copy_from_slice(&length.to_le_bytes());
}

/// How long the image is whose first [`LENGTH_BYTES`] these are, without them.
#[must_use]
pub fn length(first: [u8; LENGTH_BYTES]) -> usize {
    u64::from_le_bytes(first) as usize
}

fn write_column(datum: &Datum<'_>, into: &mut Vec<u8>) {
    let fixed = |into: &mut Vec<u8>, mark: u8, bytes: &[u8]| {
        into.push(mark);
        into.extend_from_slice(bytes);
    };
    let long = |into: &mut Vec<u8>, mark: u8, bytes: &[u8]| {
        into.push(mark);
        into.extend_from_slice(&(bytes.len() as u64).to_le_bytes());
        into.extend_from_slice(bytes);
    };
    match datum {
        Datum::Null => into.push(0),
        Datum::Bool(v) => fixed(into, 1, &[u8::from(*v)]),
        Datum::Int2(v) => fixed(into, 2, &v.to_le_bytes()),
        Datum::Int4(v) => fixed(into, 3, &v.to_le_bytes()),
        Datum::Int8(v) => fixed(into, 4, &v.to_le_bytes()),
        Datum::Oid(v) => fixed(into, 5, &v.to_le_bytes()),
        Datum::Float4(v) => fixed(into, 6, &v.to_bits().to_le_bytes()),
        Datum::Float8(v) => fixed(into, 7, &v.to_bits().to_le_bytes()),
        Datum::Char(v) => fixed(into, 8, &[*v]),
        Datum::Numeric(v) => long(into, 9, v),
        Datum::Text(v) => long(into, 10, v.as_bytes()),
        Datum::Bytea(v) => long(into, 11, v),
        Datum::Date(v) => fixed(into, 12, &v.to_le_bytes()),
        Datum::Time(v) => fixed(into, 13, &v.to_le_bytes()),
        Datum::TimeTz(v) => {
            fixed(into, 14, &v.micros.to_le_bytes());
            into.extend_from_slice(&v.west.to_le_bytes());
        }
        Datum::Timestamp(v) => fixed(into, 15, &v.to_le_bytes()),
        Datum::TimestampTz(v) => fixed(into, 16, &v.to_le_bytes()),
        Datum::Interval(v) => {
            fixed(into, 17, &v.months.to_le_bytes());
            into.extend_from_slice(&v.days.to_le_bytes());
            into.extend_from_slice(&v.micros.to_le_bytes());
        }
        Datum::Array(v) => long(into, 18, v),
        Datum::Record(v) => long(into, 19, v),
        Datum::Uuid(v) => fixed(into, 20, *v),
        Datum::Jsonb(v) => long(into, 21, v),
    }
}

/// An image that is being read, without its length.
pub struct Image<'a>(pub &'a [u8]);

impl Image<'_> {
    /// Whether there are no more columns.
    #[must_use]
    pub fn is_at_end(&self) -> bool {
        self.0.is_empty()
    }

    fn bytes<const N: usize>(&mut self) -> Result<[u8; N]> {
        let (bytes, rest) = self.0.split_first_chunk().ok_or_else(broken)?;
        self.0 = rest;
        Ok(*bytes)
    }

    /// The next column, its bytes in `heap`.
    ///
    /// # Errors
    /// XX001.
    pub fn column(&mut self, heap: &mut Heap) -> Result<Value> {
        let [mark] = self.bytes()?;
        Ok(match mark {
            0 => Value::Null,
            1 => Value::Bool(self.bytes::<1>()? != [0]),
            2 => Value::Int2(i16::from_le_bytes(self.bytes()?)),
            3 => Value::Int4(i32::from_le_bytes(self.bytes()?)),
            4 => Value::Int8(i64::from_le_bytes(self.bytes()?)),
            5 => Value::Oid(u32::from_le_bytes(self.bytes()?)),
            6 => Value::Float4(f32::from_bits(u32::from_le_bytes(self.bytes()?))),
            7 => Value::Float8(f64::from_bits(u64::from_le_bytes(self.bytes()?))),
            8 => Value::Char(self.bytes::<1>()?[0]),
            12 => Value::Date(i32::from_le_bytes(self.bytes()?)),
            13 => Value::Time(i64::from_le_bytes(self.bytes()?)),
            14 => {
                let micros = i64::from_le_bytes(self.bytes()?);
                Value::TimeTz(TimeTz { micros, west: i32::from_le_bytes(self.bytes()?) })
            }
            15 => Value::Timestamp(i64::from_le_bytes(self.bytes()?)),
            16 => Value::TimestampTz(i64::from_le_bytes(self.bytes()?)),
            17 => {
                let months = i32::from_le_bytes(self.bytes()?);
                let days = i32::from_le_bytes(self.bytes()?);
                Value::Interval(Interval {
                    months,
                    days,
                    micros: i64::from_le_bytes(self.bytes()?),
                })
            }
            20 => Value::Uuid(self.bytes()?),
            _ => {
                let length = u64::from_le_bytes(self.bytes()?) as usize;
                let (bytes, rest) = self.0.split_at_checked(length).ok_or_else(broken)?;
                self.0 = rest;
                heap.store(match mark {
                    9 => Datum::Numeric(bytes),
                    10 => Datum::Text(str::from_utf8(bytes).map_err(|_| broken())?),
                    11 => Datum::Bytea(bytes),
                    18 => Datum::Array(bytes),
                    19 => Datum::Record(bytes),
                    21 => Datum::Jsonb(bytes),
                    _ => return Err(broken()),
                })
            }
        })
    }
}

/// XX001: a temporary file does not hold what was written to it.
pub fn broken() -> crate::error::SqlError {
    corrupt("a temporary file does not hold what was written")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tuple::RowBuf;

    #[test]
    fn every_form_comes_back_from_its_image() {
        let interval = Interval { months: -1, days: 2, micros: i64::MIN };
        let row = [
            Datum::Null,
            Datum::Bool(true),
            Datum::Bool(false),
            Datum::Int2(-2),
            Datum::Int4(i32::MIN),
            Datum::Int8(i64::MAX),
            Datum::Oid(u32::MAX),
            Datum::Float4(-0.0),
            Datum::Float8(f64::NAN),
            Datum::Char(200),
            Datum::Numeric(b"\x01\x02"),
            Datum::Text(""),
            Datum::Text("Füße"),
            Datum::Bytea(b"\0\xFF"),
            Datum::Date(-5),
            Datum::Time(7),
            Datum::TimeTz(TimeTz { micros: 8, west: -3600 }),
            Datum::Timestamp(i64::MIN),
            Datum::TimestampTz(i64::MAX),
            Datum::Interval(&interval),
            Datum::Array(b"array"),
            Datum::Record(b"record"),
            Datum::Uuid(&[7; 16]),
            Datum::Jsonb(b"jsonb"),
        ];
        let mut images = Vec::new();
        write(row, &mut images);
        write([], &mut images);
        let (first, rest) = images.split_first_chunk().unwrap();
        let (image, second) = rest.split_at(length(*first));
        assert_eq!(second, [0; LENGTH_BYTES]);
        let mut back = RowBuf::new();
        let mut reader = Image(image);
        while !reader.is_at_end() {
            back.push_with(|heap| reader.column(heap)).unwrap();
        }
        let shown = |row: &mut dyn Iterator<Item = Datum<'_>>| {
            row.map(|datum| format!("{datum:?}")).collect::<Vec<_>>()
        };
        assert_eq!(shown(&mut back.iter()), shown(&mut row.into_iter()));
        // Cut short anywhere it is an error, never a panic or another row.
        for end in 0..image.len() {
            let mut reader = Image(&image[..end]);
            let mut heap = Heap::default();
            let columns = (0..row.len()).take_while(|_| reader.column(&mut heap).is_ok()).count();
            assert!(columns < row.len());
        }
    }
}
