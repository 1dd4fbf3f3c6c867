//! CREATE TABLE.
//!
//! Columns first, then keys, then what refers to columns: CHECK, generated columns, FOREIGN KEY. The order in which
//! PostgreSQL names things shows in generated names, and is kept.

use super::build::NO_TREE;
use super::constraint::NewCheck;
use super::index::{NewKey, distinct_keys, tablespace};
use super::resolve::{duplicate_relation, undefined_schema};
use super::{Ddl, options};
use crate::catalog::builtin::{self, TypeKind};
use crate::catalog::object::{Schema, Version, well_known};
use crate::catalog::privilege::Grantable;
use crate::catalog::relation::{
    Column, Constraint, Identity, Properties, Relation, RelationKind, ReplicaIdentity, Sequence,
};
use crate::catalog::system_column::is_system_column;
use crate::error::{Result, SqlError};
use crate::parse::ast::{
    ColumnConstraint, ColumnConstraintKind, ColumnElement, CreateTable, Expr, Ident, ObjectName,
    OnCommit, References, SequenceOption, SpecialTable, StorageOption, TableConstraint,
    TableConstraintKind, TableElement,
};
use crate::sqlstate::SqlState;
use crate::types::{Oid, SqlType};
use std::sync::Arc;

/// The most columns a table may have.
const COLUMNS_MAX: usize = 1600;

/// What a table's definition asks for beside its columns.
#[derive(Default)]
pub(super) struct Parts<'a> {
    /// ALTER TABLE adds them: PostgreSQL has lost the statement's text then, and does not say where an expression is wrong.
    pub(super) altering: bool,
    pub(super) keys: Vec<NewKey>,
    pub(super) checks: Vec<NewCheck<'a>>,
    pub(super) foreign: Vec<(Option<Ident>, Vec<Ident>, &'a References, bool)>,
    pub(super) generated: Vec<(usize, &'a Expr)>,
    pub(super) sequences: Vec<NewSequence<'a>>,
}

/// A sequence that a serial or identity column is to own.
pub(super) struct NewSequence<'a> {
    pub(super) column: usize,
    pub(super) ty: Oid,
    pub(super) options: &'a [SequenceOption],
}

