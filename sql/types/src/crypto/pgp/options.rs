//! What a call says of a message: `cipher-algo=aes256, compress-algo=1` (PostgreSQL 15 manual, F.28.3.7; `parse_args` of
//! `pgp-pgsql.c`).

use super::{failed, illegal, unsupported_cipher, unsupported_digest};
use crate::error::Result;

/// A cipher, by its number of RFC 4880, section 9.2.
pub(super) mod cipher {
    pub const TRIPLE_DES: u8 = 2;
    pub const CAST5: u8 = 3;
    pub const BLOWFISH: u8 = 4;
    pub const AES128: u8 = 7;
    pub const AES192: u8 = 8;
    pub const AES256: u8 = 9;
    pub const TWOFISH: u8 = 10;
}

/// A digest, by its number of section 9.4.
pub(super) mod digest {
    pub const MD5: u8 = 1;
    pub const SHA1: u8 = 2;
    pub const RIPEMD160: u8 = 3;
    pub const SHA256: u8 = 8;
    pub const SHA384: u8 = 9;
    pub const SHA512: u8 = 10;
}

/// How a password becomes a key (section 3.7.1).
pub(super) mod mode {
    pub const SIMPLE: u8 = 0;
    pub const SALTED: u8 = 1;
    pub const ITERATED: u8 = 3;
}

/// The bounds of `s2k-count`.
const COUNTS: std::ops::RangeInclusive<i32> = 1024..=65_011_712;

/// What is to be, or what was found to be.
#[derive(Clone, Debug)]
pub(super) struct Options {
    pub cipher: u8,
    /// The cipher of the session key; none: `cipher`.
    pub key_cipher: Option<u8>,
    pub mode: u8,
    /// How many bytes are hashed; none: some.
    pub count: Option<i32>,
    pub digest: u8,
    pub compression: u8,
    pub level: u32,
    pub session_key: bool,
    pub without_mdc: bool,
    pub crlf: bool,
    pub unicode: bool,
    /// What a message is expected to be: a name and a number, in the order in which they are looked at.
    pub expected: Vec<(&'static str, i32)>,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            cipher: cipher::AES128,
            key_cipher: None,
            mode: mode::ITERATED,
            count: None,
            digest: digest::SHA1,
            compression: 0,
            level: 6,
            session_key: false,
            without_mdc: false,
            crlf: false,
            unicode: false,
            expected: Vec::new(),
        }
    }
}

fn cipher_of(name: &str) -> Result<u8> {
    Ok(match name {
        "3des" => cipher::TRIPLE_DES,
        "cast5" => cipher::CAST5,
        "bf" | "blowfish" => cipher::BLOWFISH,
        "aes" | "aes128" => cipher::AES128,
        "aes192" => cipher::AES192,
        "aes256" => cipher::AES256,
        "twofish" => cipher::TWOFISH,
        _ => return Err(unsupported_cipher()),
    })
}

fn digest_of(name: &str) -> Result<u8> {
    Ok(match name {
        "md5" => digest::MD5,
        "sha1" | "sha-1" => digest::SHA1,
        "ripemd160" => digest::RIPEMD160,
        "sha256" => digest::SHA256,
        "sha384" => digest::SHA384,
        "sha512" => digest::SHA512,
        _ => return Err(unsupported_digest()),
    })
}

/// The number that a text begins with (`atoi`).
fn number(text: &str) -> i32 {
    let sign = text.starts_with(['-', '+']);
    let digits = text[usize::from(sign)..].bytes().take_while(u8::is_ascii_digit);
    let value = digits
        .fold(0i64, |value, digit| (value * 10 + i64::from(digit - b'0')).min(i64::from(i32::MAX)));
    let value = if text.starts_with('-') { -value } else { value };
    i32::try_from(value).unwrap_or(i32::MAX)
}

impl Options {
    /// Reads `key = value, key = value`.
    ///
    /// # Errors
    /// 39000, as PostgreSQL has it.
    pub(super) fn read(text: &str) -> Result<Options> {
        let mut options = Options::default();
        let lower = text.to_ascii_lowercase();
        let space = |c: char| matches!(c, ' ' | '\t' | '\n');
        let mut rest = &lower[..];
        while !rest.is_empty() {
            let mut words = [""; 2];
            for (word, (ends, end)) in words.iter_mut().zip([('=', "="), (',', ",")]) {
                rest = rest.trim_start_matches(space);
                let length =
                    rest.find(|c| space(c) || matches!(c, '=' | ',')).unwrap_or(rest.len());
                (*word, rest) = rest.split_at(length);
                rest = rest.trim_start_matches(space);
                match rest.strip_prefix(end) {
                    Some(behind) => rest = behind,
                    None if ends == ',' && rest.is_empty() => {}
                    None => return Err(illegal()),
                }
            }
            let [key, value] = words;
            if key.is_empty() || value.is_empty() {
                return Err(illegal());
            }
            options.set(key, value)?;
        }
        Ok(options)
    }

