//! VACUUM: what no snapshot needs is given back, and thinned leaves are packed.
//!
//! Nothing here copies tables or freezes numbers: there is no transaction counter that could wrap, and pages take rows
//! again as soon as deleted ones are gone. FULL packs more closely; FREEZE and its kin ask for nothing more and are
//! accepted.

use super::Ddl;
use super::analyze::{Chosen, analyze, chosen, keep_statistics, maintained};
use super::build::fill_percent;
use crate::catalog::statistics::TableStatistics;
use crate::catalog::{Relation, RelationKind};
use crate::error::{Result, SqlError};
use crate::parse::ast::{Analyze, OptionValue, Vacuum};
use crate::progress::Command;
use crate::sqlstate::SqlState;
use std::sync::Arc;
use txn::{Micros, Packing, TreeId, Usage};

/// The most workers that PARALLEL may name.
const WORKERS_MAX: i64 = 1024;

/// With so many neighbours looked at together, leaves are filled to fifteen sixteenths.
const FULL_GROUP: usize = 16;

/// The options of VACUUM and ANALYZE that ask for anything here, or exclude each other.
#[derive(Default)]
pub struct Options {
    verbose: bool,
    analyze: bool,
    full: bool,
    skip_locked: bool,
    disable_page_skipping: bool,
    keeps_toast: bool,
    /// PARALLEL; none where it is not said.
    workers: Option<i64>,
}

fn syntax(message: String) -> SqlError {
    SqlError::new(SqlState::SYNTAX_ERROR, message)
}

fn unsupported(message: &str) -> SqlError {
    SqlError::new(SqlState::FEATURE_NOT_SUPPORTED, message)
}

/// An option that is on or off.
fn flag(option: &OptionValue) -> Result<bool> {
    let not_boolean = || syntax(format!("{} requires a Boolean value", option.name));
    option.boolean().ok_or_else(not_boolean)
}

/// How many workers PARALLEL names.
fn workers(option: &OptionValue, at: u32) -> Result<i64> {
    let Some(value) = &option.value else {
        let message = format!("parallel option requires a value between 0 and {WORKERS_MAX}");
        return Err(syntax(message).at(at));
    };
    let workers = value.text().and_then(|text| text.parse::<i64>().ok());
    let workers = workers.ok_or_else(|| syntax("parallel requires an integer value".to_owned()))?;
    if !(0..=WORKERS_MAX).contains(&workers) {
        let message = format!("parallel workers for vacuum must be between 0 and {WORKERS_MAX}");
        return Err(syntax(message).at(at));
    }
    Ok(workers)
}

impl Options {
    /// Reads them (`ExecVacuum`).
    fn of(ddl: &Ddl<'_>, options: &[OptionValue], vacuum: bool) -> Result<Options> {
        let mut read = Options::default();
        for option in options {
            let at = ddl.semantics.position(option.at);
            match (&*option.name, vacuum) {
                ("verbose", _) => read.verbose = flag(option)?,
                ("skip_locked", _) => read.skip_locked = flag(option)?,
                ("analyze", true) => read.analyze = flag(option)?,
                ("full", true) => read.full = flag(option)?,
                ("freeze" | "truncate", true) => drop(flag(option)?),
                ("disable_page_skipping", true) => read.disable_page_skipping = flag(option)?,
                ("process_toast", true) => read.keeps_toast = !flag(option)?,
                ("index_cleanup", true) => {
                    let word = option.value.as_ref().and_then(|value| value.text());
                    if !word.is_some_and(|word| word.eq_ignore_ascii_case("auto")) {
                        flag(option)?;
                    }
                }
                ("parallel", true) => read.workers = Some(workers(option, at)?),
                (name, _) => {
                    let statement = if vacuum { "VACUUM" } else { "ANALYZE" };
                    return Err(
                        syntax(format!("unrecognized {statement} option \"{name}\"")).at(at)
                    );
                }
            }
        }
        if read.full && read.workers.is_some_and(|workers| workers > 0) {
            return Err(unsupported("VACUUM FULL cannot be performed in parallel"));
        }
        Ok(read)
    }
}

