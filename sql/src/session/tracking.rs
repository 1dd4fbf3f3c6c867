//! What a session tells of its statements beside their answers: their numbers (`compute_query_id`), what they have cost
//! (`pg_stat_statements`), and their plans, where they have taken long (`auto_explain`).
//!
//! Where none of this is wanted a statement costs one look at [`Tracking::watches`].

use super::Session;
use super::message::{CommandTag, Progress, REFRESH};
use super::portal::{Portal, Stage};
use super::source::Source;
use super::statement::Prepared;
use crate::error::{Severity, SqlError};
use crate::exec::Machine;
use crate::exec::probe::Probes;
use crate::explain::{Facts, Format, Options, explain};
use crate::parse::Statement;
use crate::settings::session::Settings;
use crate::settings::{AUTO_EXPLAIN, STATEMENT_STATISTICS};
use crate::statement_statistics::shape::Shape;
use crate::statement_statistics::{Cost, Key};
use std::sync::Arc;
use txn::{Micros, Usage};

/// The routine that PostgreSQL's `auto_explain` writes in: its events have the statement in their text, and are logged without.
pub const AUTO_EXPLAIN_ROUTINE: &str = "explain_ExecutorEnd";

/// What the session's settings ask for: plain values, which are looked at for each statement.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Tracking {
    /// Whether anything is asked for.
    pub watches: bool,
    /// Statements have numbers.
    pub numbers: bool,
    /// EXPLAIN VERBOSE shows them.
    pub shows_numbers: bool,
    /// What statements cost is counted; of those that have no plan, too; planning, too.
    counts: bool,
    counts_utilities: bool,
    counts_plans: bool,
    explains: Option<AutoExplain>,
    /// `atoll.track_breakdown`: where the time of statements goes is measured.
    pub measures: bool,
    /// What chance draws from.
    drawn: u64,
}

/// `auto_explain`.
#[derive(Clone, Copy, Debug)]
struct AutoExplain {
    longer_than_us: u64,
    rate: f64,
    options: Options,
    severity: Severity,
}

/// A run that is watched.
pub(super) struct Watch {
    begun: Micros,
    used: Usage,
    id: i64,
    /// The statement: what EXECUTE names, else the portal's own as it was when it began, whatever runs in it then.
    prepared: Arc<Prepared>,
    /// Whether EXECUTE names it.
    executed: bool,
    /// What it has cost before.
    spent: Cost,
}

/// The plan of a portal that may be shown in the log.
#[derive(Debug)]
pub(super) struct WatchedPlan {
    probes: Probes,
    settings: AutoExplain,
}

impl Tracking {
    /// As a session's settings are now.
    pub fn of(settings: &Settings, before: Tracking) -> Tracking {
        let loaded = settings.is_preloaded(STATEMENT_STATISTICS);
        let asked = settings.text("compute_query_id");
        let numbers = match &*asked {
            "on" | "regress" => true,
            "off" => false,
            _ => loaded,
        };
        let counts = loaded && numbers && &*settings.text("pg_stat_statements.track") != "none";
        let explains = settings.has_library(AUTO_EXPLAIN).then(|| AutoExplain::of(settings));
        let explains = explains.flatten();
        Tracking {
            watches: numbers || explains.is_some(),
            numbers,
            shows_numbers: numbers && &*asked != "regress",
            counts,
            counts_utilities: settings.bool("pg_stat_statements.track_utility"),
            counts_plans: counts && settings.bool("pg_stat_statements.track_planning"),
            explains,
            measures: settings.bool("atoll.track_breakdown"),
            drawn: before.drawn,
        }
    }

    /// A number between 0 and 1 (xorshift64, Marsaglia 2003).
    fn chance(&mut self) -> f64 {
        let mut drawn = self.drawn | 1;
        drawn ^= drawn << 13;
        drawn ^= drawn >> 7;
        drawn ^= drawn << 17;
        self.drawn = drawn;
        (drawn >> 11) as f64 / (1_u64 << 53) as f64
    }
}

