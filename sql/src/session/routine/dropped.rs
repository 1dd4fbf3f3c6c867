//! What a statement has dropped, in PostgreSQL's order and with what it says of each (`findDependentObjects` and
//! `deleteObjectsInList` of `dependency.c`).
//!
//! What is gone the catalog's changes say. What of it the statement has named is deleted as PostgreSQL does, along `pg_depend`
//! as it was: each object behind all that depends on it, the newest first, and what is deleted last is told of first. What an
//! ALTER TABLE replaces or takes back by itself is not reached so, and not told of.

use crate::catalog::object::{Class, Object, ObjectKey};
use crate::catalog::relation::{ConstraintKind, Relation, RelationKind};
use crate::catalog::system::named as system_relation;
use crate::catalog::user_type::UserType;
use crate::catalog::{CatalogSnapshot, builtin, object::well_known};
use crate::error::Result;
use crate::exec::system_scan::ScanProgress;
use crate::parse::ast::{
    AlterAction, AttributeChange, DomainChange, Drop, Ident, ObjectKind, ObjectName, Statement,
};
use crate::queries::SessionCatalog;
use crate::system::default_oid;
use crate::types::{CallContext, Datum, Oid};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

pub(super) const CLASS: Oid = Oid(1259);
const TYPE: Oid = Oid(1247);
pub(super) const ROUTINE: Oid = Oid(1255);
pub(super) const CONSTRAINT: Oid = Oid(2606);
pub(super) const DEFAULT: Oid = Oid(2604);
const RULE: Oid = Oid(2618);
const SCHEMA: Oid = Oid(2615);
pub(super) const TRIGGER: Oid = Oid(2620);
const EXTENSION: Oid = Oid(3079);
const OPERATOR: Oid = Oid(2617);
const CAST: Oid = Oid(2605);
/// `pg_opclass` and `pg_opfamily`.
const OPERATOR_PARTS: [Oid; 2] = [Oid(2616), Oid(2753)];
const CONVERSION: Oid = Oid(2607);
const DEFAULT_ACL: Oid = Oid(826);

/// With more gone objects than so many all of `pg_depend` is read at once.
const KEYED: usize = 32;
/// `refobjid` among the columns of `pg_depend`.
const REFERENCED: usize = 4;

/// A class, an OID and a number below it.
pub(super) type Address = (Oid, Oid, i32);

/// What a statement has done to the catalog.
pub(super) struct Changes {
    pub(super) before: Arc<CatalogSnapshot>,
    pub(super) after: Arc<CatalogSnapshot>,
    /// The objects that it has changed, in order.
    pub(super) touched: Vec<ObjectKey>,
}

/// When an object was made: its own OID, or its table's and its place there.
type Born = (u32, u32);

/// An object that is gone, as its catalog had it.
struct Gone {
    born: Born,
    /// Its name and schema, where a statement may name it.
    name: Option<(Arc<str>, Oid)>,
    owner: Option<Oid>,
}

/// What is gone.
#[derive(Default)]
struct All {
    objects: BTreeMap<Address, Gone>,
}

impl All {
    fn part(&mut self, address: Address, born: Born) {
        self.objects.entry(address).or_insert(Gone { born, name: None, owner: None });
    }

    fn whole(&mut self, address: Address, name: &Arc<str>, schema: Oid, owner: Option<Oid>) {
        let oid = if address.0 == TYPE { builtin::counted(address.1.0) } else { address.1.0 };
        let name = Some((Arc::clone(name), schema));
        self.objects.insert(address, Gone { born: (oid, 0), name, owner });
    }
}

