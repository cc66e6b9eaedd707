//! A paper, run on threads of this process.

use super::options::{Options, Progress};
use super::outcome::Outcome;
use super::paper::Paper;
use super::studies::{Step, Studies};
use super::threads::on_threads;
use crate::base::document::PaperError;
use crate::base::stop::Stop;

impl Paper {
    /// Checks every configuration, ages the drives, runs the cells, judges the claims; on threads of this process
    /// ([`Studies`] leaves that to the caller).
    pub fn run(
        &self,
        options: &Options,
        progress: &(dyn Fn(Progress) + Sync),
    ) -> Result<Outcome, PaperError> {
        let studies = Studies::plan(self, options, &Stop::default())?;
        let mut open = studies.open()?;
        for step in Step::ALL {
            let pieces = open.pieces(&studies, step);
            let before = open.done_before(step);
            let (what, jobs) = (step.name(), options.jobs);
            let ended =
                on_threads(jobs, pieces.len(), what, before, progress, &|at| studies.carry_out(pieces[at]));
            for end in ended {
                match end {
                    Err(error) if error.is_work() => open.failed.push(error.to_string()),
                    end => end?,
                }
            }
        }
        studies.outcome(open, progress)
    }
}
