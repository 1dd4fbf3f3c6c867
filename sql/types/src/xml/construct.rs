//! What SQL/XML makes of values: XMLELEMENT and its kin (manual, section 9.15.1; `xml.c`, `ExecEvalXmlExpr`).
//!
//! Values of SQL are written as XML has them (`map_sql_value_to_xml_value`): truth, dates and times as XML Schema says, bytes as
//! `xmlbinary` says, arrays as elements, all else as its text form, escaped unless it is `xml`.

use super::{Declaration, check, declaration, names};
use crate::account;
use crate::array::Array;
use crate::datetime::{output, zone};
use crate::error::{Result, SqlError};
use crate::function::Accumulator;
use crate::settings::{XmlBinary, XmlOption};
use crate::sqlstate::SqlState;
use crate::text::quote::identifier;
use crate::text::{check_growth, finished, growing_to};
use crate::{CallContext, Datum, SqlType, oids, stored, write_text};
use std::fmt::Write as _;
use std::sync::Arc;

/// What a call of SQL/XML makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum XmlOp {
    /// XMLCONCAT.
    Concat,
    /// XMLELEMENT.
    Element,
    /// XMLFOREST.
    Forest,
    /// XMLPARSE, of a document or of content.
    Parse {
        /// As what.
        option: XmlOption,
        /// PRESERVE WHITESPACE: the text is kept as it is in any case.
        preserve: bool,
    },
    /// XMLPI.
    Instruction,
    /// XMLROOT.
    Root(Standalone),
    /// XMLSERIALIZE, of a document or of content.
    Serialize(XmlOption),
    /// IS DOCUMENT.
    IsDocument,
}

/// What XMLROOT says of `standalone`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standalone {
    /// YES.
    Yes,
    /// NO.
    No,
    /// NO VALUE.
    NoValue,
    /// Nothing: it stays.
    Omitted,
}

/// A call of SQL/XML but for its arguments.
#[derive(Clone, Debug, PartialEq)]
pub struct XmlCall {
    /// What it makes.
    pub op: XmlOp,
    /// The name of the element or of the instruction.
    pub name: Option<Arc<str>>,
    /// The names of the first arguments: attributes of an element, elements of a forest.
    pub names: Vec<Arc<str>>,
    /// The arguments' types; of a domain, what it is over.
    pub types: Vec<SqlType>,
    /// What XMLSERIALIZE was asked for.
    pub target: SqlType,
}