/// CREATE TABLE.
///
/// # Errors
/// 42P07, 42701, 42P16 and so on.
pub fn create_table(ddl: &mut Ddl<'_>, create: &CreateTable) -> Result<&'static str> {
    const TAG: &str = "CREATE TABLE";
    supported(create)?;
    let schema = ddl.creation_schema_for(&create.name, create.persistence);
    let at = ddl.semantics.position(create.name.at);
    let restricted = ddl.identity.is_restricted();
    let schema = schema.map_err(|error| match error.state() {
        SqlState::INVALID_SCHEMA_NAME => error.at(at),
        SqlState::INSUFFICIENT_PRIVILEGE if !restricted => error.at(at),
        _ => error,
    })?;
    let persistence = if schema.is_temporary() { 't' } else { create.persistence };
    if create.on_commit != OnCommit::Preserve && persistence != 't' {
        return Err(on_commit_of_permanent());
    }
    let name = create.name.name();
    let taken = ddl.lock_relation_name(schema.oid, name)?;
    if taken && create.if_not_exists {
        let message = format!("relation \"{name}\" already exists, skipping");
        ddl.notice(SqlState::DUPLICATE_TABLE, message);
        return Ok(TAG);
    }
    for element in &create.elements {
        if let TableElement::Column(column) = element {
            ddl.check_clauses(name, column)?;
        }
    }
    let mut relation = ddl.empty_table(name, persistence, &create.options, &schema)?;
    let mut likes = Vec::new();
    for element in &create.elements {
        if let TableElement::Like(table, options) = element {
            likes.push(ddl.like(table, options)?);
        }
    }
    let mut parts = Parts::default();
    let mut next_like = likes.iter();
    for element in &create.elements {
        match element {
            TableElement::Column(column) => ddl.add_column(&mut relation, column, &mut parts)?,
            TableElement::Constraint(constraint) => table_constraint(constraint, &mut parts)?,
            TableElement::Like(..) => {
                let like = next_like.next().expect("each has been looked up");
                ddl.like_columns(&mut relation, like, &mut parts)?;
            }
        }
    }
    if taken {
        return Err(duplicate_relation(name));
    }
    ddl.demand_free_type(schema.oid, name)?;
    let foreign = std::mem::take(&mut parts.foreign);
    ddl.add_parts(&mut relation, parts)?;
    for like in &likes {
        ddl.like_parts(&mut relation, like)?;
    }
    for (name, columns, references, _) in &foreign {
        let key = ddl.new_foreign_key(&relation, name.as_ref(), columns, references, true)?;
        relation.constraints.push(key);
    }
    ddl.catalog.note_on_commit(relation.oid, create.on_commit);
    // Nobody can see the table before commit, but what follows in this transaction expects its creator's lock.
    ddl.put_made(relation)?;
    Ok(TAG)
}

/// 42P16.
pub(super) fn on_commit_of_permanent() -> SqlError {
    SqlError::new(
        SqlState::INVALID_TABLE_DEFINITION,
        "ON COMMIT can only be used on temporary tables",
    )
}

/// 0A000 for what Atoll's tables do not do.
fn supported(create: &CreateTable) -> Result<()> {
    if !create.inherits.is_empty() {
        return Err(SqlError::unsupported("inheritance is"));
    }
    match create.special {
        Some(SpecialTable::Partitioned | SpecialTable::Partition) => {
            return Err(SqlError::unsupported("partitioned tables are"));
        }
        Some(SpecialTable::Typed) => return Err(SqlError::unsupported("typed tables are")),
        None => {}
    }
    if let Some(method) = create.access_method.as_deref().filter(|method| *method != "heap") {
        return Err(SqlError::new(
            SqlState::UNDEFINED_OBJECT,
            format!("access method \"{method}\" does not exist"),
        ));
    }
    tablespace(create.tablespace.as_ref())
}

/// A constraint of a table, put with its kind.
pub(super) fn table_constraint<'a>(
    constraint: &'a TableConstraint,
    parts: &mut Parts<'a>,
) -> Result<()> {
    let name = constraint.name.clone();
    match &constraint.kind {
        TableConstraintKind::Check { expr, no_inherit, .. } => {
            let (validated, no_inherit) = (!constraint.not_valid, *no_inherit);
            parts.checks.push(NewCheck { name, expr, validated, no_inherit });
        }
        TableConstraintKind::Key(columns, options) => {
            let (columns, options, at) = (columns.clone(), options.clone(), constraint.at);
            parts.keys.push(NewKey { name, columns, options, at });
        }
        TableConstraintKind::ForeignKey(columns, references) => {
            parts.foreign.push((name, columns.clone(), references, !constraint.not_valid));
        }
        TableConstraintKind::KeyUsing(..) => {
            return Err(SqlError::unsupported("a constraint USING INDEX is"));
        }
        TableConstraintKind::Exclude => {
            return Err(SqlError::unsupported("exclusion constraints are"));
        }
    }
    Ok(())
}

/// The integer type behind a serial.
pub(super) fn serial(column: &ColumnElement) -> Option<Oid> {
    let [name] = column.ty.name.parts.as_slice() else { return None };
    if column.ty.dimensions > 0 {
        return None;
    }
    match &**name {
        "serial" | "serial4" => Some(Oid(23)),
        "bigserial" | "serial8" => Some(Oid(20)),
        "smallserial" | "serial2" => Some(Oid(21)),
        _ => None,
    }
}

/// The `pg_collation` row of a collation by name.
///
/// # Errors
/// 42704; 0A000 for one that does not compare by bytes.
pub(super) fn collation_named(named: &ObjectName) -> Result<Oid> {
    let name = match &**named.name() {
        "C.UTF-8" => "default",
        name => name,
    };
    if name.ends_with("-x-icu") {
        return Err(SqlError::unsupported(format!("collation \"{named}\" is")));
    }
    builtin::collation_named(name).map(Oid).ok_or_else(|| {
        SqlError::new(
            SqlState::UNDEFINED_OBJECT,
            format!("collation \"{named}\" for encoding \"UTF8\" does not exist"),
        )
    })
}

