-- A type gets another name: what is kept as text goes on naming it, and says the new one.
CREATE SCHEMA s;
CREATE TYPE s.mood AS ENUM ('a', 'b');
CREATE TYPE s.mood2 AS ENUM ('a');
CREATE DOMAIN s.d AS int DEFAULT 3 CHECK (VALUE <> 7);
CREATE DOMAIN s.e AS text DEFAULT 'a'::s.mood::text;
CREATE DOMAIN s.f AS s.mood CHECK (VALUE <> 'b'::s.mood);
CREATE TYPE s.pair AS (x int, m s.mood);
CREATE TABLE s.row (r int);
CREATE TABLE t (m s.mood DEFAULT 'a', m2 s.mood2 DEFAULT 'a', n s.d DEFAULT 5, e s.e, p s.pair DEFAULT ROW(1, 'b')::s.pair, q text DEFAULT ROW(1)::s.row, w text DEFAULT '::s.mood', CHECK (m <> 'b'::s.mood), g text GENERATED ALWAYS AS (CASE WHEN m = 'a' THEN 'x' ELSE 'y' END) STORED, ms s.mood[] DEFAULT '{a,b}');
CREATE INDEX ti ON t ((m = 'a')) WHERE m <> 'b';
CREATE VIEW v AS SELECT 'a'::s.mood AS c, m = 'b' AS e, ARRAY[m] || ARRAY[]::s.mood[] AS f, ROW(1, 'a')::s.pair AS p FROM t;
INSERT INTO t DEFAULT VALUES RETURNING t::text;
ALTER TYPE s.mood RENAME TO "Mood";
ALTER TABLE s.row RENAME TO line;
INSERT INTO t DEFAULT VALUES RETURNING t::text;
INSERT INTO t (m) VALUES ('b');
SELECT v::text FROM v;
ALTER SCHEMA s RENAME TO "s 2";
INSERT INTO t DEFAULT VALUES RETURNING t::text;
SELECT v::text FROM v;
ALTER TYPE "s 2"."Mood" SET SCHEMA public;
ALTER DOMAIN "s 2".d RENAME TO dd;
INSERT INTO t DEFAULT VALUES RETURNING t::text;
SELECT v::text FROM v;
-- a label
ALTER TYPE "Mood" RENAME VALUE 'a' TO 'a''s';
INSERT INTO t DEFAULT VALUES RETURNING t::text;
SELECT v::text FROM v;
SELECT 'a''s'::"s 2".f::text;
SELECT 'b'::"s 2".f::text;
SELECT pg_get_viewdef('v'), pg_get_viewdef('v', true);
SELECT a.attname, pg_get_expr(d.adbin, d.adrelid) FROM pg_attrdef d JOIN pg_attribute a ON a.attrelid = d.adrelid AND a.attnum = d.adnum ORDER BY a.attnum;
SELECT pg_get_constraintdef(oid) FROM pg_constraint WHERE conrelid = 't'::regclass;
SELECT pg_get_indexdef('ti'::regclass);
-- An attribute gets another name: what is kept as text goes on naming it.
CREATE TYPE duo AS (first int, second text);
CREATE TYPE nest AS (d duo, "Second" int);
CREATE DOMAIN checked_duo AS duo CHECK ((VALUE).first > 0) DEFAULT ROW(1, 'a')::duo;
CREATE TABLE duos (
    id int,
    d duo DEFAULT ROW(3, 'default')::duo,
    n nest,
    k checked_duo,
    g int GENERATED ALWAYS AS ((d).first * 2) STORED,
    CHECK ((d).first < 100 AND (d).second <> 'first')
);
CREATE INDEX duos_second ON duos (((d).second)) WHERE (d).first > 1;
CREATE VIEW of_duos AS SELECT (d).first, (d).second AS first_alias, ((n).d).first AS inner_first, (n)."Second", (SELECT max((e.d).first) FROM duos e WHERE (e.d).second > (duos.d).second) AS more FROM duos WHERE (d).first > 0 ORDER BY (d).first;
CREATE VIEW of_sets AS SELECT first, second FROM unnest(ARRAY[ROW(1, 'a')::duo]);
CREATE VIEW of_fields AS SELECT (d).* FROM duos;
CREATE MATERIALIZED VIEW kept_duos AS SELECT (d).first AS a FROM duos;
INSERT INTO duos (id, n) VALUES (1, ROW(ROW(5, 'in'), 6)), (2, ROW(ROW(7, 'in'), 8));
ALTER TYPE duo RENAME ATTRIBUTE first TO "First one";
ALTER TYPE nest RENAME ATTRIBUTE "Second" TO other;
INSERT INTO duos (id, d) VALUES (3, ROW(9, 'three')) RETURNING *;
INSERT INTO duos (id, d) VALUES (3, ROW(900, 'three'));
INSERT INTO duos (id, k) VALUES (4, ROW(-1, 'three'));
SELECT * FROM of_duos;
SELECT * FROM of_sets;
SELECT * FROM of_fields ORDER BY 1, 2;
REFRESH MATERIALIZED VIEW kept_duos;
SELECT * FROM kept_duos ORDER BY a;
SELECT pg_get_viewdef('of_duos'), pg_get_viewdef('of_fields'), pg_get_viewdef('kept_duos');
SELECT a.attname, pg_get_expr(d.adbin, d.adrelid) FROM pg_attrdef d JOIN pg_attribute a ON a.attrelid = d.adrelid AND a.attnum = d.adnum WHERE d.adrelid = 'duos'::regclass ORDER BY a.attnum;
SELECT pg_get_constraintdef(oid) FROM pg_constraint WHERE conrelid = 'duos'::regclass OR contypid = 'checked_duo'::regtype ORDER BY conname;
SELECT pg_get_indexdef('duos_second'::regclass);
ALTER TYPE duo RENAME ATTRIBUTE nothing TO x;
ALTER TYPE duo RENAME ATTRIBUTE second TO "First one";
CREATE TYPE said AS (a int, b text);
CREATE DOMAIN said_number AS int;
CREATE SCHEMA said_elsewhere;
CREATE VIEW says_types AS SELECT * FROM json_to_record('{"p": 1}') AS x (p said_number, q said, r said[]);
CREATE VIEW says_types_twice AS SELECT * FROM ROWS FROM (json_to_record('{}') AS (p said_number, q said), generate_series(1, 2));
CREATE FUNCTION says_types_too() RETURNS int LANGUAGE sql BEGIN ATOMIC SELECT count(*)::int FROM json_to_record('{}') AS x (p said_number, q said); END;
ALTER TYPE said RENAME TO said_otherwise;
ALTER DOMAIN said_number RENAME TO other_number;
SELECT pg_get_viewdef('says_types');
SELECT pg_get_viewdef('says_types_twice');
SELECT pg_get_functiondef('says_types_too'::regproc);
ALTER TYPE said_otherwise SET SCHEMA said_elsewhere;
SELECT pg_get_viewdef('says_types');
SELECT pg_get_functiondef('says_types_too'::regproc);
SELECT * FROM says_types;
