//! How much a drive programs for each byte of its host when it has got used to a load: counted, in no time.

use ssd::signals::{OpCode, Status};
use ssd::{Command, Drive, DriveConfig, Executor, Lba};

use super::load::Load;
use super::recorded::counts;
use crate::base::error::Failure;
use crate::base::phase::Phase;
use crate::base::stop::Stop;
use crate::past::precondition::{Turnover, Windows, fill, no_room};

/// Windows of a drive write.
const WINDOWS: f64 = 4.0;
/// Windows that differ by less than so much of their mean are steady (as `run.steady_change_percent` has it).
const CHANGE: f64 = 0.02;
/// Drive writes at least, and at most.
const DRIVE_WRITES: std::ops::RangeInclusive<f64> = 1.0..=12.0;
/// Requests without a write after which a load is taken to write nothing.
const BARREN: u64 = 50_000_000;
/// Requests between two looks at whether to stop.
const LOOK_EVERY: u64 = 1 << 14;

/// What came of it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Steady {
    /// Bytes programmed divided by bytes written, over the last drive write.
    pub amplification: f64,
    /// How far the windows of that lie from it, as a share.
    pub spread: f64,
    /// Whether it did not change any more.
    pub is_steady: bool,
    /// Drive writes until then.
    pub drive_writes: f64,
    /// Places programmed and left empty, for each byte of the host: for flushes, above all.
    pub padded: f64,
}

/// Counts of a drive: bytes programmed, and bytes left empty among them.
fn programmed(drive: &Drive) -> (f64, f64) {
    let stats = drive.stats();
    let padded = stats.ftl.padded_units.iter().sum::<u64>() * u64::from(drive.unit_bytes());
    (stats.programmed_bytes().iter().sum::<u64>() as f64, padded as f64)
}

/// Writes a drive full, and then a load to it until it programs as much for each byte as before.
pub fn steady(config: &DriveConfig, load: &Load, stop: &Stop) -> Result<Steady, Failure> {
    let mut drive = Drive::new(config).map_err(Failure::Config)?;
    let mut turnover = Turnover::begin(&drive);
    fill(&mut drive, stop)?;
    drive.set_executor(Executor::Functional);
    let mut requests = load.open(drive.logical_sectors(), config.drive.seed)?;
    let logical = config.logical_bytes() as f64;
    let window = logical / WINDOWS;
    let (mut written, mut in_window, mut looked, mut barren) = (0.0, 0.0, 0u64, 0u64);
    let mut before = programmed(&drive);
    let mut windows = Windows::default();
    let mut last: Vec<(f64, f64)> = Vec::new();
    loop {
        let request = requests()?;
        looked += 1;
        if looked.is_multiple_of(LOOK_EVERY) && stop.is_asked() {
            return Err(Failure::Interrupted { phase: Phase::Overwriting });
        }
        barren += 1;
        if barren > BARREN {
            return Err(Failure::Setting {
                key: "workload",
                found: format!("no write among {BARREN} requests"),
                allowed: "a workload that writes".to_owned(),
            });
        }
        if !counts(&request) {
            continue;
        }
        let command = Command {
            op: request.op,
            fua: request.fua,
            lba: Lba(request.lba),
            sectors: request.sectors,
            hints: request.hints,
            ..Command::default()
        };
        carry_out(&mut drive, &command)?;
        if request.op != OpCode::Write {
            continue;
        }
        barren = 0;
        in_window += request.bytes() as f64;
        if in_window < window {
            continue;
        }
        written += in_window;
        let now = programmed(&drive);
        let amplification = (now.0 - before.0) / in_window;
        windows.add(amplification);
        last.push((amplification, (now.1 - before.1) / in_window));
        (before, in_window) = (now, 0.0);
        turnover.look(&drive);
        let drive_writes = written / logical;
        let is_enough = drive_writes >= *DRIVE_WRITES.start() && turnover.is_complete(&drive);
        let is_steady = is_enough && windows.is_steady(CHANGE);
        if is_steady || drive_writes >= *DRIVE_WRITES.end() {
            return Ok(told(&last, is_steady, drive_writes));
        }
    }
}

/// Of the windows of the last drive write.
fn told(windows: &[(f64, f64)], is_steady: bool, drive_writes: f64) -> Steady {
    let last = &windows[windows.len().saturating_sub(WINDOWS as usize)..];
    let mean = |of: fn(&(f64, f64)) -> f64| last.iter().map(of).sum::<f64>() / last.len().max(1) as f64;
    let amplification = mean(|window| window.0);
    let farthest = last.iter().map(|window| (window.0 - amplification).abs()).fold(0.0, f64::max);
    Steady {
        amplification,
        spread: farthest / amplification,
        is_steady,
        drive_writes,
        padded: mean(|window| window.1),
    }
}

/// A command in no time.
fn carry_out(drive: &mut Drive, command: &Command) -> Result<(), Failure> {
    let now = drive.now();
    let is_taken = drive.submit(0, command, now).is_ok();
    let mut status = None;
    while is_taken && status.is_none() && drive.advance_to_completion() {
        status = drive.pop_completion().map(|completion| completion.status);
    }
    match status {
        Some(Status::Ok) => Ok(()),
        _ => {
            let written = drive.stats().ftl.host_units;
            Err(no_room(drive, Phase::Overwriting, written, u64::from(drive.logical_units())))
        }
    }
}
