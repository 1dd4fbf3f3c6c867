SELECT count(*) FROM pg_subscription
SELECT subname FROM pg_subscription
SELECT subconninfo FROM pg_subscription
SELECT * FROM pg_subscription
SELECT count(*) FROM pg_authid
SELECT rolname FROM pg_authid
SELECT rolpassword FROM pg_authid
SELECT count(*) FROM pg_shadow
SELECT count(*) FROM pg_user
SELECT count(*) FROM pg_roles
SELECT * FROM pg_statistic LIMIT 0
SELECT * FROM pg_statistic_ext_data LIMIT 0
SELECT * FROM pg_largeobject LIMIT 0
SELECT * FROM pg_user_mapping LIMIT 0
SELECT * FROM pg_hba_file_rules LIMIT 0
SELECT * FROM pg_file_settings LIMIT 0
SELECT * FROM pg_ident_file_mappings LIMIT 0
SELECT * FROM pg_shmem_allocations LIMIT 0
SELECT * FROM pg_backend_memory_contexts LIMIT 0
SELECT * FROM pg_config LIMIT 0
SELECT * FROM pg_replication_origin_status LIMIT 0
SELECT * FROM pg_replication_origin LIMIT 0
SELECT * FROM pg_stat_activity LIMIT 0
SELECT * FROM pg_stat_replication LIMIT 0
SELECT * FROM pg_stat_ssl LIMIT 0
SELECT * FROM pg_stat_wal LIMIT 0
SELECT * FROM pg_stat_archiver LIMIT 0
SELECT * FROM pg_class LIMIT 0
SELECT * FROM pg_attribute LIMIT 0
SELECT * FROM pg_proc LIMIT 0
SELECT * FROM pg_type LIMIT 0
SELECT * FROM pg_database LIMIT 0
SELECT * FROM pg_db_role_setting LIMIT 0
SELECT * FROM pg_auth_members LIMIT 0
SELECT * FROM pg_shdescription LIMIT 0
SELECT * FROM pg_shdepend LIMIT 0
SELECT * FROM pg_parameter_acl LIMIT 0
SELECT * FROM pg_settings LIMIT 0
SELECT * FROM pg_locks LIMIT 0
SELECT * FROM pg_prepared_xacts LIMIT 0
SELECT * FROM pg_stats LIMIT 0
SELECT attname FROM pg_stats WHERE schemaname = 's' AND tablename = 't'
SELECT attname FROM pg_stats WHERE schemaname = 's' AND tablename = 'parent'
SELECT has_table_privilege('pg_subscription', 'select'), has_column_privilege('pg_subscription', 'subname', 'select')
SELECT 1 WHERE has_any_column_privilege('pg_subscription', 'select')
SELECT 1 WHERE has_table_privilege('pg_authid', 'select')
SELECT 1 WHERE has_table_privilege('pg_class', 'update')
SELECT 1 WHERE has_table_privilege('s.t', 'select')
SELECT 1 WHERE has_table_privilege('s.t', 'insert')
SELECT 1 WHERE has_table_privilege('s.t', 'truncate')
SELECT 1 WHERE has_table_privilege('s.t', 'select with grant option')
SELECT 1 WHERE has_any_column_privilege('s.t', 'select')
SELECT 1 WHERE has_any_column_privilege('s.t', 'update')
SELECT 1 WHERE has_column_privilege('s.t', 'a', 'select')
SELECT 1 WHERE has_column_privilege('s.t', 'b', 'select')
SELECT 1 WHERE has_column_privilege('s.t', 'a', 'references')
SELECT 1 WHERE has_sequence_privilege('s.sq', 'usage')
SELECT 1 WHERE has_sequence_privilege('s.sq', 'update')
SELECT 1 WHERE has_schema_privilege('s', 'create')
SELECT 1 WHERE has_schema_privilege('hidden', 'usage')
SELECT 1 WHERE has_database_privilege('matrix', 'create')
SELECT 1 WHERE has_database_privilege('matrix', 'temp')
SELECT 1 WHERE has_database_privilege('matrix_other', 'connect')
SELECT 1 WHERE has_type_privilege('s.mood', 'usage')
SELECT 1 WHERE has_function_privilege('pg_reload_conf()', 'execute')
SELECT 1 WHERE has_function_privilege('pg_ls_dir(text)', 'execute')
SELECT 1 WHERE has_language_privilege('sql', 'usage')
SELECT 1 WHERE has_parameter_privilege('log_min_duration_statement', 'set')
SELECT 1 WHERE has_parameter_privilege('log_min_duration_statement', 'alter system')
SELECT 1 WHERE has_parameter_privilege('work_mem', 'set')
SELECT 1 WHERE has_parameter_privilege('work_mem', 'alter system')
SELECT 1 WHERE has_parameter_privilege('lc_messages', 'set')
SELECT 1 WHERE has_parameter_privilege('log_statement', 'set, alter system')
SELECT 1 WHERE has_parameter_privilege('log_statement', 'set with grant option')
SELECT 1 WHERE has_parameter_privilege('my.granted', 'alter system with grant option')
SELECT 1 WHERE has_parameter_privilege('g_parameter_option', 'my.granted', 'alter system')
SELECT parname, paracl FROM pg_parameter_acl ORDER BY parname
SELECT 1 WHERE pg_has_role('o_table', 'usage')
SELECT 1 WHERE pg_has_role('o_table', 'member')
SELECT 1 WHERE pg_has_role('target_group', 'member with admin option')
SELECT 1 WHERE pg_has_role('pg_database_owner', 'usage')
SELECT relname FROM pg_class WHERE relnamespace = 's'::regnamespace AND relkind = 'r'
SELECT table_name FROM information_schema.tables WHERE table_schema = 's'
SELECT table_name FROM information_schema.tables WHERE table_schema = 'hidden'
SELECT column_name FROM information_schema.columns WHERE table_schema = 's' AND table_name = 't'
SELECT privilege_type FROM information_schema.table_privileges WHERE table_schema = 's' AND table_name = 't'
SELECT privilege_type FROM information_schema.column_privileges WHERE table_schema = 's' AND table_name = 't'
SELECT privilege_type FROM information_schema.role_table_grants WHERE table_schema = 's'
SELECT privilege_type FROM information_schema.usage_privileges WHERE object_schema = 's'
SELECT sequence_name FROM information_schema.sequences WHERE sequence_schema = 's'
SELECT table_name FROM information_schema.views WHERE table_schema = 's' AND view_definition IS NOT NULL
SELECT constraint_name FROM information_schema.table_constraints WHERE table_schema = 's' AND constraint_type <> 'CHECK'
SELECT constraint_name FROM information_schema.referential_constraints WHERE constraint_schema = 's'
SELECT schema_name FROM information_schema.schemata
SELECT domain_name FROM information_schema.domains WHERE domain_schema = 's'
SELECT role_name FROM information_schema.applicable_roles
SELECT role_name FROM information_schema.enabled_roles
SELECT column_default FROM information_schema.columns WHERE table_schema = 's' AND column_default IS NOT NULL
SELECT sequencename FROM pg_sequences WHERE schemaname = 's' AND last_value IS NOT NULL
SELECT viewname FROM pg_views WHERE schemaname = 's'
SELECT pg_get_viewdef('s.v'::regclass)
SELECT pg_get_indexdef('s.t_a'::regclass)
SELECT pg_relation_size('s.t')
SELECT pg_total_relation_size('hidden.t'::regclass)
SELECT pg_database_size('matrix')
SELECT pg_database_size('matrix_other')
SELECT pg_reload_conf()
SELECT pg_rotate_logfile()
SELECT pg_cancel_backend(0)
SELECT pg_stat_reset()
SELECT pg_stat_reset_shared('bgwriter')
SELECT pg_ls_dir('.') LIMIT 0
SELECT pg_read_file('pg_hba.conf')
SELECT pg_read_binary_file('pg_hba.conf')
SELECT pg_stat_file('pg_hba.conf')
SELECT pg_ls_logdir() LIMIT 0
SELECT pg_ls_waldir() LIMIT 0
SELECT pg_ls_tmpdir() LIMIT 0
SELECT pg_current_logfile()
SELECT pg_switch_wal()
SELECT pg_create_restore_point('x')
SELECT pg_current_wal_lsn()
SELECT pg_export_snapshot()
SELECT pg_get_backend_memory_contexts() LIMIT 0
SELECT pg_hba_file_rules() LIMIT 0
SELECT pg_show_all_file_settings() LIMIT 0
SELECT pg_config() LIMIT 0
SELECT pg_try_advisory_lock(1)
SELECT pg_advisory_unlock_all()
SELECT pg_size_pretty(1::bigint)
SELECT lo_import('/nosuch')
SELECT pg_logical_slot_peek_changes('x', NULL, NULL)
SELECT pg_drop_replication_slot('x')
SELECT pg_start_backup('x')
SELECT pg_promote()
SELECT setseed(0.5)
SELECT txid_current() > 0
INSERT INTO pg_class DEFAULT VALUES
UPDATE pg_class SET relname = 'x' WHERE false
DELETE FROM pg_authid WHERE false
UPDATE pg_settings SET setting = '1MB' WHERE name = 'work_mem'
SELECT 1 FROM pg_class WHERE false FOR UPDATE
COPY pg_authid TO STDOUT
COPY pg_class (relname) TO STDOUT
COPY s.t TO '/tmp/nosuch/x'
COPY s.t FROM '/tmp/nosuch/x'
COPY s.t TO PROGRAM 'false'
COPY s.t FROM PROGRAM 'false'
NOTIFY x
LISTEN x
SELECT pg_notify('x', 'y')
SELECT query_to_xml('select 1 from s.t', true, true, '')
SELECT pg_sequence_last_value('s.sq'::regclass)
SELECT row_security_active('s.t')
SELECT shobj_description(oid, 'pg_authid') FROM pg_roles WHERE rolname = 'nobody'
SELECT aclexplode(relacl) FROM pg_class WHERE oid = 's.t'::regclass
