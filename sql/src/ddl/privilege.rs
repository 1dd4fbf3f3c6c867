//! GRANT, REVOKE and ALTER DEFAULT PRIVILEGES: who may do what with tables, their columns, sequences, schemas, databases,
//! functions, types, languages and parameters.
//!
//! As in PostgreSQL (`aclchk.c`), a grant is made in the owner's name by the owner and by superusers; by others in the name
//! of the role, among those whose privileges they have, that holds most of the grant options asked for itself, their own
//! first. What that role may not pass on is left out with a warning. Lists are kept and shown as PostgreSQL's.

use super::Ddl;
use super::resolve::{undefined_column, undefined_schema, undefined_table};
use crate::bind::dml::composite_type;
use crate::catalog::acl::{self, Acl, AclChange, Privileges};
use crate::catalog::builtin::{self, Procedure, ProcedureOf};
use crate::catalog::object::{
    Class, Database, DefaultAcl, Object, ObjectKey, ParameterAcl, Schema, well_known,
};
use crate::catalog::privilege::{Grantable, kept};
use crate::catalog::privilege::{READ_ALL_DATA, WRITE_ALL_DATA};
use crate::catalog::relation::{Relation, RelationKind};
use crate::catalog::system_column::{SYSTEM_COLUMNS, system_column};
use crate::error::{Result, SqlError};
use crate::parse::ast::{AlterDefaultPrivileges, Grant, Ident, ObjectKind, ObjectName, TypeName};
use crate::settings::server;
use crate::sqlstate::SqlState;
use crate::types::{Oid, SqlType};
use std::sync::Arc;
use txn::TableLock;

