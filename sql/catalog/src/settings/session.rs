//! Settings of one session, under PostgreSQL's rules: sources, contexts, transactions.
//!
//! A session keeps only what differs from the server's values. A changed setting has up to three values: what RESET goes
//! back to (role, database, start-up packet), what SET made of it, and what SET LOCAL makes of it until the
//! transaction's end. A log of what each change replaced takes changes back: all of it at rollback, its tail at ROLLBACK
//! TO. Commit forgets it, and the local values with it.
//!
//! What functions and plans look at on every call is kept beside it as plain values and made anew when something changes.
//! All of it is shared by copies until one of them changes: a statement that calls routines keeps what it began with.

use super::check;
use super::definition::{
    Context, Definition, Kind, ListQuoting, REPORTED, definition, definitions, number,
};
use super::rule::{RULES, Rule, RuleSet};
use super::server::{ServerSettings, Source, find, unrecognized};
use super::setter::{Moment, NO_ROLE, Setter, UserSetting, may_set};
use super::socket::{self, SocketTimes, is_of_socket};
use super::value::{self, FoundRole, Value};
use super::{Methods, SessionSettings};
use crate::search_path::split_identifiers;
use rustc_hash::FxHashMap;
use sql_types::dialect::Dialect;
use sql_types::error::{Notice, Result, SqlError};
use sql_types::settings::{
    DateOrder, DateStyle, IntervalStyle, ValueSettings, XmlBinary, XmlOption,
};
use sql_types::sqlstate::SqlState;
use std::sync::{Arc, LazyLock};
use txn::SchemeKind;

/// The settings of one session.
#[derive(Clone, Debug)]
pub struct Settings {
    server: Arc<ServerSettings>,
    pub(super) entries: Arc<FxHashMap<Key, Entry>>,
    pub(super) undo: Vec<(Key, Option<Entry>)>,
    plain: Arc<SessionSettings>,
    reported: Arc<Vec<String>>,
    changed: bool,
    /// Moves with every change, so that what follows from settings is worked out anew only then.
    pub(super) generation: u64,
    /// What the client's socket does by itself; none where it is not one of TCP.
    socket: Option<SocketTimes>,
    /// The libraries that the session has loaded.
    pub(super) loaded: Vec<&'static str>,
}

/// A setting by number, or a custom one by its lower-case name.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Key {
    Known(usize),
    Custom(Arc<str>),
}

impl Key {
    /// Whether it is one of the transaction's modes. They come and go with every BEGIN that names them, and nothing that
    /// is kept beside the settings, or reported, follows from them.
    pub(super) fn is_mode(&self) -> bool {
        matches!(self, Key::Known(at) if definitions()[*at].name.starts_with("transaction_"))
    }
}

#[derive(Clone, Debug, Default)]
pub(super) struct Entry {
    /// What RESET goes back to, where it is not the server's.
    reset: Option<(Value, Source)>,
    /// What SET made of it.
    session: Option<Value>,
    /// What SET LOCAL makes of it until the transaction's end.
    pub(super) local: Option<Value>,
}

impl Entry {
    fn value(&self) -> Option<(&Value, Source)> {
        let set =
            self.local.as_ref().or(self.session.as_ref()).map(|value| (value, Source::Session));
        set.or(self.reset.as_ref().map(|(value, source)| (value, *source)))
    }
}

/// A row of `pg_settings`, texts as it shows them.
#[derive(Clone, Debug)]
pub struct SettingRow {
    /// The setting.
    pub definition: &'static Definition,
    /// Its value in base units.
    pub setting: String,
    /// Where the value comes from.
    pub source: Source,
    /// What RESET would make of it, in base units.
    pub reset: String,
}

/// 42501 for a setting that tells of the machine, unless `guarded` ones may be read.
///
/// # Errors
/// 42501.
pub fn demand_readable(name: &str, guarded: bool) -> Result<()> {
    match definition(name) {
        Some(found) if found.guarded && !guarded => Err(SqlError::new(
            SqlState::INSUFFICIENT_PRIVILEGE,
            format!(
                "must be superuser or have privileges of pg_read_all_settings to examine \"{}\"",
                found.name
            ),
        )),
        _ => Ok(()),
    }
}

