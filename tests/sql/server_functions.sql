-- What tools ask of the server, of indexes and of files. PostgreSQL 15, sections 9.26 and 9.27.
SELECT current_query();
SELECT current_query() AS whole, length(current_query()) /* a remark */; SELECT 2 AS two, current_query();
SELECT length(current_query()) FROM (VALUES ('0123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789')) AS v(long);
SELECT pg_trigger_depth(), pg_conf_load_time() <= now() + interval '1 hour', pg_conf_load_time() > '2020-01-01';
CREATE TABLE looked_at (a int PRIMARY KEY, b text, c int, d int);
CREATE INDEX looked_at_b ON looked_at (b DESC NULLS LAST, c) INCLUDE (d);
CREATE VIEW looked_through AS SELECT * FROM looked_at;
CREATE SEQUENCE counted START 5 INCREMENT 2 MAXVALUE 100 CYCLE;
CREATE SEQUENCE counted_down AS smallint INCREMENT -1 CACHE 7;
SELECT p, pg_index_column_has_property('looked_at_b', 1, p) AS c1, pg_index_column_has_property('looked_at_b', 2, p) AS c2,
    pg_index_column_has_property('looked_at_b', 3, p) AS c3, pg_index_column_has_property('looked_at_b', 4, p) AS c4,
    pg_index_column_has_property('looked_at_b', 0, p) AS c0, pg_index_has_property('looked_at_b', p) AS i
FROM unnest('{asc,desc,nulls_first,nulls_last,orderable,distance_orderable,returnable,search_array,search_nulls,clusterable,
    index_scan,bitmap_scan,backward_scan,can_order,can_unique,can_multi_col,can_exclude,can_include,ASC,nope}'::text[]) p;
SELECT amname, p, pg_indexam_has_property(oid, p) FROM pg_am,
    unnest('{can_order,can_unique,can_multi_col,can_exclude,CAN_INCLUDE,nope,asc,clusterable}'::text[]) p ORDER BY 1, 2;
SELECT pg_index_has_property('looked_at', 'clusterable'), pg_index_has_property(1, 'clusterable'), pg_indexam_has_property(7, 'can_order');
SELECT pg_sequence_parameters('counted'::regclass), (pg_sequence_parameters('counted_down'::regclass)).minimum_value;
SELECT start_value, minimum_value, maximum_value, increment, cycle_option, cache_size, data_type::regtype FROM pg_sequence_parameters('counted_down'::regclass);
SELECT pg_sequence_parameters(0);
SELECT pg_relation_filenode('looked_through'::regclass), pg_relation_filenode(oid) = relfilenode, pg_filenode_relation(0, relfilenode),
    pg_filenode_relation(1663, relfilenode), pg_filenode_relation(0, 0), pg_filenode_relation(0, 4000000) FROM pg_class WHERE relname = 'looked_at_b';
SELECT pg_relation_filenode(1), pg_relation_filenode('pg_type'::regclass), pg_relation_filenode('pg_class'::regclass), pg_relation_filenode('pg_tables'::regclass);
SELECT row_security_active('looked_at'), row_security_active('looked_at'::regclass), row_security_active(1::oid);
SELECT row_security_active('nowhere');
SELECT pg_partition_root('looked_at'), pg_partition_root(1);
SELECT * FROM pg_partition_tree('looked_at');
SELECT pg_partition_tree(1);
SELECT count(*) FROM pg_tablespace_databases(1663) d JOIN pg_database b ON b.oid = d WHERE datname IN ('postgres', 'template1');
SELECT pg_tablespace_databases(1664);
SELECT pg_tablespace_databases(77);
SELECT pg_column_compression('a'::text), pg_column_compression(1), pg_current_logfile(), pg_current_logfile('stderr');
SELECT pg_current_logfile('x');
SELECT pg_get_replica_identity_index('looked_at')::regclass, pg_get_replica_identity_index('looked_through');
SELECT pg_collation_actual_version(950), pg_collation_actual_version(100);
SELECT pg_collation_actual_version(1);
SELECT pg_database_collation_actual_version(oid) FROM pg_database WHERE datname = 'postgres';
SELECT pg_database_collation_actual_version(77);
SELECT s, pg_size_bytes(s) FROM unnest('{1,123bytes,1kB,1MB," 1 GB ",1.5 GB,1TB,3000 TB,1e6 MB,1E-1 kb,.5kB,1.,-1kb,-.5 MB,+3 mb}'::text[]) s;
SELECT pg_size_bytes('1 AB');
SELECT pg_size_bytes('1e');
SELECT pg_size_bytes('x');
SELECT pg_size_bytes('');
SELECT pg_size_bytes('1 MB MB');
SELECT pg_size_bytes('.+912');
SELECT pg_size_bytes('9223372036854775807.9');
SELECT to_regoper('||/'), to_regoper('+'), to_regoper('nope'), to_regoper('pg_catalog.||/'), to_regoperator('+(int4,int4)'),
    to_regoperator('-(NONE,int4)'), to_regoperator('pg_catalog.+(int4,int4)'), to_regoperator('=(int4,text)');
