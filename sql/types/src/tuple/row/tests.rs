//! Records of rows, written and read.

use super::*;

fn here<'r>(layout: &'r RowLayout, record: &'r [u8]) -> OpenRecord<'r> {
    match layout.open(record).expect("the record is well formed") {
        Opened::Here(record) => record,
        Opened::Elsewhere(long, _) => panic!("the row is elsewhere: {long:?}"),
    }
}

fn text_of(layout: &RowLayout, record: &[u8], column: usize) -> String {
    let mut heap = Heap::default();
    match here(layout, record).read(column, &mut heap).expect("the record is well formed") {
        Field::Value(value) => format!("{:?}", heap.view(&value)),
        Field::Long(long) => format!("{long:?}"),
    }
}

#[test]
fn every_column_is_found_in_place() {
    let layout = RowLayout::new(
        [Form::Int4, Form::Text, Form::Int8, Form::Bytea, Form::Bool].map(|form| (form, None)),
    );
    let row = [
        Datum::Int4(-5),
        Datum::Text("héllo"),
        Datum::Null,
        Datum::Bytea(b"xyz"),
        Datum::Bool(true),
    ];
    let mut record = Vec::new();
    layout.write(&row, &[], &mut record);
    for (column, datum) in row.iter().enumerate() {
        assert_eq!(text_of(&layout, &record, column), format!("{datum:?}"));
    }
}

#[test]
fn texts_that_come_first_may_be_copied_together() {
    let forms = [Form::Text, Form::Int4, Form::Text, Form::Text, Form::Bytea, Form::Text];
    let layout = RowLayout::new(forms.map(|form| (form, None)));
    assert_eq!(
        [0, 1, 2, 3, 4, 5].map(|at| layout.begins_with(at)),
        [true, false, true, true, false, false]
    );
    let row = [
        Datum::Text("né"),
        Datum::Int4(7),
        Datum::Null,
        Datum::Text(""),
        Datum::Bytea(b"\xFF"),
        Datum::Text("last"),
    ];
    let mut record = Vec::new();
    layout.write(&row, &[], &mut record);
    let read = |record: &[u8], column: usize| {
        let (record, mut heap) = (here(&layout, record), Heap::default());
        let texts = record.texts(&mut heap);
        let mut value = Value::Null;
        let read = record.read_into(column, texts, &mut value, &mut heap);
        (texts.count, read.map(|_| format!("{:?}", heap.view(&value))))
    };
    for (column, datum) in row.iter().enumerate() {
        let (count, value) = read(&record, column);
        assert_eq!((count, value.expect("it is well formed")), (3, format!("{datum:?}")));
    }
    // An end within a character, and bytes that are no text at all: found by whoever reads the column, as it is alone.
    let at = record.iter().position(|byte| *byte == b'n').expect("the text is there");
    let ends = at - 2 * 5;
    record[ends] = 2;
    assert!(read(&record, 0).1.is_err());
    record[ends] = 3;
    record[at] = 0xFF;
    let (count, value) = read(&record, 0);
    assert!(count == 0 && value.is_err());
    assert!(read(&record, 5).1.is_ok());
}

