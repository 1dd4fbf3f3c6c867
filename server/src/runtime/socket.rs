//! A client's socket on an event loop.

use super::Shared;
use super::gather;
use super::prompt::Prompt;
use super::task::{Link, NOWHERE};
use crate::sync::locked;
use socket2::Socket as SystemSocket;
use std::io::{self, ErrorKind};
use std::net::Shutdown;
use std::os::fd::{AsFd, BorrowedFd};
use std::pin::Pin;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Weak};
use std::task::{Context, Poll};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// Requests between two looks at the core that they arrive at.
const FOLLOWED_EVERY: u32 = 8;

/// The socket. Only the task that it was spawned with is woken by it, so only that one may read and write.
#[derive(Debug)]
pub struct Socket {
    socket: Arc<SystemSocket>,
    link: Arc<Link>,
    shared: Arc<Shared>,
    /// Whether the client has not taken all of the last write.
    full: bool,
    /// Whether it is known where the client's packets arrive.
    flow: bool,
    /// Whether something has been written since the last read: what comes next answers it.
    answered: bool,
    /// Requests that followed an answer, since the last look at where they arrive.
    requests: u32,
    /// Whether the next request is looked for right behind an answer.
    prompt: Prompt,
}

impl Socket {
    /// A connection of which it is known where its packets arrive, or is not.
    pub(super) fn new(
        socket: SystemSocket,
        flow: bool,
        link: Arc<Link>,
        shared: Arc<Shared>,
    ) -> Socket {
        if flow {
            shared.flows.fetch_add(1, Ordering::Relaxed);
        }
        let prompt = Prompt::default();
        let socket = Arc::new(socket);
        Socket { socket, link, shared, full: false, flow, answered: false, requests: 0, prompt }
    }

    /// A way to send while the task runs and the socket is out of reach.
    #[must_use]
    pub fn aside(&self) -> Aside {
        Aside {
            socket: Arc::downgrade(&self.socket),
            link: Arc::clone(&self.link),
            shared: Arc::clone(&self.shared),
        }
    }

    /// Has the task go where the client is. Called for what a client sends once it has an answer: who sends on and on is
    /// better served from another core.
    fn follow(&mut self) {
        self.requests += 1;
        if self.requests < FOLLOWED_EVERY {
            return;
        }
        self.requests = 0;
        if self.flow
            && self.shared.follows()
            && let Some(index) = self.shared.core_of(&self.socket)
            && index != self.link.home.load(Ordering::Relaxed)
        {
            self.link.follow_to(index);
        }
    }

    /// Sends what of the socket's waits to be sent; false if the client has not taken all of it.
    fn settle(&mut self) -> io::Result<bool> {
        let outbox = self.link.outbox.load(Ordering::Acquire);
        if outbox != NOWHERE {
            self.shared.loops[outbox].outbox().send();
        }
        if self.link.owes.load(Ordering::Acquire) { self.pay() } else { Ok(true) }
    }

