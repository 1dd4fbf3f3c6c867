//! FROM: tables, functions, subqueries, joins and their aliases.

use super::ast::{Alias, ColumnDefinition, Expr, ExprKind, FromItem, JoinCondition};
use super::keyword::Keyword;
use super::lexer::Kind;
use super::parser::Parser;
use sql_types::error::Result;
use sql_types::words::JoinKind;
use std::sync::Arc;

impl<'t> Parser<'t> {
    /// `from_list`: items that are joined one onto the other, so that many of them make a high tree.
    pub(super) fn table_references(&mut self) -> Result<Vec<FromItem>> {
        let items = self.list(Parser::table_reference)?;
        self.joined(items.len() - 1)?;
        Ok(items)
    }

    /// The tree becomes higher by so many joins.
    fn joined(&mut self, joins: usize) -> Result<()> {
        self.height = self.height.saturating_add(u32::try_from(joins).unwrap_or(u32::MAX));
        self.check_height()
    }

    /// `table_ref`: an item and what is joined to it.
    pub(super) fn table_reference(&mut self) -> Result<FromItem> {
        self.nested(|parser| {
            let mut left = parser.table_primary()?;
            loop {
                let at = parser.here();
                let natural = parser.is(Keyword::Natural);
                let kind = match parser.kind_at(usize::from(natural)) {
                    Kind::Keyword(Keyword::Cross) if !natural => {
                        parser.advance();
                        parser.expect(Keyword::Join)?;
                        let right = Box::new(parser.table_primary()?);
                        left = FromItem::Join {
                            kind: JoinKind::Inner,
                            left: Box::new(left),
                            right,
                            condition: JoinCondition::None,
                            alias: None,
                            at,
                        };
                        parser.joined(1)?;
                        continue;
                    }
                    Kind::Keyword(Keyword::Join | Keyword::Inner) => JoinKind::Inner,
                    Kind::Keyword(Keyword::Left) => JoinKind::Left,
                    Kind::Keyword(Keyword::Right) => JoinKind::Right,
                    Kind::Keyword(Keyword::Full) => JoinKind::Full,
                    _ if natural => {
                        parser.advance();
                        return Err(parser.error());
                    }
                    _ => return Ok(left),
                };
                if natural {
                    parser.advance();
                }
                if !parser.accept(Keyword::Join) {
                    parser.advance();
                    if kind != JoinKind::Inner {
                        parser.accept(Keyword::Outer);
                    }
                    parser.expect(Keyword::Join)?;
                }
                // `a JOIN b JOIN c ON .. ON ..` joins b and c first: the right side takes joins until the ON is ours.
                let right = if natural { parser.table_primary()? } else { parser.join_right()? };
                let condition =
                    if natural { JoinCondition::Natural } else { parser.join_condition()? };
                left = FromItem::Join {
                    kind,
                    left: Box::new(left),
                    right: Box::new(right),
                    condition,
                    alias: None,
                    at,
                };
                parser.joined(1)?;
            }
        })
    }

    /// The right side of a join that still needs its condition: further joins before that condition belong to it.
    fn join_right(&mut self) -> Result<FromItem> {
        self.nested(|parser| {
            let right = parser.table_primary()?;
            match parser.kind() {
                Kind::Keyword(Keyword::On | Keyword::Using) => Ok(right),
                _ => parser.join_onto(right),
            }
        })
    }

    /// Joins onto `left` until ON or USING that belongs to an outer join is at hand.
    fn join_onto(&mut self, mut left: FromItem) -> Result<FromItem> {
        loop {
            let at = self.here();
            let natural = self.accept(Keyword::Natural);
            let kind = match self.kind() {
                Kind::Keyword(Keyword::Cross) => None,
                Kind::Keyword(Keyword::Join | Keyword::Inner) => Some(JoinKind::Inner),
                Kind::Keyword(Keyword::Left) => Some(JoinKind::Left),
                Kind::Keyword(Keyword::Right) => Some(JoinKind::Right),
                Kind::Keyword(Keyword::Full) => Some(JoinKind::Full),
                _ => return Ok(left),
            };
            if !self.accept(Keyword::Join) {
                self.advance();
                self.accept(Keyword::Outer);
                self.expect(Keyword::Join)?;
            }
            let plain = natural || kind.is_none();
            let right = if plain { self.table_primary()? } else { self.join_right()? };
            let condition = match kind {
                None => JoinCondition::None,
                Some(_) if natural => JoinCondition::Natural,
                Some(_) => self.join_condition()?,
            };
            left = FromItem::Join {
                kind: kind.unwrap_or(JoinKind::Inner),
                left: Box::new(left),
                right: Box::new(right),
                condition,
                alias: None,
                at,
            };
            self.joined(1)?;
        }
    }

