//! The offline check of what SQL knows: that tables and their indexes tell the same story.
//!
//! Below, every page has been found well formed and every tree whole. Here each row is decoded, must lie under the key
//! its columns make, must have all pieces of its long values, and must have its entry in every index; each index must have
//! as many entries as the table has rows, those that its predicate holds for. Different rows have different entries, so where nothing is missing and the
//! numbers agree, every entry has its row too, and equal keys of a unique index cannot be there twice. Only where
//! something is wrong is each entry led back to its row, to name it.
//!
//! A definition whose tree is not there is told by its name; a tree that no definition names by its number, where the directory
//! had been closed: a crash leaves trees that were being built.
//!
//! The latest state is read. Nobody else is at work, so that is what is committed.

use crate::catalog::{CatalogSnapshot, ClusterSnapshot, Index, Relation, RelationKind};
use crate::ddl::Semantics;
use crate::ddl::build::KeyFunction;
use crate::engine::{Engine, EngineOptions};
use crate::error::{Result, SqlError};
use crate::exec::index_keys::key_value;
use crate::exec::write::encode_key;
use crate::session::semantics::with_semantics;
use crate::settings::session::Settings;
use crate::sqlstate::SqlState;
use crate::tuple::long_value::{LongValue, Stored};
use crate::tuple::{Heap, KeyLayout, RowBuf, RowLayout, entry};
use std::collections::{BTreeSet, HashMap};
use std::ops::Bound;
use std::sync::Arc;
use txn::{
    Begin, DataComponent, Direction, Environment, KeyRange, Manager, OverlayDevice, ReadView,
    RecordBuffer, RecordView, SessionWait, StorageError, Transaction, Tree, TreeId,
};

/// How many problems of one table are told.
const PROBLEMS_MAX: usize = 100;

const EVERYTHING: KeyRange<'_> = KeyRange { low: Bound::Unbounded, high: Bound::Unbounded };

impl Engine {
    /// Verifies a directory that nobody serves, without changing a byte of it, and says what is wrong, a line each: the
    /// control file and the log, then the state that a start would begin with. That state is made in memory, by
    /// recovery on an overlay over the directory, so a directory whose server has died is checked as well as one that
    /// was closed.
    ///
    /// # Errors
    /// I/O; 55000 for a directory that is no database, or one of another format.
    pub fn verify(env: &Environment, options: EngineOptions) -> Result<Vec<String>> {
        if !DataComponent::exists(&*env.device)? {
            let what = "the directory is not an Atoll database".to_owned();
            return Err(StorageError::Refused(what).into());
        }
        let mut problems = Vec::new();
        match txn::verify_log(&*env.device) {
            Ok(_) => {}
            Err(damage @ (StorageError::Corrupt(..) | StorageError::CorruptLog(_))) => {
                problems.push(format!("log: {damage}"));
            }
            Err(error) => return Err(error.into()),
        }
        let device = Arc::new(OverlayDevice::new(Arc::clone(&env.device))?);
        let overlay = Environment { device, ..env.clone() };
        let engine = match Engine::open(overlay, options) {
            Ok(engine) => engine,
            Err(error) if error.state() == SqlState::DATA_CORRUPTED => {
                problems.push(format!("recovery: {}", error.fields().message));
                return Ok(problems);
            }
            Err(error) => return Err(error),
        };
        problems.extend(engine.check()?);
        // It ends what runs in the background; what it writes goes to memory, and where damage keeps it from that, the
        // damage has been told.
        let _ = engine.close();
        Ok(problems)
    }

    /// Verifies every page of every tree, and that tables and their indexes agree, while nobody else is at work; says what
    /// is wrong, a line each. Ends background work first: a tree must not change while it is walked.
    ///
    /// # Errors
    /// I/O.
    pub fn check(self: &Arc<Engine>) -> Result<Vec<String>> {
        self.manager().quiesce();
        let cluster = self.catalog().current();
        let names = tree_names(&cluster);
        let problems = self.manager().data().forest().check().map_err(txn::Error::from)?;
        let named =
            problems.iter().map(|problem| match problem.tree.and_then(|tree| names.get(&tree)) {
                Some(name) => format!("{name}: {problem}"),
                None => problem.to_string(),
            });
        let mut problems: Vec<String> = named.collect();
        let settings = Settings::new(self.server_settings());
        problems.extend(with_semantics(self, &settings, |semantics| {
            tables(self.manager(), &cluster, semantics)
        })?);
        let strays = self.manager().strays().iter();
        problems.extend(
            strays.map(|tree| format!("tree {}: no table or index is defined on it", tree.0)),
        );
        Ok(problems)
    }
}

