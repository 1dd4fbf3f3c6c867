//! FOREIGN KEY: made, and held against rows that are there.

use super::build::{Columns, LATEST, each_row_beside_writers};
use super::constraint::constraint_is_new;
use super::resolve::{system_column_named, undefined_table};
use super::value_text::key_values;
use super::{Ddl, name};
use crate::bind::dml::composite_type;
use crate::catalog::acl::Privileges;
use crate::catalog::relation::{
    Action, Constraint, ConstraintKind, ForeignKey, Index, MatchType, Relation, RelationKind,
};
use crate::catalog::trigger::KeyTriggers;
use crate::error::{Result, SqlError};
use crate::exec::key_match::{Comparable, comparable, converted};
use crate::parse::ast::{Ident, ObjectName, References};
use crate::sqlstate::SqlState;
use bumpalo::Bump;
use std::sync::Arc;
use txn::{RecordBuffer, TableLock, WaitPolicy};

impl Ddl<'_> {
    /// Makes a foreign key of `relation`, whose columns and keys are there, though it may not be in the catalog yet.
    pub(super) fn new_foreign_key(
        &mut self,
        relation: &Relation,
        given: Option<&Ident>,
        columns: &[Ident],
        references: &References,
        validated: bool,
    ) -> Result<Constraint> {
        let parent = self.referenced_table(relation, references)?;
        let columns = columns
            .iter()
            .map(|name| referencing_column(relation, name))
            .collect::<Result<Vec<usize>>>()?;
        let delete_columns = references
            .delete_columns
            .iter()
            .map(|name| {
                let column = referencing_column(relation, name)?;
                if columns.contains(&column) {
                    return Ok(column);
                }
                Err(SqlError::new(
                    SqlState::INVALID_COLUMN_REFERENCE,
                    format!(
                        "column \"{name}\" referenced in ON DELETE SET action must be part of foreign key"
                    ),
                ))
            })
            .collect::<Result<Vec<usize>>>()?;
        let mut set_columns: Vec<usize> = Vec::new();
        for column in delete_columns {
            if !set_columns.contains(&column) {
                set_columns.push(column);
            }
        }
        let (referenced, index) = referenced_key(&parent, references)?;
        self.demand_references(&parent, &referenced)?;
        check_generated(relation, &columns, references)?;
        if referenced.len() != columns.len() {
            return Err(SqlError::new(
                SqlState::INVALID_FOREIGN_KEY,
                "number of referencing and referenced columns for foreign key disagree",
            ));
        }
        let name = match given {
            Some(name) => {
                constraint_is_new(relation, name)?;
                Arc::clone(name)
            }
            None => {
                let names = columns.iter().map(|&column| &*relation.columns[column].name);
                let part = name::columns_part(names);
                name::constraint_name(relation, Some(&part), "fkey")
            }
        };
        for (&child, &key) in columns.iter().zip(&referenced) {
            self.demand_comparable(relation, &parent, (child, key), &name)?;
        }
        let oid = self.catalog.next_oid()?;
        let key = ForeignKey {
            columns,
            references: parent.oid,
            referenced,
            index: index.oid,
            match_type: references.match_type,
            on_update: references.on_update,
            on_delete: references.on_delete,
            delete_columns: set_columns,
            triggers: KeyTriggers::numbered(|| self.catalog.next_oid())?,
        };
        Ok(Constraint {
            oid,
            name,
            kind: ConstraintKind::ForeignKey(key),
            validated,
            deferral: references.deferral,
        })
    }

    /// Finds and locks the referenced table, and checks that it may be referred to.
    fn referenced_table(
        &mut self,
        relation: &Relation,
        references: &References,
    ) -> Result<Arc<Relation>> {
        // A table that is being made refers to itself by a name that is not in the catalog yet.
        if self.relation(relation.oid).is_none() && self.means(&references.table, relation)? {
            return Ok(Arc::new(relation.clone()));
        }
        let found = self.lock_named(&references.table, TableLock::ShareRowExclusive)?;
        let (_, parent) = found.ok_or_else(|| undefined_table(&references.table))?;
        if matches!(parent.kind, RelationKind::Composite) {
            return Err(composite_type(&parent.name));
        }
        if !matches!(parent.kind, RelationKind::Table { .. }) || parent.stored_query.is_some() {
            return Err(SqlError::new(
                SqlState::WRONG_OBJECT_TYPE,
                format!("referenced relation \"{}\" is not a table", parent.name),
            ));
        }
        if parent.oid == relation.oid {
            return Ok(Arc::new(relation.clone()));
        }
        let refused = match (relation.persistence, parent.persistence) {
            ('p', 'u' | 't') => Some("permanent tables may reference only permanent tables"),
            ('u', 't') => Some("unlogged tables may reference only permanent or unlogged tables"),
            ('t', 'p' | 'u') => Some("temporary tables may reference only temporary tables"),
            _ => None,
        };
        if let Some(refused) = refused {
            return Err(SqlError::new(
                SqlState::INVALID_TABLE_DEFINITION,
                format!("constraints on {refused}"),
            ));
        }
        Ok(parent)
    }

    /// Whether a name will mean a table that is being made: without a schema, where nothing before that in the path hides it.
    fn means(&mut self, name: &ObjectName, relation: &Relation) -> Result<bool> {
        if *name.name() != relation.name {
            return Ok(false);
        }
        if let Some(schema) = self.searched_schema(name)? {
            return Ok(schema.oid == relation.schema.0);
        }
        let (path, snapshot) = (self.path(), self.snapshot());
        let at = path.schemas.iter().position(|schema| *schema == relation.schema.0);
        Ok(at.is_some_and(|at| snapshot.find(&path.schemas[..at], name.name()).is_none()))
    }

    /// 42501 unless the current user has REFERENCES on the table or on each of these columns (`checkFkeyPermissions`).
    fn demand_references(&mut self, parent: &Relation, columns: &[usize]) -> Result<()> {
        let snapshot = self.snapshot();
        let may = |&column: &usize| {
            let number = column as i16 + 1;
            snapshot.may_on_column(self.user, parent, number, Privileges::REFERENCES)
        };
        if columns.iter().all(may) {
            return Ok(());
        }
        Err(SqlError::new(
            SqlState::INSUFFICIENT_PRIVILEGE,
            format!("permission denied for table {}", parent.name),
        ))
    }

    /// 23503 if a row that is there has no parent.
    pub(super) fn check_references(
        &mut self,
        relation: &Relation,
        constraint: &Constraint,
    ) -> Result<()> {
        let ConstraintKind::ForeignKey(key) = &constraint.kind else { return Ok(()) };
        self.tell_validation(&constraint.name);
        let parent = if key.references == relation.oid {
            Arc::new(relation.clone())
        } else {
            let found = self.relation(key.references);
            found.expect("a referenced table is locked and stays")
        };
        self.transaction.lock_table(
            parent.lock,
            TableLock::ShareRowExclusive,
            WaitPolicy::Block,
        )?;
        let index = parent.indexes.iter().find(|index| index.oid == key.index);
        let index = index.expect("a referenced index stays as long as what refers to it");
        let layout = parent.index_layout(index);
        let tree = self.transaction.manager().data().tree(index.tree).map_err(txn::Error::from)?;
        let mut wanted = Vec::new();
        let mut buffer = RecordBuffer::default();
        let columns = Columns::Only(&key.columns);
        each_row_beside_writers(
            self.transaction,
            relation,
            columns,
            &mut |transaction, _, _, row| {
                let nulls = key.columns.iter().filter(|&&column| row.get(column).is_null()).count();
                if nulls == key.columns.len() || (nulls > 0 && key.match_type == MatchType::Simple)
                {
                    return Ok(());
                }
                if nulls > 0 {
                    return Err(violation(relation, constraint).detail(
                        "MATCH FULL does not allow mixing of null and nonnull key values.",
                    ));
                }
                wanted.clear();
                let arena = Bump::new();
                for part in &layout.columns {
                    let at = key.referenced.iter().position(|&column| column == part.column);
                    let child = key.columns[at.expect("the index is over the referenced columns")];
                    match converted(row.get(child), relation.columns[child].ty.oid, part, &arena) {
                        Some(datum) => part.encode(datum, &mut wanted)?,
                        // The parent's type cannot hold it: no parent has that value.
                        None => return Err(missing(relation, &parent, constraint, key, row)),
                    }
                }
                if transaction.get(&LATEST, &tree, &wanted, &mut buffer)? {
                    return Ok(());
                }
                Err(missing(relation, &parent, constraint, key, row))
            },
        )
    }
}

