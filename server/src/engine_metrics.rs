//! What the layers below count, as Prometheus text: log, buffer pool, checkpoints.
//!
//! Each layer keeps its own counters where they are cheap; they are gathered here when somebody asks, and nowhere else.

use crate::metrics::metric;
use sql::Engine;

/// Writes the engine's metrics.
pub fn exposition(engine: &Engine, out: &mut String) {
    let manager = engine.manager();
    let data = manager.data();
    let mut counter = |name, help, value| metric(out, name, "counter", help, value);

    let flushed = data.log().flush_counters();
    counter("atoll_log_written_bytes_total", "Bytes of log written.", flushed.bytes);
    counter("atoll_log_writes_total", "Writes of the log.", flushed.writes);
    counter("atoll_log_syncs_total", "Syncs of the log.", flushed.syncs);
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
    out.push_str(&format!(
        "# HELP {name} Log inserts, by algorithm and way.\n# TYPE {name} counter\n"
    ));
    for (algorithm, way, value) in inserts {
        out.push_str(&format!("{name}{{algorithm=\"{algorithm}\",way=\"{way}\"}} {value}\n"));
    }

    let pool = &data.forest().volume().pool.counters;
    let mut counter = |name, help, value| metric(out, name, "counter", help, value);
    counter("atoll_pages_read_total", "Pages read from disk.", pool.reads.get());
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
    let mut gauge = |name, help, value| metric(out, name, "gauge", help, value);
    gauge("atoll_log_tail_lsn", "The end of the log.", data.log().tail().0);
    gauge("atoll_log_durable_lsn", "How far the log is durable.", data.log().durable().0);
    gauge("atoll_visible_lsn", "The visible watermark.", manager.visible().0);
    gauge(
        "atoll_checkpoint_distance_bytes",
        "Log that a crash now would have to replay.",
        data.log().tail().0.saturating_sub(checkpoint.redo.0),
    );
}
