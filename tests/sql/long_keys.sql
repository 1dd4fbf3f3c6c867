-- Keys of indexes up to a third of a page: found, ordered, unique, changed, built over rows; what is longer is refused.
-- Lengths are those for pages of 8 kB.
CREATE FUNCTION long(n int, length int) RETURNS text LANGUAGE sql IMMUTABLE AS
  $$ SELECT substr(string_agg(md5(n || '/' || i), '' ORDER BY i), 1, length / 10 * 10 * current_setting('block_size')::int / 8192 + length % 10)
    FROM generate_series(1, 100) i $$;
CREATE TABLE t (k text PRIMARY KEY, n int, beside text);
INSERT INTO t SELECT long(n, 2600), n, repeat('b', n) FROM generate_series(1, 60) n;
INSERT INTO t VALUES (long(7, 2600), 0, '') ON CONFLICT (k) DO UPDATE SET beside = 'met' RETURNING t.n, t.beside;
SELECT count(*), min(length(k)) = length(long(0, 2600)), max(length(beside)) FROM t;
SELECT n FROM t WHERE k = long(42, 2600);
SELECT n FROM t WHERE k > long(42, 2600) ORDER BY k LIMIT 3;
SELECT n FROM t WHERE k < long(42, 2600) ORDER BY k DESC LIMIT 3;
-- What tells them apart is their last byte.
CREATE TABLE tails (k text, n int);
INSERT INTO tails SELECT long(1, 2590) || to_char(n, 'FM00000'), n FROM generate_series(1, 200) n;
CREATE INDEX ON tails (k);
INSERT INTO tails SELECT long(1, 2590) || to_char(n, 'FM00000'), n FROM generate_series(1201, 1300) n;
CREATE UNIQUE INDEX tails_unique ON tails ((k || '!'));
INSERT INTO tails VALUES (long(1, 2590) || '01250', 0) ON CONFLICT DO NOTHING;
SELECT n FROM tails WHERE k >= long(1, 2590) || '01240' ORDER BY k LIMIT 4;
DELETE FROM tails WHERE n % 3 = 0;
UPDATE tails SET k = k || 'x' WHERE n % 3 = 1;
SELECT count(*), count(DISTINCT k), max(length(k)) - length(long(1, 2590)) FROM tails;
VACUUM FULL tails;
REINDEX TABLE tails;
SELECT n FROM tails WHERE k = long(1, 2590) || '00100x';
-- Rows that lie by a key that takes most of their room.
CREATE TABLE rows (a text, b text, c text, d text);
INSERT INTO rows SELECT long(n, 500), long(-n, 480), long(n + 100, 500), long(-n, 500) FROM generate_series(1, 20) n;
ALTER TABLE rows ADD PRIMARY KEY (a, b, c);
SELECT count(*), bool_and(d = long(-n, 500)) FROM rows, generate_series(1, 20) n WHERE a = long(n, 500);
UPDATE rows SET d = d || d, c = c || 'c';
SELECT count(*), min(length(d)) = 2 * length(long(0, 500)), min(length(c)) - length(long(0, 500)) FROM rows;
ALTER TABLE rows DROP CONSTRAINT rows_pkey;
UPDATE rows SET c = long(5, 600) WHERE a = long(5, 500);
ALTER TABLE rows ADD CONSTRAINT longer PRIMARY KEY (c, d);
SELECT length(d) = 2 * length(long(0, 500)) FROM rows WHERE c = long(5, 600);
-- Too long.
CREATE TABLE filled AS SELECT long(1, 3000) AS k;
CREATE FUNCTION refused(statement text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE statement;
  RETURN NULL;
EXCEPTION WHEN program_limit_exceeded THEN
  RETURN regexp_replace(SQLERRM, '[0-9]{4}', 'N', 'g');
END $$;
SELECT refused(s) FROM unnest(ARRAY[
  'INSERT INTO t VALUES (long(1, 2800), 0, NULL)', 'INSERT INTO tails VALUES (long(2, 2750), 0)',
  'CREATE INDEX ON filled (k)', 'ALTER TABLE filled ADD PRIMARY KEY (k)', 'UPDATE t SET k = k || k WHERE n = 3']) s;
SELECT count(*) FROM t WHERE length(k) > length(long(1, 2600));
