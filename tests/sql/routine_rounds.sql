-- Rounds of loops that run while their query does: what errors, handlers, exits and functions show of how far it has been read ahead.
CREATE TABLE read_ahead AS SELECT g AS n, g * 10 AS tens, 'row ' || g AS said FROM generate_series(1, 130) g;
ALTER TABLE read_ahead ADD PRIMARY KEY (n);

-- The query fails in its first portion, ahead of the body, which would have failed before.
CREATE FUNCTION both_fail(query_at int, body_at int) RETURNS int LANGUAGE plpgsql AS $$
DECLARE r record; c int := 0; BEGIN
  FOR r IN SELECT n, 1 / (query_at - n) AS q FROM read_ahead LOOP
    c := c + r.n / (body_at - r.n);
  END LOOP;
  RETURN c;
END $$;
SELECT both_fail(7, 3);
SELECT both_fail(7, 3);
SELECT both_fail(40, 3);
SELECT both_fail(15, 11);
SELECT both_fail(61, 60);
SELECT both_fail(60, 59);
SELECT both_fail(1000, 129);
SELECT both_fail(1000, 1000);

-- A handler around the loop sees the variables as they were when the portion began that has failed.
CREATE FUNCTION handled(query_at int) RETURNS text LANGUAGE plpgsql AS $$
DECLARE r record; c int := 0; BEGIN
  BEGIN
    FOR r IN SELECT n, 1 / (query_at - n) AS q FROM read_ahead LOOP
      c := c + 1;
    END LOOP;
  EXCEPTION WHEN division_by_zero THEN RETURN 'failed behind ' || c;
  END;
  RETURN 'all ' || c;
END $$;
SELECT handled(q) FROM (VALUES (5), (10), (11), (60), (61), (70), (1000)) v(q);
SELECT handled(q) FROM (VALUES (5), (10), (11), (60), (61), (70), (1000)) v(q);

-- One of a body that is left: the rest of the portion fails still, what comes behind it does not.
CREATE FUNCTION left_at(query_at int, leave_at int) RETURNS text LANGUAGE plpgsql AS $$
DECLARE r record; c int := 0; BEGIN
  FOR r IN SELECT n, 1 / (query_at - n) AS q FROM read_ahead LOOP
    c := c + 1;
    EXIT WHEN c = leave_at;
  END LOOP;
  RETURN c || ' ' || r.n || ' ' || found;
END $$;
SELECT left_at(1000, 4);
SELECT left_at(1000, 10);
SELECT left_at(1000, 12);
SELECT left_at(12, 10);
SELECT left_at(10, 4);
SELECT left_at(60, 12);
SELECT left_at(61, 12);
SELECT left_at(61, 61);

-- What is told in some rounds is told once for each, in order; other rounds go on.
CREATE FUNCTION told(every int) RETURNS int LANGUAGE plpgsql AS $$
DECLARE a int; b int; t text; c int := 0; BEGIN
  FOR a, b, t IN SELECT n, tens, said FROM read_ahead ORDER BY n LOOP
    c := c + b;
    IF a % every = 0 THEN RAISE NOTICE '% % %', a, t, c; END IF;
    CONTINUE WHEN a % 2 = 0;
    c := c - 1;
  END LOOP;
  RETURN c;
END $$;
SELECT told(60), told(50);
SELECT told(9);

-- Loops in loops, over integers, arrays and rows.
CREATE FUNCTION in_loops() RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE r record; q record; s bigint := 0; e int; BEGIN
  FOR r IN SELECT n, tens FROM read_ahead WHERE n <= 70 ORDER BY n LOOP
    FOR i IN 1..3 LOOP s := s + r.tens * i; END LOOP;
    FOR q IN SELECT n AS m FROM read_ahead WHERE n < 20 ORDER BY n LOOP
      s := s + q.m;
      EXIT WHEN q.m > r.n;
    END LOOP;
    FOREACH e IN ARRAY ARRAY[1, 2, r.n] LOOP s := s + e; END LOOP;
    WHILE s % 10 <> 0 LOOP s := s + 1; END LOOP;
  END LOOP;
  RETURN s;
END $$;
SELECT in_loops();
SELECT in_loops();

-- Functions in the body: of what never changes, of the statement's, and volatile ones, beside the query's.
CREATE FUNCTION calling() RETURNS text LANGUAGE plpgsql AS $$
DECLARE r record; t text := ''; d timestamptz; c int := 0; BEGIN
  FOR r IN SELECT n, said FROM read_ahead ORDER BY n LOOP
    IF length(r.said) > 6 AND upper(r.said) LIKE '%9' THEN t := t || substr(upper(r.said), 5) || ','; END IF;
    d := now();
    IF d = statement_timestamp() OR d <= clock_timestamp() THEN c := c + 1; END IF;
  END LOOP;
  RETURN t || c;
END $$;
SELECT calling();
SELECT calling();
CREATE FUNCTION calling_alone() RETURNS text LANGUAGE plpgsql AS $$
DECLARE r record; t text := ''; BEGIN
  FOR r IN SELECT n, said FROM read_ahead ORDER BY n LOOP
    IF right(r.said, 1) = '7' THEN t := t || repeat(r.said, 1) || md5(r.said); END IF;
  END LOOP;
  RETURN md5(t) || length(t);
