//! Reading the log back: records in LSN order, across segments and epochs, each checked before it is handed out.

use super::RecordKind;
use super::frame::{self, Header};
use super::segment::{Epoch, Files, HEADER_BYTES};
use crate::planted::{Fault, Planted};
use crate::{Error, Lsn, Result};

/// How much is read at a time, in bytes.
const WINDOW_BYTES: u64 = 128 << 10;

/// How much is read behind a record that was passed over, in bytes: the next one may well be passed over too.
const PEEK_BYTES: u64 = 4 << 10;

/// One record, as a scan hands it out.
#[derive(Clone, Copy, Debug)]
pub struct LogRecord<'a> {
    /// Where it begins.
    pub lsn: Lsn,
    /// Where the next one begins.
    pub end: Lsn,
    /// What it is.
    pub kind: RecordKind,
    /// What it says.
    pub payload: &'a [u8],
}

/// Where a scan ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Until {
    /// At this LSN; everything before it has to be readable.
    Exactly(Lsn),
    /// At the first place that holds no record of the last epoch: the log's end is being looked for.
    FirstGap,
}

/// Records in LSN order.
pub struct LogScan {
    files: Files,
    segment_bytes: u64,
    /// The epochs from the one that holds the beginning on.
    epochs: Vec<Epoch>,
    /// Which of them `at` is in.
    current: usize,
    at: Lsn,
    until: Until,
    window: Vec<u8>,
    window_start: u64,
    passed_over: Option<RecordKind>,
    /// How much is read for the next header, in bytes.
    ahead: u64,
    planted: Planted,
}

impl std::fmt::Debug for LogScan {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LogScan").field("at", &self.at).field("until", &self.until).finish()
    }
}

impl LogScan {
    pub(crate) fn new(
        files: Files,
        segment_bytes: u64,
        epochs: Vec<Epoch>,
        from: Lsn,
        until: Until,
        planted: Planted,
    ) -> LogScan {
        let mut scan = LogScan {
            files,
            segment_bytes,
            epochs,
            current: 0,
            at: from,
            until,
            window: Vec::new(),
            window_start: 0,
            passed_over: None,
            ahead: WINDOW_BYTES,
            planted,
        };
        scan.seek(from);
        scan
    }

    /// Passes over the records of a kind by their headers alone: what they say is neither read nor checked.
    #[must_use]
    pub fn passing_over(mut self, kind: RecordKind) -> LogScan {
        self.passed_over = Some(kind);
        self
    }

    /// Where the next record begins: once [`LogScan::advance`] has answered none, the end of the log.
    #[must_use]
    pub fn position(&self) -> Lsn {
        self.at
    }

    /// Goes to another record's place, before or behind.
    pub fn seek(&mut self, to: Lsn) {
        self.at = to;
        self.current = self.epochs.iter().rposition(|epoch| epoch.start <= to).unwrap_or(0);
        self.enter_next_epoch();
    }

    /// The next record, or none at the end of the log.
    ///
    /// # Errors
    /// [`Error::CorruptLog`] if a record before the durable end does not read back as it was written.
    pub fn advance(&mut self) -> Result<Option<LogRecord<'_>>> {
        loop {
            if self.until == Until::Exactly(self.at) {
                return Ok(None);
            }
            let Some(header) = self.read_record()? else {
                let last = self.current + 1 == self.epochs.len();
                if last && self.until == Until::FirstGap {
                    return Ok(None);
                }
                return Err(Error::CorruptLog(format!(
                    "the log has no whole record at {}",
                    self.at
                )));
            };
            let lsn = self.at;
            self.at = lsn.advance(header.span());
            self.enter_next_epoch();
            let passed_over = self.passed_over == Some(header.kind);
            self.ahead = if passed_over { PEEK_BYTES } else { WINDOW_BYTES };
            if passed_over || header.kind == RecordKind::VOID {
                continue;
            }
            let start = (lsn.0 - self.window_start) as usize;
            let payload = &self.window[start + frame::HEADER_BYTES..start + header.length];
            return Ok(Some(LogRecord {
                lsn,
                end: lsn.advance(header.span()),
                kind: header.kind,
                payload,
            }));
        }
    }

    /// Where an epoch ended, the next one goes on.
    fn enter_next_epoch(&mut self) {
        while let Some(next) = self.epochs.get(self.current + 1)
            && self.at == next.previous_end
        {
            self.current += 1;
            self.at = next.start;
        }
    }

    /// Brings the record at `at` into the window, if there is a whole one.
    fn read_record(&mut self) -> Result<Option<Header>> {
        let epoch = self.epochs[self.current].number;
        let limit = match self.epochs.get(self.current + 1) {
            Some(next) => next.previous_end.0.saturating_sub(self.at.0),
            None => self
                .files
                .last_key_value()
                .map_or(0, |(last, _)| ((last + 1) * self.segment_bytes).saturating_sub(self.at.0)),
        };
        if !self.read(self.at.0, frame::HEADER_BYTES as u64, self.ahead)? {
            return Ok(None);
        }
        let start = (self.at.0 - self.window_start) as usize;
        let Some(header) = Header::parse(&self.window[start..], epoch, limit) else {
            return Ok(None);
        };
        if self.passed_over == Some(header.kind) {
            return Ok(Some(header));
        }
        if !self.read(self.at.0, header.length as u64, WINDOW_BYTES)? {
            return Ok(None);
        }
        let start = (self.at.0 - self.window_start) as usize;
        let payload = &self.window[start + frame::HEADER_BYTES..start + header.length];
        let whole = header.matches(self.at, payload) || self.planted.is(Fault::TornTailAccepted);
        Ok(whole.then_some(header))
    }

    /// Brings `bytes` bytes from `lsn` on into the window, and as many as `ahead` if it has to be read; false if the log's
    /// files do not go so far.
    fn read(&mut self, lsn: u64, bytes: u64, ahead: u64) -> Result<bool> {
        let window_end = self.window_start + self.window.len() as u64;
        if lsn >= self.window_start && lsn + bytes <= window_end {
            return Ok(true);
        }
        self.window_start = lsn;
        self.window.clear();
        let (mut at, end) = (lsn, lsn + bytes.max(ahead));
        while at < end {
            let Some(file) = self.files.get(&(at / self.segment_bytes)) else { break };
            let within = at % self.segment_bytes;
            let step = (self.segment_bytes - within).min(end - at);
            let have = self.window.len();
            self.window.resize(have + step as usize, 0);
            file.read_at(HEADER_BYTES + within, &mut self.window[have..])?;
            at += step;
        }
        Ok(at >= lsn + bytes)
    }
}
