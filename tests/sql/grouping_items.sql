-- Two items of the select list that are the same expression are two keys of grouping sets, where they are named apart.
SELECT g AS one, g AS two FROM generate_series(1, 3) g GROUP BY one, ROLLUP (two) ORDER BY 1, 2;
SELECT g AS one, g AS two, grouping(g) FROM generate_series(1, 3) g GROUP BY one, ROLLUP (two) ORDER BY 1, 2;
SELECT g + 1 AS one, g + 1 AS two, count(*) FROM generate_series(1, 2) g GROUP BY GROUPING SETS ((one), (two)) ORDER BY 1, 2;
SELECT g AS one, g AS two, count(*) FROM generate_series(1, 2) g GROUP BY GROUPING SETS ((g), ()) ORDER BY 1, 2;
SELECT g AS one, g AS two, count(*) FROM generate_series(1, 2) g GROUP BY GROUPING SETS ((1), (2)) ORDER BY 1, 2;
SELECT g AS one, g AS two, count(*) FROM generate_series(1, 2) g GROUP BY one, two ORDER BY 1, 2;
SELECT count(*), count(one), count(double), count(two) FROM (SELECT g AS one, g * 2 AS double, g AS two FROM generate_series(1, 2) g GROUP BY CUBE (one, two)) c;
SELECT g AS one, g AS two FROM generate_series(1, 2) g GROUP BY one, ROLLUP (two) HAVING g > 1 ORDER BY 1, 2;
