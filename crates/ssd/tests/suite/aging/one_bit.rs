//! Blocks of one bit a cell (`ftl.slc_cache`) whose cells age: by a part of their own, and less.

use crate::aging::support::{self, YEAR, minutes, near};
use ssd::config::{Table, Value};
use ssd::nand::aging::Uses;
use ssd::nand::cell::CellPart;
use ssd::nand::{Chip, Outcome};
use ssd::sections::{ErrorModel, Errors, MappingUnit};
use ssd::{AgeStep, Command, Drive, DriveConfig, Executor, Lba, OpCode};

/// A plane of blocks of 48 wordlines that do not differ, of so many bits a cell.
fn of_bits(bits: u32, part: &str) -> DriveConfig {
    let mut cfg = DriveConfig::default();
    let g = &mut cfg.geometry;
    (g.channels, g.chips_per_channel, g.dies_per_chip, g.planes_per_die) = (1, 1, 1, 1);
    (g.blocks_per_plane, g.wordlines_per_block, g.bits_per_cell) = (8, 48, bits);
    cfg.cells = CellPart::preset(part).expect("a shipped part");
    cfg.errors = Errors { model: ErrorModel::Cells, variation: false, ..Errors::default() };
    cfg
}

/// QLC blocks that can be used with one bit a cell, and the mode for that.
fn both(wear: f64) -> (Chip, u8) {
    let mut cfg = of_bits(4, "qlc");
    cfg.slc.wear = wear;
    let g = &cfg.geometry;
    let chip = Chip::new(g.planes(), g.blocks_per_plane, g.pages_per_block(), &cfg.reliability, 1);
    let uses = Uses { one_bit: true, ..Uses::default() };
    (chip.with_cells_for(&cfg, uses).expect("parts that fit"), cfg.one_bit_mode())
}

/// Programs so many pages of an erased block in a mode.
fn fill_in(chip: &mut Chip, block: u32, pages: u32, mode: u8) {
    for page in 0..pages {
        assert_eq!(chip.program_in(block, page, mode), Outcome::Pass);
    }
}

/// Cycles of the average block that make as many errors.
fn wear_of(chip: &Chip, block: u32) -> u32 {
    chip.true_wear(block).expect("cells that age").equivalent_cycles
}

/// By hand: 300 cycles of all bits and 2,000 of one, each a tenth of one, are 500; the same of .25 800.
#[test]
fn a_cycle_of_one_bit_wears_its_share() {
    for (wear, expected) in [(0.1, 500.0), (0.25, 800.0)] {
        let (mut chip, one_bit) = both(wear);
        for (count, pages, mode) in [(300, 192, 0), (2_000, 48, one_bit)] {
            for _ in 0..count {
                fill_in(&mut chip, 0, pages, mode);
                assert_eq!(chip.is_one_bit(0), mode == one_bit);
                chip.erase(0);
                assert!(!chip.is_one_bit(0));
            }
        }
        let worn = chip.true_wear(0).expect("cells that age");
        near(worn.done_q20 as f64 / f64::from(1 << 20), expected, 0.01);
        chip.set_erase_count(1, expected as u32);
        assert!(worn.equivalent_cycles.abs_diff(wear_of(&chip, 1)) <= 1);
        // What the firmware counts as cycles are those.
        near(f64::from(chip.page_age(0, 0).cycles), expected, 1.0);
        assert_eq!(chip.erase_count(0), 2_300);
    }
}

