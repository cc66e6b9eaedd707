//! How long moves because of reads take, by a formula; and what is counted of the host's reads.

use crate::reclaim::support::*;
use ssd::flash::op::{Cause, OpKind};
use ssd::{DriveConfig, Executor, Stats};

/// Blocks that move after so many reads, page by page.
fn one_by_one(limit: u32) -> DriveConfig {
    let mut cfg = config("block", &[("max_reads", integer(limit)), ("threshold_percent", integer(100))]);
    cfg.errors.model = ssd::sections::ErrorModel::None;
    cfg.cleaning.copies_in_flight = 1;
    cfg
}

/// After so many reads of block 0 and all that they started.
fn after(cfg: &DriveConfig, executor: Executor, count: u32) -> Stats {
    let mut drive = ssd::Drive::new(cfg).unwrap_or_else(|errors| panic!("{errors}"));
    drive.fill(0, drive.logical_units()).expect("room");
    drive.set_executor(executor);
    drive.reset_stats();
    for n in 0..count {
        drive.flush_buffer();
        read(&mut drive, n % PAGES);
        drive.drain();
    }
    drive.stats()
}

/// A block's service is its pages' reads and programs, one after the other, with their transfers, behind the host's
/// read; the erase is not part of it.
#[test]
fn a_block_takes_what_its_pages_take() {
    let cfg = one_by_one(30);
    assert_eq!(after(&cfg, Executor::Timed, 29).ftl.services.count, 0);
    let stats = after(&cfg, Executor::Timed, 30);
    let times = &stats.ftl.services;
    assert_eq!((times.count, stats.ftl.reclaims, times.min_ns), (1, 1, times.max_ns));
    let sum = |us: &[f64]| us.iter().sum::<f64>() / us.len() as f64 * f64::from(PAGES);
    let array_us = sum(&cfg.t_read_us()) + sum(&cfg.t_program_us());
    let page_us = f64::from(cfg.geometry.page_bytes + 4096) / cfg.channel.bandwidth_mb_s + 1.0;
    let longest_read_us = cfg.t_read_us().into_iter().fold(0.0, f64::max);
    let at_most_us = array_us + 2.0 * f64::from(PAGES + 1) * page_us + longest_read_us;
    let us = times.max_ns as f64 / 1e3;
    assert!(us >= array_us && us <= at_most_us, "{array_us} <= {us} <= {at_most_us}");
    // The distribution has it in one step.
    let steps: Vec<(u64, u64)> = times.steps().collect();
    assert!(steps.len() == 1 && steps[0].0 >= times.max_ns && steps[0].1 == 1, "{steps:?}");
}

#[test]
fn without_time_there_are_no_service_times() {
    let stats = after(&one_by_one(30), Executor::Functional, 90);
    assert_eq!((stats.ftl.services, stats.ftl.reclaims), (Default::default(), 3));
}

/// Pages that took several attempts count once, and drives that move nothing count too.
#[test]
fn host_reads_by_type_are_pages() {
    for policy in ["never", "block"] {
        let cfg = config(policy, &[]);
        let mut drive = filled(&cfg, Executor::Timed);
        drive.age(&"retain 12 months".parse().expect("a step")).expect("room in the tables");
        drive.reset_stats();
        for unit in 0..3 * PAGES {
            read(&mut drive, unit);
        }
        drive.drain();
        let stats = drive.stats();
        assert!(stats.flash.retries[1..].iter().sum::<u64>() > 0, "{policy}: no retries");
        let pages = stats.flash.ops[OpKind::Read as usize][Cause::Host as usize];
        assert_eq!(stats.ftl.host_reads_by_type.iter().sum::<u64>(), pages, "{policy}");
        assert_eq!(stats.ftl.host_reads_by_type[..3], [pages / 3; 3], "{policy}");
    }
}
