//! Routines as written: functions, procedures and aggregates, made, changed and dropped.

use super::{Ident, ObjectName};
use std::ops::Deref;

/// CREATE AGGREGATE.
#[derive(Clone, Debug, PartialEq)]
pub struct CreateAggregate {
    /// OR REPLACE.
    pub replace: bool,
    /// In the old form, which lists no arguments.
    pub old: bool,
    /// Its name.
    pub name: ObjectName,
    /// Its arguments.
    pub parameters: Vec<RoutineParameter>,
    /// How many of them are given once for a group, where the others are what its rows are sorted by.
    pub direct: Option<usize>,
    /// What is said of it, in any order, each with its place in the text.
    pub options: Vec<(Ident, AggregateOption)>,
}

/// What an option of CREATE AGGREGATE says.
#[derive(Clone, Debug, PartialEq)]
pub enum AggregateOption {
    /// A function.
    Name(ObjectName),
    /// A type.
    Type(super::TypeName),
    /// A text, a number or a word.
    Text(Ident),
    /// An operator.
    Operator(super::Operator),
    /// Yes or no.
    Flag(bool),
}

/// CREATE FUNCTION, CREATE PROCEDURE.
#[derive(Clone, Debug, PartialEq)]
pub struct CreateRoutine {
    /// OR REPLACE.
    pub replace: bool,
    /// A procedure.
    pub procedure: bool,
    /// Its name.
    pub name: ObjectName,
    /// Its parameters.
    pub parameters: Vec<RoutineParameter>,
    /// RETURNS.
    pub returns: Option<Returns>,
    /// What is said of it, in any order, each with its place in the text.
    pub options: Vec<(RoutineOption, u32)>,
}

/// A parameter of a routine.
#[derive(Clone, Debug, PartialEq)]
pub struct RoutineParameter {
    /// Its name.
    pub name: Option<Ident>,
    /// How it is passed.
    pub mode: ParameterMode,
    /// Its type.
    pub ty: super::TypeName,
    /// DEFAULT.
    pub default: Option<super::Expr>,
}

/// How a parameter is passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParameterMode {
    /// IN.
    In,
    /// OUT.
    Out,
    /// INOUT.
    InOut,
    /// VARIADIC.
    Variadic,
}

/// RETURNS.
#[derive(Clone, Debug, PartialEq)]
pub enum Returns {
    /// A type, or SETOF one.
    Type(super::TypeName),
    /// TABLE.
    Table(Vec<(Ident, super::TypeName)>),
}

/// What is said of a routine.
#[derive(Clone, Debug, PartialEq)]
pub enum RoutineOption {
    /// LANGUAGE.
    Language(Ident),
    /// IMMUTABLE, STABLE, VOLATILE: i, s, v.
    Volatility(u8),
    /// STRICT and its kin.
    Strict(bool),
    /// SECURITY DEFINER or INVOKER.
    SecurityDefiner(bool),
    /// LEAKPROOF.
    Leakproof(bool),
    /// PARALLEL.
    Parallel(Ident),
    /// COST.
    Cost(Ident),
    /// ROWS.
    Rows(Ident),
    /// SET, RESET.
    Setting(super::SettingChange),
    /// AS, and where the body begins in the query text.
    Body(Ident, u32),
    /// SUPPORT.
    Support(ObjectName),
    /// WINDOW.
    Window,
    /// RETURN, BEGIN ATOMIC.
    Standard(StandardBody),
}

/// A body of the standard's form, which is parsed with the statement that it stands in.
#[derive(Clone, Debug, PartialEq)]
pub struct StandardBody {
    /// BEGIN ATOMIC ... END; else RETURN alone.
    pub atomic: bool,
    /// Its statements, without those that are empty.
    pub statements: Vec<BodyStatement>,
}

/// A statement of such a body.
#[derive(Clone, Debug, PartialEq)]
pub struct BodyStatement {
    /// The statement; RETURN is a SELECT of what it returns.
    pub statement: super::Statement,
    /// RETURN.
    pub returns: bool,
    /// Its first byte in the text; that of the expression behind RETURN.
    pub start: u32,
    /// Behind its last byte.
    pub end: u32,
}

/// ALTER FUNCTION, PROCEDURE, ROUTINE.
#[derive(Clone, Debug, PartialEq)]
pub struct AlterRoutine {
    /// Which of these words the statement says.
    pub word: &'static str,
    /// Its name.
    pub name: ObjectName,
    /// The types of what is passed in, where they are given.
    pub arguments: Option<RoutineArguments>,
    /// What becomes of it.
    pub change: RoutineChange,
}

/// What ALTER FUNCTION changes.
#[derive(Clone, Debug, PartialEq)]
pub enum RoutineChange {
    /// OWNER TO.
    Owner(Ident),
    /// RENAME TO.
    Rename(Ident),
    /// SET SCHEMA.
    Schema(Ident),
    /// What CREATE says of it, too, each with its place in the text.
    Options(Vec<(RoutineOption, u32)>),
}

/// The arguments by which a routine is told from others of its name: the types of what is passed in.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RoutineArguments {
    /// These types.
    pub types: Vec<super::TypeName>,
    /// Whether IN, OUT, INOUT or VARIADIC is said of one. Where not, they may be the types of all parameters of a procedure.
    pub has_modes: bool,
}

impl Deref for RoutineArguments {
    type Target = [super::TypeName];

    fn deref(&self) -> &[super::TypeName] {
        &self.types
    }
}

/// DROP FUNCTION, PROCEDURE, ROUTINE.
#[derive(Clone, Debug, PartialEq)]
pub struct DropRoutine {
    /// Which of these words the statement says.
    pub word: &'static str,
    /// Which, with their arguments, where they are given.
    pub routines: Vec<(ObjectName, Option<RoutineArguments>)>,
    /// IF EXISTS.
    pub if_exists: bool,
    /// CASCADE.
    pub cascade: bool,
}
