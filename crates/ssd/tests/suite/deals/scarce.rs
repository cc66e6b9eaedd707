//! What becomes of a deal for which there are too few free blocks.

use super::support::{Observed, config, moved, read};
use ssd::flash::op::{Cause, OpKind};
use ssd::ftl::read_reclaim::redftl_plus::{Counters, Params};
use ssd::sections::{ErrorModel, MappingUnit};
use ssd::{Drive, DriveConfig, Executor, SimTime};

/// Units of a block: 6 pages of 4.
const UNITS: u32 = 24;

/// A plane of 15 blocks for data of 11: one block is the least that the host leaves for moves, and cleaning begins when
/// but one more is free.
fn tight(fail_ppm: f64) -> DriveConfig {
    let params = Params { max_reads: 100, counters: Counters::Exact, ..Params::default() };
    let mut cfg = config(params);
    cfg.geometry.blocks_per_plane = 15;
    cfg.mapping.unit = MappingUnit::FourKib;
    cfg.drive.over_provisioning_percent = 36.36;
    cfg.reliability.program_fail_ppm = fail_ppm;
    assert_eq!(cfg.logical_units(), 11 * u64::from(UNITS));
    cfg
}

/// The first three units of a block are written elsewhere: a page's worth of dead units less one is nothing to gain for
/// cleaning. So 264 units fill twelve blocks of 21 and the half of one that is open, and two are free.
fn one_to_spare(cfg: &DriveConfig) -> Observed {
    filled(cfg).expect("room for what is written")
}

/// The same, if no program fails meanwhile.
fn filled(cfg: &DriveConfig) -> Option<Observed> {
    if cfg.reliability.program_fail_ppm > 0.0 {
        let mut drive = Drive::new(cfg).unwrap();
        if drive.fill(0, 11 * UNITS).is_err() || drive.stats().flash.program_fails > 0 {
            return None;
        }
    }
    let mut observed = Observed::new(cfg, 11 * UNITS);
    let firsts =
        |blocks: std::ops::Range<u32>| blocks.flat_map(|block| [0, 1, 2].map(|unit| block * UNITS + unit));
    // Three of each of the first eight fill block 11, of which three go, as of the three before it, to block 12.
    let again: Vec<u32> = firsts(0..8).chain(firsts(8..11)).chain([0, 1, 2]).collect();
    if observed.drive.overwrite(&again).is_err() || observed.drive.stats().flash.program_fails > 0 {
        return None;
    }
    assert_eq!(moved(&observed.drive, Cause::Cleaning), 0);
    observed.take_effects();
    observed.effects.clear();
    Some(observed)
}

/// The open block is filled with its own units once more. The host opens another for a page of them, and the full one
/// is cleaned of the other eight, as the only one that is worth it: one is free.
fn none_to_spare(cfg: &DriveConfig) -> Observed {
    let mut observed = one_to_spare(cfg);
    let in_block_12: Vec<u32> =
        (8..11).flat_map(|block| [0, 1, 2].map(|unit| block * UNITS + unit)).collect();
    let again: Vec<u32> = in_block_12.into_iter().chain([0, 1, 2]).collect();
    observed.drive.overwrite(&again).unwrap();
    observed.drive.overwrite(&again[..4]).unwrap();
    assert_eq!(moved(&observed.drive, Cause::Cleaning), 8);
    observed.take_effects();
    observed.effects.clear();
    observed
}

/// Reads unit 9, of an MSB page of block 0, until it is moved; at its 100th read the block waits for cleaning, which
/// has nothing to gain, and at the next it waits no more.
fn read_until_moved(drive: &mut Drive) {
    let cleaned = moved(drive, Cause::Cleaning);
    for _ in 0..100 {
        assert_eq!(drive.stats().ftl.reclaims, 0);
        read(drive, 9);
    }
    assert_eq!((drive.stats().ftl.reclaims, moved(drive, Cause::Cleaning)), (0, cleaned));
    read(drive, 9);
    assert_eq!(drive.stats().ftl.reclaims, 1);
}

#[test]
fn with_one_block_to_spare_the_disturbed_block_is_dealt_alone() {
    let mut observed = one_to_spare(&tight(0.0));
    read_until_moved(&mut observed.drive);
    let copies = observed.copies();
    // 21 units: 8 on LSB pages, the hot one first, 8 on CSB, 5 on MSB pages; LSB, CSB, MSB, LSB, CSB, MSB.
    let lpns: Vec<u32> = copies.iter().map(|copy| copy.0).collect();
    let pages =
        [&[9, 3, 4, 5][..], &[11, 12, 13, 14], &[19, 20, 21, 22], &[6, 7, 8, 10], &[15, 16, 17, 18], &[23]];
    assert_eq!(lpns, pages.concat());
    let target = copies[0].2 / UNITS;
    assert!((13..15).contains(&target), "a free block, not {target}");
    assert_eq!(
        copies.iter().map(|copy| copy.2).collect::<Vec<_>>(),
        (target * UNITS..).take(21).collect::<Vec<_>>()
    );
    // No partner moved, and read-resistant the block is.
    assert_eq!((observed.erased(), observed.drive.chips().mode(target)), (vec![0], 1));
    observed.drive.check().unwrap();
}

