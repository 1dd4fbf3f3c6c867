//! Several writes to sockets in one system call: Linux' `io_submit` (man 2 io_submit).
//!
//! It takes sockets like files, and writes to one within the call, as `write` does. So the writes of a batch follow one
//! another, and no client that one of them wakes has the core before the last. io_uring does the same, but containers do
//! not allow it by default; this is older, and allowed.
//!
//! A client that has gone makes such a write raise SIGPIPE, unlike `send`; Rust programs ignore that signal from their start.

use std::io;
use std::os::fd::RawFd;
use std::ptr;

/// The most writes of one call.
pub(super) const WRITES_MAX: usize = 64;
/// The command that writes, which for a socket is `write`.
const COMMAND_PWRITE: u16 = 1;

/// `struct iocb` of `linux/aio_abi.h`, with little-endian order of bytes.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
struct ControlBlock {
    data: u64,
    key: u32,
    operation_flags: u32,
    command: u16,
    priority: i16,
    file: u32,
    buffer: u64,
    bytes: u64,
    offset: i64,
    reserved: u64,
    flags: u32,
    event_file: u32,
}

/// `struct io_event`.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
struct Event {
    data: u64,
    block: u64,
    result: i64,
    second_result: i64,
}

/// A write to a socket that does not block.
#[derive(Clone, Copy, Debug)]
pub(super) struct Write<'a> {
    /// The socket.
    pub socket: RawFd,
    /// What to write.
    pub bytes: &'a [u8],
}

/// What the system needs for it. Between two calls nothing is under way.
#[derive(Debug)]
pub(super) struct Submission {
    context: libc::c_ulong,
    blocks: Vec<ControlBlock>,
    events: Vec<Event>,
}

impl Submission {
    /// # Errors
    /// The system does not know or allow it, or has given away all that it has (`fs.aio-max-nr`).
    pub fn new() -> io::Result<Submission> {
        if cfg!(target_endian = "big") {
            return Err(io::ErrorKind::Unsupported.into());
        }
        let mut context: libc::c_ulong = 0;
        // SAFETY: the system writes the name of what it has made, and nothing else.
        let made =
            unsafe { libc::syscall(libc::SYS_io_setup, WRITES_MAX, ptr::from_mut(&mut context)) };
        if made < 0 {
            return Err(io::Error::last_os_error());
        }
        let blocks = Vec::with_capacity(WRITES_MAX);
        Ok(Submission { context, blocks, events: vec![Event::default(); WRITES_MAX] })
    }

    /// Makes the writes, at most [`WRITES_MAX`], in this order, and tells of each how many bytes it has written. None
    /// were where it failed: what is tried again says why.
    pub fn write<'a>(
        &mut self,
        writes: impl Iterator<Item = Write<'a>>,
        mut written: impl FnMut(usize, usize),
    ) {
        self.blocks.clear();
        self.blocks.extend(writes.take(WRITES_MAX).enumerate().map(|(index, write)| {
            ControlBlock {
                data: index as u64,
                command: COMMAND_PWRITE,
                file: write.socket.cast_unsigned(),
                buffer: write.bytes.as_ptr().expose_provenance() as u64,
                bytes: write.bytes.len() as u64,
                ..ControlBlock::default()
            }
        }));
        let mut pointers = [ptr::null_mut::<ControlBlock>(); WRITES_MAX];
        for (pointer, block) in pointers.iter_mut().zip(&mut self.blocks) {
            *pointer = ptr::from_mut(block);
        }
        let mut counts = [0; WRITES_MAX];
        // SAFETY: the blocks and the bytes that they name outlive the call. A write to a socket that does not block is over
        // when the call is; were one not, the next call would wait for it.
        let taken = unsafe {
            libc::syscall(
                libc::SYS_io_submit,
                self.context,
                self.blocks.len(),
                pointers.as_mut_ptr(),
            )
        };
        let mut under_way = usize::try_from(taken).unwrap_or(0);
        while under_way > 0 {
            // SAFETY: there is room for as many events as are asked for.
            let ended = unsafe {
                libc::syscall(
                    libc::SYS_io_getevents,
                    self.context,
                    under_way,
                    under_way,
                    self.events.as_mut_ptr(),
                    ptr::null::<libc::timespec>(),
                )
            };
            let Ok(ended) = usize::try_from(ended) else {
                let error = io::Error::last_os_error();
                if error.kind() == io::ErrorKind::Interrupted {
                    continue;
                }
                // What the system still reads may not be given up.
                panic!("could not wait for writes to sockets: {error}");
            };
            for event in &self.events[..ended] {
                counts[event.data as usize] = usize::try_from(event.result).unwrap_or(0);
            }
            under_way -= ended;
        }
        for (index, count) in counts[..self.blocks.len()].iter().enumerate() {
            written(index, *count);
        }
    }
}

impl Drop for Submission {
    fn drop(&mut self) {
        // SAFETY: nothing is under way, and the name is not used again.
        unsafe { libc::syscall(libc::SYS_io_destroy, self.context) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;
    use std::os::fd::AsRawFd;
    use std::os::unix::net::UnixStream;

    fn written(submission: &mut Submission, writes: &[Write<'_>]) -> Vec<usize> {
        let mut counts = vec![usize::MAX; writes.len()];
        submission.write(writes.iter().copied(), |index, count| counts[index] = count);
        counts
    }

    fn pair() -> (UnixStream, UnixStream) {
        let (server, client) = UnixStream::pair().unwrap();
        server.set_nonblocking(true).unwrap();
        (server, client)
    }

    #[test]
    fn each_socket_gets_its_bytes() {
        let mut submission = Submission::new().unwrap();
        let pairs: Vec<_> = (0..WRITES_MAX).map(|_| pair()).collect();
        for round in 0..3_u8 {
            let texts: Vec<Vec<u8>> =
                (0..pairs.len()).map(|index| vec![round; index + 1]).collect();
            let writes: Vec<Write<'_>> = pairs
                .iter()
                .zip(&texts)
                .map(|((server, _), bytes)| Write { socket: server.as_raw_fd(), bytes })
                .collect();
            let counts = written(&mut submission, &writes);
            for (((_, client), text), count) in pairs.iter().zip(&texts).zip(counts) {
                let mut read = vec![0; text.len()];
                (&*client).read_exact(&mut read).unwrap();
                assert_eq!((&read, count), (text, text.len()));
            }
        }
    }

    #[test]
    fn what_fails_is_nothing_written_and_the_others_are() {
        let mut submission = Submission::new().unwrap();
        let ((gone, client), (full, _reader), (fine, mut reader)) = (pair(), pair(), pair());
        drop(client);
        let much = vec![7; 16 << 20];
        let writes = [
            Write { socket: gone.as_raw_fd(), bytes: b"a" },
            Write { socket: full.as_raw_fd(), bytes: &much },
            Write { socket: fine.as_raw_fd(), bytes: b"b" },
            // No socket: this and what follows is not even tried.
            Write { socket: -1, bytes: b"c" },
            Write { socket: fine.as_raw_fd(), bytes: b"d" },
        ];
        let counts = written(&mut submission, &writes);
        assert_eq!((counts[0], counts[2], &counts[3..]), (0, 1, &[0, 0][..]));
        assert!(
            (1..much.len()).contains(&counts[1]),
            "{}: as much as there is room for",
            counts[1]
        );
        let mut read = [0; 2];
        assert_eq!(reader.read(&mut read).unwrap(), 1);
        assert_eq!(read[0], b'b');
        assert_eq!(written(&mut submission, &[]), [0; 0]);
    }
}
