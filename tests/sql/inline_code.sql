-- DO: statements of PL/pgSQL
DO $$ BEGIN RAISE NOTICE 'hello %, 100%%', 'world'; END $$;
DO LANGUAGE plpgsql 'BEGIN NULL; END';
DO $$
DECLARE
  a int := 1;
  b text DEFAULT 'x' || a;
  c CONSTANT numeric(10,2) = 12.345;
  d int[] := ARRAY[1,2,3];
  e record;
BEGIN
  a := a + 41;
  b = b || a;
  RAISE NOTICE '% % % %', a, b, c, d;
  d[2] := 20;
  d[5] := a;
  RAISE NOTICE '%', d;
  a := '7';
  RAISE NOTICE '%', a * 2;
  SELECT 1 AS one, 'two'::text AS two INTO e;
  RAISE NOTICE '% % %', e, e.one, e.two;
  e.two := 'three';
  RAISE NOTICE '%', e;
  IF a > 5 THEN RAISE NOTICE 'more'; ELSIF a > 3 THEN RAISE NOTICE 'some'; ELSE RAISE NOTICE 'less'; END IF;
  IF NULL THEN RAISE NOTICE 'never'; ELSE RAISE NOTICE 'null is false'; END IF;
END $$;
CREATE TABLE t (id int PRIMARY KEY, name text, n numeric(6,2));
DO $$
DECLARE
  r record;
  i int;
  total int := 0;
  row t%ROWTYPE;
  name t.name%TYPE;
BEGIN
  FOR i IN 1..5 LOOP
    INSERT INTO t VALUES (i, 'n' || i, i * 1.5);
  END LOOP;
  RAISE NOTICE 'found %', FOUND;
  FOR i IN REVERSE 10..1 BY 4 LOOP RAISE NOTICE 'i %', i; END LOOP;
  FOR r IN SELECT * FROM t ORDER BY id DESC LOOP
    total := total + r.id;
    CONTINUE WHEN r.id = 4;
    RAISE NOTICE '% % %', r.id, r.name, r.n;
    EXIT WHEN r.id < 3;
  END LOOP;
  RAISE NOTICE 'total %', total;
  SELECT * INTO row FROM t WHERE id = 3;
  RAISE NOTICE '% %', row.name, row;
  SELECT t.name INTO name FROM t WHERE t.id = 2;
  RAISE NOTICE '% %', name, FOUND;
  SELECT t.name INTO name FROM t WHERE t.id = 200;
  RAISE NOTICE '% %', name, FOUND;
  UPDATE t SET n = n + 1 WHERE id > 3;
  GET DIAGNOSTICS i = ROW_COUNT;
  RAISE NOTICE 'updated %', i;
  DELETE FROM t WHERE id = 5 RETURNING * INTO r;
  RAISE NOTICE '%', r;
  PERFORM 1 FROM t WHERE id = 99;
  RAISE NOTICE '%', FOUND;
  <<outer>>
  FOR a IN 1..3 LOOP
    FOR b IN 1..3 LOOP
      CONTINUE outer WHEN b = 2 AND a = 1;
      EXIT outer WHEN a = 3;
      RAISE NOTICE '% %', a, b;
    END LOOP;
  END LOOP outer;
  WHILE total > 10 LOOP total := total - 2; END LOOP;
  LOOP
    total := total + 1;
    IF total > 12 THEN EXIT; END IF;
  END LOOP;
  RAISE NOTICE '%', total;
  CASE total WHEN 1, 2 THEN RAISE NOTICE 'small'; WHEN 13 THEN RAISE NOTICE 'thirteen'; ELSE RAISE NOTICE 'other'; END CASE;
  CASE WHEN total = 1 THEN RAISE NOTICE 'one'; ELSE RAISE NOTICE 'not one'; END CASE;
END $$;
SELECT * FROM t ORDER BY id;
-- dynamic statements
DO $$
DECLARE x int; q text := 'SELECT $1 + $2'; r record;
BEGIN
  EXECUTE q INTO x USING 40, 2;
  RAISE NOTICE '%', x;
  EXECUTE 'UPDATE t SET name = upper(name) WHERE id < $1' USING 3;
  GET DIAGNOSTICS x = ROW_COUNT;
  RAISE NOTICE '%', x;
  FOR r IN EXECUTE 'SELECT id, name FROM t WHERE id <= $1 ORDER BY 1' USING x LOOP
    RAISE NOTICE '% %', r.id, r.name;
  END LOOP;
  EXECUTE 'CREATE TABLE made (a int)';
  EXECUTE format('INSERT INTO %I VALUES (%L)', 'made', 7);
  FOR x IN SELECT a FROM made LOOP RAISE NOTICE 'made %', x; END LOOP;
END $$;
-- arrays
DO $$
DECLARE a int; s int[]; n int := 0;
BEGIN
  FOREACH a IN ARRAY ARRAY[1,2,3] LOOP n := n + a; END LOOP;
  RAISE NOTICE '%', n;
  FOREACH s SLICE 1 IN ARRAY ARRAY[[1,2],[3,4]] LOOP RAISE NOTICE '%', s; END LOOP;
