//! SQL cursors: DECLARE, FETCH, MOVE and CLOSE (PostgreSQL 15 manual, the pages of these commands; `portalcmds.c`).
//!
//! A cursor is a portal with a name; FETCH runs it for so many rows. Its view is taken by DECLARE and kept until it is
//! closed, so it shows no change that came later, the transaction's own included. Rows go straight from the cursor's plan
//! to the sink, where PostgreSQL first fills a store with what FETCH returns.
//!
//! A cursor that may go back keeps what its plan has given ([`Store`]). One that was declared WITH HOLD is run to its end before
//! its transaction commits, and lives on by what it kept. BINARY decides what a FETCH in a Query message gives.
//!
//! WHERE CURRENT OF finds the row that a cursor stands on by its key ([`Cursors`], `execCurrentOf`): of a table that the cursor
//! locks, or else of the one scan that it consists of.

use crate::bind::lock_words;
use crate::catalog::Relation;
use crate::error::{Result, SqlError};
use crate::exec::Cursors;
use crate::exec::sink::{Flow, Format, RowSink, Unseen};
use crate::exec::temp_file::TempSpace;
use crate::message::{CommandTag, Progress};
use crate::parse::Deep;
use crate::parse::Statement;
use crate::parse::ast::{self, FetchDirection};
use crate::parse::depth::with_stack_for;
use crate::plan::{Plan, vars};
use crate::prepared::Prepared;
use crate::session::Session;
use crate::session::facts::SessionFacts;
use crate::session::portal::{Executed, Portal, Stage};
use crate::session::routine::text::is_scalar;
use crate::session::run::cannot_run;
use crate::session::scroll::{Keeping, Store, only_forward_error};
use crate::source::Source;
use crate::sqlstate::SqlState;
use crate::system::Cursor;
use crate::tuple::RowBuf;
use crate::types::{Datum, Oid};
use rustc_hash::FxHashMap;
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
    /// Towards the first row.
    backward: bool,
}

/// What a portal is besides, that DECLARE has opened.
#[derive(Debug)]
pub(super) struct Declared {
    /// The rows it can go back to; none for one that only goes forward within its transaction.
    store: Option<Store>,
    /// It may go back.
    scroll: bool,
    /// SCROLL was said.
    said_scroll: bool,
    /// BINARY.
    binary: bool,
    /// WITH HOLD.
    hold: bool,
    /// Its rows are kept, to the last one, for when its transaction has committed.
    kept: bool,
    /// Its transaction has committed.
    pub held: bool,
}

/// How many rows are asked of a plan at a time.
const PORTION: u64 = 256;

