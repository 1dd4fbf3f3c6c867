//! Encodings of several bytes a character, as PostgreSQL's tables have them (`utf8_to_*.map`; the Unicode consortium's): which
//! code stands for which character, and where the two ways differ.
//!
//! A file has three lists, each behind its length; numbers have seven bits a byte, the lowest first. Codes with their
//! characters, each as the difference to the entry before it (the character's with its sign in the lowest bit); characters
//! that become another code than the first one that stands for them, code 0 being none; and codes of two characters.

use std::collections::HashMap;
use std::sync::LazyLock;

/// How the bytes of a code follow each other (`pg_wchar_tbl`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lengths {
    /// Extended Unix code: two bytes, or as the first one says.
    Unix {
        /// How many there are behind 0x8E; 0 where that and 0x8F begin no code.
        single_shift: usize,
    },
    /// Shift JIS: half-width letters are one byte.
    ShiftJis,
    /// Two bytes, the second from 0xA1 on.
    Johab,
    /// Two bytes.
    Double,
}

/// The codes of an encoding.
#[derive(Debug)]
pub(super) struct Codes {
    pub lengths: Lengths,
    decode: HashMap<u32, char>,
    encode: HashMap<char, u32>,
    pairs: Vec<(u32, [char; 2])>,
}

/// The encodings, by PostgreSQL's names.
static CODES: [(&str, LazyLock<Codes>); 11] = [
    ("BIG5", LazyLock::new(|| Codes::read(Lengths::Double, include_bytes!("big5.bin")))),
    ("EUC_CN", LazyLock::new(|| Codes::read(PLAIN, include_bytes!("euc_cn.bin")))),
    ("EUC_JIS_2004", LazyLock::new(|| Codes::read(UNIX, include_bytes!("euc_jis_2004.bin")))),
    ("EUC_JP", LazyLock::new(|| Codes::read(UNIX, include_bytes!("euc_jp.bin")))),
    ("EUC_KR", LazyLock::new(|| Codes::read(PLAIN, include_bytes!("euc_kr.bin")))),
    ("EUC_TW", LazyLock::new(|| Codes::read(TAIWAN, include_bytes!("euc_tw.bin")))),
    ("GBK", LazyLock::new(|| Codes::read(Lengths::Double, include_bytes!("gbk.bin")))),
    ("JOHAB", LazyLock::new(|| Codes::read(Lengths::Johab, include_bytes!("johab.bin")))),
    (
        "SHIFT_JIS_2004",
        LazyLock::new(|| Codes::read(Lengths::ShiftJis, include_bytes!("shift_jis_2004.bin"))),
    ),
    ("SJIS", LazyLock::new(|| Codes::read(Lengths::ShiftJis, include_bytes!("sjis.bin")))),
    ("UHC", LazyLock::new(|| Codes::read(Lengths::Double, include_bytes!("uhc.bin")))),
];

const PLAIN: Lengths = Lengths::Unix { single_shift: 0 };
const UNIX: Lengths = Lengths::Unix { single_shift: 1 };
const TAIWAN: Lengths = Lengths::Unix { single_shift: 3 };

