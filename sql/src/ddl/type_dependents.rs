//! What depends on a type: columns, attributes of composite types, domains over it, and views, defaults, CHECKs and
//! indexes that cast to it.
//!
//! A view depends on a type where its query casts to it; of a column that it reads it depends, whatever type that has.

use super::dependency::Dependents;
use super::drop::remove_index;
use super::named_parts::{column_place, named_parts};
use super::resolve::kind_noun;
use super::user_type::remove;
use super::{Ddl, attachment, attribute};
use crate::catalog::attachment::Attachment;
use crate::catalog::definition::{Edge, Edges};
use crate::catalog::extension::Available;
use crate::catalog::object::Class;
use crate::catalog::relation::{Relation, RelationKind};
use crate::catalog::routine::Routine;
use crate::catalog::user_type::UserType;
use crate::catalog::{CatalogSnapshot, builtin};
use crate::error::Result;
use crate::parse::ast::Ident;
use crate::types::depth::deeper;
use crate::types::{Oid, SqlType};
use std::collections::BTreeSet;
use std::sync::Arc;

/// What goes with a type.
#[derive(Clone)]
pub(super) struct Dependent {
    /// How messages name it.
    pub(super) shown: String,
    /// What it depends on: the type, or what depends on that.
    pub(super) on: String,
    /// What it is.
    pub(super) what: What,
}

/// What something is that goes.
#[derive(Clone)]
pub(super) enum What {
    /// A column of a table.
    Column(Oid, Ident),
    /// A view.
    View(Oid),
    /// An attribute of a composite type.
    Attribute(Oid, Ident),
    /// A domain over the type.
    Domain(Oid),
    /// The default of a column, by its place.
    Default(Oid, usize),
    /// A CHECK of a table.
    Constraint(Oid, Oid),
    /// An index of a table.
    Index(Oid, Oid),
    /// A trigger of a table or view.
    Trigger(Oid, Oid),
    /// A CHECK of a domain.
    DomainConstraint(Oid, Oid),
    /// A function or procedure that takes or gives the type.
    Routine(Oid),
    /// What stands on functions and types.
    Attached(Attachment),
}

impl What {
    /// The routine that it is.
    pub(super) fn routine(&self) -> Option<Oid> {
        match self {
            What::Routine(routine) => Some(*routine),
            _ => None,
        }
    }
}

impl Dependent {
    /// The table of which it is a constraint.
    pub(super) fn constrained(&self) -> Option<Oid> {
        match self.what {
            What::Constraint(table, _) => Some(table),
            _ => None,
        }
    }

    /// The view that it is.
    pub(super) fn view(&self) -> Option<Oid> {
        match self.what {
            What::View(view) => Some(view),
            _ => None,
        }
    }

    /// The routine that it is.
    pub(super) fn routine(&self) -> Option<Oid> {
        self.what.routine()
    }

    /// What stands on functions and types, if it is such.
    pub(super) fn attached(&self) -> Option<&Attachment> {
        match &self.what {
            What::Attached(one) => Some(one),
            _ => None,
        }
    }

    /// How definitions and others lead to it.
    fn edge(&self) -> Option<Edge> {
        match &self.what {
            What::Routine(routine) => Some(Edge::Function(*routine)),
            What::Attached(one) => one.edge(),
            _ => None,
        }
    }

    /// Whose it is, or whose what it is part of.
    pub(super) fn owner(&self, snapshot: &CatalogSnapshot) -> Option<Oid> {
        match self.what {
            What::Attached(ref one) => one.owner(),
            What::Column(relation, _)
            | What::View(relation)
            | What::Default(relation, _)
            | What::Constraint(relation, _)
            | What::Trigger(relation, _)
            | What::Index(relation, _) => snapshot.relation(relation).map(|found| found.owner),
            What::Routine(routine) => snapshot.routine(routine).map(|found| found.owner),
            What::Attribute(ty, _) | What::Domain(ty) | What::DomainConstraint(ty, _) => {
                snapshot.user_type(ty).map(|found| found.owner)
            }
        }
    }

