//! The encodings that PostgreSQL knows (`encnames.c`). Atoll keeps UTF8 and converts none of the others.

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

/// Other names, without what is no letter or digit.
const OTHER_NAMES: &[(&str, &str)] = &[
    ("abc", "win1258"),
    ("alt", "win866"),
    ("iso88591", "latin1"),
    ("iso885910", "latin6"),
    ("iso885913", "latin7"),
    ("iso885914", "latin8"),
    ("iso885915", "latin9"),
    ("iso885916", "latin10"),
    ("iso88592", "latin2"),
    ("iso88593", "latin3"),
    ("iso88594", "latin4"),
    ("iso88599", "latin5"),
    ("koi8", "koi8r"),
    ("mskanji", "sjis"),
    ("shiftjis", "sjis"),
    ("tcvn", "win1258"),
    ("tcvn5712", "win1258"),
    ("unicode", "utf8"),
    ("vscii", "win1258"),
    ("win", "win1251"),
    ("win932", "sjis"),
    ("win936", "gbk"),
    ("win949", "uhc"),
    ("win950", "big5"),
    ("windows932", "sjis"),
    ("windows936", "gbk"),
    ("windows949", "uhc"),
    ("windows950", "big5"),
];

/// The number of the encoding that a name stands for. Capitals and what is no letter or digit do not count.
#[must_use]
pub fn encoding_number(name: &str) -> Option<usize> {
    let bare = |name: &str| -> String {
        let letters = name.chars().filter(char::is_ascii_alphanumeric);
        letters.collect::<String>().to_ascii_lowercase()
    };
    let mut wanted = bare(name);
    if let Some((_, other)) = OTHER_NAMES.iter().find(|(known, _)| *known == wanted) {
        wanted = (*other).to_owned();
    } else if let Some(page) = wanted.strip_prefix("windows") {
        wanted = format!("win{page}");
    }
    ENCODINGS.iter().position(|name| bare(name) == wanted)
}

/// The same by the name that PostgreSQL shows.
#[must_use]
pub fn encoding_named(text: &str) -> Option<&'static str> {
    encoding_number(text).map(|number| ENCODINGS[number])
}