impl XmlCall {
    /// The value of a call.
    ///
    /// # Errors
    /// 2200L, 2200M, 2200N, 2200T; 22008 for what XML Schema does not have; 54000; those of text forms.
    pub fn evaluate<'a>(
        &self,
        context: &CallContext<'a>,
        values: &[Datum<'a>],
    ) -> Result<Datum<'a>> {
        let first = values.first().copied().unwrap_or(Datum::Null);
        let mut out = String::new();
        match self.op {
            XmlOp::Concat => {
                let mut whole = Concatenation::default();
                for value in values.iter().filter(|value| !value.is_null()) {
                    whole.push(value.text())?;
                }
                if whole.count == 0 {
                    return Ok(Datum::Null);
                }
                out = whole.finish();
            }
            XmlOp::Forest => {
                let mut any = false;
                for (at, (name, value)) in self.names.iter().zip(values).enumerate() {
                    if value.is_null() {
                        continue;
                    }
                    any = true;
                    write!(out, "<{name}>").expect("a string grows");
                    write_value(context, self.types[at], value, true, &mut out)?;
                    write!(out, "</{name}>").expect("a string grows");
                }
                if !any {
                    return Ok(Datum::Null);
                }
            }
            XmlOp::Element => self.element(context, values, &mut out)?,
            XmlOp::Instruction => {
                if values.first().is_some_and(Datum::is_null) {
                    self.instruction(None, &mut out)?;
                    return Ok(Datum::Null);
                }
                self.instruction(values.first().map(Datum::text), &mut out)?;
            }
            _ if first.is_null() => return Ok(Datum::Null),
            XmlOp::Parse { option, .. } => {
                check(first.text(), option)?;
                return Ok(first);
            }
            XmlOp::Root(standalone) => {
                let text = first.text();
                let found = declaration(text).unwrap_or_default();
                let version = values.get(1).filter(|version| !version.is_null());
                let standalone = match standalone {
                    Standalone::Yes => Some(true),
                    Standalone::No => Some(false),
                    Standalone::NoValue => None,
                    Standalone::Omitted => found.standalone,
                };
                write_declaration(version.map(Datum::text), standalone, &mut out);
                out.push_str(&text[found.end..]);
            }
            XmlOp::Serialize(option) => {
                if option == XmlOption::Document && !is_document(first.text()) {
                    let message = "not an XML document";
                    return Err(SqlError::new(SqlState::NOT_AN_XML_DOCUMENT, message));
                }
                return Ok(first);
            }
            XmlOp::IsDocument => return Ok(Datum::Bool(is_document(first.text()))),
        }
        check_growth(0, out.len())?;
        Ok(Datum::Text(context.arena.alloc_str(&out)))
    }

    /// The type of its value.
    #[must_use]
    pub fn ty(&self) -> SqlType {
        SqlType::plain(match self.op {
            XmlOp::Serialize(_) => oids::TEXT,
            XmlOp::IsDocument => oids::BOOL,
            _ => oids::XML,
        })
    }

    /// The call as definitions show it, of arguments as they are shown (`get_rule_expr`).
    #[must_use]
    pub fn printed(&self, arguments: Vec<String>, target: &str) -> String {
        let word = match self.op {
            XmlOp::Concat => "XMLCONCAT",
            XmlOp::Element => "XMLELEMENT",
            XmlOp::Forest => "XMLFOREST",
            XmlOp::Parse { .. } => "XMLPARSE",
            XmlOp::Instruction => "XMLPI",
            XmlOp::Root(_) => "XMLROOT",
            XmlOp::Serialize(_) => "XMLSERIALIZE",
            XmlOp::IsDocument => return format!("{} IS DOCUMENT", arguments.concat()),
        };
        let shown = |name: &str| identifier(&names::to_identifier(name));
        let mut arguments = arguments.into_iter();
        let mut parts = Vec::new();
        parts.extend(self.name.as_ref().map(|name| format!("NAME {}", shown(name))));
        let named = self.names.iter().zip(arguments.by_ref().take(self.names.len()));
        let named: Vec<String> =
            named.map(|(name, value)| format!("{value} AS {}", shown(name))).collect();
        match self.op {
            XmlOp::Element if !named.is_empty() => {
                parts.push(format!("XMLATTRIBUTES({})", named.join(", ")));
            }
            _ => parts.extend(named),
        }
        let word_of = |option: XmlOption| match option {
            XmlOption::Document => "DOCUMENT",
            XmlOption::Content => "CONTENT",
        };
        let mut next = || arguments.next().unwrap_or_default();
        match self.op {
            XmlOp::Parse { option, preserve } => {
                let whitespace = if preserve { "PRESERVE" } else { "STRIP" };
                parts.push(format!("{} {} {whitespace} WHITESPACE", word_of(option), next()));
            }
            XmlOp::Serialize(option) => {
                parts.push(format!("{} {} AS {target}", word_of(option), next()));
            }
            XmlOp::Root(standalone) => {
                parts.push(next());
                let version = arguments.next().filter(|version| version != "NULL::text");
                parts.push(format!("VERSION {}", version.as_deref().unwrap_or("NO VALUE")));
                parts.extend(match standalone {
                    Standalone::Yes => Some("STANDALONE YES".to_owned()),
                    Standalone::No => Some("STANDALONE NO".to_owned()),
                    Standalone::NoValue => Some("STANDALONE NO VALUE".to_owned()),
                    Standalone::Omitted => None,
                });
            }
            _ => parts.extend(arguments),
        }
        format!("{word}({})", parts.join(", "))
    }

    fn element(
        &self,
        context: &CallContext<'_>,
        values: &[Datum<'_>],
        out: &mut String,
    ) -> Result<()> {
        let name = self.name.as_deref().unwrap_or_default();
        write!(out, "<{name}").expect("a string grows");
        let (attributes, content) = values.split_at(self.names.len().min(values.len()));
        for (at, value) in attributes.iter().enumerate().filter(|(_, value)| !value.is_null()) {
            let mut text = String::new();
            write_value(context, self.types[at], value, false, &mut text)?;
            write!(out, " {}=\"", self.names[at]).expect("a string grows");
            write_attribute(&text, out);
            out.push('"');
        }
        let mut empty = true;
        for (at, value) in content.iter().enumerate().filter(|(_, value)| !value.is_null()) {
            if std::mem::take(&mut empty) {
                out.push('>');
            }
            write_value(context, self.types[self.names.len() + at], value, true, out)?;
            check_growth(0, out.len())?;
        }
        match empty {
            true => out.push_str("/>"),
            false => write!(out, "</{name}>").expect("a string grows"),
        }
        Ok(())
    }

    fn instruction(&self, content: Option<&str>, out: &mut String) -> Result<()> {
        let name = self.name.as_deref().unwrap_or_default();
        let refused = |state, detail: String| {
            SqlError::new(state, "invalid XML processing instruction").detail(detail)
        };
        if name.eq_ignore_ascii_case("xml") {
            let detail = format!("XML processing instruction target name cannot be \"{name}\".");
            return Err(refused(SqlState::SYNTAX_ERROR, detail));
        }
        write!(out, "<?{name}").expect("a string grows");
        if let Some(content) = content {
            if content.contains("?>") {
                let detail = "XML processing instruction cannot contain \"?>\".";
                let state = SqlState::INVALID_XML_PROCESSING_INSTRUCTION;
                return Err(refused(state, detail.to_owned()));
            }
            out.push(' ');
            out.push_str(content.trim_start_matches(' '));
        }
        out.push_str("?>");
        Ok(())
    }
}

