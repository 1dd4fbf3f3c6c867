//! Line breaks and indentation as `ruleutils.c` makes them: a clause's keyword begins a line, at the level of what holds it.

/// Text under way, and the level that its next line is indented to.
#[derive(Debug, Default)]
pub struct Layout {
    /// What has been written.
    pub text: String,
    indent: i32,
    /// All of it stands in one line.
    flat: bool,
}

/// Lines are not indented further than this.
const INDENT_MAX: i32 = 40;

impl Layout {
    /// A query within another one, and the clauses below SELECT.
    pub const STANDARD: i32 = 8;
    /// The columns of a select list, and the branches of CASE.
    pub const VAR: i32 = 4;
    /// JOIN below FROM.
    pub const JOIN: i32 = 4;

    /// An empty text of one line.
    #[must_use]
    pub fn flat() -> Layout {
        Layout { flat: true, ..Layout::default() }
    }

    /// Whether all of it stands in one line.
    #[must_use]
    pub fn is_flat(&self) -> bool {
        self.flat
    }

    /// An empty text that begins at the level of this one.
    #[must_use]
    pub fn beside(&self) -> Layout {
        Layout { text: String::new(), ..*self }
    }

    /// The space that a statement begins with where its clauses begin lines.
    pub fn begin(&mut self) {
        if !self.flat {
            self.indent += Layout::STANDARD;
            self.push(' ');
        }
    }

    /// The level of the next line.
    #[must_use]
    pub fn level(&self) -> i32 {
        self.indent
    }

    /// Sets the level of the next line.
    pub fn set_level(&mut self, level: i32) {
        self.indent = level;
    }

    /// Writes a character.
    pub fn push(&mut self, character: char) {
        self.text.push(character);
    }

    /// Writes a text.
    pub fn push_str(&mut self, text: &str) {
        self.text.push_str(text);
    }

    /// Begins a line with `word`: the level changes by `before`, this line alone is moved by `plus`, then the level changes
    /// by `after`.
    pub fn keyword(&mut self, word: &str, before: i32, after: i32, plus: i32) {
        if self.flat {
            self.text.push_str(word);
            return;
        }
        self.indent += before;
        self.trim_spaces();
        self.text.push('\n');
        let level = self.indent.max(0);
        // Deep levels move slowly, and stay within bounds.
        let amount = if level < INDENT_MAX {
            level + plus
        } else {
            (INDENT_MAX + (level - INDENT_MAX) / (Layout::STANDARD / 2)) % INDENT_MAX + plus
        };
        self.text.extend(std::iter::repeat_n(' ', usize::try_from(amount).unwrap_or(0)));
        self.text.push_str(word);
        self.indent = (self.indent + after).max(0);
    }

    /// Takes spaces off the end.
    pub fn trim_spaces(&mut self) {
        self.text.truncate(self.text.trim_end_matches(' ').len());
    }

    /// The length of the line under way.
    #[must_use]
    pub fn line_length(&self) -> usize {
        self.text.len() - self.text.rfind('\n').map_or(0, |at| at + 1)
    }
}