impl Settings {
    /// The settings of a new session. Values of roles and databases, and those of the start-up packet, are set next.
    #[must_use]
    pub fn new(server: Arc<ServerSettings>) -> Settings {
        let mut settings = Settings {
            server,
            entries: Arc::default(),
            undo: Vec::new(),
            plain: Arc::default(),
            reported: Arc::new(vec![String::new(); REPORTED.len()]),
            changed: true,
            generation: 0,
            socket: None,
            loaded: Vec::new(),
        };
        settings.refresh_plain();
        settings
    }

    /// Takes the server's values anew, after a reload.
    pub fn set_server(&mut self, server: &Arc<ServerSettings>) {
        if !Arc::ptr_eq(&self.server, server) {
            self.server = Arc::clone(server);
            self.refresh_plain();
        }
    }

    /// The plain values.
    #[must_use]
    pub fn plain(&self) -> &SessionSettings {
        &self.plain
    }

    /// The client comes by TCP, by a socket that does this.
    pub fn set_socket(&mut self, socket: Option<SocketTimes>) {
        self.socket = socket;
    }

    /// What the session's settings ask of its socket; none where it has none of TCP.
    #[must_use]
    pub fn asked_of_socket(&self) -> Option<SocketTimes> {
        let own = self.socket?;
        let asked = |name, own| Some(self.integer(name)).filter(|asked| *asked != 0).unwrap_or(own);
        Some(SocketTimes {
            keepalives_idle_s: asked("tcp_keepalives_idle", own.keepalives_idle_s),
            keepalives_interval_s: asked("tcp_keepalives_interval", own.keepalives_interval_s),
            keepalives_count: asked("tcp_keepalives_count", own.keepalives_count),
            user_timeout_ms: asked("tcp_user_timeout", own.user_timeout_ms),
        })
    }

    /// Another number after every change.
    #[must_use]
    pub fn generation(&self) -> u64 {
        self.generation
    }

    fn current(&self, key: &Key) -> Option<(Value, Source)> {
        if let Some((value, source)) = self.entries.get(key).and_then(Entry::value) {
            return Some((value.clone(), source));
        }
        self.base(key)
    }

    /// The server's own value.
    fn base(&self, key: &Key) -> Option<(Value, Source)> {
        match key {
            Key::Known(at) => Some((self.server.value(*at).clone(), self.server.source(*at))),
            Key::Custom(name) => self
                .server
                .custom()
                .iter()
                .find(|entry| entry.0.eq_ignore_ascii_case(name))
                .map(|entry| (Value::Text(entry.1.as_str().into()), Source::Configuration)),
        }
    }

    pub(super) fn key(name: &str) -> Key {
        match number(name) {
            Some(at) => Key::Known(at),
            None => Key::Custom(name.to_ascii_lowercase().into()),
        }
    }

    /// A setting's value; the name is one that is known.
    fn known(&self, name: &'static str) -> Value {
        let key = Settings::key(name);
        self.current(&key).expect("every known setting has a value").0
    }

    /// A truth value by name; the name is one of PostgreSQL's.
    #[must_use]
    pub fn bool(&self, name: &'static str) -> bool {
        self.known(name) == Value::Bool(true)
    }

    /// A number by name, in base units; the name is one of PostgreSQL's.
    #[must_use]
    pub fn integer(&self, name: &'static str) -> i64 {
        match self.known(name) {
            Value::Integer(value) => value,
            Value::Real(value) => value as i64,
            Value::Bool(_) | Value::Text(_) | Value::Role(..) => 0,
        }
    }

    /// A real by name; the name is one of PostgreSQL's.
    #[must_use]
    pub fn real(&self, name: &'static str) -> f64 {
        match self.known(name) {
            Value::Real(value) => value,
            Value::Integer(value) => value as f64,
            Value::Bool(_) | Value::Text(_) | Value::Role(..) => 0.0,
        }
    }

    /// A text or enum by name; the name is one of PostgreSQL's.
    #[must_use]
    pub fn text(&self, name: &'static str) -> Arc<str> {
        match self.known(name) {
            Value::Text(text) | Value::Role(text, _) => text,
            Value::Bool(_) | Value::Integer(_) | Value::Real(_) => Arc::from(""),
        }
    }

    /// Takes out the notices that `client_min_messages` hides. INFO is always shown.
    pub fn keep_shown(&self, notices: &mut Vec<Notice>) -> Vec<Notice> {
        if notices.is_empty() {
            return Vec::new();
        }
        self.plain().keep_shown(notices)
    }

