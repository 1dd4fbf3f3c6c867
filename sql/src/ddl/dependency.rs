//! What depends on what: DROP without CASCADE fails where something else would be left hanging.

use super::Ddl;
use super::resolve::kind_noun;
use super::type_dependents::{Dependent, What, depending_on_rows, drop_all};
use crate::catalog::CatalogSnapshot;
use crate::catalog::definition::{Edge, Edges};
use crate::catalog::extension::Extension;
use crate::catalog::object::{Class, Object, ObjectKey};
use crate::catalog::privilege::kept;
use crate::catalog::quote::{qualified, regclass};
use crate::catalog::relation::{Constraint, ConstraintKind, ForeignKey, Relation};
use crate::catalog::routine::Routine;
use crate::catalog::snapshot::Change;
use crate::error::{Result, Severity, SqlError};
use crate::parse::lexer::{Kind, Lexer};
use crate::sqlstate::SqlState;
use crate::types::Oid;
use crate::types::depth::deeper;

use std::collections::BTreeSet;
use std::sync::Arc;
use txn::{TableLock, WaitPolicy};

/// Things that go with what is dropped.
#[derive(Default)]
pub(super) struct Dependents {
    /// One line each: `constraint c_a_fkey on table c depends on table p`.
    pub(super) lines: Vec<(String, String)>,
    /// Foreign keys: the table that has it, the constraint.
    pub(super) foreign_keys: Vec<(Oid, Oid)>,
    /// Views, materialized ones too: those that read others behind them.
    pub(super) views: Vec<Oid>,
    /// What has a definition that leads to it, and what depends on that.
    pub(super) parts: Vec<Dependent>,
}

impl Dependents {
    /// Has what depends on the last of several objects told of first, as PostgreSQL does, and what depends on two of them with
    /// the one that was named earlier. `starts` says where the lines of each begin.
    pub(super) fn tell_last_first(&mut self, starts: &[usize]) {
        let mut told = BTreeSet::new();
        let mut groups: Vec<Vec<(String, String)>> = starts.iter().map(|_| Vec::new()).collect();
        let mut of = 0;
        for (at, line) in std::mem::take(&mut self.lines).into_iter().enumerate() {
            while starts.get(of + 1).is_some_and(|next| *next <= at) {
                of += 1;
            }
            if told.insert(line.0.clone()) {
                groups[of].push(line);
            }
        }
        self.lines = groups.into_iter().rev().flatten().collect();
    }
}

/// The bodies of routines in the standard's form, which are kept as text and name what gets another name.
#[derive(Default)]
pub(super) struct Reworded {
    /// The routines whose bodies name such, with the texts that these are to have.
    routines: Vec<(Oid, Arc<str>)>,
    /// How other bodies name relations: as constants of type `regclass`, which say this before and that behind it.
    constants: Vec<(String, String)>,
    /// The same of types, those of relations' rows too.
    types: Vec<(String, String)>,
    /// All these: relations and types.
    objects: Vec<Oid>,
}

impl Reworded {
    /// Notes that a type is called otherwise: its schema and its name, before and behind it.
    pub(super) fn note_type(&mut self, object: Oid, before: (&str, &str), after: (&str, &str)) {
        if before != after {
            self.types.push((qualified(before.0, before.1), qualified(after.0, after.1)));
            self.objects.push(object);
        }
    }

    /// Whoever has a definition that leads to one of them.
    fn users(&self, snapshot: &CatalogSnapshot) -> BTreeSet<Oid> {
        let mut users = BTreeSet::new();
        for object in &self.objects {
            users.extend(snapshot.depending(Edge::Relation(*object, 0)));
            let rows = snapshot.relation(*object).map(|relation| relation.row_type.0);
            users.extend(snapshot.depending_on_type(rows.unwrap_or(*object)));
        }
        users
    }

    /// A text with the new names; none if it has none of the old ones.
    fn renewed(&self, text: &str) -> Option<Arc<str>> {
        let mut now = text.to_owned();
        if text.contains("::regclass") {
            for (before, after) in &self.constants {
                now = now.replace(before, after);
            }
        }
        if self.types.iter().any(|(before, _)| now.contains(before)) {
            now = self.with_types(&now);
        }
        (now != text).then(|| now.into())
    }

