//! The five transactions (clause 2): inputs as the standard draws them, statements as an application sends them.

use super::Scale;
use super::client::{Client, Failure};
use super::driver::Performer;
use super::functions;
use super::procedures::{self, array};
use super::random::{RUN, Random, last_name};
use super::statement::{Cents, Parameters, Rows, Statement};
use std::fmt::Display;

/// Which transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, clap::ValueEnum)]
pub enum Kind {
    /// Enters an order.
    NewOrder,
    /// Takes a payment.
    Payment,
    /// Looks up a customer's last order.
    OrderStatus,
    /// Delivers the oldest order of each district.
    Delivery,
    /// Counts the items that run low.
    StockLevel,
}

impl Kind {
    /// All, in the order of the standard.
    pub const ALL: [Kind; 5] =
        [Kind::NewOrder, Kind::Payment, Kind::OrderStatus, Kind::Delivery, Kind::StockLevel];

    /// How many of a hundred transactions are of this kind (clause 5.2.3 gives the least; New-Order has the rest).
    #[must_use]
    pub fn share(self) -> usize {
        match self {
            Kind::NewOrder => 45,
            Kind::Payment => 43,
            Kind::OrderStatus | Kind::Delivery | Kind::StockLevel => 4,
        }
    }

    /// The standard's name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Kind::NewOrder => "New-Order",
            Kind::Payment => "Payment",
            Kind::OrderStatus => "Order-Status",
            Kind::Delivery => "Delivery",
            Kind::StockLevel => "Stock-Level",
        }
    }
}

/// A hundred transactions in random order (clause 5.2.4.2): each kind has exactly its share.
#[must_use]
pub fn deck(random: &mut Random) -> Vec<Kind> {
    let mut deck: Vec<Kind> =
        Kind::ALL.into_iter().flat_map(|kind| std::iter::repeat_n(kind, kind.share())).collect();
    random.shuffle(&mut deck);
    deck
}

/// How a transaction ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// As it should.
    Committed,
    /// As one New-Order in a hundred should: an item was not there.
    RolledBack,
}

/// A customer, by number or by last name.
#[derive(Clone, Debug)]
pub(super) enum Customer {
    Number(u32),
    Name(String),
}

impl Customer {
    /// The number, or 0, and the name, or nothing.
    fn parts(&self) -> (u32, &str) {
        match self {
            Customer::Number(number) => (*number, ""),
            Customer::Name(name) => (0, name),
        }
    }
}

/// One line of an order.
#[derive(Clone, Copy, Debug)]
pub(super) struct OrderLine {
    pub(super) item: u32,
    pub(super) supplier: u32,
    pub(super) quantity: u32,
}

/// What a transaction is about: drawn once, so that it can be run again.
#[derive(Clone, Debug)]
pub enum Input {
    /// New-Order.
    NewOrder(NewOrder),
    /// Payment.
    Payment(Payment),
    /// Order-Status.
    OrderStatus(OrderStatus),
    /// Delivery, with its carrier.
    Delivery(u32),
    /// Stock-Level, with its threshold.
    StockLevel(u32),
}

/// An order to enter.
#[derive(Clone, Debug)]
pub struct NewOrder {
    pub(super) district: u32,
    pub(super) customer: u32,
    pub(super) lines: Vec<OrderLine>,
}

/// A payment to take.
#[derive(Clone, Debug)]
pub struct Payment {
    pub(super) district: u32,
    pub(super) customer_warehouse: u32,
    pub(super) customer_district: u32,
    pub(super) customer: Customer,
    pub(super) amount: Cents,
}

/// A customer to look up.
#[derive(Clone, Debug)]
pub struct OrderStatus {
    pub(super) district: u32,
    pub(super) customer: Customer,
}

/// Where a session sits: its warehouse and its district (clause 2.8.1.1: Stock-Level never asks another one).
#[derive(Clone, Copy, Debug)]
pub struct Place {
    /// Its warehouse.
    pub warehouse: u32,
    /// Its district.
    pub district: u32,
}

