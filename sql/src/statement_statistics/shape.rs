//! The shape of a statement: its text without its constants, and a number that all statements of that shape have
//! (`compute_query_id`, PostgreSQL 15 manual, sections 20.9.2 and F.32).
//!
//! PostgreSQL walks the analysed tree; here one pass over the tokens finds the constants, and the number is that of all
//! other tokens, each as the grammar reads it (words in lower case, comments and blanks left out), with the kind of each
//! constant. The relations that the statement reads and changes go into the number beside it ([`Shape::id`]), so that
//! equal texts over different tables differ. A constant becomes `$n`, numbered in the order of the text behind the
//! parameters that it has already.
//!
//! Difference: texts that differ in aliases, in parentheses or in how a type is named have different numbers here.

use crate::parse::keyword::{Category, Keyword};
use crate::parse::lexer::{Kind, Lexer, Token};
use rustc_hash::FxHasher;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// What a statement's text comes to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shape {
    /// The number of its tokens.
    tokens: u64,
    /// The text, without its constants where it is one that has a plan.
    pub text: Arc<str>,
}

/// What stands in a constant's place in the number.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Constant {
    Integer,
    Number,
    Text,
    Bits,
    Bool,
    Null,
    Field,
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
    /// The shape of a statement with a plan. In one whose literals have been taken out its parameters are these: `lifted`
    /// has their kinds, as [`crate::parse::lift`] notes them.
    #[must_use]
    pub fn planned(text: &str, lifted: Option<&str>) -> Shape {
        let text = text.trim();
        let tokens = Lexer::tokens(text);
        let mut walk =
            Walk { text, lifted, hasher: FxHasher::default(), places: Vec::new(), parameters: 0 };
        walk.run(&tokens);
        Shape { tokens: walk.hasher.finish(), text: walk.replaced().into() }
    }

    /// That of any other statement, whose text stands as it is.
    #[must_use]
    pub fn utility(text: &str) -> Shape {
        let text = text.trim();
        let mut hasher = FxHasher::default();
        text.hash(&mut hasher);
        Shape { tokens: hasher.finish(), text: text.into() }
    }

    /// The number of a statement of this shape over these relations: never 0.
    #[must_use]
    pub fn id(&self, relations: impl Iterator<Item = u32>) -> i64 {
        let mut hasher = FxHasher::default();
        self.tokens.hash(&mut hasher);
        for relation in relations {
            relation.hash(&mut hasher);
        }
        match mixed(hasher.finish()).cast_signed() {
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
    /// The kinds of the literals that parameters stand for.
    lifted: Option<&'t str>,
    hasher: FxHasher,
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
                self.constant(number_kind(next), token.start, next.end);
                at += 2;
                continue;
            }
            match self.constant_of(token, before, next, group, positions) {
                Some(kind) => self.constant(kind, token.start, token.end),
                None => self.token(token),
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

    /// What constant a token is; none if it is none.
    fn constant_of(
        &mut self,
        token: Token,
        before: Option<Token>,
        next: Token,
        group: Group,
        positions: bool,
    ) -> Option<Constant> {
        let behind = |word| before.is_some_and(|before| is_keyword(before, word));
        match token.kind {
            Kind::Integer if group == Group::Modifiers => None,
            // Alone between commas it is the number of a column.
            Kind::Integer
                if positions
                    && before.is_some_and(|before| {
                        matches!(before.kind, Kind::Symbol(b',' | b'('))
                            || is_keyword(before, Keyword::By)
                    })
                    && !continues(next) =>
            {
                None
            }
            Kind::Integer | Kind::Number => Some(number_kind(token)),
            Kind::String
            | Kind::EscapeString
            | Kind::UnicodeString
            | Kind::DollarString
            | Kind::National => Some(Constant::Text),
            Kind::Bits => Some(Constant::Bits),
            // `x IS NULL` asks for none, and so does `x IS DISTINCT FROM NULL`.
            Kind::Keyword(Keyword::Null) => {
                let asked = behind(Keyword::Is) || behind(Keyword::Not) || behind(Keyword::From);
                (!asked).then_some(Constant::Null)
            }
            Kind::Keyword(Keyword::True | Keyword::False) => {
                let asked = behind(Keyword::Is)
                    || behind(Keyword::Not) && {
                        // NOT TRUE negates a constant; IS NOT TRUE asks.
                        self.text[..token.start as usize]
                            .trim_end()
                            .to_ascii_lowercase()
                            .ends_with("is not")
                    };
                (!asked).then_some(Constant::Bool)
            }
            Kind::Keyword(Keyword::All) if behind(Keyword::Limit) => Some(Constant::Null),
            // EXTRACT's field is a text to the function behind it.
            Kind::Word | Kind::Quoted | Kind::Keyword(_)
                if before.is_some_and(|before| before.kind == Kind::Symbol(b'('))
                    && is_keyword(next, Keyword::From)
                    && self.is_extract(token) =>
            {
                Some(Constant::Field)
            }
            _ => None,
        }
    }

    /// Whether EXTRACT stands before the parenthesis before this token.
    fn is_extract(&self, token: Token) -> bool {
        let before = self.text[..token.start as usize].trim_end().trim_end_matches('(').trim_end();
        before.to_ascii_lowercase().ends_with("extract")
    }

    fn constant(&mut self, kind: Constant, start: u32, end: u32) {
        (0_u8, kind).hash(&mut self.hasher);
        self.places.push(Place { start: start as usize, end: end as usize });
    }

    /// Takes any other token into the number.
    fn token(&mut self, token: Token) {
        let text = &self.text[token.start as usize..token.end as usize];
        match token.kind {
            Kind::Parameter => {
                let number: u32 = text[1..].parse().unwrap_or(0);
                if let Some(kinds) = self.lifted {
                    let place =
                        usize::try_from(number).ok().and_then(|number| number.checked_sub(1));
                    let kind = match place.and_then(|place| kinds.as_bytes().get(place)) {
                        Some(b'u') => Constant::Text,
                        _ => Constant::Integer,
                    };
                    return self.constant(kind, token.start, token.end);
                }
                self.parameters = self.parameters.max(number);
                (1_u8, number).hash(&mut self.hasher);
            }
            Kind::Quoted => (2_u8, &text[1..text.len() - 1]).hash(&mut self.hasher),
            Kind::Word | Kind::Keyword(_) => {
                (2_u8, text.to_ascii_lowercase().as_str()).hash(&mut self.hasher);
            }
            _ => (3_u8, text).hash(&mut self.hasher),
        }
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

/// The kind of a number.
fn number_kind(token: Token) -> Constant {
    match token.kind {
        Kind::Number => Constant::Number,
        _ => Constant::Integer,
    }
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
        Shape::planned(text, None).text.to_string()
    }

    fn id(text: &str) -> i64 {
        Shape::planned(text, None).id(std::iter::empty())
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
    fn what_differs_in_constants_has_one_number() {
        let one = "select a from t where b = 5 and c = 'x' limit 3";
        assert_eq!(id(one), id("SELECT  a FROM \"t\" -- c\n WHERE b = 77 AND c = 'yy' LIMIT 9;"));
        assert_ne!(id(one), id("select a from t where b = 5 and c = 7 limit 3"));
        assert_ne!(id("select a from t order by 1"), id("select a from t order by 2"));
        // A literal that was taken out is one that was not.
        let lifted = Shape::planned("select a from t where b = $1 and c = $2 limit 3", Some("iu"));
        assert_eq!(lifted.id(std::iter::empty()), id(one));
        assert_eq!(&*lifted.text, "select a from t where b = $1 and c = $2 limit $3");
        let typed =
            Shape::planned("select a from t where d = date '2000-01-01' and b = $1", Some("i"));
        assert_eq!(&*typed.text, "select a from t where d = date $1 and b = $2");
    }
}
