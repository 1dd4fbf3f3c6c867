-- Rows that are kept and read again, more of them than work_mem: windows, WITH queries, the inner side of nested loops,
-- cursors, what a modification returns, what aggregates sort.
SET work_mem = '64kB';
CREATE TABLE kept (id int PRIMARY KEY, k int, t text, x numeric, j jsonb, iv interval);
INSERT INTO kept SELECT n, n % 7, 'text ' || n * 7919 % 9001, n * 1.5, jsonb_build_object('n', n), n * interval '1 minute'
FROM generate_series(1, 9000) AS n;
ANALYZE kept;

-- A cursor that goes far, and the row that it stands on.
BEGIN;
DECLARE u SCROLL CURSOR FOR SELECT id, k FROM kept;
MOVE ABSOLUTE 3000 FROM u;
UPDATE kept SET k = 99 WHERE CURRENT OF u;
SELECT id FROM kept WHERE k = 99;
ROLLBACK;

-- Windows: without keys, with ORDER BY alone, with partitions large and small, and every kind of function and frame.
SELECT count(*), sum(c), sum(r), max(l) FROM (SELECT count(*) OVER () AS c, row_number() OVER () AS r, last_value(id) OVER () AS l FROM kept) AS s;
SELECT md5(string_agg(concat_ws('|', id, r, d, p, c, b), ',' ORDER BY id)) FROM (
    SELECT id, rank() OVER w AS r, dense_rank() OVER w AS d, percent_rank() OVER w AS p, cume_dist() OVER w AS c, ntile(11) OVER (ORDER BY k, id) AS b
    FROM kept WINDOW w AS (ORDER BY k)) AS s;
SELECT md5(string_agg(concat_ws('|', id, a, b, c, d, e), ',' ORDER BY id)) FROM (
    SELECT id, lag(t) OVER w AS a, lead(x, 500, -1) OVER w AS b, first_value(j) OVER w AS c, nth_value(iv, 700) OVER w AS d, last_value(t) OVER w AS e
    FROM kept WINDOW w AS (PARTITION BY k ORDER BY t DESC, id)) AS s;
SELECT md5(string_agg(concat_ws('|', id, s, c, m), ',' ORDER BY id)) FROM (
    SELECT id, sum(x) OVER w AS s, count(*) FILTER (WHERE k > 2) OVER w AS c, max(t) OVER w AS m
    FROM kept WINDOW w AS (ORDER BY id ROWS BETWEEN 3 PRECEDING AND 2 FOLLOWING EXCLUDE CURRENT ROW)) AS s;
SELECT md5(string_agg(concat_ws('|', id, s, c), ',' ORDER BY id)) FROM (
    SELECT id, sum(id) OVER w AS s, count(*) OVER w AS c
    FROM kept WINDOW w AS (PARTITION BY k % 2 ORDER BY x RANGE BETWEEN 30 PRECEDING AND 45.5 FOLLOWING)) AS s;
SELECT md5(string_agg(concat_ws('|', id, s, c), ',' ORDER BY id)) FROM (
    SELECT id, array_agg(id) OVER w AS s, count(*) OVER w AS c
    FROM kept WINDOW w AS (ORDER BY id / 3 GROUPS BETWEEN 1 PRECEDING AND CURRENT ROW EXCLUDE TIES)) AS s;
SELECT md5(string_agg(concat_ws('|', id, s), ',' ORDER BY id)) FROM (
    SELECT id, sum(id) OVER (PARTITION BY id / 10 ORDER BY id) AS s FROM kept) AS s;
SELECT id, s FROM (SELECT id, sum(id) OVER (ORDER BY t, id) AS s FROM kept) AS s WHERE id % 3000 = 0 ORDER BY id;
SELECT ntile(0) OVER (ORDER BY t) FROM kept;
-- Over one another, and run again for each outer row.
SELECT sum(a), sum(b) FROM (SELECT row_number() OVER (ORDER BY t, id) AS a, sum(id) OVER (PARTITION BY k) AS b FROM kept) AS s;
SELECT g, (SELECT max(r) FROM (SELECT row_number() OVER (ORDER BY t) AS r FROM kept WHERE k <= g) AS s) FROM generate_series(0, 3) AS g;