/// GRANT, REVOKE.
///
/// # Errors
/// 42P01, 42704, 42501, 0LP01, 2BP01; 0A000 for kinds of objects without lists here.
pub fn grant(ddl: &mut Ddl<'_>, grant: &Grant) -> Result<&'static str> {
    let grantees = match grantees(ddl, grant) {
        Ok(grantees) => grantees,
        Err(error) => {
            // That a table is not there is told first.
            let tables = matches!(grant.kind, ObjectKind::Table | ObjectKind::Sequence);
            for name in grant.names.iter().filter(|_| tables && !grant.in_schema) {
                if ddl.lock_named(name, TableLock::AccessShare)?.is_none() {
                    return Err(undefined_table(name));
                }
            }
            return Err(error);
        }
    };
    for (at, name) in grant.names.iter().enumerate() {
        match grant.kind {
            ObjectKind::Table | ObjectKind::Sequence if grant.in_schema => {
                for relation in in_schema(ddl, name.name(), grant.kind)? {
                    on_relation(ddl, grant, &grantees, &relation)?;
                }
            }
            ObjectKind::Table | ObjectKind::Sequence => {
                let found = ddl.lock_named(name, TableLock::AccessShare)?;
                let Some((_, relation)) = found else { return Err(undefined_table(name)) };
                on_relation(ddl, grant, &grantees, &relation)?;
            }
            ObjectKind::Schema => on_schema(ddl, grant, &grantees, name)?,
            ObjectKind::Database => on_database(ddl, grant, &grantees, name)?,
            ObjectKind::Function if grant.in_schema => {
                let snapshot = ddl.snapshot();
                let schema = snapshot.schema(name.name());
                let schema = schema.ok_or_else(|| undefined_schema(name.name()))?.oid;
                let all = builtin::functions().iter();
                let inside = |function: &&Procedure| {
                    snapshot.function_schema(function).is_some_and(|own| own == schema)
                };
                for function in all.filter(inside).filter(|_| grant.word != "PROCEDURE") {
                    on_function(ddl, grant, &grantees, function)?;
                }
                for made in snapshot.routines_in(schema) {
                    let other = if made.procedure { "FUNCTION" } else { "PROCEDURE" };
                    if grant.word != other {
                        on_function(ddl, grant, &grantees, &made.procedure())?;
                    }
                }
            }
            ObjectKind::Function => {
                let signature = grant.signatures.get(at).and_then(Option::as_ref);
                let told = |error| super::routine::told_as(error, grant.word);
                match super::routine::named(ddl, name, signature).map_err(told)? {
                    Some(made) => {
                        super::routine::demand_called(ddl, &made, grant.word)?;
                        on_function(ddl, grant, &grantees, &made.procedure())?;
                    }
                    None => {
                        let signature = signature.map(|all| &all[..]);
                        let function = function(ddl, name, signature).map_err(told)?;
                        on_function(ddl, grant, &grantees, function)?;
                    }
                }
            }
            ObjectKind::Type | ObjectKind::Domain => {
                on_type(ddl, grant, &grantees, name, grant.kind == ObjectKind::Domain)?;
            }
            ObjectKind::Language => on_language(ddl, grant, &grantees, name)?,
            ObjectKind::Parameter => on_parameter(ddl, grant, &grantees, name)?,
            kind => {
                return Err(SqlError::unsupported(format!("privileges on {} are", kind.words())));
            }
        }
    }
    Ok(if grant.revoke { "REVOKE" } else { "GRANT" })
}

fn grantees(ddl: &mut Ddl<'_>, grant: &Grant) -> Result<Vec<Oid>> {
    let mut found = Vec::new();
    for name in &grant.grantees {
        let oid = match &**name {
            "public" => Oid(0),
            _ if grant.revoke => ddl.role(name)?.oid,
            _ => ddl.role_to_stay(name)?.oid,
        };
        found.push(oid);
    }
    if let Some(by) = &grant.granted_by
        && ddl.role(by)?.oid != ddl.user
    {
        return Err(SqlError::new(SqlState::FEATURE_NOT_SUPPORTED, "grantor must be current user"));
    }
    Ok(found)
}

/// 0LP01 for a grant option that is for everybody.
fn demand_role(grant: &Grant, grantee: Oid) -> Result<()> {
    if grantee.0 != 0 || !grant.grant_option || grant.revoke {
        return Ok(());
    }
    let message = "grant options can only be granted to roles";
    Err(SqlError::new(SqlState::INVALID_GRANT_OPERATION, message))
}

fn in_schema(ddl: &mut Ddl<'_>, name: &Ident, kind: ObjectKind) -> Result<Vec<Arc<Relation>>> {
    let snapshot = ddl.snapshot();
    let schema = snapshot.schema(name).ok_or_else(|| undefined_schema(name))?;
    let wanted = |relation: &&Arc<Relation>| {
        let sequence = matches!(relation.kind, RelationKind::Sequence(_));
        sequence == (kind == ObjectKind::Sequence)
    };
    let of_system = crate::catalog::system::relations();
    let of_system = of_system.filter(|relation| relation.schema.0 == schema.oid);
    let mut found: Vec<Arc<Relation>> = of_system.filter(wanted).cloned().collect();
    found.extend(snapshot.relations_in(schema.oid).into_iter().filter(wanted).cloned());
    Ok(found)
}

/// The privileges that a statement names for whole objects or (`columns`) for columns, checked against what there is.
fn named(names: &[(Ident, Vec<Ident>)], kind: Grantable, noun: &str) -> Result<Privileges> {
    let mut all = Privileges::default();
    for (word, _) in names {
        if &**word == "all" {
            return Ok(kind.all());
        }
        let privilege = Privileges::named(word).ok_or_else(|| {
            SqlError::new(SqlState::SYNTAX_ERROR, format!("unrecognized privilege type \"{word}\""))
        })?;
        // A sequence may be called a table.
        let fits = kind.all().contains(privilege)
            || kind == Grantable::Table && noun == "relation" && privilege == Privileges::USAGE;
        if !fits {
            let noun = if kind == Grantable::Table { "relation" } else { noun };
            return Err(SqlError::new(
                SqlState::INVALID_GRANT_OPERATION,
                format!("invalid privilege type {} for {noun}", word.to_uppercase()),
            ));
        }
        all = all.union(privilege);
    }
    Ok(all)
}

/// An object's list, and what messages call it.
struct Target<'t> {
    kind: Grantable,
    owner: Oid,
    list: Option<&'t Acl>,
    /// For a column, its table: whose grant options count too, and whose name messages tell.
    table: Option<&'t Relation>,
    /// `permission denied for ...`.
    denied: String,
    /// `no privileges were granted for ...`.
    named: String,
}

