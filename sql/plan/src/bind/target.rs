//! Select lists and RETURNING: stars, names, and the names PostgreSQL gives to what has none (`FigureColname`).

use crate::bind::Binder;
use crate::bind::expression::Place;
use crate::bind::levels::raise;
use crate::bind::logical::{Node, Output, SortKey};
use crate::bind::scope::ScopeColumn;
use crate::bind::type_name::oid;
use crate::bind::typed::{CurrentValue, Expr};
use crate::error::{Result, SqlError};
use crate::parse::ast::{self, ExprKind, Ident, Target};
use crate::sqlstate::SqlState;
use crate::types::Oid;
use crate::types::xml::construct::XmlOp;

/// An item of a select list.
#[derive(Clone, Debug)]
pub(super) struct BoundTarget {
    pub expr: Expr,
    pub name: Ident,
    pub origin: Option<(Oid, i16)>,
    /// Where its text begins, for messages.
    pub at: u32,
}

impl BoundTarget {
    pub fn output(&self) -> Output {
        Output { name: self.name.clone(), ty: self.expr.ty(), origin: self.origin }
    }
}

/// The longest select list: what PostgreSQL can put into one tuple.
pub(super) const TARGETS_MAX: usize = 1664;

/// 54011 for a select list, with what it is grouped and sorted by and is in no item, that is longer than any may be.
pub(super) fn demand_room(entries: usize) -> Result<()> {
    if entries <= TARGETS_MAX {
        return Ok(());
    }
    Err(SqlError::new(
        SqlState::TOO_MANY_COLUMNS,
        format!("target lists can have at most {TARGETS_MAX} entries"),
    ))
}

