//! Primary expressions: PostgreSQL's `c_expr`, constants, names with indirection, CASE, ARRAY, ROW, parentheses.

use super::ast::{Argument, Call, Expr, ExprKind, Ident, Index, ObjectName, When};
use super::keyword::Keyword;
use super::lexer::{Kind, Token};
use super::parser::{Parser, integer, plain_type, system_name};
use super::value;
use sql_types::error::Result;
use sql_types::words::CurrentValue;
use std::sync::Arc;

impl<'t> Parser<'t> {
    /// `c_expr` and `AexprConst`.
    pub(super) fn primary(&mut self) -> Result<Expr> {
        let token = self.token();
        let at = token.start;
        let plain = |kind| Ok(Expr { at, kind });
        match token.kind {
            Kind::Integer => {
                self.advance();
                let text = self.text_of(token);
                plain(match text.parse() {
                    Ok(value) => ExprKind::Integer(value),
                    Err(_) => ExprKind::Number(text.into()),
                })
            }
            Kind::Number => {
                self.advance();
                plain(ExprKind::Number(self.text_of(token).into()))
            }
            Kind::String | Kind::EscapeString | Kind::UnicodeString | Kind::DollarString => {
                let text = self.string()?;
                plain(ExprKind::String(text))
            }
            Kind::National => {
                self.advance();
                // Behind the N is a string like any other.
                let standard = self.dialect.standard_strings;
                let kind = if standard { Kind::String } else { Kind::EscapeString };
                let text = self.string_value(Token { kind, start: token.start + 1, ..token })?;
                let operand = Box::new(Expr { at, kind: ExprKind::String(text.into()) });
                let ty = plain_type(system_name("bpchar", at));
                plain(ExprKind::Cast { operand, ty })
            }
            Kind::Bits => {
                self.advance();
                let letter = self.text_of(token).as_bytes()[0].to_ascii_lowercase();
                let digits = value::string(&self.positions, token)?;
                plain(ExprKind::Bits(char::from(letter), digits.into()))
            }
            Kind::Parameter => {
                self.advance();
                let number = self.text_of(token)[1..].parse().unwrap_or(u32::MAX);
                let parameter = Expr { at, kind: ExprKind::Parameter(number) };
                self.indirection(parameter)
            }
            Kind::Symbol(b'(') => self.parenthesis(),
            Kind::Keyword(keyword) => self.keyword_primary(keyword, at),
            Kind::Word | Kind::Quoted | Kind::UnicodeQuoted => self.named(),
            _ => Err(self.error()),
        }
    }

    fn keyword_primary(&mut self, keyword: Keyword, at: u32) -> Result<Expr> {
        let constant = |parser: &mut Self, kind| {
            parser.advance();
            Ok(Expr { at, kind })
        };
        match keyword {
            Keyword::Null => constant(self, ExprKind::Null),
            Keyword::True => constant(self, ExprKind::Bool(true)),
            Keyword::False => constant(self, ExprKind::Bool(false)),
            Keyword::Case => self.case(at),
            Keyword::Exists if self.kind_at(1) == Kind::Symbol(b'(') => {
                self.advance();
                let query = Arc::new(self.query_in_parentheses()?);
                Ok(Expr { at, kind: ExprKind::Exists(query) })
            }
            Keyword::Array => {
                self.advance();
                if self.is_symbol(b'(') {
                    let query = Arc::new(self.query_in_parentheses()?);
                    return Ok(Expr { at, kind: ExprKind::ArrayQuery(query) });
                }
                self.array(at)
            }
            Keyword::Row if self.kind_at(1) == Kind::Symbol(b'(') => {
                self.advance();
                self.advance();
                let fields =
                    if self.is_symbol(b')') { Vec::new() } else { self.list(Parser::expr)? };
                self.expect_symbol(b')')?;
                let row = Expr { at, kind: ExprKind::Row { fields, explicit: true } };
                Ok(row)
            }
            Keyword::Grouping if self.kind_at(1) == Kind::Symbol(b'(') => {
                self.advance();
                let arguments = self.in_parentheses(Parser::expr)?;
                Ok(Expr { at, kind: ExprKind::Grouping(arguments) })
            }
            Keyword::CurrentDate => constant(self, ExprKind::CurrentValue(CurrentValue::Date)),
            Keyword::CurrentTime => self.current(at, ("TIME", true), CurrentValue::Time),
            Keyword::CurrentTimestamp => {
                self.current(at, ("TIMESTAMP", true), CurrentValue::Timestamp)
            }
            Keyword::Localtime => self.current(at, ("TIME", false), CurrentValue::LocalTime),
            Keyword::Localtimestamp => {
                self.current(at, ("TIMESTAMP", false), CurrentValue::LocalTimestamp)
            }
            Keyword::CurrentUser => constant(self, ExprKind::CurrentValue(CurrentValue::User)),
            Keyword::CurrentRole => constant(self, ExprKind::CurrentValue(CurrentValue::Role)),
            Keyword::User => constant(self, ExprKind::CurrentValue(CurrentValue::PlainUser)),
            Keyword::SessionUser => {
                constant(self, ExprKind::CurrentValue(CurrentValue::SessionUser))
            }
            Keyword::CurrentCatalog => {
                constant(self, ExprKind::CurrentValue(CurrentValue::Catalog))
            }
            // A name for functions too, where a parenthesis follows.
            Keyword::CurrentSchema if self.kind_at(1) != Kind::Symbol(b'(') => {
                constant(self, ExprKind::CurrentValue(CurrentValue::Schema))
            }
            Keyword::Default => constant(self, ExprKind::Default),
            Keyword::Collation if self.is_at(1, Keyword::For) => {
                self.advance();
                self.advance();
                self.expect_symbol(b'(')?;
                let operand = self.expr()?;
                self.expect_symbol(b')')?;
                Ok(call(system_name("pg_collation_for", at), vec![operand], true))
            }
            _ => {
                if self.kind_at(1) == Kind::Symbol(b'(')
                    && let Some(form) = self.standard_form(keyword, at)?
                {
                    return Ok(form);
                }
                if let Some(literal) = self.typed_literal(at)? {
                    return Ok(literal);
                }
                self.named()
            }
        }
    }

