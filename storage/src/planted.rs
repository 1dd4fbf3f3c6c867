//! Faults planted on purpose: each breaks one promise, so that a test can show that it would notice.
//!
//! A test that cannot fail proves nothing. In a build for tests (or with the feature `planted`, for suites in other
//! crates) one fault can be handed in with the options; in every other build [`Planted`] has no bytes, `is` is a
//! constant, and the code of the faults is not there.

/// A promise that can be broken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Fault {
    /// The log is written and never synced.
    NoLogSync,
    /// Commits are answered when the log is written, before it is synced.
    AnswerBeforeSync,
    /// Recovery does not look at a log record's checksum.
    TornTailAccepted,
    /// Pages are written in place without the double-write area.
    DoubleWriteSkipped,
    /// A page that could not be written in place loses its copy in the double-write area.
    FailedWriteForgotten,
    /// A checkpoint writes a redo point that is one record late.
    RedoPointLate,
    /// A page that is written while a backup runs is not copied into the log.
    PageCopyForgotten,
    /// A new tree is not logged while a backup runs.
    NewPageNotLogged,
    /// A tree is freed while the collector is in it.
    TreeFreedInUse,
}

/// Which fault is planted, if any.
#[derive(Clone, Copy, Debug, Default)]
pub struct Planted {
    #[cfg(any(test, feature = "planted"))]
    fault: Option<Fault>,
}

impl Planted {
    /// Plants `fault`.
    #[cfg(any(test, feature = "planted"))]
    #[must_use]
    pub fn new(fault: Fault) -> Planted {
        Planted { fault: Some(fault) }
    }

    /// Whether `fault` is planted.
    #[inline]
    #[must_use]
    pub fn is(self, fault: Fault) -> bool {
        #[cfg(any(test, feature = "planted"))]
        let planted = self.fault == Some(fault);
        #[cfg(not(any(test, feature = "planted")))]
        let planted = {
            let _ = fault;
            false
        };
        planted
    }
}