/// The list after the statement.
fn changed(
    ddl: &mut Ddl<'_>,
    grant: &Grant,
    grantees: &[Oid],
    privileges: Privileges,
    target: &Target<'_>,
) -> Result<Acl> {
    let Target { kind, owner, .. } = *target;
    let mut list = target.list.cloned().unwrap_or_else(|| kind.default_acl(owner));
    // Whoever may pass on the table's privileges may pass on its columns'.
    let mut known = list.clone();
    if let Some(table) = target.table {
        let default = || table.grantable().default_acl(owner);
        let snapshot = ddl.snapshot();
        known.extend(snapshot.relation_acl(table).cloned().unwrap_or_else(default));
    }
    let (grantor, options) = grantor(ddl, owner, &known, privileges);
    if options == Privileges::default() {
        let snapshot = ddl.snapshot();
        let held = snapshot.privileges(grantor, kind, owner, Some(&known));
        let of_data = matches!(
            kind,
            Grantable::Table | Grantable::Sequence | Grantable::Column | Grantable::Schema
        );
        let shared = snapshot.shared();
        let all_data = of_data
            && [READ_ALL_DATA, WRITE_ALL_DATA]
                .into_iter()
                .any(|group| shared.has_privileges_of(ddl.user, group));
        if held.0 & kind.all().0 == 0 && !all_data {
            return Err(SqlError::new(
                SqlState::INSUFFICIENT_PRIVILEGE,
                format!("permission denied for {}", target.denied),
            ));
        }
    }
    let possible = Privileges(privileges.0 & options.0);
    let everything = grant.privileges.is_empty() || privileges == kind.all();
    let (state, verb) = if grant.revoke {
        (SqlState::PRIVILEGE_NOT_REVOKED, "could be revoked")
    } else {
        (SqlState::PRIVILEGE_NOT_GRANTED, "were granted")
    };
    let mut warn = |how: &str| {
        let message = format!("{how} privileges {verb} for {}", target.named);
        ddl.notices.push(SqlError::warning(state, message));
    };
    if possible == Privileges::default() {
        warn("no");
    } else if !everything && possible != privileges {
        warn("not all");
    }
    let with_privileges = !grant.revoke || !grant.grant_option;
    let with_options = grant.revoke || grant.grant_option;
    let none = Privileges::default();
    let snapshot = ddl.snapshot();
    for &grantee in grantees {
        demand_role(grant, grantee)?;
        let change = AclChange {
            grantor,
            grantee,
            privileges: if with_privileges { possible } else { none },
            grant_options: if with_options { possible } else { none },
            revoke: grant.revoke,
            cascade: grant.cascade,
        };
        acl::update(&mut list, owner, change, &|role, of| snapshot.owns(role, of))?;
    }
    Ok(list)
}

/// In whose name the current user grants, and what that role may pass on (`select_best_grantor`).
fn grantor(ddl: &mut Ddl<'_>, owner: Oid, list: &Acl, wanted: Privileges) -> (Oid, Privileges) {
    let user = ddl.user;
    let snapshot = ddl.snapshot();
    let shared = snapshot.shared();
    if user == owner || shared.role_by_oid(user).is_some_and(|role| role.superuser) {
        return (owner, wanted);
    }
    let groups = shared.groups_of(user, true);
    // Whoever owns the database is a member of pg_database_owner without having been made one.
    let of_database = !groups.contains(owner) && snapshot.owns(user, owner);
    let roles = groups.iter().chain(of_database.then_some(owner));
    let mut best = (user, Privileges::default());
    for role in roles {
        let options = acl::options_of(list, owner, &|among| among == role);
        let found = Privileges(options.0 & wanted.0);
        if found == wanted {
            return (role, found);
        }
        if found.0.count_ones() > best.1.0.count_ones() {
            best = (role, found);
        }
    }
    best
}

