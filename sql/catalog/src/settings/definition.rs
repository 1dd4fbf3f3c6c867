//! What settings there are: all of PostgreSQL 15's, with types, units, ranges, contexts and first values.
//!
//! The data are `data/pg_settings.tsv`, written by `generate.py` from a running PostgreSQL 15 and committed; building
//! needs neither. Five more are not listed there because SHOW ALL hides them. Atoll's own, whose names begin with
//! `atoll.`, are in `data/atoll_settings.tsv`, in the same form, those of the planner's rules in [`super::rule`]. Names are
//! found in any case, as written in PostgreSQL.

use rustc_hash::FxHashMap;
use std::sync::LazyLock;

/// A setting.
#[derive(Clone, Debug)]
pub struct Definition {
    /// Its name, as PostgreSQL writes it.
    pub name: &'static str,
    /// What a number without a unit counts.
    pub unit: Option<&'static str>,
    /// Its category.
    pub category: &'static str,
    /// Its description.
    pub short_description: &'static str,
    /// More of it.
    pub extra_description: Option<&'static str>,
    /// When it may be changed, and by whom.
    pub context: Context,
    /// Its type.
    pub kind: Kind,
    /// Its value where nobody says anything, in base units.
    pub boot: &'static str,
    /// Atoll follows it; any other setting is accepted, and a value that is not its first one is answered by a NOTICE, if
    /// it is more than advice ([`Definition::is_advice`]).
    pub followed: bool,
    /// SHOW ALL and `pg_settings` leave it out.
    pub hidden: bool,
    /// RESET ALL leaves it alone.
    pub no_reset_all: bool,
    /// PostgreSQL's flags (`pg_settings_get_flags`), between commas.
    pub flags: &'static str,
    /// A list: SET takes several values.
    pub list: Option<ListQuoting>,
    /// The library that brings it: without that it is not shown.
    pub library: Option<&'static str>,
    /// Only superusers and members of `pg_read_all_settings` may read it (`GUC_SUPERUSER_ONLY`).
    pub guarded: bool,
}

impl Definition {
    /// Whether it only advises how work is done, so that no answer tells whether it was heard: costs of plans, sizes of
    /// caches, how often a vacuum rests. To set it is no news to anybody, and tools set many of these.
    #[must_use]
    pub fn is_advice(&self) -> bool {
        const SUBJECTS: [&str; 7] = [
            "Query Tuning /",
            "Resource Usage /",
            "Write-Ahead Log /",
            "Client Connection Defaults / Locale and Formatting",
            "Client Connection Defaults / Other Defaults",
            "Client Connection Defaults / Statement Behavior",
            "Version and Platform Compatibility /",
        ];
        SUBJECTS.iter().any(|subject| self.category.starts_with(subject))
    }
}

/// How several values become one text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ListQuoting {
    /// As they are.
    Plain,
    /// As identifiers, quoted where they have to be.
    Identifiers,
}

/// When a setting may be changed, weakest protection last (PostgreSQL's `GucContext`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Context {
    /// Never.
    Internal,
    /// At the server's start.
    Postmaster,
    /// By a reload of the configuration.
    Sighup,
    /// At a connection's start, by superusers.
    SuperuserBackend,
    /// At a connection's start.
    Backend,
    /// By SET, by superusers.
    Superuser,
    /// By SET.
    User,
}

impl Context {
    /// Its name in `pg_settings.context`.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Context::Internal => "internal",
            Context::Postmaster => "postmaster",
            Context::Sighup => "sighup",
            Context::SuperuserBackend => "superuser-backend",
            Context::Backend => "backend",
            Context::Superuser => "superuser",
            Context::User => "user",
        }
    }
}

/// A setting's type.
#[derive(Clone, Debug, PartialEq)]
pub enum Kind {
    /// bool
    Bool,
    /// integer, between two bounds
    Integer(i64, i64),
    /// real, between two bounds
    Real(f64, f64),
    /// enum, of these values
    Enum(Vec<&'static str>),
    /// string
    Text,
}

impl Kind {
    /// Its name in `pg_settings.vartype`.
    #[must_use]
    pub fn word(&self) -> &'static str {
        match self {
            Kind::Bool => "bool",
            Kind::Integer(..) => "integer",
            Kind::Real(..) => "real",
            Kind::Enum(_) => "enum",
            Kind::Text => "string",
        }
    }
}

