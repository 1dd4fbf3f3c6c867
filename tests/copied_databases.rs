//! CREATE DATABASE ... TEMPLATE: the copy has all that its template has, and goes on apart from it, also behind a crash.

use std::process::Command;
use tests::atoll::Atoll;
use tests::client::Client;
use tests::golden::difference;
use tests::oracle;

const SCHEMA: &str = "
    CREATE TYPE mood AS ENUM ('sad', 'ok');
    CREATE DOMAIN few AS int CHECK (VALUE < 1000) DEFAULT 7;
    CREATE TYPE pair AS (a int, m mood);
    CREATE SEQUENCE apart START 100;
    CREATE TABLE keyed(id serial PRIMARY KEY, name text UNIQUE, m mood DEFAULT 'ok', f few, p pair, long text, CHECK (id > 0));
    CREATE TABLE plain(a int, b text, c int REFERENCES keyed ON DELETE CASCADE);
    CREATE INDEX by_b ON plain (lower(b)) WHERE a > 5;
    CREATE TABLE deferred(a int PRIMARY KEY DEFERRABLE INITIALLY DEFERRED);
    INSERT INTO keyed(name, p, long) SELECT repeat('x', g % 20) || g, ROW(g, 'sad')::pair, repeat('y', g * 400) FROM generate_series(1, 100) g;
    INSERT INTO plain SELECT g, 'b' || g, g FROM generate_series(1, 100) g;
    INSERT INTO deferred VALUES (1);
    CREATE VIEW shown AS SELECT k.id, p.b FROM keyed k JOIN plain p ON p.c = k.id;
    CREATE MATERIALIZED VIEW kept AS SELECT count(*) FROM plain;
    CREATE TABLE named(r regclass, t regtype);
    INSERT INTO named VALUES ('keyed', 'mood');
    CREATE TABLE gone(a int); INSERT INTO gone VALUES (1); DROP TABLE gone;
    ALTER TABLE plain DROP COLUMN a; ALTER TABLE plain ADD d int DEFAULT 5;
    CREATE SCHEMA other; CREATE TABLE other.t(a int);
    COMMENT ON TABLE keyed IS 'said'; COMMENT ON COLUMN plain.b IS 'said too';
    GRANT SELECT ON keyed TO copier; GRANT USAGE ON SCHEMA other TO copier;
    ALTER DEFAULT PRIVILEGES IN SCHEMA other GRANT SELECT ON TABLES TO copier;
    ALTER DATABASE copied SET work_mem = '5MB';
    SELECT nextval('apart'), nextval('apart');
    ANALYZE keyed";

const ASKED: [&str; 14] = [
    "SELECT count(*), sum(length(long)), max((p).a) FROM keyed",
    "SELECT count(*) FROM shown",
    "SELECT * FROM kept",
    "SELECT * FROM named",
    "SELECT b, c, d FROM plain WHERE lower(b) = 'b77'",
    "SELECT name FROM keyed WHERE name LIKE '%x7'",
    "INSERT INTO keyed(name) VALUES ('new') RETURNING id, m, f",
    "SELECT nextval('apart')",
    "INSERT INTO plain VALUES ('b', 1000)",
    "INSERT INTO keyed(id, name) VALUES (5, 'y')",
    "DELETE FROM keyed WHERE id = 3 RETURNING id",
    "SELECT count(*) FROM plain",
    "SELECT has_table_privilege('copier', 'keyed', 'SELECT'), has_schema_privilege('copier', 'other', 'USAGE'), obj_description('keyed'::regclass), current_setting('work_mem')",
    "SELECT relname, oid = (SELECT r FROM named) FROM pg_class WHERE relname = 'keyed'",
];

fn asked(client: &mut Client) -> Vec<String> {
    let answer = |text: &&str| {
        let reply = client.query(text);
        let error =
            reply.error.map(|error| (error.field(b'C').to_owned(), error.field(b'M').to_owned()));
        format!("{text}: {:?} {error:?}", reply.rows)
    };
    ASKED.iter().map(answer).collect()
}

