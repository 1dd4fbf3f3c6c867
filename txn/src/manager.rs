//! The transaction component as a whole: opened over a data component, it begins transactions.

use crate::transaction::{Begin, Transaction};
use crate::wait::SessionWait;
use crate::{Error, Result, TxnId};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Poll, Waker};
use storage::{DataComponent, Environment, Lsn, TreeId};

/// Limits of the transaction component, and the data component's own options.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The data component's.
    pub storage: storage::Options,
}

/// The transaction component.
#[derive(Debug)]
pub struct Manager {
    pub(crate) data: Arc<DataComponent>,
    pub(crate) env: Environment,
    pub(crate) commit: Mutex<()>,
    visible: AtomicU64,
    next: AtomicU64,
}

impl Manager {
    /// Makes an empty directory into a database without any tree.
    ///
    /// # Errors
    /// As [`DataComponent::create`].
    pub fn create(env: &Environment, options: &Options) -> Result<()> {
        Ok(DataComponent::create(env, &options.storage)?)
    }

    /// Opens a directory, and applies what the log has beyond the trees. Then `live` says which trees committed
    /// catalog rows name, given a manager it can read them with; all others are freed.
    ///
    /// # Errors
    /// As [`DataComponent::open`]; those of `live`.
    pub fn open<E: From<Error>>(
        env: Environment,
        options: Options,
        live: impl FnOnce(&Arc<Manager>) -> std::result::Result<Vec<TreeId>, E>,
    ) -> std::result::Result<Arc<Manager>, E> {
        let recovering = DataComponent::open(env.clone(), options.storage)
            .map_err(|error| E::from(error.into()))?;
        let manager = Arc::new(Manager {
            data: Arc::clone(recovering.component()),
            env,
            commit: Mutex::new(()),
            visible: AtomicU64::new(recovering.component().log().tail().0),
            next: AtomicU64::new(1),
        });
        let live = live(&manager)?;
        recovering.finish(&|tree| live.contains(&tree)).map_err(|error| E::from(error.into()))?;
        Ok(manager)
    }

    /// The data component, for trees: they are made and freed there, and named in catalog rows here.
    #[must_use]
    pub fn data(&self) -> &Arc<DataComponent> {
        &self.data
    }

    /// The environment it runs in.
    #[must_use]
    pub fn environment(&self) -> &Environment {
        &self.env
    }

    /// Begins a transaction of the session that waits as `wait`.
    #[must_use]
    pub fn begin(self: &Arc<Self>, begin: Begin, wait: &Arc<SessionWait>) -> Transaction {
        let id = TxnId(self.next.fetch_add(1, Ordering::Relaxed));
        Transaction::new(Arc::clone(self), id, begin, Arc::clone(wait))
    }

    /// The visible watermark: every commit at or below it is in the trees, or on the list of late commits.
    #[must_use]
    pub fn visible(&self) -> Lsn {
        Lsn(self.visible.load(Ordering::Acquire))
    }

    pub(crate) fn set_visible(&self, lsn: Lsn) {
        self.visible.store(lsn.0, Ordering::Release);
    }

    /// Whether a transaction that ended at `lsn` may be answered: the log is durable past its record and the
    /// watermark has reached it. If not, `waker` is woken when it is worth asking again.
    ///
    /// # Errors
    /// [`storage::Error::Halted`]: nobody may be answered any more.
    pub fn poll_answer(&self, lsn: Lsn, waker: &Waker) -> Poll<Result<()>> {
        self.data.log().poll_durable(lsn, waker).map_err(Error::from)
    }

    /// Takes a checkpoint.
    ///
    /// # Errors
    /// As [`DataComponent::checkpoint`].
    pub fn checkpoint(&self) -> Result<Lsn> {
        Ok(self.data.checkpoint(&mut |tail| tail)?)
    }

    /// Stops background work after a last checkpoint. No transaction is left.
    ///
    /// # Errors
    /// As [`DataComponent::close`].
    pub fn close(&self) -> Result<()> {
        Ok(self.data.close()?)
    }
}
