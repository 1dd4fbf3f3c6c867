//! `pg_get_*`: definitions as SQL.

use super::names::{name_in_definition, reg_in, relation_name};
use super::{Call, SessionCatalog};
use crate::bind::kept;
use crate::catalog::built_in_domain;
use crate::catalog::builtin::{self, ArgumentMode, ProcedureOf};
use crate::catalog::definition::{Expression, ViewQuery};
use crate::catalog::operator_class::UserOperatorClass;
use crate::catalog::quote::{identifier, literal, nextval, qualified, sequence_of};
use crate::catalog::relation::{
    Action, Constraint, ConstraintKind, Deferral, Index, IndexColumn, MatchType, Relation, is_call,
};
use crate::catalog::routine::{PLPGSQL, Routine};
use crate::catalog::search_path::split_identifiers;
use crate::catalog::trigger;
use crate::error::{Result, SqlError};
use crate::sqlstate::SqlState;
use crate::types::{Datum, Oid, oids};
use std::borrow::Cow;
use std::fmt::Write;

impl<'a> Call<'_, '_, '_, 'a> {
    /// `pg_get_indexdef` and its kin; none for those that are not answered.
    pub(super) fn definition(&self, function: &str) -> Option<Result<Datum<'a>>> {
        let session = self.session;
        let oid = self.oid(0);
        Some(Ok(match function {
            // The catalog keeps expressions as the text they are printed as.
            "pg_get_expr" => self.expression(self.str(0)),
            "pg_get_indexdef" => self.index(oid),
            "pg_get_constraintdef" => self.optional(self.constraint(oid, self.flag(1)).as_deref()),
            "pg_get_viewdef" => match self.arguments.first() {
                Some(Datum::Text(name)) => match reg_in(session, oids::REGCLASS, name) {
                    Ok(oid) => self.view(Oid(oid)),
                    Err(error) => return Some(Err(error)),
                },
                _ => self.view(oid),
            },
            "pg_get_function_arguments" => self.function(oid, true, false),
            "pg_get_function_identity_arguments" => self.function(oid, false, false),
            "pg_get_function_result" => self.function(oid, false, true),
            "pg_get_function_sqlbody" => {
                let made = session.snapshot.routine(oid).and_then(|made| self.own_body(made));
                let built_in = || builtin::function(oid.0).and_then(ProcedureOf::sql_body);
                self.optional(made.map(Cow::Owned).or_else(built_in).as_deref())
            }
            "pg_get_functiondef" => match self.function_definition(oid) {
                Ok(found) => found,
                Err(error) => return Some(Err(error)),
            },
            "pg_get_triggerdef" => self.trigger(oid),
            // There are no partitions, rules and extended statistics.
            "pg_get_partkeydef"
            | "pg_get_ruledef"
            | "pg_get_partition_constraintdef"
            | "pg_get_statisticsobjdef_columns" => Datum::Null,
            _ => return None,
        }))
    }

    /// An expression's text. The sequence of a default is kept qualified and shown as the search path finds it.
    fn expression(&self, text: &'a str) -> Datum<'a> {
        let found = sequence_of(text)
            .and_then(|name| reg_in(self.session, oids::REGCLASS, &name).ok())
            .and_then(|oid| relation_name(self.session, Oid(oid)));
        match found {
            Some(name) => self.text(&nextval(&name)),
            None => {
                let relation = self.session.snapshot.relation(self.oid(1));
                let relation = relation.map(|relation| &**relation);
                let pretty = self.flag(2);
                // The keys of an index are a list, which reads as the fields of a row.
                let list = || {
                    let row = self.shown_anew(relation, &format!("ROW({text})"), pretty)?;
                    Some(row.strip_prefix("ROW(")?.strip_suffix(')')?.to_owned())
                };
                let shown = self.shown_anew(relation, text, pretty).or_else(list);
                self.text(shown.as_deref().unwrap_or(text))
            }
        }
    }

    /// A stored expression as it is shown. Only names behind a cast and those with a schema depend on the search path, and
    /// all names on whether they are to be quoted.
    pub(super) fn shown(&self, relation: Option<&Relation>, text: &str, pretty: bool) -> String {
        self.shown_anew(relation, text, pretty).unwrap_or_else(|| text.to_owned())
    }

    /// The same; none where it is shown as it stands.
    fn shown_anew(&self, relation: Option<&Relation>, text: &str, pretty: bool) -> Option<String> {
        let quoted = self.session.settings.plain.get().values.quote_all_identifiers;
        let shown = (pretty || quoted || text.contains("::") || text.contains('.')).then(|| {
            self.session.engine.shown_expression(self.session, self.context, relation, text, pretty)
        });
        shown.flatten()
    }

    /// A trigger's statement (`pg_get_triggerdef_worker`).
    fn trigger(&self, oid: Oid) -> Datum<'a> {
        let snapshot = self.session.snapshot;
        let Some(table) = snapshot.constraint_table(oid) else { return Datum::Null };
        let of_keys = snapshot.key_triggers(table);
        let mut all = table.triggers.iter().chain(of_keys.iter().map(|one| &one.trigger));
        let Some(found) = all.find(|one| one.oid == oid) else { return Datum::Null };
        let pretty = self.arguments.len() > 1 && self.flag(1);
        let mut text = String::from("CREATE ");
        if found.constraint.is_some() {
            text.push_str("CONSTRAINT ");
        }
        let time = match found.kind & trigger::TIMING {
            trigger::BEFORE => "BEFORE",
            trigger::INSTEAD => "INSTEAD OF",
            _ => "AFTER",
        };
        write!(text, "TRIGGER {} {time} ", identifier(&found.name)).expect("a string grows");
        let names = [
            (trigger::INSERT, "INSERT"),
            (trigger::DELETE, "DELETE"),
            (trigger::UPDATE, "UPDATE"),
            (trigger::TRUNCATE, "TRUNCATE"),
        ];
        let columns: Vec<String> =
            found.columns.iter().map(|at| identifier(&table.columns[*at].name)).collect();
        let events = names.iter().filter(|(event, _)| found.kind & event != 0);
        let events: Vec<String> = events
            .map(|(event, name)| match *event {
                trigger::UPDATE if !columns.is_empty() => {
                    format!("{name} OF {}", columns.join(", "))
                }
                _ => (*name).to_owned(),
            })
            .collect();
        let of = |relation: &Relation| match pretty {
            true => name_in_definition(self.session, relation.oid).unwrap_or_default(),
            false => relation.qualified_name(),
        };
        write!(text, "{} ON {} ", events.join(" OR "), of(table)).expect("a string grows");
        if let Some((_, deferral, from)) = found.constraint {
            if let Some(from) = name_in_definition(self.session, from) {
                write!(text, "FROM {from} ").expect("a string grows");
            }
            let not = if deferral.is_deferrable() { "" } else { "NOT " };
            let when = if deferral.is_deferred() { "DEFERRED" } else { "IMMEDIATE" };
            write!(text, "{not}DEFERRABLE INITIALLY {when} ").expect("a string grows");
        }
        if found.transition != (None, None) {
            text.push_str("REFERENCING ");
            for (word, name) in [("OLD", &found.transition.0), ("NEW", &found.transition.1)] {
                if let Some(name) = name {
                    write!(text, "{word} TABLE AS {} ", identifier(name)).expect("a string grows");
                }
            }
        }
        text.push_str(if found.is_row() { "FOR EACH ROW " } else { "FOR EACH STATEMENT " });
        if let Some(when) = &found.when {
            let how = (Some(&*self.session.settings.path.get().schemas), pretty);
            let shown = kept::condition_text(snapshot, how, self.context, table, when);
            let shown = shown.unwrap_or_default();
            write!(text, "WHEN ({shown}) ").expect("a string grows");
        }
        let arguments: Vec<String> = found.arguments.iter().map(|one| literal(one)).collect();
        let made = snapshot
            .routine(found.function)
            .map(|routine| (Some(routine.schema), identifier(&routine.name)));
        let built_in = || {
            let own = snapshot.procedure(found.function)?;
            let schema = own.extension.and_then(|_| snapshot.function_schema(&own));
            Some((schema, identifier(own.name)))
        };
        let (schema, name) = made.or_else(built_in).unwrap_or_default();
        let path = self.session.settings.path.get();
        let hidden = schema.filter(|schema| !path.schemas.contains(schema));
        let name = match hidden.and_then(|schema| snapshot.schema_by_oid(schema)) {
            Some(schema) => format!("{}.{name}", identifier(&schema.name)),
            None => name,
        };
        write!(text, "EXECUTE FUNCTION {name}({})", arguments.join(", ")).expect("a string grows");
        self.text(&text)
    }

    fn index(&self, oid: Oid) -> Datum<'a> {
        let Some((table, index)) = self.session.snapshot.index(oid) else { return Datum::Null };
        let column = match self.arguments.get(1) {
            Some(Datum::Int4(column)) => *column,
            _ => 0,
        };
        let pretty = self.arguments.len() > 2 && self.flag(2);
        let shown = &self.shown_expressions(table, index, pretty);
        if column > 0 {
            let key = usize::try_from(column - 1).ok().and_then(|at| index.columns.get(at));
            let included = || {
                let at = usize::try_from(column - 1).ok()?.checked_sub(index.columns.len())?;
                Some(identifier(&table.columns[*index.include.get(at)?].name))
            };
            let own = |key| {
                if pretty { table.key_text(key, shown) } else { key_name(table, key, shown) }
            };
            let name = key.map(own).or_else(included);
            return self.text(&name.unwrap_or_default());
        }
        let name = if pretty {
            name_in_definition(self.session, table.oid).unwrap_or_default()
        } else {
            table.qualified_name()
        };
        let filter = index.filter.as_ref().map(|filter| self.shown_tree(table, filter, pretty));
        let shown = (&**shown, filter.as_deref());
        self.text(&index_definition(self.session, table, index, &name, shown))
    }

    /// The keys of an index, which the catalog may not have yet, with the fewest parentheses.
    pub(super) fn index_keys(&self, table: &Relation, index: &Index) -> String {
        table.key_texts(index, &self.shown_expressions(table, index, true))
    }

    /// The expressions of an index as they are shown.
    fn shown_expressions(&self, table: &Relation, index: &Index, pretty: bool) -> Vec<String> {
        let all = index.expressions.iter();
        all.map(|made| self.shown_tree(table, &made.value, pretty)).collect()
    }

    /// An expression over the columns of a table as it is shown; nothing of one that cannot be.
    fn shown_tree(&self, table: &Relation, made: &Expression, pretty: bool) -> String {
        let how = (Some(&*self.session.settings.path.get().schemas), pretty);
        let shown = kept::text(self.session.snapshot, how, self.context, Some(table), made);
        shown.unwrap_or_default()
    }

    /// A view's query; the second argument is the pretty form or, as a number, the width that its lines may have.
    fn view(&self, oid: Oid) -> Datum<'a> {
        let how = match self.arguments.get(1) {
            Some(Datum::Bool(pretty)) => (*pretty, 0),
            Some(Datum::Int4(width)) => (true, usize::try_from(*width).unwrap_or(usize::MAX)),
            _ => (false, 0),
        };
        let session = self.session;
        let Some(view) = session.snapshot.relation(oid) else { return Datum::Null };
        let text = session.engine.view_text(session, self.context, view, how);
        let own = match view.query() {
            Some(ViewQuery::Text(text)) => Some(text.trim_end().trim_end_matches(';')),
            Some(ViewQuery::Tree(_)) | None => None,
        };
        let shown = text.as_deref().or(own).map(|text| format!("{text};"));
        self.optional(shown.as_deref())
    }

    /// The default of a function's argument, by its number from 1.
    pub(super) fn argument_default(&self) -> Datum<'a> {
        let Some(found) = self.session.snapshot.procedure(self.oid(0)) else { return Datum::Null };
        let Some(Datum::Int4(number)) = self.arguments.get(1) else { return Datum::Null };
        let texts = self.default_texts(&found);
        let Ok(at) = usize::try_from(*number - 1) else { return Datum::Null };
        // What is given back has no default, and is not counted.
        let input = match &found.all_arguments {
            None => Some(at),
            Some(all) => {
                let is_input =
                    |mode: ArgumentMode| !matches!(mode, ArgumentMode::Out | ArgumentMode::Table);
                let before = all.iter().take(at).filter(|one| is_input(one.1)).count();
                all.get(at).is_some_and(|one| is_input(one.1)).then_some(before)
            }
        };
        // Defaults belong to the last input arguments.
        let first = found.arguments.len().saturating_sub(texts.len());
        let at = input.and_then(|at| at.checked_sub(first));
        self.optional(at.and_then(|at| texts.get(at)).map(String::as_str))
    }

    /// The defaults of a function's last inputs.
    fn default_texts(&self, found: &ProcedureOf<'_>) -> Vec<String> {
        let snapshot = self.session.snapshot;
        let made = snapshot.routine(Oid(found.oid)).filter(|_| found.is_made());
        let Some(routine) = made else { return found.defaults() };
        let how = (Some(&*self.session.settings.path.get().schemas), false);
        let shown = |default| kept::text(snapshot, how, self.context, None, default);
        routine.defaults().map(|default| shown(default).unwrap_or_default()).collect()
    }

    fn function(&self, oid: Oid, defaults: bool, result: bool) -> Datum<'a> {
        let Some(found) = self.session.snapshot.procedure(oid) else { return Datum::Null };
        let type_text = |ty: u32| self.context.catalog.type_name(ty);
        if result {
            return self.optional(function_result(&found, &type_text).as_deref());
        }
        let texts = if defaults { self.default_texts(&found) } else { Vec::new() };
        self.text(&function_arguments(&found, &texts, &type_text))
    }
}

