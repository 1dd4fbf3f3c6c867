//! CREATE, ALTER and DROP of operator classes and families (`commands/opclasscmds.c`).
//!
//! What a class or a family says of an access method is checked as far as types go, and kept by what needs it
//! ([`crate::catalog::operator_class`]). An index holds its keys in the order of their type, whatever its class: that order
//! serves the operators that are built in, and no other is read from it. So a class changes what may be unique, and nothing
//! else: see [`Ddl::demand_unique_class`].

use super::Ddl;
use super::attachment::{self, function_of_name, type_named};
use super::operator::looked_up;
use super::resolve::must_own;
use crate::catalog::attachment::Attachment;
use crate::catalog::builtin;
use crate::catalog::object::{Class, Schema, well_known};
use crate::catalog::operator_class::{BTREE, FamilyMember, OperatorFamily, UserOperatorClass};
use crate::error::{Result, SqlError};
use crate::parse::ast::{
    AlterOperatorPart, ClassItem, CreateOperatorClass, CreateOperatorFamily, DropOperatorPart,
    ObjectName, OperatorPart, OperatorPartChange, TypeName,
};
use crate::sqlstate::SqlState;
use crate::types::{Oid, SqlType, oids};
use std::sync::Arc;

/// `internal`.
const INTERNAL: u32 = 2281;

/// The hash access method.
const HASH: u32 = 405;

/// What an access method takes (`IndexAmRoutine`).
struct Method {
    oid: u32,
    name: &'static str,
    /// `amstrategies`; 0 where it is free.
    strategies: i32,
    /// `amsupport`.
    functions: i32,
    /// `amoptsprocnum`.
    options: i32,
    /// `amstorage`.
    storage: bool,
    /// `amcanorderbyop`.
    orders_by: bool,
}

const METHODS: [Method; 6] = [
    method_of(BTREE, "btree", (5, 5, 5), (false, false)),
    method_of(HASH, "hash", (1, 3, 3), (false, false)),
    method_of(783, "gist", (0, 11, 10), (true, true)),
    method_of(2742, "gin", (0, 7, 7), (true, false)),
    method_of(3580, "brin", (0, 15, 5), (true, false)),
    method_of(4000, "spgist", (0, 7, 6), (true, true)),
];

const fn method_of(
    oid: u32,
    name: &'static str,
    (strategies, functions, options): (i32, i32, i32),
    (storage, orders_by): (bool, bool),
) -> Method {
    Method { oid, name, strategies, functions, options, storage, orders_by }
}

fn method(name: &str) -> Result<&'static Method> {
    METHODS.iter().find(|method| method.name == name).ok_or_else(|| {
        let message = format!("access method \"{name}\" does not exist");
        SqlError::new(SqlState::UNDEFINED_OBJECT, message)
    })
}

/// The name of an access method.
pub(super) fn method_name(oid: u32) -> &'static str {
    METHODS.iter().find(|method| method.oid == oid).map_or("", |method| method.name)
}

fn invalid(message: impl Into<String>) -> SqlError {
    SqlError::new(SqlState::INVALID_OBJECT_DEFINITION, message)
}

fn syntax(message: &str) -> SqlError {
    SqlError::new(SqlState::SYNTAX_ERROR, message)
}

fn word(part: OperatorPart) -> &'static str {
    match part {
        OperatorPart::Class => "operator class",
        OperatorPart::Family => "operator family",
    }
}

fn duplicate(part: OperatorPart, name: &str, method: &Method, schema: Option<&str>) -> SqlError {
    let within = schema.map_or_else(String::new, |schema| format!(" in schema \"{schema}\""));
    let (word, method) = (word(part), method.name);
    SqlError::new(
        SqlState::DUPLICATE_OBJECT,
        format!("{word} \"{name}\" for access method \"{method}\" already exists{within}"),
    )
}

fn missing(part: OperatorPart, name: &ObjectName, method: &Method) -> String {
    let (word, method) = (word(part), method.name);
    format!("{word} \"{name}\" does not exist for access method \"{method}\"")
}

/// A class or a family that a name means: one that a user made, or one that is built in.
enum Found {
    Made(Attachment),
    BuiltIn(Oid),
}

