//! A path as text, as PostgreSQL prints it.
//!
//! PostgreSQL: `printJsonPathItem`. Parentheses are printed around an operator by the priority of the one around it, even
//! where accessors follow, so that `2 > (1 + 1).abs()` is shown as `2 > 1 + 1.abs()`.

use super::tree::{Arithmetic, Expression, Head, Level, Path, Regex, Step};
use crate::depth::deeper;
use crate::json::escape;
use crate::numeric;

/// Appends a path's text.
pub(super) fn print(path: &Path<'_>, out: &mut Vec<u8>) {
    if !path.lax {
        out.extend_from_slice(b"strict ");
    }
    expression(path.root, true, out);
}

/// How tightly an operator binds.
fn priority(head: &Head<'_>) -> u32 {
    match head {
        Head::Or(..) => 0,
        Head::And(..) => 1,
        Head::Compare(..) | Head::StartsWith(..) => 2,
        Head::Arithmetic(Arithmetic::Add | Arithmetic::Subtract, ..) => 3,
        Head::Arithmetic(..) => 4,
        Head::Sign(..) => 5,
        _ => 6,
    }
}

fn expression(printed: &Expression<'_>, brackets: bool, out: &mut Vec<u8>) {
    deeper(|| head(printed, brackets, out));
    for each in printed.steps {
        step(each, out);
    }
}

/// An operand of `parent`.
fn operand(printed: &Expression<'_>, parent: &Head<'_>, out: &mut Vec<u8>) {
    expression(printed, priority(&printed.head) <= priority(parent), out);
}

fn text(text: &str, out: &mut Vec<u8>) {
    out.extend_from_slice(text.as_bytes());
}

fn head(printed: &Expression<'_>, brackets: bool, out: &mut Vec<u8>) {
    let head = &printed.head;
    let infix = |left: &Expression<'_>, symbol: &str, right: &Expression<'_>, out: &mut Vec<u8>| {
        operand(left, head, out);
        out.push(b' ');
        text(symbol, out);
        out.push(b' ');
        operand(right, head, out);
    };
    let bracketed = brackets
        && matches!(
            head,
            Head::Or(..)
                | Head::And(..)
                | Head::Compare(..)
                | Head::StartsWith(..)
                | Head::LikeRegex(..)
                | Head::Arithmetic(..)
                | Head::Sign(..)
        )
        || matches!(head, Head::Number(_)) && !printed.steps.is_empty();
    if bracketed {
        out.push(b'(');
    }
    match head {
        Head::Null => text("null", out),
        Head::Bool(value) => text(if *value { "true" } else { "false" }, out),
        Head::Number(stored) => numeric::text::write(stored, out),
        Head::String(value) => escape(value, out),
        Head::Variable(name) => {
            out.push(b'$');
            escape(name, out);
        }
        Head::Root => out.push(b'$'),
        Head::Current => out.push(b'@'),
        Head::Last => text("last", out),
        Head::Arithmetic(operator, left, right) => infix(left, operator.symbol(), right, out),
        Head::Compare(operator, left, right) => infix(left, operator.symbol(), right, out),
        Head::And(left, right) => infix(left, "&&", right, out),
        Head::Or(left, right) => infix(left, "||", right, out),
        Head::StartsWith(whole, initial) => infix(whole, "starts with", initial, out),
        Head::Sign(sign, argument) => {
            text(sign.symbol(), out);
            operand(argument, head, out);
        }
        Head::Not(predicate) => enclosed("!(", predicate, ")", out),
        Head::IsUnknown(predicate) => enclosed("(", predicate, ") is unknown", out),
        Head::Exists(argument) => enclosed("exists (", argument, ")", out),
        Head::LikeRegex(argument, regex) => {
            operand(argument, head, out);
            like_regex(regex, out);
        }
    }
    if bracketed {
        out.push(b')');
    }
}

fn enclosed(before: &str, inner: &Expression<'_>, behind: &str, out: &mut Vec<u8>) {
    text(before, out);
    expression(inner, false, out);
    text(behind, out);
}

fn like_regex(regex: &Regex<'_>, out: &mut Vec<u8>) {
    text(" like_regex ", out);
    escape(regex.pattern, out);
    let flags = [
        (regex.ignore_case, b'i'),
        (regex.dot_all, b's'),
        (regex.multi_line, b'm'),
        (regex.extended, b'x'),
        (regex.quote, b'q'),
    ];
    if flags.iter().any(|(set, _)| *set) {
        text(" flag \"", out);
        out.extend(flags.iter().filter(|(set, _)| *set).map(|(_, letter)| *letter));
        out.push(b'"');
    }
}

fn step(step: &Step<'_>, out: &mut Vec<u8>) {
    match step {
        Step::Key(key) => {
            out.push(b'.');
            escape(key, out);
        }
        Step::AnyKey => text(".*", out),
        Step::AnyElement => text("[*]", out),
        Step::Elements(subscripts) => {
            for (i, (from, to)) in subscripts.iter().enumerate() {
                out.push(if i == 0 { b'[' } else { b',' });
                expression(from, false, out);
                if let Some(to) = to {
                    text(" to ", out);
                    expression(to, false, out);
                }
            }
            out.push(b']');
        }
        Step::Any { first, last } => {
            let level = |level: Level| match level {
                Level::LAST => "last".to_owned(),
                Level(number) => number.to_string(),
            };
            text(".**", out);
            match (*first, *last) {
                (Level(0), Level::LAST) => {}
                (first, last) if first == last => text(&format!("{{{}}}", level(first)), out),
                (first, last) => text(&format!("{{{} to {}}}", level(first), level(last)), out),
            }
        }
        Step::Method(method) => text(&format!(".{}()", method.name()), out),
        Step::Datetime(template) => {
            text(".datetime(", out);
            if let Some(template) = template {
                escape(template, out);
            }
            out.push(b')');
        }
        Step::Filter(predicate) => enclosed("?(", predicate, ")", out),
    }
}
