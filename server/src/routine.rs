//! The R field of errors and notices: the routine in which PostgreSQL finds them (manual, section 55.8).
//!
//! Atoll has no such routines, but clients decide by some of their names what they do, and people look for others. What is
//! known of an error where it leaves is its SQLSTATE, its message, and whether it has a position: `routine/routines.tsv`
//! says by these what PostgreSQL 15 names. It is what a server of that version answered to the scripts in `tests/sql`,
//! where one start of a message stands for all that begin alike; of errors with one message in several routines it has the
//! one that is met most.

use sql::SqlError;
use std::collections::HashMap;
use std::sync::OnceLock;

/// What is said of errors that PostgreSQL has not, or that nobody has met.
const UNKNOWN: &str = "errfinish";

/// One line of the list.
struct Rule {
    /// Whether it is of errors with a position.
    positioned: bool,
    start: &'static str,
    routine: &'static str,
}

/// The list by SQLSTATE.
fn rules() -> &'static HashMap<&'static str, Vec<Rule>> {
    static RULES: OnceLock<HashMap<&'static str, Vec<Rule>>> = OnceLock::new();
    RULES.get_or_init(|| {
        let mut rules: HashMap<_, Vec<Rule>> = HashMap::new();
        for line in
            include_str!("routine/routines.tsv").lines().filter(|line| !line.starts_with('#'))
        {
            let mut fields = line.split('\t');
            let mut next = || fields.next().unwrap_or_default();
            let (state, position, start, routine) = (next(), next(), next(), next());
            let rule = Rule { positioned: position == "P", start, routine };
            rules.entry(state).or_default().push(rule);
        }
        rules
    })
}

/// The routine of an error or a notice: that of the longest start of its message, among those with a position first.
#[cold]
pub fn of(error: &SqlError) -> &'static str {
    let fields = error.fields();
    if let Some(routine) = fields.routine {
        return routine;
    }
    let Some(rules) = rules().get(fields.state.code()) else { return UNKNOWN };
    let message = unquoted(&fields.message);
    let best = |positioned| {
        let fitting = rules
            .iter()
            .filter(|rule| rule.positioned == positioned && message.starts_with(rule.start));
        fitting.max_by_key(|rule| rule.start.len())
    };
    let found = if fields.position.is_some() { best(true) } else { None };
    found.or_else(|| best(false)).map_or(UNKNOWN, |rule| rule.routine)
}

/// A message without what is quoted in it.
fn unquoted(message: &str) -> String {
    let mut kept = String::with_capacity(message.len());
    for (at, part) in message.split('"').enumerate() {
        if at > 0 {
            kept.push('"');
        }
        if at % 2 == 0 {
            kept.push_str(part);
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;
    use sql::sqlstate::SqlState;

    #[test]
    fn the_longest_start_of_a_message_decides() {
        let of = |state, message: &str| of(&SqlError::new(state, message));
        let missing = SqlState::INVALID_SQL_STATEMENT_NAME;
        assert_eq!(
            of(missing, "prepared statement \"s\" does not exist"),
            "FetchPreparedStatement"
        );
        assert_eq!(of(missing, "unnamed prepared statement does not exist"), "exec_bind_message");
        assert_eq!(of(SqlState::INTERNAL_ERROR, "of no kind that there is"), UNKNOWN);
    }

    #[test]
    fn every_line_of_the_list_is_whole() {
        for (state, rules) in rules() {
            assert_eq!(state.len(), 5);
            for rule in rules {
                let name = |c: char| c.is_ascii_alphanumeric() || c == '_';
                assert!(!rule.routine.is_empty() && rule.routine.chars().all(name));
                assert_eq!(unquoted(rule.start), rule.start);
            }
        }
    }
}
