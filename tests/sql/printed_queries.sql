-- What random views have shown of how queries are printed, kept and read again.
CREATE TABLE printed (a int, b int, l smallint, v varchar, s text, xs int[], ts timestamp, f bool);

-- Constants that queries are sorted, grouped and made distinct by have their types.
CREATE VIEW sorted AS SELECT 5 AS x, true AS y, 'a'::text AS z, NULL::bool AS n, 2.5 AS m, '-1'::int AS k,
  'now'::varchar(5) AS vv, 1e10 AS e, a FROM printed ORDER BY 1, 2, 3, 4, 5, 6, 7, 8, 9;
CREATE VIEW sorted_side AS SELECT 1.00 AS c, f FROM printed UNION ALL (SELECT DISTINCT ON (1, 2) 3.00 AS c, true FROM printed ORDER BY 1, 2);
SELECT pg_get_viewdef('sorted', true), pg_get_viewdef('sorted_side', true);

-- Frames without BETWEEN.
CREATE VIEW frames AS SELECT sum(a) OVER (ORDER BY b ROWS 2 PRECEDING) AS c1,
  sum(a) OVER (ORDER BY b RANGE UNBOUNDED PRECEDING) AS c2, sum(a) OVER (ORDER BY b GROUPS CURRENT ROW) AS c3,
  sum(a) OVER (ORDER BY b ROWS BETWEEN 2 PRECEDING AND CURRENT ROW) AS c4, sum(a) OVER w AS c5 FROM printed WINDOW w AS (ORDER BY a ROWS 1 PRECEDING EXCLUDE TIES);
SELECT pg_get_viewdef('frames', true);

-- What rows of subqueries are compared with.
CREATE VIEW compared AS SELECT FROM printed WHERE (a + 1, b) IN (SELECT 1, 2) AND (a + 1, b + 1) = (SELECT 1, 2)
  AND (a + 1) = (SELECT 1) AND (f AND f) IN (SELECT true) AND NOT (f IN (SELECT true)) AND (a IS NULL) IN (SELECT true)
  AND (f IS TRUE) <> ALL (SELECT true) AND (CASE WHEN f THEN a END) IN (SELECT 1) AND (a, b + 1) < (SELECT 1, 2)
  AND (a + 1, b) NOT IN (SELECT 1, 2) AND l + 1 > ANY (SELECT 2) AND l IN (SELECT 1::int8) AND v IN (SELECT 'x'::text)
  AND (v || 'a')::varchar(3) IN (SELECT 'a') AND (SELECT a) IN (SELECT 2) AND (NOT f) IN (SELECT true)
  AND (a IN (1, 2)) IN (SELECT true) AND (a IN (SELECT 1)) IN (SELECT true)
  AND ((SELECT a) IN (SELECT 3)) IN (SELECT true) AND ((SELECT 1), b) = (SELECT 1, 2);
SELECT pg_get_viewdef('compared', true), pg_get_viewdef('compared');

-- Lists of what reads columns are joined two by two; what they read keeps its place.
CREATE VIEW lists AS SELECT a IN (b, 1, l) AS c1, a NOT IN (1, b, l, 2, 3) AS c2, (a, b) IN ((1, 2), (b, 3), (l, l)) AS c3,
  v IN ('a'::text, '', 'b'::text) AS c4, l IN (1, 2) AS c5, l IN (1, 2::bigint) AS c6, a BETWEEN SYMMETRIC 1 AND b AS c7,
  a NOT IN (b, l) AND f AS c8, f AND (a IN (b, l)) AND (f AND f) AS c9, f OR a IN (b, l, 3) AS c10 FROM printed;
SELECT pg_get_viewdef('lists', true), pg_get_viewdef('lists');
EXPLAIN (COSTS OFF) SELECT * FROM printed WHERE a IN (b, 1, l);

-- NULL with a type and without.
CREATE VIEW nulls AS SELECT a IS DISTINCT FROM NULL AS c1, a IS DISTINCT FROM NULL::int AS c2, NULL IS DISTINCT FROM a AS c3,
  NULL IS NOT DISTINCT FROM NULL AS c4, 'b' IS NULL AS c5, NULL IS NULL AS c6 FROM printed;
SELECT pg_get_viewdef('nulls', true);
SELECT * FROM (SELECT 'b' IS NULL, NULL IS NULL, NULL::int IS DISTINCT FROM 1, NULL IS NOT DISTINCT FROM NULL) n;

