//! What a statement costs: time that grows with its length and no faster, memory up to a limit, and how soon it stops when it is
//! asked to.

use std::fmt::Write;
use std::time::{Duration, Instant};
use tests::atoll::Atoll;
use tests::client::Client;

/// How many times longer the second of two texts is.
const LONGER: usize = 16;

/// How many times longer it may take: four times what a step that is linear in the text takes, a quarter of what one that
/// is quadratic does.
const SLOWER_MAX: u32 = 64;

/// The least time that a text takes which is new to the server.
fn least(client: &mut Client, before: &str, text: &str) -> Duration {
    let once = |time| {
        client.run(before);
        let text = format!("{text} -- {time}");
        let start = Instant::now();
        client.run(&text);
        start.elapsed()
    };
    (0..2).map(once).min().expect("two of them")
}

fn assert_linear(client: &mut Client, what: &str, before: &str, text: impl Fn(usize) -> String) {
    let times = [1, LONGER].map(|times| least(client, before, &text(times)));
    let [short, long] = times;
    assert!(
        long < short * SLOWER_MAX + Duration::from_millis(500),
        "{what}: {short:?}, and {long:?} for {LONGER} times as much"
    );
}

fn repeated(count: usize, part: impl Fn(&mut String, usize)) -> String {
    let mut text = String::new();
    (0..count).for_each(|number| part(&mut text, number));
    text
}

#[test]
fn a_text_takes_time_by_its_length() {
    let server = Atoll::start(&[]);
    let mut client = server.connect();
    client.run("CREATE TABLE many(a int PRIMARY KEY, b text)");
    for letter in ["x", "é"] {
        let rows = |times: usize| {
            let rows = repeated(1000 * times, |text, number| {
                write!(text, "({number}, '{letter}{number}'),").expect("a String takes it");
            });
            format!("VALUES {}", rows.trim_end_matches(','))
        };
        assert_linear(&mut client, &format!("VALUES with {letter}"), "", rows);
        let script = |times: usize| {
            repeated(250 * times, |text, number| {
                writeln!(text, "INSERT INTO many VALUES ({number}, '{letter}');")
                    .expect("a String takes it");
            })
        };
        let name = format!("statements with {letter}");
        assert_linear(&mut client, &name, "TRUNCATE many", script);
    }
    let collated = |times: usize| format!("SELECT 'a'{}", " COLLATE \"C\"".repeat(100 * times));
    assert_linear(&mut client, "COLLATE", "", collated);
}

#[test]
fn subqueries_within_subqueries_do_not_double_the_work() {
    let server = Atoll::start(&[]);
    let mut client = server.connect();
    client.run("CREATE TABLE t(a int PRIMARY KEY, b text)");
    client.run("SET statement_timeout = '30s'");
    let nested = |from: &dyn Fn(usize) -> String| {
        let levels = repeated(20, |text, level| text.push_str(&from(level + 1)));
        format!("SELECT 1 FROM t t0 WHERE {levels}true{}", ")".repeat(20))
    };
    for text in [
        nested(&|level| format!("t{}.a IN (SELECT t{level}.a FROM t t{level} WHERE ", level - 1)),
        nested(&|level| {
            format!("t{}.a NOT IN (SELECT t{level}.a FROM t t{level} WHERE ", level - 1)
        }),
        nested(&|level| {
            format!("EXISTS (SELECT FROM t t{level} WHERE t{level}.a = t{}.a AND ", level - 1)
        }),
        nested(&|level| {
            format!("NOT EXISTS (SELECT FROM t t{level} WHERE t{level}.a = t{}.a AND ", level - 1)
        }),
        nested(&|level| {
            let before = level - 1;
            format!(
                "t{before}.b = (SELECT max(t{level}.b) FROM t t{level} WHERE t{level}.a = t{before}.a AND "
            )
        }),
    ] {
        client.run(&text);
    }
}

/// Views each of which reads the one below, and what is done to all of them: what each costs does not grow with what is
/// below it.
#[test]
fn a_tower_of_views_costs_by_its_height() {
    let server = Atoll::start(&[]);
    let mut client = server.connect();
    let top = |height: usize, statement: &str| statement.replace('$', &(height - 1).to_string());
    let tower = |client: &mut Client, height: usize| {
        client.run("CREATE TABLE base(a int, b text)");
        client.run("CREATE VIEW v0 AS SELECT a, b FROM base");
        let views = (1..height).map(|n| format!("CREATE VIEW v{n} AS SELECT a, b FROM v{}", n - 1));
        let start = Instant::now();
        views.for_each(|view| drop(client.run(&view)));
        start.elapsed()
    };
    let statements = [
        "UPDATE v$ SET b = 'x'",
        "DROP TABLE base",
        "ALTER TABLE base ALTER COLUMN b TYPE varchar",
        "DROP TABLE base CASCADE",
    ];
    let [short, long] = [1, LONGER].map(|times| {
        let height = 20 * times;
        let mut took = vec![("CREATE VIEW", tower(&mut client, height))];
        for statement in statements {
            let start = Instant::now();
            client.query(&top(height, statement));
            took.push((statement, start.elapsed()));
        }
        took
    });
    for ((statement, short), (_, long)) in short.into_iter().zip(long) {
        let longest = short * SLOWER_MAX + Duration::from_millis(500);
        assert!(long < longest, "{statement}: {short:?}, and {long:?} for {LONGER} times as many");
    }
}

