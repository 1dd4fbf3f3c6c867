//! A simulation of an expression's automaton that sees whether the statement is to stop.
//!
//! Thompson's automaton is walked over a text with all the states that it may be in at once, in the order in which they are
//! preferred, each with what its groups have matched so far (Cox, "Regular Expression Matching: the Virtual Machine Approach",
//! 2009, after Thompson and Pike). It takes time in the length of the text times the size of the expression, never more, and asks
//! at each so many steps whether to go on. Faster automata are asked first where they can answer in time: they give up at
//! Unicode's word boundaries, know no groups, or cannot be stopped.

use super::longest::Groups;
use crate::account;
use regex_automata::nfa::thompson::{NFA, State};
use regex_automata::util::primitives::StateID;
use std::ops::Range;

/// No place of a text.
const NOWHERE: usize = usize::MAX;

/// An automaton with its groups.
pub(super) struct Simulation {
    nfa: NFA,
}

/// Which match is looked for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Goal {
    /// Whichever ends first.
    Earliest,
    /// The one that begins first.
    Leftmost,
    /// The longest.
    Longest,
    /// Among those that end here the one that is preferred.
    Until(usize),
}

/// The states that the automaton may be in at one place, the preferred first.
struct Threads {
    order: Vec<StateID>,
    /// What the groups of each of them have matched, the same number of places for each.
    slots: Vec<usize>,
    /// By state, for which place it was last looked at.
    seen: Vec<usize>,
}

/// What is left to do for a place.
enum Step {
    Explore(StateID),
    /// Behind what a group was entered for, its place is what it was before.
    Restore {
        slot: usize,
        before: usize,
    },
}

/// A walk over a text.
struct Walk<'s> {
    nfa: &'s NFA,
    text: &'s str,
    stack: Vec<Step>,
    /// What the groups of the thread that is followed have matched.
    slots: Vec<usize>,
}

impl Simulation {
    /// Of an automaton that says where its groups are.
    pub fn new(nfa: NFA) -> Simulation {
        Simulation { nfa }
    }

    /// How many states it has.
    pub fn states(&self) -> usize {
        self.nfa.states().len()
    }

    /// Whether there is a match.
    pub fn is_match(&self, text: &str) -> bool {
        self.search(text, 0, false, Goal::Earliest, 0).is_some()
    }

    /// Where the first match begins that begins at `from` or behind it.
    pub fn beginning(&self, text: &str, from: usize) -> Option<usize> {
        let (slots, _) = self.search(text, from, false, Goal::Leftmost, 1)?;
        Some(slots[0])
    }

    /// Where the shortest or the longest match ends that begins at `from`.
    pub fn end(&self, text: &str, from: usize, shortest: bool) -> Option<usize> {
        let goal = if shortest { Goal::Earliest } else { Goal::Longest };
        self.search(text, from, true, goal, 0).map(|(_, end)| end)
    }

    /// The groups of a match of which it is known where it begins and ends.
    pub fn groups(&self, text: &str, whole: Range<usize>, groups: usize) -> Groups {
        let width = 2 * (groups + 1);
        let found = self.search(text, whole.start, true, Goal::Until(whole.end), width);
        let slots = found.map_or_else(|| vec![NOWHERE; width], |(slots, _)| slots);
        let group =
            |ends: &[usize]| (ends[0] != NOWHERE && ends[1] != NOWHERE).then_some(ends[0]..ends[1]);
        let mut groups: Groups = slots.chunks_exact(2).map(group).collect();
        groups[0] = Some(whole);
        groups
    }

    /// Goes over a text; what the groups have matched, and where the match ends.
    fn search(
        &self,
        text: &str,
        from: usize,
        anchored: bool,
        goal: Goal,
        width: usize,
    ) -> Option<(Vec<usize>, usize)> {
        account::insist_on(self.states() * size_of::<usize>() * (width + 2));
        let mut walk =
            Walk { nfa: &self.nfa, text, stack: Vec::new(), slots: vec![NOWHERE; width] };
        let (mut here, mut next) = (Threads::of(self.states()), Threads::of(self.states()));
        let mut found: Option<(Vec<usize>, usize)> = None;
        for at in from..=text.len() {
            account::step();
            let begins = found.is_none() && if anchored { at == from } else { true };
            if begins && text.is_char_boundary(at) {
                walk.slots.fill(NOWHERE);
                walk.follow(self.nfa.start_anchored(), at, &mut here);
            } else if here.order.is_empty() && !begins {
                break;
            }
            if let Some((slots, _)) = &found
                && goal == Goal::Leftmost
                && here.slots.first() == slots.first()
            {
                break;
            }
            next.clear();
            for (thread, state) in here.order.iter().enumerate() {
                let to = match self.nfa.state(*state) {
                    State::ByteRange { trans } => {
                        trans.matches(text.as_bytes(), at).then_some(trans.next)
                    }
                    State::Sparse(transitions) => transitions.matches(text.as_bytes(), at),
                    State::Dense(transitions) => transitions.matches(text.as_bytes(), at),
                    State::Match { .. } => {
                        if matches!(goal, Goal::Until(end) if at != end) {
                            continue;
                        }
                        found = Some((here.slots[thread * width..][..width].to_vec(), at));
                        if goal == Goal::Longest {
                            continue;
                        }
                        break;
                    }
                    // These are followed as soon as they are come to.
                    State::Look { .. }
                    | State::Union { .. }
                    | State::BinaryUnion { .. }
                    | State::Capture { .. }
                    | State::Fail => None,
                };
                if let Some(to) = to {
                    walk.slots.copy_from_slice(&here.slots[thread * width..][..width]);
                    walk.follow(to, at + 1, &mut next);
                }
            }
            if (goal == Goal::Earliest && found.is_some()) || goal == Goal::Until(at) {
                break;
            }
            std::mem::swap(&mut here, &mut next);
        }
        found
    }
}

