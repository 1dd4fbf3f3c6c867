//! Expressions: PostgreSQL's `a_expr` and `b_expr` by operator precedence.
//!
//! Precedence is that of `gram.y`, weakest first: OR, AND, NOT, IS, comparisons (which do not chain), BETWEEN IN LIKE
//! (nor do these), other operators, + -, * / %, ^, AT TIME ZONE, COLLATE, unary minus, `::`.

use super::ast::{Expr, ExprKind, Operator, Query, XmlCall};
use super::keyword::Keyword;
use super::lexer::Kind;
use super::parser::{Parser, system_name};
use super::primary::call;
use sql_types::error::Result;
use sql_types::xml::construct::XmlOp;
use std::sync::Arc;

/// How tightly operators bind.
mod power {
    pub const OR: u8 = 1;
    pub const AND: u8 = 2;
    pub const NOT: u8 = 3;
    pub const IS: u8 = 4;
    pub const COMPARISON: u8 = 5;
    pub const RANGE: u8 = 6;
    pub const OPERATOR: u8 = 8;
    pub const SUM: u8 = 9;
    pub const PRODUCT: u8 = 10;
    pub const POWER: u8 = 11;
    pub const AT: u8 = 12;
    pub const COLLATE: u8 = 13;
    pub const UNARY: u8 = 14;
    pub const CAST: u8 = 15;
}

/// What stands behind a left operand.
#[derive(Clone, Copy, PartialEq)]
enum Infix {
    Or,
    And,
    Is,
    IsNull,
    NotNull,
    Comparison,
    Between,
    In,
    Like,
    Ilike,
    Similar,
    Overlaps,
    Operator,
    At,
    Collate,
    Cast,
}

impl<'t> Parser<'t> {
    /// `a_expr`.
    pub(super) fn expr(&mut self) -> Result<Expr> {
        // A constant with nothing behind it is all there is: the values of a long list.
        let constant = matches!(self.kind(), Kind::Integer | Kind::Number | Kind::String);
        if constant && matches!(self.kind_at(1), Kind::Symbol(b',' | b')')) && self.may_nest() {
            self.height = self.height.max(1);
            return self.primary();
        }
        let labels = std::mem::replace(&mut self.labels, false);
        let parsed = self.expr_from(0, false);
        self.labels = labels;
        parsed
    }

    /// An item of a select list, which a label without AS may follow.
    pub(super) fn target_expr(&mut self) -> Result<Expr> {
        let labels = std::mem::replace(&mut self.labels, true);
        let parsed = self.expr_from(0, false);
        self.labels = labels;
        parsed
    }

    /// `b_expr`: without AND, OR, NOT, IS NULL, IN, LIKE, BETWEEN.
    pub(super) fn restricted_expr(&mut self) -> Result<Expr> {
        self.expr_from(power::COMPARISON, true)
    }

    /// An expression whose operators bind at least as tightly as `least`.
    fn expr_from(&mut self, least: u8, restricted: bool) -> Result<Expr> {
        self.nested(|parser| {
            let mut left = parser.prefix(restricted)?;
            // A level of tests, comparisons or ranges that has been used up: they do not chain, but for those that
            // end in a word or a parenthesis and not in an operand.
            let mut spent = None;
            while let Some((infix, power, negated)) = parser.infix(restricted) {
                if power < least {
                    break;
                }
                if spent == Some(power) {
                    return Err(parser.error());
                }
                left = parser.operation(left, infix, power, negated, restricted)?;
                let chains = !matches!(power, power::IS | power::COMPARISON | power::RANGE);
                spent = (!chains && !is_closed(&left)).then_some(power);
                if !matches!(infix, Infix::And | Infix::Or) {
                    parser.height += 1;
                    parser.check_height()?;
                }
            }
            Ok(left)
        })
    }

