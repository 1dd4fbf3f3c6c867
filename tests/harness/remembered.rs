//! What PostgreSQL has answered to scripts, from one run of the tests to the next.
//!
//! It answers a script alike as long as the script is the same, and so are its own version and what runs the script. So its
//! answers are kept beside the program that asked (in the target directory, which a build cache may keep), one file for each
//! script and way of running it, which begins with a digest of all that. Whoever asks for the expected answers to be written
//! anew (`UPDATE_GOLDEN`) asks PostgreSQL itself, and so does whoever finds that what is kept is not what it is compared with: only
//! agreement is taken from here.

use sha2::{Digest, Sha256};
use std::fmt::Write as _;
use std::path::PathBuf;

/// The parts of the harness that run a script, start PostgreSQL and read what it sends.
const HARNESS: [&str; 3] =
    [include_str!("script.rs"), include_str!("oracle.rs"), include_str!("client.rs")];

/// What was answered under `name` to what `asked` says in full, if that is `compared`; otherwise what `ask` asks for.
///
/// # Panics
/// If the answers cannot be kept.
pub fn remembered(
    name: &str,
    asked: &[&str],
    compared: &str,
    ask: impl FnOnce() -> String,
) -> String {
    let mut digest = Sha256::new();
    for part in HARNESS.iter().chain(asked) {
        digest.update((part.len() as u64).to_le_bytes());
        digest.update(part);
    }
    let mut first = String::new();
    digest.finalize().iter().for_each(|byte| write!(first, "{byte:02x}").expect("a string grows"));
    first.push('\n');
    let file = directory().join(name);
    let kept = std::fs::read_to_string(&file).ok();
    let kept = kept.as_deref().and_then(|kept| kept.strip_prefix(&*first));
    if kept == Some(compared) && std::env::var_os("UPDATE_GOLDEN").is_none() {
        return compared.to_owned();
    }
    let answers = ask();
    // Whoever runs beside this one sees the whole file or none.
    let own = file.with_extension(std::process::id().to_string());
    std::fs::write(&own, format!("{first}{answers}")).expect("the target directory is writable");
    std::fs::rename(&own, &file).expect("the target directory is writable");
    answers
}

fn directory() -> PathBuf {
    let program = std::env::current_exe().expect("a test program has a path");
    let profile = program.ancestors().nth(2).expect("it lies in a profile's `deps`");
    let directory = profile.join("postgresql-answers");
    std::fs::create_dir_all(&directory).expect("the target directory is writable");
    directory
}
