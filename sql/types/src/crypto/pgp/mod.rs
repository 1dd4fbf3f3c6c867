//! Messages of OpenPGP (RFC 4880) that a password or a public key encrypts, as `pgcrypto` writes and reads them (PostgreSQL 15
//! manual, F.28.3).
//!
//! A message is a packet that says how the password becomes a key, or that holds one which the public key has encrypted, and one
//! that is encrypted by it and holds the data, compressed or not, with a code that tells whether it is intact. What is wrong with one is told in the same words whatever it is: who
//! guesses passwords learns nothing from them.

mod armor;
mod cfb;
mod options;
mod packet;
mod public_key;
#[cfg(test)]
mod tests;

pub(super) use armor::{armor, dearmor, headers as armor_headers};

use super::cipher::Keyed;
use super::{bytea, failed};
use crate::binary_form::check_text;
use crate::error::{Notice, Result, SqlError};
use crate::{CallContext, Datum, account, secret};
use cfb::{Cfb, MAX_BLOCK};
use flate2::{Compress, Compression, Decompress, FlushCompress, FlushDecompress, Status};
use md5::{Digest, Md5};
use options::{Options, cipher, demand_cipher, digest, mode};
use packet::{Body, Packets, tag};
use public_key::{Half, Key};
use ripemd::Ripemd160;
use sha1::Sha1;
use sha2::{Sha256, Sha384, Sha512};

/// The version of a packet with a key.
const KEY_VERSION: u8 = 4;
/// The version of a packet that is encrypted with a code.
const INTACT_VERSION: u8 = 1;
const SALT: usize = 8;
/// The bytes of the code of an intact message, with the tag and the length before them.
const CODE: usize = 22;
const CODE_HEAD: [u8; 2] = [0xC0 | tag::MODIFICATION_CODE, 20];
/// The last counts that are chosen by chance where none is asked for: 65,536 bytes and more.
const COUNT_FROM: u8 = 96;
const COUNT_SPREAD: u8 = 0x1F;
/// The algorithms of section 9.3.
const ZIP: u8 = 1;
const ZLIB: u8 = 2;

fn corrupt() -> SqlError {
    failed("Wrong key or corrupt data")
}

fn illegal() -> SqlError {
    failed("Illegal argument to function")
}

fn unsupported_cipher() -> SqlError {
    failed("Unsupported cipher algorithm")
}

fn unsupported_digest() -> SqlError {
    failed("Unsupported digest algorithm")
}

fn unsupported_compression() -> SqlError {
    failed("Unsupported compression algorithm")
}

/// The size of a cipher's key, in bytes.
fn key_size(of: u8) -> Result<usize> {
    Ok(match of {
        cipher::CAST5 | cipher::BLOWFISH | cipher::AES128 => 16,
        cipher::TRIPLE_DES | cipher::AES192 => 24,
        cipher::AES256 => 32,
        _ => return Err(unsupported_cipher()),
    })
}

/// A stream by a cipher.
fn stream(of: u8, key: &[u8]) -> Result<Cfb> {
    key_size(of)?;
    demand_cipher(of, "encrypt")?;
    Ok(Cfb::new(Keyed::new(of == cipher::TRIPLE_DES, key)))
}

/// How many bytes a coded count is (section 3.7.1.3).
fn counted(code: u8) -> usize {
    (16 + usize::from(code & 15)) << (usize::from(code >> 4) + 6)
}

/// How a password becomes a key: a specifier of section 3.7.1.
struct Specifier {
    mode: u8,
    digest: u8,
    salt: [u8; SALT],
    count: u8,
}

