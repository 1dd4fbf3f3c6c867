-- Columns that are added with what a session answers as their default: rows that are there have it.
CREATE TABLE ad (id int);
INSERT INTO ad VALUES (1);
ALTER TABLE ad ADD COLUMN a xid8 DEFAULT pg_current_xact_id();
ALTER TABLE ad ADD COLUMN c bigint DEFAULT txid_current();
ALTER TABLE ad ADD COLUMN h text DEFAULT current_schema();
ALTER TABLE ad ADD COLUMN hs text DEFAULT current_schemas(false)::text;
ALTER TABLE ad ADD COLUMN r text DEFAULT current_query();
ALTER TABLE ad ADD COLUMN p int DEFAULT pg_backend_pid();
ALTER TABLE ad ADD COLUMN s text DEFAULT current_setting('search_path');
ALTER TABLE ad ADD COLUMN d text DEFAULT current_user || pg_my_temp_schema()::text || pg_trigger_depth();
SELECT a IS NULL, c IS NULL, h, hs, r, p = pg_backend_pid(), s, d FROM ad;
ALTER TABLE ad ADD COLUMN x xid8 NOT NULL DEFAULT pg_current_xact_id();
SELECT a::text::bigint < x::text::bigint FROM ad;
SET search_path = pg_temp, public;
ALTER TABLE public.ad ADD COLUMN hp text DEFAULT current_schemas(true)::text;
RESET search_path;
BEGIN;
ALTER TABLE ad ADD COLUMN y xid8 DEFAULT pg_current_xact_id();
SELECT y = pg_current_xact_id() FROM ad;
ROLLBACK;
DROP TABLE ad;
-- Domains over arrays of what has no collation.
CREATE DOMAIN ad_ints AS int[];
CREATE TYPE ad_enum AS ENUM ('a', 'b');
CREATE DOMAIN ad_enums AS ad_enum[];
CREATE DOMAIN ad_texts AS text[];
CREATE TABLE ad_of (c ad_ints, e ad_enums, t ad_texts);
CREATE VIEW ad_view AS SELECT c, e, t FROM ad_of;
CREATE TABLE ad_made AS SELECT * FROM ad_of;
CREATE MATERIALIZED VIEW ad_kept AS SELECT array[1,2]::ad_ints AS x;
SELECT attrelid::regclass::text, attname, attcollation FROM pg_attribute WHERE attrelid::regclass::text LIKE 'ad\_%' AND attnum > 0 ORDER BY 1, 2;
DROP TABLE ad_of, ad_made CASCADE;
DROP MATERIALIZED VIEW ad_kept;
DROP DOMAIN ad_ints, ad_enums, ad_texts;
DROP TYPE ad_enum;
-- What is said of the system's objects, by both of its keys.
SELECT count(*) > 3000, count(d.description) > 2000 FROM pg_proc p LEFT JOIN pg_description d ON d.objoid = p.oid AND d.classoid = 1255 WHERE p.prokind = 'f';
