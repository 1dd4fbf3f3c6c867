//! How many loops are in use: as few as do the sessions' work.
//!
//! Sessions on one loop share its wake-ups: one look at the sockets finds several requests, and a thread that has work
//! does not go to sleep between them. A second loop pays where a core would rest otherwise, and costs where the cores are
//! busy already, with the clients' own work for one. Measured in `docs/design/0005-runtime.md`.
//!
//! So sessions begin on the first loop. Where they queue at it while a whole core rests, another comes into use; where
//! the loops' work would fit into fewer of them twice over, or a loop has been left by all, one goes out of use. Between
//! the two nobody can tell but by trying: one more is tried where sessions queue, one fewer where no core rests, and what
//! did more work is kept. After each trial that was for nothing the next one waits twice as long.

use super::event_loop::Look;
use std::time::Instant;

/// Looks at the loops between two decisions.
const WINDOW: u32 = 100;
/// A loop that has no connection so many looks after the last decision goes out of use at once.
const PATIENCE: u32 = 25;
/// Sessions queue at a loop if they did at this share of the looks.
const CROWDED_SHARE: f64 = 0.4;
/// A loop goes out of use where the work would fill at most this share of those that stay.
const FILLED_SHARE: f64 = 0.5;
/// Where fewer cores have been idle, on average over a window, none has time for another loop.
const IDLE_CORES_MIN: f64 = 0.2;
/// One loop more is kept where it has done so many times as much as before; one fewer where it has done so many times as
/// much.
const MORE_GAIN: f64 = 1.05;
const FEWER_GAIN: f64 = 0.98;
/// Windows that are compared with as many: one alone differs from the next by a tenth.
const COMPARED: usize = 4;
/// Windows before a trial, after one that was for nothing: the first time, and at most.
const REST_FIRST: u32 = 8;
const REST_MAX: u32 = 128;

/// What has been seen of the loops, and what is being tried.
#[derive(Debug)]
pub(super) struct Spread {
    looks: u32,
    begun: Option<Begun>,
    /// At how many looks of the window tasks queued, and one was run, of each loop.
    seen: Vec<(u32, u32)>,
    /// Tasks run in a second, of the last windows, [`COMPARED`] at most, since the number of loops was changed.
    rates: Vec<f64>,
    trial: Option<Trial>,
    /// Windows until the next trial, and after the next that is for nothing.
    rest: u32,
    rest_next: u32,
}

/// What was when a window began.
#[derive(Debug)]
struct Begun {
    at: Instant,
    /// Tasks that had been run.
    ran: u64,
    idle: Option<IdleTime>,
}

/// Another number of loops than before.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Trial {
    /// The number before, and the tasks it ran in a second.
    before: (usize, f64),
    /// Whether a window has passed in which connections moved.
    settled: bool,
}

/// A window's result.
#[derive(Debug)]
struct Window<'w> {
    /// As [`Spread::seen`].
    seen: &'w [(u32, u32)],
    /// Tasks run in a second.
    rate: f64,
    /// Cores that were idle. A system that does not tell is taken to have had enough of them.
    idle: f64,
}

impl Default for Spread {
    fn default() -> Spread {
        Spread {
            looks: 0,
            begun: None,
            seen: Vec::new(),
            rates: Vec::new(),
            trial: None,
            rest: 0,
            rest_next: REST_FIRST,
        }
    }
}

impl Spread {
    /// Begins anew: what was before a rest says nothing about what comes after it.
    pub fn rest(&mut self) {
        *self = Spread::default();
    }

    /// Takes a look into account. Every [`WINDOW`] looks, or where a loop has been left by all: how many loops shall be in
    /// use, of which `in_use` are.
    pub fn look(&mut self, now: &[Look], in_use: usize) -> Option<usize> {
        let ran = now.iter().map(|look| look.ran).sum();
        if self.looks == 0 {
            self.begun = Some(Begun { at: Instant::now(), ran, idle: IdleTime::read() });
            self.seen = vec![(0, 0); now.len()];
        }
        self.looks += 1;
        for ((queued, ran), look) in self.seen.iter_mut().zip(now) {
            *queued += u32::from(look.queued > 0);
            *ran += u32::from(look.runs);
        }
        if self.looks < WINDOW {
            let left = in_use > 1 && self.looks >= PATIENCE && now[in_use - 1].connections == 0;
            return left.then(|| {
                (self.looks, self.trial) = (0, None);
                self.rates.clear();
                in_use - 1
            });
        }
        self.looks = 0;
        let begun = self.begun.take()?;
        let idle = || Some(IdleTime::read()?.cores_since(begun.idle.as_ref()?));
        let rate = (ran - begun.ran) as f64 / begun.at.elapsed().as_secs_f64();
        let seen = std::mem::take(&mut self.seen);
        let idle = idle().unwrap_or(seen.len() as f64);
        Some(self.decide(&Window { seen: &seen, rate, idle }, in_use))
    }

