//! Every function of texts and bytes sees a cancel while it walks over a long one: all of them are called, with a cancel that
//! has been asked for, over values that no walk passes without asking.
//!
//! What ends all the same has not walked: it has looked at an end of the value, refused it, or compared and searched bytes as
//! fast as memory gives them. These are listed, with what they were given.

use crate::account::{Running, caught};
use crate::builtin::functions;
use crate::error::Result;
use crate::function::{Callable, Signature};
use crate::no_session::with_context;
use crate::sqlstate::SqlState;
use crate::{CallContext, Datum, SqlType, function, oids};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use txn::SessionWait;

/// How many bytes a long value has: some times what a walk may pass without asking.
const BYTES: usize = 2 << 20;

/// What long texts are made of.
const PIECES: [&str; 2] = ["\u{e4}", "<a/>"];

/// Functions that end all the same.
const AT_ONCE: &[&str] = &[
    // An end of the value is all that is looked at, or its length.
    "ascii",
    "bit_length",
    "btrim",
    "char",
    "get_bit",
    "get_byte",
    "length",
    "ltrim",
    "metaphone",
    "name",
    "octet_length",
    "regexp_instr",
    "rtrim",
    "soundex",
    "difference",
    "text_soundex",
    "starts_with",
    "substr",
    "substring",
    "varchar",
    // What is given is refused, or more than it may be.
    "bpchar",
    "crypt",
    "decrypt",
    "decrypt_iv",
    "digest",
    "dmetaphone",
    "dmetaphone_alt",
    "encrypt",
    "encrypt_iv",
    "gen_salt",
    "hmac",
    "levenshtein",
    "levenshtein_less_equal",
    "parse_ident",
    "pg_ls_dir",
    "pg_size_bytes",
    "dearmor",
    "pgp_armor_headers",
    "pgp_key_id",
    "pgp_pub_decrypt",
    "pgp_pub_decrypt_bytea",
    "pgp_pub_encrypt",
    "pgp_pub_encrypt_bytea",
    "pgp_sym_decrypt",
    "pgp_sym_decrypt_bytea",
    "repeat",
    "text2ltree",
    "to_ascii",
    "to_number",
    "xml_is_well_formed_document",
    // Nobody answers here.
    "gin_compare_jsonb",
    "pg_get_publication_tables",
    "pg_ls_replslotdir",
    "pg_stat_get_progress_info",
    // Bytes are compared or searched as fast as memory gives them, or the first ones decide.
    "bpchariclike",
    "bpcharicnlike",
    "bpcharlike",
    "bpcharnlike",
    "bttextcmp",
    "bttextnamecmp",
    "byteacmp",
    "byteaeq",
    "byteage",
    "byteagt",
    "byteale",
    "bytealike",
    "bytealt",
    "byteane",
    "byteanlike",
    "like",
    "normalize",
    "notlike",
    "split_part",
    "text_ge",
    "text_gt",
    "text_larger",
    "text_le",
    "text_lt",
    "text_pattern_ge",
    "text_pattern_gt",
    "text_pattern_le",
    "text_pattern_lt",
    "text_smaller",
    "texteq",
    "texteqname",
    "textgename",
    "textgtname",
    "texticlike",
    "texticnlike",
    "textlename",
    "textlike",
    "textltname",
    "textne",
    "textnename",
    "textnlike",
];

fn with_a_cancel<T>(body: impl FnOnce() -> T) -> T {
    let wait = Arc::new(SessionWait::default());
    let environment = txn::Environment {
        device: Arc::new(txn::FaultyDevice::new(1)),
        clock: Arc::new(txn::SystemClock::new()),
        scheduler: Arc::new(txn::Threads::new(1)),
        seed: 1,
    };
    environment.raise(&wait.cancel, 1);
    let running = Running::begin(&wait, u64::MAX);
    let result = body();
    drop(running);
    result
}

/// A short value beside a long one.
fn short<'a>(ty: u32, name: &str) -> Option<Datum<'a>> {
    Some(match ty {
        oids::TEXT | oids::BPCHAR | oids::VARCHAR | oids::NAME => Datum::Text(match name {
            "encode" | "decode" => "hex",
            "convert" | "convert_from" | "convert_to" | "length" | "to_ascii" => "LATIN1",
            "normalize" | "is_normalized" => "NFC",
            "pgp_sym_encrypt" | "pgp_sym_encrypt_bytea" => "s2k-mode=0",
            _ => "b",
        }),
        oids::BYTEA => Datum::Bytea(b"b"),
        oids::INT4 => Datum::Int4(2_000_000),
        oids::INT8 => Datum::Int8(2),
        oids::BOOL => Datum::Bool(true),
        _ => return None,
    })
}

fn long<'a>(ty: u32, text: &'a str) -> Option<Datum<'a>> {
    Some(match ty {
        oids::TEXT | oids::BPCHAR | oids::VARCHAR => Datum::Text(text),
        oids::BYTEA => Datum::Bytea(text.as_bytes()),
        _ => return None,
    })
}

fn called<'a>(
    context: &CallContext<'a>,
    callable: Callable,
    arguments: &[u32],
    result: u32,
    given: &[Datum<'a>],
) -> Result<()> {
    let arguments: Vec<SqlType> = arguments.iter().map(|ty| SqlType::plain(*ty)).collect();
    let signature = Signature {
        arguments: &arguments,
        result: SqlType::plain(result),
        columns: &[],
        variadic_spread: true,
    };
    match callable {
        Callable::Plain(call) => call(context, given).map(|_| ()),
        Callable::Typed(call) => call(context, &signature, given).map(|_| ()),
        Callable::Set(call) => call(context, &signature, given, &mut |_| Ok(true)),
    }
}

#[test]
fn functions_of_long_values_see_a_cancel() {
    let mut ended = Vec::new();
    for procedure in functions() {
        let Some(callable) = function(procedure.oid) else { continue };
        let types = &procedure.arguments;
        let Some((first, others)) = types.split_first() else { continue };
        for piece in PIECES {
            let text = piece.repeat(BYTES / piece.len());
            let first = std::iter::once(long(*first, &text));
            let others = others.iter().map(|ty| short(*ty, procedure.name));
            let given: Option<Vec<Datum<'_>>> = first.chain(others).collect();
            let Some(given) = given else { continue };
            let ending = with_context(|context| {
                let call = || called(context, callable, types, procedure.result, &given);
                let call =
                    || catch_unwind(AssertUnwindSafe(call)).unwrap_or_else(|why| Err(caught(why)));
                with_a_cancel(call)
            });
            if ending.err().is_none_or(|error| error.state() != SqlState::QUERY_CANCELED) {
                ended.push(procedure.name);
            }
        }
    }
    ended.sort_unstable();
    ended.dedup();
    let mut known = AT_ONCE.to_vec();
    known.sort_unstable();
    assert_eq!(ended, known);
}
