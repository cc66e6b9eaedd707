//! Does moved data pass through the controller?
//!
//! A copy inside the chip (copyback) needs no channel, and leaves errors as they are: they add up from copy to copy
//! until the controller corrects them. A policy says how often in a row data may be copied so; what was copied how
//! often is kept by `ftl::moves::copies`.

use crate::config::member::Misfit;
pub use crate::ftl::tables::worn::Worn;
use crate::ftl::techniques::Needs;
use crate::nand::cell::CellModel;
use crate::sections::{FOUR_KIB, MappingUnit, Sections};

family! {
    /// Does moved data pass through the controller?
    path "ftl/migration", default off_chip;
    members {
        off_chip: OffChip,
        copyback_always: CopybackAlways,
        copyback_by_cycles: CopybackByCycles,
        copyback_by_age: CopybackByAge,
    }
    methods {
        /// Whether anything is ever copied inside chips.
        fn copies(&self) -> bool {
            true
        }
        /// Whether copies in a row are limited, and so counted.
        fn counts(&self) -> bool {
            true
        }
        /// Whether it goes by the ages of blocks, which `ftl.age_marker` must tell in errors.
        fn needs_ages(&self) -> bool {
            false
        }
        /// Why it cannot work at all.
        fn misfit(&self) -> Option<Misfit> {
            None
        }
        /// Told of the cells once, when the drive is built.
        fn learn(&mut self, cells: &CellModel) {}
        /// The age from which on data goes past no controller, in minutes at the reference temperature.
        fn max_source_minutes(&self) -> u32 {
            u32::MAX
        }
        /// Most copies in a row that data may have which a block gives or takes; above [`MOST`] is no limit.
        fn limit(&self, worn: &Worn) -> u8 {
            u8::MAX
        }
    }
}

/// Most copies in a row that can be told apart: three bits of a page's byte.
pub const MOST: u8 = 7;

/// Minutes in so many hours.
// tidy: allow(float): called when a drive is built
fn minutes(hours: f64) -> u32 {
    libm::round(hours * 60.0) as u32
}

/// The other way out of a conflict.
const OR: &str = "or ftl.migration.policy = \"off_chip\"";

/// Why a policy cannot work on a drive, whose data is sorted in the controller or is not.
pub(crate) fn misfit(config: &Config, cfg: &Sections, sorted_by: Option<&str>) -> Option<Misfit> {
    let (policy, name) = (Policy::build(config), config.name());
    if !policy.copies() {
        return None;
    }
    if let Some(misfit) = policy.misfit() {
        return Some(misfit);
    }
    if cfg.mapping.unit == MappingUnit::FourKib && cfg.geometry.page_bytes > FOUR_KIB {
        return Some(Misfit {
            keys: &["ftl.migration.policy", "ftl.mapping.unit", "nand.geometry.page_bytes"],
            found: format!(
                "copyback (\"{name}\"), which moves whole pages, with {} units in a page",
                cfg.units_per_page()
            ),
            allowed: format!("ftl.mapping.unit = \"page\", {OR}"),
        });
    }
    if let Some(by) = sorted_by {
        return Some(Misfit {
            keys: &["ftl.page_class.policy", "ftl.migration.policy"],
            found: format!("data sorted by \"{by}\" in the controller, which copyback does not bring there"),
            allowed: format!("ftl.page_class.policy = \"sequential\", {OR}"),
        });
    }
    None
}

/// What a policy must be told of the ages of blocks.
pub(crate) fn needs_ages(config: &Config) -> Option<Needs> {
    Policy::build(config).needs_ages().then(|| Needs {
        errors: true,
        key: "ftl.migration.policy",
        by: format!("\"{}\"", config.name()),
        or: Some(OR),
    })
}