impl<'a> Call<'_, '_, '_, 'a> {
    /// The body of a routine in the standard's form.
    fn own_body(&self, routine: &Routine) -> Option<String> {
        let kept = routine.standard.as_ref()?;
        let shown = self.session.engine.body_text(self.session, self.context, routine);
        Some(shown.unwrap_or_else(|| kept.to_string()))
    }

    /// `pg_get_functiondef`: CREATE FUNCTION (`pg_get_functiondef` of `ruleutils.c`).
    fn function_definition(&self, oid: Oid) -> Result<Datum<'a>> {
        /// `procost` and `prorows` that are not shown.
        const COST: f32 = 1.0;
        const ROWS: f32 = 1000.0;
        let snapshot = self.session.snapshot;
        let Some(found) = snapshot.procedure(oid) else { return Ok(Datum::Null) };
        let made = snapshot.routine(oid);
        let type_text = |ty: u32| self.context.catalog.type_name(ty);
        if found.kind == builtin::Kind::Aggregate {
            return Err(SqlError::new(
                SqlState::WRONG_OBJECT_TYPE,
                format!("\"{}\" is an aggregate function", found.name),
            ));
        }
        let Some(schema) = snapshot.function_schema(&found) else { return Ok(Datum::Null) };
        let schema = snapshot.schema_by_oid(schema);
        let schema = schema.map_or("pg_catalog", |schema| &schema.name);
        let mut text = format!(
            "CREATE OR REPLACE {} {}({})\n",
            if found.kind == builtin::Kind::Procedure { "PROCEDURE" } else { "FUNCTION" },
            qualified(schema, found.name),
            function_arguments(&found, &self.default_texts(&found), &type_text)
        );
        if let Some(result) = function_result(&found, &type_text) {
            let _ = writeln!(text, " RETURNS {result}");
        }
        let (language, usual_cost) = match found.language {
            12 => ("internal", COST),
            13 => ("c", COST),
            PLPGSQL => ("plpgsql", 100.0),
            _ => ("sql", 100.0),
        };
        let _ = writeln!(text, " LANGUAGE {language}");
        let before = text.len();
        if found.kind == builtin::Kind::Window {
            text.push_str(" WINDOW");
        }
        text.push_str(match found.volatility {
            builtin::Volatility::Immutable => " IMMUTABLE",
            builtin::Volatility::Stable => " STABLE",
            builtin::Volatility::Volatile => "",
        });
        text.push_str(match found.parallel {
            's' => " PARALLEL SAFE",
            'r' => " PARALLEL RESTRICTED",
            _ => "",
        });
        let definer = made.is_some_and(|made| made.security_definer);
        let words = [
            (found.strict, " STRICT"),
            (definer, " SECURITY DEFINER"),
            (found.leakproof, " LEAKPROOF"),
        ];
        words.iter().filter(|(is_set, _)| *is_set).for_each(|(_, word)| text.push_str(word));
        if found.cost != usual_cost {
            let _ = write!(text, " COST {}", found.cost);
        }
        if found.rows > 0.0 && found.rows != ROWS {
            let _ = write!(text, " ROWS {}", found.rows);
        }
        if let Some(support) = builtin::function(found.support) {
            let _ = write!(text, " SUPPORT {}", identifier(support.name));
        }
        if text.len() > before {
            text.push('\n');
        }
        for (name, value) in made.into_iter().flat_map(|made| &made.settings) {
            // Of a list of names each element is a literal (`GUC_LIST_QUOTE`).
            let is_list = matches!(
                &**name,
                "search_path"
                    | "temp_tablespaces"
                    | "local_preload_libraries"
                    | "session_preload_libraries"
                    | "shared_preload_libraries"
                    | "unix_socket_directories"
            );
            let names = if is_list { split_identifiers(value) } else { None };
            let shown = match names {
                Some(names) => {
                    let names: Vec<String> = names.iter().map(|name| literal(name)).collect();
                    names.join(", ")
                }
                None => literal(value),
            };
            let _ = writeln!(text, " SET {} TO {shown}", identifier(name));
        }
        let own = made.and_then(|made| self.own_body(made));
        match own.map(Cow::Owned).or(found.sql_body()) {
            Some(body) => text.push_str(&body),
            None => {
                let source = found.sql().unwrap_or(found.source.into());
                let word = match found.kind {
                    builtin::Kind::Procedure => "procedure",
                    _ => "function",
                };
                let mut tag = format!("${word}");
                while source.contains(&tag) {
                    tag.push('x');
                }
                let _ = write!(text, "AS {tag}${source}{tag}$");
            }
        }
        text.push('\n');
        Ok(self.text(&text))
    }
}

