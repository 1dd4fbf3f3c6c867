//! Objects as bytes: the stored form of the catalog's records (docs/format.md).
//!
//! Little by little: integers are fixed-size and little-endian, strings and lists carry their length (4 bytes), options
//! and enums one byte. A record begins with the format's version; a record of another version is refused, never guessed
//! at. Reading checks every length: what does not fit is corruption (XX001), not a panic.

use crate::acl::{Acl, AclItem, Privileges};
use crate::attachment::{EventTrigger, UserCast, UserOperator};
use crate::definition::{Definition, Edge, Edges, Expression, ViewQuery};
use crate::effects::{Effects, PreparedNote};
use crate::extension::Extension;
use crate::object::{
    Class, Comment, Database, DefaultAcl, Membership, Object, ObjectKey, ParameterAcl, Role,
    Schema, Version,
};
use crate::operator_class::{Conversion, FamilyMember, OperatorFamily, UserOperatorClass};
use crate::relation::{
    Action, Column, Constraint, ConstraintKind, Deferral, ForeignKey, Identity, Index, IndexColumn,
    IndexExpression, IndexState, MatchType, Properties, Relation, RelationKind, ReplicaIdentity,
    Sequence, StoredQuery,
};
use crate::routine::{Aggregate, Moving, Parameter, Routine};
use crate::sequence::State;
use crate::snapshot::Change;
use crate::statistics::{ColumnStatistics, TableStatistics};
use crate::trigger::{KeyTriggers, Trigger};
use crate::user_type::{Attribute, Domain, DomainCheck, EnumLabel, UserType, UserTypeKind};
use sql_types::account;
use sql_types::error::{Result, SqlError};
use sql_types::sqlstate::SqlState;
use sql_types::{Oid, SqlType};
use std::sync::Arc;
use txn::{SchemeKind, TreeId};

/// The version of what follows.
const VERSION: u8 = 27;

/// Something that has a stored form.
trait Stored: Sized {
    fn write(&self, out: &mut Vec<u8>);
    fn read(from: &mut Reader<'_>) -> Result<Self>;
}

/// The rest of a record that is being read.
struct Reader<'a>(&'a [u8]);

fn corrupt(what: &str) -> SqlError {
    SqlError::new(SqlState::DATA_CORRUPTED, format!("a catalog record is corrupt: {what}"))
}

impl<'a> Reader<'a> {
    fn take(&mut self, count: usize) -> Result<&'a [u8]> {
        let (head, tail) =
            self.0.split_at_checked(count).ok_or_else(|| corrupt("it ends too early"))?;
        self.0 = tail;
        Ok(head)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N]> {
        self.take(N)?.try_into().map_err(|_| corrupt("it ends too early"))
    }
}

macro_rules! stored_numbers {
    ($($ty:ty),*) => {$(
        impl Stored for $ty {
            fn write(&self, out: &mut Vec<u8>) {
                out.extend_from_slice(&self.to_le_bytes());
            }
            fn read(from: &mut Reader<'_>) -> Result<Self> {
                Ok(<$ty>::from_le_bytes(from.array()?))
            }
        }
    )*};
}

stored_numbers!(u8, u16, u32, u64, i16, i32, i64, f64);

/// A struct is its fields, one after the other.
macro_rules! stored_struct {
    ($($ty:ident { $($field:ident),* })*) => {$(
        impl Stored for $ty {
            fn write(&self, out: &mut Vec<u8>) {
                $(self.$field.write(out);)*
            }
            fn read(from: &mut Reader<'_>) -> Result<Self> {
                Ok($ty { $($field: Stored::read(from)?),* })
            }
        }
    )*};
}

/// A number with a type is its number.
macro_rules! stored_newtypes {
    ($($ty:ident),*) => {$(
        impl Stored for $ty {
            fn write(&self, out: &mut Vec<u8>) {
                self.0.write(out);
            }
            fn read(from: &mut Reader<'_>) -> Result<Self> {
                Ok($ty(Stored::read(from)?))
            }
        }
    )*};
}

/// An enum without contents is its code.
macro_rules! stored_codes {
    ($($ty:ident { $($variant:ident = $code:literal),* })*) => {$(
        impl Stored for $ty {
            fn write(&self, out: &mut Vec<u8>) {
                out.push(match self { $($ty::$variant => $code),* });
            }
            fn read(from: &mut Reader<'_>) -> Result<Self> {
                match u8::read(from)? {
                    $($code => Ok($ty::$variant),)*
                    _ => Err(corrupt(stringify!($ty))),
                }
            }
        }
    )*};
}

