//! `pg_trgm` (PostgreSQL 15 manual, appendix F.35): how similar texts are, by the trigrams of their words.
//!
//! A word is letters and digits in lower case with two blanks before it and one behind; each three characters of it that follow
//! one another are a trigram, of three bytes: the characters where each is one byte, else three bytes of their CRC. A set of
//! trigrams is in the order of signed bytes, as PostgreSQL has it on most machines. The thresholds of the operators are
//! settings.

use crate::array::from_datums;
use crate::error::Result;
use crate::function::Callable::{self, Plain};
use crate::text::case::lower;
use crate::{CallContext, Datum, account, oids};
use std::collections::HashMap;

/// By OID. `set_limit` and `show_limit` are answered by the session, which has the settings.
pub(crate) const FUNCTIONS: &[(u32, Callable)] = &[
    (14_482, Plain(show_trgm)),
    (14_483, Plain(|_, a| Ok(Datum::Float4(similarity(a))))),
    (14_484, Plain(|c, a| Ok(reaches(similarity(a), c.settings.similarity_threshold())))),
    (14_485, Plain(|_, a| Ok(Datum::Float4(word_similarity((&a[0], &a[1]), false))))),
    (14_486, Plain(|c, a| Ok(is_word((&a[0], &a[1]), c, false)))),
    (14_487, Plain(|c, a| Ok(is_word((&a[1], &a[0]), c, false)))),
    (14_488, Plain(|_, a| Ok(distance(similarity(a))))),
    (14_489, Plain(|_, a| Ok(distance(word_similarity((&a[0], &a[1]), false))))),
    (14_490, Plain(|_, a| Ok(distance(word_similarity((&a[1], &a[0]), false))))),
    (14_505, Plain(|_, a| Ok(Datum::Float4(word_similarity((&a[0], &a[1]), true))))),
    (14_506, Plain(|c, a| Ok(is_word((&a[0], &a[1]), c, true)))),
    (14_507, Plain(|c, a| Ok(is_word((&a[1], &a[0]), c, true)))),
    (14_508, Plain(|_, a| Ok(distance(word_similarity((&a[0], &a[1]), true))))),
    (14_509, Plain(|_, a| Ok(distance(word_similarity((&a[1], &a[0]), true))))),
];

type Trigram = [i8; 3];

/// A trigram of a text with whether it is the first and the last one of its word.
struct Placed {
    trigram: Trigram,
    first: bool,
    last: bool,
}

/// The trigrams of a text in their order.
fn trigrams(text: &str) -> Vec<Placed> {
    let mut found = Vec::new();
    let is_part = |c: char| c.is_alphabetic() || c.is_ascii_digit();
    for word in text.split(|c| !is_part(c)).filter(|word| !word.is_empty()) {
        let padded: Vec<char> = "  ".chars().chain(word.chars().map(lower)).chain([' ']).collect();
        let start = found.len();
        for three in account::stepping(padded.windows(3)) {
            found.push(Placed { trigram: trigram(three), first: false, last: false });
        }
        if let [first, ..] = &mut found[start..] {
            first.first = true;
        }
        if let Some(last) = found.last_mut() {
            last.last = true;
        }
    }
    found
}

fn trigram(three: &[char]) -> Trigram {
    let text: String = three.iter().collect();
    let bytes = match text.as_bytes() {
        [a, b, c] => [*a, *b, *c],
        more => {
            let [a, b, c, _] = checksum(more).to_le_bytes();
            [a, b, c]
        }
    };
    bytes.map(|byte| byte as i8)
}

/// The checksum that PostgreSQL kept from its first versions: the table of CRC-32 (ISO 3309) for bits from the right, walked as
/// if it were for bits from the left.
fn checksum(bytes: &[u8]) -> u32 {
    let entry = |index: u32| {
        (0..8).fold(index, |crc, _| if crc & 1 == 1 { crc >> 1 ^ 0xedb8_8320 } else { crc >> 1 })
    };
    let walked = bytes
        .iter()
        .fold(u32::MAX, |crc, byte| entry((crc >> 24 ^ u32::from(*byte)) & 0xff) ^ crc << 8);
    walked ^ u32::MAX
}

/// The set of a text's trigrams, in order.
fn set_of(text: &str) -> Vec<Trigram> {
    let mut set: Vec<Trigram> = trigrams(text).iter().map(|placed| placed.trigram).collect();
    set.sort_unstable();
    set.dedup();
    set
}

