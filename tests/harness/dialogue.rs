//! Dialogues message by message: what a server says to each batch of messages, in one line, to be compared with what
//! PostgreSQL says.

use crate::client::{Client, Message, Report};
use std::sync::atomic::{AtomicU32, Ordering};

/// A session whose answers are kept as lines.
#[derive(Debug)]
pub struct Dialogue {
    /// The session.
    pub client: Client,
    /// What it has answered, a line for each batch.
    pub lines: Vec<String>,
    /// Messages that have not been sent: a batch is one packet.
    batch: Vec<u8>,
}

impl Dialogue {
    /// With a session.
    #[must_use]
    pub fn new(client: Client) -> Dialogue {
        Dialogue { client, lines: Vec::new(), batch: Vec::new() }
    }

    /// Adds a message to the batch.
    pub fn send(&mut self, tag: u8, body: &[u8]) {
        self.batch.push(tag);
        self.batch.extend_from_slice(&(body.len() as u32 + 4).to_be_bytes());
        self.batch.extend_from_slice(body);
    }

    /// Sends the batch.
    pub fn flush(&mut self) {
        // A server that has closed the connection has said why before.
        let _ = self.client.send_raw(&std::mem::take(&mut self.batch));
    }

    /// Sends a Query and notes the answer.
    pub fn query(&mut self, text: impl AsRef<[u8]>) {
        self.send(b'Q', &[text.as_ref(), b"\0"].concat());
        self.answer();
    }

    /// Adds Parse.
    pub fn parse(&mut self, name: &str, text: &str) {
        self.send(b'P', format!("{name}\0{text}\0\0\0").as_bytes());
    }

    /// Adds Bind, with parameters in text, and rows in text.
    pub fn bind(&mut self, portal: &str, name: &str, parameters: &[&[u8]]) {
        self.bind_in(portal, name, parameters, &[]);
    }

    /// Adds Bind, with parameters in text, and rows in these formats: none, one for all, or one each.
    pub fn bind_in(&mut self, portal: &str, name: &str, parameters: &[&[u8]], formats: &[i16]) {
        let mut body = format!("{portal}\0{name}\0\0\0").into_bytes();
        body.extend_from_slice(&(parameters.len() as u16).to_be_bytes());
        for value in parameters {
            body.extend_from_slice(&(value.len() as u32).to_be_bytes());
            body.extend_from_slice(value);
        }
        body.extend_from_slice(&(formats.len() as u16).to_be_bytes());
        formats.iter().for_each(|format| body.extend_from_slice(&format.to_be_bytes()));
        self.send(b'B', &body);
    }

    /// Adds Describe: `S` for a statement, `P` for a portal.
    pub fn describe(&mut self, kind: char, name: &str) {
        self.send(b'D', format!("{kind}{name}\0").as_bytes());
    }

    /// Adds Execute.
    pub fn execute(&mut self, portal: &str, rows: u32) {
        let body = [portal.as_bytes(), b"\0", &rows.to_be_bytes()].concat();
        self.send(b'E', &body);
    }

    /// Sends Sync and notes the answer.
    pub fn sync(&mut self) {
        self.send(b'S', &[]);
        self.answer();
    }

    /// Runs a text by the extended protocol and notes the answer.
    pub fn run(&mut self, text: &str) {
        self.parse("", text);
        self.bind("", "", &[]);
        self.execute("", 0);
        self.sync();
    }

    /// Sends the batch and notes everything up to ReadyForQuery, or to the connection's end.
    pub fn answer(&mut self) {
        self.flush();
        let mut line = Vec::new();
        loop {
            let Ok(message) = self.client.receive() else {
                line.push("end".to_owned());
                break;
            };
            line.push(words(&message));
            if message.tag == b'Z' {
                break;
            }
        }
        self.lines.push(line.join(" "));
    }
}

/// A message in words: its type, and what of its body clients act on.
fn words(message: &Message) -> String {
    let tag = char::from(message.tag);
    match message.tag {
        b'E' | b'N' => {
            let report = Report::parse(&message.body);
            let mut words = format!(
                "{tag}[{} {} {}",
                report.field(b'S'),
                report.field(b'C'),
                report.field(b'M')
            );
            for letter in [b'D', b'H', b'W'] {
                if !report.field(letter).is_empty() {
                    words.push_str(&format!(" {}: {}", char::from(letter), report.field(letter)));
                }
            }
            words + "]"
        }
        b'D' => {
            let row = crate::client::row(&message.body);
            let row: Vec<&str> = row.iter().map(|value| value.as_deref().unwrap_or("∅")).collect();
            format!("D({})", row.join(","))
        }
        b'C' | b'Z' => {
            let body = message.body.strip_suffix(&[0]).unwrap_or(&message.body);
            format!("{tag}{}", String::from_utf8_lossy(body))
        }
        b'T' => {
            let columns = crate::client::columns(&message.body);
            let columns: Vec<_> =
                columns.iter().map(|column| format!("{}:{}", column.name, column.format)).collect();
            format!("T({})", columns.join(","))
        }
        b'd' | b'G' | b'H' => format!("{tag}({})", message.body.escape_ascii()),
        _ => tag.to_string(),
    }
}

/// Holds a dialogue with PostgreSQL and with Atoll, each in a database of its own, and demands the same lines. Atoll must
/// still serve the next client.
pub fn assert_same(atoll: &crate::atoll::Atoll, dialogue: impl Fn(&mut Dialogue)) {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let name = format!("dialogue_{}", NEXT.fetch_add(1, Ordering::Relaxed));
    let lines = |port: u16| {
        Client::connect(port, "postgres", "postgres").run(&format!("CREATE DATABASE {name}"));
        let mut talk = Dialogue::new(Client::connect(port, "postgres", &name));
        dialogue(&mut talk);
        talk.lines
    };
    let (wanted, actual) = (lines(crate::oracle::shared()), lines(atoll.port()));
    let differing: Vec<String> = wanted
        .iter()
        .zip(&actual)
        .enumerate()
        .filter(|(_, (wanted, actual))| wanted != actual)
        .map(|(number, (wanted, actual))| {
            format!("line {number}:\n  PostgreSQL {wanted}\n  Atoll      {actual}")
        })
        .collect();
    assert!(differing.is_empty(), "{}", differing.join("\n"));
    assert_eq!(wanted.len(), actual.len());
    assert_eq!(atoll.connect().run("SELECT 1").value(), "1");
}