-- WITH queries: read twice, read side by side, recursive with and without duplicates.
WITH w AS MATERIALIZED (SELECT id, t, x FROM kept) SELECT count(*), sum(a.x), min(b.t) FROM w AS a JOIN w AS b ON a.id = 9001 - b.id;
WITH w AS MATERIALIZED (SELECT id, t FROM kept) SELECT (SELECT count(*) FROM w), (SELECT max(t) FROM w), (SELECT t FROM w OFFSET 8000 LIMIT 1);
WITH RECURSIVE w (n, t) AS (SELECT 1, 'a' || 1 UNION ALL SELECT n + 1, 'a' || n + 1 FROM w WHERE n < 8000)
SELECT count(*), sum(n), max(t) FROM w;
WITH RECURSIVE w (n, level) AS (SELECT id, 0 FROM kept UNION ALL SELECT n, level + 1 FROM w WHERE level < 2)
SELECT level, count(*), sum(n) FROM w GROUP BY level ORDER BY level;
WITH RECURSIVE w (n) AS (SELECT id FROM kept UNION SELECT (n * 7 + 1) % 9001 FROM w) SELECT count(*), sum(n) FROM w;
WITH gone AS (DELETE FROM kept WHERE id > 8900 RETURNING id, t), made AS (INSERT INTO kept SELECT id, 7, t FROM gone RETURNING id)
SELECT count(*), sum(id) FROM gone;

-- The inner side of nested loops.
SELECT count(*), sum(b.id) FROM generate_series(1, 3) AS g, (SELECT id, t FROM kept OFFSET 0) AS b WHERE b.id % 3 + 1 > g;
SELECT count(*) FROM (SELECT id FROM kept ORDER BY id LIMIT 5) AS a LEFT JOIN (SELECT id, t FROM kept OFFSET 0) AS b ON b.id < a.id * 2 AND b.t > 'text 5';

-- What is returned, and what aggregates keep.
WITH r AS (UPDATE kept SET k = k + 1 RETURNING id, t, k) SELECT count(*), sum(id), sum(k) FROM r;
SELECT count(DISTINCT t), count(DISTINCT k), sum(DISTINCT x), md5(string_agg(t, ',' ORDER BY t DESC, id)) FROM kept;
SELECT k, count(DISTINCT t), md5(string_agg(DISTINCT t, ',')), md5(array_agg(id ORDER BY t)::text) FROM kept GROUP BY k ORDER BY k;
SELECT k % 2, k, count(DISTINCT t), count(*) FROM kept GROUP BY ROLLUP (k % 2, k) ORDER BY 1, 2;
SELECT count(DISTINCT r) FROM (SELECT CASE WHEN n = 9000 THEN ROW(8999, 'x'::text) ELSE ROW(n, 1) END AS r FROM generate_series(1, 9000) AS n) AS s;

-- Cursors that go back and forth, and that outlive their transaction.
BEGIN;
DECLARE c SCROLL CURSOR FOR SELECT id, t, x FROM kept ORDER BY t, id;
FETCH ABSOLUTE 8000 FROM c;
FETCH BACKWARD 3 FROM c;
FETCH FIRST FROM c;
FETCH LAST FROM c;
FETCH RELATIVE -4000 FROM c;
FETCH RELATIVE 0 FROM c;
MOVE FORWARD ALL FROM c;
FETCH PRIOR FROM c;
MOVE BACKWARD ALL FROM c;
FETCH NEXT FROM c;
DECLARE h SCROLL CURSOR WITH HOLD FOR SELECT id, j, iv FROM kept ORDER BY id;
DECLARE p CURSOR WITH HOLD FOR SELECT id, j, iv FROM kept ORDER BY id DESC;
FETCH 2 FROM p;
COMMIT;
FETCH ABSOLUTE 5000 FROM h;
FETCH BACKWARD 2 FROM h;
FETCH ABSOLUTE -1 FROM h;
FETCH 2 FROM p;
MOVE 5000 FROM p;
FETCH 2 FROM p;
CLOSE p;
CLOSE h;
SET temp_file_limit = '64kB';
WITH w AS MATERIALIZED (SELECT id, t, j FROM kept) SELECT count(*) FROM w;
RESET temp_file_limit;
DROP TABLE kept;
