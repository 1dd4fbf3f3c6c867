//! The consistency conditions 1 to 12 (clause 3.3.2) of a database without SQL: all rows are read, and counted by hand.

use super::row::{ABSENT, Relation, key_number, number};
use super::store::Tables;
use crate::tpcc::Scale;
use crate::tpcc::client::Failure;
use std::collections::{BTreeMap, BTreeSet};

/// A district, and what belongs to it.
type District = (u32, u32);
/// A customer or an order.
type Member = (u32, u32, u32);

/// What the conditions speak of.
#[derive(Default)]
struct Rows {
    /// What warehouses have been paid.
    warehouses: BTreeMap<u32, i64>,
    /// What districts have been paid, and their next order.
    districts: BTreeMap<District, (i64, i64)>,
    customers: BTreeMap<Member, Customer>,
    orders: BTreeMap<Member, Order>,
    new_orders: BTreeSet<Member>,
    lines: BTreeMap<Member, Lines>,
    /// What has been paid to each warehouse, to each district, by each customer.
    paid_warehouse: BTreeMap<u32, i64>,
    paid_district: BTreeMap<District, i64>,
    paid_by: BTreeMap<Member, i64>,
}

struct Customer {
    balance: i64,
    paid: i64,
    deliveries: i64,
}

struct Order {
    customer: u32,
    is_delivered: bool,
    lines: i64,
}

/// The lines of an order: how many, how many of them have been delivered, and for how much.
#[derive(Default)]
struct Lines {
    count: i64,
    delivered: i64,
    amount: i64,
}

fn district_of(key: &[u8]) -> District {
    (key_number(key, 0), key_number(key, 1))
}

fn member(key: &[u8]) -> Member {
    (key_number(key, 0), key_number(key, 1), key_number(key, 2))
}

impl Rows {
    fn read(database: &dyn Tables) -> Result<Rows, Failure> {
        let mut rows = Rows::default();
        database.each(Relation::Warehouse, &mut |key, row| {
            rows.warehouses.insert(key_number(key, 0), number(row, 1));
        })?;
        database.each(Relation::District, &mut |key, row| {
            rows.districts.insert(district_of(key), (number(row, 1), number(row, 2)));
        })?;
        database.each(Relation::Customer, &mut |key, row| {
            let [balance, paid, deliveries] = [3, 4, 6].map(|at| number(row, at));
            rows.customers.insert(member(key), Customer { balance, paid, deliveries });
        })?;
        database.each(Relation::History, &mut |_, row| {
            let [c, cd, cw, d, w] = [0, 1, 2, 3, 4].map(|at| number(row, at) as u32);
            let amount = number(row, 6);
            *rows.paid_warehouse.entry(w).or_default() += amount;
            *rows.paid_district.entry((w, d)).or_default() += amount;
            *rows.paid_by.entry((cw, cd, c)).or_default() += amount;
        })?;
        database.each(Relation::Orders, &mut |key, row| {
            let (customer, is_delivered) = (number(row, 0) as u32, number(row, 2) != ABSENT);
            let order = Order { customer, is_delivered, lines: number(row, 3) };
            rows.orders.insert(member(key), order);
        })?;
        database.each(Relation::NewOrder, &mut |key, _| {
            rows.new_orders.insert(member(key));
        })?;
        database.each(Relation::OrderLine, &mut |key, row| {
            let lines = rows.lines.entry(member(key)).or_default();
            lines.count += 1;
            if number(row, 2) != ABSENT {
                lines.delivered += 1;
                lines.amount += number(row, 4);
            }
        })?;
        Ok(rows)
    }
}

/// For each condition, in order, how many rows do not hold it.
///
/// # Errors
/// The database's own.
pub fn check(database: &dyn Tables, scale: &Scale) -> Result<[u64; 12], Failure> {
    let rows = Rows::read(database)?;
    let mut broken = [0; 12];
    let mut demand = |condition: usize, holds: bool| broken[condition - 1] += u64::from(!holds);
    for (w, paid) in &rows.warehouses {
        let districts = rows.districts.range((*w, 0)..=(*w, u32::MAX));
        demand(1, *paid == districts.map(|(_, (paid, _))| paid).sum::<i64>());
        demand(8, *paid == rows.paid_warehouse.get(w).copied().unwrap_or(0));
    }
    for (&(w, d), (paid, next)) in &rows.districts {
        let all = (w, d, 0)..=(w, d, u32::MAX);
        let orders = || rows.orders.range(all.clone());
        let open = || rows.new_orders.range(all.clone()).map(|order| i64::from(order.2));
        let last = orders().next_back().map_or(0, |(order, _)| i64::from(order.2));
        demand(2, next - 1 == last && next - 1 == open().next_back().unwrap_or(last));
        let span =
            open().next_back().zip(open().next()).map_or(0, |(last, first)| last - first + 1);
        demand(3, span == open().count() as i64);
        let promised: i64 = orders().map(|(_, order)| order.lines).sum();
        demand(4, promised == rows.lines.range(all.clone()).map(|(_, lines)| lines.count).sum());
        demand(9, *paid == rows.paid_district.get(&(w, d)).copied().unwrap_or(0));
        let customers = rows.customers.range(all.clone());
        let got: i64 = customers.map(|(_, customer)| customer.deliveries).sum();
        let delivered = (orders().count() - open().count()) as i64;
        demand(11, delivered == i64::from(scale.delivered()) + got);
    }
    let mut owed: BTreeMap<Member, i64> = BTreeMap::new();
    let none = Lines::default();
    for (&(w, d, o), order) in &rows.orders {
        let lines = rows.lines.get(&(w, d, o)).unwrap_or(&none);
        demand(5, order.is_delivered != rows.new_orders.contains(&(w, d, o)));
        demand(6, order.lines == lines.count);
        demand(7, lines.delivered == if order.is_delivered { lines.count } else { 0 });
        *owed.entry((w, d, order.customer)).or_default() += lines.amount;
    }
    demand(5, rows.new_orders.iter().all(|order| rows.orders.contains_key(order)));
    demand(6, rows.lines.keys().all(|order| rows.orders.contains_key(order)));
    for (who, customer) in &rows.customers {
        let owed = owed.get(who).copied().unwrap_or(0);
        let paid = rows.paid_by.get(who).copied().unwrap_or(0);
        demand(10, customer.balance == owed - paid);
        demand(12, customer.balance + customer.paid == owed);
    }
    Ok(broken)
}
