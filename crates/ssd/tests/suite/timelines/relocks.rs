//! Locks that are set again when they are old, on Evanesco's drive: by hand, and over five years.

use super::locks::{evanesco, trim};
use super::*;
use ssd::config::{Table, Value};
use ssd::flash::op::OpKind;
use ssd::nand::Raw;
use ssd::nand::cell::lock::{PageLock, majority_lost};

const PAGE_LOCK: u64 = 290 + 100_000;
const BLOCK_LOCK: u64 = 290 + 300_000;
/// A whole-page read of that drive: command, array, command, 16 KiB.
const READ: u64 = 290 + 80_000 + 30 + 16_384;
/// Pages of a block.
const BLOCK: u32 = 576;
const MINUTE: u64 = 60_000_000_000;
/// A month of 730 hours; ns.
const MONTH: u64 = 730 * 60 * MINUTE;

fn relocking(policy: &str, months: f64) -> DriveConfig {
    let mut cfg = evanesco(1, policy);
    cfg.sanitize.set("relock_months", &Value::Float(months)).unwrap();
    cfg
}

/// Submits a command at a time, lets all end, and returns how much later it was complete.
fn done_after(drive: &mut Drive, at: u64, command: Command) -> u64 {
    run(drive, &[(at, command)])[0].completed.0 - at
}

/// Locks of a page and a block, and those that were set again.
fn locks(drive: &Drive) -> (u64, u64, u64) {
    let stats = drive.stats();
    (stats.ops(OpKind::PageLock), stats.ops(OpKind::BlockLock), stats.ftl.sanitize_relocks)
}

#[test]
fn old_locks_are_set_again_one_at_a_time_behind_what_the_host_wants() {
    // The first lock ends 100 290 ns after the trim. A nanosecond before it is two years old nothing is done. Then:
    // die      0 read          96 704    (who brings it wakes the firmware)
    //     96 704 lock         196 994
    //    196 994 read         293 698    (it comes at 150 000, and before the next lock)
    //    293 698 lock         393 988
    //    393 988 lock         494 278
    let mut drive = filled(&relocking("page_and_block_lock", 24.0), 100);
    assert_eq!(done_after(&mut drive, 0, trim(4, 3)), 3 * PAGE_LOCK);
    let due = PAGE_LOCK + 24 * MONTH;
    assert_eq!(done_after(&mut drive, due - 200_000, read(0)), READ + LINK_16K);
    drive.advance_to(SimTime(due - 1));
    assert_eq!(locks(&drive), (3, 0, 0));
    let exposed = (drive.stats().ftl.exposed_ns, drive.stats().ftl.exposed_ns_max);
    let done = run(&mut drive, &[(due, read(0)), (due + 150_000, read(1))]);
    let reads = [0, 1].map(|nth: usize| done[nth].completed.0 - due);
    assert_eq!(reads, [READ + LINK_16K, 2 * READ + PAGE_LOCK + LINK_16K]);
    assert_eq!((drive.now().0 - due, locks(&drive)), (2 * READ + 3 * PAGE_LOCK, (6, 0, 3)));
    assert_eq!((drive.stats().ftl.exposed_ns, drive.stats().ftl.exposed_ns_max), exposed);
    drive.check().unwrap();
    // The next time is two years after that.
    done_after(&mut drive, due + 24 * MONTH - 200_000, read(0));
    assert_eq!(locks(&drive), (6, 0, 3));
    done_after(&mut drive, due + 24 * MONTH, read(0));
    assert_eq!(locks(&drive), (9, 0, 6));
    // What is erased is not locked again: trims, and the drive written over and over.
    let mut at = drive.now().0;
    assert_eq!(done_after(&mut drive, at, trim(0, 100)), 97 * PAGE_LOCK);
    let all: Vec<u32> = (0..drive.logical_units()).collect();
    (0..2).for_each(|_| drive.overwrite(&all).unwrap());
    drive.fill(0, 1).unwrap();
    drive.check().unwrap();
    let (pages, blocks, relocks) = locks(&drive);
    at = drive.now().0 + 25 * MONTH;
    done_after(&mut drive, at, read(0));
    let (now_pages, now_blocks, now_relocks) = locks(&drive);
    assert_eq!(now_relocks - relocks, now_pages - pages + now_blocks - blocks);
    drive.check().unwrap();
}

