//! A thin client of the protocol (3.0): blocking, one write and usually one read for a statement, SCRAM or trust, no TLS.
//! It costs less than drivers do, so that on a machine it shares with the server the server is what is measured.

use super::Connector;
use super::client::{Client, Failure};
use super::statement::{Parameters, Rows, Statement};
use postgres_protocol::authentication::sasl::{ChannelBinding, SCRAM_SHA_256, ScramSha256};
use std::collections::HashSet;
use std::io::{Read, Write};
use std::net::TcpStream;

/// How much of a COPY is sent at once.
const COPY_BYTES: usize = 64 << 10;

/// Where a server is and who asks: `postgres://user[:password]@host[:port]/database`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Url {
    user: String,
    password: String,
    host: String,
    port: u16,
    database: String,
}

impl Url {
    /// A server of this machine that trusts its superuser.
    #[must_use]
    pub fn local(port: u16) -> Url {
        Url {
            user: "postgres".to_owned(),
            password: String::new(),
            host: "127.0.0.1".to_owned(),
            port,
            database: "postgres".to_owned(),
        }
    }
}

impl std::str::FromStr for Url {
    type Err = String;

    fn from_str(text: &str) -> Result<Url, String> {
        let rest = text
            .strip_prefix("postgres://")
            .or_else(|| text.strip_prefix("postgresql://"))
            .ok_or("a URL begins with postgres://")?;
        let rest = rest.split_once('?').map_or(rest, |(before, _)| before);
        let (authority, database) = rest.split_once('/').unwrap_or((rest, ""));
        let (login, place) = authority.rsplit_once('@').unwrap_or(("postgres", authority));
        let (user, password) = login.split_once(':').unwrap_or((login, ""));
        let (host, port) = place.rsplit_once(':').unwrap_or((place, "5432"));
        let port = port.parse().map_err(|_| format!("{port} is no port"))?;
        let host = if host.is_empty() { "127.0.0.1" } else { host };
        let database = if database.is_empty() { user } else { database };
        Ok(Url {
            user: user.to_owned(),
            password: password.to_owned(),
            host: host.to_owned(),
            port,
            database: database.to_owned(),
        })
    }
}

impl Connector for Url {
    fn connect(&self) -> Result<Box<dyn Client + Send>, Failure> {
        Ok(Box::new(WireClient::connect(self)?))
    }
}

/// A session of a server.
pub struct WireClient {
    stream: TcpStream,
    /// What is to be sent.
    out: Vec<u8>,
    received: Vec<u8>,
    /// How much of `received` has been looked at.
    consumed: usize,
    prepared: HashSet<&'static str>,
}

impl WireClient {
    /// Opens a session.
    ///
    /// # Errors
    /// Nobody listens, or the server refuses.
    pub fn connect(url: &Url) -> Result<WireClient, Failure> {
        let stream = TcpStream::connect((url.host.as_str(), url.port))?;
        stream.set_nodelay(true)?;
        let mut client = WireClient {
            stream,
            out: Vec::new(),
            received: Vec::new(),
            consumed: 0,
            prepared: HashSet::new(),
        };
        let mut startup = vec![0, 3, 0, 0];
        for text in ["user", &url.user, "database", &url.database, "application_name", "tpcc", ""] {
            startup.extend_from_slice(text.as_bytes());
            startup.push(0);
        }
        client.out.extend_from_slice(&(startup.len() as u32 + 4).to_be_bytes());
        client.out.extend_from_slice(&startup);
        client.flush()?;
        client.authenticate(&url.password)?;
        Ok(client)
    }

    fn authenticate(&mut self, password: &str) -> Result<(), Failure> {
        let mut scram = ScramSha256::new(password.as_bytes(), ChannelBinding::unsupported());
        loop {
            let (tag, body) = self.receive()?;
            let body = self.received[body].to_vec();
            if tag == b'Z' {
                return Ok(());
            }
            if tag != b'R' {
                continue;
            }
            match (u32::from_be_bytes(array(&body)?), &body[4..]) {
                (0, _) => {}
                (10, _) => {
                    let first = scram.message();
                    let mut answer = SCRAM_SHA_256.as_bytes().to_vec();
                    answer.push(0);
                    answer.extend_from_slice(&(first.len() as u32).to_be_bytes());
                    answer.extend_from_slice(first);
                    self.message(b'p', &answer);
                }
                (11, challenge) => {
                    scram.update(challenge)?;
                    let last = scram.message().to_vec();
                    self.message(b'p', &last);
                }
                (12, proof) => scram.finish(proof)?,
                (other, _) => {
                    return Err(Failure::protocol(&format!("authentication {other} is not known")));
                }
            }
            self.flush()?;
        }
    }

