//! Scalars as text, in PostgreSQL's spelling (`ruleutils.c`): operators in parentheses, casts as `(x)::type`, constants
//! with their type unless the reader would give it to them anyway.
//!
//! A plan holds no casts between types that are stored alike; where a function takes another type than its argument has,
//! PostgreSQL's tree has one, and so it is shown.

use super::names::{Home, Names};
use crate::bind::Quantifier;
use crate::bind::deparse::current;
use crate::bind::dml::NEXTVAL;
use crate::bind::type_name::format_type;
use crate::catalog::builtin::{self, cast, function, operators, type_by_oid};
use crate::catalog::quote::{constant, identifier, qualified};
use crate::catalog::routine::Routine;
use crate::catalog::{CatalogSnapshot, builtin::TypeKind};
use crate::compile::Program;
use crate::plan::functions::Comparison;
use crate::plan::physical::{AggregateStep, SetCall, WindowFunction, WindowStep};
use crate::plan::scalar::{Callee, Target};
use crate::plan::subplan::SubplanKind;
use crate::plan::{Scalar, Var};
use crate::tuple::Form;
use crate::types::domain::DOMAIN_IN;
use crate::types::xml::construct::XmlOp;
use crate::types::{CallContext, Comparator, Datum, Oid, SqlType, text_of};
use std::collections::HashSet;

/// What text is made with.
pub(super) struct Printer<'p, 'c, 'a> {
    pub program: &'p Program,
    pub names: Names<'p>,
    pub catalog: &'c CatalogSnapshot,
    pub path: &'c [Oid],
    pub context: &'c CallContext<'a>,
}

/// Where an expression stands.
#[derive(Clone, Default)]
pub(super) struct Scope {
    /// The slot whose columns need no relation's name.
    pub own: Option<u32>,
    /// Every column is shown with its relation's name.
    pub prefix: bool,
    /// Slots whose values the node itself computes: they are shown as what they are.
    pub inline: HashSet<u32>,
    /// The slot that is `excluded`.
    pub excluded: Option<u32>,
}

/// What a condition of a simple CASE compares the value at `home` with; a condition of another form as it is.
fn compared_in_case(condition: &Scalar, home: Option<Var>) -> &Scalar {
    let is_test = |part: &Scalar| part.reads(&mut |var| Some(var) == home);
    match condition {
        Scalar::Call { arguments, .. } => match &arguments[..] {
            [tested, compared] if is_test(tested) => compared,
            _ => condition,
        },
        _ => condition,
    }
}

impl<'p> Printer<'p, '_, '_> {
    /// An expression.
    pub fn text(&self, scalar: &Scalar, scope: &Scope) -> String {
        let mut out = String::new();
        self.write(scalar, scope, &mut out);
        out
    }

    /// Conjuncts as one condition.
    pub fn condition(&self, conjuncts: &[&Scalar], scope: &Scope) -> String {
        match conjuncts {
            [one] => self.text(one, scope),
            many => {
                let parts: Vec<String> = many.iter().map(|one| self.text(one, scope)).collect();
                format!("({})", parts.join(" AND "))
            }
        }
    }

