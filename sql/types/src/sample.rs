//! TABLESAMPLE: whether a row belongs to the sample. Rows are chosen one by one by both methods, since nobody but storage
//! knows which of them lie on a page.

use super::function::Callable::{self, Plain};
use super::{CallContext, Datum, record};
use crate::error::{Result, SqlError};
use crate::sqlstate::SqlState;
use std::hash::Hasher;

/// By OID: `bernoulli` and `system`, whose only argument here is a row of the percentage and, with REPEATABLE, the seed and
/// the row in question.
pub(crate) const FUNCTIONS: &[(u32, Callable)] = &[(3313, Plain(belongs)), (3314, Plain(belongs))];

fn belongs<'a>(context: &CallContext<'a>, a: &[Datum<'a>]) -> Result<Datum<'a>> {
    let Datum::Record(bytes) = a[0] else { return Ok(Datum::Null) };
    let field = |at: usize| record::field(context.arena, bytes, at);
    let wrong = |message: &str| SqlError::new(SqlState::INVALID_TABLESAMPLE_ARGUMENT, message);
    let Datum::Float4(percentage) = field(0)? else {
        return Err(wrong("TABLESAMPLE parameter cannot be null"));
    };
    if !(0.0..=100.0).contains(&percentage) {
        return Err(wrong("sample percentage must be between 0 and 100"));
    }
    let chance = match record::fields(bytes).count() {
        1 => super::arithmetic::next_random(context),
        _ => {
            let Datum::Float8(seed) = field(1)? else {
                return Err(SqlError::new(
                    SqlState::INVALID_TABLESAMPLE_REPEAT,
                    "TABLESAMPLE REPEATABLE parameter cannot be null",
                ));
            };
            let mut hash = rustc_hash::FxHasher::default();
            hash.write_u64(seed.to_bits());
            if let Datum::Record(row) = field(2)? {
                hash.write(row);
            }
            mixed(hash.finish())
        }
    };
    // As many of 2^32 as the percentage says.
    let below = (f64::from(percentage) / 100.0 * 4_294_967_296.0).round() as u64;
    Ok(Datum::Bool(chance >> 32 < below))
}

/// A hash whose upper bits depend on all of it (`splitmix64`).
fn mixed(hash: u64) -> u64 {
    let hash = (hash ^ hash >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let hash = (hash ^ hash >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
    hash ^ hash >> 31
}
