//! Does moved data pass through the controller?
//!
//! A copy inside the chip (copyback) needs no channel, and leaves errors as they are: they add up from copy to copy
//! until the controller corrects them. A policy says how often in a row data may be copied so.
//!
//! How often it was takes a byte a page, where copies are limited: three bits count the copies in a row that its data
//! has behind it, three hold the lowest limit of all blocks that it has been in since the controller corrected it. The
//! limit of a copy is that lowest one, target included (assumed): errors of an old block stay with data that has left
//! it, so that the limit of younger blocks alone would let it go on too long.

use super::{CopiesInside, GoesByAges, Hop, Needs, Seen, Technique};
use crate::config::member::Misfit;
use crate::ftl::tables::layout::Layout;
pub use crate::ftl::tables::worn::Worn;
use crate::nand::Chip;
use crate::nand::cell::CellModel;
use crate::restore::{Verdict, alike, ensure};
use crate::sections::{ErrorModel, Sections};
use crate::snapshot::raw;
use crate::units::{BlockId, Ppn};
use serde::{Deserialize, Serialize};

family! {
    /// Does moved data pass through the controller?
    path "ftl/techniques/migration", default off_chip;
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

/// Bits of a page's byte that count.
const COUNT_BITS: u32 = 3;
/// The other way out of a conflict.
const OR: &str = "or ftl.migration.policy = \"off_chip\"";

counters! {
    /// What is counted of copies inside the chips.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
    pub struct Counts of "ftl" {
        /// Pages not copied because their data was old.
        copies_refused_by_age_of_data: u64, "pages", in "ftl.migration.refused_by_age_of_data";
        /// Pages not copied because their data had already been copied as many times in a row as it may.
        copies_refused_by_limit: u64, "pages", in "ftl.migration.refused_by_limit";
        /// The most copies in a row that any data had, where they are limited.
        copies_in_a_row_max: u32, "copies", in "ftl.migration.in_a_row_max";
    }
}

/// What is copied inside the chips.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Copies {
    policy: Policy,
    /// Of each page, see above; 0 of what comes from the controller. Empty where copies are not limited.
    #[serde(with = "raw")]
    in_a_row: Vec<u8>,
    /// Pages of a block.
    pages_per_block: u32,
}

impl Copies {
    /// The byte of a page copied from another one, in blocks that give and take data copied so often; nothing if it
    /// was copied as often as it may be.
    fn next(&self, from: Ppn, limit: u8) -> Option<u8> {
        let row = self.in_a_row.get(from.index()).copied().unwrap_or(0);
        let (count, lowest) = (row & MOST, row >> COUNT_BITS);
        let lowest = if count == 0 { limit.min(MOST) } else { lowest.min(limit) };
        (count < lowest).then_some((count + 1) | lowest << COUNT_BITS)
    }
}

impl Technique for Copies {
    type Config = Config;
    type Counts = Counts;

    fn acts(config: &Config) -> bool {
        Policy::build(config).copies()
    }

    fn new(config: &Config, _: &Sections, layout: &Layout) -> Self {
        let policy = Policy::build(config);
        let all = layout.blocks() as usize * layout.pages_per_block as usize;
        let pages = if policy.counts() { all } else { 0 };
        Copies { policy, in_a_row: vec![0; pages], pages_per_block: layout.pages_per_block }
    }

    fn misfit(config: &Config, cfg: &Sections) -> Option<Misfit> {
        let policy = Policy::build(config);
        if !policy.copies() {
            return None;
        }
        let wide = cfg.pages_per_unit() > 1;
        let by_units = || Misfit {
            keys: &["ftl.migration.policy", "ftl.mapping.unit"],
            found: format!(
                "copyback (\"{}\"), which moves single pages, with units of {}",
                config.name(),
                cfg.pages_per_unit()
            ),
            allowed: format!("ftl.mapping.unit = \"page\", {OR}"),
        };
        let one_shot = || Misfit {
            keys: &["ftl.migration.policy", "nand.cell.one_shot"],
            found: format!(
                "copyback (\"{}\"), which programs single pages, with {} that are programmed at once",
                config.name(),
                cfg.pages_of_program()
            ),
            allowed: format!("nand.cell.one_shot = false, {OR}"),
        };
        let misfit = policy.misfit().or_else(|| wide.then(by_units));
        misfit.or_else(|| (cfg.pages_of_program() > 1).then(one_shot))
    }

    /// A byte a page of the firmware's, and one of what chips remember.
    fn memory_bytes(config: &Config, cfg: &Sections) -> u64 {
        let policy = Policy::build(config);
        let ages = cfg.errors.model == ErrorModel::Cells;
        let bytes = u64::from(policy.counts()) + u64::from(policy.copies() && ages);
        bytes.saturating_mul(cfg.geometry.physical_pages())
    }

    fn is_on(&self) -> bool {
        self.policy.copies()
    }

    fn learn(&mut self, chip: &Chip) {
        if let Some(cells) = chip.cells() {
            self.policy.learn(cells);
        }
    }

    fn restored(&mut self, fresh: Self, _: &Seen<'_>) -> Verdict {
        alike("copies in a row", &self.in_a_row, &fresh.in_a_row)?;
        let is_row = |&row: &u8| row >> (2 * COUNT_BITS) == 0 && row & MOST <= row >> COUNT_BITS;
        ensure(self.in_a_row.iter().all(is_row), "copies in a row")?;
        self.pages_per_block = fresh.pages_per_block;
        self.policy.restored(fresh.policy)
    }

    fn bytes(&self) -> usize {
        self.in_a_row.len()
    }
}

impl GoesByAges for Copies {
    fn needs_ages(config: &Config) -> Option<Needs> {
        Policy::build(config).needs_ages().then(|| Needs {
            errors: true,
            key: "ftl.migration.policy",
            by: format!("\"{}\"", config.name()),
            or: Some(OR),
        })
    }
}

impl CopiesInside for Copies {
    fn copies_by_wear(&self) -> bool {
        self.policy.needs_ages()
    }

    fn copy(&self, hop: &Hop, chip: &Chip, counts: &mut Counts) -> Option<u8> {
        if chip.page_age(hop.from.block, hop.from.page).minutes > self.policy.max_source_minutes() {
            counts.copies_refused_by_age_of_data += 1;
            return None;
        }
        if !self.policy.counts() {
            return Some(0);
        }
        let [from, to] = [0, 1].map(|at| self.policy.limit(&hop.worn[at]));
        let row = self.next(hop.source, from.min(to));
        counts.copies_refused_by_limit += u64::from(row.is_none());
        row
    }

    fn copied(&mut self, to: Ppn, row: u8, counts: &mut Counts) {
        counts.copies_in_a_row_max = counts.copies_in_a_row_max.max(u32::from(row & MOST));
        if let Some(place) = self.in_a_row.get_mut(to.index()) {
            *place = row;
        }
    }

    /// The data of a block is gone, and what was counted of it.
    fn wiped(&mut self, block: BlockId) {
        if !self.in_a_row.is_empty() {
            let pages = self.pages_per_block as usize;
            self.in_a_row[block.index() * pages..][..pages].fill(0);
        }
    }
}

#[cfg(test)]
mod tests;