fn violation(relation: &Relation, constraint: &Constraint) -> SqlError {
    SqlError::new(
        SqlState::FOREIGN_KEY_VIOLATION,
        format!(
            "insert or update on table \"{}\" violates foreign key constraint \"{}\"",
            relation.name, constraint.name
        ),
    )
    .table(&*relation.schema.1, &*relation.name)
    .constraint(&*constraint.name)
}

fn missing(
    relation: &Relation,
    parent: &Relation,
    constraint: &Constraint,
    key: &ForeignKey,
    row: &crate::tuple::RowBuf,
) -> SqlError {
    let names: Vec<&str> =
        key.columns.iter().map(|&column| &*relation.columns[column].name).collect();
    let values = key_values(
        key.columns.iter().map(|&column| (relation.columns[column].ty, row.get(column))),
    );
    violation(relation, constraint).detail(format!(
        "Key ({})=({}) is not present in table \"{}\".",
        names.join(", "),
        values,
        parent.name
    ))
}

fn referencing_column(relation: &Relation, name: &str) -> Result<usize> {
    relation.column(name).ok_or_else(|| match system_column_named(relation, name) {
        Some(_) => SqlError::new(
            SqlState::FEATURE_NOT_SUPPORTED,
            "system columns cannot be used in foreign keys",
        ),
        None => SqlError::new(
            SqlState::UNDEFINED_COLUMN,
            format!("column \"{name}\" referenced in foreign key constraint does not exist"),
        ),
    })
}

