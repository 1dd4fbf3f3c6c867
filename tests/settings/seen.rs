//! How it is seen that a setting works: by a statement that answers otherwise when it has another value, or by a test that
//! changes it and looks.

/// What shows that a setting does what it says.
pub enum Seen {
    /// With this value a statement answers otherwise.
    By(&'static str, &'static str),
    /// The same, behind another statement that makes the difference visible.
    Behind(&'static str, &'static str, &'static str),
    /// There is one value, and another is refused.
    Refused(&'static str),
    /// The test of this name, in this file, changes it and looks.
    In(&'static str, &'static str),
    /// No test does.
    Unwatched,
}

use Seen::{Behind, By, In, Refused, Unwatched};

const ACCESS: &str = "tests/access.rs";
const ARCHIVE: &str = "tests/archive.rs";
const BULK: &str = "tests/bulk.rs";
const LOG: &str = "tests/operator.rs";
const MAINTENANCE: &str = "tests/autovacuum.rs";
const PAGE: &str = "tests/settings_page.rs";
const RESTORE: &str = "tests/restore.rs";
const SERVER: &str = "tests/server_settings.rs";
const STATEMENTS: &str = "tests/statement_statistics.rs";
const WIRE: &str = "tests/wire.rs";

const ARCHIVES: Seen = In(ARCHIVE, "segments_go_to_the_archive_before_they_are_recycled");
const SWITCHED: Seen = In(SERVER, "components_are_switched_off_only_where_that_is_said");
const CHECKED: Seen = In(SERVER, "atolls_own_settings_are_as_checked_as_postgresqls");
const COLLECTED: Seen = In(LOG, "the_collector_writes_postgresqls_files");
const GONE_BACK: Seen = In(RESTORE, "a_copy_of_a_running_server_is_restored_to_any_moment");
const IDLE: Seen = In(WIRE, "idle_sessions_are_ended_when_they_are_to_be");
const LET_IN: Seen = In(ACCESS, "clients_are_let_in_as_postgresql_lets_them");
const LOGGED: Seen = In(LOG, "the_log_says_what_postgresqls_says");
const LOOKED_AFTER: Seen = In(MAINTENANCE, "tables_that_have_changed_enough_are_looked_after");
const NUMBERED: Seen = In(STATEMENTS, "a_statement_has_one_number_wherever_it_is_shown");
const PLANNED: &str = "EXPLAIN (COSTS OFF) SELECT * FROM looked WHERE k = 5";
const RULE: Seen = In("tests/planner_rules.rs", "each_rule_is_switched_off_by_its_setting");
const REFUSED_BACK: Seen = In(RESTORE, "what_cannot_be_restored_says_why");
const ROTATED: Seen = In("server/src/log/files.rs", "files_begin_by_age_and_by_size");
const SOCKET: Seen = In(PAGE, "a_session_sets_its_own_socket");
const TLS: Seen = In("server/src/tls.rs", "the_versions_are_those_between_least_and_most");
const STARTED: Seen = In(PAGE, "what_counts_from_the_start_on_is_seen");

/// Of each setting that works, in the order of `LC_ALL=C sort`.
pub const SEEN: &[(&str, Seen)] = &[
    ("DateStyle", By("German", "SELECT date '2000-01-02'")),
    ("IntervalStyle", By("iso_8601", "SELECT interval '1 day'")),
    ("TimeZone", By("Asia/Tokyo", "SELECT timestamptz '2000-01-01 00:00+00'")),
    (
        "application_name",
        By("x", "SELECT application_name FROM pg_stat_activity WHERE pid = pg_backend_pid()"),
    ),
    ("archive_command", ARCHIVES),
    ("archive_mode", ARCHIVES),
    ("archive_timeout", ARCHIVES),
    ("array_nulls", By("off", "SELECT array_to_string('{NULL}'::text[], ',', '*')")),
    ("atoll.enable_avoid_sorts", RULE),
    ("atoll.enable_bound_sorts", RULE),
    ("atoll.enable_exists_as_any", RULE),
    ("atoll.enable_extremes_by_key", RULE),
    ("atoll.enable_hash_subplans", RULE),
    ("atoll.enable_imply_equalities", RULE),
    ("atoll.enable_inline_functions", RULE),
    ("atoll.enable_merge_ctes", RULE),
    ("atoll.enable_one_time_filters", RULE),
    ("atoll.enable_order_conditions", RULE),
    ("atoll.enable_order_joins", RULE),
    ("atoll.enable_plan_for_first_rows", RULE),
    ("atoll.enable_postpone_subqueries", RULE),
    ("atoll.enable_pull_up_laterals", RULE),
    ("atoll.enable_pull_up_sublinks", RULE),
    ("atoll.enable_push_down_conditions", RULE),
    ("atoll.enable_reduce_outer_joins", RULE),
    ("atoll.enable_remove_unread", RULE),
    ("atoll.enable_simplify_exists", RULE),
    ("atoll.enable_sort_below_distinct", RULE),
    ("atoll.enable_unique_semijoins", RULE),
    ("atoll.log_insert", CHECKED),
    (
        "atoll.max_write_set",
        In(BULK, "a_transaction_larger_than_memory_commits_rolls_back_and_survives_kill"),
    ),
    ("atoll.metrics_listen", In("tests/wire_activity.rs", "metrics_count_the_work_that_was_done")),
    (
        "atoll.partitions",
        In("tests/schemes/partitions.rs", "a_database_has_as_many_partitions_as_the_setting_says"),
    ),
    (
        "atoll.require_partition_key",
        In(
            "tests/schemes/partitions.rs",
            "a_table_without_a_key_has_its_rows_where_their_transactions_are",
        ),
    ),
    ("atoll.run_programs_as_root", In(LOG, "as_root_the_server_says_so_and_runs_no_program")),
    (
        "atoll.statement_memory",
        In("tests/wire_costs.rs", "a_statement_that_would_hold_too_much_is_refused_before_it_does"),
    ),
    ("atoll.switched_off", SWITCHED),
    (
        "atoll.timestamp_allocator",
        In("tests/history.rs", "the_other_schemes_permit_nothing_at_any_level"),
    ),
    (
        "atoll.track_breakdown",
        In("tests/breakdown.rs", "a_statement_has_its_planning_its_commit_and_its_answer"),
    ),
    ("atoll.unsafe_switches", SWITCHED),
    ("atoll.version_memory", CHECKED),
    ("atoll.version_spill", CHECKED),
    ("atoll.workers", In("tests/wire_crowd.rs", "a_thousand_sessions_wait_for_one_row")),
    ("authentication_timeout", In("tests/wire_startup.rs", "who_says_nothing_is_let_go")),
    ("autovacuum", LOOKED_AFTER),
    ("autovacuum_analyze_scale_factor", LOOKED_AFTER),
    ("autovacuum_analyze_threshold", LOOKED_AFTER),
    ("autovacuum_naptime", LOOKED_AFTER),
    ("autovacuum_vacuum_insert_scale_factor", Unwatched),
    ("autovacuum_vacuum_insert_threshold", LOOKED_AFTER),
    ("autovacuum_vacuum_scale_factor", Unwatched),
    ("autovacuum_vacuum_threshold", Unwatched),
    ("backslash_quote", By("off", "SELECT E'a\\'b'")),
    ("bytea_output", By("escape", "SELECT '\\x41'::bytea")),
    (
        "check_function_bodies",
        By(
            "off",
            "CREATE FUNCTION checked() RETURNS int LANGUAGE sql AS 'SELECT nothing_of_that_name'",
        ),
    ),
    ("checkpoint_timeout", In("tests/crash.rs", "acknowledged_commits_survive_kill_9")),
    ("client_encoding", In("tests/psql/encodings.psql", "")),
    ("client_min_messages", By("error", "DROP TABLE IF EXISTS nothing_of_that_name")),
    ("compute_query_id", NUMBERED),
    ("config_file", In("server/src/config.rs", "a_stronger_source_wins")),
    ("data_directory", In(SERVER, "alter_system_counts_from_the_next_reload_or_start_on")),
    (
        "deadlock_timeout",
        In("tests/wire_activity.rs", "long_waits_for_locks_are_logged_as_in_postgresql"),
    ),
    (
        "default_statistics_target",
        Behind(
            "1",
            "ANALYZE looked",
            "SELECT array_length(histogram_bounds, 1) FROM pg_stats WHERE tablename = 'looked' AND attname = 'id'",
        ),
    ),
    ("default_table_access_method", Refused("nothing")),
    ("default_tablespace", Refused("nothing")),
    ("default_transaction_deferrable", By("on", "SHOW transaction_deferrable")),
    ("default_transaction_isolation", By("serializable", "SHOW transaction_isolation")),
    ("default_transaction_read_only", By("on", "UPDATE looked SET k = k WHERE false")),
    ("enable_bitmapscan", Behind("off", "SET enable_indexscan = off", PLANNED)),
    (
        "enable_hashjoin",
        By("off", "EXPLAIN (COSTS OFF) SELECT * FROM looked a JOIN looked b USING (k)"),
    ),
    (
        "enable_incremental_sort",
        By("off", "EXPLAIN (COSTS OFF) SELECT * FROM looked ORDER BY k, v LIMIT 3"),
    ),
    ("enable_indexonlyscan", By("off", "EXPLAIN (COSTS OFF) SELECT k FROM looked WHERE k = 5")),
    ("enable_indexscan", Behind("off", "SET enable_bitmapscan = off", PLANNED)),
    (
        "enable_material",
        By("off", "EXPLAIN (COSTS OFF) SELECT * FROM looked a, looked b WHERE a.k < b.k"),
    ),
    (
        "enable_nestloop",
        By(
            "off",
            "EXPLAIN (COSTS OFF) SELECT * FROM looked a JOIN looked b ON a.id = b.k WHERE a.id < 10",
        ),
    ),
    ("enable_seqscan", By("off", "EXPLAIN (COSTS OFF) SELECT count(*) FROM looked WHERE k < 40")),
    ("enable_sort", By("off", "EXPLAIN (COSTS OFF) SELECT * FROM looked ORDER BY k")),
    (
        "escape_string_warning",
        Behind("off", "SET standard_conforming_strings = off", "SELECT 'a\\tb'"),
    ),
    ("external_pid_file", STARTED),
    ("extra_float_digits", By("0", "SELECT 0.1::float8 + 0.2::float8")),
    ("hba_file", LET_IN),
    ("ident_file", LET_IN),
    ("idle_in_transaction_session_timeout", IDLE),
    ("idle_session_timeout", IDLE),
    ("listen_addresses", In("server/src/config.rs", "a_stronger_source_wins")),
    ("lock_timeout", In("tests/isolation.rs", "schedules_go_as_in_postgresql")),
    ("log_autovacuum_min_duration", LOOKED_AFTER),
    ("log_checkpoints", In(LOG, "checkpoints_and_temporary_files_are_logged")),
    ("log_connections", In(LOG, "nobody_writes_a_line_of_his_own_into_the_log")),
    ("log_destination", COLLECTED),
    ("log_directory", COLLECTED),
    ("log_disconnections", LOGGED),
    ("log_duration", LOGGED),
    ("log_error_verbosity", STARTED),
    ("log_file_mode", ROTATED),
    ("log_filename", COLLECTED),
    ("log_line_prefix", In(LOG, "nobody_writes_a_line_of_his_own_into_the_log")),
    (
        "log_lock_waits",
        In("tests/wire_activity.rs", "long_waits_for_locks_are_logged_as_in_postgresql"),
    ),
    ("log_min_duration_sample", LOGGED),
    ("log_min_duration_statement", In(LOG, "passwords_are_in_no_line_of_the_log")),
    ("log_min_error_statement", LOGGED),
    ("log_min_messages", LOGGED),
    ("log_parameter_max_length", LOGGED),
    ("log_parameter_max_length_on_error", LOGGED),
    ("log_rotation_age", ROTATED),
    ("log_rotation_size", ROTATED),
    ("log_statement", In(LOG, "passwords_are_in_no_line_of_the_log")),
    ("log_statement_sample_rate", LOGGED),
    ("log_temp_files", In(LOG, "checkpoints_and_temporary_files_are_logged")),
    ("log_timezone", COLLECTED),
    ("log_transaction_sample_rate", LOGGED),
    ("log_truncate_on_rotation", ROTATED),
    ("logging_collector", COLLECTED),
    ("maintenance_work_mem", In(BULK, "loads_and_index_builds_hold_no_more_than_they_may")),
    ("max_connections", In(WIRE, "who_may_not_connect_is_told_why")),
    ("max_prepared_transactions", In("tests/two_phase.rs", "names_are_refused_as_in_postgresql")),
    ("max_wal_size", In(BULK, "loads_and_index_builds_hold_no_more_than_they_may")),
    ("password_encryption", In(LOG, "passwords_are_in_no_line_of_the_log")),
    ("plan_cache_mode", In("tests/planner_rules.rs", "plans_go_by_the_values_at_hand")),
    ("port", In("tests/wire_startup.rs", "a_session_knows_where_it_was_reached")),
    ("quote_all_identifiers", By("on", "SELECT quote_ident('a')")),
    ("recovery_target", REFUSED_BACK),
    ("recovery_target_action", REFUSED_BACK),
    ("recovery_target_inclusive", GONE_BACK),
    ("recovery_target_lsn", GONE_BACK),
    ("recovery_target_name", GONE_BACK),
    ("recovery_target_time", GONE_BACK),
    ("recovery_target_timeline", GONE_BACK),
    ("recovery_target_xid", GONE_BACK),
    ("restore_command", GONE_BACK),
    ("restrict_nonsystem_relation_kind", By("view", "SELECT * FROM looked_at")),
    ("role", By("looker", "SELECT current_user")),
    ("search_path", By("pg_catalog", "SELECT current_schemas(false)")),
    ("session_authorization", By("looker", "SELECT session_user")),
    ("session_preload_libraries", In(STATEMENTS, "libraries_are_loaded_by_settings")),
    ("session_replication_role", In("tests/sql/trigger_rows.sql", "")),
    ("shared_buffers", In(BULK, "with_the_smallest_pool_every_mechanism_of_it_is_at_work")),
    ("shared_preload_libraries", In(STATEMENTS, "libraries_are_loaded_by_settings")),
    ("ssl", LET_IN),
    ("ssl_ca_file", LET_IN),
    ("ssl_cert_file", LET_IN),
    ("ssl_crl_file", Unwatched),
    ("ssl_key_file", LET_IN),
    ("ssl_max_protocol_version", TLS),
    ("ssl_min_protocol_version", TLS),
    ("standard_conforming_strings", By("off", "SELECT 'a\\tb'")),
    ("statement_timeout", By("20ms", "SELECT pg_sleep(0.5)")),
    ("stats_fetch_consistency", Unwatched),
    ("superuser_reserved_connections", In(WIRE, "who_may_not_connect_is_told_why")),
    ("synchronous_commit", Unwatched),
    ("tcp_keepalives_count", SOCKET),
    ("tcp_keepalives_idle", SOCKET),
    ("tcp_keepalives_interval", SOCKET),
    ("tcp_user_timeout", SOCKET),
    ("temp_file_limit", In("tests/sql/spilled_sorts.sql", "")),
    ("temp_tablespaces", Refused("nothing")),
    (
        "track_activities",
        By("off", "SELECT query FROM pg_stat_activity WHERE pid = pg_backend_pid()"),
    ),
    ("track_activity_query_size", In("tests/wire_activity.rs", "others_see_what_a_session_does")),
    ("track_functions", In("tests/sql/function_counts.sql", "")),
    (
        "track_io_timing",
        By(
            "on",
            "EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON, COSTS off, TIMING off, SUMMARY off) SELECT 1",
        ),
    ),
    ("transaction_deferrable", In("tests/sql/shown_values.sql", "")),
    ("transaction_isolation", In("tests/sql/shown_values.sql", "")),
    ("transaction_read_only", In("tests/sql/shown_values.sql", "")),
    ("transform_null_equals", By("on", "SELECT NULL = NULL")),
    (
        "unix_socket_directories",
        In("tests/wire_startup.rs", "a_directory_has_one_server_and_its_files_go_with_it"),
    ),
    ("unix_socket_permissions", STARTED),
    ("wal_level", Unwatched),
    ("work_mem", In(LOG, "checkpoints_and_temporary_files_are_logged")),
    ("xmlbinary", By("hex", "SELECT xmlelement(name a, '\\x41'::bytea)")),
    ("xmloption", By("document", "SELECT 'x'::xml")),
];