impl Threads {
    fn of(states: usize) -> Threads {
        Threads { order: Vec::new(), slots: Vec::new(), seen: vec![NOWHERE; states] }
    }

    fn clear(&mut self) {
        self.order.clear();
        self.slots.clear();
    }
}

impl Walk<'_> {
    /// Notes all states that read the next character, or end a match, and are come to from one at a place without reading.
    fn follow(&mut self, from: StateID, at: usize, into: &mut Threads) {
        self.stack.push(Step::Explore(from));
        while let Some(step) = self.stack.pop() {
            match step {
                Step::Restore { slot, before } => self.slots[slot] = before,
                Step::Explore(state) => self.explore(state, at, into),
            }
        }
    }

    fn explore(&mut self, mut state: StateID, at: usize, into: &mut Threads) {
        while std::mem::replace(&mut into.seen[state.as_usize()], at) != at {
            account::step();
            state = match self.nfa.state(state) {
                State::ByteRange { .. }
                | State::Sparse(_)
                | State::Dense(_)
                | State::Match { .. } => {
                    into.order.push(state);
                    into.slots.extend_from_slice(&self.slots);
                    return;
                }
                State::Look { look, next } => {
                    let looks = self.nfa.look_matcher();
                    if !looks.matches(*look, self.text.as_bytes(), at) {
                        return;
                    }
                    *next
                }
                State::Union { alternates } => {
                    let Some((first, others)) = alternates.split_first() else { return };
                    self.stack.extend(others.iter().rev().map(|other| Step::Explore(*other)));
                    *first
                }
                State::BinaryUnion { alt1, alt2 } => {
                    self.stack.push(Step::Explore(*alt2));
                    *alt1
                }
                State::Capture { next, slot, .. } => {
                    if let Some(place) = self.slots.get_mut(slot.as_usize()) {
                        let before = std::mem::replace(place, at);
                        self.stack.push(Step::Restore { slot: slot.as_usize(), before });
                    }
                    *next
                }
                State::Fail => return,
            };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::long_search::tests::{PATTERNS, texts};
    use regex::Regex;
    use regex_automata::nfa::thompson::pikevm::PikeVM;
    use regex_automata::{Anchored, Input, MatchKind};

    /// What it finds is what a library's searches find: whether, where, how far, and with which groups.
    #[test]
    fn a_simulation_finds_what_others_find() {
        for pattern in PATTERNS {
            let regex = Regex::new(pattern).unwrap();
            let nfa = NFA::new(pattern).unwrap();
            let all = PikeVM::config().match_kind(MatchKind::All);
            let all = PikeVM::builder().configure(all).build_from_nfa(nfa.clone()).unwrap();
            let simulation = Simulation::new(nfa);
            for text in texts() {
                assert_eq!(simulation.is_match(&text), regex.is_match(&text), "{pattern} {text:?}");
                for from in (0..=text.len()).filter(|from| text.is_char_boundary(*from)) {
                    let captures = regex.captures_at(&text, from);
                    let start = captures.as_ref().map(|captures| captures.get(0).unwrap().start());
                    assert_eq!(
                        simulation.beginning(&text, from),
                        start,
                        "{pattern} {text:?} {from}"
                    );
                    for shortest in [false, true] {
                        let input = Input::new(&text).range(from..).anchored(Anchored::Yes);
                        let mut slots = [None, None];
                        let input = input.earliest(shortest);
                        all.search_slots(&mut all.create_cache(), &input, &mut slots);
                        let end = slots[1].map(|end| end.get());
                        let found = simulation.end(&text, from, shortest);
                        assert_eq!(found, end, "{pattern} {text:?} {from} {shortest}");
                    }
                    let Some(captures) = captures else { continue };
                    let whole = captures.get(0).unwrap().range();
                    let groups = simulation.groups(&text, whole, captures.len() - 1);
                    let expected: Groups = captures.iter().map(|g| g.map(|g| g.range())).collect();
                    assert_eq!(groups, expected, "{pattern} {text:?} {from}");
                }
            }
        }
    }
}
