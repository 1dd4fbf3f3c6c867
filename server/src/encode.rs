//! Rows onto the wire: the sink that encodes each column of a row straight into the output buffer.
//!
//! No row is kept, copied or wrapped between the executor and the socket. When the buffer holds [`SEND_BYTES`] the
//! sink asks the executor to pause; the connection sends what there is and runs the portal again. So a result of any
//! size needs one buffer, rows are with the client however slow the rest is, and a client that reads slowly slows the
//! executor instead of filling memory. Rows that a failure takes back stay until there are [`KEPT_BYTES`] of them.

use crate::client_encoding;
use crate::interim::Interim;
use crate::respond;
use sql::encoding::Conversion;
use sql::exec::sink::{CopyFormat, Flow, RowSink};
use sql::session::{BoundSink, RowsDescription};
use sql::types::oids::XML;
use sql::types::text::check_growth;
use sql::types::{CallContext, Datum, SqlType, write_binary, write_text};
use sql::{ColumnDescription, Format, Notice, SqlError};

/// The output that is sent before more is made, in bytes: PostgreSQL's buffer (`PQ_SEND_BUFFER_SIZE`).
pub const SEND_BYTES: usize = 8 << 10;
/// The same where a failure takes back what has not been sent.
pub const KEPT_BYTES: usize = 64 << 10;

/// A result on its way out.
#[derive(Debug)]
pub struct WireSink<'a> {
    out: &'a mut Vec<u8>,
    formats: &'a mut Vec<Format>,
    /// To the client's encoding.
    conversion: Option<Conversion>,
    /// The output at which the result pauses, in bytes.
    pause_bytes: usize,
    /// Where what has been answered goes when something may be said ahead of the rest.
    interim: Option<&'a Interim>,
    /// Where this answer begins.
    pub begins: usize,
    /// Whether the rows of a portal that comes to be are told.
    pub describes: bool,
    /// It has gone there.
    pub opened: bool,
    /// Rows that have passed.
    pub rows: u64,
    /// What of the notices that have passed may be one for the log, too.
    pub warnings: Vec<Notice>,
    /// Where the row begins that is being written.
    half: Option<usize>,
}

impl<'a> WireSink<'a> {
    /// Into `out`, where the answer `begins`. `formats` is memory for those of the columns; `interim` is where what stands in
    /// `out` goes when something may be said ahead of the rest.
    pub fn new(
        out: &'a mut Vec<u8>,
        formats: &'a mut Vec<Format>,
        conversion: Option<Conversion>,
        (interim, begins): (Option<&'a Interim>, usize),
    ) -> WireSink<'a> {
        WireSink {
            out,
            formats,
            conversion,
            pause_bytes: SEND_BYTES,
            interim,
            begins,
            describes: false,
            opened: false,
            rows: 0,
            warnings: Vec::new(),
            half: None,
        }
    }

    /// Takes back a row whose writing has failed, by an error or a panic: half a row is not a message.
    pub fn take_back_half(&mut self) {
        if let Some(begin) = self.half.take() {
            self.out.truncate(begin);
        }
    }

    fn flow(&self) -> Flow {
        if self.out.len() >= self.pause_bytes { Flow::Pause } else { Flow::Continue }
    }

    fn values(
        &mut self,
        context: &CallContext<'_>,
        columns: &[ColumnDescription],
        row: &[Datum<'_>],
    ) -> Result<(), SqlError> {
        let begin = self.out.len();
        self.out.extend_from_slice(&(row.len() as u16).to_be_bytes());
        for (index, (datum, column)) in row.iter().zip(columns).enumerate() {
            let format = match self.formats[..] {
                [] => Format::Text,
                [one] => one,
                ref each => each[index],
            };
            if datum.is_null() && !matches!(format, Format::Unknown(_)) {
                self.out.extend_from_slice(&(-1i32).to_be_bytes());
                continue;
            }
            let at = self.out.len();
            // Most texts go out as they are.
            if let (Datum::Text(text), Format::Text, None) = (datum, format, &self.conversion)
                && column.ty.oid.0 != XML
            {
                check_growth(at + 4 - begin, text.len())?;
                self.out.extend_from_slice(&(text.len() as u32).to_be_bytes());
                self.out.extend_from_slice(text.as_bytes());
                continue;
            }
            self.out.extend_from_slice(&[0; 4]);
            match format {
                Format::Unknown(code) => return Err(Format::unsupported(code)),
                Format::Text => write_text(context, column.ty, datum, self.out)?,
                Format::Binary => write_binary(context, column.ty, datum, self.out)?,
            }
            if let Some(conversion) = &self.conversion
                && (format == Format::Text || is_text(column.ty))
            {
                client_encoding::value(conversion, self.out, at + 4)?;
            }
            let length = self.out.len() - at - 4;
            // PostgreSQL builds the message in a buffer that is no longer than a value, and finds out here.
            check_growth(at + 4 - begin, length)?;
            let length = length as u32;
            self.out[at..at + 4].copy_from_slice(&length.to_be_bytes());
        }
        Ok(())
    }
}

/// Whether the binary form of a type is its text.
fn is_text(ty: SqlType) -> bool {
    use sql::types::oids::{BPCHAR, JSON, NAME, TEXT, UNKNOWN, VARCHAR};
    matches!(ty.oid.0, BPCHAR | JSON | NAME | TEXT | UNKNOWN | VARCHAR | XML)
}

impl BoundSink for WireSink<'_> {
    fn bound(&mut self, rows: Option<RowsDescription<'_>>) {
        respond::bare(self.out, b'2');
        match rows {
            _ if !self.describes => {}
            Some(rows) => respond::rows(self.out, rows),
            None => respond::bare(self.out, b'n'),
        }
        self.begins = self.out.len();
    }
}

impl RowSink for WireSink<'_> {
    fn formats(&mut self, formats: &[Format]) {
        self.formats.clear();
        self.formats.extend_from_slice(formats);
    }

    fn shown_at_end(&mut self) {
        self.pause_bytes = KEPT_BYTES;
    }

    fn lets_notices_pass(&mut self) {
        if let Some(interim) = self.interim.take() {
            // What a failure takes back is not sent before it is known to last.
            let kept = self.pause_bytes == KEPT_BYTES;
            let begins = if kept { self.begins } else { self.out.len() };
            interim.open(self.out, begins, self.conversion);
            self.opened = true;
        }
    }

    fn row(
        &mut self,
        context: &CallContext<'_>,
        columns: &[ColumnDescription],
        row: &[Datum<'_>],
    ) -> Result<Flow, SqlError> {
        self.half = Some(self.out.len());
        let at = respond::begin(self.out, b'D');
        self.values(context, columns, row)?;
        respond::end(self.out, at);
        self.half = None;
        self.rows += 1;
        Ok(self.flow())
    }

    fn copy_out(&mut self, format: CopyFormat) {
        respond::copy_begins(self.out, b'H', format);
    }

    fn copy_data(&mut self, data: &[u8]) -> Flow {
        respond::copy_data(self.out, data);
        self.rows += 1;
        self.flow()
    }

    fn copy_done(&mut self) {
        respond::copy_done(self.out);
    }

    fn notice(&mut self, notice: &Notice) {
        let begin = self.out.len();
        respond::report(self.out, notice);
        if let Some(conversion) = &self.conversion {
            client_encoding::sent(conversion, self.out, begin);
        }
        self.warnings.push(notice.clone());
    }
}
