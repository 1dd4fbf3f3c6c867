//! INSERT, UPDATE, DELETE, MERGE.

use super::ast::{
    Assignment, ConflictKey, ConflictTarget, ConflictUpdate, Delete, Expr, ExprKind, FromItem,
    Ident, Insert, Merge, MergeAction, MergeWhen, ObjectName, OnConflict, Target, TargetColumn,
    TargetStep, Update, With,
};
use super::keyword::Keyword;
use super::lexer::Kind;
use super::parser::Parser;
use sql_types::error::{Result, SqlError};
use sql_types::sqlstate::SqlState;

impl<'t> Parser<'t> {
    /// INSERT.
    pub(super) fn insert(&mut self, with: Option<With>) -> Result<Insert> {
        self.expect_all(&[Keyword::Insert, Keyword::Into])?;
        let table = self.relation_name()?;
        let alias = if self.accept(Keyword::As) { Some(self.name()?) } else { None };
        let mut columns = Vec::new();
        if self.is_symbol(b'(') && !self.opens_query() {
            columns = self.in_parentheses(Parser::target_column)?;
        }
        let overriding = self.overriding()?;
        let defaults = columns.is_empty()
            && overriding.is_none()
            && self.accept_all(&[Keyword::Default, Keyword::Values]);
        let source = if defaults { None } else { Some(Box::new(self.query()?)) };
        let on_conflict = if self.is(Keyword::On) { Some(self.on_conflict()?) } else { None };
        let returning = self.returning()?;
        Ok(Insert { with, table, alias, columns, overriding, source, on_conflict, returning })
    }

    /// OVERRIDING: SYSTEM VALUE is true.
    fn overriding(&mut self) -> Result<Option<bool>> {
        if !self.accept(Keyword::Overriding) {
            return Ok(None);
        }
        let system = self.accept(Keyword::System);
        if !system {
            self.expect(Keyword::User)?;
        }
        self.expect(Keyword::Value)?;
        Ok(Some(system))
    }

    fn on_conflict(&mut self) -> Result<OnConflict> {
        let at = self.here();
        self.expect_all(&[Keyword::On, Keyword::Conflict])?;
        let target = if self.is_symbol(b'(') {
            let place = self.here();
            let keys = self.in_parentheses(|parser| {
                let expr = parser.index_expression()?;
                let collated = parser.accept(Keyword::Collate);
                let collation = if collated { Some(parser.object_name()?) } else { None };
                let classed = parser.is_name(parser.kind());
                let class = if classed { Some(parser.object_name()?) } else { None };
                Ok(ConflictKey { expr, collation, class })
            })?;
            let filter = if self.accept(Keyword::Where) { Some(self.expr()?) } else { None };
            ConflictTarget::Inferred(keys, filter, place)
        } else if self.accept(Keyword::On) {
            self.expect(Keyword::Constraint)?;
            ConflictTarget::Constraint(self.name()?)
        } else {
            ConflictTarget::Any
        };
        self.expect(Keyword::Do)?;
        if self.accept(Keyword::Nothing) {
            return Ok(OnConflict { target, update: None, at });
        }
        self.expect_all(&[Keyword::Update, Keyword::Set])?;
        let assignments = self.list(Parser::assignment)?;
        let filter = if self.accept(Keyword::Where) { Some(self.expr()?) } else { None };
        Ok(OnConflict { target, update: Some(ConflictUpdate { assignments, filter }), at })
    }

    /// An index's key without what follows it: a column, a call or an expression in parentheses.
    pub(super) fn index_expression(&mut self) -> Result<Expr> {
        let at = self.here();
        if self.is_symbol(b'(') {
            self.advance();
            let expr = self.expr()?;
            self.expect_symbol(b')')?;
            return Ok(expr);
        }
        if self.is_name(self.kind())
            && !matches!(self.kind_at(1), Kind::Symbol(b'(') | Kind::Symbol(b'.'))
        {
            return Ok(Expr { at, kind: ExprKind::Column(vec![self.name()?]) });
        }
        let token = self.token();
        let expr = self.primary()?;
        match expr.kind {
            ExprKind::Call(_)
            | ExprKind::Coalesce(_)
            | ExprKind::Extreme { .. }
            | ExprKind::Xml(_)
            | ExprKind::NullIf(..)
            | ExprKind::CurrentValue(_) => Ok(expr),
            // Written as a call: the other forms of a cast stand in parentheses.
            ExprKind::Cast { .. } if token.kind == Kind::Keyword(Keyword::Cast) => Ok(expr),
            _ => Err(self.error_at(token)),
        }
    }

