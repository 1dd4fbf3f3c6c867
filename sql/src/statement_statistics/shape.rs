//! The shape of a statement: its text without its constants, and a number that all statements of that shape have
//! (`compute_query_id`, PostgreSQL 15 manual, sections 20.9.2 and F.32).
//!
//! One pass over the tokens finds the constants. A constant becomes `$n`, numbered in the order of the text behind the
//! parameters that it has already. The number of a statement that has been bound is that of what it means
//! ([`super::meaning`]), and of any other that of its text.

use crate::parse::keyword::{Category, Keyword};
use crate::parse::lexer::{Kind, Lexer, Token};
use rustc_hash::FxHasher;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// What a statement's text comes to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shape {
    /// The number of its text, without the constants.
    number: u64,
    /// The text, without its constants where it is one that has a plan.
    pub text: Arc<str>,
}

/// A constant, by its place in the text.
struct Place {
    start: usize,
    end: usize,
}

/// Mixes a number well: what is hashed is small and regular (`fmix64` of MurmurHash3).
fn mixed(mut number: u64) -> u64 {
    number ^= number >> 33;
    number = number.wrapping_mul(0xFF51_AFD7_ED55_8CCD);
    number ^= number >> 33;
    number = number.wrapping_mul(0xC4CE_B9FE_1A85_EC53);
    number ^ number >> 33
}

impl Shape {
    /// The shape of a statement with a plan. In one whose literals have been taken out its parameters are these.
    #[must_use]
    pub fn planned(text: &str, lifted: bool) -> Shape {
        let text = text.trim();
        let tokens = Lexer::tokens(text);
        let mut walk = Walk { text, lifted, places: Vec::new(), parameters: 0 };
        walk.run(&tokens);
        Shape::utility(&walk.replaced())
    }

    /// That of any other statement, whose text stands as it is.
    #[must_use]
    pub fn utility(text: &str) -> Shape {
        let text = text.trim();
        let mut hasher = FxHasher::default();
        text.hash(&mut hasher);
        Shape { number: hasher.finish(), text: text.into() }
    }

    /// The number of a statement of this shape that means this, if it has been bound: never 0.
    #[must_use]
    pub fn id(&self, meaning: Option<u64>) -> i64 {
        match mixed(meaning.unwrap_or(self.number)).cast_signed() {
            0 => 1,
            id => id,
        }
    }
}

/// What a parenthesis stands for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Group {
    /// A query of its own.
    Query,
    /// The modifiers of a type.
    Modifiers,
    /// A list of columns by which is sorted or grouped, within a clause where numbers are positions.
    Positions,
    /// Anything else.
    Other,
}

struct Walk<'t> {
    text: &'t str,
    /// Whether parameters stand for literals.
    lifted: bool,
    places: Vec<Place>,
    /// The highest number of a parameter.
    parameters: u32,
}