impl Ddl<'_> {
    /// A table without columns and rows, not yet in the catalog.
    pub(super) fn empty_table(
        &mut self,
        name: &Ident,
        persistence: char,
        options: &[StorageOption],
        schema: &Schema,
    ) -> Result<Relation> {
        let oid = self.catalog.next_oid()?;
        let (tree, long_values) = (self.catalog.create_tree()?, self.catalog.create_tree()?);
        self.counts.emptied(oid);
        Ok(Relation {
            oid,
            schema: (schema.oid, Arc::clone(&schema.name)),
            name: Arc::clone(name),
            owner: self.user,
            kind: RelationKind::Table {
                tree: tree.id(),
                key: Vec::new(),
                long_values: long_values.id(),
            },
            columns: Vec::new(),
            indexes: Vec::new(),
            constraints: Vec::new(),
            referenced_by: Vec::new(),
            version: Version::NONE,
            lock: Relation::lock_of(self.catalog.database(), oid),
            row_estimate: -1.0,
            options: options::of_table(options)?,
            persistence,
            row_type: self.catalog.next_row_type()?,
            acl: self.default_acl(Grantable::Table, schema.oid)?,
            stored_query: None,
            triggers: Vec::new(),
            key_triggers: Vec::new(),
            replica_identity: ReplicaIdentity::default(),
        })
    }

    /// The `pg_collation` row of the collation that is asked for, or of the type's own; 0A000 for one that does not
    /// compare by bytes, 42804 for a type that has none.
    pub(super) fn collation(&mut self, ty: SqlType, collation: Option<&ObjectName>) -> Result<Oid> {
        let own = self.snapshot().collation_of(ty.oid);
        if let Some(schema) = collation.and_then(ObjectName::schema)
            && self.snapshot().schema(schema).is_none()
        {
            return Err(undefined_schema(schema));
        }
        let chosen = collation.map(collation_named).transpose()?;
        self.check_collation(ty, own, chosen)?;
        Ok(chosen.unwrap_or(own))
    }

    /// Adds a column to a relation that is being made; what it asks for beside goes to `parts`.
    pub(super) fn add_column<'a>(
        &mut self,
        relation: &mut Relation,
        element: &'a ColumnElement,
        parts: &mut Parts<'a>,
    ) -> Result<()> {
        let name = &element.name;
        if relation.column(name).is_some() {
            return Err(specified_twice(name));
        }
        new_column_name(name)?;
        columns_max(relation.columns.len() + 1)?;
        let at = relation.columns.len();
        let serial = serial(element);
        let snapshot = self.snapshot();
        let ty = match serial {
            Some(oid) => SqlType { oid, typmod: -1 },
            None => self.semantics.type_of(&snapshot, &element.ty)?,
        };
        // ALTER TABLE takes the word and forgets it, as PostgreSQL does.
        if element.ty.setof && !parts.altering {
            return Err(set_of(name));
        }
        column_type(name, ty)?;
        self.check_membership(relation.row_type.0, ty)?;
        let compression = self.compression(element.compression.as_deref(), ty)?;
        self.use_type(ty)?;
        let chosen = element.collation.as_ref();
        let collation = self.collation(ty, chosen).map_err(|error| match chosen {
            Some(named) => error.at(self.semantics.position(named.at)),
            None => error,
        })?;
        relation.columns.push(Column {
            not_null: serial.is_some(),
            properties: Properties {
                dimensions: element.ty.dimensions,
                compression,
                ..Properties::default()
            },
            ..Column::plain(Arc::clone(name), ty, collation)
        });
        if let Some(ty) = serial {
            parts.sequences.push(NewSequence { column: at, ty, options: &[] });
        }
        for constraint in &element.constraints {
            self.column_constraint(relation, at, constraint, parts)?;
        }
        Ok(())
    }

    fn column_constraint<'a>(
        &mut self,
        relation: &mut Relation,
        at: usize,
        constraint: &'a ColumnConstraint,
        parts: &mut Parts<'a>,
    ) -> Result<()> {
        match &constraint.kind {
            ColumnConstraintKind::NotNull => relation.columns[at].not_null = true,
            ColumnConstraintKind::Null => {}
            ColumnConstraintKind::Default(expr, _) => {
                let (ty, name) = (relation.columns[at].ty, Arc::clone(&relation.columns[at].name));
                let snapshot = self.snapshot();
                let default = self.semantics.default(&snapshot, &name, ty, expr);
                let default =
                    if parts.altering { default.map_err(SqlError::nowhere)? } else { default? };
                self.hold_named(default.value.edges())?;
                if parts.altering {
                    let value = self.semantics.new_value(&snapshot, ty, Some(&default.value));
                    value.map_err(SqlError::nowhere)?;
                }
                relation.columns[at].default = default.kept();
            }
            ColumnConstraintKind::Identity { always, options } => {
                let ty = relation.columns[at].ty.oid;
                if !matches!(ty.0, 20 | 21 | 23) {
                    return Err(SqlError::new(
                        SqlState::INVALID_PARAMETER_VALUE,
                        "identity column type must be smallint, integer, or bigint",
                    ));
                }
                let column = &mut relation.columns[at];
                column.not_null = true;
                column.identity =
                    Some(if *always { Identity::Always } else { Identity::ByDefault });
                parts.sequences.push(NewSequence { column: at, ty, options });
            }
            ColumnConstraintKind::Generated(expr, _) => parts.generated.push((at, expr)),
            ColumnConstraintKind::Check { expr, no_inherit, .. } => {
                let (name, no_inherit) = (constraint.name.clone(), *no_inherit);
                parts.checks.push(NewCheck { name, expr, validated: true, no_inherit });
            }
            ColumnConstraintKind::Key(options) => {
                let (name, options) = (constraint.name.clone(), options.clone());
                let columns = vec![Arc::clone(&relation.columns[at].name)];
                parts.keys.push(NewKey { name, columns, options, at: constraint.at });
            }
            ColumnConstraintKind::References(references) => {
                let columns = vec![Arc::clone(&relation.columns[at].name)];
                parts.foreign.push((constraint.name.clone(), columns, references, true));
            }
        }
        Ok(())
    }

    /// Adds sequences, keys, generated columns and checks to a relation that is being made and has no rows.
    fn add_parts(&mut self, relation: &mut Relation, parts: Parts<'_>) -> Result<()> {
        for sequence in &parts.sequences {
            self.make_owned_sequence(relation, sequence, false)?;
        }
        let mut taken = vec![Arc::clone(&relation.name)];
        for key in &distinct_keys(parts.keys) {
            let at = self.semantics.position(key.at);
            let key = self.new_key(relation, key, &taken);
            let mut index = key.map_err(|error| match error.state() {
                SqlState::UNDEFINED_COLUMN
                | SqlState::DUPLICATE_COLUMN
                | SqlState::INVALID_TABLE_DEFINITION => error.at(at),
                _ => error,
            })?;
            taken.push(Arc::clone(&index.name));
            if index.primary {
                let columns: Vec<usize> = index.columns.iter().map(|key| key.column).collect();
                for &column in &columns {
                    relation.columns[column].not_null = true;
                }
                if !index.holds_rows() {
                    index.tree = self.catalog.create_tree()?.id();
                } else if let RelationKind::Table { tree, key, .. } = &mut relation.kind {
                    *key = columns;
                    index.tree = *tree;
                }
            } else {
                index.tree = self.catalog.create_tree()?.id();
            }
            debug_assert!(index.tree != NO_TREE, "every index has a tree");
            self.tell_key(false, relation, &index);
            self.tell_build(relation, &index);
            relation.indexes.push(index);
        }
        for (column, _) in &parts.generated {
            relation.columns[*column].generated = true;
        }
        for (column, expr) in parts.generated {
            self.generate(relation, column, expr)?;
        }
        for (number, new) in parts.checks.iter().enumerate() {
            let of_that_name = |other: &NewCheck<'_>| other.name == new.name;
            if let Some(name) = new.name.as_ref()
                && parts.checks[..number].iter().any(of_that_name)
            {
                let message = format!("check constraint \"{name}\" already exists");
                return Err(SqlError::new(SqlState::DUPLICATE_OBJECT, message));
            }
            // There are no rows that it could be held against later.
            let check = Constraint { validated: true, ..self.new_check(relation, new)? };
            relation.constraints.push(check);
        }
        Ok(())
    }

    /// Makes a column a generated one.
    ///
    /// # Errors
    /// 42P17 and those of the expression.
    pub(super) fn generate(
        &mut self,
        relation: &mut Relation,
        column: usize,
        expr: &Expr,
    ) -> Result<()> {
        let ty = relation.columns[column].ty;
        let snapshot = self.snapshot();
        let name = Arc::clone(&relation.columns[column].name);
        let bound = self.semantics.generated(&snapshot, relation, (ty, &name), expr)?;
        self.hold_named(bound.edges())?;
        if bound.edges().names_whole_row() {
            let message = "cannot use whole-row variable in column generation expression";
            return Err(SqlError::new(SqlState::INVALID_OBJECT_DEFINITION, message)
                .detail("This would cause the generated column to depend on its own value."));
        }
        let used = |at: &&usize| relation.columns[**at].generated || **at == column;
        if let Some(used) = bound.edges().own_columns().find(|at| used(&at)) {
            let name = &relation.columns[used].name;
            return Err(SqlError::new(
                SqlState::INVALID_OBJECT_DEFINITION,
                format!("cannot use generated column \"{name}\" in column generation expression"),
            )
            .detail("A generated column cannot reference another generated column."));
        }
        relation.columns[column].default = Some(bound);
        relation.columns[column].generated = true;
        Ok(())
    }

    /// Makes the sequence of a serial or identity column, whose table need not be in the catalog yet.
    pub(super) fn make_owned_sequence(
        &mut self,
        relation: &mut Relation,
        sequence: &NewSequence<'_>,
        altering: bool,
    ) -> Result<Relation> {
        let column = Arc::clone(&relation.columns[sequence.column].name);
        let (mut options, mut asked) = (Vec::new(), None);
        for option in sequence.options {
            match option {
                SequenceOption::Name(name) => asked = Some(name),
                other => options.push(other.clone()),
            }
        }
        let mut definition: Sequence = super::sequence::definition(self, sequence.ty, &options)?;
        definition.owner = Some((relation.oid, sequence.column));
        let mut schema = relation.schema.clone();
        let name = match asked {
            Some(asked) => {
                let found = self.creation_schema_for(asked, relation.persistence)?;
                schema = (found.oid, Arc::clone(&found.name));
                let name = Arc::clone(asked.name());
                if self.lock_relation_name(schema.0, &name)? {
                    return Err(duplicate_relation(&name));
                }
                name
            }
            None => {
                self.may_still_create_in(relation)?;
                self.free_sequence_name(relation, &column)?
            }
        };
        self.tell_sequence(altering, relation, &column, &name);
        let owner = relation.owner;
        let made =
            self.put_new_sequence(&name, schema.clone(), owner, relation.persistence, definition)?;
        // An identity column's next value is its default too, though `pg_attrdef` does not show it.
        let (snapshot, ty) = (self.snapshot(), relation.columns[sequence.column].ty);
        let next = self.semantics.next_value(&snapshot, made.oid, ty)?;
        relation.columns[sequence.column].default = Some(next);
        Ok(made)
    }
}

