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
-- A constant that is grouped by is NULL in its own item alone where a set leaves it out; direct arguments are NULL there.
create table gc (a int, b text, n numeric);
insert into gc values (1, 'x', 1.5), (2, 'y', 2.5), (1, 'y', 3.5);
select 5 as k, 5 * a as m, a, count(*) from gc group by rollup(a, 1) order by a, 1;
select 5 as k, 5 as m, a, count(*) from gc group by rollup(a, 1) order by a, 1;
select 5 as k, 5 as m, a, count(*) from gc group by rollup(a, 2) order by a, 2;
select 5 as k, 5 + 0 as m, a, count(*) from gc group by rollup(a, 5 + 0) order by a, 2;
select 5 + 0 as k, (5 + 0) * 2 as m, a, count(*) from gc group by rollup(a, 5 + 0) order by a, 1;
select 'x' as k, coalesce('x'::text, 'none'), a, grouping(a), count(*) from gc group by rollup(a, 1) order by a, 1;
select k, k || 'z', a, count(*) from (select 'q'::text as k, a from gc) s group by rollup(a, k) order by a, 1;
select k, coalesce(k, 'none'), a, count(*) from (select 'q'::text as k, a from gc) s group by rollup(a, k) having k is null order by a, 1;
select a, count(*) from gc group by rollup(a, 1 + 1) having 1 + 1 is null order by a, 1;
select a, count(*) from gc group by rollup(a, 1 + 1) having 1 + 1 = 2 order by a, 2;
select 1 + 1 as k, grouping(1 + 1), sum(1 + 1), a from gc group by rollup(a, 1 + 1) order by a, 1, 2;
select now() = now() as k, now() = now() as m, a from gc group by rollup(a, 1) order by a, 1;
select a, rank(a) within group (order by n) from gc group by rollup(a) order by 1;
select a, b, rank(a::numeric) within group (order by n), dense_rank(a::numeric) within group (order by n) from gc group by rollup(a, b) order by 1, 2;
select a, percentile_disc(a / 4.0) within group (order by n) from gc group by rollup(a) order by 1;
select a, b, percentile_cont(a / 4.0) within group (order by n) from gc group by cube(a, b) order by 1, 2;
select a, b, cume_dist(a + 1, b) within group (order by n, b), grouping(b, a) from gc group by grouping sets ((a), (b), (a, b), ()) order by 1, 2;
select a, percentile_disc(a / 4.0) within group (order by n) + 1 as p from gc group by rollup(a) having percentile_disc(a / 4.0) within group (order by n) is null;
select a, sum(a), rank(a) within group (order by n) filter (where n > 2), rank(5) within group (order by n) from gc group by rollup(a) order by 1;
select a, rank(a) within group (order by n) r, first_value(rank(a) within group (order by n)) over (order by a desc) from gc group by rollup(a) order by 1;
create view gc_view as select a, 5 as k, rank(a) within group (order by n) from gc group by rollup(a, 2);
select pg_get_viewdef('gc_view');
select * from gc_view order by a, k;
drop view gc_view;
drop table gc;
