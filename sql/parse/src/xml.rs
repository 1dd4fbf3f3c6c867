//! XMLELEMENT and its kin: `func_expr_common_subexpr` of PostgreSQL's grammar.

use super::ast::{Expr, ExprKind, Ident, XmlCall, XmlTable, XmlTableColumn};
use super::keyword::Keyword;
use super::lexer::Kind;
use super::parser::Parser;
use sql_types::error::Result;
use sql_types::settings::XmlOption;
use sql_types::xml::construct::{Standalone, XmlOp};

impl Parser<'_> {
    /// A call that begins with this word.
    pub(super) fn xml(&mut self, word: Keyword, at: u32) -> Result<Expr> {
        self.advance();
        self.expect_symbol(b'(')?;
        let mut call = XmlCall {
            op: XmlOp::Concat,
            name: None,
            named: Vec::new(),
            arguments: Vec::new(),
            target: None,
        };
        match word {
            Keyword::Xmlelement | Keyword::Xmlpi => {
                let element = word == Keyword::Xmlelement;
                call.op = if element { XmlOp::Element } else { XmlOp::Instruction };
                self.expect(Keyword::Name)?;
                call.name = Some(self.label()?);
                let mut more = self.accept_symbol(b',');
                if more && element && self.accept(Keyword::Xmlattributes) {
                    call.named = self.in_parentheses(Parser::xml_named)?;
                    more = self.accept_symbol(b',');
                }
                if more {
                    call.arguments =
                        if element { self.list(Parser::expr)? } else { vec![self.expr()?] };
                }
            }
            Keyword::Xmlforest => {
                call.op = XmlOp::Forest;
                call.named = self.list(Parser::xml_named)?;
            }
            Keyword::Xmlparse => {
                let option = self.xml_option()?;
                call.arguments = vec![self.expr()?];
                let preserve = self.accept(Keyword::Preserve);
                if preserve || self.accept(Keyword::Strip) {
                    self.expect(Keyword::Whitespace)?;
                }
                call.op = XmlOp::Parse { option, preserve };
            }
            Keyword::Xmlroot => {
                call.arguments = vec![self.expr()?];
                self.expect_symbol(b',')?;
                self.expect(Keyword::Version)?;
                if !self.accept_all(&[Keyword::No, Keyword::Value]) {
                    call.arguments.push(self.expr()?);
                }
                let mut standalone = Standalone::Omitted;
                if self.accept_symbol(b',') {
                    self.expect(Keyword::Standalone)?;
                    standalone = if self.accept(Keyword::Yes) {
                        Standalone::Yes
                    } else {
                        self.expect(Keyword::No)?;
                        let none = self.accept(Keyword::Value);
                        if none { Standalone::NoValue } else { Standalone::No }
                    };
                }
                call.op = XmlOp::Root(standalone);
            }
            Keyword::Xmlserialize => {
                call.op = XmlOp::Serialize(self.xml_option()?);
                call.arguments = vec![self.expr()?];
                self.expect(Keyword::As)?;
                call.target = Some(self.type_name()?);
            }
            _ => call.arguments = self.list(Parser::expr)?,
        }
        self.expect_symbol(b')')?;
        Ok(Expr { at, kind: ExprKind::Xml(Box::new(call)) })
    }

    /// DOCUMENT or CONTENT.
    fn xml_option(&mut self) -> Result<XmlOption> {
        if self.accept(Keyword::Document) {
            return Ok(XmlOption::Document);
        }
        self.expect(Keyword::Content)?;
        Ok(XmlOption::Content)
    }

    /// BY REF or BY VALUE, which say nothing.
    pub(super) fn xml_passing(&mut self) -> Result<()> {
        if self.accept(Keyword::By) && !self.accept(Keyword::Ref) {
            self.expect(Keyword::Value)?;
        }
        Ok(())
    }

    /// XMLTABLE (`xmltable` of PostgreSQL's grammar).
    pub(super) fn xml_table(&mut self, at: u32) -> Result<Expr> {
        self.advance();
        self.expect_symbol(b'(')?;
        let mut namespaces = Vec::new();
        if self.is(Keyword::Xmlnamespaces) && self.kind_at(1) == Kind::Symbol(b'(') {
            self.advance();
            namespaces = self.in_parentheses(Parser::xml_namespace)?;
            self.expect_symbol(b',')?;
        }
        let path = self.primary()?;
        self.expect(Keyword::Passing)?;
        self.xml_passing()?;
        let document = self.primary()?;
        self.xml_passing()?;
        self.expect(Keyword::Columns)?;
        let columns = self.list(Parser::xml_table_column)?;
        self.expect_symbol(b')')?;
        let table = XmlTable { namespaces, path, document, columns };
        Ok(Expr { at, kind: ExprKind::XmlTable(Box::new(table)) })
    }

    fn xml_namespace(&mut self) -> Result<(Option<Ident>, Expr, u32)> {
        let at = self.here();
        if self.accept(Keyword::Default) {
            return Ok((None, self.restricted_expr()?, at));
        }
        let uri = self.restricted_expr()?;
        self.expect(Keyword::As)?;
        Ok((Some(self.label()?), uri, at))
    }

    fn xml_table_column(&mut self) -> Result<XmlTableColumn> {
        let at = self.here();
        let name = self.name()?;
        let mut column =
            XmlTableColumn { name, ty: None, path: None, default: None, not_null: false, at };
        if self.accept(Keyword::For) {
            self.expect(Keyword::Ordinality)?;
            return Ok(column);
        }
        column.ty = Some(self.type_name()?);
        let mut nullable = None;
        loop {
            let at = self.here();
            let negated = self.is(Keyword::Not);
            if negated || self.is(Keyword::Null) {
                self.advance();
                if negated {
                    self.expect(Keyword::Null)?;
                }
                if nullable.replace(!negated).is_some() {
                    let message = format!(
                        "conflicting or redundant NULL / NOT NULL declarations for column \"{}\"",
                        column.name
                    );
                    return Err(self.complaint(message, at));
                }
            } else if self.accept(Keyword::Default) {
                let value = self.restricted_expr()?;
                if column.default.replace(value).is_some() {
                    return Err(self.complaint("only one DEFAULT value is allowed", at));
                }
            } else if matches!(self.kind(), Kind::Word | Kind::Quoted | Kind::UnicodeQuoted) {
                let option = self.label()?;
                let value = self.restricted_expr()?;
                if &*option != "path" {
                    let message = format!("unrecognized column option \"{option}\"");
                    return Err(self.complaint(message, at));
                }
                if column.path.replace(value).is_some() {
                    return Err(self.complaint("only one PATH value per column is allowed", at));
                }
            } else {
                break;
            }
        }
        column.not_null = nullable == Some(false);
        Ok(column)
    }

    /// A value that may have a name.
    fn xml_named(&mut self) -> Result<(Option<Ident>, Expr, u32)> {
        let at = self.here();
        let value = self.expr()?;
        let name = if self.accept(Keyword::As) { Some(self.label()?) } else { None };
        Ok((name, value, at))
    }
}
