//! The simulation: a queue of events in time, each of which is a core that takes its next step. The same setup and seed give the same
//! outcome to the last bit.
//!
//! A core runs transactions as the threads of [`crate::ycsb::run`] do: one that is aborted is run again once a random part of
//! the penalty has passed, and others meanwhile. A step is the beginning, an access, the claim of the commit, or the end. When its
//! event comes, its lines are taken, its scheme decides, and what it costs says when the next one is due.
//!
//! Which lines more than one core changes is the one thing that is chosen ([`Latches`]). With a latch for each key, what holds cores up is
//! the scheme itself, which is what the paper wants to see; as in the engine, locks of keys stand in some shards of their tree, and under one latch
//! while somebody waits there, and that is what would hold 1,024 cores up first.
//!
//! What is done under a latch is part of what was measured, on a core that had the latch to itself: only what it waits for the latch is added.
//! CPU is what cores were not at rest, what it takes to rest and to go on, and what other threads do behind writes.
//!
//! Differences from the engine. What is done under a latch is decided when its core comes to the latch, in that order, and not when
//! it has it. A deadlock is looked for once and not twice. Nobody is descheduled; pages do not split, and are all in memory.

use super::costs::{Costs, Part};
use super::machine::{Cycles, Lines, Machine, Place};
use super::schemes::{Answer, Decider};
use super::workload::{Access, Workload};
use crate::tpcc::random::Random;
use crate::ycsb::run::{Outcome, WAITING};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::time::Duration;
use storage::breakdown::{Breakdown, Class};
use txn::decisions::OnConflict;
use txn::timestamps::BATCH;
use txn::{Abort, Micros, SchemeKind, Timestamp, TimestampAllocator, Timestamps};

/// Cycles of a look at the clock.
const CLOCK: Cycles = 30;
/// Cycles between two timestamps of a core that does nothing else.
const TURN: Cycles = 10;
/// Latches of a tree's keys, as many as there are in `txn/src/lock/range_shards.rs`.
const SHARDS: u64 = 32;
/// Steps for each commit that is wanted, past which a run ends without them.
const STEPS: u64 = 400;
/// What read timestamps of a tree may occupy, as the options have it where nothing is said.
const STAMPS_BYTES_MAX: usize = 1 << 20;

/// Which lines cores take from each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Latches {
    /// A latch for each key; a timestamp is taken where the scheme needs one.
    OfKeys,
    /// The engine's own.
    OfTrees,
}

/// What is simulated.
#[derive(Clone, Debug)]
pub struct Setup<'s> {
    /// On what.
    pub machine: Machine,
    /// Under which scheme.
    pub scheme: SchemeKind,
    /// Its transactions.
    pub workload: &'s Workload,
    /// What their parts cost.
    pub costs: &'s Costs,
    /// Which lines are shared.
    pub latches: Latches,
    /// How timestamps are handed out.
    pub allocator: TimestampAllocator,
    /// Whether deadlocks are looked for.
    pub detects: bool,
    /// Microseconds until an aborted transaction is run again, at most.
    pub penalty: f64,
    /// Milliseconds that a wait for a row lasts before a cycle is looked for.
    pub deadlock_timeout: f64,
    /// Microseconds that a wait for a row lasts before its transaction is aborted, if there is such a limit.
    pub lock_timeout: Option<f64>,
    /// Commits that are counted.
    pub commits: u64,
    /// Commits before anything is counted.
    pub warm_up: u64,
    /// Of all chance.
    pub seed: u64,
}

/// What came of it.
#[derive(Clone, Debug, Default)]
pub struct Simulated {
    /// As of a real run; its CPU is what cores were not at rest.
    pub outcome: Outcome,
    /// Attempts that were begun, from the first event on.
    pub begun: u64,
    /// Those of them that ended.
    pub ended: u64,
    /// Those that were under way when enough had been committed.
    pub running: u64,
}

/// What a core does next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    Begin,
    Access(usize),
    Claim,
    /// It lets go of its locks for so long, and has ended.
    End(Option<Abort>, Cycles),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Step,
    /// The wait with this number has lasted long.
    Long(u64),
    /// It has lasted too long.
    TooLong(u64),
}

struct Aborted {
    accesses: Vec<Access>,
    start: Cycles,
    again: Cycles,
}

