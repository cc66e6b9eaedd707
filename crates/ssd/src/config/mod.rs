//! The configuration of a drive: sections, presets, resolution, checks and explanation.
//!
//! ```
//! use ssd::config::{Layer, resolve};
//! let layers = [Layer::file("my.toml", "preset = \"tlc\"\n[nand.timing]\nt_read_us = 50\n"),
//!               Layer::set("drive.seed=7").unwrap()];
//! let resolved = resolve(&layers, &[]).unwrap();
//! assert_eq!(resolved.config.timing.t_read_us, [50.0]);
//! assert_eq!(resolved.origin("nand.timing.t_read_us").unwrap().to_string(), "my.toml:3");
//! ```

#[macro_use]
mod field;
mod derived;
mod error;
mod explain;
mod layer;
mod near;
pub mod presets;
mod resolve;
mod sections;
mod units;
mod validate;
mod validate_cells;

use crate::nand::cell::CellPart;
use serde::{Deserialize, Serialize};

pub use derived::{FOUR_KIB, MAX_UNITS};
pub use error::{ConfigError, ConfigErrors, KeyAt, Origin, Problem};
pub use explain::Explained;
#[doc(hidden)]
pub use field::read_name;
pub use field::{Field, Kind, Limits, Parameter, Table, Value};
pub use layer::Layer;
pub use resolve::{Resolved, resolve, resolve_table};
pub use sections::{
    Allocation, AllocationOrder, ArrayTimes, Axis, Cell, Channel, ChannelOrder, Cleaning, DisturbCounters,
    DisturbLaw, DriveSection, ErrorModel, Errors, Firmware, Geometry, Link, Mapping, MappingUnit, Placement,
    ProgramOrder, Queues, ReclaimOrder, Reliability, Scheduling, SchedulingOrder, SectorErrors, Superblock,
    Timing,
};
pub use units::{in_unit, whole_with_exponent};

macro_rules! drive_config {
    ($($(#[doc = $doc:literal])+ $field:ident : $ty:ty = $path:literal;)+) => {
        /// Everything that defines a drive. Two drives with the same configuration behave the same.
        #[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
        pub struct DriveConfig {
            $($(#[doc = $doc])+ pub $field: $ty,)+
            /// The constants of the cells: sections `cell.states` to `cell.retry`.
            pub cells: CellPart,
        }

        impl DriveConfig {
            const OWN_SECTIONS: &'static [&'static str] = &[$($path),+];

            /// Paths of the sections in the order of declaration; those of the cells come last.
            pub fn section_paths() -> impl Iterator<Item = &'static str> + Clone {
                Self::OWN_SECTIONS.iter().chain(CellPart::SECTIONS).copied()
            }

            /// The section of that path, such as `nand.timing`.
            pub fn section(&self, path: &str) -> Option<&dyn Table> {
                match path { $($path => Some(&self.$field),)+ _ => self.cells.section(path) }
            }

            /// The section of that path, to change it.
            pub fn section_mut(&mut self, path: &str) -> Option<&mut dyn Table> {
                match path { $($path => Some(&mut self.$field),)+ _ => self.cells.section_mut(path) }
            }
        }
    };
}

drive_config! {
    /// What the host sees of the whole.
    drive: DriveSection = "drive";
    /// How many of everything.
    geometry: Geometry = "nand.geometry";
    /// How bits lie in the cell.
    cell: Cell = "nand.cell";
    /// How long the array is busy.
    timing: Timing = "nand.timing";
    /// Bad blocks and wear-out.
    reliability: Reliability = "nand.reliability";
    /// Whether cells age and make errors.
    errors: Errors = "nand.errors";
    /// The bus between controller and dies.
    channel: Channel = "flash.channel";
    /// Which operation goes next.
    scheduling: Scheduling = "flash.scheduling";
    /// With which reference voltages a page is read first.
    read_voltage: crate::flash::read_voltage::Config = "flash.read_voltage";
    /// The logical-to-physical map.
    mapping: Mapping = "ftl.mapping";
    /// Where the next write goes.
    allocation: Allocation = "ftl.allocation";
    /// How cleaning moves data.
    cleaning: Cleaning = "ftl.cleaning";
    /// Which block is reclaimed.
    gc_victim: crate::ftl::gc_victim::Config = "ftl.gc_victim";
    /// When cleaning starts, and how far it goes.
    gc_trigger: crate::ftl::gc_trigger::Config = "ftl.gc_trigger";
    /// Whether data must move because of reads, and which.
    read_reclaim: crate::ftl::read_reclaim::Config = "ftl.read_reclaim";
    /// Which data shares a block.
    stream: crate::ftl::stream::Config = "ftl.stream";
    /// Which blocks trade places.
    wear_leveling: crate::ftl::wear_leveling::Config = "ftl.wear_leveling";
    /// Submission queues.
    queues: Queues = "host.queues";
    /// Between host and drive.
    link: Link = "host.link";
    /// The controller's processors.
    firmware: Firmware = "host.firmware";
    /// What stays in DRAM.
    buffer: crate::host::buffer::Config = "host.buffer";
}
