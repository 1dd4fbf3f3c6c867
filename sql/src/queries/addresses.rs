//! Addresses of objects, a class, an OID and a column's number, in words and back: `pg_describe_object`, `pg_identify_object`,
//! `pg_identify_object_as_address`, `pg_get_object_address` (manual, section 9.26.6; `objectaddress.c`).
//!
//! What is asked for is read from the rows that the system relations have, so that built-in objects and users' are told of
//! alike.

use super::Call;
use super::names::{operator_of_signature, reg_in, reg_out, relation_name, type_name};
use crate::catalog::builtin;
use crate::catalog::object::well_known;
use crate::catalog::quote::{identifier, qualified};
use crate::catalog::relation::Relation;
use crate::catalog::system;
use crate::error::{Result, SqlError};
use crate::sqlstate::SqlState;
use crate::types::failure::invalid_parameter;
use crate::types::format_type;
use crate::types::{Datum, Oid, SqlType, array, oids, record};
use std::sync::Arc;

/// A kind of object.
struct Class {
    oid: u32,
    /// The relation that has a row for each.
    relation: &'static str,
    /// What it is called, also where there is none of that OID.
    word: &'static str,
    /// The columns of its name and its schema's OID; none for what has none.
    name: &'static str,
    schema: &'static str,
    /// Whether its name, with its schema's, says which one it is.
    unique: bool,
}

macro_rules! classes {
    ($($oid:literal $relation:literal $word:literal $name:literal $schema:literal $unique:literal),* $(,)?) => {
        &[$(Class {
            oid: $oid, relation: $relation, word: $word, name: $name, schema: $schema, unique: $unique,
        }),*]
    };
}

/// The kinds of which there are any; the last ones have no objects.
const CLASSES: &[Class] = classes! {
    1259 "pg_class" "relation" "relname" "relnamespace" true,
    1247 "pg_type" "type" "typname" "typnamespace" true,
    1255 "pg_proc" "routine" "proname" "pronamespace" false,
    2606 "pg_constraint" "constraint" "conname" "connamespace" false,
    2604 "pg_attrdef" "default value" "" "" false,
    2605 "pg_cast" "cast" "" "" false,
    2617 "pg_operator" "operator" "oprname" "oprnamespace" false,
    2618 "pg_rewrite" "rule" "rulename" "" false,
    2615 "pg_namespace" "schema" "nspname" "" true,
    1260 "pg_authid" "role" "rolname" "" true,
    1262 "pg_database" "database" "datname" "" true,
    1213 "pg_tablespace" "tablespace" "spcname" "" true,
    2612 "pg_language" "language" "lanname" "" true,
    3079 "pg_extension" "extension" "extname" "" true,
    2601 "pg_am" "access method" "amname" "" true,
    3456 "pg_collation" "collation" "collname" "collnamespace" true,
    2616 "pg_opclass" "operator class" "opcname" "opcnamespace" true,
    2753 "pg_opfamily" "operator family" "opfname" "opfnamespace" true,
    2607 "pg_conversion" "conversion" "conname" "connamespace" true,
    3602 "pg_ts_config" "text search configuration" "cfgname" "cfgnamespace" true,
    3600 "pg_ts_dict" "text search dictionary" "dictname" "dictnamespace" true,
    3601 "pg_ts_parser" "text search parser" "prsname" "prsnamespace" true,
    3764 "pg_ts_template" "text search template" "tmplname" "tmplnamespace" true,
    2620 "pg_trigger" "trigger" "" "" false,
    3256 "pg_policy" "policy" "" "" false,
    6104 "pg_publication" "publication" "" "" false,
    6100 "pg_subscription" "subscription" "" "" false,
    3381 "pg_statistic_ext" "statistics object" "" "" false,
    3466 "pg_event_trigger" "event trigger" "evtname" "" true,
    2328 "pg_foreign_data_wrapper" "foreign-data wrapper" "" "" false,
    1417 "pg_foreign_server" "server" "" "" false,
    1418 "pg_user_mapping" "user mapping" "" "" false,
    2613 "pg_largeobject" "large object" "" "" false,
    3576 "pg_transform" "transform" "" "" false,
};

