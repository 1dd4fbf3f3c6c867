//! How much of the data file an object has: `pg_relation_size` and its kin.
//!
//! A size is that of the extents which belong to the object's trees. The rows of a table with a primary key are in that
//! key's tree, so the index itself has none; a table's long values, PostgreSQL's TOAST table, count to the table.

use super::Call;
use crate::catalog::acl::Privileges;
use crate::catalog::object::well_known;
use crate::catalog::store::CATALOG_TREE;
use crate::catalog::{Relation, RelationKind, builtin};
use crate::error::{Result, SqlError};
use crate::sqlstate::SqlState;
use crate::types::failure::invalid_parameter;
use crate::types::{Datum, Oid};
use txn::TreeId;

/// `pg_default` and `pg_global`: all data is in the first.
const TABLESPACES: [(u32, &str); 2] = [(1663, "pg_default"), (1664, "pg_global")];

/// The name of a tablespace.
pub(super) fn tablespace(oid: u32) -> Option<&'static str> {
    TABLESPACES.iter().find(|(known, _)| *known == oid).map(|(_, name)| *name)
}

impl<'a> Call<'_, '_, '_, 'a> {
    /// Functions called `..._size`; none for those that are not answered.
    pub(super) fn size(&self, function: &str) -> Option<Result<Datum<'a>>> {
        Some(match function {
            "pg_relation_size" => self.relation_size(),
            "pg_table_size" => Ok(self.summed(true, false)),
            "pg_indexes_size" => Ok(self.summed(false, true)),
            "pg_total_relation_size" => Ok(self.summed(true, true)),
            "pg_database_size" => self.database_size(),
            "pg_tablespace_size" => self.tablespace_size(),
            _ => return None,
        })
    }

    fn bytes(&self, trees: &[TreeId]) -> Datum<'a> {
        Datum::Int8(self.session.catalog.manager().data().bytes_of(trees) as i64)
    }

    fn relation_size(&self) -> Result<Datum<'a>> {
        if self.arguments.len() > 1 {
            match self.str(1) {
                "main" => {}
                "fsm" | "vm" | "init" => return Ok(Datum::Int8(0)),
                _ => {
                    return Err(invalid_parameter("invalid fork name")
                        .hint("Valid fork names are \"main\", \"fsm\", \"vm\", and \"init\"."));
                }
            }
        }
        let rows = |relation: &Relation| match relation.kind {
            RelationKind::Table { tree, .. } => vec![tree],
            _ => Vec::new(),
        };
        Ok(self.relation_trees(rows).map_or(Datum::Null, |trees| self.bytes(&trees)))
    }

    /// The trees of the relation or index that is asked for; none if there is none.
    fn relation_trees(&self, of: impl Fn(&Relation) -> Vec<TreeId>) -> Option<Vec<TreeId>> {
        let (oid, snapshot) = (self.oid(0), self.session.snapshot);
        match snapshot.relation(oid) {
            Some(relation) => Some(of(relation)),
            None => match snapshot.index(oid) {
                Some((_, index)) if index.holds_rows() => Some(Vec::new()),
                Some((_, index)) => Some(vec![index.tree]),
                // The catalog's relations are in one tree, and are found by no others.
                None => builtin::is_stored(oid.0).then(Vec::new),
            },
        }
    }

    /// A table's rows with their long values, its indexes, or both.
    fn summed(&self, table: bool, indexes: bool) -> Datum<'a> {
        let is_index = self.session.snapshot.relation(self.oid(0)).is_none();
        if is_index && !table {
            return self.relation_trees(|_| Vec::new()).map_or(Datum::Null, |_| Datum::Int8(0));
        }
        let trees = self.relation_trees(|relation| {
            let own = match relation.kind {
                RelationKind::Table { .. } => 2,
                _ => 0,
            };
            let (from, to) = (if table { 0 } else { own }, if indexes { usize::MAX } else { own });
            relation.trees().skip(from).take(to - from).collect()
        });
        trees.map_or(Datum::Null, |trees| self.bytes(&trees))
    }

    fn database_size(&self) -> Result<Datum<'a>> {
        let shared = self.session.snapshot.shared();
        let oid = match self.arguments.first() {
            Some(Datum::Text(name)) => match shared.database(name) {
                Some(database) => database.oid,
                None => {
                    return Err(SqlError::new(
                        SqlState::INVALID_CATALOG_NAME,
                        format!("database \"{name}\" does not exist"),
                    ));
                }
            },
            _ => self.oid(0),
        };
        if let Some(database) = shared.database_by_oid(oid) {
            let (snapshot, user) = (self.session.snapshot, self.session.user());
            if !snapshot.may_on_database(user, database, Privileges::CONNECT)
                && !shared.has_privileges_of(user, well_known::READ_ALL_STATS)
            {
                return Err(SqlError::new(
                    SqlState::INSUFFICIENT_PRIVILEGE,
                    format!("permission denied for database {}", database.name),
                ));
            }
        }
        let mut trees: Vec<TreeId> = if oid == self.session.snapshot.database_oid() {
            self.session.snapshot.relations().flat_map(|relation| relation.trees()).collect()
        } else {
            let Some(snapshot) = self.session.catalog.snapshot(oid) else { return Ok(Datum::Null) };
            snapshot.relations().flat_map(|relation| relation.trees()).collect()
        };
        // The catalog is one for all databases, and part of each.
        trees.push(CATALOG_TREE);
        Ok(self.bytes(&trees))
    }

    fn tablespace_size(&self) -> Result<Datum<'a>> {
        let oid = match self.arguments.first() {
            Some(Datum::Text(name)) => match TABLESPACES.iter().find(|(_, known)| known == name) {
                Some((oid, _)) => Oid(*oid),
                None => {
                    return Err(SqlError::new(
                        SqlState::UNDEFINED_OBJECT,
                        format!("tablespace \"{name}\" does not exist"),
                    ));
                }
            },
            _ => self.oid(0),
        };
        Ok(match TABLESPACES.iter().position(|(known, _)| Oid(*known) == oid) {
            Some(0) => Datum::Int8(self.session.catalog.manager().data().file_bytes() as i64),
            Some(_) => Datum::Int8(0),
            None => Datum::Null,
        })
    }
}