    /// A setting as SHOW prints it; none if there is no such setting.
    #[must_use]
    pub fn show(&self, name: &str) -> Option<String> {
        let key = Settings::key(name);
        let (value, source) = self.current(&key)?;
        if let Key::Known(at) = key
            && source == Source::Default
            && !self.is_there(&definitions()[at])
        {
            return None;
        }
        Some(match key {
            // A random seed is nobody's business.
            Key::Known(at) if definitions()[at].name == "seed" => "unavailable".to_owned(),
            Key::Known(at) => value::show(&definitions()[at], &self.shown(at, value)),
            Key::Custom(_) => match value {
                Value::Text(text) | Value::Role(text, _) => text.to_string(),
                Value::Bool(_) | Value::Integer(_) | Value::Real(_) => String::new(),
            },
        })
    }

    /// SHOW and `current_setting`. `guarded` says whether who asks may read what tells of the machine.
    ///
    /// # Errors
    /// 42704, 42501.
    pub fn show_or_fail(&self, name: &str, guarded: bool) -> Result<String> {
        demand_readable(name, guarded)?;
        self.show(name).ok_or_else(|| unrecognized(name))
    }

    /// The name that SHOW gives its column: as PostgreSQL writes it.
    #[must_use]
    pub fn canonical_name(name: &str) -> String {
        number(name).map_or_else(|| name.to_owned(), |at| definitions()[at].name.to_owned())
    }

    /// SHOW ALL: name, value, description.
    pub fn show_all(
        &self,
        guarded: bool,
    ) -> impl Iterator<Item = (&'static str, String, &'static str)> {
        let shown = move |definition: &&Definition| {
            !definition.hidden && (guarded || !definition.guarded) && self.is_there(definition)
        };
        definitions().iter().filter(shown).map(|definition| {
            let value = self.show(definition.name).unwrap_or_default();
            (definition.name, value, definition.short_description)
        })
    }

    /// The settings that plans may depend on and that are not as they were delivered, with their values as SHOW prints
    /// them (`get_explain_guc_options`).
    #[must_use]
    pub fn changed_for_planning(&self) -> Vec<(String, String)> {
        let mut changed: Vec<(String, String)> = self
            .rows()
            .filter(|row| {
                row.definition.category.starts_with("Query Tuning")
                    || matches!(row.definition.name, "work_mem" | "temp_buffers" | "search_path")
            })
            .filter(|row| row.setting != row.definition.boot)
            .map(|row| {
                let name = row.definition.name;
                (name.to_owned(), self.show(name).unwrap_or_default())
            })
            .collect();
        changed.sort();
        changed
    }

    /// A setting's value as it is told.
    fn shown(&self, at: usize, value: Value) -> Value {
        let name = definitions()[at].name;
        match name {
            "archive_command" if !self.archives() => Value::Text("(disabled)".into()),
            name if is_of_socket(name) => socket::shown(name, &value, self.socket),
            _ => value,
        }
    }

    /// Whether there is an archive of the log.
    fn archives(&self) -> bool {
        self.server.show("archive_mode").is_some_and(|mode| mode != "off")
    }

    /// The rows of `pg_settings`.
    pub fn rows(&self) -> impl Iterator<Item = SettingRow> {
        let shown = |(_, definition): &(usize, &'static Definition)| {
            !definition.hidden && self.is_there(definition)
        };
        definitions().iter().enumerate().filter(shown).map(|(at, definition)| {
            let key = Key::Known(at);
            let (value, source) = self.current(&key).expect("every known setting has a value");
            let reset = self.entries.get(&key).and_then(|entry| entry.reset.clone());
            let reset = reset.map_or_else(|| self.server.value(at).clone(), |reset| reset.0);
            SettingRow {
                definition,
                setting: value::raw(definition, &self.shown(at, value)),
                source,
                reset: value::raw(definition, &reset),
            }
        })
    }

    fn parse(&self, definition: &Definition, text: &str) -> Result<Value> {
        if definition.name == "DateStyle" {
            // What the new value does not say stays as it is.
            let (style, order) = (self.plain.values.date_style, self.plain.values.date_order);
            let (style, order) = check::date_style(definition, text, style, order)?;
            return Ok(Value::Text(check::date_style_text(style, order).into()));
        }
        value::parse(definition, text)
    }

