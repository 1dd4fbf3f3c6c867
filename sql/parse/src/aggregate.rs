//! CREATE AGGREGATE, in the form that lists its arguments and in the old one, whose one argument is BASETYPE.

use super::ast::{
    AggregateOption, CreateAggregate, ParameterMode, RoutineParameter, Statement, TypeName,
};
use super::keyword::Keyword;
use super::lexer::Kind;
use super::parser::Parser;
use sql_types::error::Result;

impl Parser<'_> {
    /// CREATE [OR REPLACE] AGGREGATE, from that word.
    pub(super) fn create_aggregate(&mut self, replace: bool) -> Result<Statement> {
        let at = self.here();
        self.advance();
        let name = self.object_name()?;
        let old = self.is_symbol(b'(') && self.kind_at(2) == Kind::Symbol(b'=');
        let mut parameters = Vec::new();
        if !old {
            self.expect_symbol(b'(')?;
            if !self.accept_symbol(b'*') {
                if self.is(Keyword::Order) {
                    return Err(self.unsupported("an ordered-set aggregate is", at));
                }
                parameters = self.list(Parser::routine_parameter)?;
                if self.is(Keyword::Order) {
                    return Err(self.unsupported("an ordered-set aggregate is", at));
                }
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
            let any = base.name.schema().is_none() && **base.name.name() == *"any";
            if !any {
                let mode = ParameterMode::In;
                parameters.push(RoutineParameter { name: None, mode, ty: base, default: None });
            }
        }
        let create = CreateAggregate { replace, old, name, parameters, options };
        Ok(Statement::CreateAggregate(Box::new(create)))
    }

    fn aggregate_option(&mut self, name: &str) -> Result<AggregateOption> {
        if !self.accept_symbol(b'=') {
            return Ok(AggregateOption::Flag(true));
        }
        let told = |parser: &mut Parser<'_>| {
            if parser.is_string() { parser.string() } else { parser.label() }
        };
        Ok(match name {
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
            _ if self.is_name(self.kind()) => AggregateOption::Name(self.object_name()?),
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
