//! CREATE, DROP and COMMENT of everything but tables; sequences' options.

use super::ast::{
    AlterExtension, AlterSettings, Body, Comment, CreateDatabase, CreateExtension, CreateIndex,
    CreateLanguage, CreateSchema, CreateSequence, CreateTable, CreateView, Cte, CteBody, Drop,
    DropDatabase, DropOwned, DropRole, DropRoutine, DropTrigger, ExtensionChange, Ident, IndexKey,
    ObjectKind, ObjectName, OptionValue, ParameterMode, Query, RoutineArguments, Select,
    SequenceOption, SettingChange, Statement, TypeName, With,
};
use super::keyword::Keyword;
use super::lexer::Kind;
use super::parser::Parser;
use super::utility::option;
use sql_types::error::{Result, SqlError};
use sql_types::sqlstate::SqlState;
use sql_types::words::CheckOption;
use std::mem::discriminant;
use std::sync::Arc;

/// What the query of CREATE RECURSIVE VIEW stands for: `WITH RECURSIVE name (columns) AS (query) SELECT columns FROM name`.
fn recursive_query(name: &Ident, columns: &[Ident], query: Query) -> Query {
    let at = query.at;
    let named = ObjectName { parts: vec![name.clone()], at };
    let select = Select::columns_of(named, columns, at);
    let cte = Cte {
        name: name.clone(),
        columns: columns.to_vec(),
        materialized: None,
        body: CteBody::Query(Arc::new(query)),
        search: None,
        cycle: None,
        at,
    };
    Query {
        with: Some(With { recursive: true, ctes: vec![cte], at }),
        ..Query::plain(Body::Select(Box::new(select)), at)
    }
}

impl<'t> Parser<'t> {
    /// CREATE.
    pub(super) fn create(&mut self) -> Result<Statement> {
        self.expect(Keyword::Create)?;
        let replace = self.accept_all(&[Keyword::Or, Keyword::Replace]);
        let mut persistence = 'p';
        let mut global = false;
        while let Kind::Keyword(keyword) = self.kind() {
            match keyword {
                Keyword::Global | Keyword::Local if !global => global = true,
                Keyword::Temporary | Keyword::Temp => persistence = 't',
                Keyword::Unlogged => persistence = 'u',
                _ => break,
            }
            self.advance();
        }
        let Kind::Keyword(keyword) = self.kind() else { return Err(self.error()) };
        match keyword {
            Keyword::Table => {
                self.advance();
                self.create_table(persistence)
            }
            Keyword::View | Keyword::Recursive => {
                let recursive = self.accept(Keyword::Recursive);
                self.expect(Keyword::View)?;
                self.create_view(replace, persistence == 't', recursive)
            }
            Keyword::Materialized => {
                self.advance();
                self.expect(Keyword::View)?;
                let if_not_exists = self.if_not_exists()?;
                let name = self.relation_name()?;
                let table = CreateTable::empty(name, persistence, if_not_exists);
                self.create_table_as(table, true)
            }
            Keyword::Sequence => {
                self.advance();
                let if_not_exists = self.if_not_exists()?;
                let name = self.relation_name()?;
                let options = self.sequence_options()?;
                Ok(Statement::CreateSequence(Box::new(CreateSequence {
                    name,
                    persistence,
                    if_not_exists,
                    options,
                })))
            }
            Keyword::Domain => self.create_domain(),
            Keyword::Index | Keyword::Unique => self.create_index(),
            Keyword::Schema => self.create_schema(),
            Keyword::Database => {
                self.advance();
                let name = self.name()?;
                self.accept(Keyword::With);
                Ok(Statement::CreateDatabase(CreateDatabase {
                    name,
                    options: self.database_options()?,
                }))
            }
            Keyword::Type => self.create_type(),
            Keyword::Extension => self.create_extension(),
            Keyword::Function | Keyword::Procedure => self.create_routine(replace),
            Keyword::Trigger => self.create_trigger(replace, false),
            Keyword::Constraint if self.is_at(1, Keyword::Trigger) => {
                self.advance();
                self.create_trigger(replace, true)
            }
            Keyword::Aggregate => self.create_aggregate(replace),
            Keyword::Operator => self.create_operator(),
            Keyword::Cast => self.create_cast(),
            Keyword::Conversion => self.create_conversion(false),
            Keyword::Default if self.is_at(1, Keyword::Conversion) => {
                self.advance();
                self.create_conversion(true)
            }
            Keyword::Event if self.is_at(1, Keyword::Trigger) => self.create_event_trigger(),
            Keyword::Trusted | Keyword::Procedural | Keyword::Language => {
                self.create_language(replace)
            }
            Keyword::Role | Keyword::User | Keyword::Group
                if !(keyword == Keyword::User && self.is_at(1, Keyword::Mapping)) =>
            {
                self.create_role(keyword == Keyword::User)
            }
            _ => {
                let words = match keyword {
                    Keyword::Collation
                    | Keyword::Policy
                    | Keyword::Publication
                    | Keyword::Rule
                    | Keyword::Server
                    | Keyword::Statistics
                    | Keyword::Subscription
                    | Keyword::Tablespace
                    | Keyword::Transform
                    | Keyword::Assertion => keyword.word(),
                    Keyword::Foreign if self.is_at(1, Keyword::Table) => "foreign table",
                    Keyword::Foreign if self.is_at(1, Keyword::Data) => "foreign data wrapper",
                    Keyword::Access if self.is_at(1, Keyword::Method) => "access method",
                    Keyword::Text if self.is_at(1, Keyword::Search) => "text search",
                    Keyword::User => "user mapping",
                    _ => return Err(self.error()),
                };
                self.skip_statement();
                Ok(Statement::Unsupported(format!("CREATE {}", words.to_ascii_uppercase())))
            }
        }
    }

