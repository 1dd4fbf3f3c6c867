//! Event triggers: which of them a statement fires, and what they are told of it (`event_trigger.c`).
//!
//! PostgreSQL notes each command and each dropped object where it happens. Here the catalog's changes of the statement say
//! it: what was there before and is not now has been dropped, with the parts that it had (`dropped.rs`). So objects that are
//! none of their own here (TOAST tables, triggers of foreign keys) are not told of.

use super::Returned;
use super::call::Compiled;
use super::dropped::{
    self, Address, CLASS, CONSTRAINT, Changes, DEFAULT, ROUTINE, TRIGGER, address_of,
};
use super::frame::Frame;
use crate::catalog::attachment::EventTrigger;
use crate::catalog::object::{Class, Object, ObjectKey};
use crate::catalog::relation::{Constraint, ConstraintKind, Relation, RelationKind};
use crate::catalog::routine::Routine;
use crate::catalog::{CatalogSnapshot, Named};
use crate::ddl::event_trigger::{Rewriting, fires_for};
use crate::ddl::routine::EVENT_TRIGGER;
use crate::error::{Result, SqlError};
use crate::parse::ast::{
    AlterAction, CommentTarget, ObjectKind, ObjectName, OperatorPart, RenamePart, Statement,
};
use crate::parse::lexer::{Kind, Lexer};
use crate::plpgsql::parse::{Given, Gives};
use crate::plpgsql::tree::VariableType;
use crate::queries::event::{DroppedObject, EventCommand, EventFacts};
use crate::session::Session;
use crate::source::Source;
use crate::sqlstate::SqlState;
use crate::types::array::Array;
use crate::types::{CallContext, Datum, Oid, SqlType, oids, record};
use std::sync::Arc;

/// `pg_identify_object`.
const IDENTIFY: u32 = 3839;
/// `pg_identify_object_as_address`.
const IDENTIFY_AS_ADDRESS: u32 = 3382;

/// The variables that the body of an event trigger's function begins with.
pub(super) fn given() -> Vec<Given> {
    let text = || VariableType::Scalar(SqlType::plain(oids::TEXT));
    let all = ["tg_event", "tg_tag"];
    all.map(|name| Given { name: Some(name.into()), ty: text() }).into()
}

/// The tag of a statement for which event triggers may fire, from its words.
fn tag_of(source: &Source, statement: &Statement) -> Option<String> {
    // Words of a tag that say how its object is to be.
    const HOW: [&str; 11] = [
        "OR",
        "REPLACE",
        "TEMP",
        "TEMPORARY",
        "LOCAL",
        "GLOBAL",
        "UNLOGGED",
        "UNIQUE",
        "RECURSIVE",
        "TRUSTED",
        "PROCEDURAL",
    ];
    let shared = |kind: ObjectKind| {
        matches!(
            kind,
            ObjectKind::Database
                | ObjectKind::Role
                | ObjectKind::Tablespace
                | ObjectKind::Parameter
        )
    };
    let text = source.text();
    let words = Lexer::tokens(&text).into_iter();
    let words = words.take_while(|token| matches!(token.kind, Kind::Keyword(_) | Kind::Word));
    let words = words.map(|token| text[token.start as usize..token.end as usize].to_uppercase());
    let words: Vec<String> = words.filter(|word| !HOW.contains(&word.as_str())).take(4).collect();
    let first = words.first().map_or("", String::as_str);
    let tag = match statement {
        Statement::CreateTableAs(create) if create.materialized => {
            "CREATE MATERIALIZED VIEW".into()
        }
        Statement::CreateTableAs(_) if first == "CREATE" => "CREATE TABLE AS".into(),
        Statement::CreateTableAs(_) => "SELECT INTO".into(),
        Statement::Comment(comment)
            if shared(comment.kind)
                || matches!(comment.target, Some(CommentTarget::EventTrigger(_))) =>
        {
            return None;
        }
        Statement::Grant(grant) if shared(grant.kind) => return None,
        Statement::CreateTrigger(_) => "CREATE TRIGGER".into(),
        Statement::GrantRole(_)
        | Statement::CreateEventTrigger(_)
        | Statement::AlterEventTrigger(_)
        | Statement::DropEventTrigger(_) => return None,
        _ => {
            let lengths = if first == "CREATE" || first == "ALTER" || first == "DROP" {
                2..=4
            } else {
                1..=3
            };
            // The longest that is a tag.
            let tags = lengths.rev().filter(|length| *length <= words.len());
            let mut tags = tags.map(|length| words[..length].join(" "));
            tags.find(|tag| fires_for(tag).is_some())?
        }
    };
    (fires_for(&tag) == Some(true)).then_some(tag)
}

