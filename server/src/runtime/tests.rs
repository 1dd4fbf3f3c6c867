//! Sessions that wait, compute, crowd and vanish; each test with its own runtime and real sockets.

use super::cores::Cores;
use super::spread::Placement;
use super::{Runtime, Socket};
use crate::scheduler::Workers;
use rustix::thread::sched_getcpu;
use sql::Environment;
use sql::environment::{FaultyDevice, SystemClock, WaitCell, WaitEvent};
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

struct Running {
    runtime: Runtime,
    _desk: tokio::runtime::Runtime,
}

fn start(loops: usize, threads: usize) -> Running {
    let desk =
        tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let runtime = Runtime::start(loops, threads, desk.handle().clone()).unwrap();
    Running { runtime, _desk: desk }
}

impl Running {
    /// A client whose bytes are answered one by one; `handle` is called for each first.
    fn client(&self, handle: impl Fn(u8) + Send + 'static) -> UnixStream {
        let (client, served) = UnixStream::pair().unwrap();
        self.runtime.spawn(served, |socket| answer(socket, handle)).unwrap();
        client
    }

    /// How many connections each loop has.
    fn connections(&self) -> Vec<usize> {
        self.runtime.shared.loops.iter().map(|event_loop| event_loop.connections()).collect()
    }
}

async fn answer(mut socket: Socket, handle: impl Fn(u8)) {
    let mut byte = [0];
    while let Ok(1) = socket.read(&mut byte).await {
        handle(byte[0]);
        if socket.write_all(&byte).await.is_err() {
            return;
        }
    }
}

fn ask(client: &mut (impl Read + Write), byte: u8) {
    client.write_all(&[byte]).unwrap();
    let mut answer = [0];
    client.read_exact(&mut answer).unwrap();
    assert_eq!(answer, [byte]);
}

fn until(what: &str, mut done: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !done() {
        assert!(begun.elapsed() < Duration::from_secs(20), "{what}");
        std::thread::sleep(Duration::from_millis(1));
    }
}

fn compute_for(span: Duration) {
    let begun = Instant::now();
    while begun.elapsed() < span {
        std::hint::spin_loop();
    }
}

#[test]
fn more_sessions_wait_than_there_are_loops_and_others_go_on() {
    const WAITERS: usize = 100;
    let running = start(2, WAITERS + 8);
    let environment = Environment {
        device: Arc::new(FaultyDevice::new(1)),
        clock: Arc::new(SystemClock::new()),
        scheduler: Arc::new(Workers::new(2)),
        seed: 1,
    };
    let cells: Vec<Arc<WaitCell>> = (0..WAITERS).map(|_| Arc::new(WaitCell::new())).collect();
    let woken = Arc::new(AtomicUsize::new(0));
    let waiting = Arc::new(AtomicUsize::new(0));
    let mut clients = Vec::new();
    for cell in &cells {
        let (environment, cell) = (environment.clone(), Arc::clone(cell));
        let (waiting, woken) = (Arc::clone(&waiting), Arc::clone(&woken));
        let mut client = running.client(move |_| {
            waiting.fetch_add(1, Ordering::Relaxed);
            environment.wait(WaitEvent::Tuple, &cell, None, None);
            woken.fetch_add(1, Ordering::Relaxed);
        });
        client.write_all(b"w").unwrap();
        clients.push(client);
    }
    until("all wait", || waiting.load(Ordering::Relaxed) == WAITERS);
    // The holder's message is read and answered although there are more waiters than loops.
    let mut holder = running.client(|_| {});
    for byte in 0..100 {
        ask(&mut holder, byte);
    }
    assert_eq!(woken.load(Ordering::Relaxed), 0);
    for cell in &cells {
        environment.wake(cell);
    }
    for client in &mut clients {
        client.read_exact(&mut [0]).unwrap();
    }
    assert_eq!(woken.load(Ordering::Relaxed), WAITERS);
    drop(clients);
    drop(holder);
    until("all connections are forgotten", || running.connections() == [0, 0]);
}

#[test]
fn others_are_answered_while_one_statement_takes_long() {
    let running = start(1, 8);
    let handle = |byte| {
        if byte == b'L' {
            compute_for(Duration::from_millis(400));
        }
    };
    let (mut short, mut long) = (running.client(handle), running.client(handle));
    ask(&mut short, b'S');
    ask(&mut long, b'S');
    // Long enough for the watcher to have fallen asleep: it has to be woken too.
    std::thread::sleep(Duration::from_millis(300));
    for _ in 0..3 {
        let begun = Instant::now();
        long.write_all(b"L").unwrap();
        std::thread::sleep(Duration::from_millis(20));
        ask(&mut short, b'S');
        let took = begun.elapsed();
        assert!(took < Duration::from_millis(300), "answered only after {took:?}");
        long.read_exact(&mut [0]).unwrap();
    }
}