impl Ddl<'_> {
    /// A free name for a column's sequence, locked.
    fn free_sequence_name(&mut self, relation: &Relation, column: &str) -> Result<Arc<str>> {
        let (schema, table) = (relation.schema.0, &relation.name);
        loop {
            let snapshot = self.snapshot();
            let name =
                super::name::relation_name(&snapshot, schema, &[], table, Some(column), "seq");
            if !self.lock_relation_name(schema, &name)? {
                return Ok(name);
            }
        }
    }
}

/// 42701.
/// 42701.
pub(crate) fn specified_twice(name: &str) -> SqlError {
    let message = format!("column \"{name}\" specified more than once");
    SqlError::new(SqlState::DUPLICATE_COLUMN, message)
}

/// 54011 for more columns than a relation may have.
pub(super) fn columns_max(columns: usize) -> Result<()> {
    if columns <= COLUMNS_MAX {
        return Ok(());
    }
    Err(SqlError::new(
        SqlState::TOO_MANY_COLUMNS,
        format!("tables can have at most {COLUMNS_MAX} columns"),
    ))
}

/// 42701 for the names of system columns.
pub(super) fn new_column_name(name: &str) -> Result<()> {
    if is_system_column(name) {
        return Err(SqlError::new(
            SqlState::DUPLICATE_COLUMN,
            format!("column name \"{name}\" conflicts with a system column name"),
        ));
    }
    Ok(())
}

