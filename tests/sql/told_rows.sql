-- What errors tell of a row that is refused: all of it to whoever may read the table, else the columns that he may read or
-- has written, with their names; of a key nothing unless he may read all of it.
CREATE ROLE told_reader;
CREATE TABLE told (a int PRIMARY KEY, b text NOT NULL, c int CHECK (c > 0), d text);
INSERT INTO told VALUES (1, 'x', 1, 'secret');
INSERT INTO told VALUES (2, NULL, 1, 'seen by its owner');
GRANT INSERT (a, b, c), UPDATE (b, c), SELECT (a) ON told TO told_reader;
SET ROLE told_reader;
INSERT INTO told (a, b, c) VALUES (2, NULL, 3);
INSERT INTO told (a, b, c) VALUES (2, 'b', -3);
UPDATE told SET c = -1 WHERE a = 1;
UPDATE told SET b = NULL;
INSERT INTO told (a, b, c) VALUES (1, 'twice', 3);
RESET ROLE;
REVOKE ALL (a) ON told FROM told_reader;
GRANT INSERT ON told TO told_reader;
SET ROLE told_reader;
INSERT INTO told DEFAULT VALUES;
INSERT INTO told VALUES (1, 'twice', 3, 'd');
INSERT INTO told SELECT 2, 'b', -3;
MERGE INTO told USING (SELECT 1) s ON false WHEN NOT MATCHED THEN INSERT (a, b, c) VALUES (5, 'x', -1);
RESET ROLE;
GRANT SELECT ON told TO told_reader;
SET ROLE told_reader;
INSERT INTO told VALUES (1, 'twice', 3, 'd');
INSERT INTO told VALUES (2, 'b', -3, 'd');
RESET ROLE;
CREATE VIEW told_view AS SELECT a AS x, b AS y, d AS z FROM told WHERE a < 100 WITH CHECK OPTION;
CREATE VIEW told_plain AS SELECT a AS x, b AS y, c AS z FROM told;
REVOKE ALL ON told FROM told_reader;
GRANT INSERT ON told_view, told_plain TO told_reader;
SET ROLE told_reader;
INSERT INTO told_view (x, y) VALUES (200, 'q');
INSERT INTO told_plain (x, y, z) VALUES (20, 'q', -1);
RESET ROLE;
-- Keys, computed ones and foreign ones.
CREATE TABLE told_parent (a int PRIMARY KEY, b int UNIQUE, c int);
CREATE UNIQUE INDEX told_sum ON told_parent ((c + 1));
CREATE TABLE told_child (a int REFERENCES told_parent, b int NOT NULL REFERENCES told_parent (b) ON UPDATE CASCADE ON DELETE SET NULL);
INSERT INTO told_parent VALUES (1, 1, 1), (2, 2, 2);
INSERT INTO told_child VALUES (1, 1), (NULL, 2);
GRANT INSERT ON told_parent, told_child TO told_reader;
GRANT UPDATE (a, b), DELETE, SELECT (a) ON told_parent TO told_reader;
SET ROLE told_reader;
INSERT INTO told_parent VALUES (1, 3, 3);
INSERT INTO told_parent VALUES (3, 1, 3);
INSERT INTO told_parent VALUES (3, 3, 1);
INSERT INTO told_child VALUES (7, 1);
UPDATE told_parent SET a = 9 WHERE a = 1;
DELETE FROM told_parent WHERE a = 2;
RESET ROLE;
REVOKE SELECT (a) ON told_parent FROM told_reader;
SET ROLE told_reader;
UPDATE told_parent SET a = 9;
RESET ROLE;
CREATE TABLE told_later (a int PRIMARY KEY DEFERRABLE INITIALLY DEFERRED, b int);
GRANT INSERT ON told_later TO told_reader;
SET ROLE told_reader;
BEGIN;
INSERT INTO told_later VALUES (1, 1), (1, 2);
COMMIT;
COPY told_child (b) FROM STDIN;
\N
\.
COPY told_parent FROM STDIN;
1	4	4
\.
RESET ROLE;
DROP VIEW told_view, told_plain;
DROP TABLE told, told_child, told_parent, told_later;
DROP ROLE told_reader;
