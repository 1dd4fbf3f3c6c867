//! The cores that the process may use, and which of them a thread runs on.

use rustix::io;
use rustix::thread::{CpuSet, Pid, sched_getaffinity, sched_setaffinity};

/// The cores, as they were when the server started.
#[derive(Debug)]
pub(super) struct Cores {
    all: CpuSet,
    /// Their numbers in the system.
    numbers: Box<[usize]>,
}

impl Cores {
    /// Those that the process may use.
    pub fn of_process() -> io::Result<Cores> {
        let all = sched_getaffinity(None)?;
        let numbers = (0..CpuSet::MAX_CPU).filter(|&number| all.is_set(number)).collect();
        Ok(Cores { all, numbers })
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.numbers.len()
    }

    /// Which of them has this number in the system.
    pub fn find(&self, number: usize) -> Option<usize> {
        self.numbers.binary_search(&number).ok()
    }

    /// The thread that calls this runs on one of them only, until it is freed.
    pub fn bind(&self, index: usize) {
        let mut only = CpuSet::new();
        only.set(self.numbers[index]);
        // A core that has been taken from the process since leaves the thread where the system puts it.
        let _ = sched_setaffinity(None, &only);
    }

    /// A thread of the process, or the one that calls this, runs where the system puts it.
    pub fn free(&self, thread: Option<Pid>) {
        // What has ended meanwhile needs nothing.
        let _ = sched_setaffinity(thread, &self.all);
    }
}
