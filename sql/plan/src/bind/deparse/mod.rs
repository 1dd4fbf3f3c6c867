//! Bound expressions back to text, in PostgreSQL's spelling (`ruleutils.c`): what `pg_get_expr` and `pg_get_constraintdef`
//! show, and what the catalog keeps, because it binds to the same tree again. Whole queries are `view`'s.
//!
//! Operators stand in parentheses, casts are written `(x)::type`, constants carry their type unless the reader would give
//! it to them anyway. In the pretty form (PostgreSQL's `pretty_bool`) only those parentheses are left without which the
//! text might be read as something else, by PostgreSQL's own rules of when that is.

mod column_names;
mod from;
mod layout;
mod modify;
mod place;
mod printed;
mod routine_body;
mod row;
mod set_operation;
mod simple;
mod standard_form;
pub(super) mod view;
mod window;

pub use layout::Layout;
pub use routine_body::{RoutineText, body_edges, body_text};
pub use row::{over_old_and_new, over_row};
pub use view::{ViewText, view_text};

use crate::bind::grouping::{AGGREGATES, BoundWindow};
use crate::bind::logical::VARIADIC_ARRAY;
use crate::bind::logical::{Query, SortKey};
use crate::bind::type_name::{fields_of, format_type, oid};
use crate::bind::typed::{
    AggregateCall, CallForm, CurrentValue, Expr, Literal, Quantifier, SubqueryKind,
};
use crate::catalog::CatalogSnapshot;
use crate::catalog::attachment::OperatorOf;
use crate::catalog::builtin::{self, ProcedureOf, cast};
use crate::catalog::object::well_known;
use crate::catalog::quote::{constant, identifier, qualified};
use crate::error::{Result, SqlError};
use crate::types::xml::construct::XmlOp;
use crate::types::{CallContext, Datum, Oid, SqlType, oids, text_of};
use simple::{Parent, is_simple};
use std::borrow::Cow;
use std::fmt::Write;
use std::sync::Arc;

/// What the names in an expression are: of columns, and of what stands for more than a column while a query is bound.
pub trait Names {
    /// The column of the row `level` steps out, as it is to be written.
    ///
    /// # Errors
    /// 0A000 where it has no name.
    fn column(&self, level: u16, column: u32) -> Result<String>;
    /// A column of a join, as it is printed, whose value this expression is.
    fn shared(&self, _expr: &Expr) -> Option<String> {
        None
    }
    /// The FROM item whose whole row this expression is.
    fn item(&self, _expr: &Expr) -> Option<String> {
        None
    }
    /// The fields of a record that only where it comes from says.
    fn record_fields(&self, _record: &Expr) -> Option<Vec<(Arc<str>, SqlType)>> {
        None
    }
    /// Whether the columns are VALUE, which PostgreSQL puts in parentheses where it does not put a variable there.
    fn is_value(&self) -> bool {
        false
    }
    /// The name of a type that is about to have another one than the catalog knows.
    fn renamed_type(&self, _ty: SqlType) -> Option<String> {
        None
    }
    /// The aggregate or window call that a column stands for.
    fn call(&self, _level: u16, _column: u32) -> Option<(AggregateCall, Option<BoundWindow>)> {
        None
    }
    /// What a parameter is called, by its number from 0.
    fn parameter(&self, _number: u32) -> Option<String> {
        None
    }
    /// The arguments of the GROUPING that a column stands for.
    fn grouping(&self, _level: u16, _column: u32) -> Option<Vec<Expr>> {
        None
    }
    /// Writes a subquery.
    ///
    /// # Errors
    /// 0A000 where it cannot be written.
    fn query(&self, _query: &Arc<Query>, _out: &mut Layout) -> Result<()> {
        Err(SqlError::unsupported("a subquery in a stored expression is"))
    }
}

/// What a printer needs to know.
pub struct Printer<'p, 'a> {
    /// The names of types.
    pub catalog: &'p CatalogSnapshot,
    /// Where the names of types are found; none qualifies them all, for a text that is kept.
    pub path: Option<&'p [Oid]>,
    /// For the text of constants.
    pub context: &'p CallContext<'a>,
    /// The names of columns.
    pub names: &'p dyn Names,
    /// Only the parentheses that are needed.
    pub pretty: bool,
}

/// An expression as PostgreSQL prints it.
///
/// # Errors
/// 0A000 for what cannot be kept as text: subqueries.
pub fn expression(printer: &Printer<'_, '_>, expr: &Expr) -> Result<String> {
    let mut out = Layout::default();
    printer.write(expr, &mut out)?;
    Ok(out.text)
}

