//! The planner's rules: each can be switched off, EXPLAIN (STAGES) shows what it does, and no answer depends on any of them.
//!
//! Random queries are asked without rules in `tests/random_queries`.

use sql::settings::rule::RULES;
use tests::atoll::Atoll;
use tests::client::Client;

const MADE: &[&str] = &[
    "CREATE TABLE big (id int PRIMARY KEY, k int, name text)",
    "INSERT INTO big SELECT g, g % 20, 'n' || g FROM generate_series(1, 400) g",
    "CREATE INDEX big_k ON big (k)",
    "CREATE TABLE more (id int PRIMARY KEY, big int, note text)",
    "INSERT INTO more SELECT g, CASE WHEN g % 7 > 0 THEN g * 3 END, 'n' || g % 30 FROM generate_series(1, 80) g",
    "CREATE TABLE few (id int PRIMARY KEY, big int, note text)",
    "INSERT INTO few SELECT g, g % 10 * 30 + 3, 'n' || g FROM generate_series(1, 20) g",
    "INSERT INTO few VALUES (21, NULL, NULL), (22, 5000, 'none')",
    "CREATE FUNCTION twice(n int) RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT n * 2'",
    "ANALYZE big",
    "ANALYZE more",
    "ANALYZE few",
];

/// By its setting, a query that each rule does something to.
const BY_RULE: &[(&str, &str)] = &[
    ("atoll.enable_inline_functions", "SELECT id FROM few WHERE twice(big) > 300 ORDER BY 1"),
    (
        "atoll.enable_merge_ctes",
        "WITH s AS (SELECT big, count(*) AS n FROM more GROUP BY big) SELECT b.id, s.n FROM big b JOIN s ON s.big = b.id WHERE b.id = 6",
    ),
    (
        "atoll.enable_simplify_exists",
        "SELECT id FROM few f WHERE EXISTS (SELECT DISTINCT b.name FROM big b WHERE b.id = f.big ORDER BY b.name) ORDER BY 1",
    ),
    (
        "atoll.enable_pull_up_sublinks",
        "SELECT id FROM more m WHERE NOT EXISTS (SELECT FROM few f WHERE f.big = m.big) ORDER BY 1",
    ),
    (
        "atoll.enable_pull_up_laterals",
        "SELECT b.id, s.note FROM big b LEFT JOIN LATERAL (SELECT m.note FROM more m WHERE m.big = b.id) s ON true WHERE b.k = 3 ORDER BY 1, 2",
    ),
    (
        "atoll.enable_remove_unread",
        "SELECT f.id FROM few f LEFT JOIN big b ON b.id = f.big ORDER BY 1",
    ),
    (
        "atoll.enable_push_down_conditions",
        "SELECT b.name, s.n FROM big b JOIN (SELECT note, big, id + 1 AS n FROM more) s ON s.big = b.id WHERE b.k = 3 AND s.note <> 'n1' ORDER BY 1, 2",
    ),
    (
        "atoll.enable_reduce_outer_joins",
        "SELECT f.id, b.k FROM few f LEFT JOIN big b ON b.id = f.big WHERE b.k > 3 ORDER BY 1",
    ),
    (
        "atoll.enable_one_time_filters",
        "SELECT id FROM few WHERE (SELECT count(*) FROM more) > 3 ORDER BY 1",
    ),
    (
        "atoll.enable_postpone_subqueries",
        "SELECT s.id, s.c FROM (SELECT id, big, (SELECT count(*) FROM more m WHERE m.big = f.big) AS c FROM few f) s JOIN big b ON b.id = s.big WHERE b.k < 9 ORDER BY 1",
    ),
    (
        "atoll.enable_imply_equalities",
        "SELECT b.k, m.id, f.id FROM big b JOIN (more m LEFT JOIN few f ON f.big = m.big) ON b.id = m.big WHERE b.id = 3 ORDER BY 2, 3",
    ),
    (
        "atoll.enable_order_joins",
        "SELECT f.id, m.id FROM big b, more m, few f WHERE m.big = b.id AND f.big = b.id ORDER BY 1, 2",
    ),
    (
        "atoll.enable_unique_semijoins",
        "SELECT id FROM big WHERE id IN (SELECT big FROM few) ORDER BY 1",
    ),
    ("enable_bitmapscan", "SELECT id FROM big WHERE id = 3 OR k = 7 ORDER BY 1"),
    ("enable_indexonlyscan", "SELECT k FROM big WHERE k = 3"),
    (
        "atoll.enable_hash_subplans",
        "SELECT id FROM few WHERE big NOT IN (SELECT big FROM more WHERE big IS NOT NULL) ORDER BY 1",
    ),
    (
        "atoll.enable_exists_as_any",
        "SELECT id, EXISTS (SELECT FROM big b WHERE b.name = f.note) FROM few f ORDER BY 1",
    ),
    ("enable_material", "SELECT count(*) FROM few f JOIN more m ON f.note < m.note"),
    ("atoll.enable_avoid_sorts", "SELECT id, k FROM big ORDER BY id"),
    ("atoll.enable_sort_below_distinct", "SELECT DISTINCT id, k FROM big ORDER BY k, id"),
    ("atoll.enable_bound_sorts", "SELECT id, name FROM big ORDER BY name DESC LIMIT 3"),
    ("enable_incremental_sort", "SELECT id, k, name FROM big ORDER BY k, name LIMIT 3"),
    (
        "atoll.enable_plan_for_first_rows",
        "SELECT b.id, m.id FROM big b JOIN more m ON m.id = b.k + 1 ORDER BY b.id LIMIT 3",
    ),
    ("atoll.enable_extremes_by_key", "SELECT min(id), max(id) FROM big"),
    ("atoll.enable_order_conditions", "SELECT id FROM big WHERE name = 'n7' AND k > 3"),
];