/// Where an object stands by its record; none for what is no object of its own.
pub(super) fn address_of(key: &ObjectKey) -> Option<Address> {
    Some(match key.class {
        Class::Schema => (SCHEMA, key.oid, 0),
        Class::Relation => (CLASS, key.oid, 0),
        Class::Index => (CLASS, Oid(key.sub), 0),
        Class::Type => (TYPE, key.oid, 0),
        Class::Routine => (ROUTINE, key.oid, 0),
        Class::Extension => (EXTENSION, key.oid, 0),
        Class::Operator => (OPERATOR, key.oid, 0),
        Class::Cast => (CAST, key.oid, 0),
        Class::OperatorClass => (OPERATOR_PARTS[0], key.oid, 0),
        Class::OperatorFamily => (OPERATOR_PARTS[1], key.oid, 0),
        Class::Conversion => (CONVERSION, key.oid, 0),
        Class::DefaultAcl => (DEFAULT_ACL, key.oid, 0),
        _ => return None,
    })
}

/// What a relation is made of, and when each part was made: its types, what is computed, its constraints and their indexes.
fn parts_of(relation: &Relation) -> Vec<(Address, Born)> {
    const CHECKS: u32 = 1 << 16;
    let table = relation.oid.0;
    let mut parts = Vec::new();
    let (row, array) = relation.row_type;
    if array != Oid(0) {
        parts.push(((TYPE, row, 0), (table, 1)));
        parts.push(((TYPE, array, 0), (table, 1)));
    }
    if relation.query().is_some() {
        parts.push(((RULE, relation.oid, 0), (table, 2)));
    }
    for (at, column) in relation.columns.iter().enumerate() {
        if column.default.is_some() && column.identity.is_none() {
            let address = (DEFAULT, default_oid(relation.oid, at), 0);
            parts.push((address, (table, 3 + at as u32)));
        }
    }
    for constraint in &relation.constraints {
        // CHECKs are older than keys, which a table gets when it is there.
        let born = match constraint.kind {
            ConstraintKind::Check { .. } => (table, CHECKS),
            ConstraintKind::ForeignKey(_) => (constraint.oid.0, 0),
        };
        parts.push(((CONSTRAINT, constraint.oid, 0), born));
    }
    for index in &relation.indexes {
        parts.push(((CLASS, index.oid, 0), (index.oid.0, 0)));
        if let Some((key, _)) = &index.constraint {
            parts.push(((CONSTRAINT, *key, 0), (index.oid.0, 1)));
        }
    }
    for trigger in &relation.triggers {
        parts.push(((TRIGGER, trigger.oid, 0), (trigger.oid.0, 0)));
    }
    parts
}

/// What a type of users is made of.
fn parts_of_type(ty: &UserType) -> Vec<(Address, Born)> {
    let own = builtin::counted(ty.oid.0);
    let composite = ty.attributes().map(|_| ((CLASS, ty.oid, 0), (own, 0)));
    let array = ((TYPE, Oid(builtin::array_of_made(ty.oid.0)), 0), (own, 1));
    let checks = ty.domain().into_iter().flat_map(|domain| &domain.checks);
    let checks = checks.map(|check| ((CONSTRAINT, check.oid, 0), (check.oid.0, 0)));
    composite.into_iter().chain([array]).chain(checks).collect()
}

