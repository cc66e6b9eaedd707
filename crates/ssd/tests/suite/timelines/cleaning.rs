//! Cleaning between host commands, copyback, and erases.
//!
//! The drive has eight blocks of four pages and shows 16 pages to the host. Filled once, pages 0 to 15 lie in blocks
//! 0 to 3; four overwrites fill block 4, and three blocks are free. The next write (page 5, in each case) opens block
//! 5, two blocks are left, and that is where cleaning begins.

use super::*;
use crate::support::every::has;
use ssd::flash::op::{Cause, OpKind};

fn small() -> DriveConfig {
    let mut cfg = one_die();
    (cfg.geometry.blocks_per_plane, cfg.geometry.wordlines_per_block) = (8, 4);
    cfg
}

/// The drive after the fill and the overwrites.
fn prepared(cfg: &DriveConfig, overwrites: [u32; 4]) -> Drive {
    let mut drive = filled(cfg, 16);
    drive.overwrite(&overwrites).unwrap();
    drive.reset_stats();
    drive
}

/// When a read of a page from flash that begins at `start` reaches the host.
fn read_from(start: u64) -> u64 {
    start + READ_16K + LINK_16K
}

#[test]
fn cleaning_steps_between_host_reads() {
    // Block 0 has one live page, which is read, programmed elsewhere, and then the block is erased; each step waits
    // for host reads that are there, and host reads wait for the step under way.
    // die     4 096 host program   620 880
    //       620 880 read 1         687 604
    //       687 604 cleaning read  754 328     (read 2 comes at 700 000)
    //       754 328 read 2         821 052
    //       821 052 cleaning prog 1 437 836    (read 3 comes at 900 000)
    //     1 437 836 read 3        1 504 560
    //     1 504 560 erase         4 504 910    (read 4 comes at 2 000 000)
    //     4 504 910 read 4        4 571 634
    let mut drive = prepared(&small(), [0, 1, 2, 4]);
    let script =
        [(0, write(5)), (10_000, read(8)), (700_000, read(9)), (900_000, read(10)), (2_000_000, read(11))];
    let done = run(&mut drive, &script);
    assert_eq!(done[0].completed.0, 620_880);
    let waits = [(620_880, 10_000), (754_328, 700_000), (1_437_836, 900_000), (4_504_910, 2_000_000)];
    for (completion, (start, arrival)) in done[1..].iter().zip(waits) {
        let parts = [
            (Part::DieWait, start - arrival),
            (Part::Transfer, READ_COMMAND + OUT_COMMAND + DATA_16K),
            (Part::Array, T_R),
            (Part::Link, LINK_16K),
        ];
        expect(completion, read_from(start), &parts);
    }
    assert_eq!(821_052 + PROGRAM_16K, 1_437_836);
    assert_eq!(1_504_560 + ERASE, 4_504_910);
}

#[test]
fn units_of_several_pages_move_in_one() {
    // Pages of four units; two pages of block 0 keep one unit each. What is read of a page is what lives there, and it
    // waits for what else is being read before it is programmed.
    // die     4 096 host program   620 880
    //       620 880 read a         675 316     (300 + 50 000 + 40 + 4 096)
    //       675 316 read b         729 752
    //       729 752 program a, b 1 338 344     (400 + 2 x 4 096 + 600 000)
    //     1 338 344 erase        4 338 694     (a read comes at 3 000 000)
    let mut cfg = small();
    cfg.mapping.unit = MappingUnit::FourKib;
    let mut drive = filled(&cfg, 64);
    let others: Vec<u32> = (0..16).filter(|unit| ![3, 5].contains(unit)).chain([16, 32]).collect();
    drive.overwrite(&others).unwrap();
    drive.reset_stats();
    let done = run(&mut drive, &[(0, write(9)), (3_000_000, read(12))]);
    assert_eq!(done[0].completed.0, 620_880);
    let read_4k = READ_COMMAND + T_R + OUT_COMMAND + DATA_4K;
    assert_eq!(620_880 + 2 * read_4k + PROGRAM_COMMAND + 2 * DATA_4K + T_PROG, 1_338_344);
    assert_eq!(done[1].completed.0, read_from(1_338_344 + ERASE));
}

