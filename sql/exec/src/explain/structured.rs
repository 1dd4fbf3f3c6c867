//! The JSON, YAML and XML formats: one document, laid out as PostgreSQL lays it out.

use super::options::{Format, Options};
use super::text::milliseconds;
use super::tree::{Child, Explained, Item, Value};
use crate::plan::estimate::ROW_COST;
use txn::Usage;
use txn::breakdown::Class;

/// A part of a document.
enum Part {
    /// Named parts.
    Group(Vec<(String, Part)>),
    /// Groups, each called so.
    Groups(&'static str, Vec<Part>),
    /// Texts.
    List(Vec<String>),
    Text(String),
    /// Written as it is.
    Plain(String),
}

/// The document of an explained statement.
pub(super) fn document(explained: &Explained, options: &Options) -> String {
    let facts = &explained.facts;
    let text = facts.query_text.as_ref();
    let mut query: Vec<(String, Part)> =
        text.map(|text| ("Query Text".to_owned(), Part::Text(text.clone()))).into_iter().collect();
    if options.stages {
        let stages = explained.stages.iter().map(|(rule, item)| {
            Part::Group(vec![
                ("Rule".to_owned(), Part::Text((*rule).to_owned())),
                ("Plan".to_owned(), node(item, None, options)),
            ])
        });
        query.push(("Stages".to_owned(), Part::Groups("Stage", stages.collect())));
    }
    query.push(("Plan".to_owned(), node(&explained.root, None, options)));
    if let Some(settings) = &facts.settings {
        let all = settings.iter().map(|(name, value)| (name.clone(), Part::Text(value.clone())));
        query.push(("Settings".to_owned(), Part::Group(all.collect())));
    }
    if let Some(number) = facts.number {
        query.push(("Query Identifier".to_owned(), Part::Plain(number.to_string())));
    }
    if let Some(usage) = &facts.planning_usage {
        query.push(("Planning".to_owned(), Part::Group(buffers(usage, options))));
    }
    if let Some(breakdown) = &facts.breakdown {
        let classes = Class::ALL.map(|class| (title(class), breakdown.of(class)));
        query.push(("Breakdown".to_owned(), Part::Group(numbers(classes.into_iter()))));
    }
    let time = |micros: u64| Part::Plain(milliseconds(micros as f64));
    if let Some(micros) = facts.planning_us {
        query.push(("Planning Time".to_owned(), time(micros)));
    }
    if options.analyze {
        query.push(("Triggers".to_owned(), Part::Groups("Trigger", Vec::new())));
    }
    if let Some(micros) = facts.execution_us {
        query.push(("Execution Time".to_owned(), time(micros)));
    }
    match text {
        Some(_) => alone(&query, options.format),
        None => within("Query", &Part::Group(query), options.format),
    }
}

/// The document of a statement that is shown with its text: it is in no list of statements.
fn alone(query: &[(String, Part)], format: Format) -> String {
    let mut out = String::new();
    match format {
        Format::Xml => {
            out += "<explain xmlns=\"http://www.postgresql.org/2009/explain\">\n";
            query.iter().for_each(|(name, part)| xml(name, part, 1, &mut out));
            out += "</explain>";
        }
        Format::Yaml => {
            for (at, (name, part)) in query.iter().enumerate() {
                out += if at > 0 { "\n" } else { "" };
                out += &format!("{name}: ");
                yaml(part, 1, false, &mut out);
            }
        }
        Format::Json | Format::Text => {
            out.push('{');
            for (at, (name, part)) in query.iter().enumerate() {
                out += if at > 0 { ",\n  " } else { "\n  " };
                out += &format!("{}: ", quoted(name));
                json(part, 1, &mut out);
            }
            out += "\n}";
        }
    }
    out
}

/// The document of a statement that has no plan to be shown.
pub(super) fn name_alone(name: &str, format: Format) -> String {
    match format {
        Format::Xml => {
            let name: String = name.replace(' ', "-");
            format!(
                "<explain xmlns=\"http://www.postgresql.org/2009/explain\">\n  <{name} />\n</explain>"
            )
        }
        _ => within(name, &Part::Text(name.to_owned()), format),
    }
}

/// One part as a document.
fn within(name: &str, query: &Part, format: Format) -> String {
    let mut out = String::new();
    match format {
        Format::Xml => {
            out += "<explain xmlns=\"http://www.postgresql.org/2009/explain\">\n";
            xml(name, query, 1, &mut out);
            out += "</explain>";
        }
        Format::Yaml => {
            out += "- ";
            yaml(query, 1, true, &mut out);
        }
        Format::Json | Format::Text => {
            out += "[\n  ";
            json(query, 1, &mut out);
            out += "\n]";
        }
    }
    out
}

fn node(item: &Item, child: Option<&Child>, options: &Options) -> Part {
    let mut parts: Vec<(String, Part)> = Vec::new();
    let mut add = |name: &str, part: Part| parts.push((name.to_owned(), part));
    add("Node Type", Part::Text(item.node_type.to_owned()));
    for (name, value) in &item.kind {
        add(name, part(value));
    }
    if let Some(child) = child {
        add("Parent Relationship", Part::Text(child.relationship.to_owned()));
        if let Some(name) = &child.name {
            add("Subplan Name", Part::Text(name.clone()));
        }
    }
    add("Parallel Aware", Part::Plain("false".to_owned()));
    add("Async Capable", Part::Plain("false".to_owned()));
    for (name, value) in &item.target {
        add(name, part(value));
    }
    if options.costs {
        let estimate = &item.estimate;
        add("Startup Cost", Part::Plain(format!("{:.2}", estimate.startup * ROW_COST)));
        add("Total Cost", Part::Plain(format!("{:.2}", estimate.cost * ROW_COST)));
        add("Plan Rows", Part::Plain(format!("{:.0}", estimate.rows)));
        add("Plan Width", Part::Plain(format!("{:.0}", estimate.width)));
    }
    if let Some(actual) = &item.actual {
        let each = |sum: u64| sum as f64 / actual.loops.max(1) as f64;
        if options.timing {
            add("Actual Startup Time", Part::Plain(milliseconds(each(actual.startup_us))));
            add("Actual Total Time", Part::Plain(milliseconds(each(actual.total_us))));
        }
        add("Actual Rows", Part::Plain(format!("{:.0}", each(actual.rows))));
        add("Actual Loops", Part::Plain(actual.loops.to_string()));
    }
    for (name, value) in &item.properties {
        add(name, part(value));
    }
    let usage = item.actual.map_or_else(Usage::default, |actual| actual.usage);
    if options.buffers {
        parts.extend(buffers(&usage, options));
    }
    if options.wal {
        parts.extend(log(&usage));
    }
    let mut add = |name: &str, part: Part| parts.push((name.to_owned(), part));
    if !item.children.is_empty() {
        let plans = item.children.iter().map(|child| node(&child.item, Some(child), options));
        add("Plans", Part::Groups("Plan", plans.collect()));
    }
    Part::Group(parts)
}

/// What a class of cycles is called here.
fn title(class: Class) -> &'static str {
    match class {
        Class::UsefulWork => "Useful Work Cycles",
        Class::ParsePlan => "Parse And Plan Cycles",
        Class::Protocol => "Protocol Cycles",
        Class::Index => "Index Cycles",
        Class::Latching => "Latching Cycles",
        Class::Locking => "Locking Cycles",
        Class::Timestamp => "Timestamp Cycles",
        Class::Logging => "Logging Cycles",
        Class::Buffer => "Buffer Cycles",
        Class::Wait => "Wait Cycles",
        Class::Abort => "Abort Cycles",
    }
}

