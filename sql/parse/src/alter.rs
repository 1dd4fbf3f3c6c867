//! ALTER of tables, indexes, views, sequences, schemas, databases, roles, the system.

use super::ast::{
    AlterAction, AlterComposite, AlterEnum, AlterSequence, AlterSystem, AlterTable, ChangeOwner,
    ObjectKind, Rename, RenamePart, ReplicaIdentity, SetSchema, Statement, ToggledTrigger, Value,
};
use super::keyword::Keyword;
use super::lexer::Kind;
use super::parser::Parser;
use super::table::DeferralWords;
use sql_types::error::{Result, SqlError};
use sql_types::sqlstate::SqlState;

impl<'t> Parser<'t> {
    /// ALTER.
    pub(super) fn alter(&mut self) -> Result<Statement> {
        self.expect(Keyword::Alter)?;
        if self.accept(Keyword::System) {
            // FROM CURRENT is no part of it (`generic_set`); it stands behind SET and a name, or a name of two parts.
            let current = [2, 4].into_iter().find(|&ahead| {
                self.is(Keyword::Set)
                    && self.is_at(ahead, Keyword::From)
                    && self.is_at(ahead + 1, Keyword::Current)
            });
            if let Some(ahead) = current {
                return Err(self.error_at(self.token_at(ahead)));
            }
            return Ok(Statement::AlterSystem(AlterSystem { change: self.setting_change()? }));
        }
        if self.accept(Keyword::Default) {
            return self.alter_default_privileges();
        }
        let kind = self.object_kind()?;
        match kind {
            ObjectKind::Role => return self.alter_role(),
            ObjectKind::Extension => return self.alter_extension(),
            ObjectKind::Table
            | ObjectKind::Index
            | ObjectKind::View
            | ObjectKind::MaterializedView
            | ObjectKind::Sequence
            | ObjectKind::Schema
            | ObjectKind::Database
            | ObjectKind::Type
            | ObjectKind::Domain => {}
            ObjectKind::Column | ObjectKind::Constraint => {
                self.back();
                return Err(self.error());
            }
            ObjectKind::Trigger => return self.alter_trigger(),
            ObjectKind::Function => {
                self.back();
                let word = match self.kind() {
                    Kind::Keyword(Keyword::Procedure) => "PROCEDURE",
                    Kind::Keyword(Keyword::Routine) => "ROUTINE",
                    Kind::Keyword(Keyword::Aggregate) => "AGGREGATE",
                    _ => "FUNCTION",
                };
                self.advance();
                return self.alter_routine(word);
            }
            ObjectKind::Other("OPERATOR") => return self.alter_operator(),
            ObjectKind::Other("CONVERSION") => return self.alter_conversion(),
            ObjectKind::Other("EVENT TRIGGER") => return self.alter_event_trigger(),
            _ => return Ok(self.unsupported_alter(kind)),
        }
        if self.is(Keyword::All) && self.is_at(1, Keyword::In) {
            return Ok(self.unsupported_alter(ObjectKind::Other("... ALL IN TABLESPACE")));
        }
        let if_exists = self.if_exists()?;
        let only = self.accept(Keyword::Only);
        let name = self.relation_name()?;
        if !only {
            self.accept_symbol(b'*');
        }
        let table_like = matches!(
            kind,
            ObjectKind::Table
                | ObjectKind::Index
                | ObjectKind::View
                | ObjectKind::MaterializedView
                | ObjectKind::Sequence
        );
        if kind == ObjectKind::Type
            && let Some(change) = self.enum_change()?
        {
            return Ok(Statement::AlterEnum(AlterEnum { name, change }));
        }
        if kind == ObjectKind::Type && self.begins_attribute_change() {
            let changes = self.list(Parser::attribute_change)?;
            return Ok(Statement::AlterComposite(Box::new(AlterComposite { name, changes })));
        }
        if self.accept(Keyword::Rename) {
            let part = if self.accept(Keyword::Constraint) {
                Some(RenamePart::Constraint(self.name()?))
            } else if self.is(Keyword::To) {
                None
            } else if kind == ObjectKind::Type && self.accept(Keyword::Attribute) {
                let attribute = self.name()?;
                self.expect(Keyword::To)?;
                let to = self.name()?;
                self.cascade();
                let part = Some(RenamePart::Column(attribute));
                return Ok(Statement::Rename(Rename { kind, name, part, if_exists, to }));
            } else if !table_like {
                None
            } else {
                self.accept(Keyword::Column);
                Some(RenamePart::Column(self.name()?))
            };
            self.expect(Keyword::To)?;
            let to = self.name()?;
            return Ok(Statement::Rename(Rename { kind, name, part, if_exists, to }));
        }
        if self.accept_all(&[Keyword::Set, Keyword::Schema]) {
            let schema = self.name()?;
            return Ok(Statement::SetSchema(SetSchema { kind, name, if_exists, schema }));
        }
        if !table_like && self.accept(Keyword::Owner) {
            self.expect(Keyword::To)?;
            return Ok(Statement::ChangeOwner(ChangeOwner { kind, name, owner: self.role()? }));
        }
        match kind {
            ObjectKind::Database => {
                let name = name.name().clone();
                return self.alter_database(name);
            }
            ObjectKind::Sequence => {
                let options = self.sequence_options()?;
                if !options.is_empty() {
                    return Ok(Statement::AlterSequence(Box::new(AlterSequence {
                        name,
                        if_exists,
                        options,
                    })));
                }
            }
            ObjectKind::Schema => return Err(self.error()),
            ObjectKind::Domain => return self.alter_domain(name),
            ObjectKind::Type => return Ok(self.unsupported_alter(kind)),
            _ => {}
        }
        let actions = self.list(Parser::alter_action)?;
        self.later_is_nowhere();
        Ok(Statement::AlterTable(Box::new(AlterTable { kind, name, only, if_exists, actions })))
    }

