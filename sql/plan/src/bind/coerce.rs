//! Casts: which there are, which a context allows, and the expression that makes one (manual, sections 10.1 and 10.4).

use crate::bind::scope::column_at;
use crate::bind::set_calls;
use crate::bind::type_name::{category, fields_of, oid};
use crate::bind::typed::{CallForm, Expr, Literal};
use crate::bind::{Binder, Required};
use crate::catalog::CatalogSnapshot;
use crate::catalog::builtin::function;
use crate::catalog::builtin::{CastContext, CastMethod};
use crate::catalog::builtin::{element_type, is_domain, type_by_oid};
use crate::catalog::search_path::schema_in_name;
use crate::error::{Result, SqlError};
use crate::sqlstate::SqlState;
use crate::types::{Form, Oid, SqlType, form, oids};
use std::sync::Arc;

/// How willing a place is to cast.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Context {
    /// Arguments of operators and functions.
    Implicit,
    /// INSERT and UPDATE.
    Assignment,
    /// CAST.
    Explicit,
}

/// The way from one type to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pathway {
    /// Held alike.
    Relabel,
    /// A function of `pg_proc`.
    Function(u32),
    /// Through the text form.
    ViaText,
    /// Element by element.
    Array,
}

const fn plain(ty: u32) -> SqlType {
    SqlType::plain(ty)
}

/// The type that a domain stands on; any other type is its own.
#[must_use]
pub fn base_type(catalog: &CatalogSnapshot, ty: Oid) -> Oid {
    catalog.base_type(SqlType { oid: ty, typmod: -1 }).oid
}

/// Whether a type of a function's signature stands for others.
#[must_use]
pub fn is_polymorphic(ty: u32) -> bool {
    matches!(
        ty,
        oid::ANYELEMENT
            | oid::ANYARRAY
            | oid::ANYNONARRAY
            | oid::ANYENUM
            | oid::ANYRANGE
            | oid::ANYMULTIRANGE
            | oid::ANYCOMPATIBLE
            | oid::ANYCOMPATIBLEARRAY
            | oid::ANYCOMPATIBLENONARRAY
            | oid::ANYCOMPATIBLERANGE
            | oid::ANYCOMPATIBLEMULTIRANGE
    )
}

/// Whether arrays of one of these types show numbers, and those of the other names: what an array is of stands in it.
fn shows_names(from: u32, to: u32) -> bool {
    let names = |ty: u32| form(ty) == Form::Reg;
    names(from) != names(to) || names(from) && from != to
}

/// The way from `source` to `target` that `context` allows (`find_coercion_pathway`).
#[must_use]
pub fn pathway(
    catalog: &CatalogSnapshot,
    source: Oid,
    target: Oid,
    context: Context,
) -> Option<Pathway> {
    let (source, target) = (base_type(catalog, source), base_type(catalog, target));
    if source == target {
        return Some(Pathway::Relabel);
    }
    if let Some(found) = catalog.cast(source, target) {
        let needed = match found.context {
            CastContext::Implicit => Context::Implicit,
            CastContext::Assignment => Context::Assignment,
            CastContext::Explicit => Context::Explicit,
        };
        return (context >= needed).then_some(match found.method {
            CastMethod::Function => Pathway::Function(found.function.0),
            CastMethod::InOut => Pathway::ViaText,
            CastMethod::Binary => Pathway::Relabel,
        });
    }
    if target.0 != oid::OIDVECTOR
        && target.0 != oid::INT2VECTOR
        && let (Some(from), Some(to)) = (element_type(source.0), element_type(target.0))
    {
        return match pathway(catalog, Oid(from), Oid(to), context)? {
            // Each element is held against a domain, or written by another name.
            Pathway::Relabel if from == to || !is_domain(to) && !shows_names(from, to) => {
                Some(Pathway::Relabel)
            }
            _ => Some(Pathway::Array),
        };
    }
    let text = |ty: Oid| category(ty).0 == 'S';
    if (context >= Context::Assignment && text(target))
        || (context >= Context::Explicit && text(source))
    {
        return Some(Pathway::ViaText);
    }
    None
}

