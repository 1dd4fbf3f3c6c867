//! The dialogue driven with bytes: families, order, errors, bounded memory, and a fuzzer that holds our decoder against
//! pgwire's encoder.

use super::{Dialogue, Step};
use crate::connection::{Connection, Ended};
use crate::encode::SEND_BYTES;
use crate::message::{Message, decode};
use crate::metrics::Counters;
use crate::peer::{Admitted, Peers};
use crate::scripted::Scripted;
use crate::timers::Timers;
use bytes::{Bytes, BytesMut};
use pgwire::messages::extendedquery as ext;
use proptest::prelude::*;
use sql::Environment;
use sql::environment::{FaultyDevice, SystemClock, Threads};
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

struct Bench {
    dialogue: Dialogue<Scripted>,
    admitted: Admitted,
    timers: Arc<Timers>,
}

fn bench() -> Bench {
    let environment = Environment {
        device: Arc::new(FaultyDevice::new(1)),
        clock: Arc::new(SystemClock::new()),
        scheduler: Arc::new(Threads::new(1)),
        seed: 1,
    };
    let admitted = Arc::new(Peers::new(environment)).admit(10).unwrap();
    let timers = Timers::start().unwrap();
    let backend = Scripted::new(Arc::clone(&admitted.peer.wait));
    let peer = Arc::clone(&admitted.peer);
    let counters = Arc::new(Counters::default());
    let dialogue = Dialogue::new(backend, peer, Arc::clone(&timers), counters, 4096);
    Bench { dialogue, admitted, timers }
}

fn message(tag: u8, body: &[u8]) -> Vec<u8> {
    let mut bytes = vec![tag];
    bytes.extend_from_slice(&(body.len() as u32 + 4).to_be_bytes());
    bytes.extend_from_slice(body);
    bytes
}

fn query(text: &str) -> Vec<u8> {
    message(b'Q', format!("{text}\0").as_bytes())
}

/// Parse, Bind and Execute of a statement, all unnamed.
fn execute(text: &str, max_rows: i32) -> Vec<u8> {
    let mut bytes = message(b'P', format!("\0{text}\0\0\0").as_bytes());
    bytes.extend(message(b'B', &[0, 0, 0, 0, 0, 0, 0, 0]));
    let mut body = vec![0];
    body.extend_from_slice(&max_rows.to_be_bytes());
    bytes.extend(message(b'E', &body));
    bytes
}

fn sync() -> Vec<u8> {
    message(b'S', b"")
}

impl Bench {
    /// Feeds `bytes` and gives what was answered, as the types of its messages, with a `|` for each sending.
    fn talk(&mut self, bytes: &[u8]) -> String {
        self.dialogue.input.extend_from_slice(bytes);
        let mut said = String::new();
        loop {
            let step = self.dialogue.advance();
            said.push_str(&tags(&self.dialogue.output));
            let full = self.dialogue.output.len();
            self.dialogue.sent();
            match step {
                Step::Read(needed) => {
                    assert!(needed > 0);
                    self.dialogue.make_room(needed);
                    return said;
                }
                Step::Send => said.push('|'),
                Step::End => {
                    said.push('.');
                    return said;
                }
            }
            assert!(full < 2 * SEND_BYTES, "one buffer is enough for any result: {full}");
        }
    }
}

/// The types of the messages in `bytes`; runs of rows are one `D`.
fn tags(bytes: &[u8]) -> String {
    let mut tags = String::new();
    let mut rest = bytes;
    while let Some(&tag) = rest.first() {
        let length = u32::from_be_bytes(rest[1..5].try_into().unwrap()) as usize;
        if tag != b'D' || !tags.ends_with('D') {
            tags.push(char::from(tag));
        }
        rest = &rest[length + 1..];
    }
    tags
}

#[test]
fn a_query_runs_statement_by_statement() {
    let mut bench = bench();
    assert_eq!(bench.talk(&query("rows 2; notice; rows 0")), "TDCNCTCZ|");
    assert_eq!(bench.talk(&query("")), "IZ|");
    assert_eq!(bench.talk(&query("empty")), "IZ|");
    assert_eq!(bench.talk(&query("rows 1; fail; rows 1")), "TDCEZ|");
    assert_eq!(bench.talk(&query("syntax; rows 1")), "EZ|");
    assert_eq!(bench.talk(&query("rows 1")), "TDCZ|");
}

