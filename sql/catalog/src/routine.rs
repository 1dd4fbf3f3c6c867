//! Functions and procedures that users made: rows of `pg_proc`.
//!
//! Their privileges stand where those of built-in functions do (`Class::Acl`), and names are resolved over both alike: a
//! routine shows itself as a [`ProcedureOf`].

use crate::builtin::{ArgumentMode, Kind, ProcedureOf, Volatility};
use crate::definition::{Definition, Edges, Expression};
use sql_types::Oid;
use sql_types::tuple::Form;
use std::sync::Arc;

/// `pg_language` of what is in the server itself: aggregates.
pub const INTERNAL: u32 = 12;
/// `pg_language` of SQL.
pub const SQL: u32 = 14;
/// `pg_language` of PL/pgSQL.
pub const PLPGSQL: u32 = 13563;

/// `internal`: a state that only functions of the server know.
pub const INTERNAL_STATE: u32 = 2281;

/// A function or procedure.
#[derive(Clone, Debug, PartialEq)]
#[expect(clippy::struct_excessive_bools, reason = "they are pg_proc's columns")]
pub struct Routine {
    /// Its OID.
    pub oid: Oid,
    /// Its schema.
    pub schema: Oid,
    /// Its name.
    pub name: Arc<str>,
    /// Its owner.
    pub owner: Oid,
    /// Its language's OID.
    pub language: u32,
    /// A procedure, which CALL calls.
    pub procedure: bool,
    /// `provolatile`: i, s or v.
    pub volatility: u8,
    /// STRICT.
    pub strict: bool,
    /// SECURITY DEFINER.
    pub security_definer: bool,
    /// LEAKPROOF.
    pub leakproof: bool,
    /// `proparallel`: s, r or u.
    pub parallel: u8,
    /// COST.
    pub cost: f64,
    /// ROWS; 0 where it returns no set.
    pub rows: f64,
    /// SETOF, TABLE.
    pub returns_set: bool,
    /// The type of its result.
    pub result: Oid,
    /// Its parameters in order.
    pub parameters: Vec<Parameter>,
    /// SET.
    pub settings: Vec<(String, String)>,
    /// Its body; empty where it is of the standard's form.
    pub body: Arc<str>,
    /// SUPPORT.
    pub support: Oid,
    /// Its body of the standard's form: RETURN or BEGIN ATOMIC, its parameters as `$1` and so on. It was bound when the routine
    /// was made, and depends on what it names.
    pub standard: Option<Definition>,
    /// What it is made of, where it is an aggregate.
    pub aggregate: Option<Aggregate>,
}

/// The function of the server that is called by a name of its code for these types: its own, or such as are held alike.
#[must_use]
pub fn code_of(code: &str, arguments: &[u32], result: u32) -> Option<u32> {
    let alike = |own: u32, given: u32| {
        let pseudo = crate::builtin::type_by_oid(own).is_some_and(|ty| {
            ty.kind == crate::builtin::TypeKind::Pseudo && ty.name.starts_with("any")
        });
        own == given || pseudo || Form::of(Oid(own)) == Form::of(Oid(given))
    };
    let all = || crate::builtin::functions_of_code(code);
    let takes = |found: &&crate::builtin::Procedure, fits: &dyn Fn(u32, u32) -> bool| {
        found.arguments.len() == arguments.len()
            && found.arguments.iter().zip(arguments).all(|(own, given)| fits(*own, *given))
    };
    let exact = all().find(|found| takes(found, &|own, given| own == given));
    let found = exact.or_else(|| all().find(|found| takes(found, &alike)))?;
    (!found.returns_set && alike(found.result, result)).then_some(found.oid)
}

