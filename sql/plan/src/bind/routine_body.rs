//! The names that a body in SQL knows beside those of its statements: the parameters of its routine (`sql_fn_post_column_ref` of
//! `functions.c`).

use crate::bind::{Binder, Environment, Variable, VariableConflict, Variables};
use crate::catalog::routine::Routine;
use crate::error::Result;
use crate::parse::ast::Ident;
use crate::types::{Oid, SqlType, oids};
use std::sync::Arc;

/// The types that the parameters of a routine have in a call with arguments of these types.
///
/// # Errors
/// 42804 where the arguments do not say what polymorphic types stand for.
pub fn parameter_types(
    environment: Environment<'_>,
    routine: &Routine,
    arguments: &[Oid],
) -> Result<Vec<Oid>> {
    let declared = routine.input_types();
    let binder = Binder::new(environment, "", &[]);
    let (inputs, _) = binder.resolve_polymorphic(&declared, arguments, oids::VOID, 0)?;
    let mut inputs = inputs.into_iter();
    let types = routine.parameters.iter().map(|parameter| {
        if parameter.is_input() {
            return Ok(inputs.next().unwrap_or(parameter.ty));
        }
        let resolved = binder.resolve_polymorphic(&declared, arguments, parameter.ty.0, 0)?;
        Ok(resolved.1)
    });
    types.collect()
}

/// The parameters of a routine in SQL, each a variable with its number among all.
#[derive(Clone, Debug)]
pub struct Parameters {
    function: Arc<str>,
    names: Vec<Arc<str>>,
    types: Vec<SqlType>,
    /// Those that callers give, which alone have names and numbers in the body.
    inputs: Vec<u32>,
}

impl Parameters {
    /// Those of a routine.
    #[must_use]
    pub fn of(routine: &Routine) -> Parameters {
        let all = || routine.parameters.iter();
        let numbered = all().enumerate();
        Parameters {
            function: Arc::clone(&routine.name),
            names: all().map(|parameter| Arc::clone(&parameter.name)).collect(),
            types: all().map(|parameter| SqlType { oid: parameter.ty, typmod: -1 }).collect(),
            inputs: numbered
                .filter(|(_, parameter)| parameter.is_input())
                .map(|(at, _)| at as u32)
                .collect(),
        }
    }

    /// Those of a routine in a call in which they have these types.
    #[must_use]
    pub fn with_types(routine: &Routine, types: &[Oid]) -> Parameters {
        let types = types.iter().map(|oid| SqlType { oid: *oid, typmod: -1 }).collect();
        Parameters { types, ..Parameters::of(routine) }
    }

    /// The routine's name.
    #[must_use]
    pub fn function(&self) -> &str {
        &self.function
    }

    /// The name of a parameter, empty if it has none.
    #[must_use]
    pub fn name(&self, number: u32) -> Option<&str> {
        self.names.get(number as usize).map(|name| &**name)
    }

    /// The number by which `$n` means a parameter.
    #[must_use]
    pub fn position(&self, number: u32) -> Option<u32> {
        self.inputs.iter().position(|input| *input == number).map(|at| at as u32 + 1)
    }

    fn input(&self, name: &str) -> Option<u32> {
        let mut inputs = self.inputs.iter().copied();
        inputs.find(|at| !name.is_empty() && *self.names[*at as usize] == *name)
    }

    fn variable(&self, number: u32, field: Option<Ident>) -> Variable {
        Variable { number, ty: self.types[number as usize], fields: None, field, name: None }
    }
}

impl Variables for Parameters {
    fn types(&self) -> &[SqlType] {
        &self.types
    }

    fn find(&self, parts: &[Ident]) -> Result<Option<Variable>> {
        let own = |first: &Ident| **first == *self.function;
        Ok(match parts {
            [name] => self.input(name).map(|at| self.variable(at, None)),
            [function, name] => match self.input(name).filter(|_| own(function)) {
                Some(at) => Some(self.variable(at, None)),
                None => self.input(function).map(|at| self.variable(at, Some(name.clone()))),
            },
            [function, name, field] if own(function) => {
                self.input(name).map(|at| self.variable(at, Some(field.clone())))
            }
            _ => None,
        })
    }

    fn parameter(&self, number: u32) -> Option<Variable> {
        let at = self.inputs.get(number.checked_sub(1)? as usize)?;
        Some(self.variable(*at, None))
    }

    fn conflict(&self) -> VariableConflict {
        VariableConflict::UseColumn
    }

    fn wanted(&self) -> Option<SqlType> {
        None
    }

    fn assigned(&self) -> Option<Variable> {
        None
    }
}
