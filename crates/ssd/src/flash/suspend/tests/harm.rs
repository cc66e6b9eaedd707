//! What suspends do to cells that age (RealWear sections 4.1 and 4.2.3; calibration section 1.2).

use crate::drive_config::DriveConfig;
use crate::flash::preemption::Config;
use crate::flash::preemption::priority_aware::Params;
use crate::nand::Chip;
use crate::rng::Rng;
use crate::sections::{ErrorModel, Errors};
use crate::units::SimTime;

use super::{ERASE, Given, High, Low, Medium, US, psr, read, run};

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

/// A block that waited for its first program: 1 + .30 ln(1 + t / 1 min) / ln(1 + 1440), and no more than 1.30; with 100
/// suspends of its erase 1.48 times as many. Until the next erase.
#[test]
fn data_in_a_block_that_was_open_for_long_has_more_errors() {
    let mut cfg = DriveConfig::default();
    let g = &mut cfg.geometry;
    (g.channels, g.chips_per_channel, g.dies_per_chip, g.planes_per_die) = (1, 1, 1, 1);
    (g.blocks_per_plane, g.wordlines_per_block) = (1, 48);
    cfg.errors = Errors { model: ErrorModel::Cells, variation: false, ..Errors::default() };
    let bits = |open_interval: bool, minutes: u64, suspends: u32| {
        let mut cfg = cfg.clone();
        cfg.errors.open_interval = open_interval;
        let g = &cfg.geometry;
        let chip = Chip::new(1, 1, g.pages_per_block(), &cfg.reliability, 1);
        let mut chip = chip.with_cells(&cfg).expect("a part that fits");
        chip.set_erase_count(0, 4_000);
        chip.erase(0);
        chip.note_suspends(0, suspends);
        chip.advance_clock(SimTime(minutes * 60_000_000_000));
        (0..g.pages_per_block()).for_each(|page| _ = chip.program_in(0, page, 0));
        f64::from(chip.margin(0, 7).expect("cells that age").bits_q8)
    };
    let at_once = bits(true, 0, 0);
    assert!((at_once, bits(false, 100, 0)) == (bits(false, 0, 0), at_once), "{at_once}");
    for minutes in [1u64, 10, 60, 600, 1_440, 100_000] {
        let formula = 1.0 + 0.30 * (libm::log1p(minutes as f64) / libm::log1p(1_440.0)).min(1.0);
        for (suspends, factor) in [(0, formula), (100, 1.48 * formula)] {
            let found = bits(true, minutes, suspends) / at_once;
            assert!((found - factor).abs() < 0.004, "{minutes} minutes: {found}, not {factor}");
        }
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

/// The preset, whose cells age and differ in nothing.
fn of_cells(policy: &str) -> DriveConfig {
    let mut cfg = psr(policy, 1);
    cfg.errors = Errors { model: ErrorModel::Cells, variation: false, ..Errors::default() };
    cfg
}

/// An erase that is stopped at once 45 times: 1 + .48 x 15/70 = 1.103 times the errors in what is written to its
/// block then, and none more at safe points.
#[test]
fn a_die_tells_its_blocks_how_often_they_were_stopped() {
    let bits = |policy: &str, reads: u64| {
        let reads = (0..reads).map(|n| read((700 + 200 * n) * US, Low));
        let script: Vec<Given> = [ERASE].into_iter().chain(reads).collect();
        let (_, mut flash) = run(&of_cells(policy), &script);
        flash.chip.set_erase_count(0, 4_000);
        (0..flash.chip.pages_per_block()).for_each(|page| _ = flash.chip.program_in(0, page, 0));
        let stopped = flash.record.counts.suspends[0][Low as usize];
        (stopped, f64::from(flash.chip.margin(0, 7).expect("cells that age").bits_q8))
    };
    let (none, unharmed) = bits("immediate", 0);
    let (stopped, harmed) = bits("immediate", 45);
    assert_eq!((none, stopped), (0, 45));
    assert!((harmed / unharmed - (1.0 + 0.48 * 15.0 / 70.0)).abs() < 0.003, "{harmed} of {unharmed}");
    assert_eq!(bits("safe_point", 45), (0, unharmed));
}

/// Only those at once count, however many there are at the ends of its steps: reads of all priorities stop an erase of
/// 300 steps, and its block is as one that was told the suspends at once alone, fewer than harm and more.
#[test]
fn suspends_between_steps_harm_nothing() {
    for (seed, at_once_per_erase) in (0..8).map(|seed| (seed, 10 + 10 * seed as u32)) {
        let (mut cfg, mut rng) = (of_cells("priority_aware"), Rng::named(seed, "reads"));
        cfg.timing.erase_steps = 300;
        cfg.preemption = Config::PriorityAware(Params { at_once_per_erase, ..Default::default() });
        let mut at = 100 * US;
        let reads = (0..150).map(|_| {
            at += u64::from(160 + rng.below(20)) * US;
            read(at, [High, Medium, Low][(rng.below(16) as usize).min(2 - rng.below(2) as usize)])
        });
        let script: Vec<Given> = [ERASE].into_iter().chain(reads).collect();
        let (_, mut flash) = run(&cfg, &script);
        let of_erases = &flash.record.counts.suspends[..2];
        let [at_once, between] = [0, 1].map(|row| of_erases[row].iter().sum::<u64>());
        assert!(at_once >= 10 && between > 30, "{at_once} at once, {between} between steps");
        flash.chip.set_erase_count(0, 4_000);
        (0..flash.chip.pages_per_block()).for_each(|page| _ = flash.chip.program_in(0, page, 0));
        let mut bits = |count: Option<u64>| {
            count.into_iter().for_each(|count| flash.chip.note_suspends(0, count as u32));
            flash.chip.margin(0, 7).expect("cells that age").bits_q8
        };
        let (found, expected) = (bits(None), bits(Some(at_once)));
        assert_eq!(found, expected, "{at_once} at once, {between} between steps");
    }
}

/// A low read that a high one stops senses its page twice.
#[test]
fn a_die_counts_what_it_stopped_as_a_read() {
    let far = Given { block: 3, ..read(50 * US, High) };
    let disturbed = |script: &[Given]| {
        let (_, flash) = run(&of_cells("priority_aware"), script);
        let stops: u64 = flash.record.counts.suspends.iter().flatten().sum();
        let reads = (0..8).map(|wordline| flash.chip.effective_reads(1, wordline));
        (stops, reads.collect::<Vec<_>>())
    };
    let (stops, found) = disturbed(&[read(0, Low), far]);
    let (none, expected) = disturbed(&[read(0, Low), read(1_000 * US, Low)]);
    assert_eq!((stops, none), (1, 0));
    assert!(expected.iter().any(|&reads| reads > 0), "{expected:?}");
    assert_eq!(found, expected);
}
