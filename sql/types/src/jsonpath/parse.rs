//! The grammar of jsonpath.
//!
//! PostgreSQL: `jsonpath_gram.y`. Values and predicates are two kinds of expression there: what is compared are values, a
//! predicate is one only in parentheses with an accessor behind them. A parser that goes down the rules finds the first token
//! that fits none of them, which is the one that PostgreSQL names. Nesting is bounded: 54001.

use super::lexer::{Lexer, Token};
use super::tree::{
    Arithmetic, Comparison, Expression, Head, Level, Method, Path, Regex, Sign, Step,
};
use crate::depth::{NESTING_MAX, deeper, too_deep};
use crate::error::{Result, SqlError};
use crate::numeric::{self, Number};
use crate::sqlstate::SqlState;
use crate::text::regular;
use bumpalo::Bump;
use bumpalo::collections::Vec as ArenaVec;

/// Reads a path.
///
/// # Errors
/// 42601, 22P02, 22P05, 2201B, 22003, 0A000; 54001.
pub(super) fn parse<'a>(arena: &'a Bump, text: &'a str) -> Result<Path<'a>> {
    let lexer = Lexer::new(arena, text);
    let mut parser = Parser {
        arena,
        lexer,
        token: Token::End,
        depth: 0,
        filters: 0,
        subscripts: 0,
        misplaced: None,
    };
    parser.advance()?;
    if parser.token == Token::End {
        return Err(SqlError::new(
            SqlState::INVALID_TEXT_REPRESENTATION,
            format!("invalid input syntax for type jsonpath: \"{text}\""),
        ));
    }
    let lax = !parser.takes_word("strict")?;
    if lax {
        parser.takes_word("lax")?;
    }
    let root = parser.disjunction(Wanted::Either)?.expression;
    if parser.token != Token::End {
        return Err(parser.unexpected());
    }
    match parser.misplaced {
        Some(message) => Err(SqlError::new(SqlState::SYNTAX_ERROR, message)),
        None => Ok(Path { lax, root: arena.alloc(root) }),
    }
}

/// An expression, and whether it is a predicate.
struct Parsed<'a> {
    expression: Expression<'a>,
    predicate: bool,
}

/// What kind of expression may stand somewhere.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Wanted {
    Either,
    Predicate,
}

struct Parser<'a> {
    arena: &'a Bump,
    lexer: Lexer<'a>,
    /// The token at hand.
    token: Token<'a>,
    depth: u32,
    /// How many filters and subscripts are around the token at hand.
    filters: u32,
    subscripts: u32,
    /// What is to be said of the first `@` and `last` that stands where there is none, once the grammar is content.
    misplaced: Option<&'static str>,
}

impl<'a> Parser<'a> {
    fn advance(&mut self) -> Result<()> {
        self.token = self.lexer.next()?;
        Ok(())
    }

    #[cold]
    fn unexpected(&self) -> SqlError {
        self.lexer.error("syntax error")
    }

    fn at(&self, symbol: &str) -> bool {
        matches!(self.token, Token::Symbol(found) if found == symbol)
    }

    fn takes(&mut self, symbol: &str) -> Result<bool> {
        let found = self.at(symbol);
        if found {
            self.advance()?;
        }
        Ok(found)
    }

    fn expect(&mut self, symbol: &str) -> Result<()> {
        if self.takes(symbol)? { Ok(()) } else { Err(self.unexpected()) }
    }

    /// Whether a keyword is at hand, in any case.
    fn at_word(&self, keyword: &str) -> bool {
        matches!(self.token, Token::Word(word) if word.eq_ignore_ascii_case(keyword))
    }

    fn takes_word(&mut self, keyword: &str) -> Result<bool> {
        let found = self.at_word(keyword);
        if found {
            self.advance()?;
        }
        Ok(found)
    }

