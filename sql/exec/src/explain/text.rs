//! The text format: a line for each node, what is said of it below it, indented.

use super::options::Options;
use super::tree::{Child, Explained, Item, Value};
use crate::plan::estimate::ROW_COST;
use txn::Usage;
use txn::breakdown::{Breakdown, Class};

/// The lines of an explained statement.
pub(super) fn lines(explained: &Explained, options: &Options) -> Vec<String> {
    let mut lines = Vec::new();
    let facts = &explained.facts;
    lines.extend(facts.query_text.iter().map(|text| format!("Query Text: {text}")));
    // The last of them is the plan itself.
    if let Some(((last, _), earlier)) = explained.stages.split_last() {
        for (rule, item) in earlier {
            lines.push(format!("Stage: {rule}"));
            node(item, 0, options, &mut lines);
        }
        lines.push(format!("Stage: {last}"));
    }
    node(&explained.root, 0, options, &mut lines);
    if let Some(settings) = &facts.settings
        && !settings.is_empty()
    {
        let all: Vec<String> =
            settings.iter().map(|(name, value)| format!("{name} = '{value}'")).collect();
        lines.push(format!("Settings: {}", all.join(", ")));
    }
    lines.extend(facts.number.map(|number| format!("Query Identifier: {number}")));
    let planning: Vec<_> = facts.planning_usage.iter().flat_map(pages).collect();
    if !planning.is_empty() {
        lines.push("Planning:".to_owned());
        lines.extend(planning.into_iter().map(|line| format!("  {line}")));
    }
    lines.extend(facts.breakdown.as_ref().and_then(breakdown));
    if let Some(micros) = facts.planning_us {
        lines.push(format!("Planning Time: {} ms", milliseconds(micros as f64)));
    }
    if let Some(micros) = facts.execution_us {
        lines.push(format!("Execution Time: {} ms", milliseconds(micros as f64)));
    }
    lines
}

/// Microseconds as EXPLAIN shows time.
pub(super) fn milliseconds(micros: f64) -> String {
    format!("{:.3}", micros / 1000.0)
}

/// Pages, and how long they took, as far as there are any.
fn pages(usage: &Usage) -> impl Iterator<Item = String> + use<> {
    buffers(usage).into_iter().chain(times(usage))
}

/// How long the disk took, as far as that was measured.
fn times(usage: &Usage) -> Option<String> {
    let kind = |name: &str, read: u64, written: u64| {
        let part = |name: &str, micros: u64| {
            (micros > 0).then(|| format!(" {name}={}", milliseconds(micros as f64)))
        };
        let parts = [part("read", read), part("write", written)].into_iter().flatten();
        let parts: String = parts.collect();
        (!parts.is_empty()).then(|| format!("{name}{parts}"))
    };
    let pages = kind("shared", usage.read_us, usage.written_us);
    let files = kind("temp", usage.temp_read_us, usage.temp_written_us);
    let kinds: Vec<String> = pages.into_iter().chain(files).collect();
    (!kinds.is_empty()).then(|| format!("I/O Timings: {}", kinds.join(", ")))
}

fn buffers(usage: &Usage) -> Option<String> {
    let Usage { hit, read, dirtied, written, temp_read, temp_written, .. } = *usage;
    let shared = [("hit", hit), ("read", read), ("dirtied", dirtied), ("written", written)];
    let kinds =
        [line("shared", &shared), line("temp", &[("read", temp_read), ("written", temp_written)])];
    let kinds: Vec<String> = kinds.into_iter().flatten().collect();
    (!kinds.is_empty()).then(|| format!("Buffers: {}", kinds.join(", ")))
}

/// What the log gets, if anything.
fn log(usage: &Usage) -> Option<String> {
    line("WAL:", &[("records", usage.log_records), ("bytes", usage.log_bytes)])
}

/// Cycles by class, as far as there are any.
fn breakdown(breakdown: &Breakdown) -> Option<String> {
    line("Breakdown:", &Class::ALL.map(|class| (class.name(), breakdown.of(class))))
}

fn line(begin: &str, numbers: &[(&str, u64)]) -> Option<String> {
    let mut line = begin.to_owned();
    for (name, number) in numbers.iter().filter(|(_, number)| *number > 0) {
        line += &format!(" {name}={number}");
    }
    (line.len() > begin.len()).then_some(line)
}

/// `indent` counts pairs of blanks.
pub(super) fn node(item: &Item, indent: usize, options: &Options, lines: &mut Vec<String>) {
    let mut line = "  ".repeat(indent);
    let mut inner = indent + 1;
    if indent > 0 {
        line += "->  ";
        inner += 2;
    }
    line += &item.title;
    if options.costs {
        let estimate = &item.estimate;
        line += &format!(
            "  (cost={:.2}..{:.2} rows={:.0} width={:.0})",
            estimate.startup * ROW_COST,
            estimate.cost * ROW_COST,
            estimate.rows,
            estimate.width
        );
    }
    if let Some(actual) = &item.actual {
        line += &match actual.loops {
            0 => " (never executed)".to_owned(),
            loops => {
                let each = |sum: u64| sum as f64 / loops as f64;
                let rows = format!("rows={:.0} loops={loops}", each(actual.rows));
                if options.timing {
                    let first = milliseconds(each(actual.startup_us));
                    let last = milliseconds(each(actual.total_us));
                    format!(" (actual time={first}..{last} {rows})")
                } else {
                    format!(" (actual {rows})")
                }
            }
        };
    }
    lines.push(line);
    let margin = "  ".repeat(inner);
    for (label, value) in &item.properties {
        let shown = match value {
            Value::Text(text) | Value::Number(text) => text.clone(),
            Value::List(all) => all.join(", "),
            Value::Bool(one) => one.to_string(),
        };
        lines.push(format!("{margin}{label}: {shown}"));
    }
    if let Some(actual) = &item.actual {
        let usage = options.buffers.then_some(&actual.usage);
        let pages = usage.into_iter().flat_map(pages);
        let log = if options.wal { log(&actual.usage) } else { None };
        lines.extend(pages.chain(log).map(|line| format!("{margin}{line}")));
    }
    for Child { name, item, .. } in &item.children {
        match name {
            Some(name) => {
                lines.push(format!("{margin}{name}"));
                node(item, inner + 1, options, lines);
            }
            None => node(item, inner, options, lines),
        }
    }
}
