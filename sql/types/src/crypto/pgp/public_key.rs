//! Keys of others and of one's own (RFC 4880, sections 5.5 and 13.1): by a public one a session key is encrypted, which the secret
//! one opens. RSA and Elgamal, as in `pgcrypto` (`pgp-pubkey.c`, `pgp-pubenc.c`, `pgp-pubdec.c`).

use super::options::cipher;
use super::packet::{Packets, tag};
use super::{Specifier, corrupt, key_size, stream};
use crate::crypto::failed;
use crate::error::{Result, SqlError};
use crate::{CallContext, account, secret};
use md5::Digest;
use num_bigint::BigUint;
use sha1::Sha1;

/// The version of keys that are read.
const VERSION: u8 = 4;
/// The version of a packet with an encrypted session key.
const SESSION_VERSION: u8 = 3;

/// The algorithms of section 9.1.
mod algorithm {
    pub const RSA: u8 = 1;
    pub const RSA_ENCRYPT: u8 = 2;
    pub const RSA_SIGN: u8 = 3;
    pub const ELGAMAL: u8 = 16;
    pub const DSA: u8 = 17;
}

/// How the secret numbers of a key are hidden, where they are (section 5.5.3).
const PLAIN: u8 = 0;
const HIDDEN_WITH_DIGEST: u8 = 254;
const HIDDEN_WITH_SUM: u8 = 255;

/// A key that encrypts.
pub(super) struct Key {
    id: [u8; 8],
    algorithm: u8,
    public: Vec<BigUint>,
    /// The secret number that opens: RSA's `d`, Elgamal's `x`.
    secret: Option<BigUint>,
}

/// Which half of a key is wanted.
#[derive(Clone, Copy)]
pub(super) enum Half<'p> {
    /// Either, for its id alone.
    Any,
    Public,
    /// With the password that hides it.
    Secret(Option<&'p [u8]>),
}

fn damaged() -> SqlError {
    failed("Corrupt key packet")
}

fn wrong_key() -> SqlError {
    failed("Wrong key")
}

fn unknown_algorithm() -> SqlError {
    failed("Unknown public-key encryption algorithm")
}

/// Takes a number off (section 3.2).
fn number(bytes: &mut &[u8]) -> Result<BigUint> {
    let (head, rest) = bytes.split_first_chunk().ok_or_else(corrupt)?;
    let length = usize::from(u16::from_be_bytes(*head)).div_ceil(8);
    let (digits, rest) = rest.split_at_checked(length).ok_or_else(corrupt)?;
    *bytes = rest;
    Ok(BigUint::from_bytes_be(digits))
}

fn put_number(number: &BigUint, out: &mut Vec<u8>) {
    out.extend_from_slice(&account::narrow::<u16>(number.bits() as usize).to_be_bytes());
    if number.bits() > 0 {
        out.extend_from_slice(&number.to_bytes_be());
    }
}

/// The sum of bytes that stands behind what is hidden.
fn sum(bytes: &[u8]) -> [u8; 2] {
    bytes.iter().fold(0u16, |sum, byte| sum.wrapping_add(u16::from(*byte))).to_be_bytes()
}

/// The longest numbers of a key that are computed with, in bits: it takes seconds, and nobody can stop it.
const BITS_MAX: u64 = 16_384;

/// `base ^ exponent` modulo a number.
fn power(base: &BigUint, exponent: &BigUint, modulus: &BigUint) -> Result<BigUint> {
    if modulus.bits() < 2 {
        return Err(failed("Math operation failed"));
    }
    let bits = modulus.bits().max(exponent.bits());
    if bits > BITS_MAX {
        return Err(SqlError::unsupported(format!("a key of {bits} bits is")));
    }
    Ok(base.modpow(exponent, modulus))
}

impl Key {
    /// Reads a subkey; none where it only signs.
    fn read(body: &[u8], half: Half<'_>) -> Result<Option<Key>> {
        let [version, _, _, _, _, algorithm, rest @ ..] = body else { return Err(corrupt()) };
        if *version != VERSION {
            return Err(failed("Only V4 key packets are supported"));
        }
        let numbers = match *algorithm {
            algorithm::RSA | algorithm::RSA_ENCRYPT | algorithm::RSA_SIGN => 2,
            algorithm::ELGAMAL => 3,
            algorithm::DSA => 4,
            _ => return Err(unknown_algorithm()),
        };
        let mut rest = rest;
        let public = (0..numbers).map(|_| number(&mut rest)).collect::<Result<Vec<_>>>()?;
        // Its id is the end of a digest of what is public (section 12.2).
        let own = &body[..body.len() - rest.len()];
        let mut state = Sha1::new();
        state.update([0x99]);
        state.update(account::narrow::<u16>(own.len()).to_be_bytes());
        state.update(own);
        let digest = state.finalize();
        let id = *digest.last_chunk().ok_or_else(corrupt)?;
        let secret = match half {
            Half::Secret(password) => Some(secret_number(rest, *algorithm, password)?),
            Half::Any | Half::Public => None,
        };
        let encrypts =
            matches!(*algorithm, algorithm::RSA | algorithm::RSA_ENCRYPT | algorithm::ELGAMAL);
        Ok(encrypts.then_some(Key { id, algorithm: *algorithm, public, secret }))
    }

