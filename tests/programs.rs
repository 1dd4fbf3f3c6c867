//! Programs in the database as applications keep them, with concurrent clients and kill -9: atomic counters, job queues,
//! audits, versions, soft deletes, counters kept by triggers, search words, and books that balance at COMMIT.
//!
//! What clients say changes one table; what functions and triggers make of it must follow, whole or not at all, whenever
//! the server dies. After each life every one of these is held against what it is made of, and what clients were told of
//! against what is there. `ATOLL_STORM_SEED` begins with another seed.

use std::collections::{BTreeSet, HashMap};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tests::atoll::Atoll;
use tests::chance::Chance;
use tests::client::Client;

/// Sessions that change things.
const CLIENTS: usize = 5;
/// How often the server dies.
const LIVES: usize = 12;
/// What a session may be told beside others: to try again.
const COLLISIONS: [&str; 3] = ["40001", "40P01", "55P03"];

/// The tables, and the programs that keep them.
const SCHEMA: &[&str] = &[
    "CREATE TABLE told (client int, seq int, PRIMARY KEY (client, seq))",
    // Atomic counters.
    "CREATE TABLE counter (name text PRIMARY KEY, n bigint NOT NULL)",
    "CREATE TABLE bumped (id bigserial PRIMARY KEY, name text, amount int)",
    "CREATE FUNCTION bump(which text, amount int) RETURNS bigint LANGUAGE plpgsql AS $$
     DECLARE now bigint;
     BEGIN
       LOOP
         UPDATE counter SET n = n + amount WHERE name = which RETURNING n INTO now;
         EXIT WHEN FOUND;
         BEGIN
           INSERT INTO counter VALUES (which, 0);
         EXCEPTION WHEN unique_violation THEN NULL;
         END;
       END LOOP;
       INSERT INTO bumped (name, amount) VALUES (which, bump.amount);
       RETURN now;
     END $$",
    // A job queue.
    "CREATE TABLE job (id bigserial PRIMARY KEY, state text NOT NULL DEFAULT 'new', payload text)",
    "CREATE TABLE finished (job bigint PRIMARY KEY REFERENCES job, client int)",
    "CREATE FUNCTION announce() RETURNS trigger LANGUAGE plpgsql AS $$
     BEGIN PERFORM pg_notify('jobs', NEW.id::text); RETURN NULL; END $$",
    "CREATE TRIGGER announce AFTER INSERT ON job FOR EACH ROW EXECUTE FUNCTION announce()",
    "CREATE FUNCTION take(who int) RETURNS bigint LANGUAGE plpgsql AS $$
     DECLARE found_job job;
     BEGIN
       SELECT * INTO found_job FROM job WHERE state = 'new' ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED;
       IF NOT FOUND THEN RETURN NULL; END IF;
       UPDATE job SET state = 'done' WHERE id = found_job.id;
       INSERT INTO finished VALUES (found_job.id, who);
       RETURN found_job.id;
     END $$",
    // Items with versions, an audit, and soft deletes through a view.
    "CREATE TABLE item (id int PRIMARY KEY, v int, version int NOT NULL DEFAULT 1, deleted bool NOT NULL DEFAULT false)",
    "CREATE TABLE audit (id bigserial PRIMARY KEY, item int, op text, was jsonb, now jsonb)",
    "CREATE FUNCTION next_version() RETURNS trigger LANGUAGE plpgsql AS $$
     BEGIN NEW.version := OLD.version + 1; RETURN NEW; END $$",
    "CREATE TRIGGER next_version BEFORE UPDATE ON item FOR EACH ROW
     WHEN (OLD.* IS DISTINCT FROM NEW.*) EXECUTE FUNCTION next_version()",
    "CREATE FUNCTION audit() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = public AS $$
     BEGIN
       INSERT INTO audit (item, op, was, now) VALUES (coalesce(NEW.id, OLD.id), TG_OP, to_jsonb(OLD), to_jsonb(NEW));
       RETURN NULL;
     END $$",
    "CREATE TRIGGER audit AFTER INSERT OR UPDATE OR DELETE ON item FOR EACH ROW EXECUTE FUNCTION audit()",
    "CREATE VIEW live_item AS SELECT id, v FROM item WHERE NOT deleted",
    "CREATE FUNCTION soft() RETURNS trigger LANGUAGE plpgsql AS $$
     BEGIN
       IF TG_OP = 'DELETE' THEN
         UPDATE item SET deleted = true WHERE id = OLD.id AND NOT deleted;
         RETURN CASE WHEN FOUND THEN OLD END;
       END IF;
       INSERT INTO item (id, v) VALUES (NEW.id, NEW.v)
         ON CONFLICT (id) DO UPDATE SET v = excluded.v, deleted = false;
       RETURN NEW;
     END $$",
    "CREATE TRIGGER soft INSTEAD OF INSERT OR DELETE ON live_item FOR EACH ROW EXECUTE FUNCTION soft()",
    // Counters that statements' triggers keep.
    "CREATE TABLE team (id int PRIMARY KEY, members int NOT NULL DEFAULT 0, points bigint NOT NULL DEFAULT 0)",
    "CREATE TABLE member (id bigserial PRIMARY KEY, team int NOT NULL REFERENCES team, points int NOT NULL)",
    "INSERT INTO team SELECT g FROM generate_series(1, 5) g",
    "CREATE FUNCTION recount() RETURNS trigger LANGUAGE plpgsql AS $$
     BEGIN
       IF TG_OP <> 'INSERT' THEN
         UPDATE team SET members = members - n, points = team.points - p
           FROM (SELECT team, count(*) n, sum(points) p FROM was GROUP BY team ORDER BY team) c WHERE c.team = team.id;
       END IF;
       IF TG_OP <> 'DELETE' THEN
         UPDATE team SET members = members + n, points = team.points + p
           FROM (SELECT team, count(*) n, sum(points) p FROM now GROUP BY team ORDER BY team) c WHERE c.team = team.id;
       END IF;
       RETURN NULL;
     END $$",
    "CREATE TRIGGER joined AFTER INSERT ON member REFERENCING NEW TABLE AS now FOR EACH STATEMENT EXECUTE FUNCTION recount()",
    "CREATE TRIGGER left_it AFTER DELETE ON member REFERENCING OLD TABLE AS was FOR EACH STATEMENT EXECUTE FUNCTION recount()",
    "CREATE TRIGGER moved AFTER UPDATE ON member REFERENCING OLD TABLE AS was NEW TABLE AS now
     FOR EACH STATEMENT EXECUTE FUNCTION recount()",
    // Search words.
    "CREATE TABLE page (id int PRIMARY KEY, title text, body text, words text)",
    "CREATE INDEX page_words ON page (words)",
    "CREATE FUNCTION words_of(written text) RETURNS text LANGUAGE sql AS $$
     SELECT array_to_string(array(SELECT DISTINCT w FROM regexp_split_to_table(lower(written), '[^a-z0-9]+') w ORDER BY w), ' ') $$",
    "CREATE FUNCTION search_words() RETURNS trigger LANGUAGE plpgsql AS $$
     BEGIN NEW.words := words_of(NEW.title || ' ' || NEW.body); RETURN NEW; END $$",
    "CREATE TRIGGER search_words BEFORE INSERT OR UPDATE OF title, body ON page
     FOR EACH ROW EXECUTE FUNCTION search_words()",
    // Books that balance when they are closed.
    "CREATE TABLE entry (id bigserial PRIMARY KEY, booking int NOT NULL, amount int NOT NULL)",
    "CREATE INDEX entry_booking ON entry (booking)",
    "CREATE FUNCTION balanced() RETURNS trigger LANGUAGE plpgsql AS $$
     BEGIN
       IF (SELECT sum(amount) FROM entry WHERE booking = NEW.booking) <> 0 THEN
         RAISE EXCEPTION 'booking % does not balance', NEW.booking USING ERRCODE = '23514';
       END IF;
       RETURN NULL;
     END $$",
    "CREATE CONSTRAINT TRIGGER balanced AFTER INSERT OR UPDATE ON entry DEFERRABLE INITIALLY DEFERRED
     FOR EACH ROW EXECUTE FUNCTION balanced()",
    "CREATE FUNCTION book(number int, amount int) RETURNS void LANGUAGE plpgsql AS $$
     BEGIN
       INSERT INTO entry (booking, amount) VALUES (number, book.amount);
       INSERT INTO entry (booking, amount) VALUES (number, -book.amount);
     END $$",
];