/// Queries within queries are bound once to be kept as a view, and once to be printed, however deep they stand.
#[test]
fn a_definition_is_printed_in_time_by_its_depth() {
    let server = Atoll::start(&[]);
    let mut client = server.connect();
    client.run("CREATE TABLE t(a int)");
    let views: [(&str, &dyn Fn(usize) -> String, &str, &str); 4] = [
        ("FROM", &|_| "SELECT * FROM (".to_owned(), "SELECT a FROM t", ") s"),
        ("IN", &|n| format!("SELECT a FROM t t{n} WHERE a IN ("), "SELECT 1", ")"),
        ("EXISTS", &|n| format!("SELECT a FROM t t{n} WHERE EXISTS ("), "SELECT a FROM t", ")"),
        ("WITH", &|_| "WITH w AS (".to_owned(), "SELECT 1 AS a", ") SELECT * FROM w"),
    ];
    for (what, open, inner, close) in views {
        let [short, long] = [1, LONGER].map(|times| {
            let depth = 10 * times;
            let opened: String = (0..depth).map(open).collect();
            let start = Instant::now();
            client.run(&format!("CREATE VIEW v AS {opened}{inner}{}", close.repeat(depth)));
            client.run("SELECT pg_get_viewdef('v'::regclass)");
            let took = start.elapsed();
            client.run("DROP VIEW v");
            took
        });
        let longest = short * SLOWER_MAX + Duration::from_millis(500);
        assert!(long < longest, "{what}: {short:?}, and {long:?} for {LONGER} times as deep");
    }
}

/// The server's resident memory at its highest, in bytes.
fn peak_bytes(server: &Atoll) -> u64 {
    let path = format!("/proc/{}/status", server.pid());
    let status = std::fs::read_to_string(path).expect("the server runs");
    let line = status.lines().find(|line| line.starts_with("VmHWM")).expect("Linux says so");
    let kilobytes = line.split_ascii_whitespace().nth(1).and_then(|figure| figure.parse().ok());
    kilobytes.map(|figure: u64| figure << 10).expect("a figure")
}

/// Views each of which joins the one below twice.
fn doubling_views(client: &mut Client, count: usize) {
    client.run("CREATE VIEW v0 AS SELECT a FROM generate_series(1, 2) a");
    for level in 1..=count {
        let below = level - 1;
        client.run(&format!(
            "CREATE VIEW v{level} AS SELECT x.a FROM v{below} x JOIN v{below} y ON x.a = y.a"
        ));
    }
}

/// Rows within rows: each level doubles the quotes of the text of the one below.
fn rows_in_rows(levels: usize) -> String {
    format!("SELECT {}1{}::text", "ROW(".repeat(levels), ")".repeat(levels))
}

#[test]
fn a_statement_that_would_hold_too_much_is_refused_before_it_does() {
    let server = Atoll::start(&["atoll.statement_memory=32MB"]);
    let mut client = server.connect();
    let before = peak_bytes(&server);
    let long = "repeat('x', 12000000)";
    for (text, states) in [
        ("SELECT length(repeat('x', 40000000))".to_owned(), ["53200"; 2]),
        (format!("SELECT length(translate({long}, 'x', 'yyyy'))"), ["53200"; 2]),
        (format!("SELECT length(replace({long}, 'x', 'yyyy'))"), ["53200"; 2]),
        (format!("SELECT length({long} || {long} || {long})"), ["53200"; 2]),
        (format!("SELECT cardinality(string_to_array({long}, NULL))"), ["53200", "54000"]),
        (rows_in_rows(40), ["53200", "54000"]),
    ] {
        let reply = client.query(&text);
        assert!(
            states.contains(&reply.sqlstate()),
            "{}: {:?}",
            &text[..text.len().min(100)],
            reply.error
        );
    }
    let more = peak_bytes(&server).saturating_sub(before);
    assert!(more < 1 << 30, "the server took {} MB", more >> 20);
    assert_eq!(client.run("SELECT 1").rows.len(), 1);
}