    /// A column that is assigned to, with indirection.
    fn target_column(&mut self) -> Result<TargetColumn> {
        let at = self.here();
        let name = self.name()?;
        let mut path = Vec::new();
        if matches!(self.kind(), Kind::Symbol(b'[' | b'.')) {
            let column = Expr { at, kind: ExprKind::Column(vec![name.clone()]) };
            let mut rest = self.indirection(column)?;
            loop {
                rest = match rest.kind {
                    ExprKind::Field { operand, name } => {
                        path.push(TargetStep::Field(name));
                        *operand
                    }
                    ExprKind::Subscript { operand, indices } => {
                        path.push(TargetStep::Subscript(indices));
                        *operand
                    }
                    ExprKind::AllFields(_) => {
                        return Err(SqlError::new(
                            SqlState::FEATURE_NOT_SUPPORTED,
                            "row expansion via \"*\" is not supported here",
                        )
                        .at(self.position(at)));
                    }
                    _ => break,
                };
            }
            path.reverse();
        }
        Ok(TargetColumn { name, path, at })
    }

    fn assignment(&mut self) -> Result<Assignment> {
        if self.is_symbol(b'(') {
            let columns = self.in_parentheses(Parser::target_column)?;
            self.expect_symbol(b'=')?;
            return Ok(Assignment::Many(columns, self.expr()?));
        }
        let column = self.target_column()?;
        self.expect_symbol(b'=')?;
        Ok(Assignment::One(column, self.expr()?))
    }

    /// The table that is changed, with its alias; a word SET is none.
    fn target_table(&mut self) -> Result<(ObjectName, Option<Ident>)> {
        let FromItem::Table { name, .. } = self.table_item()? else { return Err(self.error()) };
        let named = self.accept(Keyword::As);
        let alias = if named || (self.is_name(self.kind()) && !self.is(Keyword::Set)) {
            Some(self.name()?)
        } else {
            None
        };
        Ok((name, alias))
    }

    /// WHERE, or WHERE CURRENT OF.
    fn row_filter(&mut self) -> Result<Option<Expr>> {
        if !self.accept(Keyword::Where) {
            return Ok(None);
        }
        let at = self.here();
        if self.accept_all(&[Keyword::Current, Keyword::Of]) {
            return Ok(Some(Expr { at, kind: ExprKind::CurrentOf(self.name()?) }));
        }
        Ok(Some(self.expr()?))
    }

    fn returning(&mut self) -> Result<Vec<Target>> {
        if self.accept(Keyword::Returning) { self.targets() } else { Ok(Vec::new()) }
    }

    /// UPDATE.
    pub(super) fn update(&mut self, with: Option<With>) -> Result<Update> {
        self.expect(Keyword::Update)?;
        let (table, alias) = self.target_table()?;
        self.expect(Keyword::Set)?;
        let assignments = self.list(Parser::assignment)?;
        let from = if self.accept(Keyword::From) { self.table_references()? } else { Vec::new() };
        let filter = self.row_filter()?;
        let returning = self.returning()?;
        Ok(Update { with, table, alias, assignments, from, filter, returning })
    }

    /// DELETE.
    pub(super) fn delete(&mut self, with: Option<With>) -> Result<Delete> {
        self.expect_all(&[Keyword::Delete, Keyword::From])?;
        let (table, alias) = self.target_table()?;
        let using = if self.accept(Keyword::Using) { self.table_references()? } else { Vec::new() };
        let filter = self.row_filter()?;
        let returning = self.returning()?;
        Ok(Delete { with, table, alias, using, filter, returning })
    }

    /// MERGE.
    pub(super) fn merge(&mut self, with: Option<With>) -> Result<Merge> {
        self.expect_all(&[Keyword::Merge, Keyword::Into])?;
        let (table, alias) = self.target_table()?;
        self.expect(Keyword::Using)?;
        let source = self.table_reference()?;
        self.expect(Keyword::On)?;
        let on = self.expr()?;
        let mut clauses = Vec::new();
        while self.is(Keyword::When) || clauses.is_empty() {
            clauses.push(self.merge_when()?);
        }
        Ok(Merge { with, table, alias, source, on, clauses })
    }

    fn merge_when(&mut self) -> Result<MergeWhen> {
        self.expect(Keyword::When)?;
        let matched = !self.accept(Keyword::Not);
        self.expect(Keyword::Matched)?;
        let condition = if self.accept(Keyword::And) { Some(self.expr()?) } else { None };
        self.expect(Keyword::Then)?;
        let action = if self.accept(Keyword::Do) {
            self.expect(Keyword::Nothing)?;
            MergeAction::Nothing
        } else if !matched {
            self.expect(Keyword::Insert)?;
            self.merge_insert()?
        } else if self.accept(Keyword::Delete) {
            MergeAction::Delete
        } else {
            self.expect_all(&[Keyword::Update, Keyword::Set])?;
            MergeAction::Update(self.list(Parser::assignment)?)
        };
        Ok(MergeWhen { matched, condition, action })
    }

    /// What follows INSERT.
    fn merge_insert(&mut self) -> Result<MergeAction> {
        let columns = if self.is_symbol(b'(') {
            self.in_parentheses(Parser::target_column)?
        } else {
            Vec::new()
        };
        let overriding = self.overriding()?;
        let plain = columns.is_empty() && overriding.is_none();
        let values = if plain && self.accept_all(&[Keyword::Default, Keyword::Values]) {
            None
        } else {
            self.expect(Keyword::Values)?;
            Some(self.in_parentheses(Parser::expr)?)
        };
        Ok(MergeAction::Insert { columns, overriding, values })
    }
}