    /// CURRENT_TIMESTAMP and its kin, with a precision or without; `ty` is its type and whether that has a zone.
    fn current(
        &mut self,
        at: u32,
        ty: (&str, bool),
        kind: fn(Option<u8>) -> CurrentValue,
    ) -> Result<Expr> {
        self.advance();
        let mut precision = None;
        if self.accept_symbol(b'(') {
            let given = self.integer()?;
            precision = Some(self.reduced_precision(ty.0, given, ty.1));
            self.expect_symbol(b')')?;
        }
        Ok(Expr { at, kind: ExprKind::CurrentValue(kind(precision)) })
    }

    /// `timestamp '...'`: a type of keywords and a string; nothing if the keyword at hand begins something else.
    fn typed_literal(&mut self, at: u32) -> Result<Option<Expr>> {
        let begins_type = matches!(
            self.kind(),
            Kind::Keyword(
                Keyword::Int
                    | Keyword::Integer
                    | Keyword::Smallint
                    | Keyword::Bigint
                    | Keyword::Real
                    | Keyword::Float
                    | Keyword::Double
                    | Keyword::Decimal
                    | Keyword::Dec
                    | Keyword::Numeric
                    | Keyword::Boolean
                    | Keyword::Bit
                    | Keyword::Varchar
                    | Keyword::Character
                    | Keyword::Char
                    | Keyword::Nchar
                    | Keyword::National
                    | Keyword::Timestamp
                    | Keyword::Time
                    | Keyword::Interval
            )
        );
        // `double` alone may be a column; all others here are no function's name, and a column's only where what
        // follows does not make them a type.
        let followed = match self.kind_at(1) {
            Kind::Symbol(b'(')
            | Kind::String
            | Kind::EscapeString
            | Kind::UnicodeString
            | Kind::DollarString => true,
            Kind::Keyword(
                Keyword::Precision
                | Keyword::Varying
                | Keyword::With
                | Keyword::Without
                | Keyword::Character
                | Keyword::Char,
            ) => !self.is(Keyword::Real),
            _ => false,
        };
        if !begins_type || !followed {
            return Ok(None);
        }
        let interval = self.is(Keyword::Interval);
        // A column that says no more than bit has one bit, a literal as many as it has digits.
        let unmeasured = self.is(Keyword::Bit)
            && !matches!(self.kind_at(1), Kind::Symbol(b'(') | Kind::Keyword(Keyword::Varying));
        let Some(mut ty) = self.keyword_type()? else { return Ok(None) };
        if unmeasured {
            ty.modifiers.clear();
        }
        let place = self.here();
        let text = self.string()?;
        if interval && ty.modifiers.is_empty() {
            ty.modifiers = self.interval_fields()?;
        }
        self.warn_of_precision(&ty);
        let operand = Box::new(Expr { at: place, kind: ExprKind::String(text) });
        Ok(Some(Expr { at, kind: ExprKind::Cast { operand, ty } }))
    }

