-- DISTINCT ON below a LIMIT, in the order of a key: only the first rows are read.
CREATE TABLE dio (id int PRIMARY KEY, name text, n int);
INSERT INTO dio SELECT g, 'n' || g % 400, g % 7 FROM generate_series(1, 8000) g;
CREATE INDEX dio_name ON dio (name, id DESC);
ANALYZE dio;
SELECT DISTINCT ON (name) name, id FROM dio ORDER BY name, id DESC LIMIT 5;
SELECT DISTINCT ON (name) name, id, n FROM dio ORDER BY name DESC, id LIMIT 3 OFFSET 2;
SELECT DISTINCT ON (name) name, n, id FROM dio ORDER BY name, n, id LIMIT 3;
SELECT DISTINCT ON (n) n, name FROM dio ORDER BY n, name, id LIMIT 3;
SELECT count(*), sum(id) FROM (SELECT DISTINCT ON (name) name, id FROM dio ORDER BY name, id DESC) q;
SELECT q.name, q.id FROM (SELECT DISTINCT ON (name) name, id FROM dio WHERE n = 3 ORDER BY name, id DESC) q ORDER BY q.name LIMIT 3;
SELECT DISTINCT ON (a.name) a.name, b.id FROM dio a JOIN dio b ON b.id = a.n ORDER BY a.name, b.id DESC LIMIT 4;
SELECT DISTINCT ON (id) id, name FROM dio ORDER BY id DESC LIMIT 2;
DROP TABLE dio;
