//! Statements about the session, the transaction and maintenance.

use super::ast::{
    Analyze, Copy, CopySubject, CopyTarget, Declare, Discard, Execute, Explain, ExprKind, Fetch,
    FetchDirection, Ident, Lock, ObjectKind, ObjectName, OptionValue, Prepare, Reindex,
    SetConstraints, SetStatement, SetValue, SettingValue, Statement, TableColumns,
    TransactionModes, TransactionStatement, Truncate, Vacuum, Value,
};
use super::keyword::Keyword;
use super::lexer::Kind;
use super::parser::{INTERVAL_FULL_RANGE, Parser};
use crate::error::{Result, SqlError};
use crate::sqlstate::SqlState;
use txn::{Isolation, TableLock};

impl<'t> Parser<'t> {
    /// BEGIN, START TRANSACTION.
    pub(super) fn begin(&mut self) -> Result<Statement> {
        let start = self.is(Keyword::Start);
        self.advance();
        if start {
            self.expect(Keyword::Transaction)?;
            return Ok(Statement::Transaction(TransactionStatement::Start(self.modes(true)?)));
        }
        self.work_or_transaction();
        Ok(Statement::Transaction(TransactionStatement::Begin(self.modes(true)?)))
    }

    fn work_or_transaction(&mut self) {
        if !self.accept(Keyword::Work) {
            self.accept(Keyword::Transaction);
        }
    }

    /// Transaction modes, with commas or blanks between them.
    fn modes(&mut self, may_be_empty: bool) -> Result<TransactionModes> {
        let mut modes = TransactionModes::default();
        let mut empty = true;
        loop {
            if self.accept(Keyword::Isolation) {
                self.expect(Keyword::Level)?;
                modes.uncommitted = false;
                modes.isolation = Some(if self.accept(Keyword::Serializable) {
                    Isolation::Serializable
                } else if self.accept(Keyword::Repeatable) {
                    self.expect(Keyword::Read)?;
                    Isolation::RepeatableRead
                } else {
                    self.expect(Keyword::Read)?;
                    modes.uncommitted = self.accept(Keyword::Uncommitted);
                    if !modes.uncommitted {
                        self.expect(Keyword::Committed)?;
                    }
                    Isolation::ReadCommitted
                });
            } else if self.accept(Keyword::Read) {
                let only = self.accept(Keyword::Only);
                if !only {
                    self.expect(Keyword::Write)?;
                }
                modes.read_only = Some(only);
            } else if self.accept(Keyword::Deferrable) {
                modes.deferrable = Some(true);
            } else if self.accept_all(&[Keyword::Not, Keyword::Deferrable]) {
                modes.deferrable = Some(false);
            } else if empty && may_be_empty {
                return Ok(modes);
            } else {
                return Err(self.error());
            }
            empty = false;
            let more = self.accept_symbol(b',');
            let begins = matches!(
                self.kind(),
                Kind::Keyword(
                    Keyword::Isolation | Keyword::Read | Keyword::Deferrable | Keyword::Not
                )
            );
            if !more && !begins {
                return Ok(modes);
            }
        }
    }

    /// COMMIT, END, ROLLBACK, ABORT.
    pub(super) fn end_transaction(&mut self) -> Result<Statement> {
        let rollback = matches!(self.kind(), Kind::Keyword(Keyword::Rollback | Keyword::Abort));
        let plain = matches!(self.kind(), Kind::Keyword(Keyword::Rollback | Keyword::Commit));
        self.advance();
        if plain && self.accept(Keyword::Prepared) {
            let name = self.string()?;
            return Ok(Statement::Transaction(if rollback {
                TransactionStatement::RollbackPrepared(name)
            } else {
                TransactionStatement::CommitPrepared(name)
            }));
        }
        self.work_or_transaction();
        if rollback && plain && self.accept(Keyword::To) {
            self.accept(Keyword::Savepoint);
            return Ok(Statement::Transaction(TransactionStatement::RollbackTo(self.name()?)));
        }
        let mut chain = false;
        if self.accept(Keyword::And) {
            chain = !self.accept(Keyword::No);
            self.expect(Keyword::Chain)?;
        }
        Ok(Statement::Transaction(if rollback {
            TransactionStatement::Rollback { chain }
        } else {
            TransactionStatement::Commit { chain }
        }))
    }