/// What was there before and is not now.
fn all_gone(statement: &Statement, changes: &Changes) -> All {
    let Changes { before, after, touched } = changes;
    let mut all = All::default();
    for key in touched {
        let (Some(old), new) = (before.object(*key), after.object(*key)) else { continue };
        match (&old, &new) {
            (Object::Relation(_), _) => {
                let Some(old) = before.relation(key.oid) else { continue };
                let Some(new) = after.relation(key.oid) else {
                    let own = (CLASS, key.oid, 0);
                    all.whole(own, &old.name, old.schema.0, Some(old.owner));
                    // The sequence of a column is made before its table.
                    if let RelationKind::Sequence(sequence) = &old.kind
                        && let (Some((table, _)), Some(gone)) =
                            (sequence.owner, all.objects.get_mut(&own))
                    {
                        gone.born = (table.0 - 1, u32::MAX);
                    }
                    parts_of(old).into_iter().for_each(|(part, born)| all.part(part, born));
                    continue;
                };
                let kept: BTreeSet<Address> =
                    parts_of(new).into_iter().map(|(address, _)| address).collect();
                for (part, born) in parts_of(old) {
                    if !kept.contains(&part) {
                        all.part(part, born);
                    }
                }
                for (at, (old, new)) in old.columns.iter().zip(&new.columns).enumerate() {
                    if !old.dropped && new.dropped {
                        all.part((CLASS, key.oid, at as i32 + 1), (key.oid.0, 0));
                    }
                }
            }
            (Object::Index(index), None) => {
                let table = before.relation(key.oid);
                let schema = table.map_or(Oid(0), |table| table.schema.0);
                all.whole((CLASS, Oid(key.sub), 0), &index.name, schema, None);
                if let Some((constraint, _)) = &index.constraint {
                    all.part((CONSTRAINT, *constraint, 0), (key.sub, 1));
                }
            }
            (Object::Type(old), Some(Object::Type(new))) => {
                let kept: Vec<Address> = parts_of_type(new).into_iter().map(|one| one.0).collect();
                for (part, born) in parts_of_type(old) {
                    if !kept.contains(&part) {
                        all.part(part, born);
                    }
                }
            }
            (Object::Type(ty), None) => {
                all.whole((TYPE, ty.oid, 0), &ty.name, ty.schema, Some(ty.owner));
                parts_of_type(ty).into_iter().for_each(|(part, born)| all.part(part, born));
            }
            (old, None) => {
                let Some(address) = address_of(key) else { continue };
                match old {
                    Object::Schema(one) => all.whole(address, &one.name, Oid(0), Some(one.owner)),
                    Object::Extension(one) => {
                        all.whole(address, &one.name, Oid(0), Some(one.owner));
                    }
                    Object::Routine(one) => {
                        all.whole(address, &one.name, one.schema, Some(one.owner));
                    }
                    Object::Operator(one) => {
                        all.whole(address, &one.name, one.schema, Some(one.owner));
                    }
                    Object::OperatorClass(one) => {
                        all.whole(address, &one.name, one.schema, Some(one.owner));
                    }
                    Object::OperatorFamily(one) => {
                        all.whole(address, &one.name, one.schema, Some(one.owner));
                    }
                    Object::Conversion(one) => {
                        all.whole(address, &one.name, one.schema, Some(one.owner));
                    }
                    _ => all.part(address, (key.oid.0, 0)),
                }
            }
            _ => {}
        }
    }
    if let Statement::AlterComposite(alter) = statement {
        let own = touched.iter().filter(|key| key.class == Class::Type);
        let own = own
            .filter_map(|key| before.user_type(key.oid))
            .find(|ty| ty.name == *alter.name.name() && ty.attributes().is_some());
        for (ty, change) in
            own.into_iter().flat_map(|ty| alter.changes.iter().map(move |one| (ty, one)))
        {
            let AttributeChange::Drop { name, .. } = change else { continue };
            let mut attributes = ty.attributes().unwrap_or_default().iter();
            if let Some(at) = attributes.position(|part| *part.name == **name) {
                all.part((CLASS, ty.oid, at as i32 + 1), (ty.oid.0, 0));
            }
        }
    }
    all
}