    /// Gives a setting a value, none is DEFAULT: whatever the source is, at the moment when the value takes effect. What has
    /// no effect here says so in `notices`.
    ///
    /// # Errors
    /// 22023, 42704, 42602; 55P02 and 42501 by the setting's context and who sets it.
    pub fn assign(
        &mut self,
        (name, text): (&str, Option<&str>),
        moment: Moment,
        setter: &dyn Setter,
        notices: &mut Vec<Notice>,
    ) -> Result<()> {
        let definition = find(name)?;
        if let Some(definition) = definition {
            may_set((definition, name), moment, setter)?;
        }
        let shortened = match text {
            Some(text) if name.eq_ignore_ascii_case("application_name") => {
                let (cut, notice) = sql_types::text::quote::shortened(text.to_owned());
                notices.extend(notice);
                Some(cut)
            }
            _ => None,
        };
        let text = shortened.as_deref().or(text);
        let value = match (definition, text) {
            (_, None) => None,
            (Some(definition), Some(text)) => Some(match UserSetting::of(definition) {
                Some(setting) => Value::Role(text.into(), setter.user(setting, text)?),
                None => self.parse(definition, text)?,
            }),
            (None, Some(text)) => {
                super::plpgsql::check(name, text)?;
                self.demand_unreserved(name)?;
                Some(Value::Text(text.into()))
            }
        };
        let key = Settings::key(name);
        match moment {
            Moment::Start(source) => {
                if let Some(value) = value {
                    self.keep_default(key, value, source);
                }
                return Ok(());
            }
            Moment::Set | Moment::SetLocal => {}
        }
        if let (Some(definition), Some(value)) = (definition, &value)
            && !(definition.followed || definition.is_advice())
            && self.current(&key).is_none_or(|current| current.0 != *value)
            && value::parse(definition, definition.boot).is_ok_and(|boot| boot != *value)
        {
            notices.push(SqlError::notice(format!(
                "parameter \"{}\" has no effect in Atoll",
                definition.name
            )));
        }
        let local = moment == Moment::SetLocal;
        // Another session user begins without a role; the first one with the role that the session began with.
        if definition.and_then(UserSetting::of) == Some(UserSetting::SessionAuthorization) {
            let none = value.as_ref().map(|_| Value::Role(NO_ROLE.into(), FoundRole::NONE));
            self.put(Settings::key("role"), none, local);
        }
        self.put(key, value, local);
        self.refresh_plain();
        Ok(())
    }

    /// Keeps what RESET goes back to, unless a stronger source has spoken.
    fn keep_default(&mut self, key: Key, value: Value, source: Source) {
        let entry = Arc::make_mut(&mut self.entries).entry(key).or_default();
        if entry.reset.as_ref().is_none_or(|reset| reset.1 <= source) {
            entry.reset = Some((value, source));
        }
        self.refresh_plain();
    }

    /// Who has logged in, whatever the start-up packet says.
    pub fn log_in(&mut self, name: &Arc<str>, role: FoundRole) {
        for (name, value) in [
            ("session_authorization", Value::Role(Arc::clone(name), role)),
            ("is_superuser", Value::Bool(role.superuser)),
        ] {
            self.keep_default(Settings::key(name), value, Source::Override);
        }
    }

    /// The session is in a database of this concurrency control.
    pub fn open_database(&mut self, scheme: SchemeKind) {
        let (key, value) =
            (Settings::key("concurrency_control"), Value::Text(scheme.name().into()));
        self.keep_default(key, value, Source::Override);
    }

    /// Sets or, without a value, resets what the session's or the transaction's value is.
    fn put(&mut self, key: Key, value: Option<Value>, local: bool) {
        let value = match (&key, value) {
            // Once set, a custom setting stays, empty.
            (Key::Custom(_), None) => match self.current(&key) {
                Some(_) => self.base(&key).is_none().then(|| Value::Text("".into())),
                None => return,
            },
            (_, value) => value,
        };
        // Whatever becomes of what it is set to, a custom setting is there from now on.
        let placeholder = || {
            let reset = (Value::Text("".into()), Source::Default);
            let custom = matches!(key, Key::Custom(_)) && self.base(&key).is_none();
            custom.then(|| Entry { reset: Some(reset), ..Entry::default() })
        };
        let before = self.entries.get(&key).cloned().or_else(placeholder);
        let reset = before.as_ref().and_then(|entry| entry.reset.clone());
        let mut entry = before.clone().unwrap_or_default();
        if local {
            let default =
                || reset.map(|reset| reset.0).or_else(|| self.base(&key).map(|base| base.0));
            entry.local = value.or_else(default);
        } else {
            entry.session = value;
            entry.local = None;
        }
        self.undo.push((key.clone(), before));
        Arc::make_mut(&mut self.entries).insert(key, entry);
    }

