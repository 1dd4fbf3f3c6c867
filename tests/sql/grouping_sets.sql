-- GROUP BY DISTINCT: grouping sets that are the same count once.
SELECT a, b, count(*) FROM (VALUES (1, 2), (1, 3)) AS v (a, b) GROUP BY DISTINCT a, ROLLUP (a, b) ORDER BY 1, 2;
SELECT a, b, count(*) FROM (VALUES (1, 2), (1, 3)) AS v (a, b) GROUP BY ALL a, ROLLUP (a, b) ORDER BY 1, 2;
SELECT a, b, count(*) FROM (VALUES (1, 2), (1, 3)) AS v (a, b) GROUP BY DISTINCT ROLLUP (a, b), ROLLUP (b, a) ORDER BY 1, 2;
SELECT a, b, grouping(a, b), sum(a) FROM (VALUES (1, 2), (1, 3)) AS v (a, b) GROUP BY DISTINCT GROUPING SETS ((a, b), (b, a), (), ()) ORDER BY 1, 2;
SELECT a, count(*) FROM (VALUES (1, 2), (1, 3)) AS v (a, b) GROUP BY DISTINCT a, a;
SELECT count(*) FROM (VALUES (1, 2), (1, 3)) AS v (a, b) WHERE false GROUP BY DISTINCT GROUPING SETS ((), (), ());
