//! Lines, fields and words of `pg_hba.conf` and `pg_ident.conf` (`tokenize_auth_file` and its kin in `hba.c`): blanks and
//! commas between words, commas within a field, quotes, `@file`, comments, lines that go on behind a backslash.

use std::path::Path;

/// A word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Word {
    /// Its text, without quotes.
    pub text: String,
    /// It began with a quote: then a keyword is a name.
    pub quoted: bool,
}

impl Word {
    /// Whether it is this keyword.
    #[must_use]
    pub fn is(&self, keyword: &str) -> bool {
        !self.quoted && self.text == keyword
    }
}

/// A line that says something.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// Its number, from 1: of the first, where it goes on.
    pub number: i32,
    /// As it stands in the file.
    pub raw: String,
    /// Its fields, each a list of words; or what is wrong with them.
    pub fields: Result<Vec<Vec<Word>>, String>,
}

/// Reads what `@name` names: its text, or why that cannot be had.
pub type Include<'i> = dyn Fn(&str) -> Result<String, String> + 'i;

/// The include of a file at `path`: names begin in its folder.
pub fn beside(path: &Path) -> impl Fn(&str) -> Result<String, String> {
    let folder = path.parent().unwrap_or(Path::new(".")).to_owned();
    move |name| {
        let path = folder.join(name);
        std::fs::read_to_string(&path).map_err(|error| {
            format!(
                "could not open secondary authentication file \"@{name}\" as \"{}\": {}",
                path.display(),
                reason(&error)
            )
        })
    }
}

/// An error of the system in its own words, without its number.
pub fn reason(error: &std::io::Error) -> String {
    let text = error.to_string();
    match text.find(" (os error") {
        Some(at) => text[..at].to_owned(),
        None => text,
    }
}

/// The lines of a file that say something.
#[must_use]
pub fn lines(text: &str, include: &Include<'_>) -> Vec<Line> {
    let mut found = Vec::new();
    let mut rest = text.lines().zip(1..);
    while let Some((line, number)) = rest.next() {
        let mut raw = line.to_owned();
        while raw.ends_with('\\') {
            raw.pop();
            match rest.next() {
                Some((more, _)) => raw.push_str(more),
                None => break,
            }
        }
        let fields = fields(&raw, include);
        if fields.as_ref().is_ok_and(Vec::is_empty) {
            continue;
        }
        found.push(Line { number, raw, fields });
    }
    found
}

fn fields(line: &str, include: &Include<'_>) -> Result<Vec<Vec<Word>>, String> {
    let mut fields = Vec::new();
    let mut rest = line;
    while !rest.is_empty() {
        let mut field = Vec::new();
        loop {
            let (word, behind, goes_on) = word(rest);
            rest = behind;
            let Some(word) = word else { break };
            match word.text.strip_prefix('@') {
                Some(name) if !word.quoted && !name.is_empty() => {
                    for line in lines(&include(name)?, include) {
                        field.extend(line.fields?.into_iter().flatten());
                    }
                }
                _ => field.push(word),
            }
            if !goes_on {
                break;
            }
        }
        if !field.is_empty() {
            fields.push(field);
        }
    }
    Ok(fields)
}

/// The next word of a line, what comes behind it, and whether a comma says that its field goes on.
fn word(line: &str) -> (Option<Word>, &str, bool) {
    let line = line.trim_start_matches([' ', '\t', '\r', ',']);
    let mut word = Word { text: String::new(), quoted: false };
    let (mut in_quotes, mut had_quotes, mut was_quote) = (false, false, false);
    let mut end = (line.len(), false);
    for (at, letter) in line.char_indices() {
        match letter {
            ' ' | '\t' | '\r' if !in_quotes => {
                end = (at, false);
                break;
            }
            // A comment is to the end of the line.
            '#' if !in_quotes => break,
            ',' if !in_quotes => {
                end = (at + 1, true);
                break;
            }
            _ => {}
        }
        if letter != '"' || was_quote {
            word.text.push(letter);
        }
        was_quote = in_quotes && letter == '"' && !was_quote;
        if letter == '"' {
            in_quotes = !in_quotes;
            had_quotes = true;
            word.quoted |= word.text.is_empty();
        }
    }
    let there = had_quotes || !word.text.is_empty();
    (there.then_some(word), &line[end.0..], end.1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> Vec<String> {
        let include = |name: &str| match name {
            "more" => Ok("x, y # z\n\"w w\"\n".to_owned()),
            _ => Err(format!("no {name}")),
        };
        let one = |word: &Word| {
            if word.quoted { format!("\"{}\"", word.text) } else { word.text.clone() }
        };
        let line = |line: &Line| match &line.fields {
            Ok(fields) => {
                let fields = fields.iter().map(|it| it.iter().map(one).collect::<Vec<_>>());
                let fields = fields.map(|it| it.join("+")).collect::<Vec<_>>();
                format!("{}: {}", line.number, fields.join("|"))
            }
            Err(error) => format!("{}! {error}", line.number),
        };
        lines(text, &include).iter().map(line).collect()
    }

    #[test]
    fn words_are_as_postgresql_takes_them() {
        assert_eq!(shown("# nothing\n\n a b\tc # d"), ["3: a|b|c"]);
        assert_eq!(shown("a,b ,c d, e\n"), ["1: a+b|c|d+e"]);
        assert_eq!(shown("\"a b\" c\"d\"\"e\" \"\" x#y"), ["1: \"a b\"|cd\"e|\"\"|x"]);
        assert_eq!(shown("a \\\nb\nc\\\nd"), ["1: a|b", "3: cd"]);
        assert_eq!(shown("a @more,b \"@more\" @"), ["1: a|x+y+\"w w\"+b|\"@more\"|@"]);
        assert_eq!(shown("a @less\nb"), ["1! no less", "2: b"]);
    }
}