/// What a statement has named, by what PostgreSQL deletes at once.
fn deletions(
    statement: &Statement,
    changes: &Changes,
    path: &[Oid],
    all: &All,
) -> Vec<Vec<Address>> {
    let before = &changes.before;
    let is_gone = |address: &Address| all.objects.contains_key(address);
    let of_class = |class: Oid| all.objects.keys().filter(move |one| one.0 == class).copied();
    let named = |classes: &[Oid], name: &str, schema: Option<&Ident>| -> Vec<Address> {
        let schema = schema.map(|schema| before.schema(schema).map(|found| found.oid));
        let place = |of: Oid| match schema {
            Some(wanted) => (wanted == Some(of)).then_some(0),
            None if of == Oid(0) => Some(0),
            None => path.iter().position(|known| *known == of),
        };
        let found = all.objects.iter().filter(|(address, _)| classes.contains(&address.0));
        let mut found: Vec<(usize, Address)> = found
            .filter_map(|(address, gone)| {
                let (own, of) = gone.name.as_ref()?;
                (**own == *name).then(|| place(*of)).flatten().map(|place| (place, *address))
            })
            .collect();
        found.sort_unstable();
        let first = found.first().map(|one| one.0);
        found.into_iter().filter(|one| Some(one.0) == first).map(|one| one.1).collect()
    };
    let dotted = |class: Oid, name: &ObjectName| named(&[class], name.name(), name.schema());
    match statement {
        Statement::Drop(Drop { kind, names, .. }) => {
            let class = match kind {
                ObjectKind::Type | ObjectKind::Domain => TYPE,
                ObjectKind::Schema => SCHEMA,
                ObjectKind::Extension => EXTENSION,
                _ => CLASS,
            };
            vec![names.iter().flat_map(|name| dotted(class, name)).collect()]
        }
        Statement::DropRoutine(drop) => {
            vec![drop.routines.iter().flat_map(|one| dotted(ROUTINE, &one.0)).collect()]
        }
        Statement::DropOperator(drop) => {
            let operators = drop.operators.iter().map(|one| &one.name);
            let found = operators
                .flat_map(|one| named(&[OPERATOR], &one.name, one.schema.as_ref()))
                .collect();
            vec![found]
        }
        Statement::DropOperatorPart(drop) => {
            vec![named(&OPERATOR_PARTS, drop.name.name(), drop.name.schema())]
        }
        Statement::DropConversion(drop) => {
            vec![drop.names.iter().flat_map(|name| dotted(CONVERSION, name)).collect()]
        }
        Statement::DropCast(_) => vec![of_class(CAST).collect()],
        Statement::AlterDefaultPrivileges(_) => vec![of_class(DEFAULT_ACL).collect()],
        Statement::DropTrigger(drop) => {
            let tables = changes.touched.iter().filter(|key| key.class == Class::Relation);
            let triggers = tables
                .filter_map(|key| before.relation(key.oid))
                .flat_map(|table| &table.triggers)
                .filter(|one| *one.name == *drop.name);
            vec![triggers.map(|one| (TRIGGER, one.oid, 0)).filter(is_gone).collect()]
        }
        Statement::DropOwned(drop) => {
            let roles: Vec<Oid> = drop
                .roles
                .iter()
                .filter_map(|name| before.shared().role(name).map(|role| role.oid))
                .collect();
            let owned = |gone: &Gone| gone.owner.is_some_and(|owner| roles.contains(&owner));
            let mut found: Vec<(Born, Address)> = all
                .objects
                .iter()
                .filter(|(_, gone)| owned(gone))
                .map(|(address, gone)| (gone.born, *address))
                .collect();
            found.sort_unstable_by(|one, other| other.cmp(one));
            vec![found.into_iter().map(|one| one.1).collect()]
        }
        Statement::AlterDomain(alter) => match &alter.change {
            DomainChange::DropConstraint { .. } => vec![of_class(CONSTRAINT).collect()],
            _ => Vec::new(),
        },
        Statement::AlterComposite(_) => {
            vec![of_class(CLASS).filter(|address| address.2 != 0).collect()]
        }
        Statement::AlterTable(alter) => {
            let of_table = |class: Class| matches!(class, Class::Relation | Class::Index);
            let tables = changes.touched.iter().filter(|key| of_table(key.class));
            let table = tables
                .filter_map(|key| before.relation(key.oid))
                .find(|table| table.name == *alter.name.name());
            let Some(table) = table else { return Vec::new() };
            let column = |name: &Ident| {
                table.columns.iter().position(|one| !one.dropped && *one.name == **name)
            };
            let gone = |action: &AlterAction| match action {
                AlterAction::DropColumn { name, .. } => {
                    Some((CLASS, table.oid, column(name)? as i32 + 1))
                }
                AlterAction::SetDefault(name, None) | AlterAction::DropExpression { name, .. } => {
                    Some((DEFAULT, default_oid(table.oid, column(name)?), 0))
                }
                AlterAction::DropConstraint { name, .. } => {
                    let constraints = table.constraints.iter().map(|one| (one.oid, &one.name));
                    let keys = table.indexes.iter().filter_map(|one| one.constraint.as_ref());
                    let keys = keys.map(|(oid, name)| (*oid, name));
                    let found = constraints.chain(keys).find(|one| *one.1 == *name);
                    found.map(|(oid, _)| (CONSTRAINT, oid, 0))
                }
                _ => None,
            };
            alter.actions.iter().filter_map(gone).filter(is_gone).map(|one| vec![one]).collect()
        }
        _ => Vec::new(),
    }
}

