//! What a session tells of its statements beside their answers: their numbers (`compute_query_id`), what they have cost
//! (`pg_stat_statements`), and their plans, where they have taken long (`auto_explain`).
//!
//! Where none of this is wanted a statement costs one look at [`Tracking::watches`], and one of a body at
//! [`Tracking::watches_bodies`]. What is evaluated of a body without a statement of its own is not told, as in PostgreSQL.

use super::Session;
use super::portal::{Portal, Stage};
use crate::error::{Notice, Result, Severity, SqlError};
use crate::exec::Machine;
use crate::exec::probe::Probes;
use crate::exec::sink::RowSink;
use crate::explain::{Facts, Format, Options, explain};
use crate::message::{CommandTag, Progress, REFRESH};
use crate::parse::Statement;
use crate::prepared::Prepared;
use crate::settings::session::Settings;
use crate::settings::{AUTO_EXPLAIN, STATEMENT_STATISTICS};
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
    /// Whether anything is asked for of statements of bodies.
    pub watches_bodies: bool,
    /// Statements have numbers.
    pub numbers: bool,
    /// EXPLAIN VERBOSE shows them.
    pub shows_numbers: bool,
    /// What statements cost is counted; of those that have no plan, too; planning, too.
    counts: bool,
    /// Those of bodies too.
    counts_nested: bool,
    counts_utilities: bool,
    counts_plans: bool,
    explains: Option<AutoExplain>,
    /// `track_functions`: whose calls are counted.
    pub functions: CountedFunctions,
    /// `atoll.track_breakdown`: where the time of statements goes is measured.
    pub measures: bool,
    /// What chance draws from.
    drawn: u64,
}

/// `track_functions`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum CountedFunctions {
    #[default]
    Nobodys,
    /// Those of procedural languages.
    Procedural,
    /// Those in SQL too.
    All,
}

