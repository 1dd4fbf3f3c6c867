//! Start-up packets: the first thing a client says, before there is a type byte or a known version.
//!
//! Manual, section 55.2.1 and 55.2.10; PostgreSQL's `ProcessStartupPacket`. Four kinds begin with a length and a code:
//! requests for TLS and for GSS encryption (answered by one byte, then another packet follows), a cancel request (answered
//! by nothing), and the start-up message of protocol 3. A packet is read whole, and only within 10,000 bytes, before
//! anything of it is believed.
//!
//! Version 3.0 is spoken, as PostgreSQL 15 does. A newer minor version, or options beginning with `_pq_.`, are answered by
//! NegotiateProtocolVersion, behind which it is 3.0; any other major version is refused.

use crate::frame::{Reader, SMALL_MESSAGE_BYTES, violation};
use sql::sqlstate::SqlState;
use sql::{Severity, SqlError};

/// The longest name, in bytes; longer ones are cut, as PostgreSQL cuts them.
const NAME_BYTES: usize = 63;

/// A client's first packet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum First {
    /// SSLRequest.
    Tls,
    /// GSSENCRequest.
    Gss,
    /// CancelRequest.
    Cancel {
        /// Whom.
        pid: u32,
        /// The proof.
        secret: Vec<u8>,
    },
    /// StartupMessage.
    Startup(Startup),
}

/// The start-up message.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Startup {
    /// The user, as given; empty if the client gave none.
    pub user: String,
    /// The database; the user's name if the client gave none.
    pub database: String,
    /// All other parameters, `options` taken apart.
    pub settings: Vec<(String, String)>,
    /// What NegotiateProtocolVersion has to name: none if nothing has to be negotiated.
    pub negotiate: Option<Vec<String>>,
    /// Whether a replication connection was asked for.
    pub replication: bool,
}

fn fatal(state: SqlState, message: impl Into<String>) -> SqlError {
    SqlError::new(state, message).severity(Severity::Fatal)
}

/// The length of the packet behind the four bytes that announce it.
///
/// # Errors
/// 08P01: too short to hold a code, or too long.
pub fn packet_bytes(length: [u8; 4]) -> Result<usize, SqlError> {
    let bytes = (u32::from_be_bytes(length) as usize).wrapping_sub(4);
    if !(4..=SMALL_MESSAGE_BYTES).contains(&bytes) {
        return Err(violation("invalid length of startup packet").severity(Severity::Fatal));
    }
    Ok(bytes)
}

/// Decodes a packet, without its length.
///
/// # Errors
/// 08P01, 0A000 for another major version, 22021, 22023: all FATAL.
pub fn decode(packet: &[u8]) -> Result<First, SqlError> {
    decoded(packet).map_err(|error| error.severity(Severity::Fatal))
}

fn decoded(packet: &[u8]) -> Result<First, SqlError> {
    let mut reader = Reader::new(packet);
    let code = reader.i32()? as u32;
    match code {
        80_877_103 => reader.end().map(|()| First::Tls),
        80_877_104 => reader.end().map(|()| First::Gss),
        80_877_102 => {
            let pid = reader.i32()? as u32;
            let secret = reader.remainder().to_vec();
            if !(4..=256).contains(&secret.len()) {
                return Err(violation("invalid length of cancel request packet"));
            }
            Ok(First::Cancel { pid, secret })
        }
        _ => startup((code >> 16) as u16, code as u16, reader).map(First::Startup),
    }
}

fn startup(major: u16, minor: u16, mut reader: Reader<'_>) -> Result<Startup, SqlError> {
    if major != 3 {
        return Err(fatal(
            SqlState::FEATURE_NOT_SUPPORTED,
            format!("unsupported frontend protocol {major}.{minor}: server supports 3.0 to 3.0"),
        ));
    }
    let mut startup = Startup::default();
    let mut unknown = Vec::new();
    let mut database = None;
    // Whatever is cut short is told as PostgreSQL tells it, which takes the packet to have an end of its own.
    let layout = || violation("invalid startup packet layout: expected terminator as last byte");
    if { reader }.remainder().last() != Some(&0) {
        return Err(layout());
    }
    loop {
        if reader.is_empty() {
            return Err(layout());
        }
        let name = reader.text()?;
        if name.is_empty() {
            break;
        }
        let value = reader.text()?;
        match name {
            "user" => startup.user = cut(value),
            "database" => database = Some(cut(value)),
            "options" => options(value, &mut startup.settings)?,
            "replication" => {
                startup.replication = match value {
                    "database" | "on" | "true" | "yes" | "1" => true,
                    "off" | "false" | "no" | "0" => false,
                    _ => {
                        return Err(fatal(
                            SqlState::INVALID_PARAMETER_VALUE,
                            format!("invalid value for parameter \"replication\": \"{value}\""),
                        ));
                    }
                }
            }
            _ if name.starts_with("_pq_.") => unknown.push(name.to_owned()),
            _ => startup.settings.push((name.to_owned(), value.to_owned())),
        }
    }
    if !reader.is_empty() {
        return Err(layout());
    }
    if startup.user.is_empty() {
        return Err(fatal(
            SqlState::INVALID_AUTHORIZATION_SPECIFICATION,
            "no PostgreSQL user name specified in startup packet",
        ));
    }
    startup.database = match database {
        Some(database) if !database.is_empty() => database,
        _ => startup.user.clone(),
    };
    if minor != 0 || !unknown.is_empty() {
        startup.negotiate = Some(unknown);
    }
    Ok(startup)
}

