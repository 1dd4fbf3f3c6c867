//! Rows within columns, when their type gets or loses a field.
//!
//! A stored row says how many fields it has and what they are, and whoever reads it takes them by their places. So where
//! a composite type, or the row type of a table, changes, the tables whose columns hold such rows (as they are, in an
//! array, in a domain, in another row) are rewritten. Difference: PostgreSQL changes no row; it keeps dropped attributes
//! by their numbers and takes what a row does not have for NULL. It refuses, as this does, what would give the rows values.
//!
//! A definition that has a constant of such a type would mean nothing any more, and is refused (0A000); what names a field goes
//! before it ([`super::field_names`]).

use super::Ddl;
use super::build::Rewrite;
use super::domain::holds;
use crate::bind::kept;
use crate::bind::type_name::fields_of;
use crate::bind::value_relation;
use crate::catalog::definition::{Edge, Edges, Expression, ViewQuery};
use crate::catalog::object::{Class, Object};
use crate::catalog::relation::{Relation, RelationKind};
use crate::catalog::routine::Routine;
use crate::catalog::user_type::{UserType, UserTypeKind};
use crate::catalog::{CatalogSnapshot, builtin};
use crate::error::{Result, SqlError};
use crate::tuple::RowBuf;
use crate::types::array::{Array, Builder};
use crate::types::depth::deeper;
use crate::types::{Datum, Oid, SqlType, record, stored};
use bumpalo::Bump;
use std::collections::BTreeSet;
use std::sync::Arc;
use txn::{TableLock, WaitPolicy};

/// What becomes of the rows of a type.
#[derive(Clone, Debug)]
pub(super) enum Reshape {
    /// A field of this type comes behind the others; it is NULL in all rows.
    Add(SqlType),
    /// The field at this place goes.
    Drop(usize),
}

/// The columns by index that hold rows of a type.
fn holding(snapshot: &CatalogSnapshot, relation: &Relation, row_type: Oid) -> Vec<usize> {
    if !matches!(relation.kind, RelationKind::Table { .. }) {
        return Vec::new();
    }
    let columns = relation.columns.iter().enumerate().filter(|(_, column)| !column.dropped);
    let found = columns.filter(|(_, column)| holds(snapshot, column.ty.oid, row_type));
    found.map(|(at, _)| at).collect()
}

/// A column that holds rows of a type: its table's name and its own. One that has arrays of them is told of before others, as
/// PostgreSQL finds it: the array's type is the first to depend on the rows'.
pub(super) fn used_by(ddl: &mut Ddl<'_>, row_type: Oid) -> Option<(Arc<str>, Arc<str>)> {
    let snapshot = ddl.snapshot();
    let holders = snapshot.holders(row_type);
    let relations = holders.iter().filter_map(|oid| snapshot.relation(*oid));
    let columns = relations.flat_map(|relation| {
        let columns = holding(&snapshot, relation, row_type).into_iter();
        columns.map(move |at| (relation, &relation.columns[at]))
    });
    let is_direct = |ty: Oid| builtin::element_of_made(ty.0) != Some(row_type.0);
    let (relation, column) = columns.min_by_key(|(_, column)| is_direct(column.ty.oid))?;
    Some((Arc::clone(&relation.name), Arc::clone(&column.name)))
}

