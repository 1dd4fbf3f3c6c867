//! EXPLAIN: a program's plan as text, XML, JSON or YAML, in PostgreSQL's words (`explain.c`).
//!
//! What is shown is what runs: the program itself is described, node by node ([`describe`]), its expressions written back
//! as SQL ([`expression`]), with the planner's estimates and, for ANALYZE, what the probes around its operators
//! ([`crate::exec::probe`]) have counted.

mod describe;
mod expression;
mod names;
pub mod options;
pub mod stages;
mod structured;
mod text;
mod tree;

pub use options::{Format, Options};
pub use stages::Stage;

use crate::catalog::CatalogSnapshot;
use crate::compile::Program;
use crate::exec::probe::Probes;
use crate::types::CallContext;
use std::cell::RefCell;
use txn::Usage;
use txn::breakdown::Breakdown;

/// What is explained beside the plan.
#[derive(Debug, Default)]
pub struct Facts {
    /// The program inserts what a query returns into a table that it makes; the query is what is explained.
    pub stored_query: bool,
    /// Settings that are not as they were delivered: name and value; none if nobody asks.
    pub settings: Option<Vec<(String, String)>>,
    /// The statement's text, where it is shown with its plan.
    pub query_text: Option<String>,
    /// The statement's number, where that is shown.
    pub number: Option<i64>,
    /// What planning has used, if somebody asks.
    pub planning_usage: Option<Usage>,
    /// Where the time of planning and of the run has gone, if somebody asks.
    pub breakdown: Option<Breakdown>,
    /// The plans that the planner's rules make one after the other, if somebody asks.
    pub stages: Vec<Stage>,
    /// How long planning took, in microseconds.
    pub planning_us: Option<u64>,
    /// How long the run took, in microseconds.
    pub execution_us: Option<u64>,
}

/// The rows of EXPLAIN's answer for a statement that had nothing to do (`ExplainDummyGroup`).
#[must_use]
pub fn not_run(what: &'static str, options: &Options) -> Vec<String> {
    match options.format {
        Format::Text => Vec::new(),
        _ => vec![structured::name_alone(what, options.format)],
    }
}

/// The rows of EXPLAIN's answer: lines in the text format, else one document.
#[must_use]
pub fn explain(
    program: &Program,
    options: &Options,
    probes: Option<&Probes>,
    facts: Facts,
    (catalog, path): (&CatalogSnapshot, &[crate::types::Oid]),
    context: &CallContext<'_>,
) -> Vec<String> {
    let describe = |program: &Program, probes: Option<&Probes>, stored: bool| {
        let names = names::Names::of(program);
        let printer = expression::Printer { program, names, catalog, path, context };
        let describer = describe::Describer {
            printer: &printer,
            options,
            probes,
            stored,
            estimates: describe::estimates(program),
            initial: RefCell::default(),
            recursing: RefCell::default(),
        };
        match stored {
            true => describer.stored_query(&program.plan),
            false => describer.query(&program.plan, &program.output),
        }
    };
    let stages = stages::seen(&facts.stages, |program| describe(program, None, false));
    let root = describe(program, probes, facts.stored_query);
    let explained = tree::Explained { stages, root, facts };
    match options.format {
        Format::Text => text::lines(&explained, options),
        _ => vec![structured::document(&explained, options)],
    }
}
