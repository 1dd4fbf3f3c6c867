//! The comparison operators of all types, by `pg_proc` OID.
//!
//! One line a family: its functions for =, <>, <, <=, >, >= and the three-way comparison (0 where there is none), and how its
//! two arguments are compared. Ints, floats and dates of different types are compared as their wider one.

use super::datetime::{arithmetic, zone};
use super::function::Callable::{self, Plain};
use super::order::{compare, compare_floats, without_blanks};
use super::{CallContext, Datum, datetime, oids};
use crate::error::Result;
use std::cmp::Ordering;

type Compare = fn(&CallContext<'_>, &Datum<'_>, &Datum<'_>) -> Ordering;

macro_rules! families {
    ($($compare:expr => $([$eq:literal $ne:literal $lt:literal $le:literal $gt:literal $ge:literal $cmp:literal])*;)*) => {
        /// By OID.
        pub(crate) const FUNCTIONS: &[(u32, Callable)] = &[$($(
            ($eq, Plain(|c, a| { const F: Compare = $compare; Ok(Datum::Bool(F(c, &a[0], &a[1]).is_eq())) })),
            ($ne, Plain(|c, a| { const F: Compare = $compare; Ok(Datum::Bool(F(c, &a[0], &a[1]).is_ne())) })),
            ($lt, Plain(|c, a| { const F: Compare = $compare; Ok(Datum::Bool(F(c, &a[0], &a[1]).is_lt())) })),
            ($le, Plain(|c, a| { const F: Compare = $compare; Ok(Datum::Bool(F(c, &a[0], &a[1]).is_le())) })),
            ($gt, Plain(|c, a| { const F: Compare = $compare; Ok(Datum::Bool(F(c, &a[0], &a[1]).is_gt())) })),
            ($ge, Plain(|c, a| { const F: Compare = $compare; Ok(Datum::Bool(F(c, &a[0], &a[1]).is_ge())) })),
            ($cmp, Plain(|c, a| { const F: Compare = $compare; Ok(Datum::Int4(F(c, &a[0], &a[1]) as i32)) })),
        )*)*];
    };
}

families! {
    |_, a, b| a.int4().cmp(&b.int4()) => [65 144 66 149 147 150 351];
    |_, a, b| a.int8().cmp(&b.int8()) => [467 468 469 471 470 472 842];
    |_, a, b| wide(a).cmp(&wide(b)) =>
        [63 145 64 148 146 151 350] [158 164 160 166 162 168 2190] [159 165 161 167 163 169 2191]
        [474 475 476 478 477 479 2189] [852 853 854 856 855 857 2188]
        [1850 1851 1852 1854 1853 1855 2192] [1856 1857 1858 1860 1859 1861 2193];
    |_, a, b| a.oid().cmp(&b.oid()) => [184 185 716 717 1638 1639 356];
    |_, a, b| a.bool().cmp(&b.bool()) => [60 84 56 1691 57 1692 1693];
    |_, a, b| a.char().cmp(&b.char()) => [61 70 1246 72 73 74 358];
    |_, a, b| a.text().as_bytes().cmp(b.text().as_bytes()) =>
        [67 157 740 741 742 743 360] [62 659 655 656 657 658 359] [240 245 241 242 244 243 246]
        [247 252 248 249 251 250 253];
    |_, a, b| without_blanks(a.text()).as_bytes().cmp(without_blanks(b.text()).as_bytes()) =>
        [1048 1053 1049 1050 1051 1052 1078];
    |_, a, b| a.bytea().cmp(b.bytea()) =>
        [1948 1953 1949 1950 1951 1952 1954] [920 925 921 922 923 924 926]
        [1581 1582 1595 1594 1593 1592 1596] [1666 1667 1671 1670 1669 1668 1672];
    |_, a, b| a.uuid().cmp(b.uuid()) => [2956 2959 2954 2955 2958 2957 2960];
    |_, a, b| compare_floats(float(a), float(b)) =>
        [287 288 289 290 291 292 354] [293 294 295 296 297 298 355] [299 300 301 302 303 304 2194]
        [305 306 307 308 309 310 2195];
    |_, a, b| a.date().cmp(&b.date()) => [1086 1091 1087 1088 1089 1090 1092];
    |_, a, b| a.time().cmp(&b.time()) => [1145 1106 1102 1103 1104 1105 1107];
    |_, a, b| a.timetz().place().cmp(&b.timetz().place()) => [1352 1353 1354 1355 1357 1356 1358];
    |_, a, b| a.timestamp().cmp(&b.timestamp()) => [2052 2053 2054 2055 2057 2056 2045];
    |_, a, b| a.timestamptz().cmp(&b.timestamptz()) => [1152 1153 1154 1155 1157 1156 1314];
    |_, a, b| compare(oids::INTERVAL, a, b) => [1162 1163 1164 1165 1167 1166 1315];
    |_, a, b| day(a).cmp(&moment(b.timestamp())) => [2340 2343 2338 2339 2341 2342 2344];
    |_, a, b| moment(a.timestamp()).cmp(&day(b)) => [2366 2369 2364 2365 2367 2368 2370];
    |c, a, b| zoned(c, day(a)).cmp(&moment(b.timestamptz())) => [2353 2356 2351 2352 2354 2355 2357];
    |c, a, b| moment(a.timestamptz()).cmp(&zoned(c, day(b))) => [2379 2382 2377 2378 2380 2381 2383];
    |c, a, b| zoned(c, i128::from(a.timestamp())).cmp(&i128::from(b.timestamptz())) =>
        [2522 2525 2520 2521 2523 2524 2526];
    |c, a, b| i128::from(a.timestamptz()).cmp(&zoned(c, i128::from(b.timestamp()))) =>
        [2529 2532 2527 2528 2530 2531 2533];
    |_, a, b| compare(oids::PG_LSN, a, b) => [3233 3236 3231 3232 3235 3234 3251];
    |_, a, b| compare(oids::XID8, a, b) => [5084 5085 5034 5036 5035 5037 5096];
    |_, a, b| compare(oids::TID, a, b) => [1292 1265 2791 2793 2790 2792 2794];
    |_, a, b| compare(oids::ANYARRAY, a, b) =>
        [679 619 677 678 681 680 404];
    |_, a, b| a.int8().cmp(&b.int8()) => [3508 3509 3510 3512 3511 3513 3514];
    |_, a, b| compare(oids::JSONB, a, b) => [4043 4038 4039 4041 4040 4042 4044];
}

/// Equality only, and the pattern operator classes (the order is by bytes anyway), larger and smaller.
pub(crate) const MORE: &[(u32, Callable)] = &[
    (68, Plain(|_, a| Ok(Datum::Bool(a[0].oid() == a[1].oid())))),
    (69, Plain(|_, a| Ok(Datum::Bool(a[0].oid() == a[1].oid())))),
    (3308, Plain(|_, a| Ok(Datum::Bool(a[0].oid() != a[1].oid())))),
    (1319, Plain(|_, a| Ok(Datum::Bool(a[0].oid() == a[1].int4() as u32)))),
    (3309, Plain(|_, a| Ok(Datum::Bool(a[0].oid() != a[1].int4() as u32)))),
    (2160, Plain(|_, a| Ok(Datum::Bool(a[0].text().as_bytes() < a[1].text().as_bytes())))),
    (2161, Plain(|_, a| Ok(Datum::Bool(a[0].text().as_bytes() <= a[1].text().as_bytes())))),
    (2163, Plain(|_, a| Ok(Datum::Bool(a[0].text().as_bytes() >= a[1].text().as_bytes())))),
    (2164, Plain(|_, a| Ok(Datum::Bool(a[0].text().as_bytes() > a[1].text().as_bytes())))),
    (2174, Plain(|_, a| Ok(Datum::Bool(compare(oids::BPCHAR, &a[0], &a[1]).is_lt())))),
    (2175, Plain(|_, a| Ok(Datum::Bool(compare(oids::BPCHAR, &a[0], &a[1]).is_le())))),
    (2177, Plain(|_, a| Ok(Datum::Bool(compare(oids::BPCHAR, &a[0], &a[1]).is_ge())))),
    (2178, Plain(|_, a| Ok(Datum::Bool(compare(oids::BPCHAR, &a[0], &a[1]).is_gt())))),
    (768, Plain(larger)),
    (769, Plain(smaller)),
    (770, Plain(larger)),
    (771, Plain(smaller)),
    (209, Plain(larger)),
    (211, Plain(smaller)),
    (223, Plain(larger)),
    (224, Plain(smaller)),
    (458, Plain(larger)),
    (459, Plain(smaller)),
    (1063, Plain(|_, a| Ok(if compare(oids::BPCHAR, &a[0], &a[1]).is_ge() { a[0] } else { a[1] }))),
    (1064, Plain(|_, a| Ok(if compare(oids::BPCHAR, &a[0], &a[1]).is_le() { a[0] } else { a[1] }))),
    (1236, Plain(larger)),
    (1237, Plain(smaller)),
    (1965, Plain(larger)),
    (1966, Plain(smaller)),
    (1138, Plain(larger)),
    (1139, Plain(smaller)),
    (1379, Plain(larger)),
    (1380, Plain(smaller)),
    (1377, Plain(larger)),
    (1378, Plain(smaller)),
    (2036, Plain(larger)),
    (2035, Plain(smaller)),
    (1196, Plain(larger)),
    (1195, Plain(smaller)),
    (1198, Plain(larger)),
    (1197, Plain(smaller)),
    (3525, Plain(larger)),
    (3524, Plain(smaller)),
    (3562, Plain(larger)),
    (3563, Plain(smaller)),
    (515, Plain(larger)),
    (516, Plain(smaller)),
];

fn larger<'a>(_: &CallContext<'a>, a: &[Datum<'a>]) -> Result<Datum<'a>> {
    Ok(if compare(0, &a[0], &a[1]).is_gt() { a[0] } else { a[1] })
}

fn smaller<'a>(_: &CallContext<'a>, a: &[Datum<'a>]) -> Result<Datum<'a>> {
    Ok(if compare(0, &a[0], &a[1]).is_lt() { a[0] } else { a[1] })
}

fn wide(datum: &Datum<'_>) -> i64 {
    match datum {
        Datum::Int2(value) => i64::from(*value),
        Datum::Int4(value) => i64::from(*value),
        other => other.int8(),
    }
}

fn float(datum: &Datum<'_>) -> f64 {
    match datum {
        Datum::Float4(value) => f64::from(*value),
        other => other.float8(),
    }
}

/// A timestamp's microseconds, its infinities beyond every date.
fn moment(timestamp: i64) -> i128 {
    match timestamp {
        i64::MIN => i128::MIN,
        i64::MAX => i128::MAX,
        micros => i128::from(micros),
    }
}

/// A date's midnight in microseconds, beyond what a timestamp can be if need be; infinities as [`moment`] has them.
fn day(datum: &Datum<'_>) -> i128 {
    match datum.date() {
        i32::MIN => i128::MIN,
        i32::MAX => i128::MAX,
        days => i128::from(days) * i128::from(datetime::DAY),
    }
}

/// A local time in the session's zone as an instant.
fn zoned(context: &CallContext<'_>, local: i128) -> i128 {
    let Ok(local) = i64::try_from(local) else { return local };
    if arithmetic::infinite(local) {
        return i128::from(local);
    }
    let zone = zone::of_session(&context.settings.time_zone);
    zone.to_utc(local).map_or(i128::from(local), i128::from)
}
