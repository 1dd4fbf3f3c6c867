//! Who may do what: PostgreSQL 15 and Atoll are asked side by side, and must say the same.
//!
//! `rights/*.dialogue` are conversations of several sessions. A line `SESSION = parameter=value ...` connects with these
//! start-up parameters, `|` between them; a line `SESSION: statement` runs a statement, and begins with a blank where it
//! goes on. What is told, refused and answered is compared, with all notices.
//!
//! `rights/matrix/*.sql` are the matrix: roles and objects (`setup`, `objects`), and statements, one a line, that every role
//! runs on both servers.

use std::collections::HashMap;
use tests::atoll::Atoll;
use tests::chance::Chance;
use tests::client::{Client, Reply, Report};
use tests::golden::difference;
use tests::oracle;
use tests::script::{files, name_of};

fn told(reports: &[Report]) -> String {
    let line = |report: &Report| {
        ["S", "C", "M", "D", "H"].map(|field| report.field(field.as_bytes()[0])).join("|")
    };
    reports.iter().map(|report| line(report) + "\n").collect()
}

fn answered(reply: &Reply) -> String {
    let rows = reply.rows.iter().map(|row| {
        let fields: Vec<&str> =
            row.iter().map(|field| field.as_deref().unwrap_or("NULL")).collect();
        fields.join("|") + "\n"
    });
    let mut text = told(&reply.notices);
    text.extend(rows);
    text.push_str(&reply.tag.clone().map_or(String::new(), |tag| tag + "\n"));
    text + &told(reply.error.as_slice())
}

/// What a server says in a conversation, which stands before each answer.
fn conversation(port: u16, script: &str) -> String {
    let mut sessions: HashMap<String, Client> = HashMap::new();
    let mut said = String::new();
    for line in script.replace("\n ", " ").lines() {
        said += &format!("{line}\n");
        let end = line.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(line.len());
        let (name, rest) = line.split_at(end);
        if let Some(parameters) = rest.strip_prefix(" = ") {
            let parameters: Vec<(&str, &str)> =
                parameters.split('|').map(|one| one.split_once('=').expect("a=b")).collect();
            match Client::try_connect_with(port, &parameters) {
                Ok(client) => {
                    said += &told(&client.greeting);
                    sessions.insert(name.to_owned(), client);
                }
                Err(refused) => {
                    sessions.remove(name);
                    said += &format!("{refused}\n");
                }
            }
        } else if let Some(statement) = rest.strip_prefix(": ") {
            let client = sessions.get_mut(name).unwrap_or_else(|| panic!("{name} is connected"));
            for reply in client.query_all(statement) {
                said += &answered(&reply);
            }
        }
    }
    said
}

