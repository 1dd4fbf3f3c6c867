//! Why a server does not start, in words for its operator.

use sql::SqlError;

/// Why a server does not start.
#[derive(Debug)]
pub struct StartError(pub String);

impl std::fmt::Display for StartError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for StartError {}

impl From<SqlError> for StartError {
    fn from(error: SqlError) -> StartError {
        let fields = error.fields();
        let mut text = fields.message.clone();
        for (label, part) in [("DETAIL", &fields.detail), ("HINT", &fields.hint)] {
            if let Some(part) = part {
                text.push_str(&format!("\n{label}:  {part}"));
            }
        }
        StartError(text)
    }
}

impl From<String> for StartError {
    fn from(text: String) -> StartError {
        StartError(text)
    }
}
