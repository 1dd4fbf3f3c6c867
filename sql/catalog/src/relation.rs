//! Relations as plans see them: columns, indexes, constraints, and the trees that hold their records.

use crate::acl::Acl;
use crate::definition::{Expression, ViewQuery};
use crate::object::Version;
use crate::quote::{identifier, qualified};
use crate::sequence::State;
use crate::settings::value::parse_bool;
use crate::trigger::{KeyTriggers, Trigger};
use sql_types::tuple::Form;
pub use sql_types::tuple::entry::Uniqueness;
pub use sql_types::words::{Action, CheckOption, Deferral, MatchType};
use sql_types::{Oid, SqlType, oids};
use std::sync::Arc;
use txn::{TableId, TreeId};

/// A table, view, index-less system relation or sequence.
#[derive(Clone, Debug)]
pub struct Relation {
    /// Its `pg_class` row.
    pub oid: Oid,
    /// The committed state that it is with its indexes, or was made of.
    pub version: Version,
    /// Its schema's OID and name.
    pub schema: (Oid, Arc<str>),
    /// Its name.
    pub name: Arc<str>,
    /// Its owner's OID.
    pub owner: Oid,
    /// What it is.
    pub kind: RelationKind,
    /// Columns in `attnum` order, dropped ones too, so that `attnum` is the index + 1.
    pub columns: Vec<Column>,
    /// Indexes, the primary key's first, then in the order of their OIDs (`RelationGetIndexList`).
    pub indexes: Vec<Index>,
    /// CHECK and FOREIGN KEY constraints on it; keys stand in `indexes`.
    pub constraints: Vec<Constraint>,
    /// Foreign keys of other tables that refer to it: (that table, index in its `constraints`).
    pub referenced_by: Vec<(Oid, usize)>,
    /// What table locks stand on.
    pub lock: TableId,
    /// `reltuples`: rows at the last ANALYZE, or an estimate; -1 if never.
    pub row_estimate: f64,
    /// WITH (...) options as given: `fillfactor=90`.
    pub options: Vec<(String, String)>,
    /// `relpersistence`: `p`, `u` or `t`.
    pub persistence: char,
    /// Its row type's `pg_type` row, and that of arrays of it; 0 where it has none (indexes, sequences' arrays).
    pub row_type: (Oid, Oid),
    /// Who may do what; none is the owner's default.
    pub acl: Option<Acl>,
    /// The query of a materialized view, whose rows a table of its own holds.
    pub stored_query: Option<StoredQuery>,
    /// Its triggers, in the order in which they fire: by name.
    pub triggers: Vec<Trigger>,
    /// Those of the triggers of foreign keys that fire otherwise than by default, with their `tgenabled`.
    pub key_triggers: Vec<(Oid, u8)>,
    /// What of an old row is told to who follows changes.
    pub replica_identity: ReplicaIdentity,
}

/// The query of a materialized view.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredQuery {
    /// As a view's.
    pub query: ViewQuery,
    /// Whether its rows are there: they are from CREATE or REFRESH on, unless that said WITH NO DATA.
    pub populated: bool,
}

/// What a relation is, and where its rows are.
#[derive(Clone, Debug)]
pub enum RelationKind {
    /// A table: its rows are in the primary key's tree, or under a hidden row id.
    Table {
        /// The tree that holds the rows.
        tree: TreeId,
        /// The columns (by index) that are the key of that tree; empty: a hidden row id (8 bytes, big-endian).
        key: Vec<usize>,
        /// The companion tree for long values.
        long_values: TreeId,
    },
    /// A relation of `pg_catalog` or `information_schema` that is served from the snapshot.
    System,
    /// A view.
    View {
        /// Its query.
        query: ViewQuery,
    },
    /// A sequence. Its values are given outside transactions ([`crate::sequence`]).
    Sequence(Sequence),
    /// A composite type, which is stored as a type ([`crate::user_type`]): a relation by its name and its columns,
    /// and of no rows.
    Composite,
}

