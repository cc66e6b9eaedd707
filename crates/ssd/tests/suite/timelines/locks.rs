//! Locks of pages and blocks, on Evanesco's drive: a command of 290 ns, 100 us for a page, 300 us for a block.

use super::*;
use ssd::config::{Layer, Table, Value};
use ssd::drive_config::resolve;
use ssd::flash::op::OpKind;
use ssd::observe::{ChipEffect, Effect};

/// The command of a lock, as that of an erase (ns).
const COMMAND: u64 = 290;
const PAGE_LOCK: u64 = COMMAND + 100_000;
const BLOCK_LOCK: u64 = COMMAND + 300_000;
/// A whole-page read of that drive: 290 + 80 000 + 30 + 16 384 = 96 704 ns; a program: 361 + 16 384 + 700 000.
const READ: u64 = 290 + 80_000 + 30 + 16_384;
const PROGRAM: u64 = 361 + 16_384 + 700_000;
/// Pages of a block.
const BLOCK: u32 = 576;

/// The preset with so many chips on one channel, and neither buffer nor time between host and drive.
pub fn evanesco(chips: u32, policy: &str) -> DriveConfig {
    let mut cfg = resolve(&[Layer::file("t.toml", "preset = \"evanesco\"\n")], &[]).unwrap().config;
    (cfg.geometry.channels, cfg.geometry.chips_per_channel) = (1, chips);
    cfg.drive.logical_gib = 3.0;
    cfg.sanitize.select(policy).unwrap();
    cfg.buffer = buffer::Config::None(buffer::none::Params { gather_timeout_us: 0.0, t_access_ns: 0 });
    (cfg.link.bandwidth_mb_s, cfg.link.latency_us) = (4_000.0, 0.0);
    cfg.firmware.t_command_us = 0.0;
    cfg
}

pub fn trim(from: u64, pages: u32) -> Command {
    command(OpCode::Trim, from * 32, pages * S16K)
}

/// Submits a command now, and returns when so many operations of a kind have ended.
fn ends(drive: &mut Drive, command: Command, kind: OpKind, count: u64) -> u64 {
    let begin = drive.now();
    let before = drive.stats().ops(kind);
    drive.submit(0, &Command { arrival: begin, ..command }, begin).unwrap();
    while drive.stats().ops(kind) < before + count {
        let at = drive.next_event_at().expect("the locks have yet to end");
        drive.advance_to(SimTime(at.0 + 1));
    }
    let end = drive.now().0 - 1;
    drive.drain();
    while drive.pop_completion().is_some() {}
    drive.check().unwrap();
    assert_eq!(drive.stats().ops(kind), before + count, "no more than those");
    end - begin.0
}

#[test]
fn a_page_is_locked_as_soon_as_its_successor_is_programmed() {
    // link     0 -- 4 096 (16 KiB)
    // die             4 096 program 720 841
    //                               720 841 lock 821 131
    let mut drive = filled(&evanesco(1, "page_and_block_lock"), 100);
    assert_eq!(ends(&mut drive, write(7), OpKind::PageLock, 1), LINK_16K + PROGRAM + PAGE_LOCK);
    // A write to the medium is complete when what it replaced is locked; another when it is programmed.
    for (fua, latency) in [(true, LINK_16K + PROGRAM + PAGE_LOCK), (false, LINK_16K + PROGRAM)] {
        let now = drive.now().0;
        let done = run(&mut drive, &[(now, Command { fua, ..write(8) })]);
        assert_eq!(done[0].completed.0 - now, latency, "{fua}");
    }
}

#[test]
fn pages_of_a_trim_are_locked_one_after_the_other_or_together() {
    let mut drive = filled(&evanesco(1, "page_and_block_lock"), 2 * BLOCK);
    // Three of a block in which others live.
    assert_eq!(ends(&mut drive, trim(0, 3), OpKind::PageLock, 3), 300_870);
    // All but four of the rest; then these: one lock of the block.
    let rest = u64::from(BLOCK) - 7;
    assert_eq!(ends(&mut drive, trim(3, rest as u32), OpKind::PageLock, rest), rest * PAGE_LOCK);
    assert_eq!(ends(&mut drive, trim(3 + rest, 4), OpKind::BlockLock, 1), 300_290);
    // Three are locked as fast by themselves.
    let last = u64::from(BLOCK) + rest + 4;
    assert_eq!(
        ends(&mut drive, trim(u64::from(BLOCK), BLOCK - 3), OpKind::PageLock, last - 576),
        573 * PAGE_LOCK
    );
    assert_eq!(ends(&mut drive, trim(last, 3), OpKind::PageLock, 3), 300_870);
}

