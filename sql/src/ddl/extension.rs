//! CREATE, ALTER and DROP EXTENSION (`commands/extension.c`), for the extensions that the server has built in
//! ([`crate::catalog::extension`]).
//!
//! CREATE EXTENSION records the extension, which is what brings its functions into the database, and then makes its views as
//! CREATE VIEW would, in the schema that was given. What reads the members is found as what reads relations is; a new schema
//! is told to the texts that name them.

use super::Ddl;
use super::dependency::Dependents;
use super::drop::collect_dependents;
use super::resolve::{kind_noun, must_own, undefined_schema, undefined_table, wrong_kind};
use super::type_dependents::{Dependent, depending_on_functions, depending_on_member, drop_all};
use crate::bind::type_name::format_type_be;
use crate::catalog::builtin::ProcedureOf;
use crate::catalog::definition::Edge;
use crate::catalog::extension::{
    Available, Extension, PG_EXTENSION, available, initial_list, unavailable,
};
use crate::catalog::object::{Class, Comment, Object, ObjectKey, Schema};
use crate::catalog::privilege::kept;
use crate::catalog::quote::{identifier, qualified};
use crate::catalog::relation::Relation;
use crate::catalog::{CatalogSnapshot, Named};
use crate::error::{Result, SqlError};
use crate::parse::Statement;
use crate::parse::ast::{
    AlterExtension, CreateExtension, CreateSchema, Drop, ExtensionChange, Ident, ObjectKind,
    ObjectName,
};
use crate::sqlstate::SqlState;
use crate::types::Oid;
use std::collections::BTreeMap;
use std::sync::Arc;
use txn::{TableLock, WaitPolicy};

