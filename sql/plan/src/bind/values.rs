//! VALUES: rows of expressions. A column has one type, found over all rows as UNION finds it (manual, section 10.5).

use crate::bind::Binder;
use crate::bind::expression::Place;
use crate::bind::logical::{Node, Output};
use crate::bind::query::{Block, Outside};
use crate::bind::target::demand_room;
use crate::bind::tree::{BodyTree, QueryTree, as_tree};
use crate::bind::type_name::oid;
use crate::bind::typed::Expr;
use crate::bind::with::CteScope;
use crate::error::{Result, SqlError};
use crate::parse::ast;
use crate::sqlstate::SqlState;
use crate::types::SqlType;

/// What VALUES are called in FROM.
pub(super) const VALUES: &str = "*VALUES*";

impl Binder<'_> {
    /// 42601 for a row of VALUES that is not as long as the first.
    pub(super) fn check_width(&self, row: &[ast::Expr], values: usize, width: usize) -> Result<()> {
        if values == width {
            return Ok(());
        }
        let at = row.first().map_or(0, |first| self.position(first.start()));
        let message = "VALUES lists must all be the same length";
        Err(SqlError::new(SqlState::SYNTAX_ERROR, message).at(at))
    }

    pub(super) fn values(
        &self,
        rows: &[Vec<ast::Expr>],
        outside: Outside<'_>,
        ctes: &CteScope<'_>,
        decide: bool,
    ) -> Result<Block> {
        let scope = outside.inner();
        let place = Place::plain(&scope, Some(ctes), "VALUES");
        let mut columns: Vec<Vec<(Expr, u32)>> = Vec::new();
        for (number, row) in rows.iter().enumerate() {
            let values = self.values_of(row, &place)?;
            if number == 0 {
                demand_room(values.len())?;
                columns = values.iter().map(|_| Vec::with_capacity(rows.len())).collect();
            }
            self.check_width(row, values.len(), columns.len())?;
            for (column, value) in columns.iter_mut().zip(values) {
                column.push(value);
            }
        }
        let width = columns.len();
        let mut tree = if self.keeps_trees { Some(self.values_tree(&columns)?) } else { None };
        let mut types = Vec::new();
        let mut by_row: Vec<Vec<Expr>> = rows.iter().map(|_| Vec::with_capacity(width)).collect();
        for column in columns {
            let untyped = column.iter().all(|(value, _)| value.ty().oid.0 == oid::UNKNOWN);
            let (values, ty) = if untyped && !decide {
                (column.into_iter().map(|(value, _)| value).collect(), SqlType::plain(oid::UNKNOWN))
            } else {
                self.to_common(column, "VALUES")?
            };
            types.push(ty);
            for (row, value) in by_row.iter_mut().zip::<Vec<Expr>>(values) {
                row.push(value);
            }
        }
        if let Some(BodyTree::Values { types: shown, .. }) = &mut tree {
            let decided = shown.iter_mut().zip(&types).filter(|(shown, ty)| shown.oid == ty.oid);
            decided.for_each(|(shown, ty)| *shown = *ty);
        }
        let tree = tree.map(|body| Box::new(QueryTree::of(body)));
        Ok(Block { tree, ..rows_of(by_row, types) })
    }

    /// VALUES as their tree says.
    pub(super) fn kept_values(&self, rows: Vec<Vec<Expr>>, types: Vec<SqlType>) -> Result<Block> {
        let one = |(value, ty): (Expr, &SqlType)| self.to_common_one(value, *ty, "VALUES", 0);
        let row = |row: Vec<Expr>| row.into_iter().zip(&types).map(one).collect();
        let rows = rows.into_iter().map(row).collect::<Result<_>>()?;
        Ok(rows_of(rows, types))
    }

    /// The rows as they were written; a literal without a type is read as that of its column.
    fn values_tree(&self, columns: &[Vec<(Expr, u32)>]) -> Result<BodyTree> {
        let mut types = Vec::new();
        let count = columns.first().map_or(0, Vec::len);
        let mut rows: Vec<Vec<Expr>> = (0..count).map(|_| Vec::new()).collect();
        for column in columns {
            let given: Vec<_> = column.iter().map(|(value, at)| (value.ty().oid, *at)).collect();
            let ty = self.common_type(&given, Some("VALUES"))?;
            for (row, (value, _)) in rows.iter_mut().zip(column) {
                row.push(as_tree(&match ty {
                    Some(ty) if value.ty().oid.0 == oid::UNKNOWN => {
                        self.argument(value.clone(), ty, 0)?
                    }
                    _ => self.decided(value.clone())?,
                }));
            }
            types.push(ty.map_or_else(|| column[0].0.ty(), |ty| SqlType::plain(ty.0)));
        }
        Ok(BodyTree::Values { rows, types })
    }
}

/// Rows of columns that have no names of their own.
fn rows_of(rows: Vec<Vec<Expr>>, types: Vec<SqlType>) -> Block {
    let column = |(number, ty): (usize, &SqlType)| Output {
        name: format!("column{}", number + 1).into(),
        ty: *ty,
        origin: None,
    };
    let output = types.iter().enumerate().map(column).collect();
    Block { node: Node::Values { rows, types }, output, tree: None }
}