impl Ddl<'_> {
    /// Changes the rows of a type wherever columns hold them, now that the type is another one than it was in `before`.
    ///
    /// # Errors
    /// 0A000 where a text depends on the rows as they were; 55006, those of locks and of a rewrite.
    pub(super) fn reshape(
        &mut self,
        before: &CatalogSnapshot,
        row_type: Oid,
        change: &Reshape,
    ) -> Result<()> {
        let holders = |relation: &&Arc<Relation>| !holding(before, relation, row_type).is_empty();
        let among = before.holders(row_type);
        let among = among.iter().filter_map(|oid| before.relation(*oid));
        let mut tables: Vec<Oid> = among.filter(holders).map(|relation| relation.oid).collect();
        self.refuse_texts(before, row_type, change)?;
        if let Reshape::Drop(at) = change {
            self.close_fields(row_type, *at as i16 + 1)?;
        }
        tables.sort_unstable();
        for table in tables {
            let Some(relation) = self.relation(table) else { continue };
            let (mode, policy) = (TableLock::AccessExclusive, WaitPolicy::Block);
            self.transaction.lock_table(relation.lock, mode, policy)?;
            let Some(relation) = self.relation(table) else { continue };
            self.refuse_active("ALTER TABLE", &relation)?;
            self.refuse_pending("ALTER TABLE", &relation)?;
            self.reshape_table(before, &relation, row_type, change)?;
        }
        Ok(())
    }

    /// Definitions that take a field of a composite type by a number behind one that has gone take it by the one before; a
    /// relation keeps the numbers of its columns.
    fn close_fields(&mut self, ty: Oid, gone: i16) -> Result<()> {
        let snapshot = self.snapshot();
        if snapshot.user_type(ty).is_none() {
            return Ok(());
        }
        // Views of functions that return such rows have the rows' fields by number.
        let returns =
            |one: &&Arc<Routine>| snapshot.base_type(SqlType::plain(one.result.0)).oid == ty;
        let functions = snapshot.routines().filter(returns);
        let views = functions.flat_map(|one| snapshot.depending(Edge::Function(one.oid)));
        let of_type = snapshot.depending_on_relation(ty);
        for user in of_type.into_iter().chain(views).collect::<BTreeSet<Oid>>() {
            if let Some(relation) = self.relation(user) {
                let mut next = Relation::clone(&relation);
                if let Some(query) = next.query_mut().and_then(ViewQuery::tree_mut) {
                    *query = kept::without_field_of_query(&snapshot, query, (ty, gone))?;
                }
                for made in next.expressions_mut() {
                    *made = kept::without_field(&snapshot, Some(&relation), made, (ty, gone))?;
                }
                for when in next.conditions_mut() {
                    *when = kept::condition_without_field(&snapshot, &relation, when, (ty, gone))?;
                }
                self.catalog.put_relation(self.transaction, next)?;
            }
            if let Some(found) = snapshot.routine(user).cloned() {
                let mut next = Routine::clone(&found);
                for made in next.defaults_mut() {
                    *made = kept::without_field(&snapshot, None, made, (ty, gone))?;
                }
                super::routine::put(self, Some(found), next)?;
            }
            let Some(found) = snapshot.user_type(user) else { continue };
            let mut next = UserType::clone(found);
            let UserTypeKind::Domain(domain) = &mut next.kind else { continue };
            let value = value_relation(domain.base);
            let checks = domain.checks.iter_mut().map(|check| &mut check.condition);
            for made in checks.chain(&mut domain.default) {
                *made = kept::without_field(&snapshot, Some(&value), made, (ty, gone))?;
            }
            super::user_type::put(self, Some(found), next)?;
        }
        Ok(())
    }

    fn reshape_table(
        &mut self,
        before: &CatalogSnapshot,
        relation: &Relation,
        row_type: Oid,
        change: &Reshape,
    ) -> Result<()> {
        let changed = holding(before, relation, row_type);
        let mut next = Relation::clone(relation);
        let mut rewrite = Rewrite { columns: Vec::new(), not_null: Vec::new(), checks: Vec::new() };
        for &at in &changed {
            next.columns[at].missing = None;
            let ty = relation.columns[at].ty.oid;
            let mut arena = Bump::new();
            rewrite.columns.push((
                at,
                Box::new(move |row: &[Datum<'_>]| {
                    arena.reset();
                    let shape = Shape { before, row_type, change, arena: &arena };
                    let mut made = RowBuf::new();
                    made.push(shape.of(ty, row[at])?);
                    Ok(made)
                }),
            ));
        }
        self.rewrite(relation, &mut next, &mut rewrite)?;
        drop(rewrite);
        self.catalog.put_relation(self.transaction, next)?;
        self.forget_columns(relation.oid, &changed)
    }

    /// What ANALYZE has found out about columns is of values that they have no more.
    fn forget_columns(&mut self, table: Oid, columns: &[usize]) -> Result<()> {
        let snapshot = self.snapshot();
        let Some(known) = snapshot.statistics(table) else { return Ok(()) };
        let mut statistics = Arc::clone(known);
        let columns_known = &mut Arc::make_mut(&mut statistics).columns;
        for &at in columns {
            if let Some(column) = columns_known.get_mut(at) {
                *column = None;
            }
        }
        let key = self.catalog.key(Class::Statistics, table);
        let object = Object::Statistics(statistics);
        let before = Object::Statistics(Arc::clone(known));
        self.catalog.change(self.transaction, key, Some(&before), Some(object))
    }

    /// 0A000 for a definition that means nothing any more: one that has a constant of a type whose rows change, or takes a field
    /// that has gone by its place.
    fn refuse_texts(
        &mut self,
        before: &CatalogSnapshot,
        row_type: Oid,
        change: &Reshape,
    ) -> Result<()> {
        let (now, semantics) = (self.snapshot(), self.semantics);
        let own = before.row_type(row_type).map_or(row_type, |relation| relation.oid);
        let touched = |edge: &Edge| match edge {
            Edge::Type(ty) => holds(before, *ty, row_type),
            Edge::Relation(relation, _) => *relation == own && matches!(change, Reshape::Drop(_)),
            Edge::Own(_)
            | Edge::Constraint(_)
            | Edge::Function(_)
            | Edge::Operator(_)
            | Edge::Cast(_) => false,
        };
        let lost = |over: &Relation, edges: &Edges, text: &dyn Fn() -> Option<Arc<str>>| {
            edges.iter().any(touched)
                && text().is_some_and(|text| {
                    semantics.columns_of(&now, over, &text).is_err()
                        && semantics.columns_of(before, over, &text).is_ok()
                })
        };
        let shown = |over: &Relation, made: &Expression| semantics.text(before, over, made).ok();
        // The tree of a view has fields by number, and constants as they were.
        let of_type = |ty: SqlType| holds(before, ty.oid, row_type);
        let users = before.users(row_type);
        let named =
            |edges: &Edges| edges.iter().any(|edge| matches!(edge, Edge::Type(_)) && touched(edge));
        for relation in users.iter().filter_map(|oid| now.relation(*oid)) {
            let mut held = match relation.query().filter(|query| named(query.edges())) {
                Some(query) => kept::has_constant(&now, query, &of_type)?,
                None => false,
            };
            for when in relation.conditions().filter(|when| named(when.edges())) {
                held |= kept::condition_has_constant(&now, relation, when, &of_type)?;
            }
            if held {
                return Err(depending("relation", &relation.name));
            }
        }
        for routine in users.iter().filter_map(|oid| now.routine(*oid)) {
            for default in routine.defaults().filter(|default| named(default.edges())) {
                if kept::expression_has_constant(&now, None, default, &of_type)? {
                    return Err(depending("function", &routine.name));
                }
            }
        }
        let Some((what, name)) = any_definition(&now, &users, &shown, &lost) else {
            return Ok(());
        };
        Err(depending(what, &name))
    }
}