struct Core {
    step: Step,
    accesses: Vec<Access>,
    start: Cycles,
    /// Where the time of this attempt has gone.
    spent: Breakdown,
    /// Since when it waits, and whether it has been woken.
    waits: Option<(Cycles, bool)>,
    waited: u64,
    aborted: Vec<Aborted>,
    random: Random,
    serial: u32,
    last_number: u64,
}

struct Simulation<'s> {
    setup: &'s Setup<'s>,
    cores: Vec<Core>,
    events: BinaryHeap<Reverse<(Cycles, u64, usize, Kind)>>,
    sequence: u64,
    lines: Lines,
    decider: Decider,
    timestamps: Timestamps,
    result: Simulated,
    /// When counting began.
    since: Cycles,
    busy: Cycles,
    latencies: Vec<Cycles>,
}

/// Simulates until enough has been committed.
#[must_use]
pub fn run(setup: &Setup<'_>) -> Simulated {
    let count = setup.machine.cores;
    let by_key = setup.latches == Latches::OfKeys;
    let cores = (0..count).map(|core| Core {
        step: Step::Begin,
        accesses: Vec::new(),
        start: 0,
        spent: Breakdown::default(),
        waits: None,
        waited: 0,
        aborted: Vec::new(),
        random: Random::new(setup.seed << 16 | core as u64),
        serial: 0,
        last_number: 0,
    });
    let simulation = Simulation {
        setup,
        cores: cores.collect(),
        events: BinaryHeap::new(),
        sequence: 0,
        lines: Lines::default(),
        decider: Decider::new(setup.scheme, count, by_key, STAMPS_BYTES_MAX),
        timestamps: Timestamps::new(setup.allocator, count),
        result: Simulated::default(),
        since: 0,
        busy: 0,
        latencies: Vec::new(),
    };
    simulation.run()
}

