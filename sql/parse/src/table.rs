//! CREATE TABLE and what columns and constraints are made of.

use super::ast::{
    ColumnConstraint, ColumnConstraintKind, ColumnElement, CreateTable, CreateTableAs, Expr,
    KeyOptions, LikeProperty, ObjectName, OnCommit, References, Refresh, Span, SpecialTable,
    Statement, StorageOption, TableConstraint, TableConstraintKind, TableElement,
};
use super::keyword::Keyword;
use super::lexer::Kind;
use super::parser::Parser;
use sql_types::error::{Result, SqlError};
use sql_types::sqlstate::SqlState;
use sql_types::words::{Action, Deferral, MatchType};

impl<'t> Parser<'t> {
    /// CREATE TABLE behind the word TABLE.
    pub(super) fn create_table(&mut self, persistence: char) -> Result<Statement> {
        let if_not_exists = self.if_not_exists()?;
        let name = self.relation_name()?;
        let mut table = CreateTable::empty(name, persistence, if_not_exists);
        if self.accept(Keyword::Of) {
            self.object_name()?;
            self.skip_statement();
            table.special = Some(SpecialTable::Typed);
            return Ok(Statement::CreateTable(Box::new(table)));
        }
        if self.accept(Keyword::Partition) {
            self.expect(Keyword::Of)?;
            self.relation_name()?;
            self.skip_statement();
            table.special = Some(SpecialTable::Partition);
            return Ok(Statement::CreateTable(Box::new(table)));
        }
        if !self.is_symbol(b'(') || self.opens_name_list() {
            return self.create_table_as(table, false);
        }
        self.advance();
        if !self.is_symbol(b')') {
            table.elements = self.list(Parser::table_element)?;
        }
        self.expect_symbol(b')')?;
        if self.accept(Keyword::Inherits) {
            table.inherits = self.in_parentheses(Parser::relation_name)?;
        }
        if self.accept(Keyword::Partition) {
            self.expect(Keyword::By)?;
            table.special = Some(SpecialTable::Partitioned);
            self.label()?;
            self.expect_symbol(b'(')?;
            self.skip_statement();
            return Ok(Statement::CreateTable(Box::new(table)));
        }
        self.table_properties(&mut table)?;
        Ok(Statement::CreateTable(Box::new(table)))
    }

    /// Whether the parenthesis at hand holds names alone: the columns of a CREATE TABLE AS.
    fn opens_name_list(&self) -> bool {
        self.is_name(self.kind_at(1)) && matches!(self.kind_at(2), Kind::Symbol(b',' | b')'))
    }

    /// USING, WITH, ON COMMIT, TABLESPACE.
    fn table_properties(&mut self, table: &mut CreateTable) -> Result<()> {
        if self.accept(Keyword::Using) {
            table.access_method = Some(self.name()?);
        }
        if self.is(Keyword::With) && self.kind_at(1) == Kind::Symbol(b'(') {
            self.advance();
            table.options = self.storage_options()?;
        } else if self.is(Keyword::Without) && self.is_at(1, Keyword::Oids) {
            self.advance();
            self.advance();
        }
        if self.accept_all(&[Keyword::On, Keyword::Commit]) {
            table.on_commit = if self.accept(Keyword::Drop) {
                OnCommit::Drop
            } else if self.accept(Keyword::Delete) {
                self.expect(Keyword::Rows)?;
                OnCommit::Delete
            } else {
                self.expect_all(&[Keyword::Preserve, Keyword::Rows])?;
                OnCommit::Preserve
            };
        }
        if self.accept(Keyword::Tablespace) {
            table.tablespace = Some(self.name()?);
        }
        Ok(())
    }

    /// CREATE TABLE AS, CREATE MATERIALIZED VIEW behind the name.
    pub(super) fn create_table_as(
        &mut self,
        mut table: CreateTable,
        materialized: bool,
    ) -> Result<Statement> {
        let columns =
            if self.is_symbol(b'(') { self.in_parentheses(Parser::name)? } else { Vec::new() };
        self.table_properties(&mut table)?;
        self.expect(Keyword::As)?;
        let query = if self.is(Keyword::Execute) && !materialized {
            self.execute()?
        } else {
            Statement::Query(Box::new(self.query()?))
        };
        let with_data = self.with_data()?;
        Ok(Statement::CreateTableAs(Box::new(CreateTableAs {
            name: table.name,
            columns,
            persistence: table.persistence,
            if_not_exists: table.if_not_exists,
            materialized,
            options: table.options,
            on_commit: table.on_commit,
            query,
            with_data,
        })))
    }

