//! Pieces of work on several threads, and how many are done.

use super::options::Progress;
use std::sync::{Mutex, PoisonError};

/// The results of `count` pieces of work, in their order, by so many threads (0: as many as there are cores). `before`
/// pieces were done earlier.
pub(super) fn on_threads<T: Send>(
    threads: usize,
    count: usize,
    what: &'static str,
    before: usize,
    progress: &(dyn Fn(Progress) + Sync),
    work: &(dyn Fn(usize) -> T + Sync),
) -> Vec<T> {
    let total = count + before;
    let done = Mutex::new(before);
    if count > 0 {
        progress(Progress { what, done: before, total });
    }
    crate::base::threads::on_threads(threads, count, |number| {
        let result = work(number);
        // Held while it is told, so that what is told only grows.
        let mut done = done.lock().unwrap_or_else(PoisonError::into_inner);
        *done += 1;
        progress(Progress { what, done: *done, total });
        result
    })
}
