//! What all databases of a directory share: databases, roles and their memberships, settings, comments on these, and
//! privileges on parameters; and what follows from memberships.
//!
//! As of all else, a change copies the nodes of persistent maps that it touches ([`crate::snapshot`]).

use crate::acl::Privileges;
use crate::groups::Groups;
use crate::object::{
    Class, Comment, Database, Membership, Object, ObjectKey, ParameterAcl, Role, SettingList,
};
use crate::objects::second;
use imbl::{OrdMap, OrdSet};
use sql_types::Oid;
use std::sync::Arc;

/// What all databases share.
#[derive(Clone, Debug, Default)]
pub struct Shared {
    /// Its version: unlike that of every other state.
    pub version: u64,
    pub(super) databases: OrdMap<Oid, Arc<Database>>,
    roles: OrdMap<Oid, Arc<Role>>,
    role_names: OrdMap<Arc<str>, Oid>,
    memberships: OrdMap<(Oid, Oid), Membership>,
    /// The members of groups, each with a group.
    groups: OrdSet<(Oid, Oid)>,
    settings: OrdMap<(Oid, Oid), Arc<SettingList>>,
    comments: OrdMap<Oid, Arc<Comment>>,
    parameters: OrdMap<Oid, Arc<ParameterAcl>>,
}

/// Whether all databases share an object.
pub(super) fn is_shared(key: ObjectKey) -> bool {
    key.database.0 == 0 || matches!(key.class, Class::Database | Class::Role | Class::Settings)
}

impl Shared {
    pub(super) fn object(&self, key: ObjectKey) -> Option<Object> {
        Some(match key.class {
            Class::Database => Object::Database(Arc::clone(self.databases.get(&key.oid)?)),
            Class::Role => Object::Role(Arc::clone(self.roles.get(&key.oid)?)),
            Class::Membership => {
                Object::Membership(*self.memberships.get(&(key.oid, Oid(key.sub)))?)
            }
            Class::Settings => {
                Object::Settings(Arc::clone(self.settings.get(&(key.database, key.oid))?))
            }
            Class::Comment => Object::Comment(Arc::clone(self.comments.get(&key.oid)?)),
            Class::Parameter => Object::Parameter(Arc::clone(self.parameters.get(&key.oid)?)),
            _ => return None,
        })
    }

    pub(super) fn set(&mut self, key: &ObjectKey, object: Option<&Object>) {
        match object {
            Some(Object::Database(database)) => {
                self.databases.insert(database.oid, Arc::clone(database));
            }
            Some(Object::Role(role)) => {
                self.forget_role_name(role.oid);
                self.role_names.insert(Arc::clone(&role.name), role.oid);
                self.roles.insert(role.oid, Arc::clone(role));
            }
            Some(Object::Membership(membership)) => {
                self.memberships.insert((membership.group, membership.member), *membership);
                self.groups.insert((membership.member, membership.group));
            }
            Some(Object::Settings(settings)) => {
                self.settings.insert((key.database, key.oid), Arc::clone(settings));
            }
            Some(Object::Comment(comment)) => {
                self.comments.insert(key.oid, Arc::clone(comment));
            }
            Some(Object::Parameter(parameter)) => {
                self.parameters.insert(key.oid, Arc::clone(parameter));
            }
            Some(
                Object::Schema(_)
                | Object::Relation(_)
                | Object::Index(_)
                | Object::Statistics(_)
                | Object::Acl(_)
                | Object::DefaultAcl(_)
                | Object::Type(_)
                | Object::Extension(_)
                | Object::Routine(_)
                | Object::Operator(_)
                | Object::Cast(_)
                | Object::OperatorClass(_)
                | Object::OperatorFamily(_)
                | Object::Conversion(_)
                | Object::EventTrigger(_),
            ) => unreachable!("an object of a database is not shared"),
            None => match key.class {
                Class::Database => drop(self.databases.remove(&key.oid)),
                Class::Role => {
                    self.forget_role_name(key.oid);
                    self.roles.remove(&key.oid);
                }
                Class::Membership => {
                    self.memberships.remove(&(key.oid, Oid(key.sub)));
                    self.groups.remove(&(Oid(key.sub), key.oid));
                }
                Class::Settings => drop(self.settings.remove(&(key.database, key.oid))),
                Class::Comment => drop(self.comments.remove(&key.oid)),
                Class::Parameter => drop(self.parameters.remove(&key.oid)),
                Class::Counter
                | Class::Schema
                | Class::Relation
                | Class::Index
                | Class::Statistics
                | Class::Acl
                | Class::DefaultAcl
                | Class::Type
                | Class::Extension
                | Class::Routine
                | Class::Operator
                | Class::Cast
                | Class::OperatorClass
                | Class::OperatorFamily
                | Class::Conversion
                | Class::EventTrigger
                | Class::SequenceState => {}
            },
        }
    }