/// What a name means along the path or in its schema (`get_opclass_oid`, `get_opfamily_oid`).
fn find(
    ddl: &mut Ddl<'_>,
    part: OperatorPart,
    name: &ObjectName,
    method: &Method,
) -> Result<Option<Found>> {
    let schema = ddl.searched_schema(name)?.map(|schema| schema.oid);
    let snapshot = ddl.snapshot();
    let path = ddl.path().schemas;
    let own = name.name();
    if schema.is_none_or(|schema| schema == well_known::PG_CATALOG) {
        let built_in = match part {
            OperatorPart::Class => builtin::class_of_method(method.oid, own),
            OperatorPart::Family => builtin::family_of_method(method.oid, own),
        };
        if let Some(found) = built_in {
            return Ok(Some(Found::BuiltIn(Oid(found))));
        }
    }
    let place = (schema, &path[..]);
    Ok(match part {
        OperatorPart::Class => {
            let found = snapshot.user_class_named(place, method.oid, own).cloned();
            found.map(|class| Found::Made(Attachment::Class(class)))
        }
        OperatorPart::Family => {
            let found = snapshot.user_family_named(place, method.oid, own).cloned();
            found.map(|family| Found::Made(Attachment::Family(family)))
        }
    })
}

/// A family that has to be there.
fn family_named(ddl: &mut Ddl<'_>, name: &ObjectName, method: &Method) -> Result<Found> {
    let part = OperatorPart::Family;
    find(ddl, part, name, method)?
        .ok_or_else(|| SqlError::new(SqlState::UNDEFINED_OBJECT, missing(part, name, method)))
}

fn demand_superuser(ddl: &mut Ddl<'_>, what: &str) -> Result<()> {
    if ddl.superuser() {
        return Ok(());
    }
    Err(SqlError::new(SqlState::INSUFFICIENT_PRIVILEGE, format!("must be superuser to {what}")))
}

/// Keeps others from making one of this name meanwhile.
fn lock_name(
    ddl: &mut Ddl<'_>,
    part: OperatorPart,
    schema: Oid,
    name: &str,
    method: &Method,
) -> Result<()> {
    let class = match part {
        OperatorPart::Class => Class::OperatorClass,
        OperatorPart::Family => Class::OperatorFamily,
    };
    ddl.catalog.lock_name(ddl.transaction, class, schema, &format!("{name} {}", method.name))
}

/// Whether a schema has one of this name.
fn is_taken(ddl: &mut Ddl<'_>, part: OperatorPart, schema: Oid, name: &str, method: u32) -> bool {
    let (snapshot, place) = (ddl.snapshot(), (Some(schema), &[][..]));
    match part {
        OperatorPart::Class => snapshot.user_class_named(place, method, name).is_some(),
        OperatorPart::Family => snapshot.user_family_named(place, method, name).is_some(),
    }
}