impl Simulation<'_> {
    fn run(mut self) -> Simulated {
        (0..self.cores.len()).for_each(|core| self.at(core as u64, core, Kind::Step));
        let Setup { commits: wanted, warm_up, .. } = *self.setup;
        let (mut now, mut warm, mut steps) = (0, warm_up == 0, 0);
        while let Some(Reverse((at, _, core, kind))) = self.events.pop() {
            (now, steps) = (at, steps + 1);
            self.event(core, now, kind);
            if !warm && self.result.outcome.committed >= warm_up {
                warm = true;
                self.result.outcome = Outcome::default();
                self.latencies.clear();
                (self.since, self.busy) = (now, 0);
            }
            if warm && self.result.outcome.committed >= wanted || steps > STEPS * (wanted + warm_up)
            {
                break;
            }
        }
        let machine = &self.setup.machine;
        let mut result = self.result;
        let under_way = |core: &&Core| core.step != Step::Begin;
        result.running = self.cores.iter().filter(under_way).count() as u64;
        let elapsed = machine.seconds((now - self.since).max(1));
        result.outcome.elapsed = Duration::from_secs_f64(elapsed);
        result.outcome.cpu_seconds = machine.seconds(self.busy);
        let tenths = self.latencies.iter().map(|cycles| machine.seconds(*cycles) * 1e7);
        result.outcome.tenths = tenths.map(|tenths| tenths as u32).collect();
        result.outcome.tenths.sort_unstable();
        result
    }

    fn at(&mut self, time: Cycles, core: usize, kind: Kind) {
        self.sequence += 1;
        self.events.push(Reverse((time, self.sequence, core, kind)));
    }

    fn next(&mut self, core: usize, time: Cycles, step: Step) {
        self.cores[core].step = step;
        self.at(time, core, Kind::Step);
    }

    /// Charges a core for a time.
    fn spend(&mut self, core: usize, class: Class, cycles: Cycles) {
        self.cores[core].spent.add(class, cycles);
    }

    /// Charges a core for a part, `times`; how long that takes.
    fn part(&mut self, core: usize, part: Part, times: usize) -> Cycles {
        let cost = self.setup.costs.of(self.setup.scheme, part);
        (0..times).for_each(|_| self.cores[core].spent.add_all(&cost));
        cost.total() * times as Cycles
    }

    fn change(&mut self, core: usize, place: Place, now: Cycles, class: Class) -> Cycles {
        let done = self.lines.change(&self.setup.machine, place, core, now);
        self.spend(core, class, done - now);
        done
    }

    /// A core takes a latch which it has for a while that is part of what is measured, and for `more`; when it has it, and when it has done
    /// what is more.
    fn latch(
        &mut self,
        core: usize,
        place: Place,
        now: Cycles,
        (hold, more): (Cycles, Cycles),
    ) -> Cycles {
        let Setup { machine, costs, .. } = self.setup;
        // What one latch guards for all is with whoever had it last; a key's lock is in the line itself.
        let apart = if matches!(place, Place::Key(_)) { 0 } else { costs.bare.apart };
        let done = self.lines.latch(machine, place, core, (now, hold + more, apart)) - hold;
        self.spend(core, Class::Latching, done - now);
        done
    }

    /// Under which latch the lock of a key stands, and what it takes to ask all who wait there.
    fn place_of(&self, key: u64) -> (Place, Cycles) {
        let Setup { scheme, latches, costs, .. } = self.setup;
        match (latches, scheme, self.decider.waiting()) {
            (Latches::OfKeys, ..) | (_, SchemeKind::Mvcc | SchemeKind::Occ, _) => {
                (Place::Key(key), 0)
            }
            (Latches::OfTrees, _, 0) => (Place::Shard(key % SHARDS), 0),
            (Latches::OfTrees, _, waiting) => {
                (Place::Tree, waiting as Cycles * costs.bare.decision)
            }
        }
    }

    fn event(&mut self, core: usize, now: Cycles, kind: Kind) {
        if let Kind::Long(number) | Kind::TooLong(number) = kind {
            let one = &self.cores[core];
            if one.waited == number && matches!(one.waits, Some((_, false))) {
                match kind {
                    Kind::TooLong(_) => self.give_up(core, now),
                    _ => self.look_for_cycle(core, now),
                }
            }
            return;
        }
        match self.cores[core].step {
            Step::Begin => self.begin(core, now),
            Step::Access(at) if at < self.cores[core].accesses.len() => self.access(core, at, now),
            Step::Access(_) => self.commit(core, now),
            Step::Claim => self.claim(core, now),
            Step::End(abort, holding) => self.end(core, (abort, holding), now),
        }
    }

    fn begin(&mut self, core: usize, now: Cycles) {
        let Setup { workload, latches, scheme, machine, .. } = self.setup;
        let one = &mut self.cores[core];
        let due = one.aborted.iter().position(|aborted| aborted.again <= now);
        if let Some(at) = due {
            let Aborted { accesses, start, .. } = one.aborted.remove(at);
            (one.accesses, one.start) = (accesses, start);
        } else if one.aborted.len() < WAITING {
            one.serial += 1;
            (one.accesses, one.start) = (workload.draw(core, one.serial, &mut one.random), now);
        } else {
            let again = one.aborted.iter().map(|aborted| aborted.again).min().unwrap_or(now);
            // It looks at the clock until then.
            self.busy += again - now;
            return self.at(again, core, Kind::Step);
        }
        one.spent = Breakdown::default();
        self.result.begun += 1;
        let micros = Micros((machine.seconds(now) * 1e6) as u64);
        let number = self.decider.begin(core, &self.timestamps, micros);
        let mut time = now;
        let needs_none = |on_conflict| on_conflict != OnConflict::WaitDie;
        let by_need = *latches == Latches::OfKeys;
        match (scheme, number) {
            (SchemeKind::Locking(on_conflict), Some(_)) if by_need && needs_none(*on_conflict) => {}
            (_, Some(number)) => time = self.take_timestamp(core, number, time),
            (_, None) => {
                let seen = self.lines.look(machine, Place::Watermark, core, time);
                self.spend(core, Class::Timestamp, seen - time);
                time = seen;
            }
        }
        if *latches == Latches::OfTrees && matches!(scheme, SchemeKind::Timestamp(_)) {
            let hold = self.setup.costs.hold(*scheme, Part::Begin, 1);
            time = self.latch(core, Place::Order, time, (hold, 0));
        }
        time += self.part(core, Part::Begin, 1);
        self.next(core, time, Step::Access(0));
    }

    /// What it takes to be handed a timestamp, beside what it is measured to cost alone.
    fn take_timestamp(&mut self, core: usize, number: u64, now: Cycles) -> Cycles {
        let last = std::mem::replace(&mut self.cores[core].last_number, number);
        let Setup { machine, allocator, .. } = self.setup;
        let done = handed_out((machine, *allocator), &mut self.lines, core, (last, number), now);
        self.spend(core, Class::Timestamp, done - now);
        done
    }

    /// Takes the lines that an access changes before it is decided; when it has the last one, and for how long it has it.
    fn take_lines(&mut self, core: usize, access: Access, now: Cycles) -> (Cycles, Cycles) {
        let Setup { scheme, latches, machine, costs, .. } = self.setup;
        let reads_freely = !access.writes && matches!(scheme, SchemeKind::Mvcc | SchemeKind::Occ);
        let near = now + machine.fetch(access.key, core);
        self.spend(core, Class::Index, near - now);
        let part = if access.writes { Part::Write } else { Part::Read };
        let hold = |latches| costs.hold(*scheme, part, latches);
        match (scheme, latches) {
            _ if reads_freely => (near, 0),
            (SchemeKind::Hstore, _) => (near, hold(1)),
            (SchemeKind::Mvcc | SchemeKind::Occ, _) | (_, Latches::OfKeys) => {
                (self.latch(core, Place::Key(access.key), near, (hold(1), 0)), hold(1))
            }
            (SchemeKind::Timestamp(_), Latches::OfTrees) => {
                let stamped = self.latch(core, Place::Stamps, near, (hold(2), 0));
                let (place, asking) = self.place_of(access.key);
                (self.latch(core, place, stamped, (hold(2), asking)), hold(2))
            }
            (SchemeKind::Locking(_), Latches::OfTrees) => {
                let (place, asking) = self.place_of(access.key);
                (self.latch(core, place, near, (hold(1), asking)), hold(1))
            }
        }
    }

    fn access(&mut self, core: usize, at: usize, now: Cycles) {
        let access = self.cores[core].accesses[at];
        let (mut woken, mut time) = (Vec::new(), now);
        let mut hold = 0;
        let answer = match self.cores[core].waits.take() {
            Some((since, _)) => {
                self.spend(core, Class::Wait, now - since);
                self.decider.resume(core, &access)
            }
            None => {
                (time, hold) = self.take_lines(core, access, now);
                self.decider.access(core, &access, &mut woken)
            }
        };
        time = self.wake(&woken, core, time);
        if matches!(answer, Answer::Abort(_)) {
            // Who is not let go on has asked all the same.
            self.spend(core, Class::Locking, hold);
            time += hold;
        }
        match answer {
            Answer::Go(passed) => {
                let Setup { costs, machine, .. } = self.setup;
                let farther = costs.bare.decision + machine.fetch(access.key + 1, core);
                let passing = passed as Cycles * farther;
                self.spend(core, Class::Locking, passing);
                let part = if access.writes { Part::Write } else { Part::Read };
                time += passing + self.part(core, part, 1);
                self.next(core, time, Step::Access(at + 1));
            }
            Answer::Wait => {
                let one = &mut self.cores[core];
                one.waited += 1;
                one.waits = Some((time, false));
                let number = one.waited;
                if self.setup.latches == Latches::OfTrees {
                    self.busy += self.setup.costs.bare.resting;
                }
                if let Some(timeout) = self.setup.lock_timeout {
                    let timeout = self.setup.machine.micros(timeout);
                    self.at(time + timeout, core, Kind::TooLong(number));
                }
                match self.setup.scheme {
                    SchemeKind::Locking(OnConflict::Detect) | SchemeKind::Occ => {
                        self.look_for_cycle(core, time);
                    }
                    SchemeKind::Mvcc => {
                        let timeout = self.setup.machine.micros(self.setup.deadlock_timeout * 1e3);
                        self.at(time + timeout, core, Kind::Long(number));
                    }
                    _ => {}
                }
            }
            Answer::Abort(reason) => self.undo(core, time, reason),
        }
    }

    /// A core that waits looks for a cycle that it is in.
    fn look_for_cycle(&mut self, core: usize, now: Cycles) {
        let Setup { detects, latches, costs, machine, .. } = self.setup;
        if !detects {
            return;
        }
        let (found, seen) = self.decider.is_deadlock(core);
        let far = machine.transfer(0, machine.cores - 1) / 2;
        let looking = seen as Cycles * (costs.bare.decision + far);
        let done = match latches {
            Latches::OfKeys => now + looking,
            Latches::OfTrees => {
                self.lines.latch(machine, Place::Detecting, core, (now, looking, 0))
            }
        };
        if !found {
            self.busy += done - now;
        } else {
            let since = self.cores[core].waits.take().map_or(now, |(since, _)| since);
            self.spend(core, Class::Wait, now - since);
            self.spend(core, Class::Locking, done - now);
            self.undo(core, done, Abort::Deadlock);
        }
    }

    /// A core waits no longer.
    fn give_up(&mut self, core: usize, now: Cycles) {
        self.decider.give_up(core);
        let since = self.cores[core].waits.take().map_or(now, |(since, _)| since);
        self.spend(core, Class::Wait, now - since);
        self.undo(core, now, Abort::LockBusy);
    }

    /// For how long a core's locks are let go of.
    fn letting_go(&self, core: usize) -> Cycles {
        let Setup { scheme, costs, .. } = self.setup;
        let each = |access: &Access| {
            let part = if access.writes { Part::EndWrite } else { Part::EndRead };
            costs.hold(*scheme, part, 1)
        };
        self.done(core).iter().map(each).sum()
    }

    /// For how long the order of timestamps is told of an end, where there is one for all.
    fn leaving_order(&self) -> Cycles {
        let Setup { scheme, latches, costs, .. } = self.setup;
        match (latches, scheme) {
            (Latches::OfTrees, SchemeKind::Timestamp(_)) => costs.hold(*scheme, Part::EndReader, 1),
            _ => 0,
        }
    }

    /// The accesses of a core that have been granted.
    fn done(&self, core: usize) -> &[Access] {
        let one = &self.cores[core];
        match one.step {
            Step::Access(at) => &one.accesses[..at],
            _ => &one.accesses,
        }
    }

    /// How many of a core's accesses are reads, and writes.
    fn counts(&self, core: usize) -> [usize; 2] {
        let done = self.done(core);
        let reads = done.iter().filter(|access| !access.writes).count();
        [reads, done.len() - reads]
    }

    fn commit(&mut self, core: usize, now: Cycles) {
        let [reads, writes] = self.counts(core);
        let mut time = now;
        if writes > 0 {
            time = self.change(core, Place::LogTail, time, Class::Logging);
            self.cores[core].step = Step::Claim;
            return self.at(time, core, Kind::Step);
        }
        time += self.part(core, Part::EndReader, 1) + self.part(core, Part::EndRead, reads);
        self.let_go(core, now, time, None);
    }

    /// A core's transaction, whose end has begun, will have ended at `end`: the last that it does is to let go of its locks and to leave the
    /// order.
    fn let_go(&mut self, core: usize, begun: Cycles, end: Cycles, abort: Option<Abort>) {
        let holding = (self.letting_go(core) + self.leaving_order()).min(end - begun);
        self.next(core, end - holding, Step::End(abort, holding));
    }

    /// A core's transaction is undone.
    fn undo(&mut self, core: usize, now: Cycles, reason: Abort) {
        let [reads, writes] = self.counts(core);
        let mut time = now + self.part(core, Part::Undo, 1);
        time += self.part(core, Part::UndoRead, reads) + self.part(core, Part::UndoWrite, writes);
        self.let_go(core, now, time, Some(reason));
    }

    fn claim(&mut self, core: usize, now: Cycles) {
        let Setup { scheme, machine, costs, .. } = self.setup;
        let [reads, writes] = self.counts(core);
        let mut time = now;
        if *scheme == SchemeKind::Occ {
            // The slots of all who are committing: each is another core's line, and what it writes another's.
            let far = machine.transfer(0, machine.cores - 1) / 2;
            let looked = self.decider.claimed() as Cycles * (far + costs.bare.decision);
            self.spend(core, Class::Locking, looked);
            time += looked;
        }
        if let Err(reason) = self.decider.claim(core) {
            return self.undo(core, time, reason);
        }
        let claimed = time;
        time += self.part(core, Part::EndRead, reads);
        time += self.part(core, Part::EndWriter, 1) + self.part(core, Part::EndWrite, writes);
        time = self.change(core, Place::Watermark, time, Class::Timestamp);
        self.busy += costs.of(*scheme, Part::Behind).total() * writes as Cycles;
        self.let_go(core, claimed, time, None);
    }

    /// A core's transaction ends once it has let go of its locks and left the order, which takes it `holding` together.
    fn end(&mut self, core: usize, (abort, holding): (Option<Abort>, Cycles), now: Cycles) {
        let (mut time, mut woken) = (now, Vec::new());
        let held = self.decider.held(core).to_vec();
        let leaving = self.leaving_order().min(holding);
        let unlocking = holding - leaving;
        let each = unlocking / held.len().max(1) as Cycles;
        if held.is_empty() {
            time += unlocking;
        }
        for (at, key) in held.into_iter().enumerate() {
            let (place, asking) = self.place_of(key);
            // Those who wait are asked once, when all is let go of.
            let asking = if at == 0 { asking } else { 0 };
            time = self.latch(core, place, time, (each, asking)) + each;
        }
        if leaving > 0 {
            time = self.latch(core, Place::Order, time, (leaving, 0)) + leaving;
        }
        self.decider.end(core, abort.is_none(), &mut woken);
        time = self.wake(&woken, core, time);
        self.ended(core, abort, time);
        self.next(core, time, Step::Begin);
    }

    /// Those who waited go on; when who wakes them does.
    fn wake(&mut self, woken: &[usize], by: usize, now: Cycles) -> Cycles {
        let Setup { machine, latches, costs, .. } = self.setup;
        let sleeps = *latches == Latches::OfTrees;
        let [rest, each] =
            [costs.bare.wake, costs.bare.waking].map(|cost| if sleeps { cost } else { 0 });
        let mut time = now;
        for &core in woken {
            if let Some((_, woken @ false)) = &mut self.cores[core].waits {
                *woken = true;
                self.at(time + machine.transfer(by, core) + rest, core, Kind::Step);
                self.spend(by, Class::Locking, each);
                time += each;
            }
        }
        time
    }

    /// Counts an attempt.
    fn ended(&mut self, core: usize, abort: Option<Abort>, now: Cycles) {
        let penalty = self.setup.machine.micros(self.setup.penalty);
        let one = &mut self.cores[core];
        let (spent, waited) = (one.spent, one.spent.of(Class::Wait));
        self.busy += spent.total() - waited;
        self.result.ended += 1;
        let outcome = &mut self.result.outcome;
        match abort {
            None => {
                outcome.committed += 1;
                outcome.breakdown.add_all(&spent);
                self.latencies.push(now - one.start);
            }
            Some(reason) => {
                *outcome.aborts.entry(reason.name()).or_default() += 1;
                outcome.breakdown.add(Class::Abort, spent.total() - waited);
                outcome.breakdown.add(Class::Wait, waited);
                let share = f64::from(one.random.uniform(0, 1 << 20)) / f64::from(1 << 20);
                let again = now + (penalty as f64 * share) as Cycles;
                let accesses = std::mem::take(&mut one.accesses);
                one.aborted.push(Aborted { accesses, start: one.start, again });
            }
        }
    }
}

