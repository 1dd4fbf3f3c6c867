//! Changes of the schema by several sessions at once: what was acknowledged stays, whoever else changes the same object
//! meanwhile. Whoever waited for another one's change reads again, and writes only what it changes itself.

use tests::atoll::Atoll;
use tests::client::Client;
use tests::waiting::{LOOK, answers};

/// What `waiting` has answered behind `COMMIT` of the holder: it waits for that, or not.
fn beside(port: u16, [first, second]: [&str; 2]) -> Vec<String> {
    let [mut holder, mut other] = [(); 2].map(|()| Client::connect(port, "postgres", "postgres"));
    holder.run("BEGIN");
    holder.run(first);
    other.start(second);
    let waits = !answers(&mut other, &mut Client::connect(port, "postgres", "postgres"), LOOK);
    holder.run("COMMIT");
    let replies = other.replies().expect("the connection stands");
    let states = replies.iter().map(|reply| reply.sqlstate().to_owned());
    states.chain([waits.to_string()]).collect()
}

fn names(client: &mut Client, sql: &str) -> Vec<String> {
    let rows = client.run(sql).rows;
    rows.into_iter().map(|row| row[0].clone().unwrap_or_default()).collect()
}

#[test]
fn two_indexes_of_one_table_made_at_once_are_both_there() {
    let atoll = Atoll::start(&[]);
    let mut client = atoll.connect();
    client.run("CREATE TABLE cu (a int, b int)");
    client.run("INSERT INTO cu VALUES (1, 1)");
    let both = ["CREATE UNIQUE INDEX cu_a ON cu (a)", "CREATE INDEX cu_b ON cu (b)"];
    assert_eq!(beside(atoll.port(), both)[0], "");
    let indexes = "SELECT indexname FROM pg_indexes WHERE tablename = 'cu' ORDER BY 1";
    assert_eq!(names(&mut client, indexes), ["cu_a", "cu_b"]);
    assert_eq!(client.query("INSERT INTO cu VALUES (1, 2)").sqlstate(), "23505");
}

#[test]
fn default_privileges_given_at_once_are_all_there() {
    let atoll = Atoll::start(&[]);
    let mut client = atoll.connect();
    client.run("CREATE ROLE one");
    client.run("CREATE ROLE two");
    let both = ["one", "two"]
        .map(|role| format!("ALTER DEFAULT PRIVILEGES GRANT SELECT ON TABLES TO {role}"));
    assert_eq!(beside(atoll.port(), [&both[0], &both[1]])[0], "");
    let kept = "SELECT defaclacl::text FROM pg_default_acl";
    let wanted = "{postgres=arwdDxt/postgres,one=r/postgres,two=r/postgres}";
    assert_eq!(names(&mut client, kept), [wanted]);
}

#[test]
fn an_index_that_is_renamed_while_its_column_gets_another_type_keeps_its_new_name() {
    let atoll = Atoll::start(&[]);
    let mut client = atoll.connect();
    client.run("CREATE TABLE cu (a int)");
    client.run("CREATE INDEX cu_a ON cu (a)");
    let both = ["ALTER INDEX cu_a RENAME TO cu_a2", "ALTER TABLE cu ALTER COLUMN a TYPE bigint"];
    // PostgreSQL makes the index anew as it was called before the wait.
    assert_eq!(beside(atoll.port(), both)[0], "");
    let indexes = "SELECT indexname FROM pg_indexes WHERE tablename = 'cu'";
    assert_eq!(names(&mut client, indexes), ["cu_a2"]);
}

#[test]
fn methods_that_are_off_are_taken_only_where_there_is_no_other() {
    let atoll = Atoll::start(&[]);
    let mut client = atoll.connect();
    client.run("CREATE TABLE few (a int PRIMARY KEY, b int, c text)");
    client.run("CREATE INDEX few_b ON few (b)");
    client.run("INSERT INTO few SELECT g, g, 'c' FROM generate_series(1, 1000) AS g");
    client.run("ANALYZE few");
    let mut plan = |setting: &str, sql: &str| {
        client.run(&format!("SET {setting} = off"));
        let shown = names(&mut client, &format!("EXPLAIN (COSTS OFF) {sql}")).join("\n");
        client.run(&format!("RESET {setting}"));
        shown
    };
    let by_key = "SELECT * FROM few WHERE b < 990";
    assert!(plan("enable_hashjoin", by_key).contains("Seq Scan"));
    assert!(plan("enable_seqscan", by_key).contains("Index Scan using few_b"));
    assert!(plan("enable_seqscan", "SELECT c FROM few").contains("Seq Scan"));
    let joined = "SELECT * FROM few AS x JOIN few AS y ON x.b + 0 = y.b + 0";
    assert!(plan("enable_nestloop", joined).contains("Hash Join"));
    assert!(plan("enable_hashjoin", joined).contains("Nested Loop"));
    let alone = "SELECT b FROM few WHERE b = 3";
    assert!(plan("enable_hashjoin", alone).contains("Index Only Scan"));
    assert!(!plan("enable_indexonlyscan", alone).contains("Index Only Scan"));
    let sorted = "SELECT * FROM few ORDER BY b";
    assert!(plan("enable_hashjoin", sorted).contains("Sort"));
    assert!(!plan("enable_sort", sorted).contains("Sort"));
}
