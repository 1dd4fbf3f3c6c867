//! `pg_type`: every type that a new database has, by OID and by name.

use super::copy_text::walk;
use super::made::{array_of_made, element_of_made, is_made, stand_in};
use crate::oids;
use std::sync::LazyLock;

/// A row of `pg_type`.
#[derive(Clone, Copy, Debug)]
pub struct Type {
    /// `oid`.
    pub oid: u32,
    /// `typname`.
    pub name: &'static str,
    /// `typnamespace`; 0 where it is in a schema that an extension was created in.
    pub namespace: u32,
    /// `typlen`: bytes, -1 for varlena, -2 for a C string.
    pub length: i16,
    /// `typbyval`.
    pub by_value: bool,
    /// `typtype`.
    pub kind: TypeKind,
    /// `typcategory`.
    pub category: char,
    /// `typispreferred`.
    pub preferred: bool,
    /// `typdelim`.
    pub delimiter: u8,
    /// `typrelid`: the relation whose row type it is, 0 if none.
    pub relation: u32,
    /// `typelem`: what subscripting gives, 0 if it cannot be subscripted. A true array also has `length` -1 and category A.
    pub element: u32,
    /// `typarray`: the array over it, 0 if none.
    pub array: u32,
    /// `typinput`.
    pub input: u32,
    /// `typoutput`.
    pub output: u32,
    /// `typreceive`.
    pub receive: u32,
    /// `typsend`.
    pub send: u32,
    /// `typmodin`, 0 if it takes no modifier.
    pub modifier_in: u32,
    /// `typmodout`.
    pub modifier_out: u32,
    /// `typalign`.
    pub align: char,
    /// `typstorage`.
    pub storage: char,
    /// `typbasetype`: what a domain is over, 0 else.
    pub base: u32,
    /// `typtypmod` of a domain.
    pub base_typmod: i32,
    /// `typcollation`: 0 if it has none.
    pub collation: u32,
}

/// `typtype`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TypeKind {
    /// b
    Base,
    /// c
    Composite,
    /// d
    Domain,
    /// e
    Enum,
    /// p
    Pseudo,
    /// r
    Range,
    /// m
    Multirange,
}

impl TypeKind {
    /// The letter in `typtype`.
    #[must_use]
    pub fn letter(self) -> char {
        match self {
            TypeKind::Base => 'b',
            TypeKind::Composite => 'c',
            TypeKind::Domain => 'd',
            TypeKind::Enum => 'e',
            TypeKind::Pseudo => 'p',
            TypeKind::Range => 'r',
            TypeKind::Multirange => 'm',
        }
    }
}

impl Type {
    /// Whether it is an array in the sense of `anyarray`.
    #[must_use]
    pub fn is_array(&self) -> bool {
        (self.category == 'A' || self.oid == oids::RECORD_ARRAY)
            && self.element != 0
            && self.length == -1
    }
}

struct Tables {
    /// By OID.
    all: Box<[Type]>,
    /// Indexes into `all`, by (name, namespace).
    by_name: Box<[u16]>,
}

static TABLES: LazyLock<Tables> = LazyLock::new(|| {
    let all: Box<[Type]> = walk("pg_type")
        .map(|mut row| {
            let (oid, name, namespace) = (row.number(), row.text(), row.number());
            row.skip(1);
            let (length, by_value) = (row.number(), row.flag());
            let kind = match row.letter() {
                'c' => TypeKind::Composite,
                'd' => TypeKind::Domain,
                'e' => TypeKind::Enum,
                'p' => TypeKind::Pseudo,
                'r' => TypeKind::Range,
                'm' => TypeKind::Multirange,
                _ => TypeKind::Base,
            };
            let (category, preferred) = (row.letter(), row.flag());
            row.skip(1);
            let (delimiter, relation) = (row.letter() as u8, row.number());
            row.skip(1);
            let (element, array) = (row.number(), row.number());
            let (input, output, receive) = (row.number(), row.number(), row.number());
            let (send, modifier_in, modifier_out) = (row.number(), row.number(), row.number());
            row.skip(1);
            let (align, storage) = (row.letter(), row.letter());
            row.skip(1);
            let (base, base_typmod) = (row.number(), row.number());
            row.skip(1);
            let collation = row.number();
            Type {
                oid,
                name,
                namespace,
                length,
                by_value,
                kind,
                category,
                preferred,
                delimiter,
                relation,
                element,
                array,
                input,
                output,
                receive,
                send,
                modifier_in,
                modifier_out,
                align,
                storage,
                base,
                base_typmod,
                collation,
            }
        })
        .collect();
    let mut by_name: Box<[u16]> = (0..all.len() as u16).collect();
    by_name.sort_by_key(|&i| (all[i as usize].name, all[i as usize].namespace));
    Tables { all, by_name }
});

/// All types, by OID.
#[must_use]
pub fn types() -> &'static [Type] {
    &TABLES.all
}

/// The type with this OID.
#[must_use]
pub fn type_by_oid(oid: u32) -> Option<&'static Type> {
    let all = types();
    all.binary_search_by_key(&oid, |ty| ty.oid).ok().map(|i| &all[i])
}

/// The built-in type that values of this type are held as: itself, or what stands in for a domain.
#[must_use]
pub fn held_as(oid: u32) -> Option<&'static Type> {
    type_by_oid(stand_in(oid))
}

/// The collation of a type's values where nothing else is said; 0 where the type has none.
#[must_use]
pub fn collation_of(oid: u32) -> u32 {
    held_as(oid).map_or(0, |ty| ty.collation)
}

/// The type of this name in the schema with this OID: [`super::PG_CATALOG`], or that of `information_schema`. The name is
/// the catalog's (`int4`); SQL's own words (`integer`) are the binder's.
#[must_use]
pub fn type_by_name(namespace: u32, name: &str) -> Option<&'static Type> {
    let tables = &*TABLES;
    let key = |&i: &u16| (tables.all[i as usize].name, tables.all[i as usize].namespace);
    let found = tables.by_name.binary_search_by_key(&(name, namespace), key).ok()?;
    Some(&tables.all[tables.by_name[found] as usize])
}

/// The array type over `element`, 0 if there is none.
#[must_use]
pub fn array_type(element: u32) -> u32 {
    match type_by_oid(element) {
        Some(ty) => ty.array,
        None if is_made(element) && element_of_made(element).is_none() => array_of_made(element),
        None => 0,
    }
}

/// The element type of a true array type or of int2vector and oidvector; none for anything else.
#[must_use]
pub fn element_type(array: u32) -> Option<u32> {
    let Some(ty) = type_by_oid(array) else { return element_of_made(array) };
    // Arrays of rows are a pseudo-type, as rows are.
    let is_array = ty.category == 'A' || array == oids::RECORD_ARRAY;
    (is_array && ty.element != 0).then_some(ty.element)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::builtin::PG_CATALOG;

    #[test]
    fn known_types_are_found() {
        let int4 = type_by_oid(23).expect("int4");
        assert_eq!((int4.name, int4.length, int4.array, int4.category), ("int4", 4, 1007, 'N'));
        assert_eq!(type_by_name(PG_CATALOG, "text").map(|ty| ty.oid), Some(25));
        assert_eq!(type_by_name(PG_CATALOG, "no_such_type").map(|ty| ty.oid), None);
        assert_eq!(element_type(1009), Some(25));
        assert_eq!(element_type(22), Some(21));
        assert_eq!(element_type(25), None);
        assert_eq!(element_type(2287), Some(2249));
        assert!(type_by_oid(1009).expect("text[]").is_array());
    }
}
