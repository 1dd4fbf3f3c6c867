-- What hash tables hold past 64 times work_mem goes to temporary files: every kind of join, grouping, DISTINCT and set
-- operations give the rows that they give in memory.
SET work_mem = '64kB';
CREATE TABLE big (id int, k int, t text);
INSERT INTO big SELECT i, i % 36000, 'row ' || i FROM generate_series(1, 60000) AS i;
INSERT INTO big SELECT -i, NULL, NULL FROM generate_series(1, 1000) AS i;
CREATE TABLE other (id int, k int, t text);
INSERT INTO other SELECT i, i + 18000, 'other ' || i FROM generate_series(1, 50000) AS i;
INSERT INTO other SELECT -i, NULL, NULL FROM generate_series(1, 500) AS i;
SET enable_mergejoin = off;
SET enable_nestloop = off;
SELECT count(*), count(DISTINCT b.id), sum(b.id::bigint), sum(o.id::bigint), sum(length(b.t)), sum(length(o.t)) FROM big b JOIN other o ON b.k = o.k;
SELECT count(*), count(o.id), sum(b.id::bigint), sum(o.id::bigint), sum(length(b.t)), sum(length(o.t)) FROM big b LEFT JOIN other o ON b.k = o.k;
SELECT count(*), count(b.id), count(o.id), sum(b.id::bigint), sum(o.id::bigint), sum(length(b.t)) FROM big b RIGHT JOIN other o ON b.k = o.k;
SELECT count(*), count(b.id), count(o.id), sum(b.id::bigint), sum(o.id::bigint), sum(length(o.t)) FROM big b FULL JOIN other o ON b.k = o.k;
SELECT count(*), sum(id::bigint) FROM big b WHERE EXISTS (SELECT FROM other o WHERE o.k = b.k AND o.t <> b.t);
SELECT count(*), sum(id::bigint) FROM big b WHERE NOT EXISTS (SELECT FROM other o WHERE o.k = b.k AND o.t <> b.t);
SELECT count(*), sum(id::bigint) FROM big b WHERE k IN (SELECT k FROM other);
SELECT count(*), sum(b.id::bigint) FROM big b JOIN other o ON b.k = o.k AND b.id + o.id > 40000;
SELECT count(*), count(o.id) FROM big b LEFT JOIN other o ON b.k = o.k AND length(b.t) < length(o.t) - 2;
SELECT count(*), sum(b.id::bigint) FROM big b JOIN big c ON b.k = c.k AND b.t = c.t JOIN other o ON o.id = c.id;
-- one key in all rows: no hash takes them apart
SELECT count(*) FROM (SELECT 1 AS one, id FROM big WHERE id % 7 = 0) b JOIN (SELECT 1 AS one, id, repeat('x', 50) AS pad FROM other WHERE id % 100 = 0) o ON b.one = o.one AND b.id = o.id;
SELECT * FROM big b JOIN other o ON b.k = o.k ORDER BY b.id DESC, o.id LIMIT 3;
SELECT b.id, o.id FROM big b LEFT JOIN other o ON b.k = o.k ORDER BY b.id, o.id OFFSET 18490 LIMIT 5;
-- groups
SELECT count(*), sum(n), sum(s), max(m), min(l) FROM (SELECT k, count(*) AS n, sum(id::bigint) AS s, max(t) AS m, min(length(t)) AS l FROM big GROUP BY k) AS g;
SELECT count(*), sum(n), sum(length(a)), max(a) FROM (SELECT k, count(*) AS n, string_agg(t, ',' ORDER BY id DESC) AS a FROM big GROUP BY k) AS g;
SELECT count(*), sum(n), sum(d) FROM (SELECT t, count(*) AS n, count(DISTINCT k) FILTER (WHERE id % 2 = 0) AS d FROM big GROUP BY t) AS g;
SELECT count(*), sum(n), sum(g) FROM (SELECT k, t, count(*) AS n, grouping(k, t) AS g FROM big GROUP BY GROUPING SETS ((k), (t), (k, t), ())) AS g;
SELECT k, count(*), array_agg(id ORDER BY id) FROM big GROUP BY k HAVING count(*) > 1 ORDER BY k LIMIT 3;
SELECT k, count(*), sum(id) FROM big GROUP BY k ORDER BY k DESC NULLS FIRST LIMIT 3;
-- DISTINCT
SELECT count(*), sum(k::bigint), count(t) FROM (SELECT DISTINCT k, t FROM big) AS d;
SELECT count(*), sum(k::bigint) FROM (SELECT DISTINCT k FROM big) AS d;
SELECT count(*), sum(k::bigint), sum(id::bigint) FROM (SELECT DISTINCT ON (k) k, id FROM big ORDER BY k, id) AS d;
SELECT DISTINCT k % 3, k IS NULL FROM big ORDER BY 1, 2;
SELECT DISTINCT t FROM big ORDER BY t DESC NULLS LAST LIMIT 3;
-- set operations
SELECT count(*), sum(k::bigint), count(t) FROM (SELECT k, t FROM big UNION SELECT k, t FROM other) AS s;
SELECT count(*), sum(k::bigint), count(*) FILTER (WHERE k IS NULL) FROM (SELECT k, 'number ' || k FROM big INTERSECT SELECT k, 'number ' || k FROM other) AS s;
SELECT count(*), sum(k::bigint), count(*) FILTER (WHERE k IS NULL) FROM (SELECT k, 'number ' || k FROM big INTERSECT ALL SELECT k, 'number ' || k FROM other) AS s;
SELECT count(*), sum(k::bigint), count(*) FILTER (WHERE k IS NULL) FROM (SELECT k, 'number ' || k FROM big EXCEPT SELECT k, 'number ' || k FROM other) AS s;
SELECT count(*), sum(k::bigint), count(*) FILTER (WHERE k IS NULL) FROM (SELECT k, 'number ' || k FROM big EXCEPT ALL SELECT k, 'number ' || k FROM other) AS s;
SELECT count(*), sum(id::bigint) FROM (SELECT id, k, t FROM big EXCEPT SELECT 1, 1, 'row 1') AS s;
SELECT count(*) FROM (SELECT k, k FROM other UNION SELECT id, k FROM big EXCEPT SELECT id, id FROM big) AS s;
WITH RECURSIVE r AS (SELECT 1 AS n UNION SELECT n % 70000 + 1 FROM r) SELECT count(*), sum(n::bigint) FROM r;
-- a part of a join at a time, with a subquery, a row lock and an UPDATE above
BEGIN;
SELECT count(*), sum(id::bigint) FROM (SELECT b.id FROM big b JOIN other o ON b.k = o.k WHERE b.id % 10 = (SELECT 3) FOR UPDATE OF b) AS locked;
UPDATE big SET t = o.t FROM other o WHERE big.k = o.k;
SELECT count(*) FILTER (WHERE t LIKE 'other%'), count(*) FROM big;
DELETE FROM big USING other o WHERE big.k = o.k AND big.t = o.t;
SELECT count(*), sum(id::bigint) FROM big;
ROLLBACK;
-- what a client reads only the beginning of
BEGIN;
DECLARE some CURSOR FOR SELECT b.k FROM big b JOIN other o ON b.k = o.k AND b.k = 18001;
FETCH 1 FROM some;
DECLARE groups CURSOR FOR SELECT count(*) FROM big GROUP BY t;
FETCH 2 FROM groups;
CLOSE some;
COMMIT;
SET temp_file_limit = '100kB';
SELECT count(*) FROM (SELECT t, count(*) FROM big GROUP BY t) AS g;
RESET temp_file_limit;
DROP TABLE big, other;
