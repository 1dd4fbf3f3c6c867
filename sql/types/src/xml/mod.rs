//! `xml`: a text that is well-formed (manual, section 8.13; `xml.c`). A value is kept as it was written; what is shown has
//! no declaration that would say nothing.
//!
//! `xmloption` decides between a document, which has one root, and content; content with a document type declaration is a
//! document too. The markup is taken apart by a library; what is well-formed beyond that (names, references, characters, what
//! may stand where) is looked at here. As in PostgreSQL, prefixes need not be bound to namespaces. The DETAIL of an error is
//! in words of its own, as libxml2 writes PostgreSQL's.

pub mod construct;
pub mod names;
pub mod table;
pub mod tree;
pub mod xpath;

use super::function::Callable::{self, Plain};
use super::{CallContext, Datum};
use crate::account;
use crate::error::{Result, SqlError};
use crate::settings::XmlOption;
use crate::sqlstate::SqlState;
use quick_xml::Reader;
use quick_xml::events::attributes::Attribute;
use quick_xml::events::{BytesStart, Event};

/// By OID.
pub(crate) const FUNCTIONS: &[(u32, Callable)] = &[
    (2896, Plain(|context, a| read(context, a[0].text()))),
    (2895, Plain(construct::comment)),
    (2900, Plain(construct::concatenated)),
    (3051, Plain(|context, a| is_well_formed(a[0].text(), context.settings.xml_option))),
    (3052, Plain(|_, a| is_well_formed(a[0].text(), XmlOption::Document))),
    (3053, Plain(|_, a| is_well_formed(a[0].text(), XmlOption::Content))),
];

fn is_well_formed<'a>(text: &str, option: XmlOption) -> Result<Datum<'a>> {
    Ok(Datum::Bool(check(text, option).is_ok()))
}

/// Why a text is not well-formed.
type Checked = std::result::Result<(), String>;

/// What a declaration says: version, standalone, and where it ends.
#[derive(Debug, Default, PartialEq)]
struct Declaration<'t> {
    version: Option<&'t str>,
    standalone: Option<bool>,
    end: usize,
}

/// A value of a text.
///
/// # Errors
/// 2200M for what is no document, 2200N for what is no content.
pub fn read<'a>(context: &CallContext<'a>, text: &str) -> Result<Datum<'a>> {
    check(text, context.settings.xml_option)?;
    Ok(Datum::Text(context.arena.alloc_str(text)))
}

fn check(text: &str, option: XmlOption) -> Result<()> {
    let failed = |document: bool, why: String| {
        let (state, kind) = match document {
            true => (SqlState::INVALID_XML_DOCUMENT, "document"),
            false => (SqlState::INVALID_XML_CONTENT, "content"),
        };
        SqlError::new(state, format!("invalid XML {kind}")).detail(why)
    };
    if option == XmlOption::Document {
        return well_formed(text, true).map_err(|why| failed(true, why));
    }
    let declaration = declaration(text).map_err(|why| {
        let message = "invalid XML content: invalid XML declaration";
        SqlError::new(SqlState::INVALID_XML_CONTENT, message).detail(why)
    })?;
    let document = has_doctype(&text[declaration.end..]);
    let rest = if document { text } else { &text[declaration.end..] };
    well_formed(rest, document).map_err(|why| failed(document, why))
}

/// Appends what is shown of a value: its declaration only where it says more than version 1.0 (`xml_out_internal`).
pub fn write(text: &str, out: &mut Vec<u8>) {
    let Ok(declaration) = declaration(text) else { return out.extend_from_slice(text.as_bytes()) };
    let rest = &text[declaration.end..];
    let mut before = String::new();
    construct::write_declaration(declaration.version, declaration.standalone, &mut before);
    out.extend_from_slice(before.as_bytes());
    // No empty line is left where it was.
    let rest = if before.is_empty() { rest.strip_prefix('\n').unwrap_or(rest) } else { rest };
    out.extend_from_slice(rest.as_bytes());
}

fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r')
}

fn skip_blanks(text: &str) -> &str {
    text.trim_start_matches([' ', '\t', '\n', '\r'])
}

/// The declaration that a text begins with (`parse_xml_decl`); none where it begins otherwise.
fn declaration(text: &str) -> std::result::Result<Declaration<'_>, String> {
    let mut found = Declaration::default();
    let Some(rest) = text.strip_prefix("<?xml") else { return Ok(found) };
    // `<?xml-stylesheet ...?>` is an instruction as others are.
    if rest.chars().next().is_some_and(is_name_character) {
        return Ok(found);
    }
    let space = |text: &str| match text.bytes().next().is_some_and(is_blank) {
        true => Ok(()),
        false => Err("Space required.".to_owned()),
    };
    fn quoted<'t>(text: &'t str, word: &str) -> Option<(&'t str, &'t str)> {
        let text = skip_blanks(skip_blanks(text.strip_prefix(word)?).strip_prefix('=')?);
        let quote = text.chars().next().filter(|first| matches!(first, '\'' | '"'))?;
        text[1..].split_once(quote)
    }
    space(rest)?;
    let missing = || "Malformed declaration: missing version.".to_owned();
    let (version, mut rest) = quoted(skip_blanks(rest), "version").ok_or_else(missing)?;
    found.version = Some(version);
    if skip_blanks(rest).starts_with("encoding") {
        space(rest)?;
        let missing = || "Missing encoding in text declaration.".to_owned();
        rest = quoted(skip_blanks(rest), "encoding").ok_or_else(missing)?.1;
    }
    if skip_blanks(rest).starts_with("standalone") {
        space(rest)?;
        let wrong = || "standalone accepts only 'yes' or 'no'.".to_owned();
        let (value, behind) = quoted(skip_blanks(rest), "standalone").ok_or_else(wrong)?;
        found.standalone = Some(match value {
            "yes" => true,
            "no" => false,
            _ => return Err(wrong()),
        });
        rest = behind;
    }
    let unfinished = || "Parsing XML declaration: '?>' expected.".to_owned();
    let rest = skip_blanks(rest).strip_prefix("?>").ok_or_else(unfinished)?;
    found.end = text.len() - rest.len();
    if !text[..found.end].is_ascii() {
        return Err("Invalid character value.".to_owned());
    }
    Ok(found)
}

/// Whether a document type declaration comes before the first element (`xml_doctype_in_content`).
fn has_doctype(text: &str) -> bool {
    let mut rest = skip_blanks(text);
    loop {
        let behind = if let Some(inner) = rest.strip_prefix("<!--") {
            inner.split_once("-->")
        } else if let Some(inner) = rest.strip_prefix("<?") {
            inner.split_once("?>")
        } else {
            return rest.starts_with("<!DOCTYPE");
        };
        match behind {
            Some((_, behind)) => rest = skip_blanks(behind),
            None => return false,
        }
    }
}

