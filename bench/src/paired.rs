//! Two runs of Atoll beside each other, which ought to cost the same: sessions on one thread and on two, tables under
//! other names. Interleaved pairs, the least CPU of each side.

use crate::matrix::Effort;
use crate::pgbench::{self, Call, What};
use crate::sample::{Sample, cpu_ratio};
use crate::target::{Kind, Target};
use anyhow::Result;

/// What a comparison came to.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// What was compared.
    pub name: String,
    /// The side that sets the measure.
    pub base: Vec<Sample>,
    /// The side that is measured.
    pub other: Vec<Sample>,
    /// The most that `other` may cost, in CPU of `base`.
    pub bar: f64,
}

impl Outcome {
    /// The CPU of the one over that of the other.
    #[must_use]
    pub fn ratio(&self) -> f64 {
        cpu_ratio(&self.other, &self.base)
    }

    /// Whether it stays below the bar.
    #[must_use]
    pub fn passes(&self) -> bool {
        self.ratio() <= self.bar
    }
}

/// tpcb-like, each session in a branch of its own.
fn disjoint() -> String {
    "\\set bid :client_id + 1
\\set tid :client_id * 10 + random(1, 10)
\\set aid :client_id * 100000 + random(1, 100000)
\\set delta random(-5000, 5000)
"
    .to_owned()
        + TPCB
}

/// tpcb-like over all rows.
fn anywhere(scale: u32) -> String {
    format!(
        "\\set bid random(1, {scale})
\\set tid random(1, 10 * {scale})
\\set aid random(1, 100000 * {scale})
\\set delta random(-5000, 5000)
{TPCB}"
    )
}

const TPCB: &str = "BEGIN;
UPDATE pgbench_accounts SET abalance = abalance + :delta WHERE aid = :aid;
SELECT abalance FROM pgbench_accounts WHERE aid = :aid;
UPDATE pgbench_tellers SET tbalance = tbalance + :delta WHERE tid = :tid;
UPDATE pgbench_branches SET bbalance = bbalance + :delta WHERE bid = :bid;
INSERT INTO pgbench_history (tid, bid, aid, delta, mtime) VALUES (:tid, :bid, :aid, :delta, CURRENT_TIMESTAMP);
END;
";

/// tpcb-like with sync off on disjoint keys: two sessions against one.
///
/// # Errors
/// A server or pgbench failed.
pub fn scaling(effort: Effort) -> Result<Vec<Outcome>> {
    let atoll = Target::start(Kind::Atoll, false)?;
    pgbench::load(&atoll, effort.scale.max(2))?;
    let script = disjoint();
    let mut outcomes = Vec::new();
    for mode in ["simple", "prepared"] {
        let name = format!("tpcb-like, sync off, disjoint keys, {mode}: 2 threads over 1");
        let mut outcome = Outcome { name, base: vec![], other: vec![], bar: 1.15 };
        for _ in 0..effort.pairs {
            for (sessions, samples) in [(1, &mut outcome.base), (2, &mut outcome.other)] {
                let call =
                    Call { mode, clients: sessions, threads: sessions, what: What::Text(&script) };
                samples.push(pgbench::measure(&atoll, &call, effort.warm_up, effort.time)?);
            }
        }
        outcomes.push(outcome);
    }
    Ok(outcomes)
}

/// The statements that give pgbench's tables and columns other names, and a script those names.
const RENAMED: [(&str, &str, &[(&str, &str)]); 4] = [
    (
        "pgbench_accounts",
        "konto",
        &[("abalance", "stand"), ("aid", "nummer"), ("bid", "zweig"), ("filler", "rest")],
    ),
    (
        "pgbench_tellers",
        "schalter",
        &[("tbalance", "kasse"), ("tid", "platz"), ("bid", "zweig"), ("filler", "rest")],
    ),
    (
        "pgbench_branches",
        "zweigstelle",
        &[("bbalance", "summe"), ("bid", "zweig"), ("filler", "rest")],
    ),
    (
        "pgbench_history",
        "buchung",
        &[
            ("tid", "platz"),
            ("bid", "zweig"),
            ("aid", "nummer"),
            ("delta", "betrag"),
            ("mtime", "zeit"),
            ("filler", "rest"),
        ],
    ),
];

fn renaming() -> String {
    let mut statements = String::new();
    for (table, other, columns) in RENAMED {
        for (column, to) in columns {
            statements += &format!("ALTER TABLE {table} RENAME COLUMN {column} TO {to};\n");
        }
        statements += &format!("ALTER TABLE {table} RENAME TO {other};\n");
    }
    statements
}

/// The script with the other names; variables keep theirs.
fn renamed(script: &str) -> String {
    let words: Vec<(&str, &str)> = RENAMED
        .iter()
        .flat_map(|(table, other, columns)| columns.iter().copied().chain([(*table, *other)]))
        .collect();
    let mut text = String::new();
    let mut word = String::new();
    for character in script.chars().chain(['\n']) {
        if character.is_ascii_alphanumeric() || character == '_' {
            word.push(character);
            continue;
        }
        let variable = text.ends_with(':') || text.ends_with("\\set ");
        let other = words.iter().find(|(name, _)| *name == word && !variable);
        text.push_str(other.map_or(&word, |(_, other)| *other));
        word.clear();
        text.push(character);
    }
    text
}

/// tpcb-like and the point SELECT under pgbench's names and under others.
///
/// # Errors
/// A server or pgbench failed.
pub fn renames(effort: Effort) -> Result<Vec<Outcome>> {
    let plain = Target::start(Kind::Atoll, false)?;
    let other = Target::start(Kind::Atoll, false)?;
    pgbench::load(&plain, effort.scale)?;
    pgbench::load(&other, effort.scale)?;
    pgbench::execute(&other, &renaming())?;
    let select = format!(
        "\\set aid random(1, {})\nSELECT abalance FROM pgbench_accounts WHERE aid = :aid;\n",
        100_000 * effort.scale
    );
    let tpcb = anywhere(effort.scale);
    let mut outcomes = Vec::new();
    for (what, script) in [("select-only", &select), ("tpcb-like, sync off", &tpcb)] {
        let script_renamed = renamed(script);
        for mode in ["simple", "prepared"] {
            let name = format!("{what}, {mode}: other names over pgbench's");
            let mut outcome = Outcome { name, base: vec![], other: vec![], bar: 1.03 };
            for pair in 0..effort.pairs {
                let mut run = |second: bool| -> Result<()> {
                    let (target, text, samples) = if second {
                        (&other, &script_renamed, &mut outcome.other)
                    } else {
                        (&plain, script, &mut outcome.base)
                    };
                    let call = Call { mode, clients: 1, threads: 1, what: What::Text(text) };
                    samples.push(pgbench::measure(target, &call, effort.warm_up, effort.time)?);
                    Ok(())
                };
                run(pair % 2 == 1)?;
                run(pair % 2 == 0)?;
            }
            outcomes.push(outcome);
        }
    }
    Ok(outcomes)
}

#[cfg(test)]
mod tests {
    use super::{anywhere, renamed, renaming};

    #[test]
    fn names_change_and_variables_do_not() {
        let script = renamed(&anywhere(1));
        assert!(script.contains("UPDATE konto SET stand = stand + :delta WHERE nummer = :aid;"));
        assert!(script.contains("INSERT INTO buchung (platz, zweig, nummer, betrag, zeit)"));
        assert!(script.contains("\\set delta random"));
        assert!(!script.contains("pgbench"));
        assert!(renaming().contains("ALTER TABLE pgbench_tellers RENAME COLUMN tid TO platz;"));
    }
}