#[test]
fn an_extended_batch_is_one_write() {
    let mut bench = bench();
    let mut batch = execute("rows 3", 0);
    batch.extend(execute("rows 1", 0));
    batch.extend(sync());
    assert_eq!(bench.talk(&batch), "12DC12DCZ|");
    let mut batch = message(b'P', b"s\0rows 5\0\0\0");
    batch.extend(message(b'D', b"Ss\0"));
    batch.extend(message(b'B', b"p\0s\0\0\0\0\0\0\0"));
    batch.extend(message(b'D', b"Pp\0"));
    batch.extend(message(b'E', b"p\0\0\0\0\x02"));
    batch.extend(message(b'E', b"p\0\0\0\0\x02"));
    batch.extend(message(b'E', b"p\0\0\0\0\x02"));
    batch.extend(message(b'C', b"Pp\0"));
    batch.extend(message(b'C', b"Ss\0"));
    batch.extend(sync());
    assert_eq!(bench.talk(&batch), "1tT2TDsDsDC33Z|");
}

/// What is answered, byte by byte, to bytes that arrive in these portions.
fn answered(portions: &[&[u8]]) -> Vec<u8> {
    let (mut bench, mut said) = (bench(), Vec::new());
    'all: for portion in portions {
        bench.dialogue.input.extend_from_slice(portion);
        loop {
            let step = bench.dialogue.advance();
            said.extend_from_slice(&bench.dialogue.output);
            bench.dialogue.sent();
            match step {
                Step::Read(needed) => {
                    bench.dialogue.make_room(needed);
                    break;
                }
                Step::Send => {}
                Step::End => break 'all,
            }
        }
    }
    bench.timers.stop();
    said
}

#[test]
fn what_arrives_together_is_answered_as_if_it_came_one_by_one() {
    let bind = |portal: &str| message(b'B', format!("{portal}\0\0\0\0\0\0\0\0").as_bytes());
    let described = |portal: &str| message(b'D', format!("P{portal}\0").as_bytes());
    let run =
        |portal: &str, rows: u8| message(b'E', &[portal.as_bytes(), &[0, 0, 0, 0, rows]].concat());
    let broken = message(b'E', &[0, 0, 0]);
    for text in ["rows 3", "rows 9000", "fail", "notice", "empty", "copy", "panic", "half", "fatal"]
    {
        let parsed = message(b'P', format!("\0{text}\0\0\0").as_bytes());
        for behind in [
            vec![run("", 0)],
            vec![described(""), run("", 0)],
            vec![described(""), run("", 2), run("", 0)],
            vec![described("other"), run("", 0)],
            vec![message(b'D', b"S\0"), run("", 0)],
            vec![run("other", 0), run("", 0)],
            vec![described(""), described(""), run("", 0)],
            vec![described(""), broken.clone()],
            vec![described(""), message(b'H', b""), run("", 0)],
            vec![bind(""), described(""), run("", 1)],
            vec![described("")],
        ] {
            let messages = [vec![parsed.clone(), bind("")], behind, vec![sync(), query("rows 1")]];
            let messages: Vec<Vec<u8>> = messages.concat();
            let one_by_one: Vec<&[u8]> = messages.iter().map(Vec::as_slice).collect();
            let all = messages.concat();
            let wanted = answered(&one_by_one);
            assert_eq!(answered(&[&all]), wanted, "{text}: {}", tags(&wanted));
            let halves = all.split_at(all.len() / 2);
            assert_eq!(answered(&[halves.0, halves.1]), wanted, "{text}: {}", tags(&wanted));
        }
        let named = [parsed, bind("p"), described("p"), run("p", 2), run("p", 1), sync()];
        let one_by_one: Vec<&[u8]> = named.iter().map(Vec::as_slice).collect();
        assert_eq!(answered(&[&named.concat()]), answered(&one_by_one), "{text}");
    }
}

