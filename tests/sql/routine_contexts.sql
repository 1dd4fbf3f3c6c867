-- What errors and notices of bodies say of where they are: expressions and assignments that run as statements, constants, targets,
-- recursion, initial values.
CREATE TABLE numbers (n int);
INSERT INTO numbers VALUES (0), (5);

DO $$BEGIN RAISE NOTICE '%', 1 / 0; END$$;
DO $$DECLARE x int; BEGIN x := 1 / 0; END$$;
DO $$DECLARE x int := 1 / 0; BEGIN NULL; END$$;
DO $$DECLARE
  a int := 1;
  b int
    := a / (a - 1);
BEGIN NULL; END$$;
DO $$DECLARE x int := 1; BEGIN x := x / (x - 1); END$$;
DO $$DECLARE x int; BEGIN x := (SELECT 1 / n FROM numbers LIMIT 1); END$$;
DO $$BEGIN IF (SELECT 1 / n FROM numbers LIMIT 1) > 0 THEN NULL; END IF; END$$;
DO $$DECLARE x int; BEGIN x := nowhere + 1; END$$;
DO $$DECLARE a int[]; BEGIN a[1] := nowhere; END$$;
DO $$DECLARE a int[]; BEGIN a[nowhere] := 1; END$$;
DO $$DECLARE a int; BEGIN a[1] := 1; END$$;
DO $$DECLARE a int; BEGIN a := n FROM numbers; END$$;
DO $$DECLARE a int; BEGIN a := n, n FROM numbers; END$$;
DO $$DECLARE a int; BEGIN a := FROM numbers; END$$;
DO $$DECLARE a int; BEGIN a := n FROM numbers WHERE n > 0; RAISE NOTICE '%', a; END$$;
DO $$BEGIN RAISE NOTICE '%', n FROM numbers; END$$;
DO $$BEGIN IF n, n FROM numbers THEN NULL; END IF; END$$;
DO $$DECLARE a int[]; b text; BEGIN
  a[1] := '23'::text; a[2:3] := '{4,5}'::text; RAISE NOTICE '%', a;
  a[1] := 'x'::text;
END$$;
DO $$DECLARE a int[]; BEGIN a[1:2] := 4; END$$;

CREATE FUNCTION down(n int) RETURNS int LANGUAGE plpgsql AS $$
BEGIN
  IF n = 0 THEN RETURN 1 / n; END IF;
  RETURN n * down(n - 1);
END$$;
SELECT down(2);
CREATE FUNCTION down_assigned(n int) RETURNS int LANGUAGE plpgsql AS $$
DECLARE r int;
BEGIN
  IF n = 0 THEN RAISE NOTICE 'here' ; RAISE EXCEPTION 'the end'; END IF;
  r := down_assigned(n - 1);
  RETURN r;
END$$;
SELECT down_assigned(2);
CREATE FUNCTION fails() RETURNS int LANGUAGE plpgsql AS $$BEGIN RETURN nothing_there; END$$;
DO $$DECLARE x int; BEGIN x := fails(); END$$;
DO $$DECLARE x int; BEGIN x := 1 + (SELECT fails()); END$$;

-- Types that are gone when a body runs.
CREATE TYPE gone AS (a int);
CREATE FUNCTION uses_gone(i int) RETURNS int LANGUAGE plpgsql AS $$
DECLARE g gone;
BEGIN
  g.a := i;
  RETURN g.a;
END$$;
SELECT uses_gone(1);
DROP TYPE gone;
CREATE TYPE gone AS (b text, a int);
SELECT uses_gone(1);
DROP TYPE gone;

-- Domains over rows are held at every way into a variable.
CREATE TYPE span AS (low int, high int);
CREATE DOMAIN ordered_span AS span CHECK ((VALUE).low <= (VALUE).high);
CREATE DOMAIN some_span AS span NOT NULL;
DO $$DECLARE s some_span; BEGIN NULL; END$$;
DO $$DECLARE s some_span := row(1, 2); BEGIN s := null; END$$;
DO $$DECLARE s ordered_span := row(2, 1); BEGIN NULL; END$$;
DO $$DECLARE s ordered_span := row(1, 2); BEGIN s.low := 2; RAISE NOTICE '%', s; s.low := 3; END$$;
DO $$DECLARE s ordered_span; BEGIN SELECT 2, 1 INTO s; END$$;
DO $$DECLARE s ordered_span; BEGIN FOR s IN SELECT i, 3 FROM generate_series(2, 5) i LOOP RAISE NOTICE '%', s; END LOOP; END$$;
CREATE FUNCTION spans(l int, h int) RETURNS ordered_span LANGUAGE plpgsql AS $$BEGIN RETURN row(l, h); END$$;
SELECT spans(1, 2);
SELECT spans(2, 1);
CREATE FUNCTION spans_of(s ordered_span) RETURNS int LANGUAGE plpgsql AS $$BEGIN RETURN 1 / s.low; END$$;
SELECT spans_of(row(0, 1));