    fn write(&self, scalar: &Scalar, scope: &Scope, out: &mut String) {
        match scalar {
            Scalar::Constant(row, ty) => self.constant(&row.get(0), *ty, out),
            Scalar::Var(var) => self.var(*var, scope, out),
            Scalar::Parameter(number) => out.push_str(&format!("${}", number + 1)),
            Scalar::Call {
                callee: Callee { oid: DOMAIN_IN, target: Target::Typed(_, types), .. },
                arguments,
                ..
            } => self.cast(&arguments[0], types.result, scope, out),
            Scalar::Call { callee, arguments, .. } => self.call(callee, arguments, scope, out),
            Scalar::And(all) => self.joined(all, " AND ", scope, out),
            Scalar::Or(all) => self.joined(all, " OR ", scope, out),
            Scalar::Not(one) => out.push_str(&format!("(NOT {})", self.text(one, scope))),
            Scalar::IsNull(one, negated) => {
                let word = if *negated { "IS NOT NULL" } else { "IS NULL" };
                out.push_str(&format!("({} {word})", self.text(one, scope)));
            }
            Scalar::IsBool(one, test, negated) => {
                let word = match test {
                    Some(true) => "TRUE",
                    Some(false) => "FALSE",
                    None => "UNKNOWN",
                };
                let not = if *negated { "NOT " } else { "" };
                out.push_str(&format!("({} IS {not}{word})", self.text(one, scope)));
            }
            Scalar::IsDistinct(left, right, callee, negated) => {
                let (left, right) =
                    (self.argument(callee, 0, left, scope), self.argument(callee, 1, right, scope));
                let plain = format!("({left} IS DISTINCT FROM {right})");
                out.push_str(&if *negated { format!("(NOT {plain})") } else { plain });
            }
            Scalar::Case { operand, branches, otherwise } => {
                out.push_str("CASE");
                if let Some(operand) = operand {
                    out.push_str(&format!(" {}", self.text(&operand.0, scope)));
                }
                let home = operand.as_ref().map(|operand| operand.1);
                for (when, then) in branches {
                    let when = compared_in_case(when, home);
                    let (when, then) = (self.text(when, scope), self.text(then, scope));
                    out.push_str(&format!(" WHEN {when} THEN {then}"));
                }
                out.push_str(" ELSE ");
                match otherwise {
                    Some(otherwise) => self.write(otherwise, scope, out),
                    None => {
                        let ty = branches.first().and_then(|one| self.names.type_of(&one.1));
                        self.constant(&Datum::Null, ty.unwrap_or(SqlType::plain(25)), out);
                    }
                }
                out.push_str(" END");
            }
            Scalar::Coalesce(all) => self.named("COALESCE", all, scope, out),
            Scalar::NullIf(left, right, callee) => {
                let (left, right) =
                    (self.argument(callee, 0, left, scope), self.argument(callee, 1, right, scope));
                out.push_str(&format!("NULLIF({left}, {right})"));
            }
            Scalar::Extreme(all, _, greatest) => {
                self.named(if *greatest { "GREATEST" } else { "LEAST" }, all, scope, out);
            }
            Scalar::Xml(arguments, call) => {
                let arguments = arguments.iter().map(|one| self.text(one, scope)).collect();
                let target = format_type(self.catalog, Some(self.path), call.target);
                let text = call.printed(arguments, &target);
                match call.op {
                    XmlOp::IsDocument => out.push_str(&format!("({text})")),
                    _ => out.push_str(&text),
                }
            }
            Scalar::ViaText(one, _, ty) => self.cast(one, *ty, scope, out),
            Scalar::ArrayCast { operand, to, .. } => {
                self.cast(operand, SqlType::plain(builtin::array_type(to.0)), scope, out);
            }
            Scalar::Array(elements, ty, _) => self.array(elements, *ty, scope, out),
            Scalar::Subscript { operand, indices, slice, .. } => {
                let text = self.text(operand, scope);
                let plain = matches!(**operand, Scalar::Var(_) | Scalar::Parameter(_));
                out.push_str(&if plain { text } else { format!("({text})") });
                for (low, high) in indices {
                    let bound = |one: &Option<Scalar>| {
                        one.as_ref().map_or(String::new(), |one| self.text(one, scope))
                    };
                    let colon = if *slice { ":" } else { "" };
                    out.push_str(&format!("[{}{colon}{}]", bound(low), bound(high)));
                }
            }
            Scalar::ScalarArray { left, callee, array, quantifier, .. } => {
                let name = operator_of(callee).map_or("=", |found| found.name);
                let word = if *quantifier == Quantifier::Any { "ANY" } else { "ALL" };
                let (left, array) =
                    (self.argument(callee, 0, left, scope), self.text(array, scope));
                out.push_str(&format!("({left} {name} {word} ({array}))"));
            }
            Scalar::Row(fields, _) => {
                let fields: Vec<String> =
                    fields.iter().map(|(one, _)| self.text(one, scope)).collect();
                out.push_str(&format!("ROW({})", fields.join(", ")));
            }
            Scalar::Assign(parts, _) => {
                let parts: Vec<String> = parts.iter().map(|one| self.text(one, scope)).collect();
                out.push_str(&parts.join(", "));
            }
            Scalar::Field(one, field) => {
                out.push_str(&format!("({}).f{}", self.text(one, scope), field + 1));
            }
            Scalar::Subquery(number) => out.push_str(&self.subquery(*number)),
            Scalar::CurrentValue(value) => out.push_str(&current(*value)),
        }
    }

