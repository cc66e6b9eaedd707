//! Finds with which `cache_percent` and `fill_percent` each profile of applications on files reads and writes as its
//! paper says. The cache is fitted to the share of reads by bytes at the drive, on 8 GiB, over the second half of
//! 200,000 requests; the fill, where the paper has one, to the write amplification of the eighth drive write on the
//! whole of `rftl`, 28 GiB: on a smaller one the blocks that each lane keeps in reserve are more of what is spare. Then
//! the same numbers beside them with seed 2 and on a drive twice as large, which nothing is fitted to.
//!
//! The drive is `rftl` (RealWear section 3.4.3: page map; greedy cleaning is assumed), with fewer or more blocks where
//! another size is asked for, filled in order; then a file system is made on it, which trims it. Nothing takes time
//! (`run.executor = "functional"`). Of `webserver`, which writes little, the second half of one drive write is told.
//!
//! `cargo run --release -p wordline-lab --example fit_files [PROFILE ...]`; what it finds is written into
//! `presets/workload/` by hand, with the tag [F].

use lab::{AgeSteps, Overwrite, Preconditioning, Stop, prepare};
use ssd::config::{Layer, presets};
use ssd::drive_config::resolve;
use ssd::{Command, Drive, DriveConfig, Executor, Lba, OpCode};
use std::env::args;
use std::error::Error;
use workload::standin::{pinned, standin, standins, workload};
use workload::{Source, Spec};

type Wrong = Box<dyn Error>;

/// GiB of the drives that the cache and the fill are fitted on.
const GIB: (f64, f64) = (8.0, 28.0);
/// Drive writes before write amplification is measured, and while it is.
const WRITES: (f64, f64) = (7.0, 1.0);
/// The same for a profile that mostly reads.
const FEW_WRITES: (f64, f64) = (0.5, 0.5);
/// Share of reads from which a profile mostly reads; %.
const MOSTLY_READS: f64 = 80.0;
/// Requests of which the second half tells the share of reads.
const REQUESTS: u64 = 200_000;
/// Steps of a search by halves, of the fill and of the logarithm of the cache.
const STEPS: (u32, u32) = (7, 10);
/// The files fill so much of the file system; %.
const FILLS: (f64, f64) = (3.0, 97.0);

/// What is fitted, and what beside.
#[derive(Clone, Copy)]
struct Point {
    cache_percent: f64,
    fill_percent: f64,
    seed: u64,
    gib: f64,
}

/// `rftl` with so many GiB: fewer blocks, and as large a share of them for the host.
fn drive(gib: f64) -> Result<DriveConfig, Wrong> {
    let rftl = presets::drive("rftl").ok_or("no drive rftl")?;
    let whole = resolve(&[Layer::file(rftl.name, rftl.text)], &[])?.config;
    let share = gib * (1u64 << 30) as f64 / whole.logical_bytes() as f64;
    let blocks = (f64::from(whole.geometry.blocks_per_plane) * share).round();
    let logical = whole.logical_bytes() as f64 / (1u64 << 30) as f64 * blocks
        / f64::from(whole.geometry.blocks_per_plane);
    let size = format!("drive.logical_gib = {logical}\nnand.geometry.blocks_per_plane = {blocks}\n");
    Ok(resolve(&[Layer::file(rftl.name, rftl.text), Layer::file("size", &size)], &[])?.config)
}

fn open(name: &str, at: Point, sectors: u64) -> Result<Box<dyn Source>, Wrong> {
    let mut spec = workload(standin(name).ok_or("no such profile")?)?;
    for (key, value) in [
        ("cache_percent", format!("{:?}", at.cache_percent)),
        ("fill_percent", format!("{:?}", at.fill_percent)),
        ("seed", at.seed.to_string()),
        ("count", "1e12".to_string()),
    ] {
        spec.set(key, &value)?;
    }
    Ok(spec.open(sectors)?)
}

/// Share of reads by bytes, of the second half of some requests.
fn read_bytes_percent(name: &str, at: Point) -> Result<f64, Wrong> {
    let mut source = open(name, at, (at.gib * (1u64 << 21) as f64) as u64)?;
    let mut bytes = [0; 4];
    for number in 0..REQUESTS {
        let Some(request) = source.next()? else { break };
        if number >= REQUESTS / 2 {
            bytes[request.op as usize] += request.bytes();
        }
    }
    Ok(share_of_reads(bytes))
}

fn share_of_reads(bytes: [u64; 4]) -> f64 {
    let (reads, writes) = (bytes[OpCode::Read as usize], bytes[OpCode::Write as usize]);
    100.0 * reads as f64 / (reads + writes).max(1) as f64
}

