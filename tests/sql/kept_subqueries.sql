-- A subquery of ANY or ALL that depends on no row around it is run once, and its rows are kept.
CREATE SEQUENCE drawn;
SELECT g FROM generate_series(1, 6) g WHERE g <> ALL (SELECT nextval('drawn')::int FROM generate_series(1, 3));
SELECT currval('drawn');
SELECT g FROM generate_series(1, 9) g WHERE g > ANY (SELECT nextval('drawn')::int FROM generate_series(1, 3));
SELECT currval('drawn');
CREATE TABLE t AS SELECT g AS a, g % 3 AS b FROM generate_series(1, 12) g;
SELECT a FROM t WHERE a < ALL (SELECT max(nextval('drawn')) FROM t u WHERE u.a > (SELECT min(v.a) FROM t v WHERE v.b = u.b)) ORDER BY a;
SELECT currval('drawn');
SELECT a FROM t WHERE (a, b) > ALL (SELECT u.a, u.b FROM t u WHERE EXISTS (SELECT FROM t v WHERE v.a = u.a + 7)) ORDER BY a;
SELECT a, a > ANY (SELECT u.b FROM t u WHERE u.b = ANY (array[1, 2]::bigint[]::int[])) FROM t ORDER BY a;
SELECT a FROM t WHERE a > ALL (SELECT u.a FROM t u WHERE u.b = t.b AND u.a < t.a) AND b <> ALL (SELECT NULL::int WHERE false) ORDER BY a;
WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n < 8 AND n + 1 > ALL (SELECT n FROM r)) SELECT n FROM r;
PREPARE asked (int) AS SELECT a FROM t WHERE a > ALL (SELECT u.a FROM t u WHERE u.a < $1) ORDER BY a;
EXECUTE asked (5);
EXECUTE asked (11);
DELETE FROM t WHERE a < 11;
EXECUTE asked (12);
