//! Stored expressions: bound trees as the catalog keeps them, and as plans and printers take them from there.
//!
//! PostgreSQL keeps the trees that its analysis makes, as text (`pg_node_tree`), and opens SQL functions and adds what calls
//! leave out when it plans. So it is here: a tree that is to be stored leaves both undone ([`Binder::stored`]), and
//! [`Binder::kept`] does them for a plan, since a function may have another body or other defaults by then. Relations, types,
//! functions and operators are OIDs in it, columns of the relation that it is over are attribute numbers (in a bound tree they
//! are places among the live columns, which DROP COLUMN moves), the whole row is one thing whatever columns there are, and
//! constants are in their stored form; so no rename and no other column touches it.
//!
//! Where an expression is printed otherwise than what runs (a list of IN, a comparison of rows, what an assignment has cast),
//! the tree as it was written stands beside the other one.
//!
//! A tree is decoded once for each version of its relation, and stays with it ([`Expression::leave`]). One that calls routines
//! or takes fields of other relations' rows is decoded each time: these change without the relation.

mod code;
mod condition;
mod moves;
mod query;
#[cfg(test)]
mod tests;
mod view;

pub(super) use code::numbered;
pub use condition::{
    bind_condition, columns_of_condition, condition_has_constant, condition_text,
    condition_without_field, store_condition,
};
pub(super) use view::{Opening, open_view};
pub use view::{has_constant, store_view, without_field_of_query};

use crate::bind::deparse::{over_row, without_assignment};
use crate::bind::dml::NEXTVAL;
use crate::bind::levels::{any, children};
use crate::bind::typed::{CallForm, Expr, Literal};
use crate::bind::{Binder, Environment, know_table};
use crate::catalog::definition::{Edges, Expression};
use crate::catalog::routine::Routine;
use crate::catalog::{CatalogSnapshot, Relation, builtin};
use crate::error::Result;
use crate::parse::Deep;
use crate::parse::depth::{fitting, within};
use crate::types::{CallContext, Oid, SqlType, oids};
use std::sync::Arc;

/// An expression as it is stored.
#[derive(Clone, Debug)]
pub struct Tree {
    /// What is run.
    pub bound: Expr,
    /// What is printed, where that is not what is run but for its assignment.
    pub written: Option<Expr>,
}

impl Tree {
    /// What is printed.
    #[must_use]
    pub fn shown(&self) -> &Expr {
        self.written.as_ref().unwrap_or_else(|| without_assignment(&self.bound))
    }

    /// Whether it has a constant that is not NULL of a type of which `is` says so.
    fn has_constant(&self, is: &dyn Fn(SqlType) -> bool) -> bool {
        let found = |expr: &Expr| matches!(expr, Expr::Constant(value, ty) if !matches!(value, Literal::Null) && is(*ty));
        any(&self.bound, &found)
    }

    /// The same where a composite type has lost the attribute of this number: those behind it have moved up.
    fn closed(&self, catalog: &CatalogSnapshot, (ty, gone): (Oid, i16)) -> Tree {
        fn close(catalog: &CatalogSnapshot, expr: &mut Expr, (ty, gone): (Oid, i16)) {
            if let Expr::Field { operand, field, .. } = expr
                && catalog.base_type(operand.ty()).oid == ty
                && *field >= u32::from(gone.unsigned_abs())
            {
                *field -= 1;
            }
            children(expr, &mut |child| close(catalog, child, (ty, gone)));
        }
        let mut tree = self.clone();
        let Tree { bound, written } = &mut tree;
        std::iter::once(bound).chain(written).for_each(|expr| close(catalog, expr, (ty, gone)));
        tree
    }
}

/// The expression of this tree over the live columns of a relation, or over none, as the catalog keeps it.
///
/// # Errors
/// 54001 for one that is too high, 0A000 for what no stored expression has.
pub fn store(
    catalog: &CatalogSnapshot,
    relation: Option<&Relation>,
    tree: &Tree,
    edges: Edges,
) -> Result<Expression> {
    Ok(Expression::new(code::write(catalog, relation, tree, &|number| number)?, edges))
}

/// A stored expression over another relation, in which the columns have other places, by index.
///
/// # Errors
/// Those of [`open`] and [`store`].
pub fn copy(
    catalog: &CatalogSnapshot,
    relation: &Relation,
    expression: &Expression,
    place: &dyn Fn(usize) -> usize,
) -> Result<Expression> {
    let tree = open(catalog, Some(relation), expression)?;
    let number = |number: i16| match usize::try_from(number - 1) {
        Ok(column) => place(column) as i16 + 1,
        Err(_) => number,
    };
    Ok(expression.over_copy(code::write(catalog, Some(relation), &tree, &number)?, place))
}

/// A stored expression now that a composite type has lost the attribute of this number: those behind it have moved up.
///
/// # Errors
/// Those of [`open`] and [`store`].
pub fn without_field(
    catalog: &CatalogSnapshot,
    relation: Option<&Relation>,
    expression: &Expression,
    (ty, gone): (Oid, i16),
) -> Result<Expression> {
    let tree = open(catalog, relation, expression)?.closed(catalog, (ty, gone));
    let moved = code::write(catalog, relation, &tree, &|number| number)?;
    Ok(expression.without_attribute(moved, ty, gone))
}