/// 0A000 for a definition that has a constant of rows as they were.
fn depending(what: &str, name: &str) -> SqlError {
    SqlError::unsupported(format!(
        "changing the fields of a row type on which texts of {what} \"{name}\" may depend is"
    ))
}

/// How rows are made what they are to be.
struct Shape<'s, 'a> {
    before: &'s CatalogSnapshot,
    row_type: Oid,
    change: &'s Reshape,
    arena: &'a Bump,
}

impl<'a> Shape<'_, 'a> {
    /// A value of this type, with the rows in it as they are to be.
    fn of<'v>(&self, ty: Oid, value: Datum<'v>) -> Result<Datum<'v>>
    where
        'a: 'v,
    {
        if !holds(self.before, ty, self.row_type) {
            return Ok(value);
        }
        match value {
            Datum::Array(bytes) => {
                let array = Array::of(bytes);
                let ty = self.before.base_type(SqlType { oid: ty, typmod: -1 }).oid.0;
                let element = builtin::element_of_made(ty).map_or(Oid(0), Oid);
                let mut made = Builder::new(array.element);
                for value in array.datums(self.arena) {
                    made.push(&self.of(element, value?)?);
                }
                let dimensions: Vec<_> = array.dimensions().collect();
                Ok(Datum::Array(made.store(self.arena, &dimensions)))
            }
            Datum::Record(bytes) => {
                let declared = fields_of(self.before, ty).unwrap_or_default();
                let mut fields = Vec::new();
                for (at, (stored_as, field)) in record::fields(bytes).enumerate() {
                    let value = match field {
                        Some(field) => stored::read(self.arena, stored_as, field)?,
                        None => Datum::Null,
                    };
                    let of = declared.get(at).map_or(Oid(stored_as), |(_, ty)| ty.oid);
                    let value = deeper(|| self.of(of, value))?;
                    fields.push((SqlType::plain(stored_as), value));
                }
                let own = self.before.base_type(SqlType { oid: ty, typmod: -1 }).oid;
                if own == self.row_type {
                    match self.change {
                        Reshape::Add(ty) => fields.push((*ty, Datum::Null)),
                        Reshape::Drop(at) if *at < fields.len() => drop(fields.remove(*at)),
                        Reshape::Drop(_) => {}
                    }
                }
                Ok(record::build(self.arena, &fields))
            }
            other => Ok(other),
        }
    }
}

/// The first of these relations and types that has a definition of which, with what it is over and how it is `shown`, `is` says
/// so; queries of views and conditions of triggers aside.
fn any_definition(
    snapshot: &CatalogSnapshot,
    users: &BTreeSet<Oid>,
    shown: &dyn Fn(&Relation, &Expression) -> Option<Arc<str>>,
    is: &dyn Fn(&Relation, &Edges, &dyn Fn() -> Option<Arc<str>>) -> bool,
) -> Option<(&'static str, Arc<str>)> {
    let relations = users.iter().filter_map(|oid| snapshot.relation(*oid));
    for relation in relations {
        let is_tree = |made: &Expression| is(relation, made.edges(), &|| shown(relation, made));
        if relation.expressions().any(is_tree) {
            return Some(("relation", Arc::clone(&relation.name)));
        }
    }
    for ty in users.iter().filter_map(|oid| snapshot.user_type(*oid)) {
        let Some(domain) = ty.domain() else { continue };
        let value = value_relation(domain.base);
        if ty.expressions().any(|made| is(&value, made.edges(), &|| shown(&value, made))) {
            return Some(("domain", Arc::clone(&ty.name)));
        }
    }
    None
}
