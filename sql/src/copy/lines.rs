//! Bytes to lines: portions of any size in, whole lines out, by PostgreSQL's rules for line ends and `\.`.

use super::{Kind, Options, bad, utf8};
use crate::encoding::Conversion;
use crate::error::{Result, SqlError};
use crate::sqlstate::SqlState;

/// The longest line or field: what PostgreSQL's string buffer holds.
pub(super) const PENDING_BYTES_MAX: usize = (1 << 30) - 1;

/// How lines end: the first one decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ending {
    Newline,
    Return,
    Both,
}

/// Cuts a stream into lines.
#[derive(Debug)]
pub struct LineReader {
    pending: Vec<u8>,
    /// The first byte of the line at hand.
    start: usize,
    /// The first byte that has not been looked at.
    scanned: usize,
    ending: Option<Ending>,
    csv: Option<Csv>,
    number: u64,
    /// The line at hand has not been handed out, so errors do not repeat it.
    ended: bool,
    closed: bool,
    /// From the encoding of the data, and the line in UTF8.
    conversion: Option<Conversion>,
    converted: String,
}

#[derive(Debug)]
struct Csv {
    quote: u8,
    /// Different from the quote, else none: then a quote alone toggles.
    escape: Option<u8>,
    inside: bool,
    after_escape: bool,
    /// Line ends within quotes of the line at hand.
    extra_lines: u64,
}

/// What a look at the next special byte found.
enum Found {
    /// A line's end: where its text ends, and where the next line begins.
    Line(usize, usize),
    /// `\.` alone on a line.
    EndMarker,
    /// More bytes are needed.
    More,
}

impl LineReader {
    /// A reader of the format that `options` say.
    #[must_use]
    pub fn new(options: &Options) -> LineReader {
        let csv = (options.kind == Kind::Csv).then(|| Csv {
            quote: options.quote,
            escape: (options.escape != options.quote).then_some(options.escape),
            inside: false,
            after_escape: false,
            extra_lines: 0,
        });
        LineReader {
            pending: Vec::new(),
            start: 0,
            scanned: 0,
            ending: None,
            csv,
            number: 0,
            ended: false,
            closed: false,
            conversion: options.conversion,
            converted: String::new(),
        }
    }

    /// Takes a portion of the stream.
    ///
    /// # Errors
    /// 54000 if a line becomes longer than any value may be.
    pub fn push(&mut self, data: &[u8]) -> Result<()> {
        if self.ended {
            return Ok(());
        }
        if self.start > 0 {
            self.pending.drain(..self.start);
            self.scanned -= self.start;
            self.start = 0;
        }
        if self.pending.len() + data.len() > PENDING_BYTES_MAX {
            return Err(SqlError::new(SqlState::PROGRAM_LIMIT_EXCEEDED, "out of memory").detail(
                format!(
                    "Cannot enlarge string buffer containing {} bytes by {} more bytes.",
                    self.pending.len(),
                    data.len()
                ),
            ));
        }
        self.pending.extend_from_slice(data);
        Ok(())
    }

    /// The stream has ended: what is left is a line too.
    pub fn close(&mut self) {
        self.closed = true;
    }

    /// Whether the end of the data has come, be it `\.`.
    #[must_use]
    pub fn has_ended(&self) -> bool {
        self.ended
    }

    /// The number of the line handed out last, from 1; a csv line counts the line ends within it.
    #[must_use]
    pub fn number(&self) -> u64 {
        self.number
    }

    /// The next whole line, without its end; none if more bytes are needed, or at the end.
    ///
    /// # Errors
    /// 22P04 where line ends differ or `\.` is not alone; 22021.
    pub fn next_line(&mut self) -> Result<Option<&str>> {
        if self.ended {
            return Ok(None);
        }
        let (text_end, next) = match self.scan().inspect_err(|_| self.number += 1)? {
            Found::Line(text_end, next) => (text_end, next),
            Found::EndMarker => {
                self.ended = true;
                return Ok(None);
            }
            Found::More if self.closed => {
                self.ended = true;
                if self.start == self.pending.len() {
                    return Ok(None);
                }
                (self.pending.len(), self.pending.len())
            }
            Found::More => return Ok(None),
        };
        self.number += 1;
        if let Some(csv) = &mut self.csv {
            self.number += std::mem::take(&mut csv.extra_lines);
        }
        let line = &self.pending[self.start..text_end];
        self.start = next;
        self.scanned = next;
        match &self.conversion {
            Some(conversion) if !line.is_ascii() => {
                self.converted = conversion.decode(line)?.into_owned();
                Ok(Some(&self.converted))
            }
            _ => utf8(line).map(Some),
        }
    }