fn well_formed(text: &str, document: bool) -> Checked {
    let mut reader = Reader::from_str(text);
    reader.config_mut().check_comments = true;
    let (mut depth, mut roots) = (0_usize, 0_usize);
    let (mut begun, mut doctype) = (false, false);
    loop {
        account::step();
        let event = reader.read_event().map_err(|error| error.to_string())?;
        let at_start = !std::mem::replace(&mut begun, true);
        match event {
            Event::Start(start) => {
                roots += usize::from(depth == 0);
                depth += 1;
                element(&start, doctype)?;
            }
            Event::Empty(start) => {
                roots += usize::from(depth == 0);
                element(&start, doctype)?;
            }
            Event::End(_) => depth -= 1,
            Event::Text(part) => {
                let part = decoded(&part)?;
                if document && depth == 0 && !skip_blanks(part).is_empty() {
                    return Err(outside(roots));
                }
                if part.contains("]]>") {
                    return Err("Sequence ']]>' not allowed in content.".to_owned());
                }
                characters(part)?;
                references(part, doctype)?;
            }
            Event::CData(part) => {
                if document && depth == 0 {
                    return Err(outside(roots));
                }
                characters(decoded(&part)?)?;
            }
            Event::Comment(part) => characters(decoded(&part)?)?,
            Event::Decl(_) => {
                if !at_start || !document {
                    return Err("XML declaration allowed only at the start of the document.".into());
                }
                declaration(text)?;
            }
            Event::PI(part) => {
                let target = std::str::from_utf8(part.target()).unwrap_or_default();
                if target.eq_ignore_ascii_case("xml") {
                    return Err("XML declaration allowed only at the start of the document.".into());
                }
                name(target)?;
                characters(decoded(&part)?)?;
            }
            Event::DocType(_) => {
                if !document || roots > 0 || doctype {
                    return Err("A document type declaration stands before the root, once.".into());
                }
                doctype = true;
            }
            Event::Eof => break,
        }
        if document && roots > 1 {
            return Err("Extra content at the end of the document.".to_owned());
        }
    }
    if depth > 0 {
        return Err("Premature end of data: an element has no end.".to_owned());
    }
    match document && roots == 0 {
        true => Err(outside(roots)),
        false => Ok(()),
    }
}

fn outside(roots: usize) -> String {
    match roots {
        0 => "Start tag expected, '<' not found.".to_owned(),
        _ => "Extra content at the end of the document.".to_owned(),
    }
}

/// What the reader hands out is a part of a text.
fn decoded(part: &[u8]) -> std::result::Result<&str, String> {
    std::str::from_utf8(part).map_err(|error| error.to_string())
}

fn element(start: &BytesStart<'_>, doctype: bool) -> Checked {
    name(decoded(start.name().into_inner())?)?;
    let mut end = start.name().into_inner().len();
    for attribute in start.attributes() {
        let Attribute { key, value } = attribute.map_err(|error| error.to_string())?;
        name(decoded(key.into_inner())?)?;
        // Attributes stand apart.
        let place = |part: &[u8]| part.as_ptr() as usize - start.as_ptr() as usize;
        if place(key.into_inner()) <= end {
            return Err("attributes construct error: a space is required.".to_owned());
        }
        // The quote behind it counts.
        end = place(&value) + value.len() + 1;
        let value = decoded(&value)?;
        if value.contains('<') {
            return Err("Unescaped '<' not allowed in attributes values.".to_owned());
        }
        characters(value)?;
        references(value, doctype)?;
    }
    Ok(())
}

fn is_name_start(c: char) -> bool {
    matches!(c, ':' | '_' | 'A'..='Z' | 'a'..='z' | '\u{C0}'..='\u{D6}' | '\u{D8}'..='\u{F6}'
        | '\u{F8}'..='\u{2FF}' | '\u{370}'..='\u{37D}' | '\u{37F}'..='\u{1FFF}'
        | '\u{200C}'..='\u{200D}' | '\u{2070}'..='\u{218F}' | '\u{2C00}'..='\u{2FEF}'
        | '\u{3001}'..='\u{D7FF}' | '\u{F900}'..='\u{FDCF}' | '\u{FDF0}'..='\u{FFFD}'
        | '\u{10000}'..='\u{EFFFF}')
}

fn is_name_character(c: char) -> bool {
    is_name_start(c)
        || matches!(c, '-' | '.' | '0'..='9' | '\u{B7}' | '\u{300}'..='\u{36F}' | '\u{203F}'..='\u{2040}')
}

fn name(text: &str) -> Checked {
    let mut all = text.chars();
    let sound = all.next().is_some_and(is_name_start) && all.all(is_name_character);
    if sound { Ok(()) } else { Err(format!("\"{text}\" is no name.")) }
}

