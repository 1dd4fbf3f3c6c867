//! What clients say and hear in other encodings than UTF8 (manual, section 24.3; `mbutils.c`): their texts are converted on
//! the way in and out: where a character has several bytes by PostgreSQL's tables, else by those of a library. Where these are
//! the Web's, which leave no byte out, what PostgreSQL's tables leave out is refused here.

mod codes;
pub mod names;

use crate::account;
use crate::error::{Result, SqlError};
use crate::sqlstate::SqlState;
use codes::Codes;
use encoding_rs::{DecoderResult, EncoderResult, Encoding};
use names::encoding_named;
use std::borrow::Cow;

/// A conversion between UTF8 and another encoding.
#[derive(Clone, Copy, Debug)]
pub struct Conversion {
    /// The encoding's name, as PostgreSQL shows it.
    pub name: &'static str,
    table: Table,
}

/// Each encoding has one.
impl PartialEq for Conversion {
    fn eq(&self, other: &Conversion) -> bool {
        self.name == other.name
    }
}

impl Eq for Conversion {}

#[derive(Clone, Copy, Debug)]
enum Table {
    /// Each byte is the character of its number, but for these.
    Latin(&'static [(u8, char)]),
    /// The library's.
    Library(&'static Encoding),
    /// PostgreSQL's.
    Own(&'static Codes),
}

/// What Turkish has instead of Icelandic letters.
const TURKISH: &[(u8, char)] =
    &[(0xD0, 'Ğ'), (0xDD, 'İ'), (0xDE, 'Ş'), (0xF0, 'ğ'), (0xFD, 'ı'), (0xFE, 'ş')];

impl Conversion {
    /// Of the encoding of this name; none for UTF8 and SQL_ASCII, which need none, and for those without a table.
    #[must_use]
    pub fn of(name: &str) -> Option<Conversion> {
        let name = encoding_named(name)?;
        let table = match name {
            "LATIN1" => Table::Latin(&[]),
            "LATIN2" => Table::Library(encoding_rs::ISO_8859_2),
            "LATIN3" => Table::Library(encoding_rs::ISO_8859_3),
            "LATIN4" => Table::Library(encoding_rs::ISO_8859_4),
            "LATIN5" => Table::Latin(TURKISH),
            "LATIN6" => Table::Library(encoding_rs::ISO_8859_10),
            "LATIN7" => Table::Library(encoding_rs::ISO_8859_13),
            "LATIN8" => Table::Library(encoding_rs::ISO_8859_14),
            "LATIN9" => Table::Library(encoding_rs::ISO_8859_15),
            "LATIN10" => Table::Library(encoding_rs::ISO_8859_16),
            "ISO_8859_5" => Table::Library(encoding_rs::ISO_8859_5),
            "ISO_8859_6" => Table::Library(encoding_rs::ISO_8859_6),
            "ISO_8859_7" => Table::Library(encoding_rs::ISO_8859_7),
            "ISO_8859_8" => Table::Library(encoding_rs::ISO_8859_8),
            "KOI8R" => Table::Library(encoding_rs::KOI8_R),
            "KOI8U" => Table::Library(encoding_rs::KOI8_U),
            "WIN866" => Table::Library(encoding_rs::IBM866),
            "WIN874" => Table::Library(encoding_rs::WINDOWS_874),
            "WIN1250" => Table::Library(encoding_rs::WINDOWS_1250),
            "WIN1251" => Table::Library(encoding_rs::WINDOWS_1251),
            "WIN1252" => Table::Library(encoding_rs::WINDOWS_1252),
            "WIN1253" => Table::Library(encoding_rs::WINDOWS_1253),
            "WIN1254" => Table::Library(encoding_rs::WINDOWS_1254),
            "WIN1255" => Table::Library(encoding_rs::WINDOWS_1255),
            "WIN1256" => Table::Library(encoding_rs::WINDOWS_1256),
            "WIN1257" => Table::Library(encoding_rs::WINDOWS_1257),
            "WIN1258" => Table::Library(encoding_rs::WINDOWS_1258),
            "GB18030" => Table::Library(encoding_rs::GB18030),
            _ => Table::Own(Codes::of(name)?),
        };
        Some(Conversion { name, table })
    }

    /// Whether a byte of a longer character may be one of ASCII (`PG_ENCODING_IS_CLIENT_ONLY`).
    #[must_use]
    pub fn embeds_ascii(&self) -> bool {
        matches!(
            self.name,
            "SJIS" | "BIG5" | "GBK" | "UHC" | "GB18030" | "JOHAB" | "SHIFT_JIS_2004"
        )
    }

    /// Whether the Windows code page has no character where the Web's has a control character.
    fn leaves_out(&self, character: char) -> bool {
        self.name.starts_with("WIN") && matches!(character, '\u{80}'..='\u{9F}')
    }

    /// Bytes of a client as text.
    ///
    /// # Errors
    /// 22021 for bytes that the encoding does not have, 22P05 for a character that UTF8 has not.
    pub fn decode<'t>(&self, bytes: &'t [u8]) -> Result<Cow<'t, str>> {
        if let (true, Ok(text)) = (bytes.is_ascii(), std::str::from_utf8(bytes)) {
            return Ok(text.into());
        }
        let encoding = match self.table {
            Table::Latin(others) => {
                let letter = |byte: &u8| {
                    let other = others.iter().find(|(known, _)| known == byte);
                    other.map_or(char::from(*byte), |(_, other)| *other)
                };
                let letters = account::stepping(bytes.iter()).map(letter);
                return Ok(letters.collect::<String>().into());
            }
            Table::Library(encoding) => encoding,
            Table::Own(codes) => {
                let (mut text, mut rest) = (String::with_capacity(bytes.len() * 2), bytes);
                while let [first, ..] = rest {
                    account::step();
                    let shown = &rest[..rest.len().min(codes.span(*first))];
                    let length = codes.length(rest).ok_or_else(|| self.invalid(shown))?;
                    match length {
                        1 if first.is_ascii() => text.push(char::from(*first)),
                        _ if codes.decode(&rest[..length], &mut text) => {}
                        _ => return Err(self.no_equivalent(shown, self.name, "UTF8")),
                    }
                    rest = &rest[length..];
                }
                return Ok(text.into());
            }
        };
        let mut decoder = encoding.new_decoder_without_bom_handling();
        let mut text = String::new();
        let room = decoder.max_utf8_buffer_length_without_replacement(bytes.len());
        text.reserve(room.unwrap_or(bytes.len() * 4));
        let (result, read) = decoder.decode_to_string_without_replacement(bytes, &mut text, true);
        if let DecoderResult::Malformed(length, after) = result {
            let end = read - usize::from(after);
            let wrong = &bytes[end.saturating_sub(usize::from(length))..end];
            return Err(match encoding.is_single_byte() {
                true => self.no_equivalent(wrong, self.name, "UTF8"),
                false => self.invalid(wrong),
            });
        }
        let left_out = account::stepping(text.chars()).find(|each| self.leaves_out(*each));
        match left_out {
            Some(character) => {
                Err(self.no_equivalent(&[u32::from(character) as u8], self.name, "UTF8"))
            }
            None => Ok(text.into()),
        }
    }

    /// A text as the client reads it.
    ///
    /// # Errors
    /// 22P05 for a character that the encoding has not.
    pub fn encode<'t>(&self, text: &'t str) -> Result<Cow<'t, [u8]>> {
        if text.is_ascii() {
            return Ok(text.as_bytes().into());
        }
        let missing = |character: char| {
            let mut bytes = [0; 4];
            self.no_equivalent(character.encode_utf8(&mut bytes).as_bytes(), "UTF8", self.name)
        };
        let encoding = match self.table {
            Table::Latin(others) => {
                let byte = |character: char| {
                    if let Some((byte, _)) = others.iter().find(|(_, known)| *known == character) {
                        return Ok(*byte);
                    }
                    let byte = u8::try_from(u32::from(character)).ok();
                    let own = byte.filter(|byte| others.iter().all(|(known, _)| known != byte));
                    own.ok_or_else(|| missing(character))
                };
                let bytes = account::stepping(text.chars()).map(byte);
                return Ok(bytes.collect::<Result<Vec<u8>>>()?.into());
            }
            Table::Own(codes) => {
                let (mut bytes, mut rest) = (Vec::with_capacity(text.len()), text);
                while let Some(first) = rest.chars().next() {
                    account::step();
                    let count = match first.is_ascii() {
                        true => {
                            bytes.push(first as u8);
                            1
                        }
                        false => codes.encode(rest, &mut bytes),
                    };
                    if count == 0 {
                        return Err(missing(first));
                    }
                    let length = rest.chars().take(count).map(char::len_utf8).sum::<usize>();
                    rest = &rest[length..];
                }
                return Ok(bytes.into());
            }
            Table::Library(encoding) => encoding,
        };
        if let Some(character) = text.chars().find(|character| self.leaves_out(*character)) {
            return Err(missing(character));
        }
        let mut encoder = encoding.new_encoder();
        let mut bytes = Vec::new();
        let room = encoder.max_buffer_length_from_utf8_without_replacement(text.len());
        bytes.reserve(room.unwrap_or(text.len() * 4));
        let (result, _) =
            encoder.encode_from_utf8_to_vec_without_replacement(text, &mut bytes, true);
        if let EncoderResult::Unmappable(character) = result {
            return Err(missing(character));
        }
        Ok(bytes.into())
    }

    /// The same of what has to be said in any case: a question mark stands for what the encoding has not.
    #[must_use]
    pub fn encode_lossy(&self, text: &str) -> Vec<u8> {
        let one = |character: char| {
            let mut bytes = [0; 4];
            self.encode(character.encode_utf8(&mut bytes)).map_or(vec![b'?'], Cow::into_owned)
        };
        match self.encode(text) {
            Ok(bytes) => bytes.into_owned(),
            Err(_) => text.chars().flat_map(one).collect(),
        }
    }

    #[cold]
    fn invalid(&self, bytes: &[u8]) -> SqlError {
        let message =
            format!("invalid byte sequence for encoding \"{}\": {}", self.name, shown(bytes));
        SqlError::new(SqlState::CHARACTER_NOT_IN_REPERTOIRE, message)
    }

    #[cold]
    fn no_equivalent(&self, bytes: &[u8], from: &str, to: &str) -> SqlError {
        let message = format!(
            "character with byte sequence {} in encoding \"{from}\" has no equivalent in encoding \"{to}\"",
            shown(bytes)
        );
        SqlError::new(SqlState::UNTRANSLATABLE_CHARACTER, message)
    }
}