/// When a core has the timestamp `number`, after `last`.
fn handed_out(
    (machine, allocator): (&Machine, TimestampAllocator),
    lines: &mut Lines,
    core: usize,
    (last, number): (u64, u64),
    now: Cycles,
) -> Cycles {
    match allocator {
        TimestampAllocator::Atomic => lines.change(machine, Place::Counter, core, now),
        TimestampAllocator::Mutex => {
            // The number lies on a line of its own, and has to come from where the latch does.
            let hold = machine.transfer(0, machine.cores - 1) / 2;
            lines.latch(machine, Place::Counter, core, (now, hold, 0))
        }
        TimestampAllocator::Batched if last != 0 && number / BATCH == last / BATCH => now,
        TimestampAllocator::Batched => lines.change(machine, Place::Counter, core, now),
        TimestampAllocator::Clock => now + CLOCK,
    }
}

/// How many timestamps a second cores are handed that do nothing else, until each has had `each`.
#[must_use]
pub fn timestamps(machine: &Machine, allocator: TimestampAllocator, each: u64) -> f64 {
    let (cores, mut lines) = (machine.cores, Lines::default());
    let source = Timestamps::new(allocator, cores);
    let mut last = vec![0; cores];
    let mut due: BinaryHeap<Reverse<(Cycles, usize)>> =
        (0..cores).map(|core| Reverse((core as Cycles, core))).collect();
    let (wanted, mut end) = (each * cores as u64, 1);
    for _ in 0..wanted {
        let Some(Reverse((now, core))) = due.pop() else { break };
        let micros = Micros((machine.seconds(now) * 1e6) as u64);
        let number = source.after(Timestamp(0), core, || micros).0;
        let between = (std::mem::replace(&mut last[core], number), number);
        end = handed_out((machine, allocator), &mut lines, core, between, now + TURN);
        due.push(Reverse((end, core)));
    }
    wanted as f64 / machine.seconds(end)
}