    fn expect_word(&mut self, keyword: &str) -> Result<()> {
        if self.takes_word(keyword)? { Ok(()) } else { Err(self.unexpected()) }
    }

    fn expect_string(&mut self) -> Result<&'a str> {
        let Token::String(text) = self.token else { return Err(self.unexpected()) };
        self.advance()?;
        Ok(text)
    }

    /// One level further in.
    fn nested<R>(&mut self, inner: impl FnOnce(&mut Self) -> Result<R>) -> Result<R> {
        if self.depth >= NESTING_MAX {
            return Err(too_deep());
        }
        self.depth += 1;
        let result = deeper(|| inner(self));
        self.depth -= 1;
        result
    }

    /// An expression without accessors over others of these heights.
    fn node(&self, head: Head<'a>, heights: &[u32]) -> Result<Expression<'a>> {
        let height = 1 + heights.iter().max().copied().unwrap_or(0);
        if height > NESTING_MAX {
            return Err(too_deep());
        }
        Ok(Expression { head, steps: &[], height })
    }

    /// An operator between two expressions.
    fn pair(
        &self,
        left: Expression<'a>,
        right: Expression<'a>,
        head: impl FnOnce(&'a Expression<'a>, &'a Expression<'a>) -> Head<'a>,
    ) -> Result<Expression<'a>> {
        let heights = [left.height, right.height];
        self.node(head(self.arena.alloc(left), self.arena.alloc(right)), &heights)
    }

    /// An operator on one expression.
    fn over(
        &self,
        inner: Expression<'a>,
        head: impl FnOnce(&'a Expression<'a>) -> Head<'a>,
    ) -> Result<Parsed<'a>> {
        let height = inner.height;
        let expression = self.node(head(self.arena.alloc(inner)), &[height])?;
        Ok(Parsed { expression, predicate: true })
    }

    fn disjunction(&mut self, wanted: Wanted) -> Result<Parsed<'a>> {
        let mut left = self.conjunction(wanted)?;
        while left.predicate && self.takes("||")? {
            let right = self.conjunction(Wanted::Predicate)?;
            left.expression = self.pair(left.expression, right.expression, Head::Or)?;
        }
        Ok(left)
    }

    fn conjunction(&mut self, wanted: Wanted) -> Result<Parsed<'a>> {
        let mut left = self.predicate(wanted)?;
        while left.predicate && self.takes("&&")? {
            let right = self.predicate(Wanted::Predicate)?;
            left.expression = self.pair(left.expression, right.expression, Head::And)?;
        }
        Ok(left)
    }

    /// A predicate that is no `&&` and no `||`, or a value.
    fn predicate(&mut self, wanted: Wanted) -> Result<Parsed<'a>> {
        if self.takes("!")? {
            let inner = self.delimited()?;
            return self.over(inner, Head::Not);
        }
        if self.at_word("exists") {
            return self.exists();
        }
        let left = self.sum(true)?;
        if left.predicate {
            return Ok(left);
        }
        let left = left.expression;
        let comparison = match self.token {
            Token::Symbol("==") => Some(Comparison::Equal),
            Token::Symbol("!=" | "<>") => Some(Comparison::NotEqual),
            Token::Symbol("<") => Some(Comparison::Less),
            Token::Symbol("<=") => Some(Comparison::LessOrEqual),
            Token::Symbol(">") => Some(Comparison::Greater),
            Token::Symbol(">=") => Some(Comparison::GreaterOrEqual),
            _ => None,
        };
        let expression = if let Some(comparison) = comparison {
            self.advance()?;
            let right = self.sum(false)?.expression;
            self.pair(left, right, |left, right| Head::Compare(comparison, left, right))?
        } else if self.takes_word("starts")? {
            self.expect_word("with")?;
            let initial = match self.token {
                Token::String(text) => Head::String(text),
                Token::Variable(name) => Head::Variable(name),
                _ => return Err(self.unexpected()),
            };
            self.advance()?;
            let initial = self.node(initial, &[])?;
            self.pair(left, initial, Head::StartsWith)?
        } else if self.takes_word("like_regex")? {
            return self.like_regex(left);
        } else if wanted == Wanted::Predicate {
            return Err(self.unexpected());
        } else {
            return Ok(Parsed { expression: left, predicate: false });
        };
        Ok(Parsed { expression, predicate: true })
    }

    /// What `!` can stand before.
    fn delimited(&mut self) -> Result<Expression<'a>> {
        if self.at_word("exists") {
            return Ok(self.exists()?.expression);
        }
        self.expect("(")?;
        let inner = self.nested(|parser| parser.disjunction(Wanted::Predicate))?;
        self.expect(")")?;
        Ok(inner.expression)
    }

    fn exists(&mut self) -> Result<Parsed<'a>> {
        self.advance()?;
        self.expect("(")?;
        let inner = self.nested(|parser| parser.sum(false))?;
        self.expect(")")?;
        self.over(inner.expression, Head::Exists)
    }

    fn like_regex(&mut self, left: Expression<'a>) -> Result<Parsed<'a>> {
        let pattern = self.expect_string()?;
        let flagged = self.takes_word("flag")?;
        let flags = match self.token {
            Token::String(flags) if flagged => flags,
            _ if flagged => return Err(self.unexpected()),
            _ => "",
        };
        let mut regex = Regex {
            pattern,
            ignore_case: false,
            dot_all: false,
            multi_line: false,
            extended: false,
            quote: false,
        };
        for flag in flags.chars() {
            match flag {
                'i' => regex.ignore_case = true,
                's' => regex.dot_all = true,
                'm' => regex.multi_line = true,
                'x' => regex.extended = true,
                'q' => regex.quote = true,
                _ => {
                    return Err(SqlError::new(
                        SqlState::SYNTAX_ERROR,
                        "invalid input syntax for type jsonpath",
                    )
                    .detail(format!(
                        "Unrecognized flag character \"{flag}\" in LIKE_REGEX predicate."
                    )));
                }
            }
        }
        regular::check(pattern, options(&regex)?)?;
        if flagged {
            self.advance()?;
        }
        self.over(left, |left| Head::LikeRegex(left, regex))
    }

    fn sum(&mut self, or_predicate: bool) -> Result<Parsed<'a>> {
        let mut left = self.product(or_predicate)?;
        while !left.predicate {
            let operator = match self.token {
                Token::Symbol("+") => Arithmetic::Add,
                Token::Symbol("-") => Arithmetic::Subtract,
                _ => break,
            };
            self.advance()?;
            let right = self.product(false)?;
            left.expression = self.arithmetic(operator, left.expression, right.expression)?;
        }
        Ok(left)
    }

    fn product(&mut self, or_predicate: bool) -> Result<Parsed<'a>> {
        let mut left = self.signed(or_predicate)?;
        while !left.predicate {
            let operator = match self.token {
                Token::Symbol("*") => Arithmetic::Multiply,
                Token::Symbol("/") => Arithmetic::Divide,
                Token::Symbol("%") => Arithmetic::Remainder,
                _ => break,
            };
            self.advance()?;
            let right = self.signed(false)?;
            left.expression = self.arithmetic(operator, left.expression, right.expression)?;
        }
        Ok(left)
    }

    fn arithmetic(
        &self,
        operator: Arithmetic,
        left: Expression<'a>,
        right: Expression<'a>,
    ) -> Result<Expression<'a>> {
        self.pair(left, right, |left, right| Head::Arithmetic(operator, left, right))
    }

    fn signed(&mut self, or_predicate: bool) -> Result<Parsed<'a>> {
        let sign = match self.token {
            Token::Symbol("+") => Sign::Plus,
            Token::Symbol("-") => Sign::Minus,
            _ => return self.accessed(or_predicate),
        };
        self.advance()?;
        let inner = self.nested(|parser| parser.signed(false))?.expression;
        let expression = match (sign, inner.head) {
            (Sign::Plus, Head::Number(_)) if inner.steps.is_empty() => inner,
            (Sign::Minus, Head::Number(stored)) if inner.steps.is_empty() => {
                let number = match Number::from(numeric::View::of(stored)) {
                    Number::Finite(number) => Number::Finite(number.negated()),
                    other => other,
                };
                self.node(Head::Number(number.store(self.arena)), &[])?
            }
            _ => self.over(inner, |inner| Head::Sign(sign, inner))?.expression,
        };
        Ok(Parsed { expression, predicate: false })
    }

    /// A primary with its accessors; where there may be one, also a predicate in parentheses.
    fn accessed(&mut self, or_predicate: bool) -> Result<Parsed<'a>> {
        if !self.takes("(")? {
            let head = self.primary()?;
            let expression = self.node(head, &[])?;
            return self.accessors(expression);
        }
        let inner = self.nested(|parser| parser.disjunction(Wanted::Either))?;
        self.expect(")")?;
        if matches!(self.token, Token::Symbol("." | "[" | "?")) {
            return self.accessors(inner.expression);
        }
        if !inner.predicate {
            return Ok(inner);
        }
        if !or_predicate {
            return Err(self.unexpected());
        }
        if self.takes_word("is")? {
            self.expect_word("unknown")?;
            return self.over(inner.expression, Head::IsUnknown);
        }
        Ok(inner)
    }

    fn primary(&mut self) -> Result<Head<'a>> {
        let head = match self.token {
            Token::String(text) => Head::String(text),
            Token::Variable(name) => Head::Variable(name),
            Token::Integer(text) | Token::Number(text) => {
                Head::Number(numeric::text::read(text, -1)?.store(self.arena))
            }
            Token::Word("null") => Head::Null,
            Token::Word("true") => Head::Bool(true),
            Token::Word("false") => Head::Bool(false),
            Token::Symbol("$") => Head::Root,
            Token::Symbol("@") => {
                if self.filters == 0 {
                    self.misplaced.get_or_insert("@ is not allowed in root expressions");
                }
                Head::Current
            }
            Token::Word(word) if word.eq_ignore_ascii_case("last") => {
                if self.subscripts == 0 {
                    self.misplaced.get_or_insert("LAST is allowed only in array subscripts");
                }
                Head::Last
            }
            _ => return Err(self.unexpected()),
        };
        self.advance()?;
        Ok(head)
    }

    /// The accessors behind an expression, which may have some already.
    fn accessors(&mut self, expression: Expression<'a>) -> Result<Parsed<'a>> {
        let mut steps = ArenaVec::new_in(self.arena);
        steps.extend_from_slice(expression.steps);
        let mut below = expression.height - 1;
        loop {
            let step = match self.token {
                Token::Symbol(".") => {
                    self.advance()?;
                    self.member()?
                }
                Token::Symbol("[") => {
                    self.advance()?;
                    self.nested(|parser| parser.subscripts(&mut below))?
                }
                Token::Symbol("?") => {
                    self.advance()?;
                    self.expect("(")?;
                    self.filters += 1;
                    let inner = self.nested(|parser| parser.disjunction(Wanted::Predicate));
                    self.filters -= 1;
                    let inner = inner?.expression;
                    self.expect(")")?;
                    below = below.max(inner.height);
                    Step::Filter(self.arena.alloc(inner))
                }
                _ => break,
            };
            steps.push(step);
        }
        let node = self.node(expression.head, &[below])?;
        let expression = Expression { steps: steps.into_bump_slice(), ..node };
        Ok(Parsed { expression, predicate: false })
    }

    /// What stands behind a point.
    fn member(&mut self) -> Result<Step<'a>> {
        let token = self.token;
        match token {
            Token::Symbol("*") => {
                self.advance()?;
                Ok(Step::AnyKey)
            }
            Token::Symbol("**") => {
                self.advance()?;
                self.levels()
            }
            Token::String(key) => {
                self.advance()?;
                Ok(Step::Key(key))
            }
            Token::Word(word) => {
                self.advance()?;
                let method = Method::named(word);
                let known = method.is_some() || word.eq_ignore_ascii_case("datetime");
                if !known || !self.at("(") {
                    return Ok(Step::Key(word));
                }
                self.advance()?;
                let step = match (method, self.token) {
                    (Some(method), _) => Step::Method(method),
                    (None, Token::String(template)) => {
                        self.advance()?;
                        Step::Datetime(Some(template))
                    }
                    (None, _) => Step::Datetime(None),
                };
                self.expect(")")?;
                Ok(step)
            }
            _ => Err(self.unexpected()),
        }
    }

    /// `{1 to last}` behind `.**`, if it is there.
    fn levels(&mut self) -> Result<Step<'a>> {
        if !self.takes("{")? {
            return Ok(Step::Any { first: Level(0), last: Level::LAST });
        }
        let first = self.level()?;
        let last = if self.takes_word("to")? { self.level()? } else { first };
        self.expect("}")?;
        Ok(Step::Any { first, last })
    }

    fn level(&mut self) -> Result<Level> {
        let level = match self.token {
            Token::Integer(text) => {
                let number = text.parse::<i32>().map_err(|_| {
                    SqlError::new(
                        SqlState::NUMERIC_VALUE_OUT_OF_RANGE,
                        format!("value \"{text}\" is out of range for type integer"),
                    )
                })?;
                Level(number as u32)
            }
            Token::Word(word) if word.eq_ignore_ascii_case("last") => Level::LAST,
            _ => return Err(self.unexpected()),
        };
        self.advance()?;
        Ok(level)
    }

    /// What stands behind `[`.
    fn subscripts(&mut self, below: &mut u32) -> Result<Step<'a>> {
        if self.takes("*")? {
            self.expect("]")?;
            return Ok(Step::AnyElement);
        }
        self.subscripts += 1;
        let subscripts = self.subscript_list(below);
        self.subscripts -= 1;
        let subscripts = subscripts?;
        self.expect("]")?;
        Ok(Step::Elements(subscripts))
    }

    /// Subscripts and ranges of them, between commas.
    fn subscript_list(
        &mut self,
        below: &mut u32,
    ) -> Result<&'a [(Expression<'a>, Option<Expression<'a>>)]> {
        let mut subscripts = ArenaVec::new_in(self.arena);
        loop {
            let from = self.sum(false)?.expression;
            let to = if self.takes_word("to")? { Some(self.sum(false)?.expression) } else { None };
            *below = (*below).max(from.height).max(to.map_or(0, |to| to.height));
            subscripts.push((from, to));
            if !self.takes(",")? {
                return Ok(subscripts.into_bump_slice());
            }
        }
    }
}

/// The letters under which regular expressions are compiled that say what a pattern's flags do.
///
/// # Errors
/// 0A000: flag x.
pub(super) fn options(regex: &Regex<'_>) -> Result<&'static str> {
    Ok(match (regex.ignore_case, regex.dot_all, regex.multi_line) {
        (false, ..) if regex.quote => "q",
        (true, ..) if regex.quote => "iq",
        _ if regex.extended => {
            return Err(SqlError::new(
                SqlState::FEATURE_NOT_SUPPORTED,
                "XQuery \"x\" flag (expanded regular expressions) is not implemented",
            ));
        }
        (false, false, false) => "p",
        (false, false, true) => "n",
        (false, true, false) => "",
        (false, true, true) => "w",
        (true, false, false) => "ip",
        (true, false, true) => "in",
        (true, true, false) => "i",
        (true, true, true) => "iw",
    })
}
