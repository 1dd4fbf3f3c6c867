//! The extended query protocol (manual, section 55.2.4): Parse, Bind, Describe, Execute, Close, each its own message.

use crate::backend::Backend;
use crate::dialogue::logged::statement_name;
use crate::dialogue::{Dialogue, Mode, Step};
use crate::message::Target;
use crate::respond;
use sql::session::Progress;
use sql::types::Oid;
use sql::{Bind, SqlError};

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

    /// Bind.
    pub(crate) fn bind(&mut self, bind: &Bind<'_>) -> Option<Step> {
        self.begin_statement();
        self.begin_logged();
        let bound = self.backend.bind(bind);
        if bound.is_ok() {
            self.logged.note_bound(bind.portal, bind.statement);
            self.note_parameters(bind.portal);
            self.end_logged(|dialogue| dialogue.portal_words("bind", bind.portal));
        }
        self.acknowledge(bound, b'2')
    }

    /// Describe.
    pub(crate) fn describe(&mut self, target: Target<'_>) -> Option<Step> {
        self.begin_statement();
        let (backend, output) = (&mut self.backend, &mut self.output);
        let begin = output.len();
        let described = match target {
            Target::Statement(name) => backend.describe_statement(name).map(|description| {
                respond::parameters(output, description.parameters);
                description.columns.map(|columns| (columns, &[][..]))
            }),
            Target::Portal(name) => backend.describe_portal(name),
        };
        match described {
            Ok(Some((columns, formats))) => respond::columns(output, columns, formats),
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
        let (progress, rows) = self.run(portal, max_rows, &mut begins);
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