fn show_trgm<'a>(context: &CallContext<'a>, a: &[Datum<'a>]) -> Result<Datum<'a>> {
    let shown = set_of(a[0].text()).into_iter().map(|trigram| {
        let bytes = trigram.map(|byte| byte as u8);
        let plain = bytes.iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b' ');
        if plain {
            bytes.iter().map(|byte| char::from(*byte)).collect()
        } else {
            let [a, b, c] = bytes;
            format!("0x{a:02x}{b:02x}{c:02x}")
        }
    });
    let shown: Vec<String> = shown.collect();
    let shown: Vec<Datum<'_>> = shown.iter().map(|text| Datum::Text(text)).collect();
    Ok(from_datums(context.arena, oids::TEXT, &shown))
}

/// How many of all trigrams of two sets are in both.
fn share(common: usize, first: usize, second: usize) -> f32 {
    common as f32 / (first + second - common) as f32
}

fn similarity(a: &[Datum<'_>]) -> f32 {
    let (first, second) = (set_of(a[0].text()), set_of(a[1].text()));
    if first.is_empty() || second.is_empty() {
        return 0.0;
    }
    let common = first.iter().filter(|one| second.binary_search(one).is_ok()).count();
    share(common, first.len(), second.len())
}

fn reaches(similarity: f32, threshold: f64) -> Datum<'static> {
    Datum::Bool(f64::from(similarity) >= threshold)
}

fn distance(similarity: f32) -> Datum<'static> {
    Datum::Float4((1.0 - f64::from(similarity)) as f32)
}

fn is_word(
    (word, text): (&Datum<'_>, &Datum<'_>),
    context: &CallContext<'_>,
    strict: bool,
) -> Datum<'static> {
    let settings = context.settings;
    let threshold = match strict {
        true => settings.strict_word_similarity_threshold(),
        false => settings.word_similarity_threshold(),
    };
    reaches(word_similarity((word, text), strict), threshold)
}

/// The greatest similarity of the set of a word's trigrams and of those of a stretch of a text; a strict one begins and ends
/// where words do.
///
/// A stretch ends at each trigram of the text that is the word's (or is the last of a word) in turn, and begins where it is most
/// similar; the next one begins there or later.
fn word_similarity((word, text): (&Datum<'_>, &Datum<'_>), strict: bool) -> f32 {
    let word = set_of(word.text());
    let text = trigrams(text.text());
    let mut numbers: HashMap<Trigram, usize> = HashMap::new();
    let mut found: Vec<bool> = Vec::new();
    let places: Vec<usize> = account::stepping(text.iter())
        .map(|placed| {
            *numbers.entry(placed.trigram).or_insert_with(|| {
                found.push(word.binary_search(&placed.trigram).is_ok());
                found.len() - 1
            })
        })
        .collect();
    let mut last_place: Vec<Option<usize>> = vec![None; found.len()];
    // The stretch: where it begins, how many different trigrams it has, and how many of them are the word's.
    let mut lower = strict.then_some(0);
    let (mut different, mut common) = (0, 0);
    let mut greatest = 0.0f32;
    for (upper, number) in places.iter().copied().enumerate() {
        if lower.is_some() || found[number] {
            if last_place[number].is_none() {
                different += 1;
                common += usize::from(found[number]);
            }
            last_place[number] = Some(upper);
        }
        let ends = if strict { text[upper].last } else { found[number] };
        if !ends {
            continue;
        }
        let begins = *lower.get_or_insert_with(|| {
            different = 1;
            upper
        });
        let mut best = share(common, word.len(), different);
        let (mut rest_different, mut rest_common) = (different, common);
        for at in account::stepping(begins..=upper) {
            if !strict || text[at].first {
                let shorter = share(rest_common, word.len(), rest_different);
                if shorter > best {
                    best = shorter;
                    (different, common, lower) = (rest_different, rest_common, Some(at));
                }
            }
            if last_place[places[at]] == Some(at) {
                rest_different -= 1;
                rest_common -= usize::from(found[places[at]]);
            }
        }
        greatest = greatest.max(best);
        for at in begins..lower.unwrap_or(begins) {
            if last_place[places[at]] == Some(at) {
                last_place[places[at]] = None;
            }
        }
    }
    greatest
}
