//! A prepared point SELECT allocates nothing, from the arrival of its bytes to the write of its answer: a connection runs
//! over a socket that is none, with the engine's own session, and the allocations of its thread are counted.

#[path = "../../txn/tests/counting/mod.rs"]
mod counting;

use counting::ALLOCATIONS;
use server::backend::Live;
use server::connection::{Connection, Ended};
use server::dialogue::Dialogue;
use server::metrics::Counters;
use server::peer::Peers;
use server::timers::Timers;
use sql::environment::{FaultyDevice, SystemClock, Threads};
use sql::{Connect, Engine, EngineOptions, Environment};
use std::io;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

const WARM_UP: usize = 100;
const COUNTED: usize = 1000;

/// A client that says the same again and again, and goes.
struct Client {
    first: Vec<u8>,
    again: Vec<u8>,
    asked: usize,
    /// The last answer.
    answer: Vec<u8>,
    /// What the thread had allocated when the counted part began, and when it ended.
    counts: Arc<[std::sync::atomic::AtomicU64; 2]>,
}

impl AsyncRead for Client {
    fn poll_read(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let client = self.get_mut();
        let relaxed = std::sync::atomic::Ordering::Relaxed;
        match client.asked {
            0 => buffer.put_slice(&client.first),
            asked if asked <= WARM_UP + COUNTED => {
                assert!(asked == 1 || client.answer.ends_with(b"Z\0\0\0\x05I"));
                let row = b"D\0\0\0\x0B\0\x01\0\0\0\x014";
                assert!(asked == 1 || client.answer.windows(row.len()).any(|part| part == row));
                if asked == WARM_UP {
                    client.counts[0].store(ALLOCATIONS.get(), relaxed);
                }
                buffer.put_slice(&client.again);
            }
            _ => client.counts[1].store(ALLOCATIONS.get(), relaxed),
        }
        client.asked += 1;
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Client {
    fn poll_write(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let client = self.get_mut();
        client.answer.clear();
        client.answer.extend_from_slice(bytes);
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

fn message(tag: u8, body: &[u8]) -> Vec<u8> {
    let mut bytes = vec![tag];
    bytes.extend_from_slice(&(body.len() as u32 + 4).to_be_bytes());
    bytes.extend_from_slice(body);
    bytes
}

/// Serves one client in this thread, to its end; how much was allocated within the counted part.
fn allocations(first: Vec<u8>, again: Vec<u8>) -> u64 {
    let environment = Environment {
        device: Arc::new(FaultyDevice::new(1)),
        clock: Arc::new(SystemClock::new()),
        scheduler: Arc::new(Threads::new(2)),
        seed: 1,
    };
    let options = EngineOptions::default();
    Engine::create(&environment, &options, "postgres", None).expect("a new directory");
    let engine = Engine::open(environment.clone(), options).expect("the directory opens");
    let admitted = Arc::new(Peers::new(environment)).admit(10).expect("there is room");
    let timers = Timers::start().expect("a thread");
    let connect =
        Connect { database: "postgres".into(), user: "postgres".into(), ..Connect::default() };
    let session = engine.connect(connect, Arc::clone(&admitted.peer.wait)).expect("a session");
    let backend = Live { engine: Arc::clone(&engine), session: Box::new(session) };
    let (peer, counters) = (Arc::clone(&admitted.peer), Arc::new(Counters::default()));
    let dialogue = Dialogue::new(backend, peer, Arc::clone(&timers), counters, 4096);
    let counts = Arc::default();
    let client = Client { first, again, asked: 0, answer: Vec::new(), counts: Arc::clone(&counts) };
    let mut context = Context::from_waker(Waker::noop());
    let mut serving = pin!(Connection::new(client, dialogue, |_, _| ()).run());
    let ended = loop {
        // What is committed is durable in a moment.
        if let Poll::Ready(ended) = serving.as_mut().poll(&mut context) {
            break ended;
        }
    };
    assert!(matches!(ended.0, Ended::Closed));
    timers.stop();
    let [begun, ended] = &*counts;
    let relaxed = std::sync::atomic::Ordering::Relaxed;
    ended.load(relaxed) - begun.load(relaxed)
}

#[test]
fn a_prepared_point_select_allocates_nothing() {
    let table = "create table t (a int primary key, b int); insert into t values (7, 4)\0";
    let mut first = message(b'Q', table.as_bytes());
    first.extend(message(b'P', b"p\0select b from t where a = $1\0\0\0"));
    first.extend(message(b'S', b""));
    // Bind with one parameter in text, Describe, Execute, Sync: what libpq sends.
    let mut again = message(b'B', b"\0p\0\0\0\0\x01\0\0\0\x017\0\0");
    again.extend(message(b'D', b"P\0"));
    again.extend(message(b'E', b"\0\0\0\0\0"));
    again.extend(message(b'S', b""));
    assert_eq!(allocations(first, again), 0);
}

#[test]
fn prepared_statements_that_take_turns_allocate_nothing() {
    let table = "create table t (a int primary key, b int); insert into t values (7, 4)\0";
    let mut first = message(b'Q', table.as_bytes());
    first.extend(message(b'P', b"p\0select b from t where a = $1\0\0\0"));
    first.extend(message(b'P', b"longer\0select t.b from t where t.a = $1\0\0\0"));
    first.extend(message(b'S', b""));
    let mut again = Vec::new();
    for name in ["p", "longer"] {
        let bind = [b"\0", name.as_bytes(), b"\0\0\0\0\x01\0\0\0\x017\0\0"].concat();
        again.extend(message(b'B', &bind));
        again.extend(message(b'E', b"\0\0\0\0\0"));
        again.extend(message(b'S', b""));
    }
    assert_eq!(allocations(first, again), 0);
}
