//! The consistency conditions 1 to 12 (clause 3.3.2), asked one by one, warehouse by warehouse.
//!
//! Each is a query that counts what does not hold. Condition 11 counts the orders that have been delivered since the
//! beginning by what customers got (`c_delivery_cnt`), so that it can be asked after a run as well.

use super::Scale;
use super::client::{Client, Failure};
use super::statement::{Parameters, Rows, Statement};

macro_rules! condition {
    ($number:literal, $text:expr) => {
        Statement { name: concat!("condition_", $number), text: $text }
    };
}

/// The conditions, in the order of the standard; each takes a warehouse.
const CONDITIONS: [Statement; 12] = [
    condition!(
        1,
        "SELECT count(*) FROM warehouse WHERE w_id = $1
         AND w_ytd <> (SELECT sum(d_ytd) FROM district WHERE d_w_id = $1)"
    ),
    condition!(
        2,
        "SELECT count(*) FROM district
         LEFT JOIN (SELECT o_d_id, max(o_id) AS last FROM orders WHERE o_w_id = $1 GROUP BY o_d_id) AS o
             ON o_d_id = d_id
         LEFT JOIN (SELECT no_d_id, max(no_o_id) AS open FROM new_order WHERE no_w_id = $1 GROUP BY no_d_id) AS n
             ON no_d_id = d_id
         WHERE d_w_id = $1 AND (d_next_o_id - 1 <> coalesce(last, 0) OR d_next_o_id - 1 <> coalesce(open, last))"
    ),
    condition!(
        3,
        "SELECT count(*) FROM (SELECT max(no_o_id) - min(no_o_id) + 1 AS span, count(*) AS open
             FROM new_order WHERE no_w_id = $1 GROUP BY no_d_id) AS n
         WHERE span <> open"
    ),
    condition!(
        4,
        "SELECT count(*) FROM district
         LEFT JOIN (SELECT o_d_id, sum(o_ol_cnt) AS promised FROM orders WHERE o_w_id = $1 GROUP BY o_d_id) AS o
             ON o_d_id = d_id
         LEFT JOIN (SELECT ol_d_id, count(*) AS present FROM order_line WHERE ol_w_id = $1 GROUP BY ol_d_id) AS l
             ON ol_d_id = d_id
         WHERE d_w_id = $1 AND coalesce(promised, 0) <> coalesce(present, 0)"
    ),
    condition!(
        5,
        "SELECT count(*) FROM (SELECT * FROM orders WHERE o_w_id = $1) AS o
         FULL JOIN (SELECT * FROM new_order WHERE no_w_id = $1) AS n ON no_d_id = o_d_id AND no_o_id = o_id
         WHERE o_id IS NULL OR (o_carrier_id IS NULL) <> (no_o_id IS NOT NULL)"
    ),
    condition!(
        6,
        "SELECT count(*) FROM (SELECT * FROM orders WHERE o_w_id = $1) AS o
         FULL JOIN (SELECT ol_d_id, ol_o_id, count(*) AS present FROM order_line WHERE ol_w_id = $1
             GROUP BY ol_d_id, ol_o_id) AS l ON ol_d_id = o_d_id AND ol_o_id = o_id
         WHERE o_id IS NULL OR o_ol_cnt <> coalesce(present, 0)"
    ),
    condition!(
        7,
        "SELECT count(*) FROM orders JOIN order_line ON ol_w_id = o_w_id AND ol_d_id = o_d_id AND ol_o_id = o_id
         WHERE o_w_id = $1 AND ol_w_id = $1 AND (o_carrier_id IS NULL) <> (ol_delivery_d IS NULL)"
    ),
    condition!(
        8,
        "SELECT count(*) FROM warehouse WHERE w_id = $1
         AND w_ytd <> (SELECT coalesce(sum(h_amount), 0) FROM history WHERE h_w_id = $1)"
    ),
    condition!(
        9,
        "SELECT count(*) FROM district
         LEFT JOIN (SELECT h_d_id, sum(h_amount) AS paid FROM history WHERE h_w_id = $1 GROUP BY h_d_id) AS h
             ON h_d_id = d_id
         WHERE d_w_id = $1 AND d_ytd <> coalesce(paid, 0)"
    ),
    condition!(
        10,
        "SELECT count(*) FROM customer
         LEFT JOIN (SELECT o_d_id, o_c_id, sum(ol_amount) AS owed FROM orders
             JOIN order_line ON ol_w_id = o_w_id AND ol_d_id = o_d_id AND ol_o_id = o_id
             WHERE o_w_id = $1 AND ol_w_id = $1 AND ol_delivery_d IS NOT NULL GROUP BY o_d_id, o_c_id) AS o
             ON o_d_id = c_d_id AND o_c_id = c_id
         LEFT JOIN (SELECT h_c_d_id, h_c_id, sum(h_amount) AS paid FROM history WHERE h_c_w_id = $1
             GROUP BY h_c_d_id, h_c_id) AS h ON h_c_d_id = c_d_id AND h_c_id = c_id
         WHERE c_w_id = $1 AND c_balance <> coalesce(owed, 0) - coalesce(paid, 0)"
    ),
    condition!(
        11,
        "SELECT count(*) FROM district
         LEFT JOIN (SELECT o_d_id, count(*) AS orders FROM orders WHERE o_w_id = $1 GROUP BY o_d_id) AS o
             ON o_d_id = d_id
         LEFT JOIN (SELECT no_d_id, count(*) AS open FROM new_order WHERE no_w_id = $1 GROUP BY no_d_id) AS n
             ON no_d_id = d_id
         LEFT JOIN (SELECT c_d_id, sum(c_delivery_cnt) AS got FROM customer WHERE c_w_id = $1 GROUP BY c_d_id) AS c
             ON c_d_id = d_id
         WHERE d_w_id = $1 AND orders - coalesce(open, 0) <> $2 + got"
    ),
    condition!(
        12,
        "SELECT count(*) FROM customer
         LEFT JOIN (SELECT o_d_id, o_c_id, sum(ol_amount) AS owed FROM orders
             JOIN order_line ON ol_w_id = o_w_id AND ol_d_id = o_d_id AND ol_o_id = o_id
             WHERE o_w_id = $1 AND ol_w_id = $1 AND ol_delivery_d IS NOT NULL GROUP BY o_d_id, o_c_id) AS o
             ON o_d_id = c_d_id AND o_c_id = c_id
         WHERE c_w_id = $1 AND c_balance + c_ytd_payment <> coalesce(owed, 0)"
    ),
];

/// For each condition, in order, how many rows do not hold it.
///
/// # Errors
/// The server's.
pub fn check(client: &mut dyn Client, scale: &Scale) -> Result<[u64; 12], Failure> {
    let (mut parameters, mut rows) = (Parameters::default(), Rows::default());
    let mut broken = [0; 12];
    for (number, condition) in (1..).zip(&CONDITIONS) {
        for warehouse in 1..=scale.warehouses {
            parameters.clear().add(warehouse);
            if number == 11 {
                parameters.add(scale.delivered());
            }
            client.run(condition, &parameters, &mut rows)?;
            broken[number - 1] += rows.int(0, 0) as u64;
        }
    }
    Ok(broken)
}

/// What a check found, a line each condition that does not hold.
#[must_use]
pub fn complaints(broken: &[u64; 12]) -> Vec<String> {
    (1..)
        .zip(broken)
        .filter(|&(_, &count)| count != 0)
        .map(|(number, count)| format!("condition {number} does not hold: {count} rows"))
        .collect()
}