    /// The same of types, whose names stand behind casts.
    fn with_types(&self, text: &str) -> String {
        let (mut now, mut copied) = (String::with_capacity(text.len()), 0);
        for tokens in Lexer::tokens(text).windows(4) {
            let [cast, schema, dot, name] = tokens else { continue };
            if cast.kind != Kind::TypeCast || dot.kind != Kind::Symbol(b'.') {
                continue;
            }
            let (start, end) = (schema.start as usize, name.end as usize);
            let named = &text[start..end];
            if let Some((_, after)) = self.types.iter().find(|(before, _)| before == named) {
                now.push_str(&text[copied..start]);
                now.push_str(after);
                copied = end;
            }
        }
        now.push_str(&text[copied..]);
        now
    }
}

/// What messages call several objects that are dropped at once.
pub(super) const SEVERAL: &str = "desired object(s)";

impl Ddl<'_> {
    /// Collects the foreign keys of tables not in `going` that refer to `relation` and of which `depends`, given their table,
    /// says that they need what goes. `what` is how messages name that.
    pub(super) fn collect_references(
        &mut self,
        relation: &Relation,
        going: &[Oid],
        depends: &dyn Fn(Oid, &ForeignKey) -> bool,
        what: &str,
        into: &mut Dependents,
    ) {
        let current = self.relation(relation.oid);
        let keys = current.as_deref().unwrap_or(relation).referenced_by.clone();
        for (table, at) in keys {
            let Some(child) = self.relation(table) else { continue };
            let Some(constraint) = child.constraints.get(at) else { continue };
            let ConstraintKind::ForeignKey(key) = &constraint.kind else { continue };
            if going.contains(&table) || !depends(table, key) {
                continue;
            }
            let shown = self.display(&child);
            let thing = format!("constraint {} on table {shown}", constraint.name);
            into.lines.push((thing, what.to_owned()));
            into.foreign_keys.push((table, constraint.oid));
        }
    }

    /// Collects the views (not in `going`) that read `relation` or, if one is given, its column of that number, with what
    /// has the types of their rows, and the views that read those.
    pub(super) fn collect_views(
        &mut self,
        relation: &Relation,
        column: Option<i16>,
        going: &[Oid],
        what: &str,
        into: &mut Dependents,
    ) {
        let snapshot = self.snapshot();
        for view in snapshot.views_of(relation.oid) {
            if going.contains(&view.oid) || into.views.contains(&view.oid) {
                continue;
            }
            let read = |edge| view.query().is_some_and(|query| query.edges().leads_to(edge));
            if column.is_none_or(|column| read(Edge::Relation(relation.oid, column))) {
                let thing = format!("{} {}", kind_noun(view), self.display(view));
                into.lines.push((thing.clone(), what.to_owned()));
                into.views.push(view.oid);
                let known = [going, &into.views].concat();
                let mut typed = Vec::new();
                depending_on_rows(self, view, (&[], &known), &mut typed);
                for one in typed {
                    if into.lines.iter().all(|(thing, _)| *thing != one.shown) {
                        into.lines.push((one.shown.clone(), one.on.clone()));
                        into.parts.push(one);
                    }
                }
                deeper(|| self.collect_views(view, None, going, &thing, into));
            }
        }
        for routine in snapshot.routines_of(relation.oid, column) {
            let known = into.parts.iter().any(|one| one.routine() == Some(routine.oid));
            if known || going.contains(&routine.oid) {
                continue;
            }
            let shown = super::routine::shown(self, routine);
            into.lines.push((shown.clone(), what.to_owned()));
            let goes = What::Routine(routine.oid);
            into.parts.push(Dependent { shown: shown.clone(), on: what.to_owned(), what: goes });
            deeper(|| super::routine::collect_callers(self, routine, &shown, into));
        }
    }

    /// Gives a relation its new names, those of its columns too, in what names it as well.
    pub(super) fn put_renamed(&mut self, next: Relation) -> Result<()> {
        let texts = self.reword(std::slice::from_ref(&next))?;
        self.catalog.put_relation(self.transaction, next)?;
        self.put_reworded(texts)
    }

    /// What will be said where these relations are named once they are called so: the texts of the bodies that read them are
    /// bound as they are, and printed with the new names.
    pub(super) fn reword(&mut self, renamed: &[Relation]) -> Result<Reworded> {
        self.reword_with(renamed, &[], None)
    }

    /// The same where the members of an extension are about to be in another schema: what calls its functions names them
    /// otherwise too.
    pub(super) fn reword_for_extension(
        &mut self,
        renamed: &[Relation],
        next: &Extension,
    ) -> Result<Reworded> {
        let own = next.description().map_or(0..0, |known| known.members.clone());
        let own: Vec<Oid> = own.map(Oid).collect();
        let key = self.catalog.key(Class::Extension, next.oid);
        let change = (key, Some(Object::Extension(Arc::new(next.clone()))));
        self.reword_with(renamed, &own, Some(change))
    }

    /// What calls one of the functions of extensions in `called` is printed anew too, in the catalog as it is with `change`.
    pub(super) fn reword_with(
        &mut self,
        renamed: &[Relation],
        called: &[Oid],
        change: Option<Change>,
    ) -> Result<Reworded> {
        let snapshot = self.snapshot();
        let mut reworded = Reworded::default();
        for next in renamed {
            let Some(old) = snapshot.relation(next.oid) else { continue };
            let before = (&*old.schema.1, &*old.name);
            let after = (&*next.schema.1, &*next.name);
            if before != after {
                reworded.constants.push((regclass(before.0, before.1), regclass(after.0, after.1)));
            }
            reworded.note_type(next.oid, before, after);
        }
        let now = match change {
            Some(change) => self.catalog.imagined(vec![change]),
            None => self.with_new_fields(&snapshot, renamed)?,
        };
        let naming = renamed.iter().flat_map(|next| snapshot.depending_on_relation(next.oid));
        let calling = called.iter().flat_map(|oid| {
            snapshot.depending(Edge::Function(*oid)).chain(snapshot.depending(Edge::Type(*oid)))
        });
        for oid in naming.chain(calling).collect::<BTreeSet<Oid>>() {
            let Some(routine) = snapshot.routine(oid).filter(|one| one.standard.is_some()) else {
                continue;
            };
            let text = self.semantics.reworded_body(&snapshot, &now, routine, renamed)?;
            reworded.routines.push((oid, reworded.renewed(&text).unwrap_or(text)));
        }
        Ok(reworded)
    }

    /// The catalog as it is, but with the new names of columns, by which a view may name fields of rows too.
    fn with_new_fields(
        &mut self,
        snapshot: &Arc<CatalogSnapshot>,
        renamed: &[Relation],
    ) -> Result<Arc<CatalogSnapshot>> {
        let [next] = renamed else { return Ok(Arc::clone(snapshot)) };
        let Some(old) = snapshot.relation(next.oid) else { return Ok(Arc::clone(snapshot)) };
        if old.columns.iter().zip(&next.columns).all(|(old, new)| old.name == new.name) {
            return Ok(Arc::clone(snapshot));
        }
        Ok(self.catalog.imagined_relation(next))
    }

    /// Keeps the new texts, now that what they name is called so.
    pub(super) fn put_reworded(&mut self, reworded: Reworded) -> Result<()> {
        let snapshot = self.snapshot();
        for (oid, text) in &reworded.routines {
            let Some(found) = snapshot.routine(*oid).cloned() else { continue };
            let mut next = Routine::clone(&found);
            next.standard = found.standard.as_ref().map(|body| body.reworded(Arc::clone(text)));
            super::routine::put(self, Some(found), next)?;
        }
        if reworded.constants.is_empty() && reworded.types.is_empty() {
            return Ok(());
        }
        let users = reworded.users(&snapshot);
        self.put_bodies(&users, &|_, routine| {
            let body = routine.standard.as_ref();
            Ok(body.and_then(|body| reworded.renewed(body)))
        })
    }

    /// Has bodies of which `leads` says so print what they name as it is called now; `before` is the catalog that they were
    /// written in, and `users` are those whose they are.
    pub(super) fn put_reprinted(
        &mut self,
        before: &CatalogSnapshot,
        users: &BTreeSet<Oid>,
        leads: &dyn Fn(&Edges) -> bool,
    ) -> Result<()> {
        let semantics = self.semantics;
        self.put_bodies(users, &|now, routine| {
            let body = routine.standard.as_ref().filter(|body| leads(body.edges()));
            body.map(|_| semantics.reworded_body(before, now, routine, &[])).transpose()
        })
    }

    /// Keeps the bodies of these routines in other words, where `reword` has some in the catalog as it is now.
    fn put_bodies(
        &mut self,
        users: &BTreeSet<Oid>,
        reword: &dyn Fn(&CatalogSnapshot, &Routine) -> Result<Option<Arc<str>>>,
    ) -> Result<()> {
        let snapshot = self.snapshot();
        for routine in users.iter().filter_map(|oid| snapshot.routine(*oid)) {
            if routine.standard.is_none() {
                continue;
            }
            let key = self.catalog.key(Class::Routine, routine.oid);
            self.catalog.lock(self.transaction, key)?;
            let now = self.snapshot();
            let Some(found) = now.routine(routine.oid).cloned() else { continue };
            let Some(text) = reword(&now, &found)? else { continue };
            let mut next = Routine::clone(&found);
            next.standard = next.standard.map(|body| body.reworded(text));
            super::routine::put(self, Some(found), next)?;
        }
        Ok(())
    }

    /// Locks what would go with something. False if anything has changed until all of it was locked: what depends on it is to be
    /// collected again then, as `findDependentObjects` looks at each dependency again behind its lock.
    pub(super) fn hold(&mut self, dependents: &Dependents, typed: &[Dependent]) -> Result<bool> {
        let version = self.snapshot().version();
        let keys = dependents.foreign_keys.iter().map(|(table, _)| *table);
        for oid in keys.chain(dependents.views.iter().copied()) {
            self.locked_exclusively(oid)?;
        }
        for one in dependents.parts.iter().chain(typed) {
            one.lock(self)?;
        }
        Ok(self.snapshot().version() == version)
    }

    /// 2BP01 where there are dependents and no CASCADE; else tells of them, and drops them.
    pub(super) fn drop_dependents(
        &mut self,
        dependents: &Dependents,
        cascade: bool,
        what: &str,
    ) -> Result<()> {
        if dependents.lines.is_empty() {
            return Ok(());
        }
        self.tell_dependents(&dependents.lines, cascade, what)?;
        self.remove_dependents(dependents)
    }

    /// 2BP01 where there are dependents and no CASCADE; else tells of them.
    pub(super) fn tell_dependents(
        &mut self,
        lines: &[(String, String)],
        cascade: bool,
        what: &str,
    ) -> Result<()> {
        // What goes for two reasons goes once.
        let mut told = BTreeSet::new();
        let lines: Vec<&(String, String)> =
            lines.iter().filter(|(thing, _)| told.insert(thing)).collect();
        if !cascade && !lines.is_empty() {
            let detail: Vec<String> =
                lines.iter().map(|(thing, on)| format!("{thing} depends on {on}")).collect();
            let them = if what == SEVERAL { "them" } else { "it" };
            return Err(SqlError::new(
                SqlState::DEPENDENT_OBJECTS_STILL_EXIST,
                format!("cannot drop {what} because other objects depend on {them}"),
            )
            .detail(detail.join("\n"))
            .hint("Use DROP ... CASCADE to drop the dependent objects too."));
        }
        self.tell_cascade(&lines.iter().map(|line| line.0.clone()).collect::<Vec<_>>());
        Ok(())
    }

    /// Drops what depends on something that goes.
    pub(super) fn remove_dependents(&mut self, dependents: &Dependents) -> Result<()> {
        for &(table, constraint) in &dependents.foreign_keys {
            self.remove_constraint(table, constraint)?;
        }
        drop_all(self, dependents.parts.clone())?;
        dependents.views.iter().rev().try_for_each(|view| self.drop_view(*view))
    }

    /// Drops a view because something that it is made of goes.
    pub(super) fn drop_view(&mut self, view: Oid) -> Result<()> {
        let Some(found) = self.locked_exclusively(view)? else { return Ok(()) };
        self.refuse_active("DROP TABLE", &found)?;
        self.remove_relation(&found)
    }

    /// NOTICE: drop cascades to ...
    pub(super) fn tell_cascade(&mut self, things: &[String]) {
        let notice = |message: String| {
            SqlError::new(SqlState::SUCCESSFUL_COMPLETION, message).severity(Severity::Notice)
        };
        match things {
            [] => {}
            [one] => self.notices.push(notice(format!("drop cascades to {one}"))),
            many => {
                let lines: Vec<String> =
                    many.iter().map(|thing| format!("drop cascades to {thing}")).collect();
                let count = many.len();
                self.notices.push(
                    notice(format!("drop cascades to {count} other objects"))
                        .detail(lines.join("\n")),
                );
            }
        }
    }

    /// Locks the tables that foreign keys which go have referred to: they too are no longer what they were to who reads them.
    pub(super) fn lock_referenced(
        &mut self,
        relation: &Relation,
        goes: &dyn Fn(&Constraint) -> bool,
    ) -> Result<()> {
        let keys = relation.constraints.iter().filter(|constraint| goes(constraint));
        for constraint in keys {
            let ConstraintKind::ForeignKey(key) = &constraint.kind else { continue };
            if let Some(referenced) = self.relation(key.references) {
                let (mode, policy) = (TableLock::AccessExclusive, WaitPolicy::Block);
                self.transaction.lock_table(referenced.lock, mode, policy)?;
            }
        }
        Ok(())
    }

    /// Removes what COMMENT ON has said of objects that go.
    pub(super) fn remove_comments(&mut self, oids: &[Oid]) -> Result<()> {
        let snapshot = self.snapshot();
        for oid in oids {
            for (sub, _) in snapshot.comments_on(*oid) {
                let key = ObjectKey { sub, ..self.catalog.key(Class::Comment, *oid) };
                self.catalog.remove(self.transaction, &snapshot, key)?;
            }
        }
        Ok(())
    }

    /// Removes a relation and what is only its own: its trees, its statistics and comments, sequences of its columns.
    pub(super) fn remove_relation(&mut self, relation: &Arc<Relation>) -> Result<()> {
        self.lock_referenced(relation, &|_| true)?;
        let snapshot = self.snapshot();
        let owned: Vec<Arc<Relation>> =
            snapshot.owned_sequences(relation.oid).map(|found| Arc::clone(found.0)).collect();
        for sequence in owned {
            self.remove_relation(&sequence)?;
        }
        for tree in relation.trees() {
            self.catalog.drop_tree(tree);
        }
        let mut oids = vec![relation.oid];
        oids.extend(relation.indexes.iter().map(|index| index.oid));
        let keys = relation.indexes.iter().filter_map(|index| index.constraint.as_ref());
        oids.extend(keys.map(|key| key.0));
        oids.extend(relation.constraints.iter().map(|constraint| constraint.oid));
        oids.push(relation.row_type.0);
        self.remove_comments(&oids)?;
        let acls = snapshot.acls_of(relation.oid).map(|(sub, _)| sub);
        let acls = acls.filter(|sub| *sub < kept::FUNCTION).map(|sub| (relation.oid, sub));
        let row_type = (relation.row_type.0, kept::TYPE);
        for (oid, sub) in acls.chain([row_type]) {
            let key = ObjectKey { sub, ..self.catalog.key(Class::Acl, oid) };
            self.catalog.remove(self.transaction, &snapshot, key)?;
        }
        let statistics = self.catalog.key(Class::Statistics, relation.oid);
        self.catalog.remove(self.transaction, &snapshot, statistics)?;
        self.catalog.remove_relation(self.transaction, relation)
    }
}