fn shown(bytes: &[u8]) -> String {
    let all: Vec<String> = bytes.iter().map(|byte| format!("0x{byte:02x}")).collect();
    all.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each of these was asked of PostgreSQL 15.20.
    #[test]
    fn texts_are_converted_as_postgresql_converts_them() {
        for (name, text, bytes) in [
            ("latin1", "für", &b"f\xfcr"[..]),
            ("latin9", "5 €", b"5 \xa4"),
            ("latin5", "şığ", b"\xfe\xfd\xf0"),
            ("win1252", "€“x”", b"\x80\x93x\x94"),
            ("win1251", "Привет", b"\xcf\xf0\xe8\xe2\xe5\xf2"),
            ("koi8r", "Привет", b"\xf0\xd2\xc9\xd7\xc5\xd4"),
            ("euc_jp", "日本", b"\xc6\xfc\xcb\xdc"),
            ("sjis", "日本", b"\x93\xfa\x96\x7b"),
            ("big5", "中文", b"\xa4\xa4\xa4\xe5"),
            ("gbk", "中文", b"\xd6\xd0\xce\xc4"),
            ("euc_cn", "中文", b"\xd6\xd0\xce\xc4"),
            ("euc_kr", "한글", b"\xc7\xd1\xb1\xdb"),
            ("gb18030", "中文", b"\xd6\xd0\xce\xc4"),
        ] {
            let conversion = Conversion::of(name).unwrap();
            assert_eq!(conversion.encode(text).unwrap(), bytes, "{name}");
            assert_eq!(conversion.decode(bytes).unwrap(), text, "{name}");
        }
        let refused = |name: &str, bytes: &[u8]| {
            let error = Conversion::of(name).unwrap().decode(bytes).unwrap_err();
            error.to_string()
        };
        assert!(refused("win1252", b"\x81").contains("has no equivalent in encoding \"UTF8\""));
        assert!(
            refused("euc_jp", b"\xff").contains("invalid byte sequence for encoding \"EUC_JP\"")
        );
        let missing = Conversion::of("latin1").unwrap().encode("€").unwrap_err().to_string();
        assert!(missing.contains(
            "character with byte sequence 0xe2 0x82 0xac in encoding \"UTF8\" has no equivalent in encoding \"LATIN1\""
        ));
        assert!(Conversion::of("utf8").is_none() && Conversion::of("sql_ascii").is_none());
        assert_eq!(Conversion::of("latin1").unwrap().encode_lossy("ü€"), b"\xfc?");
    }
}