/// Whether a stored expression has a constant that is not NULL of a type of which `is` says so.
///
/// # Errors
/// Those of [`open`].
pub fn expression_has_constant(
    catalog: &CatalogSnapshot,
    relation: Option<&Relation>,
    expression: &Expression,
    is: &dyn Fn(SqlType) -> bool,
) -> Result<bool> {
    Ok(open(catalog, relation, expression)?.has_constant(is))
}

/// The tree of a stored expression.
///
/// # Errors
/// XX001 for bytes that are none; 54001 where it is too high for what is being done.
pub fn open(
    catalog: &CatalogSnapshot,
    relation: Option<&Relation>,
    expression: &Expression,
) -> Result<Arc<Deep<Tree>>> {
    opened(expression, || code::read(catalog, relation, expression.tree()))
}

/// The tree of a stored expression, which is read unless somebody has left it.
fn opened(
    expression: &Expression,
    read: impl FnOnce() -> Result<code::Read>,
) -> Result<Arc<Deep<Tree>>> {
    let tree = match expression.opened() {
        Some(tree) => tree,
        None => {
            let read = read()?;
            let tree = Arc::new(read.tree);
            if read.lasts {
                expression.leave(Arc::clone(&tree));
            }
            tree
        }
    };
    within(tree.height(), || Ok(()))?;
    Ok(tree)
}

/// A stored expression as it is shown: types as this path finds them, or qualified without one; with the fewest parentheses or
/// with all.
///
/// # Errors
/// Those of [`open`].
pub fn text(
    catalog: &CatalogSnapshot,
    how: (Option<&[Oid]>, bool),
    context: &CallContext<'_>,
    relation: Option<&Relation>,
    expression: &Expression,
) -> Result<String> {
    fitting(0, || {
        let tree = open(catalog, relation, expression)?;
        over_row(catalog, how, context, relation, tree.shown())
    })
}

/// A stored expression as a plan takes it.
///
/// # Errors
/// Those of [`open`], and of the defaults of functions that it calls.
pub fn bound(
    environment: Environment<'_>,
    relation: Option<&Relation>,
    expression: &Expression,
) -> Result<Expr> {
    Binder::new(environment, "", &[]).kept(relation, expression)
}

/// The default of a column of this type, which is its domain's or of another type that can be assigned to it; NULL without one.
///
/// # Errors
/// Those of [`bound`], and of a cast.
pub fn default_value(
    environment: Environment<'_>,
    ty: SqlType,
    default: Option<&Expression>,
) -> Result<Expr> {
    let binder = Binder::new(environment, "", &[]);
    default.map_or_else(|| Ok(binder.null_of(ty)), |made| binder.kept_as(None, made, (ty, "")))
}

/// The next value of a sequence as the default of a column of this type.
///
/// # Errors
/// Those of a cast.
pub fn next_value(environment: Environment<'_>, sequence: Oid, ty: SqlType) -> Result<Tree> {
    let drawn = Expr::Call {
        function: Oid(NEXTVAL),
        arguments: vec![Expr::Constant(Literal::Oid(sequence.0), SqlType::plain(oids::REGCLASS))],
        ty: SqlType::plain(oids::INT8),
        form: CallForm::Function,
        position: 0,
    };
    let binder = Binder { is_stored: true, ..Binder::new(environment, "", &[]) };
    let bound = binder.assign(drawn.clone(), ty, "", 0)?;
    Ok(Tree { bound, written: Some(drawn).filter(|drawn| drawn.ty() != ty) })
}

impl Binder<'_> {
    /// A stored expression as a value of this type, for the column of this name.
    pub(super) fn kept_as(
        &self,
        relation: Option<&Relation>,
        expression: &Expression,
        (ty, column): (SqlType, &str),
    ) -> Result<Expr> {
        let value = self.kept(relation, expression)?;
        if value.ty() == ty { Ok(value) } else { self.assign(value, ty, column, 0) }
    }

    /// A stored expression as a plan takes it.
    pub(super) fn kept(
        &self,
        relation: Option<&Relation>,
        expression: &Expression,
    ) -> Result<Expr> {
        let mut expr = open(self.catalog, relation, expression)?.bound.clone();
        self.complete(&mut expr)?;
        if let Some(relation) = relation {
            know_table(&mut expr, relation);
        }
        Ok(expr)
    }

    /// Adds the arguments that calls leave to their functions' defaults, and opens SQL functions that are PostgreSQL's own.
    fn complete(&self, expr: &mut Expr) -> Result<()> {
        let mut done = Ok(());
        children(expr, &mut |child| {
            if done.is_ok() {
                done = self.complete(child);
            }
        });
        done?;
        self.complete_one(expr)
    }

    /// The same of an expression whose parts have been completed.
    fn complete_one(&self, expr: &mut Expr) -> Result<()> {
        match expr {
            Expr::ArrayCast { element, .. } => self.complete(element)?,
            Expr::Call { arguments, form: CallForm::Routine(routine), .. } => {
                self.add_defaults(routine, arguments)?;
            }
            Expr::Call {
                function,
                arguments,
                ty,
                form: CallForm::Function | CallForm::Standard { .. },
                ..
            } => {
                if let Some(built_in) = builtin::function(function.0)
                    && let Some(opened) = self.inlined(built_in, arguments, *ty, 0)?
                {
                    *expr = opened;
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn add_defaults(&self, routine: &Routine, arguments: &mut Vec<Expr>) -> Result<()> {
        for parameter in routine.inputs().skip(arguments.len()) {
            let Some(default) = &parameter.default else { break };
            arguments.push(self.kept(None, default)?);
        }
        Ok(())
    }
}
