//! Calls: functions, aggregates, window functions, and types called like functions (`ParseFuncOrColumn`).

use crate::bind::aggregate::refused;
use crate::bind::coerce::{Context, Pathway, base_type, pathway};
use crate::bind::dml::{NEXTVAL, SETVAL, SETVAL_CALLED};
use crate::bind::expression::Place;
use crate::bind::grouping::{self, WindowCall};
use crate::bind::kept;
use crate::bind::logical::SortKey;
use crate::bind::logical::VARIADIC_ARRAY;
use crate::bind::overload::ChosenFunction;
use crate::bind::scope::Scope;
use crate::bind::set_calls;
use crate::bind::type_name::{category, fields_of, oid};
use crate::bind::typed::{AggregateCall, CallForm, Expr, Literal};
use crate::bind::{Binder, Required, clause, levels};
use crate::catalog::builtin::{Kind, PG_CATALOG, ProcedureOf, Volatility, aggregate, type_by_name};
use crate::catalog::routine::Routine;
use crate::error::{Result, SqlError};
use crate::parse::ast::{self, Call};
use crate::sqlstate::SqlState;
use crate::types::{Oid, SqlType};
use std::borrow::Cow;
use std::sync::Arc;
use txn::TableLock;

/// `pg_collation_for`.
const PG_COLLATION_FOR: u32 = 3162;

fn wrong_kind(message: String, at: u32) -> SqlError {
    SqlError::new(SqlState::WRONG_OBJECT_TYPE, message).at(at)
}

/// The most arguments of a call (`FUNC_MAX_ARGS`).
const ARGUMENTS_MAX: usize = 100;

fn demand_few(arguments: usize, at: u32) -> Result<()> {
    if arguments > ARGUMENTS_MAX {
        return Err(SqlError::new(
            SqlState::TOO_MANY_ARGUMENTS,
            format!("cannot pass more than {ARGUMENTS_MAX} arguments to a function"),
        )
        .at(at));
    }
    Ok(())
}

/// A call without its parameters of type void: some drivers send those for what a function gives back.
fn without_void(call: &Call, arguments: Vec<Expr>) -> (Cow<'_, Call>, Vec<Expr>) {
    let is_void = |argument: &Expr| {
        matches!(argument, Expr::Parameter(_, SqlType { oid: Oid(oid::VOID), .. }))
    };
    if call.within_group || !arguments.iter().any(is_void) {
        return (Cow::Borrowed(call), arguments);
    }
    let mut kept = call.clone();
    kept.arguments.clear();
    let both = call.arguments.iter().zip(arguments).filter(|(_, argument)| !is_void(argument));
    let (given, arguments): (Vec<_>, Vec<_>) = both.unzip();
    kept.arguments.extend(given.into_iter().cloned());
    (Cow::Owned(kept), arguments)
}

/// The types of a call's arguments, with the names that they are given by.
fn types_of<'c>(call: &'c Call, arguments: &[Expr]) -> Vec<(Option<&'c str>, Oid)> {
    let given = call.arguments.iter().zip(arguments);
    given.map(|(argument, value)| (argument.name.as_deref(), value.ty().oid)).collect()
}

