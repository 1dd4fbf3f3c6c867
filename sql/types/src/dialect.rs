//! What a statement's text means where PostgreSQL lets a session choose (manual, section 20.13).

/// What a statement's text means where PostgreSQL lets a session choose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dialect {
    /// `standard_conforming_strings`: a backslash in `'...'` stands for itself.
    pub standard_strings: bool,
    /// `backslash_quote`: `\'` may stand in a string with escapes.
    pub backslash_quote: bool,
    /// `escape_string_warning`, which says nothing of standard strings.
    pub escape_warning: bool,
    /// `transform_null_equals`: `x = NULL` asks whether it is.
    pub null_equals: bool,
}

impl Default for Dialect {
    /// As PostgreSQL delivers it, and as texts are kept.
    fn default() -> Self {
        Dialect {
            standard_strings: true,
            backslash_quote: true,
            escape_warning: false,
            null_equals: false,
        }
    }
}
