//! Text to statements: PostgreSQL 15's lexical rules and grammar, into a syntax tree of our own.
//!
//! [`parse`] takes a whole query text apart. A syntax error anywhere in it is the answer for all of it, as in PostgreSQL,
//! with PostgreSQL's words and place. What PostgreSQL has and Atoll has not is a [`Statement::Unsupported`], so that it
//! fails when its turn comes, or 0A000 at its place where it is part of a statement.
//!
//! Trees are as deep as their text: [`depth`] has the limits, and the stacks to walk them on.

mod aggregate;
mod alter;
pub mod ast;
mod call;
mod copy;
mod cursor;
pub mod depth;
mod expr;
mod from;
pub mod keyword;
pub mod lexer;
pub mod lift;
mod maintenance;
mod modify;
mod object;
mod operator;
mod operator_class;
mod parser;
pub mod position;
mod precision;
mod primary;
mod privilege;
mod query;
mod routine;
#[cfg(test)]
mod second_reader;
mod setting;
mod statement;
mod string;
mod table;
#[cfg(test)]
mod tests;
mod transaction;
mod trigger;
mod type_statement;
mod utility;
pub mod value;
mod xml;

pub use ast::Statement;
pub use depth::Deep;
use lexer::Kind;
pub use lift::{Lifted, LiftedLiteral, lift};
use parser::Parser;
pub use position::Positions;
use sql_types::dialect::Dialect;
use sql_types::error::{Notice, Result};

/// A statement of a query text.
#[derive(Debug)]
pub struct Parsed {
    /// What it says. Its height is that of its tree: whoever walks it does so under [`depth::with_stack_for`].
    pub statement: Deep<Statement>,
    /// Its first byte in the text.
    pub start: u32,
    /// Behind its last byte, without the semicolon.
    pub end: u32,
    /// How many characters stand before it.
    pub before: u32,
    /// Notices that came up on the way (names that were cut).
    pub notices: Vec<Notice>,
}

/// The statements of a text as it is kept; none if there is nothing but blanks, comments and semicolons.
///
/// # Errors
/// 42601 and the like where the text is wrong, 54001 where it is too deep.
pub fn parse(text: &str) -> Result<Vec<Parsed>> {
    parse_in(text, Dialect::default())
}

/// The statements of a text as a session has sent it.
///
/// # Errors
/// As [`parse`].
pub fn parse_in(text: &str, dialect: Dialect) -> Result<Vec<Parsed>> {
    let mut parser = Parser::speaking(text, dialect);
    let mut statements = Vec::new();
    loop {
        while parser.accept_symbol(b';') {}
        if parser.kind() == Kind::End {
            return Ok(statements);
        }
        let start = parser.here();
        parser.height = 0;
        let statement = parser.statement()?;
        let end = parser.before();
        let repeated = std::mem::take(&mut parser.repeated);
        parser.notices.extend(repeated);
        let later = std::mem::take(&mut parser.later);
        parser.notices.extend(later.into_iter().flatten());
        statements.push(Parsed {
            statement: Deep::new(statement, parser.height + 1),
            start,
            end,
            before: parser.position(start) - 1,
            notices: std::mem::take(&mut parser.notices),
        });
        if parser.kind() != Kind::End {
            parser.expect_symbol(b';')?;
        }
    }
}

/// A type's name as a session writes it.
///
/// # Errors
/// As [`parse`].
pub fn parse_type(text: &str, dialect: Dialect) -> Result<ast::TypeName> {
    let mut parser = Parser::speaking(text, dialect);
    let name = parser.type_name()?;
    parser.at_end()?;
    Ok(name)
}

/// The first parameter in a text: its number, and where it stands (a byte). Nothing if there is none.
#[must_use]
pub fn first_parameter(text: &str) -> Option<(u32, u32)> {
    let mut lexer = lexer::Lexer::new(text);
    loop {
        let token = lexer.next_token();
        match token.kind {
            Kind::Parameter => {
                let number = text[token.start as usize + 1..token.end as usize].parse();
                return Some((number.unwrap_or(u32::MAX), token.start));
            }
            Kind::End | Kind::Error(_) => return None,
            _ => {}
        }
    }
}

/// The query that a view's text is.
///
/// # Errors
/// As [`parse`].
pub fn parse_query(text: &str) -> Result<ast::Query> {
    let mut parser = Parser::new(text);
    let query = parser.query()?;
    parser.accept_symbol(b';');
    parser.at_end()?;
    depth::fits(query, parser.height + 1)
}

/// The query that a stored text is, and how high its tree is: for who binds it within another.
///
/// # Errors
/// As [`parse`].
pub fn parse_stored(text: &str) -> Result<Deep<ast::Query>> {
    let mut parser = Parser::new(text);
    let query = parser.query()?;
    parser.accept_symbol(b';');
    parser.at_end()?;
    Ok(Deep::new(query, parser.height + 1))
}

/// The body of a routine that a stored text is: RETURN, or BEGIN ATOMIC up to END.
///
/// # Errors
/// As [`parse`]; 54001 where there is no room for it ([`depth`]).
pub fn parse_body(text: &str) -> Result<ast::StandardBody> {
    let mut parser = Parser::new(text);
    let body = parser.standard_body()?;
    parser.at_end()?;
    depth::fits(body, parser.height + 1)
}

/// Whether a text is a type's name, by its form.
///
/// # Errors
/// As [`parse`].
pub fn check_type_name(text: &str) -> Result<()> {
    let mut parser = Parser::new(text);
    parser.type_name()?;
    parser.at_end()
}

/// The expression that a stored text is: a DEFAULT, a CHECK.
///
/// # Errors
/// As [`parse`]; 54001 where there is no room for it ([`depth`]).
pub fn parse_expression(text: &str) -> Result<ast::Expr> {
    let mut parser = Parser::new(text);
    let expr = parser.expr()?;
    parser.at_end()?;
    depth::fits(expr, parser.height + 1)
}
