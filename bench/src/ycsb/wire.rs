//! The workload by statements over a socket: a transaction is BEGIN, a prepared statement for each access, and COMMIT, each a
//! round trip of its own.

use super::run::{Attempt, Worker};
use super::workload::{Access, FIELD_BYTES, FIELDS, Partitions, ROWS};
use super::{DEADLOCK_TIMEOUT_MS, embedded};
use crate::tpcc::client::{Client, Failure};
use crate::tpcc::statement::{Parameters, Rows, Statement};
use crate::tpcc::wire::{Url, WireClient};
use anyhow::{Context, Result, anyhow};
use std::fmt::Write;
use storage::breakdown::{Breakdown, Class};

/// The database that is measured.
const DATABASE: &str = "ycsb";
/// Reads a row.
const READ: Statement = Statement { name: "read", text: "SELECT * FROM usertable WHERE key = $1" };
/// Writes a field.
const WRITES: [Statement; FIELDS] = [
    Statement { name: "write0", text: "UPDATE usertable SET field0 = $1 WHERE key = $2" },
    Statement { name: "write1", text: "UPDATE usertable SET field1 = $1 WHERE key = $2" },
    Statement { name: "write2", text: "UPDATE usertable SET field2 = $1 WHERE key = $2" },
    Statement { name: "write3", text: "UPDATE usertable SET field3 = $1 WHERE key = $2" },
    Statement { name: "write4", text: "UPDATE usertable SET field4 = $1 WHERE key = $2" },
    Statement { name: "write5", text: "UPDATE usertable SET field5 = $1 WHERE key = $2" },
    Statement { name: "write6", text: "UPDATE usertable SET field6 = $1 WHERE key = $2" },
    Statement { name: "write7", text: "UPDATE usertable SET field7 = $1 WHERE key = $2" },
    Statement { name: "write8", text: "UPDATE usertable SET field8 = $1 WHERE key = $2" },
    Statement { name: "write9", text: "UPDATE usertable SET field9 = $1 WHERE key = $2" },
];

/// Makes the database with the table and all of its rows, on a server that trusts who connects to this port.
///
/// # Errors
/// The server's.
pub fn load(port: u16) -> Result<()> {
    let mut admin = WireClient::connect(&Url::local(port))?;
    admin.execute(&format!("CREATE DATABASE {DATABASE}"), &mut Rows::default())?;
    let mut client = WireClient::connect(&place(port)?)?;
    let fields: Vec<String> = (0..FIELDS).map(|at| format!("field{at} text")).collect();
    let table = format!("CREATE TABLE usertable (key int PRIMARY KEY, {})", fields.join(", "));
    client.execute(&table, &mut Rows::default())?;
    let mut key = 0;
    client.copy_in("COPY usertable FROM STDIN", &mut |out| {
        if key == ROWS {
            return false;
        }
        let letter = b'a' + (key % 26) as u8;
        out.extend_from_slice(key.to_string().as_bytes());
        for _ in 0..FIELDS {
            out.push(b'\t');
            out.extend_from_slice(&[letter; FIELD_BYTES]);
        }
        out.push(b'\n');
        key += 1;
        true
    })?;
    client.execute("ANALYZE usertable", &mut Rows::default())?;
    Ok(())
}

fn place(port: u16) -> Result<Url> {
    format!("postgres://postgres@127.0.0.1:{port}/{DATABASE}")
        .parse()
        .map_err(|why| anyhow!("{why}"))
}

/// Gives the database another scheme; nobody may be connected to it.
///
/// # Errors
/// The server's.
pub fn choose(port: u16, scheme: &str) -> Result<()> {
    let mut admin = WireClient::connect(&Url::local(port))?;
    let text = format!("ALTER DATABASE {DATABASE} WITH concurrency_control = '{scheme}'");
    admin.execute(&text, &mut Rows::default())?;
    Ok(())
}

/// A session of the server.
pub struct Session {
    client: WireClient,
    begin: String,
    parameters: Parameters,
    rows: Rows,
    value: String,
    round: u8,
}

impl Session {
    /// Connects; transactions are begun with `isolation`.
    ///
    /// # Errors
    /// The server's.
    pub fn connect(port: u16, isolation: &str) -> Result<Session> {
        Ok(Session {
            client: WireClient::connect(&place(port)?)?,
            begin: format!("BEGIN ISOLATION LEVEL {isolation}"),
            parameters: Parameters::default(),
            rows: Rows::default(),
            value: String::new(),
            round: 0,
        })
    }

    fn transaction(&mut self, accesses: &[Access]) -> Result<(), Failure> {
        self.client.execute(&self.begin, &mut self.rows)?;
        for access in accesses {
            self.parameters.clear();
            let statement = match access.writes {
                None => &READ,
                Some(field) => {
                    self.round = (self.round + 1) % 26;
                    self.value.clear();
                    self.value.extend([char::from(b'a' + self.round); FIELD_BYTES]);
                    self.parameters.add(&self.value);
                    &WRITES[field as usize]
                }
            };
            self.parameters.add(access.key);
            self.client.run(statement, &self.parameters, &mut self.rows)?;
        }
        self.client.execute("COMMIT", &mut self.rows)
    }
}

impl Worker for Session {
    fn partitions(&self) -> Partitions {
        // Keys are integers with a sign, which is turned so that their bytes are in their order.
        embedded::partitions(|key| (key ^ 1 << 31).to_be_bytes())
    }

    fn begin(&mut self, measured: bool) -> Result<()> {
        let on = if measured { "on" } else { "off" };
        let text = format!("SET atoll.track_breakdown = {on}");
        self.client.execute(&text, &mut self.rows)?;
        let text = format!("SET deadlock_timeout = {DEADLOCK_TIMEOUT_MS}");
        Ok(self.client.execute(&text, &mut self.rows)?)
    }

    fn attempt(&mut self, accesses: &[Access]) -> Result<Attempt> {
        let Err(failure) = self.transaction(accesses) else { return Ok(Attempt::Committed) };
        let reason = match &*failure.sqlstate {
            "40001" => "serialization failure",
            "40P01" => "deadlock",
            _ => return Err(failure.into()),
        };
        // Where COMMIT itself has failed there is no block any more, which is told as a warning.
        self.client.execute("ROLLBACK", &mut self.rows)?;
        Ok(Attempt::Aborted(reason))
    }

    fn end(&mut self, _: Breakdown) -> Result<Breakdown> {
        let mut columns = String::new();
        for class in Class::ALL {
            write!(columns, ", coalesce(max(\"{}\"), 0)", class.name())?;
        }
        let text =
            format!("SELECT 0{columns} FROM pg_stat_atoll_breakdown WHERE pid = pg_backend_pid()");
        self.client.execute(&text, &mut self.rows)?;
        let mut spent = Breakdown::default();
        for (at, class) in Class::ALL.into_iter().enumerate() {
            let cycles = self.rows.text(0, at + 1);
            spent.add(class, cycles.parse().with_context(|| cycles.to_owned())?);
        }
        Ok(spent)
    }
}
