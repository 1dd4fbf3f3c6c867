//! Functions by OID: what `pg_proc` says of one, and the code that implements it.

use super::scalar::{CallTypes, Callee, Target};
use crate::bind::logical::VARIADIC_ARRAY;
use crate::catalog::builtin;
use crate::catalog::routine::Routine;
use crate::error::{Result, SqlError};
use crate::sqlstate::SqlState;
use crate::tuple::Form;
use crate::types::primitive::Primitive;
use crate::types::{Callable, Comparator, Oid, SqlType, datetime, domain, oids, session_functions};
use std::collections::{HashMap, HashSet};
use std::sync::{Arc, LazyLock};

/// A scalar function, ready to be called with arguments of these types. One without an implementation of its own is asked
/// of the catalog.
///
/// # Errors
/// 42883 for an OID that is no function.
pub fn callee(oid: Oid, arguments: Vec<SqlType>, result: SqlType) -> Result<Callee> {
    let procedure = builtin::function(oid.0).ok_or_else(|| {
        SqlError::new(SqlState::UNDEFINED_FUNCTION, format!("function {oid} does not exist"))
    })?;
    let target = match crate::types::function(oid.0) {
        Some(Callable::Plain(code)) => Target::Plain(code),
        Some(Callable::Typed(code)) => {
            let types = call_types(procedure, arguments, result);
            Target::Typed(code, Arc::new(types))
        }
        Some(Callable::Set(_)) => {
            return Err(SqlError::new(
                SqlState::FEATURE_NOT_SUPPORTED,
                "set-valued function called in context that cannot accept a set",
            ));
        }
        None if session_functions::answers(oid.0) => Target::Catalog,
        None => {
            return Err(SqlError::unsupported(format!("the function {} is", procedure.name)));
        }
    };
    Ok(Callee {
        oid: oid.0,
        target,
        strict: procedure.strict,
        volatile: procedure.volatility == builtin::Volatility::Volatile,
        immutable: procedure.volatility == builtin::Volatility::Immutable,
        primitive: Primitive::of(oid.0),
    })
}

/// A routine that a user made, ready to be called.
#[must_use]
pub fn routine_callee(routine: &Arc<Routine>, arguments: Vec<SqlType>, result: SqlType) -> Callee {
    if let Some(code) = routine.code()
        && let Ok(called) = callee(Oid(code), arguments.clone(), result)
    {
        // What the server runs is its own function; what is promised of it is what its maker says.
        let asked = matches!(called.target, Target::Catalog);
        return Callee {
            oid: if asked { called.oid } else { routine.oid.0 },
            strict: routine.strict,
            volatile: routine.volatility == b'v',
            immutable: routine.volatility == b'i',
            ..called
        };
    }
    let types = routine_types(arguments, result);
    Callee {
        oid: routine.oid.0,
        target: Target::Routine(Arc::clone(routine), Arc::new(types)),
        strict: routine.strict,
        volatile: routine.volatility == b'v',
        immutable: routine.volatility == b'i',
        primitive: None,
    }
}

/// The types of a routine's call.
#[must_use]
pub fn routine_types(arguments: Vec<SqlType>, result: SqlType) -> CallTypes {
    CallTypes { arguments, result, columns: Vec::new(), variadic_spread: false }
}

/// The types of a call. VARIADIC "any" takes its last arguments one by one.
#[must_use]
pub fn call_types(
    procedure: &builtin::ProcedureOf<'_>,
    arguments: Vec<SqlType>,
    result: SqlType,
) -> CallTypes {
    /// "any".
    const ANY: u32 = 2276;
    let array = arguments.last().is_some_and(|last| last.typmod == VARIADIC_ARRAY);
    let variadic_spread = procedure.variadic == ANY && !array;
    CallTypes { arguments, result, columns: Vec::new(), variadic_spread }
}

/// What holds a value against a domain.
#[must_use]
pub fn domain_check(value: SqlType, domain: SqlType) -> Callee {
    let types = CallTypes {
        arguments: vec![value],
        result: domain,
        columns: Vec::new(),
        variadic_spread: false,
    };
    Callee {
        oid: domain::DOMAIN_IN,
        target: Target::Typed(domain::checked, Arc::new(types)),
        strict: false,
        volatile: false,
        immutable: false,
        primitive: None,
    }
}

/// A comparison of two values of these types.
///
/// # Errors
/// As [`callee`].
pub fn predicate(oid: Oid, left: SqlType, right: SqlType) -> Result<Callee> {
    callee(oid, vec![left, right], SqlType::plain(16))
}

/// The default B-tree order of a type.
///
/// # Errors
/// 42883 for a type without one.
pub fn comparator(ty: Oid, descending: bool, nulls_first: bool) -> Result<Comparator> {
    if builtin::ordering(ty.0).is_none() && builtin::type_by_oid(ty.0).is_some() {
        let name = builtin::type_by_oid(ty.0).map_or("this type", |ty| ty.name);
        return Err(SqlError::new(
            SqlState::UNDEFINED_FUNCTION,
            format!("could not identify an ordering operator for type {name}"),
        )
        .hint("Use an explicit ordering operator or modify the query."));
    }
    Ok(Comparator { ty: ty.0, descending, nulls_first })
}