    /// The operator at hand, how tightly it binds, and whether NOT stands before it.
    fn infix(&self, restricted: bool) -> Option<(Infix, u8, bool)> {
        let plain = |infix, power| Some((infix, power, false));
        // A word of an operator with no operand behind it is a label (`BareColLabel`).
        let is_label =
            |keyword: Keyword| self.labels && keyword.is_bare_label() && self.ends_target(1);
        match self.kind() {
            Kind::TypeCast => plain(Infix::Cast, power::CAST),
            Kind::Symbol(b'<' | b'>' | b'=')
            | Kind::LessEquals
            | Kind::GreaterEquals
            | Kind::NotEquals => plain(Infix::Comparison, power::COMPARISON),
            Kind::Symbol(b'+' | b'-') => plain(Infix::Operator, power::SUM),
            Kind::Symbol(b'*' | b'/' | b'%') => plain(Infix::Operator, power::PRODUCT),
            Kind::Symbol(b'^') => plain(Infix::Operator, power::POWER),
            Kind::Operator => plain(Infix::Operator, power::OPERATOR),
            Kind::Keyword(Keyword::Operator) if self.kind_at(1) == Kind::Symbol(b'(') => {
                plain(Infix::Operator, power::OPERATOR)
            }
            Kind::Keyword(Keyword::Is) if restricted => {
                let ahead = 1 + usize::from(self.is_at(1, Keyword::Not));
                let known = self.is_at(ahead, Keyword::Distinct);
                known.then_some((Infix::Is, power::COMPARISON, false))
            }
            _ if restricted => None,
            Kind::Keyword(keyword) if is_label(keyword) => match keyword {
                Keyword::Isnull => plain(Infix::IsNull, power::IS),
                Keyword::Notnull => plain(Infix::NotNull, power::IS),
                _ => None,
            },
            Kind::Keyword(Keyword::Not) => {
                let infix = match self.kind_at(1) {
                    Kind::Keyword(Keyword::Between) => Infix::Between,
                    Kind::Keyword(Keyword::In) => Infix::In,
                    Kind::Keyword(Keyword::Like) => Infix::Like,
                    Kind::Keyword(Keyword::Ilike) => Infix::Ilike,
                    Kind::Keyword(Keyword::Similar) => Infix::Similar,
                    _ => return None,
                };
                Some((infix, power::RANGE, true))
            }
            Kind::Keyword(keyword) => match keyword {
                Keyword::Or => plain(Infix::Or, power::OR),
                Keyword::And => plain(Infix::And, power::AND),
                Keyword::Is => plain(Infix::Is, power::IS),
                Keyword::Isnull => plain(Infix::IsNull, power::IS),
                Keyword::Notnull => plain(Infix::NotNull, power::IS),
                Keyword::Between => plain(Infix::Between, power::RANGE),
                Keyword::In => plain(Infix::In, power::RANGE),
                Keyword::Like => plain(Infix::Like, power::RANGE),
                Keyword::Ilike => plain(Infix::Ilike, power::RANGE),
                // SUBSTRING(x SIMILAR pattern ESCAPE e) has the word alone.
                Keyword::Similar if self.is_at(1, Keyword::To) => {
                    plain(Infix::Similar, power::RANGE)
                }
                Keyword::Overlaps => plain(Infix::Overlaps, power::RANGE),
                Keyword::At if self.is_at(1, Keyword::Time) => plain(Infix::At, power::AT),
                Keyword::Collate => plain(Infix::Collate, power::COLLATE),
                _ => None,
            },
            _ => None,
        }
    }

