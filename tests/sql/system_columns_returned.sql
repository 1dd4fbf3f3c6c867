-- System columns in RETURNING of INSERT: `xmax` tells rows that ON CONFLICT DO UPDATE has changed.
CREATE TABLE x (id int PRIMARY KEY, n int, m int GENERATED ALWAYS AS (n + 1) STORED);
INSERT INTO x VALUES (1, 1) RETURNING *, xmax, tableoid::regclass, ctid IS NOT NULL AS there, cmin, cmax, xmin <> 0 AS made, (xmax = 0) AS inserted;
INSERT INTO x VALUES (1, 2), (2, 2) ON CONFLICT (id) DO UPDATE SET n = excluded.n RETURNING *, (xmax = 0) AS inserted;
INSERT INTO x AS y VALUES (1, 2), (3, 2) ON CONFLICT (id) DO UPDATE SET n = excluded.n + y.n RETURNING y.*, (y.xmax <> 0) AS updated;
INSERT INTO x VALUES (2, 3), (3, 3) ON CONFLICT (id) DO NOTHING RETURNING id, xmax;
INSERT INTO x AS y VALUES (1, 2), (4, 2) ON CONFLICT (id) DO UPDATE SET n = y.n WHERE y.tableoid = 'x'::regclass AND y.ctid IS NOT NULL RETURNING *, xmax = 0;
INSERT INTO x VALUES (9, 2) RETURNING (SELECT x.xmax), xmax, (SELECT count(*) FROM x AS other WHERE other.ctid <> x.ctid AND other.id = 9);
WITH i AS (INSERT INTO x VALUES (2, 3), (5, 4) ON CONFLICT (id) DO UPDATE SET n = excluded.n RETURNING id, (xmax = 0) AS inserted) SELECT * FROM i ORDER BY id;
INSERT INTO x SELECT id, n FROM x ORDER BY id ON CONFLICT (id) DO UPDATE SET n = excluded.n + 1 RETURNING id, n, m, xmax <> 0 AS updated, tableoid::regclass;
CREATE TABLE keyless (a int);
INSERT INTO keyless VALUES (1), (2) RETURNING a, xmax, tableoid::regclass, ctid IS NULL AS missing;
-- errors
INSERT INTO x VALUES (1, 2) ON CONFLICT (id) DO UPDATE SET n = excluded.xmax RETURNING xmax;
CREATE VIEW v AS SELECT id, n FROM x;
INSERT INTO v VALUES (77, 1) RETURNING tableoid;
-- UPDATE: those of the new row, and those of FROM's own.
CREATE TABLE y (id int PRIMARY KEY, v int);
INSERT INTO y SELECT i, i FROM generate_series(1, 3) i;
UPDATE y SET v = v + 1 WHERE id = 1 RETURNING id, v, xmin = (SELECT xmin FROM y AS before WHERE before.id = 1) AS as_before, xmax, cmin, tableoid::regclass;
UPDATE y SET v = v + 1 FROM y AS other WHERE y.id = other.id AND y.id < 3 RETURNING y.id, y.v, other.v AS was, y.xmin = other.xmin AS as_before, other.tableoid::regclass;
UPDATE y AS z SET v = 0 WHERE id = 2 RETURNING z.xmin::text <> '0' AS made, z.*;
WITH u AS (UPDATE y SET v = 9 RETURNING xmin, v) SELECT count(DISTINCT xmin::text), min(v) FROM u;
