//! Moves that reads have made due, beside host reads of the same die.
//!
//! Pages 0 to 63 lie in blocks 0 to 3 of 16; pages 0 to 14, written again, in block 4. Page 15 is alone in block 0,
//! whose second read makes it due: it is read (M) and programmed to block 5 (P), then block 0 is erased. The first read
//! has the die until 66 724; the second, M, and four reads of other blocks come while it does, in this order.

use super::*;
use ssd::flash::op::{Cause, OpKind};
use ssd::ftl::read_reclaim;
use ssd::sections::ReclaimOrder;

/// When each of the script's commands is at the host; the drive's reads and programs of moves, and erases, are counted.
fn completions(reclaim: ReclaimOrder, due_bypass_limit: u32, script: &[(u64, Command)]) -> Vec<u64> {
    let mut cfg = one_die();
    (cfg.scheduling.reclaim, cfg.scheduling.due_bypass_limit) = (reclaim, due_bypass_limit);
    cfg.read_reclaim = read_reclaim::Config::Block(read_reclaim::block::Params {
        max_reads: 2,
        threshold_percent: 100.0,
        effective: false,
    });
    let mut drive = filled(&cfg, 64);
    drive.overwrite(&(0..15).collect::<Vec<_>>()).unwrap();
    drive.reset_stats();
    let done = run(&mut drive, script);
    let ops = drive.stats().flash.ops;
    let moved = |kind: OpKind| ops[kind as usize][Cause::ReadReclaim as usize];
    assert_eq!([moved(OpKind::Read), moved(OpKind::Program), moved(OpKind::Erase)], [1, 1, 1]);
    done.iter().map(|done| done.completed.0).collect()
}

/// Twice page 15, and pages of blocks 1 to 4 once each.
fn burst() -> Vec<(u64, Command)> {
    [15, 15, 16, 32, 48, 0].map(|page| (0, read(page))).to_vec()
}

#[test]
fn a_due_move_goes_between_host_reads() {
    // die        0 read 15         66 724
    //       66 724 M              133 448    (one read has gone before it)
    //      133 448 read 15        200 172    (P is queued at 133 448, with the die just taken)
    //      200 172 P              816 956    (three older reads wait: one has gone since M)
    //      816 956 read 16        883 680, 32: 950 404, 48: 1 017 128, 0: 1 083 852
    //    1 083 852 erase        4 084 202    (queued at 816 956: nothing of it is urgent, and the reads are older)
    let expected = [66_724, 200_172, 883_680, 950_404, 1_017_128, 1_083_852].map(|end| end + LINK_16K);
    assert_eq!(200_172 + PROGRAM_16K, 816_956);
    assert_eq!(completions(ReclaimOrder::Urgent, 1, &burst()), expected);
}

#[test]
fn a_due_move_goes_between_younger_reads_too() {
    // The same, but reads 32, 48 and 0 come at 150 000, 210 000 and 830 000.
    // die  200 172 P              816 956    (was queued before read 32)
    //      816 956 read 16        883 680, 32: 950 404, 48: 1 017 128, 0: 1 083 852
    let mut script = burst();
    (script[3].0, script[4].0, script[5].0) = (150_000, 210_000, 830_000);
    let expected = [66_724, 200_172, 883_680, 950_404, 1_017_128, 1_083_852].map(|end| end + LINK_16K);
    assert_eq!(completions(ReclaimOrder::Urgent, 1, &script), expected);
}

#[test]
fn in_order_a_due_move_waits_for_older_reads_alone() {
    // die        0 read 15         66 724
    //       66 724 read 15        133 448
    //      133 448 M              200 172    (queued after the second read of page 15, before the others)
    //      200 172 read 16        266 896, 32: 333 620, 48: 400 344
    //      400 344 P            1 017 128    (queued at 200 172; read 0 comes at 210 000, and does not pass it)
    //    1 017 128 read 0       1 083 852
    let mut script = burst();
    script[5].0 = 210_000;
    let expected = [66_724, 133_448, 266_896, 333_620, 400_344, 1_083_852].map(|end| end + LINK_16K);
    assert_eq!(400_344 + PROGRAM_16K, 1_017_128);
    assert_eq!(completions(ReclaimOrder::Urgent, 100, &script), expected);
}

#[test]
fn in_the_background_a_due_move_is_passed() {
    // die        0 read 15         66 724, 15: 133 448, 16: 200 172, 32: 266 896, 48: 333 620    (M is passed by three)
    //      333 620 M              400 344
    //      400 344 P            1 017 128    (read 0 comes at 410 000)
    //    1 017 128 read 0       1 083 852
    let mut script = burst();
    script[5].0 = 410_000;
    let expected = [66_724, 133_448, 200_172, 266_896, 333_620, 1_083_852].map(|end| end + LINK_16K);
    assert_eq!(completions(ReclaimOrder::Background, 1, &script), expected);
}