/// Settings that clients are told of whenever they change (ParameterStatus), in PostgreSQL's order.
pub const REPORTED: [&str; 13] = [
    "application_name",
    "client_encoding",
    "DateStyle",
    "default_transaction_read_only",
    "in_hot_standby",
    "integer_datetimes",
    "IntervalStyle",
    "is_superuser",
    "server_encoding",
    "server_version",
    "session_authorization",
    "standard_conforming_strings",
    "TimeZone",
];

/// What a new directory says instead of PostgreSQL's first values: what `initdb` would write for C.UTF-8, and what follows
/// from the platform.
const INITIAL: &[(&str, &str)] = &[
    ("client_encoding", "UTF8"),
    ("default_text_search_config", "pg_catalog.english"),
    ("lc_collate", "C.UTF-8"),
    ("lc_ctype", "C.UTF-8"),
    ("lc_messages", "C.UTF-8"),
    ("lc_monetary", "C.UTF-8"),
    ("lc_numeric", "C.UTF-8"),
    ("lc_time", "C.UTF-8"),
    // Not `log`: in that directory the write-ahead log's segments are.
    ("log_directory", "pg_log"),
    ("log_timezone", "UTC"),
    ("max_stack_depth", "2048"),
    ("server_encoding", "UTF8"),
    ("server_version", "15.20"),
    ("TimeZone", "UTC"),
    ("timezone_abbreviations", "Default"),
    ("wal_buffers", "512"),
];

/// Settings whose value changes what Atoll does, or states a fact about it. Kept in byte order.
const FOLLOWED: &[&str] = &[
    "DateStyle",
    "IntervalStyle",
    "TimeZone",
    "application_name",
    "archive_command",
    "archive_mode",
    "archive_timeout",
    "array_nulls",
    "atoll.log_insert",
    "atoll.max_write_set",
    "atoll.metrics_listen",
    "atoll.partitions",
    "atoll.require_partition_key",
    "atoll.run_programs_as_root",
    "atoll.statement_memory",
    "atoll.switched_off",
    "atoll.timestamp_allocator",
    "atoll.track_breakdown",
    "atoll.unsafe_switches",
    "atoll.version_memory",
    "atoll.version_spill",
    "atoll.workers",
    "authentication_timeout",
    "autovacuum",
    "autovacuum_analyze_scale_factor",
    "autovacuum_analyze_threshold",
    "autovacuum_naptime",
    "autovacuum_vacuum_insert_scale_factor",
    "autovacuum_vacuum_insert_threshold",
    "autovacuum_vacuum_scale_factor",
    "autovacuum_vacuum_threshold",
    "backslash_quote",
    "bytea_output",
    "check_function_bodies",
    "checkpoint_timeout",
    "client_encoding",
    "client_min_messages",
    "compute_query_id",
    "config_file",
    "data_directory",
    "deadlock_timeout",
    "default_statistics_target",
    "default_table_access_method",
    "default_tablespace",
    "default_transaction_deferrable",
    "default_transaction_isolation",
    "default_transaction_read_only",
    "enable_bitmapscan",
    "enable_hashjoin",
    "enable_incremental_sort",
    "enable_indexonlyscan",
    "enable_indexscan",
    "enable_material",
    "enable_nestloop",
    "enable_seqscan",
    "enable_sort",
    "escape_string_warning",
    "external_pid_file",
    "extra_float_digits",
    "hba_file",
    "ident_file",
    "idle_in_transaction_session_timeout",
    "idle_session_timeout",
    "listen_addresses",
    "lock_timeout",
    "log_autovacuum_min_duration",
    "log_checkpoints",
    "log_connections",
    "log_destination",
    "log_directory",
    "log_disconnections",
    "log_duration",
    "log_error_verbosity",
    "log_file_mode",
    "log_filename",
    "log_line_prefix",
    "log_lock_waits",
    "log_min_duration_sample",
    "log_min_duration_statement",
    "log_min_error_statement",
    "log_min_messages",
    "log_parameter_max_length",
    "log_parameter_max_length_on_error",
    "log_rotation_age",
    "log_rotation_size",
    "log_statement",
    "log_statement_sample_rate",
    "log_temp_files",
    "log_timezone",
    "log_transaction_sample_rate",
    "log_truncate_on_rotation",
    "logging_collector",
    "maintenance_work_mem",
    "max_connections",
    "max_prepared_transactions",
    "max_wal_size",
    "password_encryption",
    "plan_cache_mode",
    "port",
    "quote_all_identifiers",
    "recovery_target",
    "recovery_target_action",
    "recovery_target_inclusive",
    "recovery_target_lsn",
    "recovery_target_name",
    "recovery_target_time",
    "recovery_target_timeline",
    "recovery_target_xid",
    "restore_command",
    "restrict_nonsystem_relation_kind",
    "role",
    "search_path",
    "session_authorization",
    "session_preload_libraries",
    "session_replication_role",
    "shared_buffers",
    "shared_preload_libraries",
    "ssl",
    "ssl_ca_file",
    "ssl_cert_file",
    "ssl_crl_file",
    "ssl_key_file",
    "ssl_max_protocol_version",
    "ssl_min_protocol_version",
    "standard_conforming_strings",
    "statement_timeout",
    "stats_fetch_consistency",
    "superuser_reserved_connections",
    "synchronous_commit",
    "tcp_keepalives_count",
    "tcp_keepalives_idle",
    "tcp_keepalives_interval",
    "tcp_user_timeout",
    "temp_file_limit",
    "temp_tablespaces",
    "track_activities",
    "track_activity_query_size",
    "track_functions",
    "track_io_timing",
    "transaction_deferrable",
    "transaction_isolation",
    "transaction_read_only",
    "transform_null_equals",
    "unix_socket_directories",
    "unix_socket_permissions",
    "wal_level",
    "work_mem",
    "xmlbinary",
    "xmloption",
];

