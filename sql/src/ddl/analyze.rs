//! ANALYZE: a table's statistics, from a random sample of its rows.
//!
//! PostgreSQL's method (`analyze.c`): 300 rows of sample for each unit of the statistics target, here 30,000; distinct
//! values by the estimator of Haas and Stokes (IBM Research Report RJ 10025, 1998) from how many values occur once; the most
//! common values as far as they are common enough to say something; an equi-depth histogram of the rest. Difference: rows
//! are counted exactly, because the sample is drawn by reading the table once (Vitter's reservoir, algorithm R) instead of
//! by jumping to random pages.

use super::Ddl;
use super::build::{Columns, each_row_beside_writers};
use super::resolve::undefined_table;
use super::value_text::shown;
use crate::catalog::Named;
use crate::catalog::object::{Class, Object, well_known};
use crate::catalog::relation::{Column, Relation, RelationKind};
use crate::catalog::statistics::{ColumnStatistics, TableStatistics};
use crate::error::{Result, SqlError};
use crate::parse::ast::{Ident, TableColumns};
use crate::progress::Command;
use crate::sqlstate::SqlState;
use crate::tuple::{Form, KeyColumn, RowBuf};
use crate::types::Oid;
use std::sync::Arc;
use txn::{TableLock, WaitPolicy};

/// Rows in the sample for each common value and histogram bound that is to be kept.
const ROWS_PER_TARGET: usize = 300;
/// The figures of `pg_stat_progress_analyze`, by number, and the phases that it tells of.
const PHASE: usize = 1;
const PAGES: usize = 2;
const SAMPLED: usize = 3;
const ACQUIRING: i64 = 1;
const COMPUTING: i64 = 3;
/// Values wider than this are counted, but not kept.
const WIDTH_MAX: usize = 1024;

/// ANALYZE, and the half of VACUUM ANALYZE, of a table that is locked.
///
/// # Errors
/// Storage's.
pub fn analyze(ddl: &mut Ddl<'_>, relation: &Arc<Relation>, verbose: bool) -> Result<()> {
    if verbose {
        ddl.inform(format!("analyzing \"{}.{}\"", relation.schema.1, relation.name));
    }
    let (statistics, sampled) = sample(ddl, relation)?;
    let rows = statistics.rows as u64;
    if verbose {
        let (name, pages) = (&relation.name, statistics.pages);
        ddl.inform(format!(
            "\"{name}\": scanned {pages} of {pages} pages, containing {rows} live rows and 0 dead rows; \
             {sampled} rows in sample, {rows} estimated total rows"
        ));
    }
    keep_statistics(ddl, relation, statistics)?;
    ddl.counts.analyzed(relation.oid, rows, ddl.now());
    Ok(())
}

/// These are the statistics of a table from now on.
pub(super) fn keep_statistics(
    ddl: &mut Ddl<'_>,
    relation: &Relation,
    statistics: TableStatistics,
) -> Result<()> {
    let key = ddl.catalog.key(Class::Statistics, relation.oid);
    ddl.catalog.lock(ddl.transaction, key)?;
    let before = ddl.snapshot().object(key);
    let after = Some(Object::Statistics(Arc::new(statistics)));
    ddl.catalog.change(ddl.transaction, key, before.as_ref(), after)
}

/// A table that VACUUM or ANALYZE is to work on.
pub struct Chosen {
    oid: Oid,
    is_index: bool,
    /// As the statement calls it; whether it does.
    name: Arc<str>,
    is_named: bool,
    columns: Vec<Ident>,
}

/// The tables that VACUUM and ANALYZE name; all of the current user's if none is named.
///
/// # Errors
/// 42P01.
pub(super) fn chosen(
    ddl: &mut Ddl<'_>,
    tables: &[TableColumns],
    skips_locked: bool,
) -> Result<Vec<Chosen>> {
    if tables.is_empty() {
        let snapshot = ddl.snapshot();
        let own = snapshot.relations().filter(|relation| snapshot.owns(ddl.user, relation.owner));
        let all = own.map(|own| Chosen {
            oid: own.oid,
            is_index: false,
            name: Arc::clone(&own.name),
            is_named: false,
            columns: Vec::new(),
        });
        return Ok(all.collect());
    }
    let mut chosen = Vec::new();
    for table in tables {
        let name = &table.table;
        let found = match skips_locked {
            true => ddl.lookup(name)?,
            false => ddl.lock_named(name, TableLock::AccessShare)?.map(|found| found.0),
        };
        let found = found.ok_or_else(|| undefined_table(name))?;
        let (Named::Relation(oid) | Named::Index { table: oid, .. }) = found;
        chosen.push(Chosen {
            oid,
            is_index: matches!(found, Named::Index { .. }),
            name: Arc::clone(name.name()),
            is_named: true,
            columns: table.columns.clone(),
        });
    }
    Ok(chosen)
}

