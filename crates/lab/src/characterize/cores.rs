//! Work on all cores whose results do not depend on how many there are.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The results of `count` pieces of work, in their order.
pub(super) fn on_all_cores<T: Send>(count: usize, work: impl Fn(usize) -> T + Sync) -> Vec<T> {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let next = AtomicUsize::new(0);
    let done = Mutex::new(Vec::with_capacity(count));
    let take_turns = || {
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number >= count {
                return;
            }
            let result = work(number);
            // A panic of another thread ends the scope with that panic; its results are not looked at.
            done.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).push((number, result));
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..cores.min(count) {
            scope.spawn(take_turns);
        }
    });
    let mut done = done.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner());
    done.sort_by_key(|(number, _)| *number);
    done.into_iter().map(|(_, result)| result).collect()
}