impl Session {
    /// Runs a statement that event triggers may fire for.
    pub(in crate::session) fn with_events<T>(
        &mut self,
        parsed: &Arc<Source>,
        statement: &Statement,
        mut run: impl FnMut(&mut Session) -> Result<T>,
    ) -> Result<T> {
        let snapshot = self.catalog.last_snapshot();
        if snapshot.event_triggers().next().is_none() {
            return run(self);
        }
        let Some(tag) = tag_of(parsed, statement) else { return run(self) };
        self.fire_event(&tag, EventFacts { event: "ddl_command_start", ..EventFacts::default() })?;
        let (before, place) = (Arc::clone(self.catalog.snapshot()), self.catalog.savepoint());
        let done = match self.has_event(&tag, "table_rewrite") {
            true => self.with_rewrites(&tag, &mut run)?,
            false => run(self)?,
        };
        let touched = self.catalog.changed_since(place);
        let changes = Changes { before, after: Arc::clone(self.catalog.snapshot()), touched };
        if self.has_event(&tag, "sql_drop") {
            let dropped = self.dropped(statement, &changes)?;
            if !dropped.is_empty() {
                let event = "sql_drop";
                self.fire_event(&tag, EventFacts { event, dropped, ..EventFacts::default() })?;
            }
        }
        if self.has_event(&tag, "ddl_command_end") {
            let commands = self.commands(&tag, statement, &changes)?;
            let event = "ddl_command_end";
            self.fire_event(&tag, EventFacts { event, commands, ..EventFacts::default() })?;
        }
        Ok(done)
    }

    /// Runs a statement that may rewrite tables: again, behind the triggers that fire for each.
    fn with_rewrites<T>(
        &mut self,
        tag: &str,
        run: &mut dyn FnMut(&mut Session) -> Result<T>,
    ) -> Result<T> {
        let engine = Arc::clone(&self.engine);
        let writes = self.block.ensure(engine.manager(), &self.wait).savepoint();
        let (changes, told) = (self.catalog.savepoint(), self.notices.get_mut().len());
        let around = self.rewriting.replace(Rewriting::default());
        let done = run(self);
        let own = std::mem::replace(&mut self.rewriting, around);
        let tables = own.map(|own| own.tables.take()).unwrap_or_default();
        if tables.is_empty() {
            return done;
        }
        self.block.ensure(engine.manager(), &self.wait).rollback_to(writes);
        self.catalog.rollback_to(changes);
        self.notices.get_mut().truncate(told);
        self.basis = None;
        for table in tables {
            let rewrite = Some(table);
            let facts = EventFacts { event: "table_rewrite", rewrite, ..EventFacts::default() };
            self.fire_event(tag, facts)?;
        }
        run(self)
    }

    /// The event triggers of an event and a tag, by name.
    fn event_triggers(&self, tag: &str, event: &str) -> Vec<Arc<EventTrigger>> {
        let replica = self.settings.plain().replica;
        let fires = |one: &&Arc<EventTrigger>| {
            &*one.event == event
                && (one.tags.is_empty() || one.tags.iter().any(|known| known == tag))
                && match one.enabled {
                    b'A' => true,
                    b'R' => replica,
                    b'D' => false,
                    _ => !replica,
                }
        };
        let snapshot = self.catalog.last_snapshot();
        let mut all: Vec<_> = snapshot.event_triggers().filter(fires).cloned().collect();
        all.sort_by(|one, other| one.name.cmp(&other.name));
        all
    }