/// One of them, locked. What the user does not own, what has gone, or what somebody has locked where `skips_locked`, is passed over
/// with a warning.
///
/// # Errors
/// 42703, 42701.
pub(super) fn maintained(
    ddl: &mut Ddl<'_>,
    chosen: &Chosen,
    verb: &str,
    skips_locked: bool,
) -> Result<Option<Arc<Relation>>> {
    let Chosen { oid, is_index, name, is_named, columns } = chosen;
    if skips_locked && ddl.is_locked(*oid)? {
        ddl.skip_locked(name, verb);
        return Ok(None);
    }
    let Some(relation) = super::reindex::lock_again(ddl, *oid, TableLock::AccessShare)? else {
        ddl.skip_gone(chosen, verb);
        return Ok(None);
    };
    if let Some(who) = maintainers(ddl, &relation) {
        let message = format!("skipping \"{name}\" --- only {who} can {verb} it");
        ddl.notices.push(SqlError::warning(SqlState::WARNING, message));
        return Ok(None);
    }
    if *is_index || !matches!(relation.kind, RelationKind::Table { .. }) {
        if *is_named && !matches!(relation.kind, RelationKind::System) {
            let message = format!(
                "skipping \"{name}\" --- cannot {verb} non-tables or special system tables"
            );
            ddl.notices.push(SqlError::warning(SqlState::WARNING, message));
        }
        return Ok(None);
    }
    for (place, column) in columns.iter().enumerate() {
        super::resolve::column(&relation, column)?;
        if columns[..place].contains(column) {
            let message = format!(
                "column \"{column}\" of relation \"{}\" appears more than once",
                relation.name
            );
            return Err(SqlError::new(SqlState::DUPLICATE_COLUMN, message));
        }
    }
    let mode = TableLock::ShareUpdateExclusive;
    let policy = if skips_locked { WaitPolicy::Skip } else { WaitPolicy::Block };
    if !ddl.transaction.lock_table(relation.lock, mode, policy)? {
        ddl.skip_locked(&relation.name, verb);
        return Ok(None);
    }
    let found = ddl.relation(relation.oid);
    if found.is_none() {
        ddl.skip_gone(chosen, verb);
    }
    Ok(found)
}

impl Ddl<'_> {
    /// Whether somebody keeps even readers out of a relation.
    fn is_locked(&mut self, oid: Oid) -> Result<bool> {
        let Some(relation) = self.relation(oid) else { return Ok(false) };
        let (mode, policy) = (TableLock::AccessShare, WaitPolicy::Skip);
        Ok(!self.transaction.lock_table(relation.lock, mode, policy)?)
    }

    fn skip_gone(&mut self, chosen: &Chosen, verb: &str) {
        if chosen.is_named {
            let message =
                format!("skipping {verb} of \"{}\" --- relation no longer exists", chosen.name);
            self.notices.push(SqlError::warning(SqlState::UNDEFINED_TABLE, message));
        }
    }

    fn skip_locked(&mut self, name: &str, verb: &str) {
        let message = format!("skipping {verb} of \"{name}\" --- lock not available");
        self.notices.push(SqlError::warning(SqlState::LOCK_NOT_AVAILABLE, message));
    }
}

