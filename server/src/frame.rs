//! Framing: where one message of the client ends, and a reader that never leaves it.
//!
//! Every message after start-up is one type byte, four bytes of length (which count themselves) and a body (manual,
//! section 55.2.1). The length is checked against the limits of PostgreSQL's `SocketBackend` *before* a byte of the body
//! is looked at, and the body is decoded through [`Reader`], which stays inside the body whatever it says. So no
//! decoder, ours or pgwire's, sees a byte that belongs to the next message.
//!
//! Errors are 08P01 in PostgreSQL's words (`pqformat.c`). An error of the *frame* ends the connection, because nobody
//! knows where the next message begins; an error inside a body ends the statement only.

use sql::SqlError;
use sql::sqlstate::SqlState;
use sql::types::text::utf8::utf8;

/// The largest message that may carry a user's data, in bytes: PostgreSQL's `PQ_LARGE_MESSAGE_LIMIT`.
pub const LARGE_MESSAGE_BYTES: usize = 0x3FFF_FFFE;
/// The largest of all other messages, and of every message before authentication: `PQ_SMALL_MESSAGE_LIMIT`.
pub const SMALL_MESSAGE_BYTES: usize = 10_000;
/// Type byte and length.
pub const HEADER_BYTES: usize = 5;

/// What the beginning of the receive buffer holds.
#[derive(Debug, PartialEq, Eq)]
pub enum Framed {
    /// Not yet a whole message: this many bytes from its beginning are needed to go on.
    Partial(usize),
    /// A whole message of this type, this many bytes long, header included.
    Whole(u8, usize),
}

/// Finds the first message of `received`.
///
/// # Errors
/// 08P01, FATAL: an unknown type, or a length that type cannot have.
pub fn frame(received: &[u8]) -> Result<Framed, SqlError> {
    let Some(&tag) = received.first() else { return Ok(Framed::Partial(HEADER_BYTES)) };
    bounded(received, limit(tag)?)
}

/// Finds the first message of `received` where only answers to the server's questions may come: during authentication.
///
/// # Errors
/// 08P01, FATAL: another type than `expected`, or a length beyond the small limit.
pub fn frame_of(received: &[u8], expected: u8) -> Result<Framed, SqlError> {
    match received.first() {
        None => Ok(Framed::Partial(HEADER_BYTES)),
        Some(&tag) if tag == expected => bounded(received, SMALL_MESSAGE_BYTES),
        Some(&tag) => Err(violation(format!("expected password response, got message type {tag}"))
            .severity(sql::Severity::Fatal)),
    }
}

fn bounded(received: &[u8], limit: usize) -> Result<Framed, SqlError> {
    let Some((&tag, rest)) = received.split_first() else {
        return Ok(Framed::Partial(HEADER_BYTES));
    };
    let Some(length) = rest.first_chunk::<4>() else { return Ok(Framed::Partial(HEADER_BYTES)) };
    let length = u32::from_be_bytes(*length) as usize;
    if length < 4 || length > limit + 4 {
        return Err(violation("invalid message length").severity(sql::Severity::Fatal));
    }
    let whole = length + 1;
    if received.len() < whole {
        return Ok(Framed::Partial(whole));
    }
    Ok(Framed::Whole(tag, whole))
}

fn limit(tag: u8) -> Result<usize, SqlError> {
    match tag {
        b'Q' | b'F' | b'B' | b'P' | b'd' => Ok(LARGE_MESSAGE_BYTES),
        b'X' | b'C' | b'D' | b'E' | b'H' | b'S' | b'c' | b'f' => Ok(SMALL_MESSAGE_BYTES),
        _ => Err(violation(format!("invalid frontend message type {tag}"))
            .severity(sql::Severity::Fatal)),
    }
}

/// 08P01.
pub fn violation(message: impl Into<String>) -> SqlError {
    SqlError::new(SqlState::PROTOCOL_VIOLATION, message)
}

/// 22021 for text that is not UTF-8 (or holds a NUL, where `text` is a value): names the bytes as PostgreSQL does.
pub fn invalid_encoding(text: &[u8]) -> SqlError {
    let valid = match std::str::from_utf8(text) {
        Ok(text) => text.bytes().position(|byte| byte == 0).unwrap_or(text.len()),
        Err(error) => error.valid_up_to(),
    };
    let wrong = &text[valid.min(text.len())..];
    let expected = match wrong.first() {
        Some(0xC0..=0xDF) => 2,
        Some(0xE0..=0xEF) => 3,
        Some(0xF0..=0xF7) => 4,
        _ => 1,
    };
    let mut message = String::from("invalid byte sequence for encoding \"UTF8\":");
    for byte in wrong.iter().take(expected) {
        message.push_str(&format!(" 0x{byte:02x}"));
    }
    SqlError::new(SqlState::CHARACTER_NOT_IN_REPERTOIRE, message)
}