/// What users call the tree of each table, of its long values and of its indexes.
fn tree_names(cluster: &ClusterSnapshot) -> HashMap<TreeId, String> {
    let mut names = HashMap::new();
    each_relation(cluster, &mut |database, relation| {
        let table = table_name(database, relation);
        if let RelationKind::Table { tree, long_values, .. } = relation.kind {
            names.insert(tree, table.clone());
            names.insert(long_values, format!("{table}, long values"));
        }
        for index in relation.indexes.iter().filter(|index| !index.holds_rows()) {
            names.insert(index.tree, index_name(&table, index));
        }
    });
    names
}

/// Checks every table of every database, and says what is wrong, a line each.
///
/// # Errors
/// I/O.
fn tables(
    manager: &Arc<Manager>,
    cluster: &ClusterSnapshot,
    semantics: &dyn Semantics,
) -> Result<Vec<String>> {
    let mut relations = Vec::new();
    for database in cluster.shared().databases() {
        let Some(snapshot) = cluster.database(database.oid) else { continue };
        let found = snapshot.relations().map(Arc::clone).collect::<Vec<_>>();
        let snapshot = Arc::new(snapshot);
        for relation in found {
            let name = table_name(&database.name, &relation);
            relations.push((name, Arc::clone(&snapshot), relation));
        }
    }
    let mut found = Vec::new();
    for (name, snapshot, relation) in relations {
        let mut problems = Problems { table: name, told: Vec::new(), left_out: 0 };
        if let Err(error) = check_table(manager, &relation, (semantics, &snapshot), &mut problems) {
            problems.damage(error)?;
        }
        if problems.left_out > 0 {
            let left_out = problems.left_out;
            problems.told.push(format!("{}: {left_out} problems more", problems.table));
        }
        found.extend(problems.told);
    }
    Ok(found)
}

fn each_relation(cluster: &ClusterSnapshot, each: &mut dyn FnMut(&str, &Arc<Relation>)) {
    for database in cluster.shared().databases() {
        let Some(snapshot) = cluster.database(database.oid) else { continue };
        for relation in snapshot.relations() {
            each(&database.name, relation);
        }
    }
}

fn table_name(database: &str, relation: &Relation) -> String {
    format!("table {database}.{}.{}", relation.schema.1, relation.name)
}

fn index_name(table: &str, index: &Index) -> String {
    format!("{table}, index {}", index.name)
}

/// A key as bytea shows it.
fn hex(key: &[u8]) -> String {
    use std::fmt::Write;
    let mut text = String::from("\\x");
    for byte in key {
        let _ = write!(text, "{byte:02x}");
    }
    text
}

/// What is wrong with one table.
struct Problems {
    table: String,
    told: Vec<String>,
    left_out: usize,
}

impl Problems {
    fn tell(&mut self, index: Option<&Index>, what: &str) {
        if self.told.len() >= PROBLEMS_MAX {
            self.left_out += 1;
            return;
        }
        self.told.push(match index {
            None => format!("{}: {what}", self.table),
            Some(index) => format!("{}: {what}", index_name(&self.table, index)),
        });
    }

    /// Takes an error that says what is wrong with the directory; passes others on.
    fn damage(&mut self, error: SqlError) -> Result<()> {
        if ![SqlState::DATA_CORRUPTED, SqlState::INTERNAL_ERROR].contains(&error.state()) {
            return Err(error);
        }
        self.tell(None, &error.fields().message);
        Ok(())
    }
}

/// A table, and how its rows are read.
struct Table<'r> {
    relation: &'r Relation,
    layout: RowLayout,
    rows: Arc<Tree>,
    key: Option<KeyLayout>,
    long_values: Arc<Tree>,
    indexes: Vec<Secondary<'r>>,
}

struct Secondary<'r> {
    index: &'r Index,
    layout: KeyLayout,
    tree: Arc<Tree>,
    /// What it computes of a row.
    keys: KeyFunction<'r>,
    /// How many rows it should have entries for.
    rows: u64,
    /// Whether a row's entry was missing or another's.
    suspect: bool,
}

