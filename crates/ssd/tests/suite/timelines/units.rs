//! Mapping units larger than a page: pages of one row, side by side (`ftl.mapping.unit`).

use super::*;
use ssd::flash::op::{Cause, OpKind};
use ssd::observe::{ChipEffect, Effect};
use std::collections::BTreeSet;

/// Units of 64 KiB on four planes of pages of 16 KiB.
fn wide() -> DriveConfig {
    let mut cfg = four_planes();
    cfg.mapping.unit = MappingUnit::SixtyFourKib;
    cfg
}

/// When one command, on a drive that is filled and does nothing else, is over, and the pages read and programmed.
fn alone(cfg: &DriveConfig, one: Command) -> (u64, u64, u64) {
    let mut drive = filled(cfg, 8);
    drive.reset_stats();
    let done = run(&mut drive, &[(0, one)]);
    drive.check().unwrap();
    let stats = drive.stats();
    (done[0].completed.0, stats.ops(OpKind::Read), stats.ops(OpKind::Program))
}

/// The array senses so many pages at once; then they are sent one after the other.
fn sense(bytes_of_pages: &[u64]) -> u64 {
    let out: u64 = bytes_of_pages.iter().map(|bytes| OUT_COMMAND + bytes).sum();
    bytes_of_pages.len() as u64 * READ_COMMAND + T_R + out
}

/// A row of four pages is programmed.
const ROW: u64 = 4 * (PROGRAM_COMMAND + DATA_16K) + T_PROG;

#[test]
fn a_read_senses_the_pages_that_hold_its_sectors() {
    // 4 KiB of the third page; the same, half in the first and half in the second; two pages; and all of the unit.
    let cases: [(u64, u32, &[u64]); 4] = [
        (128 + 64, 8, &[DATA_4K]),
        (128 + 28, 8, &[DATA_4K / 2, DATA_4K / 2]),
        (128 + 64, 64, &[DATA_16K, DATA_16K]),
        (128, 128, &[DATA_16K; 4]),
    ];
    for (lba, sectors, pages) in cases {
        let link = u64::from(sectors) * 128;
        let expected = (sense(pages) + link, pages.len() as u64, 0);
        assert_eq!(alone(&wide(), command(OpCode::Read, lba, sectors)), expected, "{sectors} from {lba}");
    }
    assert_eq!(sense(&[DATA_4K]) + LINK_4K, 55_460);
}

#[test]
fn a_write_of_a_part_reads_the_rest_and_programs_one_row() {
    // 4 KiB: 1 024 link, the rest is read of four pages, 4 x 300 + 50 000 + 4 x 40 + 61 440, and one row is programmed,
    // 4 x 16 784 + 600 000: 780 960.
    // 16 KiB, a page of it: three pages are read. All of it: nothing is read.
    let cases: [(u32, Option<&[u64]>); 3] = [
        (S4K, Some(&[DATA_16K - DATA_4K, DATA_16K, DATA_16K, DATA_16K])),
        (S16K, Some(&[DATA_16K; 3])),
        (4 * S16K, None),
    ];
    for (sectors, rest) in cases {
        let link = u64::from(sectors) * 128;
        let expected = link + rest.map_or(0, sense) + ROW;
        let reads = rest.map_or(0, <[u64]>::len) as u64;
        let found = alone(&wide(), command(OpCode::Write, 128, sectors));
        assert_eq!(found, (expected, reads, 4), "{sectors} sectors");
    }
}

#[test]
fn what_is_in_the_buffer_is_not_read() {
    // Four pages of a unit are written one after the other, and flushed.
    let mut cfg = wide();
    cfg.buffer = write_back();
    let mut drive = filled(&cfg, 8);
    drive.reset_stats();
    let writes = (0..4).map(|page| (0, command(OpCode::Write, page * 32, S16K)));
    let flush = (100_000, command(OpCode::Flush, 0, 0));
    let done = run(&mut drive, &writes.chain([flush]).collect::<Vec<_>>());
    assert_eq!(done[4].completed.0, 100_000 + ROW);
    let stats = drive.stats();
    assert_eq!((stats.ops(OpKind::Read), stats.pages_programmed(Cause::Host)), (0, 4));
}

#[test]
fn two_units_of_32_kib_make_up_a_row() {
    // Both are written and flushed: one program. One alone: two pages of a row, and the next takes the other planes.
    let mut cfg = wide();
    cfg.mapping.unit = MappingUnit::ThirtyTwoKib;
    cfg.buffer = write_back();
    let half = 2 * (PROGRAM_COMMAND + DATA_16K) + T_PROG;
    let flush = command(OpCode::Flush, 0, 0);
    let mut drive = filled(&cfg, 8);
    let script = [
        (0, command(OpCode::Write, 0, 128)),
        (100_000, flush),
        (2_000_000, command(OpCode::Write, 0, 64)),
        (2_100_000, flush),
        (4_000_000, command(OpCode::Write, 64, 64)),
        (4_100_000, flush),
    ];
    let done = run(&mut drive, &script);
    let ends = [1, 3, 5].map(|at| done[at].completed.0);
    assert_eq!(ends, [100_000 + ROW, 2_100_000 + half, 4_100_000 + half]);
    assert_eq!(drive.stats().ftl.padded_units.iter().sum::<u64>(), 0);
}

/// What the host and cleaning are told to be in flash is there: on no page whose program has failed.
#[test]
fn a_unit_of_which_a_part_fails_is_programmed_elsewhere() {
    let mut cfg = wide();
    cfg.geometry.blocks_per_plane = 64;
    cfg.reliability.program_fail_ppm = 20_000.0;
    let mut drive = Drive::new(&cfg).unwrap();
    drive.record_chip_effects(true);
    let (mut failed, mut told) = (BTreeSet::new(), 0);
    for nth in 0..2_000_u64 {
        let write = Command { tag: nth, ..command(OpCode::Write, nth % 200 * 128, 128) };
        if drive.submit(0, &write, drive.now()).is_err() || !drive.advance_to_completion() {
            break;
        }
        let done = drive.pop_completion().unwrap();
        while let Some(effect) = drive.pop_effect() {
            match effect {
                Effect::Chip(ChipEffect::ProgramEnds { block, page, failed: true }) => {
                    failed.insert((block, page));
                }
                Effect::Chip(ChipEffect::EraseEnds { block }) => failed.retain(|&(other, _)| other != block),
                Effect::Program { to, .. } | Effect::Copy { to, .. } => {
                    let (block, page) = drive.contents().place_of(to);
                    told += 1;
                    let mut parts = (0..4).map(|plane| (block + plane * 64, page));
                    assert!(parts.all(|part| !failed.contains(&part)), "unit {to:?} after {nth} writes");
                }
                _ => {}
            }
        }
        if done.status != Status::Ok {
            break;
        }
    }
    assert!(failed.len() > 10 && told > 200, "{} programs failed, {told} units are in flash", failed.len());
    drive.check().unwrap();
}
