//! LISTEN and NOTIFY on the wire: who is told what, when, and in which order, as PostgreSQL tells it.

use std::time::Duration;
use tests::atoll::Atoll;
use tests::client::{Client, Message};
use tests::oracle::Oracle;

/// A message of interest as a line: what is told, which statement is done, when the server is ready.
fn line(message: &Message, name: &dyn Fn(u32) -> String) -> Option<String> {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    match message.tag {
        b'A' => {
            let pid = u32::from_be_bytes(message.body[..4].try_into().expect("four bytes"));
            let mut texts = message.body[4..].split(|&byte| byte == 0);
            let mut next = || text(texts.next().unwrap_or_default());
            Some(format!("told by {}: {} {}", name(pid), next(), next()))
        }
        b'C' => Some(text(message.body.split_last().map_or(&[][..], |(_, words)| words))),
        b'D' => Some(format!("row {}", text(&message.body[6..]))),
        b'E' => {
            let mut fields = message.body.split(|&byte| byte == 0);
            let state = fields.find(|field| field.first() == Some(&b'C')).unwrap_or_default();
            Some(format!("error {}", text(state)))
        }
        b'Z' => Some(format!("ready {}", text(&message.body))),
        _ => None,
    }
}

struct Talk<'a> {
    clients: [&'a mut Client; 2],
    pids: [u32; 2],
    lines: Vec<String>,
}

impl Talk<'_> {
    fn name(pids: [u32; 2]) -> impl Fn(u32) -> String {
        move |pid| match pids.iter().position(|known| *known == pid) {
            Some(at) => format!("session {at}"),
            None => "a stranger".to_owned(),
        }
    }

    fn until(&mut self, at: usize, tag: u8) {
        loop {
            let message = self.clients[at].receive().expect("the server goes on");
            let told = line(&message, &Talk::name(self.pids));
            self.lines.extend(told.map(|line| format!("{at}: {line}")));
            if message.tag == tag {
                return;
            }
        }
    }

    fn say(&mut self, at: usize, sql: &str) {
        self.lines.push(format!("{at}> {sql}"));
        let mut body = sql.as_bytes().to_vec();
        body.push(0);
        self.clients[at].send(b'Q', &body).expect("the server reads");
        self.until(at, b'Z');
    }

    /// A silent client is told something.
    fn told(&mut self, at: usize, count: usize) {
        (0..count).for_each(|_| self.until(at, b'A'));
    }
}

fn talk(port: u16) -> Vec<String> {
    let mut one = Client::connect(port, "postgres", "postgres");
    let mut two = Client::connect(port, "postgres", "postgres");
    let pids = [&mut one, &mut two].map(|client| {
        let reply = client.query("SELECT pg_backend_pid()");
        reply.rows[0][0].as_deref().and_then(|pid| pid.parse().ok()).expect("a number")
    });
    for client in [&mut one, &mut two] {
        client.set_patience(Some(Duration::from_secs(10)));
    }
    let mut talk = Talk { clients: [&mut one, &mut two], pids, lines: Vec::new() };
    talk.say(0, "LISTEN a; LISTEN b");
    talk.say(1, "NOTIFY a, 'to one who is silent'");
    talk.told(0, 1);
    talk.say(1, "BEGIN");
    talk.say(1, "NOTIFY a, 'once'");
    talk.say(1, "NOTIFY a, 'once'");
    talk.say(1, "NOTIFY b, 'then'");
    talk.say(1, "SAVEPOINT s; NOTIFY b, 'taken back'; ROLLBACK TO s");
    talk.say(0, "SELECT 'nothing has been told yet'");
    talk.say(1, "COMMIT");
    talk.told(0, 2);
    talk.say(0, "BEGIN");
    talk.say(1, "NOTIFY a, 'not within a transaction'");
    talk.say(0, "SELECT 1");
    talk.say(0, "COMMIT");
    talk.say(0, "NOTIFY b, 'to itself'");
    talk.say(0, "BEGIN; SELECT pg_notify('a', 'from a function'); COMMIT");
    talk.say(1, "LISTEN a");
    talk.say(0, "NOTIFY a, 'to both'");
    talk.told(1, 1);
    talk.say(0, "UNLISTEN a");
    talk.say(1, "NOTIFY a, 'to itself alone'");
    talk.say(0, "SELECT * FROM pg_listening_channels()");
    talk.say(0, "BEGIN; NOTIFY a, 'never'; SELECT 1 / 0");
    talk.say(0, "ROLLBACK");
    talk.say(1, "SELECT pg_notify('', 'x')");
    talk.say(1, "SELECT pg_notify('a', repeat('x', 8000))");
    talk.say(1, "DISCARD ALL");
    talk.say(0, "NOTIFY a, 'to nobody'");
    talk.say(1, "SELECT count(*) FROM pg_listening_channels()");
    talk.lines
}

/// A transaction that only says or hears something writes nothing, and waits for no log; one that also writes is told of
/// behind its commit.
#[test]
fn what_only_listens_or_notifies_is_not_logged() {
    let atoll = Atoll::start(&[]);
    let (mut one, mut two) = (atoll.connect(), atoll.connect());
    let logged =
        |client: &mut Client| client.run("SELECT pg_current_wal_insert_lsn()").value().to_owned();
    one.run("CREATE TABLE t(a int)");
    let before = logged(&mut one);
    two.run("LISTEN a");
    for _ in 0..50 {
        one.run("NOTIFY a, 'x'");
    }
    one.run("BEGIN; SELECT pg_notify('a', 'y'); COMMIT");
    two.run("BEGIN; UNLISTEN a; LISTEN b; COMMIT");
    assert_eq!(logged(&mut one), before);
    one.run("BEGIN; INSERT INTO t VALUES (1); NOTIFY b, 'z'; COMMIT");
    assert_ne!(logged(&mut one), before);
    let mut told: Vec<String> = Vec::new();
    while told.last().is_none_or(|last| !last.ends_with("b z")) {
        let message = two.receive().expect("the server goes on");
        told.extend(line(&message, &|_| String::new()).filter(|line| line.starts_with("told")));
    }
    assert_eq!(two.run("SELECT count(*) FROM t").value(), "1");
}

#[test]
fn listeners_are_told_what_postgresql_tells_them() {
    let (oracle, atoll) = (Oracle::start(&[]), Atoll::start(&[]));
    assert_eq!(talk(atoll.port()), talk(oracle.port()));
}
