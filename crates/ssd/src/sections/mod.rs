//! The fixed sections of a drive's configuration: plain numbers and choices, which every layer may be built from.
//!
//! They know no layer. What policies bring of their own is declared in the policies' files, and all of it is put
//! together above the layers, in `drive_config`. Defaults are a plain TLC drive; `presets/drive/tlc.toml` says where
//! such numbers come from.

pub mod cell;
mod derived;
mod drive;
mod flash;
mod ftl;
mod host;
mod nand;

use serde::{Deserialize, Serialize};

pub use cell::CellPart;
pub(crate) use derived::GIB;
pub use derived::MAX_UNITS;
pub use drive::{DriveSection, RatedWorkload, Rating};
pub use flash::{Channel, ChannelOrder, PriorityOrder, ReclaimOrder, Scheduling, SchedulingOrder};
pub use ftl::{
    Allocation, AllocationOrder, Axis, Cleaning, Issue, Mapping, MappingUnit, MovesOfFirst, Placement,
    Redundancy, Superblock,
};
pub use host::{Arbitration, Firmware, HostSection, Link, Queues, ReadAhead};
pub use nand::{
    ArrayTimes, Cell, DisturbCounters, DisturbLaw, ErrorModel, Errors, Geometry, Lock, ProgramOrder,
    Reliability, SectorErrors, Slc, Timing,
};

/// All fixed sections: what a drive is, apart from its policies.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Sections {
    /// What the host sees of the whole.
    pub drive: DriveSection,
    /// What its maker promises.
    pub rating: Rating,
    /// How many of everything.
    pub geometry: Geometry,
    /// How bits lie in the cell.
    pub cell: Cell,
    /// How long the array is busy.
    pub timing: Timing,
    /// Blocks that are used with one bit a cell.
    pub slc: Slc,
    /// Flags that say what may be read.
    pub lock: Lock,
    /// Bad blocks and wear-out.
    pub reliability: Reliability,
    /// Whether cells age and make errors.
    pub errors: Errors,
    /// The bus between controller and dies.
    pub channel: Channel,
    /// Which operation goes next.
    pub scheduling: Scheduling,
    /// What is written beside data.
    pub redundancy: Redundancy,
    /// The logical-to-physical map.
    pub mapping: Mapping,
    /// Where the next write goes.
    pub allocation: Allocation,
    /// How cleaning moves data.
    pub cleaning: Cleaning,
    /// What is let through.
    pub host: HostSection,
    /// Submission queues.
    pub queues: Queues,
    /// Between host and drive.
    pub link: Link,
    /// The controller's processors.
    pub firmware: Firmware,
    /// What is read before it is asked for.
    pub read_ahead: ReadAhead,
    /// The constants of the cells: sections `cell.states` to `cell.retry`.
    pub cells: CellPart,
}
