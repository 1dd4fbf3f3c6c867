//! A machine: one session's running state of a program. It is kept and used again, so that a statement that runs often
//! builds its operators once.

use super::context::{Context, Host};
use super::deferred::Pending;
use super::frame::Frame;
use super::operator::{Builder, Operator};
use super::probe::Probes;
use super::referential_action::ReferentialAction;
use super::rows::Nothing;
use super::sink::{Flow, RowSink};
use super::spool::{Spool, SpoolReader};
use super::subquery::{CteRun, CteState, SubplanState, modifies};
use super::trigger;
use crate::catalog::trigger::INSERT;
use crate::compile::Program;
use crate::error::Result;
use crate::parse::depth::with_stack_for;
use crate::plan::Plan;
use crate::plan::cte::CtePlanBody;
use crate::plan::subplan::SubplanKind;
use crate::tuple::RowBuf;
use crate::tuple::row_id::SessionRowIds;
use bumpalo::Bump;
use std::sync::Arc;
use txn::{ReadView, Transaction};

/// Why a machine has stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// There are no more rows.
    Done,
    /// As many rows as asked for have gone out.
    MaxRows,
    /// The sink wants to be emptied first.
    Paused,
}

/// What a machine runs with.
pub struct Run<'s, 'h> {
    /// The transaction.
    pub transaction: &'s mut Transaction,
    /// What the statement sees.
    pub view: ReadView,
    /// `$1` and so on.
    pub parameters: &'s RowBuf,
    /// What the session lends.
    pub host: &'s Host<'h>,
    /// The session's row ids.
    pub row_ids: &'s mut SessionRowIds,
}

/// What the operators of a program share.
struct State {
    frame: Frame,
    arena: Bump,
    subplans: Vec<SubplanState>,
    ctes: Vec<CteState>,
    checks: Pending,
    actions: Vec<Option<ReferentialAction>>,
    run: u64,
    processed: u64,
}

impl State {
    /// What operators work with in a run.
    fn context<'s>(&'s mut self, run: &'s mut Run<'_, '_>) -> Context<'s> {
        Context {
            transaction: run.transaction,
            view: run.view,
            frame: &mut self.frame,
            arena: &mut self.arena,
            subplans: &mut self.subplans,
            ctes: &mut self.ctes,
            parameters: run.parameters,
            host: run.host,
            row_ids: run.row_ids,
            run: self.run,
            processed: &mut self.processed,
            checks: &mut self.checks,
            actions: &mut self.actions,
        }
    }
}

/// What is kept of the memory of returned rows, in bytes.
const SPARE_BYTES_MAX: usize = 4096;

/// What a modification returns, and how many of its rows have gone out.
struct Kept {
    rows: Spool,
    reader: SpoolReader,
    next: usize,
}

/// A program's state.
pub struct Machine {
    program: Arc<Program>,
    root: Box<dyn Operator>,
    state: State,
    opened: bool,
    /// Whether what waits for the statement's end waits for [`Machine::end`].
    holds: bool,
    /// Whether [`Machine::begin`] has been done.
    begun: bool,
    /// Rows that have gone out.
    sent: u64,
    /// What a modification returns, all of it: it runs to its end before its first row goes out, and shows none if it
    /// fails.
    kept: Option<Kept>,
    /// The memory of what it has returned before.
    spare: Option<Spool>,
}

impl Drop for Machine {
    fn drop(&mut self) {
        let operators = (
            std::mem::replace(&mut self.root, Box::new(Nothing)),
            std::mem::take(&mut self.state.subplans),
            std::mem::take(&mut self.state.ctes),
        );
        with_stack_for(self.program.height, || drop(operators));
    }
}

impl Machine {
    /// Of a program.
    #[must_use]
    pub fn new(program: &Arc<Program>) -> Machine {
        with_stack_for(program.height, || Machine::built(program, &Builder::new(program)))
    }

    /// Of a program, with a probe around every operator.
    #[must_use]
    pub fn watched(program: &Arc<Program>, probes: &Probes) -> Machine {
        let build = || Machine::built(program, &Builder::watched(program, probes));
        with_stack_for(program.height, build)
    }

