-- Functions in SQL whose bodies stand in place of their calls, as EXPLAIN shows, and those that stay calls.
CREATE TABLE t AS SELECT n AS id, n % 10 AS a, 'x' || n AS b, (n % 3 = 0) AS c FROM generate_series(1, 3000) n;
CREATE UNIQUE INDEX t_id ON t (id);
ANALYZE t;

-- Of one expression.
CREATE FUNCTION inc(n int) RETURNS int LANGUAGE sql AS 'SELECT n + 1';
CREATE FUNCTION twice(int) RETURNS int LANGUAGE sql AS 'SELECT inc($1) + inc($1)';
EXPLAIN (COSTS OFF) SELECT * FROM t WHERE id = inc(4);
EXPLAIN (VERBOSE, COSTS OFF) SELECT inc(a), twice(a) FROM t;
SELECT inc(a), twice(a) FROM t WHERE id < inc(3) ORDER BY id;
CREATE FUNCTION standard(n int) RETURNS int LANGUAGE sql RETURN n * 2;
CREATE FUNCTION atomic(n int) RETURNS text LANGUAGE sql BEGIN ATOMIC SELECT n::text; END;
EXPLAIN (VERBOSE, COSTS OFF) SELECT standard(a), atomic(id) FROM t;
SELECT standard(a), atomic(id), pg_typeof(standard(a)) FROM t ORDER BY id LIMIT 2;

-- Of the declared type.
CREATE FUNCTION wide(int) RETURNS bigint LANGUAGE sql AS 'SELECT $1';
CREATE DOMAIN even AS int CHECK (VALUE % 2 = 0);
CREATE FUNCTION to_even(int) RETURNS even LANGUAGE sql AS 'SELECT $1';
SELECT pg_typeof(wide(a)), wide(a), to_even(a + 1) FROM t WHERE id = 3;
SELECT to_even(a) FROM t WHERE id = 3;
CREATE FUNCTION same(anyelement) RETURNS anyelement LANGUAGE sql AS 'SELECT $1';
CREATE FUNCTION pair(anyelement) RETURNS anyarray LANGUAGE sql AS 'SELECT ARRAY[$1, $1]';
EXPLAIN (VERBOSE, COSTS OFF) SELECT same(a), same(b), pair(b) FROM t;
SELECT pair(b), pair(a) FROM t WHERE id = 1;
CREATE FUNCTION nothing(int) RETURNS void LANGUAGE sql AS 'SELECT $1';
CREATE FUNCTION nothing_more(int) RETURNS void LANGUAGE sql AS 'SELECT nothing($1)';
EXPLAIN (VERBOSE, COSTS OFF) SELECT nothing(a), nothing_more(a) FROM t;

-- What a function is declared as its expression must keep.
CREATE FUNCTION never(n int) RETURNS timestamptz IMMUTABLE LANGUAGE sql AS 'SELECT now() + n * interval ''1 day''';
CREATE FUNCTION seldom(n int) RETURNS timestamptz STABLE LANGUAGE sql AS 'SELECT now() + n * interval ''1 day''';
CREATE FUNCTION chance(n int) RETURNS float8 STABLE LANGUAGE sql AS 'SELECT random() * n';
CREATE FUNCTION luck(n int) RETURNS float8 LANGUAGE sql AS 'SELECT random() * n';
EXPLAIN (VERBOSE, COSTS OFF) SELECT never(a), seldom(a), chance(a), luck(a) FROM t;
CREATE FUNCTION strict_sum(int, int) RETURNS int STRICT LANGUAGE sql AS 'SELECT $1 + $2';
CREATE FUNCTION strict_or(int, int) RETURNS int STRICT LANGUAGE sql AS 'SELECT coalesce($1, $2)';
CREATE FUNCTION strict_first(int, int) RETURNS int STRICT LANGUAGE sql AS 'SELECT $1';
CREATE FUNCTION first(int, int) RETURNS int LANGUAGE sql AS 'SELECT $1';
EXPLAIN (VERBOSE, COSTS OFF) SELECT strict_sum(a, id), strict_or(a, id), strict_first(a, id), first(a, id) FROM t;
SELECT strict_sum(1, NULL), strict_or(1, NULL), strict_first(1, NULL), first(1, NULL);