/// CREATE EXTENSION.
///
/// # Errors
/// 42710 for one that is there, 0A000 for those that are not available, 22023, 3F000, 42501.
pub fn create_extension(ddl: &mut Ddl<'_>, create: &CreateExtension) -> Result<&'static str> {
    const TAG: &str = "CREATE EXTENSION";
    let name = &create.name;
    check_name(name)?;
    ddl.catalog.lock_name(ddl.transaction, Class::Extension, Oid(0), name)?;
    if ddl.snapshot().extension(name).is_some() {
        let message = format!("extension \"{name}\" already exists");
        if !create.if_not_exists {
            return Err(SqlError::new(SqlState::DUPLICATE_OBJECT, message));
        }
        ddl.notice(SqlState::DUPLICATE_OBJECT, format!("{message}, skipping"));
        return Ok(TAG);
    }
    let Some(known) = available(name) else { return Err(unavailable(name)) };
    if let Some(version) = &create.version {
        check_version(version)?;
        if **version != *known.version {
            return Err(SqlError::new(
                SqlState::INVALID_PARAMETER_VALUE,
                format!(
                    "extension \"{name}\" has no installation script nor update path for version \"{version}\""
                ),
            ));
        }
    }
    ddl.owner_to_stay()?;
    let schema = schema_for(ddl, known, create)?;
    for required in known.requires {
        require(ddl, required, create)?;
    }
    demand_may_create(ddl, known)?;
    let mut extension = Extension {
        oid: ddl.catalog.next_oid()?,
        name: known.name.into(),
        owner: ddl.user,
        schema: schema.oid,
        version: known.version.into(),
        relations: Vec::new(),
    };
    put(ddl, None, &extension)?;
    let comment = Comment { class: PG_EXTENSION, text: known.comment.into() };
    let key = ddl.catalog.key(Class::Comment, extension.oid);
    ddl.catalog.change(ddl.transaction, key, None, Some(Object::Comment(Arc::new(comment))))?;
    if !known.views.is_empty() {
        let before = extension.clone();
        extension.relations = make_views(ddl, known, &schema)?;
        put(ddl, Some(before), &extension)?;
    }
    Ok(TAG)
}

/// Has an extension in place that another one requires: with CASCADE it is created, in the schema that was said.
fn require(ddl: &mut Ddl<'_>, required: &'static str, create: &CreateExtension) -> Result<()> {
    if ddl.snapshot().extension(required).is_some() {
        return Ok(());
    }
    if !create.cascade {
        let message = format!("required extension \"{required}\" is not installed");
        let hint = "Use CREATE EXTENSION ... CASCADE to install required extensions too.";
        return Err(SqlError::new(SqlState::UNDEFINED_OBJECT, message).hint(hint));
    }
    let message = format!("installing required extension \"{required}\"");
    ddl.notice(SqlState::SUCCESSFUL_COMPLETION, message);
    let first = CreateExtension {
        name: required.into(),
        if_not_exists: false,
        version: None,
        ..create.clone()
    };
    create_extension(ddl, &first).map(|_| ())
}

/// Where the members go: where it was said, where the extension wants them, or first in the path.
fn schema_for(
    ddl: &mut Ddl<'_>,
    known: &Available,
    create: &CreateExtension,
) -> Result<Arc<Schema>> {
    let given = create.schema.as_deref();
    let find = |ddl: &mut Ddl<'_>, name: &str| {
        let found = ddl.snapshot().schema(name).cloned();
        found.ok_or_else(|| undefined_schema(name))
    };
    if let Some(name) = given {
        find(ddl, name)?;
    }
    match (known.schema, given) {
        (Some(own), Some(given)) if own != given && !create.cascade => Err(SqlError::new(
            SqlState::FEATURE_NOT_SUPPORTED,
            format!("extension \"{}\" must be installed in schema \"{own}\"", known.name),
        )),
        (Some(own), _) => {
            if ddl.snapshot().schema(own).is_none() {
                let (name, owner) = (Some(own.into()), None);
                let (if_not_exists, elements) = (false, Vec::new());
                let made = CreateSchema { name, owner, if_not_exists, elements };
                super::schema::create_schema(ddl, &made)?;
            }
            ddl.schema_to_stay(&|ddl| find(ddl, own))
        }
        (None, Some(given)) => ddl.schema_to_stay(&|ddl| find(ddl, given)),
        (None, None) => ddl.schema_to_stay(&|ddl| {
            let creation = ddl.path().creation;
            let found = creation.and_then(|oid| ddl.snapshot().schema_by_oid(oid).cloned());
            found.ok_or_else(|| {
                let message = "no schema has been selected to create in";
                SqlError::new(SqlState::INVALID_SCHEMA_NAME, message)
            })
        }),
    }
}

/// 42501 for who may not create it: superusers may, and whoever may create in the database where it is trusted.
fn demand_may_create(ddl: &mut Ddl<'_>, known: &Available) -> Result<()> {
    let trusted = known.trusted && super::schema::may_create(ddl).is_ok();
    if trusted || ddl.superuser() {
        return Ok(());
    }
    let hint = match known.trusted {
        true => "Must have CREATE privilege on current database to create this extension.",
        false => "Must be superuser to create this extension.",
    };
    let message = format!("permission denied to create extension \"{}\"", known.name);
    Err(SqlError::new(SqlState::INSUFFICIENT_PRIVILEGE, message).hint(hint))
}

/// Makes the views of an extension in its schema, readable for everybody where they are; their OIDs.
fn make_views(ddl: &mut Ddl<'_>, known: &Available, schema: &Schema) -> Result<Vec<Oid>> {
    let place = identifier(&schema.name);
    let mut made = Vec::with_capacity(known.views.len());
    for view in known.views {
        let (name, (function, arguments)) = (view.name, view.of);
        let text =
            format!("CREATE VIEW {place}.{name} AS SELECT * FROM {place}.{function}({arguments})");
        for parsed in crate::parse::parse(&text)? {
            if let Statement::CreateView(create) = &*parsed.statement {
                super::view::create_view(ddl, create)?;
            }
        }
        let snapshot = ddl.snapshot();
        let relation = snapshot.relation_in(&schema.name, name).cloned();
        let relation = relation.expect("it was made just now");
        made.push(relation.oid);
        let mut next = Relation::clone(&relation);
        next.acl = view.public.then(|| initial_list(relation.owner));
        ddl.catalog.put_relation(ddl.transaction, next)?;
    }
    Ok(made)
}