/// Who could look after a relation that the current user may not; none if the user may.
fn maintainers(ddl: &mut Ddl<'_>, relation: &Relation) -> Option<&'static str> {
    let (snapshot, user) = (ddl.snapshot(), ddl.user);
    let shared = well_known::SHARED_RELATIONS.contains(&relation.oid.0);
    if snapshot.owns(user, relation.owner)
        || !shared && snapshot.owns(user, well_known::DATABASE_OWNER)
    {
        return None;
    }
    Some(match relation.oid.0 < well_known::FIRST_NORMAL {
        _ if shared => "superuser",
        true => "superuser or database owner",
        false => "table or database owner",
    })
}

/// xorshift64*: which rows the reservoir keeps. Any sequence would do; this one is the same for the same seed.
struct Chance(u64);

impl Chance {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) % limit
    }
}

/// A table's statistics, and of how many rows they are made.
fn sample(ddl: &mut Ddl<'_>, relation: &Relation) -> Result<(TableStatistics, usize)> {
    let seed = ddl.transaction.manager().environment().seed ^ u64::from(relation.oid.0);
    let mut chance = Chance(seed | 1);
    let mut rows: Vec<(u64, RowBuf)> = Vec::new();
    let (mut count, mut bytes) = (0_u64, 0_u64);
    let page_bytes = u64::from(ddl.transaction.manager().data().page_bytes());
    let progress = ddl.progress;
    let pages = ddl.pages_of(relation);
    let target_of = |column: &Column| {
        let own = column.properties.statistics.filter(|own| *own >= 0);
        own.map_or(ddl.statistics_target, |own| own.unsigned_abs() as usize)
    };
    let targets: Vec<usize> = relation.columns.iter().map(target_of).collect();
    // A table without columns is counted all the same.
    let sample_rows = ROWS_PER_TARGET * targets.iter().copied().max().unwrap_or(0).max(1);
    progress.begin(Command::Analyze, relation.oid, &[(PHASE, ACQUIRING), (PAGES, pages)]);
    each_row_beside_writers(
        ddl.transaction,
        relation,
        Columns::All,
        &mut |_, key, record, row| {
            bytes += (key.len() + record.len()) as u64;
            progress.set(SAMPLED, (bytes / page_bytes).min(pages.cast_unsigned()).cast_signed());
            let mut kept = RowBuf::new();
            if rows.len() < sample_rows {
                kept.copy_from(row);
                rows.push((count, kept));
            } else {
                let place = chance.below(count + 1) as usize;
                if place < sample_rows {
                    kept.copy_from(row);
                    rows[place] = (count, kept);
                }
            }
            count += 1;
            Ok(())
        },
    )?;
    progress.set(SAMPLED, pages);
    progress.set(PHASE, COMPUTING);
    // Correlation compares the values' order with the rows'.
    rows.sort_by_key(|row| row.0);
    let columns = relation
        .columns
        .iter()
        .enumerate()
        .map(|(at, column)| {
            let target = targets[at];
            let analyzed = !column.dropped && column.ty.oid.0 != 0 && target > 0;
            let found = || column_statistics(relation, at, &rows, count as f64, target);
            analyzed.then(found).flatten()
        })
        .collect();
    let pages = u32::try_from(bytes.div_ceil(page_bytes)).unwrap_or(u32::MAX);
    Ok((TableStatistics { rows: count as f64, pages, columns }, rows.len()))
}

/// A value that occurs in the sample.
struct Group {
    /// How often.
    count: usize,
    /// A row that has it.
    row: usize,
}

