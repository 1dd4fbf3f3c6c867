-- What go-tpc sends to PostgreSQL 15, each distinct statement once. Licences: README.md.

-- simple: tpcc prepare
;

-- simple: tpcc prepare
CREATE TABLE IF NOT EXISTS warehouse (
	w_id INT NOT NULL,
	w_name VARCHAR(10),
	w_street_1 VARCHAR(20),
	w_street_2 VARCHAR(20),
	w_city VARCHAR(20),
	w_state CHAR(2),
	w_zip CHAR(9),
	w_tax DECIMAL(4, 4),
	w_ytd DECIMAL(12, 2),
	PRIMARY KEY (w_id)
);

-- simple: tpcc prepare
CREATE TABLE IF NOT EXISTS district (
	d_id INT NOT NULL,
	d_w_id INT NOT NULL,
	d_name VARCHAR(10),
	d_street_1 VARCHAR(20),
	d_street_2 VARCHAR(20),
	d_city VARCHAR(20),
	d_state CHAR(2),
	d_zip CHAR(9),
	d_tax DECIMAL(4, 4),
	d_ytd DECIMAL(12, 2),
	d_next_o_id INT,
	PRIMARY KEY (d_w_id, d_id)
);

-- simple: tpcc prepare
CREATE TABLE IF NOT EXISTS customer (
	c_id INT NOT NULL,
	c_d_id INT NOT NULL,
	c_w_id INT NOT NULL,
	c_first VARCHAR(16),
	c_middle CHAR(2),
	c_last VARCHAR(16),
	c_street_1 VARCHAR(20),
	c_street_2 VARCHAR(20),
	c_city VARCHAR(20),
	c_state CHAR(2),
	c_zip CHAR(9),
	c_phone CHAR(16),
	c_since TIMESTAMP,
	c_credit CHAR(2),
	c_credit_lim DECIMAL(12, 2),
	c_discount DECIMAL(4,4),
	c_balance DECIMAL(12,2),
	c_ytd_payment DECIMAL(12,2),
	c_payment_cnt INT,
	c_delivery_cnt INT,
	c_data VARCHAR(500),
	PRIMARY KEY(c_w_id, c_d_id, c_id)
);

-- simple: tpcc prepare
create index idx_customer on customer(c_w_id, c_d_id, c_last, c_first);

-- simple: tpcc prepare
CREATE TABLE IF NOT EXISTS history (
	h_c_id INT NOT NULL,
	h_c_d_id INT NOT NULL,
	h_c_w_id INT NOT NULL,
	h_d_id INT NOT NULL,
	h_w_id INT NOT NULL,
	h_date TIMESTAMP,
	h_amount DECIMAL(6, 2),
	h_data VARCHAR(24)
);

-- simple: tpcc prepare
create index idx_h_w_id on history(h_w_id);

-- simple: tpcc prepare
create index idx_h_c_w_id on history(h_c_w_id);

-- simple: tpcc prepare
CREATE TABLE IF NOT EXISTS new_order (
	no_o_id INT NOT NULL,
	no_d_id INT NOT NULL,
	no_w_id INT NOT NULL,
	PRIMARY KEY(no_w_id, no_d_id, no_o_id)
);

-- simple: tpcc prepare
CREATE TABLE IF NOT EXISTS orders (
	o_id INT NOT NULL,
	o_d_id INT NOT NULL,
	o_w_id INT NOT NULL,
	o_c_id INT,
	o_entry_d TIMESTAMP,
	o_carrier_id INT,
	o_ol_cnt INT,
	o_all_local INT,
	PRIMARY KEY(o_w_id, o_d_id, o_id)
);

-- simple: tpcc prepare
create index idx_order on orders(o_w_id, o_d_id, o_c_id, o_id);

-- simple: tpcc prepare
CREATE TABLE IF NOT EXISTS order_line (
		ol_o_id INT NOT NULL,
		ol_d_id INT NOT NULL,
		ol_w_id INT NOT NULL,
		ol_number INT NOT NULL,
		ol_i_id INT NOT NULL,
		ol_supply_w_id INT,
		ol_delivery_d TIMESTAMP,
		ol_quantity INT,
		ol_amount DECIMAL(6, 2),
		ol_dist_info CHAR(24),
		PRIMARY KEY(ol_w_id, ol_d_id, ol_o_id, ol_number)
);