    fn unsupported_alter(&mut self, kind: ObjectKind) -> Statement {
        self.skip_statement();
        Statement::Unsupported(format!("ALTER {}", kind.words()))
    }

    fn alter_action(&mut self) -> Result<AlterAction> {
        let Kind::Keyword(keyword) = self.kind() else { return Err(self.error()) };
        match keyword {
            Keyword::Add => {
                self.advance();
                if self.begins_table_constraint() {
                    return Ok(AlterAction::AddConstraint(self.table_constraint()?));
                }
                self.accept(Keyword::Column);
                let if_not_exists = self.if_not_exists()?;
                let column = self.column_element()?;
                Ok(AlterAction::AddColumn { if_not_exists, column })
            }
            Keyword::Drop => {
                self.advance();
                let constraint = self.accept(Keyword::Constraint);
                if !constraint {
                    self.accept(Keyword::Column);
                }
                let if_exists = self.if_exists()?;
                let name = self.name()?;
                let cascade = self.cascade();
                Ok(if constraint {
                    AlterAction::DropConstraint { if_exists, name, cascade }
                } else {
                    AlterAction::DropColumn { if_exists, name, cascade }
                })
            }
            Keyword::Alter => {
                self.advance();
                if self.accept(Keyword::Constraint) {
                    let name = self.name()?;
                    let mut said = DeferralWords::default();
                    self.deferral(&mut said, false)?;
                    return Ok(AlterAction::AlterConstraint(name, said.meaning()));
                }
                self.accept(Keyword::Column);
                self.alter_column()
            }
            Keyword::Validate => {
                self.advance();
                self.expect(Keyword::Constraint)?;
                Ok(AlterAction::ValidateConstraint(self.name()?))
            }
            Keyword::Owner => {
                self.advance();
                self.expect(Keyword::To)?;
                Ok(AlterAction::Owner(self.role()?))
            }
            Keyword::Set => self.alter_set(),
            Keyword::Reset => {
                self.advance();
                let options = self.storage_options()?;
                Ok(AlterAction::ResetOptions(
                    options.into_iter().map(|option| option.name).collect(),
                ))
            }
            Keyword::Cluster => {
                self.advance();
                self.expect(Keyword::On)?;
                Ok(AlterAction::ClusterOn(Some(self.name()?)))
            }
            Keyword::Replica => {
                self.advance();
                self.expect(Keyword::Identity)?;
                Ok(AlterAction::ReplicaIdentity(if self.accept(Keyword::Nothing) {
                    ReplicaIdentity::Nothing
                } else if self.accept(Keyword::Full) {
                    ReplicaIdentity::Full
                } else if self.accept(Keyword::Default) {
                    ReplicaIdentity::Default
                } else {
                    self.expect_all(&[Keyword::Using, Keyword::Index])?;
                    ReplicaIdentity::Index(self.name()?)
                }))
            }
            Keyword::Enable | Keyword::Disable
                if let Some((enabled, words)) = self.trigger_toggle() =>
            {
                for _ in 0..words {
                    self.advance();
                }
                let which = if self.accept(Keyword::All) {
                    ToggledTrigger::All
                } else if self.accept(Keyword::User) {
                    ToggledTrigger::User
                } else {
                    ToggledTrigger::Named(self.name()?)
                };
                Ok(AlterAction::ToggleTrigger(enabled, which))
            }
            Keyword::Enable | Keyword::Disable | Keyword::Force => {
                Ok(AlterAction::Toggle(self.words()))
            }
            Keyword::No if self.is_at(1, Keyword::Force) => Ok(AlterAction::Toggle(self.words())),
            Keyword::Inherit
            | Keyword::No
            | Keyword::Attach
            | Keyword::Detach
            | Keyword::Of
            | Keyword::Not => Ok(AlterAction::Inheritance(self.words())),
            _ => Err(self.error()),
        }
    }