fn copies(port: u16) -> Vec<String> {
    let mut control = Client::connect(port, "postgres", "postgres");
    control.run("CREATE ROLE copier");
    control.run("CREATE DATABASE copied");
    let mut source = Client::connect(port, "postgres", "copied");
    for reply in source.query_all(SCHEMA) {
        assert!(reply.error.is_none(), "{:?}", reply.error);
    }
    let refused = control.query("CREATE DATABASE copy TEMPLATE copied");
    let refused = refused.error.expect("somebody is in it");
    let mut lines =
        vec![['C', 'M', 'D'].map(|letter| refused.field(letter as u8).to_owned()).join(" ")];
    // From within, nobody else is there; what is open is not part of it.
    source.run("CREATE DATABASE copy TEMPLATE copied");
    let mut copy = Client::connect(port, "postgres", "copy");
    lines.extend(asked(&mut copy));
    // Neither sees what happens to the other.
    lines.extend(asked(&mut source));
    source.run("DROP TABLE plain CASCADE; UPDATE keyed SET name = id");
    lines.extend(asked(&mut copy));
    drop((source, copy));
    control.run("DROP DATABASE copied");
    let mut copy = Client::connect(port, "postgres", "copy");
    copy.run("VACUUM");
    lines.extend(asked(&mut copy));
    lines
}

#[test]
fn a_copy_has_what_its_template_has_and_goes_on_apart() {
    let atoll = Atoll::start(&[]);
    let oracle = oracle::Oracle::start(&[]);
    assert_eq!(copies(atoll.port()), copies(oracle.port()));
}

#[test]
fn a_copy_outlives_a_crash_and_is_dumped_as_its_template() {
    let mut atoll = Atoll::start(&[]);
    atoll.connect().run("CREATE ROLE copier");
    atoll.connect().run("CREATE DATABASE copied");
    let mut source = Client::connect(atoll.port(), "postgres", "copied");
    assert!(source.query_all(SCHEMA).iter().all(|reply| reply.error.is_none()));
    drop(source);
    atoll.connect().run("CREATE DATABASE copy TEMPLATE copied");
    atoll.kill();
    atoll.check();
    atoll.restart();
    // Of sequences the values are lost that were logged ahead: the copy begins behind what had been given.
    let dump = |name: &str| {
        let mut program = Command::new(oracle::programs().join("pg_dump"));
        program.args(["-h", "127.0.0.1", "-U", "postgres", "-p", &atoll.port().to_string(), name]);
        let output = program.output().expect("pg_dump starts");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        text.lines()
            .filter(|line| !line.contains("restrict ") && !line.contains("setval("))
            .fold(String::new(), |all, line| all + line + "\n")
    };
    let (copy, copied) = (dump("copy"), dump("copied"));
    assert!(copy == copied, "{}", difference(&copied, &copy));
    assert!(copy.contains("CREATE TABLE public.keyed"));
    let mut copy = Client::connect(atoll.port(), "postgres", "copy");
    assert_eq!(copy.run("INSERT INTO keyed(name) VALUES ('new') RETURNING id > 100").value(), "t");
}

/// A database keeps the locale that it was made with, and so do its copies.
#[test]
fn a_database_keeps_its_locale() {
    let talk = |port: u16| {
        let mut control = Client::connect(port, "postgres", "postgres");
        let mut lines = Vec::new();
        for how in [
            "LOCALE 'C'",
            "LC_CTYPE 'C'",
            "LOCALE 'C' TEMPLATE template0",
            "TEMPLATE located",
            "LOCALE 'C.UTF-8' TEMPLATE located",
            "LC_COLLATE 'POSIX' TEMPLATE template0",
            "LOCALE 'C.UTF-8'",
        ] {
            let name = if how == "LOCALE 'C' TEMPLATE template0" { "located" } else { "other" };
            let reply = control.query(&format!("CREATE DATABASE {name} {how}"));
            let error =
                reply.error.map(|error| ['C', 'M', 'H'].map(|at| error.field(at as u8).to_owned()));
            let failed = error.is_some();
            lines.push(format!("{how}: {error:?}"));
            let shown =
                format!("SELECT datcollate, datctype FROM pg_database WHERE datname = '{name}'");
            lines.push(format!("{:?}", control.run(&shown).rows));
            if !failed {
                let mut inside = Client::connect(port, "postgres", name);
                let shown = ["SHOW lc_collate", "SHOW lc_ctype"]
                    .map(|sql| inside.run(sql).value().to_owned());
                lines.push(shown.join(" "));
            }
            control.run("DROP DATABASE IF EXISTS other");
        }
        lines
    };
    let atoll = Atoll::start(&[]);
    let oracle = oracle::Oracle::start(&[]);
    assert_eq!(talk(atoll.port()), talk(oracle.port()));
}