#[test]
fn chips_of_a_channel_lock_at_once() {
    // Their commands follow one another: 4 x 290 + 100 000.
    let mut drive = filled(&evanesco(4, "page_and_block_lock"), 16);
    assert_eq!(ends(&mut drive, trim(4, 4), OpKind::PageLock, 4), 101_160);
}

#[test]
fn a_gigabyte_takes_seconds_page_by_page() {
    // 65 536 x 100.290 us; the same in 114 blocks that hold nothing else: 114 x 300.290 us.
    const PAGES: u32 = 65_536;
    let mut drive = filled(&evanesco(1, "page_lock"), PAGES);
    assert_eq!(ends(&mut drive, trim(0, PAGES), OpKind::PageLock, u64::from(PAGES)), 6_572_605_440);
    let mut drive = filled(&evanesco(1, "page_and_block_lock"), 114 * BLOCK);
    assert_eq!(ends(&mut drive, trim(0, 114 * BLOCK), OpKind::BlockLock, 114), 34_233_060);
    assert_eq!(114 * BLOCK_LOCK, 34_233_060);
}

#[test]
fn a_lock_waits_behind_older_reads_and_younger_ones_pass_it() {
    // die      0 read 1    96 704
    //     96 704 read 2   193 408    (both came before the trim)
    //    193 408 read 3   290 112    (came after it, and passes)
    //    290 112 lock     390 402
    let mut drive = filled(&evanesco(1, "page_and_block_lock"), 100);
    let script = [(0, read(1)), (10, read(2)), (20, trim(2, 1)), (30, read(3))];
    let done = run(&mut drive, &script);
    let reads = [done[0].completed.0, done[1].completed.0, done[3].completed.0];
    assert_eq!(reads, [1, 2, 3].map(|nth| nth * READ + LINK_16K));
    assert_eq!(done[2].completed.0, 3 * READ + PAGE_LOCK);
    let stats = drive.stats();
    assert_eq!(
        (stats.ftl.exposed_ns, stats.ftl.exposed_ns_max),
        (3 * READ + PAGE_LOCK - 20, 3 * READ + PAGE_LOCK - 20)
    );
}

/// A block of four pages of which two live, when the next write makes the drive clean it, as in `cleaning`.
fn cleaned(batch_ms: f64) -> Drive {
    let mut cfg = one_die();
    (cfg.geometry.blocks_per_plane, cfg.geometry.wordlines_per_block) = (8, 4);
    cfg.sanitize.select("page_and_block_lock").unwrap();
    cfg.sanitize.set("batch_ms", &Value::Float(batch_ms)).unwrap();
    let mut drive = filled(&cfg, 16);
    drive.overwrite(&[0, 1, 4, 8]).unwrap();
    drive.reset_stats();
    drive
}

#[test]
fn copies_that_cleaning_kills_need_no_lock_if_their_block_is_soon_erased() {
    // die     4 096 host program   620 880
    //       620 880 read, read     754 328    (of the block to be emptied, queued since the write came)
    //       754 328 lock           854 678    (of what the write replaced: 350 + 100 000)
    //       854 678 program      1 471 462    (the first copy dies)
    //     1 471 462 read, read   1 604 910    (of the next block to be emptied)
    //     1 604 910 program      2 221 694    (the second, and the erase is on its way)
    // If the first copy waits for less than the 750 232 ns between the two deaths, it is locked, too.
    for (batch_ms, locks) in [(50.0, 1), (0.5, 2)] {
        let mut drive = cleaned(batch_ms);
        drive.submit(0, &write(5), SimTime(0)).unwrap();
        while drive.stats().ops(OpKind::Erase) == 0 {
            let at = drive.next_event_at().expect("the erase has yet to come");
            drive.advance_to(SimTime(at.0 + 1));
        }
        let stats = drive.stats();
        assert_eq!((stats.ops(OpKind::PageLock), stats.ops(OpKind::BlockLock)), (locks, 0), "{batch_ms} ms");
    }
}