impl Input {
    /// Draws the input of a transaction.
    pub fn draw(kind: Kind, random: &mut Random, scale: &Scale, place: Place) -> Input {
        let district = random.uniform(1, Scale::DISTRICTS);
        match kind {
            Kind::NewOrder => {
                let customer = random.customer(&RUN, scale.customers);
                let mut lines: Vec<OrderLine> = (0..random.uniform(5, 15))
                    .map(|_| OrderLine {
                        item: random.item(&RUN, scale.items),
                        supplier: match random.chance(1) {
                            true => other_warehouse(random, scale, place.warehouse),
                            false => place.warehouse,
                        },
                        quantity: random.uniform(1, 10),
                    })
                    .collect();
                if random.chance(1) {
                    let last = lines.last_mut().expect("an order has five lines");
                    last.item = scale.items + 1;
                }
                Input::NewOrder(NewOrder { district, customer, lines })
            }
            Kind::Payment => {
                let (customer_warehouse, customer_district) = if random.chance(85) {
                    (place.warehouse, district)
                } else {
                    let other = other_warehouse(random, scale, place.warehouse);
                    (other, random.uniform(1, Scale::DISTRICTS))
                };
                let customer = draw_customer(random, scale);
                let amount = Cents(i64::from(random.uniform(100, 500_000)));
                Input::Payment(Payment {
                    district,
                    customer_warehouse,
                    customer_district,
                    customer,
                    amount,
                })
            }
            Kind::OrderStatus => {
                let customer = draw_customer(random, scale);
                Input::OrderStatus(OrderStatus { district, customer })
            }
            Kind::Delivery => Input::Delivery(random.uniform(1, 10)),
            Kind::StockLevel => Input::StockLevel(random.uniform(10, 20)),
        }
    }
}

fn other_warehouse(random: &mut Random, scale: &Scale, home: u32) -> u32 {
    if scale.warehouses == 1 {
        return home;
    }
    let other = random.uniform(1, scale.warehouses - 1);
    if other < home { other } else { other + 1 }
}

/// By last name in six of ten cases.
fn draw_customer(random: &mut Random, scale: &Scale) -> Customer {
    if random.chance(60) {
        Customer::Name(last_name(random.last_name_number(&RUN, scale.last_name_max())))
    } else {
        Customer::Number(random.customer(&RUN, scale.customers))
    }
}

macro_rules! statements {
    ($($name:ident = $text:expr;)*) => {
        $(const $name: Statement = Statement { name: stringify!($name), text: $text };)*
    };
}