/// The class of relations.
const PG_CLASS: u32 = well_known::PG_CLASS.0;

/// What is addressed.
#[derive(Clone, Copy)]
struct Address {
    class: u32,
    object: Oid,
    column: i32,
}

/// What names an object, whatever the search path is: as text, and in parts.
struct Identity {
    text: String,
    names: Vec<String>,
    arguments: Vec<String>,
}

impl Identity {
    /// Of names that are quoted where they have to be, with dots between.
    fn of(names: Vec<String>) -> Identity {
        let quoted: Vec<String> = names.iter().map(|name| identifier(name)).collect();
        Identity { text: quoted.join("."), names, arguments: Vec::new() }
    }
}

/// A row of a system relation.
pub(super) struct CatalogRow<'a> {
    relation: &'static Arc<Relation>,
    values: Vec<Datum<'a>>,
}

impl<'a> CatalogRow<'a> {
    fn value(&self, column: &str) -> Datum<'a> {
        let at = self.relation.column(column).expect("the column is one of the relation's");
        self.values[at]
    }

    /// A column of type oid or a kin of it.
    pub(super) fn oid(&self, column: &str) -> Oid {
        match self.value(column) {
            Datum::Oid(oid) => Oid(oid),
            _ => Oid(0),
        }
    }

    /// A column of type "char".
    pub(super) fn letter(&self, column: &str) -> u8 {
        match self.value(column) {
            Datum::Char(letter) => letter,
            _ => 0,
        }
    }

    fn number(&self, column: &str) -> i32 {
        match self.value(column) {
            Datum::Int2(number) => i32::from(number),
            _ => 0,
        }
    }

    fn text(&self, column: &str) -> String {
        match self.value(column) {
            Datum::Text(text) => text.to_owned(),
            _ => String::new(),
        }
    }
}

/// What a relation is, in words.
fn relation_word(row: &CatalogRow<'_>) -> &'static str {
    match row.letter("relkind") {
        b'r' | b'p' => "table",
        b'i' | b'I' => "index",
        b'S' => "sequence",
        b't' => "toast table",
        b'v' => "view",
        b'm' => "materialized view",
        b'c' => "composite type",
        b'f' => "foreign table",
        _ => "relation",
    }
}

fn class(oid: u32) -> Result<&'static Class> {
    CLASSES.iter().find(|class| class.oid == oid).ok_or_else(|| {
        SqlError::new(SqlState::INTERNAL_ERROR, format!("unrecognized object class: {oid}"))
    })
}

