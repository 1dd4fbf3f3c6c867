//! CREATE, ALTER and DROP of operators, casts and event triggers, and COMMENT on them.

use super::ast::{
    AlterEventTrigger, AlterOperator, CastWay, CommentTarget, CreateCast, CreateEventTrigger,
    CreateOperator, DefinitionOption, DefinitionValue, DropCast, DropEventTrigger, DropOperator,
    EventTriggerChange, Operator, OperatorChange, OperatorSignature, Statement, TypeName,
};
use super::keyword::{Category, Keyword};
use super::lexer::{Kind, is_operator};
use super::parser::Parser;
use sql_types::error::Result;

impl Parser<'_> {
    /// CREATE OPERATOR, from that word.
    pub(super) fn create_operator(&mut self) -> Result<Statement> {
        self.expect(Keyword::Operator)?;
        if let Some(part) = self.operator_part() {
            return self.create_operator_part(part);
        }
        let name = self.operator_name()?;
        let options = self.definition(false)?;
        let create = CreateOperator { name, options };
        Ok(Statement::CreateOperator(Box::new(create)))
    }

    /// ALTER OPERATOR, behind that word.
    pub(super) fn alter_operator(&mut self) -> Result<Statement> {
        if let Some(part) = self.operator_part() {
            return self.alter_operator_part(part);
        }
        let operator = self.operator_signature()?;
        let change = if self.accept(Keyword::Owner) {
            self.expect(Keyword::To)?;
            OperatorChange::Owner(self.role()?)
        } else {
            self.expect(Keyword::Set)?;
            match self.accept(Keyword::Schema) {
                true => OperatorChange::Schema(self.name()?),
                false => OperatorChange::Options(self.definition(true)?),
            }
        };
        Ok(Statement::AlterOperator(Box::new(AlterOperator { operator, change })))
    }

    /// DROP OPERATOR, behind that word.
    pub(super) fn drop_operator(&mut self) -> Result<Statement> {
        if let Some(part) = self.operator_part() {
            return self.drop_operator_part(part);
        }
        let if_exists = self.if_exists()?;
        let operators = self.list(Parser::operator_signature)?;
        let cascade = self.cascade();
        Ok(Statement::DropOperator(DropOperator { operators, if_exists, cascade }))
    }

    /// An operator's name, which may have its schema in front (`any_operator`).
    pub(super) fn operator_name(&mut self) -> Result<Operator> {
        let mut schema = None;
        while self.is_name(self.kind()) {
            schema = Some(self.name()?);
            self.expect_symbol(b'.')?;
        }
        if self.is(Keyword::Operator) {
            return Err(self.error());
        }
        let Operator { name, .. } = self.operator()?;
        Ok(Operator { schema, name })
    }

    /// An operator's name and the types of its operands.
    pub(super) fn operator_signature(&mut self) -> Result<OperatorSignature> {
        let name = self.operator_name()?;
        self.operator_operands(name)
    }

    /// The types of the operands behind an operator's name.
    pub(super) fn operator_operands(&mut self, name: Operator) -> Result<OperatorSignature> {
        self.expect_symbol(b'(')?;
        let side = |parser: &mut Self| -> Result<Option<TypeName>> {
            if parser.accept(Keyword::None) { Ok(None) } else { parser.type_name().map(Some) }
        };
        let left = side(self)?;
        if left.is_some() && self.is_symbol(b')') {
            let error = self.complaint("missing argument", self.here());
            return Err(error.hint("Use NONE to denote the missing argument of a unary operator."));
        }
        self.expect_symbol(b',')?;
        let right = match left {
            None => Some(self.type_name()?),
            Some(_) => side(self)?,
        };
        self.expect_symbol(b')')?;
        Ok(OperatorSignature { name, left, right })
    }

    /// Options in parentheses (`definition`), each with its value where that is demanded (`operator_def_list`).
    fn definition(&mut self, valued: bool) -> Result<Vec<DefinitionOption>> {
        self.in_parentheses(|parser| {
            let name = parser.label()?;
            let value = match parser.accept_symbol(b'=') {
                true => Some(parser.definition_value()?),
                false if valued => return Err(parser.error()),
                false => None,
            };
            Ok((name, value))
        })
    }

    fn definition_value(&mut self) -> Result<DefinitionValue> {
        let number = matches!(self.kind(), Kind::Integer | Kind::Number);
        let signed = matches!(self.kind(), Kind::Symbol(b'+' | b'-'))
            && matches!(self.kind_at(1), Kind::Integer | Kind::Number);
        Ok(match self.kind() {
            _ if number || signed => DefinitionValue::Text(self.number_text()?),
            Kind::Keyword(Keyword::None) => {
                self.advance();
                DefinitionValue::Nothing
            }
            Kind::Keyword(Keyword::Operator)
            | Kind::Operator
            | Kind::LessEquals
            | Kind::GreaterEquals
            | Kind::NotEquals => DefinitionValue::Operator(self.operator()?),
            Kind::Symbol(byte) if is_operator(byte) => DefinitionValue::Operator(self.operator()?),
            _ if self.is_string() => DefinitionValue::Text(self.string()?),
            Kind::Keyword(keyword) if keyword.category() == Category::Reserved => {
                DefinitionValue::Text(self.label()?)
            }
            _ => DefinitionValue::Type(self.type_name()?),
        })
    }

    /// CREATE CAST, from that word.
    pub(super) fn create_cast(&mut self) -> Result<Statement> {
        self.expect(Keyword::Cast)?;
        let (source, target) = self.cast_types()?;
        let method = if self.accept(Keyword::Without) {
            self.expect(Keyword::Function)?;
            CastWay::Binary
        } else {
            self.expect(Keyword::With)?;
            if self.accept(Keyword::Inout) {
                CastWay::InOut
            } else {
                self.expect(Keyword::Function)?;
                let name = self.function_name()?;
                CastWay::Function(name, self.routine_arguments()?)
            }
        };
        let context = match self.accept(Keyword::As) {
            false => b'e',
            true if self.accept(Keyword::Assignment) => b'a',
            true => {
                self.expect(Keyword::Implicit)?;
                b'i'
            }
        };
        Ok(Statement::CreateCast(Box::new(CreateCast { source, target, method, context })))
    }

    /// DROP CAST, behind that word.
    pub(super) fn drop_cast(&mut self) -> Result<Statement> {
        let if_exists = self.if_exists()?;
        let (source, target) = self.cast_types()?;
        let cascade = self.cascade();
        Ok(Statement::DropCast(Box::new(DropCast { source, target, if_exists, cascade })))
    }

    fn cast_types(&mut self) -> Result<(TypeName, TypeName)> {
        self.expect_symbol(b'(')?;
        let source = self.type_name()?;
        self.expect(Keyword::As)?;
        let target = self.type_name()?;
        self.expect_symbol(b')')?;
        Ok((source, target))
    }

    /// CREATE EVENT TRIGGER, from EVENT.
    pub(super) fn create_event_trigger(&mut self) -> Result<Statement> {
        self.expect_all(&[Keyword::Event, Keyword::Trigger])?;
        let name = self.name()?;
        self.expect(Keyword::On)?;
        let event = self.label()?;
        let mut filters = Vec::new();
        if self.accept(Keyword::When) {
            loop {
                let variable = self.name()?;
                self.expect(Keyword::In)?;
                filters.push((variable, self.in_parentheses(Parser::string)?));
                if !self.accept(Keyword::And) {
                    break;
                }
            }
        }
        self.expect(Keyword::Execute)?;
        if !self.accept(Keyword::Function) {
            self.expect(Keyword::Procedure)?;
        }
        let function = self.function_name()?;
        self.expect_symbol(b'(')?;
        self.expect_symbol(b')')?;
        let create = CreateEventTrigger { name, event, filters, function };
        Ok(Statement::CreateEventTrigger(Box::new(create)))
    }

    /// ALTER EVENT TRIGGER, behind these words.
    pub(super) fn alter_event_trigger(&mut self) -> Result<Statement> {
        let name = self.name()?;
        let change = if self.accept(Keyword::Owner) {
            self.expect(Keyword::To)?;
            EventTriggerChange::Owner(self.role()?)
        } else if self.accept(Keyword::Rename) {
            self.expect(Keyword::To)?;
            EventTriggerChange::Rename(self.name()?)
        } else if self.accept(Keyword::Disable) {
            EventTriggerChange::Enabled(b'D')
        } else {
            self.expect(Keyword::Enable)?;
            EventTriggerChange::Enabled(if self.accept(Keyword::Replica) {
                b'R'
            } else if self.accept(Keyword::Always) {
                b'A'
            } else {
                b'O'
            })
        };
        Ok(Statement::AlterEventTrigger(AlterEventTrigger { name, change }))
    }

    /// DROP EVENT TRIGGER, behind these words.
    pub(super) fn drop_event_trigger(&mut self) -> Result<Statement> {
        let if_exists = self.if_exists()?;
        let names = self.list(Parser::name)?;
        let cascade = self.cascade();
        Ok(Statement::DropEventTrigger(DropEventTrigger { names, if_exists, cascade }))
    }

    /// What COMMENT is on, behind the words of its kind, where more than a name tells it.
    pub(super) fn comment_target(&mut self, words: &str) -> Result<Option<CommentTarget>> {
        let part = if words == "OPERATOR" { self.operator_part() } else { None };
        if let Some(part) = part {
            let (name, method) = self.commented_part()?;
            return Ok(Some(CommentTarget::Part(part, name, method)));
        }
        Ok(match words {
            "CONVERSION" => Some(CommentTarget::Conversion(self.object_name()?)),
            "OPERATOR" => Some(CommentTarget::Operator(self.operator_signature()?)),
            "CAST" => {
                let (source, target) = self.cast_types()?;
                Some(CommentTarget::Cast(source, target))
            }
            "EVENT TRIGGER" => Some(CommentTarget::EventTrigger(self.name()?)),
            _ => None,
        })
    }
}
