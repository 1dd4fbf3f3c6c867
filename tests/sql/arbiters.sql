-- Several keys over the same columns arbitrate together.
CREATE TABLE arbitrated (a int PRIMARY KEY, b int);
CREATE UNIQUE INDEX arbitrated_again ON arbitrated (a);
CREATE UNIQUE INDEX arbitrated_some ON arbitrated (a) WHERE b > 0;
CREATE UNIQUE INDEX arbitrated_included ON arbitrated (a) INCLUDE (b);
CREATE UNIQUE INDEX arbitrated_other ON arbitrated (b);
EXPLAIN (COSTS OFF) INSERT INTO arbitrated VALUES (1, 2) ON CONFLICT (a) DO NOTHING;
EXPLAIN (COSTS OFF) INSERT INTO arbitrated VALUES (1, 2) ON CONFLICT (a) WHERE b > 0 DO NOTHING;
EXPLAIN (COSTS OFF) INSERT INTO arbitrated VALUES (1, 2) ON CONFLICT ON CONSTRAINT arbitrated_pkey DO NOTHING;
EXPLAIN (COSTS OFF) INSERT INTO arbitrated VALUES (1, 2) ON CONFLICT DO NOTHING;
INSERT INTO arbitrated VALUES (1, 1), (2, 2) ON CONFLICT (a) DO NOTHING;
INSERT INTO arbitrated VALUES (1, 10) ON CONFLICT (a) DO UPDATE SET b = excluded.b;
INSERT INTO arbitrated VALUES (1, 20) ON CONFLICT (a) WHERE b > 0 DO UPDATE SET b = excluded.b RETURNING *;
INSERT INTO arbitrated VALUES (3, 2) ON CONFLICT (a) DO NOTHING;
SELECT * FROM arbitrated ORDER BY a;
CREATE TABLE arbitrated_late (a int UNIQUE DEFERRABLE);
CREATE UNIQUE INDEX ON arbitrated_late (a);
INSERT INTO arbitrated_late VALUES (1) ON CONFLICT (a) DO NOTHING;
DROP TABLE arbitrated, arbitrated_late;
