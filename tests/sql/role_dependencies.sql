-- pg_shdepend: what names a role in its list of privileges or in default ones, and what DROP ROLE says of it.
CREATE ROLE dep_reader;
CREATE ROLE dep_maker;
CREATE TABLE dep_table (a int);
GRANT SELECT ON dep_table TO dep_reader;
GRANT UPDATE (a) ON dep_table TO dep_reader;
CREATE DOMAIN dep_domain AS int;
CREATE TYPE dep_enum AS ENUM ('a');
GRANT USAGE ON TYPE dep_domain, dep_enum TO dep_reader;
GRANT USAGE ON LANGUAGE plpgsql TO dep_reader;
GRANT EXECUTE ON FUNCTION pg_ls_waldir() TO dep_reader;
GRANT SET ON PARAMETER work_mem TO dep_reader;
CREATE FUNCTION dep_function() RETURNS int LANGUAGE sql AS 'SELECT 1';
GRANT EXECUTE ON FUNCTION dep_function TO dep_reader;
ALTER DEFAULT PRIVILEGES GRANT SELECT ON TABLES TO dep_reader;
ALTER DEFAULT PRIVILEGES FOR ROLE dep_maker IN SCHEMA public GRANT EXECUTE ON FUNCTIONS TO dep_reader;
ALTER DEFAULT PRIVILEGES FOR ROLE dep_maker REVOKE EXECUTE ON FUNCTIONS FROM PUBLIC;
SELECT classid::regclass, refobjid::regrole, deptype, dbid = 0 AS shared, objsubid, count(*)
FROM pg_shdepend WHERE refobjid IN ('dep_reader'::regrole, 'dep_maker'::regrole)
GROUP BY classid, refobjid, deptype, dbid = 0, objsubid ORDER BY classid, refobjid, deptype, objsubid;
DROP OWNED BY dep_maker;
DROP ROLE dep_maker;
REVOKE ALL ON dep_table FROM dep_reader;
REVOKE ALL (a) ON dep_table FROM dep_reader;
REVOKE ALL ON TYPE dep_domain, dep_enum FROM dep_reader;
REVOKE ALL ON FUNCTION pg_ls_waldir() FROM dep_reader;
REVOKE ALL ON PARAMETER work_mem FROM dep_reader;
REVOKE ALL ON FUNCTION dep_function FROM dep_reader;
ALTER DEFAULT PRIVILEGES REVOKE SELECT ON TABLES FROM dep_reader;
DROP ROLE dep_reader;
DROP OWNED BY dep_reader;
SELECT count(*) FROM pg_shdepend WHERE refobjid = 'dep_reader'::regrole;
DROP ROLE dep_reader;