/// A block that has only been used with one bit a cell is like one of that part with ten times the wear: 4,000 cycles
/// of it are 400 of QLC. So are its errors, at any age of its data, and what its wordlines endure.
#[test]
fn a_block_of_one_bit_is_like_one_of_its_part() {
    for (cycles, days) in [(0, 0), (4_000, 0), (4_000, 30), (20_000, 365), (50_000, 3 * 365)] {
        let (mut chip, one_bit) = both(0.1);
        chip.set_erase_count(0, cycles / 10);
        let mut own = support::chip(&of_bits(1, "slc"));
        // What an average block was born with counts as wear, and so ten times: another block of the part has as much.
        let wear = 10 * wear_of(&chip, 0);
        let mut as_worn = |at: &u32| {
            own.set_erase_count(1, *at);
            wear_of(&own, 1) <= wear
        };
        let alike = (0..=cycles).rfind(&mut as_worn).expect("an unworn block");
        own.set_erase_count(1, alike);
        own.set_erase_count(0, cycles);
        for (chip, mode) in [(&mut chip, one_bit), (&mut own, 0)] {
            (0..2).for_each(|block| fill_in(chip, block, 48, mode));
            chip.advance_clock(minutes(days * YEAR / 365));
        }
        for page in [0, 7, 24, 40, 47] {
            let of = |chip: &Chip, block| chip.margin(block, page).expect("cells that age");
            let (found, expected) = (of(&chip, 0), of(&own, 1));
            assert_eq!(found.limit_q8, expected.limit_q8);
            let (found, expected) = (f64::from(found.bits_q8), f64::from(expected.bits_q8));
            near(found, expected, 0.02 * expected + 1.0);
        }
        // Ten thousand reads of one wordline.
        for chip in [&mut chip, &mut own] {
            (0..10_000).for_each(|_| assert!(chip.sense(0, 20, 0).readable));
        }
        for page in [19, 20, 21, 40] {
            let of = |chip: &Chip| f64::from(chip.margin(0, page).expect("cells that age").erc_q12);
            near(of(&chip), of(&own), 0.01 * of(&own) + 2.0);
        }
    }
}

/// A QLC drive of 40 blocks, ten of them a cache; the rest is mapped by the page.
fn cached() -> DriveConfig {
    let mut cfg = of_bits(4, "qlc");
    (cfg.geometry.blocks_per_plane, cfg.geometry.spare_bytes) = (40, 4_096);
    (cfg.mapping.unit, cfg.drive.over_provisioning_percent) = (MappingUnit::Page, 80.0);
    cfg.buffer.select("none").expect("a policy");
    cfg.slc_cache.select("fixed").expect("a policy");
    cfg.slc_cache.set("blocks_per_lane", &Value::Integer(10)).expect("a key");
    cfg
}

fn send(drive: &mut Drive, op: OpCode, unit: u32) {
    let sectors = drive.unit_bytes() / 512;
    let lba = Lba(u64::from(unit) * u64::from(sectors));
    let command = Command { op, lba, sectors, arrival: drive.now(), ..Command::default() };
    drive.submit(0, &command, drive.now()).expect("a queue with room");
    drive.drain();
    drive.pop_completion().expect("a completion");
}

fn age(drive: &mut Drive, text: &str) {
    drive.age(&text.parse::<AgeStep>().expect("a step")).expect("room in the tables");
}

/// After 1,500 cycles and a year QLC pages take many attempts or are lost, and pages of the cache are read at once.
#[test]
fn what_lies_in_the_cache_outlasts_the_rest() {
    let mut drive = Drive::new(&cached()).expect("a drive");
    drive.set_executor(Executor::Functional);
    age(&mut drive, "cycle to 1500");
    let units = drive.logical_units();
    (0..units).for_each(|unit| send(&mut drive, OpCode::Write, unit));
    drive.check().expect("a sound drive");
    age(&mut drive, "retain 12 months");
    drive.reset_stats();
    let retries = |drive: &Drive| {
        let counts = drive.stats().flash.retries;
        let (all, sum) =
            (0..).zip(counts).fold((0, 0), |(all, sum), (times, count)| (all + count, sum + times * count));
        (all, sum as f64 / all as f64)
    };
    // What was written last.
    (units - 100..units).for_each(|unit| send(&mut drive, OpCode::Read, unit));
    assert_eq!(drive.stats().ftl.slc_hits, 100);
    assert_eq!(retries(&drive), (100, 0.0));
    drive.reset_stats();
    (0..100).for_each(|unit| send(&mut drive, OpCode::Read, unit));
    assert_eq!(drive.stats().ftl.slc_hits, 0);
    let (read, mean) = retries(&drive);
    assert!(read == 100 && mean > 2.0, "{mean} retries of {read} pages");
    // A cache that is used has worn its blocks less than they were erased.
    let erased = |block| drive.chips().erase_count(block) - 1_500;
    let done =
        |block| drive.chips().true_wear(block).expect("cells that age").done_q20 as f64 / f64::from(1 << 20);
    let of_cache = (0..40).filter(|&block| erased(block) > 1).max_by_key(|&block| erased(block));
    let most = of_cache.expect("a block of the ring that was erased twice");
    near(done(most), 1_500.0 + 0.1 * f64::from(erased(most)), 0.01);
}