#[test]
fn sessions_begin_on_one_loop_and_leave_those_that_go_out_of_use() {
    let running = start(2, 8);
    let mut clients: Vec<UnixStream> = (0..4).map(|_| running.client(|_| {})).collect();
    clients.iter_mut().for_each(|client| ask(client, 1));
    assert_eq!(running.connections(), [4, 0]);
    let shared = &running.runtime.shared;
    until("the second loop comes into use for new ones", || {
        shared.place(Placement::Few(2));
        clients.push(running.client(|_| {}));
        running.connections()[1] > 0
    });
    // It goes out of use by itself, too, as there is nothing to do.
    shared.place(Placement::Few(1));
    until("whoever runs leaves it", || {
        clients.iter_mut().for_each(|client| ask(client, 2));
        running.connections()[1] == 0
    });
    assert_eq!(running.connections()[0], clients.len());
}

#[test]
fn a_crowded_loop_gives_connections_to_an_idle_one() {
    let running = start(2, 8);
    let stop = Arc::new(AtomicBool::new(false));
    let mut clients: Vec<UnixStream> =
        (0..4).map(|_| running.client(|_| compute_for(Duration::from_micros(300)))).collect();
    clients.iter_mut().for_each(|client| ask(client, 1));
    let threads: Vec<_> = clients
        .into_iter()
        .map(|mut client| {
            let stop = Arc::clone(&stop);
            std::thread::spawn(move || {
                while !stop.load(Ordering::Relaxed) {
                    ask(&mut client, 1);
                }
                client
            })
        })
        .collect();
    // Whether a core rests, so that the second loop would come into use by itself, depends on what else runs here.
    until("the second loop has a connection", || {
        running.runtime.shared.place(Placement::Few(2));
        running.connections()[1] > 0
    });
    stop.store(true, Ordering::Relaxed);
    let clients: Vec<UnixStream> =
        threads.into_iter().map(|thread| thread.join().unwrap()).collect();
    assert_eq!(running.connections().iter().sum::<usize>(), 4);
    drop(clients);
    until("all connections are forgotten", || running.connections() == [0, 0]);
}

#[test]
fn a_session_is_on_the_core_of_its_client_wherever_that_goes() {
    let cores = Cores::of_process().unwrap();
    let running = start(cores.count(), 8);
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let mut client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    let (served, _) = listener.accept().unwrap();
    let core = Arc::new(AtomicUsize::new(usize::MAX));
    let seen = Arc::clone(&core);
    let handle = move |_| seen.store(sched_getcpu(), Ordering::Relaxed);
    running.runtime.spawn(served, |socket| answer(socket, handle)).unwrap();
    for index in (0..cores.count()).chain([0]) {
        cores.bind(index);
        until("the session is where its client is", || {
            ask(&mut client, 1);
            cores.find(core.load(Ordering::Relaxed)) == Some(index)
        });
    }
    cores.free(None);
    drop(client);
    until("the connection is forgotten", || running.connections().iter().all(|&count| count == 0));
}

#[test]
fn more_is_written_than_the_client_takes_at_once() {
    const BYTES: usize = 8 << 20;
    let running = start(1, 4);
    let (mut client, served) = UnixStream::pair().unwrap();
    let written = running.runtime.spawn(served, async |mut socket| {
        let mut round = [0];
        while let Ok(1) = socket.read(&mut round).await {
            let text = vec![round[0]; BYTES];
            if socket.write_all(&text).await.is_err() {
                return;
            }
        }
    });
    written.unwrap();
    for round in 0..3 {
        client.write_all(&[round]).unwrap();
        let mut text = vec![0xFF; BYTES];
        client.read_exact(&mut text).unwrap();
        assert!(text.iter().all(|&byte| byte == round));
    }
}

#[test]
fn wake_ups_from_other_threads_are_never_lost() {
    let running = start(2, 8);
    let mut clients = Vec::new();
    for _ in 0..4 {
        let (client, served) = UnixStream::pair().unwrap();
        let spawned = running.runtime.spawn(served, async |mut socket| {
            let mut byte = [0];
            while let Ok(1) = socket.read(&mut byte).await {
                for _ in 0..100 {
                    let (told, mut news) = tokio::sync::mpsc::unbounded_channel();
                    std::thread::scope(|scope| scope.spawn(move || told.send(())).join().ok());
                    news.recv().await;
                    let (told, mut news) = tokio::sync::mpsc::unbounded_channel();
                    std::thread::spawn(move || told.send(()));
                    news.recv().await;
                }
                if socket.write_all(&byte).await.is_err() {
                    return;
                }
            }
        });
        spawned.unwrap();
        clients.push(client);
    }
    for round in 0..5 {
        for client in &mut clients {
            client.write_all(&[round]).unwrap();
        }
        for client in &mut clients {
            client.read_exact(&mut [0]).unwrap();
        }
    }
}