    /// Locks the relation or the type that it is, or is part of.
    pub(super) fn lock(&self, ddl: &mut Ddl<'_>) -> Result<()> {
        match self.what {
            What::Column(relation, _)
            | What::View(relation)
            | What::Default(relation, _)
            | What::Constraint(relation, _)
            | What::Trigger(relation, _)
            | What::Index(relation, _) => ddl.locked_exclusively(relation).map(|_| ()),
            What::Attached(ref one) => {
                let key = ddl.catalog.key(one.class(), one.oid());
                ddl.catalog.lock(ddl.transaction, key)
            }
            What::Routine(routine) => {
                let key = ddl.catalog.key(Class::Routine, routine);
                ddl.catalog.lock(ddl.transaction, key)
            }
            What::Attribute(ty, _) | What::Domain(ty) | What::DomainConstraint(ty, _) => {
                let key = ddl.catalog.key(Class::Type, ty);
                ddl.catalog.lock(ddl.transaction, key)
            }
        }
    }

    fn drop(self, ddl: &mut Ddl<'_>) -> Result<()> {
        match self.what {
            What::Column(table, name) => drop_column(ddl, table, &name),
            What::View(view) => ddl.drop_view(view),
            What::Attribute(oid, name) => attribute::drop_by_name(ddl, oid, &name),
            What::Domain(oid) => remove(ddl, oid),
            What::Default(table, column) => ddl.remove_default(table, column),
            What::Constraint(table, constraint) => ddl.remove_constraint(table, constraint),
            What::Index(table, index) => match ddl.locked_exclusively(table)? {
                Some(table) => remove_index(ddl, &table, index),
                None => Ok(()),
            },
            What::Trigger(table, trigger) => match ddl.locked_exclusively(table)? {
                Some(table) => super::trigger::remove(ddl, &table, trigger),
                None => Ok(()),
            },
            What::DomainConstraint(domain, check) => ddl.remove_domain_constraint(domain, check),
            What::Routine(routine) => match ddl.snapshot().routine(routine).cloned() {
                Some(found) => super::routine::remove(ddl, &found),
                None => Ok(()),
            },
            What::Attached(one) => attachment::remove(ddl, &one),
        }
    }
}

/// Drops what goes with types: views before what they read.
pub(super) fn drop_all(ddl: &mut Ddl<'_>, dependents: Vec<Dependent>) -> Result<()> {
    let (views, others): (Vec<_>, Vec<_>) =
        dependents.into_iter().partition(|one| one.view().is_some());
    views.into_iter().rev().chain(others).try_for_each(|one| one.drop(ddl))
}

/// Drops a column because its type goes.
fn drop_column(ddl: &mut Ddl<'_>, table: Oid, name: &Ident) -> Result<()> {
    let Some(relation) = ddl.locked_exclusively(table)? else { return Ok(()) };
    ddl.drop_column(&relation, name, true, true)
}

/// Whether a type is `wanted`, or an array of it.
pub(super) fn is_of(ty: Oid, wanted: Oid) -> bool {
    ty == wanted || builtin::element_type(ty.0).is_some_and(|element| Oid(element) == wanted)
}

/// Whether a type is `wanted`, an array of it, or a domain over one of these.
fn is_over(snapshot: &CatalogSnapshot, mut ty: Oid, wanted: Oid) -> bool {
    while !is_of(ty, wanted) {
        match snapshot.user_type(ty).and_then(|found| found.domain()) {
            Some(domain) => ty = domain.base.oid,
            None => return false,
        }
    }
    true
}

/// Collects what depends on a type, and on what depends on it, in PostgreSQL's order: what depends on the type of arrays
/// first, then by OID. `going` are the types and the relations that go in any case.
pub(super) fn depending(
    ddl: &mut Ddl<'_>,
    ty: &UserType,
    going: (&[Oid], &[Oid]),
    into: &mut Vec<Dependent>,
) {
    let shown = ddl.display_type(ty);
    depending_on(ddl, (ty.oid, &shown), going, into);
}

/// The same of a type that an extension brings.
pub(super) fn depending_on_member(
    ddl: &mut Ddl<'_>,
    ty: &builtin::Type,
    going: (&[Oid], &[Oid]),
    into: &mut Vec<Dependent>,
) {
    let shown = ddl.type_shown(SqlType::plain(ty.oid));
    depending_on(ddl, (Oid(ty.oid), &shown), going, into);
}

