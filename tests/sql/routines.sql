-- functions in SQL and PL/pgSQL
CREATE FUNCTION add(a int, b int DEFAULT 10) RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT a + b';
SELECT add(1, 2), add(1), add(b => 5, a => 1), add(NULL, 1);
CREATE OR REPLACE FUNCTION add(a int, b int DEFAULT 10) RETURNS int LANGUAGE plpgsql AS $$ BEGIN RETURN a + b + 100; END $$;
SELECT add(1, 2);
CREATE FUNCTION add(a int, b int) RETURNS int LANGUAGE sql AS 'SELECT 1';
CREATE FUNCTION fact(n int) RETURNS numeric LANGUAGE plpgsql AS $$
BEGIN
  IF n <= 1 THEN RETURN 1; END IF;
  RETURN n * fact(n - 1);
END $$;
SELECT fact(5), fact(20);
CREATE TABLE t (id serial PRIMARY KEY, name text, n int);
INSERT INTO t (name, n) VALUES ('a', 1), ('b', 2), ('c', 3);
CREATE FUNCTION named(wanted text) RETURNS t LANGUAGE sql STABLE AS 'SELECT * FROM t WHERE name = wanted';
SELECT named('b'), (named('c')).n;
SELECT * FROM named('a');
CREATE FUNCTION all_of(least int) RETURNS SETOF t LANGUAGE plpgsql AS $$
BEGIN
  RETURN QUERY SELECT * FROM t WHERE n >= least ORDER BY id;
END $$;
SELECT * FROM all_of(2);
SELECT name, n FROM all_of(1) WHERE n < 3;
CREATE FUNCTION pairs(up int) RETURNS TABLE (x int, y text) LANGUAGE plpgsql AS $$
BEGIN
  FOR i IN 1..up LOOP
    x := i; y := repeat('*', i);
    RETURN NEXT;
  END LOOP;
END $$;
SELECT * FROM pairs(3);
SELECT pairs(2);
SELECT count(*) FROM pairs(4) p JOIN t ON t.id = p.x;
CREATE FUNCTION series(up int) RETURNS SETOF int LANGUAGE plpgsql AS $$
BEGIN FOR i IN 1..up LOOP RETURN NEXT i; END LOOP; RETURN; END $$;
SELECT series(3);
SELECT s FROM series(2) s;
CREATE FUNCTION outs(IN a int, OUT twice int, OUT words text) LANGUAGE plpgsql AS $$
BEGIN twice := a * 2; words := 'is ' || a; END $$;
SELECT outs(4), (outs(5)).words;
SELECT * FROM outs(6);
CREATE FUNCTION total(VARIADIC numbers int[]) RETURNS int LANGUAGE plpgsql AS $$
DECLARE s int := 0; x int;
BEGIN FOREACH x IN ARRAY numbers LOOP s := s + x; END LOOP; RETURN s; END $$;
SELECT total(1, 2, 3), total(VARIADIC ARRAY[4, 5]);
CREATE FUNCTION same(a anyelement, b anyelement) RETURNS anyelement LANGUAGE sql AS 'SELECT coalesce(a, b)';
SELECT same(NULL, 3), same('x'::text, 'y');
CREATE FUNCTION strict_one(a int) RETURNS text LANGUAGE plpgsql STRICT AS $$ BEGIN RETURN 'called'; END $$;
SELECT strict_one(NULL), strict_one(1);
CREATE FUNCTION changes(k int) RETURNS int LANGUAGE plpgsql AS $$
DECLARE r t;
BEGIN
  UPDATE t SET n = n + k WHERE id = 1 RETURNING * INTO r;
  INSERT INTO t (name, n) VALUES ('made', r.n);
  RETURN r.n;
