//! What the kit asks of a session, whether a server or the engine is behind it.

use super::statement::{Parameters, Rows, Statement};

/// Why a statement failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// The SQLSTATE; 08006 where the connection is gone.
    pub sqlstate: String,
    /// In words.
    pub message: String,
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.sqlstate, self.message)
    }
}

impl std::error::Error for Failure {}

impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Failure {
        Failure { sqlstate: "08006".to_owned(), message: error.to_string() }
    }
}

impl Failure {
    /// Whether the same transaction may succeed when it is run again: a serialization failure or a deadlock.
    #[must_use]
    pub fn is_transient(&self) -> bool {
        matches!(self.sqlstate.as_str(), "40001" | "40P01")
    }

    /// Something that the protocol does not allow.
    #[must_use]
    pub fn protocol(message: &str) -> Failure {
        Failure { sqlstate: "08P01".to_owned(), message: message.to_owned() }
    }
}

/// A session.
pub trait Client {
    /// Runs a statement, prepared when it is first used; its rows replace what was in `rows`.
    ///
    /// # Errors
    /// The server's.
    fn run(
        &mut self,
        statement: &Statement,
        parameters: &Parameters,
        rows: &mut Rows,
    ) -> Result<(), Failure>;

    /// Runs a text of one or more statements and gives the last one's rows.
    ///
    /// # Errors
    /// The server's.
    fn execute(&mut self, text: &str, rows: &mut Rows) -> Result<(), Failure>;

    /// Runs COPY FROM STDIN: `next` appends a portion of lines, and says false when there are no more.
    ///
    /// # Errors
    /// The server's.
    fn copy_in(
        &mut self,
        text: &str,
        next: &mut dyn FnMut(&mut Vec<u8>) -> bool,
    ) -> Result<(), Failure>;
}