/// Settings that tell of the machine. Kept in byte order.
const GUARDED: &[&str] = &[
    "config_file",
    "data_directory",
    "dynamic_library_path",
    "extension_destdir",
    "external_pid_file",
    "hba_file",
    "ident_file",
    "jit_provider",
    "krb_server_keyfile",
    "log_directory",
    "log_filename",
    "primary_conninfo",
    "session_preload_libraries",
    "shared_preload_libraries",
    "ssl_ciphers",
    "ssl_dh_params_file",
    "ssl_ecdh_curve",
    "ssl_max_protocol_version",
    "ssl_min_protocol_version",
    "ssl_passphrase_command",
    "unix_socket_directories",
];

fn list_quoting(name: &str) -> Option<ListQuoting> {
    match name {
        "search_path"
        | "temp_tablespaces"
        | "local_preload_libraries"
        | "session_preload_libraries"
        | "shared_preload_libraries"
        | "unix_socket_directories" => Some(ListQuoting::Identifiers),
        "DateStyle"
        | "listen_addresses"
        | "log_destination"
        | "synchronous_standby_names"
        | "wal_consistency_checking"
        | "debug_io_direct" => Some(ListQuoting::Plain),
        _ => None,
    }
}

fn parse_line(line: &'static str) -> Definition {
    let fields: Vec<Option<&'static str>> =
        line.split('\t').map(|field| (field != "\\N").then_some(field)).collect();
    let text = |at: usize| fields[at].unwrap_or_default();
    let name = text(0);
    let context = match text(5) {
        "internal" => Context::Internal,
        "postmaster" => Context::Postmaster,
        "sighup" => Context::Sighup,
        "superuser-backend" => Context::SuperuserBackend,
        "backend" => Context::Backend,
        "superuser" => Context::Superuser,
        _ => Context::User,
    };
    let integer = |at: usize| text(at).parse().expect("the files have numbers as bounds");
    let real = |at: usize| text(at).parse().expect("the files have numbers as bounds");
    let kind = match text(6) {
        "bool" => Kind::Bool,
        "integer" => Kind::Integer(integer(7), integer(8)),
        "real" => Kind::Real(real(7), real(8)),
        "enum" => Kind::Enum(text(9).split(',').collect()),
        _ => Kind::Text,
    };
    let initial = INITIAL.iter().find(|entry| entry.0 == name).map(|entry| entry.1);
    Definition {
        name,
        unit: fields[1],
        category: text(2),
        short_description: text(3),
        extra_description: fields[4],
        context,
        kind,
        boot: initial.unwrap_or_else(|| text(10)),
        followed: FOLLOWED.binary_search(&name).is_ok()
            || context == Context::Internal
            || super::library_of(name).is_some(),
        hidden: false,
        no_reset_all: text(11).contains("NO_RESET_ALL"),
        flags: text(11),
        list: list_quoting(name),
        library: super::library_of(name),
        guarded: GUARDED.binary_search(&name).is_ok(),
    }
}

