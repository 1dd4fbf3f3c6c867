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