statements! {
    COMMIT = "COMMIT";
    ROLLBACK = "ROLLBACK";
    NEW_ORDER_CUSTOMER = "SELECT c_discount, c_last, c_credit, w_tax FROM customer, warehouse \
        WHERE w_id = $1 AND c_w_id = w_id AND c_d_id = $2 AND c_id = $3";
    DISTRICT_FOR_UPDATE =
        "SELECT d_next_o_id, d_tax FROM district WHERE d_w_id = $1 AND d_id = $2 FOR UPDATE";
    DISTRICT_NEXT = "UPDATE district SET d_next_o_id = $1 + 1 WHERE d_w_id = $2 AND d_id = $3";
    INSERT_ORDER = "INSERT INTO orders (o_id, o_d_id, o_w_id, o_c_id, o_entry_d, o_ol_cnt, o_all_local) \
        VALUES ($1, $2, $3, $4, CURRENT_TIMESTAMP, $5, $6)";
    INSERT_NEW_ORDER = "INSERT INTO new_order (no_o_id, no_d_id, no_w_id) VALUES ($1, $2, $3)";
    ITEM = "SELECT i_price, i_name, i_data FROM item WHERE i_id = $1";
    STOCK_FOR_UPDATE = "SELECT s_quantity, s_data, s_dist_01, s_dist_02, s_dist_03, s_dist_04, s_dist_05, \
        s_dist_06, s_dist_07, s_dist_08, s_dist_09, s_dist_10 FROM stock WHERE s_w_id = $1 AND s_i_id = $2 FOR UPDATE";
    UPDATE_STOCK = "UPDATE stock SET s_quantity = $1, s_ytd = s_ytd + $2, s_order_cnt = s_order_cnt + 1, \
        s_remote_cnt = s_remote_cnt + $3 WHERE s_w_id = $4 AND s_i_id = $5";
    INSERT_ORDER_LINE = "INSERT INTO order_line (ol_o_id, ol_d_id, ol_w_id, ol_number, ol_i_id, ol_supply_w_id, \
        ol_quantity, ol_amount, ol_dist_info) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)";
    PAY_WAREHOUSE = "UPDATE warehouse SET w_ytd = w_ytd + $1 WHERE w_id = $2";
    WAREHOUSE_ADDRESS =
        "SELECT w_name, w_street_1, w_street_2, w_city, w_state, w_zip FROM warehouse WHERE w_id = $1";
    PAY_DISTRICT = "UPDATE district SET d_ytd = d_ytd + $1 WHERE d_w_id = $2 AND d_id = $3";
    DISTRICT_ADDRESS = "SELECT d_name, d_street_1, d_street_2, d_city, d_state, d_zip FROM district \
        WHERE d_w_id = $1 AND d_id = $2";
    CUSTOMERS_BY_NAME =
        "SELECT c_id FROM customer WHERE c_w_id = $1 AND c_d_id = $2 AND c_last = $3 ORDER BY c_first";
    CUSTOMER_FOR_UPDATE = "SELECT c_first, c_middle, c_last, c_street_1, c_street_2, c_city, c_state, c_zip, c_phone, \
        c_credit, c_credit_lim, c_discount, c_balance, c_since FROM customer \
        WHERE c_w_id = $1 AND c_d_id = $2 AND c_id = $3 FOR UPDATE";
    CUSTOMER_DATA = "SELECT c_data FROM customer WHERE c_w_id = $1 AND c_d_id = $2 AND c_id = $3";
    PAY_CUSTOMER = "UPDATE customer SET c_balance = c_balance - $1, c_ytd_payment = c_ytd_payment + $2, \
        c_payment_cnt = c_payment_cnt + 1 WHERE c_w_id = $3 AND c_d_id = $4 AND c_id = $5";
    PAY_CUSTOMER_WITH_DATA = "UPDATE customer SET c_balance = c_balance - $1, c_ytd_payment = c_ytd_payment + $2, \
        c_payment_cnt = c_payment_cnt + 1, c_data = $3 WHERE c_w_id = $4 AND c_d_id = $5 AND c_id = $6";
    INSERT_HISTORY = "INSERT INTO history (h_c_id, h_c_d_id, h_c_w_id, h_d_id, h_w_id, h_date, h_amount, h_data) \
        VALUES ($1, $2, $3, $4, $5, CURRENT_TIMESTAMP, $6, $7)";
    CUSTOMER_BALANCE = "SELECT c_balance, c_first, c_middle, c_last FROM customer \
        WHERE c_w_id = $1 AND c_d_id = $2 AND c_id = $3";
    LAST_ORDER = "SELECT o_id, o_carrier_id, o_entry_d FROM orders \
        WHERE o_w_id = $1 AND o_d_id = $2 AND o_c_id = $3 ORDER BY o_id DESC LIMIT 1";
    ORDER_LINES = "SELECT ol_i_id, ol_supply_w_id, ol_quantity, ol_amount, ol_delivery_d FROM order_line \
        WHERE ol_w_id = $1 AND ol_d_id = $2 AND ol_o_id = $3";
    OLDEST_NEW_ORDER = "SELECT no_o_id FROM new_order WHERE no_w_id = $1 AND no_d_id = $2 \
        ORDER BY no_o_id LIMIT 1 FOR UPDATE";
    DELETE_NEW_ORDER = "DELETE FROM new_order WHERE no_w_id = $1 AND no_d_id = $2 AND no_o_id = $3";
    ORDER_CUSTOMER = "SELECT o_c_id FROM orders WHERE o_w_id = $1 AND o_d_id = $2 AND o_id = $3";
    CARRY_ORDER = "UPDATE orders SET o_carrier_id = $1 WHERE o_w_id = $2 AND o_d_id = $3 AND o_id = $4";
    DELIVER_LINES = "UPDATE order_line SET ol_delivery_d = CURRENT_TIMESTAMP \
        WHERE ol_w_id = $1 AND ol_d_id = $2 AND ol_o_id = $3";
    ORDER_AMOUNT =
        "SELECT sum(ol_amount) FROM order_line WHERE ol_w_id = $1 AND ol_d_id = $2 AND ol_o_id = $3";
    DELIVER_CUSTOMER = "UPDATE customer SET c_balance = c_balance + $1, c_delivery_cnt = c_delivery_cnt + 1 \
        WHERE c_w_id = $2 AND c_d_id = $3 AND c_id = $4";
    DISTRICT_ORDERS = "SELECT d_next_o_id FROM district WHERE d_w_id = $1 AND d_id = $2";
    LOW_STOCK = "SELECT count(DISTINCT s_i_id) FROM order_line, stock \
        WHERE ol_w_id = $1 AND ol_d_id = $2 AND ol_o_id < $3 AND ol_o_id >= $3 - 20 \
        AND s_w_id = $4 AND s_i_id = ol_i_id AND s_quantity < $5";
}