    fn set(&mut self, key: &str, value: &str) -> Result<()> {
        let given = number(value);
        let (small, is) = (u8::try_from(given), given != 0);
        let within = |fits: bool| if fits { Ok(()) } else { Err(illegal()) };
        match key {
            "cipher-algo" => self.cipher = cipher_of(value)?,
            "disable-mdc" => self.without_mdc = is,
            "sess-key" => self.session_key = is,
            "s2k-mode" => {
                let modes = [mode::SIMPLE, mode::SALTED, mode::ITERATED];
                let known = small.ok().filter(|mode| modes.contains(mode));
                self.mode = known.ok_or_else(illegal)?;
            }
            "s2k-count" => {
                within(self.mode == mode::ITERATED && COUNTS.contains(&given))?;
                self.count = Some(given);
            }
            "s2k-digest-algo" => self.digest = digest_of(value)?,
            "s2k-cipher-algo" => self.key_cipher = Some(cipher_of(value)?),
            "compress-algo" => {
                let known = small.ok().filter(|algorithm| *algorithm <= 3);
                self.compression = known.ok_or_else(illegal)?;
            }
            "compress-level" => {
                within((0..=9).contains(&given))?;
                self.level = given.unsigned_abs();
            }
            "convert-crlf" => self.crlf = is,
            "unicode-mode" => self.unicode = is,
            "debug" => {}
            "expect-cipher-algo" => self.expect("cipher_algo", cipher_of(value)?.into()),
            "expect-s2k-mode" => self.expect("s2k_mode", given),
            "expect-s2k-count" => self.expect("s2k_count", given),
            "expect-s2k-digest-algo" => self.expect("s2k_digest_algo", digest_of(value)?.into()),
            "expect-sess-key" => self.expect("use_sess_key", given),
            "expect-s2k-cipher-algo" => self.expect("s2k_cipher_algo", cipher_of(value)?.into()),
            "expect-disable-mdc" => self.expect("disable_mdc", given),
            "expect-compress-algo" => self.expect("compress_algo", given),
            "expect-unicode-mode" => self.expect("unicode_mode", given),
            _ => return Err(illegal()),
        }
        Ok(())
    }

    fn expect(&mut self, name: &'static str, value: i32) {
        self.expected.retain(|(known, _)| *known != name);
        self.expected.push((name, value));
    }

    /// Where a message is other than it was expected to be: what, what was expected and what it is.
    pub(super) fn unexpected(&self, found: &Options) -> Vec<(&'static str, i32, i32)> {
        let of_session_key = found.session_key.then(|| {
            let cipher = found.key_cipher.unwrap_or(found.cipher);
            ("s2k_cipher_algo", i32::from(cipher))
        });
        let all = [
            Some(("cipher_algo", i32::from(found.cipher))),
            Some(("s2k_mode", i32::from(found.mode))),
            Some(("s2k_count", found.count.unwrap_or(-1))),
            Some(("s2k_digest_algo", i32::from(found.digest))),
            Some(("use_sess_key", i32::from(found.session_key))),
            of_session_key,
            Some(("disable_mdc", i32::from(found.without_mdc))),
            Some(("compress_algo", i32::from(found.compression))),
            Some(("unicode_mode", i32::from(found.unicode))),
        ];
        let wanted = |name| self.expected.iter().find(|(known, _)| *known == name);
        let compared = all.into_iter().flatten().filter_map(|(name, is)| {
            let (_, expected) = wanted(name)?;
            (*expected >= 0 && *expected != is).then_some((name, *expected, is))
        });
        compared.collect()
    }
}

/// 39000 for ciphers that OpenSSL 3 does not have by default, and whose keys PostgreSQL cannot set up.
pub(super) fn demand_cipher(cipher: u8, doing: &str) -> Result<()> {
    if matches!(cipher, cipher::CAST5 | cipher::BLOWFISH) {
        return Err(failed(&format!("{doing} error: Cipher cannot be initialized")));
    }
    Ok(())
}