/// A row, decoded.
#[derive(Default)]
struct Row {
    columns: RowBuf,
    long: Vec<LongValue>,
    heap: Heap,
}

impl Table<'_> {
    fn read(
        &self,
        transaction: &mut Transaction,
        (record, view): (&[u8], RecordView),
        into: &mut Row,
    ) -> Result<()> {
        into.columns.clear();
        into.long.clear();
        let stored = Stored { record, view, long_values: self.long_values.id() };
        let mut image = Vec::new();
        let record = stored.open(transaction, &self.layout, &mut image)?;
        into.long.extend(record.image);
        for column in 0..self.layout.len() {
            into.heap.clear();
            let long = &mut into.long;
            let value =
                record.read(transaction, column, &mut into.heap, |value| long.push(value))?;
            into.columns.push(into.heap.view(&value));
        }
        Ok(())
    }
}

fn check_table(
    manager: &Arc<Manager>,
    relation: &Relation,
    (semantics, snapshot): (&dyn Semantics, &CatalogSnapshot),
    problems: &mut Problems,
) -> Result<()> {
    let RelationKind::Table { tree, key, long_values } = &relation.kind else { return Ok(()) };
    let tree_of = |id: TreeId| manager.data().tree(id).map_err(txn::Error::from);
    let mut table = Table {
        relation,
        layout: relation.row_layout(),
        rows: tree_of(*tree)?,
        key: (!key.is_empty()).then(|| relation.key_layout(key)),
        long_values: tree_of(*long_values)?,
        indexes: Vec::new(),
    };
    for index in relation.indexes.iter().filter(|index| !index.holds_rows()) {
        match tree_of(index.tree) {
            // An index whose making has failed is read by nobody.
            Ok(_) if !index.is_valid() => {}
            Ok(tree) => {
                let layout = relation.index_layout(index);
                let keys = KeyFunction::new(semantics, snapshot, relation, index)?;
                table.indexes.push(Secondary {
                    index,
                    layout,
                    tree,
                    keys,
                    rows: 0,
                    suspect: false,
                });
            }
            Err(error) => problems.tell(Some(index), &error.to_string()),
        }
    }
    let wait = Arc::new(SessionWait::new(0));
    let mut transaction = manager.begin(Begin::default(), &wait);
    transaction.begin_statement()?;
    let mut long_ids = BTreeSet::new();
    check_rows(&mut transaction, &mut table, &mut long_ids, problems)?;
    for at in 0..table.indexes.len() {
        if let Err(error) = check_entries(&mut transaction, &mut table, at, problems) {
            problems.damage(error)?;
        }
    }
    check_long_values(&mut transaction, &table, &long_ids, problems)
}

/// Every row is whole and has its entries.
fn check_rows(
    transaction: &mut Transaction,
    table: &mut Table<'_>,
    long_ids: &mut BTreeSet<u64>,
    problems: &mut Problems,
) -> Result<()> {
    let mut row = Row::default();
    let (mut key, mut value, mut record) = (Vec::new(), Vec::new(), Vec::new());
    let (mut row_key, mut found) = (Vec::new(), RecordBuffer::default());
    let tree = Arc::clone(&table.rows);
    let mut scan = transaction.scan(&ReadView::LATEST, &tree, EVERYTHING, Direction::Forward)?;
    while let Some(stored) = scan.advance(transaction)? {
        row_key.clear();
        row_key.extend_from_slice(stored.key);
        record.clear();
        record.extend_from_slice(stored.value);
        let shown = (&record[..], stored.view);
        if let Err(error) = table.read(transaction, shown, &mut row) {
            if error.state() != SqlState::DATA_CORRUPTED {
                return Err(error);
            }
            problems.tell(None, &format!("row {}: {}", hex(&row_key), error.fields().message));
            continue;
        }
        long_ids.extend(row.long.iter().map(|long| long.id));
        if let Some(layout) = &table.key {
            key.clear();
            encode_key(layout, &row.columns, &mut key)?;
            if key != row_key {
                let (at, own) = (hex(&row_key), hex(&key));
                problems.tell(None, &format!("row {at} lies there, and its columns make {own}"));
            }
        }
        for one in &mut table.indexes {
            let Some(computed) = one.keys.values(&row.columns)? else { continue };
            one.rows += 1;
            let column = |at: usize| key_value(&row.columns, Some(&computed), at);
            let unique = one.index.uniqueness();
            entry::write(&one.layout, unique, column, &row_key, &mut key, &mut value)?;
            let there = transaction.get(&ReadView::LATEST, &one.tree, &key, &mut found)?;
            if there && found.value() == Some(value.as_slice()) {
                continue;
            }
            one.suspect = true;
            let row = hex(&row_key);
            let other = found.value().and_then(|value| entry::row_key(&key, value).ok());
            problems.tell(
                Some(one.index),
                &match other.filter(|_| there) {
                    None => format!("row {row} has no entry"),
                    Some(other) => format!("the entry of row {row} leads to row {}", hex(other)),
                },
            );
        }
    }
    Ok(())
}

