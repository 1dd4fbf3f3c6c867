//! `json_agg`, `json_object_agg` and the same for jsonb: the text grows row by row, and is read once at the end.

use super::build::Kind;
use super::output::{Layout, write, write_key};
use crate::error::{Result, SqlError};
use crate::function::Accumulator;
use crate::sqlstate::SqlState;
use crate::{CallContext, Datum, Signature, SqlType};

/// `json_agg`, `jsonb_agg`.
pub(crate) struct Elements {
    out: Option<Vec<u8>>,
    ty: SqlType,
    kind: Kind,
}

/// `json_object_agg`, `jsonb_object_agg`.
pub(crate) struct Members {
    out: Option<Vec<u8>>,
    types: [SqlType; 2],
    kind: Kind,
}

impl Elements {
    pub(crate) fn new(signature: &Signature<'_>, kind: Kind) -> Option<Elements> {
        Some(Elements { out: None, ty: *signature.arguments.first()?, kind })
    }
}

impl Members {
    pub(crate) fn new(signature: &Signature<'_>, kind: Kind) -> Option<Members> {
        let types = [*signature.arguments.first()?, *signature.arguments.get(1)?];
        Some(Members { out: None, types, kind })
    }
}

impl Accumulator for Elements {
    fn add(&mut self, context: &CallContext<'_>, arguments: &[Datum<'_>]) -> Result<()> {
        let value = &arguments[0];
        let out = match &mut self.out {
            None => self.out.insert(vec![b'[']),
            Some(out) => {
                out.extend_from_slice(b", ");
                if matches!(value, Datum::Array(_) | Datum::Record(_)) {
                    out.extend_from_slice(b"\n ");
                }
                out
            }
        };
        write(context, self.ty, value, Layout::Line, out)
    }

    fn finish<'a>(&self, context: &CallContext<'a>) -> Result<Datum<'a>> {
        match &self.out {
            None => Ok(Datum::Null),
            Some(out) => self.kind.finish(context, &[out.as_slice(), b"]"].concat()),
        }
    }

    fn bytes(&self) -> usize {
        size_of::<Elements>() + self.out.as_ref().map_or(0, Vec::capacity)
    }
}

impl Accumulator for Members {
    fn add(&mut self, context: &CallContext<'_>, arguments: &[Datum<'_>]) -> Result<()> {
        let out = match &mut self.out {
            None => self.out.insert(b"{ ".to_vec()),
            Some(out) => {
                out.extend_from_slice(b", ");
                out
            }
        };
        if arguments[0].is_null() {
            return Err(SqlError::new(
                SqlState::INVALID_PARAMETER_VALUE,
                "field name must not be null",
            ));
        }
        write_key(context, self.types[0], &arguments[0], out)?;
        out.extend_from_slice(b" : ");
        write(context, self.types[1], &arguments[1], Layout::Line, out)
    }

    fn finish<'a>(&self, context: &CallContext<'a>) -> Result<Datum<'a>> {
        match &self.out {
            None => Ok(Datum::Null),
            Some(out) => self.kind.finish(context, &[out.as_slice(), b" }"].concat()),
        }
    }

    fn bytes(&self) -> usize {
        size_of::<Members>() + self.out.as_ref().map_or(0, Vec::capacity)
    }
}
