//! One run of a sweep, done: carried out from its configuration, and kept in a file of its own.

use super::recipe::id;
use crate::base::error::{Failure, ReportError};
use crate::base::files::replace_plain;
use crate::base::stop::Stop;
use crate::past::cache::DriveCache;
use crate::plan::job::{Job, JobError};
use crate::plan::own::{Asked, Names};
use crate::plan::policies::Allowed;
use crate::plan::spec::RunSpec;
use crate::result::RunResult;
use crate::run::experiment::{RunError, run_prepared};
use serde::{Deserialize, Serialize};
use ssd::ExternalPolicies;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use workload::Prepared;
use workload::whole::{self, RESULT_BYTES_MAX};

/// What is to be run: all that another process must know of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Order {
    /// The run's name in the sweep ([`super::Run::id`]).
    pub id: String,
    /// What tables call its result.
    pub name: String,
    /// Its configuration.
    pub config: String,
    /// The drive's configuration while it is aged, if that is another.
    pub aged_as: Option<String>,
    /// What its workload was known by when it was planned.
    pub workload_hash: u64,
    /// Hashes of the libraries that its configuration names: these may be loaded.
    #[serde(default)]
    pub libraries: Vec<String>,
    /// Policies that it asks for by names of the caller's own.
    #[serde(default)]
    pub asked: Vec<Asked>,
    /// What tells these from others of their names where nobody knows what they do.
    #[serde(default)]
    pub salt: String,
    /// The file that what came of it is written to.
    pub file: PathBuf,
    /// Where aged drives are kept, if they are.
    pub cache: Option<PathBuf>,
}

/// What came of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// The run's name in the sweep.
    pub id: String,
    /// Why it failed; empty if it did not.
    pub failure: String,
    /// What was measured, which a run that failed may have until then.
    pub result: Option<RunResult>,
}

impl Outcome {
    /// Reads what is kept of a run; nothing where there is none, or the file is damaged: then the run is to be done.
    pub fn read(path: &Path, id: &str) -> Option<Self> {
        let text = whole::read_text(path, RESULT_BYTES_MAX).ok()?;
        serde_json::from_str(&text).ok().filter(|outcome: &Outcome| outcome.id == id)
    }

    /// Whether what came of some run is there.
    pub(super) fn is_at(path: &Path) -> bool {
        let id = path.file_stem().and_then(|stem| stem.to_str());
        id.is_some_and(|id| Outcome::read(path, id).is_some())
    }

    /// Writes it, as a whole or not at all.
    pub fn write(&self, path: &Path) -> Result<(), ReportError> {
        let text = serde_json::to_vec(self).map_err(|error| ReportError::new(path, "write", error))?;
        replace_plain(path, &text)
    }
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq)]
pub enum Done {
    /// With this, which is to be kept: it would end so again.
    Kept(Box<Outcome>),
    /// Not at all, for a reason outside it: it is to be done another time.
    Undone(String),
    /// It was told to stop.
    Stopped,
}

/// The key of what is wrong with an order, not with a run.
const SWEEP: &str = "sweep";

/// Whether a run would fail so again, whatever happens around it.
fn is_own(failure: &Failure) -> bool {
    match failure {
        Failure::Workload(_) | Failure::Log(_) | Failure::Interrupted { .. } => false,
        Failure::Setting { key, .. } => *key != SWEEP,
        _ => true,
    }
}

/// What carries out runs one after the other. A workload that the next one has too is read once.
#[derive(Default)]
pub struct Worker {
    last: Option<(String, Prepared)>,
    given: ExternalPolicies,
    names: Arc<Names>,
    cache: Option<Arc<DriveCache>>,
}

impl Worker {
    /// With policies that are no libraries', which its orders ask for: by their families, and by names.
    pub fn giving(given: ExternalPolicies, names: Names) -> Self {
        Worker { given, names: Arc::new(names), ..Worker::default() }
    }

    /// What went wrong with its aged drives that are kept, since this was last asked, a line each.
    pub fn take_remarks(&self) -> Vec<String> {
        self.cache.as_ref().map(|cache| cache.take_remarks()).unwrap_or_default()
    }

    /// Carries out a run.
    pub fn run(&mut self, order: &Order, stop: &Stop) -> Done {
        let (failure, result) = match self.measure(order, stop) {
            Ok(result) => (String::new(), Some(result)),
            Err(RunError { failure: Failure::Interrupted { .. }, .. }) => return Done::Stopped,
            Err(RunError { failure, result }) if is_own(&failure) => {
                (failure.to_string(), result.map(|result| *result))
            }
            Err(RunError { failure, .. }) => return Done::Undone(failure.to_string()),
        };
        Done::Kept(Box::new(Outcome { id: order.id.clone(), failure, result }))
    }

    fn measure(&mut self, order: &Order, stop: &Stop) -> Result<RunResult, RunError> {
        let allowed = if order.libraries.is_empty() { Allowed::OfArguments } else { Allowed::All };
        let job = Job::of_text(Path::new(&order.name), order.config.clone()).allowing(allowed);
        let job = job.giving(self.given.clone()).asking(Arc::clone(&self.names), &order.asked);
        let refused = |error: JobError| {
            let allowed = "the configuration as it was when the sweep was planned".to_owned();
            Failure::Setting { key: SWEEP, found: error.message, allowed }
        };
        let nothing = || refused(JobError::new("no workload"));
        let mut spec = job.workload().map_err(refused)?.ok_or_else(nothing)?;
        job.settle(&mut spec, true).map_err(refused)?;
        let entries = format!("{:?}", spec.entries());
        let last = match self.last.take().filter(|(known, _)| *known == entries) {
            Some(last) => last,
            None => (entries, spec.prepare().map_err(Failure::Workload)?),
        };
        let prepared = &self.last.insert(last).1;
        if prepared.workload_hash() != order.workload_hash {
            let found = "a different workload than when the sweep was planned: a file has changed".to_owned();
            let allowed = "files that do not change; run the same command again to plan again".to_owned();
            return Err(Failure::Setting { key: SWEEP, found, allowed }.into());
        }
        let plan = job.plan(Some((&spec, prepared))).map_err(refused)?;
        let changed = |what: &str| {
            let found = format!("a different {what} than when the sweep was planned");
            let allowed = "something that does not change; run the same command again to plan \
                           again"
                .to_owned();
            Failure::Setting { key: SWEEP, found, allowed }
        };
        if plan.libraries.hashes() != order.libraries {
            return Err(changed("library: a file has changed").into());
        }
        // It names all that a result depends on: the program's sources, too, and whose policies are asked.
        if id(&plan, prepared.workload_hash(), order.aged_as.as_deref(), &order.salt) != order.id {
            return Err(changed("program or policy").into());
        }
        if self.cache.as_ref().map(|cache| cache.folder()) != order.cache.as_deref() {
            self.cache = order.cache.clone().map(|folder| Arc::new(DriveCache::new(folder)));
        }
        let aged_as =
            order.aged_as.clone().map(|text| Job::of_text(Path::new(&order.name), text).resolve(None));
        let aged_as = aged_as.transpose().map_err(refused)?.map(|base| Arc::new(base.config.clone()));
        let config = &plan.resolved.config;
        let mut drive = plan.drive().map_err(Failure::Config)?;
        let run = RunSpec {
            name: order.name.clone(),
            workload_hash: prepared.workload_hash(),
            cache: self.cache.clone(),
            aged_as,
            stop: stop.clone(),
            ..plan.spec(&spec)
        };
        run_prepared(&mut drive, config, prepared, &run, &mut |_| {})
    }
}
