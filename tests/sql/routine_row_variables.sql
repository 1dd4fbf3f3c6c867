-- Variables of a table's rows: what a statement gives stands in them field by field, and is one value where somebody reads it so.
CREATE TABLE goods (id int PRIMARY KEY, name varchar(12), mark char(4), price numeric(6,2), tags text[], since date, span interval);
INSERT INTO goods VALUES (1, 'one', 'a', 1.50, '{x,y}', '2020-01-02', '1 day 02:00'), (2, 'two', 'bb', NULL, NULL, NULL, NULL), (3, 'three', 'ccc', 33.25, '{}', '2024-02-29', '3 mons');
CREATE TYPE pair AS (a int, b text);

CREATE FUNCTION read_fields(wanted int) RETURNS text LANGUAGE plpgsql AS $$
DECLARE g goods; h goods%ROWTYPE; t text := ''; n numeric; BEGIN
  SELECT * INTO g FROM goods WHERE id = wanted;
  t := g.name || '/' || g.mark || '/' || coalesce(g.price::text, '-') || found;
  n := g.price * 2;
  h := g;
  g.price := 7; g.tags[2] := 'z';
  RETURN concat_ws(' ', t, n, g, h, g.id + 1, h.price, (g).since, h.span, g IS NULL, h IS NOT NULL);
END $$;
SELECT read_fields(1), read_fields(2), read_fields(3);
SELECT read_fields(4);

-- A block begins with no row each time, and a statement without one leaves NULLs.
DO $$ DECLARE t text := ''; BEGIN
  FOR i IN 1..5 LOOP
    DECLARE g goods; r record; BEGIN
      t := t || coalesce(g.name, '-') || coalesce(g::text, 'NULL');
      SELECT * INTO g FROM goods WHERE id = i;
      SELECT id, name INTO r FROM goods WHERE id = i;
      t := t || ':' || coalesce(g.name, '-') || g::text || r::text || found || ' ';
      EXIT WHEN g.id IS NULL AND i > 4;
    END;
  END LOOP;
  RAISE NOTICE '%', t;
END $$;

-- Statements, calls, conditions and loops read rows and their fields between statements that change them.
CREATE FUNCTION shown(g goods) RETURNS text LANGUAGE plpgsql AS $$ BEGIN RETURN 'shown ' || g.id || coalesce(g.name, '?'); END $$;
CREATE FUNCTION id_of(i int) RETURNS int LANGUAGE plpgsql AS $$ BEGIN RETURN i + 100; END $$;
CREATE TABLE kept (k int, whole goods, name text);
DO $$ DECLARE g goods; o goods; r record; n int; BEGIN
  FOR i IN 1..3 LOOP
    UPDATE goods SET price = coalesce(price, 0) + i WHERE id = i RETURNING * INTO STRICT g;
    INSERT INTO kept VALUES (i, g, g.name) RETURNING (whole).* INTO o;
    INSERT INTO kept (k, name) SELECT g.id + 10, x.name FROM goods x WHERE x.id = g.id RETURNING * INTO r;
    RAISE NOTICE '% % % %', g, o, r, r.k;
    IF (SELECT count(*) FROM kept WHERE whole = g) > 0 AND g.id > 1 THEN RAISE NOTICE 'found % of %', g.name, g; END IF;
    PERFORM 1 FROM goods WHERE goods = g;
    RAISE NOTICE '% % %', found, shown(g), id_of(g.id);
    n := id_of(g.id); g.id := n;
    o := g; o.name := 'other'; SELECT o.id, left(g.name, 4) INTO g.id, o.mark;
    RAISE NOTICE '% | %', g, o;
    FOR r IN SELECT * FROM goods WHERE id > g.id - 102 AND id <> i ORDER BY id LOOP g.mark := r.mark; o := r; RAISE NOTICE '% %', g.mark, o; END LOOP;
  END LOOP;
END $$;
SELECT * FROM kept ORDER BY k;
DROP TABLE kept;

-- Handlers find what stood in the variables before.
CREATE FUNCTION handled(i int) RETURNS text LANGUAGE plpgsql AS $$
DECLARE g goods; p pair; t text := ''; BEGIN
  SELECT * INTO g FROM goods WHERE id = 1;
  BEGIN
    SELECT * INTO STRICT g FROM goods WHERE id >= i;
    t := 'one ';
    SELECT 1 / (g.id - 3), 'x' INTO p;
  EXCEPTION WHEN too_many_rows OR no_data_found THEN t := t || sqlstate || ' ';
    WHEN division_by_zero THEN t := t || 'divided '; p := (g.id, g.name);
  END;
  RETURN t || g || coalesce(p::text, 'none');
END $$;
SELECT handled(1), handled(3), handled(4);

-- Columns of other types, fewer and more than there are fields; domains; NOT NULL.
CREATE DOMAIN small AS int CHECK (VALUE < 10);
CREATE TYPE narrow AS (s small, v varchar(3));
DO $$ DECLARE p pair; q narrow; BEGIN
  SELECT 1.6, 5 INTO p; RAISE NOTICE '%', p;
  SELECT 2 INTO p; RAISE NOTICE '%', p;
  SELECT 3, 'c', 'd' INTO p; RAISE NOTICE '% %', p, p.b;
  SELECT 9, 'abc' INTO q; RAISE NOTICE '% %', q, q.v;
  SELECT 9, 'abcd' INTO q; RAISE NOTICE '%', q;
