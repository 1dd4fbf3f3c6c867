-- What the rows of a subquery are compared with may be a key of the query around; sides of set operations decide what has no type.
CREATE TABLE tested AS SELECT * FROM (VALUES (1, 2, true, 'x'::varchar), (2, 2, false, 'y'), (NULL, 3, NULL, NULL)) AS t (a, b, f, v);
SELECT (a = 1) IN (SELECT f FROM tested), (a + 1, b) IN (SELECT 2, 2), (a + 1, b) = (SELECT 3, 2), (a + 1) > ALL (SELECT b FROM tested)
  FROM tested GROUP BY (a = 1), a + 1, b ORDER BY 1, 2, 3, 4;
SELECT sum(b), (a + 1) NOT IN (SELECT t.b FROM tested t WHERE t.b IS NOT NULL) FROM tested GROUP BY a + 1 ORDER BY 1, 2;
SELECT (a + 1) IN (SELECT t.b FROM tested t WHERE t.a = tested.b) FROM tested GROUP BY a + 1, b ORDER BY 1;
SELECT count(*) FROM tested GROUP BY (a = 1) HAVING (a = 1) IN (SELECT true) ORDER BY 1;
SELECT (a = 1) IN (SELECT f FROM tested), count(*) FROM tested GROUP BY ROLLUP ((a = 1)) ORDER BY 1, 2;
SELECT rank() OVER (ORDER BY (a + 1) IN (SELECT 2)) FROM tested GROUP BY a + 1 ORDER BY 1;
SELECT ((a + 1) IN (SELECT 2)) IN (SELECT true) FROM tested GROUP BY a + 1 ORDER BY 1;
SELECT a IN (SELECT b FROM tested) FROM tested GROUP BY b;
SELECT (a + 1) IN (SELECT t.b FROM tested t WHERE t.a = tested.b) FROM tested GROUP BY a + 1;
SELECT max(b) IN (SELECT 2), sum(b) > ANY (SELECT 1) FROM tested;

-- A literal that a side of a set operation sorts, groups or makes distinct by is text.
SELECT pg_typeof(c) FROM (SELECT DISTINCT 'A' AS c UNION SELECT v FROM tested WHERE false) x;
SELECT pg_typeof(c) FROM (SELECT 'A' AS c UNION SELECT v FROM tested WHERE false) x;
SELECT pg_typeof(c) FROM ((SELECT 'A' AS c ORDER BY 1 LIMIT 1) UNION SELECT v FROM tested WHERE false) x;
SELECT pg_typeof(c) FROM ((SELECT 'A' AS c GROUP BY 1) UNION SELECT v FROM tested WHERE false) x;
SELECT pg_typeof(c) FROM ((SELECT 'A' AS c GROUP BY c) UNION SELECT v FROM tested WHERE false) x;
SELECT pg_typeof(c) FROM ((SELECT DISTINCT ON (c) 'A' AS c) UNION SELECT v FROM tested WHERE false) x;
(SELECT DISTINCT NULL AS c) UNION SELECT a FROM tested;
(SELECT NULL AS c GROUP BY 1) UNION SELECT a FROM tested;
(SELECT NULL AS c) UNION SELECT a FROM tested ORDER BY c;
CREATE VIEW tested_sides AS SELECT DISTINCT 'A' AS c UNION SELECT v FROM tested;
SELECT pg_get_viewdef('tested_sides');
