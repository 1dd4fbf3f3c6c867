//! The five transactions as procedures in PL/pgSQL, each called by one statement: what a stored-procedure engine is for.
//!
//! They do what [`super::transactions`] does statement by statement (clause 2), in fewer statements where PL/pgSQL has a way:
//! RETURNING where a row is changed and read. A New-Order whose last item is unknown raises [`UNUSED_ITEM`], which rolls all of
//! it back.

use super::client::{Client, Failure};
use super::statement::{Rows, Statement};

/// The SQLSTATE of a New-Order that has to roll back (clause 2.4.1.4).
pub const UNUSED_ITEM: &str = "P0002";

/// New-Order.
pub const NEW_ORDER: Statement =
    Statement { name: "CALL_NEW_ORDER", text: "CALL new_order($1, $2, $3, $4, $5, $6)" };
/// Payment: the customer by number, or with number 0 by name.
pub const PAYMENT: Statement =
    Statement { name: "CALL_PAYMENT", text: "CALL payment($1, $2, $3, $4, $5, $6, $7)" };
/// Order-Status.
pub const ORDER_STATUS: Statement =
    Statement { name: "CALL_ORDER_STATUS", text: "CALL order_status($1, $2, $3, $4)" };
/// Delivery.
pub const DELIVERY: Statement = Statement { name: "CALL_DELIVERY", text: "CALL delivery($1, $2)" };
/// Stock-Level.
pub const STOCK_LEVEL: Statement =
    Statement { name: "CALL_STOCK_LEVEL", text: "CALL stock_level($1, $2, $3, 0)" };

