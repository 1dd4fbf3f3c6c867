//! Calls in the forms of the standard, with words between their arguments (`get_func_sql_syntax` of `ruleutils.c`).
//!
//! A call is printed this way only if it was written this way: `btrim(x)` stays what it is.

use super::simple::{Parent, is_simple};
use super::{Layout, Printer};
use crate::bind::type_name::oid;
use crate::bind::typed::{Expr, Literal};
use crate::catalog::quote::identifier;
use crate::error::Result;
use std::fmt::Write;

impl Printer<'_, '_> {
    /// Writes a call of `name` as the standard has it; says whether there is such a form. A cast around each of the `cast`
    /// arguments is not shown.
    pub(super) fn standard_form(
        &self,
        name: &str,
        (arguments, cast): (&[&Expr], &[&Expr]),
        out: &mut Layout,
    ) -> Result<bool> {
        match (name, arguments) {
            ("extract", [Expr::Constant(Literal::Text(field), _), value]) => {
                write!(out.text, "EXTRACT({}", identifier(field)).expect("a string grows");
                self.worded(cast, &[(" FROM ", value)], out)?;
            }
            ("normalize", [value, form @ ..]) => {
                out.push_str("NORMALIZE(");
                self.argument(value, cast, out)?;
                if let [Expr::Constant(Literal::Text(form), _)] = form {
                    write!(out.text, ", {}", form.to_ascii_uppercase()).expect("a string grows");
                }
                out.push(')');
            }
            ("is_normalized", [value, form @ ..]) => {
                out.push('(');
                self.operand_of_form(value, cast, out)?;
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
                self.operand_of_form(value, cast, out)?;
                out.push_str(" AT TIME ZONE ");
                self.operand_of_form(zone, cast, out)?;
                out.push(')');
            }
            ("overlaps", [a, b, c, d]) => {
                out.push_str("((");
                self.worded(cast, &[("", a), (", ", b)], out)?;
                out.push_str(" OVERLAPS (");
                self.worded(cast, &[("", c), (", ", d)], out)?;
                out.push(')');
            }
            ("pg_collation_for", [value]) => {
                out.push_str("COLLATION FOR (");
                self.worded(cast, &[("", value)], out)?;
            }
            ("overlay", [value, part, from]) => {
                out.push_str("OVERLAY(");
                self.worded(cast, &[("", value), (" PLACING ", part), (" FROM ", from)], out)?;
            }
            ("overlay", [value, part, from, length]) => {
                let words: [(&str, &Expr); 4] =
                    [("", value), (" PLACING ", part), (" FROM ", from), (" FOR ", length)];
                out.push_str("OVERLAY(");
                self.worded(cast, &words, out)?;
            }
            // Both sides stand in parentheses: only some expressions may stand there without.
            ("position", [whole, part]) => {
                out.push_str("POSITION((");
                self.argument(part, cast, out)?;
                out.push_str(") IN (");
                self.argument(whole, cast, out)?;
                out.push_str("))");
            }
            ("xmlexists", [path, document]) => {
                out.push_str("XMLEXISTS((");
                self.argument(path, cast, out)?;
                out.push_str(") PASSING (");
                self.argument(document, cast, out)?;
                out.push_str("))");
            }
            ("substring", [value, from]) if from.ty().oid.0 == oid::INT4 => {
                out.push_str("SUBSTRING(");
                self.worded(cast, &[("", value), (" FROM ", from)], out)?;
            }
            ("substring", [value, from, length]) if from.ty().oid.0 == oid::INT4 => {
                out.push_str("SUBSTRING(");
                self.worded(cast, &[("", value), (" FROM ", from), (" FOR ", length)], out)?;
            }
            ("substring", [value, pattern, escape]) => {
                out.push_str("SUBSTRING(");
                self.worded(
                    cast,
                    &[("", value), (" SIMILAR ", pattern), (" ESCAPE ", escape)],
                    out,
                )?;
            }
            ("btrim" | "ltrim" | "rtrim", [value, characters @ ..]) => {
                out.push_str(match name {
                    "ltrim" => "TRIM(LEADING",
                    "rtrim" => "TRIM(TRAILING",
                    _ => "TRIM(BOTH",
                });
                if let [characters] = characters {
                    out.push(' ');
                    self.argument(characters, cast, out)?;
                }
                self.worded(cast, &[(" FROM ", value)], out)?;
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Words with the arguments behind them, up to the parenthesis that ends the call.
    fn worded(&self, cast: &[&Expr], parts: &[(&str, &Expr)], out: &mut Layout) -> Result<()> {
        for (word, value) in parts {
            out.push_str(word);
            self.argument(value, cast, out)?;
        }
        out.push(')');
        Ok(())
    }

    /// An argument: where a cast is not shown it stands as that cast's operand does.
    fn argument(&self, value: &Expr, cast: &[&Expr], out: &mut Layout) -> Result<()> {
        match cast.iter().any(|cast| std::ptr::eq(*cast, value)) {
            true => self.operand(value, Parent::Cast, out),
            false => self.write(value, out),
        }
    }

    /// An argument that no parentheses of the form hold, so that the pretty one has its own.
    fn operand_of_form(&self, value: &Expr, cast: &[&Expr], out: &mut Layout) -> Result<()> {
        let parentheses = self.pretty && !is_simple(value, Parent::Cast);
        out.push_str(if parentheses { "(" } else { "" });
        self.argument(value, cast, out)?;
        out.push_str(if parentheses { ")" } else { "" });
        Ok(())
    }
}
