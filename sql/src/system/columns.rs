//! `pg_attribute`, `pg_attrdef`, `pg_stats`: columns of users' relations, behind the built-in rows.

use super::objects::{composites, users};
use super::rows::Rows;
use crate::bind::kept;
use crate::catalog::builtin;
use crate::catalog::relation::{Column, Identity, IndexColumn, Properties, Relation, RelationKind};
use crate::catalog::snapshot::CatalogSnapshot;
use crate::catalog::system_column::{SYSTEM_COLUMNS, SystemColumn};
use crate::error::Result;
use crate::types::{Datum, Oid, SqlType};
use std::sync::Arc;

/// What differs between columns in `pg_attribute`.
struct Attribute<'r> {
    relation: Oid,
    name: &'r str,
    ty: SqlType,
    number: i16,
    not_null: bool,
    has_default: bool,
    missing: bool,
    identity: Option<Identity>,
    generated: bool,
    dropped: bool,
    collation: Oid,
    properties: Properties,
}

pub(super) fn attributes(rows: &mut Rows<'_, '_, '_, '_>, relation: &Relation) -> Result<()> {
    rows.builtin(relation)?;
    let key = rows.oid_key(0);
    let table = key.map(|oid| rows.system.snapshot.index(oid).map_or(oid, |found| found.0.oid));
    for relation in users(rows, table) {
        if rows.pauses(relation.oid) {
            return Ok(());
        }
        let oid = relation.oid;
        if key.is_none_or(|key| key == oid) {
            if !matches!(relation.kind, RelationKind::View { .. }) {
                for column in SYSTEM_COLUMNS {
                    attribute(rows, &of_system_column(oid, column))?;
                }
            }
            for (at, column) in relation.columns.iter().enumerate() {
                attribute(rows, &of_column(oid, column, at))?;
            }
        }
        for index in &relation.indexes {
            if key.is_some_and(|key| key != index.oid) {
                continue;
            }
            let keys = index.columns.iter().map(|key| match key.expression() {
                Some(at) => Column::plain(
                    Arc::clone(&index.expressions[at].name),
                    index.expressions[at].ty,
                    relation.key_collation(index, key),
                ),
                None => Column {
                    collation: relation.key_collation(index, key),
                    ..relation.columns[key.column].clone()
                },
            });
            let included = index.include.iter().map(|at| relation.columns[*at].clone());
            let columns: Vec<Column> = keys.chain(included).collect();
            let names = index.column_names(relation);
            for (at, (column, name)) in columns.iter().zip(&names).enumerate() {
                let key = index.columns.get(at).and_then(IndexColumn::expression);
                let expression = key.map(|at| &index.expressions[at]);
                let plain = Attribute {
                    name,
                    not_null: false,
                    has_default: false,
                    missing: false,
                    identity: None,
                    generated: false,
                    dropped: false,
                    properties: Properties {
                        statistics: expression.and_then(|made| made.statistics),
                        options: Vec::new(),
                        ..column.properties.clone()
                    },
                    ..of_column(index.oid, column, at)
                };
                attribute(rows, &plain)?;
            }
        }
    }
    for ty in composites(rows, key) {
        for (at, part) in ty.attributes().unwrap_or_default().iter().enumerate() {
            let plain = Attribute {
                relation: ty.oid,
                name: &part.name,
                ty: part.ty,
                number: at as i16 + 1,
                not_null: false,
                has_default: false,
                missing: false,
                identity: None,
                generated: false,
                dropped: false,
                collation: part.collation,
                properties: Properties { dimensions: part.dimensions, ..Properties::default() },
            };
            attribute(rows, &plain)?;
        }
    }
    Ok(())
}

fn of_system_column(relation: Oid, column: SystemColumn) -> Attribute<'static> {
    Attribute {
        relation,
        name: column.name,
        ty: SqlType::plain(column.ty.0),
        number: column.number,
        not_null: true,
        has_default: false,
        missing: false,
        identity: None,
        generated: false,
        dropped: false,
        collation: Oid(0),
        properties: Properties::default(),
    }
}

