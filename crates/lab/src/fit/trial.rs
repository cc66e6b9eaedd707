//! What a drive does under the loads that data sheets speak of: runs of the small drive that stands for it.

use super::model::{Model, Set};
use crate::base::stop::Stop;
use crate::plan::job::{Job, JobError};
use crate::plan::spec::RunSpec;
use crate::result::{Distribution, RunResult};
use crate::run::experiment::Experiment;
use std::io::Write;
use std::path::Path;
use workload::Spec;

/// Requests in flight where there are many.
const DEPTH: u32 = 256;
/// Seconds that reads are watched beside writes.
const BESIDE_S: u32 = 2;

/// A load.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Load {
    /// 128 KiB in sequence.
    Sequential {
        /// Reads, not writes.
        reads: bool,
    },
    /// 4 KiB anywhere, many in flight.
    Random {
        /// Share of reads; %.
        reads: u32,
    },
    /// The same with 90 % of the writes to 10 % of the space.
    Skewed,
    /// 4 KiB anywhere, one at a time, on an idle drive.
    Single {
        /// Reads, not writes.
        reads: bool,
    },
    /// 4-KiB reads one at a time beside so many writes a second.
    Beside {
        /// Writes a second.
        writes: f64,
    },
}

impl Load {
    /// What the drive has behind it, and the load, as tables of a configuration.
    fn text(self, jobs: &Path) -> (String, String) {
        let steady = "overwrite_pace = \"saturated\"\n".to_owned();
        let full = "overwrite = \"none\"\n".to_owned();
        let pattern = |name: &str, size: u32, reads: u32, count: u64| {
            format!("pattern = \"{name}\"\nsize_bytes = {size}\nread_percent = {reads}\ncount = {count}\n")
        };
        match self {
            Load::Sequential { reads: true } => {
                (format!("{full}depth = 32\n"), pattern("sequential", 131_072, 100, 20_000))
            }
            Load::Sequential { reads: false } => {
                (format!("{steady}depth = 32\n"), pattern("sequential", 131_072, 0, 60_000))
            }
            Load::Random { reads: 100 } => {
                (format!("{full}depth = {DEPTH}\n"), pattern("uniform", 4096, 100, 200_000))
            }
            Load::Random { reads } => {
                (format!("{steady}depth = {DEPTH}\n"), pattern("uniform", 4096, reads, 1_500_000))
            }
            // Uniform before, and long enough for hot and cold data to find their blocks.
            Load::Skewed => (
                format!("{steady}depth = {DEPTH}\npast = \"uniform\"\nwarm_up_requests = 6_000_000\n"),
                "count = 9_000_000\nfootprint_percent = 100\nparts = [{ name = \"all\", share_percent = 100, \
                 read_percent = 0, at_mib = 0, space_mib = 1024, places = \"hot_cold\", hot_space_percent = 10, \
                 hot_access_percent = 90, size_bytes = [4096] }]\n"
                    .to_owned(),
            ),
            Load::Single { reads } => {
                (format!("{full}depth = 1\n"), pattern("uniform", 4096, if reads { 100 } else { 0 }, 2_000))
            }
            Load::Beside { .. } => (steady, format!("jobs = {:?}\n", jobs.display().to_string())),
        }
    }

    /// Jobs of fio for what has several.
    fn jobs(self) -> Option<String> {
        let Load::Beside { writes } = self else { return None };
        Some(format!(
            "[global]\ndirect=1\nfilename=/dev/nvme0n1\nbs=4k\ntime_based=1\nruntime={BESIDE_S}\n[writes]\n\
             rw=randwrite\n\
             iodepth=256\nrate_iops={}\n[reads]\nrw=randread\niodepth=1\n",
            writes.round() as u64
        ))
    }
}

/// The configuration that sets make.
fn text_of(sets: &[Set]) -> String {
    sets.iter().map(|(key, value)| format!("{key} = {value}\n")).collect()
}

/// Runs a load on the drive that stands for a model.
pub fn run(model: &Model, stop: &Stop, load: Load) -> Result<RunResult, JobError> {
    let failed = |error: &dyn std::fmt::Display| JobError { message: error.to_string(), is_work: true };
    let mut file = tempfile::NamedTempFile::with_suffix(".fio").map_err(|error| failed(&error))?;
    if let Some(jobs) = load.jobs() {
        file.write_all(jobs.as_bytes()).map_err(|error| failed(&error))?;
    }
    let (run, workload) = load.text(file.path());
    let text = format!("{}[run]\n{run}samples = 0\n", text_of(&model.small()));
    let spec = Spec::parse(&workload).map_err(|error| failed(&error))?;
    let prepared = spec.prepare().map_err(|error| failed(&error))?;
    let plan = Job::of_text(Path::new("the drive of the fit"), text).plan(Some((&spec, &prepared)))?;
    let config = plan.resolved.config.clone();
    let spec = RunSpec { stop: stop.clone(), ..plan.spec(&spec) };
    let run = Experiment { config, workload: &prepared, spec };
    run.run(&mut |_| {}).map_err(|error| failed(&error))
}

/// MB/s of all requests of a run.
pub fn mb_s(result: &RunResult) -> f64 {
    result.bandwidth_mb_s.all.unwrap_or(0.0)
}

/// Requests a second.
pub fn iops(result: &RunResult) -> f64 {
    result.iops.all.unwrap_or(0.0)
}

/// Mean latency of a run's requests; us.
pub fn mean_us(result: &RunResult) -> f64 {
    result.latency_ns.all.mean.unwrap_or(0.0) / 1e3
}

/// A percentile of the reads of a run, one of those that every job has; us.
pub fn percentile(result: &RunResult, percent: f64) -> f64 {
    let reads = result.jobs.iter().find(|job| job.name == "reads").map(|job| &job.share.latency_ns.read);
    let of = |reads: &Distribution| match percent {
        ..60.0 => reads.p50,
        ..99.5 => reads.p99,
        _ => reads.p99_9,
    };
    reads.and_then(of).map_or(0.0, |ns| ns as f64 / 1e3)
}
