//! `pgcrypto` (PostgreSQL 15 manual, appendix F.28): digests, passwords, raw encryption, messages of OpenPGP and random bytes.
//! The functions are numbered as `builtin/generate.py` says.
//!
//! The algorithms are those that OpenSSL 3 gives PostgreSQL by default: AES and Triple DES are there, Blowfish, DES and CAST5
//! cannot be initialized.

mod cipher;
mod password;
mod pgp;

use crate::error::{Result, SqlError};
use crate::failure::invalid_parameter;
use crate::function::Callable::{self, Plain, Set};
use crate::sqlstate::SqlState;
use crate::{CallContext, Datum, account, arithmetic, secret};
use hmac::{Mac, SimpleHmac};
use md5::digest::core_api::BlockSizeUser;
use md5::{Digest, Md5};
use ripemd::Ripemd160;
use sha1::Sha1;
use sha2::{Sha224, Sha256, Sha384, Sha512, Sha512_224, Sha512_256};
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
    (14_313, Plain(|c, a| pgp::encrypt(c, a, Some(a[0].text())))),
    (14_314, Plain(|c, a| pgp::encrypt(c, a, None))),
    (14_315, Plain(|c, a| pgp::encrypt(c, a, Some(a[0].text())))),
    (14_316, Plain(|c, a| pgp::encrypt(c, a, None))),
    (14_317, Plain(|c, a| pgp::decrypt(c, a, true))),
    (14_318, Plain(|c, a| pgp::decrypt(c, a, false))),
    (14_319, Plain(|c, a| pgp::decrypt(c, a, true))),
    (14_320, Plain(|c, a| pgp::decrypt(c, a, false))),
    (14_321, Plain(|c, a| pgp::encrypt_for_key(c, a, Some(a[0].text())))),
    (14_322, Plain(|c, a| pgp::encrypt_for_key(c, a, None))),
    (14_323, Plain(|c, a| pgp::encrypt_for_key(c, a, Some(a[0].text())))),
    (14_324, Plain(|c, a| pgp::encrypt_for_key(c, a, None))),
    (14_325, Plain(|c, a| pgp::decrypt_by_key(c, a, true))),
    (14_326, Plain(|c, a| pgp::decrypt_by_key(c, a, false))),
    (14_327, Plain(|c, a| pgp::decrypt_by_key(c, a, true))),
    (14_328, Plain(|c, a| pgp::decrypt_by_key(c, a, false))),
    (14_329, Plain(|c, a| pgp::decrypt_by_key(c, a, true))),
    (14_330, Plain(|c, a| pgp::decrypt_by_key(c, a, false))),
    (14_331, Plain(pgp::key_id)),
    (14_332, Plain(pgp::armor)),
    (14_333, Plain(pgp::armor)),
    (14_334, Plain(pgp::dearmor)),
    (14_335, Set(|_, _, a, emit| pgp::armor_headers(a, emit))),
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
            "sha512-224" => $each::<Sha512_224> $arguments,
            "sha512-256" => $each::<Sha512_256> $arguments,
            "ripemd160" | "rmd160" | "ripemd" => $each::<Ripemd160> $arguments,
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
        "blake2b512" | "blake2s256" | "sm3" | "md5-sha1" | "shake128" | "shake256" => {
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