#[cfg(test)]
mod tests {
    use super::{Latches, Setup, Simulated, run, timestamps};
    use crate::abyss::costs::Costs;
    use crate::abyss::machine::Machine;
    use crate::abyss::workload::{Spread, Workload};
    use txn::{SchemeKind, TimestampAllocator};

    fn simulated(scheme: &str, theta: f64, cores: usize, latches: Latches) -> Simulated {
        let costs = Costs::committed().expect("the committed file can be read");
        let workload = Workload::ycsb(50, theta, Spread::Anywhere(64));
        run(&Setup {
            machine: Machine::tiled(cores),
            scheme: SchemeKind::named(scheme).expect("it is one of them"),
            workload: &workload,
            costs: &costs,
            latches,
            allocator: TimestampAllocator::Atomic,
            detects: true,
            penalty: 100.0,
            deadlock_timeout: 1000.0,
            lock_timeout: None,
            commits: 10 * cores as u64,
            warm_up: 0,
            seed: 7,
        })
    }

    #[test]
    fn every_attempt_is_committed_or_aborted_with_a_reason_or_under_way() {
        for scheme in SchemeKind::ALL {
            for latches in [Latches::OfKeys, Latches::OfTrees] {
                let Simulated { outcome, begun, ended, running } =
                    simulated(scheme.name(), 0.8, 16, latches);
                let aborted: u64 = outcome.aborts.values().sum();
                assert_eq!(ended, outcome.committed + aborted, "{}", scheme.name());
                assert_eq!(begun, ended + running, "{}", scheme.name());
                assert!(outcome.committed >= 160 && running <= 16, "{}", scheme.name());
            }
        }
    }