    fn join_condition(&mut self) -> Result<JoinCondition> {
        if self.accept(Keyword::On) {
            return Ok(JoinCondition::On(self.expr()?));
        }
        self.expect(Keyword::Using)?;
        let columns = self.in_parentheses(Parser::name)?;
        let alias = if self.accept(Keyword::As) { Some(self.name()?) } else { None };
        Ok(JoinCondition::Using(columns, alias))
    }

    /// A table with ONLY, `*` and parentheses as they may be, without an alias: `relation_expr`.
    pub(super) fn table_item(&mut self) -> Result<FromItem> {
        let only = self.accept(Keyword::Only);
        let parenthesis = only && self.accept_symbol(b'(');
        let name = self.relation_name()?;
        if parenthesis {
            self.expect_symbol(b')')?;
        }
        if !only {
            self.accept_symbol(b'*');
        }
        Ok(FromItem::Table { name, only, alias: None })
    }

    fn table_primary(&mut self) -> Result<FromItem> {
        let lateral = self.accept(Keyword::Lateral);
        let at = self.here();
        if self.is_symbol(b'(') {
            if self.opens_query() {
                let query = Arc::new(self.nested(Parser::query_in_parentheses)?);
                let alias = self.alias()?;
                if alias.is_none() {
                    let what = match query.body {
                        super::ast::Body::Values(_) => "VALUES in FROM",
                        _ => "subquery in FROM",
                    };
                    let example = match query.body {
                        super::ast::Body::Values(_) => "For example, FROM (VALUES ...) [AS] foo.",
                        _ => "For example, FROM (SELECT ...) [AS] foo.",
                    };
                    return Err(self
                        .complaint(format!("{what} must have an alias"), at)
                        .hint(example));
                }
                return Ok(FromItem::Subquery { lateral, query, alias, at });
            }
            if lateral {
                return Err(self.error());
            }
            self.advance();
            let mut joined = self.table_reference()?;
            if !matches!(joined, FromItem::Join { .. }) {
                return Err(self.error());
            }
            self.expect_symbol(b')')?;
            let outer = self.alias()?;
            if let FromItem::Join { alias, .. } = &mut joined
                && outer.is_some()
            {
                *alias = outer;
            }
            return Ok(joined);
        }
        if self.is(Keyword::Rows) && self.is_at(1, Keyword::From) {
            return self.rows_from(lateral, at);
        }
        if self.is(Keyword::Xmltable) && self.kind_at(1) == Kind::Symbol(b'(') {
            let call = self.xml_table(at)?;
            let alias = self.alias()?;
            return Ok(FromItem::Function {
                lateral,
                calls: vec![(call, Vec::new())],
                rows_from: false,
                ordinality: false,
                alias,
                definitions: Vec::new(),
                at,
            });
        }
        if lateral || self.begins_function() {
            let call = self.function_in_from()?;
            return self.function_item(lateral, vec![(call, Vec::new())], false, at);
        }
        let mut table = self.table_item()?;
        let found = self.alias()?;
        if let FromItem::Table { alias, .. } = &mut table {
            *alias = found;
        }
        if self.is(Keyword::Tablesample) {
            self.advance();
            let method = self.object_name()?;
            let arguments = self.in_parentheses(Parser::expr)?;
            let repeatable = if self.accept(Keyword::Repeatable) {
                self.expect_symbol(b'(')?;
                let seed = self.expr()?;
                self.expect_symbol(b')')?;
                Some(seed)
            } else {
                None
            };
            let table = Box::new(table);
            return Ok(FromItem::Sample { table, method, arguments, repeatable });
        }
        Ok(table)
    }

