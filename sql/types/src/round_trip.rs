//! Property tests over all types: text and binary forms round trip, and no bytes whatever make a reader panic.

use super::no_session::with_context;
use super::{
    CallContext, Datum, Form, Interval, SqlType, array, compare, copy_to_arena, datetime, form,
    numeric, oids, read_binary, read_text, stored, write_binary, write_text,
};
use crate::builtin;
use crate::literal::Literal;
use proptest::prelude::*;
use std::sync::Arc;

/// A value with its type's OID.
fn value() -> impl Strategy<Value = (u32, Literal)> {
    let timestamps = datetime::calendar::TIMESTAMP_MIN..datetime::calendar::TIMESTAMP_END;
    let dates = -2_451_545i32..2_145_031_949;
    prop_oneof![
        any::<bool>().prop_map(|v| (oids::BOOL, Literal::Bool(v))),
        any::<i16>().prop_map(|v| (oids::INT2, Literal::Int2(v))),
        any::<i32>().prop_map(|v| (oids::INT4, Literal::Int4(v))),
        any::<i64>().prop_map(|v| (oids::INT8, Literal::Int8(v))),
        any::<u32>().prop_map(|v| (oids::OID, Literal::Oid(v))),
        any::<i64>().prop_map(|v| (oids::PG_LSN, Literal::Int8(v))),
        any::<i64>().prop_map(|v| (oids::XID8, Literal::Int8(v))),
        any::<f32>().prop_map(|v| (oids::FLOAT4, Literal::Float4(v))),
        any::<f64>().prop_map(|v| (oids::FLOAT8, Literal::Float8(v))),
        any::<u8>().prop_map(|v| (oids::CHAR, Literal::Char(v))),
        "[^\\x00]{0,20}".prop_map(|v| (oids::TEXT, Literal::Text(Arc::from(v)))),
        any::<Vec<u8>>().prop_map(|v| (oids::BYTEA, Literal::Bytea(Arc::from(v)))),
        dates.prop_map(|v| (oids::DATE, Literal::Date(v))),
        (0i64..=datetime::DAY).prop_map(|v| (oids::TIME, Literal::Time(v))),
        timestamps.clone().prop_map(|v| (oids::TIMESTAMP, Literal::Timestamp(v))),
        timestamps.prop_map(|v| (oids::TIMESTAMPTZ, Literal::TimestampTz(v))),
        any::<(i32, i32, i32)>().prop_map(|(months, days, micros)| {
            let interval = Interval { months, days, micros: i64::from(micros) };
            (oids::INTERVAL, Literal::Interval(interval))
        }),
        any::<[u8; 16]>().prop_map(|v| (oids::UUID, Literal::Uuid(v))),
        "-?[0-9]{1,30}(\\.[0-9]{1,12})?|NaN|Infinity".prop_map(|text| {
            let number = numeric::text::read(&text, -1).expect("a number");
            (oids::NUMERIC, Literal::Numeric(Arc::from(number.store(&bumpalo::Bump::new()))))
        }),
    ]
}

/// Both forms give the value back.
fn check(context: &CallContext<'_>, ty: SqlType, datum: &Datum<'_>) {
    let (mut text, mut binary) = (Vec::new(), Vec::new());
    write_text(context, ty, datum, &mut text).expect("it has a text");
    write_binary(context, ty, datum, &mut binary).expect("it has a binary form");
    let text = std::str::from_utf8(&text).expect("texts are UTF-8");
    let from_text = read_text(context, ty, text).expect("its own text");
    let binary = context.arena.alloc_slice_copy(&binary);
    let from_binary = read_binary(context, ty, binary).expect("its own binary form");
    for back in [from_text, from_binary] {
        assert!(compare(ty.oid.0, &back, datum).is_eq(), "{ty:?} {text} {back:?}");
    }
    let mut again = Vec::new();
    write_text(context, ty, &from_binary, &mut again).expect("it has a text");
    assert_eq!(text.as_bytes(), again);
}

/// Texts that look like values, and texts that do not.
fn texts() -> impl Strategy<Value = String> {
    prop_oneof!["[-+0-9.:, eE{}\"/()\\\\ \\[\\]=NULLa-z]{0,24}", "\\PC{0,16}"]
}

proptest! {
    #[test]
    fn forms_round_trip((oid, literal) in value()) {
        with_context(|context| {
            let datum = literal.datum();
            check(context, SqlType::plain(oid), &datum);
            prop_assert_eq!(format!("{:?}", Literal::of(&copy_to_arena(context, &datum))), format!("{literal:?}"));
            let mut bytes = Vec::new();
            stored::write(&datum, &mut bytes);
            let bytes = context.arena.alloc_slice_copy(&bytes);
            let back = stored::read(context.arena, oid, bytes).expect("its own bytes");
            prop_assert!(compare(oid, &back, &datum).is_eq());
            Ok(())
        })?;
    }

    #[test]
    fn arrays_round_trip((oid, literal) in value(), nulls in proptest::collection::vec(any::<bool>(), 0..6), lower in -3i32..3) {
        with_context(|context| {
            let mut builder = array::Builder::new(oid);
            for null in &nulls {
                builder.push(&if *null { Datum::Null } else { literal.datum() });
            }
            let dimensions = [array::Dimension { length: nulls.len() as i32, lower }];
            let stored = Datum::Array(builder.store(context.arena, &dimensions));
            check(context, SqlType::plain(builtin::array_type(oid)), &stored);
        });
    }

    #[test]
    fn readers_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..40), text in texts()) {
        with_context(|context| {
            for ty in builtin::types() {
                if form(ty.oid) == Form::Unsupported {
                    continue;
                }
                let ty = SqlType::plain(ty.oid);
                let bytes = context.arena.alloc_slice_copy(&bytes);
                if let Ok(datum) = read_binary(context, ty, bytes) {
                    let mut out = Vec::new();
                    let _ = write_text(context, ty, &datum, &mut out);
                }
                if let Ok(datum) = read_text(context, ty, &text) {
                    let mut out = Vec::new();
                    let _ = write_binary(context, ty, &datum, &mut out);
                }
                let _ = stored::read(context.arena, ty.oid.0, bytes);
            }
        });
    }
}
