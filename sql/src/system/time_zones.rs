//! `pg_timezone_names` and `pg_timezone_abbrevs`: the zones that there are, and what they say at the transaction's start.

use super::rows::Rows;
use crate::error::Result;
use crate::types::datetime::zone;
use crate::types::{Datum, Interval};

fn offset<'a>(rows: &Rows<'_, '_, 'a, '_>, seconds: i32) -> Datum<'a> {
    let micros = i64::from(seconds) * 1_000_000;
    Datum::Interval(rows.call.arena.alloc(Interval { months: 0, days: 0, micros }))
}

pub(super) fn names(rows: &mut Rows<'_, '_, '_, '_>) -> Result<()> {
    for found in zone::all_at(rows.call.transaction_time) {
        let row = [
            rows.text(&found.name),
            rows.text(&found.abbreviation),
            offset(rows, found.offset),
            Datum::Bool(found.is_summer),
        ];
        rows.row(&row)?;
    }
    Ok(())
}

pub(super) fn abbreviations(rows: &mut Rows<'_, '_, '_, '_>) -> Result<()> {
    for (name, found) in zone::abbreviations() {
        let summer = Datum::Bool(found.summer);
        let row = [rows.text(&name.to_uppercase()), offset(rows, found.east), summer];
        rows.row(&row)?;
    }
    Ok(())
}
