//! The simple protocol: a text of any number of statements, each run in turn (protocol section 55.2.2 of the manual).

use super::{Session, cursor, utility};
use crate::ddl::Company;
use crate::error::{Result, SqlError};
use crate::parse::Statement;
use crate::source::Source;
use crate::sqlstate::SqlState;
use crate::tuple::RowBuf;
use std::collections::VecDeque;
use std::sync::Arc;
use txn::breakdown::{self, Class};

impl Session {
    /// Simple protocol: takes a Query message's text. A syntax error anywhere in it fails here, before anything runs.
    ///
    /// # Errors
    /// 42601 and the like.
    pub fn simple_query(&mut self, text: &str) -> Result<()> {
        let _class = breakdown::enter(Class::ParsePlan);
        self.end_measured();
        self.attempt(|session| {
            session.begin_statement(Some(text));
            session.says_unnamed = true;
            // A Query takes the place of the unnamed statement, whatever becomes of it.
            session.unnamed = None;
            if let Some((prepared, parameters)) = session.lifted(text) {
                let mut script = std::mem::take(&mut session.spare_script);
                script.clear();
                script.push_back(Arc::clone(&prepared.parsed));
                session.several = false;
                session.script = Some(script);
                session.lifted = Some((prepared, parameters));
                return Ok(());
            }
            let mut script = std::mem::take(&mut session.spare_script);
            script.clear();
            // A text that is kept needs no parsing: it is one statement.
            match session.kept(text) {
                Some(prepared) => {
                    script.push_back(Arc::clone(&prepared.parsed));
                    // Where something is computed first, that is what may fail, before the answer begins.
                    if prepared.parameters.is_empty() && !prepared.has_presets() {
                        session.lifted = Some((prepared, RowBuf::new()));
                    }
                }
                None => {
                    let (parsed, notices) =
                        Source::parse(&text.into(), session.settings.plain().dialect)?;
                    session.notices.get_mut().extend(notices);
                    script.extend(parsed.into_iter().map(Arc::new));
                }
            }
            session.several = script.len() > 1;
            session.script = Some(script);
            Ok(())
        })
    }

    /// Simple protocol: makes the next statement of the text the portal with the empty name, its results in text, or in binary
    /// where it fetches from a BINARY cursor.
    /// False at the end, when the implicit transaction has been committed.
    ///
    /// # Errors
    /// Everything a statement can fail with; the rest of the text is then given up.
    pub fn simple_next(&mut self) -> Result<bool> {
        self.end_measured();
        self.attempt(|session| {
            session.close_portal("");
            let Some(parsed) = session.script.as_mut().and_then(VecDeque::pop_front) else {
                session.spare_script = session.script.take().unwrap_or_default();
                session.end_implicit()?;
                return Ok(false);
            };
            session.demand_live(&parsed)?;
            if let Some((prepared, parameters)) = session.lifted.take() {
                let prepared = session.held(prepared)?;
                let mut portal = session.new_portal(prepared);
                portal.parameters = parameters;
                session.unnamed_portal = Some(portal);
                return Ok(true);
            }
            let prepared = match session.prepare(Arc::clone(&parsed), &[]) {
                Ok(prepared) => prepared,
                // A parameter that has no type is one that there is not.
                Err(error) if error.state() == SqlState::INDETERMINATE_DATATYPE => {
                    return Err(no_parameter(&parsed).unwrap_or(error));
                }
                // A CALL's name is looked for when all its arguments are known.
                Err(error) if is_of_name(&parsed, &error) => {
                    return Err(no_parameter(&parsed).unwrap_or(error));
                }
                Err(error) => return Err(error),
            };
            if !prepared.parameters.is_empty()
                && let Some(error) = no_parameter(&parsed)
            {
                return Err(error);
            }
            if let Some(Statement::Execute(execute)) = prepared.parsed.statement()
                && let Some(named) = session.statements.get(&*execute.name)
            {
                utility::check_parameter_count(&named.prepared, execute)?;
            }
            let prepared = session.held(prepared)?;
            session.check_presets(&prepared, &RowBuf::new())?;
            let mut portal = session.new_portal(prepared);
            if let Some(Statement::Fetch(fetch)) = portal.prepared.parsed.statement() {
                let cursor = session.portals.get(&*fetch.name);
                portal.formats = cursor::formats(cursor.map(|cursor| &**cursor), fetch);
            }
            session.unnamed_portal = Some(portal);
            Ok(true)
        })
    }

    /// Whether a Query message has nothing behind the statement that runs.
    pub(super) fn is_last(&self) -> bool {
        self.script.as_ref().is_some_and(VecDeque::is_empty)
    }

    /// Whether a statement stands alone, so that it may be one that no block holds. As in PostgreSQL 15 one within a
    /// pipeline does: what needs a block finds none there.
    pub(super) fn is_alone(&self) -> bool {
        let shares = self.several && self.script.is_some();
        !(shares || self.block.is_explicit())
    }

    /// The same of a statement that no routine runs: that of a routine ends no sooner than the routine.
    pub(super) fn is_alone_at_top(&self) -> bool {
        self.within.is_empty() && self.is_alone()
    }

    /// What the statement shares its transaction with.
    pub(super) fn company(&self) -> Company {
        let in_routine = !self.within.is_empty();
        // What a block of a routine undoes is a subtransaction, as of a block.
        if !self.is_alone() || in_routine && self.block.depth() > 0 {
            Company::Block
        } else if self.block.is_pipelined() {
            Company::Pipeline
        } else if in_routine {
            Company::Routine
        } else {
            Company::Alone
        }
    }
}

/// Whether an error is of the name that a CALL has, and of none of its arguments.
fn is_of_name(parsed: &Source, error: &SqlError) -> bool {
    let Some(Statement::Call(call)) = parsed.statement() else { return false };
    error.fields().position == Some(parsed.position(call.name.at))
}

/// 42P02 for a statement that stands alone and names a parameter.
fn no_parameter(parsed: &Source) -> Option<SqlError> {
    let (number, at) = crate::parse::first_parameter(parsed.query_text())?;
    let message = format!("there is no parameter ${number}");
    Some(SqlError::new(SqlState::UNDEFINED_PARAMETER, message).at(parsed.position(at)))
}
