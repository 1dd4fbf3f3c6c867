CREATE ROLE made
CREATE ROLE made SUPERUSER
CREATE ROLE made REPLICATION
CREATE ROLE made BYPASSRLS
CREATE ROLE made CREATEROLE CREATEDB
CREATE ROLE made IN ROLE target_group
CREATE ROLE made IN ROLE super
CREATE ROLE made IN ROLE pg_read_all_data
CREATE ROLE made ROLE nobody
CREATE ROLE made ADMIN CURRENT_USER
CREATE ROLE pg_made
CREATE USER made PASSWORD 'x'
CREATE GROUP made
DROP ROLE target
DROP ROLE target_super
DROP ROLE target_group
DROP ROLE CURRENT_USER
DROP ROLE o_table
DROP ROLE IF EXISTS nosuch
DROP ROLE nosuch
DROP ROLE pg_monitor
DROP ROLE postgres
ALTER ROLE target CREATEDB
ALTER ROLE target LOGIN
ALTER ROLE target SUPERUSER
ALTER ROLE target NOSUPERUSER
ALTER ROLE target REPLICATION
ALTER ROLE target NOREPLICATION
ALTER ROLE target BYPASSRLS
ALTER ROLE target NOBYPASSRLS
ALTER ROLE target PASSWORD 'x'
ALTER ROLE target PASSWORD NULL
ALTER ROLE target VALID UNTIL 'infinity'
ALTER ROLE target CONNECTION LIMIT 5
ALTER ROLE target_super CREATEDB
ALTER ROLE target_super PASSWORD 'x'
ALTER ROLE target_replication CREATEDB
ALTER ROLE target_replication PASSWORD 'x'
ALTER ROLE pg_monitor CREATEDB
ALTER ROLE CURRENT_USER PASSWORD 'x'
ALTER ROLE CURRENT_USER PASSWORD NULL
ALTER ROLE CURRENT_USER CREATEDB
ALTER ROLE CURRENT_USER NOCREATEROLE
ALTER ROLE CURRENT_USER NOSUPERUSER
ALTER ROLE CURRENT_USER PASSWORD 'x' LOGIN
ALTER ROLE CURRENT_USER INHERIT
ALTER ROLE SESSION_USER PASSWORD 'x'
ALTER ROLE target RENAME TO renamed
ALTER ROLE target_super RENAME TO renamed
ALTER ROLE pg_monitor RENAME TO renamed
ALTER ROLE nobody RENAME TO renamed
ALTER ROLE target RENAME TO pg_renamed
ALTER ROLE target SET work_mem = '1MB'
ALTER ROLE target SET log_min_duration_statement = 5
ALTER ROLE target SET role = 'super'
ALTER ROLE target SET my.own = 'x'
ALTER ROLE target IN DATABASE matrix SET work_mem = '1MB'
ALTER ROLE target RESET ALL
ALTER ROLE target_super SET work_mem = '1MB'
ALTER ROLE pg_monitor SET work_mem = '1MB'
ALTER ROLE pg_read_all_data RESET ALL
ALTER ROLE CURRENT_USER SET work_mem = '1MB'
ALTER ROLE CURRENT_USER SET log_min_duration_statement = 5
ALTER ROLE CURRENT_USER SET log_connections = on
ALTER ROLE CURRENT_USER SET ignore_system_indexes = on
ALTER ROLE CURRENT_USER RESET ALL
ALTER ROLE ALL SET work_mem = '1MB'
ALTER ROLE ALL RESET ALL
ALTER GROUP target ADD USER nobody
ALTER GROUP target DROP USER nobody
ALTER GROUP target_super ADD USER nobody
ALTER GROUP target_replication ADD USER nobody
ALTER GROUP pg_read_all_data ADD USER nobody
ALTER GROUP pg_read_all_data DROP USER m_read_all_data
ALTER GROUP target_group ADD USER nobody
GRANT target TO nobody
GRANT target_group TO nobody
GRANT target_group TO nobody WITH ADMIN OPTION
GRANT target_group TO nobody GRANTED BY CURRENT_USER
GRANT target_group TO nobody GRANTED BY admin_of_group
GRANT target_group TO nobody GRANTED BY postgres
GRANT target_super TO nobody
GRANT target_replication TO nobody
GRANT pg_read_all_data TO nobody
GRANT pg_database_owner TO nobody
GRANT CURRENT_USER TO target
GRANT CURRENT_USER TO nobody
GRANT o_table TO target
GRANT nosuch TO nobody
GRANT target TO nosuch
GRANT super TO target
REVOKE target_group FROM member_of_group
REVOKE ADMIN OPTION FOR target_group FROM admin_of_group
REVOKE target_group FROM member_of_group GRANTED BY postgres
REVOKE pg_monitor FROM m_monitor
REVOKE super FROM m_super
REVOKE target FROM nobody
GRANT SELECT ON s.t TO nobody
GRANT SELECT ON s.t TO PUBLIC
GRANT SELECT ON s.t TO nobody WITH GRANT OPTION
GRANT ALL ON s.t TO nobody
GRANT INSERT ON s.t TO nobody
GRANT SELECT (a) ON s.t TO nobody
GRANT SELECT (b) ON s.t TO nobody
GRANT SELECT (a), UPDATE (b) ON s.t TO nobody
GRANT SELECT ON s.t TO nobody GRANTED BY o_table
GRANT SELECT ON s.t TO nobody GRANTED BY CURRENT_USER
GRANT SELECT ON s.v TO nobody
GRANT SELECT ON s.parent, s.child TO nobody
GRANT SELECT ON hidden.t TO nobody
GRANT SELECT ON ALL TABLES IN SCHEMA s TO nobody
GRANT USAGE ON ALL SEQUENCES IN SCHEMA s TO nobody
GRANT USAGE ON SEQUENCE s.sq TO nobody
GRANT USAGE ON SCHEMA s TO nobody
GRANT CREATE ON SCHEMA s TO nobody
GRANT USAGE ON SCHEMA hidden TO nobody
GRANT ALL ON SCHEMA other TO nobody
GRANT CREATE ON DATABASE matrix TO nobody
GRANT CONNECT ON DATABASE matrix_other TO nobody
GRANT ALL ON DATABASE matrix TO nobody
GRANT USAGE ON TYPE s.mood TO nobody
GRANT USAGE ON DOMAIN s.positive TO nobody
GRANT USAGE ON TYPE int4 TO nobody
GRANT EXECUTE ON FUNCTION pg_reload_conf() TO nobody
GRANT EXECUTE ON FUNCTION now() TO nobody
GRANT USAGE ON LANGUAGE sql TO nobody
GRANT USAGE ON LANGUAGE plpgsql TO nobody
GRANT SET ON PARAMETER work_mem TO nobody
GRANT SET ON PARAMETER log_min_duration_statement TO nobody
GRANT ALTER SYSTEM ON PARAMETER work_mem TO nobody
GRANT SET ON PARAMETER log_statement TO nobody
GRANT SET ON PARAMETER log_statement TO PUBLIC
GRANT ALL ON PARAMETER log_statement, my.granted TO nobody WITH GRANT OPTION
GRANT SET, ALTER SYSTEM ON PARAMETER my.granted TO nobody
GRANT SET ON PARAMETER log_statement, work_mem TO nobody
GRANT SET ON PARAMETER my.other TO nobody
GRANT SET ON PARAMETER nosuch TO nobody
GRANT SELECT ON PARAMETER work_mem TO nobody
GRANT CREATE ON TABLESPACE pg_default TO nobody
GRANT SELECT ON pg_authid TO nobody
GRANT NOSUCH ON s.t TO nobody
GRANT SELECT ON s.nosuch TO nobody
REVOKE SELECT ON s.t FROM g_select
REVOKE SELECT ON s.t FROM PUBLIC
REVOKE ALL ON s.t FROM g_all
REVOKE GRANT OPTION FOR SELECT ON s.t FROM g_select_option
REVOKE SELECT ON s.t FROM g_select_option CASCADE
REVOKE SELECT (a) ON s.t FROM g_column_select
REVOKE ALL ON ALL TABLES IN SCHEMA s FROM g_all
REVOKE USAGE ON SCHEMA s FROM PUBLIC
REVOKE ALL ON SCHEMA hidden FROM g_schema_usage
REVOKE CONNECT ON DATABASE matrix FROM PUBLIC
REVOKE USAGE ON TYPE s.mood FROM g_type_usage
REVOKE EXECUTE ON FUNCTION pg_reload_conf() FROM g_function_execute
REVOKE SET ON PARAMETER log_min_duration_statement FROM nobody
REVOKE SET ON PARAMETER log_min_duration_statement FROM g_parameter_set
REVOKE ALL ON PARAMETER work_mem, log_statement FROM g_parameter_alter_system
REVOKE SET ON PARAMETER log_statement FROM g_parameter_option CASCADE
REVOKE GRANT OPTION FOR ALTER SYSTEM ON PARAMETER log_statement FROM g_parameter_option
ALTER DEFAULT PRIVILEGES GRANT SELECT ON TABLES TO nobody
ALTER DEFAULT PRIVILEGES FOR ROLE o_table GRANT SELECT ON TABLES TO nobody
ALTER DEFAULT PRIVILEGES IN SCHEMA s GRANT SELECT ON TABLES TO nobody
ALTER DEFAULT PRIVILEGES FOR ROLE o_table IN SCHEMA s REVOKE SELECT ON TABLES FROM nobody
ALTER DEFAULT PRIVILEGES FOR ROLE nobody REVOKE EXECUTE ON FUNCTIONS FROM PUBLIC
ALTER DEFAULT PRIVILEGES GRANT USAGE ON SCHEMAS TO nobody
SET ROLE o_table
SET ROLE super
SET ROLE target
SET ROLE target_group
SET ROLE CURRENT_USER
SET ROLE 'nosuch'
SET ROLE NONE
SET ROLE pg_monitor
SET SESSION AUTHORIZATION nobody
SET SESSION AUTHORIZATION CURRENT_USER
SET SESSION AUTHORIZATION DEFAULT
SELECT set_config('role', 'o_table', true)
SELECT set_config('session_authorization', 'nobody', true)
SET log_min_duration_statement = 5
SET LOCAL log_min_duration_statement = 5
RESET log_min_duration_statement
SELECT set_config('log_min_duration_statement', '5', true)
SET work_mem = '1MB'
SET log_statement = 'all'
SET my.granted = 'x'
SELECT set_config('log_statement', 'all', true)
SELECT set_config('lc_messages', 'C', false)
RESET log_statement
RESET ALL
ALTER ROLE CURRENT_USER SET log_statement = 'all'
ALTER ROLE CURRENT_USER SET lc_messages = 'C'
ALTER ROLE target SET log_statement = 'all'
ALTER ROLE CURRENT_USER RESET log_statement
ALTER DATABASE matrix SET log_statement = 'all'
ALTER DATABASE matrix SET lc_messages = 'C'
SET session_replication_role = 'replica'
SET temp_file_limit = '1GB'
SET lc_messages = 'C'
SET deadlock_timeout = '5s'
SET max_connections = 5
SET log_connections = on
SET ignore_system_indexes = on
SET archive_command = 'x'
SET server_version = 'x'
SET nosuch = 1
SET my.own = 1
SET allow_in_place_tablespaces = on
SET zero_damaged_pages = on
RESET ALL
SHOW log_min_duration_statement
SHOW data_directory
SHOW config_file
SHOW hba_file
SHOW archive_command
SHOW ssl_cert_file
SHOW unix_socket_directories
SHOW shared_preload_libraries
SELECT count(*) > 0 FROM pg_settings WHERE name = 'data_directory'
SELECT name FROM pg_settings WHERE name IN ('data_directory', 'config_file', 'work_mem')
SELECT current_setting('data_directory')
SELECT current_setting('work_mem')
ALTER SYSTEM SET work_mem = '4MB'
ALTER SYSTEM SET log_min_duration_statement = 5
SECURITY LABEL ON TABLE s.t IS 'x'