/// A column's name, or an expression.
fn key_name(relation: &Relation, key: &IndexColumn, shown: &[String]) -> String {
    match key.expression() {
        Some(at) if is_call(&shown[at]) => shown[at].clone(),
        Some(at) => format!("({})", shown[at]),
        None => identifier(&relation.columns[key.column].name),
    }
}

/// `a DESC`, with what is not the default.
fn key(
    session: &SessionCatalog<'_>,
    relation: &Relation,
    index: &Index,
    key: &IndexColumn,
    shown: &[String],
) -> String {
    let mut text = key_name(relation, key, shown);
    let class = builtin::operator_class(key.class.0);
    if let Some(name) = builtin::collation(key.collation.0) {
        let _ = write!(text, " COLLATE {}", identifier(name));
    }
    if let Some(class) = class {
        let path = &session.settings.path.get().schemas;
        let own = session.snapshot.member_schema(class.oid);
        let hidden = own.filter(|own| own.0 != builtin::PG_CATALOG && !path.contains(own));
        let _ = match hidden.and_then(|own| session.snapshot.schema_by_oid(own)) {
            Some(schema) => write!(text, " {}", qualified(&schema.name, class.name)),
            None => write!(text, " {}", identifier(class.name)),
        };
    }
    let made = session.snapshot.user_operator_class(key.class);
    let usual = |class: &UserOperatorClass| {
        class.default && class.input == relation.key_type(index, key).oid
    };
    if let Some(class) = made.filter(|class| !usual(class)) {
        let path = &session.settings.path.get().schemas;
        let schema = session.snapshot.schema_by_oid(class.schema);
        let _ = match schema.filter(|_| !path.contains(&class.schema)) {
            Some(schema) => write!(text, " {}", qualified(&schema.name, &class.name)),
            None => write!(text, " {}", identifier(&class.name)),
        };
    }
    match (key.descending, key.nulls_first) {
        (false, false) => {}
        (false, true) => text.push_str(" NULLS FIRST"),
        (true, true) => text.push_str(" DESC"),
        (true, false) => text.push_str(" DESC NULLS LAST"),
    }
    text
}

