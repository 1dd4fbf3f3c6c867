-- What PostgreSQL 15 accepts and Atoll answers with 0A000; the first five statements only prepare.
-- What Atoll learns to do leaves this list: `tests/unsupported.rs` fails until it does.
CREATE TABLE base (id int PRIMARY KEY, a int, b text);
CREATE VIEW seen AS SELECT id, a FROM base;
CREATE TYPE address AS (street text);
CREATE TYPE pg_temp.passing AS ENUM ('a');
CREATE FUNCTION pg_temp.passes() RETURNS int LANGUAGE sql AS 'SELECT 1';
-- statements
ALTER EXTENSION plpgsql ADD TYPE address;
-- objects
CREATE FUNCTION windowed() RETURNS int LANGUAGE sql WINDOW AS 'SELECT 1';
CREATE TYPE span AS RANGE (subtype = int4);
CREATE TABLE parted (a int) PARTITION BY RANGE (a);
CREATE TABLE child () INHERITS (base);
CREATE TABLE addresses OF address;
CREATE TABLE referring (t timestamptz PRIMARY KEY, d date REFERENCES referring);
CREATE TABLE unmixed (a int, EXCLUDE (a WITH =));
CREATE INDEX ON base USING hash (a);
CREATE INDEX ON base USING brin (a);
CREATE INDEX ON base USING gin ((ARRAY[a]));
CREATE INDEX ON base USING gist (point(id, a));
CREATE INDEX ON base USING spgist (point(id, a));
CREATE RULE quiet AS ON INSERT TO base DO NOTHING;
CREATE POLICY own ON base;
ALTER TABLE base ENABLE ROW LEVEL SECURITY;
CREATE PUBLICATION changes;
CREATE STATISTICS paired ON a, b FROM base;
CREATE COLLATION plain FROM "C";
CREATE TRIGGER searched BEFORE INSERT ON base FOR EACH ROW EXECUTE FUNCTION tsvector_update_trigger('v', 'pg_catalog.english', 'b');
CREATE CAST (bigint AS timestamp) WITHOUT FUNCTION;
CREATE FOREIGN DATA WRAPPER nothing;
CREATE ACCESS METHOD rows TYPE TABLE HANDLER heap_tableam_handler;
CREATE TEXT SEARCH CONFIGURATION words (COPY = pg_catalog.english);
CREATE TABLE classes (a pg_class);
CREATE TABLE worded (a text COLLATE "en-x-icu");
CREATE INDEX ON base (b COLLATE "en-x-icu");
CREATE INDEX ON base (b bpchar_ops);
CREATE TABLE lasting (a pg_temp.passing);
CREATE TABLE lasting_default (a int DEFAULT pg_temp.passes());
CREATE VIEW lasting_view AS SELECT pg_temp.passes();
CREATE LANGUAGE other HANDLER plpgsql_call_handler;
COMMENT ON CAST (int4 AS int8) IS 'widens';
COMMENT ON OPERATOR + (int4, int4) IS 'adds';
COMMENT ON OPERATOR CLASS int4_ops USING btree IS 'orders';
COMMENT ON LANGUAGE sql IS 'queries';
COMMENT ON TABLESPACE pg_default IS 'here';
-- types
SELECT '[1,2)'::int4range;
SELECT '(1,2)'::point;
SELECT 'a b'::tsvector;
SELECT '1.00'::money;
SELECT '08:00:2b:01:02:03'::macaddr;
-- queries
SELECT (clock_timestamp(), interval '1 day') OVERLAPS (clock_timestamp(), interval '1 day');
SELECT substring((SELECT b FROM base LIMIT 1) SIMILAR 'a#"b#"c' ESCAPE '#');
WITH w AS (SELECT 1 AS x) SELECT (SELECT count((SELECT x + base.a FROM w)) FROM base AS other LIMIT 1) FROM base;
SELECT xpath('//a', '<!DOCTYPE a [<!ENTITY e "v">]><a>&e;</a>');
SELECT pg_relation_filepath('base'::regclass);
