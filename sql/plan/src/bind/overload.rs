//! Which operator or function a name means for given arguments (manual, sections 10.2 and 10.3).

use crate::bind::coerce::{Context, base_type, is_polymorphic};
use crate::bind::type_name::{array_of, category, oid};
use crate::bind::{Binder, Required};
use crate::catalog::attachment::OperatorOf;
use crate::catalog::builtin::{PG_CATALOG, ProcedureOf, Volatility, functions_named};
use crate::catalog::builtin::{TypeKind, element_type, is_enum, type_by_oid};
use crate::error::{Result, SqlError};
use crate::parse::ast;
use crate::sqlstate::SqlState;
use crate::types::Oid;
use std::borrow::Cow;

/// What a choice among candidates came to.
enum Choice<T> {
    One(T),
    None,
    Ambiguous,
}

/// A function with its arguments in place.
#[derive(Clone, Debug)]
pub struct ChosenFunction<'n> {
    /// It.
    pub procedure: Cow<'n, ProcedureOf<'n>>,
    /// The types its arguments are cast to, one for each argument given or defaulted; still polymorphic ones.
    pub declared: Vec<u32>,
    /// For each of them which argument given stands there; none is a default.
    pub sources: Vec<Option<usize>>,
    /// From this argument on they are elements of the VARIADIC array.
    pub variadic_from: Option<usize>,
    /// Another function of the same schema takes these arguments as well.
    pub ambiguous: bool,
}