-- Arguments that stand there more than once.
CREATE FUNCTION squared(float8) RETURNS float8 LANGUAGE sql AS 'SELECT $1 * $1';
CREATE FUNCTION slow(int) RETURNS int COST 20 LANGUAGE plpgsql AS 'BEGIN RETURN $1; END';
EXPLAIN (COSTS OFF, VERBOSE) SELECT squared(a), squared(random()), squared(slow(a)), squared(a + 1.5::float8 + id) FROM t;
SELECT squared(a), squared((SELECT 3)) FROM t WHERE id = 7;
CREATE FUNCTION once(float8) RETURNS float8 LANGUAGE sql AS 'SELECT $1 * 2';
EXPLAIN (VERBOSE, COSTS OFF) SELECT once(random()), once(slow(a)) FROM t;

-- Bodies that are more than an expression.
CREATE FUNCTION two(int) RETURNS int LANGUAGE sql AS 'SELECT 1; SELECT $1';
CREATE FUNCTION counted(int) RETURNS bigint STABLE LANGUAGE sql AS 'SELECT count(*) FROM t WHERE a = $1';
CREATE FUNCTION limited(int) RETURNS int LANGUAGE sql AS 'SELECT $1 LIMIT 1';
CREATE FUNCTION asked(int) RETURNS bool LANGUAGE sql AS 'SELECT EXISTS (SELECT FROM t WHERE id = $1)';
CREATE FUNCTION conditional(int) RETURNS int LANGUAGE sql AS 'SELECT $1 WHERE $1 > 3';
CREATE FUNCTION listed(int) RETURNS int LANGUAGE sql AS 'VALUES ($1)';
CREATE FUNCTION set(int) RETURNS int LANGUAGE sql SET work_mem = '1MB' AS 'SELECT $1';
CREATE FUNCTION definer(int) RETURNS int LANGUAGE sql SECURITY DEFINER AS 'SELECT $1';
EXPLAIN (VERBOSE, COSTS OFF) SELECT two(a), counted(a), limited(a), asked(a), conditional(a), listed(a), set(a), definer(a) FROM t;
SELECT two(a), counted(a), limited(a), asked(a), conditional(a), listed(a), set(a), definer(a) FROM t WHERE id = 8;

-- Rows, and fields of them.
CREATE FUNCTION label(t) RETURNS text LANGUAGE sql AS 'SELECT $1.b || $1.b';
CREATE FUNCTION whole(int) RETURNS t LANGUAGE sql AS 'SELECT * FROM t WHERE id = $1';
SELECT label(t), t.label, (whole(id)).b FROM t WHERE id = 12;
EXPLAIN (VERBOSE, COSTS OFF) SELECT label(t) FROM t;

-- Functions that call themselves, and each other.
CREATE FUNCTION endless(int) RETURNS int LANGUAGE sql AS 'SELECT 1';
CREATE OR REPLACE FUNCTION endless(int) RETURNS int LANGUAGE sql AS 'SELECT CASE WHEN $1 > 0 THEN endless($1 - 1) ELSE 0 END';
EXPLAIN (VERBOSE, COSTS OFF) SELECT endless(a) FROM t;
SELECT endless(5);

-- Within CASE.
CREATE FUNCTION between_them(int, int, int) RETURNS bool LANGUAGE sql AS 'SELECT $1 BETWEEN $2 AND $3';
CREATE FUNCTION divided(int, int) RETURNS int LANGUAGE sql AS 'SELECT $1 / $2';
EXPLAIN (VERBOSE, COSTS OFF) SELECT CASE a WHEN 1 THEN inc(id) ELSE 0 END, CASE WHEN between_them(a, 2, id) THEN 1 END FROM t;
SELECT CASE WHEN a = 0 THEN 0 ELSE divided(id, a) END FROM t WHERE id BETWEEN 9 AND 11 ORDER BY id;

