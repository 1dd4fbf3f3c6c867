-- Windows over rows that a key gives in their order: nothing is sorted, and read is what the rows look at that are asked for.
CREATE TABLE wo (id int PRIMARY KEY, kind int, at timestamp, val int);
INSERT INTO wo SELECT g, g % 10, timestamp '2024-01-01' + g * interval '1 minute', g * 7 % 100 FROM generate_series(1, 5000) g;
CREATE INDEX wo_kind_at ON wo (kind, at);
CREATE INDEX wo_at ON wo (at);
ANALYZE wo;
EXPLAIN (COSTS OFF) SELECT kind, at, sum(val) OVER (PARTITION BY kind ORDER BY at) FROM wo ORDER BY kind, at LIMIT 5;
EXPLAIN (COSTS OFF) SELECT row_number() OVER (ORDER BY id), val FROM wo ORDER BY id LIMIT 5;
EXPLAIN (COSTS OFF) SELECT row_number() OVER (ORDER BY at DESC), val FROM wo ORDER BY at DESC LIMIT 5;
EXPLAIN (COSTS OFF) SELECT row_number() OVER (), id FROM wo LIMIT 5;
EXPLAIN (COSTS OFF) SELECT kind, lag(val) OVER w, avg(val) OVER (PARTITION BY kind ORDER BY at ROWS BETWEEN 5 PRECEDING AND CURRENT ROW) FROM wo WINDOW w AS (PARTITION BY kind ORDER BY at) ORDER BY kind, at LIMIT 5;
EXPLAIN (COSTS OFF) SELECT kind, at, sum(val) OVER (PARTITION BY kind % 3 ORDER BY at) FROM wo ORDER BY kind, at;
SELECT kind, at, sum(val) OVER (PARTITION BY kind ORDER BY at) FROM wo ORDER BY kind, at LIMIT 5;
SELECT row_number() OVER (ORDER BY id), id FROM wo ORDER BY id LIMIT 5 OFFSET 2;
SELECT row_number() OVER (ORDER BY at DESC), id FROM wo ORDER BY at DESC LIMIT 5;
SELECT row_number() OVER (ORDER BY at DESC), rank() OVER (ORDER BY at DESC), id FROM wo WHERE at < '2024-01-02' ORDER BY at DESC LIMIT 5;
SELECT kind, lag(val, 2, -1) OVER w, first_value(val) OVER w, last_value(val) OVER w, nth_value(val, 2) OVER w FROM wo WINDOW w AS (PARTITION BY kind ORDER BY at) ORDER BY kind, at LIMIT 4;
SELECT kind, lead(val, 2, -1) OVER w, lag(val, -1) OVER w, ntile(3) OVER w, cume_dist() OVER w FROM wo WINDOW w AS (PARTITION BY kind ORDER BY at) ORDER BY kind, at LIMIT 4;
SELECT kind, count(*) OVER (PARTITION BY kind ORDER BY at ROWS BETWEEN 1 FOLLOWING AND 3 FOLLOWING), count(*) OVER (PARTITION BY kind ORDER BY at ROWS BETWEEN 3 PRECEDING AND 1 PRECEDING) FROM wo ORDER BY kind, at LIMIT 5;
SELECT kind, array_agg(val) OVER (PARTITION BY kind ORDER BY at ROWS 2 PRECEDING EXCLUDE CURRENT ROW) FROM wo ORDER BY kind, at LIMIT 4;
SELECT kind, dense_rank() OVER (ORDER BY kind), rank() OVER (ORDER BY kind), count(*) OVER (ORDER BY kind), sum(val) OVER (ORDER BY kind GROUPS BETWEEN 1 PRECEDING AND CURRENT ROW EXCLUDE TIES) FROM wo WHERE kind > 7 ORDER BY kind, id LIMIT 3;
SELECT at, count(*) OVER (ORDER BY at RANGE BETWEEN '10 minutes' PRECEDING AND CURRENT ROW), count(*) OVER (ORDER BY at RANGE BETWEEN '10 minutes' PRECEDING AND '5 minutes' PRECEDING) FROM wo ORDER BY at LIMIT 15;
SELECT count(*), sum(s), sum(r) FROM (SELECT sum(val) OVER (PARTITION BY kind ORDER BY at) AS s, row_number() OVER (PARTITION BY kind ORDER BY at DESC) AS r FROM wo) q;
SELECT count(*), sum(s), sum(r) FROM (SELECT sum(val) OVER (PARTITION BY kind % 3, val % 2 ORDER BY at, id) AS s, rank() OVER (PARTITION BY val % 7 ORDER BY kind) AS r FROM wo) q;
-- What it was sorted by is computed once.
SELECT count(DISTINCT n), max(n), min(c) FROM (SELECT row_number() OVER (ORDER BY random()) AS n, count(*) OVER (PARTITION BY random() < 2) AS c FROM wo) q;
-- What nobody reads is not made, unless it does something.
EXPLAIN (COSTS OFF) SELECT count(*) FROM (SELECT id, row_number() OVER (PARTITION BY kind ORDER BY at) FROM wo) q;
EXPLAIN (COSTS OFF) SELECT min(val) FROM (SELECT val, rank() OVER (ORDER BY at), sum(val) OVER (PARTITION BY kind) FROM wo) q;
CREATE SEQUENCE wo_seq;
SELECT count(*) FROM (SELECT id, max(nextval('wo_seq')) OVER () FROM wo WHERE id < 4) q;
SELECT last_value FROM wo_seq;
-- Of a partition no row is looked at behind one of which a condition does not hold that holds of none behind it.
EXPLAIN (COSTS OFF) SELECT * FROM (SELECT val, count(*) OVER (ORDER BY val) AS n FROM wo) q WHERE 5 > n;
SELECT kind, id, n FROM (SELECT kind, id, row_number() OVER (PARTITION BY kind ORDER BY at DESC) AS n FROM wo) q WHERE n <= 2 ORDER BY kind, n;
SELECT * FROM (SELECT id, row_number() OVER (ORDER BY id) AS n, sum(id) OVER (ORDER BY id) AS s FROM wo) q WHERE n BETWEEN 3 AND 5;
SELECT * FROM (SELECT id, rank() OVER (ORDER BY id / 4) AS n, count(*) OVER (ORDER BY id / 4) AS c FROM wo) q WHERE n = 4 ORDER BY id;
SELECT * FROM (SELECT id, dense_rank() OVER (PARTITION BY id % 2 ORDER BY id / 4) AS n FROM wo WHERE id < 30) q WHERE 3 > n ORDER BY id;
SELECT * FROM (SELECT id, count(val) OVER (ORDER BY id) AS n, lead(id) OVER (ORDER BY id) AS l FROM wo) q WHERE n < 3 AND l > 0;
SELECT * FROM (SELECT id, count(*) OVER (ORDER BY id ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) AS n FROM wo WHERE id < 5) q WHERE n < 3;
SELECT * FROM (SELECT id, row_number() OVER (ORDER BY id) AS n FROM wo) q WHERE n <= NULL::int;
SELECT d.k, q.* FROM (VALUES (1), (2)) d(k) CROSS JOIN LATERAL (SELECT * FROM (SELECT id, row_number() OVER (ORDER BY id) AS n FROM wo) w WHERE w.n <= d.k) q ORDER BY 1, 2;
PREPARE wo_top (int) AS SELECT id FROM (SELECT id, row_number() OVER (ORDER BY id) AS n FROM wo) q WHERE n < $1;
EXECUTE wo_top (3);
EXECUTE wo_top (1);
DEALLOCATE wo_top;
-- Partitions that memory does not hold.
SET work_mem = '64kB';
SELECT count(*), sum(s), max(r) FROM (SELECT sum(val) OVER (ORDER BY at ROWS BETWEEN 200 PRECEDING AND CURRENT ROW) AS s, row_number() OVER (ORDER BY at) AS r FROM wo) q;
SELECT count(*), sum(s), max(r) FROM (SELECT sum(val) OVER (ORDER BY at ROWS BETWEEN 200 PRECEDING AND 100 FOLLOWING) AS s, ntile(7) OVER (ORDER BY at) AS r FROM wo) q;
SELECT count(*), sum(s), sum(f) FROM (SELECT sum(val) OVER w AS s, first_value(val) OVER w AS f FROM wo WINDOW w AS (PARTITION BY kind % 2 ORDER BY at)) q;
SELECT id, row_number() OVER (ORDER BY at), lag(id, 1500) OVER (ORDER BY at) FROM wo ORDER BY at LIMIT 2 OFFSET 4900;
RESET work_mem;
-- Behind the last row others are looked at.
SELECT id, sum(val) OVER (ORDER BY id), row_number() OVER () FROM wo WHERE val::text < '1' AND id < 40 ORDER BY id;
SELECT id, row_number() OVER (ORDER BY id) FROM wo WHERE val::text = '7' AND kind::text = '1' AND id < 900;
-- A cursor reads on.
BEGIN;
DECLARE wo_c CURSOR FOR SELECT kind, at, sum(val) OVER (PARTITION BY kind ORDER BY at) FROM wo ORDER BY kind, at;
FETCH 2 FROM wo_c;
MOVE 497 FROM wo_c;
FETCH 3 FROM wo_c;
ROLLBACK;
-- Run again and again within a query.
SELECT d.k, l.* FROM (VALUES (1), (2), (1)) d(k) CROSS JOIN LATERAL (SELECT id, row_number() OVER (ORDER BY at) AS n, sum(val) OVER (ORDER BY at) AS s FROM wo WHERE kind = d.k ORDER BY at LIMIT 2) l;
DROP SEQUENCE wo_seq;
DROP TABLE wo;
