//! Searches of texts that are too long to be searched at one go.
//!
//! A search by `regex` answers when it has gone over the whole text: of a gigabyte that takes seconds, in which nobody sees
//! a cancel. A text beyond [`account::LARGE`] is walked by bytes instead, through automata of the same expression that are built
//! as they are needed, and it is asked at each stretch whether the statement is to stop. Forward, the leftmost match's end is
//! found; backward from there its beginning. Where an automaton gives up (at Unicode's word boundaries, in a text that is not
//! ASCII) there is no answer, and the expression is [simulated](super::simulation).

use crate::account;
use regex_automata::hybrid::dfa::{Cache, DFA};
use regex_automata::nfa::thompson::{self, NFA, WhichCaptures};
use regex_automata::{Anchored, Input, MatchKind};
use regex_syntax::hir::Hir;
use std::cell::RefCell;

/// How many bytes are walked over at most until it is asked whether to go on.
const STRETCH_BYTES_MAX: usize = 64 << 10;

/// What may be done meanwhile: for each byte a state may have to be built of all those of the expression.
const STRETCH_WORK: usize = 4 << 20;

/// What a walk has found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Walked {
    /// A match; where it ends, or where it begins if the walk went backward.
    Match(usize),
    Nothing,
    GaveUp,
}

/// Finds the leftmost match.
pub(super) struct LongSearch {
    forward: (DFA, RefCell<Cache>),
    backward: (DFA, RefCell<Cache>),
}

impl LongSearch {
    /// For an expression without constraints; none if it is too large.
    pub fn new(hir: &Hir, bytes_max: usize) -> Option<LongSearch> {
        let automaton = |kind, reverse| {
            let config = thompson::Config::new().nfa_size_limit(Some(bytes_max));
            let config = config.reverse(reverse).which_captures(WhichCaptures::None);
            let nfa = NFA::compiler().configure(config).build_from_hir(hir).ok()?;
            let config = DFA::config().match_kind(kind).unicode_word_boundary(true);
            let dfa = DFA::builder().configure(config).build_from_nfa(nfa).ok()?;
            let cache = RefCell::new(dfa.create_cache());
            Some((dfa, cache))
        };
        let forward = automaton(MatchKind::LeftmostFirst, false)?;
        Some(LongSearch { forward, backward: automaton(MatchKind::All, true)? })
    }

    /// Whether there is a match.
    pub fn is_match(&self, text: &str) -> Walked {
        let (dfa, cache) = &self.forward;
        forward(dfa, &mut cache.borrow_mut(), &Input::new(text).earliest(true))
    }

    /// Where the first match begins that begins at `from` or behind it.
    pub fn beginning(&self, text: &str, from: usize) -> Walked {
        let (dfa, cache) = &self.forward;
        let input = Input::new(text).range(from..);
        let end = match forward(dfa, &mut cache.borrow_mut(), &input) {
            Walked::Match(end) => end,
            other => return other,
        };
        let (dfa, cache) = &self.backward;
        let input = Input::new(text).range(from..end).anchored(Anchored::Yes);
        match backward(dfa, &mut cache.borrow_mut(), &input) {
            // Within a character an expression that can match nothing does not match.
            Walked::Match(start) if text.is_char_boundary(start) && text.is_char_boundary(end) => {
                Walked::Match(start)
            }
            _ => Walked::GaveUp,
        }
    }
}

/// How many bytes are walked over until it is asked whether to go on.
fn stretch_of(dfa: &DFA) -> usize {
    (STRETCH_WORK / dfa.get_nfa().states().len().max(1)).clamp(1, STRETCH_BYTES_MAX)
}

/// Walks from the beginning of a range, which goes to the end of its text: the end of the match that the automaton is for.
pub(super) fn forward(dfa: &DFA, cache: &mut Cache, input: &Input<'_>) -> Walked {
    let Ok(mut state) = dfa.start_state_forward(cache, input) else { return Walked::GaveUp };
    let mut found = Walked::Nothing;
    let mut at = input.start();
    for stretch in input.haystack()[at..].chunks(stretch_of(dfa)) {
        account::insist();
        for byte in stretch {
            let Ok(next) = dfa.next_state(cache, state, *byte) else { return Walked::GaveUp };
            state = next;
            if state.is_match() {
                // An automaton knows of a match when it has seen the byte behind it.
                found = Walked::Match(at);
                if input.get_earliest() {
                    return found;
                }
            } else if state.is_dead() {
                return found;
            } else if state.is_quit() {
                return Walked::GaveUp;
            }
            at += 1;
        }
    }
    match dfa.next_eoi_state(cache, state) {
        Ok(state) if state.is_match() => Walked::Match(at),
        Ok(_) => found,
        Err(_) => Walked::GaveUp,
    }
}