#[test]
fn conversations_go_as_they_do_with_postgresql() {
    let mut failures = Vec::new();
    for path in files("rights", "dialogue") {
        let script = std::fs::read_to_string(&path).expect("scripts are readable");
        // Roles and databases of one conversation are nobody else's.
        let atoll = Atoll::start(&[]);
        let ours = conversation(atoll.port(), &script);
        let theirs = conversation(oracle::shared(), &script);
        if theirs != ours {
            failures.push(format!("{}:\n{}", name_of(&path), difference(&theirs, &ours)));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

// --- the matrix -------------------------------------------------------------------------------------------------------

/// How many statements of the matrix a run takes, by seed, unless [`WHOLE`] is in the environment.
const SAMPLE: usize = 60;
/// The environment variable that asks for the whole matrix.
const WHOLE: &str = "ATOLL_RIGHTS_WHOLE";
/// The environment variable with another seed for the sample.
const SEED: &str = "ATOLL_RIGHTS_SEED";

/// The lines of a file of the matrix that say something.
fn matrix(file: &str) -> Vec<String> {
    let path = format!("{}/rights/matrix/{file}.sql", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
    let says = |line: &&str| !line.is_empty() && !line.starts_with("--");
    text.lines().filter(says).map(str::to_owned).collect()
}

/// The roles and objects, on either server.
fn set_up(port: u16) {
    for (database, file) in [("postgres", "setup"), ("matrix", "objects")] {
        let mut root = Client::connect(port, "postgres", database);
        for statement in matrix(file) {
            let reply = root.query(&statement);
            // What this server does not have is missing in its column.
            assert!(
                matches!(reply.sqlstate(), "" | "0A000" | "42601"),
                "{statement}: {:?}",
                reply.error
            );
        }
    }
}

/// The roles of the matrix: all that may log in.
fn roles() -> Vec<String> {
    let made = matrix("setup");
    let login = made.iter().filter(|line| line.contains(" LOGIN"));
    login
        .filter_map(|line| line.split_whitespace().nth(2))
        .map(|name| name.replace(';', ""))
        .collect()
}

/// Runs statements by one role, each in a transaction that is rolled back, and says for each how it ended: a SQLSTATE, or
/// nothing, and how many rows there were.
fn column(port: u16, role: &str, statements: &[String]) -> Vec<(String, usize)> {
    let mut client = Client::connect(port, role, "matrix");
    let cell = |statement: &String| {
        if client.status != b'I' {
            client.run("ROLLBACK");
        }
        client.start("BEGIN");
        client.start(statement);
        client.replies().expect("BEGIN is answered");
        let answers = answers(&mut client);
        client.run("ROLLBACK");
        let rows = answers.iter().map(|reply| reply.rows.len()).sum();
        let failed = answers.iter().find(|reply| reply.error.is_some());
        (failed.map_or(String::new(), |reply| reply.sqlstate().to_owned()), rows)
    };
    statements.iter().map(cell).collect()
}

/// The answers to a statement; one that asks for rows of COPY gets none.
fn answers(client: &mut Client) -> Vec<Reply> {
    let mut replies = vec![Reply::default()];
    loop {
        let message = client.receive().expect("the connection stands");
        let last = replies.last_mut().expect("there is one");
        match message.tag {
            b'G' => client.send(b'c', &[]).expect("the connection stands"),
            b'D' => last.rows.push(Vec::new()),
            b'E' => last.error = Some(Report::parse(&message.body)),
            b'C' => replies.push(Reply::default()),
            b'Z' => return replies,
            _ => {}
        }
    }
}

/// How a cell differs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Difference {
    /// Allowed here, denied there.
    Allowed,
    /// Denied here, allowed there.
    Denied,
    /// Another SQLSTATE, or another number of rows.
    Other,
}

/// What is compared, and what is not: what this server does not have says so itself.
fn compared(
    (theirs, their_rows): &(String, usize),
    (ours, our_rows): &(String, usize),
) -> Option<Difference> {
    const DENIED: &str = "42501";
    if ours == "0A000" || theirs == ours && their_rows == our_rows {
        return None;
    }
    Some(match (theirs.as_str(), ours.as_str()) {
        (DENIED, "") => Difference::Allowed,
        ("", DENIED) => Difference::Denied,
        _ => Difference::Other,
    })
}

/// The statements of all areas, or a sample.
fn statements() -> Vec<String> {
    let areas = ["read", "write", "define", "roles", "catalogs"];
    let mut all: Vec<String> = areas.into_iter().flat_map(matrix).collect();
    if std::env::var_os(WHOLE).is_some() {
        return all;
    }
    let seed = std::env::var(SEED).ok().and_then(|seed| seed.parse().ok()).unwrap_or(1_u64);
    let mut chance = Chance(seed);
    while all.len() > SAMPLE {
        all.swap_remove(chance.below(all.len()));
    }
    all
}

/// Every role runs every statement on both servers: nothing is allowed that PostgreSQL denies, nothing is denied that it
/// allows, and of other SQLSTATEs there are fewer than one in a hundred.
#[test]
fn every_role_may_do_what_it_may_in_postgresql() {
    let atoll = Atoll::start(&[]);
    let theirs = oracle::Oracle::start(&[]);
    set_up(atoll.port());
    set_up(theirs.port());
    let statements = statements();
    let mut found: std::collections::BTreeMap<(Difference, String), Vec<String>> =
        Default::default();
    let (mut cells, mut others) = (0, 0);
    for role in roles() {
        let theirs = column(theirs.port(), &role, &statements);
        let ours = column(atoll.port(), &role, &statements);
        for ((statement, theirs), ours) in statements.iter().zip(&theirs).zip(&ours) {
            cells += 1;
            let Some(difference) = compared(theirs, ours) else { continue };
            others += usize::from(difference == Difference::Other);
            let what = format!("{statement}: {theirs:?} there, {ours:?} here");
            found.entry((difference, what)).or_default().push(role.clone());
        }
    }
    let lines = found.iter().map(|((difference, what), roles)| {
        format!(
            "{difference:?} {what}, by {}: {}\n",
            roles.len(),
            roles[..roles.len().min(4)].join(" ")
        )
    });
    let lines: String = lines.collect();
    let bad = found.keys().any(|(difference, _)| *difference != Difference::Other);
    assert!(
        !bad && others * 100 < cells,
        "{cells} cells, {others} with another SQLSTATE:\n{lines}"
    );
}

// --- random walks -----------------------------------------------------------------------------------------------------

/// Everything that a walk changes, as texts.
const STATE: &str = "SELECT relname || ' ' || relowner::regrole || ' ' || coalesce(relacl::text, '-')
    FROM pg_class WHERE relnamespace = 'w'::regnamespace AND relkind IN ('r', 'v', 'S')
    UNION ALL SELECT attrelid::regclass || '.' || attname || ' ' || attacl::text
    FROM pg_attribute WHERE attrelid IN ('w.t'::regclass, 'w.v'::regclass) AND attacl IS NOT NULL
    UNION ALL SELECT nspname || ' ' || nspowner::regrole || ' ' || coalesce(nspacl::text, '-')
    FROM pg_namespace WHERE nspname = 'w'
    UNION ALL SELECT typname || ' ' || typowner::regrole || ' ' || coalesce(typacl::text, '-')
    FROM pg_type WHERE typname = 'mood'
    UNION ALL SELECT roleid::regrole || ' ' || member::regrole || ' ' || grantor::regrole || ' ' || admin_option
    FROM pg_auth_members WHERE roleid >= 16384
    UNION ALL SELECT defaclrole::regrole || ' ' || defaclobjtype || ' ' || defaclacl::text
    FROM pg_default_acl
    UNION ALL SELECT parname || ' ' || coalesce(paracl::text, '-') FROM pg_parameter_acl
    ORDER BY 1";

/// Who walks.
const WALKERS: [&str; 5] = ["walk_a", "walk_b", "walk_c", "walk_d", "walk_e"];

/// A step, and whose it is.
fn step(chance: &mut Chance) -> (usize, String) {
    let mut one = |of: &[&str]| of[chance.below(of.len())].to_owned();
    let role = one(&WALKERS);
    let grantee = one(&["walk_a", "walk_b", "walk_c", "walk_d", "walk_e", "PUBLIC"]);
    let other = one(&WALKERS);
    let privileges = one(&[
        "SELECT",
        "INSERT, UPDATE",
        "ALL",
        "TRUNCATE",
        "SELECT (a)",
        "UPDATE (b), SELECT",
        "REFERENCES (a, b)",
        "ALL (a)",
    ]);
    let object = one(&["w.t", "w.v"]);
    let option = one(&["", "", " WITH GRANT OPTION"]);
    let only_option = one(&["", "", "GRANT OPTION FOR "]);
    let cascade = one(&["", " CASCADE"]);
    let admin = one(&["", " WITH ADMIN OPTION"]);
    let schema = one(&["USAGE", "CREATE", "ALL"]);
    let parameter = one(&["log_statement", "work_mem", "my.walk"]);
    let settable = one(&["SET", "ALTER SYSTEM", "ALL", "SET, ALTER SYSTEM"]);
    let statement = match chance.below(19) {
        0..=3 => format!("GRANT {privileges} ON {object} TO {grantee}{option}"),
        4..=6 => format!("REVOKE {only_option}{privileges} ON {object} FROM {grantee}{cascade}"),
        7 => format!("GRANT {schema} ON SCHEMA w TO {grantee}{option}"),
        8 => format!("REVOKE {only_option}{schema} ON SCHEMA w FROM {grantee}{cascade}"),
        9 => format!("GRANT USAGE ON TYPE w.mood TO {grantee}{option}"),
        10 => format!("GRANT {role} TO {other}{admin}"),
        11 => format!("REVOKE {role} FROM {other}"),
        12 => match chance.below(4) {
            0 => format!("ALTER TABLE w.t OWNER TO {role}"),
            1 => format!("ALTER VIEW w.v OWNER TO {role}"),
            2 => format!("ALTER SCHEMA w OWNER TO {role}"),
            _ => format!("ALTER TYPE w.mood OWNER TO {role}"),
        },
        13 => match chance.below(4) {
            0 => "RESET ROLE".to_owned(),
            1 => "SET log_statement = 'ddl'".to_owned(),
            _ => format!("SET ROLE {role}"),
        },
        16 | 17 => format!("GRANT {settable} ON PARAMETER {parameter} TO {grantee}{option}"),
        18 => {
            format!(
                "REVOKE {only_option}{settable} ON PARAMETER {parameter} FROM {grantee}{cascade}"
            )
        }
        14 => format!("ALTER DEFAULT PRIVILEGES GRANT SELECT ON TABLES TO {grantee}"),
        _ => match chance.below(3) {
            0 => format!("GRANT USAGE ON SEQUENCE w.s TO {grantee}{option}"),
            1 => format!("REVOKE USAGE ON SEQUENCE w.s FROM {grantee}{cascade}"),
            _ => format!("ALTER DEFAULT PRIVILEGES REVOKE SELECT ON TABLES FROM {grantee}"),
        },
    };
    (chance.below(WALKERS.len() + 1), statement)
}

/// One server's end of a walk: the superuser, and those who walk.
struct Walk(Vec<Client>);

impl Walk {
    fn begin(port: u16, database: &str) -> Walk {
        let mut root = Client::connect(port, "postgres", "postgres");
        root.run(&format!("CREATE DATABASE {database}"));
        for role in WALKERS {
            root.run(&format!("CREATE ROLE {role} LOGIN"));
        }
        let mut root = Client::connect(port, "postgres", database);
        for statement in [
            "CREATE SCHEMA w AUTHORIZATION walk_a",
            "CREATE TABLE w.t (a int, b int)",
            "CREATE VIEW w.v AS SELECT a, b FROM w.t",
            "CREATE SEQUENCE w.s",
            "CREATE TYPE w.mood AS ENUM ('ok')",
            "ALTER TABLE w.t OWNER TO walk_a",
            "ALTER VIEW w.v OWNER TO walk_b",
            "ALTER SEQUENCE w.s OWNER TO walk_c",
        ] {
            root.run(statement);
        }
        let walkers = WALKERS.iter().map(|role| Client::connect(port, role, database));
        let mut all: Vec<Client> = walkers.collect();
        all.push(root);
        Walk(all)
    }

    /// Takes a step, and says what there is then.
    fn step(&mut self, by: usize, statement: &str) -> String {
        let said = answered(&self.0[by].query(statement));
        let root = self.0.last_mut().expect("the superuser is there");
        let state = root.query(&format!("RESET ROLE; {STATE}"));
        said + &answered(&state)
    }

    fn end(mut self, database: &str) {
        let port = self.0.pop().expect("the superuser is there").port();
        drop(self.0);
        let mut root = Client::connect(port, "postgres", "postgres");
        root.run(&format!("DROP DATABASE {database} WITH (FORCE)"));
        root.run(&format!("DROP OWNED BY {0}; DROP ROLE {0}", WALKERS.join(", ")));
    }
}

/// After each step of a random walk of GRANT, REVOKE, SET ROLE and changes of owners, by several sessions, all lists are
/// PostgreSQL's: those of what is in the database, and of parameters.
#[test]
fn lists_of_privileges_change_as_in_postgresql() {
    let whole = std::env::var_os(WHOLE).is_some();
    let (walks, steps) = if whole { (40, 400) } else { (3, 120) };
    let first = std::env::var(SEED).ok().and_then(|seed| seed.parse().ok()).unwrap_or(1_u64);
    let atoll = Atoll::start(&[]);
    let theirs = oracle::Oracle::start(&[]);
    for seed in first..first + walks {
        let mut chance = Chance(seed);
        let mut here = Walk::begin(atoll.port(), "walk");
        let mut there = Walk::begin(theirs.port(), "walk");
        let mut path = Vec::new();
        for _ in 0..steps {
            let (by, statement) = step(&mut chance);
            path.push(format!("{}: {statement}", WALKERS.get(by).unwrap_or(&"postgres")));
            let (ours, expected) = (here.step(by, &statement), there.step(by, &statement));
            let last = path[path.len().saturating_sub(12)..].join("\n");
            assert!(
                ours == expected,
                "seed {seed}, behind\n{last}\n{}",
                difference(&expected, &ours)
            );
        }
        here.end("walk");
        there.end("walk");
    }
}
