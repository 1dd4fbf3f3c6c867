-- Runs of a trigger's function one after the other: each begins with what its variables begin with, whatever the last one has left.
CREATE TABLE run_rows (a int PRIMARY KEY, b text, c int, d int[]);
CREATE FUNCTION fresh() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE n int; t text := 'begun'; k int := 7; z int[]; r record; BEGIN
  IF n IS NULL AND t = 'begun' AND k = 7 AND z IS NULL AND NOT found THEN new.c := coalesce(new.c, 0) + 1; END IF;
  n := new.a;
  t := t || ' ' || repeat('x', new.a % 50);
  k := k + n;
  z[1] := n;
  new.d := z;
  new.b := coalesce(new.b, '') || '/' || length(t) || '/' || k;
  IF new.a % 40 = 0 THEN tg_name := 'other'; END IF;
  new.b := new.b || '/' || tg_name;
  RETURN new;
END $$;
CREATE TRIGGER fresh BEFORE INSERT OR UPDATE ON run_rows FOR EACH ROW EXECUTE FUNCTION fresh();
INSERT INTO run_rows SELECT g, 'r' || g, g % 3 FROM generate_series(1, 200) g;
INSERT INTO run_rows SELECT g, NULL, NULL FROM generate_series(201, 210) g;
SELECT count(*), sum(c), count(DISTINCT b), sum(length(b)), sum(d[1]) FROM run_rows;
SELECT * FROM run_rows WHERE a IN (1, 39, 40, 41, 80, 200, 205) ORDER BY a;
UPDATE run_rows SET b = 'u' WHERE a % 2 = 0;
SELECT count(*), sum(c), sum(length(b)) FROM run_rows;
SELECT * FROM run_rows WHERE a IN (38, 40, 42) ORDER BY a;

-- Some runs ask for the session, some read a row as a whole, some keep a row out.
CREATE FUNCTION now_and_then() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE w record; t text; n int := 0; BEGIN
  IF new.a % 7 = 0 THEN RAISE NOTICE 'at % old % n %', new.a, old, n; END IF;
  IF new.a % 5 = 0 THEN w := new; t := w::text; END IF;
  n := n + 1;
  IF new.a % 3 = 0 THEN RETURN NULL; END IF;
  IF new.a % 11 = 0 THEN SELECT count(*) INTO n FROM run_rows WHERE a < new.a; END IF;
  new.c := n;
  new.b := coalesce(t, 'none');
  RETURN new;
END $$;
DROP TRIGGER fresh ON run_rows;
TRUNCATE run_rows;
CREATE TRIGGER now_and_then BEFORE INSERT OR UPDATE ON run_rows FOR EACH ROW EXECUTE FUNCTION now_and_then();
INSERT INTO run_rows SELECT g, 'r' || g FROM generate_series(1, 26) g;
SELECT * FROM run_rows ORDER BY a;
UPDATE run_rows SET c = -1;
SELECT * FROM run_rows WHERE c <> 1 OR b <> 'none' ORDER BY a;
INSERT INTO run_rows SELECT g, 'r' FROM generate_series(22, 40) g ON CONFLICT (a) DO UPDATE SET b = excluded.b || '!', c = 100;
SELECT count(*), sum(c) FROM run_rows;

-- Several triggers of one row, one function for several of them, a dropped column, a column that is computed.
DROP TRIGGER now_and_then ON run_rows;
TRUNCATE run_rows;
CREATE FUNCTION adds() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE s text := tg_name; BEGIN s := s || tg_argv[0]; new.b := new.b || ':' || s; RETURN new; END $$;
CREATE TRIGGER a1 BEFORE INSERT ON run_rows FOR EACH ROW EXECUTE FUNCTION adds('x');
CREATE TRIGGER a2 BEFORE INSERT OR UPDATE ON run_rows FOR EACH ROW WHEN (new.a % 2 = 0) EXECUTE FUNCTION adds('y');
CREATE TRIGGER a3 BEFORE UPDATE OF b ON run_rows FOR EACH ROW EXECUTE FUNCTION adds('z');
INSERT INTO run_rows SELECT g, 'r' FROM generate_series(1, 4) g;
UPDATE run_rows SET b = 'u' WHERE a > 2;
SELECT * FROM run_rows ORDER BY a;
ALTER TABLE run_rows DROP COLUMN c;
INSERT INTO run_rows SELECT g, 'r' FROM generate_series(5, 8) g;
ALTER TABLE run_rows ADD COLUMN e text GENERATED ALWAYS AS (b || '=') STORED;
INSERT INTO run_rows SELECT g, 'r' FROM generate_series(9, 10) g;
CREATE FUNCTION sees() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN new.b := coalesce(new.e, 'null') || coalesce(old.e, 'null'); RETURN new; END $$;
CREATE TRIGGER sees BEFORE UPDATE ON run_rows FOR EACH ROW EXECUTE FUNCTION sees();
UPDATE run_rows SET b = 'v' WHERE a > 6;
SELECT * FROM run_rows ORDER BY a;

-- One that fails in between, in a block that goes on.
CREATE FUNCTION fails() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE n int := 1; BEGIN n := n + 10 / (new.a % 10); new.b := n; RETURN new; END $$;
CREATE TABLE failed_rows (a int, b text);
CREATE TRIGGER fails BEFORE INSERT ON failed_rows FOR EACH ROW EXECUTE FUNCTION fails();
CREATE FUNCTION goes_on() RETURNS text LANGUAGE plpgsql AS $$
DECLARE c int := 0; BEGIN
  FOR i IN 1..25 LOOP
    BEGIN INSERT INTO failed_rows VALUES (i); EXCEPTION WHEN division_by_zero THEN c := c + 1; END;
  END LOOP;
  RETURN c || ' ' || (SELECT string_agg(b, ',' ORDER BY a) FROM failed_rows);
END $$;
SELECT goes_on();
INSERT INTO failed_rows SELECT generate_series(8, 12);
INSERT INTO failed_rows SELECT generate_series(26, 29);
SELECT count(*) FROM failed_rows;
CREATE OR REPLACE FUNCTION fails() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE n int := 5; BEGIN n := n + new.a; new.b := 'now ' || n; RETURN new; END $$;
INSERT INTO failed_rows SELECT generate_series(30, 32) RETURNING *;
DROP TABLE run_rows, failed_rows;