    fn create_extension(&mut self) -> Result<Statement> {
        self.expect(Keyword::Extension)?;
        let if_not_exists = self.if_not_exists()?;
        let name = self.name()?;
        self.accept(Keyword::With);
        let (mut schema, mut version, mut cascade) = (None, None, false);
        loop {
            let at = self.here();
            let again = if self.accept(Keyword::Schema) {
                schema.replace(self.name()?).is_some()
            } else if self.accept(Keyword::Version) {
                version.replace(self.extension_version()?).is_some()
            } else if self.accept(Keyword::Cascade) {
                std::mem::replace(&mut cascade, true)
            } else {
                let create = CreateExtension { name, if_not_exists, schema, version, cascade };
                return Ok(Statement::CreateExtension(create));
            };
            if again {
                return Err(self.complaint("conflicting or redundant options", at));
            }
        }
    }

    /// The version of an extension: a word or a string.
    fn extension_version(&mut self) -> Result<Ident> {
        if self.is_string() { self.string() } else { self.non_reserved() }
    }

    /// ALTER EXTENSION, behind these words.
    pub(super) fn alter_extension(&mut self) -> Result<Statement> {
        let name = self.name()?;
        let change = if self.accept(Keyword::Update) {
            let mut to = None;
            while self.is(Keyword::To) {
                let at = self.here();
                self.advance();
                if to.replace(self.extension_version()?).is_some() {
                    return Err(self.complaint("conflicting or redundant options", at));
                }
            }
            ExtensionChange::Update(to)
        } else if self.accept(Keyword::Set) {
            self.expect(Keyword::Schema)?;
            ExtensionChange::SetSchema(self.name()?)
        } else if self.is(Keyword::Add) || self.is(Keyword::Drop) {
            let add = self.accept(Keyword::Add);
            if !add {
                self.advance();
            }
            let kind = self.object_kind()?;
            match kind {
                ObjectKind::Table
                | ObjectKind::View
                | ObjectKind::MaterializedView
                | ObjectKind::Sequence
                | ObjectKind::Index
                | ObjectKind::Database
                | ObjectKind::Extension
                | ObjectKind::Role
                | ObjectKind::Tablespace => {
                    ExtensionChange::Member { add, kind, object: self.object_name()? }
                }
                _ => {
                    self.skip_statement();
                    let words = kind.words();
                    let verb = if add { "ADD" } else { "DROP" };
                    let what = format!("ALTER EXTENSION ... {verb} {words}");
                    return Ok(Statement::Unsupported(what));
                }
            }
        } else {
            return Err(self.error());
        };
        Ok(Statement::AlterExtension(AlterExtension { name, change }))
    }

