//! A firmware that uses some of the flash (`drive.raw_gib`): it is the drive that has no more, and blocks beyond stand
//! in for bad ones.

use ssd::host::buffer;
use ssd::rng::Rng;
use ssd::sections::Superblock;
use ssd::{Drive, DriveConfig};

/// Two dies of two planes with so many blocks of 96 KiB.
fn blocks(count: u32) -> DriveConfig {
    let mut cfg = DriveConfig::default();
    let g = &mut cfg.geometry;
    (g.channels, g.chips_per_channel, g.dies_per_chip, g.planes_per_die) = (2, 1, 1, 2);
    (g.blocks_per_plane, g.wordlines_per_block, g.bits_per_cell) = (count, 2, 3);
    cfg.drive.over_provisioning_percent = 60.0;
    cfg.buffer = buffer::Config::None(buffer::none::Params::default());
    cfg
}

/// The flash that so many blocks of each plane are; GiB.
fn gib(cfg: &DriveConfig, blocks: u32) -> f64 {
    let row = u64::from(cfg.geometry.planes()) * cfg.geometry.block_bytes();
    (row * u64::from(blocks)) as f64 / f64::from(1 << 30)
}

fn overwritten(cfg: &DriveConfig) -> Drive {
    let mut drive = Drive::new(cfg).unwrap();
    let units = drive.logical_units();
    drive.fill(0, units).unwrap();
    let mut rng = Rng::named(7, "used flash");
    drive.overwrite(&(0..4 * units).map(|_| rng.below(units)).collect::<Vec<_>>()).unwrap();
    drive.check().unwrap();
    drive
}

#[test]
fn a_drive_that_uses_some_of_its_flash_is_the_one_that_has_no_more() {
    for superblock in [Superblock::None, Superblock::Planes, Superblock::All] {
        let (mut some, mut all) = (blocks(57), blocks(40));
        some.drive.raw_gib = gib(&some, 40);
        for cfg in [&mut some, &mut all] {
            cfg.allocation.superblock = superblock;
        }
        assert_eq!(some.used_blocks_per_plane(), 40);
        assert_eq!((some.used_bytes(), some.logical_units()), (all.used_bytes(), all.logical_units()));
        let (some, all) = (overwritten(&some), overwritten(&all));
        assert_eq!(some.stats(), all.stats(), "{superblock:?}");
        assert!(some.stats().ftl.reclaimed_blocks > 40, "it was cleaned");
        assert_eq!(some.blocks().table(), all.blocks().table(), "{superblock:?}");
        assert_eq!(some.health().wear, all.health().wear);
    }
}

#[test]
fn flash_is_used_to_the_nearest_block_of_each_plane() {
    let mut cfg = blocks(57);
    let row = gib(&cfg, 1);
    for (raw, used) in [(0.0, 57), (40.4 * row, 40), (40.6 * row, 41), (57.0 * row, 57), (0.1 * row, 1)] {
        cfg.drive.raw_gib = raw;
        assert_eq!(cfg.used_blocks_per_plane(), used, "{raw}");
        assert_eq!(cfg.used_blocks(), 4 * u64::from(used));
    }
    cfg.drive.raw_gib = 57.01 * row;
    let error = cfg.validate().unwrap_err().to_string();
    assert!(error.contains("drive.raw_gib") && error.contains("nand.geometry.blocks_per_plane"), "{error}");
}

#[test]
fn blocks_that_are_not_used_stand_in_for_bad_ones() {
    let mut cfg = blocks(200);
    cfg.reliability.factory_bad_ppm = 40_000.0;
    let good = |cfg: &DriveConfig| Drive::new(cfg).unwrap().blocks().lanes().blocks;
    let found = good(&cfg);
    assert!((180..200).contains(&found), "{found}");
    cfg.drive.raw_gib = gib(&cfg, 180);
    assert_eq!(good(&cfg), 180, "all that are to be used");
    cfg.drive.raw_gib = gib(&cfg, 199);
    assert_eq!(good(&cfg), found, "no more than there are");
}
