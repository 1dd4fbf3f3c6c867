//! Where sessions are: on the loops of their clients' cores, or on as few loops as do their work.
//!
//! To wake a core that rests costs more than a short statement. A session on the core at which its client's packets arrive
//! wakes none, and is not woken from one; so where that is known (of TCP; clients on the same machine, and network cards
//! that spread connections over the cores), sessions follow their clients. They do not where one client has many
//! sessions, or one core takes all packets: then they queue at one loop while a core rests, and it is tried to have
//! them elsewhere, on threads that run where the system puts them.
//!
//! There, sessions on one loop share its wake-ups: one look at the sockets finds several requests, and a thread that has
//! work does not go to sleep between them. A second loop pays where a core would rest otherwise, and costs where the cores
//! are busy already, with the clients' own work for one. So sessions begin on the first loop. Where they queue at it while
//! a whole core rests, another comes into use; where the loops' work would fit into fewer of them twice over, or a loop has
//! been left by all, one goes out of use.
//!
//! Between these nobody can tell but by trying: one loop more is tried where sessions queue, one fewer where no core rests,
//! to follow clients now and then, and what did more work is kept. After each trial that was for nothing the next one
//! waits twice as long. Measured in `docs/design/0005-runtime.md`.

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
/// Where fewer have been, sessions that follow their clients are not better off elsewhere: some of a core's time is
/// always spent in waiting for the disk.
const IDLE_CORES_AWAY: f64 = 0.5;
/// What costs more is kept where it has done so many times as much as before: one loop more, or sessions away from their
/// clients; what costs less where it has done so many times as much.
const MORE_GAIN: f64 = 1.05;
const FEWER_GAIN: f64 = 0.98;
/// A trial that does less than this share of what was done before is over after a window.
const HOPELESS_SHARE: f64 = 0.8;
/// Windows that are compared with as many: one alone differs from the next by a tenth.
const COMPARED: usize = 4;
/// Windows before a trial, after one that was for nothing: the first time, and at most.
const REST_FIRST: u32 = 8;
const REST_MAX: u32 = 128;

/// Where sessions are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Placement {
    /// On the loops of their clients' cores, whose threads run on these cores only; those of whose clients that is not
    /// known are on all loops.
    Followed,
    /// On so many loops, whose threads run where the system puts them.
    Few(usize),
}

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
    /// Whether it was known of any session where its client is, at the last look.
    flows: bool,
    /// Whether the last trial away from few loops was to follow clients: the next is another number of loops.
    followed: bool,
}

/// What was when a window began.
#[derive(Debug)]
struct Begun {
    at: Instant,
    /// Tasks that had been run.
    ran: u64,
    idle: Option<IdleTime>,
}

/// Another placement than before.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Trial {
    /// The one before, and the tasks it ran in a second.
    before: (Placement, f64),
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
            flows: false,
            followed: false,
        }
    }
}

impl Spread {
    /// Begins anew: what was before a rest says nothing about what comes after it.
    pub fn rest(&mut self) {
        *self = Spread::default();
    }

