//! Literal lifting: statements that differ only in their literals share one plan.
//!
//! Clients of the simple protocol write values into the text. [`lift`] takes them out again with one pass of the lexer:
//! the key is the same statement with parameters in their places, itself valid SQL, to be bound with the parameter types
//! that [`Lifted::types`] gives. An integer that fits int4, with the
//! minus that the grammar makes part of it, becomes a parameter of type int4, a plain string one of type
//! unknown, which the binder resolves by the rules that it has for the string itself.
//!
//! It changes nothing, by leaving alone what a parameter would change: everything from GROUP, ORDER, LIMIT, OFFSET, FETCH
//! or WINDOW on (positions, and expressions that must be equal), numbers in the parentheses of a type, statements with
//! parameters, `[`, DISTINCT, GROUP or set operations, any string that is not a plain one, SELECT without FROM, and every
//! statement that is not SELECT, INSERT, UPDATE or DELETE; and what is computed when it is planned, rows or no rows: two
//! literals beside one operator (`1 / 0`), an operator with nothing on its left (`|/ -1`), a call with nothing but literals
//! (`sqrt(-1)`), an integer that is cast (`40000::int2`). If the key does not parse or bind, or a string is no value of the type found for it,
//! the caller runs the text as it stands, so that its errors and their places are those of the text.

use super::keyword::Keyword;
use super::lexer::{Kind, Lexer, Token};
use sql_types::Oid;

/// int4.
const INT4: Oid = Oid(23);
/// A parameter whose type the binder finds.
const UNKNOWN: Oid = Oid(0);

/// More literals than this are not worth lifting: a bulk INSERT, whose text hardly comes twice.
const LITERALS_MAX: usize = 64;

/// A literal that was taken out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LiftedLiteral {
    /// An integer.
    Int4(i32),
    /// A string, without its quotes: of type unknown.
    Unknown(String),
}

/// A statement without its literals.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lifted {
    /// The statement with `$1`, `$2` and so on. A comment at its end tells the literals' kinds, so that equal keys have
    /// equal types.
    pub key: String,
    /// What stood in their places.
    pub literals: Vec<LiftedLiteral>,
}

impl Lifted {
    /// The types to bind the key with; 0 is one that the binder finds.
    #[must_use]
    pub fn types(&self) -> Vec<Oid> {
        let ty = |literal: &LiftedLiteral| match literal {
            LiftedLiteral::Int4(_) => INT4,
            LiftedLiteral::Unknown(_) => UNKNOWN,
        };
        self.literals.iter().map(ty).collect()
    }
}

impl Lifted {
    /// The kinds of the literals, a letter each: they are part of the key.
    #[must_use]
    pub fn kinds(&self) -> String {
        let kind = |literal: &LiftedLiteral| match literal {
            LiftedLiteral::Int4(_) => 'i',
            LiftedLiteral::Unknown(_) => 'u',
        };
        self.literals.iter().map(kind).collect()
    }
}

