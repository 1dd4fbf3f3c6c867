//! The five transactions as functions that queries call (`functions.sql`): a kit in the manner of those that people point at
//! PostgreSQL. Less is tuned here than in [`super::procedures`]; what is measured is what such kits use of the language.

use super::Scale;
use super::client::{Client, Failure};
use super::statement::{Rows, Statement};

/// New-Order, whose lines the server draws; its number is NULL where it has been rolled back.
pub const NEW_ORDER: Statement =
    Statement { name: "KIT_NEW_ORDER", text: "SELECT * FROM kit.new_order($1, $2, $3, $4)" };
/// Payment: the customer by number, or with number 0 by name.
pub const PAYMENT: Statement = Statement {
    name: "KIT_PAYMENT",
    text: "SELECT * FROM kit.payment($1, $2, $3, $4, $5, $6, $7)",
};
/// Order-Status.
pub const ORDER_STATUS: Statement =
    Statement { name: "KIT_ORDER_STATUS", text: "SELECT * FROM kit.order_status($1, $2, $3, $4)" };
/// Delivery.
pub const DELIVERY: Statement =
    Statement { name: "KIT_DELIVERY", text: "SELECT * FROM kit.delivery($1, $2)" };
/// Stock-Level.
pub const STOCK_LEVEL: Statement =
    Statement { name: "KIT_STOCK_LEVEL", text: "SELECT kit.stock_level($1, $2, $3)" };

/// Makes the functions, for tables of this scale.
///
/// # Errors
/// The server's.
pub fn create(client: &mut dyn Client, scale: &Scale) -> Result<(), Failure> {
    let constant = |name: &str, value: u32| {
        format!(
            "CREATE OR REPLACE FUNCTION kit.{name}() RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT {value}'"
        )
    };
    let constants = [constant("warehouses", scale.warehouses), constant("items", scale.items)];
    let mut definitions = include_str!("functions.sql").split("\n;;\n");
    let schema = definitions.next().into_iter();
    let mut rows = Rows::default();
    schema
        .chain(constants.iter().map(String::as_str))
        .chain(definitions)
        .try_for_each(|definition| client.execute(definition, &mut rows))
}

/// Drops the functions: those of rows of tables keep these from being dropped.
///
/// # Errors
/// The server's.
pub fn drop(client: &mut dyn Client) -> Result<(), Failure> {
    client.execute("DROP SCHEMA IF EXISTS kit CASCADE", &mut Rows::default())
}
