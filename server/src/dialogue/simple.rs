//! The simple query protocol (manual, section 55.2.3): one text, any number of statements, results in text.

use crate::backend::Backend;
use crate::dialogue::{Dialogue, Mode, Ran, Step};
use crate::respond;
use sql::session::Progress;

impl<B: Backend> Dialogue<B> {
    /// Query.
    pub(crate) fn query(&mut self, text: &str) -> Option<Step> {
        self.begin_statement();
        self.answered = false;
        self.begin_logged();
        match self.backend.simple_query(text) {
            Ok(()) => {
                self.log_query(text);
                self.mode = Mode::Simple(false);
                self.simple_advance(false)
            }
            Err(error) => self.fail(&error, false),
        }
    }

    /// Goes on with a Query: `running` says that its statement has paused, else the next one begins.
    pub(crate) fn simple_advance(&mut self, running: bool) -> Option<Step> {
        let mut running = running;
        // Where the statement's answer begins, as far as it has not yet been sent.
        let mut begins = 0;
        loop {
            if !running {
                self.start_clock();
                match self.backend.simple_next() {
                    Ok(true) => {}
                    Ok(false) => {
                        if !self.answered {
                            respond::bare(&mut self.output, b'I');
                        }
                        self.end_logged(|dialogue| {
                            format!("statement: {}", dialogue.backend.statement_text())
                        });
                        return Some(self.ready());
                    }
                    Err(error) => return self.fail(&error, false),
                }
                self.notices();
                let (backend, output) = (&mut self.backend, &mut self.output);
                begins = output.len();
                match backend.describe_portal("") {
                    Ok(Some(rows)) => respond::rows(output, rows),
                    Ok(None) => {}
                    Err(error) => return self.fail(&error, false),
                }
                self.convert(begins);
            }
            self.answered = true;
            self.mode = Mode::Simple(true);
            let (progress, _) = self.run(Ran::Portal(""), 0, &mut begins);
            match progress {
                Ok(Progress::Complete(tag)) => {
                    self.stop_clock();
                    self.counters.completed(tag.words);
                    respond::complete(&mut self.output, &tag);
                }
                Ok(Progress::Empty) => respond::bare(&mut self.output, b'I'),
                Ok(Progress::Suspended) => respond::bare(&mut self.output, b's'),
                Ok(Progress::Paused) => return Some(Step::Send),
                Ok(Progress::CopyIn(format)) => {
                    return Some(self.copy_begins(format, true));
                }
                Err(error) => {
                    self.withdraw(begins);
                    return self.fail(&error, false);
                }
            }
            self.mode = Mode::Simple(false);
            running = false;
        }
    }
}
