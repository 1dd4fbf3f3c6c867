//! The wire with sessions: errors in pipelines, limits, cancel, timeouts, parameters by the thousand, clients that vanish.
//!
//! Whatever can be asked of PostgreSQL too is asked of both servers by the same code.

use std::time::Duration;
use tests::atoll::Atoll;
use tests::client::Client;
use tests::oracle;
use tests::process::wait_until;

/// The types of the messages up to ReadyForQuery, and the SQLSTATEs of the errors among them.
fn said(client: &mut Client) -> String {
    let mut said = String::new();
    loop {
        let message = client.receive().expect("the connection stands");
        said.push(char::from(message.tag));
        if message.tag == b'E' {
            let mut fields = message.body.split(|&byte| byte == 0);
            let state = fields.find(|field| field.first() == Some(&b'C')).expect("a SQLSTATE");
            said.push_str(&String::from_utf8_lossy(&state[1..]));
        }
        if message.tag == b'Z' {
            return said;
        }
    }
}

fn parse(client: &mut Client, name: &str, text: &str) {
    client.send(b'P', format!("{name}\0{text}\0\0\0").as_bytes()).expect("the connection stands");
}

fn bind_and_execute(client: &mut Client, name: &str) {
    let bind = [b"\0", name.as_bytes(), b"\0\0\0\0\0\0\0"].concat();
    client.send(b'B', &bind).expect("the connection stands");
    client.send(b'E', &[0; 5]).expect("the connection stands");
}

fn sync(client: &mut Client) {
    client.send(b'S', &[]).expect("the connection stands");
}

/// Runs `dialogue` against PostgreSQL and Atoll, and demands the same.
fn same(dialogue: impl Fn(&mut Client) -> Vec<String>) {
    let atoll = Atoll::start(&[]);
    let wanted = dialogue(&mut Client::connect(oracle::shared(), "postgres", "postgres"));
    assert_eq!(dialogue(&mut atoll.connect()), wanted);
    assert_eq!(atoll.connect().run("SELECT 1").value(), "1");
}

#[test]
fn pipelines_answer_alike() {
    same(|client| {
        let mut all = Vec::new();
        parse(client, "", "SELECT 1");
        bind_and_execute(client, "");
        parse(client, "", "SELECT 1 / (g - 1) FROM generate_series(1, 1) g");
        bind_and_execute(client, "");
        parse(client, "", "SELECT 2");
        bind_and_execute(client, "");
        sync(client);
        all.push(said(client));
        parse(client, "s", "SELECT 1");
        parse(client, "s", "SELECT 2");
        sync(client);
        all.push(said(client));
        bind_and_execute(client, "missing");
        sync(client);
        all.push(said(client));
        for (tag, body) in [
            (b'B', &b""[..]),
            (b'B', b"\0s\0\0\0\0\x05\0\0"),
            (b'B', b"\0s\0\0\x02\0\0\0\0\0\x01\xFF\xFF\xFF\xFF\0\0"),
            (b'E', b""),
            (b'E', b"missing\0\0\0\0\0"),
            (b'D', b"Xs\0"),
            (b'D', b"Smissing\0"),
            (b'C', b"Smissing\0"),
            (b'P', b"\0SELECT \xFF\0\0\0"),
            (b'd', b"stray"),
        ] {
            client.send(tag, body).expect("the connection stands");
            sync(client);
            all.push(said(client));
        }
        client
            .send(b'Q', b"SELECT 1; SELECT 1 / (g - 1) FROM generate_series(1, 1) g; SELECT 3\0")
            .expect("the connection stands");
        all.push(said(client));
        client.send(b'Q', b"\0").expect("the connection stands");
        all.push(said(client));
        client.send(b'Q', b"no terminator").expect("the connection stands");
        all.push(said(client));
        all
    });
}

#[test]
fn portals_give_as_many_rows_as_are_asked_for() {
    same(|client| {
        parse(client, "", "SELECT * FROM generate_series(1, 5)");
        client.send(b'B', b"p\0\0\0\0\0\0\0\0").expect("the connection stands");
        for _ in 0..4 {
            client.send(b'E', b"p\0\0\0\0\x02").expect("the connection stands");
        }
        sync(client);
        vec![said(client)]
    });
}

#[test]
fn large_statements_and_results_pass() {
    let atoll = Atoll::start(&[]);
    let mut client = atoll.connect();
    let long = format!("SELECT length('{}')", "x".repeat(10 << 20));
    assert_eq!(client.run(&long).value(), (10 << 20).to_string());
    let rows = client.run("SELECT g FROM generate_series(1, 200000) g").rows;
    assert_eq!((rows.len(), rows[199_999][0].as_deref()), (200_000, Some("200000")));
}