/// Whether a value is a document.
fn is_document(text: &str) -> bool {
    check(text, XmlOption::Document).is_ok()
}

/// Appends a declaration where it says more than version 1.0 (`print_xml_decl`).
pub(super) fn write_declaration(version: Option<&str>, standalone: Option<bool>, out: &mut String) {
    let version = version.unwrap_or("1.0");
    if version == "1.0" && standalone.is_none() {
        return;
    }
    write!(out, "<?xml version=\"{version}\"").expect("a string grows");
    match standalone {
        Some(true) => out.push_str(" standalone=\"yes\""),
        Some(false) => out.push_str(" standalone=\"no\""),
        None => {}
    }
    out.push_str("?>");
}

/// Values one behind the other, with what their declarations agree on (`xmlconcat`).
#[derive(Default)]
struct Concatenation {
    count: usize,
    /// The version, while all have the same one.
    version: Option<String>,
    /// They have not.
    versions_differ: bool,
    /// The weakest that is said: nothing, then no, then yes.
    standalone: Option<bool>,
    body: String,
}

impl Concatenation {
    fn push(&mut self, text: &str) -> Result<()> {
        let Declaration { version, standalone, end } = declaration(text).unwrap_or_default();
        self.standalone = match (self.count, self.standalone, standalone) {
            (0, _, said) => said,
            (_, Some(before), Some(said)) => Some(before && said),
            _ => None,
        };
        self.count += 1;
        match (version, &self.version) {
            (Some(version), None) => self.version = Some(version.to_owned()),
            (Some(version), Some(before)) if version == before => {}
            _ => self.versions_differ = true,
        }
        check_growth(self.body.len(), text.len() - end)?;
        self.body.push_str(&text[end..]);
        Ok(())
    }

    fn finish(&self) -> String {
        let mut out = String::new();
        let version = self.version.as_deref().filter(|_| !self.versions_differ);
        write_declaration(version, self.standalone, &mut out);
        out.push_str(&self.body);
        out
    }
}

/// xmlagg: a value alone stays as it is.
#[derive(Default)]
pub(crate) struct Aggregation {
    first: Option<String>,
    whole: Concatenation,
}

impl Accumulator for Aggregation {
    fn add(&mut self, _: &CallContext<'_>, arguments: &[Datum<'_>]) -> Result<()> {
        let Datum::Text(text) = &arguments[0] else { return Ok(()) };
        match self.first.take() {
            None if self.whole.count == 0 => {
                self.first = Some((*text).to_owned());
                return Ok(());
            }
            Some(first) => self.whole.push(&first)?,
            None => {}
        }
        self.whole.push(text)
    }

    fn finish<'a>(&self, context: &CallContext<'a>) -> Result<Datum<'a>> {
        Ok(match &self.first {
            Some(first) => Datum::Text(context.arena.alloc_str(first)),
            None if self.whole.count == 0 => Datum::Null,
            None => Datum::Text(context.arena.alloc_str(&self.whole.finish())),
        })
    }

    fn bytes(&self) -> usize {
        let first = self.first.as_ref().map_or(0, String::capacity);
        size_of::<Aggregation>() + first + self.whole.body.capacity()
    }
}