/// The statement that begins a transaction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Isolation {
    /// READ COMMITTED.
    #[default]
    ReadCommitted,
    /// REPEATABLE READ.
    RepeatableRead,
    /// SERIALIZABLE.
    Serializable,
}

impl Isolation {
    /// Makes it the level of a session's transactions.
    fn default_of_session(self) -> &'static str {
        match self {
            Isolation::ReadCommitted => "SET default_transaction_isolation = 'read committed'",
            Isolation::RepeatableRead => "SET default_transaction_isolation = 'repeatable read'",
            Isolation::Serializable => "SET default_transaction_isolation = 'serializable'",
        }
    }

    fn begin(self) -> Statement {
        let text = match self {
            Isolation::ReadCommitted => "BEGIN ISOLATION LEVEL READ COMMITTED",
            Isolation::RepeatableRead => "BEGIN ISOLATION LEVEL REPEATABLE READ",
            Isolation::Serializable => "BEGIN ISOLATION LEVEL SERIALIZABLE",
        };
        Statement { name: "BEGIN", text }
    }
}

/// How a session asks for its transactions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Form {
    /// Statement by statement.
    #[default]
    Statements,
    /// As one CALL of a procedure each.
    Calls,
    /// As one query of a function each, as in kits that people point at PostgreSQL.
    Functions,
}

/// A session at work.
pub struct Terminal {
    client: Box<dyn Client + Send>,
    place: Place,
    isolation: Isolation,
    form: Form,
    parameters: Parameters,
    rows: Rows,
}

/// Something that TPC-C's population makes impossible.
pub(super) fn missing(what: &str) -> Failure {
    Failure { sqlstate: "P0002".to_owned(), message: format!("no {what}") }
}

impl Terminal {
    /// A session at its place.
    #[must_use]
    pub fn new(
        client: Box<dyn Client + Send>,
        place: Place,
        isolation: Isolation,
        form: Form,
    ) -> Terminal {
        Terminal {
            client,
            place,
            isolation,
            form,
            parameters: Parameters::default(),
            rows: Rows::default(),
        }
    }

    /// Makes the session ready for its transactions.
    ///
    /// # Errors
    /// The server's.
    pub fn begin(&mut self) -> Result<(), Failure> {
        match self.form {
            Form::Statements => Ok(()),
            Form::Calls | Form::Functions => {
                self.client.execute(self.isolation.default_of_session(), &mut self.rows)
            }
        }
    }

    fn run(&mut self, statement: &Statement, parameters: &[&dyn Display]) -> Result<(), Failure> {
        self.parameters.clear();
        for parameter in parameters {
            self.parameters.add(parameter);
        }
        self.client.run(statement, &self.parameters, &mut self.rows)
    }

    /// Runs a statement that must meet at least one row.
    fn meet(
        &mut self,
        statement: &Statement,
        parameters: &[&dyn Display],
        what: &str,
    ) -> Result<(), Failure> {
        self.run(statement, parameters)?;
        if self.rows.affected == 0 { Err(missing(what)) } else { Ok(()) }
    }

