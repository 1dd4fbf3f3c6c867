//! What depends on a type or a relation by an edge of its definition: defaults, CHECKs, indexes and domains. A cast leads to
//! a type, a constant of `regclass` to a relation. Views that cast to a type are looked for with what they read.

use super::Ddl;
use super::alter_column::indexes_of_column;
use super::dependency::Dependents;
use super::resolve::kind_noun;
use super::type_dependents::{Dependent, What, follow};
use crate::catalog::definition::{Edge, Edges, Expression, ViewQuery};
use crate::catalog::quote::{identifier, qualified};
use crate::catalog::relation::{Constraint, ConstraintKind, Index, Relation};
use crate::catalog::routine::Routine;
use crate::catalog::user_type::{UserType, UserTypeKind};
use crate::catalog::{Named, builtin};
use crate::error::Result;
use crate::types::Oid;
use std::collections::BTreeSet;
use std::sync::Arc;
use txn::{TableLock, WaitPolicy};

/// Where something comes among what depends on the same thing: as PostgreSQL's OIDs count up, columns and defaults with
/// their table's.
pub(super) type Place = (u32, u8, i32);

/// Where the columns of a table come: the last one first.
pub(super) fn column_place(relation: Oid, column: usize) -> Place {
    (relation.0, 0, -(column as i32))
}

/// A part whose definition depends on what goes.
pub(super) struct NamedPart<N> {
    /// What the definition says of it.
    pub(super) names: N,
    /// Where it comes.
    pub(super) place: Place,
    /// How messages name it.
    pub(super) shown: String,
    /// What it is.
    pub(super) what: What,
}

/// Something that goes: where it comes, how messages name it, what it is.
type Found = (Place, String, What);

fn found_parts(parts: Vec<NamedPart<()>>) -> Vec<Found> {
    parts.into_iter().map(|part| (part.place, part.shown, part.what)).collect()
}

/// A search for what depends on something: `names` says it of a definition, `goes` of a column (a table and an index) whether
/// it goes anyway.
struct Search<'s, 'd, N> {
    ddl: &'s mut Ddl<'d>,
    names: &'s dyn Fn(&Edges) -> Option<N>,
    goes: &'s dyn Fn(Oid, usize) -> bool,
    found: Vec<NamedPart<N>>,
}

/// The parts of these relations and types that depend on something, as `names` says of each definition, but those of columns
/// (a table and an index) and of types (`going`) that go anyway.
pub(super) fn named_parts<N>(
    ddl: &mut Ddl<'_>,
    users: &BTreeSet<Oid>,
    names: &dyn Fn(&Edges) -> Option<N>,
    goes: &dyn Fn(Oid, usize) -> bool,
    going: &[Oid],
) -> Vec<NamedPart<N>> {
    let snapshot = ddl.snapshot();
    let mut search = Search { ddl, names, goes, found: Vec::new() };
    for relation in users.iter().filter_map(|oid| snapshot.relation(*oid)) {
        // Of a table without columns its place among those that go says it.
        if !(0..relation.columns.len().max(1)).all(|at| goes(relation.oid, at)) {
            search.defaults(relation);
            search.checks(relation);
            search.indexes(relation);
            search.triggers(relation);
        }
    }
    let types = users.iter().filter_map(|oid| snapshot.user_type(*oid));
    types.filter(|ty| !going.contains(&ty.oid)).for_each(|ty| search.domain(ty));
    users.iter().filter_map(|oid| snapshot.routine(*oid)).for_each(|one| search.routine(one));
    search.found
}

impl<N> Search<'_, '_, N> {
    fn push(&mut self, names: N, place: Place, shown: String, what: What) {
        self.found.push(NamedPart { names, place, shown, what });
    }

    fn defaults(&mut self, relation: &Relation) {
        for (at, column) in relation.columns.iter().enumerate() {
            let Some(default) = &column.default else { continue };
            let Some(names) = (self.names)(default.edges()) else { continue };
            if column.identity.is_some() || (self.goes)(relation.oid, at) {
                continue;
            }
            let of = format!("{} {}", kind_noun(relation), self.ddl.display(relation));
            let (shown, what) = if column.generated {
                let what = What::Column(relation.oid, Arc::clone(&column.name));
                (format!("column {} of {of}", column.name), what)
            } else {
                let shown = format!("default value for column {} of {of}", column.name);
                (shown, What::Default(relation.oid, at))
            };
            self.push(names, (relation.oid.0, 1, at as i32), shown, what);
        }
    }

