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
//! requests in [`mix`], shipped stand-ins for the traces of papers in [`mod@standin`], all settings in [`Spec`]; how
//! requests are written as a trace again is in [`convert`], what a workload is like in [`analysis`].
//!
//! Damaged input is never a panic and never silent: by default the first damaged line is an error that names file,
//! line and column, what was found and what is allowed; with `on_bad_line = "skip"` such lines are counted by reason
//! in the [`SourceReport`]. Memory does not grow with the length of a trace or of a line, only with the number of
//! pages touched (about a bit each).

mod base;
pub mod files;
pub mod fio;
mod generate;
pub mod reader;
mod spec;
mod stack;
mod trace;

pub use base::driven::{Demand, Driven, LaneTimes, Played, Poll};
pub use base::error::{Problem, WorkloadError};
pub use base::findings::{Assumed, BadReason, LeftOut, Pace};
pub use base::footprint::{Footprint, footprint};
pub use base::input::bytes::Progress;
pub use base::input::lines::LINE_BYTES_MAX;
pub use base::input::spool::{STANDARD_INPUT, keep_standard_input};
pub use base::input::text::TextLines;
pub use base::input::whole;
pub use base::remark::Remark;
pub use base::report::{Detected, Skipped, SourceReport};
pub use base::request::{FilesAtStart, Held, MemberNames, PAGE_BYTES, Record, Request, SECTOR_BYTES, Source};
pub use base::settings::Key;
pub use base::shape::{Alignment, Devices, Sizes, SpeedUp};
pub use base::units::{AddressUnit, TimeUnit};
pub use files::{CaptureSpec, FilesSpec, capture};
pub use fio::{FioSpec, JobFile};
pub use generate::mix::{Mix, MixSpec, Part};
pub use generate::synthetic::scatter::Scatter;
pub use generate::synthetic::{Arrival, Generator, Pattern, SyntheticSpec};
pub use generate::{histogram, mix, synthetic};
pub use reader::{
    Columns, Event, FormatInfo, Header, OnBadLine, OnTimeStepBack, ReadOptions, Separator, formats,
};
pub use spec::kinds::Spec;
pub use spec::prepared::Prepared;
pub use spec::recorded::Recorded;
pub use spec::split::Split;
pub use spec::standin::{Pinned, standin, standins};
pub use stack::drives::Drives;
pub use stack::map_hints::{Hint, MapHints};
pub use stack::priorities::PriorityShares;
pub use stack::read_buffer::{ReadBuffer, read_hit_percent};
pub use stack::stripe::Stripe;
pub use trace::address::AddressPolicy;
pub use trace::operations::Operations;
pub use trace::spec::TraceSpec;
pub use trace::{address, analysis, convert};

/// Workloads made of workloads: what their tables say beside what each of them is.
pub mod compose {
    pub use crate::spec::kinds::{Member, Members, PhasesSpec, TogetherSpec};
    pub use crate::spec::member_keys::MemberKeys;
}

/// Stand-ins: workloads that take the place of the traces that papers used and that nobody can have.
pub mod standin {
    pub use crate::spec::read::workload;
    pub use crate::spec::standin::{BUFFER_MIB, Percents, Pinned, pinned, standin, standins};
}