    /// A parenthesis: an expression, a row or a query.
    fn parenthesis(&mut self) -> Result<Expr> {
        let at = self.here();
        if self.opens_query() {
            let query = Arc::new(self.query_in_parentheses()?);
            let expr = Expr { at, kind: ExprKind::Subquery(query) };
            return self.indirection(expr);
        }
        self.advance();
        let first = self.expr()?;
        if self.accept_symbol(b',') {
            let mut fields = vec![first];
            fields.extend(self.list(Parser::expr)?);
            self.expect_symbol(b')')?;
            return Ok(Expr { at, kind: ExprKind::Row { fields, explicit: false } });
        }
        self.expect_symbol(b')')?;
        self.indirection(first)
    }

    /// `[...]` behind ARRAY, and inside it.
    fn array(&mut self, at: u32) -> Result<Expr> {
        self.nested(|parser| {
            parser.expect_symbol(b'[')?;
            let elements = if parser.is_symbol(b']') {
                Vec::new()
            } else if parser.is_symbol(b'[') {
                parser.list(|parser| {
                    let at = parser.here();
                    parser.array(at)
                })?
            } else {
                parser.list(Parser::expr)?
            };
            parser.expect_symbol(b']')?;
            Ok(Expr { at, kind: ExprKind::Array(elements) })
        })
    }

    fn case(&mut self, at: u32) -> Result<Expr> {
        self.advance();
        let operand = if self.is(Keyword::When) { None } else { Some(Box::new(self.expr()?)) };
        let mut branches = Vec::new();
        while self.is(Keyword::When) {
            let at = self.advance().start;
            let condition = self.expr()?;
            self.expect(Keyword::Then)?;
            branches.push(When { condition, result: self.expr()?, at });
        }
        if branches.is_empty() {
            return Err(self.error());
        }
        let otherwise =
            if self.accept(Keyword::Else) { Some(Box::new(self.expr()?)) } else { None };
        self.expect(Keyword::End)?;
        Ok(Expr { at, kind: ExprKind::Case { operand, branches, otherwise } })
    }

    /// A column, a call, or a literal of a named type.
    fn named(&mut self) -> Result<Expr> {
        let at = self.here();
        let first = self.kind();
        let column = self.is_name(first);
        let function = self.is_function_name(first);
        if !column && !function {
            return Err(self.error());
        }
        if !column
            && !matches!(self.kind_at(1), Kind::Symbol(b'('))
            && !matches!(self.kind_at(1), Kind::String | Kind::EscapeString | Kind::DollarString)
        {
            // A word such as LEFT is only ever a function or a type: the error is behind it.
            self.advance();
            return Err(self.error());
        }
        let mut parts = vec![self.take_name()?];
        let mut star = false;
        while self.is_symbol(b'.') {
            self.advance();
            if self.accept_symbol(b'*') {
                star = true;
                break;
            }
            parts.push(self.label()?);
        }
        if star {
            return Ok(Expr { at, kind: ExprKind::Star(parts) });
        }
        if self.is_symbol(b'(') && (function || parts.len() > 1) {
            return self.call_of(ObjectName { parts, at });
        }
        if self.is_string() && (function || parts.len() > 1) {
            let place = self.here();
            let text = self.string()?;
            let operand = Box::new(Expr { at: place, kind: ExprKind::String(text) });
            let ty = plain_type(ObjectName { parts, at });
            return Ok(Expr { at, kind: ExprKind::Cast { operand, ty } });
        }
        let expr = Expr { at, kind: ExprKind::Column(parts) };
        self.indirection(expr)
    }

    /// `[i]`, `.f`, `.*` behind an expression.
    pub(super) fn indirection(&mut self, mut expr: Expr) -> Result<Expr> {
        // PostgreSQL reports what is wrong with a subscript or a field at the value that it is taken of.
        let at = expr.start();
        loop {
            if self.is_symbol(b'[') {
                let mut indices = Vec::new();
                while self.accept_symbol(b'[') {
                    indices.push(self.subscript()?);
                    self.expect_symbol(b']')?;
                }
                expr = Expr { at, kind: ExprKind::Subscript { operand: Box::new(expr), indices } };
            } else if self.accept_symbol(b'.') {
                if self.accept_symbol(b'*') {
                    return Ok(Expr { at, kind: ExprKind::AllFields(Box::new(expr)) });
                }
                let name = self.label()?;
                expr = Expr { at, kind: ExprKind::Field { operand: Box::new(expr), name } };
            } else {
                return Ok(expr);
            }
            self.height += 1;
            self.check_height()?;
        }
    }

