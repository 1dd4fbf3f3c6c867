//! The names of array types (`makeArrayTypeName`).
//!
//! The type of arrays over a type is called as that is behind an underscore, and gives way: where something is called so
//! already, more underscores stand before it. An array type is no object of its own, so its name follows from those of the
//! others: it is what it would be had all that is there been made under its present name, in the order in which it was made.

use crate::catalog::builtin;
use crate::catalog::relation::Relation;
use crate::catalog::user_type::UserType;
use crate::types::{Oid, truncate_bytes};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// The longest name.
const NAME_BYTES_MAX: usize = 63;

/// A name behind so many underscores.
pub fn array_name(element: &str, underscores: usize) -> Arc<str> {
    let name = format!("{}{element}", "_".repeat(underscores));
    Arc::from(truncate_bytes(&name, NAME_BYTES_MAX))
}

/// The first name for the type of arrays over a type of this name that nothing has.
fn free_name(
    taken: &HashMap<(Oid, Arc<str>), Option<usize>>,
    schema: Oid,
    element: &str,
) -> Arc<str> {
    let mut names = (1..=NAME_BYTES_MAX).map(|underscores| array_name(element, underscores));
    let free = names.find(|name| !taken.contains_key(&(schema, Arc::clone(name))));
    free.unwrap_or_else(|| array_name(element, 1))
}

/// The names that are not the elements' own behind an underscore.
#[derive(Clone, Debug, Default)]
pub struct ArrayNames {
    by_element: HashMap<Oid, Arc<str>>,
    by_name: HashMap<(Oid, Arc<str>), Oid>,
}

impl ArrayNames {
    /// Those of a database's types.
    pub fn of<'a>(
        relations: impl Iterator<Item = &'a Arc<Relation>> + Clone,
        types: impl Iterator<Item = &'a Arc<UserType>> + Clone,
    ) -> ArrayNames {
        let rows = relations.filter(|relation| relation.row_type.1 != Oid(0));
        let rows = rows.map(|one| (one.row_type.0, one.schema.0, &one.name));
        let elements = rows.chain(types.map(|ty| (ty.oid, ty.schema, &ty.name)));
        // Elsewhere every array type has the name that it has by itself.
        let crowded = |name: &str| name.starts_with('_') || name.len() == NAME_BYTES_MAX;
        let schemas: HashSet<Oid> =
            elements.clone().filter(|one| crowded(one.2)).map(|one| one.1).collect();
        let mut found = ArrayNames::default();
        if schemas.is_empty() {
            return found;
        }
        let mut there: Vec<(Oid, Oid, &Arc<str>)> =
            elements.filter(|one| schemas.contains(&one.1)).collect();
        there.sort_by_key(|one| builtin::counted(one.0.0));
        let mut taken: HashMap<(Oid, Arc<str>), Option<usize>> = HashMap::new();
        let mut arrays: Vec<Arc<str>> = Vec::with_capacity(there.len());
        for (at, (_, schema, name)) in there.iter().enumerate() {
            let named = (*schema, Arc::clone(name));
            if let Some(Some(other)) = taken.get(&named).copied() {
                arrays[other] = free_name(&taken, *schema, there[other].2);
                taken.insert((*schema, Arc::clone(&arrays[other])), Some(other));
            }
            taken.insert(named, None);
            let own = free_name(&taken, *schema, name);
            taken.insert((*schema, Arc::clone(&own)), Some(at));
            arrays.push(own);
        }
        for ((element, schema, name), own) in there.into_iter().zip(arrays) {
            if own.strip_prefix('_') != Some(name) {
                found.by_name.insert((schema, Arc::clone(&own)), element);
                found.by_element.insert(element, own);
            }
        }
        found
    }

    /// The element of the array type of this name, if that is another than its own behind an underscore.
    pub fn element(&self, schema: Oid, name: &str) -> Option<Oid> {
        if self.by_name.is_empty() {
            return None;
        }
        self.by_name.get(&(schema, Arc::from(name))).copied()
    }

    /// The name of the type of arrays over an element, if it is another than that behind an underscore.
    pub fn of_element(&self, element: Oid) -> Option<&Arc<str>> {
        self.by_element.get(&element)
    }
}
