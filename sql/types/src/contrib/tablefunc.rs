//! `tablefunc` (PostgreSQL 15 manual, appendix F.43): what rows of a query are as a cross tabulation, and as a tree.
//!
//! The functions run queries, so they are told how: each query's answer comes as texts, and so do the rows that they give, which
//! whoever calls reads by the columns' types. All rows of a call are made at once.

use crate::depth::descend;
use crate::error::{Result, SqlError};
use crate::function::Callable::{self, Set};
use crate::sqlstate::SqlState;
use crate::text::quote::literal;
use crate::{CallContext, Datum, SqlType, account, oids};
use std::collections::HashMap;
use std::sync::Arc;

/// By OID: those that run no query.
pub(crate) const FUNCTIONS: &[(u32, Callable)] =
    &[(14_600, Set(|c, _, a, emit| normal(c, a, emit)))];

/// Those that run queries: their first and their last one, behind each other.
pub const QUERYING: std::ops::RangeInclusive<u32> = 14_601..=14_610;

/// The fields of `tablefunc_crosstab_2` to `_4`; none of another type.
#[must_use]
pub fn fields(ty: u32) -> Option<Vec<(Arc<str>, SqlType)>> {
    let categories = match ty {
        14_612 => 2,
        14_614 => 3,
        14_616 => 4,
        _ => return None,
    };
    let categories = (1..=categories).map(|number| format!("category_{number}").into());
    let names = std::iter::once("row_name".into()).chain(categories);
    Some(names.map(|name| (name, SqlType::plain(oids::TEXT))).collect())
}

/// A row as texts.
pub type TextRow = Vec<Option<String>>;

/// What a query has answered.
pub struct Answer {
    /// The types of its columns.
    pub types: Vec<SqlType>,
    /// Its rows.
    pub rows: Vec<TextRow>,
}

/// Runs a query.
pub type Runs<'r> = dyn FnMut(&str) -> Result<Answer> + 'r;

