//! CPU time of a server: user and system, of all its processes, background work included.

use anyhow::{Context, Result};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::time::Duration;

/// The kernel's clock ticks a second, as `/proc` counts them (`USER_HZ`, 100 on every Linux).
const TICKS_PER_SECOND: f64 = 100.0;

/// CPU time so far, in seconds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Cpu {
    /// In user space.
    pub user: f64,
    /// In the kernel.
    pub system: f64,
}

impl Cpu {
    /// What was used since `earlier`.
    #[must_use]
    pub fn since(self, earlier: Cpu) -> Cpu {
        Cpu { user: self.user - earlier.user, system: self.system - earlier.system }
    }

    /// User and system together.
    #[must_use]
    pub fn total(self) -> f64 {
        self.user + self.system
    }
}

struct Stat {
    parent: u32,
    own: Cpu,
    reaped: Cpu,
}

/// `/proc/PID/stat`: fields 4 (parent), 14 to 17 (own and reaped children's user and system ticks).
fn stat(text: &str) -> Option<Stat> {
    // The program's name stands in parentheses and may hold anything, even a parenthesis.
    let fields: Vec<&str> = text[text.rfind(')')? + 2..].split_ascii_whitespace().collect();
    let ticks =
        |at: usize| fields.get(at)?.parse::<f64>().ok().map(|ticks| ticks / TICKS_PER_SECOND);
    Some(Stat {
        parent: fields.get(1)?.parse().ok()?,
        own: Cpu { user: ticks(11)?, system: ticks(12)? },
        reaped: Cpu { user: ticks(13)?, system: ticks(14)? },
    })
}

/// The process `root` and its living descendants.
fn tree(root: u32) -> Result<BTreeMap<u32, Stat>> {
    let mut all: BTreeMap<u32, Stat> = BTreeMap::new();
    for entry in fs::read_dir("/proc").context("/proc")? {
        let Ok(name) = entry?.file_name().into_string() else { continue };
        let Ok(pid) = name.parse::<u32>() else { continue };
        // A process may end between the listing and the reading.
        if let Some(found) =
            fs::read_to_string(format!("/proc/{pid}/stat")).ok().as_deref().and_then(stat)
        {
            all.insert(pid, found);
        }
    }
    anyhow::ensure!(all.contains_key(&root), "process {root} is gone");
    let belongs = |pid: u32| {
        let mut at = pid;
        while at != root {
            match all.get(&at) {
                Some(stat) if stat.parent != 0 => at = stat.parent,
                _ => return false,
            }
        }
        true
    };
    let pids: Vec<u32> = all.keys().copied().filter(|pid| belongs(*pid)).collect();
    Ok(pids.into_iter().filter_map(|pid| Some((pid, all.remove(&pid)?))).collect())
}

/// The CPU time of the process `root`, its living descendants, and those they have waited for.
///
/// # Errors
/// The process is gone.
pub fn of_tree(root: u32) -> Result<Cpu> {
    loop {
        let (now, again) = (tree(root)?, tree(root)?);
        // The time of a process that ended while the others were read may be nobody's: read before by its parent, and gone
        // when it came to itself.
        let settled = now.len() == again.len()
            && now.iter().zip(&again).all(|(a, b)| a.0 == b.0 && a.1.reaped == b.1.reaped);
        if settled {
            let parts = now.values().flat_map(|stat| [stat.own, stat.reaped]);
            return Ok(parts.fold(Cpu::default(), |sum, part| Cpu {
                user: sum.user + part.user,
                system: sum.system + part.system,
            }));
        }
    }
}

/// The CPU time that `/proc` says of a thread, to the nanosecond.
fn of_thread(directory: &Path) -> Result<Duration> {
    let path = directory.join("schedstat");
    let text = fs::read_to_string(&path).with_context(|| path.display().to_string())?;
    let nanos = text.split_ascii_whitespace().next().and_then(|word| word.parse().ok());
    Ok(Duration::from_nanos(nanos.with_context(|| format!("{}: {text}", path.display()))?))
}

/// The CPU time of the calling thread.
///
/// # Errors
/// The kernel does not count it.
pub fn of_this_thread() -> Result<Duration> {
    of_thread(Path::new("/proc/thread-self"))
}

/// The CPU time of all other threads of this process that have not ended.
///
/// # Errors
/// The kernel does not count it.
pub fn of_other_threads() -> Result<Duration> {
    let own = fs::read_link("/proc/thread-self").context("/proc/thread-self")?;
    let mut all = Duration::ZERO;
    for entry in fs::read_dir("/proc/self/task").context("/proc/self/task")? {
        let path = entry?.path();
        if path.file_name() != own.file_name() {
            // A thread may end between the listing and the reading.
            all += of_thread(&path).unwrap_or_default();
        }
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::{of_other_threads, of_this_thread, of_tree, stat};

    #[test]
    fn a_name_with_parentheses_is_skipped() {
        let text = "7 (a) b) S 3 7 7 0 -1 4194304 1 2 3 4 150 50 10 20 20 0 1 0 9 9 9";
        let stat = stat(text).expect("a line of the kernel");
        assert_eq!(stat.parent, 3);
        assert_eq!((stat.own.user, stat.own.system), (1.5, 0.5));
        assert_eq!((stat.reaped.user, stat.reaped.system), (0.1, 0.2));
    }

    #[test]
    fn what_children_used_is_lost_with_none_of_them() {
        let mut least = 0.0;
        for _ in 0..20 {
            let child = std::process::Command::new("sh")
                .args(["-c", "i=0; while [ $i -lt 2000 ]; do i=$((i+1)); done"])
                .spawn();
            let waiter = std::thread::spawn(move || child.expect("sh is there").wait());
            let now = of_tree(std::process::id()).expect("it is there").total();
            assert!(now >= least, "{now} after {least}");
            least = now;
            waiter.join().expect("it does not panic").expect("it ends");
        }
    }

    #[test]
    fn a_thread_knows_what_it_has_used_and_what_the_others_have() {
        let spin = |until: std::time::Duration| {
            let begun = std::time::Instant::now();
            while begun.elapsed() < until {
                std::hint::spin_loop();
            }
        };
        let some = std::time::Duration::from_millis(20);
        let (own, others) = (of_this_thread().expect("own"), of_other_threads().expect("others"));
        let (done, over) = (std::sync::Barrier::new(2), std::sync::Barrier::new(2));
        let (done, over) = (&done, &over);
        std::thread::scope(|scope| {
            scope.spawn(move || {
                spin(some);
                done.wait();
                over.wait();
            });
            done.wait();
            let (more, of_others) = (of_this_thread(), of_other_threads());
            over.wait();
            // Nobody is sure to have had a core for all of a time.
            assert!(of_others.expect("others") > others, "the other one has worked");
            assert!(more.expect("own") - own < some, "this one has rested");
        });
    }

    #[test]
    fn this_process_has_a_tree() {
        assert!(of_tree(std::process::id()).is_ok());
    }
}
