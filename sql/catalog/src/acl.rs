//! Access control lists: who may do what, as GRANT left it and `pg_class.relacl` shows it.
//!
//! No list is not an empty list: it stands for the owner's default, all privileges of the object's kind for its owner
//! (and CONNECT, TEMPORARY for everyone on databases), which GRANT and REVOKE make explicit first (PostgreSQL's
//! `acldefault`). The numbers of the privileges are PostgreSQL's `ACL_*` bits.

use sql_types::Oid;
use sql_types::error::{Result, SqlError};
use sql_types::sqlstate::SqlState;
use std::borrow::Cow;
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
pub const PRIVILEGES: [(Privileges, char, &str); 14] = [
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
    (Privileges::SET, 's', "SET"),
    (Privileges::ALTER_SYSTEM, 'A', "ALTER SYSTEM"),
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
    /// Everything on a column.
    pub const COLUMN: Privileges = Privileges(0x23 | 1 << 2);
    /// What goes with SET and ALTER SYSTEM of a setting.
    pub const SET: Privileges = Privileges(1 << 12);
    /// ALTER SYSTEM.
    pub const ALTER_SYSTEM: Privileges = Privileges(1 << 13);
    /// All of a parameter.
    pub const PARAMETER: Privileges = Privileges(1 << 12 | 1 << 13);
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

/// One change of a list: what `grantor` gives `grantee`, or takes away.
#[derive(Clone, Copy, Debug)]
pub struct AclChange {
    /// Who gives or takes; entries of other grantors stay.
    pub grantor: Oid,
    /// Whose entry changes; 0 is PUBLIC.
    pub grantee: Oid,
    /// The privileges.
    pub privileges: Privileges,
    /// The grant options.
    pub grant_options: Privileges,
    /// REVOKE.
    pub revoke: bool,
    /// CASCADE: what was given on by virtue of a grant option that goes, goes too.
    pub cascade: bool,
}

/// Whether the first role has the privileges of the second.
pub type ActsAs<'a> = &'a dyn Fn(Oid, Oid) -> bool;

/// Changes a list (`aclupdate`). `owner` is the object's, whose grant options nothing can take.
///
/// # Errors
/// 0LP01 for grant options that would go back to who gave them; 2BP01 for dependent privileges without CASCADE.
pub fn update(acl: &mut Acl, owner: Oid, change: AclChange, acts_as: ActsAs<'_>) -> Result<()> {
    let AclChange { grantor, grantee, privileges, grant_options, revoke, .. } = change;
    if !revoke && grant_options != Privileges::default() && grantor != owner {
        let mut back = acl.clone();
        let all = Privileges(u32::MAX);
        // Without the grantee's own options, the grantor's may be gone.
        for item in back.clone().into_iter().filter(|item| item.grantee == grantee) {
            let taken = AclChange {
                grantor: item.grantor,
                privileges: Privileges::default(),
                grant_options: all,
                revoke: true,
                cascade: true,
                ..change
            };
            update(&mut back, owner, taken, acts_as)?;
        }
        if !options_of(&back, owner, &|role| acts_as(grantor, role)).contains(grant_options) {
            return Err(SqlError::new(
                SqlState::INVALID_GRANT_OPERATION,
                "grant options cannot be granted back to your own grantor",
            ));
        }
    }
    let found = acl.iter().position(|item| item.grantee == grantee && item.grantor == grantor);
    let at = found.unwrap_or_else(|| {
        let none = Privileges::default();
        acl.push(AclItem { grantee, grantor, privileges: none, grant_options: none });
        acl.len() - 1
    });
    let item = &mut acl[at];
    let before = item.grant_options;
    if revoke {
        item.privileges = item.privileges.without(privileges);
        item.grant_options = item.grant_options.without(grant_options);
    } else {
        item.privileges = item.privileges.union(privileges);
        item.grant_options = item.grant_options.union(grant_options);
    }
    let lost = before.without(item.grant_options);
    if item.privileges.union(item.grant_options) == Privileges::default() {
        acl.remove(at);
    }
    if lost == Privileges::default() || grantee == owner {
        return Ok(());
    }
    // What the grantee may still pass on, by another grantor or as a member of another role, stays.
    let lost = lost.without(options_of(acl, owner, &|role| acts_as(grantee, role)));
    while let Some(item) =
        acl.iter().find(|item| item.grantor == grantee && item.privileges.0 & lost.0 != 0).copied()
    {
        if !change.cascade {
            return Err(SqlError::new(
                SqlState::DEPENDENT_OBJECTS_STILL_EXIST,
                "dependent privileges exist",
            )
            .hint("Use CASCADE to revoke them too."));
        }
        let dependent = AclChange {
            grantor: grantee,
            grantee: item.grantee,
            privileges: lost,
            grant_options: lost,
            revoke: true,
            cascade: true,
        };
        update(acl, owner, dependent, acts_as)?;
    }
    Ok(())
}

/// The privileges that may be passed on by those roles of which this is true. The owner may pass on everything.
#[must_use]
pub fn options_of(acl: &Acl, owner: Oid, is_among: &dyn Fn(Oid) -> bool) -> Privileges {
    if is_among(owner) {
        return Privileges(u32::MAX);
    }
    let mine = acl.iter().filter(|item| is_among(item.grantee));
    mine.fold(Privileges::default(), |all, item| all.union(item.grant_options))
}

/// Whether a character of a name goes into an `aclitem`'s text without quotes around the name.
fn is_plain(character: char) -> bool {
    character.is_ascii_alphanumeric() || character == '_'
}

/// A role's name as it stands in an `aclitem`'s text (`putid`): whoever reads the text takes anything but letters, digits
/// and underscores for the end of a name, unless it is quoted.
fn quoted(name: &str) -> Cow<'_, str> {
    if name.chars().all(is_plain) {
        return Cow::Borrowed(name);
    }
    Cow::Owned(format!("\"{}\"", name.replace('"', "\"\"")))
}

