//! When a table has changed enough (`relation_needs_vacanalyze`; PostgreSQL 15 manual, section 25.1.6): more than a threshold
//! and a part of its rows, by the server's settings or its own storage parameters.

use crate::catalog::Relation;
use crate::catalog::relation_counts::{Event, cluster::RelationCounts};
use crate::settings::ServerSettings;

/// What is to be done to a table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Work {
    /// VACUUM.
    pub vacuum: bool,
    /// ANALYZE.
    pub analyze: bool,
}

impl Work {
    /// Whether it is anything.
    #[must_use]
    pub fn is_any(self) -> bool {
        self.vacuum || self.analyze
    }

    /// The words of the statement that does it.
    #[must_use]
    pub fn words(self) -> &'static str {
        match (self.vacuum, self.analyze) {
            (true, true) => "VACUUM ANALYZE",
            (true, false) => "VACUUM",
            _ => "ANALYZE",
        }
    }
}

/// The parameters of a table.
pub struct Parameters<'p> {
    /// The server's settings.
    pub settings: &'p ServerSettings,
    /// The table.
    pub relation: &'p Relation,
}

impl Parameters<'_> {
    fn own(&self, name: &str) -> Option<&str> {
        let options = &self.relation.options;
        options.iter().find(|option| option.0 == name).map(|option| option.1.as_str())
    }

    /// A number: the table's, or the server's.
    fn number(&self, name: &str) -> f64 {
        let own = self.own(name).and_then(|text| text.parse().ok());
        own.unwrap_or_else(|| self.settings.real(name))
    }

    /// Whether the table is looked after.
    fn enabled(&self) -> bool {
        !matches!(self.own("autovacuum_enabled"), Some("false" | "off" | "no" | "0" | "f" | "n"))
    }

    /// From how many milliseconds on what is done to it is logged; none: nothing is.
    #[must_use]
    pub fn logged_from(&self) -> Option<u64> {
        u64::try_from(self.number("log_autovacuum_min_duration") as i64).ok()
    }

    /// What is to be done, by what has been counted.
    #[must_use]
    pub fn work(&self, counted: &RelationCounts) -> Work {
        if !self.enabled() {
            return Work::default();
        }
        let rows = f64::max(self.relation.row_estimate, 0.0);
        let limit = |kind: &str| {
            let threshold = self.number(&format!("autovacuum_{kind}_threshold"));
            threshold + self.number(&format!("autovacuum_{kind}_scale_factor")) * rows
        };
        let dead = counted.counts[Event::Died] as f64;
        let inserted = counted.inserted_since_vacuum as f64;
        let inserts_count = self.number("autovacuum_vacuum_insert_threshold") >= 0.0;
        Work {
            vacuum: dead > limit("vacuum") || inserts_count && inserted > limit("vacuum_insert"),
            analyze: counted.counts[Event::Changed] as f64 > limit("analyze"),
        }
    }
}
