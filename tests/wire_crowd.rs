//! Many sessions, and large results: what an idle session holds, what waiting costs, one write for an answer, and results
//! far larger than what may be kept of them.
//!
//! Sizes and times are those of this machine; the limits asserted are the where they are counts and bytes, and have
//! room for a loaded machine of two cores where they are times.

use std::io::Read;
use std::time::{Duration, Instant};
use tests::atoll::Atoll;
use tests::client::Client;
use tests::dialogue::Dialogue;
use tests::process::{raise_file_limit, wait_until};

/// A process's resident memory, in bytes.
fn resident(pid: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).expect("the server runs");
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).expect("it has memory");
    let kibibytes = line.split_whitespace().nth(1).and_then(|word| word.parse::<u64>().ok());
    kibibytes.expect("a number") * 1024
}

/// The processor time a process has had, in ticks of 10 ms.
fn ticks(pid: u32) -> u64 {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).expect("the server runs");
    let fields = stat.rsplit(')').next().expect("behind its name").split_whitespace();
    fields.skip(11).take(2).map(|field| field.parse::<u64>().expect("a number")).sum()
}

/// Demands that the server comes to use less than `part` thousandths of a core for as long as `span`. What it still has to
/// finish may take it some spans; one that polls never rests.
fn rests(pid: u32, span: Duration, part: u64) {
    let allowed = span.as_micros() as u64 * part / 1000;
    let mut used = Vec::new();
    for _ in 0..6 {
        let before = ticks(pid);
        std::thread::sleep(span);
        used.push((ticks(pid) - before) * 10_000);
        if used.last() <= Some(&allowed) {
            return;
        }
    }
    panic!("{used:?} us of processor time in spans of {span:?}");
}

fn run_prepared(client: Client, number: u32) -> Client {
    let mut talk = Dialogue::new(client);
    talk.parse("s", "SELECT b FROM t WHERE a = $1");
    talk.bind("", "s", &[number.to_string().as_bytes()]);
    talk.execute("", 0);
    talk.sync();
    assert_eq!(talk.lines, ["1 2 D(0) CSELECT 1 ZI"]);
    talk.client
}

/// What a large statement has taken it gives back, although its session stays: values, groups and sorts.
#[test]
fn memory_is_given_back_behind_large_statements() {
    const MORE_MAX: u64 = 96 << 20;
    let atoll = Atoll::start(&["work_mem=64MB", "atoll.statement_memory=4GB"]);
    let mut client = atoll.connect();
    client.run("SELECT length(string_agg(repeat('y', 100), ',')) FROM generate_series(1, 1000)");
    client.run("CREATE VIEW long AS SELECT repeat('v', 200000000) AS v");
    let before = resident(atoll.pid());
    for sql in [
        "SELECT length(repeat('x', 400000000))",
        "SELECT length(v) FROM long",
        "SELECT length(string_agg(repeat('y', 100000), ',')) FROM generate_series(1, 3000)",
        "SELECT count(*) FROM (SELECT repeat('z', g) AS z FROM generate_series(200000000, 200000000) g OFFSET 0) s WHERE z > 'a'",
        "SELECT count(*) FROM (SELECT g FROM generate_series(1, 700000) g ORDER BY -g OFFSET 0) s",
        "SELECT count(*) FROM (SELECT DISTINCT g FROM generate_series(1, 300000) g) s",
        "SELECT length(repeat(repeat('x', 10), 40000000)) FROM generate_series(1, 2)",
    ] {
        client.run(sql);
        let mut held = 0;
        let given = (0..20).any(|_| {
            std::thread::sleep(Duration::from_millis(100));
            held = resident(atoll.pid()).saturating_sub(before);
            held <= MORE_MAX
        });
        assert!(given, "{sql}: {} MB are still held", held >> 20);
    }
}

