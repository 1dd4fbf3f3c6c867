-- INTO: values that variables take as they are, blanks at the end of character(n), NOT NULL, NULL, no row, domains, types of columns that change between calls.
CREATE DOMAIN given AS text CHECK (VALUE <> 'no') NOT NULL;
CREATE TABLE kept_rows (id int PRIMARY KEY, code char(6), name varchar(10), price numeric(6, 2), part real, noted timestamp, wide bigint);
INSERT INTO kept_rows VALUES (1, 'ab', 'one  ', 1.50, 0.5, '2020-01-02 03:04:05', 7), (2, 'cd  ', NULL, NULL, NULL, NULL, NULL), (3, NULL, 'no', 3, 1, 'infinity', 9);
CREATE FUNCTION into_scalars(n int) RETURNS SETOF text LANGUAGE plpgsql AS $$ DECLARE c text := 'c'; v text := 'v'; p numeric := 0; r real := 0; t timestamp; w bigint := 0; b char(6) := 'b'; BEGIN
  FOR i IN 1 .. 2 LOOP
    SELECT code, name, price, part, noted, wide, code INTO c, v, p, r, t, w, b FROM kept_rows WHERE id = n;
    RETURN NEXT format('%s|%s|%s|%s|%s|%s|%s|%s|%s', FOUND, c, length(c), v, p, r, t, w, octet_length(b));
    UPDATE kept_rows SET wide = wide + i WHERE id = n RETURNING code, name, wide INTO c, v, w;
    RETURN NEXT format('%s|%s|%s|%s|%s', FOUND, c, length(c), v, w);
  END LOOP;
END $$;
SELECT * FROM into_scalars(1);
SELECT * FROM into_scalars(2);
SELECT * FROM into_scalars(3);
SELECT * FROM into_scalars(4);
CREATE FUNCTION into_not_null(n int) RETURNS text LANGUAGE plpgsql AS $$ DECLARE c text NOT NULL := 'c'; w bigint := 0; BEGIN
  SELECT wide, code INTO w, c FROM kept_rows WHERE id = n;
  RETURN format('%s|%s', w, c);
EXCEPTION WHEN null_value_not_allowed THEN RETURN format('%s|%s|%s', SQLERRM, w, c);
END $$;
SELECT into_not_null(n) FROM generate_series(1, 4) n;
CREATE FUNCTION into_domain(n int) RETURNS text LANGUAGE plpgsql AS $$ DECLARE d given := 'd'; BEGIN
  SELECT name INTO d FROM kept_rows WHERE id = n;
  RETURN d;
END $$;
SELECT into_domain(1);
SELECT into_domain(2);
SELECT into_domain(3);
CREATE FUNCTION into_same(n int) RETURNS text LANGUAGE plpgsql AS $$ DECLARE a text; BEGIN
  SELECT code, name INTO a, a FROM kept_rows WHERE id = n;
  RETURN a || '|';
END $$;
SELECT into_same(n) FROM generate_series(1, 3) n;
CREATE FUNCTION into_fewer(n int) RETURNS text LANGUAGE plpgsql AS $$ DECLARE a text := 'a'; b text := 'b'; BEGIN
  SELECT code INTO a, b FROM kept_rows WHERE id = n;
  SELECT code, name, wide INTO a FROM kept_rows WHERE id = n;
  RETURN format('%s|%s', a, b);
END $$;
SELECT into_fewer(n) FROM generate_series(1, 3) n;
CREATE FUNCTION into_other_types(n int) RETURNS text LANGUAGE plpgsql AS $$ DECLARE i int; s smallint; f float8; v varchar(2); b char(2); BEGIN
  SELECT wide, wide, price, code, name INTO i, s, f, v, b FROM kept_rows WHERE id = n;
  RETURN format('%s|%s|%s|%s|%s', i, s, f, v, b);
END $$;
SELECT into_other_types(1);
SELECT into_other_types(2);
UPDATE kept_rows SET name = 'x', code = 'yz', wide = 70000 WHERE id = 1;
SELECT into_other_types(1);
UPDATE kept_rows SET wide = 7 WHERE id = 1;
SELECT into_other_types(1);
-- The types of columns change between two calls.
BEGIN;
SELECT into_scalars(1);
ALTER TABLE kept_rows ALTER code TYPE text USING code || '  ';
SELECT into_scalars(1);
ALTER TABLE kept_rows ALTER code TYPE char(9), ALTER wide TYPE int;
SELECT into_scalars(1);
ROLLBACK;
SELECT into_scalars(1);
-- A cast of one's own stands between two types.
CREATE TYPE mood AS ENUM ('low', 'high');
CREATE TABLE moods (id int PRIMARY KEY, is_now mood);
INSERT INTO moods VALUES (1, 'low'), (2, NULL);
CREATE FUNCTION mood_text(mood) RETURNS text STRICT LANGUAGE sql AS $$ SELECT 'mood ' || CASE $1 WHEN 'low' THEN 1 ELSE 2 END $$;
CREATE CAST (mood AS text) WITH FUNCTION mood_text(mood) AS ASSIGNMENT;
CREATE FUNCTION into_text(n int) RETURNS SETOF text LANGUAGE plpgsql AS $$ DECLARE t text; BEGIN FOR i IN 1 .. 2 LOOP SELECT is_now INTO t FROM moods WHERE id = n; RETURN NEXT t; END LOOP; END $$;
SELECT into_text(1);
-- A record takes the row as it is.
CREATE FUNCTION into_record(n int) RETURNS text LANGUAGE plpgsql AS $$ DECLARE r record; k kept_rows; BEGIN
  SELECT code, name INTO r FROM kept_rows WHERE id = n;
  SELECT * INTO k FROM kept_rows WHERE id = n;
  IF k.id IS NULL THEN RETURN format('%s %s', r, length(r.code)); END IF;
  RETURN format('%s %s %s %s', r, length(r.code), k, octet_length(k.code));
END $$;
SELECT into_record(n) FROM generate_series(1, 4) n;
DROP FUNCTION into_scalars(int), into_not_null(int), into_domain(int), into_same(int), into_fewer(int), into_other_types(int), into_text(int), into_record(int);
DROP TABLE kept_rows, moods;
DROP CAST (mood AS text);
DROP FUNCTION mood_text(mood);
DROP TYPE mood;
DROP DOMAIN given;