/// Share of reads by bytes, and write amplification.
fn measure(name: &str, at: Point, (warm, measured): (f64, f64)) -> Result<(f64, f64), Wrong> {
    let config = drive(at.gib)?;
    let mut drive = Drive::new(&config)?;
    let filled =
        Preconditioning { fill_percent: 100.0, overwrite: Overwrite::None, ..Preconditioning::default() };
    prepare(&mut drive, &config, &filled, &AgeSteps::default(), &Stop::default(), &mut |_| {})?;
    drive.set_executor(Executor::Functional);
    let mut source = open(name, at, drive.logical_sectors())?;
    let (mut bytes, mut is_warm) = ([0; 4], false);
    let drive_writes = |bytes: &[u64; 4], logical: u64| bytes[OpCode::Write as usize] as f64 / logical as f64;
    while let Some(request) = source.next()? {
        let lba = Lba(request.lba);
        let command = Command {
            op: request.op,
            fua: request.fua,
            lba,
            sectors: request.sectors,
            hints: request.hints,
            tag: 0,
            arrival: drive.now(),
        };
        drive.submit(0, &command, drive.now()).map_err(|_| "a queue without room")?;
        while drive.advance_to_completion() {
            drive.pop_completion();
        }
        bytes[request.op as usize] += request.bytes();
        let written = drive_writes(&bytes, config.logical_bytes());
        if !is_warm && written >= warm {
            is_warm = true;
            bytes = [0; 4];
            drive.reset_stats();
        } else if is_warm && written >= measured {
            break;
        }
    }
    let programmed: u64 = drive.stats().programmed_bytes().iter().sum();
    Ok((share_of_reads(bytes), programmed as f64 / bytes[OpCode::Write as usize] as f64))
}

/// Three digits, as the file will have them.
fn three_digits(value: f64) -> f64 {
    let digits = 10f64.powf(2.0 - value.log10().floor());
    (value * digits).round() / digits
}

/// The cache with which so many bytes are read. More cache, fewer reads: the share is not smooth, but falls.
fn fit_cache(name: &str, wanted: f64, at: Point) -> Result<f64, Wrong> {
    let (mut low, mut high) = (0.05f64, 100.0f64);
    for _ in 0..STEPS.1 {
        let middle = (low * high).sqrt();
        let found = read_bytes_percent(name, Point { cache_percent: middle, ..at })?;
        if found > wanted { low = middle } else { high = middle }
    }
    Ok(three_digits((low * high).sqrt()))
}

/// The fill with which so much is written. Fuller, more moves.
fn fit_fill(name: &str, wanted: f64, at: Point, writes: (f64, f64)) -> Result<f64, Wrong> {
    let (mut low, mut high) = FILLS;
    for _ in 0..STEPS.0 {
        let middle = (low + high) / 2.0;
        let (_, found) = measure(name, Point { fill_percent: middle, ..at }, writes)?;
        eprintln!("{name}: {found:.2} times at fill_percent = {middle:.1}");
        if found < wanted { low = middle } else { high = middle }
    }
    Ok((low + high).round() / 2.0)
}

fn fit(name: &str) -> Result<(), Wrong> {
    let preset = standin(name).ok_or("no such profile")?;
    let wanted = pinned(preset)?;
    let (reads, amplification) = (wanted.read_bytes_percent, wanted.write_amplification);
    let Spec::Files(spec) = workload(preset)? else { return Err("no profile of files".into()) };
    let writes = if reads > MOSTLY_READS { FEW_WRITES } else { WRITES };
    let (cache_percent, mut fill_percent) = (spec.cache_percent, spec.fill_percent);
    if amplification > 0.0 {
        let at = Point { cache_percent, fill_percent, seed: 1, gib: GIB.1 };
        fill_percent = fit_fill(name, amplification, at, writes)?;
    }
    // The cache is a share of the files: it says little about the fill, and the fill little about it.
    let at = Point { cache_percent, fill_percent, seed: 1, gib: GIB.0 };
    let cache_percent = fit_cache(name, reads, at)?;
    println!("{name}: cache_percent = {cache_percent:?}, fill_percent = {fill_percent:?}");
    let beside = |gib: f64| {
        let at = Point { cache_percent, fill_percent, seed: 1, gib };
        [("fitted", at), ("seed 2", Point { seed: 2, ..at }), ("twice", Point { gib: 2.0 * gib, ..at })]
    };
    println!("  wanted  {reads:>6.2} % reads");
    for (what, at) in beside(GIB.0) {
        println!("  {what:<7} {:>6.2} % reads", read_bytes_percent(name, at)?);
    }
    if amplification > 0.0 {
        println!("  wanted  {amplification:>6.2} times");
        for (what, at) in beside(GIB.1) {
            let (reads, found) = measure(name, at, writes)?;
            println!("  {what:<7} {found:>6.2} times, {reads:.2} % reads");
        }
    }
    Ok(())
}

fn main() -> Result<(), Wrong> {
    let chosen: Vec<String> = args().skip(1).collect();
    for preset in standins() {
        let is_chosen = chosen.is_empty() || chosen.iter().any(|name| name == preset.name);
        if is_chosen && matches!(workload(preset)?, Spec::Files(_)) {
            fit(preset.name)?;
        }
    }
    Ok(())
}
