//! CREATE ROLE, ALTER ROLE, DROP ROLE, GRANT and REVOKE of roles.

use super::resolve::undefined_role;
use super::{Ddl, language, scram};
use crate::bind::type_name::format_type_be;
use crate::catalog::CatalogSnapshot;
use crate::catalog::acl::Acl;
use crate::catalog::object::{Class, Membership, Object, ObjectKey, Role, well_known};
use crate::catalog::privilege::kept;
use crate::catalog::routine::Routine;
use crate::error::{Result, SqlError};
use crate::parse::ast::{AlterRole, CreateRole, DropRole, GrantRole, Ident, RoleOption};
use crate::sqlstate::SqlState;
use crate::types::Oid;
use crate::types::format_type;
use std::sync::Arc;

pub(super) fn key(role: Oid) -> ObjectKey {
    ObjectKey { class: Class::Role, database: Oid(0), oid: role, sub: 0 }
}

fn denied(message: impl Into<String>) -> SqlError {
    SqlError::new(SqlState::INSUFFICIENT_PRIVILEGE, message)
}

fn put(ddl: &mut Ddl<'_>, before: Option<Arc<Role>>, role: Role) -> Result<()> {
    let (key, before) = (key(role.oid), before.map(Object::Role));
    ddl.catalog.change(ddl.transaction, key, before.as_ref(), Some(Object::Role(Arc::new(role))))
}

/// The current user's own row.
fn current(ddl: &mut Ddl<'_>) -> Result<Arc<Role>> {
    let user = ddl.user;
    let role = ddl.snapshot().shared().role_by_oid(user).cloned();
    role.ok_or_else(|| undefined_role(&user.to_string()))
}

/// Whether a role may be made under this name.
///
/// # Errors
/// 42939 for a reserved name.
pub fn check_name(name: &str) -> Result<()> {
    if name.starts_with("pg_") {
        return Err(SqlError::new(
            SqlState::RESERVED_NAME,
            format!("role name \"{name}\" is reserved"),
        )
        .detail("Role names starting with \"pg_\" are reserved."));
    }
    if matches!(name, "public" | "none") {
        return Err(SqlError::new(
            SqlState::RESERVED_NAME,
            format!("role name \"{name}\" is reserved"),
        ));
    }
    Ok(())
}

/// What the options of one statement ask for beside the role's own columns.
#[derive(Default)]
struct Memberships {
    in_roles: Vec<Ident>,
    members: Vec<Ident>,
    admins: Vec<Ident>,
}

fn apply(ddl: &mut Ddl<'_>, role: &mut Role, options: &[RoleOption]) -> Result<Memberships> {
    let mut memberships = Memberships::default();
    for option in options {
        match option {
            RoleOption::Superuser(value) => role.superuser = *value,
            RoleOption::CreateDb(value) => role.create_db = *value,
            RoleOption::CreateRole(value) => role.create_role = *value,
            RoleOption::Inherit(value) => role.inherit = *value,
            RoleOption::Login(value) => role.login = *value,
            RoleOption::Replication(value) => role.replication = *value,
            RoleOption::BypassRls(value) => role.bypass_rls = *value,
            RoleOption::ConnectionLimit(limit) => {
                role.connection_limit =
                    i32::try_from(*limit).ok().filter(|limit| *limit >= -1).ok_or_else(|| {
                        SqlError::new(
                            SqlState::INVALID_PARAMETER_VALUE,
                            format!("invalid connection limit: {limit}"),
                        )
                    })?;
            }
            RoleOption::Password(password) => {
                role.verifier = match password {
                    Some(password) => password_verifier(ddl, password)?,
                    None => None,
                };
            }
            RoleOption::ValidUntil(text) => {
                role.valid_until = ddl.semantics.timestamp(text)?;
            }
            RoleOption::InRole(names) => memberships.in_roles.extend(names.iter().cloned()),
            RoleOption::Members(names) => memberships.members.extend(names.iter().cloned()),
            RoleOption::Admins(names) => memberships.admins.extend(names.iter().cloned()),
            RoleOption::SysId => {
                ddl.notice(SqlState::SUCCESSFUL_COMPLETION, "SYSID can no longer be specified");
            }
        }
    }
    Ok(memberships)
}