/// Statements that change rows or lock them, and forms of queries that several rules come to.
const OTHERS: &[&str] = &[
    "SELECT f.id FROM few f LEFT JOIN big b ON b.id = f.big WHERE b.k > 3 ORDER BY 1 FOR UPDATE",
    "UPDATE big SET k = k + 1 FROM few f WHERE f.big = big.id AND f.id < 9 AND EXISTS (SELECT FROM more m WHERE m.big = big.id) RETURNING big.id, big.k",
    "DELETE FROM more WHERE id IN (SELECT big FROM few) OR id = 3 RETURNING *",
    "MERGE INTO few f USING (SELECT id, k FROM big WHERE id < 40) s ON f.id = s.id WHEN MATCHED AND s.k > 10 THEN DELETE WHEN MATCHED THEN UPDATE SET big = s.k WHEN NOT MATCHED THEN INSERT VALUES (s.id, s.k, 'new')",
    "INSERT INTO few SELECT id + 100, k, name FROM big WHERE k = 4 ON CONFLICT (id) DO UPDATE SET big = 0 RETURNING id",
    "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n < (SELECT count(*) FROM few)) SELECT n, (SELECT name FROM big WHERE id = n) FROM r",
    "SELECT f.id, l.* FROM few f LEFT JOIN LATERAL (SELECT m.id, m.note FROM more m WHERE m.big > f.big ORDER BY m.id LIMIT 2) l ON l.note <> 'n3'",
    "SELECT a.id, b.id FROM (SELECT * FROM few WHERE big > 100) a FULL JOIN (SELECT * FROM few WHERE big < 400) b USING (id) WHERE coalesce(a.big, b.big) <> 63",
    "SELECT f.id FROM more m RIGHT JOIN few f ON m.big = f.big AND m.id > 20 WHERE m.id IS NULL OR f.id % 2 = 0",
    "SELECT k, count(*), sum(id) FILTER (WHERE name > 'n5') FROM big WHERE k IN (SELECT id FROM few) GROUP BY k HAVING count(*) > 1 AND k <> 3",
    "SELECT id FROM few WHERE big IN (SELECT big FROM more UNION SELECT id FROM big WHERE k = 3) INTERSECT SELECT id FROM big WHERE k < 15",
    "SELECT id, big NOT IN (SELECT big FROM more) FROM few",
    "SELECT id, rank() OVER (PARTITION BY k ORDER BY id) FROM big WHERE k < 3 AND id IN (SELECT big FROM few WHERE note IS NOT NULL)",
    "SELECT id FROM few WHERE false AND 1 / (id - id) = 1",
];

