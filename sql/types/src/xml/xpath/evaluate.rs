//! What an expression of XPath 1.0 gives over a document (sections 2 to 4), as libxml2 computes it.

use super::parse::{Axis, Expr, Operator, Start, Step, Test};
use crate::CallContext;
use crate::account;
use crate::depth::deeper;
use crate::error::{Result, SqlError};
use crate::sqlstate::SqlState;
use crate::xml::tree::{Kind, Name, NodeId, Tree, XML};
use std::collections::HashSet;

/// A value (section 1).
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// Nodes, in document order, each once.
    Nodes(Vec<NodeId>),
    /// The namespaces of an axis of that name, of which only the number and the values are told.
    Namespaces(Vec<String>),
    /// A truth.
    Bool(bool),
    /// A number.
    Number(f64),
    /// A string.
    Text(String),
}

/// Where an expression is evaluated.
#[derive(Clone, Copy)]
struct At {
    node: NodeId,
    position: usize,
    size: usize,
}

/// An evaluation over one document.
pub struct Evaluation<'e, 'c> {
    /// The document.
    pub tree: &'e Tree,
    /// What prefixes in the expression stand for.
    pub namespaces: &'e [(String, String)],
    /// The call that it is part of, which may be cancelled.
    pub context: &'e CallContext<'c>,
}

fn failed(why: &str) -> SqlError {
    SqlError::new(SqlState::INTERNAL_ERROR, "could not create XPath object").detail(why)
}

fn invalid_type() -> SqlError {
    failed("Invalid type")
}

fn is_blank(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\n' | '\r')
}

/// A text's number (section 4.4).
fn number_of(text: &str) -> f64 {
    let text = text.trim_matches(is_blank);
    let digits = text.strip_prefix('-').unwrap_or(text);
    let sound = digits.bytes().any(|byte| byte.is_ascii_digit())
        && digits
            .bytes()
            .all(|byte| byte.is_ascii_digit() || matches!(byte, b'.' | b'e' | b'E' | b'+' | b'-'))
        && digits.starts_with(|c: char| c.is_ascii_digit() || c == '.');
    if sound { text.parse().unwrap_or(f64::NAN) } else { f64::NAN }
}

/// A number's text, with 15 digits (`xmlXPathFormatNumber`).
#[must_use]
pub fn text_of(number: f64) -> String {
    if number.is_nan() {
        return "NaN".to_owned();
    }
    if number.is_infinite() {
        return if number > 0.0 { "Infinity" } else { "-Infinity" }.to_owned();
    }
    if number == number.trunc() && number.abs() < f64::from(i32::MAX) {
        return format!("{}", number as i64);
    }
    let magnitude = number.abs();
    let trimmed = |text: &str| match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text.to_owned(),
    };
    if !(1e-5..=1e9).contains(&magnitude) {
        let text = format!("{number:.14e}");
        let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
        let (sign, exponent) = match exponent.strip_prefix('-') {
            Some(exponent) => ('-', exponent),
            None => ('+', exponent),
        };
        return format!("{}e{sign}{exponent:0>2}", trimmed(digits));
    }
    let places = magnitude.log10() as i32;
    let decimals = if places > 0 { 15 - places - 1 } else { 15 - places };
    trimmed(&format!("{number:.*}", usize::try_from(decimals).unwrap_or(0)))
}

impl Evaluation<'_, '_> {
    /// The value of an expression, asked of the document or of one of its nodes, which is none of several.
    ///
    /// # Errors
    /// XX000 for functions, variables and prefixes that there are not, and operands of another type; 57014.
    pub fn value(&self, expr: &Expr, node: Option<NodeId>) -> Result<Value> {
        let at = node.map_or(At { node: 0, position: 1, size: 1 }, |node| At {
            node,
            position: 0,
            size: 0,
        });
        self.evaluate(expr, at)
    }

    fn evaluate(&self, expr: &Expr, at: At) -> Result<Value> {
        deeper(|| self.evaluated(expr, at))
    }

