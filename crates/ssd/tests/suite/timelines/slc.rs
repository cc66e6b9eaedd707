//! Blocks of one bit a cell: a cache whose blocks hold one page, beside full blocks of four.

use super::*;
use ssd::config::{Table, Value};
use ssd::nand::cell::CellPart;
use ssd::sections::{ErrorModel, Errors};

/// Array times of blocks of one bit a cell (ns).
const T_R_ONE_BIT: u64 = 25_000;
const T_PROG_ONE_BIT: u64 = 200_000;
const T_BERS_ONE_BIT: u64 = 2_000_000;
/// A whole-page read of such a block on an idle die and channel: 300 + 25 000 + 40 + 16 384 = 41 724 ns.
const READ_ONE_BIT: u64 = READ_COMMAND + T_R_ONE_BIT + OUT_COMMAND + DATA_16K;

/// Planes of 16 blocks of one wordline of four bits, with a cache of three blocks each, whatever the host's silence.
fn cached(planes: u32) -> DriveConfig {
    let mut cfg = one_die();
    let g = &mut cfg.geometry;
    (g.planes_per_die, g.wordlines_per_block, g.bits_per_cell) = (planes, 1, 4);
    (cfg.slc.t_read_us, cfg.slc.t_program_us, cfg.slc.t_erase_us) = (25.0, 200.0, 2_000.0);
    cfg.slc_cache.select("fixed").unwrap();
    cfg.slc_cache.set("blocks_per_lane", &Value::Integer(3)).unwrap();
    cfg.slc_cache.set("idle_after_us", &Value::Float(0.0)).unwrap();
    cfg
}

/// The same on one plane, emptied after a millisecond of silence.
fn emptied(policy: &str) -> DriveConfig {
    let mut cfg = cached(1);
    cfg.slc_cache.select(policy).unwrap();
    cfg.slc_cache.set("idle_after_us", &Value::Float(1_000.0)).unwrap();
    cfg
}

/// What destaging a block takes on an idle die: 41 724 + 616 784 + 2 000 350 ns.
const DESTAGE: u64 = READ_ONE_BIT + PROGRAM_16K + ERASE_COMMAND + T_BERS_ONE_BIT;

#[test]
fn silence_empties_the_cache() {
    // die  program 220 880 -- silence -- 1 220 880 read 1 262 604 program 1 879 388 erase 3 879 738
    for policy in ["fixed", "adaptive"] {
        let mut drive = Drive::new(&emptied(policy)).unwrap();
        run(&mut drive, &[(0, write(0))]);
        assert_eq!(drive.now(), SimTime(1_220_880 + DESTAGE), "{policy}");
        assert_eq!(drive.stats().ftl.slc_destaged, 1, "{policy}");
    }
}

#[test]
fn silence_leaves_what_the_cache_is_to_keep() {
    // One block of three is a third: 33 % of them is none.
    for (percent, destaged) in [(33.0, 1), (34.0, 0)] {
        let mut cfg = emptied("fixed");
        cfg.slc_cache.set("idle_keep_percent", &Value::Float(percent)).unwrap();
        let mut drive = Drive::new(&cfg).unwrap();
        run(&mut drive, &[(0, write(0))]);
        assert_eq!(drive.stats().ftl.slc_destaged, destaged, "{percent} %");
        assert_eq!(drive.now(), SimTime(1_220_880 + destaged * DESTAGE), "{percent} %");
    }
}

#[test]
fn a_request_ends_the_silence() {
    // Two of four blocks hold two pages each, and one page is copied at a time. The host reads 10 000 and 1 000 000
    // after silence was felt, at 0:
    // die  0 read 41 724 host 83 448 program 700 232 read 741 956 program 1 358 740 host 1 400 464 erase
    // The block that was begun is finished. The host has its second page at 1 404 560; the next block begins another
    // millisecond of silence later.
    let mut cfg = emptied("fixed");
    (cfg.geometry.wordlines_per_block, cfg.cleaning.copies_in_flight) = (2, 1);
    cfg.slc_cache.set("blocks_per_lane", &Value::Integer(4)).unwrap();
    let mut drive = Drive::new(&cfg).unwrap();
    for page in 0..4 {
        drive.submit(0, &write(page), SimTime(300_000 * page)).unwrap();
    }
    let felt = 900_000 + 220_880 + 1_000_000;
    for after in [10_000, 1_000_000] {
        drive.submit(0, &read(3), SimTime(felt + after)).unwrap();
    }
    for (after, destaged) in [(2_404_559, 1), (2_404_560, 2)] {
        drive.advance_to(SimTime(felt + after));
        assert_eq!(drive.stats().ftl.slc_destaged, destaged, "{after} ns after silence was felt");
    }
    drive.drain();
    let ends: Vec<u64> = std::iter::from_fn(|| drive.pop_completion()).map(|c| c.completed.0).collect();
    assert_eq!(ends[4..], [felt + 2 * READ_ONE_BIT + LINK_16K, felt + 1_404_560]);
}

