//! Functions that change a jsonb: `||`, `-`, `#-`, `jsonb_set`, `jsonb_insert`, subscripted assignment, without NULLs.
//!
//! PostgreSQL: `IteratorConcat`, `setPath`. Only the containers along the path are made anew; all else is copied as it is.

use super::access::view;
use super::document::{self, Item};
use super::stored::{Array, Node, Object, Shape};
use super::{View, escape, path};
use crate::account;
use crate::depth::deeper;
use crate::error::{Result, SqlError};
use crate::function::Callable::{self, Plain};
use crate::sqlstate::SqlState;
use crate::{CallContext, Datum, arena_text};
use bumpalo::Bump;
use bumpalo::collections::Vec as ArenaVec;
use std::collections::HashSet;

/// By OID.
pub(crate) const FUNCTIONS: &[(u32, Callable)] = &[
    (3301, Plain(|c, a| concatenate(c, &view(&a[0]), &view(&a[1])))),
    (3302, Plain(|c, a| delete_keys(c, &a[0], &[a[1].text()]))),
    (3303, Plain(delete_place)),
    (3343, Plain(delete_all)),
    (3304, Plain(|c, a| at_path(c, &a[0], &a[1], None, Change::Delete))),
    (3305, Plain(set)),
    (5054, Plain(set_lax)),
    (3579, Plain(insert)),
    (3262, Plain(|c, a| without_nulls(c.arena, &view(&a[0])).store(c.arena))),
    (3261, Plain(json_without_nulls)),
];

fn invalid(message: impl Into<String>) -> SqlError {
    SqlError::new(SqlState::INVALID_PARAMETER_VALUE, message)
}

fn concatenate<'a>(context: &CallContext<'a>, a: &View<'a>, b: &View<'a>) -> Result<Datum<'a>> {
    let arena = context.arena;
    if let (Shape::Object(x), Shape::Object(y)) = (a.shape(), b.shape()) {
        let both = x.iter().chain(y.iter()).map(|(key, value)| (key, Node::Stored(value)));
        return Node::object(ArenaVec::from_iter_in(both, arena)).store(arena);
    }
    let mut elements = ArenaVec::new_in(arena);
    for side in [a, b] {
        match side.shape() {
            Shape::Array(array) => elements.extend(array.iter().map(Node::Stored)),
            _ => elements.push(Node::Stored(*side)),
        }
    }
    Node::Array(elements.into_bump_slice()).store(arena)
}

fn delete_keys<'a>(
    context: &CallContext<'a>,
    whole: &Datum<'a>,
    keys: &[&str],
) -> Result<Datum<'a>> {
    let arena = context.arena;
    let keys: HashSet<&str> = account::stepping(keys.iter().copied()).collect();
    match view(whole).shape() {
        Shape::Object(object) => {
            let kept = object.iter().filter(|(key, _)| !keys.contains(key));
            let kept = kept.map(|(key, value)| (key, Node::Stored(value)));
            Node::object(ArenaVec::from_iter_in(kept, arena)).store(arena)
        }
        Shape::Array(array) => {
            let named = |element: &View<'_>| matches!(element.shape(), Shape::String(text) if keys.contains(text));
            let kept = array.iter().filter(|element| !named(element)).map(Node::Stored);
            Node::Array(ArenaVec::from_iter_in(kept, arena).into_bump_slice()).store(arena)
        }
        _ => Err(invalid("cannot delete from scalar")),
    }
}

