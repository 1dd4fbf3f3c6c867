//! Leftmost-longest matching, and what groups match, as PostgreSQL's regular expressions have it.
//!
//! Manual, 9.7.3.5; Spencer's `regexec.c` (`cdissect`). A match begins as far left as one can. From there it is as long as can be, or as
//! short: whichever the expression *prefers*, which its first quantifier with a preference decides; alternatives prefer the
//! longest. Where it ends is found by an automaton for all ends. Only then are the groups found, within that stretch: each
//! part takes the longest or shortest piece that it prefers and that lets the parts behind it match the rest, parts
//! further left first; of alternatives the first that matches its piece exactly is taken.
//!
//! Groups of a match longer than [`DISSECTED_MAX`] bytes are those that a leftmost-first match with the same ends has: finding them
//! takes memory that grows faster than the text.
//!
//! What takes too long at one go is [walked](super::long_search) for where a match begins and ends, or [simulated](Simulation), so
//! that a cancel is seen.
//!
//! An expression with a [`Constraint`] is not for automata: they say where a match may begin, and from there on all ends are
//! tried, the preferred first, until one lets the parts match with their constraints. That may take long beyond
//! measure, so it is given up after a number of steps ([`STEPS_MAX`]).

use super::constraint::{Constraint, loosened, refers_back};
use super::long_search::{self, LongSearch, Walked};
use super::simulation::Simulation;
use crate::account;
use crate::error::{Result, SqlError};
use crate::sqlstate::SqlState;
use regex::Regex;
use regex_automata::hybrid::dfa::{Cache, DFA};
use regex_automata::meta;
use regex_automata::nfa::thompson::{self, NFA};
use regex_automata::util::look::{Look, LookMatcher};
use regex_automata::{Anchored, Input, MatchKind};
use regex_syntax::hir::{Class, Hir, HirKind, Repetition};
use std::cell::{OnceCell, RefCell};
use std::collections::{BTreeSet, HashMap};
use std::ops::Range;
use std::rc::Rc;

/// How much may be searched at one go, in bytes of the text times states of the expression: some tenths of a second at worst.
const AT_ONCE_MAX: usize = 64 << 20;

/// How long a match's text may be to have its groups found exactly.
const DISSECTED_MAX: usize = 16 << 10;

/// How many pieces are looked at until the search for a match with constraints is given up, beside [`STEPS_PER_BYTE`]. So many
/// ends are kept at most.
const STEPS_MAX: u64 = 8_000_000;
/// How many more for each byte of the text.
const STEPS_PER_BYTE: u64 = 100;

/// A compiled expression.
pub(super) struct Pattern {
    hir: Hir,
    /// How many groups there are.
    groups: usize,
    finder: Finder,
    simulation: Simulation,
    /// Made for the first search that takes long; none if the expression is too large for it.
    long: OnceCell<Option<LongSearch>>,
    bytes_max: usize,
}

/// What finds matches.
enum Finder {
    Automata(Automata),
    Dissection(Constrained),
}

/// For an expression without constraints.
struct Automata {
    /// Leftmost-first: whether, and where, a match begins.
    regex: Regex,
    /// Whether the shortest match is preferred.
    shortest: bool,
    /// All ends of matches that begin at a place, lazily built; gives up at Unicode's word boundaries.
    ends: Option<(DFA, RefCell<Cache>)>,
}

/// For one with constraints.
struct Constrained {
    /// Where a match may begin.
    beginnings: meta::Regex,
    /// Whether back references do not tell capitals from small letters.
    insensitive: bool,
}

/// A match: the whole, then each group that took part.
pub(super) type Groups = Vec<Option<Range<usize>>>;