impl Specifier {
    /// The bytes of a message that say it.
    fn put(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&[self.mode, self.digest]);
        if self.mode != mode::SIMPLE {
            out.extend_from_slice(&self.salt);
        }
        if self.mode == mode::ITERATED {
            out.push(self.count);
        }
    }

    /// Reads it; what is behind it.
    fn read(bytes: &[u8]) -> Result<(Specifier, &[u8])> {
        let [mode, digest, rest @ ..] = bytes else { return Err(corrupt()) };
        let mut read = Specifier { mode: *mode, digest: *digest, salt: [0; SALT], count: 0 };
        let mut rest = rest;
        match read.mode {
            mode::SIMPLE => return Ok((read, rest)),
            mode::SALTED | mode::ITERATED => {}
            _ => return Err(failed("Bad S2K mode")),
        }
        let salt;
        (salt, rest) = rest.split_first_chunk().ok_or_else(corrupt)?;
        read.salt = *salt;
        if read.mode == mode::ITERATED {
            let count;
            (count, rest) = rest.split_first().ok_or_else(corrupt)?;
            read.count = *count;
        }
        Ok((read, rest))
    }

    /// The key of this size that a password becomes.
    fn key(&self, password: &[u8], size: usize) -> Result<Vec<u8>> {
        match self.digest {
            digest::MD5 => Ok(self.key_by::<Md5>(password, size)),
            digest::SHA1 => Ok(self.key_by::<Sha1>(password, size)),
            digest::RIPEMD160 => Ok(self.key_by::<Ripemd160>(password, size)),
            digest::SHA256 => Ok(self.key_by::<Sha256>(password, size)),
            digest::SHA384 => Ok(self.key_by::<Sha384>(password, size)),
            digest::SHA512 => Ok(self.key_by::<Sha512>(password, size)),
            _ => Err(corrupt()),
        }
    }

    fn key_by<D: Digest>(&self, password: &[u8], size: usize) -> Vec<u8> {
        let salt = if self.mode == mode::SIMPLE { &[][..] } else { &self.salt };
        let once = salt.len() + password.len();
        let total = if self.mode == mode::ITERATED { counted(self.count).max(once) } else { once };
        let mut key = Vec::with_capacity(size);
        // Each digest behind the first begins with one zero more.
        for zeros in 0.. {
            let mut state = D::new();
            (0..zeros).for_each(|_| state.update([0]));
            let mut left = total;
            while left > 0 {
                for part in [salt, password] {
                    let taken = part.len().min(left);
                    state.update(&part[..taken]);
                    left -= taken;
                }
                account::step();
            }
            key.extend_from_slice(&state.finalize());
            if key.len() >= size {
                break;
            }
        }
        key.truncate(size);
        key
    }
}

/// The options of a call.
fn told(options: Option<&Datum<'_>>) -> Result<Options> {
    options.map_or_else(|| Ok(Options::default()), |options| Options::read(options.text()))
}

/// A password, which may not be empty.
fn password<'a>(datum: &Datum<'a>) -> Result<&'a [u8]> {
    let password = datum.text().as_bytes();
    if password.is_empty() { Err(illegal()) } else { Ok(password) }
}

/// Who can read a message.
#[derive(Clone, Copy)]
enum Reader<'k> {
    /// Who knows a password.
    Password(&'k [u8]),
    /// Who has the other half of a key.
    Key(&'k Key),
}

/// `pgp_sym_encrypt` of a text, `pgp_sym_encrypt_bytea` of bytes.
pub(super) fn encrypt<'a>(
    context: &CallContext<'a>,
    a: &[Datum<'a>],
    text: Option<&str>,
) -> Result<Datum<'a>> {
    let options = told(a.get(2))?;
    let reader = Reader::Password(password(&a[1])?);
    encrypted(context, reader, &options, (&a[0], text))
}

/// `pgp_pub_encrypt` of a text, `pgp_pub_encrypt_bytea` of bytes.
pub(super) fn encrypt_for_key<'a>(
    context: &CallContext<'a>,
    a: &[Datum<'a>],
    text: Option<&str>,
) -> Result<Datum<'a>> {
    let options = told(a.get(2))?;
    let key = Key::of_ring(a[1].bytea(), Half::Public)?;
    encrypted(context, Reader::Key(&key), &options, (&a[0], text))
}

fn encrypted<'a>(
    context: &CallContext<'a>,
    reader: Reader<'_>,
    options: &Options,
    (datum, text): (&Datum<'a>, Option<&str>),
) -> Result<Datum<'a>> {
    let data = match text {
        Some(text) if options.crlf => with_returns(text.as_bytes()),
        Some(text) => text.as_bytes().to_vec(),
        None => datum.bytea().to_vec(),
    };
    account::check()?;
    let kind = match text {
        Some(_) if options.unicode => b'u',
        Some(_) => b't',
        None => b'b',
    };
    Ok(bytea(context, &message(context, reader, options, (kind, &data))?))
}

