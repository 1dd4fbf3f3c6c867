-- What PostgreSQL 15 accepts and Atoll answers with 0A000; the first statement only prepares.
-- What Atoll learns to do leaves this list: `tests/unsupported.rs` fails until it does.
CREATE TABLE base (id int PRIMARY KEY, a int, b text);
-- statements
COPY base TO STDOUT (ENCODING 'latin1');
DO 'BEGIN END';
CLUSTER base USING base_pkey;
-- objects
CREATE FUNCTION one() RETURNS int LANGUAGE sql AS 'SELECT 1';
CREATE PROCEDURE nothing() LANGUAGE sql AS 'SELECT 1';
CREATE AGGREGATE total(int) (sfunc = int4pl, stype = int);
CREATE TYPE span AS RANGE (subtype = int4);
CREATE TABLE parted (a int) PARTITION BY RANGE (a);
CREATE TABLE child () INHERITS (base);
CREATE TABLE unmixed (a int, EXCLUDE (a WITH =));
CREATE INDEX ON base USING hash (a);
CREATE RULE quiet AS ON INSERT TO base DO NOTHING;
CREATE POLICY own ON base;
ALTER TABLE base ENABLE ROW LEVEL SECURITY;
CREATE PUBLICATION changes;
CREATE STATISTICS paired ON a, b FROM base;
CREATE COLLATION plain FROM "C";
-- types
SELECT '[1,2)'::int4range;
SELECT '(1,2)'::point;
SELECT 'a b'::tsvector;
SELECT '1'::bit;
SELECT '1.00'::money;
-- queries
WITH w AS (SELECT 1 AS x) SELECT (SELECT count((SELECT x + base.a FROM w)) FROM base AS other LIMIT 1) FROM base;
SELECT * FROM base TABLESAMPLE SYSTEM (10);
SELECT pg_relation_filepath('base'::regclass);
