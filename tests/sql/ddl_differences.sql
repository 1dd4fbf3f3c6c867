-- What definitions mean for the rows behind them: keys of materialized views, row types that columns have, the order in
-- which CHECKs are asked, schemas that are made with an empty search path.
CREATE TABLE base (a int, b int);
INSERT INTO base VALUES (1, 10);
CREATE MATERIALIZED VIEW kept AS SELECT sum(b) AS total FROM base;
CREATE UNIQUE INDEX kept_positive ON kept ((total > 0));
CREATE UNIQUE INDEX kept_negative ON kept (total) WHERE total < 0;
INSERT INTO base VALUES (2, 20);
REFRESH MATERIALIZED VIEW CONCURRENTLY kept;
REFRESH MATERIALIZED VIEW kept;
SELECT * FROM kept;
SELECT total FROM kept WHERE (total > 0) = true;
CREATE UNIQUE INDEX kept_whole ON kept (total);
INSERT INTO base VALUES (3, 30);
REFRESH MATERIALIZED VIEW CONCURRENTLY kept;
SELECT * FROM kept;
REFRESH MATERIALIZED VIEW CONCURRENTLY kept WITH NO DATA;
CREATE MATERIALIZED VIEW plain AS SELECT a, b FROM base;
CREATE UNIQUE INDEX ON plain (a);
INSERT INTO base VALUES (3, 31);
REFRESH MATERIALIZED VIEW plain;
SELECT count(*) FROM plain;
-- What has no rows yet can be named, but not read.
CREATE MATERIALIZED VIEW empty AS SELECT a FROM base WITH NO DATA;
CREATE VIEW over_empty AS SELECT a FROM empty;
CREATE MATERIALIZED VIEW over_over AS SELECT a FROM over_empty WITH NO DATA;
CREATE MATERIALIZED VIEW filled AS SELECT a FROM empty;
SELECT * FROM over_empty;
SELECT * FROM over_over;
PREPARE reading AS SELECT count(*) FROM empty;
EXECUTE reading;
REFRESH MATERIALIZED VIEW over_over;
REFRESH MATERIALIZED VIEW empty;
EXECUTE reading;
REFRESH MATERIALIZED VIEW over_over;
SELECT count(*) FROM over_over;
REFRESH MATERIALIZED VIEW empty WITH NO DATA;
EXECUTE reading;
DEALLOCATE reading;
DROP TABLE base CASCADE;
-- Columns that hold rows of a table keep it from getting new values.
CREATE TABLE parts (a int, b text);
CREATE TABLE holds_parts (p parts[]);
ALTER TABLE parts ALTER COLUMN a TYPE bigint;
ALTER TABLE parts ALTER COLUMN b TYPE varchar;
ALTER TABLE parts ADD COLUMN c int DEFAULT 1;
ALTER TABLE parts ADD COLUMN c serial;
ALTER TABLE parts RENAME COLUMN b TO bb;
ALTER TABLE parts ALTER COLUMN a SET NOT NULL;
DROP TABLE holds_parts;
ALTER TABLE parts ADD COLUMN c int DEFAULT 1;
DROP TABLE parts;
-- Of the CHECKs that a row violates the first by name is told.
CREATE TABLE checked (a int CONSTRAINT zz CHECK (a > 0), CONSTRAINT aa CHECK (a <> -1), CHECK (a < 100));
ALTER TABLE checked ADD CONSTRAINT mm CHECK (a > -5);
INSERT INTO checked VALUES (-1);
INSERT INTO checked VALUES (-6);
INSERT INTO checked VALUES (-4);
INSERT INTO checked VALUES (100);
DROP TABLE checked;
-- A schema's elements find each other, whatever the path around them is.
SELECT set_config('search_path', ' ', false);
CREATE SCHEMA elements CREATE VIEW v AS SELECT a + 1 AS a FROM t CREATE TABLE t (a serial, b int UNIQUE);
RESET search_path;
INSERT INTO elements.t DEFAULT VALUES;
SELECT * FROM elements.v;
DROP SCHEMA elements CASCADE;
