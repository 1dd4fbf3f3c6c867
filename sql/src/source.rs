//! One statement with the query text that it stands in, or a definition of the catalog that is run as one.

use crate::bind::kept::bind_condition;
use crate::bind::{Bound, Environment, Variables};
use crate::catalog::Relation;
use crate::catalog::definition::Expression;
use crate::error::{Notice, Result};
use crate::parse::depth::with_stack_for;
use crate::parse::{Deep, Positions, Statement};
use crate::statement_statistics::shape::Shape;
use crate::types::dialect::Dialect;
use std::sync::{Arc, OnceLock};

/// A parsed statement.
#[derive(Debug)]
pub struct Source {
    query: Arc<str>,
    start: usize,
    end: usize,
    /// How many characters of the text stand before it.
    before: u32,
    statement: Option<Deep<Statement>>,
    /// It stands within a statement, whose text it shares.
    nested: bool,
    /// It is a cursor's query.
    cursor: bool,
    /// Whoever sends it is told something each time.
    noticed: bool,
    /// The kinds of the literals that have been taken out of it, if any have.
    lifted: Option<Arc<str>>,
    /// Its shape, once that was asked for.
    shape: OnceLock<Shape>,
    /// The variables of a procedural language that it sees.
    variables: Option<Arc<dyn Variables>>,
    /// What it is in place of a statement.
    kept: Option<KeptSource>,
}

/// A definition of the catalog that is run as a statement: it is bound already.
#[derive(Clone, Debug)]
pub enum KeptSource {
    /// A condition of a trigger of this relation, which stays as it is: over parameters, which are what it reads of both rows.
    Condition(Arc<Relation>, Expression),
}

impl KeptSource {
    /// As a plan is made of it.
    ///
    /// # Errors
    /// XX001, 54001; those of the defaults of functions that it calls.
    pub fn bound(&self, environment: Environment<'_>) -> Result<Bound> {
        match self {
            KeptSource::Condition(relation, condition) => {
                bind_condition(environment, relation, condition)
            }
        }
    }
}

impl Source {
    /// The statements of a query text, and notices that came up on the way. `dialect` is what the session's settings make of
    /// it.
    ///
    /// # Errors
    /// 42601 and its kin.
    pub fn parse(query: &Arc<str>, dialect: Dialect) -> Result<(Vec<Source>, Vec<Notice>)> {
        let mut notices = Vec::new();
        let statements = crate::parse::parse_in(query, dialect)?
            .into_iter()
            .map(|parsed| {
                let noticed = !parsed.notices.is_empty();
                notices.extend(parsed.notices);
                Source {
                    query: Arc::clone(query),
                    start: parsed.start as usize,
                    end: parsed.end as usize,
                    before: parsed.before,
                    statement: Some(parsed.statement),
                    nested: false,
                    cursor: false,
                    noticed,
                    lifted: None,
                    shape: OnceLock::new(),
                    variables: None,
                    kept: None,
                }
            })
            .collect();
        Ok((statements, notices))
    }

    /// A text without a statement.
    #[must_use]
    pub fn empty(query: &Arc<str>) -> Source {
        Source {
            query: Arc::clone(query),
            start: 0,
            end: 0,
            before: 0,
            statement: None,
            nested: false,
            cursor: false,
            noticed: false,
            lifted: None,
            shape: OnceLock::new(),
            variables: None,
            kept: None,
        }
    }

    /// A definition of the catalog.
    #[must_use]
    pub fn of_kept(kept: KeptSource) -> Source {
        Source { nested: true, kept: Some(kept), ..Source::empty(&"".into()) }
    }

    /// The definition that it is.
    #[must_use]
    pub fn kept(&self) -> Option<&KeptSource> {
        self.kept.as_ref()
    }

    /// Whether it is run by a plan.
    #[must_use]
    pub fn is_planned(&self) -> bool {
        self.kept.is_some() || self.statement().is_some_and(Statement::is_planned)
    }