/// The flags of a setting, between commas; none without such a setting.
#[must_use]
pub fn flags(name: &str) -> Option<&'static str> {
    number(name).map(|number| definitions()[number].flags)
}

fn hidden(name: &'static str, context: Context, kind: Kind, boot: &'static str) -> Definition {
    Definition {
        name,
        unit: None,
        category: "Ungrouped",
        short_description: "",
        extra_description: None,
        context,
        kind,
        boot,
        followed: true,
        hidden: true,
        no_reset_all: true,
        flags: "NO_SHOW_ALL,NO_RESET_ALL,NOT_IN_SAMPLE",
        list: None,
        library: None,
        guarded: false,
    }
}

struct Table {
    /// In byte order of the lower-case names.
    all: Vec<Definition>,
    by_name: FxHashMap<String, usize>,
}

static TABLE: LazyLock<Table> = LazyLock::new(|| {
    let files = [
        include_str!("data/pg_settings.tsv"),
        include_str!("data/library_settings.tsv"),
        include_str!("data/atoll_settings.tsv"),
    ];
    let lines = files.into_iter().flat_map(|file| file.lines().skip(1));
    let mut all: Vec<Definition> =
        lines.map(parse_line).chain(super::rule::definitions()).collect();
    all.push(hidden("default_with_oids", Context::User, Kind::Bool, "off"));
    all.push(hidden("is_superuser", Context::Internal, Kind::Bool, "off"));
    all.push(hidden("role", Context::User, Kind::Text, "none"));
    all.push(hidden("seed", Context::User, Kind::Real(-1.0, 1.0), "0"));
    all.push(hidden("session_authorization", Context::User, Kind::Text, ""));
    all.push(hidden("ssl_renegotiation_limit", Context::User, Kind::Integer(0, 0), "0"));
    all.sort_by_key(|definition| definition.name.to_ascii_lowercase());
    let names = all.iter().map(|definition| definition.name.to_ascii_lowercase());
    let by_name = names.zip(0..).collect();
    Table { all, by_name }
});

/// All settings, in byte order of their lower-case names.
#[must_use]
pub fn definitions() -> &'static [Definition] {
    &TABLE.all
}

/// A setting by its name in any case: its number in [`definitions`].
#[must_use]
pub fn number(name: &str) -> Option<usize> {
    let table = &*TABLE;
    table.by_name.get(name).or_else(|| table.by_name.get(&name.to_ascii_lowercase())).copied()
}

/// A setting by its name in any case.
#[must_use]
pub fn definition(name: &str) -> Option<&'static Definition> {
    number(name).map(|at| &definitions()[at])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_of_postgresql_15_are_there() {
        // What a database is made with stands beside `lc_collate`, as a word of CREATE DATABASE.
        let is_own = |name: &str| name.starts_with("atoll.") || name == "concurrency_control";
        let (own, postgresqls): (Vec<_>, Vec<_>) = definitions()
            .iter()
            .filter(|definition| !definition.hidden && definition.library.is_none())
            .partition(|definition| is_own(definition.name));
        assert_eq!((own.len(), postgresqls.len()), (36, 356));
        let work_mem = definition("WORK_MEM").unwrap();
        assert_eq!((work_mem.unit, work_mem.boot), (Some("kB"), "4096"));
        assert_eq!(work_mem.kind, Kind::Integer(64, 2_147_483_647));
        assert_eq!(definition("timezone").unwrap().name, "TimeZone");
        assert!(FOLLOWED.is_sorted());
        for name in FOLLOWED.iter().chain(&REPORTED) {
            assert!(definition(name).is_some(), "{name}");
        }
    }
}