/// Pages, under the names of `show_buffer_usage`. No table has pages of a session's own.
fn buffers(usage: &Usage, options: &Options) -> Vec<(String, Part)> {
    let shared = [
        ("Shared Hit Blocks", usage.hit),
        ("Shared Read Blocks", usage.read),
        ("Shared Dirtied Blocks", usage.dirtied),
        ("Shared Written Blocks", usage.written),
    ];
    let local =
        ["Local Hit Blocks", "Local Read Blocks", "Local Dirtied Blocks", "Local Written Blocks"];
    let temporary =
        [("Temp Read Blocks", usage.temp_read), ("Temp Written Blocks", usage.temp_written)];
    let mut parts = numbers(shared.into_iter().chain(local.map(|name| (name, 0))).chain(temporary));
    if options.io_timing {
        let times = [
            ("I/O Read Time", usage.read_us),
            ("I/O Write Time", usage.written_us),
            ("Temp I/O Read Time", usage.temp_read_us),
            ("Temp I/O Write Time", usage.temp_written_us),
        ];
        let times = times.map(|(name, micros)| (name, Part::Plain(milliseconds(micros as f64))));
        parts.extend(times.map(|(name, part)| (name.to_owned(), part)));
    }
    parts
}

/// What the log gets (`show_wal_usage`). It never gets the image of a page.
fn log(usage: &Usage) -> Vec<(String, Part)> {
    let log = [("WAL Records", usage.log_records), ("WAL FPI", 0), ("WAL Bytes", usage.log_bytes)];
    numbers(log.into_iter())
}