stored_newtypes!(Oid, TreeId, Privileges);

stored_codes! {
    Identity { Always = 1, ByDefault = 2 }
    MatchType { Simple = 1, Full = 2 }
    Action { NoAction = 1, Restrict = 2, Cascade = 3, SetNull = 4, SetDefault = 5 }
    IndexState { Written = 0, Valid = 1, Unwritten = 2 }
    ReplicaIdentity { Default = 0, Nothing = 1, Full = 2, Index = 3 }
    Deferral { Never = 1, Immediate = 2, Deferred = 3 }
}

stored_struct! {
    SqlType { oid, typmod }
    AclItem { grantee, grantor, privileges, grant_options }
    Database {
        oid, name, owner, template, allow_connections, connection_limit, collate, ctype, concurrency_control, acl
    }
    Role {
        oid, name, superuser, inherit, create_role, create_db, login, replication, bypass_rls, connection_limit,
        verifier, valid_until
    }
    Membership { group, member, grantor, admin }
    Extension { oid, name, owner, schema, version, relations }
    Parameter { name, mode, ty, default }
    Routine {
        oid, schema, name, owner, language, procedure, volatility, strict, security_definer, leakproof, parallel, cost, rows,
        returns_set, result, parameters, settings, body, support, standard, aggregate
    }
    Aggregate {
        kind, direct, transition, finish, finish_extra, finish_modify, combine, serialize, deserialize, sort_operator, state, state_space,
        initial, moving
    }
    Moving {
        transition, inverse, finish, finish_extra, finish_modify, state, state_space, initial
    }
    Schema { oid, name, owner, acl }
    Comment { class, text }
    DefaultAcl { oid, role, schema, kind, acl }
    ParameterAcl { oid, name, acl }
    Column { name, ty, collation, not_null, default, missing, dropped, identity, generated, properties }
    Properties { dimensions, compression, storage, statistics, options }
    IndexColumn { column, descending, nulls_first, class, collation }
    Index {
        oid, name, columns, tree, unique, primary, constraint, options, expressions, include, filter,
        nulls_not_distinct, state, deferral, clustered, replica_identity
    }
    IndexExpression { value, name, ty, collation, statistics }
    Constraint { oid, name, kind, validated, deferral }
    ForeignKey {
        columns, references, referenced, index, match_type, on_update, on_delete, delete_columns,
        triggers
    }
    KeyTriggers { deletes, updates, checks_new, checks_changed }
    Sequence { ty, start, increment, min, max, cache, cycle, state, initial, owner }
    State { last_value, is_called }
    StoredQuery { query, populated }
    Trigger {
        oid, name, function, kind, enabled, columns, arguments, when, transition, constraint
    }
    TableStatistics { rows, pages, columns }
    ColumnStatistics { null_fraction, width, distinct, common, histogram, correlation }
}

impl Stored for bool {
    fn write(&self, out: &mut Vec<u8>) {
        out.push(u8::from(*self));
    }
    fn read(from: &mut Reader<'_>) -> Result<Self> {
        match u8::read(from)? {
            0 => Ok(false),
            1 => Ok(true),
            _ => Err(corrupt("a truth value")),
        }
    }
}

impl Stored for char {
    fn write(&self, out: &mut Vec<u8>) {
        u32::from(*self).write(out);
    }
    fn read(from: &mut Reader<'_>) -> Result<Self> {
        char::from_u32(u32::read(from)?).ok_or_else(|| corrupt("a character"))
    }
}

/// Positions are stored as 4 bytes.
impl Stored for usize {
    fn write(&self, out: &mut Vec<u8>) {
        account::narrow::<u32>(*self).write(out);
    }
    fn read(from: &mut Reader<'_>) -> Result<Self> {
        Ok(u32::read(from)? as usize)
    }
}

impl Stored for String {
    fn write(&self, out: &mut Vec<u8>) {
        self.len().write(out);
        out.extend_from_slice(self.as_bytes());
    }
    fn read(from: &mut Reader<'_>) -> Result<Self> {
        let count = usize::read(from)?;
        let bytes = from.take(count)?.to_vec();
        String::from_utf8(bytes).map_err(|_| corrupt("a text is not UTF-8"))
    }
}

