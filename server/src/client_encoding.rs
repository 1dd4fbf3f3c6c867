//! What clients with another encoding than UTF8 say and hear (manual, section 24.3.4): the texts in their messages are
//! converted as they come, those in the server's before they go. Rows are converted by the sink that makes them.

use sql::SqlError;
use sql::encoding::Conversion;

/// The body of a message of the client, its texts in UTF8.
///
/// # Errors
/// 22021, 22P05. What is no message is left to whoever decodes it.
pub fn received(conversion: &Conversion, tag: u8, body: &[u8]) -> Result<Vec<u8>, SqlError> {
    let mut out = Vec::with_capacity(body.len() * 2);
    let mut rest = body;
    match tag {
        b'Q' | b'f' | b'E' => text(conversion, &mut rest, &mut out)?,
        b'P' => {
            text(conversion, &mut rest, &mut out)?;
            text(conversion, &mut rest, &mut out)?;
        }
        b'D' | b'C' => {
            take(1, &mut rest, &mut out);
            text(conversion, &mut rest, &mut out)?;
        }
        b'B' => {
            text(conversion, &mut rest, &mut out)?;
            text(conversion, &mut rest, &mut out)?;
            parameters(conversion, &mut rest, &mut out)?;
        }
        _ => {}
    }
    out.extend_from_slice(rest);
    Ok(out)
}

/// Converts a text up to its zero, if there is one.
fn text(conversion: &Conversion, rest: &mut &[u8], out: &mut Vec<u8>) -> Result<(), SqlError> {
    let Some(end) = rest.iter().position(|byte| *byte == 0) else { return Ok(()) };
    out.extend_from_slice(conversion.decode(&rest[..end])?.as_bytes());
    out.push(0);
    *rest = &rest[end + 1..];
    Ok(())
}

/// Copies bytes as they are; none if there are fewer.
fn take<'r>(count: usize, rest: &mut &'r [u8], out: &mut Vec<u8>) -> &'r [u8] {
    let Some((taken, behind)) = rest.split_at_checked(count) else { return &[] };
    out.extend_from_slice(taken);
    *rest = behind;
    taken
}

fn count(rest: &mut &[u8], out: &mut Vec<u8>) -> usize {
    match take(2, rest, out) {
        [high, low] => usize::from(u16::from_be_bytes([*high, *low])),
        _ => 0,
    }
}

/// The parameters of Bind: those in the text form are converted.
fn parameters(
    conversion: &Conversion,
    rest: &mut &[u8],
    out: &mut Vec<u8>,
) -> Result<(), SqlError> {
    let formats = count(rest, out);
    let formats = take(2 * formats, rest, out);
    let is_text = |number: usize| match formats.len() {
        0 => true,
        2 => formats == [0, 0],
        _ => formats.get(2 * number..2 * number + 2) == Some(&[0, 0]),
    };
    for number in 0..count(rest, out) {
        let Some((length, behind)) = rest.split_first_chunk::<4>() else { return Ok(()) };
        let bytes = usize::try_from(i32::from_be_bytes(*length)).unwrap_or(0);
        let Some((value, behind)) = behind.split_at_checked(bytes) else { return Ok(()) };
        if is_text(number) && !value.is_ascii() {
            let value = conversion.decode(value)?;
            out.extend_from_slice(&(value.len() as u32).to_be_bytes());
            out.extend_from_slice(value.as_bytes());
        } else {
            out.extend_from_slice(length);
            out.extend_from_slice(value);
        }
        *rest = behind;
    }
    Ok(())
}

/// Converts the texts of the server's messages from `begin` on: of errors, notices, columns, parameters, notifications.
pub fn sent(conversion: &Conversion, out: &mut Vec<u8>, begin: usize) {
    if out[begin..].is_ascii() {
        return;
    }
    let written = out.split_off(begin);
    let mut rest = &written[..];
    while let [tag, a, b, c, d, ..] = *rest {
        let length = u32::from_be_bytes([a, b, c, d]) as usize;
        let Some((message, behind)) = rest.split_at_checked(length + 1) else { break };
        rest = behind;
        let at = out.len();
        let mut body = &message[5..];
        out.extend_from_slice(&message[..5]);
        match tag {
            b'E' | b'N' => {
                while body.len() > 1 {
                    take(1, &mut body, out);
                    lossy(conversion, &mut body, out);
                }
            }
            b'S' => (0..2).for_each(|_| lossy(conversion, &mut body, out)),
            b'A' => {
                take(4, &mut body, out);
                (0..2).for_each(|_| lossy(conversion, &mut body, out));
            }
            b'T' => {
                for _ in 0..count(&mut body, out) {
                    lossy(conversion, &mut body, out);
                    take(18, &mut body, out);
                }
            }
            _ => {}
        }
        out.extend_from_slice(body);
        let length = (out.len() - at - 1) as u32;
        out[at + 1..at + 5].copy_from_slice(&length.to_be_bytes());
    }
    out.extend_from_slice(rest);
}

fn lossy(conversion: &Conversion, rest: &mut &[u8], out: &mut Vec<u8>) {
    let Some(end) = rest.iter().position(|byte| *byte == 0) else { return };
    match std::str::from_utf8(&rest[..end]) {
        Ok(text) => out.extend(conversion.encode_lossy(text)),
        Err(_) => out.extend_from_slice(&rest[..end]),
    }
    out.push(0);
    *rest = &rest[end + 1..];
}

/// Converts a value that has been written behind `begin`.
///
/// # Errors
/// 22P05.
pub fn value(conversion: &Conversion, out: &mut Vec<u8>, begin: usize) -> Result<(), SqlError> {
    if out[begin..].is_ascii() {
        return Ok(());
    }
    if let Ok(text) = std::str::from_utf8(&out[begin..]) {
        let bytes = conversion.encode(text)?.into_owned();
        out.truncate(begin);
        out.extend_from_slice(&bytes);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn latin1() -> Conversion {
        Conversion::of("latin1").expect("it has a table")
    }

    #[test]
    fn parameters_in_the_text_form_are_converted() {
        let body =
            b"p\0s\xe4\0\0\x02\0\0\0\x01\0\x03\0\0\0\x02\xfcx\0\0\0\x01\xfc\xff\xff\xff\xff\0\0";
        let wanted = "p\0s\u{e4}\0\0\x02\0\0\0\x01\0\x03\0\0\0\x03\u{fc}x\0\0\0\x01".as_bytes();
        let converted = received(&latin1(), b'B', body).expect("all bytes are characters");
        assert_eq!(converted, [wanted, b"\xfc\xff\xff\xff\xff\0\0"].concat());
    }

    #[test]
    fn what_is_cut_short_is_left_to_the_decoder() {
        for end in 0..6 {
            let body = &b"\xfc\0\0\0\x01\0"[..end];
            assert!(received(&latin1(), b'B', body).is_ok());
        }
    }

    #[test]
    fn texts_of_the_server_are_converted_with_their_lengths() {
        let mut out = b"D\0\0\0\x05\xff".to_vec();
        let message = "E\0\0\0\x0aM\u{fc}\u{20ac}\0\0".as_bytes();
        let mut error = message.to_vec();
        error[4] = (message.len() - 1) as u8;
        out.extend(error);
        out.extend_from_slice(b"Z\0\0\0\x05I");
        sent(&latin1(), &mut out, 6);
        assert_eq!(out, b"D\0\0\0\x05\xffE\0\0\0\x09M\xfc?\0\0Z\0\0\0\x05I");
    }
}
