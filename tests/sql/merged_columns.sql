-- What stands for two columns of a join: of an inner join the one that needs no cast, of an outer join the side's that is there,
-- of a full join whichever is there. It is what views print, too.
CREATE TABLE whole (x int, y int);
CREATE TABLE exact (x numeric, z int);
CREATE TABLE other (w int);
INSERT INTO whole VALUES (1, 1);
INSERT INTO exact VALUES (1.00, 2);
SELECT x, pg_typeof(x) FROM whole JOIN exact USING (x);
SELECT x, pg_typeof(x) FROM exact JOIN whole USING (x);
SELECT x FROM whole LEFT JOIN exact USING (x);
SELECT x FROM whole RIGHT JOIN exact USING (x);
SELECT x FROM whole FULL JOIN exact USING (x);
SELECT x FROM whole NATURAL JOIN exact;
CREATE VIEW v01 AS SELECT x, y, z FROM whole JOIN exact USING (x);
CREATE VIEW v02 AS SELECT * FROM (whole NATURAL JOIN exact) j;
CREATE VIEW v03 AS SELECT * FROM (whole NATURAL LEFT JOIN exact) j;
CREATE VIEW v04 AS SELECT * FROM (whole NATURAL FULL JOIN exact) j WHERE x > 0;
CREATE VIEW v05 AS SELECT * FROM whole NATURAL JOIN other;
CREATE VIEW v06 AS SELECT * FROM (whole NATURAL JOIN other) j;
-- A query in parentheses is an array there, and no set of rows.
CREATE VIEW v07 AS SELECT x = ANY ((SELECT ARRAY[1, 2])) AS b FROM whole;
CREATE VIEW v08 AS SELECT x FROM whole ORDER BY x FETCH FIRST 2 + 1 ROWS WITH TIES;
CREATE VIEW v09 AS SELECT x FROM whole ORDER BY x FETCH FIRST 5 ROWS WITH TIES;
CREATE VIEW v10 AS SELECT x FROM whole LIMIT 2 + 1 OFFSET 1 * 2;
CREATE VIEW v11 AS SELECT x FROM whole TABLESAMPLE system (10 * 2) REPEATABLE (1 + 1);
CREATE VIEW v12 AS SELECT x, 2 * x FROM whole UNION ALL SELECT x, 3 * x FROM whole;
CREATE VIEW v13 AS SELECT (SELECT x + 1 FROM whole LIMIT 1), EXISTS (SELECT y * 2 FROM whole);
SELECT relname, pg_get_viewdef(oid) FROM pg_class WHERE relkind = 'v' AND relnamespace = 'public'::regnamespace ORDER BY relname;
SELECT relname, pg_get_viewdef(oid, true) FROM pg_class WHERE relkind = 'v' AND relnamespace = 'public'::regnamespace ORDER BY relname;
SELECT * FROM v03;
SELECT * FROM v04;
ALTER TABLE whole ADD COLUMN more int;
ALTER TABLE exact RENAME COLUMN z TO zz;
ALTER TABLE whole RENAME COLUMN y TO yy;
SELECT relname, pg_get_viewdef(oid, true) FROM pg_class WHERE relkind = 'v' AND relnamespace = 'public'::regnamespace ORDER BY relname;
SELECT * FROM v04;
