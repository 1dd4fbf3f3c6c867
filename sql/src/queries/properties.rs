//! What relations, indexes and access methods are: `pg_index_has_property` and its kin, `pg_sequence_parameters`,
//! `pg_relation_filenode` (manual, sections 9.26 and 9.27.7).

use super::Call;
use super::addresses::CatalogRow;
use crate::catalog::acl::Privileges;
use crate::catalog::builtin;
use crate::catalog::object::well_known;
use crate::catalog::relation::{IndexState, RelationKind};
use crate::error::{Result, SqlError};
use crate::sqlstate::SqlState;
use crate::types::{Datum, Oid, SqlType, oids, record};

/// btree among the access methods: every index is one.
const BTREE: u32 = 403;

/// What indexes of a built-in access method can (`amapi.h`): be ordered, be unique, have several columns, stand for EXCLUDE,
/// INCLUDE columns.
const ACCESS_METHODS: [(u32, [bool; 5]); 6] = [
    (BTREE, [true, true, true, true, true]),
    (405, [false, false, false, true, false]),
    (783, [false, false, true, true, true]),
    (2742, [false, false, true, false, false]),
    (3580, [false, false, true, false, false]),
    (4000, [false, false, false, true, true]),
];

/// The same by name.
const ABILITIES: [&str; 5] =
    ["can_order", "can_unique", "can_multi_col", "can_exclude", "can_include"];

/// The tablespace of what all databases share (`pg_global`).
const GLOBAL_TABLESPACE: Oid = Oid(1664);

