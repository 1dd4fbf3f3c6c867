//! The encodings that PostgreSQL knows. Atoll keeps UTF8 and converts none of the others.

/// Their names as PostgreSQL shows them, by its numbers.
pub const ENCODINGS: [&str; 42] = [
    "SQL_ASCII",
    "EUC_JP",
    "EUC_CN",
    "EUC_KR",
    "EUC_TW",
    "EUC_JIS_2004",
    "UTF8",
    "MULE_INTERNAL",
    "LATIN1",
    "LATIN2",
    "LATIN3",
    "LATIN4",
    "LATIN5",
    "LATIN6",
    "LATIN7",
    "LATIN8",
    "LATIN9",
    "LATIN10",
    "WIN1256",
    "WIN1258",
    "WIN866",
    "WIN874",
    "KOI8R",
    "WIN1251",
    "WIN1252",
    "ISO_8859_5",
    "ISO_8859_6",
    "ISO_8859_7",
    "ISO_8859_8",
    "WIN1250",
    "WIN1253",
    "WIN1254",
    "WIN1255",
    "WIN1257",
    "KOI8U",
    "SJIS",
    "BIG5",
    "GBK",
    "UHC",
    "GB18030",
    "JOHAB",
    "SHIFT_JIS_2004",
];

/// The number of the encoding that a text names, whatever stands between its letters; none if there is none.
#[must_use]
pub fn encoding_number(text: &str) -> Option<usize> {
    let bare = |name: &str| -> String {
        name.chars().filter(char::is_ascii_alphanumeric).collect::<String>().to_ascii_lowercase()
    };
    let wanted = bare(text);
    let wanted = if wanted == "unicode" { "utf8".to_owned() } else { wanted };
    ENCODINGS.iter().position(|name| bare(name) == wanted)
}

/// The same by the name that PostgreSQL shows.
#[must_use]
pub fn encoding_named(text: &str) -> Option<&'static str> {
    encoding_number(text).map(|number| ENCODINGS[number])
}