/// The packet from which the key of a message can be had, and that key with its cipher.
fn key_packet(
    context: &CallContext<'_>,
    reader: Reader<'_>,
    options: &Options,
) -> Result<(Vec<u8>, u8, Vec<u8>)> {
    let mut out = Vec::new();
    let session = || {
        let mut session = vec![0; key_size(options.cipher)?];
        secret::fill(context, &mut session);
        Ok::<_, SqlError>(session)
    };
    let password = match reader {
        Reader::Password(password) => password,
        Reader::Key(key) => {
            let session = session()?;
            let body = key.seal(context, (options.cipher, &session))?;
            packet::put(tag::PUBLIC_SESSION_KEY, &body, &mut out);
            return Ok((out, options.cipher, session));
        }
    };
    let mut chance = [0; SALT + 1];
    secret::fill(context, &mut chance);
    let [salt @ .., count] = chance;
    let chosen = COUNT_FROM + (count & COUNT_SPREAD);
    let count = match options.count {
        Some(least) => (0..=u8::MAX).find(|code| counted(*code) >= least.unsigned_abs() as usize),
        None => Some(chosen),
    };
    let (mode, count) = (options.mode, count.unwrap_or(u8::MAX));
    let specifier = Specifier { mode, digest: options.digest, salt, count };
    let key_cipher = options.key_cipher.unwrap_or(options.cipher);
    let key = specifier.key(password, key_size(key_cipher)?)?;
    let mut body = vec![KEY_VERSION, key_cipher];
    specifier.put(&mut body);
    let mut made = (key_cipher, key);
    if options.session_key {
        let session = session()?;
        let mut sealed = [&[options.cipher][..], &session].concat();
        stream(key_cipher, &made.1)?.encrypt(&mut sealed);
        body.extend_from_slice(&sealed);
        made = (options.cipher, session);
    }
    packet::put(tag::SESSION_KEY, &body, &mut out);
    Ok((out, made.0, made.1))
}

/// A message with this data of a kind.
fn message(
    context: &CallContext<'_>,
    reader: Reader<'_>,
    options: &Options,
    (kind, data): (u8, &[u8]),
) -> Result<Vec<u8>> {
    let (mut out, used, key) = key_packet(context, reader, options)?;
    let mut cfb = stream(used, &key)?;

    // No name, and no date.
    let literal = [&[kind, 0, 0, 0, 0, 0][..], data].concat();
    let mut inner = Vec::new();
    packet::put_in_parts(tag::LITERAL, &literal, &mut inner);
    drop(literal);
    if options.compression != 0 {
        let compressed = compressed(&inner, options)?;
        inner.clear();
        packet::put_in_parts(tag::COMPRESSED, &compressed, &mut inner);
    }
    account::check()?;

    let block = cfb.block();
    let mut prefix = [0; MAX_BLOCK + 2];
    secret::fill(context, &mut prefix[..block]);
    prefix.copy_within(block - 2..block, block);
    let prefix = &prefix[..block + 2];
    let mut body = Vec::with_capacity(1 + prefix.len() + inner.len() + CODE);
    if options.without_mdc {
        body.extend_from_slice(prefix);
        cfb.encrypt(&mut body);
        cfb.synchronize(&body);
        let start = body.len();
        body.extend_from_slice(&inner);
        encrypt_stretches(&mut cfb, &mut body[start..]);
        packet::put_in_parts(tag::ENCRYPTED, &body, &mut out);
    } else {
        body.push(INTACT_VERSION);
        body.extend_from_slice(prefix);
        body.extend_from_slice(&inner);
        body.extend_from_slice(&CODE_HEAD);
        let code = digest_of_stretches(&body[1..]);
        body.extend_from_slice(&code);
        encrypt_stretches(&mut cfb, &mut body[1..]);
        packet::put_in_parts(tag::ENCRYPTED_INTACT, &body, &mut out);
    }
    account::check()?;
    Ok(out)
}

/// How many bytes are worked on before a statement is asked whether it is to stop.
const STRETCH: usize = 1 << 16;

fn encrypt_stretches(cfb: &mut Cfb, data: &mut [u8]) {
    for stretch in data.chunks_mut(STRETCH) {
        cfb.encrypt(stretch);
        account::insist();
    }
}

fn digest_of_stretches(data: &[u8]) -> Vec<u8> {
    let mut state = Sha1::new();
    account::byte_stretches(data).for_each(|stretch| state.update(stretch));
    state.finalize().to_vec()
}

/// With a carriage return before each line's end.
fn with_returns(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    for byte in account::byte_stretches(text).flatten() {
        if *byte == b'\n' {
            out.push(b'\r');
        }
        out.push(*byte);
    }
    out
}

/// Without the carriage returns before lines' ends.
fn without_returns(text: &[u8]) -> Vec<u8> {
    let followed = text.iter().skip(1).map(Some).chain([None]);
    let kept =
        text.iter().zip(followed).filter(|(byte, next)| (**byte, *next) != (b'\r', Some(&b'\n')));
    kept.map(|(byte, _)| *byte).collect()
}

