//! Queries: SELECT, VALUES, TABLE, set operations, WITH, and the clauses behind them.

use super::ast::{
    Body, Cte, CteBody, Cycle, Distinct, Expr, ExprKind, GroupItem, Locking, Query, Search, Select,
    SelectInto, Target, With,
};
use super::keyword::Keyword;
use super::lexer::Kind;
use super::parser::{Parser, integer};
use sql_types::error::{Result, SqlError};
use sql_types::sqlstate::SqlState;
use sql_types::words::SetKind;
use std::sync::Arc;
use txn::{RowLock, WaitPolicy};

impl<'t> Parser<'t> {
    /// `SelectStmt` without its outer parentheses, or with them.
    pub(super) fn query(&mut self) -> Result<Query> {
        let with = if self.is(Keyword::With) { Some(self.with()?) } else { None };
        self.query_after(with)
    }

    /// A query whose WITH has been read.
    pub(super) fn query_after(&mut self, with: Option<With>) -> Result<Query> {
        self.nested(|parser| {
            let mut query = parser.set_operation(0)?;
            parser.clauses(&mut query)?;
            if let Some(with) = with {
                if query.with.is_some() {
                    return Err(parser.complaint("multiple WITH clauses not allowed", query.at));
                }
                query.with = Some(with);
            }
            Ok(query)
        })
    }

    /// WITH.
    pub(super) fn with(&mut self) -> Result<With> {
        let at = self.here();
        self.expect(Keyword::With)?;
        let named = matches!(self.kind_at(1), Kind::Symbol(b'(') | Kind::Keyword(Keyword::As));
        let recursive = !named && self.accept(Keyword::Recursive);
        let ctes = self.list(Parser::cte)?;
        Ok(With { recursive, ctes, at })
    }

    fn cte(&mut self) -> Result<Cte> {
        let at = self.here();
        let name = self.name()?;
        let columns =
            if self.is_symbol(b'(') { self.in_parentheses(Parser::name)? } else { Vec::new() };
        self.expect(Keyword::As)?;
        let materialized = if self.accept(Keyword::Materialized) {
            Some(true)
        } else if self.accept_all(&[Keyword::Not, Keyword::Materialized]) {
            Some(false)
        } else {
            None
        };
        self.expect_symbol(b'(')?;
        let with = if self.is(Keyword::With) { Some(self.with()?) } else { None };
        let body = match self.kind() {
            Kind::Keyword(Keyword::Insert) => CteBody::Insert(Box::new(self.insert(with)?)),
            Kind::Keyword(Keyword::Update) => CteBody::Update(Box::new(self.update(with)?)),
            Kind::Keyword(Keyword::Delete) => CteBody::Delete(Box::new(self.delete(with)?)),
            Kind::Keyword(Keyword::Merge) => {
                self.merge(with)?;
                CteBody::Merge
            }
            _ => CteBody::Query(Arc::new(self.query_after(with)?)),
        };
        self.expect_symbol(b')')?;
        let search = if self.is(Keyword::Search) { Some(self.search()?) } else { None };
        let cycle = if self.is(Keyword::Cycle) { Some(self.cycle()?) } else { None };
        Ok(Cte { name, columns, materialized, body, search, cycle, at })
    }

    fn search(&mut self) -> Result<Search> {
        let at = self.here();
        self.expect(Keyword::Search)?;
        let depth = self.accept(Keyword::Depth);
        if !depth {
            self.expect(Keyword::Breadth)?;
        }
        self.expect_all(&[Keyword::First, Keyword::By])?;
        let columns = self.list(Parser::name)?;
        self.expect(Keyword::Set)?;
        Ok(Search { depth, columns, sequence: self.name()?, at })
    }

    fn cycle(&mut self) -> Result<Cycle> {
        let at = self.here();
        self.expect(Keyword::Cycle)?;
        let columns = self.list(Parser::name)?;
        self.expect(Keyword::Set)?;
        let mark = self.name()?;
        let values = if self.accept(Keyword::To) {
            let value = self.constant()?;
            self.expect(Keyword::Default)?;
            Some((value, self.constant()?))
        } else {
            None
        };
        self.expect(Keyword::Using)?;
        Ok(Cycle { columns, mark, values, path: self.name()?, at })
    }

