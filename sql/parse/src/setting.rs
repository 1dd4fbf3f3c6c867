//! SET, SHOW and RESET.

use super::ast::{
    ExprKind, Ident, SetConstraints, SetStatement, SetValue, SettingValue, Statement,
    TransactionStatement,
};
use super::keyword::Keyword;
use super::lexer::Kind;
use super::parser::{INTERVAL_FULL_RANGE, Parser};
use sql_types::error::{Result, SqlError};
use sql_types::sqlstate::SqlState;

impl Parser<'_> {
    /// SET in all its forms.
    pub(super) fn set(&mut self) -> Result<Statement> {
        self.expect(Keyword::Set)?;
        if self.accept(Keyword::Constraints) {
            let names = if self.accept(Keyword::All) {
                None
            } else {
                Some(self.list(Parser::relation_name)?)
            };
            let deferred = self.accept(Keyword::Deferred);
            if !deferred {
                self.expect(Keyword::Immediate)?;
            }
            return Ok(Statement::SetConstraints(SetConstraints { names, deferred }));
        }
        // Behind either a name stands; else it is one.
        let names =
            matches!(self.kind_at(1), Kind::Symbol(b'=' | b'.') | Kind::Keyword(Keyword::To));
        let local = !names && self.accept(Keyword::Local);
        let session = !local
            && !names
            && self.is(Keyword::Session)
            && !self.is_at(1, Keyword::Authorization)
            && self.accept(Keyword::Session);
        if session && self.accept(Keyword::Characteristics) {
            self.expect_all(&[Keyword::As, Keyword::Transaction])?;
            let modes = self.modes(false)?;
            return Ok(Statement::Transaction(TransactionStatement::SetSession(modes)));
        }
        if self.is(Keyword::Transaction)
            && !matches!(self.kind_at(1), Kind::Symbol(b'=') | Kind::Keyword(Keyword::To))
        {
            self.advance();
            if self.accept(Keyword::Snapshot) {
                let name = self.string()?;
                return Ok(Statement::Transaction(TransactionStatement::SetSnapshot(name)));
            }
            let modes = self.modes(false)?;
            return Ok(Statement::Transaction(TransactionStatement::Set(modes)));
        }
        Ok(Statement::Set(self.setting(local)?))
    }

    /// `name = value` and the special forms: `set_rest`, `set_rest_more`.
    pub(super) fn setting(&mut self, local: bool) -> Result<SetStatement> {
        let set = |name: &str, value| SetStatement { local, name: name.into(), value };
        let one = |value| SetValue::Values(vec![value]);
        if self.accept_all(&[Keyword::Time, Keyword::Zone]) {
            let value = self.zone()?;
            return Ok(set("timezone", value));
        }
        if self.accept_all(&[Keyword::Xml, Keyword::Option]) {
            let document = self.accept(Keyword::Document);
            if !document {
                self.expect(Keyword::Content)?;
            }
            let value = if document { "document" } else { "content" };
            return Ok(set("xmloption", one(SettingValue::Text(value.into()))));
        }
        let special = match (self.kind(), self.kind_at(1)) {
            (Kind::Keyword(Keyword::Session), Kind::Keyword(Keyword::Authorization)) => {
                self.advance();
                "session_authorization"
            }
            (_, Kind::Symbol(b'=' | b'.') | Kind::Keyword(Keyword::To)) => "",
            (Kind::Keyword(Keyword::Role), _) => "role",
            (Kind::Keyword(Keyword::Schema), _) => "search_path",
            (Kind::Keyword(Keyword::Names), _) => "client_encoding",
            _ => "",
        };
        if !special.is_empty() {
            self.advance();
            let absent = matches!(self.kind(), Kind::End | Kind::Symbol(b';'));
            if self.accept(Keyword::Default) || (special == "client_encoding" && absent) {
                return Ok(set(special, SetValue::Default));
            }
            let value = if self.is_string() || special == "search_path" {
                self.string()?
            } else if special == "client_encoding" {
                return Err(self.error());
            } else {
                self.non_reserved()?
            };
            return Ok(set(special, one(SettingValue::Text(value))));
        }
        let name = self.setting_name()?;
        if self.accept_all(&[Keyword::From, Keyword::Current]) {
            return Ok(SetStatement { local, name, value: SetValue::Current });
        }
        if !self.accept(Keyword::To) {
            self.expect_symbol(b'=')?;
        }
        if self.accept(Keyword::Default) {
            return Ok(SetStatement { local, name, value: SetValue::Default });
        }
        let values = self.list(Parser::setting_value)?;
        Ok(SetStatement { local, name, value: SetValue::Values(values) })
    }

    fn setting_value(&mut self) -> Result<SettingValue> {
        if self.is_string() {
            return Ok(SettingValue::Text(self.string()?));
        }
        match self.kind() {
            Kind::Integer | Kind::Number | Kind::Symbol(b'+' | b'-') => {
                Ok(SettingValue::Number(self.number_text()?))
            }
            Kind::Keyword(keyword @ (Keyword::True | Keyword::False | Keyword::On)) => {
                self.advance();
                Ok(SettingValue::Text(keyword.word().into()))
            }
            _ => Ok(SettingValue::Text(self.non_reserved()?)),
        }
    }

    /// The value of SET TIME ZONE.
    fn zone(&mut self) -> Result<SetValue> {
        if self.accept(Keyword::Default) || self.accept(Keyword::Local) {
            return Ok(SetValue::Default);
        }
        let value = if self.accept(Keyword::Interval) {
            self.zone_interval()?
        } else if self.is_string() {
            SettingValue::Text(self.string()?)
        } else if matches!(self.kind(), Kind::Integer | Kind::Number | Kind::Symbol(b'+' | b'-')) {
            SettingValue::Number(self.number_text()?)
        } else if self.is_name(self.kind()) {
            SettingValue::Text(self.name()?)
        } else {
            return Err(self.error());
        };
        Ok(SetValue::Values(vec![value]))
    }

    /// What stands behind INTERVAL in SET TIME ZONE.
    fn zone_interval(&mut self) -> Result<SettingValue> {
        /// HOUR and MINUTE, as the mask of an interval's fields has them.
        const CLOCK: i32 = 1 << 10 | 1 << 11;
        if self.accept_symbol(b'(') {
            let precision = self.integer()?;
            self.expect_symbol(b')')?;
            let text = self.string()?;
            return Ok(SettingValue::Interval(text, INTERVAL_FULL_RANGE << 16 | precision));
        }
        let text = self.string()?;
        let at = self.here();
        let typmod = match self.interval_fields()?.first().map(|mask| &mask.kind) {
            Some(ExprKind::Integer(mask)) if mask & !CLOCK == 0 => mask << 16 | 0xFFFF,
            Some(_) => {
                let message = "time zone interval must be HOUR or HOUR TO MINUTE";
                return Err(SqlError::new(SqlState::SYNTAX_ERROR, message).at(self.position(at)));
            }
            None => -1,
        };
        Ok(SettingValue::Interval(text, typmod))
    }

    /// A setting's name, lower case, with its class.
    pub(super) fn setting_name(&mut self) -> Result<Ident> {
        // Each part is a name: a reserved word is none.
        let mut name = self.name()?.to_string();
        while self.accept_symbol(b'.') {
            name.push('.');
            name.push_str(&self.name()?);
        }
        Ok(name.to_ascii_lowercase().into())
    }

    /// What SHOW and RESET name; none is ALL.
    pub(super) fn shown_setting(&mut self) -> Result<Option<Ident>> {
        self.advance();
        if self.accept(Keyword::All) {
            return Ok(None);
        }
        if self.accept_all(&[Keyword::Time, Keyword::Zone]) {
            return Ok(Some("timezone".into()));
        }
        if self.accept(Keyword::Transaction) {
            self.expect_all(&[Keyword::Isolation, Keyword::Level])?;
            return Ok(Some("transaction_isolation".into()));
        }
        if self.accept_all(&[Keyword::Session, Keyword::Authorization]) {
            return Ok(Some("session_authorization".into()));
        }
        self.setting_name().map(Some)
    }
}