    /// Takes a look into account. At the first, every [`WINDOW`] looks, or where a loop has been left by all: where sessions
    /// shall be that are at `placement`. `flows` says whether it is known of any of them where its client is.
    pub fn look(&mut self, now: &[Look], placement: Placement, flows: bool) -> Option<Placement> {
        let known = std::mem::replace(&mut self.flows, flows);
        match placement {
            Placement::Few(_) if flows && !known => {
                self.begin();
                return Some(Placement::Followed);
            }
            Placement::Followed if !flows => {
                self.begin();
                return Some(Placement::Few(1));
            }
            _ => {}
        }
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
            return match placement {
                Placement::Few(loops)
                    if loops > 1 && self.looks >= PATIENCE && now[loops - 1].connections == 0 =>
                {
                    self.begin();
                    Some(Placement::Few(loops - 1))
                }
                _ => None,
            };
        }
        self.looks = 0;
        let begun = self.begun.take()?;
        let idle = || Some(IdleTime::read()?.cores_since(begun.idle.as_ref()?));
        let rate = (ran - begun.ran) as f64 / begun.at.elapsed().as_secs_f64();
        let seen = std::mem::take(&mut self.seen);
        let idle = idle().unwrap_or(seen.len() as f64);
        Some(self.decide(&Window { seen: &seen, rate, idle }, placement))
    }

    /// What was seen before says nothing about what comes.
    fn begin(&mut self) {
        (self.looks, self.trial) = (0, None);
        self.rates.clear();
    }

    /// Where sessions shall be after a window.
    fn decide(&mut self, window: &Window<'_>, placement: Placement) -> Placement {
        if let Some(trial) = &mut self.trial
            && !trial.settled
        {
            trial.settled = true;
            return placement;
        }
        if self.rates.len() == COMPARED {
            self.rates.remove(0);
        }
        self.rates.push(window.rate);
        let wanted = self.next(window, placement);
        if wanted != placement {
            self.rates.clear();
        }
        wanted
    }

    fn next(&mut self, window: &Window<'_>, placement: Placement) -> Placement {
        let rate = self.rates.iter().sum::<f64>() / self.rates.len() as f64;
        let enough = self.rates.len() == COMPARED;
        if let Some(trial) = self.trial {
            let (before, rate_before) = trial.before;
            // Away from their clients sessions may need more loops than one, and have them before they are compared.
            if before == Placement::Followed
                && let Placement::Few(loops) = placement
                && let (more, true) = window.wanted(loops)
                && more > loops
            {
                self.trial = Some(Trial { settled: false, ..trial });
                return Placement::Few(more);
            }
            if !enough && rate >= HOPELESS_SHARE * rate_before {
                return placement;
            }
            let kept = rate >= placement.gain_over(before) * rate_before;
            self.rest_next = if kept { REST_FIRST } else { (2 * self.rest_next).min(REST_MAX) };
            (self.trial, self.rest) = (None, self.rest_next);
            return if kept { placement } else { before };
        }
        self.rest = self.rest.saturating_sub(1);
        let (wanted, sure) = match placement {
            Placement::Followed if window.starves() => (Placement::Few(window.working()), false),
            Placement::Followed => (placement, true),
            Placement::Few(loops) => {
                let (wanted, sure) = window.wanted(loops);
                (Placement::Few(wanted), sure && wanted != loops)
            }
        };
        if sure {
            return wanted;
        }
        if self.rest > 0 || !enough {
            return placement;
        }
        let follow = placement != Placement::Followed
            && self.flows
            && (!self.followed || wanted == placement);
        self.followed = follow;
        let wanted = if follow { Placement::Followed } else { wanted };
        if wanted != placement {
            self.trial = Some(Trial { before: (placement, rate), settled: false });
        }
        wanted
    }
}

impl Placement {
    /// How many times as much as `before` it has to do for being kept.
    fn gain_over(self, before: Placement) -> f64 {
        match (before, self) {
            (Placement::Few(before), Placement::Few(now)) if now > before => MORE_GAIN,
            (Placement::Followed, Placement::Few(_)) => MORE_GAIN,
            _ => FEWER_GAIN,
        }
    }
}

/// So many looks' share of a window.
fn share(looks: u32) -> f64 {
    f64::from(looks) / f64::from(WINDOW)
}

