//! A host that is faster than cleaning: where cleaning paces it (`ftl.cleaning.paces_host`) it slows down, and does not
//! stop for as long as a block's worth takes to come free.

use crate::support;

use ssd::rng::Rng;
use ssd::{Command, Drive, DriveConfig, Lba, OpCode, Pace, SimTime};
use support::small;

/// Blocks of many pages and little to spare: what comes free at once is far from what comes free page by page.
fn large_blocks(paces_host: bool) -> DriveConfig {
    let mut cfg = small();
    (cfg.geometry.wordlines_per_block, cfg.geometry.blocks_per_plane) = (64, 24);
    cfg.drive.over_provisioning_percent = 28.0;
    cfg.cleaning.paces_host = paces_host;
    cfg
}

/// The same, overwritten at random by a host that was faster than cleaning, which has caught up.
fn used(cfg: &DriveConfig) -> Drive {
    let mut drive = Drive::new(cfg).unwrap();
    let (units, mut rng) = (drive.logical_units(), Rng::named(1, "past"));
    drive.fill(0, units).unwrap();
    for _ in 0..5 * units / 1024 {
        let batch: Vec<u32> = (0..1024).map(|_| rng.below(units)).collect();
        drive.past().overwrite(Pace::Saturated, &batch).unwrap();
    }
    assert!(!drive.past().catch_up(Pace::Saturated), "nothing is exposed");
    drive.check().unwrap();
    drive
}

/// The longest time in which nothing ends, of so many writes of a unit at random, `depth` under way; and that of all.
fn longest_gap(drive: &mut Drive, writes: u64, depth: u32) -> (u64, u64) {
    let (unit, units) = (u64::from(drive.unit_bytes()) / 512, drive.logical_units());
    let (mut rng, start) = (Rng::named(2, "now"), drive.now());
    let (mut last, mut longest, mut done, mut sent) = (start, 0, 0, 0);
    while done < writes {
        while drive.outstanding() < depth as usize && sent < writes {
            let lba = Lba(u64::from(rng.below(units)) * unit);
            let command =
                Command { op: OpCode::Write, lba, sectors: unit as u32, tag: sent, ..Command::default() };
            let queue = (0..drive.queues()).find(|&queue| drive.queue_has_room(queue)).unwrap();
            drive.submit(queue, &command, drive.now()).unwrap();
            sent += 1;
        }
        assert!(drive.advance_to_completion(), "stuck");
        while let Some(completion) = drive.pop_completion() {
            longest = longest.max(completion.completed.since(last));
            last = completion.completed.max(last);
            done += 1;
        }
    }
    (longest, drive.now().since(SimTime(start.0)))
}

/// By hand: at worst all lanes wait at the same time for the end of the block that each of them cleans. All that a
/// block holds is read and programmed, a page of each plane at a time, and it is erased; before that ends what is
/// under way.
fn bound(cfg: &DriveConfig) -> u64 {
    let times = &cfg.timing;
    let program = times.t_program_us.iter().copied().fold(0.0, f64::max);
    let read = times.t_read_us.iter().copied().fold(0.0, f64::max);
    let copies = cfg.geometry.pages_per_block() + cfg.cleaning.copies_in_flight;
    ((f64::from(copies) * (program + read) + times.t_erase_us) * 1000.0) as u64
}

#[test]
fn a_host_that_cleaning_paces_waits_for_one_block_at_most() {
    let [paced, stopped] = [true, false].map(|paces_host| {
        let cfg = large_blocks(paces_host);
        let mut drive = used(&cfg);
        let (gap, time) = longest_gap(&mut drive, 20_000, 24);
        drive.check().unwrap();
        (gap, time)
    });
    let bound = bound(&large_blocks(true));
    assert!(paced.0 <= bound && stopped.0 > 2 * bound, "paced {paced:?}, not {stopped:?}, bound {bound}");
    // What it costs: half a block of each lane is no spare any more.
    assert!(paced.1 as f64 <= 1.13 * stopped.1 as f64, "paced {paced:?}, not {stopped:?}");
}