impl Pattern {
    /// Puts together what was compiled from one expression; none if it is too large.
    pub fn new(regex: Regex, hir: Hir, groups: usize, bytes_max: usize) -> Option<Pattern> {
        let nfa = automaton(&loosened(hir.clone()), bytes_max)?;
        let all = DFA::config().match_kind(MatchKind::All).unicode_word_boundary(true);
        let dfa = DFA::builder().configure(all).build_from_nfa(nfa.clone()).ok();
        let ends = dfa.map(|dfa| {
            let cache = RefCell::new(dfa.create_cache());
            (dfa, cache)
        });
        let shortest = prefers_longest(&hir) == Some(false);
        let finder = Finder::Automata(Automata { regex, shortest, ends });
        let simulation = Simulation::new(nfa);
        Some(Pattern { hir, groups, finder, simulation, long: OnceCell::new(), bytes_max })
    }

    /// Puts together an expression with constraints; none if it is too large.
    pub fn constrained(
        hir: Hir,
        groups: usize,
        insensitive: bool,
        bytes_max: usize,
    ) -> Option<Pattern> {
        let loose = loosened(hir.clone());
        let config = meta::Config::new().nfa_size_limit(Some(bytes_max));
        let beginnings = meta::Builder::new().configure(config).build_from_hir(&loose).ok()?;
        let finder = Finder::Dissection(Constrained { beginnings, insensitive });
        let simulation = Simulation::new(automaton(&loose, bytes_max)?);
        Some(Pattern { hir, groups, finder, simulation, long: OnceCell::new(), bytes_max })
    }

    /// Whether there is a match.
    ///
    /// # Errors
    /// 2201B where it takes too long.
    pub fn is_match(&self, text: &str) -> Result<bool> {
        match &self.finder {
            Finder::Automata(automata) => {
                if !self.is_long(text) {
                    return Ok(automata.regex.is_match(text));
                }
                Ok(match self.long().map_or(Walked::GaveUp, |long| long.is_match(text)) {
                    Walked::Match(_) => true,
                    Walked::Nothing => false,
                    Walked::GaveUp => self.simulation.is_match(text),
                })
            }
            Finder::Dissection(_) => self.captures_at(text, 0).map(|found| found.is_some()),
        }
    }

    /// Whether a text may take too long at one go.
    fn is_long(&self, text: &str) -> bool {
        text.len().saturating_mul(self.simulation.states()) > AT_ONCE_MAX
    }

    /// What searches a long text; none if the expression is too large.
    fn long(&self) -> Option<&LongSearch> {
        let make = || LongSearch::new(&loosened(self.hir.clone()), self.bytes_max);
        self.long.get_or_init(make).as_ref()
    }

    /// Where the first match begins, constraints aside, that begins at `from` or behind it; `at_once` searches at one go.
    fn beginning(
        &self,
        text: &str,
        from: usize,
        at_once: impl FnOnce() -> Option<usize>,
    ) -> Option<usize> {
        if !self.is_long(&text[from..]) {
            return at_once();
        }
        match self.long().map_or(Walked::GaveUp, |long| long.beginning(text, from)) {
            Walked::Match(start) => Some(start),
            Walked::Nothing => None,
            Walked::GaveUp => self.simulation.beginning(text, from),
        }
    }

    /// Where the match at a place ends that is preferred.
    fn end(&self, text: &str, from: usize, automata: &Automata) -> Option<usize> {
        let Automata { shortest, ends, .. } = automata;
        let input = Input::new(text).range(from..).anchored(Anchored::Yes).earliest(*shortest);
        let walked = match ends {
            Some((dfa, cache)) => long_search::forward(dfa, &mut cache.borrow_mut(), &input),
            None => Walked::GaveUp,
        };
        match walked {
            Walked::Match(end) => Some(end),
            Walked::Nothing => None,
            Walked::GaveUp => self.simulation.end(text, from, *shortest),
        }
    }

    /// How many groups there are.
    pub fn groups(&self) -> usize {
        self.groups
    }

