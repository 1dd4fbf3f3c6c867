//! What the layers below count, as Prometheus text: transactions, plans, locks, versions, log, buffer pool, checkpoints.
//!
//! Each layer keeps its own counters where they are cheap; they are gathered here when somebody asks, and nowhere else.

use crate::metrics::metric;
use sql::breakdown::Class;
use sql::{Abort, Engine};
use std::fmt::Write;

/// Writes the engine's metrics.
pub fn exposition(engine: &Engine, out: &mut String) {
    let manager = engine.manager();
    let data = manager.data();
    transactions(engine, out);
    let mut counter = |name, help, value| metric(out, name, "counter", help, value);

    let flushed = data.log().flush_counters();
    counter("atoll_log_written_bytes_total", "Bytes of log written.", flushed.bytes);
    counter("atoll_log_writes_total", "Writes of the log.", flushed.writes);
    counter("atoll_log_syncs_total", "Syncs of the log.", flushed.syncs);
    counter("atoll_log_syncs_helped_total", "Of these, by a session's thread.", flushed.helped);
    counter("atoll_log_sync_microseconds_total", "Time in syncs of the log.", flushed.sync_us);
    counter(
        "atoll_log_hole_waits_total",
        "Waits for a record that was claimed and not yet published.",
        flushed.hole_waits,
    );

    let inserted = data.log().insert_counters();
    let inserts = [
        ("mutex", "insert", inserted.mutex_inserts),
        ("mutex", "wait", inserted.mutex_waits),
        ("decoupled", "claim", inserted.decoupled_claims),
        ("decoupled", "wait", inserted.decoupled_waits),
        ("consolidated", "alone", inserted.consolidated_alone),
        ("consolidated", "group", inserted.consolidated_groups),
        ("consolidated", "join", inserted.consolidated_joins),
        ("atomic_add", "claim", inserted.atomic_adds),
    ];
    let name = "atoll_log_inserts_total";
    head(name, "Log inserts, by algorithm and way.", out);
    for (algorithm, way, value) in inserts {
        // Writing to a string cannot fail.
        let _ = writeln!(out, "{name}{{algorithm=\"{algorithm}\",way=\"{way}\"}} {value}");
    }

    let breakdown = engine.breakdown();
    let name = "atoll_session_cycles_total";
    head(name, "Cycles of sessions that measure them, by class (atoll.track_breakdown).", out);
    for class in Class::ALL {
        let (class, value) = (class.name(), breakdown.of(class));
        // Writing to a string cannot fail.
        let _ = writeln!(out, "{name}{{class=\"{class}\"}} {value}");
    }

    let pool = &data.forest().volume().pool.counters;
    let mut counter = |name, help, value| metric(out, name, "counter", help, value);
    counter("atoll_pages_read_total", "Pages read from disk.", pool.reads.get());
    counter("atoll_pages_hit_total", "Pages found in the pool.", pool.hits());
    counter("atoll_pages_dirtied_total", "Clean pages that were changed.", pool.dirtied.get());
    counter("atoll_pages_written_total", "Pages written to disk.", pool.writes.get());
    counter("atoll_pages_evicted_total", "Pages that left their frame.", pool.evictions.get());
    counter("atoll_page_hint_hits_total", "Frame hints that were right.", pool.hint_hits.get());
    counter("atoll_page_hint_misses_total", "Frame hints that were wrong.", pool.hint_misses.get());
    counter("atoll_page_misses_total", "Pages in no frame.", pool.misses.get());
    counter(
        "atoll_page_table_displacements_total",
        "Page-table entries that made room for another.",
        pool.displacements.get(),
    );
    counter(
        "atoll_page_table_stashed_total",
        "Page-table entries in the stash.",
        pool.stashed.get(),
    );
    counter(
        "atoll_page_transit_waits_total",
        "Waits for a page on its way in or out.",
        pool.transit_waits.get(),
    );
    counter("atoll_page_frame_waits_total", "Waits for a free frame.", pool.frame_waits.get());

    let checkpoint = data.last_checkpoint();
    let taken = data.checkpoint_counters();
    let now = manager.environment().clock.now();
    let mut counter = |name, help, value| metric(out, name, "counter", help, value);
    counter("atoll_checkpoints_total", "Checkpoints taken.", taken.taken);
    counter("atoll_checkpoints_failed_total", "Checkpoints that failed.", taken.failed);
    let archive = data.log().archive_counters().unwrap_or_default();
    counter("atoll_log_archived_total", "Log segments archived.", archive.archived);
    counter("atoll_log_archive_failures_total", "Archive commands failed.", archive.failed);
    let mut gauge = |name, help, value| metric(out, name, "gauge", help, value);
    gauge("atoll_log_archive_waiting", "Full log segments not yet archived.", archive.waiting);
    gauge(
        "atoll_checkpoint_age_microseconds",
        "Time since the last checkpoint ended, or since the start if there was none.",
        now.0.saturating_sub(taken.last_at.map_or(0, |at| at.0)),
    );
    gauge("atoll_log_tail_lsn", "The end of the log.", data.log().tail().0);
    gauge("atoll_log_durable_lsn", "How far the log is durable.", data.log().durable().0);
    gauge("atoll_visible_lsn", "The visible watermark.", manager.visible().0);
    gauge(
        "atoll_checkpoint_distance_bytes",
        "Log that a crash now would have to replay.",
        data.log().tail().0.saturating_sub(checkpoint.redo.0),
    );
}

