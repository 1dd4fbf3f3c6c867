//! Packets (RFC 4880, section 4): a tag, a length, a body, which may come in parts.

use super::corrupt;
use crate::account;
use crate::error::Result;

/// Tags (section 4.3).
pub(super) mod tag {
    pub const PUBLIC_SESSION_KEY: u8 = 1;
    pub const SIGNATURE: u8 = 2;
    pub const SESSION_KEY: u8 = 3;
    pub const SECRET_KEY: u8 = 5;
    pub const PUBLIC_KEY: u8 = 6;
    pub const SECRET_SUBKEY: u8 = 7;
    pub const COMPRESSED: u8 = 8;
    pub const ENCRYPTED: u8 = 9;
    pub const MARKER: u8 = 10;
    pub const LITERAL: u8 = 11;
    pub const TRUST: u8 = 12;
    pub const USER_ID: u8 = 13;
    pub const PUBLIC_SUBKEY: u8 = 14;
    pub const USER_ATTRIBUTE: u8 = 17;
    pub const ENCRYPTED_INTACT: u8 = 18;
    pub const MODIFICATION_CODE: u8 = 19;
    pub const PRIVATE: u8 = 61;
}

/// How long the parts are in which PostgreSQL writes a long body, in bytes, and the octet that says so.
const PART: usize = 1 << 14;
const PART_OCTET: u8 = 224 + 14;

/// What is left of some packets.
pub(super) struct Packets<'d> {
    rest: &'d [u8],
}

/// A packet's body: as it stands there, or put together from its parts.
pub(super) enum Body<'d> {
    Whole(&'d [u8]),
    Joined(Vec<u8>),
}

impl std::ops::Deref for Body<'_> {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            Body::Whole(bytes) => bytes,
            Body::Joined(bytes) => bytes,
        }
    }
}

impl<'d> Packets<'d> {
    pub(super) fn of(data: &'d [u8]) -> Packets<'d> {
        Packets { rest: data }
    }

    fn take(&mut self, count: usize) -> Result<&'d [u8]> {
        let (taken, rest) = self.rest.split_at_checked(count).ok_or_else(corrupt)?;
        self.rest = rest;
        Ok(taken)
    }

    fn number(&mut self, octets: usize) -> Result<usize> {
        let octets = self.take(octets)?;
        Ok(octets.iter().fold(0, |number, octet| number << 8 | usize::from(*octet)))
    }

    /// A length of the new format: of the body, or of a part that others follow.
    fn length(&mut self) -> Result<(usize, bool)> {
        Ok(match self.number(1)? {
            short @ 0..=191 => (short, false),
            first @ 192..=223 => (((first - 192) << 8) + self.number(1)? + 192, false),
            255 => (self.number(4)?, false),
            part => (1 << (part & 31), true),
        })
    }

    /// The next packet: its tag and its body; none at the end.
    ///
    /// # Errors
    /// 39000: it is none, or is cut off.
    pub(super) fn next(&mut self) -> Result<Option<(u8, Body<'d>)>> {
        if self.rest.is_empty() {
            return Ok(None);
        }
        let first = self.number(1)?;
        if first & 0x80 == 0 {
            return Err(corrupt());
        }
        if first & 0x40 == 0 {
            let octets = 1usize << (first & 3);
            // Without a length it goes on to the end.
            let length = if octets > 4 { self.rest.len() } else { self.number(octets)? };
            let tag = (first >> 2 & 15) as u8;
            return Ok(Some((tag, Body::Whole(self.take(length)?))));
        }
        let tag = (first & 63) as u8;
        let (length, mut more) = self.length()?;
        let whole = self.take(length)?;
        if !more {
            return Ok(Some((tag, Body::Whole(whole))));
        }
        let mut body = whole.to_vec();
        while more {
            let length;
            (length, more) = self.length()?;
            body.extend_from_slice(self.take(length)?);
            account::insist();
        }
        Ok(Some((tag, Body::Joined(body))))
    }
}

/// Writes the tag of the new format.
fn put_tag(tag: u8, out: &mut Vec<u8>) {
    out.push(0xC0 | tag);
}

fn put_length(length: usize, out: &mut Vec<u8>) {
    match length {
        0..=191 => out.push(length as u8),
        192..=8383 => out.extend_from_slice(&((length - 192 + (192 << 8)) as u16).to_be_bytes()),
        _ => {
            out.push(255);
            out.extend_from_slice(&(length as u32).to_be_bytes());
        }
    }
}

/// Writes a packet.
pub(super) fn put(tag: u8, body: &[u8], out: &mut Vec<u8>) {
    put_tag(tag, out);
    put_length(body.len(), out);
    out.extend_from_slice(body);
}

/// Writes a packet whose body may be long, in parts as PostgreSQL has them.
pub(super) fn put_in_parts(tag: u8, body: &[u8], out: &mut Vec<u8>) {
    put_tag(tag, out);
    let mut rest = body;
    // The first part goes as soon as there is one, the others when there is something behind them.
    let mut least = PART;
    while rest.len() >= least {
        let (part, behind) = rest.split_at(PART);
        out.push(PART_OCTET);
        out.extend_from_slice(part);
        (rest, least) = (behind, PART + 1);
        account::insist();
    }
    put_length(rest.len(), out);
    out.extend_from_slice(rest);
}
