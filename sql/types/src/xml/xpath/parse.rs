//! The grammar of XPath 1.0 (section 3), by precedence climbing over its tokens (section 3.7).

use crate::depth::deeper;
use std::iter::Peekable;
use std::str::CharIndices;

/// How deeply an expression may be nested.
const DEPTH_MAX: usize = 100;
/// How many operators an expression may have: a chain of them is as deep as it is long.
const OPERATORS_MAX: usize = 500;

/// An expression.
#[derive(Clone, Debug, PartialEq)]
pub enum Expr {
    /// An operator between two operands.
    Binary(Operator, Box<Expr>, Box<Expr>),
    /// Minus.
    Negative(Box<Expr>),
    /// A location path: where it begins, and its steps.
    Path(Start, Vec<Step>),
    /// What a primary expression gives, as far as the predicates hold.
    Filter(Box<Expr>, Vec<Expr>),
    /// A string.
    Text(String),
    /// A number.
    Number(f64),
    /// A variable, of which there are none.
    Variable,
    /// A function's call.
    Call(String, Vec<Expr>),
}

/// Where a path begins.
#[derive(Clone, Debug, PartialEq)]
pub enum Start {
    /// At the node that is asked about.
    Here,
    /// At the document.
    Root,
    /// At all nodes of an expression.
    At(Box<Expr>),
}

/// An operator, in the order in which they bind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Operator {
    /// `or`
    Or,
    /// `and`
    And,
    /// `=`
    Equal,
    /// `!=`
    Unequal,
    /// `<`
    Less,
    /// `<=`
    LessOrEqual,
    /// `>`
    Greater,
    /// `>=`
    GreaterOrEqual,
    /// `+`
    Plus,
    /// `-`
    Minus,
    /// `*`
    Times,
    /// `div`
    Div,
    /// `mod`
    Mod,
    /// `|`
    Union,
}

impl Operator {
    /// How tightly it binds.
    fn power(self) -> u8 {
        match self {
            Operator::Or => 1,
            Operator::And => 2,
            Operator::Equal | Operator::Unequal => 3,
            Operator::Less
            | Operator::LessOrEqual
            | Operator::Greater
            | Operator::GreaterOrEqual => 4,
            Operator::Plus | Operator::Minus => 5,
            Operator::Times | Operator::Div | Operator::Mod => 6,
            Operator::Union => 8,
        }
    }
}

/// How tightly minus binds.
const NEGATIVE: u8 = 7;

/// The way a step goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Axis {
    Ancestor,
    AncestorOrSelf,
    Attribute,
    Child,
    Descendant,
    DescendantOrSelf,
    Following,
    FollowingSibling,
    Namespace,
    Parent,
    Preceding,
    PrecedingSibling,
    Itself,
}

/// What a step asks of nodes.
#[derive(Clone, Debug, PartialEq)]
pub enum Test {
    /// Any of the axis' kind, in the namespace of a prefix where one is given.
    Any(Option<String>),
    /// One of this name.
    Named(Option<String>, String),
    /// `node()`
    Node,
    /// `text()`
    Text,
    /// `comment()`
    Comment,
    /// `processing-instruction()`, of a target.
    Instruction(Option<String>),
}

/// A step of a path.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// Where it goes.
    pub axis: Axis,
    /// What it finds there.
    pub test: Test,
    /// What of that it keeps.
    pub predicates: Vec<Expr>,
}

impl Step {
    /// `descendant-or-self::node()`, which `//` stands for.
    fn below() -> Step {
        Step { axis: Axis::DescendantOrSelf, test: Test::Node, predicates: Vec::new() }
    }
}

#[derive(Clone, Debug, PartialEq)]
enum Token {
    /// A name with its prefix.
    Name(Option<String>, String),
    /// `prefix:*`
    AnyOf(String),
    Text(String),
    Number(f64),
    Operator(Operator),
    /// `*`, which is a name's or an operator's.
    Star,
    Slash,
    Slashes,
    Dot,
    Dots,
    At,
    Comma,
    Colons,
    Open,
    Close,
    OpenBracket,
    CloseBracket,
    Dollar,
}

