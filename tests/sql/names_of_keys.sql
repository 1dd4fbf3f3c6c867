-- The name of a key is one of a relation and one of a constraint: it is neither's of another.
CREATE TABLE named (c int, d int);
ALTER TABLE named ADD CONSTRAINT named_c_key1 CHECK (c > 1);
ALTER TABLE named ADD CONSTRAINT named_d_key CHECK (d > 1);
ALTER TABLE named ADD UNIQUE (c);
ALTER TABLE named ADD UNIQUE (c);
ALTER TABLE named ADD UNIQUE (d);
ALTER TABLE named ADD CONSTRAINT named_c_key UNIQUE (c);
ALTER TABLE named ADD CONSTRAINT named_d_key UNIQUE (c);
ALTER TABLE named ADD CONSTRAINT named UNIQUE (c);
ALTER TABLE named ADD CONSTRAINT named_c_key CHECK (c > 5);
SELECT conname, contype FROM pg_constraint WHERE conrelid = 'named'::regclass ORDER BY 1;
-- A generated column cannot be computed of the row that it is in.
CREATE TABLE whole (a int);
ALTER TABLE whole ADD COLUMN b int GENERATED ALWAYS AS (num_nulls(whole)) STORED;
-- The schema of temporary objects is there with the first one.
SELECT pg_my_temp_schema() = 0;
CREATE TEMP TABLE first (x int);
SELECT pg_my_temp_schema() = relnamespace FROM pg_class WHERE relname = 'first';
INSERT INTO first SELECT generate_series(1, 3);
ANALYZE first;
SELECT attname, histogram_bounds FROM pg_stats WHERE schemaname = pg_my_temp_schema()::regnamespace::text;