/// What a sequence counts, and for whom.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sequence {
    /// int2, int4 or int8.
    pub ty: Oid,
    /// START.
    pub start: i64,
    /// INCREMENT.
    pub increment: i64,
    /// MINVALUE.
    pub min: i64,
    /// MAXVALUE.
    pub max: i64,
    /// CACHE.
    pub cache: i64,
    /// CYCLE.
    pub cycle: bool,
    /// Which of its states is the current one: RESTART within a transaction begins a new state, and leaves the old one
    /// for those who do not see the transaction.
    pub state: Oid,
    /// Where that state begins.
    pub initial: State,
    /// OWNED BY: the table and the column's index. It goes with them.
    pub owner: Option<(Oid, usize)>,
}

/// A column.
#[derive(Clone, Debug)]
pub struct Column {
    /// Its name.
    pub name: Arc<str>,
    /// Its type.
    pub ty: SqlType,
    /// Its collation's OID; 0 where its type has none.
    pub collation: Oid,
    /// NOT NULL.
    pub not_null: bool,
    /// DEFAULT, GENERATED or (of an identity column) `nextval` expression, of the column's type; over no columns or, generated,
    /// those of this relation.
    pub default: Option<Expression>,
    /// The value, in its type's stored form, of rows that are older than the column (ADD COLUMN with a constant).
    pub missing: Option<Arc<[u8]>>,
    /// DROP COLUMN: it keeps its place, without a name.
    pub dropped: bool,
    /// GENERATED ... AS IDENTITY.
    pub identity: Option<Identity>,
    /// GENERATED ALWAYS AS (...) STORED: `default` is its expression.
    pub generated: bool,
    /// What only the catalog tells.
    pub properties: Properties,
}

/// What a column's definition says that changes nothing here: the catalog keeps and shows it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Properties {
    /// How many dimensions the array type was written with: `int[][]` has two.
    pub dimensions: u32,
    /// COMPRESSION: `p` for pglz, `l` for lz4; none is the default.
    pub compression: Option<char>,
    /// SET STORAGE: `p`, `e`, `x` or `m`; none is the type's.
    pub storage: Option<char>,
    /// SET STATISTICS; none is the default.
    pub statistics: Option<i32>,
    /// SET (...), as given.
    pub options: Vec<(String, String)>,
}

impl Column {
    /// A column that may be NULL, and has nothing else either.
    #[must_use]
    pub fn plain(name: Arc<str>, ty: SqlType, collation: Oid) -> Column {
        Column {
            name,
            ty,
            collation,
            not_null: false,
            default: None,
            missing: None,
            dropped: false,
            identity: None,
            generated: false,
            properties: Properties::default(),
        }
    }
}

/// GENERATED ... AS IDENTITY.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Identity {
    /// ALWAYS.
    Always,
    /// BY DEFAULT.
    ByDefault,
}

/// An index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Index {
    /// Its `pg_class` row.
    pub oid: Oid,
    /// Its name.
    pub name: Arc<str>,
    /// Its key columns in order.
    pub columns: Vec<IndexColumn>,
    /// Its records; the table's own tree where it holds the rows.
    pub tree: TreeId,
    /// UNIQUE.
    pub unique: bool,
    /// It is the PRIMARY KEY's, whose tree holds the rows unless it is deferrable.
    pub primary: bool,
    /// The constraint it stands for (`pg_constraint` row and name), if it was made by one.
    pub constraint: Option<(Oid, Arc<str>)>,
    /// WITH (...) options as given.
    pub options: Vec<(String, String)>,
    /// The expressions among its keys: [`IndexColumn::expression`] says which.
    pub expressions: Vec<IndexExpression>,
    /// INCLUDE: columns that belong to it without being keys.
    pub include: Vec<usize>,
    /// WHERE: it has entries only for rows of which this expression over the table is true.
    pub filter: Option<Expression>,
    /// UNIQUE NULLS NOT DISTINCT.
    pub nulls_not_distinct: bool,
    /// Who writes and reads it.
    pub state: IndexState,
    /// When its constraint is checked.
    pub deferral: Deferral,
    /// Its table was last clustered by it, or is to be.
    pub clustered: bool,
    /// By its key changes are followed: REPLICA IDENTITY USING INDEX.
    pub replica_identity: bool,
}

/// What of an old row is told to who follows changes: REPLICA IDENTITY.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ReplicaIdentity {
    /// The primary key, if there is one.
    #[default]
    Default,
    /// Nothing.
    Nothing,
    /// All of it.
    Full,
    /// The key of the index that says so.
    Index,
}

