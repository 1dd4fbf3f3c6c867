//! The rows that the tables begin with (clause 4.3.3), as lines of COPY.

use super::Scale;
use super::random::{LOAD, Random, last_name};
use super::statement::Cents;
use std::io::Write;

/// When everything that is there at the beginning happened.
const BEGINNING: &str = "2026-01-01 00:00:00";
/// The same in microseconds since 1970.
pub(super) const BEGINNING_MICROS: i64 = 1_767_225_600_000_000;

/// Writes the rows of one table, portion by portion.
pub struct Population {
    scale: Scale,
    random: Random,
    /// Portions to come; the last first.
    portions: Vec<Portion>,
    /// The orders' customers, district by district, in the order in which portions ask for them.
    customers: Vec<u32>,
}

/// What is written at once.
#[derive(Clone, Copy, Debug)]
enum Portion {
    Items(u32, u32),
    Warehouse(u32),
    Stock(u32, u32, u32),
    Districts(u32),
    Customers(u32, u32),
    History(u32, u32),
    Orders(u32, u32),
    NewOrders(u32, u32),
    OrderLines(u32, u32),
}

/// Items or stock rows in a portion.
const PORTION_ROWS: u32 = 1000;

impl Population {
    /// The rows of `table`.
    #[must_use]
    pub fn of(table: &str, scale: Scale) -> Population {
        let slices = || {
            (0..scale.items.div_ceil(PORTION_ROWS)).map(|slice| {
                (slice * PORTION_ROWS + 1, (slice * PORTION_ROWS + PORTION_ROWS).min(scale.items))
            })
        };
        let warehouses = || 1..=scale.warehouses;
        let districts = || warehouses().flat_map(|w| (1..=Scale::DISTRICTS).map(move |d| (w, d)));
        let mut portions: Vec<Portion> = match table {
            "item" => slices().map(|(from, to)| Portion::Items(from, to)).collect(),
            "warehouse" => warehouses().map(Portion::Warehouse).collect(),
            "stock" => warehouses()
                .flat_map(|w| slices().map(move |(from, to)| Portion::Stock(w, from, to)))
                .collect(),
            "district" => warehouses().map(Portion::Districts).collect(),
            "customer" => districts().map(|(w, d)| Portion::Customers(w, d)).collect(),
            "history" => districts().map(|(w, d)| Portion::History(w, d)).collect(),
            "orders" => districts().map(|(w, d)| Portion::Orders(w, d)).collect(),
            "new_order" => districts().map(|(w, d)| Portion::NewOrders(w, d)).collect(),
            "order_line" => districts().map(|(w, d)| Portion::OrderLines(w, d)).collect(),
            other => unreachable!("no table is called {other}"),
        };
        portions.reverse();
        // A table's rows are the same whenever they are written.
        let seed = table.bytes().fold(1, |seed, byte| seed * 31 + u64::from(byte));
        Population { scale, random: Random::new(seed), portions, customers: Vec::new() }
    }

    /// How many portions are left.
    #[must_use]
    pub fn left(&self) -> usize {
        self.portions.len()
    }

    /// Appends the next portion; false when there is none.
    pub fn next(&mut self, out: &mut Vec<u8>) -> bool {
        let Some(portion) = self.portions.pop() else { return false };
        match portion {
            Portion::Items(from, to) => (from..=to).for_each(|item| self.item(item, out)),
            Portion::Warehouse(w) => self.warehouse(w, out),
            Portion::Stock(w, from, to) => (from..=to).for_each(|item| self.stock(w, item, out)),
            Portion::Districts(w) => (1..=Scale::DISTRICTS).for_each(|d| self.district(w, d, out)),
            Portion::Customers(w, d) => {
                (1..=self.scale.customers).for_each(|c| self.customer(w, d, c, out));
            }
            Portion::History(w, d) => {
                for c in 1..=self.scale.customers {
                    line(out, format_args!("{c}\t{d}\t{w}\t{d}\t{w}\t{BEGINNING}\t10.00\t"));
                    self.text(12, 24, b'\n', out);
                }
            }
            Portion::Orders(w, d) => self.orders(w, d, out),
            Portion::NewOrders(w, d) => {
                for o in self.scale.delivered() + 1..=self.scale.customers {
                    line(out, format_args!("{o}\t{d}\t{w}\n"));
                }
            }
            Portion::OrderLines(w, d) => self.order_lines(w, d, out),
        }
        true
    }