-- Statements that give rows which nobody takes; statements that take variables.
DO $$BEGIN EXPLAIN SELECT 1; END$$;
DO $$BEGIN SHOW work_mem; END$$;
DO $$DECLARE x text; BEGIN SHOW work_mem INTO x; RAISE NOTICE '%', x; END$$;
PREPARE one_int(int) AS SELECT $1;
EXECUTE one_int($1);
DO $$BEGIN EXECUTE 'execute one_int($1)' USING 3; END$$;
CREATE FUNCTION opens(t int) RETURNS void LANGUAGE sql AS $$DECLARE opened CURSOR FOR SELECT n FROM numbers WHERE n >= $1$$;
BEGIN;
SELECT opens(1);
FETCH ALL FROM opened;
COMMIT;
BEGIN;
DO $$DECLARE v int := 5; BEGIN DECLARE own CURSOR FOR SELECT v, n FROM numbers WHERE n = v; END$$;
DO $$DECLARE v int := 5; BEGIN CREATE TABLE own AS SELECT v AS v, n FROM numbers WHERE n = v; END$$;
SELECT * FROM own;
ROLLBACK;

-- CALL within bodies.
CREATE PROCEDURE twice(a int, INOUT b int, INOUT c int) LANGUAGE plpgsql AS $$BEGIN RAISE NOTICE 'called'; b := b * a; c := c * a; END$$;
DO $$DECLARE x int := 3; y int := 4; BEGIN
  RAISE NOTICE 'before'; CALL twice(2, x, y); RAISE NOTICE '% %', x, y;
  CALL twice(2, c => y, b => x); RAISE NOTICE '% %', x, y;
END$$;
DO $$DECLARE x int := 3; BEGIN CALL twice(2, x + 1, x); END$$;
DO $$DECLARE x CONSTANT int := 3; y int := 4; BEGIN CALL twice(2, x, y); END$$;
DO $$DECLARE s span := row(1, 2); r record; BEGIN
  CALL twice(5, s.low, s.high); RAISE NOTICE '%', s;
  SELECT 1 AS one, 2 AS two INTO r; CALL twice(7, r.two, r.one); RAISE NOTICE '%', r;
END$$;
DO $$DECLARE x int := 3; BEGIN CALL twice(x, 'x'::text, x); END$$;
CREATE PROCEDURE unnamed(INOUT int, int DEFAULT 1) LANGUAGE plpgsql AS $$BEGIN NULL; END$$;
DO $$BEGIN CALL unnamed(1, 2); END$$;
CREATE TABLE new_rows (a int, b int);
CREATE FUNCTION through_call() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN CALL twice(10, NEW.a, NEW.b); RETURN NEW; END$$;
CREATE TRIGGER through_call BEFORE INSERT ON new_rows FOR EACH ROW EXECUTE FUNCTION through_call();
INSERT INTO new_rows VALUES (1, 2) RETURNING *;

-- Who may end the transaction.
CREATE FUNCTION runs_do() RETURNS int LANGUAGE plpgsql AS $$BEGIN EXECUTE 'DO LANGUAGE plpgsql $x$ BEGIN COMMIT; END $x$'; RETURN 1; END$$;
SELECT runs_do();
CREATE PROCEDURE runs_do_by_text() LANGUAGE plpgsql AS $$BEGIN EXECUTE 'DO LANGUAGE plpgsql $x$ BEGIN COMMIT; END $x$'; END$$;
CALL runs_do_by_text();
CREATE PROCEDURE runs_do_itself() LANGUAGE plpgsql AS $$BEGIN DO LANGUAGE plpgsql $x$ BEGIN INSERT INTO numbers VALUES (8); COMMIT; END $x$; ROLLBACK; END$$;
CALL runs_do_itself();
SELECT * FROM numbers ORDER BY n;
DO $$BEGIN SET TRANSACTION ISOLATION LEVEL REPEATABLE READ; END$$;
DO $$BEGIN
  ROLLBACK; SET TRANSACTION ISOLATION LEVEL REPEATABLE READ;
  FOR i IN 0..1 LOOP RAISE NOTICE '%', current_setting('transaction_isolation'); COMMIT AND CHAIN; END LOOP;
  RAISE NOTICE '%', current_setting('transaction_isolation'); COMMIT;
  RAISE NOTICE '%', current_setting('transaction_isolation');
END$$;
DO $$DECLARE s timestamptz := statement_timestamp(); t timestamptz := transaction_timestamp(); BEGIN
  PERFORM pg_sleep(0.002); COMMIT;
  RAISE NOTICE '% %', s = statement_timestamp(), t < transaction_timestamp();
END$$;

-- Who catches a cancel goes on.
DO $$BEGIN
  SET LOCAL statement_timeout = '50ms';
  PERFORM pg_sleep(0.001);
END$$;
SET statement_timeout = '100ms';
DO $$BEGIN
  BEGIN PERFORM pg_sleep(60); EXCEPTION WHEN query_canceled THEN RAISE NOTICE 'caught'; END;
  PERFORM count(*) FROM numbers; RAISE NOTICE 'and gone on';
END$$;
RESET statement_timeout;
DO $$DECLARE r record; BEGIN GET DIAGNOSTICS r = ROW_COUNT; END$$;

-- The rows of transition tables are seen by texts that are made when they run.
CREATE TABLE watched (a int, b text);
CREATE FUNCTION counts_rows() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE c int; r record;
BEGIN
  EXECUTE 'select count(*) from new_ones where a > $1' INTO c USING 1;
  RAISE NOTICE 'over one: %', c;
  FOR r IN EXECUTE 'select n.a, n.b, w.b as w from new_ones n join watched w using (a) order by a' LOOP RAISE NOTICE '%', r; END LOOP;
  RETURN NULL;
END$$;
CREATE TRIGGER counts_rows AFTER INSERT ON watched REFERENCING NEW TABLE AS new_ones FOR EACH STATEMENT EXECUTE FUNCTION counts_rows();
INSERT INTO watched VALUES (1, 'x'), (2, 'y'), (3, 'z');
