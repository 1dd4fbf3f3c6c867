//! Statements of the simple protocol without their literals: one plan for all that differ in nothing else.
//!
//! [`crate::parse::lift`] gives the statement with parameters in the literals' places; it is planned once, and found
//! again by that text. Where it does not bind, another value of a literal could give a much better plan, or a literal is no value of the type that its parameter got, or what
//! follows from the literals cannot be computed, the text goes the ordinary way, so that every error is one about the
//! text as it was written.

use crate::catalog::Index;
use crate::message::Told;
use crate::parse::{Lifted, LiftedLiteral, lift};
use crate::prepared::Prepared;
use crate::session::Session;
use crate::source::Source;
use crate::tuple::RowBuf;
use crate::types::dialect::Dialect;
use crate::types::{Datum, SqlType, read_text};
use std::sync::Arc;

/// How many texts that could not be bound without their literals are remembered; past it the memory begins anew.
const UNFIT_MAX: usize = 256;

impl Session {
    /// The shared plan for a Query message's text, and the text's literals as its parameters; nothing if the text must
    /// go the ordinary way.
    pub(super) fn lifted(&mut self, text: &str) -> Option<(Arc<Prepared>, RowBuf)> {
        let apart = self.speaks_otherwise() || self.shows_plans();
        if self.block.is_failed() || self.catalog.has_changes() || apart {
            return None;
        }
        let lifted = lift(text)?;
        let key: Arc<str> = lifted.key.as_str().into();
        let prepared = match self.kept(&key) {
            Some(prepared) => prepared,
            None if self.unfit.contains(&key) => return None,
            None => match self.prepare_lifted(&key, &lifted) {
                Some(prepared) => prepared,
                None => {
                    if self.unfit.len() >= UNFIT_MAX {
                        self.unfit.clear();
                    }
                    self.unfit.insert(key);
                    return None;
                }
            },
        };
        // Who may not run it is told where in the text as it was written.
        if prepared.planned.as_ref().is_some_and(|planned| self.may_run(planned).is_err()) {
            return None;
        }
        let spare = self.spare_portal.as_mut().map(|spare| std::mem::take(&mut spare.parameters));
        let mut parameters = spare.unwrap_or_default();
        parameters.clear();
        let types: Vec<SqlType> =
            prepared.parameters.iter().map(|ty| SqlType { oid: *ty, typmod: -1 }).collect();
        let read = self.with_context(|context| {
            for (literal, ty) in lifted.literals.iter().zip(&types) {
                parameters.push(match literal {
                    LiftedLiteral::Int4(value) => Datum::Int4(*value),
                    LiftedLiteral::Unknown(text) => read_text(context, *ty, text)?,
                });
            }
            Ok(())
        });
        read.and_then(|()| self.check_presets(&prepared, &parameters)).ok()?;
        Some((prepared, parameters))
    }

    /// Binds and plans the text with parameters, and keeps the plan.
    fn prepare_lifted(&mut self, key: &Arc<str>, lifted: &Lifted) -> Option<Arc<Prepared>> {
        let (sources, notices) = Source::parse(key, Dialect::default()).ok()?;
        if !notices.is_empty() {
            return None;
        }
        let [source] = <[Source; 1]>::try_from(sources).ok()?;
        let source = source.without_literals(&lifted.kinds());
        // The kinds of the literals stand behind the statement, so its plan is kept under the whole text.
        let prepared = self.prepare(Arc::new(source), &lifted.types()).ok()?;
        let planned = prepared.planned.as_ref()?;
        if planned.momentary
            || planned.goes_by_values
            || prepared.parameters.len() != lifted.literals.len()
        {
            return None;
        }
        // Whether an index serves may depend on the literals that stand in its expressions and its predicate.
        let snapshot = self.catalog.last_snapshot();
        let computes = planned.relations.iter().any(|(relation, _)| {
            let relation = snapshot.relation(*relation);
            relation.is_some_and(|found| found.indexes.iter().any(Index::is_computed))
        });
        if computes {
            return None;
        }
        let whole = Arc::new(Prepared {
            text: Arc::clone(key),
            parsed: Arc::clone(&prepared.parsed),
            parameters: prepared.parameters.clone(),
            columns: prepared.columns.clone(),
            told: Told::default(),
            planned: prepared.planned.clone(),
        });
        self.engine.plans().keep(&whole);
        Some(whole)
    }
}