    /// The groups of the first match that begins at `from` or behind it.
    ///
    /// # Errors
    /// As [`Pattern::is_match`].
    pub fn captures_at(&self, text: &str, from: usize) -> Result<Option<Groups>> {
        let automata = match &self.finder {
            Finder::Automata(automata) => automata,
            Finder::Dissection(constrained) => {
                return self.constrained_at(text, from, constrained);
            }
        };
        let at_once = || automata.regex.find_at(text, from).map(|found| found.start());
        let Some(start) = self.beginning(text, from, at_once) else { return Ok(None) };
        let Some(end) = self.end(text, start, automata) else { return Ok(None) };
        let whole = start..end;
        if self.groups == 0 {
            return Ok(Some(vec![Some(whole)]));
        }
        if whole.len() <= DISSECTED_MAX {
            let mut dissection = Dissection::new(text, whole.end, self.groups, false);
            if dissection.exactly(&self.hir, whole.clone()) {
                dissection.groups[0] = Some(whole);
                return Ok(Some(dissection.groups));
            }
        }
        Ok(Some(self.simulation.groups(text, whole, self.groups)))
    }

    fn constrained_at(
        &self,
        text: &str,
        mut from: usize,
        constrained: &Constrained,
    ) -> Result<Option<Groups>> {
        let Constrained { beginnings, insensitive } = constrained;
        let mut steps_left = STEPS_MAX + STEPS_PER_BYTE * (text.len() - from) as u64;
        loop {
            let at_once = || {
                let found = beginnings.search(&Input::new(text).range(from..));
                found.map(|found| found.start())
            };
            let Some(start) = self.beginning(text, from, at_once) else { break };
            let mut dissection = Dissection::new(text, text.len(), self.groups, *insensitive);
            dissection.steps_max = steps_left;
            let ends = dissection.preferred(&self.hir, start, text.len());
            let end = ends
                .into_iter()
                .find(|end| dissection.tried(|one| one.exactly(&self.hir, start..*end)));
            if dissection.is_exhausted() {
                return Err(SqlError::new(
                    SqlState::INVALID_REGULAR_EXPRESSION,
                    "regular expression failed: regular expression is too complex",
                ));
            }
            if let Some(end) = end {
                dissection.groups[0] = Some(start..end);
                return Ok(Some(dissection.groups));
            }
            steps_left -= dissection.steps;
            let Some(passed) = text[start..].chars().next() else { break };
            from = start + passed.len_utf8();
        }
        Ok(None)
    }

    /// All matches from a place on, one behind the other. One without characters does not hide the next character from the next.
    pub fn matches<'t>(
        &'t self,
        text: &'t str,
        from: usize,
    ) -> impl Iterator<Item = Result<Groups>> + 't {
        let mut from = Some(from);
        std::iter::from_fn(move || {
            if let Err(error) = account::poll() {
                from = None;
                return Some(Err(error));
            }
            let found = match self.captures_at(text, from.filter(|from| *from <= text.len())?) {
                Ok(found) => found?,
                Err(error) => {
                    from = None;
                    return Some(Err(error));
                }
            };
            let whole = whole(&found);
            from = Some(if whole.is_empty() {
                whole.end + text[whole.end..].chars().next().map_or(1, char::len_utf8)
            } else {
                whole.end
            });
            Some(Ok(found))
        })
    }
}

/// The whole match.
pub(super) fn whole(groups: &Groups) -> Range<usize> {
    groups[0].clone().expect("the first is the whole")
}

/// The automaton of an expression without constraints; none if it is too large.
fn automaton(hir: &Hir, bytes_max: usize) -> Option<NFA> {
    let config = thompson::Config::new().nfa_size_limit(Some(bytes_max));
    NFA::compiler().configure(config).build_from_hir(hir).ok()
}

/// Whether a part prefers the longest match, or the shortest, or has no preference.
fn prefers_longest(hir: &Hir) -> Option<bool> {
    match hir.kind() {
        HirKind::Empty | HirKind::Literal(_) | HirKind::Class(_) | HirKind::Look(_) => None,
        HirKind::Repetition(repetition) if repetition.max == Some(repetition.min) => {
            prefers_longest(&repetition.sub)
        }
        HirKind::Repetition(repetition) => Some(repetition.greedy),
        HirKind::Capture(capture) => match Constraint::of(capture) {
            Some(Constraint::Prefers { longest }) => Some(longest),
            Some(_) => None,
            None => prefers_longest(&capture.sub),
        },
        HirKind::Concat(parts) => parts.iter().find_map(prefers_longest),
        HirKind::Alternation(_) => Some(true),
    }
}

