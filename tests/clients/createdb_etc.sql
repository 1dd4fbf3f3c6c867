-- What createdb-etc sends to PostgreSQL 15, each distinct statement once. Licences: README.md.

-- simple: createdb, dropdb: options, duplicate error, --if-exists, force
SELECT pg_catalog.set_config('search_path', '', false);

-- simple: createdb, dropdb: options, duplicate error, --if-exists, force
DROP DATABASE IF EXISTS compat_src;

-- simple: createdb, dropdb: options, duplicate error, --if-exists, force
CREATE DATABASE compat_src;

-- simple: createdb, dropdb: options, duplicate error, --if-exists, force
DROP DATABASE compat_src;

-- simple: createdb, dropdb: options, duplicate error, --if-exists, force
CREATE DATABASE compat_src OWNER compat ENCODING 'UTF8' TEMPLATE template0;

-- simple: createdb, dropdb: options, duplicate error, --if-exists, force
COMMENT ON DATABASE compat_src IS 'a comment';

-- simple: createdb, dropdb: options, duplicate error, --if-exists, force
DROP DATABASE compat_src WITH (FORCE);

-- simple: createuser, dropuser: attributes
DROP ROLE IF EXISTS cu_test;

-- simple: createuser, dropuser: attributes
CREATE ROLE cu_test NOSUPERUSER CREATEDB NOCREATEROLE INHERIT LOGIN CONNECTION LIMIT 5;

-- simple: createuser, dropuser: attributes
select rolcreatedb,rolcreaterole,rolsuper,rolcanlogin,rolconnlimit from pg_roles where rolname='cu_test';

-- simple: createuser, dropuser: attributes
CREATE ROLE cu_test NOSUPERUSER NOCREATEDB NOCREATEROLE INHERIT LOGIN;

-- simple: createuser, dropuser: attributes
DROP ROLE cu_test;