impl Window<'_> {
    /// How many loops sessions queued at.
    fn crowded(&self) -> usize {
        self.seen.iter().filter(|seen| share(seen.0) >= CROWDED_SHARE).count()
    }

    /// Whether sessions that follow their clients queued while a core had time for them.
    fn starves(&self) -> bool {
        self.crowded() > 0 && self.idle >= IDLE_CORES_AWAY
    }

    /// How many loops the work would have filled, at least one.
    fn working(&self) -> usize {
        let work: f64 = self.seen.iter().map(|seen| share(seen.1)).sum();
        (work.ceil() as usize).max(1)
    }

    /// How many loops should be in use, and whether that is sure, or worth a trial.
    fn wanted(&self, in_use: usize) -> (usize, bool) {
        let crowded = self.crowded();
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
    use super::Placement::{Few, Followed};
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
        match placed(spread, Few(in_use), shares, (rate, idle), false) {
            Few(loops) => loops,
            Followed => panic!("it is not known where clients are"),
        }
    }

    fn placed(
        spread: &mut Spread,
        placement: Placement,
        shares: &[(f64, f64)],
        (rate, idle): (f64, f64),
        flows: bool,
    ) -> Placement {
        let looks = |share: f64| (share * f64::from(WINDOW)) as u32;
        let seen: Vec<_> =
            shares.iter().map(|(queued, ran)| (looks(*queued), looks(*ran))).collect();
        spread.flows = flows;
        spread.decide(&Window { seen: &seen, rate, idle }, placement)
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

    fn look(connections: usize) -> Look {
        Look { turn: 0, steps: 0, ran: 0, runs: false, waits: true, queued: 0, connections }
    }

    #[test]
    fn clients_are_followed_from_the_first_look_as_long_as_it_is_known_where_they_are() {
        let mut spread = Spread::default();
        let looks = [look(1), look(0)];
        assert_eq!(spread.look(&looks, Few(1), false), None);
        assert_eq!(spread.look(&looks, Few(1), true), Some(Followed));
        assert_eq!(spread.look(&looks, Followed, true), None);
        assert_eq!(spread.look(&looks, Followed, false), Some(Few(1)));
        assert_eq!(spread.look(&looks, Few(1), true), Some(Followed), "others have come");
        assert_eq!(spread.look(&looks, Few(2), true), None, "that was decided since");
    }

    /// The placements of so many windows, where a window at each does `rate` of work.
    fn placements(
        windows: u32,
        shares: fn(Placement) -> [(f64, f64); 2],
        work: fn(Placement) -> (f64, f64),
    ) -> Vec<Placement> {
        let mut spread = Spread::default();
        let mut placement = Followed;
        let mut window = |_| {
            placement = placed(&mut spread, placement, &shares(placement), work(placement), true);
            placement
        };
        (0..windows).map(&mut window).collect()
    }

    #[test]
    fn clients_are_followed_where_nobody_queues_or_no_core_rests() {
        let calm = placements(50, |_| [(0.1, 0.9), UNUSED], |_| (1000.0, 1.0));
        assert_eq!(calm, [Followed; 50]);
        let full = placements(50, |_| [BUSY, BUSY], |_| (1000.0, 0.1));
        assert_eq!(full, [Followed; 50]);
    }

    #[test]
    fn one_client_of_many_sessions_is_left_for_a_core_that_rests() {
        let work = |placement| match placement {
            Followed => (1000.0, 1.0),
            Few(_) => (1500.0, 0.1),
        };
        let placements = placements(100, |_| [BUSY, UNUSED], work);
        assert_eq!(placements[..16], [[Followed; 3].as_slice(), &[Few(1); 13]].concat());
        let followed = placements[16..].iter().filter(|&&placement| placement == Followed);
        assert!(followed.count() < 10, "following is tried again, and rarely: {placements:?}");
    }

    #[test]
    fn away_from_clients_loops_come_into_use_before_they_are_compared() {
        let work = |placement| match placement {
            Followed => (1000.0, 1.0),
            Few(1) => (900.0, 1.0),
            Few(_) => (1300.0, 0.5),
        };
        let placements = placements(16, |_| [BUSY, UNUSED], work);
        assert_eq!(placements[3..], [[Few(1); 2].as_slice(), &[Few(2); 11]].concat());
    }

    #[test]
    fn clients_are_followed_again_where_that_does_as_much() {
        let work = |placement| if placement == Followed { (1000.0, 0.5) } else { (700.0, 0.2) };
        let placements = placements(40, |_| [BUSY, UNUSED], work);
        let away = placements.iter().filter(|&&placement| placement != Followed).count();
        assert_eq!(placements.last(), Some(&Followed));
        assert!(away <= 6, "what does much less is over after a window: {placements:?}");
    }

    #[test]
    fn a_loop_that_all_have_left_goes_out_of_use() {
        let mut spread = Spread::default();
        let mut decide = |last: usize| {
            let mut look = |at| Some((at, spread.look(&[look(3), look(last)], Few(2), false)?));
            (1..=WINDOW).find_map(&mut look)
        };
        assert_eq!(decide(0), Some((PATIENCE, Few(1))));
        assert_eq!(
            decide(1),
            Some((WINDOW, Few(1))),
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
