//! Precedence and associativity against a second reader of PostgreSQL's grammar, sqlparser: an expression as it stands, and
//! the same with a pair of parentheses around every operation that sqlparser found in it, must be one tree.
//!
//! `docs/design/0002-parser.md` says what place sqlparser has beside the parser.

use super::parse_expression;
use proptest::prelude::*;
use sqlparser::ast::{CastKind, Expr, visit_expressions_mut};
use sqlparser::dialect::PostgreSqlDialect;
use sqlparser::parser::Parser;
use std::ops::ControlFlow;

/// The text with every operation in parentheses, as sqlparser reads it.
fn parenthesised(text: &str) -> String {
    let dialect = PostgreSqlDialect {};
    let mut expr = Parser::new(&dialect)
        .try_with_sql(text)
        .and_then(|mut parser| parser.parse_expr())
        .unwrap_or_else(|error| panic!("{text}: {error}"));
    // Children come before what holds them.
    let flow = visit_expressions_mut(&mut expr, |found| {
        let operation = matches!(
            found,
            Expr::BinaryOp { .. }
                | Expr::UnaryOp { .. }
                | Expr::Between { .. }
                | Expr::InList { .. }
                | Expr::Like { .. }
                | Expr::IsNull(_)
                | Expr::IsNotNull(_)
                | Expr::IsTrue(_)
                | Expr::IsNotFalse(_)
                | Expr::Collate { .. }
                | Expr::AtTimeZone { .. }
                | Expr::Cast { kind: CastKind::DoubleColon, .. }
        );
        if operation {
            let inner = std::mem::replace(found, Expr::Identifier("placeholder".into()));
            *found = Expr::Nested(Box::new(inner));
        }
        ControlFlow::<()>::Continue(())
    });
    assert!(flow.is_continue());
    expr.to_string()
}

/// The tree of an expression without the places in the text.
fn tree(text: &str) -> String {
    let expr = parse_expression(text).unwrap_or_else(|error| panic!("{text}: {error}"));
    let shown = format!("{expr:?}");
    regex::Regex::new(r"at: \d+").expect("a pattern").replace_all(&shown, "").into_owned()
}

/// Which expressions may stand in a place.
#[derive(Clone, Copy, PartialEq)]
enum Grammar {
    /// All of them (`a_expr`).
    Any,
    /// Those without COLLATE and AT TIME ZONE, as between BETWEEN and AND (`b_expr`).
    Restricted,
}

fn operand(grammar: Grammar) -> impl Strategy<Value = String> {
    let atom = prop::sample::select(vec!["a", "t.b", "7", "1.5", "'x'", "f(c)", "(d)", "null"]);
    let mut suffixes = vec!["", "", "", "::int", "::text::name"];
    if grammar == Grammar::Any {
        suffixes.push(" collate \"C\"");
    }
    let suffix = prop::sample::select(suffixes);
    (atom, suffix).prop_map(|(atom, suffix)| format!("{atom}{suffix}"))
}

/// Operators that associate to the left, of every precedence above the comparisons.
fn arithmetic(grammar: Grammar) -> impl Strategy<Value = String> {
    let mut operators =
        vec!["+", "-", "*", "/", "%", "^", "||", "&", "|", "#", "->", "->>", "@>", "<@", "<<"];
    if grammar == Grammar::Any {
        operators.push("at time zone");
    }
    let rest = (prop::sample::select(operators), operand(grammar));
    (operand(grammar), prop::collection::vec(rest, 0..5)).prop_map(|(first, rest)| {
        rest.into_iter()
            .fold(first, |text, (operator, operand)| format!("{text} {operator} {operand}"))
    })
}

/// At most one of the operators that do not associate.
fn test() -> impl Strategy<Value = String> {
    let comparison = prop::sample::select(vec!["=", "<>", "<", ">", "<=", ">="]);
    let sum = || arithmetic(Grammar::Any);
    let shape = prop_oneof![
        sum(),
        (sum(), comparison, sum()).prop_map(|(l, op, r)| format!("{l} {op} {r}")),
        (sum(), arithmetic(Grammar::Restricted), sum())
            .prop_map(|(value, low, high)| format!("{value} between {low} and {high}")),
        (sum(), sum()).prop_map(|(value, item)| format!("{value} in ({item}, 1)")),
        (sum(), sum()).prop_map(|(value, like)| format!("{value} not like {like}")),
    ];
    let suffix = prop::sample::select(vec!["", "", " is null", " is not null", " is true"]);
    (any::<bool>(), shape, suffix).prop_map(|(negated, text, suffix)| {
        format!("{}{text}{suffix}", if negated { "not " } else { "" })
    })
}

fn condition() -> impl Strategy<Value = String> {
    let operator = prop::sample::select(vec!["and", "or"]);
    (test(), prop::collection::vec((operator, test()), 0..4)).prop_map(|(first, rest)| {
        rest.into_iter().fold(first, |text, (operator, test)| format!("{text} {operator} {test}"))
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, ..ProptestConfig::default() })]

    #[test]
    fn both_read_the_same_expression(text in condition()) {
        let spelled_out = parenthesised(&text);
        prop_assert_eq!(tree(&text), tree(&spelled_out), "{}", spelled_out);
    }
}