#[test]
fn a_flush_does_not_wait_for_the_end_of_a_job() {
    // The first copy dies at 1 471 462, in mid-job. A flush that comes then has it locked: it waits for what is queued
    // at the die, two reads of the next block to be emptied and the program of the second copy, and for the lock behind
    // them; not for the erase.
    let mut drive = cleaned(50.0);
    let done = run(&mut drive, &[(0, write(5)), (1_471_500, command(OpCode::Flush, 0, 0))]);
    assert_eq!(done[1].completed.0, 2_221_694 + ERASE_COMMAND + 100_000);
    assert_eq!(drive.stats().ops(OpKind::PageLock), 2);
}

/// When pulses and erases of a run until `end` have ended, with the physical block and the page.
fn ends_of_data(drive: &mut Drive, end: u64) -> Vec<(u64, u32, Option<u32>)> {
    let mut ends = Vec::new();
    while let Some(at) = drive.next_event_at().filter(|at| at.0 < end) {
        drive.advance_to(SimTime(at.0 + 1));
        while let Some(effect) = drive.pop_effect() {
            match effect {
                Effect::Chip(ChipEffect::LockPage { block, page, .. }) => {
                    ends.push((at.0, block, Some(page)))
                }
                Effect::Chip(ChipEffect::LockBlock { block, .. } | ChipEffect::EraseEnds { block }) => {
                    ends.push((at.0, block, None));
                }
                _ => {}
            }
        }
    }
    ends
}

#[test]
fn what_the_host_kills_in_mid_job_is_locked_at_once() {
    // As in the case before, but page 3, which is about to be moved, is written at 700 000. What a move kills waits for
    // the end of the job, and the erase is that; what the host kills does not. So there are two locks by 5 ms, not one:
    // that of page 3 was issued at 2 221 694, and the erase, which would have hidden it too, not before 2 838 478. Once
    // issued both are done in turn. The copy of page 3 was on its way by then and is dead when it comes: it is locked
    // behind the erase.
    // die   754 328 lock of 5              854 678
    //       854 678 program of 2         1 471 462    (the old 2 dies by a move)
    //     1 471 462 read, read           1 604 910    (6 and 7, of the next block to be emptied)
    //     1 604 910 host program of 3    2 221 694    (the old 3 dies, and is to be locked)
    //     2 221 694 program of 3         2 838 478    (dead; the block is empty, and to be erased)
    //     2 838 478 program of 6, of 7   4 072 046    (they were issued before that)
    //     4 072 046 lock of the old 3    4 172 396
    //     4 172 396 erase                7 172 746
    //     7 172 746 lock of the dead 3   7 273 096
    let mut drive = cleaned(50.0);
    drive.record_chip_effects(true);
    for (at, write) in [(0, write(5)), (700_000, write(3))] {
        drive.submit(0, &Command { arrival: SimTime(at), ..write }, SimTime(at)).unwrap();
    }
    let lock = ERASE_COMMAND + 100_000;
    let moved = LINK_16K + 5 * PROGRAM_16K + 4 * READ_16K + lock + PROGRAM_16K;
    assert_eq!(moved, 4_072_046);
    let erased = moved + lock + ERASE_COMMAND + 3_000_000;
    let by_hand =
        [(854_678, 1, Some(1)), (moved + lock, 0, Some(3)), (erased, 0, None), (erased + lock, 6, Some(1))];
    assert_eq!(ends_of_data(&mut drive, 7_300_000), by_hand);
    assert_eq!(erased + lock, 7_273_096);
}