/// A literal without the domain and the lengths that an assignment has held it against, which PostgreSQL does not show.
pub fn without_assignment(expr: &Expr) -> &Expr {
    let mut shown = expr;
    if let Expr::Domain(value, _) = shown {
        shown = value;
    }
    loop {
        shown = match shown {
            Expr::Call { function: called, arguments, ty, .. }
                if is_length_cast(*called, arguments, *ty) =>
            {
                &arguments[0]
            }
            // The same of each element.
            Expr::ArrayCast { operand, element, .. } if applies_length(element) => operand,
            other => return other,
        };
    }
}

fn applies_length(expr: &Expr) -> bool {
    matches!(expr, Expr::Call { function: called, arguments, ty, .. }
        if is_length_cast(*called, arguments, *ty))
}

/// Whether a call only applies a modifier: varchar's length, numeric's precision.
fn is_length_cast(called: Oid, arguments: &[Expr], ty: SqlType) -> bool {
    arguments.first().is_some_and(|argument| argument.ty().oid == ty.oid)
        && cast(ty.oid.0, ty.oid.0).is_some_and(|found| found.function == called.0)
}

/// The operator and the left operands of a comparison of values or rows: of `(a, b) < (c, d)` from
/// `a < c OR a = c AND b < d`.
fn comparison(test: &Expr) -> Option<(Oid, Vec<&Expr>)> {
    match test {
        Expr::And(parts) | Expr::Or(parts) => {
            if let [first, Expr::And(rest)] = parts.as_slice()
                && let [_, rest] = rest.as_slice()
            {
                let (operator, mut fields) = comparison(rest)?;
                fields.insert(0, compared_pair(first)?.1);
                return Some((operator, fields));
            }
            let pairs: Vec<_> = parts.iter().map(compared_pair).collect::<Option<_>>()?;
            Some((pairs.first()?.0, pairs.into_iter().map(|(_, left)| left).collect()))
        }
        one => compared_pair(one).map(|(operator, left)| (operator, vec![left])),
    }
}

/// The operator and the left operand of one comparison.
fn compared_pair(test: &Expr) -> Option<(Oid, &Expr)> {
    let Expr::Call { arguments, form: CallForm::Operator(called), .. } = test else {
        return None;
    };
    Some((*called, &arguments[0]))
}

/// An argument before it was converted to what a function takes: one of type `given`.
fn as_given(argument: &Expr, given: SqlType) -> &Expr {
    let mut shown = argument;
    while shown.ty().oid != given.oid {
        shown = match shown {
            Expr::Relabel(inner, _) | Expr::ViaText(inner, _) | Expr::Domain(inner, _) => inner,
            Expr::ArrayCast { operand, .. } => operand,
            Expr::Call { arguments, form: CallForm::Cast, .. } => &arguments[0],
            _ => return argument,
        };
    }
    shown
}

/// What a condition of a simple CASE compares its operand with; a condition of another form as it is.
fn compared_in_case(condition: &Expr) -> &Expr {
    let mut called = condition;
    while let Expr::Relabel(inner, _) = called {
        called = inner;
    }
    match called {
        Expr::Call { arguments, form: CallForm::Operator(_), .. } => match &arguments[..] {
            [tested, compared]
                if crate::bind::levels::any(tested, &|part| matches!(part, Expr::CaseTest(..))) =>
            {
                compared
            }
            _ => condition,
        },
        _ => condition,
    }
}

impl Printer<'_, '_> {
    /// Writes an operand of `parent`, in parentheses where the pretty form needs them.
    fn operand(&self, expr: &Expr, parent: Parent<'_>, out: &mut Layout) -> Result<()> {
        let parentheses = self.pretty && !is_simple(expr, parent);
        if parentheses {
            out.push('(');
        }
        self.write(expr, out)?;
        if parentheses {
            out.push(')');
        }
        Ok(())
    }

    /// The parenthesis that only the form that is not pretty has.
    fn plain(&self, parenthesis: char, out: &mut Layout) {
        if !self.pretty {
            out.push(parenthesis);
        }
    }