/// CREATE OPERATOR FAMILY.
///
/// # Errors
/// 3F000, 42501, 42704, 42710.
pub fn create_family(ddl: &mut Ddl<'_>, create: &CreateOperatorFamily) -> Result<&'static str> {
    let schema = ddl.creation_schema(&create.name, 'p')?;
    let method = method(&create.method)?;
    demand_superuser(ddl, "create an operator family")?;
    make_family(ddl, &schema, create.name.name(), method)?;
    Ok("CREATE OPERATOR FAMILY")
}

fn make_family(
    ddl: &mut Ddl<'_>,
    schema: &Arc<Schema>,
    name: &Arc<str>,
    method: &Method,
) -> Result<Arc<OperatorFamily>> {
    let part = OperatorPart::Family;
    lock_name(ddl, part, schema.oid, name, method)?;
    if is_taken(ddl, part, schema.oid, name, method.oid) {
        return Err(duplicate(part, name, method, None));
    }
    ddl.hold_schema(schema)?;
    ddl.owner_to_stay()?;
    let family = Arc::new(OperatorFamily {
        oid: ddl.catalog.next_oid()?,
        schema: schema.oid,
        name: Arc::clone(name),
        owner: ddl.user,
        method: method.oid,
        members: Vec::new(),
    });
    attachment::put(ddl, &Attachment::Family(Arc::clone(&family)))?;
    Ok(family)
}

/// The types of one or two names.
fn types_of(ddl: &mut Ddl<'_>, types: &[TypeName]) -> Result<(Oid, Oid)> {
    let left = type_named(ddl, &types[0])?;
    let right = match types.get(1) {
        Some(right) => type_named(ddl, right)?,
        None => left,
    };
    if types.len() > 2 {
        return Err(syntax("one or two argument types must be specified"));
    }
    Ok((left, right))
}

fn demand_number(what: &str, number: i32, most: i32) -> Result<u32> {
    let most = if most == 0 { i32::from(i16::MAX) } else { most };
    if !(1..=most).contains(&number) {
        return Err(invalid(format!(
            "invalid {what} number {number}, must be between 1 and {most}"
        )));
    }
    Ok(number.cast_unsigned())
}

/// An operator or function that is to be a member, of a class for a type or of a family.
fn member(
    ddl: &mut Ddl<'_>,
    item: &ClassItem,
    method: &Method,
    input: Option<Oid>,
) -> Result<FamilyMember> {
    match item {
        ClassItem::Operator { number, name, signature, sort_family } => {
            let number = demand_number("operator", *number, method.strategies)?;
            let found = match (signature, input) {
                (Some(signature), _) => looked_up(ddl, name, Ok(signature))?,
                (None, Some(input)) => looked_up(ddl, name, Err(input))?,
                (None, None) => {
                    return Err(syntax(
                        "operator argument types must be specified in ALTER OPERATOR FAMILY",
                    ));
                }
            };
            let sort_family = match sort_family {
                None => Oid(0),
                Some(name) => match family_named(ddl, name, self::method("btree")?)? {
                    Found::Made(family) => family.oid(),
                    Found::BuiltIn(family) => family,
                },
            };
            let snapshot = ddl.snapshot();
            let operator = snapshot.operator(found);
            let (left, right, result) =
                operator.map_or((0, 0, 0), |found| (found.left, found.right, found.result));
            if left == 0 {
                return Err(invalid("index operators must be binary"));
            }
            if sort_family.0 != 0 {
                if !method.orders_by {
                    let name = method.name;
                    return Err(invalid(format!(
                        "access method \"{name}\" does not support ordering operators"
                    )));
                }
            } else if result != oids::BOOL {
                return Err(invalid("index search operators must return boolean"));
            }
            Ok(FamilyMember {
                oid: Oid(0),
                is_function: false,
                number,
                left: Oid(left),
                right: Oid(right),
                object: found,
                sort_family,
                hard: false,
            })
        }
        ClassItem::Function { number, types, name, arguments } => {
            let number = demand_number("function", *number, method.functions)?;
            let called = function_of_name(ddl, name, arguments.as_deref())?;
            let given = match &types[..] {
                [] => None,
                types => Some(types_of(ddl, types)?),
            };
            let usual = usual_types(method, number, &called, given, input)?;
            let Some((left, right)) = given.or(usual).or(input.map(|input| (input, input))) else {
                let message = "associated data types must be specified for index support function";
                return Err(invalid(message));
            };
            Ok(FamilyMember {
                oid: Oid(0),
                is_function: true,
                number,
                left,
                right,
                object: called.oid,
                sort_family: Oid(0),
                hard: false,
            })
        }
        ClassItem::Storage(_) => {
            Err(syntax("STORAGE cannot be specified in ALTER OPERATOR FAMILY"))
        }
    }
}

/// Holds a support function against what the access method calls, and says which types it is for by itself
/// (`assignProcTypes`).
fn usual_types(
    method: &Method,
    number: u32,
    called: &attachment::Called,
    given: Option<(Oid, Oid)>,
    input: Option<Oid>,
) -> Result<Option<(Oid, Oid)>> {
    let (arguments, result) = (&called.arguments[..], called.result.0);
    let argument = |at: usize| Oid(arguments.get(at).copied().unwrap_or(0));
    let demand = |holds: bool, message: &str| if holds { Ok(()) } else { Err(invalid(message)) };
    if number == method.options.cast_unsigned() {
        let fits = match input {
            Some(input) => given.is_none_or(|(left, right)| left == input && right == input),
            None => given.is_none_or(|(left, right)| left == right),
        };
        demand(
            fits,
            match input {
                Some(_) => {
                    "associated data types for operator class options parsing functions must match opclass input type"
                }
                None => {
                    "left and right associated data types for operator class options parsing functions must match"
                }
            },
        )?;
        if result != oids::VOID || *arguments != [INTERNAL] {
            return Err(invalid("invalid operator class options parsing function").hint(
                "Valid signature of operator class options parsing function is (internal) RETURNS void.",
            ));
        }
        return Ok(None);
    }
    Ok(match (method.oid, number) {
        (BTREE, 1) => {
            demand(arguments.len() == 2, "btree comparison functions must have two arguments")?;
            demand(result == oids::INT4, "btree comparison functions must return integer")?;
            Some((argument(0), argument(1)))
        }
        (BTREE, 2) => {
            let message = "btree sort support functions must accept type \"internal\"";
            demand(*arguments == [INTERNAL], message)?;
            demand(result == oids::VOID, "btree sort support functions must return void")?;
            None
        }
        (BTREE, 3) => {
            demand(arguments.len() == 5, "btree in_range functions must have five arguments")?;
            demand(result == oids::BOOL, "btree in_range functions must return boolean")?;
            Some((argument(0), argument(2)))
        }
        (BTREE, 4) => {
            demand(arguments.len() == 1, "btree equal image functions must have one argument")?;
            demand(result == oids::BOOL, "btree equal image functions must return boolean")?;
            let same = given.is_none_or(|(left, right)| left == right);
            demand(same, "btree equal image functions must not be cross-type")?;
            None
        }
        (HASH, 1) => {
            demand(arguments.len() == 1, "hash function 1 must have one argument")?;
            demand(result == oids::INT4, "hash function 1 must return integer")?;
            Some((argument(0), argument(0)))
        }
        (HASH, 2) => {
            demand(arguments.len() == 2, "hash function 2 must have two arguments")?;
            demand(result == oids::INT8, "hash function 2 must return bigint")?;
            Some((argument(0), argument(0)))
        }
        _ => None,
    })
}

/// A member as messages name it: `operator 1(integer,integer)`.
fn member_shown(ddl: &mut Ddl<'_>, member: &FamilyMember) -> String {
    let left = ddl.plain_type_shown(SqlType::plain(member.left.0));
    let right = ddl.plain_type_shown(SqlType::plain(member.right.0));
    let word = if member.is_function { "function" } else { "operator" };
    format!("{word} {}({left},{right})", member.number)
}

/// Adds one that no other of the statement stands beside (`addFamilyMember`).
fn add(ddl: &mut Ddl<'_>, members: &mut Vec<FamilyMember>, one: FamilyMember) -> Result<()> {
    if members.iter().any(|known| known.is_beside(&one)) {
        let shown = member_shown(ddl, &one).replacen(' ', " number ", 1).replacen('(', " for (", 1);
        return Err(invalid(format!("{shown} appears more than once")));
    }
    members.push(one);
    Ok(())
}

/// CREATE OPERATOR CLASS.
///
/// # Errors
/// 3F000, 42501, 42704, 42883, 42P17, 42710, 23505.
pub fn create_class(ddl: &mut Ddl<'_>, create: &CreateOperatorClass) -> Result<&'static str> {
    let part = OperatorPart::Class;
    let (schema, name) = (ddl.creation_schema(&create.name, 'p')?, create.name.name());
    let method = method(&create.method)?;
    demand_superuser(ddl, "create an operator class")?;
    let input = type_named(ddl, &create.ty)?;
    let family = match &create.family {
        Some(family) => family_named(ddl, family, method)?,
        None => {
            let (snapshot, place) = (ddl.snapshot(), (Some(schema.oid), &[][..]));
            let known = snapshot.user_family_named(place, method.oid, name).cloned();
            Found::Made(Attachment::Family(match known {
                Some(family) => family,
                None => make_family(ddl, &schema, name, method)?,
            }))
        }
    };
    let (mut members, mut storage) = (Vec::new(), None);
    for item in &create.items {
        if let ClassItem::Storage(ty) = item {
            if storage.is_some() {
                return Err(invalid("storage type specified more than once"));
            }
            storage = Some(type_named(ddl, ty)?);
            continue;
        }
        let one = member(ddl, item, method, Some(input))?;
        add(ddl, &mut members, one)?;
    }
    let storage = storage.filter(|storage| *storage != input).unwrap_or(Oid(0));
    if storage.0 != 0 && !method.storage {
        let name = method.name;
        return Err(invalid(format!(
            "storage type cannot be different from data type for access method \"{name}\""
        )));
    }
    lock_name(ddl, part, schema.oid, name, method)?;
    if is_taken(ddl, part, schema.oid, name, method.oid) {
        return Err(duplicate(part, name, method, None));
    }
    if create.default {
        demand_no_default(ddl, method, input, create)?;
    }
    let family_oid = match &family {
        Found::Made(family) => family.oid(),
        Found::BuiltIn(family) => *family,
    };
    let known = ddl.snapshot().family_members(family_oid);
    let kept_apart = matches!(family, Found::BuiltIn(_));
    let (mut own, mut of_family) = (Vec::new(), Vec::new());
    for mut one in members {
        if known.iter().any(|(known, _)| known.is_beside(&one)) {
            let index = match one.is_function {
                true => "pg_amproc_fam_proc_index",
                false => "pg_amop_fam_strat_index",
            };
            let message = format!("duplicate key value violates unique constraint \"{index}\"");
            return Err(SqlError::new(SqlState::UNIQUE_VIOLATION, message));
        }
        one.oid = ddl.catalog.next_oid()?;
        one.hard = is_hard(method, &one, input);
        if one.hard || kept_apart { own.push(one) } else { of_family.push(one) }
    }
    if let (Found::Made(Attachment::Family(family)), false) = (&family, of_family.is_empty()) {
        let family = ddl
            .snapshot()
            .operator_family(family.oid)
            .cloned()
            .unwrap_or_else(|| Arc::clone(family));
        let mut next = OperatorFamily::clone(&family);
        next.members.append(&mut of_family);
        attachment::put(ddl, &Attachment::Family(Arc::new(next)))?;
    }
    ddl.hold_schema(&schema)?;
    ddl.owner_to_stay()?;
    let class = Arc::new(UserOperatorClass {
        oid: ddl.catalog.next_oid()?,
        schema: schema.oid,
        name: Arc::clone(name),
        owner: ddl.user,
        method: method.oid,
        family: family_oid,
        input,
        default: create.default,
        storage,
        members: own,
    });
    let attached = Attachment::Class(Arc::clone(&class));
    attachment::hold_needs(ddl, &attached)?;
    attachment::put(ddl, &attached)?;
    let snapshot = ddl.snapshot();
    let compares = method.oid == BTREE && snapshot.class_comparison(&class).is_some();
    let ordered = builtin::ordering(input.0).is_some();
    if create.default && compares && ordered && !snapshot.orders_natively(&class) {
        return Err(SqlError::unsupported(format!(
            "a default operator class \"{name}\", which orders its type in another way, is"
        )));
    }
    Ok("CREATE OPERATOR CLASS")
}

/// Whether a member goes with a class for this type (`btadjustmembers`, `hashadjustmembers` and their kin).
fn is_hard(method: &Method, one: &FamilyMember, input: Oid) -> bool {
    let (own, number) = ((one.left, one.right) == (input, input), one.number);
    match (method.name, one.is_function) {
        ("btree" | "hash", true) => own && number == 1,
        ("btree" | "hash", false) => own,
        ("gist", true) => matches!(number, 1 | 2 | 5..=7),
        ("gin", true) => matches!(number, 2 | 3),
        ("spgist", true) => number <= 5,
        ("gist" | "gin" | "spgist", false) => false,
        _ => true,
    }
}

/// 42710 where a type has a default class already.
fn demand_no_default(
    ddl: &mut Ddl<'_>,
    method: &Method,
    input: Oid,
    create: &CreateOperatorClass,
) -> Result<()> {
    let snapshot = ddl.snapshot();
    let made = snapshot
        .user_operator_classes()
        .find(|class| class.method == method.oid && class.default && class.input == input)
        .map(|class| class.name.to_string());
    let built_in = builtin::default_class_of(method.oid, input.0).map(str::to_owned);
    let Some(known) = built_in.or(made) else { return Ok(()) };
    Err(SqlError::new(
        SqlState::DUPLICATE_OBJECT,
        format!(
            "could not make operator class \"{}\" be default for type {}",
            create.name.name(),
            create.ty.name
        ),
    )
    .detail(format!("Operator class \"{known}\" already is the default.")))
}

/// The one that a statement names, locked; the user owns it.
fn owned(
    ddl: &mut Ddl<'_>,
    part: OperatorPart,
    name: &ObjectName,
    method: &Method,
) -> Result<Attachment> {
    let found = match find(ddl, part, name, method)? {
        None => return Err(SqlError::new(SqlState::UNDEFINED_OBJECT, missing(part, name, method))),
        Some(Found::BuiltIn(_)) if !ddl.superuser() => {
            return Err(must_own(word(part), name.name()));
        }
        Some(Found::BuiltIn(_)) => {
            let word = word(part).to_ascii_uppercase();
            return Err(SqlError::unsupported(format!("a change of a built-in {word} is")));
        }
        Some(Found::Made(found)) => found,
    };
    let key = ddl.catalog.key(found.class(), found.oid());
    ddl.catalog.lock(ddl.transaction, key)?;
    let snapshot = ddl.snapshot();
    let found = match part {
        OperatorPart::Class => {
            snapshot.user_operator_class(found.oid()).cloned().map(Attachment::Class)
        }
        OperatorPart::Family => {
            snapshot.operator_family(found.oid()).cloned().map(Attachment::Family)
        }
    };
    found.ok_or_else(|| super::resolve::dropped_meanwhile(word(part)))
}

fn demand_owner(
    ddl: &mut Ddl<'_>,
    found: &Attachment,
    part: OperatorPart,
    name: &str,
) -> Result<()> {
    let (user, snapshot) = (ddl.user, ddl.snapshot());
    let owns = found.owner().is_some_and(|owner| snapshot.shared().has_privileges_of(user, owner));
    if owns { Ok(()) } else { Err(must_own(word(part), name)) }
}

/// The OID of the class or family that COMMENT names.
///
/// # Errors
/// 42704, 42501.
pub(super) fn commented(
    ddl: &mut Ddl<'_>,
    part: OperatorPart,
    name: &ObjectName,
    method_name: &str,
) -> Result<Oid> {
    let found = owned(ddl, part, name, method(method_name)?)?;
    demand_owner(ddl, &found, part, name.name())?;
    Ok(found.oid())
}

/// ALTER OPERATOR CLASS and ALTER OPERATOR FAMILY.
///
/// # Errors
/// 42704, 42501, 42710, 3F000; those of members.
pub fn alter(ddl: &mut Ddl<'_>, alter: &AlterOperatorPart) -> Result<&'static str> {
    let (part, method) = (alter.part, method(&alter.method)?);
    let tag = match part {
        OperatorPart::Class => "ALTER OPERATOR CLASS",
        OperatorPart::Family => "ALTER OPERATOR FAMILY",
    };
    let found = owned(ddl, part, &alter.name, method)?;
    match (&alter.change, &found) {
        (OperatorPartChange::Add(items), Attachment::Family(family)) => {
            demand_superuser(ddl, "alter an operator family")?;
            add_members(ddl, family, method, &alter.name, items)?;
            return Ok(tag);
        }
        (OperatorPartChange::Drop(items), Attachment::Family(family)) => {
            demand_superuser(ddl, "alter an operator family")?;
            drop_members(ddl, family, method, &alter.name, items)?;
            return Ok(tag);
        }
        _ => {}
    }
    demand_owner(ddl, &found, part, alter.name.name())?;
    let own_name = found.name().cloned().unwrap_or_else(|| Arc::clone(alter.name.name()));
    let own_schema = found.schema().unwrap_or(Oid(0));
    let next = match &alter.change {
        OperatorPartChange::Owner(role) => {
            let owner = ddl.role_to_stay(role)?;
            if Some(owner.oid) == found.owner() {
                return Ok(tag);
            }
            ddl.may_give(&owner, own_schema)?;
            found.with_owner(owner.oid)
        }
        OperatorPartChange::Rename(name) => {
            lock_name(ddl, part, own_schema, name, method)?;
            if is_taken(ddl, part, own_schema, name, method.oid) {
                let snapshot = ddl.snapshot();
                let schema = snapshot.schema_by_oid(own_schema).map(|one| one.name.to_string());
                return Err(duplicate(part, name, method, schema.as_deref()));
            }
            found.renamed(own_schema, name)
        }
        OperatorPartChange::Schema(name) => {
            let name = ObjectName { parts: vec![Arc::clone(name), Arc::clone(&own_name)], at: 0 };
            let schema = ddl.creation_schema(&name, 'p')?;
            if schema.oid == own_schema {
                return Ok(tag);
            }
            lock_name(ddl, part, schema.oid, &own_name, method)?;
            if is_taken(ddl, part, schema.oid, &own_name, method.oid) {
                return Err(duplicate(part, &own_name, method, Some(&schema.name)));
            }
            ddl.hold_schema(&schema)?;
            found.renamed(schema.oid, &own_name)
        }
        OperatorPartChange::Add(_) | OperatorPartChange::Drop(_) => found,
    };
    attachment::put(ddl, &next)?;
    Ok(tag)
}

/// ALTER OPERATOR FAMILY ADD.
fn add_members(
    ddl: &mut Ddl<'_>,
    family: &Arc<OperatorFamily>,
    method: &Method,
    name: &ObjectName,
    items: &[ClassItem],
) -> Result<()> {
    let mut members = Vec::new();
    for item in items {
        let one = member(ddl, item, method, None)?;
        add(ddl, &mut members, one)?;
    }
    let snapshot = ddl.snapshot();
    let known = snapshot.family_members(family.oid);
    let mut next = OperatorFamily::clone(family);
    let classes = snapshot.user_operator_classes().filter(|class| class.family == family.oid);
    let mut classes: Vec<UserOperatorClass> =
        classes.map(|class| UserOperatorClass::clone(class)).collect();
    // Operators are stored before functions, and so told of first.
    members.sort_by_key(|one| one.is_function);
    for mut one in members {
        if known.iter().any(|(known, _)| known.is_beside(&one)) {
            let shown = member_shown(ddl, &one);
            let message = format!("{shown} already exists in operator family \"{name}\"");
            return Err(SqlError::new(SqlState::DUPLICATE_OBJECT, message));
        }
        one.oid = ddl.catalog.next_oid()?;
        // One over the type of a class goes with that.
        let class = classes
            .iter_mut()
            .find(|class| matches!(method.oid, BTREE | HASH) && is_hard(method, &one, class.input));
        match class {
            Some(class) => class.members.push(FamilyMember { hard: true, ..one }),
            None => next.members.push(one),
        }
    }
    for class in classes {
        let known = snapshot.user_operator_class(class.oid);
        if known.is_none_or(|known| **known != class) {
            let class = Attachment::Class(Arc::new(class));
            attachment::hold_needs(ddl, &class)?;
            attachment::put(ddl, &class)?;
        }
    }
    let next = Attachment::Family(Arc::new(next));
    attachment::hold_members(ddl, &next)?;
    attachment::put(ddl, &next)
}

/// ALTER OPERATOR FAMILY DROP.
fn drop_members(
    ddl: &mut Ddl<'_>,
    family: &Arc<OperatorFamily>,
    method: &Method,
    name: &ObjectName,
    items: &[(bool, i32, Vec<TypeName>)],
) -> Result<()> {
    let mut going: Vec<FamilyMember> = Vec::new();
    for (is_function, number, types) in items {
        let number = match is_function {
            true => demand_number("function", *number, method.functions)?,
            false => demand_number("operator", *number, method.strategies)?,
        };
        let (left, right) = types_of(ddl, types)?;
        let one = FamilyMember {
            oid: Oid(0),
            is_function: *is_function,
            number,
            left,
            right,
            object: Oid(0),
            sort_family: Oid(0),
            hard: false,
        };
        add(ddl, &mut going, one)?;
    }
    let known = ddl.snapshot().family_members(family.oid);
    let mut next = OperatorFamily::clone(family);
    for one in going {
        let found = known.iter().find(|(known, _)| known.is_beside(&one));
        let shown = member_shown(ddl, &one);
        let Some((known, class)) = found else {
            let message = format!("{shown} does not exist in operator family \"{name}\"");
            return Err(SqlError::new(SqlState::UNDEFINED_OBJECT, message));
        };
        if let Some(class) =
            class.and_then(|class| ddl.snapshot().user_operator_class(class).cloned())
        {
            let class = attachment::shown(ddl, &Attachment::Class(class));
            let family = attachment::shown(ddl, &Attachment::Family(Arc::clone(family)));
            let shown = shown.replacen('(', " (", 1).replacen(',', ", ", 1);
            let object = object_shown(ddl, known);
            let message =
                format!("cannot drop {shown} of {family}: {object} because {class} requires it");
            return Err(SqlError::new(SqlState::DEPENDENT_OBJECTS_STILL_EXIST, message)
                .hint(format!("You can drop {class} instead.")));
        }
        next.members.retain(|known| !known.is_beside(&one));
    }
    attachment::put(ddl, &Attachment::Family(Arc::new(next)))
}

/// The operator or the function that a member is.
fn object_shown(ddl: &mut Ddl<'_>, member: &FamilyMember) -> String {
    let snapshot = ddl.snapshot();
    let path = ddl.path().schemas;
    if !member.is_function {
        let shown = |ty: Oid| ddl.plain_type_shown(SqlType::plain(ty.0));
        let found = snapshot.operator(member.object);
        let shown = std::cell::RefCell::new(shown);
        let shown = |ty: Oid| (shown.borrow_mut())(ty);
        return found
            .map_or_else(String::new, |found| snapshot.operator_shown(&path, &found, &shown));
    }
    match snapshot.procedure(member.object) {
        Some(found) => ddl.display_function(&found),
        None => String::new(),
    }
}

/// DROP OPERATOR CLASS and DROP OPERATOR FAMILY.
///
/// # Errors
/// 42704, 42501, 2BP01.
pub fn drop_part(ddl: &mut Ddl<'_>, drop: &DropOperatorPart) -> Result<&'static str> {
    let part = drop.part;
    let tag = match part {
        OperatorPart::Class => "DROP OPERATOR CLASS",
        OperatorPart::Family => "DROP OPERATOR FAMILY",
    };
    let method = method(&drop.method)?;
    if drop.if_exists {
        let absent = drop.name.schema().filter(|name| ddl.snapshot().schema(name).is_none());
        let absent = match absent {
            Some(schema) => Some(format!("schema \"{schema}\" does not exist, skipping")),
            None => find(ddl, part, &drop.name, method)?
                .is_none()
                .then(|| format!("{}, skipping", missing(part, &drop.name, method))),
        };
        if let Some(message) = absent {
            ddl.notice(SqlState::SUCCESSFUL_COMPLETION, message);
            return Ok(tag);
        }
    }
    let found = owned(ddl, part, &drop.name, method)?;
    let (user, snapshot) = (ddl.user, ddl.snapshot());
    let schema = found.schema().and_then(|schema| snapshot.schema_by_oid(schema));
    let owns_schema =
        schema.is_some_and(|schema| snapshot.shared().has_privileges_of(user, schema.owner));
    if !owns_schema {
        let name = format!("{}.{}", method.name, drop.name);
        demand_owner(ddl, &found, part, &name)?;
    }
    // The classes of a family go with it, as long as nobody needs them.
    let mut going = vec![found.clone()];
    if let Attachment::Family(family) = &found {
        let classes = snapshot.user_operator_classes().filter(|one| one.family == family.oid);
        going.extend(classes.cloned().map(Attachment::Class));
    }
    attachment::drop_all(ddl, &going, drop.cascade)?;
    Ok(tag)
}

impl Ddl<'_> {
    /// 0A000 for a unique index whose class calls other values equal than its type does.
    pub(super) fn demand_unique_class(&mut self, class: &UserOperatorClass) -> Result<()> {
        if self.snapshot().equals_natively(class) {
            return Ok(());
        }
        let name = &class.name;
        Err(SqlError::unsupported(format!(
            "a unique index by operator class \"{name}\", whose equality is not its type's own, is"
        )))
    }
}
