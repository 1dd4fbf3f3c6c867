//! `pgcrypto` (PostgreSQL 15 manual, appendix F.28): digests, passwords, raw encryption and random bytes. The functions are
//! numbered as `builtin/generate.py` says.
//!
//! The algorithms are those that OpenSSL 3 gives PostgreSQL by default: AES and Triple DES are there, Blowfish, DES and CAST5
//! cannot be initialized. What is not listed here (PGP) has no implementation.

mod cipher;
mod password;

use crate::error::{Result, SqlError};
use crate::failure::invalid_parameter;
use crate::function::Callable::{self, Plain};
use crate::sqlstate::SqlState;
use crate::{CallContext, Datum, account, arithmetic, secret};
use hmac::{Mac, SimpleHmac};
use md5::digest::core_api::BlockSizeUser;
use md5::{Digest, Md5};
use sha1::Sha1;
use sha2::{Sha224, Sha256, Sha384, Sha512};
use sha3::{Sha3_224, Sha3_256, Sha3_384, Sha3_512};

/// By OID.
pub(crate) const FUNCTIONS: &[(u32, Callable)] = &[
    (14_300, Plain(|c, a| digest(c, a[0].text().as_bytes(), a[1].text()))),
    (14_301, Plain(|c, a| digest(c, a[0].bytea(), a[1].text()))),
    (14_302, Plain(|c, a| hmac(c, (a[0].text().as_bytes(), a[1].text().as_bytes()), a[2].text()))),
    (14_303, Plain(|c, a| hmac(c, (a[0].bytea(), a[1].bytea()), a[2].text()))),
    (14_304, Plain(password::crypt)),
    (14_305, Plain(|c, a| password::salt(c, a[0].text(), 0))),
    (14_306, Plain(|c, a| password::salt(c, a[0].text(), a[1].int4()))),
    (14_307, Plain(|c, a| cipher::encrypt(c, a[0].bytea(), (a[1].bytea(), &[]), a[2].text()))),
    (14_308, Plain(|c, a| cipher::decrypt(c, a[0].bytea(), (a[1].bytea(), &[]), a[2].text()))),
    (
        14_309,
        Plain(|c, a| cipher::encrypt(c, a[0].bytea(), (a[1].bytea(), a[2].bytea()), a[3].text())),
    ),
    (
        14_310,
        Plain(|c, a| cipher::decrypt(c, a[0].bytea(), (a[1].bytea(), a[2].bytea()), a[3].text())),
    ),
    (14_311, Plain(random_bytes)),
    (14_312, Plain(|c, _| Ok(Datum::Uuid(c.arena.alloc(arithmetic::random_uuid(c)))))),
];

/// Calls `$each` with the digest that has that name as its type; where none has, that is an error.
macro_rules! with_digest {
    ($name:expr, $each:ident $arguments:tt) => {
        match $name.to_ascii_lowercase().as_str() {
            "md5" => $each::<Md5> $arguments,
            "sha1" => $each::<Sha1> $arguments,
            "sha224" => $each::<Sha224> $arguments,
            "sha256" => $each::<Sha256> $arguments,
            "sha384" => $each::<Sha384> $arguments,
            "sha512" => $each::<Sha512> $arguments,
            "sha3-224" => $each::<Sha3_224> $arguments,
            "sha3-256" => $each::<Sha3_256> $arguments,
            "sha3-384" => $each::<Sha3_384> $arguments,
            "sha3-512" => $each::<Sha3_512> $arguments,
            _ => return Err(no_digest($name)),
        }
    };
}

/// Why there is no digest of a name: OpenSSL does not have it by default, PostgreSQL has it and Atoll does not, or nobody.
fn no_digest(name: &str) -> SqlError {
    match name.to_ascii_lowercase().as_str() {
        "md4" | "mdc2" | "whirlpool" => {
            invalid_parameter(format!("Cannot use \"{name}\": Cipher cannot be initialized"))
        }
        "rmd160" | "ripemd160" | "ripemd" | "blake2b512" | "blake2s256" | "sm3" | "md5-sha1"
        | "sha512-224" | "sha512-256" | "shake128" | "shake256" => {
            SqlError::unsupported(format!("the digest \"{name}\" is"))
        }
        _ => invalid_parameter(format!("Cannot use \"{name}\": No such hash algorithm")),
    }
}

fn bytea<'a>(context: &CallContext<'a>, bytes: &[u8]) -> Datum<'a> {
    Datum::Bytea(account::copied(context.arena, bytes))
}

fn digest<'a>(context: &CallContext<'a>, data: &[u8], name: &str) -> Result<Datum<'a>> {
    fn of<D: Digest>(data: &[u8]) -> Vec<u8> {
        D::digest(data).to_vec()
    }
    Ok(bytea(context, &with_digest!(name, of(data))))
}

fn hmac<'a>(
    context: &CallContext<'a>,
    (data, key): (&[u8], &[u8]),
    name: &str,
) -> Result<Datum<'a>> {
    fn of<D: Digest + BlockSizeUser>(data: &[u8], key: &[u8]) -> Vec<u8> {
        let mut mac = SimpleHmac::<D>::new_from_slice(key).expect("a key may have any length");
        mac.update(data);
        mac.finalize().into_bytes().to_vec()
    }
    Ok(bytea(context, &with_digest!(name, of(data, key))))
}

fn random_bytes<'a>(context: &CallContext<'a>, a: &[Datum<'a>]) -> Result<Datum<'a>> {
    let count = usize::try_from(a[0].int4()).ok().filter(|count| (1..=1024).contains(count));
    let count = count.ok_or_else(|| failed("Length not in range"))?;
    let mut bytes = vec![0; count];
    secret::fill(context, &mut bytes);
    Ok(bytea(context, &bytes))
}

/// 39000: what `pgcrypto` could not do.
fn failed(message: &str) -> SqlError {
    SqlError::new(SqlState::EXTERNAL_ROUTINE_INVOCATION_EXCEPTION, message)
}