    fn var(&self, var: Var, scope: &Scope, out: &mut String) {
        let inline = scope.inline.contains(&var.slot);
        let computed = match self.names.home(var) {
            Home::Column(relation, name, _) => {
                let own = scope.own.is_none_or(|slot| slot == var.slot);
                if scope.excluded == Some(var.slot) {
                    out.push_str("excluded.");
                } else if (scope.prefix || !own) && !relation.is_empty() {
                    out.push_str(&if relation.starts_with('"') {
                        relation
                    } else {
                        identifier(&relation)
                    });
                    out.push('.');
                }
                out.push_str(&identifier(&name));
                return;
            }
            Home::Through(var) => return self.var(var, scope, out),
            Home::Key(Scalar::Var(var)) => return self.var(*var, scope, out),
            Home::Value(Scalar::Var(var)) => return self.var(*var, scope, out),
            // A key is computed below the aggregation, so it is a value from elsewhere in it too.
            Home::Key(scalar) => {
                out.push_str(&format!("({})", self.text(scalar, scope)));
                return;
            }
            Home::Value(scalar) => self.text(scalar, scope),
            Home::Aggregate(step) => self.aggregate(step, scope),
            Home::Set(call) => self.set_call(call, scope),
            Home::Window(step) => self.window_call(step, scope),
            Home::Hidden => "?".to_owned(),
        };
        out.push_str(&if inline { computed } else { format!("({computed})") });
    }

    fn list(&self, scalars: &[Scalar], scope: &Scope) -> String {
        let parts: Vec<String> = scalars.iter().map(|one| self.text(one, scope)).collect();
        parts.join(", ")
    }

    fn named(&self, name: &str, arguments: &[Scalar], scope: &Scope, out: &mut String) {
        out.push_str(&format!("{name}({})", self.list(arguments, scope)));
    }

    fn joined(&self, parts: &[Scalar], word: &str, scope: &Scope, out: &mut String) {
        let parts: Vec<String> = parts.iter().map(|one| self.text(one, scope)).collect();
        out.push_str(&format!("({})", parts.join(word)));
    }

    fn cast(&self, operand: &Scalar, ty: SqlType, scope: &Scope, out: &mut String) {
        let name = format_type(self.catalog, Some(self.path), ty);
        out.push_str(&format!("({})::{name}", self.text(operand, scope)));
    }

    /// An argument of a function, as the type that the function takes.
    fn argument(&self, callee: &Callee, at: usize, value: &Scalar, scope: &Scope) -> String {
        let declared = function(callee.oid).and_then(|found| found.arguments.get(at).copied());
        let Some(declared) = declared.filter(|oid| !is_pseudo(*oid)) else {
            return self.text(value, scope);
        };
        let wanted = SqlType::plain(declared);
        if let Scalar::Constant(row, ty) = value {
            let mut out = String::new();
            let as_declared = Form::of(ty.oid) == Form::of(wanted.oid) && ty.oid != wanted.oid;
            self.constant(&row.get(0), if as_declared { wanted } else { *ty }, &mut out);
            return out;
        }
        match self.names.type_of(value) {
            Some(ty) if ty.oid != wanted.oid && Form::of(ty.oid) == Form::of(wanted.oid) => {
                let mut out = String::new();
                self.cast(value, wanted, scope, &mut out);
                out
            }
            _ => self.text(value, scope),
        }
    }

    /// A key column compared with a value, as the operator of the column's type does it.
    pub fn compared(
        &self,
        name: &str,
        ty: SqlType,
        kind: Comparison,
        value: &Scalar,
        scope: &Scope,
    ) -> String {
        let sign = match kind {
            Comparison::Equal => "=",
            Comparison::Less => "<",
            Comparison::LessEqual => "<=",
            Comparison::Greater => ">",
            Comparison::GreaterEqual => ">=",
        };
        let taken = operand_type(ty);
        let column = if taken == ty.oid { name.to_owned() } else { self.as_type(name, taken) };
        format!("({column} {sign} {})", self.operand(value, taken, scope))
    }