#[test]
fn a_block_in_which_nothing_lives_is_locked_again_as_one() {
    let mut drive = filled(&relocking("page_and_block_lock", 24.0), 2 * BLOCK);
    // Page by page first; then the last four, and with them the block.
    done_after(&mut drive, 0, trim(0, BLOCK - 4));
    let at = drive.now().0;
    assert_eq!(done_after(&mut drive, at, trim(u64::from(BLOCK) - 4, 4)), BLOCK_LOCK);
    assert_eq!(locks(&drive), (572, 1, 0));
    let due = PAGE_LOCK + 24 * MONTH;
    done_after(&mut drive, due, read(u64::from(BLOCK)));
    assert_eq!((locks(&drive), drive.now().0 - due), ((572, 2, 1), READ + BLOCK_LOCK));
    // Where no block is locked every page is.
    let mut drive = filled(&relocking("page_lock", 24.0), 2 * BLOCK);
    done_after(&mut drive, 0, trim(0, BLOCK));
    done_after(&mut drive, due, read(u64::from(BLOCK)));
    assert_eq!((locks(&drive), drive.now().0 - due), ((1_152, 0, 576), READ + 576 * PAGE_LOCK));
}

/// What a thief finds of a drive that was read once a year for five years: of so many locked pages those that answer,
/// and how many should. The drive is saved and restored on the way.
fn after_five_years(cfg: &DriveConfig, blocks: u32, pages: u32) -> (u64, f64) {
    let mut drive = filled(cfg, blocks * BLOCK + 1);
    for block in 0..blocks {
        let now = drive.now().0;
        done_after(&mut drive, now, trim(u64::from(block * BLOCK), pages));
    }
    for year in 1..5 {
        done_after(&mut drive, MINUTE + 12 * year * MONTH, read(u64::from(blocks * BLOCK)));
        drive.check().unwrap();
    }
    drive.advance_to(SimTime(MINUTE + 60 * MONTH));
    let mut bytes = Vec::new();
    drive.save(&mut bytes).unwrap();
    let drive = Drive::restore(cfg, &bytes).unwrap();
    let (chips, now) = (drive.chips(), drive.now());
    let all = (0..blocks).flat_map(|block| (0..pages).map(move |page| (block, page)));
    let mut found = (0, 0.0);
    for (block, page) in all {
        found.0 += u64::from(chips.raw_read(block, page, now, 0) == Raw::Data);
        found.1 += chips.chance_of_answer(block, page, now, 0).unwrap();
    }
    found
}

/// Ten thousand pages that are locked again once a year answer as after one year: the sums are those of the closed
/// form, with the paper's flags and with weak ones, of which a thief finds as many as he should.
#[test]
fn a_drive_that_locks_again_is_after_five_years_as_after_one() {
    let lost = |lock: PageLock, hours: f64| 10_000.0 * majority_lost(9, lock.flipped(hours, None));
    for (voltage, us) in [(4, 100.0), (2, 200.0)] {
        let mut found = Vec::new();
        for (months, hours) in [(0.0, 43_800.0 + 1.0 / 60.0), (11.0, 8_760.0)] {
            let mut cfg = relocking("page_and_block_lock", months);
            (cfg.lock.page_voltage, cfg.timing.t_page_lock_us) = (voltage, us);
            let (answer, expected) = after_five_years(&cfg, 20, 500);
            let closed = lost(PageLock { voltage, us }, hours);
            assert!((expected / closed - 1.0).abs() < 1e-9, "{months} months: {expected}, not {closed}");
            let off = (answer as f64 - expected).abs();
            assert!(off <= 4.5 * expected.sqrt() + 1.0, "{months} months: {answer} of {expected}");
            found.push((answer, expected));
        }
        println!("voltage {voltage}, {us} us: {found:?}");
        assert!(found[0].1 > 2.0 * found[1].1 && found[0].0 >= found[1].0, "{found:?}");
    }
}

/// Nothing is kept, and nothing is done, where no locks are set again; nor is a lock younger than it says.
#[test]
fn a_drive_that_never_locks_again_is_as_before() {
    let run = |months: f64| {
        let mut drive = filled(&relocking("page_and_block_lock", months), 2 * BLOCK);
        done_after(&mut drive, 0, trim(0, 100));
        done_after(&mut drive, 60 * MONTH, read(1_000));
        (drive.event_hash(), drive.reports().table_bytes().locks, drive.chips().lock_bytes(), locks(&drive))
    };
    let (never, late, often) = (run(0.0), run(61.0), run(60.0 - 1e-6));
    assert_eq!((never.0, never.3, late.3, often.3), (late.0, (100, 0, 0), (100, 0, 0), (200, 0, 100)));
    let blocks = u64::from(relocking("page_lock", 0.0).geometry.blocks_per_plane);
    let planes = u64::from(relocking("page_lock", 0.0).geometry.planes());
    assert_eq!((late.1 - never.1) as u64, 8 * blocks * planes);
    assert_eq!((late.2 - never.2) as u64, 4 * blocks * planes + 8 * (blocks * planes * 576).div_ceil(64));
}
