//! The names of array types (`makeArrayTypeName`).
//!
//! The type of arrays over a type is called as that is behind an underscore, and gives way: where something is called so
//! already, more underscores stand before it. An array type is no object of its own, so its name follows from those of the
//! others: it is what it would be had all that is there been made under its present name, in the order in which it was made.
//!
//! Only types whose names are the same without the underscores before them can be in each other's way, so a change derives
//! the names of these groups anew, and only of those in which some name does begin with one, or is as long as a name can
//! be. Names that have been cut are held together by how they begin: 23 underscores cut nothing of that.

use crate::builtin;
use crate::objects::Objects;
use crate::relation::Relation;
use crate::snapshot::Named;
use imbl::OrdMap;
use sql_types::text::quote::NAME_BYTES_MAX;
use sql_types::{Oid, truncate_bytes};
use std::collections::{BTreeSet, HashMap};
use std::ops::Bound;
use std::sync::Arc;

/// How much of a name, without the underscores before it, says which others can be in its way.
const STEM_BYTES_MAX: usize = 40;

/// A name behind so many underscores.
pub fn array_name(element: &str, underscores: usize) -> Arc<str> {
    let name = format!("{}{element}", "_".repeat(underscores));
    Arc::from(truncate_bytes(&name, NAME_BYTES_MAX))
}

/// The first name for the type of arrays over a type of this name that nothing has.
fn free_name(taken: &HashMap<Arc<str>, Option<usize>>, element: &str) -> Arc<str> {
    let mut names = (1..=NAME_BYTES_MAX).map(|underscores| array_name(element, underscores));
    let free = names.find(|name| !taken.contains_key(name));
    free.unwrap_or_else(|| array_name(element, 1))
}

/// What all names have in common that can be in each other's way.
fn stem(name: &str) -> &str {
    truncate_bytes(name.trim_start_matches('_'), STEM_BYTES_MAX)
}

/// Whether the name of the type of arrays over a type of this name may be that of another type, or the other way round.
/// Elsewhere every array type has the name that it has by itself.
fn is_crowded(name: &str) -> bool {
    name.starts_with('_') || name.len() == NAME_BYTES_MAX
}

/// Types that have come, or have gone.
#[derive(Debug, Default)]
pub struct Elements(Vec<(Oid, Arc<str>, Oid, bool)>);

impl Elements {
    /// Notes a type in a schema that is there from now on, or no longer.
    pub fn note(&mut self, (schema, name): (Oid, &Arc<str>), element: Oid, there: bool) {
        self.0.push((schema, Arc::clone(name), element, there));
    }
}

/// A schema, and what names in it have in common that can be in each other's way.
type Group = (Oid, Arc<str>);

/// The names that are not the elements' own behind an underscore.
#[derive(Clone, Debug, Default)]
pub struct ArrayNames {
    by_element: OrdMap<Oid, Arc<str>>,
    by_name: OrdMap<(Oid, Arc<str>), Oid>,
    /// The names of a group that are here.
    of_groups: OrdMap<Group, Arc<[(Oid, Arc<str>)]>>,
    /// The groups in which names meet, each with an element for which they do and its name.
    crowded: OrdMap<(Group, Oid), Arc<str>>,
}

impl ArrayNames {
    /// What they are in `objects`, in which these elements are other ones than before.
    pub fn renew(&mut self, objects: &Objects, elements: &Elements) {
        let mut groups = BTreeSet::new();
        for (schema, name, element, there) in &elements.0 {
            let group = (*schema, Arc::from(stem(name)));
            if is_crowded(name) {
                let place = (group.clone(), *element);
                match there {
                    true => drop(self.crowded.insert(place, Arc::clone(name))),
                    false => drop(self.crowded.remove(&place)),
                }
            }
            groups.insert(group);
        }
        // An element may have come from one of the groups to another.
        for group in &groups {
            for (element, name) in self.of_groups.remove(group).iter().flat_map(|known| &**known) {
                self.by_element.remove(element);
                self.by_name.remove(&(group.0, Arc::clone(name)));
            }
        }
        for group in groups {
            let named = self.names_in(objects, &group);
            for (element, name) in &named {
                self.by_element.insert(*element, Arc::clone(name));
                self.by_name.insert((group.0, Arc::clone(name)), *element);
            }
            if !named.is_empty() {
                self.of_groups.insert(group, named.into());
            }
        }
    }

    /// The names in a group that are not the elements' own behind an underscore.
    fn names_in(&self, objects: &Objects, group: &Group) -> Vec<(Oid, Arc<str>)> {
        let within = (group.clone(), Oid(0))..=(group.clone(), Oid(u32::MAX));
        let crowded = self.crowded.range(within);
        let mut there: Vec<(Oid, Arc<str>)> =
            crowded.map(|(place, name)| (place.1, Arc::clone(name))).collect();
        if there.is_empty() {
            return Vec::new();
        }
        let others = objects.elements_from(group.0, &group.1);
        there.extend(others.filter(|(_, name)| !is_crowded(name) && *stem(name) == *group.1));
        there.sort_by_key(|one| builtin::counted(one.0.0));
        let mut taken: HashMap<Arc<str>, Option<usize>> = HashMap::new();
        let mut arrays: Vec<Arc<str>> = Vec::with_capacity(there.len());
        for (at, (_, name)) in there.iter().enumerate() {
            if let Some(Some(other)) = taken.get(name).copied() {
                arrays[other] = free_name(&taken, &there[other].1);
                taken.insert(Arc::clone(&arrays[other]), Some(other));
            }
            taken.insert(Arc::clone(name), None);
            let own = free_name(&taken, name);
            taken.insert(Arc::clone(&own), Some(at));
            arrays.push(own);
        }
        let named = there.into_iter().zip(arrays);
        let other = named.filter(|((_, name), own)| own.strip_prefix('_') != Some(name));
        other.map(|((element, _), own)| (element, own)).collect()
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

impl Objects {
    /// The types in a schema, those of relations' rows too, whose names begin so.
    fn elements_from(&self, schema: Oid, start: &str) -> impl Iterator<Item = (Oid, Arc<str>)> {
        let start: Arc<str> = start.into();
        let from = (Bound::Included(Arc::clone(&start)), Bound::Unbounded);
        let mut found = Vec::new();
        // Where a name is all that they begin with, no other one can be in its way.
        let is_of = |name: &str| match start.len() < STEM_BYTES_MAX - 3 {
            true => *name == *start,
            false => name.starts_with(&*start),
        };
        if let Some(names) = self.names.get(&schema) {
            let within = names.range(from.clone()).take_while(|(name, _)| is_of(name));
            found.extend(within.filter_map(|(name, named)| {
                let Named::Relation(oid) = named else { return None };
                let relation = self.relations.get(oid)?;
                relation.has_row_arrays().then(|| (relation.row_type.0, Arc::clone(name)))
            }));
        }
        if let Some(names) = self.type_names.get(&schema) {
            let within = names.range(from).take_while(|(name, _)| is_of(name));
            found.extend(within.map(|(name, oid)| (*oid, Arc::clone(name))));
        }
        found.into_iter()
    }
}

impl Relation {
    /// Whether there is a type of arrays of its rows.
    #[must_use]
    pub fn has_row_arrays(&self) -> bool {
        self.row_type.1 != Oid(0)
    }
}
