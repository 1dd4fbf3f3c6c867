//! Assignments to parts of a column: `SET a[1] = `, `SET c.f = `, `SET j['k'] = ` (`transformAssignmentIndirection`).
//!
//! The column's new value is its old one with the part changed; of a way of several steps each step is such a value
//! within the one before.

use crate::bind::Binder;
use crate::bind::coerce::{Context, base_type};
use crate::bind::expression::Place;
use crate::bind::scope::column_at;
use crate::bind::type_name::{fields_of, oid};
use crate::bind::typed::Expr;
use crate::catalog::Relation;
use crate::catalog::builtin::is_domain;
use crate::error::{Result, SqlError};
use crate::parse::ast::{Index, TargetColumn, TargetStep};
use crate::sqlstate::SqlState;
use crate::types::array::check_dimensions;
use crate::types::assign::AssignStep;
use crate::types::{SqlType, oids};

/// The value that a column of the changed row has before the statement: the row is the first item of the scope.
pub(super) fn target_value(relation: &Relation, number: usize, place: &Place<'_>) -> Expr {
    let live = relation.columns[..number].iter().filter(|column| !column.dropped).count();
    place.scope.items[0].columns[live].expr.clone()
}

/// The same where the changed row comes first, whatever its columns are called: that of a table behind a view.
pub(super) fn own_value(relation: &Relation, number: usize) -> Expr {
    let live = relation.columns[..number].iter().filter(|column| !column.dropped).count();
    column_at(live, relation.columns[number].ty)
}

