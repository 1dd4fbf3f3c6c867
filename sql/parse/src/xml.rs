//! XMLELEMENT and its kin: `func_expr_common_subexpr` of PostgreSQL's grammar.

use super::ast::{Expr, ExprKind, Ident, XmlCall};
use super::keyword::Keyword;
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

    /// A value that may have a name.
    fn xml_named(&mut self) -> Result<(Option<Ident>, Expr, u32)> {
        let at = self.here();
        let value = self.expr()?;
        let name = if self.accept(Keyword::As) { Some(self.label()?) } else { None };
        Ok((name, value, at))
    }
}