/// The name at the start of a text, and what is behind it (`getid`).
fn leading_name(text: &str) -> (String, &str) {
    let (mut name, mut in_quotes) = (String::new(), false);
    let text = text.trim_start_matches(|c: char| c.is_ascii_whitespace());
    let mut characters = text.char_indices().peekable();
    while let Some(&(at, character)) = characters.peek() {
        // A letter of another script stands for itself where it is read, though it is written in quotes.
        if !(in_quotes || is_plain(character) || character == '"' || !character.is_ascii()) {
            return (name, text[at..].trim_start_matches(|c: char| c.is_ascii_whitespace()));
        }
        characters.next();
        match character {
            '"' if !in_quotes => in_quotes = true,
            '"' if characters.next_if(|(_, next)| *next == '"').is_none() => in_quotes = false,
            other => name.push(other),
        }
    }
    (name, "")
}

/// The parts of an `aclitem`'s text: the grantee's name (none is PUBLIC), the privileges, the grant options, the grantor's
/// name.
pub type ItemParts = (String, Privileges, Privileges, String);

/// Takes the text of an `aclitem` apart; none for what is no such text.
#[must_use]
pub fn parse_item(text: &str) -> Option<ItemParts> {
    let (grantee, rest) = leading_name(text);
    let (letters, grantor) = rest.strip_prefix('=')?.split_once('/')?;
    let (mut privileges, mut options) = (Privileges::default(), Privileges::default());
    let mut last = Privileges::default();
    for letter in letters.chars() {
        if letter == '*' {
            options = options.union(last);
            continue;
        }
        last = PRIVILEGES.iter().find(|known| known.1 == letter)?.0;
        privileges = privileges.union(last);
    }
    let (grantor, rest) = leading_name(grantor);
    (rest.is_empty() && !grantor.is_empty()).then_some((grantee, privileges, options, grantor))
}

