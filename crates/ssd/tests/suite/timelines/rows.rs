//! Rows: the pages of one number in the planes of a die, read and programmed together (`ftl.allocation.issue`).

use super::*;
use ssd::flash::op::{Cause, OpKind};

/// Programs of so many pages at once: 16 784 ns of data for each, then one tPROG.
const fn program(pages: u64) -> u64 {
    pages * (PROGRAM_COMMAND + DATA_16K) + T_PROG
}

/// Reads of so many pages at once: their commands, one tR, then their data one after the other.
const fn read_together(pages: u64) -> u64 {
    pages * READ_COMMAND + T_R + pages * (OUT_COMMAND + DATA_16K)
}

fn flush() -> Command {
    command(OpCode::Flush, 0, 0)
}

#[test]
fn a_flush_leaves_the_rest_of_its_row_to_what_comes_next() {
    // Three pages are written and flushed, then one: it takes the fourth plane. The next four are a row again.
    //   100 000  planes 0 to 2   3 x 16 784 + 600 000 =    750 352
    // 1 000 000  plane 3         1 x 16 784 + 600 000 =  1 616 784
    // 2 000 000  planes 0 to 3   4 x 16 784 + 600 000 =  2 667 136
    let mut cfg = four_planes();
    cfg.buffer = write_back();
    let mut drive = Drive::new(&cfg).unwrap();
    let done = run(&mut drive, &[(0, command(OpCode::Write, 0, 96)), (100_000, flush())]);
    assert_eq!(done[1].completed.0, 750_352);
    // A row that has begun is part of a snapshot.
    let mut saved = Vec::new();
    drive.save(&mut saved).unwrap();
    let mut drive = Drive::restore(&cfg, &saved).unwrap();
    let script = [
        (900_000, write(3)),
        (1_000_000, flush()),
        (1_900_000, command(OpCode::Write, 4 * 32, 128)),
        (2_000_000, flush()),
    ];
    let done = run(&mut drive, &script);
    assert_eq!([done[1].completed.0, done[3].completed.0], [1_616_784, 2_667_136]);
    assert_eq!([100_000 + program(3), 1_000_000 + program(1)], [750_352, 1_616_784]);
    assert_eq!(2_000_000 + program(4), 2_667_136);
    // Nothing was padded, and eight pages were three programs.
    let stats = drive.stats();
    assert_eq!(stats.ftl.padded_units.iter().sum::<u64>(), 0);
    assert_eq!(stats.flash.together(OpKind::Program, Cause::is_for_host), Some(8.0 / 3.0));
}

/// Where a third as much parity is written as data, each row has a page of it, here in the third plane.
#[test]
fn parity_takes_a_plane_of_its_row() {
    let mut cfg = four_planes();
    (cfg.buffer, cfg.redundancy.parity_percent) = (write_back(), 100.0 / 3.0);
    let mut drive = Drive::new(&cfg).unwrap();
    let script = [
        // Two pages, behind which lies the parity, and what is left of the row; then another row.
        (0, command(OpCode::Write, 0, 64)),
        (100_000, flush()),
        (900_000, write(2)),
        (1_000_000, flush()),
        (1_900_000, command(OpCode::Write, 3 * 32, 96)),
        (2_000_000, flush()),
    ];
    let done = run(&mut drive, &script);
    let ends = [100_000 + program(3), 1_000_000 + program(1), 2_000_000 + program(4)];
    assert_eq!([1, 3, 5].map(|at: usize| done[at].completed.0), ends);
    let stats = drive.stats();
    let pages = [Cause::Host, Cause::Parity].map(|cause| stats.pages_programmed(cause));
    assert_eq!((pages, stats.ftl.padded_units.iter().sum::<u64>()), ([6, 2], 0));
    drive.check().unwrap();
}

/// Superblocks of four rows of four planes: of block 0 only these pages of the first row live, and the next write
/// begins to clean it.
pub(super) fn with_some_to_move(mut cfg: DriveConfig, lives: core::ops::Range<u32>) -> Drive {
    (cfg.geometry.blocks_per_plane, cfg.geometry.wordlines_per_block) = (8, 4);
    let mut drive = filled(&cfg, 64);
    let written = (0..).filter(|page| !lives.contains(page)).take(16);
    drive.overwrite(&written.collect::<Vec<u32>>()).unwrap();
    drive.reset_stats();
    drive
}

#[test]
fn cleaning_reads_and_programs_a_row_at_once() {
    // A page of the host begins a block, and with it cleaning; three more of its row come at 10 000.
    // die      4 096 host page      620 880
    //        620 880 cleaning reads 737 776    (4 x 300 + 50 000 + 4 x 16 424)
    //        737 776 host row     1 388 128    (3 x 16 784 + 600 000)
    //      1 388 128 cleaning row 2 055 264    (4 x 16 784 + 600 000)
    //      2 055 264 erase        5 056 664    (4 x 350 + 3 000 000)
    for (at, begins) in [(1_000_000, 1_388_128), (1_500_000, 2_055_264), (3_000_000, 5_056_664)] {
        let mut drive = with_some_to_move(four_planes(), 0..4);
        let rest = command(OpCode::Write, 41 * 32, 96);
        let done = run(&mut drive, &[(0, write(40)), (10_000, rest), (at, read(50))]);
        assert_eq!([done[0].completed.0, done[1].completed.0], [620_880, 1_388_128]);
        assert_eq!(done[2].completed.0, begins + READ_16K + LINK_16K, "a read at {at}");
        let together = |kind| drive.stats().flash.together(kind, |cause| !cause.is_for_host());
        assert_eq!([OpKind::Read, OpKind::Program].map(together), [Some(4.0); 2]);
    }
    let ends = [620_880 + read_together(4), 737_776 + program(3), 1_388_128 + program(4)];
    assert_eq!((ends, 2_055_264 + 4 * ERASE_COMMAND + T_BERS), ([737_776, 1_388_128, 2_055_264], 5_056_664));
}

#[test]
fn what_is_left_of_a_victim_does_not_wait_for_another() {
    // One page of the row lives: it is read and programmed alone, and the block is erased.
    // die      4 096 host page      620 880
    //        620 880 read           687 604
    //        687 604 program      1 304 388
    //      1 304 388 erase        4 305 788    (a read comes at 2 000 000)
    let mut drive = with_some_to_move(four_planes(), 3..4);
    let done = run(&mut drive, &[(0, write(40)), (2_000_000, read(50))]);
    let begins = 620_880 + READ_16K + PROGRAM_16K + 4 * ERASE_COMMAND + T_BERS;
    assert_eq!((begins, done[1].completed.0), (4_305_788, begins + READ_16K + LINK_16K));
}