/// Collects the defaults, CHECKs, indexes and domains that call functions of an extension.
pub(super) fn depending_on_functions(
    ddl: &mut Ddl<'_>,
    known: &Available,
    into: &mut Vec<Dependent>,
) {
    let snapshot = ddl.snapshot();
    let functions = known.functions().map(|found| Oid(found.oid));
    let users: BTreeSet<Oid> =
        functions.flat_map(|oid| snapshot.depending(Edge::Function(oid))).collect();
    let names = |made: &Edges| {
        made.iter().find_map(|edge| match edge {
            Edge::Function(oid) if known.members.contains(&oid.0) => Some(oid.0),
            _ => None,
        })
    };
    // What goes with a column of a type that goes is told of as that.
    let typed: Vec<Oid> = known.types().map(|ty| Oid(ty.oid)).collect();
    let goes = |table: Oid, at: usize| {
        let column = snapshot.relation(table).and_then(|relation| relation.columns.get(at));
        column.is_none_or(|column| {
            column.dropped || typed.iter().any(|ty| is_over(&snapshot, column.ty.oid, *ty))
        })
    };
    let over = snapshot.types().filter(|one| {
        one.domain().is_some_and(|own| typed.iter().any(|ty| is_over(&snapshot, own.base.oid, *ty)))
    });
    let over: Vec<Oid> = over.map(|one| one.oid).collect();
    let mut parts = named_parts(ddl, &users, &names, &goes, &over);
    parts.sort_by_key(|part| (part.names, part.place));
    for part in parts {
        let Some(called) = builtin::function(part.names) else { continue };
        let on = format!("function {}", ddl.display_function(called));
        follow(ddl, Dependent { shown: part.shown, on, what: part.what }, (&[], &[]), into);
    }
}

/// The same of the type of a relation's rows.
pub(super) fn depending_on_rows(
    ddl: &mut Ddl<'_>,
    relation: &Relation,
    going: (&[Oid], &[Oid]),
    into: &mut Vec<Dependent>,
) {
    if relation.row_type.0 != Oid(0) {
        // Who reads the relation depends on that.
        let snapshot = ddl.snapshot();
        let reading = snapshot.views_of(relation.oid).map(|view| view.oid);
        let naming = snapshot.routines_of(relation.oid, None).map(|routine| routine.oid);
        let gone: Vec<Oid> = reading.chain(naming).chain(going.1.iter().copied()).collect();
        let going = (going.0, &*gone);
        let shown = ddl.display(relation);
        depending_on(ddl, (relation.row_type.0, &shown), going, into);
    }
}