impl Binder<'_> {
    /// A select list. Where `decide` says so, untyped literals become text.
    pub(super) fn targets(
        &self,
        targets: &[Target],
        place: &Place<'_>,
        decide: bool,
    ) -> Result<Vec<BoundTarget>> {
        let mut bound = Vec::new();
        for target in targets {
            let at = self.position(target.expr.start());
            match &target.expr.kind {
                ExprKind::Star(item) if let Some(row) = self.row_variable(item, place, at)? => {
                    for (name, expr) in self.fields_of_row(&row)? {
                        bound.push(BoundTarget { expr, name, origin: None, at });
                    }
                }
                ExprKind::Star(item) => {
                    for column in self.star(item, place, at)? {
                        let origin = column.origin;
                        self.read_column(origin);
                        self.name_column(&column.expr, place, at);
                        bound.push(BoundTarget {
                            expr: column.expr,
                            name: column.name,
                            origin,
                            at,
                        });
                    }
                }
                ExprKind::AllFields(operand) => {
                    for (name, expr) in self.all_fields(operand, place)? {
                        bound.push(BoundTarget { expr, name, origin: None, at });
                    }
                }
                _ => {
                    let expr = self.expression(&target.expr, place)?;
                    let mut expr = if decide { self.decided(expr)? } else { expr };
                    // Whoever reads the column can ask for the fields of a row.
                    if let Some(shape) = self.composite_result(&expr)
                        && let Expr::Row(_, ty, None) = &mut expr
                        && ty.oid.0 == oid::RECORD
                    {
                        *ty = self.record_type(shape);
                    }
                    let name = target.alias.clone().unwrap_or_else(|| name_of(&target.expr));
                    let origin = self.origin(&target.expr, place);
                    bound.push(BoundTarget { expr, name, origin, at });
                }
            }
        }
        Ok(bound)
    }

    /// The fields that `(x).*` stands for, each with its name.
    fn all_fields(&self, operand: &ast::Expr, place: &Place<'_>) -> Result<Vec<(Ident, Expr)>> {
        let value = self.expression(operand, place)?;
        self.fields_of_row(&value)
    }

    /// The fields of a row, each with its name.
    fn fields_of_row(&self, value: &Expr) -> Result<Vec<(Ident, Expr)>> {
        let fields = self.composite_result(value).ok_or_else(|| {
            SqlError::new(
                SqlState::WRONG_OBJECT_TYPE,
                format!("type {} is not composite", self.type_text(value.ty().oid)),
            )
        })?;
        let field = |(number, (name, ty)): (usize, (Ident, _))| {
            let operand = Box::new(value.clone());
            self.meet_field(&operand, number as u32, ty);
            (name, Expr::Field { operand, field: number as u32, ty })
        };
        Ok(fields.into_iter().enumerate().map(field).collect())
    }

    /// A list of values (`transformExpressionList`), each with where its text begins: `t.*` and `(x).*` stand for several.
    pub(super) fn values_of<'e>(
        &self,
        exprs: impl IntoIterator<Item = &'e ast::Expr>,
        place: &Place<'_>,
    ) -> Result<Vec<(Expr, u32)>> {
        let mut bound = Vec::new();
        for expr in exprs {
            let at = self.position(expr.start());
            match &expr.kind {
                ExprKind::Star(item) if let Some(row) = self.row_variable(item, place, at)? => {
                    let fields = self.fields_of_row(&row)?;
                    bound.extend(fields.into_iter().map(|(_, field)| (field, at)));
                }
                ExprKind::Star(item) => {
                    for column in self.star(item, place, at)? {
                        self.read_column(column.origin);
                        bound.push((column.expr, at));
                    }
                }
                ExprKind::AllFields(operand) => {
                    let fields = self.all_fields(operand, place)?;
                    bound.extend(fields.into_iter().map(|(_, field)| (field, at)));
                }
                _ => bound.push((self.expression(expr, place)?, at)),
            }
        }
        Ok(bound)
    }

    fn origin(&self, expr: &ast::Expr, place: &Place<'_>) -> Option<(Oid, i16)> {
        let ExprKind::Column(parts) = &expr.kind else { return None };
        let found = match parts.as_slice() {
            [name] => place.scope.column(name).ok()?,
            [item, name] => place.scope.qualified(None, item, name).ok()?,
            [schema, item, name] => place.scope.qualified(Some(schema), item, name).ok()?,
            _ => return None,
        };
        found.origin.filter(|_| found.level == 0)
    }

    /// The columns that `*` or `t.*` stands for.
    pub(super) fn star(
        &self,
        item: &[Ident],
        place: &Place<'_>,
        at: u32,
    ) -> Result<Vec<ScopeColumn>> {
        let (schema, name) = match item {
            [] => {
                let visible = place.scope.items.iter().filter(|item| item.columns_visible);
                let columns: Vec<ScopeColumn> = visible
                    .flat_map(|item| item.columns.iter().filter(|column| !column.system).cloned())
                    .collect();
                if place.scope.items.is_empty() {
                    return Err(SqlError::new(
                        SqlState::SYNTAX_ERROR,
                        "SELECT * with no tables specified is not valid",
                    )
                    .at(at));
                }
                return Ok(columns);
            }
            [name] => (None, name),
            [.., schema, name] => (Some(&**schema), name),
        };
        let Some((found, level)) = place.scope.item(schema, name) else {
            return Err(self.missing_item(name, false, place, at));
        };
        let columns = found.columns.iter().filter(|column| !column.system).cloned();
        Ok(columns
            .map(|mut column| {
                raise(&mut column.expr, level);
                column
            })
            .collect())
    }
}

/// The name of a column without one.
pub(super) fn name_of(expr: &ast::Expr) -> Ident {
    figure(expr).map_or_else(|| "?column?".into(), |(name, _)| name)
}

