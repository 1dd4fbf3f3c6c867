-- Rows as a whole, tested for NULL, in the CHECKs of the statement that makes their table too.
CREATE TABLE own (a int, b int, CHECK (own.* IS DISTINCT FROM NULL), CHECK ((own).a IS NULL OR (own.*).a > 0), CHECK (NULL IS DISTINCT FROM own));
INSERT INTO own VALUES (1, NULL);
INSERT INTO own VALUES (NULL, NULL);
INSERT INTO own VALUES (-1, 1);
CREATE TABLE own_not (a int, CHECK ((own_not).b > 0));
CREATE TABLE holds (a own CHECK (a IS DISTINCT FROM NULL), b own CHECK (NULL IS NOT DISTINCT FROM b), c int CHECK (c IS DISTINCT FROM NULL));
INSERT INTO holds (a, c) VALUES (ROW(NULL, NULL), 1);
INSERT INTO holds (c) VALUES (1);
INSERT INTO holds (a, b, c) VALUES (ROW(1, 1), ROW(NULL, NULL), 1);
SELECT conname, pg_get_constraintdef(oid), pg_get_constraintdef(oid, true) FROM pg_constraint WHERE conrelid IN ('own'::regclass, 'holds'::regclass) ORDER BY conname;
SELECT own.* IS DISTINCT FROM NULL AS x, own IS NOT DISTINCT FROM NULL AS y, NULL IS DISTINCT FROM own AS z, own IS NULL AS n FROM own ORDER BY a;
CREATE VIEW tests_rows AS SELECT own.* IS DISTINCT FROM NULL AS x, NOT (own IS NOT DISTINCT FROM NULL) AND a > 0 AS y, NULL IS DISTINCT FROM own AS z, (own IS DISTINCT FROM NULL) = (a IS DISTINCT FROM NULL) AS n, own IS DISTINCT FROM ROW(1, NULL)::own AS r FROM own;
SELECT pg_get_viewdef('tests_rows'), pg_get_viewdef('tests_rows', true);
SELECT * FROM tests_rows;