    /// How many loops shall be in use after a window.
    fn decide(&mut self, window: &Window<'_>, in_use: usize) -> usize {
        if let Some(trial) = &mut self.trial
            && !trial.settled
        {
            trial.settled = true;
            return in_use;
        }
        if self.rates.len() == COMPARED {
            self.rates.remove(0);
        }
        self.rates.push(window.rate);
        let wanted = self.next(window, in_use);
        if wanted != in_use {
            self.rates.clear();
        }
        wanted
    }

    fn next(&mut self, window: &Window<'_>, in_use: usize) -> usize {
        let rate = self.rates.iter().sum::<f64>() / self.rates.len() as f64;
        let enough = self.rates.len() == COMPARED;
        match self.trial {
            Some(_) if !enough => in_use,
            Some(Trial { before: (before, rate_before), .. }) => {
                let gain = if in_use > before { MORE_GAIN } else { FEWER_GAIN };
                let kept = if rate >= gain * rate_before { in_use } else { before };
                self.rest_next =
                    if kept == in_use { REST_FIRST } else { (2 * self.rest_next).min(REST_MAX) };
                (self.trial, self.rest) = (None, self.rest_next);
                kept
            }
            None => {
                self.rest = self.rest.saturating_sub(1);
                let (wanted, sure) = window.wanted(in_use);
                if sure || wanted == in_use {
                    return wanted;
                }
                if self.rest > 0 || !enough {
                    return in_use;
                }
                self.trial = Some(Trial { before: (in_use, rate), settled: false });
                wanted
            }
        }
    }
}

impl Window<'_> {
    /// How many loops should be in use, and whether that is sure, or worth a trial.
    fn wanted(&self, in_use: usize) -> (usize, bool) {
        let share = |looks: u32| f64::from(looks) / f64::from(WINDOW);
        let crowded = self.seen.iter().filter(|seen| share(seen.0) >= CROWDED_SHARE).count();
        let work: f64 = self.seen.iter().map(|seen| share(seen.1)).sum();
        if crowded > 0 && in_use < self.seen.len() {
            return match self.idle {
                idle if idle >= 1.0 => {
                    ((in_use + crowded.min(idle as usize)).min(self.seen.len()), true)
                }
                idle if idle >= IDLE_CORES_MIN => (in_use + 1, false),
                _ if in_use > 1 => (in_use - 1, false),
                _ => (in_use, true),
            };
        }
        if in_use > 1 && crowded == 0 && work <= FILLED_SHARE * (in_use - 1) as f64 {
            return (in_use - 1, true);
        }
        if in_use > 1 && self.idle < 1.0 { (in_use - 1, false) } else { (in_use, true) }
    }
}

/// How long the system's cores have been idle since it started, in its own ticks.
#[derive(Debug)]
struct IdleTime {
    idle: u64,
    all: u64,
    cores: usize,
}

impl IdleTime {
    /// From `/proc/stat`; none where there is no such thing.
    fn read() -> Option<IdleTime> {
        IdleTime::parse(&std::fs::read_to_string("/proc/stat").ok()?)
    }

    fn parse(text: &str) -> Option<IdleTime> {
        let mut lines = text.lines();
        let total = lines.next()?.strip_prefix("cpu ")?;
        // user, nice, system, idle, iowait, irq, softirq, steal; what guests take is part of the first two.
        let spans: Vec<u64> =
            total.split_ascii_whitespace().take(8).map_while(|span| span.parse().ok()).collect();
        let idle = spans.get(3)? + spans.get(4)?;
        let cores = lines.take_while(|line| line.starts_with("cpu")).count();
        Some(IdleTime { idle, all: spans.iter().sum(), cores })
    }

