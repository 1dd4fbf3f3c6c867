//! What whoever runs a statement must be allowed: collected while the statement is bound, by relation and column and by whose
//! privileges count, and asked when it runs (manual, 5.7; `RangeTblEntry`'s requiredPerms and checkAsUser).

use crate::bind::Binder;
use crate::catalog::acl::Privileges;
use crate::catalog::{CatalogSnapshot, Relation};
use crate::error::Result;
use crate::types::Oid;

/// Who must have a privilege on a relation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Holder {
    /// Whoever runs the statement or, of what a view's query names, whom the view says.
    Asker,
    /// Whoever runs the statement, whatever views stand around a view of security_invoker.
    Invoker,
    /// The owner of a view.
    Owner(Oid),
}

impl Holder {
    /// Who must be allowed what a view does.
    #[must_use]
    pub fn of(view: &Relation) -> Holder {
        if view.is_security_invoker() { Holder::Invoker } else { Holder::Owner(view.owner) }
    }

    /// Whose privileges these are when this role runs the statement.
    #[must_use]
    pub fn role(self, user: Oid) -> Oid {
        match self {
            Holder::Asker | Holder::Invoker => user,
            Holder::Owner(owner) => owner,
        }
    }
}

/// A privilege that whoever runs the statement must have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Required {
    /// On a relation.
    Relation {
        /// Which.
        relation: Oid,
        /// Who must have it.
        holder: Holder,
        /// What is done with it.
        privileges: Privileges,
        /// The columns that are named, by `attnum` (0: the whole row), with what is done with each.
        columns: Vec<(i16, Privileges)>,
    },
    /// EXECUTE on a function that not everybody may call.
    Function(Oid),
    /// EXECUTE on a function that an operator or a cast of a user calls.
    Called(Oid),
    /// USAGE of a schema that was named, and where its name stands.
    Schema(Oid, u32),
}

/// 42501 where `user` may not use a schema that a statement names.
///
/// # Errors
/// 42501, at the name.
pub fn may_use_schemas(required: &[Required], catalog: &CatalogSnapshot, user: Oid) -> Result<()> {
    for wanted in required {
        if let Required::Schema(oid, at) = wanted
            && let Some(schema) = catalog.schema_by_oid(*oid)
        {
            catalog.demand_usage(user, schema).map_err(|error| error.at(*at))?;
        }
    }
    Ok(())
}

impl Binder<'_> {
    pub(super) fn require(&self, relation: Oid, privileges: Privileges) {
        self.require_column(relation, None, privileges);
    }

    /// Something is done with a relation and, if it is named, with one of its columns.
    pub(super) fn require_column(&self, table: Oid, column: Option<i16>, wanted: Privileges) {
        self.require_as(Holder::Asker, table, column, wanted);
    }

    /// The same, by whom the view says that it is done through.
    pub(super) fn require_as(
        &self,
        by: Holder,
        table: Oid,
        column: Option<i16>,
        wanted: Privileges,
    ) {
        let mut required = self.required.borrow_mut();
        let known = required.iter_mut().find_map(|known| match known {
            Required::Relation { relation, holder, privileges, columns }
                if *relation == table && *holder == by =>
            {
                Some((privileges, columns))
            }
            _ => None,
        });
        let Some((privileges, columns)) = known else {
            let columns = column.map(|column| (column, wanted)).into_iter().collect();
            let (relation, privileges, holder) = (table, wanted, by);
            required.push(Required::Relation { relation, holder, privileges, columns });
            return;
        };
        *privileges = privileges.union(wanted);
        if let Some(column) = column {
            match columns.iter_mut().find(|known| known.0 == column) {
                Some(known) => known.1 = known.1.union(wanted),
                None => columns.push((column, wanted)),
            }
        }
    }

    /// Whether the statement, as far as it is bound, reads anything of a relation.
    pub(super) fn reads_any(&self, read: Oid) -> bool {
        self.required.borrow().iter().any(|required| {
            matches!(required, Required::Relation { relation, privileges, .. }
                if *relation == read && privileges.contains(Privileges::SELECT))
        })
    }

    /// The columns of a table that the statement names as written, by index.
    pub(super) fn written_columns(&self, table: Oid) -> Vec<usize> {
        let mut found = Vec::new();
        for required in &*self.required.borrow() {
            if let Required::Relation { relation, columns, .. } = required
                && *relation == table
            {
                let written = columns.iter().filter(|(_, privileges)| {
                    privileges.contains(Privileges::INSERT)
                        || privileges.contains(Privileges::UPDATE)
                });
                found.extend(written.filter_map(|(number, _)| usize::try_from(*number - 1).ok()));
            }
        }
        found
    }

    /// A column that is read.
    pub(super) fn read_column(&self, origin: Option<(Oid, i16)>) {
        if let Some((table, column)) = origin {
            self.require_column(table, Some(column), Privileges::SELECT);
        }
    }

    /// Something else that whoever runs the statement must be allowed.
    pub(super) fn require_also(&self, wanted: Required) {
        let mut required = self.required.borrow_mut();
        if !required.contains(&wanted) {
            required.push(wanted);
        }
    }
}
