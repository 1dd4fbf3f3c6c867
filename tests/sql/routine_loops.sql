-- Loops over rows and arrays: where their rows go, how they are left, what they say of FOUND, and what changes while they run.
CREATE TABLE numbered AS SELECT g AS n, g * 10 AS tens, 'text ' || g AS said FROM generate_series(1, 120) g;
ALTER TABLE numbered ADD PRIMARY KEY (n);

CREATE FUNCTION into_record() RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE s bigint := 0; r record; BEGIN
  FOR r IN SELECT n, tens, said FROM numbered ORDER BY n LOOP
    s := s + r.n + r.tens + length(r.said);
  END LOOP;
  RAISE NOTICE 'found %, last %', found, r;
  RETURN s;
END $$;
SELECT into_record(), into_record();

CREATE FUNCTION into_variables() RETURNS text LANGUAGE plpgsql AS $$
DECLARE a int; b bigint; c varchar(6); d text; t text := ''; BEGIN
  FOR a, b, c, d IN SELECT n, tens, left(said, 6), n FROM numbered WHERE n % 7 = 0 ORDER BY n LOOP
    t := t || a || '/' || b || '/' || c || '/' || d || ' ';
  END LOOP;
  RETURN t;
END $$;
SELECT into_variables();

-- Values that become others on their way, and one that does not fit.
CREATE FUNCTION converted(most int) RETURNS text LANGUAGE plpgsql AS $$
DECLARE a smallint; b varchar(7); t text := ''; BEGIN
  FOR a, b IN SELECT n * 300, said FROM numbered WHERE n <= most ORDER BY n LOOP
    t := t || a || b || ' ';
  END LOOP;
  RETURN t;
END $$;
SELECT converted(9);
SELECT converted(10);
SELECT converted(119);

CREATE FUNCTION not_null(least int) RETURNS text LANGUAGE plpgsql AS $$
DECLARE a int NOT NULL := 0; t text := ''; BEGIN
  FOR a IN SELECT nullif(n, 15) FROM numbered WHERE n >= least ORDER BY n LIMIT 12 LOOP
    t := t || a || ' ';
  END LOOP;
  RETURN t;
END $$;
SELECT not_null(20);
SELECT not_null(3);

-- Fewer and more columns than variables.
CREATE FUNCTION of_other_width() RETURNS text LANGUAGE plpgsql AS $$
DECLARE a int; b int; t text := ''; BEGIN
  FOR a, b IN SELECT n FROM numbered WHERE n < 3 ORDER BY n LOOP t := t || coalesce(a, 0) || coalesce(b, 0) || ' '; END LOOP;
  FOR a, b IN SELECT n, tens, said FROM numbered WHERE n < 3 ORDER BY n LOOP t := t || a || b || ' '; END LOOP;
  RETURN t;
END $$;
SELECT of_other_width();

-- Rows of a table's type, and of a record that the body makes another one.
CREATE FUNCTION of_row_type() RETURNS text LANGUAGE plpgsql AS $$
DECLARE r numbered; t text := ''; BEGIN
  FOR r IN SELECT * FROM numbered WHERE n < 4 ORDER BY n LOOP
    r.tens := r.tens + 1;
    t := t || r.said || r.tens || ' ';
  END LOOP;
  FOR r IN SELECT * FROM numbered WHERE n < 0 LOOP t := t || 'never'; END LOOP;
  RETURN t || coalesce(r.said, 'nothing') || found;
END $$;
SELECT of_row_type();

CREATE FUNCTION reshaped() RETURNS text LANGUAGE plpgsql AS $$
DECLARE r record; t text := ''; q text; BEGIN
  FOREACH q IN ARRAY ARRAY['SELECT n AS a FROM numbered WHERE n < 3', 'SELECT said AS b, n AS a FROM numbered WHERE n < 3', 'SELECT tens AS a FROM numbered WHERE n < 3'] LOOP
    FOR r IN EXECUTE q || ' ORDER BY n' LOOP
      t := t || r.a || ' ';
      IF r.a = 2 THEN
        SELECT 5 AS a, 'other' AS c INTO r;
        t := t || r.a || r.c || ' ';
      END IF;
    END LOOP;
  END LOOP;
  RETURN t || r;
END $$;
SELECT reshaped();
SELECT reshaped();

