//! COPY's options: what was written, checked in PostgreSQL's order and refused in its words.

use crate::encoding::Conversion;
use crate::error::{Result, SqlError};
use crate::parse::ast::{OptionValue, Value};
use crate::sqlstate::SqlState;
use std::sync::Arc;

/// FORMAT.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Kind {
    /// text.
    #[default]
    Text,
    /// csv.
    Csv,
    /// binary.
    Binary,
}

/// HEADER.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Header {
    /// No header line.
    #[default]
    None,
    /// One that is written, or skipped.
    Line,
    /// One that must name the columns.
    Match,
}

/// Some of the columns, for the FORCE options.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Columns {
    /// None of them.
    #[default]
    None,
    /// `*`.
    All,
    /// By name, not yet looked up.
    Named(Vec<Arc<str>>),
    /// Looked up: one flag for each column of the COPY.
    Flags(Vec<bool>),
}

impl Columns {
    /// Whether column `number` of the COPY is one of them.
    #[must_use]
    pub fn contains(&self, number: usize) -> bool {
        match self {
            Columns::None | Columns::Named(_) => false,
            Columns::All => true,
            Columns::Flags(flags) => flags.get(number).copied().unwrap_or(false),
        }
    }

    /// Looks names up among the columns of the COPY; `exists` says whether the table has such a column at all.
    fn resolve(
        &mut self,
        option: &str,
        table: Option<&str>,
        columns: &[Arc<str>],
        exists: &dyn Fn(&str) -> bool,
    ) -> Result<()> {
        let Columns::Named(names) = self else { return Ok(()) };
        let mut flags = vec![false; columns.len()];
        for name in names.iter() {
            match columns.iter().position(|column| column == name) {
                Some(at) => flags[at] = true,
                None if exists(name) => {
                    return Err(SqlError::new(
                        SqlState::INVALID_COLUMN_REFERENCE,
                        format!("{option} column \"{name}\" not referenced by COPY"),
                    ));
                }
                None => {
                    let whose = table.map(|table| format!(" of relation \"{table}\""));
                    return Err(SqlError::new(
                        SqlState::UNDEFINED_COLUMN,
                        format!("column \"{name}\"{} does not exist", whose.unwrap_or_default()),
                    ));
                }
            }
        }
        *self = Columns::Flags(flags);
        Ok(())
    }
}

/// What COPY was told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// FORMAT.
    pub kind: Kind,
    /// DELIMITER.
    pub delimiter: u8,
    /// NULL.
    pub null: String,
    /// HEADER.
    pub header: Header,
    /// QUOTE.
    pub quote: u8,
    /// ESCAPE.
    pub escape: u8,
    /// FORCE_QUOTE.
    pub force_quote: Columns,
    /// FORCE_NOT_NULL.
    pub force_not_null: Columns,
    /// FORCE_NULL.
    pub force_null: Columns,
    /// FREEZE.
    pub freeze: bool,
    /// ENCODING.
    pub encoding: Option<&'static str>,
    /// Between UTF8 and the encoding of the data, where that is another one.
    pub conversion: Option<Conversion>,
}

impl Options {
    /// The defaults of a format.
    #[must_use]
    pub fn of(kind: Kind) -> Options {
        Options {
            kind,
            delimiter: if kind == Kind::Csv { b',' } else { b'\t' },
            null: if kind == Kind::Csv { String::new() } else { "\\N".to_owned() },
            header: Header::None,
            quote: b'"',
            escape: b'"',
            force_quote: Columns::None,
            force_not_null: Columns::None,
            force_null: Columns::None,
            freeze: false,
            encoding: None,
            conversion: None,
        }
    }

    /// Chooses the encoding of the data: that which was given, or the client's.
    ///
    /// # Errors
    /// 0A000 for binary data in another than the database's, and for lines whose characters may end with a backslash.
    pub fn convert(&mut self, client: &str, from: bool) -> Result<()> {
        let Some(conversion) = Conversion::of(self.encoding.unwrap_or(client)) else {
            return Ok(());
        };
        let refused = match self.kind {
            Kind::Binary => Some("COPY of binary data with encoding"),
            _ if from && conversion.embeds_ascii() => Some("COPY FROM with encoding"),
            Kind::Text | Kind::Csv => None,
        };
        if let Some(what) = refused {
            return Err(SqlError::unsupported(format!("{what} {} is", conversion.name)));
        }
        self.conversion = Some(conversion);
        Ok(())
    }

