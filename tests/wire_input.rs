//! Bad input: what no honest client sends, what is too large, too deep or too many. PostgreSQL's SQLSTATE and words, and the
//! session (or at least every other one) goes on.

use tests::atoll::Atoll;
use tests::client::Client;
use tests::dialogue::{Dialogue, assert_same};

fn copy(talk: &mut Dialogue, statement: &str, data: &[&[u8]]) {
    talk.send(b'Q', format!("{statement}\0").as_bytes());
    data.iter().for_each(|portion| talk.send(b'd', portion));
    talk.send(b'c', &[]);
    talk.answer();
}

#[test]
fn values_that_cannot_be_are_refused_alike() {
    assert_same(&Atoll::start(&[]), |talk| {
        talk.query(
            "CREATE TABLE t(a int PRIMARY KEY, b text NOT NULL, c numeric(5,2) CHECK (c > 0))",
        );
        for text in [
            &b"SELECT '\xff'"[..],
            b"SELECT '\xc3('",
            b"SELECT E'a\\000b'",
            b"SELECT U&'\\0000'",
            b"SELECT U&'\\D800'",
            b"SELECT chr(0)",
            b"SELECT 2147483647 + 1",
            b"SELECT 9223372036854775807 + 1",
            b"SELECT 1e400::float8",
            b"SELECT 99999::int2",
            b"SELECT 10.0 ^ 200000",
            b"INSERT INTO t VALUES (1, 'x', 1), (1, 'y', 2)",
            b"INSERT INTO t VALUES (1, NULL, 1)",
            b"INSERT INTO t VALUES (1, 'x', -1)",
            b"INSERT INTO t VALUES (1, 'x', 100000)",
            b"SELECT 1\0SELECT 2",
        ] {
            talk.query(text);
        }
        let one = |talk: &mut Dialogue, text: &str, value: &[u8]| {
            talk.parse("", text);
            talk.bind("", "", &[value]);
            talk.execute("", 0);
            talk.sync();
        };
        one(talk, "SELECT $1::text", b"a\0b");
        one(talk, "SELECT $1::text", b"\xff");
        one(talk, "SELECT $1::int", b"seven");
        one(talk, "SELECT $1::date", b"2024-02-30");
        talk.parse("named", "SELECT $1::int");
        talk.bind("p", "named", &[b"x"]);
        talk.sync();
        // Three bytes are no int4.
        talk.send(b'B', b"\0named\0\0\x01\0\x01\0\x01\0\0\0\x03abc\0\0");
        talk.sync();
        talk.send(b'B', b"\0named\0\0\x01\0\x07\0\x01\0\0\0\x01\x31\0\0");
        talk.sync();
        // A version, which is 1, and a text.
        talk.parse("path", "SELECT $1::jsonpath");
        talk.parse("document", "SELECT $1::jsonb");
        for (name, value) in [
            ("path", &b"\x01strict $ . a"[..]),
            ("path", b"\x02$.a"),
            ("path", b"\x01$."),
            ("path", b"\x01"),
            ("path", b""),
            ("document", b"\x01\"a\""),
            ("document", b"\x02\"a\""),
            ("document", b""),
        ] {
            show_binary(talk, name, value);
        }
    });
}

/// Binds the only parameter of the statement `name` to a value in binary, and shows it.
fn show_binary(talk: &mut Dialogue, name: &str, value: &[u8]) {
    let head = format!("\0{name}\0\0\x01\0\x01\0\x01");
    let length = (value.len() as u32).to_be_bytes();
    talk.send(b'B', &[head.as_bytes(), &length[..], value, b"\0\0"].concat());
    talk.execute("", 0);
    talk.sync();
}