impl Binder<'_> {
    /// Whether a value of `source` can stand where `target` is wanted (`can_coerce_type`).
    pub(super) fn can_coerce(&self, source: Oid, target: Oid, context: Context) -> bool {
        if source == target || target.0 == oid::ANY || source.0 == oid::UNKNOWN {
            return true;
        }
        if is_polymorphic(target.0) {
            return true;
        }
        if pathway(self.catalog, source, target, context).is_some() {
            return true;
        }
        let composite = |ty: Oid| fields_of(self.catalog, ty).is_some();
        (source.0 == oid::RECORD && composite(target))
            || (target.0 == oid::RECORD && composite(source))
            || self.is_array_of_rows(source, target)
    }

    /// Whether a value of `source` is one of `record[]` too.
    fn is_array_of_rows(&self, source: Oid, target: Oid) -> bool {
        let row = |ty: Oid| fields_of(self.catalog, ty).is_some();
        target.0 == oid::RECORD_ARRAY && self.element_of(source).is_some_and(row)
    }

    /// A value of `target`, without its modifier (`coerce_type`); the caller has made sure that there is a way.
    fn convert(
        &self,
        expr: Expr,
        target: SqlType,
        context: Context,
        position: u32,
    ) -> Result<Expr> {
        let source = expr.ty();
        if source.oid == target.oid
            || target.oid.0 == oid::ANY
            || is_polymorphic(target.oid.0)
                && (target.oid.0 != oid::ANYARRAY || self.element_of(source.oid).is_some())
        {
            return Ok(expr);
        }
        // The value is cast below its collation.
        if let Expr::Collate { operand, collation, position: at, .. } = expr {
            let value = self.convert(*operand, target, context, position)?;
            return Ok(self.collated(value, collation, at));
        }
        // A parameter takes the domain as its type, and is held against it when it is bound.
        let parameter = matches!(expr, Expr::Parameter(..)) && source.oid.0 == oid::UNKNOWN;
        if is_domain(target.oid.0) && !parameter {
            let base = self.catalog.base_type(target);
            let value = if self.prints() {
                self.below_domain(expr, base, context, position)?
            } else {
                self.cast(expr, base, context, position)?
            };
            self.meet_domain(target.oid);
            return Ok(Expr::Domain(Box::new(value), SqlType { oid: target.oid, typmod: -1 }));
        }
        if source.oid.0 == oid::UNKNOWN {
            if target.oid.0 == oid::ANYARRAY && matches!(expr, Expr::Constant(Literal::Text(_), _))
            {
                let refused = "cannot accept a value of type anyarray";
                return Err(SqlError::new(SqlState::FEATURE_NOT_SUPPORTED, refused).at(position));
            }
            return self.convert_unknown(expr, target, position);
        }
        match pathway(self.catalog, source.oid, target.oid, context) {
            Some(Pathway::Relabel)
                if is_oid(target.oid)
                    && matches!(expr, Expr::Constant(Literal::Int4(_), _))
                    && !self.prints() =>
            {
                // An int4 and an oid are the same bits under different names.
                let Expr::Constant(Literal::Int4(value), _) = expr else {
                    unreachable!("just matched")
                };
                Ok(Expr::Constant(Literal::Oid(value.cast_unsigned()), target))
            }
            Some(Pathway::Relabel) => {
                Ok(Expr::Relabel(Box::new(expr), SqlType { oid: target.oid, typmod: -1 }))
            }
            Some(Pathway::Function(chosen)) => {
                let declared = self.cast_arguments(Oid(chosen));
                Ok(cast_call(chosen, declared, expr, target, context, position))
            }
            Some(Pathway::ViaText) => {
                Ok(Expr::ViaText(Box::new(expr), SqlType { oid: target.oid, typmod: -1 }))
            }
            Some(Pathway::Array) => self.convert_array(expr, target, context, position),
            None => {
                if let (Expr::Row(fields, ..), Some(wanted)) =
                    (&expr, fields_of(self.catalog, target.oid))
                {
                    return self.convert_row(fields.clone(), &wanted, target, context, position);
                }
                // The value keeps its own type, which says its fields' names.
                if target.oid.0 == oid::RECORD || self.is_array_of_rows(source.oid, target.oid) {
                    return Ok(expr);
                }
                Err(self.cannot_cast(source, target).at(position))
            }
        }
    }

    /// What is printed below a domain: how a value becomes one of the base type, and that it is held against the modifier of
    /// that, the domain's name says (`hide_coercion_node`).
    fn below_domain(
        &self,
        expr: Expr,
        base: SqlType,
        context: Context,
        position: u32,
    ) -> Result<Expr> {
        let source = expr.ty().oid;
        if source.0 != oid::UNKNOWN && pathway(self.catalog, source, base.oid, context).is_some() {
            return Ok(expr);
        }
        if !self.can_coerce(source, base.oid, context) {
            return Err(self.cannot_cast(expr.ty(), base).at(position));
        }
        self.convert(expr, base, context, position)
    }

    /// A quoted literal, a parameter without a type, or an expression of them.
    fn convert_unknown(&self, expr: Expr, target: SqlType, position: u32) -> Result<Expr> {
        // An interval's modifier says which fields its text means; all others are applied behind.
        let typmod = if target.oid.0 == oid::INTERVAL { target.typmod } else { -1 };
        let ty = SqlType { oid: target.oid, typmod };
        match expr {
            Expr::Constant(Literal::Null, _) => Ok(Expr::Constant(Literal::Null, ty)),
            Expr::Constant(Literal::Text(text), _) => {
                if names_in_schemas(target.oid.0)
                    && let Some(schema) = schema_in_name(&text)
                    && let Some(schema) = self.catalog.schema(&schema)
                {
                    self.require_also(Required::Schema(schema.oid, position));
                }
                let read = self.constants.read(ty, &text);
                let literal =
                    read.map_err(|error| error.nowhere().at(self.literal_at(&text, position)))?;
                Ok(Expr::Constant(literal, ty))
            }
            Expr::Parameter(number, _) => self.parameter_as(number, target, position),
            other => Ok(Expr::ViaText(Box::new(other), SqlType { oid: target.oid, typmod: -1 })),
        }
    }

    /// Where a literal stands, whatever it is part of; `otherwise` for one that was not written.
    fn literal_at(&self, text: &Arc<str>, otherwise: u32) -> u32 {
        let literals = self.literals.borrow();
        let found = literals.iter().find(|(known, _)| Arc::ptr_eq(known, text));
        found.map_or(otherwise, |(_, at)| *at)
    }

    fn convert_array(
        &self,
        expr: Expr,
        target: SqlType,
        context: Context,
        position: u32,
    ) -> Result<Expr> {
        let base = self.catalog.base_type(expr.ty());
        let expr = if base == expr.ty() { expr } else { Expr::Relabel(Box::new(expr), base) };
        let (Some(from), Some(to)) = (element_type(expr.ty().oid.0), element_type(target.oid.0))
        else {
            return Err(self.cannot_cast(expr.ty(), target).at(position));
        };
        let element = column_at(0, SqlType { oid: Oid(from), typmod: expr.ty().typmod });
        let element = self.convert(element, plain(to), context, position)?;
        Ok(Expr::ArrayCast {
            operand: Box::new(expr),
            element: Box::new(element),
            ty: SqlType { oid: target.oid, typmod: -1 },
        })
    }

    fn convert_row(
        &self,
        fields: Vec<Expr>,
        wanted: &[(Arc<str>, SqlType)],
        target: SqlType,
        context: Context,
        position: u32,
    ) -> Result<Expr> {
        if fields.len() != wanted.len() {
            let what = if fields.len() < wanted.len() { "few" } else { "many" };
            return Err(self
                .cannot_cast(plain(oid::RECORD), target)
                .detail(format!("Input has too {what} columns."))
                .at(position));
        }
        let converted = fields.into_iter().zip(wanted).enumerate();
        let converted = converted.map(|(at, (field, (_, ty)))| {
            let from = field.ty();
            self.cast(field, *ty, context, position).map_err(|error| {
                if error.state() != SqlState::CANNOT_COERCE {
                    return error;
                }
                let shown = |ty: SqlType| self.type_text(ty.oid);
                let (from, to) = (shown(from), shown(*ty));
                let detail = format!("Cannot cast type {from} to {to} in column {}.", at + 1);
                self.cannot_cast(plain(oid::RECORD), target).detail(detail).at(position)
            })
        });
        Ok(Expr::Row(converted.collect::<Result<_>>()?, target, None))
    }

    /// Applies a modifier by the type's own length function, if the value may not have it already (`coerce_type_typmod`). What is
    /// cast to a type without one shows that it has none.
    fn apply_modifier(&self, expr: Expr, target: SqlType, context: Context, position: u32) -> Expr {
        let has_one = expr.ty().oid == target.oid && expr.ty().typmod >= 0;
        if target.typmod < 0 && has_one && context == Context::Explicit {
            return Expr::Relabel(Box::new(expr), target);
        }
        if target.typmod < 0 || expr.ty() == target {
            return expr;
        }
        if matches!(expr, Expr::Constant(Literal::Null, _)) && !self.prints() {
            return Expr::Constant(Literal::Null, target);
        }
        if let Some(element) = element_type(target.oid.0)
            && !matches!(target.oid.0, oid::OIDVECTOR | oid::INT2VECTOR)
        {
            let inner = SqlType { oid: Oid(element), typmod: target.typmod };
            let column = column_at(0, plain(element));
            return match self.apply_modifier(column, inner, context, position) {
                Expr::Column { .. } => expr,
                changed => Expr::ArrayCast {
                    operand: Box::new(expr),
                    element: Box::new(changed),
                    ty: target,
                },
            };
        }
        match self.catalog.cast(target.oid, target.oid) {
            Some(found) => {
                let declared = self.cast_arguments(found.function);
                cast_call(found.function.0, declared, expr, target, context, position)
            }
            None => Expr::Relabel(Box::new(expr), target),
        }
    }

    /// How many arguments the function of a cast takes. One that a user made is asked whether it may be called.
    fn cast_arguments(&self, called: Oid) -> usize {
        if let Some(found) = function(called.0) {
            return found.arguments.len();
        }
        let Some(routine) = self.catalog.routine(called) else { return 1 };
        // What takes its place is asked for anew.
        drop(self.catalog.routines_named(&routine.name));
        self.require_also(Required::Called(called));
        routine.inputs().count()
    }

    /// A value of `target` with its modifier, as `context` allows.
    ///
    /// # Errors
    /// 42846 `cannot cast type x to y`; what reading a literal fails with.
    pub(super) fn cast(
        &self,
        expr: Expr,
        target: SqlType,
        context: Context,
        position: u32,
    ) -> Result<Expr> {
        if !self.can_coerce(expr.ty().oid, target.oid, context) {
            return Err(self.cannot_cast(expr.ty(), target).at(position));
        }
        if let Expr::Collate { operand, collation, position: at, .. } = expr {
            let value = self.cast(*operand, target, context, position)?;
            return Ok(self.collated(value, collation, at));
        }
        // A cast function that takes the modifier has applied it.
        let one_step = matches!(
            pathway(self.catalog, expr.ty().oid, target.oid, context),
            Some(Pathway::Function(chosen))
                if expr.ty().oid != target.oid && self.cast_arguments(Oid(chosen)) > 1
        );
        let converted = self.convert(expr, target, context, position)?;
        Ok(if one_step {
            converted
        } else {
            self.apply_modifier(converted, target, context, position)
        })
    }

    /// A value for an argument of a type without a modifier.
    ///
    /// # Errors
    /// As [`Binder::cast`].
    pub(super) fn argument(&self, expr: Expr, target: Oid, position: u32) -> Result<Expr> {
        self.convert(expr, SqlType { oid: target, typmod: -1 }, Context::Implicit, position)
    }

    /// A condition.
    ///
    /// # Errors
    /// 42804 `argument of WHERE must be type boolean, not type x`.
    pub(super) fn boolean(&self, expr: Expr, clause: &str, position: u32) -> Result<Expr> {
        if set_calls::returns_set(&expr) {
            return Err(SqlError::new(
                SqlState::DATATYPE_MISMATCH,
                format!("argument of {clause} must not return a set"),
            )
            .at(position));
        }
        // A domain is not printed as what it is over.
        let shown = self.prints() && self.catalog.base_type(expr.ty()).oid.0 == oid::BOOL;
        if expr.ty().oid.0 == oid::BOOL || shown {
            return Ok(expr);
        }
        if !self.can_coerce(expr.ty().oid, Oid(oid::BOOL), Context::Implicit) {
            return Err(SqlError::new(
                SqlState::DATATYPE_MISMATCH,
                format!(
                    "argument of {clause} must be type boolean, not type {}",
                    self.type_text(expr.ty().oid)
                ),
            )
            .at(position));
        }
        self.argument(expr, Oid(oid::BOOL), position)
    }

    /// The type that a list of values has in common (`select_common_type`): none if it has none and `context` is none.
    ///
    /// # Errors
    /// 42804 `CASE types x and y cannot be matched`.
    pub(super) fn common_type(
        &self,
        types: &[(Oid, u32)],
        context: Option<&str>,
    ) -> Result<Option<Oid>> {
        let Some(&(first, _)) = types.first() else { return Ok(Some(Oid(oid::TEXT))) };
        if first.0 != oid::UNKNOWN && types.iter().all(|(ty, _)| *ty == first) {
            return Ok(Some(first));
        }
        let mut chosen = base_type(self.catalog, first);
        for &(ty, position) in &types[1..] {
            let ty = base_type(self.catalog, ty);
            if ty.0 == oid::UNKNOWN || ty == chosen {
                continue;
            }
            if chosen.0 == oid::UNKNOWN {
                chosen = ty;
                continue;
            }
            let ((chosen_category, preferred), (new_category, _)) =
                (category(chosen), category(ty));
            if chosen_category != new_category {
                let Some(context) = context else { return Ok(None) };
                return Err(SqlError::new(
                    SqlState::DATATYPE_MISMATCH,
                    format!(
                        "{context} types {} and {} cannot be matched",
                        self.type_text(chosen),
                        self.type_text(ty)
                    ),
                )
                .at(position));
            }
            if !preferred
                && self.can_coerce(chosen, ty, Context::Implicit)
                && !self.can_coerce(ty, chosen, Context::Implicit)
            {
                chosen = ty;
            }
        }
        Ok(Some(if chosen.0 == oid::UNKNOWN { Oid(oid::TEXT) } else { chosen }))
    }

    /// A value under the collation that it had before it was cast, which a type without collations does without.
    fn collated(&self, value: Expr, collation: Oid, position: u32) -> Expr {
        if self.catalog.collation_of(value.ty().oid) == Oid(0) {
            return value;
        }
        let ty = value.ty();
        Expr::Collate { operand: Box::new(value), collation, position, ty }
    }

    /// Brings values to their common type.
    ///
    /// # Errors
    /// 42804; 42846 `COALESCE could not convert type x to y`.
    pub(super) fn to_common(
        &self,
        values: Vec<(Expr, u32)>,
        context: &str,
    ) -> Result<(Vec<Expr>, SqlType)> {
        self.to_common_each(values, context, |_| context)
    }

    /// As [`Binder::to_common`], where an error names each of them otherwise than all.
    pub(super) fn to_common_each<'c>(
        &self,
        values: Vec<(Expr, u32)>,
        context: &str,
        each: impl Fn(usize) -> &'c str,
    ) -> Result<(Vec<Expr>, SqlType)> {
        let types: Vec<(Oid, u32)> =
            values.iter().map(|(value, at)| (value.ty().oid, *at)).collect();
        let common = self.common_type(&types, Some(context))?.unwrap_or(Oid(oid::TEXT));
        let typmod = self.common_modifier(values.iter().map(|(value, _)| value.ty()), common);
        let ty = SqlType { oid: common, typmod };
        let converted = values
            .into_iter()
            .enumerate()
            .map(|(number, (value, at))| self.to_common_one(value, ty, each(number), at))
            .collect::<Result<_>>()?;
        Ok((converted, ty))
    }

    pub(super) fn to_common_one(
        &self,
        value: Expr,
        ty: SqlType,
        context: &str,
        at: u32,
    ) -> Result<Expr> {
        let source = value.ty();
        if !self.can_coerce(source.oid, ty.oid, Context::Implicit) {
            return Err(SqlError::new(
                SqlState::CANNOT_COERCE,
                format!(
                    "{context} could not convert type {} to {}",
                    self.type_text(source.oid),
                    self.type_text(ty.oid)
                ),
            )
            .at(at));
        }
        self.argument(value, ty.oid, at)
    }

    /// The modifier that values of one type share; -1 if they do not.
    pub(super) fn common_modifier(
        &self,
        mut types: impl Iterator<Item = SqlType>,
        common: Oid,
    ) -> i32 {
        let Some(first) = types.next() else { return -1 };
        let shared = first.oid == common && types.all(|ty| ty == first);
        if shared { first.typmod } else { -1 }
    }

    pub(super) fn cannot_cast(&self, source: SqlType, target: SqlType) -> SqlError {
        SqlError::new(
            SqlState::CANNOT_COERCE,
            format!(
                "cannot cast type {} to {}",
                self.type_text(source.oid),
                self.type_text(target.oid)
            ),
        )
    }
}

