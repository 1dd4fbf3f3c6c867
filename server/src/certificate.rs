//! What a client's certificate says of its owner: names and number, out of its DER (RFC 5280, section 4.1).
//!
//! Whoever gets here has been verified by the TLS library; only what names somebody is read. Names are printed as
//! PostgreSQL prints them: `clientname=DN` is RFC 2253's form, `pg_stat_ssl` has the old one, `/CN=...`.

use sql::PeerCertificate;

/// Tags of DER.
const SEQUENCE: u8 = 0x30;
const INTEGER: u8 = 0x02;
const VERSION: u8 = 0xA0;
const BMP_STRING: u8 = 0x1E;

/// How long a name is shown at most, in bytes (`NAMEDATALEN`).
const SHOWN_BYTES: usize = 63;

/// A client's certificate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Certificate {
    /// The first `CN` of its subject.
    pub common_name: Option<String>,
    /// Its subject in the form of RFC 2253.
    pub distinguished_name: String,
    /// What `pg_stat_ssl` shows.
    pub shown: PeerCertificate,
}

/// An attribute of a name: its type, its value.
type Attribute = (String, String);

/// A value and what is behind it.
fn element(der: &[u8]) -> Option<(u8, &[u8], &[u8])> {
    let (tag, rest) = der.split_first()?;
    let (first, rest) = rest.split_first()?;
    let (length, rest) = match first {
        0..=0x7F => (usize::from(*first), rest),
        _ => {
            let bytes = usize::from(first & 0x7F);
            let (digits, rest) = rest.split_at_checked(bytes).filter(|_| bytes <= 4)?;
            (digits.iter().fold(0, |length, digit| length << 8 | usize::from(*digit)), rest)
        }
    };
    let (value, rest) = rest.split_at_checked(length)?;
    Some((*tag, value, rest))
}

/// The elements of a constructed value.
fn elements(mut der: &[u8]) -> impl Iterator<Item = (u8, &[u8])> {
    std::iter::from_fn(move || {
        let (tag, value, rest) = element(der)?;
        der = rest;
        Some((tag, value))
    })
}

/// Reads a certificate.
#[must_use]
pub fn read(der: &[u8]) -> Option<Certificate> {
    let (_, certificate, _) = element(der).filter(|(tag, ..)| *tag == SEQUENCE)?;
    let (_, signed, _) = element(certificate).filter(|(tag, ..)| *tag == SEQUENCE)?;
    let mut parts = elements(signed).filter(|(tag, _)| *tag != VERSION);
    let (_, serial) = parts.next().filter(|(tag, _)| *tag == INTEGER)?;
    let (_algorithm, issuer) = (parts.next()?, parts.next()?);
    let (_validity, subject) = (parts.next()?, parts.next()?);
    let (issuer, subject) = (name(issuer.1)?, name(subject.1)?);
    let common_name =
        subject.iter().flatten().find(|(kind, _)| kind == "CN").map(|(_, value)| value.clone());
    let shown = PeerCertificate {
        subject: old_form(&subject),
        serial: decimal(serial),
        issuer: old_form(&issuer),
    };
    Some(Certificate { common_name, distinguished_name: rfc2253(&subject), shown })
}

/// The parts of a name, in order, each of one attribute or several.
fn name(der: &[u8]) -> Option<Vec<Vec<Attribute>>> {
    let part = |(_, set): (u8, &[u8])| {
        let attribute = |(_, attribute): (u8, &[u8])| {
            let mut both = elements(attribute);
            let ((_, kind), (tag, value)) = (both.next()?, both.next()?);
            Some((short_name(kind), text(tag, value)))
        };
        elements(set).map(attribute).collect()
    };
    elements(der).map(part).collect()
}

/// A string of DER; only old ones are not UTF-8 or ASCII.
fn text(tag: u8, value: &[u8]) -> String {
    match tag {
        BMP_STRING => {
            let units: Vec<u16> =
                value.chunks_exact(2).map(|pair| u16::from_be_bytes([pair[0], pair[1]])).collect();
            String::from_utf16_lossy(&units)
        }
        _ => String::from_utf8_lossy(value).into_owned(),
    }
}

/// OpenSSL's short name of a kind of attribute; its number where it has none.
fn short_name(oid: &[u8]) -> String {
    const EMAIL: &[u8] = &[0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 1, 9, 1];
    const PILOT: &[u8] = &[0x09, 0x92, 0x26, 0x89, 0x93, 0xF2, 0x2C, 0x64, 1];
    let known = match oid {
        [0x55, 0x04, last] => match last {
            3 => "CN",
            4 => "SN",
            5 => "serialNumber",
            6 => "C",
            7 => "L",
            8 => "ST",
            9 => "street",
            10 => "O",
            11 => "OU",
            12 => "title",
            17 => "postalCode",
            41 => "name",
            42 => "GN",
            43 => "initials",
            46 => "dnQualifier",
            _ => "",
        },
        _ if oid == EMAIL => "emailAddress",
        [start @ .., 1] if start == PILOT => "UID",
        [start @ .., 25] if start == PILOT => "DC",
        _ => "",
    };
    if known.is_empty() { dotted(oid) } else { known.to_owned() }
}

