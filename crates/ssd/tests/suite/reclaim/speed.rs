//! What counting costs: `cargo test -p wordline-ssd --release --test suite reclaim -- --ignored --nocapture speed`.

use crate::reclaim::support::*;
use ssd::config::Layer;
use ssd::drive_config::resolve;
use ssd::sections::ErrorModel;
use ssd::{Drive, DriveConfig, Executor};
use std::time::Instant;

/// Straw's blocks, 64 of them.
fn drive(policy: &str, counters: &str, cells: ErrorModel) -> DriveConfig {
    let mut cfg = resolve(&[Layer::file("straw", "preset = \"straw\"\n")], &[]).expect("a preset").config;
    let g = &mut cfg.geometry;
    (g.channels, g.chips_per_channel, g.planes_per_die, g.blocks_per_plane) = (1, 1, 1, 64);
    cfg.drive.over_provisioning_percent = 28.0;
    cfg.errors.model = cells;
    let values = [("counters", text(counters))];
    select(&mut cfg, policy, if counters.is_empty() { &[] } else { &values });
    cfg
}

#[test]
#[ignore = "measures speed: run it alone, in release"]
fn speed_of_reads() {
    let members = [
        ("never", ""),
        ("block", ""),
        ("page_type", ""),
        ("straw", "exact"),
        ("straw", "space_saving"),
        ("lazy_exact", ""),
    ];
    for cells in [ErrorModel::None, ErrorModel::Cells] {
        for shape in [Shape::Uniform, Shape::Zipf] {
            for (policy, counters) in members {
                let cfg = drive(policy, counters, cells);
                let mut drive = Drive::new(&cfg).expect("a drive");
                drive.set_executor(Executor::Functional);
                drive.fill(0, drive.logical_units()).expect("room");
                let units: Vec<u32> = reads(shape, drive.logical_units(), 9, 4_000_000).collect();
                let begin = Instant::now();
                for &unit in &units {
                    read(&mut drive, unit);
                }
                let ns = begin.elapsed().as_nanos() as f64 / units.len() as f64;
                let copied = drive.stats().ftl.reclaimed_pages;
                println!("{cells:?} {shape:?} {policy} {counters}: {ns:.0} ns a read, {copied} copied");
            }
        }
    }
}