    fn subscript(&mut self) -> Result<Index> {
        let colon = |parser: &Self| parser.is_symbol(b':');
        let lower = if colon(self) { None } else { Some(self.expr()?) };
        if !self.accept_symbol(b':') {
            return lower.map(Index::At).ok_or_else(|| self.error());
        }
        let upper = if self.is_symbol(b']') { None } else { Some(self.expr()?) };
        Ok(Index::Slice(lower, upper))
    }

    /// NFC and its kin, as a string, if one is at hand.
    pub(super) fn normal_form(&mut self) -> Option<Expr> {
        let form = match self.kind() {
            Kind::Keyword(Keyword::Nfc) => "NFC",
            Kind::Keyword(Keyword::Nfd) => "NFD",
            Kind::Keyword(Keyword::Nfkc) => "NFKC",
            Kind::Keyword(Keyword::Nfkd) => "NFKD",
            _ => return None,
        };
        let at = self.advance().start;
        Some(Expr { at, kind: ExprKind::String(form.into()) })
    }

    /// EXTRACT, SUBSTRING and the other calls with words between their arguments, and what looks like a call and is none:
    /// COALESCE, CAST. Nothing if `keyword` begins neither.
    fn standard_form(&mut self, keyword: Keyword, at: u32) -> Result<Option<Expr>> {
        let system = |name: &str| system_name(name, at);
        let list = |parser: &mut Self| {
            parser.advance();
            parser.in_parentheses(Parser::expr)
        };
        let expr = match keyword {
            Keyword::Coalesce => Expr { at, kind: ExprKind::Coalesce(list(self)?) },
            Keyword::Greatest | Keyword::Least => {
                let greatest = keyword == Keyword::Greatest;
                Expr { at, kind: ExprKind::Extreme { greatest, arguments: list(self)? } }
            }
            Keyword::Nullif => {
                self.advance();
                self.expect_symbol(b'(')?;
                let left = Box::new(self.expr()?);
                self.expect_symbol(b',')?;
                let right = Box::new(self.expr()?);
                self.expect_symbol(b')')?;
                Expr { at, kind: ExprKind::NullIf(left, right) }
            }
            Keyword::Cast => {
                self.advance();
                self.expect_symbol(b'(')?;
                let operand = Box::new(self.expr()?);
                self.expect(Keyword::As)?;
                let ty = self.type_name()?;
                self.expect_symbol(b')')?;
                Expr { at, kind: ExprKind::Cast { operand, ty } }
            }
            Keyword::Extract => {
                self.advance();
                self.expect_symbol(b'(')?;
                let place = self.here();
                let field = match self.kind() {
                    Kind::Word | Kind::Quoted | Kind::UnicodeQuoted => self.name()?,
                    Kind::Keyword(
                        Keyword::Year
                        | Keyword::Month
                        | Keyword::Day
                        | Keyword::Hour
                        | Keyword::Minute
                        | Keyword::Second,
                    ) => self.label()?,
                    _ => self.string()?,
                };
                self.expect(Keyword::From)?;
                let source = self.expr()?;
                self.expect_symbol(b')')?;
                let field = Expr { at: place, kind: ExprKind::String(field) };
                call(system("extract"), vec![field, source], true)
            }
            Keyword::Position => {
                self.advance();
                self.expect_symbol(b'(')?;
                let part = self.restricted_expr()?;
                self.expect(Keyword::In)?;
                let whole = self.restricted_expr()?;
                self.expect_symbol(b')')?;
                call(system("position"), vec![whole, part], true)
            }
            Keyword::Overlay => return self.overlay(at).map(Some),
            Keyword::Substring => return self.substring(at).map(Some),
            Keyword::Trim => return self.trim(at).map(Some),
            Keyword::Normalize => {
                self.advance();
                self.expect_symbol(b'(')?;
                let mut arguments = vec![self.expr()?];
                if self.accept_symbol(b',') {
                    let form = self.normal_form();
                    arguments.push(form.ok_or_else(|| self.error())?);
                }
                self.expect_symbol(b')')?;
                call(system("normalize"), arguments, true)
            }
            Keyword::Xmlconcat
            | Keyword::Xmlelement
            | Keyword::Xmlforest
            | Keyword::Xmlparse
            | Keyword::Xmlpi
            | Keyword::Xmlroot
            | Keyword::Xmlserialize => return self.xml(keyword, at).map(Some),
            Keyword::Xmlexists => {
                self.advance();
                self.expect_symbol(b'(')?;
                let path = self.primary()?;
                self.expect(Keyword::Passing)?;
                self.xml_passing()?;
                let document = self.primary()?;
                self.xml_passing()?;
                self.expect_symbol(b')')?;
                call(system("xmlexists"), vec![path, document], true)
            }
            Keyword::Treat => {
                return Err(self.unsupported(&format!("{} is", keyword.word().to_uppercase()), at));
            }
            _ => return Ok(None),
        };
        Ok(Some(expr))
    }

