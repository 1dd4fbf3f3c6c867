//! What a body's declarations mean to the session that runs it.

use crate::bind::VariableConflict;
use crate::bind::type_name::{fields_of, format_type_be, resolve};
use crate::catalog::{CatalogSnapshot, Named};
use crate::error::{Result, Severity, SqlError};
use crate::parse::ast::TypeName;
use crate::plpgsql::parse::{Given, Gives, strip_word};
use crate::plpgsql::tree::{Body, VariableType};
use crate::plpgsql::{self, Declared};
use crate::session::Session;
use crate::sqlstate::SqlState;
use crate::types::dialect::Dialect;
use crate::types::{Oid, SqlType, oids};
use std::cell::RefCell;
use std::sync::Arc;

/// The catalog as declarations see it.
struct Types {
    snapshot: Arc<CatalogSnapshot>,
    path: Vec<Oid>,
    dialect: Dialect,
    /// Whether texts of SQL are parsed now, to find what is wrong with them.
    checks: bool,
    gives: Gives,
    conflict: VariableConflict,
    shows_strict: bool,
    /// What a variable is that hides another one.
    shadowing: Option<Severity>,
    /// What is to be told of the body.
    warnings: RefCell<Vec<SqlError>>,
}

/// The type of a name in the catalog: of `table.column%TYPE`, too.
///
/// # Errors
/// 42P01, 42703, 42704.
pub(in crate::session) fn type_named(
    snapshot: &CatalogSnapshot,
    path: &[Oid],
    name: &TypeName,
) -> Result<SqlType> {
    if !name.of_column {
        return resolve(snapshot, path, name);
    }
    let parts = &name.name.parts;
    let [qualifiers @ .., column] = &parts[..] else { unreachable!("a name has a part") };
    let relation = match qualifiers {
        [relation] => snapshot.find(path, relation),
        [schema, relation] => {
            let schema = snapshot.schema(schema).ok_or_else(|| {
                let message = format!("schema \"{schema}\" does not exist");
                SqlError::new(SqlState::INVALID_SCHEMA_NAME, message)
            })?;
            snapshot.named(schema.oid, relation)
        }
        _ => None,
    };
    let Some(Named::Relation(oid)) = relation else {
        let shown = if qualifiers.is_empty() { column.to_string() } else { qualifiers.join(".") };
        return Err(SqlError::new(
            SqlState::UNDEFINED_TABLE,
            format!("relation \"{shown}\" does not exist"),
        ));
    };
    let relation = snapshot.relation(oid);
    let found = relation.and_then(|relation| {
        relation.columns.iter().find(|known| !known.dropped && known.name == *column)
    });
    let found = found.ok_or_else(|| {
        SqlError::new(
            SqlState::UNDEFINED_COLUMN,
            format!("column \"{column}\" of relation \"{}\" does not exist", qualifiers.join(".")),
        )
    })?;
    Ok(found.ty)
}

impl Declared for Types {
    fn type_of(&self, text: &str) -> Result<VariableType> {
        if let Some(table) = strip_word(text, "%rowtype") {
            let name = crate::parse::parse_type(table, self.dialect)?;
            return resolve(&self.snapshot, &self.path, &name).map(VariableType::Row).map_err(
                |_| {
                    SqlError::new(
                        SqlState::UNDEFINED_TABLE,
                        format!("relation \"{}\" does not exist", name.name),
                    )
                },
            );
        }
        let name = crate::parse::parse_type(text, self.dialect)?;
        let ty = type_named(&self.snapshot, &self.path, &name)?;
        Ok(variable_type(&self.snapshot, ty))
    }

    fn standard_strings(&self) -> bool {
        self.dialect.standard_strings
    }

    fn check(&self, text: &str, is_expression: bool) -> Result<()> {
        /// What is put in front of an expression.
        const SELECT: &str = "SELECT ";
        if !self.checks {
            return Ok(());
        }
        let parsed = if is_expression {
            crate::parse::parse_in(&format!("{SELECT}{text}"), self.dialect)
        } else {
            crate::parse::parse_in(text, self.dialect)
        };
        let shift = if is_expression { SELECT.len() as u32 } else { 0 };
        parsed.map(drop).map_err(|error| match error.fields().position {
            Some(position) => error.nowhere().at(position.saturating_sub(shift).max(1)),
            None => error,
        })
    }