    /// Reads the options of a COPY FROM (`from`) or COPY TO. `position` turns an option's byte offset into what an
    /// error tells.
    ///
    /// # Errors
    /// 42601, 22023 and 0A000, as PostgreSQL's `ProcessCopyOptions`; 0A000 for encodings whose bytes are not the database's.
    pub fn read(
        given: &[OptionValue],
        from: bool,
        position: &dyn Fn(u32) -> u32,
    ) -> Result<Options> {
        let mut raw = Raw::default();
        for option in given {
            raw.take(option, position)?;
        }
        raw.check(from)
    }

    /// Looks the columns of the FORCE options up among those of a table, or of a query.
    ///
    /// # Errors
    /// 42703, 42P10.
    pub fn resolve(
        &mut self,
        table: Option<&str>,
        columns: &[Arc<str>],
        exists: &dyn Fn(&str) -> bool,
    ) -> Result<()> {
        self.force_quote.resolve("FORCE_QUOTE", table, columns, exists)?;
        self.force_not_null.resolve("FORCE_NOT_NULL", table, columns, exists)?;
        self.force_null.resolve("FORCE_NULL", table, columns, exists)
    }
}

/// Options as given, each at most once.
#[derive(Debug, Default)]
struct Raw {
    format: Option<String>,
    freeze: Option<bool>,
    delimiter: Option<String>,
    null: Option<String>,
    header: Option<Header>,
    quote: Option<String>,
    escape: Option<String>,
    force_quote: Option<Columns>,
    force_not_null: Option<Columns>,
    force_null: Option<Columns>,
    encoding: Option<&'static str>,
}

fn syntax(message: String) -> SqlError {
    SqlError::new(SqlState::SYNTAX_ERROR, message)
}

fn text(option: &OptionValue) -> Result<String> {
    match &option.value {
        Some(Value::Word(text) | Value::String(text) | Value::Number(text)) => Ok(text.to_string()),
        Some(Value::Star | Value::List(_)) | None => {
            Err(syntax(format!("{} requires a parameter", option.name)))
        }
    }
}

/// A Boolean as options spell it; none: it is not one.
fn boolean(option: &OptionValue) -> Option<bool> {
    match &option.value {
        None => Some(true),
        Some(Value::Word(text) | Value::String(text) | Value::Number(text)) => {
            match text.to_ascii_lowercase().as_str() {
                "true" | "on" | "1" => Some(true),
                "false" | "off" | "0" => Some(false),
                _ => None,
            }
        }
        Some(Value::Star | Value::List(_)) => None,
    }
}

fn columns(option: &OptionValue, star: bool, position: u32) -> Result<Columns> {
    match &option.value {
        Some(Value::Star) if star => Ok(Columns::All),
        Some(Value::List(names)) => Ok(Columns::Named(names.clone())),
        _ => Err(SqlError::new(
            SqlState::INVALID_PARAMETER_VALUE,
            format!("argument to option \"{}\" must be a list of column names", option.name),
        )
        .at(position)),
    }
}

/// Sets an option that may be given once.
fn once<T>(place: &mut Option<T>, value: T, position: u32) -> Result<()> {
    if place.replace(value).is_some() {
        return Err(syntax("conflicting or redundant options".to_owned()).at(position));
    }
    Ok(())
}

/// An encoding by name. SQL_ASCII means bytes as they are, and those must be the database's.
fn known_encoding(option: &OptionValue, at: u32) -> Result<&'static str> {
    let invalid = || {
        SqlError::new(
            SqlState::INVALID_PARAMETER_VALUE,
            "argument to option \"encoding\" must be a valid encoding name",
        )
        .at(at)
    };
    let name = text(option)?;
    match crate::encoding::names::encoding_named(&name) {
        Some(known @ ("UTF8" | "SQL_ASCII")) => Ok(known),
        Some(known) if Conversion::of(known).is_some() => Ok(known),
        Some(known) => Err(SqlError::unsupported(format!("COPY with encoding {known} is")).at(at)),
        None => Err(invalid()),
    }
}