fn of_column(relation: Oid, column: &Column, at: usize) -> Attribute<'_> {
    Attribute {
        relation,
        name: &column.name,
        ty: column.ty,
        number: i16::try_from(at + 1).expect("a table has at most 1600 columns"),
        not_null: column.not_null,
        has_default: column.default.is_some() && column.identity.is_none(),
        missing: column.missing.is_some(),
        identity: column.identity,
        generated: column.generated,
        dropped: column.dropped,
        collation: column.collation,
        properties: column.properties.clone(),
    }
}

/// How PostgreSQL would lay out the values of a type.
struct Form {
    length: i16,
    by_value: bool,
    align: char,
    storage: char,
}

fn form_of(rows: &Rows<'_, '_, '_, '_>, ty: SqlType) -> Form {
    let base = rows.system.snapshot.base_type(ty).oid.0;
    if let Some(ty) = builtin::type_by_oid(base) {
        let (length, by_value, align, storage) = (ty.length, ty.by_value, ty.align, ty.storage);
        return Form { length, by_value, align, storage };
    }
    if let Some(element) = builtin::element_of_made(base) {
        let element = form_of(rows, SqlType::plain(element));
        let align = if element.align == 'd' { 'd' } else { 'i' };
        return Form { length: -1, by_value: false, align, storage: 'x' };
    }
    if builtin::is_enum(base) {
        return Form { length: 4, by_value: true, align: 'i', storage: 'p' };
    }
    Form { length: -1, by_value: false, align: 'd', storage: 'x' }
}

fn attribute(rows: &mut Rows<'_, '_, '_, '_>, attribute: &Attribute<'_>) -> Result<()> {
    let letter = |letter: char| Datum::Char(letter as u8);
    let none = Datum::Char(0);
    let form = form_of(rows, attribute.ty);
    let Properties { dimensions, compression, storage, statistics, options } =
        &attribute.properties;
    let statistics = if attribute.dropped { None } else { *statistics };
    let all: Vec<String> = options.iter().map(|(name, value)| format!("{name}={value}")).collect();
    let shown = if all.is_empty() || attribute.dropped { Datum::Null } else { rows.texts(&all) };
    let row = [
        Datum::Oid(attribute.relation.0),
        rows.text(attribute.name),
        Datum::Oid(if attribute.dropped { 0 } else { attribute.ty.oid.0 }),
        Datum::Int4(statistics.unwrap_or(if attribute.number > 0 && !attribute.dropped {
            -1
        } else {
            0
        })),
        Datum::Int2(form.length),
        Datum::Int2(attribute.number),
        Datum::Int4(*dimensions as i32),
        Datum::Int4(-1),
        Datum::Int4(attribute.ty.typmod),
        Datum::Bool(form.by_value),
        letter(form.align),
        letter(storage.unwrap_or(form.storage)),
        compression.map_or(none, letter),
        Datum::Bool(attribute.not_null),
        Datum::Bool(attribute.has_default),
        Datum::Bool(attribute.missing),
        match attribute.identity {
            Some(Identity::Always) => letter('a'),
            Some(Identity::ByDefault) => letter('d'),
            None => none,
        },
        if attribute.generated { letter('s') } else { none },
        Datum::Bool(attribute.dropped),
        Datum::Bool(true),
        Datum::Int4(0),
        Datum::Oid(attribute.collation.0),
        u32::try_from(attribute.number)
            .ok()
            .and_then(|number| rows.system.snapshot.acl(attribute.relation, number))
            .map_or(Datum::Null, |acl| rows.acl(Some(acl))),
        shown,
        Datum::Null,
        Datum::Null,
    ];
    rows.row(&row)
}

/// What the OIDs of defaults have that others do not get from the counter for a long time.
const OF_DEFAULT: u32 = 1 << 31;
/// The columns that a table may have.
const COLUMNS_MAX: u32 = 1600;

/// A default has no object of its own here; its OID is made of its table's and the column's number.
pub(crate) fn default_oid(table: Oid, column: usize) -> Oid {
    let number = table.0.wrapping_mul(COLUMNS_MAX).wrapping_add(column as u32);
    Oid(OF_DEFAULT | number & (OF_DEFAULT - 1))
}

/// The tables that may have a default of this OID.
pub(super) fn tables_of_default(snapshot: &CatalogSnapshot, oid: Oid) -> Vec<Oid> {
    let last = snapshot.relations_from(Oid(0)).next_back().map_or(Oid(0), |last| last.oid);
    tables_up_to(last, oid)
}

