//! Leftmost-longest matching, and what groups match, as PostgreSQL's regular expressions have it.
//!
//! Manual, 9.7.3.5; Spencer's `regexec.c` (`cdissect`). A match begins as far left as one can. From there it is as long as can be, or as
//! short: whichever the expression *prefers*, which its first quantifier with a preference decides; alternatives prefer the
//! longest. Where it ends is found by an automaton for all ends. Only then are the groups found, within that stretch: each
//! part takes the longest or shortest piece that it prefers and that lets the parts behind it match the rest, parts
//! further left first; of alternatives the first that matches its piece exactly is taken.
//!
//! Groups of a match longer than [`DISSECTED_MAX`] bytes are those of a leftmost-first match: finding them takes memory that
//! grows faster than the text.

use regex::Regex;
use regex_automata::hybrid::dfa::{Cache, DFA};
use regex_automata::nfa::thompson::{self, NFA, pikevm::PikeVM};
use regex_automata::util::look::{Look, LookMatcher};
use regex_automata::{Anchored, Input, MatchKind};
use regex_syntax::hir::{Class, Hir, HirKind, Repetition};
use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap};
use std::ops::Range;
use std::rc::Rc;

/// How long a match's text may be to have its groups found exactly.
const DISSECTED_MAX: usize = 16 << 10;

/// A compiled expression.
pub(super) struct Pattern {
    /// Leftmost-first: whether, and where, a match begins.
    regex: Regex,
    hir: Hir,
    /// Whether the shortest match is preferred.
    shortest: bool,
    ends: Ends,
}

/// All ends of matches that begin at a place.
struct Ends {
    /// Lazily built; gives up at Unicode's word boundaries.
    dfa: Option<(DFA, RefCell<Cache>)>,
    simulation: PikeVM,
}

/// A match: the whole, then each group that took part.
pub(super) type Groups = Vec<Option<Range<usize>>>;

impl Pattern {
    /// Puts together what was compiled from one expression; none if it is too large.
    pub fn new(regex: Regex, hir: Hir, bytes_max: usize) -> Option<Pattern> {
        let config = thompson::Config::new().nfa_size_limit(Some(bytes_max));
        let nfa = NFA::compiler().configure(config).build_from_hir(&hir).ok()?;
        let all = PikeVM::config().match_kind(MatchKind::All);
        let simulation = PikeVM::builder().configure(all).build_from_nfa(nfa.clone()).ok()?;
        let all = DFA::config().match_kind(MatchKind::All).unicode_word_boundary(true);
        let dfa = DFA::builder().configure(all).build_from_nfa(nfa).ok();
        let dfa = dfa.map(|dfa| {
            let cache = RefCell::new(dfa.create_cache());
            (dfa, cache)
        });
        let shortest = prefers_longest(&hir) == Some(false);
        Some(Pattern { regex, hir, shortest, ends: Ends { dfa, simulation } })
    }

    /// Whether there is a match.
    pub fn is_match(&self, text: &str) -> bool {
        self.regex.is_match(text)
    }

    /// How many groups there are.
    pub fn groups(&self) -> usize {
        self.regex.captures_len() - 1
    }

    /// The first match that begins at `from` or behind it.
    pub fn find_at(&self, text: &str, from: usize) -> Option<Range<usize>> {
        let found = self.regex.find_at(text, from)?;
        let end = self.ends.end(text, found.start(), self.shortest);
        Some(found.start()..end.unwrap_or(found.end()))
    }

    /// The groups of the first match that begins at `from` or behind it.
    pub fn captures_at(&self, text: &str, from: usize) -> Option<Groups> {
        let whole = self.find_at(text, from)?;
        if self.groups() == 0 {
            return Some(vec![Some(whole)]);
        }
        if whole.len() <= DISSECTED_MAX {
            let mut dissection = Dissection {
                text,
                end: whole.end,
                looks: LookMatcher::new(),
                ends: HashMap::new(),
                groups: vec![None; self.groups() + 1],
            };
            if dissection.exactly(&self.hir, whole.clone()) {
                dissection.groups[0] = Some(whole);
                return Some(dissection.groups);
            }
        }
        let captures = self.regex.captures_at(text, from)?;
        Some(captures.iter().map(|group| group.map(|found| found.range())).collect())
    }

    /// All matches, one behind the other. One without characters does not hide the next character from the next.
    pub fn matches<'t>(&'t self, text: &'t str) -> impl Iterator<Item = Groups> + 't {
        let mut from = Some(0);
        std::iter::from_fn(move || {
            let found = self.captures_at(text, from.filter(|from| *from <= text.len())?)?;
            let whole = found[0].clone().expect("the first is the whole");
            from = Some(if whole.is_empty() {
                whole.end + text[whole.end..].chars().next().map_or(1, char::len_utf8)
            } else {
                whole.end
            });
            Some(found)
        })
    }
}

impl Ends {
    fn end(&self, text: &str, from: usize, shortest: bool) -> Option<usize> {
        let input = Input::new(text).range(from..).anchored(Anchored::Yes).earliest(shortest);
        if let Some((dfa, cache)) = &self.dfa
            && let Ok(found) = dfa.try_search_fwd(&mut cache.borrow_mut(), &input)
        {
            return found.map(|found| found.offset());
        }
        let mut cache = self.simulation.create_cache();
        let mut slots = [None, None];
        self.simulation.search_slots(&mut cache, &input, &mut slots)?;
        slots[1].map(|end| end.get())
    }
}

/// Whether a part prefers the longest match, or the shortest, or has no preference.
fn prefers_longest(hir: &Hir) -> Option<bool> {
    match hir.kind() {
        HirKind::Empty | HirKind::Literal(_) | HirKind::Class(_) | HirKind::Look(_) => None,
        HirKind::Repetition(repetition) if repetition.max == Some(repetition.min) => {
            prefers_longest(&repetition.sub)
        }
        HirKind::Repetition(repetition) => Some(repetition.greedy),
        HirKind::Capture(capture) => prefers_longest(&capture.sub),
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
}

impl Dissection<'_> {
    /// Matches a part with exactly this piece, and notes its groups.
    fn exactly(&mut self, hir: &Hir, piece: Range<usize>) -> bool {
        match hir.kind() {
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
                self.repeated(repetition, piece)
            }
            _ => self.ends_of(hir, piece.start).binary_search(&piece.end).is_ok(),
        }
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
                next.extend(self.ends_of(part, place).iter().filter(|end| **end <= piece.end));
            }
            places = next;
        }
        places.contains(&piece.end)
    }

    /// A repeated part with groups: they are those of the last time. Where there must be one, all times but the last
    /// take what they prefer together, and the last what is left.
    fn repeated(&mut self, repetition: &Repetition, piece: Range<usize>) -> bool {
        if repetition.min == 0 {
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
        if piece.is_empty() {
            return true;
        }
        if repetition.max.is_some_and(|max| done >= max) {
            return false;
        }
        self.preferred(&repetition.sub, piece.start, piece.end).into_iter().any(|middle| {
            middle > piece.start
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
        let found: Rc<[usize]> = self.find_ends(hir, from).into_iter().collect();
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
            HirKind::Capture(capture) => self.find_ends(&capture.sub, from),
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