    /// Two sides of a hash join's key.
    pub fn equal(&self, left: &Scalar, right: &Scalar, scope: &Scope) -> String {
        let side = |one: &Scalar| {
            let ty = self.names.type_of(one).map_or(Oid(0), operand_type);
            self.operand(one, ty, scope)
        };
        format!("({} = {})", side(left), side(right))
    }

    fn as_type(&self, text: &str, ty: Oid) -> String {
        format!(
            "({text})::{}",
            format_type(self.catalog, Some(self.path), SqlType { oid: ty, typmod: -1 })
        )
    }

    /// A value as an operator that takes `taken` has it.
    fn operand(&self, value: &Scalar, taken: Oid, scope: &Scope) -> String {
        match value {
            Scalar::Constant(row, ty) if operand_type(*ty) == taken => {
                let mut out = String::new();
                self.constant(&row.get(0), SqlType { oid: taken, typmod: -1 }, &mut out);
                out
            }
            Scalar::Constant(..) => self.text(value, scope),
            _ => match self.names.type_of(value) {
                Some(ty) if ty.oid != taken && operand_type(ty) == taken => {
                    self.as_type(&self.text(value, scope), taken)
                }
                _ => self.text(value, scope),
            },
        }
    }

    /// The name of a routine that a user made, with its schema where the path does not find it.
    fn routine_name(&self, routine: &Routine) -> String {
        let schema = self.catalog.schema_by_oid(routine.schema);
        match schema.filter(|_| !self.catalog.finds_function(self.path, &routine.procedure())) {
            Some(schema) => qualified(&schema.name, &routine.name),
            None => identifier(&routine.name),
        }
    }

    fn call(&self, callee: &Callee, arguments: &[Scalar], scope: &Scope, out: &mut String) {
        if let Target::Routine(routine, _) = &callee.target {
            let (name, list) = (self.routine_name(routine), self.list(arguments, scope));
            return out.push_str(&format!("{name}({list})"));
        }
        if let Some(routine) = self.catalog.routine(Oid(callee.oid)) {
            let (name, list) = (self.routine_name(routine), self.list(arguments, scope));
            return out.push_str(&format!("{name}({list})"));
        }
        let Some(procedure) = function(callee.oid) else {
            // A change of form without a function.
            if let [only] = arguments {
                self.write(only, scope, out);
            }
            return;
        };
        if let (NEXTVAL, [sequence, _]) = (callee.oid, arguments) {
            // An identity column's value, which PostgreSQL shows without the cast.
            let shown = self.text(sequence, scope);
            return out.push_str(&format!("nextval({})", shown.trim_end_matches("::regclass")));
        }
        if let (Some(first), Some(&source)) = (arguments.first(), procedure.arguments.first())
            && cast(source, procedure.result).is_some_and(|found| found.function == callee.oid)
        {
            let modifier = match arguments.get(1) {
                Some(Scalar::Constant(row, _)) => match row.get(0) {
                    Datum::Int4(modifier) => modifier,
                    _ => -1,
                },
                _ => -1,
            };
            let ty = SqlType { oid: Oid(procedure.result), typmod: modifier };
            return self.cast(first, ty, scope, out);
        }
        if let Some(operator) =
            operator_of(callee).filter(|found| arguments.len() == if found.prefix { 1 } else { 2 })
        {
            let last =
                self.argument(callee, arguments.len() - 1, &arguments[arguments.len() - 1], scope);
            out.push_str(&if operator.prefix {
                format!("({} {last})", operator.name)
            } else {
                let left = self.argument(callee, 0, &arguments[0], scope);
                format!("({left} {} {last})", operator.name)
            });
            return;
        }
        let parts: Vec<String> = arguments
            .iter()
            .enumerate()
            .map(|(at, one)| self.argument(callee, at, one, scope))
            .collect();
        out.push_str(&format!("{}({})", identifier(procedure.name), parts.join(", ")));
    }

