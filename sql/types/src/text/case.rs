//! Upper and lower case as C.UTF-8 has it: of one character one character (`towupper`, `towlower`), where Unicode's full
//! mapping may make several of it.

use std::borrow::Cow;

/// A character in lower case.
pub(crate) fn lower(character: char) -> char {
    // The one that becomes two is a capital I with a dot, whose first is the i.
    character.to_lowercase().next().unwrap_or(character)
}

/// A character in upper case.
pub(crate) fn upper(character: char) -> char {
    let mut mapped = character.to_uppercase();
    match (mapped.next(), mapped.next()) {
        (Some(upper), None) => upper,
        _ => title(character),
    }
}

/// A text in lower case; where it is in that already, it stays.
pub(crate) fn folded(text: &str) -> Cow<'_, str> {
    match text.chars().all(|character| lower(character) == character) {
        true => Cow::Borrowed(text),
        false => Cow::Owned(text.chars().map(lower).collect()),
    }
}

/// The one character that stands for several in upper case: of the Greek letters with an iota below those with one beside.
fn title(character: char) -> char {
    let distance = match character {
        '\u{1f80}'..='\u{1f87}' | '\u{1f90}'..='\u{1f97}' | '\u{1fa0}'..='\u{1fa7}' => 8,
        '\u{1fb3}' | '\u{1fc3}' | '\u{1ff3}' => 9,
        _ => 0,
    };
    char::from_u32(character as u32 + distance).unwrap_or(character)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_character_stays_one() {
        for (small, capital) in
            [('i', '\u{130}'), ('\u{1f80}', '\u{1f88}'), ('\u{1ff3}', '\u{1ffc}')]
        {
            assert_eq!(lower(capital), small);
        }
        for (small, capital) in
            [('\u{1fa7}', '\u{1faf}'), ('\u{1fb3}', '\u{1fbc}'), ('\u{df}', '\u{df}')]
        {
            assert_eq!(upper(small), capital);
        }
    }
}
