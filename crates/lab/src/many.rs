//! Several experiments at once: one thread each, as many as there are cores. Never more than one thread in a drive.

use crate::experiment::{Experiment, RunError};
use crate::phase::Progress;
use crate::result::RunResult;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Runs experiments on all cores. The results come in the order of the experiments and are those of running them one
/// by one, but for the costs. `progress` is told the number of the experiment and how far it is.
pub fn run_all(
    experiments: &[Experiment<'_>],
    progress: &(dyn Fn(usize, Progress) + Sync),
) -> Vec<Result<RunResult, RunError>> {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let next = AtomicUsize::new(0);
    let done = Mutex::new(Vec::with_capacity(experiments.len()));
    let work = || {
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            let Some(experiment) = experiments.get(number) else { return };
            let result = experiment.run(&mut |at| progress(number, at));
            // A panic of another thread ends the scope with that panic; its results are not looked at.
            done.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).push((number, result));
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..cores.min(experiments.len()) {
            scope.spawn(work);
        }
    });
    let mut done = done.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner());
    done.sort_by_key(|(number, _)| *number);
    done.into_iter().map(|(_, result)| result).collect()
}
