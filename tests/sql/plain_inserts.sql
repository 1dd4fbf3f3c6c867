-- Rows that nobody but their table looks at while they are inserted: their records are made of the values as these are computed. What refuses
-- one shows the whole row all the same.
CREATE TABLE plain (a int PRIMARY KEY, b text NOT NULL, c numeric(6, 2), d timestamp, e int[], f "char", g bool, h float8, i interval, j uuid);
INSERT INTO plain VALUES (1, 'one', 1.005, '2024-01-01', '{1,2}', 'x', true, 1.5, '1 mon 2 days 3 s', '00000000-0000-0000-0000-000000000001');
INSERT INTO plain (a, b) VALUES (2, 'two');
INSERT INTO plain (b, a) SELECT 'n' || g, g FROM generate_series(3, 5) g;
INSERT INTO plain (a, b) VALUES (6, NULL);
INSERT INTO plain (a, c) VALUES (7, 7);
INSERT INTO plain (b) VALUES ('no key');
INSERT INTO plain VALUES (1, 'again');
INSERT INTO plain VALUES (8, 'eight', 12345.6);
SELECT * FROM plain ORDER BY a;
-- Values that leave their row, and a row that does.
INSERT INTO plain (a, b) VALUES (10, repeat('long ', 1000)), (11, repeat('longer ', 10000));
SELECT a, length(b), md5(b) FROM plain WHERE a > 9 ORDER BY a;
INSERT INTO plain (a, b) VALUES (11, repeat('longer ', 10000));
-- Keys of several columns, with and without indexes beside them.
CREATE TABLE keyed (a int, b text, c int, d text, PRIMARY KEY (b, a));
CREATE UNIQUE INDEX keyed_c ON keyed (c);
CREATE INDEX keyed_d ON keyed (d DESC NULLS FIRST, a);
INSERT INTO keyed VALUES (1, 'x', 1, 'p'), (2, 'x', 2, NULL), (1, 'y', NULL, 'p');
INSERT INTO keyed VALUES (3, 'x', 2, 'q');
INSERT INTO keyed VALUES (1, 'y', 5, 'q');
INSERT INTO keyed VALUES (NULL, 'y', 5, 'q');
SELECT a, b, c FROM keyed WHERE d = 'p' ORDER BY a, b;
SELECT a, b, c, d FROM keyed WHERE c = 2;
-- Without a key, and with columns that have been dropped and added.
CREATE TABLE changed (a int, b int, c text);
INSERT INTO changed VALUES (1, 2, 'three');
ALTER TABLE changed DROP COLUMN b;
INSERT INTO changed VALUES (2, 'two');
ALTER TABLE changed ADD COLUMN d int NOT NULL DEFAULT 4;
INSERT INTO changed VALUES (3, 'three'), (4, 'four', 5);
INSERT INTO changed VALUES (5, 'five', NULL);
SELECT * FROM changed ORDER BY a;
-- Children and parents.
CREATE TABLE parents (id int PRIMARY KEY, said text);
CREATE TABLE children (id int PRIMARY KEY, parent int REFERENCES parents, said text);
INSERT INTO parents VALUES (1, 'one'), (2, 'two');
INSERT INTO children VALUES (1, 1, 'of one'), (2, NULL, 'of none');
INSERT INTO children VALUES (3, 3, 'of nobody');
SELECT * FROM children ORDER BY id;
-- What is computed for the row stops for a routine, a subquery or an error in its middle.
CREATE FUNCTION doubled(x int) RETURNS int LANGUAGE plpgsql AS $$ BEGIN RETURN 2 * x; END $$;
INSERT INTO plain (a, b, c) VALUES (doubled(10), (SELECT max(said) FROM parents), doubled(3) / 4.0);
INSERT INTO plain (a, b, c) VALUES (21, 'x' || doubled(4), 1 / (doubled(0)));
SELECT a, b, c FROM plain WHERE a >= 20 ORDER BY a;
-- Many, within a body, and one that is caught.
CREATE FUNCTION filled(most int) RETURNS text LANGUAGE plpgsql AS $$
DECLARE refused int := 0; BEGIN
  FOR i IN 1 .. most LOOP
    BEGIN
      INSERT INTO keyed VALUES (i, 'f' || i % 7, CASE WHEN i % 50 = 0 THEN 2 ELSE 100 + i END, 'd' || i % 3);
    EXCEPTION WHEN unique_violation THEN
      refused := refused + 1;
    END;
  END LOOP;
  RETURN refused || ' of ' || most;
END $$;
SELECT filled(200);
SELECT count(*), sum(a), sum(c), min(d), max(d) FROM keyed;
-- Updates of columns that no key, index or foreign key has, beside others of the same table.
UPDATE keyed SET c = c + 1000 WHERE b = 'x' RETURNING *;
UPDATE children SET said = said || '!', parent = 2 WHERE id = 1 RETURNING id, said;
UPDATE children SET said = upper(said) WHERE id < 3 RETURNING said, parent, id;
UPDATE parents SET said = NULL WHERE id = 2 RETURNING *;
UPDATE plain SET c = c + 1, h = 2 WHERE a = 1 RETURNING a, b, c, d, e, f, g, h, i, j;
UPDATE plain SET b = NULL WHERE a = 1;
UPDATE plain SET b = repeat('grown ', 2000) WHERE a = 1 RETURNING a, length(b), c, e;
UPDATE plain SET c = 3 WHERE a IN (1, 2, 11) RETURNING a, length(b), c, e;
DELETE FROM parents WHERE id = 2;
DROP TABLE plain, keyed, changed, children, parents;
DROP FUNCTION doubled, filled;