    /// CREATE LANGUAGE without a handler is, as in PostgreSQL, CREATE EXTENSION of that name.
    fn create_language(&mut self, replace: bool) -> Result<Statement> {
        let trusted = self.accept(Keyword::Trusted);
        self.accept(Keyword::Procedural);
        self.expect(Keyword::Language)?;
        let name = self.name()?;
        if self.accept(Keyword::Handler) {
            let handler = self.object_name()?;
            let inline =
                if self.accept(Keyword::Inline) { Some(self.object_name()?) } else { None };
            let none = self.accept_all(&[Keyword::No, Keyword::Validator]);
            let validator = match !none && self.accept(Keyword::Validator) {
                true => Some(self.object_name()?),
                false => None,
            };
            let create = CreateLanguage { name, replace, trusted, handler, inline, validator };
            return Ok(Statement::CreateLanguage(Box::new(create)));
        }
        Ok(Statement::CreateExtension(CreateExtension {
            name,
            if_not_exists: replace,
            schema: None,
            version: None,
            cascade: false,
        }))
    }

    fn create_view(
        &mut self,
        replace: bool,
        temporary: bool,
        recursive: bool,
    ) -> Result<Statement> {
        let name = self.relation_name()?;
        let columns = if recursive || self.is_symbol(b'(') {
            self.in_parentheses(Parser::name)?
        } else {
            Vec::new()
        };
        let options = if self.accept(Keyword::With) { self.storage_options()? } else { Vec::new() };
        self.expect(Keyword::As)?;
        let start = self.here();
        let mut query = self.query()?;
        let span = (start, self.before());
        let (mut check_option, at) = (None, self.here());
        if self.accept(Keyword::With) {
            let local = !self.accept(Keyword::Cascaded) && self.accept(Keyword::Local);
            self.expect_all(&[Keyword::Check, Keyword::Option])?;
            check_option = Some(if local { CheckOption::Local } else { CheckOption::Cascaded });
        }
        if recursive {
            if check_option.is_some() {
                let message = "WITH CHECK OPTION not supported on recursive views";
                let error = SqlError::new(SqlState::FEATURE_NOT_SUPPORTED, message);
                return Err(error.at(self.position(at)));
            }
            query = recursive_query(name.name(), &columns, query);
        }
        Ok(Statement::CreateView(Box::new(CreateView {
            name,
            replace,
            temporary,
            recursive,
            columns,
            options,
            query,
            span,
            check_option,
        })))
    }

    fn create_index(&mut self) -> Result<Statement> {
        let unique = self.accept(Keyword::Unique);
        self.expect(Keyword::Index)?;
        let concurrently = self.accept(Keyword::Concurrently);
        let if_not_exists = self.if_not_exists()?;
        let name = if self.is(Keyword::On) && !if_not_exists { None } else { Some(self.name()?) };
        self.expect(Keyword::On)?;
        let only = self.accept(Keyword::Only);
        let table = self.relation_name()?;
        let method = if self.accept(Keyword::Using) { Some(self.name()?) } else { None };
        let keys = self.in_parentheses(Parser::index_key)?;
        let include = if self.accept(Keyword::Include) {
            self.in_parentheses(Parser::index_key)?
        } else {
            Vec::new()
        };
        let mut nulls_not_distinct = false;
        if self.accept(Keyword::Nulls) {
            nulls_not_distinct = self.accept(Keyword::Not);
            self.expect(Keyword::Distinct)?;
        }
        let options = if self.accept(Keyword::With) { self.storage_options()? } else { Vec::new() };
        let tablespace = if self.accept(Keyword::Tablespace) { Some(self.name()?) } else { None };
        let filter =
            if self.accept(Keyword::Where) { Some(self.spanned(Parser::expr)?) } else { None };
        Ok(Statement::CreateIndex(Box::new(CreateIndex {
            name,
            unique,
            concurrently,
            if_not_exists,
            only,
            table,
            method,
            keys,
            include,
            nulls_not_distinct,
            options,
            tablespace,
            filter,
        })))
    }

    fn index_key(&mut self) -> Result<IndexKey> {
        let (expr, span) = self.spanned(Parser::index_expression)?;
        let collation =
            if self.accept(Keyword::Collate) { Some(self.object_name()?) } else { None };
        let (mut class, mut class_options) = (None, Vec::new());
        if self.is_name(self.kind()) && !self.is(Keyword::Nulls) {
            class = Some(self.object_name()?);
            if self.is_symbol(b'(') {
                class_options = self.storage_options()?;
            }
        }
        let direction = self.direction();
        let nulls_first = self.nulls_first()?;
        Ok(IndexKey { expr, span, collation, class, class_options, direction, nulls_first })
    }

