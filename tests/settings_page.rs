//! `docs/settings.md`: what each row of `pg_settings` does here. The page says what the server says: each setting that a
//! session may change is changed, looked at, and changed back. `UPDATE_GOLDEN=1` writes the page anew.

use sql::settings::definition::{Definition, definitions, number};
use std::fmt::Write as _;
use std::path::Path;
use tests::atoll::Atoll;
use tests::client::Client;
use tests::golden::assert_golden;

const ROWS: &str = "SELECT name, category, context, vartype, setting, coalesce(min_val, ''), coalesce(max_val, ''), \
    coalesce(array_to_string(enumvals, ','), '') FROM pg_settings ORDER BY category COLLATE \"C\", lower(name) COLLATE \"C\"";

/// Another value than the one that is set; none where only who knows the setting could think of one.
fn another(row: &[String]) -> Option<String> {
    let [_, _, _, kind, setting, low, high, values] = row else { return None };
    match kind.as_str() {
        "bool" => Some(if setting == "on" { "off" } else { "on" }.to_owned()),
        "enum" => values.split(',').find(|value| value != setting).map(str::to_owned),
        "integer" => {
            let (low, high) = (low.parse::<i64>().ok()?, high.parse::<i64>().ok()?);
            let now = setting.parse::<i64>().ok()?;
            // Not by little: a timeout of a moment would end what comes next.
            let larger = now.saturating_add(now.max(1000)).min(high);
            Some(if larger != now { larger } else { low }.to_string())
        }
        "real" => {
            let (low, high) = (low.parse::<f64>().ok()?, high.parse::<f64>().ok()?);
            let now = setting.parse::<f64>().ok()?;
            Some(if now + 1.0 <= high { now + 1.0 } else { low }.to_string())
        }
        _ => None,
    }
}

/// What the server does with a setting that a session may change.
fn tried(client: &mut Client, row: &[String], definition: &Definition) -> &'static str {
    let works = match (definition.followed, definition.is_advice()) {
        (true, _) => "works",
        (false, true) => "advice: accepted, changes nothing",
        (false, false) => "accepted with a notice that it changes nothing",
    };
    let Some(value) = another(row).filter(|value| *value != row[4]) else { return works };
    let name = &row[0];
    client.run("BEGIN");
    let set = client.query(&format!("SET LOCAL {name} = '{value}'"));
    let shown = match &set.error {
        None => client.query(&format!("SELECT setting FROM pg_settings WHERE name = '{name}'")),
        Some(_) => set.clone(),
    };
    client.run("ROLLBACK");
    if let Some(error) = &set.error {
        return match error.field(b'C') {
            "0A000" => "refused (0A000)",
            "55P02" => "cannot be changed by a session",
            _ => "works; not every value can be had",
        };
    }
    let told = set.notices.iter().any(|notice| notice.field(b'M').contains("has no effect"));
    assert_eq!(told, works.contains("notice"), "{name} says what it does");
    assert_eq!(shown.rows[0][0].as_deref(), Some(&*value), "{name} is what it was set to");
    works
}

#[test]
fn the_page_of_settings_is_what_the_server_does() {
    let atoll = Atoll::start(&[]);
    let mut client = atoll.connect();
    let rows = client.query(ROWS).rows;
    let rows = rows.into_iter().map(|row| row.into_iter().map(Option::unwrap_or_default).collect());
    let rows: Vec<Vec<String>> = rows.collect();
    let mut page = String::from(
        "# Settings\n\nWhat each row of `pg_settings` does. Written by `tests/settings_page.rs`, which changes each that a session may\nchange and looks: `UPDATE_GOLDEN=1 cargo test -p tests --test settings_page`. *Works*: as in PostgreSQL. *Advice*: it may\nbe set, and is shown as set, but what it advises does not exist here (`docs/differences.md`).\n",
    );
    let mut category = String::new();
    for row in &rows {
        let (name, context) = (&row[0], &*row[2]);
        let definition = &definitions()[number(name).expect("the server knows its settings")];
        let does = match context {
            "internal" => "tells a fact",
            "user" | "superuser" => tried(&mut client, row, definition),
            "sighup" if definition.followed => "works, from a reload on",
            _ if definition.followed => "works, from a start or a new session on",
            _ => "accepted in the files, changes nothing",
        };
        if row[1] != category {
            category.clone_from(&row[1]);
            write!(
                page,
                "\n## {category}\n\n| setting | may be changed | what it does |\n|---|---|---|\n"
            )
            .expect("a string grows");
        }
        writeln!(page, "| `{name}` | {context} | {does} |").expect("a string grows");
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/settings.md");
    assert_golden(&path, "Atoll", &page, true);
}