    fn evaluated(&self, expr: &Expr, at: At) -> Result<Value> {
        account::step();
        Ok(match expr {
            Expr::Text(text) => Value::Text(text.clone()),
            Expr::Number(number) => Value::Number(*number),
            Expr::Variable => return Err(failed("Undefined variable")),
            Expr::Negative(operand) => Value::Number(-self.number(&self.evaluate(operand, at)?)),
            Expr::Binary(Operator::Or, left, right) => {
                Value::Bool(self.truth(left, at)? || self.truth(right, at)?)
            }
            Expr::Binary(Operator::And, left, right) => {
                Value::Bool(self.truth(left, at)? && self.truth(right, at)?)
            }
            Expr::Binary(operator, left, right) => {
                let (left, right) = (self.evaluate(left, at)?, self.evaluate(right, at)?);
                self.binary(*operator, &left, &right)?
            }
            Expr::Filter(inner, predicates) => {
                let Value::Nodes(mut nodes) = self.evaluate(inner, at)? else {
                    return Err(invalid_type());
                };
                for predicate in predicates {
                    nodes = self.kept(nodes, predicate)?;
                }
                Value::Nodes(nodes)
            }
            Expr::Path(start, steps) => {
                let nodes = match start {
                    Start::Here => vec![at.node],
                    Start::Root => vec![0],
                    Start::At(inner) => match self.evaluate(inner, at)? {
                        Value::Nodes(nodes) => nodes,
                        _ => return Err(invalid_type()),
                    },
                };
                self.path(nodes, steps)?
            }
            Expr::Call(name, arguments) => self.call(name, arguments, at)?,
        })
    }

    fn truth(&self, expr: &Expr, at: At) -> Result<bool> {
        Ok(self.bool(&self.evaluate(expr, at)?))
    }

    fn bool(&self, value: &Value) -> bool {
        match value {
            Value::Nodes(nodes) => !nodes.is_empty(),
            Value::Namespaces(found) => !found.is_empty(),
            Value::Bool(value) => *value,
            Value::Number(number) => *number != 0.0 && !number.is_nan(),
            Value::Text(text) => !text.is_empty(),
        }
    }

    fn number(&self, value: &Value) -> f64 {
        match value {
            Value::Bool(value) => f64::from(u8::from(*value)),
            Value::Number(number) => *number,
            _ => number_of(&self.text(value)),
        }
    }

    fn text(&self, value: &Value) -> String {
        match value {
            Value::Nodes(nodes) => {
                nodes.first().map_or_else(String::new, |node| self.tree.text(*node))
            }
            Value::Namespaces(found) => found.first().cloned().unwrap_or_default(),
            Value::Bool(value) => value.to_string(),
            Value::Number(number) => text_of(*number),
            Value::Text(text) => text.clone(),
        }
    }

    fn binary(&self, operator: Operator, left: &Value, right: &Value) -> Result<Value> {
        let numbers = |compute: fn(f64, f64) -> f64| {
            Value::Number(compute(self.number(left), self.number(right)))
        };
        Ok(match operator {
            Operator::Plus => numbers(|a, b| a + b),
            Operator::Minus => numbers(|a, b| a - b),
            Operator::Times => numbers(|a, b| a * b),
            Operator::Div => numbers(|a, b| a / b),
            Operator::Mod => numbers(|a, b| a % b),
            Operator::Union => match (left, right) {
                (Value::Nodes(left), Value::Nodes(right)) => {
                    Value::Nodes(in_order([&left[..], &right[..]].concat()))
                }
                _ => return Err(invalid_type()),
            },
            _ => Value::Bool(self.compare(operator, left, right)?),
        })
    }

    /// The texts of what a node-set has.
    fn texts(&self, value: &Value) -> Option<Vec<String>> {
        match value {
            Value::Nodes(nodes) => Some(nodes.iter().map(|node| self.tree.text(*node)).collect()),
            Value::Namespaces(found) => Some(found.clone()),
            _ => None,
        }
    }