/// The statement without its literals; nothing if it has none to take, or is better left alone.
#[must_use]
pub fn lift(text: &str) -> Option<Lifted> {
    let mut lexer = Lexer::new(text);
    let first = lexer.next_token();
    if !matches!(
        first.kind,
        Kind::Keyword(Keyword::Select | Keyword::Insert | Keyword::Update | Keyword::Delete)
    ) {
        return None;
    }
    let mut lifted = Lifted { key: String::with_capacity(text.len() + 16), literals: Vec::new() };
    let mut copied = 0;
    let mut before = first;
    let mut frozen = false;
    let mut ended = false;
    let mut reads = first.kind != Kind::Keyword(Keyword::Select);
    // Whether an operator at hand has a literal on its left.
    let mut folds = false;
    // Where a minus stands that has nothing on its left: the grammar makes it part of the number behind it.
    let mut sign = None;
    // Inside the parentheses of a type's modifiers, which no parameter may stand in.
    let mut modifiers = false;
    let mut groups: Vec<Group> = Vec::new();
    loop {
        let token = lexer.next_token();
        let computed = match token.kind {
            Kind::Symbol(b'(') => {
                groups.push(Group::behind(before));
                false
            }
            Kind::Symbol(b')') => groups.pop().is_some_and(|group| group.is_computed()),
            _ => {
                groups.last_mut().is_some_and(|group| group.take(token))
                    || is_cast(token) && before.kind == Kind::Integer
                    || is_prefix(token, before)
            }
        };
        if computed {
            return None;
        }
        if ended && token.kind != Kind::End {
            return None;
        }
        match token.kind {
            Kind::End => break,
            Kind::Error(_)
            | Kind::Parameter
            | Kind::Symbol(b'[')
            | Kind::EscapeString
            | Kind::UnicodeString
            | Kind::DollarString
            | Kind::National
            | Kind::Bits => return None,
            Kind::Keyword(
                Keyword::Distinct
                | Keyword::Group
                | Keyword::Having
                | Keyword::Union
                | Keyword::Intersect
                | Keyword::Except
                | Keyword::Over
                | Keyword::With
                | Keyword::Into,
            ) if !(token.kind == Kind::Keyword(Keyword::Into)
                && before.kind == Kind::Keyword(Keyword::Insert)) =>
            {
                return None;
            }
            Kind::Keyword(
                Keyword::Order
                | Keyword::Limit
                | Keyword::Offset
                | Keyword::Fetch
                | Keyword::Window,
            ) => frozen = true,
            Kind::Keyword(Keyword::From) => reads = true,
            Kind::Symbol(b';') => ended = true,
            Kind::Symbol(b'(') => modifiers = names_type(before),
            Kind::Symbol(b')') => modifiers = false,
            Kind::Integer if !frozen && !modifiers => {
                let digits = &text[token.start as usize..token.end as usize];
                let (start, value) = match sign {
                    Some(start) => (start, format!("-{digits}").parse()),
                    None => (token.start, digits.parse()),
                };
                if let Ok(value) = value {
                    let whole = Token { start, ..token };
                    replace(&mut lifted, text, &mut copied, whole, LiftedLiteral::Int4(value));
                }
            }
            Kind::String if !frozen && !is_typed(before) => {
                let quoted = &text[token.start as usize + 1..token.end as usize - 1];
                // One that goes on over lines is left to the parser.
                if quoted.contains('\n') {
                    return None;
                }
                let value = LiftedLiteral::Unknown(quoted.replace("''", "'"));
                replace(&mut lifted, text, &mut copied, token, value);
            }
            _ => {}
        }
        if lifted.literals.len() > LITERALS_MAX || (folds && is_literal(token)) {
            return None;
        }
        sign = (token.kind == Kind::Symbol(b'-') && begins_operand(before)).then_some(token.start);
        folds = is_arithmetic(token) && (is_literal(before) || folds);
        before = token;
    }
    if lifted.literals.is_empty() || !reads {
        return None;
    }
    lifted.key.push_str(&text[copied..]);
    lifted.key.push_str("\n--");
    let kinds = lifted.kinds();
    lifted.key.push_str(&kinds);
    Some(lifted)
}

/// What stands between two parentheses.
struct Group {
    /// It is a call's arguments, or what an operator or CAST is applied to.
    applied: bool,
    /// It is CAST's.
    cast: bool,
    literals: usize,
    /// Nothing but literals, their signs and commas.
    constant: bool,
}

impl Group {
    fn behind(before: Token) -> Group {
        let call = matches!(before.kind, Kind::Word | Kind::Quoted | Kind::UnicodeQuoted);
        let cast = before.kind == Kind::Keyword(Keyword::Cast);
        let applied = call || cast || is_arithmetic(before);
        Group { applied, cast, literals: 0, constant: true }
    }

    /// Takes a token in; whether it is an integer that is cast.
    fn take(&mut self, token: Token) -> bool {
        match token.kind {
            _ if is_literal(token) => self.literals += 1,
            Kind::Symbol(b',' | b'-' | b'+') => {}
            _ => {
                let cast = self.cast && self.constant && self.literals > 0;
                self.constant = false;
                return cast;
            }
        }
        false
    }

    fn is_computed(&self) -> bool {
        self.applied && self.constant && self.literals > 0
    }
}

fn is_cast(token: Token) -> bool {
    token.kind == Kind::TypeCast
}

/// Whether an operator has nothing on its left; a sign does not count.
fn is_prefix(token: Token, before: Token) -> bool {
    token.kind == Kind::Operator && begins_operand(before)
}

/// Whether an expression's operand begins behind this token.
fn begins_operand(before: Token) -> bool {
    !matches!(
        before.kind,
        Kind::Word
            | Kind::Quoted
            | Kind::UnicodeQuoted
            | Kind::Integer
            | Kind::Number
            | Kind::String
            | Kind::Symbol(b')' | b']' | b'*')
    ) && !matches!(before.kind, Kind::Keyword(keyword) if !comes_before_operand(keyword))
}

/// Keywords behind which an expression begins.
fn comes_before_operand(keyword: Keyword) -> bool {
    matches!(
        keyword,
        Keyword::Select
            | Keyword::Where
            | Keyword::And
            | Keyword::Or
            | Keyword::Not
            | Keyword::When
            | Keyword::Then
            | Keyword::Else
            | Keyword::Case
            | Keyword::On
            | Keyword::Between
            | Keyword::Like
            | Keyword::Ilike
            | Keyword::Returning
    )
}