fn depending_on(
    ddl: &mut Ddl<'_>,
    (ty, shown_type): (Oid, &str),
    (going, gone): (&[Oid], &[Oid]),
    into: &mut Vec<Dependent>,
) {
    let snapshot = ddl.snapshot();
    let mut users: BTreeSet<Oid> = snapshot.typed(ty).collect();
    users.extend(snapshot.depending_on_type(ty));
    users.extend(snapshot.depending_on_relation(ty));
    // Whether a definition leads to the type, or to arrays of it.
    let names = |made: &Edges| {
        let found = made.iter().filter_map(|edge| match edge {
            Edge::Type(named) if is_of(*named, ty) => Some(*named != ty),
            // A field of its values.
            Edge::Relation(relation, _) if *relation == ty => Some(false),
            _ => None,
        });
        found.max()
    };
    let on = |array: bool| match array {
        true => (0, format!("type {shown_type}[]")),
        false => (1, format!("type {shown_type}")),
    };
    let (mut found, mut shows) = (Vec::new(), Vec::new());
    let relations = users.iter().filter_map(|oid| snapshot.relation(*oid));
    for relation in relations.filter(|relation| !gone.contains(&relation.oid)) {
        if let Some(query) = relation.query() {
            let shown = format!("{} {}", kind_noun(relation), ddl.display(relation));
            let first = names(query.edges());
            let (rank, on) = on(first.unwrap_or_default());
            let one = Dependent { shown, on, what: What::View(relation.oid) };
            if first.is_some() {
                found.push(((rank, (relation.oid.0, 0, 0)), one));
            } else if relation.columns.iter().any(|column| is_of(column.ty.oid, ty)) {
                shows.push(one);
            }
            continue;
        }
        if !matches!(relation.kind, RelationKind::Table { .. }) {
            continue;
        }
        for (at, column) in relation.columns.iter().enumerate() {
            if !column.dropped && is_of(column.ty.oid, ty) {
                let (rank, on) = on(column.ty.oid != ty);
                let shown = format!("column {} of table {}", column.name, ddl.display(relation));
                let what = What::Column(relation.oid, Arc::clone(&column.name));
                let place = column_place(relation.oid, at);
                found.push(((rank, place), Dependent { shown, on, what }));
            }
        }
    }
    let types = users.iter().filter_map(|oid| snapshot.user_type(*oid));
    for other in types.filter(|other| !going.contains(&other.oid)) {
        let counted = builtin::counted(other.oid.0);
        for (at, attribute) in other.attributes().unwrap_or_default().iter().enumerate() {
            if is_of(attribute.ty.oid, ty) {
                let (rank, on) = on(attribute.ty.oid != ty);
                let name = ddl.display_type(other);
                let shown = format!("column {} of composite type {name}", attribute.name);
                let what = What::Attribute(other.oid, Arc::clone(&attribute.name));
                let place = (counted, 0, -(at as i32));
                found.push(((rank, place), Dependent { shown, on, what }));
            }
        }
        if let Some(domain) = other.domain()
            && is_of(domain.base.oid, ty)
        {
            let (rank, on) = on(domain.base.oid != ty);
            let shown = format!("type {}", ddl.display_type(other));
            let what = What::Domain(other.oid);
            found.push(((rank, (counted, 0, 0)), Dependent { shown, on, what }));
        }
    }
    let goes = |oid: Oid, at: usize| {
        let column = snapshot.relation(oid).and_then(|relation| relation.columns.get(at));
        gone.contains(&oid) || column.is_none_or(|column| is_over(&snapshot, column.ty.oid, ty))
    };
    for part in named_parts(ddl, &users, &names, &goes, going) {
        if let What::Domain(oid) | What::DomainConstraint(oid, _) = part.what
            && is_over(&snapshot, oid, ty)
        {
            continue;
        }
        let (rank, on) = on(part.names);
        found.push(((rank, part.place), Dependent { shown: part.shown, on, what: part.what }));
    }
    let others = |one: &&Arc<Routine>| !gone.contains(&one.oid);
    for routine in snapshot.routines().filter(others) {
        let types = routine.parameters.iter().map(|one| one.ty).chain([routine.result]);
        let arrays = types.filter(|used| is_of(*used, ty)).map(|used| used != ty);
        let Some(array) = arrays.max() else { continue };
        let shown = format!("function {}", ddl.display_function(&routine.procedure()));
        let (rank, on) = on(array);
        let what = What::Routine(routine.oid);
        found.push(((rank, (routine.oid.0, 0, 0)), Dependent { shown, on, what }));
    }
    for one in snapshot.attachments() {
        let arrays = one.needs().into_iter().filter_map(|edge| match edge {
            Edge::Type(used) if is_of(used, ty) => Some(used != ty),
            _ => None,
        });
        let Some(array) = arrays.max() else { continue };
        let shown = attachment::shown(ddl, &one);
        let (rank, on) = on(array);
        let place = (one.oid().0, 0, 0);
        found.push(((rank, place), Dependent { shown, on, what: What::Attached(one) }));
    }
    found.sort_by_key(|(order, _)| *order);
    // Who reads what goes in any case goes with that.
    let mut reached = gone.to_vec();
    let mut reading = BTreeSet::new();
    if !shows.is_empty() {
        gone.iter().for_each(|oid| reading.extend(snapshot.users(*oid)));
    }
    for view in reading.iter().filter_map(|oid| snapshot.relation(*oid)) {
        let reads = |edge: &Edge| matches!(edge, Edge::Relation(oid, _) if reached.contains(oid));
        if view.query().is_some_and(|query| query.edges().iter().any(reads)) {
            reached.push(view.oid);
        }
    }
    shows.retain(|one: &Dependent| one.view().is_some_and(|view| !reached.contains(&view)));
    // What shows the type and depends on nothing else that goes is told of last.
    // A view that depends on the type itself is told of as such, whatever else it reads: it is younger than that, and
    // PostgreSQL looks at the youngest first.
    let mut told = gone.to_vec();
    let casts = |view: &Oid| {
        let query = snapshot.relation(*view).and_then(|view| view.query());
        let own = |edge: &Edge| matches!(edge, Edge::Type(named) if is_of(*named, ty));
        query.is_some_and(|query| query.edges().iter().any(own))
    };
    told.extend(found.iter().filter_map(|(_, one)| one.view()).filter(casts));
    told.extend(found.iter().filter_map(|(_, one)| one.routine()));
    told.extend(found.iter().filter_map(|(_, one)| one.attached().map(Attachment::oid)));
    for dependent in found.into_iter().map(|(_, one)| one).chain(shows) {
        let known = |view: Oid| into.iter().any(|one| one.view() == Some(view));
        let routine = dependent.routine();
        let twice = routine.is_some() && into.iter().any(|one| one.routine() == routine);
        if twice || dependent.view().is_some_and(known) || is_told(&dependent, into) {
            continue;
        }
        follow(ddl, dependent, (going, &told), into);
    }
}