/// 42601: an action cannot assign to a generated column.
fn check_generated(relation: &Relation, columns: &[usize], references: &References) -> Result<()> {
    if !columns.iter().any(|&column| relation.columns[column].generated) {
        return Ok(());
    }
    let assigns = |action| matches!(action, Action::SetNull | Action::SetDefault);
    let clause = if assigns(references.on_update) || references.on_update == Action::Cascade {
        "ON UPDATE"
    } else if assigns(references.on_delete) {
        "ON DELETE"
    } else {
        return Ok(());
    };
    Err(SqlError::new(
        SqlState::SYNTAX_ERROR,
        format!("invalid {clause} action for foreign key constraint containing generated column"),
    ))
}

/// The referenced columns, and the unique index over them.
fn referenced_key<'a>(
    parent: &'a Relation,
    references: &References,
) -> Result<(Vec<usize>, &'a Index)> {
    if references.columns.is_empty() {
        let primary = parent.indexes.iter().find(|index| index.primary).ok_or_else(|| {
            SqlError::new(
                SqlState::UNDEFINED_OBJECT,
                format!("there is no primary key for referenced table \"{}\"", parent.name),
            )
        })?;
        if primary.deferral.is_deferrable() {
            return Err(cannot_be_deferrable(parent, "primary key"));
        }
        return Ok((primary.columns.iter().map(|key| key.column).collect(), primary));
    }
    let columns = references
        .columns
        .iter()
        .map(|name| referencing_column(parent, name))
        .collect::<Result<Vec<usize>>>()?;
    if (1..columns.len()).any(|at| columns[..at].contains(&columns[at])) {
        return Err(SqlError::new(
            SqlState::INVALID_FOREIGN_KEY,
            "foreign key referenced-columns list must not contain duplicates",
        ));
    }
    let same = |index: &&Index| {
        let fits = index.unique && index.is_valid() && index.columns.len() == columns.len();
        fits && index.is_plain_key(&columns)
    };
    // One that is unique at every moment is taken before a deferrable one.
    let always = |index: &&Index| same(index) && index.is_always_unique();
    // Of several the oldest: a primary key's may be a later one.
    let oldest = |fits: &dyn Fn(&&Index) -> bool| {
        parent.indexes.iter().filter(fits).min_by_key(|index| index.oid)
    };
    let found = oldest(&always).or_else(|| oldest(&same));
    let index = found.ok_or_else(|| {
        SqlError::new(
            SqlState::INVALID_FOREIGN_KEY,
            format!(
                "there is no unique constraint matching given keys for referenced table \"{}\"",
                parent.name
            ),
        )
    })?;
    if index.deferral.is_deferrable() {
        return Err(cannot_be_deferrable(parent, "unique constraint"));
    }
    Ok((columns, index))
}

/// 55000: a key that several rows may have until it is checked refers to nothing.
fn cannot_be_deferrable(parent: &Relation, what: &str) -> SqlError {
    SqlError::new(
        SqlState::OBJECT_NOT_IN_PREREQUISITE_STATE,
        format!("cannot use a deferrable {what} for referenced table \"{}\"", parent.name),
    )
}

impl Ddl<'_> {
    /// 42804 for types that have no equality; 0A000 for those whose equality is not known here. A domain is held as what it
    /// is over.
    pub(super) fn demand_comparable(
        &mut self,
        relation: &Relation,
        parent: &Relation,
        (child, key): (usize, usize),
        name: &str,
    ) -> Result<()> {
        let (one, two) = (&relation.columns[child], &parent.columns[key]);
        let snapshot = self.snapshot();
        let (a, b) = (snapshot.base_type(one.ty).oid.0, snapshot.base_type(two.ty).oid.0);
        match comparable(a, b) {
            Comparable::Yes => return Ok(()),
            Comparable::NotYet => {
                return Err(SqlError::unsupported(format!(
                    "a foreign key between columns \"{}\" and \"{}\" of different types is",
                    one.name, two.name
                )));
            }
            Comparable::No => {}
        }
        Err(SqlError::new(
            SqlState::DATATYPE_MISMATCH,
            format!("foreign key constraint \"{name}\" cannot be implemented"),
        )
        .detail(format!(
            "Key columns \"{}\" and \"{}\" are of incompatible types: {} and {}.",
            one.name,
            two.name,
            self.plain_type_shown(one.ty),
            self.plain_type_shown(two.ty)
        )))
    }
}