    /// The role that a setting names, as it was found then; none if it names none.
    #[must_use]
    pub fn user(&self, setting: UserSetting) -> Option<FoundRole> {
        match self.known(setting.name()) {
            Value::Role(_, FoundRole::NONE) => None,
            Value::Role(_, role) => Some(role),
            Value::Bool(_) | Value::Integer(_) | Value::Real(_) | Value::Text(_) => None,
        }
    }

    /// Sets what follows from the transaction's modes: no context is asked, and it is taken back with the transaction like any
    /// SET.
    pub fn set_internal(&mut self, name: &'static str, text: &str, local: bool) {
        let Some(at) = number(name) else { return };
        let definition = &definitions()[at];
        let value = match &definition.kind {
            Kind::Bool => Value::Bool(value::parse_bool(text) == Some(true)),
            Kind::Integer(..) | Kind::Real(..) | Kind::Enum(_) | Kind::Text => {
                Value::Text(text.into())
            }
        };
        let key = Key::Known(at);
        let before = self.entries.get(&key).cloned();
        let mut entry = before.clone().unwrap_or_default();
        if local {
            entry.local = Some(value);
        } else {
            entry.session = Some(value);
            entry.local = None;
        }
        let changes = !key.is_mode();
        self.undo.push((key.clone(), before));
        Arc::make_mut(&mut self.entries).insert(key, entry);
        if changes {
            self.refresh_plain();
        }
    }

    /// Shows what follows from other settings, and goes back with those.
    pub fn show_internal(&mut self, name: &'static str, text: &str) {
        let Some(at) = number(name) else { return };
        let entry = Arc::make_mut(&mut self.entries).entry(Key::Known(at)).or_default();
        entry.session = Some(match definitions()[at].kind {
            Kind::Bool => Value::Bool(value::parse_bool(text) == Some(true)),
            Kind::Integer(..) | Kind::Real(..) | Kind::Enum(_) | Kind::Text => {
                Value::Text(text.into())
            }
        });
        self.refresh_plain();
    }

    /// RESET ALL.
    pub fn reset_all(&mut self) {
        let keys: Vec<Key> = self
            .entries
            .iter()
            .filter(|(key, entry)| {
                let stays = matches!(key, Key::Known(at) if definitions()[*at].no_reset_all
                    || definitions()[*at].context <= Context::Postmaster);
                !stays && (entry.session.is_some() || entry.local.is_some())
            })
            .map(|(key, _)| key.clone())
            .collect();
        for key in keys {
            let before = self.entries.get(&key).cloned();
            let mut entry = Entry {
                reset: before.as_ref().and_then(|entry| entry.reset.clone()),
                ..Entry::default()
            };
            if matches!(key, Key::Custom(_)) && entry.reset.is_none() && self.base(&key).is_none() {
                entry.session = Some(Value::Text("".into()));
            }
            self.undo.push((key.clone(), before));
            Arc::make_mut(&mut self.entries).insert(key, entry);
        }
        self.refresh_plain();
    }

    /// Whether anything has been set, or taken back, since [`Settings::take_changes`].
    #[must_use]
    pub fn has_changes(&self) -> bool {
        self.changed
    }

    /// Calls `report` for each reported setting whose value is not the one last reported.
    pub fn take_changes(&mut self, report: &mut dyn FnMut(&str, &str)) {
        if !self.changed {
            return;
        }
        self.changed = false;
        for (at, name) in REPORTED.iter().enumerate() {
            let value = self.show(name).unwrap_or_default();
            // Before the first report nothing equals an empty value, which is reported too.
            if self.reported[at] != format!("={value}") {
                report(name, &value);
                Arc::make_mut(&mut self.reported)[at] = format!("={value}");
            }
        }
    }

