-- Functions that statements call and that only compute, and such as begin so and then ask for more.
CREATE TABLE inputs AS SELECT g AS n, CASE WHEN g % 4 <> 0 THEN 'text ' || g END AS said, g * 1.5 AS part FROM generate_series(1, 12) g;
CREATE TABLE said AS SELECT 0 AS n, ''::text AS what WHERE false;
CREATE DOMAIN positive AS int CHECK (value > 0);

CREATE FUNCTION twice(x int) RETURNS int LANGUAGE plpgsql AS $$ BEGIN IF x % 2 = 0 THEN RETURN x * 2; END IF; RETURN x * 2 + 1; END $$;
CREATE FUNCTION loud(t text) RETURNS text LANGUAGE plpgsql IMMUTABLE STRICT AS $$ DECLARE r text := '<'; BEGIN r := r || upper(t); RETURN r || '>'; END $$;
CREATE FUNCTION shown(x int, y numeric DEFAULT 0.5, z text DEFAULT NULL) RETURNS varchar LANGUAGE plpgsql STABLE AS $$ BEGIN RETURN concat_ws('/', x, y, z, pg_trigger_depth()); END $$;
CREATE FUNCTION positive_of(x int) RETURNS positive LANGUAGE plpgsql AS $$ BEGIN RETURN x; END $$;
CREATE FUNCTION rounded(x numeric) RETURNS int LANGUAGE plpgsql AS $$ BEGIN RETURN x; END $$;
SELECT n, twice(n), loud(said), shown(n), shown(n, part), shown(z => said, x => n), rounded(part) FROM inputs ORDER BY n;
SELECT sum(twice(n)), max(loud(said)), count(loud(said)) FROM inputs WHERE twice(n) % 3 = 0 OR loud(said) LIKE '%1%';
SELECT twice(twice(twice(n))), loud(loud(said)) FROM inputs WHERE n < 4 ORDER BY loud(said) DESC;
SELECT n, positive_of(n - 3) FROM inputs WHERE n > 3 ORDER BY n;
SELECT n, positive_of(n - 3) FROM inputs ORDER BY n;
SELECT n, twice(NULL), loud(NULL), shown(NULL) FROM inputs WHERE n = 1;

-- Errors in the middle of a statement, and ends without a value.
CREATE FUNCTION fails_at(x int, at int) RETURNS int LANGUAGE plpgsql AS $$ DECLARE y int; BEGIN
  y := x - at;
  RETURN 100 / y;
END $$;
SELECT n, fails_at(n, 5) FROM inputs ORDER BY n;
SELECT twice(fails_at(n, 3)) FROM inputs ORDER BY n;
CREATE FUNCTION ends(x int) RETURNS int LANGUAGE plpgsql AS $$ BEGIN IF x < 3 THEN RETURN x; END IF; END $$;
SELECT ends(n) FROM inputs ORDER BY n;
CREATE FUNCTION caught(x int) RETURNS text LANGUAGE plpgsql AS $$ BEGIN
  BEGIN RETURN (12 / (x % 3))::text; EXCEPTION WHEN division_by_zero THEN RETURN 'caught ' || sqlerrm; END; END $$;
SELECT n, caught(n) FROM inputs ORDER BY n;

-- They say something, write, call others and themselves, for some rows.
CREATE FUNCTION more(x int) RETURNS text LANGUAGE plpgsql AS $$ DECLARE t text := 'of ' || x; n int := 0; BEGIN
  FOR i IN 1..x % 4 LOOP n := n + i; END LOOP;
  IF x % 4 = 1 THEN RAISE NOTICE 'more % %', x, t; END IF;
  IF x % 4 = 2 THEN INSERT INTO said VALUES (x, t); t := t || ' ' || (SELECT count(*) FROM said); END IF;
  IF x % 4 = 3 THEN t := t || loud(t) || twice(n); END IF;
  IF x > 9 THEN t := t || '; ' || more(x - 9); END IF;
  RETURN t || ' ' || n || found;
END $$;
SELECT n, more(n) FROM inputs ORDER BY n;
SELECT * FROM said ORDER BY n, what;
CREATE FUNCTION fact(x int) RETURNS numeric LANGUAGE plpgsql AS $$ BEGIN IF x < 2 THEN RETURN 1; END IF; RETURN x * fact(x - 1); END $$;
SELECT n, fact(n) FROM inputs ORDER BY n;
CREATE FUNCTION seen() RETURNS bigint LANGUAGE plpgsql STABLE AS $$ DECLARE n int := 1; BEGIN n := n + 1; RETURN (SELECT count(*) FROM said); END $$;
CREATE FUNCTION seen_now() RETURNS bigint LANGUAGE plpgsql VOLATILE AS $$ DECLARE n int := 1; BEGIN n := n + 1; RETURN (SELECT count(*) FROM said); END $$;
INSERT INTO said SELECT n, seen() || '/' || seen_now() FROM inputs WHERE n < 4 RETURNING *;
SELECT more(2), seen() - seen_now() FROM inputs WHERE n < 3;

-- What the statement itself changes is seen: settings, sequences, definitions.
CREATE SEQUENCE numbers;
CREATE FUNCTION marks(x int) RETURNS text LANGUAGE plpgsql AS $$ BEGIN RETURN concat(set_config('my.mark', 'mark ' || x, false), nextval('numbers'), to_regclass('come_between')); END $$;
CREATE FUNCTION marked() RETURNS text LANGUAGE plpgsql AS $$ BEGIN RETURN concat(current_setting('my.mark', true), currval('numbers'), to_regclass('come_between')); END $$;
CREATE FUNCTION makes(x int) RETURNS bool LANGUAGE plpgsql AS $$ BEGIN IF x = 2 THEN CREATE TABLE come_between (); END IF; RETURN true; END $$;
SELECT n, marks(n), makes(n), marked() FROM inputs WHERE n < 5 ORDER BY n;
SELECT current_setting('my.mark'), currval('numbers'), marked();
DROP TABLE come_between;
CREATE FUNCTION replaces(x int) RETURNS int LANGUAGE plpgsql AS $$ BEGIN
  IF x = 3 THEN CREATE OR REPLACE FUNCTION twice(x int) RETURNS int LANGUAGE plpgsql AS 'BEGIN RETURN -x; END'; END IF; RETURN x; END $$;
SELECT n, replaces(n) FROM inputs WHERE n < 6 ORDER BY n;
SELECT twice(n) FROM inputs WHERE n < 3 ORDER BY n;
SET search_path = nowhere, public;
SELECT n, twice(n), shown(n) FROM inputs WHERE n < 3 ORDER BY n;
RESET search_path;

-- In CHECK, DEFAULT, an index, a generated column, a trigger's condition; rows and arrays as arguments.
CREATE TABLE kept (n int DEFAULT twice(7) CHECK (twice(n) < 1000), t text, l text GENERATED ALWAYS AS (loud(t)) STORED);
CREATE INDEX ON kept (loud(t));
INSERT INTO kept (t) SELECT said FROM inputs;
INSERT INTO kept (n) VALUES (-2000);
SELECT DISTINCT n FROM kept;
SELECT l FROM kept WHERE loud(t) = '<TEXT 5>';
CREATE FUNCTION of_row(r inputs, a int[]) RETURNS text LANGUAGE plpgsql AS $$ BEGIN r.n := r.n + a[1]; a[2] := r.n; RETURN concat_ws(' ', r.n, r.said, r, a); END $$;
SELECT of_row(i, ARRAY[n, n]) FROM inputs i WHERE n < 6 ORDER BY n;