    /// A constant, perhaps behind its type's name (`AexprConst`).
    fn constant(&mut self) -> Result<Expr> {
        let is_constant = match self.kind() {
            Kind::Integer | Kind::Number | Kind::Bits | Kind::National => true,
            Kind::Keyword(Keyword::True | Keyword::False | Keyword::Null) => true,
            Kind::Keyword(_) | Kind::Word | Kind::Quoted | Kind::UnicodeQuoted => {
                matches!(self.kind_at(1), Kind::String | Kind::EscapeString | Kind::DollarString)
            }
            _ => self.is_string(),
        };
        if is_constant { self.primary() } else { Err(self.error()) }
    }

    /// Set operations that bind at least as tightly as `least`: UNION and EXCEPT 0, INTERSECT 1.
    fn set_operation(&mut self, least: u8) -> Result<Query> {
        let mut left = self.operand()?;
        loop {
            let (kind, power) = match self.kind() {
                Kind::Keyword(Keyword::Union) => (SetKind::Union, 0),
                Kind::Keyword(Keyword::Except) => (SetKind::Except, 0),
                Kind::Keyword(Keyword::Intersect) => (SetKind::Intersect, 1),
                _ => return Ok(left),
            };
            if power < least {
                return Ok(left);
            }
            let at = self.here();
            self.advance();
            let all = self.accept(Keyword::All);
            if !all {
                self.accept(Keyword::Distinct);
            }
            let right = self.set_operation(power + 1)?;
            self.height += 1;
            self.check_height()?;
            let start = left.at;
            left = Query::plain(
                Body::SetOperation { kind, all, left: Box::new(left), right: Box::new(right), at },
                start,
            );
        }
    }

    /// What a set operation works on: SELECT, VALUES, TABLE, a query in parentheses.
    fn operand(&mut self) -> Result<Query> {
        let at = self.here();
        match self.kind() {
            Kind::Symbol(b'(') => self.nested(Parser::query_in_parentheses),
            Kind::Keyword(Keyword::Select) => {
                let select = self.nested(Parser::select)?;
                Ok(Query::plain(Body::Select(Box::new(select)), at))
            }
            Kind::Keyword(Keyword::Values) => {
                self.advance();
                let mut width = 1;
                let rows = self.list(|parser| {
                    let row = parser.in_parentheses_of(width, Parser::expr)?;
                    width = row.len();
                    Ok(row)
                })?;
                Ok(Query::plain(Body::Values(rows), at))
            }
            Kind::Keyword(Keyword::Table) => {
                self.advance();
                let from = vec![self.table_item()?];
                let star = Expr { at, kind: ExprKind::Star(Vec::new()) };
                let mut select = Select::empty();
                select.targets = vec![Target { expr: star, alias: None }];
                select.from = from;
                Ok(Query::plain(Body::Select(Box::new(select)), at))
            }
            _ => Err(self.error()),
        }
    }

    fn select(&mut self) -> Result<Select> {
        self.expect(Keyword::Select)?;
        let mut select = Select::empty();
        if self.accept(Keyword::Distinct) {
            select.distinct = if self.accept(Keyword::On) {
                Distinct::On(self.in_parentheses(Parser::expr)?)
            } else {
                Distinct::All
            };
        } else {
            self.accept(Keyword::All);
        }
        if !self.ends_select_list() {
            select.targets = self.targets()?;
        } else if select.distinct != Distinct::No {
            return Err(self.error());
        }
        if self.accept(Keyword::Into) {
            let persistence = match self.kind() {
                Kind::Keyword(Keyword::Temporary | Keyword::Temp) => 't',
                Kind::Keyword(Keyword::Unlogged) => 'u',
                _ => 'p',
            };
            if persistence != 'p' {
                self.advance();
            }
            self.accept(Keyword::Table);
            let name = self.relation_name()?;
            select.into = Some(Box::new(SelectInto { name, persistence }));
        }
        if self.accept(Keyword::From) {
            select.from = self.table_references()?;
        }
        if self.accept(Keyword::Where) {
            select.filter = Some(self.expr()?);
        }
        if self.accept(Keyword::Group) {
            self.expect(Keyword::By)?;
            select.group_distinct = self.accept(Keyword::Distinct);
            if !select.group_distinct {
                self.accept(Keyword::All);
            }
            select.group_by = self.list(Parser::group_item)?;
        }
        if self.accept(Keyword::Having) {
            select.having = Some(self.expr()?);
        }
        if self.accept(Keyword::Window) {
            select.windows = self.list(|parser| {
                let name = parser.name()?;
                parser.expect(Keyword::As)?;
                Ok((name, parser.window()?))
            })?;
        }
        Ok(select)
    }

