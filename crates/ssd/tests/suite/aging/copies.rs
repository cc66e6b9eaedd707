//! Data that is copied inside the chips: errors add up from copy to copy (RealWear section 3.4.5), and what limits of
//! copies in a row make of that.

use crate::aging::support::{YEAR, chip, config, fill, minutes, model, near};
use crate::support::every::select;
use ssd::config::{Table, Value};
use ssd::flash::op::OpKind;
use ssd::ftl::migration::{Member, Worn, copyback_by_age};
use ssd::nand::aging::Sequence;
use ssd::nand::cell::{CellPart, CellState, Group};
use ssd::nand::{Chip, Outcome};
use ssd::rng::Rng;
use ssd::sections::{DisturbLaw, MappingUnit, Superblock};
use ssd::{Command, Drive, DriveConfig, Executor, Lba, OpCode};

/// The first entry of the retry table: the voltages of fresh data.
const FIRST: Sequence = Sequence::entry(0);
/// What a byte of carried errors counts where 64 bits are corrected: halves, of which 255 are more than that.
const UNIT_Q8: u32 = 128;

fn copy(chip: &mut Chip, from: (u32, u32), to: u32) -> u32 {
    let page = chip.programmed_pages(to);
    assert_eq!(chip.copy(from, (to, page), chip.mode(to), &FIRST), Outcome::Pass);
    page
}

/// Chips of that wear, whose pages carry errors.
fn worn(cfg: &DriveConfig, cycles: u32) -> Chip {
    let mut chip = chip(cfg).with_copies();
    (0..chip.blocks()).for_each(|block| chip.set_erase_count(block, cycles));
    chip
}

/// Errors of a fresh page of a group with the voltages of fresh data, as the exact model has them.
fn fresh_bits(cfg: &DriveConfig, cycles: u32, group: u8, page_type: u8) -> f64 {
    let cells = model(cfg);
    let kcycles = f64::from(cycles) / 1e3;
    let height = cells.height_of(Group::ALL[usize::from(group)]);
    let state = CellState { wear_kcycles: kcycles, height, ..CellState::default() };
    let volts = cells.retry_references(kcycles, 0, 0);
    cells.sector_bits(cells.page_rber(&cells.distribution(&state), usize::from(page_type), &volts))
}

/// n copies of fresh data carry n times its errors: without noise to the rounding of each copy; with noise even up to 2
/// bits to that of each copy, and in the mean of all pages without.
#[test]
fn errors_grow_with_every_copy() {
    for (noise, law) in [(0.0, DisturbLaw::Linear), (2.0, DisturbLaw::Linear), (2.0, DisturbLaw::Voltage)] {
        for cycles in [500, 2_000, 6_000, 10_000] {
            let mut cfg = config();
            (cfg.cells.effects.rtn_bits, cfg.errors.disturb_law) = (noise, law);
            let mut chip = worn(&cfg, cycles);
            fill(&mut chip, 0);
            let pages = chip.pages_per_block();
            for copies in 1..=6 {
                let mut sum = 0.0;
                for page in 0..pages {
                    // All pages of a block in turn, so that each is copied to a page like itself.
                    assert_eq!(copy(&mut chip, (copies - 1, page), copies), page);
                    let at = chip.page_age(0, page);
                    let expected = f64::from(copies) * fresh_bits(&cfg, cycles, at.group, at.page_type);
                    let found = f64::from(chip.carried_q8(copies, page)) / 256.0;
                    // A quarter of a bit is the rounding, a tenth what the tables are off.
                    near(found, expected, f64::from(copies) * (0.4 + noise));
                    sum += found - expected;
                }
                // Noise spreads what is rounded.
                if noise > 0.0 {
                    near(sum / f64::from(pages), 0.0, f64::from(copies) * 0.15);
                }
            }
        }
    }
}

