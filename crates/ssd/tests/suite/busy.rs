//! Counts that belong together agree at every moment, whenever they are looked at or set back: dies and channels are
//! never busier than time passes, parts of a run add up to the whole, and every read has its place among the retries.

use crate::support;

use ssd::config::Table;
use ssd::flash::op::OpKind;
use ssd::observe::{ChipEffect, Effect};
use ssd::sections::Issue;
use ssd::{Drive, DriveConfig, Executor, Stats};
use support::{Load, reclaiming, small};

/// Busy times of all dies, of their arrays, then of all channels.
fn busy(stats: &Stats) -> Vec<u64> {
    [&stats.flash.die_busy_ns[..], &stats.flash.die_array_ns, &stats.flash.channel_busy_ns].concat()
}

/// Counts of a drive, which must agree.
fn counts(drive: &Drive) -> Stats {
    let stats = drive.stats();
    stats.check().unwrap_or_else(|wrong| panic!("{wrong}"));
    let elapsed = stats.until.since(stats.since);
    assert!(busy(&stats).iter().all(|&ns| ns <= elapsed), "{:?} in {elapsed} ns", busy(&stats));
    let (dies, arrays) = (&stats.flash.die_busy_ns, &stats.flash.die_array_ns);
    assert!(arrays.iter().zip(dies).all(|(array, die)| array <= die), "{arrays:?} of {dies:?}");
    stats
}

/// With and without cache operations, one plane after the other, and with what stops for reads.
fn configs() -> Vec<DriveConfig> {
    let of = |cache, multi_plane| {
        let mut cfg = small();
        (cfg.timing.cache_operations, cfg.scheduling.multi_plane) = (cache, multi_plane);
        cfg.allocation.issue = if multi_plane { Issue::Row } else { Issue::Page };
        cfg
    };
    let mut stops = small();
    stops.preemption.select("immediate").unwrap();
    (stops.timing.t_suspend_us, stops.timing.t_resume_us) = (10.0, 5.0);
    vec![of(false, true), of(true, true), of(true, false), stops]
}

#[test]
fn the_parts_of_a_run_add_up_to_the_whole() {
    for cfg in configs() {
        let (mut whole, mut parted) = (Drive::new(&cfg).unwrap(), Drive::new(&cfg).unwrap());
        let (mut to_whole, mut to_parted) = (Load::new(3), Load::new(3));
        let mut sum = vec![0; busy(&whole.stats()).len()];
        for _ in 0..200 {
            to_whole.run(&mut whole, 37);
            to_parted.run(&mut parted, 37);
            for (sum, ns) in sum.iter_mut().zip(busy(&counts(&parted))) {
                *sum += ns;
            }
            assert_eq!(sum, busy(&counts(&whole)), "{}", cfg.to_toml());
            parted.reset_stats();
        }
        assert_eq!(parted.event_hash(), whole.event_hash());
    }
}

#[test]
fn a_drive_that_never_rests_is_busy_all_the_time() {
    for mut cfg in configs() {
        // One die, whose queue is never empty.
        (cfg.geometry.channels, cfg.geometry.chips_per_channel) = (1, 1);
        cfg.geometry.blocks_per_plane = 96;
        let mut drive = Drive::new(&cfg).unwrap();
        let mut load = Load::new(4);
        load.run(&mut drive, 5_000);
        drive.reset_stats();
        load.run(&mut drive, 3_000);
        let stats = counts(&drive);
        let share = stats.flash.die_busy_ns[0] as f64 / stats.until.since(stats.since) as f64;
        assert!((0.98..=1.0).contains(&share), "{share}\n{}", cfg.to_toml());
    }
}

#[test]
fn every_read_of_aging_cells_is_among_the_retries() {
    for (policy, what, mut cfg) in reclaiming::drives() {
        cfg.queues.count = 2;
        let mut drive = Drive::new(&cfg).unwrap();
        let mut load = Load::new(5);
        let mut reads = 0;
        for part in 0..30 {
            load.run(&mut drive, 100);
            let stats = counts(&drive);
            reads = stats.ops(OpKind::Read);
            assert_eq!(stats.flash.retries.iter().sum::<u64>(), reads, "{what}, part {part}");
            drive.reset_stats();
        }
        assert!(reads > 0 && drive.outstanding() > 0, "{policy}");
    }
}

/// What chips begin, end and fail at is what is counted.
#[test]
fn what_is_told_of_chips_is_what_is_counted() {
    for (mut cfg, executor) in
        configs().into_iter().zip([Executor::Timed, Executor::Timed, Executor::Functional, Executor::Timed])
    {
        (cfg.reliability.program_fail_ppm, cfg.reliability.erase_fail_ppm) = (3_000.0, 20_000.0);
        cfg.sanitize.select("page_and_block_lock").unwrap();
        cfg.reliability.lock_fail_ppm = 5_000.0;
        let mut drive = Drive::new(&cfg).unwrap();
        drive.set_executor(executor);
        drive.record_chip_effects(true);
        Load::new(6).run(&mut drive, 4_000);
        drive.drain();
        let (mut begun, mut ended, mut failed) = ([0; 3], [0; 3], [0; 2]);
        while let Some(effect) = drive.pop_effect() {
            let Effect::Chip(effect) = effect else { continue };
            match effect {
                ChipEffect::ProgramBegins { .. } => begun[0] += 1,
                ChipEffect::ProgramEnds { failed: has_failed, .. } => {
                    ended[0] += 1;
                    failed[0] += u64::from(has_failed);
                }
                ChipEffect::EraseBegins { .. } => begun[1] += 1,
                ChipEffect::EraseEnds { .. } => ended[1] += 1,
                ChipEffect::PulseBegins { .. } => begun[2] += 1,
                ChipEffect::LockPage { failed: has_failed, .. }
                | ChipEffect::LockBlock { failed: has_failed, .. } => {
                    ended[2] += 1;
                    failed[1] += u64::from(has_failed);
                }
                ChipEffect::Scrub { .. } | ChipEffect::Reprogram { .. } => panic!("nothing is scrubbed"),
                ChipEffect::Spare { .. } => {}
            }
        }
        let stats = counts(&drive);
        let locks = stats.ops(OpKind::PageLock) + stats.ops(OpKind::BlockLock);
        let counted = [stats.ops(OpKind::Program), stats.ops(OpKind::Erase), locks];
        assert_eq!((begun, ended), (counted, counted));
        assert_eq!(failed, [stats.flash.program_fails, stats.flash.lock_fails]);
        assert!(
            failed.iter().all(|&failed| failed > 3) && counted[1] > 50,
            "{failed:?} failed of {counted:?}"
        );
    }
}