/// A name and how much it is worth: 2 is a name, 1 is a type's, which gives way to one behind it.
fn figure(expr: &ast::Expr) -> Option<(Ident, u8)> {
    let strong = |name: &str| Some((Ident::from(name), 2));
    match &expr.kind {
        ExprKind::Column(parts) | ExprKind::Star(parts) => {
            parts.last().map(|name| (name.clone(), 2))
        }
        ExprKind::Field { name, .. } => Some((name.clone(), 2)),
        ExprKind::Subscript { operand, .. } | ExprKind::Collate { operand, .. } => figure(operand),
        ExprKind::Call(call) => Some((call.name.name().clone(), 2)),
        ExprKind::NullIf(..) => strong("nullif"),
        ExprKind::Cast { operand, ty } => match figure(operand) {
            Some((name, 2)) => Some((name, 2)),
            _ => Some((ty.name.name().clone(), 1)),
        },
        ExprKind::Case { otherwise, .. } => match otherwise.as_deref().and_then(figure) {
            Some((name, 2)) => Some((name, 2)),
            _ => Some(("case".into(), 1)),
        },
        ExprKind::Exists(_) => strong("exists"),
        ExprKind::ArrayQuery(_) | ExprKind::Array(_) => strong("array"),
        ExprKind::Subquery(query) => first_name(query).map(|name| (name, 2)),
        ExprKind::Row { .. } => strong("row"),
        ExprKind::Coalesce(_) => strong("coalesce"),
        ExprKind::Extreme { greatest: true, .. } => strong("greatest"),
        ExprKind::Extreme { greatest: false, .. } => strong("least"),
        ExprKind::Grouping(_) => strong("grouping"),
        ExprKind::XmlTable(_) => strong("xmltable"),
        ExprKind::Xml(call) => match call.op {
            XmlOp::Concat => strong("xmlconcat"),
            XmlOp::Element => strong("xmlelement"),
            XmlOp::Forest => strong("xmlforest"),
            XmlOp::Parse { .. } => strong("xmlparse"),
            XmlOp::Instruction => strong("xmlpi"),
            XmlOp::Root(_) => strong("xmlroot"),
            XmlOp::Serialize(_) => strong("xmlserialize"),
            XmlOp::IsDocument => None,
        },
        ExprKind::CurrentValue(value) => strong(match value {
            CurrentValue::Date => "current_date",
            CurrentValue::Time(_) => "current_time",
            CurrentValue::Timestamp(_) => "current_timestamp",
            CurrentValue::LocalTime(_) => "localtime",
            CurrentValue::LocalTimestamp(_) => "localtimestamp",
            CurrentValue::User => "current_user",
            CurrentValue::Role => "current_role",
            CurrentValue::PlainUser => "user",
            CurrentValue::SessionUser => "session_user",
            CurrentValue::Catalog => "current_catalog",
            CurrentValue::Schema => "current_schema",
        }),
        _ => None,
    }
}

/// The name of a query's first column.
fn first_name(query: &ast::Query) -> Option<Ident> {
    match &query.body {
        ast::Body::Select(select) => {
            let first = select.targets.first()?;
            Some(first.alias.clone().unwrap_or_else(|| name_of(&first.expr)))
        }
        ast::Body::Values(_) => Some("column1".into()),
        ast::Body::SetOperation { left, .. } => first_name(left),
    }
}

/// The item of a query's select list that the place of its value may give a type: a literal, a parameter. The rows are not
/// sorted by it.
pub(super) fn untyped_item(node: &Node, place: usize) -> Option<&Expr> {
    let names = |key: &SortKey| matches!(key.expr, Expr::Column { level: 0, column, .. } if column as usize == place);
    let untyped = |item: &&Expr| matches!(item, Expr::Constant(..) | Expr::Parameter(..));
    match node {
        Node::Project { columns, .. } | Node::ProjectSet { columns, .. } => {
            columns.get(place).filter(untyped)
        }
        Node::Values { rows, .. } if rows.len() == 1 => rows[0].get(place).filter(untyped),
        Node::Sort { keys, .. } if keys.iter().any(names) => None,
        Node::Sort { input, .. } | Node::Limit { input, .. } | Node::LockRows { input, .. } => {
            untyped_item(input, place)
        }
        Node::Derived { query, .. } => untyped_item(&query.root, place),
        _ => None,
    }
}