/// How an object came to go.
#[derive(Clone, Copy, Default)]
struct Flags {
    /// The statement has named it.
    original: bool,
    /// Something was reached by it that it could have been without.
    normal: bool,
}

impl Flags {
    fn add(&mut self, other: Flags) {
        self.original |= other.original;
        self.normal |= other.normal;
    }
}

/// What depends on what is gone: `pg_depend` as it was, of what is gone.
#[derive(Default)]
struct Dependencies {
    /// By class and OID: which part is depended on, by what, in which way.
    users: HashMap<(Oid, Oid), Vec<(i32, Address, u8)>>,
    /// What an object is a part of.
    owners: HashMap<Address, Vec<Address>>,
}

impl Dependencies {
    fn read(
        context: &CallContext<'_>,
        catalog: &SessionCatalog<'_>,
        before: &CatalogSnapshot,
        all: &All,
    ) -> Result<Dependencies> {
        let mut found = Dependencies::default();
        let Some(relation) = system_relation(well_known::PG_CATALOG, "pg_depend") else {
            return Ok(found);
        };
        let mut note = |row: &[Datum<'_>]| {
            if let [
                Datum::Oid(class),
                Datum::Oid(oid),
                Datum::Int4(sub),
                Datum::Oid(to_class),
                Datum::Oid(to_oid),
                Datum::Int4(to_sub),
                Datum::Char(kind),
            ] = *row
            {
                let user = (Oid(class), Oid(oid), sub);
                let to = (Oid(to_class), Oid(to_oid), to_sub);
                if all.objects.contains_key(&user) {
                    found.users.entry((to.0, to.1)).or_default().push((to.2, user, kind));
                    if kind == b'i' && all.objects.contains_key(&to) {
                        found.owners.entry(user).or_default().push(to);
                    }
                }
            }
            Ok(true)
        };
        let oids: BTreeSet<Oid> = all.objects.keys().map(|address| address.1).collect();
        let keys = match oids.len() {
            ..=KEYED => oids.iter().map(|oid| vec![(REFERENCED, Datum::Oid(oid.0))]).collect(),
            _ => vec![Vec::new()],
        };
        for keys in keys {
            let asked = keys.first().map(|(_, key)| match key {
                Datum::Oid(oid) => *oid,
                _ => 0,
            });
            let mut progress = ScanProgress::Begins;
            while progress != ScanProgress::Ended {
                let part = (before, &mut progress);
                catalog.rows(context, relation, &keys, part, &mut |row| {
                    // A key is a hint.
                    let wanted = |oid: u32| matches!(row[REFERENCED], Datum::Oid(to) if to == oid);
                    if asked.is_none_or(wanted) { note(row) } else { Ok(true) }
                })?;
            }
        }
        Ok(found)
    }

    /// What depends on an object, or on a part of it, the newest last.
    fn on(&self, object: Address, all: &All) -> Vec<(Address, Flags)> {
        let (class, oid, sub) = object;
        let users = self.users.get(&(class, oid)).map_or(&[][..], Vec::as_slice);
        let own = |user: &Address| user.0 == class && user.1 == oid && (sub == 0 || user.2 == sub);
        let mut found: Vec<(Born, Address, Flags)> = users
            .iter()
            .filter(|(to, user, _)| (sub == 0 || *to == sub) && !own(user))
            .filter_map(|(_, user, kind)| {
                let flags = Flags { original: false, normal: *kind == b'n' };
                Some((all.objects.get(user)?.born, *user, flags))
            })
            .collect();
        found.sort_by_key(|one| (one.0, one.1));
        found.into_iter().map(|(_, user, flags)| (user, flags)).collect()
    }
}