/// Queries of which so many scans read by a key what a condition above a node, or on another table, asks for.
const BELOW: &[(usize, &str)] = &[
    (1, "SELECT * FROM (SELECT id, count(*) FROM big GROUP BY id) s WHERE id = 5"),
    (1, "SELECT id, max(k) FROM big GROUP BY id HAVING id = 5 AND max(k) > 0"),
    (1, "SELECT * FROM (SELECT DISTINCT id, name FROM big) s WHERE id = 5"),
    (1, "SELECT * FROM (SELECT DISTINCT ON (id) id, name FROM big ORDER BY id, k) s WHERE id = 5"),
    (0, "SELECT * FROM (SELECT DISTINCT ON (k) id, k FROM big ORDER BY k, id) s WHERE id = 5"),
    (1, "SELECT * FROM (SELECT id, sum(k) OVER (PARTITION BY id) FROM big) s WHERE id = 5"),
    (0, "SELECT * FROM (SELECT id, sum(k) OVER (ORDER BY id) FROM big) s WHERE id = 5"),
    (2, "SELECT * FROM (SELECT id FROM big UNION ALL SELECT id FROM more) s WHERE id = 5"),
    (2, "SELECT * FROM (SELECT id, note FROM few UNION SELECT id, note FROM more) s WHERE id = 5"),
    (2, "SELECT * FROM (SELECT id FROM big INTERSECT SELECT id FROM more) s WHERE id = 5"),
    (0, "SELECT * FROM (SELECT id FROM big EXCEPT SELECT id FROM more) s WHERE id = 5"),
    (0, "SELECT * FROM (SELECT id FROM big ORDER BY k LIMIT 9) s WHERE id = 5"),
    (0, "SELECT * FROM (SELECT id, count(*) FROM big GROUP BY ROLLUP (id)) s WHERE id = 5"),
    (1, "SELECT * FROM (SELECT id, generate_series(1, 2) AS g FROM big) s WHERE id = 5 AND g = 2"),
    (
        2,
        "SELECT b.id, s.n FROM big b JOIN (SELECT id, count(*) AS n FROM more GROUP BY id) s ON s.id = b.id WHERE b.id = 6",
    ),
    (
        2,
        "SELECT b.id, s.n FROM big b LEFT JOIN (SELECT id, count(*) AS n FROM more GROUP BY id) s ON s.id = b.id WHERE b.id = 6",
    ),
    (
        3,
        "SELECT f.id, s.k FROM few f JOIN (SELECT id, k FROM big UNION ALL SELECT id, big + 1 FROM more) s ON s.id = f.id WHERE f.id < 4",
    ),
    (
        3,
        "SELECT b.k, m.id, f.id FROM big b JOIN (more m LEFT JOIN few f ON f.id = m.big) ON b.id = m.id WHERE b.id = 3",
    ),
];

fn made(atoll: &Atoll) -> Client {
    let mut client = atoll.connect();
    MADE.iter().for_each(|statement| drop(client.run(statement)));
    client
}

/// What a statement answers, undone; rows in no order unless it gives one.
fn answer(client: &mut Client, sql: &str) -> (String, Vec<Vec<Option<String>>>) {
    client.run("BEGIN");
    let reply = client.query(sql);
    let changed = client.query("SELECT 'big', count(*), sum(k) FROM big UNION ALL SELECT 'few', count(*), sum(big) FROM few UNION ALL SELECT 'more', count(*), sum(big) FROM more");
    client.run("ROLLBACK");
    let mut rows = reply.rows.clone();
    if !sql.contains("ORDER BY") || sql.contains("LATERAL") || sql.contains("OVER") {
        rows.sort();
    }
    rows.extend(changed.rows);
    (reply.sqlstate().to_owned(), rows)
}

fn lines(client: &mut Client, sql: &str) -> Vec<String> {
    let rows = client.run(sql).rows;
    rows.into_iter().map(|row| row[0].clone().unwrap_or_default()).collect()
}

#[test]
fn answers_do_not_depend_on_rules() {
    let atoll = Atoll::start(&[]);
    let mut client = made(&atoll);
    let statements = BY_RULE.iter().map(|(_, sql)| *sql).chain(OTHERS.iter().copied());
    let below = BELOW.iter().map(|(_, sql)| *sql);
    let statements: Vec<&str> = statements.chain(below).collect();
    let wanted: Vec<_> = statements.iter().map(|sql| answer(&mut client, sql)).collect();
    for (sql, (state, _)) in statements.iter().zip(&wanted) {
        assert_eq!(state, "", "{sql}");
    }
    let compare = |client: &mut Client, off: &str| {
        for (sql, wanted) in statements.iter().zip(&wanted) {
            assert_eq!(&answer(client, sql), wanted, "{off} off: {sql}");
        }
    };
    for rule in &RULES {
        client.run(&format!("SET {} = off", rule.setting));
        compare(&mut client, rule.name);
        client.run(&format!("RESET {}", rule.setting));
    }
    RULES.iter().for_each(|rule| drop(client.run(&format!("SET {} = off", rule.setting))));
    compare(&mut client, "all");
}