    /// Whether there is no select list: PostgreSQL allows that.
    fn ends_select_list(&self) -> bool {
        self.ends_list(0)
    }

    /// Whether an item of a select list ends before the token that comes so many behind the one at hand.
    pub(super) fn ends_target(&self, ahead: usize) -> bool {
        self.kind_at(ahead) == Kind::Symbol(b',') || self.ends_list(ahead)
    }

    fn ends_list(&self, ahead: usize) -> bool {
        matches!(
            self.kind_at(ahead),
            Kind::End
                | Kind::Symbol(b';' | b')')
                | Kind::Keyword(
                    Keyword::From
                        | Keyword::Where
                        | Keyword::Group
                        | Keyword::Having
                        | Keyword::Window
                        | Keyword::Union
                        | Keyword::Intersect
                        | Keyword::Except
                        | Keyword::Order
                        | Keyword::Limit
                        | Keyword::Offset
                        | Keyword::Fetch
                        | Keyword::For
                        | Keyword::Into
                )
        )
    }

    /// A select list, or that of RETURNING.
    pub(super) fn targets(&mut self) -> Result<Vec<Target>> {
        self.list(|parser| {
            let at = parser.here();
            if parser.accept_symbol(b'*') {
                let expr = Expr { at, kind: ExprKind::Star(Vec::new()) };
                return Ok(Target { expr, alias: None });
            }
            let expr = parser.target_expr()?;
            let alias = if parser.accept(Keyword::As) {
                Some(parser.label()?)
            } else {
                match parser.kind() {
                    Kind::Word | Kind::Quoted | Kind::UnicodeQuoted => Some(parser.take_name()?),
                    Kind::Keyword(keyword) if keyword.is_bare_label() => Some(parser.take_name()?),
                    _ => None,
                }
            };
            Ok(Target { expr, alias })
        })
    }

    fn group_item(&mut self) -> Result<GroupItem> {
        let parenthesis = self.kind_at(1) == Kind::Symbol(b'(');
        match self.kind() {
            Kind::Symbol(b'(') if self.kind_at(1) == Kind::Symbol(b')') => {
                self.advance();
                self.advance();
                Ok(GroupItem::Empty)
            }
            Kind::Keyword(Keyword::Rollup) if parenthesis => {
                self.advance();
                Ok(GroupItem::Rollup(self.in_parentheses(Parser::expr)?))
            }
            Kind::Keyword(Keyword::Cube) if parenthesis => {
                self.advance();
                Ok(GroupItem::Cube(self.in_parentheses(Parser::expr)?))
            }
            Kind::Keyword(Keyword::Grouping) if self.is_at(1, Keyword::Sets) => {
                self.advance();
                self.advance();
                let items = self.nested(|parser| parser.in_parentheses(Parser::group_item))?;
                Ok(GroupItem::Sets(items))
            }
            _ => Ok(GroupItem::Expr(self.expr()?)),
        }
    }