    /// The text up to the next action or the end, upper case where it is keywords.
    fn words(&mut self) -> String {
        let mut words = String::new();
        let mut depth = 0u32;
        loop {
            match self.kind() {
                Kind::End | Kind::Error(_) | Kind::Symbol(b';') => return words,
                Kind::Symbol(b',') if depth == 0 => return words,
                Kind::Symbol(b'(') => depth += 1,
                Kind::Symbol(b')') => depth = depth.saturating_sub(1),
                _ => {}
            }
            let token = self.advance();
            if !words.is_empty() {
                words.push(' ');
            }
            match token.kind {
                Kind::Keyword(_) => words.push_str(&self.text_of(token).to_ascii_uppercase()),
                _ => words.push_str(self.text_of(token)),
            }
        }
    }

    fn alter_set(&mut self) -> Result<AlterAction> {
        self.advance();
        if self.is_symbol(b'(') {
            return Ok(AlterAction::SetOptions(self.storage_options()?));
        }
        if self.accept(Keyword::Logged) {
            return Ok(AlterAction::SetLogged(true));
        }
        if self.accept(Keyword::Unlogged) {
            return Ok(AlterAction::SetLogged(false));
        }
        if self.accept(Keyword::Tablespace) {
            let name = self.name()?;
            self.accept(Keyword::Nowait);
            return Ok(AlterAction::SetTablespace(name));
        }
        if self.accept(Keyword::Access) {
            self.expect(Keyword::Method)?;
            let name = self.name()?;
            return Ok(AlterAction::Inheritance(format!("SET ACCESS METHOD {name}")));
        }
        self.expect(Keyword::Without)?;
        if self.accept(Keyword::Oids) {
            return Ok(AlterAction::Toggle("SET WITHOUT OIDS".to_owned()));
        }
        self.expect(Keyword::Cluster)?;
        Ok(AlterAction::ClusterOn(None))
    }