#[test]
fn conditions_reach_the_keys_below() {
    let atoll = Atoll::start(&[]);
    let mut client = made(&atoll);
    for (scans, sql) in BELOW {
        let plan = lines(&mut client, &format!("EXPLAIN (COSTS OFF) {sql}"));
        let by_key = plan.iter().filter(|line| line.contains("Index Cond: (id")).count();
        assert_eq!(by_key, *scans, "{sql}\n{}", plan.join("\n"));
    }
}

#[test]
fn groups_come_in_the_order_of_keys() {
    const IN_ORDER: &[(bool, &str)] = &[
        (true, "SELECT k, count(*) FROM big GROUP BY k ORDER BY k LIMIT 2"),
        (true, "SELECT k, count(*) FROM big GROUP BY k ORDER BY k DESC LIMIT 2"),
        (true, "SELECT k, count(*) FROM big GROUP BY k LIMIT 2"),
        (true, "SELECT id, name, count(*) FROM big GROUP BY name, id ORDER BY id"),
        (
            true,
            "SELECT b.id, count(*) FROM big b JOIN more m ON m.id = b.k GROUP BY b.id ORDER BY b.id LIMIT 2",
        ),
        (true, "SELECT k, name, count(*) FROM big GROUP BY k, name ORDER BY k LIMIT 2"),
        (true, "SELECT k, count(*) FROM big GROUP BY k ORDER BY k, count(*) LIMIT 2"),
        (false, "SELECT k, count(*) FROM big GROUP BY k ORDER BY count(*) LIMIT 2"),
        (false, "SELECT k, count(*) FROM big GROUP BY k ORDER BY k"),
        (false, "SELECT k, count(*) FROM big GROUP BY ROLLUP (k) ORDER BY k LIMIT 2"),
        (false, "SELECT name, count(*) FROM big GROUP BY name ORDER BY name LIMIT 2"),
        (false, "SELECT id % 3, count(*) FROM big GROUP BY id % 3 LIMIT 2"),
    ];
    let atoll = Atoll::start(&[]);
    let mut client = made(&atoll);
    for (in_order, sql) in IN_ORDER {
        let plan = lines(&mut client, &format!("EXPLAIN {sql}"));
        let groups = plan.iter().any(|line| line.contains("GroupAggregate"));
        assert_eq!(groups, *in_order, "{sql}: {plan:#?}");
    }
}

#[test]
fn what_differs_first_is_found_in_the_order_of_keys() {
    let atoll = Atoll::start(&[]);
    let mut client = made(&atoll);
    for (sorts, sql) in [
        (false, "SELECT DISTINCT ON (k) k, id, name FROM big ORDER BY k, id LIMIT 3"),
        (false, "SELECT DISTINCT ON (k) k, name FROM big ORDER BY k DESC LIMIT 3"),
        (true, "SELECT DISTINCT ON (k) k, name FROM big ORDER BY k, name LIMIT 3"),
        (true, "SELECT DISTINCT ON (name) name, k FROM big ORDER BY name LIMIT 3"),
        (true, "SELECT DISTINCT ON (k) k, name FROM big ORDER BY k"),
    ] {
        let plan = lines(&mut client, &format!("EXPLAIN {sql}"));
        assert_eq!(plan.iter().any(|line| line.contains("Sort")), sorts, "{sql}: {plan:#?}");
    }
}

