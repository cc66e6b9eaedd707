//! The configuration of a drive: sections and policies put together, presets, resolution, checks and explanation.
//!
//! ```
//! use ssd::config::Layer;
//! use ssd::drive_config::resolve;
//! let layers = [Layer::file("my.toml", "preset = \"tlc\"\n[nand.timing]\nt_read_us = 50\n"),
//!               Layer::set("drive.seed=7").unwrap()];
//! let resolved = resolve(&layers, &[]).unwrap();
//! assert_eq!(resolved.config.timing.t_read_us, [50.0]);
//! assert_eq!(resolved.origin("nand.timing.t_read_us").unwrap().to_string(), "my.toml:3");
//! ```

mod conflicts;
mod derived;
mod document;
mod explain;
mod places;
mod resolve;
mod validate;
mod validate_capacity;
mod validate_cells;
mod validate_one_shot;
mod validate_sanitize;

use crate::config::Table;
use crate::sections::{CellPart, Sections};
use crate::{flash, ftl, host};
use core::marker::PhantomData;
use core::ops::{Deref, DerefMut};
use serde::{Deserialize, Serialize};

pub use explain::Explained;
pub use resolve::{Base, Resolved, resolve, resolve_table};
pub use validate::COMMANDS_MAX;

/// Sections by path, in the order in which files and explanations have them: the fixed ones, which are fields of
/// [`Sections`], and the policies', each with its type and what is decided; those of techniques between the first list
/// and the second.
macro_rules! drive_config {
    (
        { $($before:tt)* } { $($after:tt)* }
        @techniques { $(
            #[doc = $doc:literal] $folder:ident : $name:ident = $path:literal is [$($facet:ident)*]
            $(, cause $cause:ident($number:literal) $called:literal)? $(, external $outside:ident)?;
        )* }
        @members { $(
            $(#[$told:meta])* $technique:ident : $type:ident = $section:literal is [$($part:ident)*],
                member of $family:ident $member:ident : $variant:ident in $file:literal
                $(, cause $its:ident($at:literal) $says:literal)?;
        )* }
    ) => {
        drive_config! {
            $($before)*
            $($folder: ftl::techniques::$folder::Config, $doc = $path;)*
            $($after)*
        }

        impl DriveConfig {
            /// Those of techniques.
            pub(crate) fn techniques(&self) -> ftl::techniques::Configs<'_> {
                ftl::techniques::Configs {
                    $($folder: &self.$folder,)*
                    $($technique: &self.$family,)*
                    of: PhantomData,
                }
            }
        }
    };
    ($($field:ident $(: $ty:ty, $doc:literal)? = $path:literal;)+) => {
        /// Everything that defines a drive. Two drives with the same configuration behave the same.
        ///
        /// The fixed sections are fields of [`Sections`], as which this reads: `config.geometry.channels`. They are
        /// what layers are built from; no layer knows this type, which knows all layers' policies.
        #[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
        pub struct DriveConfig {
            /// The fixed sections.
            pub sections: Sections,
            $($(#[doc = $doc] pub $field: $ty,)?)+
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

techniques! { drive_config! {
    {
        drive = "drive";
        rating = "drive.rating";
        geometry = "nand.geometry";
        cell = "nand.cell";
        timing = "nand.timing";
        slc = "nand.slc";
        lock = "nand.lock";
        reliability = "nand.reliability";
        errors = "nand.errors";
        channel = "flash.channel";
        scheduling = "flash.scheduling";
        preemption: flash::preemption::Config, "What happens to a die's work when a read \
                                                arrives." = "flash.preemption";
        read_voltage: flash::read_voltage::Config, "Which voltages a read tries first." = "flash.read_voltage";
        redundancy = "ftl";
        mapping = "ftl.mapping";
        allocation = "ftl.allocation";
        cleaning = "ftl.cleaning";
        gc_victim: ftl::gc_victim::Config, "Which block is reclaimed." = "ftl.gc_victim";
        gc_trigger: ftl::gc_trigger::Config, "When garbage collection of a lane begins and ends." = "ftl.gc_trigger";
        read_reclaim: ftl::read_reclaim::Config, "Whether data must move because of reads, and \
                                                which." = "ftl.read_reclaim";
        stream: ftl::stream::Config, "Which data shares a block." = "ftl.stream";
        program_mode: ftl::program_mode::Config, "In which program mode a block is programmed." = "ftl.program_mode";
        page_class: ftl::page_class::Config, "Which page type holds which data." = "ftl.page_class";
        slc_cache: ftl::slc_cache::Config, "How many blocks cache host writes with one bit per \
                                            cell." = "ftl.slc_cache";
        sanitize: ftl::sanitize::Config, "What happens to copies that nobody may read." = "ftl.sanitize";
    } {
        host = "host";
        queues = "host.queues";
        link = "host.link";
        firmware = "host.firmware";
        read_ahead = "host.read_ahead";
        buffer: host::buffer::Config, "What stays in DRAM." = "host.buffer";
        hotness: host::hotness::Config, "How data is classified as it leaves DRAM." = "host.hotness";
    }
} }

impl Deref for DriveConfig {
    type Target = Sections;

    fn deref(&self) -> &Sections {
        &self.sections
    }
}

impl DerefMut for DriveConfig {
    fn deref_mut(&mut self) -> &mut Sections {
        &mut self.sections
    }
}