    fn write(&self, expr: &Expr, out: &mut Layout) -> Result<()> {
        if let Some(name) = self.names.shared(expr) {
            out.push_str(&name);
            return Ok(());
        }
        if let Some(name) = self.names.item(expr) {
            write!(out.text, "{}.*", identifier(&name)).expect("a string grows");
            return Ok(());
        }
        match expr {
            Expr::Constant(value, ty) => self.constant(value, *ty, out),
            Expr::Column { level, column, .. } if *column >= AGGREGATES => {
                if let Some(arguments) = self.names.grouping(*level, *column) {
                    return self.named("GROUPING", &arguments, out);
                }
                match self.names.call(*level, *column) {
                    Some((call, window)) => self.aggregate(&call, window.as_ref(), out),
                    None => Err(SqlError::unsupported("this call in a stored expression is")),
                }
            }
            Expr::Column { level, column, .. } => {
                out.push_str(&self.names.column(*level, *column)?);
                Ok(())
            }
            Expr::Subquery { kind, query, .. } => self.subquery(kind, query, out),
            Expr::Parameter(number, _) => {
                match self.names.parameter(*number) {
                    Some(name) => out.push_str(&name),
                    None => write!(out.text, "${}", number + 1).expect("a string grows"),
                }
                Ok(())
            }
            Expr::Call { function: called, arguments, ty, form, .. } => {
                // An order of rows has its parentheses in every form.
                let rows = self.pretty && simple::is_row_comparison(expr);
                out.push_str(if rows { "(" } else { "" });
                self.call(*called, arguments, (*ty, form), out)?;
                out.push_str(if rows { ")" } else { "" });
                Ok(())
            }
            Expr::And(parts) => self.joined(parts, " AND ", Parent::And, out),
            Expr::Or(parts) => self.joined(parts, " OR ", Parent::Or, out),
            Expr::Not(operand) => {
                self.plain('(', out);
                out.push_str("NOT ");
                self.operand(operand, Parent::Not, out)?;
                self.plain(')', out);
                Ok(())
            }
            Expr::IsNull { operand, negated } => {
                self.postfix(operand, if *negated { " IS NOT NULL" } else { " IS NULL" }, out)
            }
            Expr::IsBool { operand, test, negated } => {
                let word = match test {
                    Some(true) => "TRUE",
                    Some(false) => "FALSE",
                    None => "UNKNOWN",
                };
                self.postfix(
                    operand,
                    &format!(" IS {}{word}", if *negated { "NOT " } else { "" }),
                    out,
                )
            }
            Expr::IsDistinct { left, right, negated, .. }
                if let Some(row) = simple::tested_row(left, right) =>
            {
                let word = if *negated { "NOT " } else { "" };
                self.postfix(row, &format!(" IS {word}DISTINCT FROM NULL"), out)
            }
            Expr::IsDistinct { left, right, negated, .. } => {
                // PostgreSQL prints the negated form as NOT of the plain one.
                if *negated {
                    self.plain('(', out);
                    out.push_str("NOT ");
                }
                self.plain('(', out);
                self.operand(left, Parent::Other, out)?;
                out.push_str(" IS DISTINCT FROM ");
                self.operand(right, Parent::Other, out)?;
                self.plain(')', out);
                if *negated {
                    self.plain(')', out);
                }
                Ok(())
            }
            Expr::Case { operand, given, branches, otherwise, ty } => {
                out.keyword("CASE", 0, Layout::VAR, 0);
                if let Some(operand) = operand {
                    out.push_str(" ");
                    self.write(operand, out)?;
                }
                for (number, (condition, result)) in branches.iter().enumerate() {
                    out.keyword("WHEN ", 0, 0, 0);
                    let shown = match given.get(number) {
                        Some(given) => as_given(compared_in_case(condition), *given),
                        None => condition,
                    };
                    self.write(shown, out)?;
                    out.push_str(" THEN ");
                    self.write(result, out)?;
                }
                out.keyword("ELSE ", 0, 0, 0);
                match otherwise {
                    Some(otherwise) => self.write(otherwise, out)?,
                    None => self.constant(&Literal::Null, *ty, out)?,
                }
                out.keyword("END", -Layout::VAR, 0, 0);
                Ok(())
            }
            Expr::CaseTest(..) => {
                out.push_str("CASE_TEST_EXPR");
                Ok(())
            }
            Expr::Coalesce(arguments, ..) => self.named("COALESCE", arguments, out),
            Expr::NullIf { left, right, .. } => {
                out.push_str("NULLIF(");
                self.write(left, out)?;
                out.push_str(", ");
                self.write(right, out)?;
                out.push(')');
                Ok(())
            }
            Expr::Extreme { arguments, greatest, .. } => {
                self.named(if *greatest { "GREATEST" } else { "LEAST" }, arguments, out)
            }
            Expr::XmlTable { table, arguments } => {
                let mut texts = Vec::with_capacity(arguments.len());
                for argument in arguments {
                    let mut text = Layout::default();
                    self.write(argument, &mut text)?;
                    texts.push(text.text);
                }
                out.push_str(&table.printed(&texts, |ty| self.type_name(ty)));
                Ok(())
            }
            Expr::Xml { call, arguments } => {
                let mut texts = Vec::with_capacity(arguments.len());
                for argument in arguments {
                    let mut text = Layout::default();
                    match call.op {
                        XmlOp::IsDocument => self.operand(argument, Parent::Other, &mut text)?,
                        _ => self.write(argument, &mut text)?,
                    }
                    texts.push(text.text);
                }
                let text = call.printed(texts, &self.type_name(call.target));
                match call.op {
                    XmlOp::IsDocument => {
                        self.plain('(', out);
                        out.push_str(&text);
                        self.plain(')', out);
                    }
                    _ => out.push_str(&text),
                }
                Ok(())
            }
            Expr::Collate { operand, collation, .. } => {
                self.plain('(', out);
                self.operand(operand, Parent::Other, out)?;
                let name = builtin::collation(collation.0).unwrap_or("default");
                write!(out.text, " COLLATE {}", identifier(name)).expect("a string grows");
                self.plain(')', out);
                Ok(())
            }
            Expr::Relabel(operand, ty)
            | Expr::ViaText(operand, ty)
            | Expr::Domain(operand, ty)
            | Expr::ArrayCast { operand, ty, .. } => self.cast(operand, *ty, false, out),
            Expr::Array { elements, ty } => {
                out.push_str("ARRAY[");
                self.list(elements, out)?;
                out.push(']');
                if elements.is_empty() {
                    write!(out.text, "::{}", self.type_name(*ty)).expect("a string grows");
                }
                Ok(())
            }
            Expr::Subscript { operand, indices, slice, .. } => {
                self.subscripted(operand, out)?;
                for (low, high) in indices {
                    out.push('[');
                    if let Some(low) = low {
                        self.write(low, out)?;
                    }
                    if *slice {
                        out.push(':');
                    }
                    if let Some(high) = high {
                        self.write(high, out)?;
                    }
                    out.push(']');
                }
                Ok(())
            }
            Expr::ScalarArray { left, operator, array, quantifier, .. } => {
                let found = self.catalog.operator(*operator);
                let name = found.map_or(Cow::Borrowed("="), |found| self.operator_name(&found));
                self.plain('(', out);
                self.operand(left, Parent::Other, out)?;
                let word = if *quantifier == Quantifier::Any { "ANY" } else { "ALL" };
                write!(out.text, " {name} {word} (").expect("a string grows");
                self.operand(array, Parent::Other, out)?;
                // Without a cast it would be a comparison with the query's rows.
                if let Expr::Subquery { kind: SubqueryKind::Scalar, ty, .. } = &**array {
                    write!(out.text, "::{}", self.type_name(*ty)).expect("a string grows");
                }
                out.push(')');
                self.plain(')', out);
                Ok(())
            }
            Expr::Row(_, _, Some(_)) if self.path.is_none() => {
                Err(SqlError::unsupported("a row whose fields only a query names in a text is"))
            }
            Expr::Row(fields, ty, _) => {
                out.push_str("ROW(");
                for (at, field) in fields.iter().enumerate() {
                    if at > 0 {
                        out.push_str(", ");
                    }
                    self.column(field, out)?;
                }
                out.push(')');
                if fields_of(self.catalog, ty.oid).is_some() {
                    write!(out.text, "::{}", self.type_name(*ty)).expect("a string grows");
                }
                Ok(())
            }
            Expr::Assign { .. } => {
                Err(SqlError::unsupported("an assignment in a stored expression is"))
            }
            Expr::Field { operand, field, .. } => {
                let fields = fields_of(self.catalog, operand.ty().oid)
                    .or_else(|| self.names.record_fields(operand))
                    .unwrap_or_default();
                let name = match (fields.get(*field as usize), &**operand) {
                    (Some((name, _)), _) => Arc::clone(name),
                    (None, Expr::Row(_, _, None)) => format!("f{}", field + 1).into(),
                    (None, _) => {
                        return Err(SqlError::unsupported(
                            "a field of a row without a type in a stored expression is",
                        ));
                    }
                };
                let bare = matches!(**operand, Expr::Field { .. } | Expr::Subscript { .. });
                out.push_str(if bare { "" } else { "(" });
                self.write(operand, out)?;
                out.push_str(if bare { "." } else { ")." });
                out.push_str(&identifier(&name));
                Ok(())
            }
            Expr::CurrentValue(value, _) => {
                out.push_str(&current(*value));
                Ok(())
            }
        }
    }

