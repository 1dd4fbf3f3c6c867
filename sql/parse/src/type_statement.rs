//! CREATE TYPE, what ALTER TYPE does to enums, and domains.

use super::ast::{
    AlterDomain, AttributeChange, AttributeElement, CreateDomain, CreateType, DomainChange,
    EnumChange, Ident, ObjectName, Statement, TypeDefinition,
};
use super::keyword::Keyword;
use super::parser::Parser;
use sql_types::error::Result;

impl Parser<'_> {
    /// CREATE TYPE, from TYPE on.
    pub(super) fn create_type(&mut self) -> Result<Statement> {
        self.expect(Keyword::Type)?;
        let name = self.relation_name()?;
        let unsupported = |parser: &mut Self, what: &str| {
            parser.skip_statement();
            Ok(Statement::Unsupported(format!("CREATE TYPE {what}")))
        };
        if !self.accept(Keyword::As) {
            return unsupported(self, "of a base type");
        }
        if self.is_label(self.kind()) && !self.is(Keyword::Enum) {
            return unsupported(self, "AS RANGE");
        }
        let definition = if self.accept(Keyword::Enum) {
            self.expect_symbol(b'(')?;
            let labels = if self.is_symbol(b')') { Vec::new() } else { self.list(Parser::string)? };
            self.expect_symbol(b')')?;
            TypeDefinition::Enum(labels)
        } else {
            self.expect_symbol(b'(')?;
            let mut attributes = Vec::new();
            if !self.is_symbol(b')') {
                attributes = self.list(|parser| {
                    let name = parser.name()?;
                    parser.attribute(name)
                })?;
            }
            self.expect_symbol(b')')?;
            TypeDefinition::Composite(attributes)
        };
        Ok(Statement::CreateType(Box::new(CreateType { name, definition })))
    }

    /// An attribute's type and collation, behind its name.
    fn attribute(&mut self, name: Ident) -> Result<AttributeElement> {
        let ty = self.type_name_nowhere()?;
        let at = self.here();
        let collation = match self.accept(Keyword::Collate) {
            true => Some(ObjectName { at, ..self.object_name()? }),
            false => None,
        };
        Ok(AttributeElement { name, ty, collation })
    }

    /// ADD VALUE or RENAME VALUE behind ALTER TYPE and a name; nothing if it is something else.
    pub(super) fn enum_change(&mut self) -> Result<Option<EnumChange>> {
        if self.accept_all(&[Keyword::Add, Keyword::Value]) {
            let if_not_exists = self.if_not_exists()?;
            let label = self.string()?;
            let neighbour = if self.accept(Keyword::Before) {
                Some((false, self.string()?))
            } else if self.accept(Keyword::After) {
                Some((true, self.string()?))
            } else {
                None
            };
            return Ok(Some(EnumChange::Add { label, if_not_exists, neighbour }));
        }
        if self.accept_all(&[Keyword::Rename, Keyword::Value]) {
            let from = self.string()?;
            self.expect(Keyword::To)?;
            let to = self.string()?;
            return Ok(Some(EnumChange::Rename { from, to }));
        }
        Ok(None)
    }

    /// CREATE DOMAIN, from DOMAIN on.
    pub(super) fn create_domain(&mut self) -> Result<Statement> {
        self.expect(Keyword::Domain)?;
        let name = self.relation_name()?;
        self.accept(Keyword::As);
        let ty = self.type_name_nowhere()?;
        let mut collation = None;
        let mut constraints = Vec::new();
        loop {
            let at = self.here();
            if self.accept(Keyword::Collate) {
                let given = self.object_name()?;
                if collation.replace(given).is_some() {
                    return Err(self.complaint("multiple COLLATE clauses not allowed", at));
                }
            } else if let Some(constraint) = self.column_constraint()? {
                constraints.push(constraint);
            } else {
                break;
            }
        }
        Ok(Statement::CreateDomain(Box::new(CreateDomain { name, ty, collation, constraints })))
    }

    /// ALTER DOMAIN, behind the name: what is not the same for all types.
    pub(super) fn alter_domain(&mut self, name: ObjectName) -> Result<Statement> {
        let change = if self.accept(Keyword::Set) {
            if self.accept(Keyword::Default) {
                DomainChange::SetDefault(Some(self.spanned(Parser::expr)?.0))
            } else {
                self.expect_all(&[Keyword::Not, Keyword::Null])?;
                DomainChange::SetNotNull(true)
            }
        } else if self.accept(Keyword::Drop) {
            if self.accept(Keyword::Default) {
                DomainChange::SetDefault(None)
            } else if self.accept(Keyword::Constraint) {
                let if_exists = self.if_exists()?;
                let name = self.name()?;
                self.cascade();
                DomainChange::DropConstraint { name, if_exists }
            } else {
                self.expect_all(&[Keyword::Not, Keyword::Null])?;
                DomainChange::SetNotNull(false)
            }
        } else if self.accept(Keyword::Add) {
            let Some(constraint) = self.column_constraint()? else { return Err(self.error()) };
            let valid = !self.accept_all(&[Keyword::Not, Keyword::Valid]);
            let (name, kind) = (constraint.name, constraint.kind);
            DomainChange::AddConstraint { name, kind, valid }
        } else {
            self.expect_all(&[Keyword::Validate, Keyword::Constraint])?;
            DomainChange::ValidateConstraint(self.name()?)
        };
        Ok(Statement::AlterDomain(Box::new(AlterDomain { name, change })))
    }

    /// Whether what is at hand changes an attribute of a composite type.
    pub(super) fn begins_attribute_change(&self) -> bool {
        (self.is(Keyword::Add) || self.is(Keyword::Drop) || self.is(Keyword::Alter))
            && self.is_at(1, Keyword::Attribute)
    }

    /// ADD, DROP or ALTER ATTRIBUTE.
    pub(super) fn attribute_change(&mut self) -> Result<AttributeChange> {
        if !self.begins_attribute_change() {
            return Err(self.error());
        }
        if self.accept_all(&[Keyword::Drop, Keyword::Attribute]) {
            let if_exists = self.if_exists()?;
            let name = self.name()?;
            let cascade = self.cascade();
            return Ok(AttributeChange::Drop { name, if_exists, cascade });
        }
        let add = self.accept(Keyword::Add);
        if !add {
            self.expect(Keyword::Alter)?;
        }
        self.expect(Keyword::Attribute)?;
        let name = self.name()?;
        if !add {
            if self.accept(Keyword::Set) {
                self.expect(Keyword::Data)?;
            }
            self.expect(Keyword::Type)?;
        }
        let attribute = self.attribute(name)?;
        self.cascade();
        Ok(if add { AttributeChange::Add(attribute) } else { AttributeChange::Alter(attribute) })
    }
}
