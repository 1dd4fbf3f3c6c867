//! What a core takes by itself: the parts of a transaction in cycles, by class, as they were measured on the engine (`costs.tsv`, which says
//! how).
//!
//! A transaction is its beginning, its accesses, and its end, which depends on how many of each there were. Each part is what two
//! transactions of different length differ in: see [`super::measuring`].

use super::machine::Cycles;
use anyhow::{Context, Result, anyhow, ensure};
use std::collections::BTreeMap;
use storage::breakdown::{Breakdown, Class};
use txn::SchemeKind;

/// The committed file.
const COMMITTED: &str = include_str!("costs.tsv");

/// A part of a transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Part {
    /// Its beginning.
    Begin,
    /// A read.
    Read,
    /// A write, until the commit.
    Write,
    /// The end of one that has only read.
    EndReader,
    /// What a read adds to the end.
    EndRead,
    /// The end of one that has written.
    EndWriter,
    /// What a write adds to it.
    EndWrite,
    /// The rollback of one that has done nothing.
    Undo,
    /// What a read adds to a rollback.
    UndoRead,
    /// What a write adds to it.
    UndoWrite,
    /// What other threads of the process do behind a write that has been committed: nobody waits for it, but it is CPU.
    Behind,
}

/// What does not depend on the scheme.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Bare {
    /// Cycles of a nanosecond.
    pub gigahertz: f64,
    /// Until a core has a line that the other has just written.
    pub transfer: Cycles,
    /// Of one decision about a lock, which its latch is held for.
    pub decision: Cycles,
    /// What such a decision takes more that another core has made the one before: what it looks at is with that one.
    pub apart: Cycles,
    /// Until one that rests goes on, once another wakes it.
    pub wake: Cycles,
    /// Of who wakes it.
    pub waking: Cycles,
    /// That a core works for one that rests, to stop it and to let it go on.
    pub resting: Cycles,
}

/// All of it.
#[derive(Clone, Debug, Default)]
pub struct Costs {
    /// The machine's.
    pub bare: Bare,
    parts: BTreeMap<(&'static str, Part), Breakdown>,
}

impl Part {
    /// All there are.
    pub const ALL: [Part; 11] = [
        Part::Begin,
        Part::Read,
        Part::Write,
        Part::EndReader,
        Part::EndRead,
        Part::EndWriter,
        Part::EndWrite,
        Part::Undo,
        Part::UndoRead,
        Part::UndoWrite,
        Part::Behind,
    ];

    fn name(self) -> &'static str {
        match self {
            Part::Begin => "begin",
            Part::Read => "read",
            Part::Write => "write",
            Part::EndReader => "end_reader",
            Part::EndRead => "end_read",
            Part::EndWriter => "end_writer",
            Part::EndWrite => "end_write",
            Part::Undo => "undo",
            Part::UndoRead => "undo_read",
            Part::UndoWrite => "undo_write",
            Part::Behind => "behind",
        }
    }
}

impl Costs {
    /// Those of the committed file.
    ///
    /// # Errors
    /// It is not what it should be.
    pub fn committed() -> Result<Costs> {
        Costs::parse(COMMITTED)
    }

    /// What a part costs under a scheme.
    #[must_use]
    pub fn of(&self, scheme: SchemeKind, part: Part) -> Breakdown {
        self.parts.get(&(scheme.name(), part)).copied().unwrap_or_default()
    }

    /// For how long a part has each of its scheme's `latches`: a decision's time, but no longer than the part is said to deal with locks
    /// and their order.
    #[must_use]
    pub fn hold(&self, scheme: SchemeKind, part: Part, latches: u64) -> Cycles {
        let cost = self.of(scheme, part);
        let within = cost.of(Class::Locking) + cost.of(Class::Timestamp);
        self.bare.decision.min(within / latches)
    }

    /// Says what a part costs.
    pub fn set(&mut self, scheme: SchemeKind, part: Part, cost: Breakdown) {
        self.parts.insert((scheme.name(), part), cost);
    }

    /// Reads a file.
    ///
    /// # Errors
    /// It is not what it should be.
    pub fn parse(text: &str) -> Result<Costs> {
        let mut costs = Costs::default();
        let lines = text.lines().filter(|line| !line.starts_with('#') && !line.is_empty());
        for line in lines.skip(1) {
            let fields: Vec<&str> = line.split('\t').collect();
            ensure!(fields.len() >= 3, "not three fields: {line}");
            let number = |at: usize| -> Result<f64> {
                let field = fields.get(at).ok_or_else(|| anyhow!("too few fields: {line}"))?;
                field.parse::<f64>().with_context(|| line.to_owned())
            };
            if fields[0] == "machine" {
                match fields[1] {
                    "gigahertz" => costs.bare.gigahertz = number(2)?,
                    "transfer" => costs.bare.transfer = number(2)? as Cycles,
                    "decision" => costs.bare.decision = number(2)? as Cycles,
                    "apart" => costs.bare.apart = number(2)? as Cycles,
                    "wake" => costs.bare.wake = number(2)? as Cycles,
                    "waking" => costs.bare.waking = number(2)? as Cycles,
                    "resting" => costs.bare.resting = number(2)? as Cycles,
                    other => return Err(anyhow!("unknown: {other}")),
                }
                continue;
            }
            let scheme = SchemeKind::named(fields[0]).with_context(|| line.to_owned())?;
            let part = Part::ALL.into_iter().find(|part| part.name() == fields[1]);
            let part = part.with_context(|| line.to_owned())?;
            let mut cost = Breakdown::default();
            for (at, class) in Class::ALL.into_iter().enumerate() {
                cost.add(class, number(at + 2)? as u64);
            }
            costs.set(scheme, part, cost);
        }
        Ok(costs)
    }

    /// The file; `how` it was measured comes first, in lines.
    #[must_use]
    pub fn text(&self, how: &str) -> String {
        let mut out = String::new();
        for line in how.lines() {
            out += &format!("# {line}\n");
        }
        out += "scheme\tpart";
        for class in Class::ALL {
            out += &format!("\t{}", class.name());
        }
        let Bare { gigahertz, transfer, decision, apart, wake, waking, resting } = self.bare;
        out += &format!("\nmachine\tgigahertz\t{gigahertz:.3}\n");
        let cycles = [
            ("transfer", transfer),
            ("decision", decision),
            ("apart", apart),
            ("wake", wake),
            ("waking", waking),
            ("resting", resting),
        ];
        for (name, cycles) in cycles {
            out += &format!("machine\t{name}\t{cycles}\n");
        }
        for scheme in SchemeKind::ALL {
            for part in Part::ALL {
                let cost = self.of(scheme, part);
                out += &format!("{}\t{}", scheme.name(), part.name());
                for class in Class::ALL {
                    out += &format!("\t{}", cost.of(class));
                }
                out.push('\n');
            }
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::{Costs, Part};
    use txn::SchemeKind;

    #[test]
    fn the_committed_file_has_every_scheme_and_what_is_written_is_read() {
        let costs = Costs::committed().expect("the committed file can be read");
        assert!(costs.bare.gigahertz > 0.5 && costs.bare.transfer > 0 && costs.bare.wake > 0);
        for scheme in SchemeKind::ALL {
            for part in [Part::Read, Part::Write, Part::EndWriter] {
                assert!(costs.of(scheme, part).total() > 0, "{} {part:?}", scheme.name());
            }
        }
        // A part that the file has not costs nothing.
        let text = costs.text("How.\nWhere.");
        let again = Costs::parse(&text).expect("it can be read");
        assert_eq!((again.bare, again.text("How.\nWhere.")), (costs.bare, text));
    }
}