    /// SAVEPOINT and RELEASE.
    pub(super) fn savepoint(&mut self) -> Result<Statement> {
        let release = self.is(Keyword::Release);
        self.advance();
        if release {
            if self.is_name(self.kind_at(1)) {
                self.accept(Keyword::Savepoint);
            }
            return Ok(Statement::Transaction(TransactionStatement::Release(self.name()?)));
        }
        Ok(Statement::Transaction(TransactionStatement::Savepoint(self.name()?)))
    }

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
        let local = self.accept(Keyword::Local);
        let session = !local
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
        let name = self.object_name()?;
        Ok(name.to_string().to_ascii_lowercase().into())
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

    /// EXPLAIN.
    pub(super) fn explain(&mut self) -> Result<Statement> {
        self.expect(Keyword::Explain)?;
        let mut options = Vec::new();
        if self.is_symbol(b'(') && !self.opens_query() {
            options = self.utility_options()?;
        } else {
            for keyword in [Keyword::Analyze, Keyword::Analyse, Keyword::Verbose] {
                let at = self.here();
                if self.accept(keyword) {
                    let name = if keyword == Keyword::Verbose { "verbose" } else { "analyze" };
                    options.push(OptionValue { name: name.into(), value: None, at });
                }
            }
        }
        let place = self.token();
        // A statement of another kind is refused at its first word.
        let explainable = matches!(
            self.kind(),
            Kind::Symbol(b'(')
                | Kind::Keyword(
                    Keyword::Select
                        | Keyword::Values
                        | Keyword::Table
                        | Keyword::With
                        | Keyword::Insert
                        | Keyword::Update
                        | Keyword::Delete
                        | Keyword::Merge
                        | Keyword::Declare
                        | Keyword::Create
                        | Keyword::Execute
                )
        );
        if !explainable {
            return Err(self.error());
        }
        let statement = self.nested(Parser::statement)?;
        match statement {
            Statement::Query(_)
            | Statement::Insert(_)
            | Statement::Update(_)
            | Statement::Delete(_)
            | Statement::Merge(_)
            | Statement::Declare(_)
            | Statement::CreateTableAs(_)
            | Statement::Execute(_) => {
                Ok(Statement::Explain(Box::new(Explain { options, statement })))
            }
            _ => Err(self.error_at(place)),
        }
    }

    /// `(name [value], ...)` of EXPLAIN, VACUUM and ANALYZE, where a reserved word is no option.
    fn utility_options(&mut self) -> Result<Vec<OptionValue>> {
        self.in_parentheses(|parser| {
            let at = parser.here();
            let analyze = parser.accept(Keyword::Analyze) || parser.accept(Keyword::Analyse);
            let name = if analyze { "analyze".into() } else { parser.non_reserved()? };
            let value = match parser.kind() {
                Kind::Symbol(b',' | b')') => None,
                Kind::Integer | Kind::Number | Kind::Symbol(b'+' | b'-') => {
                    Some(Value::Number(parser.number_text()?))
                }
                Kind::Keyword(keyword @ (Keyword::True | Keyword::False | Keyword::On)) => {
                    parser.advance();
                    Some(Value::Word(keyword.word().into()))
                }
                _ if parser.is_string() => Some(Value::String(parser.string()?)),
                _ => Some(Value::Word(parser.non_reserved()?)),
            };
            Ok(OptionValue { name, value, at })
        })
    }

    /// `(name [value], ...)`.
    pub(super) fn option_list(&mut self) -> Result<Vec<OptionValue>> {
        self.in_parentheses(|parser| {
            let at = parser.here();
            let name = parser.label()?;
            let value = parser.option_value()?;
            Ok(OptionValue { name, value, at })
        })
    }

    /// The value of an option, if one is at hand.
    pub(super) fn option_value(&mut self) -> Result<Option<Value>> {
        Ok(Some(match self.kind() {
            Kind::Symbol(b'*') => {
                self.advance();
                Value::Star
            }
            Kind::Symbol(b'(') => Value::List(self.in_parentheses(|parser| {
                if parser.is_string() { parser.string() } else { parser.label() }
            })?),
            Kind::Integer | Kind::Number | Kind::Symbol(b'+' | b'-') => {
                Value::Number(self.number_text()?)
            }
            _ if self.is_string() => Value::String(self.string()?),
            kind if self.is_label(kind) => Value::Word(self.label()?),
            _ => return Ok(None),
        }))
    }

