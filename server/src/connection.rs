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
use std::task::{Context, Poll};
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
    /// Has the socket do by itself what settings say.
    tune: fn(&S, SocketTimes),
}

impl<S: AsyncRead + AsyncWrite + Unpin, B: Backend> Connection<S, B> {
    /// Over a socket whose start-up is done.
    pub fn new(stream: S, dialogue: Dialogue<B>, tune: fn(&S, SocketTimes)) -> Connection<S, B> {
        Connection { stream, dialogue, answered: AnswerAfter::default(), tune }
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
            match step {
                Step::Read(needed) => {
                    if self.dialogue.sends()
                        && let Err(ended) = self.send().await
                    {
                        return ended;
                    }
                    match self.receive(needed).await {
                        Ok(0) => return Ended::Closed,
                        Ok(bytes) => self.dialogue.counters.received(bytes),
                        Err(Silence::News) => {
                            self.dialogue.notifications();
                            continue;
                        }
                        Err(Silence::Lost(error)) => return Ended::Lost(error),
                        Err(Silence::Told(error)) => return self.dismiss(&error).await,
                    }
                }
                Step::Send => {
                    if let Err(ended) = self.send().await {
                        return ended;
                    }
                    if let Some(error) = self.dialogue.peer.ending()
                        && self.dialogue.is_idle()
                    {
                        return self.dismiss(&error).await;
                    }
                }
                Step::End => {
                    return match tokio::time::timeout(LAST_WORDS, self.send()).await {
                        Ok(Err(ended)) => ended,
                        Ok(Ok(())) | Err(_) => Ended::Closed,
                    };
                }
            }
            step = self.dialogue.advance();
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
        let (stream, dialogue) = (&mut self.stream, &mut self.dialogue);
        poll_fn(|context| {
            // Nothing is lost with the future: it keeps nothing between two polls.
            match pin!(stream.read_buf(&mut dialogue.input)).poll(context) {
                Poll::Ready(read) => Poll::Ready(read.map_err(Silence::Lost)),
                Poll::Pending => {
                    // First where to be woken, then whether it has already happened.
                    dialogue.peer.watch(context.waker());
                    match dialogue.peer.ending() {
                        Some(error) => Poll::Ready(Err(Silence::Told(error))),
                        None if dialogue.has_news() => Poll::Ready(Err(Silence::News)),
                        None => Poll::Pending,
                    }
                }
            }
        })
        .await
    }

    /// Sends everything there is, once it may be said.
    async fn send(&mut self) -> Result<(), Ended> {
        // Before the answer is there, so that who has it finds the socket as the setting says.
        if let Some(times) = self.dialogue.socket_times() {
            (self.tune)(&self.stream, times);
        }
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
        let mut sent = 0;
        while sent < self.dialogue.output.len() {
            // Borrowed mutably, as a session may move between workers but is never shared by them.
            let (stream, dialogue) = (&mut self.stream, &mut self.dialogue);
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
                    sent += bytes;
                    self.dialogue.counters.sent(bytes);
                }
                Err(error) => return Err(Ended::Lost(error)),
            }
        }
        // Encrypted streams keep bytes back until they are told.
        poll_fn(|context: &mut Context<'_>| Pin::new(&mut self.stream).poll_flush(context))
            .await
            .map_err(Ended::Lost)?;
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

/// Why nothing was read.
enum Silence {
    /// There is something to tell.
    News,
    Lost(io::Error),
    Told(SqlError),
}