/// PostgreSQL puts a row together in a buffer that is no longer than a value may be.
#[test]
fn a_row_that_is_longer_than_a_message_may_be_is_refused() {
    let server = Atoll::start(&["atoll.statement_memory=8GB"]);
    let mut client = server.connect();
    for row in ["x, x", "ARRAY[x, x] IS NULL"] {
        let text = format!("SELECT {row} FROM (SELECT repeat('x', 600000000) AS x OFFSET 0) s");
        assert_eq!(client.query(&text).sqlstate(), "54000", "{text}");
    }
    assert_eq!(client.run("SELECT 1").rows.len(), 1);
}

/// Fails where a statement that would take long takes more than seconds under a timeout of 300 ms. (The builds that tests run
/// are an order slower than what users have.)
fn assert_stops(client: &mut Client, statements: &[String]) {
    client.run("SET statement_timeout = '300ms'");
    for text in statements {
        let start = Instant::now();
        client.query(text);
        let took = start.elapsed();
        assert!(took < Duration::from_secs(5), "{text} ended after {took:?}");
    }
}

#[test]
fn a_timeout_is_obeyed_in_every_phase() {
    let server = Atoll::start(&[]);
    let mut client = server.connect();
    doubling_views(&mut client, 8);
    let parentheses = "repeat('(', 1000000) || 'a' || repeat(')', 1000000)";
    let statements = [
        "SELECT * FROM v8 a, v8 b, v8 c, v8 d, v8 e, v8 f, v8 g, v8 h".to_owned(),
        "EXPLAIN SELECT * FROM v8 a, v8 b, v8 c, v8 d, v8 e, v8 f, v8 g, v8 h".to_owned(),
        "CREATE VIEW w AS SELECT a.a FROM v8 a, v8 b, v8 c, v8 d, v8 e, v8 f, v8 g, v8 h"
            .to_owned(),
        format!("SELECT 'a' ~ ({parentheses})"),
        "SELECT length(translate(repeat('x', 50000000), 'x', 'y'))".to_owned(),
        "SELECT cardinality(string_to_array(repeat('x,', 20000000), ','))".to_owned(),
        "SELECT count(*) FROM generate_series(1, 1000000000)".to_owned(),
        "SELECT 'x' ~ repeat('(a|b|c)*', 40000)".to_owned(),
        "SELECT length(regexp_replace(repeat('ab ', 10000000), '(a)(b)', '\\2\\1', 'g'))"
            .to_owned(),
        "SELECT count(*) FROM regexp_split_to_table(repeat('a b ', 10000000), '\\s')".to_owned(),
        "SELECT length(factorial(30000)::text)".to_owned(),
        "SELECT length((repeat('9', 130000)::numeric / repeat('7', 60000)::numeric)::text)"
            .to_owned(),
        "SELECT length(to_char(now(), repeat('YYYY MM DD ', 1000000)))".to_owned(),
    ];
    assert_stops(&mut client, &statements);
}

/// Values under construction, compared and searched: each walk over them is asked whether it is to stop.
#[test]
fn a_timeout_is_obeyed_while_a_value_is_made() {
    let server = Atoll::start(&[]);
    let mut client = server.connect();
    client.run("CREATE TABLE v(numbers jsonb, array_ int[], names text[])");
    client.run(
        "INSERT INTO v SELECT jsonb_agg(g), array_agg(g), array_agg('x' || g)
         FROM generate_series(1, 20000) g",
    );
    let statements = [
        "SELECT numbers @> numbers FROM v",
        "SELECT numbers <@ numbers FROM v",
        "SELECT count(numbers - names) FROM v, generate_series(1, 1000)",
        "SELECT array_ @> array_ FROM v",
        "SELECT array_ && array(SELECT -g FROM generate_series(1, 20000) g) FROM v",
        "SELECT array_length(array_fill('x'::text, ARRAY[50000000]), 1)",
        "SELECT length(to_char(12345.678, repeat('9', 10000000)))",
        "SELECT to_number(repeat('1 ', 1000000), repeat('9 ', 1000000))",
        "SELECT repeat('a', 100000000) LIKE repeat('%a', 10000) || 'b'",
        "SELECT position('ab' IN repeat('a', 300000000))",
        "SELECT position(repeat('a', 50000) || 'b' IN repeat('a', 300000000))",
        "SELECT repeat('é', 20000000) IS NFC NORMALIZED",
        r"SELECT length(quote_literal(repeat('\', 200000000)))",
        "SELECT length(convert_to(repeat('é', 100000000), 'latin1')::text)",
        "SELECT md5(repeat('x', 900000000))",
        "SELECT sha512(repeat('x', 900000000)::bytea)",
        "SELECT repeat('9', 100000000)::numeric",
    ];
    assert_stops(&mut client, &statements.map(str::to_owned));
}