#[test]
fn an_erase_waits_behind_reads_and_reads_behind_it() {
    // Block 0 is dead: it is erased without more ado, after the program whose write began the cleaning.
    // die      0       read 1    66 724
    //     66 724       read 2   133 448    (passes program and erase)
    //    133 448       program  750 232    (read 3 comes at 740 000)
    //    750 232       read 3   816 956    (passes the erase)
    //    816 956       erase  3 817 306    (read 4 comes at 1 000 000)
    //  3 817 306       read 4 3 884 030
    let mut drive = prepared(&small(), [0, 1, 2, 3]);
    let script = [(0, read(8)), (0, write(5)), (10_000, read(9)), (740_000, read(10)), (1_000_000, read(11))];
    let done = run(&mut drive, &script);
    assert_eq!(done[0].completed.0, read_from(0));
    let parts = [
        (Part::Link, LINK_16K),
        (Part::DieWait, 133_448 - 4_096),
        (Part::Transfer, PROGRAM_COMMAND + DATA_16K),
        (Part::Array, T_PROG),
    ];
    expect(&done[1], 750_232, &parts);
    assert_eq!(done[2].completed.0, read_from(66_724));
    assert_eq!(done[3].completed.0, read_from(750_232));
    assert_eq!(done[4].completed.0, read_from(3_817_306));
    assert_eq!(816_956 + ERASE, 3_817_306);
}

#[test]
fn copyback_leaves_the_channel_alone() {
    if !has("ftl.migration") {
        return;
    }
    // Block 0 has two live pages; each is copied inside the plane: two commands (300 + 400), tR + tPROG, no data.
    // die     4 096 host program  620 880
    //       620 880 copyback 1  1 271 580    (read 1 comes at 700 000)
    //     1 271 580 read 1      1 338 304
    //     1 338 304 copyback 2  1 989 004    (read 2 comes at 1 400 000)
    //     1 989 004 read 2      2 055 728
    let mut cfg = small();
    cfg.section_mut("ftl.migration").unwrap().select("copyback_always").unwrap();
    let mut drive = prepared(&cfg, [0, 1, 4, 8]);
    let done = run(&mut drive, &[(0, write(5)), (700_000, read(9)), (1_400_000, read(10))]);
    let copy = READ_COMMAND + PROGRAM_COMMAND + T_R + T_PROG;
    assert_eq!([620_880 + copy, 1_338_304 + copy], [1_271_580, 1_989_004]);
    assert_eq!(done[0].completed.0, 620_880);
    assert_eq!(done[1].completed.0, read_from(1_271_580));
    assert_eq!(done[2].completed.0, read_from(1_989_004));
    // A plane is a lane here, so every page finds its new place in its own plane.
    let moved = |kind: OpKind| drive.stats().flash.ops[kind as usize][Cause::Cleaning as usize];
    assert!(moved(OpKind::Copyback) >= 2);
    assert_eq!([moved(OpKind::Read), moved(OpKind::Program)], [0, 0]);
}

#[test]
fn superblocks_are_erased_in_one_go() {
    // Two planes: both members of the dead superblock are erased by one multi-plane command, 2 x 350 + 3 000 000.
    // Superblocks have eight pages: pages 0 to 31 fill blocks 0 to 3, overwrites of 0 to 7 fill block 4.
    // die  4 096 program 620 880 -- erase -- 3 621 580    (read 1 comes at 700 000)
    let mut cfg = small();
    (cfg.geometry.planes_per_die, cfg.allocation.superblock) = (2, Superblock::Planes);
    let mut drive = filled(&cfg, 32);
    drive.overwrite(&[0, 1, 2, 3, 4, 5, 6, 7]).unwrap();
    let done = run(&mut drive, &[(0, write(9)), (700_000, read(16))]);
    assert_eq!(done[0].completed.0, 620_880);
    assert_eq!(done[1].completed.0, read_from(3_621_580));
    assert_eq!(620_880 + 2 * ERASE_COMMAND + T_BERS, 3_621_580);
}