/// What is said where a member of an extension is to go without it.
pub fn required(what: &str, extension: &str) -> SqlError {
    let message = format!("cannot drop {what} because extension {extension} requires it");
    SqlError::new(SqlState::DEPENDENT_OBJECTS_STILL_EXIST, message)
        .hint(format!("You can drop extension {extension} instead."))
}

/// What names of extensions may not have (`check_valid_extension_name`): they are parts of file names.
fn check_name(name: &str) -> Result<()> {
    check_part("extension", "Extension", name)
}

/// The same of their versions (`check_valid_version_name`).
fn check_version(version: &str) -> Result<()> {
    check_part("extension version", "Version", version)
}

fn check_part(what: &str, noun: &str, name: &str) -> Result<()> {
    let detail = if name.is_empty() {
        "names must not be empty."
    } else if name.contains("--") {
        "names must not contain \"--\"."
    } else if name.starts_with('-') || name.ends_with('-') {
        "names must not begin or end with \"-\"."
    } else if name.contains(['/', '\\']) {
        "names must not contain directory separator characters."
    } else {
        return Ok(());
    };
    let message = format!("invalid {what} name: \"{name}\"");
    let error = SqlError::new(SqlState::INVALID_PARAMETER_VALUE, message);
    Err(error.detail(format!("{noun} {detail}")))
}

