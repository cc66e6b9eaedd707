//! Whole rows: under random writes planes work together as they do under sequential ones.

use super::*;
use ssd::flash::op::{Cause, OpKind};
use ssd::host::buffer;
use ssd::sections::{Issue, MappingUnit, Superblock};

/// Two dies of four planes, 4-KiB units, 28 % spare.
fn planes(superblock: Superblock, issue: Issue) -> DriveConfig {
    let mut cfg = round_numbers(1, 2, 4);
    (cfg.mapping.unit, cfg.drive.over_provisioning_percent) = (MappingUnit::FourKib, 28.0);
    (cfg.allocation.superblock, cfg.allocation.issue) = (superblock, issue);
    cfg
}

/// Uniform writes of 4 KiB on a full drive, once cleaning is steady: flash programmed, in pages a second, and what
/// became of the drive. Half of so many writes are counted.
fn steady(cfg: &DriveConfig, writes: u64) -> (f64, Drive) {
    let mut drive = Drive::new(cfg).unwrap();
    let (units, mut rng) = (drive.logical_units(), Rng::named(5, "rows"));
    drive.fill(0, units).unwrap();
    drive.overwrite(&(0..4 * units).map(|_| rng.below(units)).collect::<Vec<u32>>()).unwrap();
    drive.reset_stats();
    let flow = closed_loop(&mut drive, 256, writes, |_| write_unit(rng.below(units)));
    let programs = drive.stats().ops(OpKind::Program) as f64;
    (flow.rate() * programs / writes as f64, drive)
}

#[test]
fn random_writes_program_nearly_as_much_as_sequential_ones() {
    let sequential = 2.0 * 4.0 * 1e9 / (4.0 * (400.0 + 16_384.0) + 600_000.0);
    let lru = buffer::Config::LruWrite(buffer::lru_write::Params { size_mib: 4.0, ..Default::default() });
    for superblock in [Superblock::Planes, Superblock::All] {
        for buffer in [None, Some(lru.clone())] {
            let mut cfg = planes(superblock, Issue::Row);
            cfg.buffer = buffer.unwrap_or(cfg.buffer);
            let (rate, drive) = steady(&cfg, 60_000);
            let (stats, what) = (drive.stats(), format!("{} {}", superblock.name(), cfg.buffer.name()));
            let together = |kind, of: fn(Cause) -> bool| stats.flash.together(kind, of).unwrap();
            let moves = |cause: Cause| !cause.is_for_host();
            let pages = [
                together(OpKind::Program, Cause::is_for_host),
                together(OpKind::Program, moves),
                together(OpKind::Read, moves),
            ];
            assert!(pages.iter().all(|&pages| pages >= 3.8), "{what}: {pages:?} pages at once");
            // Reads and erases of cleaning take the rest.
            assert!(rate > 0.8 * sequential, "{what}: {rate} pages a second, {sequential} in sequence");
            let padded = stats.ftl.padded_units.iter().sum::<u64>();
            let slots = 4 * stats.ops(OpKind::Program);
            assert!(padded as f64 <= 0.015 * slots as f64, "{what}: {padded} of {slots} slots padded");
        }
    }
    let (page, _) = steady(&planes(Superblock::Planes, Issue::Page), 60_000);
    assert!(page < 0.6 * sequential, "page by page planes wait for each other: {page}, {sequential}");
}

/// The same drive of TLC that programs one-shot.
fn one_shot(superblock: Superblock, issue: Issue) -> DriveConfig {
    let mut cfg = planes(superblock, issue);
    cfg.geometry.bits_per_cell = 3;
    cfg.geometry.wordlines_per_block /= 2;
    cfg.cell.one_shot = true;
    cfg
}