fn column_statistics(
    relation: &Relation,
    at: usize,
    rows: &[(u64, RowBuf)],
    total: f64,
    target: usize,
) -> Option<ColumnStatistics> {
    let ty = relation.columns[at].ty;
    let part = KeyColumn {
        column: at,
        ty: ty.oid,
        form: Form::of(ty.oid),
        descending: false,
        nulls_first: false,
        nullable: false,
    };
    let mut keys: Vec<(Vec<u8>, usize)> = Vec::new();
    let (mut nulls, mut width, mut stored) = (0_usize, 0_usize, Vec::new());
    for (number, (_, row)) in rows.iter().enumerate() {
        let datum = row.get(at);
        if datum.is_null() {
            nulls += 1;
            continue;
        }
        stored.clear();
        crate::tuple::row::encode(datum, &mut stored);
        width += stored.len();
        if stored.len() > WIDTH_MAX {
            continue;
        }
        let mut key = Vec::new();
        // A type that has no key has no order, and no statistics beyond this.
        part.encode(datum, &mut key).ok()?;
        keys.push((key, number));
    }
    let sampled = rows.len();
    let present = sampled - nulls;
    if sampled == 0 {
        return None;
    }
    let null_fraction = nulls as f64 / sampled as f64;
    let mean_width = width.checked_div(present).unwrap_or(0);
    let mut statistics = ColumnStatistics {
        null_fraction,
        width: i32::try_from(mean_width).unwrap_or(i32::MAX),
        ..ColumnStatistics::default()
    };
    if keys.is_empty() {
        return Some(statistics);
    }
    statistics.correlation = correlation(&keys);
    keys.sort();
    let mut groups: Vec<Group> = Vec::new();
    for (place, (key, row)) in keys.iter().enumerate() {
        match groups.last_mut() {
            Some(group) if place > 0 && keys[place - 1].0 == *key => group.count += 1,
            _ => groups.push(Group { count: 1, row: *row }),
        }
    }
    statistics.distinct = distinct(&groups, keys.len(), present, total, null_fraction);
    let common =
        common_values((&groups, target), statistics.distinct, sampled, total, null_fraction);
    let text = |row: usize| shown(ty, rows[row].1.get(at));
    statistics.common = common
        .iter()
        .map(|&group| {
            let group = &groups[group];
            (text(group.row), group.count as f64 / sampled as f64)
        })
        .collect();
    // The histogram is over what is left, each value as often as it occurs.
    let rest: Vec<usize> = groups
        .iter()
        .enumerate()
        .filter(|(number, _)| !common.contains(number))
        .flat_map(|(_, group)| std::iter::repeat_n(group.row, group.count))
        .collect();
    let left = groups.len() - common.len();
    let bounds = left.min(target + 1);
    if bounds >= 2 {
        statistics.histogram =
            (0..bounds).map(|bound| text(rest[bound * (rest.len() - 1) / (bounds - 1)])).collect();
    }
    Some(statistics)
}

/// Distinct values in the table: a number, or, negative, a part of its rows.
fn distinct(groups: &[Group], kept: usize, present: usize, total: f64, nulls: f64) -> f64 {
    let repeated = groups.iter().filter(|group| group.count > 1).count();
    let distinct = groups.len() as f64;
    let found = if repeated == 0 {
        // No value was met twice: the column is unique.
        return -(1.0 - nulls);
    } else if repeated == groups.len() && kept == present {
        // Every value was met more than once: there are no others.
        distinct
    } else {
        let once = (groups.len() - repeated) as f64 + (present - kept) as f64;
        let distinct = distinct + (present - kept) as f64;
        let sampled = present as f64;
        let rows = total * (1.0 - nulls);
        let estimate = if rows > 0.0 {
            sampled * distinct / ((sampled - once) + once * sampled / rows)
        } else {
            0.0
        };
        estimate.clamp(distinct, rows.max(distinct)).round()
    };
    // What grows with the table is told as a part of it.
    if found > 0.1 * total { -(found / total) } else { found }
}

/// The groups that are common enough to be worth keeping, most common first (`analyze_mcv_list`).
fn common_values(
    (groups, target): (&[Group], usize),
    distinct: f64,
    sampled: usize,
    total: f64,
    nulls: f64,
) -> Vec<usize> {
    let mut candidates: Vec<usize> =
        (0..groups.len()).filter(|&group| groups[group].count > 1).collect();
    candidates.sort_by_key(|&group| (std::cmp::Reverse(groups[group].count), group));
    let all_known = distinct > 0.0 && groups.len() <= target && candidates.len() == groups.len();
    if all_known {
        return candidates;
    }
    candidates.truncate(target);
    let n = sampled as f64;
    if n >= total || total <= 1.0 {
        return candidates;
    }
    let distinct = if distinct < 0.0 { -distinct * total } else { distinct };
    let mut sum: f64 = candidates
        .iter()
        .take(candidates.len().saturating_sub(1))
        .map(|&group| groups[group].count as f64)
        .sum();
    while let Some(&last) = candidates.last() {
        let count = groups[last].count as f64;
        let mut selectivity = (1.0 - sum / n - nulls).clamp(0.0, 1.0);
        let others = distinct - (candidates.len() - 1) as f64;
        if others > 1.0 {
            selectivity /= others;
        }
        // Two standard deviations of the hypergeometric distribution above what any other value would have.
        let k = total * count / n;
        let variance = n * k * (total - k) * (total - n) / (total * total * (total - 1.0));
        if count > selectivity * n + 2.0 * variance.max(0.0).sqrt() + 0.5 {
            break;
        }
        candidates.pop();
        if let Some(&next) = candidates.last() {
            sum -= groups[next].count as f64;
        }
    }
    candidates
}