    /// A call that gives rows.
    pub fn set_call(&self, call: &SetCall, scope: &Scope) -> String {
        match call {
            SetCall::Series(arguments, _) => {
                format!("generate_series({})", self.list(arguments, scope))
            }
            SetCall::Set(oid, _, _, _, arguments) | SetCall::Querying(oid, _, arguments) => {
                let name = function(*oid).map_or("", |found| found.name);
                format!("{}({})", identifier(name), self.list(arguments, scope))
            }
            SetCall::XmlTable(table, arguments) => {
                let texts: Vec<String> =
                    arguments.iter().map(|one| self.text(one, scope)).collect();
                table.printed(&texts, |ty| format_type(self.catalog, Some(self.path), ty))
            }
            SetCall::Routine(routine, _, arguments) => {
                format!("{}({})", self.routine_name(routine), self.list(arguments, scope))
            }
            SetCall::Scalar(scalar, _) => self.text(scalar, scope),
        }
    }

    fn aggregate(&self, step: &AggregateStep, scope: &Scope) -> String {
        // What it is over is what the aggregation reads, whoever shows it.
        let made = self.catalog.routine(Oid(step.function));
        let name = made.map_or_else(
            || identifier(function(step.function).map_or("", |found| found.name)),
            |routine| self.routine_name(routine),
        );
        let callee = Callee {
            oid: step.function,
            target: crate::plan::scalar::Target::Catalog,
            strict: step.strict,
            volatile: false,
            immutable: true,
            primitive: None,
        };
        let mut inside: Vec<String> = step
            .arguments
            .iter()
            .enumerate()
            .map(|(at, one)| self.argument(&callee, at, one, scope))
            .collect();
        if inside.is_empty() {
            inside.push("*".to_owned());
        }
        let mut text = inside.join(", ");
        if step.distinct {
            text = format!("DISTINCT {text}");
        }
        if !step.order_by.is_empty() {
            let keys: Vec<String> = step
                .order_by
                .iter()
                .map(|(key, order)| self.text(key, scope) + sort_words(order))
                .collect();
            text = format!("{text} ORDER BY {}", keys.join(", "));
        }
        let filter = step.filter.as_ref().map_or(String::new(), |filter| {
            format!(" FILTER (WHERE {})", self.text(filter, scope))
        });
        format!("{name}({text}){filter}")
    }

    /// A window function's call; what its window is, PostgreSQL does not say here either.
    fn window_call(&self, step: &WindowStep, scope: &Scope) -> String {
        let name = match &step.function {
            WindowFunction::Aggregate(aggregate) => {
                return format!("{} OVER (?)", self.aggregate(aggregate, scope));
            }
            WindowFunction::RowNumber => "row_number",
            WindowFunction::Rank => "rank",
            WindowFunction::DenseRank => "dense_rank",
            WindowFunction::PercentRank => "percent_rank",
            WindowFunction::CumeDist => "cume_dist",
            WindowFunction::Ntile => "ntile",
            WindowFunction::Lag => "lag",
            WindowFunction::Lead => "lead",
            WindowFunction::FirstValue => "first_value",
            WindowFunction::LastValue => "last_value",
            WindowFunction::NthValue => "nth_value",
        };
        format!("{name}({}) OVER (?)", self.list(&step.arguments, scope))
    }

    /// A sort key: what the sort computes itself comes, in PostgreSQL's plan, from below.
    pub fn sort_key(&self, key: &Scalar, order: &Comparator, scope: &Scope) -> String {
        let text = self.text(key, scope);
        let text = if matches!(key, Scalar::Var(_)) { text } else { format!("({text})") };
        text + sort_words(order)
    }

    /// The name of an uncorrelated subquery's value, or of a correlated one.
    fn subquery(&self, number: u32) -> String {
        if matches!(self.program.subplans[number as usize].kind, SubplanKind::Hashed(_)) {
            return format!("(hashed SubPlan {})", self.plan_number(number));
        }
        if self.program.correlated[number as usize] {
            return format!("(SubPlan {})", self.plan_number(number));
        }
        format!("${}", self.parameter_number(number))
    }