    fn create_schema(&mut self) -> Result<Statement> {
        self.advance();
        let if_not_exists = self.if_not_exists()?;
        let name = if self.is(Keyword::Authorization) { None } else { Some(self.name()?) };
        let owner = if self.accept(Keyword::Authorization) { Some(self.role()?) } else { None };
        let mut elements = Vec::new();
        while matches!(self.kind(), Kind::Keyword(Keyword::Create | Keyword::Grant)) {
            let at = self.here();
            if if_not_exists {
                let message = "CREATE SCHEMA IF NOT EXISTS cannot include schema elements";
                let error = SqlError::new(SqlState::FEATURE_NOT_SUPPORTED, message);
                return Err(error.at(self.position(at)));
            }
            let kind = self.token_at(1);
            let element = self.nested(Parser::statement)?;
            if !matches!(
                element,
                Statement::CreateTable(_)
                    | Statement::CreateView(_)
                    | Statement::CreateIndex(_)
                    | Statement::CreateSequence(_)
                    | Statement::CreateTrigger(_)
                    | Statement::Grant(_)
                    | Statement::Unsupported(_)
            ) {
                return Err(self.error_at(kind));
            }
            elements.push(element);
        }
        Ok(Statement::CreateSchema(Box::new(CreateSchema { name, if_not_exists, owner, elements })))
    }

    /// Options of CREATE and ALTER DATABASE; in parentheses they have commas between them.
    pub(super) fn database_options(&mut self) -> Result<Vec<OptionValue>> {
        let mut options = Vec::new();
        let enclosed = self.accept_symbol(b'(');
        while self.is_label(self.kind()) {
            let at = self.here();
            let mut name: Ident = self.label()?;
            if &*name == "connection" {
                self.expect(Keyword::Limit)?;
                name = "connection_limit".into();
            }
            self.accept_symbol(b'=');
            let value = if self.accept(Keyword::Default) {
                None
            } else {
                Some(self.option_value()?.ok_or_else(|| self.error())?)
            };
            options.push(OptionValue { name, value, at });
            if enclosed && !self.accept_symbol(b',') {
                break;
            }
        }
        if enclosed {
            self.expect_symbol(b')')?;
        }
        Ok(options)
    }

    /// Options of a sequence, as many as there are.
    pub(super) fn sequence_options(&mut self) -> Result<Vec<SequenceOption>> {
        let mut options = Vec::new();
        loop {
            let at = self.here();
            let Some(option) = self.sequence_option()? else { return Ok(options) };
            let same = |known: &SequenceOption| discriminant(known) == discriminant(&option);
            if options.iter().any(same) {
                return Err(self.complaint("conflicting or redundant options", at));
            }
            options.push(option);
        }
    }

    /// One option of a sequence, if one is at hand.
    pub(super) fn sequence_option(&mut self) -> Result<Option<SequenceOption>> {
        let Kind::Keyword(keyword) = self.kind() else { return Ok(None) };
        self.advance();
        let number = matches!(self.kind(), Kind::Integer | Kind::Symbol(b'+' | b'-'));
        Ok(Some(match keyword {
            Keyword::As => SequenceOption::Type(self.type_name()?),
            Keyword::Increment => {
                self.accept(Keyword::By);
                SequenceOption::Increment(self.signed()?)
            }
            Keyword::Minvalue => SequenceOption::Minimum(Some(self.signed()?)),
            Keyword::Maxvalue => SequenceOption::Maximum(Some(self.signed()?)),
            Keyword::No => {
                if self.accept(Keyword::Minvalue) {
                    SequenceOption::Minimum(None)
                } else if self.accept(Keyword::Maxvalue) {
                    SequenceOption::Maximum(None)
                } else {
                    self.expect(Keyword::Cycle)?;
                    SequenceOption::Cycle(false)
                }
            }
            Keyword::Start => {
                self.accept(Keyword::With);
                SequenceOption::Start(self.signed()?)
            }
            Keyword::Restart => {
                let with = self.accept(Keyword::With);
                let value = if with || number { Some(self.signed()?) } else { None };
                SequenceOption::Restart(value)
            }
            Keyword::Cache => SequenceOption::Cache(self.signed()?),
            Keyword::Cycle => SequenceOption::Cycle(true),
            Keyword::Owned => {
                self.expect(Keyword::By)?;
                let none = self.accept(Keyword::None);
                SequenceOption::OwnedBy(if none { None } else { Some(self.object_name()?) })
            }
            Keyword::Sequence => {
                self.expect(Keyword::Name)?;
                SequenceOption::Name(self.object_name()?)
            }
            Keyword::Logged => SequenceOption::Logged(true),
            Keyword::Unlogged => SequenceOption::Logged(false),
            _ => {
                self.back();
                return Ok(None);
            }
        }))
    }