/// What an aggregate is made of: a row of `pg_aggregate`. A function that it does not have is 0.
#[derive(Clone, Debug, PartialEq)]
pub struct Aggregate {
    /// `aggkind`: n, o of an ordered-set aggregate, h of a hypothetical-set one.
    pub kind: u8,
    /// How many arguments are given once for a group.
    pub direct: u32,
    /// SFUNC.
    pub transition: Oid,
    /// FINALFUNC.
    pub finish: Oid,
    /// FINALFUNC_EXTRA.
    pub finish_extra: bool,
    /// FINALFUNC_MODIFY: r, s or w.
    pub finish_modify: u8,
    /// COMBINEFUNC.
    pub combine: Oid,
    /// SERIALFUNC.
    pub serialize: Oid,
    /// DESERIALFUNC.
    pub deserialize: Oid,
    /// SORTOP.
    pub sort_operator: Oid,
    /// STYPE.
    pub state: Oid,
    /// SSPACE.
    pub state_space: u32,
    /// INITCOND.
    pub initial: Option<Arc<str>>,
    /// What a moving frame would be computed with: it is kept and shown.
    pub moving: Moving,
}

/// What an aggregate says of moving frames.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Moving {
    /// MSFUNC.
    pub transition: Oid,
    /// MINVFUNC.
    pub inverse: Oid,
    /// MFINALFUNC.
    pub finish: Oid,
    /// MFINALFUNC_EXTRA.
    pub finish_extra: bool,
    /// MFINALFUNC_MODIFY.
    pub finish_modify: u8,
    /// MSTYPE.
    pub state: Oid,
    /// MSSPACE.
    pub state_space: u32,
    /// MINITCOND.
    pub initial: Option<Arc<str>>,
}

impl Aggregate {
    /// The built-in aggregate that computes it, where its state is one that only functions of the server know: it is made of
    /// the same functions.
    #[must_use]
    pub fn built_in(&self) -> Option<u32> {
        (self.state.0 == INTERNAL_STATE)
            .then(|| {
                crate::builtin::aggregate_made_of(
                    self.kind as char,
                    self.transition.0,
                    self.finish.0,
                )
            })
            .flatten()
    }

    /// The functions that it calls, each of which has to stay.
    pub fn functions(&self) -> impl Iterator<Item = Oid> {
        let moving = &self.moving;
        let all = [
            self.transition,
            self.finish,
            self.combine,
            self.serialize,
            self.deserialize,
            moving.transition,
            moving.inverse,
            moving.finish,
        ];
        all.into_iter().filter(|function| *function != Oid(0))
    }
}

/// A parameter.
#[derive(Clone, Debug, PartialEq)]
pub struct Parameter {
    /// Its name; empty if it has none.
    pub name: Arc<str>,
    /// `proargmodes`: i, o, b, v or t.
    pub mode: u8,
    /// Its type.
    pub ty: Oid,
    /// DEFAULT, of its type but where that is polymorphic.
    pub default: Option<Expression>,
}

impl Parameter {
    /// Whether callers give it.
    #[must_use]
    pub fn is_input(&self) -> bool {
        matches!(self.mode, b'i' | b'b' | b'v')
    }

    /// Whether it is a part of the result.
    #[must_use]
    pub fn is_output(&self) -> bool {
        matches!(self.mode, b'o' | b'b' | b't')
    }

    fn mode(&self) -> ArgumentMode {
        match self.mode {
            b'o' => ArgumentMode::Out,
            b'b' => ArgumentMode::InOut,
            b'v' => ArgumentMode::Variadic,
            b't' => ArgumentMode::Table,
            _ => ArgumentMode::In,
        }
    }
}

impl Routine {
    /// The types of what callers give.
    #[must_use]
    pub fn input_types(&self) -> Vec<u32> {
        self.inputs().map(|parameter| parameter.ty.0).collect()
    }

    /// What callers give.
    pub fn inputs(&self) -> impl Iterator<Item = &Parameter> {
        self.parameters.iter().filter(|parameter| parameter.is_input())
    }

    /// What all definitions of it depend on.
    pub fn definitions(&self) -> impl Iterator<Item = &Edges> {
        let body = self.standard.iter().map(Definition::edges);
        self.defaults().map(Expression::edges).chain(body)
    }