    /// PREPARE, also of a transaction.
    pub(super) fn prepare(&mut self) -> Result<Statement> {
        self.expect(Keyword::Prepare)?;
        if self.is(Keyword::Transaction) {
            self.advance();
            let name = self.string()?;
            return Ok(Statement::Transaction(TransactionStatement::Prepare(name)));
        }
        let name = self.name()?;
        let types =
            if self.is_symbol(b'(') { self.in_parentheses(Parser::type_name)? } else { Vec::new() };
        self.expect(Keyword::As)?;
        let place = self.token();
        let statement = self.nested(Parser::statement)?;
        match statement {
            Statement::Query(_)
            | Statement::Insert(_)
            | Statement::Update(_)
            | Statement::Delete(_)
            | Statement::Merge(_) => {
                Ok(Statement::Prepare(Box::new(Prepare { name, types, statement })))
            }
            _ => Err(self.error_at(place)),
        }
    }

    /// EXECUTE.
    pub(super) fn execute(&mut self) -> Result<Statement> {
        let at = self.here();
        self.expect(Keyword::Execute)?;
        let name = self.name()?;
        let parameters =
            if self.is_symbol(b'(') { self.in_parentheses(Parser::expr)? } else { Vec::new() };
        Ok(Statement::Execute(Execute { name, parameters, at }))
    }

    /// DEALLOCATE.
    pub(super) fn deallocate(&mut self) -> Result<Statement> {
        self.expect(Keyword::Deallocate)?;
        self.accept(Keyword::Prepare);
        let name = if self.accept(Keyword::All) { None } else { Some(self.name()?) };
        Ok(Statement::Deallocate(name))
    }

    /// DECLARE.
    pub(super) fn declare(&mut self) -> Result<Statement> {
        self.expect(Keyword::Declare)?;
        let name = self.name()?;
        let mut binary = false;
        let mut scroll = None;
        let mut insensitive = None;
        while !self.accept(Keyword::Cursor) {
            if self.accept(Keyword::Binary) {
                binary = true;
            } else if self.accept(Keyword::Scroll) {
                once(&mut scroll, true, "SCROLL", "NO SCROLL")?;
            } else if self.accept_all(&[Keyword::No, Keyword::Scroll]) {
                once(&mut scroll, false, "SCROLL", "NO SCROLL")?;
            } else if self.accept(Keyword::Insensitive) {
                once(&mut insensitive, true, "ASENSITIVE", "INSENSITIVE")?;
            } else if self.accept(Keyword::Asensitive) {
                once(&mut insensitive, false, "ASENSITIVE", "INSENSITIVE")?;
            } else {
                return Err(self.error());
            }
        }
        let mut hold = false;
        if self.accept(Keyword::With) {
            self.expect(Keyword::Hold)?;
            hold = true;
        } else if self.accept(Keyword::Without) {
            self.expect(Keyword::Hold)?;
        }
        self.expect(Keyword::For)?;
        let query = self.query()?;
        Ok(Statement::Declare(Box::new(Declare { name, binary, scroll, insensitive, hold, query })))
    }

