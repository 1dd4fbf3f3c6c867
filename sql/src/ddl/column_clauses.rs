//! What the clauses of one column may not say together (PostgreSQL's `transformColumnDefinition`): found from their
//! words alone, before any of their expressions means anything.

use super::Ddl;
use super::create_table::serial;
use crate::error::{Result, SqlError};
use crate::parse::ast::{ColumnConstraintKind, ColumnElement};
use crate::sqlstate::SqlState;

/// What the clauses up to a place have said.
#[derive(Default)]
struct Said {
    null: Option<bool>,
    default: bool,
    identity: bool,
    generated: bool,
}

impl Said {
    /// Takes a clause; what is wrong with it, short of the column's name.
    fn take(&mut self, clause: &Clause) -> Option<&'static str> {
        let twice = match clause {
            Clause::Null(null) => {
                return self.nullable(*null);
            }
            Clause::Default if self.default => Some("multiple default values specified for"),
            Clause::Identity if self.identity => Some("multiple identity specifications for"),
            Clause::Generated if self.generated => {
                Some("multiple generation clauses specified for")
            }
            _ => None,
        };
        if twice.is_some() {
            return twice;
        }
        match clause {
            Clause::Default => self.default = true,
            Clause::Generated => self.generated = true,
            _ => {
                self.identity = true;
                if let Some(conflict) = self.nullable(false) {
                    return Some(conflict);
                }
            }
        }
        match (self.default, self.identity, self.generated) {
            (true, true, _) => Some("both default and identity specified for"),
            (true, _, true) => Some("both default and generation expression specified for"),
            (_, true, true) => Some("both identity and generation expression specified for"),
            _ => None,
        }
    }

    fn nullable(&mut self, null: bool) -> Option<&'static str> {
        let before = self.null.replace(null);
        before
            .is_some_and(|before| before != null)
            .then_some("conflicting NULL/NOT NULL declarations for")
    }
}

/// A clause that others may contradict.
enum Clause {
    Null(bool),
    Default,
    Identity,
    Generated,
}

impl Ddl<'_> {
    /// Holds a column's clauses against each other.
    ///
    /// # Errors
    /// 42601, at the clause that contradicts one before it.
    pub(super) fn check_clauses(&self, table: &str, element: &ColumnElement) -> Result<()> {
        let mut said = Said::default();
        let refused = |what: &str| {
            SqlError::new(
                SqlState::SYNTAX_ERROR,
                format!("{what} column \"{}\" of table \"{table}\"", element.name),
            )
        };
        for constraint in &element.constraints {
            let clause = match &constraint.kind {
                ColumnConstraintKind::Null => Clause::Null(true),
                ColumnConstraintKind::NotNull => Clause::Null(false),
                ColumnConstraintKind::Default(..) => Clause::Default,
                ColumnConstraintKind::Identity { .. } => Clause::Identity,
                ColumnConstraintKind::Generated(..) => Clause::Generated,
                _ => continue,
            };
            if let Some(what) = said.take(&clause) {
                return Err(refused(what).at(self.semantics.position(constraint.at)));
            }
        }
        // A serial's default and NOT NULL stand behind all that is written, and nowhere.
        if serial(element).is_some()
            && let Some(what) = said.take(&Clause::Default).or(said.take(&Clause::Null(false)))
        {
            return Err(refused(what));
        }
        Ok(())
    }
}
