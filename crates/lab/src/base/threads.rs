//! Work on several threads whose results do not depend on how many there are.

use std::io;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// How many threads have a core to themselves.
fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// The results of `count` pieces of work, in their order, on all cores.
pub(crate) fn on_all_cores<T: Send>(count: usize, work: impl Fn(usize) -> T + Sync) -> Vec<T> {
    on_threads(0, count, work)
}

/// The results of `count` pieces of work, in their order, on so many threads (0: as many as there are cores), or
/// as many as there can be: where the system has no more, those that there are do all of it, at last the caller's own.
pub(crate) fn on_threads<T: Send>(threads: usize, count: usize, work: impl Fn(usize) -> T + Sync) -> Vec<T> {
    let threads = if threads == 0 { cores() } else { threads };
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
        let started = (0..threads.min(count)).take_while(|_| {
            // A name that is too long is the only other reason to refuse.
            std::thread::Builder::new().spawn_scoped(scope, take_turns).is_ok()
        });
        if started.count() == 0 {
            take_turns();
        }
    });
    let mut done = done.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner());
    done.sort_by_key(|(number, _)| *number);
    done.into_iter().map(|(_, result)| result).collect()
}

/// What is told where a thread cannot be done without.
pub fn no_thread(error: io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("no thread can be started: {error}"))
}
