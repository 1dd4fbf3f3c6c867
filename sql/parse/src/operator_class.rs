//! CREATE, ALTER and DROP of operator classes, operator families and conversions.

use super::ast::{
    AlterConversion, AlterOperatorPart, ClassItem, CreateConversion, CreateOperatorClass,
    CreateOperatorFamily, DropConversion, DropOperatorPart, ObjectName, OperatorPart,
    OperatorPartChange, Statement, TypeName,
};
use super::keyword::Keyword;
use super::lexer::Kind;
use super::parser::Parser;
use sql_types::error::{Result, SqlError};
use sql_types::sqlstate::SqlState;

impl Parser<'_> {
    /// CLASS or FAMILY behind OPERATOR, taken, unless an operator is meant.
    pub(super) fn operator_part(&mut self) -> Option<OperatorPart> {
        let part = match self.kind() {
            Kind::Keyword(Keyword::Class) => OperatorPart::Class,
            Kind::Keyword(Keyword::Family) => OperatorPart::Family,
            _ => return None,
        };
        if !self.is_label(self.kind_at(1)) && !self.is_at(1, Keyword::If) {
            return None;
        }
        self.advance();
        Some(part)
    }

    /// CREATE OPERATOR CLASS and FAMILY, behind these words.
    pub(super) fn create_operator_part(&mut self, part: OperatorPart) -> Result<Statement> {
        let name = self.object_name()?;
        if part == OperatorPart::Family {
            self.expect(Keyword::Using)?;
            let method = self.name()?;
            return Ok(Statement::CreateOperatorFamily(CreateOperatorFamily { name, method }));
        }
        let default = self.accept(Keyword::Default);
        self.expect_all(&[Keyword::For, Keyword::Type])?;
        let ty = self.type_name()?;
        self.expect(Keyword::Using)?;
        let method = self.name()?;
        let family = match self.accept(Keyword::Family) {
            true => Some(self.object_name()?),
            false => None,
        };
        self.expect(Keyword::As)?;
        let items = self.list(Parser::class_item)?;
        let create = CreateOperatorClass { name, default, ty, method, family, items };
        Ok(Statement::CreateOperatorClass(Box::new(create)))
    }

    /// The number of a strategy or a support function.
    fn class_number(&mut self) -> Result<i32> {
        let at = self.here();
        if self.kind() != Kind::Integer {
            return Err(self.error());
        }
        let text = self.number_text()?;
        text.parse().map_err(|_| {
            let message = format!("syntax error at or near \"{text}\"");
            SqlError::new(SqlState::SYNTAX_ERROR, message).at(self.position(at))
        })
    }

    fn class_item(&mut self) -> Result<ClassItem> {
        if self.accept(Keyword::Storage) {
            return Ok(ClassItem::Storage(self.type_name()?));
        }
        if self.accept(Keyword::Function) {
            let number = self.class_number()?;
            let types = match self.is_symbol(b'(') {
                true => self.in_parentheses(Parser::type_name)?,
                false => Vec::new(),
            };
            let name = self.object_name()?;
            let arguments = self.routine_arguments()?;
            return Ok(ClassItem::Function { number, types, name, arguments });
        }
        self.expect(Keyword::Operator)?;
        let number = self.class_number()?;
        let name = self.operator_name()?;
        let signature = match self.is_symbol(b'(') {
            true => Some(self.operator_operands(name.clone())?),
            false => None,
        };
        let mut sort_family = None;
        if self.accept(Keyword::For) && !self.accept(Keyword::Search) {
            self.expect_all(&[Keyword::Order, Keyword::By])?;
            sort_family = Some(self.object_name()?);
        }
        Ok(ClassItem::Operator { number, name, signature, sort_family })
    }

    /// What ALTER OPERATOR CLASS and FAMILY name, behind the words: the object, and its access method.
    fn part_name(&mut self) -> Result<(ObjectName, super::ast::Ident)> {
        let name = self.object_name()?;
        self.expect(Keyword::Using)?;
        Ok((name, self.name()?))
    }

    /// ALTER OPERATOR CLASS and FAMILY, behind these words.
    pub(super) fn alter_operator_part(&mut self, part: OperatorPart) -> Result<Statement> {
        let (name, method) = self.part_name()?;
        let family = part == OperatorPart::Family;
        let change = if family && self.accept(Keyword::Add) {
            OperatorPartChange::Add(self.list(Parser::class_item)?)
        } else if family && self.accept(Keyword::Drop) {
            OperatorPartChange::Drop(self.list(|parser| {
                let function = parser.accept(Keyword::Function);
                if !function {
                    parser.expect(Keyword::Operator)?;
                }
                let number = parser.class_number()?;
                let types: Vec<TypeName> = parser.in_parentheses(Parser::type_name)?;
                Ok((function, number, types))
            })?)
        } else {
            self.object_change()?
        };
        let alter = AlterOperatorPart { part, name, method, change };
        Ok(Statement::AlterOperatorPart(Box::new(alter)))
    }

    /// OWNER TO, RENAME TO, SET SCHEMA.
    fn object_change(&mut self) -> Result<OperatorPartChange> {
        Ok(if self.accept(Keyword::Owner) {
            self.expect(Keyword::To)?;
            OperatorPartChange::Owner(self.role()?)
        } else if self.accept(Keyword::Rename) {
            self.expect(Keyword::To)?;
            OperatorPartChange::Rename(self.name()?)
        } else {
            self.expect_all(&[Keyword::Set, Keyword::Schema])?;
            OperatorPartChange::Schema(self.name()?)
        })
    }

    /// DROP OPERATOR CLASS and FAMILY, behind these words.
    pub(super) fn drop_operator_part(&mut self, part: OperatorPart) -> Result<Statement> {
        let if_exists = self.if_exists()?;
        let (name, method) = self.part_name()?;
        let cascade = self.cascade();
        let drop = DropOperatorPart { part, name, method, if_exists, cascade };
        Ok(Statement::DropOperatorPart(Box::new(drop)))
    }

    /// The operator class or family that COMMENT is on.
    pub(super) fn commented_part(&mut self) -> Result<(ObjectName, super::ast::Ident)> {
        self.part_name()
    }

    /// CREATE [DEFAULT] CONVERSION, from that word.
    pub(super) fn create_conversion(&mut self, default: bool) -> Result<Statement> {
        self.expect(Keyword::Conversion)?;
        let name = self.object_name()?;
        self.expect(Keyword::For)?;
        let source = self.string()?;
        self.expect(Keyword::To)?;
        let target = self.string()?;
        self.expect(Keyword::From)?;
        let function = self.object_name()?;
        let create = CreateConversion { name, default, source, target, function };
        Ok(Statement::CreateConversion(Box::new(create)))
    }

    /// ALTER CONVERSION, behind that word.
    pub(super) fn alter_conversion(&mut self) -> Result<Statement> {
        let name = self.object_name()?;
        let change = self.object_change()?;
        Ok(Statement::AlterConversion(Box::new(AlterConversion { name, change })))
    }

    /// DROP CONVERSION, behind that word.
    pub(super) fn drop_conversion(&mut self) -> Result<Statement> {
        let if_exists = self.if_exists()?;
        let names = self.list(Parser::object_name)?;
        let cascade = self.cascade();
        Ok(Statement::DropConversion(DropConversion { names, if_exists, cascade }))
    }
}
