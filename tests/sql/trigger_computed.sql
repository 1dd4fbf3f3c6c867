-- Row triggers whose functions only compute, and such as begin so and then ask for more: what they see, return and fail with.
CREATE TABLE stamped (a int, b text, gone int, c numeric(8, 2), at timestamptz, depth int);
ALTER TABLE stamped DROP COLUMN gone;
CREATE TABLE said AS SELECT 0 AS n, ''::text AS what WHERE false;

CREATE FUNCTION stamp() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  NEW.at := now(); NEW.depth := pg_trigger_depth(); NEW.b := NEW.b || '!'; NEW.c := NEW.c / NEW.a; RETURN NEW;
END $$;
CREATE TRIGGER stamp BEFORE INSERT OR UPDATE ON stamped FOR EACH ROW EXECUTE FUNCTION stamp();
INSERT INTO stamped (a, b, c) SELECT g, repeat('b', g), 10 * g + 0.5 FROM generate_series(1, 6) g;
SELECT a, b, c, at = now() AS now, depth FROM stamped ORDER BY a;
BEGIN;
INSERT INTO stamped (a, b, c) VALUES (7, 'seven', 70), (8, NULL, 80);
SELECT a, b, c, at = now() AS now, depth FROM stamped WHERE a > 6 ORDER BY a;
COMMIT;
-- In the middle of a statement it fails, within its own CONTEXT.
INSERT INTO stamped (a, b, c) SELECT 2 - g, 'x', 1 FROM generate_series(0, 3) g;
INSERT INTO stamped (a, b, c) VALUES (1, 'x', 999999.994), (1, 'x', 9999999);
UPDATE stamped SET c = c * 2 WHERE a < 4;
SELECT a, b, c, depth FROM stamped ORDER BY a, b;

-- It computes, and for some rows then says something, writes, or calls others.
CREATE FUNCTION more(n int) RETURNS text LANGUAGE plpgsql AS $$ BEGIN
  INSERT INTO said VALUES (n, 'called at ' || pg_trigger_depth()); RETURN '+' || n; END $$;
CREATE OR REPLACE FUNCTION stamp() RETURNS trigger LANGUAGE plpgsql AS $$ DECLARE was text := OLD.b; BEGIN
  NEW.depth := NEW.a * 10 + pg_trigger_depth();
  IF NEW.a % 5 = 0 THEN RAISE NOTICE '% was %, is %', tg_op, was, NEW; END IF;
  IF NEW.a % 5 = 1 THEN INSERT INTO said VALUES (NEW.a, NEW.b); NEW.b := NEW.b || found; END IF;
  IF NEW.a % 5 = 2 THEN NEW.b := more(NEW.a); END IF;
  IF NEW.a % 5 = 3 THEN RETURN NULL; END IF;
  IF NEW.a % 5 = 4 AND OLD IS NOT NULL THEN RETURN OLD; END IF;
  IF NEW IS DISTINCT FROM OLD THEN NEW.c := coalesce(NEW.c, 0) + 1; END IF;
  RETURN NEW;
END $$;
INSERT INTO stamped (a, b) SELECT g, 'row ' || g FROM generate_series(20, 29) g;
UPDATE stamped SET b = b || '?' WHERE a BETWEEN 20 AND 27;
SELECT a, b, c, depth FROM stamped WHERE a BETWEEN 20 AND 29 ORDER BY a;
SELECT * FROM said ORDER BY n, what;

-- Another row instead, of the same form and of others.
CREATE OR REPLACE FUNCTION stamp() RETURNS trigger LANGUAGE plpgsql AS $$ DECLARE other stamped; any_row record; BEGIN
  CASE NEW.a
    WHEN 30 THEN other := NEW; other.b := 'other'; RETURN other;
    WHEN 31 THEN SELECT 31, 'selected'::text, 3.1::numeric(8, 2), now(), 9 INTO any_row; RETURN any_row;
    WHEN 32 THEN NEW := ROW(32, 'made', 3.2, NULL, 8); RETURN NEW;
    WHEN 33 THEN other := NULL; RETURN other;
    WHEN 34 THEN RETURN ROW(34, 'of ROW'::text, 3.4::numeric(8, 2), NULL::timestamptz, 7);
    WHEN 35 THEN NEW := NULL; RETURN NEW;
    WHEN 36 THEN any_row := NEW; NEW.b := 'not this'; RETURN any_row;
    WHEN 37 THEN SELECT 37 AS x INTO any_row; RETURN any_row;
    ELSE RETURN NEW.b;
  END CASE;