-- simple: tpcc prepare
CREATE TABLE IF NOT EXISTS stock (
	s_i_id INT NOT NULL,
	s_w_id INT NOT NULL,
	s_quantity INT,
	s_dist_01 CHAR(24),
	s_dist_02 CHAR(24),
	s_dist_03 CHAR(24),
	s_dist_04 CHAR(24),
	s_dist_05 CHAR(24),
	s_dist_06 CHAR(24),
	s_dist_07 CHAR(24),
	s_dist_08 CHAR(24),
	s_dist_09 CHAR(24),
	s_dist_10 CHAR(24),
	s_ytd INT,
	s_order_cnt INT,
	s_remote_cnt INT,
	s_data VARCHAR(50),
	PRIMARY KEY(s_w_id, s_i_id)
);

-- simple: tpcc prepare
CREATE TABLE IF NOT EXISTS item (
	i_id INT NOT NULL,
	i_im_id INT,
	i_name VARCHAR(24),
	i_price DECIMAL(5, 2),
	i_data VARCHAR(50),
	PRIMARY KEY(i_id)
);

-- simple: tpcc prepare
INSERT INTO warehouse (w_id, w_name, w_street_1, w_street_2, w_city, w_state, w_zip, w_tax, w_ytd) VALUES  (1,'y4ib3C75a5','sPrTDbsKQKLy7L2Nrll','EzZKH0X2Fie2opNv','ZSklKHPTuPuELwltq','XR','328511111',0.044100,300000.000000);

-- extended: tpcc prepare
SELECT max(no_o_id)-min(no_o_id)+1 - count(*) diff from new_order where no_w_id = $1 group by no_d_id;

-- extended: tpcc prepare
SELECT count(*)  FROM orders LEFT JOIN new_order ON (no_w_id=o_w_id AND o_d_id=no_d_id AND o_id=no_o_id) where o_w_id = $1 and ((o_carrier_id IS NULL and no_o_id IS  NULL) OR (o_carrier_id IS NOT NULL and no_o_id IS NOT NULL  ));

-- extended: tpcc prepare
SELECT COUNT(*) FROM
(SELECT o_ol_cnt, order_line_count FROM orders
	LEFT JOIN (SELECT ol_w_id, ol_d_id, ol_o_id, count(*) order_line_count FROM order_line GROUP BY ol_w_id, ol_d_id, ol_o_id ORDER by ol_w_id, ol_d_id, ol_o_id) AS order_line
	ON orders.o_w_id = order_line.ol_w_id AND orders.o_d_id = order_line.ol_d_id AND orders.o_id = order_line.ol_o_id
	WHERE orders.o_w_id = $1) AS T
WHERE T.o_ol_cnt != T.order_line_count;

-- extended: tpcc prepare
SELECT count(*) cn FROM (SELECT w_id,w_ytd,SUM(h_amount) sm FROM history,warehouse WHERE h_w_id=w_id and w_id = $1 GROUP BY w_id) t1 WHERE w_ytd<>sm;

-- extended: tpcc prepare
SELECT COUNT(*) FROM (select d_id,d_w_id,sum(d_ytd) s1 from district group by d_id,d_w_id) d,(select h_d_id,h_w_id,sum(h_amount) s2 from history WHERE  h_w_id = $1 group by h_d_id, h_w_id) h WHERE h_d_id=d_id AND d_w_id=h_w_id and d_w_id= $2 and s1<>s2;

-- extended: tpcc prepare
SELECT POWER((d_next_o_id -1 - mo), 2) + POWER((d_next_o_id -1 - mno), 2) diff FROM district dis, (SELECT o_d_id,max(o_id) mo FROM orders WHERE o_w_id= $1 GROUP BY o_d_id) q, (select no_d_id,max(no_o_id) mno from new_order where no_w_id= $2 group by no_d_id) no where d_w_id = $3 and q.o_d_id=dis.d_id and no.no_d_id=dis.d_id;

