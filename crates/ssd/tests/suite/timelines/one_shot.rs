//! Wordlines that are programmed at once (`nand.cell.one_shot`).

use super::*;
use ssd::flash::op::{Cause, OpKind};
use ssd::observe::{ChipEffect, Effect};
use std::collections::BTreeSet;

/// TLC on four planes: a row is a wordline of each, twelve pages.
fn one_shot() -> DriveConfig {
    let mut cfg = four_planes();
    (cfg.geometry.bits_per_cell, cfg.geometry.wordlines_per_block) = (3, 8);
    (cfg.cell.one_shot, cfg.buffer) = (true, write_back());
    cfg
}

/// A program of so many wordlines, of which so many pages hold data: each page has its command, then comes one tPROG.
const fn program(wordlines: u64, pages: u64) -> u64 {
    3 * wordlines * PROGRAM_COMMAND + pages * DATA_16K + T_PROG
}

fn flush() -> Command {
    command(OpCode::Flush, 0, 0)
}

/// Units that were padded, and pages of the host in each program.
fn told(drive: &Drive) -> (u64, Option<f64>) {
    let stats = drive.stats();
    (stats.ftl.padded_units.iter().sum(), stats.flash.together(OpKind::Program, Cause::is_for_host))
}

#[test]
fn a_row_of_wordlines_is_one_program() {
    // Twelve pages are written: 12 x 4 096 on the link, then 12 x 16 784 + 600 000 = 801 408.
    let mut drive = Drive::new(&one_shot()).unwrap();
    let done = run(&mut drive, &[(0, command(OpCode::Write, 0, 12 * S16K)), (100_000, flush())]);
    assert_eq!((done[1].completed.0, program(4, 12)), (12 * LINK_16K + 801_408, 801_408));
    assert_eq!(told(&drive), (0, Some(12.0)));
}

#[test]
fn a_flush_pads_to_the_wordlines_of_the_planes_that_have_data() {
    // Five pages take the wordlines of planes 0 and 1; the sixth is padding. What comes next takes planes 2 and 3.
    //   100 000  planes 0 and 1   6 x 400 + 5 x 16 384 + 600 000 =    784 320
    // 1 000 000  plane 2          3 x 400 + 1 x 16 384 + 600 000 =  1 617 584
    // 2 000 000  plane 3          3 x 400 + 3 x 16 384 + 600 000 =  2 650 352
    let cfg = one_shot();
    let mut drive = Drive::new(&cfg).unwrap();
    let done = run(&mut drive, &[(0, command(OpCode::Write, 0, 5 * S16K)), (100_000, flush())]);
    assert_eq!(done[1].completed.0, 784_320);
    assert_eq!(told(&drive), (1, Some(6.0)));
    // A row that has begun is part of a snapshot.
    let mut saved = Vec::new();
    drive.save(&mut saved).unwrap();
    let mut drive = Drive::restore(&cfg, &saved).unwrap();
    let script = [
        (900_000, write(5)),
        (1_000_000, flush()),
        (1_900_000, command(OpCode::Write, 6 * 32, 3 * S16K)),
        (2_000_000, flush()),
    ];
    let done = run(&mut drive, &script);
    assert_eq!([done[1].completed.0, done[3].completed.0], [1_617_584, 2_650_352]);
    let ends = [100_000 + program(2, 5), 1_000_000 + program(1, 1), 2_000_000 + program(1, 3)];
    assert_eq!(ends, [784_320, 1_617_584, 2_650_352]);
    assert_eq!(told(&drive), (3, Some(4.0)));
}

#[test]
fn the_longest_page_type_says_how_long_a_wordline_takes() {
    for (times, longest) in [(vec![500.0, 700.0, 900.0], 900_000), (vec![400.0, 300.0, 200.0], 400_000)] {
        let mut cfg = one_shot();
        cfg.timing.t_program_us = times;
        let mut drive = Drive::new(&cfg).unwrap();
        let done = run(&mut drive, &[(0, command(OpCode::Write, 0, 3 * S16K)), (100_000, flush())]);
        assert_eq!(done[1].completed.0, 100_000 + program(1, 3) - T_PROG + longest);
    }
}

#[test]
fn a_read_senses_one_page_of_a_wordline() {
    // Pages 3 to 5 are those of plane 1, each with a tR of its own.
    let mut cfg = one_shot();
    cfg.timing.t_read_us = vec![50.0, 60.0, 70.0];
    for page in 0..3 {
        let mut drive = filled(&cfg, 12);
        drive.reset_stats();
        let done = run(&mut drive, &[(0, read(3 + page))]);
        assert_eq!(done[0].completed.0, READ_16K + page * 10_000 + LINK_16K, "page type {page}");
        assert_eq!(drive.stats().ops(OpKind::Read), 1);
        assert_eq!(drive.stats().ftl.host_reads_by_type[page as usize], 1);
    }
}

