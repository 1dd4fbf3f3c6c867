-- Queries within queries are printed as they were written, whatever of them belongs to a query around.
CREATE TABLE t (a int, b int, c text);
CREATE TABLE u (a int, d text);
CREATE VIEW handed AS SELECT a, (SELECT sum(t.b)) AS s, (SELECT (SELECT sum(t.b) + max(t.b))) AS ss, (SELECT count(*) FROM u WHERE u.a = sum(t.b)) AS n FROM t GROUP BY a HAVING EXISTS (SELECT FROM u WHERE u.a > min(t.b)) ORDER BY (SELECT max(t.b));
SELECT pg_get_viewdef('handed'::regclass), pg_get_viewdef('handed'::regclass, true);
CREATE VIEW inner_ones AS SELECT (SELECT sum(x.a + t.b) FROM u x) AS inside, (SELECT (SELECT max(y.a) FROM u y WHERE y.a < x.a) FROM u x WHERE x.a = t.a LIMIT 1) AS deeper FROM t WHERE a IN (SELECT a FROM u WHERE d IN (SELECT c FROM t t2 WHERE t2.b = u.a AND EXISTS (SELECT FROM u WHERE u.a = t.a)));
SELECT pg_get_viewdef('inner_ones'::regclass), pg_get_viewdef('inner_ones'::regclass, true);
CREATE VIEW sides AS WITH w AS (SELECT a, (SELECT count(*) FROM u WHERE u.a = t.a) AS n FROM t), v AS (WITH w AS (SELECT 2 AS a) SELECT w.a, 'x' AS k FROM w UNION SELECT (SELECT max(u.a) FROM u), NULL) SELECT w.a, v.k, s.* FROM w JOIN v USING (a) LEFT JOIN LATERAL (SELECT u.d, (SELECT w.n + u.a) AS both FROM u WHERE u.a = w.a OFFSET 0) s ON s.d <> v.k;
SELECT pg_get_viewdef('sides'::regclass), pg_get_viewdef('sides'::regclass, true);
CREATE VIEW compared AS SELECT (a, b) = (SELECT u.a, u.a + 1 FROM u LIMIT 1) AS same, ROW(a, b) IN (SELECT u.a, 1 FROM u) AS among, a > ALL (SELECT u.a FROM u WHERE u.d = t.c) AS above, ARRAY(SELECT (SELECT u.d || t.c) FROM u ORDER BY u.a) AS list FROM t;
SELECT pg_get_viewdef('compared'::regclass), pg_get_viewdef('compared'::regclass, true);
CREATE VIEW grouped AS SELECT GROUPING(a) AS g, (SELECT GROUPING(t.a)) AS gg, (SELECT (SELECT GROUPING(t.a, t.b) FROM u LIMIT 1)) AS ggg FROM t GROUP BY ROLLUP (a, b);
SELECT pg_get_viewdef('grouped'::regclass);
ALTER TABLE t RENAME b TO bb;
SELECT viewname, definition FROM pg_views WHERE schemaname = 'public' ORDER BY 1;