/// Has the loop compute for a moment, so that what others ask meanwhile it finds at once.
fn piled_up(first: &mut UnixStream, ask: impl FnOnce()) {
    first.write_all(b"M").unwrap();
    std::thread::sleep(Duration::from_millis(1));
    ask();
    first.read_exact(&mut [0]).unwrap();
}

#[test]
fn an_answer_does_not_wait_for_who_waits_or_computes() {
    let running = start(1, 16);
    let environment = Environment {
        device: Arc::new(FaultyDevice::new(1)),
        clock: Arc::new(SystemClock::new()),
        scheduler: Arc::new(Workers::new(1)),
        seed: 1,
    };
    let cell = Arc::new(WaitCell::new());
    let goes_on = Arc::new(AtomicBool::new(false));
    let handle = || {
        let (environment, cell) = (environment.clone(), Arc::clone(&cell));
        let goes_on = Arc::clone(&goes_on);
        move |byte| match byte {
            // Not so long that the loop is taken away.
            b'M' => compute_for(Duration::from_micros(1500)),
            b'W' => {
                while !goes_on.load(Ordering::Acquire) {
                    environment.wait(WaitEvent::Tuple, &cell, None, None);
                }
            }
            b'L' => {
                while !goes_on.load(Ordering::Acquire) {
                    std::hint::spin_loop();
                }
            }
            _ => {}
        }
    };
    let mut clients: Vec<UnixStream> = (0..4).map(|_| running.client(handle())).collect();
    for client in &mut clients {
        client.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        ask(client, 1);
    }
    let [first, short, slow, other] = clients.get_disjoint_mut([0, 1, 2, 3]).unwrap();
    for round in 0..20 {
        goes_on.store(false, Ordering::Release);
        let kind = if round % 2 == 0 { b'W' } else { b'L' };
        piled_up(first, || {
            short.write_all(b"s").unwrap();
            slow.write_all(&[kind]).unwrap();
            other.write_all(b"o").unwrap();
        });
        // Were they to wait for it, nobody would ever answer them.
        short.read_exact(&mut [0]).unwrap();
        other.read_exact(&mut [0]).unwrap();
        goes_on.store(true, Ordering::Release);
        environment.wake(&cell);
        slow.read_exact(&mut [0]).unwrap();
    }
}

/// An answer of a session: so many bytes, which tell its place among the others.
fn answer_of(session: u8, place: usize, bytes: usize) -> Vec<u8> {
    (0..bytes).map(|at| session ^ (place as u8) ^ (at as u8)).collect()
}

#[test]
fn answers_of_all_sizes_arrive_whole_and_in_order() {
    const SESSIONS: u8 = 6;
    const ROUNDS: usize = 20;
    // Together more than a socket holds, so that some are taken in parts.
    const REQUESTS: usize = 150;
    let size = |place: usize| 1 + (place * 977) % 6000;
    let running = start(1, 8);
    let clients: Vec<UnixStream> = (0..SESSIONS)
        .map(|session| {
            let (client, served) = UnixStream::pair().unwrap();
            let spawned = running.runtime.spawn(served, async move |mut socket| {
                let mut requests = [0; 64];
                let mut place = 0;
                while let Ok(count @ 1..) = socket.read(&mut requests).await {
                    for _ in 0..count {
                        let answer = answer_of(session, place, size(place));
                        place += 1;
                        if socket.write_all(&answer).await.is_err() {
                            return;
                        }
                    }
                }
            });
            spawned.unwrap();
            client
        })
        .collect();
    std::thread::scope(|scope| {
        for (session, mut client) in (0..SESSIONS).zip(clients) {
            scope.spawn(move || {
                let mut place = 0;
                for round in 0..ROUNDS {
                    // In turn one by one, and all before the first answer is read.
                    let together = if round % 2 == 0 { 1 } else { REQUESTS };
                    for _ in 0..REQUESTS / together {
                        client.write_all(&vec![b'r'; together]).unwrap();
                        for _ in 0..together {
                            let mut read = vec![0; size(place)];
                            client.read_exact(&mut read).unwrap();
                            assert!(read == answer_of(session, place, size(place)), "{place}");
                            place += 1;
                        }
                    }
                }
            });
        }
    });
    until("all connections are forgotten", || running.connections() == [0]);
}

#[test]
fn a_task_that_panics_ends_alone() {
    let running = start(1, 4);
    let mut victim = running.client(|_| panic!("as planned"));
    let mut other = running.client(|_| {});
    victim.write_all(b"x").unwrap();
    assert_eq!(victim.read(&mut [0]).unwrap(), 0, "its connection is closed");
    ask(&mut other, 1);
    until("the panicked one is forgotten", || running.connections() == [1]);
}
