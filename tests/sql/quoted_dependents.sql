-- Names that need quotes where definitions and refusals show them.
CREATE SCHEMA "Quoted (one";
CREATE TYPE "Quoted (one".labels AS ENUM ('a');
CREATE DOMAIN "Quoted (one".whole AS int;
CREATE FUNCTION "Quoted (one"."Adds (one)"(int) RETURNS int IMMUTABLE LANGUAGE sql AS 'SELECT $1 + 1';
CREATE TABLE "Quoted (one".t (a int, e "Quoted (one".labels, w "Quoted (one".whole);
CREATE INDEX calls ON "Quoted (one".t (("Quoted (one"."Adds (one)"(a)), lower(a::text), (a + 1), ("Quoted (one"."Adds (one)"(a) + 1));
SELECT pg_get_indexdef('"Quoted (one".calls'::regclass);
SELECT pg_get_indexdef('"Quoted (one".calls'::regclass, n, true) FROM generate_series(1, 4) n;
DROP TYPE "Quoted (one".labels;
DROP DOMAIN "Quoted (one".whole;
DROP TYPE "Quoted (one".whole;
DROP FUNCTION "Quoted (one"."Adds (one)"(int);
DROP SCHEMA "Quoted (one";
SET search_path = "Quoted (one";
SELECT pg_get_indexdef('calls'::regclass);
DROP TYPE labels;
DROP DOMAIN whole;