impl ReplicaIdentity {
    /// `pg_class.relreplident`.
    #[must_use]
    pub fn letter(self) -> char {
        match self {
            ReplicaIdentity::Default => 'd',
            ReplicaIdentity::Nothing => 'n',
            ReplicaIdentity::Full => 'f',
            ReplicaIdentity::Index => 'i',
        }
    }
}

/// How far an index is usable: not before CREATE INDEX CONCURRENTLY has ended, nor where that has failed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum IndexState {
    /// It has an entry for every row that it should.
    #[default]
    Valid,
    /// Who changes rows writes their entries, but those of older rows may be missing: nobody reads it.
    Written,
    /// Nobody writes or reads it.
    Unwritten,
}

/// An expression among the keys of an index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IndexExpression {
    /// Over the table's columns.
    pub value: Expression,
    /// The name of its column: that of a function, or `expr`.
    pub name: Arc<str>,
    /// Its type.
    pub ty: SqlType,
    /// Its collation's OID; 0 where its type has none.
    pub collation: Oid,
    /// SET STATISTICS.
    pub statistics: Option<i32>,
}

/// What the numbers of an index's expressions begin at: no table has so many columns.
pub const EXPRESSIONS: usize = 1 << 16;

/// A key column of an index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IndexColumn {
    /// The column, by index; from [`EXPRESSIONS`] on, an expression of the index.
    pub column: usize,
    /// DESC.
    pub descending: bool,
    /// NULLS FIRST.
    pub nulls_first: bool,
    /// Its operator class's `pg_opclass` row; 0: the default one of its type.
    pub class: Oid,
    /// Its collation's OID; 0: that of the column or expression.
    pub collation: Oid,
}

/// A constraint that is not an index's.
#[derive(Clone, Debug)]
pub struct Constraint {
    /// Its `pg_constraint` row.
    pub oid: Oid,
    /// Its name.
    pub name: Arc<str>,
    /// What it demands.
    pub kind: ConstraintKind,
    /// Whether rows that were there before it have been checked (NOT VALID).
    pub validated: bool,
    /// When it is checked.
    pub deferral: Deferral,
}

/// What a constraint demands.
#[derive(Clone, Debug)]
pub enum ConstraintKind {
    /// CHECK.
    Check {
        /// What must not be false, over this relation's columns.
        condition: Expression,
        /// NO INHERIT.
        no_inherit: bool,
    },
    /// FOREIGN KEY.
    ForeignKey(ForeignKey),
}

/// A foreign key.
#[derive(Clone, Debug)]
pub struct ForeignKey {
    /// The referencing columns, by index.
    pub columns: Vec<usize>,
    /// The referenced relation.
    pub references: Oid,
    /// The referenced columns, by index there.
    pub referenced: Vec<usize>,
    /// The unique index there.
    pub index: Oid,
    /// MATCH.
    pub match_type: MatchType,
    /// ON UPDATE.
    pub on_update: Action,
    /// ON DELETE.
    pub on_delete: Action,
    /// The columns, by index, that ON DELETE SET NULL or SET DEFAULT changes; empty: all.
    pub delete_columns: Vec<usize>,
    /// The triggers that PostgreSQL keeps it by.
    pub triggers: KeyTriggers,
}

/// Whether an expression, as it is printed, is one call of a function: a name, and a pair of parentheses around the rest.
#[must_use]
pub fn is_call(text: &str) -> bool {
    let name = name_bytes(text);
    name > 0 && text[name..].starts_with('(') && closes(text, name)
}

/// How many bytes of a text are the name that it begins with: words, quoted or not, with dots between them.
fn name_bytes(text: &str) -> usize {
    let mut quoted = false;
    let ends = |c: char| {
        quoted ^= c == '"';
        !quoted && !c.is_alphanumeric() && !matches!(c, '_' | '$' | '.' | '"')
    };
    text.find(ends).unwrap_or(text.len())
}

/// The key of an index in parentheses, unless it is a call or has them.
fn enclosed(text: &str) -> String {
    match is_call(text) || text.starts_with('(') && closes(text, 0) {
        true => text.to_owned(),
        false => format!("({text})"),
    }
}