END $$;
-- exceptions
DO $$
DECLARE m text; s text; c text; d text;
BEGIN
  BEGIN
    INSERT INTO t VALUES (50, 'gone', 1);
    PERFORM 1 / 0;
  EXCEPTION
    WHEN unique_violation THEN RAISE NOTICE 'unique';
    WHEN division_by_zero THEN RAISE NOTICE 'caught % %', SQLSTATE, SQLERRM;
  END;
  RAISE NOTICE '%', (SELECT count(*) FROM t WHERE id = 50);
  BEGIN
    INSERT INTO t VALUES (1, 'again', 1);
  EXCEPTION WHEN unique_violation OR check_violation THEN
    GET STACKED DIAGNOSTICS m = MESSAGE_TEXT, s = RETURNED_SQLSTATE, c = CONSTRAINT_NAME, d = PG_EXCEPTION_DETAIL;
    RAISE NOTICE '% % % %', m, s, c, d;
  END;
  BEGIN
    BEGIN
      RAISE EXCEPTION 'inner' USING ERRCODE = 'U0001', DETAIL = 'a detail', HINT = 'a hint';
    EXCEPTION WHEN SQLSTATE '22000' THEN RAISE NOTICE 'no';
    END;
  EXCEPTION WHEN OTHERS THEN
    GET STACKED DIAGNOSTICS d = PG_EXCEPTION_DETAIL, c = PG_EXCEPTION_HINT;
    RAISE NOTICE 'outer % % % %', SQLSTATE, SQLERRM, d, c;
  END;
  BEGIN
    RAISE data_exception;
  EXCEPTION WHEN SQLSTATE '22000' THEN RAISE NOTICE 'class % %', SQLSTATE, SQLERRM;
  END;
  BEGIN
    SELECT id INTO STRICT s FROM t;
  EXCEPTION WHEN too_many_rows THEN RAISE NOTICE '%', SQLERRM;
  END;
  BEGIN
    SELECT id INTO STRICT s FROM t WHERE id = -1;
  EXCEPTION WHEN no_data_found THEN RAISE NOTICE '%', SQLERRM;
  END;
  BEGIN
    ASSERT 1 = 2, 'not equal';
  EXCEPTION WHEN assert_failure THEN RAISE NOTICE '% %', SQLSTATE, SQLERRM;
  END;
  CREATE TABLE kept (a int);
  BEGIN
    CREATE TABLE dropped (a int);
    RAISE EXCEPTION 'back';
  EXCEPTION WHEN OTHERS THEN NULL;
  END;
END $$;
SELECT to_regclass('kept'), to_regclass('dropped');
DO $$ BEGIN RAISE WARNING 'careful' USING HINT = 'slowly'; RAISE INFO 'so'; END $$;
-- errors with their places
DO $$
BEGIN
  RAISE EXCEPTION 'no % and %', 1, NULL;
END $$;
DO $$ BEGIN RAISE division_by_zero; END $$;
DO $$ BEGIN RAISE EXCEPTION USING MESSAGE = 'm', ERRCODE = '22012', TABLE = 't', COLUMN = 'c'; END $$;
DO $$
DECLARE x int;
BEGIN
  SELECT 5 INTO x;
  IF x = 5 THEN
    INSERT INTO t VALUES (1, 'x', 1);
  END IF;
END $$;
DO $$
DECLARE x int := 3;
BEGIN
  x := x / (x - 3);
END $$;
DO $$ DECLARE x int NOT NULL := 1; BEGIN x := NULL; END $$;
DO $$ DECLARE x int := 'a'; BEGIN END $$;
DO $$ DECLARE x int := 1; BEGIN SELECT x; END $$;
DO $$ DECLARE r record; BEGIN RAISE NOTICE '%', r.a; END $$;
DO $$ DECLARE r record; BEGIN SELECT 1 AS a INTO r; RAISE NOTICE '%', r.b; END $$;
DO $$ BEGIN CASE 5 WHEN 1 THEN NULL; END CASE; END $$;
DO $$ BEGIN ASSERT false; END $$;
DO $$ DECLARE id int := 1; BEGIN PERFORM id FROM t; END $$;
DO $$ #variable_conflict use_column
DECLARE id int := 1; n int; BEGIN SELECT count(id) INTO n FROM t; RAISE NOTICE '%', n; END $$;
DO $$ BEGIN EXECUTE NULL; END $$;
DO $$ BEGIN FOR i IN 1..NULL LOOP NULL; END LOOP; END $$;
DO $$ BEGIN FOR i IN 1..3 BY 0 LOOP NULL; END LOOP; END $$;
DO $$ BEGIN COMMIT; END $$;
DO $$
BEGIN
  FOR i IN 100..103 LOOP
    INSERT INTO t VALUES (i, 'c', 0);
    IF i % 2 = 0 THEN COMMIT; ELSE ROLLBACK; END IF;
  END LOOP;
END $$;
SELECT id FROM t WHERE id >= 100 ORDER BY id;
BEGIN;
DO $$ BEGIN COMMIT; END $$;
ROLLBACK;
DO $$ BEGIN BEGIN COMMIT; EXCEPTION WHEN OTHERS THEN RAISE NOTICE '%', SQLERRM; END; END $$;
DO $$ BEGIN SAVEPOINT s; END $$;
-- what is wrong with a body
DO $$ BEGIN x := 1; END $$;
DO $$ BEGIN IF true THEN END $$;
DO $$ BEGIN EXIT; END $$;
DO $$ DECLARE a int; a text; BEGIN END $$;
DO $$ DECLARE c CONSTANT int := 1; BEGIN c := 2; END $$;
DO $$ BEGIN RAISE NOTICE '%'; END $$;
DO $$ BEGIN EXCEPTION WHEN nothing_known THEN NULL; END $$;
DO $$ DECLARE x nosuch; BEGIN END $$;
DO LANGUAGE nosuch 'x';
DO LANGUAGE sql 'SELECT 1';
DROP TABLE t, made, kept;
