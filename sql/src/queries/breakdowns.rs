//! `pg_stat_get_atoll_breakdown`: where the time of sessions and statements has gone, in cycles by class.

use super::Call;
use super::statistics::Emit;
use crate::breakdown::Row;
use crate::catalog::object::well_known::READ_ALL_STATS;
use crate::error::Result;
use crate::types::Datum;
use txn::breakdown::Class;

impl<'a> Call<'_, '_, '_, 'a> {
    /// A row for each session and for each shape of statements. Who may not read all statistics sees whose and how many the
    /// others are, but not what.
    pub(super) fn breakdowns(&self, emit: &mut Emit<'_, 'a>) -> Result<()> {
        let user = self.session.user();
        let sees_all = self.session.snapshot.shared().has_privileges_of(user, READ_ALL_STATS);
        for Row { pid, user: owner, database, statement, spent } in self.session.engine.breakdowns()
        {
            let count = |number: u64| Datum::Int8(number.cast_signed());
            let mut row = vec![
                pid.map_or(Datum::Null, |pid| Datum::Int4(pid.cast_signed())),
                Datum::Oid(owner.0),
                Datum::Oid(database.0),
            ];
            row.extend(match &statement {
                None => [Datum::Null; 2],
                Some((number, text)) if sees_all || owner == user => {
                    [Datum::Int8(*number), self.text(text)]
                }
                Some(_) => [Datum::Null, Datum::Text("<insufficient privilege>")],
            });
            row.extend([count(spent.calls), count(spent.breakdown.total())]);
            row.extend(Class::ALL.map(|class| count(spent.breakdown.of(class))));
            if !emit(&row)? {
                break;
            }
        }
        Ok(())
    }
}
