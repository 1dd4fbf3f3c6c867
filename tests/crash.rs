//! Process death: kill -9 of the server under load, bank transfers and pgbench side by side, again and again on one
//! directory. What was acknowledged is there, nothing else is, totals add up, and `atoll check`, which compares every index
//! with its table, finds nothing.
//!
//! kill -9 says nothing about power loss: what the operating system had taken is still written. Power loss is simulated, in
//! `sql/tests/simulation/main.rs`.

use std::collections::HashMap;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tests::atoll::Atoll;
use tests::client::Client;

/// Accounts of the bank.
const ACCOUNTS: u32 = 40;
/// What each begins with.
const OPENING: i64 = 1000;
/// Sessions that move money.
const CLIENTS: u32 = 4;
/// Sessions of pgbench.
const PGBENCH_CLIENTS: i64 = 3;
/// How often the server dies in one run of the suite.
const CYCLES: u32 = 50;

/// A small generator of its own, so that a run can be told by its seed.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u32) -> u32 {
        // Xorshift64*: Vigna, 2016.
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        ((self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33) % u64::from(bound)) as u32
    }
}

fn set_up(client: &mut Client) {
    client.run("CREATE TABLE account (id int PRIMARY KEY, balance bigint NOT NULL, touched int NOT NULL DEFAULT 0)");
    client.run("CREATE INDEX account_touched ON account (touched)");
    client.run(
        "CREATE TABLE journal (client int, seq int, source int, target int, amount int, note text, PRIMARY KEY (client, seq))",
    );
    client.run("CREATE INDEX journal_source ON journal (source)");
    client.run(&format!(
        "INSERT INTO account SELECT g, {OPENING} FROM generate_series(1, {ACCOUNTS}) g"
    ));
}

/// Moves money until the connection breaks. Gives the last sequence number that was acknowledged.
fn transfer_until_death(
    port: u16,
    client_number: u32,
    first: u32,
    seed: u64,
    stop: &AtomicBool,
) -> u32 {
    let mut random = Random(seed | 1);
    let mut acknowledged = first;
    let Ok(mut client) = Client::try_connect(port, "postgres", "postgres") else {
        return acknowledged;
    };
    while !stop.load(Ordering::Relaxed) {
        let (source, target) = (random.below(ACCOUNTS) + 1, random.below(ACCOUNTS) + 1);
        let (amount, seq) = (random.below(100), acknowledged + 1);
        let note = "n".repeat(random.below(300) as usize);
        // In key order, so that transfers wait for each other and do not deadlock.
        let (low, high) = (source.min(target), source.max(target));
        let change = |id: u32| match (id == source, id == target) {
            (true, true) => 0,
            (true, false) => -i64::from(amount),
            _ => i64::from(amount),
        };
        let update = |id: u32| {
            format!(
                "UPDATE account SET balance = balance + {}, touched = {seq} WHERE id = {id};",
                change(id)
            )
        };
        let second = if low == high { String::new() } else { update(high) };
        let text = format!(
            "BEGIN; {} {second} INSERT INTO journal VALUES ({client_number}, {seq}, {source}, {target}, {amount}, '{note}'); COMMIT;",
            update(low)
        );
        let mut body = text.into_bytes();
        body.push(0);
        if client.send(b'Q', &body).is_err() {
            break;
        }
        match client.replies() {
            Err(_) => break,
            Ok(replies) => {
                let last = replies.last().expect("five statements answer");
                assert!(last.error.is_none(), "a transfer failed: {:?}", last.error);
                acknowledged = seq;
            }
        }
    }
    acknowledged
}

