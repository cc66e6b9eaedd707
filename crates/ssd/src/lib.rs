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

pub mod age;
pub mod bare_blocks;
mod blocks;
mod build;
mod contents;
pub mod drive;
pub mod drive_config;
mod engine;
pub mod events;
pub mod executor;
pub mod external;
pub mod flash;
pub mod foresee;
pub mod ftl;
pub mod host;
mod index;
mod list;
pub mod memo;
pub mod nand;
pub mod observe;
mod past;
pub mod policy;
mod prefetch;
mod reading;
pub mod reconfigure;
mod reports;
mod restore;
pub mod rng;
pub mod sections;
pub mod signals;
mod silence;
pub mod snapshot;
pub mod stats;
mod streamed;
pub mod timers;
mod tracing;
pub mod units;

pub use age::{AgeError, AgeStep};
pub use blocks::{BlockRow, Blocks, Lanes};
pub use contents::Contents;
pub use drive::{Drive, Health};
pub use drive_config::DriveConfig;
pub use executor::{Executor, Pace};
pub use external::{External, ExternalPolicies, PolicyFault, TrustedPolicies};
pub use flash::BrokenBound;
pub use flash::holders::{HOLDERS, Held, Holder, LastOperation, Operation, Place, Span, Told};
pub use foresee::{Ahead, Foreseeing, Foresight, ForesightError};
pub use ftl::TableBytes;
pub use past::{NoRoom, Past};
pub use reading::Reading;
pub use reconfigure::ReconfigureError;
pub use reports::{Reports, SanitizeReport};
pub use signals::{Breakdown, Command, Completion, Hints, OpCode, PARTS, Part, Reason, Status};
pub use stats::{Stats, Wear};
pub use tracing::Tracing;
pub use units::{Lba, Lpn, SimDuration, SimTime};
