-- set_config counts at once, within its statement too.
SELECT set_config('my.own', 'one', false), current_setting('my.own');
SELECT set_config('my.own', x, false), current_setting('my.own') FROM (VALUES ('a'), ('b')) AS v (x);
SELECT current_setting('my.own');
SELECT set_config('timezone', 'Asia/Tokyo', false), '2000-01-01 00:00+00'::timestamptz::text;
SELECT set_config('timezone', x, false), t, t::text FROM (VALUES ('Asia/Tokyo', timestamptz '2000-01-01 00:00+00'), ('UTC', '2000-01-01 00:00+00')) AS v (x, t);
SELECT set_config('datestyle', 'german', false), date '2000-02-01';
RESET datestyle;
CREATE SCHEMA other;
CREATE TABLE other.tab ();
SELECT set_config('search_path', 'other', true), to_regclass('tab'), current_schemas(false);
SHOW search_path;
BEGIN;
SELECT set_config('my.own', 'two', true);
SAVEPOINT a;
SELECT set_config('my.own', 'three', true), current_setting('my.own');
ROLLBACK TO a;
SELECT current_setting('my.own');
COMMIT;
SELECT current_setting('my.own');
SELECT set_config('my.own', 'lost', false), 1 / (SELECT count(*) FROM pg_class WHERE oid = 0);
SELECT current_setting('my.own');
SELECT name, setting FROM (SELECT set_config('work_mem', '1MB', true)) AS x, pg_settings WHERE name = 'work_mem';
WITH c AS MATERIALIZED (SELECT set_config('my.other', 'x', false)) SELECT set_config, current_setting('my.other', true) FROM c;
SELECT set_config('nope', 'x', false);
SELECT set_config('work_mem', 'x', false);
SELECT set_config(NULL, 'x', false);
CREATE TABLE kept AS SELECT set_config('my.own', 'made', false), current_setting('my.own');
SELECT * FROM kept;

-- array_nulls
SET array_nulls = off;
SELECT '{NULL,a,"null"}'::text[], array[NULL, 'a'], array_length('{null}'::text[], 1);
SELECT '{NULL,1}'::int[];
RESET array_nulls;
SELECT '{NULL,a,"null"}'::text[];

-- transform_null_equals
SET transform_null_equals = on;
SELECT NULL = 1 AS a, 1 = NULL AS b, NULL = NULL AS c, (SELECT 1) = NULL AS d, 1 <> NULL AS e, (NULL) = 1 AS f;
SELECT CASE NULL::int WHEN NULL THEN 1 ELSE 2 END, 1 OPERATOR(pg_catalog.=) NULL, 1 IN (NULL), 1 = ANY (NULL::int[]), NULL::int = 1;
SELECT row(1, 2) = NULL AS a;
CREATE VIEW asks AS SELECT relname = NULL AS x FROM pg_class;
SELECT pg_get_viewdef('asks');
RESET transform_null_equals;
SELECT NULL = NULL AS c, count(*) > 1, bool_or(x) FROM asks;

-- standard_conforming_strings, escape_string_warning, backslash_quote
SET standard_conforming_strings = off;
SELECT 'a\nb' AS a, 'it\'s' AS b, 'a\\b' AS c, 'a\tb\\' AS d, E'a\nb' AS e, $$a\n$$ AS f;
SELECT N'a\nb';
SELECT U&'\0041';
SELECT U&"\0041" FROM (SELECT 1 AS "A") AS x;
SET escape_string_warning = off;
SELECT 'a\nb', '\x41\u0042\103', 'x'
  'y\n';
SELECT 'a' 'b\';
SET standard_conforming_strings = on;
SELECT 'a\nb', E'it\'s';
SET backslash_quote = off;
SELECT E'a', E'it\'s', E'b';
SELECT E'it''s\\', 'it\';
SET standard_conforming_strings = off;
SELECT 'it\'s';
RESET standard_conforming_strings;
RESET escape_string_warning;
SET backslash_quote = safe_encoding;
SELECT E'it\'s';

-- quote_all_identifiers
CREATE TABLE plain (id int PRIMARY KEY, "Not" text CHECK ("Not" > 'a'), n int DEFAULT 1);
CREATE INDEX some ON plain (n, lower("Not")) WHERE n > 0;
CREATE VIEW view AS SELECT p.id AS renamed, count(*) FROM plain AS p WHERE n > 1 GROUP BY p.id;
SET quote_all_identifiers = on;
SELECT quote_ident('a'), quote_ident('B"b'), format('%I %s %L', 'a', 'b', 'c');
SELECT 'plain'::regclass, 'pg_class'::regclass, 'now'::regproc, 'public'::regnamespace, 'int4'::regtype, 'now()'::regprocedure;
SELECT pg_get_viewdef('view'), pg_get_viewdef('view', true);
SELECT pg_get_indexdef(indexrelid) FROM pg_index WHERE indrelid = 'plain'::regclass ORDER BY 1;
SELECT pg_get_constraintdef(oid), pg_get_constraintdef(oid, true) FROM pg_constraint WHERE conrelid = 'plain'::regclass ORDER BY 1;
RESET quote_all_identifiers;
SELECT quote_ident('a'), pg_get_viewdef('view');

-- A zone is told by its abbreviation, behind a blank.
SET timezone = 'America/Sao_Paulo';
SET datestyle = 'SQL';
SELECT timestamptz '2000-01-01 00:00+00', timestamptz '1800-01-01 00:00+00', timetz '10:00-03';
SET datestyle = 'German';
SELECT timestamptz '2000-01-01 00:00+00';
SET timezone = 'Asia/Kathmandu';
SELECT timestamptz '2000-01-01 00:00+00', timestamptz '0044-01-01 00:00+00 BC';
SET datestyle = 'Postgres';
SELECT timestamptz '2000-01-01 00:00+00', timestamptz '1999-07-01 12:00+00';
SET datestyle = 'SQL, DMY';
SET timezone = '<AB3>-03:15';
SELECT timestamptz '2000-01-01 00:00+00';

-- Texts that are checked though they change nothing: what is no value of a setting is refused, what is one is kept.
SET client_min_messages = error;
SET lc_time = 'de_XX.UTF-8';
SET lc_messages = '';
SET lc_monetary = '';
SET lc_numeric = 'POSIX';
SHOW lc_numeric;
SET default_text_search_config = 'nope';
SET default_text_search_config = '';
SET default_text_search_config = 'a.b.c.d';
SET default_text_search_config = 'public.english';
SET default_text_search_config = 'Simple';
SHOW default_text_search_config;
SHOW timezone_abbreviations;
SET timezone_abbreviations = 'zzz';
SET timezone_abbreviations = 'India';
SHOW timezone_abbreviations;
SET restrict_nonsystem_relation_kind = 'view,';
SET restrict_nonsystem_relation_kind = 'Xx';
SET restrict_nonsystem_relation_kind = 'View, foreign-table';
SHOW restrict_nonsystem_relation_kind;
SET wal_consistency_checking = 'Xx';
SET wal_consistency_checking = 'Heap, btree';
SHOW wal_consistency_checking;
SET temp_tablespaces = 'pg_default,nope';
SET temp_tablespaces = pg_default, "Nope";
SET temp_tablespaces = pg_default, '';
SHOW temp_tablespaces;
SHOW archive_command;
RESET client_min_messages;
