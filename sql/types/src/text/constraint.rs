//! What automata do not know: look-around constraints, back references, and what a part prefers against its parts.
//!
//! Manual, 9.7.3.3. In the translated expression each of them is a group whose name says what it is. Here those groups get
//! short names and are taken out of the count; a back reference holds a copy of what it refers to, as in Spencer's
//! `regcomp.c`: that is what it may match, of which [`longest`](super::longest) then takes what is equal. Without the
//! constraints, and with the copies, the expression matches wherever the whole one does, and more: an automaton for that finds
//! where a match may begin.

use regex_syntax::hir::{Capture, Hir, HirKind, Repetition};
use std::collections::HashMap;

/// A constraint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Constraint {
    /// `(?=...)` and `(?!...)`: what follows, or does not.
    Ahead { negated: bool },
    /// `(?<=...)` and `(?<!...)`: what stands before, or does not.
    Behind { negated: bool },
    /// `\1`: what the group has matched.
    Back(u32),
    /// `{2,2}` and `{2,2}?`, which the parser of expressions takes for `{2}`: that is what they prefer.
    Prefers { longest: bool },
}

/// The names of groups that are constraints, with how they begin in a pattern.
const LOOKS: [(&str, &str, Constraint); 4] = [
    ("(?=", "=", Constraint::Ahead { negated: false }),
    ("(?!", "!", Constraint::Ahead { negated: true }),
    ("(?<=", "<=", Constraint::Behind { negated: false }),
    ("(?<!", "<!", Constraint::Behind { negated: true }),
];

/// The name of a back reference.
const BACK: &str = "\\";

/// Those of what prefers to be short, or long.
const PREFERENCES: [&str; 2] = ["shortest", "longest"];

impl Constraint {
    /// The look-around that a pattern begins with, and how long its beginning is.
    pub fn begun(pattern: &str) -> Option<(Constraint, usize)> {
        let (begin, _, found) = LOOKS.iter().find(|(begin, ..)| pattern.starts_with(begin))?;
        Some((*found, begin.len()))
    }

    /// What stands in the translated expression for the beginning of a look-around, or for a whole back reference. `number` is another for
    /// each.
    pub fn mark(self, number: usize) -> String {
        match self {
            Constraint::Back(group) => format!("(?P<back_{group}_{number}>(?s:.)*)"),
            Constraint::Prefers { longest } => {
                format!("(?P<{}_{number}>", PREFERENCES[usize::from(longest)])
            }
            look => {
                let at = LOOKS.iter().position(|(.., known)| *known == look);
                format!("(?P<look_{}_{number}>", at.expect("it is one of them"))
            }
        }
    }

    /// What a group is, if it is none of the pattern's own.
    pub fn of(capture: &Capture) -> Option<Constraint> {
        let name = capture.name.as_deref()?;
        if name == BACK {
            return Some(Constraint::Back(capture.index));
        }
        if let Some(longest) = PREFERENCES.iter().position(|known| *known == name) {
            return Some(Constraint::Prefers { longest: longest == 1 });
        }
        LOOKS.iter().find(|(_, known, _)| *known == name).map(|(.., found)| *found)
    }

    /// What a mark says, by the name that it has in the translated expression.
    fn marked(name: &str) -> Option<Constraint> {
        let number = |text: &str| text.split('_').next()?.parse::<u32>().ok();
        if let Some(rest) = name.strip_prefix("back_") {
            return number(rest).map(Constraint::Back);
        }
        if let Some(longest) = PREFERENCES.iter().position(|known| name.starts_with(known)) {
            return Some(Constraint::Prefers { longest: longest == 1 });
        }
        let look = number(name.strip_prefix("look_")?)?;
        LOOKS.get(look as usize).map(|(.., found)| *found)
    }

    fn name(self) -> &'static str {
        if let Constraint::Prefers { longest } = self {
            return PREFERENCES[usize::from(longest)];
        }
        let look = LOOKS.iter().find(|(.., known)| *known == self);
        look.map_or(BACK, |(_, name, _)| name)
    }
}

/// How many pieces all back references of an expression may stand for together: each holds what it refers to, which may
/// hold others.
const COPIED_PIECES_MAX: usize = 10_000;

/// The expression with its marks understood; none where its back references make it too large. `numbers` says what each group
/// of the translated expression is: which of the pattern's own, from 1, or 0.
pub(super) fn understood(hir: Hir, numbers: &[u32]) -> Option<Hir> {
    let mut groups = Groups { numbers, ended: HashMap::new(), copied: 0 };
    let understood = groups.understood(hir);
    (groups.copied <= COPIED_PIECES_MAX).then_some(understood)
}

/// The groups passed so far.
struct Groups<'n> {
    /// What each group of the translated expression is. Some are gone: `(a){0}` is nothing.
    numbers: &'n [u32],
    /// The expressions of those that have ended, by their numbers.
    ended: HashMap<u32, Hir>,
    /// Pieces that back references stand for.
    copied: usize,
}

