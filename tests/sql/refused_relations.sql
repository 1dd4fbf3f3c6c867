-- What is refused for the kind of its relation, for its name or for its owner: COPY, row locks, sequences, roles, databases.
CREATE TABLE base (a int PRIMARY KEY, b int);
INSERT INTO base VALUES (1, 2);
CREATE VIEW seen AS SELECT a FROM base;
CREATE MATERIALIZED VIEW kept AS SELECT a FROM base;
CREATE SEQUENCE counted;
COPY seen TO STDOUT;
COPY kept TO STDOUT;
COPY counted TO STDOUT;
COPY base TO STDOUT;
COPY seen FROM STDIN;
1
\.
COPY kept FROM STDIN;
1
\.
COPY counted FROM STDIN;
1
\.
COPY base FROM STDIN (FREEZE);
3	4
\.
SELECT * FROM base;
BEGIN;
TRUNCATE base;
COPY base FROM STDIN (FREEZE);
3	4
\.
SELECT * FROM base;
ROLLBACK;
SELECT * FROM counted FOR UPDATE;
SELECT * FROM kept FOR SHARE;
SELECT * FROM kept, base FOR UPDATE OF base;
SELECT * FROM kept, base FOR UPDATE OF kept;
-- Other databases.
SELECT * FROM nosuch.public.base;
INSERT INTO nosuch.public.base VALUES (1);
UPDATE nosuch.public.base SET a = 1;
DELETE FROM nosuch.public.base;
COPY nosuch.public.base TO STDOUT;
TRUNCATE nosuch.public.base;
SELECT * FROM base;
-- LIMIT and the rows that it counts.
SELECT a FROM base LIMIT a;
SELECT a FROM base OFFSET 1 + b;
SELECT a FROM base FETCH FIRST a ROWS ONLY;
SELECT a FROM base LIMIT nope;
SELECT a FROM base LIMIT base.a;
VALUES (1) LIMIT a;
SELECT a FROM base o WHERE EXISTS (SELECT FROM base i LIMIT o.a);
SELECT a FROM base o WHERE EXISTS (SELECT FROM base i LIMIT a);
-- Columns that USING cannot match.
SELECT * FROM (SELECT 1 x) p JOIN (SELECT text 'a' x) q USING (x);
SELECT * FROM (SELECT 1 x) p NATURAL JOIN (SELECT date '2000-01-01' x) q;
SELECT * FROM (SELECT json '1' x) p JOIN (SELECT json '1' x) q USING (x);
-- Roles.
CREATE ROLE current_user;
CREATE ROLE session_user;
CREATE USER current_role;
CREATE ROLE public;
CREATE ROLE "none";
CREATE ROLE user;
CREATE ROLE refused_role;
ALTER ROLE refused_role RENAME TO current_user;
ALTER ROLE refused_role RENAME TO public;
-- What a session has drawn is for who may use the sequence.
SELECT nextval('counted');
SET ROLE refused_role;
SELECT lastval();
SELECT currval('counted');
COPY base FROM STDIN;
1	2
\.
COPY seen FROM STDIN;
1
\.
COPY seen TO STDOUT;
RESET ROLE;
GRANT SELECT ON SEQUENCE counted TO refused_role;
SET ROLE refused_role;
SELECT lastval();
-- Settings that tell of the machine.
SHOW data_directory;
SHOW unix_socket_directories;
SELECT current_setting('log_directory');
SELECT current_setting('hba_file', true);
SELECT count(*) FROM pg_settings WHERE name IN ('data_directory', 'config_file', 'log_directory', 'unix_socket_directories');
RESET ROLE;
GRANT pg_read_all_settings TO refused_role;
SET ROLE refused_role;
SELECT count(*) FROM pg_settings WHERE name IN ('data_directory', 'config_file', 'log_directory', 'unix_socket_directories');
SELECT current_setting('data_directory') <> '', current_setting('hba_file') LIKE '%pg_hba.conf', current_setting('ident_file') LIKE '%pg_ident.conf';
RESET ROLE;
SELECT name, source FROM pg_settings WHERE name IN ('data_directory', 'hba_file', 'ident_file', 'config_file', 'work_mem') ORDER BY 1;
REVOKE ALL ON SEQUENCE counted FROM refused_role;
DROP ROLE refused_role;
-- Views of the system are views to COPY; its tables nobody copies to.
copy pg_stat_activity to stdout;
copy pg_stat_activity from stdin;
\.
copy pg_locks (pid) from stdin;
\.
copy pg_tables from stdin;
\.
create role rf_other;
create schema rf_hidden;
create table rf_hidden.t (a int);
set role rf_other;
copy pg_class from stdin;
\.
-- Whoever may not use a schema is not told what is not in it.
select 'rf_hidden.t'::regclass;
select 'rf_hidden.nope'::regclass;
select 'rf_nope.t'::regclass;
select to_regclass('rf_hidden.nope');
select has_table_privilege('rf_hidden.nope', 'select');
select nextval('rf_hidden.nope');
reset role;
select 'rf_hidden.nope'::regclass;
drop schema rf_hidden cascade;
drop role rf_other;
