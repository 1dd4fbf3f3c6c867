//! `pg_opclass`: the operator classes of the B-tree access method, by name and by OID.

use super::copy_text::walk;
use super::made::{is_domain, stand_in};
use super::operators::{CastContext, CastMethod, casts_from};
use super::orderings::{BTREE, ordering};
use std::sync::LazyLock;

/// The families of `text_ops`, `bpchar_ops` and `citext_ops`, each with that of its `pattern_ops`, which compares by bytes: so does every
/// collation there is.
const BY_BYTES: [(u32, u32); 3] = [(1994, 2095), (426, 2097), (14_183, 14_185)];

/// A row of `pg_opclass`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OperatorClass {
    /// `oid`.
    pub oid: u32,
    /// `opcname`.
    pub name: &'static str,
    /// `opcfamily`.
    pub family: u32,
    /// `opcintype`.
    pub input: u32,
}

static CLASSES: LazyLock<Box<[OperatorClass]>> = LazyLock::new(|| {
    let rows = walk("pg_opclass").filter_map(|mut row| {
        let (oid, method, name): (u32, u32, _) = (row.number(), row.number(), row.text());
        row.skip(2);
        let (family, input) = (row.number(), row.number());
        (method == BTREE).then_some(OperatorClass { oid, name, family, input })
    });
    rows.collect()
});

/// The operator class of this name.
#[must_use]
pub fn operator_class_named(name: &str) -> Option<&'static OperatorClass> {
    CLASSES.iter().find(|class| class.name == name)
}

/// The operator class with this OID.
#[must_use]
pub fn operator_class(oid: u32) -> Option<&'static OperatorClass> {
    CLASSES.iter().find(|class| class.oid == oid)
}

impl OperatorClass {
    /// Whether it takes values of a type as they are (`IsBinaryCoercible`).
    #[must_use]
    pub fn accepts(&self, ty: u32) -> bool {
        let held = if is_domain(ty) { stand_in(ty) } else { ty };
        let like = |cast: &super::Cast| {
            cast.target == self.input
                && cast.method == CastMethod::Binary
                && cast.context == CastContext::Implicit
        };
        held == self.input
            || ordering(ty).is_some_and(|default| default.input == self.input)
            || casts_from(held).iter().any(like)
    }

    /// Whether it is of the same family for the same type as another one.
    #[must_use]
    pub fn is_alike(&self, other: &OperatorClass) -> bool {
        (self.family, self.input) == (other.family, other.input)
    }

    /// Whether it orders the values of a type as its default class does.
    #[must_use]
    pub fn orders_alike(&self, ty: u32) -> bool {
        ordering(ty).is_some_and(|default| {
            default.family == self.family || BY_BYTES.contains(&(default.family, self.family))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_take_what_is_held_alike() {
        let named = |name| operator_class_named(name).expect("it is there");
        let (text, varchar, bpchar, int4) = (25, 1043, 1042, 23);
        assert!(named("text_pattern_ops").accepts(varchar));
        assert!(named("text_pattern_ops").orders_alike(varchar));
        assert!(!named("text_pattern_ops").accepts(bpchar));
        assert!(!named("int4_ops").accepts(text));
        assert!(named("array_ops").accepts(1007));
        // Blanks at the end, and signs.
        assert!(named("bpchar_ops").accepts(text) && !named("bpchar_ops").orders_alike(text));
        assert!(named("oid_ops").accepts(int4) && !named("oid_ops").orders_alike(int4));
        assert_eq!(operator_class(4217), operator_class_named("text_pattern_ops"));
        assert_eq!(operator_class_named("gin_trgm_ops"), None);
    }
}