    /// Runs a transaction as one call; its isolation level is the session's.
    fn call(&mut self, input: &Input) -> Result<Ended, Failure> {
        let Place { warehouse: w, district } = self.place;
        let called = match input {
            Input::NewOrder(order) => {
                let of = |value: fn(&OrderLine) -> u32| array(order.lines.iter().map(value));
                let items = of(|line| line.item);
                let (suppliers, quantities) = (of(|line| line.supplier), of(|line| line.quantity));
                let (d, c) = (order.district, order.customer);
                self.run(&procedures::NEW_ORDER, &[&w, &d, &c, &items, &suppliers, &quantities])
            }
            Input::Payment(payment) => {
                let (number, name) = payment.customer.parts();
                let (cw, cd) = (payment.customer_warehouse, payment.customer_district);
                let given: [&dyn Display; 7] =
                    [&w, &payment.district, &cw, &cd, &number, &name, &payment.amount];
                self.run(&procedures::PAYMENT, &given)
            }
            Input::OrderStatus(status) => {
                let (number, name) = status.customer.parts();
                self.run(&procedures::ORDER_STATUS, &[&w, &status.district, &number, &name])
            }
            Input::Delivery(carrier) => self.run(&procedures::DELIVERY, &[&w, carrier]),
            Input::StockLevel(threshold) => {
                self.run(&procedures::STOCK_LEVEL, &[&w, &district, threshold])
            }
        };
        match called {
            Ok(()) => Ok(Ended::Committed),
            Err(failure)
                if failure.sqlstate == procedures::UNUSED_ITEM
                    && matches!(input, Input::NewOrder(_)) =>
            {
                Ok(Ended::RolledBack)
            }
            Err(failure) => Err(failure),
        }
    }

    /// Runs a transaction as one query of a function, which draws what is ordered.
    fn query(&mut self, input: &Input) -> Result<Ended, Failure> {
        let Place { warehouse: w, district } = self.place;
        match input {
            Input::NewOrder(order) => {
                let (d, c, lines) = (order.district, order.customer, order.lines.len());
                self.run(&functions::NEW_ORDER, &[&w, &d, &c, &lines])?;
                if self.rows.get(0, 0).is_none() {
                    return Ok(Ended::RolledBack);
                }
            }
            Input::Payment(payment) => {
                let (number, name) = payment.customer.parts();
                let (cw, cd) = (payment.customer_warehouse, payment.customer_district);
                let given: [&dyn Display; 7] =
                    [&w, &payment.district, &cw, &cd, &number, &name, &payment.amount];
                self.run(&functions::PAYMENT, &given)?;
            }
            Input::OrderStatus(status) => {
                let (number, name) = status.customer.parts();
                self.run(&functions::ORDER_STATUS, &[&w, &status.district, &number, &name])?;
            }
            Input::Delivery(carrier) => self.run(&functions::DELIVERY, &[&w, carrier])?,
            Input::StockLevel(threshold) => {
                self.run(&functions::STOCK_LEVEL, &[&w, &district, threshold])?;
            }
        }
        Ok(Ended::Committed)
    }

    fn new_order(&mut self, order: &NewOrder) -> Result<Ended, Failure> {
        let (w, d, c) = (self.place.warehouse, order.district, order.customer);
        self.meet(&NEW_ORDER_CUSTOMER, &[&w, &d, &c], "customer")?;
        self.meet(&DISTRICT_FOR_UPDATE, &[&w, &d], "district")?;
        let o = self.rows.int(0, 0);
        self.meet(&DISTRICT_NEXT, &[&o, &w, &d], "district")?;
        let local = order.lines.iter().all(|line| line.supplier == w);
        self.run(&INSERT_ORDER, &[&o, &d, &w, &c, &order.lines.len(), &u8::from(local)])?;
        self.run(&INSERT_NEW_ORDER, &[&o, &d, &w])?;
        for (at, line) in order.lines.iter().enumerate() {
            self.run(&ITEM, &[&line.item])?;
            if self.rows.is_empty() {
                return Ok(Ended::RolledBack);
            }
            let amount = Cents(self.rows.cents(0, 0) * i64::from(line.quantity));
            self.meet(&STOCK_FOR_UPDATE, &[&line.supplier, &line.item], "stock")?;
            let left = self.rows.int(0, 0) - i64::from(line.quantity);
            let left = if left >= 10 { left } else { left + 91 };
            let district_info = self.rows.text(0, 1 + d as usize).to_owned();
            let remote = u8::from(line.supplier != w);
            self.meet(
                &UPDATE_STOCK,
                &[&left, &line.quantity, &remote, &line.supplier, &line.item],
                "stock",
            )?;
            self.run(
                &INSERT_ORDER_LINE,
                &[
                    &o,
                    &d,
                    &w,
                    &(at + 1),
                    &line.item,
                    &line.supplier,
                    &line.quantity,
                    &amount,
                    &district_info,
                ],
            )?;
        }
        Ok(Ended::Committed)
    }

