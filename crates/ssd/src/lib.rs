//! Wordline's drive: a NAND-flash SSD as a pure, deterministic state machine.
//!
//! Layers, each a module that knows only those below it:
//!
//! - [`host`]: submission queues, the link, the DRAM buffer, completions;
//! - [`ftl`]: mapping, allocation, cleaning, wear levelling: *where* and *when*;
//! - [`flash`]: channels, dies, planes and their queues: *how long*;
//! - [`nand`]: the chips' ground truth: what may be done to a block, and what fails.
//!
//! [`drive::Drive`] puts them together. It owns no clock, thread, file or socket: the caller submits commands with
//! their time, asks when something will happen next, and takes completions. The same seed, configuration and commands
//! give the same [`event hash`](drive::Drive::event_hash) everywhere.
//!
//! Decisions are policies: families of them are folders ([`ftl::gc_victim`], [`host::buffer`]...), each member one
//! file, listed in [`policy::FAMILIES`]. [`sections`] and the policies' parameters describe a drive, [`drive_config`]
//! puts them together; [`signals`] is what a command may tell the drive and what it answers; [`observe`] tells what
//! happens to data, for whoever holds the bytes.

#[macro_use]
pub mod config;
#[macro_use]
pub mod counters;
#[macro_use]
mod techniques;

mod base;
pub mod drive;
pub mod drive_config;
pub mod flash;
pub mod ftl;
pub mod host;
pub mod nand;
pub mod observe;
pub mod policy;
pub mod sections;
pub mod signals;

pub use base::executor::{Executor, Pace};
pub use base::units::{Lba, Lpn, SimDuration, SimTime};
pub use base::{events, executor, memo, rng, snapshot, timers, units};
pub(crate) use base::{index, list, prefetch, restore};
pub use drive::age::{AgeError, AgeStep};
pub use drive::blocks::{BlockRow, Blocks, Lanes};
pub use drive::contents::Contents;
pub use drive::external::{External, ExternalPolicies, PolicyFault, TrustedPolicies};
pub use drive::foresee::{Ahead, Foreseeing, Foresight, ForesightError};
pub use drive::past::{NoRoom, Past};
pub use drive::reading::Reading;
pub use drive::reconfigure::ReconfigureError;
pub use drive::reports::{Reports, SanitizeReport};
pub use drive::stats::{Stats, Wear};
pub use drive::tracing::Tracing;
pub use drive::{Drive, Health, age, bare_blocks, external, foresee, reconfigure, stats};
pub use drive_config::DriveConfig;
pub use flash::BrokenBound;
pub use flash::holders::{HOLDERS, Held, Holder, LastOperation, Operation, Place, Span, Told};
pub use ftl::TableBytes;
pub use signals::{Breakdown, Command, Completion, Hints, OpCode, PARTS, Part, Reason, Status};