    /// FETCH and MOVE.
    pub(super) fn fetch(&mut self) -> Result<Statement> {
        let moves = self.is(Keyword::Move);
        self.advance();
        let from = |kind| matches!(kind, Kind::Keyword(Keyword::From | Keyword::In));
        let ends = |kind| matches!(kind, Kind::End | Kind::Symbol(b';'));
        let mut direction = FetchDirection::Forward(1);
        // A cursor may be called FIRST: the word is a direction only if something follows it.
        if !ends(self.kind_at(1)) {
            let count = |parser: &mut Self| {
                if parser.accept(Keyword::All) {
                    return Ok(Some(i64::MAX));
                }
                match parser.kind() {
                    Kind::Integer | Kind::Symbol(b'+' | b'-') => parser.signed().map(Some),
                    _ => Ok(None),
                }
            };
            direction = match self.kind() {
                Kind::Keyword(Keyword::Next) => self.word(FetchDirection::Forward(1)),
                Kind::Keyword(Keyword::Prior) => self.word(FetchDirection::Backward(1)),
                Kind::Keyword(Keyword::First) => self.word(FetchDirection::Absolute(1)),
                Kind::Keyword(Keyword::Last) => self.word(FetchDirection::Absolute(-1)),
                Kind::Keyword(Keyword::Absolute) => {
                    self.advance();
                    FetchDirection::Absolute(self.signed()?)
                }
                Kind::Keyword(Keyword::Relative) => {
                    self.advance();
                    FetchDirection::Relative(self.signed()?)
                }
                Kind::Keyword(Keyword::Forward) => {
                    self.advance();
                    FetchDirection::Forward(count(self)?.unwrap_or(1))
                }
                Kind::Keyword(Keyword::Backward) => {
                    self.advance();
                    FetchDirection::Backward(count(self)?.unwrap_or(1))
                }
                _ => FetchDirection::Forward(count(self)?.unwrap_or(1)),
            };
        }
        if from(self.kind()) {
            self.advance();
        }
        let name = self.name()?;
        Ok(Statement::Fetch(Fetch { name, direction, moves }))
    }

    fn word(&mut self, direction: FetchDirection) -> FetchDirection {
        self.advance();
        direction
    }

    /// CLOSE.
    pub(super) fn close(&mut self) -> Result<Statement> {
        self.expect(Keyword::Close)?;
        let name = if self.accept(Keyword::All) { None } else { Some(self.name()?) };
        Ok(Statement::Close(name))
    }

    /// COPY.
    pub(super) fn copy(&mut self) -> Result<Statement> {
        self.expect(Keyword::Copy)?;
        let mut options = Vec::new();
        let at = self.here();
        if self.accept(Keyword::Binary) {
            options.push(option("format", Some(Value::Word("binary".into())), at));
        }
        let subject = if self.accept_symbol(b'(') {
            let place = self.token();
            let creates = self.is(Keyword::Create);
            let statement = self.nested(Parser::statement)?;
            // SELECT INTO makes a table, which is refused when it runs.
            let selects_into = matches!(statement, Statement::CreateTableAs(_)) && !creates;
            if !selects_into
                && !matches!(
                    statement,
                    Statement::Query(_)
                        | Statement::Insert(_)
                        | Statement::Update(_)
                        | Statement::Delete(_)
                        | Statement::Merge(_)
                )
            {
                return Err(self.error_at(place));
            }
            self.expect_symbol(b')')?;
            CopySubject::Query(statement)
        } else {
            let table = self.relation_name()?;
            let columns =
                if self.is_symbol(b'(') { self.in_parentheses(Parser::name)? } else { Vec::new() };
            CopySubject::Table(table, columns)
        };
        let queried = matches!(subject, CopySubject::Query(_));
        let from = !queried && self.accept(Keyword::From);
        if !from {
            self.expect(Keyword::To)?;
        }
        let target = if self.accept(Keyword::Program) {
            CopyTarget::Program(self.string()?)
        } else if self.accept(Keyword::Stdin) || self.accept(Keyword::Stdout) {
            CopyTarget::Client
        } else {
            CopyTarget::File(self.string()?)
        };
        let at = self.here();
        let using = self.accept(Keyword::Using);
        if using || self.is(Keyword::Delimiters) {
            self.expect(Keyword::Delimiters)?;
            options.push(option("delimiter", Some(Value::String(self.string()?)), at));
        }
        self.accept(Keyword::With);
        if self.is_symbol(b'(') {
            options.extend(self.option_list()?);
        } else {
            self.old_copy_options(&mut options)?;
        }
        let at = self.here();
        let filter =
            if !queried && self.accept(Keyword::Where) { Some(self.expr()?) } else { None };
        if filter.is_some() && !from {
            let message = "WHERE clause not allowed with COPY TO";
            return Err(SqlError::new(SqlState::SYNTAX_ERROR, message).at(self.position(at)));
        }
        Ok(Statement::Copy(Box::new(Copy { subject, from, target, options, filter })))
    }