impl Raw {
    fn take(&mut self, option: &OptionValue, position: &dyn Fn(u32) -> u32) -> Result<()> {
        let at = position(option.at);
        match &*option.name {
            "format" => {
                let name = text(option)?;
                if !["text", "csv", "binary"].contains(&name.as_str()) {
                    return Err(SqlError::new(
                        SqlState::INVALID_PARAMETER_VALUE,
                        format!("COPY format \"{name}\" not recognized"),
                    )
                    .at(at));
                }
                once(&mut self.format, name, at)
            }
            "freeze" => {
                let value = boolean(option)
                    .ok_or_else(|| syntax("freeze requires a Boolean value".to_owned()))?;
                once(&mut self.freeze, value, at)
            }
            "delimiter" => once(&mut self.delimiter, text(option)?, at),
            "null" => once(&mut self.null, text(option)?, at),
            "header" => {
                let value = match (&option.value, boolean(option)) {
                    (_, Some(true)) => Header::Line,
                    (_, Some(false)) => Header::None,
                    (Some(Value::Word(word) | Value::String(word)), None)
                        if word.eq_ignore_ascii_case("match") =>
                    {
                        Header::Match
                    }
                    _ => {
                        return Err(syntax(
                            "header requires a Boolean value or \"match\"".to_owned(),
                        ));
                    }
                };
                once(&mut self.header, value, at)
            }
            "quote" => once(&mut self.quote, text(option)?, at),
            "escape" => once(&mut self.escape, text(option)?, at),
            "force_quote" => once(&mut self.force_quote, columns(option, true, at)?, at),
            "force_not_null" => once(&mut self.force_not_null, columns(option, false, at)?, at),
            "force_null" => once(&mut self.force_null, columns(option, false, at)?, at),
            "encoding" => {
                let known = known_encoding(option, at)?;
                once(&mut self.encoding, known, at)
            }
            other => Err(syntax(format!("option \"{other}\" not recognized")).at(at)),
        }
    }

    /// The checks between options, in PostgreSQL's order.
    fn check(self, from: bool) -> Result<Options> {
        let invalid =
            |message: String| Err(SqlError::new(SqlState::INVALID_PARAMETER_VALUE, message));
        let not_supported =
            |message: &str| Err(SqlError::new(SqlState::FEATURE_NOT_SUPPORTED, message));
        let kind = match self.format.as_deref() {
            Some("binary") => {
                if self.delimiter.is_some() {
                    return Err(syntax("cannot specify DELIMITER in BINARY mode".to_owned()));
                }
                if self.null.is_some() {
                    return Err(syntax("cannot specify NULL in BINARY mode".to_owned()));
                }
                if self.header.is_some_and(|header| header != Header::None) {
                    return not_supported("cannot specify HEADER in BINARY mode");
                }
                Kind::Binary
            }
            Some("csv") => Kind::Csv,
            _ => Kind::Text,
        };
        let mut options = Options::of(kind);
        let csv = kind == Kind::Csv;
        let single = |name: &str, given: &str| match given.as_bytes() {
            [byte] => Ok(*byte),
            _ => Err(SqlError::new(
                SqlState::FEATURE_NOT_SUPPORTED,
                format!("COPY {name} must be a single one-byte character"),
            )),
        };
        if let Some(given) = &self.delimiter {
            options.delimiter = single("delimiter", given)?;
        }
        if let Some(null) = self.null {
            options.null = null;
        }
        if matches!(options.delimiter, b'\r' | b'\n') {
            return invalid("COPY delimiter cannot be newline or carriage return".to_owned());
        }
        if options.null.contains(['\r', '\n']) {
            return invalid(
                "COPY null representation cannot use newline or carriage return".to_owned(),
            );
        }
        if !csv && b"\\.abcdefghijklmnopqrstuvwxyz0123456789".contains(&options.delimiter) {
            return invalid(format!(
                "COPY delimiter cannot be \"{}\"",
                char::from(options.delimiter)
            ));
        }
        options.header = self.header.unwrap_or_default();
        if options.header == Header::Match && !from {
            return not_supported("cannot use \"match\" with HEADER in COPY TO");
        }
        if let Some(given) = &self.quote {
            if !csv {
                return not_supported("COPY quote available only in CSV mode");
            }
            options.quote = single("quote", given)?;
            options.escape = options.quote;
        }
        if csv && options.delimiter == options.quote {
            return invalid("COPY delimiter and quote must be different".to_owned());
        }
        if let Some(given) = &self.escape {
            if !csv {
                return not_supported("COPY escape available only in CSV mode");
            }
            options.escape = single("escape", given)?;
        }
        for (given, name, direction) in [
            (&self.force_quote, "force quote", !from),
            (&self.force_not_null, "force not null", from),
            (&self.force_null, "force null", from),
        ] {
            if given.is_some() && !csv {
                return not_supported(&format!("COPY {name} available only in CSV mode"));
            }
            if given.is_some() && !direction {
                let wanted = if from { "TO" } else { "FROM" };
                return not_supported(&format!("COPY {name} only available using COPY {wanted}"));
            }
        }
        options.force_quote = self.force_quote.unwrap_or_default();
        options.force_not_null = self.force_not_null.unwrap_or_default();
        options.force_null = self.force_null.unwrap_or_default();
        if options.null.as_bytes().contains(&options.delimiter) {
            return not_supported("COPY delimiter must not appear in the NULL specification");
        }
        if csv && options.null.as_bytes().contains(&options.quote) {
            return not_supported("CSV quote character must not appear in the NULL specification");
        }
        options.freeze = self.freeze.unwrap_or(false);
        options.encoding = self.encoding;
        Ok(options)
    }
}
