//! SQL cursors: DECLARE, FETCH, MOVE and CLOSE (PostgreSQL 15 manual, the pages of these commands; `portalcmds.c`).
//!
//! A cursor is a portal with a name; FETCH runs it for so many rows. Its view is taken by DECLARE and kept until it is
//! closed, so it shows no change that came later, the transaction's own included. Rows go straight from the cursor's plan
//! to the sink, where PostgreSQL first fills a store with what FETCH returns.
//!
//! Cursors go forward only and end with their transaction: SCROLL, WITH HOLD, BINARY and every step back are refused.
//! Where PostgreSQL goes back although SCROLL was not said (it does if the plan happens to be able to), we refuse too.

use crate::compile::program::parts;
use crate::error::{Result, SqlError};
use crate::exec::sink::{RowSink, Unseen};
use crate::parse::Statement;
use crate::parse::ast::{self, FetchDirection};
use crate::plan::{Plan, vars};
use crate::session::Session;
use crate::session::message::{CommandTag, Progress};
use crate::session::portal::{Portal, Stage};
use crate::session::source::Source;
use crate::session::statement::Prepared;
use crate::sqlstate::SqlState;
use crate::types::Oid;
use std::sync::Arc;

/// FETCH ALL: more rows than there are.
const ALL: u64 = i64::MAX as u64;

/// Where a FETCH stands that was left in the middle.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fetching {
    /// Rows still asked for.
    left: u64,
    /// Rows that have gone out.
    given: u64,
}

impl Session {
    /// The query of DECLARE, bound and planned.
    pub(super) fn cursor_query(
        &mut self,
        parsed: &Arc<Source>,
        declare: &ast::Declare,
        parameter_types: &[Oid],
    ) -> Result<Arc<Prepared>> {
        let query = Statement::Query(Box::new(declare.query.clone()));
        let prepared = self.prepare(Arc::new(parsed.inner(&query)), parameter_types)?;
        let planned = prepared.planned.as_ref().expect("a query is run by a plan");
        let mut modifies = false;
        for (plan, _) in planned.program.ctes.iter().flat_map(|cte| parts(&cte.body)) {
            vars::walk(plan, &mut |node| modifies |= matches!(node, Plan::Modify(_)));
        }
        if modifies {
            return Err(SqlError::new(
                SqlState::FEATURE_NOT_SUPPORTED,
                "DECLARE CURSOR must not contain data-modifying statements in WITH",
            ));
        }
        Ok(prepared)
    }

