//! One connection: the socket's side of the dialogue.
//!
//! The task reads, lets the dialogue work through what has come, and writes what it answers. Statements run inline, on
//! the worker that read them. Nothing leaves before its time: the task (not the worker) waits until the newest commit
//! that the buffered bytes tell of is durable and visible, and meanwhile the worker serves others.
//!
//! Writing waits for a client that does not read, so a result of any size takes one buffer. While the task waits for the
//! client it can be asked to end (57P01), and the client's silence can end it (25P03, 57P05).
//!
//! System calls: a read that fills less than the buffer tells the runtime that the socket is empty, so the next wait
//! costs no second read; a request and its answer are one read, one write and one wake-up.

use crate::backend::Backend;
use crate::dialogue::{Dialogue, Step};
use crate::respond;
use crate::runtime;
use sql::breakdown::{self, Class};
use sql::environment::WaitEvent;
use sql::session::AnswerAfter;
use sql::{SocketTimes, SqlError};
use std::future::{Future, poll_fn};
use std::io;
use std::pin::{Pin, pin};
use std::sync::atomic::Ordering;
use std::task::{Context, Poll, Waker, ready};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite};

/// How long a client that is told its session's end may take to take the message.
const LAST_WORDS: Duration = Duration::from_secs(1);

/// How a connection ended.
#[derive(Debug)]
pub enum Ended {
    /// The client said goodbye, or was told so.
    Closed,
    /// The client has gone without a word, or does not take its answers.
    Lost(io::Error),
    /// The instance has halted: what is in the output buffer must not be said.
    Halted(SqlError),
}

/// A socket and the dialogue over it.
pub struct Connection<S, B> {
    stream: S,
    dialogue: Dialogue<B>,
    /// Answers up to here may leave.
    answered: AnswerAfter,
    /// So many bytes of the output have left.
    sent: usize,
    /// Whom others wake where they want something of the session.
    watches: Option<Waker>,
    /// Has the socket do by itself what settings say.
    tune: fn(&S, SocketTimes),
}

impl<S: AsyncRead + AsyncWrite + Unpin, B: Backend> Connection<S, B> {
    /// Over a socket whose start-up is done.
    pub fn new(stream: S, dialogue: Dialogue<B>, tune: fn(&S, SocketTimes)) -> Connection<S, B> {
        Connection {
            stream,
            dialogue,
            answered: AnswerAfter::default(),
            sent: 0,
            watches: None,
            tune,
        }
    }

    /// Talks until one side ends it, and takes leave: under TLS a client that is not told so may think that it was cut off.
    /// Gives the dialogue back, too.
    pub async fn run(mut self) -> (Ended, Dialogue<B>) {
        let ended = self.talk().await;
        if matches!(ended, Ended::Closed) {
            let stream = &mut self.stream;
            let mut leave = pin!(poll_fn(|context| Pin::new(&mut *stream).poll_shutdown(context)));
            let waits = poll_fn(|context| Poll::Ready(leave.as_mut().poll(context).is_pending()));
            // A client that has gone or does not listen is not waited for long.
            if waits.await {
                let _ = tokio::time::timeout(LAST_WORDS, leave).await;
            }
        }
        (ended, self.dialogue)
    }

    async fn talk(&mut self) -> Ended {
        let mut step = self.dialogue.open();
        loop {
            let turn = poll_fn(|context| self.exchange(&mut step, context)).await;
            let received = match (turn, step) {
                (Turn::Received(received), _) => Some(received),
                (Turn::Lost(error), _) => return Ended::Lost(error),
                (Turn::Sent, _) => None,
                (Turn::Waits, Step::Read(needed)) => {
                    if self.dialogue.sends()
                        && let Err(ended) = self.send().await
                    {
                        return ended;
                    }
                    Some(self.receive(needed).await)
                }
                (Turn::Waits, Step::Send) => {
                    if let Err(ended) = self.send().await {
                        return ended;
                    }
                    None
                }
                (Turn::Waits, Step::End) => {
                    return match tokio::time::timeout(LAST_WORDS, self.send()).await {
                        Ok(Err(ended)) => ended,
                        Ok(Ok(())) | Err(_) => Ended::Closed,
                    };
                }
            };
            match received {
                Some(Ok(0)) => return Ended::Closed,
                Some(Ok(bytes)) => self.dialogue.counters.received(bytes),
                Some(Err(Silence::News)) => {
                    self.dialogue.notifications();
                    continue;
                }
                Some(Err(Silence::Lost(error))) => return Ended::Lost(error),
                Some(Err(Silence::Told(error))) => return self.dismiss(&error).await,
                None => {
                    if let Some(error) = self.dialogue.peer.ending()
                        && self.dialogue.is_idle()
                    {
                        return self.dismiss(&error).await;
                    }
                }
            }
            step = self.dialogue.advance();
        }
    }

