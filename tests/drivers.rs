//! What drivers do: one script each under `tests/wire`, run against PostgreSQL and against Atoll with the same expectations,
//! over TLS with SCRAM. The programs that they need are made by `tests/wire/*/prepare`.
//!
//! It counts what the scripts count: `cargo test -p tests --test drivers -- psycopg` runs one of them.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use tests::atoll::Atoll;
use tests::certificates::{authority, signed};
use tests::oracle::Oracle;
use tests::process::TemporaryDirectory;

#[path = "wire/tokio_postgres.rs"]
mod tokio_postgres;

/// The scripts that are programs of their own.
const SCRIPTS: [&str; 3] = ["psycopg", "pgx", "pgjdbc"];
/// Where this one's stands.
const OWN: &str = "tokio-postgres";

/// A certificate of 127.0.0.1 and the authority that signed it, and rules that want TLS and a password.
struct Secrets(TemporaryDirectory);

impl Secrets {
    fn make() -> Secrets {
        let secrets = Secrets(TemporaryDirectory::new("secrets"));
        let at = secrets.0.path();
        authority(at, "ca");
        signed(at, "ca", "server", "/CN=server");
        std::fs::write(
            at.join("hba.conf"),
            "hostssl all driver 127.0.0.1/32 scram-sha-256\n\
             hostnossl all driver 127.0.0.1/32 reject\n\
             host all postgres 127.0.0.1/32 trust\n",
        )
        .expect("the directory is ours");
        // PostgreSQL reads them as its own user where root starts it, and wants nobody else to.
        if tests::oracle::is_root() {
            let files = ["server.key", "hba.conf"].map(|name| at.join(name));
            let status = Command::new("chown").arg("postgres").args(&files).status();
            assert!(status.expect("chown is a program").success());
        }
        secrets
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn settings(&self) -> [String; 5] {
        let setting = |name, file| format!("{name}={}", self.path(file).display());
        [
            "ssl=on".to_owned(),
            setting("ssl_cert_file", "server.crt"),
            setting("ssl_key_file", "server.key"),
            setting("hba_file", "hba.conf"),
            // pgjdbc's XA.
            "max_prepared_transactions=10".to_owned(),
        ]
    }
}

/// Where `tests/wire/*/prepare` puts what it makes.
fn prepared() -> PathBuf {
    let named = std::env::var_os("CARGO_TARGET_DIR").map(PathBuf::from);
    let target =
        named.unwrap_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../target"));
    target.join("drivers")
}

/// Runs a script against the server on `port`; whether it passed.
fn script(name: &str, port: u16, secrets: &Secrets) -> bool {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("wire").join(name);
    let status = Command::new(directory.join("run"))
        .arg(prepared())
        .env("PGHOST", "127.0.0.1")
        .env("PGPORT", port.to_string())
        .env("PGUSER", "driver")
        .env("PGPASSWORD", "secret")
        .env("PGDATABASE", "postgres")
        .env("PGSSLROOTCERT", secrets.path("ca.crt"))
        .status();
    match status {
        Ok(status) => status.success(),
        Err(error) => {
            println!("{name}: {error}");
            false
        }
    }
}

fn main() -> ExitCode {
    let wanted: Vec<String> =
        std::env::args().skip(1).filter(|argument| !argument.starts_with('-')).collect();
    let is_wanted = |name: &str| wanted.is_empty() || wanted.iter().any(|one| one == name);
    let secrets = Secrets::make();
    let settings = secrets.settings();
    let settings: Vec<&str> = settings.iter().map(String::as_str).collect();
    let role = "CREATE ROLE driver LOGIN SUPERUSER PASSWORD 'secret'";
    let oracle = Oracle::start(&settings);
    oracle.connect().run(role);
    let atoll = Atoll::start(&settings);
    atoll.connect().run(role);
    let mut passed = true;
    for (server, port) in [("PostgreSQL", oracle.port()), ("Atoll", atoll.port())] {
        if is_wanted(OWN) {
            println!("--- {OWN}, {server}");
            passed &= tokio_postgres::run(port, &secrets.path("ca.crt"));
        }
        for name in SCRIPTS.into_iter().filter(|name| is_wanted(name)) {
            println!("--- {name}, {server}");
            passed &= script(name, port, &secrets);
        }
    }
    if passed { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