#[test]
fn binary_values_of_other_lengths_are_refused_alike() {
    const ONE: &[u8] = b"\0\0\0\x01";
    let array = |element: u32, lower: u8, items: &[&[u8]]| {
        let head = [ONE, &[0; 4], &element.to_be_bytes(), &(items.len() as u32).to_be_bytes()];
        let items =
            items.iter().flat_map(|item| [&(item.len() as u32).to_be_bytes()[..], item].concat());
        let items: Vec<u8> = items.collect();
        [&head.concat()[..], &[0, 0, 0, lower], &items].concat()
    };
    let row = |fields: &[(u32, &[u8])]| {
        let fields = fields.iter().flat_map(|(ty, field)| {
            [&ty.to_be_bytes()[..], &(field.len() as u32).to_be_bytes(), field].concat()
        });
        let fields: Vec<u8> = fields.collect();
        [&b"\0\0\0\x02"[..], &fields].concat()
    };
    let one_and_half = b"\0\x02\0\0\0\0\0\x01\0\x01\x13\x88";
    let nan = b"\0\0\0\0\xc0\0\0\0";
    let values: &[(&str, Vec<u8>)] = &[
        ("bool", vec![1]),
        ("\"char\"", vec![b'x']),
        ("int2", vec![0, 5]),
        ("int4", vec![0, 0, 0, 5]),
        ("int8", vec![0; 8]),
        ("float4", vec![0; 4]),
        ("float8", vec![0; 8]),
        ("numeric", one_and_half.to_vec()),
        ("numeric", nan.to_vec()),
        ("date", vec![0; 4]),
        ("time", vec![0; 8]),
        ("timetz", vec![0; 12]),
        ("timestamp", vec![0; 8]),
        ("timestamptz", vec![0; 8]),
        ("interval", vec![0; 16]),
        ("uuid", vec![7; 16]),
        ("oid", vec![0, 0, 0, 5]),
        ("regtype", vec![0, 0, 0, 23]),
        ("tid", vec![0, 0, 0, 1, 0, 2]),
        ("pg_lsn", vec![1; 8]),
        ("xid8", vec![0, 0, 0, 0, 0, 0, 0, 5]),
        (
            "pg_snapshot",
            [ONE, &[0, 0, 0, 0, 0, 0, 0, 4], &[0, 0, 0, 0, 0, 0, 0, 6], &[0, 0, 0, 0, 0, 0, 0, 5]]
                .concat(),
        ),
        ("inet", vec![2, 32, 0, 4, 1, 2, 3, 4]),
        ("cidr", vec![2, 32, 1, 4, 1, 2, 3, 4]),
        ("int4[]", array(23, 1, &[&[0, 0, 0, 5], &[0, 0, 0, 6]])),
        ("numeric[]", array(1700, 1, &[one_and_half])),
        ("numeric[]", array(1700, 1, &[&[&one_and_half[..], &[0]].concat()])),
        ("bool[]", array(16, 1, &[&[]])),
        ("text[]", array(23, 1, &[&[0, 0, 0, 5]])),
        ("text[]", array(77_777, 1, &[b"a"])),
        ("text[]", array(0, 1, &[b"a"])),
        ("int2vector", array(21, 0, &[&[0, 5]])),
        ("int2vector", array(21, 1, &[&[0, 5]])),
        ("oidvector", b"\0\0\0\0\0\0\0\0\0\0\0\x1a".to_vec()),
        ("pair", row(&[(23, &[0, 0, 0, 5]), (1700, one_and_half)])),
        ("pair", row(&[(23, &[0, 0, 0, 5, 0]), (1700, one_and_half)])),
        ("pair", row(&[(77_777, &[0, 0, 0, 5]), (1700, one_and_half)])),
        ("pair", row(&[(20, &[0; 8]), (1700, one_and_half)])),
    ];
    assert_same(&Atoll::start(&[]), |talk| {
        talk.query("CREATE TYPE pair AS (a int, b numeric)");
        for (ty, value) in values {
            talk.parse("", &format!("SELECT $1::{ty}"));
            talk.sync();
            for length in 0..=value.len() {
                show_binary(talk, "", &value[..length]);
            }
            for more in [&b"\0"[..], b"\0\0", &[0; 8]] {
                show_binary(talk, "", &[value, more].concat());
            }
        }
        for field in [&one_and_half[..], b"\0\x02", &[&one_and_half[..], b"\0"].concat()] {
            let length = (field.len() as u32).to_be_bytes();
            let tuple =
                [b"PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0\0\x01", &length[..], field, b"\xff\xff"];
            talk.query("CREATE TABLE IF NOT EXISTS taken (a numeric)");
            copy(talk, "COPY taken FROM STDIN (FORMAT binary)", &[&tuple.concat()]);
        }
    });
}

