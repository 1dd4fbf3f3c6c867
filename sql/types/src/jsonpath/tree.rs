//! A path as a tree in the arena.

/// A path.
#[derive(Clone, Copy, Debug)]
pub(super) struct Path<'a> {
    /// Whether structures that do not fit are made to fit, rather than errors.
    pub lax: bool,
    /// What it computes.
    pub root: &'a Expression<'a>,
}

/// Something that gives items, and the accessors that are applied to each of them in turn.
#[derive(Clone, Copy, Debug)]
pub(super) struct Expression<'a> {
    /// What gives the items.
    pub head: Head<'a>,
    /// The accessors, in the order in which they are applied.
    pub steps: &'a [Step<'a>],
    /// How deep the tree below it is, in expressions. No more than a path may be nested.
    pub height: u32,
}

/// What an expression begins with.
#[derive(Clone, Copy, Debug)]
pub(super) enum Head<'a> {
    Null,
    Bool(bool),
    /// A stored numeric.
    Number(&'a [u8]),
    String(&'a str),
    Variable(&'a str),
    /// `$`
    Root,
    /// `@`
    Current,
    /// `last`
    Last,
    Arithmetic(Arithmetic, &'a Expression<'a>, &'a Expression<'a>),
    Sign(Sign, &'a Expression<'a>),
    Compare(Comparison, &'a Expression<'a>, &'a Expression<'a>),
    And(&'a Expression<'a>, &'a Expression<'a>),
    Or(&'a Expression<'a>, &'a Expression<'a>),
    Not(&'a Expression<'a>),
    IsUnknown(&'a Expression<'a>),
    Exists(&'a Expression<'a>),
    StartsWith(&'a Expression<'a>, &'a Expression<'a>),
    LikeRegex(&'a Expression<'a>, Regex<'a>),
}

/// Operators between two numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Arithmetic {
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
}

/// Operators before a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sign {
    Plus,
    Minus,
}

/// Operators between two items of one type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Comparison {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

/// A pattern of `like_regex`, with its flags.
#[derive(Clone, Copy, Debug)]
pub(super) struct Regex<'a> {
    pub pattern: &'a str,
    pub ignore_case: bool,
    pub dot_all: bool,
    pub multi_line: bool,
    pub extended: bool,
    pub quote: bool,
}

/// An accessor.
#[derive(Clone, Copy, Debug)]
pub(super) enum Step<'a> {
    /// `.key`
    Key(&'a str),
    /// `.*`
    AnyKey,
    /// `[*]`
    AnyElement,
    /// `[1, 2 to last]`
    Elements(&'a [(Expression<'a>, Option<Expression<'a>>)]),
    /// `.**{first to last}`
    Any { first: Level, last: Level },
    /// `.size()` and its like
    Method(Method),
    /// `.datetime("template")`
    Datetime(Option<&'a str>),
    /// `?(predicate)`
    Filter(&'a Expression<'a>),
}

/// How far below an item `.**` looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Level(pub u32);

impl Level {
    /// `last`: that of the leaves, wherever they are.
    pub const LAST: Level = Level(u32::MAX);
}

/// Methods without arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Method {
    Type,
    Size,
    Abs,
    Floor,
    Ceiling,
    Double,
    KeyValue,
}

impl Arithmetic {
    /// How it is written.
    pub fn symbol(self) -> &'static str {
        match self {
            Arithmetic::Add => "+",
            Arithmetic::Subtract => "-",
            Arithmetic::Multiply => "*",
            Arithmetic::Divide => "/",
            Arithmetic::Remainder => "%",
        }
    }
}

impl Sign {
    /// How it is written.
    pub fn symbol(self) -> &'static str {
        match self {
            Sign::Plus => "+",
            Sign::Minus => "-",
        }
    }
}

impl Comparison {
    /// How it is written.
    pub fn symbol(self) -> &'static str {
        match self {
            Comparison::Equal => "==",
            Comparison::NotEqual => "!=",
            Comparison::Less => "<",
            Comparison::LessOrEqual => "<=",
            Comparison::Greater => ">",
            Comparison::GreaterOrEqual => ">=",
        }
    }
}

impl Method {
    const ALL: [Method; 7] = [
        Method::Type,
        Method::Size,
        Method::Abs,
        Method::Floor,
        Method::Ceiling,
        Method::Double,
        Method::KeyValue,
    ];

    /// The method of this name, in any case.
    pub fn named(word: &str) -> Option<Method> {
        Method::ALL.into_iter().find(|method| word.eq_ignore_ascii_case(method.name()))
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Method::Type => "type",
            Method::Size => "size",
            Method::Abs => "abs",
            Method::Floor => "floor",
            Method::Ceiling => "ceiling",
            Method::Double => "double",
            Method::KeyValue => "keyvalue",
        }
    }
}
