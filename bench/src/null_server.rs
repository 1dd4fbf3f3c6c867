//! The null server: PostgreSQL's protocol with canned answers, the floor that a real server is measured against.
//!
//! One thread, one event loop: a wake-up, a read and a write for each batch of messages, and nothing between them but
//! finding where each message ends. Every statement answers one row of one int4. It checks nothing and keeps nothing, so
//! what a server costs beyond it is the price of being a server.
//!
//! It listens on the loopback port that its only argument names, until it is killed.

use anyhow::{Context, Result};
use mio::net::{TcpListener, TcpStream};
use mio::{Events, Interest, Poll, Token};
use std::collections::HashMap;
use std::io::{ErrorKind, Read, Write};

const LISTENER: Token = Token(usize::MAX);
const BUFFER_BYTES: usize = 8192;

const PARSED: &[u8] = b"1\0\0\0\x04";
const BOUND: &[u8] = b"2\0\0\0\x04";
const CLOSED: &[u8] = b"3\0\0\0\x04";
/// One parameter, int4.
const PARAMETERS: &[u8] = b"t\0\0\0\x0A\0\x01\0\0\0\x17";
/// One column, `abalance`, int4, in text.
const COLUMNS: &[u8] =
    b"T\0\0\0\x21\0\x01abalance\0\0\0\0\0\0\0\0\0\0\x17\0\x04\xFF\xFF\xFF\xFF\0\0";
/// The row `1`, and CommandComplete `SELECT 1`.
const ROW: &[u8] = b"D\0\0\0\x0B\0\x01\0\0\0\x011C\0\0\0\x0DSELECT 1\0";
/// Three columns, of which the second is NULL.
const PARTITIONS: &[u8] = b"T\0\0\0\x42\0\x03\
    a\0\0\0\0\0\0\0\0\0\0\x17\0\x04\xFF\xFF\xFF\xFF\0\0\
    b\0\0\0\0\0\0\0\0\0\0\x17\0\x04\xFF\xFF\xFF\xFF\0\0\
    c\0\0\0\0\0\0\0\0\0\0\x17\0\x04\xFF\xFF\xFF\xFF\0\0\
    D\0\0\0\x14\0\x03\0\0\0\x011\xFF\xFF\xFF\xFF\0\0\0\x010C\0\0\0\x0DSELECT 1\0";
const READY: &[u8] = b"Z\0\0\0\x05I";
/// AuthenticationOk, the parameters that libpq asks about, BackendKeyData, ReadyForQuery.
const WELCOME: [&[u8]; 5] = [
    b"R\0\0\0\x08\0\0\0\0",
    b"S\0\0\0\x18server_version\x0015.0\0",
    b"S\0\0\0\x19client_encoding\0UTF8\0",
    b"K\0\0\0\x0C\0\0\0\x01\0\0\0\x01",
    READY,
];

fn contains(message: &[u8], word: &[u8]) -> bool {
    message.windows(word.len()).any(|window| window == word)
}

struct Client {
    stream: TcpStream,
    started: bool,
    received: Vec<u8>,
    /// Unsent output; there is some only while the client does not read.
    output: Vec<u8>,
}

fn main() -> Result<()> {
    let port = std::env::args().nth(1).context("the port to listen on")?;
    let mut listener = TcpListener::bind(format!("127.0.0.1:{port}").parse()?)?;
    let mut poll = Poll::new()?;
    poll.registry().register(&mut listener, LISTENER, Interest::READABLE)?;
    let mut events = Events::with_capacity(256);
    let mut clients: HashMap<Token, Client> = HashMap::new();
    let mut next = 0;
    loop {
        match poll.poll(&mut events, None) {
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            polled => polled?,
        }
        for event in &events {
            let token = event.token();
            if token == LISTENER {
                while let Ok((mut stream, _)) = listener.accept() {
                    stream.set_nodelay(true)?;
                    let token = Token(next);
                    next += 1;
                    let interest = Interest::READABLE | Interest::WRITABLE;
                    poll.registry().register(&mut stream, token, interest)?;
                    let (received, output) = (Vec::new(), Vec::new());
                    clients.insert(token, Client { stream, started: false, received, output });
                }
            } else if let Some(client) = clients.get_mut(&token)
                && !client.serve()
            {
                clients.remove(&token);
            }
        }
    }
}

impl Client {
    /// Answers everything that has come; false once the client is gone.
    fn serve(&mut self) -> bool {
        let mut buffer = [0; BUFFER_BYTES];
        loop {
            match self.stream.read(&mut buffer) {
                Ok(0) => return false,
                Ok(bytes) => {
                    self.received.extend_from_slice(&buffer[..bytes]);
                    if !self.answer() || !self.send() {
                        return false;
                    }
                    // A read that does not fill the buffer has emptied the socket: the next edge wakes us.
                    if bytes < BUFFER_BYTES {
                        return true;
                    }
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => return self.send(),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(_) => return false,
            }
        }
    }

    /// Answers each whole message; false when the client says goodbye.
    fn answer(&mut self) -> bool {
        let mut at = 0;
        loop {
            let rest = &self.received[at..];
            let header = usize::from(self.started);
            let Some(length) = rest.get(header..header + 4) else { break };
            let length = u32::from_be_bytes([length[0], length[1], length[2], length[3]]) as usize;
            let Some(message) = rest.get(..header + length) else { break };
            at += message.len();
            if !self.started {
                // An encryption request carries a code above any version's.
                if message[4] == 0 && message[5] == 3 {
                    self.started = true;
                    WELCOME.iter().for_each(|part| self.output.extend_from_slice(part));
                } else {
                    self.output.push(b'N');
                }
                continue;
            }
            let answers: &[&[u8]] = match message[0] {
                // pgbench asks for the kind of partitions before it begins: there are none.
                b'Q' if contains(message, b"partstrat") => &[PARTITIONS, READY],
                b'Q' => &[COLUMNS, ROW, READY],
                b'P' => &[PARSED],
                b'B' => &[BOUND],
                b'D' if message[5] == b'S' => &[PARAMETERS, COLUMNS],
                b'D' => &[COLUMNS],
                b'E' => &[ROW],
                b'C' => &[CLOSED],
                b'S' => &[READY],
                b'X' => return false,
                _ => &[],
            };
            answers.iter().for_each(|part| self.output.extend_from_slice(part));
        }
        self.received.drain(..at);
        true
    }

    /// Sends what there is; false if the client is gone.
    fn send(&mut self) -> bool {
        while !self.output.is_empty() {
            match self.stream.write(&self.output) {
                Ok(bytes) => drop(self.output.drain(..bytes)),
                Err(error) if error.kind() == ErrorKind::WouldBlock => return true,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(_) => return false,
            }
        }
        true
    }
}