    /// Takes away the name that a role has had, unless another has it by now.
    fn forget_role_name(&mut self, role: Oid) {
        let name = self.roles.get(&role).map(|known| Arc::clone(&known.name));
        if let Some(name) = name.filter(|name| self.role_names.get(&**name) == Some(&role)) {
            self.role_names.remove(&*name);
        }
    }

    /// All databases.
    pub fn databases(&self) -> impl Iterator<Item = &Arc<Database>> {
        self.databases.values()
    }

    /// A database by name.
    #[must_use]
    pub fn database(&self, name: &str) -> Option<&Arc<Database>> {
        self.databases.values().find(|database| &*database.name == name)
    }

    /// A database by OID.
    #[must_use]
    pub fn database_by_oid(&self, oid: Oid) -> Option<&Arc<Database>> {
        self.databases.get(&oid)
    }

    /// All roles.
    pub fn roles(&self) -> impl Iterator<Item = &Arc<Role>> {
        self.roles.values()
    }

    /// A role by name.
    #[must_use]
    pub fn role(&self, name: &str) -> Option<&Arc<Role>> {
        self.roles.get(self.role_names.get(name)?)
    }

    /// A role by OID.
    #[must_use]
    pub fn role_by_oid(&self, oid: Oid) -> Option<&Arc<Role>> {
        self.roles.get(&oid)
    }

    /// All memberships.
    pub fn memberships(&self) -> impl Iterator<Item = &Membership> {
        self.memberships.values()
    }

    /// What ALTER ROLE ALL (0, 0), ALTER DATABASE (database, 0), ALTER ROLE (0, role) or ALTER ROLE IN DATABASE set.
    #[must_use]
    pub fn settings(&self, database: Oid, role: Oid) -> &[(String, String)] {
        self.settings.get(&(database, role)).map_or(&[], |settings| settings.as_slice())
    }

    /// All of these: ((database, role), settings).
    pub fn all_settings(&self) -> impl Iterator<Item = (&(Oid, Oid), &Arc<SettingList>)> {
        self.settings.iter()
    }

    /// The comment on a database or role.
    #[must_use]
    pub fn comment(&self, oid: Oid) -> Option<&Arc<Comment>> {
        self.comments.get(&oid)
    }

    /// All comments on databases and roles.
    pub fn comments(&self) -> impl Iterator<Item = (&Oid, &Arc<Comment>)> {
        self.comments.iter()
    }

    /// Who may set which parameters, where that is not only superusers.
    pub fn parameters(&self) -> impl Iterator<Item = &Arc<ParameterAcl>> {
        self.parameters.values()
    }

    /// Who may set a parameter, if somebody has been asked for that; the name is in lower case.
    #[must_use]
    pub fn parameter(&self, name: &str) -> Option<&Arc<ParameterAcl>> {
        self.parameters.values().find(|parameter| &*parameter.name == name)
    }

    /// Whether a role may do this with a parameter that is superusers' (`pg_parameter_aclcheck`).
    #[must_use]
    pub fn may_on_parameter(&self, role: Oid, name: &str, wanted: Privileges) -> bool {
        if self.is_superuser(role) {
            return true;
        }
        let Some(found) = self.parameter(&name.to_ascii_lowercase()) else { return false };
        let groups = self.groups_of(role, true);
        let held = found
            .acl
            .iter()
            .filter(|item| item.grantee.0 == 0 || groups.contains(item.grantee))
            .fold(Privileges::default(), |all, item| all.union(item.privileges));
        held.contains(wanted)
    }

    /// Whether a role is a superuser, as it is now.
    #[must_use]
    pub fn is_superuser(&self, role: Oid) -> bool {
        self.role_by_oid(role).is_some_and(|role| role.superuser)
    }

    /// Whether `role` may act as `as_role`: it is the same, a superuser, or a member through memberships that inherit.
    #[must_use]
    pub fn has_privileges_of(&self, role: Oid, as_role: Oid) -> bool {
        self.is_superuser(role) || self.reaches(role, as_role, true)
    }

    /// Whether `role` is a member of `group`, whatever INHERIT says (SET ROLE).
    #[must_use]
    pub fn is_member(&self, role: Oid, group: Oid) -> bool {
        self.is_superuser(role) || self.reaches(role, group, false)
    }

    fn reaches(&self, role: Oid, group: Oid, inheriting: bool) -> bool {
        self.groups_of(role, inheriting).contains(group)
    }

    /// The roles that `role` has been made a member of.
    pub(super) fn direct_groups(&self, role: Oid) -> impl Iterator<Item = Oid> {
        second(&self.groups, role)
    }

    /// Whether one of these may give membership of `group` to others (ADMIN OPTION).
    #[must_use]
    pub fn administers(&self, roles: &Groups, group: Oid) -> bool {
        let members = self.memberships.range((group, Oid(0))..=(group, Oid(u32::MAX)));
        members.into_iter().any(|(_, known)| known.admin && roles.contains(known.member))
    }
}
