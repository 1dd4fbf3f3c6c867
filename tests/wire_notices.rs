//! Notices that arrive while their statement goes on, beyond what schedules show (`isolation/notices_meanwhile.spec`): in the extended
//! protocol, in the client's encoding, under TLS, and to a client that does not read.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::time::Duration;
use tests::atoll::Atoll;
use tests::certificates::{authority, signed};
use tests::client::{Client, Message};
use tests::oracle::{Oracle, programs};
use tests::process::TemporaryDirectory;

const WAITS: &str = "DO $$ BEGIN RAISE NOTICE 'bef\u{f6}re'; PERFORM pg_advisory_lock(1); PERFORM pg_advisory_unlock(1); \
                     RAISE NOTICE 'behind'; END $$";

/// A message as its tag, with the text of a notice.
fn line(message: &Message) -> String {
    let text = message.body.split(|&byte| byte == 0).find(|field| field.first() == Some(&b'M'));
    match (message.tag, text) {
        (b'N', Some(text)) => format!("N {:?}", &text[1..]),
        (tag, _) => char::from(tag).to_string(),
    }
}

/// What comes, up to the first message with this tag.
fn until(client: &mut Client, tag: u8, lines: &mut Vec<String>) {
    loop {
        let message = client.receive().expect("the server goes on");
        lines.push(line(&message));
        if message.tag == tag {
            return;
        }
    }
}

fn parsed_and_executed(sql: &str) -> Vec<(u8, Vec<u8>)> {
    vec![
        (b'P', format!("\0{sql}\0\0\0").into_bytes()),
        (b'B', vec![0; 8]),
        (b'D', b"P\0".to_vec()),
        (b'E', vec![0; 5]),
    ]
}

/// What is told before the lock is let go, then the rest.
fn talk(port: u16) -> Vec<String> {
    let mut holder = Client::connect(port, "postgres", "postgres");
    let mut speaker = Client::connect(port, "postgres", "postgres");
    speaker.set_patience(Some(Duration::from_secs(10)));
    let mut lines = Vec::new();
    for encoding in ["utf8", "latin1"] {
        speaker.run(&format!("SET client_encoding = {encoding}"));
        holder.run("SELECT pg_advisory_lock(1)");
        for (tag, body) in
            parsed_and_executed("SELECT 1").into_iter().chain(parsed_and_executed(WAITS))
        {
            speaker.send(tag, &body).expect("the server reads");
        }
        speaker.send(b'S', b"").expect("the server reads");
        until(&mut speaker, b'N', &mut lines);
        lines.push("let go".to_owned());
        holder.run("SELECT pg_advisory_unlock(1)");
        until(&mut speaker, b'Z', &mut lines);
    }
    lines
}

#[test]
fn notices_come_ahead_of_the_answer_behind_what_was_answered() {
    let (oracle, atoll) = (Oracle::start(&[]), Atoll::start(&[]));
    let told = talk(atoll.port());
    assert_eq!(told, talk(oracle.port()));
    assert!(told.iter().any(|line| line.starts_with("N ")));
}

/// Who does not read is waited for by nobody, and misses nothing.
#[test]
fn who_does_not_read_is_told_all_in_the_end() {
    let atoll = Atoll::start(&[]);
    let mut client = atoll.connect();
    client.start(
        "SELECT 'first'; DO $$ BEGIN FOR i IN 1..20000 LOOP RAISE NOTICE '%', lpad(i::text, 1000, '0'); END LOOP; END $$",
    );
    // Meanwhile the statement fills what the system keeps for the connection, and ends.
    std::thread::sleep(Duration::from_millis(300));
    let replies = client.replies().expect("all replies");
    assert_eq!(replies[0].rows, [[Some("first".to_owned())]]);
    let told: Vec<usize> = replies[1]
        .notices
        .iter()
        .map(|notice| notice.field(b'M').trim_start_matches('0').parse().expect("a number"))
        .collect();
    assert!(told.iter().copied().eq(1..=20_000));
    assert_eq!(client.run("SELECT 2").value(), "2");
}

#[test]
fn notices_come_ahead_of_the_answer_under_tls() {
    let directory = TemporaryDirectory::new("notices");
    authority(directory.path(), "ca");
    signed(directory.path(), "ca", "server", "/CN=localhost");
    let file = |name: &str| directory.path().join(name).display().to_string();
    let settings = [
        "ssl=on".to_owned(),
        format!("ssl_cert_file={}", file("server.crt")),
        format!("ssl_key_file={}", file("server.key")),
    ];
    let atoll = Atoll::start(&settings.each_ref().map(String::as_str));
    let mut holder = atoll.connect();
    holder.run("SELECT pg_advisory_lock(1)");
    let mut psql = Command::new(programs().join("psql"))
        .args([
            "-X",
            "-c",
            "SELECT 'over ' || (SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid())",
            "-c",
            WAITS,
        ])
        .arg(format!(
            "host=127.0.0.1 port={} user=postgres dbname=postgres sslmode=require",
            atoll.port()
        ))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("psql starts");
    let mut errors = BufReader::new(psql.stderr.take().expect("it is piped"));
    let mut first = String::new();
    errors.read_line(&mut first).expect("psql says something");
    assert_eq!(first, "NOTICE:  bef\u{f6}re\n");
    assert!(psql.try_wait().expect("psql is there").is_none(), "it waits");
    holder.run("SELECT pg_advisory_unlock(1)");
    errors.read_line(&mut first).expect("psql goes on");
    assert!(first.ends_with("NOTICE:  behind\n"), "{first}");
    let output = psql.wait_with_output().expect("psql ends");
    assert!(output.status.success());
    assert!(String::from_utf8_lossy(&output.stdout).contains("over true"));
}
