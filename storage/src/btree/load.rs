//! Load: a new tree from records in any order, in bounded memory.
//!
//! Records that come in order go straight to the [bulk build](super::bulk); the first that does not, and all behind it,
//! are sorted, and what the build has so far is merged with them at the end. Input in order, like that of hidden row ids
//! or a dump of the table itself, is therefore written once, and anything else once more as runs and once more as pages.

use super::bulk::FILL_PERCENT;
use super::{BulkBuilder, Cursor, Direction, Forest, Tree, node};
use crate::scratch::Scratch;
use crate::sort::{Sorted, SortedRecords, Sorter};
use crate::sync::Arc;
use crate::{Error, Result, TreeId};
use std::ops::Bound;

/// As long as input is in order, so much of it is handed to the build at a time.
const PORTION_BYTES_MAX: usize = 1 << 20;

/// A tree whose records are being collected. Dropped, nothing is left of it.
#[derive(Debug)]
pub struct TreeLoad {
    forest: Arc<Forest>,
    fill_percent: u8,
    portion_bytes: usize,
    sorter: Sorter,
    /// What has come in order, and the last key of it.
    begun: Option<(BulkBuilder, Vec<u8>)>,
}

/// A key that came twice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Duplicate {
    /// The key.
    pub key: Vec<u8>,
    /// The value of the second record that has it.
    pub value: Vec<u8>,
    /// How many records of the load came before that one.
    pub ordinal: u64,
}

/// What a load came to.
#[derive(Debug)]
pub enum Loaded {
    /// A tree, durable, and found by its number. It lives on only if the next recovery is told so.
    Built(Arc<Tree>),
    /// A tree with the first record of each key, for whoever wants to look at it before it is freed. Of all second ones this
    /// came first.
    Duplicate(Duplicate, Arc<Tree>),
}

/// A load whose input has ended, while its tree is built.
#[derive(Debug)]
pub struct Loading {
    builder: BulkBuilder,
    records: SortedRecords,
    /// What came in order before the rest, if the rest is not all behind it.
    earlier: Option<Earlier>,
    last_key: Option<Vec<u8>>,
    duplicate: Option<Duplicate>,
}

/// A tree that is only read to be merged. Dropped, it is freed.
#[derive(Debug)]
struct Earlier {
    forest: Arc<Forest>,
    tree: TreeId,
    cursor: Cursor,
    /// Its next record, and whether there is one.
    key: Vec<u8>,
    value: Vec<u8>,
    there: bool,
}

impl TreeLoad {
    /// A load with leaves filled to `fill_percent`, which holds at most `memory_bytes_max` of records in memory and the rest
    /// in `scratch`.
    #[must_use]
    pub fn new(
        forest: &Arc<Forest>,
        scratch: &Arc<Scratch>,
        memory_bytes_max: usize,
        fill_percent: Option<u8>,
    ) -> TreeLoad {
        TreeLoad {
            forest: Arc::clone(forest),
            fill_percent: fill_percent.unwrap_or(FILL_PERCENT),
            portion_bytes: (memory_bytes_max / 4).min(PORTION_BYTES_MAX),
            sorter: Sorter::new(scratch, memory_bytes_max),
            begun: None,
        }
    }

    /// Takes a record. Keys may come in any order, and only [`TreeLoad::finish`] finds one that came twice.
    ///
    /// # Errors
    /// I/O; [`Error::Full`]; [`Error::TooLarge`].
    pub fn push(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        node::check_record_size(key.len(), value.len(), self.forest.volume().pool.page_bytes())?;
        self.sorter.push(key, value);
        let portion = self.sorter.is_ascending() && !self.sorter.has_spilled();
        if self.sorter.is_full() || (portion && self.sorter.memory_bytes() > self.portion_bytes) {
            self.sorter.sort();
            if self.goes_on() { self.build_portion()? } else { self.sorter.spill()? }
        }
        Ok(())
    }