    fn overlay(&mut self, at: u32) -> Result<Expr> {
        self.advance();
        self.expect_symbol(b'(')?;
        let first = self.expr()?;
        if !self.accept(Keyword::Placing) {
            return self.plain_arguments(ObjectName { parts: vec!["overlay".into()], at }, first);
        }
        let mut arguments = vec![first, self.expr()?];
        self.expect(Keyword::From)?;
        arguments.push(self.expr()?);
        if self.accept(Keyword::For) {
            arguments.push(self.expr()?);
        }
        self.expect_symbol(b')')?;
        Ok(call(system_name("overlay", at), arguments, true))
    }

    /// The rest of an ordinary call whose first argument has been read.
    fn plain_arguments(&mut self, name: ObjectName, first: Expr) -> Result<Expr> {
        let mut arguments = vec![first];
        while self.accept_symbol(b',') {
            arguments.push(self.expr()?);
        }
        self.expect_symbol(b')')?;
        Ok(call(name, arguments, false))
    }

    fn substring(&mut self, at: u32) -> Result<Expr> {
        self.advance();
        self.expect_symbol(b'(')?;
        let name = system_name("substring", at);
        if self.accept_symbol(b')') {
            return Ok(call(name, Vec::new(), false));
        }
        let first = self.expr()?;
        let mut arguments = vec![first];
        if self.accept(Keyword::From) {
            arguments.push(self.expr()?);
            if self.accept(Keyword::For) {
                arguments.push(self.expr()?);
            }
        } else if self.accept(Keyword::For) {
            let length = self.expr()?;
            if self.accept(Keyword::From) {
                arguments.push(self.expr()?);
                arguments.push(length);
            } else {
                // Without FROM the length must not be taken for a pattern, so it is made an integer.
                let ty = plain_type(system_name("int4", length.at));
                let at = length.at;
                let length = Expr { at, kind: ExprKind::Cast { operand: Box::new(length), ty } };
                arguments.push(integer(1, at));
                arguments.push(length);
            }
        } else if self.is(Keyword::Similar) {
            self.advance();
            arguments.push(self.expr()?);
            self.expect(Keyword::Escape)?;
            arguments.push(self.expr()?);
        } else {
            let first = arguments.remove(0);
            return self.plain_arguments(ObjectName { parts: vec!["substring".into()], at }, first);
        }
        self.expect_symbol(b')')?;
        Ok(call(name, arguments, true))
    }

    fn trim(&mut self, at: u32) -> Result<Expr> {
        self.advance();
        self.expect_symbol(b'(')?;
        let name = if self.accept(Keyword::Leading) {
            "ltrim"
        } else if self.accept(Keyword::Trailing) {
            "rtrim"
        } else {
            self.accept(Keyword::Both);
            "btrim"
        };
        let mut arguments;
        if self.accept(Keyword::From) {
            arguments = self.list(Parser::expr)?;
        } else {
            let characters = self.expr()?;
            if self.accept(Keyword::From) {
                arguments = self.list(Parser::expr)?;
                arguments.push(characters);
            } else {
                arguments = vec![characters];
                while self.accept_symbol(b',') {
                    arguments.push(self.expr()?);
                }
            }
        }
        self.expect_symbol(b')')?;
        Ok(call(system_name(name, at), arguments, true))
    }
}

/// A call with plain arguments.
pub(super) fn call(name: ObjectName, arguments: Vec<Expr>, standard_form: bool) -> Expr {
    let at = name.at;
    let arguments = arguments.into_iter().map(|value| {
        let at = value.start();
        Argument { name: None::<Ident>, value, at }
    });
    let arguments = arguments.collect();
    Expr {
        at,
        kind: ExprKind::Call(Box::new(Call { standard_form, ..Call::plain(name, arguments) })),
    }
}