    fn built(program: &Arc<Program>, builder: &Builder<'_>) -> Machine {
        let around = program.steps_around();
        let subplans = program
            .subplans
            .iter()
            .zip(around.subplans)
            .map(|(subplan, steps)| SubplanState {
                operator: Some(builder.build_within(&subplan.plan, steps)),
                correlated: match &subplan.kind {
                    SubplanKind::Quantified(test, _) => builder.correlated([test]),
                    _ => Box::default(),
                },
                codes: match &subplan.kind {
                    SubplanKind::Quantified(test, _) => Box::new([builder.code([test])]),
                    SubplanKind::Hashed(hashed) => Box::new([
                        builder.code(&hashed.left),
                        builder.code(hashed.right.iter().map(|(value, _)| value)),
                    ]),
                    SubplanKind::Scalar(_) | SubplanKind::Exists | SubplanKind::Array(..) => {
                        Box::default()
                    }
                },
                kind: Arc::new(subplan.kind.clone()),
                result: RowBuf::new(),
                done: false,
                members: None,
            })
            .collect();
        let ctes = program
            .ctes
            .iter()
            .enumerate()
            .map(|(number, cte)| {
                let run = match &cte.body {
                    CtePlanBody::Query(plan, layout) => {
                        let operator = builder.build_within(plan, around.ctes[number].clone());
                        CteRun::Query(Some(operator), layout.clone())
                    }
                    CtePlanBody::Recursive { base, step, all, types } => {
                        let mut steps = around.ctes[number].clone();
                        let first = builder.build_within(&base.0, steps.clone());
                        steps.push(number as u32);
                        let next = builder.build_within(&step.0, steps);
                        CteRun::Recursive {
                            base: (Some(first), base.1.clone()),
                            step: (Some(next), step.1.clone()),
                            all: *all,
                            of_round: program.subplans_of_round(number as u32),
                            types: types.iter().map(|ty| ty.0).collect(),
                        }
                    }
                };
                CteState::new(run, cte.width, modifies(&cte.body))
            })
            .collect();
        let actions = program
            .actions
            .iter()
            .map(|action| Some(ReferentialAction::new(action, builder)))
            .collect();
        let root = builder.build(&program.plan);
        builder.finish();
        Machine {
            root,
            program: Arc::clone(program),
            state: State {
                frame: Frame::new(&program.widths),
                arena: Bump::new(),
                subplans,
                ctes,
                checks: Pending::default(),
                actions,
                run: 0,
                processed: 0,
            },
            opened: false,
            holds: false,
            begun: false,
            sent: 0,
            kept: None,
            spare: None,
        }
    }

    /// Its program.
    #[must_use]
    #[inline]
    pub fn program(&self) -> &Arc<Program> {
        &self.program
    }

    /// What its arena, the values of its rows, subqueries' results and what operators keep occupy; nothing where one of these
    /// does not say, or has a file.
    #[must_use]
    pub fn rest_bytes(&self) -> Option<usize> {
        let State { arena, frame, subplans, ctes, .. } = &self.state;
        let mut bytes = arena.allocated_bytes() + frame.capacity_bytes();
        if let Some(kept) = &self.kept {
            bytes += Some(kept.rows.capacity_bytes()).filter(|_| kept.rows.is_empty())?;
        }
        bytes += self.root.rest_bytes()?;
        for cte in ctes {
            bytes += cte.rest_bytes()?;
        }
        for subplan in subplans {
            bytes += subplan.rest_bytes()?;
        }
        Some(bytes)
    }

    /// Makes it ready to run from the beginning.
    pub fn restart(&mut self) {
        self.opened = false;
        self.sent = 0;
        if let Some(mut kept) = self.kept.take() {
            kept.rows.clear();
            self.spare = Some(kept.rows).filter(|rows| rows.capacity_bytes() <= SPARE_BYTES_MAX);
        }
        let state = &mut self.state;
        state.run += 1;
        state.processed = 0;
        state.arena.reset();
        state.frame.elements.clear();
        state.frame.kept.clear();
        if !self.holds {
            state.checks.clear();
        }
        for subplan in &mut state.subplans {
            subplan.done = false;
            subplan.members = None;
        }
        for cte in &mut state.ctes {
            cte.reset();
        }
    }

    /// From here on all its runs are one statement, which ends by [`Machine::end`]: checks and triggers wait for that.
    #[inline]
    pub fn hold(&mut self) {
        self.holds = true;
    }

    /// Whether its runs are one statement.
    #[must_use]
    #[inline]
    pub fn holds(&self) -> bool {
        self.holds
    }

    /// Begins a statement of many runs, or of none: the triggers of an INSERT as a whole fire whether rows come or not. Only the
    /// first time.
    ///
    /// # Errors
    /// Those of the triggers.
    pub fn begin(&mut self, run: &mut Run<'_, '_>) -> Result<()> {
        if std::mem::replace(&mut self.begun, true) {
            return Ok(());
        }
        let program = Arc::clone(&self.program);
        let Plan::Modify(modify) = &program.plan else { return Ok(()) };
        let cx = &mut self.state.context(run);
        trigger::before_statement(cx, &modify.table, INSERT, &[])?;
        trigger::after_statement(cx, &modify.table, INSERT, &[])
    }

    /// Makes the checks, and fires the triggers, that have waited through all runs.
    ///
    /// # Errors
    /// Those of the checks and triggers.
    pub fn end(&mut self, run: &mut Run<'_, '_>) -> Result<()> {
        super::deferred::finish(&mut self.state.context(run))
    }