    /// Whether no record has come.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.sorter.pushed() == 0
    }

    /// Whether what is in memory, now sorted, lies behind everything that has been built, and no key of it came twice.
    fn goes_on(&self) -> bool {
        if self.sorter.has_spilled() {
            return false;
        }
        let Some(first) = self.sorter.records().next() else { return true };
        if self.begun.as_ref().is_some_and(|(_, last)| first.key <= last.as_slice()) {
            return false;
        }
        let records = || self.sorter.records();
        self.sorter.is_ascending()
            || records().zip(records().skip(1)).all(|(one, next)| one.key < next.key)
    }

    fn builder(&self) -> Result<BulkBuilder> {
        BulkBuilder::new(Arc::clone(&self.forest), self.fill_percent)
    }

    fn build_portion(&mut self) -> Result<()> {
        let (mut builder, mut last) = match self.begun.take() {
            Some(begun) => begun,
            None => (self.builder()?, Vec::new()),
        };
        for record in self.sorter.records() {
            builder.push(record.key, record.value)?;
            last.clear();
            last.extend_from_slice(record.key);
        }
        self.sorter.clear();
        self.begun = Some((builder, last));
        Ok(())
    }

    /// Ends the input.
    ///
    /// # Errors
    /// I/O; [`Error::Full`].
    pub fn finish(mut self) -> Result<Loading> {
        self.sorter.sort();
        let goes_on = self.goes_on();
        let begun = self.begun.take();
        let (builder, last_key, earlier) = match begun {
            Some((builder, last)) if goes_on => (builder, Some(last), None),
            Some((builder, _)) => {
                let earlier = Earlier::new(&self.forest, &builder.finish()?)?;
                (self.builder()?, None, Some(earlier))
            }
            None => (self.builder()?, None, None),
        };
        let mut records = self.sorter.finish()?;
        records.advance()?;
        Ok(Loading { builder, records, earlier, last_key, duplicate: None })
    }
}

impl Loading {
    /// Builds on with up to `count` records; false once there are none left.
    ///
    /// # Errors
    /// I/O; [`Error::Full`].
    pub fn advance(&mut self, count: usize) -> Result<bool> {
        let Loading { builder, records, earlier, last_key, duplicate } = self;
        for _ in 0..count {
            let from_earlier = earlier.as_ref().and_then(Earlier::current);
            let from_rest = records.current();
            let takes_earlier = match (&from_earlier, &from_rest) {
                // What was built came before what was sorted.
                (Some(one), Some(other)) => one.key <= other.key,
                (one, _) => one.is_some(),
            };
            let next = if takes_earlier { from_earlier } else { from_rest };
            let Some(record) = next else { return Ok(false) };
            if last_key.as_deref() == Some(record.key) {
                if duplicate.as_ref().is_none_or(|known| record.ordinal < known.ordinal) {
                    let (key, value) = (record.key.to_vec(), record.value.to_vec());
                    *duplicate = Some(Duplicate { key, value, ordinal: record.ordinal });
                }
            } else {
                builder.push(record.key, record.value)?;
                let last = last_key.get_or_insert_default();
                last.clear();
                last.extend_from_slice(record.key);
            }
            match earlier {
                Some(earlier) if takes_earlier => earlier.advance()?,
                _ => records.advance()?,
            }
        }
        Ok(true)
    }

    /// Ends the tree, durably, and hands it out.
    ///
    /// # Errors
    /// I/O; [`Error::Full`]; [`Error::Halted`].
    pub fn finish(mut self) -> Result<Loaded> {
        while self.advance(usize::MAX)? {}
        let tree = self.builder.finish()?;
        Ok(match self.duplicate.take() {
            Some(duplicate) => Loaded::Duplicate(duplicate, tree),
            None => Loaded::Built(tree),
        })
    }
}

impl Earlier {
    fn new(forest: &Arc<Forest>, tree: &Arc<Tree>) -> Result<Earlier> {
        let mut earlier = Earlier {
            forest: Arc::clone(forest),
            tree: tree.id(),
            cursor: tree.cursor(),
            key: Vec::new(),
            value: Vec::new(),
            there: true,
        };
        earlier.cursor.seek(Bound::Unbounded, Bound::Unbounded, Direction::Forward)?;
        earlier.advance()?;
        Ok(earlier)
    }

    fn current(&self) -> Option<Sorted<'_>> {
        // Never the second of a key, so nobody asks for its ordinal.
        self.there.then_some(Sorted { key: &self.key, value: &self.value, ordinal: 0 })
    }

    fn advance(&mut self) -> Result<()> {
        let record = self.cursor.advance()?;
        self.there = record.is_some();
        if let Some(record) = record {
            self.key.clear();
            self.key.extend_from_slice(record.key);
            self.value.clear();
            self.value.extend_from_slice(record.value.unwrap_or_default());
        }
        Ok(())
    }
}

