//! Components that can be left out, to see what each costs.
//!
//! Paper: Harizopoulos et al., *OLTP Through the Looking Glass, and What We Found There*, SIGMOD 2008, which takes one after another
//! out of Shore. Here each is a branch that a commit, a lock or a write passes once, outside of the loops below; the layer
//! above refuses all of them unless it is told that the database may be lost. What is left out is said of each, and what cannot be
//! left out, and why, in `docs/design/0020-looking-glass.md`.

/// What is left out. Only for a database that one session uses at a time, and that may be lost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Without {
    /// A commit claims its place in the log, which is its timestamp, and says nothing there of what it has written: nothing is
    /// compared, serialized, summed and copied. A crash loses what no page has been written with.
    pub log: bool,
    /// No row, key or table is locked. What a scheme locks or stamps beside them stays.
    pub locks: bool,
    /// What a commit replaces is not kept: a snapshot that is older does not find what it should read.
    pub versions: bool,
}

impl Without {
    /// The names of what can be left out.
    pub const NAMES: [&str; 3] = ["log", "locks", "versions"];

    /// Leaves out what this name says; false if there is no such.
    pub fn leave_out(&mut self, name: &str) -> bool {
        let part = match name {
            "log" => &mut self.log,
            "locks" => &mut self.locks,
            "versions" => &mut self.versions,
            _ => return false,
        };
        *part = true;
        true
    }
}
