//! Calls: arguments, aggregates' clauses, windows.

use super::ast::{
    Argument, Bound, Call, Direction, Expr, ExprKind, Frame, ObjectName, OrderBy, Over, Statement,
    Window,
};
use super::keyword::Keyword;
use super::lexer::Kind;
use super::parser::{Parser, plain_type};
use sql_types::error::{Result, SqlError};
use sql_types::sqlstate::SqlState;
use sql_types::words::{FrameExclude, FrameUnit};

impl<'t> Parser<'t> {
    /// CALL.
    pub(super) fn call_statement(&mut self) -> Result<Statement> {
        self.expect(Keyword::Call)?;
        let name = self.function_name()?;
        let call = self.application(name)?;
        Ok(Statement::Call(Box::new(call)))
    }

    /// A call from its opening parenthesis: `func_application`.
    fn application(&mut self, name: ObjectName) -> Result<Call> {
        self.expect_symbol(b'(')?;
        let mut call = Call::plain(name, Vec::new());
        if self.accept_symbol(b'*') {
            call.star = true;
        } else if !self.is_symbol(b')') {
            if self.accept(Keyword::Distinct) {
                call.distinct = true;
            } else {
                self.accept(Keyword::All);
            }
            loop {
                call.variadic = self.accept(Keyword::Variadic);
                call.arguments.push(self.argument()?);
                if call.variadic || !self.accept_symbol(b',') {
                    break;
                }
            }
            if self.is(Keyword::Order) {
                call.order_by = self.order_by()?;
            }
        }
        self.expect_symbol(b')')?;
        Ok(call)
    }

    /// The same with what may follow it in an expression.
    pub(super) fn call_of(&mut self, name: ObjectName) -> Result<Expr> {
        let at = name.at;
        let mut call = self.application(name)?;
        // `numeric(10,2) '1.5'`: a literal of a type with modifiers.
        if self.is_string() && !call.star && !call.distinct && call.order_by.is_empty() {
            return self.literal_with_modifiers(call);
        }
        if self.is(Keyword::Within) && self.is_at(1, Keyword::Group) {
            let place = self.here();
            self.advance();
            self.advance();
            self.expect_symbol(b'(')?;
            let order_by = self.order_by()?;
            self.expect_symbol(b')')?;
            if !call.order_by.is_empty() {
                return Err(
                    self.complaint("cannot use multiple ORDER BY clauses with WITHIN GROUP", place)
                );
            }
            if call.distinct {
                return Err(self.complaint("cannot use DISTINCT with WITHIN GROUP", place));
            }
            if call.variadic {
                return Err(self.complaint("cannot use VARIADIC with WITHIN GROUP", place));
            }
            call.order_by = order_by;
            call.within_group = true;
        }
        if self.is(Keyword::Filter) && self.kind_at(1) == Kind::Symbol(b'(') {
            self.advance();
            self.advance();
            self.expect(Keyword::Where)?;
            call.filter = Some(self.expr()?);
            self.expect_symbol(b')')?;
        }
        if self.accept(Keyword::Over) {
            call.over = Some(if self.is_symbol(b'(') {
                Over::Window(self.window()?)
            } else {
                let place = self.here();
                Over::Named(self.name()?, place)
            });
        }
        Ok(Expr { at, kind: ExprKind::Call(Box::new(call)) })
    }

    fn literal_with_modifiers(&mut self, call: Call) -> Result<Expr> {
        if let Some(named) = call.arguments.iter().find(|argument| argument.name.is_some()) {
            return Err(self.complaint("type modifier cannot have parameter name", named.value.at));
        }
        let at = call.name.at;
        let place = self.here();
        let text = self.string()?;
        let mut ty = plain_type(call.name);
        ty.modifiers = call.arguments.into_iter().map(|argument| argument.value).collect();
        self.warn_of_precision(&ty);
        let operand = Box::new(Expr { at: place, kind: ExprKind::String(text) });
        Ok(Expr { at, kind: ExprKind::Cast { operand, ty } })
    }

    fn argument(&mut self) -> Result<Argument> {
        let at = self.here();
        let named = matches!(self.kind_at(1), Kind::ColonEquals | Kind::EqualsGreater)
            && self.is_function_name(self.kind());
        let name = if named {
            let name = self.take_name()?;
            self.advance();
            Some(name)
        } else {
            None
        };
        Ok(Argument { name, value: self.expr()?, at })
    }

    /// ORDER BY and its keys.
    pub(super) fn order_by(&mut self) -> Result<Vec<OrderBy>> {
        self.expect_all(&[Keyword::Order, Keyword::By])?;
        self.list(|parser| {
            let expr = parser.expr()?;
            let direction = if parser.accept(Keyword::Using) {
                let at = parser.here();
                Direction::Using(parser.operator()?, at)
            } else {
                parser.direction()
            };
            Ok(OrderBy { expr, direction, nulls_first: parser.nulls_first()? })
        })
    }