    fn text(&mut self, from: u32, to: u32, end: u8, out: &mut Vec<u8>) {
        self.random.letters(from, to, out);
        out.push(end);
    }

    /// Street, street, city, state, zip.
    fn address(&mut self, out: &mut Vec<u8>) {
        for _ in 0..3 {
            self.text(10, 20, b'\t', out);
        }
        self.text(2, 2, b'\t', out);
        self.random.digits(4, out);
        out.extend_from_slice(b"11111\t");
    }

    fn tax(&mut self) -> String {
        format!("0.{:04}", self.random.uniform(0, 2000))
    }

    fn item(&mut self, item: u32, out: &mut Vec<u8>) {
        line(out, format_args!("{item}\t{}\t", self.random.uniform(1, 10_000)));
        self.text(14, 24, b'\t', out);
        line(out, format_args!("{}\t", Cents(i64::from(self.random.uniform(100, 10_000)))));
        self.random.data(out);
        out.push(b'\n');
    }

    /// What all customers of a district have paid.
    fn paid(&self) -> Cents {
        Cents(1000 * i64::from(self.scale.customers))
    }

    fn warehouse(&mut self, w: u32, out: &mut Vec<u8>) {
        line(out, format_args!("{w}\t"));
        self.text(6, 10, b'\t', out);
        self.address(out);
        let ytd = Cents(self.paid().0 * i64::from(Scale::DISTRICTS));
        line(out, format_args!("{}\t{ytd}\n", self.tax()));
    }

    fn district(&mut self, w: u32, d: u32, out: &mut Vec<u8>) {
        line(out, format_args!("{d}\t{w}\t"));
        self.text(6, 10, b'\t', out);
        self.address(out);
        let (ytd, next) = (self.paid(), self.scale.customers + 1);
        line(out, format_args!("{}\t{ytd}\t{next}\n", self.tax()));
    }

    fn stock(&mut self, w: u32, item: u32, out: &mut Vec<u8>) {
        line(out, format_args!("{item}\t{w}\t{}\t", self.random.uniform(10, 100)));
        for _ in 0..10 {
            self.text(24, 24, b'\t', out);
        }
        out.extend_from_slice(b"0\t0\t0\t");
        self.random.data(out);
        out.push(b'\n');
    }

    fn customer(&mut self, w: u32, d: u32, c: u32, out: &mut Vec<u8>) {
        line(out, format_args!("{c}\t{d}\t{w}\t"));
        self.text(8, 16, b'\t', out);
        // The first thousand have all names; the others' come as those that are asked for.
        let number = if c <= 1000 { c - 1 } else { self.random.last_name_number(&LOAD, 999) };
        line(out, format_args!("OE\t{}\t", last_name(number)));
        self.address(out);
        self.random.digits(16, out);
        let credit = if self.random.chance(10) { "BC" } else { "GC" };
        let discount = self.random.uniform(0, 5000);
        line(
            out,
            format_args!(
                "\t{BEGINNING}\t{credit}\t50000.00\t0.{discount:04}\t-10.00\t10.00\t1\t0\t"
            ),
        );
        self.text(300, 500, b'\n', out);
    }

    /// How many lines an order has: `orders` and `order_line` are written apart, and must agree.
    fn line_count(w: u32, d: u32, o: u32) -> u32 {
        let seed = u64::from(w) << 40 | u64::from(d) << 32 | u64::from(o);
        Random::new(seed).uniform(5, 15)
    }

    fn orders(&mut self, w: u32, d: u32, out: &mut Vec<u8>) {
        self.customers = (1..=self.scale.customers).collect();
        self.random.shuffle(&mut self.customers);
        for o in 1..=self.scale.customers {
            let customer = self.customers[o as usize - 1];
            line(out, format_args!("{o}\t{d}\t{w}\t{customer}\t{BEGINNING}\t"));
            if o <= self.scale.delivered() {
                line(out, format_args!("{}\t", self.random.uniform(1, 10)));
            } else {
                out.extend_from_slice(b"\\N\t");
            }
            line(out, format_args!("{}\t1\n", Population::line_count(w, d, o)));
        }
    }

