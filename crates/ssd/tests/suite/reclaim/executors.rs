//! Time must not change what moves; snapshots, repetition and everything else that goes on beside.

use crate::reclaim::support::*;
use ssd::rng::Rng;
use ssd::sections::Superblock;
use ssd::{Drive, DriveConfig, Executor, OpCode, Status};

fn members() -> Vec<DriveConfig> {
    let block = config("block", &[("max_reads", integer(300))]);
    let page_type = config("page_type", &[("max_reads", integer(300))]);
    vec![block, page_type, straw("exact"), straw("space_saving"), plainly_read(config("lazy_exact", &[]))]
}

/// One read after the other, with time for what it starts: both executors move the same units from the same places in
/// the same order, and lose nothing.
#[test]
fn both_executors_move_the_same() {
    for cfg in members() {
        let run = |executor| {
            let mut drive = filled(&cfg, executor);
            drive.record_effects(true);
            let mut found = Vec::new();
            for unit in reads(Shape::Hammer, drive.logical_units(), 1, 40_000) {
                assert_eq!(read(&mut drive, unit), Status::Ok);
                drive.drain();
                // Pages that took several attempts arrive after those read later.
                let mut now = moved(&mut drive);
                now.sort_unstable();
                found.extend(now);
            }
            found
        };
        let functional = run(Executor::Functional);
        assert!(functional.len() > 20, "{}: {}", cfg.read_reclaim.name(), functional.len());
        assert_eq!(run(Executor::Timed), functional, "{}", cfg.read_reclaim.name());
    }
}

/// Reads, writes and trims, 8 at a time.
fn churn(drive: &mut Drive, rng: &mut Rng, count: u32) {
    let mut done = 0;
    while done < count {
        let hot = rng.below(3) > 0;
        let unit = if hot { 16 } else { 20 + rng.below(drive.logical_units() - 20) };
        let op = match rng.below(100) {
            0 if !hot => OpCode::Trim,
            1..20 if !hot => OpCode::Write,
            _ => OpCode::Read,
        };
        let command = command(drive, op, unit);
        while drive.outstanding() >= 8 {
            assert!(drive.advance_to_completion(), "stuck");
            while drive.pop_completion().is_some() {
                done += 1;
            }
        }
        drive.submit(0, &command, drive.now()).expect("room in the queue");
    }
}

fn saved(drive: &Drive) -> Vec<u8> {
    let mut bytes = Vec::new();
    drive.save(&mut bytes).expect("room");
    bytes
}

/// Snapshots at any time, in the middle of moves too: the restored drive is the same and goes the same way.
#[test]
fn snapshots_in_the_middle_of_moves() {
    for cfg in members() {
        let mut drive = filled(&cfg, Executor::Timed);
        let mut rng = Rng::named(2, "churn");
        for _ in 0..60 {
            churn(&mut drive, &mut rng, 97);
            let bytes = saved(&drive);
            let mut restored = Drive::restore(&cfg, &bytes).expect("a snapshot");
            assert!(saved(&restored) == bytes, "{}", cfg.read_reclaim.name());
            let mut again = rng.clone();
            churn(&mut restored, &mut again, 60);
            let mut old = std::mem::replace(&mut drive, restored);
            churn(&mut old, &mut rng, 60);
            assert_eq!(
                (old.event_hash(), old.stats(), old.now()),
                (drive.event_hash(), drive.stats(), drive.now())
            );
        }
        assert!(drive.stats().ftl.reclaimed_pages > 5, "{}", cfg.read_reclaim.name());
    }
}

/// Beside cleaning, overwrites, trims, wear levelling and blocks that fail, on single planes and on superblocks, with
/// small units: tables agree, and nothing is lost that the policy is there to save.
#[test]
fn beside_everything_else() {
    for mut cfg in members() {
        for (superblock, order) in [
            (Superblock::None, ssd::sections::ProgramOrder::WordlineMajor),
            (Superblock::Planes, ssd::sections::ProgramOrder::Shadow),
        ] {
            cfg.geometry.planes_per_die = 2;
            cfg.allocation.superblock = superblock;
            cfg.cell.program_order = order;
            cfg.mapping.unit = ssd::sections::MappingUnit::FourKib;
            cfg.reliability.program_fail_ppm = 20.0;
            // For cells as weak as these.
            cfg.scheduling.due_bypass_limit = 1;
            if let Some(levels) = cfg.section_mut("ftl.wear_leveling") {
                levels.select("static_swap").unwrap();
            }
            for executor in [Executor::Functional, Executor::Timed] {
                let mut drive = filled(&cfg, executor);
                let mut rng = Rng::named(3, "churn");
                for _ in 0..30 {
                    churn(&mut drive, &mut rng, 2_000);
                    drive.check().unwrap();
                }
                drive.drain();
                drive.check().unwrap();
                let (stats, worst) = (drive.stats(), drive.blocks().worst_disturb_q12().unwrap());
                println!(
                    "{} {executor:?} {superblock:?}: {} moved by reads, lost {}, most {} then {worst}",
                    cfg.read_reclaim.name(),
                    stats.ftl.reclaimed_pages,
                    stats.ftl.lost_units,
                    stats.ftl.disturbed_q12_max
                );
                assert!(stats.ftl.reclaimed_pages > 20, "{}", cfg.read_reclaim.name());
                // Where time passes `page_type` still loses on superblocks: told, not promised.
                let is_promised = executor == Executor::Functional || cfg.read_reclaim.name() != "page_type";
                assert!(
                    stats.ftl.lost_units == 0 || !is_promised,
                    "{} {executor:?}",
                    cfg.read_reclaim.name()
                );
            }
        }
    }
}

#[test]
fn the_same_seed_moves_the_same() {
    for cfg in members() {
        let run = || {
            let mut drive = filled(&cfg, Executor::Timed);
            churn(&mut drive, &mut Rng::named(4, "churn"), 10_000);
            (drive.event_hash(), drive.stats())
        };
        assert_eq!(run(), run(), "{}", cfg.read_reclaim.name());
    }
}
