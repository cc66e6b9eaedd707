//! What cells that age cost: time to build a drive, memory, time to sense a page.
//! `cargo run --release -p wordline-ssd --example aging`

use ssd::config::Layer;
use ssd::drive_config::resolve;
use ssd::nand::Chip;
use ssd::sections::ErrorModel;
use ssd::{Drive, DriveConfig};
use std::time::Instant;

fn chip(cfg: &DriveConfig) -> Chip {
    let g = &cfg.geometry;
    Chip::new(g.planes(), g.blocks_per_plane, g.pages_per_block(), &cfg.reliability, cfg.drive.seed)
        .with_cells(cfg)
        .expect("a part that fits")
}

/// Nanoseconds of reading pages of so many blocks at random, after some cycles and minutes.
fn sense_ns(cfg: &DriveConfig, blocks: u32, cycles: u32, reads: u32) -> (f64, f64) {
    let mut chip = chip(cfg);
    let pages = chip.pages_per_block();
    for block in 0..blocks {
        chip.set_erase_count(block, cycles);
        (0..pages).for_each(|page| assert_eq!(chip.program(block, page), ssd::nand::Outcome::Pass));
    }
    let (mut at, mut failed) = (1u64, 0u64);
    let start = Instant::now();
    for _ in 0..reads {
        at = at.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let block = ((at >> 40) as u32) % blocks;
        let page = ((at >> 16) as u32) % pages;
        failed += u64::from(chip.sense(block, page, 0).failed);
    }
    (start.elapsed().as_nanos() as f64 / f64::from(reads), failed as f64 / f64::from(reads))
}

fn main() {
    let mut cfg = resolve(&[Layer::file("straw", "preset = \"straw\"\n")], &[]).expect("a preset").config;
    let start = Instant::now();
    Drive::new(&cfg).expect("a drive");
    println!("straw without cells: {:?}", start.elapsed());
    cfg.errors.model = ErrorModel::Cells;
    let start = Instant::now();
    let drive = Drive::new(&cfg).expect("a drive");
    println!("straw with cells: {:?}", start.elapsed());
    let start = Instant::now();
    let big = chip(&cfg);
    println!(
        "its chips: {:?}, {:?} bytes, {} pages",
        start.elapsed(),
        big.aging_bytes(),
        drive.blocks().pages()
    );
    let mut large = cfg.clone();
    large.geometry.blocks_per_plane *= 7;
    large.geometry.wordlines_per_block = 64;
    let start = Instant::now();
    let blocks = chip(&large).blocks();
    println!("{blocks} blocks: {:?}", start.elapsed());
    let (fresh, _) = sense_ns(&cfg, 1, 0, 10_000_000);
    println!("sense, one fresh block: {fresh:.1} ns");
    let (many, failed) = sense_ns(&cfg, 4_000, 0, 10_000_000);
    println!("sense, 4000 fresh blocks: {many:.1} ns, {failed:.2} failed");
    let (worn, failed) = sense_ns(&cfg, 1, 12_000, 2_000_000);
    println!("sense, one block of 12K cycles: {worn:.1} ns, {failed:.2} failed");
}