    fn type_name(&self, ty: SqlType) -> String {
        let renamed = self.names.renamed_type(ty);
        renamed.unwrap_or_else(|| format_type(self.catalog, self.path, ty))
    }

    /// One of a list of columns, where a whole row would be read as its columns: its type says that it is one value.
    fn column(&self, expr: &Expr, out: &mut Layout) -> Result<()> {
        self.write(expr, out)?;
        if self.names.item(expr).is_some() {
            let ty = SqlType { typmod: -1, ..expr.ty() };
            write!(out.text, "::{}", self.type_name(ty)).expect("a string grows");
        }
        Ok(())
    }

    fn list(&self, exprs: &[Expr], out: &mut Layout) -> Result<()> {
        for (at, expr) in exprs.iter().enumerate() {
            if at > 0 {
                out.push_str(", ");
            }
            self.write(expr, out)?;
        }
        Ok(())
    }

    fn named(&self, name: &str, arguments: &[Expr], out: &mut Layout) -> Result<()> {
        out.push_str(name);
        out.push('(');
        self.list(arguments, out)?;
        out.push(')');
        Ok(())
    }

    fn joined(
        &self,
        parts: &[Expr],
        word: &str,
        parent: Parent<'_>,
        out: &mut Layout,
    ) -> Result<()> {
        self.plain('(', out);
        for (at, part) in parts.iter().enumerate() {
            if at > 0 {
                out.push_str(word);
            }
            self.operand(part, parent, out)?;
            // Read again, the same word's operands would be this one's: a text that is kept has a cast that does nothing.
            let nests =
                matches!((part, parent), (Expr::And(_), Parent::And) | (Expr::Or(_), Parent::Or));
            if at == 0 && nests && self.path.is_none() {
                out.push_str("::boolean");
            }
        }
        self.plain(')', out);
        Ok(())
    }