    /// The kind of object that the words at hand name, taken.
    pub(super) fn object_kind(&mut self) -> Result<ObjectKind> {
        let Kind::Keyword(keyword) = self.kind() else { return Err(self.error()) };
        self.advance();
        let two = |parser: &mut Self, second, words| {
            parser.expect(second)?;
            Ok(ObjectKind::Other(words))
        };
        Ok(match keyword {
            Keyword::Table => ObjectKind::Table,
            Keyword::Index => ObjectKind::Index,
            Keyword::View => ObjectKind::View,
            Keyword::Materialized => {
                self.expect(Keyword::View)?;
                ObjectKind::MaterializedView
            }
            Keyword::Sequence => ObjectKind::Sequence,
            Keyword::Schema => ObjectKind::Schema,
            Keyword::Database => ObjectKind::Database,
            Keyword::User if self.is(Keyword::Mapping) => {
                return two(self, Keyword::Mapping, "USER MAPPING");
            }
            Keyword::Role | Keyword::User | Keyword::Group => ObjectKind::Role,
            Keyword::Column => ObjectKind::Column,
            Keyword::Constraint => ObjectKind::Constraint,
            Keyword::Type => ObjectKind::Type,
            Keyword::Domain => ObjectKind::Domain,
            Keyword::Function | Keyword::Procedure | Keyword::Routine | Keyword::Aggregate => {
                ObjectKind::Function
            }
            Keyword::Extension => ObjectKind::Extension,
            Keyword::Tablespace => ObjectKind::Tablespace,
            Keyword::Language => ObjectKind::Language,
            Keyword::Procedural => {
                self.expect(Keyword::Language)?;
                ObjectKind::Language
            }
            Keyword::Parameter => ObjectKind::Parameter,
            Keyword::Trigger => ObjectKind::Trigger,
            Keyword::Rule => ObjectKind::Other("RULE"),
            Keyword::Policy => ObjectKind::Other("POLICY"),
            Keyword::Cast => ObjectKind::Other("CAST"),
            Keyword::Collation => ObjectKind::Other("COLLATION"),
            Keyword::Conversion => ObjectKind::Other("CONVERSION"),
            Keyword::Operator => ObjectKind::Other("OPERATOR"),
            Keyword::Publication => ObjectKind::Other("PUBLICATION"),
            Keyword::Subscription => ObjectKind::Other("SUBSCRIPTION"),
            Keyword::Server => ObjectKind::Other("SERVER"),
            Keyword::Statistics => ObjectKind::Other("STATISTICS"),
            Keyword::Transform => ObjectKind::Other("TRANSFORM"),
            Keyword::Owned => return two(self, Keyword::By, "OWNED"),
            Keyword::Event => return two(self, Keyword::Trigger, "EVENT TRIGGER"),
            Keyword::Access => return two(self, Keyword::Method, "ACCESS METHOD"),
            Keyword::Large => return two(self, Keyword::Object, "LARGE OBJECT"),
            Keyword::Text => return two(self, Keyword::Search, "TEXT SEARCH"),
            Keyword::Foreign if self.is(Keyword::Data) => {
                return two(self, Keyword::Data, "FOREIGN DATA WRAPPER");
            }
            Keyword::Foreign => return two(self, Keyword::Table, "FOREIGN TABLE"),
            Keyword::Default => return two(self, Keyword::Privileges, "DEFAULT PRIVILEGES"),
            _ => {
                self.back();
                return Err(self.error());
            }
        })
    }

    /// IF EXISTS.
    pub(super) fn if_exists(&mut self) -> Result<bool> {
        // The word alone may be a name.
        let is_name =
            matches!(self.kind_at(1), Kind::End | Kind::Symbol(b';' | b',' | b'.' | b'('))
                || self.is_at(1, Keyword::Cascade)
                || self.is_at(1, Keyword::Restrict);
        if !self.is(Keyword::If) || is_name {
            return Ok(false);
        }
        self.advance();
        self.expect(Keyword::Exists)?;
        Ok(true)
    }

