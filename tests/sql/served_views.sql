-- Zones and abbreviations, and what the catalog says of arrays and functions.
SELECT abbrev, utc_offset, is_dst FROM pg_timezone_abbrevs WHERE abbrev IN ('CET', 'CEST', 'EST', 'EDT', 'UTC', 'JST', 'NFT') ORDER BY 1;
SELECT count(*) > 150, bool_and(abbrev = upper(abbrev)) FROM pg_timezone_abbrevs;
SELECT name, abbrev, utc_offset, is_dst FROM pg_timezone_names WHERE name IN ('UTC', 'Asia/Tokyo', 'America/Lima', 'Asia/Kolkata') ORDER BY 1;
SELECT count(*) > 400 FROM pg_timezone_names;
CREATE TYPE mood AS ENUM ('good', 'bad');
CREATE DOMAIN word AS text;
CREATE DOMAIN many AS int[];
CREATE TABLE held (a mood[], b mood, c word[], d int[], e many);
SELECT attname, attndims FROM pg_attribute WHERE attrelid = 'held'::regclass AND attnum > 0 ORDER BY attnum;
SELECT typname, typcollation FROM pg_type WHERE typname IN ('word', '_word', '_many', '_mood') ORDER BY 1;
SELECT 'int8'::regtype::oid::int, castfunc::regproc FROM pg_cast WHERE castsource = 'int4'::regtype AND casttarget = 'int8'::regtype;
SELECT 1299::regproc, 'upper(text)'::regprocedure::oid::regproc, 'array_agg(anyarray)'::regprocedure::oid::regproc;
-- The columns of a CHECK.
CREATE TABLE checked (a int, b int CHECK (b > 0), CHECK (a < b), CHECK (1 > 0));
SELECT constraint_name, column_name FROM information_schema.constraint_column_usage WHERE table_name = 'checked' ORDER BY 1, 2;
SELECT conname, refobjsubid, deptype FROM pg_depend d JOIN pg_constraint c ON c.oid = objid AND classid = 'pg_constraint'::regclass WHERE conrelid = 'checked'::regclass ORDER BY 1, 2, 3;
DROP TABLE checked, held;
