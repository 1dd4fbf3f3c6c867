//! `uuid-ossp` (PostgreSQL 15 manual, appendix F.49): uuids of RFC 4122's versions 1, 3, 4 and 5. The functions are numbered as
//! `builtin/generate.py` says.

use crate::error::Result;
use crate::function::Callable::{self, Plain};
use crate::{CallContext, Datum, arithmetic, secret};
use md5::{Digest, Md5};
use sha1::Sha1;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// By OID.
pub(crate) const FUNCTIONS: &[(u32, Callable)] = &[
    (14_250, Plain(|_, _| Ok(Datum::Uuid(&[0; 16])))),
    (14_251, Plain(|_, _| Ok(Datum::Uuid(&NAMESPACES[0])))),
    (14_252, Plain(|_, _| Ok(Datum::Uuid(&NAMESPACES[1])))),
    (14_253, Plain(|_, _| Ok(Datum::Uuid(&NAMESPACES[2])))),
    (14_254, Plain(|_, _| Ok(Datum::Uuid(&NAMESPACES[3])))),
    (14_255, Plain(|c, _| timed(c, false))),
    (14_256, Plain(|c, _| timed(c, true))),
    (14_257, Plain(|c, a| named(c, a, 3))),
    (14_258, Plain(|c, _| Ok(Datum::Uuid(c.arena.alloc(arithmetic::random_uuid(c)))))),
    (14_259, Plain(|c, a| named(c, a, 5))),
];

/// Those of names of DNS, URLs, ISO OIDs and X.500 (RFC 4122, appendix C).
static NAMESPACES: [[u8; 16]; 4] =
    [namespace(0x10), namespace(0x11), namespace(0x12), namespace(0x14)];

const fn namespace(own: u8) -> [u8; 16] {
    [0x6b, 0xa7, 0xb8, own, 0x9d, 0xad, 0x11, 0xd1, 0x80, 0xb4, 0x00, 0xc0, 0x4f, 0xd4, 0x30, 0xc8]
}

/// Says of 16 bytes that they are a uuid of this version.
fn versioned(mut uuid: [u8; 16], version: u8) -> [u8; 16] {
    uuid[6] = uuid[6] & 0x0f | version << 4;
    uuid[8] = uuid[8] & 0x3f | 0x80;
    uuid
}

/// Versions 3 and 5: by a digest of the namespace and the name.
fn named<'a>(context: &CallContext<'a>, a: &[Datum<'a>], version: u8) -> Result<Datum<'a>> {
    let Datum::Uuid(namespace) = a[0] else { unreachable!("its argument is a uuid") };
    let name = a[1].text().as_bytes();
    let mut uuid = [0; 16];
    if version == 3 {
        uuid.copy_from_slice(&Md5::new().chain_update(namespace).chain_update(name).finalize());
    } else {
        let digest = Sha1::new().chain_update(namespace).chain_update(name).finalize();
        uuid.copy_from_slice(&digest[..16]);
    }
    Ok(Datum::Uuid(context.arena.alloc(versioned(uuid, version))))
}

/// Version 1: by the time, in 100 ns since the calendar was reformed, and a node, which is random and says so; with `each`
/// every call draws its own.
fn timed<'a>(context: &CallContext<'a>, each: bool) -> Result<Datum<'a>> {
    /// From 1582-10-15 to 2000-01-01, in 100 ns.
    const REFORM: u64 = 131_659_776_000_000_000;
    /// The last time that was given: no two are the same.
    static LAST: AtomicU64 = AtomicU64::new(0);
    /// The node of the process with its clock sequence.
    static NODE: OnceLock<[u8; 8]> = OnceLock::new();
    let drawn = || {
        let mut node = [0; 8];
        secret::fill(context, &mut node);
        // A node that is no card's address is a group's.
        node[2] |= 1;
        node
    };
    let now = REFORM.wrapping_add_signed(context.clock.wall().saturating_mul(10));
    // Relaxed: the number is all that is shared.
    let last = LAST.fetch_update(Relaxed, Relaxed, |last| Some(now.max(last + 1)));
    let time = now.max(last.unwrap_or_default() + 1);
    let node = if each { drawn() } else { *NODE.get_or_init(drawn) };
    let mut uuid = [0; 16];
    uuid[..4].copy_from_slice(&(time as u32).to_be_bytes());
    uuid[4..6].copy_from_slice(&((time >> 32) as u16).to_be_bytes());
    uuid[6..8].copy_from_slice(&((time >> 48) as u16).to_be_bytes());
    uuid[8..].copy_from_slice(&node);
    Ok(Datum::Uuid(context.arena.alloc(versioned(uuid, 1))))
}