fn on_relation(
    ddl: &mut Ddl<'_>,
    grant: &Grant,
    grantees: &[Oid],
    relation: &Arc<Relation>,
) -> Result<()> {
    if matches!(relation.kind, RelationKind::Composite) {
        return Err(composite_type(&relation.name));
    }
    if grant.kind == ObjectKind::Sequence && relation.grantable() != Grantable::Sequence {
        return Err(super::resolve::wrong_kind(&relation.name, ObjectKind::Sequence));
    }
    if grant.kind == ObjectKind::Sequence && grant.privileges.iter().any(|one| !one.1.is_empty()) {
        return Err(only_of_relations());
    }
    // Two statements on one object meet here. Who builds on it does not mind.
    if is_system(relation) {
        lock_list(ddl, (relation.oid, kept::RELATION))?;
    } else {
        let key = ddl.catalog.key(Class::Relation, relation.oid);
        ddl.catalog.lock_beside(ddl.transaction, key)?;
    }
    let Some(relation) = ddl.relation(relation.oid) else { return Ok(()) };
    let (kind, owner) = (relation.grantable(), relation.owner);
    let whole: Vec<(Ident, Vec<Ident>)> =
        grant.privileges.iter().filter(|named| named.1.is_empty()).cloned().collect();
    let noun = if grant.kind == ObjectKind::Sequence { "sequence" } else { "relation" };
    let checked = if grant.kind == ObjectKind::Sequence { kind } else { Grantable::Table };
    let mut privileges = match (grant.privileges.is_empty(), kind) {
        (true, _) => kind.all(),
        (false, _) => named(&whole, checked, noun)?,
    };
    if kind == Grantable::Sequence && privileges.without(Privileges::SEQUENCE).0 != 0 {
        let message = format!(
            "sequence \"{}\" only supports USAGE, SELECT, and UPDATE privileges",
            relation.name
        );
        ddl.notices.push(SqlError::warning(SqlState::INVALID_GRANT_OPERATION, message));
        privileges = Privileges(privileges.0 & Privileges::SEQUENCE.0);
    } else if kind == Grantable::Table && privileges.contains(Privileges::USAGE) {
        return Err(SqlError::new(
            SqlState::INVALID_GRANT_OPERATION,
            "invalid privilege type USAGE for table",
        ));
    }
    if privileges != Privileges::default() {
        let before = ddl.snapshot().relation_acl(&relation).cloned();
        let target = Target {
            kind,
            owner,
            list: before.as_ref(),
            table: None,
            denied: format!("{} {}", kind.noun(), relation.name),
            named: format!("\"{}\"", relation.name),
        };
        let list = changed(ddl, grant, grantees, privileges, &target)?;
        if is_system(&relation) {
            keep_for_system(ddl, (relation.oid, kept::RELATION), list)?;
        } else {
            let mut next = Relation::clone(&relation);
            next.acl = Some(list);
            ddl.catalog.put_relation(ddl.transaction, next)?;
        }
    }
    // What is taken from a table is taken from its columns too.
    let mut columns: Vec<(i16, Privileges)> = Vec::new();
    let of_columns = Privileges(privileges.0 & Privileges::COLUMN.0);
    if grant.revoke && of_columns.0 != 0 {
        let of_system = SYSTEM_COLUMNS.iter().rev().map(|column| column.number);
        let is_view = matches!(relation.kind, RelationKind::View { .. });
        columns.extend(of_system.filter(|_| !is_view).map(|number| (number, of_columns)));
        let live = (0..relation.columns.len()).filter(|&at| !relation.columns[at].dropped);
        columns.extend(live.map(|at| (at as i16 + 1, of_columns)));
    }
    for one in grant.privileges.iter().filter(|named| !named.1.is_empty()) {
        let mut wanted = named(std::slice::from_ref(one), Grantable::Column, "column")?;
        if kind == Grantable::Sequence && wanted.without(Privileges::SELECT).0 != 0 {
            let message =
                format!("sequence \"{}\" only supports SELECT column privileges", relation.name);
            ddl.notices.push(SqlError::warning(SqlState::INVALID_GRANT_OPERATION, message));
            wanted = Privileges(wanted.0 & Privileges::SELECT.0);
            if wanted == Privileges::default() {
                continue;
            }
        }
        for name in &one.1 {
            let at = relation.column(name).ok_or_else(|| undefined_column(&relation, name))?;
            let number = at as i16 + 1;
            match columns.iter_mut().find(|known| known.0 == number) {
                Some(known) => known.1 = known.1.union(wanted),
                None => columns.push((number, wanted)),
            }
        }
    }
    for (number, wanted) in columns {
        on_column(ddl, grant, grantees, relation.oid, number, wanted)?;
    }
    Ok(())
}

fn on_column(
    ddl: &mut Ddl<'_>,
    grant: &Grant,
    grantees: &[Oid],
    relation: Oid,
    number: i16,
    privileges: Privileges,
) -> Result<()> {
    let Some(relation) = ddl.relation(relation) else { return Ok(()) };
    let snapshot = ddl.snapshot();
    // Nothing is granted on the system's columns, but who revokes is told of them too.
    let place = u32::try_from(number).ok();
    let before = place.and_then(|place| snapshot.column_acl(&relation, place)).cloned();
    let column = match number {
        ..0 => system_column(number).name,
        _ => &*relation.columns[number as usize - 1].name,
    };
    let target = Target {
        kind: Grantable::Column,
        owner: relation.owner,
        list: before.as_ref(),
        table: Some(&relation),
        denied: format!("column \"{column}\" of relation \"{}\"", relation.name),
        named: format!("column \"{column}\" of relation \"{}\"", relation.name),
    };
    let list = changed(ddl, grant, grantees, privileges, &target)?;
    match place {
        Some(place) if before.is_some() || !list.is_empty() => {
            if is_system(&relation) {
                return keep_for_system(ddl, (relation.oid, place), list);
            }
            let list = Some(list).filter(|list| !list.is_empty());
            let before = ddl.snapshot().acl(relation.oid, place).cloned();
            keep(ddl, (relation.oid, place), before.as_ref(), list)
        }
        _ => Ok(()),
    }
}

/// Whether a relation is one of the system's, whose list stands beside what PostgreSQL's initial contents say.
fn is_system(relation: &Relation) -> bool {
    relation.oid.0 < well_known::FIRST_NORMAL
}

/// Keeps the list of a relation of the system's or a column of one, also where it is empty, if there is an initial one, which
/// would count without it.
fn keep_for_system(ddl: &mut Ddl<'_>, (oid, sub): (Oid, u32), list: Acl) -> Result<()> {
    let before = ddl.snapshot().acl(oid, sub).cloned();
    let stays = !list.is_empty() || stays_empty(oid, sub);
    keep(ddl, (oid, sub), before.as_ref(), Some(list).filter(|_| stays))
}