-- extended: tpcc prepare
SELECT count(*) FROM (SELECT o_d_id, SUM(o_ol_cnt) sm1, MAX(cn) as cn FROM orders,(SELECT ol_d_id, COUNT(*) cn FROM order_line WHERE ol_w_id = $1 GROUP BY ol_d_id) ol WHERE o_w_id = $2 AND ol_d_id=o_d_id GROUP BY o_d_id) t1 WHERE sm1<>cn;

-- extended: tpcc prepare
SELECT count(*) FROM orders, order_line WHERE o_id=ol_o_id AND o_d_id=ol_d_id AND ol_w_id=o_w_id AND o_w_id = $1 AND ((ol_delivery_d IS NULL and o_carrier_id IS NOT NULL) or (o_carrier_id IS NULL and ol_delivery_d IS NOT NULL ));

-- extended: tpcc prepare
SELECT count(*) 
	FROM (  SELECT  c.c_id, c.c_d_id, c.c_w_id, c.c_balance c1, 
				   (SELECT sum(ol_amount) FROM orders, order_line 
					 WHERE OL_W_ID=O_W_ID 
					   AND OL_D_ID = O_D_ID 
					   AND OL_O_ID = O_ID 
					   AND OL_DELIVERY_D IS NOT NULL 
					   AND O_W_ID=$1 
					   AND O_D_ID=c.C_D_ID 
					   AND O_C_ID=c.C_ID) sm, (SELECT  sum(h_amount)  from  history 
												WHERE H_C_W_ID=$2 
												  AND H_C_D_ID=c.C_D_ID 
												  AND H_C_ID=c.C_ID) smh 
			 FROM customer c 
			WHERE  c.c_w_id = $3 ) t
   WHERE c1<>sm-smh;

-- extended: tpcc prepare
SELECT count(*) FROM
	(SELECT * FROM
		(SELECT o_w_id, o_d_id, count(*) order_count FROM orders GROUP BY o_w_id, o_d_id) orders
        JOIN (SELECT no_w_id, no_d_id, count(*) new_order_count FROM new_order GROUP BY no_w_id, no_d_id) new_order
        ON orders.o_w_id = new_order.no_w_id AND orders.o_d_id = new_order.no_d_id
	) order_new_order
JOIN (SELECT c_w_id, c_d_id, count(*) customer_count FROM customer GROUP BY c_w_id, c_d_id) customer
ON order_new_order.no_w_id = customer.c_w_id AND order_new_order.no_d_id = customer.c_d_id
WHERE c_w_id = $1 AND order_count - 2100 != new_order_count;

-- extended: tpcc prepare
SELECT count(*) FROM (SELECT  c.c_id, c.c_d_id, c.c_balance c1, c_ytd_payment, 
		(SELECT sum(ol_amount) FROM orders, order_line 
		WHERE OL_W_ID=O_W_ID AND OL_D_ID = O_D_ID AND OL_O_ID = O_ID AND OL_DELIVERY_D IS NOT NULL AND 
		O_W_ID=$1 AND O_D_ID=c.C_D_ID AND O_C_ID=c.C_ID) sm FROM customer c WHERE  c.c_w_id = $2) t1 
		WHERE c1+c_ytd_payment <> sm;

-- extended: tpcc prepare
SELECT sum(d_ytd) - max(w_ytd) diff FROM district, warehouse WHERE d_w_id = w_id AND w_id = $1 group by d_w_id;

-- extended: tpcc run
SELECT c_discount, c_last, c_credit, w_tax FROM customer, warehouse WHERE w_id = $1 AND c_w_id = w_id AND c_d_id = $2 AND c_id = $3;

-- extended: tpcc run
SELECT d_next_o_id, d_tax FROM district WHERE d_id = $1 AND d_w_id = $2 FOR UPDATE;

-- extended: tpcc run
UPDATE district SET d_next_o_id = $1 + 1 WHERE d_id = $2 AND d_w_id = $3;

-- extended: tpcc run
INSERT INTO orders (o_id, o_d_id, o_w_id, o_c_id, o_entry_d, o_ol_cnt, o_all_local) VALUES ($1, $2, $3, $4, $5, $6, $7);

