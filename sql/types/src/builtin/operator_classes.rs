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

/// The class of any access method by this name.
#[must_use]
pub fn class_of_method(method: u32, name: &str) -> Option<u32> {
    walk("pg_opclass").find_map(|mut row| {
        let (oid, of, own): (u32, u32, _) = (row.number(), row.number(), row.text());
        (of == method && own == name).then_some(oid)
    })
}

/// The family of any access method by this name.
#[must_use]
pub fn family_of_method(method: u32, name: &str) -> Option<u32> {
    walk("pg_opfamily").find_map(|mut row| {
        let (oid, of, own): (u32, u32, _) = (row.number(), row.number(), row.text());
        (of == method && own == name).then_some(oid)
    })
}

/// The name of the class of an access method that is the default of a type.
#[must_use]
pub fn default_class_of(method: u32, input: u32) -> Option<&'static str> {
    walk("pg_opclass").find_map(|mut row| {
        row.skip(1);
        let (of, name): (u32, _) = (row.number(), row.text());
        row.skip(3);
        let (over, default): (u32, bool) = (row.number(), row.flag());
        (of == method && over == input && default).then_some(name)
    })
}

/// In which families of the B-tree access method an operator is, and by which strategy.
#[must_use]
pub fn strategies_of(operator: u32) -> Vec<(u32, u32)> {
    let rows = walk("pg_amop").filter_map(|mut row| {
        row.skip(1);
        let family: u32 = row.number();
        row.skip(2);
        let strategy: u32 = row.number();
        row.skip(1);
        let (own, method): (u32, u32) = (row.number(), row.number());
        (method == BTREE && own == operator).then_some((family, strategy))
    });
    rows.collect()
}

/// The encodings that a conversion's function converts between, each where it is always the same.
#[must_use]
pub fn conversion_of(function: u32) -> Option<(Option<u32>, Option<u32>)> {
    let mut found: Option<(Option<u32>, Option<u32>)> = None;
    for mut row in walk("pg_conversion") {
        row.skip(4);
        let (from, to, own): (u32, u32, u32) = (row.number(), row.number(), row.number());
        if own != function {
            continue;
        }
        found = Some(match found {
            None => (Some(from), Some(to)),
            Some((source, target)) => {
                (source.filter(|known| *known == from), target.filter(|known| *known == to))
            }
        });
    }
    found
}

/// Whether a conversion of this name is built in.
#[must_use]
pub fn is_conversion(name: &str) -> bool {
    walk("pg_conversion").any(|mut row| {
        row.skip(1);
        row.text() == name
    })
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