impl AutoExplain {
    /// None where nothing is to be logged.
    fn of(settings: &Settings) -> Option<AutoExplain> {
        let least = settings.integer("auto_explain.log_min_duration");
        let longer_than_us = u64::try_from(least).ok()?.saturating_mul(1000);
        let analyze = settings.bool("auto_explain.log_analyze");
        let with_analyze = |name| analyze && settings.bool(name);
        let format = match &*settings.text("auto_explain.log_format") {
            "xml" => Format::Xml,
            "json" => Format::Json,
            "yaml" => Format::Yaml,
            _ => Format::Text,
        };
        let severity = match &*settings.text("auto_explain.log_level") {
            "info" => Severity::Info,
            "notice" => Severity::Notice,
            "warning" => Severity::Warning,
            "log" => Severity::Log,
            _ => Severity::Debug,
        };
        Some(AutoExplain {
            longer_than_us,
            rate: settings.real("auto_explain.sample_rate"),
            severity,
            options: Options {
                analyze,
                verbose: settings.bool("auto_explain.log_verbose"),
                costs: true,
                settings: settings.bool("auto_explain.log_settings"),
                timing: with_analyze("auto_explain.log_timing"),
                buffers: with_analyze("auto_explain.log_buffers"),
                io_timing: settings.bool("track_io_timing"),
                wal: with_analyze("auto_explain.log_wal"),
                breakdown: false,
                summary: analyze,
                format,
            },
        })
    }
}

impl Prepared {
    /// The number of all statements that mean the same.
    pub(super) fn number(&self) -> i64 {
        let meaning = self.planned.as_ref().and_then(|planned| planned.meaning);
        let planned = self.parsed.statement().is_some_and(Statement::is_planned);
        self.parsed.shape().id(meaning.filter(|_| planned))
    }
}

impl Session {
    /// A portal begins to run, or goes on.
    #[cold]
    pub(super) fn begin_watch(&mut self, portal: &mut Portal) -> Option<Watch> {
        let begins = portal.progress == Stage::Ready;
        let counted = portal.counted.take().filter(|_| !begins);
        let own = counted.unwrap_or_else(|| Arc::clone(&portal.prepared));
        let named = self.executes(own.parsed.statement()?);
        let executed = named.is_some();
        let prepared = named.unwrap_or(own);
        let mut id = 0;
        if self.tracking.numbers {
            id = prepared.number();
            self.activity.is_numbered_statement(id);
        }
        if begins {
            portal.spent = Cost::default();
            portal.watched = None;
            self.watch_plan(portal);
        }
        let (begun, used) = (self.engine.manager().environment().clock.now(), Usage::so_far());
        Some(Watch { begun, used, id, prepared, executed, spent: portal.spent })
    }

    /// The statement that an EXECUTE names.
    pub(super) fn executes(&self, statement: &Statement) -> Option<Arc<Prepared>> {
        let Statement::Execute(execute) = statement else { return None };
        self.statements.get(&*execute.name).map(|named| Arc::clone(&named.prepared))
    }

    /// Has the plan of a portal that is about to run watched, where `auto_explain` may want to show it.
    pub(super) fn watch_plan(&mut self, portal: &mut Portal) {
        let Some(settings) = self.tracking.explains else { return };
        let Some(planned) = &portal.prepared.planned else { return };
        if settings.rate < 1.0 && self.tracking.chance() >= settings.rate {
            return;
        }
        let options = settings.options;
        let probes = Probes::new(options.timing, options.buffers || options.wal);
        if options.analyze {
            portal.machine = Some(Box::new(Machine::watched(&planned.program, &probes)));
        }
        portal.watched = Some(Box::new(WatchedPlan { probes, settings }));
    }

    /// A portal has run, to its end or not.
    #[cold]
    pub(super) fn end_watch(&mut self, portal: &mut Portal, watch: Watch, progress: &Progress) {
        let now = self.engine.manager().environment().clock.now();
        let used = Usage::so_far().since(watch.used);
        portal.spent = Cost {
            us: watch.spent.us + now.0.saturating_sub(watch.begun.0),
            rows: watch.spent.rows,
            usage: watch.spent.usage.plus(used),
        };
        match progress {
            Progress::Complete(tag) => {
                let planned = watch.prepared.planned.is_some();
                let counted = planned || matches!(tag.words, "COPY" | "FETCH" | "SELECT" | REFRESH);
                portal.spent.rows += tag.rows.filter(|_| counted).unwrap_or(0);
                self.show_watched(portal, Some(&*watch.prepared).filter(|_| watch.executed));
                self.count_statement(portal, &watch);
            }
            Progress::Suspended => {
                let sent = portal.machine.as_ref().map_or(0, |machine| machine.sent());
                portal.spent.rows = sent;
                portal.counted = Some(watch.prepared);
            }
            _ => portal.counted = Some(watch.prepared),
        }
    }

    /// Counts a portal's statement, which has come to its end.
    fn count_statement(&mut self, portal: &Portal, watch: &Watch) {
        let Some(statistics) = self.engine.statements() else { return };
        let prepared = &watch.prepared;
        let skipped = match prepared.parsed.statement() {
            Some(Statement::Execute(_) | Statement::Prepare(_) | Statement::Deallocate(_)) => true,
            Some(statement) => !statement.is_planned() && !self.tracking.counts_utilities,
            None => true,
        };
        if skipped || !self.tracking.counts || watch.id == 0 {
            return;
        }
        let key = self.statement_key(watch.id);
        statistics.ran(&mut self.recent_statements, key, prepared.parsed.shape(), portal.spent);
    }