    /// The key of a keyring, which has one main key and one that encrypts.
    ///
    /// # Errors
    /// 39000, as PostgreSQL has it.
    pub(super) fn of_ring(ring: &[u8], half: Half<'_>) -> Result<Key> {
        let (mut packets, mut main, mut found) = (Packets::of(ring), false, None);
        while let Some((tag, body)) = packets.next()? {
            let read = match (tag, half) {
                (tag::SECRET_KEY | tag::PUBLIC_KEY, _) => {
                    if std::mem::replace(&mut main, true) {
                        return Err(several_keys());
                    }
                    None
                }
                (tag::PUBLIC_SUBKEY, Half::Secret(_)) => {
                    return Err(failed("Cannot decrypt with public key"));
                }
                (tag::SECRET_SUBKEY, Half::Public) => {
                    return Err(failed("Refusing to encrypt with secret key"));
                }
                (tag::SECRET_SUBKEY | tag::PUBLIC_SUBKEY, _) => Key::read(&body, half)?,
                _ if is_beside_keys(tag) => None,
                _ => return Err(failed("Unexpected packet in key data")),
            };
            if read.is_some() && found.is_some() {
                return Err(failed("Several subkeys not supported"));
            }
            found = found.or(read);
        }
        found.ok_or_else(no_key)
    }

    /// A packet with a session key of a cipher that this key encrypts.
    pub(super) fn seal(
        &self,
        context: &CallContext<'_>,
        (used, session): (u8, &[u8]),
    ) -> Result<Vec<u8>> {
        let modulus = &self.public[0];
        // Two octets and a zero are around what fills it up (section 13.1.1).
        let message = [&[used][..], session, &sum(session)].concat();
        let whole = (modulus.bits() as usize).div_ceil(8);
        let filled = whole.checked_sub(message.len() + 3).filter(|filled| *filled >= 8);
        let filled = filled.ok_or_else(|| failed("Illegal argument to function"))?;
        let mut padding = vec![0; filled];
        secret::fill(context, &mut padding);
        for byte in &mut padding {
            while *byte == 0 {
                secret::fill(context, std::slice::from_mut(byte));
            }
        }
        let padded = [&[2][..], &padding, &[0], &message].concat();
        let clear = BigUint::from_bytes_be(&padded);
        let mut body = vec![SESSION_VERSION];
        body.extend_from_slice(&self.id);
        body.push(self.algorithm);
        if self.algorithm == algorithm::ELGAMAL {
            let [p, g, y] = &self.public[..] else { return Err(damaged()) };
            let mut exponent = vec![0; whole.saturating_sub(1).max(1)];
            secret::fill(context, &mut exponent);
            let exponent = BigUint::from_bytes_be(&exponent);
            put_number(&power(g, &exponent, p)?, &mut body);
            put_number(&(clear * power(y, &exponent, p)? % p), &mut body);
        } else {
            put_number(&power(&clear, &self.public[1], modulus)?, &mut body);
        }
        Ok(body)
    }

    /// The cipher and the session key of a packet that is for this key.
    pub(super) fn open(&self, body: &[u8]) -> Result<(u8, Vec<u8>)> {
        let [SESSION_VERSION, rest @ ..] = body else { return Err(corrupt()) };
        let (id, rest) = rest.split_first_chunk::<8>().ok_or_else(corrupt)?;
        if *id != self.id && *id != [0; 8] {
            return Err(wrong_key());
        }
        let (algorithm, mut rest) = rest.split_first().ok_or_else(corrupt)?;
        let modulus = &self.public[0];
        let secret = self.secret.as_ref().ok_or_else(wrong_key)?;
        let is_rsa = |algorithm| matches!(algorithm, algorithm::RSA | algorithm::RSA_ENCRYPT);
        let clear = match *algorithm {
            algorithm::ELGAMAL if self.algorithm == algorithm::ELGAMAL => {
                let (first, second) = (number(&mut rest)?, number(&mut rest)?);
                // What undoes a power of `x` is one of `p - 1 - x`.
                let undoing = (modulus - 1u8).max(secret.clone()) - secret;
                second * power(&first, &undoing, modulus)? % modulus
            }
            rsa if is_rsa(rsa) && is_rsa(self.algorithm) => {
                power(&number(&mut rest)?, secret, modulus)?
            }
            algorithm::RSA | algorithm::RSA_ENCRYPT | algorithm::ELGAMAL => return Err(wrong_key()),
            _ => return Err(unknown_algorithm()),
        };
        let clear = clear.to_bytes_be();
        let [2, padded @ ..] = &clear[..] else { return Err(wrong_key()) };
        let end = padded.iter().position(|byte| *byte == 0).filter(|end| *end >= 8);
        let message = &padded[end.ok_or_else(wrong_key)? + 1..];
        let [used, session @ .., _, _] = message else { return Err(wrong_key()) };
        if sum(session) != message[message.len() - 2..] {
            return Err(wrong_key());
        }
        match key_size(*used)? == session.len() {
            true => Ok((*used, session.to_vec())),
            false => Err(corrupt()),
        }
    }
}