    /// The number by which EXPLAIN shows a subquery's plan: common table expressions are counted first.
    pub fn plan_number(&self, number: u32) -> usize {
        self.program.ctes.len() + number as usize + 1
    }

    /// The number of the internal parameter that holds an uncorrelated subquery's value.
    pub fn parameter_number(&self, number: u32) -> usize {
        (0..number as usize).filter(|at| !self.program.correlated[*at]).count()
    }

    /// Whether a subquery gives a value that something else reads under a number.
    pub fn returns(&self, number: u32) -> bool {
        !matches!(
            self.program.subplans[number as usize].kind,
            SubplanKind::Quantified(..) | SubplanKind::Hashed(_)
        )
    }

    fn array(&self, elements: &[Scalar], ty: Oid, scope: &Scope, out: &mut String) {
        let element = builtin::element_type(ty.0).unwrap_or(25);
        let constants: Option<Vec<String>> = elements
            .iter()
            .map(|one| match one {
                Scalar::Constant(row, _) => self.element(&row.get(0), SqlType::plain(element)),
                _ => None,
            })
            .collect();
        match constants {
            // PostgreSQL has made one constant of it.
            Some(values) => {
                let name =
                    format_type(self.catalog, Some(self.path), SqlType { oid: ty, typmod: -1 });
                let text = constant(&format!("{{{}}}", values.join(",")));
                out.push_str(&format!("{text}::{name}"));
            }
            None => out.push_str(&format!("ARRAY[{}]", self.list(elements, scope))),
        }
    }

    /// An element as an array's text form has it.
    fn element(&self, value: &Datum<'_>, ty: SqlType) -> Option<String> {
        if value.is_null() {
            return Some("NULL".to_owned());
        }
        let text = text_of(self.context, ty, value).ok()?;
        let plain = !text.is_empty()
            && !text.eq_ignore_ascii_case("null")
            && !text.contains(['{', '}', ',', '"', '\\'])
            && !text.contains(char::is_whitespace);
        if plain {
            return Some(text.to_owned());
        }
        Some(format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\"")))
    }

    fn constant(&self, value: &Datum<'_>, ty: SqlType, out: &mut String) {
        const INT4: u32 = 23;
        const NUMERIC: u32 = 1700;
        const BOOL: u32 = 16;
        const UNKNOWN: u32 = 705;
        let name = || format_type(self.catalog, Some(self.path), ty);
        if value.is_null() {
            out.push_str("NULL");
            if ty.oid.0 != UNKNOWN {
                out.push_str(&format!("::{}", format_type(self.catalog, Some(self.path), ty)));
            }
            return;
        }
        let Ok(text) = text_of(self.context, ty, value) else {
            out.push('?');
            return;
        };
        let first_digit = text.starts_with(|c: char| c.is_ascii_digit());
        match ty.oid.0 {
            INT4 if first_digit => out.push_str(text),
            NUMERIC if first_digit && text.contains(['.', 'e', 'E']) && ty.typmod < 0 => {
                out.push_str(text);
            }
            BOOL => out.push_str(if text == "t" || text == "true" { "true" } else { "false" }),
            UNKNOWN => out.push_str(&constant(text)),
            _ => out.push_str(&format!("{}::{}", constant(text), name())),
        }
    }
}

/// The type that the comparison operators of a type take: those of varchar are text's.
fn operand_type(ty: SqlType) -> Oid {
    const TEXT: Oid = Oid(25);
    const VARCHAR: Oid = Oid(1043);
    if ty.oid == VARCHAR { TEXT } else { ty.oid }
}

fn is_pseudo(ty: u32) -> bool {
    type_by_oid(ty).is_none_or(|found| found.kind == TypeKind::Pseudo)
}

/// The operator that a function is behind.
fn operator_of(callee: &Callee) -> Option<&'static builtin::Operator> {
    operators().iter().find(|found| found.function == callee.oid)
}

/// What follows a sort key that is not in the default order.
fn sort_words(order: &Comparator) -> &'static str {
    match (order.descending, order.nulls_first) {
        (false, false) => "",
        (false, true) => " NULLS FIRST",
        (true, true) => " DESC",
        (true, false) => " DESC NULLS LAST",
    }
}
