//! The five transactions, row by row.

use super::Database;
use super::row::{ABSENT, Key, Relation, add, build, last_number, name_key, number, set_number};
use crate::tpcc::Scale;
use crate::tpcc::client::Failure;
use crate::tpcc::driver::Performer;
use crate::tpcc::transactions::{
    Customer, Ended, Input, NewOrder, OrderStatus, Payment, Place, missing,
};
use std::ops::Bound;
use std::sync::Arc;
use txn::{
    Begin, Direction, Isolation, KeyRange, ReadView, RecordBuffer, RowLock, Scan, SessionWait,
    TableId, TableLock, Transaction, WaitPolicy,
};

/// One that runs transactions.
pub struct Session {
    database: Arc<Database>,
    place: Place,
    begin: Begin,
    wait: Arc<SessionWait>,
    found: RecordBuffer,
    row: Vec<u8>,
    name: Vec<u8>,
}

/// A transaction under way, with what its session lends it.
struct Work<'s> {
    database: &'s Database,
    transaction: &'s mut Transaction,
    view: ReadView,
    place: Place,
    /// When it runs, in microseconds.
    now: i64,
    /// What is read.
    found: &'s mut RecordBuffer,
    /// What is written.
    row: &'s mut Vec<u8>,
    name: &'s mut Vec<u8>,
}

impl Session {
    pub(super) fn new(database: Arc<Database>, place: Place, number: u32) -> Session {
        Session {
            database,
            place,
            begin: Begin { isolation: Isolation::ReadCommitted, ..Begin::default() },
            wait: Arc::new(SessionWait::new(number)),
            found: RecordBuffer::default(),
            row: Vec::new(),
            name: Vec::new(),
        }
    }
}

impl Performer for Session {
    fn perform(&mut self, input: &Input) -> Result<Ended, Failure> {
        let manager = &self.database.manager;
        let mut transaction = manager.begin(self.begin, &self.wait);
        let view = transaction.begin_statement()?;
        let mut work = Work {
            database: &self.database,
            transaction: &mut transaction,
            view,
            place: self.place,
            now: manager.environment().clock.wall(),
            found: &mut self.found,
            row: &mut self.row,
            name: &mut self.name,
        };
        let done = match input {
            Input::NewOrder(order) => work.new_order(order),
            Input::Payment(payment) => work.payment(payment),
            Input::OrderStatus(status) => work.order_status(status),
            Input::Delivery(carrier) => work.delivery(*carrier),
            Input::StockLevel(threshold) => work.stock_level(*threshold),
        };
        let ended = match done {
            Ok(Ended::Committed) => transaction.commit(&mut |_| ())?,
            Ok(Ended::RolledBack) | Err(_) => transaction.rollback(),
        };
        self.begin.after = ended.wait_for;
        if self.database.synchronous {
            manager.data().log().wait_durable(ended.wait_for)?;
        }
        done
    }
}