#[test]
fn pages_of_one_type_are_read_together() {
    // The twelve pages of a row, in one command: the four planes sense each type together.
    let mut drive = filled(&one_shot(), 12);
    drive.reset_stats();
    let done = run(&mut drive, &[(0, command(OpCode::Read, 0, 12 * S16K))]);
    let of_type = 4 * READ_COMMAND + T_R + 4 * (OUT_COMMAND + DATA_16K);
    assert_eq!(done[0].completed.0, 3 * of_type + 12 * LINK_16K);
    assert_eq!(drive.stats().flash.together(OpKind::Read, Cause::is_for_host), Some(4.0));
}

#[test]
fn planes_that_never_work_together_program_wordlines_one_by_one() {
    let mut cfg = one_shot();
    (cfg.scheduling.multi_plane, cfg.allocation.issue) = (false, ssd::sections::Issue::Page);
    let mut drive = Drive::new(&cfg).unwrap();
    let done = run(&mut drive, &[(0, command(OpCode::Write, 0, 6 * S16K)), (100_000, flush())]);
    assert_eq!(done[1].completed.0, 100_000 + 2 * program(1, 3));
    assert_eq!((told(&drive), drive.stats().flash.groups), ((0, Some(3.0)), 0));
}

#[test]
fn cleaning_reads_what_lives_and_programs_whole_rows() {
    // Superblocks of two rows of twelve pages. Of block 0 pages 1 to 11 live; of block 1 page 35, the last of its first
    // row, and 36 to 47. A page of the host, 40, begins a block, and with it cleaning of both.
    //   block 0      11 pages of three types      3 reads
    //   block 1      page 35, then 11 as before   4 reads
    // What lives makes up two rows but for a page.
    let mut cfg = one_shot();
    cfg.buffer = one_die().buffer;
    (cfg.geometry.blocks_per_plane, cfg.geometry.wordlines_per_block) = (8, 2);
    let mut drive = filled(&cfg, 96);
    drive.overwrite(&[0].into_iter().chain(12..35).collect::<Vec<u32>>()).unwrap();
    drive.reset_stats();
    run(&mut drive, &[(0, write(40))]);
    let stats = drive.stats();
    let together = |kind| stats.flash.together(kind, |cause| !cause.is_for_host());
    assert_eq!([OpKind::Read, OpKind::Program].map(together), [Some(23.0 / 7.0), Some(12.0)]);
    assert_eq!(stats.pages_programmed(Cause::Cleaning), 24);
    let padded = [Cause::Host, Cause::Cleaning].map(|cause| stats.ftl.padded_units[cause as usize]);
    assert_eq!(padded, [2, 1]);
}

#[test]
fn planes_that_read_on_their_own_read_a_wordline_page_by_page() {
    // Four pages, of planes 0 and 1: the first three of one wordline are sensed one after the other, each when the page
    // before it is out, and the fourth beside them.
    let mut cfg = one_shot();
    cfg.timing.independent_reads = true;
    let mut drive = filled(&cfg, 12);
    drive.reset_stats();
    let done = run(&mut drive, &[(0, command(OpCode::Read, 0, 4 * S16K))]);
    let one = READ_COMMAND + T_R + OUT_COMMAND + DATA_16K;
    // The page of plane 1 leaves while the second of plane 0 is sensed.
    assert_eq!(done[0].completed.0, 3 * one + 4 * LINK_16K);
    assert_eq!(drive.stats().ops(OpKind::Read), 4);
}

#[test]
fn a_wordline_of_which_a_page_fails_is_programmed_elsewhere() {
    let mut cfg = one_shot();
    cfg.buffer = one_die().buffer;
    (cfg.geometry.blocks_per_plane, cfg.reliability.program_fail_ppm) = (64, 20_000.0);
    let mut drive = Drive::new(&cfg).unwrap();
    drive.record_chip_effects(true);
    // By block and wordline, as chips say.
    let (mut failed, mut told) = (BTreeSet::new(), 0);
    for nth in 0..2_000_u64 {
        let write = Command { tag: nth, ..write(nth * 3 % 600) };
        if drive.submit(0, &write, drive.now()).is_err() || !drive.advance_to_completion() {
            break;
        }
        let done = drive.pop_completion().unwrap();
        while let Some(effect) = drive.pop_effect() {
            match effect {
                Effect::Chip(ChipEffect::ProgramEnds { block, page, failed: true }) => {
                    failed.insert((block, page / 3));
                }
                Effect::Chip(ChipEffect::EraseEnds { block }) => failed.retain(|&(other, _)| other != block),
                Effect::Program { to, .. } | Effect::Copy { to, .. } => {
                    let (block, page) = drive.contents().place_of(to);
                    assert!(!failed.contains(&(block, page / 3)), "unit {to:?} after {nth} writes");
                    told += 1;
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
