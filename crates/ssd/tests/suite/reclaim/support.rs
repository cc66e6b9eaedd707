//! Small drives whose cells do not stand many reads.

use ssd::config::Value;
use ssd::nand::cell::CellModel;
use ssd::observe::Effect;
use ssd::rng::Rng;
use ssd::sections::{ErrorModel, Errors, MappingUnit};
use ssd::{Command, Drive, DriveConfig, Executor, Lba, OpCode, Status};

/// Wordlines of a block.
pub const WORDLINES: u32 = 16;
/// Pages of a block, one unit each.
pub const PAGES: u32 = 3 * WORDLINES;
/// Cycles of every block at the start.
pub const CYCLES: u32 = 2_000;

pub fn integer(value: u32) -> Value {
    Value::Integer(i128::from(value))
}

pub fn text(value: &str) -> Value {
    Value::Text(value.to_owned())
}

/// One plane of 24 blocks of 16 TLC wordlines that stand a hundredth of the reads of Straw's, half of them filled.
pub fn config(policy: &str, values: &[(&str, Value)]) -> DriveConfig {
    let mut cfg = DriveConfig::default();
    let g = &mut cfg.geometry;
    (g.channels, g.chips_per_channel, g.dies_per_chip, g.planes_per_die) = (1, 1, 1, 1);
    (g.blocks_per_plane, g.wordlines_per_block) = (24, WORDLINES);
    cfg.mapping.unit = MappingUnit::Page;
    cfg.drive.over_provisioning_percent = 110.0;
    cfg.errors = Errors { model: ErrorModel::Cells, variation: false, ..Errors::default() };
    let disturb = &mut cfg.cells.disturb;
    disturb.page_weights = vec![1.0; 3];
    disturb.erc_max.iter_mut().for_each(|reads| *reads /= 100.0);
    disturb.top_erc /= 100.0;
    select(&mut cfg, policy, values);
    cfg
}

pub fn select(cfg: &mut DriveConfig, policy: &str, values: &[(&str, Value)]) {
    let table = cfg.section_mut("ftl.read_reclaim").expect("the family's section");
    table.select(policy).expect("a policy");
    for (key, value) in values {
        table.set(key, value).unwrap_or_else(|problem| panic!("{policy}.{key}: {problem:?}"));
    }
}

/// `straw`, looking at a block every ten reads.
pub fn straw(counters: &str) -> DriveConfig {
    let values = [("counters", text(counters)), ("check_interval", integer(10)), ("entries", integer(4))];
    config("straw", if counters == "exact" { &values[..2] } else { &values })
}

/// A full drive of blocks of [`CYCLES`] cycles: unit n is page n % 48 of block n / 48.
pub fn filled(cfg: &DriveConfig, executor: Executor) -> Drive {
    let mut drive = Drive::new(cfg).unwrap_or_else(|errors| panic!("{errors}"));
    drive.fill(0, drive.logical_units()).expect("room");
    drive.age(&format!("cycle to {CYCLES}").parse().expect("a step")).expect("room in the tables");
    drive.set_executor(executor);
    drive.reset_stats();
    drive
}

pub fn model(cfg: &DriveConfig) -> CellModel {
    CellModel::new(cfg.cells.clone()).expect("a part that is checked")
}

pub fn command(drive: &Drive, op: OpCode, unit: u32) -> Command {
    let sectors = drive.unit_bytes() / 512;
    let lba = Lba(u64::from(unit) * u64::from(sectors));
    Command { op, lba, sectors, arrival: drive.now(), ..Command::default() }
}

/// The same drive with cells that are read in at most two attempts: moves cost the others little.
pub fn plainly_read(mut cfg: DriveConfig) -> DriveConfig {
    cfg.cells.retry.entries = 0;
    cfg.errors.tracking_reads = 1;
    cfg
}