/// ALTER EXTENSION.
///
/// # Errors
/// 42704, 42501, 22023, 3F000, 0A000; 42P17 and 55000 for what cannot be a member, is one already, or is none.
pub fn alter_extension(ddl: &mut Ddl<'_>, alter: &AlterExtension) -> Result<&'static str> {
    match &alter.change {
        ExtensionChange::Member { add, kind, object } => {
            change_member(ddl, &alter.name, *add, (*kind, object))?;
        }
        ExtensionChange::Update(to) => update(ddl, &alter.name, to.as_ref())?,
        ExtensionChange::SetSchema(schema) => set_schema(ddl, &alter.name, schema)?,
    }
    Ok("ALTER EXTENSION")
}

/// UPDATE: of one version there is no way to another.
fn update(ddl: &mut Ddl<'_>, name: &Ident, to: Option<&Ident>) -> Result<()> {
    let extension = owned(ddl, name)?;
    if let Some(to) = to {
        check_version(to)?;
    }
    let known = extension.description().ok_or_else(|| unavailable(name))?;
    let to = to.map_or(known.version, |to| &**to);
    if *extension.version != *to {
        let message = format!(
            "extension \"{name}\" has no update path from version \"{}\" to version \"{to}\"",
            extension.version
        );
        return Err(SqlError::new(SqlState::INVALID_PARAMETER_VALUE, message));
    }
    let message = format!("version \"{to}\" of extension \"{name}\" is already installed");
    ddl.notice(SqlState::SUCCESSFUL_COMPLETION, message);
    Ok(())
}

/// SET SCHEMA: the members are in another schema, and whatever names them says so.
fn set_schema(ddl: &mut Ddl<'_>, name: &Ident, schema: &Ident) -> Result<()> {
    let found = ddl.snapshot().extension(name).cloned();
    found.ok_or_else(|| absent(name))?;
    let schema = ddl.schema_to_stay(&|ddl| {
        let found = ddl.snapshot().schema(schema).cloned();
        found.ok_or_else(|| undefined_schema(schema))
    })?;
    let extension = owned(ddl, name)?;
    ddl.may_create_in(&schema)?;
    if !extension.description().is_some_and(|known| known.relocatable) {
        let message = format!("extension \"{name}\" does not support SET SCHEMA");
        return Err(SqlError::new(SqlState::FEATURE_NOT_SUPPORTED, message));
    }
    if extension.schema == schema.oid {
        return Ok(());
    }
    let snapshot = ddl.snapshot();
    let mut moved = Vec::new();
    for oid in &extension.relations {
        let Some(relation) = snapshot.relation(*oid) else { continue };
        let mode = TableLock::AccessExclusive;
        ddl.transaction.lock_table(relation.lock, mode, WaitPolicy::Block)?;
        if ddl.lock_relation_name(schema.oid, &relation.name)? {
            return Err(super::resolve::duplicate_there(&relation.name, &schema));
        }
        super::user_type::demand_free_there(ddl, (relation.row_type.0, &relation.name), &schema)?;
        let place = (schema.oid, Arc::clone(&schema.name));
        moved.push(Relation { schema: place, ..Relation::clone(relation) });
    }
    let next = Extension { schema: schema.oid, ..Extension::clone(&extension) };
    let texts = ddl.reword_for_extension(&moved, &next)?;
    put(ddl, Some(Extension::clone(&extension)), &next)?;
    for relation in moved {
        ddl.catalog.put_relation(ddl.transaction, relation)?;
    }
    ddl.put_reworded(texts)
}

/// ADD and DROP: a relation becomes a member, or is none any more (`ExecAlterExtensionContentsStmt`).
fn change_member(
    ddl: &mut Ddl<'_>,
    name: &Ident,
    add: bool,
    (kind, object): (ObjectKind, &ObjectName),
) -> Result<()> {
    if !matches!(
        kind,
        ObjectKind::Table | ObjectKind::View | ObjectKind::MaterializedView | ObjectKind::Sequence
    ) {
        let message = "cannot add an object of this type to an extension";
        return Err(SqlError::new(SqlState::INVALID_OBJECT_DEFINITION, message));
    }
    let extension = owned(ddl, name)?;
    let check = |ddl: &mut Ddl<'_>, named: &Named, relation: &Relation| {
        let fits = kind_noun(relation) == kind.words().to_ascii_lowercase();
        if !fits || matches!(named, Named::Index { .. }) {
            return Err(wrong_kind(object.name(), kind));
        }
        ddl.check_owner(relation)
    };
    let found = ddl.lock_checked(object, TableLock::ShareUpdateExclusive, &check)?;
    let (_, relation) = found.ok_or_else(|| undefined_table(object))?;
    let what = format!("{} {}", kind_noun(&relation), ddl.display(&relation));
    let of = ddl.snapshot().extension_of_relation(relation.oid).map(|of| Arc::clone(&of.name));
    let refused = |message| SqlError::new(SqlState::OBJECT_NOT_IN_PREREQUISITE_STATE, message);
    let mut next = Extension::clone(&extension);
    match of {
        Some(of) if add => {
            return Err(refused(format!("{what} is already a member of extension \"{of}\"")));
        }
        Some(of) if of == extension.name => next.relations.retain(|oid| *oid != relation.oid),
        _ if !add => {
            return Err(refused(format!("{what} is not a member of extension \"{name}\"")));
        }
        _ => next.relations.push(relation.oid),
    }
    put(ddl, Some(Extension::clone(&extension)), &next)
}

