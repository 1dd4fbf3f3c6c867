//! The default ordering of a type: its default B-tree operator class, with the operators and functions in it.
//!
//! PostgreSQL: `GetDefaultOpClass` and `lookup_type_cache`. A domain takes its base type's; an exact match wins;
//! else an operator class of a type that it is held alike with and is implicitly cast to (varchar has text's), of
//! `anyarray` for arrays, `record` for rows, and so on.

use super::copy_text::walk;
use super::made::{element_of_made, is_domain, is_enum, is_made, stand_in};
use super::operators::{CastContext, CastMethod, casts_from, operator};
use super::types::{TypeKind, type_by_oid};
use crate::oids;
use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

/// An operator class of the B-tree access method with the operators over one type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ordering {
    /// The `pg_opclass` row.
    pub opclass: u32,
    /// The `pg_opfamily` row.
    pub family: u32,
    /// `opcintype`: the type that the operators below are defined over; another type is relabelled to it.
    pub input: u32,
    /// `<`, `<=`, `=`, `>=`, `>`: their `pg_operator` OIDs.
    pub operators: [u32; 5],
    /// The same operators' functions.
    pub functions: [u32; 5],
    /// The three-way comparison (`amproc` 1).
    pub compare: u32,
}

impl Ordering {
    /// The function of `=`.
    #[must_use]
    pub fn equal(&self) -> u32 {
        self.functions[2]
    }

    /// The function of `<`.
    #[must_use]
    pub fn less(&self) -> u32 {
        self.functions[0]
    }
}

/// The B-tree access method.
pub(super) const BTREE: u32 = 403;

/// By `opcintype`.
static DEFAULTS: LazyLock<HashMap<u32, Ordering>> = LazyLock::new(|| {
    let mut operators: HashMap<(u32, u32), [u32; 5]> = HashMap::new();
    for mut row in walk("pg_amop") {
        row.skip(1);
        let (family, left, right): (u32, u32, u32) = (row.number(), row.number(), row.number());
        let strategy: usize = row.number();
        row.skip(1);
        let (operator, method): (u32, u32) = (row.number(), row.number());
        if method == BTREE && left == right && (1..=5).contains(&strategy) {
            operators.entry((family, left)).or_default()[strategy - 1] = operator;
        }
    }
    let mut compare: HashMap<(u32, u32), u32> = HashMap::new();
    for mut row in walk("pg_amproc") {
        row.skip(1);
        let (family, left, right): (u32, u32, u32) = (row.number(), row.number(), row.number());
        let (number, function): (u32, u32) = (row.number(), row.number());
        if left == right && number == 1 {
            compare.insert((family, left), function);
        }
    }
    let mut out = HashMap::new();
    for mut row in walk("pg_opclass") {
        let (opclass, method): (u32, u32) = (row.number(), row.number());
        row.skip(3);
        let (family, input, default): (u32, u32, bool) = (row.number(), row.number(), row.flag());
        if method != BTREE || !default {
            continue;
        }
        let operators = operators[&(family, input)];
        let function = |oid| operator(oid).map_or(0, |operator| operator.function);
        let functions = operators.map(function);
        let compare = compare[&(family, input)];
        out.insert(input, Ordering { opclass, family, input, operators, functions, compare });
    }
    out
});

/// The families and types of which equal values are the same in every byte.
static EQUAL_IMAGES: LazyLock<HashSet<(u32, u32)>> = LazyLock::new(|| {
    /// `BTEQUALIMAGE_PROC`.
    const EQUAL_IMAGE: u32 = 4;
    /// Of `bpchar_ops`, whose function says no: blanks at the end do not count.
    const BPCHAR: u32 = 426;
    let mut found = HashSet::new();
    for mut row in walk("pg_amproc") {
        row.skip(1);
        let (family, left, right): (u32, u32, u32) = (row.number(), row.number(), row.number());
        if left == right && family != BPCHAR && row.number::<u32>() == EQUAL_IMAGE {
            found.insert((family, left));
        }
    }
    found
});

/// Whether values of a type that are equal by an operator family are the same in every byte.
#[must_use]
pub fn has_equal_images(family: u32, input: u32) -> bool {
    EQUAL_IMAGES.contains(&(family, input))
}

/// Whether it is a type whose values are equal or not, and have no order: only an operator class of hash indexes is over it.
#[must_use]
pub fn is_only_hashed(oid: u32) -> bool {
    matches!(oid, oids::XID | oids::CID | oids::ACLITEM)
}

/// The default ordering of a built-in type; none if it has none (json, xml, point).
#[must_use]
pub fn ordering(oid: u32) -> Option<Ordering> {
    /// `anyarray`, `record`, `anyenum`, `anyrange`, `anymultirange`.
    const ANY: [u32; 5] = [2277, 2249, 3500, 3831, 4537];
    let defaults = &*DEFAULTS;
    if let Some(exact) = defaults.get(&oid) {
        return Some(*exact);
    }
    let Some(ty) = type_by_oid(oid) else {
        if is_domain(oid) {
            return ordering(stand_in(oid));
        }
        let like = match oid {
            _ if element_of_made(oid).is_some() => ANY[0],
            _ if is_enum(oid) => ANY[2],
            _ if is_made(oid) => ANY[1],
            _ => return None,
        };
        return defaults.get(&like).copied();
    };
    match ty.kind {
        TypeKind::Domain => return ordering(ty.base),
        TypeKind::Composite => return defaults.get(&ANY[1]).copied(),
        TypeKind::Enum => return defaults.get(&ANY[2]).copied(),
        TypeKind::Range => return defaults.get(&ANY[3]).copied(),
        TypeKind::Multirange => return defaults.get(&ANY[4]).copied(),
        TypeKind::Base | TypeKind::Pseudo => {}
    }
    if ty.is_array() {
        return defaults.get(&ANY[0]).copied();
    }
    casts_from(oid)
        .iter()
        .filter(|cast| cast.method == CastMethod::Binary && cast.context == CastContext::Implicit)
        .find_map(|cast| defaults.get(&cast.target).copied())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orderings_follow_the_operator_classes() {
        let int4 = ordering(23).expect("int4");
        assert_eq!(int4.operators, [97, 523, 96, 525, 521]);
        assert_eq!((int4.equal(), int4.less(), int4.compare), (65, 66, 351));
        let varchar = ordering(1043).expect("varchar");
        assert_eq!((varchar.input, varchar.equal()), (25, 67));
        assert_eq!(ordering(1007).expect("int4[]").input, 2277);
        assert_eq!(ordering(2205).expect("regclass").input, 26);
        assert_eq!(ordering(114), None, "json has no ordering");
    }

    #[test]
    fn every_ordering_is_complete() {
        for ordering in DEFAULTS.values() {
            assert!(ordering.operators.iter().chain(&ordering.functions).all(|&oid| oid != 0));
        }
    }
}