/// Packets, compressed: the algorithm, and what it makes of them.
fn compressed(data: &[u8], options: &Options) -> Result<Vec<u8>> {
    let zlib = match options.compression {
        ZIP => false,
        ZLIB => true,
        _ => return Err(unsupported_compression()),
    };
    let mut state = Compress::new(Compression::new(options.level), zlib);
    let mut out = vec![options.compression];
    let mut rest = data;
    loop {
        out.reserve(STRETCH);
        let before = state.total_in();
        let flush = if rest.len() > STRETCH { FlushCompress::None } else { FlushCompress::Finish };
        let given = &rest[..rest.len().min(STRETCH)];
        let status =
            state.compress_vec(given, &mut out, flush).map_err(|_| failed("Compression error"))?;
        rest = &rest[(state.total_in() - before) as usize..];
        if status == Status::StreamEnd {
            return Ok(out);
        }
        account::poll()?;
    }
}

/// What was compressed.
fn decompressed(body: &[u8]) -> Result<Vec<u8>> {
    let (algorithm, data) = body.split_first().ok_or_else(corrupt)?;
    let zlib = match *algorithm {
        0 => return Ok(data.to_vec()),
        ZIP => false,
        ZLIB => true,
        _ => return Err(unsupported_compression()),
    };
    let mut state = Decompress::new(zlib);
    let (mut out, mut rest) = (Vec::new(), data);
    loop {
        out.reserve(STRETCH);
        account::poll()?;
        let (read, written) = (state.total_in(), state.total_out());
        let status =
            state.decompress_vec(rest, &mut out, FlushDecompress::None).map_err(|_| corrupt())?;
        rest = &rest[(state.total_in() - read) as usize..];
        if status == Status::StreamEnd {
            return Ok(out);
        }
        if state.total_in() == read && state.total_out() == written {
            return Err(corrupt());
        }
    }
}

/// `pgp_sym_decrypt`, to a text, and `pgp_sym_decrypt_bytea`.
pub(super) fn decrypt<'a>(
    context: &CallContext<'a>,
    a: &[Datum<'a>],
    to_text: bool,
) -> Result<Datum<'a>> {
    let options = told(a.get(2))?;
    let reader = Reader::Password(password(&a[1])?);
    decrypted(context, (a[0].bytea(), reader), &options, to_text)
}

/// `pgp_pub_decrypt`, to a text, and `pgp_pub_decrypt_bytea`.
pub(super) fn decrypt_by_key<'a>(
    context: &CallContext<'a>,
    a: &[Datum<'a>],
    to_text: bool,
) -> Result<Datum<'a>> {
    let options = told(a.get(3))?;
    let password = a.get(2).map(|password| password.text().as_bytes());
    let key = Key::of_ring(a[1].bytea(), Half::Secret(password))?;
    decrypted(context, (a[0].bytea(), Reader::Key(&key)), &options, to_text)
}

fn decrypted<'a>(
    context: &CallContext<'a>,
    (message, reader): (&[u8], Reader<'_>),
    options: &Options,
    to_text: bool,
) -> Result<Datum<'a>> {
    let mut is = Options::default();
    let opened = opened(message, reader, &mut is);
    // What can be said of it is said, whether it is good or not.
    for (name, expected, got) in options.unexpected(&is) {
        let message = format!("pgp_decrypt: unexpected {name}: expected {expected} got {got}");
        context.notices.borrow_mut().push(Notice::notice(message));
    }
    let (kind, data) = opened?;
    if !to_text {
        return Ok(bytea(context, &data));
    }
    if kind == b'b' {
        return Err(failed("Not text data"));
    }
    let data = if options.crlf { without_returns(&data) } else { data };
    let text = check_text(&data)?;
    Ok(Datum::Text(account::copied_text(context.arena, text)))
}