/// DROP EXTENSION.
///
/// # Errors
/// 42704 for what is not there, 42501, 2BP01 where something depends on it.
pub fn drop_extension(ddl: &mut Ddl<'_>, drop: &Drop) -> Result<&'static str> {
    let mut going: Vec<Arc<Extension>> = Vec::new();
    for name in &drop.names {
        if ddl.snapshot().extension(name.name()).is_none() {
            if !drop.if_exists {
                return Err(absent(name.name()));
            }
            let message = format!("extension \"{name}\" does not exist, skipping");
            ddl.notice(SqlState::SUCCESSFUL_COMPLETION, message);
            continue;
        }
        let extension = owned(ddl, name.name())?;
        if !going.contains(&extension) {
            going.push(extension);
        }
    }
    for extension in &going {
        if ddl.snapshot().extension(&extension.name).is_none() {
            continue;
        }
        let what = format!("extension {}", extension.name);
        let requiring = requiring(&ddl.snapshot(), extension);
        let (dependents, typed) = loop {
            let (mut dependents, mut typed) = (Dependents::default(), Vec::new());
            ddl.collect_of_extension(extension, &[], &mut dependents, &mut typed)?;
            for other in &requiring {
                if !going.contains(other) {
                    let (thing, on) = (format!("extension {}", other.name), what.clone());
                    dependents.lines.push((thing, on));
                }
                ddl.collect_of_extension(other, &[], &mut dependents, &mut typed)?;
            }
            if ddl.hold(&dependents, &typed)? {
                break (dependents, typed);
            }
        };
        ddl.drop_dependents(&dependents, drop.cascade, &what)?;
        drop_all(ddl, typed)?;
        for other in requiring.iter().chain([extension]) {
            ddl.remove_extension(other)?;
        }
    }
    Ok("DROP EXTENSION")
}

/// The extensions that require one.
fn requiring(snapshot: &CatalogSnapshot, extension: &Extension) -> Vec<Arc<Extension>> {
    let requires = |other: &&Arc<Extension>| {
        other.description().is_some_and(|known| known.requires.contains(&&*extension.name))
    };
    snapshot.extensions().filter(requires).cloned().collect()
}

impl Ddl<'_> {
    /// Collects what depends on the members of an extension, which are locked for it. What is in `going` goes anyway.
    pub(super) fn collect_of_extension(
        &mut self,
        extension: &Extension,
        going: &[Oid],
        dependents: &mut Dependents,
        typed: &mut Vec<Dependent>,
    ) -> Result<()> {
        let mut members = Vec::new();
        for oid in &extension.relations {
            let Some(relation) = self.relation(*oid) else { continue };
            let mode = TableLock::AccessExclusive;
            self.transaction.lock_table(relation.lock, mode, WaitPolicy::Block)?;
            members.extend(self.relation(*oid));
        }
        let going = [going, extension.relations.as_slice()].concat();
        let Some(known) = extension.description() else { return Ok(()) };
        let snapshot = self.snapshot();
        let mut calling = BTreeMap::new();
        for function in known.functions() {
            for oid in snapshot.depending(Edge::Function(Oid(function.oid))) {
                calling.entry(oid).or_insert(function);
            }
        }
        for (view, called) in calling {
            let Some(view) = snapshot.relation(view).filter(|one| one.query().is_some()) else {
                continue;
            };
            if going.contains(&view.oid) || dependents.views.contains(&view.oid) {
                continue;
            }
            let thing = format!("{} {}", kind_noun(view), self.display(view));
            let on = format!("function {}", self.display_function(called));
            dependents.lines.push((thing.clone(), on));
            dependents.views.push(view.oid);
            self.collect_views(view, None, &going, &thing, dependents);
        }
        let mut depending = Vec::new();
        let gone = [&*going, &dependents.views].concat();
        for ty in known.types().filter(|ty| !ty.is_array()) {
            depending_on_member(self, ty, (&[], &gone), &mut depending);
        }
        depending_on_functions(self, known, &mut depending);
        for one in depending {
            dependents.lines.push((one.shown.clone(), one.on.clone()));
            typed.push(one);
        }
        collect_dependents(self, &members, &going, dependents, typed)
    }

    /// A function as messages show it: with its schema where the path does not find it.
    pub(super) fn display_function(&mut self, function: &ProcedureOf<'_>) -> String {
        let (snapshot, path) = (self.snapshot(), self.path().schemas);
        display_function(&snapshot, &path, function)
    }

    /// Takes an extension away, with its members and what was said of them.
    pub(super) fn remove_extension(&mut self, extension: &Extension) -> Result<()> {
        for oid in &extension.relations {
            if let Some(relation) = self.relation(*oid) {
                self.refuse_active("DROP TABLE", &relation)?;
                self.remove_relation(&relation)?;
            }
        }
        let snapshot = self.snapshot();
        if let Some(known) = extension.description() {
            let functions = known.functions().map(|found| (found.oid, kept::FUNCTION));
            let functions = functions.chain(known.types().map(|ty| (ty.oid, kept::TYPE)));
            let language = known.language.map(|oid| (oid, kept::LANGUAGE));
            let members: Vec<(u32, u32)> = functions.chain(language).collect();
            for (oid, sub) in &members {
                let key = ObjectKey { sub: *sub, ..self.catalog.key(Class::Acl, Oid(*oid)) };
                self.catalog.remove(self.transaction, &snapshot, key)?;
            }
            self.remove_comments(&members.iter().map(|(oid, _)| Oid(*oid)).collect::<Vec<_>>())?;
        }
        self.remove_comments(&[extension.oid])?;
        let key = self.catalog.key(Class::Extension, extension.oid);
        self.catalog.remove(self.transaction, &snapshot, key)
    }

    /// Gives an extension to another role: its functions go with it, its relations are given by themselves.
    pub(super) fn give_extension(&mut self, extension: &Arc<Extension>, to: Oid) -> Result<()> {
        let next = Extension { owner: to, ..Extension::clone(extension) };
        put(self, Some(Extension::clone(extension)), &next)
    }
}