    /// Sends what it owes, as far as the client takes it.
    #[cold]
    fn pay(&mut self) -> io::Result<bool> {
        let link = Arc::clone(&self.link);
        let mut debt = locked(&link.debt);
        while !debt.is_empty() {
            match self.socket.send(&debt) {
                Ok(sent) => drop(debt.drain(..sent)),
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    self.watch_writable(true)?;
                    return Ok(false);
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        *debt = Vec::new();
        link.owes.store(false, Ordering::Relaxed);
        if self.full {
            self.watch_writable(false)?;
        }
        Ok(true)
    }

    /// Whether the client's readiness to take more is watched. Only while it matters: a Unix socket tells of each
    /// message that its client reads.
    fn watch_writable(&mut self, writable: bool) -> io::Result<()> {
        let mut place = locked(&self.link.place);
        place.writable = writable;
        self.full = writable;
        let Some(fd) = place.fd else { return Ok(()) };
        self.shared.loops[place.index].watch_for(fd, place.token, place.interest())
    }
}

/// Sends beside a [`Socket`], from within its task's run. What the client does not take is the socket's debt.
#[derive(Debug)]
pub struct Aside {
    socket: Weak<SystemSocket>,
    link: Arc<Link>,
    shared: Arc<Shared>,
}

impl Aside {
    /// Whether the client has taken all so far.
    #[must_use]
    pub fn is_ready(&self) -> bool {
        !self.link.owes.load(Ordering::Acquire)
    }

    /// Sends `bytes`, behind what waits to be sent. A socket that is closed or broken takes them nowhere.
    pub fn send(&self, bytes: &[u8]) {
        let Some(socket) = self.socket.upgrade() else { return };
        let outbox = self.link.outbox.load(Ordering::Acquire);
        if outbox != NOWHERE {
            self.shared.loops[outbox].outbox().send();
        }
        let mut left = bytes;
        while !left.is_empty() {
            if !self.is_ready() {
                return self.link.owe(left);
            }
            match socket.send(left) {
                Ok(sent) => left = &left[sent..],
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => return self.link.owe(left),
                // Whoever writes next finds it broken, too.
                Err(_) => return,
            }
        }
    }
}

impl AsFd for Socket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

impl Drop for Socket {
    fn drop(&mut self) {
        // What a client does not take is not waited for: that has been done, or it is lost.
        let _ = self.settle();
        if self.flow {
            self.shared.flows.fetch_sub(1, Ordering::Relaxed);
        }
        // The system stops watching what is closed.
        locked(&self.link.place).fd = None;
    }
}

impl AsyncRead for Socket {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let socket = self.get_mut();
        if socket.link.owes.load(Ordering::Acquire) {
            // Where the client does not take it yet, it may still go on talking.
            socket.pay()?;
        }
        let readable = socket.link.readable.swap(false, Ordering::Acquire);
        if !readable && !socket.link.closed.load(Ordering::Acquire) {
            if socket.prompt.looks() {
                // The task runs again behind those that are ready, and reads then, told or not.
                socket.link.readable.store(true, Ordering::Release);
                context.waker().wake_by_ref();
            }
            return Poll::Pending;
        }
        // SAFETY: nothing is written through it but by the system, which initialises what it writes.
        let room = unsafe { buffer.unfilled_mut() };
        let size = room.len();
        let bytes = loop {
            match socket.socket.recv(room) {
                Ok(bytes) => break bytes,
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    socket.prompt.found(false);
                    return Poll::Pending;
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Poll::Ready(Err(error)),
            }
        };
        socket.prompt.found(true);
        // Less than there was room for was all there is; what comes later is told of.
        if bytes == size {
            socket.link.readable.store(true, Ordering::Release);
        }
        if std::mem::take(&mut socket.answered) {
            socket.follow();
        }
        // SAFETY: the system has written so many bytes to the front of the room.
        unsafe { buffer.assume_init(bytes) };
        buffer.advance(bytes);
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Socket {
    fn poll_write(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let socket = self.get_mut();
        if !socket.settle()? {
            return Poll::Pending;
        }
        if !socket.full && gather(&socket.socket, &socket.link, context.waker(), bytes) {
            socket.answered = true;
            return Poll::Ready(Ok(bytes.len()));
        }
        loop {
            match socket.socket.send(bytes) {
                Ok(sent) => {
                    socket.answered = true;
                    socket.prompt.answered();
                    if socket.full {
                        socket.watch_writable(false)?;
                    }
                    return Poll::Ready(Ok(sent));
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    // Watched anew it says at once if there is room by now.
                    socket.watch_writable(true)?;
                    return Poll::Pending;
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Poll::Ready(Err(error)),
            }
        }
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        let socket = self.get_mut();
        if !socket.settle()? {
            return Poll::Pending;
        }
        Poll::Ready(socket.socket.shutdown(Shutdown::Write))
    }
}
