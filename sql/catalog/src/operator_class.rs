//! Operator classes, operator families and conversions that users made: rows of `pg_opclass`, `pg_opfamily` with `pg_amop`
//! and `pg_amproc`, and `pg_conversion`.
//!
//! A member of a family is kept by what it cannot be without: the class, where the access method needs it there (the
//! comparison of a B-tree class), else the family (`amadjustmembers`). What is in a built-in family is kept by its class.

use crate::snapshot::CatalogSnapshot;
use sql_types::Oid;
use sql_types::builtin;
use std::sync::Arc;

/// The B-tree access method.
pub const BTREE: u32 = 403;

/// An operator family.
#[derive(Clone, Debug, PartialEq)]
pub struct OperatorFamily {
    /// Its OID.
    pub oid: Oid,
    /// Its schema.
    pub schema: Oid,
    /// Its name.
    pub name: Arc<str>,
    /// Its owner.
    pub owner: Oid,
    /// Its access method.
    pub method: u32,
    /// Members that need no class.
    pub members: Vec<FamilyMember>,
}

/// An operator class.
#[derive(Clone, Debug, PartialEq)]
pub struct UserOperatorClass {
    /// Its OID.
    pub oid: Oid,
    /// Its schema.
    pub schema: Oid,
    /// Its name.
    pub name: Arc<str>,
    /// Its owner.
    pub owner: Oid,
    /// Its access method.
    pub method: u32,
    /// Its family, built in or made.
    pub family: Oid,
    /// FOR TYPE.
    pub input: Oid,
    /// DEFAULT.
    pub default: bool,
    /// STORAGE; 0 is the type itself.
    pub storage: Oid,
    /// Members that go with it.
    pub members: Vec<FamilyMember>,
}

/// An operator or a function of a family.
#[derive(Clone, Debug, PartialEq)]
pub struct FamilyMember {
    /// Its OID as a row of `pg_amop` or `pg_amproc`.
    pub oid: Oid,
    /// Whether it is a support function.
    pub is_function: bool,
    /// The strategy, or which support function it is.
    pub number: u32,
    /// The types that it is for.
    pub left: Oid,
    /// The same.
    pub right: Oid,
    /// The operator or the function.
    pub object: Oid,
    /// FOR ORDER BY: what its result is sorted by.
    pub sort_family: Oid,
    /// Whether it stays as long as its class does, so that the operator or the function does, too.
    pub hard: bool,
}

/// A conversion between encodings.
#[derive(Clone, Debug, PartialEq)]
pub struct Conversion {
    /// Its OID.
    pub oid: Oid,
    /// Its schema.
    pub schema: Oid,
    /// Its name.
    pub name: Arc<str>,
    /// Its owner.
    pub owner: Oid,
    /// From which encoding, by its number.
    pub source: u32,
    /// To which.
    pub target: u32,
    /// Its function.
    pub function: Oid,
    /// DEFAULT.
    pub default: bool,
}

impl FamilyMember {
    /// Whether it has the place of another one.
    #[must_use]
    pub fn is_beside(&self, other: &FamilyMember) -> bool {
        let place = |one: &FamilyMember| (one.is_function, one.number, one.left, one.right);
        place(self) == place(other)
    }
}

impl CatalogSnapshot {
    /// The members of a family that users made, with the class that keeps each, if one does.
    pub fn family_members(&self, family: Oid) -> Vec<(FamilyMember, Option<Oid>)> {
        let own = self.operator_families().filter(|one| one.oid == family);
        let own = own.flat_map(|one| one.members.iter().map(|member| (member.clone(), None)));
        let classes = self.user_operator_classes().filter(|one| one.family == family);
        let of_classes = classes
            .flat_map(|one| one.members.iter().map(|member| (member.clone(), Some(one.oid))));
        own.chain(of_classes).collect()
    }

    /// The B-tree class that a user has made the default of a type.
    #[must_use]
    pub fn default_user_class(&self, ty: Oid) -> Option<&Arc<UserOperatorClass>> {
        self.user_operator_classes()
            .find(|class| class.method == BTREE && class.default && class.input == ty)
    }

    /// The function of the server that a function is, if it is one of its own or another name of one.
    fn code_of(&self, function: Oid) -> u32 {
        let own = self.routine(function).and_then(|routine| routine.code());
        own.unwrap_or(function.0)
    }

    /// The comparison of a B-tree class.
    #[must_use]
    pub fn class_comparison(&self, class: &UserOperatorClass) -> Option<Oid> {
        let members = self.family_members(class.family);
        let found = members.iter().find(|(one, _)| {
            one.is_function
                && one.number == 1
                && (one.left, one.right) == (class.input, class.input)
        });
        found.map(|(one, _)| one.object)
    }

    /// Whether a B-tree class orders its type as the type is ordered anyway.
    #[must_use]
    pub fn orders_natively(&self, class: &UserOperatorClass) -> bool {
        let native = builtin::ordering(class.input.0).map(|ordering| ordering.compare);
        native.is_some() && self.class_comparison(class).map(|found| self.code_of(found)) == native
    }

    /// Whether values that are equal by a B-tree class are those that are equal anyway: its `=` is the type's own.
    #[must_use]
    pub fn equals_natively(&self, class: &UserOperatorClass) -> bool {
        let Some(ordering) = builtin::ordering(class.input.0) else { return false };
        let members = self.family_members(class.family);
        let equal = members.iter().find(|(one, _)| {
            !one.is_function
                && one.number == 3
                && (one.left, one.right) == (class.input, class.input)
        });
        let function = equal.and_then(|(one, _)| self.operator(one.object)).map(|one| one.function);
        self.orders_natively(class)
            || function.is_some_and(|function| self.code_of(function) == ordering.equal())
    }

    /// A class of an access method by its name, in a schema or along the path.
    #[must_use]
    pub fn user_class_named(
        &self,
        (schema, path): (Option<Oid>, &[Oid]),
        method: u32,
        name: &str,
    ) -> Option<&Arc<UserOperatorClass>> {
        let named = |one: &&Arc<UserOperatorClass>| one.method == method && &*one.name == name;
        let place = |one: &Arc<UserOperatorClass>| match schema {
            Some(schema) => (one.schema == schema).then_some(0),
            None => path.iter().position(|known| *known == one.schema),
        };
        let found = self.user_operator_classes().filter(named);
        found
            .filter_map(|one| Some((place(one)?, one)))
            .min_by_key(|(at, _)| *at)
            .map(|(_, one)| one)
    }

    /// The same of families.
    #[must_use]
    pub fn user_family_named(
        &self,
        (schema, path): (Option<Oid>, &[Oid]),
        method: u32,
        name: &str,
    ) -> Option<&Arc<OperatorFamily>> {
        let named = |one: &&Arc<OperatorFamily>| one.method == method && &*one.name == name;
        let place = |one: &Arc<OperatorFamily>| match schema {
            Some(schema) => (one.schema == schema).then_some(0),
            None => path.iter().position(|known| *known == one.schema),
        };
        let found = self.operator_families().filter(named);
        found
            .filter_map(|one| Some((place(one)?, one)))
            .min_by_key(|(at, _)| *at)
            .map(|(_, one)| one)
    }
}
