//! The rows of the nine tables as bytes: the key's numbers in their order, each four bytes, highest first; and the value's
//! numbers of eight bytes, then its texts with their lengths. So a change of a number changes eight bytes in their place.

use crate::tpcc::population::BEGINNING_MICROS;

/// No value: what SQL calls NULL.
pub const ABSENT: i64 = i64::MIN;
/// Bytes of a number.
const NUMBER: usize = 8;
/// The most numbers of a key.
const KEY_NUMBERS: usize = 4;

/// A tree: a table, or one of the two indexes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Relation {
    /// By number.
    Item,
    /// By number.
    Warehouse,
    /// By warehouse and item.
    Stock,
    /// By warehouse and number.
    District,
    /// By warehouse, district and number.
    Customer,
    /// In the order in which they came.
    History,
    /// By warehouse, district and number.
    Orders,
    /// By warehouse, district and number.
    NewOrder,
    /// By warehouse, district, order and number.
    OrderLine,
    /// Customers by warehouse, district, last name, first name and number.
    CustomerName,
    /// Orders by warehouse, district, customer and number.
    OrdersCustomer,
}

impl Relation {
    /// All, in the order in which their trees are made: the tables as they are loaded, then the indexes.
    pub const ALL: [Relation; 11] = [
        Relation::Item,
        Relation::Warehouse,
        Relation::Stock,
        Relation::District,
        Relation::Customer,
        Relation::History,
        Relation::Orders,
        Relation::NewOrder,
        Relation::OrderLine,
        Relation::CustomerName,
        Relation::OrdersCustomer,
    ];

    /// What each column of a line of COPY is: the key's number at that place, a number, a day and time, a text.
    fn columns(self) -> &'static [u8] {
        match self {
            Relation::Item => b"0ntnt",
            Relation::Warehouse => b"0ttttttnn",
            Relation::Stock => b"10nttttttttttnnnt",
            Relation::District => b"10ttttttnnn",
            Relation::Customer => b"210tttttttttdtnnnnnnt",
            Relation::History => b"nnnnndnt",
            Relation::Orders => b"210ndnnn",
            Relation::NewOrder => b"210",
            Relation::OrderLine => b"2103nndnnt",
            Relation::CustomerName | Relation::OrdersCustomer => b"",
        }
    }

    /// How many numbers a value has.
    fn numbers(self) -> usize {
        match self {
            Relation::NewOrder | Relation::CustomerName | Relation::OrdersCustomer => 0,
            Relation::Item | Relation::Warehouse => 2,
            Relation::District => 3,
            Relation::Stock => 4,
            Relation::Orders | Relation::OrderLine => 5,
            Relation::Customer | Relation::History => 7,
        }
    }

    /// Where a text begins, behind its length, and where it ends.
    fn bounds(self, row: &[u8], text: usize) -> (usize, usize) {
        let mut at = self.numbers() * NUMBER;
        for _ in 0..text {
            at += 2 + length(row, at);
        }
        (at + 2, at + 2 + length(row, at))
    }

    /// The text at this place.
    #[must_use]
    pub fn text(self, row: &[u8], at: usize) -> &[u8] {
        let (start, end) = self.bounds(row, at);
        &row[start..end]
    }

    /// Puts another last text in place of the one that is there.
    pub fn replace_last_text(self, row: &mut Vec<u8>, at: usize, text: &[u8]) {
        let (start, _) = self.bounds(row, at);
        row.truncate(start - 2);
        push_text(row, text);
    }

    /// Reads a line of COPY: its key, and its value into `row`.
    ///
    /// # Panics
    /// The population wrote another line than it should.
    pub fn parse(self, line: &str, row: &mut Vec<u8>) -> Key {
        let mut key = Key { bytes: [0; KEY_NUMBERS * 4], len: 0 };
        let mut texts = Vec::new();
        row.clear();
        for (field, column) in line.split('\t').zip(self.columns()) {
            match column {
                b'n' => row.extend_from_slice(&units(field).to_le_bytes()),
                b'd' if field == "\\N" => row.extend_from_slice(&ABSENT.to_le_bytes()),
                b'd' => row.extend_from_slice(&BEGINNING_MICROS.to_le_bytes()),
                b't' => push_text(&mut texts, field.as_bytes()),
                place => {
                    let number: u32 = field.parse().expect("a number");
                    key.set(usize::from(place - b'0'), number);
                }
            }
        }
        assert_eq!(row.len(), self.numbers() * NUMBER, "{self:?}");
        row.extend_from_slice(&texts);
        key
    }
}

/// A number's units: cents of money, ten-thousandths of a share.
fn units(field: &str) -> i64 {
    if field == "\\N" {
        return ABSENT;
    }
    field.replace('.', "").parse().expect("a number")
}

