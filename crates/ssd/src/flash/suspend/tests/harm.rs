//! What suspends do to cells that age (RealWear sections 4.1 and 4.2.3; calibration section 1.2).

use crate::drive_config::DriveConfig;
use crate::nand::Chip;
use crate::sections::{ErrorModel, Errors};

/// Blocks of 48 wordlines, all alike, 4,000 cycles old, of which the first is full; with so much wear by suspends.
fn chip(suspend_wear: f64) -> Chip {
    let mut cfg = DriveConfig::default();
    let g = &mut cfg.geometry;
    (g.channels, g.chips_per_channel, g.dies_per_chip, g.planes_per_die) = (1, 1, 1, 1);
    (g.blocks_per_plane, g.wordlines_per_block) = (4, 48);
    cfg.errors = Errors { model: ErrorModel::Cells, variation: false, ..Errors::default() };
    cfg.cells.effects.suspend_wear = suspend_wear;
    let g = &cfg.geometry;
    let chip = Chip::new(g.planes(), g.blocks_per_plane, g.pages_per_block(), &cfg.reliability, 1);
    let mut chip = chip.with_cells(&cfg).expect("a part that fits");
    chip.remember_suspends();
    (0..4).for_each(|block| chip.set_erase_count(block, 4_000));
    (0..g.pages_per_block()).for_each(|page| _ = chip.program_in(0, page, 0));
    chip
}

/// By hand: nothing up to 30 suspends, 1 + .48 x 35/70 = 1.24 at 65, 1.48 at 100; until the next erase.
#[test]
fn what_lies_in_a_block_has_more_errors() {
    let mut chip = chip(0.0);
    let mut bits = |count: u32| {
        chip.note_suspends(0, count);
        f64::from(chip.margin(0, 7).expect("cells that age").bits_q8)
    };
    let unharmed = bits(0);
    assert!(unharmed > 512.0, "{unharmed}");
    for (count, factor) in [(1, 1.0), (30, 1.0), (65, 1.24), (100, 1.48), (0, 1.0)] {
        let found = bits(count) / unharmed;
        assert!((found - factor).abs() < 0.003, "{count} suspends: {found}, not {factor}");
    }
}

/// By hand: of 1,000 cycles for an excess of one, 480 at 100 suspends; none by default.
#[test]
fn a_block_may_age_by_them() {
    for (suspend_wear, expected) in [(0.0, 0.0), (1_000.0, 480.0)] {
        let mut chip = chip(suspend_wear);
        let cycles =
            |chip: &Chip| chip.true_wear(0).expect("cells that age").done_q20 as f64 / f64::from(1 << 20);
        let before = cycles(&chip);
        chip.note_suspends(0, 100);
        let found = cycles(&chip) - before;
        assert!((found - expected).abs() <= 1.0, "{found}, not {expected}");
    }
}

/// A read that was stopped disturbs its neighbours as one that was not.
#[test]
fn a_read_that_was_stopped_counts_as_one_more() {
    let (mut stopped, mut read) = (chip(0.0), chip(0.0));
    for _ in 0..1_000 {
        stopped.break_off(0, 20);
        read.sense(0, 20, 0);
    }
    let wordlines = 0..48;
    let counted = |chip: &Chip| wordlines.clone().map(|wordline| chip.effective_reads(0, wordline)).collect();
    let (stopped, read): (Vec<u64>, Vec<u64>) = (counted(&stopped), counted(&read));
    assert!(read.iter().any(|&reads| reads >= 1_000), "{read:?}");
    assert_eq!(stopped, read);
}