    /// ASC, DESC or nothing.
    pub(super) fn direction(&mut self) -> Direction {
        if self.accept(Keyword::Asc) {
            Direction::Ascending
        } else if self.accept(Keyword::Desc) {
            Direction::Descending
        } else {
            Direction::Default
        }
    }

    /// NULLS FIRST, NULLS LAST or nothing.
    pub(super) fn nulls_first(&mut self) -> Result<Option<bool>> {
        if !self.accept(Keyword::Nulls) {
            return Ok(None);
        }
        if self.accept(Keyword::First) {
            return Ok(Some(true));
        }
        self.expect(Keyword::Last)?;
        Ok(Some(false))
    }

    /// `(...)` that defines a window.
    pub(super) fn window(&mut self) -> Result<Window> {
        let at = self.here();
        self.expect_symbol(b'(')?;
        let begins_clause = matches!(
            self.kind(),
            Kind::Keyword(
                Keyword::Partition
                    | Keyword::Order
                    | Keyword::Rows
                    | Keyword::Range
                    | Keyword::Groups
            )
        );
        let base =
            if !begins_clause && self.is_name(self.kind()) { Some(self.name()?) } else { None };
        let mut window =
            Window { base, partition_by: Vec::new(), order_by: Vec::new(), frame: None, at };
        if self.accept(Keyword::Partition) {
            self.expect(Keyword::By)?;
            window.partition_by = self.list(Parser::expr)?;
        }
        if self.is(Keyword::Order) {
            window.order_by = self.order_by()?;
        }
        let unit = match self.kind() {
            Kind::Keyword(Keyword::Rows) => Some(FrameUnit::Rows),
            Kind::Keyword(Keyword::Range) => Some(FrameUnit::Range),
            Kind::Keyword(Keyword::Groups) => Some(FrameUnit::Groups),
            _ => None,
        };
        if let Some(unit) = unit {
            window.frame = Some(self.frame(unit)?);
        }
        self.expect_symbol(b')')?;
        Ok(window)
    }

    fn frame(&mut self, unit: FrameUnit) -> Result<Frame> {
        let at = self.here();
        self.advance();
        let place = self.here();
        let wrong = |parser: &Self, message: &str, place| {
            SqlError::new(SqlState::WINDOWING_ERROR, message).at(parser.positions.of(place))
        };
        let between = self.accept(Keyword::Between);
        let (start, end) = if between {
            let place = self.here();
            let start = self.bound()?;
            self.expect(Keyword::And)?;
            let behind = self.here();
            let end = self.bound()?;
            if start == Bound::UnboundedFollowing {
                return Err(wrong(self, "frame start cannot be UNBOUNDED FOLLOWING", place));
            }
            if end == Bound::UnboundedPreceding {
                return Err(wrong(self, "frame end cannot be UNBOUNDED PRECEDING", behind));
            }
            let message = match (&start, &end) {
                (Bound::CurrentRow, Bound::Preceding(_)) => {
                    "frame starting from current row cannot have preceding rows"
                }
                (Bound::Following(_), Bound::Preceding(_)) => {
                    "frame starting from following row cannot have preceding rows"
                }
                (Bound::Following(_), Bound::CurrentRow) => {
                    "frame starting from following row cannot end with current row"
                }
                _ => "",
            };
            if !message.is_empty() {
                return Err(wrong(self, message, behind));
            }
            (start, end)
        } else {
            let start = self.bound()?;
            match start {
                Bound::UnboundedFollowing => {
                    return Err(wrong(self, "frame start cannot be UNBOUNDED FOLLOWING", place));
                }
                Bound::Following(_) => {
                    return Err(wrong(
                        self,
                        "frame starting from following row cannot end with current row",
                        place,
                    ));
                }
                _ => {}
            }
            (start, Bound::CurrentRow)
        };
        let exclude = if self.accept(Keyword::Exclude) {
            if self.accept_all(&[Keyword::Current, Keyword::Row]) {
                FrameExclude::CurrentRow
            } else if self.accept(Keyword::Group) {
                FrameExclude::Group
            } else if self.accept(Keyword::Ties) {
                FrameExclude::Ties
            } else {
                self.expect_all(&[Keyword::No, Keyword::Others])?;
                FrameExclude::NoOthers
            }
        } else {
            FrameExclude::NoOthers
        };
        Ok(Frame { unit, start, end, between, exclude, at })
    }

    fn bound(&mut self) -> Result<Bound> {
        if self.accept(Keyword::Unbounded) {
            if self.accept(Keyword::Preceding) {
                return Ok(Bound::UnboundedPreceding);
            }
            self.expect(Keyword::Following)?;
            return Ok(Bound::UnboundedFollowing);
        }
        if self.accept_all(&[Keyword::Current, Keyword::Row]) {
            return Ok(Bound::CurrentRow);
        }
        let offset = Box::new(self.expr()?);
        if self.accept(Keyword::Preceding) {
            return Ok(Bound::Preceding(offset));
        }
        self.expect(Keyword::Following)?;
        Ok(Bound::Following(offset))
    }
}