-- The fields of a record that has none yet, and of one that never had this one.
CREATE FUNCTION without_field() RETURNS text LANGUAGE plpgsql AS $$
DECLARE r record; BEGIN
  FOR r IN SELECT n FROM numbered ORDER BY n LOOP
    IF r.n > 60 THEN RETURN r.m; END IF;
  END LOOP;
END $$;
SELECT without_field();

-- Loops within loops, left by their labels.
CREATE FUNCTION labelled() RETURNS text LANGUAGE plpgsql AS $$
DECLARE a record; b record; i int; t text := ''; BEGIN
  <<outer>>
  FOR a IN SELECT n FROM numbered ORDER BY n LOOP
    <<inner>>
    FOR b IN SELECT n FROM numbered WHERE n >= a.n ORDER BY n LOOP
      CONTINUE outer WHEN b.n > a.n + 2;
      CONTINUE WHEN b.n = 2;
      FOREACH i IN ARRAY ARRAY[a.n, b.n, 6] LOOP
        EXIT inner WHEN i = 3;
        EXIT outer WHEN i = 5;
        t := t || a.n || b.n || i || ' ';
      END LOOP;
    END LOOP inner;
    t := t || '| ';
  END LOOP outer;
  RETURN t || found;
END $$;
SELECT labelled();
SELECT labelled();

-- FOUND behind each kind of loop, also where RETURN gives it.
CREATE FUNCTION finds(kind text, least int) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE r record; i int; c CURSOR FOR SELECT n FROM numbered WHERE n >= least; BEGIN
  CASE kind
    WHEN 'rows' THEN FOR r IN SELECT n FROM numbered WHERE n >= least LOOP NULL; END LOOP;
    WHEN 'left' THEN FOR r IN SELECT n FROM numbered WHERE n >= least LOOP EXIT; END LOOP;
    WHEN 'cursor' THEN FOR r IN c LOOP NULL; END LOOP;
    WHEN 'array' THEN FOREACH i IN ARRAY array_fill(1, ARRAY[least - 100]) LOOP NULL; END LOOP;
    WHEN 'integers' THEN FOR i IN least .. 110 LOOP NULL; END LOOP;
    WHEN 'return' THEN FOR r IN SELECT n FROM numbered WHERE n >= least LOOP PERFORM 1 WHERE false; RETURN found; END LOOP;
    WHEN 'count' THEN FOR i IN least .. 110 LOOP PERFORM 1 WHERE false; RETURN found; END LOOP;
    WHEN 'each' THEN FOREACH i IN ARRAY ARRAY[1, 2] LOOP PERFORM 1 WHERE false; RETURN found; END LOOP;
  END CASE;
  RETURN found;
END $$;
SELECT kind, finds(kind, 105), finds(kind, 105) AS again, finds(kind, CASE kind WHEN 'array' THEN 100 ELSE 200 END) AS none
  FROM unnest(ARRAY['rows', 'left', 'cursor', 'array', 'integers', 'return', 'count', 'each']) kind;

-- Errors: of the query at a later row, of the body, of a loop that is in a block that handles it.
CREATE FUNCTION fails_in_query(nought int) RETURNS int LANGUAGE plpgsql AS $$
DECLARE r record; s int := 0; BEGIN
  FOR r IN SELECT n, 100 / (n - nought) AS q FROM generate_series(1, 120) n LOOP
    s := s + r.q;
    IF r.n = 5 THEN RAISE NOTICE 'at %', r.n; END IF;
  END LOOP;
  RETURN s;
END $$;
SELECT fails_in_query(3);
SELECT fails_in_query(30);
SELECT fails_in_query(1000);

CREATE FUNCTION handles() RETURNS text LANGUAGE plpgsql AS $$
DECLARE a record; b record; t text := ''; BEGIN
  FOR a IN SELECT n FROM numbered WHERE n < 6 ORDER BY n LOOP
    BEGIN
      FOR b IN SELECT n, 6 / (n - a.n - 1) AS q FROM numbered WHERE n < 5 ORDER BY n LOOP
        t := t || b.q || ' ';
        IF b.q = 6 THEN RAISE EXCEPTION 'six at %', b.n; END IF;
      END LOOP;
      t := t || 'whole ';
    EXCEPTION
      WHEN division_by_zero THEN t := t || 'zero ';
      WHEN raise_exception THEN t := t || sqlerrm || ' ';
    END;
  END LOOP;
  RETURN t || a.n;
