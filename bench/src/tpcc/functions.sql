-- The five transactions as functions, in the manner of the kits that people point at PostgreSQL: the server draws what a New-Order
-- orders, arrays come in and go out, rows are met by SELECT INTO and UPDATE ... RETURNING INTO, names by cursors, and the
-- order that has to roll back (clause 2.4.1.4) ends in an exception block. Definitions end with a line of two semicolons.

CREATE SCHEMA IF NOT EXISTS kit
;;
CREATE OR REPLACE FUNCTION kit.between(low int, high int) RETURNS int
LANGUAGE sql VOLATILE AS 'SELECT low + floor(random() * (high - low + 1))::int'
;;
-- NURand (clause 2.1.6).
CREATE OR REPLACE FUNCTION kit.non_uniform(a int, c int, low int, high int) RETURNS int
LANGUAGE plpgsql VOLATILE AS $$
BEGIN
  RETURN ((kit.between(0, a) | kit.between(low, high)) + c) % (high - low + 1) + low;
END $$
;;
-- The lines of an order: items, the warehouses that supply them, quantities. One order of a hundred asks for an item that is not there.
CREATE OR REPLACE FUNCTION kit.draw_lines(w int, count int, OUT items int[], OUT suppliers int[], OUT quantities int[])
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  supplier int;
BEGIN
  FOR i IN 1 .. count LOOP
    supplier := w;
    IF kit.warehouses() > 1 AND random() < 0.01 THEN
      supplier := kit.between(1, kit.warehouses() - 1);
      IF supplier >= w THEN
        supplier := supplier + 1;
      END IF;
    END IF;
    items[i] := kit.non_uniform(8191, 5867, 1, kit.items());
    suppliers := array_append(suppliers, supplier);
    quantities := quantities || kit.between(1, 10);
  END LOOP;
  IF random() < 0.01 THEN
    items[count] := kit.items() + 1;
  END IF;
END $$
;;
-- The number of the order is NULL where it has been rolled back.
CREATE OR REPLACE FUNCTION kit.new_order(w int, d int, c int, lines int, OUT number int, OUT total numeric,
  OUT names text[], OUT amounts numeric[], OUT marks text[])
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  drawn record;
  buyer record;
  district_tax district.d_tax%TYPE;
  sold item%ROWTYPE;
  taken stock%ROWTYPE;
  dist char(24);
  amount numeric(6, 2);
BEGIN
  SELECT * INTO drawn FROM kit.draw_lines(w, lines);
  SELECT c_discount, c_last, c_credit, w_tax INTO STRICT buyer
    FROM customer JOIN warehouse ON w_id = c_w_id WHERE c_w_id = w AND c_d_id = d AND c_id = c;
  BEGIN
    UPDATE district SET d_next_o_id = d_next_o_id + 1 WHERE d_w_id = w AND d_id = d
      RETURNING d_next_o_id - 1, d_tax INTO STRICT number, district_tax;
    INSERT INTO orders (o_id, o_d_id, o_w_id, o_c_id, o_entry_d, o_ol_cnt, o_all_local)
      VALUES (number, d, w, c, CURRENT_TIMESTAMP, lines, (w = ALL (drawn.suppliers))::int);
    INSERT INTO new_order (no_o_id, no_d_id, no_w_id) VALUES (number, d, w);
    total := 0;
    FOR i IN array_lower(drawn.items, 1) .. array_upper(drawn.items, 1) LOOP
      SELECT * INTO STRICT sold FROM item WHERE i_id = drawn.items[i];
      UPDATE stock SET
          s_quantity = CASE WHEN s_quantity >= drawn.quantities[i] + 10 THEN s_quantity - drawn.quantities[i]
            ELSE s_quantity - drawn.quantities[i] + 91 END,
          s_ytd = s_ytd + drawn.quantities[i], s_order_cnt = s_order_cnt + 1,
          s_remote_cnt = s_remote_cnt + (drawn.suppliers[i] <> w)::int
        WHERE s_w_id = drawn.suppliers[i] AND s_i_id = drawn.items[i] RETURNING * INTO STRICT taken;
      dist := (ARRAY[taken.s_dist_01, taken.s_dist_02, taken.s_dist_03, taken.s_dist_04, taken.s_dist_05,
        taken.s_dist_06, taken.s_dist_07, taken.s_dist_08, taken.s_dist_09, taken.s_dist_10])[d];
      amount := drawn.quantities[i] * sold.i_price;
      INSERT INTO order_line (ol_o_id, ol_d_id, ol_w_id, ol_number, ol_i_id, ol_supply_w_id, ol_quantity, ol_amount,
          ol_dist_info)
        VALUES (number, d, w, i, drawn.items[i], drawn.suppliers[i], drawn.quantities[i], amount, dist);
      total := total + amount;
      names[i] := sold.i_name;
      amounts[i] := amount;
      marks[i] := CASE WHEN position('ORIGINAL' IN sold.i_data) > 0 AND position('ORIGINAL' IN taken.s_data) > 0
        THEN 'B' ELSE 'G' END;
    END LOOP;
    total := round(total * (1 - buyer.c_discount) * (1 + buyer.w_tax + district_tax), 2);
  EXCEPTION WHEN no_data_found THEN
    number := NULL;
  END;
