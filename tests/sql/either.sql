-- An OR whose sides are served by several keys: each row comes once, whatever ways lead to it.
CREATE TABLE people (id int PRIMARY KEY, mail text, phone text, born int, town text, note text);
CREATE UNIQUE INDEX people_mail ON people (mail);
CREATE INDEX people_phone ON people (phone);
CREATE INDEX people_born ON people (born, town);
CREATE INDEX people_upper ON people (upper(note));
CREATE INDEX people_old ON people (town) WHERE born < 1950;
INSERT INTO people SELECT n, 'm' || n, CASE WHEN n % 7 > 0 THEN 'p' || n % 50 END, 1900 + n % 100,
    'town' || n % 11, CASE WHEN n % 3 > 0 THEN 'note ' || n END FROM generate_series(1, 2000) n;
ANALYZE people;
-- The same row by both ways, by one, by none.
SELECT id FROM people WHERE mail = 'm7' OR phone = 'p8' ORDER BY id;
SELECT id FROM people WHERE mail = 'm58' OR phone = 'p8' ORDER BY id;
SELECT id FROM people WHERE mail = 'nobody' OR phone = 'no phone' ORDER BY id;
SELECT count(*), count(DISTINCT id) FROM people WHERE phone = 'p8' OR born = 1908 OR id < 30 OR mail = 'm1708';
-- A key beside another, with more conditions beside the OR and in its sides.
SELECT id, born, town FROM people WHERE (id = 4 OR mail = 'm5' OR born = 1906 AND town = 'town6') AND id < 700 ORDER BY id;
SELECT id FROM people WHERE (phone = 'p9' AND note IS NULL OR born = 1909 AND id % 2 = 1) AND town > 'town5' ORDER BY id;
SELECT id FROM people WHERE born < 1902 AND town = 'town1' OR born IN (1950, 1960) AND town = 'town2' OR id > 1998 ORDER BY id;
SELECT id FROM people WHERE id < 4 OR id IN (9, 2, 11) OR phone IN ('p49', 'p3') AND born > 1990 ORDER BY id;
-- Expressions, and an index of a part of the rows.
SELECT id FROM people WHERE upper(note) = 'NOTE 77' OR mail = 'm78' ORDER BY id;
SELECT id FROM people WHERE born < 1950 AND town = 'town10' AND id < 200 OR mail = 'm3' ORDER BY id;
-- NULLs meet nothing, on either side.
SELECT id FROM people WHERE mail = NULL OR phone = 'p8' AND id < 100 ORDER BY id;
SELECT id FROM people WHERE phone = (SELECT note FROM people WHERE id = 3) OR id = 3 ORDER BY id;
SELECT count(*) FROM people WHERE phone IS NULL OR mail = 'm1';
SELECT count(*) FROM people WHERE NOT (mail <> 'm1' AND phone <> 'p8');
-- A side without a key.
SELECT id FROM people WHERE mail = 'm9' OR note = 'note 10' ORDER BY id;
-- Types that need another form, values that no row can have.
SELECT id FROM people WHERE id = 5000000000 OR born = 1907::bigint AND id < 300 ORDER BY id;
SELECT id FROM people WHERE id = 12::smallint OR mail = 'm13'::varchar ORDER BY id;
-- What a side computes is computed as often as its row comes, not more: the first side's error is the row's.
SELECT id FROM people WHERE id = 10 AND 1 / (born - 1910) > 0 OR mail = 'm11' ORDER BY id;
SELECT id FROM people WHERE mail = 'm11' OR id = 11 AND 1 / (born - 1911) > 0 ORDER BY id;
-- Parameters, also NULL.
PREPARE by_either (text, text) AS SELECT id FROM people WHERE mail = $1 OR phone = $2 ORDER BY id LIMIT 5;
EXECUTE by_either ('m1', 'p2');
EXECUTE by_either (NULL, 'p2');
EXECUTE by_either ('m1', NULL);
EXECUTE by_either (NULL, NULL);
-- Joins: the other table's values choose the rows.
CREATE TABLE asked (n int, mail text, phone text);
INSERT INTO asked VALUES (1, 'm1', 'p2'), (2, 'm2', 'p2'), (3, NULL, 'p3'), (4, 'm4', NULL), (5, 'none', 'none');
SELECT n, count(p.id), min(p.id), max(p.id) FROM asked a LEFT JOIN people p ON p.mail = a.mail OR p.phone = a.phone GROUP BY n ORDER BY n;
SELECT n, p.id FROM asked a JOIN people p ON p.mail = a.mail OR p.id = a.n + 2 ORDER BY n, p.id;
SELECT n FROM asked a WHERE EXISTS (SELECT FROM people p WHERE p.mail = a.mail OR p.phone = a.phone) ORDER BY n;
SELECT n, (SELECT sum(id) FROM people p WHERE p.mail = a.mail OR p.phone = a.phone) FROM asked a ORDER BY n;
-- Rows are locked and changed once.
SELECT id FROM people WHERE (mail = 'm58' OR phone = 'p8') AND id < 200 ORDER BY id FOR UPDATE;
WITH older AS (UPDATE people SET born = born + 1 WHERE mail = 'm58' OR phone = 'p8' AND id < 200 RETURNING id, born) TABLE older ORDER BY id;
UPDATE people SET phone = 'p8', mail = 'new' WHERE mail = 'm58' OR phone = 'p8' AND id = 8 OR mail = 'new';
UPDATE people SET phone = 'p8', mail = 'new' WHERE mail = 'm58';
UPDATE people SET phone = 'moved' WHERE phone = 'p8' OR phone = 'moved' OR mail = 'new';
DELETE FROM people WHERE phone = 'moved' OR mail = 'm59' OR born = 1903;
SELECT count(*), sum(id) FROM people;
-- A cursor goes both ways, and its rows can be named.
BEGIN;
DECLARE either SCROLL CURSOR FOR SELECT id FROM people WHERE mail = 'm1' OR id = 2 ORDER BY id;
FETCH ALL FROM either;
FETCH BACKWARD ALL FROM either;
DECLARE named CURSOR FOR SELECT id FROM people WHERE mail = 'm1' OR phone = 'no phone' FOR UPDATE;
FETCH named;
UPDATE people SET note = 'named' WHERE CURRENT OF named RETURNING id, note;
ROLLBACK;
DROP TABLE people, asked;