/// How far the values' order follows the rows': Pearson's coefficient of the two ranks.
fn correlation(keys: &[(Vec<u8>, usize)]) -> Option<f64> {
    let n = keys.len() as f64;
    if keys.len() < 2 {
        return None;
    }
    let mut order: Vec<usize> = (0..keys.len()).collect();
    order.sort_by(|&a, &b| keys[a].0.cmp(&keys[b].0).then(a.cmp(&b)));
    let products: f64 =
        order.iter().enumerate().map(|(rank, &place)| rank as f64 * place as f64).sum();
    let sum = (n - 1.0) * n / 2.0;
    let squares = (n - 1.0) * n * (2.0 * n - 1.0) / 6.0;
    Some((n * products - sum * sum) / (n * squares - sum * sum))
}

#[cfg(test)]
mod tests {
    /// `default_statistics_target`.
    const TARGET: usize = 100;

    use super::*;
    use crate::catalog::testing::table;
    use crate::types::Datum;

    fn of(values: impl Iterator<Item = Option<i32>>, total: f64) -> ColumnStatistics {
        let rows: Vec<(u64, RowBuf)> = values
            .zip(0..)
            .map(|(value, number)| {
                let mut row = RowBuf::new();
                row.push(value.map_or(Datum::Null, Datum::Int4));
                (number, row)
            })
            .collect();
        column_statistics(&table(20_000), 0, &rows, total, TARGET).unwrap()
    }

    #[test]
    fn a_unique_column_is_unique_and_in_order() {
        let statistics = of((0..1000).map(Some), 1000.0);
        assert_eq!(statistics.distinct, -1.0);
        assert_eq!(statistics.common.len(), 0);
        assert_eq!(statistics.histogram.len(), TARGET + 1);
        assert_eq!((&*statistics.histogram[0], &*statistics.histogram[TARGET]), ("0", "999"));
        assert_eq!(statistics.correlation, Some(1.0));
        assert_eq!(statistics.width, 4);
    }

    #[test]
    fn few_values_are_all_common() {
        let values = (0..1000).map(|n| if n % 10 == 0 { None } else { Some(n % 4) });
        let statistics = of(values, 1000.0);
        assert_eq!(statistics.null_fraction, 0.1);
        assert_eq!(statistics.distinct, 4.0);
        assert_eq!(statistics.common.len(), 4);
        assert!(statistics.histogram.is_empty());
        let sum: f64 = statistics.common.iter().map(|value| value.1).sum();
        assert!((sum - 0.9).abs() < 1e-9);
    }

    #[test]
    fn what_was_met_once_speaks_for_what_was_not_met() {
        // 30,000 rows of 1,000,000 with 10,000 values: most are met about three times.
        let mut chance = Chance(42);
        let statistics =
            of((0..ROWS_PER_TARGET * TARGET).map(|_| Some(chance.below(10_000) as i32)), 1e6);
        assert!((8_500.0..11_500.0).contains(&statistics.distinct), "{}", statistics.distinct);
        // What chance made more common than the rest by more than two deviations is kept, as in PostgreSQL.
        assert!(statistics.common.len() < 60, "{}", statistics.common.len());
    }

    #[test]
    fn a_skewed_column_keeps_what_is_common() {
        let values = (0..10_000).map(|n| Some(if n % 2 == 0 { 7 } else { n }));
        let statistics = of(values, 100_000.0);
        assert_eq!(statistics.common.len(), 1);
        assert_eq!(&*statistics.common[0].0, "7");
        assert!((statistics.common[0].1 - 0.5001).abs() < 1e-9);
        // Haas and Stokes: 10000 * 5000 / (10000 - 4999 + 4999 * 10000 / 100000).
        assert_eq!(statistics.distinct, 9089.0);
    }
}
