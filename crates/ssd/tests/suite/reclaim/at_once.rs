//! Reads without commands come to the same as reads by commands, in everything that is counted.

use crate::reclaim::support::*;
use crate::support::every::has;
use ssd::rng::Rng;
use ssd::sections::{MappingUnit, ProgramOrder};
use ssd::{Drive, DriveConfig, Executor, Lba, OpCode, Status};

/// Pages are read by commands, or without where that can be; now and then something is written or trimmed.
fn run(cfg: &DriveConfig, at_once: bool) -> (Drive, u32, Vec<Status>) {
    let mut drive = filled(cfg, Executor::Functional);
    let mut rng = Rng::named(5, "choices");
    let sectors = drive.unit_bytes() / 512;
    let (mut without, mut ends) = (0, Vec::new());
    for unit in reads(Shape::Hammer, drive.logical_units(), 6, 60_000) {
        let other = rng.below(400);
        if other < 2 {
            act(&mut drive, if other == 0 { OpCode::Write } else { OpCode::Trim }, unit);
            drive.drain();
            drive.flush_buffer();
        }
        // Parts of units, whole ones, and several.
        let (skip, count) = (rng.below(sectors), 1 + rng.below(2 * sectors));
        let from = Lba(u64::from(unit) * u64::from(sectors) + u64::from(skip));
        let found = if at_once { drive.read_at_once(from, count) } else { None };
        without += u32::from(found.is_some());
        ends.push(found.unwrap_or_else(|| {
            let command = ssd::Command { lba: from, sectors: count, ..command(&drive, OpCode::Read, unit) };
            drive.submit(0, &command, drive.now()).expect("an empty queue");
            assert!(drive.advance_to_completion(), "stuck");
            drive.pop_completion().expect("a completion").status
        }));
    }
    drive.check().unwrap();
    (drive, without, ends)
}

#[test]
fn reads_without_commands_are_the_same_reads() {
    let small = |mut cfg: DriveConfig| {
        cfg.mapping.unit = MappingUnit::FourKib;
        cfg.cell.program_order = ProgramOrder::Shadow;
        cfg
    };
    let of_techniques = ["redftl", "redftl_plus"].map(|policy| {
        has(&format!("ftl.read_reclaim.{policy}")).then(|| config(policy, &[("max_reads", integer(300))]))
    });
    let [redftl, plus] = of_techniques;
    let members = [
        (config("never", &[]), true),
        (small(config("never", &[])), true),
        (config("block", &[]), false),
        (small(straw("exact")), false),
        (straw("space_saving"), false),
    ];
    let of_techniques = [redftl.map(small), plus].into_iter().flatten().map(|cfg| (cfg, false));
    for (cfg, loses) in members.into_iter().chain(of_techniques) {
        let name = cfg.read_reclaim.name();
        let (plain, none, ends) = run(&cfg, false);
        let (quick, without, quick_ends) = run(&cfg, true);
        let stats = plain.stats();
        println!("{name}: {without} of 60000 without commands, {} lost", stats.ftl.lost_units);
        assert_eq!(stats, quick.stats(), "{name}");
        assert_eq!((plain.event_hash(), ends), (quick.event_hash(), quick_ends), "{name}");
        assert!(none == 0 && without > 5_000, "{name}: {without}");
        assert!(if loses { stats.ftl.lost_units > 0 } else { stats.ftl.reclaimed_pages > 0 }, "{name}");
    }
}

/// Where a command is needed there is no answer.
#[test]
fn what_needs_a_command_is_left_to_it() {
    let mut drive = filled(&config("never", &[]), Executor::Functional);
    let (sectors, end) = (drive.unit_bytes() / 512, drive.logical_sectors());
    assert_eq!(drive.read_at_once(Lba(0), sectors), Some(Status::Ok));
    assert_eq!(drive.read_at_once(Lba(0), 0), None);
    assert_eq!(drive.read_at_once(Lba(end - 1), 2), None);
    assert_eq!(drive.read_at_once(Lba(u64::MAX), 2), None);
    act(&mut drive, OpCode::Trim, 3);
    assert_eq!(drive.read_at_once(Lba(u64::from(3 * sectors)), sectors), None);
    drive.set_executor(Executor::Timed);
    assert_eq!(drive.read_at_once(Lba(0), sectors), None);
    drive.set_executor(Executor::Functional);
    drive.record_effects(true);
    assert_eq!(drive.read_at_once(Lba(0), sectors), None);
}
