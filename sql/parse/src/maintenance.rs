//! Statements about the upkeep of tables: VACUUM, ANALYZE, REINDEX, LOCK, TRUNCATE.

use super::ast::{
    Analyze, Cluster, Lock, ObjectKind, ObjectName, OptionValue, Reindex, Statement, TableColumns,
    Truncate, Vacuum,
};
use super::keyword::Keyword;
use super::lexer::Kind;
use super::parser::Parser;
use super::utility::option;
use sql_types::error::Result;
use txn::TableLock;

impl Parser<'_> {
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

    /// The options of CLUSTER and ANALYZE, in their older form too.
    fn verbose_options(&mut self) -> Result<Vec<OptionValue>> {
        let at = self.here();
        if self.is_symbol(b'(') {
            return self.utility_options();
        }
        let verbose = self.accept(Keyword::Verbose);
        Ok(verbose.then(|| option("verbose", None, at)).into_iter().collect())
    }

    /// CLUSTER, in its older form too: index ON table.
    pub(super) fn cluster(&mut self) -> Result<Statement> {
        self.expect(Keyword::Cluster)?;
        let options = self.verbose_options()?;
        if matches!(self.kind(), Kind::End | Kind::Symbol(b';')) {
            return Ok(Statement::Cluster(Cluster { options, table: None }));
        }
        let name = self.relation_name()?;
        let table = if self.accept(Keyword::Using) {
            (name, Some(self.name()?))
        } else if name.parts.len() == 1 && self.accept(Keyword::On) {
            (self.relation_name()?, name.parts.last().cloned())
        } else {
            (name, None)
        };
        Ok(Statement::Cluster(Cluster { options, table: Some(table) }))
    }

    /// ANALYZE.
    pub(super) fn analyze(&mut self) -> Result<Statement> {
        self.advance();
        let options = self.verbose_options()?;
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
}
