//! `pg_type` and `pg_enum`: the types that users made, behind the built-in ones.

use super::objects::{Users, users};
use super::rows::Rows;
use crate::bind;
use crate::catalog::builtin::{self, array_of_made};
use crate::catalog::object::well_known;
use crate::catalog::privilege::kept;
use crate::catalog::relation::Relation;
use crate::catalog::user_type::{Domain, UserType, UserTypeKind};
use crate::error::Result;
use crate::types::{Datum, Oid};
use std::sync::Arc;

fn letter<'a>(letter: char) -> Datum<'a> {
    Datum::Char(letter as u8)
}

/// `pg_type`.
pub(super) fn types(rows: &mut Rows<'_, '_, '_, '_>, relation: &Relation) -> Result<()> {
    rows.builtin(relation)?;
    if rows.oid_key(0).is_some_and(|oid| oid.0 < well_known::FIRST_NORMAL) {
        return Ok(());
    }
    let (with_rows, made) = keyed(rows);
    for relation in with_rows {
        if rows.pauses(relation.oid) {
            return Ok(());
        }
        if relation.row_type.1 == Oid(0) {
            continue;
        }
        let own = Own {
            name: &relation.name,
            schema: relation.schema.0,
            owner: relation.owner,
            oid: relation.row_type.0,
            relation: relation.oid,
            kind: Kind::Row,
        };
        own.rows(rows)?;
    }
    for found in made {
        let own = Own {
            name: &found.name,
            schema: found.schema,
            owner: found.owner,
            oid: found.oid,
            relation: if found.attributes().is_some() { found.oid } else { Oid(0) },
            kind: match &found.kind {
                UserTypeKind::Enum(_) => Kind::Enum,
                UserTypeKind::Composite(_) => Kind::Row,
                UserTypeKind::Domain(domain) => Kind::Domain(domain),
            },
        };
        own.rows(rows)?;
        if rows.done() {
            break;
        }
    }
    Ok(())
}

/// The relations with rows and the types among which are those that the keys ask for.
fn keyed<'s>(rows: &Rows<'s, '_, '_, '_>) -> (Users<'s>, Vec<&'s Arc<UserType>>) {
    let snapshot = rows.system.snapshot;
    let element = |ty: Oid| builtin::element_of_made(ty.0).map_or(ty, Oid);
    let key = rows.oid_key(0).or_else(|| rows.oid_key(14)).map(element);
    let Some(ty) = key.or_else(|| rows.oid_key(13)).filter(|ty| *ty != Oid(0)) else {
        return match rows.oid_key(11).filter(|relation| *relation != Oid(0)) {
            // A composite type is its own relation.
            Some(relation) => {
                (users(rows, Some(relation)), snapshot.user_type(relation).into_iter().collect())
            }
            None => (users(rows, None), snapshot.types().collect()),
        };
    };
    let relation = snapshot.row_type(ty).filter(|one| one.oid.0 >= well_known::FIRST_NORMAL);
    (Box::new(relation.into_iter()), snapshot.user_type(ty).into_iter().collect())
}

/// A type that users made, and the type of arrays over it.
struct Own<'n> {
    name: &'n str,
    schema: Oid,
    owner: Oid,
    oid: Oid,
    relation: Oid,
    kind: Kind<'n>,
}

/// What it is.
enum Kind<'n> {
    Enum,
    Row,
    Domain(&'n Domain),
}