#[test]
fn plans_go_by_the_values_at_hand() {
    let atoll = Atoll::start(&[]);
    let mut client = atoll.connect();
    client.run("CREATE TABLE tall (id int PRIMARY KEY, k int, s text)");
    client.run("INSERT INTO tall SELECT g, g * 7919 % 20000, CASE WHEN g % 500 = 0 THEN 'rare' ELSE 'common' END FROM generate_series(1, 20000) g");
    client.run("CREATE INDEX tall_k ON tall (k)");
    client.run("CREATE INDEX tall_s ON tall (s)");
    client.run("ANALYZE tall");
    client.run("PREPARE below (int) AS SELECT * FROM tall WHERE k < $1");
    client.run("PREPARE called (text) AS SELECT * FROM tall WHERE s = $1");
    for (call, by_key) in [
        ("below (5)", true),
        ("below (19000)", false),
        ("below (NULL)", true),
        ("called ('rare')", true),
        ("called ('common')", false),
    ] {
        let plan = lines(&mut client, &format!("EXPLAIN (COSTS OFF) EXECUTE {call}")).join("\n");
        assert_eq!(plan.contains("Index Cond"), by_key, "{call}\n{plan}");
    }
    client.run("SET plan_cache_mode = force_generic_plan");
    for call in ["below (5)", "called ('rare')"] {
        let plan = lines(&mut client, &format!("EXPLAIN (COSTS OFF) EXECUTE {call}")).join("\n");
        assert!(!plan.contains("Index Cond"), "{call}\n{plan}");
    }
}

#[test]
fn each_rule_is_switched_off_by_its_setting() {
    let atoll = Atoll::start(&[]);
    let mut client = made(&atoll);
    let settings: Vec<&str> = RULES.iter().map(|rule| rule.setting).collect();
    let tried: Vec<&str> = BY_RULE.iter().map(|(setting, _)| *setting).collect();
    assert_eq!(settings, tried);
    for (rule, (_, sql)) in RULES.iter().zip(BY_RULE) {
        let name = rule.name;
        let explained = format!("EXPLAIN (COSTS OFF) {sql}");
        // The same text as it was planned with the rule: a plan is found by what it was planned with, too.
        let with = lines(&mut client, &explained);
        let mut other = atoll.connect();
        other.run(&format!("SET {} = off", rule.setting));
        let without = lines(&mut other, &explained);
        let stages = lines(&mut client, &format!("EXPLAIN (STAGES, COSTS OFF) {sql}"));
        let stage = format!("Stage: {name}");
        // EXPLAIN does not say how many rows a sort keeps.
        if name != "bound_sorts" {
            assert_ne!(with, without, "{name}");
            assert!(stages.contains(&stage), "{name}: {}", stages.join("\n"));
        }
        let stages = lines(&mut other, &format!("EXPLAIN (STAGES, COSTS OFF) {sql}"));
        assert!(!stages.contains(&stage), "{name}: {}", stages.join("\n"));
        assert_eq!(lines(&mut client, &explained), with, "{name}");
    }
}

#[test]
fn explain_shows_the_plan_after_each_rule_that_changes_it() {
    let atoll = Atoll::start(&[]);
    let mut client = made(&atoll);
    let sql = "SELECT f.id FROM few f LEFT JOIN big b ON b.id = f.big WHERE b.k = 3 AND f.id < 9";
    let shown = lines(&mut client, &format!("EXPLAIN (STAGES, COSTS OFF) {sql}")).join("\n");
    assert_eq!(
        shown,
        "\
Stage: as written
Nested Loop Left Join
  Filter: ((b.k = 3) AND (f.id < 9))
  ->  Seq Scan on few f
  ->  Index Scan using big_pkey on big b
        Index Cond: (id = f.big)
Stage: push_down_conditions
Nested Loop Left Join
  Filter: (b.k = 3)
  ->  Index Scan using few_pkey on few f
        Index Cond: (id < 9)
  ->  Index Scan using big_pkey on big b
        Index Cond: (id = f.big)
Stage: reduce_outer_joins
Nested Loop
  ->  Index Scan using few_pkey on few f
        Index Cond: (id < 9)
  ->  Index Scan using big_pkey on big b
        Index Cond: (id = f.big)
        Filter: (k = 3)"
    );
    let json = lines(&mut client, "EXPLAIN (STAGES, COSTS OFF, FORMAT JSON) SELECT 1").join("\n");
    assert!(json.contains("\"Stages\": [\n      {\n        \"Rule\": \"as written\","), "{json}");
    assert_eq!(client.query("EXPLAIN (STAGES maybe) SELECT 1").sqlstate(), "42601");
    assert_eq!(client.query("EXPLAIN (STAGE) SELECT 1").sqlstate(), "42601");
    client.run("PREPARE found(int) AS SELECT name FROM big WHERE id = $1");
    let shown = lines(&mut client, "EXPLAIN (STAGES, COSTS OFF) EXECUTE found(1)").join("\n");
    assert!(shown.contains("Stage: push_down_conditions\nIndex Scan"), "{shown}");
    let analyzed =
        "EXPLAIN (STAGES, ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) SELECT 1 FROM few";
    assert_eq!(
        lines(&mut client, analyzed).join("\n"),
        "Stage: as written\nSeq Scan on few (actual rows=22 loops=1)"
    );
}