/// Why a text is no expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wrong {
    /// "Invalid expression"
    Expression,
    /// "Unfinished literal"
    Literal,
    /// It is nested too deeply.
    Depth,
}

impl Wrong {
    /// libxml2's words.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Wrong::Expression => "Invalid expression",
            Wrong::Literal => "Unfinished literal",
            Wrong::Depth => "Recursion limit exceeded",
        }
    }
}

type Parsed<T> = Result<T, Wrong>;

fn is_start(c: char) -> bool {
    c != ':' && crate::xml::is_name_start(c)
}

fn is_part(c: char) -> bool {
    c != ':' && crate::xml::is_name_character(c)
}

fn part(text: &str, from: usize) -> Option<&str> {
    let rest = &text[from..];
    if !rest.chars().next().is_some_and(is_start) {
        return None;
    }
    let end = rest.find(|c| !is_part(c)).unwrap_or(rest.len());
    Some(&rest[..end])
}

fn skip(text: &mut Peekable<CharIndices<'_>>, to: usize) {
    while text.next_if(|(at, _)| *at < to).is_some() {}
}

/// Whether what follows a token is an operator: `*` and names are, behind all but these (section 3.7).
fn before_operator(token: Option<&Token>) -> bool {
    !matches!(
        token,
        None | Some(
            Token::At
                | Token::Colons
                | Token::Open
                | Token::OpenBracket
                | Token::Comma
                | Token::Operator(_)
                | Token::Slash
                | Token::Slashes
                | Token::Dollar
        )
    )
}

fn tokens(text: &str) -> Parsed<Vec<Token>> {
    let mut found: Vec<Token> = Vec::new();
    let mut left = text.char_indices().peekable();
    while let Some((at, c)) = left.next() {
        let mut follows = |wanted: char| left.next_if(|(_, c)| *c == wanted).is_some();
        let token = match c {
            ' ' | '\t' | '\n' | '\r' => continue,
            '(' => Token::Open,
            ')' => Token::Close,
            '[' => Token::OpenBracket,
            ']' => Token::CloseBracket,
            '@' => Token::At,
            ',' => Token::Comma,
            '$' => Token::Dollar,
            '|' => Token::Operator(Operator::Union),
            '+' => Token::Operator(Operator::Plus),
            '-' => Token::Operator(Operator::Minus),
            '=' => Token::Operator(Operator::Equal),
            '!' if follows('=') => Token::Operator(Operator::Unequal),
            '<' if follows('=') => Token::Operator(Operator::LessOrEqual),
            '<' => Token::Operator(Operator::Less),
            '>' if follows('=') => Token::Operator(Operator::GreaterOrEqual),
            '>' => Token::Operator(Operator::Greater),
            '/' if follows('/') => Token::Slashes,
            '/' => Token::Slash,
            ':' if follows(':') => Token::Colons,
            '*' if before_operator(found.last()) => Token::Operator(Operator::Times),
            '*' => Token::Star,
            '"' | '\'' => {
                let end = text[at + 1..].find(c).ok_or(Wrong::Literal)? + at + 1;
                skip(&mut left, end + 1);
                Token::Text(text[at + 1..end].to_owned())
            }
            '.' if follows('.') => Token::Dots,
            '.' | '0'..='9' => {
                let digits = |from: usize| {
                    let rest = &text[from..];
                    from + rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len())
                };
                let mut end = digits(at);
                if text[end..].starts_with('.') {
                    end = digits(end + 1);
                }
                skip(&mut left, end);
                if &text[at..end] == "." {
                    Token::Dot
                } else {
                    // libxml2 knows exponents.
                    if let Some(rest) = text[end..].strip_prefix(['e', 'E']) {
                        let sign = end + 1 + usize::from(rest.starts_with(['-', '+']));
                        end = Some(digits(sign)).filter(|behind| *behind > sign).unwrap_or(end);
                        skip(&mut left, end);
                    }
                    Token::Number(text[at..end].parse().map_err(|_| Wrong::Expression)?)
                }
            }
            _ => {
                let name = part(text, at).ok_or(Wrong::Expression)?;
                let mut end = at + name.len();
                let operator = match name {
                    "and" => Some(Operator::And),
                    "or" => Some(Operator::Or),
                    "div" => Some(Operator::Div),
                    "mod" => Some(Operator::Mod),
                    _ => None,
                };
                let token = if before_operator(found.last()) {
                    Token::Operator(operator.ok_or(Wrong::Expression)?)
                } else if text[end..].starts_with(":*") {
                    end += 2;
                    Token::AnyOf(name.to_owned())
                } else if let Some(local) =
                    text[end..].strip_prefix(':').and_then(|_| part(text, end + 1))
                {
                    end += 1 + local.len();
                    Token::Name(Some(name.to_owned()), local.to_owned())
                } else {
                    Token::Name(None, name.to_owned())
                };
                skip(&mut left, end);
                token
            }
        };
        found.push(token);
    }
    Ok(found)
}