#[test]
fn after_an_error_nothing_counts_until_sync() {
    let mut bench = bench();
    let mut batch = execute("rows 1", 0);
    batch.extend(execute("fail", 0));
    batch.extend(execute("rows 1", 0));
    batch.extend(query("rows 1"));
    batch.extend(message(b'H', b""));
    batch.extend(sync());
    batch.extend(query("rows 1"));
    assert_eq!(bench.talk(&batch), "12DC12EZ|TDCZ|");
    assert_eq!(bench.dialogue.backend().syncs, 1);
}

#[test]
fn violations_within_a_message_end_the_statement_only() {
    let mut bench = bench();
    for (tag, body) in [
        (b'B', &b""[..]),
        (b'B', b"\0\0\0\x02\0\0\0\0\0\x01"),
        (b'B', b"\0\0\0\0\0\x01\0\0\xFF\xFF\0\0"),
        (b'B', b"\0\0\0\0\0\x01\xFF\xFF\xFF\xFE\0\0"),
        (b'E', b""),
        (b'E', b"\0\0\0"),
        (b'P', b"\0rows 1\0"),
        (b'P', b"\0rows 1\0\0\x05"),
        (b'P', b"\0\xFF\0\0\0"),
        (b'D', b"Xs\0"),
        (b'D', b""),
        (b'C', b"X"),
        (b'E', b"\0\0\0\0\0trailing"),
    ] {
        let mut bytes = message(tag, body);
        bytes.extend(sync());
        assert_eq!(bench.talk(&bytes), "EZ|", "{} {body:?}", char::from(tag));
    }
    assert_eq!(bench.talk(&message(b'Q', b"no end")), "EZ|");
    assert_eq!(bench.talk(&message(b'F', b"\0\0\0\x01")), "EZ|");
    assert_eq!(bench.talk(&query("rows 1")), "TDCZ|");
}

#[test]
fn violations_of_the_frame_and_panics_end_the_connection() {
    for bytes in [&b"Q\0\0\0\x02"[..], b"?\0\0\0\x04", b"p\0\0\0\x05x", b"S\x7F\xFF\xFF\xFF"] {
        let mut bench = bench();
        assert_eq!(bench.talk(bytes), "E.");
    }
    for text in ["panic", "half", "fatal"] {
        let mut bench = bench();
        assert_eq!(bench.talk(&query(text)), "E.");
    }
    let mut bench = bench();
    assert_eq!(bench.talk(&message(b'X', b"")), ".");
}

#[test]
fn any_result_takes_one_buffer() {
    let mut bench = bench();
    let said = bench.talk(&query("rows 100000"));
    assert!(said.starts_with("TD|D|D|") && said.ends_with("D|DCZ|"), "{said}");
    let mut batch = execute("rows 100000", 0);
    batch.extend(execute("rows 20", 15));
    batch.extend(sync());
    let said = bench.talk(&batch);
    assert!(said.starts_with("12D|D|D|") && said.ends_with("D|DC12DsZ|"), "{said}");
    bench.dialogue.make_room(1);
    assert!(bench.dialogue.input.capacity() <= 8192 && bench.dialogue.output.capacity() <= 8192);
}

#[test]
fn a_row_limit_holds_across_pauses() {
    let mut bench = bench();
    let mut batch = execute("rows 50000", 30000);
    batch.extend(message(b'E', &[0, 0, 0, 0, 0]));
    batch.extend(sync());
    let said = bench.talk(&batch).replace('|', "");
    assert_eq!(said.split('s').count(), 2, "suspended once: {said}");
    assert!(said.ends_with("CZ"));
}

#[test]
fn copy_takes_data_until_it_is_done_or_fails() {
    let mut bench = bench();
    assert_eq!(bench.talk(&query("copy; rows 1")), "G|");
    let mut data = message(b'd', b"1\n");
    data.extend(message(b'H', b""));
    data.extend(message(b'd', b"2\n"));
    assert_eq!(bench.talk(&data), "");
    assert_eq!(bench.talk(&message(b'c', b"")), "CTDCZ|");
    assert_eq!(bench.dialogue.backend().copied, b"1\n2\n");

    assert_eq!(bench.talk(&query("copy")), "G|");
    assert_eq!(bench.talk(&message(b'f', b"changed my mind\0")), "EZ|");

    let mut late = query("copy");
    late.extend(message(b'd', b"bad\n"));
    late.extend(message(b'd', b"3\n"));
    late.extend(message(b'c', b""));
    assert_eq!(bench.talk(&late), "G|EZ|");

    let mut extended = execute("copy", 0);
    extended.extend(sync());
    extended.extend(message(b'd', b"4\n"));
    extended.extend(message(b'c', b""));
    extended.extend(sync());
    assert_eq!(bench.talk(&extended), "12G|CZ|");

    let mut foreign = execute("copy", 0);
    foreign.extend(query("rows 1"));
    foreign.extend(sync());
    assert_eq!(bench.talk(&foreign), "12G|EE.");
}