#[test]
fn plans_go_by_what_is_computed_of_the_present() {
    let atoll = Atoll::start(&[]);
    let mut client = atoll.connect();
    client.run("CREATE TABLE met (id int PRIMARY KEY, at timestamptz, local timestamp, day date)");
    client.run("INSERT INTO met SELECT g, now() - k * interval '1 hour', localtimestamp - k * interval '1 hour', current_date - k / 24 FROM generate_series(1, 20000) g, LATERAL (SELECT g * 7919 % 20000 AS k) s");
    for column in ["at", "local", "day"] {
        client.run(&format!("CREATE INDEX met_{column} ON met ({column})"));
    }
    client.run("ANALYZE met");
    client.run("PREPARE since (interval) AS SELECT * FROM met WHERE local > now() - $1");
    for (condition, by_key) in [
        ("at > now() - interval '1 hour'", true),
        ("at > now() - interval '700 days'", false),
        ("local > now() - interval '1 hour'", true),
        ("local <= now() - interval '1 hour'", false),
        ("local > localtimestamp - interval '1 hour'", true),
        ("day >= now() - interval '1 day'", true),
        ("day > current_date - 2", true),
        ("day = current_timestamp", true),
        ("local = timestamptz '2020-01-01 00:00+00'", true),
    ] {
        let sql = format!("EXPLAIN (COSTS OFF) SELECT * FROM met WHERE {condition}");
        let plan = lines(&mut client, &sql).join("\n");
        assert_eq!(plan.contains("Index Cond"), by_key, "{condition}\n{plan}");
    }
    for (since, by_key) in [("1 hour", true), ("700 days", false)] {
        let sql = format!("EXPLAIN (COSTS OFF) EXECUTE since ('{since}')");
        let plan = lines(&mut client, &sql).join("\n");
        assert_eq!(plan.contains("Index Cond"), by_key, "{since}\n{plan}");
    }
}

/// Local times that a clock skips, or has twice, compare with points in time in another order than with each other.
#[test]
fn changes_of_the_clock_leave_out_no_row_that_is_found_by_key() {
    let atoll = Atoll::start(&[]);
    let mut client = atoll.connect();
    client.run("SET timezone = 'America/New_York'");
    client.run("CREATE TABLE clocked (id int PRIMARY KEY, local timestamp, day date)");
    client.run("INSERT INTO clocked SELECT g, timestamp '2024-03-09 20:00' + g * interval '7 minutes', date '2024-03-09' + g / 205 FROM generate_series(1, 500) g");
    client.run("INSERT INTO clocked SELECT g + 1000, timestamp '2024-11-02 20:00' + g * interval '7 minutes', date '2024-11-02' + g / 205 FROM generate_series(1, 500) g");
    client.run("CREATE INDEX clocked_local ON clocked (local)");
    client.run("CREATE INDEX clocked_day ON clocked (day)");
    client.run("ANALYZE clocked");
    let moments = "SELECT timestamptz '2024-03-10 00:00-05' + g * interval '17 minutes' AS m FROM generate_series(0, 40) g \
        UNION ALL SELECT timestamptz '2024-11-03 00:00-04' + g * interval '17 minutes' FROM generate_series(0, 40) g";
    let counts: Vec<String> = ["local", "day"]
        .iter()
        .flat_map(|column| ["<", "<=", "=", ">=", ">"].map(|how| (column, how)))
        .map(|(column, how)| format!("(SELECT count(*) FROM clocked WHERE {column} {how} m)"))
        .collect();
    let sql = format!("SELECT m, {} FROM ({moments}) q ORDER BY 1", counts.join(", "));
    client.run("SET enable_seqscan = off");
    let plan = lines(&mut client, &format!("EXPLAIN (COSTS OFF) {sql}")).join("\n");
    assert_eq!(plan.matches("Index Cond").count(), counts.len(), "{plan}");
    let by_key = client.query(&sql).rows;
    client.run("RESET enable_seqscan");
    client.run("SET enable_indexscan = off");
    client.run("SET enable_indexonlyscan = off");
    client.run("SET enable_bitmapscan = off");
    assert_eq!(by_key.len(), 82);
    assert_eq!(by_key, client.query(&sql).rows);
}