fn head(name: &str, help: &str, out: &mut String) {
    // Writing to a string cannot fail.
    let _ = writeln!(out, "# HELP {name} {help}\n# TYPE {name} counter");
}

/// Transactions by database, scheme and outcome, and what their sessions have waited for locks.
fn concurrency(engine: &Engine, out: &mut String) {
    let all = engine.endings();
    let label = |text: &str| text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
    let name = "atoll_scheme_transactions_total";
    head(name, "Transactions that have ended, by database, concurrency control and outcome.", out);
    for (database, scheme, endings) in &all {
        let of = format!("database=\"{}\",scheme=\"{scheme}\"", label(database));
        let aborted = Abort::ALL.map(|reason| (reason.name(), endings.aborted(reason)));
        for (outcome, value) in [("committed", endings.committed)].into_iter().chain(aborted) {
            // Writing to a string cannot fail.
            let _ = writeln!(out, "{name}{{{of},outcome=\"{outcome}\"}} {value}");
        }
    }
    for (name, help, of) in [
        ("atoll_scheme_begun_total", "Transactions that have begun.", 0),
        ("atoll_scheme_lock_waits_total", "Waits for locks that have ended.", 1),
        ("atoll_scheme_lock_wait_microseconds_total", "What they have lasted.", 2),
    ] {
        head(name, help, out);
        for (database, scheme, endings) in &all {
            let value = [endings.begun, endings.lock_waits, endings.lock_wait_us][of];
            let database = label(database);
            let _ = writeln!(out, "{name}{{database=\"{database}\",scheme=\"{scheme}\"}} {value}");
        }
    }
}

/// Transactions by outcome, plans, locks, versions, snapshots.
fn transactions(engine: &Engine, out: &mut String) {
    let manager = engine.manager();
    let counted = manager.metrics();
    let name = "atoll_transactions_total";
    head(name, "Transactions that have ended, by outcome.", out);
    for (outcome, value) in [
        ("commit", counted.commits),
        ("rollback", counted.rollbacks),
        ("serialization_failure", counted.aborts_conflict),
        ("deadlock", counted.aborts_deadlock),
        ("lock_not_available", counted.aborts_lock),
        ("cancelled", counted.aborts_cancelled),
        ("other", counted.aborts_other),
    ] {
        // Writing to a string cannot fail.
        let _ = writeln!(out, "{name}{{outcome=\"{outcome}\"}} {value}");
    }
    concurrency(engine, out);
    let plans = engine.plan_metrics();
    let mut counter = |name, help, value| metric(out, name, "counter", help, value);
    counter("atoll_late_commits_total", "Commits that were applied late.", counted.late_commits);
    counter("atoll_plan_cache_hits_total", "Plans found by their text.", plans.hits);
    counter("atoll_plan_cache_misses_total", "Plans that had to be made.", plans.misses);
    counter("atoll_lock_waits_total", "Lock requests that had to wait.", counted.lock_waits);
    counter("atoll_deadlocks_total", "Deadlocks found.", counted.deadlocks);
    counter(
        "atoll_versions_reclaimed_total",
        "Older versions that were reclaimed.",
        counted.versions_reclaimed,
    );
    counter(
        "atoll_versions_spilled_total",
        "Older versions that went to scratch files.",
        counted.versions_spilled,
    );
    counter(
        "atoll_spilled_version_reads_total",
        "Reads of older versions from scratch files.",
        counted.spilled_reads,
    );
    counter(
        "atoll_snapshots_given_up_total",
        "Snapshots that failed because versions were over their limit.",
        counted.snapshots_given_up,
    );
    // What a snapshot holds back counts from its transaction's begin.
    let now = manager.environment().clock.now().0;
    let running = manager.transactions();
    let seeing = running.iter().filter(|transaction| transaction.snapshot.is_some());
    let oldest = seeing.map(|transaction| now.saturating_sub(transaction.since.0)).max();
    let mut gauge = |name, help, value| metric(out, name, "gauge", help, value);
    gauge("atoll_plan_cache_plans", "Plans that are kept.", plans.kept);
    gauge("atoll_transactions_running", "Transactions under way.", running.len() as u64);
    gauge("atoll_versions_held", "Older versions in memory.", counted.versions_held);
    gauge("atoll_version_bytes", "What older versions occupy.", counted.version_bytes);
    gauge("atoll_spilled_versions_held", "Older versions in scratch files.", counted.spilled_held);
    gauge("atoll_spilled_version_bytes", "What they occupy there.", counted.spilled_bytes);
    gauge("atoll_tombstones", "Deleted records that wait for removal.", counted.tombstones);
    gauge(
        "atoll_oldest_snapshot_age_microseconds",
        "How long ago the transaction with the oldest snapshot began, 0 if there is none.",
        oldest.unwrap_or(0),
    );
}