    fn conflict(&self) -> VariableConflict {
        self.conflict
    }

    fn gives(&self) -> Gives {
        self.gives
    }

    fn shows_strict(&self) -> bool {
        self.shows_strict
    }

    fn shadows(&self, told: SqlError) -> Result<()> {
        match self.shadowing {
            None => Ok(()),
            Some(Severity::Warning) => {
                self.warnings.borrow_mut().push(told.severity(Severity::Warning));
                Ok(())
            }
            Some(_) => Err(told),
        }
    }
}

/// How a variable of a type is held.
pub(in crate::session) fn variable_type(snapshot: &CatalogSnapshot, ty: SqlType) -> VariableType {
    if ty.oid.0 == oids::RECORD {
        return VariableType::Record;
    }
    if fields_of(snapshot, ty.oid).is_some() {
        VariableType::Row(ty)
    } else {
        VariableType::Scalar(ty)
    }
}

impl Session {
    /// Parses a body that returns this; the settings of `plpgsql` say what it does not.
    pub(in crate::session) fn parsed_body(
        &mut self,
        text: &str,
        (name, label): (&str, Option<&str>),
        given: &[Given],
        checks: bool,
        gives: Gives,
    ) -> Result<Arc<Body>> {
        let conflict = match self.settings.show("plpgsql.variable_conflict").as_deref() {
            Some("use_variable") => VariableConflict::UseVariable,
            Some("use_column") => VariableConflict::UseColumn,
            _ => VariableConflict::Error,
        };
        let shows_strict = self.is_on("plpgsql.print_strict_params", false);
        let path = self.basis().path.to_vec();
        let snapshot = Arc::clone(self.catalog.last_snapshot());
        let dialect = self.settings.plain().dialect;
        // Only who makes a routine is told.
        let made = checks && label.is_some();
        let shadowing = self.extra_check("shadowed_variables").filter(|_| made);
        let warnings = RefCell::default();
        let types = Types {
            snapshot,
            path,
            dialect,
            checks,
            gives,
            conflict,
            shows_strict,
            shadowing,
            warnings,
        };
        let parsed = plpgsql::parse(text, &types, (name, label), given).map(Arc::new);
        self.notices.get_mut().append(&mut types.warnings.take());
        parsed
    }

    /// How loud a check of `plpgsql.extra_errors` and `plpgsql.extra_warnings` is; none where neither names it.
    pub(super) fn extra_check(&self, check: &str) -> Option<Severity> {
        let names = |setting: &str| {
            let said = self.settings.show(setting).unwrap_or_default();
            said.split(',')
                .map(|word| word.trim().trim_matches('"'))
                .any(|word| word.eq_ignore_ascii_case(check) || word.eq_ignore_ascii_case("all"))
        };
        if names("plpgsql.extra_errors") {
            return Some(Severity::Error);
        }
        names("plpgsql.extra_warnings").then_some(Severity::Warning)
    }

    /// How loud the check `too_many_rows` is, which each INTO asks.
    pub(super) fn too_many_rows(&mut self) -> Option<Severity> {
        let generation = self.settings.generation();
        match self.too_many_rows {
            Some((known, severity)) if known == generation => severity,
            _ => {
                let severity = self.extra_check("too_many_rows");
                self.too_many_rows = Some((generation, severity));
                severity
            }
        }
    }

    /// Whether a setting of `plpgsql` is on; what it is where nobody has set it.
    pub(super) fn is_on(&self, name: &str, unset: bool) -> bool {
        match self.settings.show(name).as_deref().map(str::trim) {
            None | Some("") => unset,
            Some(said) => ["on", "true", "yes", "1", "t", "y"]
                .iter()
                .any(|word| said.eq_ignore_ascii_case(word)),
        }
    }

    /// A type's name with its modifier.
    pub(super) fn full_type_text(&mut self, ty: SqlType) -> String {
        match ty.typmod {
            0.. if crate::catalog::builtin::type_by_oid(ty.oid.0).is_some() => {
                crate::types::type_name::format_type(ty.oid.0, Some(ty.typmod))
            }
            _ => self.type_text(ty),
        }
    }

    /// A type's name, as messages have it.
    pub(super) fn type_text(&mut self, ty: SqlType) -> String {
        let path = self.basis().path.to_vec();
        format_type_be(self.catalog.last_snapshot(), &path, ty.oid)
    }
}