fn password_verifier(ddl: &mut Ddl<'_>, password: &str) -> Result<Option<Arc<str>>> {
    if password.is_empty() || scram::verifies_nothing(password) {
        ddl.notice(
            SqlState::SUCCESSFUL_COMPLETION,
            "empty string is not a valid password, clearing password",
        );
        return Ok(None);
    }
    if scram::is_verifier(password) {
        return Ok(Some(password.into()));
    }
    if ddl.md5_passwords {
        return Err(SqlError::unsupported("password_encryption = md5 is"));
    }
    if scram::is_md5(password) {
        return Err(SqlError::unsupported("MD5 passwords are"));
    }
    Ok(Some(scram::verifier(password, ddl.salt()).into()))
}

/// CREATE ROLE, USER, GROUP.
///
/// # Errors
/// 42710, 42939, 42501.
pub fn create_role(ddl: &mut Ddl<'_>, create: &CreateRole) -> Result<&'static str> {
    let own = current(ddl)?;
    let mut role = Role {
        oid: Oid(0),
        name: Arc::clone(&create.name),
        superuser: false,
        inherit: true,
        create_role: false,
        create_db: false,
        login: create.user,
        replication: false,
        bypass_rls: false,
        connection_limit: -1,
        verifier: None,
        valid_until: None,
    };
    let memberships = apply(ddl, &mut role, &create.options)?;
    if !own.superuser {
        if role.superuser {
            return Err(denied("must be superuser to create superusers"));
        }
        if role.replication {
            return Err(denied("must be superuser to create replication users"));
        }
        if role.bypass_rls {
            return Err(denied("must be superuser to create bypassrls users"));
        }
        if !own.create_role {
            return Err(denied("permission denied to create role"));
        }
    }
    check_name(&create.name)?;
    ddl.catalog.lock_name(ddl.transaction, Class::Role, Oid(0), &create.name)?;
    if ddl.snapshot().shared().role(&create.name).is_some() {
        return Err(SqlError::new(
            SqlState::DUPLICATE_OBJECT,
            format!("role \"{}\" already exists", create.name),
        ));
    }
    role.oid = ddl.catalog.next_oid()?;
    let oid = role.oid;
    put(ddl, None, role)?;
    for group in &memberships.in_roles {
        let group = ddl.role(group)?;
        check_may_grant(ddl, &own, &group, own.oid)?;
        add_member(ddl, (group.oid, oid), false, own.oid)?;
    }
    for (members, admin) in [(&memberships.members, false), (&memberships.admins, true)] {
        for member in members {
            let member = ddl.role(member)?;
            add_member(ddl, (oid, member.oid), admin, own.oid)?;
        }
    }
    Ok("CREATE ROLE")
}

/// A role of that name, locked against other changes.
fn locked(ddl: &mut Ddl<'_>, name: &Ident) -> Result<Arc<Role>> {
    let role = ddl.role(name)?;
    ddl.catalog.lock(ddl.transaction, key(role.oid))?;
    ddl.snapshot().shared().role_by_oid(role.oid).cloned().ok_or_else(|| undefined_role(name))
}

/// ALTER ROLE, USER with options.
///
/// # Errors
/// 42704, 42501.
pub fn alter_role(ddl: &mut Ddl<'_>, alter: &AlterRole) -> Result<&'static str> {
    let own = current(ddl)?;
    let role = locked(ddl, &alter.name)?;
    check_name_of_existing(&role)?;
    let mut next = Role::clone(&role);
    apply(ddl, &mut next, &alter.options)?;
    demand_alterable(&own, &role, &alter.options)?;
    let only_password = matches!(alter.options.as_slice(), [RoleOption::Password(_)]);
    if !(own.superuser || own.create_role || role.oid == ddl.user && only_password) {
        return Err(denied("permission denied"));
    }
    put(ddl, Some(role), next)?;
    Ok("ALTER ROLE")
}

/// Whether one who may make roles may alter this one so: superusers' attributes are theirs to give and to take.
///
/// # Errors
/// 42501.
fn demand_alterable(own: &Role, role: &Role, options: &[RoleOption]) -> Result<()> {
    let names = |wanted: &dyn Fn(&RoleOption) -> bool| options.iter().any(wanted);
    if own.superuser {
        Ok(())
    } else if role.superuser || names(&|option| matches!(option, RoleOption::Superuser(_))) {
        let message = "must be superuser to alter superuser roles or change superuser attribute";
        Err(denied(message))
    } else if role.replication || names(&|option| matches!(option, RoleOption::Replication(_))) {
        let message =
            "must be superuser to alter replication roles or change replication attribute";
        Err(denied(message))
    } else if names(&|option| matches!(option, RoleOption::BypassRls(_))) {
        Err(denied("must be superuser to change bypassrls attribute"))
    } else {
        Ok(())
    }
}

pub(super) fn check_name_of_existing(role: &Role) -> Result<()> {
    if role.oid.0 < well_known::FIRST_NORMAL && role.oid != well_known::SUPERUSER {
        return Err(SqlError::new(
            SqlState::RESERVED_NAME,
            format!("role name \"{}\" is reserved", role.name),
        )
        .detail("Cannot alter reserved roles."));
    }
    Ok(())
}

/// ALTER ROLE ... RENAME TO.
pub(super) fn rename_role(ddl: &mut Ddl<'_>, name: &Ident, to: &Ident) -> Result<()> {
    let own = current(ddl)?;
    let role = locked(ddl, name)?;
    check_name_of_existing(&role)?;
    check_name(to)?;
    for (oneself, what) in [(ddl.identity.session_user, "session"), (ddl.user, "current")] {
        if role.oid == oneself {
            let message = format!("{what} user cannot be renamed");
            return Err(SqlError::new(SqlState::FEATURE_NOT_SUPPORTED, message));
        }
    }
    if role.superuser && !own.superuser {
        return Err(denied("must be superuser to rename superusers"));
    }
    if !own.superuser && !own.create_role {
        return Err(denied("permission denied to rename role"));
    }
    ddl.catalog.lock_name(ddl.transaction, Class::Role, Oid(0), to)?;
    if ddl.snapshot().shared().role(to).is_some() {
        return Err(SqlError::new(
            SqlState::DUPLICATE_OBJECT,
            format!("role \"{to}\" already exists"),
        ));
    }
    let next = Role { name: Arc::clone(to), ..Role::clone(&role) };
    put(ddl, Some(role), next)
}

/// DROP ROLE, USER, GROUP.
///
/// # Errors
/// 42704, 42501, 55006, 2BP01 while it owns something.
pub fn drop_role(ddl: &mut Ddl<'_>, drop: &DropRole) -> Result<&'static str> {
    let own = current(ddl)?;
    if !own.superuser && !own.create_role {
        return Err(denied("permission denied to drop role"));
    }
    for name in &drop.names {
        if drop.if_exists && ddl.snapshot().shared().role(name).is_none() {
            let message = format!("role \"{name}\" does not exist, skipping");
            ddl.notice(SqlState::SUCCESSFUL_COMPLETION, message);
            continue;
        }
        let role = locked(ddl, name)?;
        if role.oid == ddl.user {
            return Err(SqlError::new(SqlState::OBJECT_IN_USE, "current user cannot be dropped"));
        }
        if role.superuser && !own.superuser {
            return Err(denied("must be superuser to drop superusers"));
        }
        if role.oid.0 < well_known::FIRST_NORMAL {
            return Err(SqlError::new(
                SqlState::DEPENDENT_OBJECTS_STILL_EXIST,
                format!("cannot drop role {name} because it is required by the database system"),
            ));
        }
        let owned = owned_by(ddl, role.oid);
        if !owned.is_empty() {
            return Err(SqlError::new(
                SqlState::DEPENDENT_OBJECTS_STILL_EXIST,
                format!("role \"{name}\" cannot be dropped because some objects depend on it"),
            )
            .detail(owned.join("\n")));
        }
        remove(ddl, role.oid)?;
    }
    Ok("DROP ROLE")
}

/// What a role owns or is named by in a list, one line each.
fn owned_by(ddl: &mut Ddl<'_>, role: Oid) -> Vec<String> {
    let snapshot = ddl.snapshot();
    let shared = snapshot.shared();
    let cluster = ddl.catalog.catalog().current();
    let mut lines = Vec::new();
    for parameter in shared.parameters() {
        if parameter.acl.iter().any(|item| item.grantee == role) {
            lines.push(format!("privileges for parameter {}", parameter.name));
        }
    }
    for database in snapshot.shared().databases() {
        if database.owner == role {
            lines.push(format!("owner of database {}", database.name));
        }
        let here = database.oid == snapshot.database_oid();
        let contents =
            if here { Some((*snapshot).clone()) } else { cluster.database(database.oid) };
        let Some(contents) = contents else { continue };
        let mut count = 0;
        for schema in contents.schemas().filter(|schema| schema.owner == role) {
            count += 1;
            if here {
                lines.push(format!("owner of schema {}", schema.name));
            }
        }
        for extension in contents.extensions().filter(|found| found.owner == role) {
            count += 1;
            if here {
                lines.push(format!("owner of extension {}", extension.name));
            }
            let members = extension.description().into_iter();
            let members = members.flat_map(|known| known.functions());
            for function in members {
                count += 1;
                if here {
                    let path = ddl.path().schemas;
                    let shown = super::extension::display_function(&contents, &path, function);
                    lines.push(format!("owner of function {shown}"));
                }
            }
        }
        for routine in contents.routines().filter(|routine| routine.owner == role) {
            count += 1;
            if here {
                lines.push(format!("owner of {}", routine_shown(ddl, &contents, routine)));
            }
        }
        for one in contents.attachments().filter(|one| one.owner() == Some(role)) {
            count += 1;
            if here {
                lines.push(format!("owner of {}", super::attachment::shown(ddl, &one)));
            }
        }
        for ty in contents.types().filter(|ty| ty.owner == role) {
            count += 1;
            if here {
                lines.push(format!("owner of type {}", ddl.display_type(ty)));
            }
        }
        let granted = |acl: &Acl| acl.iter().any(|item| item.grantee == role);
        let mut more: Vec<String> = Vec::new();
        for schema in contents.schemas().filter(|schema| schema.acl.iter().any(granted)) {
            more.push(format!("privileges for schema {}", schema.name));
        }
        for ((oid, sub), _) in contents.acls().filter(|(_, acl)| granted(acl)) {
            let what = match (*sub, contents.relation(*oid)) {
                (1..kept::FUNCTION, Some(table)) => {
                    let column = &table.columns[*sub as usize - 1].name;
                    format!(
                        "column {column} of {} {}",
                        super::resolve::kind_noun(table),
                        table.name
                    )
                }
                (kept::RELATION, Some(table)) => {
                    format!("{} {}", super::resolve::kind_noun(table), table.name)
                }
                (kept::FUNCTION, _) if contents.routine(*oid).is_some() => {
                    let routine = contents.routine(*oid).cloned();
                    routine
                        .map_or_else(String::new, |routine| routine_shown(ddl, &contents, &routine))
                }
                (kept::FUNCTION, _) => {
                    let found = crate::catalog::builtin::function(oid.0);
                    let types = found.into_iter().flat_map(|found| found.arguments.iter());
                    let types: Vec<String> = types.map(|ty| format_type(*ty, None)).collect();
                    let name = found.map_or("", |found| found.name);
                    format!("function {name}({})", types.join(","))
                }
                (kept::TYPE, _) => {
                    let path = if here { ddl.path().schemas } else { Vec::new() };
                    format!("type {}", format_type_be(&contents, &path, *oid))
                }
                _ => format!("language {}", language::name(*oid)),
            };
            more.push(format!("privileges for {what}"));
        }
        for default in contents.default_acls() {
            let name = |oid| shared.role_by_oid(oid).map_or("", |role| &*role.name).to_owned();
            let noun = match default.kind {
                'r' => "relations",
                'S' => "sequences",
                'f' => "functions",
                'T' => "types",
                _ => "schemas",
            };
            let place = contents.schema_by_oid(default.schema);
            let place = place.map(|schema| format!(" in schema {}", schema.name));
            let tail = format!(
                "default privileges on new {noun} belonging to role {}{}",
                name(default.role),
                place.unwrap_or_default()
            );
            if default.role == role {
                more.push(format!("owner of {tail}"));
            } else if granted(&default.acl) {
                more.push(format!("privileges for {tail}"));
            }
        }
        count += more.len();
        if here {
            lines.extend(more);
        }
        for relation in contents.relations_of_role(role) {
            let granted = relation.acl.iter().flatten().any(|item| item.grantee == role);
            if relation.owner == role || granted {
                count += 1;
                if here {
                    let noun = super::resolve::kind_noun(relation);
                    let what = if relation.owner == role { "owner of" } else { "privileges for" };
                    let name = ddl.display(relation);
                    lines.push(format!("{what} {noun} {name}"));
                }
            }
        }
        if !here && count > 0 {
            let objects = if count == 1 { "object" } else { "objects" };
            lines.push(format!("{count} {objects} in database {}", database.name));
        }
    }
    lines
}

/// A routine as messages show it.
fn routine_shown(ddl: &mut Ddl<'_>, contents: &CatalogSnapshot, routine: &Routine) -> String {
    let path = ddl.path().schemas;
    let name = super::extension::display_function(contents, &path, &routine.procedure());
    format!("function {name}")
}

fn remove(ddl: &mut Ddl<'_>, role: Oid) -> Result<()> {
    let snapshot = ddl.snapshot();
    let shared = snapshot.shared();
    let memberships = shared
        .memberships()
        .filter(|membership| membership.group == role || membership.member == role)
        .map(|membership| membership_key(membership.group, membership.member));
    let settings = shared.all_settings().filter(|(scope, _)| scope.1 == role).map(|(scope, _)| {
        ObjectKey { class: Class::Settings, database: scope.0, oid: role, sub: 0 }
    });
    let comment = shared.comment(role).map(|_| ObjectKey {
        class: Class::Comment,
        database: Oid(0),
        oid: role,
        sub: 0,
    });
    for key in memberships.chain(settings).chain(comment).chain([key(role)]) {
        ddl.catalog.remove(ddl.transaction, &snapshot, key)?;
    }
    Ok(())
}

fn membership_key(group: Oid, member: Oid) -> ObjectKey {
    ObjectKey { class: Class::Membership, database: Oid(0), oid: group, sub: member.0 }
}

/// Whether the current user may give others membership in a role, or take it from them (`AddRoleMems`).
///
/// # Errors
/// 42501.
fn check_may_grant(ddl: &mut Ddl<'_>, own: &Role, group: &Role, grantor: Oid) -> Result<()> {
    if own.superuser {
        return Ok(());
    }
    if group.superuser {
        return Err(denied("must be superuser to alter superusers"));
    }
    let snapshot = ddl.snapshot();
    let shared = snapshot.shared();
    let roles = shared.groups_of(grantor, false);
    let admin = shared.is_superuser(grantor) || shared.administers(&roles, group.oid);
    if !own.create_role && !admin {
        return Err(denied(format!("must have admin option on role \"{}\"", group.name)));
    }
    Ok(())
}

/// Roles are owned by whoever may make roles, but superusers by superusers only.
///
/// # Errors
/// 42501.
pub(super) fn check_may_comment(ddl: &mut Ddl<'_>, role: &Role) -> Result<()> {
    let own = current(ddl)?;
    if own.superuser {
        Ok(())
    } else if role.superuser {
        Err(denied("must be superuser"))
    } else if own.create_role {
        Ok(())
    } else {
        Err(denied("must have CREATEROLE privilege"))
    }
}

/// Nobody is made a member of whoever owns the database, and that is made a member of nothing.
fn check_database_owner(ddl: &mut Ddl<'_>, group: Oid, member: Oid) -> Result<()> {
    let refused = if group == well_known::DATABASE_OWNER {
        "cannot have explicit members"
    } else if member == well_known::DATABASE_OWNER {
        "cannot be a member of any role"
    } else {
        return Ok(());
    };
    let snapshot = ddl.snapshot();
    let role = snapshot.shared().role_by_oid(well_known::DATABASE_OWNER);
    let name = role.map_or("", |role| &*role.name);
    Err(SqlError::new(SqlState::INTERNAL_ERROR, format!("role \"{name}\" {refused}")))
}

fn add_member(
    ddl: &mut Ddl<'_>,
    (group, member): (Oid, Oid),
    admin: bool,
    grantor: Oid,
) -> Result<()> {
    check_database_owner(ddl, group, member)?;
    let key = membership_key(group, member);
    ddl.catalog.lock(ddl.transaction, key)?;
    let snapshot = ddl.snapshot();
    let shared = snapshot.shared();
    if shared.groups_of(group, false).contains(member) {
        let name = |oid| shared.role_by_oid(oid).map_or("", |role| &*role.name).to_owned();
        return Err(SqlError::new(
            SqlState::INVALID_GRANT_OPERATION,
            format!("role \"{}\" is a member of role \"{}\"", name(group), name(member)),
        ));
    }
    let known =
        shared.memberships().find(|known| known.group == group && known.member == member).copied();
    if let Some(known) = known
        && (known.admin || !admin)
    {
        let name = |oid| shared.role_by_oid(oid).map_or("", |role| &*role.name).to_owned();
        let message =
            format!("role \"{}\" is already a member of role \"{}\"", name(member), name(group));
        ddl.notice(SqlState::SUCCESSFUL_COMPLETION, message);
        return Ok(());
    }
    let membership = Membership { group, member, grantor, admin };
    let before = known.map(Object::Membership);
    let next = Some(Object::Membership(membership));
    ddl.catalog.change(ddl.transaction, key, before.as_ref(), next)
}

/// GRANT and REVOKE of roles.
///
/// # Errors
/// 42704, 42501, 0LP01.
pub fn grant_role(ddl: &mut Ddl<'_>, grant: &GrantRole) -> Result<&'static str> {
    let own = current(ddl)?;
    let grantor = match &grant.granted_by {
        Some(by) => ddl.role_to_stay(by)?.oid,
        None => ddl.user,
    };
    let members = grant.grantees.iter().map(|member| match grant.revoke {
        true => ddl.role(member),
        false => ddl.role_to_stay(member),
    });
    let members = members.collect::<Result<Vec<_>>>()?;
    for group in &grant.roles {
        let group = if grant.revoke { ddl.role(group)? } else { ddl.role_to_stay(group)? };
        if grant.alters {
            check_name_of_existing(&group)?;
            demand_alterable(&own, &group, &[])?;
            if !own.superuser && !own.create_role {
                return Err(denied("permission denied"));
            }
        }
        // Who gives in another's name is asked for it; who takes is not.
        let by = if grant.revoke { ddl.user } else { grantor };
        check_may_grant(ddl, &own, &group, by)?;
        if by != ddl.user && !own.superuser {
            return Err(denied("must be superuser to set grantor"));
        }
        for member in &members {
            if grant.revoke {
                revoke_member(ddl, &group, member, grant.admin_option)?;
            } else {
                add_member(ddl, (group.oid, member.oid), grant.admin_option, grantor)?;
            }
        }
    }
    Ok(match (grant.alters, grant.revoke) {
        (true, _) => "ALTER ROLE",
        (_, true) => "REVOKE ROLE",
        (_, false) => "GRANT ROLE",
    })
}

fn revoke_member(ddl: &mut Ddl<'_>, group: &Role, member: &Role, admin_only: bool) -> Result<()> {
    let key = membership_key(group.oid, member.oid);
    ddl.catalog.lock(ddl.transaction, key)?;
    let snapshot = ddl.snapshot();
    let known = snapshot
        .shared()
        .memberships()
        .find(|known| known.group == group.oid && known.member == member.oid)
        .copied();
    let Some(known) = known else {
        let message =
            format!("role \"{}\" is not a member of role \"{}\"", member.name, group.name);
        ddl.notices.push(SqlError::warning(SqlState::WARNING, message));
        return Ok(());
    };
    let next = admin_only.then_some(Object::Membership(Membership { admin: false, ..known }));
    ddl.catalog.change(ddl.transaction, key, Some(&Object::Membership(known)), next)
}
