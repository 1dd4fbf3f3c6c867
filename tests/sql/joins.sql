-- Joins with queries in FROM: what stands under LIMIT, DISTINCT, GROUP BY, a set operation or a set of rows keeps its conditions.
CREATE TABLE n (id int, name text);
CREATE TABLE c (n int, rel int);
CREATE TABLE a (rel int, num int);
INSERT INTO n VALUES (1, 'one'), (2, 'two'), (3, 'three'), (NULL, 'none');
INSERT INTO c VALUES (1, 10), (2, 11), (NULL, 10), (7, 11);
INSERT INTO a SELECT 10 + x % 2, x FROM generate_series(1, 8) AS x;
SELECT count(*) FROM a, (SELECT c.rel, 1 AS x FROM n, c WHERE n.id = c.n OFFSET 0) AS s WHERE s.rel = a.rel AND a.num = s.x;
SELECT count(*) FROM a, (SELECT c.rel, generate_series(1, 2) AS x FROM n, c WHERE n.id = c.n) AS s WHERE s.rel = a.rel;
SELECT count(*) FROM a, (SELECT c.rel, generate_series(1, 2) AS x FROM n, c WHERE n.id = c.n) AS s WHERE s.rel = a.rel AND a.num = s.x;
SELECT count(*), sum(s.m) FROM a JOIN (SELECT c.rel, max(n.id) AS m FROM n JOIN c ON n.id = c.n GROUP BY c.rel) AS s ON s.rel = a.rel;
SELECT count(*) FROM a JOIN (SELECT DISTINCT c.rel FROM n JOIN c ON n.id = c.n) AS s ON s.rel = a.rel;
SELECT count(*) FROM a LEFT JOIN (SELECT c.rel FROM n JOIN c ON n.id = c.n ORDER BY 1 LIMIT 1) AS s ON s.rel = a.rel WHERE s.rel IS NULL;
SELECT count(*) FROM a FULL JOIN (SELECT c.rel FROM n JOIN c ON n.id = c.n UNION ALL SELECT 99) AS s ON s.rel = a.rel;
SELECT count(*) FROM a JOIN (SELECT c.rel, n.id FROM c LEFT JOIN n ON n.id = c.n) AS s ON s.rel = a.rel WHERE s.id IS NULL;
SELECT count(*) FROM a JOIN (SELECT c.rel FROM c FULL JOIN n ON n.id = c.n OFFSET 0) AS s ON s.rel = a.rel;
-- LATERAL that only a subquery makes lateral.
SELECT count(*) FROM a, LATERAL (SELECT DISTINCT n.id FROM n WHERE EXISTS (SELECT 1 FROM c WHERE c.rel = a.rel AND c.n = 1)) AS s;
SELECT count(*) FROM a, LATERAL (SELECT n.id FROM n WHERE EXISTS (SELECT 1 FROM c WHERE c.rel = a.rel AND c.n = 1) LIMIT 3) AS s;
SELECT count(*) FROM a LEFT JOIN LATERAL (SELECT n.id FROM n WHERE (SELECT max(c.n) FROM c WHERE c.rel = a.rel) = n.id ORDER BY 1 LIMIT 3) AS s ON true;
SELECT a.num, s.total FROM a, LATERAL (SELECT sum(c.n) AS total FROM c WHERE c.rel = a.rel) AS s ORDER BY 1;
-- What ON, and what is not LATERAL, may not name.
SELECT 1 FROM a, n JOIN c ON c.rel = a.rel;
SELECT 1 FROM a, (SELECT * FROM LATERAL (SELECT a.num) AS x) AS y;
SELECT count(*) FROM a, LATERAL (SELECT * FROM n, LATERAL (SELECT a.num + n.id AS s) AS x) AS y;
SELECT count(*) FROM a, LATERAL (SELECT * FROM n JOIN c ON c.rel = a.rel) AS y;
SELECT count(*) FROM a, LATERAL (SELECT * FROM n, (SELECT a.num) AS x) AS y;
SELECT count(*) FROM a, LATERAL (SELECT * FROM n, (SELECT n.id) AS x) AS y;
SELECT count(*) FROM a WHERE EXISTS (SELECT 1 FROM n JOIN c ON c.rel = a.rel AND c.n = n.id);
SELECT count(*) FROM a WHERE EXISTS (SELECT 1 FROM n, c JOIN (SELECT a.rel AS r) AS x ON c.rel = x.r WHERE c.n = n.id);
SELECT 1 FROM a JOIN n ON n.id = c.n JOIN c ON true;
SELECT count(*) FROM a, n JOIN LATERAL (SELECT c.n FROM c WHERE c.rel = a.rel) AS s ON s.n = n.id;
-- What a lateral query takes from outside is NULL where an outer join finds nothing.
SELECT a.n, x.m FROM (VALUES (1), (2)) a(n) LEFT JOIN LATERAL (SELECT a.n AS m) x ON a.n > 1 ORDER BY 1;
SELECT a.n, x.m FROM (VALUES (1), (2)) a(n) LEFT JOIN LATERAL (SELECT DISTINCT a.n AS m FROM generate_series(1, 2)) x ON false ORDER BY 1;
SELECT a.n, (SELECT x.m FROM (SELECT 1) b LEFT JOIN (SELECT a.n AS m) x ON a.n > 1) FROM (VALUES (1), (2)) a(n) ORDER BY 1;

