//! Which roles a role is a member of.
//!
//! PostgreSQL: `acl.c`, `roles_is_member_of`, which keeps its last answers until a membership changes. Here a thread keeps
//! those of one state of what all databases share, by that state's version: `information_schema`'s views ask of each row's
//! owner, and chains of roles may be long.

use super::shared::Shared;
use sql_types::Oid;
use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

/// How many roles of groups a thread keeps in all.
const KEPT_MAX: usize = 1 << 19;

/// The roles that a role is a member of, itself first.
#[derive(Debug, Default)]
pub struct Groups {
    in_order: Vec<Oid>,
    all: HashSet<Oid>,
}

impl Groups {
    fn add(&mut self, role: Oid) {
        if self.all.insert(role) {
            self.in_order.push(role);
        }
    }

    /// Whether the role is one of them.
    #[must_use]
    pub fn contains(&self, role: Oid) -> bool {
        self.all.contains(&role)
    }

    /// All of them, those that are fewer memberships away first.
    pub fn iter(&self) -> impl Iterator<Item = Oid> {
        self.in_order.iter().copied()
    }
}

/// What a thread has been asked of one state.
#[derive(Default)]
struct Kept {
    version: u64,
    /// By role, and whether memberships have to be inherited.
    groups: HashMap<(Oid, bool), Rc<Groups>>,
    roles: usize,
}

thread_local! {
    static KEPT: RefCell<Kept> = RefCell::default();
}

impl Shared {
    /// The roles that `role` is a member of, through memberships that inherit or through all.
    #[must_use]
    pub fn groups_of(&self, role: Oid, inheriting: bool) -> Rc<Groups> {
        KEPT.with_borrow_mut(|kept| {
            if kept.version != self.version || kept.roles > KEPT_MAX {
                *kept = Kept { version: self.version, ..Kept::default() };
            }
            if let Some(known) = kept.groups.get(&(role, inheriting)) {
                return Rc::clone(known);
            }
            let found = Rc::new(self.find_groups(role, inheriting));
            kept.roles += found.in_order.len();
            kept.groups.insert((role, inheriting), Rc::clone(&found));
            found
        })
    }

    fn find_groups(&self, role: Oid, inheriting: bool) -> Groups {
        let mut found = Groups::default();
        found.add(role);
        let mut at = 0;
        while let Some(&member) = found.in_order.get(at) {
            at += 1;
            if inheriting && !self.role_by_oid(member).is_none_or(|role| role.inherit) {
                continue;
            }
            self.direct_groups(member).for_each(|group| found.add(group));
        }
        found
    }
}
