//! XPath 1.0 over values of `xml`: `xpath`, `xpath_exists`, XMLEXISTS (manual, section 9.15; `xpath_internal` of `xml.c`).
//!
//! PostgreSQL asks libxml2. The language is small and its crates are either left alone for years or speak a later version of
//! it, in which the same expressions mean other things; so it is here: a tree ([`super::tree`]), a parser, an evaluation.

mod evaluate;
mod parse;

pub use evaluate::{Value, text_of as number_text};

use super::construct::escape;
use super::tree::{NodeId, Refused, Tree};
use crate::array::{self, Array};
use crate::error::{Result, SqlError};
use crate::function::Callable::{self, Plain};
use crate::sqlstate::SqlState;
use crate::{CallContext, Datum, SqlType, oids};
use evaluate::Evaluation;

/// By OID.
pub(crate) const FUNCTIONS: &[(u32, Callable)] = &[
    (2931, Plain(|context, a| all(context, a[0].text(), a[1].text(), Some(&a[2])))),
    (2932, Plain(|context, a| all(context, a[0].text(), a[1].text(), None))),
    (2614, Plain(|context, a| exists(context, a[0].text(), a[1].text(), None))),
    (3049, Plain(|context, a| exists(context, a[0].text(), a[1].text(), Some(&a[2])))),
    (3050, Plain(|context, a| exists(context, a[0].text(), a[1].text(), None))),
];

/// The prefixes that an array of pairs gives a meaning.
fn namespaces(
    context: &CallContext<'_>,
    given: Option<&Datum<'_>>,
) -> Result<Vec<(String, String)>> {
    let Some(Datum::Array(bytes)) = given else { return Ok(Vec::new()) };
    let array = Array::of(bytes);
    let lengths: Vec<i32> = array.dimensions().map(|dimension| dimension.length).collect();
    match lengths[..] {
        [] => return Ok(Vec::new()),
        [_, 2] => {}
        _ => {
            let message = "invalid array for XML namespace mapping";
            let error = SqlError::new(SqlState::DATA_EXCEPTION, message);
            return Err(error.detail(
                "The array must be two-dimensional with length of the second axis equal to 2.",
            ));
        }
    }
    let text = |element: Result<Datum<'_>>| {
        Ok(match element? {
            Datum::Text(text) => Some(text.to_owned()),
            _ => None,
        })
    };
    let texts: Vec<Option<String>> =
        array.datums(context.arena).map(text).collect::<Result<_>>()?;
    let pairs = texts.chunks(2).map(|pair| match pair {
        [Some(prefix), Some(uri)] if prefix.is_empty() => Err(SqlError::new(
            SqlState::INTERNAL_ERROR,
            format!("could not register XML namespace with name \"{prefix}\" and URI \"{uri}\""),
        )),
        [Some(prefix), Some(uri)] => Ok((prefix.clone(), uri.clone())),
        _ => Err(SqlError::new(
            SqlState::NULL_VALUE_NOT_ALLOWED,
            "neither namespace name nor URI may be null",
        )),
    });
    pairs.collect()
}

/// What an expression gives over a document, with the tree that its nodes are of.
///
/// # Errors
/// 22000 for no expression, 2200M for no document, XX000 as PostgreSQL for expressions that are none or cannot be computed.
fn evaluate(
    context: &CallContext<'_>,
    expression: &str,
    document: &str,
    given: Option<&Datum<'_>>,
) -> Result<(Tree, Value)> {
    let pairs = namespaces(context, given);
    if expression.is_empty() {
        return Err(SqlError::new(SqlState::DATA_EXCEPTION, "empty XPath expression"));
    }
    let tree = self::document(document)?;
    let namespaces = pairs?;
    let value = Path::read(expression, SqlState::INTERNAL_ERROR)?.value(
        &tree,
        &namespaces,
        context,
        None,
    )?;
    Ok((tree, value))
}

/// A document's tree.
///
/// # Errors
/// 2200M for no document; 0A000 for one that declares what is not read.
pub fn document(text: &str) -> Result<Tree> {
    Tree::read(text).map_err(|refused| match refused {
        Refused::Broken(why) => {
            let message = "could not parse XML document";
            SqlError::new(SqlState::INVALID_XML_DOCUMENT, message).detail(why)
        }
        Refused::Subset => {
            SqlError::unsupported("XPath over a document that declares entities or attributes is")
        }
    })
}

/// An expression that has been read.
#[derive(Debug)]
pub struct Path(parse::Expr);

impl Path {
    /// Of a text.
    ///
    /// # Errors
    /// `state` for what is no expression.
    pub fn read(text: &str, state: SqlState) -> Result<Path> {
        let parsed = parse::parse(text).map_err(|wrong| {
            SqlError::new(state, "invalid XPath expression").detail(wrong.words())
        })?;
        Ok(Path(parsed))
    }

    /// What it gives, asked of a node, or of the whole document.
    ///
    /// # Errors
    /// XX000 as PostgreSQL for what cannot be computed; 57014.
    pub fn value(
        &self,
        tree: &Tree,
        namespaces: &[(String, String)],
        context: &CallContext<'_>,
        node: Option<NodeId>,
    ) -> Result<Value> {
        Evaluation { tree, namespaces, context }.value(&self.0, node)
    }
}

/// Whether an expression finds a node; what is no node-set is found in any case.
fn exists<'a>(
    context: &CallContext<'a>,
    expression: &str,
    document: &str,
    given: Option<&Datum<'_>>,
) -> Result<Datum<'a>> {
    let (_, value) = evaluate(context, expression, document, given)?;
    Ok(Datum::Bool(match value {
        Value::Nodes(nodes) => !nodes.is_empty(),
        Value::Namespaces(found) => !found.is_empty(),
        _ => true,
    }))
}

/// All that an expression finds, as `xml`.
fn all<'a>(
    context: &CallContext<'a>,
    expression: &str,
    document: &str,
    given: Option<&Datum<'_>>,
) -> Result<Datum<'a>> {
    let (tree, value) = evaluate(context, expression, document, given)?;
    let mut found: Vec<String> = Vec::new();
    match value {
        Value::Nodes(nodes) => {
            for node in nodes {
                let mut text = String::new();
                tree.write(node, &mut text);
                found.push(text);
            }
        }
        Value::Namespaces(namespaces) => found = namespaces,
        Value::Bool(value) => found.push(value.to_string()),
        Value::Number(number) => {
            let mut text = Vec::new();
            crate::write_text(
                context,
                SqlType::plain(oids::FLOAT8),
                &Datum::Float8(number),
                &mut text,
            )?;
            found.push(String::from_utf8_lossy(&text).into_owned());
        }
        Value::Text(value) => {
            let mut text = String::new();
            escape(&value, &mut text);
            found.push(text);
        }
    }
    let datums: Vec<Datum<'_>> = found.iter().map(|text| Datum::Text(text)).collect();
    Ok(array::from_datums(context.arena, oids::XML, &datums))
}
