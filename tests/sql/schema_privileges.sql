-- Default privileges go with their schema, so that the roles they name can go, too.
CREATE ROLE of_schema_privileges;
CREATE SCHEMA with_defaults;
ALTER DEFAULT PRIVILEGES IN SCHEMA with_defaults GRANT SELECT ON TABLES TO of_schema_privileges;
DROP ROLE of_schema_privileges;
SELECT count(*) FROM pg_default_acl;
DROP SCHEMA with_defaults CASCADE;
SELECT count(*) FROM pg_default_acl;
-- Privileges on a column go with it.
CREATE TABLE t (a int, b int);
GRANT SELECT (b) ON t TO of_schema_privileges;
ALTER TABLE t DROP COLUMN b;
DROP ROLE of_schema_privileges;
DROP TABLE t;