impl Session {
    /// The query of DECLARE, bound and planned.
    pub(super) fn cursor_query(
        &mut self,
        parsed: &Arc<Source>,
        declare: &ast::Declare,
        parameter_types: &[Oid],
    ) -> Result<Arc<Prepared>> {
        let copy = || Statement::Query(Box::new(declare.query.clone()));
        let query = Deep::new(with_stack_for(parsed.height(), copy), parsed.height());
        let prepared = self.prepare(Arc::new(parsed.cursor(&query)), parameter_types)?;
        let planned = prepared.planned.as_ref().expect("a query is run by a plan");
        let mut modifies = false;
        for (plan, _) in planned.program.ctes.iter().flat_map(|cte| cte.body.parts()) {
            vars::walk(plan, &mut |node| modifies |= matches!(node, Plan::Modify(_)));
        }
        if modifies {
            return Err(SqlError::new(
                SqlState::FEATURE_NOT_SUPPORTED,
                "DECLARE CURSOR must not contain data-modifying statements in WITH",
            ));
        }
        if let Some(locking) = declare.query.locking.first() {
            let words = lock_words(locking.strength);
            let refused = |state, what: String, detail| {
                Err(SqlError::new(state, format!("DECLARE {what}")).detail(detail))
            };
            if declare.hold {
                let what = format!("CURSOR WITH HOLD ... {words} is not supported");
                let detail = "Holdable cursors must be READ ONLY.";
                return refused(SqlState::FEATURE_NOT_SUPPORTED, what, detail);
            }
            if declare.scroll == Some(true) {
                let what = format!("SCROLL CURSOR ... {words} is not supported");
                let detail = "Scrollable cursors must be READ ONLY.";
                return refused(SqlState::FEATURE_NOT_SUPPORTED, what, detail);
            }
            if declare.insensitive == Some(true) {
                let what = format!("INSENSITIVE CURSOR ... {words} is not valid");
                let detail = "Insensitive cursors must be READ ONLY.";
                return refused(SqlState::INVALID_CURSOR_DEFINITION, what, detail);
            }
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
        let prepared = self.cursor_query(parsed, declare, &portal.prepared.parameters)?;
        let prepared = self.held(prepared)?;
        if !declare.hold && self.is_alone_at_top() {
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
        if declare.hold {
            self.demand_unrestricted("create a cursor WITH HOLD")?;
        }
        if self.portals.contains_key(&*declare.name) {
            return Err(SqlError::new(
                SqlState::DUPLICATE_CURSOR,
                format!("cursor \"{}\" already exists", declare.name),
            ));
        }
        let parameters = portal.parameters.clone();
        let forward_only = declare.scroll == Some(false) || !declare.query.locking.is_empty();
        let declared = Declared {
            store: None,
            scroll: !forward_only,
            said_scroll: declare.scroll == Some(true),
            binary: declare.binary,
            hold: declare.hold,
            kept: false,
            held: false,
        };
        let mut cursor = Portal::new(prepared);
        cursor.parameters = parameters;
        self.open_portal(&declare.name, cursor, declared)?;
        Ok("DECLARE CURSOR")
    }

    /// Opens a cursor for a query of a routine (`SPI_cursor_open`).
    pub(super) fn open_for_routine(
        &mut self,
        name: &str,
        prepared: Arc<Prepared>,
        parameters: RowBuf,
        scroll: Option<bool>,
    ) -> Result<()> {
        let prepared = self.held(prepared)?;
        let planned = prepared.planned.as_ref();
        let (locks, changes) = planned.map_or((false, false), |planned| {
            let positions = &planned.program.positions;
            (positions.iter().any(|position| position.locked), planned.program.changes)
        });
        let goes_back = planned.is_some() && !locks && !changes && !is_scalar(&prepared);
        if scroll == Some(true) && locks {
            return Err(SqlError::new(
                SqlState::FEATURE_NOT_SUPPORTED,
                "DECLARE SCROLL CURSOR ... FOR UPDATE/SHARE is not supported",
            )
            .detail("Scrollable cursors must be READ ONLY."));
        }
        let declared = Declared {
            store: None,
            scroll: scroll.unwrap_or(goes_back),
            said_scroll: scroll == Some(true),
            binary: false,
            hold: false,
            kept: false,
            held: false,
        };
        let mut cursor = Portal::new(prepared);
        cursor.parameters = parameters;
        self.watch_opened(&mut cursor);
        self.open_portal(name, cursor, declared)
    }

    fn open_portal(
        &mut self,
        name: &str,
        mut cursor: Box<Portal>,
        mut declared: Declared,
    ) -> Result<()> {
        cursor.forward_only = !declared.scroll;
        let planned = cursor.prepared.planned.is_some();
        // What SHOW, EXPLAIN and EXECUTE of a body answer is kept, as they run at the first FETCH (`FillPortalStore`).
        let keeps = declared.scroll || !planned;
        declared.store = keeps.then(|| Store::new(width(&cursor), 0));
        cursor.declared = Some(Box::new(declared));
        cursor.created = self.block.statement_time;
        cursor.depth = self.block.depth();
        if planned {
            self.check_presets(&cursor.prepared, &cursor.parameters)?;
            self.start_plan(&mut cursor)?;
        }
        if let (Some(view), Some(transaction)) = (&cursor.view, self.block.transaction()) {
            transaction.retain_view(view);
            cursor.retained = true;
        }
        self.portals.insert(name.to_owned(), cursor);
        Ok(())
    }

    /// Runs the cursors that loops of routines go over to their ends: the transaction ends, and they do not
    /// (`HoldPinnedPortals`).
    pub(super) fn hold_pinned(&mut self) -> Result<()> {
        for name in &self.pinned {
            let Some(portal) = self.portals.get_mut(name) else { continue };
            if portal.prepared.planned.as_ref().is_some_and(|planned| planned.program.changes) {
                return Err(SqlError::new(
                    SqlState::INVALID_TRANSACTION_TERMINATION,
                    "cannot perform transaction commands inside a cursor loop that is not read-only",
                ));
            }
            if let Some(declared) = &mut portal.declared {
                declared.hold = true;
            }
        }
        if self.pinned.is_empty() { Ok(()) } else { self.keep_held() }
    }

    /// FETCH and MOVE: as [`Session::run_portal`], for the rows that the direction names.
    pub(super) fn fetch(
        &mut self,
        fetch: &ast::Fetch,
        portal: &mut Portal,
        max_rows: u64,
        sink: &mut dyn RowSink,
    ) -> Result<Progress> {
        sink.shown_at_end();
        let mut cursor = self.portals.remove(&*fetch.name).ok_or_else(|| no_cursor(&fetch.name))?;
        let runs = cursor.prepared.planned.is_some() || cursor.declared.is_some();
        if cursor.prepared.columns.is_none() || !runs {
            return Err(SqlError::new(
                SqlState::OBJECT_NOT_IN_PREREQUISITE_STATE,
                format!("cursor \"{}\" cannot be fetched from", fetch.name),
            ));
        }
        let keeps = cursor.declared.as_ref().is_some_and(|declared| declared.store.is_some());
        let fetched = if keeps {
            self.fetch_kept(&mut cursor, fetch, portal, max_rows, sink)
        } else {
            self.fetch_from(&mut cursor, fetch, portal, max_rows, sink)
        };
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
                Fetching { left, given: 0, backward: false }
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
            return Ok(fetched(fetch, &state, portal));
        }
        portal.fetching = Some(state);
        Ok(progress)
    }

    /// The same for a cursor that keeps its rows.
    fn fetch_kept(
        &mut self,
        cursor: &mut Portal,
        fetch: &ast::Fetch,
        portal: &mut Portal,
        max_rows: u64,
        sink: &mut dyn RowSink,
    ) -> Result<Progress> {
        if cursor.progress == Stage::Failed {
            return Err(cannot_run(&fetch.name));
        }
        let mut state = match portal.fetching {
            Some(state) => state,
            None => {
                if matches!(fetch.direction, FetchDirection::Absolute(row) if row < 0) {
                    self.pass_kept(cursor, &fetch.name, u64::MAX, false, sink)?;
                }
                let only_forward = cursor.forward_only;
                let wanted = store(cursor).wanted(fetch.direction, only_forward)?;
                let backward = wanted.backward;
                self.pass_kept(cursor, &fetch.name, wanted.skip, backward, sink)?;
                Fetching { left: wanted.rows, given: 0, backward }
            }
        };
        if fetch.moves {
            state.given = self.pass_kept(cursor, &fetch.name, state.left, state.backward, sink)?;
            return Ok(fetched(fetch, &state, portal));
        }
        let columns = cursor.prepared.columns.clone().unwrap_or_default();
        let mut portion = if max_rows == 0 { u64::MAX } else { max_rows };
        while state.left > 0 {
            if portion == 0 {
                portal.fetching = Some(state);
                return Ok(Progress::Suspended);
            }
            if !state.backward && store(cursor).wants_more() {
                self.fill_kept(cursor, &fetch.name, state.left.min(PORTION), sink)?;
            }
            let rows = store(cursor);
            let mut paused = false;
            let ended = self.with_context(|context| {
                while state.left > 0 && portion > 0 && !paused {
                    if !state.backward && rows.wants_more() {
                        return Ok(false);
                    }
                    if rows.pass(1, state.backward)? == 0 {
                        return Ok(true);
                    }
                    let shown = rows.current().take(columns.len());
                    let row = context.arena.alloc_slice_fill_iter(shown);
                    paused = sink.row(context, &columns, row)? == Flow::Pause;
                    state.left -= 1;
                    state.given += 1;
                    portion -= 1;
                }
                Ok(false)
            })?;
            if ended {
                break;
            }
            if paused && state.left > 0 {
                portal.fetching = Some(state);
                return Ok(Progress::Paused);
            }
        }
        Ok(fetched(fetch, &state, portal))
    }

    /// Moves a cursor that keeps its rows over up to `rows` rows; how many there were.
    fn pass_kept(
        &mut self,
        cursor: &mut Portal,
        name: &str,
        rows: u64,
        backward: bool,
        sink: &mut dyn RowSink,
    ) -> Result<u64> {
        let mut passed = 0;
        while passed < rows {
            if !backward && store(cursor).wants_more() {
                self.fill_kept(cursor, name, (rows - passed).min(PORTION), sink)?;
            }
            let here = store(cursor).pass(rows - passed, backward)?;
            passed += here;
            if backward || !store(cursor).wants_more() {
                break;
            }
        }
        Ok(passed)
    }

    /// Has the plan give up to so many rows more, which are kept.
    fn fill_kept(
        &mut self,
        cursor: &mut Portal,
        name: &str,
        rows: u64,
        sink: &mut dyn RowSink,
    ) -> Result<()> {
        let Some(mut declared) = cursor.declared.take() else { return Ok(()) };
        let Some(store) = &mut declared.store else { return Ok(()) };
        let before = store.given();
        let mut keeping = Keeping { store, keys: RowBuf::new(), notices: Vec::new() };
        let progress = match cursor.prepared.planned {
            Some(_) => self.run_cursor(cursor, name, rows, &mut keeping),
            None => {
                let mut whole = Portal::new(Arc::clone(&cursor.prepared));
                whole.parameters = std::mem::take(&mut cursor.parameters);
                self.run_for_body(&mut whole, 0, &mut keeping)
            }
        };
        keeping.notices.iter().for_each(|notice| sink.notice(notice));
        if matches!(progress, Ok(Progress::Complete(_))) {
            store.ends();
        }
        let settings = self.settings.plain();
        let space = TempSpace {
            scratch: self.engine.manager().data().scratch(),
            used: &self.temp_used,
            limit: settings.temp_file_limit_bytes,
        };
        let all = declared.hold || declared.said_scroll;
        let bound = store.bound(settings.values.spill_bytes(), space, all, before);
        cursor.declared = Some(declared);
        progress.and(bound)
    }

    /// Runs the cursors that outlive the transaction to their end, before it commits.
    pub(super) fn keep_held(&mut self) -> Result<()> {
        let wanted = |portal: &Portal| {
            portal.declared.as_ref().is_some_and(|declared| declared.hold && !declared.kept)
        };
        let found = self.portals.iter().filter(|(_, portal)| wanted(portal));
        let names: Vec<String> = found.map(|(name, _)| name.clone()).collect();
        for name in names {
            let Some(mut cursor) = self.portals.remove(&name) else { continue };
            if cursor.progress == Stage::Failed {
                continue;
            }
            let (gone, width) = (sent(&cursor), width(&cursor));
            let at_end = matches!(cursor.progress, Stage::Done(_));
            if let Some(declared) = &mut cursor.declared
                && declared.store.is_none()
            {
                let mut rest = Store::new(width, gone);
                if at_end {
                    rest.ends();
                    rest.pass(1, false)?;
                }
                declared.store = Some(rest);
            }
            let mut unseen = Unseen::default();
            while !store(&mut cursor).is_complete() {
                self.fill_kept(&mut cursor, &name, PORTION, &mut unseen)?;
            }
            self.notices.get_mut().append(&mut unseen.notices);
            self.let_go(&cursor);
            cursor.machine = None;
            cursor.view = None;
            cursor.retained = false;
            if let Some(declared) = &mut cursor.declared {
                declared.kept = true;
            }
            self.portals.insert(name, cursor);
        }
        Ok(())
    }

    /// 0A000 for PREPARE TRANSACTION where a cursor would outlive the transaction.
    pub(super) fn may_prepare_cursors(&self) -> Result<()> {
        let mut declared = self.portals.values().filter_map(|portal| portal.declared.as_ref());
        if declared.any(|declared| declared.hold && !declared.held) {
            return Err(SqlError::new(
                SqlState::FEATURE_NOT_SUPPORTED,
                "cannot PREPARE a transaction that has created a cursor WITH HOLD",
            ));
        }
        Ok(())
    }

    /// The transaction has committed: what was kept of its cursors is theirs.
    pub(super) fn hold_kept(&mut self) {
        for portal in self.portals.values_mut() {
            if let Some(declared) = &mut portal.declared {
                declared.held |= declared.kept;
            }
        }
    }

    /// Cursors and portals that belong to the transaction go.
    pub(super) fn close_unheld(&mut self) {
        self.portals.retain(|_, portal| portal.is_held());
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
        self.run_cursor(cursor, name, if rows == ALL { 0 } else { rows }, sink)
    }

    /// Runs a cursor on, which may be a body's.
    fn run_cursor(
        &mut self,
        cursor: &mut Portal,
        name: &str,
        rows: u64,
        sink: &mut dyn RowSink,
    ) -> Result<Progress> {
        match cursor.of_body {
            true => self.run_for_body(cursor, rows, sink),
            false => self.run_portal(cursor, name, rows, sink),
        }
    }

    /// CLOSE.
    pub(super) fn close_cursor(&mut self, name: Option<&str>) -> Result<&'static str> {
        match name {
            Some(name) if !self.portals.contains_key(name) => Err(no_cursor(name)),
            Some(name) => {
                self.demand_unpinned(name)?;
                self.close_portal(name);
                Ok("CLOSE CURSOR")
            }
            None => {
                let names: Vec<String> = self.portals.keys().cloned().collect();
                names.iter().try_for_each(|name| self.demand_unpinned(name))?;
                names.iter().for_each(|name| self.close_portal(name));
                Ok("CLOSE CURSOR ALL")
            }
        }
    }

