//! A JSON text as a tree in the arena.
//!
//! Each item knows the part of the text it stands for, which is what functions over json give back unchanged.

use super::read::{Lexer, Token, Wanted};
use super::stored::{Node, View};
use crate::depth::{NESTING_MAX, deeper, too_deep};
use crate::error::Result;
use crate::numeric;
use bumpalo::Bump;
use bumpalo::collections::Vec;

/// A value in a JSON text.
#[derive(Clone, Copy, Debug)]
pub struct Item<'a> {
    /// What it is.
    pub kind: Kind<'a>,
    /// How it was written.
    pub text: &'a str,
}

/// What a JSON value is.
#[derive(Clone, Copy, Debug)]
pub enum Kind<'a> {
    /// null.
    Null,
    /// true, false.
    Bool(bool),
    /// A number, as written.
    Number,
    /// A string, without quotes and escapes.
    String(&'a str),
    /// An array.
    Array(&'a [Item<'a>]),
    /// An object, its members as written, equal keys too.
    Object(&'a [(&'a str, Item<'a>)]),
}

impl<'a> Item<'a> {
    /// The last member of that name.
    #[must_use]
    pub fn member(&self, key: &str) -> Option<Item<'a>> {
        let Kind::Object(members) = self.kind else { return None };
        members.iter().rev().find(|(name, _)| *name == key).map(|(_, item)| *item)
    }

    /// An element, from 0 or, if negative, from the end.
    #[must_use]
    pub fn element(&self, index: i32) -> Option<Item<'a>> {
        let Kind::Array(elements) = self.kind else { return None };
        super::path::place(index, elements.len()).map(|at| elements[at])
    }

    /// What `->>` gives: a string without its quotes, nothing for null.
    #[must_use]
    pub fn plain(&self) -> Option<&'a str> {
        match self.kind {
            Kind::Null => None,
            Kind::String(text) => Some(text),
            _ => Some(self.text),
        }
    }
}

/// Checks that a text is JSON.
///
/// # Errors
/// 22P02; 54001.
pub fn check(text: &str) -> Result<()> {
    let mut lexer = Lexer::new(text, false)?;
    check_value(&mut lexer, 0)?;
    end(&lexer)
}

fn end(lexer: &Lexer<'_>) -> Result<()> {
    match lexer.token {
        Token::End => Ok(()),
        _ => Err(lexer.unexpected(Wanted::End)),
    }
}

fn check_value(lexer: &mut Lexer<'_>, depth: u32) -> Result<()> {
    if depth > NESTING_MAX {
        return Err(too_deep());
    }
    match lexer.token {
        Token::ObjectStart => {
            deeper(|| members(lexer, |lexer| check_value(lexer, depth + 1), |_| ()))
        }
        Token::ArrayStart => deeper(|| elements(lexer, |lexer| check_value(lexer, depth + 1))),
        token => scalar(token, lexer),
    }
}

/// Past a scalar.
fn scalar(token: Token, lexer: &mut Lexer<'_>) -> Result<()> {
    match token {
        Token::String | Token::Number | Token::True | Token::False | Token::Null => lexer.advance(),
        _ => Err(lexer.unexpected(Wanted::Value)),
    }
}

/// Past an array, whose elements `value` reads.
fn elements<'t>(
    lexer: &mut Lexer<'t>,
    mut value: impl FnMut(&mut Lexer<'t>) -> Result<()>,
) -> Result<()> {
    lexer.advance()?;
    if lexer.token != Token::ArrayEnd {
        value(lexer)?;
        while lexer.token == Token::Comma {
            lexer.advance()?;
            value(lexer)?;
        }
    }
    match lexer.token {
        Token::ArrayEnd => lexer.advance(),
        _ => Err(lexer.unexpected(Wanted::ArrayNext)),
    }
}

