//! Random expressions: what a body computes by a flat program is what a query computes by a tree, and fails with the same.

use crate::session::tests::{Random, engine, say, session};

/// Types: the name that variables begin with, the type's, and values.
const TYPES: [(&str, &str, &[&str]); 7] = [
    ("small", "int2", &["0", "1", "-1", "32767", "-32768", "7", "NULL"]),
    ("plain", "int4", &["0", "1", "-1", "2147483647", "-2147483648", "13", "NULL"]),
    ("large", "int8", &["0", "1", "-1", "9223372036854775807", "-9223372036854775808", "NULL"]),
    ("float", "float8", &["0", "1.5", "-2.25", "1e308", "'NaN'", "NULL"]),
    ("truth", "bool", &["true", "false", "NULL"]),
    ("word", "text", &["''", "'a'", "'B'", "NULL"]),
    ("list", "int4[]", &["'{1,2,3}'", "'{}'", "NULL", "'[0:2]={5,NULL,7}'"]),
];
const INTEGERS: u64 = 3;
const COMPARISONS: [&str; 6] = ["=", "<>", "<", "<=", ">", ">="];

/// An expression of a type, by its number, no deeper than this.
fn expression(random: &mut Random, ty: usize, depth: u32) -> String {
    let variable = |random: &mut Random| format!("{}{}", TYPES[ty].0, 1 + random.below(2));
    if depth == 0 || random.below(6) == 0 {
        return variable(random);
    }
    let depth = depth - 1;
    let some = |random: &mut Random, ty| expression(random, ty, depth);
    let integer = |random: &mut Random| random.below(INTEGERS) as usize;
    match (ty, random.below(8)) {
        (0..=2, 0..=2) => {
            let (left, right) = (some(random, ty), some(random, ty));
            format!("({left} {} {right})", random.of(&["+", "-", "*", "/", "%"]))
        }
        (1 | 2, 3) => {
            let narrower = random.below(ty as u64) as usize;
            let (left, right) = (some(random, ty), some(random, narrower));
            format!("({left} {} {right})", random.of(&["+", "-", "*", "/"]))
        }
        (0..=2, 3 | 4) => {
            let from = integer(random);
            format!("({})::{}", some(random, from), TYPES[ty].1)
        }
        (1, 5) => {
            let subscript = some(random, 1);
            format!("list{}[{subscript}]", 1 + random.below(2))
        }
        (3, 0..=2) => {
            let (left, right) = (some(random, 3), some(random, 3));
            format!("({left} {} {right})", random.of(&["+", "-", "*"]))
        }
        (3, 3 | 4) => {
            let from = integer(random);
            format!("({})::float8", some(random, from))
        }
        (4, 0 | 1) => {
            let (left, right) = (integer(random), integer(random));
            let (left, right) = (some(random, left), some(random, right));
            format!("({left} {} {right})", random.of(&COMPARISONS))
        }
        (4, 2 | 3) => {
            let of = random.of(&["3", "5", "4"]).parse().expect("a number");
            let (left, right) = (some(random, of), some(random, of));
            let comparison =
                if of == 4 { random.of(&["=", "<>"]) } else { random.of(&COMPARISONS) };
            format!("({left} {comparison} {right})")
        }
        (4, 4 | 5) => {
            let all: Vec<String> = (0..2 + random.below(2)).map(|_| some(random, 4)).collect();
            format!("({})", all.join(random.of(&[" AND ", " OR "])))
        }
        (4, 6) => format!("(NOT {})", some(random, 4)),
        (4, _) => {
            let test = random.of(&["NULL", "NOT NULL", "TRUE", "NOT FALSE", "UNKNOWN"]);
            format!("({} IS {test})", some(random, 4))
        }
        (6, _) => variable(random),
        (_, 6) => {
            let (one, other) = (some(random, ty), some(random, ty));
            format!("coalesce({one}, {other})")
        }
        _ => {
            let (when, then, otherwise) = (some(random, 4), some(random, ty), some(random, ty));
            format!("CASE WHEN {when} THEN {then} ELSE {otherwise} END")
        }
    }
}

#[test]
fn flat_programs_answer_as_trees_do() {
    let engine = engine();
    let mut session = session(&engine);
    let mut failed = 0;
    for seed in 1..=400u64 {
        let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let ty = random.below(6) as usize;
        let depth = 1 + random.below(4) as u32;
        let text = expression(&mut random, ty, depth);
        let (mut parameters, mut values, mut columns) = (Vec::new(), Vec::new(), Vec::new());
        for (name, ty, choices) in TYPES {
            for number in 1..=2 {
                parameters.push(format!("{name}{number} {ty}"));
                values.push(format!("({})::{ty}", random.of(choices)));
                columns.push(format!("{name}{number}"));
            }
        }
        let (parameters, values, columns) =
            (parameters.join(", "), values.join(", "), columns.join(", "));
        let result = TYPES[ty].1;
        // The first round is a tree's, as the text is made ready in it.
        let made = say(
            &mut session,
            &format!(
                "CREATE OR REPLACE FUNCTION probe{ty}({parameters}) RETURNS {result} LANGUAGE plpgsql AS $$
                 DECLARE r {result}; BEGIN FOR i IN 1 .. 2 LOOP r := {text}; END LOOP; RETURN r; END $$"
            ),
        );
        assert_eq!(made, ["CREATE FUNCTION"], "seed {seed}: {text}");
        let by_body = say(&mut session, &format!("SELECT probe{ty}({values})"));
        let by_query = say(
            &mut session,
            &format!("SELECT {text} FROM (SELECT {values} OFFSET 0) AS v({columns})"),
        );
        assert_eq!(by_body, by_query, "seed {seed}: {text} of {values}");
        failed += usize::from(by_body.len() == 1);
    }
    assert!((20..200).contains(&failed), "{failed} fail");
}
