-- Rows of pg_depend, and views that read each other.
CREATE SCHEMA depending;
CREATE TABLE depending.first (a serial PRIMARY KEY, b int DEFAULT 5 CHECK (b > 0), c text UNIQUE, d int GENERATED ALWAYS AS IDENTITY, e int GENERATED ALWAYS AS (b + 1) STORED);
CREATE TABLE depending.second (x int, y int, z int);
CREATE INDEX second_plain ON depending.second (x) INCLUDE (z);
CREATE INDEX second_computed ON depending.second ((y + 1)) WHERE x > 1;
CREATE INDEX second_both ON depending.second (x, (y * z)) WHERE z > 1 AND y > 1;
CREATE VIEW depending.seen AS SELECT a, b FROM depending.first WHERE c > 'x';
CREATE SEQUENCE depending.counter;
CREATE SEQUENCE depending.owned OWNED BY depending.second.x;
CREATE TYPE depending.mood AS ENUM ('ok');
CREATE DOMAIN depending.positive AS int CHECK (value > 0);
CREATE TYPE depending.pair AS (a int, b depending.mood);
SELECT pg_describe_object(classid, objid, objsubid) AS what, pg_describe_object(refclassid, refobjid, refobjsubid) AS on_what, deptype
  FROM pg_depend
  WHERE pg_describe_object(classid, objid, objsubid) LIKE '%depending.%'
  AND pg_describe_object(classid, objid, objsubid) !~ 'toast|trigger' ORDER BY 1, 2, 3;
SELECT pg_describe_object(classid, objid, objsubid) AS what FROM pg_depend WHERE refobjid = 'depending'::regnamespace ORDER BY 1;
DROP SCHEMA depending;
DROP TABLE depending.first, depending.second CASCADE;
DROP TYPE depending.pair, depending.mood;
DROP DOMAIN depending.positive;
DROP SEQUENCE depending.counter;
DROP SCHEMA depending;
CREATE VIEW ring_a AS SELECT 1 AS a;
CREATE VIEW ring_b AS SELECT * FROM ring_a;
CREATE VIEW ring_c AS SELECT * FROM ring_a;
CREATE OR REPLACE VIEW ring_a AS SELECT a FROM ring_b;
SELECT * FROM ring_a;
DROP VIEW ring_a;
DROP VIEW ring_b;
DROP VIEW ring_a, ring_b;
DROP VIEW ring_a, ring_b, ring_c;
CREATE VIEW ring_a AS SELECT 1 AS a;
CREATE VIEW ring_b AS SELECT * FROM ring_a;
CREATE OR REPLACE VIEW ring_a AS SELECT a FROM ring_b;
DROP VIEW ring_a CASCADE;
CREATE TABLE ring_table (a int);
CREATE VIEW ring_a AS SELECT a FROM ring_table;
CREATE OR REPLACE VIEW ring_a AS SELECT a FROM ring_a;
SELECT * FROM ring_a;
DROP TABLE ring_table;
DROP VIEW ring_a;