#[test]
fn pages_that_one_write_kills_are_locked_together() {
    // Pages 572 to 575, the last that live in their block, are written at once.
    // link     0 -- 16 384 (64 KiB)
    // die            16 384 four programs   2 883 364    (each 717 us kills a page, with the last the block is dead)
    //                                       2 883 364 lock of the block   3 183 654
    let four = Command { sectors: 4 * S16K, ..write(572) };
    let alone = || {
        let mut drive = filled(&evanesco(1, "page_and_block_lock"), 2 * BLOCK);
        ends(&mut drive, trim(0, BLOCK - 4), OpKind::PageLock, 572);
        drive
    };
    let mut drive = alone();
    let programmed = 4 * LINK_16K + 4 * PROGRAM;
    assert_eq!(ends(&mut drive, four, OpKind::BlockLock, 1), programmed + BLOCK_LOCK);
    assert_eq!((programmed + BLOCK_LOCK, drive.stats().ops(OpKind::PageLock)), (3_183_654, 572));
    // A write to the medium waits for that, another does not.
    for (fua, latency) in [(true, programmed + BLOCK_LOCK), (false, programmed)] {
        let mut drive = alone();
        let now = drive.now().0;
        let done = run(&mut drive, &[(now, Command { fua, ..four })]);
        assert_eq!(done[0].completed.0 - now, latency, "{fua}");
    }
    // Of four commands each kills one. The locks are queued behind the programs, which came before.
    let mut drive = alone();
    let now = drive.now().0;
    let each: Vec<_> = (572..576).map(|page| (now, write(page))).collect();
    run(&mut drive, &each);
    assert_eq!((drive.stats().ops(OpKind::PageLock), drive.stats().ops(OpKind::BlockLock)), (576, 0));
    // So it is where the write is complete in DRAM.
    let mut cfg = evanesco(1, "page_and_block_lock");
    cfg.buffer = write_back();
    let mut drive = filled(&cfg, 2 * BLOCK);
    ends(&mut drive, trim(0, BLOCK - 4), OpKind::PageLock, 572);
    let now = drive.now().0;
    run(&mut drive, &[(now, four), (now + 20_000, command(OpCode::Flush, 0, 0))]);
    assert_eq!((drive.stats().ops(OpKind::PageLock), drive.stats().ops(OpKind::BlockLock)), (576, 0));
}

#[test]
fn pages_that_wait_for_the_end_of_a_write_are_locked_for_whoever_waits() {
    // The same, but page 600 of another block is trimmed while the second page is programmed: all that is dead then is
    // locked for that, page 572, too. The three that die later are locked by themselves: that takes as long.
    // die    16 384 four programs     2 883 364
    //     2 883 364 locks of 600, 572 3 083 944    (queued since the trim came: it is complete)
    //     3 083 944 three locks       3 384 814
    let four = Command { sectors: 4 * S16K, ..write(572) };
    let mut drive = filled(&evanesco(1, "page_and_block_lock"), 2 * BLOCK);
    ends(&mut drive, trim(0, BLOCK - 4), OpKind::PageLock, 572);
    drive.record_chip_effects(true);
    let now = drive.now().0;
    for (at, command) in [(now, four), (now + 1_000_000, trim(600, 1))] {
        drive.submit(0, &Command { arrival: SimTime(at), ..command }, SimTime(at)).unwrap();
    }
    let programmed = now + 4 * LINK_16K + 4 * PROGRAM;
    let locks = ends_of_data(&mut drive, now + 3_400_000);
    let expected = (1..=5).map(|nth| programmed + nth * PAGE_LOCK);
    assert!(locks.iter().map(|lock| lock.0).eq(expected), "{locks:?}");
    assert_eq!(
        locks[..2].iter().map(|lock| (lock.1, lock.2)).collect::<Vec<_>>(),
        [(1, Some(24)), (0, Some(572))]
    );
    let trimmed = std::iter::from_fn(|| drive.pop_completion()).find(|done| done.op == OpCode::Trim).unwrap();
    assert_eq!(trimmed.completed.0, programmed + 2 * PAGE_LOCK);
    expect(&trimmed, trimmed.completed.0, &[(Part::LockWait, trimmed.completed.0 - now - 1_000_000)]);
}