/// Whether the empty list of a relation, or a column of one, says something: PostgreSQL's initial contents give it another.
pub(super) fn stays_empty(oid: Oid, sub: u32) -> bool {
    oid.0 < well_known::FIRST_NORMAL
        && (sub == kept::RELATION || crate::catalog::privilege::has_initial_list(oid, sub))
}

/// Keeps the list of an object that has no place for one of its own.
pub(super) fn keep(
    ddl: &mut Ddl<'_>,
    (oid, sub): (Oid, u32),
    before: Option<&Arc<Acl>>,
    list: Option<Acl>,
) -> Result<()> {
    let key = ObjectKey { sub, ..ddl.catalog.key(Class::Acl, oid) };
    let before = before.map(|before| Object::Acl(Arc::clone(before)));
    let after = list.map(|list| Object::Acl(Arc::new(list)));
    ddl.catalog.change(ddl.transaction, key, before.as_ref(), after)
}

/// 0LP01 for columns where there are none.
fn only_of_relations() -> SqlError {
    let message = "column privileges are only valid for relations";
    SqlError::new(SqlState::INVALID_GRANT_OPERATION, message)
}

/// The privileges that a statement names for an object of a kind.
fn of_kind(grant: &Grant, kind: Grantable) -> Result<Privileges> {
    if grant.privileges.is_empty() {
        return Ok(kind.all());
    }
    if grant.privileges.iter().any(|named| !named.1.is_empty()) {
        return Err(only_of_relations());
    }
    let noun = if kind == Grantable::Function {
        grant.word.to_ascii_lowercase()
    } else {
        kind.noun().to_owned()
    };
    named(&grant.privileges, kind, &noun)
}

fn on_schema(ddl: &mut Ddl<'_>, grant: &Grant, grantees: &[Oid], name: &ObjectName) -> Result<()> {
    let name = name.name();
    let find = |ddl: &mut Ddl<'_>| {
        ddl.snapshot().schema(name).cloned().ok_or_else(|| undefined_schema(name))
    };
    let privileges = of_kind(grant, Grantable::Schema)?;
    let schema = find(ddl)?;
    let key = ddl.catalog.key(Class::Schema, schema.oid);
    ddl.catalog.lock_beside(ddl.transaction, key)?;
    let schema = find(ddl)?;
    let target = Target {
        kind: Grantable::Schema,
        owner: schema.owner,
        list: schema.acl.as_ref(),
        table: None,
        denied: format!("schema {name}"),
        named: format!("\"{name}\""),
    };
    let list = changed(ddl, grant, grantees, privileges, &target)?;
    let next = Schema { acl: Some(list), ..Schema::clone(&schema) };
    super::schema::put(ddl, Some(schema), next)
}

fn on_database(
    ddl: &mut Ddl<'_>,
    grant: &Grant,
    grantees: &[Oid],
    name: &ObjectName,
) -> Result<()> {
    let name = name.name();
    let find = |ddl: &mut Ddl<'_>| {
        ddl.snapshot().shared().database(name).cloned().ok_or_else(|| {
            SqlError::new(
                SqlState::INVALID_CATALOG_NAME,
                format!("database \"{name}\" does not exist"),
            )
        })
    };
    let privileges = of_kind(grant, Grantable::Database)?;
    let database = find(ddl)?;
    let key = ObjectKey { class: Class::Database, database: Oid(0), oid: database.oid, sub: 0 };
    ddl.catalog.lock_beside(ddl.transaction, key)?;
    let database = find(ddl)?;
    let target = Target {
        kind: Grantable::Database,
        owner: database.owner,
        list: database.acl.as_ref(),
        table: None,
        denied: format!("database {name}"),
        named: format!("\"{name}\""),
    };
    let list = changed(ddl, grant, grantees, privileges, &target)?;
    let next = Database { acl: Some(list), ..Database::clone(&database) };
    super::database::put(ddl, Some(database), next)
}

/// A function by name and, where they were given, the types of its arguments.
pub(super) fn function(
    ddl: &mut Ddl<'_>,
    name: &ObjectName,
    signature: Option<&[TypeName]>,
) -> Result<&'static Procedure> {
    let snapshot = ddl.snapshot();
    let Some(signature) = signature else { return function_of(ddl, name, None) };
    let mut types = Vec::with_capacity(signature.len());
    for ty in signature {
        types.push(ddl.semantics.type_of(&snapshot, ty)?.oid.0);
    }
    function_of(ddl, name, Some(&types))
}

