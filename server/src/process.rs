//! What the server asks of its process: how it ends, random numbers, cores, open files.

/// The exit status after the log has failed.
const HALTED: i32 = 70;

/// Fills `bytes` with what nobody can guess.
pub fn random(bytes: &mut [u8]) {
    let mut filled = 0;
    while filled < bytes.len() {
        let flags = rustix::rand::GetRandomFlags::empty();
        match rustix::rand::getrandom(&mut bytes[filled..], flags) {
            Ok(count) => filled += count,
            Err(rustix::io::Errno::INTR) => {}
            Err(error) => panic!("the system has no random numbers: {error}"),
        }
    }
}

/// How many cores there are.
#[must_use]
pub fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, std::num::NonZero::get)
}

/// Ends the process: nobody may be answered any more, and only recovery may start it again.
pub(crate) fn end_halted(why: &str) -> ! {
    tracing::error!("PANIC: {why}");
    std::process::exit(HALTED)
}

/// The body of a thread of the server's own, without which it must not go on: if it panics, the process ends.
pub(crate) fn indispensable(name: &str, body: impl FnOnce()) {
    if std::panic::catch_unwind(std::panic::AssertUnwindSafe(body)).is_err() {
        // The panic has said why on its way.
        end_halted(&format!("the thread \"{name}\" panicked"));
    }
}

/// Raises the limit of open files to what the system allows, as far as it does.
pub fn raise_file_limit() {
    use rustix::process::{Resource, getrlimit, setrlimit};
    let mut limit = getrlimit(Resource::Nofile);
    limit.current = limit.maximum;
    // With the old limit the server takes fewer connections; it says so when it runs into it.
    if let Err(error) = setrlimit(Resource::Nofile, limit) {
        tracing::debug!(%error, "the limit of open files stays as it is");
    }
}