impl Stored for Arc<str> {
    fn write(&self, out: &mut Vec<u8>) {
        self.len().write(out);
        out.extend_from_slice(self.as_bytes());
    }
    fn read(from: &mut Reader<'_>) -> Result<Self> {
        Ok(String::read(from)?.into())
    }
}

/// A scheme is its name.
impl Stored for SchemeKind {
    fn write(&self, out: &mut Vec<u8>) {
        self.name().to_owned().write(out);
    }
    fn read(from: &mut Reader<'_>) -> Result<Self> {
        let name = String::read(from)?;
        SchemeKind::named(&name)
            .ok_or_else(|| corrupt(&format!("concurrency control \"{name}\" is not known")))
    }
}

impl Stored for Arc<[u8]> {
    fn write(&self, out: &mut Vec<u8>) {
        self.len().write(out);
        out.extend_from_slice(self);
    }
    fn read(from: &mut Reader<'_>) -> Result<Self> {
        let count = usize::read(from)?;
        Ok(from.take(count)?.into())
    }
}

impl<T: Stored> Stored for Option<T> {
    fn write(&self, out: &mut Vec<u8>) {
        self.is_some().write(out);
        if let Some(value) = self {
            value.write(out);
        }
    }
    fn read(from: &mut Reader<'_>) -> Result<Self> {
        bool::read(from)?.then(|| T::read(from)).transpose()
    }
}

impl<T: Stored> Stored for Vec<T> {
    fn write(&self, out: &mut Vec<u8>) {
        self.len().write(out);
        for value in self {
            value.write(out);
        }
    }
    fn read(from: &mut Reader<'_>) -> Result<Self> {
        let count = usize::read(from)?;
        // The count is not believed before the values are there: no reservation.
        let mut values = Vec::new();
        for _ in 0..count {
            values.push(T::read(from)?);
        }
        Ok(values)
    }
}

impl<A: Stored, B: Stored, C: Stored> Stored for (A, B, C) {
    fn write(&self, out: &mut Vec<u8>) {
        self.0.write(out);
        self.1.write(out);
        self.2.write(out);
    }
    fn read(from: &mut Reader<'_>) -> Result<Self> {
        Ok((A::read(from)?, B::read(from)?, C::read(from)?))
    }
}

impl<A: Stored, B: Stored> Stored for (A, B) {
    fn write(&self, out: &mut Vec<u8>) {
        self.0.write(out);
        self.1.write(out);
    }
    fn read(from: &mut Reader<'_>) -> Result<Self> {
        Ok((A::read(from)?, B::read(from)?))
    }
}

impl Stored for Edge {
    fn write(&self, out: &mut Vec<u8>) {
        let (kind, oid, column) = match *self {
            Edge::Own(column) => (1, None, Some(column)),
            Edge::Relation(oid, column) => (2, Some(oid), Some(column)),
            Edge::Type(oid) => (3, Some(oid), None),
            Edge::Constraint(oid) => (4, Some(oid), None),
            Edge::Function(oid) => (5, Some(oid), None),
            Edge::Operator(oid) => (6, Some(oid), None),
            Edge::Cast(oid) => (7, Some(oid), None),
        };
        out.push(kind);
        if let Some(oid) = oid {
            oid.write(out);
        }
        if let Some(column) = column {
            u16::write(&column.cast_unsigned(), out);
        }
    }
    fn read(from: &mut Reader<'_>) -> Result<Self> {
        let column = |from: &mut Reader<'_>| u16::read(from).map(u16::cast_signed);
        Ok(match u8::read(from)? {
            1 => Edge::Own(column(from)?),
            2 => Edge::Relation(Stored::read(from)?, column(from)?),
            3 => Edge::Type(Stored::read(from)?),
            4 => Edge::Constraint(Stored::read(from)?),
            5 => Edge::Function(Stored::read(from)?),
            6 => Edge::Operator(Stored::read(from)?),
            7 => Edge::Cast(Stored::read(from)?),
            _ => return Err(corrupt("an edge")),
        })
    }
}

impl Stored for Definition {
    fn write(&self, out: &mut Vec<u8>) {
        self.text().write(out);
        self.edges().to_vec().write(out);
    }
    fn read(from: &mut Reader<'_>) -> Result<Self> {
        Ok(Definition::new(Stored::read(from)?, Stored::read(from)?))
    }
}

