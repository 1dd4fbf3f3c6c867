//! `pg_operator` and `pg_cast`: operators by OID and by name, casts by source and target.

use super::copy_text::walk;
use std::sync::LazyLock;

/// A row of `pg_operator`.
#[derive(Clone, Copy, Debug)]
pub struct Operator {
    /// `oid`.
    pub oid: u32,
    /// `oprname`.
    pub name: &'static str,
    /// `oprkind` is `l`: it stands in front of its one operand, and `left` is 0.
    pub prefix: bool,
    /// `oprcanmerge`.
    pub can_merge: bool,
    /// `oprcanhash`.
    pub can_hash: bool,
    /// `oprleft`.
    pub left: u32,
    /// `oprright`.
    pub right: u32,
    /// `oprresult`.
    pub result: u32,
    /// `oprcom`: the same with its operands exchanged, 0 if none.
    pub commutator: u32,
    /// `oprnegate`: its negation, 0 if none.
    pub negator: u32,
    /// `oprcode`: the function, by `pg_proc` OID.
    pub function: u32,
}

static OPERATORS: LazyLock<Box<[Operator]>> = LazyLock::new(|| {
    walk("pg_operator")
        .map(|mut row| {
            let (oid, name) = (row.number(), row.text());
            row.skip(2);
            let prefix = row.letter() == 'l';
            let (can_merge, can_hash) = (row.flag(), row.flag());
            let (left, right, result) = (row.number(), row.number(), row.number());
            let (commutator, negator, function) = (row.number(), row.number(), row.number());
            Operator {
                oid,
                name,
                prefix,
                can_merge,
                can_hash,
                left,
                right,
                result,
                commutator,
                negator,
                function,
            }
        })
        .collect()
});

static BY_NAME: LazyLock<Box<[&'static Operator]>> = LazyLock::new(|| {
    let mut all: Box<[&'static Operator]> = operators().iter().collect();
    all.sort_by_key(|operator| (operator.name, operator.prefix, operator.oid));
    all
});

/// All operators, by OID.
#[must_use]
pub fn operators() -> &'static [Operator] {
    &OPERATORS
}

/// The operator with this OID.
#[must_use]
pub fn operator(oid: u32) -> Option<&'static Operator> {
    let all = operators();
    all.binary_search_by_key(&oid, |operator| operator.oid).ok().map(|i| &all[i])
}

/// The candidates for an operator of this name: prefix operators, or binary ones.
#[must_use]
pub fn operators_named(name: &str, prefix: bool) -> &'static [&'static Operator] {
    let all = &**BY_NAME;
    let start = all.partition_point(|operator| (operator.name, operator.prefix) < (name, prefix));
    let count =
        all[start..].partition_point(|operator| (operator.name, operator.prefix) == (name, prefix));
    &all[start..start + count]
}

/// A row of `pg_cast`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cast {
    /// `oid`.
    pub oid: u32,
    /// `castsource`.
    pub source: u32,
    /// `casttarget`.
    pub target: u32,
    /// `castfunc`: its `pg_proc` OID, 0 if it needs none.
    pub function: u32,
    /// `castcontext`.
    pub context: CastContext,
    /// `castmethod`.
    pub method: CastMethod,
}

/// `castcontext`: from the least to the most that the user has said.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum CastContext {
    /// i: anywhere.
    Implicit,
    /// a: in an assignment to a column.
    Assignment,
    /// e: where CAST says so.
    Explicit,
}

/// `castmethod`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CastMethod {
    /// f: by the function.
    Function,
    /// i: through the text form.
    InOut,
    /// b: the values are held alike.
    Binary,
}

static CASTS: LazyLock<Box<[Cast]>> = LazyLock::new(|| {
    let mut all: Box<[Cast]> = walk("pg_cast")
        .map(|mut row| Cast {
            oid: row.number(),
            source: row.number(),
            target: row.number(),
            function: row.number(),
            context: match row.letter() {
                'i' => CastContext::Implicit,
                'a' => CastContext::Assignment,
                _ => CastContext::Explicit,
            },
            method: match row.letter() {
                'b' => CastMethod::Binary,
                'i' => CastMethod::InOut,
                _ => CastMethod::Function,
            },
        })
        .collect();
    all.sort_by_key(|cast| (cast.source, cast.target));
    all
});

/// All casts, by source and target.
#[must_use]
pub fn casts() -> &'static [Cast] {
    &CASTS
}

/// The cast from one type to another. A type has one to itself where a length is applied (varchar, numeric).
#[must_use]
pub fn cast(source: u32, target: u32) -> Option<&'static Cast> {
    let all = casts();
    all.binary_search_by_key(&(source, target), |cast| (cast.source, cast.target))
        .ok()
        .map(|i| &all[i])
}

/// All casts from a type.
#[must_use]
pub fn casts_from(source: u32) -> &'static [Cast] {
    let all = casts();
    let start = all.partition_point(|cast| cast.source < source);
    let count = all[start..].partition_point(|cast| cast.source == source);
    &all[start..start + count]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_operators_are_found() {
        let equal = operators_named("=", false);
        assert!(equal.len() > 50 && equal.iter().all(|o| o.name == "=" && !o.prefix));
        let int4 = equal.iter().find(|o| (o.left, o.right) == (23, 23)).expect("int4 = int4");
        assert_eq!((int4.oid, int4.function, int4.negator, int4.can_hash), (96, 65, 518, true));
        assert!(operators_named("-", true).iter().any(|o| o.right == 23 && o.left == 0));
        assert!(operators_named("===", false).is_empty());
        assert_eq!(operator(96).map(|o| o.name), Some("="));
    }

    #[test]
    fn known_casts_are_found() {
        let widen = cast(23, 20).expect("int4 to int8");
        assert_eq!((widen.function, widen.context), (481, CastContext::Implicit));
        assert_eq!(cast(1043, 25).expect("varchar to text").method, CastMethod::Binary);
        assert_eq!(cast(20, 23).expect("int8 to int4").context, CastContext::Assignment);
        assert!(cast(16, 1082).is_none());
        assert!(casts_from(23).iter().all(|cast| cast.source == 23));
    }
}
