//! VACUUM: what no snapshot needs is given back.
//!
//! Nothing here copies rows or freezes numbers: there is no transaction counter that could wrap, and pages take rows again
//! as soon as deleted ones are gone. FULL, FREEZE and their kin ask for nothing more than that and are accepted.

use super::Ddl;
use super::analyze::{analyze, maintained};
use crate::catalog::Relation;
use crate::error::{Result, SqlError};
use crate::parse::ast::Vacuum;
use crate::sqlstate::SqlState;
use std::sync::Arc;

/// The options of VACUUM.
const OPTIONS: [&str; 10] = [
    "analyze",
    "disable_page_skipping",
    "freeze",
    "full",
    "index_cleanup",
    "parallel",
    "process_toast",
    "skip_locked",
    "truncate",
    "verbose",
];

/// VACUUM.
///
/// # Errors
/// 25001 in a transaction block, 42P01, 42601 for an option it does not have.
pub fn vacuum(ddl: &mut Ddl<'_>, vacuum: &Vacuum) -> Result<&'static str> {
    ddl.refuse_block("VACUUM")?;
    let mut analyzes = false;
    for option in &vacuum.options {
        if !OPTIONS.contains(&&*option.name) {
            return Err(SqlError::new(
                SqlState::SYNTAX_ERROR,
                format!("unrecognized VACUUM option \"{}\"", option.name),
            ));
        }
        analyzes |= &*option.name == "analyze" && option.boolean() != Some(false);
    }
    for relation in maintained(ddl, &vacuum.tables, "vacuum")? {
        ddl.reclaim(&relation)?;
    }
    if analyzes {
        analyze(ddl, &vacuum.tables)?;
    }
    Ok("VACUUM")
}

impl Ddl<'_> {
    /// Gives back what of a table's trees no snapshot needs.
    fn reclaim(&mut self, relation: &Relation) -> Result<()> {
        let manager = Arc::clone(self.transaction.manager());
        for tree in relation.trees() {
            let tree = manager.data().tree(tree).map_err(txn::Error::from)?;
            manager.vacuum(&tree)?;
        }
        Ok(())
    }
}