END $$;
DO $$ DECLARE q narrow; BEGIN SELECT 10, 'a' INTO q; RAISE NOTICE '%', q; END $$;
CREATE DOMAIN few AS pair CHECK ((VALUE).a < 5);
DO $$ DECLARE p few; BEGIN SELECT 4, 'x' INTO p; RAISE NOTICE '% %', p, p.a; SELECT 5, 'y' INTO p; RAISE NOTICE '%', p; END $$;

-- The table changes between two calls, and while a body runs.
CREATE FUNCTION newest() RETURNS text LANGUAGE plpgsql AS $$ DECLARE g goods; BEGIN SELECT * INTO g FROM goods WHERE id = 2; RETURN g::text || g.name; END $$;
SELECT newest(), newest();
ALTER TABLE goods DROP COLUMN tags;
SELECT newest();
ALTER TABLE goods ADD COLUMN tags int DEFAULT 5;
SELECT newest(), newest();
CREATE FUNCTION follows() RETURNS text LANGUAGE plpgsql AS $$ DECLARE g goods; t text := ''; BEGIN
  FOR i IN 1..3 LOOP SELECT * INTO g FROM goods WHERE id = 2; t := t || g::text; IF i = 1 THEN EXECUTE 'ALTER TABLE goods ALTER COLUMN tags SET DEFAULT 6'; END IF; END LOOP; RETURN t; END $$;
SELECT follows();

-- Returned: as a row, from a function that only computes, from a trigger, by OUT parameters and in sets.
CREATE FUNCTION good(i int) RETURNS goods LANGUAGE plpgsql AS $$ DECLARE g goods; BEGIN SELECT * INTO g FROM goods WHERE id = i; RETURN g; END $$;
SELECT good(1), (good(3)).name, good(9) IS NULL;
CREATE FUNCTION good_of(i int) RETURNS text LANGUAGE plpgsql AS $$ DECLARE g goods; BEGIN g := good(i); g.name := g.name || '!'; RETURN g.name || g.id; END $$;
SELECT good_of(1), good_of(3);
CREATE FUNCTION good_out(i int, OUT g goods, OUT n text) LANGUAGE plpgsql AS $$ BEGIN SELECT * INTO g FROM goods WHERE id = i; n := g.name; END $$;
SELECT * FROM good_out(2);
CREATE FUNCTION goods_of() RETURNS SETOF goods LANGUAGE plpgsql AS $$ DECLARE g goods; BEGIN FOR i IN 1..3 LOOP SELECT * INTO g FROM goods WHERE id = i; RETURN NEXT g; END LOOP; END $$;
SELECT * FROM goods_of();
CREATE FUNCTION replaces() RETURNS trigger LANGUAGE plpgsql AS $$ DECLARE g goods; BEGIN SELECT * INTO g FROM goods WHERE id = 1; g.id := NEW.id; IF NEW.name = 'new' THEN RETURN NEW; END IF; RETURN g; END $$;
CREATE TRIGGER replaces BEFORE INSERT ON goods FOR EACH ROW EXECUTE FUNCTION replaces();
INSERT INTO goods (id, name) VALUES (10, 'new'), (11, 'old'), (12, 'new') RETURNING *;

-- The element of a list that a subscript says: there, not there, NULL, of fields, of rows that are none.
CREATE FUNCTION picked(i int) RETURNS text LANGUAGE plpgsql AS $$
DECLARE g goods; n goods; a int := 7; b int; t text; c char(4); BEGIN
  SELECT * INTO g FROM goods WHERE id = 1;
  b := (ARRAY[a, i, 30, NULL])[i];
  t := (ARRAY[g.name, n.name, 'end'])[i];
  c := (ARRAY[g.mark, n.mark])[i];
  RETURN concat_ws(',', b, t, c || '.', (ARRAY[a, b])[i - 1], (ARRAY[g.id, a / nullif(i, 0)])[1], (ARRAY[[1, 2], [3, 4]])[i][1], (ARRAY[g, n])[i]);
END $$;
SELECT i, picked(i) FROM unnest('{0,1,2,3,4,5,NULL,-1}'::int[]) i;
DO $$ BEGIN RAISE NOTICE '%', (ARRAY[1, 2])[1 / (SELECT 0)]; END $$;

-- Arrays that grow by one element of any type, where they begin elsewhere, and with NULLs.
DO $$ DECLARE n text[]; m numeric[] := '{}'; d date[] := '[5:5]={2020-01-01}'; s smallint[] := '{1}'; p pair[]; v varchar(3)[]; b bool[] := '{t}'; BEGIN
  FOR i IN 1..4 LOOP
    n[i] := CASE WHEN i = 3 THEN NULL ELSE 'text ' || i END; m[i] := i / 4.0; d[5 + i] := date '2020-01-01' + i; s[i + 1] := i; p[i] := (i, 'p'); v[i] := 'v' || i; b[i + 1] := i > 2;
    n[1] := n[1] || '+';
  END LOOP;
  RAISE NOTICE '% % % % % % %', n, m, d, s, p, v, b;
  n[6] := 'gap'; m[0] := 0; d[4] := NULL; RAISE NOTICE '% % %', n, m, d;
  v[5] := 'long'; RAISE NOTICE '%', v;
END $$;
DO $$ DECLARE v varchar(3)[] := '{a}'; BEGIN v[2] := 'long'; RAISE NOTICE '%', v; END $$;
