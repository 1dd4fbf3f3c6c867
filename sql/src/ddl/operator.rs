//! CREATE, ALTER and DROP OPERATOR (`commands/operatorcmds.c`, `catalog/pg_operator.c`).
//!
//! Commutators and negators are links between operators: one that is named before it is made is made as a shell, which has
//! no function yet; who makes it later fills it. COMMENT and DROP find operators by the types of their operands.

use super::Ddl;
use super::attachment::{self, function, type_named};
use super::resolve::{must_own, undefined_schema};
use super::routine::invalid;
use crate::catalog::attachment::{Attachment, OperatorOf, UserOperator};
use crate::catalog::definition::Edge;
use crate::catalog::object::{Class, Schema};
use crate::error::{Result, Severity, SqlError};
use crate::parse::ast::{
    AlterOperator, CreateOperator, DefinitionOption, DefinitionValue, DropOperator, ObjectName,
    Operator, OperatorChange, OperatorSignature, TypeName,
};
use crate::sqlstate::SqlState;
use crate::types::{Oid, SqlType, oids};
use std::sync::Arc;

/// `internal`.
const INTERNAL: u32 = 2281;
/// `float8`.
const FLOAT8: u32 = 701;

fn syntax(message: String) -> SqlError {
    SqlError::new(SqlState::SYNTAX_ERROR, message)
}

/// An option as a type.
fn as_type(name: &str, value: Option<&DefinitionValue>) -> Result<TypeName> {
    match value {
        None => Err(syntax(format!("{name} requires a parameter"))),
        Some(DefinitionValue::Type(ty)) => Ok(ty.clone()),
        Some(DefinitionValue::Text(text)) => Ok(TypeName::named(Arc::clone(text))),
        Some(_) => Err(syntax(format!("argument of {name} must be a type name"))),
    }
}

/// An option as the name of a function.
fn as_name(name: &str, value: Option<&DefinitionValue>) -> Result<ObjectName> {
    match value {
        None => Err(syntax(format!("{name} requires a parameter"))),
        Some(DefinitionValue::Type(ty)) => Ok(ty.name.clone()),
        Some(DefinitionValue::Text(text)) => {
            Ok(ObjectName { parts: vec![Arc::clone(text)], at: 0 })
        }
        Some(DefinitionValue::Operator(operator)) => Ok(object_name(operator)),
        Some(DefinitionValue::Nothing) => Err(syntax(format!("argument of {name} must be a name"))),
    }
}

/// An option as the name of an operator.
fn as_operator(name: &str, value: Option<&DefinitionValue>) -> Result<Operator> {
    match value {
        Some(DefinitionValue::Operator(operator)) => Ok(operator.clone()),
        value => {
            let name = as_name(name, value)?;
            Ok(Operator { schema: name.schema().cloned(), name: Arc::clone(name.name()) })
        }
    }
}

/// An option as a truth value.
fn as_flag(name: &str, value: Option<&DefinitionValue>) -> Result<bool> {
    let word = match value {
        None => return Ok(true),
        Some(DefinitionValue::Text(text)) => text.to_ascii_lowercase(),
        Some(DefinitionValue::Type(ty)) => ty.name.to_string().to_ascii_lowercase(),
        Some(_) => String::new(),
    };
    match &*word {
        "true" | "on" | "1" => Ok(true),
        "false" | "off" | "0" => Ok(false),
        _ => Err(syntax(format!("{name} requires a Boolean value"))),
    }
}

fn object_name(operator: &Operator) -> ObjectName {
    let parts = operator.schema.iter().chain([&operator.name]).cloned().collect();
    ObjectName { parts, at: 0 }
}