    /// The customer's number: of several with a name, the one in the middle (clause 2.5.2.2).
    fn find_customer(&mut self, w: u32, d: u32, customer: &Customer) -> Result<u32, Failure> {
        match customer {
            Customer::Number(number) => Ok(*number),
            Customer::Name(name) => {
                self.meet(&CUSTOMERS_BY_NAME, &[&w, &d, name], "customer of that name")?;
                Ok(self.rows.int(self.rows.len().div_ceil(2) - 1, 0) as u32)
            }
        }
    }

    fn payment(&mut self, payment: &Payment) -> Result<Ended, Failure> {
        let (w, d, amount) = (self.place.warehouse, payment.district, payment.amount);
        let (cw, cd) = (payment.customer_warehouse, payment.customer_district);
        self.meet(&PAY_WAREHOUSE, &[&amount, &w], "warehouse")?;
        self.meet(&WAREHOUSE_ADDRESS, &[&w], "warehouse")?;
        let warehouse_name = self.rows.text(0, 0).to_owned();
        self.meet(&PAY_DISTRICT, &[&amount, &w, &d], "district")?;
        self.meet(&DISTRICT_ADDRESS, &[&w, &d], "district")?;
        let history = format!("{warehouse_name}    {}", self.rows.text(0, 0));
        let c = self.find_customer(cw, cd, &payment.customer)?;
        self.meet(&CUSTOMER_FOR_UPDATE, &[&cw, &cd, &c], "customer")?;
        if self.rows.text(0, 9) == "BC" {
            self.meet(&CUSTOMER_DATA, &[&cw, &cd, &c], "customer")?;
            let mut data = format!("{c} {cd} {cw} {d} {w} {amount} | {}", self.rows.text(0, 0));
            data.truncate(500);
            self.meet(
                &PAY_CUSTOMER_WITH_DATA,
                &[&amount, &amount, &data, &cw, &cd, &c],
                "customer",
            )?;
        } else {
            self.meet(&PAY_CUSTOMER, &[&amount, &amount, &cw, &cd, &c], "customer")?;
        }
        self.run(&INSERT_HISTORY, &[&c, &cd, &cw, &d, &w, &amount, &history])?;
        Ok(Ended::Committed)
    }

    fn order_status(&mut self, status: &OrderStatus) -> Result<Ended, Failure> {
        let (w, d) = (self.place.warehouse, status.district);
        let c = self.find_customer(w, d, &status.customer)?;
        self.meet(&CUSTOMER_BALANCE, &[&w, &d, &c], "customer")?;
        self.meet(&LAST_ORDER, &[&w, &d, &c], "order of the customer")?;
        let o = self.rows.int(0, 0);
        self.meet(&ORDER_LINES, &[&w, &d, &o], "line of the order")?;
        Ok(Ended::Committed)
    }

    fn delivery(&mut self, carrier: u32) -> Result<Ended, Failure> {
        let w = self.place.warehouse;
        for d in 1..=Scale::DISTRICTS {
            self.run(&OLDEST_NEW_ORDER, &[&w, &d])?;
            if self.rows.is_empty() {
                // All of the district's orders have been delivered: clause 2.7.4.2 passes it over.
                continue;
            }
            let o = self.rows.int(0, 0);
            self.meet(&DELETE_NEW_ORDER, &[&w, &d, &o], "new order")?;
            self.meet(&ORDER_CUSTOMER, &[&w, &d, &o], "order")?;
            let c = self.rows.int(0, 0);
            self.meet(&CARRY_ORDER, &[&carrier, &w, &d, &o], "order")?;
            self.meet(&DELIVER_LINES, &[&w, &d, &o], "line of the order")?;
            self.meet(&ORDER_AMOUNT, &[&w, &d, &o], "line of the order")?;
            let amount = Cents(self.rows.cents(0, 0));
            self.meet(&DELIVER_CUSTOMER, &[&amount, &w, &d, &c], "customer")?;
        }
        Ok(Ended::Committed)
    }