/// What must be true whenever nothing runs: each gives no row.
const INVARIANTS: &[(&str, &str)] = &[
    (
        "a counter is the sum of what was added",
        "SELECT name, n FROM counter FULL JOIN (SELECT name, sum(amount) AS n FROM bumped GROUP BY name) b USING (name, n)
         WHERE counter.n IS NULL AND b.n <> 0 OR b.n IS NULL AND counter.n <> 0",
    ),
    (
        "a job is done exactly if somebody has finished it",
        "SELECT job.id FROM job LEFT JOIN finished ON job = job.id WHERE (state = 'done') <> (job IS NOT NULL)",
    ),
    (
        "an item is what its audit says last",
        "SELECT id FROM item FULL JOIN (SELECT DISTINCT ON (audit.item) audit.item AS id, now, op FROM audit ORDER BY audit.item, audit.id DESC) a USING (id)
         WHERE a.now IS DISTINCT FROM to_jsonb(item)",
    ),
    (
        "each version was audited, from the one before on",
        "SELECT item.id FROM item JOIN (SELECT audit.item AS id, count(*) AS n, max((now ->> 'version')::int) AS last FROM audit GROUP BY 1) a USING (id)
         WHERE a.last <> item.version OR a.n < item.version",
    ),
    (
        "an audit goes on where the one before has ended",
        "SELECT id FROM (SELECT id, was, lag(now) OVER (PARTITION BY audit.item ORDER BY id) AS before FROM audit) a WHERE was IS DISTINCT FROM before",
    ),
    ("nothing is deleted for good", "SELECT id FROM audit WHERE op = 'DELETE'"),
    (
        "a team is the sum of its members",
        "SELECT team.id FROM team LEFT JOIN (SELECT team AS id, count(*) AS members, sum(points) AS points FROM member GROUP BY 1) m USING (id)
         WHERE (team.members, team.points) IS DISTINCT FROM (coalesce(m.members, 0), coalesce(m.points, 0))",
    ),
    (
        "the words of a page are those of its text",
        "SELECT id FROM page WHERE words IS DISTINCT FROM words_of(title || ' ' || body)",
    ),
    ("every booking balances", "SELECT booking FROM entry GROUP BY booking HAVING sum(amount) <> 0 OR count(*) % 2 <> 0"),
];

