//! The extended query protocol (manual, section 55.2.4): Parse, Bind, Describe, Execute, Close, each its own message.
//!
//! Drivers send a Bind with the Execute of its portal right behind it, most with a Describe of that in between and a Sync at the
//! end. Where these have arrived together they are one call into the session ([`Ahead`]), which does what the messages do one after
//! the other: the statement begins once, the portal is not put away only to be taken out again, and a transaction that has only
//! read ends with it. Where the log is told of each message, or
//! the client speaks another encoding, each is worked off by itself.

use crate::backend::Backend;
use crate::dialogue::logged::statement_name;
use crate::dialogue::{Dialogue, Mode, Ran, Step};
use crate::frame::{HEADER_BYTES, Reader};
use crate::message::{Target, rows_at_most};
use crate::respond;
use sql::session::Progress;
use sql::types::Oid;
use sql::{Bind, SqlError};

/// The Execute that stands right behind a Bind and runs its portal once, perhaps with a Describe of that between them and a Sync
/// behind it.
struct Ahead {
    /// How long the Describe is; 0 where there is none.
    describe_bytes: usize,
    /// How long both are.
    bytes: usize,
    max_rows: u64,
    /// Whether a Sync comes next.
    syncs: bool,
}

impl Ahead {
    /// What stands right behind the Bind of a portal. Whatever is not exactly this is left to be found out for itself.
    fn of(portal: &str, behind: &[u8]) -> Option<Ahead> {
        let described = whole(behind, b'D').filter(|body| {
            let rest = body.strip_prefix(b"P").and_then(|rest| behind_name(rest, portal));
            rest.is_some_and(<[u8]>::is_empty)
        });
        let describe_bytes = described.map_or(0, |body| HEADER_BYTES + body.len());
        let execute = whole(&behind[describe_bytes..], b'E')?;
        let mut rest = Reader::new(behind_name(execute, portal)?);
        let max_rows = rows_at_most(rest.i32().ok()?);
        let bytes = describe_bytes + HEADER_BYTES + execute.len();
        let syncs = behind[bytes..].starts_with(&SYNC);
        rest.is_empty().then_some(Ahead { describe_bytes, bytes, max_rows, syncs })
    }
}

/// A whole Sync.
const SYNC: [u8; HEADER_BYTES] = [b'S', 0, 0, 0, 4];

/// The body of the first message, where that is of this type and is all there.
fn whole(received: &[u8], tag: u8) -> Option<&[u8]> {
    let (header, rest) = received.split_first_chunk::<HEADER_BYTES>()?;
    let [found, a, b, c, d] = *header;
    if found != tag {
        return None;
    }
    let length = u32::from_be_bytes([a, b, c, d]) as usize;
    rest.get(..length.checked_sub(4)?)
}

/// What stands behind a name, where it is this one.
fn behind_name<'a>(bytes: &'a [u8], name: &str) -> Option<&'a [u8]> {
    bytes.strip_prefix(name.as_bytes())?.strip_prefix(b"\0")
}

impl<B: Backend> Dialogue<B> {
    /// Answers an extended-protocol message that has no answer but its name.
    fn acknowledge(&mut self, result: Result<(), SqlError>, tag: u8) -> Option<Step> {
        self.notices();
        match result {
            Ok(()) => {
                respond::bare(&mut self.output, tag);
                None
            }
            Err(error) => self.fail(&error, true),
        }
    }

    /// Parse.
    pub(crate) fn parse(&mut self, name: &str, text: &str, types: &[u8]) -> Option<Step> {
        self.begin_statement();
        self.types.clear();
        let (words, _) = types.as_chunks::<4>();
        self.types.extend(words.iter().map(|word| Oid(u32::from_be_bytes(*word))));
        self.begin_logged();
        let parsed = self.backend.parse(name, text, &self.types);
        if parsed.is_ok() {
            self.end_logged(|_| format!("parse {}: {text}", statement_name(name)));
        }
        self.acknowledge(parsed, b'1')
    }

