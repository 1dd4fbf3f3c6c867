//! TPC-C by statements or by calls: an own kit that drives any PostgreSQL server over the wire, or Atoll's engine without a socket.
//!
//! TPC-C, standard specification 5.11: the tables and their population (clauses 1 and 4), the five transactions with
//! their inputs (clause 2), the mix (clause 5.2.3) and the consistency conditions (clause 3.3.2). Differences: no think
//! and keying times, so throughput is what the server gives, and no terminals' screens. Each statement is prepared once
//! a session and takes a round trip of its own, as an ordinary application's does; parameters and results are text.
//!
//! - [`random`]: NURand, names, strings; [`schema`]: tables; [`population`]: their rows; [`load`]: the loader
//! - [`client`]: what a session can do; [`wire`], [`embedded`]: the two kinds; [`statement`]: prepared statements
//! - [`transactions`]: the five; [`procedures`]: the same in the server; [`functions`]: as other kits have them; [`driver`]: sessions side by side; [`consistency`]: conditions 1 to 12
//! - [`direct`]: the five, and the conditions, straight on `txn`
//! - [`measurement`]: the command; [`comparison`]: Atoll beside PostgreSQL; [`schemes`]: one scheme after another

pub mod client;
pub mod comparison;
pub mod consistency;
pub mod direct;
pub mod driver;
pub mod embedded;
pub mod functions;
pub mod load;
pub mod measurement;
pub mod population;
pub mod procedures;
pub mod random;
pub mod schema;
pub mod schemes;
pub mod statement;
pub mod transactions;
pub mod wire;

use client::{Client, Failure};

/// Opens sessions of the database that is measured.
pub trait Connector: Sync {
    /// A new session.
    ///
    /// # Errors
    /// The server refuses.
    fn connect(&self) -> Result<Box<dyn Client + Send>, Failure>;
}

/// How large the tables are. The standard fixes all but the warehouses; tests take less.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scale {
    /// Warehouses.
    pub warehouses: u32,
    /// Rows of `item`, and of `stock` for each warehouse.
    pub items: u32,
    /// Customers of each district, and orders it begins with.
    pub customers: u32,
}

impl Scale {
    /// Districts of each warehouse.
    pub const DISTRICTS: u32 = 10;

    /// As the standard demands.
    #[must_use]
    pub fn standard(warehouses: u32) -> Scale {
        Scale { warehouses, items: 100_000, customers: 3000 }
    }

    /// A hundredth of the items, a thirtieth of the customers: for tests.
    #[must_use]
    pub fn small(warehouses: u32) -> Scale {
        Scale { warehouses, items: 1000, customers: 100 }
    }

    /// How many of the orders that a district begins with have been delivered: seven of ten.
    #[must_use]
    pub fn delivered(&self) -> u32 {
        self.customers / 10 * 7
    }

    /// The last number that stands for a customer's last name.
    #[must_use]
    pub fn last_name_max(&self) -> u32 {
        self.customers.min(1000) - 1
    }
}
