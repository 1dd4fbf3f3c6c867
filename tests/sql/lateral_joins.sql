-- LATERAL queries that ask rows by values beside them, as joins: the same rows, by a hash table where no key serves.
CREATE TABLE makers (id int PRIMARY KEY, rank int);
CREATE TABLE parts (id int PRIMARY KEY, maker int, name text);
INSERT INTO makers SELECT g, g % 10 FROM generate_series(1, 3000) g;
INSERT INTO parts SELECT g, g % 2000 + 1, 'n' || g FROM generate_series(1, 3000) g;
ANALYZE makers, parts;
SELECT count(*), count(s.name) FROM makers m LEFT JOIN LATERAL (SELECT * FROM parts p WHERE p.maker = m.id) s ON true;
SELECT count(*), count(s.name), sum(s.rank) FROM makers m, LATERAL (SELECT name, m.rank FROM parts p WHERE p.maker = m.id) s;
SELECT count(*), sum(s.x) FROM makers m JOIN LATERAL (SELECT m.rank + p.id AS x FROM parts p WHERE p.maker = m.id) s ON s.x > 100;
SELECT count(s), count(s.u), sum(s.n) FROM makers m LEFT JOIN LATERAL (SELECT CASE WHEN p.id > 10 THEN m.rank END AS u, m.id + p.id AS n, name FROM parts p WHERE p.maker = m.id AND name > 'n3') s ON s.n > 20;
SELECT count(*), count(s.id), count(s.z) FROM makers m LEFT JOIN LATERAL (SELECT p.*, o.id AS z FROM parts p LEFT JOIN makers o ON o.id = p.id AND o.rank = 1 WHERE p.maker = m.id) s ON s.id % 2 = 0;
SELECT count(*), count(s.id) FROM makers m LEFT JOIN LATERAL (SELECT p.* FROM parts p JOIN makers o ON o.id = p.id AND o.rank <> m.rank WHERE p.maker = m.id) s ON s.id % 2 = 0;
SELECT m.id, s, s.u IS NULL, (s).n FROM makers m LEFT JOIN LATERAL (SELECT 1 AS one, m.rank AS u, m.id + p.id AS n, name FROM parts p WHERE p.maker = m.id AND name > 'n3') s ON s.n > 20 WHERE m.id < 12 ORDER BY m.id, s;
SELECT m.id, s, t FROM makers m LEFT JOIN LATERAL (SELECT m.rank AS u, p.id FROM parts p WHERE p.maker = m.id AND p.id % 2 = 0) s ON true LEFT JOIN LATERAL (SELECT s.u + m.rank AS x, s.id IS NULL AS y, o.id AS z FROM makers o WHERE o.id = s.id + m.id) t ON t.x >= 0 WHERE m.id < 12 ORDER BY m.id, s.id;
SELECT m.id, s.q FROM makers m JOIN LATERAL (SELECT m.rank + o.rank AS q, o.id FROM makers o WHERE o.id = m.id + 1) s ON s.q > 3 JOIN parts p ON p.id = s.id + s.q WHERE m.id < 12 ORDER BY m.id;
-- What cannot be asked beside: computed anew for each row, or missing in an outer join of its own.
SELECT m.id, s.g FROM makers m LEFT JOIN LATERAL (SELECT generate_series(1, m.rank % 3) AS g, p.name FROM parts p WHERE p.maker = m.id) s ON true WHERE m.id < 8 ORDER BY m.id, s.g;
SELECT m.id, s.* FROM makers m LEFT JOIN LATERAL (SELECT p.id, p.name FROM parts p WHERE p.maker = m.id ORDER BY p.id DESC LIMIT 1) s ON true WHERE m.id < 5 ORDER BY m.id;
SELECT m.id, s.z FROM makers m LEFT JOIN LATERAL (SELECT o.id AS z FROM parts p LEFT JOIN makers o ON o.id = p.id AND o.rank = m.rank WHERE p.maker = m.id) s ON true WHERE m.id < 8 ORDER BY m.id, s.z;
SELECT m.id, s.most FROM makers m LEFT JOIN LATERAL (SELECT (SELECT max(o.id) FROM makers o WHERE o.rank = m.rank AND o.id <= p.id) AS most FROM parts p WHERE p.maker = m.id) s ON true WHERE m.id < 8 ORDER BY m.id, s.most;
WITH u AS (UPDATE makers SET rank = s.x FROM (VALUES (1), (2), (2999)) z(i) LEFT JOIN LATERAL (SELECT p.id + z.i AS x FROM parts p WHERE p.maker = z.i AND p.id < 2000) s ON true WHERE makers.id = z.i RETURNING makers.*) SELECT * FROM u ORDER BY id;
CREATE VIEW made AS SELECT m.id, s.name, s.twice FROM makers m LEFT JOIN LATERAL (SELECT p.name, m.rank * 2 AS twice FROM parts p WHERE p.maker = m.id) s ON true;
SELECT * FROM made WHERE id IN (3, 2500) ORDER BY 1, 2;
SELECT count(*), count(twice), sum(twice) FROM made WHERE twice > 4 OR twice IS NULL;
SELECT count(*) FROM made WHERE name = 'n77';
DROP VIEW made;
DROP TABLE makers, parts;