-- Conditions that hold for a missing row leave an outer join as it is.
CREATE TABLE em (id int PRIMARY KEY, g int);
CREATE TABLE o (id int PRIMARY KEY, em_id int, amt int);
INSERT INTO em VALUES (1, 1), (2, 1), (3, 2);
INSERT INTO o VALUES (1, 1, 10), (2, 1, 20), (3, 2, 30);
SELECT em.id, o.id FROM em LEFT JOIN o ON o.em_id = em.id WHERE (o.id IS NOT NULL) = false;
SELECT em.id, o.id FROM em LEFT JOIN o ON o.em_id = em.id WHERE o.id <> ALL (ARRAY[]::int[]) ORDER BY 1, 2;
SELECT em.id, o.id FROM em LEFT JOIN o ON o.em_id = em.id WHERE o.id NOT IN (1, 2) ORDER BY 1, 2;
SELECT em.id, o.id FROM em LEFT JOIN o ON o.em_id = em.id WHERE o.id = 1 OR o.amt + 1 = 31 ORDER BY 1, 2;
SELECT em.id, o.id FROM em LEFT JOIN o ON o.em_id = em.id WHERE o.id = 1 OR em.g = 2 ORDER BY 1, 2;

-- FOR UPDATE is for rows that are there.
SELECT * FROM em LEFT JOIN o ON o.em_id = em.id FOR UPDATE;
SELECT * FROM em LEFT JOIN o ON o.em_id = em.id FOR UPDATE OF o;
SELECT em.id, o.id FROM em LEFT JOIN o ON o.em_id = em.id ORDER BY em.id, o.id FOR UPDATE OF em;
SELECT * FROM em RIGHT JOIN o ON o.em_id = em.id FOR UPDATE OF em;
SELECT * FROM em FULL JOIN o ON o.em_id = em.id FOR SHARE OF em;
SELECT * FROM em FULL JOIN o ON o.em_id = em.id FOR NO KEY UPDATE OF o;
SELECT * FROM em LEFT JOIN (o JOIN o AS o2 USING (id)) ON o.em_id = em.id FOR KEY SHARE OF o2;
SELECT * FROM em JOIN (em AS x LEFT JOIN o ON o.em_id = x.id) ON true FOR UPDATE OF o;
SELECT em.id, o.id FROM em LEFT JOIN o ON o.em_id = em.id WHERE o.id > 0 ORDER BY 1, 2 FOR UPDATE;
SELECT em.id, o.id FROM em LEFT JOIN o ON o.em_id = em.id WHERE o.id IS NOT NULL ORDER BY 1, 2 FOR UPDATE OF o;
SELECT em.id, o.id FROM em LEFT JOIN o ON o.em_id = em.id WHERE o.id = 1 OR o.amt = 30 ORDER BY 1, 2 FOR UPDATE OF o;
-- The right side of a RIGHT or FULL JOIN names nothing on its left.
SELECT * FROM (VALUES (1)) AS e (id) RIGHT JOIN LATERAL (SELECT e.id) AS l ON true;
SELECT * FROM (VALUES (1)) AS e (id) FULL JOIN LATERAL (SELECT id * 2 AS x) AS l ON l.x = e.id;
SELECT * FROM (VALUES (1)) AS e (id) RIGHT JOIN generate_series(1, e.id) AS g ON true;
SELECT * FROM (VALUES (1)) AS e (id) CROSS JOIN (VALUES (2)) AS f (n) RIGHT JOIN LATERAL (SELECT (SELECT f.n)) AS l ON true;
SELECT * FROM (VALUES (1)) AS e (id) LEFT JOIN LATERAL (SELECT * FROM (VALUES (3)) AS f (n) RIGHT JOIN LATERAL (SELECT e.id AS m) AS g ON true) AS l ON true;
