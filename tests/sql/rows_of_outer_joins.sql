-- The whole row of what an outer join may have none of: NULL where there is none, a row where there is one without values.
CREATE TABLE clients (id int PRIMARY KEY, name text);
INSERT INTO clients VALUES (1, 'a'), (2, 'b'), (3, 'c');
CREATE TABLE sums (id int, client int, amount int);
INSERT INTO sums VALUES (1, 1, 5), (2, 1, 7), (3, 2, NULL);
CREATE VIEW nothing AS SELECT NULL::int AS a, NULL::int AS b FROM generate_series(1, 2);
SELECT c.id, row_to_json(s), s IS NULL, s IS NOT NULL FROM clients c LEFT JOIN LATERAL (SELECT max(amount) AS most, sum(amount) AS all FROM sums WHERE client = c.id) s ON true ORDER BY 1;
SELECT c.id, count(s), count(s.*), json_agg(s ORDER BY s) FROM clients c LEFT JOIN (SELECT client, nullif(amount, 5), nullif(client, 1) FROM sums) s(x, y, z) ON c.id = s.x GROUP BY 1 ORDER BY 1;
WITH w AS (SELECT NULL::int AS a, NULL::int AS b FROM generate_series(1, 2)) SELECT c.id, w, row_to_json(w.*) FROM clients c LEFT JOIN w ON c.id < 3 ORDER BY 1;
SELECT c.id, nothing, row_to_json(nothing.*), (SELECT nothing IS NULL) FROM clients c LEFT JOIN nothing ON c.id < 2 ORDER BY 1;
SELECT c.id, nothing, n.n FROM nothing FULL JOIN clients c ON nothing.a = c.id FULL JOIN (VALUES (NULL::int, NULL::int)) n(n, m) ON n.n = c.id ORDER BY 1, nothing, n;
SELECT count(f), count(*) FROM generate_series(0, 1) g(g) FULL JOIN ROWS FROM (unnest('{1,NULL,3}'::int[]), generate_series(1, 1)) f(u, v) ON g.g = f.v;
SELECT c.id, f, f IS NULL FROM clients c LEFT JOIN LATERAL jsonb_to_record('{}') f(p int, q int) ON c.id < 3 ORDER BY 1;
SELECT c.id, to_jsonb(j) FROM clients c LEFT JOIN (clients b JOIN (VALUES (2, NULL::int)) v(p, q) ON v.p = b.id) j(id) ON j.id = c.id ORDER BY 1;
SELECT c.id, v, b FROM clients c LEFT JOIN (clients b LEFT JOIN (VALUES (2, NULL::int), (NULL, NULL)) v(p, q) ON v.p = b.id OR v.p IS NULL) ON b.id = c.id ORDER BY 1, 2;
SELECT nothing.*, c.id FROM nothing RIGHT JOIN clients c ON nothing.a = c.id ORDER BY 3;
UPDATE clients SET name = coalesce(row_to_json(q)::text, 'none') FROM (VALUES (1), (2)) z(i) LEFT JOIN (SELECT NULL::int AS a, NULL::int AS b FROM sums WHERE id = 1) q ON z.i = 1 WHERE id = i RETURNING *;
-- In views, which are kept, shown and read again, and behind changes of what they read.
CREATE VIEW rows_kept AS SELECT c.id, nothing, row_to_json(nothing.*) AS j, (SELECT nothing IS NULL) AS k, nothing.a FROM nothing RIGHT JOIN (SELECT * FROM clients) c ON c.id = nothing.a LEFT JOIN LATERAL (SELECT c.name, nothing.b) l ON l.name IS NOT NULL WHERE l IS NOT NULL OR l IS NULL ORDER BY c.id, l;
SELECT * FROM rows_kept;
SELECT pg_get_viewdef('rows_kept'::regclass);
SELECT pg_get_viewdef('rows_kept'::regclass, true);
ALTER TABLE clients RENAME name TO called;
SELECT id, nothing, k FROM rows_kept WHERE id < 3;
CREATE FUNCTION pairs(OUT p int, OUT q int) RETURNS SETOF record LANGUAGE sql AS 'SELECT NULL::int, NULL::int FROM generate_series(1, 2)';
CREATE VIEW rows_of_pairs AS SELECT c.id, row_to_json(f) AS f, count(f) OVER () AS n FROM clients c LEFT JOIN pairs() f ON c.id = 2;
SELECT * FROM rows_of_pairs ORDER BY 1;
SELECT pg_get_viewdef('rows_of_pairs'::regclass, true);
-- A function of such a row, written as a field of it.
CREATE FUNCTION told(nothing) RETURNS text LANGUAGE plpgsql AS 'BEGIN RETURN coalesce($1::text, ''none''); END';
SELECT c.id, nothing.told, told(nothing) FROM clients c LEFT JOIN nothing ON c.id = 1 ORDER BY c.id;
SELECT c.id, s.row_to_json FROM clients c LEFT JOIN (SELECT NULL::int AS p, NULL::int AS q) s ON c.id = 2 ORDER BY 1;
DROP FUNCTION told;
-- A comparison of rows that were cast is an operator as any other.
CREATE TYPE pair AS (a int, b text);
CREATE VIEW pairs_compared AS SELECT ROW(1, 2) < ROW(3, 4) AS a, ROW(1, 'a')::pair < ROW(2, 'b')::pair AS b, ROW(1, 'a') < ROW(2, 'b')::pair AS c, NOT ROW(1, 'a')::pair <> ROW(2, 'b')::pair AS d;
SELECT pg_get_viewdef('pairs_compared'::regclass, true);
SELECT pg_get_viewdef('pairs_compared'::regclass);
DROP VIEW pairs_compared, rows_of_pairs, rows_kept, nothing;
DROP FUNCTION pairs;
DROP TYPE pair;
DROP TABLE clients, sums;