/// WITH (...) as definitions print it.
fn with_options(options: &[(String, String)]) -> String {
    if options.is_empty() {
        return String::new();
    }
    let listed: Vec<String> = options
        .iter()
        .map(|(name, value)| format!("{}={}", identifier(name), literal(value)))
        .collect();
    format!(" WITH ({})", listed.join(", "))
}

/// INCLUDE (...) as definitions print it.
fn include(table: &Relation, index: &Index) -> String {
    if index.include.is_empty() {
        return String::new();
    }
    format!(" INCLUDE ({})", columns(table, &index.include))
}

fn index_definition(
    session: &SessionCatalog<'_>,
    table: &Relation,
    index: &Index,
    name: &str,
    (shown, filter): (&[String], Option<&str>),
) -> String {
    let unique = if index.unique { "UNIQUE " } else { "" };
    let keys: Vec<String> =
        index.columns.iter().map(|part| key(session, table, index, part, shown)).collect();
    format!(
        "CREATE {unique}INDEX {} ON {name} USING {} ({}){}{}{}{}",
        identifier(&index.name),
        identifier("btree"),
        keys.join(", "),
        include(table, index),
        if index.nulls_not_distinct { " NULLS NOT DISTINCT" } else { "" },
        with_options(&index.options),
        filter.map_or_else(String::new, |filter| format!(" WHERE {filter}")),
    )
}

