//! Types' names as PostgreSQL prints them (`format_type`): SQL's own words for the common ones, with the modifier.

use crate::builtin;
use crate::text::quote;

/// SQL's words for a type, with what its modifier says; none where the catalog's name is the word.
fn sql_name(oid: u32, typmod: Option<i32>) -> Option<String> {
    // Given explicitly, "no modifier" hides that a character type has a default length.
    let modified = typmod.filter(|&modifier| modifier >= 0);
    let length = |word: &str| {
        modified.map_or_else(|| word.to_owned(), |modifier| format!("{word}({})", modifier - 4))
    };
    let precision = |word: &str, behind: &str| match modified {
        Some(precision) => format!("{word}({precision}){behind}"),
        None => format!("{word}{behind}"),
    };
    Some(match oid {
        16 => "boolean".to_owned(),
        18 => "\"char\"".to_owned(),
        20 => "bigint".to_owned(),
        21 => "smallint".to_owned(),
        23 => "integer".to_owned(),
        700 => "real".to_owned(),
        701 => "double precision".to_owned(),
        1042 => match typmod {
            Some(-1) => "bpchar".to_owned(),
            _ => length("character"),
        },
        1043 => length("character varying"),
        1083 => precision("time", " without time zone"),
        1114 => precision("timestamp", " without time zone"),
        1184 => precision("timestamp", " with time zone"),
        1266 => precision("time", " with time zone"),
        1186 => interval(modified),
        // `bit` alone is `bit(1)`; without a length it is written as the name of the type.
        1560 => match typmod {
            Some(-1) => "\"bit\"".to_owned(),
            _ => modified.map_or_else(|| "bit".to_owned(), |bits| format!("bit({bits})")),
        },
        1562 => {
            modified.map_or_else(|| "bit varying".to_owned(), |bits| format!("bit varying({bits})"))
        }
        1700 => modified.map_or_else(
            || "numeric".to_owned(),
            |modifier| {
                let bits = modifier - 4;
                // The scale is 11 bits with a sign.
                let scale = ((bits & 0x7FF) ^ 1024) - 1024;
                format!("numeric({},{scale})", bits >> 16 & 0xFFFF)
            },
        ),
        _ => return None,
    })
}

/// Whether SQL has a word of its own for a type.
#[must_use]
pub fn is_sql_word(oid: u32) -> bool {
    sql_name(oid, None).is_some()
}

/// An interval's fields and precision.
fn interval(modifier: Option<i32>) -> String {
    let Some(modifier) = modifier else { return "interval".to_owned() };
    let (fields, precision) = (modifier >> 16 & 0x7FFF, modifier & 0xFFFF);
    let (year, month, day, hour, minute, second) = (4, 2, 8, 1024, 2048, 4096);
    let words = match fields {
        f if f == year => " year",
        f if f == month => " month",
        f if f == day => " day",
        f if f == hour => " hour",
        f if f == minute => " minute",
        f if f == second => " second",
        f if f == year | month => " year to month",
        f if f == day | hour => " day to hour",
        f if f == day | hour | minute => " day to minute",
        f if f == day | hour | minute | second => " day to second",
        f if f == hour | minute => " hour to minute",
        f if f == hour | minute | second => " hour to second",
        f if f == minute | second => " minute to second",
        _ => "",
    };
    if precision == 0xFFFF {
        format!("interval{words}")
    } else {
        format!("interval{words}({precision})")
    }
}

/// `format_type(oid, typmod)`; no modifier is NULL there. Built-in types only: `???` for others, `-` for 0.
#[must_use]
pub fn format_type(oid: u32, typmod: Option<i32>) -> String {
    if oid == 0 {
        return "-".to_owned();
    }
    let Some(ty) = builtin::type_by_oid(oid) else { return "???".to_owned() };
    // int2vector and oidvector are arrays in their own right.
    if ty.element != 0 && ty.length == -1 && ty.storage != 'p' {
        return format!("{}[]", format_type(ty.element, typmod));
    }
    if let Some(name) = sql_name(oid, typmod) {
        return name;
    }
    let name = quote::identifier(ty.name);
    // Where an extension is, its database says.
    let name = if matches!(ty.namespace, 0 | builtin::PG_CATALOG) {
        name
    } else {
        format!("information_schema.{name}")
    };
    match typmod {
        Some(modifier) if modifier >= 0 && ty.modifier_out != 0 => format!("{name}({modifier})"),
        _ => name,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each of these was asked of PostgreSQL 15.20.
    #[test]
    fn types_are_named_as_postgresql_names_them() {
        for (oid, typmod, name) in [
            (23, Some(-1), "integer"),
            (1043, Some(14), "character varying(10)"),
            (1042, Some(26), "character(22)"),
            (1042, Some(-1), "bpchar"),
            (1042, None, "character"),
            (1700, Some(655_366), "numeric(10,2)"),
            (1184, Some(3), "timestamp(3) with time zone"),
            (1186, Some(-1), "interval"),
            (1007, Some(-1), "integer[]"),
            (1015, Some(14), "character varying(10)[]"),
            (22, Some(-1), "int2vector"),
            (18, Some(-1), "\"char\""),
            (1560, Some(-1), "\"bit\""),
            (1560, None, "bit"),
            (1560, Some(3), "bit(3)"),
            (2276, None, "\"any\""),
            (19, Some(-1), "name"),
            (2281, None, "internal"),
            (0, None, "-"),
            (99_999, None, "???"),
        ] {
            assert_eq!(format_type(oid, typmod), name, "{oid} {typmod:?}");
        }
    }
}
