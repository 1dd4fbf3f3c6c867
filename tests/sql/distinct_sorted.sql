-- DISTINCT whose rows are sorted by what they differ in: few duplicates, so that they are dropped behind the sort.
CREATE TABLE marks (id int PRIMARY KEY, a int, b text, c char(6), n numeric);
INSERT INTO marks SELECT i, nullif(i * 7919 % 271, 5), nullif('text ' || i * 31 % 281, 'text 7'), i * 17 % 263, (i % 277) / 4.0 FROM generate_series(1, 300) AS i;
ANALYZE marks;
SELECT count(*), count(a), min(a), max(a), md5(string_agg(a::text, ',')) FROM (SELECT DISTINCT a FROM marks ORDER BY a) AS d;
SELECT count(*), md5(string_agg(coalesce(a::text, 'null'), ',')) FROM (SELECT DISTINCT a FROM marks ORDER BY a DESC NULLS LAST) AS d;
SELECT count(*), md5(string_agg(coalesce(b, 'null'), ',')) FROM (SELECT DISTINCT b FROM marks ORDER BY b NULLS FIRST) AS d;
SELECT count(*), md5(string_agg(c, ',')) FROM (SELECT DISTINCT c FROM marks ORDER BY c) AS d;
SELECT DISTINCT n, a > 100 AS more FROM marks WHERE id < 12 ORDER BY more DESC, n;
SELECT DISTINCT a, b FROM marks WHERE id % 50 = 3 ORDER BY b, a;
SELECT DISTINCT a % 250, id / 2 FROM marks WHERE id BETWEEN 100 AND 108 ORDER BY 2, 1;
SELECT DISTINCT a FROM marks ORDER BY a LIMIT 3 OFFSET 2;
SELECT DISTINCT ON (a) a, id FROM marks WHERE a < 4 ORDER BY a, id DESC;
SELECT DISTINCT ON (b, a) b, a, id FROM marks WHERE id % 60 = 1 ORDER BY a, b, id;
SELECT count(*), sum(id) FROM (SELECT DISTINCT ON (a) a, id FROM marks ORDER BY a NULLS FIRST, id) AS d;
EXPLAIN (COSTS OFF) SELECT DISTINCT a FROM marks ORDER BY a;
EXPLAIN (COSTS OFF) SELECT DISTINCT b, a FROM marks ORDER BY a, b DESC;
EXPLAIN (COSTS OFF) SELECT DISTINCT ON (a) a, id FROM marks ORDER BY a, id;
-- equal, and written otherwise
SELECT DISTINCT c = 'x' AS same, length(c) FROM (SELECT c::char(6) FROM (VALUES ('x'), ('x '), ('y')) AS v (c)) AS s ORDER BY same, length(c);
SELECT count(*) FROM (SELECT DISTINCT f FROM (VALUES (0.0::float8), ('-0'::float8), ('NaN'), ('NaN'), (1)) AS v (f) ORDER BY f) AS d;
SELECT count(*) FROM (SELECT DISTINCT i FROM (VALUES (interval '1 day'), ('24:00'), ('1 mon'), ('30 days')) AS v (i) ORDER BY i) AS d;
SELECT DISTINCT x FROM (VALUES (ARRAY[1, NULL]), (ARRAY[1, NULL]), (NULL), (NULL), (ARRAY[1])) AS v (x) ORDER BY x;
-- once for each outer row
SELECT m.id, (SELECT string_agg(d.k::text, ',') FROM (SELECT DISTINCT o.a % 5 + m.id AS k FROM marks AS o WHERE o.id <= m.id * 3 ORDER BY k) AS d) FROM marks AS m WHERE m.id < 5 ORDER BY m.id;
-- read back and forth
BEGIN;
DECLARE d SCROLL CURSOR FOR SELECT DISTINCT a FROM marks WHERE id < 40 ORDER BY a;
FETCH 3 FROM d;
FETCH BACKWARD 2 FROM d;
FETCH LAST FROM d;
COMMIT;
-- more than memory takes
SET work_mem = '64kB';
SELECT count(*), md5(string_agg(t, ',')) FROM (SELECT DISTINCT t FROM (SELECT repeat('x', 20) || i * 7919 % 9001 AS t FROM generate_series(1, 10000) AS i) AS s ORDER BY t) AS d;
SELECT count(*), sum(i) FROM (SELECT DISTINCT ON (k) k, i FROM (SELECT i * 7919 % 9001 AS k, i FROM generate_series(1, 10000) AS i) AS s ORDER BY k, i DESC) AS d;
RESET work_mem;
-- rows that cannot be compared
SELECT DISTINCT r FROM (VALUES (ROW(1, 2)), (ROW(1, 'x'))) AS v (r) ORDER BY r;
DROP TABLE marks;