impl Ddl<'_> {
    /// Refuses a part of type `part` in rows of type `whole` that would hold such rows themselves.
    ///
    /// # Errors
    /// 42P16.
    pub(super) fn check_membership(&mut self, whole: Oid, part: SqlType) -> Result<()> {
        if !super::domain::holds(&self.snapshot(), part.oid, whole) {
            return Ok(());
        }
        let whole = self.type_shown(SqlType { oid: whole, typmod: -1 });
        Err(SqlError::new(
            SqlState::INVALID_TABLE_DEFINITION,
            format!("composite type {whole} cannot be made a member of itself"),
        ))
    }
}

/// 42P16: a column of SETOF.
pub(super) fn set_of(name: &str) -> SqlError {
    SqlError::new(
        SqlState::INVALID_TABLE_DEFINITION,
        format!("column \"{name}\" cannot be declared SETOF"),
    )
}

/// 42P16 for types that no column may have; 0A000 for those Atoll does not store yet.
pub(super) fn column_type(name: &str, ty: SqlType) -> Result<()> {
    let Some(found) = builtin::type_by_oid(ty.oid.0) else { return Ok(()) };
    match found.kind {
        TypeKind::Pseudo => Err(SqlError::new(
            SqlState::INVALID_TABLE_DEFINITION,
            format!(
                "column \"{name}\" has pseudo-type {}",
                crate::types::format_type(ty.oid.0, None)
            ),
        )),
        TypeKind::Composite if found.namespace == well_known::PG_CATALOG.0 => {
            Err(SqlError::unsupported("columns of composite types are"))
        }
        TypeKind::Base
        | TypeKind::Composite
        | TypeKind::Domain
        | TypeKind::Enum
        | TypeKind::Range
        | TypeKind::Multirange => Ok(()),
    }
}
