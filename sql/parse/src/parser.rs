//! The parser's cursor: tokens in order, PostgreSQL's syntax errors, names, lists, types.
//!
//! A recursive descent over PostgreSQL's grammar (`gram.y`), one file per family of rules: `expr`, `query`, `modify`,
//! `table`, `alter`, `object`, `privilege`, `utility`. What the grammar decides with one token of look-ahead is decided
//! with one token here; in the few places where it needs its tables (a parenthesis before SELECT), tokens are looked at
//! up to the matching parenthesis. So an error stands at the token where PostgreSQL reports it.

use super::ast::{Expr, ExprKind, Ident, ObjectName, TypeName};
use super::depth::HEIGHT_MAX;
use super::keyword::{Category, Keyword};
use super::lexer::{Kind, Lexer, Token};
use super::position::Positions;
use super::value;
use sql_types::depth::{NESTING_MAX, deeper, too_deep};
use sql_types::dialect::Dialect;
use sql_types::error::{Notice, Result, SqlError};
use sql_types::sqlstate::SqlState;

/// The cursor.
pub struct Parser<'t> {
    pub(super) positions: Positions<'t>,
    tokens: Vec<Token>,
    at: usize,
    /// The height of what has been parsed since this was last set to 0.
    pub(super) height: u32,
    nesting: u32,
    /// Per token that is an opening parenthesis, the token that closes it; made when first asked for.
    closing: Vec<u32>,
    /// The run of opening parentheses that was looked at last: its first token, and the one behind it.
    run: (usize, usize),
    /// Notices about names that were cut, about escapes, and about precisions that are too high.
    pub(super) notices: Vec<Notice>,
    /// Those that PostgreSQL gives once more when it makes the columns that the statement describes.
    pub(super) repeated: Vec<Notice>,
    /// Those of defaults and of checks, which come behind all that types are warned of.
    pub(super) later: [Vec<Notice>; 2],
    /// What the session's settings make of the text.
    pub(super) dialect: Dialect,
    /// The text is one that the catalog keeps: a type without a schema is the system's, whatever the search path finds first.
    kept: bool,
    /// What is parsed is an item of a select list that no parenthesis has been opened in.
    pub(super) labels: bool,
}

