//! What the server says: messages appended to one output buffer, and the forms of errors and notices.
//!
//! Manual, section 55.7 and 55.8. A message is written in place: its length is patched in at its end, so nothing is
//! encoded twice or into a buffer of its own. Names and texts that could hold a zero byte cannot: the server's own
//! never do, and a user's are refused where they come in (22021).

use crate::routine;
use sql::session::{CommandTag, RowsDescription};
use sql::types::Oid;
use sql::types::integer::write_u64;
use sql::{ColumnDescription, CopyFormat, Format, SqlError, TransactionStatus};

/// The F and L fields, which name a place in PostgreSQL's source: there is none, and clients want some.
const SOURCE: &str = "atoll";
const LINE: &str = "1";

/// Begins a message of type `tag` and gives the place of its length, for [`end`].
pub fn begin(out: &mut Vec<u8>, tag: u8) -> usize {
    out.extend_from_slice(&[tag, 0, 0, 0, 0]);
    out.len() - 4
}

/// Ends the message whose length stands at `at`.
pub fn end(out: &mut [u8], at: usize) {
    let length = (out.len() - at) as u32;
    out[at..at + 4].copy_from_slice(&length.to_be_bytes());
}

/// A message without a body.
pub fn bare(out: &mut Vec<u8>, tag: u8) {
    out.extend_from_slice(&[tag, 0, 0, 0, 4]);
}

fn text(out: &mut Vec<u8>, text: &str) {
    out.extend_from_slice(text.as_bytes());
    out.push(0);
}

/// ErrorResponse, or NoticeResponse where the severity is that of a notice.
pub fn report(out: &mut Vec<u8>, report: &SqlError) {
    use sql::Severity as S;
    let fields = report.fields();
    let tag = match fields.severity {
        S::Error | S::Fatal | S::Panic => b'E',
        S::Warning | S::Notice | S::Info | S::Log | S::Debug => b'N',
    };
    let at = begin(out, tag);
    let mut field = |letter: u8, value: &str| {
        out.push(letter);
        // A zero byte would end the field, and what follows it would be read as fields.
        out.extend(value.bytes().filter(|&byte| byte != 0));
        out.push(0);
    };
    field(b'S', fields.severity.word());
    field(b'V', fields.severity.word());
    field(b'C', fields.state.code());
    field(b'M', &fields.message);
    for (letter, value) in [(b'D', &fields.detail), (b'H', &fields.hint)] {
        if let Some(value) = value {
            field(letter, value);
        }
    }
    let optional = [
        (b'W', &fields.context),
        (b's', &fields.schema),
        (b't', &fields.table),
        (b'c', &fields.column),
        (b'd', &fields.data_type),
        (b'n', &fields.constraint),
    ];
    for (letter, value) in optional {
        if let Some(value) = value {
            field(letter, value);
        }
    }
    if let Some(position) = fields.position {
        field(b'P', &position.to_string());
    }
    if let Some((position, query)) = &fields.internal {
        field(b'p', &position.to_string());
        field(b'q', query);
    }
    for (letter, value) in [(b'F', SOURCE), (b'L', LINE), (b'R', routine::of(report))] {
        field(letter, value);
    }
    out.push(0);
    end(out, at);
}

/// Takes back every message from `begins` on that is no notice.
pub fn keep_notices(out: &mut Vec<u8>, begins: usize) {
    let (mut kept, mut at) = (begins, begins);
    while let Some(&[tag, a, b, c, d]) = out[at..].first_chunk::<5>() {
        let end = at + 1 + u32::from_be_bytes([a, b, c, d]) as usize;
        if tag == b'N' {
            out.copy_within(at..end, kept);
            kept += end - at;
        }
        at = end;
    }
    out.truncate(kept);
}

/// ReadyForQuery.
pub fn ready(out: &mut Vec<u8>, status: TransactionStatus) {
    let letter = match status {
        TransactionStatus::Idle => b'I',
        TransactionStatus::InTransaction => b'T',
        TransactionStatus::Failed => b'E',
    };
    out.extend_from_slice(&[b'Z', 0, 0, 0, 5, letter]);
}

/// NotificationResponse.
pub fn notification(out: &mut Vec<u8>, pid: u32, channel: &str, payload: &str) {
    let at = begin(out, b'A');
    out.extend_from_slice(&pid.to_be_bytes());
    text(out, channel);
    text(out, payload);
    end(out, at);
}

/// ParameterStatus.
pub fn parameter_status(out: &mut Vec<u8>, name: &str, value: &str) {
    let at = begin(out, b'S');
    text(out, name);
    text(out, value);
    end(out, at);
}

/// BackendKeyData.
pub fn backend_key(out: &mut Vec<u8>, pid: u32, secret: &[u8]) {
    let at = begin(out, b'K');
    out.extend_from_slice(&pid.to_be_bytes());
    out.extend_from_slice(secret);
    end(out, at);
}

/// CommandComplete.
pub fn complete(out: &mut Vec<u8>, tag: &CommandTag) {
    let at = begin(out, b'C');
    out.extend_from_slice(tag.words.as_bytes());
    if let Some(rows) = tag.told() {
        out.push(b' ');
        write_u64(rows, out);
    }
    out.push(0);
    end(out, at);
}

/// ParameterDescription.
pub fn parameters(out: &mut Vec<u8>, types: &[Oid]) {
    let at = begin(out, b't');
    // The protocol's count has two bytes, and so has Bind's: a statement with more cannot be bound.
    out.extend_from_slice(&(types.len() as u16).to_be_bytes());
    for ty in types {
        out.extend_from_slice(&ty.0.to_be_bytes());
    }
    end(out, at);
}

