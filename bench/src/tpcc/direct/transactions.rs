//! The five transactions, row by row, on whatever keeps their rows.

use super::row::{ABSENT, Relation, add, build, number, set_number};
use super::store::Store;
use crate::tpcc::Scale;
use crate::tpcc::client::Failure;
use crate::tpcc::transactions::{
    Customer, Ended, Input, NewOrder, OrderStatus, Payment, Place, missing,
};
use std::ops::ControlFlow;
use txn::{Direction, TableLock};

/// A transaction under way.
pub(super) struct Work<'s, S> {
    pub(super) store: &'s mut S,
    pub(super) place: Place,
    /// When it runs, in microseconds.
    pub(super) now: i64,
    /// The row that is made.
    pub(super) made: &'s mut Vec<u8>,
}

impl<S: Store> Work<'_, S> {
    /// Does what is asked for.
    pub(super) fn run(&mut self, input: &Input) -> Result<Ended, Failure> {
        match input {
            Input::NewOrder(order) => self.new_order(order),
            Input::Payment(payment) => self.payment(payment),
            Input::OrderStatus(status) => self.order_status(status),
            Input::Delivery(carrier) => self.delivery(*carrier),
            Input::StockLevel(threshold) => self.stock_level(*threshold),
        }
    }

    /// Reads a row that the population has put there.
    fn read<T>(
        &mut self,
        relation: Relation,
        key: S::Key,
        look: impl FnOnce(&[u8]) -> T,
    ) -> Result<T, Failure> {
        self.store.read(relation, key, look)?.ok_or_else(|| missing(&format!("{relation:?}")))
    }

    fn new_order(&mut self, order: &NewOrder) -> Result<Ended, Failure> {
        let (w, d, c) = (self.place.warehouse, order.district, order.customer);
        self.store.lock_tables(&[
            (Relation::Warehouse, TableLock::AccessShare),
            (Relation::Customer, TableLock::AccessShare),
            (Relation::District, TableLock::RowExclusive),
            (Relation::Orders, TableLock::RowExclusive),
            (Relation::NewOrder, TableLock::RowExclusive),
            (Relation::Item, TableLock::AccessShare),
            (Relation::Stock, TableLock::RowExclusive),
            (Relation::OrderLine, TableLock::RowExclusive),
        ])?;
        let warehouse_tax = self.read(Relation::Warehouse, S::key([w]), |row| number(row, 0))?;
        let discount = self.read(Relation::Customer, S::key([w, d, c]), |row| number(row, 2))?;
        let (district_tax, o) = change(self.store, Relation::District, S::key([w, d]), |row| {
            let o = number(row, 2) as u32;
            add(row, 2, 1);
            (number(row, 0), o)
        })?;
        let local = order.lines.iter().all(|line| line.supplier == w);
        let lines = order.lines.len() as i64;
        build(self.made, &[i64::from(c), self.now, ABSENT, lines, i64::from(local)], &[]);
        self.store.insert(Relation::Orders, S::key([w, d, o]), self.made)?;
        self.store.index(Relation::OrdersCustomer, S::key([w, d, c, o]))?;
        self.store.insert(Relation::NewOrder, S::key([w, d, o]), &[])?;
        let mut total = 0;
        for (at, line) in (1..).zip(&order.lines) {
            let price =
                self.store.read(Relation::Item, S::key([line.item]), |row| number(row, 1))?;
            let Some(price) = price else { return Ok(Ended::RolledBack) };
            let quantity = i64::from(line.quantity);
            let amount = price * quantity;
            total += amount;
            let made = &mut *self.made;
            change(self.store, Relation::Stock, S::key([line.supplier, line.item]), |row| {
                let left = number(row, 0) - quantity;
                set_number(row, 0, if left >= 10 { left } else { left + 91 });
                add(row, 1, quantity);
                add(row, 2, 1);
                add(row, 3, i64::from(line.supplier != w));
                let information = Relation::Stock.text(row, d as usize - 1);
                let (item, supplier) = (i64::from(line.item), i64::from(line.supplier));
                build(made, &[item, supplier, ABSENT, quantity, amount], &[information]);
            })?;
            self.store.insert(Relation::OrderLine, S::key([w, d, o, at]), self.made)?;
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
        let mut numbers = Vec::new();
        self.store.customers_named([w, d], name, |number| numbers.push(number))?;
        let middle = numbers.len().div_ceil(2).checked_sub(1);
        middle.map(|middle| numbers[middle]).ok_or_else(|| missing("customer of that name"))
    }

    fn payment(&mut self, payment: &Payment) -> Result<Ended, Failure> {
        let (w, d, amount) = (self.place.warehouse, payment.district, payment.amount.0);
        let (cw, cd) = (payment.customer_warehouse, payment.customer_district);
        self.store.lock_tables(&[
            (Relation::Warehouse, TableLock::RowExclusive),
            (Relation::District, TableLock::RowExclusive),
            (Relation::Customer, TableLock::RowExclusive),
            (Relation::History, TableLock::RowExclusive),
        ])?;
        // Two names of ten letters at most, and four blanks.
        let mut told = Vec::with_capacity(24);
        change(self.store, Relation::Warehouse, S::key([w]), |row| {
            add(row, 1, amount);
            told.extend_from_slice(Relation::Warehouse.text(row, 0));
        })?;
        told.extend_from_slice(b"    ");
        change(self.store, Relation::District, S::key([w, d]), |row| {
            add(row, 1, amount);
            told.extend_from_slice(Relation::District.text(row, 0));
        })?;
        let c = self.find_customer(cw, cd, &payment.customer)?;
        change(self.store, Relation::Customer, S::key([cw, cd, c]), |row| {
            add(row, 3, -amount);
            add(row, 4, amount);
            add(row, 5, 1);
            if Relation::Customer.text(row, 9) == b"BC" {
                let mut data = format!("{c} {cd} {cw} {d} {w} {} | ", payment.amount).into_bytes();
                data.extend_from_slice(Relation::Customer.text(row, 10));
                data.truncate(500);
                Relation::Customer.replace_last_text(row, 10, &data);
            }
        })?;
        let [c, cd, cw, d, w] = [c, cd, cw, d, w].map(i64::from);
        build(self.made, &[c, cd, cw, d, w, self.now, amount], &[&told]);
        self.store.append_history(self.made)?;
        Ok(Ended::Committed)
    }

    fn order_status(&mut self, status: &OrderStatus) -> Result<Ended, Failure> {
        let (w, d) = (self.place.warehouse, status.district);
        self.store.lock_tables(&[
            (Relation::Customer, TableLock::AccessShare),
            (Relation::Orders, TableLock::AccessShare),
            (Relation::OrderLine, TableLock::AccessShare),
        ])?;
        let c = self.find_customer(w, d, &status.customer)?;
        let look = |row: &[u8]| {
            std::hint::black_box(row);
        };
        self.read(Relation::Customer, S::key([w, d, c]), look)?;
        let mut last = None;
        let prefix = [w, d, c];
        self.store.scan(Relation::OrdersCustomer, prefix, Direction::Backward, |o, _| {
            last = Some(o);
            ControlFlow::Break(())
        })?;
        let o = last.ok_or_else(|| missing("order of the customer"))?;
        self.read(Relation::Orders, S::key([w, d, o]), look)?;
        self.lines(o, d, look)?;
        Ok(Ended::Committed)
    }

    /// Looks at each line of an order.
    fn lines(&mut self, o: u32, d: u32, mut each: impl FnMut(&[u8])) -> Result<(), Failure> {
        let prefix = [self.place.warehouse, d, o];
        self.store.scan(Relation::OrderLine, prefix, Direction::Forward, |_, line| {
            each(line);
            ControlFlow::Continue(())
        })
    }

    fn delivery(&mut self, carrier: u32) -> Result<Ended, Failure> {
        let (w, now) = (self.place.warehouse, self.now);
        self.store.lock_tables(&[
            (Relation::NewOrder, TableLock::RowExclusive),
            (Relation::Orders, TableLock::RowExclusive),
            (Relation::OrderLine, TableLock::RowExclusive),
            (Relation::Customer, TableLock::RowExclusive),
        ])?;
        for d in 1..=Scale::DISTRICTS {
            // All of a district's orders may have been delivered (clause 2.7.4.2).
            let Some(o) = self.store.take_first(Relation::NewOrder, [w, d])? else { continue };
            let c = change(self.store, Relation::Orders, S::key([w, d, o]), |row| {
                set_number(row, 2, i64::from(carrier));
                number(row, 0) as u32
            })?;
            let (mut amount, mut count) = (0, 0);
            self.lines(o, d, |line| {
                amount += number(line, 4);
                count += 1;
            })?;
            for at in 1..=count {
                let line = S::key([w, d, o, at]);
                change(self.store, Relation::OrderLine, line, |row| set_number(row, 2, now))?;
            }
            change(self.store, Relation::Customer, S::key([w, d, c]), |row| {
                add(row, 3, amount);
                add(row, 6, 1);
            })?;
        }
        Ok(Ended::Committed)
    }

    fn stock_level(&mut self, threshold: u32) -> Result<Ended, Failure> {
        let Place { warehouse: w, district: d } = self.place;
        self.store.lock_tables(&[
            (Relation::District, TableLock::AccessShare),
            (Relation::OrderLine, TableLock::AccessShare),
            (Relation::Stock, TableLock::AccessShare),
        ])?;
        let next = self.read(Relation::District, S::key([w, d]), |row| number(row, 2) as u32)?;
        let mut items = std::collections::HashSet::new();
        for o in next.saturating_sub(20)..next {
            self.lines(o, d, |line| {
                items.insert(number(line, 0) as u32);
            })?;
        }
        let mut low = 0;
        for item in items {
            let left = self.read(Relation::Stock, S::key([w, item]), |row| number(row, 0))?;
            low += u32::from(left < i64::from(threshold));
        }
        std::hint::black_box(low);
        Ok(Ended::Committed)
    }
}

/// Changes a row that the population, or an order, has put there.
fn change<S: Store, T>(
    store: &mut S,
    relation: Relation,
    key: S::Key,
    change: impl FnOnce(&mut Vec<u8>) -> T,
) -> Result<T, Failure> {
    store.change(relation, key, change)?.ok_or_else(|| missing(&format!("{relation:?}")))
}
