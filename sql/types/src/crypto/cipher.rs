//! Raw encryption (`px.c`, `openssl.c`): a cipher by name, its mode and padding behind it: `aes-cbc/pad:pkcs`.
//!
//! Keys and initial vectors are filled up with zeros, and cut where they are too long. Nothing tells whether a key is the right one.

use super::{bytea, failed};
use crate::error::Result;
use crate::failure::invalid_parameter;
use crate::{CallContext, Datum};
use aes::cipher::{BlockDecrypt, BlockEncrypt, KeyInit, generic_array::GenericArray};
use aes::{Aes128, Aes192, Aes256};
use des::TdesEde3;

/// What a cipher's name says.
struct Named {
    triple: bool,
    chained: bool,
    padded: bool,
}

/// Reads a name; `doing` is told where OpenSSL does not have the cipher by default.
fn named(text: &str, doing: &str) -> Result<Named> {
    let none = || invalid_parameter(format!("Cannot use \"{text}\": No such cipher algorithm"));
    let lower = text.to_ascii_lowercase();
    let (cipher, options) = lower.split_once('/').unwrap_or((&lower, ""));
    let mut padded = true;
    for option in options.split('/').filter(|option| !option.is_empty()) {
        padded = match option.split_once(':') {
            Some(("pad", "pkcs")) => true,
            Some(("pad", "none")) => false,
            Some(("pad", _)) => return Err(none()),
            _ => return Err(invalid_parameter(format!("Cannot use \"{text}\": Unknown option"))),
        };
    }
    let (cipher, mode) = cipher.split_once('-').unwrap_or((cipher, "cbc"));
    let chained = match mode {
        "cbc" => true,
        "ecb" => false,
        _ => return Err(none()),
    };
    let triple = match cipher {
        "aes" | "rijndael" => false,
        "3des" | "des3" => true,
        "bf" | "blowfish" | "des" | "cast5" => {
            return Err(failed(&format!("{doing} error: Cipher cannot be initialized")));
        }
        _ => return Err(none()),
    };
    Ok(Named { triple, chained, padded })
}

/// One of the ciphers, with its key.
pub(super) enum Keyed {
    Aes128(Aes128),
    Aes192(Aes192),
    Aes256(Aes256),
    Triple(TdesEde3),
}

/// Encrypts or decrypts whole blocks where they stand.
fn over<C: BlockEncrypt + BlockDecrypt>(
    cipher: &C,
    (data, iv): (&mut [u8], &[u8]),
    (chained, encrypts): (bool, bool),
) {
    let size = C::block_size();
    let mut before = vec![0; size];
    let given = iv.len().min(size);
    before[..given].copy_from_slice(&iv[..given]);
    let mix = |block: &mut [u8], with: &[u8]| {
        if chained {
            block.iter_mut().zip(with).for_each(|(byte, other)| *byte ^= other);
        }
    };
    for block in data.chunks_exact_mut(size) {
        if encrypts {
            mix(block, &before);
            cipher.encrypt_block(GenericArray::from_mut_slice(block));
            before.copy_from_slice(block);
        } else {
            let own = block.to_vec();
            cipher.decrypt_block(GenericArray::from_mut_slice(block));
            mix(block, &before);
            before = own;
        }
    }
}

impl Keyed {
    /// Triple DES, or AES with as long a key as there has to be for this one.
    pub(super) fn new(triple: bool, key: &[u8]) -> Keyed {
        let size = match key.len() {
            _ if triple => 24,
            0..=16 => 16,
            17..=24 => 24,
            _ => 32,
        };
        let mut filled = [0; 32];
        let given = key.len().min(size);
        filled[..given].copy_from_slice(&key[..given]);
        let filled = &filled[..size];
        let fits = "the key has the size of the cipher's";
        match size {
            24 if triple => Keyed::Triple(TdesEde3::new_from_slice(filled).expect(fits)),
            16 => Keyed::Aes128(Aes128::new_from_slice(filled).expect(fits)),
            24 => Keyed::Aes192(Aes192::new_from_slice(filled).expect(fits)),
            _ => Keyed::Aes256(Aes256::new_from_slice(filled).expect(fits)),
        }
    }

    /// The size of a block, in bytes.
    pub(super) fn block(&self) -> usize {
        if matches!(self, Keyed::Triple(_)) { 8 } else { 16 }
    }

    /// Encrypts one block where it stands.
    pub(super) fn encrypt_block(&self, block: &mut [u8]) {
        match self {
            Keyed::Aes128(cipher) => cipher.encrypt_block(GenericArray::from_mut_slice(block)),
            Keyed::Aes192(cipher) => cipher.encrypt_block(GenericArray::from_mut_slice(block)),
            Keyed::Aes256(cipher) => cipher.encrypt_block(GenericArray::from_mut_slice(block)),
            Keyed::Triple(cipher) => cipher.encrypt_block(GenericArray::from_mut_slice(block)),
        }
    }

    fn run(&self, data: (&mut [u8], &[u8]), how: (bool, bool)) {
        match self {
            Keyed::Aes128(cipher) => over(cipher, data, how),
            Keyed::Aes192(cipher) => over(cipher, data, how),
            Keyed::Aes256(cipher) => over(cipher, data, how),
            Keyed::Triple(cipher) => over(cipher, data, how),
        }
    }
}

pub(super) fn encrypt<'a>(
    context: &CallContext<'a>,
    data: &[u8],
    (key, iv): (&[u8], &[u8]),
    name: &str,
) -> Result<Datum<'a>> {
    let named = named(name, "encrypt")?;
    let cipher = Keyed::new(named.triple, key);
    let (mut data, block) = (data.to_vec(), cipher.block());
    if named.padded {
        let padding = block - data.len() % block;
        data.resize(data.len() + padding, padding as u8);
    } else if !data.len().is_multiple_of(block) {
        return Err(failed("encrypt error: Encryption failed"));
    }
    cipher.run((&mut data, iv), (named.chained, true));
    Ok(bytea(context, &data))
}

pub(super) fn decrypt<'a>(
    context: &CallContext<'a>,
    data: &[u8],
    (key, iv): (&[u8], &[u8]),
    name: &str,
) -> Result<Datum<'a>> {
    let named = named(name, "decrypt")?;
    let cipher = Keyed::new(named.triple, key);
    let (mut data, block) = (data.to_vec(), cipher.block());
    let wrong = || failed("decrypt error: Decryption failed");
    if !data.len().is_multiple_of(block) || named.padded && data.is_empty() {
        return Err(wrong());
    }
    cipher.run((&mut data, iv), (named.chained, false));
    if named.padded {
        let padding = usize::from(data.last().copied().unwrap_or_default());
        let start = data.len().checked_sub(padding).filter(|_| (1..=block).contains(&padding));
        let start = start.ok_or_else(wrong)?;
        if data[start..].iter().any(|byte| usize::from(*byte) != padding) {
            return Err(wrong());
        }
        data.truncate(start);
    }
    Ok(bytea(context, &data))
}
