//! How long dies and channels were busy, looked at and set back while they are.

use super::*;

/// Busy time of the one die and the one channel so far.
fn busy(drive: &Drive) -> (u64, u64) {
    let flash = drive.stats().flash;
    (flash.die_busy_ns[0], flash.channel_busy_ns[0])
}

#[test]
fn what_is_under_way_counts_up_to_now() {
    // channel  0 command 300                        50 300 out 66 724
    // array              300 ------ tR ------ 50 300
    let mut drive = filled(&one_die(), 1);
    drive.reset_stats();
    let start = drive.now().0;
    drive.submit(0, &read(0), drive.now()).unwrap();
    let mut at = |ns: u64| {
        drive.advance_to(SimTime(start + ns));
        busy(&drive)
    };
    assert_eq!(at(200), (200, 200));
    assert_eq!(at(30_000), (30_000, READ_COMMAND));
    assert_eq!(at(60_000), (60_000, READ_COMMAND + 9_700));
    assert_eq!(at(READ_16K), (READ_16K, READ_COMMAND + OUT_COMMAND + DATA_16K));
    assert_eq!(at(1_000_000), (READ_16K, READ_COMMAND + OUT_COMMAND + DATA_16K));
}

#[test]
fn what_was_before_a_reset_is_not_counted_after_it() {
    // Set back at 30 000, while the array works, and at 60 000, while the page leaves.
    let mut drive = filled(&one_die(), 1);
    let start = drive.now().0;
    drive.submit(0, &read(0), drive.now()).unwrap();
    drive.advance_to(SimTime(start + 30_000));
    drive.reset_stats();
    assert_eq!(busy(&drive), (0, 0));
    drive.advance_to(SimTime(start + 60_000));
    assert_eq!(busy(&drive), (30_000, 9_700));
    drive.reset_stats();
    assert_eq!(busy(&drive), (0, 0));
    drive.drain();
    assert_eq!(busy(&drive), (READ_16K - 60_000, READ_16K - 60_000));
}

#[test]
fn a_die_that_never_rests_is_busy_all_the_time() {
    // Cache reads leave no gap: the die's busy time has no end before the last.
    let mut cfg = one_die();
    cfg.timing.cache_operations = true;
    let mut drive = filled(&cfg, 20);
    let start = drive.now().0;
    for page in 0..20 {
        drive.submit(0, &read(page), drive.now()).unwrap();
    }
    drive.advance_to(SimTime(start + 100_000));
    drive.reset_stats();
    drive.advance_to(SimTime(start + 900_000));
    assert_eq!(busy(&drive).0, 800_000);
}