/// The same, with the types' OIDs.
pub(super) fn function_of(
    ddl: &mut Ddl<'_>,
    name: &ObjectName,
    types: Option<&[u32]>,
) -> Result<&'static Procedure> {
    let snapshot = ddl.snapshot();
    let schemas: Vec<Oid> = match name.schema() {
        Some(schema) => {
            vec![snapshot.schema(schema).ok_or_else(|| undefined_schema(schema))?.oid]
        }
        None => ddl.path().schemas,
    };
    let found: Vec<&'static Procedure> = builtin::functions_named(name.name())
        .iter()
        .copied()
        .filter(|found| {
            snapshot.function_schema(found).is_some_and(|schema| schemas.contains(&schema))
        })
        .filter(|found| types.is_none_or(|types| *found.arguments == *types))
        .collect();
    match (found.as_slice(), types) {
        ([one], _) => Ok(one),
        ([], None) => Err(SqlError::new(
            SqlState::UNDEFINED_FUNCTION,
            format!("could not find a function named \"{name}\""),
        )),
        ([], Some(types)) => {
            let shown = |ty: &u32| ddl.plain_type_shown(SqlType::plain(*ty));
            let shown: Vec<String> = types.iter().map(shown).collect();
            Err(SqlError::new(
                SqlState::UNDEFINED_FUNCTION,
                format!("function {name}({}) does not exist", shown.join(", ")),
            ))
        }
        _ => Err(SqlError::new(
            SqlState::AMBIGUOUS_FUNCTION,
            format!("function name \"{name}\" is not unique"),
        )
        .hint("Specify the argument list to select the function unambiguously.")),
    }
}

fn on_function(
    ddl: &mut Ddl<'_>,
    grant: &Grant,
    grantees: &[Oid],
    function: &ProcedureOf<'_>,
) -> Result<()> {
    let privileges = of_kind(grant, Grantable::Function)?;
    lock_list(ddl, (Oid(function.oid), kept::FUNCTION))?;
    let before = ddl.snapshot().function_acl(function);
    on_other(
        ddl,
        grant,
        grantees,
        (Oid(function.oid), kept::FUNCTION),
        &Target {
            kind: Grantable::Function,
            owner: function.owner.unwrap_or(well_known::SUPERUSER),
            list: before.as_ref(),
            table: None,
            denied: format!("function {}", function.name),
            named: format!("\"{}\"", function.name),
        },
        privileges,
    )
}

fn on_type(
    ddl: &mut Ddl<'_>,
    grant: &Grant,
    grantees: &[Oid],
    name: &ObjectName,
    domain: bool,
) -> Result<()> {
    let privileges = of_kind(grant, Grantable::Type)?;
    let snapshot = ddl.snapshot();
    let ty = TypeName {
        name: name.clone(),
        modifiers: Vec::new(),
        dimensions: 0,
        setof: false,
        of_column: false,
    };
    let ty = ddl.semantics.type_of(&snapshot, &ty).map_err(SqlError::nowhere)?.oid;
    if domain && snapshot.user_type(ty).is_none_or(|found| found.domain().is_none()) {
        return Err(super::domain::no_domain(&name.to_string()));
    }
    if builtin::element_type(ty.0).is_some() {
        let message = "cannot set privileges of array types";
        return Err(SqlError::new(SqlState::INVALID_GRANT_OPERATION, message)
            .hint("Set the privileges of the element type instead."));
    }
    ddl.hold_type(SqlType::plain(ty.0))?;
    lock_list(ddl, (ty, kept::TYPE))?;
    let snapshot = ddl.snapshot();
    let before = snapshot.acl(ty, kept::TYPE).map(|acl| Acl::clone(acl));
    on_other(
        ddl,
        grant,
        grantees,
        (ty, kept::TYPE),
        &Target {
            kind: Grantable::Type,
            owner: snapshot.type_owner(ty),
            list: before.as_ref(),
            table: None,
            denied: format!("type {}", name.name()),
            named: format!("\"{}\"", name.name()),
        },
        privileges,
    )
}

fn on_language(
    ddl: &mut Ddl<'_>,
    grant: &Grant,
    grantees: &[Oid],
    name: &ObjectName,
) -> Result<()> {
    let privileges = of_kind(grant, Grantable::Language)?;
    let known = builtin::relation("pg_language").into_iter().flat_map(|all| all.rows());
    let row = known.into_iter().find(|row| row.get(1).as_deref() == Some(&**name.name()));
    let row = row.ok_or_else(|| {
        SqlError::new(
            SqlState::UNDEFINED_OBJECT,
            format!("language \"{}\" does not exist", name.name()),
        )
    })?;
    if row.get(4).as_deref() != Some("t") {
        return Err(SqlError::new(
            SqlState::WRONG_OBJECT_TYPE,
            format!("language \"{}\" is not trusted", name.name()),
        )
        .detail("GRANT and REVOKE are not allowed on untrusted languages, because only superusers can use untrusted languages."));
    }
    let oid = Oid(row.get(0).and_then(|oid| oid.parse().ok()).unwrap_or(0));
    lock_list(ddl, (oid, kept::LANGUAGE))?;
    let before = ddl.snapshot().acl(oid, kept::LANGUAGE).map(|acl| Acl::clone(acl));
    on_other(
        ddl,
        grant,
        grantees,
        (oid, kept::LANGUAGE),
        &Target {
            kind: Grantable::Language,
            owner: well_known::SUPERUSER,
            list: before.as_ref(),
            table: None,
            denied: format!("language {}", name.name()),
            named: format!("\"{}\"", name.name()),
        },
        privileges,
    )
}