/// Whether the parenthesis that opens at `open` is closed by the text's last character.
fn closes(text: &str, open: usize) -> bool {
    let (mut depth, mut quote) = (0, None);
    for (at, c) in text.char_indices().filter(|(at, _)| *at >= open) {
        match (quote, c) {
            (Some(mark), c) if mark == c => quote = None,
            (Some(_), _) => {}
            (None, '\'' | '"') => quote = Some(c),
            (None, '(') => depth += 1,
            (None, ')') => depth -= 1,
            (None, _) => {}
        }
        if depth == 0 && quote.is_none() {
            return at + 1 == text.len();
        }
    }
    false
}

impl IndexColumn {
    /// A column in the order that it has by itself.
    #[must_use]
    pub fn plain(column: usize) -> IndexColumn {
        let (class, collation) = (Oid(0), Oid(0));
        IndexColumn { column, descending: false, nulls_first: false, class, collation }
    }

    /// Whether it sorts as a constraint's key does.
    #[must_use]
    pub fn is_plain(&self) -> bool {
        *self == IndexColumn::plain(self.column)
    }

    /// Which of its index's expressions it is; none for a column.
    #[must_use]
    pub fn expression(&self) -> Option<usize> {
        self.column.checked_sub(EXPRESSIONS)
    }
}

impl Index {
    /// What it computes, and its predicate.
    pub fn trees(&self) -> impl Iterator<Item = &Expression> {
        self.expressions.iter().map(|made| &made.value).chain(&self.filter)
    }

    /// The same, to be changed.
    pub fn trees_mut(&mut self) -> impl Iterator<Item = &mut Expression> {
        self.expressions.iter_mut().map(|made| &mut made.value).chain(&mut self.filter)
    }

    /// When equal keys meet in it.
    #[must_use]
    pub fn uniqueness(&self) -> Uniqueness {
        let nulls_distinct = !self.nulls_not_distinct;
        match (self.unique, self.deferral.is_deferrable()) {
            (false, _) => Uniqueness::None,
            (true, false) => Uniqueness::Immediate { nulls_distinct },
            (true, true) => Uniqueness::Deferrable { nulls_distinct },
        }
    }

    /// Whether it has an entry for every row that it should, and is read.
    #[must_use]
    pub fn is_valid(&self) -> bool {
        self.state == IndexState::Valid
    }

    /// Whether who changes rows writes their entries.
    #[must_use]
    pub fn is_written(&self) -> bool {
        self.state != IndexState::Unwritten
    }

    /// Whether its tree holds the rows: it is a primary key that is unique at every moment.
    #[must_use]
    pub fn holds_rows(&self) -> bool {
        self.primary && !self.deferral.is_deferrable()
    }

    /// Whether no two rows share a key at any moment.
    #[must_use]
    pub fn is_always_unique(&self) -> bool {
        self.unique && !self.deferral.is_deferrable()
    }

    /// Whether its entries depend on more than columns: it has expressions, or holds only some rows.
    #[must_use]
    pub fn is_computed(&self) -> bool {
        self.filter.is_some() || !self.expressions.is_empty()
    }

    /// Whether its key is these columns, in any order, and it has an entry for every row.
    #[must_use]
    pub fn is_plain_key(&self, columns: &[usize]) -> bool {
        self.is_valid()
            && !self.is_computed()
            && self.columns.iter().all(|key| columns.contains(&key.column))
            && columns.iter().all(|column| self.columns.iter().any(|key| key.column == *column))
    }

    /// The names of its columns, the included ones behind the keys; where one comes again, a number stands behind it.
    #[must_use]
    pub fn column_names(&self, relation: &Relation) -> Vec<String> {
        let keys = self.columns.iter().map(|key| match key.expression() {
            Some(at) => &*self.expressions[at].name,
            None => &*relation.columns[key.column].name,
        });
        let included = self.include.iter().map(|column| &*relation.columns[*column].name);
        numbered(keys.chain(included))
    }

    /// Whether a column is among its keys or its included columns.
    #[must_use]
    pub fn names(&self, column: usize) -> bool {
        self.columns.iter().any(|key| key.column == column) || self.include.contains(&column)
    }
}

/// The names of an index's columns (`ChooseIndexColumnNames`): where one comes again, a number stands behind it.
#[must_use]
pub fn numbered<'n>(columns: impl IntoIterator<Item = &'n str>) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for name in columns {
        let mut own = name.to_owned();
        let mut number = 0;
        while names.contains(&own) {
            number += 1;
            own = format!("{name}{number}");
        }
        names.push(own);
    }
    names
}