    fn order_lines(&mut self, w: u32, d: u32, out: &mut Vec<u8>) {
        for o in 1..=self.scale.customers {
            for number in 1..=Population::line_count(w, d, o) {
                let item = self.random.uniform(1, self.scale.items);
                line(out, format_args!("{o}\t{d}\t{w}\t{number}\t{item}\t{w}\t"));
                if o <= self.scale.delivered() {
                    line(out, format_args!("{BEGINNING}\t5\t0.00\t"));
                } else {
                    let amount = Cents(i64::from(self.random.uniform(1, 999_999)));
                    line(out, format_args!("\\N\t5\t{amount}\t"));
                }
                self.text(24, 24, b'\n', out);
            }
        }
    }
}

fn line(out: &mut Vec<u8>, text: std::fmt::Arguments<'_>) {
    out.write_fmt(text).expect("memory can be written to");
}

#[cfg(test)]
mod tests {
    use super::Population;
    use crate::tpcc::Scale;
    use crate::tpcc::schema::TABLES;
    use std::collections::HashSet;

    fn lines(table: &str, scale: Scale) -> Vec<Vec<String>> {
        let mut population = Population::of(table, scale);
        let mut out = Vec::new();
        while population.next(&mut out) {}
        let text = String::from_utf8(out).expect("plain letters");
        text.lines().map(|line| line.split('\t').map(str::to_owned).collect()).collect()
    }

    #[test]
    fn every_table_has_its_rows_and_every_row_its_columns() {
        let scale = Scale { warehouses: 2, items: 1500, customers: 30 };
        for (table, columns) in TABLES {
            let rows = lines(table, scale);
            let expected = match table {
                "item" => 1500,
                "stock" => 3000,
                "warehouse" => 2,
                "district" => 20,
                "new_order" => 180,
                "order_line" => rows.len(),
                _ => 600,
            };
            assert_eq!(rows.len(), expected, "{table}");
            let columns = columns.split("PRIMARY KEY").next().expect("a first part");
            // A decimal's two numbers stand apart by a comma and a space too.
            let width = columns.split(", ").filter(|part| part.contains(' ')).count();
            assert!(rows.iter().all(|row| row.len() == width), "{table}: {width} {:?}", rows[0]);
        }
    }

    #[test]
    fn the_standard_population_has_the_cardinalities_of_the_standard() {
        let scale = Scale::standard(1);
        assert_eq!(scale.delivered(), 2100);
        assert_eq!(Population::of("stock", scale).left(), 100);
        assert_eq!(lines("new_order", scale).len(), 9000);
        assert_eq!(lines("orders", scale).len(), 30_000);
        let ytd = &lines("warehouse", scale)[0][8];
        assert_eq!(ytd, "300000.00");
        assert_eq!(lines("district", scale)[0][9..], ["30000.00", "3001"]);
    }

    #[test]
    fn orders_agree_with_their_lines_and_go_to_all_customers() {
        let scale = Scale::small(1);
        let (orders, order_lines) = (lines("orders", scale), lines("order_line", scale));
        let promised: usize = orders.iter().map(|row| row[6].parse::<usize>().expect("int")).sum();
        assert_eq!(promised, order_lines.len());
        assert!((orders.len() * 9..orders.len() * 11).contains(&promised));
        let customers: HashSet<_> = orders.iter().map(|row| (&row[1], &row[3])).collect();
        assert_eq!(customers.len(), 1000);
        let open = orders.iter().filter(|row| row[5] == "\\N").count();
        assert_eq!(open, 300);
        assert_eq!(lines("new_order", scale).len(), 300);
        for line in &order_lines {
            let open = line[0].parse::<u32>().expect("int") > 70;
            assert_eq!(line[6] == "\\N", open);
            assert_eq!(line[8] == "0.00", !open);
        }
    }

    #[test]
    fn the_first_thousand_customers_have_all_names() {
        let scale = Scale { warehouses: 1, items: 1, customers: 3000 };
        let mut population = Population::of("customer", scale);
        let mut out = Vec::new();
        assert!(population.next(&mut out));
        let text = String::from_utf8(out).expect("plain letters");
        let names: Vec<&str> = text.lines().filter_map(|line| line.split('\t').nth(5)).collect();
        assert_eq!(names.len(), 3000);
        assert_eq!(names[..1000].iter().collect::<HashSet<_>>().len(), 1000);
        assert_eq!(names[371], "PRICALLYOUGHT");
    }
}