    fn postfix(&self, operand: &Expr, words: &str, out: &mut Layout) -> Result<()> {
        self.plain('(', out);
        self.operand(operand, Parent::Other, out)?;
        out.push_str(words);
        self.plain(')', out);
        Ok(())
    }

    /// A cast. One that `hides` another that calls no function has that one's parentheses too in the pretty form.
    fn cast(&self, operand: &Expr, ty: SqlType, hides: bool, out: &mut Layout) -> Result<()> {
        match operand {
            // A constant of that very type shows it once.
            Expr::Constant(Literal::Null, own) if own.oid == ty.oid => out.push_str("NULL"),
            Expr::Constant(value, own) if own.oid == ty.oid => {
                let text = text_of(self.context, *own, &value.datum())?;
                let number = own.oid.0 == oids::NUMERIC
                    && text.starts_with(|first: char| first.is_ascii_digit())
                    && text.contains(['.', 'e', 'E']);
                if number { out.push_str(text) } else { out.push_str(&constant(text)) }
            }
            _ => {
                let doubled = hides && self.pretty && !is_simple(operand, Parent::Cast);
                out.push_str(if doubled { "(" } else { "" });
                self.plain('(', out);
                self.operand(operand, Parent::Cast, out)?;
                self.plain(')', out);
                out.push_str(if doubled { ")" } else { "" });
            }
        }
        write!(out.text, "::{}", self.type_name(ty)).expect("a string grows");
        Ok(())
    }

