//! Reads of several attempts on pSR's drive, passed and stopped by more urgent ones. A read takes 115 us for each
//! attempt, and the host link next to nothing. (Erases and programs that are stopped: beside `flash/suspend.rs`.)

use super::*;
use ssd::Hints;
use ssd::config::{Layer, Table};
use ssd::drive_config::resolve;
use ssd::sections::{ErrorModel, PriorityOrder};

const ATTEMPT: u64 = 115_000;
/// 16 KiB on a link of 1 TB/s.
const LINK: u64 = 16;

/// A small drive of the preset, old enough for reads of several attempts; all its blocks are alike.
fn old(set: impl Fn(&mut DriveConfig)) -> Drive {
    let layer = Layer::file("test.toml", "preset = \"psr\"\n");
    let mut cfg = resolve(&[layer], &[]).unwrap().config;
    (cfg.geometry.channels, cfg.geometry.chips_per_channel, cfg.geometry.blocks_per_plane) = (1, 1, 12);
    cfg.geometry.wordlines_per_block = 16;
    (cfg.drive.logical_gib, cfg.drive.over_provisioning_percent) = (0.0, 100.0);
    (cfg.errors.model, cfg.errors.variation) = (ErrorModel::Cells, false);
    cfg.cells.effects.rtn_bits = 0.0;
    (cfg.link.bandwidth_mb_s, cfg.link.latency_us, cfg.firmware.t_command_us) = (1_000_000.0, 0.0, 0.0);
    cfg.buffer = buffer::Config::None(buffer::none::Params::default());
    cfg.preemption.select("priority_aware").unwrap();
    set(&mut cfg);
    let mut drive = Drive::new(&cfg).unwrap();
    drive.fill(0, 240).unwrap();
    for step in ["cycle to 4000", "retain 3 months"] {
        drive.age(&step.parse().unwrap()).unwrap();
    }
    drive
}

fn urgent(page: u64, priority: u8) -> Command {
    Command { hints: Hints { priority, ..Hints::default() }, ..read(page) }
}

/// A page that takes so many attempts.
fn page_of(drive: &Drive, attempts: u64) -> u64 {
    let latency = |page: u64| {
        let now = drive.now().0;
        run(&mut drive.clone(), &[(now, urgent(page, 2))])[0].completed.0 - now
    };
    (0..240).find(|&page| latency(page) == attempts * ATTEMPT + LINK).expect("a page of so many attempts")
}

/// When each read of a script was done, from its beginning: a low read of four attempts, then others at times.
fn ends(drive: &Drive, others: &[(u64, u64, u8)]) -> (Vec<u64>, Drive) {
    let mut drive = drive.clone();
    let (now, four) = (drive.now().0, page_of(&drive, 4));
    let others = others.iter().map(|&(at, page, priority)| (now + at, urgent(page, priority)));
    let script: Vec<_> = [(now, urgent(four, 1))].into_iter().chain(others).collect();
    let done = run(&mut drive, &script);
    (done.iter().map(|done| done.completed.0 - now - LINK).collect(), drive)
}

/// A page that is read at once: of data written anew.
fn fresh(drive: &mut Drive) -> u64 {
    drive.set_executor(ssd::Executor::Functional);
    drive.overwrite(&[7, 8, 9]).unwrap();
    drive.set_executor(ssd::Executor::Timed);
    drive.reset_stats();
    assert_eq!(page_of(drive, 1), 7);
    7
}

#[test]
fn a_read_between_attempts_and_one_that_stops_them() {
    let mut drive = old(|_| {});
    let page = fresh(&mut drive);
    // low     0 --- 115 (failed)     230 --- 345 --- 460 --- 575
    // medium      50 waits      115 --- 230
    let (found, after) = ends(&drive, &[(50_000, page, 2)]);
    assert_eq!(found, [575_000, 230_000]);
    assert_eq!(after.stats().flash.suspends[5], [0, 1, 0], "passed before its next attempt");
    // low     0 - 50 stops 70        185 --- 300 --- 415 --- 530 --- 645
    // high           70 --- 185
    let (found, after) = ends(&drive, &[(50_000, page, 3)]);
    assert_eq!(found, [645_000, 185_000]);
    assert_eq!(after.stats().flash.suspends[4], [0, 0, 1]);
    assert_eq!(after.stats().flash.delayed_by_lower, [0, 0, 1]);
}

#[test]
fn a_stopped_read_counts_twice_where_reads_disturb() {
    let mut drive = old(|_| {});
    let page = fresh(&mut drive);
    let of_block =
        |drive: &Drive, block| (0..16).map(|at| drive.chips().effective_reads(block, at)).sum::<u64>();
    let reads = |drive: &Drive| (0..drive.chips().blocks()).map(|block| of_block(drive, block)).sum::<u64>();
    let before = reads(&drive);
    let (_, passed) = ends(&drive, &[(50_000, page, 2)]);
    let (_, stopped) = ends(&drive, &[(50_000, page, 3)]);
    let (passed, stopped) = (reads(&passed) - before, reads(&stopped) - before);
    assert!(stopped > passed, "{stopped} effective reads, {passed} if nothing is stopped");
}

#[test]
fn a_read_that_is_sent_is_not_stopped() {
    // The array has the page at 98.586 (290 ns of command, 98.296 us); its data leaves until 115.
    let mut drive = old(|_| {});
    let page = fresh(&mut drive);
    assert_eq!(ends(&drive, &[(100_000, page, 3)]).0, [575_000, 230_000]);
    // With 18 us left in the array stopping takes longer: it is not stopped either.
    assert_eq!(ends(&drive, &[(80_000, page, 3)]).0, [575_000, 230_000]);
    // With 21 it is: stops at 97.5, the high read ends at 212.5, and four attempts follow.
    assert_eq!(ends(&drive, &[(77_500, page, 3)]).0, [672_500, 212_500]);
}

#[test]
fn every_attempt_may_be_stopped() {
    // low   0 - 50 stops 70        185 - 200 stops 220        335 --- 795
    // high         70 --- 185                220 --- 335
    let mut drive = old(|_| {});
    let page = fresh(&mut drive);
    let (found, after) = ends(&drive, &[(50_000, page, 3), (200_000, page + 1, 3)]);
    assert_eq!(found, [795_000, 185_000, 335_000]);
    assert_eq!(after.stats().flash.suspends[4], [0, 0, 2]);
    // High reads do not stop each other, and medium reads stop none.
    let (found, _) = ends(&drive, &[(50_000, page, 3), (80_000, page + 1, 3), (90_000, page + 2, 2)]);
    assert_eq!(found, [875_000, 185_000, 300_000, 415_000]);
}

#[test]
fn where_priorities_are_ignored_retries_go_first() {
    let mut drive = old(|cfg| {
        cfg.preemption.select("immediate").unwrap();
        cfg.scheduling.priorities = PriorityOrder::Ignored;
    });
    let page = fresh(&mut drive);
    assert_eq!(ends(&drive, &[(50_000, page, 3)]).0, [460_000, 575_000]);
    // By class they let it pass, and are not stopped.
    let mut drive = old(|cfg| cfg.preemption.select("immediate").unwrap());
    let page = fresh(&mut drive);
    assert_eq!(ends(&drive, &[(50_000, page, 3)]).0, [575_000, 230_000]);
}