impl Relation {
    /// Whether PostgreSQL has a TOAST table for it, with an index that it makes anew, too: a row may be longer than
    /// `TOAST_TUPLE_THRESHOLD`, and there is something in it that can be moved out (`needs_toast_table`).
    #[must_use]
    pub fn is_toasted(&self) -> bool {
        const THRESHOLD_BYTES: usize = 2032;
        const HEADER_BYTES: usize = 24;
        if matches!(self.kind, RelationKind::System) {
            return true;
        }
        let mut bytes = HEADER_BYTES;
        let mut movable = false;
        for column in self.columns.iter().filter(|column| !column.dropped) {
            let limit = usize::try_from(column.ty.typmod).map(|limit| limit.saturating_sub(4));
            let (most, moves) = match (Form::of(column.ty.oid).width(), column.ty.oid.0, limit) {
                (Some(width), ..) => (width, false),
                (None, oids::NAME, _) => (64, false),
                (None, oids::BPCHAR | oids::VARCHAR, Ok(characters)) => (4 + 4 * characters, true),
                (None, oids::NUMERIC, Ok(limit)) => (8 + (limit >> 16) / 2, true),
                _ => return true,
            };
            bytes += most;
            movable |= moves;
        }
        movable && bytes > THRESHOLD_BYTES
    }

    /// The type of an index's key.
    #[must_use]
    pub fn key_type(&self, index: &Index, key: &IndexColumn) -> SqlType {
        match key.expression() {
            Some(at) => index.expressions[at].ty,
            None => self.columns[key.column].ty,
        }
    }

    /// The collation of an index's key.
    #[must_use]
    pub fn key_collation(&self, index: &Index, key: &IndexColumn) -> Oid {
        if key.collation != Oid(0) {
            return key.collation;
        }
        match key.expression() {
            Some(at) => index.expressions[at].collation,
            None => self.columns[key.column].collation,
        }
    }

    /// An index's key by itself: a column's name, or one of the index's expressions as they are shown, in parentheses unless it
    /// is a call.
    #[must_use]
    pub fn key_text(&self, key: &IndexColumn, shown: &[String]) -> String {
        match key.expression() {
            Some(at) => enclosed(&shown[at]),
            None => identifier(&self.columns[key.column].name),
        }
    }

    /// All keys of an index, as messages show them: `a, lower(b)`.
    #[must_use]
    pub fn key_texts(&self, index: &Index, shown: &[String]) -> String {
        let keys = index.columns.iter().map(|key| self.key_text(key, shown));
        keys.collect::<Vec<_>>().join(", ")
    }

    /// WITH CHECK OPTION of a view.
    #[must_use]
    pub fn check_option(&self) -> Option<CheckOption> {
        let (_, value) = self.options.iter().find(|option| option.0 == "check_option")?;
        Some(if value.eq_ignore_ascii_case("local") {
            CheckOption::Local
        } else {
            CheckOption::Cascaded
        })
    }

    /// Whether it is a view that reads with the privileges of whoever asks.
    #[must_use]
    pub fn is_security_invoker(&self) -> bool {
        self.is_on("security_invoker")
    }

    /// Whether it is a view whose rows are hidden from what might tell of them until its own conditions have been asked.
    #[must_use]
    pub fn is_security_barrier(&self) -> bool {
        self.is_on("security_barrier")
    }

    fn is_on(&self, option: &str) -> bool {
        let said = self.options.iter().find(|known| known.0 == option);
        said.and_then(|known| parse_bool(&known.1)).unwrap_or(false)
    }

    /// The tables that its foreign keys refer to.
    pub fn parents(&self) -> impl Iterator<Item = Oid> {
        self.constraints.iter().filter_map(|constraint| match &constraint.kind {
            ConstraintKind::ForeignKey(key) => Some(key.references),
            ConstraintKind::Check { .. } => None,
        })
    }

    /// What table locks on the relation `oid` of `database` stand on.
    #[must_use]
    pub fn lock_of(database: Oid, oid: Oid) -> TableId {
        TableId(u64::from(database.0) << 32 | u64::from(oid.0))
    }