#[test]
fn with_none_to_spare_the_disturbed_block_moves_as_by_cleaning() {
    let mut observed = none_to_spare(&tight(0.0));
    read_until_moved(&mut observed.drive);
    let copies = observed.copies();
    // In their order, whatever their heat: four pages that cleaning's block has left, and two of the last free one.
    let lpns: Vec<u32> = copies.iter().map(|copy| copy.0).collect();
    assert_eq!(lpns, (3..UNITS).collect::<Vec<_>>());
    let blocks: Vec<u32> = copies.iter().map(|copy| copy.2 / UNITS).collect();
    let (first, second) = (blocks[0], blocks[20]);
    assert!(first != second && blocks == [[first; 16].as_slice(), &[second; 5]].concat(), "{blocks:?}");
    // In the normal mode.
    assert_eq!([first, second].map(|block| observed.drive.chips().mode(block)), [0, 0]);
    assert_eq!(observed.erased(), [0]);
    let erases = observed.drive.stats().flash.ops[OpKind::Erase as usize];
    assert_eq!(erases[Cause::ReadReclaim as usize], 1);
    observed.drive.check().unwrap();
}

/// What may wait for the host's silence waits for more room than none.
#[test]
fn with_none_to_spare_silence_moves_nothing() {
    let mut observed = none_to_spare(&tight(0.0));
    observed.drive.set_executor(Executor::Timed);
    for _ in 0..96 {
        read(&mut observed.drive, 9);
    }
    let silent = observed.drive.now();
    observed.drive.advance_to(SimTime(silent.0 + 1_000_000_000));
    assert_eq!((observed.drive.stats().ftl.reclaims, observed.copies().len()), (0, 0));
    // At the limit it waits no more.
    for _ in 96..101 {
        read(&mut observed.drive, 9);
    }
    observed.drive.drain();
    assert_eq!((observed.drive.stats().ftl.reclaims, observed.copies().len()), (1, 21));
    observed.drive.check().unwrap();
}

/// The only target fails: what was read goes where cleaning's data goes, the two pages that are in the controller as
/// what the target holds already, and the rest stays.
#[test]
fn a_deal_whose_only_target_fails_is_cut_short() {
    let (mut seeds, mut found) = (0.., 0);
    while found < 2 {
        let mut cfg = tight(8_000.0);
        cfg.drive.seed = seeds.next().unwrap();
        // Many drives are built, and it is soon done where cells have no tables.
        cfg.errors.model = ErrorModel::None;
        let seed = cfg.drive.seed;
        assert!(seed < 1_000, "{found} found");
        let Some(mut observed) = filled(&cfg) else { continue };
        read_until_moved(&mut observed.drive);
        // What the target held is moved again: it is retired. With its last two pages all had left the source.
        let held = observed.copies().iter().filter(|copy| copy.1 >= 13 * UNITS).count() as u64;
        let stats = observed.drive.stats();
        if stats.flash.program_fails != 1 || held >= 16 {
            continue;
        }
        found += 1;
        let causes = [Cause::ReadReclaim, Cause::BadBlock, Cause::Cleaning];
        let moved = causes.map(|cause| stats.ftl.moved_units[cause as usize]);
        assert_eq!(moved, [held + 8, held, 13 - held], "seed {seed}");
        // The source is worth cleaning now.
        let erased = stats.flash.ops[OpKind::Erase as usize];
        assert_eq!(
            [Cause::ReadReclaim, Cause::Cleaning].map(|cause| erased[cause as usize]),
            [0, 1],
            "seed {seed}"
        );
        assert_eq!((stats.ftl.lost_units, stats.ftl.retired_blocks), (0, 1), "seed {seed}");
        observed.drive.check().unwrap();
    }
}

/// Two blocks come to their limit together. Of nine blocks four hold data and two are kept for moves: the first deal
/// takes two of the other three, and the second waits until a source of the first is erased.
#[test]
fn a_deal_that_finds_no_room_waits_for_the_sources_of_the_last() {
    let mut cfg = config(Params { max_reads: 100, counters: Counters::Exact, ..Params::default() });
    (cfg.geometry.blocks_per_plane, cfg.cleaning.reserve_blocks) = (9, 2);
    cfg.drive.over_provisioning_percent = 125.0;
    let mut drive = Observed::new(&cfg, 24).drive;
    drive.set_executor(Executor::Timed);
    for _ in 0..100 {
        read(&mut drive, 2);
        read(&mut drive, 8);
    }
    let mut erased = Vec::new();
    loop {
        let stats = drive.stats();
        erased.resize(stats.ftl.reclaims as usize, stats.ftl.reclaimed_blocks);
        let Some(at) = drive.next_event_at() else { break };
        drive.advance_to(at);
    }
    assert_eq!(erased, [0, 1]);
    // Both with a partner, and nothing was cleaned.
    assert_eq!([Cause::ReadReclaim, Cause::Cleaning].map(|cause| moved(&drive, cause)), [24, 0]);
    assert_eq!(drive.stats().ftl.reclaimed_blocks, 4);
    drive.check().unwrap();
}
