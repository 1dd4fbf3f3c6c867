//! ALTER DATABASE ... SET, ALTER ROLE ... SET: settings that are kept for sessions to come.

use super::Ddl;
use crate::catalog::object::{Class, Object, ObjectKey, SettingList};
use crate::error::{Result, SqlError};
use crate::parse::ast::{AlterSettings, SetStatement, SetValue, SettingChange, SettingValue};
use crate::queries::identity::SettingUser;
use crate::settings::definition::definition;
use crate::settings::session;
use crate::settings::setter::demand_keepable;
use crate::sqlstate::SqlState;
use crate::types::Oid;
use crate::types::datetime::{interval_read, interval_write};
use crate::types::settings::IntervalStyle;
use std::sync::Arc;

/// ALTER DATABASE ... SET, ALTER ROLE ... SET.
///
/// # Errors
/// 42704, 3D000, 42501, 22023.
pub fn alter_settings(ddl: &mut Ddl<'_>, alter: &AlterSettings) -> Result<&'static str> {
    let mut scope = (Oid(0), Oid(0));
    if let Some(name) = &alter.role {
        let role = ddl.role(name)?;
        super::role::check_name_of_existing(&role)?;
        let user = ddl.user;
        let own = ddl.snapshot().shared().role_by_oid(user).cloned();
        let may = own.is_some_and(|own| {
            own.superuser || own.oid == role.oid || (own.create_role && !role.superuser)
        });
        if !may {
            return Err(SqlError::new(
                SqlState::INSUFFICIENT_PRIVILEGE,
                if role.superuser {
                    "must be superuser to alter superusers"
                } else {
                    "permission denied"
                },
            ));
        }
        scope.1 = role.oid;
    }
    if let Some(name) = &alter.database {
        scope.0 = if alter.role.is_some() {
            let found = ddl.snapshot().shared().database(name).map(|database| database.oid);
            found.ok_or_else(|| {
                SqlError::new(
                    SqlState::INVALID_CATALOG_NAME,
                    format!("database \"{name}\" does not exist"),
                )
            })?
        } else {
            super::database::owned_database(ddl, name)?.oid
        };
    }
    let for_all = scope == (Oid(0), Oid(0));
    if for_all && !ddl.superuser() {
        return Err(SqlError::new(
            SqlState::INSUFFICIENT_PRIVILEGE,
            "must be superuser to alter settings globally",
        ));
    }
    change(ddl, scope, &alter.change)?;
    Ok(if for_all || alter.role.is_some() { "ALTER ROLE" } else { "ALTER DATABASE" })
}

/// The text of a SET's values; none for DEFAULT. FROM CURRENT is what `current` says that the setting is.
///
/// # Errors
/// 22023: several values for a setting that is no list; an interval's 22007, 22008, 22015; those of `current`.
pub fn text_of(
    set: &SetStatement,
    current: &dyn Fn(&str) -> Result<String>,
) -> Result<Option<String>> {
    let values = match &set.value {
        SetValue::Default => return Ok(None),
        SetValue::Current => return current(&set.name).map(Some),
        SetValue::Values(values) => values,
    };
    let texts: Vec<Arc<str>> = values
        .iter()
        .map(|value| match value {
            SettingValue::Text(text) | SettingValue::Number(text) => Ok(Arc::clone(text)),
            SettingValue::Interval(text, typmod) => zone_interval(text, *typmod),
        })
        .collect::<Result<_>>()?;
    session::join_values(&set.name, &texts).map(Some)
}

/// The interval of a SET TIME ZONE, as the setting's text takes it: `INTERVAL '02:00:00'`.
fn zone_interval(text: &str, typmod: i32) -> Result<Arc<str>> {
    let style = IntervalStyle::Postgres;
    let interval = interval_read::read(style, text, typmod)?;
    let mut out = Vec::new();
    interval_write::write(style, &interval, &mut out);
    Ok(format!("INTERVAL '{}'", String::from_utf8_lossy(&out)).into())
}

/// Gives a list a setting's value, in the place that it has; none takes it away.
fn replace(list: &mut SettingList, name: String, value: Option<String>) {
    let at = list.iter().position(|entry| entry.0.eq_ignore_ascii_case(&name));
    match (at, value) {
        (Some(at), Some(value)) => list[at].1 = value,
        (Some(at), None) => {
            list.remove(at);
        }
        (None, Some(value)) => list.push((name, value)),
        (None, None) => {}
    }
}

/// Changes a list by a SET or RESET of one setting (`GUCArrayAdd`, `GUCArrayDelete`), or empties it.
///
/// # Errors
/// 42704, 42602, 42501, 22023, and those of [`text_of`].
pub fn apply(ddl: &mut Ddl<'_>, list: &mut SettingList, change: &SettingChange) -> Result<()> {
    let snapshot = ddl.snapshot();
    let setter = SettingUser { shared: snapshot.shared(), identity: ddl.identity };
    let (name, text) = match change {
        SettingChange::ResetAll => {
            list.clear();
            return Ok(());
        }
        SettingChange::Reset(name) => (name, None),
        SettingChange::Set(set) => (&set.name, text_of(set, ddl.current_setting)?),
    };
    if text.is_some() || !list.is_empty() {
        demand_keepable((name, text.as_deref()), &setter, ddl.notices)?;
    }
    let name = definition(name).map_or(&**name, |found| found.name);
    replace(list, name.to_owned(), text);
    Ok(())
}

fn change(ddl: &mut Ddl<'_>, scope: (Oid, Oid), change: &SettingChange) -> Result<()> {
    let key = ObjectKey { class: Class::Settings, database: scope.0, oid: scope.1, sub: 0 };
    ddl.catalog.lock(ddl.transaction, key)?;
    let snapshot = ddl.snapshot();
    let mut list: SettingList = snapshot.shared().settings(scope.0, scope.1).to_vec();
    let before = snapshot.object(key);
    if matches!(change, SettingChange::ResetAll) {
        // Who may not set it may not forget it.
        let setter = SettingUser { shared: snapshot.shared(), identity: ddl.identity };
        list.retain(|entry| demand_keepable((&entry.0, None), &setter, ddl.notices).is_err());
    } else {
        apply(ddl, &mut list, change)?;
    }
    let object = (!list.is_empty()).then(|| Object::Settings(Arc::new(list)));
    ddl.catalog.change(ddl.transaction, key, before.as_ref(), object)
}