END $$;
SELECT handles();
SELECT handles();

-- What is changed while a loop runs: its rows are those of its beginning.
CREATE FUNCTION changes_below() RETURNS text LANGUAGE plpgsql AS $$
DECLARE r record; c int := 0; BEGIN
  FOR r IN SELECT n, tens FROM numbered WHERE n <= 70 ORDER BY n LOOP
    c := c + 1;
    UPDATE numbered SET tens = -1 WHERE n = r.n + 1;
    DELETE FROM numbered WHERE n = 71 - r.n;
    IF r.tens < 0 THEN RETURN 'seen at ' || r.n; END IF;
  END LOOP;
  RETURN c || ' rounds, ' || (SELECT count(*) FROM numbered);
END $$;
BEGIN;
SELECT changes_below();
ROLLBACK;

-- A loop whose query writes, and one over what it returns.
CREATE FUNCTION writes() RETURNS text LANGUAGE plpgsql AS $$
DECLARE r record; t text := ''; BEGIN
  FOR r IN UPDATE numbered SET tens = tens + 1 WHERE n < 4 RETURNING n, tens LOOP t := t || r.n || '-' || r.tens || ' '; END LOOP;
  FOR r IN DELETE FROM numbered WHERE n > 118 RETURNING said LOOP t := t || r.said || ' '; END LOOP;
  RETURN t || found;
END $$;
BEGIN;
SELECT writes();
ROLLBACK;

-- A body that goes on in another plan: its table becomes another one, and a function that it calls too.
CREATE FUNCTION twice(v int) RETURNS int LANGUAGE plpgsql AS $$ BEGIN RETURN v * 2; END $$;
CREATE FUNCTION redefines() RETURNS text LANGUAGE plpgsql AS $$
DECLARE r record; t text := ''; BEGIN
  FOR r IN SELECT n FROM numbered WHERE n < 5 ORDER BY n LOOP
    t := t || twice(r.n) || ' ';
    IF r.n = 2 THEN
      CREATE OR REPLACE FUNCTION twice(v int) RETURNS int LANGUAGE plpgsql AS 'BEGIN RETURN v * 20; END';
    END IF;
  END LOOP;
  RETURN t;
END $$;
BEGIN;
SELECT redefines();
SELECT redefines();
ROLLBACK;

-- Procedures that end the transaction within their loops.
CREATE TABLE kept (n int);
CREATE PROCEDURE commits() LANGUAGE plpgsql AS $$
DECLARE r record; i int; BEGIN
  FOR r IN SELECT n FROM numbered WHERE n < 6 ORDER BY n LOOP
    INSERT INTO kept VALUES (r.n);
    IF r.n % 2 = 0 THEN ROLLBACK; ELSE COMMIT; END IF;
  END LOOP;
  FOREACH i IN ARRAY ARRAY[70, 80, 90] LOOP
    INSERT INTO kept VALUES (i);
    IF i = 80 THEN ROLLBACK; ELSE COMMIT; END IF;
  END LOOP;
END $$;
CALL commits();
SELECT n FROM kept ORDER BY n;

-- Cursors: the row at hand may be changed by it.
CREATE FUNCTION current_of() RETURNS text LANGUAGE plpgsql AS $$
DECLARE c CURSOR (least int) FOR SELECT n, tens FROM numbered WHERE n >= least ORDER BY n FOR UPDATE; t text := ''; BEGIN
  FOR r IN c (117) LOOP
    IF r.n = 118 THEN UPDATE numbered SET tens = 0 WHERE CURRENT OF c; END IF;
    t := t || r.n || coalesce(c::text, 'none') || ' ';
    EXIT WHEN r.n = 119;
  END LOOP;
  RETURN t || coalesce(c::text, 'none') || (SELECT string_agg(tens::text, ' ' ORDER BY n) FROM numbered WHERE n > 116);
END $$;
BEGIN;
SELECT regexp_replace(current_of(), '<unnamed portal \d+>', 'c', 'g');
ROLLBACK;

