//! Bound expressions back to text, in PostgreSQL's spelling (`ruleutils.c`): what `pg_get_expr` and `pg_get_constraintdef`
//! show, and what the catalog keeps, because it binds to the same tree again.
//!
//! Operators stand in parentheses, casts are written `(x)::type`, constants carry their type unless the reader would give
//! it to them anyway.

use crate::bind::type_name::{format_type, oid};
use crate::bind::typed::{CurrentValue, Expr, Literal, Quantifier};
use crate::catalog::CatalogSnapshot;
use crate::catalog::builtin::{cast, function, operators, type_by_oid};
use crate::catalog::quote::{identifier, literal};
use crate::error::{Result, SqlError};
use crate::types::{CallContext, Datum, Oid, SqlType, text_of};
use std::fmt::Write;

/// What a printer needs to know.
pub struct Printer<'p, 'a> {
    /// The names of types.
    pub catalog: &'p CatalogSnapshot,
    /// For the text of constants.
    pub context: &'p CallContext<'a>,
    /// The name of a column of the input row.
    pub column: &'p dyn Fn(u32) -> String,
}

/// An expression as PostgreSQL prints it at the top: a cast that an assignment added is not shown.
///
/// # Errors
/// 0A000 for what cannot be kept as text: subqueries.
pub fn expression(printer: &Printer<'_, '_>, expr: &Expr) -> Result<String> {
    let mut shown = expr;
    while let Expr::Call { function: called, arguments, ty, .. } = shown
        && is_length_cast(*called, arguments, *ty)
    {
        shown = &arguments[0];
    }
    let mut out = String::new();
    printer.write(shown, &mut out)?;
    Ok(out)
}

/// Whether a call only applies a modifier: varchar's length, numeric's precision.
fn is_length_cast(called: Oid, arguments: &[Expr], ty: SqlType) -> bool {
    arguments.first().is_some_and(|argument| argument.ty().oid == ty.oid)
        && cast(ty.oid.0, ty.oid.0).is_some_and(|found| found.function == called.0)
}

