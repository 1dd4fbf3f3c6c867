//! The clauses in which the rules are others, by the names that messages have for them.

use crate::bind::Binder;
use crate::bind::expression::Place;
use crate::catalog::system_column::TABLE_OID;
use crate::error::{Result, SqlError};
use crate::sqlstate::SqlState;

/// The condition of a CHECK.
pub const CHECK: &str = "check constraints";
/// The expression of a generated column.
pub const GENERATED: &str = "column generation expressions";
/// A key of an index.
pub const INDEX_EXPRESSION: &str = "index expressions";
/// The WHERE of an index.
pub const INDEX_PREDICATE: &str = "index predicates";
/// An argument of CALL.
pub const CALL: &str = "CALL arguments";
/// The condition of a WHEN of MERGE.
pub const MERGE_WHEN: &str = "MERGE WHEN conditions";

impl Binder<'_> {
    /// Conditions of WHEN know no system column but `tableoid`, nor do checks and generated columns; indexes know none.
    pub(super) fn refuse_system_column(
        &self,
        name: &str,
        column: i16,
        place: &Place<'_>,
        at: u32,
    ) -> Result<()> {
        let message = match place.clause {
            INDEX_EXPRESSION | INDEX_PREDICATE if column < 0 => {
                let message = "index creation on system columns is not supported";
                return Err(SqlError::new(SqlState::FEATURE_NOT_SUPPORTED, message));
            }
            _ if column >= 0 || column == TABLE_OID => return Ok(()),
            MERGE_WHEN => format!("cannot use system column \"{name}\" in MERGE WHEN condition"),
            CHECK => format!("system column \"{name}\" reference in check constraint is invalid"),
            GENERATED => {
                format!("cannot use system column \"{name}\" in column generation expression")
            }
            _ => return Ok(()),
        };
        Err(SqlError::new(SqlState::INVALID_COLUMN_REFERENCE, message).at(at))
    }
}
