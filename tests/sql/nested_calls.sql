-- CALL within a body, many times: the call is made ready once, and anew where something has changed.
CREATE TABLE told (n serial, said text);
CREATE PROCEDURE tell(what text, INOUT count int) LANGUAGE plpgsql AS $$ BEGIN INSERT INTO told (said) VALUES (what); count := count + 1; END $$;
CREATE PROCEDURE tell_all(most int) LANGUAGE plpgsql AS $$
DECLARE told_so_far int := 0; r record; BEGIN
  FOR i IN 1 .. most LOOP
    CALL tell('number ' || i, told_so_far);
  END LOOP;
  RAISE NOTICE 'told %', told_so_far;
  SELECT 10 AS count, 'x' AS other INTO r;
  CALL tell(r.other, r.count);
  RAISE NOTICE 'record %', r;
END $$;
CALL tell_all(3);
CALL tell_all(2);
CREATE OR REPLACE PROCEDURE tell(what text, INOUT count int) LANGUAGE plpgsql AS $$ BEGIN INSERT INTO told (said) VALUES (upper(what)); count := count + 100; END $$;
CALL tell_all(2);
-- A default that changes between two calls, and a procedure that goes.
CREATE PROCEDURE with_default(a int, b int DEFAULT 5) LANGUAGE plpgsql AS $$ BEGIN RAISE NOTICE '% %', a, b; END $$;
CREATE PROCEDURE calls_default() LANGUAGE plpgsql AS $$
BEGIN
  FOR i IN 1 .. 3 LOOP
    CALL with_default(i);
    IF i = 1 THEN
      EXECUTE 'CREATE OR REPLACE PROCEDURE with_default(a int, b int DEFAULT 6) LANGUAGE plpgsql AS ''BEGIN RAISE NOTICE ''''% and %'''', a, b; END''';
    END IF;
  END LOOP;
END $$;
CALL calls_default();
DROP PROCEDURE with_default(int, int);
CALL calls_default();
-- Within each other, and transactions that end in the middle.
CREATE PROCEDURE down(n int, INOUT sum int DEFAULT 0) LANGUAGE plpgsql AS $$ BEGIN IF n > 0 THEN sum := sum + n; CALL down(n - 1, sum); END IF; END $$;
CALL down(20, 0);
CREATE PROCEDURE commits(n int) LANGUAGE plpgsql AS $$ BEGIN INSERT INTO told (said) VALUES ('kept ' || n); COMMIT; INSERT INTO told (said) VALUES ('lost ' || n); ROLLBACK; END $$;
CREATE PROCEDURE calls_commits() LANGUAGE plpgsql AS $$ BEGIN FOR i IN 1 .. 2 LOOP CALL commits(i); END LOOP; END $$;
CALL calls_commits();
SELECT said FROM told ORDER BY n;
-- What cannot be given back, what may not be run, and what fails.
CREATE PROCEDURE gives(INOUT a int) LANGUAGE plpgsql AS $$ BEGIN a := a / 0; END $$;
CREATE PROCEDURE takes_none() LANGUAGE plpgsql AS $$ BEGIN CALL gives(1 + 1); END $$;
CREATE PROCEDURE to_constant() LANGUAGE plpgsql AS $$ DECLARE c CONSTANT int := 1; BEGIN CALL gives(c); END $$;
CREATE PROCEDURE fails() LANGUAGE plpgsql AS $$ DECLARE c int := 1; BEGIN CALL gives(c); END $$;
CALL takes_none();
CALL to_constant();
CALL fails();
CALL fails();
DROP PROCEDURE tell, tell_all, calls_default, down, commits, calls_commits, gives, takes_none, to_constant, fails;
DROP TABLE told;