/// What a page carries adds to every read of it, whatever the voltages: the best ones, too; an erase and the controller
/// end it.
#[test]
fn carried_errors_add_to_reads_until_the_controller_writes_the_data() {
    let cfg = config();
    let mut chip = worn(&cfg, 4_000);
    fill(&mut chip, 0);
    for block in 1..4 {
        (0..chip.pages_per_block()).for_each(|page| _ = copy(&mut chip, (block - 1, page), block));
    }
    fill(&mut chip, 4);
    chip.advance_clock(minutes(YEAR));
    let margins = |page| [4, 3].map(|block| chip.margin(block, page).expect("cells that age"));
    let margins: Vec<_> = (0..chip.pages_per_block()).map(margins).collect();
    let mut failed = 0;
    for (page, [own, copied]) in (0..).zip(margins) {
        assert_eq!(copied.bits_q8, own.bits_q8 + chip.carried_q8(3, page));
        assert_eq!(chip.carried_q8(4, page), 0);
        assert!(chip.sense(4, page, 0).readable);
        let sensed = chip.sense(3, page, 0);
        assert_eq!(sensed.readable, copied.bits_q8 <= copied.limit_q8, "{page}: {copied:?}");
        failed += u32::from(!sensed.readable);
    }
    assert!(failed < chip.pages_per_block(), "all lost: nothing to see");
    chip.erase(3);
    fill(&mut chip, 3);
    assert!((0..chip.pages_per_block()).all(|page| chip.carried_q8(3, page) == 0));
}

/// What a copy carries depends on the voltages that its source is read with, and on all that has become of that: time
/// and reads.
#[test]
fn a_copy_takes_the_errors_that_its_voltages_leave() {
    let cfg = config();
    let mut chip = worn(&cfg, 4_000);
    fill(&mut chip, 0);
    let carried = |chip: &mut Chip, entry: u8| {
        let to = chip.programmed_pages(1);
        assert_eq!(chip.copy((0, 72), (1, to), 0, &Sequence::entry(entry)), Outcome::Pass);
        chip.carried_q8(1, to)
    };
    let fresh = carried(&mut chip, 0);
    let before = chip.effective_reads(0, 10);
    carried(&mut chip, 0);
    assert!(chip.effective_reads(0, 10) > before, "a copy reads its source");
    chip.advance_clock(minutes(7 * 1_440));
    let by_entry: Vec<u32> = (0..16).map(|entry| carried(&mut chip, entry)).collect();
    // A week at the voltages of fresh data: more than three times the errors; the best entry has far fewer.
    assert!(by_entry[0] > 3 * fresh && by_entry.iter().min() < Some(&(by_entry[0] / 2)), "{by_entry:?}");
    while chip.disturb_q12(0, 72) < Some(2_048) {
        chip.sense(0, 75, 0);
    }
    let best = (0..16).min_by_key(|&entry| by_entry[usize::from(entry)]).expect("16 entries");
    assert!(carried(&mut chip, best) > by_entry[usize::from(best)] + 20 * 256, "half of what reads may add");
}

/// What is lost stays lost: the count of a page ends above what is ever corrected.
#[test]
fn no_number_of_copies_makes_data_whole() {
    let cfg = config();
    let mut chip = worn(&cfg, 4_000);
    chip.program(0, 0);
    (1..chip.pages_per_block()).for_each(|page| assert_eq!(copy(&mut chip, (0, page - 1), 0), page));
    let last = chip.pages_per_block() - 1;
    assert_eq!(chip.carried_q8(0, last), 255 * UNIT_Q8);
    let readable: Vec<bool> = (0..=last).map(|page| chip.sense(0, page, 0).readable).collect();
    let first_lost = readable.iter().position(|readable| !readable).expect("lost in the end");
    assert!((4..9).contains(&first_lost) && readable[first_lost + 3..].iter().all(|readable| !readable));
}

/// 4 planes of 30 TLC blocks that differ, of 48 wordlines; their units are pages.
fn varied(policy: &str) -> DriveConfig {
    let mut cfg = config();
    (cfg.geometry.channels, cfg.geometry.blocks_per_plane) = (2, 30);
    cfg.errors.variation = true;
    cfg.drive.over_provisioning_percent = 60.0;
    cfg.cells = CellPart::preset("tlc_48l").expect("a shipped part");
    cfg.mapping.unit = MappingUnit::Page;
    select(&mut cfg, "ftl.age_marker", "real_wear");
    cfg.buffer.select("none").expect("a policy");
    cfg.migration.select(policy).expect("a policy");
    // Each block a lane, cleaned in turn: data that nobody writes moves again and again, in its plane.
    cfg.allocation.superblock = Superblock::None;
    cfg.gc_victim.select("fifo").expect("a policy");
    cfg
}

