//! What PostgreSQL 15 reads from and writes to such bytes; every expectation was asked of it.

use super::{Columns, Fields, Header, Kind, LineReader, Options, csv, split, text};

/// Every line's fields, fed in portions of `portion` bytes; `∅` is NULL. An error ends the list with its message.
fn read(data: &[u8], options: &Options, portion: usize) -> Vec<String> {
    let mut reader = LineReader::new(options);
    let mut fields = Fields::default();
    let mut out = Vec::new();
    let mut portions = data.chunks(portion);
    loop {
        let portion = portions.next();
        match portion {
            Some(data) => reader.push(data).expect("short lines"),
            None => reader.close(),
        }
        loop {
            match reader.next_line() {
                Ok(None) => break,
                Ok(Some(line)) => {
                    if let Err(error) = split(line, options, &mut fields) {
                        out.push(error.fields().message.clone());
                        return out;
                    }
                    let shown: Vec<String> = (0..fields.len())
                        .map(|at| match fields.get(at) {
                            Ok(value) => value.unwrap_or("∅").to_owned(),
                            Err(error) => error.fields().message.clone(),
                        })
                        .collect();
                    out.push(shown.join("|"));
                }
                Err(error) => {
                    out.push(error.fields().message.clone());
                    return out;
                }
            }
        }
        if portion.is_none() {
            return out;
        }
    }
}

/// Reads with portions of every size: where a portion ends must not matter.
fn read_all(data: &[u8], options: &Options) -> Vec<String> {
    let whole = read(data, options, data.len().max(1));
    for portion in 1..data.len() {
        assert_eq!(read(data, options, portion), whole, "portions of {portion}");
    }
    whole
}

#[test]
fn text_fields_and_escapes() {
    let options = Options::of(Kind::Text);
    assert_eq!(
        read_all(b"1\t\\x41\\102\\n\\q\n2\ta\\\nb\n\\N\t\\\\N\n3\t\n", &options),
        ["1|AB\nq", "2|a\nb", "∅|\\N", "3|"]
    );
    assert_eq!(read_all(b"a\tb", &options), ["a|b"]);
    assert_eq!(read_all(b"", &options), Vec::<String>::new());
    assert_eq!(read_all(b"\n", &options), [""]);
    assert_eq!(read_all(b"1\t2\n\\.\n3\t4\n", &options), ["1|2"]);
    assert_eq!(read_all(b"1\t2\n3\t\\.\n", &options), ["1|2", "3|"]);
    assert_eq!(
        read_all(b"\\xff\n", &options),
        ["invalid byte sequence for encoding \"UTF8\": 0xff"]
    );
}

#[test]
fn line_ends_do_not_mix() {
    let options = Options::of(Kind::Text);
    assert_eq!(read_all(b"1\r\n2\r\n", &options), ["1", "2"]);
    assert_eq!(read_all(b"1\r2\r", &options), ["1", "2"]);
    assert_eq!(read_all(b"1\r\n2\n", &options), ["1", "literal newline found in data"]);
    assert_eq!(read_all(b"1\n2\r\n", &options), ["1", "literal carriage return found in data"]);
    assert_eq!(read_all(b"1\n\\.x\n", &options), ["1", "end-of-copy marker corrupt"]);
    let options = Options::of(Kind::Csv);
    assert_eq!(read_all(b"1\r\n2\n", &options), ["1", "unquoted newline found in data"]);
}

#[test]
fn csv_quotes() {
    let options = Options::of(Kind::Csv);
    assert_eq!(
        read_all(b"1,\"a\nb\"\n2,\"\"\n3,\n4,a\"b\"c\n\"q\"\"q\",x\n", &options),
        ["1|a\nb", "2|", "3|∅", "4|abc", "q\"q|x"]
    );
    assert_eq!(read_all(b"4,\"unterminated\n", &options), ["unterminated CSV quoted field"]);
    assert_eq!(read_all(b"1,\\.\n\\.\n2\n", &options), ["1|\\."]);
    let options = Options { escape: b'\\', ..Options::of(Kind::Csv) };
    assert_eq!(read_all(b"\"a\\\"b\\\\\",c\\d\n", &options), ["a\"b\\|c\\d"]);
    let options =
        Options { force_not_null: Columns::All, null: "x".to_owned(), ..Options::of(Kind::Csv) };
    assert_eq!(read_all(b"x,\"x\"\n", &options), ["x|x"]);
    let options =
        Options { force_null: Columns::All, null: "x".to_owned(), ..Options::of(Kind::Csv) };
    assert_eq!(read_all(b"x,\"x\"\n", &options), ["∅|∅"]);
}

#[test]
fn lines_within_quotes_are_counted() {
    let mut reader = LineReader::new(&Options::of(Kind::Csv));
    reader.push(b"a\n\"b\nc\"\nd\n").expect("short lines");
    let mut numbers = Vec::new();
    while reader.next_line().expect("plain lines").is_some() {
        numbers.push(reader.number());
    }
    assert_eq!(numbers, [1, 3, 4]);
}

#[test]
fn values_are_written_so_that_they_read_back() {
    let values = [
        "",
        "plain",
        "a,b",
        "tab\there",
        "line\nend",
        "back\\slash",
        "\"",
        "\\.",
        "\\N",
        "é\u{7f}\u{1}",
    ];
    for options in [
        Options::of(Kind::Text),
        Options::of(Kind::Csv),
        Options { delimiter: b'|', ..Options::of(Kind::Text) },
        Options { escape: b'\\', quote: b'\'', delimiter: b';', ..Options::of(Kind::Csv) },
    ] {
        for value in values {
            let mut out = Vec::new();
            if options.kind == Kind::Csv {
                csv::write(value, 0, true, &options, &mut out);
            } else {
                let from = out.len();
                out.extend_from_slice(value.as_bytes());
                text::escape(&mut out, from, &options);
            }
            out.push(b'\n');
            assert_eq!(read_all(&out, &options), [value], "{options:?}");
        }
    }
}

#[test]
fn field_counts_and_headers_are_checked() {
    let mut fields = Fields::default();
    let options = Options { header: Header::Match, ..Options::of(Kind::Csv) };
    split("a,c", &options, &mut fields).expect("two fields");
    let columns = ["a", "b"];
    let message =
        |result: crate::error::Result<()>| result.map_err(|error| error.fields().message.clone());
    assert_eq!(
        message(fields.expect_header("", columns.into_iter())),
        Err("column name mismatch in header line field 2: got \"c\", expected \"b\"".to_owned())
    );
    assert_eq!(message(fields.expect(1)), Err("extra data after last expected column".to_owned()));
    assert_eq!(message(fields.demand(2, "c")), Err("missing data for column \"c\"".to_owned()));
    assert_eq!(message(fields.expect(2)), Ok(()));
}