impl Work<'_> {
    fn lock_tables(&mut self, tables: &[(Relation, TableLock)]) -> Result<(), Failure> {
        for (relation, mode) in tables {
            let table = TableId(*relation as u64);
            self.transaction.lock_table(table, *mode, WaitPolicy::Block)?;
        }
        Ok(())
    }

    /// Reads a row; false if there is none.
    fn get(&mut self, relation: Relation, key: &Key) -> Result<bool, Failure> {
        let tree = self.database.tree(relation);
        Ok(self.transaction.get(&self.view, tree, key.bytes(), self.found)?)
    }

    fn found(&self) -> &[u8] {
        self.found.value().expect("a row has been read")
    }

    /// Reads a row that the population has put there.
    fn read(&mut self, relation: Relation, key: &Key) -> Result<(), Failure> {
        if self.get(relation, key)? { Ok(()) } else { Err(missing(&format!("{relation:?}"))) }
    }

    /// Locks a row to change it; its latest state is in `row`.
    fn lock(&mut self, relation: Relation, key: &Key) -> Result<(), Failure> {
        let tree = self.database.tree(relation);
        let (mode, policy) = (RowLock::NoKeyUpdate, WaitPolicy::Block);
        self.transaction.lock_row(&self.view, tree, key.bytes(), mode, policy, self.found)?;
        let Some(found) = self.found.value() else { return Err(missing(&format!("{relation:?}"))) };
        self.row.clear();
        self.row.extend_from_slice(found);
        Ok(())
    }

    /// Writes `row` over the one that has been locked.
    fn update(&mut self, relation: Relation, key: &Key) -> Result<(), Failure> {
        Ok(self.transaction.update(self.database.tree(relation), key.bytes(), self.row)?)
    }

    /// Puts `row` where there is none.
    fn insert(&mut self, relation: Relation, key: &Key) -> Result<(), Failure> {
        let tree = self.database.tree(relation);
        let (mode, policy) = (RowLock::Update, WaitPolicy::Block);
        if self.transaction.lock_key(tree, key.bytes(), mode, policy, self.found)? {
            let message = format!("{relation:?} has that row already");
            return Err(Failure { sqlstate: "23505".to_owned(), message });
        }
        Ok(self.transaction.put(tree, key.bytes(), self.row)?)
    }

    /// Scans the rows whose keys begin so.
    fn scan(
        &mut self,
        relation: Relation,
        prefix: &[u8],
        direction: Direction,
    ) -> Result<Scan, Failure> {
        let mut end = prefix.to_vec();
        let last = end.iter().rposition(|byte| *byte < u8::MAX).expect("numbers are small");
        end.truncate(last + 1);
        end[last] += 1;
        let range = KeyRange { low: Bound::Included(prefix), high: Bound::Excluded(&end) };
        Ok(self.transaction.scan(&self.view, self.database.tree(relation), range, direction)?)
    }

    fn new_order(&mut self, order: &NewOrder) -> Result<Ended, Failure> {
        let (w, d, c) = (self.place.warehouse, order.district, order.customer);
        self.lock_tables(&[
            (Relation::Warehouse, TableLock::AccessShare),
            (Relation::Customer, TableLock::AccessShare),
            (Relation::District, TableLock::RowExclusive),
            (Relation::Orders, TableLock::RowExclusive),
            (Relation::NewOrder, TableLock::RowExclusive),
            (Relation::Item, TableLock::AccessShare),
            (Relation::Stock, TableLock::RowExclusive),
            (Relation::OrderLine, TableLock::RowExclusive),
        ])?;
        self.read(Relation::Warehouse, &Key::of([w]))?;
        let warehouse_tax = number(self.found(), 0);
        self.read(Relation::Customer, &Key::of([w, d, c]))?;
        let discount = number(self.found(), 2);
        let district = Key::of([w, d]);
        self.lock(Relation::District, &district)?;
        let (district_tax, o) = (number(self.row, 0), number(self.row, 2) as u32);
        add(self.row, 2, 1);
        self.update(Relation::District, &district)?;
        let local = order.lines.iter().all(|line| line.supplier == w);
        let lines = order.lines.len() as i64;
        build(self.row, &[i64::from(c), self.now, ABSENT, lines, i64::from(local)], &[]);
        self.insert(Relation::Orders, &Key::of([w, d, o]))?;
        let entry = Key::of([w, d, c, o]);
        let by_customer = self.database.tree(Relation::OrdersCustomer);
        self.transaction.put(by_customer, entry.bytes(), &[])?;
        self.row.clear();
        self.insert(Relation::NewOrder, &Key::of([w, d, o]))?;
        let mut total = 0;
        for (at, line) in (1..).zip(&order.lines) {
            if !self.get(Relation::Item, &Key::of([line.item]))? {
                return Ok(Ended::RolledBack);
            }
            let quantity = i64::from(line.quantity);
            let amount = number(self.found(), 1) * quantity;
            total += amount;
            let stock = Key::of([line.supplier, line.item]);
            self.lock(Relation::Stock, &stock)?;
            let left = number(self.row, 0) - quantity;
            set_number(self.row, 0, if left >= 10 { left } else { left + 91 });
            add(self.row, 1, quantity);
            add(self.row, 2, 1);
            add(self.row, 3, i64::from(line.supplier != w));
            self.update(Relation::Stock, &stock)?;
            let information =
                Relation::Stock.text(self.found.value().unwrap_or_default(), d as usize - 1);
            let (item, supplier) = (i64::from(line.item), i64::from(line.supplier));
            build(self.row, &[item, supplier, ABSENT, quantity, amount], &[information]);
            self.insert(Relation::OrderLine, &Key::of([w, d, o, at]))?;
        }
        // What the terminal shows: in ten-thousandths, twice.
        let taxed = 10_000 + warehouse_tax + district_tax;
        std::hint::black_box(total * (10_000 - discount) / 10_000 * taxed / 10_000);
        Ok(Ended::Committed)
    }

    /// The customer's number: of several with a name, the one in the middle (clause 2.5.2.2).
    fn find_customer(&mut self, w: u32, d: u32, customer: &Customer) -> Result<u32, Failure> {
        let name = match customer {
            Customer::Number(number) => return Ok(*number),
            Customer::Name(name) => name,
        };
        let mut prefix = std::mem::take(self.name);
        name_key(&mut prefix, [w, d], name.as_bytes());
        let scan = self.scan(Relation::CustomerName, &prefix, Direction::Forward);
        *self.name = prefix;
        let (mut scan, mut numbers) = (scan?, Vec::new());
        while let Some(found) = scan.advance(self.transaction)? {
            numbers.push(last_number(found.key));
        }
        let middle = numbers.len().div_ceil(2).checked_sub(1);
        middle.map(|middle| numbers[middle]).ok_or_else(|| missing("customer of that name"))
    }

    fn payment(&mut self, payment: &Payment) -> Result<Ended, Failure> {
        let (w, d, amount) = (self.place.warehouse, payment.district, payment.amount.0);
        let (cw, cd) = (payment.customer_warehouse, payment.customer_district);
        self.lock_tables(&[
            (Relation::Warehouse, TableLock::RowExclusive),
            (Relation::District, TableLock::RowExclusive),
            (Relation::Customer, TableLock::RowExclusive),
            (Relation::History, TableLock::RowExclusive),
        ])?;
        let warehouse = Key::of([w]);
        self.lock(Relation::Warehouse, &warehouse)?;
        add(self.row, 1, amount);
        self.update(Relation::Warehouse, &warehouse)?;
        let mut told = Relation::Warehouse.text(self.row, 0).to_vec();
        told.extend_from_slice(b"    ");
        let district = Key::of([w, d]);
        self.lock(Relation::District, &district)?;
        add(self.row, 1, amount);
        self.update(Relation::District, &district)?;
        told.extend_from_slice(Relation::District.text(self.row, 0));
        let c = self.find_customer(cw, cd, &payment.customer)?;
        let customer = Key::of([cw, cd, c]);
        self.lock(Relation::Customer, &customer)?;
        add(self.row, 3, -amount);
        add(self.row, 4, amount);
        add(self.row, 5, 1);
        if Relation::Customer.text(self.row, 9) == b"BC" {
            let mut data = format!("{c} {cd} {cw} {d} {w} {} | ", payment.amount).into_bytes();
            data.extend_from_slice(Relation::Customer.text(self.row, 10));
            data.truncate(500);
            Relation::Customer.replace_last_text(self.row, 10, &data);
        }
        self.update(Relation::Customer, &customer)?;
        let [c, cd, cw, d, w] = [c, cd, cw, d, w].map(i64::from);
        build(self.row, &[c, cd, cw, d, w, self.now, amount], &[&told]);
        let history = self.database.tree(Relation::History);
        self.transaction.put(history, &self.database.history_key(), self.row)?;
        Ok(Ended::Committed)
    }

    fn order_status(&mut self, status: &OrderStatus) -> Result<Ended, Failure> {
        let (w, d) = (self.place.warehouse, status.district);
        self.lock_tables(&[
            (Relation::Customer, TableLock::AccessShare),
            (Relation::Orders, TableLock::AccessShare),
            (Relation::OrderLine, TableLock::AccessShare),
        ])?;
        let c = self.find_customer(w, d, &status.customer)?;
        self.read(Relation::Customer, &Key::of([w, d, c]))?;
        let prefix = Key::of([w, d, c]);
        let mut orders =
            self.scan(Relation::OrdersCustomer, prefix.bytes(), Direction::Backward)?;
        let last = orders.advance(self.transaction)?.map(|found| last_number(found.key));
        let o = last.ok_or_else(|| missing("order of the customer"))?;
        self.read(Relation::Orders, &Key::of([w, d, o]))?;
        self.lines(o, d, |_, line| {
            std::hint::black_box(line);
        })?;
        Ok(Ended::Committed)
    }

    /// Looks at each line of an order.
    fn lines(&mut self, o: u32, d: u32, mut each: impl FnMut(&[u8], &[u8])) -> Result<(), Failure> {
        let prefix = Key::of([self.place.warehouse, d, o]);
        let mut scan = self.scan(Relation::OrderLine, prefix.bytes(), Direction::Forward)?;
        while let Some(found) = scan.advance(self.transaction)? {
            each(found.key, found.value);
        }
        Ok(())
    }

    fn delivery(&mut self, carrier: u32) -> Result<Ended, Failure> {
        let w = self.place.warehouse;
        self.lock_tables(&[
            (Relation::NewOrder, TableLock::RowExclusive),
            (Relation::Orders, TableLock::RowExclusive),
            (Relation::OrderLine, TableLock::RowExclusive),
            (Relation::Customer, TableLock::RowExclusive),
        ])?;
        for d in 1..=Scale::DISTRICTS {
            let Some(o) = self.take_oldest(d)? else { continue };
            let order = Key::of([w, d, o]);
            self.lock(Relation::Orders, &order)?;
            let c = number(self.row, 0) as u32;
            set_number(self.row, 2, i64::from(carrier));
            self.update(Relation::Orders, &order)?;
            let (mut amount, mut count) = (0, 0);
            self.lines(o, d, |_, line| {
                amount += number(line, 4);
                count += 1;
            })?;
            for at in 1..=count {
                let line = Key::of([w, d, o, at]);
                self.lock(Relation::OrderLine, &line)?;
                set_number(self.row, 2, self.now);
                self.update(Relation::OrderLine, &line)?;
            }
            let customer = Key::of([w, d, c]);
            self.lock(Relation::Customer, &customer)?;
            add(self.row, 3, amount);
            add(self.row, 6, 1);
            self.update(Relation::Customer, &customer)?;
        }
        Ok(Ended::Committed)
    }

    /// Deletes the oldest order of a district that has not been delivered; none if all have been (clause 2.7.4.2).
    fn take_oldest(&mut self, d: u32) -> Result<Option<u32>, Failure> {
        let prefix = Key::of([self.place.warehouse, d]);
        let mut scan = self.scan(Relation::NewOrder, prefix.bytes(), Direction::Forward)?;
        while let Some(o) = scan.advance(self.transaction)?.map(|found| last_number(found.key)) {
            let (tree, key) =
                (self.database.tree(Relation::NewOrder), Key::of([self.place.warehouse, d, o]));
            let (mode, policy) = (RowLock::Update, WaitPolicy::Block);
            // Whoever was faster has delivered it.
            if self.transaction.lock_key(tree, key.bytes(), mode, policy, self.found)? {
                self.transaction.delete(tree, key.bytes())?;
                return Ok(Some(o));
            }
        }
        Ok(None)
    }

    fn stock_level(&mut self, threshold: u32) -> Result<Ended, Failure> {
        let Place { warehouse: w, district: d } = self.place;
        self.lock_tables(&[
            (Relation::District, TableLock::AccessShare),
            (Relation::OrderLine, TableLock::AccessShare),
            (Relation::Stock, TableLock::AccessShare),
        ])?;
        self.read(Relation::District, &Key::of([w, d]))?;
        let next = number(self.found(), 2) as u32;
        let mut items = std::collections::HashSet::new();
        for o in next.saturating_sub(20)..next {
            self.lines(o, d, |_, line| {
                items.insert(number(line, 0) as u32);
            })?;
        }
        let mut low = 0;
        for item in items {
            self.read(Relation::Stock, &Key::of([w, item]))?;
            low += u32::from(number(self.found(), 0) < i64::from(threshold));
        }
        std::hint::black_box(low);
        Ok(Ended::Committed)
    }
}
