//! Access control lists: who may do what, as GRANT left it and `pg_class.relacl` shows it.
//!
//! No list is not an empty list: it stands for the owner's default, all privileges of the object's kind for its owner
//! (and CONNECT, TEMPORARY for everyone on databases), which GRANT and REVOKE make explicit first (PostgreSQL's
//! `acldefault`). The numbers of the privileges are PostgreSQL's `ACL_*` bits.

use crate::types::Oid;
use std::fmt::Write;

/// The entries of one object, in the order they were made.
pub type Acl = Vec<AclItem>;

/// What one grantor has given one grantee.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AclItem {
    /// Who may; 0 is PUBLIC.
    pub grantee: Oid,
    /// Who gave it.
    pub grantor: Oid,
    /// The privileges.
    pub privileges: Privileges,
    /// Those of them that the grantee may pass on.
    pub grant_options: Privileges,
}

/// A set of privileges.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Privileges(pub u32);

/// Each privilege: its bit, the letter of `aclitem`'s text, its keyword.
pub const PRIVILEGES: [(Privileges, char, &str); 12] = [
    (Privileges::INSERT, 'a', "INSERT"),
    (Privileges::SELECT, 'r', "SELECT"),
    (Privileges::UPDATE, 'w', "UPDATE"),
    (Privileges::DELETE, 'd', "DELETE"),
    (Privileges::TRUNCATE, 'D', "TRUNCATE"),
    (Privileges::REFERENCES, 'x', "REFERENCES"),
    (Privileges::TRIGGER, 't', "TRIGGER"),
    (Privileges::EXECUTE, 'X', "EXECUTE"),
    (Privileges::USAGE, 'U', "USAGE"),
    (Privileges::CREATE, 'C', "CREATE"),
    (Privileges::TEMPORARY, 'T', "TEMPORARY"),
    (Privileges::CONNECT, 'c', "CONNECT"),
];

impl Privileges {
    /// INSERT.
    pub const INSERT: Privileges = Privileges(1);
    /// SELECT.
    pub const SELECT: Privileges = Privileges(1 << 1);
    /// UPDATE.
    pub const UPDATE: Privileges = Privileges(1 << 2);
    /// DELETE.
    pub const DELETE: Privileges = Privileges(1 << 3);
    /// TRUNCATE.
    pub const TRUNCATE: Privileges = Privileges(1 << 4);
    /// REFERENCES.
    pub const REFERENCES: Privileges = Privileges(1 << 5);
    /// TRIGGER.
    pub const TRIGGER: Privileges = Privileges(1 << 6);
    /// EXECUTE.
    pub const EXECUTE: Privileges = Privileges(1 << 7);
    /// USAGE.
    pub const USAGE: Privileges = Privileges(1 << 8);
    /// CREATE.
    pub const CREATE: Privileges = Privileges(1 << 9);
    /// TEMPORARY.
    pub const TEMPORARY: Privileges = Privileges(1 << 10);
    /// CONNECT.
    pub const CONNECT: Privileges = Privileges(1 << 11);
    /// Everything on a table.
    pub const TABLE: Privileges = Privileges(0x7F);
    /// Everything on a sequence.
    pub const SEQUENCE: Privileges = Privileges(1 << 1 | 1 << 2 | 1 << 8);
    /// Everything on a schema.
    pub const SCHEMA: Privileges = Privileges(1 << 8 | 1 << 9);
    /// Everything on a database.
    pub const DATABASE: Privileges = Privileges(1 << 9 | 1 << 10 | 1 << 11);

    /// Whether all of `other` is in it.
    #[must_use]
    pub fn contains(self, other: Privileges) -> bool {
        self.0 & other.0 == other.0
    }

    /// Both.
    #[must_use]
    pub fn union(self, other: Privileges) -> Privileges {
        Privileges(self.0 | other.0)
    }

    /// What is not in `other`.
    #[must_use]
    pub fn without(self, other: Privileges) -> Privileges {
        Privileges(self.0 & !other.0)
    }

    /// The privilege of a keyword, in any case.
    #[must_use]
    pub fn named(word: &str) -> Option<Privileges> {
        let word = if word.eq_ignore_ascii_case("TEMP") { "TEMPORARY" } else { word };
        PRIVILEGES.iter().find(|entry| entry.2.eq_ignore_ascii_case(word)).map(|entry| entry.0)
    }
}

/// Adds to a list what `grantor` gives `grantee`.
pub fn grant(acl: &mut Acl, grantor: Oid, grantee: Oid, privileges: Privileges, option: bool) {
    let options = if option { privileges } else { Privileges::default() };
    match acl.iter_mut().find(|item| item.grantee == grantee && item.grantor == grantor) {
        Some(item) => {
            item.privileges = item.privileges.union(privileges);
            item.grant_options = item.grant_options.union(options);
        }
        None => acl.push(AclItem { grantee, grantor, privileges, grant_options: options }),
    }
}

/// Takes from a list what `grantee` was given; with `option_only` it may keep the privilege, but not pass it on.
pub fn revoke(acl: &mut Acl, grantee: Oid, privileges: Privileges, option_only: bool) {
    for item in acl.iter_mut().filter(|item| item.grantee == grantee) {
        item.grant_options = item.grant_options.without(privileges);
        if !option_only {
            item.privileges = item.privileges.without(privileges);
        }
    }
    acl.retain(|item| item.privileges != Privileges::default());
}

/// The text of an `aclitem`: `alice=arwdDxt/postgres`. `name` says what a role is called.
#[must_use]
pub fn item_text(item: &AclItem, name: &dyn Fn(Oid) -> String) -> String {
    let mut text = if item.grantee.0 == 0 { String::new() } else { name(item.grantee) };
    text.push('=');
    for (privilege, letter, _) in PRIVILEGES {
        if item.privileges.contains(privilege) {
            text.push(letter);
            if item.grant_options.contains(privilege) {
                text.push('*');
            }
        }
    }
    // Writing to a String cannot fail.
    let _ = write!(text, "/{}", name(item.grantor));
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(oid: Oid) -> String {
        if oid.0 == 10 { "postgres".into() } else { format!("r{oid}") }
    }

    #[test]
    fn a_grant_grows_and_a_revoke_shrinks_the_same_entry() {
        let mut acl = Acl::new();
        grant(&mut acl, Oid(10), Oid(5), Privileges::SELECT, false);
        grant(&mut acl, Oid(10), Oid(5), Privileges::INSERT, true);
        assert_eq!(acl.len(), 1);
        assert_eq!(item_text(&acl[0], &name), "r5=a*r/postgres");
        revoke(&mut acl, Oid(5), Privileges::INSERT, true);
        assert_eq!(item_text(&acl[0], &name), "r5=ar/postgres");
        revoke(&mut acl, Oid(5), Privileges::TABLE, false);
        assert!(acl.is_empty());
    }

    #[test]
    fn public_has_no_name() {
        let mut acl = Acl::new();
        grant(&mut acl, Oid(10), Oid(0), Privileges::DATABASE, false);
        assert_eq!(item_text(&acl[0], &name), "=CTc/postgres");
    }
}
