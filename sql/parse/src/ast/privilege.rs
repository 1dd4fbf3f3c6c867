//! Roles and privileges as written.

use super::ddl::ObjectKind;
use super::{Ident, ObjectName};

/// CREATE ROLE and its kin.
#[derive(Clone, Debug, PartialEq)]
pub struct CreateRole {
    /// USER: it may log in unless told otherwise.
    pub user: bool,
    /// Its name.
    pub name: Ident,
    /// Options.
    pub options: Vec<RoleOption>,
}

/// ALTER ROLE with options.
#[derive(Clone, Debug, PartialEq)]
pub struct AlterRole {
    /// Its name.
    pub name: Ident,
    /// Options.
    pub options: Vec<RoleOption>,
}

/// An option of a role.
#[derive(Clone, Debug, PartialEq)]
pub enum RoleOption {
    /// SUPERUSER, NOSUPERUSER.
    Superuser(bool),
    /// CREATEDB.
    CreateDb(bool),
    /// CREATEROLE.
    CreateRole(bool),
    /// INHERIT.
    Inherit(bool),
    /// LOGIN.
    Login(bool),
    /// REPLICATION.
    Replication(bool),
    /// BYPASSRLS.
    BypassRls(bool),
    /// CONNECTION LIMIT.
    ConnectionLimit(i64),
    /// PASSWORD; none is NULL.
    Password(Option<Ident>),
    /// VALID UNTIL.
    ValidUntil(Ident),
    /// IN ROLE, IN GROUP.
    InRole(Vec<Ident>),
    /// ROLE, USER.
    Members(Vec<Ident>),
    /// ADMIN.
    Admins(Vec<Ident>),
    /// SYSID, which is ignored with a notice.
    SysId,
}

/// DROP ROLE and its kin.
#[derive(Clone, Debug, PartialEq)]
pub struct DropRole {
    /// Which.
    pub names: Vec<Ident>,
    /// IF EXISTS.
    pub if_exists: bool,
}

/// GRANT and REVOKE of privileges.
#[derive(Clone, Debug, PartialEq)]
pub struct Grant {
    /// REVOKE.
    pub revoke: bool,
    /// Privileges, lower case, with columns; empty is ALL.
    pub privileges: Vec<(Ident, Vec<Ident>)>,
    /// On what.
    pub kind: ObjectKind,
    /// Of routines: which, FUNCTION, PROCEDURE or ROUTINE.
    pub word: &'static str,
    /// ALL ... IN SCHEMA: the names are schemas.
    pub in_schema: bool,
    /// Which.
    pub names: Vec<ObjectName>,
    /// Of functions: the types of their arguments, where they are given.
    pub signatures: Vec<Option<super::RoutineArguments>>,
    /// GRANTED BY.
    pub granted_by: Option<Ident>,
    /// TO, FROM; `public` is everybody.
    pub grantees: Vec<Ident>,
    /// WITH GRANT OPTION; of a REVOKE: GRANT OPTION FOR.
    pub grant_option: bool,
    /// CASCADE.
    pub cascade: bool,
}

/// ALTER DEFAULT PRIVILEGES.
#[derive(Clone, Debug, PartialEq)]
pub struct AlterDefaultPrivileges {
    /// FOR ROLE: who will make the objects; empty is the current user.
    pub roles: Vec<Ident>,
    /// IN SCHEMA.
    pub schemas: Vec<Ident>,
    /// Of what kind: `pg_default_acl`'s letter.
    pub kind: char,
    /// What they are to get, without names.
    pub action: Grant,
}

/// DROP OWNED.
#[derive(Clone, Debug, PartialEq)]
pub struct DropOwned {
    /// BY whom.
    pub roles: Vec<Ident>,
    /// CASCADE.
    pub cascade: bool,
}

/// REASSIGN OWNED.
#[derive(Clone, Debug, PartialEq)]
pub struct ReassignOwned {
    /// BY whom.
    pub roles: Vec<Ident>,
    /// TO whom.
    pub to: Ident,
}

/// GRANT and REVOKE of roles.
#[derive(Clone, Debug, PartialEq)]
pub struct GrantRole {
    /// REVOKE.
    pub revoke: bool,
    /// Which roles.
    pub roles: Vec<Ident>,
    /// TO, FROM.
    pub grantees: Vec<Ident>,
    /// WITH ADMIN OPTION; of a REVOKE: ADMIN OPTION FOR.
    pub admin_option: bool,
    /// GRANTED BY.
    pub granted_by: Option<Ident>,
    /// It is an ALTER GROUP that adds or drops members.
    pub alters: bool,
    /// CASCADE.
    pub cascade: bool,
}
