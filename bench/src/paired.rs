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
    /// The most that `other` may cost, in CPU of `base`; none where there is nothing to pass.
    pub bar: Option<f64>,
}

impl Outcome {
    /// The CPU of the one over that of the other.
    #[must_use]
    pub fn ratio(&self) -> f64 {
        cpu_ratio(&self.other, &self.base)
    }

    /// Whether it stays below the bar, where it has one.
    #[must_use]
    pub fn passes(&self) -> Option<bool> {
        self.bar.map(|bar| self.ratio() <= bar)
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

/// The point SELECT over all rows.
#[must_use]
pub fn select(scale: u32) -> String {
    format!(
        "\\set aid random(1, {})\nSELECT abalance FROM pgbench_accounts WHERE aid = :aid;\n",
        100_000 * scale
    )
}

/// tpcb-like over all rows.
#[must_use]
pub fn anywhere(scale: u32) -> String {
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
        let mut outcome = Outcome { name, base: vec![], other: vec![], bar: Some(1.15) };
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

/// The names of pgbench's tables and columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Names {
    /// pgbench's.
    Own,
    /// Others.
    Other,
}

impl std::fmt::Display for Names {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Names::Own => "pgbench's",
            Names::Other => "other",
        })
    }
}

/// pgbench's names, each beside the other one.
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

/// The statements that give tables and columns these names, where they have the others.
#[must_use]
pub fn renaming(names: Names) -> String {
    let turned = |(own, other)| match names {
        Names::Own => (other, own),
        Names::Other => (own, other),
    };
    let mut statements = String::new();
    for (own, other, columns) in RENAMED {
        let (table, to) = turned((own, other));
        for column in columns {
            let (column, to) = turned(*column);
            statements += &format!("ALTER TABLE {table} RENAME COLUMN {column} TO {to};\n");
        }
        statements += &format!("ALTER TABLE {table} RENAME TO {to};\n");
    }
    statements
}

/// A script that has pgbench's names, with these; variables keep theirs.
#[must_use]
pub fn renamed(script: &str, names: Names) -> String {
    if names == Names::Own {
        return script.to_owned();
    }
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

/// tpcb-like and the point SELECT under pgbench's names and under others; beside them the same names twice, which shows what
/// this machine makes of no difference at all. The same server has the same rows in the same places for both: where two
/// servers have theirs makes a larger difference than names may.
///
/// # Errors
/// A server or pgbench failed.
pub fn renames(effort: Effort) -> Result<Vec<Outcome>> {
    let atoll = Target::start(Kind::Atoll, false)?;
    pgbench::load(&atoll, effort.scale)?;
    let mut names = Names::Own;
    let mut outcomes = Vec::new();
    let scripts =
        [("select-only", select(effort.scale)), ("tpcb-like, sync off", anywhere(effort.scale))];
    for (what, script) in scripts {
        for mode in ["simple", "prepared"] {
            let outcome = |compared, bar| Outcome {
                name: format!("{what}, {mode}: {compared}"),
                base: vec![],
                other: vec![],
                bar,
            };
            let mut renamed_over_own = outcome("other names over pgbench's", Some(1.03));
            let mut own_twice = outcome("the same names twice", None);
            for pair in 0..effort.pairs {
                let mut run = |wanted: Names| {
                    if names != wanted {
                        pgbench::execute(&atoll, &renaming(wanted))?;
                        names = wanted;
                    }
                    let text = renamed(&script, wanted);
                    let call = Call { mode, clients: 1, threads: 1, what: What::Text(&text) };
                    pgbench::measure(&atoll, &call, effort.warm_up, effort.time)
                };
                if pair.is_multiple_of(2) {
                    own_twice.other.push(run(Names::Own)?);
                    renamed_over_own.base.push(run(Names::Own)?);
                    renamed_over_own.other.push(run(Names::Other)?);
                } else {
                    renamed_over_own.other.push(run(Names::Other)?);
                    renamed_over_own.base.push(run(Names::Own)?);
                    own_twice.other.push(run(Names::Own)?);
                }
            }
            own_twice.base.clone_from(&renamed_over_own.base);
            outcomes.extend([renamed_over_own, own_twice]);
        }
    }
    Ok(outcomes)
}

#[cfg(test)]
mod tests {
    use super::{Names, anywhere, renamed, renaming};

    #[test]
    fn names_change_and_variables_do_not() {
        let script = renamed(&anywhere(1), Names::Other);
        assert!(script.contains("UPDATE konto SET stand = stand + :delta WHERE nummer = :aid;"));
        assert!(script.contains("INSERT INTO buchung (platz, zweig, nummer, betrag, zeit)"));
        assert!(script.contains("\\set delta random"));
        assert!(!script.contains("pgbench"));
    }

    #[test]
    fn names_are_given_and_taken_back() {
        let (given, back) = (renaming(Names::Other), renaming(Names::Own));
        assert!(given.contains("ALTER TABLE pgbench_tellers RENAME COLUMN tid TO platz;\n"));
        assert!(given.contains("ALTER TABLE pgbench_tellers RENAME TO schalter;\n"));
        assert!(back.contains("ALTER TABLE schalter RENAME COLUMN platz TO tid;\n"));
        assert!(back.contains("ALTER TABLE schalter RENAME TO pgbench_tellers;\n"));
    }
}
