//! Blocks alone: cells that wear, and what a marker tells of their age, without a translation layer. For whole lives of
//! many drives, in steps of many cycles.

use crate::drive_config::DriveConfig;
use crate::ftl::wear::BareWear;
use crate::nand::Chip;
use crate::nand::aging::build::dwell_of;
use crate::nand::aging::tables::{Dwell, MOST_CYCLES, TICKS_PER_MINUTE};

/// Blocks of chips whose cells age, numbered plane by plane, with their ages as the firmware estimates them.
#[derive(Clone, Debug)]
pub struct BareBlocks {
    chip: Chip,
    wear: BareWear,
    dwell: Dwell,
    /// Ticks of the cells' clock that each dwell takes.
    rest: u32,
}

impl BareBlocks {
    /// Fresh blocks of a drive, which rest for so many minutes (at the reference temperature) from erase to erase. None
    /// where its cells do not age, or its part does not fit.
    // tidy: allow(float): called when blocks are made
    pub fn new(cfg: &DriveConfig, dwell_minutes: f64) -> Option<Self> {
        let g = &cfg.geometry;
        let (planes, pages) = (g.planes(), g.pages_per_block());
        let chip = Chip::new(planes, g.blocks_per_plane, pages, &cfg.reliability, cfg.drive.seed);
        let mut chip = chip.with_cells(cfg).ok()?;
        let dwell = dwell_of(chip.cells()?, dwell_minutes);
        let rest = libm::round(dwell_minutes * f64::from(TICKS_PER_MINUTE)) as u32;
        let wear = BareWear::new(&cfg.techniques(), cfg, &mut chip);
        Some(BareBlocks { chip, wear, dwell, rest })
    }

    /// How many there are.
    pub fn blocks(&self) -> u32 {
        self.chip.blocks()
    }

    /// Cycles that a block has seen.
    pub fn cycles(&self, block: u32) -> u32 {
        self.chip.erase_count(block)
    }

    /// Age of a block, in 1/4096 of its life, as the firmware estimates it; 0 where it does not.
    pub fn age_q12(&self, block: u32) -> u32 {
        self.wear.age_q12(block, self.cycles(block))
    }

    /// Cycles of the average block, of the reference dwell, that make as many errors as this block has.
    pub fn worn(&self, block: u32) -> u32 {
        self.chip.true_wear(block).map_or(0, |wear| wear.equivalent_cycles)
    }

    /// A block goes through so many more cycles, each with the dwell; false, and nothing happens, if it would be worn
    /// beyond what the tables of the cells hold.
    pub fn cycle(&mut self, block: u32, more: u32) -> bool {
        let before = self.cycles(block);
        if self.chip.worn_after(block, more, self.dwell) > MOST_CYCLES {
            return false;
        }
        self.chip.cycle_block(block, more, self.dwell);
        self.wear.note_cycles(&mut self.chip, (block, before), self.rest);
        true
    }
}