impl<'a> Call<'_, '_, '_, 'a> {
    /// The functions of this file; none for those that are not answered.
    pub(super) fn property(&self, function: &str) -> Option<Result<Datum<'a>>> {
        Some(Ok(match function {
            "pg_indexam_has_property" => {
                let property = self.property_name(1);
                let known = ACCESS_METHODS.iter().find(|(oid, _)| Oid(*oid) == self.oid(0));
                let at = ABILITIES.iter().position(|known| *known == property);
                match (known, at) {
                    (Some((_, abilities)), Some(at)) => Datum::Bool(abilities[at]),
                    _ => Datum::Null,
                }
            }
            "pg_index_has_property" => match self.property_name(1).as_str() {
                "clusterable" | "index_scan" | "bitmap_scan" | "backward_scan" => {
                    self.known_index().map_or(Datum::Null, |()| Datum::Bool(true))
                }
                _ => Datum::Null,
            },
            "pg_index_column_has_property" => self.column_property(),
            "pg_get_replica_identity_index" => {
                let relation = self.session.snapshot.relation(self.oid(0));
                let key = relation.and_then(|found| found.indexes.iter().find(|one| one.primary));
                let valid = key.filter(|key| key.state == IndexState::Valid);
                valid.map_or(Datum::Null, |key| Datum::Oid(key.oid.0))
            }
            "pg_sequence_parameters" => return Some(self.sequence_parameters()),
            "pg_relation_filenode" => self.file_number(),
            "pg_filenode_relation" => self.relation_of_file(),
            "row_security_active" => match self.arguments.first() {
                Some(Datum::Text(name)) => {
                    let found = super::names::reg_in(self.session, oids::REGCLASS, name);
                    return Some(found.map(|_| Datum::Bool(false)));
                }
                _ => Datum::Bool(false),
            },
            // No table is partitioned or a partition, nothing is compressed, and collations have no versions.
            "pg_partition_root" | "pg_column_compression" => Datum::Null,
            "pg_collation_actual_version" => {
                let oid = self.oid(0);
                if builtin::collation(oid.0).is_none() {
                    return Some(Err(missing("collation", oid)));
                }
                Datum::Null
            }
            "pg_database_collation_actual_version" => {
                let oid = self.oid(0);
                if self.session.snapshot.shared().database_by_oid(oid).is_none() {
                    return Some(Err(missing("database", oid)));
                }
                Datum::Null
            }
            _ => return None,
        }))
    }

    fn property_name(&self, at: usize) -> String {
        self.str(at).to_ascii_lowercase()
    }

    /// Whether the first argument is an index.
    fn known_index(&self) -> Option<()> {
        self.row_of("pg_class", self.oid(0)).filter(|row| row.letter("relkind") == b'i').map(|_| ())
    }

    /// What can be asked of one column of an index. That it is ordered is asked of keys only.
    fn column_property(&self) -> Datum<'a> {
        let Some((_, index)) = self.session.snapshot.index(self.oid(0)) else { return Datum::Null };
        let Some(Datum::Int4(number)) = self.arguments.get(1) else { return Datum::Null };
        let at = usize::try_from(number - 1).ok();
        let at = at.filter(|at| *at < index.columns.len() + index.include.len());
        let Some(at) = at else { return Datum::Null };
        let key = index.columns.get(at);
        let of_key =
            |property: bool| if key.is_some() { Datum::Bool(property) } else { Datum::Null };
        let descending = key.is_some_and(|key| key.descending);
        let nulls_first = key.is_some_and(|key| key.nulls_first);
        match self.property_name(2).as_str() {
            "asc" => of_key(!descending),
            "desc" => of_key(descending),
            "nulls_first" => of_key(nulls_first),
            "nulls_last" => of_key(!nulls_first),
            "search_array" | "search_nulls" => of_key(true),
            "orderable" => Datum::Bool(key.is_some()),
            "distance_orderable" => Datum::Bool(false),
            "returnable" => Datum::Bool(true),
            _ => Datum::Null,
        }
    }

    fn sequence_parameters(&self) -> Result<Datum<'a>> {
        let (oid, snapshot) = (self.oid(0), self.session.snapshot);
        let Some(relation) = snapshot.relation(oid) else {
            return Err(SqlError::new(
                SqlState::UNDEFINED_TABLE,
                format!("relation with OID {oid} does not exist"),
            ));
        };
        self.demand_one_of(relation, &[Privileges::SELECT, Privileges::UPDATE, Privileges::USAGE])?;
        let RelationKind::Sequence(sequence) = &relation.kind else {
            return Err(SqlError::new(
                SqlState::INTERNAL_ERROR,
                format!("cache lookup failed for sequence {oid}"),
            ));
        };
        let number = |value: i64| (SqlType::plain(oids::INT8), Datum::Int8(value));
        let fields = [
            number(sequence.start),
            number(sequence.min),
            number(sequence.max),
            number(sequence.increment),
            (SqlType::plain(oids::BOOL), Datum::Bool(sequence.cycle)),
            number(sequence.cache),
            (SqlType::plain(oids::OID), Datum::Oid(sequence.ty.0)),
        ];
        let names = [
            "start_value",
            "minimum_value",
            "maximum_value",
            "increment",
            "cycle_option",
            "cache_size",
            "data_type",
        ];
        Ok(record::build_named(self.context.arena, &fields, names.map(Into::into).iter()))
    }

    /// The number of a relation's file; none for what has none.
    fn file_of(class: &CatalogRow<'_>) -> Option<Oid> {
        let has_file = matches!(class.letter("relkind"), b'r' | b'i' | b'S' | b't' | b'm');
        match class.oid("relfilenode") {
            _ if !has_file => None,
            // Some system tables have theirs in a file of their own, and began with that of their OID.
            Oid(0) => Some(class.oid("oid")),
            file => Some(file),
        }
    }

    fn file_number(&self) -> Datum<'a> {
        let class = self.row_of("pg_class", self.oid(0));
        let file = class.as_ref().and_then(Self::file_of);
        file.map_or(Datum::Null, |file| Datum::Oid(file.0))
    }

    fn relation_of_file(&self) -> Datum<'a> {
        let (tablespace, file) = (self.oid(0), self.oid(1));
        if ![Oid(0), well_known::DEFAULT_TABLESPACE, GLOBAL_TABLESPACE].contains(&tablespace) {
            return Datum::Null;
        }
        let shared = tablespace == GLOBAL_TABLESPACE;
        let has_it = |class: &CatalogRow<'a>| {
            Self::file_of(class) == Some(file)
                && (class.oid("reltablespace") == GLOBAL_TABLESPACE) == shared
        };
        let by_file = |number: Oid| {
            let key = ("relfilenode", Datum::Oid(number.0));
            self.find_row("pg_class", key, &has_it)
        };
        let found = by_file(file).or_else(|| by_file(Oid(0))).filter(|_| file != Oid(0));
        found.map_or(Datum::Null, |class| Datum::Oid(class.oid("oid").0))
    }

    /// All data is in the first tablespace.
    pub(super) fn tablespace_databases(
        &self,
        emit: &mut dyn FnMut(&[Datum<'a>]) -> Result<bool>,
    ) -> Result<()> {
        let oid = self.oid(0);
        let warn = |message: String| {
            let warning = SqlError::warning(SqlState::WARNING, message);
            self.context.notices.borrow_mut().push(warning);
        };
        match oid {
            well_known::DEFAULT_TABLESPACE => {
                for database in self.session.snapshot.shared().databases() {
                    if !emit(&[Datum::Oid(database.oid.0)])? {
                        break;
                    }
                }
            }
            GLOBAL_TABLESPACE => warn("global tablespace never has databases".to_owned()),
            Oid(other) => warn(format!("{other} is not a tablespace OID")),
        }
        Ok(())
    }
}

fn missing(kind: &str, oid: Oid) -> SqlError {
    SqlError::new(SqlState::UNDEFINED_OBJECT, format!("{kind} with OID {oid} does not exist"))
}