END $$
;;
-- The customer in the middle of those of a name, by their first names.
CREATE OR REPLACE FUNCTION kit.middle_customer(w int, d int, surname text) RETURNS customer
LANGUAGE plpgsql STABLE AS $$
DECLARE
  count bigint;
  named SCROLL CURSOR (wanted text) FOR
    SELECT * FROM customer WHERE c_w_id = w AND c_d_id = d AND c_last = wanted ORDER BY c_first;
  found_one customer;
BEGIN
  SELECT count(*) INTO count FROM customer WHERE c_w_id = w AND c_d_id = d AND c_last = surname;
  OPEN named (surname);
  FETCH ABSOLUTE (count + 1) / 2 FROM named INTO found_one;
  CLOSE named;
  RETURN found_one;
END $$
;;
CREATE OR REPLACE FUNCTION kit.payment(w int, d int, cw int, cd int, INOUT c int, INOUT surname text, amount numeric,
  OUT warehouse_name text, OUT district_name text, OUT balance numeric, OUT details text)
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  payer customer;
BEGIN
  UPDATE warehouse SET w_ytd = w_ytd + amount WHERE w_id = w RETURNING w_name INTO STRICT warehouse_name;
  UPDATE district SET d_ytd = d_ytd + amount WHERE d_w_id = w AND d_id = d RETURNING d_name INTO STRICT district_name;
  IF c = 0 THEN
    payer := kit.middle_customer(cw, cd, surname);
    c := payer.c_id;
  ELSE
    SELECT * INTO STRICT payer FROM customer WHERE c_w_id = cw AND c_d_id = cd AND c_id = c;
    surname := payer.c_last;
  END IF;
  UPDATE customer SET c_balance = c_balance - amount, c_ytd_payment = c_ytd_payment + amount,
      c_payment_cnt = c_payment_cnt + 1
    WHERE (c_w_id, c_d_id, c_id) = (cw, cd, c) RETURNING c_balance INTO STRICT balance;
  IF payer.c_credit = 'BC' THEN
    EXECUTE format('UPDATE %I SET c_data = left($1 || c_data, 500) WHERE c_w_id = $2 AND c_d_id = $3 AND c_id = $4
        RETURNING c_data', 'customer')
      INTO STRICT details USING concat_ws(' ', c, cd, cw, d, w, amount, '|'), cw, cd, c;
  END IF;
  INSERT INTO history (h_c_id, h_c_d_id, h_c_w_id, h_d_id, h_w_id, h_date, h_amount, h_data)
    VALUES (c, cd, cw, d, w, CURRENT_TIMESTAMP, amount, warehouse_name || repeat(' ', 4) || district_name);
END $$
;;
CREATE OR REPLACE FUNCTION kit.order_status(w int, d int, INOUT c int, INOUT surname text, OUT balance numeric,
  OUT number int, OUT carrier int, OUT entered timestamp, OUT lines text[])
LANGUAGE plpgsql STABLE AS $$
DECLARE
  asked customer;
  of_order refcursor;
  line order_line;
BEGIN
  IF c = 0 THEN
    asked := kit.middle_customer(w, d, surname);
  ELSE
    SELECT * INTO STRICT asked FROM customer WHERE c_w_id = w AND c_d_id = d AND c_id = c;
  END IF;
  SELECT asked.c_id, asked.c_last, asked.c_balance INTO c, surname, balance;
  SELECT o_id, o_carrier_id, o_entry_d INTO STRICT number, carrier, entered
    FROM orders WHERE o_w_id = w AND o_d_id = d AND o_c_id = c ORDER BY o_id DESC LIMIT 1;
  OPEN of_order FOR SELECT * FROM order_line WHERE ol_w_id = w AND ol_d_id = d AND ol_o_id = number ORDER BY ol_number;
  LOOP
    FETCH of_order INTO line;
    EXIT WHEN NOT FOUND;
    lines := lines || format('%s from %s: %s for %s, %s', line.ol_i_id, line.ol_supply_w_id, line.ol_quantity,
      line.ol_amount, coalesce(to_char(line.ol_delivery_d, 'YYYY-MM-DD'), 'not delivered'));
  END LOOP;
  CLOSE of_order;
END $$
;;
-- The districts that had an order to deliver, and these orders: all of a warehouse's in a few statements.
CREATE OR REPLACE FUNCTION kit.delivery(w int, carrier int, OUT districts int[], OUT numbers int[])
LANGUAGE plpgsql VOLATILE AS $$
BEGIN
  FOR d IN 1 .. 10 LOOP
    numbers[d] := (SELECT no_o_id FROM new_order WHERE no_w_id = w AND no_d_id = d ORDER BY no_o_id LIMIT 1);
  END LOOP;
  WITH gone AS (
    DELETE FROM new_order USING unnest(numbers) WITH ORDINALITY AS due (o, d)
      WHERE no_w_id = w AND no_d_id = due.d AND no_o_id = due.o RETURNING no_d_id, no_o_id)
  SELECT array_agg(no_d_id ORDER BY no_d_id), array_agg(no_o_id ORDER BY no_d_id) INTO districts, numbers FROM gone;
  UPDATE orders SET o_carrier_id = carrier FROM unnest(districts, numbers) AS due (d, o)
    WHERE o_w_id = w AND o_d_id = due.d AND o_id = due.o;
  UPDATE order_line SET ol_delivery_d = CURRENT_TIMESTAMP FROM unnest(districts, numbers) AS due (d, o)
    WHERE ol_w_id = w AND ol_d_id = due.d AND ol_o_id = due.o;
  UPDATE customer SET c_balance = c_balance + owed.total, c_delivery_cnt = c_delivery_cnt + 1
    FROM (SELECT o_d_id, o_c_id, sum(ol_amount) AS total
        FROM unnest(districts, numbers) AS due (d, o)
          JOIN orders ON o_w_id = w AND o_d_id = due.d AND o_id = due.o
          JOIN order_line ON ol_w_id = o_w_id AND ol_d_id = o_d_id AND ol_o_id = o_id
        GROUP BY o_d_id, o_c_id) AS owed
    WHERE c_w_id = w AND c_d_id = owed.o_d_id AND c_id = owed.o_c_id;
END $$
;;
CREATE OR REPLACE FUNCTION kit.stock_level(w int, d int, threshold int) RETURNS bigint
LANGUAGE plpgsql STABLE AS $$
DECLARE
  next int;
  low bigint;
BEGIN
  EXECUTE 'SELECT d_next_o_id FROM district WHERE d_w_id = $1 AND d_id = $2' INTO STRICT next USING w, d;
  SELECT count(DISTINCT s_i_id) INTO low FROM order_line JOIN stock ON s_w_id = ol_w_id AND s_i_id = ol_i_id
    WHERE ol_w_id = w AND ol_d_id = d AND ol_o_id BETWEEN next - 20 AND next - 1 AND s_quantity < threshold;
  RETURN low;
END $$
