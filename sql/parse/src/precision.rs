//! Warnings of a time or an interval with more decimals than there can be (`anytime_typmod_check` and its kin).

use super::ast::{Expr, ExprKind, Span, TypeName};
use super::parser::Parser;
use sql_types::error::{Notice, Result, Severity, SqlError};
use sql_types::sqlstate::SqlState;

/// The most decimals of a second.
const PRECISION_MAX: i32 = 6;

impl Parser<'_> {
    /// Warns of a type's precision that will be reduced.
    pub(super) fn warn_of_precision(&mut self, ty: &TypeName) {
        let (Some(last), true) = (ty.modifiers.last(), ty.name.parts.len() <= 2) else { return };
        let ExprKind::Integer(precision) = last.kind else { return };
        if precision <= PRECISION_MAX
            || ty.name.schema().is_some_and(|name| **name != *"pg_catalog")
        {
            return;
        }
        let (kind, zone) = match (&**ty.name.name(), ty.modifiers.len()) {
            ("time", 1) => ("TIME", false),
            ("timetz", 1) => ("TIME", true),
            ("timestamp", 1) => ("TIMESTAMP", false),
            ("timestamptz", 1) => ("TIMESTAMP", true),
            // Its first modifier are the fields that it has.
            ("interval", 2) => ("INTERVAL", false),
            _ => return,
        };
        let place = self.positions.of(ty.name.at);
        self.notices.push(reduced(kind, precision, zone).at(place));
    }

    /// Warns of the precision of a keyword such as CURRENT_TIME, and reduces it.
    pub(super) fn reduced_precision(&mut self, kind: &str, precision: i32, zone: bool) -> u8 {
        if precision > PRECISION_MAX {
            self.notices.push(reduced(kind, precision, zone));
        }
        precision.clamp(0, PRECISION_MAX) as u8
    }

    /// A type's name where PostgreSQL does not say to which place a warning belongs.
    pub(super) fn type_name_nowhere(&mut self) -> Result<TypeName> {
        let before = self.notices.len();
        let ty = self.type_name()?;
        for notice in self.notices.iter_mut().skip(before).filter(|one| is_warning(one)) {
            *notice = notice.clone().nowhere();
        }
        Ok(ty)
    }

    /// The type's name of a column that is made: what there is to warn of is told once more.
    pub(super) fn column_type_name(&mut self) -> Result<TypeName> {
        let before = self.notices.len();
        let ty = self.type_name()?;
        self.repeat_warnings(before);
        Ok(ty)
    }

    /// An expression that a table keeps, as one of its defaults (0) or checks (1): it gets its meaning, and its warnings, when
    /// the table's columns have theirs.
    pub(super) fn made_later(
        &mut self,
        rank: usize,
        rule: impl FnOnce(&mut Self) -> Result<Expr>,
    ) -> Result<(Expr, Span)> {
        let before = self.notices.len();
        let found = self.spanned(rule)?;
        let of_precision =
            |one: &Notice| is_warning(one) && one.state() == SqlState::INVALID_PARAMETER_VALUE;
        let own = self.notices.split_off(before);
        let (later, now): (Vec<_>, Vec<_>) = own.into_iter().partition(of_precision);
        self.notices.extend(now);
        self.later[rank].extend(later);
        Ok(found)
    }

    /// Leaves out where warnings of expressions that a table keeps stand: ALTER TABLE does not say it.
    pub(super) fn later_is_nowhere(&mut self) {
        for notice in self.later.iter_mut().flatten() {
            *notice = notice.clone().nowhere();
        }
    }

    /// Has the warnings from the one at `before` on given again at the statement's end.
    pub(super) fn repeat_warnings(&mut self, before: usize) {
        let warnings = self.notices[before..].iter().filter(|one| is_warning(one));
        self.repeated.extend(warnings.cloned().map(SqlError::nowhere));
    }
}

fn is_warning(notice: &Notice) -> bool {
    notice.fields().severity == Severity::Warning
}

fn reduced(kind: &str, precision: i32, zone: bool) -> SqlError {
    let zone = if zone { " WITH TIME ZONE" } else { "" };
    SqlError::warning(
        SqlState::INVALID_PARAMETER_VALUE,
        format!("{kind}({precision}){zone} precision reduced to maximum allowed, {PRECISION_MAX}"),
    )
}
