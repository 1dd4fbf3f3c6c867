//! Names of SQL as names of XML (SQL/XML, section 9.1; `map_sql_identifier_to_xml_name` and its inverse in `xml.c`).
//!
//! A character that a name of XML may not have there is written as `_xHHHH_`. Which ones it may have is XML 1.0's first list
//! of letters, digits, combining characters and extenders (appendix B), as libxml2 has it.

use std::sync::LazyLock;

/// Ranges of characters, in order.
type Ranges = Vec<(u32, u32)>;

static START: LazyLock<Ranges> = LazyLock::new(|| ranges(include_str!("name_start.txt")));
static MORE: LazyLock<Ranges> = LazyLock::new(|| ranges(include_str!("name_more.txt")));

/// Ranges written as hexadecimal numbers: `41-5A 5F`.
fn ranges(text: &str) -> Ranges {
    let number = |digits: &str| u32::from_str_radix(digits, 16).ok();
    let range = |word: &str| {
        let (low, high) = word.split_once('-').unwrap_or((word, word));
        Some((number(low)?, number(high)?))
    };
    text.split_ascii_whitespace().filter_map(range).collect()
}

fn is_in(ranges: &Ranges, character: char) -> bool {
    let character = u32::from(character);
    let at = ranges.partition_point(|(low, _)| *low <= character);
    at > 0 && character <= ranges[at - 1].1
}

/// The name of XML for an identifier; that of a column says also where it has a colon or begins with `xml` (fully escaped).
#[must_use]
pub fn of_identifier(identifier: &str, fully: bool) -> String {
    let mut name = String::with_capacity(identifier.len());
    for (at, character) in identifier.char_indices() {
        let rest = &identifier[at..];
        let begins_xml =
            || at == 0 && rest.get(..3).is_some_and(|first| first.eq_ignore_ascii_case("xml"));
        let escaped = match character {
            ':' => at == 0 || fully,
            '_' => rest[1..].starts_with('x'),
            'x' | 'X' if fully && begins_xml() => true,
            _ => !is_in(&START, character) && (at == 0 || !is_in(&MORE, character)),
        };
        match escaped {
            true => name.push_str(&format!("_x{:04X}_", u32::from(character))),
            false => name.push(character),
        }
    }
    name
}

/// The identifier that a name of XML stands for.
#[must_use]
pub fn to_identifier(name: &str) -> String {
    let (mut identifier, mut rest) = (String::with_capacity(name.len()), name);
    while let Some(first) = rest.chars().next() {
        let escaped = rest.strip_prefix("_x").and_then(|behind| {
            let digits = behind.get(..4)?;
            let hexadecimal = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
            let character = char::from_u32(u32::from_str_radix(digits, 16).ok()?)?;
            (hexadecimal && behind[4..].starts_with('_')).then_some((character, &behind[5..]))
        });
        let (character, behind) = escaped.unwrap_or((first, &rest[first.len_utf8()..]));
        identifier.push(character);
        rest = behind;
    }
    identifier
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each of these was asked of PostgreSQL 15.20.
    #[test]
    fn identifiers_are_names_as_postgresql_makes_them() {
        for (identifier, name) in [
            ("a:b", "a:b"),
            (":b", "_x003A_b"),
            ("a.b", "a.b"),
            ("_xa", "_x005F_xa"),
            ("a b", "a_x0020_b"),
            ("1a", "_x0031_a"),
            ("größe", "größe"),
            ("a\u{10000}", "a_x10000_"),
        ] {
            assert_eq!(of_identifier(identifier, false), name);
        }
        assert_eq!(of_identifier("xml:a", true), "_x0078_ml_x003A_a");
        assert_eq!(to_identifier("a_x0020_b"), "a b");
        assert_eq!(to_identifier("a_x20"), "a_x20");
    }
}