    fn checks(&mut self, relation: &Relation) {
        for constraint in &relation.constraints {
            let ConstraintKind::Check { condition, .. } = &constraint.kind else { continue };
            let Some(names) = (self.names)(condition.edges()) else { continue };
            if condition.edges().own_columns().any(|at| (self.goes)(relation.oid, at)) {
                continue;
            }
            let of = self.ddl.display(relation);
            let shown = format!("constraint {} on table {of}", constraint.name);
            let what = What::Constraint(relation.oid, constraint.oid);
            self.push(names, (constraint.oid.0, 0, 0), shown, what);
        }
    }

    fn indexes(&mut self, relation: &Relation) {
        for index in &relation.indexes {
            let Some(names) = index.definitions().find_map(self.names) else { continue };
            let mut going = (0..relation.columns.len()).filter(|at| (self.goes)(relation.oid, *at));
            if going.any(|at| indexes_of_column(relation, at).contains(&index.oid)) {
                continue;
            }
            let shown = format!("index {}", self.ddl.display_index(relation, index));
            self.push(names, (index.oid.0, 0, 0), shown, What::Index(relation.oid, index.oid));
        }
    }

    fn triggers(&mut self, relation: &Relation) {
        for trigger in &relation.triggers {
            let Some(names) = (self.names)(&trigger.dependencies()) else { continue };
            let of = format!("{} {}", kind_noun(relation), self.ddl.display(relation));
            let shown = format!("trigger {} on {of}", identifier(&trigger.name));
            let what = What::Trigger(relation.oid, trigger.oid);
            self.push(names, (trigger.oid.0, 0, 0), shown, what);
        }
    }

    fn routine(&mut self, routine: &Routine) {
        let Some(names) = routine.definitions().find_map(self.names) else { return };
        let shown = super::routine::shown(self.ddl, routine);
        self.push(names, (routine.oid.0, 0, 0), shown, What::Routine(routine.oid));
    }

    /// A domain goes with what its default names, and else without the CHECKs that name it.
    fn domain(&mut self, ty: &UserType) {
        let Some(domain) = ty.domain() else { return };
        if let Some(names) = domain.default.as_ref().map(Expression::edges).and_then(self.names) {
            let shown = format!("type {}", self.ddl.display_type(ty));
            let place = (builtin::counted(ty.oid.0), 0, 0);
            return self.push(names, place, shown, What::Domain(ty.oid));
        }
        for check in &domain.checks {
            let Some(names) = (self.names)(check.condition.edges()) else { continue };
            let shown = format!("constraint {}", identifier(&check.name));
            let what = What::DomainConstraint(ty.oid, check.oid);
            self.push(names, (check.oid.0, 0, 0), shown, what);
        }
    }
}

