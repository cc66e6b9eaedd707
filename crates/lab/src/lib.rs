//! Experiments on drives: what runs them, measures them and reports on them.
//!
//! An [`Experiment`] is a drive's configuration, a workload and a [`RunSpec`]: how the drive is aged first, how
//! requests reach it, how many. It yields a [`RunResult`], which is all of `result.json`; [`report`] makes tables,
//! plots and folders of results.
//!
//! ```
//! use lab::{Experiment, LoopMode, Preconditioning, RunSpec, report};
//! let mut config = ssd::DriveConfig::default();
//! config.geometry.wordlines_per_block = 4;
//! let workload = workload::Spec::parse("pattern = \"uniform\"\ncount = 10_000").unwrap().prepare().unwrap();
//! let spec = RunSpec {
//!     preconditioning: Preconditioning { fill_percent: 80.0, ..Preconditioning::default() },
//!     loop_mode: LoopMode::Closed { depth: 32 },
//!     ..RunSpec::default()
//! };
//! let result = Experiment { config, workload: &workload, spec }.run(&mut |_| {}).unwrap();
//! assert_eq!((result.requests_generated, result.requests_served), (10_000, 10_000));
//! assert!(report::table(&result).contains("IOPS"));
//! ```
//!
//! A [`Session`] is a run that is fed piece by piece; a [`Job`] makes a run of a configuration and settings; [`sweep`]
//! makes many of one file.
//!
//! A run either serves every request of its workload or fails with a reason ([`RunError`]); what was measured until
//! then is not lost. Results are the same whether experiments run one by one or on all cores ([`run_all`]).

mod base;
pub mod bound;
pub mod characterize;
pub mod endurance;
pub mod fit;
mod measure;
mod past;
pub mod places;
mod plan;
pub mod report;
pub mod reproduce;
pub mod result;
mod run;
pub mod sweep;
pub mod workers;

pub use base::by::{Axis, By};
pub use base::error::{Failure, ReportError};
pub use base::phase::Phase;
pub use base::stop::Stop;
pub use base::threads::no_thread;
pub use base::{columns, error, files, interval, memory, phase, process, sources};
pub use measure::fio_tally::FioJob;
pub use measure::progress::{Progress, SoFar};
pub use measure::request_log::request_log_columns;
pub use measure::series::{SeriesColumn, SeriesValue, TimeSeries};
pub use measure::stalls::{Stall, Stalls};
pub use measure::tail::{Example, Reason, Slowest, TailTold, WentTo};
pub use measure::timeline::TimelineSpec;
pub use measure::versions::{Kept, Versions, VersionsSpec, read_kept};
pub use measure::{forensics, versions};
pub use past::age::{AgeSteps, aging_drives};
pub use past::cache::DriveCache;
pub use past::precondition::{
    EraseCounts, Overwrite, Past, Preconditioned, Preconditioning, Spare, SteadyWay, precondition,
};
pub use past::{cache, precondition};
pub use plan::job::{Job, JobError, Plan};
pub use plan::policies::{Allowed, ExternalPolicy, Libraries, PolicyConfig};
pub use plan::run_config::{ExecutorChoice, LoopChoice, OverwriteChoice, RunConfig};
pub use plan::settings::Settings;
pub use plan::spec::{LoopMode, RunSpec};
pub use plan::{job, own, policies, run_config, settings, sizing, spec};
pub use report::plot::Plot;
pub use result::block_table::BlockTable;
pub use result::caution::Caution;
pub use result::lifetime::Lifetime;
pub use result::retries::Retries;
pub use result::suspends::{DieWork, Priorities, Suspends, SuspendsOf, SuspendsPerErase};
pub use result::time_spent::{Spent, TimeSpent};
pub use result::{
    BufferWork, Busy, Distribution, DriveSize, EraseCount, FlashWork, FtlWork, JobResult, Latencies,
    MemberResult, Rates, RunResult, Share, ShareLatencies, Utilisation,
};
pub use run::drives::{Drives, DrivesError, DrivesResult, Part, Sum};
pub use run::experiment;
pub use run::experiment::{Experiment, RunError, prepare, prepare_run, run, run_driven, run_prepared};
pub use run::foresee::foresee;
pub use run::many::run_all;
pub use run::session::{ARRIVAL_NS_MAX, Session};
