//! Whole drives whose cells age: snapshots, repeatability, memory.

use crate::aging::support::config;
use ssd::config::Layer;
use ssd::drive_config::resolve;
use ssd::rng::Rng;
use ssd::sections::{DisturbCounters, DisturbLaw, ErrorModel, SectorErrors};
use ssd::{Command, Drive, DriveConfig, Lba, OpCode};

/// Blocks that differ, worn times.
fn varied() -> DriveConfig {
    let mut cfg = config();
    cfg.errors.variation = true;
    cfg.errors.array_times = ssd::sections::ArrayTimes::Worn;
    cfg.drive.over_provisioning_percent = 110.0;
    cfg
}

fn aged(cfg: &DriveConfig) -> Drive {
    let mut drive = Drive::new(cfg).expect("a drive");
    drive.fill(0, drive.logical_units()).expect("room");
    for text in ["cycle to 6000", "retain 6 months", "disturb 20000 reads"] {
        drive.age(&text.parse().expect("a step")).expect("room in the tables");
    }
    drive
}

fn reads(drive: &mut Drive, seed: u64, count: u32) -> Vec<u64> {
    let mut rng = Rng::named(seed, "reads");
    let last = drive.logical_sectors() as u32 / 8;
    let mut latencies = Vec::new();
    for tag in 0..count {
        let lba = Lba(u64::from(rng.below(last)) * 8);
        let op = if rng.below(8) == 0 { OpCode::Write } else { OpCode::Read };
        let now = drive.now();
        let command = Command { op, lba, sectors: 8, tag: u64::from(tag), ..Command::default() };
        drive.submit(0, &command, now).expect("an empty queue");
        assert!(drive.advance_to_completion());
        let done = drive.pop_completion().expect("a completion");
        latencies.push((done.completed - done.arrival).0);
    }
    latencies
}

fn saved(drive: &Drive) -> Vec<u8> {
    let mut bytes = Vec::new();
    drive.save(&mut bytes).expect("room");
    bytes
}

#[test]
fn a_snapshot_holds_the_cells_to_the_bit() {
    for law in [DisturbLaw::Linear, DisturbLaw::Voltage] {
        for (sectors, counters) in
            [(SectorErrors::Worst, DisturbCounters::Wordline), (SectorErrors::Drawn, DisturbCounters::Block)]
        {
            let mut cfg = varied();
            (cfg.errors.disturb_law, cfg.errors.sectors, cfg.errors.disturb_counters) =
                (law, sectors, counters);
            let mut drive = aged(&cfg);
            reads(&mut drive, 1, 300);
            let bytes = saved(&drive);
            let mut restored = Drive::restore(&cfg, &bytes).expect("a snapshot");
            assert!(saved(&restored) == bytes);
            assert_eq!(reads(&mut restored, 2, 500), reads(&mut drive, 2, 500));
            assert_eq!(restored.event_hash(), drive.event_hash());
            assert_eq!(restored.telemetry(3), drive.telemetry(3));
            assert!(saved(&restored) == saved(&drive));
        }
    }
}

#[test]
fn the_same_seed_gives_the_same_errors_and_another_others() {
    let mut cfg = varied();
    cfg.errors.sectors = SectorErrors::Drawn;
    let run = |cfg: &DriveConfig| {
        let mut drive = aged(cfg);
        let latencies = reads(&mut drive, 3, 1_500);
        (drive.event_hash(), latencies, drive.stats().flash.retries)
    };
    let first = run(&cfg);
    assert_eq!(run(&cfg), first);
    assert!(first.2.iter().skip(1).sum::<u64>() > 0, "no retries: {:?}", first.2);
    cfg.drive.seed += 1;
    assert_ne!(run(&cfg).2, first.2);
}

/// What exact counters cost on Straw's 2-TiB drive: 4 bytes for each of 46.3 million wordlines, 185 MB, a byte and a
/// third for each page. The rest of the cells' state is 37 bytes a block.
#[test]
fn exact_counters_cost_four_bytes_a_wordline() {
    let mut cfg = resolve(&[Layer::file("straw", "preset = \"straw\"\n")], &[]).expect("a preset").config;
    cfg.errors.model = ErrorModel::Cells;
    let exact = Drive::new(&cfg).expect("a drive");
    cfg.errors.disturb_counters = DisturbCounters::Block;
    let coarse = Drive::new(&cfg).expect("a drive");
    let (blocks, wordlines) = (18_048, 2_568);
    let counters = exact.chips().aging_bytes().0 - coarse.chips().aging_bytes().0;
    assert_eq!(counters, blocks * wordlines * 4);
    assert_eq!(counters, 185_389_056);
    assert!(exact.reports().table_bytes().all > counters, "counted with the drive's tables");
    assert_eq!(coarse.chips().aging_bytes().0, blocks * 37);
    let per_page = counters as f64 / exact.blocks().pages() as f64;
    assert!((per_page - 4.0 / 3.0).abs() < 1e-9, "{per_page}");
}