/// Past an object, whose keys `key` takes and whose values `value` reads.
fn members<'t>(
    lexer: &mut Lexer<'t>,
    mut value: impl FnMut(&mut Lexer<'t>) -> Result<()>,
    mut key: impl FnMut(std::borrow::Cow<'t, str>),
) -> Result<()> {
    lexer.advance()?;
    match lexer.token {
        Token::ObjectEnd => return lexer.advance(),
        Token::String => {}
        _ => return Err(lexer.unexpected(Wanted::ObjectFirst)),
    }
    loop {
        if lexer.token != Token::String {
            return Err(lexer.unexpected(Wanted::String));
        }
        key(lexer.string());
        lexer.advance()?;
        if lexer.token != Token::Colon {
            return Err(lexer.unexpected(Wanted::Colon));
        }
        lexer.advance()?;
        value(lexer)?;
        match lexer.token {
            Token::Comma => lexer.advance()?,
            Token::ObjectEnd => return lexer.advance(),
            _ => return Err(lexer.unexpected(Wanted::ObjectNext)),
        }
    }
}

/// Reads a JSON text into a tree.
///
/// # Errors
/// As [`check`]; 22P05 for the character 0.
pub fn parse<'a>(arena: &'a Bump, text: &'a str) -> Result<Item<'a>> {
    let mut lexer = Lexer::new(text, true)?;
    let item = parse_value(arena, text, &mut lexer, 0)?;
    end(&lexer)?;
    Ok(item)
}

fn in_arena<'a>(arena: &'a Bump, text: std::borrow::Cow<'a, str>) -> &'a str {
    match text {
        std::borrow::Cow::Borrowed(text) => text,
        std::borrow::Cow::Owned(text) => arena.alloc_str(&text),
    }
}

fn parse_value<'a>(
    arena: &'a Bump,
    text: &'a str,
    lexer: &mut Lexer<'a>,
    depth: u32,
) -> Result<Item<'a>> {
    if depth > NESTING_MAX {
        return Err(too_deep());
    }
    let start = lexer.start();
    let kind = match lexer.token {
        Token::ObjectStart => {
            let keys = std::cell::RefCell::new(Vec::new_in(arena));
            let mut values = Vec::new_in(arena);
            deeper(|| {
                members(
                    lexer,
                    |lexer| {
                        values.push(parse_value(arena, text, lexer, depth + 1)?);
                        Ok(())
                    },
                    |key| keys.borrow_mut().push(in_arena(arena, key)),
                )
            })?;
            let keys = keys.into_inner();
            let pairs = keys.iter().copied().zip(values);
            Kind::Object(Vec::from_iter_in(pairs, arena).into_bump_slice())
        }
        Token::ArrayStart => {
            let mut values = Vec::new_in(arena);
            deeper(|| {
                elements(lexer, |lexer| {
                    values.push(parse_value(arena, text, lexer, depth + 1)?);
                    Ok(())
                })
            })?;
            Kind::Array(values.into_bump_slice())
        }
        token => {
            let kind = match token {
                Token::String => Kind::String(in_arena(arena, lexer.string())),
                Token::Number => Kind::Number,
                Token::True => Kind::Bool(true),
                Token::False => Kind::Bool(false),
                _ => Kind::Null,
            };
            scalar(token, lexer)?;
            kind
        }
    };
    Ok(Item { kind, text: &text[start..lexer.previous_end] })
}

/// The same tree for a jsonb.
///
/// # Errors
/// 22003: a number beyond numeric.
pub fn node<'a>(arena: &'a Bump, item: &Item<'a>) -> Result<Node<'a>> {
    Ok(match item.kind {
        Kind::Null => Node::Stored(View::NULL),
        Kind::Bool(value) => Node::Stored(View::bool(value)),
        Kind::Number => {
            let number = numeric::text::read(item.text, -1)?;
            Node::Stored(View::number(number.store(arena)))
        }
        Kind::String(text) => Node::Stored(View::string(text)),
        Kind::Array(items) => {
            let mut nodes = Vec::with_capacity_in(items.len(), arena);
            for item in items {
                nodes.push(deeper(|| node(arena, item))?);
            }
            Node::Array(nodes.into_bump_slice())
        }
        Kind::Object(members) => {
            let mut nodes = Vec::with_capacity_in(members.len(), arena);
            for (key, item) in members {
                nodes.push((*key, deeper(|| node(arena, item))?));
            }
            Node::object(nodes)
        }
    })
}