-- Arrays: slices, elements that are rows, NULLs among them.
CREATE FUNCTION sliced(VARIADIC a int[]) RETURNS text LANGUAGE plpgsql AS $$
DECLARE e int; s int[]; p numbered; f int; g int; h text; t text := ''; BEGIN
  FOREACH e IN ARRAY a LOOP t := t || coalesce(e, -1) || ' '; END LOOP;
  FOREACH s SLICE 1 IN ARRAY ARRAY[[1, 2], [3, NULL]] LOOP t := t || s::text || ' '; END LOOP;
  FOREACH s SLICE 2 IN ARRAY ARRAY[[1, 2], [3, NULL]] LOOP t := t || s::text || ' '; END LOOP;
  FOREACH p IN ARRAY (SELECT array_agg(x ORDER BY x) FROM numbered x WHERE x.n < 3) LOOP t := t || p.said || ' '; END LOOP;
  FOREACH f, g, h IN ARRAY (SELECT array_agg(x ORDER BY x) FROM numbered x WHERE x.n < 3) LOOP t := t || f || h || g || ' '; END LOOP;
  RETURN t;
END $$;
SELECT sliced(4, NULL, 5);
DO $$ DECLARE e smallint; BEGIN FOREACH e IN ARRAY ARRAY[1, 70000] LOOP RAISE NOTICE 'element %', e; END LOOP; END $$;
DO $$ DECLARE p numbered; BEGIN FOREACH p IN ARRAY ARRAY[1, 2] LOOP NULL; END LOOP; END $$;
DO $$ DECLARE e int; BEGIN FOREACH e IN ARRAY NULL::int[] LOOP NULL; END LOOP; END $$;
DO $$ DECLARE e int; BEGIN FOREACH e IN ARRAY 5 LOOP NULL; END LOOP; END $$;
DO $$ DECLARE e int[]; BEGIN FOREACH e SLICE 3 IN ARRAY ARRAY[1, 2] LOOP NULL; END LOOP; END $$;
CREATE TABLE looped (a int, b text);
INSERT INTO looped SELECT g, 'row ' || g FROM generate_series(1, 120) g;
DO $$ DECLARE r looped; n int := 0; BEGIN FOR r IN SELECT * FROM looped ORDER BY a LOOP n := n + r.a; END LOOP; RAISE NOTICE '% % %', n, r.a, r; END $$;
DO $$ DECLARE r looped%ROWTYPE; n int := 0; t text := ''; BEGIN FOR r IN SELECT * FROM looped ORDER BY a LOOP r.a := r.a * 2; n := n + r.a; IF r.a > 200 THEN t := t || r.b; END IF; EXIT WHEN r.a = 210; END LOOP; RAISE NOTICE '% % %', n, t, r; END $$;
DO $$ DECLARE r looped; n int := 0; BEGIN r.a := 7; FOR r IN SELECT a, b FROM looped WHERE a < 1 LOOP n := n + 1; END LOOP; RAISE NOTICE '% % %', n, r, r IS NULL; END $$;
DO $$ DECLARE r looped; s looped; BEGIN FOR r IN SELECT * FROM looped ORDER BY a LOOP s := r; IF r.a = 60 THEN INSERT INTO looped VALUES (-r.a, r.b); END IF; END LOOP; RAISE NOTICE '% %', s, r; END $$;
DO $$ DECLARE r looped; n int := 0; BEGIN FOR r IN SELECT b, a FROM looped LOOP n := n + 1; END LOOP; END $$;
DO $$ DECLARE r looped; n int := 0; BEGIN FOR r IN SELECT a FROM looped WHERE a > 118 ORDER BY a LOOP RAISE NOTICE '%', r; END LOOP; END $$;
DO $$ DECLARE r looped; n int := 0; BEGIN FOR r IN SELECT a, b FROM looped ORDER BY a LOOP n := n + 100 / (r.a - 75); END LOOP; EXCEPTION WHEN division_by_zero THEN RAISE NOTICE '% %', n, r; END $$;
DO $$ DECLARE r looped; n int := 0; BEGIN FOR r IN SELECT a, b FROM looped ORDER BY a LOOP IF r.b IS NULL OR r.a % 50 = 0 THEN CONTINUE; END IF; n := n + length(r.b); END LOOP; RAISE NOTICE '%', n; END $$;
