//! Operators, casts and event triggers as written.

use super::{Ident, ObjectName, Operator, RoutineArguments, TypeName};

/// An option of CREATE OPERATOR: its name and what stands behind the sign, if there is one.
pub type DefinitionOption = (Ident, Option<DefinitionValue>);

/// What an option is set to (`def_arg`).
#[derive(Clone, Debug, PartialEq)]
pub enum DefinitionValue {
    /// A type, or any other name.
    Type(TypeName),
    /// An operator.
    Operator(Operator),
    /// A string, a number or a reserved word.
    Text(Ident),
    /// NONE.
    Nothing,
}

/// CREATE OPERATOR.
#[derive(Clone, Debug, PartialEq)]
pub struct CreateOperator {
    /// Its name.
    pub name: Operator,
    /// What is said of it.
    pub options: Vec<DefinitionOption>,
}

/// An operator by its name and the types of its operands.
#[derive(Clone, Debug, PartialEq)]
pub struct OperatorSignature {
    /// Its name.
    pub name: Operator,
    /// The left operand's; none for NONE.
    pub left: Option<TypeName>,
    /// The right operand's.
    pub right: Option<TypeName>,
}

/// ALTER OPERATOR.
#[derive(Clone, Debug, PartialEq)]
pub struct AlterOperator {
    /// Which.
    pub operator: OperatorSignature,
    /// What becomes of it.
    pub change: OperatorChange,
}

/// What ALTER OPERATOR changes.
#[derive(Clone, Debug, PartialEq)]
pub enum OperatorChange {
    /// OWNER TO.
    Owner(Ident),
    /// SET SCHEMA.
    Schema(Ident),
    /// SET (...).
    Options(Vec<DefinitionOption>),
}

/// DROP OPERATOR.
#[derive(Clone, Debug, PartialEq)]
pub struct DropOperator {
    /// Which.
    pub operators: Vec<OperatorSignature>,
    /// IF EXISTS.
    pub if_exists: bool,
    /// CASCADE.
    pub cascade: bool,
}

/// CREATE CAST.
#[derive(Clone, Debug, PartialEq)]
pub struct CreateCast {
    /// From.
    pub source: TypeName,
    /// To.
    pub target: TypeName,
    /// How.
    pub method: CastWay,
    /// `castcontext`: i, a or e.
    pub context: u8,
}

/// How a cast is made.
#[derive(Clone, Debug, PartialEq)]
pub enum CastWay {
    /// WITH FUNCTION.
    Function(ObjectName, Option<RoutineArguments>),
    /// WITHOUT FUNCTION.
    Binary,
    /// WITH INOUT.
    InOut,
}

/// DROP CAST.
#[derive(Clone, Debug, PartialEq)]
pub struct DropCast {
    /// From.
    pub source: TypeName,
    /// To.
    pub target: TypeName,
    /// IF EXISTS.
    pub if_exists: bool,
    /// CASCADE.
    pub cascade: bool,
}

/// CREATE EVENT TRIGGER.
#[derive(Clone, Debug, PartialEq)]
pub struct CreateEventTrigger {
    /// Its name.
    pub name: Ident,
    /// ON.
    pub event: Ident,
    /// WHEN ... IN.
    pub filters: Vec<(Ident, Vec<Ident>)>,
    /// EXECUTE FUNCTION.
    pub function: ObjectName,
}

/// ALTER EVENT TRIGGER.
#[derive(Clone, Debug, PartialEq)]
pub struct AlterEventTrigger {
    /// Which.
    pub name: Ident,
    /// What becomes of it.
    pub change: EventTriggerChange,
}

/// What ALTER EVENT TRIGGER changes.
#[derive(Clone, Debug, PartialEq)]
pub enum EventTriggerChange {
    /// ENABLE, DISABLE: `evtenabled`.
    Enabled(u8),
    /// OWNER TO.
    Owner(Ident),
    /// RENAME TO.
    Rename(Ident),
}

/// DROP EVENT TRIGGER.
#[derive(Clone, Debug, PartialEq)]
pub struct DropEventTrigger {
    /// Which.
    pub names: Vec<Ident>,
    /// IF EXISTS.
    pub if_exists: bool,
    /// CASCADE.
    pub cascade: bool,
}

/// What COMMENT is on that no name alone tells.
#[derive(Clone, Debug, PartialEq)]
pub enum CommentTarget {
    /// An operator.
    Operator(OperatorSignature),
    /// A cast.
    Cast(TypeName, TypeName),
    /// An event trigger.
    EventTrigger(Ident),
    /// An operator class or family, with its access method.
    Part(super::OperatorPart, ObjectName, Ident),
    /// A conversion.
    Conversion(ObjectName),
}
