//! Arrays: ARRAY[...], their types, and subscripts.

use crate::bind::Binder;
use crate::bind::coerce::{Context, base_type};
use crate::bind::expression::Place;
use crate::bind::type_name::{array_of, oid};
use crate::bind::typed::{CallForm, Expr, Literal};
use crate::error::{Result, SqlError};
use crate::parse::ast::{self, ExprKind, Index};
use crate::sqlstate::SqlState;
use crate::types::array::check_dimensions;
use crate::types::{Oid, SqlType, oids};

/// `jsonb_extract_path`, which subscripts of a jsonb stand for.
const JSONB_EXTRACT_PATH: u32 = 3217;

/// `fetchval`, which a subscript of an hstore stands for.
const HSTORE_FETCHVAL: u32 = 14_355;

impl Binder<'_> {
    /// The only subscript of an hstore, as a text, and what it was given as.
    pub(super) fn hstore_key(
        &self,
        indices: &[Index],
        place: &Place<'_>,
    ) -> Result<(Expr, Vec<SqlType>)> {
        let [Index::At(expr)] = indices else {
            return Err(SqlError::new(
                SqlState::FEATURE_NOT_SUPPORTED,
                "hstore allows only one subscript",
            ));
        };
        let at = self.position(expr.start());
        let bound = self.expression(expr, place)?;
        let (source, text) = (bound.ty(), SqlType::plain(oid::TEXT));
        if source.oid.0 != oid::UNKNOWN
            && !self.can_coerce(source.oid, text.oid, Context::Assignment)
        {
            let message = "hstore subscript must have type text";
            return Err(SqlError::new(SqlState::DATATYPE_MISMATCH, message).at(at));
        }
        Ok((self.cast(bound, text, Context::Assignment, at)?, vec![source]))
    }

    /// The subscripts of a jsonb as a path: texts, and integers as texts.
    pub(super) fn json_path(
        &self,
        indices: &[Index],
        place: &Place<'_>,
    ) -> Result<(Expr, Vec<SqlType>)> {
        let mut elements = Vec::with_capacity(indices.len());
        let mut given = Vec::with_capacity(indices.len());
        for index in indices {
            let expr = match index {
                Index::At(expr) => expr,
                Index::Slice(low, high) => {
                    let shown = high.as_ref().or(low.as_ref());
                    let error = SqlError::new(
                        SqlState::DATATYPE_MISMATCH,
                        "jsonb subscript does not support slices",
                    );
                    return Err(match shown {
                        Some(expr) => error.at(self.position(expr.start())),
                        None => error,
                    });
                }
            };
            let at = self.position(expr.start());
            let bound = self.expression(expr, place)?;
            let text = SqlType::plain(oid::TEXT);
            let integer = Oid(oid::INT4);
            let source = bound.ty().oid;
            given.push(bound.ty());
            elements.push(if source.0 == oid::UNKNOWN {
                self.cast(bound, text, Context::Assignment, at)?
            } else if self.can_coerce(source, integer, Context::Implicit) {
                let number =
                    self.cast(bound, SqlType { oid: integer, typmod: -1 }, Context::Implicit, at)?;
                self.cast(number, text, Context::Assignment, at)?
            } else if self.can_coerce(source, text.oid, Context::Implicit) {
                self.cast(bound, text, Context::Implicit, at)?
            } else {
                return Err(SqlError::new(
                    SqlState::DATATYPE_MISMATCH,
                    format!("subscript type {} is not supported", self.type_text(source)),
                )
                .hint("jsonb subscript must be coercible to either integer or text.")
                .at(at));
            });
        }
        let array = self.array_type(Oid(oid::TEXT), 0)?;
        Ok((Expr::Array { elements, ty: SqlType { oid: array, typmod: -1 } }, given))
    }

    /// A subscript of an array.
    pub(super) fn array_index(&self, expr: &ast::Expr, place: &Place<'_>) -> Result<Expr> {
        let bound = self.expression(expr, place)?;
        let at = self.position(expr.start());
        if !self.can_coerce(bound.ty().oid, Oid(oid::INT4), Context::Assignment) {
            return Err(SqlError::new(
                SqlState::DATATYPE_MISMATCH,
                "array subscript must have type integer",
            )
            .at(self.position(expr.written_start())));
        }
        // No text shows this cast.
        if self.prints() && bound.ty().oid.0 != oid::UNKNOWN {
            return Ok(bound);
        }
        self.cast(bound, SqlType::plain(oid::INT4), Context::Assignment, at)
    }

    /// The type of arrays of `element`; of an array's own type where `element` is one (arrays nest in no type of their own).
    pub(super) fn array_around(&self, element: Oid, at: u32) -> Result<Oid> {
        match self.is_array(element) && !matches!(element.0, oid::INT2VECTOR | oid::OIDVECTOR) {
            true => Ok(element),
            false => self.array_type(element, at),
        }
    }

    /// Whether it is a type of arrays itself: a domain over one is none, and its values nest in no array.
    fn is_array(&self, ty: Oid) -> bool {
        base_type(self.catalog, ty) == ty && self.element_of(ty).is_some()
    }

    /// The type of arrays whose elements are `element`.
    pub(super) fn array_type(&self, element: Oid, at: u32) -> Result<Oid> {
        array_of(self.catalog, element).ok_or_else(|| {
            SqlError::new(
                SqlState::UNDEFINED_OBJECT,
                format!("could not find array type for data type {}", self.type_text(element)),
            )
            .at(at)
        })
    }

    /// `ARRAY[...]`; `wanted` is the array type of a cast around it, which its elements are cast to.
    pub(super) fn array(
        &self,
        elements: &[ast::Expr],
        wanted: Option<SqlType>,
        place: &Place<'_>,
        at: u32,
    ) -> Result<Expr> {
        let mut bound = Vec::new();
        for element in elements {
            let value = match &element.kind {
                ExprKind::Array(inner) => {
                    self.array(inner, wanted, place, self.position(element.at))?
                }
                _ => self.expression(element, place)?,
            };
            bound.push((value, self.position(element.start())));
        }
        if let Some(array) = wanted {
            let element = self.element_of(array.oid);
            // Elements of an array of int2vector or oidvector are arrays themselves.
            let is_array = |ty: Oid| Some(ty) != element && self.is_array(ty);
            let nested = bound.iter().any(|(value, _)| is_array(value.ty().oid));
            let element = element.filter(|_| !nested).unwrap_or(array.oid);
            let target = SqlType { oid: element, typmod: array.typmod };
            let elements = bound
                .into_iter()
                .map(|(value, at)| self.cast(value, target, Context::Explicit, at))
                .collect::<Result<_>>()?;
            return Ok(Expr::Array { elements, ty: array });
        }
        if bound.is_empty() {
            return Err(SqlError::new(
                SqlState::INDETERMINATE_DATATYPE,
                "cannot determine type of empty array",
            )
            .hint("Explicitly cast to the desired type, for example ARRAY[]::integer[].")
            .at(at));
        }
        let (elements, ty) = self.to_common(bound, "ARRAY")?;
        let array = self.array_around(ty.oid, at)?;
        Ok(Expr::Array { elements, ty: SqlType { oid: array, typmod: ty.typmod } })
    }

    /// `operand[i]`, `operand[low:high]`.
    pub(super) fn subscript(
        &self,
        operand: &ast::Expr,
        indices: &[Index],
        place: &Place<'_>,
        at: u32,
    ) -> Result<Expr> {
        let operand = self.expression(operand, place)?;
        let ty = operand.ty();
        if base_type(self.catalog, ty.oid).0 == oid::JSONB {
            let (path, given) = self.json_path(indices, place)?;
            return Ok(Expr::Call {
                function: Oid(JSONB_EXTRACT_PATH),
                arguments: vec![operand, path],
                ty: SqlType::plain(oid::JSONB),
                form: CallForm::Subscript { given },
                position: at,
            });
        }
        if base_type(self.catalog, ty.oid).0 == oids::HSTORE {
            let (key, given) = self.hstore_key(indices, place)?;
            return Ok(Expr::Call {
                function: Oid(HSTORE_FETCHVAL),
                arguments: vec![operand, key],
                ty: SqlType::plain(oid::TEXT),
                form: CallForm::Subscript { given },
                position: at,
            });
        }
        let element = match ty.oid.0 {
            oid::INT2VECTOR => Oid(oid::INT2),
            oid::OIDVECTOR => Oid(oid::OID),
            oid::NAME => Oid(oid::CHAR),
            _ => self.element_of(ty.oid).ok_or_else(|| {
                SqlError::new(
                    SqlState::DATATYPE_MISMATCH,
                    format!(
                        "cannot subscript type {} because it does not support subscripting",
                        self.type_text(ty.oid)
                    ),
                )
                .at(at)
            })?,
        };
        let index = |expr: &ast::Expr| self.array_index(expr, place);
        let slice = indices.iter().any(|index| matches!(index, Index::Slice(..)));
        let one = || Expr::Constant(Literal::Int4(1), SqlType::plain(oid::INT4));
        let bound = indices
            .iter()
            .map(|subscript| match subscript {
                // Beside a slice a plain subscript n means 1:n.
                Index::At(expr) => Ok((slice.then(one), Some(index(expr)?))),
                Index::Slice(low, high) => Ok((
                    low.as_ref().map(&index).transpose()?,
                    high.as_ref().map(&index).transpose()?,
                )),
            })
            .collect::<Result<_>>()?;
        check_dimensions(indices.len())?;
        let result = match ty.oid.0 {
            _ if !slice => element,
            // The slice begins at 1, which these types do not.
            oid::INT2VECTOR | oid::OIDVECTOR => self.array_around(element, at)?,
            _ => ty.oid,
        };
        let result = SqlType { oid: result, typmod: ty.typmod };
        Ok(Expr::Subscript { operand: Box::new(operand), indices: bound, slice, ty: result })
    }
}