#[test]
fn a_write_is_programmed_and_read_with_one_bit_a_cell() {
    // link     0 -- 4 096
    // channel  4 096 cmd, in 20 880
    // array                  20 880 ---- tPROG ---- 220 880
    let mut drive = Drive::new(&cached(1)).unwrap();
    let done = run(&mut drive, &[(0, write(0)), (1_000_000, read(0))]);
    let transfer = (Part::Transfer, PROGRAM_COMMAND + DATA_16K);
    expect(
        &done[0],
        220_880,
        &[(Part::Link, LINK_16K), (Part::Buffer, 0), transfer, (Part::Array, T_PROG_ONE_BIT)],
    );
    let transfer = (Part::Transfer, READ_COMMAND + OUT_COMMAND + DATA_16K);
    let parts = [transfer, (Part::Array, T_R_ONE_BIT), (Part::Link, LINK_16K)];
    expect(&done[1], 1_000_000 + READ_ONE_BIT + LINK_16K, &parts);
    assert_eq!((drive.stats().ftl.slc_hits, drive.stats().ftl.host_reads_by_type), (1, [0; 4]));
}

#[test]
fn the_oldest_block_is_destaged_when_fewer_than_two_are_erased() {
    // The second write opens the second of three blocks; behind its program the first is read, its page programmed to
    // a full block, and it is erased.
    // die  4 096 program 220 880 read 262 604 program 879 388 erase 2 879 738
    let mut drive = Drive::new(&cached(1)).unwrap();
    run(&mut drive, &[(0, write(0))]);
    let start = drive.now().0;
    run(&mut drive, &[(start, write(1))]);
    let program = PROGRAM_COMMAND + DATA_16K + T_PROG_ONE_BIT;
    let expected = LINK_16K + program + READ_ONE_BIT + PROGRAM_16K + ERASE_COMMAND + T_BERS_ONE_BIT;
    assert_eq!((drive.now().0 - start, expected), (expected, 2_879_738));
    assert_eq!(drive.stats().ftl.slc_destaged, 1);
    // What was destaged is read as any page of a full block.
    let now = drive.now().0;
    let later = now + 1_000_000;
    let done = run(&mut drive, &[(now, read(0)), (later, read(1))]);
    let ends = done.iter().map(|done| done.completed.0).collect::<Vec<_>>();
    assert_eq!(ends, [now + READ_16K + LINK_16K, later + READ_ONE_BIT + LINK_16K]);
}

#[test]
fn pages_of_one_bit_and_of_four_are_not_read_together() {
    // Page 2 pushes page 0 out of the cache of the first plane, to page 0 of a full block; page 1 is page 0 of a block
    // of the cache in the second plane. Behind a read of page 2 the other two are read one after the other.
    let mut cfg = cached(2);
    cfg.scheduling.multi_plane = true;
    let mut drive = Drive::new(&cfg).unwrap();
    for page in 0..3 {
        let start = drive.now().0;
        run(&mut drive, &[(start, write(page))]);
    }
    assert_eq!(drive.stats().ftl.slc_destaged, 1);
    let now = drive.now().0;
    let groups = drive.stats().flash.groups;
    let done = run(&mut drive, &[(now, read(2)), (now, read(0)), (now, read(1))]);
    let ends = done.iter().map(|done| done.completed.0 - now).collect::<Vec<_>>();
    let second = READ_ONE_BIT + READ_16K;
    assert_eq!(ends, [READ_ONE_BIT, second, second + READ_ONE_BIT].map(|end| end + LINK_16K));
    assert_eq!(drive.stats().flash.groups, groups);
}

/// Cells that age are sensed and programmed in the same times; what is read is decoded as a hard read of QLC.
#[test]
fn cells_that_age_have_the_same_times() {
    let mut cfg = cached(1);
    cfg.geometry.spare_bytes = 4_096;
    cfg.cells = CellPart::preset("qlc").unwrap();
    cfg.errors = Errors { model: ErrorModel::Cells, variation: false, ..Errors::default() };
    let mut drive = Drive::new(&cfg).unwrap();
    let done = run(&mut drive, &[(0, write(0)), (1_000_000, read(0))]);
    let transfer = (Part::Transfer, PROGRAM_COMMAND + DATA_16K);
    expect(
        &done[0],
        220_880,
        &[(Part::Link, LINK_16K), (Part::Buffer, 0), transfer, (Part::Array, T_PROG_ONE_BIT)],
    );
    let decode = (cfg.cells.ecc.decode_us[0] * 1e3) as u64;
    let transfer = (Part::Transfer, READ_COMMAND + OUT_COMMAND + DATA_16K);
    let parts = [transfer, (Part::Array, T_R_ONE_BIT), (Part::Decode, decode), (Part::Link, LINK_16K)];
    expect(&done[1], 1_000_000 + READ_ONE_BIT + decode + LINK_16K, &parts);
}
