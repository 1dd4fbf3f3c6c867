//! Extensions (PostgreSQL 15 manual, section 38.17): what the server has built in, and what a database records of those that
//! it has created.
//!
//! PostgreSQL runs a script and loads a library; here both are part of the server, and an extension is a description of its
//! members ([`Available`]), one module each. Members that the server computes (functions, types, operators, languages) have the same OIDs in
//! every database, and are in one only as long as the extension is: their rows, names and privileges are asked of the
//! snapshot ([`CatalogSnapshot::member_schema`]). Members that are made of SQL (views) are ordinary objects, whose OIDs
//! the database's [`Extension`] lists.

mod citext;
mod contrib;
pub mod pg_stat_statements;
mod pgcrypto;
mod plpgsql;
mod uuid_ossp;

use crate::acl::{Acl, AclItem, Privileges};
use crate::object::well_known;
use crate::privilege::Grantable;
use crate::snapshot::CatalogSnapshot;
use sql_types::Oid;
use sql_types::builtin::{self, OperatorClass, ProcedureOf, Type};
use sql_types::error::SqlError;
use sql_types::sqlstate::SqlState;
use std::ops::Range;
use std::sync::{Arc, LazyLock};

/// The OID of the system table `pg_extension`.
pub const PG_EXTENSION: Oid = Oid(3079);

/// Where PostgreSQL looks for extensions, as clients are told of those that are not there.
const DIRECTORY: &str = "/usr/share/postgresql/15/extension";

/// An extension that a database has: a row of `pg_extension`.
#[derive(Clone, Debug, PartialEq)]
pub struct Extension {
    /// Its OID.
    pub oid: Oid,
    /// Its name.
    pub name: Arc<str>,
    /// Its owner.
    pub owner: Oid,
    /// The schema that its members are in.
    pub schema: Oid,
    /// Its version.
    pub version: Arc<str>,
    /// The relations that are members.
    pub relations: Vec<Oid>,
}

impl Extension {
    /// What the server knows of it.
    #[must_use]
    pub fn description(&self) -> Option<&'static Available> {
        available(&self.name)
    }
}

/// A view that CREATE EXTENSION makes.
#[derive(Debug)]
pub struct MemberView {
    /// Its name.
    pub name: &'static str,
    /// The function that it shows all rows of, with its arguments.
    pub of: (&'static str, &'static str),
    /// Whether everybody may read it.
    pub public: bool,
}

/// An extension that can be had.
#[derive(Debug)]
pub struct Available {
    /// `name`.
    pub name: &'static str,
    /// `version`: the only one that there is.
    pub version: &'static str,
    /// `comment`.
    pub comment: &'static str,
    /// `trusted`: whoever may create in the database may create it too.
    pub trusted: bool,
    /// `relocatable`.
    pub relocatable: bool,
    /// `schema`, where its objects have to be in that.
    pub schema: Option<&'static str>,
    /// `requires`: the extensions that have to be there.
    pub requires: &'static [&'static str],
    /// The OIDs of its members: functions, types, operators, casts, operator classes and families, and their parts.
    pub members: Range<u32>,
    /// The language that is a member.
    pub language: Option<u32>,
    /// The views that are made for it, in their order.
    pub views: &'static [MemberView],
}

/// All of them, by name.
pub const AVAILABLE: &[Available] = &[
    contrib::AUTOINC,
    citext::DESCRIPTION,
    contrib::CUBE,
    contrib::EARTHDISTANCE,
    contrib::FUZZYSTRMATCH,
    contrib::HSTORE,
    contrib::INSERT_USERNAME,
    contrib::INTARRAY,
    contrib::LTREE,
    contrib::MODDATETIME,
    pg_stat_statements::DESCRIPTION,
    contrib::PG_TRGM,
    pgcrypto::DESCRIPTION,
    plpgsql::DESCRIPTION,
    contrib::REFINT,
    contrib::TABLEFUNC,
    contrib::TCN,
    contrib::UNACCENT,
    uuid_ossp::DESCRIPTION,
];

/// The classes of members, each with the file of its rows: `pg_proc`, `pg_type`, `pg_operator`, `pg_cast`, `pg_opfamily`,
/// `pg_opclass`, `pg_ts_template`, `pg_ts_dict`.
const CLASSES: [(u32, &str); 8] = [
    (1255, "extension_proc"),
    (1247, "extension_type"),
    (2617, "extension_operator"),
    (2605, "extension_cast"),
    (2753, "extension_opfamily"),
    (2616, "extension_opclass"),
    (3764, "extension_ts_template"),
    (3600, "extension_ts_dict"),
];

impl Available {
    /// The functions that are its members.
    pub fn functions(&self) -> impl Iterator<Item = &'static ProcedureOf<'static>> {
        self.members.clone().filter_map(builtin::function)
    }

    /// The types that are its members, with those of arrays over them.
    pub fn types(&self) -> impl Iterator<Item = &'static Type> {
        self.members.clone().filter_map(builtin::type_by_oid)
    }

    /// Its members by class, each a row of `pg_depend`; of arrays' types their elements' are asked.
    #[must_use]
    pub fn members(&self) -> &'static [(Oid, Oid)] {
        // Read from the files once: whoever joins with `pg_depend` asks for each row.
        static MEMBERS: LazyLock<Vec<Vec<(Oid, Oid)>>> =
            LazyLock::new(|| AVAILABLE.iter().map(Available::listed).collect());
        let at = AVAILABLE.iter().position(|known| known.name == self.name);
        at.map_or(&[], |at| &MEMBERS[at])
    }

    fn listed(&self) -> Vec<(Oid, Oid)> {
        let mut found: Vec<(Oid, Oid)> = Vec::new();
        for (class, file) in CLASSES {
            let rows = builtin::relation(file).into_iter().flat_map(builtin::Relation::all_rows);
            let oids = rows.filter_map(|row| row.get(0)?.parse().ok());
            let own = oids.filter(|oid: &u32| self.members.contains(oid));
            let own = own.filter(|oid| builtin::element_type(*oid).is_none());
            found.extend(own.map(|oid| (Oid(class), Oid(oid))));
        }
        if self.language.is_some() {
            found.extend(self.members.clone().map(|function| (Oid(CLASSES[0].0), Oid(function))));
        }
        found
    }
}