impl<'a> Call<'_, '_, '_, 'a> {
    /// The functions of this file.
    pub(super) fn address_function(&self, function: &str) -> Result<Datum<'a>> {
        if function == "pg_get_object_address" {
            return self.get_address();
        }
        let column = match self.arguments.get(2) {
            Some(Datum::Int4(column)) => *column,
            _ => 0,
        };
        let address = Address { class: self.oid(0).0, object: self.oid(1), column };
        // What a dependency on nothing in particular says.
        if function == "pg_describe_object" && address.class == 0 && address.object == Oid(0) {
            return Ok(Datum::Null);
        }
        if column != 0 && address.class != PG_CLASS {
            let message =
                format!("invalid non-zero objectSubId for object class {}", address.class);
            return Err(SqlError::new(SqlState::INTERNAL_ERROR, message));
        }
        match function {
            "pg_describe_object" => Ok(self.optional(self.description(address)?.as_deref())),
            "pg_identify_object" => self.identify(address),
            _ => self.identify_as_address(address),
        }
    }

    /// The first row of a system relation that is wanted, among those with this value in a column.
    pub(super) fn find_row(
        &self,
        relation: &str,
        (column, key): (&str, Datum<'_>),
        wanted: &dyn Fn(&CatalogRow<'a>) -> bool,
    ) -> Option<CatalogRow<'a>> {
        let oid = system::named(well_known::PG_CATALOG, relation)?;
        let relation = system::relation(oid)?;
        let keys = [(relation.column(column)?, key)];
        let mut found = None;
        // What makes these rows does not fail.
        let _ = self.session.all_rows(self.context, oid, &keys, &mut |values| {
            let row = CatalogRow { relation, values: values.to_vec() };
            let fits = match (key, row.value(column)) {
                (Datum::Oid(key), Datum::Oid(value)) => key == value,
                (Datum::Text(key), Datum::Text(value)) => key == value,
                _ => false,
            };
            let fits = fits && wanted(&row);
            if fits {
                found = Some(row);
            }
            Ok(!fits)
        });
        found
    }

    /// The row with this OID.
    pub(super) fn row_of(&self, relation: &str, oid: Oid) -> Option<CatalogRow<'a>> {
        self.find_row(relation, ("oid", Datum::Oid(oid.0)), &|_| true)
    }

    /// The name of a relation's column.
    fn column_name(&self, relation: Oid, number: i32) -> Option<String> {
        let key = ("attrelid", Datum::Oid(relation.0));
        let wanted = |row: &CatalogRow<'a>| {
            row.number("attnum") == number
                && !matches!(row.value("attisdropped"), Datum::Bool(true))
        };
        Some(self.find_row("pg_attribute", key, &wanted)?.text("attname"))
    }

    fn schema_name(&self, schema: Oid) -> String {
        let found = self.session.snapshot.schema_by_oid(schema);
        found.map(|schema| schema.name.to_string()).unwrap_or_default()
    }

    /// The same in what names an object: that of the session's own temporary objects is called so in each.
    fn schema_in_identity(&self, schema: Oid) -> String {
        let own = self.session.snapshot.temporary_schema();
        match own.is_some_and(|own| own.oid == schema) {
            true => "pg_temp".to_owned(),
            false => self.schema_name(schema),
        }
    }

    /// The name of what has a schema, with it where the search path does not have that.
    fn placed(&self, class: &Class, row: &CatalogRow<'_>) -> String {
        let (schema, name) = (row.oid(class.schema), row.text(class.name));
        if self.session.settings.path.get().schemas.contains(&schema) {
            identifier(&name)
        } else {
            qualified(&self.schema_name(schema), &name)
        }
    }

    /// A type's name with its schema's, but for those that have words of SQL.
    fn qualified_type(&self, oid: u32) -> String {
        /// Of these the words are the names: numeric, interval, bit.
        const WORDS: [u32; 3] = [oids::NUMERIC, oids::INTERVAL, 1560];
        let element = match builtin::type_by_oid(oid) {
            Some(ty) if ty.is_array() => Some(ty.element),
            Some(_) => None,
            None => builtin::element_of_made(oid),
        };
        if let Some(element) = element {
            return format!("{}[]", self.qualified_type(element));
        }
        if let Some(ty) = builtin::type_by_oid(oid) {
            let shown = format_type(oid, None);
            return match shown == identifier(ty.name) && !WORDS.contains(&oid) {
                true => format!("pg_catalog.{shown}"),
                false => shown,
            };
        }
        let snapshot = self.session.snapshot;
        if let Some(found) = snapshot.user_type(Oid(oid)) {
            return qualified(&self.schema_in_identity(found.schema), &found.name);
        }
        match snapshot.row_type(Oid(oid)) {
            Some(relation) => {
                let brackets = if relation.row_type.1.0 == oid { "[]" } else { "" };
                let schema = self.schema_in_identity(relation.schema.0);
                format!("{}{brackets}", qualified(&schema, &relation.name))
            }
            None => "???".to_owned(),
        }
    }

    /// A relation in words, as the search path finds it.
    fn relation_text(&self, oid: Oid) -> Option<String> {
        let row = self.row_of("pg_class", oid)?;
        let name = match row.letter("relkind") {
            b'c' => type_name(self.session, row.oid("reltype").0),
            _ => relation_name(self.session, oid)?,
        };
        Some(format!("{} {name}", relation_word(&row)))
    }

    fn column_text(&self, relation: Oid, column: i32) -> Option<String> {
        let name = self.column_name(relation, column)?;
        Some(format!("column {name} of {}", self.relation_text(relation)?))
    }

    /// `pg_describe_object`; none for what is not there.
    fn description(&self, address: Address) -> Result<Option<String>> {
        let class = class(address.class)?;
        let (session, object) = (self.session, address.object);
        let found = self.row_of(class.relation, object);
        Ok(found.and_then(|row| {
            let ty = |column: &str| type_name(session, row.oid(column).0);
            Some(match class.relation {
                "pg_class" if address.column != 0 => self.column_text(object, address.column)?,
                "pg_class" => self.relation_text(object)?,
                "pg_type" => format!("type {}", type_name(session, object.0)),
                "pg_proc" => format!("function {}", reg_out(session, oids::REGPROCEDURE, object.0)),
                "pg_operator" => {
                    format!("operator {}", reg_out(session, oids::REGOPERATOR, object.0))
                }
                "pg_cast" => format!("cast from {} to {}", ty("castsource"), ty("casttarget")),
                "pg_constraint" => match row.oid("conrelid") {
                    Oid(0) => format!("constraint {}", row.text("conname")),
                    table => {
                        format!(
                            "constraint {} on {}",
                            row.text("conname"),
                            self.relation_text(table)?
                        )
                    }
                },
                "pg_trigger" => {
                    let table = self.relation_text(row.oid("tgrelid"))?;
                    format!("trigger {} on {table}", row.text("tgname"))
                }
                "pg_attrdef" => {
                    let column = self.column_text(row.oid("adrelid"), row.number("adnum"))?;
                    format!("default value for {column}")
                }
                "pg_rewrite" => {
                    let table = self.relation_text(row.oid("ev_class"))?;
                    format!("rule {} on {table}", row.text("rulename"))
                }
                "pg_opclass" | "pg_opfamily" => {
                    let name = self.placed(class, &row);
                    format!("{} {name} for access method {}", class.word, self.method_name(&row)?)
                }
                _ if class.schema.is_empty() => format!("{} {}", class.word, row.text(class.name)),
                _ => format!("{} {}", class.word, self.placed(class, &row)),
            })
        }))
    }

    /// The access method of an operator class or family.
    fn method_name(&self, row: &CatalogRow<'_>) -> Option<String> {
        let column =
            if row.relation.column("opcmethod").is_some() { "opcmethod" } else { "opfmethod" };
        Some(self.row_of("pg_am", row.oid(column))?.text("amname"))
    }

    /// What it is, in words, as far as there is such an object.
    fn kind(&self, class: &Class, address: Address, row: Option<&CatalogRow<'_>>) -> String {
        let word = match (class.relation, row) {
            ("pg_class", Some(row)) => relation_word(row),
            ("pg_proc", Some(row)) => match row.letter("prokind") {
                b'a' => "aggregate",
                b'p' => "procedure",
                _ => "function",
            },
            ("pg_constraint", Some(row)) if row.oid("conrelid") == Oid(0) => "domain constraint",
            ("pg_constraint", Some(_)) => "table constraint",
            _ => class.word,
        };
        match class.oid == PG_CLASS && row.is_some() && address.column != 0 {
            true => format!("{word} column"),
            false => word.to_owned(),
        }
    }

    /// A relation's names, and its column's.
    fn relation_names(&self, oid: Oid, column: i32) -> Option<Vec<String>> {
        let row = self.row_of("pg_class", oid)?;
        let schema = self.schema_in_identity(row.oid("relnamespace"));
        let mut names = vec![schema, row.text("relname")];
        if column != 0 {
            names.push(self.column_name(oid, column)?);
        }
        Some(names)
    }

    /// What names it; none for what is not there.
    fn identity(&self, class: &Class, address: Address, row: &CatalogRow<'_>) -> Option<Identity> {
        let object = address.object;
        let ty = |column: &str| self.qualified_type(row.oid(column).0);
        let own = || vec![self.schema_in_identity(row.oid(class.schema)), row.text(class.name)];
        let on_relation = |relation: Oid, name: String| {
            let mut names = self.relation_names(relation, 0)?;
            let text = format!("{} on {}", identifier(&name), Identity::of(names.clone()).text);
            names.push(name);
            Some(Identity { text, names, arguments: Vec::new() })
        };
        Some(match class.relation {
            "pg_class" => Identity::of(self.relation_names(object, address.column)?),
            "pg_type" => {
                let text = self.qualified_type(object.0);
                Identity { names: vec![text.clone()], text, arguments: Vec::new() }
            }
            "pg_proc" => {
                let found = self.session.snapshot.procedure(object)?;
                let types = found.arguments.iter().map(|ty| self.qualified_type(*ty));
                let arguments: Vec<String> = types.collect();
                let Identity { text, names, .. } = Identity::of(own());
                Identity { text: format!("{text}({})", arguments.join(",")), names, arguments }
            }
            "pg_operator" => {
                let names = own();
                let sides = [row.oid("oprleft"), row.oid("oprright")];
                let side = |oid: &Oid| match oid.0 {
                    0 => "NONE".to_owned(),
                    oid => self.qualified_type(oid),
                };
                let shown: Vec<String> = sides.iter().map(side).collect();
                let text = format!("{}.{}({})", identifier(&names[0]), names[1], shown.join(","));
                let arguments = sides.iter().filter(|side| side.0 != 0).map(side).collect();
                Identity { text, names, arguments }
            }
            "pg_cast" => {
                let (source, target) = (ty("castsource"), ty("casttarget"));
                let text = format!("({source} AS {target})");
                Identity { text, names: vec![source], arguments: vec![target] }
            }
            "pg_constraint" => match row.oid("conrelid") {
                Oid(0) => {
                    let (name, ty) = (row.text("conname"), ty("contypid"));
                    let text = format!("{} on {ty}", identifier(&name));
                    Identity { text, names: vec![ty], arguments: vec![name] }
                }
                table => on_relation(table, row.text("conname"))?,
            },
            "pg_attrdef" => {
                let names = self.relation_names(row.oid("adrelid"), row.number("adnum"))?;
                let column = Identity::of(names);
                Identity { text: format!("for {}", column.text), ..column }
            }
            "pg_rewrite" => on_relation(row.oid("ev_class"), row.text("rulename"))?,
            "pg_trigger" => on_relation(row.oid("tgrelid"), row.text("tgname"))?,
            "pg_opclass" | "pg_opfamily" => {
                let method = self.method_name(row)?;
                let text = format!("{} USING {}", Identity::of(own()).text, identifier(&method));
                let names = [vec![method], own()].concat();
                Identity { text, names, arguments: Vec::new() }
            }
            _ if class.name.is_empty() => return None,
            _ if class.schema.is_empty() => Identity::of(vec![row.text(class.name)]),
            _ => Identity::of(own()),
        })
    }

    fn identify(&self, address: Address) -> Result<Datum<'a>> {
        let class = class(address.class)?;
        let row = self.row_of(class.relation, address.object);
        let identity = row.as_ref().and_then(|row| self.identity(class, address, row));
        let row = row.filter(|_| identity.is_some());
        let of_row = |column: &str, show: &dyn Fn(&CatalogRow<'a>) -> String| match &row {
            Some(row) if !column.is_empty() => self.text(&identifier(&show(row))),
            _ => Datum::Null,
        };
        let schema = of_row(class.schema, &|row| self.schema_name(row.oid(class.schema)));
        let name = if class.unique { class.name } else { "" };
        let name = of_row(name, &|row| row.text(class.name));
        let found = self.row_of(class.relation, address.object);
        let kind = self.text(&self.kind(class, address, found.as_ref()));
        let identity = self.optional(identity.as_ref().map(|identity| identity.text.as_str()));
        let fields =
            [kind, schema, name, identity].map(|value| (SqlType::plain(oids::TEXT), value));
        let names = ["type", "schema", "name", "identity"].map(Into::into);
        Ok(record::build_named(self.context.arena, &fields, names.iter()))
    }

    fn identify_as_address(&self, address: Address) -> Result<Datum<'a>> {
        let class = class(address.class)?;
        let row = self.row_of(class.relation, address.object);
        let kind = self.text(&self.kind(class, address, row.as_ref()));
        let identity = row.as_ref().and_then(|row| self.identity(class, address, row));
        let list = |texts: Option<&Vec<String>>| {
            let datums = texts.map(|texts| {
                texts.iter().map(|text| Datum::Text(text.as_str())).collect::<Vec<_>>()
            });
            let list = datums.map_or(Datum::Null, |datums| {
                array::from_datums(self.context.arena, oids::TEXT, &datums)
            });
            (SqlType::plain(oids::TEXT_ARRAY), list)
        };
        let fields = [
            (SqlType::plain(oids::TEXT), kind),
            list(identity.as_ref().map(|identity| &identity.names)),
            list(identity.as_ref().map(|identity| &identity.arguments)),
        ];
        let names = ["type", "object_names", "object_args"].map(Into::into);
        Ok(record::build_named(self.context.arena, &fields, names.iter()))
    }

    /// The texts of an array without NULLs.
    fn texts(&self, at: usize) -> Result<Vec<&'a str>> {
        let values = self.arguments[at].array().datums(self.context.arena);
        let text = |value: Result<Datum<'a>>| match value? {
            Datum::Text(text) => Ok(text),
            _ => Err(invalid_parameter("name or argument lists may not contain nulls")),
        };
        values.map(text).collect()
    }

    /// `pg_get_object_address`.
    fn get_address(&self) -> Result<Datum<'a>> {
        let kind = self.str(0);
        if UNSUPPORTED.contains(&kind) {
            return Err(invalid_parameter(format!("unsupported object type \"{kind}\"")));
        }
        if !ADDRESSED.contains(&kind) && !UNKNOWN_YET.contains(&kind) {
            return Err(invalid_parameter(format!("unrecognized object type \"{kind}\"")));
        }
        let (names, arguments) = (self.texts(1)?, self.texts(2)?);
        let Address { class, object, column } = self.addressed(kind, &names, &arguments)?;
        let fields = [
            (SqlType::plain(oids::OID), Datum::Oid(class)),
            (SqlType::plain(oids::OID), Datum::Oid(object.0)),
            (SqlType::plain(oids::INT4), Datum::Int4(column)),
        ];
        let names = ["classid", "objid", "objsubid"].map(Into::into);
        Ok(record::build_named(self.context.arena, &fields, names.iter()))
    }

    fn addressed(&self, kind: &str, names: &[&str], arguments: &[&str]) -> Result<Address> {
        let whole = |class: u32, object: u32| Ok(Address { class, object: Oid(object), column: 0 });
        let dotted = |names: &[&str]| {
            names.iter().map(|name| identifier(name)).collect::<Vec<_>>().join(".")
        };
        let length = |wanted: usize, list: &[&str], what: &str| match list.len() == wanted {
            true => Ok(()),
            false => Err(invalid_parameter(format!("{what} list length must be exactly {wanted}"))),
        };
        let some = || match names.is_empty() {
            true => Err(invalid_parameter("name list length must be at least 1")),
            false => Ok(()),
        };
        let reg = |reg_type: u32, text: &str| reg_in(self.session, reg_type, text);
        let sessions_type = |text: &str| reg(oids::REGTYPE, text);
        // Of a relation and what belongs to it by name.
        let parts = || match names.split_last() {
            Some((last, relation)) if !relation.is_empty() => Ok((dotted(relation), *last)),
            _ => Err(()),
        };
        match kind {
            "table" | "index" | "sequence" | "view" | "materialized view" => {
                some()?;
                let oid = Oid(reg(oids::REGCLASS, &dotted(names))?);
                let row = self.row_of("pg_class", oid);
                if row.as_ref().map(relation_word) != Some(kind) {
                    let name = names.last().copied().unwrap_or_default();
                    let article = if kind == "index" { "an" } else { "a" };
                    return Err(SqlError::new(
                        SqlState::WRONG_OBJECT_TYPE,
                        format!("\"{name}\" is not {article} {kind}"),
                    ));
                }
                whole(PG_CLASS, oid.0)
            }
            "table column" | "default value" => {
                some()?;
                let (relation, column) = parts().map_err(|()| {
                    SqlError::new(SqlState::SYNTAX_ERROR, "column name must be qualified")
                })?;
                let table = Oid(reg(oids::REGCLASS, &relation)?);
                let key = ("attrelid", Datum::Oid(table.0));
                let named = |row: &CatalogRow<'a>| row.text("attname") == column;
                let found = self.find_row("pg_attribute", key, &named);
                let missing = |what: &str| {
                    SqlError::new(
                        SqlState::UNDEFINED_COLUMN,
                        format!(
                            "{what}column \"{column}\" of relation \"{relation}\" does not exist"
                        ),
                    )
                };
                let number = found.ok_or_else(|| missing(""))?.number("attnum");
                if kind == "table column" {
                    return Ok(Address { class: PG_CLASS, object: table, column: number });
                }
                let key = ("adrelid", Datum::Oid(table.0));
                let own = |row: &CatalogRow<'a>| row.number("adnum") == number;
                let default = self.find_row("pg_attrdef", key, &own);
                whole(2604, default.ok_or_else(|| missing("default value for "))?.oid("oid").0)
            }
            "table constraint" | "rule" => {
                some()?;
                let (relation, name) = parts().map_err(|()| {
                    SqlError::new(SqlState::SYNTAX_ERROR, "must specify relation and object name")
                })?;
                let table = reg(oids::REGCLASS, &relation)?;
                let (class, catalog, of, own, word) = match kind {
                    "rule" => (2618, "pg_rewrite", "ev_class", "rulename", "relation"),
                    _ => (2606, "pg_constraint", "conrelid", "conname", "table"),
                };
                let word_of = kind.strip_prefix("table ").unwrap_or(kind);
                let key = (of, Datum::Oid(table));
                let found = self.find_row(catalog, key, &|row| row.text(own) == name);
                let found = found.ok_or_else(|| {
                    let table = names[names.len() - 2];
                    SqlError::new(
                        SqlState::UNDEFINED_OBJECT,
                        format!("{word_of} \"{name}\" for {word} \"{table}\" does not exist"),
                    )
                })?;
                whole(class, found.oid("oid").0)
            }
            "type" => {
                length(1, names, "name")?;
                whole(1247, sessions_type(names[0])?)
            }
            "domain constraint" => {
                length(1, names, "name")?;
                length(1, arguments, "argument")?;
                let ty = sessions_type(names[0])?;
                let key = ("contypid", Datum::Oid(ty));
                let found =
                    self.find_row("pg_constraint", key, &|row| row.text("conname") == arguments[0]);
                let found = found.ok_or_else(|| {
                    SqlError::new(
                        SqlState::UNDEFINED_OBJECT,
                        format!(
                            "constraint \"{}\" for domain {} does not exist",
                            arguments[0],
                            type_name(self.session, ty)
                        ),
                    )
                })?;
                whole(2606, found.oid("oid").0)
            }
            "cast" => {
                length(1, names, "name")?;
                length(1, arguments, "argument")?;
                let (source, target) = (sessions_type(names[0])?, sessions_type(arguments[0])?);
                let to = |row: &CatalogRow<'a>| row.oid("casttarget").0 == target;
                let found = self.find_row("pg_cast", ("castsource", Datum::Oid(source)), &to);
                let found = found.ok_or_else(|| {
                    let shown = |ty| type_name(self.session, ty);
                    let (source, target) = (shown(source), shown(target));
                    SqlError::new(
                        SqlState::UNDEFINED_OBJECT,
                        format!("cast from type {source} to type {target} does not exist"),
                    )
                })?;
                whole(2605, found.oid("oid").0)
            }
            "function" | "aggregate" | "procedure" | "routine" => {
                some()?;
                let types: Vec<String> = arguments.iter().map(|ty| (*ty).to_owned()).collect();
                for ty in &types {
                    sessions_type(ty)?;
                }
                let text = format!("{}({})", dotted(names), types.join(","));
                let found = reg(oids::REGPROCEDURE, &text).map_err(|_| {
                    SqlError::new(
                        SqlState::UNDEFINED_FUNCTION,
                        format!("{kind} {text} does not exist"),
                    )
                })?;
                whole(1255, found)
            }
            "operator" => {
                some()?;
                length(2, arguments, "argument")?;
                let (name, schema) = names.split_last().unwrap_or((&"", &[]));
                let schema = if schema.is_empty() { String::new() } else { dotted(schema) + "." };
                let text = format!("{schema}{name}({},{})", arguments[0], arguments[1]);
                let found = operator_of_signature(self.session, &text)?.ok_or_else(|| {
                    let message = format!(
                        "operator does not exist: {} {schema}{name} {}",
                        arguments[0], arguments[1]
                    );
                    SqlError::new(SqlState::UNDEFINED_FUNCTION, message)
                })?;
                whole(2617, found)
            }
            "collation" => {
                some()?;
                whole(3456, reg(oids::REGCOLLATION, &dotted(names))?)
            }
            "schema" | "role" | "database" | "tablespace" | "language" | "extension"
            | "access method" => {
                some()?;
                length(1, names, "name")?;
                let class = CLASSES.iter().find(|class| class.word == kind);
                let class = class.expect("these are among the classes");
                let key = (class.name, Datum::Text(names[0]));
                let found = self.find_row(class.relation, key, &|_| true).ok_or_else(|| {
                    let state = match kind {
                        "schema" => SqlState::INVALID_SCHEMA_NAME,
                        "database" => SqlState::INVALID_CATALOG_NAME,
                        _ => SqlState::UNDEFINED_OBJECT,
                    };
                    SqlError::new(state, format!("{kind} \"{}\" does not exist", names[0]))
                })?;
                whole(class.oid, found.oid("oid").0)
            }
            _ => Err(SqlError::unsupported(format!("the address of a {kind} is"))),
        }
    }
}