/// Walks from the end of a range to its beginning: where the longest match begins that ends there.
fn backward(dfa: &DFA, cache: &mut Cache, input: &Input<'_>) -> Walked {
    let Ok(mut state) = dfa.start_state_reverse(cache, input) else { return Walked::GaveUp };
    let mut found = Walked::Nothing;
    let mut at = input.end();
    for stretch in input.haystack()[input.get_range()].rchunks(stretch_of(dfa)) {
        account::insist();
        for byte in stretch.iter().rev() {
            let Ok(next) = dfa.next_state(cache, state, *byte) else { return Walked::GaveUp };
            state = next;
            if state.is_match() {
                found = Walked::Match(at);
            } else if state.is_dead() {
                return found;
            } else if state.is_quit() {
                return Walked::GaveUp;
            }
            at -= 1;
        }
    }
    let before = at.checked_sub(1).map(|before| input.haystack()[before]);
    let last = match before {
        Some(before) => dfa.next_state(cache, state, before),
        None => dfa.next_eoi_state(cache, state),
    };
    match last {
        Ok(state) if state.is_match() => Walked::Match(at),
        Ok(state) if state.is_quit() => Walked::GaveUp,
        Ok(_) => found,
        Err(_) => Walked::GaveUp,
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use regex::Regex;

    /// Expressions of all kinds.
    pub const PATTERNS: [&str; 28] = [
        "a",
        "ab*",
        "(a|b)*c",
        "a*?b",
        "^b",
        "b$",
        "(?m)^b",
        "(?m)a$",
        r"\bb",
        r"\Ba",
        r"\b",
        "",
        "x?",
        "a{2,3}",
        "[^a]+",
        "(?i)B",
        "\u{e4}",
        "[\u{e0}-\u{ff}]+c?",
        "(ab|a)(c|bcd)",
        "(?s).*",
        "zz",
        r"\n",
        r"\b\u{e4}|b\b",
        r"(\b[ab]+)|(\w)",
        r"(a|ab)(c|b|)*",
        r"((a)|(b))*?c",
        r"(?:(a{0,3})b?){2}",
        r"(x*)*",
    ];

    /// Short texts over letters that they tell apart.
    pub fn texts() -> impl Iterator<Item = String> {
        let pieces = ["a", "b", "c", "\n", " ", "\u{e4}", "\u{1f600}", "ab", "x"];
        let piece = move |seed: usize, place: usize| {
            pieces[(seed * 31 + place * place * 7 + seed / 9) % pieces.len()]
        };
        (0..200).map(move |seed| (0..seed % 7).map(|place| piece(seed, place)).collect())
    }

    /// Whatever an expression looks at, from whatever place on: what a walk finds is what `regex` finds.
    #[test]
    fn a_walk_finds_what_a_search_at_one_go_finds() {
        let mut answered = 0;
        for pattern in PATTERNS {
            let regex = Regex::new(pattern).unwrap();
            let hir = regex_syntax::parse(pattern).unwrap();
            let search = LongSearch::new(&hir, 1 << 20).unwrap();
            for text in texts() {
                let expected = regex.is_match(&text);
                match search.is_match(&text) {
                    Walked::GaveUp => {}
                    found => assert_eq!(found != Walked::Nothing, expected, "{pattern} {text:?}"),
                }
                for from in (0..=text.len()).filter(|from| text.is_char_boundary(*from)) {
                    let expected = regex.find_at(&text, from).map(|found| found.start());
                    match search.beginning(&text, from) {
                        Walked::GaveUp => assert!(!text.is_ascii(), "{pattern} {text:?}"),
                        Walked::Match(start) => {
                            answered += 1;
                            assert_eq!(Some(start), expected, "{pattern} {text:?} {from}");
                        }
                        Walked::Nothing => assert_eq!(None, expected, "{pattern} {text:?} {from}"),
                    }
                }
            }
        }
        assert!(answered > 5000, "{answered}");
    }
}