fn delete_place<'a>(context: &CallContext<'a>, a: &[Datum<'a>]) -> Result<Datum<'a>> {
    match view(&a[0]).shape() {
        Shape::Array(array) => {
            let gone = path::place(a[1].int4(), array.len());
            let kept = array.iter().enumerate().filter(|(at, _)| Some(*at) != gone);
            let kept = ArenaVec::from_iter_in(
                kept.map(|(_, element)| Node::Stored(element)),
                context.arena,
            );
            Node::Array(kept.into_bump_slice()).store(context.arena)
        }
        Shape::Object(_) => Err(invalid("cannot delete from object using integer index")),
        _ => Err(invalid("cannot delete from scalar")),
    }
}

#[cold]
fn wrong_subscripts() -> SqlError {
    SqlError::new(SqlState::ARRAY_SUBSCRIPT_ERROR, "wrong number of array subscripts")
}

fn delete_all<'a>(context: &CallContext<'a>, a: &[Datum<'a>]) -> Result<Datum<'a>> {
    if a[1].array().dimension_count() > 1 {
        return Err(wrong_subscripts());
    }
    let keys: Vec<&str> = path::elements(context.arena, &a[1])?.into_iter().flatten().collect();
    delete_keys(context, &a[0], &keys)
}

/// What happens at the end of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Change {
    /// The value goes.
    Delete,
    /// Another value takes its place.
    Replace,
    /// The same; where there is none, it is added.
    Create,
    /// A value is put in front of it.
    InsertBefore,
    /// A value is put behind it.
    InsertAfter,
    /// As [`Change::Create`], with all containers and elements that are missing on the way: a subscripted assignment.
    Assign,
}

impl Change {
    fn adds(self) -> bool {
        !matches!(self, Change::Delete | Change::Replace)
    }

    fn inserts(self) -> bool {
        matches!(self, Change::InsertBefore | Change::InsertAfter)
    }
}

fn at_path<'a>(
    context: &CallContext<'a>,
    whole: &Datum<'a>,
    path: &Datum<'a>,
    value: Option<Node<'a>>,
    change: Change,
) -> Result<Datum<'a>> {
    if path.array().dimension_count() > 1 {
        return Err(wrong_subscripts());
    }
    let root = view(whole);
    if root.is_scalar() {
        return Err(invalid(match change {
            Change::Delete => "cannot delete path in scalar",
            _ => "cannot set path in scalar",
        }));
    }
    let elements = path::elements(context.arena, path)?;
    let empty = match root.shape() {
        Shape::Array(array) => array.is_empty(),
        Shape::Object(object) => object.is_empty(),
        _ => false,
    };
    if elements.is_empty() || empty && !change.adds() {
        return Ok(*whole);
    }
    let way = PathChange { arena: context.arena, path: &elements, value, change };
    way.changed(&root, 0)?.store(context.arena)
}

/// `target[path] = value` (`jsonb_subscript_assign`); a target that is NULL is an empty container.
///
/// # Errors
/// 22023, 22P02.
pub(crate) fn assign<'a>(
    context: &CallContext<'a>,
    target: &Datum<'a>,
    path: &[Option<&'a str>],
    value: &Datum<'a>,
) -> Result<Datum<'a>> {
    let arena = context.arena;
    let value = Node::Stored(view(value));
    let way = PathChange { arena, path, value: Some(value), change: Change::Assign };
    match target {
        Datum::Null => way.missing(0, value)?.store(arena),
        target => way.changed(&view(target), 0)?.store(arena),
    }
}

struct PathChange<'p, 'a> {
    arena: &'a Bump,
    path: &'p [Option<&'a str>],
    value: Option<Node<'a>>,
    change: Change,
}

