//! `external_pid_file`: a file beside the directory in which others find the number of the server's process, for as long as it
//! runs.

use std::path::{Path, PathBuf};

/// The file. It goes with this.
#[derive(Debug)]
pub struct PidFile(PathBuf);

impl PidFile {
    /// Writes it. As in PostgreSQL a server without it serves all the same, and says so.
    #[must_use]
    pub fn write(named: &str, data: &Path) -> Option<PidFile> {
        let path = data.join(Some(named).filter(|named| !named.is_empty())?);
        match std::fs::write(&path, format!("{}\n", std::process::id())) {
            Ok(()) => Some(PidFile(path)),
            Err(error) => {
                let path = path.display();
                tracing::warn!("could not write external PID file \"{path}\": {error}");
                None
            }
        }
    }
}

impl Drop for PidFile {
    fn drop(&mut self) {
        if let Err(error) = std::fs::remove_file(&self.0) {
            tracing::warn!("could not remove external PID file \"{}\": {error}", self.0.display());
        }
    }
}