/// A step of a deletion.
enum Step {
    /// Deletes an object, with what depends on it first.
    Delete(Address, Flags),
    /// What depends on the last object of the path is gone.
    Leave,
    /// An object has gone with what it is a part of.
    Note(Address, Flags),
}

/// A list of objects in which each is found.
#[derive(Default)]
struct List {
    objects: Vec<(Address, Flags)>,
    places: HashMap<Address, usize>,
}

impl List {
    fn push(&mut self, object: Address, flags: Flags) {
        self.places.insert(object, self.objects.len());
        self.objects.push((object, flags));
    }

    fn pop(&mut self) -> Option<(Address, Flags)> {
        let last = self.objects.pop()?;
        self.places.remove(&last.0);
        Some(last)
    }

    /// Whether the object is there, which gets these flags then, or what it is a part of.
    fn has(&mut self, object: Address, flags: Flags) -> bool {
        if let Some(at) = self.places.get(&object) {
            self.objects[*at].1.add(flags);
            return true;
        }
        self.places.contains_key(&(object.0, object.1, 0))
    }
}

/// Deletes what a statement has named: all that goes with it, in order.
fn delete(named: &[Address], dependencies: &Dependencies, all: &All, deleted: &mut List) {
    let mut path = List::default();
    for object in named {
        let original = Flags { original: true, normal: false };
        let mut steps = vec![Step::Delete(*object, original)];
        while let Some(step) = steps.pop() {
            match step {
                Step::Leave => {
                    if let Some((object, flags)) = path.pop() {
                        deleted.push(object, flags);
                    }
                }
                Step::Note(object, flags) => {
                    deleted.has(object, flags);
                }
                Step::Delete(object, flags) => {
                    if path.has(object, flags) || deleted.has(object, flags) {
                        continue;
                    }
                    let owners = dependencies.owners.get(&object).map_or(&[][..], Vec::as_slice);
                    let owner = owners.iter().find(|owner| !path.has(**owner, Flags::default()));
                    if let Some(owner) = owner.filter(|_| !flags.original) {
                        steps.push(Step::Note(object, flags));
                        steps.push(Step::Delete(*owner, Flags { normal: true, ..flags }));
                        continue;
                    }
                    path.push(object, flags);
                    steps.push(Step::Leave);
                    let users = dependencies.on(object, all).into_iter();
                    steps.extend(users.map(|(user, flags)| Step::Delete(user, flags)));
                }
            }
        }
    }
}

/// What a statement has dropped: each with whether the statement has named it, and whether it was reached by what it could
/// have been without.
pub(super) fn dropped(
    context: &CallContext<'_>,
    catalog: &SessionCatalog<'_>,
    statement: &Statement,
    changes: &Changes,
    path: &[Oid],
) -> Result<Vec<(Address, bool, bool)>> {
    let all = all_gone(statement, changes);
    if all.objects.is_empty() {
        return Ok(Vec::new());
    }
    let dependencies = Dependencies::read(context, catalog, &changes.before, &all)?;
    let mut deleted = List::default();
    for named in deletions(statement, changes, path, &all) {
        delete(&named, &dependencies, &all, &mut deleted);
    }
    let places = &deleted.places;
    let mut others: Vec<(Born, Address)> = all
        .objects
        .iter()
        .filter(|(address, _)| !places.contains_key(address))
        .filter(|_| !matches!(statement, Statement::AlterTable(_)))
        .map(|(address, gone)| (gone.born, *address))
        .collect();
    others.sort_unstable();
    let told =
        deleted.objects.iter().rev().map(|(one, flags)| (*one, flags.original, flags.normal));
    Ok(told.chain(others.into_iter().map(|(_, one)| (one, false, true))).collect())
}
