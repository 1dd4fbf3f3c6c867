//! What the catalog is made of, as it is stored: one object a record (cut in parts where it is long).
//!
//! PostgreSQL keeps a table's definition in rows of six catalogs; here a table with its columns and constraints is one
//! object, because that is how it is changed, locked and read, and each of its indexes another one: several are made, renamed
//! and made anew at once, beside privileges. In the snapshot a relation has its indexes. `system` shows the same facts as
//! PostgreSQL's rows. What follows from other objects (a schema's name, who refers to a table, row counts) is not
//! stored twice: the snapshot derives it.

use crate::acl::Acl;
use crate::attachment::{EventTrigger, UserCast, UserOperator};
use crate::extension::Extension;
use crate::operator_class::{Conversion, OperatorFamily, UserOperatorClass};
use crate::relation::{Index, Relation};
use crate::routine::Routine;
use crate::statistics::TableStatistics;
use crate::user_type::UserType;
use sql_types::Oid;
pub use sql_types::builtin::well_known;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use txn::SchemeKind;

/// Names an object: its class, its database (0: all of them share it), its OID, and for what hangs on another object
/// a number below it (a column's `attnum`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ObjectKey {
    /// What kind of object it is.
    pub class: Class,
    /// Its database, 0 for shared objects.
    pub database: Oid,
    /// Its OID, or that of what it belongs to.
    pub oid: Oid,
    /// The number below `oid`.
    pub sub: u32,
}

/// A committed state of an object: no other one, of this object or another, has its number. What is made of a state keeps its
/// number until it is committed, and so says what it replaces.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Version(u64);

impl Version {
    /// Of what no commit has made yet, and what replaces nothing therefore.
    pub const NONE: Version = Version(0);

    /// One that no state had before.
    #[must_use]
    pub fn next() -> Version {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        // Relaxed: only uniqueness is asked of it.
        Version(NEXT.fetch_add(1, Ordering::Relaxed))
    }
}

/// The kinds of objects. The numbers are part of the format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Class {
    /// The OID counter: one object, not part of any snapshot.
    Counter = 1,
    /// A database.
    Database = 2,
    /// A role.
    Role = 3,
    /// A membership: `oid` is the group, `sub` the member.
    Membership = 4,
    /// Settings of a role (`oid`) in a database, either 0 for all.
    Settings = 5,
    /// A schema.
    Schema = 6,
    /// A table, view or sequence, without its indexes.
    Relation = 7,
    /// What ANALYZE found out about a table.
    Statistics = 8,
    /// A COMMENT: on a relation, `sub` is the column's `attnum`.
    Comment = 9,
    /// A type that users made: an enum or a composite type.
    Type = 11,
    /// An index: `oid` is its table, `sub` its own OID.
    Index = 12,
    /// The state of a sequence, written outside the transactions that use it; not part of any snapshot.
    SequenceState = 10,
    /// Who may set a parameter; of all databases.
    Parameter = 13,
    /// An extension.
    Extension = 14,
    /// A function or procedure that a user made.
    Routine = 15,
    /// An operator that a user made.
    Operator = 16,
    /// A cast that a user made.
    Cast = 17,
    /// An event trigger.
    EventTrigger = 18,
    /// An operator class that a user made.
    OperatorClass = 19,
    /// An operator family that a user made.
    OperatorFamily = 20,
    /// A conversion that a user made.
    Conversion = 21,
    /// The access control list of what does not keep its own: a column, a function, a type, a language.
    Acl = 31,
    /// What ALTER DEFAULT PRIVILEGES says of objects yet to be made.
    DefaultAcl = 32,
}

impl Class {
    /// By its number.
    #[must_use]
    pub fn of(number: u8) -> Option<Class> {
        Some(match number {
            1 => Class::Counter,
            2 => Class::Database,
            3 => Class::Role,
            4 => Class::Membership,
            5 => Class::Settings,
            6 => Class::Schema,
            7 => Class::Relation,
            8 => Class::Statistics,
            9 => Class::Comment,
            10 => Class::SequenceState,
            31 => Class::Acl,
            32 => Class::DefaultAcl,
            11 => Class::Type,
            12 => Class::Index,
            13 => Class::Parameter,
            14 => Class::Extension,
            15 => Class::Routine,
            16 => Class::Operator,
            17 => Class::Cast,
            18 => Class::EventTrigger,
            19 => Class::OperatorClass,
            20 => Class::OperatorFamily,
            21 => Class::Conversion,
            _ => return None,
        })
    }
}

/// Settings in the order they were made: (name, value).
pub type SettingList = Vec<(String, String)>;