/// An index has as many entries as the table has rows; if not, each entry is led back to its row.
fn check_entries(
    transaction: &mut Transaction,
    table: &mut Table<'_>,
    at: usize,
    problems: &mut Problems,
) -> Result<()> {
    let (one, rows) = (&table.indexes[at], table.indexes[at].rows);
    let mut entries = 0;
    let mut scan =
        transaction.scan(&ReadView::LATEST, &one.tree, EVERYTHING, Direction::Forward)?;
    while scan.advance(transaction)?.is_some() {
        entries += 1;
    }
    if entries == rows && !one.suspect {
        return Ok(());
    }
    if entries != rows {
        let name = &table.relation.name;
        let what = match one.index.filter {
            None => format!("it has {entries} entries, and {name} has {rows} rows"),
            Some(_) => format!("it has {entries} entries, and {name} has {rows} rows for it"),
        };
        problems.tell(Some(one.index), &what);
    }
    let (mut row, mut found) = (Row::default(), RecordBuffer::default());
    let (mut key, mut value) = (Vec::new(), Vec::new());
    let tree = Arc::clone(&one.tree);
    let mut scan = transaction.scan(&ReadView::LATEST, &tree, EVERYTHING, Direction::Forward)?;
    while let Some(stored) = scan.advance(transaction)? {
        let one = &table.indexes[at];
        let (entry_key, entry_value) = (stored.key.to_vec(), stored.value.to_vec());
        let name = hex(&entry_key);
        let row_key = match entry::row_key(&entry_key, &entry_value) {
            Ok(row_key) => row_key,
            Err(error) => {
                let what = format!("entry {name}: {}", error.fields().message);
                problems.tell(Some(one.index), &what);
                continue;
            }
        };
        if !transaction.get(&ReadView::LATEST, &table.rows, row_key, &mut found)? {
            let what = format!("entry {name} leads to row {}, which is not there", hex(row_key));
            problems.tell(Some(one.index), &what);
            continue;
        }
        let record = (found.value().unwrap_or_default(), found.view());
        // A row that cannot be read has been told of.
        if table.read(transaction, record, &mut row).is_err() {
            continue;
        }
        let one = &mut table.indexes[at];
        let index = one.index;
        let Some(computed) = one.keys.values(&row.columns)? else {
            let row = hex(row_key);
            let what = format!("entry {name} leads to row {row}, which it should not have");
            problems.tell(Some(index), &what);
            continue;
        };
        let column = |at: usize| key_value(&row.columns, Some(&computed), at);
        entry::write(&one.layout, index.uniqueness(), column, row_key, &mut key, &mut value)?;
        if key != entry_key {
            let what = format!("entry {name} leads to row {} of other columns", hex(row_key));
            problems.tell(Some(one.index), &what);
        }
    }
    Ok(())
}

/// Every piece of a long value belongs to a row.
fn check_long_values(
    transaction: &mut Transaction,
    table: &Table<'_>,
    known: &BTreeSet<u64>,
    problems: &mut Problems,
) -> Result<()> {
    let mut last = None;
    let tree = &table.long_values;
    let mut scan = transaction.scan(&ReadView::LATEST, tree, EVERYTHING, Direction::Forward)?;
    while let Some(piece) = scan.advance(transaction)? {
        let id = piece.key.first_chunk().copied().map(u64::from_be_bytes);
        if id != last && id.is_none_or(|id| !known.contains(&id)) {
            problems.tell(None, &format!("long value {} belongs to no row", hex(piece.key)));
        }
        last = id;
    }
    Ok(())
}
