//! A bank's total under every scheme, while transfers go on, and behind the death of the process.

use super::{SCHEMES, code};
use std::time::Duration;
use tests::atoll::Atoll;
use tests::client::Client;

/// Runs a transaction until it commits; how often it was refused.
fn insist(client: &mut Client, statements: &[String]) -> usize {
    for refused in 0.. {
        client.run("BEGIN");
        let failed = statements.iter().map(|sql| code(client, sql)).find(|code| !code.is_empty());
        let failed =
            failed.or_else(|| Some(code(client, "COMMIT")).filter(|code| !code.is_empty()));
        match failed.as_deref() {
            None => return refused,
            Some("40001" | "40P01") => drop(client.query_all("ROLLBACK")),
            Some(other) => panic!("{other}"),
        }
    }
    unreachable!("a transaction is run until it commits")
}

/// Six sessions move money between four accounts, and each sum that anybody sees is the same.
#[test]
fn the_bank_is_in_balance() {
    const SESSIONS: u64 = 6;
    const TRANSFERS: u64 = 40;
    for scheme in &SCHEMES[1..] {
        let atoll = Atoll::start_with(&["--concurrency-control", scheme], &[]);
        let mut admin = atoll.connect();
        admin.run("CREATE TABLE account (id int PRIMARY KEY, balance int NOT NULL)");
        admin.run("INSERT INTO account SELECT g, 100 FROM generate_series(0, 3) AS g");
        admin.run("CREATE TABLE transfer (id serial PRIMARY KEY, amount int)");
        let port = atoll.port();
        std::thread::scope(|scope| {
            for session in 0..SESSIONS {
                scope.spawn(move || {
                    let mut client = Client::connect(port, "postgres", "postgres");
                    client.run("SET deadlock_timeout = '10ms'");
                    for round in 0..TRANSFERS {
                        let (from, to) = ((session + round) % 4, (session * 3 + round / 2 + 1) % 4);
                        insist(
                            &mut client,
                            &[
                                "DO $$ BEGIN IF (SELECT sum(balance) FROM account) <> 400 THEN \
                                 RAISE 'torn'; END IF; END $$"
                                    .to_owned(),
                                format!(
                                    "UPDATE account SET balance = balance - 1 WHERE id = {from}"
                                ),
                                format!("UPDATE account SET balance = balance + 1 WHERE id = {to}"),
                                "INSERT INTO transfer (amount) VALUES (1)".to_owned(),
                            ],
                        );
                    }
                });
            }
        });
        assert_eq!(admin.run("SELECT sum(balance) FROM account").value(), "400", "{scheme}");
        let transfers = (SESSIONS * TRANSFERS).to_string();
        assert_eq!(admin.run("SELECT count(*) FROM transfer").value(), transfers, "{scheme}");
    }
}

/// The same where the server dies under them, again and again: what was acknowledged is there, and nothing by half.
#[test]
fn the_bank_is_in_balance_behind_process_death() {
    const SESSIONS: u64 = 4;
    for scheme in SCHEMES {
        let mut atoll = Atoll::start_with(&["--concurrency-control", scheme], &[]);
        let mut admin = atoll.connect();
        admin.run("CREATE TABLE account (id int PRIMARY KEY, balance int NOT NULL)");
        admin.run("INSERT INTO account SELECT g, 100 FROM generate_series(0, 5) AS g");
        admin.run("CREATE TABLE transfer (session int, number int, PRIMARY KEY (session, number))");
        let mut told = [0; SESSIONS as usize];
        for life in 0..3 {
            let port = atoll.port();
            std::thread::scope(|scope| {
                let sessions: Vec<_> = (0..SESSIONS)
                    .zip(told)
                    .map(|(session, told)| scope.spawn(move || transfer(port, session, told)))
                    .collect();
                std::thread::sleep(Duration::from_millis(400 + 150 * life));
                atoll.kill();
                for (session, told) in sessions.into_iter().zip(&mut told) {
                    *told = session.join().expect("nobody panics");
                }
            });
            atoll.restart();
            let mut admin = atoll.connect();
            let sum = admin.run("SELECT sum(balance) FROM account");
            assert_eq!(sum.value(), "600", "{scheme}");
            for (session, told) in told.iter_mut().enumerate() {
                let of = format!("FROM transfer WHERE session = {session}");
                let count = admin.run(&format!("SELECT count(*) {of}")).value().parse::<u64>();
                let last = admin.run(&format!("SELECT coalesce(max(number), 0) {of}"));
                let (count, last) = (count.expect("a number"), last.value().parse::<u64>());
                assert_eq!(Ok(count), last, "{scheme}");
                // The last one may be there without a word to anybody.
                assert!(count == *told || count == *told + 1, "{scheme}: {count} of {told}");
                *told = count;
            }
        }
        assert!(told.iter().sum::<u64>() > 20, "{scheme}: {told:?}");
        atoll.stop();
        atoll.check();
    }
}

/// Moves money until the server is gone; how many transfers it has been told of, with those before.
fn transfer(port: u16, session: u64, mut told: u64) -> u64 {
    let Ok(mut client) = Client::try_connect(port, "postgres", "postgres") else { return told };
    let mut random = session * 7 + told;
    let mut run = move |sql: &str| -> std::io::Result<bool> {
        client.send(b'Q', &[sql.as_bytes(), b"\0"].concat())?;
        Ok(client.replies()?.iter().all(|reply| reply.error.is_none()))
    };
    // Of the default's locks a cycle is looked for only then.
    let _ = run("SET deadlock_timeout = '10ms'");
    loop {
        random =
            random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let (from, to) = ((random >> 40) % 6, (random >> 50) % 6);
        let mut work = || {
            let done = run("BEGIN")?
                && run(&format!("UPDATE account SET balance = balance - 1 WHERE id = {from}"))?
                && run(&format!("UPDATE account SET balance = balance + 1 WHERE id = {to}"))?
                && run(&format!("INSERT INTO transfer VALUES ({session}, {})", told + 1))?
                && run("COMMIT")?;
            if !done {
                run("ROLLBACK")?;
            }
            std::io::Result::Ok(done)
        };
        match work() {
            Ok(done) => told += u64::from(done),
            Err(_) => return told,
        }
    }
}
