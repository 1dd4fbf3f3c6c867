//! The generated files as text: rows and fields in the form of COPY (manual, COPY, "Text Format").
//!
//! A field without a backslash is a slice of the compiled-in text. One with an escape is decoded when it is first
//! asked for through [`Row::get`], and stays a slice of its row otherwise.

use std::borrow::Cow;

/// One generated file.
#[derive(Clone, Copy, Debug)]
pub struct Relation {
    /// Its name: that of the system table, or `views`, `keywords`, `extension_*`.
    pub name: &'static str,
    text: &'static str,
}

macro_rules! files {
    ($($name:literal),* $(,)?) => {
        &[$(Relation { name: $name, text: include_str!(concat!("data/", $name, ".tsv")) }),*]
    };
}

static RELATIONS: &[Relation] = files![
    "extension_aggregate",
    "extension_amop",
    "extension_amproc",
    "extension_cast",
    "extension_opclass",
    "extension_operator",
    "extension_opfamily",
    "extension_proc",
    "extension_ts_dict",
    "extension_ts_template",
    "extension_type",
    "keywords",
    "pg_aggregate",
    "pg_am",
    "pg_amop",
    "pg_amproc",
    "pg_attribute",
    "pg_auth_members",
    "pg_authid",
    "pg_cast",
    "pg_class",
    "pg_collation",
    "pg_constraint",
    "pg_conversion",
    "pg_description",
    "pg_index",
    "pg_init_privs",
    "pg_language",
    "pg_namespace",
    "pg_opclass",
    "pg_operator",
    "pg_opfamily",
    "pg_proc",
    "pg_range",
    "pg_tablespace",
    "pg_ts_config",
    "pg_ts_dict",
    "pg_ts_parser",
    "pg_ts_template",
    "pg_type",
    "views",
];

/// All generated files, by name.
#[must_use]
pub fn relations() -> &'static [Relation] {
    RELATIONS
}

/// The generated file of a system table, or `views` (oid, definition) or `keywords`.
#[must_use]
pub fn relation(name: &str) -> Option<Relation> {
    RELATIONS.iter().find(|relation| relation.name == name).copied()
}

impl Relation {
    /// Column names, in `attnum` order. `pg_proc` has one more at its end, `defaults`: a text array with the SQL of each
    /// argument default.
    pub fn columns(&self) -> impl Iterator<Item = &'static str> {
        let header = self.text.split_once('\n').map_or("", |(header, _)| header);
        header.split('\t')
    }

    /// Its rows and, behind them, those that extensions bring.
    pub fn all_rows(self) -> impl Iterator<Item = Row> {
        let of_extensions = self.name.strip_prefix("pg_").and_then(|table| {
            let file = |known: &&Relation| known.name.strip_prefix("extension_") == Some(table);
            RELATIONS.iter().find(file)
        });
        self.rows().chain(of_extensions.into_iter().flat_map(|file| file.rows()))
    }

    /// Its rows, in OID order where it has one.
    #[must_use]
    pub fn rows(&self) -> RowIter {
        RowIter(self.text.split_once('\n').map_or("", |(_, rows)| rows))
    }
}

/// The rows of a file.
#[derive(Clone, Debug)]
pub struct RowIter(&'static str);

impl Iterator for RowIter {
    type Item = Row;

    fn next(&mut self) -> Option<Row> {
        if self.0.is_empty() {
            return None;
        }
        let (line, rest) = self.0.split_once('\n').unwrap_or((self.0, ""));
        self.0 = rest;
        Some(Row(line))
    }
}

/// A row.
#[derive(Clone, Copy, Debug)]
pub struct Row(&'static str);

impl Row {
    /// Its fields as they stand in the file, escapes included; `None` is NULL.
    pub fn fields(self) -> impl Iterator<Item = Option<&'static str>> {
        self.0.split('\t').map(|field| (field != "\\N").then_some(field))
    }

    /// Field `index`, decoded; `None` is NULL.
    #[must_use]
    pub fn get(self, index: usize) -> Option<Cow<'static, str>> {
        self.fields().nth(index).flatten().map(decode)
    }
}

/// Resolves COPY's backslash escapes.
#[must_use]
pub fn decode(field: &str) -> Cow<'_, str> {
    if !field.contains('\\') {
        return Cow::Borrowed(field);
    }
    let mut out = String::with_capacity(field.len());
    let mut characters = field.chars();
    while let Some(character) = characters.next() {
        if character != '\\' {
            out.push(character);
            continue;
        }
        match characters.next() {
            Some('n') => out.push('\n'),
            Some('t') => out.push('\t'),
            Some('r') => out.push('\r'),
            Some('b') => out.push('\u{8}'),
            Some('f') => out.push('\u{c}'),
            Some('v') => out.push('\u{b}'),
            Some(other) => out.push(other),
            None => out.push('\\'),
        }
    }
    Cow::Owned(out)
}

/// Walks one row's fields in order: how the typed tables are read.
pub(super) struct Fields<I>(I);

impl<I: Iterator<Item = Option<&'static str>>> Fields<I> {
    /// The next field, NULL as the empty string.
    pub(super) fn text(&mut self) -> &'static str {
        self.optional().unwrap_or("")
    }

    /// The next field.
    pub(super) fn optional(&mut self) -> Option<&'static str> {
        self.0.next().expect("the generated file has all columns of its table")
    }

    /// The next field as a number.
    pub(super) fn number<T: std::str::FromStr>(&mut self) -> T {
        self.text().parse().ok().expect("the generated file has numbers where its table has them")
    }

    /// The next field as a boolean.
    pub(super) fn flag(&mut self) -> bool {
        self.text() == "t"
    }

    /// The next field as one character.
    pub(super) fn letter(&mut self) -> char {
        self.text().chars().next().expect("the generated file has letters where its table has them")
    }

    /// Leaves `count` fields out.
    pub(super) fn skip(&mut self, count: usize) {
        for _ in 0..count {
            self.optional();
        }
    }
}

/// The rows of a table that is known to be there, those of extensions behind the others, as walkers.
pub(super) fn walk(
    name: &str,
) -> impl Iterator<Item = Fields<impl Iterator<Item = Option<&'static str>>>> {
    let own = relation(name).expect("every typed table has its generated file");
    own.all_rows().map(|row| Fields(row.fields()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_has_every_column() {
        for relation in relations() {
            let columns = relation.columns().count();
            assert!(columns > 1, "{}", relation.name);
            for row in relation.rows() {
                assert_eq!(row.fields().count(), columns, "{} {row:?}", relation.name);
            }
        }
    }

    #[test]
    fn escapes_are_resolved() {
        assert_eq!(decode(r"a\nb\\c\td"), "a\nb\\c\td");
        let views = relation("views").expect("there");
        let (first, columns) = (views.rows().next().expect("rows"), views.columns().count());
        assert_eq!(columns, 2);
        assert!(first.get(1).expect("a definition").contains('\n'));
    }
}
