//! CREATE SCHEMA with elements: what stands in it is made by its owner, who looks for names there first
//! (`CreateSchemaCommand`).

use crate::catalog::quote::identifier;
use crate::ddl::{self, schema};
use crate::error::Result;
use crate::parse::Positions;
use crate::parse::ast::CreateSchema;
use crate::session::Session;
use crate::session::utility::{Outcome, done};
use crate::types::Oid;

/// By whom, and with which search path, a part of a statement is done.
pub(super) struct Within {
    pub user: Oid,
    pub search_path: String,
}

impl Session {
    /// CREATE SCHEMA, and then its elements, in PostgreSQL's order.
    pub(super) fn create_schema(
        &mut self,
        text: &Positions<'_>,
        create: &CreateSchema,
    ) -> Result<Outcome> {
        const TAG: &str = "CREATE SCHEMA";
        let made = self.with_ddl(text, |ddl| schema::create_schema(ddl, create))?;
        let Some(made) = made.filter(|_| !create.elements.is_empty()) else { return done(TAG) };
        let before = &self.settings.plain().search_path;
        let name = identifier(&made.name);
        let search_path = if before.trim().is_empty() { name } else { format!("{name}, {before}") };
        let within = Within { user: made.owner, search_path };
        for element in schema::elements(&made.name, &create.elements)? {
            self.with_ddl_within(&within, text, |ddl| ddl::execute(ddl, &element))?;
        }
        done(TAG)
    }
}