impl Drop for Earlier {
    fn drop(&mut self) {
        // Without room in the log the tree stays until the next recovery, which frees what nobody names.
        let _: std::result::Result<(), Error> = self.forest.free_tree(self.tree);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::btree::tests::{check, fresh, same, tiny};
    use crate::chance::Chance;
    use crate::{DataComponent, Lsn};
    use std::collections::BTreeMap;

    fn load(component: &DataComponent, keys: &[u64]) -> Loaded {
        let mut load = component.tree_load(0, None);
        for key in keys {
            load.push(&key.to_be_bytes(), &value(*key)).unwrap();
        }
        let mut loading = load.finish().unwrap();
        while loading.advance(100).unwrap() {}
        loading.finish().unwrap()
    }

    fn value(key: u64) -> Vec<u8> {
        vec![key as u8; (key * 37 % 90) as usize]
    }

    /// Keys in the order in which they come, and whether the least memory holds them.
    fn orders() -> Vec<Vec<u64>> {
        let mut chance = Chance::new(7);
        let ascending: Vec<u64> = (0..5_000).collect();
        let mut shuffled = ascending.clone();
        for at in (1..shuffled.len()).rev() {
            shuffled.swap(at, chance.below(at as u64 + 1) as usize);
        }
        let mut late = ascending.clone();
        // In order for many pages, and then one that belongs to the beginning.
        late.retain(|key| *key != 3);
        late.push(3);
        let local: Vec<u64> = ascending.chunks(2).flat_map(|two| [two[1], two[0]]).collect();
        vec![Vec::new(), vec![9], vec![2, 1], ascending, shuffled, late, local]
    }

    #[test]
    fn a_load_is_the_tree_of_its_records_in_whatever_order_they_come() {
        let component = fresh(&tiny());
        for keys in orders() {
            let Loaded::Built(tree) = load(&component, &keys) else { panic!("no key came twice") };
            let model: BTreeMap<_, _> = keys
                .iter()
                .map(|key| (key.to_be_bytes().to_vec(), (Lsn::ZERO, Some(value(*key)))))
                .collect();
            same(&tree, &model);
            check(&component);
            component.free_tree(tree.id()).unwrap();
            assert_eq!(component.forest().trees().len(), 0);
            let device = &component.log().environment().device;
            assert_eq!(device.list("scratch/").unwrap(), Vec::<String>::new());
        }
        component.log().wait_durable_end(component.log().tail()).unwrap();
        assert!(component.forest().volume().space.allocated().is_empty());
    }

    #[test]
    fn of_keys_that_came_twice_the_earliest_second_is_told_and_nothing_is_left() {
        let component = fresh(&tiny());
        for mut keys in orders() {
            let Some(first) = keys.first().copied() else { continue };
            let last = keys[keys.len() - 1];
            let ordinal = keys.len() as u64;
            // A second key of the greatest comes before one of the least.
            keys.extend([last, first]);
            let Loaded::Duplicate(duplicate, firsts) = load(&component, &keys) else {
                panic!("two keys came twice")
            };
            component.free_tree(firsts.id()).unwrap();
            let (key, value) = (last.to_be_bytes().to_vec(), value(last));
            assert_eq!(duplicate, Duplicate { key, value, ordinal });
            assert_eq!(component.forest().trees().len(), 0);
        }
        drop(component.tree_load(0, Some(50)));
        let mut begun = component.tree_load(0, Some(50));
        for key in 0..2_000u64 {
            begun.push(&key.to_be_bytes(), &[]).unwrap();
        }
        drop(begun);
        assert!(component.forest().volume().space.allocated().is_empty());
    }

    #[test]
    fn leaves_are_as_full_as_they_are_asked_to_be() {
        let component = fresh(&tiny());
        let pages = |percent| {
            let mut load = component.tree_load(0, Some(percent));
            for key in 0..5_000u64 {
                load.push(&key.to_be_bytes(), &[7; 40]).unwrap();
            }
            let Loaded::Built(tree) = load.finish().unwrap().finish().unwrap() else {
                panic!("no key came twice")
            };
            let pages = component.forest().volume().space.allocated().len();
            component.free_tree(tree.id()).unwrap();
            pages
        };
        let (half, full) = (pages(50), pages(100));
        assert!(half * 10 > full * 18 && half * 10 < full * 22, "{half} and {full} pages");
    }

    #[test]
    fn records_of_a_build_are_as_old_as_the_tree() {
        let component = fresh(&tiny());
        let Loaded::Built(tree) = load(&component, &[1, 2, 3]) else { panic!("no key came twice") };
        tree.set_birth(Lsn(77));
        let mut found = crate::RecordBuffer::default();
        assert!(tree.get(&2u64.to_be_bytes(), &mut found).unwrap());
        assert_eq!(found.lsn(), Lsn(77));
        let mut cursor = tree.cursor();
        cursor.seek(Bound::Unbounded, Bound::Unbounded, Direction::Forward).unwrap();
        assert_eq!(cursor.advance().unwrap().map(|record| record.lsn), Some(Lsn(77)));
    }
}