impl Walk<'_> {
    fn run(&mut self, tokens: &[Token]) {
        // For each open parenthesis what it is, and whether numbers are positions at this depth.
        let mut groups = vec![(Group::Query, false)];
        let mut at = 0;
        while let Some(&token) = tokens.get(at) {
            let next = tokens.get(at + 1).copied().unwrap_or(token);
            let before = at.checked_sub(1).map(|at| tokens[at]);
            let (group, positions) = *groups.last().unwrap_or(&(Group::Query, false));
            match token.kind {
                Kind::End | Kind::Symbol(b';') => break,
                Kind::Symbol(b'(') => {
                    let inner = self.group(before, next, positions);
                    groups.push((inner, inner == Group::Positions));
                }
                Kind::Symbol(b')') => {
                    groups.pop();
                }
                Kind::Keyword(word) => {
                    let by_position = is_keyword(next, Keyword::By)
                        && matches!(word, Keyword::Order | Keyword::Group)
                        && group == Group::Query
                        || word == Keyword::On
                            && before.is_some_and(|before| is_keyword(before, Keyword::Distinct));
                    let ends = matches!(
                        word,
                        Keyword::Having
                            | Keyword::Limit
                            | Keyword::Offset
                            | Keyword::Fetch
                            | Keyword::For
                            | Keyword::Window
                            | Keyword::Union
                            | Keyword::Intersect
                            | Keyword::Except
                            | Keyword::Order
                            | Keyword::From
                    );
                    if let Some((_, positions)) = groups.last_mut() {
                        *positions = by_position || *positions && !ends;
                    }
                }
                _ => {}
            }
            let signed = token.kind == Kind::Symbol(b'-')
                && matches!(next.kind, Kind::Integer | Kind::Number)
                && before.is_none_or(begins_operand);
            let positions = positions || group == Group::Positions;
            if signed {
                self.constant(token.start, next.end);
                at += 2;
                continue;
            }
            if self.is_constant(token, before, next, group, positions) {
                self.constant(token.start, token.end);
            }
            at += 1;
        }
    }

    /// What a parenthesis begins.
    fn group(&self, before: Option<Token>, next: Token, positions: bool) -> Group {
        let query = matches!(
            next.kind,
            Kind::Keyword(Keyword::Select | Keyword::With | Keyword::Values | Keyword::Table)
        );
        match before.map(|before| before.kind) {
            _ if query => Group::Query,
            Some(Kind::Keyword(word)) if word.takes_modifiers() => Group::Modifiers,
            Some(Kind::Keyword(
                Keyword::On | Keyword::Sets | Keyword::Rollup | Keyword::Cube | Keyword::By,
            ))
            | Some(Kind::Symbol(b'(' | b','))
                if positions =>
            {
                Group::Positions
            }
            _ => Group::Other,
        }
    }

    /// Whether a token is a constant.
    fn is_constant(
        &mut self,
        token: Token,
        before: Option<Token>,
        next: Token,
        group: Group,
        positions: bool,
    ) -> bool {
        let behind = |word| before.is_some_and(|before| is_keyword(before, word));
        match token.kind {
            Kind::Integer if group == Group::Modifiers => false,
            // Alone between commas it is the number of a column.
            Kind::Integer
                if positions
                    && before.is_some_and(|before| {
                        matches!(before.kind, Kind::Symbol(b',' | b'('))
                            || is_keyword(before, Keyword::By)
                    })
                    && !continues(next) =>
            {
                false
            }
            Kind::Integer
            | Kind::Number
            | Kind::String
            | Kind::EscapeString
            | Kind::UnicodeString
            | Kind::DollarString
            | Kind::National
            | Kind::Bits => true,
            Kind::Parameter => {
                let number = self.text[token.start as usize + 1..token.end as usize].parse();
                if !self.lifted {
                    self.parameters = self.parameters.max(number.unwrap_or(0));
                }
                self.lifted
            }
            // `x IS NULL` asks for none, and so does `x IS DISTINCT FROM NULL`.
            Kind::Keyword(Keyword::Null) => {
                !(behind(Keyword::Is) || behind(Keyword::Not) || behind(Keyword::From))
            }
            Kind::Keyword(Keyword::True | Keyword::False) => {
                !(behind(Keyword::Is)
                    || behind(Keyword::Not) && {
                        // NOT TRUE negates a constant; IS NOT TRUE asks.
                        self.text[..token.start as usize]
                            .trim_end()
                            .to_ascii_lowercase()
                            .ends_with("is not")
                    })
            }
            Kind::Keyword(Keyword::All) => behind(Keyword::Limit),
            // EXTRACT's field is a text to the function behind it.
            Kind::Word | Kind::Quoted | Kind::Keyword(_)
                if before.is_some_and(|before| before.kind == Kind::Symbol(b'('))
                    && is_keyword(next, Keyword::From)
                    && self.is_extract(token) =>
            {
                true
            }
            _ => false,
        }
    }

    /// Whether EXTRACT stands before the parenthesis before this token.
    fn is_extract(&self, token: Token) -> bool {
        let before = self.text[..token.start as usize].trim_end().trim_end_matches('(').trim_end();
        before.to_ascii_lowercase().ends_with("extract")
    }

    fn constant(&mut self, start: u32, end: u32) {
        self.places.push(Place { start: start as usize, end: end as usize });
    }

    /// The text with `$n` in the places of its constants.
    fn replaced(&self) -> String {
        let mut out = String::with_capacity(self.text.len());
        let mut copied = 0;
        for (number, place) in (self.parameters + 1..).zip(&self.places) {
            out.push_str(&self.text[copied..place.start]);
            out.push_str(&format!("${number}"));
            copied = place.end;
        }
        let end = self.text.trim_end_matches(|c: char| c == ';' || c.is_whitespace()).len();
        out.push_str(self.text.get(copied..end).unwrap_or_default());
        out
    }
}

fn is_keyword(token: Token, word: Keyword) -> bool {
    token.kind == Kind::Keyword(word)
}