/// VACUUM has counted a table's rows (`vac_update_relstats`): `pg_class.reltuples` says so, beside what is known of the columns.
fn count_rows(ddl: &mut Ddl<'_>, relation: &Relation, rows: u64) -> Result<()> {
    let RelationKind::Table { .. } = relation.kind else { return Ok(()) };
    let known = ddl.snapshot().statistics(relation.oid).cloned();
    let (rows, pages) = (rows as f64, u32::try_from(ddl.pages_of(relation)).unwrap_or(u32::MAX));
    if known.as_ref().is_some_and(|known| known.rows == rows && known.pages == pages) {
        return Ok(());
    }
    let columns = match known {
        Some(known) => known.columns.clone(),
        None => vec![None; relation.columns.len()],
    };
    keep_statistics(ddl, relation, TableStatistics { rows, pages, columns })
}

/// What a VACUUM asks for, and of which tables.
///
/// # Errors
/// 42601 for an option that it does not have, 0A000 for those that exclude each other, 25001 in a transaction block, 42P01.
pub fn vacuumed(ddl: &mut Ddl<'_>, vacuum: &Vacuum) -> Result<(Options, Vec<Chosen>)> {
    let options = Options::of(ddl, &vacuum.options, true)?;
    if !options.analyze && vacuum.tables.iter().any(|table| !table.columns.is_empty()) {
        let message = "ANALYZE option must be specified when a column list is provided";
        return Err(unsupported(message));
    }
    ddl.refuse_block("VACUUM")?;
    if options.full && options.disable_page_skipping {
        let message = "VACUUM option DISABLE_PAGE_SKIPPING cannot be used with FULL";
        return Err(unsupported(message));
    }
    if options.full && options.keeps_toast {
        return Err(unsupported("PROCESS_TOAST required with VACUUM FULL"));
    }
    let chosen = chosen(ddl, &vacuum.tables, options.skip_locked)?;
    Ok((options, chosen))
}

/// VACUUM of a table.
///
/// # Errors
/// 42703, 42701; storage's.
pub fn vacuum(ddl: &mut Ddl<'_>, options: &Options, chosen: &Chosen) -> Result<()> {
    let found = maintained(ddl, chosen, "vacuum", options.skip_locked)?;
    let Some(relation) = &found else { return Ok(()) };
    let parallel = options.workers.is_some_and(|workers| workers > 0) && relation.indexes.len() > 1;
    if relation.persistence == 't' && parallel {
        let message = format!(
            "disabling parallel option of vacuum on \"{}\" --- cannot vacuum temporary tables in parallel",
            relation.name
        );
        ddl.notices.push(SqlError::warning(SqlState::WARNING, message));
    }
    let pages = ddl.pages_of(relation);
    match options.full {
        // Packing is what is nearest to PostgreSQL's new heap.
        true => ddl.progress.begin(
            Command::Cluster,
            relation.oid,
            &[(1, VACUUM_FULL), (2, WRITING_HEAP), (6, pages)],
        ),
        false => ddl.progress.begin(
            Command::Vacuum,
            relation.oid,
            &[(PHASE, SCANNING_HEAP), (PAGES, pages)],
        ),
    }
    let (begun, used) = (ddl.monotonic(), Usage::so_far());
    let name = ddl.whole_name(relation);
    if options.verbose {
        ddl.inform(format!("vacuuming \"{name}\""));
    }
    let rows = ddl.reclaim(relation, options.full)?;
    // ANALYZE will say so itself.
    if !options.analyze {
        count_rows(ddl, relation, rows)?;
    }
    ddl.counts.vacuumed(relation.oid, ddl.now());
    if options.verbose {
        let took = Micros(ddl.monotonic().0.saturating_sub(begun.0));
        let cost = cost_text(Usage::so_far().since(used), took, ddl.times_io);
        ddl.inform(format!("finished vacuuming \"{name}\": index scans: 0\n{cost}"));
    }
    if options.analyze { analyze(ddl, relation, options.verbose) } else { Ok(()) }
}

/// What an ANALYZE asks for, and of which tables.
///
/// # Errors
/// 42601 for an option that it does not have, 42P01.
pub fn analyzed(ddl: &mut Ddl<'_>, named: &Analyze) -> Result<(Options, Vec<Chosen>)> {
    let options = Options::of(ddl, &named.options, false)?;
    let chosen = chosen(ddl, &named.tables, options.skip_locked)?;
    Ok((options, chosen))
}

/// ANALYZE of a table.
///
/// # Errors
/// 42703, 42701; storage's.
pub fn analyze_table(ddl: &mut Ddl<'_>, options: &Options, chosen: &Chosen) -> Result<()> {
    match maintained(ddl, chosen, "analyze", options.skip_locked)? {
        Some(relation) => analyze(ddl, &relation, options.verbose),
        None => Ok(()),
    }
}