/// What a client wants next, as statements of a transaction; whether it has to fail at COMMIT.
fn wish(chance: &mut Chance, client: usize) -> (String, bool) {
    let mut number = |bound: usize| chance.below(bound);
    let (a, b, kind) = (number(40) + 1, number(5) + 1, number(16));
    let text = match kind {
        0 | 1 => format!("SELECT bump('c{b}', {a})"),
        2 | 3 => {
            format!("INSERT INTO job (payload) SELECT 'p' || g FROM generate_series(1, {b}) g")
        }
        4..7 => format!("SELECT take({client})"),
        7 => format!("INSERT INTO live_item VALUES ({a}, {b}), ({}, {a}) RETURNING *", a + 40),
        8 => format!("UPDATE item SET v = v + {b} WHERE id IN ({a}, {})", a + 40),
        9 => format!("DELETE FROM live_item WHERE id = {a} RETURNING id"),
        10 => format!(
            "INSERT INTO member (team, points) SELECT 1 + g % 5, {a} FROM generate_series(1, {b}) g"
        ),
        11 => format!("UPDATE member SET team = {b}, points = points + 1 WHERE id % 40 = {a}"),
        12 => format!("DELETE FROM member WHERE id % 40 = {a}"),
        13 => format!(
            "INSERT INTO page VALUES ({a}, 'Title {b} of {client}', repeat('word{b} Other-{a}, ', {b})) \
             ON CONFLICT (id) DO UPDATE SET title = excluded.title, words = 'never'"
        ),
        14 => format!("SELECT book({a}, {b})"),
        _ => return (format!("INSERT INTO entry (booking, amount) VALUES ({a}, {b})"), true),
    };
    (text, false)
}

/// Says things until the connection breaks; the last number that was acknowledged.
fn go_on(port: u16, client: usize, first: i64, mut chance: Chance, stop: &AtomicBool) -> i64 {
    let mut acknowledged = first;
    let Ok(mut session) = Client::try_connect(port, "postgres", "postgres") else {
        return acknowledged;
    };
    while !stop.load(Ordering::Relaxed) {
        let ((text, fails), seq) = (wish(&mut chance, client), acknowledged + 1);
        let whole = format!("BEGIN; {text}; INSERT INTO told VALUES ({client}, {seq}); COMMIT\0");
        if session.send(b'Q', whole.as_bytes()).is_err() {
            break;
        }
        let Ok(replies) = session.replies() else { break };
        match replies.iter().find(|reply| reply.error.is_some()) {
            None => {
                assert!(!fails, "{text} has been committed");
                acknowledged = seq;
            }
            Some(reply) => {
                let state = reply.sqlstate();
                if state.starts_with("57P") {
                    break;
                }
                let expected = fails && state == "23514" || COLLISIONS.contains(&state);
                assert!(expected, "{text}: {:?}", reply.error);
                // A block in which something has failed is over; one that has failed at COMMIT is already.
                if session.send(b'Q', b"ROLLBACK\0").is_err() || session.replies().is_err() {
                    break;
                }
            }
        }
    }
    acknowledged
}