fn columns(relation: &Relation, columns: &[usize]) -> String {
    let names: Vec<String> =
        columns.iter().map(|&column| identifier(&relation.columns[column].name)).collect();
    names.join(", ")
}

impl Call<'_, '_, '_, '_> {
    /// `pg_get_constraintdef`.
    fn constraint(&self, oid: Oid, pretty: bool) -> Option<String> {
        let session = self.session;
        let snapshot = session.snapshot;
        if let Some((table, found)) = snapshot.constraint(oid) {
            let shown = |condition: &Expression| self.shown_tree(table, condition, pretty);
            return Some(constraint_definition(session, table, found, &shown));
        }
        if let Some((ty, check)) = snapshot.domain_check(oid) {
            let value = crate::bind::value_relation(ty.domain()?.base);
            let text = self.shown_tree(&value, &check.condition, pretty);
            let unchecked = if check.validated { "" } else { " NOT VALID" };
            return Some(format!("CHECK ({text}){unchecked}"));
        }
        if let Some((domain, check)) = built_in_domain::check(oid) {
            let value = crate::bind::value_relation(domain.base);
            return Some(format!("CHECK ({})", self.shown_tree(&value, &check.condition, pretty)));
        }
        let table = snapshot.constraint_table(oid)?;
        let made = table.triggers.iter().filter_map(|trigger| trigger.constraint);
        if let Some((_, when, _)) = made.into_iter().find(|(own, ..)| *own == oid) {
            return Some(format!("TRIGGER{}", deferral(when)));
        }
        let index = table
            .indexes
            .iter()
            .find(|index| index.constraint.as_ref().is_some_and(|key| key.0 == oid))?;
        let kind = if index.primary { "PRIMARY KEY" } else { "UNIQUE" };
        let names: Vec<usize> = index.columns.iter().map(|key| key.column).collect();
        let nulls = if index.nulls_not_distinct { " NULLS NOT DISTINCT" } else { "" };
        Some(format!(
            "{kind}{nulls} ({}){}{}",
            columns(table, &names),
            include(table, index),
            deferral(index.deferral)
        ))
    }
}