    /// COPY's options without parentheses.
    fn old_copy_options(&mut self, options: &mut Vec<OptionValue>) -> Result<()> {
        loop {
            let at = self.here();
            let Kind::Keyword(keyword) = self.kind() else { return Ok(()) };
            let word = |text: &str| Some(Value::Word(text.into()));
            let (name, value) = match keyword {
                Keyword::Binary => ("format", word("binary")),
                Keyword::Csv => ("format", word("csv")),
                Keyword::Freeze => ("freeze", word("true")),
                Keyword::Header => ("header", word("true")),
                Keyword::Delimiter
                | Keyword::Null
                | Keyword::Quote
                | Keyword::Escape
                | Keyword::Encoding => {
                    self.advance();
                    if keyword != Keyword::Encoding {
                        self.accept(Keyword::As);
                    }
                    let value = Some(Value::String(self.string()?));
                    options.push(option(keyword.word(), value, at));
                    continue;
                }
                Keyword::Force => {
                    self.advance();
                    let name = if self.accept(Keyword::Quote) {
                        "force_quote"
                    } else if self.accept_all(&[Keyword::Not, Keyword::Null]) {
                        "force_not_null"
                    } else {
                        self.expect(Keyword::Null)?;
                        "force_null"
                    };
                    let value = if name == "force_quote" && self.accept_symbol(b'*') {
                        Value::Star
                    } else {
                        Value::List(self.list(Parser::name)?)
                    };
                    options.push(option(name, Some(value), at));
                    continue;
                }
                _ => return Ok(()),
            };
            self.advance();
            options.push(option(name, value, at));
        }
    }

    /// VACUUM.
    pub(super) fn vacuum(&mut self) -> Result<Statement> {
        self.expect(Keyword::Vacuum)?;
        let mut options = Vec::new();
        if self.is_symbol(b'(') {
            options = self.utility_options()?;
        } else {
            for keyword in [
                Keyword::Full,
                Keyword::Freeze,
                Keyword::Verbose,
                Keyword::Analyze,
                Keyword::Analyse,
            ] {
                let at = self.here();
                if self.accept(keyword) {
                    let name = if keyword == Keyword::Analyse { "analyze" } else { keyword.word() };
                    options.push(option(name, None, at));
                }
            }
        }
        Ok(Statement::Vacuum(Vacuum { options, tables: self.tables_with_columns()? }))
    }

    /// REINDEX.
    pub(super) fn reindex(&mut self) -> Result<Statement> {
        self.expect(Keyword::Reindex)?;
        let options = if self.is_symbol(b'(') { self.utility_options()? } else { Vec::new() };
        let system = self.accept(Keyword::System);
        let kind = if system || self.accept(Keyword::Database) {
            ObjectKind::Database
        } else if self.accept(Keyword::Schema) {
            ObjectKind::Schema
        } else if self.accept(Keyword::Table) {
            ObjectKind::Table
        } else {
            self.expect(Keyword::Index)?;
            ObjectKind::Index
        };
        let concurrently = self.accept(Keyword::Concurrently);
        let at = self.here();
        let name = match kind {
            ObjectKind::Index | ObjectKind::Table => self.relation_name()?,
            _ => ObjectName { parts: vec![self.name()?], at },
        };
        Ok(Statement::Reindex(Reindex { options, kind, system, concurrently, name }))
    }

    /// ANALYZE.
    pub(super) fn analyze(&mut self) -> Result<Statement> {
        self.advance();
        let mut options = Vec::new();
        let at = self.here();
        if self.is_symbol(b'(') {
            options = self.utility_options()?;
        } else if self.accept(Keyword::Verbose) {
            options.push(option("verbose", None, at));
        }
        Ok(Statement::Analyze(Analyze { options, tables: self.tables_with_columns()? }))
    }

    fn tables_with_columns(&mut self) -> Result<Vec<TableColumns>> {
        if matches!(self.kind(), Kind::End | Kind::Symbol(b';')) {
            return Ok(Vec::new());
        }
        self.list(|parser| {
            let table = parser.relation_name()?;
            let columns = if parser.is_symbol(b'(') {
                parser.in_parentheses(Parser::name)?
            } else {
                Vec::new()
            };
            Ok(TableColumns { table, columns })
        })
    }

    /// Tables with ONLY or `*`, which change nothing where there is no inheritance.
    fn table_list(&mut self) -> Result<Vec<ObjectName>> {
        self.list(|parser| match parser.table_item()? {
            super::ast::FromItem::Table { name, .. } => Ok(name),
            _ => Err(parser.error()),
        })
    }

