-- ROWS FROM with several functions, unnest of several arrays.
SELECT * FROM ROWS FROM (generate_series(1, 3), generate_series(10, 11)) AS x;
SELECT * FROM ROWS FROM (generate_series(1, 2), generate_series(10, 13)) WITH ORDINALITY;
SELECT * FROM ROWS FROM (generate_series(1, 2), generate_series(10, 13), lower('ABC')) WITH ORDINALITY AS x (a, b, c, n) WHERE n < 4;
SELECT a, b, n FROM ROWS FROM (generate_series(3, 1, -1), unnest(ARRAY['p', NULL, 'r', 's'])) WITH ORDINALITY AS x (a, b, n) ORDER BY n DESC;
SELECT * FROM ROWS FROM (json_to_recordset('[{"a":1,"b":"x"},{"a":2}]') AS (a int, b text), generate_series(7, 9)) AS x (p, q, r);
SELECT * FROM ROWS FROM (json_to_recordset('[{"a":1,"b":"x"},{"a":2}]') AS (a int, b text)) WITH ORDINALITY AS x;
SELECT * FROM ROWS FROM (json_each('{"k": 1, "l": 2}'), generate_series(1, 3)) AS x;
SELECT t.i, x.* FROM generate_series(1, 3) AS t (i), ROWS FROM (generate_series(1, t.i), generate_series(t.i, 3)) AS x (a, b) ORDER BY 1, 2, 3;
SELECT t.i, x.* FROM generate_series(1, 2) AS t (i) LEFT JOIN LATERAL ROWS FROM (generate_series(1, t.i), generate_series(5, 5)) WITH ORDINALITY AS x (a, b, n) ON x.n > 1 ORDER BY 1, 2, 3;
SELECT (SELECT string_agg(a || ':' || coalesce(b::text, '-'), ',' ORDER BY a) FROM ROWS FROM (generate_series(1, t.i), generate_series(7, 8)) AS x (a, b)) FROM generate_series(1, 3) AS t (i);
WITH w AS (SELECT 2 AS n) SELECT * FROM ROWS FROM (generate_series(1, (SELECT n FROM w)), generate_series((SELECT n FROM w), 4)) AS x (a, b);
SELECT * FROM unnest(ARRAY[1, 2, 3], ARRAY['a', 'b']) AS u (n, t);
SELECT * FROM unnest(ARRAY[1, 2], ARRAY['a', 'b', 'c'], ARRAY[true]) WITH ORDINALITY;
SELECT sum(n), count(t) FROM unnest(ARRAY[1, 2, 3], ARRAY['a', 'b']) AS u (n, t);
SELECT * FROM ROWS FROM (generate_series(1, 0), generate_series(1, 0)) AS x;
SELECT x FROM ROWS FROM (generate_series(1, 2), generate_series(1, 1)) AS x;
-- errors
SELECT * FROM ROWS FROM (generate_series(1, 2), generate_series(1, 3)) AS x (a int, b int);
SELECT * FROM ROWS FROM (generate_series(1, 2), nosuch(1)) AS x;
SELECT * FROM ROWS FROM (generate_series(1, 2), generate_series(1, 3)) AS x (a, b, c);
SELECT * FROM ROWS FROM (json_to_recordset('[]'), generate_series(1, 3)) AS x;
-- UNNEST of several arrays beside other functions, and as it is printed.
select * from rows from (unnest(array[10,20], array['foo','bar']), generate_series(101,102)) with ordinality as z(a,b,c,ord);
create view several_arrays as select * from rows from (unnest(array[10,20], array['foo','bar']), generate_series(1,2)) as z(a,b,c);
create view only_arrays as select z.a from (values (array[1,2])) c(b), unnest(b, array['a']) as z(a, x);
select pg_get_viewdef('several_arrays'), pg_get_viewdef('only_arrays');
select * from several_arrays, only_arrays order by 1, 4;
