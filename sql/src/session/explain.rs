//! EXPLAIN and EXPLAIN ANALYZE: the statement is planned, and with ANALYZE run to its end, its rows thrown away.

use crate::compile::Program;
use crate::error::{Notice, Result, SqlError};
use crate::exec::Machine;
use crate::exec::probe::Probes;
use crate::exec::sink::{ColumnDescription, Flow, RowSink};
use crate::explain::stages::AS_WRITTEN;
use crate::explain::{Facts, Format, Options, Stage, explain, not_run};
use crate::parse::Statement;
use crate::parse::ast;
use crate::prepared::{Prepared, text_column};
use crate::session::Session;
use crate::session::create_as::Watch;
use crate::session::portal::{Portal, TextRows};
use crate::session::utility::check_parameter_count;
use crate::settings::RuleSet;
use crate::settings::rule::RULES;
use crate::source::Source;
use crate::tuple::RowBuf;
use crate::types::{CallContext, Datum, Oid, SqlType};
use std::sync::Arc;
use txn::Usage;
use txn::breakdown::{self, Breakdown, Class};

/// A sink that wants no rows.
struct Nobody<'s>(&'s mut dyn RowSink);

impl RowSink for Nobody<'_> {
    fn row(
        &mut self,
        _: &CallContext<'_>,
        _: &[ColumnDescription],
        _: &[Datum<'_>],
    ) -> Result<Flow> {
        Ok(Flow::Continue)
    }

    fn notice(&mut self, notice: &Notice) {
        self.0.notice(notice);
    }
}

/// The answer of these rows.
fn answer(rows: Vec<String>) -> TextRows {
    let rows: Vec<Vec<Option<String>>> = rows.into_iter().map(|row| vec![Some(row)]).collect();
    TextRows { rows: rows.into_iter(), tag: "EXPLAIN", given: 0 }
}

/// The column of EXPLAIN's answer: json and xml where it is that.
pub(super) fn column(explain: &ast::Explain) -> Result<ColumnDescription> {
    const JSON: u32 = 114;
    const XML: u32 = 142;
    let mut column = text_column("QUERY PLAN");
    match Options::format_of(&explain.options)? {
        Format::Json => column.ty = SqlType::plain(JSON),
        Format::Xml => column.ty = SqlType::plain(XML),
        Format::Text | Format::Yaml => {}
    }
    Ok(column)
}

impl Session {
    /// The statement that is explained, made ready: for its parameters, and for what is wrong with it.
    pub(super) fn explained(
        &mut self,
        parsed: &Arc<Source>,
        explain: &ast::Explain,
        parameter_types: &[Oid],
    ) -> Result<Arc<Prepared>> {
        match &explain.statement {
            Statement::Declare(declare) => self.cursor_query(parsed, declare, parameter_types),
            Statement::Execute(execute) => self.named_statement(&execute.name),
            Statement::CreateTableAs(create) => self.stored_query(parsed, create, parameter_types),
            statement if statement.is_planned() => {
                self.prepare(Arc::new(parsed.within(statement)), parameter_types)
            }
            _ => Err(SqlError::unsupported("EXPLAIN of this statement is")),
        }
    }

