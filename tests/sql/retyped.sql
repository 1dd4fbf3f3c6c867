-- ALTER COLUMN TYPE of columns that constraints, indexes and generated columns name: their texts are read again over the
-- new types, and the rows held against them.
CREATE TABLE p (id int PRIMARY KEY, code varchar(5) UNIQUE CHECK (length(code) > 1), n int CHECK (n > 0), b bool CHECK (b), t text CHECK (t <> 'x'));
CREATE TABLE c (pid int REFERENCES p, pcode varchar(5) REFERENCES p (code), v int GENERATED ALWAYS AS (pid * 2) STORED);
CREATE VIEW said AS
  SELECT conrelid::regclass AS of, conname AS name, pg_get_constraintdef(oid) AS says FROM pg_constraint WHERE conrelid::regclass::text IN ('p', 'c', 'self', 'q', 'late')
  UNION ALL SELECT indrelid::regclass, indexrelid::regclass::text, pg_get_indexdef(indexrelid) FROM pg_index WHERE indrelid::regclass::text IN ('p', 'c', 'self', 'q', 'late')
  UNION ALL SELECT attrelid::regclass, attname, format_type(atttypid, atttypmod) FROM pg_attribute WHERE attnum > 0 AND attrelid::regclass::text IN ('p', 'c', 'self', 'q', 'late');
INSERT INTO p VALUES (1, 'ab', 5, true, 'y'), (2, 'cd', 6, true, 'z');
INSERT INTO c VALUES (1, 'ab'), (2, NULL), (NULL, 'cd');
CREATE INDEX ON p ((n + 1));
CREATE INDEX ON p (n) WHERE n > 3;
CREATE INDEX ON p (lower(t));
ALTER TABLE p ALTER id TYPE bigint;
SELECT * FROM said ORDER BY 1, 2, 3;
ALTER TABLE p ALTER id TYPE text;
ALTER TABLE c ALTER pid TYPE bigint;
ALTER TABLE c ALTER pcode TYPE text;
ALTER TABLE p ALTER code TYPE varchar(10);
ALTER TABLE p ALTER n TYPE bigint;
SELECT * FROM said ORDER BY 1, 2, 3;
ALTER TABLE p ALTER n TYPE numeric(10,2);
ALTER TABLE p ALTER b TYPE int USING b::int;
ALTER TABLE p ALTER t TYPE varchar(20);
ALTER TABLE p ALTER n TYPE smallint USING -1;
ALTER TABLE p ALTER n TYPE smallint USING 70000;
SELECT * FROM said ORDER BY 1, 2, 3;
-- They still hold.
INSERT INTO p VALUES (3, 'ab', 5, true, 'y');
INSERT INTO p VALUES (3, 'abc', 0, true, 'y');
INSERT INTO p VALUES (3, 'abc', 1, true, 'x');
INSERT INTO p VALUES (3, 'a', 1, true, 'y');
INSERT INTO c VALUES (7);
INSERT INTO c VALUES (5000000000);
DELETE FROM p WHERE id = 1;
UPDATE p SET id = 3 WHERE id = 2;
INSERT INTO p VALUES (5000000000, 'abcdefghij', 1.5, true, 'y');
SELECT id FROM p WHERE n + 1 > 2 ORDER BY id;
SELECT id FROM p WHERE n > 3 ORDER BY id;
SELECT id FROM p WHERE lower(t) = 'z';
SELECT * FROM c ORDER BY pid, pcode;
ALTER TABLE p ALTER t TYPE int USING 5;
ALTER TABLE p ALTER n TYPE int, ALTER code TYPE text, DROP CONSTRAINT p_n_check;
ALTER TABLE p ALTER id TYPE smallint;
DELETE FROM p WHERE id > 2;
ALTER TABLE p ALTER id TYPE smallint;
SELECT * FROM said ORDER BY 1, 2, 3;
-- Rows are looked at again.
ALTER TABLE p ALTER id TYPE int USING id + 1;
ALTER TABLE c ALTER pcode TYPE text USING pcode || 'x';
SELECT * FROM p ORDER BY id;
SELECT * FROM c ORDER BY pid, pcode;
-- Generated columns themselves.
ALTER TABLE c ALTER v TYPE bigint;
ALTER TABLE c ALTER v TYPE bigint USING 3;
ALTER TABLE c ALTER v TYPE date;
ALTER TABLE c ALTER v TYPE numeric(8, 1);
INSERT INTO c VALUES (2, NULL) RETURNING *;
SELECT * FROM c ORDER BY pid, pcode;
-- Both sides in one statement.
CREATE TABLE self (id int PRIMARY KEY, up int REFERENCES self);
INSERT INTO self VALUES (1, NULL), (2, 1);
ALTER TABLE self ALTER up TYPE text;
ALTER TABLE self ALTER id TYPE bigint, ALTER up TYPE bigint;
ALTER TABLE self ALTER id TYPE bigint USING id + 1;
ALTER TABLE self ALTER id TYPE bigint USING id + 10, ALTER up TYPE int USING up + 10;
SELECT * FROM self ORDER BY id;
SELECT * FROM said WHERE of = 'self'::regclass ORDER BY 1, 2, 3;
CREATE TABLE q (a int, b int, UNIQUE (a, b), CHECK (a < b));
INSERT INTO q VALUES (1, 2), (2, 3);
ALTER TABLE q ALTER a TYPE text USING a::text, ALTER b TYPE text USING b::text;
ALTER TABLE q ALTER a TYPE int USING 1, ALTER b TYPE int USING 1;
ALTER TABLE q ALTER a TYPE int USING 1, ALTER b TYPE int USING 2;
SELECT * FROM said WHERE of = 'q'::regclass ORDER BY 1, 2, 3;
SELECT * FROM q ORDER BY a, b;
-- What is not validated stays so.
CREATE TABLE late (a int);
INSERT INTO late VALUES (0), (7);
ALTER TABLE late ADD CHECK (a > 0) NOT VALID, ADD FOREIGN KEY (a) REFERENCES p NOT VALID;
ALTER TABLE late ALTER a TYPE bigint;
SELECT conname, convalidated, pg_get_constraintdef(oid) FROM pg_constraint WHERE conrelid = 'late'::regclass ORDER BY 1;
ALTER TABLE late VALIDATE CONSTRAINT late_a_check;
INSERT INTO late VALUES (0);
INSERT INTO late VALUES (7);
-- Inside a transaction, and back.
BEGIN;
ALTER TABLE p ALTER code TYPE varchar(6);
INSERT INTO p VALUES (8, 'abcd', 1, true, 1), (9, 'a', 1, true, 1);
ROLLBACK;
BEGIN;
SAVEPOINT s;
ALTER TABLE p ALTER code TYPE varchar(2);
ROLLBACK TO s;
INSERT INTO p VALUES (9, 'longer', 1, true, 1);
COMMIT;
SELECT * FROM p ORDER BY id;
