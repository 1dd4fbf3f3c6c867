//! Passwords in statements: what stands behind the word PASSWORD is not written, whether the statement is well formed or
//! not, nor what an error repeats of it. (PostgreSQL writes it; its manual tells one to send verifiers.)

use sql::SqlError;
use std::borrow::Cow;

/// What stands instead.
const HIDDEN: &str = "<hidden>";

/// A statement without secrets, and the secrets.
#[derive(Debug, Default)]
pub struct Cleaned<'a> {
    /// The text.
    pub text: Cow<'a, str>,
    /// What was taken out, without its quotes.
    pub secrets: Vec<String>,
}

impl Cleaned<'_> {
    /// An error that repeats none of them.
    pub fn hide_in(&self, error: &SqlError) -> SqlError {
        let fields = error.fields();
        let clean = |text: &str| {
            let secrets = self.secrets.iter().filter(|secret| !secret.is_empty());
            secrets.fold(text.to_owned(), |text, secret| text.replace(secret, HIDDEN))
        };
        let mut hidden = SqlError::new(fields.state, clean(&fields.message));
        hidden = hidden.severity(fields.severity).maybe_detail(fields.detail.as_deref().map(clean));
        if let Some(hint) = &fields.hint {
            hidden = hidden.hint(clean(hint));
        }
        if let Some(context) = &fields.context {
            hidden = hidden.context(clean(context));
        }
        hidden
    }
}

/// Where the literal at the start of a text ends, and where within it its value begins and ends; one without an end goes as
/// far as the text does.
fn literal(text: &str) -> Option<(usize, (usize, usize))> {
    let bytes = text.as_bytes();
    if let Some(rest) = text.strip_prefix('$') {
        let tag = rest.find('$')?;
        if !rest[..tag].chars().all(|c| c.is_alphanumeric() || c == '_') {
            return None;
        }
        let open = tag + 2;
        let delimiter = &text[..open];
        let close = text[open..].find(delimiter).map(|at| at + open);
        let end = close.map_or(text.len(), |close| close + open);
        return Some((end, (open, close.unwrap_or(text.len()))));
    }
    let quote = match bytes {
        [b'\'', ..] => 0,
        [b'E' | b'e' | b'N' | b'n' | b'B' | b'b' | b'X' | b'x', b'\'', ..] => 1,
        [b'U' | b'u', b'&', b'\'', ..] => 2,
        _ => return None,
    };
    let escapes = matches!(bytes[0], b'E' | b'e');
    let mut at = quote + 1;
    while at < bytes.len() {
        match bytes[at] {
            b'\\' if escapes => at += 1,
            b'\'' if bytes.get(at + 1) == Some(&b'\'') => at += 1,
            b'\'' => return Some((at + 1, (quote + 1, at))),
            _ => {}
        }
        at += 1;
    }
    Some((text.len(), (quote + 1, text.len())))
}

/// What stands between two words: blanks and comments.
fn blank(text: &str) -> usize {
    let mut at = 0;
    loop {
        let rest = &text[at..];
        let skipped = rest.len() - rest.trim_start().len();
        at += skipped;
        let rest = &text[at..];
        if let Some(comment) = rest.strip_prefix("--") {
            at += 2 + comment.find('\n').unwrap_or(comment.len());
        } else if let Some(comment) = rest.strip_prefix("/*") {
            at += 2 + comment.find("*/").map_or(comment.len(), |end| end + 2);
        } else {
            return at;
        }
    }
}

/// A statement without what stands behind PASSWORD.
pub fn without(statement: &str) -> Cleaned<'_> {
    const WORD: &str = "password";
    let lower = statement.to_ascii_lowercase();
    let mut found = Cleaned { text: Cow::Borrowed(statement), secrets: Vec::new() };
    let (mut out, mut copied, mut from) = (String::new(), 0, 0);
    while let Some(at) = lower[from..].find(WORD).map(|at| at + from) {
        let behind = at + WORD.len();
        from = behind;
        // `password = '..'`, as a setting or a connection's parameter might be written.
        let mut start = behind + blank(&statement[behind..]);
        if statement[start..].starts_with('=') {
            start += 1;
            start += blank(&statement[start..]);
        }
        let Some((length, (open, close))) = literal(&statement[start..]) else { continue };
        found.secrets.push(statement[start + open..start + close].to_owned());
        out.push_str(&statement[copied..start]);
        out.push_str(HIDDEN);
        copied = start + length;
        from = copied;
    }
    if !found.secrets.is_empty() {
        out.push_str(&statement[copied..]);
        // What is said twice is as secret.
        for secret in &found.secrets {
            out = out.replace(&format!("'{secret}'"), HIDDEN);
        }
        found.text = Cow::Owned(out);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use sql::sqlstate::SqlState;

    #[test]
    fn passwords_are_left_out_however_they_are_written() {
        for (statement, shown) in [
            ("create role a password 'it''s'", "create role a password <hidden>"),
            (
                "ALTER USER a PASSWORD E'x\\'y' valid until 'z'",
                "ALTER USER a PASSWORD <hidden> valid until 'z'",
            ),
            (
                "alter role a encrypted password/* c */$q$ se'cret$q$;",
                "alter role a encrypted password/* c */<hidden>;",
            ),
            ("alter role a password -- x\n 'never closed", "alter role a password -- x\n <hidden>"),
            ("alter role a password u&'\\0061'", "alter role a password <hidden>"),
            ("set x.password = 'p'", "set x.password = <hidden>"),
            (
                "select password from users where name = 'x'",
                "select password from users where name = 'x'",
            ),
            ("alter role a password null", "alter role a password null"),
            ("\u{130}password 'x' \u{130}", "\u{130}password <hidden> \u{130}"),
        ] {
            assert_eq!(without(statement).text, shown);
        }
        assert_eq!(without("role a password 'x' 'x'").text, "role a password <hidden> <hidden>");
        let cleaned = without("alter role a password 'x y' 'z'");
        let error = SqlError::new(SqlState::SYNTAX_ERROR, "syntax error at or near \"x y\"");
        assert_eq!(
            cleaned.hide_in(&error).fields().message,
            "syntax error at or near \"<hidden>\""
        );
    }
}