    fn call(
        &self,
        called: Oid,
        arguments: &[Expr],
        (ty, form): (SqlType, &CallForm),
        out: &mut Layout,
    ) -> Result<()> {
        match form {
            CallForm::Cast => {
                let operand = &arguments[0];
                // A cast to a type with a length is one cast, though it is made of two.
                let inner = match operand {
                    _ if !is_length_cast(called, arguments, ty) => None,
                    Expr::Relabel(inner, _) | Expr::ViaText(inner, _) => Some(&**inner),
                    Expr::Call { function: first, arguments: of, ty: to, form, .. }
                        if matches!(form, CallForm::Cast) && !is_length_cast(*first, of, *to) =>
                    {
                        Some(&of[0])
                    }
                    _ => None,
                };
                let hides = inner.is_some() && !matches!(operand, Expr::Call { .. });
                return self.cast(inner.unwrap_or(operand), ty, hides, out);
            }
            CallForm::Subscript { given } => {
                return self.path(&arguments[0], &arguments[1], given, out);
            }
            CallForm::Operator(used) => {
                if let Some(operator) = self.catalog.operator(*used) {
                    return self.operation(&operator, arguments, out);
                }
            }
            CallForm::Function | CallForm::Standard { .. } | CallForm::Routine(_) => {}
        }
        let Some(procedure) = self.catalog.procedure(called) else {
            return Err(SqlError::unsupported("this function in a stored expression is"));
        };
        if let CallForm::Standard { given } = form {
            let shown: Vec<&Expr> =
                arguments.iter().zip(given).map(|(argument, ty)| as_given(argument, *ty)).collect();
            let cast =
                shown.iter().zip(arguments).filter(|(shown, own)| !std::ptr::eq(**shown, *own));
            let cast: Vec<&Expr> = cast.map(|(shown, _)| *shown).collect();
            if self.standard_form(procedure.name, (&shown, &cast), out)? {
                return Ok(());
            }
        }
        let name = self.function_name(&procedure);
        let spread = match (procedure.variadic, arguments.last()) {
            (0, _) | (_, None) => false,
            (oid::ANY, Some(last)) => last.ty().typmod == VARIADIC_ARRAY,
            // What was given one by one has become an array.
            _ => true,
        };
        let Some((array, others)) = arguments.split_last().filter(|_| spread) else {
            return self.named(&name, arguments, out);
        };
        out.push_str(&name);
        out.push('(');
        self.list(others, out)?;
        out.push_str(if others.is_empty() { "VARIADIC " } else { ", VARIADIC " });
        // That it is spread is what a relabelled one says.
        match array {
            Expr::Relabel(array, ty) if ty.typmod == VARIADIC_ARRAY => self.write(array, out)?,
            array => self.write(array, out)?,
        }
        out.push(')');
        Ok(())
    }

