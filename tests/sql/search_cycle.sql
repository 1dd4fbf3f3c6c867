-- SEARCH and CYCLE of recursive queries.
CREATE TABLE graph (f int, t int, label text);
INSERT INTO graph VALUES (1, 2, 'a'), (1, 3, 'b'), (2, 3, 'c'), (1, 4, 'd'), (4, 5, 'e'), (5, 1, 'f');
WITH RECURSIVE s AS (SELECT * FROM graph WHERE f = 1 UNION ALL SELECT g.* FROM graph g, s WHERE g.f = s.t AND g.f < g.t) SEARCH DEPTH FIRST BY f, t SET seq SELECT * FROM s ORDER BY seq;
WITH RECURSIVE s AS (SELECT * FROM graph WHERE f = 1 UNION ALL SELECT g.* FROM graph g, s WHERE g.f = s.t AND g.f < g.t) SEARCH BREADTH FIRST BY f, t SET seq SELECT * FROM s ORDER BY seq;
WITH RECURSIVE s (a, b) AS (SELECT f, t FROM graph WHERE f = 1 UNION ALL SELECT g.f, g.t FROM graph g, s WHERE g.f = s.b) CYCLE a, b SET is_cycle USING path SELECT * FROM s ORDER BY path;
WITH RECURSIVE s (a, b) AS (SELECT f, t FROM graph WHERE f = 1 UNION SELECT g.f, g.t FROM graph g JOIN s AS before ON g.f = before.b) CYCLE a, b SET is_cycle TO 'Y' DEFAULT 'N' USING path SELECT * FROM s ORDER BY path;
WITH RECURSIVE s (a, b) AS (SELECT f, t FROM graph WHERE f = 1 UNION ALL SELECT g.f, g.t FROM graph g, s WHERE g.f = s.b) SEARCH DEPTH FIRST BY b SET seq CYCLE a, b SET is_cycle USING path SELECT * FROM s ORDER BY seq;
WITH RECURSIVE s (a, b) AS (SELECT f, t FROM graph WHERE f = 1 UNION ALL SELECT g.f, g.t FROM graph g, s WHERE g.f = s.b) SEARCH BREADTH FIRST BY a, b SET seq CYCLE a SET is_cycle TO 1 DEFAULT 0 USING path SELECT a, b, seq, is_cycle, path FROM s ORDER BY seq;
WITH RECURSIVE s (a) AS (VALUES (1) UNION ALL SELECT a + 1 FROM s AS x WHERE a < 3) SEARCH DEPTH FIRST BY a SET seq CYCLE a SET c TO 5 DEFAULT 6 USING p SELECT *, pg_typeof(seq), pg_typeof(c), pg_typeof(p) FROM s ORDER BY seq;
WITH RECURSIVE s (a) AS (SELECT 1 UNION ALL SELECT a + 1 FROM s WHERE a < 3) CYCLE a SET c TO date '2000-01-01' DEFAULT date '2000-01-02' USING p, q AS (SELECT count(*) FROM s WHERE c > '2000-01-01') SELECT * FROM q;
-- what they may not be
WITH RECURSIVE s AS (SELECT 1 AS x) SEARCH DEPTH FIRST BY x SET seq SELECT * FROM s;
WITH s AS (SELECT 1 AS x) CYCLE x SET c USING p SELECT * FROM s;
WITH RECURSIVE s (a) AS (SELECT 1 UNION ALL SELECT a + 1 FROM s WHERE a < 3) SEARCH DEPTH FIRST BY a, a SET seq SELECT * FROM s;
WITH RECURSIVE s (a) AS (SELECT 1 UNION ALL SELECT a + 1 FROM s WHERE a < 3) SEARCH BREADTH FIRST BY z SET seq SELECT * FROM s;
WITH RECURSIVE s (a) AS (SELECT 1 UNION ALL SELECT a + 1 FROM s) SEARCH DEPTH FIRST BY a SET a SELECT * FROM s;
WITH RECURSIVE s (a) AS (SELECT 1 UNION ALL SELECT 1 FROM s WHERE false) SEARCH DEPTH FIRST BY a SET a SELECT * FROM s;
WITH RECURSIVE s (a) AS (SELECT 1 UNION ALL SELECT 1 FROM s WHERE false) CYCLE a SET a USING p SELECT * FROM s;
WITH RECURSIVE s (a) AS (SELECT 1 UNION ALL SELECT 1 FROM s WHERE false) CYCLE a SET c USING a SELECT * FROM s;
WITH RECURSIVE s (a) AS (SELECT 1 UNION ALL SELECT a + 1 FROM s WHERE a < 3) CYCLE a SET c TO 1 DEFAULT 'x' USING p SELECT * FROM s;
WITH RECURSIVE s (a) AS (SELECT 1 UNION ALL SELECT a + 1 FROM s WHERE a < 3) CYCLE a SET c USING c SELECT * FROM s;
WITH RECURSIVE s (a) AS (SELECT 1 UNION ALL SELECT a + 1 FROM s WHERE a < 3) CYCLE a, a SET c USING p SELECT * FROM s;
WITH RECURSIVE s (a) AS (SELECT 1 UNION ALL SELECT a + 1 FROM s WHERE a < 3) CYCLE z SET c USING p SELECT * FROM s;
WITH RECURSIVE s (a) AS (SELECT 1 UNION ALL SELECT a + 1 FROM s WHERE a < 3) SEARCH DEPTH FIRST BY a SET q CYCLE a SET q USING p SELECT * FROM s;
WITH RECURSIVE s (a) AS (SELECT 1 UNION ALL SELECT a + 1 FROM s WHERE a < 3) SEARCH DEPTH FIRST BY a SET q CYCLE a SET c USING q SELECT * FROM s;
WITH RECURSIVE s (a) AS ((SELECT 1 UNION ALL SELECT 2) UNION ALL SELECT a + 1 FROM s WHERE a < 3) SEARCH DEPTH FIRST BY a SET q SELECT * FROM s;
WITH RECURSIVE s (a) AS (SELECT 1 UNION ALL SELECT a + 1 FROM (SELECT * FROM s) AS x WHERE a < 3) SEARCH DEPTH FIRST BY a SET q SELECT * FROM s;
-- views
CREATE VIEW traced AS WITH RECURSIVE s (a) AS (SELECT 1 UNION ALL SELECT a + 1 FROM s WHERE a < 3) SEARCH DEPTH FIRST BY a SET seq CYCLE a SET c USING p SELECT a, c FROM s;
SELECT pg_get_viewdef('traced');
SELECT * FROM traced ORDER BY a;
CREATE VIEW worded AS WITH RECURSIVE s (a) AS (SELECT 1 UNION ALL SELECT a + 1 FROM s WHERE a < 3) SEARCH BREADTH FIRST BY a SET seq CYCLE a SET c TO 'y' DEFAULT 'n' USING p, q AS (SELECT 1 AS z) SELECT a, c, z FROM s, q;
SELECT pg_get_viewdef('worded', true);
SELECT * FROM worded ORDER BY a;
CREATE VIEW refused AS WITH RECURSIVE s (a) AS (SELECT 1 UNION ALL SELECT a + 1 FROM s WHERE a < 3) SEARCH DEPTH FIRST BY a SET seq SELECT * FROM s;
-- What CYCLE and SEARCH add is no part of a star within the recursive term.
with recursive a as (select 1 as b union all select * from a) cycle b set c using p select * from a;
with recursive a as (select 1 as b union all select a.* from a where b < 0) search depth first by b set s select b from a;
with recursive x(col) as (select 1 union (with x as (select * from x) select * from x)) search depth first by col set seq select * from x;
-- A second term that is more than a SELECT.
with recursive n(a) as (select 1 union all (select 2 union all select a + 1 from n where a < 3)) search depth first by a set o select * from n;
with recursive n(a) as (select 1 union all (select 2 union all select a + 1 from n where a < 3)) cycle a set c using p select * from n;
with recursive n(a) as ((select 1 union all select 2) union all select a + 1 from n where a < 3) search depth first by a set o select * from n;
with recursive n(a) as (select 1 union all values (2)) search depth first by a set o select * from n;
