//! What a sweep will run: each point as a configuration of its own, under a name that says everything it depends on.

use super::grid::{Point, Sweep};
use super::recipe::{Outside, Planned, Recipe, Survey, name_of};
use crate::plan::job::JobError;
use crate::plan::own::Asked;
use std::fmt;
use std::path::Path;
use std::sync::Arc;

/// A run of a sweep.
#[derive(Clone)]
pub struct Run {
    /// A hash of its resolved configuration, the workload's content and the program's sources, in 16 digits.
    pub id: String,
    /// Runs of one number begin with the same aged drive.
    pub drive: u64,
    /// What its workload is known by.
    pub workload_hash: u64,
    /// Hashes of the libraries whose policies it runs.
    pub libraries: Vec<String>,
    /// Policies of the caller's own that it asks for by their names.
    pub asked: Vec<Asked>,
    /// Its place in the sweep.
    number: usize,
    recipe: Arc<Recipe>,
}

impl fmt::Debug for Run {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Run({}, {})", self.id, self.name())
    }
}

impl Run {
    /// The name of the file in which it is kept.
    pub fn file(&self) -> String {
        format!("{}.json", self.id)
    }

    /// What was varied.
    pub fn point(&self) -> Point {
        self.recipe.sweep.point(self.number)
    }

    /// What was varied, for people: keys by their last part, and values.
    pub fn name(&self) -> String {
        name_of(&self.point())
    }

    /// What tells its policies from others of their names where nobody knows what they do.
    pub(super) fn salt(&self) -> &str {
        &self.recipe.salt
    }

    /// Drive, run and workload: a configuration that is this run; and that of the drive as which it is aged, if that is
    /// another. They are made anew, of what the sweep's file and its workloads were when it was planned.
    pub fn configuration(&self) -> Result<(String, Option<String>), JobError> {
        self.recipe.configuration(self.number)
    }
}

/// A sweep with all its runs.
#[derive(Clone)]
pub struct SweepPlan {
    recipe: Arc<Recipe>,
    /// One for each point, in its order.
    pub runs: Vec<Run>,
}

/// Between two times that a planner tells how far it is.
const TOLD_EVERY: usize = 64;

impl SweepPlan {
    /// Resolves all points of a sweep file, whose paths count from its folder. A workload is read through by `survey`,
    /// each once; `told` hears now and then how many of all runs are planned, and may put an end to it.
    pub fn new(
        path: &Path,
        text: String,
        outside: Outside,
        survey: &mut Survey<'_>,
        told: &mut dyn FnMut(u64, u64) -> Result<(), JobError>,
    ) -> Result<Self, JobError> {
        let mut recipe = Recipe::read(path, text, outside)?;
        let all = recipe.sweep.runs();
        // Each is looked at twice.
        let mut looked_at = |looks: usize| match looks % TOLD_EVERY {
            0 => told((looks / 2) as u64, all as u64),
            _ => Ok(()),
        };
        recipe.level(survey, &mut looked_at)?;
        let recipe = Arc::new(recipe);
        let mut runs = Vec::with_capacity(all);
        for number in 0..all {
            looked_at(all + number)?;
            let Planned { id, drive, workload_hash, libraries, asked } = recipe.plan_run(number, survey)?;
            let recipe = Arc::clone(&recipe);
            runs.push(Run { id, drive, workload_hash, libraries, asked, number, recipe });
        }
        Ok(SweepPlan { recipe, runs })
    }

    /// What the file says.
    pub fn sweep(&self) -> &Sweep {
        &self.recipe.sweep
    }
}
