-- Functions of users in CHECKs, generated columns, indexes, domains and defaults
CREATE FUNCTION is_even(i int) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN RETURN i % 2 = 0; END $$;
CREATE FUNCTION is_word(t text) RETURNS boolean LANGUAGE sql IMMUTABLE STRICT AS $$ SELECT t ~ '^[a-z]+$' $$;
CREATE FUNCTION doubled(i int) RETURNS int LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN RETURN i * 2; END $$;
CREATE FUNCTION slug(t text) RETURNS text LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE result text;
BEGIN
  result := lower(regexp_replace(t, '[^a-zA-Z]+', '-', 'g'));
  RETURN trim(both '-' FROM result);
END $$;
CREATE FUNCTION shaky() RETURNS int LANGUAGE plpgsql VOLATILE AS $$ BEGIN RETURN 5; END $$;
CREATE FUNCTION shaky_of(i int) RETURNS int LANGUAGE plpgsql STABLE AS $$ BEGIN RETURN 5; END $$;
CREATE TABLE d (
  id int PRIMARY KEY CHECK (is_even(id)),
  name text CONSTRAINT word CHECK (is_word(name)),
  twice int GENERATED ALWAYS AS (doubled(id)) STORED,
  n int DEFAULT shaky(),
  m int DEFAULT doubled(21)
);
INSERT INTO d (id, name) VALUES (2, 'two'), (4, NULL);
INSERT INTO d (id, name) VALUES (3, 'three');
INSERT INTO d (id, name) VALUES (6, 'Six');
UPDATE d SET name = 'x1' WHERE id = 2;
UPDATE d SET id = 8 WHERE id = 4;
SELECT * FROM d ORDER BY id;
ALTER TABLE d ADD COLUMN fixed int DEFAULT doubled(4);
ALTER TABLE d ADD CONSTRAINT big CHECK (doubled(id) > 4);
ALTER TABLE d ADD CONSTRAINT small CHECK (doubled(id) < 400);
ALTER TABLE d ADD COLUMN label text GENERATED ALWAYS AS (slug('No ' || id)) STORED;
ALTER TABLE d ADD COLUMN given int DEFAULT shaky();
SELECT * FROM d ORDER BY id;
-- Indexes
CREATE TABLE pages (id int PRIMARY KEY, title text);
INSERT INTO pages SELECT i, 'Title No ' || chr(64 + i) FROM generate_series(1, 20) i;
CREATE INDEX pages_slug ON pages (slug(title));
CREATE UNIQUE INDEX pages_even ON pages (title) WHERE is_even(id);
SELECT id FROM pages WHERE slug(title) = 'title-no-c';
INSERT INTO pages VALUES (21, 'Title No B'), (22, 'Other');
INSERT INTO pages VALUES (24, 'Title No B');
UPDATE pages SET title = 'Another One' WHERE id = 3;
SELECT id, slug(title) FROM pages WHERE slug(title) IN ('another-one', 'title-no-b') ORDER BY id;
CREATE UNIQUE INDEX pages_unique ON pages (slug(title));
CREATE INDEX shaky_index ON pages (shaky_of(id));
CREATE INDEX shaky_filter ON pages (id) WHERE shaky_of(id) = 5;
CREATE TABLE shaky_generated (id int, g int GENERATED ALWAYS AS (shaky_of(id)) STORED);
SELECT pg_get_indexdef('pages_slug'::regclass), pg_get_indexdef('pages_even'::regclass);
SELECT conname, pg_get_constraintdef(oid) FROM pg_constraint WHERE conrelid = 'd'::regclass ORDER BY conname;
REINDEX INDEX pages_slug;
-- Domains
CREATE DOMAIN even AS int CHECK (is_even(VALUE));
SELECT 4::even;
SELECT 5::even;
CREATE TABLE e (a even);
INSERT INTO e VALUES (2), (7);
INSERT INTO e VALUES (2);
SELECT * FROM e;
ALTER DOMAIN even ADD CHECK (doubled(VALUE) < 10);
ALTER DOMAIN even ADD CONSTRAINT tiny CHECK (doubled(VALUE) < 3);
INSERT INTO e VALUES (6);
DO $$ DECLARE v even; BEGIN v := 2; v := 3; END $$;
-- What USING converts
CREATE TABLE c (a int);
INSERT INTO c VALUES (1), (2);
ALTER TABLE c ALTER COLUMN a TYPE text USING slug('Row ' || a);
SELECT * FROM c ORDER BY a;
-- What a body complains of
CREATE FUNCTION picky(i int) RETURNS int LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
  IF i = 2 THEN RAISE EXCEPTION 'no twos: %', i; END IF;
  RETURN i;