impl Binder<'_> {
    /// The operator `name` for these operand types; one is prefix.
    ///
    /// # Errors
    /// 42883, 42725.
    pub(super) fn operator(
        &self,
        op: &ast::Operator,
        operands: &[Oid],
        position: u32,
    ) -> Result<OperatorOf<'_>> {
        self.check_operator_schema(op).map_err(|error| error.at(position))?;
        let candidates = self.operators_called(op, operands.len() == 1);
        let (found, shell) = match self.choose_operator(&candidates, operands) {
            Choice::One(found) if found.function == Oid(0) => (false, true),
            Choice::One(found) => {
                self.note_operator(&found, position)?;
                return Ok(found);
            }
            Choice::None => (false, false),
            Choice::Ambiguous => (true, false),
        };
        let name = match &op.schema {
            Some(schema) => format!("{schema}.{}", op.name),
            None => op.name.to_string(),
        };
        let shown = match operands {
            [operand] => format!("{name} {}", self.type_text(*operand)),
            [left, right] => {
                format!("{} {name} {}", self.type_text(*left), self.type_text(*right))
            }
            _ => name,
        };
        Err(if shell {
            let message = format!("operator is only a shell: {shown}");
            SqlError::new(SqlState::UNDEFINED_FUNCTION, message)
        } else if found {
            SqlError::new(SqlState::AMBIGUOUS_FUNCTION, format!("operator is not unique: {shown}"))
                .hint("Could not choose a best candidate operator. You might need to add explicit type casts.")
        } else {
            let hint = if operands.len() == 1 {
                "No operator matches the given name and argument type. You might need to add an explicit type cast."
            } else {
                "No operator matches the given name and argument types. You might need to add explicit type casts."
            };
            SqlError::new(SqlState::UNDEFINED_FUNCTION, format!("operator does not exist: {shown}")).hint(hint)
        }
        .at(position))
    }

    /// What a user's operator demands of who uses it: EXECUTE on its function.
    fn note_operator(&self, found: &OperatorOf<'_>, position: u32) -> Result<()> {
        if !found.made {
            return Ok(());
        }
        self.require_also(Required::Called(found.function));
        let procedure = self.catalog.procedure(found.function);
        if let Some(called) = procedure.as_ref().filter(|called| called.is_made()) {
            // What takes its place is asked for anew.
            drop(self.catalog.routines_named(called.name));
        }
        if procedure.as_ref().is_some_and(|called| called.returns_set) {
            return Err(
                SqlError::unsupported("an operator whose function returns a set is").at(position)
            );
        }
        if procedure.is_some_and(|called| called.volatility == Volatility::Volatile) {
            self.apart.set(true);
        }
        Ok(())
    }

    /// The operators of a name in a schema, or where the path finds them: those that are built in, and those of extensions
    /// and users that the database has.
    fn operators_called(&self, op: &ast::Operator, prefix: bool) -> Vec<OperatorOf<'_>> {
        match op.schema.as_ref().and_then(|name| self.catalog.schema(name)) {
            Some(schema) => {
                let mut named = self.catalog.operators_named(&op.name, prefix);
                named.retain(|found| found.schema == schema.oid);
                named
            }
            None => self.catalog.operators_along(self.path, &op.name, prefix),
        }
    }

    fn check_operator_schema(&self, op: &ast::Operator) -> Result<()> {
        match &op.schema {
            Some(schema) if self.catalog.schema(schema).is_none() => Err(SqlError::new(
                SqlState::INVALID_SCHEMA_NAME,
                format!("schema \"{schema}\" does not exist"),
            )),
            _ => Ok(()),
        }
    }

    fn choose_operator<'o>(
        &self,
        candidates: &[OperatorOf<'o>],
        operands: &[Oid],
    ) -> Choice<OperatorOf<'o>> {
        let types = |found: &OperatorOf<'_>| match operands.len() {
            1 => vec![found.right],
            _ => vec![found.left, found.right],
        };
        let exact = |wanted: &[Oid]| {
            candidates
                .iter()
                .find(|found| types(found).iter().zip(wanted).all(|(have, want)| *have == want.0))
                .copied()
        };
        if let [left, right] = operands {
            // An untyped literal is taken to be of the other side's type first.
            let unknown = |ty: &Oid| ty.0 == oid::UNKNOWN;
            let wanted = match (unknown(left), unknown(right)) {
                (true, false) => [*right, *right],
                (false, true) => [*left, *left],
                _ => [*left, *right],
            };
            if let Some(found) =
                exact(&wanted).or_else(|| exact(&wanted.map(|ty| base_type(self.catalog, ty))))
            {
                return Choice::One(found);
            }
        } else if let Some(found) = exact(operands) {
            return Choice::One(found);
        }
        let listed: Vec<(OperatorOf<'o>, Vec<u32>)> =
            candidates.iter().map(|found| (*found, types(found))).collect();
        self.choose(listed, operands)
    }

    /// The rules of `func_match_argtypes` and `func_select_candidate`.
    fn choose<T: Copy>(&self, candidates: Vec<(T, Vec<u32>)>, inputs: &[Oid]) -> Choice<T> {
        let mut left: Vec<(T, Vec<u32>)> = candidates
            .into_iter()
            .filter(|(_, types)| {
                inputs
                    .iter()
                    .zip(types)
                    .all(|(input, ty)| self.can_coerce(*input, Oid(*ty), Context::Implicit))
                    && self.polymorphic_types_agree(types, inputs)
            })
            .collect();
        match left.len() {
            0 => return Choice::None,
            1 => return Choice::One(left[0].0),
            _ => {}
        }
        let inputs: Vec<Oid> = inputs.iter().map(|input| base_type(self.catalog, *input)).collect();
        let known: Vec<usize> =
            (0..inputs.len()).filter(|&at| inputs[at].0 != oid::UNKNOWN).collect();
        let unknown: Vec<usize> =
            (0..inputs.len()).filter(|&at| inputs[at].0 == oid::UNKNOWN).collect();

        keep_best(&mut left, |types| known.iter().filter(|&&at| types[at] == inputs[at].0).count());
        if let [(only, _)] = left.as_slice() {
            return Choice::One(*only);
        }
        keep_best(&mut left, |types| {
            known
                .iter()
                .filter(|&&at| {
                    types[at] == inputs[at].0 || is_preferred_for(inputs[at], Oid(types[at]))
                })
                .count()
        });
        if let [(only, _)] = left.as_slice() {
            return Choice::One(*only);
        }
        if unknown.is_empty() {
            return Choice::Ambiguous;
        }
        if let Some(slots) = unknown_slots(&left, &unknown) {
            let fits = |types: &[u32]| {
                unknown.iter().zip(&slots).all(|(&at, &(wanted, preferred))| {
                    let (found, is_preferred) = category(Oid(types[at]));
                    found == wanted && (!preferred || is_preferred)
                })
            };
            if left.iter().any(|(_, types)| fits(types)) {
                left.retain(|(_, types)| fits(types));
            }
            if let [(only, _)] = left.as_slice() {
                return Choice::One(*only);
            }
        }
        // If all known arguments have one type, the unknown ones are taken to have it too.
        if let Some(&first) = known.first()
            && known.iter().all(|&at| inputs[at] == inputs[first])
        {
            let alike = vec![inputs[first]; inputs.len()];
            let mut fitting = left.iter().filter(|(_, types)| {
                types.iter().all(|ty| self.can_coerce(inputs[first], Oid(*ty), Context::Implicit))
                    && self.polymorphic_types_agree(types, &alike)
            });
            if let (Some((only, _)), None) = (fitting.next(), fitting.next()) {
                return Choice::One(*only);
            }
        }
        Choice::Ambiguous
    }

    /// The functions called `name` in a schema, or where the path finds them, in its order: those that are built in, those of
    /// extensions that the database has, and users'.
    pub(super) fn functions_called<'n>(
        &'n self,
        name: &'n str,
        schema: Option<Oid>,
    ) -> impl Iterator<Item = Cow<'n, ProcedureOf<'n>>> + 'n {
        let built_in = functions_named(name).iter().copied().filter(move |found| {
            match (found.extension, schema) {
                (None, schema) => found.namespace == schema.map_or(PG_CATALOG, |schema| schema.0),
                (Some(_), Some(schema)) => self.catalog.function_schema(found) == Some(schema),
                (Some(_), None) => self
                    .catalog
                    .function_schema(found)
                    .is_some_and(|own| own.0 == PG_CATALOG || self.path.contains(&own)),
            }
        });
        let place = |schema: &Oid| self.path.iter().position(|known| known == schema);
        let mut made = self.catalog.routines_named(name);
        made.retain(|routine| match schema {
            Some(schema) => routine.schema == schema,
            None => {
                place(&routine.schema).is_some()
                    && !self.catalog.is_temporary_schema(routine.schema)
            }
        });
        made.sort_by_key(|routine| place(&routine.schema));
        let systems = place(&Oid(PG_CATALOG));
        let first = made.partition_point(|routine| place(&routine.schema) < systems);
        let behind = made.split_off(first);
        let [first, behind] = [made, behind].map(|routines| {
            routines.into_iter().filter_map(|routine| self.catalog.procedure(routine.oid))
        });
        first.chain(built_in.map(Cow::Borrowed)).chain(behind)
    }

    /// The function `name` of a schema, or of the path, for these arguments; named ones have a name. In messages it is a
    /// `kind` and has the name `shown`.
    ///
    /// # Errors
    /// 42883, 42725.
    pub(super) fn function<'n>(
        &'n self,
        name: &'n str,
        schema: Option<Oid>,
        arguments: &[(Option<&str>, Oid)],
        variadic: bool,
        (kind, shown): (&str, &str),
        position: u32,
    ) -> Result<ChosenFunction<'n>> {
        let inputs: Vec<Oid> = arguments.iter().map(|(_, ty)| *ty).collect();
        let mut candidates: Vec<ChosenFunction<'n>> = Vec::new();
        for procedure in self.functions_called(name, schema) {
            let procedure = match self.catalog.routine(Oid(procedure.oid)) {
                Some(routine) if kind == "procedure" && routine.procedure => {
                    Cow::Owned(routine.called_procedure())
                }
                _ => procedure,
            };
            for candidate in fitted(&procedure, arguments, variadic) {
                self.consider(&mut candidates, candidate);
            }
        }
        let in_order = |candidate: &ChosenFunction<'_>| -> Vec<u32> {
            let mut types = vec![0; inputs.len()];
            for (declared, source) in candidate.declared.iter().zip(&candidate.sources) {
                if let Some(source) = source {
                    types[*source] = *declared;
                }
            }
            types
        };
        let exact = candidates.iter().position(|candidate| {
            in_order(candidate).iter().zip(&inputs).all(|(have, want)| *have == want.0)
        });
        if let Some(found) = exact.filter(|found| !candidates[*found].ambiguous) {
            return Ok(candidates.swap_remove(found));
        }
        let listed = candidates
            .iter()
            .enumerate()
            .map(|(at, candidate)| (at, in_order(candidate)))
            .collect();
        let chosen = match exact {
            Some(_) => Choice::Ambiguous,
            None => self.choose(listed, &inputs),
        };
        let ambiguous = match chosen {
            Choice::One(at) if candidates[at].ambiguous => true,
            Choice::One(at) => return Ok(candidates.swap_remove(at)),
            Choice::None => false,
            Choice::Ambiguous => true,
        };
        let signature = self.signature(shown, arguments);
        Err(if ambiguous {
            SqlError::new(SqlState::AMBIGUOUS_FUNCTION, format!("{kind} {signature} is not unique"))
                .hint(format!("Could not choose a best candidate {kind}. You might need to add explicit type casts."))
        } else {
            SqlError::new(SqlState::UNDEFINED_FUNCTION, format!("{kind} {signature} does not exist")).hint(format!(
                "No {kind} matches the given name and argument types. You might need to add explicit type casts.",
            ))
        }
        .at(position))
    }

    /// A call as messages show it, by its arguments' types: `f(integer, x => text)`.
    pub(super) fn signature(&self, shown: &str, arguments: &[(Option<&str>, Oid)]) -> String {
        let types = arguments.iter().map(|(name, ty)| match name {
            Some(name) => format!("{name} => {}", self.type_text(*ty)),
            None => self.type_text(*ty),
        });
        format!("{shown}({})", types.collect::<Vec<_>>().join(", "))
    }

    /// Adds a candidate unless one with the same arguments is better: earlier in the path, or without VARIADIC. Of two that are
    /// as good neither is meant (`FuncnameGetCandidates`).
    fn consider<'n>(&self, candidates: &mut Vec<ChosenFunction<'n>>, new: ChosenFunction<'n>) {
        let spread = |candidate: &ChosenFunction<'_>| candidate.variadic_from.is_some();
        let schema =
            |candidate: &ChosenFunction<'_>| self.catalog.function_schema(&candidate.procedure);
        let given = |candidate: &ChosenFunction<'_>| -> Vec<(usize, u32)> {
            let pairs = candidate.sources.iter().zip(&candidate.declared);
            pairs.filter_map(|(source, ty)| source.map(|source| (source, *ty))).collect()
        };
        match candidates.iter().position(|old| given(old) == given(&new)) {
            Some(at) if schema(&candidates[at]) != schema(&new) => {}
            Some(at) => match (spread(&candidates[at]), spread(&new)) {
                (true, false) => candidates[at] = new,
                (false, true) => {}
                _ => candidates[at].ambiguous = true,
            },
            None => candidates.push(new),
        }
    }

    /// Whether polymorphic parameters could take these arguments together (`check_generic_type_consistency`). An untyped
    /// literal agrees with everything.
    fn polymorphic_types_agree(&self, declared: &[u32], inputs: &[Oid]) -> bool {
        let (mut element, mut array) = (None, None);
        let mut compatible: Vec<(Oid, u32)> = Vec::new();
        for (&declared, &input) in declared.iter().zip(inputs) {
            if input.0 == oid::UNKNOWN {
                continue;
            }
            let input = self.flattened(declared, input);
            match declared {
                oid::ANYCOMPATIBLE | oid::ANYCOMPATIBLENONARRAY => compatible.push((input, 0)),
                oid::ANYCOMPATIBLEARRAY => {
                    compatible.extend(self.element_of(input).map(|element| (element, 0)));
                }
                _ => {}
            }
            let agrees = |seen: &mut Option<Oid>| *seen.get_or_insert(input) == input;
            let of = self.element_of(input);
            let fits = match declared {
                oid::ANYELEMENT => agrees(&mut element),
                oid::ANYNONARRAY => of.is_none() && agrees(&mut element),
                oid::ANYENUM => is_enum(input.0) && agrees(&mut element),
                oid::ANYARRAY => (of.is_some() || input.0 == oid::ANYARRAY) && agrees(&mut array),
                oid::ANYCOMPATIBLENONARRAY => of.is_none(),
                oid::ANYCOMPATIBLEARRAY => of.is_some(),
                oid::ANYRANGE | oid::ANYCOMPATIBLERANGE => {
                    type_by_oid(input.0).is_some_and(|ty| ty.kind == TypeKind::Range)
                }
                oid::ANYMULTIRANGE | oid::ANYCOMPATIBLEMULTIRANGE => {
                    type_by_oid(input.0).is_some_and(|ty| ty.kind == TypeKind::Multirange)
                }
                _ => true,
            };
            if !fits {
                return false;
            }
        }
        // What "anycompatible" stands for is one type that all of them can become.
        let common = self.common_type(&compatible, None).ok().flatten();
        let becomes = |(ty, _): &(Oid, u32)| {
            common.is_some_and(|common| self.can_coerce(*ty, common, Context::Implicit))
        };
        if !compatible.iter().all(becomes) {
            return false;
        }
        match (element, array) {
            (Some(element), Some(array)) => {
                array.0 == oid::ANYARRAY || self.element_of(array) == Some(element)
            }
            _ => true,
        }
    }

    /// An argument's type as a polymorphic parameter sees it: one that asks for an array or a range looks through a domain.
    fn flattened(&self, declared: u32, actual: Oid) -> Oid {
        match declared {
            oid::ANYELEMENT
            | oid::ANYNONARRAY
            | oid::ANYENUM
            | oid::ANYCOMPATIBLE
            | oid::ANYCOMPATIBLENONARRAY => actual,
            _ => base_type(self.catalog, actual),
        }
    }

    /// Replaces polymorphic types by what the arguments make of them (`enforce_generic_type_consistency`): the types to cast
    /// arguments to, and the result's.
    ///
    /// # Errors
    /// 42804.
    pub(super) fn resolve_polymorphic(
        &self,
        declared: &[u32],
        actual: &[Oid],
        result: u32,
        position: u32,
    ) -> Result<(Vec<Oid>, Oid)> {
        if !declared.iter().any(|ty| is_polymorphic(*ty)) && !is_polymorphic(result) {
            return Ok((declared.iter().map(|ty| Oid(*ty)).collect(), Oid(result)));
        }
        let mismatch =
            |message: String| SqlError::new(SqlState::DATATYPE_MISMATCH, message).at(position);
        let (mut element, mut array) = (None, None);
        let mut compatible: Vec<(Oid, u32)> = Vec::new();
        for (&declared, &actual) in declared.iter().zip(actual) {
            let known = actual.0 != oid::UNKNOWN;
            let actual = known.then(|| self.flattened(declared, actual));
            match declared {
                oid::ANYELEMENT | oid::ANYNONARRAY | oid::ANYENUM => {
                    if let (Some(before), Some(now)) = (element, actual)
                        && before != now
                    {
                        return Err(mismatch(
                            "arguments declared \"anyelement\" are not all alike".to_owned(),
                        )
                        .detail(format!(
                            "{} versus {}",
                            self.type_text(before),
                            self.type_text(now)
                        )));
                    }
                    element = element.or(actual);
                }
                oid::ANYARRAY => {
                    if let (Some(before), Some(now)) = (array, actual)
                        && before != now
                    {
                        return Err(mismatch(
                            "arguments declared \"anyarray\" are not all alike".to_owned(),
                        )
                        .detail(format!(
                            "{} versus {}",
                            self.type_text(before),
                            self.type_text(now)
                        )));
                    }
                    array = array.or(actual);
                }
                oid::ANYCOMPATIBLE | oid::ANYCOMPATIBLENONARRAY => {
                    compatible.extend(actual.map(|ty| (ty, position)));
                }
                oid::ANYCOMPATIBLEARRAY => {
                    if let Some(array) = actual {
                        let Some(element) = self.element_of(array) else {
                            return Err(mismatch(format!(
                                "argument declared anycompatiblearray is not an array but type {}",
                                self.type_text(array)
                            )));
                        };
                        compatible.push((element, position));
                    }
                }
                ranged if is_polymorphic(ranged) => {
                    return Err(
                        SqlError::unsupported("polymorphic range functions are").at(position)
                    );
                }
                _ => {}
            }
        }
        if let Some(array) = array
            && array.0 != oid::ANYARRAY
        {
            let Some(of) = self.element_of(array) else {
                return Err(mismatch(format!(
                    "argument declared anyarray is not an array but type {}",
                    self.type_text(array)
                )));
            };
            if let Some(element) = element
                && element != of
            {
                return Err(mismatch(
                    "argument declared anyarray is not consistent with argument declared anyelement".to_owned(),
                )
                .detail(format!("{} versus {}", self.type_text(array), self.type_text(element))));
            }
            element = Some(of);
        }
        let family = [oid::ANYELEMENT, oid::ANYNONARRAY, oid::ANYARRAY, oid::ANYENUM];
        // Of a column like those of pg_statistic nobody knows what its arrays are of: it goes where nothing depends on that.
        if array.is_some_and(|array| array.0 == oid::ANYARRAY)
            && (declared.iter().filter(|ty| family.contains(ty)).count() != 1
                || (result != oid::ANYARRAY && family.contains(&result)))
        {
            let message = "cannot determine element type of \"anyarray\" argument";
            return Err(mismatch(message.to_owned()).nowhere());
        }
        let generic = declared.iter().chain([&result]);
        let uses = |which: &[u32]| generic.clone().any(|ty| which.contains(ty));
        let undetermined = || {
            mismatch(
                "could not determine polymorphic type because input has type unknown".to_owned(),
            )
            .nowhere()
        };
        if element.is_none() && array.is_none() && uses(&family) {
            return Err(undetermined());
        }
        let common =
            if uses(&[oid::ANYCOMPATIBLE, oid::ANYCOMPATIBLEARRAY, oid::ANYCOMPATIBLENONARRAY]) {
                self.common_type(&compatible, Some("anycompatible"))?
            } else {
                None
            };
        let array_over = |element: Option<Oid>| {
            let element = element.ok_or_else(undetermined)?;
            array_of(self.catalog, element).ok_or_else(|| {
                SqlError::new(
                    SqlState::UNDEFINED_OBJECT,
                    format!("could not find array type for data type {}", self.type_text(element)),
                )
                .at(position)
            })
        };
        let resolve = |ty: u32| match ty {
            oid::ANYELEMENT | oid::ANYNONARRAY | oid::ANYENUM => element.ok_or_else(undetermined),
            oid::ANYARRAY => match array {
                Some(array) => Ok(array),
                None => array_over(element),
            },
            oid::ANYCOMPATIBLE | oid::ANYCOMPATIBLENONARRAY => common.ok_or_else(undetermined),
            oid::ANYCOMPATIBLEARRAY => array_over(common),
            other => Ok(Oid(other)),
        };
        let arguments = declared.iter().map(|ty| resolve(*ty)).collect::<Result<_>>()?;
        Ok((arguments, resolve(result)?))
    }

    /// The element type of an array type, a row type's too.
    pub(super) fn element_of(&self, array: Oid) -> Option<Oid> {
        let array = base_type(self.catalog, array);
        element_type(array.0).map(Oid).or_else(|| {
            let relation = self.catalog.row_type(array)?;
            (relation.row_type.1 == array).then_some(relation.row_type.0)
        })
    }
}

