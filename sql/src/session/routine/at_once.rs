//! Statements of a body that are run at once: a plan by its machine, from its beginning to as many rows as the body looks at.
//!
//! A portal is for what somebody goes on with later, names or is shown. Nobody does that with these, and a text that has been
//! found good since anything has happened is not looked at again: so such a statement is its locks, its view and its machine,
//! and its row goes into one that the body keeps. All others are run by portals ([`super::query`]), and so is one whose plan
//! turns out to be good no more.

use super::query::in_statement;
use super::text::Text;
use super::{Execution, Kit};
use crate::error::{Notice, Result};
use crate::exec::frame::Frame;
use crate::exec::machine::Stop;
use crate::exec::sink::{ColumnDescription, Flow, RowSink};
use crate::message::CommandTag;
use crate::plan::scalar::Var;
use crate::session::Session;
use crate::tuple::RowBuf;
use crate::types::{CallContext, Datum};

/// Keeps the first row, and counts them all.
struct First<'r> {
    row: &'r mut RowBuf,
    count: usize,
    notices: Vec<Notice>,
}

impl RowSink for First<'_> {
    fn row(
        &mut self,
        _: &CallContext<'_>,
        _: &[ColumnDescription],
        row: &[Datum<'_>],
    ) -> Result<Flow> {
        if self.count == 0 {
            self.row.clear();
            row.iter().for_each(|datum| self.row.push(*datum));
            crate::account::check()?;
        }
        self.count += 1;
        Ok(Flow::Continue)
    }

    fn take(&mut self, frame: &Frame, columns: &[Var]) -> Option<Result<Flow>> {
        self.count += 1;
        if self.count > 1 {
            return Some(Ok(Flow::Continue));
        }
        self.row.clear();
        for var in columns {
            let (row, column) = frame.place(*var);
            self.row.push_column(row, column);
        }
        Some(crate::account::check().map(|()| Flow::Continue))
    }

    /// INTO is done when the statement is.
    fn keeps_back(&self) -> bool {
        true
    }

    fn notice(&mut self, notice: &Notice) {
        self.notices.push(notice.clone());
    }
}

impl Session {
    /// Runs a text's plan at once, up to so many rows: its tag, and how many there were, the first of which is put into `row`.
    /// Nothing where it is to be run by a portal.
    fn run_at_once(
        &mut self,
        text: &Text,
        parameters: &RowBuf,
        max_rows: u64,
        row: &mut RowBuf,
    ) -> Result<Option<(CommandTag, usize)>> {
        let aside = self.called_view.is_some() || self.tracking.watches_bodies;
        let at_once = text.plan_at_once();
        let Some(planned) = at_once.filter(|planned| !aside && !planned.goes_by_values) else {
            return Ok(None);
        };
        self.basis();
        if !text.was_good_at(self.changes) {
            return Ok(None);
        }
        if !text.was_held_at(self.changes) {
            self.lock_planned(planned)?;
        }
        if !self.catalog.is_current() {
            return Ok(None);
        }
        text.note_held(self.changes);
        let view = self.begin_plan(planned)?;
        if !self.sees_what_was_planned() {
            return Ok(None);
        }
        let mut machine = self.machines.take(&planned.program);
        let mut first = First { row, count: 0, notices: Vec::new() };
        let height = text.prepared.parsed.height().max(planned.program.height);
        let stopped = crate::parse::depth::with_stack_for(height, || {
            self.with_run(view, parameters, |run| machine.run(run, max_rows, &mut first))
        });
        let First { count, mut notices, .. } = first;
        if !notices.is_empty() {
            self.notices.get_mut().append(&mut notices);
            self.speak();
        }
        let tag = match stopped? {
            Stop::Done => CommandTag { words: planned.program.tag, rows: Some(machine.rows()) },
            // It has given as many as it was asked for.
            Stop::MaxRows | Stop::Paused => CommandTag { words: "SELECT", rows: Some(max_rows) },
        };
        self.machines.give(machine);
        Ok(Some((tag, count)))
    }
}

impl Execution<'_> {
    /// Runs a statement of the body at once, whose parameters are the variables, as [`Session::run_at_once`].
    pub(super) fn at_once(
        &mut self,
        text: &Text,
        max_rows: u64,
        row: &mut RowBuf,
    ) -> Result<Option<(CommandTag, usize)>> {
        let Kit { frame, .. } = &*self.kit;
        let ran = self
            .session
            .run_at_once(text, frame.row(), max_rows, row)
            .map_err(|error| in_statement(error, &text.prepared.text))?;
        if ran.is_some() {
            text.count_run();
        }
        Ok(ran)
    }
}