END $$;
INSERT INTO stamped (a, b) SELECT g, 'given' FROM generate_series(30, 36) g;
SELECT a, b, c, at = now() AS now, depth FROM stamped WHERE a BETWEEN 30 AND 39 ORDER BY a;
INSERT INTO stamped (a, b) VALUES (37, 'given');
INSERT INTO stamped (a, b) VALUES (38, 'given');
CREATE OR REPLACE FUNCTION stamp() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN NEW.c := 1; END $$;
INSERT INTO stamped (a, b) VALUES (39, 'given');

-- What another trigger of the same row has set or made meanwhile is seen.
CREATE FUNCTION sets() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  PERFORM set_config('my.mark', 'mark ' || NEW.a, true);
  IF NEW.a = 41 THEN CREATE TABLE come_between (x int); END IF;
  RETURN NEW;
END $$;
CREATE OR REPLACE FUNCTION stamp() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  NEW.b := concat_ws(' ', current_setting('my.mark', true), to_regclass('come_between'), pg_trigger_depth()); RETURN NEW; END $$;
CREATE TRIGGER a_sets BEFORE INSERT ON stamped FOR EACH ROW EXECUTE FUNCTION sets();
INSERT INTO stamped (a) VALUES (39), (40), (41), (42), (43);
SELECT a, b FROM stamped WHERE a BETWEEN 39 AND 43 ORDER BY a;
DROP TABLE come_between;
DROP TRIGGER a_sets ON stamped;

-- Caught errors, loops, and levels of triggers.
CREATE OR REPLACE FUNCTION stamp() RETURNS trigger LANGUAGE plpgsql AS $$ DECLARE n int := 0; BEGIN
  FOR i IN 1..NEW.a % 4 LOOP n := n + i; END LOOP;
  NEW.depth := 0;
  BEGIN NEW.b := (n / (NEW.a % 3))::text; EXCEPTION WHEN division_by_zero THEN NEW.b := 'caught'; END;
  WHILE n > 0 LOOP n := n - 1; NEW.depth := NEW.depth + 1; END LOOP;
  RETURN NEW;
END $$;
INSERT INTO stamped (a) SELECT g FROM generate_series(50, 57) g;
SELECT a, b, depth FROM stamped WHERE a BETWEEN 50 AND 57 ORDER BY a;
CREATE TABLE inner_rows AS SELECT 0 AS x, 0 AS depth WHERE false;
CREATE FUNCTION depth() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN NEW.depth := pg_trigger_depth(); RETURN NEW; END $$;
CREATE TRIGGER depth BEFORE INSERT ON inner_rows FOR EACH ROW EXECUTE FUNCTION depth();
CREATE OR REPLACE FUNCTION stamp() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  NEW.depth := pg_trigger_depth(); INSERT INTO inner_rows VALUES (NEW.a), (NEW.a + 1); RETURN NEW; END $$;
INSERT INTO stamped (a) VALUES (60), (62);
SELECT a, depth FROM stamped WHERE a >= 60 ORDER BY a;
SELECT * FROM inner_rows ORDER BY x;

-- A generated column is not there yet; AFTER, the row is as it was written.
CREATE TABLE made (a int, twice int GENERATED ALWAYS AS (a * 2) STORED, note text);
CREATE FUNCTION notes() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  IF tg_when = 'BEFORE' THEN NEW.note := concat_ws('/', NEW.a, NEW.twice, OLD.twice); NEW.a := NEW.a + 1; RETURN NEW; END IF;
  RAISE NOTICE '% % -> %', tg_op, OLD, NEW;
  RETURN NULL;