#[test]
fn an_idle_session_holds_little() {
    const SESSIONS: u32 = 5000;
    raise_file_limit(u64::from(SESSIONS) + 200);
    let atoll = Atoll::start(&["max_connections=5200"]);
    let mut admin = atoll.connect();
    admin.run("CREATE TABLE t(a int PRIMARY KEY, b int)");
    admin.run("INSERT INTO t SELECT g, 0 FROM generate_series(1, 1000) g");
    // What the first ones make is there for all.
    let warm: Vec<Client> = (1..=100).map(|number| run_prepared(atoll.connect(), number)).collect();
    let before = resident(atoll.pid());
    let held: Vec<Client> =
        (0..SESSIONS).map(|number| run_prepared(atoll.connect(), number % 1000 + 1)).collect();
    let each = (resident(atoll.pid()) - before) / u64::from(SESSIONS);
    assert!(each <= 32 << 10, "{each} bytes for each of {SESSIONS} idle sessions");
    rests(atoll.pid(), Duration::from_secs(5), 2);
    drop((warm, held));
    wait_until("the sessions' end", Duration::from_secs(30), || {
        let sessions =
            "SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend'";
        let count = admin.run(sessions);
        (count.value() == "1").then_some(())
    });
}

#[test]
fn a_thousand_sessions_wait_for_one_row() {
    const WAITERS: usize = 1000;
    raise_file_limit(WAITERS as u64 + 200);
    let atoll = Atoll::start(&["max_connections=1100", "atoll.workers=2"]);
    let mut holder = atoll.connect();
    holder.run("CREATE TABLE t(a int PRIMARY KEY, b int)");
    holder.run("INSERT INTO t VALUES (1, 0)");
    let mut elsewhere = atoll.connect();
    let mut waiters: Vec<Client> = (0..WAITERS).map(|_| atoll.connect()).collect();
    holder.run("BEGIN");
    holder.run("UPDATE t SET b = b + 1");
    for waiter in &mut waiters {
        waiter.start("UPDATE t SET b = b + 1");
    }
    wait_until("a thousand waits", Duration::from_secs(60), || {
        let waiting = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'";
        (elsewhere.run(waiting).value() == WAITERS.to_string()).then_some(())
    });
    // Each looks for a deadlock once, after a second; then nobody polls: 0.2 % of a core.
    std::thread::sleep(Duration::from_secs(3));
    rests(atoll.pid(), Duration::from_secs(5), 2);
    let mut took = Vec::new();
    let mut ask = |took: &mut Vec<Duration>| {
        let begun = Instant::now();
        assert_eq!(elsewhere.run("SELECT 1").value(), "1");
        took.push(begun.elapsed());
    };
    for _ in 0..200 {
        ask(&mut took);
    }
    holder.run("COMMIT");
    // One after another, while others are answered.
    let begun = Instant::now();
    let mut left: Vec<Client> = waiters;
    while !left.is_empty() {
        assert!(begun.elapsed() < Duration::from_secs(120), "{} still wait", left.len());
        ask(&mut took);
        left.retain_mut(|waiter| {
            if !waiter.answers_within(Duration::from_micros(1)) {
                return true;
            }
            let replies = waiter.replies().expect("the connection stands");
            assert_eq!(replies[0].tag.as_deref(), Some("UPDATE 1"), "{replies:?}");
            false
        });
    }
    assert_eq!(holder.run("SELECT b FROM t").value(), (WAITERS + 1).to_string());
    took.sort();
    let late = took[took.len() * 99 / 100];
    // The 50 ms are the bench's; here the tests' own processes share the cores.
    assert!(late < Duration::from_millis(500), "SELECT 1 was answered within {late:?} at p99");
}

