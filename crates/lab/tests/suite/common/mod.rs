//! What the tests of experiments share: a small drive, workloads, a folder for files, a reader of request logs.
#![allow(dead_code, unused_imports, reason = "each test binary uses some of it")]

use lab::{Experiment, LoopMode, Overwrite, Preconditioning, RunError, RunResult, RunSpec};
use ssd::DriveConfig;
use ssd::policy::{FamilyInfo, PolicyInfo};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use workload::{Prepared, Spec};

pub use sizes::{is_soak, soaked};

/// The drive's own tests know what each policy needs.
#[path = "../../../../ssd/tests/suite/support/every.rs"]
mod every;
/// How much is run.
#[path = "../../../../ssd/tests/suite/support/sizes.rs"]
mod sizes;

/// What tables call the parts of a request's way.
pub const PARTS: [&str; ssd::PARTS] = [
    "host queue",
    "submission queue",
    "firmware",
    "host link wait",
    "host link",
    "buffer wait",
    "buffer access",
    "dispatch",
    "die wait",
    "channel wait",
    "array (tR, tPROG)",
    "channel transfer",
    "ECC decoding",
    "suspended",
    "lock wait",
];

/// 2 channels, 4 dies, 8 planes; 150 MiB of flash in 4-KiB units, a buffer of 2 MiB.
pub fn small_drive() -> DriveConfig {
    let mut config = DriveConfig::default();
    let g = &mut config.geometry;
    (g.channels, g.chips_per_channel, g.dies_per_chip, g.planes_per_die) = (2, 2, 1, 2);
    (g.blocks_per_plane, g.wordlines_per_block, g.bits_per_cell) = (50, 8, 3);
    config.drive.over_provisioning_percent = 20.0;
    config.buffer = ssd::host::buffer::lru_write::Params { size_mib: 2.0, ..Default::default() }.into();
    config
}

/// The same with half as many wordlines: for what is done under every policy.
pub fn tiny_drive() -> DriveConfig {
    let mut config = small_drive();
    config.geometry.wordlines_per_block /= 2;
    config
}

/// A drive with every policy of every family, by section and name; with what else a policy needs.
pub fn with_every_policy(base: &DriveConfig) -> Vec<(String, DriveConfig)> {
    let with = |(family, member): (&FamilyInfo, &PolicyInfo)| {
        let (section, mut config) = (family.section(), base.clone());
        every::choose(&mut config, &section, member.name);
        let name = format!("{section}.{}", member.name);
        let fitted = every::fitted(config).unwrap_or_else(|errors| panic!("{name}: {errors}"));
        (name, fitted)
    };
    every::policies().map(with).collect()
}

/// A generator of so many requests, with more settings as TOML lines.
pub fn generator(count: u64, settings: &str) -> Prepared {
    let text = format!("pattern = \"uniform\"\ncount = {count}\n{settings}");
    Spec::parse(&text).and_then(|spec| spec.prepare()).unwrap_or_else(|error| panic!("{text}: {error}"))
}

/// Filled, and overwritten once.
pub fn used() -> Preconditioning {
    Preconditioning { fill_percent: 100.0, overwrite: Overwrite::Times(1.0), ..Preconditioning::default() }
}

/// A closed loop of that depth on a used drive.
pub fn closed(depth: u32) -> RunSpec {
    RunSpec { preconditioning: used(), loop_mode: LoopMode::Closed { depth }, ..RunSpec::default() }
}

/// An open loop on a used drive.
pub fn open() -> RunSpec {
    RunSpec { loop_mode: LoopMode::Open, ..closed(1) }
}

pub fn try_run(config: &DriveConfig, workload: &Prepared, spec: &RunSpec) -> Result<RunResult, RunError> {
    Experiment { config: config.clone(), workload, spec: spec.clone() }.run(&mut |_| {})
}

pub fn run(config: &DriveConfig, workload: &Prepared, spec: &RunSpec) -> RunResult {
    try_run(config, workload, spec).unwrap_or_else(|error| panic!("{error}"))
}

/// A path for a file or folder of this test; nothing is there yet.
pub fn fresh_path(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&path);
    let _ = std::fs::remove_file(&path);
    path
}

/// A request log as columns of text.
pub struct Log {
    pub columns: Vec<String>,
    pub rows: Vec<Vec<String>>,
}

impl Log {
    pub fn parse(text: &str) -> Self {
        let split = |line: &str| line.split(',').map(str::to_owned).collect::<Vec<_>>();
        let mut lines = text.lines().map(split);
        let columns = lines.next().expect("a line with the columns' names");
        Log { columns, rows: lines.collect() }
    }

    /// Runs with a log and reads it.
    pub fn of_run(
        name: &str,
        config: &DriveConfig,
        workload: &Prepared,
        spec: &RunSpec,
    ) -> (RunResult, Self) {
        let path = fresh_path(name);
        let spec = RunSpec { request_log: Some(path.clone()), ..spec.clone() };
        let result = run(config, workload, &spec);
        (result, Log::parse(&std::fs::read_to_string(&path).expect("the log was written")))
    }

    fn column(&self, name: &str) -> usize {
        self.columns.iter().position(|column| column == name).unwrap_or_else(|| panic!("no column {name}"))
    }

    pub fn texts(&self, name: &str) -> impl Iterator<Item = &str> {
        let column = self.column(name);
        self.rows.iter().map(move |row| row[column].as_str())
    }

    pub fn numbers(&self, name: &str) -> Vec<u64> {
        self.texts(name).map(|text| text.parse().unwrap_or_else(|_| panic!("{name}: {text}"))).collect()
    }

    /// How often each text stands in a column.
    pub fn counts(&self, name: &str) -> BTreeMap<&str, u64> {
        let mut counts = BTreeMap::new();
        self.texts(name).for_each(|text| *counts.entry(text).or_default() += 1);
        counts
    }
}
