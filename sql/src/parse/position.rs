//! Places in a query text: byte offsets inside, characters from 1 outside.

/// A text whose places can be told.
#[derive(Clone, Copy, Debug)]
pub struct Positions<'t> {
    text: &'t str,
    ascii: bool,
}

impl<'t> Positions<'t> {
    /// Of `text`.
    #[must_use]
    pub fn new(text: &'t str) -> Positions<'t> {
        Positions { text, ascii: text.is_ascii() }
    }

    /// The text.
    #[must_use]
    pub fn text(&self) -> &'t str {
        self.text
    }

    /// The character, counted from 1, at a byte offset. An offset inside a character or behind the end is that of the
    /// last whole character before it.
    #[must_use]
    pub fn of(&self, byte: u32) -> u32 {
        let byte = (byte as usize).min(self.text.len());
        if self.ascii {
            return byte as u32 + 1;
        }
        let starts = self.text.as_bytes()[..byte].iter().filter(|&&byte| byte & 0xC0 != 0x80);
        starts.count() as u32 + 1
    }
}
