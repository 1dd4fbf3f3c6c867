//! A machine: one session's running state of a program. It is kept and used again, so that a statement that runs often
//! builds its operators once.

use super::context::{Context, Host};
use super::foreign_key::Pending;
use super::frame::Frame;
use super::operator::{Builder, Operator};
use super::subquery::{CteRun, CteState, SubplanState, modifies};
use crate::compile::Program;
use crate::error::Result;
use crate::plan::build::{CtePlanBody, SubplanKind};
use crate::tuple::RowBuf;
use crate::tuple::row_id::SessionRowIds;
use bumpalo::Bump;
use std::sync::Arc;
use txn::{ReadView, Transaction};

/// A program's state.
pub struct Machine {
    program: Arc<Program>,
    root: Box<dyn Operator>,
    frame: Frame,
    arena: Bump,
    subplans: Vec<SubplanState>,
    ctes: Vec<CteState>,
    checks: Pending,
    run: u64,
    processed: u64,
    opened: bool,
}

impl Machine {
    /// Of a program.
    #[must_use]
    pub fn new(program: &Arc<Program>) -> Machine {
        let builder = Builder::new(program);
        let subplans = program
            .subplans
            .iter()
            .map(|subplan| SubplanState {
                operator: Some(builder.build(&subplan.plan)),
                correlated: match &subplan.kind {
                    SubplanKind::Quantified(test, _) => builder.correlated([test]),
                    _ => Box::default(),
                },
                kind: subplan.kind.clone(),
                result: RowBuf::new(),
                done: false,
            })
            .collect();
        let ctes = program
            .ctes
            .iter()
            .map(|cte| {
                let run = match &cte.body {
                    CtePlanBody::Query(plan, layout) => {
                        CteRun::Query(Some(builder.build(plan)), layout.clone())
                    }
                    CtePlanBody::Recursive { base, step, all, types } => CteRun::Recursive {
                        base: (Some(builder.build(&base.0)), base.1.clone()),
                        step: (Some(builder.build(&step.0)), step.1.clone()),
                        all: *all,
                        types: types.iter().map(|ty| ty.0).collect(),
                    },
                };
                CteState::new(run, cte.width, modifies(&cte.body))
            })
            .collect();
        Machine {
            root: builder.build(&program.plan),
            program: Arc::clone(program),
            frame: Frame::new(&program.widths),
            arena: Bump::new(),
            subplans,
            ctes,
            checks: Pending::default(),
            run: 0,
            processed: 0,
            opened: false,
        }
    }

    /// Its program.
    #[must_use]
    pub fn program(&self) -> &Arc<Program> {
        &self.program
    }

    /// Makes it ready to run from the beginning.
    pub fn restart(&mut self) {
        self.run += 1;
        self.processed = 0;
        self.opened = false;
        self.checks.clear();
        for subplan in &mut self.subplans {
            subplan.done = false;
        }
        for cte in &mut self.ctes {
            cte.reset();
        }
    }

    /// Rows that the statement's own modification has changed.
    #[must_use]
    pub fn processed(&self) -> u64 {
        self.processed
    }

    /// The current rows: after [`Machine::next`] has said true, [`Program::output`] says where the columns are.
    #[must_use]
    pub fn frame(&self) -> &Frame {
        &self.frame
    }

    /// The frame and an arena for what is to be sent of it.
    #[must_use]
    pub fn output(&self) -> (&Frame, &Bump) {
        (&self.frame, &self.arena)
    }

    /// Makes the next row; at the end, makes the checks that were put off to it.
    ///
    /// # Errors
    /// Everything a statement can fail with.
    pub fn next(
        &mut self,
        transaction: &mut Transaction,
        view: ReadView,
        parameters: &RowBuf,
        host: &Host<'_>,
        row_ids: &mut SessionRowIds,
    ) -> Result<bool> {
        let mut cx = Context {
            transaction,
            view,
            frame: &mut self.frame,
            arena: &mut self.arena,
            subplans: &mut self.subplans,
            ctes: &mut self.ctes,
            parameters,
            host,
            row_ids,
            run: self.run,
            processed: &mut self.processed,
            checks: &mut self.checks,
        };
        if !self.opened {
            self.opened = true;
            cx.check_cancel()?;
            self.root.open(&mut cx)?;
        }
        if self.root.next(&mut cx)? {
            return Ok(true);
        }
        super::foreign_key::finish(&mut cx)?;
        Ok(false)
    }
}