    /// Section 3.4: of node-sets some node has to stand the comparison.
    fn compare(&self, operator: Operator, left: &Value, right: &Value) -> Result<bool> {
        let equality = matches!(operator, Operator::Equal | Operator::Unequal);
        let numbers = |a: f64, b: f64| match operator {
            Operator::Equal => a == b,
            Operator::Unequal => a != b,
            Operator::Less => a < b,
            Operator::LessOrEqual => a <= b,
            Operator::Greater => a > b,
            _ => a >= b,
        };
        let same = |equal: bool| equal == (operator == Operator::Equal);
        if equality && (matches!(left, Value::Bool(_)) || matches!(right, Value::Bool(_))) {
            return Ok(same(self.bool(left) == self.bool(right)));
        }
        let plain = |a: &Value, b: &Value| match (a, b) {
            _ if !equality => numbers(self.number(a), self.number(b)),
            (Value::Number(_), _) | (_, Value::Number(_)) => {
                numbers(self.number(a), self.number(b))
            }
            _ => same(self.text(a) == self.text(b)),
        };
        match (self.texts(left), self.texts(right)) {
            (None, None) => Ok(plain(left, right)),
            (Some(left), None) => Ok(left.into_iter().any(|text| plain(&Value::Text(text), right))),
            (None, Some(right)) => {
                Ok(right.into_iter().any(|text| plain(left, &Value::Text(text))))
            }
            (Some(left), Some(right)) if operator == Operator::Equal => {
                let left: HashSet<String> = left.into_iter().collect();
                Ok(right.iter().any(|text| left.contains(text)))
            }
            (Some(left), Some(right)) if operator == Operator::Unequal => {
                let first = left.first().or(right.first());
                let differs = left.iter().chain(&right).any(|text| Some(text) != first);
                Ok(differs && !left.is_empty() && !right.is_empty())
            }
            (Some(left), Some(right)) => {
                // The least of one side and the greatest of the other decide.
                let ends = |texts: &[String]| {
                    let found = texts.iter().map(|text| number_of(text)).filter(|a| !a.is_nan());
                    found.fold(None, |ends: Option<(f64, f64)>, a| {
                        Some(ends.map_or((a, a), |(low, high)| (low.min(a), high.max(a))))
                    })
                };
                Ok(match (ends(&left), ends(&right)) {
                    (Some((low, high)), Some((other_low, other_high))) => match operator {
                        Operator::Less | Operator::LessOrEqual => numbers(low, other_high),
                        _ => numbers(high, other_low),
                    },
                    _ => false,
                })
            }
        }
    }

    /// Those nodes for which a predicate holds, by their places in the order given.
    fn kept(&self, nodes: Vec<NodeId>, predicate: &Expr) -> Result<Vec<NodeId>> {
        let size = nodes.len();
        let mut kept = Vec::new();
        for (number, node) in nodes.into_iter().enumerate() {
            let position = number + 1;
            let holds = match self.evaluate(predicate, At { node, position, size })? {
                Value::Number(number) => number == position as f64,
                value => self.bool(&value),
            };
            if holds {
                kept.push(node);
            }
        }
        Ok(kept)
    }

    fn path(&self, mut nodes: Vec<NodeId>, steps: &[Step]) -> Result<Value> {
        for (number, step) in steps.iter().enumerate() {
            if step.axis == Axis::Namespace {
                if number + 1 < steps.len() || !step.predicates.is_empty() {
                    return Err(SqlError::unsupported("steps behind namespaces in XPath are"));
                }
                let elements = nodes
                    .iter()
                    .filter(|node| matches!(self.tree.node(**node).kind, Kind::Element(..)));
                let found = elements.flat_map(|element| self.tree.namespaces(*element));
                return Ok(Value::Namespaces(found.collect()));
            }
            let mut next = Vec::new();
            for node in nodes {
                self.context.catalog.check_cancel()?;
                let mut found = self.along(node, step.axis);
                let attribute = step.axis == Axis::Attribute;
                let mut wrong = None;
                found.retain(|found| match self.passes(*found, &step.test, attribute) {
                    Ok(passes) => passes,
                    Err(error) => {
                        wrong = Some(error);
                        false
                    }
                });
                if let Some(error) = wrong {
                    return Err(error);
                }
                for predicate in &step.predicates {
                    found = self.kept(found, predicate)?;
                }
                next.append(&mut found);
            }
            // A prefix that stands for nothing is told of even where there is nothing to be looked at.
            if let Test::Any(Some(prefix)) | Test::Named(Some(prefix), _) = &step.test {
                self.uri(prefix)?;
            }
            nodes = in_order(next);
        }
        Ok(Value::Nodes(nodes))
    }