    /// Reads, has the dialogue work and sends for as long as nothing but the client's next message has to be waited for: then no
    /// other future stands between the task and its socket.
    fn exchange(&mut self, step: &mut Step, context: &mut Context<'_>) -> Poll<Turn> {
        loop {
            match *step {
                Step::Read(needed) if !self.dialogue.sends() => {
                    if self.dialogue.patience().is_some() {
                        return Poll::Ready(Turn::Waits);
                    }
                    self.dialogue.make_room(needed);
                    match ready!(self.poll_read(context)) {
                        Ok(bytes) if bytes > 0 => self.dialogue.counters.received(bytes),
                        received => return Poll::Ready(Turn::Received(received)),
                    }
                }
                Step::Send => {
                    match self.send_at_once(context) {
                        Ok(true) => {}
                        Ok(false) => return Poll::Ready(Turn::Waits),
                        Err(error) => return Poll::Ready(Turn::Lost(error)),
                    }
                    if self.dialogue.peer.ending().is_some() {
                        return Poll::Ready(Turn::Sent);
                    }
                }
                Step::Read(_) | Step::End => return Poll::Ready(Turn::Waits),
            }
            *step = self.dialogue.advance();
        }
    }

    /// Sends what there is, if that is done without waiting for anything and nobody asks what it takes; false if some is left to be
    /// sent.
    fn send_at_once(&mut self, context: &mut Context<'_>) -> io::Result<bool> {
        self.tune_socket();
        let backend = self.dialogue.backend();
        if backend.answer_after() != self.answered || backend.measures() {
            return Ok(false);
        }
        if !self.dialogue.output.is_empty() {
            let write = Pin::new(&mut self.stream).poll_write(context, &self.dialogue.output);
            let Poll::Ready(bytes) = write? else { return Ok(false) };
            self.sent = bytes;
            self.dialogue.counters.sent(bytes);
        }
        if self.sent < self.dialogue.output.len()
            || Pin::new(&mut self.stream).poll_flush(context)?.is_pending()
        {
            return Ok(false);
        }
        self.sent = 0;
        self.dialogue.sent();
        Ok(true)
    }

    /// Before an answer is there, so that who has it finds the socket as the setting says.
    fn tune_socket(&mut self) {
        if let Some(times) = self.dialogue.socket_times() {
            (self.tune)(&self.stream, times);
        }
    }

    /// Tells the client why the session ends.
    async fn dismiss(&mut self, error: &SqlError) -> Ended {
        respond::report(&mut self.dialogue.output, error);
        self.dialogue.log(error);
        match tokio::time::timeout(LAST_WORDS, self.send()).await {
            Ok(Err(ended)) => ended,
            Ok(Ok(())) | Err(_) => Ended::Closed,
        }
    }

    async fn receive(&mut self, needed: usize) -> Result<usize, Silence> {
        self.dialogue.make_room(needed);
        match self.dialogue.patience() {
            None => self.read().await,
            Some((limit_ms, error)) => {
                let limit = Duration::from_millis(u64::from(limit_ms));
                match tokio::time::timeout(limit, self.read()).await {
                    Ok(read) => read,
                    Err(_) => Err(Silence::Told(error)),
                }
            }
        }
    }

    async fn read(&mut self) -> Result<usize, Silence> {
        poll_fn(|context| self.poll_read(context)).await
    }

