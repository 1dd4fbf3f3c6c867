//! Statistics of statements over a clean restart: `pg_stat_statements.save`.
//!
//! They are written when the engine closes, and read and removed when it opens: after a crash there are none, as in
//! PostgreSQL. A file that cannot be read, or does not say what its checksum says, is as if there were none; nothing else
//! depends on it.

use super::{Figures, Key, StatementStatistics, Times};
use crate::error::Result;
use crate::types::Oid;
use sha2::{Digest, Sha256};
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use txn::{Environment, Usage};

/// The file, beside the control file.
const FILE: &str = "statements";
/// What it begins with: its kind and version.
const BEGIN: &[u8; 8] = b"AtollSt4";
/// The bytes of the digest behind that.
const DIGEST: usize = 32;

impl StatementStatistics {
    /// Takes in what a clean shutdown has left.
    pub fn load(&self, environment: &Environment) {
        let device = &environment.device;
        let read = || {
            let file = device.open(FILE, false).ok()?;
            let mut bytes = vec![0; usize::try_from(file.len().ok()?).ok()?];
            file.read_at(0, &mut bytes).ok()?;
            Some(bytes)
        };
        if let Some(bytes) = read() {
            self.decode(&bytes);
        }
        StatementStatistics::forget(environment);
    }

    /// Removes what a shutdown has left.
    pub fn forget(environment: &Environment) {
        // Where there is none there is nothing to remove.
        let _ = environment.device.remove(FILE);
    }

    /// Leaves everything for the next start.
    ///
    /// # Errors
    /// The disk's.
    pub fn save(&self, environment: &Environment) -> Result<()> {
        let bytes = self.encoded();
        let file = environment.device.open(FILE, true).map_err(txn::Error::from)?;
        file.set_len(bytes.len() as u64).map_err(txn::Error::from)?;
        file.write_at(0, &bytes).map_err(txn::Error::from)?;
        file.sync().map_err(txn::Error::from)?;
        Ok(environment.device.sync_names().map_err(txn::Error::from)?)
    }

    /// All of it as bytes.
    pub(super) fn encoded(&self) -> Vec<u8> {
        let (deallocations, reset) = self.info();
        let mut body = Vec::new();
        body.extend_from_slice(&deallocations.to_le_bytes());
        body.extend_from_slice(&reset.to_le_bytes());
        for (key, text, figures) in self.all() {
            body.extend_from_slice(&key.user.0.to_le_bytes());
            body.extend_from_slice(&key.database.0.to_le_bytes());
            body.extend_from_slice(&key.id.to_le_bytes());
            body.push(u8::from(key.top_level));
            for times in [figures.plans, figures.calls] {
                body.extend_from_slice(&times.count.to_le_bytes());
                for number in [times.total, times.min, times.max, times.mean, times.squares] {
                    body.extend_from_slice(&number.to_le_bytes());
                }
            }
            let Usage {
                hit,
                read,
                dirtied,
                written,
                temp_read,
                temp_written,
                log_records,
                log_bytes,
                read_us,
                written_us,
                temp_read_us,
                temp_written_us,
            } = figures.usage;
            let pages = [hit, read, dirtied, written, temp_read, temp_written];
            let times = [read_us, written_us, temp_read_us, temp_written_us];
            for number in
                [figures.rows].into_iter().chain(pages).chain([log_records, log_bytes]).chain(times)
            {
                body.extend_from_slice(&number.to_le_bytes());
            }
            body.extend_from_slice(&figures.used.to_le_bytes());
            body.extend_from_slice(&(text.len() as u32).to_le_bytes());
            body.extend_from_slice(text.as_bytes());
        }
        let mut bytes = BEGIN.to_vec();
        bytes.extend_from_slice(&Sha256::digest(&body));
        bytes.extend_from_slice(&body);
        bytes
    }

    /// Takes all of it in; false, and nothing, where the bytes are not what was written.
    pub(super) fn decode(&self, bytes: &[u8]) -> bool {
        let Some(rest) = bytes.strip_prefix(BEGIN) else { return false };
        let Some((digest, body)) = rest.split_at_checked(DIGEST) else { return false };
        if Sha256::digest(body).as_slice() != digest {
            return false;
        }
        let mut reader = Reader(body);
        let Some((deallocations, reset)) = reader.u64().zip(reader.i64()) else { return false };
        self.deallocations.store(deallocations, Relaxed);
        self.reset.store(reset, Relaxed);
        while let Some((key, text, figures)) = reader.entry() {
            if self.kept.load(Relaxed) >= self.max {
                break;
            }
            self.put(key, text, figures);
        }
        true
    }
}

/// Bytes that are read one number after the other.
struct Reader<'b>(&'b [u8]);

impl Reader<'_> {
    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (head, rest) = self.0.split_at_checked(N)?;
        self.0 = rest;
        head.try_into().ok()
    }

    fn u8(&mut self) -> Option<u8> {
        self.array().map(u8::from_le_bytes)
    }

    fn u32(&mut self) -> Option<u32> {
        self.array().map(u32::from_le_bytes)
    }

    fn u64(&mut self) -> Option<u64> {
        self.array().map(u64::from_le_bytes)
    }

    fn i64(&mut self) -> Option<i64> {
        self.array().map(i64::from_le_bytes)
    }

    fn f64(&mut self) -> Option<f64> {
        self.array().map(f64::from_le_bytes)
    }

    fn times(&mut self) -> Option<Times> {
        Some(Times {
            count: self.u64()?,
            total: self.f64()?,
            min: self.f64()?,
            max: self.f64()?,
            mean: self.f64()?,
            squares: self.f64()?,
        })
    }

    fn entry(&mut self) -> Option<(Key, Arc<str>, Figures)> {
        let key = Key {
            user: Oid(self.u32()?),
            database: Oid(self.u32()?),
            id: self.i64()?,
            top_level: self.u8()? != 0,
        };
        let (plans, calls, rows) = (self.times()?, self.times()?, self.u64()?);
        let usage = Usage {
            hit: self.u64()?,
            read: self.u64()?,
            dirtied: self.u64()?,
            written: self.u64()?,
            temp_read: self.u64()?,
            temp_written: self.u64()?,
            log_records: self.u64()?,
            log_bytes: self.u64()?,
            read_us: self.u64()?,
            written_us: self.u64()?,
            temp_read_us: self.u64()?,
            temp_written_us: self.u64()?,
        };
        let used = self.f64()?;
        let length = usize::try_from(self.u32()?).ok()?;
        let (text, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        let text = std::str::from_utf8(text).ok()?;
        Some((key, text.into(), Figures { plans, calls, rows, usage, used }))
    }
}
