//! XMLTABLE: the rows that a path finds in a document, a column for each path below them (manual, section 9.15.3.4;
//! `tfuncLoadRows` of `nodeTableFuncscan.c`, `XmlTableRoutine` of `xml.c`).

use super::tree::{NodeId, Tree};
use super::xpath::{self, Value};
use crate::error::{Result, SqlError};
use crate::sqlstate::SqlState;
use crate::text::quote::identifier;
use crate::{CallContext, Datum, SqlType, builtin, domain, oids, read_text};
use std::fmt::Write as _;
use std::sync::Arc;

/// An XMLTABLE but for its expressions.
#[derive(Clone, Debug, PartialEq)]
pub struct XmlTable {
    /// The prefixes; none is DEFAULT.
    pub namespaces: Vec<Option<Arc<str>>>,
    /// The columns.
    pub columns: Vec<XmlColumn>,
}

/// A column.
#[derive(Clone, Debug, PartialEq)]
pub struct XmlColumn {
    /// Its name.
    pub name: Arc<str>,
    /// Its type.
    pub ty: SqlType,
    /// FOR ORDINALITY.
    pub ordinality: bool,
    /// Whether it has a PATH: else its name is one.
    pub path: bool,
    /// Whether it has a DEFAULT.
    pub default: bool,
    /// NOT NULL.
    pub not_null: bool,
}

/// The place of the document among the expressions.
const DOCUMENT: usize = 0;
/// That of the path that finds the rows.
const ROWS: usize = 1;
/// That of the first namespace.
const NAMESPACES: usize = 2;

fn is_null(message: &str) -> SqlError {
    SqlError::new(SqlState::NULL_VALUE_NOT_ALLOWED, message)
}

fn path(text: &str, which: &str, state: SqlState) -> Result<xpath::Path> {
    if text.is_empty() {
        let message = format!("{which} path filter must not be empty string");
        return Err(SqlError::new(SqlState::DATA_EXCEPTION, message));
    }
    xpath::Path::read(text, state)
}

impl XmlTable {
    /// The places of each column's path and default among the expressions: the document, the path to the rows, the
    /// namespaces, then these.
    pub fn places(&self) -> impl Iterator<Item = (&XmlColumn, Option<usize>, Option<usize>)> {
        let mut next = NAMESPACES + self.namespaces.len();
        let mut place = move |there: bool| {
            let at = next;
            next += usize::from(there);
            there.then_some(at)
        };
        self.columns.iter().map(move |column| {
            let path = place(column.path);
            (column, path, place(column.default))
        })
    }

