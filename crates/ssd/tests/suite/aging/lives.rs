//! Drives that are written from their first cycle to their last: LongLive (RealWear section 3.4.4) on whole drives
//! gives what the same blocks give alone.

use crate::support::every::{has, select};
use crate::support::is_soak;
use ssd::bare_blocks::BareBlocks;
use ssd::config::{Table, Value};
use ssd::nand::cell::CellPart;
use ssd::rng::Rng;
use ssd::sections::{ErrorModel, Errors};
use ssd::{Command, Drive, DriveConfig, Executor, Lba, OpCode, Reason, SimTime};

/// Blocks of a drive.
const BLOCKS: u32 = 48;
/// Time between two pages written by the host: some 5 minutes from erase to erase.
const EVERY_NS: u64 = 500_000_000;

/// One die of 48 blocks of 24 TLC pages, with ages levelled.
fn config(seed: u64) -> DriveConfig {
    let mut cfg = DriveConfig::default();
    let g = &mut cfg.geometry;
    (g.channels, g.chips_per_channel, g.dies_per_chip, g.planes_per_die) = (1, 1, 1, 1);
    (g.blocks_per_plane, g.wordlines_per_block) = (BLOCKS, 8);
    cfg.errors = Errors { model: ErrorModel::Cells, variation: true, ..Errors::default() };
    cfg.cells = CellPart::preset("tlc_48l").expect("a shipped part");
    cfg.drive.over_provisioning_percent = 60.0;
    cfg.drive.seed = seed;
    cfg.buffer.select("none").expect("a policy");
    select(&mut cfg, "ftl.age_marker", "real_wear");
    let levels = cfg.section_mut("ftl.wear_leveling").expect("a technique");
    levels.select("age_aware").expect("a policy");
    levels.set("max_age_difference", &Value::Float(0.02)).expect("a parameter");
    levels.set("check_interval", &Value::Integer(2)).expect("a parameter");
    cfg
}

/// What a drive came to when it refused the first write.
struct Written {
    /// Cycles of the mean block.
    cycles: f64,
    /// Mean of its blocks' ages.
    age: f64,
    /// Minutes from erase to erase: the mean, and the mean by logarithms, which is what wear goes by.
    dwell: f64,
    dwell_by_ln: f64,
}

/// The times from erase to erase of all blocks, looked at now and then.
struct Dwells {
    counts: Vec<u32>,
    since_ns: Vec<u64>,
    sum_ln: f64,
    erases: f64,
}

impl Dwells {
    fn new() -> Self {
        let blocks = BLOCKS as usize;
        Dwells { counts: vec![0; blocks], since_ns: vec![0; blocks], sum_ln: 0.0, erases: 0.0 }
    }

    fn look(&mut self, drive: &Drive, now_ns: u64) {
        for block in 0..BLOCKS {
            let (at, count) = (block as usize, drive.chips().erase_count(block));
            if count != self.counts[at] {
                let minutes = (now_ns - self.since_ns[at]) as f64 / 6e10 / f64::from(count - self.counts[at]);
                self.sum_ln += f64::from(count - self.counts[at]) * minutes.clamp(1.0, 180.0).ln();
                self.erases += f64::from(count - self.counts[at]);
                (self.counts[at], self.since_ns[at]) = (count, now_ns);
            }
        }
    }
}

/// Writes a drive to its end.
fn written(cfg: &DriveConfig) -> Written {
    let mut drive = Drive::new(cfg).expect("a drive");
    drive.set_executor(Executor::Functional);
    let unit = u64::from(drive.unit_bytes() / 512);
    let mut rng = Rng::named(cfg.drive.seed, "lives");
    let (mut writes, mut dwells) = (0, Dwells::new());
    while drive.health().read_only.is_none() {
        writes += 1;
        let lba = Lba(u64::from(rng.below(drive.logical_units())) * unit);
        let arrival = SimTime(writes * EVERY_NS);
        let write = Command { op: OpCode::Write, lba, sectors: unit as u32, arrival, ..Command::default() };
        drive.submit(0, &write, arrival).expect("an empty queue");
        drive.drain();
        while drive.pop_completion().is_some() {}
        if writes % 8 == 0 {
            dwells.look(&drive, arrival.0);
        }
    }
    dwells.look(&drive, writes * EVERY_NS);
    assert_eq!(drive.health().read_only, Some(Reason::WornOut));
    let cycles = dwells.erases / f64::from(BLOCKS);
    let age = (0..BLOCKS).map(|block| f64::from(drive.blocks().age_q12(block))).sum::<f64>();
    Written {
        cycles,
        age: age / f64::from(BLOCKS) / 4_096.0,
        dwell: (writes * EVERY_NS) as f64 / 6e10 / cycles,
        dwell_by_ln: (dwells.sum_ln / dwells.erases).exp(),
    }
}

/// Cycles of the mean block until the marker says of each that its life is over.
fn alone(cfg: &DriveConfig, dwell_minutes: f64) -> f64 {
    let mut bare = BareBlocks::new(cfg, dwell_minutes).expect("cells that age");
    let told = |block: u32| {
        while bare.age_q12(block) < 4_096 {
            assert!(bare.cycle(block, 10), "a block beyond the tables");
        }
        f64::from(bare.cycles(block))
    };
    (0..BLOCKS).map(told).sum::<f64>() / f64::from(BLOCKS)
}

#[test]
fn drives_are_written_as_long_as_their_blocks_alone() {
    if !has("ftl.age_marker") || !has("ftl.wear_leveling") {
        return;
    }
    // Eight in `make soak`.
    let seeds = if is_soak() { 8 } else { 1 };
    let found: Vec<(Written, f64)> = std::thread::scope(|scope| {
        let one = |seed| {
            let cfg = config(seed);
            let written = written(&cfg);
            let alone = alone(&cfg, written.dwell_by_ln);
            (written, alone)
        };
        let drives: Vec<_> = (1..=seeds).map(|seed| scope.spawn(move || one(seed))).collect();
        drives.into_iter().map(|drive| drive.join().expect("a drive")).collect()
    });
    for (Written { cycles, age, dwell, dwell_by_ln }, alone) in &found {
        println!(
            "{cycles:.0} cycles, alone {alone:.0}; age {age:.3}; {dwell:.2} minutes, by ln {dwell_by_ln:.2}"
        );
    }
    let drives: f64 = found.iter().map(|(written, _)| written.cycles).sum();
    let ratio = drives / found.iter().map(|(_, alone)| alone).sum::<f64>();
    println!("drives over blocks alone: {ratio:.4}");
    assert!((ratio - 1.0).abs() < 0.03, "{ratio}");
    // Blocks differ: cycles levelled would end with the weakest.
    assert!(drives > seeds as f64 * 11_000.0, "{drives}");
}