/// A call of a cast function: the value, and where it is declared so the modifier and whether the cast is explicit.
fn cast_call(
    function: u32,
    declared: usize,
    value: Expr,
    target: SqlType,
    context: Context,
    position: u32,
) -> Expr {
    let mut arguments = vec![value];
    if declared > 1 {
        arguments.push(Expr::Constant(Literal::Int4(target.typmod), plain(oid::INT4)));
    }
    if declared > 2 {
        let explicit = Literal::Bool(context == Context::Explicit);
        arguments.push(Expr::Constant(explicit, plain(oid::BOOL)));
    }
    let typmod = if declared > 1 { target.typmod } else { -1 };
    Expr::Call {
        function: Oid(function),
        arguments,
        ty: SqlType { oid: target.oid, typmod },
        form: CallForm::Cast,
        position,
    }
}

/// Whether texts of this type may name a schema.
fn names_in_schemas(ty: u32) -> bool {
    matches!(
        ty,
        oids::REGCLASS
            | oids::REGTYPE
            | oids::REGPROC
            | oids::REGPROCEDURE
            | oids::REGOPER
            | oids::REGOPERATOR
            | oids::REGCOLLATION
    )
}

/// Whether values of a type are OIDs: oid and the reg* types.
fn is_oid(ty: Oid) -> bool {
    ty.0 == oid::OID || type_by_oid(ty.0).is_some_and(|found| found.name.starts_with("reg"))
}