    fn alter_column(&mut self) -> Result<AlterAction> {
        let at = self.here();
        if self.kind() == Kind::Integer {
            return self.statistics_by_number();
        }
        let name = self.name()?;
        if self.is(Keyword::Type) || (self.is(Keyword::Set) && self.is_at(1, Keyword::Data)) {
            if self.accept(Keyword::Set) {
                self.expect(Keyword::Data)?;
            }
            self.expect(Keyword::Type)?;
            let before = self.notices.len();
            let ty = self.type_name_nowhere()?;
            self.repeat_warnings(before);
            let collation =
                if self.accept(Keyword::Collate) { Some(self.object_name()?) } else { None };
            let using =
                if self.accept(Keyword::Using) { Some(self.spanned(Parser::expr)?) } else { None };
            return Ok(AlterAction::AlterType { name, ty, collation, using, at });
        }
        if self.accept(Keyword::Drop) {
            if self.accept(Keyword::Default) {
                return Ok(AlterAction::SetDefault(name, None));
            }
            if self.accept_all(&[Keyword::Not, Keyword::Null]) {
                return Ok(AlterAction::SetNotNull(name, false));
            }
            let expression = self.accept(Keyword::Expression);
            if !expression {
                self.expect(Keyword::Identity)?;
            }
            let if_exists = self.if_exists()?;
            return Ok(if expression {
                AlterAction::DropExpression { name, if_exists }
            } else {
                AlterAction::DropIdentity { name, if_exists }
            });
        }
        if self.accept(Keyword::Add) {
            self.expect(Keyword::Generated)?;
            let always = self.accept(Keyword::Always);
            if !always {
                self.expect_all(&[Keyword::By, Keyword::Default])?;
            }
            self.expect_all(&[Keyword::As, Keyword::Identity])?;
            let mut options = Vec::new();
            if self.accept_symbol(b'(') {
                options = self.sequence_options()?;
                self.expect_symbol(b')')?;
            }
            return Ok(AlterAction::AddIdentity { name, always, options });
        }
        if self.is(Keyword::Reset) {
            self.advance();
            return Ok(AlterAction::SetColumnOptions(name, self.storage_options()?, true));
        }
        if self.is(Keyword::Restart) {
            return self.alter_identity(name);
        }
        if !self.is(Keyword::Set) {
            return Err(self.error());
        }
        match self.kind_at(1) {
            Kind::Keyword(Keyword::Default) => {
                self.advance();
                self.advance();
                let default = self.made_later(0, Parser::expr)?;
                Ok(AlterAction::SetDefault(name, Some(default)))
            }
            Kind::Keyword(Keyword::Not) => {
                self.advance();
                self.expect_all(&[Keyword::Not, Keyword::Null])?;
                Ok(AlterAction::SetNotNull(name, true))
            }
            Kind::Symbol(b'(') => {
                self.advance();
                Ok(AlterAction::SetColumnOptions(name, self.storage_options()?, false))
            }
            Kind::Keyword(Keyword::Statistics | Keyword::Storage | Keyword::Compression) => {
                self.advance();
                let property = self.label()?;
                let value = if &*property == "statistics" {
                    self.statistics_target()?
                } else {
                    Value::Word(self.label()?)
                };
                Ok(AlterAction::SetColumnProperty(name, property, value))
            }
            _ => self.alter_identity(name),
        }
    }

    /// `number SET STATISTICS target`, of an index whose expressions have no names that one would know.
    fn statistics_by_number(&mut self) -> Result<AlterAction> {
        let place = self.here();
        let number = self.integer()?;
        self.expect_all(&[Keyword::Set, Keyword::Statistics])?;
        let target = self.statistics_target()?;
        match i16::try_from(number) {
            Ok(number) if number > 0 => Ok(AlterAction::SetStatisticsOf(number, target)),
            _ => Err(SqlError::new(
                SqlState::INVALID_PARAMETER_VALUE,
                format!("column number must be in range from 1 to {}", i16::MAX),
            )
            .at(self.position(place))),
        }
    }

    fn statistics_target(&mut self) -> Result<Value> {
        let signs = usize::from(self.is_symbol(b'-') || self.is_symbol(b'+'));
        if self.kind_at(signs) != Kind::Integer {
            return Err(self.error_at(self.token_at(signs)));
        }
        Ok(Value::Number(self.number_text()?))
    }

    /// SET GENERATED, SET of a sequence's options, RESTART, as many as there are.
    fn alter_identity(&mut self, name: super::ast::Ident) -> Result<AlterAction> {
        let mut always = None;
        let mut options = Vec::new();
        loop {
            if self.is(Keyword::Restart) {
                options.extend(self.sequence_option()?);
            } else if self.accept(Keyword::Set) {
                if self.accept(Keyword::Generated) {
                    always = Some(self.accept(Keyword::Always));
                    if always == Some(false) {
                        self.expect_all(&[Keyword::By, Keyword::Default])?;
                    }
                } else {
                    options.push(self.sequence_option()?.ok_or_else(|| self.error())?);
                }
            } else {
                return Ok(AlterAction::SetIdentity { name, always, options });
            }
        }
    }
}