    /// A part of a COPY from the client begins.
    pub(super) fn begin_copy_watch(&self) -> Option<(Micros, Usage)> {
        let clock = &self.engine.manager().environment().clock;
        self.tracking.counts.then(|| (clock.now(), Usage::so_far()))
    }

    /// It has ended, well or not.
    pub(super) fn end_copy_watch(&mut self, watch: Option<(Micros, Usage)>) {
        let Some((begun, used)) = watch else { return };
        let now = self.engine.manager().environment().clock.now();
        self.copy_cost.us += now.0.saturating_sub(begun.0);
        self.copy_cost.usage = self.copy_cost.usage.plus(Usage::so_far().since(used));
    }

    /// Counts a COPY from the client, which has come to its end.
    pub(super) fn count_copy(&mut self, portal: &Portal, tag: CommandTag) {
        let fed = std::mem::take(&mut self.copy_cost);
        let Some(statistics) = self.engine.statements() else { return };
        if !(self.tracking.counts && self.tracking.counts_utilities) {
            return;
        }
        let cost = Cost {
            us: portal.spent.us + fed.us,
            rows: tag.rows.unwrap_or(0),
            usage: portal.spent.usage.plus(fed.usage),
        };
        let shape = portal.prepared.parsed.shape();
        let key = self.statement_key(portal.prepared.number());
        statistics.ran(&mut self.recent_statements, key, shape, cost);
    }

    pub(super) fn statement_key(&self, id: i64) -> Key {
        Key { user: self.identity.user, database: self.catalog.database(), id }
    }

    /// Counts a plan that has just been made, since `begun`.
    pub(super) fn count_plan(&mut self, prepared: &Prepared, begun: Micros) {
        let Some(statistics) = self.engine.statements().filter(|_| self.tracking.counts_plans)
        else {
            return;
        };
        let now = self.engine.manager().environment().clock.now();
        let key = self.statement_key(prepared.number());
        let us = now.0.saturating_sub(begun.0);
        statistics.planned(&mut self.recent_statements, key, prepared.parsed.shape(), us);
    }

    /// Writes the plan of a portal to the log, if it has taken long enough (`explain_ExecutorEnd`).
    fn show_watched(&mut self, portal: &mut Portal, executed: Option<&Prepared>) {
        let Some(watched) = portal.watched.take() else { return };
        let WatchedPlan { probes, settings: AutoExplain { longer_than_us, options, severity, .. } } =
            *watched;
        let machine = if options.analyze { portal.machine.take() } else { None };
        let us = portal.spent.us;
        let Some(planned) = portal.prepared.planned.as_ref().filter(|_| us >= longer_than_us)
        else {
            return;
        };
        let program = machine.as_ref().map_or(&planned.program, |machine| machine.program());
        let text = match executed {
            Some(executed) => executed.parsed.query_text().to_owned(),
            None => self.statement_text(),
        };
        let facts = Facts {
            query_text: Some(text),
            settings: options.settings.then(|| self.settings.changed_for_planning()),
            ..Facts::default()
        };
        let snapshot = Arc::clone(self.catalog.last_snapshot());
        let path = self.path.schemas.clone();
        let shown = self.with_context(|context| {
            let probes = options.analyze.then_some(&probes);
            Ok(explain(program, &options, probes, facts, (&snapshot, &path), context))
        });
        // A plan that has no text is not worth an error of the log's.
        let Ok(lines) = shown else { return };
        let message =
            format!("duration: {}.{:03} ms  plan:\n{}", us / 1000, us % 1000, lines.join("\n"));
        let notice = SqlError::notice(message).severity(severity);
        self.notices.get_mut().push(notice.routine(AUTO_EXPLAIN_ROUTINE));
    }

    /// Whether plans may be shown in the log: then they are those of statements with their literals.
    pub(super) fn shows_plans(&self) -> bool {
        self.tracking.explains.is_some()
    }

    /// The number of the statement that runs; 0 for none.
    #[must_use]
    pub fn statement_number(&self) -> i64 {
        self.activity.statement_number()
    }
}

/// The shape of a statement's own text.
pub(super) fn shape_of(source: &Source) -> Shape {
    let text = source.text();
    match source.statement() {
        Some(
            Statement::Query(_)
            | Statement::Insert(_)
            | Statement::Update(_)
            | Statement::Delete(_)
            | Statement::Merge(_),
        ) => Shape::planned(&text, source.lifted_kinds().is_some()),
        _ => Shape::utility(&text),
    }
}
