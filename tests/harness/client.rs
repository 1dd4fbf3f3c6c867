//! A client that hides nothing: every message of the protocol, every field of an error, as text.
//!
//! Drivers drop what they do not need; a comparison with PostgreSQL needs it all. It speaks protocol 3.0 with trust.

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::ops::Range;
use std::time::Duration;

/// How long a reply may take before a test gives up on it.
const REPLY_LIMIT: Duration = Duration::from_secs(120);

/// One message of the server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// Its type byte.
    pub tag: u8,
    /// Its body, without the length.
    pub body: Vec<u8>,
}

/// A column of a RowDescription.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    /// Its name.
    pub name: String,
    /// Its type's OID.
    pub type_oid: u32,
    /// Its type modifier.
    pub typmod: i32,
    /// Its format code.
    pub format: i16,
}

/// An error or notice: its fields by their letter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report(pub Vec<(u8, String)>);

/// What one statement answered.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reply {
    /// RowDescription.
    pub columns: Vec<Column>,
    /// DataRows, in text; none is NULL.
    pub rows: Vec<Vec<Option<String>>>,
    /// CommandComplete, none if it failed or was empty.
    pub tag: Option<String>,
    /// Notices, in order.
    pub notices: Vec<Report>,
    /// ErrorResponse.
    pub error: Option<Report>,
    /// CopyData of COPY TO STDOUT.
    pub copied: Vec<u8>,
}

/// A session.
#[derive(Debug)]
pub struct Client {
    stream: TcpStream,
    received: Vec<u8>,
    consumed: usize,
    /// ReadyForQuery's last word.
    pub status: u8,
    /// ParameterStatus, as reported.
    pub parameters: Vec<(String, String)>,
    /// BackendKeyData.
    pub key: (u32, u32),
    /// What it was told while it connected.
    pub greeting: Vec<Report>,
}

impl Report {
    /// The field with this letter, empty if there is none.
    #[must_use]
    pub fn field(&self, letter: u8) -> &str {
        self.0.iter().find(|(found, _)| *found == letter).map_or("", |(_, text)| text)
    }

    /// The fields of an ErrorResponse or a NoticeResponse.
    #[must_use]
    pub fn parse(body: &[u8]) -> Report {
        let fields = body.split(|&byte| byte == 0).filter(|field| !field.is_empty());
        Report(
            fields
                .map(|field| (field[0], String::from_utf8_lossy(&field[1..]).into_owned()))
                .collect(),
        )
    }
}

impl Reply {
    /// The SQLSTATE it failed with, empty if it did not.
    #[must_use]
    pub fn sqlstate(&self) -> &str {
        self.error.as_ref().map_or("", |error| error.field(b'C'))
    }

    /// Its only value. Panics if there is not exactly one.
    #[must_use]
    pub fn value(&self) -> &str {
        assert!(self.error.is_none(), "{:?}", self.error);
        assert_eq!((self.rows.len(), self.columns.len()), (1, 1), "one value");
        self.rows[0][0].as_deref().expect("a value that is not NULL")
    }
}

impl Client {
    /// Connects to a port of the loopback address.
    ///
    /// # Errors
    /// Nobody listens, or the server refuses.
    pub fn try_connect(port: u16, user: &str, database: &str) -> io::Result<Client> {
        Client::try_connect_with(port, &[("user", user), ("database", database)])
    }