    /// A statement within this one that sees nothing: what PREPARE prepares, what COPY copies.
    #[must_use]
    pub fn inner(&self, statement: &Statement) -> Source {
        let height = self.statement.as_ref().map_or(1, Deep::height);
        Source {
            query: Arc::clone(&self.query),
            start: self.start,
            end: self.end,
            before: self.before,
            statement: Some(Deep::new(with_stack_for(height, || statement.clone()), height)),
            nested: true,
            cursor: false,
            noticed: self.noticed,
            lifted: None,
            shape: OnceLock::new(),
            variables: None,
            kept: None,
        }
    }

    /// A statement within this one that sees what this one sees.
    #[must_use]
    pub fn within(&self, statement: &Statement) -> Source {
        Source { variables: self.variables.clone(), ..self.inner(statement) }
    }

    /// The query within this DECLARE.
    #[must_use]
    pub fn cursor(&self, query: &Statement) -> Source {
        Source { cursor: true, ..self.within(query) }
    }

    /// The same query where a procedural language opens a cursor for it.
    #[must_use]
    pub fn of_cursor(self) -> Source {
        Source { nested: true, cursor: true, ..self }
    }

    /// The same text without its literals, which are of these kinds.
    #[must_use]
    pub fn without_literals(self, kinds: &str) -> Source {
        Source { lifted: Some(kinds.into()), ..self }
    }

    /// The same statement where a procedural language runs it.
    #[must_use]
    pub fn seeing(self, variables: Arc<dyn Variables>) -> Source {
        Source { nested: true, variables: Some(variables), ..self }
    }

    /// The variables that it sees.
    #[must_use]
    pub fn variables(&self) -> Option<&dyn Variables> {
        self.variables.as_deref()
    }

    /// The kinds of the literals that have been taken out of it.
    #[must_use]
    pub fn lifted_kinds(&self) -> Option<&str> {
        self.lifted.as_deref()
    }

    /// The shape of the statement.
    #[must_use]
    pub fn shape(&self) -> &Shape {
        self.shape.get_or_init(|| shape_of(self))
    }

    /// Where it begins in the query text, in bytes.
    #[must_use]
    pub fn start(&self) -> usize {
        self.start
    }

    /// Whether it is a cursor's query.
    #[must_use]
    pub fn is_cursor(&self) -> bool {
        self.cursor
    }

    /// What it says; none for an empty query.
    #[must_use]
    pub fn statement(&self) -> Option<&Statement> {
        self.statement.as_deref()
    }

    /// The height of its tree.
    #[must_use]
    pub fn height(&self) -> u32 {
        self.statement.as_ref().map_or(0, Deep::height)
    }

    /// The whole query text: places count in it.
    #[must_use]
    pub fn query_text(&self) -> &str {
        &self.query
    }

    /// The statement's own text.
    #[must_use]
    pub fn text(&self) -> Arc<str> {
        if self.start == 0 && self.end >= self.query.len() {
            return Arc::clone(&self.query);
        }
        self.query[self.start..self.end].into()
    }

    /// Whether the query text is this statement and nothing else, and there is nothing to tell of it: then its plan may be
    /// found by the text.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        !self.nested
            && !self.noticed
            && self.start == 0
            && self.end
                >= self.query.trim_end_matches(|c: char| c == ';' || c.is_ascii_whitespace()).len()
    }

    /// Places in the query text, for whoever looks at this statement.
    #[must_use]
    pub fn places(&self) -> Positions<'_> {
        Positions::of_statement(&self.query, (self.start, self.end), self.before)
    }

    /// A byte offset as clients are told it: characters, from 1.
    #[must_use]
    pub fn position(&self, at: u32) -> u32 {
        self.places().of(at)
    }
}

/// The shape of a statement's own text.
fn shape_of(source: &Source) -> Shape {
    let text = source.text();
    match source.statement() {
        Some(
            Statement::Query(_)
            | Statement::Insert(_)
            | Statement::Update(_)
            | Statement::Delete(_)
            | Statement::Merge(_),
        ) => Shape::planned(&text, source.lifted_kinds().is_some()),
        _ => Shape::utility(&text),
    }
}
