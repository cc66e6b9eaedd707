//! Workloads for simulated drives: recorded traces and generated requests, as one stream.
//!
//! A workload is described by a [`Spec`], the `[workload]` table of a run. It becomes a [`Source`] in two steps:
//!
//! ```no_run
//! # fn main() -> Result<(), workload::WorkloadError> {
//! let spec = workload::Spec::trace("data/rocksdb-ycsb-a-run1.csv.zst");
//! let prepared = spec.prepare()?; // reads the trace once: footprint, extents, damaged lines
//! let drive_sectors = prepared.space_sectors().unwrap_or(1 << 21);
//! let mut source = prepared.open(drive_sectors)?; // reads it again, request by request
//! while let Some(request) = source.next()? {
//!     println!("{} {} {}", request.arrival_ns, request.op.name(), request.lba);
//! }
//! for remark in source.report().remarks() {
//!     println!("{remark}");
//! }
//! # Ok(())
//! # }
//! ```
//!
//! Trace formats, one file each, and the policy for damaged input that they share are in [`reader`]; where a trace's
//! addresses lie on a smaller drive is in [`address`]; generators are in [`synthetic`], mixes of several kinds of
//! requests in [`mix`], shipped stand-ins for the traces of papers in [`mod@standin`], all settings in [`spec`]; how
//! requests are written as a trace again is in [`convert`], what a workload is like in [`analysis`].
//!
//! Damaged input is never a panic and never silent: by default the first damaged line is an error that names file,
//! line and column, what was found and what is allowed; with `on_bad_line = "skip"` such lines are counted by reason
//! in the [`SourceReport`]. Memory does not grow with the length of a trace or of a line, only with the number of
//! pages touched (about a bit each).

pub mod address;
pub mod analysis;
mod cached;
mod cached_jobs;
pub mod capture;
pub mod compose;
pub mod convert;
mod driven;
mod error;
pub mod files;
pub mod fio;
mod footprint;
pub mod histogram;
mod input;
mod kind;
mod lines;
mod map_hints;
pub mod mix;
mod near;
mod page_cache;
mod page_index;
mod pages;
mod prepared;
mod priorities;
mod read_buffer;
pub mod reader;
mod record;
mod recorded;
mod remark;
mod replay;
mod report;
mod select;
mod settings;
mod shape;
pub mod spec;
mod split;
mod spool;
pub mod standin;
mod stream;
mod stripe;
mod surveyed;
pub mod synthetic;
mod trace;
pub mod whole;

pub use address::AddressPolicy;
pub use driven::{Demand, Driven, LaneTimes, Played, Poll};
pub use error::{BadReason, Problem, WorkloadError};
pub use files::{CaptureSpec, FilesSpec};
pub use fio::{FioSpec, JobFile};
pub use footprint::{Footprint, footprint};
pub use input::Progress;
pub use lines::{LINE_BYTES_MAX, TextLines};
pub use map_hints::{Hint, MapHints};
pub use mix::{Mix, MixSpec, Part};
pub use prepared::Prepared;
pub use priorities::PriorityShares;
pub use read_buffer::{ReadBuffer, read_hit_percent};
pub use reader::{
    AddressUnit, Columns, Event, FormatInfo, Header, OnBadLine, OnTimeStepBack, ReadOptions, Record,
    Separator, TimeUnit, formats,
};
pub use record::{FilesAtStart, Held, MemberNames, PAGE_BYTES, Request, SECTOR_BYTES, Source};
pub use recorded::Recorded;
pub use remark::Remark;
pub use report::{Assumed, Detected, Pace, Skipped, SourceReport};
pub use select::{LeftOut, Operations};
pub use settings::Key;
pub use shape::{Alignment, Devices, Drives, Sizes, SpeedUp};
pub use spec::{Spec, TraceSpec};
pub use split::Split;
pub use spool::{STANDARD_INPUT, keep_standard_input};
pub use standin::{Pinned, standin, standins};
pub use stripe::Stripe;
pub use synthetic::scatter::Scatter;
pub use synthetic::{Arrival, Generator, Pattern, SyntheticSpec};
