//! What it costs to write parts of mapping units: a unit is programmed as a whole, however little of it is new.

use super::*;
use ssd::Executor;
use ssd::flash::op::{Cause, OpKind};

/// Sectors of 4 KiB, the piece that units consist of here.
const PIECE: u32 = 8;

/// A write of the first `sectors` sectors, or of any aligned piece of so many, of a unit drawn at random.
fn write_in(rng: &mut Rng, drive: &Drive, sectors: u32) -> Command {
    let unit = drive.unit_bytes() / 512;
    let lba = u64::from(rng.below(drive.logical_units())) * u64::from(unit)
        + u64::from(rng.below(unit / sectors) * sectors);
    Command { op: OpCode::Write, lba: Lba(lba), sectors, ..Command::default() }
}

/// A buffer that data leaves as soon as there is a page of it: next to nothing is written again while it waits.
fn small_buffer() -> buffer::Config {
    let (flush_start_percent, flush_stop_percent) = (0.0, 0.0);
    let size_mib = 0.25;
    buffer::Config::LruWrite(buffer::lru_write::Params {
        size_mib,
        flush_start_percent,
        flush_stop_percent,
        ..Default::default()
    })
}

/// Bytes programmed for the host, and in all, for each byte that it writes: of 100 writes so many are of 4 KiB and the
/// others of a unit, each at multiples of its size. All have been overwritten before, several times.
fn cost(cfg: &DriveConfig, small_percent: u32) -> (f64, f64) {
    let mut drive = Drive::new(cfg).unwrap();
    let units = drive.logical_units();
    drive.set_executor(Executor::Functional);
    drive.fill(0, units).unwrap();
    let mut rng = Rng::named(17, "units");
    let mut overwrite = |drive: &mut Drive, writes: u32| {
        let whole = drive.unit_bytes() / 512;
        for _ in 0..writes {
            let sectors = if rng.below(100) < small_percent { PIECE } else { whole };
            let command = write_in(&mut rng, drive, sectors);
            drive.submit(0, &command, drive.now()).unwrap();
            assert!(drive.advance_to_completion());
            assert_eq!(drive.pop_completion().unwrap().status, Status::Ok);
        }
    };
    overwrite(&mut drive, 4 * units);
    drive.reset_stats();
    overwrite(&mut drive, 4 * units);
    drive.check().unwrap();
    let stats = drive.stats();
    let written = (stats.host.written_bytes) as f64;
    let all: u64 = stats.programmed_bytes().iter().sum();
    (stats.programmed_bytes()[Cause::Host as usize] as f64 / written, all as f64 / written)
}

/// Writes of part of a unit cost the whole unit: 4 KiB of 16 four times their bytes; of mixes of whole units and 4 KiB
/// a byte costs U / (w U + (1 - w) 4 KiB) times as much, for a share w of whole ones. That is the endurance that a
/// Micron 6550 ION, whose units have 16 KiB, is rated for: .90, .75 and .60 of that of aligned writes.
#[test]
fn a_part_of_a_unit_costs_the_whole_unit() {
    use MappingUnit::{Page, SixteenKib, SixtyFourKib, ThirtyTwoKib};
    for (unit, page_bytes) in [
        (SixteenKib, 16_384),
        (Page, 16_384),
        (SixteenKib, 65_536),
        (ThirtyTwoKib, 32_768),
        (SixtyFourKib, 65_536),
        (ThirtyTwoKib, 16_384),
        (SixtyFourKib, 16_384),
    ] {
        let mut cfg = one_lane(256, 16, 28.0);
        (cfg.mapping.unit, cfg.geometry.page_bytes) = (unit, page_bytes);
        // What is larger than a page takes a page of each plane.
        cfg.geometry.planes_per_die = cfg.pages_per_unit();
        cfg.allocation.superblock = Superblock::Planes;
        cfg.buffer = small_buffer();
        let pieces = f64::from(cfg.unit_bytes()) / 4_096.0;
        let (host, whole) = cost(&cfg, 0);
        assert!(whole > 1.5, "{whole}: what is cleaned is programmed, too");
        let what = |share| format!("{} on pages of {page_bytes}, {share} % of 4 KiB", unit.name());
        close(&what(0), host, 1.0, 1.0);
        for share in [100, 10, 30, 50] {
            let small = f64::from(share) / 100.0;
            let expected = pieces / ((1.0 - small) * pieces + small);
            let (host, all) = cost(&cfg, share);
            println!("{}: {host:.3} for the host, {:.3} times in all", what(share), all / whole);
            close(&what(share), host, expected, 1.5);
            close(&what(share), all / whole, expected, 2.5);
        }
    }
}

/// The rest of a unit is read before it is programmed, unless it is in the buffer.
#[test]
fn the_rest_of_a_unit_is_read_once() {
    let mut cfg = round_numbers(1, 1, 1);
    cfg.mapping.unit = MappingUnit::SixteenKib;
    cfg.buffer = buffer::Config::LruWrite(Default::default());
    let mut drive = Drive::new(&cfg).unwrap();
    drive.fill(0, 64).unwrap();
    drive.reset_stats();
    // Four pieces of one unit, one of another.
    for unit in [0, 1, 2, 3, 20] {
        drive.submit(0, &write_unit(unit), drive.now()).unwrap();
    }
    drive.drain();
    drive.flush_buffer();
    let stats = drive.stats();
    assert_eq!(stats.flash.ops[OpKind::Read as usize][Cause::Merge as usize], 1);
    assert_eq!(stats.pages_programmed(Cause::Host), 2);
}
