//! CREATE AGGREGATE, in the form that lists its arguments and in the old one, whose one argument is BASETYPE.

use super::ast::{
    AggregateOption, CreateAggregate, ParameterMode, RoutineArguments, RoutineParameter, Statement,
    TypeName,
};
use super::keyword::{Category, Keyword};
use super::lexer::Kind;
use super::parser::Parser;
use sql_types::error::{Result, SqlError};
use sql_types::sqlstate::SqlState;

impl Parser<'_> {
    /// CREATE [OR REPLACE] AGGREGATE, from that word.
    pub(super) fn create_aggregate(&mut self, replace: bool) -> Result<Statement> {
        self.advance();
        let name = self.function_name()?;
        let old = self.is_symbol(b'(') && self.kind_at(2) == Kind::Symbol(b'=');
        let (mut parameters, mut direct) = (Vec::new(), None);
        if !old {
            self.expect_symbol(b'(')?;
            if !self.accept_symbol(b'*') {
                (parameters, direct) = self.aggregate_parameters()?;
            }
            self.expect_symbol(b')')?;
        }
        let mut options = Vec::new();
        self.expect_symbol(b'(')?;
        loop {
            let name = self.label()?;
            let option = self.aggregate_option(&name)?;
            options.push((name, option));
            if !self.accept_symbol(b',') {
                break;
            }
        }
        self.expect_symbol(b')')?;
        if old && let Some(base) = base_type(&options) {
            let any = base.name.schema().is_none() && base.name.name().eq_ignore_ascii_case("any");
            if !any {
                let mode = ParameterMode::In;
                parameters.push(RoutineParameter { name: None, mode, ty: base, default: None });
            }
        }
        let create = CreateAggregate { replace, old, name, parameters, direct, options };
        Ok(Statement::CreateAggregate(Box::new(create)))
    }

    /// The arguments of an aggregate, and how many of them are given once where the others are what is sorted by
    /// (`aggr_args`). A VARIADIC one stands on both sides, and counts once (`makeOrderedSetArgs`).
    fn aggregate_parameters(&mut self) -> Result<(Vec<RoutineParameter>, Option<usize>)> {
        let mut parameters = match self.is(Keyword::Order) {
            true => Vec::new(),
            false => self.list(Parser::routine_parameter)?,
        };
        if !self.accept(Keyword::Order) {
            return Ok((parameters, None));
        }
        self.expect(Keyword::By)?;
        let at = self.here();
        let mut sorted = self.list(Parser::routine_parameter)?;
        let direct = parameters.len();
        match parameters.last() {
            Some(last) if last.mode == ParameterMode::Variadic => {
                let same = matches!(&sorted[..], [only]
                    if only.mode == ParameterMode::Variadic && only.ty.is_same(&last.ty));
                if !same {
                    let message = "an ordered-set aggregate with a VARIADIC direct argument must have one VARIADIC aggregated argument of the same data type";
                    let error = SqlError::new(SqlState::FEATURE_NOT_SUPPORTED, message);
                    return Err(error.at(self.position(at)));
                }
            }
            _ => parameters.append(&mut sorted),
        }
        Ok((parameters, Some(direct)))
    }

    /// The types by which an aggregate is told from others of its name.
    pub(super) fn aggregate_types(&mut self) -> Result<Option<RoutineArguments>> {
        if !self.is_symbol(b'(') || matches!(self.kind_at(1), Kind::Symbol(b')' | b'*')) {
            return self.routine_arguments();
        }
        self.expect_symbol(b'(')?;
        let (parameters, _) = self.aggregate_parameters()?;
        self.expect_symbol(b')')?;
        let types = parameters.into_iter().map(|one| one.ty).collect();
        Ok(Some(RoutineArguments { types, has_modes: false }))
    }

    fn aggregate_option(&mut self, name: &str) -> Result<AggregateOption> {
        if !self.accept_symbol(b'=') {
            return Ok(AggregateOption::Flag(true));
        }
        let told = |parser: &mut Parser<'_>| {
            if parser.is_string() { parser.string() } else { parser.label() }
        };
        Ok(match name {
            "stype" | "stype1" | "mstype" | "basetype" if self.is_string() => {
                AggregateOption::Type(TypeName::named(self.string()?))
            }
            "stype" | "stype1" | "mstype" | "basetype" => AggregateOption::Type(self.type_name()?),
            "sortop" => AggregateOption::Operator(self.operator()?),
            "sspace" | "msspace" => AggregateOption::Text(self.number_text()?),
            "initcond" | "initcond1" | "minitcond" if !self.is_string() => {
                AggregateOption::Text(self.number_text()?)
            }
            "initcond" | "initcond1" | "minitcond" => AggregateOption::Text(self.string()?),
            "parallel" | "finalfunc_modify" | "mfinalfunc_modify" => {
                AggregateOption::Text(told(self)?)
            }
            "finalfunc_extra" | "mfinalfunc_extra" | "hypothetical" => {
                AggregateOption::Flag(matches!(&*told(self)?, "true" | "on" | "1"))
            }
            _ if self.is_string() => AggregateOption::Text(self.string()?),
            _ if matches!(self.kind(), Kind::Keyword(word) if word.category() == Category::Reserved) => {
                AggregateOption::Text(self.label()?)
            }
            _ if self.is_name(self.kind()) => {
                let name = self.object_name()?;
                // What is read as a type may have modifiers, which nobody looks at.
                if self.is_symbol(b'(') {
                    self.in_parentheses(Parser::expr)?;
                }
                AggregateOption::Name(name)
            }
            _ => AggregateOption::Text(self.number_text()?),
        })
    }
}

fn base_type(options: &[(super::ast::Ident, AggregateOption)]) -> Option<TypeName> {
    options.iter().find_map(|(name, option)| match option {
        AggregateOption::Type(ty) if &**name == "basetype" => Some(ty.clone()),
        _ => None,
    })
}
