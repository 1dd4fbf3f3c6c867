//! All trees of a volume: made, found, freed, swept, redone.

use super::bulk::{BulkBuilder, FILL_PERCENT};
use super::node;
use super::smo::{Actions, IMAGE_OVERHEAD, TreeReader, TreeRedo};
use super::{Tree, verify};
use crate::buffer::{BufferPool, DataFile};
use crate::component::Options;
use crate::page::{Kind, PageBuf};
use crate::planted::{Fault, Planted};
use crate::reserve::credit::Credit;
use crate::space::{EXTENT_PAGES, Grant, Space, TreeSpace, extent_of, pages_of};
use crate::sync::{Arc, RwLock};
use crate::volume::{AbortOnUnwind, Volume};
use crate::wal::{Log, SpaceClass, SpaceReservation};
use crate::{Environment, Error, Lsn, PageId, Result, TreeId};
use rustc_hash::FxHashMap;
use std::collections::HashMap;
use std::sync::PoisonError;

/// The trees of one data file.
#[derive(Debug)]
pub struct Forest {
    volume: Arc<Volume>,
    trees: RwLock<FxHashMap<TreeId, Arc<Tree>>>,
    planted: Planted,
}

impl Forest {
    /// Makes an empty data file. Its name is durable after the device's names are synced.
    ///
    /// # Errors
    /// I/O.
    pub fn create(env: &Environment, page_bytes: u32) -> Result<()> {
        let file = DataFile::open(&*env.device, page_bytes as usize, true, Planted::default())?;
        Space::create(&file)
    }

    /// Opens the data file, which `mend` sees before anybody reads it. Structure redo comes next, then
    /// [`Forest::end_redo`].
    ///
    /// # Errors
    /// I/O; [`Error::Corrupt`].
    pub fn open(
        env: &Environment,
        log: Arc<Log>,
        options: &Options,
        mend: &dyn Fn(&DataFile) -> Result<()>,
    ) -> Result<Forest> {
        let page_bytes = options.page_bytes as usize;
        let file = DataFile::open(&*env.device, page_bytes, false, options.planted)?;
        let file = file.with_log(Arc::clone(&log), options.archive.is_some());
        mend(&file)?;
        let limit = options.data_bytes_max;
        let credit = Credit::new(Arc::clone(&env.device), options.credit_floor());
        let space = Space::open(file.clone(), limit, credit, env.scheduler.slots())?;
        let frames = options.pool_frames;
        let pool = BufferPool::new(env.clone(), Arc::clone(&log), file, frames);
        let volume = Arc::new(Volume::new(log, pool, space, frames, options.cuts_max));
        Ok(Forest { volume, trees: RwLock::default(), planted: options.planted })
    }