/// An object.
#[derive(Clone, Debug)]
pub enum Object {
    /// A database.
    Database(Arc<Database>),
    /// A role.
    Role(Arc<Role>),
    /// A membership.
    Membership(Membership),
    /// Settings of a role, a database, or the system.
    Settings(Arc<SettingList>),
    /// A schema.
    Schema(Arc<Schema>),
    /// A table, view or sequence, without its indexes.
    Relation(Arc<Relation>),
    /// An index of a table.
    Index(Arc<Index>),
    /// What ANALYZE found out about a table.
    Statistics(Arc<TableStatistics>),
    /// A comment's text.
    Comment(Arc<Comment>),
    /// The access control list of a column, a function, a type, a language.
    Acl(Arc<Acl>),
    /// A row of `pg_default_acl`.
    DefaultAcl(Arc<DefaultAcl>),
    /// A type that users made.
    Type(Arc<UserType>),
    /// Who may set a parameter.
    Parameter(Arc<ParameterAcl>),
    /// An extension.
    Extension(Arc<Extension>),
    /// A function or procedure.
    Routine(Arc<Routine>),
    /// An operator.
    Operator(Arc<UserOperator>),
    /// A cast.
    Cast(Arc<UserCast>),
    /// An event trigger.
    EventTrigger(Arc<EventTrigger>),
    /// An operator class.
    OperatorClass(Arc<UserOperatorClass>),
    /// An operator family.
    OperatorFamily(Arc<OperatorFamily>),
    /// A conversion.
    Conversion(Arc<Conversion>),
}

/// A database: a row of `pg_database`.
#[derive(Clone, Debug, PartialEq)]
pub struct Database {
    /// Its OID.
    pub oid: Oid,
    /// Its name.
    pub name: Arc<str>,
    /// Its owner.
    pub owner: Oid,
    /// IS_TEMPLATE: whoever may create databases may copy it.
    pub template: bool,
    /// ALLOW_CONNECTIONS.
    pub allow_connections: bool,
    /// CONNECTION LIMIT; -1 is none.
    pub connection_limit: i32,
    /// LC_COLLATE.
    pub collate: Arc<str>,
    /// LC_CTYPE.
    pub ctype: Arc<str>,
    /// CONCURRENCY_CONTROL: what makes its transactions serializable.
    pub concurrency_control: SchemeKind,
    /// Who may connect and create.
    pub acl: Option<Acl>,
}

/// A role: a row of `pg_authid`.
#[derive(Clone, Debug, PartialEq)]
#[expect(clippy::struct_excessive_bools, reason = "they are pg_authid's columns")]
pub struct Role {
    /// Its OID.
    pub oid: Oid,
    /// Its name.
    pub name: Arc<str>,
    /// SUPERUSER.
    pub superuser: bool,
    /// INHERIT.
    pub inherit: bool,
    /// CREATEROLE.
    pub create_role: bool,
    /// CREATEDB.
    pub create_db: bool,
    /// LOGIN.
    pub login: bool,
    /// REPLICATION.
    pub replication: bool,
    /// BYPASSRLS.
    pub bypass_rls: bool,
    /// CONNECTION LIMIT; -1 is none.
    pub connection_limit: i32,
    /// The SCRAM verifier, as PostgreSQL stores it.
    pub verifier: Option<Arc<str>>,
    /// VALID UNTIL, in microseconds since 2000-01-01 UTC.
    pub valid_until: Option<i64>,
}

/// That one role is a member of another: a row of `pg_auth_members`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Membership {
    /// The role whose privileges are passed on.
    pub group: Oid,
    /// Who has them.
    pub member: Oid,
    /// Who granted it.
    pub grantor: Oid,
    /// WITH ADMIN OPTION.
    pub admin: bool,
}

/// A schema: a row of `pg_namespace`.
#[derive(Clone, Debug, PartialEq)]
pub struct Schema {
    /// Its OID.
    pub oid: Oid,
    /// Its name.
    pub name: Arc<str>,
    /// Its owner.
    pub owner: Oid,
    /// Who may use it and create in it.
    pub acl: Option<Acl>,
}

/// What objects of a kind get when a role makes them: a row of `pg_default_acl`.
#[derive(Clone, Debug, PartialEq)]
pub struct DefaultAcl {
    /// Its OID.
    pub oid: Oid,
    /// Who makes them.
    pub role: Oid,
    /// In which schema; 0 is in any.
    pub schema: Oid,
    /// `defaclobjtype`: r, S, f, T or n.
    pub kind: char,
    /// The list: instead of the owner's default, or for a schema what is added to that.
    pub acl: Acl,
}

/// Who may set a parameter, where that is not only superusers: a row of `pg_parameter_acl`.
#[derive(Clone, Debug, PartialEq)]
pub struct ParameterAcl {
    /// Its OID.
    pub oid: Oid,
    /// The parameter's name, in lower case.
    pub name: Arc<str>,
    /// The list.
    pub acl: Acl,
}

/// A comment: a row of `pg_description` or `pg_shdescription`.
#[derive(Clone, Debug, PartialEq)]
pub struct Comment {
    /// The system table the object stands in: 1259 for relations.
    pub class: Oid,
    /// Its text.
    pub text: Arc<str>,
}
