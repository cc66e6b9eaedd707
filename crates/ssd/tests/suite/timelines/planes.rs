//! Planes that read on their own (`nand.timing.independent_reads`), and share the interface of their die.

use super::rows::with_some_to_move;
use super::*;
use ssd::config::Table;
use ssd::flash::op::{Cause, OpKind};

fn independent() -> DriveConfig {
    let mut cfg = four_planes();
    cfg.timing.independent_reads = true;
    cfg
}

const TRANSFER: (Part, u64) = (Part::Transfer, READ_COMMAND + OUT_COMMAND + DATA_16K);
const ARRAY: (Part, u64) = (Part::Array, T_R);
const LINK: (Part, u64) = (Part::Link, LINK_16K);

#[test]
fn planes_sense_at_the_same_time_and_send_one_after_the_other() {
    // Pages 0 and 4 lie in plane 0, page 1 in plane 1.
    // channel  0 c0 300 c1 600      50 300 out 0 66 724 c4 67 024 out 1 83 448     117 024 out 4 133 448
    // plane 0    300 -- 50 300                            67 024 ------- 117 024
    // plane 1           600 -- 50 600 (its page waits for the interface until 66 724)
    // Planes that work together: 66 724, 133 448, 200 172.
    let done = run(&mut filled(&independent(), 8), &[(0, read(0)), (0, read(1)), (0, read(4))]);
    expect(&done[0], 66_724 + LINK_16K, &[TRANSFER, ARRAY, LINK]);
    let waits = [(Part::ChannelWait, 300 + 300), (Part::DieWait, 66_724 - 50_600)];
    expect(&done[1], 83_448 + LINK_16K, &[waits[0], waits[1], TRANSFER, ARRAY, LINK]);
    expect(&done[2], 133_448 + LINK_16K, &[(Part::DieWait, 66_724), TRANSFER, ARRAY, LINK]);
}

#[test]
fn a_read_of_a_free_plane_goes_before_older_ones_of_a_plane_that_is_held() {
    // channel  0 c0 300      c3 (comes at 30 000) 30 300    50 300 out 0 66 724 c4 67 024   80 300 out 3 96 724
    let script = [(0, read(0)), (10_000, read(4)), (20_000, read(8)), (30_000, read(3))];
    let done = run(&mut filled(&independent(), 12), &script);
    let at = |index: usize| done[index].completed.0 - LINK_16K;
    assert_eq!([at(0), at(3)], [66_724, 30_000 + READ_16K]);
    // Page 4 senses until 117 024, and page 8 from 133 448 + 300 on.
    assert_eq!([at(1), at(2)], [66_724 + READ_16K, 66_724 + 2 * READ_16K]);
}

#[test]
fn a_program_waits_for_all_planes_and_reads_may_pass_it() {
    // A page to be written is there at 14 096; the read of page 1, in a free plane, comes at 20 000.
    //   passed   plane 0  0 - 66 724  plane 1 20 000 - 86 724  program 86 724 - 703 508    read at 703 508
    //   first    plane 0  0 - 66 724                           program 66 724 - 683 508    reads from 683 508 on
    for (limit, passed, programmed) in [(16, 86_724, 703_508), (0, 750_232, 683_508)] {
        let mut cfg = independent();
        cfg.scheduling.read_bypass_limit = limit;
        let script = [(0, read(0)), (10_000, write(40)), (20_000, read(1)), (200_000, read(2))];
        let done = run(&mut filled(&cfg, 32), &script);
        let ends = [66_724 + LINK_16K, programmed, passed + LINK_16K];
        assert_eq!([0, 1, 2].map(|index: usize| done[index].completed.0), ends, "limit {limit}");
        // The last begins when it is alone, or after the command of the other.
        let last = programmed + READ_16K + if limit == 0 { OUT_COMMAND + DATA_16K } else { 0 };
        assert_eq!(done[3].completed.0, last + LINK_16K, "limit {limit}");
    }
}