    /// Bind, whose message has so many bytes, with what has been received `behind` it.
    pub(crate) fn bind(&mut self, bind: &Bind<'_>, bytes: usize, behind: &[u8]) -> Option<Step> {
        self.begin_statement();
        self.begin_logged();
        if let Some(ahead) = Ahead::of(bind.portal, behind)
            && self.conversion.is_none()
            && self.backend.log_settings().tells_no_messages()
        {
            return self.bind_and_execute(bind, bytes, &ahead);
        }
        let bound = self.backend.bind(bind);
        if bound.is_ok() {
            self.logged.note_bound(bind.portal, bind.statement);
            self.note_parameters(bind.portal);
            self.end_logged(|dialogue| dialogue.portal_words("bind", bind.portal));
        }
        self.acknowledge(bound, b'2')
    }

    /// Bind, and what stands behind it.
    fn bind_and_execute(
        &mut self,
        bind: &Bind<'_>,
        bind_bytes: usize,
        ahead: &Ahead,
    ) -> Option<Step> {
        self.logged.note_bound(bind.portal, bind.statement);
        let mut begins = self.output.len();
        let what = Ran::Bound { bind, describes: ahead.describe_bytes > 0, syncs: ahead.syncs };
        let (progress, rows) = self.run(what, ahead.max_rows, &mut begins);
        let step = self.executed(bind.portal, progress, (rows, ahead.max_rows), begins);
        self.consumed += match self.mode {
            // It goes on from its own message.
            Mode::Executing(_) => bind_bytes + ahead.describe_bytes,
            _ => ahead.bytes,
        };
        if step.is_some() || !ahead.syncs {
            return step;
        }
        self.consumed += SYNC.len();
        self.sync()
    }

    /// Describe.
    pub(crate) fn describe(&mut self, target: Target<'_>) -> Option<Step> {
        self.begin_statement();
        let (backend, output) = (&mut self.backend, &mut self.output);
        let begin = output.len();
        let described = match target {
            Target::Statement(name) => backend.describe_statement(name).map(|description| {
                respond::parameters(output, description.parameters);
                description.rows
            }),
            Target::Portal(name) => backend.describe_portal(name),
        };
        match described {
            Ok(Some(rows)) => respond::rows(output, rows),
            Ok(None) => respond::bare(output, b'n'),
            Err(error) => return self.fail(&error, true),
        }
        self.convert(begin);
        None
    }

    /// Execute, from its beginning or from where it paused.
    pub(crate) fn execute(&mut self, portal: &str, max_rows: u64) -> Option<Step> {
        let max_rows = match self.mode {
            Mode::Executing(left) => left,
            _ => {
                self.begin_statement();
                self.begin_logged();
                self.note_parameters(portal);
                self.log_execute(portal);
                max_rows
            }
        };
        self.mode = Mode::Open;
        let mut begins = self.output.len();
        let (progress, rows) = self.run(Ran::Portal(portal), max_rows, &mut begins);
        self.executed(portal, progress, (rows, max_rows), begins)
    }

    /// Answers an Execute that may give so many rows and has given some, and whose answer begins there in the output.
    fn executed(
        &mut self,
        portal: &str,
        progress: Result<Progress, SqlError>,
        (rows, max_rows): (u64, u64),
        begins: usize,
    ) -> Option<Step> {
        match progress {
            Ok(Progress::Complete(tag)) => {
                self.counters.completed(tag.words);
                self.stop_clock();
                respond::complete(&mut self.output, &tag);
                self.end_logged(|dialogue| dialogue.portal_words("execute", portal));
            }
            Ok(Progress::Empty) => respond::bare(&mut self.output, b'I'),
            Ok(Progress::Suspended) => {
                respond::bare(&mut self.output, b's');
                self.end_logged(|dialogue| dialogue.portal_words("execute", portal));
            }
            Ok(Progress::Paused) => {
                // A pause behind the last row allowed is a suspension: zero would mean that there is no limit.
                if max_rows != 0 && rows >= max_rows {
                    respond::bare(&mut self.output, b's');
                    return None;
                }
                self.mode = Mode::Executing(max_rows.saturating_sub(rows));
                return Some(Step::Send);
            }
            Ok(Progress::CopyIn(format)) => {
                return Some(self.copy_begins(format, false));
            }
            Err(error) => {
                self.withdraw(begins);
                let error = self.with_parameters(error);
                return self.fail(&error, true);
            }
        }
        None
    }

    /// Close.
    pub(crate) fn close(&mut self, target: Target<'_>) -> Option<Step> {
        match target {
            Target::Statement(name) => self.backend.close_statement(name),
            Target::Portal(name) => self.backend.close_portal(name),
        }
        self.acknowledge(Ok(()), b'3')
    }
}