impl Own<'_> {
    fn rows(&self, rows: &mut Rows<'_, '_, '_, '_>) -> Result<()> {
        for array in [false, true] {
            if self.may_have_keys(rows, array) {
                self.row(rows, array)?;
            }
        }
        Ok(())
    }

    /// Whether its row, or that of arrays over it, may be one that a key asks for.
    fn may_have_keys(&self, rows: &Rows<'_, '_, '_, '_>, array: bool) -> bool {
        let of_arrays = Oid(array_of_made(self.oid.0));
        let (oid, relation, element, arrays) = match array {
            true => (of_arrays, Oid(0), self.oid, Oid(0)),
            false => (self.oid, self.relation, Oid(0), of_arrays),
        };
        [(0, oid), (11, relation), (13, element), (14, arrays)]
            .iter()
            .all(|(column, own)| rows.oid_key(*column).is_none_or(|key| key == *own))
    }

    /// The list that GRANT has left of it.
    fn acl<'a>(&self, rows: &Rows<'_, '_, 'a, '_>) -> Datum<'a> {
        let acl = rows.system.snapshot.acl(self.oid, kept::TYPE);
        acl.map_or(Datum::Null, |acl| rows.acl(Some(acl)))
    }

    /// A domain: what is not its own is its base type's.
    fn domain_row(&self, rows: &mut Rows<'_, '_, '_, '_>, domain: &Domain) -> Result<()> {
        let base = rows.system.snapshot.base_type(domain.base).oid.0;
        let built_in = builtin::type_by_oid(base);
        let is_enum = builtin::is_enum(base);
        // The functions of arrays, enums and rows: pg_proc's OIDs.
        let (output, send) = match built_in {
            Some(found) => (found.output, found.send),
            None if builtin::element_of_made(base).is_some() => (751, 2401),
            None if is_enum => (3507, 3533),
            None => (2291, 2403),
        };
        let category = bind::type_name::category(Oid(base)).0;
        let storage = built_in.map_or(if is_enum { 'p' } else { 'x' }, |found| found.storage);
        let text =
            |made| bind::kept::text(rows.system.snapshot, (None, false), rows.call, None, made);
        let default = domain.default.as_ref().map(text).transpose()?;
        let default = default.as_deref();
        let shown = default.map(|text| rows.call.catalog.shown_expression(rows.call, text));
        let row = [
            Datum::Oid(self.oid.0),
            rows.text(self.name),
            Datum::Oid(self.schema.0),
            Datum::Oid(self.owner.0),
            Datum::Int2(built_in.map_or(if is_enum { 4 } else { -1 }, |found| found.length)),
            Datum::Bool(built_in.map_or(is_enum, |found| found.by_value)),
            letter('d'),
            letter(category),
            Datum::Bool(false),
            Datum::Bool(true),
            letter(built_in.map_or(',', |found| char::from(found.delimiter))),
            Datum::Oid(0),
            Datum::Oid(0),
            Datum::Oid(0),
            Datum::Oid(array_of_made(self.oid.0)),
            // domain_in, domain_recv.
            Datum::Oid(2597),
            Datum::Oid(output),
            Datum::Oid(2598),
            Datum::Oid(send),
            Datum::Oid(0),
            Datum::Oid(0),
            Datum::Oid(0),
            letter(align(rows, domain)),
            letter(storage),
            Datum::Bool(domain.not_null),
            Datum::Oid(domain.base.oid.0),
            Datum::Int4(domain.base.typmod),
            Datum::Int4(i32::try_from(domain.dimensions).unwrap_or(i32::MAX)),
            Datum::Oid(domain.collation.0),
            rows.optional(default),
            rows.optional(shown.as_deref()),
            self.acl(rows),
        ];
        rows.row(&row)
    }

    fn row(&self, rows: &mut Rows<'_, '_, '_, '_>, array: bool) -> Result<()> {
        let name = match array {
            true => rows.system.snapshot.array_name(self.oid, self.name),
            false => Arc::from(self.name),
        };
        if let (Kind::Domain(domain), false) = (&self.kind, array) {
            return self.domain_row(rows, domain);
        }
        let is_enum = matches!(self.kind, Kind::Enum);
        // array_in, enum_in, record_in and their kin: pg_proc's OIDs.
        let functions: [u32; 4] = match (array, is_enum) {
            (true, _) => [750, 751, 2400, 2401],
            (false, true) => [3506, 3507, 3532, 3533],
            (false, false) => [2290, 2291, 2402, 2403],
        };
        let (kind, category) = match (array, is_enum) {
            (true, _) => ('b', 'A'),
            (false, true) => ('e', 'E'),
            (false, false) => ('c', 'C'),
        };
        let plain_enum = is_enum && !array;
        // A domain's own row is made elsewhere: this is that of its arrays.
        let collation = match &self.kind {
            Kind::Domain(domain) => domain.collation.0,
            Kind::Enum | Kind::Row => 0,
        };
        let of_arrays = array_of_made(self.oid.0);
        let row = [
            Datum::Oid(if array { of_arrays } else { self.oid.0 }),
            rows.text(&name),
            Datum::Oid(self.schema.0),
            Datum::Oid(self.owner.0),
            Datum::Int2(if plain_enum { 4 } else { -1 }),
            Datum::Bool(plain_enum),
            letter(kind),
            letter(category),
            Datum::Bool(false),
            Datum::Bool(true),
            letter(','),
            Datum::Oid(if array { 0 } else { self.relation.0 }),
            Datum::Oid(if array { 6179 } else { 0 }),
            Datum::Oid(if array { self.oid.0 } else { 0 }),
            Datum::Oid(if array { 0 } else { of_arrays }),
            Datum::Oid(functions[0]),
            Datum::Oid(functions[1]),
            Datum::Oid(functions[2]),
            Datum::Oid(functions[3]),
            Datum::Oid(0),
            Datum::Oid(0),
            Datum::Oid(if array { 3816 } else { 0 }),
            letter(match &self.kind {
                Kind::Enum => 'i',
                Kind::Row => 'd',
                Kind::Domain(domain) => align(rows, domain),
            }),
            letter(if plain_enum { 'p' } else { 'x' }),
            Datum::Bool(false),
            Datum::Oid(0),
            Datum::Int4(-1),
            Datum::Int4(0),
            Datum::Oid(collation),
            Datum::Null,
            Datum::Null,
            if array { Datum::Null } else { self.acl(rows) },
        ];
        rows.row(&row)
    }
}

/// How the values of a domain would be aligned: as those of its base type.
fn align(rows: &Rows<'_, '_, '_, '_>, domain: &Domain) -> char {
    let of_type = |ty: u32| {
        let made = if builtin::is_enum(ty) { 'i' } else { 'd' };
        builtin::type_by_oid(ty).map_or(made, |found| found.align)
    };
    let base = rows.system.snapshot.base_type(domain.base).oid.0;
    match builtin::element_type(base).filter(|_| builtin::type_by_oid(base).is_none()) {
        // An array is aligned as its elements, to four bytes at least.
        Some(element) if of_type(element) != 'd' => 'i',
        Some(_) => 'd',
        None => of_type(base),
    }
}

/// `pg_enum`.
pub(super) fn labels(rows: &mut Rows<'_, '_, '_, '_>) -> Result<()> {
    let key = rows.oid_key(1);
    for found in rows.system.snapshot.types() {
        if key.is_some_and(|key| key != found.oid) {
            continue;
        }
        for label in found.labels() {
            let row = [
                Datum::Oid(label.oid.0),
                Datum::Oid(found.oid.0),
                Datum::Float4(label.sort_order as f32),
                rows.text(&label.name),
            ];
            rows.row(&row)?;
        }
        if rows.done() {
            break;
        }
    }
    Ok(())
}