/// The same drive with cells that stand ten times as much, looked at ten times as seldom: a tenth of Straw's. Moves
/// take the time that they take, and reads go on meanwhile.
pub fn tougher(mut cfg: DriveConfig) -> DriveConfig {
    let disturb = &mut cfg.cells.disturb;
    disturb.erc_max.iter_mut().for_each(|reads| *reads *= 10.0);
    disturb.top_erc *= 10.0;
    if let ssd::ftl::read_reclaim::Config::Straw(params) = &mut cfg.read_reclaim {
        params.check_interval *= 10;
    }
    cfg
}

/// The same drive with six blocks of so many wordlines, two of them filled, that stand a tenth of the reads of Straw's;
/// looked at every hundred reads.
pub fn crowded(mut cfg: DriveConfig, wordlines: u32) -> DriveConfig {
    cfg = tougher(cfg);
    (cfg.geometry.blocks_per_plane, cfg.geometry.wordlines_per_block) = (7, wordlines);
    cfg.drive.over_provisioning_percent = 250.0;
    cfg
}

/// Does something with a whole unit and waits for it.
pub fn act(drive: &mut Drive, op: OpCode, unit: u32) -> Status {
    let command = command(drive, op, unit);
    drive.submit(0, &command, drive.now()).expect("an empty queue");
    assert!(drive.advance_to_completion(), "stuck");
    drive.pop_completion().expect("a completion").status
}

pub fn read(drive: &mut Drive, unit: u32) -> Status {
    act(drive, OpCode::Read, unit)
}

/// Reads units with so many under way; the results are counted by the drive.
pub fn read_many(drive: &mut Drive, depth: usize, units: impl Iterator<Item = u32>) {
    let take = |drive: &mut Drive| {
        assert!(drive.advance_to_completion(), "stuck");
        while drive.pop_completion().is_some() {}
    };
    for unit in units {
        while drive.outstanding() >= depth {
            take(drive);
        }
        let command = command(drive, OpCode::Read, unit);
        drive.submit(0, &command, drive.now()).expect("room in the queue");
    }
    while drive.outstanding() > 0 {
        take(drive);
    }
}

/// What has moved since the last call: unit, and its place before.
pub fn moved(drive: &mut Drive) -> Vec<(u32, u32)> {
    let mut moved = Vec::new();
    while let Some(effect) = drive.pop_effect() {
        if let Effect::Copy { lpn, from, .. } = effect {
            moved.push((lpn.0, from.0));
        }
    }
    moved
}

/// Shapes of reading.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// Two pages in three reads, all the drive in the others.
    Hammer,
    Uniform,
    Sequential,
    /// Page n of a shuffled list as often as 1/n.
    Zipf,
}

pub const SHAPES: [Shape; 4] = [Shape::Hammer, Shape::Uniform, Shape::Sequential, Shape::Zipf];

/// Units read, one after the other.
pub fn reads(shape: Shape, units: u32, seed: u64, count: u32) -> impl Iterator<Item = u32> {
    let mut rng = Rng::named(seed, "reads");
    let mut ranks: Vec<u32> = (0..units).collect();
    for at in (1..units).rev() {
        ranks.swap(at as usize, rng.below(at + 1) as usize);
    }
    let weights: Vec<f64> = (1..=units).map(|rank| 1.0 / f64::from(rank)).collect();
    let sums: Vec<f64> = weights
        .iter()
        .scan(0.0, |sum, weight| {
            *sum += weight;
            Some(*sum)
        })
        .collect();
    (0..count).map(move |n| match shape {
        Shape::Hammer if n % 3 == 0 => 16,
        Shape::Hammer if n % 3 == 1 => 2 * PAGES + 1,
        Shape::Hammer | Shape::Uniform => rng.below(units),
        Shape::Sequential => n % units,
        Shape::Zipf => {
            let at = f64::from(rng.below(1 << 30)) / f64::from(1 << 30) * sums[sums.len() - 1];
            ranks[sums.partition_point(|&sum| sum < at)]
        }
    })
}
