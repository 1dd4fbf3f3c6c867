//! Metaphone (Lawrence Philips, *Hanging on the Metaphone*, Computer Language 7(12), 1990), as PostgreSQL has it: `X` is the sound
//! of `sh`, `0` that of `th`, and CH before R or behind S is K.

use crate::account;

/// A word, looked at around a place; no letter is where there is none.
struct Word<'w>(&'w [u8]);

/// What is where no letter is.
const NONE: u8 = 0;

impl Word<'_> {
    fn at(&self, place: Option<usize>) -> u8 {
        place.and_then(|place| self.0.get(place)).map_or(NONE, u8::to_ascii_uppercase)
    }

    fn ahead(&self, place: usize, count: usize) -> u8 {
        self.at(place.checked_add(count))
    }

    fn back(&self, place: usize, count: usize) -> u8 {
        self.at(place.checked_sub(count))
    }
}

fn is_vowel(letter: u8) -> bool {
    matches!(letter, b'A' | b'E' | b'I' | b'O' | b'U')
}

/// What makes C and G soft in front of it.
fn softens(letter: u8) -> bool {
    matches!(letter, b'E' | b'I' | b'Y')
}

/// The code of a word, of up to `longest` sounds.
pub(super) fn code(word: &str, longest: usize) -> String {
    let word = Word(word.as_bytes());
    let mut out = String::new();
    let Some(first) = word.0.iter().position(u8::is_ascii_alphabetic) else { return out };
    let mut at = first + beginning(&word, first, &mut out);
    while at < word.0.len() && out.len() < longest {
        account::step();
        at += 1 + sound(&word, at, &mut out);
    }
    out.truncate(longest);
    out
}

/// The sound of how a word begins, and how many letters that is.
fn beginning(word: &Word<'_>, at: usize, out: &mut String) -> usize {
    let (letter, next) = (word.ahead(at, 0), word.ahead(at, 1));
    let (sound, length) = match letter {
        b'A' if next == b'E' => (b'E', 2),
        b'G' | b'K' | b'P' if next == b'N' => (b'N', 2),
        b'W' if matches!(next, b'H' | b'R') => (next, 2),
        b'W' if is_vowel(next) => (b'W', 2),
        b'X' => (b'S', 1),
        vowel if is_vowel(vowel) => (vowel, 1),
        _ => return 0,
    };
    out.push(char::from(sound));
    length
}

/// Appends the sound of a letter, and says how many letters behind it it takes with it.
fn sound(word: &Word<'_>, at: usize, out: &mut String) -> usize {
    let letter = word.ahead(at, 0);
    let (before, next, after) = (word.back(at, 1), word.ahead(at, 1), word.ahead(at, 2));
    if !letter.is_ascii_alphabetic() || letter == before && letter != b'C' {
        return 0;
    }
    let opens = next == b'I' && matches!(after, b'O' | b'A');
    let (sounds, skipped) = match letter {
        b'B' if before == b'M' => ("", 0),
        b'C' if softens(next) => match (before, next, after) {
            (_, b'I', b'A') => ("X", 0),
            (b'S', ..) => ("", 0),
            _ => ("S", 0),
        },
        b'C' if next == b'H' && (after == b'R' || before == b'S') => ("K", 1),
        b'C' if next == b'H' => ("X", 1),
        b'D' if next == b'G' && softens(after) => ("J", 1),
        b'D' => ("T", 0),
        b'G' if next == b'H' => {
            let silent = matches!(word.back(at, 3), b'B' | b'D' | b'H') || word.back(at, 4) == b'H';
            if silent { ("", 0) } else { ("F", 1) }
        }
        b'G' if next == b'N' => {
            let ends = !after.is_ascii_alphabetic();
            let silent = ends || after == b'E' && word.ahead(at, 3) == b'D';
            (if silent { "" } else { "K" }, 0)
        }
        b'G' if softens(next) && before != b'G' => ("J", 0),
        b'H' if !is_vowel(next) || matches!(before, b'C' | b'G' | b'P' | b'S' | b'T') => ("", 0),
        b'K' if before == b'C' => ("", 0),
        b'P' if next == b'H' => ("F", 0),
        b'S' | b'T' if opens => ("X", 0),
        b'S' if next == b'H' => ("X", 1),
        b'S' if next == b'C' && after == b'H' && word.ahead(at, 3) == b'W' => ("X", 2),
        b'T' if next == b'H' => ("0", 1),
        b'C' | b'G' | b'Q' => ("K", 0),
        b'V' => ("F", 0),
        b'W' | b'Y' if !is_vowel(next) => ("", 0),
        b'X' => ("KS", 0),
        b'Z' => ("S", 0),
        vowel if is_vowel(vowel) => ("", 0),
        other => {
            out.push(char::from(other));
            return 0;
        }
    };
    out.push_str(sounds);
    skipped
}