/// Whether an expression goes on with this token.
fn continues(next: Token) -> bool {
    !matches!(
        next.kind,
        Kind::End
            | Kind::Symbol(b',' | b')' | b';')
            | Kind::Keyword(
                Keyword::Asc
                    | Keyword::Desc
                    | Keyword::Using
                    | Keyword::Nulls
                    | Keyword::Having
                    | Keyword::Limit
                    | Keyword::Offset
                    | Keyword::Fetch
                    | Keyword::For
                    | Keyword::Order
                    | Keyword::Window
                    | Keyword::Union
                    | Keyword::Intersect
                    | Keyword::Except
            )
    )
}

/// Whether an operand begins behind a token, so that a minus is a sign.
fn begins_operand(before: Token) -> bool {
    match before.kind {
        Kind::Word
        | Kind::Quoted
        | Kind::UnicodeQuoted
        | Kind::Integer
        | Kind::Number
        | Kind::String
        | Kind::EscapeString
        | Kind::DollarString
        | Kind::Bits
        | Kind::Parameter
        | Kind::Symbol(b')' | b']') => false,
        // Words that end an operand.
        Kind::Keyword(word) => {
            !matches!(
                word,
                Keyword::Null
                    | Keyword::True
                    | Keyword::False
                    | Keyword::End
                    | Keyword::CurrentDate
                    | Keyword::CurrentTime
                    | Keyword::CurrentTimestamp
                    | Keyword::Localtime
                    | Keyword::Localtimestamp
            ) && !word.takes_modifiers()
                && (word.category() == Category::Reserved
                    || matches!(
                        word,
                        Keyword::By
                            | Keyword::Between
                            | Keyword::Like
                            | Keyword::Ilike
                            | Keyword::Escape
                            | Keyword::Rows
                            | Keyword::Range
                    ))
        }
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(text: &str) -> String {
        Shape::planned(text, false).text.to_string()
    }

    #[test]
    fn constants_become_parameters_as_postgresql_numbers_them() {
        for (written, shown) in [
            ("select 1;", "select $1"),
            (" SELECT   2 ;", "SELECT   $1"),
            (
                "select 1.5, 'x', true, false, null, -1, 3 - 1, a - 1, (-2), - 2, +3 from t",
                "select $1, $2, $3, $4, $5, $6, $7 - $8, a - $9, ($10), $11, +$12 from t",
            ),
            (
                "select a, count(*) from t group by 1 order by 2 desc, 1 limit 5 offset 2",
                "select a, count(*) from t group by 1 order by 2 desc, 1 limit $1 offset $2",
            ),
            ("select a from t limit all", "select a from t limit $1"),
            (
                "select a::varchar(10), cast(a as numeric(10,2)), '5'::int, date '2000-01-01', interval '1' day, timestamp(3) '2000-01-01' from t",
                "select a::varchar(10), cast(a as numeric(10,2)), $1::int, date $2, interval $3 day, timestamp(3) $4 from t",
            ),
            (
                "select extract(year from c), extract('month' from c), position('a' in b) from t",
                "select extract($1 from c), extract($2 from c), position($3 in b) from t",
            ),
            (
                "select * from t where a is null and b is not null and (a=1) is true and a is distinct from null",
                "select * from t where a is null and b is not null and (a=$1) is true and a is distinct from null",
            ),
            (
                "select sum(a) over (order by 1 rows 1 preceding), string_agg(b, ',' order by 1) from t",
                "select sum(a) over (order by $1 rows $2 preceding), string_agg(b, $3 order by $4) from t",
            ),
            ("select distinct on (1) a from t", "select distinct on (1) a from t"),
            ("select 1 union all select 2 order by 1", "select $1 union all select $2 order by 1"),
            (
                "select b from t order by 1, a + 1, 'x'::text",
                "select b from t order by 1, a + $1, $2::text",
            ),
            ("select a from t where b = $2 and a = 5", "select a from t where b = $2 and a = $3"),
            (
                "select current_timestamp(3), current_date - 1",
                "select current_timestamp(3), current_date - $1",
            ),
        ] {
            assert_eq!(text(written), shown);
        }
    }

    #[test]
    fn what_stands_for_a_literal_is_a_constant() {
        let lifted = Shape::planned("select a from t where b = $1 and c = $2 limit 3", true);
        assert_eq!(&*lifted.text, "select a from t where b = $1 and c = $2 limit $3");
        let typed = Shape::planned("select a from t where d = date '2000-01-01' and b = $1", true);
        assert_eq!(&*typed.text, "select a from t where d = date $1 and b = $2");
    }
}