    fn demand_unpinned(&self, name: &str) -> Result<()> {
        if self.pinned.iter().any(|pinned| pinned == name) {
            return Err(SqlError::new(
                SqlState::INVALID_CURSOR_STATE,
                format!("cannot drop pinned portal \"{name}\""),
            ));
        }
        Ok(())
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
            if portal.depth >= depth && !portal.is_held() {
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
            .filter(|(_, portal)| portal.depth >= depth && !portal.is_held())
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

impl Cursors for SessionFacts<'_> {
    fn current_row(&self, name: &str, table: &Relation) -> Result<Option<Vec<u8>>> {
        self.portals.with(|portals| {
            let cursor = portals.get(name).ok_or_else(|| no_cursor(name))?;
            key_of(cursor, name, table)
        })
    }
}

/// The key of the table's row that a cursor stands on.
fn key_of(cursor: &Portal, name: &str, table: &Relation) -> Result<Option<Vec<u8>>> {
    let state = |what: String| {
        Err(SqlError::new(SqlState::INVALID_CURSOR_STATE, format!("cursor \"{name}\" {what}")))
    };
    let program = match &cursor.prepared.planned {
        Some(planned) if planned.program.tag == "SELECT" && !planned.program.changes => {
            &planned.program
        }
        _ => return state("is not a SELECT query".to_owned()),
    };
    if cursor.is_held() || cursor.progress == Stage::Failed {
        return state("is held from a previous transaction".to_owned());
    }
    let locks = program.positions.iter().any(|position| position.locked);
    let mut found = (program.positions.iter().enumerate())
        .filter(|(_, position)| position.table == table.oid && position.locked == locks);
    let table = &table.name;
    let (at, position) = match (found.next(), found.next()) {
        (Some(found), None) => found,
        (None, _) if locks => {
            return state(format!(
                "does not have a FOR UPDATE/SHARE reference to table \"{table}\""
            ));
        }
        (Some(_), Some(_)) => {
            return state(format!("has multiple FOR UPDATE/SHARE references to table \"{table}\""));
        }
        (None, _) if cursor.declared.is_none() => {
            return Err(SqlError::unsupported(
                "WHERE CURRENT OF a portal without FOR UPDATE that Bind has opened is",
            ));
        }
        (None, _) => {
            return state(format!("is not a simply updatable scan of table \"{table}\""));
        }
    };
    let store = cursor.declared.as_ref().and_then(|declared| declared.store.as_ref());
    let key = match (store, &cursor.machine) {
        (Some(store), _) => store.standing().and_then(|mut row| row.nth(columns(cursor) + at)),
        (None, Some(machine)) if machine.sent() > 0 && cursor.progress == Stage::Running => {
            Some(machine.frame().get(position.key))
        }
        _ => None,
    };
    match key {
        None => state("is not positioned on a row".to_owned()),
        Some(Datum::Bytea(key)) => Ok(Some(key.to_vec())),
        Some(_) => Ok(None),
    }
}

/// The formats in which a FETCH of this cursor gives its columns where the message does not say.
pub(super) fn formats(cursor: Option<&Portal>, fetch: &ast::Fetch) -> Vec<Format> {
    let declared = cursor.and_then(|cursor| cursor.declared.as_ref());
    match declared {
        Some(declared) if declared.binary && !fetch.moves => vec![Format::Binary],
        _ => Vec::new(),
    }
}

/// How many values a cursor keeps of a row: its columns, and the keys of what it is made of.
fn width(cursor: &Portal) -> usize {
    let planned = cursor.prepared.planned.as_ref();
    columns(cursor) + planned.map_or(0, |planned| planned.program.positions.len())
}

/// How many columns a cursor's rows have.
fn columns(cursor: &Portal) -> usize {
    cursor.prepared.columns.as_ref().map_or(0, Vec::len)
}

/// Rows that a cursor has given so far.
fn sent(cursor: &Portal) -> u64 {
    cursor.machine.as_ref().map_or(0, |machine| machine.rows())
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
        _ => Err(only_forward_error()),
    }
}

/// What a cursor keeps, which the caller has seen to be there.
fn store(cursor: &mut Portal) -> &mut Store {
    let declared = cursor.declared.as_mut().expect("the caller has looked");
    declared.store.as_mut().expect("the caller has looked")
}

/// FETCH or MOVE has come to its end.
fn fetched(fetch: &ast::Fetch, state: &Fetching, portal: &mut Portal) -> Progress {
    let words = if fetch.moves { "MOVE" } else { "FETCH" };
    let tag = CommandTag { words, rows: Some(state.given) };
    portal.progress = Stage::Done(tag);
    Progress::Complete(tag)
}

/// The rows of `pg_cursors`.
///
/// As in PostgreSQL the portals that Bind has made are among them, the one without a name and the one that runs too; only
/// those of a Query are not.
pub(super) fn listed(
    portals: &FxHashMap<String, Box<Portal>>,
    unnamed: Option<&Portal>,
    executed: Option<&Executed>,
) -> Vec<Cursor> {
    let open = portals.iter().map(|(name, portal)| (name.as_str(), &**portal));
    let mut listed: Vec<Cursor> = open
        .chain(unnamed.map(|portal| ("", portal)))
        .map(|(name, portal)| {
            let declared = portal.declared.as_ref();
            Cursor {
                name: name.to_owned(),
                statement: portal.prepared.parsed.query_text().to_owned(),
                binary: declared.is_some_and(|declared| declared.binary),
                holdable: declared.is_some_and(|declared| declared.hold),
                scrollable: declared.is_some_and(|declared| declared.scroll),
                created: portal.created,
            }
        })
        .collect();
    listed.extend(executed.map(|running| Cursor {
        name: running.name.clone(),
        statement: running.prepared.parsed.query_text().to_owned(),
        binary: false,
        holdable: false,
        scrollable: false,
        created: running.created,
    }));
    listed
}

fn no_cursor(name: &str) -> SqlError {
    SqlError::new(SqlState::INVALID_CURSOR_NAME, format!("cursor \"{name}\" does not exist"))
}