    fn dialect(&self) -> Dialect {
        let standard_strings = self.bool("standard_conforming_strings");
        Dialect {
            standard_strings,
            // `safe_encoding` is one of the client's in which no character has a backslash in it: here all.
            backslash_quote: &*self.text("backslash_quote") != "off",
            escape_warning: !standard_strings && self.bool("escape_string_warning"),
            null_equals: self.bool("transform_null_equals"),
        }
    }

    fn methods(&self) -> Methods {
        Methods {
            whole_tables: self.bool("enable_seqscan"),
            keys: self.bool("enable_indexscan") || self.bool("enable_bitmapscan"),
            nested_loops: self.bool("enable_nestloop"),
            hash_joins: self.bool("enable_hashjoin"),
            sorts: self.bool("enable_sort"),
            rules: self.rules(),
        }
    }

    fn rules(&self) -> RuleSet {
        static KEYS: LazyLock<Vec<(Rule, Key)>> = LazyLock::new(|| {
            RULES.iter().map(|one| (one.rule, Settings::key(one.setting))).collect()
        });
        let is_on = |(_, key): &&(Rule, Key)| {
            let set = self.entries.get(key).and_then(Entry::value).map(|(value, _)| value);
            let value = set.or_else(|| match key {
                Key::Known(at) => Some(self.server.value(*at)),
                Key::Custom(_) => None,
            });
            value == Some(&Value::Bool(true))
        };
        let on = KEYS.iter().filter(is_on);
        on.fold(RuleSet::NONE, |all, (rule, _)| all.with(*rule))
    }

    pub(super) fn refresh_plain(&mut self) {
        self.changed = true;
        self.generation += 1;
        let date_style = self.text("DateStyle");
        let (style, order) = date_style.split_once(", ").unwrap_or((&date_style, "MDY"));
        let values = ValueSettings {
            extra_float_digits: self.integer("extra_float_digits") as i32,
            date_order: match order {
                "DMY" => DateOrder::Dmy,
                "YMD" => DateOrder::Ymd,
                _ => DateOrder::Mdy,
            },
            date_style: match style {
                "SQL" => DateStyle::Sql,
                "Postgres" => DateStyle::Postgres,
                "German" => DateStyle::German,
                _ => DateStyle::Iso,
            },
            interval_style: match &*self.text("IntervalStyle") {
                "postgres_verbose" => IntervalStyle::PostgresVerbose,
                "sql_standard" => IntervalStyle::SqlStandard,
                "iso_8601" => IntervalStyle::Iso8601,
                _ => IntervalStyle::Postgres,
            },
            time_zone: self.text("TimeZone").to_string(),
            bytea_hex: &*self.text("bytea_output") == "hex",
            xml_option: match &*self.text("xmloption") {
                "document" => XmlOption::Document,
                _ => XmlOption::Content,
            },
            xml_binary: match &*self.text("xmlbinary") {
                "hex" => XmlBinary::Hex,
                _ => XmlBinary::Base64,
            },
            array_nulls: self.bool("array_nulls"),
            quote_all_identifiers: self.bool("quote_all_identifiers"),
            trigram_thresholds: [
                "pg_trgm.similarity_threshold",
                "pg_trgm.word_similarity_threshold",
                "pg_trgm.strict_word_similarity_threshold",
            ]
            .map(|name| self.real(name).to_bits()),
            work_mem_bytes: self.integer("work_mem") as u64 * 1024,
        };
        self.plain = Arc::new(SessionSettings {
            values,
            dialect: self.dialect(),
            search_path: self.text("search_path").to_string(),
            statement_memory_bytes: self.integer("atoll.statement_memory") as u64 * 1024,
            temp_file_limit_bytes: u64::try_from(self.integer("temp_file_limit"))
                .ok()
                .map(|limit| limit * 1024),
            track_activities: self.bool("track_activities"),
            generic_plans: &*self.text("plan_cache_mode") == "force_generic_plan",
            track_io_timing: self.bool("track_io_timing"),
            synchronous_commit: &*self.text("synchronous_commit") != "off",
            methods: self.methods(),
            replica: &*self.text("session_replication_role") == "replica",
            told: match &*self.text("client_min_messages") {
                "error" => 4,
                "warning" => 3,
                "notice" => 2,
                "log" => 1,
                _ => 0,
            },
            restrict_views: split_identifiers(&self.text("restrict_nonsystem_relation_kind"))
                .is_some_and(|kinds| kinds.iter().any(|kind| kind.eq_ignore_ascii_case("view"))),
        });
    }
}

