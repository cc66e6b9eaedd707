//! Reading ahead: what a stream will ask for next is read behind what was asked for.

use super::*;
use ssd::flash::op::{Cause, OpKind};

/// One die that reads so many KiB ahead, from the first read on.
fn ahead(size_kib: u32) -> DriveConfig {
    let mut cfg = one_die();
    (cfg.read_ahead.size_kib, cfg.read_ahead.after) = (size_kib, 1);
    cfg
}

/// Reads of pages by cause.
fn page_reads(drive: &Drive) -> [u64; 2] {
    let ops = drive.stats().flash.ops[OpKind::Read as usize];
    [Cause::Host, Cause::ReadAhead].map(|cause| ops[cause as usize])
}

#[test]
fn what_was_read_ahead_is_there_or_is_waited_for() {
    // die      0 -- page 0 -- 66 724 -- page 1 -- 133 448     200 000 -- page 2 -- 266 724 -- page 3 -- 333 448
    // read(1)  200 000 DRAM 200 200 link 204 296
    // read(2)  210 000 waits for page 2 until 266 724, link 270 820
    let mut drive = filled(&ahead(16), 4);
    let done = run(&mut drive, &[(0, read(0)), (200_000, read(1)), (210_000, read(2))]);
    expect(&done[1], 204_296, &[(Part::Buffer, DRAM), (Part::Link, LINK_16K)]);
    let parts = [
        // The first 10 000 ns of it had passed.
        (Part::Transfer, READ_COMMAND + OUT_COMMAND + DATA_16K - 10_000),
        (Part::Array, T_R),
        (Part::Link, LINK_16K),
    ];
    expect(&done[2], 270_820, &parts);
    assert_eq!(page_reads(&drive), [1, 3]);
    let host = drive.stats().host;
    assert_eq!([host.read_ahead, host.read_ahead_awaited, host.read_ahead_hits], [3, 1, 1]);
    // A page that a stream has not reached is no loss to anybody else: it is as in flash.
    let done = run(&mut drive, &[(400_000, read(3))]);
    expect(&done[0], 404_296, &[(Part::Buffer, DRAM), (Part::Link, LINK_16K)]);
    assert_eq!(page_reads(&drive), [1, 3]);
}

#[test]
fn reads_ahead_go_behind_those_that_are_asked_for() {
    // die  0 -- page 0 -- 66 724 -- page 6 -- 133 448 -- page 1 ...; page 6 is no stream of pages 1 and 2
    let mut drive = filled(&ahead(32), 7);
    let done = run(&mut drive, &[(0, read(0)), (10_000, read(6))]);
    assert_eq!(done.iter().map(|done| done.completed.0).collect::<Vec<_>>(), [70_820, 137_544]);
    drive.drain();
    assert_eq!(page_reads(&drive), [2, 2]);
}

/// Half of the window is left before more is read, and nothing beyond what is written.
#[test]
fn a_stream_is_read_ahead_window_by_window() {
    let mut cfg = ahead(64);
    cfg.read_ahead.after = 2;
    let mut drive = filled(&cfg, 9);
    let mut reads = Vec::new();
    for page in 0..9 {
        run(&mut drive, &[(1_000_000 * (page + 1), read(page))]);
        drive.drain();
        reads.push(page_reads(&drive));
    }
    // From the second read on: pages 2 to 5, at page 3 two more, at page 5 the last one.
    assert_eq!(reads, [[1, 0], [2, 4], [2, 4], [2, 6], [2, 6], [2, 7], [2, 7], [2, 7], [2, 7]]);
    assert_eq!(drive.stats().host.read_ahead_hits, 7);
}

/// A unit that was written or trimmed since is not what was read ahead.
#[test]
fn what_is_written_or_trimmed_is_read_anew() {
    let mut drive = filled(&ahead(16), 4);
    let done = run(
        &mut drive,
        &[
            (0, read(0)),
            (200_000, write(1)),
            (2_000_000, command(OpCode::Trim, 64, 32)),
            (2_100_000, read(1)),
            (2_200_000, read(2)),
        ],
    );
    assert!(done.iter().all(|done| done.status == ssd::Status::Ok));
    assert_eq!(drive.stats().host.unmapped_reads, 1);
}
