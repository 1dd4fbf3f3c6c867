-- Rows into tables that their transaction made or emptied.
BEGIN;
CREATE TABLE t (a int PRIMARY KEY, b text UNIQUE, c int DEFAULT 7 CHECK (c > 0));
CREATE INDEX t_c ON t (c DESC, a);
COPY t FROM STDIN WITH (FREEZE);
3	three	1
1	one	2
2	\N	2
5	\N	3
4	four	1
\.
SELECT * FROM t ORDER BY a;
SELECT a FROM t WHERE b = 'four';
SELECT a FROM t WHERE c = 2 ORDER BY a;
UPDATE t SET b = 'TWO' WHERE a = 2;
DELETE FROM t WHERE a = 3;
INSERT INTO t VALUES (6, 'six');
INSERT INTO t VALUES (3, 'three', 9);
COMMIT;
SELECT * FROM t ORDER BY a;
SELECT a FROM t WHERE b = 'three';
INSERT INTO t VALUES (4, 'again');
INSERT INTO t VALUES (9, 'four');
-- What comes twice fails where it came second.
BEGIN;
TRUNCATE t;
COPY t FROM STDIN;
9	a	1
8	b	1
7	b	1
9	c	1
\.
ROLLBACK;
BEGIN;
TRUNCATE t;
COPY t (c, a, b) FROM STDIN WITH (FORMAT csv, HEADER);
c,a,b
1,9,a
1,8,b
1,9,c
1,1,b
\.
ROLLBACK;
SELECT count(*) FROM t;
-- A savepoint takes a load back, and the rows from before are there.
BEGIN;
SAVEPOINT one;
TRUNCATE t;
COPY t FROM STDIN;
100	hundred	1
\.
SELECT * FROM t;
SAVEPOINT two;
COPY t FROM STDIN;
101	more	1
\.
ROLLBACK TO two;
SELECT * FROM t;
COPY t FROM STDIN;
100	again	1
\.
ROLLBACK TO one;
SELECT count(*), sum(a) FROM t;
COMMIT;
-- A query's rows.
BEGIN;
CREATE TABLE u (id int, v text, w numeric);
INSERT INTO u SELECT n, 'row ' || n, n / 4.0 FROM generate_series(1, 3000) AS n;
SELECT count(*), min(id), max(id), sum(w) FROM u;
COMMIT;
SELECT count(*), min(v), max(v) FROM u WHERE id > 2990;
BEGIN;
CREATE TABLE k (id int PRIMARY KEY, r int UNIQUE);
INSERT INTO k SELECT 5001 - n, n % 5000 FROM generate_series(1, 5000) AS n;
SELECT * FROM k WHERE r = 17;
SELECT count(*) FROM k WHERE id BETWEEN 10 AND 20;
SAVEPOINT s;
TRUNCATE k;
INSERT INTO k SELECT n % 4000, n FROM generate_series(1, 5000) AS n;
ROLLBACK TO s;
TRUNCATE k;
INSERT INTO k SELECT n, n % 4000 FROM generate_series(1, 5000) AS n;
ROLLBACK;
-- Values too long for a page.
BEGIN;
CREATE TABLE l (id int, v text, w text);
INSERT INTO l SELECT n, repeat(chr(96 + n), 20000 * n), repeat('w', n) FROM generate_series(1, 5) AS n;
SELECT id, length(v), length(w), substr(v, 19999, 3) FROM l ORDER BY id;
COMMIT;
-- A key that refers to its own table, and one that refers to another.
BEGIN;
CREATE TABLE tree (id int PRIMARY KEY, parent int REFERENCES tree);
COPY tree FROM STDIN;
1	\N
2	1
3	2
\.
CREATE TABLE child (id int PRIMARY KEY, tree int REFERENCES tree);
COPY child FROM STDIN;
1	3
2	1
\.
SAVEPOINT s;
COPY child FROM STDIN;
3	4
\.
ROLLBACK TO s;
SELECT * FROM child ORDER BY id;
COMMIT;
SELECT count(*) FROM tree;