    fn has_event(&self, tag: &str, event: &str) -> bool {
        !self.event_triggers(tag, event).is_empty()
    }

    /// Fires the triggers of an event.
    fn fire_event(&mut self, tag: &str, facts: EventFacts) -> Result<()> {
        let (event, facts) = (facts.event, Arc::new(facts));
        for one in self.event_triggers(tag, event) {
            let snapshot = self.catalog.last_snapshot();
            let Some(routine) = snapshot.routine(one.function).cloned() else {
                let message = format!("cache lookup failed for function {}", one.function.0);
                return Err(SqlError::new(SqlState::INTERNAL_ERROR, message));
            };
            self.events.push(Arc::clone(&facts));
            let fired = self.under_rights(&routine, &mut |session| {
                session.run_event_trigger(&routine, event, tag)
            });
            self.events.pop();
            fired?;
        }
        Ok(())
    }

    fn compiled_event_trigger(&mut self, routine: &Arc<Routine>) -> Result<Arc<Compiled>> {
        let key = (routine.oid, vec![Oid(EVENT_TRIGGER)]);
        if let Some(known) = self.known_body(&key, routine) {
            return Ok(known);
        }
        let (name, gives) = (&routine.name, Gives::Nothing { procedure: false });
        let body = self.parsed_body(&routine.body, (name, Some(name)), &given(), false, gives)?;
        Ok(self.keep_body(key, routine, body, Vec::new()))
    }

    fn run_event_trigger(&mut self, routine: &Arc<Routine>, event: &str, tag: &str) -> Result<()> {
        let compiled = self.compiled_event_trigger(routine)?;
        let body = Arc::clone(&compiled.body);
        let mut frame = Frame::new(body.variables.len());
        frame.set(0, Datum::Text(event));
        frame.set(1, Datum::Text(tag));
        let name: Arc<str> = self.routine_text(routine).into();
        self.run_in(compiled.id, name, body, frame, Returned::default(), false)?;
        Ok(())
    }

    /// What the statement has dropped.
    fn dropped(&mut self, statement: &Statement, changes: &Changes) -> Result<Vec<DroppedObject>> {
        let before = &changes.before;
        let path = self.basis().path.clone();
        self.with_context_of(before, |context, catalog| {
            let found = dropped::dropped(context, catalog, statement, changes, &path)?;
            let all = found.into_iter().map(|(address, original, normal)| {
                let mut named = identified(context, address);
                // Parts of relations are told of with their relation's schema.
                if [DEFAULT, TRIGGER].contains(&address.0) {
                    named.schema = named.names.first().cloned();
                }
                DroppedObject {
                    address,
                    original,
                    normal,
                    temporary: named.schema.as_deref() == Some("pg_temp"),
                    kind: named.kind,
                    schema: named.schema.map(|text| plain(&text)),
                    name: named.name.filter(|_| address.2 == 0).map(|text| plain(&text)),
                    identity: named.identity,
                    names: named.names,
                    arguments: named.arguments,
                }
            });
            Ok(all.collect())
        })
    }

    /// What the statement has done, by the objects that it was about.
    fn commands(
        &mut self,
        tag: &str,
        statement: &Statement,
        changes: &Changes,
    ) -> Result<Vec<EventCommand>> {
        let path = self.basis().path.clone();
        let found = commands(tag, statement, changes, &path);
        self.with_context_of(&changes.after, |context, _| {
            let all = found.into_iter().map(|(address, tag, kind)| {
                let named = address.map(|address| identified(context, address));
                let named = named.unwrap_or_default();
                let kind = kind.map(str::to_owned).or(named.kind);
                let schema = named.schema.map(|text| plain(&text));
                EventCommand {
                    address,
                    tag: tag.to_owned(),
                    kind,
                    schema,
                    identity: named.identity,
                }
            });
            Ok(all.collect())
        })
    }
}