    /// The count of the command tag: rows changed by a modification, else rows that have gone out.
    #[must_use]
    #[inline]
    pub fn rows(&self) -> u64 {
        if matches!(self.program.tag, "" | "SELECT") { self.sent } else { self.state.processed }
    }

    /// Rows that have gone out.
    #[must_use]
    #[inline]
    pub fn sent(&self) -> u64 {
        self.sent
    }

    /// The current rows: after [`Machine::next`] has said true, [`Program::output`] says where the columns are.
    #[must_use]
    #[inline]
    pub fn frame(&self) -> &Frame {
        &self.state.frame
    }

    /// Sends rows to a sink until there are no more, `max_rows` have gone (0: no limit), or the sink pauses.
    ///
    /// # Errors
    /// Everything a statement can fail with.
    pub fn run(
        &mut self,
        run: &mut Run<'_, '_>,
        max_rows: u64,
        sink: &mut dyn RowSink,
    ) -> Result<Stop> {
        let host = run.host;
        let Machine { program, root, state, opened, holds, sent, kept, spare, .. } = self;
        let columns = program.columns.as_deref().unwrap_or_default();
        let mut cx = state.context(run);
        let mut portion = 0;
        loop {
            let more = match kept {
                None if program.changes && program.columns.is_some() && !sink.keeps_back() => {
                    // It runs to its end before its first row goes out.
                    let mut rows = spare.take().unwrap_or_else(|| Spool::new(program.output.len()));
                    while step(root, (opened, *holds), &mut cx)? {
                        let frame = &*cx.frame;
                        rows.push(program.output.iter().map(|var| frame.get(*var)));
                        if rows.bytes() > cx.memory_limit() {
                            rows.spill(cx.temp_space())?;
                        }
                    }
                    let next = usize::from(!rows.is_empty());
                    *kept = Some(Kept { rows, reader: SpoolReader::default(), next });
                    next > 0
                }
                None => step(root, (opened, *holds), &mut cx)?,
                Some(kept) => {
                    cx.arena.reset();
                    kept.next += 1;
                    kept.next <= kept.rows.len()
                }
            };
            send_notices(host, sink);
            if !more {
                // A machine that rests holds no file.
                if let Some(kept) = kept {
                    kept.rows.clear();
                }
                return Ok(Stop::Done);
            }
            if program.columns.is_none() {
                continue;
            }
            let (arena, frame) = (&*cx.arena, &*cx.frame);
            let flow = match kept {
                Some(Kept { rows, reader, next }) => {
                    let row = arena.alloc_slice_fill_iter(rows.row(*next - 1, reader)?);
                    sink.row(&host.call(arena), columns, row)
                }
                None => {
                    if !program.positions.is_empty() {
                        sink.keys(&mut program.positions.iter().map(|one| frame.get(one.key)));
                    }
                    sink.take(frame, &program.output).unwrap_or_else(|| {
                        let row = program.output.iter().map(|var| frame.get(*var));
                        sink.row(&host.call(arena), columns, arena.alloc_slice_fill_iter(row))
                    })
                }
            }?;
            *sent += 1;
            portion += 1;
            if portion == max_rows {
                return Ok(Stop::MaxRows);
            }
            if flow == Flow::Pause {
                return Ok(Stop::Paused);
            }
            if kept.is_none() && root.is_over() {
                end(*holds, &mut cx)?;
                send_notices(host, sink);
                return Ok(Stop::Done);
            }
        }
    }

    /// Makes the next row; at the end, makes the checks that were put off to it.
    ///
    /// # Errors
    /// Everything a statement can fail with.
    pub fn next(&mut self, run: &mut Run<'_, '_>) -> Result<bool> {
        step(&mut self.root, (&mut self.opened, self.holds), &mut self.state.context(run))
    }
}

/// As [`Machine::next`], of its parts.
#[inline]
fn step(
    root: &mut Box<dyn Operator>,
    (opened, holds): (&mut bool, bool),
    cx: &mut Context<'_>,
) -> Result<bool> {
    // Between rows, too: a statement that has cancelled itself is told so at the next one, or at its end.
    cx.check_cancel()?;
    if !*opened {
        *opened = true;
        root.open(cx)?;
    }
    if root.next(cx)? {
        return Ok(true);
    }
    end(holds, cx)?;
    Ok(false)
}

/// Behind the last row: what waits for the statement's end is done.
#[inline]
fn end(holds: bool, cx: &mut Context<'_>) -> Result<()> {
    cx.check_cancel()?;
    if holds { Ok(()) } else { super::deferred::finish(cx) }
}

fn send_notices(host: &Host<'_>, sink: &mut dyn RowSink) {
    if host.notices.borrow().is_empty() {
        return;
    }
    let mut notices = host.notices.take();
    // Those that the client does not want stay for the log.
    let hidden = host.settings.get().keep_shown(&mut notices);
    host.notices.replace(hidden);
    for notice in notices {
        sink.notice(&notice);
    }
}
