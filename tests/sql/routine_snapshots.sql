-- What is not volatile sees what the statement sees that calls it, and changes nothing.
CREATE TABLE amounts (a int);
INSERT INTO amounts VALUES (1), (2), (3);
CREATE SEQUENCE drawn;
CREATE FUNCTION sql_stable() RETURNS bigint LANGUAGE sql STABLE AS 'select sum(a) from amounts';
CREATE FUNCTION sql_volatile() RETURNS bigint LANGUAGE sql VOLATILE AS 'select sum(a) from amounts';
CREATE FUNCTION pl_stable() RETURNS bigint LANGUAGE plpgsql STABLE AS 'begin return (select sum(a) from amounts); end';
CREATE FUNCTION pl_volatile() RETURNS bigint LANGUAGE plpgsql VOLATILE AS 'begin return (select sum(a) from amounts); end';
CREATE FUNCTION pl_immutable() RETURNS bigint LANGUAGE plpgsql IMMUTABLE AS 'declare s bigint := 0; r record; begin for r in select a from amounts loop s := s + r.a; end loop; return s; end';
CREATE FUNCTION adds() RETURNS int LANGUAGE plpgsql AS 'begin insert into amounts values (100); return 1; end';
SELECT adds(), sql_stable(), sql_volatile(), pl_stable(), pl_volatile();
BEGIN;
UPDATE amounts SET a = a + sql_stable() WHERE a < 100;
SELECT * FROM amounts ORDER BY a;
ROLLBACK;
BEGIN;
UPDATE amounts SET a = a + sql_volatile() WHERE a < 100;
SELECT * FROM amounts ORDER BY a;
ROLLBACK;
BEGIN;
UPDATE amounts SET a = a + pl_stable() WHERE a < 100;
SELECT * FROM amounts ORDER BY a;
ROLLBACK;
BEGIN;
DECLARE kept CURSOR FOR SELECT sql_stable(), sql_volatile(), pl_stable(), pl_volatile();
INSERT INTO amounts VALUES (1000);
FETCH ALL FROM kept;
SELECT pl_stable(), pl_immutable();
ROLLBACK;
CREATE FUNCTION calls_volatile() RETURNS text LANGUAGE plpgsql STABLE AS $$
DECLARE before bigint; behind bigint;
BEGIN
  before := (SELECT sum(a) FROM amounts);
  PERFORM adds();
  behind := (SELECT sum(a) FROM amounts);
  RETURN before = behind;
END$$;
SELECT calls_volatile();
CREATE FUNCTION in_body() RETURNS text LANGUAGE plpgsql AS $$
DECLARE first bigint := pl_stable(); second bigint;
BEGIN
  INSERT INTO amounts VALUES (7);
  second := pl_stable();
  RETURN second - first;
END$$;
SELECT in_body();
CREATE FUNCTION changes() RETURNS int LANGUAGE plpgsql STABLE AS $$BEGIN INSERT INTO amounts VALUES (5); RETURN 1; END$$;
SELECT changes();
CREATE FUNCTION locks() RETURNS int LANGUAGE plpgsql STABLE AS $$DECLARE r record; BEGIN SELECT * INTO r FROM amounts LIMIT 1 FOR UPDATE; RETURN 1; END$$;
SELECT locks();
CREATE FUNCTION makes() RETURNS int LANGUAGE plpgsql STABLE AS $$BEGIN CREATE TABLE made_by_stable (a int); RETURN 1; END$$;
SELECT makes();
CREATE FUNCTION draws() RETURNS bigint LANGUAGE plpgsql STABLE AS $$BEGIN PERFORM nextval('drawn'); RETURN (SELECT nextval('drawn')); END$$;
SELECT draws();
CREATE FUNCTION caught() RETURNS int LANGUAGE plpgsql STABLE AS $$BEGIN
  BEGIN DELETE FROM amounts; EXCEPTION WHEN feature_not_supported THEN RAISE NOTICE '%', SQLERRM; END;
  RETURN pl_stable(); END$$;
SELECT caught() = pl_stable() AS same;
INSERT INTO amounts VALUES (caught()) RETURNING a > 0;