/// A parameter has a list while somebody who is no superuser may set it (`ParameterAclCreate`).
fn on_parameter(
    ddl: &mut Ddl<'_>,
    grant: &Grant,
    grantees: &[Oid],
    name: &ObjectName,
) -> Result<()> {
    let privileges = of_kind(grant, Grantable::Parameter)?;
    let name = name.parts.join(".").to_ascii_lowercase();
    ddl.catalog.lock_name(ddl.transaction, Class::Parameter, Oid(0), &name)?;
    let snapshot = ddl.snapshot();
    let before = snapshot.shared().parameter(&name).cloned();
    if before.is_none() && grant.revoke {
        return Ok(());
    }
    if before.is_none() && server::find(&name).is_err() {
        let message = format!("invalid parameter name \"{name}\"");
        return Err(SqlError::new(SqlState::INVALID_NAME, message));
    }
    let target = Target {
        kind: Grantable::Parameter,
        owner: well_known::SUPERUSER,
        list: before.as_ref().map(|before| &before.acl),
        table: None,
        denied: format!("parameter {name}"),
        named: format!("\"{name}\""),
    };
    let acl = changed(ddl, grant, grantees, privileges, &target)?;
    let oid = match &before {
        Some(before) => before.oid,
        None => ddl.catalog.next_oid()?,
    };
    let next = ParameterAcl { oid, name: name.into(), acl };
    put_parameter(ddl, before.as_ref(), next)
}

/// Keeps who may set a parameter; what only superusers may has no list.
pub(super) fn put_parameter(
    ddl: &mut Ddl<'_>,
    before: Option<&Arc<ParameterAcl>>,
    next: ParameterAcl,
) -> Result<()> {
    let key = ObjectKey { class: Class::Parameter, database: Oid(0), oid: next.oid, sub: 0 };
    let nothing = Grantable::Parameter.default_acl(well_known::SUPERUSER);
    let kept = sorted(next.acl.clone()) != nothing;
    if !kept && before.is_none() {
        return Ok(());
    }
    let before = before.map(|before| Object::Parameter(Arc::clone(before)));
    let object = kept.then(|| Object::Parameter(Arc::new(next)));
    ddl.catalog.change(ddl.transaction, key, before.as_ref(), object)
}

/// Locks the list of an object that has no place for one of its own: it is read behind the lock.
fn lock_list(ddl: &mut Ddl<'_>, (oid, sub): (Oid, u32)) -> Result<()> {
    let key = ObjectKey { sub, ..ddl.catalog.key(Class::Acl, oid) };
    ddl.catalog.lock(ddl.transaction, key)
}

/// Changes a list that is locked.
fn on_other(
    ddl: &mut Ddl<'_>,
    grant: &Grant,
    grantees: &[Oid],
    (oid, sub): (Oid, u32),
    target: &Target<'_>,
    privileges: Privileges,
) -> Result<()> {
    let snapshot = ddl.snapshot();
    let list = changed(ddl, grant, grantees, privileges, target)?;
    keep(ddl, (oid, sub), snapshot.acl(oid, sub), Some(list))
}

// --- ALTER DEFAULT PRIVILEGES ----------------------------------------------------------------------------------------

/// What the letter of `pg_default_acl.defaclobjtype` stands for.
pub(super) fn kind_of(letter: char) -> Grantable {
    match letter {
        'r' => Grantable::Table,
        'S' => Grantable::Sequence,
        'f' => Grantable::Function,
        'T' => Grantable::Type,
        _ => Grantable::Schema,
    }
}