    /// Adds a message to what is to be sent.
    fn message(&mut self, tag: u8, body: &[u8]) {
        self.out.push(tag);
        self.out.extend_from_slice(&(body.len() as u32 + 4).to_be_bytes());
        self.out.extend_from_slice(body);
    }

    fn flush(&mut self) -> Result<(), Failure> {
        self.stream.write_all(&self.out)?;
        self.out.clear();
        Ok(())
    }

    /// The next message: its tag, and where its body is in `received`. An ErrorResponse is given to the caller, except one
    /// that ends the session.
    fn receive(&mut self) -> Result<(u8, std::ops::Range<usize>), Failure> {
        loop {
            let have = &self.received[self.consumed..];
            if have.len() >= 5 {
                let length = u32::from_be_bytes(array(&have[1..])?) as usize;
                if have.len() > length {
                    let body = self.consumed + 5..self.consumed + 1 + length;
                    let tag = have[0];
                    self.consumed = body.end;
                    if tag == b'E' && self.field(&body, b'S') == "FATAL" {
                        return Err(self.failure(&body));
                    }
                    return Ok((tag, body));
                }
            }
            self.received.drain(..self.consumed);
            self.consumed = 0;
            let end = self.received.len();
            self.received.resize(end + (16 << 10), 0);
            let bytes = self.stream.read(&mut self.received[end..])?;
            self.received.truncate(end + bytes);
            if bytes == 0 {
                return Err(std::io::Error::from(std::io::ErrorKind::UnexpectedEof).into());
            }
        }
    }

    fn field(&self, body: &std::ops::Range<usize>, letter: u8) -> String {
        let mut fields = self.received[body.clone()].split(|&byte| byte == 0);
        let found = fields.find(|field| field.first() == Some(&letter)).unwrap_or_default();
        String::from_utf8_lossy(found.get(1..).unwrap_or_default()).into_owned()
    }

    fn failure(&self, body: &std::ops::Range<usize>) -> Failure {
        Failure { sqlstate: self.field(body, b'C'), message: self.field(body, b'M') }
    }

    /// Takes what is answered up to ReadyForQuery.
    fn answers(&mut self, rows: &mut Rows) -> Result<(), Failure> {
        let mut failed = None;
        loop {
            let (tag, body) = self.receive()?;
            match tag {
                b'T' => rows.clear(),
                b'D' => data_row(&self.received[body], rows)?,
                b'C' => rows.affected = affected(&self.received[body]),
                b'E' => failed = Some(self.failure(&body)),
                b'Z' => return failed.map_or(Ok(()), Err),
                _ => {}
            }
        }
    }
}

fn array<const N: usize>(bytes: &[u8]) -> Result<[u8; N], Failure> {
    bytes
        .first_chunk::<N>()
        .copied()
        .ok_or_else(|| Failure::protocol("a message is shorter than its contents"))
}

/// Takes a DataRow apart.
fn data_row(body: &[u8], rows: &mut Rows) -> Result<(), Failure> {
    let columns = u16::from_be_bytes(array(body)?);
    rows.begin_row(usize::from(columns));
    let mut rest = &body[2..];
    for _ in 0..columns {
        let length = i32::from_be_bytes(array(rest)?);
        rest = &rest[4..];
        let Ok(length) = usize::try_from(length) else {
            rows.push(None);
            continue;
        };
        let (value, behind) = rest
            .split_at_checked(length)
            .ok_or_else(|| Failure::protocol("a value is longer than its row"))?;
        rows.push(Some(value));
        rest = behind;
    }
    Ok(())
}

/// The number at the end of a command tag, 0 if there is none.
fn affected(body: &[u8]) -> u64 {
    let text = std::str::from_utf8(body).unwrap_or_default().trim_end_matches('\0');
    text.rsplit(' ').next().and_then(|word| word.parse().ok()).unwrap_or(0)
}