    /// What comes of `left` and the operator at hand.
    fn operation(
        &mut self,
        left: Expr,
        infix: Infix,
        power: u8,
        negated: bool,
        restricted: bool,
    ) -> Result<Expr> {
        let at = self.here();
        if negated {
            self.advance();
        }
        let boxed = Box::new;
        let kind = match infix {
            Infix::And | Infix::Or => return self.terms(left, infix, power),
            Infix::Is => {
                self.advance();
                return self.is_test(left, at, restricted);
            }
            Infix::IsNull | Infix::NotNull => {
                self.advance();
                ExprKind::IsNull { operand: boxed(left), negated: infix == Infix::NotNull }
            }
            Infix::Comparison | Infix::Operator => {
                let op = self.operator()?;
                if let Some(all) = self.quantifier(restricted) {
                    return self.quantified(left, op, all, at);
                }
                let right = self.expr_from(power + 1, restricted)?;
                let equals = op.schema.is_none() && &*op.name == "=";
                let null_equals = equals && self.dialect.null_equals;
                match (&left.kind, &right.kind) {
                    (ExprKind::Null, _) if null_equals => {
                        ExprKind::IsNull { operand: boxed(right), negated: false }
                    }
                    (_, ExprKind::Null) if null_equals => {
                        ExprKind::IsNull { operand: boxed(left), negated: false }
                    }
                    _ => ExprKind::Binary(boxed(left), op, boxed(right)),
                }
            }
            Infix::Between => {
                self.advance();
                let symmetric = self.accept(Keyword::Symmetric);
                if !symmetric {
                    self.accept(Keyword::Asymmetric);
                }
                let low = self.expr_from(power::COMPARISON, true)?;
                self.expect(Keyword::And)?;
                let high = self.expr_from(power + 1, false)?;
                ExprKind::Between {
                    operand: boxed(left),
                    low: boxed(low),
                    high: boxed(high),
                    negated,
                    symmetric,
                }
            }
            Infix::In => {
                self.advance();
                if self.opens_query() {
                    let query = Arc::new(self.query_in_parentheses()?);
                    ExprKind::InQuery { operand: boxed(left), query, negated }
                } else {
                    let list = self.in_parentheses(Parser::expr)?;
                    ExprKind::InList { operand: boxed(left), list, negated }
                }
            }
            Infix::Like | Infix::Ilike | Infix::Similar => {
                return self.pattern(left, infix, negated, at);
            }
            Infix::Overlaps => return self.overlaps(left, at),
            Infix::At => {
                self.advance();
                self.expect_all(&[Keyword::Time, Keyword::Zone])?;
                let zone = self.expr_from(power + 1, restricted)?;
                return Ok(call(system_name("timezone", at), vec![zone, left], true));
            }
            Infix::Collate => {
                self.advance();
                let collation = self.object_name()?;
                ExprKind::Collate { operand: boxed(left), collation }
            }
            Infix::Cast => {
                self.advance();
                ExprKind::Cast { operand: boxed(left), ty: self.type_name()? }
            }
        };
        Ok(Expr { at, kind })
    }

    /// `(a, b) OVERLAPS (c, d)`: a function of the four.
    fn overlaps(&mut self, left: Expr, at: u32) -> Result<Expr> {
        let ExprKind::Row { fields: mut arguments, .. } = left.kind else {
            return Err(self.error());
        };
        self.advance();
        let right = self.expr_from(power::RANGE + 1, false)?;
        let ExprKind::Row { fields: right, .. } = right.kind else { return Err(self.error()) };
        for (side, fields) in [("left", &arguments), ("right", &right)] {
            if fields.len() != 2 {
                let message =
                    format!("wrong number of parameters on {side} side of OVERLAPS expression");
                return Err(self.complaint(message, at));
            }
        }
        arguments.extend(right);
        Ok(call(system_name("overlaps", at), arguments, true))
    }

    /// The further terms of an AND or OR. A first term that is such a list itself, in parentheses, is continued
    /// (`makeAndExpr`).
    fn terms(&mut self, left: Expr, infix: Infix, power: u8) -> Result<Expr> {
        let keyword = if infix == Infix::And { Keyword::And } else { Keyword::Or };
        let at = self.here();
        let mut terms = match (left.kind, infix) {
            (ExprKind::And(terms), Infix::And) => terms,
            (ExprKind::Or(terms), infix) if infix != Infix::And => terms,
            (kind, _) => vec![Expr { at: left.at, kind }],
        };
        while self.accept(keyword) {
            terms.push(self.expr_from(power + 1, false)?);
        }
        let kind = if infix == Infix::And { ExprKind::And(terms) } else { ExprKind::Or(terms) };
        Ok(Expr { at, kind })
    }

