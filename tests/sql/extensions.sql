-- plpgsql is there, as in every new database.
CREATE EXTENSION IF NOT EXISTS plpgsql;
CREATE EXTENSION IF NOT EXISTS plpgsql WITH SCHEMA pg_catalog;
CREATE EXTENSION IF NOT EXISTS plpgsql VERSION '1.0' CASCADE;
CREATE EXTENSION plpgsql;
CREATE EXTENSION IF NOT plpgsql;
SELECT extname, extowner, extnamespace::regnamespace, extrelocatable, extversion, extconfig, extcondition FROM pg_extension;
SELECT lanname, lanpltrusted FROM pg_language ORDER BY 1;
SELECT obj_description(oid, 'pg_extension') FROM pg_extension;
COMMENT ON EXTENSION plpgsql IS 'the procedural language';
SELECT obj_description(oid, 'pg_extension'), obj_description(oid, 'pg_class') FROM pg_extension;
SELECT description FROM pg_description WHERE classoid = 'pg_extension'::regclass;
COMMENT ON EXTENSION plpgsql IS NULL;
COMMENT ON EXTENSION nothing IS 'x';
DROP EXTENSION IF EXISTS nothing;
DROP EXTENSION nothing;