impl Binder<'_> {
    pub(super) fn call(&self, call: &Call, place: &Place<'_>, at: u32) -> Result<Expr> {
        if !call.within_group {
            return self.plain_call(call, place, at);
        }
        // What an ordered-set aggregate sorts by are its last arguments.
        let mut whole = call.clone();
        let sorted = call.order_by.iter().map(|key| key.expr.clone());
        whole.arguments.extend(sorted.map(|value| {
            let at = value.start();
            ast::Argument { name: None, value, at }
        }));
        let namespace = self.namespace_of(call, at)?;
        let hypothetical = self
            .functions_called(call.name.name(), namespace)
            .find(|found| matches!(found.ordered_set(), Some(('h', _))));
        match hypothetical {
            Some(found) => self.hypothetical_call(&found, call, &whole, place, at),
            None => self.plain_call(&whole, place, at),
        }
    }

    /// A hypothetical-set aggregate: a value for each of those that it sorts by, of the same type
    /// (`unify_hypothetical_args`).
    fn hypothetical_call(
        &self,
        procedure: &ProcedureOf<'_>,
        call: &Call,
        whole: &Call,
        place: &Place<'_>,
        at: u32,
    ) -> Result<Expr> {
        let shown = call.name.to_string();
        let with_reads = self.with_reads.get();
        if procedure.is_made() || self.catalog.function_acl(procedure).is_some() {
            self.require_also(Required::Function(Oid(procedure.oid)));
        }
        if call.over.is_some() {
            return Err(SqlError::new(
                SqlState::FEATURE_NOT_SUPPORTED,
                format!("OVER is not supported for ordered-set aggregate {shown}"),
            )
            .at(at));
        }
        let mut direct = self.aggregate_arguments(whole, place)?;
        demand_few(direct.len(), at)?;
        let (given, sorted) = (call.arguments.len(), call.order_by.len());
        if given != sorted {
            let types: Vec<String> =
                direct.iter().map(|argument| self.type_text(argument.ty().oid)).collect();
            return Err(SqlError::new(
                SqlState::UNDEFINED_FUNCTION,
                format!("function {shown}({}) does not exist", types.join(", ")),
            )
            .hint(format!(
                "To use the hypothetical-set aggregate {shown}, the number of hypothetical direct arguments (here {given}) must match the number of ordering columns (here {sorted})."
            ))
            .at(at));
        }
        let keys = direct.split_off(given);
        let places: Vec<u32> =
            whole.arguments.iter().map(|given| self.position(given.value.start())).collect();
        let (mut arguments, mut values) = (Vec::with_capacity(2 * given), Vec::new());
        for (number, (argument, key)) in direct.into_iter().zip(keys).enumerate() {
            let pair = vec![(key, places[given + number]), (argument, places[number])];
            let (pair, _) = self.to_common(pair, "WITHIN GROUP")?;
            let [key, argument] = <[Expr; 2]>::try_from(pair).expect("two values were given");
            arguments.push(argument);
            values.push(key);
        }
        let mut order_by = Vec::with_capacity(sorted);
        for (value, key) in values.iter().zip(&call.order_by) {
            order_by.push(self.sort_key(value.clone(), key)?);
        }
        arguments.extend(values);
        let ty = SqlType { oid: Oid(procedure.result), typmod: -1 };
        let function = Oid(procedure.oid);
        let bound = self.aggregate_call(call, function, arguments, ty, place)?;
        let bound = AggregateCall { order_by, ..bound };
        self.collect(whole, bound, place, with_reads, at)
    }

    fn plain_call(&self, call: &Call, place: &Place<'_>, at: u32) -> Result<Expr> {
        let name = &**call.name.name();
        let shown = call.name.to_string();
        let namespace = self.namespace_of(call, at)?;
        let is_aggregate = self
            .functions_called(name, namespace)
            .any(|found| matches!(found.kind, Kind::Aggregate | Kind::Window));
        let with_reads = self.with_reads.get();
        let arguments = if is_aggregate {
            self.aggregate_arguments(call, place)?
        } else {
            self.call_arguments(call, place)?
        };
        demand_few(arguments.len(), at)?;
        let (call, arguments) = without_void(call, arguments);
        let call = &*call;
        self.demand_distinct_names(call)?;
        if let Some(cast) = self.cast_like_function(call, &arguments, namespace, at)? {
            return Ok(cast);
        }
        let types = types_of(call, &arguments);
        let told = ("function", &*shown);
        let chosen = match self.function(name, namespace, &types, call.variadic, told, at) {
            Ok(chosen) => chosen,
            Err(error) if error.state() == SqlState::UNDEFINED_FUNCTION => {
                return self.field_like_function(call, arguments).ok_or_else(|| {
                    if call.order_by.len() < 2 || call.within_group {
                        return error;
                    }
                    error.hint("No aggregate function matches the given name and argument types. Perhaps you misplaced ORDER BY; ORDER BY must appear after all regular arguments of the aggregate.")
                });
            }
            Err(error) => return Err(error),
        };
        if chosen.procedure.volatility == Volatility::Volatile {
            self.apart.set(true);
        }
        // Those of extensions are noted for who wants to know what depends on them.
        let is_member = chosen.procedure.extension.is_some();
        let made = chosen.procedure.is_made();
        if is_member || made || self.catalog.function_acl(&chosen.procedure).is_some() {
            self.require_also(Required::Function(Oid(chosen.procedure.oid)));
        }
        match chosen.procedure.kind {
            Kind::Procedure => {
                let shown = self.signature(&shown, &types);
                return Err(wrong_kind(format!("{shown} is a procedure"), at)
                    .hint("To call a procedure, use CALL."));
            }
            Kind::Function => {
                let not_aggregate = |what: &str| {
                    Err(wrong_kind(format!("{what}, but {shown} is not an aggregate function"), at))
                };
                if call.star {
                    return not_aggregate(&format!("{shown}(*) specified"));
                }
                if call.distinct {
                    return not_aggregate("DISTINCT specified");
                }
                if call.within_group {
                    return not_aggregate("WITHIN GROUP specified");
                }
                if !call.order_by.is_empty() {
                    return not_aggregate("ORDER BY specified");
                }
                if call.filter.is_some() {
                    return not_aggregate("FILTER specified");
                }
                if call.over.is_some() {
                    return Err(wrong_kind(
                        format!(
                            "OVER specified, but {shown} is not a window function nor an aggregate function"
                        ),
                        at,
                    ));
                }
            }
            Kind::Window if call.over.is_none() => {
                return Err(wrong_kind(
                    format!("window function {shown} requires an OVER clause"),
                    at,
                ));
            }
            Kind::Aggregate if !call.star && call.arguments.is_empty() => {
                return Err(wrong_kind(
                    format!("{shown}(*) must be used to call a parameterless aggregate function"),
                    at,
                ));
            }
            Kind::Aggregate | Kind::Window => {}
        }
        if chosen.procedure.returns_set && place.clause == grouping::NESTED {
            let message = "aggregate function calls cannot contain set-returning function calls";
            return Err(SqlError::new(SqlState::FEATURE_NOT_SUPPORTED, message)
                .hint(set_calls::HINT)
                .at(at));
        }
        if chosen.procedure.returns_set && !place.sets {
            return Err(SqlError::new(
                SqlState::FEATURE_NOT_SUPPORTED,
                format!("set-returning functions are not allowed in {}", place.clause),
            )
            .at(at));
        }
        let places: Vec<u32> =
            call.arguments.iter().map(|given| self.position(given.value.start())).collect();
        let given: Vec<SqlType> = arguments.iter().map(Expr::ty).collect();
        let (arguments, result) =
            self.place_arguments(&chosen, arguments, &places, call.variadic, at)?;
        let function = Oid(chosen.procedure.oid);
        let ty = match self.returned_fields(&chosen, &arguments, at)? {
            Some(fields) => self.record_type(fields),
            None => SqlType { oid: result, typmod: -1 },
        };
        if chosen.procedure.oid == PG_COLLATION_FOR && !self.prints() {
            return self.collation_for(&arguments[0], place);
        }
        if made
            && chosen.procedure.kind != Kind::Aggregate
            && let Some(routine) = self.catalog.routine(function)
        {
            let form = CallForm::Routine(Arc::clone(routine));
            return Ok(Expr::Call { function, arguments, ty, form, position: at });
        }
        if chosen.procedure.kind == Kind::Function {
            if let Some(built_in) = crate::catalog::builtin::function(function.0)
                && let Some(inlined) = self.inlined(built_in, &arguments, ty, at)?
            {
                return Ok(inlined);
            }
            let form = match call.standard_form {
                true => CallForm::Standard { given },
                false => CallForm::Function,
            };
            self.hold_sequence(function, &arguments);
            return Ok(Expr::Call { function, arguments, ty, form, position: at });
        }
        let kind = chosen.procedure.ordered_set().map_or('n', |(kind, _)| kind);
        if kind == 'n' && call.within_group {
            return Err(wrong_kind(
                format!("{shown} is not an ordered-set aggregate, so it cannot have WITHIN GROUP"),
                at,
            ));
        }
        if kind != 'n' && !call.within_group {
            return Err(wrong_kind(
                format!("WITHIN GROUP is required for ordered-set aggregate {shown}"),
                at,
            ));
        }
        if kind == 'o' && call.over.is_some() {
            return Err(SqlError::new(
                SqlState::FEATURE_NOT_SUPPORTED,
                format!("OVER is not supported for ordered-set aggregate {shown}"),
            )
            .at(at));
        }
        let bound = self.aggregate_call(call, function, arguments, ty, place)?;
        self.collect(call, bound, place, with_reads, at)
    }

    /// The schema in which what is called is looked for.
    fn namespace_of(&self, call: &Call, at: u32) -> Result<Option<Oid>> {
        self.catalog.demand_qualified(&call.name.parts).map_err(|error| error.at(at))?;
        let Some(schema) = call.name.schema() else { return Ok(None) };
        let found = self.catalog.schema(schema).map(|schema| schema.oid);
        let found = found.ok_or_else(|| {
            let message = format!("schema \"{schema}\" does not exist");
            SqlError::new(SqlState::INVALID_SCHEMA_NAME, message).at(at)
        })?;
        self.require_also(Required::Schema(found, at));
        Ok(Some(found))
    }

    /// The procedure that a CALL names, with its arguments cast and in their places.
    pub(super) fn procedure_call(&self, call: &Call) -> Result<(Arc<Routine>, Vec<Expr>)> {
        let at = self.position(call.name.at);
        let scope = Scope::new(None, 0);
        let place = Place::plain(&scope, None, clause::CALL);
        let arguments = self.call_arguments(call, &place)?;
        demand_few(arguments.len(), at)?;
        self.demand_distinct_names(call)?;
        let namespace = self.namespace_of(call, at)?;
        let types = types_of(call, &arguments);
        let (name, shown) = (call.name.name(), call.name.to_string());
        let refused = || {
            wrong_kind(format!("{} is not a procedure", self.signature(&shown, &types)), at)
                .hint("To call a function, use SELECT.")
        };
        if self.cast_target(call, &arguments, namespace).is_some() {
            return Err(refused());
        }
        let told = ("procedure", &*shown);
        let chosen = self.function(name, namespace, &types, call.variadic, told, at)?;
        if chosen.procedure.kind != Kind::Procedure {
            return Err(refused());
        }
        let routine = self.catalog.routine(Oid(chosen.procedure.oid)).ok_or_else(refused)?;
        let places: Vec<u32> =
            call.arguments.iter().map(|given| self.position(given.value.start())).collect();
        let routine = Arc::clone(routine);
        let (arguments, _) =
            self.place_arguments(&chosen, arguments, &places, call.variadic, at)?;
        Ok((routine, arguments))
    }

    fn call_arguments(&self, call: &Call, place: &Place<'_>) -> Result<Vec<Expr>> {
        call.arguments.iter().map(|argument| self.expression(&argument.value, place)).collect()
    }

    /// Arguments of an aggregate see the rows before grouping, and no aggregate.
    fn aggregate_arguments(&self, call: &Call, place: &Place<'_>) -> Result<Vec<Expr>> {
        if call.over.is_some() {
            // A window's arguments are computed behind grouping and may hold aggregates.
            let within = Place { windows: false, sets: false, ..*place };
            return self.call_arguments(call, &within);
        }
        self.call_arguments(call, &place.inner(grouping::NESTED))
    }

    /// `name(row)` where there is no such function: that field of the row.
    fn field_like_function(&self, call: &Call, mut arguments: Vec<Expr>) -> Option<Expr> {
        let plain = call.name.schema().is_none()
            && !(call.star || call.distinct || call.variadic || call.within_group)
            && call.order_by.is_empty()
            && call.filter.is_none()
            && call.over.is_none()
            && call.arguments.iter().all(|argument| argument.name.is_none());
        let row = if plain && arguments.len() == 1 { arguments.pop()? } else { return None };
        self.field_of(row, call.name.name(), 0).ok()
    }

    /// Refuses arguments that are named twice, or that have no name behind one that has.
    fn demand_distinct_names(&self, call: &Call) -> Result<()> {
        let refuse =
            |message: String, at: u32| Err(SqlError::new(SqlState::SYNTAX_ERROR, message).at(at));
        for (number, argument) in call.arguments.iter().enumerate() {
            let before = &call.arguments[..number];
            let at = self.position(argument.at);
            match &argument.name {
                Some(name) if before.iter().any(|one| one.name.as_ref() == Some(name)) => {
                    return refuse(format!("argument name \"{name}\" used more than once"), at);
                }
                None if before.iter().any(|one| one.name.is_some()) => {
                    let message = "positional argument cannot follow named argument";
                    return refuse(message.to_owned(), at);
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Who draws values from a sequence keeps its definition as it is, as far as the statement says which one it is.
    pub(super) fn hold_sequence(&self, function: Oid, arguments: &[Expr]) {
        if let (NEXTVAL | SETVAL | SETVAL_CALLED, Some(Expr::Constant(Literal::Oid(sequence), _))) =
            (function.0, arguments.first())
        {
            self.hold(Oid(*sequence), TableLock::RowExclusive);
        }
    }

    /// `text(x)`, `date('...')`: a type's name with one argument is a cast where no function fits exactly.
    fn cast_like_function(
        &self,
        call: &Call,
        arguments: &[Expr],
        namespace: Option<Oid>,
        at: u32,
    ) -> Result<Option<Expr>> {
        let plain = !call.star && !call.distinct && call.over.is_none();
        let Some(target) = self.cast_target(call, arguments, namespace).filter(|_| plain) else {
            return Ok(None);
        };
        let argument = &arguments[0];
        let at = if argument.ty().oid.0 == oid::UNKNOWN {
            self.position(call.arguments[0].value.start())
        } else {
            at
        };
        self.cast(argument.clone(), SqlType::plain(target), Context::Explicit, at).map(Some)
    }

    /// The type that a call with one argument casts to.
    fn cast_target(&self, call: &Call, arguments: &[Expr], schema: Option<Oid>) -> Option<u32> {
        let [argument] = arguments else { return None };
        if call.variadic || call.arguments[0].name.is_some() {
            return None;
        }
        let name = &**call.name.name();
        let source = argument.ty().oid;
        if self.functions_called(name, schema).any(|found| *found.arguments == [source.0]) {
            return None;
        }
        let namespace = schema.map_or(PG_CATALOG, |schema| schema.0);
        let built_in = type_by_name(namespace, name).map(|found| Oid(found.oid));
        let target = built_in.or_else(|| self.made_target(name, schema))?;
        let base = base_type(self.catalog, target);
        let way = if source.0 == oid::UNKNOWN {
            true
        } else {
            match pathway(self.catalog, base_type(self.catalog, source), base, Context::Explicit) {
                Some(Pathway::Relabel) => true,
                Some(Pathway::ViaText) => {
                    let row = source.0 == oid::RECORD || fields_of(self.catalog, source).is_some();
                    !row || category(base).0 != 'S'
                }
                _ => false,
            }
        };
        way.then_some(target.0)
    }

    /// The type of a user or an extension that a call may cast to: none of rows, and none of the session alone that stands
    /// there without its schema.
    fn made_target(&self, name: &str, schema: Option<Oid>) -> Option<Oid> {
        let schemas = schema.as_ref().map_or(self.path, std::slice::from_ref);
        let lasting = |own: &&Oid| schema.is_some() || !self.catalog.is_temporary_schema(**own);
        let mut schemas = schemas.iter().filter(lasting);
        let found = schemas.find_map(|own| self.catalog.type_named(*own, name))?;
        let made = self.catalog.user_type(found);
        let is_domain = made.is_some_and(|made| made.domain().is_some());
        (is_domain || fields_of(self.catalog, found).is_none()).then_some(found)
    }

    /// Puts arguments in their places: casts, defaults, the VARIADIC array. Gives the result's type too.
    fn place_arguments(
        &self,
        chosen: &ChosenFunction<'_>,
        given: Vec<Expr>,
        places: &[u32],
        variadic: bool,
        at: u32,
    ) -> Result<(Vec<Expr>, Oid)> {
        let mut given: Vec<Option<Expr>> = given.into_iter().map(Some).collect();
        let mut placed = Vec::with_capacity(chosen.declared.len());
        // Defaults belong to the last arguments, in order.
        let first_default = chosen.declared.len().saturating_sub(chosen.procedure.default_count);
        // What goes without saying is not printed, and of a function that users made not stored.
        let said = chosen.sources.iter().rposition(Option::is_some).map_or(0, |last| last + 1);
        let leaves_out = self.prints() || self.is_stored && chosen.procedure.is_made();
        let shown = if leaves_out { said } else { chosen.sources.len() };
        for (place, source) in chosen.sources.iter().take(shown).enumerate() {
            placed.push(match source {
                Some(source) => given[*source].take().expect("each argument has one place"),
                None => {
                    let number = place.saturating_sub(first_default);
                    self.default_of(&chosen.procedure, number, chosen.declared[place])?
                }
            });
        }
        let actual: Vec<Oid> = placed.iter().map(|value| value.ty().oid).collect();
        let (declared, result) =
            self.resolve_polymorphic(&chosen.declared, &actual, chosen.procedure.result, at)?;
        let mut arguments = placed
            .into_iter()
            .zip(&declared)
            .zip(&chosen.sources)
            .map(|((value, ty), source)| match ty.0 {
                oid::ANY => Ok(value),
                _ => {
                    let place = source.and_then(|source| places.get(source)).copied();
                    self.argument(value, *ty, place.unwrap_or(at))
                }
            })
            .collect::<Result<Vec<_>>>()?;
        if let Some(from) = chosen.variadic_from
            && chosen.procedure.variadic != oid::ANY
        {
            let elements = arguments.split_off(from);
            let element = declared.get(from).copied().unwrap_or(Oid(chosen.procedure.variadic));
            let array = self.array_type(element, at)?;
            arguments.push(Expr::Array { elements, ty: SqlType { oid: array, typmod: -1 } });
        }
        if variadic
            && chosen.procedure.variadic == oid::ANY
            && let Some(array) = arguments.pop()
        {
            if self.element_of(array.ty().oid).is_none() {
                return Err(SqlError::new(
                    SqlState::DATATYPE_MISMATCH,
                    "VARIADIC argument must be an array",
                )
                .at(places.last().copied().unwrap_or(at)));
            }
            let ty = SqlType { oid: array.ty().oid, typmod: VARIADIC_ARRAY };
            arguments.push(Expr::Relabel(Box::new(array), ty));
        }
        Ok((arguments, result))
    }

    /// The fields of the record that a function with several OUT arguments returns, polymorphic ones resolved.
    fn returned_fields(
        &self,
        chosen: &ChosenFunction<'_>,
        arguments: &[Expr],
        at: u32,
    ) -> Result<Option<Vec<(Arc<str>, SqlType)>>> {
        let columns: Vec<(Cow<'_, str>, u32)> = chosen.procedure.output_columns().collect();
        if columns.len() < 2 {
            return Ok(None);
        }
        let actual: Vec<Oid> = arguments.iter().map(|value| value.ty().oid).collect();
        let fields = columns.into_iter().map(|(name, ty)| {
            let (_, ty) = self.resolve_polymorphic(&chosen.declared, &actual, ty, at)?;
            Ok((name.into(), SqlType { oid: ty, typmod: -1 }))
        });
        fields.collect::<Result<_>>().map(Some)
    }

    /// The default of this number of a function, for an input of this type.
    fn default_of(&self, function: &ProcedureOf<'_>, number: usize, ty: u32) -> Result<Expr> {
        if !function.is_made() {
            let own = function.defaults();
            return self.default_argument(own.get(number).map_or("", |text| text), ty);
        }
        let routine = self.catalog.routine(Oid(function.oid)).cloned();
        let default = routine.as_ref().and_then(|routine| routine.defaults().nth(number));
        let Some(default) = default else { return Ok(self.null_of(SqlType::plain(ty))) };
        match self.is_stored {
            // What calls in it leave out is added when it is run.
            true => Ok(kept::open(self.catalog, None, default)?.bound.clone()),
            false => self.kept(None, default),
        }
    }

    /// A built-in function's default: a constant, perhaps with a cast behind it.
    fn default_argument(&self, text: &str, ty: u32) -> Result<Expr> {
        let constant = text.split("::").next().unwrap_or_default().trim();
        let target = SqlType::plain(ty);
        if constant.is_empty() || constant.eq_ignore_ascii_case("null") {
            return Ok(Expr::Constant(Literal::Null, target));
        }
        let unquoted = constant.trim_matches('\'');
        Ok(Expr::Constant(self.constants.read(target, unquoted)?, target))
    }

    /// The call itself: DISTINCT, ORDER BY and FILTER.
    fn aggregate_call(
        &self,
        call: &Call,
        function: Oid,
        mut arguments: Vec<Expr>,
        ty: SqlType,
        place: &Place<'_>,
    ) -> Result<AggregateCall> {
        self.demand_collation_of(&arguments)?;
        let inner = if call.over.is_some() {
            Place { windows: false, sets: false, ..*place }
        } else {
            place.inner(grouping::NESTED)
        };
        if call.distinct && call.over.is_some() {
            return Err(SqlError::new(
                SqlState::FEATURE_NOT_SUPPORTED,
                "DISTINCT is not implemented for window functions",
            )
            .at(self.position(call.name.at)));
        }
        if !call.order_by.is_empty() && call.over.is_some() {
            return Err(SqlError::new(
                SqlState::FEATURE_NOT_SUPPORTED,
                "aggregate ORDER BY is not implemented for window functions",
            )
            .at(self.position(call.name.at)));
        }
        if call.filter.is_some()
            && aggregate(function.0).is_none()
            && self.catalog.routine(function).is_none()
        {
            return Err(SqlError::new(
                SqlState::FEATURE_NOT_SUPPORTED,
                "FILTER is not implemented for non-aggregate window functions",
            )
            .at(self.position(call.name.at)));
        }
        let mut order_by: Vec<SortKey> = Vec::new();
        for key in &call.order_by {
            let bound = self.expression(&key.expr, &inner)?;
            // What is sorted by is the argument as the aggregate takes it.
            let mut argument = None;
            for (given, taken) in call.arguments.iter().zip(&arguments) {
                let own = self.expression(&given.value, &inner)?;
                let same_type =
                    bound.ty().oid.0 != oid::UNKNOWN || taken.ty().oid == bound.ty().oid;
                if same_type && levels::same(&own, &bound) {
                    argument = Some(taken.clone());
                    break;
                }
            }
            if call.distinct && argument.is_none() {
                return Err(SqlError::new(
                    SqlState::INVALID_COLUMN_REFERENCE,
                    "in an aggregate with DISTINCT, ORDER BY expressions must appear in argument list",
                )
                .at(self.position(key.expr.start())));
            }
            let sorted = self.decided(argument.unwrap_or(bound))?;
            if !order_by.iter().any(|known| levels::same(&known.expr, &sorted)) {
                order_by.push(self.sort_key(sorted, key)?);
            }
        }
        if call.distinct {
            arguments = arguments
                .into_iter()
                .map(|argument| self.decided(argument))
                .collect::<Result<_>>()?;
            for (place, argument) in arguments.iter().enumerate() {
                let at = call.arguments.get(place).map_or(call.name.at, |a| a.value.start());
                self.demand_sorting(argument.ty().oid, self.position(at))?;
            }
        }
        let within = Place { clause: "FILTER", collected: None, ..inner };
        let filter = call
            .filter
            .as_ref()
            .map(|filter| self.condition(filter, &within, "FILTER"))
            .transpose()?;
        let routine = self.catalog.routine(function);
        if let Some(routine) = routine
            && let Some(own) = &routine.aggregate
            && call.over.is_some()
            && own.finish_modify != b'r'
            && (own.moving.inverse == Oid(0) || own.moving.finish_modify != b'r')
        {
            let types: Vec<String> =
                routine.input_types().iter().map(|ty| self.type_text(Oid(*ty))).collect();
            let shown = format!("{}({})", routine.name, types.join(","));
            return Err(SqlError::new(
                SqlState::FEATURE_NOT_SUPPORTED,
                format!("aggregate function {shown} does not support use as a window function"),
            ));
        }
        let built_in = routine.and_then(|routine| routine.aggregate.as_ref()?.built_in());
        let made = match routine.filter(|_| built_in.is_none()) {
            Some(routine) => {
                Some(Arc::new(self.made_aggregate(routine, &arguments, ty, call.name.at)?))
            }
            None => None,
        };
        Ok(AggregateCall {
            function,
            computed_as: built_in.map_or(function, Oid),
            arguments,
            distinct: call.distinct,
            order_by,
            filter,
            ty,
            made,
        })
    }

    /// Hands an aggregate or window call to the query block that it belongs to; the expression that stands for its value.
    fn collect(
        &self,
        call: &Call,
        bound: AggregateCall,
        place: &Place<'_>,
        with_reads: u32,
        at: u32,
    ) -> Result<Expr> {
        let Some(over) = &call.over else {
            // What it sorts by are its last arguments.
            let count =
                if call.within_group { call.arguments.len() - call.order_by.len() } else { 0 };
            let direct = call.arguments[..count.min(bound.arguments.len())].iter();
            let direct: Vec<u32> =
                direct.map(|argument| self.position(argument.value.start())).collect();
            let level = self.aggregate_level(&bound, &direct, place, at)?;
            if level > 0 && self.with_reads.get() > with_reads {
                return Err(SqlError::unsupported(
                    "an aggregate of an outer query's columns that reads a WITH query is",
                )
                .at(at));
            }
            return self.collect_aggregate(bound, level, place, (at, &direct));
        };
        match place.collected {
            Some(collected) if place.windows => {
                let (ty, window) = (bound.ty, self.window_of(over, place)?);
                let call = WindowCall { call: bound, window };
                Ok(grouping::window_column(&mut collected.borrow_mut(), call, ty))
            }
            _ => Err(refused(place.clause, "window").at(at)),
        }
    }

    /// GROUPING(...).
    pub(super) fn grouping(
        &self,
        arguments: &[ast::Expr],
        place: &Place<'_>,
        at: u32,
    ) -> Result<Expr> {
        if arguments.len() > 31 {
            return Err(SqlError::new(
                SqlState::TOO_MANY_ARGUMENTS,
                "GROUPING must have fewer than 32 arguments",
            )
            .at(at));
        }
        let keys = Place { collected: None, windows: false, sets: false, ..*place };
        let mut bound = Vec::with_capacity(arguments.len());
        for argument in arguments {
            let key = self.decided(self.expression(argument, &keys)?)?;
            bound.push((key, self.position(argument.start())));
        }
        let level = self.grouping_level(&bound);
        self.collect_grouping(bound, level, place, at)
    }
}