impl Ddl<'_> {
    /// An index's name as messages say it: qualified unless the search path finds it.
    pub(super) fn display_index(&mut self, relation: &Relation, index: &Index) -> String {
        let path = self.path();
        match self.catalog.snapshot().find(&path.schemas, &index.name) {
            Some(Named::Index { index: found, .. }) if found == index.oid => {
                identifier(&index.name)
            }
            _ => qualified(&relation.schema.1, &index.name),
        }
    }

    /// Collects what depends on `relation` itself: views of it, what has a constant of `regclass` that is it, as the default that
    /// draws from a sequence does, and foreign keys of other tables (not in `referring`), but what belongs to columns (a table
    /// and an index), types (`going`) and views (in `gone`) that go anyway.
    pub(super) fn collect_named(
        &mut self,
        relation: &Relation,
        goes: &dyn Fn(Oid, usize) -> bool,
        (going, gone, referring): (&[Oid], &[Oid], &[Oid]),
        what_goes: &str,
        into: &mut Dependents,
    ) {
        let snapshot = self.snapshot();
        let constant = Edge::Relation(relation.oid, 0);
        let users = snapshot.depending(constant).collect();
        let named = |definition: &Edges| definition.leads_to(constant).then_some(());
        let mut found = found_parts(named_parts(self, &users, &named, goes, going));
        found.extend(snapshot.views_of(relation.oid).map(|view| self.found_view(view)));
        let known: Vec<Oid> = found.iter().filter_map(|(.., what)| what.routine()).collect();
        for routine in snapshot.routines_of(relation.oid, None) {
            if !known.contains(&routine.oid) {
                let shown = super::routine::shown(self, routine);
                found.push(((routine.oid.0, 0, 0), shown, What::Routine(routine.oid)));
            }
        }
        let current = self.relation(relation.oid);
        let keys = current.as_deref().unwrap_or(relation).referenced_by.clone();
        for (table, at) in keys {
            let Some(child) = self.relation(table).filter(|_| !referring.contains(&table)) else {
                continue;
            };
            let Some(key) = child.constraints.get(at) else { continue };
            let shown = format!("constraint {} on table {}", key.name, self.display(&child));
            found.push(((key.oid.0, 0, 0), shown, What::Constraint(table, key.oid)));
        }
        self.collect_found(found, (going, gone), what_goes, into);
    }

    fn found_view(&mut self, view: &Relation) -> Found {
        let shown = format!("{} {}", kind_noun(view), self.display(view));
        ((view.oid.0, 0, 0), shown, What::View(view.oid))
    }

    /// Collects what depends on something by a definition, among those who have to do with it (`users`), as `names` says of
    /// each, with the same exceptions.
    pub(super) fn collect_naming(
        &mut self,
        users: &BTreeSet<Oid>,
        names: &dyn Fn(&Edges) -> bool,
        goes: &dyn Fn(Oid, usize) -> bool,
        (going, gone): (&[Oid], &[Oid]),
        what_goes: &str,
        into: &mut Dependents,
    ) {
        let named = |definition: &Edges| names(definition).then_some(());
        let mut found = found_parts(named_parts(self, users, &named, goes, going));
        let snapshot = self.snapshot();
        let named = |view: &&Arc<Relation>| view.query().map(ViewQuery::edges).is_some_and(names);
        let views = users.iter().filter_map(|oid| snapshot.relation(*oid)).filter(named);
        found.extend(views.map(|view| self.found_view(view)));
        self.collect_found(found, (going, gone), what_goes, into);
    }

    /// Collects what has been found, in PostgreSQL's order, each with what depends on it.
    fn collect_found(
        &mut self,
        mut found: Vec<Found>,
        (going, gone): (&[Oid], &[Oid]),
        what_goes: &str,
        into: &mut Dependents,
    ) {
        let gone = [gone, &into.views].concat();
        found.sort_by_key(|(place, ..)| *place);
        let mut parts: Vec<Dependent> = Vec::new();
        for (_, shown, what) in found {
            let one = Dependent { shown, on: what_goes.to_owned(), what };
            let known = |view: Oid| {
                gone.contains(&view) || parts.iter().any(|part| part.view() == Some(view))
            };
            if !one.view().is_some_and(known) {
                follow(self, one, (going, &gone), &mut parts);
            }
        }
        for one in parts {
            into.lines.push((one.shown.clone(), one.on.clone()));
            // Who collects views knows this one then.
            into.views.extend(one.view());
            into.parts.push(one);
        }
    }

    /// The same of the sequences that columns of a table own, or (if one is given) that column.
    pub(super) fn collect_owned_named(
        &mut self,
        table: &Relation,
        column: Option<usize>,
        goes: &dyn Fn(Oid, usize) -> bool,
        gone: (&[Oid], &[Oid]),
        into: &mut Dependents,
    ) {
        let snapshot = self.snapshot();
        let owned = snapshot.owned_sequences(table.oid);
        for (sequence, _) in owned.filter(|found| column.is_none_or(|column| found.1 == column)) {
            let what = format!("sequence {}", self.display(sequence));
            self.collect_named(sequence, goes, (gone.0, gone.1, &[]), &what, into);
        }
    }

    /// Takes a default away.
    pub(super) fn remove_default(&mut self, table: Oid, column: usize) -> Result<()> {
        let Some(found) = self.locked_exclusively(table)? else { return Ok(()) };
        let mut next = Relation::clone(&found);
        next.columns[column].default = None;
        self.catalog.put_relation(self.transaction, next)
    }

    /// Takes a CHECK or a foreign key away.
    pub(super) fn remove_constraint(&mut self, table: Oid, constraint: Oid) -> Result<()> {
        let Some(found) = self.locked_exclusively(table)? else { return Ok(()) };
        let mut next = Relation::clone(&found);
        let keep = |other: &Constraint| other.oid != constraint;
        next.constraints.retain(keep);
        self.put_without(&found, next)
    }

    /// Takes a CHECK of a domain away.
    pub(super) fn remove_domain_constraint(&mut self, domain: Oid, check: Oid) -> Result<()> {
        let snapshot = self.snapshot();
        let Some(found) = snapshot.user_type(domain) else { return Ok(()) };
        let mut next = UserType::clone(found);
        if let UserTypeKind::Domain(domain) = &mut next.kind {
            domain.checks.retain(|other| other.oid != check);
        }
        self.remove_comments(&[check])?;
        super::user_type::put(self, Some(found), next)
    }

    /// A relation that is locked against all others, as it is then; none if it has gone.
    pub(super) fn locked_exclusively(&mut self, oid: Oid) -> Result<Option<Arc<Relation>>> {
        let Some(found) = self.relation(oid) else { return Ok(None) };
        self.transaction.lock_table(found.lock, TableLock::AccessExclusive, WaitPolicy::Block)?;
        Ok(self.relation(oid))
    }
}
