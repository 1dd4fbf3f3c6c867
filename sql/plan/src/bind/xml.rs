//! XMLELEMENT and its kin (`transformXmlExpr`, `transformXmlSerialize`).

use crate::bind::Binder;
use crate::bind::coerce::Context;
use crate::bind::expression::Place;
use crate::bind::set_calls;
use crate::bind::target::name_of;
use crate::bind::type_name::{oid, resolve};
use crate::bind::typed::Expr;
use crate::error::{Result, SqlError};
use crate::parse::ast::{self, ExprKind};
use crate::sqlstate::SqlState;
use crate::types::xml::construct::{XmlCall, XmlOp};
use crate::types::xml::names;
use crate::types::xml::table::{XmlColumn, XmlTable};
use crate::types::{Oid, SqlType, oids};
use std::sync::Arc;

impl Binder<'_> {
    /// A call of SQL/XML.
    ///
    /// # Errors
    /// 42601 for values without names, and names that attributes have twice; 42804 for others than what it takes; 42846 for
    /// what XMLSERIALIZE cannot give.
    pub(super) fn xml(&self, call: &ast::XmlCall, place: &Place<'_>, at: u32) -> Result<Expr> {
        let (mut arguments, mut known) = (Vec::new(), Vec::<Arc<str>>::new());
        for (name, value, start) in &call.named {
            let bound = self.expression(value, place)?;
            let start = self.position(*start);
            let refused = |message| SqlError::new(SqlState::SYNTAX_ERROR, message).at(start);
            let element = call.op == XmlOp::Element;
            let name = match (name, &value.kind) {
                (Some(name), _) => names::of_identifier(name, false),
                (None, ExprKind::Column(_)) => names::of_identifier(&name_of(value), true),
                _ => {
                    let what = if element { "attribute" } else { "element" };
                    return Err(refused(format!(
                        "unnamed XML {what} value must be a column reference"
                    )));
                }
            };
            if element && known.iter().any(|known| **known == *name) {
                let message = format!("XML attribute name \"{name}\" appears more than once");
                return Err(refused(message));
            }
            known.push(name.into());
            arguments.push(bound);
        }
        for (number, value) in call.arguments.iter().enumerate() {
            let wanted = |ty: u32, word: &str| {
                let bound = self.expression(value, place)?;
                self.specific(bound, Oid(ty), word, self.position(value.start()))
            };
            arguments.push(match call.op {
                XmlOp::Element => self.expression(value, place)?,
                XmlOp::Concat => wanted(oids::XML, "XMLCONCAT")?,
                XmlOp::Forest => wanted(oids::XML, "XMLFOREST")?,
                XmlOp::Parse { .. } => wanted(oids::TEXT, "XMLPARSE")?,
                XmlOp::Instruction => wanted(oids::TEXT, "XMLPI")?,
                XmlOp::Root(_) if number == 0 => wanted(oids::XML, "XMLROOT")?,
                XmlOp::Root(_) => wanted(oids::TEXT, "XMLROOT")?,
                XmlOp::Serialize(_) => wanted(oids::XML, "XMLSERIALIZE")?,
                XmlOp::IsDocument => wanted(oids::XML, "IS DOCUMENT")?,
            });
        }
        let target = match &call.target {
            Some(named) => resolve(self.catalog, self.path, named)
                .map_err(|error| error.at(self.position(named.name.at)))?,
            None => SqlType::plain(oids::XML),
        };
        let made = XmlCall {
            op: call.op,
            name: call.name.as_ref().map(|name| names::of_identifier(name, false).into()),
            names: known,
            types: arguments.iter().map(|argument| self.catalog.base_type(argument.ty())).collect(),
            target,
        };
        let made = Expr::Xml { call: Arc::new(made), arguments };
        if call.target.is_none() {
            return Ok(made);
        }
        if !self.can_coerce(Oid(oids::TEXT), target.oid, Context::Implicit) {
            let ty = self.type_text(target.oid);
            let message = format!("cannot cast XMLSERIALIZE result to {ty}");
            return Err(SqlError::new(SqlState::CANNOT_COERCE, message).at(self.position(at)));
        }
        self.cast(made, target, Context::Implicit, 0)
    }

    /// XMLTABLE (`transformRangeTableFunc`).
    ///
    /// # Errors
    /// 42601 for columns and prefixes that are there twice; 42804 for others than what it takes; those of types.
    pub(super) fn xml_table(&self, table: &ast::XmlTable, place: &Place<'_>) -> Result<Expr> {
        const WORD: &str = "XMLTABLE";
        let text = |value: &ast::Expr| {
            let bound = self.expression(value, place)?;
            self.specific(bound, Oid(oids::TEXT), WORD, self.position(value.start()))
        };
        let document = self.expression(&table.document, place)?;
        let path = text(&table.path)?;
        let at = self.position(table.document.start());
        let mut arguments = vec![self.specific(document, Oid(oids::XML), WORD, at)?, path];
        let mut made = XmlTable { namespaces: Vec::new(), columns: Vec::new() };
        let mut columns = Vec::new();
        for column in &table.columns {
            let refused = |message| {
                SqlError::new(SqlState::SYNTAX_ERROR, message).at(self.position(column.at))
            };
            let ordinality = column.ty.is_none();
            let ty = match &column.ty {
                None if made.columns.iter().any(|other: &XmlColumn| other.ordinality) => {
                    return Err(refused("only one FOR ORDINALITY column is allowed".to_owned()));
                }
                None => SqlType::plain(oids::INT4),
                Some(named) if named.setof => {
                    let message = format!("column \"{}\" cannot be declared SETOF", column.name);
                    let state = SqlState::INVALID_TABLE_DEFINITION;
                    return Err(SqlError::new(state, message).at(self.position(column.at)));
                }
                Some(named) => resolve(self.catalog, self.path, named)
                    .map_err(|error| error.at(self.position(named.name.at)))?,
            };
            if let Some(path) = &column.path {
                columns.push(text(path)?);
            }
            if let Some(default) = &column.default {
                let at = self.position(default.start());
                let bound = self.expression(default, place)?;
                let bound = self.specific(bound, ty.oid, WORD, at)?;
                columns.push(self.cast(bound, ty, Context::Implicit, at)?);
            }
            if made.columns.iter().any(|other| *other.name == *column.name) {
                return Err(refused(format!("column name \"{}\" is not unique", column.name)));
            }
            made.columns.push(XmlColumn {
                name: (&*column.name).into(),
                ty,
                ordinality,
                path: column.path.is_some(),
                default: column.default.is_some(),
                not_null: column.not_null,
            });
        }
        for (name, uri, at) in &table.namespaces {
            let name: Option<Arc<str>> = name.as_ref().map(|name| (&**name).into());
            arguments.push(text(uri)?);
            if made.namespaces.contains(&name) {
                let message = match name {
                    Some(name) => format!("namespace name \"{name}\" is not unique"),
                    None => "only one default namespace is allowed".to_owned(),
                };
                let error = SqlError::new(SqlState::SYNTAX_ERROR, message);
                return Err(error.at(self.position(*at)));
            }
            made.namespaces.push(name);
        }
        arguments.extend(columns);
        Ok(Expr::XmlTable { table: Arc::new(made), arguments })
    }

    /// A value of the type that a construct takes, as it would be assigned (`coerce_to_specific_type`).
    fn specific(&self, value: Expr, ty: Oid, construct: &str, at: u32) -> Result<Expr> {
        let source = value.ty().oid;
        let refused = |message| SqlError::new(SqlState::DATATYPE_MISMATCH, message).at(at);
        if source.0 != oid::UNKNOWN && !self.can_coerce(source, ty, Context::Assignment) {
            let (ty, source) = (self.type_text(ty), self.type_text(source));
            return Err(refused(format!(
                "argument of {construct} must be type {ty}, not type {source}"
            )));
        }
        let value = self.cast(value, SqlType::plain(ty.0), Context::Assignment, at)?;
        if set_calls::returns_set(&value) {
            return Err(refused(format!("argument of {construct} must not return a set")));
        }
        Ok(value)
    }
}
