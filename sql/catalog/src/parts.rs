//! A relation in the parts that it is stored in: its own record, and one for each index. A change of a relation is one of the
//! parts that it changes, and locks only these: two CREATE INDEX, or one beside a GRANT, change different objects.

use crate::codec;
use crate::object::{Class, Object, ObjectKey};
use crate::relation::{Index, Relation};
use crate::snapshot::Change;
use std::sync::Arc;

/// What a part was, and becomes.
pub type PartChange = (ObjectKey, Option<Object>, Option<Object>);

/// The key of an index of the relation whose key it is.
#[must_use]
pub fn index_key(relation: ObjectKey, index: &Index) -> ObjectKey {
    ObjectKey { class: Class::Index, sub: index.oid.0, ..relation }
}

/// The key of the relation that a part belongs to; none if it is of no relation.
#[must_use]
pub fn relation_of(key: ObjectKey) -> Option<ObjectKey> {
    match key.class {
        Class::Relation => Some(key),
        Class::Index => Some(ObjectKey { class: Class::Relation, sub: 0, ..key }),
        _ => None,
    }
}

/// A relation's own part.
#[must_use]
pub fn own_part(relation: &Relation) -> Object {
    Object::Relation(Arc::new(Relation { indexes: Vec::new(), ..relation.clone() }))
}

/// The parts that make a relation another one: none is no relation.
#[must_use]
pub fn changed_parts(
    key: ObjectKey,
    before: Option<&Relation>,
    after: Option<&Relation>,
) -> Vec<PartChange> {
    let mut parts = Vec::new();
    let own = (before.map(own_part), after.map(own_part));
    let same = own.0.as_ref().map(codec::encode) == own.1.as_ref().map(codec::encode);
    if !same {
        parts.push((key, own.0, own.1));
    }
    let indexes =
        |relation: Option<&Relation>| relation.map_or(Vec::new(), |of| of.indexes.clone());
    let (old, new) = (indexes(before), indexes(after));
    for index in &old {
        let next = new.iter().find(|next| next.oid == index.oid);
        if next != Some(index) {
            parts.push((index_key(key, index), Some(part(index)), next.map(part)));
        }
    }
    for index in new.iter().filter(|next| old.iter().all(|index| index.oid != next.oid)) {
        parts.push((index_key(key, index), None, Some(part(index))));
    }
    parts
}

/// The same as changes of a snapshot.
#[must_use]
pub fn changes(key: ObjectKey, before: Option<&Relation>, after: Option<&Relation>) -> Vec<Change> {
    changed_parts(key, before, after).into_iter().map(|(key, _, after)| (key, after)).collect()
}

fn part(index: &Index) -> Object {
    Object::Index(Arc::new(index.clone()))
}