END $$;
CREATE TRIGGER made_before BEFORE INSERT OR UPDATE ON made FOR EACH ROW EXECUTE FUNCTION notes();
CREATE TRIGGER made_after AFTER INSERT OR UPDATE ON made FOR EACH ROW EXECUTE FUNCTION notes();
INSERT INTO made (a) VALUES (1), (2);
UPDATE made SET a = a * 10;
SELECT * FROM made ORDER BY a;

-- WHEN: conditions that compute, that call others, and that fail.
CREATE TABLE watched (a int, b text, c numeric, seen text);
INSERT INTO watched SELECT g, 'row ' || g, g / 2.0 FROM generate_series(1, 8) g;
CREATE FUNCTION sees() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN NEW.seen := concat_ws(',', NEW.seen, tg_argv[0]); RETURN NEW; END $$;
CREATE FUNCTION is_even(x int) RETURNS bool LANGUAGE plpgsql AS $$ BEGIN INSERT INTO said VALUES (x, 'is_even'); RETURN x % 2 = 0; END $$;
TRUNCATE said;
CREATE TRIGGER w1 BEFORE UPDATE ON watched FOR EACH ROW WHEN (NEW.b IS DISTINCT FROM OLD.b) EXECUTE FUNCTION sees('b');
CREATE TRIGGER w2 BEFORE UPDATE ON watched FOR EACH ROW WHEN (OLD.* IS DISTINCT FROM NEW.*) EXECUTE FUNCTION sees('all');
CREATE TRIGGER w3 BEFORE UPDATE ON watched FOR EACH ROW WHEN (NEW.a > 3 AND pg_trigger_depth() = 0) EXECUTE FUNCTION sees('depth');
CREATE TRIGGER w4 BEFORE UPDATE ON watched FOR EACH ROW WHEN (is_even(NEW.a)) EXECUTE FUNCTION sees('even');
CREATE TRIGGER w5 BEFORE UPDATE ON watched FOR EACH ROW WHEN (NEW.c IS NULL) EXECUTE FUNCTION sees('null');
UPDATE watched SET b = CASE WHEN a % 3 = 0 THEN b || '!' ELSE b END, c = CASE WHEN a % 4 = 0 THEN c END;
SELECT * FROM watched ORDER BY a;
SELECT * FROM said ORDER BY n, what;
DROP TRIGGER w4 ON watched;
CREATE TRIGGER w4 BEFORE UPDATE ON watched FOR EACH ROW WHEN (10 / (NEW.a - 5) > 4) EXECUTE FUNCTION sees('divided');
UPDATE watched SET seen = NULL WHERE a < 5;
UPDATE watched SET seen = NULL WHERE a > 3;
SELECT * FROM watched ORDER BY a;
ALTER TABLE watched ADD d int DEFAULT 4;
DROP TRIGGER w4 ON watched;
CREATE TRIGGER w4 BEFORE UPDATE ON watched FOR EACH ROW WHEN (NEW.d > 4 OR current_setting('my.mark', true) = 'all') EXECUTE FUNCTION sees('d');
UPDATE watched SET d = a, seen = NULL;
SELECT a, d, seen FROM watched ORDER BY a;
UPDATE watched SET seen = set_config('my.mark', CASE WHEN a = 3 THEN 'all' ELSE '' END, false) WHERE a < 6;
SELECT a, d, seen FROM watched ORDER BY a;
CREATE FUNCTION tells() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE NOTICE '% % %', tg_name, OLD, NEW; RETURN NULL; END $$;
CREATE TRIGGER w6 AFTER UPDATE ON watched FOR EACH ROW WHEN (NEW.a % 4 = 0 AND OLD.seen IS NOT NULL) EXECUTE FUNCTION tells();
CREATE TRIGGER w7 AFTER INSERT ON watched FOR EACH ROW WHEN (length(NEW.b) > 3) EXECUTE FUNCTION tells();
UPDATE watched SET c = 0 WHERE a IN (3, 4);
INSERT INTO watched (a, b) VALUES (20, 'abc'), (21, 'abcd'), (22, NULL);