/// `=`, `<`, `<=`, `>` or `>=`, as a key is compared with a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Comparison {
    /// `=`
    Equal,
    /// `<`
    Less,
    /// `<=`
    LessEqual,
    /// `>`
    Greater,
    /// `>=`
    GreaterEqual,
}

impl Comparison {
    /// The same with its operands exchanged.
    #[must_use]
    pub fn swapped(self) -> Comparison {
        match self {
            Comparison::Equal => Comparison::Equal,
            Comparison::Less => Comparison::Greater,
            Comparison::LessEqual => Comparison::GreaterEqual,
            Comparison::Greater => Comparison::Less,
            Comparison::GreaterEqual => Comparison::LessEqual,
        }
    }
}

/// The comparisons of the default B-tree orders, by function.
static COMPARISONS: LazyLock<HashMap<u32, (Comparison, Oid, Oid)>> = LazyLock::new(|| {
    let mut all = HashMap::new();
    for operator in builtin::operators() {
        let kind = match operator.name {
            "=" => Comparison::Equal,
            "<" => Comparison::Less,
            "<=" => Comparison::LessEqual,
            ">" => Comparison::Greater,
            ">=" => Comparison::GreaterEqual,
            _ => continue,
        };
        let family = |ty| builtin::ordering(ty).map(|ordering| ordering.family);
        if family(operator.left).is_some() && family(operator.left) == family(operator.right) {
            all.insert(operator.function, (kind, Oid(operator.left), Oid(operator.right)));
        }
    }
    all
});

/// What a function of two arguments compares, if it is a comparison of the default B-tree order: which one, and the
/// types of its arguments.
#[must_use]
pub fn comparison(function: u32) -> Option<(Comparison, Oid, Oid)> {
    COMPARISONS.get(&function).copied()
}

/// The types of the two sides of an `=`, where a hash table can find the one by the other.
#[must_use]
pub fn hashed_types(function: u32) -> Option<(Oid, Oid)> {
    let (Comparison::Equal, a, b) = comparison(function)? else { return None };
    hashable(Form::of(a), Form::of(b)).then_some((a, b))
}

/// What makes of a value of one type that of another which it is equal to, or one that equals none: a day or a local time as a
/// moment. It is shown as the value.
#[must_use]
pub fn equal_moment(from: Oid, to: Oid) -> Option<Callee> {
    let target = Target::Plain(datetime::functions::equal_moment(from.0, to.0)?);
    let immutable = to.0 == oids::TIMESTAMP;
    Some(Callee { oid: 0, target, strict: true, volatile: false, immutable, primitive: None })
}

/// Whether equal values of the two forms have equal hash keys.
fn hashable(a: Form, b: Form) -> bool {
    let integer = |form| matches!(form, Form::Int2 | Form::Int4 | Form::Int8);
    let float = |form| matches!(form, Form::Float4 | Form::Float8);
    integer(a) && integer(b)
        || float(a) && float(b)
        || a == b && !matches!(a, Form::Array | Form::Record | Form::Jsonb)
}

/// By the function of an operator, the operator that is true where it is false.
static NEGATORS: LazyLock<HashMap<u32, &'static builtin::Operator>> = LazyLock::new(|| {
    let by_oid: HashMap<u32, &builtin::Operator> =
        builtin::operators().iter().map(|operator| (operator.oid, operator)).collect();
    let mut all = HashMap::new();
    // Where a function is that of several operators, the first counts.
    for operator in builtin::operators().iter().rev().filter(|operator| !operator.prefix) {
        match by_oid.get(&operator.negator) {
            Some(negator) => all.insert(operator.function, *negator),
            None => all.remove(&operator.function),
        };
    }
    all
});

/// The operator that is true where that of a function is false.
#[must_use]
pub fn negator(function: u32) -> Option<&'static builtin::Operator> {
    NEGATORS.get(&function).copied()
}

/// The functions behind `<>`.
static NOT_EQUAL: LazyLock<HashSet<u32>> = LazyLock::new(|| {
    builtin::operators_named("<>", false).iter().map(|operator| operator.function).collect()
});

/// Whether a function is that of a `<>`.
#[must_use]
pub fn is_not_equal(function: u32) -> bool {
    NOT_EQUAL.contains(&function)
}

/// Whether a value of one type, compared by `=` with a key of the other, can be made a part of that key by its form
/// alone (the integers among themselves; else the forms are the same).
#[must_use]
pub fn key_compatible(key: Oid, value: Oid) -> bool {
    let (key, value) = (Form::of(key), Form::of(value));
    let integer = |form| matches!(form, Form::Int2 | Form::Int4 | Form::Int8);
    key == value || integer(key) && integer(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comparisons_are_known_by_their_functions() {
        let by_name = |name, left, right| {
            let operator = builtin::operators_named(name, false)
                .iter()
                .find(|operator| operator.left == left && operator.right == right)
                .expect("the operator is built in");
            comparison(operator.function).map(|(kind, ..)| kind)
        };
        assert_eq!(by_name("=", 23, 23), Some(Comparison::Equal));
        assert_eq!(by_name("<", 20, 23), Some(Comparison::Less));
        assert_eq!(by_name(">=", 25, 25), Some(Comparison::GreaterEqual));
        assert_eq!(by_name("<=", 1700, 1700), Some(Comparison::LessEqual));
        assert_eq!(by_name("=", 19, 19), Some(Comparison::Equal));
        assert_eq!(by_name("+", 23, 23), None);
    }
}