#[test]
fn sixty_five_thousand_parameters_are_taken() {
    let mut bench = bench();
    let mut batch = message(b'P', b"\0rows 1\0\0\0");
    let mut bind = vec![0, 0, 0, 0, 0xFF, 0xFF];
    for _ in 0..65535 {
        bind.extend_from_slice(&[0, 0, 0, 1, b'7']);
    }
    bind.extend_from_slice(&[0, 0]);
    batch.extend(message(b'B', &bind));
    batch.extend(sync());
    assert_eq!(bench.talk(&batch), "12Z|");
    assert_eq!(bench.dialogue.backend().bound, [(65535, 65535 * 5)]);
}

#[test]
fn a_cancel_reaches_the_statement_it_was_meant_for_only() {
    let bench = bench();
    let peer = &bench.admitted.peer;
    peer.cancel(1);
    assert_eq!(peer.wait.cancel.requested(), None, "nothing runs");
    peer.statement_begins();
    peer.cancel(1);
    assert_eq!(peer.wait.cancel.requested(), Some(1));
    peer.statement_ends();
    peer.statement_begins();
    assert_eq!(peer.wait.cancel.requested(), None);
    peer.end(4);
    peer.statement_ends();
    peer.statement_begins();
    assert_eq!(peer.wait.cancel.requested(), Some(4), "a request to end stays");
}