    /// DROP.
    pub(super) fn drop(&mut self) -> Result<Statement> {
        self.expect(Keyword::Drop)?;
        let word = self.routine_word();
        let kind = self.object_kind()?;
        match kind {
            ObjectKind::Function => return self.drop_routine(word),
            ObjectKind::Other("OPERATOR") => return self.drop_operator(),
            ObjectKind::Other("CAST") => return self.drop_cast(),
            ObjectKind::Other("CONVERSION") => return self.drop_conversion(),
            ObjectKind::Other("EVENT TRIGGER") => return self.drop_event_trigger(),
            ObjectKind::Other("OWNED") => {
                let roles = self.list(Parser::role)?;
                let cascade = self.cascade();
                return Ok(Statement::DropOwned(DropOwned { roles, cascade }));
            }
            ObjectKind::Trigger => {
                let if_exists = self.if_exists()?;
                let name = self.name()?;
                self.expect(Keyword::On)?;
                let table = self.object_name()?;
                self.cascade();
                return Ok(Statement::DropTrigger(DropTrigger { name, table, if_exists }));
            }
            ObjectKind::Database => {
                let if_exists = self.if_exists()?;
                let name = self.name()?;
                let mut force = false;
                if self.accept(Keyword::With) || self.is_symbol(b'(') {
                    self.in_parentheses(|parser| parser.expect(Keyword::Force))?;
                    force = true;
                }
                return Ok(Statement::DropDatabase(DropDatabase { name, if_exists, force }));
            }
            ObjectKind::Role => {
                let if_exists = self.if_exists()?;
                let names = self.list(Parser::role)?;
                return Ok(Statement::DropRole(DropRole { names, if_exists }));
            }
            ObjectKind::Table
            | ObjectKind::Index
            | ObjectKind::View
            | ObjectKind::MaterializedView
            | ObjectKind::Sequence
            | ObjectKind::Schema
            | ObjectKind::Type
            | ObjectKind::Domain
            | ObjectKind::Extension
            | ObjectKind::Language => {}
            ObjectKind::Column | ObjectKind::Constraint => {
                self.back();
                return Err(self.error());
            }
            _ => {
                self.skip_statement();
                return Ok(Statement::Unsupported(format!("DROP {}", kind.words())));
            }
        }
        let concurrently = kind == ObjectKind::Index && self.accept(Keyword::Concurrently);
        let if_exists = self.if_exists()?;
        let names = self.list(Parser::object_name)?;
        let cascade = self.cascade();
        Ok(Statement::Drop(Drop { kind, names, if_exists, cascade, concurrently }))
    }

    /// DROP FUNCTION and its kin, behind that word.
    fn drop_routine(&mut self, word: &'static str) -> Result<Statement> {
        let if_exists = self.if_exists()?;
        let routines = self.list(|parser| {
            let name = parser.function_name()?;
            let aggregate = word == "AGGREGATE";
            let types =
                if aggregate { parser.aggregate_types()? } else { parser.routine_arguments()? };
            Ok((name, types))
        })?;
        let cascade = self.cascade();
        Ok(Statement::DropRoutine(DropRoutine { word, routines, if_exists, cascade }))
    }

    /// The arguments by which a routine is told from others of its name, if they are given.
    pub(super) fn routine_arguments(&mut self) -> Result<Option<RoutineArguments>> {
        if !self.is_symbol(b'(') {
            return Ok(None);
        }
        if self.kind_at(1) == Kind::Symbol(b')') {
            self.advance();
            self.advance();
            return Ok(Some(RoutineArguments::default()));
        }
        // An aggregate of no argument.
        if self.kind_at(1) == Kind::Symbol(b'*') && self.kind_at(2) == Kind::Symbol(b')') {
            for _ in 0..3 {
                self.advance();
            }
            return Ok(Some(RoutineArguments::default()));
        }
        let mut has_modes = false;
        let all = self.in_parentheses(|parser| {
            let (mode, ty) = parser.argument_type()?;
            has_modes |= mode.is_some();
            Ok((mode != Some(ParameterMode::Out)).then_some(ty))
        })?;
        Ok(Some(RoutineArguments { types: all.into_iter().flatten().collect(), has_modes }))
    }