fn is_preferred_for(input: Oid, candidate: Oid) -> bool {
    let (wanted, (found, preferred)) = (category(input).0, category(candidate));
    wanted == found && preferred
}

/// Keeps the candidates with the highest score.
fn keep_best<T>(candidates: &mut Vec<(T, Vec<u32>)>, score: impl Fn(&[u32]) -> usize) {
    let best = candidates.iter().map(|(_, types)| score(types)).max().unwrap_or(0);
    candidates.retain(|(_, types)| score(types) == best);
}

/// For each untyped argument the category it is taken to have, and whether it must be the preferred type of it; none if the
/// candidates disagree. String wins where it is among them.
fn unknown_slots<T>(candidates: &[(T, Vec<u32>)], unknown: &[usize]) -> Option<Vec<(char, bool)>> {
    unknown
        .iter()
        .map(|&at| {
            let mut slot: Option<(char, bool)> = None;
            let mut conflict = false;
            for (_, types) in candidates {
                let (found, preferred) = category(Oid(types[at]));
                slot = match slot {
                    None => Some((found, preferred)),
                    Some((wanted, any)) if wanted == found => Some((wanted, any || preferred)),
                    Some(_) if found == 'S' => Some((found, preferred)),
                    kept => {
                        conflict = true;
                        kept
                    }
                };
            }
            slot.filter(|(wanted, _)| !conflict || *wanted == 'S')
        })
        .collect()
}