/// Copies data of each block so often in a row, page after page of it, reads all of it after 12 months, and counts what
/// was copied most often and is lost.
fn lost_after(chip: &mut Chip, copies: &[u32]) -> u32 {
    let pages = chip.pages_per_block();
    for (block, &copies) in (0..).zip(copies) {
        for page in 0..pages {
            match page % (copies + 1) {
                0 => assert_eq!(chip.program(block, page), Outcome::Pass),
                _ => assert_eq!(copy(chip, (block, page - 1), block), page),
            }
        }
    }
    chip.advance_clock(minutes(YEAR));
    let mut lost = 0;
    for (block, &copies) in (0..).zip(copies) {
        let ends = (0..pages).filter(|page| page % (copies + 1) == copies);
        lost += ends.filter(|&page| !chip.sense(block, page, 0).readable).count() as u32;
    }
    lost
}

/// The formula of FastCopy in blocks that differ. By what the marker says of them none of the data that has as many
/// copies behind it as it may is lost in 12 months; by what they are, one copy more loses some.
#[test]
fn a_limit_one_too_high_loses_data_and_ours_never() {
    let cfg = varied("copyback_by_age");
    let mut policy = copyback_by_age::Policy::new(&copyback_by_age::Params::default());
    policy.learn(&model(&cfg));
    let population = &cfg.cells.population;
    for cycles in [300, 2_460, 3_500, 6_150] {
        let mut drive = Drive::new(&cfg).expect("a drive");
        drive.age(&format!("cycle to {cycles}").parse().expect("a step")).expect("room in the tables");
        let mut chip = drive.chips().clone().with_copies();
        let blocks = chip.blocks();
        let limits = |age_q12: &dyn Fn(u32) -> u32| -> Vec<u32> {
            let left_q8 = |block| 4 * 4_096_u32.saturating_sub(age_q12(block));
            let of_block =
                |block| u32::from(policy.limit(&Worn { cycles, left_q8: left_q8(block), ..Worn::default() }));
            (0..blocks).map(of_block).collect()
        };
        let true_age = |block| {
            let wear = drive.chips().true_wear(block).expect("cells that age").equivalent_cycles;
            let n12 = population.mean_n12 + population.mean_growth * f64::from(wear) / 1e3;
            (n12 * 64.0) as u32
        };
        let one_more: Vec<u32> = limits(&true_age).iter().map(|limit| limit + 1).collect();
        let limits = limits(&|block| drive.blocks().age_q12(block));
        assert!(limits.iter().filter(|&&limit| limit > 0).count() > 20, "{cycles}: {limits:?}");
        assert_eq!(lost_after(&mut chip.clone(), &limits), 0, "{cycles}");
        let lost = lost_after(&mut chip, &one_more);
        assert!(lost > 0 || cycles < 2_000, "{cycles}: {one_more:?}");
    }
}

fn submit(drive: &mut Drive, op: OpCode, unit: u32) {
    let sectors = drive.unit_bytes() / 512;
    let lba = Lba(u64::from(unit) * u64::from(sectors));
    let command = Command { op, lba, sectors, arrival: drive.now(), ..Command::default() };
    while drive.outstanding() >= 16 {
        assert!(drive.advance_to_completion(), "stuck");
        while drive.pop_completion().is_some() {}
    }
    drive.submit(0, &command, drive.now()).expect("a place in the queue");
}

fn finish(drive: &mut Drive) {
    drive.drain();
    while drive.pop_completion().is_some() {}
}

/// A worn drive, full; half of it written over several times, so that the other half moves again and again.
fn moved(cfg: &DriveConfig, cycles: u32, executor: Executor) -> Drive {
    let mut drive = Drive::new(cfg).expect("a drive");
    drive.age(&format!("cycle to {cycles}").parse().expect("a step")).expect("room in the tables");
    drive.set_executor(executor);
    drive.fill(0, drive.logical_units()).expect("room");
    drive.reset_stats();
    let (mut rng, units) = (Rng::named(5, "copies"), drive.logical_units());
    // Where time passes much is overwritten in slots, and few blocks allow the most copies.
    let times = if executor == Executor::Timed { 24 } else { 8 };
    for _ in 0..times * units {
        submit(&mut drive, OpCode::Write, 2 * rng.below(units / 2));
    }
    finish(&mut drive);
    drive.check().expect("whole");
    drive
}

/// Reads all that a drive holds after 12 months; units lost by then, found by moves or by reads.
fn lost(mut drive: Drive) -> u64 {
    drive.age(&"retain 12 months".parse().expect("a step")).expect("room in the tables");
    (0..drive.logical_units()).for_each(|unit| submit(&mut drive, OpCode::Read, unit));
    finish(&mut drive);
    drive.stats().ftl.lost_units
}