    /// DECLARE: opens a portal whose view is taken now.
    pub(super) fn declare(
        &mut self,
        parsed: &Arc<Source>,
        declare: &ast::Declare,
        portal: &mut Portal,
    ) -> Result<&'static str> {
        let refused = [
            (declare.scroll == Some(true), "SCROLL cursors are"),
            (declare.hold, "WITH HOLD cursors are"),
            (declare.binary, "BINARY cursors are"),
        ];
        if let Some((_, what)) = refused.iter().find(|(asked, _)| *asked) {
            return Err(SqlError::unsupported(*what));
        }
        let prepared = self.cursor_query(parsed, declare, &portal.prepared.parameters)?;
        // Statements behind this one in a Query message share its transaction.
        if self.is_alone() {
            return Err(SqlError::new(
                SqlState::NO_ACTIVE_SQL_TRANSACTION,
                "DECLARE CURSOR can only be used in transaction blocks",
            ));
        }
        if declare.name.is_empty() {
            return Err(SqlError::new(
                SqlState::INVALID_CURSOR_NAME,
                "invalid cursor name: must not be empty",
            ));
        }
        if self.portals.contains_key(&*declare.name) {
            return Err(SqlError::new(
                SqlState::DUPLICATE_CURSOR,
                format!("cursor \"{}\" already exists", declare.name),
            ));
        }
        let mut cursor = Portal::new(prepared);
        cursor.parameters = std::mem::take(&mut portal.parameters);
        cursor.forward_only = declare.scroll == Some(false);
        cursor.depth = self.block.depth();
        self.check_presets(&cursor.prepared, &cursor.parameters)?;
        self.start_plan(&mut cursor)?;
        if let (Some(view), Some(transaction)) = (&cursor.view, self.block.transaction()) {
            transaction.retain_view(view);
            cursor.retained = true;
        }
        self.portals.insert(declare.name.to_string(), cursor);
        Ok("DECLARE CURSOR")
    }

    /// FETCH and MOVE: as [`Session::run_portal`], for the rows that the direction names.
    pub(super) fn fetch(
        &mut self,
        fetch: &ast::Fetch,
        portal: &mut Portal,
        max_rows: u64,
        sink: &mut dyn RowSink,
    ) -> Result<Progress> {
        let mut cursor = self.portals.remove(&*fetch.name).ok_or_else(|| no_cursor(&fetch.name))?;
        if cursor.prepared.columns.is_none() || cursor.prepared.planned.is_none() {
            return Err(SqlError::new(
                SqlState::OBJECT_NOT_IN_PREREQUISITE_STATE,
                format!("cursor \"{}\" cannot be fetched from", fetch.name),
            ));
        }
        let fetched = self.fetch_from(&mut cursor, fetch, portal, max_rows, sink);
        match self.shown_at_end(fetched) {
            Ok(progress) => {
                self.portals.insert(fetch.name.to_string(), cursor);
                Ok(progress)
            }
            Err(error) => {
                self.fail_portal(&mut cursor);
                self.portals.insert(fetch.name.to_string(), cursor);
                Err(error)
            }
        }
    }

    /// What FETCH and EXECUTE have come to: PostgreSQL keeps their rows until the last is there, so where they fail none
    /// is shown.
    pub(super) fn shown_at_end<T>(&mut self, result: Result<T>) -> Result<T> {
        self.answer_began &= result.is_ok();
        result
    }

    fn fetch_from(
        &mut self,
        cursor: &mut Portal,
        fetch: &ast::Fetch,
        portal: &mut Portal,
        max_rows: u64,
        sink: &mut dyn RowSink,
    ) -> Result<Progress> {
        let mut state = match portal.fetching {
            Some(state) => state,
            None => {
                let (skipped, left) = distance(fetch.direction, cursor)?;
                self.pass(cursor, &fetch.name, skipped, sink)?;
                Fetching { left, given: 0 }
            }
        };
        let portion = if max_rows == 0 { state.left } else { state.left.min(max_rows) };
        let progress = if fetch.moves {
            state.given = self.pass(cursor, &fetch.name, state.left, sink)?;
            state.left = 0;
            Progress::Suspended
        } else {
            let before = sent(cursor);
            let progress = self.advance_cursor(cursor, &fetch.name, portion, sink)?;
            let passed = sent(cursor) - before;
            state.given += passed;
            state.left -= passed.min(state.left);
            progress
        };
        let ended = state.left == 0 || matches!(progress, Progress::Complete(_));
        if ended {
            let words = if fetch.moves { "MOVE" } else { "FETCH" };
            let tag = CommandTag { words, rows: Some(state.given) };
            portal.progress = Stage::Done(tag);
            return Ok(Progress::Complete(tag));
        }
        portal.fetching = Some(state);
        Ok(progress)
    }

    /// Moves a cursor over up to `rows` rows; how many there were.
    fn pass(
        &mut self,
        cursor: &mut Portal,
        name: &str,
        rows: u64,
        sink: &mut dyn RowSink,
    ) -> Result<u64> {
        let before = sent(cursor);
        let mut unseen = Unseen::default();
        let passed = self.advance_cursor(cursor, name, rows, &mut unseen);
        unseen.notices.iter().for_each(|notice| sink.notice(notice));
        passed?;
        Ok(sent(cursor) - before)
    }

    /// Runs a cursor for up to `rows` rows, none if that is 0.
    fn advance_cursor(
        &mut self,
        cursor: &mut Portal,
        name: &str,
        rows: u64,
        sink: &mut dyn RowSink,
    ) -> Result<Progress> {
        if rows == 0 {
            return Ok(Progress::Suspended);
        }
        self.run_portal(cursor, name, if rows == ALL { 0 } else { rows }, sink)
    }

    /// CLOSE.
    pub(super) fn close_cursor(&mut self, name: Option<&str>) -> Result<&'static str> {
        match name {
            Some(name) if !self.portals.contains_key(name) => Err(no_cursor(name)),
            Some(name) => {
                self.close_portal(name);
                Ok("CLOSE CURSOR")
            }
            None => {
                let names: Vec<String> = self.portals.keys().cloned().collect();
                names.iter().for_each(|name| self.close_portal(name));
                Ok("CLOSE CURSOR ALL")
            }
        }
    }

    /// A portal has failed, or what it belongs to has: it keeps its name and nothing else.
    pub(super) fn fail_portal(&mut self, portal: &mut Portal) {
        self.let_go(portal);
        portal.progress = Stage::Failed;
        portal.machine = None;
        portal.rows = None;
        portal.view = None;
        portal.retained = false;
    }

    /// The block has failed: portals opened behind its last savepoint cannot be run any more. They go with ROLLBACK TO, or
    /// with the block; those opened in front of it live on.
    pub(super) fn fail_portals(&mut self) {
        let depth = self.block.depth();
        let mut portals = std::mem::take(&mut self.portals);
        let mut unnamed = self.unnamed_portal.take();
        for portal in portals.values_mut().chain(&mut unnamed) {
            if portal.depth >= depth {
                self.fail_portal(portal);
            }
        }
        self.portals = portals;
        self.unnamed_portal = unnamed;
    }

    /// A savepoint has been rolled back to: portals opened behind it go.
    pub(super) fn close_behind_savepoint(&mut self) {
        let depth = self.block.depth();
        let gone: Vec<String> = self
            .portals
            .iter()
            .filter(|(_, portal)| portal.depth >= depth)
            .map(|(name, _)| name.clone())
            .collect();
        gone.iter().for_each(|name| self.close_portal(name));
        if self.unnamed_portal.as_ref().is_some_and(|portal| portal.depth >= depth) {
            self.close_portal("");
        }
    }

    /// A savepoint has been released: portals opened behind it belong to what is around it.
    pub(super) fn keep_released(&mut self) {
        let depth = self.block.depth();
        let all = self.portals.values_mut().chain(&mut self.unnamed_portal);
        all.for_each(|portal| portal.depth = portal.depth.min(depth));
    }
}