/// What looking after a table has cost, as VERBOSE and the log tell it: how long reads and writes took where that is `timed`.
pub(crate) fn cost_text(used: Usage, took: Micros, timed: bool) -> String {
    let Usage { hit, read, dirtied, log_records, log_bytes, .. } = used;
    let mut text = String::new();
    if timed {
        let (read, write) = (used.read_us as f64 / 1000.0, used.written_us as f64 / 1000.0);
        text = format!("I/O timings: read: {read:.3} ms, write: {write:.3} ms\n");
    }
    text += &format!(
        "buffer usage: {hit} hits, {read} misses, {dirtied} dirtied\n\
         WAL usage: {log_records} records, 0 full page images, {log_bytes} bytes\n\
         system usage: elapsed: {:.2} s",
        took.0 as f64 / 1_000_000.0
    );
    text
}

/// How the leaves of each of a table's trees are packed. Where keys only grow (hidden row ids, long values) nobody comes
/// to fill what is free, so little is left. Elsewhere rows that come back go where they were: what is half empty keeps
/// its room for them, but for FULL.
fn packings(relation: &Relation, full: bool) -> Vec<(TreeId, Packing)> {
    let growing = |fill: Option<u8>| Packing {
        fill_percent: fill.unwrap_or(100),
        group: if full { FULL_GROUP } else { 5 },
    };
    let keyed = |fill: Option<u8>| match fill.unwrap_or(90) {
        fill_percent if full => Packing { fill_percent, group: FULL_GROUP },
        fill => Packing { fill_percent: fill.min(60), group: 2 },
    };
    let fill = fill_percent(&relation.options);
    let mut packings = Vec::new();
    if let RelationKind::Table { tree, key, long_values } = &relation.kind {
        packings.push((*tree, if key.is_empty() { growing(fill) } else { keyed(fill) }));
        packings.push((*long_values, growing(None)));
    }
    let indexes = relation.indexes.iter().filter(|index| !index.holds_rows());
    packings.extend(indexes.map(|index| (index.tree, keyed(fill_percent(&index.options)))));
    packings
}

/// The figures of `pg_stat_progress_vacuum`, by number, and the phases that it tells of.
const PHASE: usize = 1;
const PAGES: usize = 2;
const SCANNED: usize = 3;
const SCANNING_HEAP: i64 = 1;
const VACUUMING_INDEXES: i64 = 2;
/// What `pg_stat_progress_cluster` calls VACUUM FULL, and its phase.
const VACUUM_FULL: i64 = 2;
const WRITING_HEAP: i64 = 4;

impl Ddl<'_> {
    /// A table's name with those of its schema and database.
    fn whole_name(&mut self, relation: &Relation) -> String {
        let database = self.snapshot().database_name().to_owned();
        format!("{database}.{}.{}", relation.schema.1, relation.name)
    }

    fn monotonic(&self) -> Micros {
        self.transaction.manager().environment().clock.now()
    }

    /// How many pages a table's rows and long values have.
    pub(super) fn pages_of(&self, relation: &Relation) -> i64 {
        let data = self.transaction.manager().data();
        let RelationKind::Table { tree, long_values, .. } = relation.kind else { return 0 };
        (data.bytes_of(&[tree, long_values]) / u64::from(data.page_bytes())).cast_signed()
    }

    /// Gives back what of a table's trees no snapshot needs. Returns how many rows it has.
    fn reclaim(&mut self, relation: &Relation, full: bool) -> Result<u64> {
        let manager = Arc::clone(self.transaction.manager());
        let session = Arc::clone(self.transaction.wait());
        let (mut done, page_bytes) = (0, u64::from(manager.data().page_bytes()));
        let mut rows = 0;
        for (at, (tree, packing)) in packings(relation, full).into_iter().enumerate() {
            // Behind the rows and the long values there are indexes.
            if at == 2 && !full {
                self.progress.set(PHASE, VACUUMING_INDEXES);
            }
            let pages = manager.data().bytes_of(&[tree]) / page_bytes;
            let tree = manager.data().tree(tree).map_err(txn::Error::from)?;
            let swept = manager.vacuum(&tree, packing, &session)?;
            if at == 0 {
                rows = swept.there;
            }
            if at < 2 {
                done += pages.cast_signed();
                self.progress.set(if full { 7 } else { SCANNED }, done);
            }
        }
        Ok(rows)
    }
}