/// `auto_explain`.
#[derive(Clone, Copy, Debug)]
struct AutoExplain {
    longer_than_us: u64,
    /// What runs within another plan, too.
    nested: bool,
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
    /// Whether the client has sent it.
    top_level: bool,
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
        let track = settings.text("pg_stat_statements.track");
        let counts = loaded && numbers && &*track != "none";
        let counts_nested = counts && &*track == "all";
        let explains = settings.has_library(AUTO_EXPLAIN).then(|| AutoExplain::of(settings));
        let explains = explains.flatten();
        Tracking {
            watches: numbers || explains.is_some(),
            watches_bodies: counts_nested || explains.is_some(),
            numbers,
            shows_numbers: numbers && &*asked != "regress",
            counts,
            counts_nested,
            counts_utilities: settings.bool("pg_stat_statements.track_utility"),
            counts_plans: counts && settings.bool("pg_stat_statements.track_planning"),
            explains,
            functions: match &*settings.text("track_functions") {
                "pl" => CountedFunctions::Procedural,
                "all" => CountedFunctions::All,
                _ => CountedFunctions::Nobodys,
            },
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
            nested: settings.bool("auto_explain.log_nested_statements"),
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
                stages: false,
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
    /// A portal of the client's begins to run, or goes on.
    #[cold]
    pub(super) fn begin_watch(&mut self, portal: &mut Portal) -> Option<Watch> {
        self.running_plans = 0;
        let watch = self.watch(portal, true);
        self.running_plans = u32::from(portal.prepared.planned.is_some());
        watch
    }

    fn watch(&mut self, portal: &mut Portal, top_level: bool) -> Option<Watch> {
        let begins = portal.progress == Stage::Ready;
        let counted = portal.counted.take().filter(|_| !begins);
        let own = counted.unwrap_or_else(|| Arc::clone(&portal.prepared));
        let named = self.executes(own.parsed.statement()?);
        let executed = named.is_some();
        let prepared = named.unwrap_or(own);
        let mut id = 0;
        if self.tracking.numbers {
            id = prepared.number();
            if top_level {
                self.activity.is_numbered_statement(id);
            }
        }
        if begins {
            portal.spent = Cost::default();
            portal.watched = None;
            self.watch_plan(portal);
        }
        let (begun, used) = (self.engine.manager().environment().clock.now(), Usage::so_far());
        Some(Watch { begun, used, id, prepared, executed, top_level, spent: portal.spent })
    }

    /// Runs a portal of a body on, up to so many rows.
    pub(super) fn run_for_body(
        &mut self,
        portal: &mut Portal,
        max_rows: u64,
        sink: &mut dyn RowSink,
    ) -> Result<Progress> {
        if !self.tracking.watches_bodies {
            return self.beside_answer(|session| session.run_portal(portal, "", max_rows, sink));
        }
        portal.of_body = true;
        let watch = self.watch(portal, false);
        let progress = self.beside_answer(|session| session.run_below(portal, max_rows, sink))?;
        if let Some(watch) = watch {
            let notice = self.end_watch_of(portal, watch, &progress);
            notice.iter().for_each(|notice| sink.notice(notice));
        }
        Ok(progress)
    }

    /// Runs what is no statement of the client's: whether the answer to that one has begun is not for it to say.
    pub(super) fn beside_answer<T>(&mut self, run: impl FnOnce(&mut Session) -> T) -> T {
        let began = self.answer_began;
        let done = run(self);
        self.answer_began = began;
        done
    }

    /// A body opens a portal, which it will run.
    pub(super) fn watch_opened(&mut self, portal: &mut Portal) {
        portal.of_body = true;
        if self.tracking.watches_bodies {
            self.watch_plan(portal);
        }
    }

    /// Runs a portal; what runs meanwhile runs within it, if it is a plan.
    fn run_below(
        &mut self,
        portal: &mut Portal,
        max_rows: u64,
        sink: &mut dyn RowSink,
    ) -> Result<Progress> {
        let plans = u32::from(portal.prepared.planned.is_some());
        self.running_plans += plans;
        let progress = self.run_portal(portal, "", max_rows, sink);
        self.running_plans -= plans;
        progress
    }

    /// A portal of a body is asked for no more, as far as it has come: it counts as what it has been.
    pub(super) fn leave_watched(&mut self, portal: &mut Portal) {
        if portal.counted.is_none() || !portal.of_body || portal.progress == Stage::Failed {
            return;
        }
        let Some(prepared) = portal.counted.take() else { return };
        let notice = self.shown(portal, Err(&prepared.text));
        self.notices.get_mut().extend(notice);
        let id = if self.tracking.numbers { prepared.number() } else { 0 };
        self.count_statement(&prepared, (id, false), portal.spent);
    }

    /// Runs the query within a statement that is none itself; `auto_explain` sees it as it sees others.
    pub(super) fn run_inner(
        &mut self,
        portal: &mut Portal,
        sink: &mut dyn RowSink,
    ) -> Result<Progress> {
        self.watch_plan(portal);
        if portal.watched.is_none() {
            return self.run_below(portal, 0, sink);
        }
        let clock = self.engine.manager().environment().clock.clone();
        let begun = clock.now();
        let progress = self.run_below(portal, 0, sink)?;
        portal.spent.us = clock.now().0.saturating_sub(begun.0);
        if matches!(progress, Progress::Complete(_)) {
            let notice = self.shown(portal, Ok(None));
            self.notices.get_mut().extend(notice);
        }
        Ok(progress)
    }

    /// Runs what an EXECUTE names, in the place of its own portal.
    pub(super) fn run_named(
        &mut self,
        portal: &mut Portal,
        sink: &mut dyn RowSink,
    ) -> Result<Progress> {
        self.watch_plan(portal);
        self.run_below(portal, 0, sink)
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
        if self.running_plans > 0 && !settings.nested {
            return;
        }
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

    /// A portal of the client's has run, to its end or not.
    #[cold]
    pub(super) fn end_watch(&mut self, portal: &mut Portal, watch: Watch, progress: &Progress) {
        let notice = self.end_watch_of(portal, watch, progress);
        self.notices.get_mut().extend(notice);
    }

    /// The same of any portal: its plan, where that is to be told.
    fn end_watch_of(
        &mut self,
        portal: &mut Portal,
        watch: Watch,
        progress: &Progress,
    ) -> Option<Notice> {
        let now = self.engine.manager().environment().clock.now();
        let used = Usage::so_far().since(watch.used);
        portal.spent = Cost {
            us: watch.spent.us + now.0.saturating_sub(watch.begun.0),
            rows: watch.spent.rows,
            usage: watch.spent.usage.plus(used),
        };
        let Watch { prepared, executed, top_level, id, .. } = watch;
        match progress {
            Progress::Complete(tag) => {
                let planned = prepared.planned.is_some();
                let counted = planned || matches!(tag.words, "COPY" | "FETCH" | "SELECT" | REFRESH);
                portal.spent.rows += tag.rows.filter(|_| counted).unwrap_or(0);
                let statement = match top_level {
                    true => Ok(Some(&*prepared).filter(|_| executed)),
                    false => Err(&prepared.text),
                };
                let notice = self.shown(portal, statement);
                self.count_statement(&prepared, (id, top_level), portal.spent);
                return notice;
            }
            Progress::Suspended => {
                let sent = portal.machine.as_ref().map_or(0, |machine| machine.sent());
                portal.spent.rows = sent;
                portal.counted = Some(prepared);
            }
            _ => portal.counted = Some(prepared),
        }
        None
    }

    /// Counts a portal's statement, which has come to its end.
    fn count_statement(&mut self, prepared: &Prepared, (id, top_level): (i64, bool), cost: Cost) {
        let Some(statistics) = self.engine.statements() else { return };
        let skipped = match prepared.parsed.statement() {
            Some(Statement::Execute(_) | Statement::Prepare(_) | Statement::Deallocate(_)) => true,
            Some(statement) => !statement.is_planned() && !self.tracking.counts_utilities,
            None => true,
        };
        let counts = if top_level { self.tracking.counts } else { self.tracking.counts_nested };
        if skipped || !counts || id == 0 {
            return;
        }
        let key = Key { top_level, ..self.statement_key(id) };
        statistics.ran(&mut self.recent_statements, key, prepared.parsed.shape(), cost);
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
        Key { user: self.identity.user, database: self.catalog.database(), id, top_level: true }
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

    /// What the log is told of the plan of a portal, if it has taken long enough (`explain_ExecutorEnd`): of the client's statement,
    /// which may be an EXECUTE of another, or of a body's with this text.
    fn shown(
        &mut self,
        portal: &mut Portal,
        statement: std::result::Result<Option<&Prepared>, &Arc<str>>,
    ) -> Option<Notice> {
        let watched = portal.watched.take()?;
        let WatchedPlan { probes, settings: AutoExplain { longer_than_us, options, severity, .. } } =
            *watched;
        let machine = if options.analyze { portal.machine.take() } else { None };
        let us = portal.spent.us;
        let planned = portal.prepared.planned.as_ref().filter(|_| us >= longer_than_us)?;
        let program = machine.as_ref().map_or(&planned.program, |machine| machine.program());
        let text = match statement {
            Ok(Some(executed)) => executed.parsed.query_text().to_owned(),
            Ok(None) => self.statement_text(),
            Err(text) => text.to_string(),
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
        let lines = shown.ok()?;
        let message =
            format!("duration: {}.{:03} ms  plan:\n{}", us / 1000, us % 1000, lines.join("\n"));
        Some(SqlError::notice(message).severity(severity).routine(AUTO_EXPLAIN_ROUTINE))
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
