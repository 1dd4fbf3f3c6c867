//! Set-returning functions of the catalog: access control lists in rows, what the session listens to, and those about objects
//! of which there are none.

use super::privileges::parse_item;
use crate::catalog::acl::PRIVILEGES;
use crate::catalog::quote::identifier;
use crate::error::Result;
use crate::parse::keyword::{Category, Keyword};
use crate::types::function::{Callable, Signature};
use crate::types::{CallContext, Datum, oids};

/// By `pg_proc` OID.
pub const FUNCTIONS: &[(u32, Callable)] = &[
    // pg_partition_ancestors: a table that is neither partitioned nor a partition has none.
    (3425, Callable::Set(nothing)),
    // pg_get_keywords
    (1686, Callable::Set(keywords)),
    // pg_options_to_table
    (2289, Callable::Set(options)),
    // aclexplode
    (1689, Callable::Set(explode)),
    (LISTENING, Callable::Set(listening)),
];

/// `pg_listening_channels`.
pub(super) const LISTENING: u32 = 3035;

fn listening<'a>(
    context: &CallContext<'a>,
    _: &Signature<'_>,
    _: &[Datum<'a>],
    each: &mut dyn FnMut(&[Datum<'a>]) -> Result<bool>,
) -> Result<()> {
    let Some(Datum::Text(all)) = context.catalog.call(context, LISTENING, &[]).transpose()? else {
        return Ok(());
    };
    for channel in all.split_terminator('\0') {
        if !each(&[Datum::Text(channel)])? {
            break;
        }
    }
    Ok(())
}

/// A row for each word that the grammar knows.
fn keywords<'a>(
    _: &CallContext<'a>,
    _: &Signature<'_>,
    _: &[Datum<'a>],
    emit: &mut dyn FnMut(&[Datum<'a>]) -> Result<bool>,
) -> Result<()> {
    for keyword in Keyword::all() {
        let (letter, category) = match keyword.category() {
            Category::Unreserved => (b'U', "unreserved"),
            Category::ColumnName => (b'C', "unreserved (cannot be function or type name)"),
            Category::TypeOrFunctionName => (b'T', "reserved (can be function or type name)"),
            Category::Reserved => (b'R', "reserved"),
        };
        let bare = keyword.is_bare_label();
        let row = [
            Datum::Text(keyword.word()),
            Datum::Char(letter),
            Datum::Bool(bare),
            Datum::Text(category),
            Datum::Text(if bare { "can be bare label" } else { "requires AS" }),
        ];
        if !emit(&row)? {
            break;
        }
    }
    Ok(())
}

fn nothing<'a>(
    _: &CallContext<'a>,
    _: &Signature<'_>,
    _: &[Datum<'a>],
    _: &mut dyn FnMut(&[Datum<'a>]) -> Result<bool>,
) -> Result<()> {
    Ok(())
}

/// A row for each privilege of a list: grantor, grantee, privilege, whether it may be passed on.
fn explode<'a>(
    context: &CallContext<'a>,
    _: &Signature<'_>,
    arguments: &[Datum<'a>],
    emit: &mut dyn FnMut(&[Datum<'a>]) -> Result<bool>,
) -> Result<()> {
    let role = |name: &str| match name {
        "" => Ok(0),
        _ => name.parse().or_else(|_| context.catalog.reg_in(oids::REGROLE, &identifier(name))),
    };
    for item in arguments[0].array().datums(context.arena) {
        let Datum::Text(text) = item? else { continue };
        let Some((grantee, privileges, options, grantor)) = parse_item(text) else { continue };
        let (grantee, grantor) = (role(grantee)?, role(grantor)?);
        for (privilege, _, word) in PRIVILEGES {
            if privileges.contains(privilege) {
                let row = [
                    Datum::Oid(grantor),
                    Datum::Oid(grantee),
                    Datum::Text(word),
                    Datum::Bool(options.contains(privilege)),
                ];
                if !emit(&row)? {
                    return Ok(());
                }
            }
        }
    }
    Ok(())
}

/// A row for each of a list of `name=value`; one without `=` has no value.
fn options<'a>(
    context: &CallContext<'a>,
    _: &Signature<'_>,
    arguments: &[Datum<'a>],
    emit: &mut dyn FnMut(&[Datum<'a>]) -> Result<bool>,
) -> Result<()> {
    for item in arguments[0].array().datums(context.arena) {
        let Datum::Text(text) = item? else { continue };
        let row = match text.split_once('=') {
            Some((name, value)) => [Datum::Text(name), Datum::Text(value)],
            None => [Datum::Text(text), Datum::Null],
        };
        if !emit(&row)? {
            break;
        }
    }
    Ok(())
}
