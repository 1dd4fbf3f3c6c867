//! Functions of triggers that are called by themselves, which each of them refuses in its own words: `contrib/spi`, `tcn`
//! (PostgreSQL 15 manual, appendix F) and `suppress_redundant_updates_trigger`. What they do for a trigger the session does.

use crate::error::SqlError;
use crate::function::Callable::{self, Plain};
use crate::sqlstate::SqlState;

/// By OID.
pub(crate) const FUNCTIONS: &[(u32, Callable)] = &[
    (1291, Plain(|_, _| Err(no_trigger("suppress_redundant_updates_trigger")))),
    (15_070, Plain(|_, _| Err(not_fired("moddatetime: ")))),
    (15_072, Plain(|_, _| Err(not_fired("insert_username: ")))),
    (15_074, Plain(|_, _| Err(not_fired("")))),
    (15_076, Plain(|_, _| Err(no_trigger("triggered_change_notification")))),
    (15_078, Plain(|_, _| Err(not_fired("check_primary_key: ")))),
    (15_079, Plain(|_, _| Err(not_fired("check_foreign_key: ")))),
];

/// 39P01.
fn no_trigger(name: &str) -> SqlError {
    let message = format!("{name}: must be called as trigger");
    SqlError::new(SqlState::TRIGGER_PROTOCOL_VIOLATED, message)
}

/// XX000.
fn not_fired(prefix: &str) -> SqlError {
    SqlError::new(SqlState::INTERNAL_ERROR, format!("{prefix}not fired by trigger manager"))
}