    /// How many cores were idle between the two, on average.
    fn cores_since(&self, before: &IdleTime) -> f64 {
        let idle = self.idle.saturating_sub(before.idle);
        let all = self.all.saturating_sub(before.all);
        idle as f64 / all.max(1) as f64 * self.cores as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BUSY: (f64, f64) = (0.9, 1.0);
    const UNUSED: (f64, f64) = (0.0, 0.0);

    /// How many are in use after a window that saw loops queue and run at these shares of its looks.
    fn after(
        spread: &mut Spread,
        in_use: usize,
        shares: &[(f64, f64)],
        (rate, idle): (f64, f64),
    ) -> usize {
        let looks = |share: f64| (share * f64::from(WINDOW)) as u32;
        let seen: Vec<_> =
            shares.iter().map(|(queued, ran)| (looks(*queued), looks(*ran))).collect();
        spread.decide(&Window { seen: &seen, rate, idle }, in_use)
    }

    fn first(in_use: usize, shares: &[(f64, f64)], idle: f64) -> usize {
        after(&mut Spread::default(), in_use, shares, (1000.0, idle))
    }

    #[test]
    fn each_crowded_loop_gets_another_where_cores_rest() {
        assert_eq!(first(1, &[BUSY, UNUSED], 1.0), 2);
        assert_eq!(first(1, &[BUSY, UNUSED], 0.0), 1, "the cores are busy");
        assert_eq!(first(1, &[(0.1, 0.9), UNUSED], 1.0), 1, "nobody queues");
        assert_eq!(first(2, &[BUSY, BUSY], 1.0), 2, "there are no more");
        let many = [BUSY, BUSY, BUSY, UNUSED, UNUSED, UNUSED];
        assert_eq!(first(3, &many, 6.0), 6);
        assert_eq!(first(3, &many, 2.3), 5);
        assert_eq!(first(3, &many, 0.5), 3, "more would have to be tried");
    }

    #[test]
    fn a_loop_goes_out_of_use_where_little_is_left_to_do() {
        assert_eq!(first(2, &[(0.0, 0.2), (0.0, 0.2)], 1.5), 1);
        assert_eq!(first(2, &[(0.1, 0.4), (0.0, 0.4)], 1.0), 2);
        assert_eq!(first(1, &[UNUSED, UNUSED], 2.0), 1);
    }

    /// The numbers of loops after as many windows as a trial takes: those that are compared, one in which connections
    /// move, and those that are compared with.
    fn try_out(in_use: usize, loops: &[(f64, f64)], idle: f64, rate: f64) -> (usize, usize) {
        let mut spread = Spread::default();
        let mut tried = in_use;
        for _ in 0..COMPARED {
            assert_eq!(tried, in_use, "too little has been seen");
            tried = after(&mut spread, in_use, loops, (1000.0, idle));
        }
        let mut kept = after(&mut spread, tried, loops, (1.0, idle));
        for _ in 0..COMPARED {
            assert_eq!(kept, tried, "the trial is not over");
            kept = after(&mut spread, tried, loops, (rate, idle));
        }
        (tried, kept)
    }

    #[test]
    fn a_loop_more_is_tried_and_kept_where_it_does_more() {
        assert_eq!(try_out(1, &[BUSY, UNUSED], 0.4, 1200.0), (2, 2));
        assert_eq!(try_out(1, &[BUSY, UNUSED], 0.4, 1010.0), (2, 1));
    }

    #[test]
    fn a_loop_fewer_is_tried_and_kept_where_it_does_as_much() {
        assert_eq!(try_out(2, &[BUSY, BUSY], 0.1, 1000.0), (1, 1));
        assert_eq!(try_out(2, &[BUSY, BUSY], 0.1, 900.0), (1, 2));
    }

    #[test]
    fn trials_that_are_for_nothing_become_rare() {
        let mut spread = Spread::default();
        let mut in_use = 1;
        let mut tried = Vec::new();
        for window in 0..200 {
            let wanted = after(&mut spread, in_use, &[BUSY, UNUSED], (1000.0, 0.4));
            if wanted > in_use {
                tried.push(window);
            }
            in_use = wanted;
        }
        assert_eq!(tried, [3, 24, 61, 130]);
    }

    #[test]
    fn a_loop_that_all_have_left_goes_out_of_use() {
        let look = |connections| Look {
            turn: 0,
            steps: 0,
            ran: 0,
            runs: false,
            waits: true,
            queued: 0,
            connections,
        };
        let mut spread = Spread::default();
        let mut decide = |last: usize| {
            (0..WINDOW).find_map(|at| Some((at + 1, spread.look(&[look(3), look(last)], 2)?)))
        };
        assert_eq!(decide(0), Some((PATIENCE, 1)));
        assert_eq!(
            decide(1),
            Some((WINDOW, 1)),
            "that there is nothing to do takes a window to tell"
        );
    }

    #[test]
    fn idle_time_is_the_systems() {
        let at = |idle, user| {
            let text = format!("cpu  {user} 0 0 {idle} 0 0 0 0 0 0\ncpu0 1 2\ncpu1 1 2\nintr 1\n");
            IdleTime::parse(&text).unwrap()
        };
        let cores = at(130, 1010).cores_since(&at(100, 1000));
        assert!((cores - 1.5).abs() < 1e-9, "{cores}");
        assert!(IdleTime::parse("nothing of the kind").is_none());
    }
}