impl Stored for Expression {
    fn write(&self, out: &mut Vec<u8>) {
        Arc::<[u8]>::from(self.tree()).write(out);
        self.edges().to_vec().write(out);
    }
    fn read(from: &mut Reader<'_>) -> Result<Self> {
        Ok(Expression::new(Stored::read(from)?, Edges::new(Stored::read(from)?)))
    }
}

/// Views that are kept are trees.
impl Stored for ViewQuery {
    fn write(&self, out: &mut Vec<u8>) {
        match self {
            ViewQuery::Tree(tree) => tree.write(out),
            ViewQuery::Text(_) => unreachable!("the system's views are not stored"),
        }
    }
    fn read(from: &mut Reader<'_>) -> Result<Self> {
        Stored::read(from).map(ViewQuery::Tree)
    }
}

impl Stored for ConstraintKind {
    fn write(&self, out: &mut Vec<u8>) {
        match self {
            ConstraintKind::Check { condition, no_inherit } => {
                out.push(if *no_inherit { 3 } else { 1 });
                condition.write(out);
            }
            ConstraintKind::ForeignKey(key) => {
                out.push(2);
                key.write(out);
            }
        }
    }
    fn read(from: &mut Reader<'_>) -> Result<Self> {
        match u8::read(from)? {
            kind @ (1 | 3) => {
                Ok(ConstraintKind::Check { condition: Stored::read(from)?, no_inherit: kind == 3 })
            }
            2 => Ok(ConstraintKind::ForeignKey(Stored::read(from)?)),
            _ => Err(corrupt("a constraint's kind")),
        }
    }
}

impl Stored for RelationKind {
    fn write(&self, out: &mut Vec<u8>) {
        match self {
            RelationKind::Table { tree, key, long_values } => {
                out.push(1);
                tree.write(out);
                key.write(out);
                long_values.write(out);
            }
            RelationKind::View { query } => {
                out.push(2);
                query.write(out);
            }
            RelationKind::Sequence(sequence) => {
                out.push(3);
                sequence.write(out);
            }
            RelationKind::System => unreachable!("system relations are not stored"),
            RelationKind::Composite => unreachable!("composite types are stored as types"),
        }
    }
    fn read(from: &mut Reader<'_>) -> Result<Self> {
        match u8::read(from)? {
            1 => Ok(RelationKind::Table {
                tree: Stored::read(from)?,
                key: Stored::read(from)?,
                long_values: Stored::read(from)?,
            }),
            2 => Ok(RelationKind::View { query: Stored::read(from)? }),
            3 => Ok(RelationKind::Sequence(Stored::read(from)?)),
            _ => Err(corrupt("a relation's kind")),
        }
    }
}

/// Its indexes are objects of their own. What is derived is left out: the schema's name, the rows, who refers to it, the lock, the version.
impl Stored for Relation {
    fn write(&self, out: &mut Vec<u8>) {
        self.oid.write(out);
        self.schema.0.write(out);
        self.name.write(out);
        self.owner.write(out);
        self.kind.write(out);
        self.columns.write(out);
        self.constraints.write(out);
        self.options.write(out);
        self.persistence.write(out);
        self.row_type.write(out);
        self.acl.write(out);
        self.stored_query.write(out);
        self.triggers.write(out);
        self.key_triggers.write(out);
        self.replica_identity.write(out);
    }
    fn read(from: &mut Reader<'_>) -> Result<Self> {
        let oid: Oid = Stored::read(from)?;
        Ok(Relation {
            oid,
            schema: (Stored::read(from)?, Arc::from("")),
            name: Stored::read(from)?,
            owner: Stored::read(from)?,
            kind: Stored::read(from)?,
            columns: Stored::read(from)?,
            indexes: Vec::new(),
            constraints: Stored::read(from)?,
            referenced_by: Vec::new(),
            version: Version::NONE,
            lock: Relation::lock_of(Oid(0), oid),
            row_estimate: -1.0,
            options: Stored::read(from)?,
            persistence: Stored::read(from)?,
            row_type: Stored::read(from)?,
            acl: Option::<Acl>::read(from)?,
            stored_query: Stored::read(from)?,
            triggers: Stored::read(from)?,
            key_triggers: Stored::read(from)?,
            replica_identity: Stored::read(from)?,
        })
    }
}