/// Listens until the connection breaks; the jobs that it was told of.
fn listen(port: u16) -> BTreeSet<i64> {
    let mut heard = BTreeSet::new();
    let Ok(mut session) = Client::try_connect(port, "postgres", "postgres") else { return heard };
    if session.send(b'Q', b"LISTEN jobs\0").is_err() {
        return heard;
    }
    while let Ok(message) = session.receive() {
        if message.tag == b'A' {
            let texts: Vec<_> = message.body[4..].split(|byte| *byte == 0).collect();
            let payload = std::str::from_utf8(texts[1]).expect("a payload is text");
            heard.insert(payload.parse().expect("a payload is a job's number"));
        }
    }
    heard
}

fn number(client: &mut Client, sql: &str) -> i64 {
    client.run(sql).value().parse().expect("a number")
}

/// Holds everything against what it is made of, and against what clients know; gives what each client has done.
fn audit(
    client: &mut Client,
    acknowledged: &HashMap<usize, i64>,
    heard: &BTreeSet<i64>,
    at: &str,
) -> HashMap<usize, i64> {
    for (what, sql) in INVARIANTS {
        let reply = client.run(sql);
        assert!(
            reply.rows.is_empty(),
            "{at}: {what}: {:?}",
            &reply.rows[..reply.rows.len().min(5)]
        );
    }
    let mut found = HashMap::new();
    for (who, told) in acknowledged {
        let (count, last) = ("count(*)", "coalesce(max(seq), 0)");
        let ask = |what| format!("SELECT {what} FROM told WHERE client = {who}");
        let (count, last) = (number(client, &ask(count)), number(client, &ask(last)));
        assert_eq!(count, last, "{at}: client {who} has a gap");
        assert!(
            (*told..=told + 1).contains(&last),
            "{at}: client {who}: {told} told, {last} there"
        );
        found.insert(*who, last);
    }
    let jobs: BTreeSet<i64> = client
        .run("SELECT id FROM job")
        .rows
        .iter()
        .map(|row| row[0].as_deref().expect("not null").parse().expect("a number"))
        .collect();
    let missing: Vec<_> = heard.difference(&jobs).collect();
    assert!(missing.is_empty(), "{at}: jobs that were announced are not there: {missing:?}");
    let by_index = number(client, "SELECT count(*) FROM page WHERE words >= ''");
    assert_eq!(by_index, number(client, "SELECT count(*) FROM page"), "{at}: the words' index");
    found
}

#[test]
fn what_functions_and_triggers_keep_is_kept_through_kill_9() {
    let seed = std::env::var("ATOLL_STORM_SEED").ok().and_then(|text| text.parse().ok());
    let mut chance = Chance(seed.unwrap_or(29));
    let mut atoll = Atoll::start(&[]);
    let mut client = atoll.connect();
    SCHEMA.iter().for_each(|sql| drop(client.run(sql)));
    drop(client);
    let mut acknowledged: HashMap<usize, i64> = (0..CLIENTS).map(|who| (who, 0)).collect();
    let mut heard = BTreeSet::new();
    for life in 0..LIVES {
        let stop = AtomicBool::new(false);
        let port = atoll.port();
        let pause = Duration::from_millis(200 + chance.below(500) as u64);
        std::thread::scope(|scope| {
            let listener = scope.spawn(move || listen(port));
            let threads: Vec<_> = (0..CLIENTS)
                .map(|who| {
                    let (first, own) = (acknowledged[&who], Chance(chance.below(1 << 30) as u64));
                    let stop = &stop;
                    scope.spawn(move || (who, go_on(port, who, first, own, stop)))
                })
                .collect();
            std::thread::sleep(pause);
            atoll.kill();
            stop.store(true, Ordering::Relaxed);
            for thread in threads {
                let (who, last) = thread.join().expect("a client ends");
                acknowledged.insert(who, last);
            }
            heard.extend(listener.join().expect("the listener ends"));
        });
        atoll.check();
        atoll.restart();
        let at = format!("seed {seed:?}, life {life}");
        acknowledged = audit(&mut atoll.connect(), &acknowledged, &heard, &at);
    }
    atoll.stop();
    atoll.check();
    assert!(!heard.is_empty(), "jobs were announced");
    assert!(
        acknowledged.values().all(|last| *last > 0),
        "all got something done: {acknowledged:?}"
    );
}