#[test]
fn an_idle_drive_cleans() {
    // 100 us after the last completion at 70 820, taken or not, a dead superblock of two planes is erased, both members
    // in one go: 170 820 + 2 x 350 + 3 000 000 = 3 171 520. Then five blocks are free, and that is what was asked for.
    let mut cfg = small();
    cfg.drive.over_provisioning_percent = 300.0;
    (cfg.geometry.blocks_per_plane, cfg.geometry.planes_per_die) = (16, 2);
    cfg.allocation.superblock = Superblock::Planes;
    cfg.gc_trigger = gc_trigger::Config::BackgroundIdle(gc_trigger::background_idle::Params {
        start_free_percent: 0.0,
        idle_free_percent: 50.0,
        idle_after_us: 100.0,
    });
    // Four superblocks of data, eight more written over and over: four of sixteen are free.
    let mut drive = filled(&cfg, 32);
    for _ in 0..8 {
        drive.overwrite(&[0, 1, 2, 3, 4, 5, 6, 7]).unwrap();
    }
    assert_eq!(drive.stats().ops(OpKind::Erase), 0);
    drive.submit(0, &read(8), SimTime(0)).unwrap();
    drive.advance_to(SimTime(3_171_519));
    assert_eq!(drive.stats().ops(OpKind::Erase), 0);
    drive.drain();
    assert_eq!(drive.now(), SimTime(3_171_520));
    assert_eq!(drive.stats().ops(OpKind::Erase), 2);
    expect(
        &drive.pop_completion().unwrap(),
        70_820,
        &[
            (Part::Transfer, READ_COMMAND + OUT_COMMAND + DATA_16K),
            (Part::Array, T_R),
            (Part::Link, LINK_16K),
        ],
    );
    assert_eq!(170_820 + 2 * ERASE_COMMAND + T_BERS, 3_171_520);
}

#[test]
fn copies_in_flight_are_bounded() {
    // Three live pages in block 0 (of 1, 3, 3, 3, 4 ... after the overwrites the least is 3 live in each touched
    // block): with one copy in flight each page is read and programmed before the next is read.
    // die     4 096 host program 620 880
    //       620 880 read a       687 604  program a 1 304 388
    //     1 304 388 read b     1 371 112  program b 1 987 896
    //     1 987 896 read c     2 054 620  program c 2 671 404
    //     2 671 404 erase      5 671 754  (a read at 3 000 000)
    let mut cfg = small();
    cfg.cleaning.copies_in_flight = 1;
    let mut drive = prepared(&cfg, [0, 4, 8, 12]);
    let done = run(&mut drive, &[(0, write(5)), (3_000_000, read(9))]);
    assert_eq!(done[0].completed.0, 620_880);
    assert_eq!(620_880 + 3 * (READ_16K + PROGRAM_16K), 2_671_404);
    assert_eq!(done[1].completed.0, read_from(2_671_404 + ERASE));
}

#[test]
fn an_emptied_block_is_erased_when_it_is_opened() {
    // Whenever a block is opened one that is dead is emptied, without more ado: 0, 1 and 2 join 5, 6 and 7 on the free
    // list. Blocks 5, 6 and 7 are filled; then block 0 is opened, and its erase goes before its first program.
    //   link  0 -- 4 096
    //   die         4 096 erase 3 004 446
    //                           3 004 446 program 3 621 230
    let mut cfg = small();
    cfg.cleaning.lazy_erase = true;
    let mut drive = prepared(&cfg, [0, 1, 2, 3]);
    let pages = [5, 6, 7, 4, 9, 10, 11, 8, 13, 14, 15, 12];
    let script: Vec<_> = (0..).zip(pages).map(|(nth, page)| (nth * 1_000_000, write(page))).collect();
    for ((at, _), done) in script.iter().zip(run(&mut drive, &script)) {
        assert_eq!(done.completed.0 - at, LINK_16K + PROGRAM_16K);
    }
    assert_eq!(drive.stats().ops(OpKind::Erase), 0);
    let done = run(&mut drive, &[(12_000_000, write(0))]);
    assert_eq!(done[0].completed.0 - 12_000_000, 3_621_230);
    assert_eq!(LINK_16K + ERASE + PROGRAM_16K, 3_621_230);
    assert_eq!(drive.stats().ops(OpKind::Erase), 1);
    drive.check().unwrap();
}