impl Stored for UserTypeKind {
    fn write(&self, out: &mut Vec<u8>) {
        match self {
            UserTypeKind::Enum(labels) => {
                out.push(1);
                labels.write(out);
            }
            UserTypeKind::Composite(attributes) => {
                out.push(2);
                attributes.write(out);
            }
            UserTypeKind::Domain(domain) => {
                out.push(3);
                domain.write(out);
            }
        }
    }
    fn read(from: &mut Reader<'_>) -> Result<Self> {
        match u8::read(from)? {
            1 => Ok(UserTypeKind::Enum(Stored::read(from)?)),
            2 => Ok(UserTypeKind::Composite(Stored::read(from)?)),
            3 => Ok(UserTypeKind::Domain(Stored::read(from)?)),
            _ => Err(corrupt("a type's kind")),
        }
    }
}

stored_struct! {
    UserType { oid, schema, name, owner, kind }
    UserOperator {
        oid, schema, name, owner, left, right, result, commutator, negator, function, restrict, join, can_merge,
        can_hash
    }
    UserCast { oid, source, target, function, context, method }
    OperatorFamily { oid, schema, name, owner, method, members }
    UserOperatorClass { oid, schema, name, owner, method, family, input, default, storage, members }
    FamilyMember { oid, is_function, number, left, right, object, sort_family, hard }
    Conversion { oid, schema, name, owner, source, target, function, default }
    EventTrigger { oid, name, owner, event, function, tags, enabled }
    EnumLabel { oid, position, sort_order, name }
    Attribute { name, ty, dimensions, collation }
    Domain { base, collation, dimensions, not_null, default, checks }
    DomainCheck { oid, name, condition, validated }
}

impl Stored for ObjectKey {
    fn write(&self, out: &mut Vec<u8>) {
        out.push(self.class as u8);
        self.database.write(out);
        self.oid.write(out);
        self.sub.write(out);
    }
    fn read(from: &mut Reader<'_>) -> Result<Self> {
        Ok(ObjectKey {
            class: Class::of(u8::read(from)?).ok_or_else(|| corrupt("an object's class"))?,
            database: Stored::read(from)?,
            oid: Stored::read(from)?,
            sub: Stored::read(from)?,
        })
    }
}

/// Objects as records have them, whose class is in the key.
impl Stored for Effects {
    fn write(&self, out: &mut Vec<u8>) {
        let stored =
            |(key, object): &Change| (*key, object.as_ref().map(|one| Arc::from(encode(one))));
        let changes: Vec<(ObjectKey, Option<Arc<[u8]>>)> =
            self.changes.iter().map(stored).collect();
        changes.write(out);
        self.loaded.write(out);
        self.created.write(out);
        self.dropped.write(out);
    }
    fn read(from: &mut Reader<'_>) -> Result<Self> {
        let changes: Vec<(ObjectKey, Option<Arc<[u8]>>)> = Stored::read(from)?;
        let read = |(key, bytes): (ObjectKey, Option<Arc<[u8]>>)| -> Result<Change> {
            Ok((key, bytes.map(|bytes| decode(key.class, &bytes)).transpose()?))
        };
        Ok(Effects {
            changes: changes.into_iter().map(read).collect::<Result<_>>()?,
            loaded: Stored::read(from)?,
            created: Stored::read(from)?,
            dropped: Stored::read(from)?,
        })
    }
}

stored_struct! {
    PreparedNote { user, database, effects }
}

/// The stored form of what is kept with a prepared transaction.
#[must_use]
pub fn encode_note(note: &PreparedNote) -> Vec<u8> {
    let mut out = vec![VERSION];
    note.write(&mut out);
    out
}

/// What a stored form keeps of a prepared transaction.
///
/// # Errors
/// XX001: the bytes are no note of this version.
pub fn decode_note(bytes: &[u8]) -> Result<PreparedNote> {
    whole(bytes, Stored::read)
}