/// Whole drives: FastCopy copies up to its limits and loses nothing; one that copies always does, and says so.
#[test]
fn a_drive_that_copies_by_age_loses_nothing() {
    for (cycles, most) in [(2_460, 3), (6_150, 2)] {
        for executor in [Executor::Functional, Executor::Timed] {
            let of = |policy| moved(&varied(policy), cycles, executor);
            let drive = of("copyback_by_age");
            let counts = drive.stats().ftl;
            assert_eq!(counts.copies, drive.stats().flash.ops[OpKind::Copyback as usize].iter().sum::<u64>());
            assert!(counts.copies > 3_000 && counts.copies_refused_by_limit > 100, "{cycles}: {counts:?}");
            assert_eq!(
                (counts.copies_in_a_row_max, counts.copies_refused_by_age_of_data),
                (most, 0),
                "{cycles}"
            );
            assert_eq!(lost(drive), 0, "{cycles}");
            assert_eq!(lost(of("off_chip")), 0, "{cycles}");
            assert!(lost(of("copyback_always")) > 20, "{cycles}");
        }
    }
}

/// Limits by cycles hold for blocks of those cycles; where blocks have four times as many, data is lost.
#[test]
fn by_cycles_the_worst_blocks_set_the_limit() {
    let mut cfg = varied("copyback_by_cycles");
    for (per_limit, in_a_row) in [(1_000, 1), (4_000, 3)] {
        cfg.migration.set("cycles_per_limit", &Value::Integer(per_limit)).expect("a parameter");
        let drive = moved(&cfg, 4_900, Executor::Functional);
        assert_eq!(drive.stats().ftl.copies_in_a_row_max, in_a_row);
        assert_eq!(lost(drive) > 0, in_a_row > 1);
    }
}

/// Old data goes past the controller, which corrects it: copied, it would carry all that time has done to it.
#[test]
fn old_data_is_not_copied() {
    let lost_by = |hours: f64| {
        let mut cfg = varied("copyback_by_age");
        cfg.migration.set("max_source_hours", &Value::Float(hours)).expect("a parameter");
        let mut drive = moved(&cfg, 2_460, Executor::Functional);
        drive.age(&"retain 7 days".parse().expect("a step")).expect("room in the tables");
        drive.reset_stats();
        let (mut rng, units) = (Rng::named(6, "copies"), drive.logical_units());
        for _ in 0..units {
            submit(&mut drive, OpCode::Write, 2 * rng.below(units / 2));
        }
        finish(&mut drive);
        (drive.stats().ftl.copies_refused_by_age_of_data, lost(drive))
    };
    let (refused, lost) = lost_by(1.0);
    assert!(refused > 1_000 && lost == 0, "{refused} {lost}");
    // A week, and the reads that show it are those of fresh data.
    let (refused, lost) = lost_by(200.0);
    assert!(refused == 0 && lost > 0, "{refused} {lost}");
}

/// A snapshot holds what pages carry, how often their data was copied, and copies under way.
#[test]
fn a_snapshot_keeps_copies() {
    let cfg = varied("copyback_by_age");
    let mut drive = moved(&cfg, 2_460, Executor::Timed);
    let units = drive.logical_units();
    let write = |drive: &mut Drive, unit: u32| submit(drive, OpCode::Write, unit % units);
    (0..units / 2).for_each(|unit| write(&mut drive, 2 * unit));
    let mut bytes = Vec::new();
    drive.save(&mut bytes).expect("room");
    let mut restored = Drive::restore(&cfg, &bytes).expect("a snapshot");
    for drive in [&mut drive, &mut restored] {
        (0..units / 2).for_each(|unit| write(drive, 2 * unit));
        finish(drive);
    }
    assert_eq!(restored.event_hash(), drive.event_hash());
    let carried = |drive: &Drive| {
        let pages = |block| (0..drive.chips().programmed_pages(block)).map(move |page| (block, page));
        let all = (0..drive.chips().blocks()).flat_map(pages);
        all.map(|(block, page)| u64::from(drive.chips().carried_q8(block, page))).sum::<u64>()
    };
    assert!(carried(&drive) > 0);
    assert_eq!(carried(&restored), carried(&drive));
    assert_eq!(restored.stats(), drive.stats());
}
