//! `crypt` and `gen_salt`: hashes of passwords by Blowfish (Provos and Mazières, *A Future-Adaptable Password Scheme*, USENIX
//! 1999) and by MD5 (FreeBSD's). Those by DES, which a salt without a sign asks for, are not there.

use crate::error::{Result, SqlError};
use crate::failure::invalid_parameter;
use crate::{CallContext, Datum, account, secret};
use blowfish::Blowfish;
use md5::{Digest, Md5};

/// The alphabet of MD5's hashes.
const LETTERS: &[u8; 64] = b"./0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
/// The alphabet of Blowfish's.
const BLOWFISH_LETTERS: &[u8; 64] =
    b"./ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
/// The most bytes of a password that Blowfish reads.
const BLOWFISH_KEY: usize = 72;

fn unsupported() -> SqlError {
    SqlError::unsupported("a password's hash by DES is")
}

fn no_salt() -> SqlError {
    invalid_parameter("invalid salt")
}

pub(super) fn crypt<'a>(context: &CallContext<'a>, a: &[Datum<'a>]) -> Result<Datum<'a>> {
    let (password, salt) = (a[0].text().as_bytes(), a[1].text());
    let hash = if salt.starts_with("$1$") {
        by_md5(password, salt)
    } else if salt.starts_with("$2x$") && !password.is_ascii() {
        return Err(SqlError::unsupported("the sign of bytes in hashes of $2x$ is"));
    } else if salt.starts_with("$2a$") || salt.starts_with("$2x$") {
        by_blowfish(password, salt)?
    } else if salt.len() < 2 {
        return Err(no_salt());
    } else {
        return Err(unsupported());
    };
    Ok(Datum::Text(account::copied_text(context.arena, &hash)))
}

pub(super) fn salt<'a>(context: &CallContext<'a>, kind: &str, rounds: i32) -> Result<Datum<'a>> {
    let wrong = || invalid_parameter("gen_salt: Incorrect number of rounds");
    let mut random = [0; 16];
    secret::fill(context, &mut random);
    let salt = match kind.to_ascii_lowercase().as_str() {
        "bf" => {
            let rounds = if rounds == 0 { 6 } else { rounds };
            if !(4..=31).contains(&rounds) {
                return Err(wrong());
            }
            let mut text = format!("$2a${rounds:02}$");
            write_blowfish(&random, &mut text);
            text
        }
        "md5" if matches!(rounds, 0 | 1000) => {
            let mut text = "$1$".to_owned();
            let letters = random[..8].iter().map(|byte| LETTERS[usize::from(byte & 0x3f)]);
            text.extend(letters.map(char::from));
            text
        }
        "md5" => return Err(wrong()),
        "des" | "xdes" => return Err(unsupported()),
        _ => return Err(invalid_parameter("gen_salt: Unknown salt algorithm")),
    };
    Ok(Datum::Text(account::copied_text(context.arena, &salt)))
}

/// Appends bytes in Blowfish's own base 64: the first bits first, no padding.
fn write_blowfish(bytes: &[u8], out: &mut String) {
    for piece in bytes.chunks(3) {
        let word = piece.iter().fold(0, |word, byte| word << 8 | u32::from(*byte));
        let word = word << (8 * (3 - piece.len()));
        for at in 0..=piece.len() {
            let letter = word >> (18 - 6 * at) & 0x3f;
            out.push(char::from(BLOWFISH_LETTERS[letter as usize]));
        }
    }
}

/// The 16 bytes that 22 letters of Blowfish's say.
fn read_blowfish(letters: &[u8]) -> Option<[u8; 16]> {
    let mut bytes = [0; 16];
    let mut to = bytes.iter_mut();
    let (mut word, mut bits) = (0, 0);
    for letter in letters {
        let value = BLOWFISH_LETTERS.iter().position(|known| known == letter)?;
        word = word << 6 | value as u32;
        bits += 6;
        if bits >= 8
            && let Some(byte) = to.next()
        {
            bits -= 8;
            *byte = (word >> bits) as u8;
        }
    }
    Some(bytes)
}

fn by_blowfish(password: &[u8], text: &str) -> Result<String> {
    let settings = text.as_bytes().get(..29).filter(|found| found[6] == b'$');
    let settings = settings.ok_or_else(no_salt)?;
    let cost = text.get(4..6).and_then(|cost| cost.parse::<u32>().ok());
    let cost = cost.filter(|cost| (4..=31).contains(cost)).ok_or_else(no_salt)?;
    let salt = read_blowfish(&settings[7..]).ok_or_else(no_salt)?;
    // The zero behind the password counts, and what does not fit is not read.
    let mut key = password.to_vec();
    key.push(0);
    key.truncate(BLOWFISH_KEY);
    let mut state: Blowfish = Blowfish::bc_init_state();
    state.salted_expand_key(&salt, &key);
    for round in 0..1u64 << cost {
        if round % 64 == 0 {
            account::poll()?;
        }
        state.bc_expand_key(&key);
        state.bc_expand_key(&salt);
    }
    let mut words: [u32; 6] = std::array::from_fn(|at| {
        let word = &b"OrpheanBeholderScryDoubt"[4 * at..4 * at + 4];
        u32::from_be_bytes([word[0], word[1], word[2], word[3]])
    });
    for pair in words.chunks_exact_mut(2) {
        for _ in 0..64 {
            let next = state.bc_encrypt([pair[0], pair[1]]);
            pair.copy_from_slice(&next);
        }
    }
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_be_bytes()).collect();
    // Of the salt's last letter only two bits count.
    let mut hash = text[..7].to_owned();
    write_blowfish(&salt, &mut hash);
    write_blowfish(&bytes[..23], &mut hash);
    Ok(hash)
}

fn by_md5(password: &[u8], text: &str) -> String {
    let salt = &text.as_bytes()[3..];
    let end = salt.iter().position(|byte| *byte == b'$').unwrap_or(salt.len()).min(8);
    let salt = &salt[..end];
    let alternate = Md5::new().chain_update(password).chain_update(salt).chain_update(password);
    let alternate = alternate.finalize();
    let mut first = Md5::new().chain_update(password).chain_update(b"$1$").chain_update(salt);
    for piece in password.chunks(16) {
        first.update(&alternate[..piece.len()]);
    }
    let mut length = password.len();
    while length != 0 {
        match length & 1 {
            1 => first.update([0]),
            _ => first.update(&password[..1]),
        }
        length >>= 1;
    }
    let mut hash = first.finalize();
    for round in 0..1000 {
        let mut next = Md5::new();
        if round & 1 == 1 {
            next.update(password)
        } else {
            next.update(hash)
        }
        if round % 3 != 0 {
            next.update(salt);
        }
        if round % 7 != 0 {
            next.update(password);
        }
        if round & 1 == 1 {
            next.update(hash)
        } else {
            next.update(password)
        }
        hash = next.finalize();
    }
    let mut out = format!("$1${}$", String::from_utf8_lossy(salt));
    let mut write = |mut word: u32, letters: u32| {
        for _ in 0..letters {
            out.push(char::from(LETTERS[(word & 0x3f) as usize]));
            word >>= 6;
        }
    };
    for (a, b, c) in [(0, 6, 12), (1, 7, 13), (2, 8, 14), (3, 9, 15), (4, 10, 5)] {
        write(u32::from(hash[a]) << 16 | u32::from(hash[b]) << 8 | u32::from(hash[c]), 4);
    }
    write(u32::from(hash[11]), 2);
    out
}
