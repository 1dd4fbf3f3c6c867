//! Operator classes, operator families and conversions as written.

use super::{Ident, ObjectName, Operator, OperatorSignature, RoutineArguments, TypeName};

/// CREATE OPERATOR CLASS.
#[derive(Clone, Debug, PartialEq)]
pub struct CreateOperatorClass {
    /// Its name.
    pub name: ObjectName,
    /// DEFAULT.
    pub default: bool,
    /// FOR TYPE.
    pub ty: TypeName,
    /// USING.
    pub method: Ident,
    /// FAMILY.
    pub family: Option<ObjectName>,
    /// AS.
    pub items: Vec<ClassItem>,
}

/// What an operator class or family has.
#[derive(Clone, Debug, PartialEq)]
pub enum ClassItem {
    /// OPERATOR, by its name alone or with the types of its operands.
    Operator {
        /// The strategy.
        number: i32,
        /// The operator.
        name: Operator,
        /// The same with its operands.
        signature: Option<OperatorSignature>,
        /// FOR ORDER BY: the family that its result is sorted by.
        sort_family: Option<ObjectName>,
    },
    /// FUNCTION.
    Function {
        /// Which support function.
        number: i32,
        /// For which types, where that is not what it takes.
        types: Vec<TypeName>,
        /// The function.
        name: ObjectName,
        /// What it takes.
        arguments: Option<RoutineArguments>,
    },
    /// STORAGE.
    Storage(TypeName),
}

/// CREATE OPERATOR FAMILY.
#[derive(Clone, Debug, PartialEq)]
pub struct CreateOperatorFamily {
    /// Its name.
    pub name: ObjectName,
    /// USING.
    pub method: Ident,
}

/// Which of the kinds that an access method has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OperatorPart {
    /// OPERATOR CLASS.
    Class,
    /// OPERATOR FAMILY.
    Family,
}

/// ALTER OPERATOR CLASS, ALTER OPERATOR FAMILY.
#[derive(Clone, Debug, PartialEq)]
pub struct AlterOperatorPart {
    /// Which.
    pub part: OperatorPart,
    /// Its name.
    pub name: ObjectName,
    /// USING.
    pub method: Ident,
    /// What becomes of it.
    pub change: OperatorPartChange,
}

/// What ALTER OPERATOR CLASS and FAMILY change.
#[derive(Clone, Debug, PartialEq)]
pub enum OperatorPartChange {
    /// OWNER TO.
    Owner(Ident),
    /// RENAME TO.
    Rename(Ident),
    /// SET SCHEMA.
    Schema(Ident),
    /// ADD.
    Add(Vec<ClassItem>),
    /// DROP: whether it is a function, its number, and for which types.
    Drop(Vec<(bool, i32, Vec<TypeName>)>),
}

/// DROP OPERATOR CLASS, DROP OPERATOR FAMILY.
#[derive(Clone, Debug, PartialEq)]
pub struct DropOperatorPart {
    /// Which.
    pub part: OperatorPart,
    /// Its name.
    pub name: ObjectName,
    /// USING.
    pub method: Ident,
    /// IF EXISTS.
    pub if_exists: bool,
    /// CASCADE.
    pub cascade: bool,
}

/// CREATE CONVERSION.
#[derive(Clone, Debug, PartialEq)]
pub struct CreateConversion {
    /// Its name.
    pub name: ObjectName,
    /// DEFAULT.
    pub default: bool,
    /// FOR.
    pub source: Ident,
    /// TO.
    pub target: Ident,
    /// FROM.
    pub function: ObjectName,
}

/// ALTER CONVERSION.
#[derive(Clone, Debug, PartialEq)]
pub struct AlterConversion {
    /// Its name.
    pub name: ObjectName,
    /// What becomes of it: ADD and DROP are not said of it.
    pub change: OperatorPartChange,
}

/// DROP CONVERSION.
#[derive(Clone, Debug, PartialEq)]
pub struct DropConversion {
    /// Their names.
    pub names: Vec<ObjectName>,
    /// IF EXISTS.
    pub if_exists: bool,
    /// CASCADE.
    pub cascade: bool,
}
