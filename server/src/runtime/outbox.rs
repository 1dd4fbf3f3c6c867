//! Answers that leave together: those of the sessions that one loop runs between two looks at its sockets.
//!
//! An answer wakes its client, and the system likes to hand the core to who has just been woken. Sent one by one, with
//! others waiting for the loop, each answer costs a switch to its client and one back. Gathered, and handed to the system
//! in one call (`submission.rs`), they cost the loop one of each, and when it is back all those clients may have asked
//! again. Measured in `docs/design/0005-runtime.md`.
//!
//! What it promises:
//!
//! - **An answer waits only for what is ready to run anyhow.** The last of a loop's sessions that are ready sends for
//!   all, and one that is alone sends at once. Once something has waited for [`PATIENCE`] no other task is run before it
//!   is sent, nor before is a task that took longer than that the last time. A task that waits inside the engine, or
//!   computes for so long that its loop is taken from it, has what was gathered sent first.
//! - **A socket's bytes stay in order.** What it sends while something of its own waits, sends that first. What the
//!   system has not taken of an answer is the socket's debt, which it pays before it sends anything else.
//! - **Nothing is said too early**: only what may leave is gathered.

use super::submission::{Submission, WRITES_MAX, Write};
use super::task::{Link, NOWHERE};
use std::ops::Range;
use std::os::fd::RawFd;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::Waker;
use std::time::Duration;

/// How long an answer may wait before another task is run, beyond the one that is running.
pub(super) const PATIENCE: Duration = Duration::from_micros(100);
/// Answers longer than this leave alone: what a copy of them costs is more than a switch.
const ANSWER_MAX: usize = 4096;

/// A loop's outbox.
#[derive(Debug)]
pub(super) struct Outbox {
    /// The turn of driving the loop in which answers are gathered.
    turn: u64,
    /// Which loop's.
    index: usize,
    answers: Vec<Answer>,
    bytes: Vec<u8>,
    /// None where the system has none: then nothing is gathered.
    submission: Option<Submission>,
}

/// An answer that waits.
#[derive(Debug)]
struct Answer {
    socket: RawFd,
    link: Arc<Link>,
    waker: Waker,
    range: Range<usize>,
}

impl Outbox {
    /// Of loop `index`, in turn 0.
    pub fn new(index: usize) -> Outbox {
        let submission = Submission::new()
            .inspect_err(|error| tracing::debug!(%error, "answers leave one by one"))
            .ok();
        Outbox { turn: 0, index, answers: Vec::new(), bytes: Vec::new(), submission }
    }

    /// Takes an answer of a task that is run in `turn`; false if it has to be sent by itself.
    pub fn take(
        &mut self,
        turn: u64,
        socket: RawFd,
        link: &Arc<Link>,
        waker: &Waker,
        answer: &[u8],
    ) -> bool {
        if self.turn != turn || self.submission.is_none() || answer.len() > ANSWER_MAX {
            return false;
        }
        if self.answers.len() == WRITES_MAX {
            self.send();
        }
        let begins = self.bytes.len();
        self.bytes.extend_from_slice(answer);
        link.outbox.store(self.index, Ordering::Relaxed);
        self.answers.push(Answer {
            socket,
            link: Arc::clone(link),
            waker: waker.clone(),
            range: begins..self.bytes.len(),
        });
        true
    }

    /// Sends what waits.
    pub fn send(&mut self) {
        let Outbox { answers, bytes, submission: Some(submission), .. } = self else { return };
        if answers.is_empty() {
            return;
        }
        let writes = answers
            .iter()
            .map(|answer| Write { socket: answer.socket, bytes: &bytes[answer.range.clone()] });
        submission.write(writes, |index, written| {
            let answer = &answers[index];
            let left = &bytes[answer.range.start + written..answer.range.end];
            if !left.is_empty() {
                answer.link.owe(left);
            }
        });
        for answer in answers.drain(..) {
            // Release: who takes the flag finds the debt.
            answer.link.outbox.store(NOWHERE, Ordering::Release);
            if answer.link.owes.load(Ordering::Relaxed) {
                answer.waker.wake();
            }
        }
        bytes.clear();
    }