    /// The trees that only this relation names: its rows, its long values, its indexes.
    pub fn trees(&self) -> impl Iterator<Item = TreeId> {
        let own = match self.kind {
            RelationKind::Table { tree, long_values, .. } => [Some(tree), Some(long_values)],
            RelationKind::System
            | RelationKind::View { .. }
            | RelationKind::Sequence(_)
            | RelationKind::Composite => [None, None],
        };
        let indexes =
            self.indexes.iter().filter(|index| !index.holds_rows()).map(|index| index.tree);
        own.into_iter().flatten().chain(indexes)
    }

    /// Whether a tree has its rows.
    #[must_use]
    pub fn has_rows_in(&self, tree: TreeId) -> bool {
        matches!(self.kind, RelationKind::Table { tree: own, .. } if own == tree)
    }

    /// The roles that it depends on: its owner, and whoever has been granted something of it.
    pub(super) fn roles(&self) -> impl Iterator<Item = Oid> {
        let granted = self.acl.iter().flatten().map(|item| item.grantee);
        std::iter::once(self.owner).chain(granted.filter(|role| *role != Oid(0)))
    }

    /// Its constraints, keys and constraint triggers too: what each is called, its OID, and when it is checked.
    pub fn constraint_names(&self) -> impl Iterator<Item = (&Arc<str>, Oid, Deferral)> {
        let keys = self.indexes.iter().filter_map(|index| {
            let (oid, name) = index.constraint.as_ref()?;
            Some((name, *oid, index.deferral))
        });
        let others = self.constraints.iter().map(|found| (&found.name, found.oid, found.deferral));
        let triggers = self.triggers.iter().filter_map(|trigger| {
            let (oid, deferral, _) = trigger.constraint?;
            Some((&trigger.name, oid, deferral))
        });
        keys.chain(others).chain(triggers)
    }

    /// The conditions of its triggers.
    pub fn conditions_mut(&mut self) -> impl Iterator<Item = &mut Expression> {
        self.triggers.iter_mut().filter_map(|trigger| trigger.when.as_mut())
    }

    /// The query of a view or of a materialized one, to be changed.
    pub fn query_mut(&mut self) -> Option<&mut ViewQuery> {
        match (&mut self.kind, &mut self.stored_query) {
            (RelationKind::View { query }, _) => Some(query),
            (_, stored) => stored.as_mut().map(|stored| &mut stored.query),
        }
    }

    /// Every expression over its row, or over none.
    pub fn expressions_mut(&mut self) -> impl Iterator<Item = &mut Expression> {
        let defaults = self.columns.iter_mut().filter_map(|column| column.default.as_mut());
        let checks =
            self.constraints.iter_mut().filter_map(|constraint| match &mut constraint.kind {
                ConstraintKind::Check { condition, .. } => Some(condition),
                ConstraintKind::ForeignKey(_) => None,
            });
        defaults.chain(checks).chain(self.indexes.iter_mut().flat_map(Index::trees_mut))
    }

    /// The query of a view or of a materialized one.
    #[must_use]
    pub fn query(&self) -> Option<&ViewQuery> {
        match &self.kind {
            RelationKind::View { query } => Some(query),
            _ => self.stored_query.as_ref().map(|stored| &stored.query),
        }
    }

    /// The name of its schema, which for the session's temporary relations is `pg_temp` (`get_namespace_name_or_temp`).
    #[must_use]
    pub fn shown_schema(&self) -> &str {
        if self.persistence == 't' { "pg_temp" } else { &self.schema.1 }
    }

    /// Its name with its schema's.
    #[must_use]
    pub fn qualified_name(&self) -> String {
        qualified(self.shown_schema(), &self.name)
    }

    /// `relkind`.
    #[must_use]
    pub fn kind_letter(&self) -> char {
        match self.kind {
            RelationKind::Table { .. } if self.stored_query.is_some() => 'm',
            RelationKind::Table { .. } | RelationKind::System => 'r',
            RelationKind::View { .. } => 'v',
            RelationKind::Sequence(_) => 'S',
            RelationKind::Composite => 'c',
        }
    }

    /// The live column called `name`, by index.
    #[must_use]
    pub fn column(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|column| !column.dropped && &*column.name == name)
    }
}
