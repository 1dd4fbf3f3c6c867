-- Record variables: rows that come field by field and are read, changed, copied and given on as wholes.
CREATE TABLE rows_of AS SELECT g AS n, 'text ' || g AS said, g / 3.0 AS part, ARRAY[g, g + 1] AS two FROM generate_series(1, 8) g;

CREATE FUNCTION changed() RETURNS SETOF text LANGUAGE plpgsql AS $$ DECLARE r record; was record; q rows_of; BEGIN
  FOR r IN SELECT * FROM rows_of ORDER BY n LOOP
    r.said := r.said || '-' || r.n;
    r.n := r.n * 2;
    CONTINUE WHEN r.n % 4 = 0;
    IF was IS NULL THEN RETURN NEXT 'first ' || r::text; END IF;
    was := r;
    r.n := -r.n;
    r.two := r.two || r.n;
    q := r;
    q.said := 'q ' || q.said;
    RETURN NEXT format('%s %s %s %s', r, was, q, r IS NOT DISTINCT FROM was);
  END LOOP;
  RETURN NEXT concat('at the end ', r, ' ', was);
END $$;
SELECT * FROM changed();

-- Many values, one after the other, in one field.
CREATE FUNCTION grows(times int) RETURNS text LANGUAGE plpgsql AS $$ DECLARE r record; BEGIN
  SELECT 0 AS n, ''::text AS said, 0::numeric AS part INTO r;
  FOR i IN 1..times LOOP
    r.n := r.n + 1; r.part := r.part + 0.5; r.said := CASE WHEN length(r.said) > 40 THEN '' ELSE r.said || i END;
  END LOOP;
  RETURN r::text || row_to_json(r);
END $$;
SELECT grows(5), grows(3000);

-- INTO, RETURNING INTO, loops of other shapes in the same variable, and none.
CREATE FUNCTION shapes() RETURNS SETOF text LANGUAGE plpgsql AS $$ DECLARE r record; n int; BEGIN
  SELECT n AS x, said INTO r FROM rows_of WHERE rows_of.n = 3;
  RETURN NEXT concat(r.x, r.said, found, r);
  SELECT said INTO r FROM rows_of WHERE rows_of.n = 333;
  RETURN NEXT concat(r.said IS NULL, found, r, r IS NULL);
  UPDATE rows_of SET part = part + 1 WHERE rows_of.n = 3 RETURNING * INTO r;
  RETURN NEXT concat(r.part, r.two, found, r);
  FOR r IN SELECT 1 AS a, 2 AS b UNION ALL SELECT 3, 4 LOOP
    FOR r IN SELECT r.a AS a, r.b AS b, r.a + r.b AS c LOOP RETURN NEXT concat(r.a, r.b, r.c, r); END LOOP;
    RETURN NEXT concat(r.a, r);
  END LOOP;
  FOR r IN SELECT 1 AS a WHERE false LOOP NULL; END LOOP;
  RETURN NEXT concat(r IS NULL, r, found);
  BEGIN RETURN NEXT r.b; EXCEPTION WHEN undefined_column THEN RETURN NEXT 'no b: ' || sqlerrm; END;
  FOR r IN EXECUTE 'SELECT $1 AS a, $1 + 1 AS b' USING 5 LOOP RETURN NEXT concat(r.a, r.b, r); END LOOP;
  r := NULL; RETURN NEXT concat(r.a IS NULL, r IS NULL);
  SELECT * FROM rows_of WHERE rows_of.n = 4 INTO r; n := r.n; RETURN NEXT n;
END $$;
SELECT * FROM shapes();
SELECT * FROM shapes();

-- As an argument, a result, within an aggregate, as OUT, and in a handler.
CREATE FUNCTION takes(r rows_of) RETURNS text LANGUAGE plpgsql AS $$ BEGIN r.n := r.n + 100; RETURN r.n || r.said || r; END $$;
CREATE FUNCTION gives(which int) RETURNS rows_of LANGUAGE plpgsql AS $$ DECLARE r record; BEGIN
  SELECT * INTO r FROM rows_of WHERE n = which; r.said := 'given ' || r.said; RETURN r; END $$;
CREATE FUNCTION gives_out(which int, OUT r record) LANGUAGE plpgsql AS $$ BEGIN
  SELECT n, said INTO r FROM rows_of WHERE n = which; r.n := r.n + 1; END $$;
CREATE FUNCTION in_turn() RETURNS SETOF text LANGUAGE plpgsql AS $$ DECLARE r record; o record; BEGIN
  FOR r IN SELECT * FROM rows_of WHERE n < 4 ORDER BY n LOOP
    RETURN NEXT takes(r);
    o := gives_out(r.n); RETURN NEXT o;
    BEGIN
      r.n := r.n - 2; r.n := 7 / r.n; RETURN NEXT r.n;
    EXCEPTION WHEN division_by_zero THEN RETURN NEXT 'caught with ' || r::text; END;
    INSERT INTO rows_of SELECT r.* RETURNING * INTO o;
    DELETE FROM rows_of WHERE rows_of = o;
    RETURN NEXT (SELECT count(*) FROM rows_of WHERE n >= r.n);
  END LOOP;
END $$;
SELECT * FROM in_turn();
SELECT gives(2), (gives(3)).said, gives(99), gives_out(4);
