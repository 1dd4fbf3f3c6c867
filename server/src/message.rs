//! What a client says after start-up: each message decoded in place, borrowed from the receive buffer.
//!
//! Manual, section 55.7. Nothing is copied and nothing allocated, parameters stay slices of the buffer. Counts and
//! lengths are checked here once, against the body alone, so that whoever walks the parameters later need not. pgwire
//! decodes the same messages into owned values and trusts their lengths; the tests hold this decoder against its encoder.

use crate::frame::{Reader, violation};
use sql::{Bind, SqlError};

/// What Describe and Close are about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target<'a> {
    /// A prepared statement.
    Statement(&'a str),
    /// A portal.
    Portal(&'a str),
}

/// A message of the client.
#[derive(Clone, Copy, Debug)]
pub enum Message<'a> {
    /// Q: the text.
    Query(&'a str),
    /// P.
    Parse {
        /// The statement's name, empty for the unnamed one.
        name: &'a str,
        /// Its text.
        text: &'a str,
        /// OIDs of parameters the client fixes, four bytes each; 0 leaves it open.
        types: &'a [u8],
    },
    /// B.
    Bind(Bind<'a>),
    /// D.
    Describe(Target<'a>),
    /// E.
    Execute {
        /// The portal's name.
        portal: &'a str,
        /// How many rows at most; 0: all.
        max_rows: u64,
    },
    /// C.
    Close(Target<'a>),
    /// S.
    Sync,
    /// H.
    Flush,
    /// d.
    CopyData(&'a [u8]),
    /// c.
    CopyDone,
    /// f: the client's reason.
    CopyFail(&'a str),
    /// F.
    FunctionCall,
    /// X.
    Terminate,
}

/// Decodes the body of a message of type `tag`, which [`crate::frame::frame`] has found.
///
/// # Errors
/// 08P01, 22021.
// Inlined, the message is never put together in memory only to be taken apart again.
#[inline(always)]
pub fn decode(tag: u8, body: &[u8]) -> Result<Message<'_>, SqlError> {
    let mut reader = Reader::new(body);
    let message = match tag {
        b'Q' => Message::Query(reader.text()?),
        b'P' => {
            let (name, text) = (reader.text()?, reader.text()?);
            let count = usize::from(reader.u16()?);
            Message::Parse { name, text, types: reader.bytes(4 * count)? }
        }
        b'B' => Message::Bind(bind(&mut reader)?),
        b'D' => Message::Describe(target(&mut reader, "DESCRIBE")?),
        b'E' => {
            let portal = reader.text()?;
            Message::Execute { portal, max_rows: rows_at_most(reader.i32()?) }
        }
        b'C' => Message::Close(target(&mut reader, "CLOSE")?),
        b'S' => Message::Sync,
        b'H' => Message::Flush,
        b'd' => return Ok(Message::CopyData(body)),
        b'c' => Message::CopyDone,
        b'f' => Message::CopyFail(reader.text()?),
        b'F' => return Ok(Message::FunctionCall),
        b'X' => return Ok(Message::Terminate),
        _ => return Err(violation(format!("invalid frontend message type {tag}"))),
    };
    reader.end()?;
    Ok(message)
}

/// How many rows an Execute may give: zero and everything below it mean all, as in PostgreSQL.
pub fn rows_at_most(said: i32) -> u64 {
    u64::try_from(said).unwrap_or(0)
}

fn target<'a>(reader: &mut Reader<'a>, what: &str) -> Result<Target<'a>, SqlError> {
    match reader.byte()? {
        b'S' => Ok(Target::Statement(reader.text()?)),
        b'P' => Ok(Target::Portal(reader.text()?)),
        other => Err(violation(format!("invalid {what} message subtype {other}"))),
    }
}

#[inline]
fn bind<'a>(reader: &mut Reader<'a>) -> Result<Bind<'a>, SqlError> {
    let (portal, statement) = (reader.text()?, reader.text()?);
    let format_count = reader.u16()?;
    let parameter_formats = reader.bytes(2 * usize::from(format_count))?;
    let parameter_count = reader.u16()?;
    if format_count > 1 && format_count != parameter_count {
        return Err(violation(format!(
            "bind message has {format_count} parameter formats but {parameter_count} parameters"
        )));
    }
    let all = *reader;
    let before = all.len();
    for _ in 0..parameter_count {
        match reader.i32()? {
            -1 => {}
            // A negative length is no length: PostgreSQL finds no such data in the message either.
            length => drop(reader.bytes(usize::try_from(length).unwrap_or(usize::MAX))?),
        }
    }
    let mut parameters = all;
    let parameters = parameters.bytes(before - reader.len())?;
    let result_count = reader.u16()?;
    let result_formats = reader.bytes(2 * usize::from(result_count))?;
    Ok(Bind { portal, statement, parameter_formats, parameter_count, parameters, result_formats })
}