/// Cuts a name to the length a name can have, between two characters.
fn cut(name: &str) -> String {
    let mut end = name.len().min(NAME_BYTES);
    while !name.is_char_boundary(end) {
        end -= 1;
    }
    name[..end].to_owned()
}

/// Takes `options` apart: `-c name=value`, `-cname=value` and `--name=value`, words separated by blanks, a backslash
/// before a blank that belongs to a word.
fn options(text: &str, settings: &mut Vec<(String, String)>) -> Result<(), SqlError> {
    let mut words = Vec::new();
    let mut word = String::new();
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        match character {
            '\\' => word.extend(characters.next()),
            c if c.is_ascii_whitespace() => {
                if !word.is_empty() {
                    words.push(std::mem::take(&mut word));
                }
            }
            c => word.push(c),
        }
    }
    if !word.is_empty() {
        words.push(word);
    }
    let mut words = words.into_iter();
    while let Some(word) = words.next() {
        let setting = match word.strip_prefix("--").or_else(|| word.strip_prefix("-c")) {
            Some("") if word == "-c" => words.next().unwrap_or_default(),
            Some(setting) => setting.to_owned(),
            None => {
                return Err(fatal(
                    SqlState::SYNTAX_ERROR,
                    format!("invalid command-line argument for server process: {word}"),
                ));
            }
        };
        let Some((name, value)) = setting.split_once('=') else {
            return Err(fatal(SqlState::SYNTAX_ERROR, format!("-c {setting} requires a value")));
        };
        settings.push((name.replace('-', "_"), value.to_owned()));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packet(code: u32, body: &[u8]) -> Vec<u8> {
        let mut packet = code.to_be_bytes().to_vec();
        packet.extend_from_slice(body);
        packet
    }

    fn accepted(minor: u32, body: &[u8]) -> Startup {
        match decode(&packet((3 << 16) + minor, body)) {
            Ok(First::Startup(startup)) => startup,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn names_parameters_and_options_are_taken_apart() {
        let body =
            b"user\0bob\0options\0-c a.b=1 --work-mem=2\\ MB -cx=y\0application_name\0psql\0\0";
        let startup = accepted(0, body);
        assert_eq!((startup.user.as_str(), startup.database.as_str()), ("bob", "bob"));
        let settings: Vec<(&str, &str)> =
            startup.settings.iter().map(|(name, value)| (&name[..], &value[..])).collect();
        assert_eq!(
            settings,
            [("a.b", "1"), ("work_mem", "2 MB"), ("x", "y"), ("application_name", "psql")]
        );
        assert_eq!(startup.negotiate, None);
        let long = format!("user\0{}\0database\0d\0\0", "ü".repeat(40));
        assert_eq!(accepted(0, long.as_bytes()).user, "ü".repeat(31));
    }

    #[test]
    fn what_is_newer_is_negotiated_and_what_is_older_refused() {
        assert_eq!(accepted(2, b"user\0u\0\0").negotiate, Some(Vec::new()));
        let newer = accepted(9999, b"user\0u\0_pq_.magic\0on\0\0");
        assert_eq!(newer.negotiate, Some(vec!["_pq_.magic".to_owned()]));
        let error = decode(&packet(2 << 16, b"user\0u\0\0")).unwrap_err();
        assert_eq!(error.state(), SqlState::FEATURE_NOT_SUPPORTED);
    }

    #[test]
    fn crooked_packets_are_refused_in_postgresqls_words() {
        for (body, message) in [
            (&b""[..], "invalid startup packet layout: expected terminator as last byte"),
            (b"user\0u\0", "invalid startup packet layout: expected terminator as last byte"),
            (b"user\0u\0\0x", "invalid startup packet layout: expected terminator as last byte"),
            (b"user\0u", "invalid startup packet layout: expected terminator as last byte"),
            (b"\0", "no PostgreSQL user name specified in startup packet"),
            (b"user\0\xFF\0\0", "invalid byte sequence for encoding \"UTF8\": 0xff"),
        ] {
            let error = decode(&packet(3 << 16, body)).unwrap_err();
            assert_eq!(error.fields().message, message, "{body:?}");
            assert_eq!(error.fields().severity, Severity::Fatal);
        }
        assert!(decode(&packet(80_877_102, b"\0\0\0\x01")).is_err());
        assert!(decode(b"\0\x03").is_err());
        for length in [0u32, 7, 10_005, u32::MAX] {
            assert!(packet_bytes(length.to_be_bytes()).is_err(), "{length}");
        }
        assert_eq!(packet_bytes(8u32.to_be_bytes()).unwrap(), 4);
    }
}