impl<'a> PathChange<'_, 'a> {
    fn is_last(&self, level: usize) -> bool {
        level + 1 == self.path.len()
    }

    /// The value with the change in it; `level` elements of the path are behind us.
    fn changed(&self, view: &View<'a>, level: usize) -> Result<Node<'a>> {
        let Some(part) = self.path.get(level) else { return Ok(Node::Stored(*view)) };
        let Some(part) = *part else {
            return Err(SqlError::new(
                SqlState::NULL_VALUE_NOT_ALLOWED,
                format!("path element at position {} is null", level + 1),
            ));
        };
        match view.shape() {
            Shape::Object(object) => deeper(|| self.in_object(&object, part, level)),
            Shape::Array(array) => deeper(|| self.in_array(&array, part, level)),
            _ if self.change == Change::Assign => Err(invalid("cannot replace existing key")
                .detail("The path assumes key is a composite object, but it is a scalar value.")),
            _ => Ok(Node::Stored(*view)),
        }
    }

    fn in_object(&self, object: &Object<'a>, part: &'a str, level: usize) -> Result<Node<'a>> {
        let mut members = ArenaVec::with_capacity_in(object.len() + 1, self.arena);
        let mut found = false;
        for (key, value) in object.iter() {
            if key != part {
                members.push((key, Node::Stored(value)));
                continue;
            }
            found = true;
            if !self.is_last(level) {
                members.push((key, self.changed(&value, level + 1)?));
            } else if self.change.inserts() {
                return Err(invalid("cannot replace existing key")
                    .hint("Try using the function jsonb_set to replace key value."));
            } else if let Some(value) = self.value {
                members.push((key, value));
            }
        }
        if !found && let Some(value) = self.value {
            if self.is_last(level) && self.change.adds() {
                members.push((part, value));
            } else if self.change == Change::Assign {
                members.push((part, self.missing(level + 1, value)?));
            }
        }
        Ok(Node::object(members))
    }

    fn in_array(&self, array: &Array<'a>, part: &str, level: usize) -> Result<Node<'a>> {
        let index = path::integer(part).ok_or_else(|| {
            SqlError::new(
                SqlState::INVALID_TEXT_REPRESENTATION,
                format!("path element at position {} is not an integer: \"{part}\"", level + 1),
            )
        })?;
        let length = array.len() as i64;
        let assigns = self.change == Change::Assign;
        let mut index = i64::from(index);
        // In front of the first element.
        let mut in_front = false;
        if index < 0 {
            if -index > length {
                if assigns {
                    return Err(invalid(format!(
                        "path element at position {} is out of range: {index}",
                        level + 1
                    )));
                }
                in_front = true;
            } else {
                index += length;
            }
        } else if !assigns {
            index = index.min(length);
        }
        let (last, adds) = (self.is_last(level), self.change.adds());
        let mut elements = ArenaVec::with_capacity_in(array.len() + 1, self.arena);
        let null = Node::Stored(View::NULL);
        let mut done = false;
        if let Some(value) = self.value
            && (in_front || length == 0)
            && last
            && adds
        {
            if assigns && index > 0 {
                elements.extend(std::iter::repeat_n(null, index as usize));
            }
            elements.push(value);
            done = true;
        }
        for (at, element) in (0..).zip(array.iter()) {
            if in_front || at != index {
                elements.push(Node::Stored(element));
                continue;
            }
            done = true;
            if !last {
                elements.push(self.changed(&element, level + 1)?);
                continue;
            }
            let (old, new) = (Node::Stored(element), self.value);
            match self.change {
                Change::InsertBefore => elements.extend(new.into_iter().chain([old])),
                Change::InsertAfter => elements.extend([old].into_iter().chain(new)),
                _ => elements.extend(new),
            }
        }
        if !done && let Some(value) = self.value {
            let gap = usize::try_from(index - length).unwrap_or(0);
            if last && adds {
                if assigns {
                    elements.extend(std::iter::repeat_n(null, gap));
                }
                elements.push(value);
            } else if assigns && !last {
                elements.extend(std::iter::repeat_n(null, gap));
                elements.push(self.missing(level + 1, value)?);
            }
        }
        Ok(Node::Array(elements.into_bump_slice()))
    }

    /// The containers that the rest of the path asks for, around a value (`push_path`).
    fn missing(&self, level: usize, value: Node<'a>) -> Result<Node<'a>> {
        let mut made = value;
        for (at, part) in self.path.iter().enumerate().skip(level).rev() {
            let Some(part) = *part else {
                return Err(SqlError::new(
                    SqlState::NULL_VALUE_NOT_ALLOWED,
                    format!("path element at position {} is null", at + 1),
                ));
            };
            made = match path::integer(part) {
                None => Node::object(ArenaVec::from_iter_in([(part, made)], self.arena)),
                Some(index) => {
                    let before = usize::try_from(index).unwrap_or(0);
                    let nulls = std::iter::repeat_n(Node::Stored(View::NULL), before);
                    let all = ArenaVec::from_iter_in(nulls.chain([made]), self.arena);
                    Node::Array(all.into_bump_slice())
                }
            };
        }
        Ok(made)
    }
}

fn set<'a>(context: &CallContext<'a>, a: &[Datum<'a>]) -> Result<Datum<'a>> {
    let change = if a[3].bool() { Change::Create } else { Change::Replace };
    at_path(context, &a[0], &a[1], Some(Node::Stored(view(&a[2]))), change)
}

fn insert<'a>(context: &CallContext<'a>, a: &[Datum<'a>]) -> Result<Datum<'a>> {
    let change = if a[3].bool() { Change::InsertAfter } else { Change::InsertBefore };
    at_path(context, &a[0], &a[1], Some(Node::Stored(view(&a[2]))), change)
}

fn set_lax<'a>(context: &CallContext<'a>, a: &[Datum<'a>]) -> Result<Datum<'a>> {
    if a[0].is_null() || a[1].is_null() || a[3].is_null() {
        return Ok(Datum::Null);
    }
    let invalid_treatment = || {
        invalid(
            "null_value_treatment must be \"delete_key\", \"return_target\", \"use_json_null\", or \"raise_exception\"",
        )
    };
    if a[4].is_null() {
        return Err(invalid_treatment());
    }
    if !a[2].is_null() {
        return set(context, a);
    }
    match a[4].text() {
        "raise_exception" => Err(SqlError::new(
            SqlState::NULL_VALUE_NOT_ALLOWED,
            "JSON value must not be null",
        )
        .detail("Exception was raised because null_value_treatment is \"raise_exception\".")
        .hint(
            "To avoid, either change the null_value_treatment argument or ensure that an SQL NULL is not passed.",
        )),
        "use_json_null" => {
            let change = if a[3].bool() { Change::Create } else { Change::Replace };
            at_path(context, &a[0], &a[1], Some(Node::Stored(View::NULL)), change)
        }
        "delete_key" => at_path(context, &a[0], &a[1], None, Change::Delete),
        "return_target" => Ok(a[0]),
        _ => Err(invalid_treatment()),
    }
}

/// The value without the members of objects that are null.
fn without_nulls<'a>(arena: &'a Bump, view: &View<'a>) -> Node<'a> {
    match view.shape() {
        Shape::Array(array) => {
            let elements = array.iter().map(|element| deeper(|| without_nulls(arena, &element)));
            Node::Array(ArenaVec::from_iter_in(elements, arena).into_bump_slice())
        }
        Shape::Object(object) => {
            let kept = object.iter().filter(|(_, value)| !matches!(value.shape(), Shape::Null));
            let kept = kept.map(|(key, value)| (key, deeper(|| without_nulls(arena, &value))));
            Node::object(ArenaVec::from_iter_in(kept, arena))
        }
        _ => Node::Stored(*view),
    }
}

fn json_without_nulls<'a>(context: &CallContext<'a>, a: &[Datum<'a>]) -> Result<Datum<'a>> {
    fn write(item: &Item<'_>, out: &mut Vec<u8>) {
        match item.kind {
            document::Kind::Array(elements) => {
                out.push(b'[');
                for (i, element) in elements.iter().enumerate() {
                    if i > 0 {
                        out.push(b',');
                    }
                    deeper(|| write(element, out));
                }
                out.push(b']');
            }
            document::Kind::Object(members) => {
                out.push(b'{');
                let kept =
                    members.iter().filter(|(_, item)| !matches!(item.kind, document::Kind::Null));
                for (i, (key, item)) in kept.enumerate() {
                    if i > 0 {
                        out.push(b',');
                    }
                    escape(key, out);
                    out.push(b':');
                    deeper(|| write(item, out));
                }
                out.push(b'}');
            }
            document::Kind::String(text) => escape(text, out),
            _ => out.extend_from_slice(item.text.as_bytes()),
        }
    }
    let mut out = Vec::new();
    write(&document::parse(context.arena, a[0].text())?, &mut out);
    Ok(Datum::Text(arena_text(context, &out)))
}