/// Reads the numbers of a file.
struct Numbers(&'static [u8]);

impl Numbers {
    fn next(&mut self) -> u32 {
        let (mut number, mut shift) = (0, 0);
        while let [byte, rest @ ..] = self.0 {
            self.0 = rest;
            number |= u32::from(byte & 0x7F) << shift;
            shift += 7;
            if *byte < 0x80 {
                break;
            }
        }
        number
    }

    fn character(&mut self) -> char {
        char::from_u32(self.next()).unwrap_or(char::REPLACEMENT_CHARACTER)
    }
}

impl Codes {
    /// Those of an encoding; none for one that has no table here.
    pub fn of(name: &str) -> Option<&'static Codes> {
        CODES.iter().find(|(known, _)| *known == name).map(|(_, codes)| &**codes)
    }

    fn read(lengths: Lengths, bytes: &'static [u8]) -> Codes {
        let mut numbers = Numbers(bytes);
        let mut codes =
            Codes { lengths, decode: HashMap::new(), encode: HashMap::new(), pairs: Vec::new() };
        let (mut code, mut character) = (0, 0_u32);
        for _ in 0..numbers.next() {
            code += numbers.next();
            let difference = numbers.next();
            let distance = difference >> 1;
            character = match difference & 1 {
                0 => character.wrapping_add(distance),
                _ => character.wrapping_sub(distance),
            };
            let decoded = char::from_u32(character).unwrap_or(char::REPLACEMENT_CHARACTER);
            codes.decode.insert(code, decoded);
            codes.encode.entry(decoded).or_insert(code);
        }
        for _ in 0..numbers.next() {
            let character = numbers.character();
            match numbers.next() {
                0 => codes.encode.remove(&character),
                code => codes.encode.insert(character, code),
            };
        }
        for _ in 0..numbers.next() {
            let code = numbers.next();
            codes.pairs.push((code, [numbers.character(), numbers.character()]));
        }
        codes
    }

    /// How many bytes the code has that these begin with; none where they are no code.
    pub fn length(&self, bytes: &[u8]) -> Option<usize> {
        let first = *bytes.first()?;
        let length = self.span(first);
        let rest = bytes.get(1..length)?;
        let upper = |byte: &u8| (0xA1..=0xFE).contains(byte);
        let sound = match (self.lengths, first) {
            (_, ..0x80) => first != 0,
            (Lengths::Unix { single_shift: 3 }, 0x8E) => {
                (0xA1..=0xA7).contains(&rest[0]) && rest.iter().all(upper)
            }
            (Lengths::Unix { single_shift: 3 }, 0x8F) => false,
            (Lengths::Unix { single_shift: 0 }, 0x8E | 0x8F) => false,
            (Lengths::Unix { .. }, 0x8E) => (0xA1..=0xDF).contains(&rest[0]),
            (Lengths::Unix { .. }, 0x8F) => rest.iter().all(upper),
            (Lengths::Unix { .. }, _) => upper(&first) && rest.iter().all(upper),
            (Lengths::ShiftJis, 0xA1..=0xDF) => true,
            (Lengths::ShiftJis, _) => {
                matches!(first, 0x81..=0x9F | 0xE0..=0xFC)
                    && matches!(rest[0], 0x40..=0x7E | 0x80..=0xFC)
            }
            (Lengths::Johab, _) => rest.iter().all(upper),
            (Lengths::Double, _) => rest[0] != 0,
        };
        sound.then_some(length)
    }

    /// How many bytes the code of this first byte has.
    pub fn span(&self, first: u8) -> usize {
        match (self.lengths, first) {
            (_, ..0x80) => 1,
            (Lengths::Unix { single_shift }, 0x8E) => 1 + single_shift.max(1),
            (Lengths::Unix { .. } | Lengths::Johab, 0x8F) => 3,
            (Lengths::ShiftJis, 0xA1..=0xDF) => 1,
            _ => 2,
        }
    }

    /// Appends what a code stands for; false where it stands for nothing.
    pub fn decode(&self, code: &[u8], text: &mut String) -> bool {
        let code = code.iter().fold(0, |code, byte| code << 8 | u32::from(*byte));
        if let Some(character) = self.decode.get(&code) {
            text.push(*character);
            return true;
        }
        let pair = self.pairs.iter().find(|(known, _)| *known == code);
        text.extend(pair.into_iter().flat_map(|(_, pair)| pair));
        pair.is_some()
    }

    /// Appends the code of the first character of a text, or of its first two, and says how many those are; 0 where there is
    /// no code.
    pub fn encode(&self, text: &str, bytes: &mut Vec<u8>) -> usize {
        let mut characters = text.chars();
        let Some(first) = characters.next() else { return 0 };
        let pair = characters.next().and_then(|second| {
            self.pairs.iter().find(|(_, pair)| *pair == [first, second]).map(|(code, _)| *code)
        });
        let Some(code) = pair.or_else(|| self.encode.get(&first).copied()) else { return 0 };
        let all = code.to_be_bytes();
        let begin = all.iter().position(|byte| *byte != 0).unwrap_or(3);
        bytes.extend_from_slice(&all[begin..]);
        1 + usize::from(pair.is_some())
    }
}