/// Those of them with an OID up to `last`.
fn tables_up_to(last: Oid, default: Oid) -> Vec<Oid> {
    if default.0 & OF_DEFAULT == 0 {
        return Vec::new();
    }
    let number = u64::from(default.0 & (OF_DEFAULT - 1));
    // The product has lost what is above 31 bits.
    let products = (0..).map(|lost: u64| number + lost * u64::from(OF_DEFAULT));
    let tables = products.map_while(|product| u32::try_from(product / u64::from(COLUMNS_MAX)).ok());
    tables.take_while(|table| *table <= last.0).map(Oid).collect()
}

pub(super) fn defaults(rows: &mut Rows<'_, '_, '_, '_>) -> Result<()> {
    let snapshot = rows.system.snapshot;
    let found = match rows.oid_key(0) {
        Some(own) => {
            let tables = tables_of_default(snapshot, own).into_iter();
            let tables: Vec<_> = tables.flat_map(|oid| users(rows, Some(oid))).collect();
            Box::new(tables.into_iter())
        }
        None => users(rows, rows.oid_key(1)),
    };
    for relation in found {
        if rows.pauses(relation.oid) {
            break;
        }
        for (at, column) in relation.columns.iter().enumerate() {
            let (Some(default), None) = (&column.default, column.identity) else { continue };
            let how = (None, false);
            let shown = kept::text(rows.system.snapshot, how, rows.call, Some(relation), default)?;
            let row = [
                Datum::Oid(default_oid(relation.oid, at).0),
                Datum::Oid(relation.oid.0),
                Datum::Int2(at as i16 + 1),
                rows.text(&shown),
            ];
            rows.row(&row)?;
        }
    }
    Ok(())
}

/// `pg_stats`. Values are shown as text arrays.
pub(super) fn statistics(rows: &mut Rows<'_, '_, '_, '_>) -> Result<()> {
    let snapshot = rows.system.snapshot;
    for relation in users(rows, None) {
        if rows.pauses(relation.oid) {
            break;
        }
        let Some(found) = snapshot.statistics(relation.oid) else { continue };
        let select = crate::catalog::acl::Privileges::SELECT;
        for ((column, statistics), number) in
            relation.columns.iter().zip(&found.columns).zip(1_i16..)
        {
            let (Some(statistics), false) = (statistics, column.dropped) else { continue };
            if !snapshot.may_on_column(rows.system.user, relation, number, select) {
                continue;
            }
            let values: Vec<String> =
                statistics.common.iter().map(|value| value.0.to_string()).collect();
            let frequencies: Vec<Datum<'_>> =
                statistics.common.iter().map(|value| Datum::Float4(value.1 as f32)).collect();
            let bounds: Vec<String> =
                statistics.histogram.iter().map(|value| value.to_string()).collect();
            let list = |texts: &[String]| {
                if texts.is_empty() { Datum::Null } else { rows.texts(texts) }
            };
            let row = [
                rows.text(&relation.schema.1),
                rows.text(&relation.name),
                rows.text(&column.name),
                Datum::Bool(false),
                Datum::Float4(statistics.null_fraction as f32),
                Datum::Int4(statistics.width),
                Datum::Float4(statistics.distinct as f32),
                list(&values),
                if frequencies.is_empty() {
                    Datum::Null
                } else {
                    crate::types::array::from_datums(rows.call.arena, 700, &frequencies)
                },
                list(&bounds),
                statistics.correlation.map_or(Datum::Null, |found| Datum::Float4(found as f32)),
                Datum::Null,
                Datum::Null,
                Datum::Null,
            ];
            rows.row(&row)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oid_of_a_default_leads_to_its_table() {
        for table in [16_384, 1_342_177, 1_342_178, 3_000_000_000, u32::MAX].map(Oid) {
            for column in [0, 7, 1599] {
                let found = tables_up_to(table, default_oid(table, column));
                assert_eq!(
                    found.iter().filter(|one| **one == table).count(),
                    1,
                    "{table:?} {column}"
                );
            }
        }
        assert_eq!(tables_up_to(Oid(20_000), default_oid(Oid(16_384), 3)), [Oid(16_384)]);
        assert!(tables_up_to(Oid(u32::MAX), Oid(16_384)).is_empty());
    }
}