SELECT to_regcollation('"C"'), to_regcollation('c'), to_regcollation('pg_catalog."POSIX"'), to_regcollation('"default"'), to_regcollation('ucs_basic');
SELECT to_regoperator('+(int4)');
SELECT to_regoperator('+');
SELECT '||/'::regoper, '+(int4,int4)'::regoperator, '"C"'::regcollation, 'ucs_basic'::regcollation;
SELECT '+'::regoper;
SELECT 'nope'::regoper;
SELECT '=(int4,text)'::regoperator;
SELECT 'c'::regcollation;
-- what views show
SELECT count(*) > 300, count(*) FILTER (WHERE name = 'work_mem') FROM pg_show_all_settings();
SELECT name, setting, unit FROM pg_show_all_settings() WHERE name IN ('work_mem', 'array_nulls') ORDER BY name;
SELECT count(*) > 500, bool_or(name = 'Europe/Berlin') FROM pg_timezone_names();
SELECT * FROM pg_timezone_abbrevs() WHERE abbrev = 'CEST';
PREPARE asked (int) AS SELECT $1;
SELECT name, parameter_types FROM pg_prepared_statement() WHERE name = 'asked';
DEALLOCATE asked;
BEGIN;
DECLARE open SCROLL CURSOR FOR SELECT 1;
SELECT name, is_holdable, is_binary, is_scrollable FROM pg_cursor() WHERE name = 'open';
LOCK TABLE looked_at IN SHARE MODE;
SELECT locktype, mode, granted FROM pg_lock_status() WHERE relation = 'looked_at'::regclass;
COMMIT;
SELECT ssl, version, cipher, bits, client_dn, client_serial, issuer_dn FROM pg_stat_ssl WHERE pid = pg_backend_pid();
SELECT gss_authenticated, principal, encrypted FROM pg_stat_gssapi WHERE pid = pg_backend_pid();
-- files
SELECT pg_read_file('nowhere', 0, 1, true), pg_read_binary_file('nowhere', 0, 1, true), pg_stat_file('nowhere', true);
SELECT pg_read_file('nowhere');
SELECT pg_read_binary_file('./here/../nowhere', 0, 5);
SELECT pg_read_file('pg_hba.conf', 0, -1);
SELECT pg_read_file('pg_hba.conf', -100000000, 1);
SELECT length(pg_read_file('pg_hba.conf')) = size, isdir, creation, modification <= access OR true, octet_length(pg_read_binary_file('pg_hba.conf')) = size FROM pg_stat_file('pg_hba.conf');
SELECT substr(pg_read_file('pg_hba.conf'), 3, 4) = pg_read_file('pg_hba.conf', 2, 4), pg_read_file('pg_hba.conf', -2, 1) = left(right(pg_read_file('pg_hba.conf'), 2), 1),
    pg_read_file('pg_hba.conf', 100000000, 5), pg_read_binary_file('pg_hba.conf', 100000000, 5);
SELECT pg_read_file('.');
SELECT pg_stat_file('nowhere');
SELECT size IS NULL, isdir FROM pg_stat_file('nowhere', true);
SELECT isdir FROM pg_stat_file('.');
SELECT pg_ls_dir('nowhere');
SELECT pg_ls_dir('pg_hba.conf');
SELECT count(*) FROM pg_ls_dir('nowhere', true, false);
SELECT count(*) FROM pg_ls_dir('.') d WHERE d IN ('pg_hba.conf', '.', '..');
SELECT count(*) FROM pg_ls_dir('.', true, true) d WHERE d IN ('pg_hba.conf', '.', '..');
CREATE ROLE reads_files;
SET ROLE reads_files;
SELECT pg_read_file('pg_hba.conf');
SELECT pg_ls_waldir();
SELECT * FROM pg_lock_status() WHERE false;
SELECT pg_current_wal_lsn() IS NULL;
RESET ROLE;
GRANT EXECUTE ON FUNCTION pg_read_file(text), pg_stat_file(text), pg_ls_dir(text) TO reads_files;
SET ROLE reads_files;
SELECT length(pg_read_file('pg_hba.conf')) > 0, length(pg_read_file('./a/../pg_hba.conf')) > 0;
SELECT pg_read_file('/etc/passwd') > '';
SELECT pg_read_file('../nowhere');
SELECT pg_read_file('a/../../nowhere');
SELECT pg_ls_dir('/tmp');
SELECT pg_stat_file('/tmp');
RESET ROLE;
GRANT pg_read_server_files, pg_monitor TO reads_files;
SET ROLE reads_files;
SELECT length(pg_read_file('/etc/passwd')) > 0;
SELECT count(*) > 0, bool_and(size > 0), bool_and(modification > '2020-01-01') FROM pg_ls_waldir() WHERE name ~ '^[0-9A-F]+$';
RESET ROLE;
REVOKE ALL ON FUNCTION pg_read_file(text), pg_stat_file(text), pg_ls_dir(text) FROM reads_files;
SET ROLE reads_files;
SELECT pg_sequence_parameters('counted'::regclass);
RESET ROLE;
DROP ROLE reads_files;
