//! What definitions tell at DEBUG (`client_min_messages = debug1`): what they make without having been asked, and which work
//! they do (`DefineIndex`, `index_build`, `ATRewriteTable`). Nothing is made ready for nobody.

use super::Ddl;
use crate::catalog::builtin;
use crate::catalog::relation::{Index, IndexColumn, Relation};
use crate::error::{Severity, SqlError};
use crate::sqlstate::SqlState;

/// Whether equal keys of a column are the same in every byte, so that an index may hold them once: its operator class says so
/// (`BTEQUALIMAGE_PROC`).
fn has_equal_images(relation: &Relation, index: &Index, key: &IndexColumn) -> bool {
    let ty = match key.expression() {
        Some(at) => index.expressions[at].ty,
        None => relation.columns[key.column].ty,
    };
    let (family, input) = match builtin::operator_class(key.class.0) {
        Some(class) => (class.family, class.input),
        None => match builtin::ordering(ty.oid.0) {
            Some(default) => (default.family, default.input),
            None => return false,
        },
    };
    builtin::has_equal_images(family, input)
}

impl Ddl<'_> {
    fn debug(&mut self, message: &dyn Fn() -> String) {
        if self.tells_debug {
            let told = SqlError::new(SqlState::SUCCESSFUL_COMPLETION, message());
            self.notices.push(told.severity(Severity::Debug));
        }
    }

    /// A sequence is made for a column.
    pub(super) fn tell_sequence(
        &mut self,
        altering: bool,
        relation: &Relation,
        column: &str,
        name: &str,
    ) {
        let statement = if altering { "ALTER TABLE" } else { "CREATE TABLE" };
        let table = &relation.name;
        self.debug(&|| {
            format!("{statement} will create implicit sequence \"{name}\" for serial column \"{table}.{column}\"")
        });
    }

    /// An index is made for a key.
    pub(super) fn tell_key(&mut self, altering: bool, relation: &Relation, index: &Index) {
        let statement = if altering { "ALTER TABLE / ADD" } else { "CREATE TABLE /" };
        let kind = if index.primary { "PRIMARY KEY" } else { "UNIQUE" };
        let (name, table) = (&index.name, &relation.name);
        self.debug(&|| {
            format!(
                "{statement} {kind} will create implicit index \"{name}\" for table \"{table}\""
            )
        });
    }

    /// An index is built.
    pub(super) fn tell_build(&mut self, relation: &Relation, index: &Index) {
        let (name, table) = (&index.name, &relation.name);
        self.debug(&|| format!("building index \"{name}\" on table \"{table}\" serially"));
        if index.include.is_empty() {
            let same = |key: &IndexColumn| has_equal_images(relation, index, key);
            let says = || match index.columns.iter().all(same) {
                true => "can safely",
                false => "cannot",
            };
            self.debug(&|| format!("index \"{name}\" {} use deduplication", says()));
        }
    }

    /// Rows that are there are held against a condition.
    pub(super) fn tell_verification(&mut self, relation: &Relation) {
        self.debug(&|| format!("verifying table \"{}\"", relation.name));
    }

    /// Rows that are there are held against a foreign key.
    pub(super) fn tell_validation(&mut self, constraint: &str) {
        self.debug(&|| format!("validating foreign key constraint \"{constraint}\""));
    }

    /// A table gets new rows, and with them its key; its other indexes tell for themselves.
    pub(super) fn tell_rewrite(&mut self, relation: &Relation, reason: i32) {
        if let Some(rewriting) = self.rewriting {
            rewriting.note(relation.oid, reason);
        }
        self.debug(&|| format!("rewriting table \"{}\"", relation.name));
        if let Some(index) = relation.indexes.iter().find(|index| index.holds_rows()) {
            self.tell_build(relation, index);
        }
    }
}