/// What is looked for by its name.
const ADDRESSED: [&str; 25] = [
    "access method",
    "aggregate",
    "cast",
    "collation",
    "database",
    "default value",
    "domain constraint",
    "extension",
    "function",
    "index",
    "language",
    "materialized view",
    "operator",
    "procedure",
    "role",
    "routine",
    "rule",
    "schema",
    "sequence",
    "table",
    "table column",
    "table constraint",
    "tablespace",
    "type",
    "view",
];

/// What only `pg_identify_object` says.
const UNSUPPORTED: [&str; 9] = [
    "toast table",
    "composite type",
    "index column",
    "sequence column",
    "toast table column",
    "view column",
    "materialized view column",
    "composite type column",
    "large object column",
];

/// Kinds of objects that are not looked for by their names yet, or of which there are none.
const UNKNOWN_YET: [&str; 24] = [
    "conversion",
    "default acl",
    "event trigger",
    "foreign table",
    "foreign table column",
    "foreign-data wrapper",
    "function of access method",
    "large object",
    "operator class",
    "operator family",
    "operator of access method",
    "policy",
    "publication",
    "publication namespace",
    "publication relation",
    "server",
    "statistics object",
    "subscription",
    "text search configuration",
    "text search dictionary",
    "text search parser",
    "text search template",
    "transform",
    "user mapping",
];