/// The secret number that opens, of those behind a key's public ones.
fn secret_number(rest: &[u8], of: u8, password: Option<&[u8]>) -> Result<BigUint> {
    let (how, rest) = rest.split_first().ok_or_else(corrupt)?;
    let mut opened;
    let mut numbers = match *how {
        PLAIN => rest,
        HIDDEN_WITH_DIGEST | HIDDEN_WITH_SUM => {
            let password = password.ok_or_else(|| failed("Need password for secret key"))?;
            let (used, rest) = rest.split_first().ok_or_else(corrupt)?;
            let (specifier, rest) = Specifier::read(rest)?;
            let key = specifier.key(password, key_size(*used)?)?;
            let mut cfb = stream(*used, &key)?;
            // It begins with what stands before its first block.
            let size = if *used == cipher::TRIPLE_DES { 8 } else { 16 };
            let (start, hidden) = rest.split_at_checked(size).ok_or_else(corrupt)?;
            cfb.synchronize(start);
            opened = hidden.to_vec();
            cfb.decrypt(&mut opened);
            &opened[..]
        }
        _ => return Err(damaged()),
    };
    let all = numbers;
    let first = number(&mut numbers)?;
    let others = if matches!(of, algorithm::ELGAMAL | algorithm::DSA) { 0 } else { 3 };
    for _ in 0..others {
        number(&mut numbers)?;
    }
    let signed = &all[..all.len() - numbers.len()];
    let intact = match *how {
        HIDDEN_WITH_DIGEST => numbers.get(..20) == Some(&Sha1::digest(signed)[..]),
        _ => numbers.get(..2) == Some(&sum(signed)[..]),
    };
    if intact { Ok(first) } else { Err(damaged()) }
}

/// Whether packets with this tag stand beside keys, and say nothing about them that is of use here.
fn is_beside_keys(tag: u8) -> bool {
    matches!(
        tag,
        tag::SIGNATURE
            | tag::MARKER
            | tag::TRUST
            | tag::USER_ID
            | tag::USER_ATTRIBUTE
            | tag::PRIVATE
    )
}

fn several_keys() -> SqlError {
    failed("Several keys given - pgcrypto does not handle keyring")
}

fn no_key() -> SqlError {
    failed("No encryption key found")
}

/// By which key data can be read, or which key it is: its id, or a word.
pub(super) fn name(data: &[u8]) -> Result<String> {
    let mut packets = Packets::of(data);
    let (mut ids, mut main, mut by_password) = (Vec::new(), false, false);
    while let Some((tag, body)) = packets.next()? {
        match tag {
            tag::SECRET_KEY | tag::PUBLIC_KEY => {
                if std::mem::replace(&mut main, true) {
                    return Err(several_keys());
                }
            }
            tag::SECRET_SUBKEY | tag::PUBLIC_SUBKEY => {
                ids.extend(Key::read(&body, Half::Any)?.map(|key| key.id));
            }
            tag::PUBLIC_SESSION_KEY => {
                let [SESSION_VERSION, id @ ..] = &*body else { return Err(corrupt()) };
                ids.push(*id.first_chunk().ok_or_else(corrupt)?);
            }
            tag::SESSION_KEY => by_password = true,
            tag::ENCRYPTED | tag::ENCRYPTED_INTACT => break,
            _ if is_beside_keys(tag) => {}
            _ => return Err(corrupt()),
        }
    }
    match &ids[..] {
        [] if by_password => Ok("SYMKEY".to_owned()),
        [] => Err(no_key()),
        [_] if by_password => Err(corrupt()),
        [[0, 0, 0, 0, 0, 0, 0, 0]] => Ok("ANYKEY".to_owned()),
        [id] => Ok(id.iter().map(|byte| format!("{byte:02X}")).collect()),
        _ => Err(several_keys()),
    }
}