impl Binder<'_> {
    /// 0A000: a part of a column has no DEFAULT.
    pub(super) fn refuse_default_part(&self, column: &TargetColumn) -> Result<()> {
        let what = match column.path.first() {
            None => return Ok(()),
            Some(TargetStep::Subscript(_)) => "an array element",
            Some(TargetStep::Field(_)) => "a subfield",
        };
        let message = format!("cannot set {what} to DEFAULT");
        Err(SqlError::new(SqlState::FEATURE_NOT_SUPPORTED, message).at(self.position(column.at)))
    }

    /// `whole` with `value` at the end of `path`.
    pub(super) fn assigned_part(
        &self,
        whole: Expr,
        path: &[TargetStep],
        value: Expr,
        column: &TargetColumn,
        place: &Place<'_>,
        at: u32,
    ) -> Result<Expr> {
        let Some((step, rest)) = path.split_first() else { return Ok(value) };
        let ty = whole.ty();
        if is_domain(ty.oid.0) {
            // A part of what the domain is over; the whole is held against the domain again, when all its parts are in.
            let whole = match whole {
                Expr::Domain(changed, _) if matches!(*changed, Expr::Assign { .. }) => *changed,
                whole => Expr::Relabel(Box::new(whole), self.catalog.base_type(ty)),
            };
            let changed = self.assigned_part(whole, path, value, column, place, at)?;
            return Ok(Expr::Domain(Box::new(changed), ty));
        }
        match step {
            TargetStep::Field(name) => {
                let base = base_type(self.catalog, ty.oid);
                let known = self.composite_result(&whole).or_else(|| fields_of(self.catalog, base));
                let fields = known.ok_or_else(|| {
                    SqlError::new(
                        SqlState::DATATYPE_MISMATCH,
                        format!(
                            "cannot assign to field \"{name}\" of column \"{}\" because its type {} is not a composite type",
                            column.name,
                            self.type_text(ty.oid)
                        ),
                    )
                    .at(self.position(column.at))
                })?;
                let number =
                    fields.iter().position(|(known, _)| known == name).ok_or_else(|| {
                        SqlError::new(
                            SqlState::UNDEFINED_COLUMN,
                            format!(
                                "cannot assign to field \"{name}\" of column \"{}\" because there is no such column in data type {}",
                                column.name,
                                self.type_text(ty.oid)
                            ),
                        )
                        .at(self.position(column.at))
                    })?;
                let wanted = fields[number].1;
                let value = if rest.is_empty() {
                    self.part_value(value, wanted, column, at, || {
                        format!("subfield \"{name}\" is of type")
                    })?
                } else {
                    let inner = Expr::Field {
                        operand: Box::new(whole.clone()),
                        field: number as u32,
                        ty: wanted,
                    };
                    self.assigned_part(inner, rest, value, column, place, at)?
                };
                let types = fields.iter().map(|(_, ty)| *ty).collect();
                let step = AssignStep::Field(number as u32, types);
                Ok(Expr::Assign { parts: vec![whole, value], step, ty })
            }
            TargetStep::Subscript(indices) if base_type(self.catalog, ty.oid).0 == oid::JSONB => {
                let (path, _) = self.json_path(indices, place)?;
                let jsonb = SqlType::plain(oid::JSONB);
                let value = if rest.is_empty() {
                    self.subscripted_value(value, jsonb, column, at)?
                } else {
                    value
                };
                Ok(Expr::Assign { parts: vec![whole, value, path], step: AssignStep::JsonPath, ty })
            }
            TargetStep::Subscript(indices) if base_type(self.catalog, ty.oid).0 == oids::HSTORE => {
                let (key, _) = self.hstore_key(indices, place)?;
                let value = self.subscripted_value(value, SqlType::plain(oid::TEXT), column, at)?;
                Ok(Expr::Assign { parts: vec![whole, value, key], step: AssignStep::HstoreKey, ty })
            }
            TargetStep::Subscript(indices) => {
                self.assigned_element(whole, indices, rest, value, column, place, at)
            }
        }
    }

    #[expect(clippy::too_many_arguments, reason = "the parts of one assignment")]
    fn assigned_element(
        &self,
        whole: Expr,
        indices: &[Index],
        rest: &[TargetStep],
        value: Expr,
        column: &TargetColumn,
        place: &Place<'_>,
        at: u32,
    ) -> Result<Expr> {
        let ty = whole.ty();
        let Some(element) = self.element_of(base_type(self.catalog, ty.oid)) else {
            let error = SqlError::new(
                SqlState::DATATYPE_MISMATCH,
                format!(
                    "cannot subscript type {} because it does not support subscripting",
                    self.type_text(ty.oid)
                ),
            );
            // The NULL that an INSERT begins with stands nowhere.
            return Err(match whole {
                Expr::Constant(..) => error,
                _ => error.at(self.position(column.at)),
            });
        };
        // Changed as a plain array of the same elements, which is no value of the type any more.
        if let oid::INT2VECTOR | oid::OIDVECTOR = base_type(self.catalog, ty.oid).0 {
            let array = SqlType::plain(self.array_around(element, at)?.0);
            return Err(self.cannot_cast(array, ty).at(self.position(column.at)));
        }
        let slice = indices.iter().any(|index| matches!(index, Index::Slice(..)));
        let mut parts = Vec::new();
        let mut given = Vec::new();
        for index in indices {
            let (low, high) = match index {
                // Beside a slice a plain subscript n means 1:n.
                Index::At(high) => (None, Some(high)),
                Index::Slice(low, high) => (low.as_ref(), high.as_ref()),
            };
            for bound in [low, high].into_iter().flatten() {
                parts.push(self.array_index(bound, place)?);
            }
            if slice && matches!(index, Index::At(_)) {
                let one = super::typed::Literal::Int4(1);
                let before = parts.len() - 1;
                parts.insert(before, Expr::Constant(one, SqlType::plain(oid::INT4)));
                given.push((true, true));
            } else {
                given.push((low.is_some(), high.is_some()));
            }
        }
        check_dimensions(indices.len())?;
        let wanted = if slice {
            SqlType { oid: base_type(self.catalog, ty.oid), typmod: ty.typmod }
        } else {
            SqlType { oid: element, typmod: ty.typmod }
        };
        let value = if rest.is_empty() {
            self.subscripted_value(value, wanted, column, at)?
        } else {
            let bounds = parts.iter().map(|bound| (None, Some(bound.clone()))).collect();
            let operand = Box::new(whole.clone());
            let inner = Expr::Subscript { operand, indices: bounds, slice, ty: wanted };
            self.assigned_part(inner, rest, value, column, place, at)?
        };
        let step = if slice {
            AssignStep::Slice(element, given.into())
        } else {
            AssignStep::Element(element)
        };
        let parts = [whole, value].into_iter().chain(parts).collect();
        Ok(Expr::Assign { parts, step, ty })
    }

    fn subscripted_value(
        &self,
        value: Expr,
        wanted: SqlType,
        column: &TargetColumn,
        at: u32,
    ) -> Result<Expr> {
        self.part_value(value, wanted, column, at, || {
            format!("subscripted assignment to \"{}\" requires type", column.name)
        })
    }

    fn part_value(
        &self,
        value: Expr,
        wanted: SqlType,
        column: &TargetColumn,
        at: u32,
        shown: impl Fn() -> String,
    ) -> Result<Expr> {
        let source = value.ty().oid;
        if !self.can_coerce(source, wanted.oid, Context::Assignment) {
            // A part of a variable takes what a whole one takes (`COERCION_PLPGSQL`).
            if self.variables.is_some_and(|variables| variables.assigned().is_some()) {
                return Ok(Expr::ViaText(Box::new(value), wanted));
            }
            return Err(SqlError::new(
                SqlState::DATATYPE_MISMATCH,
                format!(
                    "{} {} but expression is of type {}",
                    shown(),
                    self.type_text(wanted.oid),
                    self.type_text(source)
                ),
            )
            .hint("You will need to rewrite or cast the expression.")
            .at(self.position(column.at)));
        }
        self.cast(value, wanted, Context::Assignment, at)
    }
}