/// A function as messages show it: with its schema where the path does not find it.
pub(super) fn display_function(
    snapshot: &CatalogSnapshot,
    path: &[Oid],
    function: &ProcedureOf<'_>,
) -> String {
    let shown = |ty: &u32| format_type_be(snapshot, path, Oid(*ty));
    let types: Vec<String> = function.arguments.iter().map(shown).collect();
    let found = snapshot.finds_function(path, function);
    let schema = snapshot.function_schema(function).filter(|_| !found);
    let name = match schema.and_then(|schema| snapshot.schema_by_oid(schema)) {
        Some(schema) => qualified(&schema.name, function.name),
        None => identifier(function.name),
    };
    format!("{name}({})", types.join(","))
}

/// An extension, locked against others, that the user owns.
fn owned(ddl: &mut Ddl<'_>, name: &str) -> Result<Arc<Extension>> {
    let find = |ddl: &mut Ddl<'_>| {
        let found = ddl.snapshot().extension(name).cloned();
        found.ok_or_else(|| absent(name))
    };
    let found = find(ddl)?;
    let key = ddl.catalog.key(Class::Extension, found.oid);
    ddl.catalog.lock(ddl.transaction, key)?;
    let found = find(ddl)?;
    if !ddl.snapshot().owns(ddl.user, found.owner) {
        return Err(must_own("extension", name));
    }
    Ok(found)
}

/// The OID of an extension that the user owns.
///
/// # Errors
/// 42704, 42501.
pub fn owned_extension(ddl: &mut Ddl<'_>, name: &str) -> Result<Oid> {
    owned(ddl, name).map(|found| found.oid)
}

fn put(ddl: &mut Ddl<'_>, before: Option<Extension>, extension: &Extension) -> Result<()> {
    let key = ddl.catalog.key(Class::Extension, extension.oid);
    let object = |extension: Extension| Object::Extension(Arc::new(extension));
    let before = before.map(object);
    ddl.catalog.change(ddl.transaction, key, before.as_ref(), Some(object(extension.clone())))
}

fn absent(name: &str) -> SqlError {
    let message = format!("extension \"{name}\" does not exist");
    SqlError::new(SqlState::UNDEFINED_OBJECT, message)
}