/// Reads something that stands alone: the version, then nothing but it.
fn whole<T>(bytes: &[u8], read: impl FnOnce(&mut Reader<'_>) -> Result<T>) -> Result<T> {
    let mut from = Reader(bytes);
    if u8::read(&mut from)? != VERSION {
        return Err(corrupt("it is of another version"));
    }
    let found = read(&mut from)?;
    if !from.0.is_empty() {
        return Err(corrupt("it goes on behind its end"));
    }
    Ok(found)
}

/// The stored form of an object.
#[must_use]
pub fn encode(object: &Object) -> Vec<u8> {
    let mut out = vec![VERSION];
    match object {
        Object::Database(database) => database.write(&mut out),
        Object::Role(role) => role.write(&mut out),
        Object::Membership(membership) => membership.write(&mut out),
        Object::Settings(settings) => settings.write(&mut out),
        Object::Schema(schema) => schema.write(&mut out),
        Object::Relation(relation) => relation.write(&mut out),
        Object::Index(index) => index.write(&mut out),
        Object::Statistics(statistics) => statistics.write(&mut out),
        Object::Comment(comment) => comment.write(&mut out),
        Object::Acl(acl) => acl.write(&mut out),
        Object::DefaultAcl(acl) => acl.write(&mut out),
        Object::Type(ty) => ty.write(&mut out),
        Object::Parameter(parameter) => parameter.write(&mut out),
        Object::Extension(extension) => extension.write(&mut out),
        Object::Routine(routine) => routine.write(&mut out),
        Object::Operator(operator) => operator.write(&mut out),
        Object::Cast(cast) => cast.write(&mut out),
        Object::OperatorClass(class) => class.write(&mut out),
        Object::OperatorFamily(family) => family.write(&mut out),
        Object::Conversion(conversion) => conversion.write(&mut out),
        Object::EventTrigger(trigger) => trigger.write(&mut out),
    }
    out
}

/// The object of a stored form.
///
/// # Errors
/// XX001: the bytes are not an object of that class and version.
pub fn decode(class: Class, bytes: &[u8]) -> Result<Object> {
    whole(bytes, |from| {
        Ok(match class {
            Class::Database => Object::Database(Arc::new(Stored::read(from)?)),
            Class::Role => Object::Role(Arc::new(Stored::read(from)?)),
            Class::Membership => Object::Membership(Stored::read(from)?),
            Class::Settings => Object::Settings(Arc::new(Stored::read(from)?)),
            Class::Schema => Object::Schema(Arc::new(Stored::read(from)?)),
            Class::Relation => Object::Relation(Arc::new(Stored::read(from)?)),
            Class::Index => Object::Index(Arc::new(Stored::read(from)?)),
            Class::Statistics => Object::Statistics(Arc::new(Stored::read(from)?)),
            Class::Comment => Object::Comment(Arc::new(Stored::read(from)?)),
            Class::Acl => Object::Acl(Arc::new(Stored::read(from)?)),
            Class::DefaultAcl => Object::DefaultAcl(Arc::new(Stored::read(from)?)),
            Class::Type => Object::Type(Arc::new(Stored::read(from)?)),
            Class::Parameter => Object::Parameter(Arc::new(Stored::read(from)?)),
            Class::Extension => Object::Extension(Arc::new(Stored::read(from)?)),
            Class::Routine => Object::Routine(Arc::new(Stored::read(from)?)),
            Class::Operator => Object::Operator(Arc::new(Stored::read(from)?)),
            Class::Cast => Object::Cast(Arc::new(Stored::read(from)?)),
            Class::OperatorClass => Object::OperatorClass(Arc::new(Stored::read(from)?)),
            Class::OperatorFamily => Object::OperatorFamily(Arc::new(Stored::read(from)?)),
            Class::Conversion => Object::Conversion(Arc::new(Stored::read(from)?)),
            Class::EventTrigger => Object::EventTrigger(Arc::new(Stored::read(from)?)),
            Class::Counter | Class::SequenceState => return Err(corrupt("it is not an object")),
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn relation() -> Relation {
        let key = ForeignKey {
            columns: vec![0],
            references: Oid(16390),
            referenced: vec![1],
            index: Oid(16391),
            match_type: MatchType::Simple,
            on_update: Action::Cascade,
            on_delete: Action::SetNull,
            delete_columns: vec![0],
            triggers: KeyTriggers::numbered(|| Ok(Oid(16420))).expect("numbers"),
        };
        Relation {
            oid: Oid(16384),
            schema: (Oid(2200), Arc::from("")),
            name: Arc::from("Größe"),
            owner: Oid(10),
            kind: RelationKind::Table { tree: TreeId(7), key: vec![0], long_values: TreeId(8) },
            columns: vec![Column {
                name: Arc::from("a"),
                ty: SqlType { oid: Oid(1043), typmod: 14 },
                collation: Oid(100),
                not_null: true,
                default: Some(Expression::new(
                    [7, 8].into(),
                    Edges::new(vec![
                        Edge::Own(1),
                        Edge::Relation(Oid(20000), -6),
                        Edge::Type(Oid(20001)),
                    ]),
                )),
                missing: Some(Arc::from([1_u8, 2].as_slice())),
                dropped: false,
                identity: None,
                generated: false,
                properties: Properties {
                    dimensions: 2,
                    compression: Some('l'),
                    storage: Some('e'),
                    statistics: Some(10),
                    options: vec![("n_distinct".into(), "5".into())],
                },
            }],
            indexes: vec![Index {
                oid: Oid(16385),
                name: Arc::from("t_pkey"),
                columns: vec![IndexColumn {
                    class: Oid(4217),
                    collation: Oid(950),
                    ..IndexColumn::plain(0)
                }],
                tree: TreeId(7),
                unique: true,
                primary: true,
                constraint: Some((Oid(16386), Arc::from("t_pkey"))),
                options: vec![("fillfactor".into(), "90".into())],
                expressions: vec![IndexExpression {
                    value: Expression::new(
                        [4, 5].into(),
                        Edges::new(vec![Edge::Own(1), Edge::Function(Oid(20002))]),
                    ),
                    name: Arc::from("lower"),
                    ty: SqlType { oid: Oid(25), typmod: -1 },
                    collation: Oid(100),
                    statistics: Some(20),
                }],
                include: vec![0],
                filter: Some(Expression::new([6].into(), Edges::new(vec![Edge::Own(1)]))),
                nulls_not_distinct: false,
                state: IndexState::Valid,
                deferral: Deferral::Never,
                clustered: true,
                replica_identity: true,
            }],
            constraints: vec![
                Constraint {
                    oid: Oid(16387),
                    name: Arc::from("t_a_fkey"),
                    kind: ConstraintKind::ForeignKey(key),
                    validated: true,
                    deferral: Deferral::Deferred,
                },
                Constraint {
                    oid: Oid(16392),
                    name: Arc::from("t_a_check"),
                    kind: ConstraintKind::Check {
                        condition: Expression::new(
                            [1, 2, 3].into(),
                            Edges::new(vec![Edge::Own(1)]),
                        ),
                        no_inherit: true,
                    },
                    validated: false,
                    deferral: Deferral::Never,
                },
            ],
            referenced_by: Vec::new(),
            version: Version::NONE,
            lock: Relation::lock_of(Oid(0), Oid(16384)),
            row_estimate: -1.0,
            options: Vec::new(),
            persistence: 'u',
            row_type: (Oid(16388), Oid(16389)),
            acl: Some(vec![AclItem {
                grantee: Oid(0),
                grantor: Oid(10),
                privileges: Privileges::SELECT,
                grant_options: Privileges::default(),
            }]),
            stored_query: Some(StoredQuery {
                query: ViewQuery::Tree(Expression::new(
                    [7].into(),
                    Edges::new(vec![Edge::Constraint(Oid(20003))]),
                )),
                populated: true,
            }),
            triggers: vec![Trigger {
                oid: Oid(16390),
                name: Arc::from("z"),
                function: Oid(16391),
                kind: 7,
                enabled: b'O',
                columns: vec![0],
                arguments: vec![Arc::from("one")],
                when: Some(Expression::new([8].into(), Edges::new(vec![Edge::Own(1)]))),
                transition: (None, Some(Arc::from("added"))),
                constraint: Some((Oid(16392), Deferral::Deferred, Oid(0))),
            }],
            key_triggers: vec![(Oid(16421), b'D')],
            replica_identity: ReplicaIdentity::Index,
        }
    }

    #[test]
    fn a_relation_comes_back_as_it_was() {
        let mut before = relation();
        let bytes = encode(&Object::Relation(Arc::new(before.clone())));
        let Object::Relation(after) = decode(Class::Relation, &bytes).unwrap() else { panic!() };
        // Its indexes are objects of their own.
        let index = before.indexes.remove(0);
        assert_eq!(format!("{before:?}"), format!("{after:?}"));
        let bytes = encode(&Object::Index(Arc::new(index.clone())));
        let Object::Index(after) = decode(Class::Index, &bytes).unwrap() else { panic!() };
        assert_eq!(format!("{index:?}"), format!("{after:?}"));
    }

    #[test]
    fn every_shorter_record_is_refused() {
        let bytes = encode(&Object::Relation(Arc::new(relation())));
        for end in 0..bytes.len() {
            let error = decode(Class::Relation, &bytes[..end]).unwrap_err();
            assert_eq!(error.state(), SqlState::DATA_CORRUPTED, "cut at {end}");
        }
    }
}