#[test]
fn random_writes_fill_wordlines_that_are_programmed_at_once() {
    let sequential = 2.0 * 12.0 * 1e9 / (12.0 * (400.0 + 16_384.0) + 600_000.0);
    let lru = buffer::Config::LruWrite(buffer::lru_write::Params { size_mib: 8.0, ..Default::default() });
    for superblock in [Superblock::Planes, Superblock::All] {
        for buffer in [None, Some(lru.clone())] {
            let mut cfg = one_shot(superblock, Issue::Row);
            cfg.buffer = buffer.unwrap_or(cfg.buffer);
            let (rate, drive) = steady(&cfg, 60_000);
            let (stats, what) = (drive.stats(), format!("{} {}", superblock.name(), cfg.buffer.name()));
            let together = |kind, of: fn(Cause) -> bool| stats.flash.together(kind, of).unwrap();
            let moves = |cause: Cause| !cause.is_for_host();
            let pages =
                [Cause::is_for_host, moves].map(|of: fn(Cause) -> bool| together(OpKind::Program, of));
            assert!(pages.iter().all(|&pages| pages >= 11.7), "{what}: {pages:?} pages at once");
            let read = together(OpKind::Read, moves);
            assert!(read >= 3.9, "{what}: {read} pages of a wordline number are read at once");
            // A row is read in three steps of 116 us for the 801 of its program: reads cost more than of page by page.
            assert!(rate > 0.6 * sequential, "{what}: {rate} pages a second, {sequential} in sequence");
            let padded = stats.ftl.padded_units.iter().sum::<u64>();
            let slots = 4 * stats.ops(OpKind::Program);
            assert!(padded as f64 <= 0.005 * slots as f64, "{what}: {padded} of {slots} slots padded");
        }
    }
}

/// Where capacitors save the buffer, flushes make nothing of data but what gathers anyway: no slot is padded.
#[test]
fn flushes_before_capacitors_cost_no_page() {
    let mut cfg = planes(Superblock::Planes, Issue::Row);
    let size_mib = 1.0;
    cfg.buffer = buffer::Config::LruWrite(buffer::lru_write::Params {
        size_mib,
        flush: buffer::Flush::Capacitors,
        ..Default::default()
    });
    let (mut drive, mut sent) = (Drive::new(&cfg).unwrap(), 0);
    closed_loop(&mut drive, 1, 4_000, |_| {
        sent += 1;
        let flush = Command { op: OpCode::Flush, ..Command::default() };
        if sent % 2 == 1 { write_unit(sent) } else { flush }
    });
    let stats = drive.stats();
    assert_eq!(stats.ftl.padded_units.iter().sum::<u64>(), 0);
    // 2,000 units were written, of which the buffer holds back at most half of its 256.
    let units = 4 * stats.ops(OpKind::Program);
    assert!((2_000 - 128..=2_000).contains(&units), "{units}");
}

/// A row is never a reason to pad: what is flushed takes the pages that it needs, and the next the planes left.
#[test]
fn a_flush_after_each_write_costs_a_page_each() {
    let drives = [Issue::Row, Issue::Page]
        .into_iter()
        .flat_map(|issue| [planes, one_shot].map(|drive| (issue, drive(Superblock::Planes, issue))));
    for (issue, mut cfg) in drives {
        cfg.buffer =
            buffer::Config::LruWrite(buffer::lru_write::Params { size_mib: 4.0, ..Default::default() });
        let (mut drive, mut sent) = (Drive::new(&cfg).unwrap(), 0);
        closed_loop(&mut drive, 1, 2_000, |_| {
            sent += 1;
            let flush = Command { op: OpCode::Flush, ..Command::default() };
            if sent % 2 == 1 { write_unit(sent) } else { flush }
        });
        let stats = drive.stats();
        let padded = stats.ftl.padded_units.iter().sum::<u64>();
        // Or a wordline of three pages of four units.
        let expected = if cfg.cell.one_shot { (3_000, 11_000) } else { (1_000, 3_000) };
        assert_eq!((stats.ops(OpKind::Program), padded), expected, "{}", issue.name());
    }
}