    /// Whether a function rather than a table is at hand.
    fn begins_function(&self) -> bool {
        if let Kind::Keyword(keyword) = self.kind()
            && matches!(
                keyword,
                Keyword::CurrentDate
                    | Keyword::CurrentTime
                    | Keyword::CurrentTimestamp
                    | Keyword::Localtime
                    | Keyword::Localtimestamp
                    | Keyword::CurrentUser
                    | Keyword::CurrentRole
                    | Keyword::User
                    | Keyword::SessionUser
                    | Keyword::CurrentCatalog
                    | Keyword::CurrentSchema
                    | Keyword::Cast
            )
        {
            return true;
        }
        if !self.is_label(self.kind()) {
            return false;
        }
        let mut ahead = 1;
        while self.kind_at(ahead) == Kind::Symbol(b'.') && self.is_label(self.kind_at(ahead + 1)) {
            ahead += 2;
        }
        self.kind_at(ahead) == Kind::Symbol(b'(') && !self.is(Keyword::Only)
    }

    /// `func_expr_windowless`.
    fn function_in_from(&mut self) -> Result<Expr> {
        let token = self.token();
        let expr = self.primary()?;
        match &expr.kind {
            ExprKind::Call(call) if call.over.is_none() => Ok(expr),
            ExprKind::CurrentValue(_)
            | ExprKind::Coalesce(_)
            | ExprKind::Extreme { .. }
            | ExprKind::Xml(_)
            | ExprKind::NullIf(..) => Ok(expr),
            ExprKind::Cast { .. } if token.kind == Kind::Keyword(Keyword::Cast) => Ok(expr),
            _ => Err(self.error_at(token)),
        }
    }

    fn rows_from(&mut self, lateral: bool, at: u32) -> Result<FromItem> {
        self.advance();
        self.advance();
        let calls = self.in_parentheses(|parser| {
            let call = parser.function_in_from()?;
            let definitions = if parser.accept(Keyword::As) {
                parser.in_parentheses(Parser::column_definition)?
            } else {
                Vec::new()
            };
            Ok((call, definitions))
        })?;
        self.joined(calls.len() - 1)?;
        self.function_item(lateral, calls, true, at)
    }

    fn function_item(
        &mut self,
        lateral: bool,
        calls: Vec<(Expr, Vec<ColumnDefinition>)>,
        rows_from: bool,
        at: u32,
    ) -> Result<FromItem> {
        let ordinality = self.is(Keyword::With) && self.is_at(1, Keyword::Ordinality);
        if ordinality {
            self.advance();
            self.advance();
        }
        let mut alias = None;
        let mut definitions = Vec::new();
        if self.is(Keyword::As) && self.kind_at(1) == Kind::Symbol(b'(') {
            self.advance();
            definitions = self.in_parentheses(Parser::column_definition)?;
        } else if self.accept(Keyword::As) || self.is_name(self.kind()) {
            let name = self.name()?;
            let mut columns = Vec::new();
            if self.is_symbol(b'(') {
                let defined = !matches!(self.kind_at(2), Kind::Symbol(b',' | b')'));
                if defined {
                    definitions = self.in_parentheses(Parser::column_definition)?;
                } else {
                    columns = self.in_parentheses(Parser::name)?;
                }
            }
            alias = Some(Alias { name, columns });
        }
        Ok(FromItem::Function { lateral, calls, rows_from, ordinality, alias, definitions, at })
    }

    fn column_definition(&mut self) -> Result<ColumnDefinition> {
        let at = self.here();
        let name = self.name()?;
        let ty = self.type_name()?;
        if self.accept(Keyword::Collate) {
            self.object_name()?;
        }
        Ok(ColumnDefinition { name, ty, at })
    }

    /// `[AS] name [(columns)]`, if there is one.
    fn alias(&mut self) -> Result<Option<Alias>> {
        if !self.accept(Keyword::As) && !self.is_name(self.kind()) {
            return Ok(None);
        }
        let name = self.name()?;
        let columns =
            if self.is_symbol(b'(') { self.in_parentheses(Parser::name)? } else { Vec::new() };
        Ok(Some(Alias { name, columns }))
    }
}