    /// REFRESH MATERIALIZED VIEW.
    pub(super) fn refresh(&mut self) -> Result<Statement> {
        self.expect_all(&[Keyword::Refresh, Keyword::Materialized, Keyword::View])?;
        let concurrently = self.accept(Keyword::Concurrently);
        let name = self.relation_name()?;
        let with_data = self.with_data()?;
        Ok(Statement::Refresh(Refresh { name, concurrently, with_data }))
    }

    /// WITH DATA, WITH NO DATA.
    fn with_data(&mut self) -> Result<bool> {
        if !self.accept(Keyword::With) {
            return Ok(true);
        }
        let with_data = !self.accept(Keyword::No);
        self.expect(Keyword::Data)?;
        Ok(with_data)
    }

    /// IF NOT EXISTS.
    pub(super) fn if_not_exists(&mut self) -> Result<bool> {
        if !self.is(Keyword::If) || !self.is_at(1, Keyword::Not) {
            return Ok(false);
        }
        self.expect_all(&[Keyword::If, Keyword::Not, Keyword::Exists])?;
        Ok(true)
    }

    /// `(name = value, ...)`.
    pub(super) fn storage_options(&mut self) -> Result<Vec<StorageOption>> {
        self.in_parentheses(|parser| {
            let mut name = parser.label()?;
            if parser.accept_symbol(b'.') {
                name = format!("{name}.{}", parser.label()?).into();
            }
            let value = if parser.accept_symbol(b'=') {
                Some(parser.option_value()?.ok_or_else(|| parser.error())?)
            } else {
                None
            };
            Ok(StorageOption { name, value })
        })
    }

    fn table_element(&mut self) -> Result<TableElement> {
        if self.accept(Keyword::Like) {
            let table = self.relation_name()?;
            return Ok(TableElement::Like(table, self.like_properties()?));
        }
        if self.begins_table_constraint() {
            return Ok(TableElement::Constraint(self.table_constraint()?));
        }
        Ok(TableElement::Column(self.column_element()?))
    }

    /// INCLUDING and EXCLUDING: a later word takes back what an earlier one says.
    fn like_properties(&mut self) -> Result<Vec<LikeProperty>> {
        let mut included = Vec::new();
        loop {
            let including = self.accept(Keyword::Including);
            if !including && !self.accept(Keyword::Excluding) {
                return Ok(included);
            }
            let at = self.token();
            let word = self.label()?;
            let named = LikeProperty::ALL.iter().filter(|one| *word == *"all" || *word == *one.0);
            let named: Vec<LikeProperty> = named.map(|one| one.1).collect();
            if named.is_empty() {
                return Err(self.error_at(at));
            }
            included.retain(|known| !named.contains(known));
            if including {
                included.extend(named);
            }
        }
    }

    /// Whether a constraint of a table, not a column, is at hand.
    pub(super) fn begins_table_constraint(&self) -> bool {
        match self.kind() {
            Kind::Keyword(
                Keyword::Constraint
                | Keyword::Check
                | Keyword::Unique
                | Keyword::Primary
                | Keyword::Foreign,
            ) => true,
            Kind::Keyword(Keyword::Exclude) => {
                matches!(self.kind_at(1), Kind::Symbol(b'(') | Kind::Keyword(Keyword::Using))
            }
            _ => false,
        }
    }

    /// A column with its constraints.
    pub(super) fn column_element(&mut self) -> Result<ColumnElement> {
        let at = self.here();
        let name = self.name()?;
        let ty = self.column_type_name()?;
        let compression = if self.accept(Keyword::Compression) {
            Some(if self.accept(Keyword::Default) { "default".into() } else { self.name()? })
        } else {
            None
        };
        let mut column =
            ColumnElement { name, ty, collation: None, compression, constraints: Vec::new(), at };
        loop {
            let place = self.here();
            if self.accept(Keyword::Collate) {
                // Errors about it are told of where the clause begins.
                let named = ObjectName { at: place, ..self.object_name()? };
                if column.collation.replace(named).is_some() {
                    return Err(self.complaint("multiple COLLATE clauses not allowed", place));
                }
            } else if let Some(constraint) = self.column_constraint()? {
                column.constraints.push(constraint);
            } else if !self.constraint_attribute(&mut column.constraints)? {
                return Ok(column);
            }
        }
    }