/// DEFERRABLE and its kin as definitions print them.
fn deferral(deferral: Deferral) -> &'static str {
    match deferral {
        Deferral::Never => "",
        Deferral::Immediate => " DEFERRABLE",
        Deferral::Deferred => " DEFERRABLE INITIALLY DEFERRED",
    }
}

fn constraint_definition(
    session: &SessionCatalog<'_>,
    table: &Relation,
    found: &Constraint,
    shown: &dyn Fn(&Expression) -> String,
) -> String {
    let mut text = match &found.kind {
        ConstraintKind::Check { condition, no_inherit } => {
            format!("CHECK ({}){}", shown(condition), if *no_inherit { " NO INHERIT" } else { "" })
        }
        ConstraintKind::ForeignKey(foreign) => {
            let parent = session.snapshot.relation(foreign.references);
            let name = name_in_definition(session, foreign.references).unwrap_or_default();
            let referenced = parent.map(|parent| columns(parent, &foreign.referenced));
            let mut text = format!(
                "FOREIGN KEY ({}) REFERENCES {name}({})",
                columns(table, &foreign.columns),
                referenced.unwrap_or_default()
            );
            if foreign.match_type == MatchType::Full {
                text.push_str(" MATCH FULL");
            }
            for (event, action) in [("UPDATE", foreign.on_update), ("DELETE", foreign.on_delete)] {
                let words = match action {
                    Action::NoAction => continue,
                    Action::Restrict => "RESTRICT",
                    Action::Cascade => "CASCADE",
                    Action::SetNull => "SET NULL",
                    Action::SetDefault => "SET DEFAULT",
                };
                // Writing to a String cannot fail.
                let _ = write!(text, " ON {event} {words}");
            }
            if !foreign.delete_columns.is_empty() {
                let _ = write!(text, " ({})", columns(table, &foreign.delete_columns));
            }
            text
        }
    };
    text.push_str(deferral(found.deferral));
    if !found.validated {
        text.push_str(" NOT VALID");
    }
    text
}