END $$;
SELECT calling_alone(), calling_alone();
CREATE SEQUENCE ahead;
CREATE FUNCTION drawing() RETURNS text LANGUAGE plpgsql AS $$
DECLARE r record; t text := ''; BEGIN
  FOR r IN SELECT n, nextval('ahead') AS v FROM read_ahead WHERE n <= 25 LOOP
    t := t || r.v || '<' || currval('ahead') || ' ';
  END LOOP;
  RETURN t;
END $$;
SELECT drawing();
SELECT drawing();
CREATE FUNCTION drawn() RETURNS text LANGUAGE plpgsql AS $$
DECLARE r record; t bool := true; BEGIN
  PERFORM setseed(0.5);
  FOR r IN SELECT random() AS v FROM read_ahead WHERE n <= 25 LOOP
    t := t AND r.v <> random();
  END LOOP;
  RETURN t || ' ' || (random() * 1e6)::int;
END $$;
SELECT drawn();
SELECT drawn() = drawn();

-- A variable that takes no NULL, and one whose values become others.
CREATE FUNCTION not_null(null_at int) RETURNS int LANGUAGE plpgsql AS $$
DECLARE a int NOT NULL := 0; b smallint; c int := 0; BEGIN
  FOR a IN SELECT CASE WHEN n = null_at THEN NULL ELSE n END FROM read_ahead ORDER BY n LOOP c := c + a; END LOOP;
  FOR b IN SELECT n * 300 FROM read_ahead ORDER BY n LOOP c := c + b; END LOOP;
  RETURN c;
END $$;
SELECT not_null(5);
SELECT not_null(5);
SELECT not_null(45);
SELECT not_null(1000);

-- A record that takes other fields in between, and one that is read as a whole.
CREATE FUNCTION reshaped() RETURNS text LANGUAGE plpgsql AS $$
DECLARE r record; w record; t text := ''; BEGIN
  FOR i IN 1..2 LOOP
    FOR r IN SELECT n, tens FROM read_ahead WHERE n < 4 ORDER BY n LOOP w := r; t := t || r.n || ':' || r.tens || ' '; END LOOP;
    t := t || w::text || ' ';
    FOR r IN SELECT said AS n, n AS tens FROM read_ahead WHERE n < 4 ORDER BY read_ahead.n LOOP t := t || r.n || ':' || r.tens || ' '; r.n := 'x' || i; t := t || r.n; END LOOP;
  END LOOP;
  RETURN t;
END $$;
SELECT reshaped();
SELECT reshaped();

-- What the body calls is replaced in the middle of a portion, and behind its last row.
CREATE FUNCTION a_step(int) RETURNS int IMMUTABLE LANGUAGE sql AS 'SELECT $1 + 1';
CREATE FUNCTION replacing(at int) RETURNS text LANGUAGE plpgsql AS $$
DECLARE r record; s bigint := 0; BEGIN
  FOR r IN SELECT n FROM read_ahead LOOP
    s := s + a_step(r.n);
    IF r.n = at THEN
      EXECUTE 'CREATE OR REPLACE FUNCTION a_step(int) RETURNS int IMMUTABLE LANGUAGE sql AS ''SELECT $1 + ' || at || '''';
    END IF;
  END LOOP;
  RETURN s || ' ' || a_step(0);
END $$;
SELECT replacing(9);
SELECT replacing(10);
SELECT replacing(30);
SELECT replacing(60);
SELECT replacing(61);
SELECT replacing(130);

-- Of a dynamic query, and of one that changes rows; what the body has written meanwhile the query does not see.
CREATE FUNCTION dynamic(t text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE r record; s bigint := 0; BEGIN
  FOR r IN EXECUTE 'SELECT n, tens FROM ' || t || ' WHERE n > $1' USING 100 LOOP s := s + r.n * r.tens; END LOOP;
  FOR r IN UPDATE read_ahead SET tens = tens + 1 WHERE n > 90 RETURNING n, tens LOOP s := s + r.tens; END LOOP;
  FOR r IN SELECT n, tens FROM read_ahead WHERE n <= 12 ORDER BY n LOOP
    s := s + r.tens;
    IF r.n IN (1, 2, 11) THEN UPDATE read_ahead SET tens = 0 WHERE n > r.n; END IF;
  END LOOP;
  RETURN s;
END $$;
SELECT dynamic('read_ahead');
SELECT dynamic('read_ahead');
SELECT sum(tens) FROM read_ahead;

-- Procedures that end transactions read all rows first.
CREATE PROCEDURE committing(INOUT s bigint) LANGUAGE plpgsql AS $$
DECLARE r record; BEGIN
  FOR r IN SELECT n FROM read_ahead ORDER BY n LOOP
    s := s + r.n;
    IF r.n % 40 = 0 THEN COMMIT; END IF;
  END LOOP;
END $$;
CALL committing(0);
CALL committing(0);
DROP TABLE read_ahead;