    /// A constraint of a column, none if what is at hand is none.
    pub(super) fn column_constraint(&mut self) -> Result<Option<ColumnConstraint>> {
        let at = self.here();
        let name = if self.accept(Keyword::Constraint) { Some(self.name()?) } else { None };
        let kind = match self.kind() {
            Kind::Keyword(Keyword::Not) if self.is_at(1, Keyword::Null) => {
                self.advance();
                self.advance();
                ColumnConstraintKind::NotNull
            }
            Kind::Keyword(Keyword::Not) if !self.is_at(1, Keyword::Deferrable) => {
                self.advance();
                return Err(self.error());
            }
            Kind::Keyword(Keyword::Null) => {
                self.advance();
                ColumnConstraintKind::Null
            }
            Kind::Keyword(Keyword::Default) => {
                self.advance();
                let (expr, span) = self.made_later(0, Parser::restricted_expr)?;
                ColumnConstraintKind::Default(expr, span)
            }
            Kind::Keyword(Keyword::Generated) => {
                self.advance();
                self.generated()?
            }
            Kind::Keyword(Keyword::Check) => {
                self.advance();
                let (expr, span) = self.check()?;
                let no_inherit = self.accept_all(&[Keyword::No, Keyword::Inherit]);
                ColumnConstraintKind::Check { expr, span, no_inherit }
            }
            Kind::Keyword(Keyword::Primary | Keyword::Unique) => {
                let mut options = self.key_words()?;
                self.key_properties(&mut options)?;
                ColumnConstraintKind::Key(options)
            }
            Kind::Keyword(Keyword::References) => {
                ColumnConstraintKind::References(self.references()?)
            }
            _ if name.is_some() => return Err(self.error()),
            _ => return Ok(None),
        };
        Ok(Some(ColumnConstraint { name, kind, at }))
    }

    /// DEFERRABLE and its kin behind a column's constraint; false if none is at hand.
    fn constraint_attribute(&mut self, before: &mut [ColumnConstraint]) -> Result<bool> {
        let at = self.here();
        let words = match self.kind() {
            Kind::Keyword(Keyword::Deferrable) => "DEFERRABLE",
            Kind::Keyword(Keyword::Not) => "NOT DEFERRABLE",
            _ if self.is_at(1, Keyword::Deferred) => "INITIALLY DEFERRED",
            _ => "INITIALLY IMMEDIATE",
        };
        let takes = |constraint: &ColumnConstraint| {
            let kind = &constraint.kind;
            matches!(kind, ColumnConstraintKind::Key(_) | ColumnConstraintKind::References(_))
        };
        let mut said = DeferralWords::default();
        match self.deferral(&mut said, true) {
            Ok(false) => return Ok(false),
            // Words that stand behind what takes none are told of before they contradict each other.
            Err(error) if before.last().is_some_and(takes) => return Err(error),
            _ => {}
        }
        match before.last_mut().map(|constraint| &mut constraint.kind) {
            Some(ColumnConstraintKind::Key(KeyOptions { deferral: place, .. }))
            | Some(ColumnConstraintKind::References(References { deferral: place, .. })) => {
                *place = said.meaning();
                Ok(true)
            }
            _ => Err(self.complaint(format!("misplaced {words} clause"), at)),
        }
    }

    fn generated(&mut self) -> Result<ColumnConstraintKind> {
        let place = self.here();
        let always = self.accept(Keyword::Always);
        if !always {
            self.expect_all(&[Keyword::By, Keyword::Default])?;
        }
        self.expect(Keyword::As)?;
        if self.accept(Keyword::Identity) {
            let options = if self.accept_symbol(b'(') {
                let options = self.sequence_options()?;
                self.expect_symbol(b')')?;
                options
            } else {
                Vec::new()
            };
            return Ok(ColumnConstraintKind::Identity { always, options });
        }
        let (expr, span) = self.in_check(0)?;
        self.expect(Keyword::Stored)?;
        if !always {
            return Err(
                self.complaint("for a generated column, GENERATED ALWAYS must be specified", place)
            );
        }
        Ok(ColumnConstraintKind::Generated(expr, span))
    }