/// `xmlconcat2(x, y)`: the one that is not NULL, or both.
pub(super) fn concatenated<'a>(context: &CallContext<'a>, a: &[Datum<'a>]) -> Result<Datum<'a>> {
    let (Datum::Text(left), Datum::Text(right)) = (&a[0], &a[1]) else {
        return Ok(if a[0].is_null() { a[1] } else { a[0] });
    };
    let mut whole = Concatenation::default();
    whole.push(left)?;
    whole.push(right)?;
    Ok(Datum::Text(context.arena.alloc_str(&whole.finish())))
}

/// `xmlcomment(text)`.
pub(super) fn comment<'a>(context: &CallContext<'a>, a: &[Datum<'a>]) -> Result<Datum<'a>> {
    let text = a[0].text();
    if text.contains("--") || text.ends_with('-') {
        return Err(SqlError::new(SqlState::INVALID_XML_COMMENT, "invalid XML comment"));
    }
    check_growth(text.len(), "<!---->".len())?;
    let mut out = growing_to(context, text.len() + "<!---->".len());
    ["<!--", text, "-->"].into_iter().for_each(|part| out.push_str(part));
    finished(out)
}

/// Appends a value as XML has it; what is no `xml` is escaped where it stands between tags.
fn write_value(
    context: &CallContext<'_>,
    ty: SqlType,
    value: &Datum<'_>,
    between_tags: bool,
    out: &mut String,
) -> Result<()> {
    let endless = |what: &str| {
        let message = format!("{what} out of range");
        SqlError::new(SqlState::DATETIME_FIELD_OVERFLOW, message)
            .detail(format!("XML does not support infinite {what} values."))
    };
    let mut bytes = Vec::new();
    match value {
        Datum::Array(stored) => return write_elements(context, stored, out),
        Datum::Bool(truth) => {
            out.push_str(if *truth { "true" } else { "false" });
            return Ok(());
        }
        Datum::Date(days) if matches!(*days, i32::MIN | i32::MAX) => return Err(endless("date")),
        Datum::Timestamp(at) | Datum::TimestampTz(at) if matches!(*at, i64::MIN | i64::MAX) => {
            return Err(endless("timestamp"));
        }
        Datum::Date(days) => output::write_xsd_date(*days, &mut bytes),
        Datum::Timestamp(at) => output::write_xsd_timestamp(*at, None, &mut bytes),
        Datum::TimestampTz(at) => {
            let offset = zone::of_session(&context.settings.time_zone).offset(*at);
            output::write_xsd_timestamp(*at, Some(offset), &mut bytes);
        }
        Datum::Bytea(raw) => {
            match context.settings.xml_binary {
                XmlBinary::Base64 => write_base64(raw, out),
                XmlBinary::Hex => {
                    for byte in *raw {
                        write!(out, "{byte:02X}").expect("a string grows");
                    }
                }
            }
            return Ok(());
        }
        other => {
            write_text(context, ty, other, &mut bytes)?;
            let text = std::str::from_utf8(&bytes).unwrap_or_default();
            match ty.oid.0 == oids::XML || !between_tags {
                true => out.push_str(text),
                false => escape(text, out),
            }
            return Ok(());
        }
    }
    out.push_str(std::str::from_utf8(&bytes).unwrap_or_default());
    Ok(())
}

/// An array is an element for each that is not NULL, whatever its dimensions are.
fn write_elements(context: &CallContext<'_>, stored: &[u8], out: &mut String) -> Result<()> {
    let array = Array::of(stored);
    for slot in array.slots().flatten() {
        let value = stored::read(context.arena, array.element, slot)?;
        out.push_str("<element>");
        write_value(context, SqlType::plain(array.element), &value, true, out)?;
        out.push_str("</element>");
        check_growth(0, out.len())?;
    }
    Ok(())
}

/// Appends a text as content (`escape_xml`).
pub(super) fn escape(text: &str, out: &mut String) {
    for character in account::stretches(text).flat_map(str::chars) {
        match character {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '\r' => out.push_str("&#x0d;"),
            other => out.push(other),
        }
    }
}

/// Appends an attribute's value as libxml2 writes one of which it does not know the document's encoding.
fn write_attribute(text: &str, out: &mut String) {
    for character in account::stretches(text).flat_map(str::chars) {
        match character {
            '"' => out.push_str("&quot;"),
            '\n' => out.push_str("&#10;"),
            '\r' => out.push_str("&#13;"),
            '\t' => out.push_str("&#9;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            other if other.is_ascii() => out.push(other),
            other => write!(out, "&#x{:X};", u32::from(other)).expect("a string grows"),
        }
    }
}

/// Appends bytes in Base64, in lines of 72 characters as libxml2 breaks them.
fn write_base64(bytes: &[u8], out: &mut String) {
    use base64::Engine as _;
    for (at, line) in bytes.chunks(54).enumerate() {
        if at > 0 {
            out.push_str("\r\n");
        }
        base64::engine::general_purpose::STANDARD.encode_string(line, out);
    }
}