/// Whether a name may be an operator's (`validOperatorName`).
fn is_valid(name: &str) -> bool {
    let free = |byte: u8| b"~!@#^&|`?%".contains(&byte);
    let last = name.as_bytes().last();
    !name.is_empty()
        && name.len() < 64
        && name.bytes().all(|byte| b"~!@#^&|`?+-*/%<>=".contains(&byte))
        && !name.contains("/*")
        && !name.contains("--")
        && (name.len() == 1 || !matches!(last, Some(b'+' | b'-')) || name.bytes().any(free))
        && name != "!="
}

/// What the options of CREATE OPERATOR say.
#[derive(Default)]
struct Options {
    left: Option<TypeName>,
    right: Option<TypeName>,
    function: Option<ObjectName>,
    commutator: Option<Operator>,
    negator: Option<Operator>,
    restrict: Option<ObjectName>,
    join: Option<ObjectName>,
    hashes: bool,
    merges: bool,
}

impl Options {
    fn of(ddl: &mut Ddl<'_>, given: &[DefinitionOption]) -> Result<Options> {
        let mut options = Options::default();
        let operand = |name: &str, value: Option<&DefinitionValue>| {
            let ty = as_type(name, value)?;
            match ty.setof {
                true => Err(invalid("SETOF type not allowed for operator argument")),
                false => Ok(Some(ty)),
            }
        };
        for (name, value) in given {
            let value = value.as_ref();
            match &**name {
                "leftarg" => options.left = operand(name, value)?,
                "rightarg" => options.right = operand(name, value)?,
                "function" | "procedure" => options.function = Some(as_name(name, value)?),
                "commutator" => options.commutator = Some(as_operator(name, value)?),
                "negator" => options.negator = Some(as_operator(name, value)?),
                "restrict" => options.restrict = Some(as_name(name, value)?),
                "join" => options.join = Some(as_name(name, value)?),
                "hashes" => options.hashes = as_flag(name, value)?,
                "merges" => options.merges = as_flag(name, value)?,
                // What once said how a merge join sorts.
                "sort1" | "sort2" | "ltcmp" | "gtcmp" => options.merges = true,
                _ => {
                    let message = format!("operator attribute \"{name}\" not recognized");
                    let warning = SqlError::new(SqlState::SYNTAX_ERROR, message);
                    ddl.notices.push(warning.severity(Severity::Warning));
                }
            }
        }
        Ok(options)
    }
}

/// An estimator of selectivity: it is kept and shown.
fn estimator(
    ddl: &mut Ddl<'_>,
    what: &str,
    name: &ObjectName,
    signatures: &[&[u32]],
) -> Result<Oid> {
    let mut found = function(ddl, name, signatures[0]);
    for types in &signatures[1..] {
        found = match found {
            Err(error) if error.state() == SqlState::UNDEFINED_FUNCTION => {
                function(ddl, name, types)
            }
            found => found,
        };
    }
    let found = found?;
    if found.result.0 != FLOAT8 {
        let message = format!("{what} estimator function {name} must return type double precision");
        return Err(SqlError::new(SqlState::INVALID_OBJECT_DEFINITION, message));
    }
    Ok(found.oid)
}

fn restriction(ddl: &mut Ddl<'_>, name: &ObjectName) -> Result<Oid> {
    estimator(ddl, "restriction", name, &[&[INTERNAL, oids::OID, INTERNAL, oids::INT4]])
}

fn join_estimator(ddl: &mut Ddl<'_>, name: &ObjectName) -> Result<Oid> {
    const INT2: u32 = 21;
    let old = [INTERNAL, oids::OID, INTERNAL, INT2];
    let new = [INTERNAL, oids::OID, INTERNAL, INT2, INTERNAL];
    let found = estimator(ddl, "join", name, &[&new, &old]);
    // The form of five arguments is told of where there is neither.
    found.map_err(|error| {
        if error.state() != SqlState::UNDEFINED_FUNCTION {
            return error;
        }
        estimator(ddl, "join", name, &[&new]).err().unwrap_or(error)
    })
}

