//! Random bodies: a program of operations gives, says and fails with what the same body does statement by statement.

use crate::session::tests::{Random, engine, said, say, session};
use std::fmt::Write;

/// What is around the statement that is made.
#[derive(Default)]
struct Around {
    /// The labels of loops, and of blocks.
    loops: Vec<String>,
    blocks: Vec<String>,
    labels: u32,
    /// How many statements there may be still.
    left: u32,
}

fn integer(random: &mut Random, depth: u32) -> String {
    if depth == 0 || random.below(3) == 0 {
        return random.of(&["a", "b", "n", "1", "2", "7", "3", "l[a]", "l[2]"]).to_owned();
    }
    let (one, other) = (integer(random, depth - 1), integer(random, depth - 1));
    match random.below(12) {
        0..=4 => format!("({one} {} {other})", random.of(&["+", "-", "*", "%", "/"])),
        5 => format!("coalesce({one}, {other})"),
        6 => format!("(CASE WHEN {} THEN {one} ELSE {other} END)", condition(random, 1)),
        7 => format!("length(t || {one})"),
        8 => format!("doubled({one})"),
        9 => format!("greatest({one}, {other})"),
        10 => format!("least_of({one}, {other})"),
        _ => format!("(k + {one})::int"),
    }
}

fn condition(random: &mut Random, depth: u32) -> String {
    let (one, other) = (integer(random, depth), integer(random, depth));
    match random.below(6) {
        0..=2 => format!("{one} {} {other}", random.of(&["<", ">", "=", "<>", "<=", ">="])),
        3 => format!("({one} > {other} AND {other} IS NOT NULL)"),
        4 => format!("({one} IS NULL OR NOT {other} > 2)"),
        _ => format!("t < 'm' OR {one} > 3"),
    }
}

fn statements(random: &mut Random, around: &mut Around, depth: u32, into: &mut String) {
    for _ in 0..1 + random.below(3) {
        statement(random, around, depth, into);
    }
}

fn statement(random: &mut Random, around: &mut Around, depth: u32, into: &mut String) {
    if around.left == 0 {
        into.push_str("NULL;\n");
        return;
    }
    around.left -= 1;
    let kind = if depth == 0 { random.below(9) } else { random.below(20) };
    let _ = match kind {
        0 | 1 => writeln!(into, "{} := {};", random.of(&["a", "b"]), integer(random, 2)),
        2 => writeln!(into, "k := k + {};", integer(random, 1)),
        3 => writeln!(into, "t := t || {};", integer(random, 1)),
        4 => writeln!(into, "l[{}] := {};", random.of(&["1", "2", "3", "a"]), integer(random, 1)),
        5 => {
            let (leaves, condition) = (random.of(&["EXIT", "CONTINUE"]), condition(random, 1));
            let loops = around.loops.len() as u64;
            if loops == 0 {
                return;
            }
            let label = around.loops[random.below(loops) as usize].clone();
            writeln!(
                into,
                "{leaves} {} WHEN {condition};",
                if random.below(2) == 0 { "" } else { &label }
            )
        }
        6 => match around.blocks.last() {
            Some(label) => writeln!(into, "EXIT {label} WHEN {};", condition(random, 1)),
            None => writeln!(into, "PERFORM {};", integer(random, 1)),
        },
        7 => writeln!(
            into,
            "IF {} THEN RETURN t || {}; END IF;",
            condition(random, 2),
            integer(random, 1)
        ),
        8 => writeln!(into, "m := {};", integer(random, 1)),
        9..=11 => {
            let _ = writeln!(into, "IF {} THEN", condition(random, 2));
            statements(random, around, depth - 1, into);
            if random.below(2) == 0 {
                let _ = writeln!(into, "ELSIF {} THEN", condition(random, 1));
                statements(random, around, depth - 1, into);
            }
            if random.below(2) == 0 {
                into.push_str("ELSE\n");
                statements(random, around, depth - 1, into);
            }
            writeln!(into, "END IF;")
        }
        12 => {
            let _ = writeln!(into, "CASE {} WHEN 1, 2 THEN", integer(random, 1));
            statements(random, around, depth - 1, into);
            let _ = writeln!(into, "WHEN {} THEN", integer(random, 1));
            statements(random, around, depth - 1, into);
            if random.below(3) > 0 {
                into.push_str("ELSE\n");
                statements(random, around, depth - 1, into);
            }
            writeln!(into, "END CASE;")
        }
        13..=16 => {
            around.labels += 1;
            let label = format!("l{}", around.labels);
            let _ = match random.below(5) {
                0 | 1 => writeln!(
                    into,
                    "<<{label}>> FOR i IN {} {} .. {} LOOP",
                    random.of(&["", "REVERSE"]),
                    random.of(&["0", "1", "least(greatest(b, 0), 5)", "4"]),
                    random.of(&["0", "1", "3", "4", "least(greatest(a, 0), 5)"]),
                ),
                2 => writeln!(
                    into,
                    "<<{label}>> WHILE k < 6 AND c < 60 LOOP k := k + 1; c := c + 1;"
                ),
                3 => writeln!(
                    into,
                    "<<{label}>> FOR r IN SELECT g, g + 1 AS h FROM generate_series(1, 3) g LOOP b := b + r.h;"
                ),
                _ => writeln!(into, "<<{label}>> FOREACH a IN ARRAY l LOOP"),
            };
            around.loops.push(label);
            statements(random, around, depth - 1, into);
            around.loops.pop();
            writeln!(into, "END LOOP; t := t || found;")
        }
        _ => {
            around.labels += 1;
            let label = format!("b{}", around.labels);
            let _ = writeln!(into, "<<{label}>> DECLARE b int := {}; BEGIN", integer(random, 1));
            around.blocks.push(label);
            statements(random, around, depth - 1, into);
            around.blocks.pop();
            if random.below(2) == 0 {
                let _ = writeln!(
                    into,
                    "EXCEPTION WHEN {} THEN t := t || sqlstate || sqlerrm;",
                    random.of(&[
                        "others",
                        "division_by_zero",
                        "null_value_not_allowed OR case_not_found"
                    ]),
                );
                statements(random, around, depth - 1, into);
            }
            writeln!(into, "END;")
        }
    };
}