/// The ways in which a function can take these arguments.
fn fitted<'n>(
    procedure: &Cow<'n, ProcedureOf<'n>>,
    arguments: &[(Option<&str>, Oid)],
    variadic: bool,
) -> Vec<ChosenFunction<'n>> {
    let (given, declared) = (arguments.len(), procedure.arguments.len());
    if arguments.iter().any(|(name, _)| name.is_some()) {
        return named(procedure, arguments, variadic).into_iter().collect();
    }
    let mut ways = Vec::new();
    let ordered_set = procedure.ordered_set().is_some();
    let spread = procedure.variadic != 0 && !variadic && !ordered_set && given >= declared;
    // Whoever gives the array itself says VARIADIC.
    if !spread && given <= declared && given + procedure.default_count >= declared {
        ways.push(ChosenFunction {
            procedure: procedure.clone(),
            declared: procedure.arguments.to_vec(),
            sources: (0..declared).map(|at| (at < given).then_some(at)).collect(),
            variadic_from: None,
            ambiguous: false,
        });
    }
    if spread {
        let fixed = declared - 1;
        let mut types = procedure.arguments[..fixed].to_vec();
        types.resize(given, procedure.variadic);
        ways.push(ChosenFunction {
            procedure: procedure.clone(),
            declared: types,
            sources: (0..given).map(Some).collect(),
            variadic_from: Some(fixed),
            ambiguous: false,
        });
    }
    ways
}

/// Puts named arguments in their places. What VARIADIC would spread has no names, and an array that is given as VARIADIC has
/// to stand where that one is.
fn named<'n>(
    procedure: &Cow<'n, ProcedureOf<'n>>,
    arguments: &[(Option<&str>, Oid)],
    variadic: bool,
) -> Option<ChosenFunction<'n>> {
    if procedure.variadic != 0 && !variadic {
        return None;
    }
    let declared = procedure.arguments.len();
    let mut sources: Vec<Option<usize>> = vec![None; declared];
    for (at, (name, _)) in arguments.iter().enumerate() {
        let place = match name {
            None => at,
            Some(name) => procedure.input_names().position(|known| known == *name)?,
        };
        if sources.get(place)?.is_some() {
            return None;
        }
        sources[place] = Some(at);
    }
    let last = arguments.len().checked_sub(1);
    if variadic && last.is_some_and(|last| sources[last] != Some(last)) {
        return None;
    }
    let first_default = declared - procedure.default_count;
    if sources[..first_default].iter().any(Option::is_none) {
        return None;
    }
    Some(ChosenFunction {
        procedure: procedure.clone(),
        declared: procedure.arguments.to_vec(),
        sources,
        variadic_from: None,
        ambiguous: false,
    })
}
