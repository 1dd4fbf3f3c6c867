-- GROUP BY DISTINCT: grouping sets that are the same count once. Grouping by subqueries.
SELECT a, b, count(*) FROM (VALUES (1, 2), (1, 3)) AS v (a, b) GROUP BY DISTINCT a, ROLLUP (a, b) ORDER BY 1, 2;
SELECT a, b, count(*) FROM (VALUES (1, 2), (1, 3)) AS v (a, b) GROUP BY ALL a, ROLLUP (a, b) ORDER BY 1, 2;
SELECT a, b, count(*) FROM (VALUES (1, 2), (1, 3)) AS v (a, b) GROUP BY DISTINCT ROLLUP (a, b), ROLLUP (b, a) ORDER BY 1, 2;
SELECT a, b, grouping(a, b), sum(a) FROM (VALUES (1, 2), (1, 3)) AS v (a, b) GROUP BY DISTINCT GROUPING SETS ((a, b), (b, a), (), ()) ORDER BY 1, 2;
SELECT a, count(*) FROM (VALUES (1, 2), (1, 3)) AS v (a, b) GROUP BY DISTINCT a, a;
SELECT count(*) FROM (VALUES (1, 2), (1, 3)) AS v (a, b) WHERE false GROUP BY DISTINCT GROUPING SETS ((), (), ());

-- A subquery that is grouped by under its output name or number.
CREATE TABLE em (id int PRIMARY KEY, g int);
CREATE TABLE o (id int PRIMARY KEY, em_id int, amt int);
INSERT INTO em VALUES (1, 1), (2, 1), (3, 2);
INSERT INTO o VALUES (1, 1, 10), (2, 1, 20), (3, 2, 30);
SELECT (SELECT count(*) FROM o WHERE em_id = em.id) AS n, count(*) FROM em GROUP BY n ORDER BY 1;
SELECT (SELECT count(*) FROM o WHERE em_id = em.id) AS n, count(*) FROM em GROUP BY 1 ORDER BY n;
SELECT (SELECT count(*) FROM o WHERE em_id = em.id) + 1 AS n, count(*) FROM em GROUP BY n ORDER BY n;
SELECT EXISTS (SELECT FROM o WHERE em_id = em.id) AS has, count(*) FROM em GROUP BY has ORDER BY has;
SELECT EXISTS (SELECT FROM o WHERE em_id = em.id) AS has, count(*) FROM em GROUP BY ROLLUP (has) ORDER BY has;
SELECT g, ARRAY(SELECT amt FROM o WHERE em_id = em.id ORDER BY 1) AS a, count(*) FROM em GROUP BY 1, 2 ORDER BY 1, 2;
SELECT g IN (SELECT amt FROM o WHERE em_id = em.id) AS a, count(*) FROM em GROUP BY a HAVING count(*) > 1 ORDER BY 1;
SELECT (SELECT max(amt) FROM o), count(*) FROM em GROUP BY 1;
SELECT DISTINCT ON (n) (SELECT count(*) FROM o WHERE em_id = em.id) AS n FROM em ORDER BY n;
SELECT sum(id) OVER w, count(*) OVER w FROM em WINDOW w AS (PARTITION BY (SELECT count(*) > 0 FROM o WHERE em_id = em.id)) ORDER BY id;

-- A subquery that is written again as it stands in GROUP BY is the one that is grouped by.
SELECT (SELECT count(*) FROM o WHERE em_id = em.id) AS n, count(*) FROM em GROUP BY (SELECT count(*) FROM o WHERE em_id = em.id) ORDER BY 1;
SELECT (SELECT max(amt) FROM o WHERE em_id = em.id AND amt > 5 GROUP BY em_id HAVING count(*) > 0) + 1 AS n FROM em GROUP BY (SELECT max(amt) FROM o WHERE em_id = em.id AND amt > 5 GROUP BY em_id HAVING count(*) > 0) ORDER BY 1;
SELECT EXISTS (SELECT FROM o WHERE em_id = em.id) AS has, count(*) FROM em GROUP BY EXISTS (SELECT FROM o WHERE em_id = em.id) HAVING EXISTS (SELECT FROM o WHERE em_id = em.id);
SELECT g IN (SELECT amt / 10 FROM o), count(*) FROM em GROUP BY g IN (SELECT amt / 10 FROM o) ORDER BY 1;
SELECT ARRAY(WITH w AS (SELECT amt FROM o WHERE em_id = em.id) SELECT amt FROM w ORDER BY amt DESC LIMIT 1), count(*) FROM em GROUP BY ARRAY(WITH w AS (SELECT amt FROM o WHERE em_id = em.id) SELECT amt FROM w ORDER BY amt DESC LIMIT 1) ORDER BY 1;
SELECT (SELECT x.sum FROM (SELECT sum(amt) OVER (ORDER BY id) FROM o WHERE em_id = em.id) x ORDER BY 1 LIMIT 1), count(*) FROM em GROUP BY (SELECT x.sum FROM (SELECT sum(amt) OVER (ORDER BY id) FROM o WHERE em_id = em.id) x ORDER BY 1 LIMIT 1) ORDER BY 1;
-- Columns follow from a primary key that every grouping set has.
CREATE TABLE keyed (id int PRIMARY KEY, a int, b text);
INSERT INTO keyed VALUES (1, 1, 'x'), (2, 1, 'y');
SELECT id, b FROM keyed GROUP BY id ORDER BY 1;
SELECT id, b FROM keyed GROUP BY GROUPING SETS ((id), ());
SELECT id, b FROM keyed GROUP BY ROLLUP (id);
SELECT id, a, b FROM keyed GROUP BY id, ROLLUP (a) ORDER BY 1, 2;
SELECT id, a, b FROM keyed GROUP BY GROUPING SETS ((id), (id, a)) ORDER BY 1, 2;
SELECT id, a, b FROM keyed GROUP BY GROUPING SETS ((id), (a));
SELECT id FROM keyed GROUP BY ROLLUP (id) HAVING b > '';
DROP TABLE keyed;