#[test]
fn writes_that_find_no_page_keep_their_order() {
    // Without a buffer each write is waited for. Eight pages are free for the host; from the ninth write on each waits
    // for cleaning, and none that came later goes before it. The host lacks a page from when it asks for the ninth.
    // die     4 096 write 0            620 880
    //       620 880 cleaning read      687 604    (block 0 has one live page)
    //       687 604 writes 1 to 4    3 154 740    (the eighth page is promised: here the lack begins)
    //     3 154 740 cleaning prog    3 771 524
    //     3 771 524 writes 5 to 7    5 621 876
    //     5 621 876 erase of 0       8 622 226
    //     8 622 226 two moves        9 989 242    (pages 7 and 11 of blocks 1 and 2: a read and a program each)
    //     9 989 242 erase of 1      12 989 592    (two blocks are free: here the lack ends)
    //    12 989 592 erase of 2      15 989 942
    //    15 989 942 write 8         16 606 726
    let mut drive = prepared(&small(), [0, 1, 2, 4]);
    drive.tracing().tell_holders(true);
    let from = drive.now();
    for (tag, page) in (0..).zip([5, 6, 8, 9, 10, 12, 13, 14, 3, 7, 11]) {
        drive.submit(0, &Command { tag, arrival: from, ..write(page) }, from).unwrap();
    }
    drive.drain();
    let (mut done, mut went_to) = (Vec::new(), Vec::new());
    while let Some(completion) = drive.pop_completion() {
        let told = drive.tracing().take_told();
        let lacked = told.held.ns[ssd::Holder::PAGE.index()];
        assert_eq!(told.page.total(), lacked);
        let named = ssd::Holder::all().map(|holder| (holder.name(), told.page.ns[holder.index()]));
        went_to.push(named.filter(|(_, ns)| *ns > 0).collect::<Vec<_>>());
        done.push((completion.tag, completion.completed.since(from), lacked));
    }
    assert!(done.iter().map(|done| done.0).eq(0..11), "{done:?}");
    assert!(done[..8].iter().all(|done| done.2 == 0), "{done:?}");
    assert_eq!((done[0].1, done[4].1, done[7].1), (620_880, 3_154_740, 5_621_876));
    assert_eq!(3_154_740 + 4 * PROGRAM_16K + 2 * ERASE + 2 * (READ_16K + PROGRAM_16K), 12_989_592);
    assert_eq!(done[8].1, 12_989_592 + ERASE + PROGRAM_16K);
    assert!(done[8..].iter().all(|done| done.2 == 12_989_592 - 3_154_740), "{done:?}");
    // The block's three cleaning programs, two reads and two erases, the first of which let three writes go first.
    let transfer = PROGRAM_16K - T_PROG;
    let expected = [
        ("array.read.cleaning", 2 * T_R),
        ("array.program.host", 3 * T_PROG),
        ("array.program.cleaning", 3 * T_PROG),
        ("array.erase.cleaning", 2 * (ERASE - ERASE_COMMAND)),
        ("transfer.in.host", 3 * transfer),
        ("transfer.in.cleaning", 3 * transfer + 2 * ERASE_COMMAND),
        ("transfer.out.cleaning", 2 * (READ_16K - T_R)),
    ];
    let expected: Vec<_> = expected.map(|(name, ns)| (name.to_owned(), ns)).into();
    assert!(went_to[..8].iter().all(Vec::is_empty));
    assert!(went_to[8..].iter().all(|went_to| *went_to == expected), "{went_to:?}");
}