/// Sends each session what it ends its transaction with, and counts who is told of a deadlock.
fn deadlocks_of(sessions: &mut [Client], text: impl Fn(usize) -> String) -> usize {
    let begun = Instant::now();
    for (number, session) in sessions.iter_mut().enumerate() {
        session.start(&text(number));
    }
    let mut victims = 0;
    for session in sessions.iter_mut() {
        let replies = session.replies().expect("the connection stands");
        match replies.last().expect("an answer").sqlstate() {
            "40P01" => victims += 1,
            state => assert_eq!(state, "", "{replies:?}"),
        }
    }
    // After `deadlock_timeout`, a second, and one more; here the tests' own processes share the cores.
    let took = begun.elapsed();
    assert!(took < Duration::from_secs(30), "{victims} deadlocks took {took:?}");
    for session in sessions {
        session.query("ROLLBACK");
    }
    victims
}

#[test]
fn hundreds_of_sessions_in_one_deadlock_search() {
    const SESSIONS: usize = 300;
    raise_file_limit(SESSIONS as u64 + 200);
    let atoll = Atoll::start(&["max_connections=400", "atoll.workers=2"]);
    let mut admin = atoll.connect();
    admin.run("CREATE TABLE parent(id int PRIMARY KEY, n int DEFAULT 0)");
    admin.run("CREATE TABLE child(id int, parent int REFERENCES parent)");
    admin.run(&format!("INSERT INTO parent SELECT generate_series(0, {SESSIONS})"));
    let mut sessions: Vec<Client> = (0..SESSIONS).map(|_| atoll.connect()).collect();
    let all = |sessions: &mut [Client], text: &dyn Fn(usize) -> String| {
        for (number, session) in sessions.iter_mut().enumerate() {
            session.run("BEGIN");
            session.run(&text(number));
        }
    };
    let insert = |number: usize| format!("INSERT INTO child VALUES ({number}, 0)");

    // Who has the parent KEY SHARE may change what is no key, one after the other.
    all(&mut sessions, &insert);
    let change = |_| "UPDATE parent SET n = n + 1 WHERE id = 0; COMMIT".to_owned();
    assert_eq!(deadlocks_of(&mut sessions, change), 0);
    let changed = admin.run("SELECT n FROM parent WHERE id = 0");
    assert_eq!(changed.value(), SESSIONS.to_string());

    // Of all that want the parent for themselves one can go on, when the others have let go.
    all(&mut sessions, &insert);
    let take = |_| "SELECT FROM parent WHERE id = 0 FOR UPDATE; COMMIT".to_owned();
    assert_eq!(deadlocks_of(&mut sessions, take), SESSIONS - 1);

    // One cycle through all, and many small ones.
    for length in [SESSIONS, 5] {
        let own = |number: usize| format!("UPDATE parent SET n = -1 WHERE id = {number}");
        all(&mut sessions, &own);
        let next = |number: usize| {
            let next = number / length * length + (number + 1) % length;
            format!("UPDATE parent SET n = -2 WHERE id = {next}; COMMIT")
        };
        assert_eq!(deadlocks_of(&mut sessions, next), SESSIONS / length);
    }
    assert_eq!(admin.run("SELECT count(*) FROM pg_locks WHERE NOT granted").value(), "0");
}

#[test]
fn a_result_of_any_size_takes_little_memory() {
    let atoll = Atoll::start(&[]);
    let mut client = atoll.connect();
    // A tenth of it first, so that what is measured is what the size of a result adds.
    client.run("SELECT repeat('x', 4000) FROM generate_series(1, 10000)");
    // 400 MB, of which the client reads a little at a time.
    let row = "SELECT repeat('x', 4000) FROM generate_series(1, 100000)";
    let before = resident(atoll.pid());
    let mut most = 0;
    for slow in [format!("{row}\0"), format!("COPY ({row}) TO STDOUT\0")] {
        client.send(b'Q', slow.as_bytes()).expect("the connection stands");
        let mut rows = 0;
        loop {
            let message = client.receive().expect("the connection stands");
            match message.tag {
                b'D' | b'd' => rows += 1,
                b'E' => panic!("{}", String::from_utf8_lossy(&message.body)),
                b'Z' => break,
                _ => {}
            }
            if rows % 10_000 == 0 {
                std::thread::sleep(Duration::from_millis(5));
                most = most.max(resident(atoll.pid()));
            }
        }
        assert_eq!(rows, 100_000);
    }
    assert!(most <= before + (16 << 20), "{} bytes more", most - before);
}