-- extended: tpcc run
UPDATE stock SET s_quantity = $1, s_ytd = s_ytd + $2, s_order_cnt = s_order_cnt + 1, s_remote_cnt = s_remote_cnt + $3 WHERE s_i_id = $4 AND s_w_id = $5;

-- extended: tpcc run
SELECT i_price, i_name, i_data, i_id FROM item WHERE i_id IN ($1,$2,$3,$4,$5);

-- extended: tpcc run
SELECT s_i_id, s_quantity, s_data, s_dist_01, s_dist_02, s_dist_03, s_dist_04, s_dist_05, s_dist_06, s_dist_07, s_dist_08, s_dist_09, s_dist_10 FROM stock WHERE (s_w_id, s_i_id) IN (($1,$2),($3,$4),($5,$6),($7,$8),($9,$10)) FOR UPDATE;

-- extended: tpcc run
INSERT into order_line (ol_o_id, ol_d_id, ol_w_id, ol_number, ol_i_id, ol_supply_w_id, ol_quantity, ol_amount, ol_dist_info) VALUES ($1,$2,$3,$4,$5,$6,$7,$8,$9),($10,$11,$12,$13,$14,$15,$16,$17,$18),($19,$20,$21,$22,$23,$24,$25,$26,$27),($28,$29,$30,$31,$32,$33,$34,$35,$36),($37,$38,$39,$40,$41,$42,$43,$44,$45);

-- extended: tpcc run
UPDATE warehouse SET w_ytd = w_ytd + $1 WHERE w_id = $2;

-- extended: tpcc run
SELECT w_street_1, w_street_2, w_city, w_state, w_zip, w_name FROM warehouse WHERE w_id = $1;

-- extended: tpcc run
UPDATE district SET d_ytd = d_ytd + $1 WHERE d_w_id = $2 AND d_id = $3;

-- extended: tpcc run
SELECT d_street_1, d_street_2, d_city, d_state, d_zip, d_name FROM district WHERE d_w_id = $1 AND d_id = $2;

-- extended: tpcc run
SELECT c_id FROM customer WHERE c_w_id = $1 AND c_d_id = $2 AND c_last = $3 ORDER BY c_first;

-- extended: tpcc run
SELECT c_first, c_middle, c_last, c_street_1, c_street_2, c_city, c_state, c_zip, c_phone,
c_credit, c_credit_lim, c_discount, c_balance, c_since FROM customer WHERE c_w_id = $1 AND c_d_id = $2 
AND c_id = $3 FOR UPDATE;

-- extended: tpcc run
SELECT c_data FROM customer WHERE c_w_id = $1 AND c_d_id = $2 AND c_id = $3;

-- extended: tpcc run
UPDATE customer SET c_balance = c_balance - $1, c_ytd_payment = c_ytd_payment + $2, 
c_payment_cnt = c_payment_cnt + 1, c_data = $3 WHERE c_w_id = $4 AND c_d_id = $5 AND c_id = $6;

-- extended: tpcc run
UPDATE customer SET c_balance = c_balance - $1, c_ytd_payment = c_ytd_payment + $2, 
c_payment_cnt = c_payment_cnt + 1 WHERE c_w_id = $3 AND c_d_id = $4 AND c_id = $5;

-- extended: tpcc run
SELECT count(c_id) namecnt FROM customer WHERE c_w_id = $1 AND c_d_id = $2 AND c_last = $3;

-- extended: tpcc run
SELECT c_balance, c_first, c_middle, c_id FROM customer WHERE c_w_id = $1 AND c_d_id = $2 AND c_last = $3 ORDER BY c_first;

-- extended: tpcc run
SELECT c_balance, c_first, c_middle, c_last FROM customer WHERE c_w_id = $1 AND c_d_id = $2 AND c_id = $3;

-- extended: tpcc run
SELECT o_id, o_carrier_id, o_entry_d FROM orders WHERE o_w_id = $1 AND o_d_id = $2 AND o_c_id = $3 ORDER BY o_id DESC LIMIT 1;