fn length(row: &[u8], at: usize) -> usize {
    usize::from(u16::from_le_bytes([row[at], row[at + 1]]))
}

fn push_text(row: &mut Vec<u8>, text: &[u8]) {
    row.extend_from_slice(&(text.len() as u16).to_le_bytes());
    row.extend_from_slice(text);
}

/// The number at this place.
#[must_use]
pub fn number(row: &[u8], at: usize) -> i64 {
    let bytes = &row[at * NUMBER..(at + 1) * NUMBER];
    i64::from_le_bytes(bytes.try_into().expect("eight bytes"))
}

/// Changes the number at this place.
pub fn set_number(row: &mut [u8], at: usize, number: i64) {
    row[at * NUMBER..(at + 1) * NUMBER].copy_from_slice(&number.to_le_bytes());
}

/// Adds to the number at this place.
pub fn add(row: &mut [u8], at: usize, more: i64) {
    set_number(row, at, number(row, at) + more);
}

/// Writes a value.
pub fn build(row: &mut Vec<u8>, numbers: &[i64], texts: &[&[u8]]) {
    row.clear();
    numbers.iter().for_each(|number| row.extend_from_slice(&number.to_le_bytes()));
    texts.iter().for_each(|text| push_text(row, text));
}

/// A key of up to four numbers.
#[derive(Clone, Copy, Debug)]
pub struct Key {
    bytes: [u8; KEY_NUMBERS * 4],
    len: usize,
}

impl Key {
    /// Of these.
    #[must_use]
    pub fn of<const N: usize>(numbers: [u32; N]) -> Key {
        let mut key = Key { bytes: [0; KEY_NUMBERS * 4], len: 0 };
        for (at, number) in numbers.into_iter().enumerate() {
            key.set(at, number);
        }
        key
    }

    fn set(&mut self, at: usize, number: u32) {
        self.bytes[at * 4..at * 4 + 4].copy_from_slice(&number.to_be_bytes());
        self.len = self.len.max(at * 4 + 4);
    }

    /// Its bytes.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes[..self.len]
    }
}

impl PartialEq for Key {
    fn eq(&self, other: &Key) -> bool {
        self.bytes() == other.bytes()
    }
}

impl Eq for Key {}

impl PartialOrd for Key {
    fn partial_cmp(&self, other: &Key) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Key {
    fn cmp(&self, other: &Key) -> std::cmp::Ordering {
        self.bytes().cmp(other.bytes())
    }
}

/// The number at this place of a key.
#[must_use]
pub fn key_number(key: &[u8], at: usize) -> u32 {
    u32::from_be_bytes(key[at * 4..at * 4 + 4].try_into().expect("four bytes"))
}

/// The number at a key's end.
#[must_use]
pub fn last_number(key: &[u8]) -> u32 {
    key_number(&key[key.len() - 4..], 0)
}

/// The beginning of the keys of a district's customers of one last name.
pub fn name_key(key: &mut Vec<u8>, district: [u32; 2], last_name: &[u8]) {
    key.clear();
    key.extend_from_slice(Key::of(district).bytes());
    key.extend_from_slice(last_name);
    key.push(0);
}

#[cfg(test)]
mod tests {
    use super::{ABSENT, Key, Relation, key_number, number, set_number};
    use crate::tpcc::Scale;
    use crate::tpcc::population::Population;
    use crate::tpcc::schema::TABLES;

    #[test]
    fn every_line_of_the_population_becomes_a_row() {
        for (relation, (table, _)) in Relation::ALL.into_iter().zip(TABLES) {
            let mut population = Population::of(table, Scale::small(1));
            let (mut lines, mut row) = (Vec::new(), Vec::new());
            while population.next(&mut lines) {}
            for line in String::from_utf8(lines).expect("plain letters").lines() {
                relation.parse(line, &mut row);
            }
        }
    }

    #[test]
    fn a_row_keeps_what_its_line_says() {
        let mut row = Vec::new();
        let line = "7\t3\t2\t9\t2026-01-01 00:00:00\t\\N\t11\t1";
        let key = Relation::Orders.parse(line, &mut row);
        assert_eq!([0, 1, 2].map(|at| key_number(key.bytes(), at)), [2, 3, 7]);
        assert_eq!([0, 2, 3].map(|at| number(&row, at)), [9, ABSENT, 11]);
        set_number(&mut row, 2, 4);
        assert_eq!((number(&row, 2), number(&row, 3)), (4, 11));
        let line = "4\t17\tname\t12.34\tdata";
        let key = Relation::Item.parse(line, &mut row);
        assert_eq!((key.bytes(), number(&row, 1)), (Key::of([4]).bytes(), 1234));
        Relation::Item.replace_last_text(&mut row, 1, b"other data");
        assert_eq!(Relation::Item.text(&row, 0), b"name");
        assert_eq!(Relation::Item.text(&row, 1), b"other data");
    }
}
