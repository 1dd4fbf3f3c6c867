//! Which [`super::Datum`] holds a type's values.

use super::oids;
use crate::builtin::{self, TypeKind};
use crate::contrib::contrib_type;

/// How the values of a type are held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// [`super::Datum::Bool`]
    Bool,
    /// [`super::Datum::Char`]
    Char,
    /// [`super::Datum::Int2`]
    Int2,
    /// [`super::Datum::Int4`]
    Int4,
    /// [`super::Datum::Int8`]
    Int8,
    /// [`super::Datum::Int8`], with a text form of its own: `16/B374D848`.
    Lsn,
    /// [`super::Datum::Int8`], unsigned.
    Xid8,
    /// [`super::Datum::Int8`], 32 bits of block above 16 bits of offset: `(0,1)`.
    Tid,
    /// [`super::Datum::Oid`]: oid, xid, cid.
    Oid,
    /// [`super::Datum::Oid`], shown as the name of what it is.
    Reg,
    /// [`super::Datum::Float4`]
    Float4,
    /// [`super::Datum::Float8`]
    Float8,
    /// [`super::Datum::Numeric`]
    Numeric,
    /// [`super::Datum::Text`]
    Text,
    /// [`super::Datum::Bytea`]
    Bytea,
    /// [`super::Datum::Date`]
    Date,
    /// [`super::Datum::Time`]
    Time,
    /// [`super::Datum::TimeTz`]
    TimeTz,
    /// [`super::Datum::Timestamp`]
    Timestamp,
    /// [`super::Datum::TimestampTz`]
    TimestampTz,
    /// [`super::Datum::Interval`]
    Interval,
    /// [`super::Datum::Uuid`]
    Uuid,
    /// [`super::Datum::Bytea`]: see `network`.
    Inet,
    /// [`super::Datum::Bytea`]: an inet without host bits.
    Cidr,
    /// [`super::Datum::Bytea`]: see `bits`.
    Bits {
        /// Whether a modifier says how many bits there are at most, not how many there are.
        varying: bool,
    },
    /// [`super::Datum::Array`] of this element type.
    Array(u32),
    /// [`super::Datum::Record`]
    Record,
    /// [`super::Datum::Int8`]: the place of a label among those of its type.
    Enum,
    /// [`super::Datum::Jsonb`]
    Jsonb,
    /// [`super::Datum::Bytea`]: see `xact`.
    Snapshot,
    /// [`super::Datum::Bytea`]: see `jsonpath`.
    JsonPath,
    /// [`super::Datum::Bytea`]: of an extension, see `contrib`.
    Contrib,
    /// Always shown as nothing; held as NULL or an empty text.
    Void,
    /// Values of this type cannot be held yet.
    Unsupported,
}

impl Form {
    /// Whether all its values have the same number of stored bytes.
    #[must_use]
    pub fn is_fixed(self) -> bool {
        !matches!(
            self,
            Form::Numeric
                | Form::Text
                | Form::Bytea
                | Form::Inet
                | Form::Cidr
                | Form::Bits { .. }
                | Form::Array(_)
                | Form::Record
                | Form::Jsonb
                | Form::Snapshot
                | Form::JsonPath
                | Form::Contrib
                | Form::Void
                | Form::Unsupported
        )
    }
}

/// How the values of the type with this OID are held. A domain's are held as its base type's.
#[must_use]
pub fn form(oid: u32) -> Form {
    match oid {
        oids::BOOL => Form::Bool,
        oids::CHAR => Form::Char,
        oids::INT2 => Form::Int2,
        oids::INT4 => Form::Int4,
        oids::INT8 => Form::Int8,
        oids::PG_LSN => Form::Lsn,
        oids::XID8 => Form::Xid8,
        oids::TID => Form::Tid,
        oids::OID | oids::XID | oids::CID => Form::Oid,
        oids::REGPROC
        | oids::REGPROCEDURE
        | oids::REGOPER
        | oids::REGOPERATOR
        | oids::REGCLASS
        | oids::REGTYPE
        | oids::REGCONFIG
        | oids::REGDICTIONARY
        | oids::REGNAMESPACE
        | oids::REGROLE
        | oids::REGCOLLATION => Form::Reg,
        oids::FLOAT4 => Form::Float4,
        oids::FLOAT8 => Form::Float8,
        oids::NUMERIC => Form::Numeric,
        oids::TEXT
        | oids::VARCHAR
        | oids::BPCHAR
        | oids::NAME
        | oids::UNKNOWN
        | oids::CSTRING
        | oids::JSON
        | oids::XML
        | oids::PG_NODE_TREE
        | oids::ACLITEM
        | oids::CITEXT
        | oids::REFCURSOR => Form::Text,
        oids::BYTEA => Form::Bytea,
        oids::DATE => Form::Date,
        oids::TIME => Form::Time,
        oids::TIMETZ => Form::TimeTz,
        oids::TIMESTAMP => Form::Timestamp,
        oids::TIMESTAMPTZ => Form::TimestampTz,
        oids::INTERVAL => Form::Interval,
        oids::UUID => Form::Uuid,
        oids::INET => Form::Inet,
        oids::CIDR => Form::Cidr,
        oids::BIT => Form::Bits { varying: false },
        oids::VARBIT => Form::Bits { varying: true },
        oids::JSONB => Form::Jsonb,
        oids::JSONPATH => Form::JsonPath,
        oids::PG_SNAPSHOT | oids::TXID_SNAPSHOT => Form::Snapshot,
        oids::RECORD => Form::Record,
        oids::RECORD_ARRAY => Form::Array(oids::RECORD),
        oids::VOID => Form::Void,
        // The statistics' columns are of this pseudo-type; values of it say themselves what they are arrays of.
        oids::ANYARRAY => Form::Array(oids::TEXT),
        oids::INT2VECTOR => Form::Array(oids::INT2),
        oids::OIDVECTOR => Form::Array(oids::OID),
        other => looked_up(other),
    }
}

fn looked_up(oid: u32) -> Form {
    let Some(ty) = builtin::type_by_oid(oid) else {
        if builtin::is_domain(oid) {
            return form(builtin::stand_in(oid));
        }
        return match builtin::element_of_made(oid) {
            Some(element) => Form::Array(element),
            None if builtin::is_enum(oid) => Form::Enum,
            None => Form::Record,
        };
    };
    match ty.kind {
        TypeKind::Domain => form(ty.base),
        TypeKind::Composite => Form::Record,
        TypeKind::Base if contrib_type(oid).is_some() => Form::Contrib,
        TypeKind::Base if ty.is_array() => match form(ty.element) {
            Form::Unsupported => Form::Unsupported,
            _ => Form::Array(ty.element),
        },
        _ => Form::Unsupported,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrays_and_domains_are_held_by_what_they_are_over() {
        assert_eq!(form(1231), Form::Array(oids::NUMERIC));
        let cardinal =
            builtin::types().iter().find(|ty| ty.name == "cardinal_number").expect("a domain");
        assert_eq!(form(cardinal.oid), Form::Int4);
        assert_eq!(form(600), Form::Unsupported, "point");
    }
}