fn is_character(c: char) -> bool {
    matches!(c, '\t' | '\n' | '\r' | ' '..='\u{FFFD}' | '\u{10000}'..)
}

fn characters(text: &str) -> Checked {
    match account::stretches(text).flat_map(str::chars).find(|c| !is_character(*c)) {
        Some(c) => Err(format!("PCDATA invalid Char value {}.", u32::from(c))),
        None => Ok(()),
    }
}

/// References are to characters that there are, or to the five entities that need no declaration; with a document type
/// declaration others may be declared.
fn references(text: &str, doctype: bool) -> Checked {
    for part in account::stepping(text.split('&').skip(1)) {
        let (reference, _) = part.split_once(';').ok_or("EntityRef: expecting ';'.")?;
        if let Some(number) = reference.strip_prefix('#') {
            let code = match number.strip_prefix('x') {
                Some(digits) => u32::from_str_radix(digits, 16),
                None => number.parse(),
            };
            let known = code.ok().and_then(char::from_u32).is_some_and(is_character);
            if !known || number.starts_with('+') || number.starts_with("x+") {
                return Err("xmlParseCharRef: invalid value.".to_owned());
            }
            continue;
        }
        name(reference)?;
        if !doctype && !matches!(reference, "amp" | "lt" | "gt" | "quot" | "apos") {
            return Err(format!("Entity '{reference}' not defined."));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each of these was asked of PostgreSQL 15.20.
    #[test]
    fn what_postgresql_refuses_is_refused() {
        use XmlOption::{Content, Document};
        let sound = [
            (Content, "<?xml version=\"1.0\"?><a/>"),
            (Content, "x"),
            (Content, ""),
            (Content, "a<b/>c"),
            (Content, "&amp;&#65;&#x41;"),
            (Content, "<a/><b/>"),
            (Content, "<!DOCTYPE a><a/>"),
            (Content, "<n:a/>"),
            (Content, "<![CDATA[x]]>"),
            (Content, "<?xml-stylesheet a?><b c='d' e=\"f\"></b>"),
            (Document, "<a/>"),
            (Document, " <!-- x --><a/> "),
        ];
        for (option, text) in sound {
            assert!(check(text, option).is_ok(), "{text}: {:?}", check(text, option));
        }
        let broken = [
            (Content, "<a"),
            (Content, "<a></b>"),
            (Content, "<a>"),
            (Content, "</a>"),
            (Content, "&foo;"),
            (Content, "a & b"),
            (Content, "a &lt b"),
            (Content, "<a b=1/>"),
            (Content, "<a b=\"1\" b=\"2\"/>"),
            (Content, "<a b=\"1\"c=\"2\"/>"),
            (Content, "<a b=\"<\"/>"),
            (Content, "<a>]]></a>"),
            (Content, "<!-- a -- b -->"),
            (Content, "<?xml?><a/>"),
            (Content, "  <?xml version=\"1.0\"?><a/>"),
            (Content, "<1/>"),
            (Content, "\u{1}"),
            (Content, "&#0;"),
            (Document, "x"),
            (Document, ""),
            (Document, "<a/><b/>"),
            (Document, "<a/>x"),
        ];
        for (option, text) in broken {
            assert!(check(text, option).is_err(), "{text}");
        }
    }

    #[test]
    fn a_declaration_that_says_nothing_is_not_shown() {
        let shown = |text: &str| {
            let mut out = Vec::new();
            write(text, &mut out);
            String::from_utf8(out).unwrap()
        };
        assert_eq!(shown("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<a/>"), "<a/>");
        assert_eq!(shown("<?xml version='1.1'?><a/>"), "<?xml version=\"1.1\"?><a/>");
        let alone = "<?xml version=\"1.0\" standalone=\"no\"?><a/>";
        assert_eq!(shown(alone), alone);
        assert_eq!(shown("\n<a/>"), "<a/>");
    }
}
