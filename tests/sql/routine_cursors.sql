-- Cursors of PL/pgSQL
CREATE TABLE cur (id int PRIMARY KEY, name text, n numeric);
INSERT INTO cur SELECT i, 'name' || i, i * 1.5 FROM generate_series(1, 8) i;
DO $$
DECLARE
  c CURSOR FOR SELECT id, name FROM cur ORDER BY id;
  k int; v text;
BEGIN
  RAISE NOTICE '%', c;
  OPEN c;
  FETCH c INTO k, v;
  RAISE NOTICE '% % %', k, v, FOUND;
  FETCH NEXT FROM c INTO k, v;
  RAISE NOTICE '% %', k, v;
  FETCH LAST FROM c INTO k, v;
  RAISE NOTICE '% %', k, v;
  FETCH NEXT FROM c INTO k, v;
  RAISE NOTICE '% % %', k, v, FOUND;
  FETCH PRIOR FROM c INTO k, v;
  RAISE NOTICE '% %', k, v;
  FETCH FIRST IN c INTO k, v;
  RAISE NOTICE '% %', k, v;
  FETCH ABSOLUTE 4 FROM c INTO k, v;
  RAISE NOTICE '% %', k, v;
  FETCH RELATIVE -2 FROM c INTO k, v;
  RAISE NOTICE '% %', k, v;
  FETCH RELATIVE 0 FROM c INTO k, v;
  RAISE NOTICE '% %', k, v;
  FETCH FORWARD FROM c INTO k, v;
  RAISE NOTICE '% %', k, v;
  FETCH BACKWARD FROM c INTO k, v;
  RAISE NOTICE '% %', k, v;
  MOVE c;
  MOVE FORWARD 2 FROM c;
  GET DIAGNOSTICS k = ROW_COUNT;
  RAISE NOTICE 'moved % %', k, FOUND;
  MOVE FORWARD ALL IN c;
  GET DIAGNOSTICS k = ROW_COUNT;
  RAISE NOTICE 'moved % %', k, FOUND;
  MOVE NEXT FROM c;
  RAISE NOTICE '%', FOUND;
  MOVE BACKWARD 3 FROM c;
  FETCH c INTO k, v;
  RAISE NOTICE '% %', k, v;
  MOVE 2 FROM c;
  FETCH c INTO k, v;
  RAISE NOTICE '% %', k, v;
  CLOSE c;
  OPEN c;
  FETCH c INTO k, v;
  RAISE NOTICE '% %', k, v;
END $$;
-- Arguments, by place and by name
DO $$
DECLARE
  c CURSOR (low int, high int DEFAULT 5) FOR SELECT * FROM cur WHERE id BETWEEN low AND high;
BEGIN
  NULL;
END $$;
DO $$
DECLARE
  c CURSOR (low int, high int) IS SELECT * FROM cur WHERE id BETWEEN low AND high ORDER BY id;
  r cur;
  low int := 100;
BEGIN
  OPEN c(2, 3);
  LOOP
    FETCH c INTO r;
    EXIT WHEN NOT FOUND;
    RAISE NOTICE '%', r;
  END LOOP;
  CLOSE c;
  OPEN c(high := 5, low := 5);
  FETCH c INTO r;
  RAISE NOTICE '%', r.name;
  CLOSE c;
  FOR r IN c(7, 8) LOOP
    RAISE NOTICE '% %', r.id, r;
  END LOOP;
  RAISE NOTICE '% % %', r, FOUND, low;
  FOR r IN c(low := 70, high := 8) LOOP
    RAISE NOTICE 'none';
  END LOOP;
  RAISE NOTICE '%', FOUND;