impl<'t> Parser<'t> {
    /// At the beginning of a text as it is kept.
    #[must_use]
    pub fn new(text: &'t str) -> Parser<'t> {
        Parser { kept: true, ..Parser::speaking(text, Dialect::default()) }
    }

    /// At the beginning of a text that a session has sent.
    #[must_use]
    pub fn speaking(text: &'t str, dialect: Dialect) -> Parser<'t> {
        Parser {
            positions: Positions::new(text),
            tokens: Lexer::tokens_of(text, dialect.standard_strings),
            dialect,
            at: 0,
            height: 0,
            nesting: 0,
            closing: Vec::new(),
            run: (0, 0),
            notices: Vec::new(),
            repeated: Vec::new(),
            later: [Vec::new(), Vec::new()],
            kept: false,
            labels: false,
        }
    }

    /// The token at hand.
    pub(super) fn token(&self) -> Token {
        self.tokens[self.at]
    }

    /// The token that comes so many behind the one at hand.
    pub(super) fn token_at(&self, ahead: usize) -> Token {
        let last = self.tokens.len() - 1;
        self.tokens[(self.at + ahead).min(last)]
    }

    /// What the token at hand is.
    pub(super) fn kind(&self) -> Kind {
        self.tokens[self.at].kind
    }

    /// What the token `ahead` of it is.
    pub(super) fn kind_at(&self, ahead: usize) -> Kind {
        self.tokens.get(self.at + ahead).map_or(Kind::End, |token| token.kind)
    }

    /// The byte at which the token at hand begins.
    pub(super) fn here(&self) -> u32 {
        self.token().start
    }

    /// The byte behind the token before the one at hand.
    pub(super) fn before(&self) -> u32 {
        self.at.checked_sub(1).map_or(0, |index| self.tokens[index].end)
    }

    /// The text of a token.
    pub(super) fn text_of(&self, token: Token) -> &'t str {
        &self.positions.text()[token.start as usize..token.end as usize]
    }

    /// Takes the token at hand.
    pub(super) fn advance(&mut self) -> Token {
        let token = self.tokens[self.at];
        if token.kind != Kind::End {
            self.at += 1;
        }
        token
    }

    /// Gives the token taken last back.
    pub(super) fn back(&mut self) {
        self.at -= 1;
    }

    /// Whether the token at hand is this keyword.
    pub(super) fn is(&self, keyword: Keyword) -> bool {
        self.kind() == Kind::Keyword(keyword)
    }

    /// Whether the token `ahead` is this keyword.
    pub(super) fn is_at(&self, ahead: usize, keyword: Keyword) -> bool {
        self.kind_at(ahead) == Kind::Keyword(keyword)
    }

    /// Whether the token at hand is this symbol.
    pub(super) fn is_symbol(&self, symbol: u8) -> bool {
        self.kind() == Kind::Symbol(symbol)
    }

    /// Takes this keyword if it is at hand.
    pub(super) fn accept(&mut self, keyword: Keyword) -> bool {
        let found = self.is(keyword);
        if found {
            self.at += 1;
        }
        found
    }

    /// Takes these keywords if they are at hand, all of them.
    pub(super) fn accept_all(&mut self, keywords: &[Keyword]) -> bool {
        let found = keywords.iter().enumerate().all(|(ahead, &keyword)| self.is_at(ahead, keyword));
        if found {
            self.at += keywords.len();
        }
        found
    }

    /// Takes this symbol if it is at hand.
    pub(super) fn accept_symbol(&mut self, symbol: u8) -> bool {
        let found = self.is_symbol(symbol);
        if found {
            self.at += 1;
        }
        found
    }

    /// Takes this keyword.
    pub(super) fn expect(&mut self, keyword: Keyword) -> Result<()> {
        if self.accept(keyword) { Ok(()) } else { Err(self.error()) }
    }

    /// Takes these keywords.
    pub(super) fn expect_all(&mut self, keywords: &[Keyword]) -> Result<()> {
        keywords.iter().try_for_each(|&keyword| self.expect(keyword))
    }

    /// Takes this symbol.
    pub(super) fn expect_symbol(&mut self, symbol: u8) -> Result<()> {
        if self.accept_symbol(symbol) { Ok(()) } else { Err(self.error()) }
    }

    /// The syntax error at the token at hand.
    pub(super) fn error(&self) -> SqlError {
        self.error_at(self.token())
    }

    /// The syntax error at a token.
    pub(super) fn error_at(&self, token: Token) -> SqlError {
        let message = match token.kind {
            Kind::End => "syntax error at end of input".to_owned(),
            Kind::Error(error) if token.start == token.end => {
                format!("{} at end of input", error.message())
            }
            Kind::Error(error) => {
                format!("{} at or near \"{}\"", error.message(), self.text_of(token))
            }
            _ => format!("syntax error at or near \"{}\"", self.text_of(token)),
        };
        SqlError::new(SqlState::SYNTAX_ERROR, message).at(self.positions.of(token.start))
    }

    /// An error of the grammar's actions, at a byte.
    pub(super) fn complaint(&self, message: impl Into<String>, at: u32) -> SqlError {
        SqlError::new(SqlState::SYNTAX_ERROR, message).at(self.positions.of(at))
    }

    /// 0A000 at a byte.
    pub(super) fn unsupported(&self, what: &str, at: u32) -> SqlError {
        SqlError::unsupported(what).at(self.position(at))
    }

    /// A byte offset as clients are told it.
    pub(super) fn position(&self, at: u32) -> u32 {
        self.positions.of(at)
    }

    /// Runs a rule that may nest: the stack grows, the depth is bounded, and the height of what it makes is one more
    /// than that of its highest part.
    pub(super) fn nested<R>(
        &mut self,
        rule: impl FnOnce(&mut Parser<'t>) -> Result<R>,
    ) -> Result<R> {
        if !self.may_nest() {
            return Err(too_deep());
        }
        self.nesting += 1;
        let outer = std::mem::replace(&mut self.height, 0);
        let result = deeper(|| rule(self));
        self.nesting -= 1;
        self.height = outer.max(self.height + 1);
        self.check_height()?;
        result
    }

    /// Whether one more rule may nest here.
    pub(super) fn may_nest(&self) -> bool {
        self.nesting < NESTING_MAX
    }

    /// 54001 if what was parsed is too high.
    pub(super) fn check_height(&self) -> Result<()> {
        if self.height > HEIGHT_MAX { Err(too_deep()) } else { Ok(()) }
    }

    /// `rule`, `rule`, ...: one or more.
    pub(super) fn list<R>(
        &mut self,
        mut rule: impl FnMut(&mut Parser<'t>) -> Result<R>,
    ) -> Result<Vec<R>> {
        let mut items = vec![rule(self)?];
        while self.accept_symbol(b',') {
            items.push(rule(self)?);
        }
        Ok(items)
    }

    /// `(rule, ...)`: one or more.
    pub(super) fn in_parentheses<R>(
        &mut self,
        rule: impl FnMut(&mut Parser<'t>) -> Result<R>,
    ) -> Result<Vec<R>> {
        self.in_parentheses_of(1, rule)
    }

    /// As [`Parser::in_parentheses`], with room for as many as there may be.
    pub(super) fn in_parentheses_of<R>(
        &mut self,
        room: usize,
        mut rule: impl FnMut(&mut Parser<'t>) -> Result<R>,
    ) -> Result<Vec<R>> {
        self.expect_symbol(b'(')?;
        let mut items = Vec::with_capacity(room);
        items.push(rule(self)?);
        while self.accept_symbol(b',') {
            items.push(rule(self)?);
        }
        self.expect_symbol(b')')?;
        Ok(items)
    }

    /// The name that the token at hand is, taken.
    pub(super) fn take_name(&mut self) -> Result<Ident> {
        let token = self.advance();
        let (name, notice) = value::name(&self.positions, token)?;
        self.notices.extend(notice);
        Ok(name.into())
    }

    /// Whether a token may be a name of the given categories.
    fn may_be(&self, kind: Kind, allowed: &[Category]) -> bool {
        match kind {
            Kind::Word | Kind::Quoted | Kind::UnicodeQuoted => true,
            Kind::Keyword(keyword) => allowed.contains(&keyword.category()),
            _ => false,
        }
    }

    /// Whether a token may be a column's, table's or any other object's name.
    pub(super) fn is_name(&self, kind: Kind) -> bool {
        self.may_be(kind, &[Category::Unreserved, Category::ColumnName])
    }

    /// Whether a token may be a function's or type's name.
    pub(super) fn is_function_name(&self, kind: Kind) -> bool {
        self.may_be(kind, &[Category::Unreserved, Category::TypeOrFunctionName])
    }

    /// Whether a token may be a label behind AS or a dot.
    pub(super) fn is_label(&self, kind: Kind) -> bool {
        matches!(kind, Kind::Word | Kind::Quoted | Kind::UnicodeQuoted | Kind::Keyword(_))
    }

    /// `ColId`.
    pub(super) fn name(&mut self) -> Result<Ident> {
        if self.is_name(self.kind()) { self.take_name() } else { Err(self.error()) }
    }

    /// `ColLabel`.
    pub(super) fn label(&mut self) -> Result<Ident> {
        if self.is_label(self.kind()) { self.take_name() } else { Err(self.error()) }
    }

    /// `NonReservedWord`.
    pub(super) fn non_reserved(&mut self) -> Result<Ident> {
        let allowed = [Category::Unreserved, Category::ColumnName, Category::TypeOrFunctionName];
        if self.may_be(self.kind(), &allowed) { self.take_name() } else { Err(self.error()) }
    }

    /// A name with qualifiers: `any_name`, `qualified_name`.
    pub(super) fn object_name(&mut self) -> Result<ObjectName> {
        let at = self.here();
        let mut parts = vec![self.name()?];
        while self.accept_symbol(b'.') {
            parts.push(self.label()?);
        }
        Ok(ObjectName { parts, at })
    }

    /// A routine's name: `func_name`, or that of `function_with_argtypes`, which without arguments may be any column's name.
    pub(super) fn function_name(&mut self) -> Result<ObjectName> {
        let at = self.here();
        let (column, function) = (self.is_name(self.kind()), self.is_function_name(self.kind()));
        if !column && !function {
            return Err(self.error());
        }
        let mut parts = vec![self.take_name()?];
        while column && self.accept_symbol(b'.') {
            parts.push(self.label()?);
        }
        if parts.len() == 1 && !function && self.is_symbol(b'(') {
            return Err(self.error());
        }
        Ok(ObjectName { parts, at })
    }

    /// A table's name in a statement: at most database, schema and table.
    pub(super) fn relation_name(&mut self) -> Result<ObjectName> {
        let name = self.object_name()?;
        if name.parts.len() > 3 {
            return Err(self.complaint(
                format!("improper qualified name (too many dotted names): {name}"),
                name.at,
            ));
        }
        Ok(name)
    }

    /// `RoleSpec`: a name, or CURRENT_USER and the like as lower-case words.
    pub(super) fn role(&mut self) -> Result<Ident> {
        match self.kind() {
            Kind::Keyword(
                keyword @ (Keyword::CurrentUser | Keyword::CurrentRole | Keyword::SessionUser),
            ) => {
                self.advance();
                Ok(keyword.word().into())
            }
            _ => self.non_reserved(),
        }
    }

    /// A whole number without a sign that fits in int4 (`Iconst`).
    pub(super) fn integer(&mut self) -> Result<i32> {
        if self.kind() != Kind::Integer {
            return Err(self.error());
        }
        let parsed = self.text_of(self.token()).parse();
        let number = parsed.map_err(|_| self.error())?;
        self.advance();
        Ok(number)
    }

    /// A whole number with a sign, of 64 bits (`NumericOnly` where a whole number is meant).
    pub(super) fn signed(&mut self) -> Result<i64> {
        let at = self.here();
        let negative = self.is_symbol(b'-');
        if negative || self.is_symbol(b'+') {
            self.advance();
        }
        let token = self.token();
        if !matches!(token.kind, Kind::Integer | Kind::Number) {
            return Err(self.error());
        }
        self.advance();
        let sign = if negative { "-" } else { "" };
        let text = format!("{sign}{}", self.text_of(token));
        text.parse().map_err(|_| {
            SqlError::new(
                SqlState::NUMERIC_VALUE_OUT_OF_RANGE,
                format!("value \"{text}\" is out of range for type bigint"),
            )
            .at(self.positions.of(at))
        })
    }

    /// A number as written, with its sign.
    pub(super) fn number_text(&mut self) -> Result<Ident> {
        let negative = self.accept_symbol(b'-');
        if !negative {
            self.accept_symbol(b'+');
        }
        let token = self.token();
        if !matches!(token.kind, Kind::Integer | Kind::Number) {
            return Err(self.error());
        }
        self.advance();
        Ok(format!("{}{}", if negative { "-" } else { "" }, self.text_of(token)).into())
    }

    /// Whether the opening parenthesis at hand holds a query (rather than an expression or a joined table that begins
    /// with one): it begins with SELECT and the like, and what follows each parenthesised query in it goes on as a query.
    pub(super) fn opens_query(&mut self) -> bool {
        if !self.is_symbol(b'(') {
            return false;
        }
        if !(self.run.0..self.run.1).contains(&self.at) {
            let mut first = self.at;
            while self.tokens[first].kind == Kind::Symbol(b'(') {
                first += 1;
            }
            self.run = (self.at, first);
        }
        let first = self.run.1;
        let begins = match self.tokens[first].kind {
            Kind::Keyword(Keyword::Select | Keyword::With | Keyword::Table) => true,
            // Without rows behind it the word is a column's name.
            Kind::Keyword(Keyword::Values) => {
                self.tokens.get(first + 1).is_some_and(|next| next.kind == Kind::Symbol(b'('))
            }
            _ => false,
        };
        if !begins {
            return false;
        }
        self.match_parentheses();
        // From the innermost parenthesis, which holds the query, outwards.
        for open in (self.at + 1..first).rev() {
            let close = self.closing[open] as usize;
            match self.tokens.get(close + 1).map_or(Kind::End, |token| token.kind) {
                Kind::Symbol(b')')
                | Kind::Keyword(
                    Keyword::Union
                    | Keyword::Intersect
                    | Keyword::Except
                    | Keyword::Order
                    | Keyword::Limit
                    | Keyword::Offset
                    | Keyword::Fetch
                    | Keyword::For,
                ) => {}
                _ => return false,
            }
        }
        true
    }

    /// Finds for every opening parenthesis the one that closes it.
    fn match_parentheses(&mut self) {
        if !self.closing.is_empty() {
            return;
        }
        self.closing = vec![self.tokens.len() as u32; self.tokens.len()];
        let mut open = Vec::new();
        for (index, token) in self.tokens.iter().enumerate() {
            match token.kind {
                Kind::Symbol(b'(') => open.push(index),
                Kind::Symbol(b')') => {
                    if let Some(start) = open.pop() {
                        self.closing[start] = index as u32;
                    }
                }
                _ => {}
            }
        }
    }

    /// Nothing follows.
    pub(super) fn at_end(&self) -> Result<()> {
        if self.kind() == Kind::End { Ok(()) } else { Err(self.error()) }
    }

    /// Skips to the end of the statement.
    pub(super) fn skip_statement(&mut self) {
        // A rule is several statements in parentheses.
        let mut depth = 0u32;
        loop {
            match self.kind() {
                Kind::End | Kind::Error(_) => break,
                Kind::Symbol(b';') if depth == 0 => break,
                Kind::Symbol(b'(') => depth += 1,
                Kind::Symbol(b')') => depth = depth.saturating_sub(1),
                _ => {}
            }
            self.at += 1;
        }
    }

    /// A type's name: `Typename`.
    pub(super) fn type_name(&mut self) -> Result<TypeName> {
        let setof = self.accept(Keyword::Setof);
        let mut ty = match self.keyword_type()? {
            Some(ty) => ty,
            None => self.generic_type()?,
        };
        ty.setof = setof;
        self.warn_of_precision(&ty);
        if self.accept(Keyword::Array) {
            ty.dimensions = 1;
            if self.accept_symbol(b'[') {
                self.integer()?;
                self.expect_symbol(b']')?;
            }
        } else {
            while self.accept_symbol(b'[') {
                if !self.is_symbol(b']') {
                    self.integer()?;
                }
                self.expect_symbol(b']')?;
                ty.dimensions += 1;
            }
        }
        Ok(ty)
    }

    /// A type that is not made of keywords.
    fn generic_type(&mut self) -> Result<TypeName> {
        let at = self.here();
        if !self.is_function_name(self.kind()) {
            return Err(self.error());
        }
        let mut parts = vec![self.take_name()?];
        while self.accept_symbol(b'.') {
            parts.push(self.label()?);
        }
        if self.kept && parts.len() == 1 {
            parts.insert(0, SYSTEM_SCHEMA.into());
        }
        let mut ty = plain_type(ObjectName { parts, at });
        // A column is named with its table.
        let qualified = ty.name.parts.len() > 1;
        if qualified && self.is_symbol(b'%') && self.is_at(1, Keyword::Type) {
            self.advance();
            self.advance();
            ty.of_column = true;
        } else if self.is_symbol(b'(') {
            ty.modifiers = self.in_parentheses(Parser::expr)?;
        }
        Ok(ty)
    }

    /// A type whose name is made of keywords, if one is at hand: `SimpleTypename` without `GenericType`.
    pub(super) fn keyword_type(&mut self) -> Result<Option<TypeName>> {
        let Kind::Keyword(keyword) = self.kind() else { return Ok(None) };
        let at = self.here();
        let system = |name: &str| plain_type(system_name(name, at));
        let ty = match keyword {
            Keyword::Int | Keyword::Integer => self.simple(system("int4")),
            Keyword::Smallint => self.simple(system("int2")),
            Keyword::Bigint => self.simple(system("int8")),
            Keyword::Real => self.simple(system("float4")),
            Keyword::Boolean => self.simple(system("bool")),
            Keyword::Float => {
                self.advance();
                let mut name = "float8";
                if self.accept_symbol(b'(') {
                    let place = self.here();
                    let precision = self.integer()?;
                    let wrong = |what: &str| {
                        SqlError::new(
                            SqlState::INVALID_PARAMETER_VALUE,
                            format!("precision for type float must be {what}"),
                        )
                        .at(self.positions.of(place))
                    };
                    name = match precision {
                        ..1 => return Err(wrong("at least 1 bit")),
                        1..=24 => "float4",
                        25..=53 => "float8",
                        54.. => return Err(wrong("less than 54 bits")),
                    };
                    self.expect_symbol(b')')?;
                }
                system(name)
            }
            Keyword::Double => {
                self.advance();
                self.expect(Keyword::Precision)?;
                system("float8")
            }
            Keyword::Decimal | Keyword::Dec | Keyword::Numeric => {
                let mut ty = self.simple(system("numeric"));
                if self.is_symbol(b'(') {
                    ty.modifiers = self.in_parentheses(Parser::expr)?;
                }
                ty
            }
            Keyword::Bit => {
                self.advance();
                let varying = self.accept(Keyword::Varying);
                let mut ty = system(if varying { "varbit" } else { "bit" });
                if self.is_symbol(b'(') {
                    ty.modifiers = self.in_parentheses(Parser::expr)?;
                } else if !varying {
                    ty.modifiers = vec![integer(1, at)];
                }
                ty
            }
            Keyword::Varchar => {
                self.advance();
                self.character_type("varchar", at)?
            }
            Keyword::Character | Keyword::Char | Keyword::Nchar => {
                self.advance();
                let varying = self.accept(Keyword::Varying);
                self.character_type(if varying { "varchar" } else { "bpchar" }, at)?
            }
            Keyword::National => {
                self.advance();
                if !self.accept(Keyword::Character) {
                    self.expect(Keyword::Char)?;
                }
                let varying = self.accept(Keyword::Varying);
                self.character_type(if varying { "varchar" } else { "bpchar" }, at)?
            }
            Keyword::Timestamp | Keyword::Time => {
                self.advance();
                let mut modifiers = Vec::new();
                if self.accept_symbol(b'(') {
                    let place = self.here();
                    modifiers.push(integer(self.integer()?, place));
                    self.expect_symbol(b')')?;
                }
                let zone = if self.is(Keyword::With) && self.is_at(1, Keyword::Time) {
                    self.expect_all(&[Keyword::With, Keyword::Time, Keyword::Zone])?;
                    true
                } else if self.is(Keyword::Without) && self.is_at(1, Keyword::Time) {
                    self.expect_all(&[Keyword::Without, Keyword::Time, Keyword::Zone])?;
                    false
                } else {
                    false
                };
                let mut ty = system(match (keyword, zone) {
                    (Keyword::Time, false) => "time",
                    (Keyword::Time, true) => "timetz",
                    (_, false) => "timestamp",
                    (_, true) => "timestamptz",
                });
                ty.modifiers = modifiers;
                ty
            }
            Keyword::Interval => {
                self.advance();
                let mut ty = system("interval");
                if self.accept_symbol(b'(') {
                    let place = self.here();
                    let precision = self.integer()?;
                    self.expect_symbol(b')')?;
                    ty.modifiers =
                        vec![integer(INTERVAL_FULL_RANGE, at), integer(precision, place)];
                } else {
                    ty.modifiers = self.interval_fields()?;
                }
                ty
            }
            _ => return Ok(None),
        };
        Ok(Some(ty))
    }

    fn simple(&mut self, ty: TypeName) -> TypeName {
        self.advance();
        ty
    }

    /// `(n)` of a character type; `char` alone is `char(1)`.
    fn character_type(&mut self, name: &str, at: u32) -> Result<TypeName> {
        let mut ty = plain_type(system_name(name, at));
        if self.accept_symbol(b'(') {
            let place = self.here();
            ty.modifiers = vec![integer(self.integer()?, place)];
            self.expect_symbol(b')')?;
        } else if name == "bpchar" {
            ty.modifiers = vec![integer(1, at)];
        }
        Ok(ty)
    }

    /// `YEAR TO MONTH`, `SECOND(3)` and so on: the mask of fields and the precision, none if nothing is there.
    pub(super) fn interval_fields(&mut self) -> Result<Vec<Expr>> {
        let at = self.here();
        let field = |kind| match kind {
            Kind::Keyword(Keyword::Year) => Some(2),
            Kind::Keyword(Keyword::Month) => Some(1),
            Kind::Keyword(Keyword::Day) => Some(3),
            Kind::Keyword(Keyword::Hour) => Some(10),
            Kind::Keyword(Keyword::Minute) => Some(11),
            Kind::Keyword(Keyword::Second) => Some(12),
            _ => None,
        };
        let Some(first) = field(self.kind()) else { return Ok(Vec::new()) };
        self.advance();
        let mut last = first;
        if self.is(Keyword::To) {
            self.advance();
            // Only smaller units follow: YEAR TO MONTH, DAY TO HOUR, MINUTE, SECOND and so on.
            let order = [2, 1, 3, 10, 11, 12];
            let place = |unit| order.iter().position(|&other| other == unit);
            last = match field(self.kind()) {
                Some(unit) if place(unit) > place(first) && (unit == 1) == (first == 2) => unit,
                _ => return Err(self.error()),
            };
            self.advance();
        }
        let order = [2, 1, 3, 10, 11, 12];
        let from = order.iter().position(|&unit| unit == first).unwrap_or(0);
        let to = order.iter().position(|&unit| unit == last).unwrap_or(from);
        let mask = order[from..=to].iter().fold(0, |mask, &unit| mask | 1 << unit);
        let mut modifiers = vec![integer(mask, at)];
        if last == 12 && self.accept_symbol(b'(') {
            let place = self.here();
            modifiers.push(integer(self.integer()?, place));
            self.expect_symbol(b')')?;
        }
        Ok(modifiers)
    }
}

/// The mask of an INTERVAL with all fields.
pub(super) const INTERVAL_FULL_RANGE: i32 = 0x7FFF;

/// An integer constant.
pub(super) fn integer(value: i32, at: u32) -> Expr {
    Expr { at, kind: ExprKind::Integer(value) }
}

/// The schema of what is built in.
const SYSTEM_SCHEMA: &str = "pg_catalog";

/// `pg_catalog.name`.
pub(super) fn system_name(name: &str, at: u32) -> ObjectName {
    ObjectName { parts: vec![SYSTEM_SCHEMA.into(), name.into()], at }
}

/// A type without anything.
pub(super) fn plain_type(name: ObjectName) -> TypeName {
    TypeName { name, modifiers: Vec::new(), dimensions: 0, setof: false, of_column: false }
}
