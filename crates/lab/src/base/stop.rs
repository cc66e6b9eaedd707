//! Asking a run to end early, from outside: from a signal handler or another thread.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// A wish that a run may end early. Clones are the same wish.
#[derive(Clone, Debug, Default)]
pub struct Stop(Arc<AtomicBool>);

/// The wish that signals express.
static OF_PROCESS: Mutex<Option<Stop>> = Mutex::new(None);

impl Stop {
    /// Makes it the one of the whole process, such as signals set: what waits for others looks at it, too.
    pub fn stands_for_process(&self) {
        *OF_PROCESS.lock().unwrap_or_else(PoisonError::into_inner) = Some(self.clone());
    }

    /// Whether somebody has asked the process to end.
    pub fn is_process_asked() -> bool {
        let stop = OF_PROCESS.lock().unwrap_or_else(PoisonError::into_inner);
        stop.as_ref().is_some_and(Stop::is_asked)
    }

    /// Asks. What the drive holds is still completed, and what was measured until then is a result.
    pub fn ask(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// The flag behind it, for whoever can only set flags.
    pub fn flag(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.0)
    }

    /// Whether somebody has asked.
    #[inline]
    pub fn is_asked(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}