#[test]
fn who_may_not_connect_is_told_why() {
    let atoll = Atoll::start(&["max_connections=5", "superuser_reserved_connections=0"]);
    let refused = |user: &str, database: &str| {
        Client::try_connect(atoll.port(), user, database).expect_err("nobody gets in").to_string()
    };
    assert_eq!(refused("postgres", "nope"), "3D000 database \"nope\" does not exist");
    assert_eq!(refused("nobody", "postgres"), "28000 role \"nobody\" does not exist");
    let held: Vec<Client> = (0..5)
        .map(|_| {
            wait_until("a free slot", Duration::from_secs(10), || {
                Client::try_connect(atoll.port(), "postgres", "postgres").ok()
            })
        })
        .collect();
    assert_eq!(refused("postgres", "postgres"), "53300 sorry, too many clients already");
    drop(held);
    wait_until("a free slot", Duration::from_secs(10), || {
        Client::try_connect(atoll.port(), "postgres", "postgres").ok()
    });
}

#[test]
fn a_client_that_vanishes_takes_its_transaction_and_its_locks_along() {
    let atoll = Atoll::start(&[]);
    let mut admin = atoll.connect();
    admin.run("CREATE TABLE t(a int PRIMARY KEY, b int)");
    admin.run("INSERT INTO t VALUES (1, 1)");
    let mut gone = atoll.connect();
    gone.run("BEGIN");
    gone.run("UPDATE t SET b = 2");
    drop(gone);
    let mut copying = atoll.connect();
    copying.start("COPY t FROM STDIN");
    assert_eq!(copying.receive().expect("the connection stands").tag, b'G');
    copying.send(b'd', b"2\t2\n").expect("the connection stands");
    drop(copying);
    admin.run("UPDATE t SET b = b + 10");
    assert_eq!(admin.run("SELECT string_agg(b::text, ',') FROM t").value(), "11");
}

#[test]
fn a_cancel_stops_the_statement_and_nothing_else() {
    let atoll = Atoll::start(&[]);
    let mut holder = atoll.connect();
    holder.run("CREATE TABLE t(a int PRIMARY KEY, b int)");
    holder.run("INSERT INTO t VALUES (1, 1)");
    holder.run("BEGIN");
    holder.run("UPDATE t SET b = 2");
    let mut waiter = atoll.connect();
    waiter.start("UPDATE t SET b = 3");
    std::thread::sleep(Duration::from_millis(100));
    let mut request = 80_877_102u32.to_be_bytes().to_vec();
    request.extend_from_slice(&waiter.key.0.to_be_bytes());
    request.extend_from_slice(&waiter.key.1.to_be_bytes());
    let mut bytes = (request.len() as u32 + 4).to_be_bytes().to_vec();
    bytes.extend_from_slice(&request);
    let mut desk = std::net::TcpStream::connect(("127.0.0.1", atoll.port())).expect("it listens");
    std::io::Write::write_all(&mut desk, &bytes).expect("the server reads");
    let replies = waiter.replies().expect("the connection stands");
    let error = replies[0].error.as_ref().expect("it was cancelled");
    assert_eq!(error.field(b'C'), "57014");
    assert_eq!(error.field(b'M'), "canceling statement due to user request");
    assert_eq!(waiter.run("SELECT 1").value(), "1");
    waiter.run("SET statement_timeout = '50ms'");
    let reply = waiter.query("UPDATE t SET b = 3");
    let error = reply.error.as_ref().expect("it takes too long");
    assert_eq!(error.field(b'M'), "canceling statement due to statement timeout");
    holder.run("COMMIT");
    waiter.run("UPDATE t SET b = 3");
}

#[test]
fn a_timeout_ends_a_path_that_takes_hours() {
    same(|client| {
        client.run("SET statement_timeout = '200ms'");
        let paths = ["$[*] ? ($[*] == -1)", "$[*] ? ($[*].type() == \"a\")"];
        let ended = paths.map(|path| {
            let text = format!(
                "SELECT jsonb_path_exists(jsonb_agg(g), '{path}') FROM generate_series(1, 100000) g"
            );
            let error = client.query(&text).error.expect("it takes too long");
            format!("{} {}", error.field(b'C'), error.field(b'M'))
        });
        assert_eq!(ended[0], "57014 canceling statement due to statement timeout");
        client.run("RESET statement_timeout");
        ended.to_vec()
    });
}

#[test]
fn idle_sessions_are_ended_when_they_are_to_be() {
    let mut atoll = Atoll::start(&[]);
    let ended = |client: &mut Client| {
        let message = client.receive().expect("a last message");
        assert_eq!(message.tag, b'E');
        let mut fields = message.body.split(|&byte| byte == 0);
        let state = fields.find(|field| field.first() == Some(&b'C')).expect("a SQLSTATE");
        let state = String::from_utf8_lossy(&state[1..]).into_owned();
        assert!(client.receive().is_err(), "closed");
        state
    };
    let mut client = atoll.connect();
    client.run("SET idle_session_timeout = '50ms'");
    assert_eq!(ended(&mut client), "57P05");
    let mut client = atoll.connect();
    client.run("SET idle_in_transaction_session_timeout = '50ms'");
    client.run("BEGIN");
    assert_eq!(ended(&mut client), "25P03");
    let mut idle = atoll.connect();
    let mut within = atoll.connect();
    within.run("BEGIN");
    atoll.stop();
    assert_eq!(ended(&mut idle), "57P01");
    assert_eq!(ended(&mut within), "57P01");
}
