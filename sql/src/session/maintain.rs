//! The session of autovacuum: it runs VACUUM and ANALYZE of single tables.

use super::Session;
use super::message::Progress;
use crate::error::Result;
use crate::exec::sink::Unseen;

impl Session {
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
