//! Places in a query text: byte offsets inside, characters from 1 outside.
//!
//! Whoever tells a place mostly tells many of one text, so the characters before every [`BLOCK`]th byte are counted once,
//! as far as places have been asked for: all places of a statement together cost no more than its length. A statement
//! counts from its own beginning, so that those of one long text do not each count what stands before them.

use std::cell::RefCell;
use std::sync::Arc;

/// How many bytes lie between two places whose characters are known.
const BLOCK: usize = 64;

/// A text whose places can be told.
#[derive(Debug)]
pub struct Positions<'t> {
    text: &'t str,
    /// Where the statement begins that is looked at, and where it ends.
    statement: (usize, usize),
    /// How many characters stand before it.
    before: u32,
    /// How many characters there are from the beginning of the statement to each block of it but the first.
    blocks: RefCell<Vec<u32>>,
}

impl<'t> Positions<'t> {
    /// Of `text`, which is one statement.
    #[must_use]
    pub fn new(text: &'t str) -> Positions<'t> {
        Positions::of_statement(text, (0, text.len()), 0)
    }

    /// Of `text`, in which a statement stands behind as many characters as `before` says.
    #[must_use]
    pub fn of_statement(text: &'t str, statement: (usize, usize), before: u32) -> Positions<'t> {
        Positions { text, statement, before, blocks: RefCell::default() }
    }

    /// The text.
    #[must_use]
    pub fn text(&self) -> &'t str {
        self.text
    }

    /// The statement that is looked at.
    #[must_use]
    pub fn statement(&self) -> &'t str {
        &self.text[self.statement.0..self.statement.1]
    }

    /// The character, counted from 1, at a byte offset. An offset inside a character or behind the end is that of the
    /// last whole character before it.
    #[must_use]
    pub fn of(&self, byte: u32) -> u32 {
        let byte = (byte as usize).min(self.text.len());
        let Some(from_statement) = byte.checked_sub(self.statement.0) else {
            return characters(&self.text.as_bytes()[..byte]) + 1;
        };
        let bytes = &self.text.as_bytes()[self.statement.0..byte];
        let mut blocks = self.blocks.borrow_mut();
        let block = from_statement / BLOCK;
        while blocks.len() < block {
            let known = blocks.len();
            let last = blocks.last().copied().unwrap_or(0);
            blocks.push(last + characters(&bytes[known * BLOCK..(known + 1) * BLOCK]));
        }
        let to_block = block.checked_sub(1).map_or(0, |before| blocks[before]);
        self.before + to_block + characters(&bytes[block * BLOCK..]) + 1
    }
}

impl<'t> From<&'t str> for Positions<'t> {
    fn from(text: &'t str) -> Positions<'t> {
        Positions::new(text)
    }
}

impl<'t> From<&'t String> for Positions<'t> {
    fn from(text: &'t String) -> Positions<'t> {
        Positions::new(text)
    }
}

impl<'t> From<&'t Arc<str>> for Positions<'t> {
    fn from(text: &'t Arc<str>) -> Positions<'t> {
        Positions::new(text)
    }
}

/// The same places, none of them known yet.
impl<'t> From<&Positions<'t>> for Positions<'t> {
    fn from(other: &Positions<'t>) -> Positions<'t> {
        Positions::of_statement(other.text, other.statement, other.before)
    }
}

/// How many characters begin in some bytes of a text.
fn characters(bytes: &[u8]) -> u32 {
    bytes.iter().filter(|&&byte| byte & 0xC0 != 0x80).count() as u32
}

#[cfg(test)]
mod tests {
    use super::Positions;

    #[test]
    fn a_place_is_the_number_of_its_character_from_wherever_one_counts() {
        let text = "é𝄞 ä".repeat(100) + "ascii" + &"ö".repeat(70);
        for start in text.char_indices().map(|(at, _)| at).step_by(7) {
            let before = text[..start].chars().count() as u32;
            let positions = Positions::of_statement(&text, (start, text.len()), before);
            for byte in (0..text.len() + 3).rev().chain(0..text.len()) {
                let whole = (0..=byte.min(text.len())).rev().find(|&at| text.is_char_boundary(at));
                let inside = usize::from(!text.is_char_boundary(byte.min(text.len())));
                let expected = text[..whole.expect("0 is one")].chars().count() + inside + 1;
                assert_eq!(positions.of(byte as u32), expected as u32, "{byte} from {start}");
            }
        }
    }
}