/// Reads a message's body from front to back, and never past its end.
#[derive(Clone, Copy, Debug)]
pub struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    /// Of a whole body.
    #[must_use]
    pub fn new(body: &'a [u8]) -> Reader<'a> {
        Reader { rest: body }
    }

    /// The next `count` bytes.
    ///
    /// # Errors
    /// 08P01 if there are fewer.
    pub fn bytes(&mut self, count: usize) -> Result<&'a [u8], SqlError> {
        let Some((taken, rest)) = self.rest.split_at_checked(count) else {
            return Err(violation("insufficient data left in message"));
        };
        self.rest = rest;
        Ok(taken)
    }

    /// One byte.
    ///
    /// # Errors
    /// 08P01 if there is none.
    pub fn byte(&mut self) -> Result<u8, SqlError> {
        match self.rest.split_first() {
            Some((&byte, rest)) => {
                self.rest = rest;
                Ok(byte)
            }
            None => Err(violation("no data left in message")),
        }
    }

    /// A count or code of two bytes.
    ///
    /// # Errors
    /// 08P01 if they are not there.
    pub fn u16(&mut self) -> Result<u16, SqlError> {
        let bytes = self.bytes(2)?;
        Ok(u16::from_be_bytes([bytes[0], bytes[1]]))
    }

    /// A number of four bytes.
    ///
    /// # Errors
    /// 08P01 if they are not there.
    pub fn i32(&mut self) -> Result<i32, SqlError> {
        let bytes = self.bytes(4)?;
        Ok(i32::from_be_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]))
    }

    /// A zero-terminated string.
    ///
    /// # Errors
    /// 08P01 if the terminator is missing, 22021 if it is not UTF-8.
    pub fn text(&mut self) -> Result<&'a str, SqlError> {
        // Most names are empty: the unnamed statement's and portal's.
        if let [0, rest @ ..] = self.rest {
            self.rest = rest;
            return Ok("");
        }
        let Some(end) = memchr::memchr(0, self.rest) else {
            return Err(violation("invalid string in message"));
        };
        let text = &self.rest[..end];
        self.rest = &self.rest[end + 1..];
        utf8(text).ok_or_else(|| invalid_encoding(text))
    }

    /// How many bytes are left.
    #[must_use]
    pub fn len(&self) -> usize {
        self.rest.len()
    }

    /// Whether nothing is left.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    /// Everything that is left.
    #[must_use]
    pub fn remainder(&mut self) -> &'a [u8] {
        std::mem::take(&mut self.rest)
    }

    /// Demands that everything has been read.
    ///
    /// # Errors
    /// 08P01 if not.
    pub fn end(self) -> Result<(), SqlError> {
        if self.rest.is_empty() { Ok(()) } else { Err(violation("invalid message format")) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_whole_only_when_its_last_byte_is_there() {
        assert_eq!(frame(b"").unwrap(), Framed::Partial(5));
        assert_eq!(frame(b"Q\0\0").unwrap(), Framed::Partial(5));
        assert_eq!(frame(b"Q\0\0\0\x06a").unwrap(), Framed::Partial(7));
        assert_eq!(frame(b"Q\0\0\0\x06a\0next").unwrap(), Framed::Whole(b'Q', 7));
        assert_eq!(frame(b"S\0\0\0\x04").unwrap(), Framed::Whole(b'S', 5));
    }

    #[test]
    fn a_length_that_cannot_be_ends_the_connection_before_the_body_is_read() {
        for (bytes, message) in [
            (&b"Q\0\0\0\x03"[..], "invalid message length"),
            (b"Q\xFF\xFF\xFF\xFF", "invalid message length"),
            (b"Q\x40\x00\x00\x03", "invalid message length"),
            (b"E\0\0\x30\0", "invalid message length"),
            (b"?", "invalid frontend message type 63"),
            (b"\0\0\0\0\0", "invalid frontend message type 0"),
        ] {
            let error = frame(bytes).unwrap_err();
            assert_eq!(error.fields().message, message);
            assert_eq!(error.fields().severity, sql::Severity::Fatal);
            assert_eq!(error.state(), SqlState::PROTOCOL_VIOLATION);
        }
        assert!(matches!(frame(b"Q\x3F\xFF\xFF\xFF"), Ok(Framed::Partial(_))));
    }

    proptest::proptest! {
        #[test]
        fn any_bytes_are_framed_alike_however_they_arrive(
            tag in proptest::sample::select(&b"QPBDECHSXFdcfp?"[..]),
            length in proptest::prelude::any::<u32>(),
            short in 0u32..64,
            body in proptest::collection::vec(proptest::prelude::any::<u8>(), 0..80),
        ) {
            for length in [length, short] {
                let bytes = [&[tag][..], &length.to_be_bytes(), &body].concat();
                let whole = frame(&bytes);
                for arrived in 0..=bytes.len() {
                    match (frame(&bytes[..arrived]), &whole) {
                        // It asks for what is missing, and for no more than the message has.
                        (Ok(Framed::Partial(needed)), Ok(Framed::Whole(_, bytes))) => {
                            assert!(arrived < needed && needed <= (*bytes).max(HEADER_BYTES));
                        }
                        (Ok(Framed::Partial(needed)), Ok(Framed::Partial(all))) => {
                            assert!(arrived < needed && needed <= *all);
                        }
                        // What is wrong shows at the latest with the header.
                        (Ok(Framed::Partial(_)), Err(_)) => assert!(arrived < HEADER_BYTES),
                        (Ok(found), Ok(whole)) => assert_eq!(&found, whole),
                        (Ok(found), Err(error)) => panic!("{found:?} became {error:?}"),
                        (Err(_), whole) => assert!(whole.is_err()),
                    }
                }
                if let Ok(Framed::Whole(found, taken)) = whole {
                    assert_eq!((found, taken), (tag, length as usize + 1));
                }
            }
        }
    }

    #[test]
    fn wrong_text_is_named_byte_by_byte() {
        for (text, wanted) in [
            (&b"ab\xFF"[..], "0xff"),
            (b"\xC3(", "0xc3 0x28"),
            (b"x\xE2\x82", "0xe2 0x82"),
            (b"\xF0\x9F\x92(x", "0xf0 0x9f 0x92 0x28"),
            (b"a\0b", "0x00"),
        ] {
            let error = invalid_encoding(text);
            assert_eq!(
                error.fields().message,
                format!("invalid byte sequence for encoding \"UTF8\": {wanted}")
            );
        }
    }
}