pub use plpgsql::OID as PLPGSQL;

/// One by its name.
#[must_use]
pub fn available(name: &str) -> Option<&'static Available> {
    AVAILABLE.iter().find(|known| known.name == name)
}

/// The extension that a built-in function, type, operator or another object is a member of.
#[must_use]
pub fn of_member(member: u32) -> Option<&'static Available> {
    builtin::extensions::extension_of(member).and_then(available)
}

/// The extension that a language is a member of.
#[must_use]
pub fn of_language(language: u32) -> Option<&'static Available> {
    AVAILABLE.iter().find(|known| known.language == Some(language))
}

/// The list of a view that everybody may read: what the extension's script has granted.
#[must_use]
pub fn initial_list(owner: Oid) -> Acl {
    let mut list = Grantable::Table.default_acl(owner);
    list.push(AclItem {
        grantee: Oid(0),
        grantor: owner,
        privileges: Privileges::SELECT,
        grant_options: Privileges::default(),
    });
    list
}

/// 0A000: what is said of an extension that is not there.
#[must_use]
pub fn unavailable(name: &str) -> SqlError {
    let message = format!("extension \"{name}\" is not available");
    SqlError::new(SqlState::FEATURE_NOT_SUPPORTED, message)
        .detail(format!(
            "Could not open extension control file \"{DIRECTORY}/{name}.control\": No such file or directory."
        ))
        .hint("The extension must first be installed on the system where PostgreSQL is running.")
}

impl CatalogSnapshot {
    /// The schema that a built-in function is in; none where the database does not have its extension.
    #[must_use]
    pub fn function_schema(&self, function: &ProcedureOf<'_>) -> Option<Oid> {
        match function.extension {
            None => Some(Oid(function.namespace)),
            Some(name) => self.extension(name).map(|found| found.schema),
        }
    }

    /// The schema that a built-in object is in which may be a member of an extension; none where the database does not have
    /// that.
    #[must_use]
    pub fn member_schema(&self, member: u32) -> Option<Oid> {
        match of_member(member) {
            None => Some(well_known::PG_CATALOG),
            Some(known) => self.extension(known.name).map(|found| found.schema),
        }
    }

    /// Whether a function's name alone finds it along the path: nothing that is built in stands before it.
    #[must_use]
    pub fn finds_function(&self, path: &[Oid], function: &ProcedureOf<'_>) -> bool {
        let hides = |other: &&&ProcedureOf<'_>| {
            other.namespace == well_known::PG_CATALOG.0 && other.arguments == function.arguments
        };
        match self.function_schema(function) {
            Some(well_known::PG_CATALOG) => true,
            Some(own) => {
                let mut named = builtin::functions_named(function.name).iter();
                path.contains(&own) && !named.any(|other| hides(&other))
            }
            None => false,
        }
    }

    /// A type of an extension by its name in the schema that this was created in.
    #[must_use]
    pub fn extension_type(&self, schema: Oid, name: &str) -> Option<Oid> {
        let found = builtin::type_by_name(0, name)?;
        (self.member_schema(found.oid) == Some(schema)).then_some(Oid(found.oid))
    }

    /// The operator class of this name in a schema, or where the path finds it.
    #[must_use]
    pub fn operator_class_named(
        &self,
        (schema, path): (Option<Oid>, &[Oid]),
        name: &str,
    ) -> Option<&'static OperatorClass> {
        let found = builtin::operator_class_named(name)?;
        let own = self.member_schema(found.oid)?;
        let there = match schema {
            Some(schema) => own == schema,
            None => own == well_known::PG_CATALOG || path.contains(&own),
        };
        there.then_some(found)
    }

    /// Who owns a function.
    #[must_use]
    pub fn function_owner(&self, function: &ProcedureOf<'_>) -> Oid {
        if let Some(owner) = function.owner {
            return owner;
        }
        let extension = function.extension.and_then(|name| self.extension(name));
        extension.map_or(well_known::SUPERUSER, |found| found.owner)
    }

    /// The extension that a relation is a member of.
    #[must_use]
    pub fn extension_of_relation(&self, relation: Oid) -> Option<&Arc<Extension>> {
        self.extensions().find(|extension| extension.relations.contains(&relation))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::builtin;

    #[test]
    fn what_is_described_is_there() {
        assert!(AVAILABLE.is_sorted_by_key(|known| known.name));
        for known in AVAILABLE {
            for found in known.functions() {
                assert_eq!(found.extension, Some(known.name));
            }
            assert!(known.members().iter().all(|(_, oid)| known.members.contains(&oid.0)));
            for view in known.views {
                assert!(!builtin::functions_named(view.of.0).is_empty(), "{}", view.name);
            }
        }
        let members = |found: &&ProcedureOf<'_>| found.extension.is_none() && found.namespace == 0;
        assert_eq!(builtin::functions().iter().filter(members).count(), 0);
    }
}
