//! CREATE TYPE, and what ALTER TYPE does to enums.

use super::ast::{CreateType, EnumChange, Statement, TypeDefinition};
use super::keyword::Keyword;
use super::parser::Parser;
use crate::error::Result;

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
                    let ty = parser.type_name()?;
                    if parser.is(Keyword::Collate) {
                        return Err(parser.unsupported("COLLATE of an attribute is", parser.here()));
                    }
                    Ok((name, ty))
                })?;
            }
            self.expect_symbol(b')')?;
            TypeDefinition::Composite(attributes)
        };
        Ok(Statement::CreateType(Box::new(CreateType { name, definition })))
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
}
