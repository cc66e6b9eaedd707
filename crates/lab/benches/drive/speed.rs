//! How fast the simulator is: the loads on which the peers were measured, and ten times their speed as the goal.
//!
//! The drive is the preset `m64`; requests come from the generator through the run loop that users use, with
//! latency histograms. Times are processor times of one core, the best of several runs.

use crate::report::{Goal, Row, best_seconds};
use lab::process::cpu_time;
use lab::result::RunResult;
use lab::{LoopMode, RunSpec, run};
use ssd::config::Layer;
use ssd::drive_config::resolve;
use ssd::flash::op::OpKind;
use ssd::rng::Rng;
use ssd::{Drive, DriveConfig};
use workload::Spec;

const RUNS: u32 = 5;

/// A shipped drive.
pub fn preset(name: &str) -> DriveConfig {
    preset_with(name, &[])
}

/// A shipped drive with more settings, as `--set` takes them.
pub fn preset_with(name: &str, settings: &[&str]) -> DriveConfig {
    let mut layers = vec![Layer::file(name, format!("preset = \"{name}\""))];
    layers.extend(settings.iter().map(|setting| Layer::set(setting).expect("a sound setting")));
    resolve(&layers, &[]).expect("a sound configuration").config
}

/// A drive with that share of its logical space written.
pub fn filled(cfg: &DriveConfig, percent: u64) -> Drive {
    let mut drive = Drive::new(cfg).expect("a sound configuration");
    let units = u64::from(drive.logical_units()) * percent / 100;
    drive.fill(0, units as u32).expect("room for the logical space");
    drive
}

/// Runs a generated workload, `RUNS` times on copies of a drive; the result of the fastest.
fn fastest(cfg: &DriveConfig, drive: &Drive, depth: u32, workload: &str) -> RunResult {
    let prepared = Spec::parse(workload).and_then(|spec| spec.prepare()).expect("a sound workload");
    let spec = RunSpec { loop_mode: LoopMode::Closed { depth }, ..RunSpec::default() };
    let one = |_| {
        let mut drive = drive.clone();
        let mut source = prepared.open(drive.logical_sectors()).expect("a generator");
        run(&mut drive, cfg, &mut *source, &spec, &mut |_| {}).expect("a complete run")
    };
    (0..RUNS).map(one).min_by(|a, b| a.cpu_seconds.total_cmp(&b.cpu_seconds)).expect("at least one run")
}

fn requests_per_second(name: &str, result: &RunResult, goal: f64) -> Row {
    Row::new(name, result.requests_served as f64 / result.cpu_seconds, "requests/s", Goal::AtLeast(goal))
}

/// Random 4-KiB requests at depth 32 over the whole space: reads of a full drive, writes of a fresh one, and 70 %
/// reads, 30 % writes on both. Of the mix's reads on the fresh drive nine in ten find nothing and never reach the
/// flash: it is kept for comparison with the peers, who were measured like that.
pub fn random_requests() -> Vec<Row> {
    let cfg = preset("m64");
    let fresh = Drive::new(&cfg).expect("a sound preset");
    let load = |read: u32| {
        format!("pattern = 'uniform'\ncount = 2_000_000\nread_percent = {read}\nsize_bytes = 4096")
    };
    let full = filled(&cfg, 100);
    let reads = fastest(&cfg, &full, 32, &load(100));
    let writes = fastest(&cfg, &fresh, 32, &load(0));
    let mix = fastest(&cfg, &full, 32, &load(70));
    let mix_fresh = fastest(&cfg, &fresh, 32, &load(70));
    assert_eq!((reads.buffer.unmapped_reads, mix.buffer.unmapped_reads), (0, 0), "a read that found nothing");
    vec![
        requests_per_second("m64_random_read", &reads, 2.5e6),
        requests_per_second("m64_random_write", &writes, 1.7e6),
        requests_per_second("m64_random_70_30_filled", &mix, 1.8e6),
        requests_per_second("m64_random_70_30_fresh", &mix_fresh, 1.8e6),
    ]
}

/// 16 GiB, three quarters written, random 8-KiB writes at depth 16: cleaning all the time.
pub fn steady_cleaning() -> Vec<Row> {
    let mut cfg = preset("m64");
    cfg.geometry.blocks_per_plane /= 4;
    let load = "pattern = 'uniform'\ncount = 1_000_000\nread_percent = 0\nsize_bytes = 8192";
    let result = fastest(&cfg, &filled(&cfg, 75), 16, load);
    let kinds = [&result.flash.reads, &result.flash.programs, &result.flash.erases, &result.flash.copybacks];
    let operations: u64 = kinds.iter().map(|by| by.sum()).sum();
    let rate = operations as f64 / result.cpu_seconds;
    vec![Row::new("m64_steady_cleaning", rate, "flash operations/s", Goal::AtLeast(3e6))]
}

/// 64 GiB written to three quarters, tables included.
pub fn precondition() -> Vec<Row> {
    let cfg = preset("m64");
    let seconds = best_seconds(RUNS, || None, |drive| *drive = Some(filled(&cfg, 75)));
    vec![Row::new("m64_precondition_75", seconds, "s", Goal::AtMost(0.3))]
}

/// 1 TiB at 80 % utilisation under uniform random writes of pages, without time: host and cleaning programs.
pub fn functional() -> Vec<Row> {
    let mut cfg = preset("m64");
    cfg.geometry.blocks_per_plane *= 16;
    cfg.drive.over_provisioning_percent = 25.0;
    let mut drive = filled(&cfg, 100);
    let mut rng = Rng::named(cfg.drive.seed, "bench/functional");
    let units = drive.logical_units();
    let mut write = |drive: &mut Drive, count: u32| {
        let lpns: Vec<u32> = (0..count).map(|_| rng.below(units)).collect();
        let (before, start) = (drive.stats().ops(OpKind::Program), cpu_time());
        drive.overwrite(&lpns).expect("room");
        let programs = drive.stats().ops(OpKind::Program) - before;
        programs as f64 / (cpu_time() - start).as_secs_f64()
    };
    write(&mut drive, units);
    let best = (0..RUNS).map(|_| write(&mut drive, 10_000_000)).fold(0.0, f64::max);
    vec![Row::new("functional_1tib_programs", best, "page programs/s", Goal::AtLeast(1e7))]
}