    /// An argument of a routine, with or without its name: how it is passed, if that is said, and its type.
    pub(super) fn argument_type(&mut self) -> Result<(Option<ParameterMode>, TypeName)> {
        let mut mode = self.parameter_mode();
        // A name is a word with another one behind it. Of the types of two words only one begins with what may be a name.
        let precision = self.is(Keyword::Double) && self.is_at(1, Keyword::Precision);
        let named = self.is_function_name(self.kind()) && !precision;
        if named && self.is_label(self.kind_at(1)) && !self.is_at(1, Keyword::Array) {
            self.advance();
            mode = mode.or_else(|| self.parameter_mode());
        }
        let ty = self.type_name()?;
        Ok((mode, ty))
    }

    /// What a statement calls the routine that it is about.
    fn routine_word(&self) -> &'static str {
        match self.kind() {
            Kind::Keyword(Keyword::Procedure) => "PROCEDURE",
            Kind::Keyword(Keyword::Routine) => "ROUTINE",
            Kind::Keyword(Keyword::Aggregate) => "AGGREGATE",
            _ => "FUNCTION",
        }
    }

    /// COMMENT.
    pub(super) fn comment(&mut self) -> Result<Statement> {
        self.expect_all(&[Keyword::Comment, Keyword::On])?;
        let word = self.routine_word();
        let mut kind = self.object_kind()?;
        let target = match kind {
            ObjectKind::Other(words) => self.comment_target(words)?,
            _ => None,
        };
        let mut name = match kind {
            ObjectKind::Other(_) if target.is_some() => {
                ObjectName { parts: vec!["".into()], at: self.here() }
            }
            ObjectKind::Other(_) => {
                // What Atoll has none of: the name in whatever form is passed over.
                let at = self.here();
                while !self.is(Keyword::Is) && self.kind() != Kind::End && !self.is_symbol(b';') {
                    self.advance();
                }
                ObjectName { parts: vec!["".into()], at }
            }
            ObjectKind::Function => self.function_name()?,
            _ => self.object_name()?,
        };
        if matches!(kind, ObjectKind::Constraint | ObjectKind::Trigger) {
            self.expect(Keyword::On)?;
            if kind == ObjectKind::Constraint && self.accept(Keyword::Domain) {
                kind = ObjectKind::DomainConstraint;
            }
            let table = self.object_name()?;
            let constraint = name.parts.remove(0);
            name = table;
            name.parts.push(constraint);
        }
        let arguments = match kind {
            ObjectKind::Function if word == "AGGREGATE" => self.aggregate_types()?,
            ObjectKind::Function => self.routine_arguments()?,
            _ => None,
        };
        self.expect(Keyword::Is)?;
        let text = if self.accept(Keyword::Null) { None } else { Some(self.string()?) };
        Ok(Statement::Comment(Comment { kind, name, arguments, word, target, text }))
    }

    /// SET or RESET of kept settings, behind the object's name.
    pub(super) fn setting_change(&mut self) -> Result<SettingChange> {
        if self.accept(Keyword::Set) {
            return Ok(SettingChange::Set(self.setting(false)?));
        }
        if !self.is(Keyword::Reset) {
            return Err(self.error());
        }
        Ok(match self.shown_setting()? {
            Some(name) => SettingChange::Reset(name),
            None => SettingChange::ResetAll,
        })
    }

    /// ALTER DATABASE name behind the name: settings or options.
    pub(super) fn alter_database(&mut self, name: Ident) -> Result<Statement> {
        if matches!(self.kind(), Kind::Keyword(Keyword::Reset))
            || (self.is(Keyword::Set) && !self.is_at(1, Keyword::Tablespace))
        {
            let change = self.setting_change()?;
            return Ok(Statement::AlterSettings(AlterSettings {
                role: None,
                database: Some(name),
                change,
            }));
        }
        let at = self.here();
        if self.accept(Keyword::Refresh) {
            self.expect_all(&[Keyword::Collation, Keyword::Version])?;
            let options = vec![option("refresh_collation_version", None, at)];
            return Ok(Statement::AlterDatabase(super::ast::AlterDatabase { name, options }));
        }
        let options = if self.accept(Keyword::Set) {
            self.expect(Keyword::Tablespace)?;
            let value = super::ast::Value::Word(self.name()?);
            vec![option("tablespace", Some(value), at)]
        } else {
            self.accept(Keyword::With);
            self.database_options()?
        };
        Ok(Statement::AlterDatabase(super::ast::AlterDatabase { name, options }))
    }
}