    /// LOCK.
    pub(super) fn lock(&mut self) -> Result<Statement> {
        self.expect(Keyword::Lock)?;
        self.accept(Keyword::Table);
        let tables = self.table_list()?;
        let mut mode = TableLock::AccessExclusive;
        if self.accept(Keyword::In) {
            mode = if self.accept(Keyword::Access) {
                if self.accept(Keyword::Share) {
                    TableLock::AccessShare
                } else {
                    self.expect(Keyword::Exclusive)?;
                    TableLock::AccessExclusive
                }
            } else if self.accept(Keyword::Row) {
                if self.accept(Keyword::Share) {
                    TableLock::RowShare
                } else {
                    self.expect(Keyword::Exclusive)?;
                    TableLock::RowExclusive
                }
            } else if self.accept(Keyword::Share) {
                if self.accept_all(&[Keyword::Update, Keyword::Exclusive]) {
                    TableLock::ShareUpdateExclusive
                } else if self.accept_all(&[Keyword::Row, Keyword::Exclusive]) {
                    TableLock::ShareRowExclusive
                } else {
                    TableLock::Share
                }
            } else {
                self.expect(Keyword::Exclusive)?;
                TableLock::Exclusive
            };
            self.expect(Keyword::Mode)?;
        }
        let nowait = self.accept(Keyword::Nowait);
        Ok(Statement::Lock(Lock { tables, mode, nowait }))
    }

    /// TRUNCATE.
    pub(super) fn truncate(&mut self) -> Result<Statement> {
        self.expect(Keyword::Truncate)?;
        self.accept(Keyword::Table);
        let tables = self.table_list()?;
        let mut restart_identity = false;
        if self.accept(Keyword::Restart) {
            self.expect(Keyword::Identity)?;
            restart_identity = true;
        } else if self.accept(Keyword::Continue) {
            self.expect(Keyword::Identity)?;
        }
        let cascade = self.cascade();
        Ok(Statement::Truncate(Truncate { tables, restart_identity, cascade }))
    }

    /// CASCADE (true), RESTRICT or nothing.
    pub(super) fn cascade(&mut self) -> bool {
        let cascade = self.accept(Keyword::Cascade);
        if !cascade {
            self.accept(Keyword::Restrict);
        }
        cascade
    }

    /// DISCARD.
    pub(super) fn discard(&mut self) -> Result<Statement> {
        self.expect(Keyword::Discard)?;
        let what = match self.kind() {
            Kind::Keyword(Keyword::All) => Discard::All,
            Kind::Keyword(Keyword::Plans) => Discard::Plans,
            Kind::Keyword(Keyword::Sequences) => Discard::Sequences,
            Kind::Keyword(Keyword::Temp | Keyword::Temporary) => Discard::Temp,
            _ => return Err(self.error()),
        };
        self.advance();
        Ok(Statement::Discard(what))
    }

    /// LISTEN, UNLISTEN, NOTIFY.
    pub(super) fn notification(&mut self, keyword: Keyword) -> Result<Statement> {
        self.advance();
        match keyword {
            Keyword::Listen => Ok(Statement::Listen(self.name()?)),
            Keyword::Unlisten if self.accept_symbol(b'*') => Ok(Statement::Unlisten(None)),
            Keyword::Unlisten => Ok(Statement::Unlisten(Some(self.name()?))),
            _ => {
                let channel = self.name()?;
                let payload = if self.accept_symbol(b',') { Some(self.string()?) } else { None };
                Ok(Statement::Notify(channel, payload))
            }
        }
    }
}

/// An option.
pub(super) fn option(name: &str, value: Option<Value>, at: u32) -> OptionValue {
    OptionValue { name: name.into(), value, at }
}

/// Takes an option of DECLARE that must not be said both ways.
fn once(option: &mut Option<bool>, value: bool, on: &str, off: &str) -> Result<()> {
    if option.replace(value).is_some_and(|before| before != value) {
        return Err(SqlError::new(
            SqlState::INVALID_CURSOR_DEFINITION,
            format!("cannot specify both {on} and {off}"),
        ));
    }
    Ok(())
}