END $$;
CREATE TABLE p (i int);
INSERT INTO p VALUES (1), (2);
CREATE INDEX ON p (picky(i));
-- Rows that others might still see are in an index, too: here there are none.
TRUNCATE p;
INSERT INTO p VALUES (1);
CREATE INDEX picked ON p (picky(i));
INSERT INTO p VALUES (2);
-- Within a transaction that has made the functions
BEGIN;
CREATE FUNCTION inner_one(i int) RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT i + 1';
CREATE FUNCTION outer_one(i int) RETURNS int LANGUAGE plpgsql IMMUTABLE AS 'BEGIN RETURN inner_one(i) * 10; END';
CREATE INDEX made ON p (outer_one(i));
ALTER TABLE p ADD CHECK (outer_one(i) > 0);
COMMIT;
SELECT i FROM p WHERE outer_one(i) = 20;
-- Dependencies
DROP FUNCTION is_even(int);
DROP FUNCTION slug(text);
DROP FUNCTION doubled(int);
DROP FUNCTION shaky();
DROP FUNCTION shaky(), doubled(int);
-- New names: what is kept calls them by these
CREATE SCHEMA elsewhere;
CREATE VIEW seen AS SELECT id, doubled(id) AS twice FROM d WHERE is_even(id);
ALTER FUNCTION is_even(int) RENAME TO is_paired;
ALTER FUNCTION doubled(int) SET SCHEMA elsewhere;
ALTER FUNCTION slug(text) RENAME TO "Slug";
SELECT conname, pg_get_constraintdef(oid) FROM pg_constraint WHERE conrelid = 'd'::regclass OR contypid = 'even'::regtype ORDER BY conname;
SELECT attname, pg_get_expr(adbin, adrelid) FROM pg_attrdef JOIN pg_attribute ON attrelid = adrelid AND attnum = adnum WHERE adrelid = 'd'::regclass ORDER BY attnum;
SELECT pg_get_indexdef('pages_slug'::regclass), pg_get_indexdef('pages_even'::regclass), pg_get_viewdef('seen');
INSERT INTO d (id, name) VALUES (10, 'ten');
INSERT INTO d (id, name) VALUES (11, 'eleven');
SELECT * FROM seen ORDER BY id;
SELECT id FROM pages WHERE "Slug"(title) = 'title-no-d';
SELECT 9::even;
DROP FUNCTION elsewhere.doubled(int);
-- A new body, and one that is no longer immutable
CREATE OR REPLACE FUNCTION is_paired(i int) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN RETURN i % 2 = 1; END $$;
INSERT INTO d (id, name) VALUES (12, 'twelve');
INSERT INTO d (id, name) VALUES (13, 'thirteen');
SELECT 9::even;
-- CASCADE
DROP FUNCTION is_paired(int) CASCADE;
DROP FUNCTION "Slug"(text) CASCADE;
DROP FUNCTION elsewhere.doubled(int) CASCADE;
DROP FUNCTION shaky() CASCADE;
SELECT conname, pg_get_constraintdef(oid) FROM pg_constraint WHERE conrelid = 'd'::regclass OR contypid = 'even'::regtype ORDER BY conname;
SELECT * FROM d ORDER BY id;
SELECT indexrelid::regclass FROM pg_index WHERE indrelid = 'pages'::regclass;
SELECT 8::even;
DROP SCHEMA elsewhere;
DROP TABLE d, pages, e, c, p;
DROP DOMAIN even;
DROP FUNCTION is_word(text), shaky_of(int), picky(int), inner_one(int), outer_one(int);