/// Numbers of a normal distribution (Marsaglia's polar method), in pairs.
fn normal<'a>(
    context: &CallContext<'a>,
    a: &[Datum<'a>],
    emit: &mut dyn FnMut(&[Datum<'a>]) -> Result<bool>,
) -> Result<()> {
    let (count, mean, deviation) = (a[0].int4(), a[1].float8(), a[2].float8());
    if count < 0 {
        return Err(crate::failure::invalid_parameter("number of rows cannot be negative"));
    }
    let mut carried: Option<f64> = None;
    for _ in account::stepping(0..count) {
        let drawn = match carried.take() {
            Some(drawn) => drawn,
            None => {
                let (u, v, square) = loop {
                    let [u, v] = [(); 2].map(|()| 2.0 * crate::arithmetic::random(context) - 1.0);
                    let square = u * u + v * v;
                    if square < 1.0 {
                        break (u, v, square);
                    }
                };
                let scale = if square == 0.0 { 0.0 } else { (-2.0 * square.ln() / square).sqrt() };
                carried = Some(v * scale);
                u * scale
            }
        };
        if !emit(&[Datum::Float8(drawn * deviation + mean)])? {
            break;
        }
    }
    Ok(())
}

/// The rows of a call with these arguments, each a text, whose result has columns of these types.
///
/// # Errors
/// Those of the queries; 22023, 42601, 42804 where these and the columns do not fit.
pub fn rows(
    function: u32,
    columns: &[SqlType],
    arguments: &[String],
    run: &mut Runs<'_>,
) -> Result<Vec<TextRow>> {
    match function {
        14_606 => by_category(columns, &arguments[0], &arguments[1], run),
        14_601..=14_605 => in_order(columns, &arguments[0], run),
        _ => tree(function >= 14_609, columns, arguments, run),
    }
}

fn invalid(state: SqlState, detail: &str) -> SqlError {
    SqlError::new(state, "invalid return type").detail(detail)
}

fn incompatible() -> SqlError {
    let message = "return and sql tuple descriptions are incompatible";
    SqlError::new(SqlState::SYNTAX_ERROR, message)
}

fn invalid_source(detail: &str) -> SqlError {
    crate::failure::invalid_parameter("invalid source data SQL statement").detail(detail)
}

/// `crosstab` of one query: neighbours of one first column are one row, whose values stand in their order, as many as there are
/// columns.
fn in_order(columns: &[SqlType], query: &str, run: &mut Runs<'_>) -> Result<Vec<TextRow>> {
    let answer = run(query)?;
    if answer.rows.is_empty() {
        return Ok(Vec::new());
    }
    let [name, _, value] = answer.types[..] else {
        return Err(invalid_source(
            "The provided SQL must return 3 columns: rowid, category, and values.",
        ));
    };
    let Some((own_name, values)) = columns.split_first().filter(|(_, values)| !values.is_empty())
    else {
        return Err(incompatible());
    };
    if own_name.oid != name.oid {
        return Err(invalid(
            SqlState::DATATYPE_MISMATCH,
            "SQL rowid datatype does not match return rowid datatype.",
        ));
    }
    if values.iter().any(|own| own.oid != value.oid) {
        return Err(incompatible());
    }
    let mut made: Vec<TextRow> = Vec::new();
    let mut filled = 0;
    for mut row in account::stepping(answer.rows) {
        let (value, name) = (row.pop().flatten(), row.swap_remove(0));
        match made.last_mut() {
            Some(last) if last[0] == name => {
                if filled < columns.len() {
                    last[filled] = value;
                    filled += 1;
                }
            }
            _ => {
                let mut next = vec![None; columns.len()];
                (next[0], next[1], filled) = (name, value, 2);
                made.push(next);
            }
        }
    }
    Ok(made)
}

/// `crosstab` of two queries: the second one says which category is in which column.
fn by_category(
    columns: &[SqlType],
    query: &str,
    categories: &str,
    run: &mut Runs<'_>,
) -> Result<Vec<TextRow>> {
    let wrong = |message: &str| SqlError::new(SqlState::SYNTAX_ERROR, message);
    if columns.len() < 2 {
        return Err(wrong("query-specified return tuple and crosstab function are not compatible"));
    }
    let no_categories =
        || wrong("provided \"categories\" SQL must return 1 column of at least one row");
    let known = run(categories)?;
    if !known.rows.is_empty() && known.types.len() != 1 {
        return Err(no_categories());
    }
    let mut places: HashMap<String, usize> = HashMap::new();
    for (place, mut row) in known.rows.into_iter().enumerate() {
        let name = row
            .pop()
            .flatten()
            .ok_or_else(|| wrong("provided \"categories\" SQL must not return NULL values"))?;
        if places.insert(name, place).is_some() {
            return Err(SqlError::new(SqlState::DUPLICATE_OBJECT, "duplicate category name"));
        }
    }
    let answer = run(query)?;
    if answer.rows.is_empty() {
        return Ok(Vec::new());
    }
    if places.is_empty() {
        return Err(no_categories());
    }
    let width = answer.types.len();
    if width < 3 {
        return Err(invalid_source(
            "The provided SQL must return 3  columns; rowid, category, and values.",
        ));
    }
    let wanted = width - 2 + places.len();
    if columns.len() != wanted {
        let detail = format!(
            "Query-specified return tuple has {} columns but crosstab returns {wanted}.",
            columns.len()
        );
        return Err(invalid(SqlState::SYNTAX_ERROR, &detail));
    }
    let mut made: Vec<TextRow> = Vec::new();
    for mut row in account::stepping(answer.rows) {
        let (value, category) = (row.pop().flatten(), row.pop().flatten());
        if made.last().is_none_or(|last| last[0] != row[0]) {
            row.resize(wanted, None);
            made.push(row);
        }
        let place = category.and_then(|category| places.get(&category).copied());
        if let (Some(place), Some(last)) = (place, made.last_mut()) {
            last[width - 2 + place] = value;
        }
    }
    Ok(made)
}

/// What `connectby` was asked.
struct Tree<'t> {
    relation: &'t str,
    key: &'t str,
    parent: &'t str,
    order: Option<&'t str>,
    depth: i32,
    delimiter: &'t str,
    branch: bool,
}

fn tree(
    ordered: bool,
    columns: &[SqlType],
    arguments: &[String],
    run: &mut Runs<'_>,
) -> Result<Vec<TextRow>> {
    let (named, rest) = arguments.split_at(if ordered { 4 } else { 3 });
    let tree = Tree {
        relation: &named[0],
        key: &named[1],
        parent: &named[2],
        order: named.get(3).map(String::as_str),
        depth: rest[1].parse().unwrap_or(0),
        delimiter: rest.get(2).map_or("~", String::as_str),
        branch: rest.len() > 2,
    };
    tree.check_columns(columns)?;
    let start = &rest[0];
    let mut made = Vec::new();
    tree.push(&mut made, (start.clone(), None), 0, start);
    tree.below(columns, run, &mut made, (start, start), 1)?;
    Ok(made)
}

impl Tree<'_> {
    fn check_columns(&self, columns: &[SqlType]) -> Result<()> {
        let refused = |detail: &str| Err(invalid(SqlState::DATATYPE_MISMATCH, detail));
        let count = 3 + usize::from(self.branch) + usize::from(self.order.is_some());
        if columns.len() != count {
            return refused("Query-specified return tuple has wrong number of columns.");
        }
        if columns[0].oid != columns[1].oid {
            return refused("First two columns must be the same type.");
        }
        if columns[2].oid.0 != oids::INT4 {
            return refused("Third column must be type integer.");
        }
        if self.branch && columns[3].oid.0 != oids::TEXT {
            return refused("Fourth column must be type text.");
        }
        if self.order.is_some() && columns[count - 1].oid.0 != oids::INT4 {
            let which = if self.branch { "fifth" } else { "fourth" };
            return Err(SqlError::new(
                SqlState::DATATYPE_MISMATCH,
                format!(
                    "query-specified return tuple not valid for Connectby: {which} column must be type integer"
                ),
            ));
        }
        Ok(())
    }

    /// Appends a row.
    fn push(
        &self,
        made: &mut Vec<TextRow>,
        (key, parent): (String, Option<String>),
        level: i32,
        branch: &str,
    ) {
        let mut row = vec![Some(key), parent, Some(level.to_string())];
        if self.branch {
            row.push(Some(branch.to_owned()));
        }
        if self.order.is_some() {
            row.push(Some((made.len() + 1).to_string()));
        }
        made.push(row);
    }

    /// Appends what is below a key, which a branch leads to.
    fn below(
        &self,
        columns: &[SqlType],
        run: &mut Runs<'_>,
        made: &mut Vec<TextRow>,
        (key, branch): (&str, &str),
        level: i32,
    ) -> Result<()> {
        if self.depth > 0 && level > self.depth {
            return Ok(());
        }
        let Tree { relation, key: own, parent, order, delimiter, .. } = self;
        let mut query = format!(
            "SELECT {own}, {parent} FROM {relation} WHERE {parent} = {} AND {own} IS NOT NULL AND {own} <> {parent}",
            literal(key)
        );
        if let Some(order) = order {
            query = format!("{query} ORDER BY {order}");
        }
        let answer = run(&query)?;
        if answer.rows.is_empty() {
            return Ok(());
        }
        if answer.types.len() < 2 {
            let detail = "Query must return at least two columns.";
            return Err(invalid(SqlState::DATATYPE_MISMATCH, detail));
        }
        for (at, what) in ["key", "parent key"].into_iter().enumerate() {
            if answer.types[at].oid != columns[at].oid {
                // PostgreSQL says each in the other's place.
                let [own, wanted] = [columns[at], answer.types[at]]
                    .map(|ty| crate::format_type(ty.oid.0, Some(-1)));
                let detail = format!(
                    "SQL {what} field type {own} does not match return {what} field type {wanted}."
                );
                return Err(invalid(SqlState::DATATYPE_MISMATCH, &detail));
            }
        }
        for row in answer.rows {
            let [found, above] = [0, 1].map(|at| row.get(at).cloned().flatten());
            let Some(found) = found else { continue };
            let around = |text: &str| format!("{delimiter}{text}{delimiter}");
            if around(branch).contains(&around(&found)) {
                let message = "infinite recursion detected";
                return Err(SqlError::new(SqlState::INVALID_RECURSION, message));
            }
            let branch = format!("{branch}{delimiter}{found}");
            self.push(made, (found.clone(), above), level, &branch);
            descend(|| self.below(columns, run, made, (&found, &branch), level + 1))?;
        }
        Ok(())
    }
}