/// Finding the groups of one match.
struct Dissection<'t> {
    text: &'t str,
    /// The match's end: nothing looks for a piece behind it.
    end: usize,
    looks: LookMatcher,
    /// Where matches of a part that begin at a place end, in order.
    ends: HashMap<(*const Hir, usize), Rc<[usize]>>,
    groups: Groups,
    /// Back references do not tell capitals from small letters.
    insensitive: bool,
    /// How many pieces have been looked at, and how many may be.
    steps: u64,
    steps_max: u64,
}

impl<'t> Dissection<'t> {
    fn new(text: &'t str, end: usize, groups: usize, insensitive: bool) -> Dissection<'t> {
        Dissection {
            text,
            end,
            looks: LookMatcher::new(),
            ends: HashMap::new(),
            groups: vec![None; groups + 1],
            insensitive,
            steps: 0,
            steps_max: u64::MAX,
        }
    }

    fn is_exhausted(&self) -> bool {
        self.steps > self.steps_max
    }

    /// Matches a part with exactly this piece, and notes its groups.
    fn exactly(&mut self, hir: &Hir, piece: Range<usize>) -> bool {
        account::step();
        self.steps += 1;
        if self.is_exhausted() {
            return false;
        }
        match hir.kind() {
            HirKind::Capture(capture) if let Some(constraint) = Constraint::of(capture) => {
                match constraint {
                    Constraint::Back(group) => self.copies(group, piece) == Some(1),
                    Constraint::Prefers { .. } => self.exactly(&capture.sub, piece),
                    _ => piece.is_empty() && !self.ends_of(hir, piece.start).is_empty(),
                }
            }
            HirKind::Capture(capture) => {
                let found = self.exactly(&capture.sub, piece.clone());
                if found {
                    self.groups[capture.index as usize] = Some(piece);
                }
                found
            }
            HirKind::Concat(parts) => self.in_turn(parts, piece),
            HirKind::Alternation(parts) => {
                parts.iter().any(|part| self.tried(|one| one.exactly(part, piece.clone())))
            }
            HirKind::Repetition(repetition) if has_groups(&repetition.sub) => {
                match repetition.sub.kind() {
                    HirKind::Capture(sub)
                        if let Some(Constraint::Back(group)) = Constraint::of(sub) =>
                    {
                        let fits = |count| {
                            repetition.min <= count && repetition.max.is_none_or(|max| count <= max)
                        };
                        // What has no characters is there as often as is wanted.
                        let free = piece.is_empty() && self.copies(group, piece.clone()) == Some(1);
                        free || self.copies(group, piece).is_some_and(fits)
                    }
                    _ => self.repeated(repetition, piece),
                }
            }
            _ => self.ends_of(hir, piece.start).binary_search(&piece.end).is_ok(),
        }
    }

    /// How often a piece is what a group has matched; none if it is something else, or the group took no part.
    fn copies(&self, group: u32, piece: Range<usize>) -> Option<u32> {
        let original = &self.text[self.groups[group as usize].clone()?];
        let mut rest = &self.text[piece];
        if original.is_empty() {
            return rest.is_empty().then_some(1);
        }
        let mut count = 0;
        while !rest.is_empty() {
            rest = self.behind(rest, original)?;
            count += 1;
        }
        Some(count)
    }

    /// What stands in a text behind another one.
    fn behind<'r>(&self, rest: &'r str, original: &str) -> Option<&'r str> {
        if !self.insensitive {
            return rest.strip_prefix(original);
        }
        let mut characters = rest.chars();
        let same = original.chars().all(|one| {
            characters
                .next()
                .is_some_and(|other| one == other || one.to_lowercase().eq(other.to_lowercase()))
        });
        same.then_some(characters.as_str())
    }

    /// Undoes what was noted if it does not succeed.
    fn tried(&mut self, attempt: impl FnOnce(&mut Self) -> bool) -> bool {
        let before = self.groups.clone();
        let found = attempt(self);
        if !found {
            self.groups = before;
        }
        found
    }

    /// The ends of a part's pieces that begin at `from`, the preferred first.
    fn preferred(&mut self, hir: &Hir, from: usize, to: usize) -> Vec<usize> {
        let all = self.ends_of(hir, from);
        let mut ends: Vec<usize> = all.iter().copied().filter(|end| *end <= to).collect();
        if prefers_longest(hir) != Some(false) {
            ends.reverse();
        }
        ends
    }

    fn in_turn(&mut self, parts: &[Hir], piece: Range<usize>) -> bool {
        let Some((first, rest)) = parts.split_first() else { return piece.is_empty() };
        if rest.is_empty() {
            return self.exactly(first, piece);
        }
        self.preferred(first, piece.start, piece.end).into_iter().any(|middle| {
            self.tried(|one| {
                one.can_follow(rest, middle..piece.end)
                    && one.exactly(first, piece.start..middle)
                    && one.in_turn(rest, middle..piece.end)
            })
        })
    }

    /// Whether parts can match a piece, groups aside.
    fn can_follow(&mut self, parts: &[Hir], piece: Range<usize>) -> bool {
        let mut places = BTreeSet::from([piece.start]);
        for part in parts {
            let mut next = BTreeSet::new();
            for place in places {
                let ends = self.ends_of(part, place);
                self.steps += 1 + ends.len() as u64;
                next.extend(ends.iter().filter(|end| **end <= piece.end));
            }
            places = next;
        }
        places.contains(&piece.end)
    }

    /// A repeated part with groups: they are those of the last time. Where there must be one, all times but the last
    /// take what they prefer together, and the last what is left.
    fn repeated(&mut self, repetition: &Repetition, piece: Range<usize>) -> bool {
        if repetition.min == 0 || refers_back(&repetition.sub) {
            return self.iterated(repetition, 0, piece);
        }
        let max = repetition.max.map(|max| max - 1);
        let before = self.repetitions(&repetition.sub, repetition.min - 1, max, piece.start);
        let mut last: Vec<usize> = before.into_iter().filter(|from| *from <= piece.end).collect();
        if repetition.greedy {
            last.reverse();
        }
        last.into_iter().any(|from| self.tried(|one| one.exactly(&repetition.sub, from..piece.end)))
    }

    /// Repetitions from the `done`th on, each taking what it prefers.
    fn iterated(&mut self, repetition: &Repetition, done: u32, piece: Range<usize>) -> bool {
        let enough = done >= repetition.min;
        if piece.is_empty() && enough {
            // Where it is wanted no time, it is there once if it can be without characters, but not where it prefers to
            // be short.
            if done == 0 && prefers_longest(&repetition.sub) != Some(false) {
                self.tried(|one| one.exactly(&repetition.sub, piece));
            }
            return true;
        }
        if repetition.max.is_some_and(|max| done >= max) {
            return false;
        }
        self.preferred(&repetition.sub, piece.start, piece.end).into_iter().any(|middle| {
            (middle > piece.start || !enough)
                && self.tried(|one| {
                    one.forget(&repetition.sub);
                    one.exactly(&repetition.sub, piece.start..middle)
                        && one.iterated(repetition, done + 1, middle..piece.end)
                })
        })
    }

    /// Forgets what the groups in a part have matched.
    fn forget(&mut self, hir: &Hir) {
        match hir.kind() {
            HirKind::Capture(capture) if Constraint::of(capture).is_some() => {
                self.forget(&capture.sub);
            }
            HirKind::Capture(capture) => {
                self.groups[capture.index as usize] = None;
                self.forget(&capture.sub);
            }
            HirKind::Concat(parts) | HirKind::Alternation(parts) => {
                parts.iter().for_each(|part| self.forget(part));
            }
            HirKind::Repetition(repetition) => self.forget(&repetition.sub),
            _ => {}
        }
    }

    /// Where matches of a part that begin at `from` end, up to the match's end.
    fn ends_of(&mut self, hir: &Hir, from: usize) -> Rc<[usize]> {
        let key = (std::ptr::from_ref(hir), from);
        if let Some(known) = self.ends.get(&key) {
            return Rc::clone(known);
        }
        account::step();
        if self.is_exhausted() {
            return Rc::from([]);
        }
        let found: Rc<[usize]> = self.find_ends(hir, from).into_iter().collect();
        self.steps += 1 + found.len() as u64;
        self.ends.insert(key, Rc::clone(&found));
        found
    }

    fn find_ends(&mut self, hir: &Hir, from: usize) -> BTreeSet<usize> {
        let bytes = &self.text.as_bytes()[..self.end];
        match hir.kind() {
            HirKind::Empty => BTreeSet::from([from]),
            HirKind::Literal(literal) => {
                let fits = bytes[from..].starts_with(&literal.0);
                fits.then(|| from + literal.0.len()).into_iter().collect()
            }
            HirKind::Class(class) => self.character(class, from).into_iter().collect(),
            HirKind::Look(look) => {
                let look = Look::from_repr(look.as_repr()).expect("the crates know the same ones");
                let here = self.looks.matches(look, self.text.as_bytes(), from);
                here.then_some(from).into_iter().collect()
            }
            HirKind::Capture(capture) => match Constraint::of(capture) {
                Some(Constraint::Ahead { negated }) => {
                    let follows = !self.ends_of(&capture.sub, from).is_empty();
                    (follows != negated).then_some(from).into_iter().collect()
                }
                Some(Constraint::Behind { negated }) => {
                    let stands = self.stands_before(&capture.sub, from);
                    (stands != negated).then_some(from).into_iter().collect()
                }
                Some(Constraint::Back(_) | Constraint::Prefers { .. }) | None => {
                    self.find_ends(&capture.sub, from)
                }
            },
            HirKind::Concat(parts) => {
                let mut places = BTreeSet::from([from]);
                for part in parts {
                    let mut next = BTreeSet::new();
                    for place in places {
                        next.extend(self.ends_of(part, place).iter());
                    }
                    places = next;
                }
                places
            }
            HirKind::Alternation(parts) => {
                let mut all = BTreeSet::new();
                for part in parts {
                    all.extend(self.ends_of(part, from).iter());
                }
                all
            }
            HirKind::Repetition(repetition) => {
                self.repetitions(&repetition.sub, repetition.min, repetition.max, from)
            }
        }
    }

    /// Whether a match of a part ends at a place.
    fn stands_before(&mut self, part: &Hir, end: usize) -> bool {
        let first = part.properties().maximum_len().map_or(0, |max| end.saturating_sub(max));
        let text = self.text;
        (first..=end)
            .rev()
            .filter(|start| text.is_char_boundary(*start))
            .any(|start| self.ends_of(part, start).binary_search(&end).is_ok())
    }

    /// Where `min` to `max` matches of a part, one behind the other, end.
    fn repetitions(
        &mut self,
        part: &Hir,
        min: u32,
        max: Option<u32>,
        from: usize,
    ) -> BTreeSet<usize> {
        let (mut all, mut places, mut done) = (BTreeSet::new(), BTreeSet::from([from]), 0);
        loop {
            if done >= min {
                // Places reached before have been gone on from.
                places.retain(|place| all.insert(*place));
            }
            if places.is_empty() || max.is_some_and(|max| done >= max) {
                return all;
            }
            let mut next = BTreeSet::new();
            for place in places {
                next.extend(self.ends_of(part, place).iter());
            }
            (places, done) = (next, done + 1);
        }
    }

    /// Where a character of a class ends.
    fn character(&self, class: &Class, from: usize) -> Option<usize> {
        let character = self.text[from..self.end].chars().next()?;
        let inside = match class {
            Class::Unicode(class) => class
                .ranges()
                .iter()
                .any(|range| (range.start()..=range.end()).contains(&character)),
            Class::Bytes(class) => class.ranges().iter().any(|range| {
                u8::try_from(character).is_ok_and(|byte| {
                    byte.is_ascii() && (range.start()..=range.end()).contains(&byte)
                })
            }),
        };
        inside.then(|| from + character.len_utf8())
    }
}

fn has_groups(hir: &Hir) -> bool {
    hir.properties().explicit_captures_len() > 0
}