    /// Sends what waits, and gathers in another turn.
    pub fn turn_to(&mut self, turn: u64) {
        self.send();
        self.turn = turn;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use socket2::Socket;
    use std::io::{Read, Write as _};
    use std::os::fd::AsRawFd;
    use std::os::unix::net::UnixStream;
    use std::sync::atomic::AtomicUsize;
    use std::task::Wake;

    #[derive(Default)]
    struct Woken(AtomicUsize);

    impl Wake for Woken {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// A session's side and its client's.
    struct Session {
        socket: Socket,
        link: Arc<Link>,
        woken: Arc<Woken>,
        client: UnixStream,
    }

    impl Session {
        fn new() -> Session {
            let (client, served) = UnixStream::pair().unwrap();
            served.set_nonblocking(true).unwrap();
            client.set_nonblocking(true).unwrap();
            let socket = Socket::from(served);
            let link = Arc::new(Link::new(3, &socket));
            Session { socket, link, woken: Arc::default(), client }
        }

        fn answer(&self, outbox: &mut Outbox, turn: u64, answer: &[u8]) -> bool {
            let waker = Waker::from(Arc::clone(&self.woken));
            outbox.take(turn, self.socket.as_raw_fd(), &self.link, &waker, answer)
        }

        fn waits(&self) -> bool {
            self.link.outbox.load(Ordering::Relaxed) == 3
        }

        fn received(&mut self) -> Vec<u8> {
            let mut received = Vec::new();
            // It ends with what is there, as nothing is waited for.
            let _ = self.client.read_to_end(&mut received);
            received
        }
    }

    #[test]
    fn answers_wait_and_leave_together() {
        let mut outbox = Outbox::new(3);
        let mut sessions: Vec<Session> = (0..WRITES_MAX + 1).map(|_| Session::new()).collect();
        for (index, session) in sessions.iter().enumerate() {
            assert!(session.answer(&mut outbox, 0, &[index as u8; 3]));
        }
        // There is room for so many; the next has sent them.
        for (index, session) in sessions.iter_mut().enumerate() {
            let is_last = index == WRITES_MAX;
            assert_eq!(session.waits(), is_last);
            assert_eq!(session.received(), if is_last { vec![] } else { vec![index as u8; 3] });
        }
        outbox.send();
        let last = &mut sessions[WRITES_MAX];
        assert_eq!((last.waits(), last.received()), (false, vec![WRITES_MAX as u8; 3]));
        outbox.send();
        assert!(sessions.iter_mut().all(|session| session.received().is_empty()));
        assert!(sessions.iter().all(|session| session.woken.0.load(Ordering::Relaxed) == 0));
    }

    #[test]
    fn a_turn_that_is_over_and_long_answers_are_not_gathered() {
        let mut outbox = Outbox::new(3);
        let mut session = Session::new();
        assert!(!session.answer(&mut outbox, 0, &[0; ANSWER_MAX + 1]));
        assert!(session.answer(&mut outbox, 0, &[1; ANSWER_MAX]));
        outbox.turn_to(1);
        assert_eq!(session.received(), [1; ANSWER_MAX], "sent with the turn's end");
        assert!(!session.answer(&mut outbox, 0, b"late"));
        assert!(session.answer(&mut outbox, 1, b"new"));
    }

    #[test]
    fn what_the_client_does_not_take_is_owed() {
        let mut outbox = Outbox::new(3);
        let (mut full, mut free) = (Session::new(), Session::new());
        let mut filled = 0;
        while let Ok(bytes) = (&full.socket).write(&[9; 1000]) {
            filled += bytes;
        }
        assert!(full.answer(&mut outbox, 0, b"owed"));
        assert!(free.answer(&mut outbox, 0, b"sent"));
        outbox.send();
        assert_eq!(free.received(), b"sent");
        assert!(!full.waits());
        assert!(full.link.owes.load(Ordering::Relaxed));
        assert_eq!(*crate::sync::locked(&full.link.debt), b"owed");
        assert_eq!(full.woken.0.load(Ordering::Relaxed), 1, "its task is told");
        assert_eq!(free.woken.0.load(Ordering::Relaxed), 0);
        assert_eq!(full.received().len(), filled);
    }
}