#[test]
fn several_reads_go_by_what_is_suspended() {
    // A program works from 20 880 on, is stopped at 100 000 and stands at 110 000, with 520 880 left.
    // channel  110 000 c0 c1 110 600    160 300 out 0 176 724 c4 177 024 out 1 193 448    227 024 out 4 243 448
    // It goes on at 243 448, works from 248 448 on, and ends at 769 328.
    let mut cfg = independent();
    cfg.preemption.select("immediate").unwrap();
    (cfg.timing.t_suspend_us, cfg.timing.t_resume_us) = (10.0, 5.0);
    let reads = [0, 1, 4].map(|page| (100_000, read(page)));
    let script = [&[(0, write(40))], &reads[..]].concat();
    let mut drive = filled(&cfg, 32);
    let done = run(&mut drive, &script);
    let ends = [769_328, 176_724 + LINK_16K, 193_448 + LINK_16K, 243_448 + LINK_16K];
    assert_eq!([0, 1, 2, 3].map(|index: usize| done[index].completed.0), ends);
    assert_eq!(drive.stats().flash.suspends.iter().flatten().sum::<u64>(), 1);
}

#[test]
fn a_row_is_read_by_each_plane_on_its_own() {
    // A row of four pages is cleaned while a read of a page in plane 0 is under way. Together it would wait for that.
    // die      4 096 host page      620 880
    //        620 880 commands       622 080   (4 x 300)
    //        671 180 pages leave    736 876   (the first senses from 621 180 on; 4 x 16 424)
    //        736 876 program      1 404 012   (4 x 16 784 + 600 000), and erases
    let mut drive = with_some_to_move(independent(), 0..4);
    let done = run(&mut drive, &[(0, write(40)), (1_000_000, read(50))]);
    let programmed = 736_876 + 4 * (PROGRAM_COMMAND + DATA_16K) + T_PROG;
    assert_eq!(programmed, 1_404_012);
    // The read passes the erase.
    assert_eq!(done[1].completed.0, programmed + READ_16K + LINK_16K);
    let flash = drive.stats().flash;
    let together = |kind| flash.together(kind, |cause: Cause| !cause.is_for_host());
    assert_eq!([OpKind::Read, OpKind::Program].map(together), [Some(1.0), Some(4.0)]);
}

#[test]
fn a_snapshot_keeps_what_planes_read() {
    let pages = [0, 1, 4, 2, 8, 40];
    let times = |drive: &mut Drive| -> Vec<u64> {
        drive.drain();
        let done = std::iter::from_fn(|| drive.pop_completion());
        done.map(|done| done.completed.0).collect()
    };
    // A plane has its command, all of them sense, a page waits for the interface, one leaves.
    for at in [150, 40_000, 60_000, 67_000, 75_000] {
        let mut drive = filled(&independent(), 32);
        for page in pages {
            let command = if page < 40 { read(page) } else { write(page) };
            drive.submit(0, &command, SimTime(0)).unwrap();
        }
        drive.advance_to(SimTime(at));
        let mut saved = Vec::new();
        drive.save(&mut saved).unwrap();
        let mut again = Drive::restore(&independent(), &saved).unwrap();
        assert_eq!(times(&mut again), times(&mut drive), "saved at {at}");
        assert_eq!(again.event_hash(), drive.event_hash());
    }
}

#[test]
fn a_die_is_at_work_while_any_of_its_planes_is() {
    // plane 0  300 - 50 300, and 67 024 - 117 024 for page 4; plane 1  600 - 50 600: 50 300 + 50 000 of 133 448.
    let mut drive = filled(&independent(), 8);
    drive.reset_stats();
    let start = drive.now().0;
    run(&mut drive, &[(start, read(0)), (start, read(1)), (start, read(4))]);
    let flash = drive.stats().flash;
    assert_eq!((flash.die_busy_ns[0], flash.die_array_ns[0]), (133_448, 50_300 + T_R));
}