#[test]
fn rows_of_a_copy_that_cannot_be_are_refused_alike() {
    assert_same(&Atoll::start(&[]), |talk| {
        talk.query(
            "CREATE TABLE t(a int PRIMARY KEY, b text NOT NULL, c numeric(5,2) CHECK (c > 0))",
        );
        for data in [
            &b"5\tx\t1\n"[..],
            b"6\tx\n",
            b"6\tx\t1\t2\n",
            b"z\tx\t1\n",
            b"7\t\xff\t1\n",
            b"8\tx\t1\n8\ty\t1\n",
            b"9\t\\N\t1\n",
            b"9\tx\t-1\n",
            b"10\tx\t1\n\\.\n11\tx\t1\n",
            b"12\tx\t1",
            b"13\tx\t1\r\n14\tx\t1\n",
            b"13\tx\r\t1\n",
        ] {
            copy(talk, "COPY t FROM STDIN", &[data]);
        }
        copy(talk, "COPY t FROM STDIN", &[b"18\t", b"x\t", b"1\n"]);
        copy(talk, "COPY t FROM STDIN (FORMAT csv)", &[b"15,\"x,1\n"]);
        copy(talk, "COPY t FROM STDIN (FORMAT csv)", &[b"15,x,1,2\n"]);
        copy(talk, "COPY t FROM STDIN (FORMAT csv, HEADER match)", &[b"a,z,c\n"]);
        talk.send(b'Q', b"COPY t FROM STDIN\0");
        talk.send(b'd', b"16\tx\t1\n");
        talk.send(b'f', b"because\0");
        talk.answer();
        // Flush and Sync mean nothing while data is awaited.
        talk.send(b'Q', b"COPY t FROM STDIN\0");
        talk.send(b'd', b"17\tx\t1\n");
        talk.send(b'H', &[]);
        talk.send(b'S', &[]);
        talk.send(b'c', &[]);
        talk.answer();
        talk.send(b'c', &[]);
        talk.send(b'f', b"nobody asked\0");
        talk.query("SELECT * FROM t ORDER BY a");
    });
}

#[test]
fn a_table_that_changes_under_a_prepared_statement_is_noticed_alike() {
    assert_same(&Atoll::start(&[]), |talk| {
        talk.query("CREATE TABLE t(a int)");
        talk.parse("s", "SELECT * FROM t");
        talk.sync();
        for change in [
            "INSERT INTO t VALUES (1)",
            "DROP TABLE t",
            "CREATE TABLE t(a text)",
            "DROP TABLE t",
            "CREATE TABLE t(a int)",
            "ALTER TABLE t ADD b int",
            "ALTER TABLE t DROP b",
            "ALTER TABLE t RENAME TO u",
        ] {
            talk.query(change);
            talk.bind("", "s", &[]);
            talk.describe('P', "");
            talk.execute("", 0);
            talk.sync();
            talk.query("EXECUTE s");
        }
    });
}

#[test]
fn limits_are_postgresqls_where_it_has_them() {
    assert_same(&Atoll::start(&[]), |talk| {
        let repeated = |what: &str, count: usize, between: &str| vec![what; count].join(between);
        talk.query(format!("SELECT {}", repeated("1", 1664, ",")));
        talk.query(format!("SELECT {}", repeated("1", 1665, ",")));
        talk.query(format!("SELECT {}1{}", "(".repeat(4000), ")".repeat(4000)));
        talk.query(format!("SELECT {}", repeated("true", 100_000, " AND ")));
        let column = "SELECT count(*) FROM generate_series(1, 3) g WHERE ";
        talk.query(format!("{column}{}", repeated("g > 0", 100_000, " AND ")));
        talk.query(format!("{column}g IN ({})", repeated("2", 50_000, ",")));
        talk.query(format!("SELECT 1 AS {}", "x".repeat(100)));
        talk.query(format!("SELECT length('{}')", "x".repeat(10 << 20)));
        talk.query(format!("/*{}*/ SELECT 1", "x".repeat(10 << 20)));
        // The protocol counts parameters with two bytes.
        let all: Vec<String> = (1..=65_535).map(|number| format!("${number}::int")).collect();
        talk.parse("", &format!("SELECT coalesce({})", all.join(",")));
        talk.bind("", "", &vec![&b"7"[..]; 65_535]);
        talk.execute("", 0);
        talk.sync();
        talk.bind("", "", &vec![&b"7"[..]; 65_534]);
        talk.sync();
        for text in ["SELECT $0::int", "SELECT $2147483647::int"] {
            talk.parse("", text);
            talk.sync();
        }
    });
}