    /// What pass one of recovery asks about structure records.
    #[must_use]
    pub fn structure_redo(&self, reader: TreeReader) -> TreeRedo<'_> {
        TreeRedo::new(&self.volume, reader)
    }

    /// After pass one: the trees are well formed and can be found. `gone` has those that were freed, with the records that
    /// freed them.
    pub fn end_redo(&self, gone: &HashMap<TreeId, Lsn>) {
        self.volume.space.free_gone(gone);
        let trees = self.volume.space.end_redo().into_iter().map(|(root, space)| {
            let tree = Tree::new(Arc::clone(&self.volume), root, space);
            (tree.id(), Arc::new(tree))
        });
        *self.trees.write().unwrap_or_else(PoisonError::into_inner) = trees.collect();
    }

    /// A tree by its number.
    ///
    /// # Errors
    /// [`Error::NoTree`].
    pub fn tree(&self, id: TreeId) -> Result<Arc<Tree>> {
        let trees = self.trees.read().unwrap_or_else(PoisonError::into_inner);
        trees.get(&id).cloned().ok_or(Error::NoTree(id))
    }

    /// How many pages the extents of these trees have, used or not.
    #[must_use]
    pub fn owned_pages(&self, trees: &[TreeId]) -> u64 {
        let known = self.trees.read().unwrap_or_else(PoisonError::into_inner);
        trees.iter().filter_map(|id| known.get(id)).map(|tree| tree.space.owned_pages()).sum()
    }

    /// Every tree there is.
    #[must_use]
    pub fn trees(&self) -> Vec<Arc<Tree>> {
        let trees = self.trees.read().unwrap_or_else(PoisonError::into_inner);
        let mut all: Vec<_> = trees.values().cloned().collect();
        all.sort_by_key(|tree| tree.id());
        all
    }

    pub(super) fn enter(&self, tree: Tree) -> Arc<Tree> {
        let tree = Arc::new(tree);
        let mut trees = self.trees.write().unwrap_or_else(PoisonError::into_inner);
        trees.insert(tree.id(), Arc::clone(&tree));
        tree
    }

    /// The data file's space.
    #[must_use]
    pub fn space(&self) -> &Space {
        &self.volume.space
    }

    /// Makes an empty tree, by one structure record.
    ///
    /// # Errors
    /// [`Error::Full`]; I/O.
    pub fn create_tree(&self, grant: Grant) -> Result<Arc<Tree>> {
        let volume = &self.volume;
        let bytes = volume.pool.page_bytes() + IMAGE_OVERHEAD + 64;
        let mut reserved = volume.log.reserve(SpaceClass::System, 1, bytes as u64)?;
        let (root, space) = volume.space.begin_tree(&volume.pool, grant)?;
        let pin = match volume.pool.create(root) {
            Ok(pin) => pin,
            Err(error) => {
                volume.space.free_extents(&space, Lsn::ZERO);
                return Err(error);
            }
        };
        let leaf = empty_root(volume.pool.page_bytes(), root, space.tree());
        let mut guard = pin.exclusive();
        let mut actions = Actions::new(space.tree(), 256);
        actions.allocate(root, true);
        actions.image(leaf.page());
        guard.mark_dirty(volume.log.tail());
        let abort = AbortOnUnwind;
        // The first map keeps the next tree's number.
        let lsn = volume.log_structure(&mut reserved, &actions, &[PageId(0), root]);
        let mut page = guard.page_mut();
        page.copy_from(leaf.page());
        page.set_structure_lsn(lsn);
        volume.space.set_allocated(space.tree(), root, true, lsn)?;
        drop(abort);
        drop(guard);
        drop(pin);
        Ok(self.enter(Tree::new(Arc::clone(volume), root, space)))
    }

    /// Frees a tree that nobody can reach any more, once the collector has left it. Its pages can be allocated when the
    /// record is durable.
    ///
    /// # Errors
    /// [`Error::NoTree`]; [`Error::Full`] for the log.
    pub fn free_tree(&self, id: TreeId) -> Result<()> {
        let reserved = self.volume.log.reserve(SpaceClass::System, 1, 64)?;
        let tree = {
            let mut trees = self.trees.write().unwrap_or_else(PoisonError::into_inner);
            trees.remove(&id).ok_or(Error::NoTree(id))?
        };
        if !self.planted.is(Fault::TreeFreedInUse) {
            tree.end();
        }
        free(&self.volume, &tree.space, reserved);
        Ok(())
    }

    /// Begins to build a tree from sorted records. It is found here once it is finished.
    ///
    /// # Errors
    /// [`Error::Full`]; I/O.
    pub fn bulk_builder(self: &Arc<Self>) -> Result<BulkBuilder> {
        BulkBuilder::new(Arc::clone(self), FILL_PERCENT)
    }

    /// What the trees share.
    #[must_use]
    pub fn volume(&self) -> &Arc<Volume> {
        &self.volume
    }

    /// The sweep of a checkpoint: the lowest LSN from which redo of any page or map has to begin.
    #[must_use]
    pub fn min_recovery_lsn(&self) -> Option<Lsn> {
        let pages = self.volume.pool.min_recovery_lsn();
        pages.into_iter().chain(self.volume.space.min_recovery_lsn()).min()
    }

    /// Writes every page and map whose redo would begin before `lsn`. Not durable before [`Forest::sync`].
    ///
    /// # Errors
    /// I/O; [`Error::Halted`].
    pub fn clean_older_than(&self, lsn: Lsn) -> Result<()> {
        self.volume.pool.clean_older_than(lsn)?;
        self.volume.space.clean_older_than(&self.volume.pool, lsn)
    }

    /// Makes every page that was written durable.
    ///
    /// # Errors
    /// [`Error::Halted`].
    pub fn sync(&self) -> Result<()> {
        self.volume.pool.file().sync()
    }

    /// Walks every page and every tree, and reports what is wrong. Nothing may change meanwhile.
    ///
    /// # Errors
    /// I/O; a corrupt page is a report, not an error.
    pub fn check(&self) -> Result<Vec<verify::Problem>> {
        verify::check(self)
    }
}

/// An empty leaf that is a root.
pub(super) fn empty_root(page_bytes: usize, root: PageId, tree: TreeId) -> PageBuf {
    let mut leaf = PageBuf::new(page_bytes);
    let mut page = leaf.page_mut();
    page.format(Kind::Leaf, 0, root, tree);
    page.set_fences(&[], None);
    debug_assert!(node::room(leaf.page()) > 0);
    leaf
}

/// Logs the end of a tree that nobody can reach, and forgets its pages.
pub(super) fn free(volume: &Volume, space: &TreeSpace, mut reserved: SpaceReservation<'_>) {
    let mut actions = Actions::new(space.tree(), 0);
    actions.free_tree();
    let mut extents = space.extents();
    extents.sort_unstable();
    let firsts: Vec<_> = extents.iter().filter_map(|extent| pages_of(*extent).next()).collect();
    let _abort = AbortOnUnwind;
    let lsn = volume.log_structure(&mut reserved, &actions, &firsts);
    volume.space.set_tree_free(space.tree(), &extents, lsn);
    let owned = |page| extents.binary_search(&extent_of(page)).is_ok();
    let mut pages = extents.iter().flat_map(|extent| pages_of(*extent));
    volume.pool.forget_all(extents.len() * EXTENT_PAGES as usize, &mut pages, &owned);
    volume.space.free_extents(space, lsn);
}