END $$;
DO $$ DECLARE c CURSOR (a int, b int) FOR SELECT a; BEGIN OPEN c(b := 5, a => 5); END $$;
DO $$ DECLARE c CURSOR (a int) FOR SELECT a; BEGIN OPEN c; END $$;
DO $$ DECLARE c CURSOR FOR SELECT 1; BEGIN OPEN c(1); END $$;
DO $$ DECLARE c CURSOR (a int) FOR SELECT a; BEGIN OPEN c(1, 2); END $$;
DO $$ DECLARE c CURSOR (a int, b int) FOR SELECT a; BEGIN OPEN c(1); END $$;
DO $$ DECLARE c CURSOR (a int, b int) FOR SELECT a; BEGIN OPEN c(a := 1, a := 2); END $$;
DO $$ DECLARE c CURSOR (a int) FOR SELECT a; BEGIN OPEN c(b := 1); END $$;
DO $$ DECLARE c refcursor; BEGIN FOR r IN c LOOP NULL; END LOOP; END $$;
DO $$ DECLARE c CURSOR FOR SELECT 1; a int; b int; BEGIN FOR a, b IN c LOOP NULL; END LOOP; END $$;
DO $$ DECLARE c int; BEGIN OPEN c FOR SELECT 1; END $$;
DO $$ DECLARE c record; BEGIN OPEN c FOR SELECT 1; END $$;
DO $$ BEGIN OPEN nothing FOR SELECT 1; END $$;
DO $$ BEGIN CLOSE nothing; END $$;
DO $$ DECLARE c CURSOR FOR SELECT 1; a int; BEGIN OPEN c; FETCH ALL FROM c INTO a; END $$;
DO $$ DECLARE c CURSOR FOR SELECT 1; a int; BEGIN OPEN c; FETCH FORWARD 2 FROM c INTO a; END $$;
DO $$ DECLARE c CURSOR FOR SELECT 1; a int; BEGIN OPEN c; FETCH c; END $$;
DO $$ DECLARE c CURSOR FOR SELECT 1; a int; BEGIN FETCH c INTO a; END $$;
DO $$ DECLARE c CURSOR FOR SELECT 1; BEGIN CLOSE c; END $$;
DO $$ DECLARE c refcursor; a int; BEGIN FETCH c INTO a; END $$;
DO $$ DECLARE c refcursor; BEGIN CLOSE c; END $$;
DO $$ DECLARE c CURSOR FOR SELECT 1; BEGIN OPEN c; OPEN c; END $$;
DO $$ DECLARE c CURSOR FOR SELECT 1; a int; BEGIN OPEN c; FETCH ABSOLUTE NULL FROM c INTO a; END $$;
DO $$ DECLARE c NO SCROLL CURSOR FOR SELECT 1; a int; BEGIN OPEN c; FETCH c INTO a; RAISE NOTICE '%', a; FETCH PRIOR FROM c INTO a; END $$;
DO $$ DECLARE c SCROLL CURSOR FOR SELECT id FROM cur FOR UPDATE; BEGIN OPEN c; END $$;
DO $$ DECLARE c refcursor; BEGIN OPEN c FOR UPDATE cur SET n = n; END $$;
DO $$ DECLARE c refcursor; BEGIN OPEN c FOR EXECUTE 'VACUUM'; END $$;
DO $$ DECLARE c refcursor; BEGIN OPEN c FOR EXECUTE NULL; END $$;
DO $$ DECLARE c CURSOR FOR SELECT * FROM cur; BEGIN FOR r IN c LOOP CLOSE c; END LOOP; END $$;
-- Variables of refcursor, dynamic queries
DO $$
DECLARE
  c refcursor; d refcursor := 'named'; v text; r record;
BEGIN
  OPEN c FOR SELECT name FROM cur WHERE id = 3;
  FETCH c INTO v;
  RAISE NOTICE '%', v;
  CLOSE c;
  RAISE NOTICE '%', c IS NULL;
  OPEN c SCROLL FOR EXECUTE 'SELECT id, name FROM cur WHERE id > $1 ORDER BY ' || 'id DESC' USING 5;
  FETCH c INTO r;
  RAISE NOTICE '%', r;
  FETCH LAST FROM c INTO r;
  RAISE NOTICE '%', r;
  FETCH PRIOR FROM c INTO r;
  RAISE NOTICE '%', r;
  CLOSE c;
  OPEN d NO SCROLL FOR SELECT 1 AS one;
  FETCH d INTO r;
  RAISE NOTICE '% %', d, r.one;
  d := 'another';
  OPEN d FOR SELECT 2;
  PERFORM 1 FROM pg_cursors;
  RAISE NOTICE '%', (SELECT string_agg(name || ' ' || statement || ' ' || is_scrollable, ', ' ORDER BY name) FROM pg_cursors WHERE name IN ('named', 'another'));
END $$;
-- A cursor shows no change that came later
DO $$
DECLARE c CURSOR FOR SELECT count(*) FROM cur; k int;
BEGIN
  OPEN c;
  INSERT INTO cur VALUES (100, 'late', 0);
  FETCH c INTO k;
  RAISE NOTICE '%', k;
  DELETE FROM cur WHERE id = 100;
END $$;
-- WHERE CURRENT OF
DO $$
DECLARE
  c CURSOR FOR SELECT * FROM cur WHERE id < 5 FOR UPDATE;
  d CURSOR FOR SELECT id FROM cur WHERE id > 6;
  e refcursor;
  r record;
BEGIN
  FOR r IN c LOOP
    IF r.id % 2 = 0 THEN
      UPDATE cur SET name = 'even' || r.id WHERE CURRENT OF c;
    ELSE
      DELETE FROM cur WHERE CURRENT OF c;
    END IF;
  END LOOP;
  OPEN d;
  FETCH d INTO r;
  FETCH d INTO r;
  UPDATE cur SET name = 'by d' WHERE CURRENT OF d;
  OPEN e FOR SELECT * FROM cur WHERE id = 5 FOR UPDATE;
  MOVE e;
  UPDATE cur SET n = -1 WHERE CURRENT OF e;