/// A key that no page takes is refused where it is written, and not when it is too late to refuse it.
#[test]
fn keys_that_are_too_long_are_54000_and_harm_nobody() {
    let mut atoll = Atoll::start(&[]);
    let mut client = atoll.connect();
    client.run("CREATE TABLE t (k text PRIMARY KEY, u text UNIQUE)");
    client.run("CREATE TABLE r (k text PRIMARY KEY REFERENCES t ON UPDATE CASCADE)");
    client.run("INSERT INTO t VALUES ('a', 'b')");
    client.run("INSERT INTO r VALUES ('a')");
    for change in [
        "INSERT INTO t VALUES (repeat('x', 5000), 'c')",
        "INSERT INTO t VALUES ('c', repeat('x', 5000))",
        "UPDATE t SET k = repeat('x', 5000)",
        "UPDATE t SET u = repeat('x', 5000)",
        "INSERT INTO t VALUES ('a', 'c') ON CONFLICT (k) DO UPDATE SET k = repeat('x', 5000)",
        "MERGE INTO t USING (SELECT 1) s ON true WHEN MATCHED THEN UPDATE SET k = repeat('x', 5000)",
        "BEGIN; UPDATE t SET k = repeat('x', 3000); COMMIT",
    ] {
        let replies = client.query_all(change);
        assert_eq!(replies.last().expect("an answer").sqlstate(), "54000", "{change}");
        client.run("ROLLBACK");
    }
    assert_eq!(client.run("SELECT k || u FROM t").value(), "ab");
    client.run("UPDATE t SET k = 'd'");
    assert_eq!(client.run("SELECT k FROM r").value(), "d");
    drop(client);
    atoll.stop();
    atoll.check();
}

#[test]
fn what_is_too_deep_is_54001_and_never_a_crash() {
    let atoll = Atoll::start(&[]);
    let mut client = atoll.connect();
    let deep = |open: &str, close: &str, count: usize| {
        format!("SELECT {}1{}", open.repeat(count), close.repeat(count))
    };
    for text in [
        deep("(", ")", 100_000),
        deep("(", ")", 1_000_000),
        deep("- ", "", 100_000),
        deep("abs(", ")", 100_000),
        deep("CASE WHEN true THEN ", " END", 100_000),
        format!("SELECT {}true", "NOT ".repeat(100_000)),
        format!("SELECT {}1{}", "(SELECT ".repeat(10_000), ")".repeat(10_000)),
        format!(
            "SELECT * FROM {}(SELECT 1) x{}",
            "(SELECT * FROM ".repeat(10_000),
            ") x".repeat(10_000)
        ),
        format!("SELECT array_length({}1{}, 1)", "ARRAY[".repeat(50_000), "]".repeat(50_000)),
    ] {
        let reply = client.query(&text);
        assert_eq!(reply.sqlstate(), "54001", "{:.60}", text);
        // Its trees are dropped by then.
        assert_eq!(client.run("SELECT 1").value(), "1");
    }
    assert_eq!(client.query(&format!("SELECT 1{}", "::int".repeat(5000))).value(), "1");
    let long = format!("SELECT {}", vec!["1"; 5000].join("+"));
    assert_eq!(client.query(&long).value(), "5000");
    let beyond = client.query(&format!("SELECT {}", vec!["1"; 1_000_000].join("+")));
    assert!(["", "54001"].contains(&beyond.sqlstate()), "{}", beyond.sqlstate());
    assert_eq!(atoll.connect().run("SELECT 1").value(), "1");
}

#[test]
fn frames_that_cannot_be_end_their_connection_only() {
    let atoll = Atoll::start(&[]);
    let mut bystander = atoll.connect();
    for (bytes, message) in [
        (&b"Q\0\0\0\x03"[..], "invalid message length"),
        (b"Q\x7F\xFF\xFF\xFF", "invalid message length"),
        (b"S\0\x01\0\0", "invalid message length"),
        (b"?\0\0\0\x04", "invalid frontend message type 63"),
        (b"p\0\0\0\x05x", "invalid frontend message type 112"),
        (b"\0\0\0\0\0", "invalid frontend message type 0"),
    ] {
        let mut client = atoll.connect();
        client.run("BEGIN");
        client.send_raw(bytes).expect("the connection stands");
        let mut talk = Dialogue::new(client);
        talk.answer();
        assert_eq!(talk.lines, [format!("E[FATAL 08P01 {message}] end")]);
        assert_eq!(bystander.run("SELECT 1").value(), "1");
    }
    // Half a message, and nothing behind it.
    for bytes in [&b"Q"[..], b"Q\0\0\0\x20SELECT", b"P\0\0\0\x10s\0"] {
        let mut client = atoll.connect();
        client.run("BEGIN");
        client.send_raw(bytes).expect("the connection stands");
        drop(client);
        assert_eq!(bystander.run("SELECT 1").value(), "1");
    }
}