/// How an object is told of.
#[derive(Default)]
struct Identified {
    kind: Option<String>,
    schema: Option<String>,
    name: Option<String>,
    identity: Option<String>,
    names: Vec<String>,
    arguments: Vec<String>,
}

fn identified(context: &CallContext<'_>, (class, object, sub): Address) -> Identified {
    let arguments = [Datum::Oid(class.0), Datum::Oid(object.0), Datum::Int4(sub)];
    let asked = |function| match context.catalog.call(context, function, &arguments) {
        Some(Ok(Datum::Record(bytes))) => Some(bytes),
        _ => None,
    };
    let field = |bytes: Option<&[u8]>, at: usize| -> Option<String> {
        match record::field(context.arena, bytes?, at) {
            Ok(Datum::Text(text)) => Some(text.to_owned()),
            _ => None,
        }
    };
    let list = |bytes: Option<&[u8]>, at: usize| -> Vec<String> {
        let Some(Ok(Datum::Array(bytes))) =
            bytes.map(|bytes| record::field(context.arena, bytes, at))
        else {
            return Vec::new();
        };
        let all = Array::of(bytes).datums(context.arena);
        all.filter_map(|one| match one {
            Ok(Datum::Text(text)) => Some(text.to_owned()),
            _ => None,
        })
        .collect()
    };
    let (told, parts) = (asked(IDENTIFY), asked(IDENTIFY_AS_ADDRESS));
    Identified {
        kind: field(told, 0),
        schema: field(told, 1).map(|schema| match schema.starts_with("pg_temp_") {
            true => "pg_temp".to_owned(),
            false => schema,
        }),
        name: field(told, 2),
        identity: field(told, 3),
        names: list(parts, 1),
        arguments: list(parts, 2),
    }
}

/// A name without its quotes.
fn plain(name: &str) -> String {
    match name.strip_prefix('"').and_then(|name| name.strip_suffix('"')) {
        Some(inner) => inner.replace("\"\"", "\""),
        None => name.to_owned(),
    }
}

/// A part of a statement: what it was about, its tag, and what it is called where there are several.
type Command<'c> = (Option<Address>, &'c str, Option<&'static str>);

