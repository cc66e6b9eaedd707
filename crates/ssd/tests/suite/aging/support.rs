//! Small chips whose cells age.

use ssd::nand::cell::CellModel;
use ssd::nand::{Chip, Outcome};
use ssd::sections::{ErrorModel, Errors};
use ssd::{DriveConfig, SimTime};

/// Nanoseconds of a minute.
pub const MINUTE_NS: u64 = 60_000_000_000;
/// Minutes of 12 months.
pub const YEAR: u64 = 525_600;

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

pub fn model(cfg: &DriveConfig) -> CellModel {
    CellModel::new(cfg.cells.clone()).expect("a part that is checked")
}

/// Programs a whole block.
pub fn fill(chip: &mut Chip, block: u32) {
    for page in chip.programmed_pages(block)..chip.pages_per_block() {
        assert_eq!(chip.program(block, page), Outcome::Pass);
    }
}

pub fn minutes(minutes: u64) -> SimTime {
    SimTime(minutes * MINUTE_NS)
}

/// The page of that type of a wordline.
pub fn page_of(wordline: u32, page_type: u32) -> u32 {
    3 * wordline + page_type
}

pub fn near(found: f64, expected: f64, slack: f64) {
    assert!((found - expected).abs() <= slack, "found {found}, expected {expected} +- {slack}");
}