    /// Gives the rows of a document. What is asked of `value` is the value of an expression by its place: the document, the
    /// namespaces and the paths once, a default for each row that needs it.
    ///
    /// # Errors
    /// 22004 for what must not be NULL; 21000 for several nodes that are one value; 42601 and 22000 for paths that are
    /// none; 0A000 for a namespace without a prefix; those of XPath, of the columns' types and of both closures.
    pub fn rows<'a, E: From<SqlError>>(
        &self,
        context: &CallContext<'a>,
        value: &mut impl FnMut(usize) -> std::result::Result<Datum<'a>, E>,
        emit: &mut impl FnMut(&[Datum<'a>]) -> std::result::Result<(), E>,
    ) -> std::result::Result<(), E> {
        let document = value(DOCUMENT)?;
        if document.is_null() {
            return Ok(());
        }
        let tree = xpath::document(document.text())?;
        let mut namespaces = Vec::with_capacity(self.namespaces.len());
        for (at, prefix) in self.namespaces.iter().enumerate() {
            let uri = value(NAMESPACES + at)?;
            if uri.is_null() {
                return Err(is_null("namespace URI must not be null").into());
            }
            let Some(prefix) = prefix else {
                return Err(SqlError::new(
                    SqlState::FEATURE_NOT_SUPPORTED,
                    "DEFAULT namespace is not supported",
                )
                .into());
            };
            namespaces.push((prefix.to_string(), uri.text().to_owned()));
        }
        let found = value(ROWS)?;
        if found.is_null() {
            return Err(is_null("row filter expression must not be null").into());
        }
        let rows = path(found.text(), "row", SqlState::SYNTAX_ERROR)?;
        let mut paths = Vec::with_capacity(self.columns.len());
        for (column, place, _) in self.places() {
            let own = match place {
                _ if column.ordinality => None,
                Some(place) => Some(value(place)?),
                None => Some(Datum::Text(context.arena.alloc_str(&column.name))),
            };
            if own.is_some_and(|own| own.is_null()) {
                let detail = format!("Filter for column \"{}\" is null.", column.name);
                let error = is_null("column filter expression must not be null");
                return Err(error.detail(detail).into());
            }
            let own = own.map(|own| path(own.text(), "column", SqlState::DATA_EXCEPTION));
            paths.push(own.transpose()?);
        }
        let Value::Nodes(nodes) = rows.value(&tree, &namespaces, context, None)? else {
            return Ok(());
        };
        let mut row = Vec::with_capacity(self.columns.len());
        for (number, node) in (1..).zip(nodes) {
            row.clear();
            for ((column, _, default), path) in self.places().zip(&paths) {
                let mut datum = match path {
                    None => Datum::Int4(number),
                    Some(path) => {
                        let found = path.value(&tree, &namespaces, context, Some(node))?;
                        match text_of(&tree, context, found, column.ty)? {
                            Some(text) => read_text(context, column.ty, &text)?,
                            None => Datum::Null,
                        }
                    }
                };
                if let (true, Some(default)) = (datum.is_null(), default) {
                    datum = value(default)?;
                }
                if column.not_null && datum.is_null() {
                    let message = format!("null is not allowed in column \"{}\"", column.name);
                    return Err(is_null(&message).into());
                }
                row.push(datum);
            }
            emit(&row)?;
        }
        Ok(())
    }

    /// XMLTABLE as definitions show it, of expressions as they are shown (`get_tablefunc`).
    #[must_use]
    pub fn printed(&self, expressions: &[String], name_of: impl Fn(SqlType) -> String) -> String {
        let shown = |place: usize| expressions.get(place).map_or("", String::as_str);
        let mut out = "XMLTABLE(".to_owned();
        for (at, prefix) in self.namespaces.iter().enumerate() {
            let uri = shown(NAMESPACES + at);
            out += if at == 0 { "XMLNAMESPACES (" } else { ", " };
            out += &match prefix {
                Some(prefix) => format!("{uri} AS {}", identifier(prefix)),
                None => format!("DEFAULT {uri}"),
            };
        }
        if !self.namespaces.is_empty() {
            out += "), ";
        }
        write!(out, "({}) PASSING ({}) COLUMNS ", shown(ROWS), shown(DOCUMENT))
            .expect("a string grows");
        for (at, (column, path, default)) in self.places().enumerate() {
            if at > 0 {
                out += ", ";
            }
            out += &identifier(&column.name);
            if column.ordinality {
                out += " FOR ORDINALITY";
                continue;
            }
            write!(out, " {}", name_of(column.ty)).expect("a string grows");
            for (word, place) in [("DEFAULT", default), ("PATH", path)] {
                if let Some(place) = place {
                    write!(out, " {word} ({})", shown(place)).expect("a string grows");
                }
            }
            if column.not_null {
                out += " NOT NULL";
            }
        }
        out.push(')');
        out
    }
}

/// The text of what a path has found, which a column's type reads (`XmlTableGetValue`).
fn text_of(
    tree: &Tree,
    context: &CallContext<'_>,
    found: Value,
    ty: SqlType,
) -> Result<Option<String>> {
    let base = domain::base(context, ty);
    let is_xml = base.oid.0 == oids::XML;
    let mut out = String::new();
    match found {
        Value::Nodes(nodes) if nodes.is_empty() => return Ok(None),
        Value::Namespaces(all) if all.is_empty() => return Ok(None),
        Value::Nodes(nodes) if is_xml => {
            nodes.iter().for_each(|node: &NodeId| tree.write(*node, &mut out));
        }
        Value::Nodes(nodes) => match nodes[..] {
            [node] => out = tree.text(node),
            _ => return Err(several()),
        },
        Value::Namespaces(all) if is_xml => out = all.concat(),
        Value::Namespaces(mut all) => match all.len() {
            1 => out = all.remove(0),
            _ => return Err(several()),
        },
        Value::Text(text) if is_xml => super::construct::escape(&text, &mut out),
        Value::Text(text) => out = text,
        Value::Number(number) => out = xpath::number_text(number),
        Value::Bool(value) => {
            let numeric = builtin::type_by_oid(base.oid.0).is_some_and(|ty| ty.category == 'N');
            out = if numeric { u8::from(value).to_string() } else { value.to_string() };
        }
    }
    Ok(Some(out))
}

fn several() -> SqlError {
    let message = "more than one value returned by column XPath expression";
    SqlError::new(SqlState::CARDINALITY_VIOLATION, message)
}