    /// The nodes of an axis, the nearest first.
    fn along(&self, node: NodeId, axis: Axis) -> Vec<NodeId> {
        let tree = self.tree;
        let parent = |node: NodeId| (node > 0).then(|| tree.node(node).parent);
        let up = |from: Option<NodeId>| std::iter::successors(from, |at| parent(*at));
        let plain = |from: NodeId, to: NodeId| {
            account::stepping(from..to).filter(|at| !tree.is_attribute(*at))
        };
        let end = tree.node(node).end;
        match axis {
            Axis::Itself => vec![node],
            Axis::Parent => parent(node).into_iter().collect(),
            Axis::Ancestor => up(parent(node)).collect(),
            Axis::AncestorOrSelf => up(Some(node)).collect(),
            Axis::Attribute => tree.attributes(node).collect(),
            Axis::Child => account::stepping(tree.children(node)).collect(),
            Axis::Descendant => plain(node + 1, end).collect(),
            Axis::DescendantOrSelf => std::iter::once(node).chain(plain(node + 1, end)).collect(),
            // What is below an attribute's element comes behind it.
            Axis::Following => plain(end, tree.node(0).end).collect(),
            Axis::Preceding => {
                let above: HashSet<NodeId> = up(Some(node)).collect();
                let mut found: Vec<NodeId> =
                    plain(1, node).filter(|at| !above.contains(at)).collect();
                found.reverse();
                found
            }
            Axis::FollowingSibling | Axis::PrecedingSibling if tree.is_attribute(node) => {
                Vec::new()
            }
            Axis::FollowingSibling | Axis::PrecedingSibling => {
                let Some(parent) = parent(node) else { return Vec::new() };
                let siblings = account::stepping(tree.children(parent));
                if axis == Axis::FollowingSibling {
                    return siblings.filter(|at| *at > node).collect();
                }
                let mut found: Vec<NodeId> = siblings.take_while(|at| *at < node).collect();
                found.reverse();
                found
            }
            Axis::Namespace => Vec::new(),
        }
    }

    fn uri(&self, prefix: &str) -> Result<&str> {
        if prefix == "xml" {
            return Ok(XML);
        }
        let known = self.namespaces.iter().rev().find(|(known, _)| known == prefix);
        known.map(|(_, uri)| &**uri).ok_or_else(|| failed("Undefined namespace prefix"))
    }

    fn passes(&self, node: NodeId, test: &Test, attribute: bool) -> Result<bool> {
        account::step();
        let kind = &self.tree.node(node).kind;
        let name = match kind {
            Kind::Element(name, _) if !attribute => Some(name),
            Kind::Attribute(name, _) if attribute => Some(name),
            _ => None,
        };
        Ok(match test {
            Test::Node => true,
            Test::Text => matches!(kind, Kind::Text(_) | Kind::CData(_)),
            Test::Comment => matches!(kind, Kind::Comment(_)),
            Test::Instruction(wanted) => match kind {
                Kind::Instruction(target, _) => {
                    wanted.as_ref().is_none_or(|wanted| wanted == target)
                }
                _ => false,
            },
            Test::Any(None) => name.is_some(),
            Test::Any(Some(prefix)) => {
                let uri = self.uri(prefix)?;
                name.is_some_and(|name| name.uri == uri)
            }
            Test::Named(prefix, local) => {
                let uri = prefix.as_ref().map_or(Ok(""), |prefix| self.uri(prefix))?;
                name.is_some_and(|name| name.uri == uri && name.local == *local)
            }
        })
    }

    /// The name that a function is asked for: of the first node given, or of the one at hand.
    fn name(&self, arguments: &[Value], at: At) -> Result<Option<Name>> {
        let node = match arguments {
            [] => Some(at.node),
            [Value::Nodes(nodes)] => nodes.first().copied(),
            _ => return Err(invalid_type()),
        };
        Ok(node.and_then(|node| match &self.tree.node(node).kind {
            Kind::Element(name, _) | Kind::Attribute(name, _) => Some(name.clone()),
            Kind::Instruction(target, _) => Some(Name { local: target.clone(), ..Name::default() }),
            _ => None,
        }))
    }

