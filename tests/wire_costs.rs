//! What a statement costs: time that grows with its length and no faster.

use std::fmt::Write;
use std::time::{Duration, Instant};
use tests::atoll::Atoll;
use tests::client::Client;

/// How many times longer the second of two texts is.
const LONGER: usize = 8;

/// How many times longer it may take: twice what a step that is linear in the text takes, a quarter of what one that is
/// quadratic does.
const SLOWER_MAX: u32 = 16;

/// The least time that a text takes.
fn least(client: &mut Client, before: &str, text: &str) -> Duration {
    let once = |_| {
        client.run(before);
        let start = Instant::now();
        client.run(text);
        start.elapsed()
    };
    (0..3).map(once).min().expect("three of them")
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
            let rows = repeated(2000 * times, |text, number| {
                write!(text, "({number}, '{letter}{number}'),").expect("a String takes it");
            });
            format!("VALUES {}", rows.trim_end_matches(','))
        };
        assert_linear(&mut client, &format!("VALUES with {letter}"), "", rows);
        let script = |times: usize| {
            repeated(500 * times, |text, number| {
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