/// The procedures, and the function that they share.
const DEFINITIONS: [&str; 6] = [
    "CREATE OR REPLACE PROCEDURE new_order(w int, d int, c int, items int[], suppliers int[], quantities int[])
LANGUAGE plpgsql AS $$
DECLARE
  discount numeric; surname text; credit text; warehouse_tax numeric; district_tax numeric;
  number int; price numeric; title text; details text; dist text; stock_details text;
  count int := array_length(items, 1);
  local int := 1;
BEGIN
  FOR i IN 1 .. count LOOP
    IF suppliers[i] <> w THEN
      local := 0;
    END IF;
  END LOOP;
  SELECT c_discount, c_last, c_credit, w_tax INTO STRICT discount, surname, credit, warehouse_tax
    FROM customer, warehouse WHERE w_id = w AND c_w_id = w_id AND c_d_id = d AND c_id = c;
  UPDATE district SET d_next_o_id = d_next_o_id + 1 WHERE d_w_id = w AND d_id = d
    RETURNING d_next_o_id - 1, d_tax INTO STRICT number, district_tax;
  INSERT INTO orders (o_id, o_d_id, o_w_id, o_c_id, o_entry_d, o_ol_cnt, o_all_local)
    VALUES (number, d, w, c, CURRENT_TIMESTAMP, count, local);
  INSERT INTO new_order (no_o_id, no_d_id, no_w_id) VALUES (number, d, w);
  FOR i IN 1 .. count LOOP
    SELECT i_price, i_name, i_data INTO price, title, details FROM item WHERE i_id = items[i];
    IF NOT FOUND THEN
      RAISE EXCEPTION 'item number is not valid' USING ERRCODE = 'P0002';
    END IF;
    UPDATE stock SET
        s_quantity = CASE WHEN s_quantity - quantities[i] >= 10 THEN s_quantity - quantities[i]
          ELSE s_quantity - quantities[i] + 91 END,
        s_ytd = s_ytd + quantities[i], s_order_cnt = s_order_cnt + 1,
        s_remote_cnt = s_remote_cnt + CASE WHEN suppliers[i] = w THEN 0 ELSE 1 END
      WHERE s_w_id = suppliers[i] AND s_i_id = items[i]
      RETURNING CASE d WHEN 1 THEN s_dist_01 WHEN 2 THEN s_dist_02 WHEN 3 THEN s_dist_03
          WHEN 4 THEN s_dist_04 WHEN 5 THEN s_dist_05 WHEN 6 THEN s_dist_06 WHEN 7 THEN s_dist_07
          WHEN 8 THEN s_dist_08 WHEN 9 THEN s_dist_09 ELSE s_dist_10 END, s_data
      INTO STRICT dist, stock_details;
    INSERT INTO order_line (ol_o_id, ol_d_id, ol_w_id, ol_number, ol_i_id, ol_supply_w_id, ol_quantity, ol_amount,
        ol_dist_info)
      VALUES (number, d, w, i, items[i], suppliers[i], quantities[i], price * quantities[i], dist);
  END LOOP;
END $$",
    "CREATE OR REPLACE FUNCTION customer_by_name(w int, d int, surname text) RETURNS int LANGUAGE plpgsql AS $$
DECLARE
  count int; number int; at int := 0;
  named CURSOR FOR SELECT c_id FROM customer WHERE c_w_id = w AND c_d_id = d AND c_last = surname ORDER BY c_first;
BEGIN
  SELECT count(*) INTO count FROM customer WHERE c_w_id = w AND c_d_id = d AND c_last = surname;
  OPEN named;
  LOOP
    FETCH named INTO number;
    EXIT WHEN NOT FOUND;
    at := at + 1;
    EXIT WHEN at >= (count + 1) / 2;
  END LOOP;
  CLOSE named;
  RETURN number;
END $$",
    "CREATE OR REPLACE PROCEDURE payment(w int, d int, cw int, cd int, c int, surname text, amount numeric)
LANGUAGE plpgsql AS $$
DECLARE
  warehouse_name text; district_name text; street text; city text; state text; zip text; paid record; details text;
BEGIN
  UPDATE warehouse SET w_ytd = w_ytd + amount WHERE w_id = w
    RETURNING w_name, w_street_1, w_city, w_state, w_zip INTO STRICT warehouse_name, street, city, state, zip;
  UPDATE district SET d_ytd = d_ytd + amount WHERE d_w_id = w AND d_id = d
    RETURNING d_name, d_street_1, d_city, d_state, d_zip INTO STRICT district_name, street, city, state, zip;
  IF c = 0 THEN
    c := customer_by_name(cw, cd, surname);
  END IF;
  UPDATE customer SET c_balance = c_balance - amount, c_ytd_payment = c_ytd_payment + amount,
      c_payment_cnt = c_payment_cnt + 1
    WHERE c_w_id = cw AND c_d_id = cd AND c_id = c
    RETURNING c_first, c_middle, c_last, c_street_1, c_city, c_state, c_zip, c_phone, c_credit, c_credit_lim,
      c_discount, c_balance, c_since INTO STRICT paid;
  IF paid.c_credit = 'BC' THEN
    UPDATE customer SET c_data = left(format('%s %s %s %s %s %s | ', c, cd, cw, d, w, amount) || c_data, 500)
      WHERE c_w_id = cw AND c_d_id = cd AND c_id = c RETURNING c_data INTO STRICT details;
  END IF;
  INSERT INTO history (h_c_id, h_c_d_id, h_c_w_id, h_d_id, h_w_id, h_date, h_amount, h_data)
    VALUES (c, cd, cw, d, w, CURRENT_TIMESTAMP, amount, warehouse_name || '    ' || district_name);
END $$",
    "CREATE OR REPLACE PROCEDURE order_status(w int, d int, c int, surname text) LANGUAGE plpgsql AS $$
DECLARE
  balance numeric; first text; middle text; last text; number int; carrier int; entered timestamp; line record;
BEGIN
  IF c = 0 THEN
    c := customer_by_name(w, d, surname);
  END IF;
  SELECT c_balance, c_first, c_middle, c_last INTO STRICT balance, first, middle, last
    FROM customer WHERE c_w_id = w AND c_d_id = d AND c_id = c;
  SELECT o_id, o_carrier_id, o_entry_d INTO STRICT number, carrier, entered
    FROM orders WHERE o_w_id = w AND o_d_id = d AND o_c_id = c ORDER BY o_id DESC LIMIT 1;
  FOR line IN SELECT ol_i_id, ol_supply_w_id, ol_quantity, ol_amount, ol_delivery_d
      FROM order_line WHERE ol_w_id = w AND ol_d_id = d AND ol_o_id = number LOOP
    carrier := line.ol_i_id;
  END LOOP;
END $$",
    "CREATE OR REPLACE PROCEDURE delivery(w int, carrier int) LANGUAGE plpgsql AS $$
DECLARE
  number int; c int; total numeric;
BEGIN
  FOR d IN 1 .. 10 LOOP
    SELECT no_o_id INTO number FROM new_order WHERE no_w_id = w AND no_d_id = d ORDER BY no_o_id LIMIT 1 FOR UPDATE;
    CONTINUE WHEN NOT FOUND;
    DELETE FROM new_order WHERE no_w_id = w AND no_d_id = d AND no_o_id = number;
    UPDATE orders SET o_carrier_id = carrier WHERE o_w_id = w AND o_d_id = d AND o_id = number
      RETURNING o_c_id INTO STRICT c;
    UPDATE order_line SET ol_delivery_d = CURRENT_TIMESTAMP WHERE ol_w_id = w AND ol_d_id = d AND ol_o_id = number;
    SELECT sum(ol_amount) INTO STRICT total FROM order_line WHERE ol_w_id = w AND ol_d_id = d AND ol_o_id = number;
    UPDATE customer SET c_balance = c_balance + total, c_delivery_cnt = c_delivery_cnt + 1
      WHERE c_w_id = w AND c_d_id = d AND c_id = c;
  END LOOP;
END $$",
    "CREATE OR REPLACE PROCEDURE stock_level(w int, d int, threshold int, INOUT low bigint) LANGUAGE plpgsql AS $$
DECLARE
  next int;
BEGIN
  SELECT d_next_o_id INTO STRICT next FROM district WHERE d_w_id = w AND d_id = d;
  SELECT count(DISTINCT s_i_id) INTO low FROM order_line, stock
    WHERE ol_w_id = w AND ol_d_id = d AND ol_o_id < next AND ol_o_id >= next - 20
      AND s_w_id = w AND s_i_id = ol_i_id AND s_quantity < threshold;
END $$",
];

/// Makes the procedures.
///
/// # Errors
/// The server's.
pub fn create(client: &mut dyn Client) -> Result<(), Failure> {
    let mut rows = Rows::default();
    DEFINITIONS.iter().try_for_each(|definition| client.execute(definition, &mut rows))
}

/// An array of integers as text.
pub(super) fn array(values: impl Iterator<Item = u32>) -> String {
    let values: Vec<String> = values.map(|value| value.to_string()).collect();
    format!("{{{}}}", values.join(","))
}