/// The data of a message, and its kind; `is` becomes what it is.
fn opened(message: &[u8], reader: Reader<'_>, is: &mut Options) -> Result<(u8, Vec<u8>)> {
    let mut packets = Packets::of(message);
    let (mut key, mut found) = (None, None);
    while let Some((tag, body)) = packets.next()? {
        match tag {
            tag::SESSION_KEY | tag::PUBLIC_SESSION_KEY if key.is_some() => {}
            tag::SESSION_KEY => {
                let Reader::Password(password) = reader else { return Err(corrupt()) };
                key = Some(session_key(&body, password, is)?);
            }
            tag::PUBLIC_SESSION_KEY => {
                let Reader::Key(own) = reader else { return Err(failed("pgcrypto bug")) };
                let (used, session) = own.open(&body)?;
                is.cipher = used;
                key = Some((used, session));
            }
            tag::MARKER => {}
            tag::ENCRYPTED | tag::ENCRYPTED_INTACT if found.is_none() => {
                let (used, key) = key.as_ref().ok_or_else(corrupt)?;
                is.without_mdc = tag == tag::ENCRYPTED;
                found = Some(content(&body, stream(*used, key)?, is)?);
            }
            _ => return Err(corrupt()),
        }
    }
    found.ok_or_else(corrupt)
}

/// The cipher and the key that a packet leads to.
fn session_key(body: &[u8], password: &[u8], is: &mut Options) -> Result<(u8, Vec<u8>)> {
    let [KEY_VERSION, used, rest @ ..] = body else { return Err(corrupt()) };
    let (specifier, sealed) = Specifier::read(rest)?;
    (is.cipher, is.mode, is.digest) = (*used, specifier.mode, specifier.digest);
    is.count = Some(counted(specifier.count) as i32);
    let key = specifier.key(password, key_size(*used)?)?;
    if sealed.is_empty() {
        return Ok((*used, key));
    }
    (is.session_key, is.key_cipher) = (true, Some(*used));
    let mut opened = sealed.to_vec();
    stream(*used, &key)?.decrypt(&mut opened);
    let session = opened.split_off(1);
    // A wrong password opens it to anything.
    match key_size(opened[0]) {
        Ok(size) if size == session.len() => {}
        _ => return Err(corrupt()),
    }
    is.cipher = opened[0];
    Ok((opened[0], session))
}

/// The data of an encrypted packet, and its kind.
fn content(body: &[u8], mut cfb: Cfb, is: &mut Options) -> Result<(u8, Vec<u8>)> {
    let (mut data, prefix) = (body.to_vec(), cfb.block() + 2);
    account::check()?;
    if !is.without_mdc {
        if data.first() != Some(&INTACT_VERSION) {
            return Err(corrupt());
        }
        data.remove(0);
    }
    if data.len() < prefix {
        return Err(corrupt());
    }
    let last = data[2..prefix].to_vec();
    cfb.decrypt(&mut data[..prefix]);
    if is.without_mdc {
        cfb.synchronize(&last);
    }
    for stretch in data[prefix..].chunks_mut(STRETCH) {
        cfb.decrypt(stretch);
        account::insist();
    }
    if data[prefix - 4..prefix - 2] != data[prefix - 2..prefix] {
        return Err(corrupt());
    }
    let mut end = data.len();
    if !is.without_mdc {
        end = end.checked_sub(CODE).filter(|end| *end >= prefix).ok_or_else(corrupt)?;
        let (signed, code) = data.split_at(end + CODE_HEAD.len());
        if signed[end..] != CODE_HEAD || digest_of_stretches(signed) != code {
            return Err(corrupt());
        }
    }
    literal(&data[prefix..end], true, is)
}

/// The data of the one packet of data among these, and its kind.
fn literal(packets: &[u8], may_be_compressed: bool, is: &mut Options) -> Result<(u8, Vec<u8>)> {
    let (mut packets, mut found) = (Packets::of(packets), None);
    while let Some((tag, body)) = packets.next()? {
        found = Some(match tag {
            tag::COMPRESSED if may_be_compressed && found.is_none() => {
                is.compression = body.first().copied().unwrap_or_default();
                literal(&decompressed(&body)?, false, is)?
            }
            tag::LITERAL if found.is_none() => literal_body(&body, is)?,
            _ => return Err(corrupt()),
        });
    }
    found.ok_or_else(corrupt)
}

fn literal_body(body: &Body<'_>, is: &mut Options) -> Result<(u8, Vec<u8>)> {
    let [kind @ (b'b' | b't' | b'u'), name, rest @ ..] = &**body else { return Err(corrupt()) };
    is.unicode = *kind == b'u';
    // Behind its name it has a date.
    let data = rest.get(usize::from(*name) + 4..).ok_or_else(corrupt)?;
    Ok((*kind, data.to_vec()))
}

/// `pgp_key_id`: by which key data can be read, or is written.
pub(super) fn key_id<'a>(context: &CallContext<'a>, a: &[Datum<'a>]) -> Result<Datum<'a>> {
    let name = public_key::name(a[0].bytea())?;
    Ok(Datum::Text(account::copied_text(context.arena, &name)))
}