/// Who is asked of many roles remembers which of them each is a member of.
#[test]
fn chains_of_roles_cost_by_their_length() {
    let server = Atoll::start(&[]);
    let mut client = server.connect();
    let question = "SELECT count(*) FROM pg_roles a, pg_roles b
                    WHERE pg_has_role(a.oid, b.oid, 'MEMBER') AND a.rolname LIKE 'link%'";
    let mut took = Vec::new();
    for length in [50, 200] {
        for number in took.len() * 50..length {
            client.run(&format!("CREATE ROLE link{number}"));
            if number > 0 {
                client.run(&format!("GRANT link{} TO link{number}", number - 1));
            }
        }
        let start = Instant::now();
        client.run(question);
        took.push(start.elapsed());
    }
    let [short, long] = took[..] else { panic!("two lengths") };
    // Of four times as many roles sixteen times as many pairs are asked.
    assert!(long < short * 32 + Duration::from_millis(500), "{short:?}, then {long:?}");
}

/// Subqueries that are joins are planned both ways where there are few, and in time by their depth where there are many.
#[test]
fn subqueries_within_subqueries_are_planned_in_time_by_their_depth() {
    let server = Atoll::start(&[]);
    let mut client = server.connect();
    client.run("CREATE TABLE t(a int PRIMARY KEY, b text)");
    for (what, open) in [
        ("IN", "t$.a IN (SELECT t#.a FROM t t# WHERE "),
        ("EXISTS", "EXISTS (SELECT FROM t t# WHERE t#.a = t$.a AND "),
    ] {
        let nested = |times: usize| {
            let depth = 10 * times;
            let levels = repeated(depth, |text, level| {
                let level = [level, level + 1].map(|level| level.to_string());
                text.push_str(&open.replace('$', &level[0]).replace('#', &level[1]));
            });
            format!("EXPLAIN SELECT 1 FROM t t0 WHERE {levels}true{}", ")".repeat(depth))
        };
        assert_linear(&mut client, what, "", nested);
    }
}

/// Fails where `holds` does not come to be within a minute.
fn wait_until(what: &str, mut holds: impl FnMut() -> bool) {
    let start = Instant::now();
    while !holds() {
        assert!(start.elapsed() < Duration::from_secs(60), "{what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Whatever spills is asked to stop while its files are there, by a cancel and by the end of its session: it stops, and the
/// files are gone.
#[test]
fn what_spills_stops_and_leaves_no_file() {
    let server = Atoll::start(&["work_mem=64kB"]);
    let mut watcher = server.connect();
    let many = "generate_series(1, 100000000)";
    let statements = [
        format!("SELECT count(*) FROM (SELECT g FROM {many} g ORDER BY -g OFFSET 0) s"),
        format!("SELECT count(*) FROM (SELECT g, count(*) FROM {many} g GROUP BY g OFFSET 0) s"),
        format!("SELECT count(*) FROM (SELECT DISTINCT g FROM {many} g OFFSET 0) s"),
        format!("SELECT count(*) FROM {many} a JOIN {many} b ON a = b"),
        format!("SELECT count(*) FROM {many} a FULL JOIN {many} b ON a = b"),
        format!("SELECT count(*) FROM (SELECT * FROM {many} EXCEPT SELECT * FROM {many}) s"),
        format!("SELECT count(l) FROM (SELECT lag(g) OVER (ORDER BY -g) AS l FROM {many} g) s"),
        format!("WITH w AS MATERIALIZED (SELECT g FROM {many} g) SELECT count(*) FROM w a, w b"),
        format!("SELECT count(DISTINCT g) FROM {many} g"),
        format!("DECLARE c SCROLL CURSOR WITH HOLD FOR SELECT g FROM {many} g"),
    ];
    for function in ["pg_cancel_backend", "pg_terminate_backend"] {
        for text in &statements {
            let mut client = server.connect();
            let pid = client.query("SELECT pg_backend_pid()").value().to_owned();
            client.start(text);
            let files = "SELECT coalesce(sum(size), 0) FROM pg_ls_tmpdir()";
            wait_until(text, || watcher.query(files).value() != "0");
            assert_eq!(watcher.query(&format!("SELECT {function}({pid})")).value(), "t");
            if function == "pg_cancel_backend" {
                let replies = client.replies().expect("the session goes on");
                assert_eq!(replies[0].sqlstate(), "57014", "{text}");
                assert_eq!(client.run("SELECT 1").rows.len(), 1);
            }
            wait_until(&format!("files of {text}"), || watcher.query(files).value() == "0");
        }
    }
}
