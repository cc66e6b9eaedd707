//! Copies inside the chips on whole drives: as many as the ages of blocks allow lose nothing, more do.

use crate::support::every::{has, select};
use ssd::config::{Table, Value};
use ssd::flash::op::{Cause, OpKind};
use ssd::rng::Rng;
use ssd::sections::{CellPart, ErrorModel, Errors, MappingUnit, Superblock};
use ssd::{Command, Drive, DriveConfig, Executor, Lba, OpCode};

/// 4 planes of 30 blocks of 48 wordlines that differ.
fn config() -> DriveConfig {
    let mut cfg = DriveConfig::default();
    let g = &mut cfg.geometry;
    (g.channels, g.chips_per_channel, g.dies_per_chip, g.planes_per_die) = (2, 1, 1, 2);
    (g.blocks_per_plane, g.wordlines_per_block) = (30, 48);
    cfg.errors = Errors { model: ErrorModel::Cells, variation: true, ..Errors::default() };
    cfg.drive.over_provisioning_percent = 60.0;
    cfg
}

/// 4 planes of 30 TLC blocks that differ, of 48 wordlines; their units are pages.
fn varied(policy: &str) -> DriveConfig {
    let mut cfg = config();
    cfg.cells = CellPart::preset("tlc_48l").expect("a shipped part");
    cfg.mapping.unit = MappingUnit::Page;
    select(&mut cfg, "ftl.age_marker", "real_wear");
    cfg.buffer.select("none").expect("a policy");
    select(&mut cfg, "ftl.migration", policy);
    // Each block a lane, cleaned in turn: data that nobody writes moves again and again, in its plane.
    cfg.allocation.superblock = Superblock::None;
    cfg.gc_victim.select("fifo").expect("a policy");
    cfg
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
    if !has("ftl.age_marker") {
        return;
    }
    for (cycles, most) in [(2_460, 3), (6_150, 2)] {
        for executor in [Executor::Functional, Executor::Timed] {
            let of = |policy| moved(&varied(policy), cycles, executor);
            let drive = of("copyback_by_age");
            let (counts, own) = (drive.stats().ftl, drive.stats().techniques.migration);
            assert_eq!(counts.copies, drive.stats().flash.ops[OpKind::Copyback as usize].iter().sum::<u64>());
            assert!(counts.copies > 3_000 && own.copies_refused_by_limit > 100, "{cycles}: {counts:?}");
            assert_eq!((own.copies_in_a_row_max, own.copies_refused_by_age_of_data), (most, 0), "{cycles}");
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
        assert_eq!(drive.stats().techniques.migration.copies_in_a_row_max, in_a_row);
        assert_eq!(lost(drive) > 0, in_a_row > 1);
    }
}

/// Old data goes past the controller, which corrects it: copied, it would carry all that time has done to it.
#[test]
fn old_data_is_not_copied() {
    if !has("ftl.age_marker") {
        return;
    }
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
        (drive.stats().techniques.migration.copies_refused_by_age_of_data, lost(drive))
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
    if !has("ftl.age_marker") {
        return;
    }
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

/// Pages of four units are copied if all of them are valid, and read into the controller if not. Nothing is lost either
/// way.
#[test]
fn pages_are_copied_whole_or_not_at_all() {
    for executor in [Executor::Timed, Executor::Functional] {
        let mut cfg = varied("copyback_by_cycles");
        cfg.mapping.unit = MappingUnit::FourKib;
        cfg.buffer.select("lru_write").expect("a policy");
        let drive = moved(&cfg, 0, executor);
        let stats = drive.stats();
        let units: u64 = stats.ftl.moved_units.iter().sum();
        let (copies, refused) = (stats.ftl.copies, stats.ftl.copies_refused_by_valid);
        // Every other unit is never overwritten: once moved, such units fill pages that stay whole.
        assert!(copies > 100 && refused > 100, "{executor:?}: {copies} pages copied, {refused} not whole");
        assert!(4 * copies < units, "{executor:?}: {copies} pages of {units} units");
        assert_eq!(stats.ftl.lost_units, 0);
    }
}

/// Blocks of four wordlines of three pages in one plane; unit 4 is trimmed, and reprogrammed. When its block is the
/// first that is cleaned, units 3 and 5 beside it go through the controller, which finds whether they are lost; the
/// other nine are copied.
#[test]
fn nothing_is_copied_off_a_reprogrammed_wordline() {
    for executor in [Executor::Timed, Executor::Functional] {
        let mut cfg = varied("copyback_always");
        let g = &mut cfg.geometry;
        (g.channels, g.planes_per_die, g.blocks_per_plane, g.wordlines_per_block) = (1, 1, 30, 4);
        cfg.errors = Errors::default();
        select(&mut cfg, "ftl.age_marker", "none");
        select(&mut cfg, "ftl.sanitize", "reprogram");
        let mut drive = Drive::new(&cfg).expect("a drive");
        drive.set_executor(executor);
        drive.fill(0, drive.logical_units()).expect("room");
        submit(&mut drive, OpCode::Trim, 4);
        finish(&mut drive);
        assert_eq!((drive.stats().ops(OpKind::Reprogram), drive.stats().ftl.sanitize_copies), (1, 0));
        let mut at = drive.logical_units();
        while drive.stats().ftl.reclaimed_blocks == 0 {
            at -= 1;
            submit(&mut drive, OpCode::Write, at);
            finish(&mut drive);
        }
        let stats = drive.stats();
        let reads = stats.flash.ops[OpKind::Read as usize][Cause::Cleaning as usize];
        let (refused, copies) = (stats.ftl.copies_refused_by_reprogram, stats.ftl.copies);
        assert_eq!(reads, refused, "{executor:?}: all other pages are copied");
        // The next block was begun; where time passes, one of those that were written again, with such wordlines, too.
        assert!(copies >= 9 && refused >= 2 && (executor == Executor::Timed || refused == 2), "{refused}");
        drive.check().expect("whole");
    }
}