#[test]
fn a_statement_that_takes_too_long_is_stopped_by_the_timer() {
    let bench = bench();
    let peer = &bench.admitted.peer;
    peer.statement_begins();
    bench.timers.arm(peer, 60_000);
    bench.timers.disarm(peer);
    bench.timers.arm(peer, 5);
    let begun = std::time::Instant::now();
    while peer.wait.cancel.requested().is_none() {
        assert!(begun.elapsed().as_secs() < 10, "the timer never came");
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    assert_eq!(peer.wait.cancel.requested(), Some(sql::error::cancel::STATEMENT_TIMEOUT));
}

/// A socket that takes and gives bytes in given portions, and counts the calls.
struct Counting {
    incoming: Vec<Vec<u8>>,
    outgoing: Vec<u8>,
    writes: usize,
}

impl AsyncRead for &mut Counting {
    fn poll_read(
        self: Pin<&mut Self>,
        _context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        if !this.incoming.is_empty() {
            let portion = &mut this.incoming[0];
            let bytes = portion.len().min(buffer.remaining());
            buffer.put_slice(&portion[..bytes]);
            portion.drain(..bytes);
            if portion.is_empty() {
                this.incoming.remove(0);
            }
        }
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for &mut Counting {
    fn poll_write(
        self: Pin<&mut Self>,
        _context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        this.outgoing.extend_from_slice(bytes);
        this.writes += 1;
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, _context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

fn writes_for(portions: Vec<Vec<u8>>) -> (usize, String) {
    let Bench { dialogue, timers, admitted } = bench();
    let mut socket = Counting { incoming: portions, outgoing: Vec::new(), writes: 0 };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let (ended, _) = runtime.block_on(Connection::new(&mut socket, dialogue, |_, _| ()).run());
    assert!(matches!(ended, Ended::Closed), "{ended:?}");
    timers.stop();
    drop(admitted);
    (socket.writes, tags(&socket.outgoing))
}

#[test]
fn there_is_one_write_for_each_sync_or_flush() {
    // The first write is the greeting's ReadyForQuery.
    let mut batch = Vec::new();
    for _ in 0..10 {
        batch.extend(execute("rows 1", 0));
    }
    batch.extend(sync());
    assert_eq!(writes_for(vec![batch.clone()]).0, 2, "ten statements, one Sync");
    assert_eq!(writes_for(vec![batch.clone(), batch.clone()]).0, 3);
    let (writes, said) = writes_for(vec![query("rows 3")]);
    assert_eq!((writes, said.as_str()), (2, "ZTDCZ"));
    let mut flushed = execute("rows 1", 0);
    flushed.extend(message(b'H', b""));
    flushed.extend(sync());
    assert_eq!(writes_for(vec![flushed]).0, 3);
    assert_eq!(writes_for(vec![execute("rows 1", 0), sync()]).0, 2, "answers wait for a Sync");
    let error = execute("fail", 0);
    assert_eq!(writes_for(vec![error, sync()]).0, 3, "errors do not");
    // The same bytes one by one: a read for each, but no more writes.
    let split: Vec<Vec<u8>> = batch.iter().map(|byte| vec![*byte]).collect();
    assert_eq!(writes_for(split).0, 2);
}

fn name() -> impl Strategy<Value = String> {
    "[a-zA-Z0-9_ ü]{0,20}"
}

fn encoded<M: pgwire::messages::Message>(message: &M) -> Vec<u8> {
    let mut bytes = BytesMut::new();
    message.encode(&mut bytes).unwrap();
    bytes.to_vec()
}

proptest! {
    #[test]
    fn what_pgwire_encodes_is_decoded(
        portal in name(),
        statement in name(),
        parameters in prop::collection::vec(prop::option::of(prop::collection::vec(any::<u8>(), 0..40)), 0..20),
        formats in prop::collection::vec(0i16..2, 0..5),
        max_rows in any::<i32>(),
        types in prop::collection::vec(any::<u32>(), 0..10),
    ) {
        let parse = ext::Parse::new(Some(statement.clone()), "select 1".to_owned(), types.clone());
        let bytes = encoded(&parse);
        let Message::Parse { name, text, types: got } = decode(bytes[0], &bytes[5..]).unwrap() else { panic!() };
        prop_assert_eq!((name, text), (&statement[..], "select 1"));
        let wanted: Vec<u8> = types.iter().flat_map(|oid| oid.to_be_bytes()).collect();
        prop_assert_eq!(got, &wanted[..]);

        let values: Vec<Option<Bytes>> = parameters.iter().map(|value| value.clone().map(Bytes::from)).collect();
        let bind = ext::Bind::new(Some(portal.clone()), Some(statement.clone()), vec![1], values, formats.clone());
        let bytes = encoded(&bind);
        let Message::Bind(got) = decode(bytes[0], &bytes[5..]).unwrap() else { panic!() };
        prop_assert_eq!((got.portal, got.statement), (&portal[..], &statement[..]));
        prop_assert_eq!(usize::from(got.parameter_count), parameters.len());
        prop_assert_eq!(got.parameter_formats, &[0u8, 1][..]);
        prop_assert_eq!(got.result_formats.len(), 2 * formats.len());
        let mut rest = got.parameters;
        for parameter in &parameters {
            let length = i32::from_be_bytes(rest[..4].try_into().unwrap());
            rest = &rest[4..];
            match parameter {
                None => prop_assert_eq!(length, -1),
                Some(value) => {
                    prop_assert_eq!(&rest[..length as usize], &value[..]);
                    rest = &rest[length as usize..];
                }
            }
        }
        prop_assert!(rest.is_empty());

        let execute = ext::Execute::new(Some(portal.clone()), max_rows);
        let bytes = encoded(&execute);
        let Message::Execute { portal: got, max_rows: limit } = decode(bytes[0], &bytes[5..]).unwrap() else { panic!() };
        prop_assert_eq!((got, limit), (&portal[..], u64::try_from(max_rows).unwrap_or(0)));
    }

    #[test]
    fn no_bytes_make_the_dialogue_panic_or_run_away(
        seed in prop::collection::vec(any::<u8>(), 0..200),
        flips in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..8),
    ) {
        let mut bytes = execute("rows 3", 1);
        bytes.extend(message(b'D', b"P\0"));
        bytes.extend(sync());
        bytes.extend(query("rows 1; copy"));
        bytes.extend(message(b'd', b"data"));
        bytes.extend(message(b'c', b""));
        bytes.extend(&seed);
        for (index, value) in flips {
            let at = index.index(bytes.len());
            bytes[at] = value;
        }
        let mut bench = bench();
        bench.talk(&bytes);
    }
}
