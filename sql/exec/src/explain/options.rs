//! EXPLAIN's options, as PostgreSQL reads them (`ExplainQuery`).

use crate::error::{Result, SqlError};
use crate::parse::ast;
use crate::sqlstate::SqlState;

/// The format of the answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Format {
    /// Lines.
    #[default]
    Text,
    /// One XML document.
    Xml,
    /// One JSON document.
    Json,
    /// One YAML document.
    Yaml,
}

/// What is to be explained, and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// Run it.
    pub analyze: bool,
    /// Say more.
    pub verbose: bool,
    /// Estimates.
    pub costs: bool,
    /// Settings that are not as delivered.
    pub settings: bool,
    /// Time of each node.
    pub timing: bool,
    /// Pages of each node, and of planning.
    pub buffers: bool,
    /// How long these took, where zeros are shown too: `track_io_timing` is on.
    pub io_timing: bool,
    /// What each node gives the log.
    pub wal: bool,
    /// Where the time of the run has gone.
    pub breakdown: bool,
    /// The plan after each of the planner's rules that changes it.
    pub stages: bool,
    /// Time of all.
    pub summary: bool,
    /// How it is written.
    pub format: Format,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            analyze: false,
            verbose: false,
            costs: true,
            settings: false,
            timing: true,
            buffers: false,
            io_timing: false,
            wal: false,
            breakdown: false,
            stages: false,
            summary: false,
            format: Format::Text,
        }
    }
}

impl Options {
    /// Reads options; `position` turns a place in the text to what a client is told.
    ///
    /// # Errors
    /// 42601, 22023.
    pub fn read(options: &[ast::OptionValue], position: &dyn Fn(u32) -> u32) -> Result<Options> {
        let mut read = Options::default();
        let (mut timing, mut summary) = (None, None);
        for option in options {
            match &*option.name {
                "analyze" => read.analyze = boolean(option)?,
                "verbose" => read.verbose = boolean(option)?,
                "costs" => read.costs = boolean(option)?,
                "settings" => read.settings = boolean(option)?,
                "buffers" => read.buffers = boolean(option)?,
                "wal" => read.wal = boolean(option)?,
                "breakdown" => read.breakdown = boolean(option)?,
                "stages" => read.stages = boolean(option)?,
                "timing" => timing = Some(boolean(option)?),
                "summary" => summary = Some(boolean(option)?),
                "format" => read.format = format(option, position)?,
                other => {
                    return Err(SqlError::new(
                        SqlState::SYNTAX_ERROR,
                        format!("unrecognized EXPLAIN option \"{other}\""),
                    )
                    .at(position(option.at)));
                }
            }
        }
        if read.wal && !read.analyze {
            return Err(invalid("EXPLAIN option WAL requires ANALYZE"));
        }
        if read.breakdown && !read.analyze {
            return Err(invalid("EXPLAIN option BREAKDOWN requires ANALYZE"));
        }
        read.timing = timing.unwrap_or(read.analyze);
        if read.timing && !read.analyze {
            return Err(invalid("EXPLAIN option TIMING requires ANALYZE"));
        }
        read.summary = summary.unwrap_or(read.analyze);
        Ok(read)
    }

    /// The format, where the column of the answer has to be known: the last one that is named, whatever else is wrong
    /// (`ExplainResultDesc`).
    ///
    /// # Errors
    /// 42601 for FORMAT without a value.
    pub fn format_of(options: &[ast::OptionValue]) -> Result<Format> {
        let mut last = Format::Text;
        for option in options.iter().filter(|option| &*option.name == "format") {
            last = match word(option)? {
                "xml" => Format::Xml,
                "json" => Format::Json,
                _ => Format::Text,
            };
        }
        Ok(last)
    }
}

fn invalid(message: &str) -> SqlError {
    SqlError::new(SqlState::INVALID_PARAMETER_VALUE, message)
}

fn boolean(option: &ast::OptionValue) -> Result<bool> {
    option.boolean().ok_or_else(|| {
        SqlError::new(SqlState::SYNTAX_ERROR, format!("{} requires a Boolean value", option.name))
    })
}

fn format(option: &ast::OptionValue, position: &dyn Fn(u32) -> u32) -> Result<Format> {
    Ok(match word(option)? {
        "text" => Format::Text,
        "xml" => Format::Xml,
        "json" => Format::Json,
        "yaml" => Format::Yaml,
        other => {
            let message = format!("unrecognized value for EXPLAIN option \"format\": \"{other}\"");
            return Err(invalid(&message).at(position(option.at)));
        }
    })
}

fn word(option: &ast::OptionValue) -> Result<&str> {
    let value = option.value.as_ref().and_then(ast::Value::text);
    value.map(|value| &**value).ok_or_else(|| {
        SqlError::new(SqlState::SYNTAX_ERROR, format!("{} requires a parameter", option.name))
    })
}
