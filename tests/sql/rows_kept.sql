-- Functions in FROM run once where nothing outside them changes what they are given, and anew for each row where it does.
CREATE SEQUENCE s;
CREATE FUNCTION drawn(n int) RETURNS SETOF bigint LANGUAGE plpgsql AS $$
BEGIN
  RAISE NOTICE 'drawn(%)', n;
  FOR i IN 1..n LOOP RETURN NEXT nextval('s'); END LOOP;
END $$;
CREATE TABLE v AS SELECT n AS x FROM generate_series(1, 3) n;
SELECT x, f.* FROM v, ROWS FROM (drawn(1), generate_series(x, x + 1)) AS f (drawn, series) ORDER BY x, series;
SELECT x, d FROM v, drawn(2) d ORDER BY x, d;
SELECT x, d FROM v, drawn(x) d ORDER BY x, d;
SELECT x, d FROM v LEFT JOIN drawn(2) d ON d > x ORDER BY x, d;
SELECT x, (SELECT count(*) FROM drawn(2) d WHERE d > x) FROM v ORDER BY x;
SELECT x, (SELECT count(*) FROM drawn(x) d WHERE d > 0) FROM v ORDER BY x;
SELECT x, o FROM v, ROWS FROM (drawn(1), drawn(2)) WITH ORDINALITY AS f (a, b, o) ORDER BY x, o;
WITH RECURSIVE r AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM r, drawn(1) WHERE n < 3) SELECT * FROM r;
PREPARE p AS SELECT count(*) FROM drawn(2), v;
EXECUTE p;
EXECUTE p;
DO $$
DECLARE n bigint;
BEGIN
  FOR i IN 1..3 LOOP
    SELECT max(d) INTO n FROM drawn(1) d, v;
    RAISE NOTICE '%', n;
  END LOOP;
END $$;