END $$;
SELECT * FROM cur ORDER BY id;
DO $$ DECLARE c CURSOR FOR SELECT * FROM cur; BEGIN OPEN c; UPDATE cur SET n = 1 WHERE CURRENT OF c; END $$;
-- Results: the cursor lives on behind the function
CREATE FUNCTION opened(c refcursor) RETURNS refcursor LANGUAGE plpgsql AS $$
BEGIN
  OPEN c FOR SELECT id, name FROM cur ORDER BY id;
  RETURN c;
END $$;
CREATE FUNCTION unnamed() RETURNS refcursor LANGUAGE plpgsql AS $$
DECLARE c refcursor := 'fixed';
BEGIN
  OPEN c FOR SELECT id FROM cur ORDER BY id DESC;
  RETURN c;
END $$;
CREATE FUNCTION several(refcursor, refcursor) RETURNS SETOF refcursor LANGUAGE plpgsql AS $$
BEGIN
  OPEN $1 FOR SELECT 1 AS a;
  RETURN NEXT $1;
  OPEN $2 FOR SELECT 2 AS b, 3 AS c;
  RETURN NEXT $2;
END $$;
BEGIN;
SELECT opened('mine');
FETCH 2 FROM mine;
FETCH BACKWARD 1 FROM mine;
MOVE 2 IN mine;
SELECT unnamed();
FETCH ALL FROM fixed;
SELECT several('first', 'second');
FETCH ALL FROM first;
FETCH ALL FROM second;
SELECT name, statement, is_holdable, is_binary, is_scrollable FROM pg_cursors WHERE name IN ('mine', 'fixed', 'first', 'second') ORDER BY name;
UPDATE cur SET n = 0 WHERE CURRENT OF mine;
CLOSE mine;
COMMIT;
FETCH ALL FROM fixed;
-- A cursor that SQL has declared, read by a body
CREATE FUNCTION next_of(c refcursor) RETURNS text LANGUAGE plpgsql AS $$
DECLARE r record;
BEGIN
  FETCH c INTO r;
  RETURN r::text;
END $$;
BEGIN;
DECLARE outer_one CURSOR FOR SELECT id, name FROM cur ORDER BY id;
SELECT next_of('outer_one');
SELECT next_of('outer_one');
FETCH 1 FROM outer_one;
SELECT next_of('outer_one'), next_of('outer_one');
SELECT next_of('absent');
ROLLBACK;
-- Blocks with EXCEPTION
BEGIN;
DO $$
DECLARE c CURSOR FOR SELECT id FROM cur ORDER BY id; k int;
BEGIN
  BEGIN
    OPEN c;
    FETCH c INTO k;
    RAISE NOTICE '%', k;
    RAISE EXCEPTION 'away';
  EXCEPTION WHEN OTHERS THEN
    RAISE NOTICE '%', SQLERRM;
  END;
  BEGIN
    FETCH c INTO k;
  EXCEPTION WHEN invalid_cursor_name THEN
    RAISE NOTICE '%', SQLERRM;
  END;
  BEGIN
    OPEN c;
  EXCEPTION WHEN OTHERS THEN
    RAISE NOTICE '%', SQLERRM;
  END;
  FETCH c INTO k;
  RAISE NOTICE '%', k;
END $$;
COMMIT;
-- COMMIT within a loop over a cursor
CREATE PROCEDURE stepwise() LANGUAGE plpgsql AS $$
DECLARE c CURSOR FOR SELECT id FROM cur ORDER BY id;
BEGIN
  FOR r IN c LOOP
    UPDATE cur SET n = r.id WHERE id = r.id;
    IF r.id = 4 THEN ROLLBACK; ELSE COMMIT; END IF;
  END LOOP;
END $$;
CALL stepwise();
SELECT id, n FROM cur ORDER BY id;
-- Fields of fields
CREATE TYPE innermost AS (x int, y int);
CREATE TYPE middle AS (i innermost, z text, many innermost[]);
DO $$
DECLARE m middle; r record; a middle[];
BEGIN
  m.i.x := 1;
  m.i.y := 2;
  m.z := 'z';
  RAISE NOTICE '%', m;
  m.many[2].y := 7;
  RAISE NOTICE '%', m;
  SELECT m AS whole, 5 AS five INTO r;
  r.whole.i.y := 22;
  RAISE NOTICE '%', r;
  a[1].i.x := 3;
  RAISE NOTICE '%', a;
END $$;
DO $$ DECLARE m middle; BEGIN SELECT 9, 'nine' INTO m.i.x, m.z; END $$;
DROP FUNCTION opened(refcursor), unnamed(), several(refcursor, refcursor), next_of(refcursor);
DROP PROCEDURE stepwise();
DROP TABLE cur;
DROP TYPE middle, innermost;