#[test]
fn a_client_that_does_not_read_stops_its_own_statement_only() {
    let atoll = Atoll::start(&[]);
    let mut client = atoll.connect();
    let mut stalled = atoll.connect();
    // A little of it first, so that what is measured is what the size of a result adds.
    for warmed in [&mut client, &mut stalled] {
        warmed.run("SELECT repeat('x', 4000) FROM generate_series(1, 10000)");
    }
    let before = resident(atoll.pid());
    stalled.start("SELECT repeat('x', 4000) FROM generate_series(1, 1000000)");
    for _ in 0..200 {
        assert_eq!(client.run("SELECT 1").value(), "1");
    }
    rests(atoll.pid(), Duration::from_secs(2), 10);
    let after = resident(atoll.pid());
    assert!(after <= before + (16 << 20), "{before} bytes have become {after}");
    // It can be ended while it waits for its client.
    let pid = stalled.key.0;
    assert_eq!(client.run(&format!("SELECT pg_terminate_backend({pid})")).value(), "t");
    wait_until("the stalled session's end", Duration::from_secs(10), || {
        let found = format!("SELECT 1 FROM pg_stat_activity WHERE pid = {pid}");
        client.query(&found).rows.is_empty().then_some(())
    });
    drop(stalled);
}

/// Writes to clients' sockets so far, as the server counts them where it makes the calls.
fn writes(port: u16) -> u64 {
    // A write is counted when it has been made; its bytes may be here before.
    std::thread::sleep(Duration::from_millis(100));
    let mut stream = std::net::TcpStream::connect(("127.0.0.1", port)).expect("metrics are served");
    std::io::Write::write_all(&mut stream, b"GET /metrics HTTP/1.1\r\n\r\n").expect("it reads");
    let mut page = String::new();
    stream.read_to_string(&mut page).expect("the page is text");
    let line = page.lines().find(|line| line.starts_with("atoll_socket_writes_total "));
    line.and_then(|line| line.rsplit(' ').next()?.parse().ok()).expect("the count")
}

#[test]
fn there_is_one_write_for_an_answer() {
    let port = tests::process::free_port();
    let atoll = Atoll::start(&[&format!("atoll.metrics_listen=127.0.0.1:{port}")]);
    let mut talk = Dialogue::new(atoll.connect());
    talk.query("CREATE TABLE t(a int PRIMARY KEY, b int)");
    talk.query("INSERT INTO t SELECT g, 0 FROM generate_series(1, 100) g");
    talk.parse("s", "SELECT b FROM t WHERE a = $1");
    talk.sync();
    let before = writes(port);
    for number in 1..=50 {
        talk.bind("", "s", &[number.to_string().as_bytes()]);
        talk.execute("", 0);
        talk.sync();
    }
    assert_eq!(writes(port) - before, 50, "one for each Sync");
    for _ in 0..10 {
        for number in 1..=10 {
            talk.bind("", "s", &[number.to_string().as_bytes()]);
            talk.execute("", 0);
        }
        talk.sync();
    }
    assert_eq!(writes(port) - before, 60, "ten statements for a Sync are one write");
    let before = writes(port);
    for _ in 0..20 {
        talk.query("SELECT * FROM t; UPDATE t SET b = 1; SELECT 1");
    }
    assert_eq!(writes(port) - before, 20, "one for each Query");
    let before = writes(port);
    talk.send(b'H', &[]);
    talk.query("SELECT 1");
    assert_eq!(writes(port) - before, 1, "nothing to say is not written");
}
