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

mod age;
mod block_age;
mod block_table;
mod books;
pub mod bound;
mod by;
pub mod cache;
mod caution;
mod cells;
pub mod characterize;
mod claim;
mod cliff;
mod collect;
pub mod columns;
mod compare;
mod counted;
mod csv;
pub mod death;
mod desk;
mod document;
mod driven;
mod drives;
pub mod endurance;
pub mod error;
pub mod experiment;
mod facts;
pub mod files;
mod fio_json;
mod fio_tally;
pub mod fit;
pub mod forensics;
mod foresee;
pub mod interval;
pub mod job;
mod jobs;
mod judge;
mod labels;
mod lifetime;
mod lookahead;
mod loops;
mod many;
mod members;
#[allow(unsafe_code, reason = "an allocator cannot be written without")]
pub mod memory;
mod meter;
mod metrics;
mod migration;
mod modes;
mod number;
mod outputs;
pub mod own;
pub mod page;
mod page_class;
pub mod phase;
pub mod places;
mod plot;
pub mod policies;
pub mod precondition;
mod problem;
pub mod problems;
#[allow(unsafe_code, reason = "std has no clock of processor time")]
pub mod process;
mod progress;
pub mod regimes;
mod remarks;
pub mod report;
pub mod reproduce;
mod request_log;
pub mod result;
mod retries;
mod rows;
pub mod run_config;
mod sanitize;
pub mod separation;
mod series;
mod session;
pub mod settings;
mod share_rows;
mod short;
pub mod sizing;
mod slc;
mod slowest;
pub mod spec;
mod stalls;
mod steps;
mod stop;
mod suspends;
pub mod sweep;
mod table;
mod tail;
mod tally;
mod threads;
mod time_of_kinds;
mod time_spent;
mod timeline;
pub mod verdict;
pub mod versions;
mod volume;
mod watch;
mod windows;
pub mod workers;

pub use age::{AgeSteps, aging_drives};
pub use block_table::BlockTable;
pub use by::{Axis, By};
pub use cache::DriveCache;
pub use caution::Caution;
pub use drives::{Drives, DrivesError, DrivesResult, Part, Sum};
pub use error::{Failure, ReportError};
pub use experiment::{Experiment, RunError, prepare, prepare_run, run, run_driven, run_prepared};
pub use fio_tally::FioJob;
pub use foresee::foresee;
pub use job::{Job, JobError, Plan};
pub use lifetime::Lifetime;
pub use many::run_all;
pub use phase::Phase;
pub use plot::Plot;
pub use policies::{Allowed, ExternalPolicy, Libraries, PolicyConfig};
pub use precondition::{
    EraseCounts, Overwrite, Past, Preconditioned, Preconditioning, Spare, SteadyWay, precondition,
};
pub use progress::{Progress, SoFar};
pub use request_log::request_log_columns;
pub use result::{
    BufferWork, Busy, Distribution, DriveSize, EraseCount, FlashWork, FtlWork, JobResult, Latencies,
    MemberResult, Rates, RunResult, Share, ShareLatencies, Utilisation,
};
pub use retries::Retries;
pub use run_config::{ExecutorChoice, LoopChoice, OverwriteChoice, RunConfig};
pub use series::{SeriesColumn, SeriesValue, TimeSeries};
pub use session::{ARRIVAL_NS_MAX, Session};
pub use settings::Settings;
pub use spec::{LoopMode, RunSpec};
pub use stalls::{Stall, Stalls};
pub use stop::Stop;
pub use suspends::{DieWork, Priorities, Suspends, SuspendsOf, SuspendsPerErase};
pub use tail::{Example, Reason, Slowest, TailTold, WentTo};
pub use threads::no_thread;
pub use time_spent::{Spent, TimeSpent};
pub use timeline::TimelineSpec;
pub use versions::{Kept, Versions, VersionsSpec, read_kept};

/// A hash of all sources that decide what a drive does, in 16 digits: programs with the same hash give the same
/// results.
pub const SOURCES: &str = env!("WORDLINE_SOURCES");