-- Through operators, casts, indexes, checks and generated columns.
CREATE FUNCTION plus_ten(int, text) RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT $1 + length($2)';
CREATE OPERATOR +++ (LEFTARG = int, RIGHTARG = text, FUNCTION = plus_ten);
EXPLAIN (VERBOSE, COSTS OFF) SELECT a +++ b FROM t;
SELECT a +++ b FROM t WHERE id = 55;
CREATE FUNCTION tenth(int) RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT $1 / 10';
CREATE INDEX t_tenth ON t (tenth(id));
ANALYZE t;
EXPLAIN (COSTS OFF) SELECT * FROM t WHERE tenth(id) = 4;
SELECT count(*) FROM t WHERE tenth(id) = 4;
CREATE TABLE checked (n int CHECK (inc(n) > 0), m int GENERATED ALWAYS AS (tenth(n)) STORED, o int DEFAULT inc(1));
INSERT INTO checked (n) VALUES (31);
INSERT INTO checked (n) VALUES (-1);
UPDATE checked SET n = n + 10;
SELECT * FROM checked;

-- Several conditions of one body.
CREATE FUNCTION low_and(int, bool) RETURNS bool LANGUAGE sql AS 'SELECT $1 = 17 AND $2';
EXPLAIN (COSTS OFF) SELECT * FROM t WHERE low_and(id, a > 3);
SELECT * FROM t WHERE low_and(id, a > 3);

-- Rows in FROM.
CREATE FUNCTION those(int) RETURNS SETOF t STABLE LANGUAGE sql AS 'SELECT * FROM t WHERE a = $1';
CREATE FUNCTION these(low int, high int) RETURNS TABLE (number int, name text) STABLE LANGUAGE sql AS 'SELECT id, b FROM t WHERE id BETWEEN low AND high';
CREATE FUNCTION numbers(int) RETURNS SETOF int IMMUTABLE LANGUAGE sql AS 'SELECT generate_series(1, $1)';
EXPLAIN (COSTS OFF) SELECT * FROM those(3) WHERE id = 13;
EXPLAIN (VERBOSE, COSTS OFF) SELECT * FROM these(5, 6);
EXPLAIN (VERBOSE, COSTS OFF) SELECT x.name FROM these(1, 3) AS x (n, name);
EXPLAIN (VERBOSE, COSTS OFF) SELECT * FROM numbers(3);
EXPLAIN (COSTS OFF) SELECT t.id, x.number FROM t, these(t.id, t.id) x WHERE t.a = 2;
SELECT * FROM those(3) WHERE id < 30 ORDER BY id;
SELECT t.id, x.id FROM t, LATERAL those(t.a) x WHERE t.id = 2 AND x.id > 2980 ORDER BY 2;
SELECT t.id, x.* FROM t LEFT JOIN these(t.id, t.id + 1) x ON x.number = t.id + 1 WHERE t.id > 2998 ORDER BY 1;
SELECT x, x.id, y FROM those(5) x, numbers(2) y WHERE x.id < 10;
SELECT count(*) FROM numbers(3) a, numbers(a) b;