/// RowDescription.
pub fn rows(out: &mut Vec<u8>, rows: RowsDescription<'_>) {
    let RowsDescription { columns: described, formats, told } = rows;
    let format = match formats {
        [] => Format::Text,
        [one] => *one,
        _ => return columns(out, described, formats),
    };
    if let Some(message) = told.kept(format) {
        return out.extend_from_slice(message);
    }
    let begins = out.len();
    columns(out, described, formats);
    told.keep(format, &out[begins..]);
}

/// The same of columns; `formats` holds none (all text), one for all, or one each.
fn columns(out: &mut Vec<u8>, columns: &[ColumnDescription], formats: &[Format]) {
    let at = begin(out, b'T');
    out.extend_from_slice(&(columns.len() as u16).to_be_bytes());
    for (index, column) in columns.iter().enumerate() {
        let format = match formats {
            [] => Format::Text,
            [one] => *one,
            each => each[index],
        };
        text(out, &column.name);
        let mut fields = [0; 18];
        fields[..4].copy_from_slice(&column.table.to_be_bytes());
        fields[4..6].copy_from_slice(&column.attribute.to_be_bytes());
        fields[6..10].copy_from_slice(&column.ty.oid.0.to_be_bytes());
        fields[10..12].copy_from_slice(&column.type_length.to_be_bytes());
        fields[12..16].copy_from_slice(&column.ty.typmod.to_be_bytes());
        fields[16..].copy_from_slice(&format.code().to_be_bytes());
        out.extend_from_slice(&fields);
    }
    end(out, at);
}

/// CopyInResponse (G) or CopyOutResponse (H).
pub fn copy_begins(out: &mut Vec<u8>, tag: u8, format: CopyFormat) {
    let code = u8::from(format.binary);
    let at = begin(out, tag);
    out.push(code);
    out.extend_from_slice(&format.columns.to_be_bytes());
    for _ in 0..format.columns {
        out.extend_from_slice(&[0, code]);
    }
    end(out, at);
}

/// CopyData.
pub fn copy_data(out: &mut Vec<u8>, data: &[u8]) {
    let at = begin(out, b'd');
    out.extend_from_slice(data);
    end(out, at);
}

/// CopyDone.
pub fn copy_done(out: &mut Vec<u8>) {
    let at = begin(out, b'c');
    end(out, at);
}

#[cfg(test)]
mod tests {
    use super::*;
    use bytes::BytesMut;
    use pgwire::messages::{DecodeContext, PgWireBackendMessage};
    use sql::sqlstate::SqlState;

    fn read(bytes: &[u8]) -> PgWireBackendMessage {
        let mut buffer = BytesMut::from(bytes);
        let context = DecodeContext::default();
        let message = PgWireBackendMessage::decode(&mut buffer, &context).unwrap().unwrap();
        assert!(buffer.is_empty(), "one message, and nothing behind it");
        message
    }

    #[test]
    fn errors_arrive_field_by_field() {
        let error = SqlError::new(SqlState::UNIQUE_VIOLATION, "du\0plicate")
            .detail("Key (a)=(1) already exists.")
            .table("public", "t")
            .constraint("t_pkey")
            .at(7);
        let mut out = Vec::new();
        report(&mut out, &error);
        let PgWireBackendMessage::ErrorResponse(response) = read(&out) else { panic!("{out:?}") };
        let fields: Vec<(u8, &str)> =
            response.fields.iter().map(|(letter, value)| (*letter, value.as_str())).collect();
        assert_eq!(
            fields,
            [
                (b'S', "ERROR"),
                (b'V', "ERROR"),
                (b'C', "23505"),
                (b'M', "duplicate"),
                (b'D', "Key (a)=(1) already exists."),
                (b's', "public"),
                (b't', "t"),
                (b'n', "t_pkey"),
                (b'P', "7"),
                (b'F', "atoll"),
                (b'L', "1"),
                (b'R', "_bt_check_unique"),
            ]
        );
        out.clear();
        report(&mut out, &SqlError::notice("so it is"));
        assert!(matches!(read(&out), PgWireBackendMessage::NoticeResponse(_)));
    }

    #[test]
    fn tags_and_descriptions_arrive_as_pgwire_reads_them() {
        let mut out = Vec::new();
        complete(
            &mut out,
            &CommandTag { words: "INSERT 0", rows: Some(18_446_744_073_709_551_615) },
        );
        let PgWireBackendMessage::CommandComplete(tag) = read(&out) else { panic!("{out:?}") };
        assert_eq!(tag.tag, "INSERT 0 18446744073709551615");
        out.clear();
        complete(&mut out, &CommandTag { words: "CREATE TABLE", rows: None });
        let PgWireBackendMessage::CommandComplete(tag) = read(&out) else { panic!("{out:?}") };
        assert_eq!(tag.tag, "CREATE TABLE");
        out.clear();
        let column = ColumnDescription {
            name: "a".into(),
            table: 16_384,
            attribute: 1,
            ty: sql::types::SqlType::plain(23),
            type_length: 4,
        };
        columns(&mut out, &[column], &[Format::Binary]);
        let PgWireBackendMessage::RowDescription(rows) = read(&out) else { panic!("{out:?}") };
        assert_eq!((rows.fields[0].name.as_str(), rows.fields[0].type_id), ("a", 23));
        assert_eq!(rows.fields[0].format_code, 1);
    }
}