/// Several values of a SET as one text.
///
/// # Errors
/// 22023: the setting is no list.
pub fn join_values(name: &str, values: &[Arc<str>]) -> Result<String> {
    let definition = number(name).map(|at| &definitions()[at]);
    match (definition.and_then(|definition| definition.list), values) {
        (Some(ListQuoting::Identifiers), _) => {
            let quoted: Vec<String> =
                values.iter().map(|value| crate::quote::identifier(value)).collect();
            Ok(quoted.join(", "))
        }
        (Some(ListQuoting::Plain), _) => {
            Ok(values.iter().map(|value| &**value).collect::<Vec<_>>().join(", "))
        }
        (None, [value]) => Ok(value.to_string()),
        (None, _) => Err(SqlError::new(
            SqlState::INVALID_PARAMETER_VALUE,
            format!("SET {name} takes only one argument"),
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::super::setter::Confinement;
    use super::*;

    fn session() -> Settings {
        Settings::new(Arc::new(ServerSettings::default()))
    }

    /// Somebody who is a superuser, or not, and becomes nobody else.
    struct Anybody(bool);

    impl Setter for Anybody {
        fn is_trusted_with(&self, _: &str) -> bool {
            self.0
        }

        fn confinement(&self) -> Option<Confinement> {
            None
        }

        fn user(&self, _: UserSetting, _: &str) -> Result<FoundRole> {
            Ok(FoundRole::NONE)
        }
    }

    fn reset(settings: &mut Settings, name: &str) {
        settings.assign((name, None), Moment::Set, &Anybody(false), &mut Vec::new()).unwrap();
    }

    fn set(settings: &mut Settings, name: &str, value: &str, local: bool) {
        let moment = if local { Moment::SetLocal } else { Moment::Set };
        settings.assign((name, Some(value)), moment, &Anybody(true), &mut Vec::new()).unwrap();
    }

    #[test]
    fn a_transaction_takes_back_what_it_set() {
        let mut settings = session();
        set(&mut settings, "work_mem", "5MB", false);
        settings.commit();
        set(&mut settings, "work_mem", "6MB", false);
        let savepoint = settings.savepoint();
        set(&mut settings, "work_mem", "7MB", true);
        assert_eq!(settings.plain().values.work_mem_bytes, 7 << 20);
        settings.rollback_to(savepoint);
        assert_eq!(settings.show("work_mem").unwrap(), "6MB");
        settings.rollback();
        assert_eq!(settings.show("work_mem").unwrap(), "5MB");
    }

    #[test]
    fn a_local_value_ends_with_its_transaction_and_a_set_one_stays() {
        let mut settings = session();
        set(&mut settings, "search_path", "a", false);
        set(&mut settings, "search_path", "b", true);
        assert_eq!(settings.plain().search_path, "b");
        settings.commit();
        assert_eq!(settings.plain().search_path, "a");
        reset(&mut settings, "search_path");
        assert_eq!(settings.plain().search_path, "\"$user\", public");
    }

    /// Nothing that is kept beside the settings is worked out anew for a BEGIN that names its modes.
    #[test]
    fn the_modes_of_a_transaction_change_nothing_else() {
        let mut settings = session();
        settings.take_changes(&mut |_, _| ());
        let generation = settings.generation();
        for end in [Settings::commit, Settings::rollback] {
            settings.set_internal("transaction_isolation", "repeatable read", true);
            settings.set_internal("transaction_read_only", "on", true);
            assert_eq!(settings.show("transaction_isolation").unwrap(), "repeatable read");
            end(&mut settings);
            assert_eq!(settings.show("transaction_isolation").unwrap(), "read committed");
            assert_eq!(settings.show("transaction_read_only").unwrap(), "off");
        }
        assert_eq!((settings.generation(), settings.has_changes()), (generation, false));
        settings.set_internal("is_superuser", "on", false);
        assert!(settings.has_changes() && settings.generation() != generation);
        settings.set_internal("transaction_isolation", "repeatable read", true);
        set(&mut settings, "work_mem", "5MB", true);
        settings.commit();
        assert_eq!(settings.plain().values.work_mem_bytes, 4 << 20);
    }

    #[test]
    fn contexts_are_kept() {
        let mut settings = session();
        let mut fails = |name, superuser| {
            let setter = Anybody(superuser);
            let error = settings
                .assign((name, Some("1")), Moment::Set, &setter, &mut Vec::new())
                .unwrap_err();
            (error.state(), error.fields().message.clone())
        };
        let runtime = SqlState::CANT_CHANGE_RUNTIME_PARAM;
        for (name, message) in [
            ("server_version", "parameter \"server_version\" cannot be changed"),
            ("port", "parameter \"port\" cannot be changed without restarting the server"),
            ("max_wal_size", "parameter \"max_wal_size\" cannot be changed now"),
            (
                "log_connections",
                "parameter \"log_connections\" cannot be set after connection start",
            ),
        ] {
            assert_eq!(fails(name, true), (runtime, message.to_owned()));
        }
        let denied = "permission denied to set parameter \"log_statement_stats\"".to_owned();
        let state = SqlState::INSUFFICIENT_PRIVILEGE;
        assert_eq!(fails("log_statement_stats", false), (state, denied));
        let unknown = "unrecognized configuration parameter \"nope\"".to_owned();
        assert_eq!(fails("nope", true), (SqlState::UNDEFINED_OBJECT, unknown));
        assert_eq!(fails("a.1b", true).0, SqlState::INVALID_NAME);
    }

    #[test]
    fn what_has_no_effect_says_so() {
        let mut settings = session();
        let mut notices = Vec::new();
        let set = |settings: &mut Settings, name, value, notices: &mut Vec<Notice>| {
            settings.assign((name, Some(value)), Moment::Set, &Anybody(false), notices).unwrap();
        };
        set(&mut settings, "debug_print_plan", "off", &mut notices);
        assert!(notices.is_empty(), "the first value is no news");
        set(&mut settings, "geqo", "off", &mut notices);
        assert!(notices.is_empty(), "nor is advice");
        set(&mut settings, "debug_print_plan", "on", &mut notices);
        assert_eq!(notices.len(), 1);
        assert_eq!(settings.show("debug_print_plan").unwrap(), "on");
        assert_eq!(settings.show("geqo").unwrap(), "off");
    }

    #[test]
    fn sources_have_their_order_and_reset_goes_back_to_them() {
        let mut settings = session();
        for (value, source) in [("9MB", Source::Client), ("8MB", Source::User)] {
            let moment = Moment::Start(source);
            settings
                .assign(("work_mem", Some(value)), moment, &Anybody(false), &mut Vec::new())
                .unwrap();
        }
        set(&mut settings, "work_mem", "1MB", false);
        settings.reset_all();
        assert_eq!(settings.show("work_mem").unwrap(), "9MB");
        let row = settings.rows().find(|row| row.definition.name == "work_mem").unwrap();
        assert_eq!((row.setting.as_str(), row.source.word()), ("9216", "client"));
    }

    #[test]
    fn changes_are_reported_once() {
        let mut settings = session();
        let mut all = Vec::new();
        settings.take_changes(&mut |name, value| all.push(format!("{name}={value}")));
        assert_eq!(all.len(), REPORTED.len());
        assert!(all.contains(&"server_version=15.20".to_owned()));
        set(&mut settings, "datestyle", "german", false);
        set(&mut settings, "work_mem", "1MB", false);
        all.clear();
        settings.take_changes(&mut |name, value| all.push(format!("{name}={value}")));
        assert_eq!(all, ["DateStyle=German, DMY"]);
        settings.take_changes(&mut |_, _| panic!("nothing has changed"));
    }

    #[test]
    fn custom_settings_stay_once_set() {
        let mut settings = session();
        assert_eq!(settings.show("a.b"), None);
        set(&mut settings, "a.b", "1", false);
        assert_eq!(settings.show("A.B").unwrap(), "1");
        reset(&mut settings, "a.b");
        assert_eq!(settings.show("a.b").unwrap(), "");
        set(&mut settings, "c.d", "1", true);
        assert_eq!(settings.show("c.d").unwrap(), "1");
        settings.commit();
        assert_eq!(settings.show("c.d").unwrap(), "");
        let savepoint = settings.savepoint();
        set(&mut settings, "e.f", "1", false);
        settings.rollback_to(savepoint);
        assert_eq!(settings.show("e.f").unwrap(), "");
    }
}