/// CREATE OPERATOR.
///
/// # Errors
/// 42P13, 42601, 42602, 42723, 42883, 42704, 3F000, 42501.
pub fn create_operator(ddl: &mut Ddl<'_>, create: &CreateOperator) -> Result<&'static str> {
    const WORDS: &str = "CREATE OPERATOR";
    let schema = ddl.creation_schema(&object_name(&create.name), 'p')?;
    let options = Options::of(ddl, &create.options)?;
    let function_name =
        options.function.as_ref().ok_or_else(|| invalid("operator function must be specified"))?;
    let mut operand = |name: &Option<TypeName>| match name {
        None => Ok(Oid(0)),
        Some(name) => type_named(ddl, name),
    };
    let (left, right) = (operand(&options.left)?, operand(&options.right)?);
    match (left.0, right.0) {
        (0, 0) => return Err(invalid("operator argument types must be specified")),
        (_, 0) => {
            return Err(invalid("operator right argument type must be specified")
                .detail("Postfix operators are not supported."));
        }
        _ => {}
    }
    let operands: Vec<u32> = [left, right].iter().map(|ty| ty.0).filter(|ty| *ty != 0).collect();
    for ty in &operands {
        ddl.demand_type_usage(SqlType::plain(*ty))?;
    }
    let called = function(ddl, function_name, &operands)?;
    ddl.demand_type_usage(SqlType::plain(called.result.0))?;
    let restrict = match &options.restrict {
        Some(name) => restriction(ddl, name)?,
        None => Oid(0),
    };
    let join = match &options.join {
        Some(name) => join_estimator(ddl, name)?,
        None => Oid(0),
    };
    let name = &create.name.name;
    demand_valid(name)?;
    lock_name(ddl, &schema, name, left, right)?;
    let known = within(ddl, schema.oid, name, left, right);
    if known.as_ref().is_some_and(|known| known.function != Oid(0)) {
        let message = format!("operator {name} already exists");
        return Err(SqlError::new(SqlState::DUPLICATE_FUNCTION, message));
    }
    if let Some(shell) = &known {
        demand_owner(ddl, shell)?;
    }
    let only = |what: &str, unless: bool, given: bool, can: &str| match given && !unless {
        true => Err(invalid(format!("only {what} operators can {can}"))),
        false => Ok(()),
    };
    let (binary, boolean) = (left.0 != 0, called.result.0 == oids::BOOL);
    only("binary", binary, options.commutator.is_some(), "have commutators")?;
    only("binary", binary, options.join.is_some(), "have join selectivity")?;
    only("binary", binary, options.merges, "merge join")?;
    only("binary", binary, options.hashes, "hash")?;
    only("boolean", boolean, options.negator.is_some(), "have negators")?;
    only("boolean", boolean, options.restrict.is_some(), "have restriction selectivity")?;
    only("boolean", boolean, options.join.is_some(), "have join selectivity")?;
    only("boolean", boolean, options.merges, "merge join")?;
    only("boolean", boolean, options.hashes, "hash")?;
    ddl.hold_schema(&schema)?;
    ddl.owner_to_stay()?;
    let oid = known.as_ref().map(|shell| shell.oid);
    let own = Own { schema: schema.oid, name: Arc::clone(name), left, right, oid };
    let commutator = match &options.commutator {
        Some(other) => own.other(ddl, other, (right, left), true)?,
        None => Some(Oid(0)),
    };
    let negator = match &options.negator {
        Some(other) => own.other(ddl, other, (left, right), false)?,
        None => Some(Oid(0)),
    };
    // Shells are older than who names them.
    let oid = match oid {
        Some(oid) => oid,
        None => ddl.catalog.next_oid()?,
    };
    let (commutator, negator) = (commutator.unwrap_or(oid), negator.unwrap_or(oid));
    let owner = ddl.user;
    let next = Attachment::Operator(Arc::new(UserOperator {
        oid,
        schema: schema.oid,
        name: Arc::clone(name),
        owner,
        left,
        right,
        result: called.result,
        commutator,
        negator,
        function: called.oid,
        restrict,
        join,
        can_merge: options.merges,
        can_hash: options.hashes,
    }));
    attachment::hold_needs(ddl, &next)?;
    attachment::put(ddl, &next)?;
    for (other, is_commutator) in [(commutator, true), (negator, false)] {
        link(ddl, other, oid, is_commutator)?;
    }
    Ok(WORDS)
}

fn demand_valid(name: &str) -> Result<()> {
    if is_valid(name) {
        return Ok(());
    }
    let message = format!("\"{name}\" is not a valid operator name");
    Err(SqlError::new(SqlState::INVALID_NAME, message))
}

/// Another operator leads back to this one, if it leads nowhere yet.
fn link(ddl: &mut Ddl<'_>, other: Oid, to: Oid, is_commutator: bool) -> Result<()> {
    let Some(found) = ddl.snapshot().user_operator(other).cloned() else { return Ok(()) };
    let mut next = UserOperator::clone(&found);
    let field = if is_commutator { &mut next.commutator } else { &mut next.negator };
    if field.0 != 0 || other == to {
        return Ok(());
    }
    *field = to;
    attachment::put(ddl, &Attachment::Operator(Arc::new(next)))
}

/// The operator that is being made.
struct Own {
    schema: Oid,
    name: Arc<str>,
    left: Oid,
    right: Oid,
    /// Of the shell that it fills.
    oid: Option<Oid>,
}

impl Own {
    /// The operator that is named as commutator or negator, made as a shell where it is not there (`get_other_operator`);
    /// none is this one itself.
    fn other(
        &self,
        ddl: &mut Ddl<'_>,
        named: &Operator,
        (left, right): (Oid, Oid),
        is_commutator: bool,
    ) -> Result<Option<Oid>> {
        let snapshot = ddl.snapshot();
        if let Some(found) = find(ddl, named, left, right)? {
            if Some(found.oid) == self.oid && !is_commutator {
                return Err(own_negator());
            }
            return Ok(Some(found.oid));
        }
        let schema = ddl.creation_schema_unchecked(&object_name(named))?;
        let same = schema.oid == self.schema
            && named.name == self.name
            && (left, right) == (self.left, self.right);
        if same {
            return if is_commutator { Ok(None) } else { Err(own_negator()) };
        }
        if !snapshot.may_create_in(ddl.user, &schema) {
            return Err(super::resolve::denied_schema(&schema));
        }
        demand_valid(&named.name)?;
        let owner = ddl.user;
        lock_name(ddl, &schema, &named.name, left, right)?;
        let shell = Attachment::Operator(Arc::new(UserOperator {
            oid: ddl.catalog.next_oid()?,
            schema: schema.oid,
            name: Arc::clone(&named.name),
            owner,
            left,
            right,
            result: Oid(0),
            commutator: Oid(0),
            negator: Oid(0),
            function: Oid(0),
            restrict: Oid(0),
            join: Oid(0),
            can_merge: false,
            can_hash: false,
        }));
        attachment::hold_needs(ddl, &shell)?;
        attachment::put(ddl, &shell)?;
        Ok(Some(shell.oid()))
    }
}

fn own_negator() -> SqlError {
    invalid("operator cannot be its own negator")
}

/// Keeps others from making an operator of this name over these types meanwhile.
fn lock_name(ddl: &mut Ddl<'_>, schema: &Schema, name: &str, left: Oid, right: Oid) -> Result<()> {
    let text = format!("{name}({left},{right})");
    ddl.catalog.lock_name(ddl.transaction, Class::Operator, schema.oid, &text)
}

/// The operator of a schema with this name and these types.
fn within(
    ddl: &mut Ddl<'_>,
    schema: Oid,
    name: &str,
    left: Oid,
    right: Oid,
) -> Option<Arc<UserOperator>> {
    let snapshot = ddl.snapshot();
    let built_in = |found: &&Arc<UserOperator>| {
        found.schema == schema && (found.left, found.right) == (left, right)
    };
    snapshot.user_operators_named(name).into_iter().find(built_in).cloned()
}

/// An operator by its name and its operands, shells too.
struct Found {
    oid: Oid,
    made: Option<Arc<UserOperator>>,
}

/// The operator of a name, in its schema or along the path, that takes exactly these types.
///
/// # Errors
/// 3F000.
fn find(ddl: &mut Ddl<'_>, named: &Operator, left: Oid, right: Oid) -> Result<Option<Found>> {
    let snapshot = ddl.snapshot();
    let takes = |found: &OperatorOf<'_>| (found.left, found.right) == (left.0, right.0);
    let candidates = match &named.schema {
        Some(name) => {
            let schema = snapshot.schema(name).ok_or_else(|| undefined_schema(name))?.oid;
            let mut candidates = snapshot.operators_named(&named.name, left.0 == 0);
            candidates.retain(|found| found.schema == schema);
            candidates
        }
        None => snapshot.operators_along(&ddl.path().schemas, &named.name, left.0 == 0),
    };
    let found = candidates.into_iter().find(takes);
    Ok(found
        .map(|found| Found { oid: found.oid, made: snapshot.user_operator(found.oid).cloned() }))
}

/// The OID of the operator that a signature names, or that a name means between two operands of one type.
///
/// # Errors
/// 42883, 42704, 3F000.
pub(super) fn looked_up(
    ddl: &mut Ddl<'_>,
    name: &Operator,
    operands: std::result::Result<&OperatorSignature, Oid>,
) -> Result<Oid> {
    let input = match operands {
        Ok(signature) => return Ok(signed(ddl, signature)?.oid),
        Err(input) => input,
    };
    if let Some(found) = find(ddl, name, input, input)? {
        return Ok(found.oid);
    }
    let (name, shown) = (object_name(name), ddl.plain_type_shown(SqlType::plain(input.0)));
    let message = format!("operator does not exist: {shown} {name} {shown}");
    Err(SqlError::new(SqlState::UNDEFINED_FUNCTION, message))
}

/// The operator that a signature names.
///
/// # Errors
/// 42883, 42704, 3F000; 42601 for what stands behind its operand.
fn signed(ddl: &mut Ddl<'_>, signature: &OperatorSignature) -> Result<Found> {
    let mut operand = |name: &Option<TypeName>| match name {
        None => Ok(Oid(0)),
        Some(name) => type_named(ddl, name),
    };
    let (left, right) = (operand(&signature.left)?, operand(&signature.right)?);
    if let Some(found) = find(ddl, &signature.name, left, right)? {
        return Ok(found);
    }
    if right.0 == 0 {
        return Err(syntax("postfix operators are not supported".to_owned()));
    }
    let name = object_name(&signature.name);
    let right = ddl.plain_type_shown(SqlType::plain(right.0));
    let message = match left.0 {
        0 => format!("operator does not exist: {name} {right}"),
        left => {
            let left = ddl.plain_type_shown(SqlType::plain(left));
            format!("operator does not exist: {left} {name} {right}")
        }
    };
    Err(SqlError::new(SqlState::UNDEFINED_FUNCTION, message))
}

fn demand_owner(ddl: &mut Ddl<'_>, operator: &UserOperator) -> Result<()> {
    let user = ddl.user;
    if ddl.snapshot().shared().has_privileges_of(user, operator.owner) {
        return Ok(());
    }
    Err(must_own("operator", &operator.name))
}

/// The operator that a signature names, which the user owns and others leave as it is.
///
/// # Errors
/// Those of looking it up; 42501; 2BP01 for one that is built in.
pub(super) fn owned(
    ddl: &mut Ddl<'_>,
    signature: &OperatorSignature,
    verb: &str,
) -> Result<Arc<UserOperator>> {
    let found = signed(ddl, signature)?;
    let Some(made) = found.made else {
        if !ddl.superuser() {
            return Err(must_own("operator", &signature.name.name));
        }
        if verb != "drop" {
            let message = format!("{verb} OPERATOR of a built-in operator is");
            return Err(SqlError::unsupported(message));
        }
        let snapshot = ddl.snapshot();
        let shown = snapshot.operator(found.oid).map(|found| {
            let side = |ty: u32| match ty {
                0 => "NONE".to_owned(),
                ty => ddl.plain_type_shown(SqlType::plain(ty)),
            };
            let mut sides = [found.left, found.right].map(side).into_iter();
            let (left, right) =
                (sides.next().unwrap_or_default(), sides.next().unwrap_or_default());
            format!("{}({left},{right})", found.name)
        });
        if let Some(extension) = crate::catalog::extension::of_member(found.oid.0) {
            let shown = format!("operator {}", shown.unwrap_or_default());
            return Err(super::extension::required(&shown, extension.name));
        }
        let message = format!(
            "cannot drop operator {} because it is required by the database system",
            shown.unwrap_or_default()
        );
        return Err(SqlError::new(SqlState::DEPENDENT_OBJECTS_STILL_EXIST, message));
    };
    let key = ddl.catalog.key(Class::Operator, made.oid);
    ddl.catalog.lock(ddl.transaction, key)?;
    let Some(made) = ddl.snapshot().user_operator(made.oid).cloned() else {
        return Err(super::resolve::dropped_meanwhile("operator"));
    };
    Ok(made)
}

/// The OID of the operator that COMMENT names.
///
/// # Errors
/// As [`owned`].
pub(super) fn commented(ddl: &mut Ddl<'_>, signature: &OperatorSignature) -> Result<Oid> {
    let found = owned(ddl, signature, "COMMENT ON")?;
    demand_owner(ddl, &found)?;
    Ok(found.oid)
}

/// ALTER OPERATOR.
///
/// # Errors
/// 42883, 42601, 42501, 42P13, 3F000.
pub fn alter_operator(ddl: &mut Ddl<'_>, alter: &AlterOperator) -> Result<&'static str> {
    signed(ddl, &alter.operator)?;
    if let OperatorChange::Options(options) = &alter.change {
        options.iter().try_for_each(|(name, _)| demand_changeable(name))?;
    }
    let found = owned(ddl, &alter.operator, "ALTER")?;
    demand_owner(ddl, &found)?;
    let mut next = UserOperator::clone(&found);
    match &alter.change {
        OperatorChange::Owner(role) => {
            let owner = ddl.role_to_stay(role)?;
            if owner.oid != found.owner {
                ddl.may_give(&owner, found.schema)?;
                next.owner = owner.oid;
            }
        }
        OperatorChange::Schema(name) => {
            let name = ObjectName { parts: vec![Arc::clone(name), Arc::clone(&found.name)], at: 0 };
            let schema = ddl.creation_schema(&name, 'p')?;
            lock_name(ddl, &schema, &found.name, found.left, found.right)?;
            let other = within(ddl, schema.oid, &found.name, found.left, found.right);
            if other.is_some_and(|other| other.oid != found.oid) {
                let message = "duplicate key value violates unique constraint \"pg_operator_oprname_l_r_n_index\"";
                return Err(SqlError::new(SqlState::UNIQUE_VIOLATION, message));
            }
            ddl.hold_schema(&schema)?;
            next.schema = schema.oid;
        }
        OperatorChange::Options(options) => {
            for (name, value) in options {
                let estimates = matches!(&**name, "restrict" | "join");
                let estimator = match value {
                    Some(DefinitionValue::Nothing) => None,
                    _ if !estimates => None,
                    value => Some(as_name(name, value.as_ref())?),
                };
                match &**name {
                    "restrict" => {
                        next.restrict = match &estimator {
                            Some(name) => restriction(ddl, name)?,
                            None => Oid(0),
                        };
                    }
                    "join" => {
                        next.join = match &estimator {
                            Some(name) => join_estimator(ddl, name)?,
                            None => Oid(0),
                        };
                    }
                    _ => {}
                }
            }
            if next.left.0 == 0 && next.join.0 != 0 {
                return Err(invalid("only binary operators can have join selectivity"));
            }
            if next.result.0 != oids::BOOL && next.restrict.0 != 0 {
                return Err(invalid("only boolean operators can have restriction selectivity"));
            }
            if next.result.0 != oids::BOOL && next.join.0 != 0 {
                return Err(invalid("only boolean operators can have join selectivity"));
            }
        }
    }
    let moved = next.schema != found.schema;
    let next = Attachment::Operator(Arc::new(next));
    attachment::hold_needs(ddl, &next)?;
    let (before, edge) = (ddl.snapshot(), Edge::Operator(found.oid));
    attachment::put(ddl, &next)?;
    if moved {
        let users = before.depending(edge).collect();
        ddl.put_reprinted(&before, &users, &|made| made.contains(&edge))?;
    }
    Ok("ALTER OPERATOR")
}

/// 42601 for what SET of ALTER OPERATOR may not name.
fn demand_changeable(name: &str) -> Result<()> {
    let why = match name {
        "restrict" | "join" => return Ok(()),
        "leftarg" | "rightarg" | "function" | "procedure" | "commutator" | "negator" | "hashes"
        | "merges" => "cannot be changed",
        _ => "not recognized",
    };
    Err(syntax(format!("operator attribute \"{name}\" {why}")))
}

/// DROP OPERATOR.
///
/// # Errors
/// 42883, 42501, 2BP01.
pub fn drop_operator(ddl: &mut Ddl<'_>, drop: &DropOperator) -> Result<&'static str> {
    let mut going = Vec::new();
    for signature in &drop.operators {
        if drop.if_exists
            && let Some(missing) = missing(ddl, signature)
        {
            let message = format!("{missing} does not exist, skipping");
            ddl.notice(SqlState::SUCCESSFUL_COMPLETION, message);
            continue;
        }
        let found = owned(ddl, signature, "drop")?;
        let user = ddl.user;
        let snapshot = ddl.snapshot();
        let schema = snapshot.schema_by_oid(found.schema);
        let owns_schema =
            schema.is_some_and(|schema| snapshot.shared().has_privileges_of(user, schema.owner));
        if !owns_schema {
            demand_owner(ddl, &found)?;
        }
        going.push(Attachment::Operator(found));
    }
    going.sort_by_key(Attachment::oid);
    going.dedup_by_key(|one| one.oid());
    attachment::drop_all(ddl, &going, drop.cascade)?;
    Ok("DROP OPERATOR")
}

/// What of a signature is not there: its schema, a type, or the operator.
fn missing(ddl: &mut Ddl<'_>, signature: &OperatorSignature) -> Option<String> {
    let snapshot = ddl.snapshot();
    let absent = |schema: Option<&Arc<str>>| {
        let schema = schema.filter(|schema| snapshot.schema(schema).is_none());
        schema.map(|schema| format!("schema \"{schema}\""))
    };
    if let Some(schema) = absent(signature.name.schema.as_ref()) {
        return Some(schema);
    }
    for ty in signature.left.iter().chain(&signature.right) {
        if let Some(schema) = absent(ty.name.schema()) {
            return Some(schema);
        }
        if ddl.semantics.type_of(&snapshot, ty).is_err() {
            return Some(format!("type \"{}\"", ty.name));
        }
    }
    match signed(ddl, signature) {
        Err(error) if error.state() == SqlState::UNDEFINED_FUNCTION => {
            Some(format!("operator {}", object_name(&signature.name)))
        }
        _ => None,
    }
}