impl Groups<'_> {
    fn understood(&mut self, hir: Hir) -> Hir {
        match hir.into_kind() {
            HirKind::Capture(capture) => self.group(capture),
            HirKind::Concat(parts) => Hir::concat(self.all(parts)),
            HirKind::Alternation(parts) => Hir::alternation(self.all(parts)),
            HirKind::Repetition(repetition) => {
                let sub = Box::new(self.understood(*repetition.sub));
                Hir::repetition(Repetition { sub, ..repetition })
            }
            HirKind::Empty => Hir::empty(),
            HirKind::Literal(literal) => Hir::literal(literal.0),
            HirKind::Class(class) => Hir::class(class),
            HirKind::Look(look) => Hir::look(look),
        }
    }

    fn all(&mut self, parts: Vec<Hir>) -> Vec<Hir> {
        parts.into_iter().map(|part| self.understood(part)).collect()
    }

    fn group(&mut self, capture: Capture) -> Hir {
        let Some(constraint) = capture.name.as_deref().and_then(Constraint::marked) else {
            let index = self.numbers[capture.index as usize - 1];
            let sub = self.understood(*capture.sub);
            self.ended.insert(index, sub.clone());
            return Hir::capture(Capture { index, name: None, sub: Box::new(sub) });
        };
        let (index, sub) = match constraint {
            Constraint::Back(group) => {
                // What is never there is never found again.
                let never = Hir::fail();
                let referred = self.ended.get(&group).unwrap_or(&never);
                self.copied = self.copied.saturating_add(pieces(referred));
                if self.copied > COPIED_PIECES_MAX {
                    return Hir::empty();
                }
                (group, without_groups(referred.clone()))
            }
            _ => (0, self.understood(*capture.sub)),
        };
        Hir::capture(Capture { index, name: Some(constraint.name().into()), sub: Box::new(sub) })
    }
}

/// How many pieces an expression has.
fn pieces(hir: &Hir) -> usize {
    1 + hir.kind().subs().iter().map(pieces).sum::<usize>()
}

/// The expression with its groups of the pattern gone; constraints stay.
fn without_groups(hir: Hir) -> Hir {
    rebuilt(hir, &|capture, sub| match Constraint::of(&capture) {
        Some(_) => Hir::capture(Capture { sub: Box::new(sub), ..capture }),
        None => sub,
    })
}

/// An expression for automata, that matches wherever this one does, and perhaps elsewhere.
pub(super) fn loosened(hir: Hir) -> Hir {
    rebuilt(hir, &|capture, sub| match Constraint::of(&capture) {
        Some(Constraint::Ahead { .. } | Constraint::Behind { .. }) => Hir::empty(),
        Some(Constraint::Back(_) | Constraint::Prefers { .. }) => sub,
        None => Hir::capture(Capture { sub: Box::new(sub), ..capture }),
    })
}

/// The expression with each group made another, inner ones first.
fn rebuilt(hir: Hir, group: &impl Fn(Capture, Hir) -> Hir) -> Hir {
    let all = |parts: Vec<Hir>| parts.into_iter().map(|part| rebuilt(part, group)).collect();
    match hir.into_kind() {
        HirKind::Capture(mut capture) => {
            let sub = std::mem::replace(&mut *capture.sub, Hir::empty());
            group(capture, rebuilt(sub, group))
        }
        HirKind::Concat(parts) => Hir::concat(all(parts)),
        HirKind::Alternation(parts) => Hir::alternation(all(parts)),
        HirKind::Repetition(repetition) => {
            let sub = Box::new(rebuilt(*repetition.sub, group));
            Hir::repetition(Repetition { sub, ..repetition })
        }
        HirKind::Empty => Hir::empty(),
        HirKind::Literal(literal) => Hir::literal(literal.0),
        HirKind::Class(class) => Hir::class(class),
        HirKind::Look(look) => Hir::look(look),
    }
}

/// Whether there is a back reference in an expression.
pub(super) fn refers_back(hir: &Hir) -> bool {
    match hir.kind() {
        HirKind::Capture(capture) => {
            matches!(Constraint::of(capture), Some(Constraint::Back(_)))
                || refers_back(&capture.sub)
        }
        HirKind::Concat(parts) | HirKind::Alternation(parts) => parts.iter().any(refers_back),
        HirKind::Repetition(repetition) => refers_back(&repetition.sub),
        HirKind::Empty | HirKind::Literal(_) | HirKind::Class(_) | HirKind::Look(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use crate::sqlstate::SqlState;
    use crate::text::regular::is_match;

    #[test]
    fn what_back_references_stand_for_is_limited() {
        let twice = |groups: u32| {
            (1..groups).fold("(a)".to_owned(), |text, group| text + &format!(r"(\{group}\{group})"))
        };
        assert_eq!(is_match(&"a".repeat(15), &twice(4), "").ok(), Some(true));
        let answer = is_match("a", &twice(40), "");
        assert_eq!(
            answer.err().map(|error| error.state()),
            Some(SqlState::INVALID_REGULAR_EXPRESSION)
        );
    }

    #[test]
    fn what_takes_too_long_is_given_up() {
        // Each is there twice, and so the letters are never odd in number.
        let text = "a".repeat(61) + "b";
        let answer = is_match(&text, r"^(a*)(a*)(a*)(a*)(a*)\1\2\3\4\5b$", "");
        assert_eq!(
            answer.err().map(|error| error.state()),
            Some(SqlState::INVALID_REGULAR_EXPRESSION)
        );
    }
}