-- extended: tpcc run
SELECT ol_i_id, ol_supply_w_id, ol_quantity, ol_amount, ol_delivery_d FROM order_line WHERE ol_w_id = $1 AND ol_d_id = $2 AND ol_o_id = $3;

-- extended: tpcc run
SELECT no_o_id FROM new_order WHERE no_w_id = $1 AND no_d_id = $2 ORDER BY no_o_id ASC LIMIT 1 FOR UPDATE;

-- extended: tpcc run
DELETE FROM new_order WHERE (no_w_id, no_d_id, no_o_id) IN (
	($1,$2,$3),($4,$5,$6),($7,$8,$9),($10,$11,$12),($13,$14,$15),($16,$17,$18),($19,$20,$21),($22,$23,$24),($25,$26,$27),($28,$29,$30)
);

-- extended: tpcc run
UPDATE orders SET o_carrier_id = $1 WHERE (o_w_id, o_d_id, o_id) IN (
	($2,$3,$4),($5,$6,$7),($8,$9,$10),($11,$12,$13),($14,$15,$16),($17,$18,$19),($20,$21,$22),($23,$24,$25),($26,$27,$28),($29,$30,$31)
);

-- extended: tpcc run
SELECT o_d_id, o_c_id FROM orders WHERE (o_w_id, o_d_id, o_id) IN (
	($1,$2,$3),($4,$5,$6),($7,$8,$9),($10,$11,$12),($13,$14,$15),($16,$17,$18),($19,$20,$21),($22,$23,$24),($25,$26,$27),($28,$29,$30)
);

-- extended: tpcc run
UPDATE order_line SET ol_delivery_d = $1 WHERE (ol_w_id, ol_d_id, ol_o_id) IN (
	($2,$3,$4),($5,$6,$7),($8,$9,$10),($11,$12,$13),($14,$15,$16),($17,$18,$19),($20,$21,$22),($23,$24,$25),($26,$27,$28),($29,$30,$31)
);

-- extended: tpcc run
SELECT ol_d_id, SUM(ol_amount) FROM order_line WHERE (ol_w_id, ol_d_id, ol_o_id) IN (
	($1,$2,$3),($4,$5,$6),($7,$8,$9),($10,$11,$12),($13,$14,$15),($16,$17,$18),($19,$20,$21),($22,$23,$24),($25,$26,$27),($28,$29,$30)
) GROUP BY ol_d_id;

-- extended: tpcc run
UPDATE customer SET c_balance = c_balance + $1, c_delivery_cnt = c_delivery_cnt + 1 WHERE c_w_id = $2 AND c_d_id = $3 AND c_id = $4;

-- extended: tpcc run
SELECT d_next_o_id FROM district WHERE d_w_id = $1 AND d_id = $2;

-- extended: tpcc run
SELECT /*+ TIDB_INLJ(order_line,stock) */ COUNT(DISTINCT (s_i_id)) stock_count FROM order_line, stock 
WHERE ol_w_id = $1 AND ol_d_id = $2 AND ol_o_id < $3 AND ol_o_id >= $4 - 20 AND s_w_id = $5 AND s_i_id = ol_i_id AND s_quantity < $6;

-- simple: tpcc run
BEGIN READ WRITE;

-- simple: tpcc run
COMMIT;

-- simple: tpcc run
ROLLBACK;

-- simple: tpcc run serializable
BEGIN ISOLATION LEVEL SERIALIZABLE READ WRITE;

-- simple: tpcc cleanup
DROP TABLE IF EXISTS item;

-- simple: tpcc cleanup
DROP TABLE IF EXISTS customer;

-- simple: tpcc cleanup
DROP TABLE IF EXISTS district;

-- simple: tpcc cleanup
DROP TABLE IF EXISTS history;

-- simple: tpcc cleanup
DROP TABLE IF EXISTS new_order;

-- simple: tpcc cleanup
DROP TABLE IF EXISTS order_line;

-- simple: tpcc cleanup
DROP TABLE IF EXISTS orders;

-- simple: tpcc cleanup
DROP TABLE IF EXISTS stock;

-- simple: tpcc cleanup
DROP TABLE IF EXISTS warehouse;