    fn poll_read(&mut self, context: &mut Context<'_>) -> Poll<Result<usize, Silence>> {
        let (stream, dialogue) = (&mut self.stream, &mut self.dialogue);
        // Nothing is lost with the future: it keeps nothing between two polls.
        let read = pin!(stream.read_buf(&mut dialogue.input)).poll(context);
        match read {
            Poll::Ready(read) => Poll::Ready(read.map_err(Silence::Lost)),
            Poll::Pending => {
                // First where to be woken, then whether it has already happened.
                self.watch(context.waker());
                let dialogue = &self.dialogue;
                match dialogue.peer.ending() {
                    Some(error) => Poll::Ready(Err(Silence::Told(error))),
                    None if dialogue.has_news() => Poll::Ready(Err(Silence::News)),
                    None => Poll::Pending,
                }
            }
        }
    }

    /// Has others wake `waker`, which is almost always the one that they wake anyhow.
    fn watch(&mut self, waker: &Waker) {
        if !self.watches.as_ref().is_some_and(|known| known.will_wake(waker)) {
            self.dialogue.peer.watch(waker);
            self.watches = Some(waker.clone());
        }
    }

    /// Sends everything there is, once it may be said.
    async fn send(&mut self) -> Result<(), Ended> {
        self.tune_socket();
        let newest = self.dialogue.backend().answer_after();
        let mut begun = self.dialogue.backend().measures().then(breakdown::now);
        if newest != self.answered {
            let dialogue = &mut self.dialogue;
            if runtime::alone() {
                dialogue.backend().help_answer(newest);
            }
            poll_fn(move |context| {
                let backend = dialogue.backend();
                let answer = backend.poll_answer(newest, context.waker());
                let event = if answer.is_pending() { WaitEvent::WalSync as u32 } else { 0 };
                backend.wait().event.store(event, Ordering::Relaxed);
                answer
            })
            .await
            .map_err(Ended::Halted)?;
            self.answered = newest;
            self.spent(Class::Logging, &mut begun);
        }
        while self.sent < self.dialogue.output.len() {
            // Borrowed mutably, as a session may move between workers but is never shared by them.
            let (stream, dialogue, sent) = (&mut self.stream, &mut self.dialogue, self.sent);
            let written = poll_fn(move |context| {
                let write = Pin::new(&mut *stream).poll_write(context, &dialogue.output[sent..]);
                if write.is_pending() {
                    dialogue.peer.watch(context.waker());
                    if dialogue.peer.ending().is_some() {
                        return Poll::Ready(Err(io::ErrorKind::TimedOut.into()));
                    }
                }
                write
            });
            match written.await {
                Ok(0) => return Err(Ended::Lost(io::ErrorKind::WriteZero.into())),
                Ok(bytes) => {
                    self.sent += bytes;
                    self.dialogue.counters.sent(bytes);
                }
                Err(error) => return Err(Ended::Lost(error)),
            }
        }
        // Encrypted streams keep bytes back until they are told.
        poll_fn(|context: &mut Context<'_>| Pin::new(&mut self.stream).poll_flush(context))
            .await
            .map_err(Ended::Lost)?;
        self.sent = 0;
        self.dialogue.sent();
        self.spent(Class::Protocol, &mut begun);
        Ok(())
    }

    /// What an answer has taken since `begun`, where that is measured: it may have moved to another thread meanwhile.
    #[inline]
    fn spent(&mut self, class: Class, begun: &mut Option<u64>) {
        if let Some(begun) = begun {
            let now = breakdown::now();
            self.dialogue.spend(class, now.saturating_sub(*begun));
            *begun = now;
        }
    }
}

/// How far a connection has come without waiting.
enum Turn {
    /// What the step says has still to be done, or the rest of it, and it may take a while.
    Waits,
    /// Nothing, or why nothing, has been read.
    Received(Result<usize, Silence>),
    /// Everything has been sent, and somebody has asked the session to end.
    Sent,
    Lost(io::Error),
}

/// Why nothing was read.
enum Silence {
    /// There is something to tell.
    News,
    Lost(io::Error),
    Told(SqlError),
}