    /// EXPLAIN.
    pub(super) fn explain(
        &mut self,
        parsed: &Arc<Source>,
        explained: &ast::Explain,
        portal: &mut Portal,
        sink: &mut dyn RowSink,
    ) -> Result<TextRows> {
        let mut options = Options::read(&explained.options, &|at| parsed.position(at))?;
        options.io_timing = self.settings.plain().track_io_timing;
        let engine = Arc::clone(&self.engine);
        let clock = &engine.manager().environment().clock;
        let begun = clock.now();
        let used = Usage::so_far();
        let measured = options.breakdown.then(|| {
            let clock = breakdown::start(Class::ParsePlan);
            (clock, Breakdown::so_far())
        });
        let prepared = self.explained(parsed, explained, &portal.prepared.parameters)?;
        let parameters = match &explained.statement {
            Statement::Execute(execute) => {
                check_parameter_count(&prepared, execute)?;
                self.evaluate(parsed.query_text(), &execute.parameters, &prepared.parameters)?
            }
            _ => portal.parameters.clone(),
        };
        let mut prepared = self.held(prepared)?;
        if let Some(custom) = self.custom(&prepared, &parameters)? {
            prepared = custom;
        }
        let planning = clock.now().0.saturating_sub(begun.0);
        let planned = prepared.planned.as_ref().expect("what is explained has a plan");
        let mut program = Arc::clone(&planned.program);
        let mut facts =
            Facts { planning_us: options.summary.then_some(planning), ..Facts::default() };
        if options.buffers {
            let earlier = std::mem::take(&mut self.planning_usage);
            facts.planning_usage = Some(Usage::so_far().since(used).plus(earlier));
        }
        if options.verbose && self.tracking.shows_numbers {
            facts.number = Some(prepared.number());
        }
        if options.settings {
            facts.settings = Some(self.settings.changed_for_planning());
        }
        if options.stages {
            facts.stages = self.stages(&prepared)?;
        }
        self.check_presets(&prepared, &parameters)?;
        let probes = Probes::new(options.timing, options.buffers || options.wal);
        if options.analyze {
            let begun = clock.now();
            let _class = breakdown::enter(Class::UsefulWork);
            if let Statement::CreateTableAs(create) = &explained.statement {
                portal.parameters = parameters;
                let mut watch = Watch { probes: &probes, program: None, made: false };
                let sink = &mut Nobody(sink);
                self.create_table_as(parsed, create, portal, sink, Some(&mut watch))?;
                self.answer_began = false;
                if !watch.made {
                    let what = match create.materialized {
                        true => "CREATE MATERIALIZED VIEW",
                        false => "CREATE TABLE AS",
                    };
                    return Ok(answer(not_run(what, &options)));
                }
                if let Some(inserts) = watch.program {
                    program = inserts;
                    facts.stored_query = true;
                } else {
                    // WITH NO DATA: its nodes are watched, and do nothing.
                    drop(Machine::watched(&program, &probes));
                }
            } else {
                program = self.run_watched(prepared, &probes, parameters, sink)?;
            }
            let took = clock.now().0.saturating_sub(begun.0);
            facts.execution_us = options.summary.then_some(took);
        } else {
            self.may_run(planned)?;
        }
        facts.breakdown = measured.map(|(_clock, before)| Breakdown::so_far().since(before));
        let snapshot = Arc::clone(self.catalog.last_snapshot());
        let watched = options.analyze.then_some(&probes);
        let path = self.path.schemas.clone();
        let rows = self.with_context(|context| {
            Ok(explain(&program, &options, watched, facts, (&snapshot, &path), context))
        })?;
        Ok(answer(rows))
    }

    /// The plans of a statement without any rule of the planner, and with one more of those that are on each time.
    fn stages(&mut self, prepared: &Prepared) -> Result<Vec<Stage>> {
        let mut methods = self.settings.plain().methods;
        let on = std::mem::replace(&mut methods.rules, RuleSet::NONE);
        let (parsed, parameters) = (&prepared.parsed, &prepared.parameters);
        let written = self.plan(parsed, parameters, methods)?.program;
        let mut stages = vec![Stage { rule: AS_WRITTEN, program: written }];
        for rule in RULES.iter().filter(|rule| on.has(rule.rule)) {
            methods.rules = methods.rules.with(rule.rule);
            let program = self.plan(parsed, parameters, methods)?.program;
            stages.push(Stage { rule: rule.name, program });
        }
        Ok(stages)
    }

    /// Runs a plan to its end for what its probes count: the one that is given, or what it has to be by now.
    fn run_watched(
        &mut self,
        prepared: Arc<Prepared>,
        probes: &Probes,
        parameters: RowBuf,
        sink: &mut dyn RowSink,
    ) -> Result<Arc<Program>> {
        let mut inner = Portal::new(prepared);
        inner.parameters = parameters;
        let program = loop {
            let planned = inner.prepared.planned.as_ref().expect("what is explained has a plan");
            let program = Arc::clone(&planned.program);
            inner.machine = Some(Box::new(Machine::watched(&program, probes)));
            self.start_held(&mut inner)?;
            // As `start_plan`: trees that have been replaced before its snapshot are not its plan's.
            if self.catalog.is_current() {
                break program;
            }
            if let Some(fresh) = self.hold(&inner.prepared, false)? {
                inner.prepared = fresh;
            }
        };
        let ran = self.run_portal(&mut inner, "", 0, &mut Nobody(sink));
        // None of its rows is shown.
        self.answer_began = false;
        ran.map(|_| program)
    }
}
