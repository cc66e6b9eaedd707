//! Several experiments at once: one thread each, as many as there are cores. Never more than one thread in a drive.

use crate::base::threads::on_all_cores;
use crate::measure::progress::Progress;
use crate::result::RunResult;
use crate::run::experiment::{Experiment, RunError};

/// Runs experiments on all cores. The results come in the order of the experiments and are those of running them one
/// by one, but for the costs. `progress` is told the number of the experiment and how far it is.
pub fn run_all(
    experiments: &[Experiment<'_>],
    progress: &(dyn Fn(usize, Progress) + Sync),
) -> Vec<Result<RunResult, RunError>> {
    on_all_cores(experiments.len(), |number| experiments[number].run(&mut |at| progress(number, at)))
}