fn dotted(oid: &[u8]) -> String {
    let mut numbers: Vec<u64> = Vec::new();
    let mut number = 0_u64;
    for byte in oid {
        number = number << 7 | u64::from(byte & 0x7F);
        if byte & 0x80 == 0 {
            if numbers.is_empty() {
                let first = (number / 40).min(2);
                numbers.push(first);
                number -= first * 40;
            }
            numbers.push(std::mem::take(&mut number));
        }
    }
    numbers.iter().map(u64::to_string).collect::<Vec<_>>().join(".")
}

/// A number of any length.
fn decimal(bytes: &[u8]) -> String {
    // The lowest digit first.
    let mut digits = vec![0_u8];
    for byte in bytes {
        let mut carry = u32::from(*byte);
        for digit in &mut digits {
            carry += u32::from(*digit) << 8;
            *digit = (carry % 10) as u8;
            carry /= 10;
        }
        while carry > 0 {
            digits.push((carry % 10) as u8);
            carry /= 10;
        }
    }
    digits.iter().rev().map(|digit| char::from(b'0' + digit)).collect()
}

/// A value with what would be taken for something else behind a backslash; `ascii`: other bytes as numbers, too.
fn escaped(value: &str, ascii: bool) -> String {
    let mut out = String::new();
    let last = value.chars().count().saturating_sub(1);
    for (at, letter) in value.chars().enumerate() {
        match letter {
            ',' | '+' | '"' | '\\' | '<' | '>' | ';' => out.extend(['\\', letter]),
            '#' if at == 0 => out.push_str("\\#"),
            ' ' if at == 0 || at == last => out.push_str("\\ "),
            '\0'..='\x1F' | '\x7F' => out.push_str(&format!("\\{:02X}", letter as u32)),
            letter if ascii && !letter.is_ascii() => {
                for byte in letter.encode_utf8(&mut [0; 4]).bytes() {
                    out.push_str(&format!("\\{byte:02X}"));
                }
            }
            letter => out.push(letter),
        }
    }
    out
}

/// RFC 2253: the last part first.
fn rfc2253(name: &[Vec<Attribute>]) -> String {
    let part = |part: &Vec<Attribute>| {
        let attribute = |(kind, value): &Attribute| format!("{kind}={}", escaped(value, true));
        part.iter().map(attribute).collect::<Vec<_>>().join("+")
    };
    name.iter().rev().map(part).collect::<Vec<_>>().join(",")
}

/// `/C=DE/CN=name`, cut to what is shown.
fn old_form(name: &[Vec<Attribute>]) -> String {
    let attribute = |(kind, value): &Attribute| format!("/{kind}={}", escaped(value, false));
    let mut text: String = name.iter().flatten().map(attribute).collect();
    text.truncate(text.floor_char_boundary(SHOWN_BYTES));
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wrapped(tag: u8, parts: &[&[u8]]) -> Vec<u8> {
        let body = parts.concat();
        let mut out = vec![tag];
        match u8::try_from(body.len()) {
            Ok(length @ 0..=0x7F) => out.push(length),
            _ => out.extend([0x82, (body.len() >> 8) as u8, body.len() as u8]),
        }
        out.extend(body);
        out
    }

    fn attribute(oid: &[u8], value: &str) -> Vec<u8> {
        let both = wrapped(SEQUENCE, &[&wrapped(6, &[oid]), &wrapped(12, &[value.as_bytes()])]);
        wrapped(0x31, &[&both])
    }

    #[test]
    fn names_and_number_are_read() {
        let common = attribute(&[0x55, 4, 3], "Ada, Ü #1");
        let unit = attribute(&[0x55, 4, 11], "#unit ");
        let country = attribute(&[0x55, 4, 6], "DE");
        let other = attribute(&[0x2A, 3, 4], "x");
        let subject = wrapped(SEQUENCE, &[&country, &unit, &common, &other]);
        let issuer = wrapped(SEQUENCE, &[&country]);
        let empty = wrapped(SEQUENCE, &[]);
        let version = wrapped(VERSION, &[&[2, 1, 2]]);
        let serial = wrapped(INTEGER, &[&[0, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0]]);
        let filler = wrapped(4, &[&[0; 300]]);
        let signed = wrapped(
            SEQUENCE,
            &[&version, &serial, &empty, &issuer, &empty, &subject, &empty, &filler],
        );
        let found = read(&wrapped(SEQUENCE, &[&signed, &empty])).unwrap();
        assert_eq!(found.common_name.as_deref(), Some("Ada, Ü #1"));
        assert_eq!(found.distinguished_name, "1.2.3.4=x,CN=Ada\\, \\C3\\9C #1,OU=\\#unit\\ ,C=DE");
        assert_eq!(found.shown.subject, "/C=DE/OU=\\#unit\\ /CN=Ada\\, Ü #1/1.2.3.4=x");
        assert_eq!(found.shown.issuer, "/C=DE");
        assert_eq!(found.shown.serial, "4722366482869645213440");
        assert!(read(&[0x30, 0x82]).is_none() && read(b"").is_none());
    }
}