/// All arguments of a function with their modes.
fn arguments(found: &ProcedureOf<'_>) -> Vec<(u32, ArgumentMode)> {
    match &found.all_arguments {
        Some(all) => all.to_vec(),
        None => found.arguments.iter().map(|ty| (*ty, ArgumentMode::In)).collect(),
    }
}

fn function_arguments(
    found: &ProcedureOf<'_>,
    texts: &[String],
    type_text: &dyn Fn(u32) -> String,
) -> String {
    let all = arguments(found);
    let is_input = |mode: ArgumentMode| {
        matches!(mode, ArgumentMode::In | ArgumentMode::InOut | ArgumentMode::Variadic)
    };
    let inputs = all.iter().filter(|(_, mode)| is_input(*mode)).count();
    // Behind those that are given once come those of each row.
    let direct = found.ordered_set().map(|(_, direct)| direct);
    let mut input = 0;
    let mut parts = Vec::new();
    for (at, &(ty, mode)) in all.iter().enumerate() {
        let word = match mode {
            // DROP PROCEDURE counts those that are given back, too.
            ArgumentMode::In if found.kind == builtin::Kind::Procedure => "IN ",
            ArgumentMode::In => "",
            ArgumentMode::Out => "OUT ",
            ArgumentMode::InOut => "INOUT ",
            ArgumentMode::Variadic => "VARIADIC ",
            ArgumentMode::Table => continue,
        };
        let name = found.argument_names.get(at).filter(|name| !name.is_empty());
        let name = name.map(|name| format!("{} ", identifier(name))).unwrap_or_default();
        let mut text = format!("{word}{name}{}", type_text(ty));
        if is_input(mode) {
            input += 1;
            let from_end = inputs - input;
            if from_end < texts.len() {
                let _ = write!(text, " DEFAULT {}", texts[texts.len() - 1 - from_end]);
            }
        }
        parts.push(text);
    }
    match direct {
        // The last one, being VARIADIC, stands for both.
        Some(count) if count == parts.len() => {
            let last = parts.last().cloned().unwrap_or_default();
            format!("{} ORDER BY {last}", parts.join(", "))
        }
        Some(count) => {
            let (given, rows) = parts.split_at(count);
            let space = if given.is_empty() { "" } else { " " };
            format!("{}{space}ORDER BY {}", given.join(", "), rows.join(", "))
        }
        None => parts.join(", "),
    }
}

fn function_result(found: &ProcedureOf<'_>, type_text: &dyn Fn(u32) -> String) -> Option<String> {
    if found.kind == builtin::Kind::Procedure {
        return None;
    }
    let table: Vec<String> = arguments(found)
        .iter()
        .enumerate()
        .filter(|(_, (_, mode))| *mode == ArgumentMode::Table)
        .map(|(at, (ty, _))| {
            let name = found.argument_names.get(at).copied().unwrap_or("");
            format!("{} {}", identifier(name), type_text(*ty))
        })
        .collect();
    if !table.is_empty() {
        return Some(format!("TABLE({})", table.join(", ")));
    }
    let set = if found.returns_set { "SETOF " } else { "" };
    Some(format!("{set}{}", type_text(found.result)))
}