    /// Connects with the given start-up parameters.
    ///
    /// # Errors
    /// Nobody listens, or the server refuses: then with its message.
    pub fn try_connect_with(port: u16, parameters: &[(&str, &str)]) -> io::Result<Client> {
        let stream = TcpStream::connect(("127.0.0.1", port))?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(REPLY_LIMIT))?;
        let mut client = Client {
            stream,
            received: Vec::new(),
            consumed: 0,
            status: b'?',
            parameters: Vec::new(),
            key: (0, 0),
            greeting: Vec::new(),
        };
        let mut startup = vec![0, 3, 0, 0];
        for (name, value) in parameters {
            for text in [name, value] {
                startup.extend_from_slice(text.as_bytes());
                startup.push(0);
            }
        }
        startup.push(0);
        let mut bytes = (startup.len() as u32 + 4).to_be_bytes().to_vec();
        bytes.extend_from_slice(&startup);
        client.stream.write_all(&bytes)?;
        loop {
            let message = client.receive()?;
            match message.tag {
                b'E' => {
                    let report = Report::parse(&message.body);
                    return Err(io::Error::other(format!(
                        "{} {}",
                        report.field(b'C'),
                        report.field(b'M')
                    )));
                }
                b'R' if message.body != [0; 4] => {
                    return Err(io::Error::other("the server wants a password"));
                }
                b'N' => client.greeting.push(Report::parse(&message.body)),
                b'Z' => return Ok(client),
                _ => {}
            }
        }
    }

    /// Connects, or panics.
    #[must_use]
    pub fn connect(port: u16, user: &str, database: &str) -> Client {
        Client::try_connect(port, user, database).expect("the server takes connections")
    }

    /// The server's port.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.stream.peer_addr().map_or(0, |address| address.port())
    }

    /// Sends one message.
    ///
    /// # Errors
    /// The connection is gone.
    pub fn send(&mut self, tag: u8, body: &[u8]) -> io::Result<()> {
        let mut bytes = Vec::with_capacity(body.len() + 5);
        bytes.push(tag);
        bytes.extend_from_slice(&(body.len() as u32 + 4).to_be_bytes());
        bytes.extend_from_slice(body);
        self.stream.write_all(&bytes)
    }

    /// Sends bytes as they are.
    ///
    /// # Errors
    /// The connection is gone.
    pub fn send_raw(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.stream.write_all(bytes)
    }

    /// Receives one message; keeps ReadyForQuery's status, parameters and key.
    ///
    /// # Errors
    /// The connection is gone, or silent for too long.
    pub fn receive(&mut self) -> io::Result<Message> {
        loop {
            let have = &self.received[self.consumed..];
            if have.len() >= 5 {
                let length = u32::from_be_bytes([have[1], have[2], have[3], have[4]]) as usize;
                assert!(length >= 4, "a message's length counts itself");
                if have.len() > length {
                    let message = Message { tag: have[0], body: have[5..=length].to_vec() };
                    self.consumed += length + 1;
                    if self.consumed == self.received.len() {
                        self.received.clear();
                        self.consumed = 0;
                    }
                    self.note(&message);
                    return Ok(message);
                }
            }
            let mut chunk = [0; 16384];
            match self.stream.read(&mut chunk) {
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(bytes) => self.received.extend_from_slice(&chunk[..bytes]),
                // A signal that stops the process and lets it go on ends a read that has a limit.
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }

    fn note(&mut self, message: &Message) {
        match message.tag {
            b'Z' => self.status = message.body[0],
            b'K' if message.body.len() == 8 => {
                let word = |at: usize| {
                    u32::from_be_bytes(message.body[at..at + 4].try_into().expect("four bytes"))
                };
                self.key = (word(0), word(4));
            }
            b'S' => {
                let mut texts = message.body.split(|&byte| byte == 0);
                let mut next =
                    || String::from_utf8_lossy(texts.next().unwrap_or_default()).into_owned();
                let (name, value) = (next(), next());
                self.parameters.retain(|(known, _)| *known != name);
                self.parameters.push((name, value));
            }
            _ => {}
        }
    }

    /// Sets how long [`Client::receive`] waits: an isolation test asks whether a statement waits for a lock.
    pub fn set_patience(&mut self, limit: Option<Duration>) {
        self.stream.set_read_timeout(limit.or(Some(REPLY_LIMIT))).expect("a socket has a timeout");
    }

    /// Whether a reply has come to its end within `limit`, or to where the client has to go on. Notices, and what was answered
    /// before them, may come long before that.
    #[must_use]
    pub fn answers_within(&mut self, limit: Duration) -> bool {
        while self.messages().all(|(tag, _)| matches!(tag, b'N' | b'T' | b'D' | b'C' | b'S')) {
            self.set_patience(Some(limit));
            let mut chunk = [0; 16384];
            let arrived = self.stream.read(&mut chunk);
            self.set_patience(None);
            match arrived {
                Ok(bytes @ 1..) => self.received.extend_from_slice(&chunk[..bytes]),
                Ok(0) | Err(_) => return false,
            }
        }
        true
    }

    /// Where the messages are that have come and have not been received, by their tags.
    fn messages(&self) -> impl Iterator<Item = (u8, Range<usize>)> {
        let (received, mut at) = (&self.received, self.consumed);
        std::iter::from_fn(move || {
            let head = received.get(at..at + 5)?;
            let length = u32::from_be_bytes([head[1], head[2], head[3], head[4]]) as usize;
            let message = at..at + 1 + length;
            at = message.end;
            (message.end <= received.len()).then(|| (head[0], message))
        })
    }

    /// The notices that have come ahead of the rest of a reply; they are not part of it any more.
    pub fn take_notices(&mut self) -> Vec<Report> {
        let notices: Vec<_> =
            self.messages().filter(|(tag, _)| *tag == b'N').map(|(_, range)| range).collect();
        let reports =
            notices.iter().map(|range| Report::parse(&self.received[range.start + 5..range.end]));
        let reports = reports.collect();
        for range in notices.into_iter().rev() {
            self.received.drain(range);
        }
        reports
    }

    /// Sends a Query message without waiting for its reply.
    pub fn start(&mut self, sql: &str) {
        let mut body = sql.as_bytes().to_vec();
        body.push(0);
        self.send(b'Q', &body).expect("the connection stands");
    }

    /// Runs a Query message to ReadyForQuery: one reply for each statement that answered.
    #[must_use]
    pub fn query_all(&mut self, sql: &str) -> Vec<Reply> {
        self.start(sql);
        self.replies().expect("the connection stands")
    }

    /// Runs one statement by the simple protocol; of several, the last one's reply.
    pub fn query(&mut self, sql: &str) -> Reply {
        self.query_all(sql).pop().unwrap_or_default()
    }

    /// Runs one statement that must succeed.
    pub fn run(&mut self, sql: &str) -> Reply {
        let reply = self.query(sql);
        assert!(reply.error.is_none(), "{sql}: {:?}", reply.error);
        reply
    }

    /// Runs one statement by the extended protocol (Parse, Bind, Describe, Execute, Sync), parameters in text.
    pub fn query_extended(&mut self, sql: &str, parameters: &[Option<&str>]) -> Reply {
        let mut parse = vec![0];
        parse.extend_from_slice(sql.as_bytes());
        parse.extend_from_slice(&[0, 0, 0]);
        let mut bind = vec![0, 0, 0, 0];
        bind.extend_from_slice(&(parameters.len() as u16).to_be_bytes());
        for parameter in parameters {
            match parameter {
                None => bind.extend_from_slice(&(-1i32).to_be_bytes()),
                Some(text) => {
                    bind.extend_from_slice(&(text.len() as u32).to_be_bytes());
                    bind.extend_from_slice(text.as_bytes());
                }
            }
        }
        bind.extend_from_slice(&[0, 0]);
        self.send(b'P', &parse).expect("the connection stands");
        self.send(b'B', &bind).expect("the connection stands");
        self.send(b'D', b"P\0").expect("the connection stands");
        self.send(b'E', &[0, 0, 0, 0, 0]).expect("the connection stands");
        self.send(b'S', &[]).expect("the connection stands");
        self.replies().expect("the connection stands").pop().unwrap_or_default()
    }

    /// Feeds `data` to a COPY FROM STDIN statement.
    pub fn copy_in(&mut self, sql: &str, data: &[u8]) -> Reply {
        self.start(sql);
        loop {
            let message = self.receive().expect("the connection stands");
            match message.tag {
                b'G' => {
                    for chunk in data.chunks(60_000) {
                        self.send(b'd', chunk).expect("the connection stands");
                    }
                    self.send(b'c', &[]).expect("the connection stands");
                    return self
                        .replies()
                        .expect("the connection stands")
                        .pop()
                        .unwrap_or_default();
                }
                b'E' => {
                    let error = Some(Report::parse(&message.body));
                    self.replies().expect("the connection stands");
                    return Reply { error, ..Reply::default() };
                }
                _ => {}
            }
        }
    }

    /// Collects replies up to ReadyForQuery.
    ///
    /// # Errors
    /// The connection is gone: what came before it is lost.
    pub fn replies(&mut self) -> io::Result<Vec<Reply>> {
        let mut replies = Vec::new();
        let mut reply = Reply::default();
        loop {
            let message = self.receive()?;
            match message.tag {
                b'T' => reply.columns = columns(&message.body),
                b'D' => reply.rows.push(row(&message.body)),
                b'd' => reply.copied.extend_from_slice(&message.body),
                b'N' => reply.notices.push(Report::parse(&message.body)),
                b'C' => {
                    let tag = message.body.strip_suffix(&[0]).unwrap_or(&message.body);
                    reply.tag = Some(String::from_utf8_lossy(tag).into_owned());
                    replies.push(std::mem::take(&mut reply));
                }
                b'E' => {
                    reply.error = Some(Report::parse(&message.body));
                    replies.push(std::mem::take(&mut reply));
                }
                b'I' => replies.push(std::mem::take(&mut reply)),
                b'Z' => {
                    if reply != Reply::default() {
                        replies.push(reply);
                    }
                    return Ok(replies);
                }
                _ => {}
            }
        }
    }
}

pub(crate) fn columns(body: &[u8]) -> Vec<Column> {
    let mut rest = &body[2..];
    let mut columns = Vec::new();
    while let Some(end) = rest.iter().position(|&byte| byte == 0) {
        let name = String::from_utf8_lossy(&rest[..end]).into_owned();
        let fixed = &rest[end + 1..end + 19];
        let type_oid = u32::from_be_bytes(fixed[6..10].try_into().expect("four bytes"));
        let typmod = i32::from_be_bytes(fixed[12..16].try_into().expect("four bytes"));
        let format = i16::from_be_bytes(fixed[16..18].try_into().expect("two bytes"));
        columns.push(Column { name, type_oid, typmod, format });
        rest = &rest[end + 19..];
    }
    columns
}

pub(crate) fn row(body: &[u8]) -> Vec<Option<String>> {
    let count = u16::from_be_bytes([body[0], body[1]]);
    let mut rest = &body[2..];
    (0..count)
        .map(|_| {
            let length = i32::from_be_bytes(rest[..4].try_into().expect("four bytes"));
            rest = &rest[4..];
            let length = usize::try_from(length).ok()?;
            let (value, behind) = rest.split_at(length);
            rest = behind;
            Some(String::from_utf8_lossy(value).into_owned())
        })
        .collect()
}
