//! The parser against PostgreSQL: what it says to wrong text, how deep it goes, and that no bytes make it panic.

use super::{Statement, parse, parse_expression};
use crate::ast::ExprKind;

fn error_of(text: &str) -> (String, String, u32) {
    let error = parse(text).map(|_| ()).expect_err(text);
    let fields = error.fields();
    (fields.state.to_string(), fields.message.clone(), fields.position.unwrap_or(0))
}

#[test]
fn deep_and_wide_statements() {
    let nested = format!("select {}1{}", "(".repeat(4000), ")".repeat(4000));
    assert_eq!(parse(&nested).map(|parsed| parsed.len()).ok(), Some(1));
    let wide = format!("select 1 where {}true", "a = 1 and ".repeat(100_000));
    assert_eq!(parse(&wide).map(|parsed| parsed.len()).ok(), Some(1));
    let queries = format!("select {}1{}", "(select ".repeat(1000), ")".repeat(1000));
    assert_eq!(parse(&queries).map(|parsed| parsed.len()).ok(), Some(1));
    let chain = format!("select 1{}", " + 1".repeat(5000));
    assert_eq!(parse(&chain).map(|parsed| parsed.len()).ok(), Some(1));
    for text in [
        format!("select {}1", "(".repeat(100_000)),
        format!("select 1{}", " + 1".repeat(100_000)),
        format!("select {}1", "not ".repeat(100_000)),
        format!("select {}1", "array[".repeat(100_000)),
        format!("select a{}", "[1].b".repeat(100_000)),
        format!("select * from {}", "(".repeat(100_000)),
        format!("select 1{}", " union select 1".repeat(100_000)),
        format!("select * from a{}", " join a on true".repeat(100_000)),
    ] {
        assert_eq!(error_of(&text).0, "54001", "{}", &text[..40]);
    }
    // As PostgreSQL: what is explained is no EXPLAIN, and its first word is where that is seen.
    let explains = error_of(&format!("{}select 1", "explain ".repeat(100_000)));
    assert_eq!(explains, ("42601".into(), "syntax error at or near \"explain\"".into(), 9));
}

#[test]
fn precedence() {
    let kind = |text: &str| parse_expression(text).expect(text).kind;
    assert!(matches!(kind("a or b and not c = d"), ExprKind::Or(terms) if terms.len() == 2));
    assert!(
        matches!(kind("-2 ^ 2"), ExprKind::Binary(left, ..) if left.kind == ExprKind::Integer(-2))
    );
    assert!(matches!(kind("a = b is null"), ExprKind::IsNull { .. }));
    assert!(matches!(kind("a between 1 and 2 and b"), ExprKind::And(_)));
    assert!(matches!(kind("1 + 2 || 3"), ExprKind::Binary(_, op, _) if &*op.name == "||"));
    assert!(matches!(kind("a::int[] [1]"), ExprKind::Cast { .. }));
    assert_eq!(kind("-9223372036854775808"), ExprKind::Number("-9223372036854775808".into()));
}

/// A statement, cut anywhere or with any byte replaced, parses or is refused; nothing panics.
#[test]
fn no_bytes_make_it_panic() {
    let text = "with x as (insert into t(a) values (1, e'\\x41', $$q$$, u&'\\0041') on conflict (a) where b do update set \
                (a, b) = row(1) returning *) select distinct on (1) a.*, sum(b) filter (where c) over (partition by d rows \
                between 1 preceding and current row), case when a[1:2] = all (select 1) then extract(year \
                from interval '1' year) else (x).y::numeric(1,2) end from only t join lateral f(1) with ordinality as q(a int) \
                using (b) where a in (1, 2) and b not like 'x' escape 'y' group by cube(a) limit 1 for update of t skip locked";
    assert!(parse(text).is_ok());
    let mut seed = 88_172_645_463_325_252u64;
    let mut random = move || {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        seed as usize
    };
    let bytes = b"()[]'\",.;:$%1ae \\\n*-+<>=\0\xc3\xa9/";
    for cut in 0..text.len() {
        let _ = parse(&text[..cut]);
        let _ = parse(&text[cut..]);
    }
    for _ in 0..3000 {
        let mut changed = text.as_bytes().to_vec();
        for _ in 0..1 + random() % 3 {
            let at = random() % changed.len();
            changed[at] = bytes[random() % bytes.len()];
        }
        let _ = parse(&String::from_utf8_lossy(&changed));
    }
}

#[test]
fn one_text_of_several_statements() {
    let parsed = parse(";; select 1 ; begin;\n-- nothing\ncommit and chain;").expect("valid");
    assert_eq!(parsed.len(), 3);
    assert!(matches!(*parsed[0].statement, Statement::Query(_)));
    assert_eq!((parsed[0].start, parsed[0].end), (3, 11));
    assert!(parse(" /* nothing */ ").expect("valid").is_empty());
}

/// What PostgreSQL 15 says to statements of real clients with one token taken out, put in or replaced.
#[test]
fn errors_are_postgresqls() {
    let mut lines = include_str!("golden/errors.txt").lines();
    let mut differ = Vec::new();
    while let (Some(statement), Some(wanted)) = (lines.next(), lines.next()) {
        let found = match parse(statement) {
            Ok(_) => "nothing".to_owned(),
            Err(_) => {
                let (state, message, position) = error_of(statement);
                format!("! {state} {position} {message}")
            }
        };
        if found != wanted {
            differ.push(format!("{statement}\nPostgreSQL {wanted}\nAtoll      {found}"));
        }
    }
    assert!(differ.is_empty(), "{}", differ.join("\n"));
}