impl Client for WireClient {
    fn run(
        &mut self,
        statement: &Statement,
        parameters: &Parameters,
        rows: &mut Rows,
    ) -> Result<(), Failure> {
        let first = !self.prepared.contains(statement.name);
        if first {
            let mut parse = Vec::new();
            for text in [statement.name, statement.text] {
                parse.extend_from_slice(text.as_bytes());
                parse.push(0);
            }
            parse.extend_from_slice(&[0, 0]);
            self.message(b'P', &parse);
        }
        let name = statement.name.as_bytes();
        let length = 4 + 1 + name.len() + 1 + 2 + 2 + parameters.bytes().len() + 2;
        self.out.push(b'B');
        self.out.extend_from_slice(&(length as u32).to_be_bytes());
        self.out.push(0);
        self.out.extend_from_slice(name);
        self.out.extend_from_slice(&[0, 0, 0]);
        self.out.extend_from_slice(&parameters.count().to_be_bytes());
        self.out.extend_from_slice(parameters.bytes());
        self.out.extend_from_slice(&[0, 0]);
        self.message(b'E', &[0, 0, 0, 0, 0]);
        self.message(b'S', &[]);
        self.flush()?;
        rows.clear();
        let mut failed = None;
        let mut parsed = !first;
        loop {
            let (tag, body) = self.receive()?;
            match tag {
                b'1' => parsed = true,
                b'D' => data_row(&self.received[body], rows)?,
                b'C' => rows.affected = affected(&self.received[body]),
                b'E' => failed = Some(self.failure(&body)),
                b'Z' => break,
                _ => {}
            }
        }
        if parsed {
            self.prepared.insert(statement.name);
        }
        failed.map_or(Ok(()), Err)
    }

    fn execute(&mut self, text: &str, rows: &mut Rows) -> Result<(), Failure> {
        let mut body = text.as_bytes().to_vec();
        body.push(0);
        self.message(b'Q', &body);
        self.flush()?;
        rows.clear();
        self.answers(rows)
    }

    fn copy_in(
        &mut self,
        text: &str,
        next: &mut dyn FnMut(&mut Vec<u8>) -> bool,
    ) -> Result<(), Failure> {
        let mut body = text.as_bytes().to_vec();
        body.push(0);
        self.message(b'Q', &body);
        self.flush()?;
        let mut rows = Rows::default();
        loop {
            let (tag, body) = self.receive()?;
            match tag {
                b'G' => break,
                b'E' => {
                    let failure = self.failure(&body);
                    self.answers(&mut rows)?;
                    return Err(failure);
                }
                _ => {}
            }
        }
        let mut portion = Vec::new();
        while next(&mut portion) {
            for chunk in portion.chunks(COPY_BYTES) {
                self.message(b'd', chunk);
                self.flush()?;
            }
            portion.clear();
        }
        self.message(b'c', &[]);
        self.flush()?;
        self.answers(&mut rows)
    }
}

#[cfg(test)]
mod tests {
    use super::{Url, affected, data_row};
    use crate::tpcc::statement::Rows;

    #[test]
    fn urls_are_taken_apart() {
        let url: Url =
            "postgres://ada:secret@db.example:6543/shop?sslmode=disable".parse().expect("a URL");
        assert_eq!((url.user.as_str(), url.password.as_str()), ("ada", "secret"));
        assert_eq!(
            (url.host.as_str(), url.port, url.database.as_str()),
            ("db.example", 6543, "shop")
        );
        assert_eq!("postgres://127.0.0.1".parse::<Url>(), Ok(Url::local(5432)));
        assert!("mysql://x".parse::<Url>().is_err());
        assert!("postgres://x:y/z".parse::<Url>().is_err());
    }

    #[test]
    fn rows_and_tags_are_read() {
        let mut rows = Rows::default();
        data_row(b"\0\x02\0\0\0\x0217\xff\xff\xff\xff", &mut rows).expect("a row");
        assert_eq!((rows.int(0, 0), rows.get(0, 1)), (17, None));
        assert!(data_row(b"\0\x01\0\0\0\x09x", &mut rows).is_err());
        assert_eq!((affected(b"INSERT 0 3\0"), affected(b"BEGIN\0")), (3, 0));
    }
}