    /// What `rule` parses, and the extent of its text.
    pub(super) fn spanned(
        &mut self,
        rule: impl FnOnce(&mut Parser<'t>) -> Result<Expr>,
    ) -> Result<(Expr, Span)> {
        let start = self.here();
        let expr = rule(self)?;
        Ok((expr, (start, self.before())))
    }

    /// `(condition)`.
    fn check(&mut self) -> Result<(Expr, Span)> {
        self.in_check(1)
    }

    fn in_check(&mut self, rank: usize) -> Result<(Expr, Span)> {
        self.expect_symbol(b'(')?;
        let found = self.made_later(rank, Parser::expr)?;
        self.expect_symbol(b')')?;
        Ok(found)
    }

    /// PRIMARY KEY or UNIQUE [NULLS NOT DISTINCT].
    fn key_words(&mut self) -> Result<KeyOptions> {
        let mut options =
            KeyOptions { primary: self.accept(Keyword::Primary), ..KeyOptions::default() };
        if options.primary {
            self.expect(Keyword::Key)?;
        } else {
            self.expect(Keyword::Unique)?;
            if self.accept(Keyword::Nulls) {
                options.nulls_not_distinct = self.accept(Keyword::Not);
                self.expect(Keyword::Distinct)?;
            }
        }
        Ok(options)
    }

    /// INCLUDE, WITH, USING INDEX TABLESPACE.
    fn key_properties(&mut self, options: &mut KeyOptions) -> Result<()> {
        if self.accept(Keyword::Include) {
            options.include = self.in_parentheses(Parser::name)?;
        }
        if self.is(Keyword::With) && self.kind_at(1) == Kind::Symbol(b'(') {
            self.advance();
            options.options = self.storage_options()?;
        }
        if self.accept_all(&[Keyword::Using, Keyword::Index]) {
            self.expect(Keyword::Tablespace)?;
            options.tablespace = Some(self.name()?);
        }
        Ok(())
    }

    /// REFERENCES and what follows, short of DEFERRABLE.
    fn references(&mut self) -> Result<References> {
        self.expect(Keyword::References)?;
        let table = self.relation_name()?;
        let columns =
            if self.is_symbol(b'(') { self.in_parentheses(Parser::name)? } else { Vec::new() };
        let mut references = References {
            table,
            columns,
            match_type: MatchType::Simple,
            on_update: Action::NoAction,
            on_delete: Action::NoAction,
            delete_columns: Vec::new(),
            deferral: Deferral::default(),
        };
        if self.is(Keyword::Match) {
            let at = self.here();
            self.advance();
            if self.accept(Keyword::Full) {
                references.match_type = MatchType::Full;
            } else if self.accept(Keyword::Partial) {
                let message = "MATCH PARTIAL not yet implemented";
                let error = SqlError::new(SqlState::FEATURE_NOT_SUPPORTED, message);
                return Err(error.at(self.position(at)));
            } else {
                self.expect(Keyword::Simple)?;
            }
        }
        loop {
            let at = self.here();
            if !self.accept(Keyword::On) {
                return Ok(references);
            }
            if self.accept(Keyword::Update) {
                references.on_update = self.action()?;
                let words = match references.on_update {
                    Action::SetNull => "SET NULL",
                    Action::SetDefault => "SET DEFAULT",
                    _ => continue,
                };
                if self.is_symbol(b'(') {
                    self.in_parentheses(Parser::name)?;
                    let what = format!(
                        "a column list with {words} is only supported for ON DELETE actions"
                    );
                    let error = SqlError::new(SqlState::FEATURE_NOT_SUPPORTED, what);
                    return Err(error.at(self.position(at)));
                }
                continue;
            }
            self.expect(Keyword::Delete)?;
            references.on_delete = self.action()?;
            if matches!(references.on_delete, Action::SetNull | Action::SetDefault)
                && self.is_symbol(b'(')
            {
                references.delete_columns = self.in_parentheses(Parser::name)?;
            }
        }
    }

    fn action(&mut self) -> Result<Action> {
        if self.accept(Keyword::Cascade) {
            return Ok(Action::Cascade);
        }
        if self.accept(Keyword::Restrict) {
            return Ok(Action::Restrict);
        }
        if self.accept(Keyword::No) {
            self.expect(Keyword::Action)?;
            return Ok(Action::NoAction);
        }
        self.expect(Keyword::Set)?;
        if self.accept(Keyword::Null) {
            return Ok(Action::SetNull);
        }
        self.expect(Keyword::Default)?;
        Ok(Action::SetDefault)
    }

    /// DEFERRABLE, NOT DEFERRABLE, INITIALLY DEFERRED and INITIALLY IMMEDIATE, as many as there are, behind a column's
    /// constraint or a table's; false if none is at hand.
    pub(super) fn deferral(&mut self, said: &mut DeferralWords, of_column: bool) -> Result<bool> {
        let mut found = false;
        loop {
            let at = self.here();
            let (about_deferrable, word) = if self.accept(Keyword::Deferrable) {
                (true, true)
            } else if self.accept_all(&[Keyword::Not, Keyword::Deferrable]) {
                (true, false)
            } else if self.accept(Keyword::Initially) {
                let deferred = self.accept(Keyword::Deferred);
                if !deferred {
                    self.expect(Keyword::Immediate)?;
                }
                (false, deferred)
            } else {
                return Ok(found);
            };
            found = true;
            let place = if about_deferrable { &mut said.deferrable } else { &mut said.deferred };
            let before = place.replace(word);
            let complaint = if before.is_some() && of_column {
                Some(if about_deferrable {
                    "multiple DEFERRABLE/NOT DEFERRABLE clauses not allowed"
                } else {
                    "multiple INITIALLY IMMEDIATE/DEFERRED clauses not allowed"
                })
            } else if (said.deferrable, said.deferred) == (Some(false), Some(true)) {
                Some("constraint declared INITIALLY DEFERRED must be DEFERRABLE")
            } else if before.is_some_and(|before| before != word) {
                Some("conflicting constraint properties")
            } else {
                None
            };
            if let Some(complaint) = complaint {
                return Err(self.complaint(complaint, at));
            }
        }
    }

    /// A constraint of a table.
    pub(super) fn table_constraint(&mut self) -> Result<TableConstraint> {
        let at = self.here();
        let name = if self.accept(Keyword::Constraint) { Some(self.name()?) } else { None };
        let mut kind = match self.kind() {
            Kind::Keyword(Keyword::Check) => {
                self.advance();
                let (expr, span) = self.check()?;
                TableConstraintKind::Check { expr, span, no_inherit: false }
            }
            Kind::Keyword(Keyword::Unique | Keyword::Primary) => {
                let mut options = self.key_words()?;
                if self.accept_all(&[Keyword::Using, Keyword::Index]) {
                    TableConstraintKind::KeyUsing(self.name()?, options)
                } else {
                    let columns = self.in_parentheses(Parser::name)?;
                    self.key_properties(&mut options)?;
                    TableConstraintKind::Key(columns, options)
                }
            }
            Kind::Keyword(Keyword::Foreign) => {
                self.advance();
                self.expect(Keyword::Key)?;
                let columns = self.in_parentheses(Parser::name)?;
                TableConstraintKind::ForeignKey(columns, self.references()?)
            }
            Kind::Keyword(Keyword::Exclude) => {
                return Err(self.unsupported("exclusion constraints are", at));
            }
            _ => return Err(self.error()),
        };
        let mut not_valid = false;
        let mut said = DeferralWords::default();
        loop {
            if self.is(Keyword::Not) && self.is_at(1, Keyword::Valid) {
                self.advance();
                self.advance();
                if matches!(kind, TableConstraintKind::Key(..) | TableConstraintKind::KeyUsing(..))
                {
                    let what = if is_primary(&kind) { "PRIMARY KEY" } else { "UNIQUE" };
                    return Err(cannot_be_marked(what, "NOT VALID"));
                }
                not_valid = true;
            } else if self.accept_all(&[Keyword::No, Keyword::Inherit]) {
                match &mut kind {
                    TableConstraintKind::Check { no_inherit, .. } => *no_inherit = true,
                    _ => return Err(self.error()),
                }
            } else {
                if !self.deferral(&mut said, false)? {
                    break;
                }
                let deferral = said.meaning();
                match &mut kind {
                    TableConstraintKind::Key(_, options)
                    | TableConstraintKind::KeyUsing(_, options) => options.deferral = deferral,
                    TableConstraintKind::ForeignKey(_, references) => {
                        references.deferral = deferral;
                    }
                    TableConstraintKind::Check { .. } | TableConstraintKind::Exclude => {
                        return Err(cannot_be_marked("CHECK", "DEFERRABLE"));
                    }
                }
            }
        }
        Ok(TableConstraint { name, kind, not_valid, at })
    }
}

/// 0A000: PostgreSQL says of no place where.
fn cannot_be_marked(constraint: &str, words: &str) -> SqlError {
    SqlError::new(
        SqlState::FEATURE_NOT_SUPPORTED,
        format!("{constraint} constraints cannot be marked {words}"),
    )
}

/// What has been said of when a constraint is checked.
#[derive(Default)]
pub(super) struct DeferralWords {
    deferrable: Option<bool>,
    deferred: Option<bool>,
}

impl DeferralWords {
    /// INITIALLY DEFERRED implies DEFERRABLE.
    pub(super) fn meaning(&self) -> Deferral {
        match (self.deferrable, self.deferred) {
            (_, Some(true)) => Deferral::Deferred,
            (Some(true), _) => Deferral::Immediate,
            _ => Deferral::Never,
        }
    }
}

fn is_primary(kind: &TableConstraintKind) -> bool {
    matches!(
        kind,
        TableConstraintKind::Key(_, KeyOptions { primary: true, .. })
            | TableConstraintKind::KeyUsing(_, KeyOptions { primary: true, .. })
    )
}