END $$;
SELECT changes(10);
SELECT * FROM t ORDER BY id;
UPDATE t SET n = add(n, id) WHERE add(n, 0) > 101;
SELECT * FROM t ORDER BY id;
INSERT INTO t (name, n) SELECT name || '!', add(n, 1) FROM t WHERE id < 3;
SELECT name, n FROM t WHERE id > 4 ORDER BY id;
SELECT sum(add(n, 0)), max(fact(id)) FROM t WHERE id < 4;
SELECT id FROM t WHERE id < 4 ORDER BY add(-id, 0);
SELECT CASE WHEN id > 1 THEN add(id, 1) ELSE 0 END FROM t WHERE id < 4 ORDER BY id;
-- nothing is returned
CREATE FUNCTION nothing(a int) RETURNS void LANGUAGE plpgsql AS $$ BEGIN RAISE NOTICE 'got %', a; END $$;
SELECT nothing(1);
CREATE FUNCTION forgets() RETURNS int LANGUAGE plpgsql AS $$ BEGIN END $$;
SELECT forgets();
-- errors in nested calls
CREATE FUNCTION inner_fails(x int) RETURNS int LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'failed with %', x USING ERRCODE = 'P0099';
END $$;
CREATE FUNCTION outer_fails(x int) RETURNS int LANGUAGE plpgsql AS $$
DECLARE y int;
BEGIN
  y := inner_fails(x);
  RETURN y;
END $$;
SELECT outer_fails(3);
CREATE FUNCTION catches(x int) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
  PERFORM outer_fails(x);
  RETURN 'no';
EXCEPTION WHEN SQLSTATE 'P0099' THEN
  RETURN 'caught ' || SQLERRM;
END $$;
SELECT catches(7);
CREATE FUNCTION divides(a int, b int) RETURNS int LANGUAGE sql AS 'UPDATE t SET n = n WHERE id < 0; SELECT n / b FROM t WHERE id = a';
SELECT divides(1, 0);
-- procedures
CREATE PROCEDURE adds(who text, INOUT n int) LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO t (name, n) VALUES (who, adds.n);
  n := n + 1;
END $$;
CALL adds('called', 5);
CREATE PROCEDURE twice(a int) LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO t (name, n) VALUES ('kept', a);
  COMMIT;
  INSERT INTO t (name, n) VALUES ('lost', a);
  ROLLBACK;
END $$;
CALL twice(77);
SELECT name, n FROM t WHERE name IN ('called', 'kept', 'lost') ORDER BY id;
DO $$ DECLARE x int := 3; BEGIN CALL adds('in do', x); RAISE NOTICE 'x is %', x; END $$;
CALL nothing(1);
SELECT adds('x', 1);
CALL nowhere(1);
-- who may call
CREATE FUNCTION hidden() RETURNS text LANGUAGE sql SECURITY DEFINER SET search_path = public AS $$ SELECT current_setting('search_path') $$;
SELECT hidden();
-- the catalog
SELECT proname, prokind, pronargs, prorettype::regtype, proargnames, provolatile, proisstrict, proretset FROM pg_proc WHERE pronamespace = 'public'::regnamespace ORDER BY proname;
SELECT pg_get_functiondef('fact(int)'::regprocedure);
SELECT pg_get_function_arguments('add(int,int)'::regprocedure), pg_get_function_result('pairs(int)'::regprocedure);
ALTER FUNCTION fact(int) RENAME TO factorial;
SELECT factorial(3);
CREATE SCHEMA other;
ALTER FUNCTION factorial(int) SET SCHEMA other;
SELECT factorial(3);
ALTER FUNCTION total(int[]) STABLE;
DROP FUNCTION other.factorial;
DROP FUNCTION add(int, int);
SELECT add(1, 2);
DROP FUNCTION IF EXISTS add(int, int);
DROP PROCEDURE adds(text, int);
-- what is refused
CREATE FUNCTION bad() RETURNS int LANGUAGE plpgsql AS $$ BEGIN RETURN 1 END $$;
CREATE FUNCTION bad() RETURNS int LANGUAGE sql AS 'SELECT nosuch FROM t';
CREATE FUNCTION bad() RETURNS int LANGUAGE nosuch AS 'x';
CREATE FUNCTION bad(a int, a int) RETURNS int LANGUAGE sql AS 'SELECT 1';
CREATE FUNCTION bad(a int DEFAULT 1, b int) RETURNS int LANGUAGE sql AS 'SELECT 1';
CREATE FUNCTION bad() LANGUAGE sql AS 'SELECT 1';
CREATE OR REPLACE FUNCTION outer_fails(x int) RETURNS text LANGUAGE sql AS 'SELECT 1::text';
DROP FUNCTION named(text);
DROP FUNCTION all_of, changes;
DROP TABLE t;