    /// An operator as expressions name it: with its schema where the path does not find it.
    fn operator_name<'o>(&self, operator: &OperatorOf<'o>) -> Cow<'o, str> {
        let path = self.path.unwrap_or_default();
        let named = self.catalog.operator_name(path, operator);
        match named.as_ref() == operator.name {
            true => named,
            false => Cow::Owned(format!("OPERATOR({named})")),
        }
    }

    fn operation(
        &self,
        operator: &OperatorOf<'_>,
        arguments: &[Expr],
        out: &mut Layout,
    ) -> Result<()> {
        self.plain('(', out);
        let parent = |first| Parent::Operator { name: operator.name, first };
        if let [left, right] = arguments {
            self.operand(left, parent(true), out)?;
            write!(out.text, " {} ", self.operator_name(operator)).expect("a string grows");
            self.operand(right, parent(false), out)?;
        } else {
            write!(out.text, "{} ", self.operator_name(operator)).expect("a string grows");
            // Only operators of two operands are told apart by how strongly they bind.
            self.operand(&arguments[0], Parent::Other, out)?;
            // Read again, a number behind a minus would be another number.
            if let (Expr::Constant(_, ty), None) = (&arguments[0], self.path)
                && out.text.ends_with(|last: char| last.is_ascii_digit())
            {
                write!(out.text, "::{}", self.type_name(*ty)).expect("a string grows");
            }
        }
        self.plain(')', out);
        Ok(())
    }

    /// A jsonb value and the path into it.
    fn path(&self, value: &Expr, path: &Expr, given: &[SqlType], out: &mut Layout) -> Result<()> {
        self.subscripted(value, out)?;
        let elements = match path {
            Expr::Array { elements, .. } => elements,
            alone => std::slice::from_ref(alone),
        };
        for (element, given) in elements.iter().zip(given) {
            out.push('[');
            self.write(as_given(element, *given), out)?;
            out.push(']');
        }
        Ok(())
    }

    /// What subscripts stand behind.
    fn subscripted(&self, operand: &Expr, out: &mut Layout) -> Result<()> {
        let plain = match operand {
            Expr::Column { .. } => !self.names.is_value(),
            // That of a routine is no column.
            Expr::Parameter(number, _) => self.names.parameter(*number).is_none(),
            _ => matches!(operand, Expr::Field { .. }),
        };
        if !plain {
            out.push('(');
        }
        self.write(operand, out)?;
        if !plain {
            out.push(')');
        }
        Ok(())
    }

    /// A function's name, with its schema where the path does not find it.
    fn function_name(&self, procedure: &ProcedureOf<'_>) -> String {
        let name = identifier(procedure.name);
        let schema = self.catalog.function_schema(procedure).unwrap_or(well_known::PG_CATALOG);
        let found = schema == well_known::PG_CATALOG
            || self.path.is_some_and(|path| self.catalog.finds_function(path, procedure));
        match self.catalog.schema_by_oid(schema).filter(|_| !found) {
            Some(schema) => format!("{}.{name}", identifier(&schema.name)),
            None => name,
        }
    }

    fn aggregate(
        &self,
        call: &AggregateCall,
        window: Option<&BoundWindow>,
        out: &mut Layout,
    ) -> Result<()> {
        let Some(procedure) = self.catalog.procedure(call.function) else {
            return Err(SqlError::unsupported("this function in a stored expression is"));
        };
        out.push_str(&self.function_name(&procedure));
        out.push('(');
        if call.distinct {
            out.push_str("DISTINCT ");
        }
        if call.arguments.is_empty() && procedure.kind == crate::catalog::builtin::Kind::Aggregate {
            out.push('*');
        }
        let ordered = procedure.ordered_set();
        if let Some((kind, direct)) = ordered {
            let count = call.arguments.len();
            let direct = if kind == 'h' { count / 2 } else { direct.min(count) };
            self.list(&call.arguments[..direct], out)?;
            out.push_str(") WITHIN GROUP (ORDER BY ");
            self.sort_keys(&call.order_by, out)?;
        } else {
            self.list(&call.arguments, out)?;
        }
        if ordered.is_none() && !call.order_by.is_empty() {
            out.push_str(" ORDER BY ");
            self.sort_keys(&call.order_by, out)?;
        }
        out.push(')');
        if let Some(filter) = &call.filter {
            out.push_str(" FILTER (WHERE ");
            self.write(filter, out)?;
            out.push(')');
        }
        match window {
            None => {}
            Some(BoundWindow { name: Some(name), .. }) => {
                out.push_str(" OVER ");
                out.push_str(&identifier(name));
            }
            Some(window) => {
                out.push_str(" OVER (");
                self.window(window, out)?;
                out.push(')');
            }
        }
        Ok(())
    }

    /// An item of GROUP BY, ORDER BY or PARTITION BY: what is neither a column nor a constant may stand in parentheses.
    fn sort_item(&self, expr: &Expr, out: &mut Layout) -> Result<()> {
        let bare = match expr {
            Expr::Constant(value, ty) => {
                // With its type always: a number alone would be a column's.
                let before = out.text.len();
                self.constant(value, *ty, out)?;
                if !out.text[before..].contains("::") {
                    write!(out.text, "::{}", self.type_name(*ty)).expect("a string grows");
                }
                return Ok(());
            }
            Expr::Column { column, .. } => *column < AGGREGATES,
            other => self.names.item(other).is_some() || self.names.shared(other).is_some(),
        };
        let is_function = match expr {
            Expr::Call { form, .. } => !matches!(form, CallForm::Operator(_)),
            Expr::Column { level, column, .. } => self.names.grouping(*level, *column).is_none(),
            _ => false,
        };
        let parentheses = !bare && (self.pretty || is_function);
        if parentheses {
            out.push('(');
        }
        self.write(expr, out)?;
        if parentheses {
            out.push(')');
        }
        Ok(())
    }

    fn sort_keys(&self, keys: &[SortKey], out: &mut Layout) -> Result<()> {
        for (at, key) in keys.iter().enumerate() {
            if at > 0 {
                out.push_str(", ");
            }
            self.sort_item(&key.expr, out)?;
            out.push_str(direction(key));
        }
        Ok(())
    }

    /// The value or the row that a subquery's rows are compared with; gives the operator's name.
    fn compared(&self, test: &Expr, out: &mut Layout) -> Result<Cow<'_, str>> {
        let unwritten = || SqlError::unsupported("this comparison with a subquery is");
        let (operator, fields) = comparison(test).ok_or_else(unwritten)?;
        let operator = self.catalog.operator(operator).ok_or_else(unwritten)?;
        // The test stands one row further in than the subquery.
        let lowered = fields.into_iter().map(|field| {
            let mut lowered = field.clone();
            crate::bind::levels::lower(&mut lowered);
            lowered
        });
        match lowered.collect::<Vec<Expr>>().as_slice() {
            [field] => self.operand(field, Parent::Other, out)?,
            fields => {
                out.push('(');
                self.list(fields, out)?;
                out.push(')');
            }
        }
        Ok(self.operator_name(&operator))
    }

    fn subquery(&self, kind: &SubqueryKind, query: &Arc<Query>, out: &mut Layout) -> Result<()> {
        let mut inner = true;
        match kind {
            SubqueryKind::Array => {
                out.push_str("ARRAY(");
                inner = false;
            }
            SubqueryKind::Scalar | SubqueryKind::Record => {
                out.push('(');
                inner = match crate::bind::compared_row(query) {
                    Some(test) => {
                        let name = self.compared(test, out)?;
                        write!(out.text, " {name} ").expect("a string grows");
                        true
                    }
                    None => false,
                };
            }
            SubqueryKind::Exists => out.push_str("(EXISTS "),
            SubqueryKind::Quantified { test, quantifier } => {
                out.push('(');
                let name = self.compared(test, out)?;
                match (&*name, quantifier) {
                    ("=", Quantifier::Any) => out.push_str(" IN "),
                    (name, Quantifier::Any) => {
                        write!(out.text, " {name} ANY ").expect("a string grows");
                    }
                    (name, Quantifier::All) => {
                        write!(out.text, " {name} ALL ").expect("a string grows");
                    }
                }
            }
        }
        if inner {
            out.push('(');
        }
        self.names.query(query, out)?;
        out.push_str(if inner { "))" } else { ")" });
        Ok(())
    }

    fn constant(&self, value: &Literal, ty: SqlType, out: &mut Layout) -> Result<()> {
        // Of all types an interval alone has its modifier before its text is read.
        let typmod = if ty.oid.0 == oids::INTERVAL { ty.typmod } else { -1 };
        let name = || self.type_name(SqlType { oid: ty.oid, typmod });
        let datum = value.datum();
        if matches!(datum, Datum::Null) {
            out.push_str("NULL");
            // A text that is kept says by itself that nothing gives it a type.
            if ty.oid.0 != oid::UNKNOWN || self.path.is_some() {
                write!(out.text, "::{}", name()).expect("a string grows");
            }
            return Ok(());
        }
        // In a text that is kept, a relation is found whatever the search path is then.
        let kept = match datum {
            Datum::Oid(oid) if ty.oid.0 == oids::REGCLASS && self.path.is_none() => {
                let relation = self.catalog.relation(Oid(oid));
                relation.map(|found| qualified(&found.schema.1, &found.name))
            }
            _ => None,
        };
        let text = match &kept {
            Some(name) => name,
            None => text_of(self.context, ty, &datum)?,
        };
        let digits = text.bytes().all(|byte| byte.is_ascii_digit());
        match ty.oid.0 {
            oid::INT4 if digits => out.push_str(text),
            oid::NUMERIC
                if text.contains('.')
                    && text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.') =>
            {
                out.push_str(text);
            }
            oid::BOOL => {
                out.push_str(if matches!(datum, Datum::Bool(true)) { "true" } else { "false" });
            }
            oid::UNKNOWN => out.push_str(&constant(text)),
            _ => write!(out.text, "{}::{}", constant(text), name()).expect("a string grows"),
        }
        Ok(())
    }
}