#[test]
fn a_message_out_of_order_in_a_copy_ends_the_connection() {
    let atoll = Atoll::start(&[]);
    let mut talk = Dialogue::new(atoll.connect());
    talk.query("CREATE TABLE t(a int)");
    talk.send(b'Q', b"COPY t FROM STDIN\0");
    talk.send(b'd', b"1\n");
    talk.query("SELECT 1");
    let refused = r"G(\x00\x00\x01\x00\x00) E[ERROR 08P01 unexpected message type 0x51 during COPY from stdin";
    assert!(talk.lines[1].starts_with(refused), "{}", talk.lines[1]);
    let lost =
        "E[FATAL 08P01 terminating connection because protocol synchronization was lost] end";
    assert!(talk.lines[1].ends_with(lost), "{}", talk.lines[1]);
    let mut client: Client = atoll.connect();
    assert_eq!(client.run("SELECT count(*) FROM t").value(), "0");
}

/// `count` times the same, or numbered (where the form has a `#`), separated by commas.
fn list(count: usize, form: &str) -> String {
    let one = |number: usize| form.replace('#', &number.to_string());
    (0..count).map(one).collect::<Vec<_>>().join(",")
}

#[test]
fn limits_of_numbers_are_postgresqls() {
    assert_same(&Atoll::start(&[]), |talk| {
        talk.query(format!("CREATE TABLE w (a int, {})", list(40, "c# int")));
        talk.query(format!("CREATE TABLE full_one ({})", list(1600, "c# int")));
        talk.query("ALTER TABLE full_one ADD COLUMN x int");
        talk.query(format!("CREATE TABLE too_wide ({})", list(1601, "c# int")));
        talk.query(format!("CREATE TABLE too_wide AS SELECT {}", list(1601, "1 AS c#")));
        talk.query(format!("CREATE VIEW too_wide AS SELECT {}", list(1601, "1 AS c#")));
        talk.query(format!("CREATE TYPE too_wide AS ({})", list(1601, "c# int")));
        for count in [1664, 1665] {
            talk.query(format!("SELECT FROM (SELECT {}) AS q", list(count, "1")));
            talk.query(format!("SELECT FROM (VALUES ({})) AS q", list(count, "1")));
            talk.query(format!("SELECT row({}) IS NULL", list(count, "1")));
            talk.query(format!("SELECT 1 FROM w GROUP BY {}", list(count, "a + #")));
            talk.query(format!("SELECT a FROM w ORDER BY {}", list(count - 1, "a + #")));
            talk.query(format!("SELECT DISTINCT ON (a) {} FROM w", list(count, "a")));
            talk.query(format!(
                "SELECT sum(a) OVER (PARTITION BY {}) FROM w",
                list(count - 1, "a + #")
            ));
        }
        talk.query(format!("INSERT INTO w (a) VALUES (1) RETURNING {}", list(1665, "1")));
        talk.query(format!("SELECT * FROM {}", list(41, "w AS w#")));
        for count in [32, 33] {
            let columns = list(count, "c#");
            talk.query(format!("CREATE INDEX ON w ({columns})"));
            talk.query(format!("CREATE INDEX ON w (a) INCLUDE ({})", list(count - 1, "c#")));
            talk.query(format!("ALTER TABLE w ADD CONSTRAINT u{count} UNIQUE ({columns})"));
            let defined = list(count, "c# int");
            talk.query(format!("CREATE TABLE k{count} ({defined}, PRIMARY KEY ({columns}))"));
        }
        let sets = format!("GROUPING SETS ({})", list(16, "c#"));
        talk.query(format!("SELECT count(*) FROM w GROUP BY {sets}, {sets}, {sets}, {sets}"));
        let cube = format!("CUBE ({})", list(12, "c#"));
        talk.query(format!("SELECT count(*) FROM w GROUP BY GROUPING SETS ({cube}, {cube})"));
        talk.query(format!("SELECT concat({})", list(101, "1")));
        talk.query(format!("SELECT array_fill(1, ARRAY[{}])", list(7, "1")));
    });
}
