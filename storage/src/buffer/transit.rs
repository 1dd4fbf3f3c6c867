//! In-transit lists: the pages on their way in or out, in 128 lists with a latch each.
//!
//! Paper: Johnson et al., *Shore-MT*, EDBT 2009, §6.2.3: one list was a bottleneck, 128 are not. A miss looks in the page
//! table, then here, then in the table again, and only then begins to read: whoever is found here is waited for.
//!
//! A page that is being written stands here with the recovery LSN it had: a checkpoint's sweep looks at the frames first
//! and here afterwards, so that it finds each page in one of the two.

use crate::environment::{Environment, WaitCell, WaitEvent};
use crate::sync::{Arc, Mutex, MutexGuard, lock, rank};
use crate::{Lsn, PageId};

/// How many lists there are.
pub const LISTS: usize = 128;

/// One page on its way.
#[derive(Debug)]
struct Entry {
    page: PageId,
    /// Set for a page on its way out.
    recovery: Option<Lsn>,
    waiting: Vec<Arc<WaitCell>>,
}

/// The entries of some pages.
#[derive(Debug, Default)]
pub struct List(Vec<Entry>);

/// All lists.
#[derive(Debug)]
pub struct Transit {
    lists: Box<[Mutex<List, { rank::TRANSIT }>]>,
}

impl List {
    fn find(&mut self, page: PageId) -> Option<&mut Entry> {
        self.0.iter_mut().find(|entry| entry.page == page)
    }

    /// Enters a page that is read.
    pub fn begin_read(&mut self, page: PageId) {
        self.0.push(Entry { page, recovery: None, waiting: Vec::new() });
    }

    /// If the page is on its way, a cell that is woken when it has arrived.
    pub fn join(&mut self, page: PageId) -> Option<Arc<WaitCell>> {
        let entry = self.find(page)?;
        let cell = Arc::new(WaitCell::new());
        entry.waiting.push(Arc::clone(&cell));
        Some(cell)
    }
}

impl Transit {
    /// Nothing is on its way.
    #[must_use]
    pub fn new() -> Transit {
        Transit { lists: (0..LISTS).map(|_| Mutex::default()).collect() }
    }

    /// The list of `page`. Whoever holds it looks into the page table, and waits for nothing.
    pub fn list(&self, page: PageId) -> MutexGuard<'_, List, { rank::TRANSIT }> {
        let mixed = u64::from(page.0).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        lock(&self.lists[(mixed >> 57) as usize % LISTS])
    }

    /// Enters a page that is written; redo of what its frame no longer answers for begins at `recovery`.
    pub fn begin_write(&self, page: PageId, recovery: Lsn) {
        let entry = Entry { page, recovery: Some(recovery), waiting: Vec::new() };
        self.list(page).0.push(entry);
    }

    /// The page has arrived, or the attempt has failed: whoever waits for it looks again.
    pub fn finish(&self, env: &Environment, page: PageId) {
        let mut list = self.list(page);
        let at = list.0.iter().position(|entry| entry.page == page);
        let entry = list.0.swap_remove(at.expect("who began ends, once"));
        drop(list);
        for cell in entry.waiting {
            env.wake(&cell);
        }
    }

    /// Whether the page is on its way in or out.
    #[must_use]
    pub fn contains(&self, page: PageId) -> bool {
        self.list(page).find(page).is_some()
    }

    /// Waits until `page` is not on its way; whether it was.
    pub fn wait(&self, env: &Environment, page: PageId) -> bool {
        let mut waited = false;
        loop {
            let cell = self.list(page).join(page);
            match cell {
                None => return waited,
                Some(cell) => {
                    env.wait(WaitEvent::BufferIo, &cell, None, None);
                    waited = true;
                }
            }
        }
    }

    /// The lowest recovery LSN of a page that is being written.
    #[must_use]
    pub fn min_recovery(&self) -> Option<Lsn> {
        let lowest = |list: &Mutex<List, { rank::TRANSIT }>| {
            lock(list).0.iter().filter_map(|e| e.recovery).min()
        };
        self.lists.iter().filter_map(lowest).min()
    }
}

impl Default for Transit {
    fn default() -> Self {
        Transit::new()
    }
}