/// Takes checkpoints until the connection breaks: `checkpoint_timeout` has a least value of 30 seconds.
fn checkpoint_until_death(port: u16, stop: &AtomicBool) {
    let Ok(mut client) = Client::try_connect(port, "postgres", "postgres") else { return };
    while !stop.load(Ordering::Relaxed) {
        if client.send(b'Q', b"CHECKPOINT\0").is_err() {
            return;
        }
        match client.replies() {
            Err(_) => return,
            Ok(replies) => {
                let last = replies.last().expect("a statement answers");
                assert!(last.error.is_none(), "a checkpoint failed: {:?}", last.error);
            }
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn pgbench(port: u16, arguments: &[&str]) -> Child {
    Command::new("pgbench")
        .args(["-h", "127.0.0.1", "-p", &port.to_string(), "-U", "postgres"])
        .args(arguments)
        .arg("postgres")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("pgbench is installed")
}

/// How many transactions a pgbench whose server has died was told of.
fn told(pgbench: Child) -> i64 {
    let output = pgbench.wait_with_output().expect("the child is ours");
    let report = String::from_utf8_lossy(&output.stdout);
    let count = report
        .lines()
        .find_map(|line| line.strip_prefix("number of transactions actually processed: "));
    // It reports nothing if it died before its sessions were open.
    count.map_or(0, |count| count.trim().parse().expect("a number"))
}

/// Demands that pgbench's tables tell one sum, and that every transaction it was told of is there. Gives how many are.
fn audit_pgbench(client: &mut Client, before: i64, told: i64) -> i64 {
    let reply = client.run(
        "SELECT (SELECT sum(abalance) FROM pgbench_accounts), (SELECT sum(tbalance) FROM pgbench_tellers), \
         (SELECT sum(bbalance) FROM pgbench_branches), (SELECT coalesce(sum(delta), 0) FROM pgbench_history)",
    );
    let sums = &reply.rows[0];
    assert!(sums.iter().all(|sum| sum == &sums[0]), "pgbench's balances differ: {sums:?}");
    let there = number(client, "SELECT count(*) FROM pgbench_history");
    let (least, most) = (before + told, before + told + PGBENCH_CLIENTS);
    assert!((least..=most).contains(&there), "pgbench: {least} at least, {there} are there");
    there
}

fn number(client: &mut Client, sql: &str) -> i64 {
    client.run(sql).value().parse().expect("a number")
}

/// Demands that the directory tells the same story as the clients.
fn audit(client: &mut Client, acknowledged: &HashMap<u32, u32>) -> HashMap<u32, u32> {
    assert_eq!(number(client, "SELECT sum(balance) FROM account"), i64::from(ACCOUNTS) * OPENING);
    let reply = client
        .run("SELECT client, count(*), max(seq) FROM journal GROUP BY client ORDER BY client");
    let mut found = HashMap::new();
    for row in &reply.rows {
        let field =
            |at: usize| row[at].as_deref().expect("not null").parse::<u32>().expect("a number");
        assert_eq!(field(1), field(2), "client {} has a gap in its journal", field(0));
        found.insert(field(0), field(2));
    }
    for (who, &told) in acknowledged {
        let there = found.get(who).copied().unwrap_or(0);
        assert!(
            there >= told,
            "client {who} was told of transfer {told}, and {there} is the last that is there"
        );
        assert!(
            there <= told + 1,
            "client {who} had one transfer on its way, not {}",
            there - told
        );
    }
    let balances = client.run(&format!(
        "SELECT a.id FROM account a WHERE a.balance <> {OPENING} \
         + (SELECT coalesce(sum(j.amount), 0) FROM journal j WHERE j.target = a.id) \
         - (SELECT coalesce(sum(j.amount), 0) FROM journal j WHERE j.source = a.id)"
    ));
    assert!(balances.rows.is_empty(), "balances differ from the journal: {:?}", balances.rows);
    for id in [1, ACCOUNTS / 2, ACCOUNTS] {
        let by_index = number(client, &format!("SELECT count(*) FROM journal WHERE source = {id}"));
        let by_table =
            number(client, &format!("SELECT count(*) FROM journal WHERE source + 0 = {id}"));
        assert_eq!(by_index, by_table, "the index on journal.source disagrees for {id}");
    }
    found
}

#[test]
fn acknowledged_commits_survive_kill_9() {
    let mut atoll = Atoll::start(&[]);
    set_up(&mut atoll.connect());
    let loaded = pgbench(atoll.port(), &["-i", "-I", "dtgvpf", "-s", "1", "-q"]).wait();
    assert!(loaded.expect("the child is ours").success(), "pgbench -i:\n{}", atoll.log());
    let mut history = 0;
    let mut acknowledged: HashMap<u32, u32> = (0..CLIENTS).map(|who| (who, 0)).collect();
    let mut random = Random(0x5EED);
    for cycle in 0..CYCLES {
        let stop = AtomicBool::new(false);
        let port = atoll.port();
        let pause = Duration::from_millis(u64::from(50 + random.below(500)));
        let clients = PGBENCH_CLIENTS.to_string();
        let mode = ["simple", "extended", "prepared"][cycle as usize % 3];
        let benched = pgbench(port, &["-n", "-c", &clients, "-M", mode, "-T", "600"]);
        std::thread::scope(|scope| {
            let threads: Vec<_> = (0..CLIENTS)
                .map(|who| {
                    let (first, seed, stop) =
                        (acknowledged[&who], u64::from(cycle * CLIENTS + who) << 7, &stop);
                    scope.spawn(move || (who, transfer_until_death(port, who, first, seed, stop)))
                })
                .collect();
            scope.spawn(|| checkpoint_until_death(port, &stop));
            std::thread::sleep(pause);
            atoll.kill();
            stop.store(true, Ordering::Relaxed);
            for thread in threads {
                let (who, last) = thread.join().expect("a client ends");
                acknowledged.insert(who, last);
            }
        });
        let told = told(benched);
        atoll.check();
        atoll.restart();
        let mut client = atoll.connect();
        let found = audit(&mut client, &acknowledged);
        acknowledged.extend(found);
        history = audit_pgbench(&mut client, history, told);
    }
    atoll.stop();
    atoll.check();
    assert!(history > 0, "pgbench got something done");
    assert!(
        acknowledged.values().all(|&last| last > 0),
        "every client got something done: {acknowledged:?}"
    );
}

/// Keys of the table whose indexes come and go.
const KEPT: u32 = 3000;

/// Runs one statement; none if the connection has broken.
fn answer(client: &mut Client, sql: &str) -> Option<String> {
    let mut body = sql.as_bytes().to_vec();
    body.push(0);
    client.send(b'Q', &body).ok()?;
    let replies = client.replies().ok()?;
    Some(replies.last().map_or_else(String::new, |last| last.sqlstate().to_owned()))
}

/// Changes rows of `kept` until the connection breaks; how often that has succeeded.
fn change_until_death(port: u16, seed: u64) -> u64 {
    let mut random = Random(seed | 1);
    let mut changes = 0;
    let Ok(mut client) = Client::try_connect(port, "postgres", "postgres") else { return 0 };
    loop {
        let (id, k) = (random.below(KEPT), random.below(3 * KEPT));
        let sql = match random.below(6) {
            0 => format!("DELETE FROM kept WHERE id = {id}"),
            1 => {
                format!("INSERT INTO kept VALUES ({id}, {k}, {k} % 97, 'i') ON CONFLICT DO NOTHING")
            }
            2 => format!("UPDATE kept SET k = {k} WHERE id = {id}"),
            3 => format!("UPDATE kept SET id = {} WHERE id = {id}", k % KEPT),
            4 => format!(
                "DELETE FROM kept WHERE id = {id}; INSERT INTO kept VALUES ({id}, {k}, 3, NULL)"
            ),
            _ => format!("UPDATE kept SET n = n + 1 WHERE id = {id}"),
        };
        match answer(&mut client, &sql).as_deref() {
            None => return changes,
            Some("") => changes += 1,
            // Keys that are taken, and two that take each other's.
            Some(state) => assert!(matches!(state, "23505" | "40P01"), "{sql}: {state}"),
        }
    }
}

/// Makes indexes of `kept`, makes them anew and drops them until the connection breaks; how many statements were answered.
fn index_until_death(port: u16) -> u64 {
    let mut answered = 0;
    let Ok(mut client) = Client::try_connect(port, "postgres", "postgres") else { return 0 };
    loop {
        for sql in [
            "CREATE UNIQUE INDEX CONCURRENTLY kept_u ON kept (k)",
            "CREATE INDEX CONCURRENTLY kept_n ON kept (n, c) WHERE n > 10",
            "CREATE INDEX CONCURRENTLY kept_e ON kept ((n + id)) INCLUDE (c)",
            "REINDEX TABLE CONCURRENTLY kept",
            "DROP INDEX CONCURRENTLY kept_u",
            "DROP INDEX CONCURRENTLY kept_n",
            "DROP INDEX CONCURRENTLY kept_e",
        ] {
            match answer(&mut client, sql).as_deref() {
                None => return answered,
                Some(state) => assert_eq!(state, "", "{sql}"),
            }
            answered += 1;
        }
    }
}

/// Writers that no index keeps out, and a server that dies while indexes are made: what is valid agrees with its table, and
/// what is not can be dropped.
#[test]
fn indexes_are_made_while_others_write_and_the_server_dies() {
    let mut atoll = Atoll::start(&[]);
    let mut client = atoll.connect();
    client.run("CREATE TABLE kept (id int PRIMARY KEY, k int UNIQUE, n int, c text)");
    client.run(&format!(
        "INSERT INTO kept SELECT g, 3 * g, g % 97, 'c' || g FROM generate_series(1, {KEPT}, 2) g"
    ));
    drop(client);
    let (mut changes, mut answered) = (0, 0);
    let mut random = Random(0x1DE5);
    for cycle in 0..8 {
        let port = atoll.port();
        let pause = Duration::from_millis(u64::from(500 + random.below(3000)));
        std::thread::scope(|scope| {
            let writers: Vec<_> = (0..3)
                .map(|who| scope.spawn(move || change_until_death(port, (cycle * 3 + who) << 9)))
                .collect();
            let maker = scope.spawn(move || index_until_death(port));
            std::thread::sleep(pause);
            atoll.kill();
            answered += maker.join().expect("a client ends");
            for writer in writers {
                changes += writer.join().expect("a client ends");
            }
        });
        atoll.check();
        atoll.restart();
        let mut client = atoll.connect();
        let by_table = "SELECT count(k), count(*) FILTER (WHERE n > 10) FROM kept";
        let by_index = "SELECT (SELECT count(*) FROM kept WHERE k >= 0), (SELECT count(*) FROM kept WHERE n > 10)";
        assert_eq!(client.run(by_table).rows, client.run(by_index).rows);
        let left = client.run(
            "SELECT indexrelid::regclass FROM pg_index WHERE indrelid = 'kept'::regclass AND (NOT indisvalid OR indexrelid::regclass::text IN ('kept_u', 'kept_n', 'kept_e'))",
        );
        for row in &left.rows {
            client.run(&format!("DROP INDEX {}", row[0].as_deref().expect("a name")));
        }
    }
    atoll.stop();
    atoll.check();
    assert!(changes > 0 && answered > 0, "{changes} changes, {answered} statements");
}

/// Takes values of a sequence until the connection breaks, those that it was told of: some alone, some for rows that are
/// rolled back.
fn count_until_death(port: u16, seed: u64) -> Vec<i64> {
    let mut random = Random(seed | 1);
    let mut told = Vec::new();
    let Ok(mut client) = Client::try_connect(port, "postgres", "postgres") else { return told };
    loop {
        let sql = match random.below(3) {
            0 => "BEGIN; INSERT INTO numbered DEFAULT VALUES RETURNING id; ROLLBACK\0",
            1 => "INSERT INTO numbered DEFAULT VALUES RETURNING id\0",
            _ => "SELECT nextval('numbered_id_seq')\0",
        };
        if client.send(b'Q', sql.as_bytes()).is_err() {
            return told;
        }
        let Ok(replies) = client.replies() else { return told };
        let rows = replies.iter().flat_map(|reply| &reply.rows);
        told.extend(
            rows.map(|row| row[0].as_deref().expect("not null").parse::<i64>().expect("a number")),
        );
    }
}

/// No value is told twice, a crash skips no more than what is logged ahead and what was under way, and a clean end nothing.
#[test]
fn no_value_of_a_sequence_comes_twice() {
    const SESSIONS: u32 = 3;
    let mut atoll = Atoll::start(&[]);
    atoll.connect().run("CREATE TABLE numbered (id bigserial PRIMARY KEY)");
    let mut told: Vec<i64> = Vec::new();
    let mut random = Random(0x5E9);
    for cycle in 0..10 {
        let port = atoll.port();
        let pause = Duration::from_millis(u64::from(100 + random.below(300)));
        std::thread::scope(|scope| {
            let sessions: Vec<_> = (0..SESSIONS)
                .map(|who| {
                    let seed = u64::from(cycle * SESSIONS + who) << 9;
                    scope.spawn(move || count_until_death(port, seed))
                })
                .collect();
            std::thread::sleep(pause);
            atoll.kill();
            for session in sessions {
                told.extend(session.join().expect("a session ends"));
            }
        });
        atoll.restart();
        let mut client = atoll.connect();
        let last = told.iter().copied().max().unwrap_or(0);
        let next = number(&mut client, "SELECT nextval('numbered_id_seq')");
        let skipped = next - last - 1;
        assert!((0..=32 + i64::from(SESSIONS)).contains(&skipped), "{last}, and then {next}");
        told.push(next);
        drop(client);
        atoll.stop();
        atoll.check();
        atoll.restart();
        let again = number(&mut atoll.connect(), "SELECT nextval('numbered_id_seq')");
        assert_eq!(again, next + 1, "a clean end skips nothing");
        told.push(again);
    }
    let count = told.len();
    told.sort_unstable();
    told.dedup();
    assert_eq!(told.len(), count, "a value was told twice");
    assert!(count > 100, "the sessions got something done");
}
