//! Settings while a statement runs: `set_config` changes them at once, for all that the statement does afterwards.
//!
//! When the run ends the session takes the newest. So it is with who calls: what a plan does was allowed, or not, when it
//! began.

use super::identity::{Identity, SettingUser};
use crate::catalog::{CatalogSnapshot, SearchPath};
use crate::error::{Notice, Result};
use crate::exec::running::Running;
use crate::settings::{Moment, SessionSettings, Settings};
use std::cell::RefCell;

/// A session's settings while a statement runs.
#[derive(Debug)]
pub struct RunningSettings<'s> {
    before: &'s Settings,
    after: RefCell<Option<Box<Settings>>>,
    /// What functions look at.
    pub plain: Running<'s, SessionSettings>,
    /// The resolved search path.
    pub path: Running<'s, SearchPath>,
    /// Who the session is.
    pub identity: Running<'s, Identity>,
}

impl<'s> RunningSettings<'s> {
    /// As they are when the statement begins.
    #[must_use]
    pub fn new(
        before: &'s Settings,
        path: &'s SearchPath,
        identity: &'s Identity,
    ) -> RunningSettings<'s> {
        RunningSettings {
            before,
            after: RefCell::default(),
            plain: Running::new(before.plain()),
            path: Running::new(path),
            identity: Running::new(identity),
        }
    }

    /// Looks at them as they are now.
    pub fn read<T>(&self, look: impl FnOnce(&Settings) -> T) -> T {
        look(self.after.borrow().as_deref().unwrap_or(self.before))
    }

    /// Whether the statement has changed them.
    #[must_use]
    pub fn is_changed(&self) -> bool {
        self.after.borrow().is_some()
    }

    /// What they are now, for somebody who looks for longer.
    #[must_use]
    pub fn changed(&self) -> Option<Settings> {
        self.after.borrow().as_deref().cloned()
    }

    /// Those before the statement.
    #[must_use]
    pub fn before(&self) -> &'s Settings {
        self.before
    }

    /// `set_config`: changes one of them, and says what it is then.
    ///
    /// # Errors
    /// Those of SET.
    pub fn set(
        &self,
        snapshot: &CatalogSnapshot,
        (name, value): (&str, Option<&str>),
        local: bool,
        notices: &mut Vec<Notice>,
    ) -> Result<String> {
        let mut after = self.after.borrow_mut();
        let settings = after.get_or_insert_with(|| Box::new(self.before.clone()));
        let identity = self.identity.get();
        let shared = snapshot.shared();
        let moment = if local { Moment::SetLocal } else { Moment::Set };
        settings.assign((name, value), moment, &SettingUser { shared, identity }, notices)?;
        let mut next = identity.clone();
        next.assume(shared, settings);
        if next != *identity {
            self.identity.put(next);
        }
        let (plain, user) = (settings.plain(), self.identity.get().user);
        if plain.search_path != self.plain.get().search_path || user != identity.user {
            self.path.put(SearchPath::resolve(snapshot, &plain.search_path, user));
        }
        self.plain.put(plain.clone());
        Ok(settings.show(name).unwrap_or_default())
    }

    /// Takes over what somebody else has made of them meanwhile.
    pub fn adopt(&self, settings: &Settings, path: &SearchPath, identity: &Identity) {
        self.plain.put(settings.plain().clone());
        self.path.put(path.clone());
        self.identity.put(identity.clone());
        *self.after.borrow_mut() = Some(Box::new(settings.clone()));
    }

    /// What the run has made of them, if anything.
    #[must_use]
    pub fn end(&mut self) -> Option<Box<Settings>> {
        self.after.get_mut().take()
    }
}