    /// What follows IS.
    fn is_test(&mut self, left: Expr, at: u32, restricted: bool) -> Result<Expr> {
        let negated = self.accept(Keyword::Not);
        let operand = Box::new(left);
        let kind = if self.accept(Keyword::Distinct) {
            self.expect(Keyword::From)?;
            let right = Box::new(self.expr_from(power::IS + 1, restricted)?);
            ExprKind::IsDistinct { left: operand, right, negated }
        } else if self.accept(Keyword::Null) {
            ExprKind::IsNull { operand, negated }
        } else if self.accept(Keyword::True) {
            ExprKind::IsBool { operand, test: Some(true), negated }
        } else if self.accept(Keyword::False) {
            ExprKind::IsBool { operand, test: Some(false), negated }
        } else if self.accept(Keyword::Unknown) {
            ExprKind::IsBool { operand, test: None, negated }
        } else if self.accept(Keyword::Document) {
            let call = XmlCall {
                op: XmlOp::IsDocument,
                name: None,
                named: Vec::new(),
                arguments: vec![*operand],
                target: None,
            };
            let test = Expr { at, kind: ExprKind::Xml(Box::new(call)) };
            match negated {
                true => ExprKind::Not(Box::new(test)),
                false => return Ok(test),
            }
        } else {
            let form = self.normal_form();
            if !self.accept(Keyword::Normalized) {
                return Err(self.error());
            }
            let arguments = std::iter::once(*operand).chain(form).collect();
            let test = call(system_name("is_normalized", at), arguments, true);
            match negated {
                true => ExprKind::Not(Box::new(test)),
                false => return Ok(test),
            }
        };
        Ok(Expr { at, kind })
    }

    /// LIKE, ILIKE and SIMILAR TO are operators, an ESCAPE and SIMILAR's pattern go through a function.
    fn pattern(&mut self, left: Expr, infix: Infix, negated: bool, at: u32) -> Result<Expr> {
        self.advance();
        if infix == Infix::Similar {
            self.expect(Keyword::To)?;
        }
        let name = match (infix, negated) {
            (Infix::Like, false) => "~~",
            (Infix::Like, true) => "!~~",
            (Infix::Ilike, false) => "~~*",
            (Infix::Ilike, true) => "!~~*",
            (_, false) => "~",
            (_, true) => "!~",
        };
        let op = Operator { schema: None, name: name.into() };
        if infix != Infix::Similar
            && let Some(all) = self.quantifier(false)
        {
            return self.quantified(left, op, all, at);
        }
        let mut pattern = self.expr_from(power::RANGE + 1, false)?;
        let escape = if self.accept(Keyword::Escape) {
            Some(self.expr_from(power::RANGE + 1, false)?)
        } else {
            None
        };
        if infix == Infix::Similar {
            let arguments = std::iter::once(pattern).chain(escape).collect();
            pattern = call(system_name("similar_to_escape", at), arguments, false);
        } else if let Some(escape) = escape {
            pattern = call(system_name("like_escape", at), vec![pattern, escape], false);
        }
        Ok(Expr { at, kind: ExprKind::Binary(Box::new(left), op, Box::new(pattern)) })
    }

    /// ANY, SOME (false) or ALL (true) behind an operator, taken.
    fn quantifier(&mut self, restricted: bool) -> Option<bool> {
        if restricted {
            return None;
        }
        let all = match self.kind() {
            Kind::Keyword(Keyword::Any | Keyword::Some) => false,
            Kind::Keyword(Keyword::All) => true,
            _ => return None,
        };
        self.advance();
        Some(all)
    }

    fn quantified(&mut self, left: Expr, op: Operator, all: bool, at: u32) -> Result<Expr> {
        let left = Box::new(left);
        let kind = if self.opens_query() {
            let query = Arc::new(self.query_in_parentheses()?);
            ExprKind::QuantifiedQuery { left, op, all, query }
        } else {
            self.expect_symbol(b'(')?;
            let array = Box::new(self.expr()?);
            self.expect_symbol(b')')?;
            ExprKind::QuantifiedArray { left, op, all, array }
        };
        Ok(Expr { at, kind })
    }