/// ALTER DEFAULT PRIVILEGES.
///
/// # Errors
/// 42704, 42501, 3F000, 0LP01.
pub fn alter_default(ddl: &mut Ddl<'_>, alter: &AlterDefaultPrivileges) -> Result<&'static str> {
    let grant = &alter.action;
    let kind = kind_of(alter.kind);
    let grantees = grantees(ddl, grant)?;
    let privileges = of_kind(grant, kind)?;
    let mut roles = Vec::new();
    for name in &alter.roles {
        let role = ddl.role_to_stay(name)?;
        ddl.check_member(&role)?;
        roles.push(role.oid);
    }
    if roles.is_empty() {
        roles.push(ddl.user);
    }
    for &role in &roles {
        if alter.schemas.is_empty() {
            default_in(ddl, grant, (role, Oid(0), alter.kind), &grantees, privileges)?;
        }
        for name in &alter.schemas {
            let schema = ddl.snapshot().schema(name).cloned();
            let schema = schema.ok_or_else(|| undefined_schema(name))?;
            if kind == Grantable::Schema {
                return Err(SqlError::new(
                    SqlState::INVALID_GRANT_OPERATION,
                    "cannot use IN SCHEMA clause when using GRANT/REVOKE ON SCHEMAS",
                ));
            }
            ddl.hold_schema(&schema)?;
            default_in(ddl, grant, (role, schema.oid, alter.kind), &grantees, privileges)?;
        }
    }
    Ok("ALTER DEFAULT PRIVILEGES")
}

fn default_in(
    ddl: &mut Ddl<'_>,
    grant: &Grant,
    (role, schema, letter): (Oid, Oid, char),
    grantees: &[Oid],
    privileges: Privileges,
) -> Result<()> {
    // Two statements that make the first such list meet here.
    let place = format!("{role} {letter}");
    ddl.catalog.lock_name(ddl.transaction, Class::DefaultAcl, schema, &place)?;
    let snapshot = ddl.snapshot();
    let before = snapshot
        .default_acls()
        .find(|known| known.role == role && known.schema == schema && known.kind == letter)
        .cloned();
    let nothing = if schema.0 == 0 { kind_of(letter).default_acl(role) } else { Acl::new() };
    let mut list = before.as_ref().map_or_else(|| nothing.clone(), |known| known.acl.clone());
    let none = Privileges::default();
    for &grantee in grantees {
        demand_role(grant, grantee)?;
        let change = AclChange {
            grantor: role,
            grantee,
            privileges: if grant.revoke && grant.grant_option { none } else { privileges },
            grant_options: if grant.revoke || grant.grant_option { privileges } else { none },
            revoke: grant.revoke,
            cascade: grant.cascade,
        };
        acl::update(&mut list, role, change, &|role, of| snapshot.owns(role, of))?;
    }
    let changes_nothing = sorted(list.clone()) == sorted(nothing);
    if changes_nothing && before.is_none() {
        return Ok(());
    }
    let oid = match &before {
        Some(known) => known.oid,
        None => ddl.catalog.next_oid()?,
    };
    let next = DefaultAcl { oid, role, schema, kind: letter, acl: sorted(list) };
    let key = ddl.catalog.key(Class::DefaultAcl, oid);
    let object = (!changes_nothing).then(|| Object::DefaultAcl(Arc::new(next)));
    let before = before.map(Object::DefaultAcl);
    ddl.catalog.change(ddl.transaction, key, before.as_ref(), object)
}

/// A list in PostgreSQL's order of comparison.
fn sorted(mut list: Acl) -> Acl {
    list.sort_by_key(|item| (item.grantee, item.grantor));
    list
}

impl Ddl<'_> {
    /// The list of an object that the current user makes in a schema (0: it stands in none), as ALTER DEFAULT PRIVILEGES
    /// wants it; none is the owner's default.
    pub(super) fn default_acl(&mut self, kind: Grantable, schema: Oid) -> Result<Option<Acl>> {
        let letter = match kind {
            Grantable::Table => 'r',
            Grantable::Sequence => 'S',
            Grantable::Function => 'f',
            Grantable::Type => 'T',
            Grantable::Schema => 'n',
            Grantable::Database
            | Grantable::Column
            | Grantable::Language
            | Grantable::Parameter => return Ok(None),
        };
        let owner = self.user;
        let snapshot = self.snapshot();
        let find = |schema: Oid| {
            snapshot
                .default_acls()
                .find(|known| known.role == owner && known.schema == schema && known.kind == letter)
        };
        let everywhere = find(Oid(0));
        let here = if schema.0 == 0 { None } else { find(schema) };
        if everywhere.is_none() && here.is_none() {
            return Ok(None);
        }
        let default = kind.default_acl(owner);
        let mut list = everywhere.map_or_else(|| default.clone(), |known| known.acl.clone());
        for item in here.iter().flat_map(|known| &known.acl) {
            let change = AclChange {
                grantor: item.grantor,
                grantee: item.grantee,
                privileges: item.privileges,
                grant_options: item.grant_options,
                revoke: false,
                cascade: false,
            };
            acl::update(&mut list, owner, change, &|role, of| snapshot.owns(role, of))?;
        }
        let list = sorted(list);
        Ok((list != sorted(default)).then_some(list))
    }
}
