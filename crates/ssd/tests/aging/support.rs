//! Small chips whose cells age.

use ssd::DriveConfig;
use ssd::config::{ErrorModel, Errors};
use ssd::nand::{Chip, Outcome};

/// One die with two planes of eight blocks of 48 TLC wordlines, all alike.
pub fn config() -> DriveConfig {
    let mut cfg = DriveConfig::default();
    let g = &mut cfg.geometry;
    (g.channels, g.chips_per_channel, g.dies_per_chip, g.planes_per_die) = (1, 1, 1, 2);
    (g.blocks_per_plane, g.wordlines_per_block) = (8, 48);
    cfg.errors = Errors { model: ErrorModel::Cells, variation: false, ..Errors::default() };
    cfg
}

pub fn chip(cfg: &DriveConfig) -> Chip {
    let g = &cfg.geometry;
    Chip::new(g.planes(), g.blocks_per_plane, g.pages_per_block(), &cfg.reliability, cfg.drive.seed)
        .with_cells(cfg)
        .expect("a part that fits")
}

/// Programs a whole block.
pub fn fill(chip: &mut Chip, block: u32) {
    let mut page = chip.programmed_pages(block);
    while page < chip.pages_per_block() {
        assert_eq!(chip.program(block, page), Outcome::Pass);
        page += 1;
    }
}