fn commands<'c>(
    tag: &'c str,
    statement: &Statement,
    changes: &Changes,
    path: &[Oid],
) -> Vec<Command<'c>> {
    let Changes { before, after, touched } = changes;
    let made: Vec<&ObjectKey> = touched
        .iter()
        .filter(|key| before.object(**key).is_none() && after.object(**key).is_some())
        .collect();
    let relation = |key: &&ObjectKey| {
        (key.class == Class::Relation).then(|| after.relation(key.oid)).flatten()
    };
    let named = |snapshot: &CatalogSnapshot, name: &ObjectName| {
        let found = match name.schema() {
            Some(schema) => snapshot.named(snapshot.schema(schema)?.oid, name.name()),
            None => snapshot.find(path, name.name()),
        };
        Some(match found? {
            Named::Relation(oid) | Named::Index { index: oid, .. } => oid,
        })
    };
    let first_touched = |wanted: &dyn Fn(&ObjectKey) -> bool| {
        let there = |key: &&ObjectKey| after.object(**key).is_some() && wanted(key);
        touched.iter().find(there).and_then(address_of)
    };
    let one = |address: Option<Address>| -> Vec<Command<'c>> {
        address.map(|address| (Some(address), tag, None)).into_iter().collect()
    };
    // A new table with the sequences, keys and foreign keys that come with it.
    let table = |relation: &Relation, own_tag: &'c str| -> Vec<Command<'c>> {
        let sequences: Vec<Oid> =
            after.owned_sequences(relation.oid).map(|(sequence, _)| sequence.oid).collect();
        let sequences = || sequences.iter().map(|oid| (CLASS, *oid, 0));
        let mut all: Vec<Command<'c>> =
            sequences().map(|one| (Some(one), "CREATE SEQUENCE", None)).collect();
        all.push((Some((CLASS, relation.oid, 0)), own_tag, None));
        let mut indexes: Vec<Oid> = relation.indexes.iter().map(|index| index.oid).collect();
        indexes.sort();
        all.extend(indexes.into_iter().map(|oid| (Some((CLASS, oid, 0)), "CREATE INDEX", None)));
        let refers = |one: &Constraint| matches!(one.kind, ConstraintKind::ForeignKey(_));
        if relation.constraints.iter().any(refers) {
            all.push((Some((CLASS, relation.oid, 0)), "ALTER TABLE", None));
        }
        all.extend(sequences().map(|one| (Some(one), "ALTER SEQUENCE", None)));
        all
    };
    match statement {
        Statement::Drop(_)
        | Statement::DropRoutine(_)
        | Statement::DropOperator(_)
        | Statement::DropOperatorPart(_)
        | Statement::DropConversion(_)
        | Statement::DropCast(_)
        | Statement::DropTrigger(_)
        | Statement::DropOwned(_) => Vec::new(),
        Statement::Grant(grant) => vec![(None, tag, Some(grant.kind.words()))],
        Statement::AlterDefaultPrivileges(alter) => {
            let kinds = match alter.kind {
                'r' => "TABLES",
                'S' => "SEQUENCES",
                'f' => "FUNCTIONS",
                'T' => "TYPES",
                _ => "SCHEMAS",
            };
            vec![(None, tag, Some(kinds))]
        }
        Statement::Comment(_) => {
            let key = touched.iter().find(|key| key.class == Class::Comment);
            let comment = key.and_then(|key| {
                let object = after.object(*key).or_else(|| before.object(*key))?;
                let Object::Comment(comment) = object else { return None };
                Some((comment.class, key.oid, key.sub.cast_signed()))
            });
            one(comment)
        }
        Statement::CreateTable(_) => {
            let mut tables = made.iter().filter_map(relation);
            let is_table = |one: &&Arc<Relation>| matches!(one.kind, RelationKind::Table { .. });
            tables.find(is_table).map(|found| table(found, tag)).unwrap_or_default()
        }
        Statement::CreateSchema(_) => {
            let schema = made.iter().find(|key| key.class == Class::Schema);
            let mut all = one(schema.and_then(|key| address_of(key)));
            for found in made.iter().filter_map(relation) {
                match found.kind {
                    RelationKind::Table { .. } => all.extend(table(found, "CREATE TABLE")),
                    RelationKind::View { .. } => {
                        all.push((Some((CLASS, found.oid, 0)), "CREATE VIEW", None));
                    }
                    RelationKind::Sequence(ref sequence) if sequence.owner.is_none() => {
                        all.push((Some((CLASS, found.oid, 0)), "CREATE SEQUENCE", None));
                    }
                    _ => {}
                }
            }
            all
        }
        Statement::CreateExtension(_) => {
            let own = made.iter().find(|key| key.class == Class::Extension);
            one(own.and_then(|key| address_of(key)))
        }
        Statement::CreateTrigger(create) => {
            let found = touched.iter().filter_map(|key| relation(&key)).find_map(|found| {
                let own = found.triggers.iter().find(|trigger| trigger.name == create.name)?;
                Some((TRIGGER, own.oid, 0))
            });
            one(found)
        }
        Statement::CreateOperator(create) => one(first_touched(&|key| {
            let found = after.user_operator(key.oid).filter(|_| key.class == Class::Operator);
            found.is_some_and(|one| one.name == create.name.name && one.function != Oid(0))
        })),
        Statement::CreateOperatorClass(_) => {
            let family = made.iter().find(|key| key.class == Class::OperatorFamily);
            let family = family.map(|key| (address_of(key), "CREATE OPERATOR FAMILY", None));
            let class = one(first_touched(&|key| key.class == Class::OperatorClass));
            family.into_iter().chain(class).collect()
        }
        Statement::AlterOperatorPart(alter) => {
            let class = match alter.part {
                OperatorPart::Class => Class::OperatorClass,
                OperatorPart::Family => Class::OperatorFamily,
            };
            one(first_touched(&|key| key.class == class))
        }
        Statement::CreateIndex(_) => one(first_touched(&|key| key.class == Class::Index)),
        Statement::AlterComposite(_) => {
            let found = first_touched(&|key| key.class == Class::Type);
            one(found.map(|(_, oid, _)| (CLASS, oid, 0)))
        }
        Statement::AlterTable(alter) => {
            let Some(oid) = named(before, &alter.name).or_else(|| named(after, &alter.name)) else {
                return Vec::new();
            };
            let sequences = made.iter().filter_map(relation);
            let sequences = sequences.filter(|one| matches!(one.kind, RelationKind::Sequence(_)));
            let sequences: Vec<Address> = sequences.map(|one| (CLASS, one.oid, 0)).collect();
            let mut all: Vec<Command<'c>> =
                sequences.iter().map(|one| (Some(*one), "CREATE SEQUENCE", None)).collect();
            // A part of their own is what the actions say of the sequences of identity columns.
            let counts = alter.actions.iter().filter_map(|action| match action {
                AlterAction::AlterType { name, .. } | AlterAction::SetIdentity { name, .. } => {
                    let column = before.relation(oid)?.column(name)?;
                    let identity = before.relation(oid)?.columns[column].identity;
                    let mut owned = before.owned_sequences(oid).filter(|_| identity.is_some());
                    let (sequence, _) = owned.find(|(_, of)| *of == column)?;
                    after.relation(sequence.oid)?;
                    Some((Some((CLASS, sequence.oid, 0)), "ALTER SEQUENCE", None))
                }
                _ => None,
            });
            all.extend(counts);
            all.push((Some((CLASS, oid, 0)), tag, None));
            all.extend(sequences.iter().map(|one| (Some(*one), "ALTER SEQUENCE", None)));
            all
        }
        Statement::Rename(rename) => match (&rename.part, named(before, &rename.name)) {
            (Some(RenamePart::Column(_)), Some(oid)) => {
                let column = after.relation(oid).and_then(|found| found.column(&rename.to));
                one(column.map(|at| (CLASS, oid, at as i32 + 1)))
            }
            (Some(RenamePart::Constraint(_)), Some(oid)) => {
                let found = after.relation(oid).and_then(|found| {
                    let own = found.constraints.iter().find(|one| one.name == rename.to);
                    own.map(|own| own.oid)
                });
                one(found.map(|own| (CONSTRAINT, own, 0)))
            }
            (None, Some(oid)) if !is_type(rename.kind) => one(Some((CLASS, oid, 0))),
            _ => one(first_touched(&|key| address_of(key).is_some())),
        },
        Statement::ChangeOwner(change) if !is_type(change.kind) => {
            match named(after, &change.name) {
                Some(oid) => one(Some((CLASS, oid, 0))),
                None => one(first_touched(&|key| address_of(key).is_some())),
            }
        }
        Statement::AlterSequence(alter) => {
            one(named(after, &alter.name).map(|oid| (CLASS, oid, 0)))
        }
        Statement::Refresh(refresh) => one(named(after, &refresh.name).map(|oid| (CLASS, oid, 0))),
        Statement::AlterRoutine(alter) => match first_touched(&|key| key.class == Class::Routine) {
            Some(found) => one(Some(found)),
            // What is given what it has is told of too.
            None => {
                let all = after.routines_named(alter.name.name());
                let all: Vec<_> = all.iter().filter(|one| path.contains(&one.schema)).collect();
                match &all[..] {
                    [found] => one(Some((ROUTINE, found.oid, 0))),
                    _ => Vec::new(),
                }
            }
        },
        _ => one(first_touched(&|key| address_of(key).is_some())),
    }
}

/// Whether names of this kind are no relations'.
fn is_type(kind: ObjectKind) -> bool {
    matches!(
        kind,
        ObjectKind::Type | ObjectKind::Domain | ObjectKind::Schema | ObjectKind::Extension
    )
}
