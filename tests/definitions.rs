//! Changes of the schema by several sessions at once: what was acknowledged stays, whoever else changes the same object
//! meanwhile. Whoever waited for another one's change reads again, and writes only what it changes itself.

use tests::atoll::Atoll;
use tests::client::Client;

/// What `waiting` has answered behind `COMMIT` of the holder: it waits for that, or not.
fn beside(port: u16, [first, second]: [&str; 2]) -> Vec<String> {
    let [mut holder, mut other] = [(); 2].map(|()| Client::connect(port, "postgres", "postgres"));
    holder.run("BEGIN");
    holder.run(first);
    other.start(second);
    let waits = !other.answers_within(std::time::Duration::from_millis(200));
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