#[test]
fn a_block_that_is_emptied_and_not_erased_is_locked() {
    // Blocks of eight pages; blocks 0 to 3 hold six live ones each, block 4 eight. Page 2 is written: block 5 is opened
    // for it, and block 0 is emptied, then block 1. Of moves four operations are under way at most, and the die does
    // them and locks in the order in which they came.
    // die     4 096 host program                 620 880    (the old page 2 dies, and is to be locked)
    //       620 880 reads of 2, 3, 4, 5          887 776    (2 is dead when it comes, so that 6 is to be read)
    //       887 776 lock of 2                    988 126    (350 + 100 000)
    //       988 126 read of 6                  1 054 850
    //     1 054 850 programs of 3, 4, 5, 6     3 521 986    (for each that ends another is to be read)
    //     3 521 986 reads of 7, 10, 11, 12     3 788 882
    //     3 788 882 program of 7               4 405 666    (block 0 is empty: five pages are to be locked)
    //     4 405 666 programs of 10, 11, 12     6 256 018
    //     6 256 018 read of 13                 6 322 742    (there is room for it since 7 was programmed)
    //     6 322 742 block lock                 6 623 092    (350 + 300 000)
    let mut cfg = one_die();
    (cfg.geometry.blocks_per_plane, cfg.geometry.wordlines_per_block) = (8, 8);
    cfg.cleaning.lazy_erase = true;
    cfg.sanitize.select("page_and_block_lock").unwrap();
    let mut drive = filled(&cfg, 24);
    drive.overwrite(&[24, 25, 26, 27, 28, 29, 0, 1]).unwrap();
    drive.overwrite(&[30, 31, 8, 9, 16, 17, 24, 25]).unwrap();
    drive.reset_stats();
    drive.submit(0, &write(2), SimTime(0)).unwrap();
    while drive.stats().ops(OpKind::BlockLock) == 0 {
        let at = drive.next_event_at().expect("the lock has yet to end");
        drive.advance_to(SimTime(at.0 + 1));
    }
    assert_eq!(620_880 + 9 * READ_16K + ERASE_COMMAND + 100_000 + 5 * PROGRAM_16K, 4_405_666);
    assert_eq!(4_405_666 + 3 * PROGRAM_16K + READ_16K + ERASE_COMMAND + 300_000, 6_623_092);
    let stats = drive.stats();
    assert_eq!((drive.now().0 - 1, stats.ops(OpKind::PageLock), stats.ops(OpKind::Erase)), (6_623_092, 1, 0));
}

#[test]
fn a_page_is_reprogrammed_without_copies_when_its_wordline_is_full() {
    // Three pages of one wordline, one after the other; nothing moves.
    let mut drive = filled(&evanesco(1, "reprogram"), 100);
    assert_eq!(ends(&mut drive, trim(0, 3), OpKind::Reprogram, 3), 300_870);
    // Pages 99 to 101 share a wordline, and 99 is the last that is programmed: two programs come first, without data.
    let two = 2 * (PROGRAM - 16_384);
    assert_eq!(ends(&mut drive, trim(99, 1), OpKind::Reprogram, 1), two + PAGE_LOCK);
    assert_eq!((drive.stats().ftl.sanitize_copies, drive.reports().sanitize().lost_pages), (0, 0));
    // One page of each of 16 wordlines: of the 32 pages beside them half are lost, but for what chance does.
    for wordline in 1..17 {
        assert_eq!(ends(&mut drive, trim(3 * wordline, 1), OpKind::Reprogram, 1), PAGE_LOCK);
    }
    let truth = drive.reports().sanitize().lost_pages;
    assert!((8..=24).contains(&truth), "{truth} of 32 pages are lost");
    // Who reads one waits for its only attempt, and is told.
    let mut lost = 0;
    for page in (3..51).filter(|page| page % 3 > 0) {
        let now = drive.now().0;
        let done = run(&mut drive, &[(now, read(page))]);
        let is_lost = done[0].status == Status::Uncorrectable;
        let latency = if is_lost { READ } else { READ + LINK_16K };
        assert_eq!(done[0].completed.0 - now, latency, "page {page}");
        lost += u64::from(is_lost);
    }
    // What is lost is dead, and reprogrammed in its turn: that takes some of the last pages with it.
    assert!(lost >= truth && lost == drive.stats().ftl.lost_units, "{lost} of {truth}");
    assert_eq!(drive.stats().ops(OpKind::Reprogram), 3 + 1 + 16 + lost);
}
