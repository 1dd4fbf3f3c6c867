-- Statements of bodies that store, explain or declare a query see the parameters and variables in it.
CREATE TABLE t AS SELECT n, n * n AS m FROM generate_series(1, 5) n;
CREATE FUNCTION by_name(n int) RETURNS void LANGUAGE sql AS 'CREATE TABLE named AS SELECT n AS a, $1 + 1 AS b, by_name.n AS c';
SELECT by_name(3);
SELECT * FROM named;
CREATE FUNCTION of_variables(low int, row t) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE high int := low + 1; r record; c bigint;
BEGIN
  SELECT 7 AS x, 'y' AS y INTO r;
  CREATE TEMP TABLE part ON COMMIT DROP AS SELECT t.*, high AS h, r.x, row.m AS rm FROM t WHERE t.n BETWEEN low AND high AND r.y = 'y';
  GET DIAGNOSTICS c = ROW_COUNT;
  RAISE NOTICE 'made % rows, found %', c, FOUND;
  FOR r IN SELECT * FROM part ORDER BY n LOOP RAISE NOTICE '%', r; END LOOP;
  RETURN c;
END $$;
SELECT of_variables(2, t) FROM t WHERE n = 3;
SELECT of_variables(3, NULL);
SELECT of_variables(5, NULL);
CREATE FUNCTION made_anew(rows int) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE c bigint;
BEGIN
  DROP TABLE IF EXISTS made;
  CREATE TABLE made AS SELECT g AS n FROM generate_series(1, rows) g WITH NO DATA;
  INSERT INTO made SELECT rows;
  CREATE TABLE IF NOT EXISTS made AS SELECT rows;
  SELECT sum(n) INTO c FROM made;
  RETURN c;
END $$;
SELECT made_anew(2), made_anew(3);
DO $$
DECLARE v int := 2; line text;
BEGIN
  FOR line IN EXPLAIN (COSTS OFF) SELECT v LOOP RAISE NOTICE '%', line; END LOOP;
  EXECUTE 'CREATE TABLE executed AS SELECT $1 AS a, $2 AS b' USING v, 'text'::text;
END $$;
SELECT * FROM executed;
DO $$
DECLARE v int := 2;
BEGIN
  CREATE MATERIALIZED VIEW kept AS SELECT v;
END $$;
DO $$
DECLARE v int := 2;
BEGIN
  CREATE MATERIALIZED VIEW kept AS SELECT n FROM t;
  CREATE VIEW seen AS SELECT v;
END $$;
DO $$
DECLARE v int := 2;
BEGIN
  CREATE MATERIALIZED VIEW kept AS SELECT n FROM t;
END $$;
SELECT count(*) FROM kept;
DO $$
DECLARE n int := 2;
BEGIN
  CREATE TABLE ambiguous AS SELECT n FROM t;
END $$;
CREATE FUNCTION cursors_of(v int) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  DECLARE_IT: BEGIN
    EXECUTE format('DECLARE given CURSOR FOR SELECT %s', v);
  END;
END $$;
BEGIN;
SELECT cursors_of(4);
FETCH given;
COMMIT;
CREATE FUNCTION read_changes() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE c bigint;
BEGIN
  CREATE TEMP TABLE copied AS SELECT * FROM fresh;
  SELECT count(*) INTO c FROM copied;
  RAISE NOTICE 'copied %', c;
  DROP TABLE copied;
  RETURN NULL;
END $$;
CREATE TRIGGER read_changes AFTER INSERT ON t REFERENCING NEW TABLE AS fresh FOR EACH STATEMENT EXECUTE FUNCTION read_changes();
INSERT INTO t SELECT 6, 36;
