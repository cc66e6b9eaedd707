//! Finds the page cache with which each profile of applications on files reads and writes as its paper says: a search
//! by halves over `cache_percent`, by bytes at the drive, on 8 GiB with seed 1, over the second half of 200,000
//! requests. Then the same number beside it on 16 GiB and with seed 2, which nothing is fitted to.
//!
//! `cargo run --release -p wordline-workload --example fit_files [PROFILE ...]`; what it finds is written into
//! `presets/workload/` by hand, with the tag [F].

use ssd::signals::OpCode;
use std::env::args;
use workload::standin::{pinned, standin, standins, workload};
use workload::{Spec, WorkloadError};

/// Requests of a run; the second half counts.
const REQUESTS: u64 = 200_000;
/// Steps of the search.
const STEPS: u32 = 10;

/// Share of reads by bytes.
fn read_bytes_percent(name: &str, keys: &[(&str, String)], gib: u64) -> Result<f64, WorkloadError> {
    let Some(preset) = standin(name) else { return Ok(0.0) };
    let mut spec = workload(preset)?;
    spec.set("count", &REQUESTS.to_string())?;
    keys.iter().try_for_each(|(key, value)| spec.set(key, value))?;
    let mut source = spec.open(gib << 21)?;
    let (mut reads, mut writes, mut seen) = (0u64, 0u64, 0u64);
    while let Some(request) = source.next()? {
        seen += 1;
        match request.op {
            OpCode::Read if seen > REQUESTS / 2 => reads += request.bytes(),
            OpCode::Write if seen > REQUESTS / 2 => writes += request.bytes(),
            _ => {}
        }
    }
    Ok(100.0 * reads as f64 / (reads + writes).max(1) as f64)
}

fn fit(name: &str, wanted: f64) -> Result<(), WorkloadError> {
    let run = |percent: f64, seed: u64, gib: u64| {
        let keys = [("cache_percent", format!("{percent:?}")), ("seed", seed.to_string())];
        read_bytes_percent(name, &keys, gib)
    };
    // More cache, fewer reads. The share is not smooth in its logarithm, but falls.
    let (mut low, mut high) = (0.05f64, 100.0f64);
    for _ in 0..STEPS {
        let middle = (low * high).sqrt();
        if run(middle, 1, 8)? > wanted { low = middle } else { high = middle }
    }
    // Three digits, as the file will have them.
    let digits = 10f64.powf(2.0 - high.log10().floor());
    let found = (high * digits).round() / digits;
    println!(
        "{name:<13} wanted {wanted:>6.2} %: cache_percent = {found}, {:.2} %; 16 GiB {:.2} %, seed 2 {:.2} %",
        run(found, 1, 8)?,
        run(found, 1, 16)?,
        run(found, 2, 8)?
    );
    Ok(())
}

fn main() -> Result<(), WorkloadError> {
    let chosen: Vec<String> = args().skip(1).collect();
    for preset in standins() {
        let is_chosen = chosen.is_empty() || chosen.iter().any(|name| name == preset.name);
        if is_chosen && matches!(workload(preset)?, Spec::Files(_)) {
            fit(preset.name, pinned(preset)?.read_bytes_percent)?;
        }
    }
    Ok(())
}