-- Those that stay scans of a function.
CREATE FUNCTION unsteady(int) RETURNS SETOF t LANGUAGE sql AS 'SELECT * FROM t WHERE a = $1';
CREATE FUNCTION strict_rows(int) RETURNS SETOF t STABLE STRICT LANGUAGE sql AS 'SELECT * FROM t WHERE a = $1';
CREATE FUNCTION single(int) RETURNS t STABLE LANGUAGE sql AS 'SELECT * FROM t WHERE id = $1';
CREATE FUNCTION whole_rows(int) RETURNS SETOF t STABLE LANGUAGE sql AS 'SELECT t FROM t WHERE a = $1';
CREATE FUNCTION several(int) RETURNS SETOF t STABLE LANGUAGE sql AS 'SELECT 1; SELECT * FROM t WHERE a = $1';
EXPLAIN (COSTS OFF) SELECT * FROM unsteady(1);
EXPLAIN (COSTS OFF) SELECT * FROM strict_rows(1);
EXPLAIN (COSTS OFF) SELECT * FROM single(1);
EXPLAIN (COSTS OFF) SELECT * FROM whole_rows(1);
EXPLAIN (COSTS OFF) SELECT * FROM several(1);
EXPLAIN (COSTS OFF) SELECT * FROM those(1) WITH ORDINALITY;
SELECT x.id, n FROM ROWS FROM (those(1), numbers(2)) AS x (id, a, b, c, n) WHERE n IS NOT NULL;
EXPLAIN (COSTS OFF) SELECT * FROM those((SELECT 3));
EXPLAIN (COSTS OFF) SELECT * FROM those((random() * 3)::int);
SELECT id FROM whole_rows(1) ORDER BY id LIMIT 2;

-- Rows with their order and their WITH queries, of other types than declared, of records.
CREATE FUNCTION sorted(int) RETURNS TABLE (id bigint, b varchar) STABLE LANGUAGE sql AS
  'WITH w AS (SELECT * FROM t WHERE a = $1) SELECT id, b FROM w ORDER BY id DESC LIMIT $1';
SELECT * FROM sorted(3);
CREATE FUNCTION united() RETURNS TABLE (n numeric, m text) STABLE LANGUAGE sql AS
  'SELECT 1, ''a'' UNION ALL SELECT 2, ''b''';
SELECT * FROM united() ORDER BY n;
CREATE FUNCTION anything(int) RETURNS SETOF record STABLE LANGUAGE sql AS 'SELECT id, b FROM t WHERE a = $1';
EXPLAIN (VERBOSE, COSTS OFF) SELECT * FROM anything(2) AS x (n int, m text);
SELECT * FROM anything(2) AS x (n bigint, m text) WHERE n < 15 ORDER BY n;
DO $$ BEGIN PERFORM * FROM anything(2) AS x (n int, m text, o int); END $$;

-- Views keep the calls and show them; plans follow what the function becomes.
CREATE VIEW v AS SELECT inc(a) AS i, x.id FROM t, those(t.a) x;
SELECT pg_get_viewdef('v');
EXPLAIN (COSTS OFF) SELECT * FROM v WHERE id = 5;
PREPARE p AS SELECT inc(1), (SELECT count(*) FROM those(1));
EXECUTE p;
CREATE OR REPLACE FUNCTION inc(n int) RETURNS int LANGUAGE sql AS 'SELECT n + 100';
EXECUTE p;
CREATE OR REPLACE FUNCTION those(int) RETURNS SETOF t STABLE LANGUAGE sql AS 'SELECT * FROM t WHERE a = $1 AND c';
EXECUTE p;
ALTER FUNCTION inc(int) STRICT;
EXECUTE p;
ALTER FUNCTION those(int) VOLATILE;
EXPLAIN (COSTS OFF) SELECT * FROM those(1);
EXECUTE p;
SELECT sum(i) FROM v;
DROP VIEW v;
DROP FUNCTION those(int);
DEALLOCATE p;

-- What a body names may be gone.
SET check_function_bodies = off;
CREATE FUNCTION broken(int) RETURNS int LANGUAGE sql AS 'SELECT $1 + missing';
CREATE FUNCTION broken_rows(int) RETURNS SETOF int STABLE LANGUAGE sql AS 'SELECT * FROM missing';
DO $$ BEGIN PERFORM broken(1); END $$;
DO $$ BEGIN PERFORM * FROM broken_rows(1); END $$;

-- Within bodies of PL/pgSQL.
CREATE FUNCTION looped(n int) RETURNS int LANGUAGE plpgsql AS $$
DECLARE s int := 0;
BEGIN
  FOR i IN 1..n LOOP s := s + inc(i) + twice(i); END LOOP;
  RETURN s;
END $$;
SELECT looped(4);