    fn stock_level(&mut self, threshold: u32) -> Result<Ended, Failure> {
        let Place { warehouse, district } = self.place;
        self.meet(&DISTRICT_ORDERS, &[&warehouse, &district], "district")?;
        let next = self.rows.int(0, 0);
        self.meet(&LOW_STOCK, &[&warehouse, &district, &next, &warehouse, &threshold], "count")?;
        Ok(Ended::Committed)
    }
}

impl Performer for Terminal {
    fn perform(&mut self, input: &Input) -> Result<Ended, Failure> {
        match self.form {
            Form::Statements => {}
            Form::Calls => return self.call(input),
            Form::Functions => return self.query(input),
        }
        let begin = self.isolation.begin();
        self.run(&begin, &[])?;
        let done = match input {
            Input::NewOrder(order) => self.new_order(order),
            Input::Payment(payment) => self.payment(payment),
            Input::OrderStatus(status) => self.order_status(status),
            Input::Delivery(carrier) => self.delivery(*carrier),
            Input::StockLevel(threshold) => self.stock_level(*threshold),
        };
        match done {
            Ok(Ended::Committed) => self.run(&COMMIT, &[]).map(|()| Ended::Committed),
            Ok(Ended::RolledBack) => self.run(&ROLLBACK, &[]).map(|()| Ended::RolledBack),
            Err(failure) => {
                self.run(&ROLLBACK, &[])?;
                Err(failure)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Customer, Input, Kind, Place, deck};
    use crate::tpcc::Scale;
    use crate::tpcc::random::Random;

    #[test]
    fn a_deck_has_the_mix_of_the_standard() {
        assert_eq!(Kind::ALL.map(Kind::share).iter().sum::<usize>(), 100);
        let deck = deck(&mut Random::new(1));
        for kind in Kind::ALL {
            assert_eq!(deck.iter().filter(|&&drawn| drawn == kind).count(), kind.share());
        }
    }

    #[test]
    fn inputs_are_remote_and_wrong_as_often_as_the_standard_wants() {
        let (mut random, scale) = (Random::new(2), Scale::standard(4));
        let place = Place { warehouse: 2, district: 3 };
        let (mut lines, mut remote, mut wrong, mut by_name, mut away) = (0, 0, 0, 0, 0);
        for _ in 0..10_000 {
            let Input::NewOrder(order) = Input::draw(Kind::NewOrder, &mut random, &scale, place)
            else {
                panic!("a New-Order");
            };
            assert!((5..=15).contains(&order.lines.len()));
            lines += order.lines.len();
            for line in &order.lines {
                assert!((1..=4).contains(&line.supplier) && (1..=10).contains(&line.quantity));
                remote += usize::from(line.supplier != 2);
            }
            wrong += usize::from(order.lines.iter().any(|line| line.item > scale.items));
            let Input::Payment(payment) = Input::draw(Kind::Payment, &mut random, &scale, place)
            else {
                panic!("a Payment");
            };
            by_name += usize::from(matches!(payment.customer, Customer::Name(_)));
            away += usize::from(payment.customer_warehouse != 2);
            assert!((100..=500_000).contains(&payment.amount.0));
        }
        assert!((95_000..105_000).contains(&lines), "{lines}");
        assert!((lines / 125..lines / 80).contains(&remote), "{remote} of {lines}");
        assert!((60..150).contains(&wrong), "{wrong}");
        assert!((5800..6200).contains(&by_name), "{by_name}");
        assert!((1350..1650).contains(&away), "{away}");
    }

    #[test]
    fn one_warehouse_has_no_other() {
        let (mut random, scale) = (Random::new(3), Scale::small(1));
        for _ in 0..1000 {
            assert_eq!(super::other_warehouse(&mut random, &scale, 1), 1);
        }
    }
}
