//! COPY's binary format, byte by byte: what both servers write, what both read, and what both refuse with the same words.

use std::time::Duration;
use tests::atoll::Atoll;
use tests::client::Client;
use tests::dialogue::{Dialogue, assert_same};
use tests::oracle;
use tests::process::wait_until;

/// The header: signature, flags, no extension.
const HEADER: &[u8] = b"PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0";
const TRAILER: &[u8] = b"\xff\xff";

/// A column of each type, with its values.
const TYPES: &[(&str, &str)] = &[
    ("boolean", "(true), (false)"),
    ("int2", "(1), (-32768)"),
    ("int4", "(1), (-2147483648)"),
    ("int8", "(1), (-9223372036854775808)"),
    ("float4", "(1.5), ('NaN')"),
    ("float8", "(-1e300), ('Infinity')"),
    ("numeric", "(123456789.000100), ('NaN'), (-0.00001), (0), (1e100)"),
    ("numeric(10,2)", "(12.34), (-1)"),
    ("text", "(''), ('ä long text')"),
    ("varchar(5)", "('abc'), ('')"),
    ("char(4)", "('ab'), ('')"),
    ("\"char\"", "('x'), ('')"),
    ("name", "('a name')"),
    ("bytea", r"('\x00ff'), ('')"),
    ("date", "('2024-02-29'), ('infinity'), ('0044-03-15 BC')"),
    ("time", "('23:59:59.999999'), ('00:00')"),
    ("timestamp", "('2024-02-29 12:00:00.5'), ('-infinity')"),
    ("timestamptz", "('2024-02-29 12:00:00+02'), ('infinity')"),
    ("interval", "('1 year 2 mons -3 days 04:05:06.7')"),
    ("uuid", "('a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11')"),
    ("json", r#"('{"a": [1, null]}')"#),
    ("jsonb", r#"('{"b": 1, "a": [1, null]}')"#),
    ("jsonpath", r#"('$.a [*] ? (@ > 1.50)'), ('strict $."b c".**{1 to last}')"#),
    ("jsonpath[]", "('{$.a,NULL}')"),
    ("oid", "(4294967295)"),
    ("regclass", "('pg_class')"),
    ("int4[]", "('{1,NULL,3}'), ('{}'), ('[2:3][0:1]={{1,2},{3,4}}')"),
    ("text[]", r#"('{a,"b c",NULL}')"#),
    ("numeric[]", "('{1.5,NULL}')"),
    ("mood", "('sad'), ('happy')"),
    ("pair", "(row(1, 'x')), (row(NULL, NULL))"),
    ("mood[]", "('{sad,NULL}')"),
    ("pair[]", "(array[row(1, 'x')::pair, NULL])"),
];

fn make_types(talk: &mut Dialogue) {
    talk.query("CREATE TYPE mood AS ENUM ('sad', 'happy')");
    talk.query("CREATE TYPE pair AS (a int, b text)");
}

fn copy(talk: &mut Dialogue, statement: &str, data: &[&[u8]]) {
    talk.send(b'Q', format!("{statement}\0").as_bytes());
    data.iter().for_each(|portion| talk.send(b'd', portion));
    talk.send(b'c', &[]);
    talk.answer();
}

/// A tuple of these fields; none is NULL.
fn tuple(fields: &[Option<&[u8]>]) -> Vec<u8> {
    let mut bytes = (fields.len() as i16).to_be_bytes().to_vec();
    for field in fields {
        match field {
            None => bytes.extend_from_slice(&(-1i32).to_be_bytes()),
            Some(field) => {
                bytes.extend_from_slice(&(field.len() as i32).to_be_bytes());
                bytes.extend_from_slice(field);
            }
        }
    }
    bytes
}

/// What a COPY TO STDOUT sends.
fn copied(talk: &mut Dialogue, statement: &str) -> Vec<u8> {
    talk.client.send(b'Q', format!("{statement}\0").as_bytes()).expect("the connection stands");
    let mut data = Vec::new();
    loop {
        let message = talk.client.receive().expect("the connection stands");
        match message.tag {
            b'd' => data.extend_from_slice(&message.body),
            b'Z' => return data,
            _ => {}
        }
    }
}

#[test]
fn every_type_goes_out_and_comes_back_alike() {
    assert_same(&Atoll::start(&[]), |talk| {
        make_types(talk);
        talk.query("CREATE TABLE empty (a int)");
        talk.query("COPY empty TO STDOUT (FORMAT binary)");
        talk.query("COPY BINARY empty TO STDOUT");
        talk.query("COPY (SELECT FROM generate_series(1, 2)) TO STDOUT BINARY");
        talk.run("COPY (SELECT 1, 'x', NULL::text) TO STDOUT (FORMAT binary)");
        for (ty, values) in TYPES {
            talk.query(format!("CREATE TABLE t (id serial, v {ty})"));
            talk.query(format!("INSERT INTO t (v) VALUES {values}, (NULL)"));
            // Arrays name their elements' types, and made ones have numbers of their own.
            if !matches!(*ty, "mood[]" | "pair[]") {
                talk.query("COPY t TO STDOUT (FORMAT binary)");
            }
            let data = copied(talk, "COPY t TO STDOUT (FORMAT binary)");
            talk.query(format!("CREATE TABLE back (id int, v {ty})"));
            copy(talk, "COPY back FROM STDIN (FORMAT binary)", &[&data]);
            let bytes: Vec<&[u8]> = data.chunks(1).collect();
            talk.query("TRUNCATE back");
            copy(talk, "COPY back FROM STDIN BINARY", &bytes);
            talk.query(
                "SELECT id, v, t.v::text = back.v::text FROM t JOIN back USING (id) ORDER BY 1",
            );
            // A table of the same transaction is built, not written to.
            talk.query(format!("BEGIN; CREATE TABLE built (id int PRIMARY KEY, v {ty})"));
            copy(talk, "COPY built FROM STDIN (FORMAT binary) WHERE id > 1", &[&data]);
            talk.query("COMMIT; SELECT * FROM built ORDER BY id");
            talk.query("DROP TABLE t, back, built");
        }
    });
}

#[test]
fn what_is_no_binary_copy_is_refused_alike() {
    assert_same(&Atoll::start(&[]), |talk| {
        talk.query(
            "CREATE TABLE t(a int PRIMARY KEY, b varchar(3) NOT NULL, c numeric(5,2) CHECK (c > 0))",
        );
        let seven = Some(&[0, 0, 0, 7][..]);
        let number = Some(&b"\0\x01\0\0\0\0\0\0\0\x05"[..]);
        let whole = tuple(&[seven, Some(b"abc"), number]);
        let with = |flags: &[u8], rest: &[u8]| [b"PGCOPY\n\xff\r\n\0", flags, rest].concat();
        let headers: &[Vec<u8>] = &[
            Vec::new(),
            b"PGCOPY\n".to_vec(),
            b"PGCOPY\n\xfe\r\n\0\0\0\0\0\0\0\0\0".to_vec(),
            b"1\tabc\t5\n".to_vec(),
            with(b"", b""),
            with(b"\0\x01\0\0", b""),
            with(b"\0\x02\0\0", b"\0\0\0\0"),
            with(b"\0\0\0\x01", b"\0\0\0\0\xff\xff"),
            with(b"\0\0\0\0", b""),
            with(b"\0\0\0\0", b"\xff\xff\xff\xff"),
            with(b"\0\0\0\0", b"\0\0\0\x04abc"),
            with(b"\0\0\0\0", b"\0\0\0\x04abcd\xff\xff"),
        ];
        for data in headers {
            copy(talk, "COPY t FROM STDIN (FORMAT binary)", &[data]);
        }
        let tuples: &[Vec<u8>] = &[
            // Nothing at all, and half a count, are ends.
            Vec::new(),
            b"\0".to_vec(),
            TRAILER.to_vec(),
            [TRAILER, b"x"].concat(),
            [&whole[..], TRAILER, b"\0"].concat(),
            tuple(&[seven]),
            tuple(&[seven, seven, seven, seven]),
            b"\xff\xfe".to_vec(),
            // Cut off in a length, and in a field.
            whole[..4].to_vec(),
            whole[..8].to_vec(),
            whole[..whole.len() - 1].to_vec(),
            // Lengths that are none.
            b"\0\x03\xff\xff\xff\xfe".to_vec(),
            b"\0\x03\x7f\xff\xff\xff".to_vec(),
            // The field that is wrong is told before what is cut off behind it.
            [&tuple(&[Some(b"xyz"), None, None])[..9], b""].concat(),
            tuple(&[Some(b"xyz"), Some(b"a"), number]),
            tuple(&[Some(b"\0\0\0\0\x07"), Some(b"a"), number]),
            tuple(&[seven, Some(b"\xff"), number]),
            tuple(&[seven, Some(b"a\0b"), number]),
            tuple(&[seven, Some(b"abcd"), number]),
            tuple(&[seven, Some(b"abc"), Some(b"\0")]),
            tuple(&[seven, Some(b"abc"), Some(b"\0\x01\0\0\0\0\0\0\x27\x10")]),
            // Rows that the table refuses.
            tuple(&[None, Some(b"abc"), None]),
            tuple(&[seven, None, None]),
            tuple(&[seven, Some(b"abc"), Some(b"\0\x01\0\0\x40\0\0\0\0\x05")]),
            [&whole[..], &whole[..]].concat(),
        ];
        for rows in tuples {
            let data = [HEADER, rows].concat();
            copy(talk, "COPY t FROM STDIN (FORMAT binary)", &[&data]);
            talk.query("SELECT count(*) FROM t");
        }
        copy(
            talk,
            "COPY t (b, a) FROM STDIN (FORMAT binary)",
            &[HEADER, &tuple(&[Some(b"x"), seven])],
        );
        talk.query("SELECT * FROM t");
        // The client gives up.
        talk.send(b'Q', b"COPY t FROM STDIN (FORMAT binary)\0");
        talk.send(b'd', HEADER);
        talk.send(b'd', &whole[..5]);
        talk.send(b'f', b"because\0");
        talk.answer();
    });
}

/// A client that is told too early would send its rows as statements.
#[test]
fn what_takes_no_rows_is_refused_behind_the_answer_that_asks_for_them() {
    assert_same(&Atoll::start(&[]), |talk| {
        talk.query(
            "CREATE TABLE t (a int); CREATE VIEW v AS SELECT a FROM t; CREATE SEQUENCE s; \
             CREATE MATERIALIZED VIEW m AS SELECT a FROM t",
        );
        for statement in [
            "COPY v FROM STDIN",
            "COPY m FROM STDIN",
            "COPY s FROM STDIN",
            "COPY t FROM STDIN (FREEZE)",
            "SELECT 1; COPY v FROM STDIN; SELECT 2",
        ] {
            copy(talk, statement, &[b"1\n", b"2\n"]);
            talk.query("SELECT count(*) FROM t");
        }
        // With the extended protocol the rest up to Sync is passed over.
        talk.parse("", "COPY v FROM STDIN");
        talk.bind("", "", &[]);
        talk.execute("", 0);
        talk.send(b'd', b"1\n");
        talk.send(b'c', &[]);
        talk.sync();
        talk.query("BEGIN");
        copy(talk, "COPY t FROM STDIN (FREEZE)", &[b"1\n"]);
        talk.query("ROLLBACK");
        talk.query("COPY v FROM '/nosuch/file'");
    });
}

#[test]
fn files_and_programs_give_and_take_what_the_client_does() {
    let atoll = Atoll::start(&[]);
    let mut talk = Dialogue::new(atoll.connect());
    let directory = std::env::temp_dir().join(format!("atoll-copy-{}", std::process::id()));
    std::fs::create_dir_all(&directory).expect("a directory can be made");
    talk.client.run("CREATE TABLE t (a int PRIMARY KEY, b text)");
    // Several portions of a file.
    talk.client
        .run("INSERT INTO t SELECT g, repeat('row ' || g, 10) FROM generate_series(1, 20000) g");
    talk.client.run("CREATE TABLE back (a int, b text)");
    for format in ["text", "csv", "binary"] {
        let header = if format == "csv" { ", HEADER" } else { "" };
        let options = format!("(FORMAT {format}{header})");
        let streamed = copied(&mut talk, &format!("COPY t TO STDOUT {options}"));
        let path = directory.join(format);
        let path = path.to_str().expect("a plain path");
        for target in [format!("'{path}'"), format!("PROGRAM 'cat > {path}'")] {
            let written = talk.client.run(&format!("COPY t TO {target} {options}"));
            assert_eq!(written.tag.as_deref(), Some("COPY 20000"));
            assert!(std::fs::read(path).expect("it was written") == streamed, "{format}");
        }
        for source in [format!("'{path}'"), format!("PROGRAM 'cat {path}'")] {
            talk.client.run("TRUNCATE back");
            let read = talk.client.run(&format!("COPY back FROM {source} {options}"));
            assert_eq!(read.tag.as_deref(), Some("COPY 20000"));
            let same = "SELECT count(*) FROM t JOIN back USING (a, b)";
            assert_eq!(talk.client.run(same).value(), "20000");
        }
    }
    std::fs::remove_dir_all(&directory).expect("it can be removed");
}

#[test]
fn a_program_that_says_nothing_keeps_nobody_else_waiting_and_can_be_cancelled() {
    let atoll = Atoll::start(&[]);
    let mut watcher = atoll.connect();
    // An empty table would be loaded, which keeps other writers out.
    watcher.run("CREATE TABLE t (a int)");
    watcher.run("INSERT INTO t VALUES (0)");
    // More than there are loops, and both directions.
    let mut silent: Vec<_> = (0..8).map(|_| atoll.connect()).collect();
    for (at, client) in silent.iter_mut().enumerate() {
        client.start(if at % 2 == 0 {
            "COPY t FROM PROGRAM 'exec sleep 600'"
        } else {
            "COPY (SELECT repeat('x', 1000) FROM generate_series(1, 10000)) TO PROGRAM 'exec sleep 600'"
        });
    }
    let running = "FROM pg_stat_activity WHERE query LIKE 'COPY%' AND state = 'active'";
    let count = format!("SELECT count(*) {running}");
    wait_until("eight COPYs", Duration::from_secs(60), || {
        (watcher.run(&count).value() == "8").then_some(())
    });
    let mut other = atoll.connect();
    assert_eq!(other.run("INSERT INTO t VALUES (1) RETURNING a").value(), "1");
    watcher.run(&format!("SELECT pg_cancel_backend(pid) {running}"));
    for client in &mut silent {
        let replies = client.replies().expect("the connection stands");
        let error = replies[0].error.as_ref().expect("it was cancelled");
        assert_eq!(error.field(b'C'), "57014");
        assert_eq!(client.run("SELECT count(*) FROM t").value(), "2");
    }
}

#[test]
fn a_copy_in_a_block_keeps_nobody_out_of_an_empty_table() {
    let atoll = Atoll::start(&[]);
    for port in [oracle::shared(), atoll.port()] {
        let [mut one, mut other] = [(); 2].map(|()| Client::connect(port, "postgres", "postgres"));
        one.run("CREATE TABLE filled (a int PRIMARY KEY, b text UNIQUE)");
        one.run("BEGIN");
        one.copy_in("COPY filled FROM STDIN", b"1\ta\n2\tb\n");
        other.run("SET lock_timeout = '2s'");
        other.run("INSERT INTO filled VALUES (3, 'c')");
        other.copy_in("COPY filled FROM STDIN", b"4\td\n");
        assert_eq!(other.run("SELECT count(*) FROM filled").value(), "2");
        one.run("COMMIT");
        assert_eq!(other.run("SELECT count(*) FROM filled").value(), "4");
        one.run("DROP TABLE filled");
    }
}
