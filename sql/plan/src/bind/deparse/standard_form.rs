//! Calls in the forms of the standard, with words between their arguments (`get_func_sql_syntax` of `ruleutils.c`).
//!
//! A call is printed this way only if it was written this way: `btrim(x)` stays what it is.

use super::simple::Parent;
use super::{Layout, Printer};
use crate::bind::type_name::oid;
use crate::bind::typed::{Expr, Literal};
use crate::catalog::quote::identifier;
use crate::error::Result;
use std::fmt::Write;

impl Printer<'_, '_> {
    /// Writes a call of `name` as the standard has it; says whether there is such a form.
    pub(super) fn standard_form(
        &self,
        name: &str,
        arguments: &[&Expr],
        out: &mut Layout,
    ) -> Result<bool> {
        match (name, arguments) {
            ("extract", [Expr::Constant(Literal::Text(field), _), value]) => {
                write!(out.text, "EXTRACT({}", identifier(field)).expect("a string grows");
                self.worded(&[(" FROM ", value)], out)?;
            }
            ("normalize", [value, form @ ..]) => {
                out.push_str("NORMALIZE(");
                self.write(value, out)?;
                if let [Expr::Constant(Literal::Text(form), _)] = form {
                    write!(out.text, ", {}", form.to_ascii_uppercase()).expect("a string grows");
                }
                out.push(')');
            }
            ("is_normalized", [value, form @ ..]) => {
                out.push('(');
                self.operand(value, Parent::Cast, out)?;
                let form = match form {
                    [Expr::Constant(Literal::Text(form), _)] => {
                        format!("{} ", form.to_ascii_uppercase())
                    }
                    _ => String::new(),
                };
                write!(out.text, " IS {form}NORMALIZED)").expect("a string grows");
            }
            ("timezone", [zone, value]) => {
                out.push('(');
                self.operand(value, Parent::Cast, out)?;
                out.push_str(" AT TIME ZONE ");
                self.operand(zone, Parent::Cast, out)?;
                out.push(')');
            }
            ("overlaps", [a, b, c, d]) => {
                out.push_str("((");
                self.worded(&[("", a), (", ", b)], out)?;
                out.push_str(" OVERLAPS (");
                self.worded(&[("", c), (", ", d)], out)?;
                out.push(')');
            }
            ("pg_collation_for", [value]) => {
                out.push_str("COLLATION FOR (");
                self.worded(&[("", value)], out)?;
            }
            ("overlay", [value, part, from]) => {
                out.push_str("OVERLAY(");
                self.worded(&[("", value), (" PLACING ", part), (" FROM ", from)], out)?;
            }
            ("overlay", [value, part, from, length]) => {
                let words: [(&str, &Expr); 4] =
                    [("", value), (" PLACING ", part), (" FROM ", from), (" FOR ", length)];
                out.push_str("OVERLAY(");
                self.worded(&words, out)?;
            }
            // Both sides stand in parentheses: only some expressions may stand there without.
            ("position", [whole, part]) => {
                out.push_str("POSITION((");
                self.write(part, out)?;
                out.push_str(") IN (");
                self.write(whole, out)?;
                out.push_str("))");
            }
            ("xmlexists", [path, document]) => {
                out.push_str("XMLEXISTS((");
                self.write(path, out)?;
                out.push_str(") PASSING (");
                self.write(document, out)?;
                out.push_str("))");
            }
            ("substring", [value, from]) if from.ty().oid.0 == oid::INT4 => {
                out.push_str("SUBSTRING(");
                self.worded(&[("", value), (" FROM ", from)], out)?;
            }
            ("substring", [value, from, length]) if from.ty().oid.0 == oid::INT4 => {
                out.push_str("SUBSTRING(");
                self.worded(&[("", value), (" FROM ", from), (" FOR ", length)], out)?;
            }
            ("substring", [value, pattern, escape]) => {
                out.push_str("SUBSTRING(");
                self.worded(&[("", value), (" SIMILAR ", pattern), (" ESCAPE ", escape)], out)?;
            }
            ("btrim" | "ltrim" | "rtrim", [value, characters @ ..]) => {
                out.push_str(match name {
                    "ltrim" => "TRIM(LEADING",
                    "rtrim" => "TRIM(TRAILING",
                    _ => "TRIM(BOTH",
                });
                if let [characters] = characters {
                    out.push(' ');
                    self.write(characters, out)?;
                }
                self.worded(&[(" FROM ", value)], out)?;
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Words with the arguments behind them, up to the parenthesis that ends the call.
    fn worded(&self, parts: &[(&str, &Expr)], out: &mut Layout) -> Result<()> {
        for (word, value) in parts {
            out.push_str(word);
            self.write(value, out)?;
        }
        out.push(')');
        Ok(())
    }
}