    /// The defaults of its last inputs, in order.
    pub fn defaults(&self) -> impl Iterator<Item = &Expression> {
        self.inputs().filter_map(|parameter| parameter.default.as_ref())
    }

    /// The same, to be changed.
    pub fn defaults_mut(&mut self) -> impl Iterator<Item = &mut Expression> {
        self.parameters.iter_mut().filter_map(|parameter| parameter.default.as_mut())
    }

    /// The function of the server that it is, in LANGUAGE internal.
    #[must_use]
    pub fn code(&self) -> Option<u32> {
        (self.language == INTERNAL && self.aggregate.is_none())
            .then(|| code_of(&self.body, &self.input_types(), self.result.0))
            .flatten()
    }

    /// The numbers of the parameters that are its result.
    #[must_use]
    pub fn outputs(&self) -> Vec<u32> {
        let numbered = self.parameters.iter().enumerate();
        numbered.filter(|(_, one)| one.is_output()).map(|(at, _)| at as u32).collect()
    }

    /// The names of the fields of the record that several results make; one without a name is called by its number.
    #[must_use]
    pub fn output_names(&self) -> Vec<Arc<str>> {
        let outputs = self.parameters.iter().filter(|one| one.is_output());
        let name = |(number, one): (usize, &Parameter)| match &*one.name {
            "" => format!("column{}", number + 1).into(),
            _ => Arc::clone(&one.name),
        };
        outputs.enumerate().map(name).collect()
    }

    /// The element type of a VARIADIC parameter; 0 if there is none.
    #[must_use]
    pub fn variadic(&self) -> u32 {
        let last = self.parameters.iter().find(|parameter| parameter.mode == b'v');
        last.map_or(0, |parameter| match parameter.ty.0 {
            sql_types::oids::ANY => sql_types::oids::ANY,
            2277 => 2283,
            5078 => 5077,
            array => crate::builtin::element_type(array).unwrap_or(0),
        })
    }

    /// The same as CALL has it, which gives something for each OUT parameter, too.
    #[must_use]
    pub fn called_procedure(&self) -> ProcedureOf<'_> {
        let mut procedure = self.procedure();
        procedure.arguments = self.parameters.iter().map(|parameter| parameter.ty.0).collect();
        procedure.all_arguments = None;
        procedure
    }

    /// What `pg_proc` says of it.
    #[must_use]
    pub fn procedure(&self) -> ProcedureOf<'_> {
        let plain = self.parameters.iter().all(|parameter| parameter.mode == b'i');
        let all = self.parameters.iter().map(|one| (one.ty.0, one.mode()));
        let named = self.parameters.iter().any(|parameter| !parameter.name.is_empty());
        let names = if named { &self.parameters[..] } else { &[] };
        ProcedureOf::made(crate::builtin::Made {
            oid: self.oid.0,
            name: &self.name,
            namespace: self.schema.0,
            owner: self.owner,
            language: self.language,
            cost: self.cost as f32,
            rows: self.rows as f32,
            variadic: self.variadic(),
            kind: match (&self.aggregate, self.procedure) {
                (Some(_), _) => Kind::Aggregate,
                (None, true) => Kind::Procedure,
                (None, false) => Kind::Function,
            },
            leakproof: self.leakproof,
            strict: self.strict,
            returns_set: self.returns_set,
            volatility: match self.volatility {
                b'i' => Volatility::Immutable,
                b's' => Volatility::Stable,
                _ => Volatility::Volatile,
            },
            parallel: self.parallel as char,
            result: self.result.0,
            arguments: self.input_types().into(),
            all_arguments: (!plain).then(|| all.collect()),
            argument_names: names.iter().map(|parameter| &*parameter.name).collect(),
            source: &self.body,
            support: self.support.0,
            default_count: self.defaults().count(),
            ordered_set: self
                .aggregate
                .as_ref()
                .filter(|aggregate| aggregate.kind != b'n')
                .map(|aggregate| (aggregate.kind as char, aggregate.direct as usize)),
        })
    }
}