/// DESC and NULLS where they are not the default.
fn direction(key: &SortKey) -> &'static str {
    match (key.descending, key.nulls_first) {
        (false, false) => "",
        (false, true) => " NULLS FIRST",
        (true, true) => " DESC",
        (true, false) => " DESC NULLS LAST",
    }
}

/// CURRENT_DATE and its kin as they are written.
#[must_use]
pub fn current(value: CurrentValue) -> String {
    let with = |word: &str, precision: Option<u8>| match precision {
        Some(precision) => format!("{word}({precision})"),
        None => word.to_owned(),
    };
    match value {
        CurrentValue::Date => "CURRENT_DATE".to_owned(),
        CurrentValue::Time(precision) => with("CURRENT_TIME", precision),
        CurrentValue::Timestamp(precision) => with("CURRENT_TIMESTAMP", precision),
        CurrentValue::LocalTime(precision) => with("LOCALTIME", precision),
        CurrentValue::LocalTimestamp(precision) => with("LOCALTIMESTAMP", precision),
        CurrentValue::User => "CURRENT_USER".to_owned(),
        CurrentValue::Role => "CURRENT_ROLE".to_owned(),
        CurrentValue::PlainUser => "USER".to_owned(),
        CurrentValue::SessionUser => "SESSION_USER".to_owned(),
        CurrentValue::Catalog => "CURRENT_CATALOG".to_owned(),
        CurrentValue::Schema => "CURRENT_SCHEMA".to_owned(),
    }
}