    /// An operator's name, taken: `qual_all_Op`.
    pub(super) fn operator(&mut self) -> Result<Operator> {
        if self.is(Keyword::Operator) {
            self.advance();
            self.expect_symbol(b'(')?;
            let mut schema = None;
            while self.is_name(self.kind()) {
                schema = Some(self.name()?);
                self.expect_symbol(b'.')?;
            }
            let name = self.operator_characters()?;
            self.expect_symbol(b')')?;
            return Ok(Operator { schema, name });
        }
        Ok(Operator { schema: None, name: self.operator_characters()? })
    }

    fn operator_characters(&mut self) -> Result<super::ast::Ident> {
        match self.kind() {
            Kind::NotEquals => {
                self.advance();
                Ok("<>".into())
            }
            Kind::Operator | Kind::LessEquals | Kind::GreaterEquals => {
                let token = self.advance();
                Ok(self.text_of(token).into())
            }
            Kind::Symbol(byte) if super::lexer::is_operator(byte) => {
                let token = self.advance();
                Ok(self.text_of(token).into())
            }
            _ => Err(self.error()),
        }
    }

    /// A prefix operator and its operand, or what has none.
    fn prefix(&mut self, restricted: bool) -> Result<Expr> {
        let at = self.here();
        match self.kind() {
            Kind::Keyword(Keyword::Not) if !restricted => {
                self.advance();
                let operand = self.expr_from(power::NOT, false)?;
                Ok(Expr { at, kind: ExprKind::Not(Box::new(operand)) })
            }
            Kind::Symbol(b'-') => {
                self.advance();
                let operand = self.expr_from(power::UNARY, restricted)?;
                Ok(negate(operand, at))
            }
            Kind::Symbol(b'+') => {
                self.advance();
                let operand = Box::new(self.expr_from(power::UNARY, restricted)?);
                let op = Operator { schema: None, name: "+".into() };
                Ok(Expr { at, kind: ExprKind::Unary(op, operand) })
            }
            Kind::Operator => self.prefix_operator(at, restricted),
            // Not followed by an operator's name in parentheses the word may be a column's.
            Kind::Keyword(Keyword::Operator) if self.kind_at(1) == Kind::Symbol(b'(') => {
                self.prefix_operator(at, restricted)
            }
            _ => self.primary(),
        }
    }

    fn prefix_operator(&mut self, at: u32, restricted: bool) -> Result<Expr> {
        let op = self.operator()?;
        let operand = Box::new(self.expr_from(power::OPERATOR + 1, restricted)?);
        Ok(Expr { at, kind: ExprKind::Unary(op, operand) })
    }

    /// `( query )`.
    pub(super) fn query_in_parentheses(&mut self) -> Result<Query> {
        self.expect_symbol(b'(')?;
        let query = self.query()?;
        self.expect_symbol(b')')?;
        Ok(query)
    }
}

/// Whether an operation ends in a word or a parenthesis, so that no operand of it could hold what follows.
fn is_closed(operation: &Expr) -> bool {
    matches!(
        operation.kind,
        ExprKind::IsNull { .. }
            | ExprKind::IsBool { .. }
            | ExprKind::InList { .. }
            | ExprKind::InQuery { .. }
            | ExprKind::QuantifiedArray { .. }
            | ExprKind::QuantifiedQuery { .. }
    )
}

/// Minus before a constant is part of it, as `doNegate` has it.
fn negate(operand: Expr, at: u32) -> Expr {
    let negated = |text: &str| match text.strip_prefix('-') {
        Some(rest) => rest.to_owned(),
        None => format!("-{text}"),
    };
    let kind = match operand.kind {
        ExprKind::Integer(value) => match value.checked_neg() {
            Some(value) => ExprKind::Integer(value),
            None => ExprKind::Number(negated(&value.to_string()).into()),
        },
        ExprKind::Number(text) => ExprKind::Number(negated(&text).into()),
        kind => {
            let op = Operator { schema: None, name: "-".into() };
            ExprKind::Unary(op, Box::new(Expr { at: operand.at, kind }))
        }
    };
    Expr { at, kind }
}