#[test]
fn a_patched_record_is_the_one_that_would_be_written() {
    let forms = [Form::Int4, Form::Text, Form::Int8, Form::Bytea, Form::Text, Form::Bool];
    let layout = RowLayout::new(forms.map(|form| (form, None)));
    let rows = [
        [
            Datum::Int4(1),
            Datum::Text("a"),
            Datum::Int8(2),
            Datum::Null,
            Datum::Text("xyz"),
            Datum::Null,
        ],
        [
            Datum::Null,
            Datum::Text("longer"),
            Datum::Null,
            Datum::Bytea(b"12"),
            Datum::Null,
            Datum::Bool(true),
        ],
        [
            Datum::Int4(7),
            Datum::Null,
            Datum::Int8(-1),
            Datum::Bytea(b""),
            Datum::Text("z"),
            Datum::Bool(false),
        ],
    ];
    let (mut before, mut written, mut patched) = (Vec::new(), Vec::new(), Vec::new());
    for (old, new) in rows.iter().flat_map(|old| rows.iter().map(move |new| (old, new))) {
        for mask in 0..1usize << forms.len() {
            let columns: Vec<usize> = (0..forms.len()).filter(|at| mask >> at & 1 == 1).collect();
            let mut mixed = *old;
            for column in &columns {
                mixed[*column] = new[*column];
            }
            let values = columns.iter().map(|column| (*column, new[*column]));
            layout.write(old, &[], &mut before);
            layout.write(&mixed, &[], &mut written);
            assert!(here(&layout, &before).is_plain().expect("it is whole"));
            let max = written.len();
            assert!(layout.patch(&before, values.clone(), max, &mut patched));
            assert_eq!(patched, written, "{columns:?}");
            assert!(!layout.patch(&before, values, max - 1, &mut patched));
            assert!(layout.write_within(mixed.iter().copied(), max, &mut patched));
            assert_eq!(patched, written);
            assert!(!layout.write_within(mixed.iter().copied(), max - 1, &mut patched));
            let nulls = (0..mixed.len()).filter(|at| mixed[*at].is_null());
            assert!(layout.nulls_of(&written).eq(nulls));
            let record = here(&layout, &written);
            for (at, value) in mixed.iter().enumerate() {
                for texts in [None, record.leading_texts()] {
                    let read = record.view(at, texts).expect("it is whole");
                    let read = read.expect("it lies there");
                    assert_eq!(format!("{read:?}"), format!("{value:?}"));
                }
            }
        }
    }
}

#[test]
fn what_is_too_long_for_a_record_is_not_patched_into_it() {
    let layout = RowLayout::new([Form::Text, Form::Text].map(|form| (form, None)));
    let (mut record, mut patched) = (Vec::new(), Vec::new());
    layout.write(&[Datum::Text("a"), Datum::Text("b")], &[], &mut record);
    for length in [30_000, 32_767, 32_768, 65_535, 65_536, 1 << 20] {
        let long = "x".repeat(length);
        let values = [(0, Datum::Text(&long)), (1, Datum::Text(&long))];
        let one = values.into_iter().take(1);
        let fits = layout.patch(&record, one, usize::MAX, &mut patched);
        assert_eq!(fits, length == 30_000);
        assert!(!layout.patch(&record, values.into_iter(), usize::MAX, &mut patched));
    }
}

#[test]
fn columns_added_later_read_as_missing() {
    let old = RowLayout::new([Form::Int4, Form::Text].map(|form| (form, None)));
    let mut record = Vec::new();
    old.write(&[Datum::Int4(1), Datum::Text("a")], &[], &mut record);
    let mut missing = Vec::new();
    encode(Datum::Int8(42), &mut missing);
    let new = RowLayout::new([
        (Form::Int4, None),
        (Form::Text, None),
        (Form::Int8, Some(missing.into())),
        (Form::Text, None),
    ]);
    assert_eq!(text_of(&new, &record, 0), "Int4(1)");
    assert_eq!(text_of(&new, &record, 1), "Text(\"a\")");
    assert_eq!(text_of(&new, &record, 2), "Int8(42)");
    assert_eq!(text_of(&new, &record, 3), "Null");
}

#[test]
fn a_cut_record_is_corrupt_and_never_a_panic() {
    let layout = RowLayout::new([Form::Int4, Form::Text, Form::Uuid].map(|form| (form, None)));
    let mut record = Vec::new();
    layout.write(&[Datum::Int4(1), Datum::Text("abc"), Datum::Uuid(&[7; 16])], &[], &mut record);
    for cut in 0..record.len() {
        if let Ok(Opened::Here(cut)) = layout.open(&record[..cut]) {
            for column in 0..3 {
                let _ = cut.read(column, &mut Heap::default());
            }
        }
    }
    let mut elsewhere = Vec::new();
    let pointer = LongValue { id: 7, bytes: 9, form: Form::Bytea };
    write_elsewhere(&pointer, &mut elsewhere);
    stamp(&mut elsewhere, 5);
    for cut in 0..elsewhere.len() {
        assert!(layout.open(&elsewhere[..cut]).is_err());
    }
    match layout.open(&elsewhere) {
        Ok(Opened::Elsewhere(found, Some(5))) => assert_eq!(found, pointer),
        other => panic!("{other:?}"),
    }
    assert!(layout.open(&[]).is_err());
    assert!(layout.open(&[9, 0, 0, 0, 0]).is_err());
}
