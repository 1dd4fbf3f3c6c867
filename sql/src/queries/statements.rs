//! The functions of `pg_stat_statements` (`pg_stat_statements.c`).

use super::Call;
use super::statistics::Emit;
use crate::catalog::extension::pg_stat_statements::INFO;
use crate::catalog::object::well_known::READ_ALL_STATS;
use crate::error::{Result, SqlError};
use crate::sqlstate::SqlState;
use crate::statement_statistics::{Figures, StatementStatistics, Times};
use crate::types::{Datum, SqlType, oids, read_text};

/// How many columns there are.
const COLUMNS: usize = 43;

impl<'a> Call<'_, '_, '_, 'a> {
    /// What statements have cost.
    fn counted_statements(&self) -> Result<&StatementStatistics> {
        self.session.engine.statements().ok_or_else(|| {
            SqlError::new(
                SqlState::OBJECT_NOT_IN_PREREQUISITE_STATE,
                "pg_stat_statements must be loaded via shared_preload_libraries",
            )
        })
    }

    /// `pg_stat_statements`. Who may not read all statistics sees whose and how many the others are, but not what.
    pub(super) fn statements(&self, emit: &mut Emit<'_, 'a>) -> Result<()> {
        let statistics = self.counted_statements()?;
        let shows_texts = self.flag(0);
        let snapshot = self.session.snapshot;
        let user = self.session.user();
        let sees_all = snapshot.shared().has_privileges_of(user, READ_ALL_STATS);
        for (key, text, figures) in statistics.all() {
            let mut row = Vec::with_capacity(COLUMNS);
            row.push(Datum::Oid(key.user.0));
            row.push(Datum::Oid(key.database.0));
            row.push(Datum::Bool(key.top_level));
            let is_open = sees_all || key.user == user;
            row.push(if is_open { Datum::Int8(key.id) } else { Datum::Null });
            row.push(match (shows_texts, is_open) {
                (false, _) => Datum::Null,
                (true, false) => Datum::Text("<insufficient privilege>"),
                (true, true) => self.text(&text),
            });
            self.figures(&figures, &mut row);
            if !emit(&row)? {
                break;
            }
        }
        Ok(())
    }

    fn figures(&self, figures: &Figures, row: &mut Vec<Datum<'a>>) {
        let count = |number: u64| Datum::Int8(number.cast_signed());
        let times = |times: &Times, row: &mut Vec<Datum<'a>>| {
            row.push(count(times.count));
            let Times { total, min, max, mean, .. } = *times;
            row.extend([total, min, max, mean, times.deviation()].map(Datum::Float8));
        };
        times(&figures.plans, row);
        times(&figures.calls, row);
        row.push(count(figures.rows));
        let used = &figures.usage;
        row.extend([used.hit, used.read, used.dirtied, used.written].map(count));
        // Temporary tables have no pages of their own.
        row.extend([0, 0, 0, 0, used.temp_read, used.temp_written].map(count));
        let times = [used.read_us, used.written_us, used.temp_read_us, used.temp_written_us];
        row.extend(times.map(|micros| Datum::Float8(micros as f64 / 1000.0)));
        row.extend([used.log_records, 0].map(count));
        row.push(self.numeric(used.log_bytes));
        // There is no compiler at run time: counts and times of it take turns.
        for _ in 0..4 {
            row.extend([count(0), Datum::Float8(0.0)]);
        }
    }

    fn numeric(&self, number: u64) -> Datum<'a> {
        let read = read_text(self.context, SqlType::plain(oids::NUMERIC), &number.to_string());
        read.unwrap_or(Datum::Null)
    }

    /// `pg_stat_statements_reset`.
    pub(super) fn reset_statements(&self) -> Result<Datum<'a>> {
        let statistics = self.counted_statements()?;
        let id = match self.arguments.get(2) {
            Some(Datum::Int8(id)) => *id,
            _ => 0,
        };
        statistics.reset(self.oid(0), self.oid(1), id, self.context.clock.wall());
        Ok(Datum::Text(""))
    }

    /// `pg_stat_statements_info`.
    pub(super) fn statements_info(&self) -> Result<Datum<'a>> {
        let (deallocations, reset) = self.counted_statements()?.info();
        let row = [Datum::Int8(deallocations.cast_signed()), Datum::TimestampTz(reset)];
        Ok(self.out_row(INFO, &row))
    }
}
