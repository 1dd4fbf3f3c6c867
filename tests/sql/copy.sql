-- COPY in text and csv, both ways.
CREATE TABLE t (a int, b text, c numeric);
COPY t FROM STDIN;
1	one	1.5
2	\N	\N
3	tab\there	-0.5
4	back\\slash	1
\.
SELECT * FROM t ORDER BY a;
COPY t TO STDOUT;
COPY t (b, a) TO STDOUT WITH (FORMAT csv, HEADER);
COPY t TO STDOUT WITH (FORMAT csv, DELIMITER ';', NULL 'null', FORCE_QUOTE (b));
COPY (SELECT a, b FROM t WHERE a > 2 ORDER BY a) TO STDOUT;
TRUNCATE t;
COPY t FROM STDIN WITH (FORMAT csv, HEADER true);
a,b,c
1,"quoted, comma",1
2,"a ""quote""",2
3,,3
\.
SELECT * FROM t ORDER BY a;
COPY t (a) FROM STDIN;
5
x
\.
COPY t FROM STDIN;
1	2
\.
COPY t FROM STDIN;
1	2	3	4
\.
SELECT count(*) FROM t;
COPY nosuch FROM STDIN;
\.
COPY t (nosuch) TO STDOUT;
DROP TABLE t;
-- WHERE
CREATE TABLE w (a int, b varchar(3), g int GENERATED ALWAYS AS (a * 2) STORED, s serial, n int NOT NULL DEFAULT 1);
COPY w (a, b) FROM STDIN WHERE a > (SELECT 1);
\.
COPY w (a, b) FROM STDIN WHERE EXISTS (SELECT 1);
\.
COPY w (a, b) FROM STDIN WHERE a IN (SELECT 1);
\.
COPY w (a, b) FROM STDIN WHERE max(a) > 1;
\.
COPY w (a, b) FROM STDIN WHERE row_number() OVER () > 1;
\.
COPY w (a, b) FROM STDIN WHERE generate_series(1, 2) > 1;
\.
COPY w (a, b) FROM STDIN WHERE a;
\.
COPY w (a, b) FROM STDIN WHERE nosuch = 1;
\.
COPY w (a, b) FROM STDIN WHERE a = $1;
\.
COPY w (a, b) FROM STDIN WHERE g > 1;
\.
COPY w (a, b) FROM STDIN WHERE w IS NOT NULL;
\.
COPY w TO STDOUT WHERE a = 1;
COPY (SELECT 1) TO STDOUT WHERE a = 1;
COPY w (a, b) FROM STDIN WHERE a > 1 AND w.b <> 'no';
1	x
2	y
3	no
4	\N
5	z
\.
COPY w (a, b) FROM STDIN (FORMAT csv, HEADER match) WHERE s > 7 OR b IS NULL;
a,b
10,p
11,q
12,r
13,
\.
COPY w (a, b) FROM STDIN WHERE false;
1	abcd
\.
COPY w (a, n) FROM STDIN WHERE n IS NOT NULL;
1	\N
\.
COPY w (a) FROM STDIN WHERE 1 / a > 0;
1
0
\.
COPY w (a, b) FROM STDIN WHERE false;
1	x
\.
SELECT * FROM w ORDER BY s;
BEGIN;
CREATE TABLE fresh (a int PRIMARY KEY, b text);
COPY fresh FROM STDIN WHERE a % 2 = 0;
1	x
2	y
3	z
4	u
\.
SELECT * FROM fresh ORDER BY a;
COMMIT;
CREATE ROLE copy_a;
GRANT INSERT ON w TO copy_a;
GRANT USAGE ON SEQUENCE w_s_seq TO copy_a;
SET ROLE copy_a;
COPY w (a) FROM STDIN WHERE b IS NULL;
1
\.
COPY w (a) FROM STDIN;
20
\.
RESET ROLE;
REVOKE ALL ON w FROM copy_a;
REVOKE ALL ON SEQUENCE w_s_seq FROM copy_a;
DROP ROLE copy_a;
-- options of the binary format, encodings
COPY w TO STDOUT (FORMAT binary, DELIMITER ',');
COPY w TO STDOUT (FORMAT binary, NULL 'x');
COPY w TO STDOUT (FORMAT binary, HEADER);
COPY w TO STDOUT (FORMAT binary, QUOTE ',');
COPY w TO STDOUT (FORMAT binary, ESCAPE ',');
COPY w FROM STDIN (FORMAT binary, FORCE_NULL (a));
COPY w TO STDOUT (FORMAT binary, FORCE_QUOTE (a));
COPY w FROM STDIN (FORMAT binary);
a	b	c
\.
COPY w TO STDOUT (ENCODING 'nosuch');
COPY w TO STDOUT (ENCODING 1);
COPY (SELECT 1) TO STDOUT (ENCODING 'sql_ascii');
COPY (SELECT 'é') TO STDOUT (ENCODING 'UTF-8');
COPY (SELECT 1) TO STDOUT (ENCODING unicode);
-- what changes rows
COPY (INSERT INTO w (a) VALUES (7) RETURNING a, b) TO STDOUT;
COPY (INSERT INTO w (a) VALUES (7)) TO STDOUT;
COPY (UPDATE w SET a = 8 WHERE a = 7 RETURNING a, b, g) TO STDOUT (FORMAT csv, HEADER);
COPY (DELETE FROM w WHERE a = 8 RETURNING a) TO STDOUT;
COPY (SELECT 1 INTO x) TO STDOUT;
-- which value is wrong
COPY w (a, b) FROM STDIN;
1	abcd
\.
DROP TABLE w, fresh;
CREATE TABLE always (id int GENERATED ALWAYS AS IDENTITY, v text);
COPY always (id, v) FROM STDIN;
10	ten
11	eleven
\.
COPY always (v) FROM STDIN;
own
\.
SELECT * FROM always ORDER BY id;
DROP TABLE always;
-- FORCE_QUOTE names columns of a query too.
COPY (SELECT 1 AS a, 'x' AS b) TO STDOUT (FORMAT csv, HEADER, FORCE_QUOTE (a));
COPY (SELECT 1 AS a, 'x' AS b) TO STDOUT (FORMAT csv, FORCE_QUOTE (c));
-- FREEZE is for a table that is new since the last savepoint.
CREATE TABLE cold (a int);
BEGIN;
TRUNCATE cold;
SAVEPOINT s;
COPY cold FROM STDIN (FREEZE);
1
\.
ROLLBACK;
BEGIN;
SAVEPOINT s;
TRUNCATE cold;
RELEASE s;
COPY cold FROM STDIN (FREEZE);
2
\.
COMMIT;
SELECT * FROM cold;
DROP TABLE cold;
-- The relation and its columns are looked at before the options, and the right to them before that.
CREATE ROLE copy_late;
CREATE TABLE late (a int);
COPY nosuch TO STDOUT (FORMAT nosuch);
COPY nosuch FROM '/nosuch' (FORMAT nosuch);
COPY late (nosuch) TO STDOUT (FORMAT nosuch);
COPY late TO STDOUT (FORMAT nosuch);
COPY (SELECT nosuch) TO STDOUT (FORMAT nosuch);
SET ROLE copy_late;
COPY late TO STDOUT (FORMAT nosuch);
COPY late (a) TO STDOUT (FORMAT nosuch);
RESET ROLE;
DROP TABLE late;
DROP ROLE copy_late;