/// The text of an `aclitem`: `alice=arwdDxt/postgres`. `name` says what a role is called.
#[must_use]
pub fn item_text(item: &AclItem, name: &dyn Fn(Oid) -> String) -> String {
    let mut text = match item.grantee.0 {
        0 => String::new(),
        _ => quoted(&name(item.grantee)).into_owned(),
    };
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
    let _ = write!(text, "/{}", quoted(&name(item.grantor)));
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(oid: Oid) -> String {
        if oid.0 == 10 { "postgres".into() } else { format!("r{oid}") }
    }

    /// Nobody is a member of another role.
    fn alone(role: Oid, as_role: Oid) -> bool {
        role == as_role
    }

    fn change(grantor: u32, grantee: u32, privileges: Privileges, option: bool) -> AclChange {
        AclChange {
            grantor: Oid(grantor),
            grantee: Oid(grantee),
            privileges,
            grant_options: if option { privileges } else { Privileges::default() },
            revoke: false,
            cascade: false,
        }
    }

    #[test]
    fn a_grant_grows_and_a_revoke_shrinks_the_same_entry() {
        let mut acl = Acl::new();
        update(&mut acl, Oid(10), change(10, 5, Privileges::SELECT, false), &alone).unwrap();
        update(&mut acl, Oid(10), change(10, 5, Privileges::INSERT, true), &alone).unwrap();
        assert_eq!(acl.len(), 1);
        assert_eq!(item_text(&acl[0], &name), "r5=a*r/postgres");
        let option = AclChange {
            revoke: true,
            privileges: Privileges::default(),
            ..change(10, 5, Privileges::INSERT, true)
        };
        update(&mut acl, Oid(10), option, &alone).unwrap();
        assert_eq!(item_text(&acl[0], &name), "r5=ar/postgres");
        let all = AclChange { revoke: true, ..change(10, 5, Privileges::TABLE, true) };
        update(&mut acl, Oid(10), all, &alone).unwrap();
        assert!(acl.is_empty());
    }

    #[test]
    fn what_was_passed_on_goes_with_the_grant_option() {
        let mut acl = Acl::new();
        update(&mut acl, Oid(10), change(10, 5, Privileges::SELECT, true), &alone).unwrap();
        update(&mut acl, Oid(10), change(5, 6, Privileges::SELECT, true), &alone).unwrap();
        let back =
            update(&mut acl, Oid(10), change(6, 5, Privileges::SELECT, true), &alone).unwrap_err();
        assert_eq!(back.state(), SqlState::INVALID_GRANT_OPERATION);
        let revoke = AclChange { revoke: true, ..change(10, 5, Privileges::SELECT, true) };
        let kept = update(&mut acl.clone(), Oid(10), revoke, &alone).unwrap_err();
        assert_eq!(kept.state(), SqlState::DEPENDENT_OBJECTS_STILL_EXIST);
        update(&mut acl, Oid(10), AclChange { cascade: true, ..revoke }, &alone).unwrap();
        assert!(acl.is_empty());
    }

    #[test]
    fn names_go_through_the_text_of_an_item_and_back() {
        for (name, text) in [
            ("a_1", "a_1"),
            ("a b", "\"a b\""),
            ("u1=arwdDxt/\"x", "\"u1=arwdDxt/\"\"x\""),
            ("\"", "\"\"\"\""),
            ("new\nline\\", "\"new\nline\\\""),
            ("\u{fc}", "\"\u{fc}\""),
            ("Select", "Select"),
        ] {
            let item = AclItem {
                grantee: Oid(5),
                grantor: Oid(6),
                privileges: Privileges::SELECT.union(Privileges::INSERT),
                grant_options: Privileges::SELECT,
            };
            let shown = item_text(&item, &|_| name.to_owned());
            assert_eq!(shown, format!("{text}=ar*/{text}"));
            let parts = (name.to_owned(), item.privileges, item.grant_options, name.to_owned());
            assert_eq!(parse_item(&shown), Some(parts));
        }
        assert_eq!(parse_item("=r/\u{fc}").map(|parts| parts.3), Some("\u{fc}".to_owned()));
        for crooked in ["a b=r/c", "a=r", "a=r/", "a=q/c", "a=r/c d", "\"a=r/c"] {
            assert_eq!(parse_item(crooked), None, "{crooked}");
        }
    }

    #[test]
    fn public_has_no_name() {
        let mut acl = Acl::new();
        update(&mut acl, Oid(10), change(10, 0, Privileges::DATABASE, false), &alone).unwrap();
        assert_eq!(item_text(&acl[0], &name), "=CTc/postgres");
    }
}