/// Rows that a cursor has given so far.
fn sent(cursor: &Portal) -> u64 {
    cursor.machine.as_ref().map_or(0, crate::exec::Machine::rows)
}

/// How many rows a direction passes over, and how many it then returns.
fn distance(direction: FetchDirection, cursor: &Portal) -> Result<(u64, u64)> {
    let at_end = matches!(cursor.progress, Stage::Done(_));
    // The place of the row that the cursor stands on, from 1; 0 is in front of the first.
    let place = sent(cursor) + u64::from(at_end);
    let on_row = !at_end && place > 0;
    match direction {
        FetchDirection::Forward(rows) if rows > 0 => Ok((0, rows.unsigned_abs())),
        FetchDirection::Relative(rows) if rows > 0 => Ok((rows.unsigned_abs() - 1, 1)),
        FetchDirection::Absolute(row) if row > 0 && row.unsigned_abs() > place => {
            Ok((row.unsigned_abs() - place - 1, 1))
        }
        FetchDirection::Forward(0) | FetchDirection::Relative(0) | FetchDirection::Backward(0)
            if !on_row =>
        {
            Ok((0, 0))
        }
        _ if cursor.forward_only => Err(SqlError::new(
            SqlState::OBJECT_NOT_IN_PREREQUISITE_STATE,
            "cursor can only scan forward",
        )
        .hint("Declare it with SCROLL option to enable backward scan.")),
        _ => Err(SqlError::unsupported("moving a cursor backward is")),
    }
}

fn no_cursor(name: &str) -> SqlError {
    SqlError::new(SqlState::INVALID_CURSOR_NAME, format!("cursor \"{name}\" does not exist"))
}
