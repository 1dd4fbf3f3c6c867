//! VALUES of an INSERT that are nothing but literals, read straight into rows of the columns' types.
//!
//! A bulk load by INSERT has thousands of rows in a statement, whose text hardly comes twice: an expression for each value
//! would cost more than what is done with it. So each literal becomes the value that its column takes, by the rules of
//! assignment that need no expression, and the rows lie in one set.
//!
//! It has no errors of its own. Where a value is no literal, does not fit, or needs a cast that is not done here, the
//! whole list is bound one by one, so that every error, its place and its turn are those of the ordinary way.

use crate::bind::Binder;
use crate::bind::insert::InsertTarget;
use crate::bind::logical::Node;
use crate::bind::type_name::oid;
use crate::catalog::builtin::is_domain;
use crate::parse::ast::{self, ExprKind};
use crate::tuple::{RowSet, RowWriter};
use crate::types::{Datum, SqlType};
use std::sync::Arc;

/// More than this is not held twice, as text and as values.
const BYTES_MAX: usize = 256 << 20;

impl Binder<'_> {
    /// The rows, with those columns of the table that `made` names by index; none if they have to be bound one by one.
    pub(super) fn literal_rows(
        &self,
        rows: &[Vec<ast::Expr>],
        target: &InsertTarget<'_>,
        made: &[usize],
    ) -> Option<Node> {
        let width = rows.first()?.len();
        let InsertTarget { relation, columns, named, .. } = target;
        let fits = if named.is_empty() { width <= columns.len() } else { width == columns.len() };
        // One row is no set of rows, to EXPLAIN too.
        if rows.len() < 2 || !fits || made.len() != width {
            return None;
        }
        if named.iter().any(|column| !column.path.is_empty()) {
            return None;
        }
        let mut taken = Vec::with_capacity(width);
        for number in made {
            let ty = relation.columns[*number].ty;
            if !self.takes_value(target, *number).ok()? || !is_read_with_modifier(ty) {
                return None;
            }
            taken.push((columns.iter().position(|column| column == number)?, ty));
        }
        let mut set = RowSet::new(width);
        for row in rows {
            if row.len() != width || set.bytes() > BYTES_MAX {
                return None;
            }
            let mut read = true;
            set.push_with(|into| {
                for (place, ty) in &taken {
                    read &= self.push_literal(&row[*place].kind, *ty, into).is_some();
                }
            });
            if !read {
                return None;
            }
        }
        let types = taken.iter().map(|(_, ty)| *ty).collect();
        Some(Node::Constants { rows: Arc::new(set), types })
    }

    /// Appends what a literal is to a column of a type; NULL and nothing if that is not to be said here.
    fn push_literal(
        &self,
        literal: &ExprKind,
        ty: SqlType,
        into: &mut RowWriter<'_>,
    ) -> Option<()> {
        let datum = match (literal, ty.oid.0) {
            (ExprKind::Null, _) => Some(Datum::Null),
            (ExprKind::Bool(value), oid::BOOL) => Some(Datum::Bool(*value)),
            (ExprKind::Integer(value), oid::INT2) => i16::try_from(*value).ok().map(Datum::Int2),
            (ExprKind::Integer(value), oid::INT4) => Some(Datum::Int4(*value)),
            (ExprKind::Integer(value), oid::INT8) => Some(Datum::Int8(i64::from(*value))),
            (ExprKind::Integer(value), oid::FLOAT8) => Some(Datum::Float8(f64::from(*value))),
            (ExprKind::Number(text), oid::INT8) => text.parse().ok().map(Datum::Int8),
            (ExprKind::Integer(value), oid::NUMERIC) => {
                return self.constants.push(ty, &value.to_string(), into).ok();
            }
            (ExprKind::Number(text), oid::NUMERIC | oid::FLOAT8) | (ExprKind::String(text), _) => {
                return self.constants.push(ty, text, into).ok();
            }
            _ => None,
        };
        into.push(datum.unwrap_or(Datum::Null));
        datum.map(|_| ())
    }
}

/// Whether a type's input function gives what an assignment gives: there is no modifier that is applied behind, and no
/// domain whose conditions are asked.
fn is_read_with_modifier(ty: SqlType) -> bool {
    let modified = matches!(ty.oid.0, oid::BPCHAR | oid::VARCHAR | oid::NUMERIC | oid::INTERVAL);
    (ty.typmod < 0 || modified) && !is_domain(ty.oid.0)
}