#[test]
fn programs_do_what_statements_do() {
    let engine = engine();
    let mut session = session(&engine);
    for text in [
        "CREATE FUNCTION doubled(x int) RETURNS int LANGUAGE plpgsql AS $$ BEGIN IF x > 1000 THEN RETURN x / (x - x); END IF; RETURN x * 2; END $$",
        "CREATE FUNCTION least_of(x int, y int) RETURNS int STRICT LANGUAGE plpgsql AS $$ BEGIN IF x > 50 THEN RETURN least_of(x - 50, y); END IF; IF x < y THEN RETURN x; END IF; RETURN y; END $$",
    ] {
        assert_eq!(say(&mut session, text), ["CREATE FUNCTION"]);
    }
    let (mut failed, mut ended) = (0, 0);
    for seed in 1..=150u64 {
        let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let mut around = Around { left: 24, ..Around::default() };
        let mut body = String::new();
        for _ in 0..3 {
            statements(&mut random, &mut around, 3, &mut body);
        }
        let text = format!(
            "CREATE OR REPLACE FUNCTION probe(n int) RETURNS text LANGUAGE plpgsql AS $probe$
             DECLARE a int := 2; b int := 3; k bigint := 0; t text := ''; c int := 0; m int NOT NULL := 1; l int[] := '{{3,1,2}}'; r record;
             BEGIN
             {body}
             RETURN concat_ws(' ', t, a, b, k, m, l); END $probe$"
        );
        assert_eq!(say(&mut session, &text), ["CREATE FUNCTION"], "seed {seed}: {text}");
        // Each is called twice: the second time all that has been met is compiled.
        let calls =
            ["SELECT probe(1)", "SELECT probe(NULL)", "SELECT probe(1)", "SELECT probe(2000)"];
        session.without_programs = true;
        let plainly: Vec<_> = calls.iter().map(|call| said(&mut session, call)).collect();
        session.without_programs = false;
        session.texts.clear();
        let by_program: Vec<_> = calls.iter().map(|call| said(&mut session, call)).collect();
        assert_eq!(by_program, plainly, "seed {seed}: {text}");
        failed += usize::from(plainly[0].0.len() == 1);
        ended += usize::from(plainly[0].0.len() > 1);
    }
    assert!(failed > 4 && ended > 40, "{failed} fail, {ended} do not");
}