    /// Looks at bytes from `scanned` on, up to the end of a line.
    fn scan(&mut self) -> Result<Found> {
        while let Some(&byte) = self.pending.get(self.scanned) {
            let at = self.scanned;
            if let Some(csv) = &mut self.csv {
                if csv.note(byte, self.ending) {
                    self.scanned += 1;
                    continue;
                }
            } else if !matches!(byte, b'\n' | b'\r' | b'\\') {
                let rest = &self.pending[at..];
                self.scanned = memchr::memchr3(b'\n', b'\r', b'\\', rest)
                    .map_or(self.pending.len(), |found| at + found);
                continue;
            }
            let next = self.pending.get(at + 1).copied();
            match byte {
                b'\n' => match self.ending {
                    None | Some(Ending::Newline) => {
                        self.ending = Some(Ending::Newline);
                        return Ok(Found::Line(at, at + 1));
                    }
                    Some(_) => return Err(self.wrong_ending("newline", "\\n")),
                },
                b'\r' => {
                    if next.is_none() && !self.closed {
                        return Ok(Found::More);
                    }
                    match (self.ending, next) {
                        (None | Some(Ending::Both), Some(b'\n')) => {
                            self.ending = Some(Ending::Both);
                            return Ok(Found::Line(at, at + 2));
                        }
                        (None | Some(Ending::Return), _) => {
                            self.ending = Some(Ending::Return);
                            return Ok(Found::Line(at, at + 1));
                        }
                        _ => return Err(self.wrong_ending("carriage return", "\\r")),
                    }
                }
                b'\\' if self.csv.is_none() || at == self.start => match next {
                    None if self.closed => self.scanned += 1,
                    None => return Ok(Found::More),
                    Some(b'.') => match self.end_marker(at)? {
                        Some(found) => return Ok(found),
                        None => self.scanned += 1,
                    },
                    // What follows is data, a line's end too.
                    Some(_) if self.csv.is_none() => self.scanned += 2,
                    Some(_) => self.scanned += 1,
                },
                _ => self.scanned += 1,
            }
        }
        Ok(Found::More)
    }

    /// Judges `\.` at `at`: the end of the data if it is alone on its line; in csv otherwise plain text.
    fn end_marker(&mut self, at: usize) -> Result<Option<Found>> {
        let behind = &self.pending[at + 2..];
        let alone = match (behind, self.closed) {
            ([], false) | ([b'\r'], false) => return Ok(Some(Found::More)),
            ([], true) | ([b'\n' | b'\r', ..], _) => true,
            _ => false,
        };
        match (alone, at == self.start, self.csv.is_some()) {
            (true, true, _) => Ok(Some(Found::EndMarker)),
            (_, _, true) => Ok(None),
            // Behind data on its line it ends that line and the stream.
            (true, false, false) => {
                self.pending.truncate(at);
                self.closed = true;
                Ok(Some(Found::More))
            }
            (false, _, false) => Err(bad("end-of-copy marker corrupt")),
        }
    }

    fn wrong_ending(&self, what: &str, escape: &str) -> SqlError {
        match self.csv {
            None => bad(format!("literal {what} found in data"))
                .hint(format!("Use \"{escape}\" to represent {what}.")),
            Some(_) => bad(format!("unquoted {what} found in data"))
                .hint(format!("Use quoted CSV field to represent {what}.")),
        }
    }
}

impl Csv {
    /// Takes note of one byte; true if it is data whatever it looks like.
    fn note(&mut self, byte: u8, ending: Option<Ending>) -> bool {
        if self.inside && Some(byte) == self.escape {
            self.after_escape = !self.after_escape;
        }
        if byte == self.quote && !self.after_escape {
            self.inside = !self.inside;
        }
        if Some(byte) != self.escape {
            self.after_escape = false;
        }
        let counted = if ending == Some(Ending::Newline) { b'\n' } else { b'\r' };
        if self.inside && byte == counted {
            self.extra_lines += 1;
        }
        self.inside
    }
}