struct Parser {
    tokens: Vec<Token>,
    at: usize,
    depth: usize,
    operators: usize,
}

/// An expression of a text.
///
/// # Errors
/// Why it is none.
pub fn parse(text: &str) -> Parsed<Expr> {
    let mut parser = Parser { tokens: tokens(text)?, at: 0, depth: 0, operators: 0 };
    let expr = parser.expr(0)?;
    if parser.at < parser.tokens.len() {
        return Err(Wrong::Expression);
    }
    Ok(expr)
}

impl Parser {
    fn token(&self) -> Option<&Token> {
        self.tokens.get(self.at)
    }

    fn accept(&mut self, token: &Token) -> bool {
        let found = self.token() == Some(token);
        self.at += usize::from(found);
        found
    }

    fn expect(&mut self, token: &Token) -> Parsed<()> {
        if self.accept(token) { Ok(()) } else { Err(Wrong::Expression) }
    }

    fn expr(&mut self, least: u8) -> Parsed<Expr> {
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            return Err(Wrong::Depth);
        }
        let mut left = if self.accept(&Token::Operator(Operator::Minus)) {
            Expr::Negative(Box::new(self.expr(NEGATIVE)?))
        } else {
            self.path()?
        };
        while let Some(Token::Operator(operator)) = self.token() {
            let operator = *operator;
            if operator.power() <= least {
                break;
            }
            self.operators += 1;
            if self.operators > OPERATORS_MAX {
                return Err(Wrong::Depth);
            }
            self.at += 1;
            let right = deeper(|| self.expr(operator.power()))?;
            left = Expr::Binary(operator, Box::new(left), Box::new(right));
        }
        self.depth -= 1;
        Ok(left)
    }

    fn begins_step(&self) -> bool {
        matches!(
            self.token(),
            Some(
                Token::Name(..)
                    | Token::AnyOf(_)
                    | Token::Star
                    | Token::Dot
                    | Token::Dots
                    | Token::At
            )
        )
    }

    /// Whether a call of a function comes, and no test of a node's kind.
    fn begins_call(&self) -> bool {
        let Some(Token::Name(prefix, name)) = self.token() else { return false };
        let test = matches!(&**name, "node" | "text" | "comment" | "processing-instruction");
        self.tokens.get(self.at + 1) == Some(&Token::Open) && (prefix.is_some() || !test)
    }

    fn path(&mut self) -> Parsed<Expr> {
        let mut steps = Vec::new();
        let start = if self.accept(&Token::Slash) {
            if !self.begins_step() {
                return Ok(Expr::Path(Start::Root, steps));
            }
            steps.push(self.step()?);
            Start::Root
        } else if self.accept(&Token::Slashes) {
            steps.extend([Step::below(), self.step()?]);
            Start::Root
        } else if self.begins_step() && !self.begins_call() {
            steps.push(self.step()?);
            Start::Here
        } else {
            let primary = self.primary()?;
            let predicates = self.predicates()?;
            let filtered = match predicates.is_empty() {
                true => primary,
                false => Expr::Filter(Box::new(primary), predicates),
            };
            if !matches!(self.token(), Some(Token::Slash | Token::Slashes)) {
                return Ok(filtered);
            }
            Start::At(Box::new(filtered))
        };
        loop {
            if self.accept(&Token::Slashes) {
                steps.push(Step::below());
            } else if !self.accept(&Token::Slash) {
                return Ok(Expr::Path(start, steps));
            }
            steps.push(self.step()?);
        }
    }

    fn step(&mut self) -> Parsed<Step> {
        let short = |axis| Step { axis, test: Test::Node, predicates: Vec::new() };
        if self.accept(&Token::Dot) {
            return Ok(short(Axis::Itself));
        }
        if self.accept(&Token::Dots) {
            return Ok(short(Axis::Parent));
        }
        let named = match self.token() {
            Some(Token::Name(None, name))
                if self.tokens.get(self.at + 1) == Some(&Token::Colons) =>
            {
                Some(match &**name {
                    "ancestor" => Axis::Ancestor,
                    "ancestor-or-self" => Axis::AncestorOrSelf,
                    "attribute" => Axis::Attribute,
                    "child" => Axis::Child,
                    "descendant" => Axis::Descendant,
                    "descendant-or-self" => Axis::DescendantOrSelf,
                    "following" => Axis::Following,
                    "following-sibling" => Axis::FollowingSibling,
                    "namespace" => Axis::Namespace,
                    "parent" => Axis::Parent,
                    "preceding" => Axis::Preceding,
                    "preceding-sibling" => Axis::PrecedingSibling,
                    "self" => Axis::Itself,
                    _ => return Err(Wrong::Expression),
                })
            }
            _ => None,
        };
        let axis = match named {
            Some(axis) => {
                self.at += 2;
                axis
            }
            None if self.accept(&Token::At) => Axis::Attribute,
            None => Axis::Child,
        };
        let test = self.test()?;
        Ok(Step { axis, test, predicates: self.predicates()? })
    }

    fn test(&mut self) -> Parsed<Test> {
        let token = self.token().cloned().ok_or(Wrong::Expression)?;
        self.at += 1;
        Ok(match token {
            Token::Star => Test::Any(None),
            Token::AnyOf(prefix) => Test::Any(Some(prefix)),
            Token::Name(None, name) if self.accept(&Token::Open) => {
                let test = match &*name {
                    "node" => Test::Node,
                    "text" => Test::Text,
                    "comment" => Test::Comment,
                    "processing-instruction" => Test::Instruction(match self.token().cloned() {
                        Some(Token::Text(target)) => {
                            self.at += 1;
                            Some(target)
                        }
                        _ => None,
                    }),
                    _ => return Err(Wrong::Expression),
                };
                self.expect(&Token::Close)?;
                test
            }
            Token::Name(prefix, name) => Test::Named(prefix, name),
            _ => return Err(Wrong::Expression),
        })
    }

    fn predicates(&mut self) -> Parsed<Vec<Expr>> {
        let mut found = Vec::new();
        while self.accept(&Token::OpenBracket) {
            found.push(self.expr(0)?);
            self.expect(&Token::CloseBracket)?;
        }
        Ok(found)
    }

    fn primary(&mut self) -> Parsed<Expr> {
        let token = self.token().cloned().ok_or(Wrong::Expression)?;
        self.at += 1;
        Ok(match token {
            Token::Open => {
                let inner = self.expr(0)?;
                self.expect(&Token::Close)?;
                inner
            }
            Token::Text(text) => Expr::Text(text),
            Token::Number(number) => Expr::Number(number),
            Token::Dollar => match self.token() {
                Some(Token::Name(..)) => {
                    self.at += 1;
                    Expr::Variable
                }
                _ => return Err(Wrong::Expression),
            },
            Token::Name(prefix, name) => {
                self.expect(&Token::Open)?;
                let mut arguments = Vec::new();
                if !self.accept(&Token::Close) {
                    loop {
                        arguments.push(self.expr(0)?);
                        if self.accept(&Token::Close) {
                            break;
                        }
                        self.expect(&Token::Comma)?;
                    }
                }
                // There are no functions with prefixes, and none of such a name.
                let name = prefix.map_or(name.clone(), |prefix| format!("{prefix}:{name}"));
                Expr::Call(name, arguments)
            }
            _ => return Err(Wrong::Expression),
        })
    }
}