    fn call(&self, name: &str, given: &[Expr], at: At) -> Result<Value> {
        let range = match name {
            "last" | "position" | "true" | "false" => 0..=0,
            "count" | "id" | "boolean" | "not" | "lang" | "sum" | "floor" | "ceiling" | "round" => {
                1..=1
            }
            "local-name" | "namespace-uri" | "name" | "string" | "string-length"
            | "normalize-space" | "number" => 0..=1,
            "concat" => 2..=usize::MAX,
            "starts-with" | "contains" | "substring-before" | "substring-after" => 2..=2,
            "substring" => 2..=3,
            "translate" => 3..=3,
            _ => return Err(failed("Unregistered function")),
        };
        if !range.contains(&given.len()) {
            return Err(failed("Invalid number of arguments"));
        }
        let values: Vec<Value> =
            given.iter().map(|given| self.evaluate(given, at)).collect::<Result<_>>()?;
        let own = || values.first().cloned().unwrap_or(Value::Nodes(vec![at.node]));
        let text =
            |number: usize| values.get(number).map_or_else(String::new, |value| self.text(value));
        let number = |compute: fn(f64) -> f64| Value::Number(compute(self.number(&own())));
        let part = |part: Option<&str>| Value::Text(part.unwrap_or_default().to_owned());
        Ok(match name {
            "position" if at.position == 0 => return Err(failed("Invalid context position")),
            "last" if at.size == 0 => return Err(failed("Invalid context size")),
            "last" => Value::Number(at.size as f64),
            "position" => Value::Number(at.position as f64),
            "true" => Value::Bool(true),
            "false" => Value::Bool(false),
            "count" => match &values[0] {
                Value::Nodes(nodes) => Value::Number(nodes.len() as f64),
                Value::Namespaces(found) => Value::Number(found.len() as f64),
                _ => return Err(invalid_type()),
            },
            // Without declarations no attribute is an ID.
            "id" => Value::Nodes(Vec::new()),
            "boolean" => Value::Bool(self.bool(&values[0])),
            "not" => Value::Bool(!self.bool(&values[0])),
            "lang" => Value::Bool(self.speaks(at.node, &text(0))),
            "sum" => {
                let texts = self.texts(&values[0]).ok_or_else(invalid_type)?;
                Value::Number(texts.iter().map(|text| number_of(text)).fold(0.0, |a, b| a + b))
            }
            "floor" => number(f64::floor),
            "ceiling" => number(f64::ceil),
            "round" => number(|a| if (-0.5..0.0).contains(&a) { -0.0 } else { (a + 0.5).floor() }),
            "number" => number(|a| a),
            "local-name" => {
                Value::Text(self.name(&values, at)?.map_or_else(String::new, |name| name.local))
            }
            "namespace-uri" => {
                Value::Text(self.name(&values, at)?.map_or_else(String::new, |name| name.uri))
            }
            "name" => {
                Value::Text(self.name(&values, at)?.map_or_else(String::new, |name| name.written()))
            }
            "string" => Value::Text(self.text(&own())),
            "string-length" => Value::Number(self.text(&own()).chars().count() as f64),
            "normalize-space" => {
                let text = self.text(&own());
                let words: Vec<&str> =
                    text.split(is_blank).filter(|word| !word.is_empty()).collect();
                Value::Text(words.join(" "))
            }
            "concat" => {
                let mut all = String::new();
                for value in &values {
                    all.push_str(&self.text(value));
                    crate::text::check_growth(0, all.len())?;
                }
                Value::Text(all)
            }
            "starts-with" => Value::Bool(text(0).starts_with(&text(1))),
            "contains" => Value::Bool(text(0).contains(&text(1))),
            "substring-before" => part(text(0).split_once(&text(1)).map(|(before, _)| before)),
            "substring-after" => part(text(0).split_once(&text(1)).map(|(_, behind)| behind)),
            "substring" => {
                let round = |value: &Value| {
                    let number = self.number(value);
                    if number.is_finite() { (number + 0.5).floor() } else { number }
                };
                let from = round(&values[1]);
                let to = values.get(2).map_or(f64::INFINITY, |length| from + round(length));
                let within = |(place, _): &(usize, char)| {
                    let place = (*place + 1) as f64;
                    place >= from && place < to
                };
                let text = text(0);
                Value::Text(text.chars().enumerate().filter(within).map(|(_, c)| c).collect())
            }
            _ => {
                let (from, to) = (text(1), text(2));
                let to: Vec<char> = to.chars().collect();
                let translated = |c: char| match from.chars().position(|known| known == c) {
                    Some(place) => to.get(place).copied(),
                    None => Some(c),
                };
                Value::Text(text(0).chars().filter_map(translated).collect())
            }
        })
    }

    /// Whether `xml:lang` at or above a node is a language or a part of it (section 4.3).
    fn speaks(&self, node: NodeId, wanted: &str) -> bool {
        let up =
            std::iter::successors(Some(node), |at| (*at > 0).then(|| self.tree.node(*at).parent));
        let mut languages = up.flat_map(|at| self.tree.attributes(at)).filter_map(|attribute| {
            match &self.tree.node(attribute).kind {
                Kind::Attribute(name, value) if name.local == "lang" && name.uri == XML => {
                    Some(value)
                }
                _ => None,
            }
        });
        languages.next().is_some_and(|language| {
            let (language, wanted) = (language.to_ascii_lowercase(), wanted.to_ascii_lowercase());
            let behind = language.strip_prefix(&wanted);
            behind.is_some_and(|behind| behind.is_empty() || behind.starts_with('-'))
        })
    }
}

/// Nodes in document order, each once.
fn in_order(mut nodes: Vec<NodeId>) -> Vec<NodeId> {
    nodes.sort_unstable();
    nodes.dedup();
    nodes
}