-- Casts, signs and subscripts.
CREATE VIEW casts AS SELECT (v || 'a')::varchar(3) AS c1, (a + b)::numeric(5, 2) AS c2, (s || s)::char(3) AS c3,
  (l + l)::bigint AS c4, (SELECT s)::varchar(3) AS c5, s::varchar(3) AS c6, upper(s)::varchar(2) AS c7,
  (CASE WHEN f THEN s END)::varchar(2) AS c8, (s || v)::varchar AS c9, (xs || xs)::int8[] AS c10,
  (- 3) AS s1, (- '3'::int) AS s2, - 1.25 AS s3, (-(-3)) AS s4, -(+3) AS s5, (- (3::int)) AS s6, -'1'::interval AS s7,
  xs[l] AS x1, xs[l:l] AS x2, xs[l::int8::int] AS x3 FROM printed;
SELECT pg_get_viewdef('casts', true), pg_get_viewdef('casts');

-- What aggregates sort by is the argument as it is taken.
CREATE VIEW aggregated AS SELECT count(DISTINCT 'a') AS c1, string_agg(DISTINCT v, ',' ORDER BY v) AS c2,
  string_agg(v, ',' ORDER BY v DESC) AS c3, string_agg('a', 'b' ORDER BY 'a', l) AS c4, array_agg(v ORDER BY v, 'x') AS c5,
  bool_or('b' IS NULL) AS c6, count(DISTINCT NULL) AS c7, string_agg(v, ',' ORDER BY v::text) AS c8,
  max(l::int ORDER BY l) AS c9, sum(l ORDER BY l) AS c10, count('a') AS c11 FROM printed;
SELECT pg_get_viewdef('aggregated', true);
SELECT string_agg(DISTINCT 'a', ',' ORDER BY 'a') FROM printed;

-- One set of keys is a plain list.
CREATE VIEW one_set AS SELECT a FROM printed GROUP BY DISTINCT a, ROLLUP (a);
CREATE VIEW one_set_2 AS SELECT a, count(*) FROM printed GROUP BY GROUPING SETS ((a));
CREATE VIEW some_sets AS SELECT a, count(*) FROM printed GROUP BY ROLLUP ((a, b)), GROUPING SETS ((a));
CREATE VIEW no_keys AS SELECT count(*) FROM printed GROUP BY GROUPING SETS (());
CREATE VIEW by_grouping AS SELECT a, GROUPING(a) FROM printed GROUP BY ROLLUP (a) ORDER BY GROUPING(a), 2;
SELECT pg_get_viewdef('one_set'), pg_get_viewdef('one_set_2'), pg_get_viewdef('some_sets'), pg_get_viewdef('no_keys'),
  pg_get_viewdef('by_grouping');

-- Values that become their column's type.
CREATE VIEW listed AS SELECT * FROM (VALUES ('ab'::varchar(3), '1'::bigint), ('' || 'ab'::text, 0 + 1), ('x', 2)) v(c1, c2);
SELECT pg_get_viewdef('listed', true), pg_get_viewdef('listed');

-- What is sorted by twice, or made a part twice.
CREATE VIEW twice AS SELECT a, b, sum(a) OVER (PARTITION BY b, b ORDER BY a, a DESC, b) AS c1, array_agg(a) OVER (ORDER BY a, a + 0) AS c2
  FROM printed ORDER BY a, 1 DESC, b, 2, b + 0;
CREATE VIEW twice_grouped AS SELECT array_agg(a ORDER BY a, a DESC, b) AS c1, GROUPING(b) AS c2 FROM printed GROUP BY b, b ORDER BY GROUPING(b), 2;
SELECT pg_get_viewdef('twice'), pg_get_viewdef('twice_grouped');

-- A list of what reads no column of the query itself is an array: columns of the query around, subqueries.
CREATE TABLE listed_outer AS SELECT * FROM (VALUES (1, 2), (3, 4), (NULL, 5)) v(a, b);
CREATE TABLE listed_inner AS SELECT * FROM (VALUES (1), (2), (3), (5), (NULL)) v(x);
CREATE VIEW listed_columns AS SELECT a, (SELECT count(*) FROM listed_inner WHERE x IN (o.a, o.b)) AS n,
  (SELECT count(*) FROM listed_inner WHERE x NOT IN (o.a, o.b, 7)) AS m,
  EXISTS (SELECT FROM listed_inner i WHERE x IN (o.a, i.x, o.b, 3)) AS e FROM listed_outer o;
CREATE VIEW listed_queries AS SELECT (SELECT count(*) FROM listed_inner WHERE (SELECT o.a) IN (o.a, o.b, (SELECT max(y.x) FROM listed_inner y))
  AND o.b IN (o.a + 1, o.b * 2, (SELECT 5))) AS n FROM listed_outer o;
SELECT pg_get_viewdef('listed_columns'), pg_get_viewdef('listed_queries');
SELECT * FROM listed_columns ORDER BY a;
SELECT * FROM listed_queries ORDER BY n;
