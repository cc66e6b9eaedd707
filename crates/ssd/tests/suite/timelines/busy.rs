//! How long dies had something to do, their arrays worked and channels were busy, looked at and set back while they
//! are.

use super::*;
use ssd::config::Table;

/// Busy time of the first die, of its array and of the first channel so far.
fn busy(drive: &Drive) -> (u64, u64, u64) {
    let flash = drive.stats().flash;
    (flash.die_busy_ns[0], flash.die_array_ns[0], flash.channel_busy_ns[0])
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
    assert_eq!(at(200), (200, 0, 200));
    assert_eq!(at(30_000), (30_000, 29_700, READ_COMMAND));
    assert_eq!(at(60_000), (60_000, T_R, READ_COMMAND + 9_700));
    assert_eq!(at(READ_16K), (READ_16K, T_R, READ_COMMAND + OUT_COMMAND + DATA_16K));
    assert_eq!(at(1_000_000), (READ_16K, T_R, READ_COMMAND + OUT_COMMAND + DATA_16K));
}

#[test]
fn what_was_before_a_reset_is_not_counted_after_it() {
    // Set back at 100, while the command comes, at 30 000, while the array works, and at 60 000, while the page leaves.
    let mut drive = filled(&one_die(), 1);
    let start = drive.now().0;
    drive.submit(0, &read(0), drive.now()).unwrap();
    drive.advance_to(SimTime(start + 100));
    drive.reset_stats();
    assert_eq!(busy(&drive), (0, 0, 0));
    drive.advance_to(SimTime(start + 30_000));
    assert_eq!(busy(&drive), (29_900, 29_700, 200));
    drive.reset_stats();
    assert_eq!(busy(&drive), (0, 0, 0));
    drive.advance_to(SimTime(start + 60_000));
    assert_eq!(busy(&drive), (30_000, 20_300, 9_700));
    drive.reset_stats();
    assert_eq!(busy(&drive), (0, 0, 0));
    drive.drain();
    assert_eq!(busy(&drive), (READ_16K - 60_000, 0, READ_16K - 60_000));
}

#[test]
fn a_die_that_never_rests_is_busy_all_the_time() {
    // Cache reads leave no gap: the die's busy time has no end before the last. The array rests while the next command
    // comes: 300 ns of each 50 300, 16 times from 100 600 on.
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
    let (die, array, _) = busy(&drive);
    assert_eq!((die, array), (800_000, 800_000 - 16 * READ_COMMAND));
}

#[test]
fn a_die_that_waits_for_its_channel_is_not_at_work() {
    // channel  A command 300  B command 300      A out 16 424   B out 16 424
    // array A              300 -- tR -- 50 300
    // array B                           600 -- tR -- 50 600    waits until 66 724
    let mut drive = filled(&many_dies(1, 2), 2);
    drive.reset_stats();
    let start = drive.now().0;
    run(&mut drive, &[(start, read(0)), (start, read(1))]);
    let flash = drive.stats().flash;
    assert_eq!(flash.die_array_ns, [T_R; 2]);
    assert_eq!(flash.die_busy_ns, [READ_16K, READ_16K + OUT_COMMAND + DATA_16K]);
}

#[test]
fn an_array_works_until_it_is_stopped_and_from_when_it_goes_on() {
    // link 4 096 | program 400 + 16 384 | array 79 120, stopped within 10 000 | read 66 724 | goes on after 5 000
    let mut cfg = one_die();
    cfg.preemption.select("immediate").unwrap();
    (cfg.timing.t_suspend_us, cfg.timing.t_resume_us) = (10.0, 5.0);
    let mut drive = filled(&cfg, 1);
    drive.reset_stats();
    let start = drive.now().0;
    let done = run(&mut drive, &[(start, write(1)), (start + 100_000, read(0))]);
    let (suspend, resume) = (10_000, 5_000);
    let end = LINK_16K + PROGRAM_16K + suspend + READ_16K + resume;
    assert_eq!(done[0].completed.0 - start, end);
    let (die, array, _) = busy(&drive);
    assert_eq!((die, array), (end - LINK_16K, T_PROG + suspend + T_R + resume));
}

#[test]
fn one_hot_die_stands_out() {
    // Of eight dies on two channels all reads are of one: its array works for 50 000 ns of each 66 724.
    let mut drive = filled(&many_dies(2, 4), 8);
    drive.reset_stats();
    let start = drive.now().0;
    let reads: Vec<_> = (0..100).map(|_| (start, read(0))).collect();
    run(&mut drive, &reads);
    let flash = drive.stats().flash;
    assert_eq!(flash.die_array_ns.iter().sum::<u64>(), 100 * T_R);
    let most = |busy: &[u64]| busy.iter().copied().max();
    assert_eq!(
        (most(&flash.die_busy_ns), most(&flash.die_array_ns)),
        (Some(100 * READ_16K), Some(100 * T_R))
    );
}
