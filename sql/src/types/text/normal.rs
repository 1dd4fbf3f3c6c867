//! Unicode's normal forms: `normalize`, `IS NORMALIZED`.

use crate::error::Result;
use crate::types::failure::invalid_parameter;
use crate::types::function::Callable::{self, Plain};
use crate::types::{CallContext, Datum};
use unicode_normalization::{UnicodeNormalization, is_nfc, is_nfd, is_nfkc, is_nfkd};

/// By OID.
pub(crate) const FUNCTIONS: &[(u32, Callable)] =
    &[(4350, Plain(normalize)), (4351, Plain(is_normalized))];

/// A normal form.
enum Form {
    Nfc,
    Nfd,
    Nfkc,
    Nfkd,
}

impl Form {
    fn named(name: &str) -> Result<Form> {
        Ok(match name.to_ascii_uppercase().as_str() {
            "NFC" => Form::Nfc,
            "NFD" => Form::Nfd,
            "NFKC" => Form::Nfkc,
            "NFKD" => Form::Nfkd,
            _ => return Err(invalid_parameter(format!("invalid normalization form: {name}"))),
        })
    }
}

fn normalize<'a>(context: &CallContext<'a>, a: &[Datum<'a>]) -> Result<Datum<'a>> {
    let text = a[0].text();
    let form = Form::named(a[1].text())?;
    if text.is_ascii() {
        return Ok(a[0]);
    }
    let arena = context.arena;
    let made = match form {
        Form::Nfc => bumpalo::collections::String::from_iter_in(text.nfc(), arena),
        Form::Nfd => bumpalo::collections::String::from_iter_in(text.nfd(), arena),
        Form::Nfkc => bumpalo::collections::String::from_iter_in(text.nfkc(), arena),
        Form::Nfkd => bumpalo::collections::String::from_iter_in(text.nfkd(), arena),
    };
    super::finished(made)
}

fn is_normalized<'a>(_: &CallContext<'a>, a: &[Datum<'a>]) -> Result<Datum<'a>> {
    let text = a[0].text();
    Ok(Datum::Bool(match Form::named(a[1].text())? {
        Form::Nfc => is_nfc(text),
        Form::Nfd => is_nfd(text),
        Form::Nfkc => is_nfkc(text),
        Form::Nfkd => is_nfkd(text),
    }))
}