    #[test]
    fn the_same_seed_gives_the_same_outcome() {
        let figures = |scheme: &str| {
            let Simulated { outcome, begun, .. } = simulated(scheme, 0.8, 16, Latches::OfKeys);
            (outcome.elapsed, outcome.aborts, outcome.breakdown, outcome.tenths, begun)
        };
        for scheme in SchemeKind::ALL {
            assert_eq!(figures(scheme.name()), figures(scheme.name()), "{}", scheme.name());
        }
    }

    /// What the paper is known for: under contention those who wait for each other stand still, those who do not are aborted.
    #[test]
    fn schemes_have_the_shapes_that_they_are_known_for() {
        let rate =
            |scheme, cores| simulated(scheme, 0.8, cores, Latches::OfKeys).outcome.per_second();
        assert!(rate("2pl_detect", 64) < 1.5 * rate("2pl_detect", 16), "it thrashes");
        let aborted =
            |cores| simulated("2pl_no_wait", 0.8, cores, Latches::OfKeys).outcome.abort_share();
        assert!(aborted(2) < aborted(16) && aborted(16) < aborted(64));
        let uniform = |cores| simulated("mvto", 0.0, cores, Latches::OfKeys).outcome.per_second();
        assert!(uniform(64) > 40.0 * uniform(1), "nobody is in anybody's way");
    }

    #[test]
    fn a_counter_is_as_fast_as_its_line_travels_and_clocks_are_as_many_as_cores() {
        let at = |allocator, cores| timestamps(&Machine::tiled(cores), allocator, 200);
        let [few, many] = [64, 1024].map(|cores| at(TimestampAllocator::Atomic, cores));
        assert!(many < few && (5e6..2e7).contains(&many), "{few} {many}");
        assert!(at(TimestampAllocator::Mutex, 1024) < many / 2.0);
        assert!(at(TimestampAllocator::Batched, 1024) > 20.0 * many);
        assert!(at(TimestampAllocator::Clock, 1024) > 1e10);
    }
}