fn is_literal(token: Token) -> bool {
    matches!(token.kind, Kind::Integer | Kind::Number | Kind::String)
}

fn is_arithmetic(token: Token) -> bool {
    matches!(token.kind, Kind::Symbol(b'+' | b'-' | b'*' | b'/' | b'%' | b'^') | Kind::Operator)
}

/// Whether what stands before a parenthesis is the name of a type with modifiers, as far as keywords can tell. (Others,
/// `varchar(10)` behind `::`, are keywords too; a type that is none has a key that does not parse or bind.)
fn names_type(before: Token) -> bool {
    matches!(before.kind, Kind::Keyword(word) if word.takes_modifiers())
}

/// Whether a string behind this token is a literal of a type that is named before it: `date '2000-01-01'`.
fn is_typed(before: Token) -> bool {
    match before.kind {
        Kind::Word | Kind::Quoted | Kind::UnicodeQuoted | Kind::Symbol(b')') => true,
        Kind::Keyword(keyword) => !matches!(
            keyword,
            Keyword::Select
                | Keyword::Where
                | Keyword::And
                | Keyword::Or
                | Keyword::Not
                | Keyword::Like
                | Keyword::Ilike
                | Keyword::Between
                | Keyword::When
                | Keyword::Then
                | Keyword::Else
                | Keyword::From
                | Keyword::On
                | Keyword::Returning
        ),
        _ => false,
    }
}

fn replace(
    lifted: &mut Lifted,
    text: &str,
    copied: &mut usize,
    token: Token,
    literal: LiftedLiteral,
) {
    lifted.key.push_str(&text[*copied..token.start as usize]);
    *copied = token.end as usize;
    lifted.literals.push(literal);
    let number = lifted.literals.len();
    lifted.key.push('$');
    if number >= 10 {
        lifted.key.push(char::from(b'0' + (number / 10) as u8));
    }
    lifted.key.push(char::from(b'0' + (number % 10) as u8));
}

#[cfg(test)]
mod tests {
    use super::{LiftedLiteral, lift};

    fn key(text: &str) -> Option<String> {
        lift(text).map(|lifted| lifted.key)
    }

    #[test]
    fn literals_become_parameters() {
        let lifted = lift("update t set a = a + -5, b = 'it''s' where c = 2147483648;").unwrap();
        assert_eq!(lifted.key, "update t set a = a + $1, b = $2 where c = 2147483648;\n--iu");
        assert_eq!(
            lifted.literals,
            [LiftedLiteral::Int4(-5), LiftedLiteral::Unknown("it's".to_owned())]
        );
        assert_eq!(lifted.types().iter().map(|ty| ty.0).collect::<Vec<_>>(), [23, 0]);
        assert_ne!(key("select 1 from t"), key("select '1' from t"));
    }

    #[test]
    fn calls_over_columns_and_lists_are_lifted() {
        for (text, wanted) in [
            ("select f(a, 1) from t", "select f(a, $1) from t\n--i"),
            ("select a from t where b in (1, 2)", "select a from t where b in ($1, $2)\n--ii"),
            ("insert into t values (1, -2)", "insert into t values ($1, $2)\n--ii"),
            ("select a || 'x' from t", "select a || $1 from t\n--u"),
        ] {
            assert_eq!(key(text).as_deref(), Some(wanted));
        }
    }

    #[test]
    fn what_a_parameter_would_change_stays() {
        assert_eq!(
            key("select a from t where b = 1 order by 1 limit 5").unwrap(),
            "select a from t where b = $1 order by 1 limit 5\n--i"
        );
        assert_eq!(
            key("select a::numeric(10, 2) + 1 from t").unwrap(),
            "select a::numeric(10, 2) + $1 from t\n--i"
        );
        for text in [
            "select a, count(*) from t where b = 1 group by 1",
            "select date '2000-01-01'",
            "select 1 where a = $1",
            "create table t (a int default 1)",
            "select a[1]",
            "select 1; select 2",
            "select a from t",
            "select 'a",
            "set work_mem = 1",
            "select 1 into t",
            "select 1",
            "select 1 / 0 from t",
            "select 1 / -0 from t",
            "select sqrt(-1) from t",
            "select a + power(0, -1) from t",
            "select a + (1) from t",
            "select |/ -1 from t",
            "select a from t where b = 40000::int2",
            "select cast(40000 as int2) from t",
        ] {
            assert_eq!(key(text), None, "{text}");
        }
    }
}