fn numbers(all: impl Iterator<Item = (&'static str, u64)>) -> Vec<(String, Part)> {
    all.map(|(name, number)| (name.to_owned(), Part::Plain(number.to_string()))).collect()
}

fn part(value: &Value) -> Part {
    match value {
        Value::Text(text) => Part::Text(text.clone()),
        Value::List(all) => Part::List(all.clone()),
        Value::Number(text) => Part::Plain(text.clone()),
        Value::Bool(one) => Part::Plain(one.to_string()),
    }
}

/// A text in double quotes (`escape_json`).
fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => out += "\\\"",
            '\\' => out += "\\\\",
            '\n' => out += "\\n",
            '\r' => out += "\\r",
            '\t' => out += "\\t",
            '\u{8}' => out += "\\b",
            '\u{c}' => out += "\\f",
            c if c < ' ' => out += &format!("\\u{:04x}", u32::from(c)),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

/// A part whose first line stands at `indent`, which has been written.
fn json(part: &Part, indent: usize, out: &mut String) {
    let margin = "  ".repeat(indent);
    let each = |count: usize, out: &mut String, write: &mut dyn FnMut(usize, &mut String)| {
        for at in 0..count {
            *out += if at > 0 { ",\n" } else { "\n" };
            *out += &format!("{margin}  ");
            write(at, out);
        }
        *out += &format!("\n{margin}");
    };
    match part {
        Part::Group(parts) => {
            out.push('{');
            each(parts.len(), out, &mut |at, out| {
                *out += &format!("{}: ", quoted(&parts[at].0));
                json(&parts[at].1, indent + 1, out);
            });
            out.push('}');
        }
        Part::Groups(_, groups) => {
            out.push('[');
            each(groups.len(), out, &mut |at, out| json(&groups[at], indent + 1, out));
            out.push(']');
        }
        Part::List(all) => {
            let all: Vec<String> = all.iter().map(|one| quoted(one)).collect();
            *out += &format!("[{}]", all.join(", "));
        }
        Part::Text(text) => *out += &quoted(text),
        Part::Plain(text) => *out += text,
    }
}

/// What follows a name, or the dash of a list's item: then the first line goes on (`opened`).
fn yaml(part: &Part, indent: usize, opened: bool, out: &mut String) {
    let margin = "  ".repeat(indent);
    match part {
        Part::Group(parts) => {
            for (at, (name, part)) in parts.iter().enumerate() {
                if at > 0 || !opened {
                    *out += &format!("\n{margin}");
                }
                *out += &format!("{name}: ");
                yaml(part, indent + 1, false, out);
            }
        }
        Part::Groups(_, groups) => {
            for group in groups {
                *out += &format!("\n{margin}- ");
                yaml(group, indent + 1, true, out);
            }
        }
        Part::List(all) => {
            for one in all {
                *out += &format!("\n{margin}- {}", quoted(one));
            }
        }
        Part::Text(text) => *out += &quoted(text),
        Part::Plain(text) => *out += text,
    }
}

fn xml(name: &str, part: &Part, indent: usize, out: &mut String) {
    let tag: String = name
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.') { c } else { '-' })
        .collect();
    let margin = "  ".repeat(indent);
    let block = |out: &mut String, write: &mut dyn FnMut(&mut String)| {
        *out += &format!("{margin}<{tag}>\n");
        write(out);
        *out += &format!("{margin}</{tag}>\n");
    };
    match part {
        Part::Group(parts) => block(out, &mut |out| {
            parts.iter().for_each(|(name, part)| xml(name, part, indent + 1, out));
        }),
        Part::Groups(name, groups) => block(out, &mut |out| {
            groups.iter().for_each(|group| xml(name, group, indent + 1, out));
        }),
        Part::List(all) => block(out, &mut |out| {
            for one in all {
                *out += &format!("{margin}  <Item>{}</Item>\n", escaped(one));
            }
        }),
        Part::Text(text) => *out += &format!("{margin}<{tag}>{}</{tag}>\n", escaped(text)),
        Part::Plain(text) => *out += &format!("{margin}<{tag}>{text}</{tag}>\n"),
    }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('\r', "&#x0d;")
}
