//! VACUUM and ANALYZE, and the session of autovacuum, which runs them of single tables.
//!
//! Each table has a transaction of its own (`vacuum` of `vacuum.c`): nobody waits for a table that is not being worked on, and what
//! has been done to one stays if another one fails.

use super::Session;
use super::utility::{Outcome, done};
use crate::ddl::{Company, vacuum};
use crate::error::Result;
use crate::exec::sink::Unseen;
use crate::message::Progress;
use crate::parse::ast::{Analyze, Vacuum};
use crate::source::Source;
use std::sync::Arc;

impl Session {
    pub(super) fn vacuum(&mut self, parsed: &Arc<Source>, named: &Vacuum) -> Result<Outcome> {
        let text = parsed.query_text();
        let ((options, chosen), _) = self.step(text, |ddl| vacuum::vacuumed(ddl, named))?;
        for one in &chosen {
            self.demand_not_cancelled()?;
            self.step(text, |ddl| vacuum::vacuum(ddl, &options, one))?;
        }
        done("VACUUM")
    }

    /// In a block it is all of the block's transaction.
    pub(super) fn analyze(&mut self, parsed: &Arc<Source>, named: &Analyze) -> Result<Outcome> {
        let text = parsed.query_text();
        if !matches!(self.company(), Company::Alone) {
            self.with_ddl(text, |ddl| {
                let (options, chosen) = vacuum::analyzed(ddl, named)?;
                chosen.iter().try_for_each(|one| vacuum::analyze_table(ddl, &options, one))
            })?;
            return done("ANALYZE");
        }
        let ((options, chosen), _) = self.step(text, |ddl| vacuum::analyzed(ddl, named))?;
        for one in &chosen {
            self.demand_not_cancelled()?;
            self.step(text, |ddl| vacuum::analyze_table(ddl, &options, one))?;
        }
        done("ANALYZE")
    }

    /// What it does to tables is counted as done by itself.
    pub(crate) fn counts_as_automatic(&mut self) {
        self.counts.set_automatic();
    }

    /// Does to a table what `words` say, unless somebody has locked it.
    ///
    /// # Errors
    /// 57014 where somebody waits for the table; storage's.
    pub(crate) fn maintain(&mut self, table: &str, words: &str) -> Result<()> {
        let options = match words {
            "VACUUM ANALYZE" => "VACUUM (SKIP_LOCKED, ANALYZE)",
            "VACUUM" => "VACUUM (SKIP_LOCKED)",
            _ => "ANALYZE (SKIP_LOCKED)",
        };
        self.simple_query(&format!("{options} {table}"))?;
        self.activity.says(&format!("autovacuum: {words} {table}"));
        // What they tell is nobody's business.
        let mut sink = Unseen::default();
        let mut done = Ok(());
        while done.is_ok() && self.simple_next()? {
            done = self.run("", 0, &mut sink).map(|progress| {
                debug_assert!(matches!(progress, Progress::Complete(_)), "it gives no rows");
            });
        }
        self.rest();
        done
    }

    /// Whether reads and writes are timed.
    pub(crate) fn times_io(&self) -> bool {
        self.settings.plain().track_io_timing
    }
}
