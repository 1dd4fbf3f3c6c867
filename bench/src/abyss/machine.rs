//! The simulated machine: cores, how far they are from each other, and the cache lines that they take from each other.
//!
//! Paper: Yu et al., *Staring into the Abyss*, VLDB 2014, section 3.1 (Graphite: tiles of a core at 1 GHz, its first-level cache and its slice
//! of the second, on a two-dimensional mesh of two cycles a hop). What a core does by itself costs what it was measured to
//! cost ([`super::costs`]); what is simulated is what a second core adds: a line that somebody else has written comes from there,
//! and of those who want it at the same time each waits for the one before.
//!
//! Difference: caches have no sizes here, and what is only read is only as far away as the slice that it is in.

use std::collections::HashMap;
use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};

/// A point in simulated time, or a time, in cycles.
pub type Cycles = u64;

/// Cycles of a hop, of the paper's mesh.
const HOP: Cycles = 2;
/// Cycles of the look into another slice of the second-level cache.
const SLICE: Cycles = 15;

/// What cores are connected by.
#[derive(Clone, Copy, Debug)]
enum Network {
    /// A square of tiles with this side.
    Mesh { side: usize },
    /// A line takes as long from anybody to anybody else.
    Flat { transfer: Cycles },
}

/// A machine.
#[derive(Clone, Copy, Debug)]
pub struct Machine {
    /// Its cores.
    pub cores: usize,
    /// Cycles of a nanosecond.
    pub gigahertz: f64,
    network: Network,
}

/// What a line holds: the lines that are written by more than one core.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Place {
    /// The counter of timestamps, or its latch.
    Counter,
    /// The end of the log.
    LogTail,
    /// How far commits are visible.
    Watermark,
    /// The latch of the order of timestamps.
    Order,
    /// The latch of the locks of a tree, in which somebody waits.
    Tree,
    /// The latch of some of a tree's keys, while nobody waits there.
    Shard(u64),
    /// The latch of the read timestamps of a tree.
    Stamps,
    /// The latch of those who look for deadlocks.
    Detecting,
    /// The lock, or the stamp, of a key.
    Key(u64),
}

#[derive(Clone, Copy, Debug)]
struct Line {
    owner: usize,
    free_at: Cycles,
}

/// Where each line is, and until when it is busy.
#[derive(Debug, Default)]
pub struct Lines(HashMap<Place, Line>);

impl Machine {
    /// The paper's, with as many tiles as cores.
    #[must_use]
    pub fn tiled(cores: usize) -> Machine {
        let side = (1..).find(|side| side * side >= cores).unwrap_or(1);
        Machine { cores, gigahertz: 1.0, network: Network::Mesh { side } }
    }

    /// One like that on which costs were measured.
    #[must_use]
    pub fn flat(cores: usize, gigahertz: f64, transfer: Cycles) -> Machine {
        Machine { cores, gigahertz, network: Network::Flat { transfer } }
    }

    /// Cycles until a core has what is in another's tile.
    #[must_use]
    pub fn transfer(&self, from: usize, to: usize) -> Cycles {
        match self.network {
            _ if from == to => 0,
            Network::Flat { transfer } => transfer,
            Network::Mesh { side } => {
                let hops = (from % side).abs_diff(to % side) + (from / side).abs_diff(to / side);
                SLICE + 2 * HOP * hops as Cycles
            }
        }
    }

    /// Cycles until a core has what nobody has written for long: it is in the slice that its number says.
    #[must_use]
    pub fn fetch(&self, number: u64, core: usize) -> Cycles {
        let mixed = number.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32;
        match self.network {
            // What memory costs there is in the costs.
            Network::Flat { .. } => 0,
            Network::Mesh { .. } => self.transfer(mixed as usize % self.cores, core),
        }
    }

    /// Cycles until a core has a line that another has written: its home, which is in some slice, says who that is and has it sent.
    fn hand_over(&self, place: Place, owner: usize, core: usize) -> Cycles {
        match self.network {
            _ if owner == core => 0,
            Network::Flat { transfer } => transfer,
            Network::Mesh { .. } => {
                let home = BuildHasherDefault::<DefaultHasher>::default().hash_one(place);
                self.transfer(home as usize % self.cores, core).max(SLICE)
            }
        }
    }

    /// This many seconds.
    #[must_use]
    pub fn seconds(&self, cycles: Cycles) -> f64 {
        cycles as f64 / self.gigahertz / 1e9
    }

    /// Cycles of this many microseconds.
    #[must_use]
    pub fn micros(&self, micros: f64) -> Cycles {
        (micros * self.gigahertz * 1e3) as Cycles
    }
}

impl Lines {
    /// A core changes a line, by one atomic instruction, when those who came before have; when it is done.
    pub fn change(&mut self, machine: &Machine, place: Place, core: usize, now: Cycles) -> Cycles {
        let line = self.0.entry(place).or_insert(Line { owner: core, free_at: now });
        let done = now.max(line.free_at) + machine.hand_over(place, line.owner, core);
        *line = Line { owner: core, free_at: done };
        done
    }

    /// A core has a latch for a while, and for `apart` longer if another had it before; when it has let go. Who had to wait has looked at it
    /// meanwhile, so the line went to and fro once more.
    pub fn latch(
        &mut self,
        machine: &Machine,
        place: Place,
        core: usize,
        (now, hold, apart): (Cycles, Cycles, Cycles),
    ) -> Cycles {
        let line = self.0.entry(place).or_insert(Line { owner: core, free_at: now });
        let transfer = machine.hand_over(place, line.owner, core);
        let apart = if line.owner == core { 0 } else { apart };
        let handover = if line.free_at > now { 2 * transfer } else { transfer } + apart;
        let done = now.max(line.free_at) + handover + hold;
        *line = Line { owner: core, free_at: done };
        done
    }

    /// A core looks at a line; when it has seen it. Readers do not wait for each other.
    #[must_use]
    pub fn look(&self, machine: &Machine, place: Place, core: usize, now: Cycles) -> Cycles {
        now + self.0.get(&place).map_or(0, |line| machine.hand_over(place, line.owner, core))
    }
}

#[cfg(test)]
mod tests {
    use super::{Lines, Machine, Place};

    #[test]
    fn tiles_are_as_far_as_the_mesh_is_wide() {
        let machine = Machine::tiled(1024);
        assert_eq!(machine.transfer(5, 5), 0);
        assert_eq!(machine.transfer(0, 1), 15 + 4);
        assert_eq!(machine.transfer(0, 1023), 15 + 4 * 62);
        let all = (0..1024).map(|to| machine.transfer(0, to)).sum::<u64>() / 1024;
        assert!((130..150).contains(&all), "{all}");
    }

    #[test]
    fn who_wants_a_line_at_the_same_time_waits() {
        let (machine, mut lines) = (Machine::flat(4, 1.0, 100), Lines::default());
        assert_eq!(lines.change(&machine, Place::Counter, 0, 10), 10);
        assert_eq!(lines.change(&machine, Place::Counter, 1, 10), 110);
        assert_eq!(lines.change(&machine, Place::Counter, 2, 10), 210);
        assert_eq!(lines.change(&machine, Place::Counter, 2, 400), 400, "it has it");
        assert_eq!(lines.latch(&machine, Place::Tree, 0, (0, 50, 9)), 50);
        assert_eq!(lines.latch(&machine, Place::Tree, 1, (20, 50, 9)), 50 + 200 + 9 + 50);
        assert_eq!(lines.look(&machine, Place::Tree, 3, 7), 107);
    }
}
