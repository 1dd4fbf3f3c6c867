-- Left joins that nobody reads and that add no row are not made.
CREATE TABLE uj_a(id int, b_id int, c_id bigint, t text);
CREATE TABLE uj_b(id int PRIMARY KEY, name text, c_id int, active bool, code text);
CREATE TABLE uj_c(id bigint, k int, PRIMARY KEY (id, k));
CREATE TABLE uj_d(id int, v int);
INSERT INTO uj_a SELECT g, g % 7, g % 5, 'c' || g FROM generate_series(1, 50) g;
INSERT INTO uj_b SELECT g, 'b' || g, g % 3, g % 2 = 0, 'c' || g FROM generate_series(1, 10) g;
INSERT INTO uj_c SELECT g, g FROM generate_series(1, 10) g;
INSERT INTO uj_d SELECT g % 5, g FROM generate_series(1, 20) g;
ANALYZE uj_a, uj_b, uj_c, uj_d;
EXPLAIN (COSTS OFF) SELECT a.id FROM uj_a a LEFT JOIN uj_b b ON b.id = a.b_id;
EXPLAIN (COSTS OFF) SELECT a.id FROM uj_b b RIGHT JOIN uj_a a ON b.id = a.b_id;
EXPLAIN (COSTS OFF) SELECT a.id FROM uj_a a LEFT JOIN uj_b b ON b.id = a.b_id AND b.active AND a.t > 'c2';
EXPLAIN (COSTS OFF) SELECT count(*) FROM uj_a a LEFT JOIN uj_b b ON b.id = a.b_id LEFT JOIN uj_c c ON c.id = b.c_id AND c.k = 3;
EXPLAIN (COSTS OFF) SELECT count(*) FROM uj_a a LEFT JOIN (uj_b b LEFT JOIN uj_c c ON c.id = b.c_id AND c.k = b.c_id) ON b.id = a.b_id;
-- Groups, rows that differ, and one row.
EXPLAIN (COSTS OFF) SELECT count(*) FROM uj_a a LEFT JOIN (SELECT id, sum(v) AS s FROM uj_d GROUP BY id) d ON d.id = a.b_id;
EXPLAIN (COSTS OFF) SELECT count(*) FROM uj_a a LEFT JOIN (SELECT DISTINCT id FROM uj_d) d ON d.id = a.b_id;
EXPLAIN (COSTS OFF) SELECT count(*) FROM uj_a a LEFT JOIN (SELECT id FROM uj_d UNION SELECT id FROM uj_b) d ON d.id = a.b_id;
EXPLAIN (COSTS OFF) SELECT count(*) FROM uj_a a LEFT JOIN (SELECT max(v) FROM uj_d) d ON true;
-- Of a view only what is asked for.
CREATE VIEW uj_v AS SELECT a.*, b.name, coalesce(b.name, 'none') AS n2, upper(c.id::text) AS u FROM uj_a a LEFT JOIN uj_b b ON b.id = a.b_id LEFT JOIN uj_c c ON c.id = a.c_id AND c.k = 1;
EXPLAIN (COSTS OFF) SELECT count(*) FROM uj_v;
EXPLAIN (COSTS OFF) SELECT id, t FROM uj_v WHERE id = 3;
EXPLAIN (COSTS OFF) INSERT INTO uj_d SELECT id, b_id FROM uj_v;
SELECT count(*), sum(id), min(t) FROM uj_v;
SELECT id, n2 FROM uj_v WHERE id < 9 ORDER BY id;
SELECT id, u FROM uj_v WHERE id < 9 ORDER BY id;
SELECT id FROM uj_v WHERE n2 = 'none' ORDER BY id;
SELECT d.id, EXISTS (SELECT FROM uj_v v WHERE v.id = d.v) FROM uj_d d WHERE d.v < 4 ORDER BY d.v;
WITH w AS MATERIALIZED (SELECT * FROM uj_v) SELECT count(id) FROM w;
UPDATE uj_d SET v = v.id FROM uj_v v WHERE v.id = uj_d.v AND v.id > 18 RETURNING uj_d.id, uj_d.v;
-- What has several rows, or is read, stays.
SELECT count(*) FROM uj_a a LEFT JOIN uj_b b ON b.code = a.t;
SELECT count(*) FROM uj_a a LEFT JOIN uj_d d ON d.id = a.b_id;
SELECT count(*) FROM uj_a a LEFT JOIN uj_c c ON c.id = a.c_id;
SELECT count(*) FROM uj_a a LEFT JOIN uj_b b ON b.id >= a.b_id;
SELECT count(*) FROM uj_a a LEFT JOIN uj_b b ON b.id IN (a.b_id, 3);
SELECT count(*) FROM uj_a a LEFT JOIN (SELECT id, v FROM uj_d GROUP BY id, v) d ON d.id = a.b_id;
SELECT count(*) FROM uj_a a LEFT JOIN (SELECT id FROM uj_d UNION ALL SELECT id FROM uj_b) d ON d.id = a.b_id;
SELECT count(*) FROM uj_a a LEFT JOIN (SELECT id FROM uj_d GROUP BY ROLLUP (id)) d ON d.id = a.b_id OR d.id IS NULL;
SELECT count(*) FROM uj_a a LEFT JOIN (SELECT id, generate_series(1, 2) FROM uj_b) b ON b.id = a.b_id;
SELECT count(*) FROM uj_a a LEFT JOIN uj_b b ON b.id = a.b_id LEFT JOIN uj_d d ON d.id = b.c_id;
SELECT a.id, (SELECT b.name) FROM uj_a a LEFT JOIN uj_b b ON b.id = a.b_id WHERE a.id < 9 ORDER BY a.id;
SELECT a.id, l.n FROM uj_a a LEFT JOIN uj_b b ON b.id = a.b_id, LATERAL (SELECT count(*) AS n FROM uj_d d WHERE d.id = b.c_id) l WHERE a.id < 9 ORDER BY a.id;
SELECT a.id FROM uj_a a LEFT JOIN uj_b b ON b.id = a.b_id WHERE a.id < 9 ORDER BY b.name DESC, a.id;
SELECT a.id FROM uj_a a LEFT JOIN uj_b b ON b.id = a.b_id AND b.active GROUP BY a.id, b.name HAVING a.id < 9 ORDER BY a.id, b.name;
SELECT count(*) FROM uj_a a FULL JOIN uj_b b ON b.id = a.b_id;
SELECT count(*) FROM uj_a a JOIN uj_b b ON b.id = a.b_id;
SELECT DISTINCT ON (b.name) a.id FROM uj_a a LEFT JOIN uj_b b ON b.id = a.b_id ORDER BY b.name, a.id;
SELECT a.id, row_number() OVER (PARTITION BY b.active ORDER BY a.id) FROM uj_a a LEFT JOIN uj_b b ON b.id = a.b_id WHERE a.id < 9 ORDER BY a.id;
-- A unique key that is asked at the end only, or of some rows only.
CREATE TABLE uj_e(id int UNIQUE DEFERRABLE INITIALLY DEFERRED, code text, live bool);
CREATE UNIQUE INDEX uj_live ON uj_e (code) WHERE live;
INSERT INTO uj_e VALUES (1, 'c1', true), (2, 'c1', false), (3, 'c2', false);
BEGIN;
INSERT INTO uj_e VALUES (1, 'c5', true);
SELECT count(*) FROM uj_a a LEFT JOIN uj_e e ON e.id = a.b_id;
ROLLBACK;
SELECT count(*) FROM uj_a a LEFT JOIN uj_e e ON e.code = a.t;
SELECT count(*) FROM uj_a a LEFT JOIN uj_e e ON e.code = a.t AND e.live;
-- A cursor over such a view is one over its table.
BEGIN;
DECLARE uj_k CURSOR FOR SELECT id FROM uj_v;
FETCH 2 FROM uj_k;
UPDATE uj_a SET t = 'here' WHERE CURRENT OF uj_k RETURNING *;
ROLLBACK;
DROP VIEW uj_v;
DROP TABLE uj_a, uj_b, uj_c, uj_d, uj_e;