    /// ORDER BY, LIMIT, OFFSET, FETCH and FOR UPDATE behind a query.
    fn clauses(&mut self, query: &mut Query) -> Result<()> {
        if self.is(Keyword::Order) {
            let at = self.here();
            let order_by = self.order_by()?;
            if !query.order_by.is_empty() {
                return Err(self.complaint("multiple ORDER BY clauses not allowed", at));
            }
            query.order_by = order_by;
        }
        let mut limited = false;
        let mut skipped = false;
        loop {
            let at = self.here();
            match self.kind() {
                Kind::Keyword(Keyword::Limit) if !limited => {
                    limited = true;
                    self.advance();
                    let limit = if self.accept(Keyword::All) { None } else { Some(self.expr()?) };
                    if self.is_symbol(b',') {
                        return Err(self
                            .complaint("LIMIT #,# syntax is not supported", at)
                            .hint("Use separate LIMIT and OFFSET clauses."));
                    }
                    self.set_limit(query, limit, at)?;
                }
                Kind::Keyword(Keyword::Offset) if !skipped => {
                    skipped = true;
                    self.advance();
                    let offset = self.expr()?;
                    if !self.accept(Keyword::Rows) {
                        self.accept(Keyword::Row);
                    }
                    if query.offset.is_some() {
                        return Err(
                            self.complaint("multiple OFFSET clauses not allowed", offset.start())
                        );
                    }
                    query.offset = Some(offset);
                }
                Kind::Keyword(Keyword::Fetch) if !limited => {
                    limited = true;
                    self.fetch_first(query, at)?;
                }
                Kind::Keyword(Keyword::For) => {
                    self.advance();
                    // FOR READ ONLY says nothing.
                    if !self.accept_all(&[Keyword::Read, Keyword::Only]) {
                        let locking = self.locking(at)?;
                        query.locking.push(locking);
                    }
                }
                _ => break,
            }
        }
        let skips = query.locking.iter().any(|locking| locking.wait == WaitPolicy::Skip);
        if query.with_ties && skips {
            return Err(SqlError::new(
                SqlState::SYNTAX_ERROR,
                "SKIP LOCKED and WITH TIES options cannot be used together",
            ));
        }
        Ok(())
    }

    fn set_limit(&self, query: &mut Query, limit: Option<Expr>, at: u32) -> Result<()> {
        if query.limit.is_some() {
            return Err(self.complaint("multiple LIMIT clauses not allowed", at));
        }
        query.limit = limit;
        Ok(())
    }

    /// `FETCH FIRST n ROWS ONLY`.
    fn fetch_first(&mut self, query: &mut Query, at: u32) -> Result<()> {
        self.advance();
        if !self.accept(Keyword::First) {
            self.expect(Keyword::Next)?;
        }
        let place = self.here();
        let rows = |parser: &mut Self| {
            let found = parser.accept(Keyword::Rows) || parser.accept(Keyword::Row);
            if found { Ok(()) } else { Err(parser.error()) }
        };
        let limit = if matches!(self.kind(), Kind::Keyword(Keyword::Row | Keyword::Rows)) {
            integer(1, place)
        } else if self.is_symbol(b'-') || self.is_symbol(b'+') {
            self.restricted_expr()?
        } else {
            self.primary()?
        };
        rows(self)?;
        let ties = if self.accept(Keyword::With) {
            self.expect(Keyword::Ties)?;
            true
        } else {
            self.expect(Keyword::Only)?;
            false
        };
        self.set_limit(query, Some(limit), at)?;
        if ties && query.order_by.is_empty() {
            return Err(SqlError::new(
                SqlState::SYNTAX_ERROR,
                "WITH TIES cannot be specified without ORDER BY clause",
            ));
        }
        query.with_ties = ties;
        Ok(())
    }

    /// What follows FOR.
    fn locking(&mut self, at: u32) -> Result<Locking> {
        let strength = if self.accept(Keyword::Update) {
            RowLock::Update
        } else if self.accept(Keyword::Share) {
            RowLock::Share
        } else if self.accept_all(&[Keyword::No, Keyword::Key]) {
            self.expect(Keyword::Update)?;
            RowLock::NoKeyUpdate
        } else if self.accept(Keyword::Key) {
            self.expect(Keyword::Share)?;
            RowLock::KeyShare
        } else {
            return Err(self.error());
        };
        let of =
            if self.accept(Keyword::Of) { self.list(Parser::relation_name)? } else { Vec::new() };
        let wait = if self.accept(Keyword::Nowait) {
            WaitPolicy::Error
        } else if self.accept_all(&[Keyword::Skip, Keyword::Locked]) {
            WaitPolicy::Skip
        } else {
            WaitPolicy::Block
        };
        Ok(Locking { strength, of, wait, at })
    }
}