impl Printer<'_, '_> {
    fn write(&self, expr: &Expr, out: &mut String) -> Result<()> {
        match expr {
            Expr::Constant(value, ty) => self.constant(value, *ty, out),
            Expr::Column { level: 0, column, .. } => {
                out.push_str(&identifier(&(self.column)(*column)));
                Ok(())
            }
            Expr::Column { .. } | Expr::Subquery { .. } => {
                Err(SqlError::unsupported("a subquery in a stored expression is"))
            }
            Expr::Parameter(number, _) => {
                write!(out, "${}", number + 1).expect("a string grows");
                Ok(())
            }
            Expr::Call { function: called, arguments, ty, .. } => {
                self.call(*called, arguments, *ty, out)
            }
            Expr::And(parts) => self.joined(parts, " AND ", out),
            Expr::Or(parts) => self.joined(parts, " OR ", out),
            Expr::Not(operand) => {
                out.push_str("(NOT ");
                self.write(operand, out)?;
                out.push(')');
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
            Expr::IsDistinct { left, right, negated, .. } => {
                // PostgreSQL prints the negated form as NOT of the plain one.
                out.push_str(if *negated { "(NOT (" } else { "(" });
                self.write(left, out)?;
                out.push_str(" IS DISTINCT FROM ");
                self.write(right, out)?;
                out.push_str(if *negated { "))" } else { ")" });
                Ok(())
            }
            Expr::Case { branches, otherwise, .. } => {
                out.push_str("\nCASE");
                for (condition, result) in branches {
                    out.push_str("\n    WHEN ");
                    self.write(condition, out)?;
                    out.push_str(" THEN ");
                    self.write(result, out)?;
                }
                out.push_str("\n    ELSE ");
                match otherwise {
                    Some(otherwise) => self.write(otherwise, out)?,
                    None => out.push_str("NULL"),
                }
                out.push_str("\nEND");
                Ok(())
            }
            Expr::Coalesce(arguments, _) => self.named("COALESCE", arguments, out),
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
            Expr::Relabel(operand, ty)
            | Expr::ViaText(operand, ty)
            | Expr::ArrayCast { operand, ty, .. } => self.cast(operand, *ty, out),
            Expr::Array { elements, .. } => {
                out.push_str("ARRAY[");
                self.list(elements, out)?;
                out.push(']');
                Ok(())
            }
            Expr::Subscript { operand, indices, slice, .. } => {
                let plain = matches!(**operand, Expr::Column { .. } | Expr::Parameter(..));
                if !plain {
                    out.push('(');
                }
                self.write(operand, out)?;
                if !plain {
                    out.push(')');
                }
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
            Expr::ScalarArray { left, function: called, array, quantifier } => {
                let name = operators()
                    .iter()
                    .find(|found| found.function == called.0)
                    .map_or("=", |found| found.name);
                out.push('(');
                self.write(left, out)?;
                let word = if *quantifier == Quantifier::Any { "ANY" } else { "ALL" };
                write!(out, " {name} {word} (").expect("a string grows");
                self.write(array, out)?;
                out.push_str("))");
                Ok(())
            }
            Expr::Row(fields, _) => {
                out.push_str("ROW(");
                self.list(fields, out)?;
                out.push(')');
                Ok(())
            }
            Expr::Field { .. } => {
                Err(SqlError::unsupported("a field of a row in a stored expression is"))
            }
            Expr::CurrentValue(value, _) => {
                out.push_str(&current(*value));
                Ok(())
            }
        }
    }

    fn list(&self, exprs: &[Expr], out: &mut String) -> Result<()> {
        for (at, expr) in exprs.iter().enumerate() {
            if at > 0 {
                out.push_str(", ");
            }
            self.write(expr, out)?;
        }
        Ok(())
    }

    fn named(&self, name: &str, arguments: &[Expr], out: &mut String) -> Result<()> {
        out.push_str(name);
        out.push('(');
        self.list(arguments, out)?;
        out.push(')');
        Ok(())
    }

    fn joined(&self, parts: &[Expr], word: &str, out: &mut String) -> Result<()> {
        out.push('(');
        for (at, part) in parts.iter().enumerate() {
            if at > 0 {
                out.push_str(word);
            }
            self.write(part, out)?;
        }
        out.push(')');
        Ok(())
    }

    fn postfix(&self, operand: &Expr, words: &str, out: &mut String) -> Result<()> {
        out.push('(');
        self.write(operand, out)?;
        out.push_str(words);
        out.push(')');
        Ok(())
    }

    fn cast(&self, operand: &Expr, ty: SqlType, out: &mut String) -> Result<()> {
        out.push('(');
        self.write(operand, out)?;
        write!(out, ")::{}", format_type(self.catalog, ty)).expect("a string grows");
        Ok(())
    }

    fn call(&self, called: Oid, arguments: &[Expr], ty: SqlType, out: &mut String) -> Result<()> {
        if let Some(first) = arguments.first() {
            let source = first.ty().oid;
            if cast(source.0, ty.oid.0).is_some_and(|found| found.function == called.0) {
                return self.cast(first, ty, out);
            }
        }
        let types: Vec<u32> = arguments.iter().map(|argument| argument.ty().oid.0).collect();
        let fits = |left: u32, right: u32| match types.as_slice() {
            [only] => left == 0 && (right == *only || type_by_oid(right).is_some_and(is_pseudo)),
            [a, b] => {
                left != 0
                    && (left == *a || type_by_oid(left).is_some_and(is_pseudo))
                    && (right == *b || type_by_oid(right).is_some_and(is_pseudo))
            }
            _ => false,
        };
        let operator = operators().iter().find(|found| {
            found.function == called.0
                && fits(if found.prefix { 0 } else { found.left }, found.right)
        });
        if let Some(operator) = operator {
            out.push('(');
            if let [left, right] = arguments {
                self.write(left, out)?;
                write!(out, " {} ", operator.name).expect("a string grows");
                self.write(right, out)?;
            } else {
                write!(out, "{} ", operator.name).expect("a string grows");
                self.write(&arguments[0], out)?;
            }
            out.push(')');
            return Ok(());
        }
        let Some(procedure) = function(called.0) else {
            return Err(SqlError::unsupported("this function in a stored expression is"));
        };
        self.named(&identifier(procedure.name), arguments, out)
    }

    fn constant(&self, value: &Literal, ty: SqlType, out: &mut String) -> Result<()> {
        let name = || format_type(self.catalog, SqlType { oid: ty.oid, typmod: -1 });
        let datum = value.datum();
        if matches!(datum, Datum::Null) {
            out.push_str("NULL");
            if ty.oid.0 != oid::UNKNOWN {
                write!(out, "::{}", name()).expect("a string grows");
            }
            return Ok(());
        }
        let text = text_of(self.context, ty, &datum)?;
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
                out.push_str(if matches!(datum, Datum::Bool(true)) { "true" } else { "false" })
            }
            oid::UNKNOWN => out.push_str(&literal(text)),
            _ => write!(out, "{}::{}", literal(text), name()).expect("a string grows"),
        }
        Ok(())
    }
}

fn is_pseudo(ty: &crate::catalog::builtin::Type) -> bool {
    ty.kind == crate::catalog::builtin::TypeKind::Pseudo
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
        CurrentValue::SessionUser => "SESSION_USER".to_owned(),
        CurrentValue::Catalog => "CURRENT_CATALOG".to_owned(),
        CurrentValue::Schema => "CURRENT_SCHEMA".to_owned(),
    }
}