/// Whether what stands on functions and types is collected already.
fn is_told(dependent: &Dependent, into: &[Dependent]) -> bool {
    let own = dependent.attached().map(Attachment::oid);
    own.is_some() && into.iter().any(|one| one.attached().map(Attachment::oid) == own)
}

/// Collects something that goes, and what depends on it.
pub(super) fn follow(
    ddl: &mut Ddl<'_>,
    dependent: Dependent,
    (going, gone): (&[Oid], &[Oid]),
    into: &mut Vec<Dependent>,
) {
    let snapshot = ddl.snapshot();
    let shown = dependent.shown.clone();
    let read = match &dependent.what {
        What::Column(relation, name) => snapshot.relation(*relation).map(|relation| {
            (relation, relation.column(name).and_then(|at| i16::try_from(at + 1).ok()))
        }),
        What::View(view) => snapshot.relation(*view).map(|view| (view, None)),
        _ => None,
    };
    let rows = dependent.view().and_then(|view| snapshot.relation(view));
    let over = match dependent.what {
        What::Domain(oid) => snapshot.user_type(oid).cloned(),
        _ => None,
    };
    let edge = dependent.edge();
    let called: BTreeSet<Oid> =
        edge.into_iter().flat_map(|edge| snapshot.depending(edge)).collect();
    into.push(dependent);
    for one in edge.into_iter().flat_map(|edge| snapshot.attached_to(edge)) {
        let (on, what) = (shown.clone(), What::Attached(one.clone()));
        let dependent = Dependent { shown: attachment::shown(ddl, &one), on, what };
        if !is_told(&dependent, into) && !gone.contains(&one.oid()) {
            deeper(|| follow(ddl, dependent, (going, gone), into));
        }
    }
    if let Some(edge) = edge {
        let names = |made: &Edges| made.leads_to(edge).then_some(());
        let goes = |oid: Oid, _: usize| gone.contains(&oid);
        let mut parts = named_parts(ddl, &called, &names, &goes, going);
        parts.sort_by_key(|part| part.place);
        for part in parts {
            let (on, what) = (shown.clone(), part.what);
            let part = Dependent { shown: part.shown, on, what };
            deeper(|| follow(ddl, part, (going, gone), into));
        }
    }
    for caller in called.iter().filter_map(|oid| snapshot.relation(*oid)) {
        let told =
            gone.contains(&caller.oid) || into.iter().any(|one| one.view() == Some(caller.oid));
        if !told && caller.query().is_some() {
            let view = format!("{} {}", kind_noun(caller), ddl.display(caller));
            let (on, what) = (shown.clone(), What::View(caller.oid));
            deeper(|| follow(ddl, Dependent { shown: view, on, what }, (going, gone), into));
        }
    }
    if let Some(view) = rows {
        depending_on_rows(ddl, view, (going, gone), into);
    }
    if let Some((relation, column)) = read {
        readers(ddl, (relation, column), &shown, gone, into);
    }
    if let Some(over) = over {
        depending(ddl, &over, (going, gone), into);
    }
}

/// Collects the views that read a relation that goes, or a column of one, and are not collected yet.
fn readers(
    ddl: &mut Ddl<'_>,
    (relation, column): (&Relation, Option<i16>),
    shown: &str,
    gone: &[Oid],
    into: &mut Vec<Dependent>,
) {
    let mut known = gone.to_vec();
    known.extend(into.iter().filter_map(Dependent::view));
    let mut found = Dependents::default();
    ddl.collect_views(relation, column, &known, shown, &mut found);
    let mut parts = found.parts.into_iter().peekable();
    let mut views = found.views.into_iter();
    for (shown, on) in found.lines {
        match parts.next_if(|part| part.shown == shown) {
            Some(part) if into.iter().any(|one| one.shown == part.shown) => {}
            Some(part) => into.push(part),
            None => into.extend(views.next().map(|view| Dependent {
                shown,
                on,
                what: What::View(view),
            })),
        }
    }
}
